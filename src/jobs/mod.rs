//! What is done with records: jobs for [`crate::pipeline::run`].
//!
//! The command line only starts these and prints what they make; so can any other program.

mod conversion;
mod games;
mod in_order;
mod rows;
mod statistics;
#[cfg(feature = "parquet")]
mod table;

pub use conversion::{Conversion, Converted};
pub use games::{GameFormat, GameRows};
pub use rows::Rows;
pub use statistics::Statistics;
#[cfg(feature = "parquet")]
pub use table::{Table, TableBlock, TableFile, TableFormat, TableRows, Tabulated};
