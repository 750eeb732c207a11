//! Keys of positions at the four levels of [`crate::distinct`], and which of them matter to sketches.
//!
//! The same as [`crate::distinct::keys`], for many boards at once; that function says what the keys are made of.

use super::RANK_6;
use crate::block::{Group, Planes};
use crate::distinct::ROOTS;
use crate::queries::{EN_PASSANTS, GroupResults};
use crate::simd::{Lanes, Simd};

/// The keys of eight boards.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Keys {
    /// By level.
    pub levels: [[u64; Group::LEN]; 4],
    /// Not zero for a board if any of its keys is a candidate: see [`keys`].
    pub candidates: [u64; Group::LEN],
}

/// Bits at the top of a key that say nothing about whether it is a candidate: they choose the register of a sketch.
pub(crate) const REGISTER_BITS: u32 = 14;

/// The keys of all boards. Only the numbers of en passant captures of the results are used. A key is a candidate if
/// without its first 14 bits, in their place those after them, it has no bit in common with `excluded`
/// of its level.
///
/// # Panics
/// If `results` or `out` is shorter than `groups`.
#[inline(always)]
pub fn keys<S: Simd>(
    simd: S,
    groups: &[Group],
    results: &[GroupResults],
    excluded: &[u64; 4],
    out: &mut [Keys],
) {
    let results = &results[..groups.len()];
    let out = &mut out[..groups.len()];
    for ((group, results), out) in groups.iter().zip(results).zip(out) {
        for at in (0..Group::LEN).step_by(S::WIDTH) {
            keys_of(simd, group, results, excluded, at, out);
        }
    }
}

/// The same of the boards in the lanes `at..` of a group.
#[inline(always)]
fn keys_of<S: Simd>(
    simd: S,
    group: &Group,
    results: &GroupResults,
    excluded: &[u64; 4],
    at: usize,
    out: &mut Keys,
) {
    let root = |n: usize| simd.splat(ROOTS[n]);
    let [color, t0, t1, t2] = &group.planes;
    let color = simd.load(color, at);
    let [t0, t1, t2] = [t0, t1, t2].map(
        #[inline(always)]
        |plane| simd.load(plane, at),
    );
    let planes = Planes {
        color,
        types: [t0, t1, t2],
    };
    let (castling, occupied) = (planes.castling(), planes.occupied());
    let sentinels = color & !occupied;
    let black_to_move = (sentinels & simd.splat(!RANK_6)).nonzero();
    let counts = simd.load(&results.counts, at);
    let en_passant = sentinels & counts.shr::<EN_PASSANTS>().nonzero();
    let files = (castling & simd.splat(0xFF)) | (castling.shr::<48>() & simd.splat(0xFF00));

    let black = (color & occupied) ^ root(0);
    let pieces = black.fold_product((t0 & !castling) ^ root(1))
        ^ ((t1 & !castling) ^ root(2)).fold_product(t2 ^ root(3));
    let board = (pieces ^ root(4)).fold_product(root(8));
    let stm = board ^ (black_to_move & root(5));
    let with_castling = stm ^ times(simd, files, ROOTS[6]);
    let all = with_castling ^ times(simd, en_passant.shr::<16>(), ROOTS[7]);

    let mut candidates = simd.splat(0);
    for (level, key) in [(0, board), (1, stm), (2, with_castling), (3, all)] {
        simd.store(key, &mut out.levels[level], at);
        let rest = key.shl::<REGISTER_BITS>() & simd.splat(excluded[level]);
        candidates = candidates | !rest.nonzero();
    }
    simd.store(candidates, &mut out.candidates, at);
}

/// The product, wrapping, of numbers below 2^32 with a constant.
#[inline(always)]
fn times<S: Simd>(simd: S, lanes: S::Lanes, factor: u64) -> S::Lanes {
    let low = lanes.multiply_halves(simd.splat(factor));
    let high = lanes.multiply_halves(simd.splat(factor >> 32));
    low.add(high.shl::<32>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::distinct;
    use crate::tiers::Tier;

    /// Any planes have keys, and all tiers and the plain function agree about them.
    #[test]
    fn all_tiers_agree_with_the_plain_function() {
        let mut random = Random::new(21);
        let mut word = |round: usize| match round % 3 {
            0 => random.bits(),
            1 => random.bits() & random.bits() & random.bits(),
            _ => 1 << random.below(64),
        };
        let groups: Vec<Group> = (0..300)
            .map(|round| Group {
                planes: std::array::from_fn(|_| std::array::from_fn(|_| word(round))),
            })
            .collect();
        let results: Vec<GroupResults> = (0..300)
            .map(|round| GroupResults {
                counts: std::array::from_fn(|lane| ((round + lane) as u64 % 3) << 56 | 7),
                ..GroupResults::default()
            })
            .collect();
        let excluded = [!0 << 62, !0 << 60, !0 << 63, 0];
        for tier in Tier::all() {
            let Some(analyzer) = tier.analyzer() else {
                continue;
            };
            let mut found = vec![Keys::default(); groups.len()];
            analyzer.keys(&groups, &results, &excluded, &mut found);
            for ((group, results), found) in groups.iter().zip(&results).zip(&found) {
                for lane in 0..8 {
                    let legal = results.counts[lane] >> EN_PASSANTS != 0;
                    let position = distinct::Canonical::of(&group.get(lane), legal);
                    let keys = distinct::keys(&position);
                    assert_eq!(found.levels.map(|keys| keys[lane]), keys, "{tier}");
                    let is_candidate = keys
                        .iter()
                        .zip(excluded)
                        .any(|(key, excluded)| key << REGISTER_BITS & excluded == 0);
                    assert_eq!(found.candidates[lane] != 0, is_candidate, "{tier}");
                }
            }
        }
    }
}
