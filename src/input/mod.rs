//! Bytes from files, pipes and compressed streams.

mod map;

pub use map::Mapped;
