//! Computed columns, compared with plain code for one position or game at a time.

/// Columns of the catalogue, compared with the plain rules.
pub(super) mod catalogue;
/// Lists of legal moves, and their indices in policies.
pub(super) mod legal_move_columns;
/// Inputs of evaluation networks.
pub(super) mod network_features;
/// Openings by position, and how long games are.
pub(super) mod openings;
/// Scores of the records before.
pub(super) mod scores_before;
/// Exchange values of moves.
pub(super) mod see;
