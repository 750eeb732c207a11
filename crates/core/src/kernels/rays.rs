//! Slider attacks of whole sets, one direction at a time.
//!
//! Towards the h-file, one subtraction within each byte is enough: `occupied - 2 * sliders` changes exactly the squares
//! from each slider to its first blocker. The other directions are Kogge-Stone fills: three
//! doubling steps over a propagator and one last step onto the blocker.
//!
//! Where one instruction reverses the bits of each byte or makes bytes of the files ([`Lanes::HAS_MATRICES`]), the
//! subtraction serves all four directions of rooks, each on the board as it must lie for that.
//!
//! Two tricks save work. A ray cannot pass *through* an edge file, only end there, so the propagator "empty and not
//! on file a or h" serves all directions that change the file, and no step within a fill needs a wrap mask. And the
//! doubled propagator of a direction is that of the opposite one, shifted.

use super::{FILE_A, FILE_H};
use crate::simd::{Lanes, LinesThrough, inlined};

/// Doubled propagators of a line: of one, two and four steps; in the rising direction (shift to the left)
/// and in the falling one.
#[derive(Clone, Copy, Debug)]
struct Propagators<L> {
    one: L,
    two_up: L,
    four_up: L,
    two_down: L,
    four_down: L,
}

/// The data that fills need from the boards, shared by both sides and the kings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rays<L> {
    occupied: L,
    /// The board with the files reversed, with files as ranks, and with both.
    mirrored: L,
    transposed: L,
    transposed_mirrored: L,
    rank: Propagators<L>,
    file: Propagators<L>,
    diagonal: Propagators<L>,
    antidiagonal: Propagators<L>,
}

/// Attacked squares by direction, from White's view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Directions<L> {
    pub east: L,
    pub west: L,
    pub north: L,
    pub south: L,
    pub north_east: L,
    pub south_west: L,
    pub north_west: L,
    pub south_east: L,
}

/// One set for each line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByLine<L> {
    pub rank: L,
    pub file: L,
    pub diagonal: L,
    pub antidiagonal: L,
}

impl<L: Lanes> ByLine<L> {
    #[inline(always)]
    pub(crate) fn zip(self, other: Self, f: impl Fn(L, L) -> L) -> Self {
        Self {
            rank: f(self.rank, other.rank),
            file: f(self.file, other.file),
            diagonal: f(self.diagonal, other.diagonal),
            antidiagonal: f(self.antidiagonal, other.antidiagonal),
        }
    }
    #[inline(always)]
    pub(crate) fn union(self) -> L {
        self.rank | self.file | self.diagonal | self.antidiagonal
    }
}

impl<L: Lanes> Directions<L> {
    #[inline(always)]
    pub(crate) fn by_line(self) -> ByLine<L> {
        ByLine {
            rank: self.east | self.west,
            file: self.north | self.south,
            diagonal: self.north_east | self.south_west,
            antidiagonal: self.north_west | self.south_east,
        }
    }
}

/// The fill and the last step of one direction, `STEP` to the left (up) or to the right (down).
macro_rules! fill {
    (up $sliders:expr, $p:expr, $one:literal $two:literal $four:literal) => {{
        let mut filled = $sliders;
        filled = filled | ($p.one & filled.shl::<$one>());
        filled = filled | ($p.two_up & filled.shl::<$two>());
        filled = filled | ($p.four_up & filled.shl::<$four>());
        filled.shl::<$one>()
    }};
    (down $sliders:expr, $p:expr, $one:literal $two:literal $four:literal) => {{
        let mut filled = $sliders;
        filled = filled | ($p.one & filled.shr::<$one>());
        filled = filled | ($p.two_down & filled.shr::<$two>());
        filled = filled | ($p.four_down & filled.shr::<$four>());
        filled.shr::<$one>()
    }};
}

macro_rules! propagators {
    ($one:expr, $step:literal $double:literal $triple:literal) => {{
        let one = $one;
        let two_up = one & one.shl::<$step>();
        let four_up = two_up & two_up.shl::<$double>();
        Propagators { one, two_up, four_up, two_down: two_up.shr::<$step>(), four_down: four_up.shr::<$triple>() }
    }};
}

impl<L: Lanes> Rays<L> {
    #[inline(always)]
    pub(crate) fn new(occupied: L) -> Self {
        let empty = !occupied;
        let inner = empty & occupied.splat(!(FILE_A | FILE_H));
        let transposed = occupied.transpose();
        Self {
            occupied,
            mirrored: occupied.mirror(),
            transposed,
            transposed_mirrored: transposed.mirror(),
            rank: propagators!(inner, 1 2 3),
            file: propagators!(empty, 8 16 24),
            diagonal: propagators!(inner, 9 18 27),
            antidiagonal: propagators!(inner, 7 14 21),
        }
    }

    /// The squares attacked from four sets of sliders, each along its own line. Blockers are included,
    /// whatever their colour.
    #[inline(always)]
    pub(crate) fn directions(&self, sliders: ByLine<L>) -> Directions<L> {
        let ByLine { rank, file, diagonal, antidiagonal } = sliders;
        let occupied = self.occupied;
        let not_a = occupied.splat(!FILE_A);
        let not_h = occupied.splat(!FILE_H);
        let (west, north, south);
        if L::HAS_MATRICES {
            let file = file.transpose();
            west = self.mirrored.sweep_up_in_bytes(rank.mirror()).mirror();
            south = self.transposed.sweep_up_in_bytes(file).transpose();
            let up = self.transposed_mirrored.sweep_up_in_bytes(file.mirror());
            north = up.mirror_and_transpose();
        } else {
            west = fill!(down rank, self.rank, 1 2 4) & not_h;
            north = fill!(up file, self.file, 8 16 32);
            south = fill!(down file, self.file, 8 16 32);
        }
        Directions {
            east: occupied.sweep_up_in_bytes(rank),
            west,
            north,
            south,
            north_east: fill!(up diagonal, self.diagonal, 9 18 36) & not_a,
            south_west: fill!(down diagonal, self.diagonal, 9 18 36) & not_h,
            north_west: fill!(up antidiagonal, self.antidiagonal, 7 14 28) & not_h,
            south_east: fill!(down antidiagonal, self.antidiagonal, 7 14 28) & not_a,
        }
    }

    /// The same squares by line.
    #[inline(always)]
    pub(crate) fn lines(&self, sliders: ByLine<L>) -> ByLine<L> {
        let lines = self.directions(sliders).by_line();
        if !L::HAS_MATRICES {
            return lines;
        }
        // The differences of both directions are brought together before they are compared with the board.
        let occupied = self.occupied;
        let east = occupied.sub_twice_in_bytes(sliders.rank);
        let west = self.mirrored.sub_twice_in_bytes(sliders.rank.mirror()).mirror();
        let file = sliders.file.transpose();
        let south = self.transposed.sub_twice_in_bytes(file);
        let north = self.transposed_mirrored.sub_twice_in_bytes(file.mirror()).mirror();
        ByLine {
            rank: occupied.differs_from(east, west),
            file: self.transposed.differs_from(south, north).transpose(),
            ..lines
        }
    }

    /// The moves of four sets of sliders to a set of targets: for each direction, one bit per move. The bits are not
    /// squares, because the orientation of the board differs.
    #[inline(always)]
    pub(crate) fn moves(&self, sliders: ByLine<L>, targets: L) -> [L; 8] {
        let directions = self.directions(sliders);
        let (mirrored, transposed) = (targets.mirror(), targets.transpose());
        let file = sliders.file.transpose();
        [
            directions.east & targets,
            self.mirrored.sweep_up_in_bytes(sliders.rank.mirror()) & mirrored,
            self.transposed.sweep_up_in_bytes(file) & transposed,
            self.transposed_mirrored.sweep_up_in_bytes(file.mirror()) & transposed.mirror(),
            directions.north_east & targets,
            directions.south_west & targets,
            directions.north_west & targets,
            directions.south_east & targets,
        ]
    }

    /// The squares that the single piece of each lane sees along each line.
    ///
    /// Along file, diagonal and antidiagonal by o^(o-2r), the second direction on the flipped board
    /// (hyperbola quintessence); along the rank as in [`Rays::directions`].
    #[inline(always)]
    pub(crate) fn sight_of(&self, piece: L, lines: LinesThrough<L>) -> ByLine<L> {
        let twice = piece.shl::<1>();
        let turned_twice = piece.swap_bytes().shl::<1>();
        let occupied = self.occupied;
        let along = inlined(
            #[inline(always)]
            |line: L| {
                let on_line = occupied & line;
                let up = on_line.sub(twice);
                let down = on_line.swap_bytes().sub(turned_twice).swap_bytes();
                (up ^ down) & line
            },
        );
        let rank = if L::HAS_MATRICES {
            // A single piece cannot see a square from both sides.
            let east = occupied.sub_twice_in_bytes(piece);
            east ^ self.mirrored.sub_twice_in_bytes(piece.mirror()).mirror()
        } else {
            let west = fill!(down piece, self.rank, 1 2 4) & occupied.splat(!FILE_H);
            occupied.sweep_up_in_bytes(piece) | west
        };
        ByLine {
            rank,
            file: along(lines.column),
            diagonal: along(lines.diagonal),
            antidiagonal: along(lines.antidiagonal),
        }
    }
}
