//! The constant data that all workers of a run share, and the count of the chosen records.

use super::SecondFile;
use super::exact_sample_losses::LostOfCandidates;
use crate::chess::Validity;
use crate::choose::{Assignments, GameFilter, RecordFilter};
use crate::formats::codec::game_selection;
use crate::formats::codec::position_sequence_search::SequenceSearch;
use crate::formats::{Chunk, DecodeOptions, Decoded, Format, Totals};
use crate::games::GameRow;
use crate::poisoned_locks::Unpoisoned;
use crate::table::Fields;
use crate::tiers::Analyzer;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Time that a worker waits for data that no signal announces, such as those of a slow pipe.
pub(super) const PATIENCE: Duration = Duration::from_millis(10);

/// The constant data of a run, the same for all workers.
pub(super) struct Settings<'a> {
    pub(super) analyzer: &'static dyn Analyzer,
    pub(super) decode: DecodeOptions,
    /// The fields that the job and the choices among records need; others are decoded for the choice of games.
    pub(super) fields: Fields,
    /// The decoding options for formats without games: with the fields needed by the selection.
    pub(super) decode_records: DecodeOptions,
    /// Whether all lines of the inputs are read.
    pub(super) knows_lines: bool,
    /// The totals before the first input.
    pub(super) before: Totals,
    /// Numbers of the requested records, and of the requested rows of games.
    pub(super) records: Range<u64>,
    pub(super) games: Range<u64>,
    /// The choice among the good records.
    pub(super) choices: &'a [&'a dyn RecordFilter],
    /// The new values for these records.
    pub(super) set: Option<&'a Assignments>,
    /// The choice of an earlier run among the records that the job can take. It needs no queries and no fields.
    pub(super) only: Option<&'a dyn RecordFilter>,
    /// The requested records among the chosen ones; `records` are then all records.
    pub(super) chosen: Option<Chosen>,
    /// Receives what is lost of candidates for a sample.
    pub(super) lost_of_candidates: Option<Arc<LostOfCandidates>>,
    /// The file with a record beside each record of the inputs.
    pub(super) beside: Option<&'a SecondFile>,
    /// Number of records up to the end of the last chunk that has been judged, whether or not they are requested.
    pub(super) records_read: AtomicU64,
    pub(super) past_damage: bool,
    pub(super) strict: bool,
}

impl Settings<'_> {
    /// Decodes a chunk, and decides about the games that are known as a whole. The totals of the chunks before it may not
    /// be known yet.
    pub(super) fn decode_chunk(&self, format: Format, chunk: &Chunk, before: Option<&Totals>) -> Decoded {
        let mut decoded = format.decode(chunk, self.decode(format));
        if chunk.of_other_shard {
            decoded = decoded.belongs_to_other_shard();
        }
        if before.is_some() || !self.selects_in_order(format) {
            self.select(format, chunk, &mut decoded, before);
        }
        decoded
    }
    /// Whether the choice of games needs the numbers of games over all inputs, and so the chunks in their order.
    pub(super) fn selects_in_order(&self, format: Format) -> bool {
        self.decode(format).games.as_ref().is_some_and(|games| games.reads_game_numbers())
    }
    /// The search for what games must have, if they are chosen once they are decoded; `are_whole`: in chunks of whole games, which have
    /// the numbers of games in the chunk.
    pub(super) fn search(
        &self,
        format: Format,
        before: Option<&Totals>,
        are_whole: bool,
    ) -> Option<SequenceSearch<'_>> {
        let searches = |selection: &&GameFilter| {
            selection.chooses_whole_games()
                || self.selection(format).is_some() && selection.later_condition(true).is_some()
        };
        let selection = self.decode(format).games.as_deref().filter(searches)?;
        let validity = self.decode.validity;
        Some(SequenceSearch {
            sequence: &selection.having,
            analyzer: self.analyzer,
            // What is played from text is valid, unless more is asked of positions.
            validity: (!format.about().selects || validity == Validity::Strict).then_some(validity),
            is_gapless: format.about().selects,
            games_before: before.map_or(0, |before| if are_whole { before.games } else { before.games_before }),
            tells_matches: selection.last_of_games || self.decode.game_rows && !self.decode.game_places,
            results: Vec::new(),
        })
    }
    /// The decoding options for a format.
    pub(super) fn decode(&self, format: Format) -> &DecodeOptions {
        if format.about().selects { &self.decode } else { &self.decode_records }
    }
    /// The selection for a format that does not select while it decodes.
    pub(super) fn selection(&self, format: Format) -> Option<&GameFilter> {
        let selection = self.decode_records.games.as_deref();
        selection.filter(|selection| !format.about().selects && selection.selects_records_of(format.about().carries))
    }
    /// Whether the records of a chunk are taken as they are, although those of others are not: it has no game with clocks
    /// or evaluations. A shard tells its records from those of others in every chunk.
    fn takes_chunk_as_it_is(&self, selection: &GameFilter, decoded: &Decoded) -> bool {
        let batches = &decoded.batches;
        let may_have_values =
            game_selection::has_annotated_games(batches) || game_selection::ends_with_first_record(batches);
        self.knows_lines && selection.only_finds_values() && !may_have_values
    }
    /// Whether rows of games are made from the records of this format.
    pub(super) fn makes_game_rows(&self, format: Format) -> bool {
        self.selection(format).is_some_and(|selection| selection.last_of_games)
    }
    /// Selects among the records of a chunk, as far as games are known as a whole.
    pub(super) fn select(&self, format: Format, chunk: &Chunk, decoded: &mut Decoded, before: Option<&Totals>) {
        if let Some(selection) = self.selection(format)
            && self.takes_chunk_as_it_is(selection, decoded)
        {
            return;
        }
        self.select_always(format, chunk, decoded, before);
    }
    /// Selects among the records of a chunk, also if they could be taken as they are.
    pub(super) fn select_always(&self, format: Format, chunk: &Chunk, decoded: &mut Decoded, before: Option<&Totals>) {
        let mut search = self.search(format, before, decoded.games != 0);
        if let Some(selection) = self.selection(format) {
            let fields = self.fields;
            let fields = if selection.last_of_games {
                fields.union(GameRow::fields(self.decode.row_tags.as_deref()))
            } else {
                fields
            };
            game_selection::select(decoded, selection, search.as_mut(), fields);
        } else if let Some(search) = &mut search
            && let Some(selection) = &self.decode.games
        {
            game_selection::select_games((format, chunk, &self.decode), decoded, selection, search, self.fields);
        }
    }
}

/// Counts the chosen records, one chunk after the other, because only the count tells which of them are requested.
pub(super) struct Chosen {
    requested: Range<u64>,
    /// The next chunk, and the number of records chosen before it.
    next: Mutex<(u64, u64)>,
    counted: Condvar,
}

impl Chosen {
    /// The range of the chosen records that is requested.
    pub(super) fn new(requested: Range<u64>) -> Self {
        Self { requested, next: Mutex::new((0, 0)), counted: Condvar::new() }
    }
    /// The number of the first chosen record of a chunk that is not skipped, the end of the records that are read, and
    /// whether later chunks have none, given the chosen records of the chunk. Waits for all chunks before it, which other
    /// workers are already processing.
    pub(super) fn requested(&self, chunk: u64, chosen: &[u64], stopped: &AtomicBool) -> Requested {
        let mut next = self.next.lock().unpoisoned();
        while next.0 != chunk {
            if stopped.load(Ordering::Relaxed) {
                return Requested { takes_earlier: false, first_taken: 0, end: 0, is_last: true };
            }
            next = self.counted.wait_timeout(next, PATIENCE).unpoisoned().0;
        }
        let (before, after) = (next.1, next.1 + chosen.len() as u64);
        *next = (chunk + 1, after);
        drop(next);
        self.counted.notify_all();
        let Range { start, end } = self.requested;
        let is_last = after >= end;
        if before >= end {
            return Requested { takes_earlier: false, first_taken: 0, end: 0, is_last };
        }
        let skipped = start.saturating_sub(before);
        let first_taken = match usize::try_from(skipped).ok().and_then(|skipped| chosen.get(skipped)) {
            Some(&first) => first,
            None => u64::MAX,
        };
        // Up to the last one taken, so that the result does not depend on how chunks are cut.
        let end = match end - before {
            left if left <= chosen.len() as u64 => chosen[left as usize - 1] + 1,
            _ => u64::MAX,
        };
        Requested { takes_earlier: before > start, first_taken, end, is_last }
    }
}

/// What is requested of a chunk if records are chosen.
pub(super) struct Requested {
    /// Whether the last chosen record before the chunk is not skipped.
    pub(super) takes_earlier: bool,
    /// The number of the first chosen record that is not skipped.
    pub(super) first_taken: u64,
    /// The end of the numbers of the records that are read.
    pub(super) end: u64,
    /// Whether nothing is requested of later chunks.
    pub(super) is_last: bool,
}
