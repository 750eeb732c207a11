//! What a cluster refuses: strangers, files outside of its data, plans that do something else, forged messages.

pub(super) mod data_dirs;
#[cfg(test)]
pub(super) mod forged_message_tests;
pub(super) mod output_dir;
pub(super) mod plan_allowlist;
pub(super) mod tls;

use crate::output::ScratchSpace;
use data_dirs::Data;
use output_dir::OutputDirectory;
use std::path::PathBuf;

/// Memory of a task for sorting: several run at the same time.
const SORT_MEMORY: u64 = 256 << 20;

/// The directories in which an executor reads and writes files.
#[derive(Clone, Debug)]
pub(in crate::sql::cluster) struct Directories {
    pub(in crate::sql::cluster) data: Data,
    pub(in crate::sql::cluster) out: OutputDirectory,
    /// For temporary files.
    pub(in crate::sql::cluster) work: PathBuf,
}

impl Directories {
    /// The space of a task that sorts what it writes.
    pub(in crate::sql::cluster) fn scratch_space(&self) -> ScratchSpace {
        ScratchSpace::default().memory(SORT_MEMORY).directory(self.work.clone())
    }
}
