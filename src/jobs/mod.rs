//! Jobs for [`crate::pipeline::run`]: the ways to process records.
//!
//! The command line only starts these jobs and prints their output. Any other program can do the same.

#[cfg(feature = "parquet")]
mod arrays;
mod conversion;
mod file;
mod game_columns;
mod games;
mod in_order;
mod output_error;
mod output_format;
mod positions;
mod rows;
#[cfg(feature = "parquet")]
mod scan;
mod statistics;
mod stream;
#[cfg(feature = "parquet")]
mod table;
mod write;
mod written;

#[cfg(feature = "sql")]
pub(crate) use arrays::judge;
#[cfg(feature = "parquet")]
pub use arrays::{ArrowPositions, ComputeOptions, Computed, OnBad, compute};
pub use file::{FileOptions, RecordFile};
pub use game_columns::{GameColumn, GameColumns};
pub use output_error::OutputError;
pub use output_format::{Content, OutputFormat};
pub(crate) use positions::Collect;
pub use positions::PositionReader;
#[cfg(feature = "parquet")]
pub use scan::{Scan, ScanStep};
pub use statistics::{CountedGroups, GroupCounts, Statistics};
pub(crate) use stream::{Sender, Stream};
pub use write::{Complete, WriteFile, WriteJob, WritePart};
pub use written::Written;
