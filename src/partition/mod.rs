//! More records than fit into memory, divided by keys into parts that do.
//!
//! See [`store`] for how. What is divided is any [`Pile`](store::Pile) of rows: whole [records](records), what decides
//! about them, or [positions](distinct) that are counted.

pub(crate) mod distinct;
pub(crate) mod records;
pub(crate) mod store;
