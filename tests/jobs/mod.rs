//! What runs make: columns, files, streams.

/// Parquet and Arrow files as outputs.
#[cfg(feature = "parquet")]
pub(super) mod arrow_and_parquet;
/// Columns of arrays in memory.
#[cfg(feature = "parquet")]
pub(super) mod arrow_positions;
/// Runs as streams of record batches.
#[cfg(feature = "parquet")]
pub(super) mod batch_stream;
