//! Slider attacks for one square and one occupancy at a time, by many algorithms.
//!
//! Each algorithm is one type in one file behind the trait [`Sliders`], and all of them are in one list,
//! [`for_each_algorithm`], which the tests, the benchmarks and the command line use. The definition is
//! [`ray_walk`]; it builds the tables of all the others.
//!
//! ```
//! use lanefish_core::chess::Bitboard;
//! use lanefish_core::sliders::{Sliders, obstruction::ObstructionDifference, pext::Pext, ray_walk::RayWalk};
//! let e4 = "e4".parse().unwrap();
//! let occupied = Bitboard(0xFFFF_0000_0000_FFFF);
//! let attacks = RayWalk.queen(e4, occupied);
//! assert_eq!(ObstructionDifference.queen(e4, occupied), attacks);
//! // Algorithms that need CPU features are available only on CPUs that have them.
//! if let Some(pext) = Pext::detect() {
//!     let found = pext.enter(#[inline(always)] || pext.queen(e4, occupied));
//!     assert_eq!(found, attacks);
//! }
//! ```
//!
//! ## How to add an algorithm
//!
//! 1. Write `src/sliders/<name>.rs`: a header with the idea, a type, and `impl Sliders` for it. Tables come
//!    from [`ray_walk`] or [`crate::chess::geometry`]: a `const fn` into a `static` when small, a `LazyLock`
//!    whose reference the type holds when large.
//! 2. If it needs CPU instructions, put those into `src/simd/` as methods of a token that only `detect` can
//!    make, and pass `enter` on to the token.
//! 3. Add the module here, and one line to the list in [`for_each_algorithm`].
//! 4. `cargo test sliders` now compares it with the ray walk, and `lanefish bench sliders` times it.

pub mod bit_shuffle;
pub mod blockers_and_beyond;
pub mod classical_rays;
pub mod eight_rays;
pub mod fills;
pub mod first_rank;
pub mod hyperbola;
pub mod kindergarten;
pub mod magic;
mod magic_numbers;
pub mod obstruction;
pub mod parallel_hyperbola;
pub mod pext;
pub mod pext_emulated;
pub mod ray_walk;
pub mod relevant_squares;

use bit_shuffle::BitShuffle;
use blockers_and_beyond::BlockersAndBeyond;
use classical_rays::ClassicalRays;
use eight_rays::EightRays;
use fills::{Dumb7, KoggeStone};
use first_rank::FirstRank;
use hyperbola::{HyperbolaBitReversal, HyperbolaFormula, HyperbolaRankTable};
use kindergarten::Kindergarten;
use magic::{BlackMagic, FancyMagic, FixedShiftMagic, PlainMagic};
use obstruction::{ObstructionDifference, ObstructionDifferenceBmi2};
use parallel_hyperbola::ParallelHyperbola;
use pext::{Pext, PextCompressed};
use pext_emulated::{PextLoop, PextNetwork};
use ray_walk::RayWalk;
use relevant_squares::Slider;

use crate::chess::{Bitboard, Square, bit_scan};
use crate::simd::one_board::{Avx2Four, GfniFour};
use std::fmt::{self, Debug};

/// Whether an algorithm uses intrinsics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Instructions of certain CPUs.
    Intrinsic,
    /// Plain arithmetic that runs everywhere.
    Portable,
}

impl Kind {
    /// The kind of an algorithm that needs these CPU features: intrinsic, unless there are none.
    pub const fn of(needs: &[&str]) -> Self {
        if needs.is_empty() { Self::Portable } else { Self::Intrinsic }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Intrinsic => "intrinsic",
            Self::Portable => "portable",
        })
    }
}

/// A way to find the squares that a slider attacks.
///
/// Squares are attacked up to and including the first occupied one of each ray; whether the slider's own
/// square is in `occupied` makes no difference. Values are small and free to copy: proof that the CPU has
/// the instructions, and perhaps a reference to a table.
pub trait Sliders: Copy + Send + Sync + Debug + 'static {
    /// The name in lists and on the command line.
    const NAME: &'static str;
    /// Whether it uses instructions of certain CPUs.
    const KIND: Kind;
    /// The CPU features it needs, as `std::arch` names them.
    const NEEDS: &'static [&'static str] = &[];
    /// Size of its tables for all squares and both pieces, in bytes.
    const TABLE_BYTES: usize;

    /// The algorithm, if the CPU can run it. Builds its tables if they are not part of the program.
    fn detect() -> Option<Self>;
    /// Runs the work with the CPU features enabled; wrap whole loops, not single queries. Only what is
    /// inlined into `work` benefits.
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
    /// Squares attacked by a rook.
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard;
    /// Squares attacked by a bishop.
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard;
    /// Squares attacked by a queen.
    #[inline(always)]
    fn queen(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.rook(square, occupied) | self.bishop(square, occupied)
    }
}

/// An action for each algorithm. See [`for_each_algorithm`].
pub trait Visitor {
    /// Called once for each algorithm, whether or not this CPU can run it.
    fn visit<A: Sliders>(&mut self);
}

/// Passes all algorithms to the visitor: this is the list of them.
///
/// ```
/// use lanefish_core::sliders::{Sliders, Visitor, for_each_algorithm};
/// struct Names(Vec<&'static str>);
/// impl Visitor for Names {
///     fn visit<A: Sliders>(&mut self) {
///         self.0.push(A::NAME);
///     }
/// }
/// let mut names = Names(Vec::new());
/// for_each_algorithm(&mut names);
/// assert!(names.0.contains(&"pext"));
/// ```
pub fn for_each_algorithm(visitor: &mut impl Visitor) {
    visitor.visit::<RayWalk>();
    visitor.visit::<BlockersAndBeyond<DeBruijn>>();
    visitor.visit::<BlockersAndBeyond<Hardware>>();
    visitor.visit::<ClassicalRays<DeBruijn>>();
    visitor.visit::<ClassicalRays<Hardware>>();
    visitor.visit::<HyperbolaRankTable>();
    visitor.visit::<HyperbolaBitReversal>();
    visitor.visit::<HyperbolaFormula>();
    visitor.visit::<FirstRank>();
    visitor.visit::<Kindergarten>();
    visitor.visit::<PlainMagic>();
    visitor.visit::<FancyMagic>();
    visitor.visit::<BlackMagic>();
    visitor.visit::<FixedShiftMagic>();
    visitor.visit::<Pext>();
    visitor.visit::<PextCompressed>();
    visitor.visit::<PextLoop>();
    visitor.visit::<PextNetwork>();
    visitor.visit::<ObstructionDifference>();
    visitor.visit::<ObstructionDifferenceBmi2>();
    visitor.visit::<Dumb7>();
    visitor.visit::<KoggeStone>();
    visitor.visit::<ParallelHyperbola<Avx2Four>>();
    visitor.visit::<ParallelHyperbola<GfniFour>>();
    visitor.visit::<EightRays>();
    visitor.visit::<BitShuffle>();
}

/// The index of a square, in a form that shows the compiler that it is below 64, so that tables of 64 entries are read
/// without a bounds check.
#[inline(always)]
const fn at(square: Square) -> usize {
    square.index() & 63
}

/// A way to find the first and the last square of a set.
pub trait Scan: Copy + Send + Sync + Debug + 'static {
    /// Name of [`BlockersAndBeyond`] with it.
    const BLOCKERS_AND_BEYOND: &'static str;
    /// Name of [`ClassicalRays`] with it.
    const CLASSICAL_RAYS: &'static str;
    /// The square with the lowest number.
    fn first(set: Bitboard) -> Option<Square>;
    /// The square with the highest number.
    fn last(set: Bitboard) -> Option<Square>;
}

/// Bit scans by multiplication.
#[derive(Clone, Copy, Debug)]
pub struct DeBruijn;

/// Bit scans by the CPU.
#[derive(Clone, Copy, Debug)]
pub struct Hardware;

impl Scan for DeBruijn {
    const BLOCKERS_AND_BEYOND: &'static str = "blockers-and-beyond-de-bruijn";
    const CLASSICAL_RAYS: &'static str = "classical-rays-de-bruijn";
    #[inline(always)]
    fn first(set: Bitboard) -> Option<Square> {
        bit_scan::forward_de_bruijn(set)
    }
    #[inline(always)]
    fn last(set: Bitboard) -> Option<Square> {
        bit_scan::reverse_de_bruijn(set)
    }
}

impl Scan for Hardware {
    const BLOCKERS_AND_BEYOND: &'static str = "blockers-and-beyond";
    const CLASSICAL_RAYS: &'static str = "classical-rays";
    #[inline(always)]
    fn first(set: Bitboard) -> Option<Square> {
        set.first()
    }
    #[inline(always)]
    fn last(set: Bitboard) -> Option<Square> {
        set.last()
    }
}
