//! One slider on each board: the query of [`crate::sliders`], on the lanes.
//!
//! The kernels use two methods. [`SliderMethod::Fill`] computes all sliders of a side together, at the cost of one;
//! [`SliderMethod::Hyperbola`] computes the lines of the king, and works only for a single piece. No kernel needs this module;
//! it exists so that the benchmarks can compare the lanes with the lookups.

use super::rays::{ByLine, Rays};
use crate::simd::{Lanes, Simd};

/// The method by which the lanes find the attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliderMethod {
    /// Sweep and Kogge-Stone fills, direction by direction.
    Fill,
    /// Hyperbola quintessence on the lines through the piece.
    Hyperbola,
}

/// The lines that the slider moves along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Ranks and files.
    Rook,
    /// Diagonals.
    Bishop,
    /// All of them.
    Queen,
}

/// Eight boards with one slider each.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct OneSlider {
    /// The slider, one bit per board.
    pub from: [u64; 8],
    /// All occupied squares of each board, including the slider's.
    pub occupied: [u64; 8],
}

/// The squares that the slider of each board attacks, up to and including the first occupied one of each ray.
///
/// To be called inside [`Simd::enter`], with constants for `way` and `moves`. Lanes whose `from` is not one
/// bit, or not part of `occupied`, have unspecified results.
#[inline(always)]
pub fn one_slider<S: Simd>(simd: S, way: SliderMethod, moves: Moves, boards: &OneSlider, attacks: &mut [u64; 8]) {
    for at in (0..8).step_by(S::WIDTH) {
        let from = simd.load(&boards.from, at);
        let occupied = simd.load(&boards.occupied, at);
        let rays = Rays::new(occupied);
        let lines = match way {
            SliderMethod::Fill => {
                rays.directions(ByLine { rank: from, file: from, diagonal: from, antidiagonal: from }).by_line()
            }
            SliderMethod::Hyperbola => rays.sight_of(from, from.lines_through_bit()),
        };
        let found = match moves {
            Moves::Rook => lines.rank | lines.file,
            Moves::Bishop => lines.diagonal | lines.antidiagonal,
            Moves::Queen => lines.union(),
        };
        simd.store(found, attacks, at);
    }
}
