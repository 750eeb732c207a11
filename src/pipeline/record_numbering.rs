//! Numbering: the step that processes one chunk after the other, in the order of the input.

use super::chunk_feed::Work;
use super::settings::Settings;
use super::summary::{FileSummary, Holds, Outcome};
use crate::choose::{GameFilter, LeftOutBy};
use crate::error::{Error, Reject};
use crate::formats::codec::game_history::{History, OF_HISTORY, SCATTERED};
use crate::formats::codec::game_selection::{Edges, GamesInOrder, PendingGame, cannot_select, keep_games};
use crate::formats::{Chunk, DecodeOptions, Decoded, Extent, Format, Totals, UnstoredTags, WholeFileCheck};
use crate::table::{Batch, Field};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A chunk whose records have their numbers.
pub(super) struct Numbered {
    pub(super) place: u64,
    /// Number of chunks before it.
    pub(super) chunk: u64,
    pub(super) work: Work,
    /// Records that were held back from chunks before it.
    pub(super) ahead: Vec<PendingGame>,
    pub(super) decoded: Option<Decoded>,
    /// A copy of the record before, if the first one has no move and so may be the last position of its game.
    pub(super) record_before: Option<Batch>,
    /// The totals of the chunks before it.
    pub(super) before: Totals,
    /// The numbers of the records that are requested.
    pub(super) range: Range<u64>,
    /// The outcome of the chunk so far.
    pub(super) outcome: Outcome,
}

/// The counters that are updated chunk by chunk, in order.
#[derive(Default)]
pub(super) struct Count {
    totals: Totals,
    chunks: u64,
    /// Rows of games.
    game_rows: u64,
    /// Watches the file, if its format checks files as a whole.
    watch: Option<Box<dyn WholeFileCheck>>,
    /// Selects among games that begin in one chunk and end in another.
    edges: Edges,
    /// In a shard that takes whole games: to be set once nothing more is needed of what comes after its part of the file,
    /// and whether that has begun.
    is_enough: Option<Arc<AtomicBool>>,
    has_begun: bool,
    /// Whether the games of the file are in order, if this matters.
    games_in_order: GamesInOrder,
    /// The way to the last record, for fields of later records that depend on it.
    history: History,
    /// A copy of the last record, if it has a move and belongs to a game.
    last_record: Option<Batch>,
    /// Whether later chunks are ignored: the limit is reached, or something failed.
    pub(super) over: bool,
}

/// Whether a text has only blanks and marks of byte order.
fn is_blank(text: &[u8]) -> bool {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii().is_empty()
}

impl Count {
    /// The counters after these totals.
    pub(super) fn new(totals: Totals) -> Self {
        Self { totals, ..Self::default() }
    }

    /// Whether all requested records or games have been read.
    fn is_full(&self, settings: &Settings<'_>) -> bool {
        self.totals.records >= settings.records.end || self.game_rows >= settings.games.end
    }

    /// Numbers the records of the next chunk. Nothing before it has failed, so its part is always taken, and a job
    /// may combine several chunks before it hands them over.
    pub(super) fn number(
        &mut self,
        place: u64,
        mut work: Work,
        mut decoded: Option<Decoded>,
        settings: &Settings<'_>,
    ) -> Numbered {
        if let Work::Begin { format, watch, is_enough, .. } = &mut work {
            (self.is_enough, self.has_begun) = (is_enough.take(), false);
            self.watch = watch.take().or_else(|| format.as_ref()?.watch());
        }
        let (before, chunk) = (self.totals, self.chunks);
        let mut outcome = Outcome::default();
        let mut ahead = Vec::new();
        let range = self.range(&work, decoded.as_mut(), settings, &mut outcome, &mut ahead);
        self.chunks += u64::from(decoded.is_some() || !ahead.is_empty());
        self.over |= self.is_full(settings);
        let record_before = self.record_before(ahead.iter().map(|held| &held.decoded).chain(&decoded));
        Numbered { place, chunk, work, ahead, decoded, record_before, before, range, outcome }
    }

    /// The record before these, if it matters; remembers the last of them.
    fn record_before<'a>(&mut self, parts: impl Iterator<Item = &'a Decoded>) -> Option<Batch> {
        let mut batches = parts.flat_map(|part| &part.batches).filter(|batch| !batch.is_empty());
        let first = batches.next()?;
        let has = |batch: &Batch, row, field| batch.values(field).is_some_and(|values| values.is_present(row));
        let last = batches.last().unwrap_or(first);
        let row = last.len() - 1;
        let matters = has(last, row, Field::Move) && has(last, row, Field::Game);
        let before = std::mem::replace(&mut self.last_record, matters.then(|| last.copy_of(row)));
        before.filter(|_| !has(first, 0, Field::Move))
    }

    /// Counts a chunk, and returns the range of record numbers to process.
    fn range(
        &mut self,
        work: &Work,
        decoded: Option<&mut Decoded>,
        settings: &Settings<'_>,
        outcome: &mut Outcome,
        ahead: &mut Vec<PendingGame>,
    ) -> Range<u64> {
        let mut requested = 0..0;
        let (path, damage) = match work {
            Work::Begin { path, format, compression, note, .. } => {
                self.totals.begin();
                self.edges.end_file();
                self.history = History::default();
                self.last_record = None;
                self.games_in_order = GamesInOrder::default();
                let file = FileSummary {
                    left_out: 0,
                    path: Arc::clone(path),
                    format: *format,
                    compression: *compression,
                    records: 0,
                    rejected: 0,
                    reasons: BTreeMap::new(),
                    damage: Vec::new(),
                    note: note.clone().map(Cow::Owned),
                };
                outcome.begins = Some((file, self.totals));
                return requested;
            }
            Work::Broken { file, .. } => {
                outcome.file = *file;
                return self.release(settings, outcome, ahead);
            }
            Work::Failure(_) => {
                requested = self.release(settings, outcome, ahead);
                self.over = true;
                return requested;
            }
            Work::Chunk { file, format, chunk, .. } => {
                outcome.file = *file;
                let Some(decoded) = decoded else {
                    return requested;
                };
                if settings.selects_in_order(*format) {
                    settings.select(*format, chunk, decoded, Some(&self.totals));
                }
                self.limit_records(decoded, *format, chunk, settings);
                self.limit_games(decoded, *format, chunk, settings);
                self.skip_lost_tags(decoded, *format, chunk, settings);
                if decoded.selected.is_none() && self.edges.has_open_records() {
                    settings.select_always(*format, chunk, decoded, Some(&self.totals));
                }
                let needs_games = settings.selection(*format).is_some_and(GameFilter::needs_games_in_order);
                let needs_history = settings.decode_records.fields.intersects(OF_HISTORY) && !format.about().selects;
                let finds = |games: &GameFilter| games.whole_games.is_some() && !games.only_annotated;
                let finds_values = settings.selection(*format).is_some_and(finds);
                if (needs_games || needs_history || finds_values)
                    && let Some((record, game)) = self.games_in_order.add(decoded)
                {
                    if needs_games {
                        self.over = true;
                        let path = Arc::clone(&chunk.file);
                        outcome.failure = Some(Error::ScatteredGames { path, record, game });
                        return requested;
                    }
                    decoded.remarks.add(&SCATTERED, 1);
                }
                if needs_history {
                    self.history.join(decoded);
                }
                let before = self.totals;
                let evidence = decoded.evidence.take();
                let mut damage = match &mut self.watch {
                    Some(watch) => watch.chunk(evidence, chunk.offset),
                    None => Vec::new(),
                };
                if let Some(selection) = settings.selection(*format) {
                    let places = damage.iter().map(|damage| damage.offset - chunk.offset);
                    let first = places
                        .chain(decoded.damage.iter().map(|damage| damage.offset))
                        .min()
                        .filter(|_| !settings.past_damage);
                    if let Some(first) = first {
                        decoded.truncate(first);
                        settings.select(*format, chunk, decoded, Some(&before));
                    }
                    let is_last = first.is_some();
                    let place = (chunk, self.totals.lines);
                    let mut search = settings.search(*format, Some(&before), decoded.games != 0);
                    let joined = self.edges.join(place, *format, decoded, selection, search.as_mut(), is_last);
                    match joined {
                        Ok(held) => *ahead = self.number_held(held, settings, outcome),
                        Err(too_long) => decoded.damage.push(too_long),
                    }
                    self.finish(decoded, selection, settings);
                    self.stop_if_enough(chunk, decoded);
                }
                decoded.number(&mut self.totals, chunk);
                forget_lines(decoded, settings);
                damage.append(&mut decoded.damage);
                // The list is the same however the file was cut into chunks.
                damage.sort_by_key(|damage| damage.offset);
                if !settings.past_damage
                    && let Some(first) = damage.iter().map(|damage| damage.offset).min()
                {
                    // Only records before the damage count.
                    if settings.selection(*format).is_none() {
                        decoded.truncate(first - chunk.offset);
                        self.totals.records = before.records + decoded.records;
                    }
                }
                if self.totals.records != before.records || decoded.games != 0 {
                    outcome.holds = Holds::Records;
                } else if !chunk.of_other_shard && !is_blank(&chunk.bytes) {
                    outcome.holds = Holds::NoRecord;
                }
                let range = settings.records.clone();
                outcome.records = overlap(before.records..self.totals.records, &range);
                outcome.games = decoded.games;
                outcome.remarks = std::mem::take(&mut decoded.remarks);
                outcome.lost_tags = std::mem::take(&mut decoded.lost_tags);
                outcome.dropped_values = std::mem::take(&mut decoded.dropped_values);
                // With a selection, only the selected records are numbered.
                if settings.selection(*format).is_none() {
                    outcome.dropped_values.retain(|dropped_value| range.contains(&dropped_value.place.record));
                }
                merge(&mut outcome.left_out, std::mem::take(&mut decoded.left_out));
                let held = ahead.iter_mut().map(|held| &mut held.decoded);
                requested = limit_rejects(held.chain([decoded]), range, settings);
                // Whether anything after the limit is processed would depend on the size of chunks.
                if self.is_full(settings) {
                    return requested;
                }
                (&chunk.file, damage)
            }
            Work::End { file, format, path, len, is_whole } => {
                outcome.file = *file;
                requested = self.release(settings, outcome, ahead);
                if let Some(reason) = self.lacks(*format, settings) {
                    self.over = true;
                    outcome.failure = Some(Error::Selection { path: Arc::clone(path), reason });
                    return requested;
                }
                let (damage, note) = match &mut self.watch {
                    Some(watch) if *is_whole => watch.end(*len),
                    _ => (Vec::new(), None),
                };
                outcome.note = note;
                (path, damage)
            }
        };
        if settings.past_damage {
            outcome.damage = damage;
        } else if let Some(damage) = damage.into_iter().min_by_key(|damage| damage.offset) {
            self.over = true;
            outcome.failure = Some(Error::Damaged { path: Arc::clone(path), damage });
        }
        requested
    }

    /// Stops reading after the part of the shard when the last game that begins there has ended.
    fn stop_if_enough(&mut self, chunk: &Chunk, decoded: &Decoded) {
        let Some(is_enough) = &self.is_enough else { return };
        self.has_begun |= !chunk.of_other_shard;
        let is_past = chunk.of_other_shard || decoded.batches.last().is_some_and(|batch| batch.of_other_shard);
        if self.has_begun && is_past && !self.edges.has_open_game() {
            is_enough.store(true, Ordering::Relaxed);
        }
    }

    /// The reason why no record of a file could be selected, if the needed columns have no values. Called at the end of
    /// the file.
    fn lacks(&mut self, format: Format, settings: &Settings<'_>) -> Option<String> {
        let carried = self.edges.end_file()?;
        // A shard may lack values that others have.
        let selection = settings.selection(format).filter(|_| settings.knows_lines)?;
        cannot_select(selection, format, carried)
    }

    /// Takes the records that were held back, because nothing that belongs to them follows.
    fn release(&mut self, settings: &Settings<'_>, outcome: &mut Outcome, ahead: &mut Vec<PendingGame>) -> Range<u64> {
        let Some(selection) = &settings.decode_records.games else {
            return 0..0;
        };
        let before = self.totals.records;
        let mut search = self.edges.format().and_then(|format| settings.search(format, Some(&self.totals), false));
        let held = self.edges.close(selection, search.as_mut());
        *ahead = self.number_held(held, settings, outcome);
        let range = settings.records.clone();
        outcome.records = overlap(before..self.totals.records, &range);
        limit_rejects(ahead.iter_mut().map(|held| &mut held.decoded), range, settings)
    }

    /// Numbers records that were held back.
    fn number_held(
        &mut self,
        mut held: Vec<PendingGame>,
        settings: &Settings<'_>,
        outcome: &mut Outcome,
    ) -> Vec<PendingGame> {
        for PendingGame { format, chunk, decoded, lines } in &mut held {
            if let Some(selection) = settings.selection(*format) {
                self.finish(decoded, selection, settings);
            }
            // Its own lines were counted with the rest of its chunk.
            let now = std::mem::replace(&mut self.totals.lines, *lines);
            decoded.number(&mut self.totals, chunk);
            forget_lines(decoded, settings);
            self.totals.lines = now;
            merge(&mut outcome.left_out, std::mem::take(&mut decoded.left_out));
        }
        held
    }

    /// Numbers the records that a selection takes, up to the last requested record or game.
    fn finish(&mut self, decoded: &mut Decoded, selection: &GameFilter, settings: &Settings) {
        if !selection.last_of_games {
            let left = settings.records.end.saturating_sub(self.totals.records);
            self.edges.finish(decoded, selection, left);
            return;
        }
        let left = |number: u64| number.saturating_sub(self.game_rows);
        let (start, end) = (left(settings.games.start), left(settings.games.end));
        self.edges.finish(decoded, selection, end);
        self.game_rows += keep_games(decoded, start..end);
    }

    /// Decodes a chunk again up to the game or line of the last requested record, so that counts other than
    /// those of records do not depend on where chunks end.
    fn limit_records(&self, decoded: &mut Decoded, format: Format, chunk: &Chunk, settings: &Settings<'_>) {
        let left = settings.records.end.saturating_sub(self.totals.records);
        let is_chosen = |games: &GameFilter| !games.only_finds_values() || decoded.selected.is_some();
        if settings.selection(format).is_some_and(is_chosen) {
            return;
        }
        let rows_are_games = format.about().has_games && chunk.rows().is_some();
        if decoded.records > left
            && !rows_are_games
            && let Some(rows) = chunk.rows()
        {
            let extent = Extent::Rows(rows.up_to(left));
            let chunk = Chunk { extent, ..chunk.clone() };
            *decoded = settings.decode_chunk(format, &chunk, Some(&self.totals));
        }
        if decoded.records < left || !(format.layout().can_be_shortened() || rows_are_games) {
            return;
        }
        // Where the last good record that is requested begins, and the first one that is not.
        let origins =
            decoded.batches.iter().flat_map(|batch| (0..batch.len()).map(|row| (batch.index(row), batch.origin(row))));
        let (requested, others): (Vec<_>, Vec<_>) = origins.partition(|&(index, _)| index < left);
        let Some(&(_, last)) = requested.last() else {
            return;
        };
        let end = if decoded.games == 0 {
            others.first().map(|&(_, origin)| origin)
        } else {
            if rows_are_games {
                *decoded = settings.decode_chunk(format, &up_to(chunk, last + 1), Some(&self.totals));
                return;
            }
            let ask = DecodeOptions { game_rows: true, ..settings.decode.clone() };
            let games = format.decode(chunk, &ask).game_rows;
            games.iter().map(|game| game.end).find(|&end| end > last)
        };
        if let Some(end) = end {
            let again = settings.decode_chunk(format, &up_to(chunk, end), Some(&self.totals));
            // There may be rejects after the last good record.
            if again.records >= left {
                *decoded = again;
            }
        }
    }

    /// Removes the tags of games whose records all come before the first requested one.
    fn skip_lost_tags(&self, decoded: &mut Decoded, format: Format, chunk: &Chunk, settings: &Settings<'_>) {
        let skipped = settings.records.start.saturating_sub(self.totals.records);
        if skipped == 0 || decoded.lost_tags.is_empty() {
            return;
        }
        let rows = |batch: &Batch| (0..batch.len()).find(|&row| batch.index(row) >= skipped);
        let first = |batch: &Batch| rows(batch).map(|row| batch.origin(row));
        match decoded.batches.iter().find_map(first) {
            Some(origin) => {
                let before = settings.decode_chunk(format, &up_to(chunk, origin), Some(&self.totals));
                decoded.lost_tags.take_away(&before.lost_tags);
            }
            None => decoded.lost_tags = UnstoredTags::default(),
        }
    }

    /// Decodes a chunk again up to the last requested game, so that counts do not depend on where chunks end, and
    /// removes the rows of skipped games.
    fn limit_games(&mut self, decoded: &mut Decoded, format: Format, chunk: &Chunk, settings: &Settings<'_>) {
        if settings.makes_game_rows(format) {
            return;
        }
        let left = settings.games.end.saturating_sub(self.game_rows);
        if decoded.game_rows.len() as u64 >= left {
            let end = match left {
                0 => 0,
                left => {
                    let last = &decoded.game_rows[left as usize - 1];
                    if chunk.rows().is_some() { last.game as usize + 1 } else { last.end }
                }
            };
            *decoded = settings.decode_chunk(format, &up_to(chunk, end), Some(&self.totals));
        }
        let skipped = settings.games.start.saturating_sub(self.game_rows);
        self.game_rows += decoded.game_rows.len() as u64;
        let skipped = decoded.game_rows.len().min(skipped.try_into().unwrap_or(usize::MAX));
        if let Some(last) = decoded.game_rows.drain(..skipped).next_back() {
            // What is bad in a game that is skipped is skipped, too.
            decoded.rejects.retain(|reject| reject.place.game.is_none_or(|game| game > last.game));
        }
    }
}

/// Removes the numbers of lines, if they are not known.
fn forget_lines(decoded: &mut Decoded, settings: &Settings<'_>) {
    if !settings.knows_lines {
        decoded.rejects.iter_mut().for_each(|reject| reject.place.line = None);
        decoded.dropped_values.iter_mut().for_each(|dropped_value| dropped_value.place.line = None);
    }
}

/// Keeps only the rejects of requested records; with `strict`, nothing after the first of them is requested.
fn limit_rejects<'a>(
    parts: impl Iterator<Item = &'a mut Decoded>,
    mut requested: Range<u64>,
    settings: &Settings<'_>,
) -> Range<u64> {
    for decoded in parts {
        let rejects = &mut decoded.rejects;
        rejects.retain(|reject| requested.contains(&reject.place.record));
        if settings.strict
            && let Some(first) = rejects.iter().map(|reject| reject.place.record).min()
        {
            requested.end = requested.end.min(first + 1);
            rejects.retain(|reject| requested.contains(&reject.place.record));
        }
    }
    requested
}

/// Adds the numbers of records left out.
pub(super) fn merge(all: &mut LeftOutBy, more: LeftOutBy) {
    for (option, more) in more {
        all.entry(option).or_default().add(more);
    }
}

/// The notes of a chunk on the records before its first reject, the last record of a strict run. Notes on later records
/// would depend on where the chunk ends.
pub(super) fn before_reject(
    format: Format,
    chunk: &Chunk,
    reject: &Reject,
    before: Totals,
    settings: &Settings<'_>,
) -> Option<Decoded> {
    if settings.selection(format).is_some_and(|games| !games.only_finds_values()) {
        return None;
    }
    let part = match chunk.rows() {
        Some(rows) => {
            let end = match reject.place.row.filter(|_| format.about().has_games) {
                Some(row) => row.saturating_sub(rows.rows().start),
                None => reject.place.record.saturating_sub(before.records),
            };
            Chunk { extent: Extent::Rows(rows.up_to(end)), ..chunk.clone() }
        }
        None if format.layout().can_be_shortened() => {
            let len = reject.place.offset.saturating_sub(chunk.offset);
            up_to(chunk, chunk.bytes.len().min(len as usize))
        }
        None => return None,
    };
    Some(settings.decode_chunk(format, &part, Some(&before)))
}

/// The first bytes of a chunk, or the first rows of a part of a table.
fn up_to(chunk: &Chunk, end: usize) -> Chunk {
    if let Some(rows) = chunk.rows() {
        return Chunk { extent: Extent::Rows(rows.up_to(end as u64)), ..chunk.clone() };
    }
    Chunk { bytes: chunk.bytes.slice(0..end), truncated: chunk.truncated && end == chunk.bytes.len(), ..chunk.clone() }
}

/// Number of these records that are requested.
pub(super) fn overlap(records: Range<u64>, requested: &Range<u64>) -> u64 {
    let start = records.start.max(requested.start);
    records.end.min(requested.end).saturating_sub(start)
}
