//! Operations on whole data sets, which may be larger than memory and give the same bytes on every machine.
//!
//! Operations on all records of all inputs have two steps. First, a [run](crate::pipeline::run) divides the records by
//! a key, on all threads, into parts that fit in memory; the parts are in memory or in temporary files. Then the parts
//! are taken in order, each is sorted, and a [`Job`](crate::pipeline::Job) processes the records as if they had been
//! read in this order. Keys are hashes of a seed and a record's number, or of its position, so the result depends
//! neither on the number of threads nor on the memory.

mod dedup;
mod divide_by_keys;
mod duplicate_games;
mod interleave;
mod interleave_weights;
mod kept_record_bits;
mod opening_tree;
mod opening_tree_output;
mod opening_tree_rows;
mod opening_tree_shards;
mod shuffle;
mod sort_games;
mod split;
#[cfg(test)]
mod tests;

pub use dedup::{Dedup, Deduplicated, Distinct, Keep, Key};
pub use duplicate_games::{
    DeduplicatedGames, DuplicateGame, DuplicateGames, GameKeys, GamePlace, KeepGame, OnDuplicate,
};
pub use interleave::{Interleave, Interleaved, MixedInput};
pub use interleave_weights::Weights;
pub use opening_tree::{OpeningTree, TreeMove, TreePosition};
pub use opening_tree_output::{BookWeight, TreeFile, TreeWritten};
pub use shuffle::{Shuffle, Unit};
pub use sort_games::SortGames;
pub use split::{Share, Shares, Split, SplitBy};
