//! All integration tests, one binary.

/// Kernels in every tier against the plain rules.
mod agreement;
/// The rules of one position.
mod chess;
/// The command-line contract.
mod cli;
/// Formats: reading, writing, damage.
mod formats;
/// Inputs: containers, pipes, directories.
mod input;
/// Counting the move tree from the lanes.
mod perft;
/// PGN: replay, oddities, selection, damage.
mod pgn;
/// Moves of games in every spelling.
mod pgn_moves;
/// Which games and positions are taken.
mod pgn_selection;
/// Every slider algorithm against the ray walk.
mod sliders;
/// What several areas' tests need: the shared sample data.
mod support;
