//! The lines of the board: ranks, files and diagonals through a square, and the rays along them.
//!
//! Every set exists twice: as a table, filled at compile time by walking over the board, and
//! as a closed formula where there is one. The tests compare both with the plain definition (same file,
//! same difference of file and rank, …) for all squares and all pairs of squares. Which of the two is
//! faster depends on the cache, so both are public.

use super::bitboard::Bitboard;
use super::square::{File, Rank, Square};

/// One of the four lines through a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    /// The row.
    Rank,
    /// The column.
    File,
    /// In the direction of a1-h8: file minus rank is the same.
    Diagonal,
    /// In the direction of a8-h1: file plus rank is the same.
    Antidiagonal,
}

impl Line {
    /// All lines: those of the rook, then those of the bishop.
    pub const ALL: [Self; 4] = [Self::Rank, Self::File, Self::Diagonal, Self::Antidiagonal];
    /// The lines of the rook.
    pub const ROOK: [Self; 2] = [Self::Rank, Self::File];
    /// The lines of the bishop.
    pub const BISHOP: [Self; 2] = [Self::Diagonal, Self::Antidiagonal];

    /// The direction towards higher squares.
    pub const fn positive(self) -> Direction {
        match self {
            Self::Rank => Direction::East,
            Self::File => Direction::North,
            Self::Diagonal => Direction::NorthEast,
            Self::Antidiagonal => Direction::NorthWest,
        }
    }
    /// The direction towards lower squares.
    pub const fn negative(self) -> Direction {
        self.positive().opposite()
    }
}

/// One of the eight directions of a queen. North is towards the eighth rank, east towards the h-file.
///
/// The first four are the *positive* ones, towards higher squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "self-explanatory")]
pub enum Direction {
    East,
    North,
    NorthEast,
    NorthWest,
    West,
    South,
    SouthWest,
    SouthEast,
}

impl Direction {
    /// All directions: the four positive ones, then their opposites in the same order.
    pub const ALL: [Self; 8] = [
        Self::East,
        Self::North,
        Self::NorthEast,
        Self::NorthWest,
        Self::West,
        Self::South,
        Self::SouthWest,
        Self::SouthEast,
    ];
    /// The directions of the rook.
    pub const ROOK: [Self; 4] = [Self::East, Self::North, Self::West, Self::South];
    /// The directions of the bishop.
    pub const BISHOP: [Self; 4] = [Self::NorthEast, Self::NorthWest, Self::SouthWest, Self::SouthEast];

    /// One step: files to the right, ranks up.
    #[inline(always)]
    pub const fn delta(self) -> (i8, i8) {
        match self {
            Self::East => (1, 0),
            Self::North => (0, 1),
            Self::NorthEast => (1, 1),
            Self::NorthWest => (-1, 1),
            Self::West => (-1, 0),
            Self::South => (0, -1),
            Self::SouthWest => (-1, -1),
            Self::SouthEast => (1, -1),
        }
    }
    /// One step as a difference of square numbers.
    #[inline(always)]
    pub const fn step(self) -> i8 {
        let (files, ranks) = self.delta();
        files + 8 * ranks
    }
    /// Whether it leads to higher squares.
    #[inline(always)]
    pub const fn is_positive(self) -> bool {
        self.step() > 0
    }
    /// The opposite direction.
    #[inline(always)]
    pub const fn opposite(self) -> Self {
        Self::ALL[(self as usize + 4) % 8]
    }
    /// The line that it runs along.
    #[inline(always)]
    pub const fn line(self) -> Line {
        Line::ALL[self as usize % 4]
    }
}

/// The set of each single square.
pub const SQUARES: [Bitboard; 64] = {
    let mut table = [Bitboard::EMPTY; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = Bitboard(1 << i);
        i += 1;
    }
    table
};
/// The squares of each rank.
pub const MASK_RANK: [Bitboard; 8] = eight(true, false);
/// The squares of all ranks but one.
pub const CLEAR_RANK: [Bitboard; 8] = eight(true, true);
/// The squares of each file.
pub const MASK_FILE: [Bitboard; 8] = eight(false, false);
/// The squares of all files but one.
pub const CLEAR_FILE: [Bitboard; 8] = eight(false, true);

const fn eight(ranks: bool, complement: bool) -> [Bitboard; 8] {
    let mut table = [Bitboard::EMPTY; 8];
    let mut i = 0;
    while i < 8 {
        let set = if ranks { Bitboard::rank(Rank::new(i)) } else { Bitboard::file(File::new(i)) };
        table[i as usize] = if complement { Bitboard(!set.0) } else { set };
        i += 1;
    }
    table
}

static RAYS: [[Bitboard; 8]; 64] = {
    let mut table = [[Bitboard::EMPTY; 8]; 64];
    let mut i = 0;
    while i < 64 {
        let mut d = 0;
        while d < 8 {
            let (files, ranks) = Direction::ALL[d].delta();
            let mut at = Square::new(i as u8);
            while let Some(next) = at.offset(files, ranks) {
                table[i][d].0 |= 1 << next.index();
                at = next;
            }
            d += 1;
        }
        i += 1;
    }
    table
};

static LINES: [[Bitboard; 4]; 64] = {
    let mut table = [[Bitboard::EMPTY; 4]; 64];
    let mut i = 0;
    while i < 64 {
        let mut line = 0;
        while line < 4 {
            table[i][line] = Bitboard(RAYS[i][line].0 | RAYS[i][line + 4].0 | 1 << i);
            line += 1;
        }
        i += 1;
    }
    table
};

/// A set for each pair of squares.
type Pairs = [[Bitboard; 64]; 64];

/// For two squares on a line: the squares between them, those beyond the second, and the whole line.
static PAIRS: [Pairs; 3] = {
    let mut tables = [[[Bitboard::EMPTY; 64]; 64]; 3];
    let mut i = 0;
    while i < 64 {
        let mut d = 0;
        while d < 8 {
            let (files, ranks) = Direction::ALL[d].delta();
            let mut passed = 0;
            let mut at = Square::new(i as u8);
            while let Some(next) = at.offset(files, ranks) {
                let to = next.index();
                tables[0][i][to] = Bitboard(passed);
                passed |= 1 << to;
                tables[1][i][to] = Bitboard(RAYS[i][d].0 & !passed);
                tables[2][i][to] = LINES[i][d % 4];
                at = next;
            }
            d += 1;
        }
        i += 1;
    }
    tables
};

/// All squares from here to the edge, without the square itself; from the table.
///
/// ```
/// use lanefish_core::chess::Square;
/// use lanefish_core::chess::geometry::{Direction, ray};
/// let f2: Square = "f2".parse().unwrap();
/// assert_eq!(ray(f2, Direction::NorthEast).len(), 2);
/// ```
#[inline(always)]
pub fn ray(square: Square, direction: Direction) -> Bitboard {
    RAYS[square.index()][direction as usize]
}

/// [`ray`] by formula: the part of the line above or below the square.
#[inline(always)]
pub(crate) const fn ray_formula(square: Square, direction: Direction) -> Bitboard {
    let bit = 1u64 << square.index();
    let line = line_formula(square, direction.line()).0;
    Bitboard(if direction.is_positive() { line & !(bit | (bit - 1)) } else { line & (bit - 1) })
}

/// The whole line through a square, the square included; from the table.
#[inline(always)]
pub fn line(square: Square, line: Line) -> Bitboard {
    LINES[square.index()][line as usize]
}

/// The line through a square without the square itself; from the table.
#[inline(always)]
pub fn line_without_square(square: Square, line: Line) -> Bitboard {
    let rays = &RAYS[square.index()];
    rays[line as usize] | rays[line as usize + 4]
}

/// [`line()`] by formula: the main diagonal, shifted up or down by whole ranks until it contains the square.
#[inline(always)]
pub(crate) const fn line_formula(square: Square, line: Line) -> Bitboard {
    const MAIN_DIAGONAL: u64 = 0x8040_2010_0804_0201;
    const MAIN_ANTIDIAGONAL: u64 = 0x0102_0408_1020_4080;
    let (file, rank) = (square.file().index() as u32, square.rank().index() as u32);
    Bitboard(match line {
        Line::Rank => 0xFF << (8 * rank),
        Line::File => 0x0101_0101_0101_0101 << file,
        // One of the two shifts is by zero.
        Line::Diagonal => MAIN_DIAGONAL << (8 * rank.saturating_sub(file)) >> (8 * file.saturating_sub(rank)),
        Line::Antidiagonal => {
            let sum = file + rank;
            MAIN_ANTIDIAGONAL << (8 * sum.saturating_sub(7)) >> (8 * 7u32.saturating_sub(sum))
        }
    })
}

/// [`line_without_square`] by formula.
#[inline(always)]
pub(crate) const fn line_without_square_formula(square: Square, line: Line) -> Bitboard {
    Bitboard(line_formula(square, line).0 ^ 1 << square.index())
}

/// The squares strictly between two squares of a line; empty if they share no line.
///
/// ```
/// use lanefish_core::chess::{Bitboard, Square};
/// use lanefish_core::chess::geometry::{between, beyond};
/// let square = |name: &str| name.parse::<Square>().unwrap();
/// let (a1, d4, e7) = (square("a1"), square("d4"), square("e7"));
/// assert_eq!(between(a1, d4), Bitboard::from(square("b2")) | square("c3").into());
/// assert_eq!(beyond(a1, d4).len(), 4);
/// assert!(between(a1, e7).is_empty());
/// ```
#[inline(always)]
pub fn between(from: Square, to: Square) -> Bitboard {
    PAIRS[0][from.index()][to.index()]
}

/// The squares behind `blocker`, seen from another square of its line; empty if they share no line.
#[inline(always)]
pub fn beyond(from: Square, blocker: Square) -> Bitboard {
    PAIRS[1][from.index()][blocker.index()]
}

/// The direction from one square to another; `None` if they share no line or are the same.
pub const fn direction(from: Square, to: Square) -> Option<Direction> {
    let files = to.file().index() as i8 - from.file().index() as i8;
    let ranks = to.rank().index() as i8 - from.rank().index() as i8;
    Some(match (files.signum(), ranks.signum()) {
        (1, 0) => Direction::East,
        (-1, 0) => Direction::West,
        (0, 1) => Direction::North,
        (0, -1) => Direction::South,
        _ if files.abs() != ranks.abs() => return None,
        (1, 1) => Direction::NorthEast,
        (1, -1) => Direction::SouthEast,
        (-1, 1) => Direction::NorthWest,
        (-1, -1) => Direction::SouthWest,
        _ => return None,
    })
}

/// The whole line through two squares, both included; empty if they share no line or are the same.
///
/// ```
/// use lanefish_core::chess::geometry::line_through;
/// let [b1, h7] = ["b1", "h7"].map(|name| name.parse().unwrap());
/// assert_eq!(line_through(b1, h7).len(), 7);
/// ```
#[inline(always)]
pub fn line_through(a: Square, b: Square) -> Bitboard {
    PAIRS[2][a.index()][b.index()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coordinates(square: Square) -> (i32, i32) {
        (square.file().index() as i32, square.rank().index() as i32)
    }

    /// The definition: whether two squares share the line.
    fn share(a: Square, b: Square, line: Line) -> bool {
        let ((fa, ra), (fb, rb)) = (coordinates(a), coordinates(b));
        match line {
            Line::Rank => ra == rb,
            Line::File => fa == fb,
            Line::Diagonal => fa - ra == fb - rb,
            Line::Antidiagonal => fa + ra == fb + rb,
        }
    }

    /// The definition: `to` is N whole steps (at least one) away from `from`.
    fn steps(from: Square, to: Square, direction: Direction) -> Option<i32> {
        let ((fa, ra), (fb, rb)) = (coordinates(from), coordinates(to));
        let (files, ranks) = direction.delta();
        (1..8).find(|n| fa + n * i32::from(files) == fb && ra + n * i32::from(ranks) == rb)
    }

    #[test]
    fn single_ranks_and_files() {
        for square in Square::all() {
            assert_eq!(SQUARES[square.index()], Bitboard::from(square));
            for i in 0..8 {
                let (file, rank) = (square.file().index() == i, square.rank().index() == i);
                assert_eq!(MASK_FILE[i].contains(square), file);
                assert_eq!(CLEAR_FILE[i].contains(square), !file);
                assert_eq!(MASK_RANK[i].contains(square), rank);
                assert_eq!(CLEAR_RANK[i].contains(square), !rank);
            }
        }
    }

    #[test]
    fn lines_follow_the_definition() {
        for square in Square::all() {
            for which in Line::ALL {
                let whole: Bitboard = Square::all().filter(|&other| share(square, other, which)).collect();
                let without = whole - square.into();
                assert_eq!(line(square, which), whole);
                assert_eq!(line_formula(square, which), whole);
                assert_eq!(line_without_square(square, which), without);
                assert_eq!(line_without_square_formula(square, which), without);
                assert_eq!(ray(square, which.positive()) | ray(square, which.negative()), without);
            }
        }
    }

    #[test]
    fn rays_follow_the_definition() {
        for square in Square::all() {
            for direction in Direction::ALL {
                let expected: Bitboard = Square::all().filter(|&to| steps(square, to, direction).is_some()).collect();
                assert_eq!(ray(square, direction), expected);
                assert_eq!(ray_formula(square, direction), expected);
                assert!(expected.iter().all(|to| (to > square) == direction.is_positive()));
            }
        }
    }

    #[test]
    fn pairs_follow_the_definition() {
        for from in Square::all() {
            for to in Square::all() {
                let way = Direction::ALL.into_iter().find_map(|way| Some((way, steps(from, to, way)?)));
                assert_eq!(direction(from, to), way.map(|(way, _)| way));
                let at = |test: &dyn Fn(i32, i32) -> bool| -> Bitboard {
                    Square::all()
                        .filter(|&square| {
                            way.is_some_and(|(way, distance)| {
                                steps(from, square, way).is_some_and(|n| test(n, distance))
                            })
                        })
                        .collect()
                };
                assert_eq!(between(from, to), at(&|n, distance| n < distance));
                assert_eq!(beyond(from, to), at(&|n, distance| n > distance));
                let through: Bitboard = Square::all()
                    .filter(|&square| {
                        from != to
                            && Line::ALL.iter().any(|&which| share(from, to, which) && share(from, square, which))
                    })
                    .collect();
                assert_eq!(line_through(from, to), through);
            }
        }
    }

    #[test]
    fn directions() {
        for way in Direction::ALL {
            let (files, ranks) = way.delta();
            assert_eq!(way.opposite().delta(), (-files, -ranks));
            assert_eq!(way.opposite().opposite(), way);
            assert_eq!(way.opposite().line(), way.line());
            assert_eq!(way.step() > 0, way.is_positive());
        }
        for which in Line::ALL {
            assert_eq!(which.positive().line(), which);
            assert_eq!(which.negative(), which.positive().opposite());
        }
    }
}
