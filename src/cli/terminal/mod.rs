//! The terminal: colours, tables, progress, and the standard streams.

pub(super) mod closed_streams;
pub(super) mod palette;
pub(super) mod progress;
pub(super) mod stdin;
pub(super) mod step_progress;
pub(super) mod style;
pub(super) mod table;
