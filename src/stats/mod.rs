//! Dataset statistics: mergeable aggregates, integers only.
//!
//! Everything is counted in integers and divided only for display, so the results are the same to the last bit
//! whatever the order of the tiles, the number of threads and the tier.
//!
//! The work per position is arranged so that the hot loop does very little. The lanes put all small numbers of a
//! position into one word, the [board counts](BoardCounts); the loop increments one counter in each of three joint
//! tables, whose indices are parts of that word. Whatever can be derived from the tables afterwards (histograms,
//! checks, mates, sides, castling) is not counted separately, and the number of attacked squares is the total
//! of a heat map. The heat maps themselves are counted
//! *vertically*: see [`VerticalCounters`](crate::kernels::VerticalCounters).

mod flags;
mod heat;
mod joint;
#[cfg(feature = "json")]
mod json;
mod tally;
#[cfg(test)]
mod tests;

use heat::Heat;
pub use heat::HeatMaps;
pub use tally::Distribution;

use crate::block::Group;
use crate::chess::Color;
use crate::kernels::BoardCounts;
use crate::queries::{GroupResults, Queries};
use crate::table::{Array, Batch, Field, Values};
use crate::tiers::Analyzer;
use flags::Flags;
use joint::Joint;

/// Statistics of any number of positions.
///
/// ```
/// use lanefish::stats::Stats;
/// let mut all = Stats::new();
/// all.merge(&Stats::new());
/// assert_eq!(all.positions(), 0);
/// assert_eq!(all.legal_moves().mean, None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stats {
    positions: u64,
    rejected: u64,
    joint: Joint,
    captures: u64,
    promotions: u64,
    castles: u64,
    en_passants: u64,
    can_capture_en_passant: u64,
    heat: Box<Heat>,
    results: [u64; 3],
    scores: Option<Box<Scores>>,
    mates: Mates,
}

/// Number of records with a mate, by the mating side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mates {
    /// White mates or has mated.
    pub white: u64,
    /// Black mates or has mated.
    pub black: u64,
}

/// Every possible value of an `i16`.
#[derive(Clone, Debug)]
struct Scores {
    counts: Vec<u64>,
}

impl Scores {
    const LEN: usize = 1 << 16;
    const ZERO: usize = 1 << 15;

    fn index(score: i16) -> usize {
        (Self::ZERO as i32 + i32::from(score)) as usize
    }
}

impl Default for Scores {
    fn default() -> Self {
        Self {
            counts: vec![0; Self::LEN],
        }
    }
}

/// Number of positions with each castling right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Castling {
    /// No castling rights.
    pub none: u64,
    /// At least one castling right.
    pub some: u64,
    /// White may castle on the king side (towards the h-file).
    pub white_king: u64,
    /// White may castle on the queen side.
    pub white_queen: u64,
    /// Black may castle on the king side.
    pub black_king: u64,
    /// Black may castle on the queen side.
    pub black_queen: u64,
}

/// Number of records with each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Results {
    /// White won.
    pub white: u64,
    /// Drawn.
    pub draw: u64,
    /// Black won.
    pub black: u64,
    /// The record has no result.
    pub unknown: u64,
}

impl Stats {
    /// The results that the statistics request from an analyzer.
    pub const QUERIES: Queries = Queries::KINDS
        .union(Queries::CHECKERS)
        .union(Queries::ATTACKS);

    /// Groups after which the packed sums of a tile are unpacked: their narrowest field has 8 bits and grows by at
    /// most two per position, separately in each of eight lanes.
    const RUN: usize = 64;

    /// Statistics of no positions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the positions whose bit is set in the mask, with their results for [`Self::QUERIES`]. The mask has a bit for
    /// each lane of each group.
    ///
    /// # Panics
    /// If there are fewer results than groups, or fewer bits than lanes.
    pub fn add_tile(
        &mut self,
        analyzer: &dyn Analyzer,
        groups: &[Group],
        results: &[GroupResults],
        mask: &[u64],
    ) {
        let lanes = |group: usize| (mask[group / 8] >> (group % 8 * 8)) as u8;
        let mut start = 0;
        while start < groups.len() {
            let rest = start..groups.len();
            let whole = rest.take_while(|&group| lanes(group) == 0xFF).count();
            let end = start + whole;
            self.add_groups(analyzer, &groups[start..end], &results[start..end], 0xFF);
            start = end;
            if start < groups.len() {
                let counted = lanes(start);
                // The other lanes may have any content.
                let (mut group, mut results) = (groups[start], results[start]);
                for lane in (0..Group::LEN).filter(|lane| counted >> lane & 1 == 0) {
                    group.set(lane, Default::default());
                    results.attacks_white[lane] = 0;
                    results.attacks_black[lane] = 0;
                }
                self.add_groups(analyzer, &[group], &[results], counted);
                start += 1;
            }
        }
    }

    /// Adds these lanes of each group; the others must be empty boards without attacks.
    fn add_groups(
        &mut self,
        analyzer: &dyn Analyzer,
        groups: &[Group],
        results: &[GroupResults],
        lanes: u8,
    ) {
        let mut board_counts = [BoardCounts::default(); Self::RUN];
        for (groups, results) in groups.chunks(Self::RUN).zip(results.chunks(Self::RUN)) {
            analyzer.board_counts(groups, results, &mut board_counts);
            let mut kinds = [0u64; Group::LEN];
            for (board_counts, results) in board_counts.iter().zip(results) {
                let counts = &results.counts;
                let mut any = 0;
                if lanes == 0xFF {
                    for (sum, &counts) in kinds.iter_mut().zip(counts) {
                        *sum += counts;
                        any |= counts;
                    }
                } else {
                    for lane in (0..Group::LEN).filter(|lane| lanes >> lane & 1 != 0) {
                        kinds[lane] += counts[lane];
                        any |= counts[lane];
                    }
                }
                if any >> 56 != 0 {
                    self.add_en_passants(counts, lanes);
                }
                self.joint.add_group(board_counts, counts, lanes);
            }
            for sums in kinds {
                self.add_kinds(sums);
            }
        }
        self.heat.add(analyzer, groups, results);
        self.positions += groups.len() as u64 * u64::from(lanes.count_ones());
    }

    /// Counts positions in which an en passant capture is legal.
    #[cold]
    fn add_en_passants(&mut self, counts: &[u64; Group::LEN], lanes: u8) {
        let can = |&lane: &usize| lanes >> lane & 1 != 0 && counts[lane] >> 56 != 0;
        self.can_capture_en_passant += (0..Group::LEN).filter(can).count() as u64;
    }

    fn add_kinds(&mut self, counts: u64) {
        self.captures += counts >> 16 & 0xFFFF;
        self.promotions += counts >> 32 & 0xFFFF;
        self.castles += counts >> 48 & 0xFF;
        self.en_passants += counts >> 56;
    }

    /// Adds the results, scores and mates of the rows of a batch, from `start` on, whose bit is set in the mask.
    ///
    /// # Panics
    /// If `start` is not a multiple of 64, or the batch has fewer rows than there are bits set.
    pub fn add_fields(&mut self, batch: &Batch, start: usize, mask: &[u64]) {
        assert!(start.is_multiple_of(64), "rows begin at a word");
        if let Some(Array::U8(column)) = batch.values(Field::Result) {
            for (values, present, mask) in words(column, start, mask) {
                let mut counts = [0u8; 3];
                if mask == !0 {
                    // Rows without a result have the value 0.
                    for &result in values {
                        for (number, count) in (0..).zip(&mut counts) {
                            *count += u8::from(result == number);
                        }
                    }
                    counts[0] -= present.count_zeros() as u8;
                } else {
                    let known = bits(present & mask).map(|row| usize::from(values[row]));
                    known.for_each(|result| {
                        if let Some(count) = counts.get_mut(result) {
                            *count += 1;
                        }
                    });
                }
                for (sum, count) in self.results.iter_mut().zip(counts) {
                    *sum += u64::from(count);
                }
            }
        }
        if let Some(Array::I16(column)) = batch.values(Field::Score) {
            let scores = &mut self.scores.get_or_insert_default().counts;
            for (values, present, mask) in words(column, start, mask) {
                if present & mask == !0 {
                    for &score in values {
                        scores[Scores::index(score)] += 1;
                    }
                } else {
                    bits(present & mask).for_each(|row| scores[Scores::index(values[row])] += 1);
                }
            }
        }
        if let Some(Array::I16(column)) = batch.values(Field::Mate) {
            for (word, (values, present, mask)) in words(column, start, mask).enumerate() {
                for row in bits(present & mask) {
                    // Mate in zero moves: the side to move is mated.
                    let by_white = match values[row] {
                        0 => batch.board(start + 64 * word + row).side_to_move() == Color::Black,
                        moves => moves > 0,
                    };
                    self.mates.white += u64::from(by_white);
                    self.mates.black += u64::from(!by_white);
                }
            }
        }
    }

    /// Adds to the number of rejected records.
    pub fn add_rejected(&mut self, records: u64) {
        self.rejected += records;
    }

    /// Adds the counts of other statistics.
    pub fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.rejected += other.rejected;
        self.joint.merge(&other.joint);
        self.captures += other.captures;
        self.promotions += other.promotions;
        self.castles += other.castles;
        self.en_passants += other.en_passants;
        self.can_capture_en_passant += other.can_capture_en_passant;
        self.heat.merge(&other.heat);
        for (ours, theirs) in self.results.iter_mut().zip(other.results) {
            *ours += theirs;
        }
        if let Some(theirs) = &other.scores {
            let ours = self.scores.get_or_insert_default();
            for (ours, theirs) in ours.counts.iter_mut().zip(&theirs.counts) {
                *ours += theirs;
            }
        }
        self.mates.white += other.mates.white;
        self.mates.black += other.mates.black;
    }

    /// Number of positions.
    pub fn positions(&self) -> u64 {
        self.positions
    }
    /// Number of rejected records.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }
    fn flagged(&self, test: impl Fn(Flags) -> bool) -> u64 {
        count_flags(&self.joint.flags(), test)
    }
    /// Positions with White to move.
    pub fn white_to_move(&self) -> u64 {
        self.positions - self.black_to_move()
    }
    /// Positions with Black to move.
    pub fn black_to_move(&self) -> u64 {
        self.flagged(Flags::black_to_move)
    }
    /// Positions in which the side to move is in check.
    pub fn in_check(&self) -> u64 {
        self.flagged(|flags| flags.checks() > 0)
    }
    /// Positions in which more than one piece gives check.
    pub fn double_check(&self) -> u64 {
        self.flagged(|flags| flags.checks() > 1)
    }
    /// Positions in which the side to move is mated.
    pub fn checkmate(&self) -> u64 {
        self.joint.mates(true)
    }
    /// Positions in which the side to move has no move and is not in check.
    pub fn stalemate(&self) -> u64 {
        self.joint.mates(false)
    }
    /// Positions that have an en passant square, whether or not a capture is legal.
    pub fn with_en_passant_square(&self) -> u64 {
        self.flagged(Flags::en_passant)
    }
    /// Positions in which an en passant capture is legal.
    pub fn with_legal_en_passant(&self) -> u64 {
        self.can_capture_en_passant
    }
    /// Castling rights.
    pub fn castling(&self) -> Castling {
        let counts = self.joint.flags();
        let right = |bit: u8| count_flags(&counts, |flags| flags.castling() >> bit & 1 != 0);
        let none = count_flags(&counts, |flags| flags.castling() == 0);
        Castling {
            none,
            some: self.positions - none,
            white_king: right(0),
            white_queen: right(1),
            black_king: right(2),
            black_queen: right(3),
        }
    }
    /// Legal moves per position.
    pub fn legal_moves(&self) -> Distribution {
        Distribution::of(&self.joint.moves(), 0)
    }
    /// Number of positions with N legal moves, at index N, up to the largest N.
    pub fn legal_moves_histogram(&self) -> Vec<u64> {
        self.joint.moves()
    }
    /// Sum of the legal captures, including en passant.
    pub fn legal_captures(&self) -> u64 {
        self.captures
    }
    /// Sum of the legal promotions.
    pub fn legal_promotions(&self) -> u64 {
        self.promotions
    }
    /// Sum of the legal castling moves.
    pub fn legal_castles(&self) -> u64 {
        self.castles
    }
    /// Sum of the legal en passant captures.
    pub fn legal_en_passants(&self) -> u64 {
        self.en_passants
    }
    /// Number of positions with N pieces, at index N.
    pub fn pieces_histogram(&self) -> Vec<u64> {
        self.joint.pieces()
    }
    /// Number of positions by phase: 24 = all minor and major pieces, 0 = none.
    pub fn phase_histogram(&self) -> Vec<u64> {
        self.joint.phase()
    }
    /// Number of positions by material (1-3-3-5-9), of White and of Black.
    pub fn material_histograms(&self) -> [Vec<u64>; 2] {
        self.joint.material()
    }
    /// The heat maps.
    pub fn heat(&self) -> HeatMaps {
        self.heat.maps()
    }
    /// Results.
    pub fn results(&self) -> Results {
        let [black, draw, white] = self.results;
        Results {
            white,
            draw,
            black,
            unknown: self.positions - white - draw - black,
        }
    }
    /// Scores in centipawns from White's side, if there are any.
    pub fn scores(&self) -> Option<Distribution> {
        let scores = self.scores.as_ref()?;
        let first = -(Scores::ZERO as i64);
        Some(Distribution::of(&scores.counts, first)).filter(|summary| summary.count > 0)
    }
    /// Records with a mate in place of a score.
    pub fn mates(&self) -> Mates {
        self.mates
    }
}

/// The number of positions whose flags pass a test, from the counts of all flags.
fn count_flags(counts: &[u64], test: impl Fn(Flags) -> bool) -> u64 {
    let flags = (0..=u8::MAX).map(Flags).zip(counts);
    flags
        .filter(|&(flags, _)| test(flags))
        .map(|(_, count)| count)
        .sum()
}

/// The values of a column, 64 rows at a time, with masks of those present and of those selected.
fn words<'a, T: Clone + Default>(
    column: &'a Values<T>,
    start: usize,
    mask: &'a [u64],
) -> impl Iterator<Item = (&'a [T], u64, u64)> {
    let values = column.values()[start..].chunks(64);
    let present = &column.present()[start / 64..];
    let words = values.zip(present).zip(mask);
    words.map(|((values, &present), &mask)| (values, present, mask))
}

/// The indices of the bits that are set.
fn bits(word: u64) -> impl Iterator<Item = usize> {
    let first = |rest: u64| (rest != 0).then_some(rest);
    std::iter::successors(first(word), move |rest| first(rest & (rest - 1)))
        .map(|rest| rest.trailing_zeros() as usize)
}
