//! Inputs, shards and runs.

/// Files that are cut or grow while they are read.
#[cfg(all(target_os = "linux", feature = "parquet"))]
pub(super) mod changing_files;
/// Failing system calls.
#[cfg(target_os = "linux")]
pub(super) mod failing_system_calls;
/// Inputs: containers, pipes, directories.
pub(super) mod inputs;
/// The pipeline: results do not depend on threads, chunks or how bytes arrive.
pub(super) mod runs;
/// Shards: disjoint, and together everything.
pub(super) mod shards;
/// Zip archives.
pub(super) mod zip;
