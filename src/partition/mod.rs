//! Dividing records that do not fit in memory into parts that do, by keys.
//!
//! [`keyed_rows`] has the method. It divides any [`RowBuffer`](keyed_rows::RowBuffer) of rows: whole
//! [records](stored_records), entries that decide about records, or [positions](distinct_positions) to be counted.
//! Its keys should differ in their first bits; [`sorted_runs`] sorts rows by any keys.

pub(crate) mod byte_rows;
pub(crate) mod distinct_positions;
pub(crate) mod keyed_rows;
pub(crate) mod sorted_runs;
pub(crate) mod stored_games;
pub(crate) mod stored_records;
