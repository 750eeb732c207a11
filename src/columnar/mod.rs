//! Columns for other tools: their encoding in Parquet and Arrow files, and in Arrow arrays.
//!
//! A job fills columns one tile at a time, as for CSV, and keeps the rows that count. The rows of all chunks, in order,
//! are cut into blocks of [`BLOCK`] rows, whatever the size of chunks. The worker whose chunk completes a block encodes
//! it: a page per column for Parquet, a record batch for Arrow. The writing thread receives finished blocks. The output
//! therefore does not depend on the number of threads, and only the compressed pages of one row group are in memory, in
//! addition to the chunks in flight.
//!
//! Blocks only share the dictionaries of repeated texts, which belong to a row group. A text receives its number when
//! its block is cut, in order, and is written when the row group ends.

mod arrow;
mod column_descriptions;
mod ipc;
mod list_buffer_pool;
mod parquet;
mod row_blocks;
mod schema_metadata;
#[cfg(test)]
mod tests;

pub(crate) use arrow::record_batch;
pub(crate) use arrow::schema;
pub(crate) use column_descriptions::Described;
pub(crate) use column_descriptions::{dates_without_days, in_place_of_values};
pub(crate) use ipc::{Ipc, IpcFile, IpcKind};
pub use parquet::{Compression, ParquetPages};
pub(crate) use parquet::{Pages, Parquet, ParquetFile};
#[cfg(any(test, feature = "sql"))]
pub(crate) use row_blocks::ROW_GROUP;
pub(crate) use row_blocks::{ROW_GROUP_OF_GAMES, RowBlock, RowBlocks};
#[cfg(feature = "sql")]
pub(crate) use schema_metadata::is_ours;
pub(crate) use schema_metadata::{COLUMNS, TABLE, check_columns, check_file};

/// Rows that are encoded at once.
pub const BLOCK: usize = 1 << 14;
