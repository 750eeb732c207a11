//! The kind of material of each board as a number: how many pieces of each kind both sides have.
//!
//! The pawns of a side (up to eight), its knights, bishops, rooks and queens (up to two each) are the digits of a
//! number with mixed bases, so that a table has room for all of these and no holes. See
//! [`Signature`](crate::report::Signature).

use crate::block::{Group, Planes};
use crate::report::Signature;
use crate::simd::{Lanes, Simd, inlined};

/// The index of each board's [`Signature`]; [`Signature::COUNT`] where it has too many pieces of a kind.
///
/// # Panics
/// If `out` is shorter than `groups`.
#[inline(always)]
pub fn signatures<S: Simd>(simd: S, groups: &[Group], out: &mut [[u64; Group::LEN]]) {
    let out = &mut out[..groups.len()];
    for (group, out) in groups.iter().zip(out) {
        for at in (0..Group::LEN).step_by(S::WIDTH) {
            let [color, t0, t1, t2] = &group.planes;
            let color = simd.load(color, at);
            let planes = Planes {
                color,
                types: [simd.load(t0, at), simd.load(t1, at), simd.load(t2, at)],
            };
            let pieces = [
                planes.queens(),
                planes.rooks(),
                planes.bishops(),
                planes.knights(),
            ];
            let pawns = planes.pawns();
            let splat = |number: u64| simd.splat(number);
            // The digits of a side as one number, and something that is not zero if one of them is too large.
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
                    index = index.add(index.shl::<3>()).add(count);
                    // More than eight: seven more are at least sixteen.
                    (index, beyond | count.add(splat(7)).shr::<4>())
                },
            );
            let (mut white, white_beyond) = side(!color);
            let (black, black_beyond) = side(color);
            // Times 729, which is 9 * 9 * 9.
            for _ in 0..3 {
                white = white.add(white.shl::<3>());
            }
            let beyond = white_beyond | black_beyond;
            let index = beyond.if_zero(white.add(black), splat(Signature::COUNT as u64));
            simd.store(index, out, at);
        }
    }
}
