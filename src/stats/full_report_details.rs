//! Statistics that take longer and that only a full report shows.
//!
//! As in the rest of the statistics, a position increments counters in tables, whose indices are parts of words that
//! the lanes compute. Rare records (checks, en passant captures, beginnings of games) are visited one by one.

use super::game_details::{GameColumns, Games};
use super::heat_maps::EventMaps;
use super::joint_tables::{BEYOND, BEYOND_MOVES, Joint, MOST_PHASE, Numbers};
use super::position_flags::Flags;
use super::tally::{NarrowTally, Tally};
use super::time_and_mistakes::{Columns, TimeAndMistakes};
use super::{codes_in, sentinels, words};
use crate::distinct::Sketches;
use crate::kernels::{BoardCounts, NO_SIGNATURE};
use crate::packed::Group;
use crate::queries::GroupResults;
use crate::report::{
    self, HeatMap, Histogram, Matrix, PHASE_BANDS, SCORE_COLUMNS, ScoreResults, Signature, add, phase_band,
    result_score_range, score_column,
};
use crate::table::{Array, Batch, Field, rows_of};
use crate::tiers::Analyzer;
use std::collections::{BTreeMap, HashMap};

/// The boards of a run of records, with their results.
pub(super) struct Boards<'a> {
    pub(super) groups: &'a [Group],
    pub(super) results: &'a [GroupResults],
    pub(super) board_counts: &'a [BoardCounts],
    /// A bit for each record that counts.
    pub(super) mask: &'a [u64],
}

impl Boards<'_> {
    /// A bit for each lane of a group that counts.
    #[inline(always)]
    pub(super) fn lanes(&self, group: usize) -> u8 {
        (self.mask[group / 8] >> (group % 8 * 8)) as u8
    }
}

/// Columns of [`Details::phase_scores`].
const COLUMNS: usize = SCORE_COLUMNS.next_power_of_two();

/// See [`report::Details`].
#[derive(Clone, Debug, Default)]
pub(super) struct Details {
    /// Legal moves in bits 0 to 7, pieces above them.
    pieces_moves: NarrowTally<{ 1 << 15 }>,
    ply: Tally<{ 1 << 16 }>,
    /// The result in bits 0 and 1, the phase above them. Several tables are used in turn: all positions of a game have
    /// the same result, and consecutive increments of the same counter would wait for each other.
    phase_results: [Tally<128>; 4],
    /// The column of the score in bits 0 to 6, the phase above them.
    phase_scores: Tally<{ 32 * COLUMNS }>,
    phase_score_sums: [i64; 32],
    /// The result for the side to move in bits 0 and 1, the range of its score above them, and that of the phase from bit 8
    /// on.
    score_results: Tally<{ PHASE_BANDS.next_power_of_two() << 8 }>,
    /// By index: boards whose pieces and material are not yet in the joint tables.
    signatures: NarrowTally<{ Signature::COUNT.next_power_of_two() }>,
    /// By index: boards that are in the joint tables.
    rare_signatures: HashMap<u64, u64>,
    /// Boards without a signature.
    other_signatures: u64,
    events: Box<EventMaps>,
    distinct: Sketches,
    games: Games,
    time_and_mistakes: TimeAndMistakes,
}

/// The phase of the board with these counts.
#[inline(always)]
pub(super) fn phase_of(counts: u64) -> usize {
    Numbers::of(counts).phase.min(MOST_PHASE)
}

impl Details {
    /// Adds the boards that count to these details and to the joint tables. In the joint tables, only legal moves and
    /// flags are counted here; the rest [follows](Self::signatures) from the kinds of material.
    pub(super) fn add_boards(&mut self, analyzer: &dyn Analyzer, boards: &Boards<'_>, joint: &mut Joint) {
        let mut signatures = [[0; Group::LEN]; super::Stats::RUN];
        analyzer.signatures(boards.groups, &mut signatures);
        let results = boards.results.iter().map(|results| &results.counts);
        let counts = boards.board_counts.iter().zip(results).zip(&signatures);
        for (at, ((words, moves), signatures)) in counts.enumerate() {
            let lanes = boards.lanes(at);
            let is_rare =
                |lane: usize| signatures[lane] & NO_SIGNATURE | words[lane] & BEYOND | moves[lane] & BEYOND_MOVES;
            let any_is_rare = (0..Group::LEN).fold(0, |any, lane| any | is_rare(lane));
            if lanes == 0xFF && any_is_rare == 0 {
                for lane in 0..Group::LEN {
                    self.add_board(words[lane], signatures[lane], joint);
                }
            } else {
                for lane in rows_of(&[lanes.into()]) {
                    match is_rare(lane) {
                        0 => self.add_board(words[lane], signatures[lane], joint),
                        _ => self.add_rare(words[lane], signatures[lane], moves[lane], joint),
                    }
                }
            }
        }
        self.distinct.add_tile(analyzer, boards.groups, boards.results, boards.mask);
    }

    #[inline(always)]
    fn add_board(&mut self, word: u64, signature: u64, joint: &mut Joint) {
        self.signatures.add(signature as usize);
        self.add_pieces_moves(word);
        joint.add_moves_flags(word);
    }

    /// Adds a board with many pieces of a kind, or many moves.
    #[cold]
    fn add_rare(&mut self, word: u64, signature: u64, moves: u64, joint: &mut Joint) {
        match signature {
            NO_SIGNATURE => self.other_signatures += 1,
            _ => *self.rare_signatures.entry(signature).or_default() += 1,
        }
        if moves & BEYOND_MOVES == 0 {
            self.add_pieces_moves(word);
        }
        joint.add_any(word, moves);
    }

    #[inline(always)]
    fn add_pieces_moves(&mut self, word: u64) {
        let index = (word & 0x7F) << 8 | word >> 56;
        self.pieces_moves.add(index as usize);
    }

    /// Counts the squares of checkers, castling rooks and en passant captures. Masked lanes must be empty boards
    /// without checkers.
    pub(super) fn add_events(&mut self, analyzer: &dyn Analyzer, groups: &[Group], results: &[GroupResults]) {
        self.events.add(groups, results, |groups, results, counters| {
            analyzer.count_events(groups, results, counters);
        });
    }

    /// Adds the fields of the rows of a batch, from `start` on, whose bit is set in the mask, together with the counts
    /// of their boards.
    pub(super) fn add_fields(&mut self, batch: &Batch, start: usize, mask: &[u64], counts: &[BoardCounts]) {
        let counts = counts.as_flattened().chunks(64);
        if let Some(Array::U8(column)) = batch.values(Field::Result) {
            let words = words(column, start, mask).zip(counts.clone());
            for ((values, present, counted), counts) in words {
                let mut add = |row: usize, result: u8, counts: u64| {
                    let index = phase_of(counts) << 2 | usize::from(result & 3);
                    self.phase_results[row % 4].add(index);
                };
                if present & counted == !0 {
                    let rows = (0..).zip(values.iter().zip(counts));
                    rows.for_each(|(row, (&result, &counts))| add(row, result, counts));
                } else {
                    rows_of(&[present & counted]).for_each(|row| add(row, values[row], counts[row]));
                }
            }
        }
        if let Some(columns) = Columns::of(batch, start..batch.len().min(start + 64 * mask.len())) {
            for (word, (&mask, counts)) in mask.iter().zip(counts.clone()).enumerate() {
                for row in rows_of(&[mask]) {
                    self.time_and_mistakes.add(&columns, start + 64 * word + row, counts[row]);
                }
            }
        }
        if let (Some(Array::U8(results)), Some(Array::I16(scores))) =
            (batch.values(Field::Result), batch.values(Field::Score))
        {
            let words = words(results, start, mask).zip(words(scores, start, mask)).zip(counts.clone());
            for (((results, known, counted), (scores, present, _)), counts) in words {
                for row in rows_of(&[known & present & counted & !sentinels(scores)]) {
                    // The result is 0 if Black won, 1 for a draw, 2 if White won, and 3 if it is not known.
                    let of_black = results[row] & 3;
                    let (score, result) = match Flags((counts[row] >> 48) as u8).black_to_move() {
                        true => (scores[row].saturating_neg(), of_black),
                        false => (scores[row], [2, 1, 0, 3][usize::from(of_black)]),
                    };
                    let index = phase_band(phase_of(counts[row])) << 8 | result_score_range(score) << 2;
                    self.score_results.add(index | usize::from(result));
                }
            }
        }
        if let Some(Array::I16(column)) = batch.values(Field::Score) {
            for ((values, present, counted), counts) in words(column, start, mask).zip(counts) {
                for row in rows_of(&[present & counted & !sentinels(values) & !codes_in(values, batch.score_codes)]) {
                    let (score, phase) = (values[row], phase_of(counts[row]));
                    self.phase_scores.add(phase * COLUMNS + score_column(score));
                    self.phase_score_sums[phase & 31] += i64::from(score);
                }
            }
        }
        if let Some(Array::U16(column)) = batch.values(Field::Ply) {
            let columns = GameColumns::of(batch);
            for (word, (values, present, counted)) in words(column, start, mask).enumerate() {
                let mut add = |row: usize, ply: u16| {
                    self.ply.add(ply.into());
                    if ply == 0 {
                        self.games.add(&columns, start + 64 * word + row);
                    }
                };
                if present & counted == !0 {
                    values.iter().enumerate().for_each(|(row, &ply)| add(row, ply));
                } else {
                    rows_of(&[present & counted]).for_each(|row| add(row, values[row]));
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.pieces_moves.merge(&other.pieces_moves);
        self.ply.merge(&other.ply);
        for (ours, theirs) in self.phase_results.iter_mut().zip(&other.phase_results) {
            ours.merge(theirs);
        }
        self.phase_scores.merge(&other.phase_scores);
        add(&mut self.phase_score_sums, &other.phase_score_sums);
        self.score_results.merge(&other.score_results);
        self.signatures.merge(&other.signatures);
        for (&signature, count) in &other.rare_signatures {
            *self.rare_signatures.entry(signature).or_default() += count;
        }
        self.other_signatures += other.other_signatures;
        self.events.merge(&other.events);
        self.distinct.merge(&other.distinct);
        self.games.merge(&other.games);
        self.time_and_mistakes.merge(&other.time_and_mistakes);
    }

    /// The number of boards of each kind of material. The pieces and material of boards that are not yet in the joint
    /// tables are added to these tables.
    pub(super) fn signatures(&self, joint: &mut Joint) -> BTreeMap<Signature, u64> {
        let mut signatures = BTreeMap::new();
        for (index, count) in self.signatures.counts() {
            if let Some(signature) = Signature::from_index(index) {
                joint.add_pieces(signature.pieces(), count);
                signatures.insert(signature, count);
            }
        }
        for (&index, count) in &self.rare_signatures {
            if let Some(signature) = Signature::from_index(index as usize) {
                *signatures.entry(signature).or_default() += count;
            }
        }
        signatures
    }

    /// The results by score, if there are any.
    fn score_results(&self) -> Option<Box<ScoreResults>> {
        let mut all = ScoreResults::default();
        for (index, &count) in self.score_results.counts().iter().enumerate().filter(|(_, count)| **count > 0) {
            // Without a result, there is nothing to count.
            if index & 3 < 3 {
                all.add(index >> 8, index >> 2 & 63, index & 3, count);
            }
        }
        (all.total() > 0).then(|| Box::new(all))
    }

    /// The counts as [`report::Details`], from the kinds of material and the numbers of positions by material and by
    /// phase.
    pub(super) fn report(
        &self,
        signatures: BTreeMap<Signature, u64>,
        material: Matrix,
        phases: &Histogram,
    ) -> report::Details {
        let [mut results, others @ ..] = self.phase_results.clone();
        others.iter().for_each(|others| results.merge(others));
        let by_phase = results.counts().chunks(4).take(MOST_PHASE + 1);
        let results = (0..).zip(by_phase).map(|(phase, counts)| {
            let [black, draw, white] = [counts[0], counts[1], counts[2]];
            let unknown = phases.count(phase) - white - draw - black;
            vec![white, draw, black, unknown]
        });
        let mut pieces_moves = vec![0; 1 << 15];
        for (number, count) in self.pieces_moves.counts() {
            pieces_moves[number] = count;
        }
        let [checkers, castling_rooks, en_passant] = self.events.maps().map(HeatMap);
        report::Details {
            ply: Histogram::new(0, self.ply.counts().to_vec()),
            pieces_moves: matrix(&pieces_moves, 1 << 8),
            material,
            phase_results: Matrix::new(results.collect()),
            phase_scores: matrix(self.phase_scores.counts(), COLUMNS),
            phase_score_sums: self.phase_score_sums[..=MOST_PHASE].to_vec(),
            score_results: self.score_results(),
            signatures,
            other_signatures: self.other_signatures,
            checkers,
            en_passant,
            castling_rooks,
            distinct: self.distinct.clone(),
            exact_distinct: None,
            games: self.games.report(),
            times_used: self.time_and_mistakes.times(),
            mistakes: self.time_and_mistakes.mistakes(),
            accuracies: self.time_and_mistakes.accuracies(),
        }
    }
}

/// Rows of `columns` counts each.
fn matrix(counts: &[u64], columns: usize) -> Matrix {
    Matrix::new(counts.chunks(columns).map(<[u64]>::to_vec).collect())
}
