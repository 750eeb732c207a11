//! What statistics of a cluster count.

use crate::stats::GroupBy;
use crate::table::FeatureSet;

/// Optional statistics.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Counting {
    /// Also count details: [`Statistics::with_details`](crate::jobs::Statistics::with_details).
    pub details: bool,
    /// Also count how often each input of a network is active:
    /// [`Statistics::with_features`](crate::jobs::Statistics::with_features).
    pub features: Option<FeatureSet>,
    /// Also count each group of positions: [`Statistics::grouped_by`](crate::jobs::Statistics::grouped_by).
    pub by: Option<GroupBy>,
    /// Whether the lines of rejected records are requested.
    pub rejects: bool,
}

crate::option_setters::setters!(Counting {
    details: bool,
    features: Option<FeatureSet>,
    by: Option<GroupBy>,
    rejects: bool,
});
