//! Dataset statistics: mergeable aggregates, integers only.
//!
//! Everything is counted in integers and divided only for display, so the results are identical, bit for bit, whatever
//! the order of the tiles, the number of threads and the tier.
//!
//! The work per position is arranged so that the hot loop does very little. The lanes put all small numbers of a
//! position into one word, the [board counts](BoardCounts); the loop increments one counter in each of three joint
//! tables, whose indices are parts of that word. Statistics that can be derived from the tables afterwards (histograms,
//! checks, mates, sides, castling) are not counted separately, and the number of attacked squares is the total of a
//! heat map. The heat maps themselves are counted *vertically*: see
//! [`VerticalCounters`](crate::kernels::VerticalCounters).

mod full_report_details;
mod game_details;
mod group_by;
mod group_ids;
mod grouped_statistics;
mod heat_maps;
mod joint_tables;
mod network_feature_counts;
mod position_flags;
mod puzzles_and_evaluations;
mod results_by_game;
mod tally;
#[cfg(test)]
mod tests;
mod time_and_mistakes;

pub use group_by::GroupBy;
pub(crate) use group_ids::MOST_VALUES;
pub(crate) use grouped_statistics::{GroupSizes, Grouped};
pub use grouped_statistics::{LargestGroups, MOST_GROUPS, MOST_GROUPS_WITH_FEATURES};
pub(crate) use puzzles_and_evaluations::ANNOTATIONS;
pub(crate) use results_by_game::{GameOrder, GameResults, Games, InputNames};
pub(crate) use time_and_mistakes::TIMES_AND_MISTAKES;

use crate::chess::Color;
use crate::kernels::BoardCounts;
use crate::packed::Group;
use crate::queries::{CAPTURES, CASTLES, EN_PASSANTS, GroupResults, PROMOTIONS, Queries};
use crate::report::{
    Castling, CodedScores, HeatMap, Histogram, Mates, MoveCounts, OpenGame, PositionCounts, Ratings, Report, Results,
};
use crate::table::{
    Array, Batch, FeatureSet, Field, ScoreCodes, StoredGame, Tile, Values, bits_where, is_sentinel, rows_of,
};
use crate::tiers::Analyzer;
use full_report_details::{Boards, Details};
use heat_maps::SquareMaps;
use joint_tables::Joint;
use network_feature_counts::FeatureCounts;
use position_flags::Flags;
use puzzles_and_evaluations::{Annotations, Columns};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tally::Tally;

/// Statistics of any number of positions.
///
/// ```
/// use lanefish::stats::Stats;
/// let mut all = Stats::new();
/// all.merge(&Stats::new());
/// assert_eq!(all.positions(), 0);
/// assert_eq!(all.report(false).legal_moves.summary().mean, None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stats {
    positions: u64,
    /// Of them, those in which White stands for the side to move.
    from_mover: u64,
    rejected: u64,
    joint: Joint,
    captures: u64,
    promotions: u64,
    castles: u64,
    en_passants: u64,
    can_capture_en_passant: u64,
    heat: Box<SquareMaps>,
    results: [u64; 3],
    games: GameResults,
    scores: Option<Box<Scores>>,
    coded_scores: CodedScores,
    mates: Mates,
    ratings: Ratings,
    annotations: Annotations,
    features: Option<Box<FeatureCounts>>,
    details: Option<Box<Details>>,
}

/// The scores, from that of `i16::MIN` on.
#[derive(Clone, Debug, Default)]
struct Scores {
    counts: Tally<{ 1 << 16 }>,
}

/// The rows, of up to 64, whose score is a sentinel. Hardly any file has one, and without a branch that is soon known.
fn sentinels(scores: &[i16]) -> u64 {
    if scores.iter().fold(false, |any, &score| any | is_sentinel(score)) { bits_where(scores, is_sentinel) } else { 0 }
}

/// The rows, of up to 64, whose score is a code of its format.
fn codes_in(scores: &[i16], codes: ScoreCodes) -> u64 {
    // Most formats have none.
    if codes == ScoreCodes::None {
        return 0;
    }
    let least = codes.least();
    if scores.iter().fold(false, |any, &score| any | (score.unsigned_abs() >= least)) {
        bits_where(scores, |score| codes.meaning(score).is_some())
    } else {
        0
    }
}

impl Scores {
    const FIRST: i64 = i16::MIN as i64;

    #[inline(always)]
    fn index(score: i16) -> usize {
        (i64::from(score) - Self::FIRST) as usize
    }
}

/// The fields that the records of a tile carry.
struct Carried<'a> {
    batch: &'a Batch,
    results: Option<&'a Values<u8>>,
    scores: Option<&'a Values<i16>>,
    mates: Option<&'a Values<i16>>,
    annotations: Option<Columns<'a>>,
}

impl<'a> Carried<'a> {
    /// The columns that have a value in the tile; `None` if there are none.
    fn of(tile: &Tile<'a>) -> Option<Self> {
        let rows = tile.start..tile.start + tile.len;
        let array = |field| {
            let array = tile.batch.values(field);
            array.filter(|array| array.count_present_in(rows.clone()) > 0)
        };
        let numbers = |field| array(field).and_then(Array::numbers);
        let results = array(Field::Result).and_then(Array::numbers);
        let (scores, mates) = (numbers(Field::Score), numbers(Field::Mate));
        let annotations = Columns::of(tile.batch);
        let any = results.is_some() || scores.is_some() || mates.is_some() || annotations.is_some();
        any.then_some(Self { batch: tile.batch, results, scores, mates, annotations })
    }
}

impl Stats {
    /// The results that the statistics request from an analyzer.
    pub const QUERIES: Queries = Queries::KINDS.union(Queries::CHECKERS).union(Queries::ATTACKS);

    /// Groups after which the packed sums of a tile are unpacked: their narrowest field has 8 bits and grows by at
    /// most two per position, separately in each of eight lanes.
    const RUN: usize = 64;
    /// Groups in which squares are counted at once.
    const SOME: usize = 16;

    /// Statistics of no positions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also counts [`Details`](crate::report::Details). To be called before anything is added.
    #[must_use]
    pub fn with_details(mut self) -> Self {
        self.details = Some(Box::default());
        self
    }

    /// Also counts how often each input of a network is active. To be called before anything is added.
    #[must_use]
    pub fn with_features(mut self, set: Arc<FeatureSet>) -> Self {
        self.features = Some(Box::new(FeatureCounts::new(set)));
        self
    }

    /// Adds the records of a tile that count. The results must be those for [`Self::QUERIES`].
    pub fn add_tile(&mut self, tile: &Tile<'_>) {
        let analyzer = tile.analyzer;
        let mut board_counts = [BoardCounts::default(); Self::RUN];
        let runs = tile.groups.chunks(Self::RUN).zip(tile.results.chunks(Self::RUN));
        let masks = tile.mask.chunks(Self::RUN / Group::LEN);
        let starts = (tile.start..).step_by(Self::RUN * Group::LEN);
        for (((groups, results), mask), start) in runs.zip(masks).zip(starts) {
            let board_counts = &mut board_counts[..groups.len()];
            analyzer.board_counts(groups, results, board_counts);
            self.add_counted(analyzer, &Boards { groups, results, board_counts, mask });
            self.add_fields(tile.batch, start, mask, board_counts);
        }
        if let Some(columns) = Columns::of(tile.batch) {
            self.annotations.add(&columns, rows_of(tile.mask).map(|row| tile.start + row));
        }
        if tile.batch.is_from_mover {
            self.from_mover += tile.mask.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
    }

    /// Adds the boards of at most [`Self::RUN`] groups whose bit is set in the mask.
    fn add_counted(&mut self, analyzer: &dyn Analyzer, boards: &Boards<'_>) {
        let &Boards { groups, results, board_counts, .. } = boards;
        match &mut self.details {
            Some(details) => details.add_boards(analyzer, boards, &mut self.joint),
            None => {
                for (at, (words, results)) in board_counts.iter().zip(results).enumerate() {
                    self.joint.add_group(words, &results.counts, boards.lanes(at));
                }
            }
        }
        if let Some(features) = &mut self.features {
            features.add(analyzer, groups, |group| boards.lanes(group));
        }
        self.positions += (0..groups.len()).map(|group| u64::from(boards.lanes(group).count_ones())).sum::<u64>();
        let mut start = 0;
        while start < groups.len() {
            let whole = (start..groups.len()).take_while(|&group| boards.lanes(group) == 0xFF).count();
            let run = start..start + whole;
            if whole >= Self::SOME || run.end == groups.len() {
                self.add_groups(analyzer, &groups[run.clone()], &results[run]);
                start += whole;
            } else {
                start = self.add_some(analyzer, boards, start);
            }
        }
    }

    /// Adds a few groups, from one on, without those of their boards that do not count, at once: squares are counted in
    /// as many groups as these, however few there are. Returns where the others begin.
    fn add_some(&mut self, analyzer: &dyn Analyzer, boards: &Boards<'_>, mut start: usize) -> usize {
        let (mut places, mut len) = ([0; Self::SOME], 0);
        while len < Self::SOME && start < boards.groups.len() {
            if boards.lanes(start) != 0 {
                places[len] = start;
                len += 1;
            }
            start += 1;
        }
        let mut groups: [Group; Self::SOME] = std::array::from_fn(|at| boards.groups[places[at]]);
        let mut results: [GroupResults; Self::SOME] = std::array::from_fn(|at| boards.results[places[at]]);
        for (&place, (group, of_group)) in places[..len].iter().zip(groups.iter_mut().zip(&mut results)) {
            let lanes = boards.lanes(place);
            for lane in 0..Group::LEN {
                // What is in the other lanes may be anything.
                let counted = u64::from(lanes >> lane & 1).wrapping_neg();
                for plane in &mut group.planes {
                    plane[lane] &= counted;
                }
                of_group.counts[lane] &= counted;
                of_group.checkers[lane] &= counted;
                of_group.attacks_white[lane] &= counted;
                of_group.attacks_black[lane] &= counted;
            }
        }
        self.add_groups(analyzer, &groups[..len], &results[..len]);
        start
    }

    /// Adds all lanes of at most [`Self::RUN`] groups; those that do not count must be empty boards without moves,
    /// attacks and checkers.
    fn add_groups(&mut self, analyzer: &dyn Analyzer, groups: &[Group], results: &[GroupResults]) {
        let mut kinds = [0u64; Group::LEN];
        for results in results {
            let counts = &results.counts;
            let mut any = 0;
            for (sum, &counts) in kinds.iter_mut().zip(counts) {
                *sum += counts;
                any |= counts;
            }
            if any >> EN_PASSANTS != 0 {
                self.add_en_passants(counts);
            }
        }
        for sums in kinds {
            self.add_kinds(sums);
        }
        self.heat.add(groups, results, |groups, results, counters| {
            analyzer.count_squares(groups, results, counters);
        });
        if let Some(details) = &mut self.details {
            details.add_events(analyzer, groups, results);
        }
    }

    /// Counts positions in which an en passant capture is legal.
    #[cold]
    fn add_en_passants(&mut self, counts: &[u64; Group::LEN]) {
        self.can_capture_en_passant += counts.iter().filter(|&counts| counts >> EN_PASSANTS != 0).count() as u64;
    }

    fn add_kinds(&mut self, counts: u64) {
        self.captures += counts >> CAPTURES & 0xFFFF;
        self.promotions += counts >> PROMOTIONS & 0xFFFF;
        self.castles += counts >> CASTLES & 0xFF;
        self.en_passants += counts >> EN_PASSANTS;
    }

    /// Adds what the rows of a batch carry, from `start` on, of those whose bit is set in the mask. The counts of their
    /// boards are only needed for details.
    fn add_fields(&mut self, batch: &Batch, start: usize, mask: &[u64], counts: &[BoardCounts]) {
        if let Some(details) = &mut self.details {
            details.add_fields(batch, start, mask, counts);
        }
        if let Some(Array::U8(column)) = batch.values(Field::Result) {
            for (values, present, mask) in words(column, start, mask) {
                if mask == 0 {
                    continue;
                }
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
                    for row in rows_of(&[present & mask]) {
                        if let Some(count) = counts.get_mut(usize::from(values[row])) {
                            *count += 1;
                        }
                    }
                }
                for (sum, count) in self.results.iter_mut().zip(counts) {
                    *sum += u64::from(count);
                }
            }
        }
        if let Some(Array::I16(column)) = batch.values(Field::Score) {
            let scores = &mut self.scores.get_or_insert_default().counts;
            for (values, present, mask) in words(column, start, mask) {
                let coded = codes_in(values, batch.score_codes);
                for row in rows_of(&[present & mask & coded]) {
                    self.coded_scores.add(batch.score_codes, values[row]);
                }
                let known = present & mask & !sentinels(values) & !coded;
                if known == !0 {
                    for &score in values {
                        scores.add(Scores::index(score));
                    }
                } else {
                    rows_of(&[known]).for_each(|row| scores.add(Scores::index(values[row])));
                }
            }
        }
        if let Some(Array::I16(column)) = batch.values(Field::Mate) {
            for (word, (values, present, mask)) in words(column, start, mask).enumerate() {
                for row in rows_of(&[present & mask]) {
                    self.add_mate(batch, start + 64 * word + row, values[row]);
                }
            }
        }
    }

    /// Adds what a run of records carries.
    #[inline(always)]
    fn add_run(&mut self, carried: &Carried<'_>, rows: Range<usize>) {
        if let Some(column) = carried.results {
            for &result in rows.clone().filter_map(|row| column.get(row)) {
                if let Some(count) = self.results.get_mut(usize::from(result)) {
                    *count += 1;
                }
            }
        }
        if let Some(column) = carried.scores {
            let scores = &mut self.scores.get_or_insert_default().counts;
            let known = rows.clone().filter_map(|row| column.get(row));
            for &score in known.filter(|&&score| !is_sentinel(score)) {
                if !self.coded_scores.add(carried.batch.score_codes, score) {
                    scores.add(Scores::index(score));
                }
            }
        }
        if let Some(columns) = &carried.annotations {
            self.annotations.add(columns, rows.clone());
        }
        if let Some(column) = carried.mates {
            for row in rows {
                if let Some(&moves) = column.get(row) {
                    self.add_mate(carried.batch, row, moves);
                }
            }
        }
    }

    /// Adds the ratings of the side to move in these records.
    fn add_ratings(&mut self, batch: &Batch, rows: Range<usize>) {
        let elos = [Field::WhiteElo, Field::BlackElo].map(|field| batch.values(field).and_then(Array::numbers::<u16>));
        for row in rows {
            let of_mover = match batch.board(row).side_to_move() {
                Color::White => elos[0],
                Color::Black => elos[1],
            };
            if let Some(&elo) = of_mover.and_then(|elos| elos.get(row)) {
                self.ratings.add(elo);
            }
        }
    }

    /// Adds a record with a mate.
    fn add_mate(&mut self, batch: &Batch, row: usize, moves: i16) {
        // Mate in zero moves: the side to move is mated.
        let by_white = match moves {
            0 => batch.board(row).side_to_move() == Color::Black,
            moves => moves > 0,
        };
        self.mates.white += u64::from(by_white);
        self.mates.black += u64::from(!by_white);
        self.annotations.add_mate(moves);
    }

    /// Adds to the number of rejected records.
    pub fn add_rejected(&mut self, records: u64) {
        self.rejected += records;
    }

    /// Adds the counts of other statistics.
    pub fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.from_mover += other.from_mover;
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
        self.games.merge(&other.games);
        if let Some(theirs) = &other.scores {
            let ours = self.scores.get_or_insert_default();
            ours.counts.merge(&theirs.counts);
        }
        self.coded_scores.merge(&other.coded_scores);
        self.mates.white += other.mates.white;
        self.mates.black += other.mates.black;
        self.ratings.merge(&other.ratings);
        self.annotations.merge(&other.annotations);
        if let (Some(ours), Some(theirs)) = (&mut self.features, &other.features) {
            ours.merge(theirs);
        }
        if let (Some(ours), Some(theirs)) = (&mut self.details, &other.details) {
            ours.merge(theirs);
        }
    }

    /// Adds the games that were found in the tiles since the last call.
    pub(crate) fn add_games(&mut self, games: &mut Games) {
        games.take().for_each(|game| self.games.add(game));
    }

    /// Replaces the results of games.
    pub(crate) fn set_games(&mut self, games: GameResults) {
        self.games = games;
    }

    /// Counts open games, except those for which `stays` holds.
    pub(crate) fn close_games(&mut self, stays: impl Fn(&StoredGame) -> bool) {
        self.games.close(stays);
    }

    /// The open games, by the names of their inputs.
    pub(crate) fn open_games(&self, names: &InputNames) -> BTreeMap<OpenGame, u8> {
        self.games.open_games(names)
    }

    /// Number of positions.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// What was counted. [`Report::en_passant`] counts the positions in which an en passant capture is legal, or with
    /// `keep_en_passant` those with any en passant square.
    pub fn report(&self, keep_en_passant: bool) -> Report {
        let mut joint = self.joint.clone();
        let details = self.details.as_ref().map(|details| (details, details.signatures(&mut joint)));
        let flags = joint.flags();
        let flagged = |test: &dyn Fn(Flags) -> bool| -> u64 {
            let flags = (0..=u8::MAX).map(Flags).zip(&flags);
            let passed = flags.filter(|&(flags, _)| test(flags));
            passed.map(|(_, count)| count).sum()
        };
        let right = |bit: u8| flagged(&|flags| flags.castling() >> bit & 1 != 0);
        let no_castling = flagged(&|flags| flags.castling() == 0);
        let [black, draw, white] = self.results;
        let maps = self.heat.pieces_and_attacks();
        let phase = Histogram::new(0, joint.phase());
        let details = details.map(|(details, signatures)| details.report(signatures, joint.by_material(), &phase));
        let scores = self.scores.as_ref();
        let game_results = self.games.report();
        let (puzzles, evaluations) = self.annotations.report();
        Report {
            positions: self.positions,
            rejected: self.rejected,
            from_mover: self.from_mover,
            white_to_move: flagged(&|flags| !flags.black_to_move()),
            position_counts: PositionCounts {
                in_check: flagged(&|flags| flags.checks() > 0),
                double_check: flagged(&|flags| flags.checks() > 1),
                checkmate: joint.mates(true),
                stalemate: joint.mates(false),
            },
            legal_moves: Histogram::new(0, joint.moves()),
            move_counts: MoveCounts {
                captures: self.captures,
                promotions: self.promotions,
                castles: self.castles,
                en_passants: self.en_passants,
            },
            pieces: Histogram::new(0, joint.pieces()),
            phase,
            material: joint.material().map(|counts| Histogram::new(0, counts)),
            castling: Castling {
                none: no_castling,
                some: self.positions - no_castling,
                white_king: right(0),
                white_queen: right(1),
                black_king: right(2),
                black_queen: right(3),
            },
            en_passant: if keep_en_passant {
                flagged(&|flags| flags.has_en_passant())
            } else {
                self.can_capture_en_passant
            },
            occupancy: std::array::from_fn(|piece| HeatMap(maps[piece])),
            attacks: [HeatMap(maps[12]), HeatMap(maps[13])],
            results: Results { white, draw, black, unknown: self.positions - white - draw - black },
            game_results,
            open_games: BTreeMap::new(),
            scattered_games: false,
            scores: scores.map_or_else(Histogram::default, |scores| {
                Histogram::new(Scores::FIRST, scores.counts.counts().to_vec())
            }),
            coded_scores: self.coded_scores,
            mates: self.mates,
            ratings: self.ratings,
            puzzles,
            evaluations,
            features: self.features.as_ref().map(|features| Box::new(features.report())),
            details: details.map(Box::new),
            groups: None,
        }
    }
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
