//! Choosing: which games, positions and records are taken, and what records are given.
//!
//! The life of a choice: the command line, a program, Python, SQL or the wire of a cluster makes a [`Choose`], which is
//! part of the options of every run. Formats that select while they decode (PGN) ask its [`Selection`] about each game
//! before they replay it; of all other formats with games, it is asked after decoding. Then records are judged: the bad
//! ones are rejects, whatever is chosen. Of the good ones, those are taken for which the condition is true, and of these
//! the sample. What is left is given its new values, in a batch of its own, and handed to the job. Whatever leaves
//! something out is a `Chooser` with the name of its option, under which that is counted ([`LeftOutBy`]). Limits count
//! what is left where anything chooses among records, and otherwise records as they are read.
//!
//! A new option for games is a field of [`Selection`] and its test; a new function of the language is one in
//! [`expression`]; a new column is one of the catalogue ([`crate::table::COLUMNS`]), and can then be named everywhere.

mod chooser;
pub mod expression;
mod games;
mod left_out;
mod sample;
mod set;

pub(crate) use chooser::{AtRandom, ByFormula, Chooser, choose, draw};
pub use expression::{Condition, Definitions, ExpressionError, Formula};
pub use games::{EcoRange, Selection, TimeControl};
pub(crate) use games::{ROWS_OF_GAMES, hash_on};
pub use left_out::{LeftOut, LeftOutBy};
pub(crate) use sample::Fraction;
pub use sample::{Rate, Sample, SampleError};
pub(crate) use set::Changes;
pub use set::{AssignmentError, Assignments};

use crate::setters::setters;
use std::sync::Arc;

/// Which games, positions and records are taken, and what records are given. By default, all, as they are.
///
/// ```
/// use lanefish::choose::{Choose, Sample, Selection};
///
/// let choose = Choose::default()
///     .games(Some(Selection::default().min_elo(Some(2400)).into()))
///     .filter(Some("quiet and ply >= 16".parse()?))
///     .sample(Some("1%".parse().unwrap()));
/// assert_eq!(choose.filter.unwrap().to_string(), "quiet and ply >= 16");
/// # Ok::<(), lanefish::choose::ExpressionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Choose {
    /// Which games, and which of their positions.
    pub games: Option<Arc<Selection>>,
    /// Which of the good records: those for which it is true. For a job that reads the rows of games, which games: then it
    /// must be [of games](Condition::is_of_games).
    pub filter: Option<Condition>,
    /// Which of those at random.
    pub sample: Option<Sample>,
    /// The seed of the sample.
    pub seed: u64,
    /// New values for what the records carry that are taken. Those that cannot have them are bad records.
    pub set: Assignments,
}

setters!(Choose {
    games: Option<Arc<Selection>>,
    filter: Option<Condition>,
    sample: Option<Sample>,
    seed: u64,
    set: Assignments,
});
