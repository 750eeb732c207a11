//! The tiers: which implementation runs on this CPU, behind one seam.
//!
//! Everything above this module asks an [`Analyzer`] about whole runs of groups and never knows which
//! instructions answer. The answer is the same, bit for bit, whichever it is.

mod per_piece;
mod set_wise;

use crate::block::Group;
use crate::kernels::{self, Census, VerticalCounters};
use crate::simd;
use crate::sliders;
use per_piece::PerPiece;
use set_wise::SetWise;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// A family of implementations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// No intrinsics; runs everywhere.
    Portable,
    /// One position at a time, slider attacks by PEXT.
    Bmi2,
    /// Four boards at once.
    Avx2,
    /// Eight boards at once.
    Avx512,
}

impl Tier {
    /// All tiers, the plainest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Bmi2, Self::Avx2, Self::Avx512];

    /// The name used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Bmi2 => "bmi2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
    /// The best tier of this CPU: the widest one that it can run, `bmi2` only where PEXT is fast.
    pub fn best() -> Self {
        Self::ALL
            .into_iter()
            .rev()
            .filter(|&tier| tier != Self::Bmi2 || !crate::cpu::pext_is_microcoded())
            .find(|tier| tier.is_available())
            .unwrap_or(Self::Portable)
    }
    /// The implementation, or `None` where the CPU lacks what it needs.
    pub fn analyzer(self) -> Option<&'static dyn Analyzer> {
        /// Detects once and keeps what was found.
        macro_rules! found {
            ($make:expr) => {{
                static FOUND: OnceLock<Option<Box<dyn Analyzer>>> = OnceLock::new();
                FOUND.get_or_init(|| $make).as_deref()
            }};
        }
        fn boxed<A: Analyzer + 'static>(analyzer: A) -> Box<dyn Analyzer> {
            Box::new(analyzer)
        }
        match self {
            Self::Portable => found!(SetWise::<simd::Scalar>::detect(self).map(boxed)),
            Self::Bmi2 => found!(PerPiece::<sliders::Pext>::detect(self).map(boxed)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => found!(SetWise::<simd::Avx2>::detect(self).map(boxed)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => found!(
                SetWise::<simd::Avx512Vpopcnt>::detect(self)
                    .map(boxed)
                    .or_else(|| SetWise::<simd::Avx512>::detect(self).map(boxed))
            ),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => None,
        }
    }
    /// The CPU features it needs, as `std::arch` names them. [`Analyzer::features`] may be more, where the CPU
    /// has what makes it faster.
    pub const fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Portable => &[],
            Self::Bmi2 => simd::bmi2::Bmi2::FEATURES,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => <simd::Avx2 as simd::Simd>::FEATURES,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => <simd::Avx512 as simd::Simd>::FEATURES,
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 => &["avx2"],
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 => &["avx512f"],
        }
    }
    /// Whether the CPU can run it.
    pub fn is_available(self) -> bool {
        self.analyzer().is_some()
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Not the name of a tier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tier `{0}`: expected portable, bmi2, avx2 or avx512")]
pub struct UnknownTier(String);

impl FromStr for Tier {
    type Err = UnknownTier;
    fn from_str(name: &str) -> Result<Self, UnknownTier> {
        Self::ALL
            .into_iter()
            .find(|tier| tier.name() == name)
            .ok_or_else(|| UnknownTier(name.to_owned()))
    }
}

/// Which questions to answer; the rest of a [`GroupResults`] is unspecified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// [`GroupResults::counts`], moves only: the kinds may be left zero.
    pub moves: bool,
    /// [`GroupResults::counts`] with captures, promotions, castles and en passants.
    pub kinds: bool,
    /// [`GroupResults::checkers`].
    pub checkers: bool,
    /// [`GroupResults::pinned`].
    pub pinned: bool,
    /// [`GroupResults::attacks_white`] and [`GroupResults::attacks_black`].
    pub attacks: bool,
    /// [`GroupResults::mobility`].
    pub mobility: bool,
    /// [`GroupResults::unplayable`].
    pub unplayable: bool,
}

impl Wanted {
    /// Nothing.
    pub const NOTHING: Self = Self {
        moves: false,
        kinds: false,
        checkers: false,
        pinned: false,
        attacks: false,
        mobility: false,
        unplayable: false,
    };
    /// All of it.
    pub const ALL: Self = Self {
        moves: true,
        kinds: true,
        checkers: true,
        pinned: true,
        attacks: true,
        mobility: true,
        unplayable: true,
    };
}

/// The answers for the eight boards of a [`Group`], lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C, align(64))]
pub struct GroupResults {
    /// Numbers of legal moves: bits 0-15 all, 16-31 captures, 32-47 promotions, 48-55 castles,
    /// 56-63 en passants. See [`GroupResults::legal`].
    pub counts: [u64; 8],
    /// Enemy pieces that give check to the side to move.
    pub checkers: [u64; 8],
    /// Pieces of the side to move that are absolutely pinned to their king.
    pub pinned: [u64; 8],
    /// Squares that White attacks.
    pub attacks_white: [u64; 8],
    /// Squares that Black attacks.
    pub attacks_black: [u64; 8],
    /// Mobility: bits 0-15 White's, 16-31 Black's.
    pub mobility: [u64; 8],
    /// Not zero where the board breaks a rule of [`crate::chess::validity`]'s playable level, or does not
    /// decode; [`crate::block::Packed::unpack`] and that module then say what is wrong.
    pub unplayable: [u64; 8],
}

/// Numbers of legal moves of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Legal {
    /// All legal moves; each promotion piece counts.
    pub moves: u16,
    /// Of those, captures, en passant among them.
    pub captures: u16,
    /// Of those, promotions.
    pub promotions: u16,
    /// Of those, castlings.
    pub castles: u8,
    /// Of those, en passant captures.
    pub en_passants: u8,
}

impl GroupResults {
    /// The move counts of a lane.
    ///
    /// # Panics
    /// When `lane` is not below 8.
    #[inline(always)]
    pub fn legal(&self, lane: usize) -> Legal {
        let counts = self.counts[lane];
        Legal {
            moves: counts as u16,
            captures: (counts >> 16) as u16,
            promotions: (counts >> 32) as u16,
            castles: (counts >> 48) as u8,
            en_passants: (counts >> 56) as u8,
        }
    }
}

/// An implementation that a tier could use but does not. See [`rivals`].
#[derive(Debug)]
pub struct Rival {
    /// The slider algorithm of its per-piece code.
    pub name: &'static str,
    /// The CPU features it needs, as `std::arch` names them.
    pub needs: &'static [&'static str],
    /// The implementation, where the CPU can run it.
    pub analyzer: Option<Box<dyn Analyzer>>,
}

/// Per-piece code on other slider algorithms, for measuring whether the tiers have chosen well.
pub fn rivals() -> [Rival; 4] {
    fn per_piece<A: sliders::Sliders>() -> Rival {
        let boxed = |analyzer| -> Box<dyn Analyzer> { Box::new(analyzer) };
        Rival {
            name: A::NAME,
            needs: A::NEEDS,
            analyzer: PerPiece::<A>::detect(Tier::Portable).map(boxed),
        }
    }
    [
        per_piece::<sliders::PextCompressed>(),
        per_piece::<sliders::FancyMagic>(),
        per_piece::<sliders::HyperbolaRankTable>(),
        per_piece::<sliders::ObstructionDifference>(),
    ]
}

/// An implementation of all kernels.
///
/// Exact for every board that decodes and has one king a side, however unreachable, with no pawn on the
/// first or last rank. For other boards the answers are unspecified (but nothing panics).
pub trait Analyzer: fmt::Debug + Send + Sync {
    /// Which tier this is.
    fn tier(&self) -> Tier;
    /// Answers the wanted questions about each group.
    ///
    /// # Panics
    /// When `results` is shorter than `groups`.
    fn analyze(&self, groups: &[Group], wanted: Wanted, results: &mut [GroupResults]);
    /// Takes the census of each board.
    ///
    /// # Panics
    /// When `census` is shorter than `groups`.
    fn census(&self, groups: &[Group], census: &mut [Census]) {
        let census = &mut census[..groups.len()];
        for (group, out) in groups.iter().zip(census) {
            for lane in 0..Group::LEN {
                kernels::census(simd::Scalar, group, lane, out);
            }
        }
    }
    /// Adds all boards and the attack maps in their results to the counters. Lanes that do not count must be
    /// empty boards without attacks.
    ///
    /// # Panics
    /// When `results` is shorter than `groups`, or there are more groups than [`VerticalCounters::room`].
    fn count_squares(
        &self,
        groups: &[Group],
        results: &[GroupResults],
        counters: &mut VerticalCounters,
    ) {
        for (groups, results) in groups.chunks(16).zip(results.chunks(16)) {
            kernels::count_squares(simd::Scalar, groups, results, counters);
        }
    }
    /// The CPU features it uses, by name.
    fn features(&self) -> &'static [&'static str];
}
