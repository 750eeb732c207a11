//! The processes of a cluster, and the order and stages of their tasks.

pub(super) mod executor_connections;
pub(super) mod fair_scheduling;
pub(super) mod object_store;
pub(super) mod optimizer_rules;
pub(super) mod ports;
pub(super) mod processes;
pub(super) mod shuffle_files;
pub(super) mod work_dir;
