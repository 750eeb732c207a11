//! Keys of positions at the four levels of [`crate::canonical`], and the keys among them that may change a sketch.
//!
//! The keys are the same as those of [`keys`](crate::canonical::keys), but for many boards at once. That function
//! defines them.

use super::RANK_6;
use super::boards_in_lanes::load_planes;
use crate::canonical::ROOTS;
use crate::packed::Group;
use crate::queries::{EN_PASSANTS, GroupResults};
use crate::simd::{Lanes, Simd};

/// The keys of the boards of eight groups.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Keys {
    /// By level, then by group.
    pub levels: [[[u64; Group::LEN]; Self::GROUPS]; 4],
    /// By level: a bit for each key that is a candidate (see [`keys`]).
    pub candidates: [u64; 4],
}

impl Keys {
    /// Number of groups.
    pub const GROUPS: usize = 8;
}

/// Bits at the top of a key that say nothing about whether it is a candidate: they choose the register of a sketch.
pub const REGISTER_BITS: u32 = 14;

/// The keys of all boards. Only the numbers of en passant captures of the results are used. A key is a candidate if
/// without its first 14 bits, in their place those after them, it has no bit in common with `excluded`
/// of its level.
///
/// # Panics
/// If `results` is shorter than `groups`, or `out` too short for the keys of all groups.
#[inline(always)]
pub fn keys<S: Simd>(simd: S, groups: &[Group], results: &[GroupResults], excluded: &[u64; 4], out: &mut [Keys]) {
    let results = &results[..groups.len()];
    let out = &mut out[..groups.len().div_ceil(Keys::GROUPS)];
    let eights = groups.chunks(Keys::GROUPS).zip(results.chunks(Keys::GROUPS)).zip(out);
    for ((groups, results), out) in eights {
        let mut candidates = [0; 4];
        for (place, (group, results)) in groups.iter().zip(results).enumerate() {
            for at in (0..Group::LEN).step_by(S::WIDTH) {
                let keys = keys_of(simd, group, results, at);
                for level in 0..4 {
                    simd.store(keys[level], &mut out.levels[level][place], at);
                    let rest = keys[level].shl::<REGISTER_BITS>();
                    let barred = (rest & simd.splat(excluded[level])).nonzero_bits();
                    let lanes = !barred & ((1 << S::WIDTH) - 1);
                    candidates[level] |= lanes << (place * Group::LEN + at);
                }
            }
        }
        out.candidates = candidates;
    }
}

/// The keys of the boards in the lanes `at..` of a group, by level.
#[inline(always)]
fn keys_of<S: Simd>(simd: S, group: &Group, results: &GroupResults, at: usize) -> [S::Lanes; 4] {
    let root = |n: usize| simd.splat(ROOTS[n]);
    let planes = load_planes(simd, group, at);
    let color = planes.color;
    let [t0, t1, t2] = planes.types;
    let (castling, occupied) = (planes.castling(), planes.occupied());
    let sentinels = color & !occupied;
    let black_to_move = (sentinels & simd.splat(!RANK_6)).nonzero();
    let counts = simd.load(&results.counts, at);
    let en_passant = sentinels & counts.shr::<EN_PASSANTS>().nonzero();
    let files = (castling & simd.splat(0xFF)) | (castling.shr::<48>() & simd.splat(0xFF00));

    let black = (color & occupied) ^ root(0);
    let pieces =
        black.fold_product((t0 & !castling) ^ root(1)) ^ ((t1 & !castling) ^ root(2)).fold_product(t2 ^ root(3));
    let board = (pieces ^ root(4)).fold_product(root(8));
    let stm = board ^ (black_to_move & root(5));
    let with_castling = stm ^ times(simd, files, ROOTS[6]);
    let all = with_castling ^ times(simd, en_passant.shr::<16>(), ROOTS[7]);
    [board, stm, with_castling, all]
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
    use crate::canonical;
    use crate::chess::random::Random;
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
            .map(|round| Group { planes: std::array::from_fn(|_| std::array::from_fn(|_| word(round))) })
            .collect();
        let results: Vec<GroupResults> = (0..300)
            .map(|round| GroupResults {
                counts: std::array::from_fn(|lane| ((round + lane) as u64 % 3) << 56 | 7),
                ..GroupResults::default()
            })
            .collect();
        let excluded = [!0 << 62, !0 << 60, !0 << 63, 0];
        for analyzer in Tier::all().flat_map(Tier::implementations) {
            let mut found = vec![Keys::default(); groups.len().div_ceil(Keys::GROUPS)];
            analyzer.keys(&groups, &results, &excluded, &mut found);
            for (at, (group, results)) in groups.iter().zip(&results).enumerate() {
                let (found, place) = (&found[at / Keys::GROUPS], at % Keys::GROUPS);
                for lane in 0..8 {
                    let legal = results.counts[lane] >> EN_PASSANTS != 0;
                    let position = canonical::Canonical::of(&group.get(lane), legal);
                    let keys = canonical::keys(&position);
                    assert_eq!(found.levels.map(|keys| keys[place][lane]), keys, "{analyzer:?}");
                    let row = place * Group::LEN + lane;
                    for (level, key) in keys.iter().enumerate() {
                        let is_candidate = key << REGISTER_BITS & excluded[level] == 0;
                        let found = found.candidates[level] >> row & 1 != 0;
                        assert_eq!(found, is_candidate, "{analyzer:?}");
                    }
                }
            }
            // There are no candidates beyond the last group.
            let rest = found.last().unwrap().candidates[3];
            assert_eq!(rest >> (groups.len() % Keys::GROUPS * Group::LEN), 0);
        }
    }
}
