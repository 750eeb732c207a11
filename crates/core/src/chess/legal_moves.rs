//! The legal moves of a position.
//!
//! The idea: two masks make most moves legal by construction. *Evasions* are the squares where a move of
//! any piece but the king must end (everywhere when not in check, on the checker or between it and the king in a single
//! check, nowhere in a double check); a *pinned* piece stays on the line through king and pinner. The king may go to
//! any square that is not attacked once the king has left its own. En passant removes two pieces from a rank at once
//! and castling moves two, so these moves are verified individually.
//!
//! The result is exact for every board with one king per side, reachable or not. [`super::reference`] is the plainest
//! implementation, and defines what is legal.

use super::attacks::*;
use super::bitboard::Bitboard;
use super::castling::{CastlingRights, CastlingSide};
use super::geometry::{between, line_through};
use super::moves::{Move, MoveKind};
use super::piece::{Color, Role};
use super::position::Position;
use super::square::{Rank, Square};
use std::fmt;
use std::ops::Deref;

/// A list of moves that allocates only if there are more than [`MoveList::INLINE`].
///
/// No reachable position has more than 218 moves; a decodable board of thirty queens may have more.
#[derive(Clone)]
pub struct MoveList {
    inline: [Move; Self::INLINE],
    len: usize,
    /// All moves if there are more than fit inline; otherwise empty.
    spilled: Vec<Move>,
}

impl MoveList {
    /// The number of moves kept without allocation.
    pub const INLINE: usize = 256;

    /// An empty list.
    #[inline]
    pub const fn new() -> Self {
        // All bytes zero, so that an empty list is cleared memory.
        let filler = Move { from: Square::new(0), to: Square::new(0), kind: MoveKind::Promotion(Role::Pawn) };
        Self { inline: [filler; Self::INLINE], len: 0, spilled: Vec::new() }
    }
    /// Adds a move at the end.
    #[inline]
    pub fn push(&mut self, mv: Move) {
        match self.inline.get_mut(self.len) {
            Some(place) => *place = mv,
            None => {
                if self.spilled.is_empty() {
                    self.spilled.extend_from_slice(&self.inline);
                }
                self.spilled.push(mv);
            }
        }
        self.len += 1;
    }
    /// The moves as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[Move] {
        if self.len <= Self::INLINE { &self.inline[..self.len] } else { &self.spilled }
    }
}

impl Default for MoveList {
    fn default() -> Self {
        Self::new()
    }
}
impl Deref for MoveList {
    type Target = [Move];
    #[inline]
    fn deref(&self) -> &[Move] {
        self.as_slice()
    }
}
impl<'a> IntoIterator for &'a MoveList {
    type Item = &'a Move;
    type IntoIter = std::slice::Iter<'a, Move>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}
impl fmt::Debug for MoveList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// Numbers of legal moves, in total and by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct LegalCounts {
    /// All legal moves; each promotion piece counts, castling counts once per rook.
    pub moves: u16,
    /// Captures, en passant included.
    pub captures: u16,
    /// Promotions, four for each pawn and target square.
    pub promotions: u16,
    /// Castling moves.
    pub castles: u16,
    /// En passant captures.
    pub en_passants: u16,
}

/// The legal moves of one piece: a set of targets of one kind.
#[derive(Clone, Copy)]
struct Fan {
    from: Square,
    to: Bitboard,
    kind: FanKind,
}

#[derive(Clone, Copy, PartialEq)]
enum FanKind {
    Normal,
    Promotion,
    EnPassant,
    Castle,
}

impl Position {
    /// The enemy pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        match self.king(self.side_to_move) {
            Some(king) => self.attackers_of(king, !self.side_to_move, self.occupied()),
            None => Bitboard::EMPTY,
        }
    }

    /// Whether the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        self.checkers().any()
    }

    /// The pieces, of either colour, that alone stand between the king of a side and an enemy slider.
    ///
    /// Pieces of that side are pinned; enemy pieces give a discovered check by moving away.
    pub fn blockers(&self, color: Color) -> Bitboard {
        let Some(king) = self.king(color) else {
            return Bitboard::EMPTY;
        };
        let none = Bitboard::EMPTY;
        let queens = self.role(Role::Queen);
        let snipers = (rook_attacks(king, none) & (self.role(Role::Rook) | queens)
            | bishop_attacks(king, none) & (self.role(Role::Bishop) | queens))
            & self.color(!color);
        let occupied = self.occupied();
        let mut blockers = Bitboard::EMPTY;
        for sniper in snipers {
            let shield = between(king, sniper) & occupied;
            if !shield.several() {
                blockers |= shield;
            }
        }
        blockers
    }

    /// The pieces of the side to move that are absolutely pinned to their king, in check or not.
    #[inline]
    pub fn pinned(&self) -> Bitboard {
        self.blockers(self.side_to_move) & self.color(self.side_to_move)
    }

    /// Where a move of any piece but the king must end, given the checkers: everywhere without a check,
    /// on the checker or between it and the king in a single check, nowhere in a double check.
    ///
    /// En passant is the exception: it may take a checker that is not on its target square.
    #[inline]
    pub fn evasions(&self, checkers: Bitboard) -> Bitboard {
        match (checkers.first(), self.king(self.side_to_move)) {
            (Some(checker), Some(king)) if !checkers.several() => between(king, checker) | checkers,
            (Some(_), _) => Bitboard::EMPTY,
            (None, _) => Bitboard::ALL,
        }
    }

    /// The square of the pawn that an en passant capture would take. `None` unless the en passant square is an empty
    /// square on the sixth rank, from the view of the side to move, with an enemy pawn right behind it.
    #[inline]
    pub fn en_passant_victim(&self) -> Option<Square> {
        let target = self.en_passant?;
        let (rank, behind) = match self.side_to_move {
            Color::White => (5, -1),
            Color::Black => (2, 1),
        };
        let victim = target.offset(0, behind)?;
        (target.rank() == Rank::new(rank)
            && !self.occupied().contains(target)
            && self.pieces(!self.side_to_move, Role::Pawn).contains(victim))
        .then_some(victim)
    }

    /// The pawns that may legally capture en passant.
    pub fn en_passant_captors(&self) -> Bitboard {
        let us = self.side_to_move;
        let (Some(target), Some(victim)) = (self.en_passant, self.en_passant_victim()) else {
            return Bitboard::EMPTY;
        };
        let beside = pawn_attacks(!us, target) & self.pieces(us, Role::Pawn);
        let Some(king) = self.king(us) else {
            return beside;
        };
        beside
            .iter()
            .filter(|&from| {
                let moved = Bitboard::from(from) | target.into() | victim.into();
                let attackers = self.attackers_of(king, !us, self.occupied() ^ moved);
                (attackers - victim.into()).is_empty()
            })
            .collect()
    }

    /// Whether castling with this rook is legal: the rook has the right, king and rook are on the back rank, and the
    /// rules of castling are met.
    pub fn castling_is_legal(&self, rook: Square) -> bool {
        let us = self.side_to_move;
        let rank = CastlingRights::back_rank(us);
        let right = self.castling.of(us) & self.pieces(us, Role::Rook);
        let Some(king) = self.king(us).filter(|king| king.rank() == rank) else {
            return false;
        };
        if !right.contains(rook) {
            return false;
        }
        let side = CastlingSide::of(king, rook);
        let king_destination = Square::at(side.king_destination(), rank);
        let rook_destination = Square::at(side.rook_destination(), rank);
        let king_path = between(king, king_destination) | king_destination.into();
        let rook_path = between(rook, rook_destination) | rook_destination.into();
        let others = self.occupied() - king.into() - rook.into();
        if ((king_path | rook_path) & others).any() {
            return false;
        }
        let without_king = self.occupied() - king.into();
        let attacked = |square, occupied| self.attackers_of(square, !us, occupied).any();
        !attacked(king, self.occupied())
            && !king_path.iter().any(|at| attacked(at, without_king))
            && !attacked(king_destination, others | king_destination.into() | rook_destination.into())
    }

    /// Calls `each` with the legal moves, for one piece and kind at a time; target sets are never empty.
    #[inline]
    fn for_each_fan(&self, mut each: impl FnMut(Fan)) {
        let us = self.side_to_move;
        let own = self.color(us);
        let enemies = self.color(!us);
        let occupied = self.occupied();
        let king = self.king(us);
        let checkers = self.checkers();
        let pinned = self.pinned();
        let targets = self.evasions(checkers) - own;
        let mut fan = |from, to: Bitboard, kind| {
            if to.any() {
                each(Fan { from, to, kind });
            }
        };
        let allowed = |from: Square| match king {
            Some(king) if pinned.contains(from) => targets & line_through(king, from),
            _ => targets,
        };

        for from in self.pieces(us, Role::Pawn) {
            let (step, start) = match us {
                Color::White => (Bitboard(1u64 << from.index()) << 8, 1),
                Color::Black => (Bitboard(1u64 << from.index()) >> 8, 6),
            };
            let single = step - occupied;
            let double = match us {
                Color::White => single << 8,
                Color::Black => single >> 8,
            };
            let mut to = single | pawn_attacks(us, from) & enemies;
            if from.rank() == Rank::new(start) {
                to |= double - occupied;
            }
            to &= allowed(from);
            fan(from, to - Bitboard::BACK_RANKS, FanKind::Normal);
            fan(from, to & Bitboard::BACK_RANKS, FanKind::Promotion);
        }
        if let Some(target) = self.en_passant {
            for from in self.en_passant_captors() {
                fan(from, target.into(), FanKind::EnPassant);
            }
        }
        for from in self.pieces(us, Role::Knight) - pinned {
            fan(from, knight_attacks(from) & targets, FanKind::Normal);
        }
        for from in self.pieces(us, Role::Bishop) | self.pieces(us, Role::Queen) {
            fan(from, bishop_attacks(from, occupied) & allowed(from), FanKind::Normal);
        }
        for from in self.pieces(us, Role::Rook) | self.pieces(us, Role::Queen) {
            fan(from, rook_attacks(from, occupied) & allowed(from), FanKind::Normal);
        }
        if let Some(from) = king {
            let without_king = occupied - from.into();
            let safe = (king_attacks(from) - own)
                .iter()
                .filter(|&to| self.attackers_of(to, !us, without_king).is_empty())
                .collect();
            fan(from, safe, FanKind::Normal);
            if checkers.is_empty() {
                for rook in self.castling.of(us) {
                    if self.castling_is_legal(rook) {
                        fan(from, rook.into(), FanKind::Castle);
                    }
                }
            }
        }
    }

    /// All legal moves, in unspecified order.
    ///
    /// ```
    /// use lanefish_core::chess::Position;
    /// assert_eq!(Position::standard().legal_moves().len(), 20);
    /// ```
    pub fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.for_each_fan(|Fan { from, to, kind }| {
            for to in to {
                let kind = match kind {
                    FanKind::Normal => MoveKind::Normal,
                    FanKind::EnPassant => MoveKind::EnPassant,
                    FanKind::Castle => MoveKind::Castle,
                    FanKind::Promotion => {
                        for role in Role::PROMOTIONS {
                            let kind = MoveKind::Promotion(role);
                            moves.push(Move { from, to, kind });
                        }
                        continue;
                    }
                };
                moves.push(Move { from, to, kind });
            }
        });
        moves
    }

    /// The number of legal moves, without listing them.
    pub fn count_legal_moves(&self) -> u16 {
        let mut count = 0;
        self.for_each_fan(|fan| {
            let targets = fan.to.len() as u16;
            count += match fan.kind {
                FanKind::Promotion => 4 * targets,
                _ => targets,
            };
        });
        count
    }

    /// The numbers of legal moves, in total and by kind.
    pub fn legal_counts(&self) -> LegalCounts {
        let enemies = self.color(!self.side_to_move);
        let mut counts = LegalCounts::default();
        self.for_each_fan(|fan| {
            let targets = fan.to.len() as u16;
            let captures = (fan.to & enemies).len() as u16;
            match fan.kind {
                FanKind::Normal => {
                    counts.moves += targets;
                    counts.captures += captures;
                }
                FanKind::Promotion => {
                    counts.moves += 4 * targets;
                    counts.captures += 4 * captures;
                    counts.promotions += 4 * targets;
                }
                FanKind::EnPassant => {
                    counts.moves += 1;
                    counts.captures += 1;
                    counts.en_passants += 1;
                }
                FanKind::Castle => {
                    counts.moves += 1;
                    counts.castles += 1;
                }
            }
        });
        counts
    }

    /// Whether there is any legal move.
    #[inline]
    pub fn has_legal_move(&self) -> bool {
        self.count_legal_moves() != 0
    }
    /// Whether the side to move is in check and has no legal move.
    pub fn is_checkmate(&self) -> bool {
        self.in_check() && !self.has_legal_move()
    }
    /// Whether the side to move has no legal move and is not in check.
    pub fn is_stalemate(&self) -> bool {
        !self.in_check() && !self.has_legal_move()
    }
    /// Whether a move is legal here.
    pub fn is_legal(&self, mv: Move) -> bool {
        self.legal_moves().contains(&mv)
    }
}
