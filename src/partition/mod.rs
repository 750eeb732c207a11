//! Dividing records that do not fit in memory into parts that do, by keys.
//!
//! [`store`] has the method. It divides any [`RowBuffer`](store::RowBuffer) of rows: whole [records](records), entries that
//! decide about records, or [positions](distinct) to be counted.

pub(crate) mod distinct_positions;
pub(crate) mod keyed_rows;
pub(crate) mod stored_records;
