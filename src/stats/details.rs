//! What only a full report shows, and plain statistics do not take the time for.
//!
//! As in the rest of the statistics, a position increments counters in tables, whose indices come from words that
//! the lanes have made. Whatever is rare (checks, en passant captures, beginnings of games) is visited one by one.

use super::joint::{BEYOND_MOVES, MOST_PHASE};
use super::tally::Tally;
use super::words;
use crate::block::Group;
use crate::distinct::Sketches;
use crate::games::Speed;
use crate::kernels::BoardCounts;
use crate::queries::{EN_PASSANTS, GroupResults};
use crate::report::{
    self, HeatMap, Histogram, Matrix, SCORE_COLUMNS, Signature, Squares, score_column,
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
    phase_score_sums: [i64; MOST_PHASE + 1],
    /// By index; those without one at [`Signature::COUNT`].
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
            phase_score_sums: [0; MOST_PHASE + 1],
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
    /// Adds the boards that count, which are those of the batch from the row `start` on.
    pub(super) fn add(
        &mut self,
        analyzer: &dyn Analyzer,
        boards: &Boards<'_>,
        batch: &Batch,
        start: usize,
    ) {
        let mut signatures = [[0; Group::LEN]; super::Stats::RUN];
        analyzer.signatures(boards.groups, &mut signatures);
        let signatures = signatures.as_flattened();
        let counts = boards.board_counts.as_flattened();
        for row in rows_of(boards.mask) {
            let (group, lane) = (row / Group::LEN, row % Group::LEN);
            let word = counts[row];
            self.signatures.add(signatures[row] as usize);
            let results = &boards.results[group];
            if results.counts[lane] & BEYOND_MOVES == 0 {
                self.pieces_moves
                    .add(((word & 0x7F) << 8 | word >> 56) as usize);
            }
            let [color, t0, t1, t2] = boards.groups[group]
                .planes
                .each_ref()
                .map(|plane| plane[lane]);
            let castling = t0 & t1 & t2;
            self.castling_rooks
                .add((castling & 0xFF | castling >> 48 & 0xFF00) as usize);
            let mut checkers = results.checkers[lane];
            while checkers != 0 {
                self.checkers[checkers.trailing_zeros() as usize] += 1;
                checkers &= checkers - 1;
            }
            if results.counts[lane] >> EN_PASSANTS != 0 {
                let sentinel = color & !(t0 | t1 | t2);
                self.en_passant[sentinel.trailing_zeros() as usize & 63] += 1;
            }
        }
        self.distinct
            .add_tile(boards.groups, boards.results, boards.mask);
        self.add_fields(boards, batch, start);
    }

    fn add_fields(&mut self, boards: &Boards<'_>, batch: &Batch, start: usize) {
        let counts = boards.board_counts.as_flattened();
        let phase = |row: usize| ((counts[row] >> 8 & 0xFF) as usize).min(MOST_PHASE);
        if let Some(Array::U8(column)) = batch.values(Field::Result) {
            for (word, (values, present, mask)) in words(column, start, boards.mask).enumerate() {
                for row in rows_of(&[present & mask]) {
                    let result = usize::from(values[row]);
                    self.phase_results
                        .add(phase(64 * word + row) << 2 | result & 3);
                }
            }
        }
        if let Some(Array::I16(column)) = batch.values(Field::Score) {
            for (word, (values, present, mask)) in words(column, start, boards.mask).enumerate() {
                for row in rows_of(&[present & mask]) {
                    let (phase, score) = (phase(64 * word + row), values[row]);
                    self.phase_scores.add(phase * COLUMNS + score_column(score));
                    self.phase_score_sums[phase] += i64::from(score);
                }
            }
        }
        if let Some(Array::U16(column)) = batch.values(Field::Ply) {
            for (word, (values, present, mask)) in words(column, start, boards.mask).enumerate() {
                let counted = present & mask;
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
        for (ours, theirs) in self.phase_score_sums.iter_mut().zip(other.phase_score_sums) {
            *ours += theirs;
        }
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
            phase_score_sums: self.phase_score_sums.to_vec(),
            signatures: signatures
                .filter_map(|(index, &count)| Some((Signature::from_index(index)?, count)))
                .collect(),
            other_signatures: self.signatures.counts()[Signature::COUNT],
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

fn add(ours: &mut [u64], theirs: &[u64]) {
    for (ours, theirs) in ours.iter_mut().zip(theirs) {
        *ours += theirs;
    }
}
