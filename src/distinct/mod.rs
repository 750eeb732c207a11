//! Distinct positions: equality of positions, and estimates of the number of distinct ones.
//!
//! There are four levels of equality, each stricter than the previous one: equal boards; also equal sides to move; also
//! equal castling rights; also equal en passant squares, if such a capture is legal. The [key](keys) for each level is
//! a 64-bit hash: equal positions have equal keys, on every machine and in every version.
//!
//! Keys feed a [`Sketch`] for each level, which estimates the number of distinct positions from 16 KiB of memory and
//! merges exactly.

mod sketch;

pub use sketch::{Sketch, Sketches};

pub(crate) use crate::canonical::{Canonical, castling_files, keys};

use crate::table::Batch;

/// The names of the levels.
pub const LEVELS: [&str; 4] = ["board", "stm", "castling", "position"];

/// The canonical parts of a record. Few records have an en passant square, so the legality of the capture is checked
/// one by one.
#[inline]
pub(crate) fn canonical_at(batch: &Batch, row: usize) -> Canonical {
    let board = batch.board(row);
    let captors = || batch.position(row).map(|position| position.en_passant_captors());
    let legal = board.en_passant().is_some() && captors().is_ok_and(|captors| !captors.is_empty());
    Canonical::of(&board, legal)
}
