//! What is done with records: jobs for [`crate::pipeline::run`].
//!
//! The command line only starts these and prints what they make; so can any other program.

mod conversion;
mod file;
mod games;
mod in_order;
mod output_format;
mod rows;
#[cfg(feature = "parquet")]
mod scan;
mod statistics;
#[cfg(feature = "parquet")]
mod table;
mod write;

pub use file::{FileOptions, RecordFile};
pub use output_format::{Content, OutputFormat};
#[cfg(feature = "parquet")]
pub use scan::{Scan, ScanStep};
pub use statistics::Statistics;
pub use write::{Complete, WriteFile, WriteJob, WritePart, Written};
