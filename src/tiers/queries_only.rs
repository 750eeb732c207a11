//! Lanes that are only measured: they answer queries, and leave the rest to portable code.

use super::set_wise::SetWise;
use super::{Analyzer, Tier};
use crate::block::Group;
use crate::queries::{GroupResults, Queries};
use crate::simd::Simd;

/// The queries on the lanes of one token.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueriesOnly<S>(SetWise<S>);

impl<S: Simd> QueriesOnly<S> {
    /// The queries, if the CPU can run them.
    pub(super) fn detect(tier: Tier) -> Option<Self> {
        SetWise::detect(tier).map(Self)
    }
}

impl<S: Simd> Analyzer for QueriesOnly<S> {
    fn tier(&self) -> Tier {
        self.0.tier()
    }
    fn features(&self) -> &'static [&'static str] {
        S::FEATURES
    }
    fn analyze(&self, groups: &[Group], queries: Queries, results: &mut [GroupResults]) {
        self.0.analyze(groups, queries, results);
    }
}
