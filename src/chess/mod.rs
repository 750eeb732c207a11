//! One chess position: its nouns and its rules, plain and safe.
//!
//! This is the part that a reader can check by eye, and so it is the truth that the lanes are tested
//! against. It uses nothing else of the crate. Squares are numbered little-endian rank-file: a1 = 0,
//! b1 = 1, .. h8 = 63, and bit *n* of a [`Bitboard`] is square *n*.

pub mod bitboard;
pub mod castling;
pub mod moves;
pub mod piece;
pub mod position;
pub mod square;

pub use bitboard::Bitboard;
pub use castling::CastlingRights;
pub use moves::{Move, MoveKind};
pub use piece::{Color, Piece, Role};
pub use position::Position;
pub use square::{File, Rank, Square};
