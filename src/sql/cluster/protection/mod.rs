//! What a cluster refuses: strangers, files outside of its data, plans that do something else, forged messages.

pub(super) mod data_dirs;
#[cfg(test)]
pub(super) mod forged_message_tests;
pub(super) mod output_dir;
pub(super) mod plan_allowlist;
pub(super) mod tls;

use data_dirs::Data;
use output_dir::OutputDirectory;

/// The directories in which an executor reads and writes files.
#[derive(Clone, Debug)]
pub(in crate::sql::cluster) struct Directories {
    pub(in crate::sql::cluster) data: Data,
    pub(in crate::sql::cluster) out: OutputDirectory,
}
