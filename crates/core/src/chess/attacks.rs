//! Which squares a piece attacks, and which pieces attack a square.
//!
//! Knights, kings and pawns are looked up. Sliders use the *obstruction difference*: on a line through the
//! piece, cut into a lower and an upper half, the attacked squares lie between the nearest blocker below and
//! the nearest blocker above. Subtracting the former from the upper blockers flips exactly these squares. This takes
//! eight operations and two masks per line and is the same for all four lines, which is why the rules use it;
//! [`crate::sliders`] has faster and more exotic algorithms.

use super::bitboard::Bitboard;
use super::geometry::{Line, ray_formula};
use super::piece::{Color, Role};
use super::position::Position;
use super::square::Square;

/// A line through a square without the square itself: the squares with lower and with higher numbers.
#[derive(Clone, Copy)]
struct Halves {
    lower: u64,
    upper: u64,
}

impl Halves {
    #[inline(always)]
    const fn attacks(self, occupied: u64) -> u64 {
        // Bit 0 stands in for the board's edge if there is no blocker below.
        let below = self.lower & occupied | 1;
        let above = self.upper & occupied;
        let nearest_below = 1 << (63 - below.leading_zeros());
        (above ^ above.wrapping_sub(nearest_below)) & (self.lower | self.upper)
    }
}

const fn halves(line: Line) -> [Halves; 64] {
    let mut table = [Halves { lower: 0, upper: 0 }; 64];
    let mut index = 0;
    while index < 64 {
        let from = Square::new(index as u8);
        table[index] =
            Halves { lower: ray_formula(from, line.negative()).0, upper: ray_formula(from, line.positive()).0 };
        index += 1;
    }
    table
}

const fn steps<const N: usize>(steps: [(i8, i8); N]) -> [Bitboard; 64] {
    let mut table = [Bitboard::EMPTY; 64];
    let mut index = 0;
    while index < 64 {
        let mut step = 0;
        while step < N {
            let (files, ranks) = steps[step];
            if let Some(to) = Square::new(index as u8).offset(files, ranks) {
                table[index].0 |= Bitboard::square(to).0;
            }
            step += 1;
        }
        index += 1;
    }
    table
}

static FILES: [Halves; 64] = halves(Line::File);
static RANKS: [Halves; 64] = halves(Line::Rank);
static DIAGONALS: [Halves; 64] = halves(Line::Diagonal);
static ANTIDIAGONALS: [Halves; 64] = halves(Line::Antidiagonal);

static PAWN: [[Bitboard; 64]; 2] = [steps([(-1, 1), (1, 1)]), steps([(-1, -1), (1, -1)])];
static KNIGHT: [Bitboard; 64] = steps([(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]);
static KING: [Bitboard; 64] = steps([(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]);

/// The squares a pawn attacks: the one or two diagonally in front of it.
#[inline(always)]
pub fn pawn_attacks(color: Color, from: Square) -> Bitboard {
    PAWN[color.index()][from.index()]
}

/// The squares that a set of pawns attacks.
#[inline(always)]
pub const fn pawn_set_attacks(color: Color, pawns: Bitboard) -> Bitboard {
    const NOT_A: u64 = 0xFEFE_FEFE_FEFE_FEFE;
    const NOT_H: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    Bitboard(match color {
        Color::White => (pawns.0 & NOT_H) << 9 | (pawns.0 & NOT_A) << 7,
        Color::Black => (pawns.0 & NOT_A) >> 9 | (pawns.0 & NOT_H) >> 7,
    })
}

/// The squares a knight attacks.
#[inline(always)]
pub fn knight_attacks(from: Square) -> Bitboard {
    KNIGHT[from.index()]
}

/// The squares a king attacks; castling is not an attack.
#[inline(always)]
pub fn king_attacks(from: Square) -> Bitboard {
    KING[from.index()]
}

/// The squares a bishop attacks, up to and including the first occupied one of each ray.
///
/// ```
/// use lanefish_core::chess::{Bitboard, Square, attacks};
/// let square = |name: &str| name.parse::<Square>().unwrap();
/// let blockers = Bitboard::from(square("d4"));
/// let attacked = attacks::bishop_attacks(square("b2"), blockers);
/// assert_eq!(attacked, ["a1", "c1", "a3", "c3", "d4"].map(square).into_iter().collect());
/// ```
#[inline(always)]
pub fn bishop_attacks(from: Square, occupied: Bitboard) -> Bitboard {
    let from = from.index();
    Bitboard(DIAGONALS[from].attacks(occupied.0) | ANTIDIAGONALS[from].attacks(occupied.0))
}

/// The squares a rook attacks, up to and including the first occupied one of each ray.
#[inline(always)]
pub fn rook_attacks(from: Square, occupied: Bitboard) -> Bitboard {
    let from = from.index();
    Bitboard(FILES[from].attacks(occupied.0) | RANKS[from].attacks(occupied.0))
}

/// The squares a queen attacks, up to and including the first occupied one of each ray.
#[inline(always)]
pub fn queen_attacks(from: Square, occupied: Bitboard) -> Bitboard {
    bishop_attacks(from, occupied) | rook_attacks(from, occupied)
}

/// The squares that a piece attacks from a square.
#[inline]
pub fn piece_attacks(role: Role, color: Color, from: Square, occupied: Bitboard) -> Bitboard {
    match role {
        Role::Pawn => pawn_attacks(color, from),
        Role::Knight => knight_attacks(from),
        Role::Bishop => bishop_attacks(from, occupied),
        Role::Rook => rook_attacks(from, occupied),
        Role::Queen => queen_attacks(from, occupied),
        Role::King => king_attacks(from),
    }
}

impl Position {
    /// The squares that a side attacks.
    ///
    /// Sliders stop at the first piece of either colour, kings included; squares of own pieces count;
    /// pawns attack diagonally whether or not the square is occupied; pins are ignored.
    pub fn attacked_by(&self, color: Color) -> Bitboard {
        let occupied = self.occupied();
        let mut attacked = pawn_set_attacks(color, self.pieces(color, Role::Pawn));
        for role in &Role::ALL[1..] {
            for from in self.pieces(color, *role) {
                attacked |= piece_attacks(*role, color, from, occupied);
            }
        }
        attacked
    }

    /// The pieces of a side that attack a square if these squares are occupied.
    ///
    /// `occupied` need not be that of the position: leave a piece out to see through it. A piece that is
    /// itself left out still attacks.
    #[inline]
    pub fn attackers_of(&self, square: Square, color: Color, occupied: Bitboard) -> Bitboard {
        let queens = self.role(Role::Queen);
        let straight = rook_attacks(square, occupied) & (self.role(Role::Rook) | queens);
        let diagonal = bishop_attacks(square, occupied) & (self.role(Role::Bishop) | queens);
        let stepping = pawn_attacks(!color, square) & self.role(Role::Pawn)
            | knight_attacks(square) & self.role(Role::Knight)
            | king_attacks(square) & self.role(Role::King);
        (straight | diagonal | stepping) & self.color(color)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(from: Square, occupied: Bitboard, steps: [(i8, i8); 4]) -> Bitboard {
        let mut attacked = Bitboard::EMPTY;
        for (files, ranks) in steps {
            let mut at = from;
            while let Some(next) = at.offset(files, ranks) {
                attacked |= next.into();
                if occupied.contains(next) {
                    break;
                }
                at = next;
            }
        }
        attacked
    }

    #[test]
    fn sliders_agree_with_a_walk() {
        let mut seed = 1u64;
        let mut random = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for round in 0..2000 {
            let occupied = Bitboard(match round {
                0 => 0,
                1 => !0,
                _ if round % 2 == 0 => random() & random(),
                _ => random() & random() & random(),
            });
            for from in Square::all() {
                let straight = walk(from, occupied, [(0, 1), (0, -1), (1, 0), (-1, 0)]);
                let diagonal = walk(from, occupied, [(1, 1), (-1, -1), (1, -1), (-1, 1)]);
                assert_eq!(rook_attacks(from, occupied), straight, "{from}\n{occupied}");
                assert_eq!(bishop_attacks(from, occupied), diagonal, "{from}\n{occupied}");
                assert_eq!(queen_attacks(from, occupied), straight | diagonal);
            }
        }
    }

    #[test]
    fn leapers_at_the_edges() {
        let square = |name: &str| name.parse::<Square>().unwrap();
        let set = |names: &[&str]| names.iter().map(|name| square(name)).collect::<Bitboard>();
        assert_eq!(knight_attacks(square("a1")), set(&["b3", "c2"]));
        assert_eq!(king_attacks(square("h8")), set(&["g8", "g7", "h7"]));
        assert_eq!(pawn_attacks(Color::White, square("a2")), set(&["b3"]));
        assert_eq!(pawn_attacks(Color::Black, square("e5")), set(&["d4", "f4"]));
        for color in Color::ALL {
            for from in Square::all() {
                let one = pawn_set_attacks(color, from.into());
                assert_eq!(one, pawn_attacks(color, from));
            }
        }
    }
}
