//! A move: from, to and kind; its 16-bit and its UCI form.

use super::bitboard::Bitboard;
use super::castling::{CastlingRights, CastlingSide};
use super::piece::{Color, Role};
use super::position::Position;
use super::square::{File, Square};
use std::fmt;

/// The kind of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoveKind {
    /// A step or a capture of any piece, including a pawn's double step.
    Normal,
    /// A pawn captures en passant.
    EnPassant,
    /// The king castles; `to` is the square of the *rook*, as Chess960 requires.
    Castle,
    /// A pawn reaches the last rank and is promoted to this role.
    Promotion(Role),
}

/// A move, independent of the position in which it is played.
///
/// Castling is *king takes own rook*, also in standard chess; [`Move::uci`] writes the form that other programs expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The origin square.
    pub from: Square,
    /// The target square; for castling, the rook's square.
    pub to: Square,
    /// The kind.
    pub kind: MoveKind,
}

impl Move {
    /// The move in 16 bits, never zero for a legal move.
    ///
    /// | bits | |
    /// | --- | --- |
    /// | 0-5 | from |
    /// | 6-11 | to (castling: the rook's square) |
    /// | 12-13 | promotion piece: knight 0, bishop 1, rook 2, queen 3; else 0 |
    /// | 14-15 | kind: 0 normal, 1 promotion, 2 en passant, 3 castling |
    ///
    /// ```
    /// use lanefish_core::chess::{Move, MoveKind};
    /// let (from, to) = ("e2".parse().unwrap(), "e4".parse().unwrap());
    /// let mv = Move { from, to, kind: MoveKind::Normal };
    /// assert_eq!(mv.to_bits(), 12 | 28 << 6);
    /// assert_eq!(Move::from_bits(mv.to_bits()), Some(mv));
    /// ```
    #[inline]
    pub const fn to_bits(self) -> u16 {
        let kind = match self.kind {
            MoveKind::Normal => 0,
            MoveKind::Promotion(role) => 1 << 2 | (role.index() as u16).wrapping_sub(1) & 3,
            MoveKind::EnPassant => 2 << 2,
            MoveKind::Castle => 3 << 2,
        };
        self.from.index() as u16 | (self.to.index() as u16) << 6 | kind << 12
    }

    /// The bit that a castling move may have besides [`Self::to_bits`]: all castling rights are those of standard chess, but
    /// the game is one of Chess960, so that its UCI form is king takes rook.
    pub const CHESS960: u16 = 1 << 12;

    /// The move of these 16 bits, with or without [`Self::CHESS960`], or `None` if a move that is not a promotion has a
    /// promotion piece.
    #[inline]
    pub const fn from_bits(bits: u16) -> Option<Self> {
        let piece = bits >> 12 & 3;
        let kind = match (bits >> 14, piece) {
            (1, _) => MoveKind::Promotion(Role::PROMOTIONS[piece as usize]),
            (0, 0) => MoveKind::Normal,
            (2, 0) => MoveKind::EnPassant,
            (3, 0 | 1) => MoveKind::Castle,
            _ => return None,
        };
        Some(Self { from: Square::new((bits & 63) as u8), to: Square::new((bits >> 6 & 63) as u8), kind })
    }

    /// Whether these 16 bits are not those of a move: whether [`Self::from_bits`] returns `None`. For many moves,
    /// compilers turn this into operations on vectors.
    #[doc(hidden)]
    #[inline]
    pub const fn is_malformed(bits: u16) -> bool {
        // The bits of the kind and of the piece, each as the highest one.
        let [kind_2, kind_1, piece_2, piece_1] = [bits, bits << 1, bits << 2, bits << 3];
        let is_no_promotion = kind_2 | !kind_1;
        let has_piece = piece_2 | piece_1 & !(kind_2 & kind_1);
        (is_no_promotion & has_piece) >> 15 != 0
    }

    /// The move in UCI form. Castling is written `e1g1` if all castling rights are those of standard chess, and as king
    /// takes rook (`e1h1`) in Chess960.
    ///
    /// ```
    /// use lanefish_core::chess::{Move, Position};
    /// let position = Position::from_fen_unvalidated("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
    /// let mv = Move::from_uci("e1h1", &position).unwrap();
    /// assert_eq!(mv.uci(&position).as_str(), "e1g1");
    /// assert_eq!(mv.uci_as(true).as_str(), "e1h1");
    /// ```
    pub fn uci(self, position: &Position) -> UciText {
        self.uci_as(!position.castles_as_standard())
    }

    /// The move in UCI form, castling as king takes rook in `chess960` and by the king's destination otherwise.
    pub fn uci_as(self, chess960: bool) -> UciText {
        let to = match self.kind {
            MoveKind::Castle if !chess960 => {
                Square::at(CastlingSide::of(self.from, self.to).king_destination(), self.from.rank())
            }
            _ => self.to,
        };
        let promotion = match self.kind {
            MoveKind::Promotion(role) => Some(role.letter() as u8),
            _ => None,
        };
        let [from, to] = [self.from, to].map(|square| [square.file().letter() as u8, square.rank().digit() as u8]);
        UciText {
            bytes: [from[0], from[1], to[0], to[1], promotion.unwrap_or(b' ')],
            len: if promotion.is_some() { 5 } else { 4 },
        }
    }

    /// Parses a legal move in UCI form; castling by the king's destination (`e1g1`) or as king takes rook (`e1h1`).
    ///
    /// # Errors
    /// If the text is not of the form `e2e4` or `e7e8q`, or the move is not legal here.
    pub fn from_uci(text: &str, position: &Position) -> Result<Self, MoveError> {
        let read = |range: std::ops::Range<usize>| text.get(range)?.parse::<Square>().ok();
        let (Some(from), Some(to)) = (read(0..2), read(2..4)) else {
            return Err(MoveError::Syntax);
        };
        let promotion = match text.as_bytes()[4..] {
            [] => None,
            [letter] => Some(
                Role::from_letter(letter).filter(|role| Role::PROMOTIONS.contains(role)).ok_or(MoveError::Syntax)?,
            ),
            _ => return Err(MoveError::Syntax),
        };
        let legal = position.legal_moves();
        let fits = |mv: &&Move| {
            mv.from == from
                && mv.to == to
                && match mv.kind {
                    MoveKind::Promotion(role) => promotion == Some(role),
                    _ => promotion.is_none(),
                }
        };
        let by_goal = |mv: &&Move| {
            // A king move by one file is a step, never castling.
            mv.from == from
                && mv.kind == MoveKind::Castle
                && promotion.is_none()
                && to == Square::at(CastlingSide::of(mv.from, mv.to).king_destination(), from.rank())
                && from.file().index().abs_diff(to.file().index()) > 1
        };
        let found = legal.iter().find(fits);
        found.or_else(|| legal.iter().find(by_goal)).copied().ok_or(MoveError::Illegal)
    }
}

/// Why a text is not a move of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The text does not have the form of a move.
    #[error("not a move")]
    Syntax,
    /// The text has the form of a move, but no legal move matches.
    #[error("not a legal move in this position")]
    Illegal,
    /// Several legal moves match.
    #[error("ambiguous: several legal moves match")]
    Ambiguous,
}

/// A move in UCI form: four characters, five with a promotion.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UciText {
    bytes: [u8; 5],
    len: u8,
}

impl UciText {
    /// The text as bytes, all ASCII.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }
    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}
impl fmt::Display for UciText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
impl fmt::Debug for UciText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The data that [`Position::unmake`] needs besides the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Undo {
    /// The captured piece, en passant included.
    pub captured: Option<Role>,
    /// The castling rights before the move.
    pub castling: CastlingRights,
    /// The en passant square before the move.
    pub en_passant: Option<Square>,
    /// The halfmove clock before the move.
    pub halfmove: u16,
    /// The move number before the move.
    pub fullmove: u16,
}

impl Position {
    /// Whether all castling rights are those of standard chess: king on the e-file, rook in a corner.
    pub fn castles_as_standard(&self) -> bool {
        Color::ALL.into_iter().all(|color| {
            let rights = self.castling.of(color);
            let corners = Bitboard::file(File::new(0)) | Bitboard::file(File::new(7));
            let on_e = |king: Square| king.file() == File::new(4);
            rights.is_empty() || (rights - corners).is_empty() && self.king(color).is_some_and(on_e)
        })
    }

    /// Makes a move and returns what is needed to unmake it.
    ///
    /// Afterwards an en passant square is set only if an en passant capture is legal. The counters saturate
    /// at their largest value.
    ///
    /// ```
    /// use lanefish_core::chess::{Move, Position};
    /// let mut position = Position::standard();
    /// let before = position.clone();
    /// let mv = Move::from_uci("e2e4", &position).unwrap();
    /// let undo = position.make(mv);
    /// assert_eq!(position.to_string(), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    /// position.unmake(mv, undo);
    /// assert_eq!(position, before);
    /// ```
    ///
    /// # Panics
    /// May panic, or leave a meaningless position, if the move is not legal here.
    pub fn make(&mut self, mv: Move) -> Undo {
        let us = self.side_to_move;
        let role = self.role_at(mv.from).expect("a piece to move");
        let mut undo = Undo {
            captured: None,
            castling: self.castling,
            en_passant: self.en_passant,
            halfmove: self.halfmove,
            fullmove: self.fullmove,
        };
        let mut pushed = None;
        self.toggle_role(mv.from, us, role);
        match mv.kind {
            MoveKind::Castle => {
                let side = CastlingSide::of(mv.from, mv.to);
                let rank = mv.from.rank();
                self.toggle_role(mv.to, us, Role::Rook);
                self.toggle_role(Square::at(side.king_destination(), rank), us, Role::King);
                self.toggle_role(Square::at(side.rook_destination(), rank), us, Role::Rook);
            }
            MoveKind::EnPassant => {
                let victim = Square::at(mv.to.file(), mv.from.rank());
                undo.captured = Some(Role::Pawn);
                self.toggle_role(victim, !us, Role::Pawn);
                self.toggle_role(mv.to, us, Role::Pawn);
            }
            MoveKind::Normal | MoveKind::Promotion(_) => {
                if self.color(!us).contains(mv.to) {
                    let captured = self.role_at(mv.to).expect("a piece to capture");
                    undo.captured = Some(captured);
                    self.toggle_role(mv.to, !us, captured);
                }
                let arrives = match mv.kind {
                    MoveKind::Promotion(role) => role,
                    _ => role,
                };
                self.toggle_role(mv.to, us, arrives);
                if role == Role::Pawn && mv.from.index().abs_diff(mv.to.index()) == 16 {
                    pushed = Square::try_new(((mv.from.index() + mv.to.index()) / 2) as u8);
                }
            }
        }
        self.castling.0 -= Bitboard::from(mv.from) | mv.to.into();
        if role == Role::King {
            self.castling.0 -= self.castling.of(us);
        }
        self.halfmove = match role {
            Role::Pawn => 0,
            _ if undo.captured.is_some() => 0,
            _ => self.halfmove.saturating_add(1),
        };
        if us == Color::Black {
            self.fullmove = self.fullmove.saturating_add(1);
        }
        self.side_to_move = !us;
        self.en_passant = pushed;
        self.drop_unusable_en_passant();
        undo
    }

    /// Unmakes a move that [`Position::make`] made.
    ///
    /// # Panics
    /// May panic, or leave a meaningless position, if this was not the last move.
    pub fn unmake(&mut self, mv: Move, undo: Undo) {
        let us = !self.side_to_move;
        match mv.kind {
            MoveKind::Castle => {
                let side = CastlingSide::of(mv.from, mv.to);
                let rank = mv.from.rank();
                self.toggle_role(Square::at(side.king_destination(), rank), us, Role::King);
                self.toggle_role(Square::at(side.rook_destination(), rank), us, Role::Rook);
                self.toggle_role(mv.to, us, Role::Rook);
                self.toggle_role(mv.from, us, Role::King);
            }
            MoveKind::EnPassant => {
                let victim = Square::at(mv.to.file(), mv.from.rank());
                self.toggle_role(mv.to, us, Role::Pawn);
                self.toggle_role(victim, !us, Role::Pawn);
                self.toggle_role(mv.from, us, Role::Pawn);
            }
            MoveKind::Normal | MoveKind::Promotion(_) => {
                let arrived = self.role_at(mv.to).expect("the piece that moved");
                let left = match mv.kind {
                    MoveKind::Promotion(_) => Role::Pawn,
                    _ => arrived,
                };
                self.toggle_role(mv.to, us, arrived);
                self.toggle_role(mv.from, us, left);
                if let Some(captured) = undo.captured {
                    self.toggle_role(mv.to, !us, captured);
                }
            }
        }
        self.side_to_move = us;
        self.castling = undo.castling;
        self.en_passant = undo.en_passant;
        self.halfmove = undo.halfmove;
        self.fullmove = undo.fullmove;
    }

    /// Removes the en passant square unless some en passant capture is legal; returns whether it was removed.
    #[inline]
    pub fn drop_unusable_en_passant(&mut self) -> bool {
        let idle = self.en_passant.is_some() && self.en_passant_captors().is_empty();
        if idle {
            self.en_passant = None;
        }
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_a_move_or_not() {
        for bits in 0..=u16::MAX {
            assert_eq!(Move::is_malformed(bits), Move::from_bits(bits).is_none(), "{bits:016b}");
        }
    }
}
