//! Packed boards: 32 bytes per position, eight positions per group, plane by plane.
//!
//! ## The record
//!
//! A board is four 64-bit planes: one for the colour and three for the bits of a piece code on each square.
//!
//! | code (types 2, 1, 0) | piece |
//! | --- | --- |
//! | 000 | empty |
//! | 001 | pawn |
//! | 010 | knight |
//! | 011 | bishop |
//! | 100 | rook |
//! | 101 | queen |
//! | 110 | king |
//! | 111 | rook that may still castle |
//!
//! The codes are chosen so that each set the kernels use (rook-like, bishop-like, …) is one logic
//! operation of three inputs. The colour bit is set for Black. On an *empty* square it is free, and so it
//! carries the rest of the state: at most one empty square has its bit set, the *sentinel bit*.
//!
//! | square of the sentinel bit | meaning |
//! | --- | --- |
//! | none | White to move |
//! | on rank 6 | White to move, this is the en passant square |
//! | on rank 3 | Black to move, this is the en passant square |
//! | elsewhere | Black to move (the canonical place is the lowest empty square outside ranks 3 and 6) |
//!
//! At most 32 of the 48 squares outside ranks 3 and 6 are occupied, so there is always room for the sentinel bit.
//! The clocks are not part of the record; they are a column beside it.
//!
//! ## The group
//!
//! Eight records are stored plane by plane ([`Group`]), so that a vector load *is* a plane of eight boards and
//! decoding costs nothing. A group is 256 bytes and aligned to a cache line; files hold groups as they are,
//! little-endian, so a mapped file is an array of them.

use crate::chess::fen::Coded;
use crate::chess::{Bitboard, CastlingRights, Color, Position, Rank, Role, Square};
use bytemuck::{Pod, Zeroable};
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// Ranks 3 and 6, where a sentinel bit is an en passant square.
const EN_PASSANT_RANKS: u64 = 0x0000_FF00_00FF_0000;
const RANK_6: u64 = 0x0000_FF00_0000_0000;

/// One board without its clocks, in 32 bytes. See the [module](self) for the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Packed {
    /// Set for Black on occupied squares; at most one sentinel bit on an empty one.
    pub color: u64,
    /// The three bits of the piece code, lowest first.
    pub types: [u64; 3],
}

/// The reason why four planes do not decode to a board. See [`Packed::unpack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// More than one empty square has its sentinel bit set.
    #[error("more than one empty square has its sentinel bit set")]
    Sentinels,
}

/// The board cannot be packed: no empty square is left for the sentinel bit of Black to move, or the en
/// passant square is occupied or on a rank that does not belong to the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the position has no packed form: its en passant square is invalid, or it has too few empty squares")]
pub struct PackError;

impl Packed {
    /// Packs a position; the clocks are not stored.
    ///
    /// # Errors
    /// If the en passant square is occupied or not on the rank that belongs to the side to move, or
    /// if Black is to move and no square outside ranks 3 and 6 is empty. Valid positions always pack.
    #[inline]
    pub fn pack(position: &Position) -> Result<Self, PackError> {
        let of = |role| position.role(role).0;
        let castling = position.castling.0.0 & of(Role::Rook);
        let types = [
            of(Role::Pawn) | of(Role::Bishop) | of(Role::Queen) | castling,
            of(Role::Knight) | of(Role::Bishop) | of(Role::King) | castling,
            of(Role::Rook) | of(Role::Queen) | of(Role::King),
        ];
        let empty = !position.occupied().0;
        let black_to_move = position.side_to_move == Color::Black;
        let sentinel = match position.en_passant {
            Some(square) => {
                let rank = if black_to_move { 2 } else { 5 };
                let sentinel = Bitboard::square(square).0 & empty & Bitboard::rank(Rank::new(rank)).0;
                if sentinel == 0 {
                    return Err(PackError);
                }
                sentinel
            }
            None if black_to_move => {
                let free = empty & !EN_PASSANT_RANKS;
                if free == 0 {
                    return Err(PackError);
                }
                free & free.wrapping_neg()
            }
            None => 0,
        };
        Ok(Self { color: position.color(Color::Black).0 | sentinel, types })
    }

    /// The same as [`Self::pack`], from codes; `None` also if there is an en passant square.
    #[doc(hidden)]
    #[inline(always)]
    pub fn of_coded(coded: &Coded) -> Option<Self> {
        let [t0, t1, t2, black] = coded.planes;
        let free = !(t0 | t1 | t2 | EN_PASSANT_RANKS);
        let sentinel = match coded.side_to_move {
            Color::White => 0,
            Color::Black => free & free.wrapping_neg(),
        };
        let has_place = coded.side_to_move == Color::White || sentinel != 0;
        (has_place && coded.en_passant.is_none())
            .then_some(Self { color: black | sentinel, types: [t0 | coded.castling, t1 | coded.castling, t2] })
    }

    /// The position, with the given clocks.
    ///
    /// Any planes with at most one sentinel bit decode, legal or not: what is wrong with the
    /// position itself is reported by [`Violations`](crate::chess::Violations).
    ///
    /// # Errors
    /// [`UnpackError::Sentinels`] if more than one empty square has its sentinel bit set.
    #[inline]
    pub fn unpack(&self, halfmove: u16, fullmove: u16) -> Result<Position, UnpackError> {
        let planes = self.planes();
        let occupied = self.occupied();
        let sentinel = self.color & !occupied;
        if sentinel & sentinel.wrapping_sub(1) != 0 {
            return Err(UnpackError::Sentinels);
        }
        let castling = planes.castling();
        // Not `Role::ALL.map`, which is not always inlined into crates of several codegen units.
        let by_role = [
            Bitboard(planes.pawns()),
            Bitboard(planes.knights()),
            Bitboard(planes.bishops()),
            Bitboard(planes.rooks()),
            Bitboard(planes.queens()),
            Bitboard(planes.kings()),
        ];
        let black = self.color & occupied;
        let mut position = Position::from_sets(by_role, [Bitboard(occupied & !black), Bitboard(black)]);
        position.side_to_move = if sentinel & !RANK_6 == 0 { Color::White } else { Color::Black };
        position.castling = CastlingRights(Bitboard(castling));
        position.en_passant = Bitboard(sentinel & EN_PASSANT_RANKS).first();
        position.halfmove = halfmove;
        position.fullmove = fullmove;
        Ok(position)
    }

    /// The data for the FEN of the position with the given clocks, without unpacking it.
    #[doc(hidden)]
    #[inline(always)]
    pub fn coded(&self, halfmove: u16, fullmove: u16) -> Coded {
        let [t0, t1, t2] = self.types;
        Coded {
            planes: [t0, t1, t2, self.color],
            castling: self.planes().castling(),
            side_to_move: self.side_to_move(),
            en_passant: self.en_passant(),
            halfmove,
            fullmove,
        }
    }

    /// The planes.
    #[inline(always)]
    pub const fn planes(&self) -> Planes<u64> {
        Planes { color: self.color, types: self.types }
    }

    /// All occupied squares.
    #[inline(always)]
    pub const fn occupied(&self) -> u64 {
        self.types[0] | self.types[1] | self.types[2]
    }

    /// The side to move.
    #[inline(always)]
    pub const fn side_to_move(&self) -> Color {
        if self.color & !self.occupied() & !RANK_6 == 0 { Color::White } else { Color::Black }
    }

    /// The en passant square.
    #[inline(always)]
    pub fn en_passant(&self) -> Option<Square> {
        Bitboard(self.color & !self.occupied() & EN_PASSANT_RANKS).first()
    }
}

/// The four planes of boards, for any lanes, and their decoding to sets of pieces.
#[derive(Clone, Copy, Debug)]
pub struct Planes<L> {
    /// Set for Black on occupied squares; the state on empty ones.
    pub color: L,
    /// The three bits of the piece code, lowest first.
    pub types: [L; 3],
}

impl<L> Planes<L>
where
    L: Copy + BitAnd<Output = L> + BitOr<Output = L> + BitXor<Output = L> + Not<Output = L>,
{
    /// All occupied squares.
    #[inline(always)]
    pub fn occupied(&self) -> L {
        let [t0, t1, t2] = self.types;
        t0 | t1 | t2
    }
    /// Pawns of both sides.
    #[inline(always)]
    pub fn pawns(&self) -> L {
        let [t0, t1, t2] = self.types;
        t0 & !(t1 | t2)
    }
    /// Knights of both sides.
    #[inline(always)]
    pub fn knights(&self) -> L {
        let [t0, t1, t2] = self.types;
        t1 & !(t0 | t2)
    }
    /// Bishops of both sides.
    #[inline(always)]
    pub fn bishops(&self) -> L {
        let [t0, t1, t2] = self.types;
        t0 & t1 & !t2
    }
    /// Rooks of both sides.
    #[inline(always)]
    pub fn rooks(&self) -> L {
        let [t0, t1, t2] = self.types;
        t2 & !(t0 ^ t1)
    }
    /// Queens of both sides.
    #[inline(always)]
    pub fn queens(&self) -> L {
        let [t0, t1, t2] = self.types;
        t2 & t0 & !t1
    }
    /// Kings of both sides.
    #[inline(always)]
    pub fn kings(&self) -> L {
        let [t0, t1, t2] = self.types;
        t2 & t1 & !t0
    }
    /// Knights and bishops of both sides.
    #[inline(always)]
    pub fn minors(&self) -> L {
        let [_, t1, t2] = self.types;
        t1 & !t2
    }
    /// Bishops and queens of both sides.
    #[inline(always)]
    pub fn diagonal(&self) -> L {
        let [t0, t1, t2] = self.types;
        t0 & (t1 ^ t2)
    }
    /// Rooks and queens of both sides.
    #[inline(always)]
    pub fn orthogonal(&self) -> L {
        let [t0, t1, t2] = self.types;
        t2 & (t0 | !t1)
    }
    /// Rooks that may still castle.
    #[inline(always)]
    pub fn castling(&self) -> L {
        let [t0, t1, t2] = self.types;
        t0 & t1 & t2
    }
    /// All pieces of a role.
    #[inline(always)]
    pub fn role(&self, role: Role) -> L {
        match role {
            Role::Pawn => self.pawns(),
            Role::Knight => self.knights(),
            Role::Bishop => self.bishops(),
            Role::Rook => self.rooks(),
            Role::Queen => self.queens(),
            Role::King => self.kings(),
        }
    }
}

/// Eight boards, plane by plane: the unit that the lanes load.
///
/// `planes[0]` is the colour, `planes[1..]` the three bits of the piece code; a plane has one `u64` per board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Group {
    /// Colour, type bit 0, type bit 1, type bit 2; each for eight boards.
    pub planes: [[u64; 8]; 4],
}

impl Group {
    /// Boards per group.
    pub const LEN: usize = 8;
    /// Bytes per group.
    pub const BYTES: usize = 256;

    /// The board in a lane.
    ///
    /// # Panics
    /// If `lane` is not below [`Group::LEN`].
    #[inline(always)]
    pub fn get(&self, lane: usize) -> Packed {
        let [color, t0, t1, t2] = &self.planes;
        Packed { color: color[lane], types: [t0[lane], t1[lane], t2[lane]] }
    }

    /// Puts a board into a lane.
    ///
    /// # Panics
    /// If `lane` is not below [`Group::LEN`].
    #[inline(always)]
    pub fn set(&mut self, lane: usize, board: Packed) {
        self.planes[0][lane] = board.color;
        for (plane, bits) in self.planes[1..].iter_mut().zip(board.types) {
            plane[lane] = bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen::CastlingStyle;
    use crate::chess::random::{RandomPlay, Start};

    #[test]
    fn codes_are_packed_like_positions_and_come_back() {
        for played in RandomPlay::new(4, Start::Chess960).take(2000) {
            let mut position = played.position;
            let coded = Coded::from(&position);
            if position.en_passant.is_some() {
                assert_eq!(Packed::of_coded(&coded), None);
                position.en_passant = None;
            }
            let coded = Coded::from(&position);
            let packed = Packed::pack(&position).unwrap();
            assert_eq!(Packed::of_coded(&coded), Some(packed));
            let (mut text, mut expected) = ([0; Coded::ROOM], Vec::new());
            let unpacked = packed.coded(position.halfmove, position.fullmove);
            let len = unpacked.write(&mut text, CastlingStyle::Outermost);
            position.write_fen(&mut expected, CastlingStyle::Outermost);
            assert_eq!(text[..len], expected);
        }
        // No square is left for the sentinel bit.
        let full = "pppppppp/pppppppp/8/pppppppp/pppppppp/8/pppppppp/pppppppp b - - 0 1";
        let full = Position::from_fen_unvalidated(full).unwrap();
        assert_eq!(Packed::of_coded(&Coded::from(&full)), None);
        assert_eq!(Packed::pack(&full), Err(PackError));
    }
}
