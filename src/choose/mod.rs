//! Choosing games, positions and records, and giving records new values.
//!
//! The command line, a program, Python, SQL or a message in a cluster makes a [`Choose`], which is part of the options
//! of every run. Formats that select while they decode (PGN) apply its [`GameFilter`] to each game before they replay
//! it. For all other formats with games, it is applied after decoding. Sequences of positions, which games must have, are
//! searched for after decoding in every format. Then records are judged: the bad ones are rejected, whatever is chosen. Of
//! the good ones, those for which the condition is true are taken, and of these the sample. The remaining records get
//! their new values, in a separate batch, and are handed to the job. Everything that leaves out records is a
//! `RecordFilter` with the name of its option, which also names its count ([`LeftOutBy`]). Limits
//! count the remaining records if there is a condition or a sample, and otherwise all records that are read.
//!
//! A new option for games is an item of the list in `game_options.rs` and its test; a new function of the language is one in
//! [`expression`]; a new column is one of the catalogue ([`crate::table::COLUMNS`]), and can then be named everywhere.

pub mod expression;
mod expression_option_error;
mod filter_counts;
mod game_filter;
mod game_option_values;
mod game_options;
mod new_values;
mod position_sequence;
mod record_filter;
mod sample;

pub use expression::{Condition, Definitions, ExpressionError, Formula};
pub use expression_option_error::ExpressionOptionError;
pub use filter_counts::{FilterCount, LeftOutBy};
pub(crate) use game_filter::{CLOCKS_AND_EVALUATIONS, ROWS_OF_GAMES, WHERE, hash_on};
pub use game_option_values::{EcoRange, Plies, TimeControl};
pub use game_options::{GameFilter, GameOption, GameOptionStage};
pub use new_values::Assignments;
pub(crate) use new_values::Changes;
pub(crate) use position_sequence::{FoundSequence, HAVING, candidates};
pub use position_sequence::{PositionSequence, SequenceWord};
pub(crate) use record_filter::{AtRandom, ByFormula, DrawnUpTo, RecordFilter, choose, draw, keep};
pub(crate) use sample::Fraction;
pub use sample::{Rate, Sample};

use crate::option_setters::setters;
use std::sync::Arc;

/// The choice of games, positions and records, and new values. By default, all records are taken unchanged.
///
/// ```
/// use lanefish::choose::{Choose, Sample, GameFilter};
///
/// let choose = Choose::default()
///     .games(Some(GameFilter::default().min_elo(Some(2400)).into()))
///     .filter(Some("quiet and ply >= 16".parse()?))
///     .sample(Some("1%".parse().unwrap()));
/// assert_eq!(choose.filter.unwrap().to_string(), "quiet and ply >= 16");
/// # Ok::<(), lanefish::choose::ExpressionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Choose {
    /// The choice of games and of their positions.
    pub games: Option<Arc<GameFilter>>,
    /// The condition: only good records for which it is true are taken. For a job that reads the rows of games, it
    /// chooses games, and must be a [condition on games](Condition::is_of_games).
    pub filter: Option<Condition>,
    /// The random sample of these records.
    pub sample: Option<Sample>,
    /// The seed of the sample.
    pub seed: u64,
    /// New values for fields of the taken records. Records that cannot have these values are bad.
    pub set: Assignments,
}

setters!(Choose {
    games: Option<Arc<GameFilter>>,
    filter: Option<Condition>,
    sample: Option<Sample>,
    seed: u64,
    set: Assignments,
});
