//! The kernels on lanes, behind the seam: one `enter` for each question and run of groups.

use super::{Analyzer, GroupResults, Tier, Wanted};
use crate::block::Group;
use crate::kernels;
use crate::simd::Simd;

/// All kernels on the lanes of one token.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetWise<S> {
    simd: S,
    tier: Tier,
}

impl<S: Simd> SetWise<S> {
    /// The kernels, where the CPU can run them.
    pub(super) fn detect(tier: Tier) -> Option<Self> {
        S::detect().map(|simd| Self { simd, tier })
    }

    /// Runs a kernel over all lanes of all groups.
    #[inline(always)]
    fn run(
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
        S::FEATURES
    }

    fn analyze(&self, groups: &[Group], wanted: Wanted, results: &mut [GroupResults]) {
        let results = &mut results[..groups.len()];
        let mut left = wanted;
        if left.kinds || (left.moves && (left.checkers || left.pinned || left.attacks)) {
            if left.unplayable {
                self.run(groups, results, kernels::everything::<S, true>);
            } else {
                self.run(groups, results, kernels::everything::<S, false>);
            }
            left = Wanted {
                mobility: left.mobility,
                ..Wanted::NOTHING
            };
        }
        if left.moves {
            self.run(groups, results, kernels::count_moves);
        }
        if left.attacks {
            self.run(groups, results, kernels::attack_maps);
        }
        if left.pinned {
            self.run(groups, results, kernels::pins);
        }
        if left.checkers {
            self.run(groups, results, kernels::checkers);
        }
        if left.mobility {
            self.run(groups, results, kernels::mobility);
        }
        if left.unplayable {
            self.run(groups, results, kernels::unplayable);
        }
    }
}
