//! Options that choose games and their positions, in every command that reads positions.

use clap::{Args, ValueEnum};
use lanefish::choose::{EcoRange, GameFilter, TimeControl};
use lanefish::games::{Date, Outcome, Variant};
use std::sync::Arc;

/// Options for PGN, and for all other inputs whose records carry the needed fields; inputs without them are errors.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Games")]
pub(crate) struct GameFilterArgs {
    /// Also take the positions of variations
    #[arg(long)]
    variations: bool,

    /// Skip a whole game if any part of it cannot be parsed
    #[arg(long)]
    drop_bad_games: bool,

    /// Take only these plies, both ends included; 0 is the start position of the game
    #[arg(long, value_name = "A..B", value_parser = plies)]
    plies: Option<(u32, Option<u32>)>,

    /// Skip the first N plies of each game
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip_book: u32,

    /// Take every Nth of the remaining positions of each game, starting with the first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,

    /// Take only the last of the remaining positions of each game
    #[arg(long)]
    last: bool,

    /// Take a random sample of at most N of the remaining positions of each game
    #[arg(long, value_name = "N")]
    max_per_game: Option<u32>,

    /// Seed for everything that is chosen at random
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_default_value = true)]
    pub(crate) seed: u64,

    /// Only games in which both players are rated ELO or higher
    #[arg(long, value_name = "ELO")]
    min_elo: Option<u16>,

    /// Only games in which both players are rated ELO or lower
    #[arg(long, value_name = "ELO")]
    max_elo: Option<u16>,

    /// Only games with these time controls: ultrabullet, bullet, blitz, rapid, classical, correspondence, or tag values in
    /// any form (300+3)
    #[arg(long, value_name = "CLASS|SPEC", value_delimiter = ',', allow_hyphen_values = true)]
    time_control: Vec<TimeControl>,

    /// Only games with these results
    #[arg(long, value_name = "RESULT", value_delimiter = ',')]
    result: Vec<GameResult>,

    /// Only games with N or more plies
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    min_plies: u32,

    /// Only games with these Termination tags (Normal, Time forfeit, etc.)
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    termination: Vec<String>,

    /// Only games with these opening codes: B, B12, B10-B19
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    eco: Vec<EcoRange>,

    /// Only games since this day, month or year (2025.05.01, 2025-05-01, 20250501, 31.05.2025, 2025.05, 2025)
    #[arg(long, value_name = "DATE")]
    since: Option<Date>,

    /// Only games up to this day, month or year
    #[arg(long, value_name = "DATE")]
    until: Option<Date>,

    /// Only games of this variant
    #[arg(long, value_name = "VARIANT")]
    variant: Option<VariantChoice>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GameResult {
    #[value(name = "1-0")]
    White,
    #[value(name = "0-1")]
    Black,
    #[value(name = "1/2-1/2", alias = "1/2", alias = "draw")]
    Draw,
    #[value(name = "*", alias = "unknown")]
    Unknown,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum VariantChoice {
    Standard,
    Chess960,
}

/// `A..B`, `A..`, `..B` or a single number.
fn plies(text: &str) -> Result<(u32, Option<u32>), String> {
    let number =
        |text: &str| text.parse::<u32>().map_err(|_| "expected plies such as 10..60, 10.., ..60 or 12".to_owned());
    match text.split_once("..") {
        None => number(text).map(|ply| (ply, Some(ply))),
        Some((first, last)) => {
            let last = last.strip_prefix('=').unwrap_or(last);
            let first = if first.is_empty() { 0 } else { number(first)? };
            let last = (!last.is_empty()).then(|| number(last)).transpose()?;
            if last.is_some_and(|last| last < first) {
                return Err("the last ply is before the first".to_owned());
            }
            Ok((first, last))
        }
    }
}

impl GameFilterArgs {
    /// The selection, or `None` if everything is taken.
    pub(crate) fn selection(&self) -> Option<Arc<GameFilter>> {
        let (first_ply, last_ply) = self.plies.unwrap_or((0, None));
        let selection = GameFilter::default()
            .variations(self.variations)
            .drop_bad_games(self.drop_bad_games)
            .first_ply(first_ply)
            .last_ply(last_ply)
            .skip_book(self.skip_book)
            .every(self.every.unwrap_or(0))
            .last(self.last)
            .max_per_game(self.max_per_game)
            .seed(self.seed)
            .min_elo(self.min_elo)
            .max_elo(self.max_elo)
            .time_controls(self.time_control.clone())
            .results(
                self.result
                    .iter()
                    .map(|result| match result {
                        GameResult::White => Some(Outcome::White),
                        GameResult::Black => Some(Outcome::Black),
                        GameResult::Draw => Some(Outcome::Draw),
                        GameResult::Unknown => None,
                    })
                    .collect(),
            )
            .min_plies(self.min_plies)
            .terminations(self.termination.clone())
            .ecos(self.eco.clone())
            .since(self.since)
            .until(self.until)
            .variant(self.variant.map(|variant| match variant {
                VariantChoice::Standard => Variant::Standard,
                VariantChoice::Chess960 => Variant::Chess960,
            }));
        let everything = GameFilter::default().seed(self.seed);
        (selection != everything).then(|| Arc::new(selection))
    }
}
