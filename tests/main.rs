//! All integration tests, one binary.

/// Kernels in every tier against the plain rules.
mod agreement;
/// Boards files with right checksums and wrong content.
mod boards_forged;
/// The rules of one position.
mod chess;
/// The command-line contract.
mod cli;
/// Every system call that can fail, failing.
#[cfg(target_os = "linux")]
mod faults;
/// Formats: reading, writing, damage.
mod formats;
/// Every fuzz target for some seconds.
mod fuzz;
/// Inputs: containers, pipes, directories.
mod input;
/// Mates beside scores, in every format.
mod mate;
/// Counting the move tree from the lanes.
mod perft;
/// PGN: replay, oddities, selection, damage.
mod pgn;
/// Moves of games in every spelling.
mod pgn_moves;
/// Which games and positions are taken.
mod pgn_selection;
/// PGN: where games begin and end, what is no game, limits, work that grows with the input.
mod pgn_structure;
/// Threads, chunks, arrival, damage: nothing of it changes what is counted.
mod pipeline;
/// Every slider algorithm against the ray walk.
mod sliders;
/// What several areas' tests need: the shared sample data.
mod support;
