//! Options that choose games and their positions, in every command that reads positions: those of
//! [`GameOption::ALL`], for PGN and for all other inputs whose records carry the needed fields.

use super::command_scope::GAMES;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use lanefish::choose::{GameFilter, GameOption};
use std::sync::Arc;

/// The values of these options.
#[derive(Debug, Default)]
pub(crate) struct GameFilterArgs(GameFilter);

fn argument(option: &'static GameOption) -> Arg {
    let argument = Arg::new(option.name).long(option.name).help(option.help);
    let argument = argument.help_heading(GAMES).hide_short_help(true);
    if option.value.is_empty() {
        return argument.action(ArgAction::SetTrue);
    }
    let argument = argument.value_name(option.value);
    let argument = match option.takes_several {
        // A time control may be `-`.
        true => argument.action(ArgAction::Append).value_delimiter(',').allow_hyphen_values(option.allows_hyphens),
        false => argument.action(ArgAction::Set),
    };
    if option.values.is_empty() {
        return argument.value_parser(|text: &str| {
            let checked = option.set(&mut GameFilter::default(), text);
            checked.map(|()| text.to_owned())
        });
    }
    let values = option.values.iter().map(|names| PossibleValue::new(names[0]).aliases(&names[1..]));
    argument.value_parser(PossibleValuesParser::new(values))
}

impl Args for GameFilterArgs {
    fn augment_args(command: Command) -> Command {
        command.args(GameOption::ALL.iter().map(argument))
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for GameFilterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let wrong = |text: String| clap::Error::raw(clap::error::ErrorKind::InvalidValue, text);
        for option in GameOption::ALL {
            if option.value.is_empty() {
                if matches.get_flag(option.name) {
                    option.set(&mut self.0, "").map_err(wrong)?;
                }
                continue;
            }
            for text in matches.get_many::<String>(option.name).unwrap_or_default() {
                option.set(&mut self.0, text).map_err(wrong)?;
            }
        }
        Ok(())
    }
}

impl GameFilterArgs {
    /// The seed of everything that is chosen at random.
    pub(crate) fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The option `--every`, if it was given.
    pub(crate) fn every(&self) -> Option<u64> {
        Some(self.0.every.into()).filter(|&every| every > 1)
    }

    /// The filter, or `None` if everything is taken.
    pub(crate) fn filter(&self) -> Option<Arc<GameFilter>> {
        let everything = GameFilter::default().seed(self.0.seed);
        (self.0 != everything).then(|| Arc::new(self.0.clone()))
    }
}
