//! Formats of training data for neural networks: records of one length, chains of moves, and lines with scores.

pub mod binpack;
pub(super) mod board_tests;
pub mod bullet;
pub(super) mod chain_gaps;
pub(super) mod decode_chains;
pub(super) mod encode_chains;
pub(super) mod encode_fixed_records;
pub mod marlin;
pub(super) mod piece_codes;
pub(super) mod scored_line;
pub mod scored_text;
pub mod sfen;
pub mod stockfish_plain;
pub mod viri;
