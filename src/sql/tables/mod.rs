//! Inputs as tables: the scans of the pipeline as leaves of plans.

pub(super) mod columns_stored_in_parquet;
pub(super) mod file_name_column;
pub(super) mod files_of_datafusion;
pub(super) mod filter_pushdown;
pub(super) mod paths;
pub(super) mod position_table;
pub(super) mod rows_counted_by_files;
pub(super) mod scan;
pub(super) mod scan_job;
pub(super) mod scan_registry;
pub(super) mod sql_types;
pub(super) mod where_conditions;
