//! The kernels on lanes, behind [`Analyzer`]: one `enter` for each kernel and run of groups.

use super::{Analyzer, Tier};
use crate::kernels::{self, BoardCounts, EventCounters, Keys, MoveLists, PieceSets, Replies, SquareCounters};
use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::simd::Simd;

/// All kernels on the lanes of one token.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetWise<S> {
    simd: S,
    tier: Tier,
}

impl<S: Simd> SetWise<S> {
    /// The CPU features it uses.
    pub(super) const FEATURES: &'static [&'static str] = S::FEATURES;

    /// The kernels, if the CPU can run them.
    pub(super) fn detect(tier: Tier) -> Option<Self> {
        S::detect().map(|simd| Self { simd, tier })
    }

    /// Runs a kernel over all lanes of all groups.
    #[inline(always)]
    pub(super) fn run(
        self,
        groups: &[Group],
        results: &mut [GroupResults],
        kernel: impl Fn(S, &Group, usize, &mut GroupResults),
    ) {
        let simd = self.simd;
        simd.enter(
            #[inline(always)]
            || {
                for (group, out) in groups.iter().zip(results) {
                    for at in (0..Group::LEN).step_by(S::WIDTH) {
                        kernel(simd, group, at, out);
                    }
                }
            },
        );
    }
}

impl<S: Simd> Analyzer for SetWise<S> {
    fn tier(&self) -> Tier {
        self.tier
    }

    fn features(&self) -> &'static [&'static str] {
        Self::FEATURES
    }

    fn analyze(&self, groups: &[Group], queries: Queries, results: &mut [GroupResults]) {
        let results = &mut results[..groups.len()];
        // A closure around each kernel, since a call through a function item would not be inlined.
        macro_rules! run {
            ($kernel:expr) => {
                self.run(
                    groups,
                    results,
                    #[inline(always)]
                    |simd, group, at, out| $kernel(simd, group, at, out),
                )
            };
        }
        let mut left = queries;
        let by_the_way = Queries::CHECKERS | Queries::PINNED | Queries::ATTACKS;
        if left.contains(Queries::KINDS) || (left.contains(Queries::MOVES) && left.intersects(by_the_way)) {
            if left.contains(Queries::INVALID) {
                run!(kernels::everything::<S, true>);
            } else {
                run!(kernels::everything::<S, false>);
            }
            left = if left.contains(Queries::MOBILITY) { Queries::MOBILITY } else { Queries::NONE };
        }
        if left.contains(Queries::MOVES) {
            run!(kernels::count_legal_moves);
        }
        if left.contains(Queries::ATTACKS) {
            run!(kernels::attack_maps);
        }
        if left.contains(Queries::PINNED) {
            run!(kernels::pins);
        }
        if left.contains(Queries::CHECKERS) {
            run!(kernels::checkers);
        }
        if left.contains(Queries::MOBILITY) {
            run!(kernels::mobility);
        }
        if left.contains(Queries::INVALID) {
            run!(kernels::invalid);
        }
    }

    fn piece_sets(&self, groups: &[Group], sets: &mut [PieceSets]) {
        let simd = self.simd;
        let sets = &mut sets[..groups.len()];
        simd.enter(
            #[inline(always)]
            || kernels::piece_sets(simd, groups, sets),
        );
    }

    fn replies(&self, groups: &[Group], replies: &mut [Replies]) {
        let simd = self.simd;
        let replies = &mut replies[..groups.len()];
        simd.enter(
            #[inline(always)]
            || kernels::replies(simd, groups, replies),
        );
    }

    fn list_moves(&self, groups: &[Group], mask: &[u64], lists: &mut MoveLists) {
        let simd = self.simd;
        simd.enter(
            #[inline(always)]
            || kernels::legal_move_lists(simd, groups, mask, lists),
        );
    }

    fn board_counts(&self, groups: &[Group], results: &[GroupResults], board_counts: &mut [BoardCounts]) {
        let simd = self.simd;
        simd.enter(
            #[inline(always)]
            || kernels::board_counts(simd, groups, results, board_counts),
        );
    }

    fn signatures(&self, groups: &[Group], signatures: &mut [[u64; Group::LEN]]) {
        let simd = self.simd;
        simd.enter(
            #[inline(always)]
            || kernels::signatures(simd, groups, signatures),
        );
    }

    fn keys(&self, groups: &[Group], results: &[GroupResults], excluded: &[u64; 4], keys: &mut [Keys]) {
        let simd = self.simd;
        simd.enter(
            #[inline(always)]
            || kernels::keys(simd, groups, results, excluded, keys),
        );
    }

    fn count_squares(&self, groups: &[Group], results: &[GroupResults], counters: &mut SquareCounters) {
        let simd = self.simd;
        simd.enter(
            #[inline(always)]
            || kernels::count_squares(simd, groups, results, counters),
        );
    }

    fn count_events(&self, groups: &[Group], results: &[GroupResults], counters: &mut EventCounters) {
        let simd = self.simd;
        simd.enter(
            #[inline(always)]
            || kernels::count_events(simd, groups, results, counters),
        );
    }
}
