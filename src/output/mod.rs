//! Outputs: from records to bytes, and files that appear complete or not at all.

mod atomic;
pub(crate) mod cells;
pub mod compress;
pub mod csv;
pub mod jsonl;
pub mod rows;
pub(crate) mod spill;
mod temporary;

pub use crate::input::clean_up_after_aborts;
pub use atomic::AtomicFile;
pub use spill::Space;
pub use temporary::abandon_outputs;
