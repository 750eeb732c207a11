//! What the commands share while they run: reading the inputs, writing the output, manifests, and the report at the end.

#[cfg(feature = "cluster")]
pub(super) mod cluster_output;
pub(super) mod column_listing;
pub(super) mod dataset_summary;
pub(super) mod file_identity;
pub(super) mod format_output;
pub(super) mod interrupt;
pub(super) mod invocation;
pub(super) mod manifest;
pub(super) mod output;
pub(super) mod output_directories;
pub(super) mod tier_calibration;
