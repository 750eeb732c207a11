//! What a cluster tells about itself.

pub(super) mod metrics;
pub(super) mod scheduler_api;
pub(super) mod status;
