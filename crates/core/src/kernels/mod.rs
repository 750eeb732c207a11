//! Set-wise algorithms on many boards at once, written once and generic over the lanes.
//!
//! One board per 64-bit lane; every step is the same instruction on all lanes. There are no move lists, no
//! loops over pieces, no tables in memory and no branches that depend on data, except for guards of rare cases: above
//! all en passant, Chess960 castling, and double check.
//!
//! The ideas, in the order of processing:
//!
//! 1. `board`: the four planes become piece sets; boards with Black to move are flipped, so that
//!    *us* always moves up the board.
//! 2. `rays`: moving one way, the rays of different sliders never overlap (each stops the next), so one
//!    fill gives the targets of *all* sliders in that direction, and its population count is a number of
//!    moves.
//! 3. `threats`: enemy attacks by line (rank, file, diagonal, antidiagonal). What king and enemy both see
//!    along the same line decides all pins and checks: own pieces there are pinned, and on empty squares there
//!    a check can be blocked. No x-rays are needed.
//! 4. `moves`: legal targets by direction, summed bit by bit before anything is counted.
//! 5. `playable`: the rules of the playable level, as one mask.
//! 6. `counts`, `material`, `keys`: further data for statistics: pieces, material, squares, keys of positions.
//!
//! `legal_move_lists` lists legal moves, piece by piece.
//!
//! `replies` finds the moves that leave the number of replies as it is after a pass, for perft.
//!
//! `san` and `replay` go the other way: they read the words of games, and play the moves of eight games at once.
//!
//! The reference for all kernels is [`crate::chess`]. Lanes are exact for every board that decodes and has one king per
//! side and no pawn on the first or last rank, reachable or not.

pub(crate) mod bit_sums;
pub(crate) mod boards_in_lanes;
mod counts;
mod keys;
mod legal_move_lists;
mod material;
pub(crate) mod moves;
pub mod movetext;
mod one_slider;
pub(crate) mod playable_positions;
pub(crate) mod rays;
pub mod replay;
mod replies;
pub(crate) mod san;
pub(crate) mod threats;

pub use boards_in_lanes::{PieceSets, piece_sets};
pub use counts::{
    BoardCounts, EventCounters, SquareCounters, VerticalCounters, board_counts, count_events, count_squares,
    squares_of_pieces,
};
pub use keys::REGISTER_BITS;
pub use keys::{Keys, keys};
pub use legal_move_lists::{MoveLists, legal_move_lists};
pub use material::{NO_SIGNATURE, signatures};
pub use moves::{attack_maps, checkers, count_legal_moves, everything, mobility, pins};
pub use one_slider::{Moves, OneSlider, SliderMethod, one_slider};
pub use playable_positions::invalid;
pub use replies::{Replies, replies};

pub(crate) const FILE_A: u64 = 0x0101_0101_0101_0101;
pub(crate) const FILE_H: u64 = FILE_A << 7;
pub(crate) const RANK_1: u64 = 0xFF;
pub(crate) const RANK_3: u64 = 0xFF << 16;
pub(crate) const RANK_5: u64 = 0xFF << 32;
pub(crate) const RANK_6: u64 = 0xFF << 40;
pub(crate) const RANK_8: u64 = 0xFF << 56;
pub(crate) const E1: u64 = 1 << 4;
/// The squares of castling rooks of White in standard chess.
pub(crate) const CORNERS: u64 = 1 | 1 << 7;
