//! One chess position: its types and its rules, plain and safe.
//!
//! This is the part that a reader can check by eye, and therefore the reference that the lanes are tested
//! against. It uses nothing else of the crate. Squares are numbered little-endian rank-file: a1 = 0,
//! b1 = 1, … h8 = 63, and bit *n* of a [`Bitboard`] is square *n*.

pub mod attacks;
pub(crate) mod bit_scan;
mod bitboard;
mod castling;
pub mod chess960;
pub mod fen;
pub mod geometry;
mod legal_moves;
mod moves;
pub mod perft;
mod piece;
mod position;
pub mod random;
pub mod reference;
pub mod san;
mod square;
mod symmetry;
mod validity;
#[doc(hidden)]
pub mod zobrist;

pub use bitboard::{Bitboard, Squares};
pub use castling::{CastlingRights, CastlingSide};
pub use legal_moves::{LegalCounts, MoveList};
pub use moves::{Move, MoveError, MoveKind, UciText, Undo};
pub use piece::{Color, Piece, Role};
pub use position::Position;
pub use square::{File, Rank, Square};
pub use validity::{Rule, Validity, Violations};
