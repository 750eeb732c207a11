//! What corrects the engine: plans that it would answer wrongly, or with too much memory, and its messages.

pub(super) mod clause_of_error;
pub(super) mod column_spelling;
pub(super) mod hex_literals;
pub(super) mod join_corrections;
pub(super) mod low_memory_plans;
pub(super) mod names_in_duckdb;
#[cfg(feature = "cluster")]
pub(super) mod nullability;
pub(super) mod plan_corrections;
pub(super) mod query_tokens;
pub(super) mod statement_repair;
pub(super) mod syntax_tree_walk;
