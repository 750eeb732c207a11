//! The kind of material of each board as a number, from the pieces of each kind that both sides have.
//!
//! The queens, rooks, bishops and knights of both sides (up to two each) and their pawns (up to eight) are the digits
//! of a number with mixed bases, so that the numbers index a table without holes. The
//! `Signature` of lanefish's reports has the digits.

use super::boards_in_lanes::load_planes;
use crate::packed::Group;
use crate::simd::{Lanes, Simd, inlined};

/// The value for boards with too many pieces of a kind, instead of the index of a
/// signature.
pub const NO_SIGNATURE: u64 = 1 << 63;

/// The index of the signature of each board's material, or [`NO_SIGNATURE`].
///
/// # Panics
/// If `out` is shorter than `groups`.
#[inline(always)]
pub fn signatures<S: Simd>(simd: S, groups: &[Group], out: &mut [[u64; Group::LEN]]) {
    let out = &mut out[..groups.len()];
    for (group, out) in groups.iter().zip(out) {
        for at in (0..Group::LEN).step_by(S::WIDTH) {
            let planes = load_planes(simd, group, at);
            let color = planes.color;
            let pieces = [planes.queens(), planes.rooks(), planes.bishops(), planes.knights()];
            let pawns = planes.pawns();
            let splat = |number: u64| simd.splat(number);
            let times_nine = inlined(
                #[inline(always)]
                |number: S::Lanes| number.add(number.shl::<3>()),
            );
            // The digits of a side without its pawns as one number, the pawns, and something that is not zero if one
            // of them is too large.
            let side = inlined(
                #[inline(always)]
                |side: S::Lanes| {
                    let (mut index, mut beyond) = (splat(0), splat(0));
                    for pieces in pieces {
                        let count = (pieces & side).count_ones();
                        index = index.add(index.shl::<1>()).add(count);
                        // More than two: one more is at least four.
                        beyond = beyond | count.add(splat(1)).shr::<2>();
                    }
                    let count = (pawns & side).count_ones();
                    // More than eight: seven more are at least sixteen.
                    (index, count, beyond | count.add(splat(7)).shr::<4>())
                },
            );
            let (white, white_pawns, white_beyond) = side(!color);
            let (black, black_pawns, black_beyond) = side(color);
            let index = times_nine(times_nine(white)).add(black);
            let index = times_nine(index).add(white_pawns);
            let index = times_nine(index).add(black_pawns);
            let beyond = white_beyond | black_beyond;
            let index = beyond.if_zero(index, splat(NO_SIGNATURE));
            simd.store(index, out, at);
        }
    }
}
