//! A position as FEN names it: between its text and its sets of pieces.

use crate::chess::{Bitboard, CastlingRights, Color, Position, Role, Square};

/// A position with a code for each square: what is read, and what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Coded {
    /// The three bits of the piece code (role + 1), then Black's pieces. Where it is written, code 7 is a rook too,
    /// and the bits of empty squares do not count among Black's.
    pub planes: [u64; 4],
    /// The rooks that may still castle.
    pub castling: u64,
    /// The side to move.
    pub side_to_move: Color,
    /// The en passant square.
    pub en_passant: Option<Square>,
    /// The halfmove clock.
    pub halfmove: u16,
    /// The move number.
    pub fullmove: u16,
}

impl Coded {
    /// The pieces, and otherwise what is not given.
    #[inline(always)]
    pub(super) const fn of_planes(planes: [u64; 4]) -> Self {
        Self { planes, castling: 0, side_to_move: Color::White, en_passant: None, halfmove: 0, fullmove: 1 }
    }

    /// The pieces of a role and a colour on the back rank of that colour: kings, or rooks.
    #[inline(always)]
    pub(super) fn on_back_rank(&self, color: Color, role: Role) -> Bitboard {
        let [t0, t1, t2, black] = self.planes;
        let of_role = match role {
            Role::Rook => t2 & !(t0 ^ t1),
            _ => t2 & t1 & !t0,
        };
        let of_color = match color {
            Color::White => !black,
            Color::Black => black,
        };
        Bitboard(of_role & of_color) & Bitboard::rank(CastlingRights::back_rank(color))
    }

    /// The rooks that `K`, `Q`, `k` and `q` stand for: the outermost one on each side of the king. An empty set where
    /// there is none, or no king.
    #[inline(always)]
    pub(super) fn outermost_rooks(&self) -> [u64; 4] {
        let [white_king_side, white_queen_side] = self.outermost_rooks_of(Color::White);
        let [black_king_side, black_queen_side] = self.outermost_rooks_of(Color::Black);
        [white_king_side, white_queen_side, black_king_side, black_queen_side]
    }

    /// The rooks that a set of letters stands for, with a bit each for `K`, `Q`, `k` and `q`, if they are in the corners:
    /// those that [`Self::outermost_rooks`] finds, because a rook in a corner is the outermost one on its side of a king
    /// on the same rank.
    #[inline(always)]
    pub(super) fn castling_in_corners(&self, letters: u8) -> Option<u64> {
        /// The corners for each set of letters.
        const CORNERS: [u64; 16] = {
            let corners = [1 << 7, 1, 1 << 63, 1 << 56];
            let mut table = [0; 16];
            let mut letters = 0;
            while letters < 16 {
                let mut bit = 0;
                while bit < 4 {
                    table[letters] |= corners[bit] * (letters as u64 >> bit & 1);
                    bit += 1;
                }
                letters += 1;
            }
            table
        };
        let rooks = |color| self.on_back_rank(color, Role::Rook).0;
        let has_king = |color| self.on_back_rank(color, Role::King).0 != 0;
        let corners = CORNERS[usize::from(letters & 0xF)];
        let are_rooks = corners & !(rooks(Color::White) | rooks(Color::Black)) == 0;
        let have_kings =
            (letters & 0b0011 == 0) | has_king(Color::White) && (letters & 0b1100 == 0) | has_king(Color::Black);
        (are_rooks & have_kings).then_some(corners)
    }

    #[inline(always)]
    fn outermost_rooks_of(&self, color: Color) -> [u64; 2] {
        let king = self.on_back_rank(color, Role::King).0;
        // Without a king everything is below it, and then it does not count.
        let below = king.wrapping_sub(1) & !king;
        let rooks = self.on_back_rank(color, Role::Rook).0;
        let last = Bitboard(rooks & !below).last();
        let lower = if king == 0 { 0 } else { rooks & below };
        [last.map_or(0, |rook| Bitboard::square(rook).0), lower & lower.wrapping_neg()]
    }
}

impl From<&Position> for Coded {
    fn from(position: &Position) -> Self {
        let of = |role| position.role(role).0;
        Self {
            planes: [
                of(Role::Pawn) | of(Role::Bishop) | of(Role::Queen),
                of(Role::Knight) | of(Role::Bishop) | of(Role::King),
                of(Role::Rook) | of(Role::Queen) | of(Role::King),
                position.color(Color::Black).0,
            ],
            castling: position.castling.0.0,
            side_to_move: position.side_to_move,
            en_passant: position.en_passant,
            halfmove: position.halfmove,
            fullmove: position.fullmove,
        }
    }
}

/// The pieces that were read; code 7 is not a piece.
impl From<&Coded> for Position {
    #[inline(always)]
    fn from(coded: &Coded) -> Self {
        let [b0, b1, b2, black] = coded.planes;
        let sets = [b0 & !b1 & !b2, b1 & !b0 & !b2, b0 & b1, b2 & !b0 & !b1, b2 & b0, b2 & b1];
        let occupied = b0 | b1 | b2;
        let colors = [Bitboard(occupied & !black), Bitboard(black)];
        let mut position = Self::from_sets(sets.map(Bitboard), colors);
        position.side_to_move = coded.side_to_move;
        position.castling = CastlingRights(Bitboard(coded.castling));
        position.en_passant = coded.en_passant;
        position.halfmove = coded.halfmove;
        position.fullmove = coded.fullmove;
        position
    }
}
