//! The tiers: implementations of the kernels, of which one is chosen for this CPU.
//!
//! All code above this module calls an [`Analyzer`] on whole runs of groups, and does not depend on the instructions
//! that it uses. The results are identical, bit for bit, for all of them.
//!
//! Reading and writing text does not use an analyzer, but the best instructions of the CPU. [`Tier::restrict_process`]
//! restricts everything to a tier, as `lanefish --tier` does.

#[cfg(target_arch = "x86_64")]
mod counts_only;
mod per_piece;
mod set_wise;

use crate::ParseError;
use crate::kernels::{self, BoardCounts, EventCounters, Keys, MoveLists, PieceSets, Replies, SquareCounters};
use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::simd::{self, Simd};
use crate::sliders::{self, Kind};
#[cfg(target_arch = "x86_64")]
use counts_only::CountsOnly;
use per_piece::PerPiece;
use set_wise::SetWise;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::OnceLock;

/// A family of implementations: an entry of one table, plainest first. To add one, add its row.
#[derive(Clone, Copy)]
pub struct Tier(&'static Entry);

/// A row of the table.
struct Entry {
    name: &'static str,
    /// The CPU features without which it cannot run, as `std::arch` names them.
    needs: &'static [&'static str],
    /// The CPU features that each of its implementations uses.
    uses: &'static [&'static [&'static str]],
    /// The reason why it is the best on a CPU.
    why: &'static str,
    /// Whether it is a good choice if it runs.
    is_advisable: fn() -> bool,
    /// The implementations of the tier that the CPU can run, the best first, detected at the first call.
    implementations: fn(Tier) -> &'static [Box<dyn Analyzer>],
}

/// A row of the table: the name, the reason, when to choose it, and its analyzers, the best first.
macro_rules! tier {
    ($name:literal, $why:literal, $is_advisable:expr, $($analyzer:ty),+; $least:ty) => {
        Entry {
            name: $name,
            needs: <$least>::FEATURES,
            uses: &[$(<$analyzer>::FEATURES),+],
            why: $why,
            is_advisable: $is_advisable,
            implementations: |tier| {
                static DETECTED: OnceLock<Vec<Box<dyn Analyzer>>> = OnceLock::new();
                DETECTED.get_or_init(|| {
                    let mut detected: Vec<Box<dyn Analyzer>> = Vec::new();
                    $(
                        if let Some(analyzer) = <$analyzer>::detect(tier) {
                            detected.push(Box::new(analyzer));
                        }
                    )+
                    detected
                })
            },
        }
    };
}

/// The number of rows.
const COUNT: usize = if cfg!(target_arch = "x86_64") { 4 } else { 2 };

/// The table. It is not a reference: what a constant refers to is compiled again in each crate that uses the constant,
/// here all kernels, but a static exists once.
static TIERS: [Entry; COUNT] = [
    tier!(
        "portable",
        "the CPU has no instruction set that a faster tier needs",
        || true,
        SetWise<simd::Scalar>; simd::Scalar
    ),
    tier!(
        "bmi2",
        "the CPU has a fast PEXT but no AVX2",
        || !crate::cpu::pext_is_microcoded(),
        PerPiece<sliders::pext::Pext>; simd::bmi2::Bmi2
    ),
    #[cfg(target_arch = "x86_64")]
    tier!(
        "avx2",
        "the CPU has AVX2 but not all of AVX-512 F, BW, CD, DQ and VL: four boards at once",
        || true,
        SetWise<simd::Avx2Gfni>, SetWise<simd::Avx2>; simd::Avx2
    ),
    #[cfg(target_arch = "x86_64")]
    tier!(
        "avx512",
        "the CPU has AVX-512 F, BW, CD, DQ and VL: eight boards at once",
        || true,
        SetWise<simd::Avx512Gfni>, SetWise<simd::Avx512>; simd::Avx512
    ),
];

/// The analyzer of the best tier of this CPU, which nearly all programs want.
///
/// ```
/// use lanefish_core::tiers::{self, Tier};
/// assert_eq!(tiers::best().tier(), Tier::best());
/// ```
///
/// # Panics
/// Never: every CPU can run the portable tier.
pub fn best() -> &'static dyn Analyzer {
    Tier::best().analyzer().expect("every CPU runs the portable tier")
}

impl Tier {
    /// No intrinsics; runs everywhere.
    pub const PORTABLE: Self = Self(&TIERS[0]);

    /// All tiers, the plainest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        TIERS.iter().map(Self)
    }
    /// The tiers that this CPU can run, the plainest first.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> + Clone {
        Self::all().filter(|tier| tier.is_available())
    }
    /// The name used on the command line.
    pub const fn name(self) -> &'static str {
        self.0.name
    }
    /// The best tier of this CPU: the widest one that it can run, `bmi2` only if PEXT is fast.
    pub fn best() -> Self {
        let mut available = Self::available().rev();
        available.find(|tier| (tier.0.is_advisable)()).unwrap_or(Self::PORTABLE)
    }
    /// The implementation, or `None` if the CPU lacks what it needs.
    pub fn analyzer(self) -> Option<&'static dyn Analyzer> {
        self.implementations().next()
    }
    /// All implementations that the CPU can run, the best first: [`Tier::analyzer`], then those for CPUs that lack
    /// some of its features.
    pub fn implementations(self) -> impl Iterator<Item = &'static dyn Analyzer> {
        (self.0.implementations)(self).iter().map(Box::as_ref)
    }
    /// The CPU features it needs, as `std::arch` names them. [`Analyzer::features`] may be more, if the CPU
    /// has what makes it faster.
    pub const fn needs(self) -> &'static [&'static str] {
        self.0.needs
    }
    /// The reason why this is the best tier of a CPU, as part of a sentence.
    pub const fn why(self) -> &'static str {
        self.0.why
    }
    /// Whether the CPU can run it.
    pub fn is_available(self) -> bool {
        self.analyzer().is_some()
    }
    /// Disables the CPU features that this tier does not use, for the whole process: also for the reading of FEN and
    /// PGN, for output and for perft, none of which depends on the analyzer of a run. This tier and those before it
    /// remain [available](Self::available), if the CPU can run them. Results are the same; this is for comparisons and
    /// for defective CPUs.
    ///
    /// Call it first: what was detected stays in use. Other crates detect features on their own (memory searches and
    /// compression, mainly) and are not restricted.
    ///
    /// ```
    /// use lanefish_core::tiers::Tier;
    /// Tier::PORTABLE.restrict_process()?;
    /// assert_eq!(Tier::best(), Tier::PORTABLE);
    /// # Ok::<(), lanefish_core::tiers::FeaturesInUse>(())
    /// ```
    ///
    /// # Errors
    /// If other features may be in use already.
    pub fn restrict_process(self) -> Result<(), FeaturesInUse> {
        let uses = self.0.uses.iter().fold(0, |bits, features| bits | crate::cpu::bits(features));
        if crate::cpu::enable_only(uses) { Ok(()) } else { Err(FeaturesInUse(self)) }
    }
}

/// [`Tier::restrict_process`] was called too late.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "CPU features that the tier `{0}` does not use may be in use already; restrict the process before anything else"
)]
pub struct FeaturesInUse(Tier);

impl PartialEq for Tier {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Tier {}

impl Hash for Tier {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.name().hash(hasher);
    }
}

impl fmt::Debug for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Tier {
    type Err = ParseError;
    fn from_str(name: &str) -> Result<Self, ParseError> {
        Self::all().find(|tier| tier.name() == name).ok_or_else(|| {
            let known = Self::all().map(Self::name).collect::<Vec<_>>().join(", ");
            ParseError::new(format!("unknown tier `{name}`: expected one of {known}"))
        })
    }
}

/// An implementation that a tier could use but does not. See [`alternatives`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Alternative {
    /// The slider algorithm of its per-piece code, or the kind of its lanes.
    pub name: &'static str,
    /// Whether it uses intrinsics.
    pub kind: Kind,
    /// The CPU features it needs, as `std::arch` names them.
    pub needs: &'static [&'static str],
    /// Whether it counts legal moves, and nothing else.
    pub counts_only: bool,
    /// The implementation, if the CPU can run it.
    pub analyzer: Option<Box<dyn Analyzer>>,
}

/// Per-piece code with other slider algorithms, and lanes that the compiler vectorises by itself. They are for
/// measuring whether the tiers use the best ones.
pub fn alternatives() -> Vec<Alternative> {
    fn boxed(analyzer: impl Analyzer + 'static) -> Box<dyn Analyzer> {
        Box::new(analyzer)
    }
    fn per_piece<A: sliders::Sliders>() -> Alternative {
        Alternative {
            name: A::NAME,
            kind: A::KIND,
            needs: A::NEEDS,
            counts_only: false,
            analyzer: PerPiece::<A>::detect(Tier::PORTABLE).map(boxed),
        }
    }
    #[cfg(target_arch = "x86_64")]
    fn vectorised<S: Simd>(name: &'static str) -> Alternative {
        Alternative {
            name,
            kind: Kind::Portable,
            needs: S::FEATURES,
            counts_only: true,
            analyzer: CountsOnly::<S>::detect(Tier::PORTABLE).map(boxed),
        }
    }
    vec![
        per_piece::<sliders::pext::PextCompressed>(),
        per_piece::<sliders::magic::FancyMagic>(),
        per_piece::<sliders::hyperbola::HyperbolaRankTable>(),
        per_piece::<sliders::obstruction::ObstructionDifference>(),
        #[cfg(target_arch = "x86_64")]
        vectorised::<simd::Avx2Words>("auto-vectorised-avx2"),
        #[cfg(target_arch = "x86_64")]
        vectorised::<simd::Avx512Words>("auto-vectorised-avx512"),
    ]
}

/// An implementation of all kernels.
///
/// Exact for every board that decodes and has one king per side, however unreachable, with no pawn on the
/// first or last rank. For other boards the results are unspecified (but nothing panics).
pub trait Analyzer: fmt::Debug + Send + Sync {
    /// Which tier this is.
    fn tier(&self) -> Tier;
    /// Computes the requested results of each group; the others are left unspecified.
    ///
    /// # Panics
    /// If `results` is shorter than `groups`.
    fn analyze(&self, groups: &[Group], queries: Queries, results: &mut [GroupResults]);
    /// Finds the piece sets of each board, as the kernels see them.
    ///
    /// # Panics
    /// If `sets` is shorter than `groups`.
    fn piece_sets(&self, groups: &[Group], sets: &mut [PieceSets]) {
        kernels::piece_sets(simd::Scalar, groups, &mut sets[..groups.len()]);
    }
    /// Finds the squares of each board whose pieces may move without changing the number of replies, and the threats to
    /// the side to move: see [`replies`](kernels::replies()). Boards must be playable.
    ///
    /// # Panics
    /// If `replies` is shorter than `groups`.
    fn replies(&self, groups: &[Group], replies: &mut [Replies]) {
        kernels::replies(simd::Scalar, groups, &mut replies[..groups.len()]);
    }
    /// Appends a list for each board: its legal moves in the order of from, to and promotion, if its bit in `mask` is
    /// set, and else an empty one.
    ///
    /// # Panics
    /// If `mask` has fewer bits than there are boards, or the lists have more than 2^32 moves.
    fn list_moves(&self, groups: &[Group], mask: &[u64], lists: &mut MoveLists) {
        kernels::legal_move_lists(simd::Scalar, groups, mask, lists);
    }
    /// Counts the pieces and the material, and reads the state, of each board; checks and moves are those of its
    /// results, which must have [`Queries::MOVES`] and [`Queries::CHECKERS`].
    ///
    /// # Panics
    /// If `results` or `board_counts` is shorter than `groups`.
    fn board_counts(&self, groups: &[Group], results: &[GroupResults], board_counts: &mut [BoardCounts]) {
        kernels::board_counts(simd::Scalar, groups, results, board_counts);
    }
    /// Finds the index of the signature of the material of each board, or
    /// [`NO_SIGNATURE`](kernels::NO_SIGNATURE).
    ///
    /// # Panics
    /// If `signatures` is shorter than `groups`.
    fn signatures(&self, groups: &[Group], signatures: &mut [[u64; Group::LEN]]) {
        kernels::signatures(simd::Scalar, groups, signatures);
    }
    /// Finds the keys of all boards, and which of them are candidates: see [`keys`](kernels::keys()).
    ///
    /// # Panics
    /// If `results` or `keys` is shorter than `groups`.
    fn keys(&self, groups: &[Group], results: &[GroupResults], excluded: &[u64; 4], keys: &mut [Keys]) {
        kernels::keys(simd::Scalar, groups, results, excluded, keys);
    }
    /// Adds all boards and the attack maps in their results to the counters. Masked lanes must be
    /// empty boards without attacks.
    ///
    /// # Panics
    /// If `results` is shorter than `groups`, or there are more groups than the counters have
    /// [room](kernels::VerticalCounters::room).
    fn count_squares(&self, groups: &[Group], results: &[GroupResults], counters: &mut SquareCounters) {
        kernels::count_squares(simd::Scalar, groups, results, counters);
    }
    /// Adds checkers, castling rooks and en passant squares on which a capture is legal to the counters. Masked
    /// lanes must be empty boards without checkers. The results must have [`Queries::KINDS`] and
    /// [`Queries::CHECKERS`].
    ///
    /// # Panics
    /// As for [`Self::count_squares`].
    fn count_events(&self, groups: &[Group], results: &[GroupResults], counters: &mut EventCounters) {
        kernels::count_events(simd::Scalar, groups, results, counters);
    }
    /// The CPU features it uses, by name.
    fn features(&self) -> &'static [&'static str];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tier_may_use_later_ones_may_use() {
        let uses = |entry: &Entry| entry.uses.iter().fold(0, |bits, features| bits | crate::cpu::bits(features));
        let needs = |entry: &Entry| crate::cpu::bits(entry.needs);
        for pair in TIERS.windows(2) {
            let [before, after] = [&pair[0], &pair[1]];
            assert_eq!(uses(before) & !uses(after), 0, "{} {}", before.name, after.name);
            assert_eq!(needs(before) & !needs(after), 0, "{} {}", before.name, after.name);
        }
        for entry in &TIERS {
            assert_eq!(needs(entry) & !uses(entry), 0, "{}", entry.name);
        }
    }

    #[test]
    fn features_in_use_are_not_disabled() {
        let available = || Tier::available().map(Tier::name).collect::<Vec<_>>();
        let before = available();
        let enabled = crate::cpu::features().iter().any(|feature| feature.enabled);
        assert_eq!(
            Tier::PORTABLE.restrict_process(),
            if enabled { Err(FeaturesInUse(Tier::PORTABLE)) } else { Ok(()) }
        );
        assert_eq!(available(), before);
    }
}
