//! Options that choose games by their positions: `--having`, `--then` and `--next`, whose order counts.

use super::command_scope::CHOOSING;
use super::record_filter_args::WrongExpression;
use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use lanefish::choose::{Definitions, ExpressionOptionError, PositionSequence, SequenceWord};

/// The conditions as given, in their order.
#[derive(Debug, Default)]
pub(crate) struct PositionSequenceArgs(Vec<(SequenceWord, String)>);

fn argument(word: SequenceWord) -> Arg {
    let (help, long_help) = match word {
        SequenceWord::Having => (
            "Only games with a position for which this is true",
            "Only games with a position for which this is true, an SQL expression over all columns\n\n\
             The positions are those of the main line, from the first to the last. Whole games are taken: in games, a \
             row with the plies (match_plies, first_match, last_match, match_count), or with -o x.pgn the game as it \
             stands. For example \"matches('8/pp3ppp/4p3/8/3P4/8/PP3PPP/8')\", \"material = 'KRPPPPvKRPPP'\" or \
             \"move_promotes and san like '%=N%'\". docs/games-by-positions.md has twelve questions with their commands.",
        ),
        SequenceWord::Then => (
            "… and a later position for which this is true",
            "… and a later position for which this is true\n\nMay be repeated, also with --next. The conditions count in \
             the order given; one sequence of positions must satisfy all of them.",
        ),
        SequenceWord::Next => (
            "… and the very next position, for which this is true",
            "… and the very next position, for which this is true\n\nMay be repeated, also with --then. For example \
             --having \"in_check\" --next \"in_check\" for a check that is answered by a check.",
        ),
    };
    let argument = Arg::new(word.name()).long(word.name()).value_name("EXPR").allow_hyphen_values(true);
    let argument = argument.help(help).long_help(long_help).help_heading(CHOOSING).action(ArgAction::Append);
    match word {
        SequenceWord::Having => argument,
        _ => argument.requires(SequenceWord::Having.name()).hide_short_help(true),
    }
}

impl Args for PositionSequenceArgs {
    fn augment_args(command: Command) -> Command {
        command.args(SequenceWord::ALL.map(argument))
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PositionSequenceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let mut conditions: Vec<(usize, SequenceWord, String)> = Vec::new();
        for word in SequenceWord::ALL {
            let texts = matches.get_many::<String>(word.name()).unwrap_or_default();
            let places = matches.indices_of(word.name()).unwrap_or_default();
            conditions.extend(places.zip(texts).map(|(place, text)| (place, word, text.clone())));
        }
        conditions.sort_by_key(|&(place, ..)| place);
        self.0 = conditions.into_iter().map(|(_, word, text)| (word, text)).collect();
        Ok(())
    }
}

impl PositionSequenceArgs {
    /// Whether a sequence is given.
    pub(crate) fn is_given(&self) -> bool {
        !self.0.is_empty()
    }
    /// The sequence, whose conditions may use these names.
    pub(crate) fn sequence(&self, definitions: &Definitions) -> Result<PositionSequence> {
        let conditions = self.0.iter().map(|(word, text)| (*word, text));
        PositionSequence::parse(conditions, definitions).map_err(|(word, error)| match error {
            ExpressionOptionError::Expression(error) => WrongExpression::new(word.name(), error).into(),
            error => anyhow::anyhow!("--{} {error}", word.name()),
        })
    }
}
