//! What a cluster refuses: strangers, files outside of its data, plans that do something else, forged messages.

pub(super) mod data_dirs;
#[cfg(test)]
pub(super) mod forged_message_tests;
pub(super) mod plan_allowlist;
pub(super) mod tls;
