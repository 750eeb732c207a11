//! Dividing records that do not fit in memory into parts that do, by keys.
//!
//! [`keyed_rows`] has the method. It divides any [`RowBuffer`](keyed_rows::RowBuffer) of rows: whole
//! [records](stored_records), entries that decide about records, or [positions](distinct_positions) to be counted.
//! Its keys should differ in their first bits; [`external_merge_sort`] sorts rows by any keys.

pub(crate) mod distinct_positions;
pub(crate) mod external_merge_sort;
pub(crate) mod keyed_rows;
pub(crate) mod rows_of_any_length;
pub(crate) mod stored_game_rows;
pub(crate) mod stored_records;
