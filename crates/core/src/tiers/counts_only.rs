//! Lanes that are only benchmarked, and only for counting legal moves, since compiling each kernel for them takes long.

use super::set_wise::SetWise;
use super::{Analyzer, Tier};
use crate::kernels;
use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::simd::{Scalar, Simd};

/// The count of legal moves on the lanes of one token; everything else is left to portable code.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountsOnly<S> {
    counting: SetWise<S>,
    others: SetWise<Scalar>,
}

impl<S: Simd> CountsOnly<S> {
    /// The count, if the CPU can run it.
    pub(super) fn detect(tier: Tier) -> Option<Self> {
        Some(Self { counting: SetWise::detect(tier)?, others: SetWise::detect(tier)? })
    }
}

impl<S: Simd> Analyzer for CountsOnly<S> {
    fn tier(&self) -> Tier {
        self.counting.tier()
    }
    fn features(&self) -> &'static [&'static str] {
        S::FEATURES
    }
    fn analyze(&self, groups: &[Group], queries: Queries, results: &mut [GroupResults]) {
        if queries == Queries::MOVES {
            self.counting.run(
                groups,
                &mut results[..groups.len()],
                #[inline(always)]
                |simd, group, at, out| kernels::count_legal_moves(simd, group, at, out),
            );
        } else {
            self.others.analyze(groups, queries, results);
        }
    }
}
