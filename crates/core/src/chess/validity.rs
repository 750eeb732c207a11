//! Validity of positions, at two levels; all broken rules are reported together.

use super::attacks::piece_attacks;
use super::bitboard::Bitboard;
use super::castling::{CastlingRights, CastlingSide};
use super::geometry::between;
use super::piece::{Color, Role};
use super::position::Position;
use super::square::{File, Rank, Square};
use crate::ParseError;
use std::fmt;
use std::str::FromStr;

/// How much is asked of a position; [`Violations`] has all rules that it breaks.
///
/// *Playable* is what exact counting needs: the rules of movement are well defined. *Strict* also checks whether a game
/// could have led here, as far as material and the last move show; it does not construct a proof game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Validity {
    /// One king per side, no pawn on the first or last rank, the side not to move not in check, castling
    /// rights with king and rook in place, at most 32 pieces.
    #[default]
    Playable,
    /// Also at most 16 pieces and 8 pawns per side with promotions accounted for, an en passant square that
    /// a double step explains, checks that a last move explains.
    Strict,
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Playable => "playable",
            Self::Strict => "strict",
        })
    }
}

impl FromStr for Validity {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "playable" => Ok(Self::Playable),
            "strict" => Ok(Self::Strict),
            _ => Err(ParseError::new("expected `playable` or `strict`")),
        }
    }
}

/// A rule that a position may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Rule {
    /// Each side has exactly one king.
    Kings,
    /// There are at most 32 pieces.
    Pieces,
    /// No pawn stands on the first or last rank.
    PawnRanks,
    /// The side that is not to move is not in check.
    OpponentInCheck,
    /// Castling rights have king and rook in place, at most one rook per side of the king.
    Castling,
    /// A side has at most 16 pieces (strict).
    PiecesOfSide,
    /// A side has at most 8 pawns (strict).
    Pawns,
    /// A side has no more promoted pieces than missing pawns (strict).
    Promotions,
    /// The last move can have been the double step that the en passant square implies (strict).
    EnPassant,
    /// Some last move explains the checks (strict).
    Checks,
}

impl Rule {
    /// All rules, the playable ones first.
    pub const ALL: [Self; 10] = [
        Self::Kings,
        Self::Pieces,
        Self::PawnRanks,
        Self::OpponentInCheck,
        Self::Castling,
        Self::PiecesOfSide,
        Self::Pawns,
        Self::Promotions,
        Self::EnPassant,
        Self::Checks,
    ];

    /// A stable name of the violation, in snake case, for counting rejects by reason.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kings => "not_one_king_each",
            Self::Pieces => "too_many_pieces",
            Self::PawnRanks => "pawn_on_back_rank",
            Self::OpponentInCheck => "opponent_in_check",
            Self::Castling => "castling_rights",
            Self::PiecesOfSide => "too_many_pieces_of_a_side",
            Self::Pawns => "too_many_pawns",
            Self::Promotions => "too_many_promoted_pieces",
            Self::EnPassant => "impossible_en_passant",
            Self::Checks => "impossible_check",
        }
    }

    /// Whether only [`Validity::Strict`] has this rule.
    pub const fn is_strict(self) -> bool {
        matches!(self, Self::PiecesOfSide | Self::Pawns | Self::Promotions | Self::EnPassant | Self::Checks)
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Kings => "not exactly one king per side",
            Self::Pieces => "more than 32 pieces",
            Self::PawnRanks => "a pawn on the first or last rank",
            Self::OpponentInCheck => "the side that is not to move is in check",
            Self::Castling => "castling rights without king and rook in place",
            Self::PiecesOfSide => "more than 16 pieces on one side",
            Self::Pawns => "more than 8 pawns on one side",
            Self::Promotions => "more promoted pieces than missing pawns",
            Self::EnPassant => "an en passant square that no double step explains",
            Self::Checks => "a check that no last move explains",
        }
    }
}

/// The rules that a position breaks.
///
/// ```
/// use lanefish_core::chess::{Position, Validity};
/// let position = Position::from_fen_unvalidated("P3k3/8/8/8/8/8/8/4R2K w - - 0 1").unwrap();
/// let violations = position.violations(Validity::Playable);
/// assert_eq!(
///     violations.to_string(),
///     "a pawn on the first or last rank; the side that is not to move is in check"
/// );
/// assert!(violations.names().eq(["pawn_on_back_rank", "opponent_in_check"]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Violations(u16);

impl Violations {
    /// No broken rule.
    pub const NONE: Self = Self(0);

    /// Whether no rule is broken.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Whether this rule is broken.
    #[inline]
    pub const fn contains(self, rule: Rule) -> bool {
        self.0 >> rule as u8 & 1 != 0
    }
    /// The broken rules.
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        Rule::ALL.into_iter().filter(move |&rule| self.contains(rule))
    }
    /// The stable names of the broken rules, see [`Rule::name`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.iter().map(Rule::name)
    }
    #[inline(always)]
    fn note(&mut self, rule: Rule, broken: bool) {
        self.0 |= u16::from(broken) << rule as u8;
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rule) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}", rule.description())?;
        }
        Ok(())
    }
}
impl fmt::Debug for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
impl std::error::Error for Violations {}

/// Light squares: h1, a2, …
const LIGHT: Bitboard = Bitboard(0x55AA_55AA_55AA_55AA);

impl Position {
    /// The rules of a level that the position breaks, all of them.
    ///
    /// To check an en passant square as it was written, see [`super::fen::Fen::violations`].
    #[inline]
    pub fn violations(&self, validity: Validity) -> Violations {
        let mut broken = Violations::NONE;
        let us = self.side_to_move;
        let kings = self.role(Role::King);
        let one_each = kings.len() == 2 && (kings & self.color(us)).len() == 1;
        broken.note(Rule::Kings, !one_each);
        broken.note(Rule::Pieces, self.occupied().len() > 32);
        let pawns = self.role(Role::Pawn);
        broken.note(Rule::PawnRanks, (pawns & Bitboard::BACK_RANKS).any());
        let occupied = self.occupied();
        let in_check = |king: Square| self.attackers_of(king, us, occupied).any();
        let opponent_in_check = self.king(!us).is_some_and(in_check);
        broken.note(Rule::OpponentInCheck, opponent_in_check);
        let rights = !self.castling.is_empty() && !self.castling_is_well_formed();
        broken.note(Rule::Castling, rights);
        if validity == Validity::Strict {
            self.note_strict(&mut broken);
        }
        broken
    }

    /// Whether the position breaks no rule of a level.
    #[inline]
    pub fn is_valid(&self, validity: Validity) -> bool {
        self.violations(validity).is_empty()
    }

    fn castling_is_well_formed(&self) -> bool {
        let mut placed = Bitboard::EMPTY;
        for color in Color::ALL {
            let rank = Bitboard::rank(CastlingRights::back_rank(color));
            let Some(king) = (self.pieces(color, Role::King) & rank).first() else {
                continue;
            };
            let rooks = self.castling.of(color) & self.pieces(color, Role::Rook);
            let below = Bitboard((1 << king.index()) - 1);
            if (rooks & below).several() || (rooks - below).several() {
                return false;
            }
            placed |= rooks;
        }
        placed == self.castling.0
    }

    fn note_strict(&self, broken: &mut Violations) {
        for color in Color::ALL {
            let count = |role| self.pieces(color, role).len();
            let bishops = self.pieces(color, Role::Bishop);
            let promoted = count(Role::Knight).saturating_sub(2)
                + (bishops & LIGHT).len().saturating_sub(1)
                + (bishops - LIGHT).len().saturating_sub(1)
                + count(Role::Rook).saturating_sub(2)
                + count(Role::Queen).saturating_sub(1);
            let missing = 8u32.saturating_sub(count(Role::Pawn));
            broken.note(Rule::PiecesOfSide, self.color(color).len() > 16);
            broken.note(Rule::Pawns, count(Role::Pawn) > 8);
            broken.note(Rule::Promotions, promoted > missing);
        }
        let Some(king) = self.king(self.side_to_move) else {
            return;
        };
        if let Some(target) = self.en_passant {
            let explained = self.double_step_is_possible(king, target);
            broken.note(Rule::EnPassant, !explained);
        }
        if self.in_check() && !broken.contains(Rule::EnPassant) {
            let explained = self.en_passant.is_some() || self.some_last_move_is_possible(king);
            broken.note(Rule::Checks, !explained);
        }
    }

    /// Whether the last move can have been a double step over this square.
    fn double_step_is_possible(&self, king: Square, target: Square) -> bool {
        let Some(victim) = self.en_passant_victim() else {
            return false;
        };
        let home = Square::new((2 * target.index() - victim.index()) as u8);
        let step = Unmove { from: home, to: victim, was: Role::Pawn };
        !self.occupied().contains(home) && step.king_was_safe(self, king, self.occupied() ^ step.both())
    }

    /// Whether some move of the opponent leads here from a position in which the king was not in check.
    ///
    /// All ways to undo a last move are tried, captures included: whatever was captured stood on the
    /// target and was not an attacker. What was captured, and whether it could get there, is not checked.
    fn some_last_move_is_possible(&self, king: Square) -> bool {
        let them = !self.side_to_move;
        let occupied = self.occupied();
        // One of ours may have just been captured.
        let capturable = self.color(!them).len() < 16;
        // One of theirs may have been a pawn until now.
        let promotable = self.pieces(them, Role::Pawn).len() < 8;
        let (back, home, passed, last): (i8, _, _, _) = match them {
            Color::White => (-1, 1, 5, 7),
            Color::Black => (1, 6, 2, 0),
        };
        let possible = |from: Square, to: Square, was: Role, captures: bool| {
            let step = Unmove { from, to, was };
            let before = occupied ^ from.into();
            let quiet = !captures && step.king_was_safe(self, king, before ^ to.into());
            let captures = captures || was != Role::Pawn;
            quiet || captures && capturable && step.king_was_safe(self, king, before)
        };
        let empty = |square: &Square| !occupied.contains(*square);
        let behind = |to: Square, files: i8| {
            let from = to.offset(files, back).filter(empty);
            from.filter(|&from| !Bitboard::BACK_RANKS.contains(from))
        };
        let pawn_step = |to: Square| {
            let straight = behind(to, 0).is_some_and(|from| possible(from, to, Role::Pawn, false));
            straight
                || [-1, 1]
                    .into_iter()
                    .any(|files| behind(to, files).is_some_and(|from| possible(from, to, Role::Pawn, true)))
        };
        for role in Role::ALL {
            for to in self.pieces(them, role) {
                let found = if role == Role::Pawn {
                    let double = to.offset(0, back).filter(empty).and_then(|_| {
                        let from = to.offset(0, 2 * back).filter(empty)?;
                        (from.rank() == Rank::new(home)).then_some(from)
                    });
                    pawn_step(to)
                        || double.is_some_and(|from| possible(from, to, Role::Pawn, false))
                        || capturable
                            && to.rank() == Rank::new(passed)
                            && self.en_passant_capture_is_possible(king, to, back)
                } else {
                    let mut from = piece_attacks(role, them, to, occupied) - occupied;
                    from -= to.into();
                    from.iter().any(|from| possible(from, to, role, false))
                        || role != Role::King && promotable && to.rank() == Rank::new(last) && pawn_step(to)
                        || role == Role::King && self.castling_was_possible(king, to)
                };
                if found {
                    return true;
                }
            }
        }
        false
    }

    /// Whether the opponent's pawn on `to` can just have captured en passant.
    fn en_passant_capture_is_possible(&self, king: Square, to: Square, back: i8) -> bool {
        let occupied = self.occupied();
        let (Some(victim), Some(home)) = (to.offset(0, back), to.offset(0, -back)) else {
            return false;
        };
        let emptied = Bitboard::from(victim) | home.into();
        (occupied & emptied).is_empty()
            && [-1, 1].into_iter().any(|files| {
                let from = to.offset(files, back);
                from.filter(|&from| !occupied.contains(from)).is_some_and(|from| {
                    let was = Role::Pawn;
                    let step = Unmove { from, to, was };
                    let before = occupied ^ step.both() | victim.into();
                    step.king_was_safe(self, king, before)
                })
            })
    }

    /// Whether the opponent, whose king now stands on `to`, can just have castled, from any Chess960 squares.
    fn castling_was_possible(&self, king: Square, to: Square) -> bool {
        let them = !self.side_to_move;
        let rank = CastlingRights::back_rank(them);
        if to.rank() != rank {
            return false;
        }
        CastlingSide::ALL.into_iter().any(|side| {
            let rook = Square::at(side.rook_destination(), rank);
            if to.file() != side.king_destination() || !self.pieces(them, Role::Rook).contains(rook) {
                return false;
            }
            let others = self.occupied() - to.into() - rook.into();
            let starts = || File::all().map(|file| Square::at(file, rank));
            starts().any(|king_from| {
                starts().any(|rook_from| {
                    let crossed =
                        between(king_from, to) | between(rook_from, rook) | king_from.into() | rook_from.into();
                    let before = others | king_from.into() | rook_from.into();
                    let moved = Bitboard::from(to) | rook.into();
                    king_from != rook_from
                        && CastlingSide::of(king_from, rook_from) == side
                        && (crossed & others).is_empty()
                        && (self.attackers_of(king, them, before) - moved).is_empty()
                        && !piece_attacks(Role::Rook, them, rook_from, before).contains(king)
                })
            })
        })
    }
}

/// A move of the opponent taken back.
struct Unmove {
    from: Square,
    to: Square,
    /// The piece on `from`: for a promotion, the pawn.
    was: Role,
}

impl Unmove {
    fn both(&self) -> Bitboard {
        Bitboard::from(self.from) | self.to.into()
    }
    /// Whether the king of the side to move was not attacked before, with these squares occupied.
    fn king_was_safe(&self, position: &Position, king: Square, before: Bitboard) -> bool {
        let them = !position.side_to_move;
        let others = position.attackers_of(king, them, before) - self.to.into();
        others.is_empty() && !piece_attacks(self.was, them, self.from, before).contains(king)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen::{self, FenOptions};

    fn broken(text: &str, validity: Validity) -> Vec<&'static str> {
        let read = fen::parse(text.as_bytes(), FenOptions::default()).unwrap();
        read.violations(validity).names().collect()
    }

    #[test]
    fn each_rule_by_name() {
        use Validity::{Playable, Strict};
        for (text, validity, names) in [
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", Strict, &[][..]),
            ("8/8/8/8/8/8/8/4K3 w - - 0 1", Playable, &["not_one_king_each"]),
            ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", Playable, &["not_one_king_each"]),
            ("3kk3/8/8/8/8/8/8/8 w - - 0 1", Playable, &["not_one_king_each"]),
            ("4k3/pppppppp/pppppppp/8/8/PPPPPPPP/PPPPPPPP/4K2N w - - 0 1", Playable, &["too_many_pieces"]),
            ("p3k3/8/8/8/8/8/8/4K2P w - - 0 1", Playable, &["pawn_on_back_rank"]),
            ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", Playable, &["opponent_in_check"]),
            ("8/8/8/8/8/8/4k3/4K3 w - - 0 1", Playable, &["opponent_in_check"]),
            ("4k3/8/8/8/8/8/8/4K1RR w GH - 0 1", Playable, &["castling_rights"]),
            ("4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", Strict, &[]),
            ("4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", Playable, &[]),
            ("4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", Strict, &["too_many_pawns"]),
            (
                "4k3/8/8/8/8/Q7/PPPPPPPP/RNBQKBNR w - - 0 1",
                Strict,
                &["too_many_pieces_of_a_side", "too_many_promoted_pieces"],
            ),
            ("4k3/8/8/8/8/Q7/PPPPPPPP/1N1QK3 w - - 0 1", Strict, &["too_many_promoted_pieces"]),
            // Both on light squares.
            ("4k3/8/8/8/8/8/PPPPPPPP/4KB1B w - - 0 1", Strict, &["too_many_promoted_pieces"]),
            ("4k3/8/8/8/8/8/PPPPPPPP/2B1KB2 w - - 0 1", Strict, &[]),
        ] {
            assert_eq!(broken(text, validity), names, "{text}");
        }
    }

    #[test]
    fn possible_and_impossible_double_steps() {
        let wrong: &[_] = &["impossible_en_passant"];
        for (text, names) in [
            ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 1", &[][..]),
            ("4k3/8/8/3p4/8/8/8/4K3 b - d6 0 1", wrong),
            ("4k3/8/8/3n4/8/8/8/4K3 w - d6 0 1", wrong),
            ("4k3/3p4/8/3p4/8/8/8/4K3 w - d6 0 1", wrong),
            ("4k3/8/3p4/3p4/8/8/8/4K3 w - d6 0 1", wrong),
            // Check by the pawn, and by the bishop that it uncovered.
            ("4k3/8/8/3p4/4K3/8/8/8 w - d6 0 1", &[]),
            ("4k1b1/8/8/3p4/8/8/K7/8 w - d6 0 1", wrong),
            ("4k3/2b5/8/3p4/8/6K1/8/8 w - d6 0 1", wrong),
            ("3rk3/8/8/3p4/8/8/8/3K4 w - d6 0 1", &[]),
            ("q3k3/8/8/3p4/8/8/8/3K3b w - d6 0 1", &[]),
        ] {
            assert_eq!(broken(text, Validity::Strict), names, "{text}");
        }
    }

    #[test]
    fn checks_with_and_without_a_possible_last_move() {
        let wrong: &[_] = &["impossible_check"];
        for (text, names) in [
            // Knight and rook: the knight uncovered the rook.
            ("4r2k/8/8/8/8/3n4/8/4K3 w - - 0 1", &[][..]),
            // Two knights, two pawns, three pieces.
            ("7k/8/8/8/8/3n1n2/8/4K3 w - - 0 1", wrong),
            ("7k/8/8/8/8/3p1p2/4K3/8 w - - 0 1", wrong),
            ("4r2k/8/8/8/1b6/5n2/8/4K3 w - - 0 1", wrong),
            // Rooks on both sides of the king on one line; a capturing promotion explains two on a back rank.
            ("7k/8/8/8/r2K3r/8/8/8 w - - 0 1", wrong),
            ("7k/8/8/8/8/8/8/r3K2r w - - 0 1", wrong),
            ("7k/8/8/8/8/4r3/8/3rK3 w - - 0 1", &[]),
            // A pawn that has not moved.
            ("7k/4p3/3K4/8/8/8/8/8 w - - 0 1", wrong),
            ("7k/8/4p3/3K4/8/8/8/8 w - - 0 1", &[]),
            // Only castling, of a king on d8, can have brought the rook between the two.
            ("2krr3/8/8/8/8/8/8/3K4 w - - 0 1", &[]),
            ("2rrr3/8/k7/8/8/8/8/3K4 w - - 0 1", wrong),
        ] {
            assert_eq!(broken(text, Validity::Strict), names, "{text}");
        }
    }
}
