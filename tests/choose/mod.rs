//! Choosing games, positions and records.

/// Conditions, samples and new values.
pub(super) mod conditions_and_samples;
/// Filters of trainers as expressions.
pub(super) mod filters_of_trainers;
/// Selection of games and positions where games end in other places than the parts of a file.
pub(super) mod games_across_parts;
/// Selection of games and positions in formats other than PGN.
pub(super) mod games_of_other_formats;
/// Selection of games and positions in PGN.
pub(super) mod games_of_pgn;
/// The keys of `games=` in the types for Python.
pub(super) mod python_type_stub;
