//! Jobs for [`crate::pipeline::run`]: the ways to process records.
//!
//! The command line only starts these jobs and prints their output. Any other program can do the same.

#[cfg(feature = "parquet")]
mod arrow_and_parquet_files;
#[cfg(feature = "parquet")]
mod arrow_batches_as_input;
mod background_stream;
#[cfg(feature = "parquet")]
mod batch_stream;
mod chunk_joiner;
#[cfg(feature = "parquet")]
mod columns_of_arrow_positions;
mod convert_files;
mod encode_records;
mod game_columns;
mod game_rows;
mod hub_and_aix_schemas;
mod label_comparison;
mod output_content;
mod output_error;
mod output_file;
mod output_format;
#[cfg(feature = "parquet")]
mod partitions;
mod positions;
mod row_division;
mod sort_order_of_games;
mod statistics;
mod text_rows;
mod verify_records;
mod write_job;

#[cfg(feature = "parquet")]
pub use arrow_batches_as_input::source_of_batches;
pub(crate) use background_stream::{Sender, Stream};
#[cfg(feature = "parquet")]
pub use batch_stream::{Scan, ScanStep};
#[cfg(feature = "sql")]
pub(crate) use columns_of_arrow_positions::judge;
#[cfg(feature = "parquet")]
pub use columns_of_arrow_positions::{ArrowPositions, BadRows, ComputeOptions, Computed, compute};
pub use convert_files::{FileOptions, RecordFile};
pub use game_columns::{GameColumn, GameColumns};
pub use hub_and_aix_schemas::GameSchema;
pub use label_comparison::{CompareLabels, LabelComparison, LabelCounts, MOST_WORST, WorstLabel};
pub use output_content::OutputContent;
pub use output_error::OutputError;
#[cfg(feature = "cluster")]
pub(crate) use output_file::OutputFile;
pub use output_format::{Content, OutputFormat};
pub(crate) use positions::Collect;
pub use positions::PositionReader;
pub use row_division::{Partition, RowDivision};
pub use sort_order_of_games::GameOrder;
pub use statistics::{CountedGroups, GroupCounts, Statistics};
pub use verify_records::VerifyRecords;
#[cfg(feature = "json")]
pub use verify_records::verification_to_json;
pub use write_job::{NextFile, OutputSummary, WriteFile, WriteJob, WritePart};
