//! Whole data sets: records in another order, beyond memory, the same bytes on every machine.
//!
//! What is done with all records of all inputs at once is done in two steps. A [run](crate::pipeline::run) divides the
//! records by a key, on all threads, into parts that fit into memory, in memory or temporary files. Then the parts are
//! taken in order, each is sorted, and a [`Job`](crate::pipeline::Job) sees the records as if they had been read like that.
//! Keys are hashes of a seed and a record's number, or of its position: the outcome depends neither on the number of
//! threads nor on the memory.

mod dedup;
mod gather;
mod interleave;
mod kept;
mod shuffle;
mod split;
#[cfg(test)]
mod tests;

pub use dedup::{Dedup, Deduplicated, Distinct, Keep, Key};
pub use interleave::Interleave;
pub use shuffle::{Shuffle, Unit};
pub use split::{Share, ShareError, Shares, Split, SplitBy};
