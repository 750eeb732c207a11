//! Outputs: from records to bytes, and files that appear complete or not at all.

mod atomic_file;
pub(crate) mod cells;
pub mod compress;
pub(crate) mod csv;
pub(crate) mod jsonl;
pub(crate) mod row_format;
pub(crate) mod temp_file;
mod temp_registry;

pub use atomic_file::{AtomicFile, CompleteFile};
pub use row_format::SquareSetStyle;
pub use temp_file::ScratchSpace;
pub use temp_registry::abandon_outputs;

/// The suffix that turns the name of an output into that of its manifest: a file that records how it was made.
pub const MANIFEST_SUFFIX: &str = ".manifest.json";
