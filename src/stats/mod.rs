//! Dataset statistics: mergeable aggregates, integers only.
//!
//! Everything is counted in integers and only divided when it is shown, so the order in which tiles arrive,
//! the number of threads and the tier change nothing, not even the last bit.
//!
//! What a position adds is arranged so that the hot loop does next to nothing. The lanes hand over three
//! words a position (the move counts, the checkers, and the [census](Census): piece count,
//! phase, material and state flags); the loop looks each number up in a small table and adds one. Whatever
//! can be had from such a table afterwards (sums, checks, sides, castling) is not counted a second time,
//! and the number of attacked squares is the total of a heat map. The heat maps themselves are counted
//! *vertically*: see [`VerticalCounters`](crate::kernels::VerticalCounters).

mod census;
mod heat;
mod json;
mod tally;

use heat::Heat;
pub use heat::HeatMaps;
pub use tally::Summary;

use crate::batch::{Batch, Field, Values};
use crate::block::Group;
use crate::chess::Color;
use crate::kernels::Census;
use crate::tiers::{Analyzer, GroupResults, Wanted};
use census::Flags;
use std::ops::Range;
use tally::Tally;

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
    moves: Tally<1024>,
    pieces: Tally<128>,
    phase: Tally<32>,
    material: [Tally<1024>; 2],
    flags: Tally<256>,
    captures: u64,
    promotions: u64,
    castles: u64,
    en_passants: u64,
    can_capture_en_passant: u64,
    checkmate: u64,
    stalemate: u64,
    heat: Box<Heat>,
    results: [u64; 3],
    scores: Option<Box<Scores>>,
    mates: Mates,
}

/// How many records have a mate, by who mates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mates {
    /// White mates or has mated.
    pub white: u64,
    /// Black mates or has mated.
    pub black: u64,
}

/// Every value that an `i16` can have.
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

/// How many positions have which castling rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Castling {
    /// Nobody may castle.
    pub none: u64,
    /// Somebody may.
    pub some: u64,
    /// White may on the king's wing (towards the h-file).
    pub white_king: u64,
    /// White may on the queen's wing.
    pub white_queen: u64,
    /// Black may on the king's wing.
    pub black_king: u64,
    /// Black may on the queen's wing.
    pub black_queen: u64,
}

/// How many records ended how, from White's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Results {
    /// White won.
    pub white: u64,
    /// Drawn.
    pub draw: u64,
    /// Black won.
    pub black: u64,
    /// The record does not say.
    pub unknown: u64,
}

impl Stats {
    /// What the statistics ask of an analyzer.
    pub const WANTED: Wanted = Wanted {
        moves: true,
        kinds: true,
        checkers: true,
        attacks: true,
        ..Wanted::NOTHING
    };

    /// Groups after which the packed sums of a tile are emptied; their narrowest field holds 8 bits and
    /// grows by at most two a position, in each of eight lanes of its own.
    const RUN: usize = 64;

    /// No positions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `len` positions and what [`Self::WANTED`] says of them.
    ///
    /// # Panics
    /// When there are fewer than `len` boards or results.
    pub fn add_tile(
        &mut self,
        analyzer: &dyn Analyzer,
        groups: &[Group],
        len: usize,
        results: &[GroupResults],
    ) {
        let whole = len / Group::LEN;
        let rest = len % Group::LEN;
        self.add_groups(analyzer, &groups[..whole], &results[..whole], Group::LEN);
        if rest > 0 {
            // The lanes past the end may hold anything.
            let (mut group, mut results) = (groups[whole], results[whole]);
            for lane in rest..Group::LEN {
                group.set(lane, Default::default());
                results.attacks_white[lane] = 0;
                results.attacks_black[lane] = 0;
            }
            self.add_groups(analyzer, &[group], &[results], rest);
        }
    }

    /// Adds the first lanes of each group; the others must be empty boards without attacks.
    fn add_groups(
        &mut self,
        analyzer: &dyn Analyzer,
        groups: &[Group],
        results: &[GroupResults],
        lanes: usize,
    ) {
        let mut census = [Census::default(); Self::RUN];
        for (groups, results) in groups.chunks(Self::RUN).zip(results.chunks(Self::RUN)) {
            analyzer.census(groups, &mut census);
            let mut kinds = [0u64; Group::LEN];
            for (census, results) in census.iter().zip(results) {
                for lane in 0..lanes {
                    let counts = results.counts[lane];
                    kinds[lane] += counts;
                    self.add_position(lane, counts, results.checkers[lane], census[lane]);
                }
            }
            for sums in kinds {
                self.add_kinds(sums);
            }
        }
        self.heat.add(analyzer, groups, results);
        self.positions += (groups.len() * lanes) as u64;
    }

    #[inline(always)]
    fn add_position(&mut self, lane: usize, counts: u64, checkers: u64, census: u64) {
        let moves = counts as usize & 0xFFFF;
        let flags = Flags::of(census, checkers);
        self.moves.add(lane, moves);
        self.pieces.add(lane, census as usize & 0xFF);
        self.phase.add(lane, (census as usize >> 8 & 0xFF).min(24));
        self.material[0].add(lane, (census >> 16) as usize & 0xFFFF);
        self.material[1].add(lane, (census >> 32) as usize & 0xFFFF);
        self.flags.add(lane, flags.0 as usize);
        self.can_capture_en_passant += u64::from(counts >> 56 != 0);
        if moves == 0 {
            self.checkmate += u64::from(flags.checks() > 0);
            self.stalemate += u64::from(flags.checks() == 0);
        }
    }

    fn add_kinds(&mut self, counts: u64) {
        self.captures += counts >> 16 & 0xFFFF;
        self.promotions += counts >> 32 & 0xFFFF;
        self.castles += counts >> 48 & 0xFF;
        self.en_passants += counts >> 56;
    }

    /// Adds the results, scores and mates of those rows of a batch whose positions are added by
    /// [`Self::add_tile`].
    ///
    /// # Panics
    /// When the batch has fewer rows.
    pub fn add_fields(&mut self, batch: &Batch, rows: Range<usize>) {
        if let Some(Values::U8(column)) = batch.values(Field::Result) {
            // Runs of games have runs of equal results: four sums do not wait for one another.
            let mut counts = [[0u64; 4]; 4];
            let values = &column.values()[rows.clone()];
            for (row, &result) in rows.clone().zip(values) {
                let missing = u8::from(!column.is_present(row)) * 3;
                counts[row % 4][usize::from((result | missing).min(3))] += 1;
            }
            for counts in counts {
                for (sum, count) in self.results.iter_mut().zip(counts) {
                    *sum += count;
                }
            }
        }
        if let Some(Values::I16(column)) = batch.values(Field::Score) {
            let scores = &mut self.scores.get_or_insert_default().counts;
            for &score in rows.clone().filter_map(|row| column.get(row)) {
                scores[Scores::index(score)] += 1;
            }
        }
        if let Some(Values::I16(column)) = batch.values(Field::Mate) {
            // Few rows have one: whole words of rows without are passed at once.
            let mut row = rows.start;
            while row < rows.end {
                let rest = column.present()[row / 64] >> (row % 64);
                if rest == 0 {
                    row = (row / 64 + 1) * 64;
                    continue;
                }
                row += rest.trailing_zeros() as usize;
                if row >= rows.end {
                    break;
                }
                let moves = column.values()[row];
                // In no moves: the side to move is mated.
                let by_white = match moves {
                    0 => batch.board(row).side_to_move() == Color::Black,
                    moves => moves > 0,
                };
                self.mates.white += u64::from(by_white);
                self.mates.black += u64::from(!by_white);
                row += 1;
            }
        }
    }

    /// Adds records that were rejected.
    pub fn add_rejected(&mut self, records: u64) {
        self.rejected += records;
    }

    /// Adds everything that another holds.
    pub fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.rejected += other.rejected;
        self.moves.merge(&other.moves);
        self.pieces.merge(&other.pieces);
        self.phase.merge(&other.phase);
        for (ours, theirs) in self.material.iter_mut().zip(&other.material) {
            ours.merge(theirs);
        }
        self.flags.merge(&other.flags);
        self.captures += other.captures;
        self.promotions += other.promotions;
        self.castles += other.castles;
        self.en_passants += other.en_passants;
        self.can_capture_en_passant += other.can_capture_en_passant;
        self.checkmate += other.checkmate;
        self.stalemate += other.stalemate;
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
        let counts = self.flags.counts();
        (0..=255u8)
            .filter(|&flags| test(Flags(flags)))
            .map(|flags| counts[flags as usize])
            .sum()
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
        self.checkmate
    }
    /// Positions in which the side to move has no move and is not in check.
    pub fn stalemate(&self) -> u64 {
        self.stalemate
    }
    /// Positions that hold an en passant square, explained or not.
    pub fn with_en_passant_square(&self) -> u64 {
        self.flagged(Flags::en_passant)
    }
    /// Positions in which an en passant capture is legal.
    pub fn with_legal_en_passant(&self) -> u64 {
        self.can_capture_en_passant
    }
    /// Castling rights.
    pub fn castling(&self) -> Castling {
        let right = |bit: u8| self.flagged(|flags| flags.castling() >> bit & 1 != 0);
        let none = self.flagged(|flags| flags.castling() == 0);
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
    pub fn legal_moves(&self) -> Summary {
        self.moves.summary()
    }
    /// How many positions have so many legal moves: index = moves, up to the largest.
    pub fn legal_moves_histogram(&self) -> Vec<u64> {
        self.moves.histogram()
    }
    /// Sum of the legal captures, en passant among them.
    pub fn legal_captures(&self) -> u64 {
        self.captures
    }
    /// Sum of the legal promotions.
    pub fn legal_promotions(&self) -> u64 {
        self.promotions
    }
    /// Sum of the legal castlings.
    pub fn legal_castles(&self) -> u64 {
        self.castles
    }
    /// Sum of the legal en passant captures.
    pub fn legal_en_passants(&self) -> u64 {
        self.en_passants
    }
    /// How many positions have so many pieces.
    pub fn pieces_histogram(&self) -> Vec<u64> {
        self.pieces.histogram()
    }
    /// How many positions have such a phase, 24 = all minor and major pieces, 0 = none.
    pub fn phase_histogram(&self) -> Vec<u64> {
        self.phase.histogram()
    }
    /// How many positions have so much material (1-3-3-5-9): White's, Black's.
    pub fn material_histograms(&self) -> [Vec<u64>; 2] {
        [self.material[0].histogram(), self.material[1].histogram()]
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
    /// Scores in centipawns from White's side, where there are any.
    pub fn scores(&self) -> Option<Summary> {
        let scores = self.scores.as_ref()?;
        let first = -(Scores::ZERO as i64);
        Some(Summary::of(&scores.counts, first)).filter(|summary| summary.count > 0)
    }
    /// Records with a mate in place of a score.
    pub fn mates(&self) -> Mates {
        self.mates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Packed;
    use crate::chess::random::{RandomPlay, Start};
    use crate::chess::{Position, Role, Square};
    use crate::tiers::Tier;

    fn batch_of<'a>(positions: impl IntoIterator<Item = &'a Position>) -> Batch {
        let mut batch = Batch::new();
        for position in positions {
            batch.push(Packed::pack(position).unwrap(), 0, 1);
        }
        batch
    }

    /// Statistics of the first `len` records, taken in tiles of so many groups.
    fn stats_of(batch: &Batch, len: usize, analyzer: &dyn Analyzer, tile: usize) -> Stats {
        let groups = batch.groups();
        let mut results = vec![GroupResults::default(); groups.len()];
        analyzer.analyze(groups, Stats::WANTED, &mut results);
        let mut stats = Stats::new();
        for (at, groups) in groups.chunks(tile).enumerate() {
            let start = at * tile * Group::LEN;
            let len = len.saturating_sub(start).min(groups.len() * Group::LEN);
            stats.add_tile(analyzer, groups, len, &results[at * tile..]);
        }
        stats
    }

    #[test]
    fn every_tier_counts_what_counting_by_hand_gives() {
        let positions: Vec<Position> = [Start::Standard, Start::Chess960]
            .into_iter()
            .flat_map(|start| RandomPlay::new(5, start).take(2500))
            .map(|played| played.position)
            .collect();
        let batch = batch_of(&positions);
        let count = |test: &dyn Fn(&Position) -> bool| {
            positions.iter().filter(|position| test(position)).count() as u64
        };
        let sum = |number: &dyn Fn(&Position) -> u32| -> u64 {
            positions
                .iter()
                .map(|position| u64::from(number(position)))
                .sum()
        };
        let worth = |position: &Position, color, worths: [u32; 5]| -> u32 {
            let men = |role| position.pieces(color, role).len();
            Role::ALL
                .into_iter()
                .zip(worths)
                .map(|(role, worth)| men(role) * worth)
                .sum()
        };
        let rook_beyond_king = |position: &Position, color, wing| {
            let king = position.king(color).unwrap();
            position.castling.rook(color, king, wing).is_some()
        };
        // A tile of 300 groups is more than the vertical counters hold.
        for (tier, tile) in Tier::ALL.into_iter().zip([1, 64, 300, 64]) {
            let Some(analyzer) = tier.analyzer() else {
                continue;
            };
            let stats = stats_of(&batch, 5000, analyzer, tile);
            assert_eq!(stats.positions(), 5000);
            assert_eq!(
                stats.black_to_move(),
                count(&|p| p.side_to_move == Color::Black)
            );
            assert_eq!(stats.in_check(), count(&|p| p.in_check()));
            assert_eq!(stats.double_check(), count(&|p| p.checkers().several()));
            assert_eq!(stats.checkmate(), count(&|p| p.is_checkmate()));
            assert_eq!(stats.stalemate(), count(&|p| p.is_stalemate()));
            assert_eq!(
                stats.with_legal_en_passant(),
                count(&|p| p.en_passant.is_some())
            );
            assert_eq!(
                stats.with_en_passant_square(),
                stats.with_legal_en_passant()
            );
            assert_eq!(
                stats.legal_moves().sum,
                sum(&|p| p.count_legal().into()).into()
            );
            assert_eq!(
                stats.legal_captures(),
                sum(&|p| p.legal_counts().captures.into())
            );
            assert_eq!(
                stats.legal_promotions(),
                sum(&|p| p.legal_counts().promotions.into())
            );
            assert_eq!(
                stats.legal_castles(),
                sum(&|p| p.legal_counts().castles.into())
            );
            assert_eq!(
                stats.legal_en_passants(),
                sum(&|p| p.legal_counts().en_passants.into())
            );
            let castling = stats.castling();
            assert_eq!(castling.none, count(&|p| p.castling.is_empty()));
            assert_eq!(castling.some, 5000 - castling.none);
            use crate::chess::castling::Wing::{King, Queen};
            for (ours, color, wing) in [
                (castling.white_king, Color::White, King),
                (castling.white_queen, Color::White, Queen),
                (castling.black_king, Color::Black, King),
                (castling.black_queen, Color::Black, Queen),
            ] {
                assert_eq!(ours, count(&|p| rook_beyond_king(p, color, wing)));
            }
            for (men, &ours) in stats.pieces_histogram().iter().enumerate() {
                assert_eq!(ours, count(&|p| p.occupied().len() == men as u32));
            }
            for (phase, &ours) in stats.phase_histogram().iter().enumerate() {
                let of = |p: &Position| {
                    let of = |color| worth(p, color, [0, 1, 1, 2, 4]);
                    (of(Color::White) + of(Color::Black)).min(24)
                };
                assert_eq!(ours, count(&|p| of(p) == phase as u32));
            }
            for (color, histogram) in Color::ALL.into_iter().zip(stats.material_histograms()) {
                for (material, ours) in histogram.into_iter().enumerate() {
                    let of = |p: &Position| worth(p, color, [1, 3, 3, 5, 9]);
                    assert_eq!(ours, count(&|p| of(p) == material as u32));
                }
            }
            let heat = stats.heat();
            for square in Square::all() {
                for (at, map) in heat.occupancy().iter().enumerate() {
                    let (color, role) = (Color::ALL[at / 6], Role::ALL[at % 6]);
                    let standing = count(&|p| p.pieces(color, role).contains(square));
                    assert_eq!(map[square.index()], standing, "{color:?} {role:?} {square}");
                }
                for (color, map) in Color::ALL.into_iter().zip(heat.attacks()) {
                    let attacked = count(&|p| p.attacked_by(color).contains(square));
                    assert_eq!(map[square.index()], attacked, "{color:?} {square}");
                }
            }
            assert_eq!(stats.results().unknown, 5000);
            let mut twice = stats.clone();
            twice.merge(&stats);
            assert_eq!(twice.heat().attacks()[0][30], 2 * heat.attacks()[0][30]);
            assert_eq!(twice.legal_moves().sum, 2 * stats.legal_moves().sum);
        }
    }

    #[test]
    fn lanes_past_the_end_do_not_count() {
        let positions: Vec<Position> = RandomPlay::new(1, Start::Standard)
            .take(24)
            .map(|played| played.position)
            .collect();
        let batch = batch_of(&positions);
        let analyzer = Tier::Portable.analyzer().unwrap();
        for len in [0, 1, 7, 8, 9, 15, 16, 17, 24] {
            let stats = stats_of(&batch, len, analyzer, 64);
            assert_eq!(stats.positions(), len as u64);
            assert_eq!(stats.heat().occupancy()[5].iter().sum::<u64>(), len as u64);
            assert_eq!(stats.white_to_move() + stats.black_to_move(), len as u64);
            let moves: u64 = positions[..len]
                .iter()
                .map(|p| u64::from(p.count_legal()))
                .sum();
            assert_eq!(stats.legal_moves().sum, i128::from(moves));
        }
    }
}
