//! The kernel rows: each query in each tier, and in alternatives that no tier uses: per-piece code, and portable lanes that
//! the compiler vectorises.
//!
//! The timed work is that of a tier on a run of groups in the cache, called as the pipeline calls it. The results are
//! written as for the pipeline; what the pipeline does with them is not timed.

use super::positions::{digest, follow_up, groups_of};
use super::{BenchOptions, Candidate, Comparison, Row, Subject};
use lanefish::Error;
use lanefish::chess::{Color, Position, Role};
use lanefish::packed::Group;
use lanefish::queries::{GroupResults, Queries};
use lanefish::sliders::{Kind, Sliders, pext::Pext};
use lanefish::tiers::{self, Alternative, Analyzer, Tier};
use lanefish_core::kernels::PieceSets;
use std::cell::LazyCell;
use std::hint::black_box;

/// Number of positions queried: too many for a branch predictor to learn, and half of a typical L2 cache.
const POSITIONS: usize = 1 << 14;
/// Groups analyzed at once, so that the results stay in the L1 cache.
pub(super) const TILE: usize = 32;

/// The query on each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cli) enum Kernel {
    /// Only the piece sets of both sides, from the view of the side to move.
    Decode,
    /// The squares that each side attacks.
    AttackMaps,
    /// The pieces that give check.
    Checkers,
    /// The pinned pieces of the side to move.
    Pins,
    /// The number of legal moves.
    LegalCount,
    /// All of these, and the legal moves by kind.
    Everything,
}

impl Kernel {
    /// All of them.
    pub(in crate::cli) const ALL: [Self; 6] =
        [Self::Decode, Self::AttackMaps, Self::Checkers, Self::Pins, Self::LegalCount, Self::Everything];

    /// The name of the rows.
    pub(in crate::cli) const fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::AttackMaps => "attack_maps",
            Self::Checkers => "checkers",
            Self::Pins => "pins",
            Self::LegalCount => "legal_count",
            Self::Everything => "everything",
        }
    }

    /// The request to the analyzer.
    pub(in crate::cli) const fn queries(self) -> Queries {
        match self {
            Self::Decode => Queries::NONE,
            Self::AttackMaps => Queries::ATTACKS,
            Self::Checkers => Queries::CHECKERS,
            Self::Pins => Queries::PINNED,
            Self::LegalCount => Queries::MOVES,
            Self::Everything => Queries::ALL.without(Queries::MOBILITY).without(Queries::INVALID),
        }
    }

    /// The result of the plain rules.
    pub(super) fn expected(self, position: &Position) -> u64 {
        let attacks = || Color::ALL.map(|color| position.attacked_by(color).0);
        match self {
            Self::Decode => digest(plain_sets(position)),
            Self::AttackMaps => digest(attacks()),
            Self::Checkers => digest([position.checkers().0]),
            Self::Pins => digest([position.pinned().0]),
            Self::LegalCount => digest([position.count_legal_moves().into()]),
            Self::Everything => {
                let legal = position.legal_counts();
                let [white, black] = attacks();
                digest([
                    legal.moves.into(),
                    legal.captures.into(),
                    legal.promotions.into(),
                    legal.castles.into(),
                    legal.en_passants.into(),
                    position.checkers().0,
                    position.pinned().0,
                    white,
                    black,
                ])
            }
        }
    }

    /// The result of an analyzer.
    fn found(self, results: &GroupResults, lane: usize) -> u64 {
        let legal = results.legal(lane);
        let (white, black) = (results.attacks_white[lane], results.attacks_black[lane]);
        match self {
            Self::Decode => 0,
            Self::AttackMaps => digest([white, black]),
            Self::Checkers => digest([results.checkers[lane]]),
            Self::Pins => digest([results.pinned[lane]]),
            Self::LegalCount => digest([legal.moves.into()]),
            Self::Everything => digest([
                legal.moves.into(),
                legal.captures.into(),
                legal.promotions.into(),
                legal.castles.into(),
                legal.en_passants.into(),
                results.checkers[lane],
                results.pinned[lane],
                white,
                black,
            ]),
        }
    }
}

/// The expected result of [`Analyzer::piece_sets`].
fn plain_sets(position: &Position) -> [u64; 12] {
    let us = position.side_to_move;
    let side = |color| {
        let of = |role| position.pieces(color, role).0;
        [
            position.color(color).0,
            of(Role::Pawn),
            of(Role::Knight),
            of(Role::Bishop) | of(Role::Queen),
            of(Role::Rook) | of(Role::Queen),
            of(Role::King),
        ]
    };
    let sets: [[u64; 6]; 2] = [side(us), side(!us)];
    std::array::from_fn(|i| match us {
        Color::White => sets[i / 6][i % 6],
        Color::Black => sets[i / 6][i % 6].swap_bytes(),
    })
}

/// Verifies and times all kernels in all tiers, then in the code of [`tiers::alternatives`], and passes the rows to
/// `show`. Uses the first 16,384 positions; if there are fewer, each is followed by random moves.
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
pub(in crate::cli) fn measure_kernels(
    options: &BenchOptions,
    positions: &[Position],
    show: &mut dyn FnMut(Row),
) -> Result<(), Error> {
    let (positions, groups) = groups_of(&follow_up(positions, POSITIONS));
    let alternatives = tiers::alternatives();
    for kernel in Kernel::ALL {
        let expected = LazyCell::new(|| -> Vec<u64> { positions.iter().map(|one| kernel.expected(one)).collect() });
        let mut comparison = Comparison::new(options);
        for tier in Tier::all() {
            let algorithm = match tier.name() {
                "bmi2" => Pext::NAME,
                _ => "lanes",
            };
            let needs = match tier.analyzer() {
                Some(analyzer) => analyzer.features(),
                None => tier.needs(),
            };
            let row = row(kernel, Some(tier), algorithm, Kind::of(needs), needs);
            comparison.add(row, || match kernel {
                Kernel::Decode => Some(decoding(tier.analyzer()?, &groups, &expected)),
                _ => Some(analyzing(tier.analyzer()?, kernel, &groups, &expected)),
            });
        }
        if kernel != Kernel::Decode {
            let others = alternatives.iter().filter(|other| !other.counts_only || kernel == Kernel::LegalCount);
            for alternative in others {
                let Alternative { name, kind, needs, .. } = *alternative;
                comparison.add(row(kernel, None, name, kind, needs), || {
                    let analyzer = alternative.analyzer.as_deref()?;
                    Some(analyzing(analyzer, kernel, &groups, &expected))
                });
            }
        }
        comparison.finish(show)?;
    }
    Ok(())
}

fn row(kernel: Kernel, tier: Option<Tier>, algorithm: &'static str, kind: Kind, needs: &'static [&'static str]) -> Row {
    Row {
        group: "kernels",
        name: kernel.name(),
        kind,
        needs,
        subject: Subject::Kernel { tier, algorithm },
        measured: None,
    }
}

/// Passes of an analyzer over the groups.
pub(super) fn analyzing<'a>(
    analyzer: &'a dyn Analyzer,
    kernel: Kernel,
    groups: &'a [Group],
    expected: &[u64],
) -> Candidate<'a> {
    let requested = kernel.queries();
    let mut results = vec![GroupResults::default(); groups.len()];
    analyzer.analyze(groups, requested, &mut results);
    let lanes = |results| (0..Group::LEN).map(move |lane| kernel.found(results, lane));
    let found = results.iter().flat_map(lanes);
    candidate(groups, expected, found.collect(), move |groups| {
        analyze(analyzer, requested, groups);
        0
    })
}

/// Analyzes the groups as the pipeline does, and drops the results.
pub(super) fn analyze(analyzer: &dyn Analyzer, requested: Queries, groups: &[Group]) {
    let mut results = [GroupResults::default(); TILE];
    for groups in groups.chunks(TILE) {
        analyzer.analyze(groups, requested, &mut results);
        black_box(&mut results);
    }
}

fn decoding<'a>(analyzer: &'static dyn Analyzer, groups: &'a [Group], expected: &[u64]) -> Candidate<'a> {
    let mut sets = vec![PieceSets::default(); groups.len()];
    analyzer.piece_sets(groups, &mut sets);
    let lanes = |PieceSets(sets): &PieceSets| {
        let sets = *sets;
        (0..Group::LEN).map(move |lane| digest(sets.map(|set| set[lane])))
    };
    let found = sets.iter().flat_map(lanes);
    candidate(groups, expected, found.collect(), move |groups| {
        let mut sets = [PieceSets::default(); TILE];
        for groups in groups.chunks(TILE) {
            analyzer.piece_sets(groups, &mut sets);
            black_box(&mut sets);
        }
        0
    })
}

fn candidate<'a>(
    groups: &'a [Group],
    expected: &[u64],
    found: Vec<u64>,
    pass: impl Fn(&[Group]) -> u64 + Sync + 'a,
) -> Candidate<'a> {
    let verified = found == expected;
    let checksum = found.into_iter().fold(0, u64::wrapping_add);
    Candidate::passes(groups, Group::LEN, verified, checksum, pass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::time::Duration;

    #[test]
    fn rows_are_verified_and_agree() {
        let options = BenchOptions { time: Duration::ZERO, ..BenchOptions::default() };
        let mut rows = Vec::new();
        measure_kernels(&options, &[], &mut |row| rows.push(row)).unwrap();
        let others = tiers::alternatives();
        let counts_only = others.iter().filter(|other| other.counts_only).count();
        assert_eq!(rows.len(), 4 + 5 * (4 + others.len() - counts_only) + counts_only);
        let mut checksums = HashMap::new();
        for row in &rows {
            let Some(measured) = row.measured else {
                assert!(!row.needs.is_empty(), "{} runs everywhere", row.title());
                continue;
            };
            assert!(measured.verified, "{}", row.title());
            let expected = checksums.entry(row.query()).or_insert(measured.checksum);
            assert_eq!(measured.checksum, *expected, "{}", row.title());
            assert!(row.ratio_to_portable(&rows).unwrap() > 0.0);
        }
    }
}
