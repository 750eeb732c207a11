//! What only a full report shows, and plain statistics do not take the time for.
//!
//! As in the rest of the statistics, a position increments counters in tables, whose indices come from words that
//! the lanes have made. Whatever is rare (checks, en passant captures, beginnings of games) is visited one by one.

use super::joint::{BEYOND_MOVES, MOST_PHASE};
use super::tally::Tally;
use super::words;
use crate::block::Group;
use crate::distinct::{Sketches, castling_files};
use crate::games::Speed;
use crate::kernels::BoardCounts;
use crate::queries::{EN_PASSANTS, GroupResults};
use crate::report::{
    self, HeatMap, Histogram, Matrix, SCORE_COLUMNS, Signature, Squares, add, score_column,
};
use crate::table::{Array, Batch, Field, bits_where, rows_of};
use crate::tiers::Analyzer;

/// The boards of a run of records, with what is known of them.
pub(super) struct Boards<'a> {
    pub(super) groups: &'a [Group],
    pub(super) results: &'a [GroupResults],
    pub(super) board_counts: &'a [BoardCounts],
    /// A bit for each record that counts.
    pub(super) mask: &'a [u64],
}

/// Columns of [`Details::phase_scores`].
const COLUMNS: usize = SCORE_COLUMNS.next_power_of_two();

/// See [`report::Details`].
#[derive(Clone, Debug)]
pub(super) struct Details {
    /// Legal moves in bits 0 to 7, pieces above them.
    pieces_moves: Tally<{ 1 << 15 }>,
    ply: Tally<{ 1 << 16 }>,
    /// The result in bits 0 and 1, the phase above them.
    phase_results: Tally<128>,
    /// The column of the score in bits 0 to 6, the phase above them.
    phase_scores: Tally<{ 32 * COLUMNS }>,
    phase_score_sums: [i64; 32],
    /// By index; those without one from [`Signature::COUNT`] on, by lane.
    signatures: Tally<{ Signature::COUNT.next_power_of_two() }>,
    checkers: Squares,
    en_passant: Squares,
    /// By squares of castling rooks: those of rank 1 in bits 0 to 7, those of rank 8 above them.
    castling_rooks: Tally<{ 1 << 16 }>,
    distinct: Sketches,
    games: Games,
}

impl Default for Details {
    fn default() -> Self {
        Self {
            pieces_moves: Tally::default(),
            ply: Tally::default(),
            phase_results: Tally::default(),
            phase_scores: Tally::default(),
            phase_score_sums: [0; 32],
            signatures: Tally::default(),
            checkers: [0; 64],
            en_passant: [0; 64],
            castling_rooks: Tally::default(),
            distinct: Sketches::default(),
            games: Games::default(),
        }
    }
}

/// Facts of games.
#[derive(Clone, Debug, Default)]
struct Games {
    count: u64,
    /// By letter (A to E) and number of the opening code.
    eco: Tally<512>,
    elo: [Tally<{ 1 << 16 }>; 2],
    speeds: [u64; Speed::ALL.len() + 1],
}

impl Details {
    /// Adds the boards that count.
    pub(super) fn add_boards(&mut self, analyzer: &dyn Analyzer, boards: &Boards<'_>) {
        let mut signatures = [[0; Group::LEN]; super::Stats::RUN];
        analyzer.signatures(boards.groups, &mut signatures);
        let groups = boards.groups.iter().zip(boards.results);
        let counts = boards.board_counts.iter().zip(&signatures);
        for (at, ((group, results), (counts, signatures))) in groups.zip(counts).enumerate() {
            let lanes = (boards.mask[at / 8] >> (at % 8 * 8)) as u8;
            if lanes == 0xFF {
                for lane in 0..Group::LEN {
                    self.add_board(lane, counts[lane], signatures[lane], results.counts[lane]);
                }
            } else {
                for lane in rows_of(&[lanes.into()]) {
                    self.add_board(lane, counts[lane], signatures[lane], results.counts[lane]);
                }
            }
            self.add_squares(group, results, lanes);
        }
        self.distinct
            .add_tile(analyzer, boards.groups, boards.results, boards.mask);
    }

    #[inline(always)]
    fn add_board(&mut self, lane: usize, word: u64, signature: u64, moves: u64) {
        let signature = signature as usize;
        // Increments of the same counter would wait for each other.
        let place = if signature == Signature::COUNT {
            lane
        } else {
            0
        };
        self.signatures.add(signature + place);
        if moves & BEYOND_MOVES == 0 {
            let index = (word & 0x7F) << 8 | word >> 56;
            self.pieces_moves.add(index as usize);
        }
    }

    /// Counts the squares of checkers, en passant captures and castling rooks in these lanes.
    #[inline(always)]
    fn add_squares(&mut self, group: &Group, results: &GroupResults, lanes: u8) {
        let [color, t0, t1, t2] = &group.planes;
        let (mut any_check, mut any_castling, mut any_capture) = (0, 0, 0);
        for lane in 0..Group::LEN {
            any_check |= results.checkers[lane];
            any_castling |= t0[lane] & t1[lane] & t2[lane];
            any_capture |= results.counts[lane] >> EN_PASSANTS;
        }
        if any_castling != 0 {
            for lane in rows_of(&[lanes.into()]) {
                let castling = t0[lane] & t1[lane] & t2[lane];
                if castling != 0 {
                    self.castling_rooks.add(castling_files(castling).into());
                }
            }
        }
        if any_check | any_capture == 0 {
            return;
        }
        for lane in rows_of(&[lanes.into()]) {
            for square in rows_of(&[results.checkers[lane]]) {
                self.checkers[square] += 1;
            }
            if results.counts[lane] >> EN_PASSANTS != 0 {
                let sentinel = color[lane] & !(t0[lane] | t1[lane] | t2[lane]);
                self.en_passant[sentinel.trailing_zeros() as usize & 63] += 1;
            }
        }
    }

    /// Adds what the rows of a batch carry, from `start` on, of those whose bit is set in the mask; with the counts of
    /// their boards.
    pub(super) fn add_fields(
        &mut self,
        batch: &Batch,
        start: usize,
        mask: &[u64],
        counts: &[BoardCounts],
    ) {
        let mut phases = [0u8; super::Stats::RUN * Group::LEN];
        for (phase, counts) in phases.iter_mut().zip(counts.as_flattened()) {
            *phase = ((counts >> 8) as u8).min(MOST_PHASE as u8);
        }
        let phases = phases.chunks(64);
        if let Some(Array::U8(column)) = batch.values(Field::Result) {
            for ((values, present, counted), phases) in
                words(column, start, mask).zip(phases.clone())
            {
                let mut add = |result: u8, phase: u8| {
                    self.phase_results
                        .add(usize::from(phase) << 2 | usize::from(result & 3));
                };
                if present & counted == !0 {
                    values
                        .iter()
                        .zip(phases)
                        .for_each(|(&result, &phase)| add(result, phase));
                } else {
                    rows_of(&[present & counted]).for_each(|row| add(values[row], phases[row]));
                }
            }
        }
        if let Some(Array::I16(column)) = batch.values(Field::Score) {
            for ((values, present, counted), phases) in words(column, start, mask).zip(phases) {
                let mut add = |score: i16, phase: u8| {
                    let phase = usize::from(phase);
                    self.phase_scores.add(phase * COLUMNS + score_column(score));
                    self.phase_score_sums[phase & 31] += i64::from(score);
                };
                if present & counted == !0 {
                    values
                        .iter()
                        .zip(phases)
                        .for_each(|(&score, &phase)| add(score, phase));
                } else {
                    rows_of(&[present & counted]).for_each(|row| add(values[row], phases[row]));
                }
            }
        }
        if let Some(Array::U16(column)) = batch.values(Field::Ply) {
            for (word, (values, present, counted)) in words(column, start, mask).enumerate() {
                let counted = present & counted;
                if counted == !0 {
                    values.iter().for_each(|&ply| self.ply.add(ply.into()));
                } else {
                    rows_of(&[counted]).for_each(|row| self.ply.add(values[row].into()));
                }
                for row in rows_of(&[bits_where(values, |ply| ply == 0) & counted]) {
                    self.games.add(batch, start + 64 * word + row);
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.pieces_moves.merge(&other.pieces_moves);
        self.ply.merge(&other.ply);
        self.phase_results.merge(&other.phase_results);
        self.phase_scores.merge(&other.phase_scores);
        add(&mut self.phase_score_sums, &other.phase_score_sums);
        self.signatures.merge(&other.signatures);
        add(&mut self.checkers, &other.checkers);
        add(&mut self.en_passant, &other.en_passant);
        self.castling_rooks.merge(&other.castling_rooks);
        self.distinct.merge(&other.distinct);
        self.games.merge(&other.games);
    }

    /// What was counted, with the numbers of positions by material and by phase.
    pub(super) fn report(&self, material: Matrix, phases: &Histogram) -> report::Details {
        let by_phase = self.phase_results.counts().chunks(4).take(MOST_PHASE + 1);
        let results = (0..).zip(by_phase).map(|(phase, counts)| {
            let [black, draw, white] = [counts[0], counts[1], counts[2]];
            let unknown = phases.count(phase) - white - draw - black;
            vec![white, draw, black, unknown]
        });
        let signatures = (0..).zip(self.signatures.counts());
        let signatures = signatures.filter(|&(_, &count)| count > 0);
        let mut castling_rooks = [0; 64];
        for (rooks, &count) in (0u64..).zip(self.castling_rooks.counts()) {
            if count > 0 {
                for file in rows_of(&[rooks]) {
                    castling_rooks[file + file / 8 * 48] += count;
                }
            }
        }
        report::Details {
            ply: Histogram::new(0, self.ply.counts().to_vec()),
            pieces_moves: matrix(self.pieces_moves.counts(), 1 << 8),
            material,
            phase_results: Matrix::new(results.collect()),
            phase_scores: matrix(self.phase_scores.counts(), COLUMNS),
            phase_score_sums: self.phase_score_sums[..=MOST_PHASE].to_vec(),
            signatures: signatures
                .filter_map(|(index, &count)| Some((Signature::from_index(index)?, count)))
                .collect(),
            other_signatures: self.signatures.counts()[Signature::COUNT..].iter().sum(),
            checkers: HeatMap(self.checkers),
            en_passant: HeatMap(self.en_passant),
            castling_rooks: HeatMap(castling_rooks),
            distinct: self.distinct.clone(),
            exact_distinct: None,
            games: self.games.report(),
        }
    }
}

impl Games {
    /// Adds the game that begins at this row.
    fn add(&mut self, batch: &Batch, row: usize) {
        self.count += 1;
        let text = |field| match batch.values(field) {
            Some(Array::Text(texts)) => texts.get(row).map_or(&b""[..], |text| text.as_bytes()),
            _ => b"",
        };
        if let &[letter @ b'A'..=b'E', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = text(Field::Eco) {
            let [letter, tens, ones] = [letter - b'A', tens - b'0', ones - b'0'].map(usize::from);
            self.eco.add(100 * letter + 10 * tens + ones);
        }
        for (field, elo) in [Field::WhiteElo, Field::BlackElo]
            .into_iter()
            .zip(&mut self.elo)
        {
            if let Some(Array::U16(ratings)) = batch.values(field)
                && let Some(&rating) = ratings.get(row)
            {
                elo.add(rating.into());
            }
        }
        let speed = Speed::of_tag(text(Field::TimeControl));
        let place = speed.and_then(|speed| Speed::ALL.iter().position(|&other| other == speed));
        self.speeds[place.unwrap_or(Speed::ALL.len())] += 1;
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.eco.merge(&other.eco);
        for (ours, theirs) in self.elo.iter_mut().zip(&other.elo) {
            ours.merge(theirs);
        }
        add(&mut self.speeds, &other.speeds);
    }

    fn report(&self) -> report::Games {
        let code = |at: usize| {
            let digit = |digit: usize| b'0' + digit as u8;
            [b'A' + (at / 100) as u8, digit(at / 10 % 10), digit(at % 10)]
        };
        let eco = (0..).zip(self.eco.counts());
        let eco = eco.filter(|&(_, &count)| count > 0);
        let elo = self.elo.each_ref().map(Tally::counts);
        report::Games {
            count: self.count,
            eco: eco.map(|(at, &count)| (code(at), count)).collect(),
            elo: elo.map(|counts| Histogram::new(0, counts.to_vec())),
            speeds: self.speeds,
        }
    }
}

/// Rows of `columns` counts each.
fn matrix(counts: &[u64], columns: usize) -> Matrix {
    Matrix::new(counts.chunks(columns).map(<[u64]>::to_vec).collect())
}
