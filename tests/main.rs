//! All integration tests, one binary.

/// Kernels in every tier against the plain rules.
mod agreement;
/// The rules of one position.
mod chess;
/// The command-line contract.
mod cli;
/// Every system call that can fail, failing.
#[cfg(target_os = "linux")]
mod faults;
/// Formats: reading, writing, damage.
mod formats;
/// Inputs: containers, pipes, directories.
mod input;
/// Counting the move tree from the lanes.
mod perft;
/// PGN: replay, oddities, selection, damage.
mod pgn;
/// Every slider algorithm against the ray walk.
mod sliders;
/// What several areas' tests need: the shared sample data.
mod support;
