//! The judge, which decides which records count.
//!
//! A batch is analyzed tile by tile. The results have a bit for each board that is invalid at the relaxed level; the
//! strict level also checks the rules of single positions. Bad records become rejects, and the job receives the
//! tile with a mask of the records that count.

use super::second_file::OTHER_COUNTERS;
use super::settings::Settings;
use super::{Job, SecondFile, TILE};
use crate::chess::Validity;
use crate::choose::{Assignments, Changes, LeftOutBy, RecordFilter, choose};
use crate::error::{Error, Place, Reject};
use crate::formats::codec::decode_records::hexadecimal;
use crate::formats::tables::RecordTexts;
use crate::formats::{Chunk, Format, Refusal, Remarks};
#[cfg(feature = "parquet")]
use crate::formats::{DecodeOptions, Decoded};
use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::table::{Batch, Field, RecordBefore, Tile, first_rows, rows_of};
use crate::tiers::Analyzer;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Records of a tile.
const ROWS: usize = TILE * Group::LEN;
/// Words of the mask of a tile.
const WORDS: usize = ROWS / 64;

/// Hands good records to the job and keeps the bad ones.
pub(super) struct RecordJudge<'a, J: Job> {
    pub(super) analyzer: &'static dyn Analyzer,
    pub(super) validity: Validity,
    /// Whether to stop after the first bad record.
    pub(super) stops: bool,
    /// Numbers of the records to process.
    pub(super) range: Range<u64>,
    /// The number of the first record that the job may take. Those before it, all requested, were chosen and skipped, or
    /// left out, or are bad.
    pub(super) first_taken: u64,
    pub(super) job: &'a J,
    /// The function that finds good records which the job cannot take.
    pub(super) refusal: Option<Refusal>,
    /// The choice among the good records.
    pub(super) choices: &'a [&'a dyn RecordFilter],
    /// The choice of an earlier run.
    pub(super) only: Option<&'a dyn RecordFilter>,
    /// The file with a record beside each of the good records, which are compared with it.
    pub(super) beside: Option<&'a SecondFile>,
    /// The number of those whose counters differ, and the error of the first one that is another position.
    pub(super) other_counters: u64,
    pub(super) not_beside: Option<Error>,
    /// The new values for these records.
    pub(super) set: Option<&'a Assignments>,
    /// The queries for the job, for the choices and for new values, and the query for invalid boards.
    pub(super) queries: Queries,
    pub(super) format: Format,
    pub(super) chunk: &'a Chunk,
    /// The texts of the records, if they are not in the bytes of the chunk.
    pub(super) texts: Option<&'a dyn RecordTexts>,
    /// Number of lines before the chunk, if it is known.
    pub(super) lines_before: Option<u64>,
    /// A place in the chunk where a line begins, and the number of lines before it, so that the lines up to the last
    /// reject are not counted again.
    pub(super) counted: (usize, u64),
    /// Where the job receives the records; `None` while a record is judged that it has received before.
    pub(super) part: Option<&'a mut J::Part>,
    /// The record before the next one, if it was read just before.
    pub(super) before: Option<Before>,
    pub(super) rejects: Vec<Reject>,
    /// The records that the choices left out.
    pub(super) left_out: LeftOutBy,
    /// The records of binpack files that were taken, and have a sentinel in place of a score.
    pub(super) remarked: u64,
    /// The numbers of the records that were taken, in order, if they are requested.
    pub(super) taken: Option<Vec<Range<u64>>>,
    pub(super) results: &'a mut [GroupResults],
}

/// What is known about the records of a chunk once they are judged.
pub(super) struct Judged {
    /// All rejects, in order.
    pub(super) rejects: Vec<Reject>,
    pub(super) left_out: LeftOutBy,
    /// The remarks on records that were taken.
    pub(super) remarks: Remarks,
    /// The numbers of the records that were taken, if they were requested.
    pub(super) taken: Vec<Range<u64>>,
    /// The last record.
    pub(super) last: Option<Before>,
    /// The error of the first record that is not the one beside it.
    pub(super) not_beside: Option<Error>,
}

impl<'a, J: Job> RecordJudge<'a, J> {
    /// A judge of the records of a chunk, without rejects that are known already, texts and lines.
    pub(super) fn new(
        settings: &Settings<'a>,
        job: &'a J,
        (format, chunk): (Format, &'a Chunk),
        range: Range<u64>,
        part: &'a mut J::Part,
        results: &'a mut [GroupResults],
    ) -> Self {
        let choices = settings.choices.iter().map(|choice| choice.needs().queries);
        // With new values, the job has separate results.
        let own = settings.set.map_or_else(|| job.needs().queries, |set| set.needs().queries);
        Self {
            analyzer: settings.analyzer,
            validity: settings.decode.validity,
            stops: settings.strict,
            range,
            first_taken: 0,
            job,
            refusal: job.refusal(),
            choices: settings.choices,
            only: settings.only,
            beside: settings.beside,
            other_counters: 0,
            not_beside: None,
            set: settings.set,
            queries: choices.fold(own | Queries::INVALID, |all, queries| all | queries),
            format,
            chunk,
            texts: None,
            lines_before: None,
            counted: (0, 0),
            part: Some(part),
            before: None,
            rejects: Vec::new(),
            left_out: LeftOutBy::new(),
            remarked: 0,
            taken: None,
            results,
        }
    }

    /// Judges the record before the first one of the chunk, a copy in a batch of its own. Its rejects and counts belong to
    /// its own chunk, so that they are dropped here.
    pub(super) fn after(mut self, record: Batch) -> Self {
        let part = self.part.take();
        let taken = self.taken.take();
        let rejects = std::mem::take(&mut self.rejects);
        let left_out = std::mem::take(&mut self.left_out);
        let first_taken = std::mem::take(&mut self.first_taken);
        let beside = self.beside.take();
        let (stops, remarked) = (std::mem::take(&mut self.stops), self.remarked);
        self.batch(&Arc::new(record));
        Self { part, taken, rejects, left_out, first_taken, beside, stops, remarked, counted: (0, 0), ..self }
    }

    /// Processes the requested records of batches.
    pub(super) fn batches(mut self, batches: &[Arc<Batch>]) -> Judged {
        for batch in batches {
            if !self.batch(batch) {
                break;
            }
        }
        self.rejects.sort_by_key(|reject| reject.place.record);
        let mut remarks = Remarks::default();
        if let Some(on_taken) = self.format.remark_on_taken() {
            remarks.add(on_taken.remark, self.remarked);
        }
        remarks.add(&OTHER_COUNTERS, self.other_counters);
        let taken = self.taken.unwrap_or_default();
        Judged {
            rejects: self.rejects,
            left_out: self.left_out,
            remarks,
            taken,
            last: self.before,
            not_beside: self.not_beside,
        }
    }

    /// Processes a batch; false if nothing after it is requested.
    fn batch(&mut self, batch: &Arc<Batch>) -> bool {
        if let Some(set) = self.set {
            return self.changed(batch, set);
        }
        let in_range = |row: usize| self.range.contains(&batch.index(row));
        let all_in_range = batch.is_empty() || (in_range(0) && in_range(batch.len() - 1));
        for start in (0..batch.len()).step_by(ROWS) {
            let Some((mut mask, mut more)) = self.tile(batch, start, all_in_range) else {
                self.before = None;
                continue;
            };
            more &= self.refuse(batch, start, &mut mask);
            let could_be_taken = mask;
            self.choose_only(batch, start, &mut mask);
            if self.choices.is_empty() && self.only.is_none() || mask != [0; WORDS] {
                self.hand_over(batch, start, &mask);
            }
            self.before = Some(Before::end_of(batch, start, &could_be_taken, &mask));
            if !more {
                return false;
            }
        }
        true
    }

    /// Hands the taken records of a tile to the job.
    fn hand_over(&mut self, batch: &Arc<Batch>, start: usize, mask: &[u64; WORDS]) {
        if let Some(on_taken) = self.format.remark_on_taken() {
            self.remarked += (on_taken.count)(batch, start, mask);
        }
        self.note_taken(batch, start, mask);
        let len = (batch.len() - start).min(ROWS);
        let before = self.before.as_ref().map(|before| before.record(before.is_taken));
        let tile = Tile::new(self.analyzer, batch, start, len, self.results, mask).after(before);
        if let Some(part) = &mut self.part {
            self.job.tile(part, &tile);
        }
    }

    /// Processes a batch whose records get new values: the job sees them in a separate batch.
    fn changed(&mut self, batch: &Arc<Batch>, set: &Assignments) -> bool {
        let in_range = |row: usize| self.range.contains(&batch.index(row));
        let all_in_range = batch.is_empty() || (in_range(0) && in_range(batch.len() - 1));
        let mut changes = Changes::new(set);
        let mut masks = Vec::new();
        let mut more = true;
        for start in (0..batch.len()).step_by(ROWS) {
            let Some((mut mask, is_more)) = self.tile(batch, start, all_in_range) else {
                continue;
            };
            more = is_more;
            let len = (batch.len() - start).min(ROWS);
            let taken = mask;
            let wrong = changes.evaluate(&Tile::new(self.analyzer, batch, start, len, self.results, &taken));
            for (row, message) in wrong {
                mask[(row - start) / 64] &= !(1 << ((row - start) % 64));
                self.reject(batch, row, vec!["value"], message);
                if self.stops {
                    keep(&mut mask, |other| start + other < row);
                    more = false;
                    break;
                }
            }
            masks.push((start, mask));
            if !more {
                break;
            }
        }
        let changed = Arc::new(changes.apply(batch));
        let queries = self.job.needs().queries;
        let mut end = 0;
        for (start, mask) in masks.into_iter().filter(|(_, mask)| *mask != [0; WORDS]) {
            let len = (batch.len() - start).min(ROWS);
            let first = start / Group::LEN;
            let groups = &changed.groups()[first..first + len.div_ceil(Group::LEN)];
            if queries != Queries::NONE {
                self.analyzer.analyze(groups, queries, self.results);
            }
            let mut mask = mask;
            if start != end {
                self.before = None;
            }
            let goes_on = self.refuse(&changed, start, &mut mask);
            let could_be_taken = mask;
            self.choose_only(&changed, start, &mut mask);
            self.hand_over(&changed, start, &mask);
            self.before = Some(Before::end_of(&changed, start, &could_be_taken, &mask));
            end = start + len;
            if !goes_on {
                return false;
            }
        }
        if end != batch.len() {
            self.before = None;
        }
        more
    }

    /// Notes the numbers of the taken records of a tile, if they are requested.
    fn note_taken(&mut self, batch: &Batch, start: usize, mask: &[u64; WORDS]) {
        let Some(taken) = &mut self.taken else { return };
        for row in rows_of(mask) {
            add_number(taken, batch.index(start + row));
        }
    }

    /// Applies the choice of an earlier run.
    fn choose_only(&mut self, batch: &Arc<Batch>, start: usize, mask: &mut [u64; WORDS]) {
        if let Some(only) = self.only.filter(|_| *mask != [0; WORDS]) {
            let len = (batch.len() - start).min(ROWS);
            let could_be_taken = *mask;
            let tile = Tile::new(self.analyzer, batch, start, len, self.results, &could_be_taken);
            only.choose(&tile, &mut mask[..len.div_ceil(64)]);
        }
    }

    /// Removes the records that the job cannot take from the mask; false if nothing after the first of them is
    /// requested.
    fn refuse(&mut self, batch: &Arc<Batch>, start: usize, mask: &mut [u64; WORDS]) -> bool {
        let Some(refusal) = self.refusal.filter(|_| *mask != [0; WORDS]) else { return true };
        let len = (batch.len() - start).min(ROWS);
        let taken = *mask;
        let before = self.before.as_ref().map(|before| before.record(before.could_be_taken));
        let tile = Tile::new(self.analyzer, batch, start, len, self.results, &taken).after(before);
        for (row, reason, message) in refusal.rows(&tile) {
            let place = row - start;
            mask[place / 64] &= !(1 << (place % 64));
            self.reject(batch, row, vec![reason], message);
            if self.stops {
                keep(mask, |other| other < place);
                return false;
            }
        }
        true
    }

    /// Answers the queries about a tile, and decides which of its records are taken, and whether any later ones are
    /// requested. `None` if no record of the tile is requested.
    #[inline]
    fn tile(&mut self, batch: &Arc<Batch>, start: usize, all_in_range: bool) -> Option<([u64; WORDS], bool)> {
        let len = (batch.len() - start).min(ROWS);
        let mut mask: [u64; WORDS] = first_rows(len);
        if let Some(selected) = &batch.selected {
            for (bits, selected) in mask.iter_mut().zip(&selected[start / 64..]) {
                *bits &= selected;
            }
        }
        if !all_in_range {
            keep(&mut mask, |row| self.range.contains(&batch.index(start + row)));
        }
        if mask == [0; WORDS] {
            return None;
        }
        let first = start / Group::LEN;
        let groups = &batch.groups()[first..first + len.div_ceil(Group::LEN)];
        // Positions that stand for none are not judged.
        if !(batch.lacks_positions && self.queries == Queries::INVALID) {
            self.analyzer.analyze(groups, self.queries, self.results);
        }
        let mut more = batch.lacks_positions
            || !self.has_bad(batch, start, groups.len(), &mask)
            || self.reject_bad(batch, start, &mut mask);
        more &= self.compare(batch, start, &mut mask);
        if !self.choices.is_empty() {
            let good = mask;
            let words = len.div_ceil(64);
            let tile = Tile::new(self.analyzer, batch, start, len, self.results, &good);
            choose(self.choices, &tile, &mut mask[..words], &mut self.left_out);
            if len > 0 && batch.index(start) < self.first_taken {
                keep(&mut mask, |row| batch.index(start + row) >= self.first_taken);
            }
        }
        Some((mask, more))
    }

    /// Compares the good records of a tile with those beside them; false if one differs. It and all later ones are removed
    /// from the mask.
    fn compare(&mut self, batch: &Batch, start: usize, mask: &mut [u64; WORDS]) -> bool {
        let Some(beside) = self.beside else { return true };
        match beside.compare(batch, start, mask) {
            Ok(other_counters) => {
                self.other_counters += other_counters;
                true
            }
            Err((row, reason)) => {
                let place = self.place(batch, row).to_string();
                self.not_beside = Some(Error::NotBeside { place, reason });
                keep(mask, |other| start + other < row);
                false
            }
        }
    }

    /// Whether any record of the tile may be bad.
    fn has_bad(&self, batch: &Batch, start: usize, groups: usize, mask: &[u64; WORDS]) -> bool {
        let mut bad = 0;
        for results in &self.results[..groups] {
            for lane in results.invalid {
                bad |= lane;
            }
        }
        bad != 0 || self.validity == Validity::Strict && rows_of(mask).any(|row| self.breaks_strict(batch, start + row))
    }

    /// Removes the bad records from the mask; false if nothing after the first one is requested.
    #[cold]
    fn reject_bad(&mut self, batch: &Batch, start: usize, mask: &mut [u64; WORDS]) -> bool {
        for row in rows_of(&mask.clone()) {
            let lane = self.results[row / Group::LEN].invalid[row % Group::LEN];
            if lane == 0 && !self.breaks_strict(batch, start + row) {
                continue;
            }
            mask[row / 64] &= !(1 << (row % 64));
            self.reject_board(batch, start + row);
            if self.stops {
                keep(mask, |other| other < row);
                return false;
            }
        }
        true
    }

    fn breaks_strict(&self, batch: &Batch, row: usize) -> bool {
        self.validity == Validity::Strict
            && !batch.position(row).is_ok_and(|position| position.is_valid(Validity::Strict))
    }

    #[cold]
    fn reject_board(&mut self, batch: &Batch, row: usize) {
        let (reasons, message) = match batch.position(row) {
            Err(error) => (vec!["undecodable"], error.to_string()),
            Ok(position) => {
                let violations = position.violations(self.validity);
                (violations.names().collect(), violations.to_string())
            }
        };
        self.reject(batch, row, reasons, message);
    }

    #[cold]
    fn reject(&mut self, batch: &Batch, row: usize, reasons: Vec<&'static str>, message: String) {
        let (place, raw) = self.place_and_text(batch, row);
        self.rejects.push(Reject { place, reasons, message: Cow::Owned(message), raw });
    }

    #[cold]
    fn place(&mut self, batch: &Batch, row: usize) -> Place {
        self.place_and_text(batch, row).0
    }

    /// The place of a record, and its text as found.
    fn place_and_text(&mut self, batch: &Batch, row: usize) -> (Place, Vec<u8>) {
        let origin = batch.origin(row);
        let bytes = &self.chunk.bytes;
        let rows_are_games = self.format.about().has_games && self.chunk.rows().is_some();
        let (from, lines) = match self.counted {
            counted @ (from, _) if from <= origin => counted,
            _ => (0, 0),
        };
        let (raw, line) = match self.format.layout().raw(&bytes[from..], origin - from) {
            Some((raw, None)) => (hexadecimal(raw), None),
            Some((raw, Some(line))) => {
                if bytes.get(origin.wrapping_sub(1)) == Some(&b'\n') {
                    self.counted = (origin, lines + line - 1);
                }
                (raw.to_vec(), self.lines_before.map(|before| before + lines + line))
            }
            None => {
                let place = if rows_are_games { origin } else { batch.ordinal(row) as usize };
                let text = self.texts.and_then(|texts| texts.text(place));
                (text.unwrap_or_else(|| planes(batch, row)), None)
            }
        };
        // Outside the texts of games these values are columns, which are read only on request. If they caused rejects,
        // the rejects would depend on the requested columns.
        let has_games = self.format.about().has_games;
        let number = |field| batch.values(field).filter(|_| has_games)?.number(row);
        let place = Place {
            file: Arc::clone(&self.chunk.file),
            line,
            offset: self.chunk.offset + origin as u64,
            record: batch.index(row),
            game: number(Field::Game).map(|game| game as u64),
            ply: number(Field::Ply).map(|ply| ply as u16),
            frame: self.chunk.frame,
            row: self
                .chunk
                .rows()
                .map(|part| part.rows().start + if rows_are_games { origin as u64 } else { batch.ordinal(row) }),
        };
        (place, raw)
    }
}

/// Judges the records of a chunk outside a run, and runs a job on those that count; also returns the rejects.
#[cfg(feature = "parquet")]
pub(crate) fn judge_chunk<J: Job>(
    analyzer: &'static dyn Analyzer,
    options: &DecodeOptions,
    job: &J,
    (format, chunk): (Format, &Chunk),
    decoded: Decoded,
    results: &mut [GroupResults],
) -> (J::Part, Vec<Reject>) {
    let mut part = job.begin();
    let judge = RecordJudge {
        analyzer,
        validity: options.validity,
        stops: false,
        range: 0..u64::MAX,
        first_taken: 0,
        job,
        refusal: job.refusal(),
        choices: &[],
        only: None,
        beside: None,
        other_counters: 0,
        not_beside: None,
        set: None,
        queries: job.needs().queries | Queries::INVALID,
        format,
        chunk,
        texts: decoded.texts.as_deref(),
        lines_before: None,
        counted: (0, 0),
        part: Some(&mut part),
        before: None,
        rejects: decoded.rejects,
        left_out: LeftOutBy::new(),
        remarked: 0,
        taken: None,
        results,
    };
    let batches: Vec<Arc<Batch>> = decoded.batches.into_iter().map(Arc::new).collect();
    let rejects = judge.batches(&batches).rejects;
    (part, rejects)
}

/// Adds a number to ranges of smaller ones.
pub(super) fn add_number(ranges: &mut Vec<Range<u64>>, number: u64) {
    match ranges.last_mut() {
        Some(last) if last.end == number => last.end += 1,
        _ => ranges.push(number..number + 1),
    }
}

/// The record before a tile.
#[derive(Debug)]
pub(super) struct Before {
    batch: Arc<Batch>,
    row: usize,
    /// Whether the job could take it.
    could_be_taken: bool,
    /// Whether the earlier run has chosen it, too.
    is_taken: bool,
}

impl Before {
    /// The last record of a tile, with masks of those that the job could take and those that are taken.
    fn end_of(batch: &Arc<Batch>, start: usize, could_be_taken: &[u64; WORDS], taken: &[u64; WORDS]) -> Self {
        let place = (batch.len() - start).min(ROWS) - 1;
        let is_in = |mask: &[u64; WORDS]| mask[place / 64] >> (place % 64) & 1 != 0;
        Self {
            batch: Arc::clone(batch),
            row: start + place,
            could_be_taken: is_in(could_be_taken),
            is_taken: is_in(taken),
        }
    }
    fn record(&self, counts: bool) -> RecordBefore<'_> {
        RecordBefore { batch: &self.batch, row: self.row, counts }
    }
}

/// Keeps only the records of a mask for which `is` holds.
fn keep(mask: &mut [u64; WORDS], is: impl Fn(usize) -> bool) {
    for row in rows_of(&mask.clone()) {
        if !is(row) {
            mask[row / 64] &= !(1 << (row % 64));
        }
    }
}

/// The text for a record without one: the four planes of the board in hexadecimal digits, and the two clocks.
fn planes(batch: &Batch, row: usize) -> Vec<u8> {
    let board = batch.board(row);
    let [t0, t1, t2] = board.types;
    format!("{:016x} {t0:016x} {t1:016x} {t2:016x} {} {}", board.color, batch.halfmove[row], batch.fullmove[row])
        .into_bytes()
}
