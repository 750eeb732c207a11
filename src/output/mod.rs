//! Outputs: records to bytes, and files that appear whole or not at all.

mod atomic;
pub mod csv;
pub mod jsonl;
pub mod rows;
pub mod text;

pub use atomic::AtomicFile;
