//! Lists of puzzles and of evaluations as Lichess publishes them.

pub mod evals;
pub mod puzzles;
