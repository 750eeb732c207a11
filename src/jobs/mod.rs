//! What is done with records: jobs for [`crate::pipeline::run`].
//!
//! The command line only starts these and prints what they make; so can any other program.

#[cfg(feature = "parquet")]
mod arrays;
mod conversion;
#[cfg(feature = "parquet")]
mod file;
mod games;
mod in_order;
mod rows;
#[cfg(feature = "parquet")]
mod scan;
mod statistics;
#[cfg(feature = "parquet")]
mod stream;
#[cfg(feature = "parquet")]
mod table;

#[cfg(feature = "sql")]
pub(crate) use arrays::judge;
#[cfg(feature = "parquet")]
pub use arrays::{ComputeOptions, Computed, OnBad, Positions, compute};
pub use conversion::{Conversion, Converted};
#[cfg(feature = "parquet")]
pub use file::{FileOptions, RecordFile, Target};
pub use games::{GameFormat, GameRows};
pub use rows::Rows;
#[cfg(feature = "parquet")]
pub use scan::{Scan, ScanStep};
pub use statistics::Statistics;
#[cfg(feature = "sql")]
pub(crate) use stream::{Sender, Stream};
#[cfg(feature = "parquet")]
pub use table::{Table, TableBlock, TableFile, TableFormat, TableRows, Tabulated};
