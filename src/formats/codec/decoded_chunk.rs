//! The results of decoders.

use super::game_selection;
use super::table_row_parts::RecordTexts;
use super::whole_file_checks::Evidence;
use crate::choose::LeftOutBy;
use crate::error::{Damage, Reject};
use crate::formats::{Chunk, DroppedValue, UnstoredTags, UnstoredTagsByGame};
use crate::games::GameRow;
use crate::input::Bytes;
use crate::table::{Array, Batch, Field, ScoreCodes, StoredGames};
use std::ops::Range;
use std::sync::Arc;

/// The result of decoding a chunk. All numbers of records, lines, games and byte offsets count from the start of
/// the chunk until [`Decoded::number`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Decoded {
    /// The records that could be decoded, in order.
    pub batches: Vec<Batch>,
    /// The records that could not be decoded, in order.
    pub rejects: Vec<Reject>,
    /// Damaged places in the chunk; the records in them are lost.
    pub damage: Vec<Damage>,
    /// Number of records, valid or not.
    pub records: u64,
    /// Number of line ends.
    pub lines: u64,
    /// Number of games that begin here. If it is not zero, [`Field::Game`] columns and rejects are
    /// numbered from the chunk's first game.
    pub games: u64,
    /// For each game with records that are left, those records, numbered from the chunk's first record; good ones only.
    pub game_records: Vec<Range<u64>>,
    /// Things the reader did that the user may want to know.
    pub remarks: Remarks,
    /// Tags of the games for which there is no field, if requested.
    pub lost_tags: UnstoredTags,
    /// The same for each game or record by itself, in place of the sum, if requested.
    pub(crate) lost_of_each: Option<Box<UnstoredTagsByGame>>,
    /// Games and positions skipped by the selection.
    pub left_out: LeftOutBy,
    /// The known facts of each game, if requested.
    pub game_rows: Vec<GameRow>,
    /// Values and keys that are left out, in order.
    pub(crate) dropped_values: Vec<DroppedValue>,
    /// Data for the [`WholeFileCheck`](crate::formats::WholeFileCheck) of the format.
    pub(crate) evidence: Option<Evidence>,
    /// The texts of the records, where they are not in the bytes of the chunk.
    pub(crate) texts: Option<Arc<dyn RecordTexts>>,
    /// The games of a table as PGN, if they are [requested](super::chunk::DecodeOptions::game_texts).
    pub(crate) game_texts: Option<Bytes>,
    /// The rows with which chains begin, in formats that have chains. Records before a chain are not on the way to its
    /// positions.
    pub(crate) chains: Option<Vec<usize>>,
    /// The way to the last record, as far as the chunk alone shows it, if [`Field::History`] is requested.
    pub(crate) way: Option<Box<super::game_history::Way>>,
    /// The games of a chunk of whole games, in which a sequence of positions is still to be searched for.
    pub(crate) whole_games: Vec<game_selection::WholeGame>,
    /// Where the games that rows are made of have the sequence.
    pub(crate) found_in_games: game_selection::FoundInGames,
    /// The games that the records belong to, if games are being selected.
    pub(crate) selected: Option<Box<game_selection::Selected>>,
}

/// Something that a reader does to its input and that the user may want to know. Formats declare their remarks.
#[derive(Debug)]
pub struct Remark {
    /// The kind of thing it is done to, in the singular.
    pub what: &'static str,
    /// The rest of the sentence.
    pub how: &'static str,
    /// Shown only if details are requested.
    pub is_detail: bool,
}

/// How often each [`Remark`] applies.
#[derive(Clone, Debug, Default)]
pub struct Remarks(Vec<Remarked>);

/// A remark that applies.
#[derive(Clone, Debug)]
struct Remarked {
    remark: &'static Remark,
    times: u64,
    /// The first thing that it applies to, as it is shown.
    first: Option<Box<str>>,
}

impl Remarks {
    /// Counts a remark `times` more times.
    pub fn add(&mut self, remark: &'static Remark, times: u64) {
        self.add_with(remark, times, None);
    }
    /// Counts a remark `times` more times; `first` is the first thing that it applies to, as it is shown.
    pub fn add_with(&mut self, remark: &'static Remark, times: u64, first: Option<&str>) {
        if times == 0 {
            return;
        }
        match self.0.iter_mut().find(|known| std::ptr::eq(known.remark, remark)) {
            Some(known) => {
                known.times += times;
                known.first = known.first.take().or_else(|| first.map(Box::from));
            }
            None => self.0.push(Remarked { remark, times, first: first.map(Box::from) }),
        }
    }
    /// Adds the remarks of another list, whose input comes later.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|more| self.add_with(more.remark, more.times, more.first.as_deref()));
    }
    /// The first thing that a remark applies to, if it is known.
    pub fn first(&self, remark: &'static Remark) -> Option<&str> {
        let known = self.0.iter().find(|known| std::ptr::eq(known.remark, remark));
        known?.first.as_deref()
    }
    /// The number of times that a remark applies.
    pub fn count(&self, remark: &'static Remark) -> u64 {
        let mut counts = self.iter();
        counts.find(|(known, _)| std::ptr::eq(*known, remark)).map_or(0, |(_, count)| count)
    }
    /// All remarks that apply.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Remark, u64)> {
        self.0.iter().map(|known| (known.remark, known.times))
    }
}

/// The counts before a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Records over all inputs.
    pub records: u64,
    /// Games over all inputs.
    pub games: u64,
    /// Inputs, with this one.
    pub inputs: u64,
    /// Lines of this input.
    pub lines: u64,
    /// Games before this input.
    pub games_before: u64,
    /// Number of games up to the highest game number in a record of this input.
    pub games_after: u64,
}

impl Totals {
    /// Begins an input.
    pub(crate) fn begin(&mut self) {
        self.inputs += 1;
        self.lines = 0;
        self.games = self.games.max(self.games_after);
        self.games_before = self.games;
    }
}

impl Decoded {
    /// The same; among the scores of its records are these codes.
    pub(in crate::formats) fn with_score_codes(mut self, codes: ScoreCodes) -> Self {
        self.batches.iter_mut().for_each(|batch| batch.score_codes = codes);
        self
    }

    /// Turns numbers that count from the start of the chunk into numbers over all inputs, and adds the
    /// chunk's own to the totals.
    pub fn number(&mut self, totals: &mut Totals, chunk: &Chunk) {
        for batch in &mut self.batches {
            batch.first_index += totals.records;
            if let Some(Array::U64(games)) = batch.fields.get_mut(&Field::Game) {
                // If files store game numbers, their numbers continue those of the files before.
                match self.games {
                    0 => {
                        batch.stored_games = Some(StoredGames {
                            input: totals.inputs.saturating_sub(1),
                            before: totals.games_before,
                            in_turns: chunk.is_in_turns(),
                        });
                        games.add(totals.games_before);
                        if let Some(block) = &mut batch.block {
                            block.games_before = totals.games_before;
                        }
                        if !batch.of_other_shard {
                            let last = games.largest().unwrap_or(0);
                            totals.games_after = totals.games_after.max(last.saturating_add(1));
                        }
                    }
                    _ => games.add(totals.games),
                }
            }
        }
        for reject in &mut self.rejects {
            let place = &mut reject.place;
            place.record += totals.records;
            place.offset += chunk.offset;
            place.frame = chunk.frame;
            if let Some(line) = &mut place.line {
                *line += totals.lines;
            }
            if let Some(game) = &mut place.game
                && self.games != 0
            {
                *game += totals.games;
            }
        }
        for DroppedValue { place, .. } in &mut self.dropped_values {
            place.record += totals.records;
            place.offset += chunk.offset;
            place.frame = chunk.frame;
            place.line = place.line.map(|line| line + totals.lines);
        }
        for row in &mut self.game_rows {
            row.game += totals.games;
            row.record += totals.records;
        }
        for damage in &mut self.damage {
            damage.offset += chunk.offset;
        }
        totals.records += self.records;
        totals.lines += self.lines;
        totals.games += self.games;
    }

    /// Keeps only the records, which lie in another shard: that one reports everything else.
    pub(crate) fn belongs_to_other_shard(self) -> Self {
        let mut batches = self.batches;
        batches.iter_mut().for_each(|batch| batch.of_other_shard = true);
        let Self { records, texts, chains, way, .. } = self;
        Self { batches, records, texts, chains, way, ..Self::default() }
    }

    /// Takes the records out, good and bad, and leaves what is known about the chunk itself.
    pub(crate) fn take_records(&mut self) -> Self {
        Self {
            batches: std::mem::take(&mut self.batches),
            rejects: std::mem::take(&mut self.rejects),
            records: std::mem::take(&mut self.records),
            texts: self.texts.take(),
            selected: self.selected.take(),
            ..Self::default()
        }
    }

    /// Keeps only the batches that begin before this byte of the chunk.
    pub(crate) fn truncate(&mut self, offset: u64) {
        let before = |batch: &Batch| batch.origins.first().is_none_or(|&at| u64::from(at) < offset);
        let end = self.batches.partition_point(before);
        self.batches.truncate(end);
        self.records = self.batches.iter().map(Batch::taken).sum();
    }
}
