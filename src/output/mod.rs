//! Outputs: records to bytes, and files that appear whole or not at all.

mod atomic;

pub use atomic::AtomicFile;
