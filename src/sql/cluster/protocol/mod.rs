//! What the machines of a cluster send one another: pieces of inputs, plans, reports and errors.

pub(super) mod client;
pub(super) mod codec;
pub(in crate::sql) mod errors;
pub(super) mod file_fingerprint_check;
pub(in crate::sql) mod file_names_in_queries;
pub(super) mod input_shares;
pub(super) mod message_envelope;
pub(super) mod messages;
pub(super) mod piece_result_rows;
pub(super) mod scan;
pub(super) mod scan_metrics;
pub(super) mod scheduler_connection;
pub(super) mod statistics;
pub(super) mod statistics_request;
pub(super) mod write_pieces;
pub(super) mod write_request;
