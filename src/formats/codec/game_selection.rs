//! Selection of games and positions among records that carry the facts of their games: boards files, tables, lines
//! with operations.
//!
//! PGN selects while it replays, because a game is a whole there; only sequences of positions, and conditions on the ends of
//! games, are judged afterwards ([`select_games`]). Elsewhere a game is a run of records with the same number, which may go
//! on in the next chunk. So this is done in two steps. [`select`] sees one chunk, on any thread:
//! it divides the records into runs of one game with the same facts, and decides about all runs except those at the
//! edges of the chunk. [`Edges`] sees the chunks in order and decides about the rest. Where a position is taken or not
//! depending on those after it (`--last`, a sample), the records of the last game of a chunk are held back until the
//! game is complete.
//!
//! A shard takes the games whose first records lie in it. It is given some records before its own, which tell whether its
//! first record begins a game, and those after its own until a game begins there: batches of
//! [another shard](Batch::of_other_shard). A game is decided about where it begins, and so is what is counted.
//!
//! Nothing is copied: a [`Batch`] has a bit for each record that is taken.

use super::fields_from_whole_games::{self, OF_WHOLE_GAMES, Place};
use super::position_sequence_search::{GameRecords, Searched, SequenceSearch, with_shared};
use crate::chess::Position;
use crate::choose::{
    CLOCKS_AND_EVALUATIONS, Condition, FilterCount, GameFilter, HAVING, LeftOutBy, ROWS_OF_GAMES, WHERE, hash_on,
};
use crate::error::Damage;
use crate::formats::{Chunk, DecodeOptions, Decoded, Extent, Format, Remark};
use crate::games::{Date, Facts, GameMatches, GameRow, MainLine, Outcome, Variant};
use crate::packed::Packed;
use crate::table::{Array, Batch, Field, Fields, Values};
use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of records of a game that are held back.
const MOST_HELD: usize = 1 << 20;

/// Records that belong to no game.
static NO_GAME: Remark = Remark { what: "record", how: "without a game, for which there is no row", is_detail: false };

/// Stands for the shard in which a game begins, among the names of options.
const OTHER_SHARD: &str = "of another shard";

/// The option that leaves something out, and whether the reason is that the tested value is unknown.
type Verdict = Option<(&'static str, bool)>;

/// The runs of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    runs: Vec<Run>,
    /// The fields that some record has.
    carried: Fields,
    /// The requested fields; others were only decoded for the selection.
    fields: Fields,
}

/// Consecutive records of one game with the same facts.
#[derive(Debug)]
struct Run {
    game: Option<u64>,
    verdict: Verdict,
    /// Pairs of a batch number and rows of that batch.
    parts: Vec<(usize, Range<usize>)>,
    decided: bool,
    /// Positions that some option leaves out, in a game that is taken.
    left_out: Vec<(&'static str, u64)>,
    /// Whether the sequence of positions has been found in the game, and in its last run, where.
    is_found: bool,
    matches: Option<Box<GameMatches>>,
    /// In the last run of the game, its main line, if it is requested.
    main_line: Option<Box<MainLine>>,
    /// Records of a game without the sequence that are not valid positions, and so are rejects.
    bad: u64,
    /// Whether the first record lies in another shard.
    of_other_shard: bool,
    /// The plies of the first and last record of records without a game that follow one another, if that matters.
    way: Option<(u16, u16)>,
    /// Whether the values that need whole games have been found.
    has_values: bool,
}

impl Run {
    /// Whether its records are of one game or on one way: others have nothing to do with one another.
    fn is_connected(&self) -> bool {
        self.game.is_some() || self.way.is_some()
    }
    fn len(&self) -> usize {
        self.parts.iter().map(|(_, rows)| rows.len()).sum()
    }
    fn rows(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let parts = self.parts.iter();
        parts.flat_map(|(batch, rows)| rows.clone().map(move |row| (*batch, row)))
    }
    /// Its records, if its batches come after this number of others.
    fn records(&self, before: usize) -> GameRecords {
        let parts = self.parts.iter().map(|(batch, rows)| (before + batch, rows.clone()));
        GameRecords { parts: parts.collect(), apart: Vec::new() }
    }
    /// Whether these records belong to the same run: games are whole, everything else is in the shard where it lies.
    fn is_continued_by(&self, next: &Self, needs_whole: bool) -> bool {
        let is_whole = needs_whole && next.game.is_some() && next.verdict.is_none();
        self.goes_on_in(next) && (is_whole || self.of_other_shard == next.of_other_shard)
    }
    /// Whether it is the same game, or way of positions.
    fn goes_on_in(&self, next: &Self) -> bool {
        let follows = match (self.way, next.way) {
            (Some((_, last)), Some((first, _))) => last.checked_add(1) == Some(first),
            (None, None) => true,
            _ => false,
        };
        self.game == next.game && self.verdict == next.verdict && follows
    }
    /// Whether records of other chunks may belong to it.
    fn may_go_on(&self) -> bool {
        self.verdict.is_none() && (self.game.is_some() || self.way.is_some())
    }
}

/// Finds the runs of a chunk, and decides about those that lie within it.
pub(crate) fn select(
    decoded: &mut Decoded,
    selection: &GameFilter,
    mut search: Option<&mut SequenceSearch<'_>>,
    fields: Fields,
) {
    let carried = decoded.batches.iter().flat_map(|batch| batch.fields.iter());
    let mut selected = Selected {
        runs: runs(&decoded.batches, decoded.chains.as_deref(), selection),
        carried: carried.filter(|(_, values)| values.count_present() != 0).map(|(&field, _)| field).collect(),
        fields,
    };
    for batch in &mut decoded.batches {
        batch.selected = Some(vec![0; batch.len().div_ceil(64)]);
    }
    let last = selected.runs.len().saturating_sub(1);
    let needs_whole = selection.needs_whole_games();
    // Chains end with the chunk.
    let has_chains = decoded.chains.is_some();
    let is_within = |number: usize, run: &Run| {
        let is_edge = needs_whole && (number == 0 || number == last);
        !is_edge || !run.may_go_on() || has_chains && run.game.is_none()
    };
    for (number, run) in selected.runs.iter_mut().enumerate() {
        if run.of_other_shard && is_within(number, run) {
            run.verdict.get_or_insert((OTHER_SHARD, false));
        }
    }
    if let Some(fields) = selection.whole_games {
        match selection.only_annotated {
            false => fields_from_whole_games::make_room(&mut decoded.batches, fields),
            true if ends_with_first_record(&decoded.batches) => {
                fields_from_whole_games::make_room(&mut decoded.batches, fields);
            }
            true => fields_from_whole_games::make_room_for_annotated(&mut decoded.batches, fields),
        }
        for (number, run) in selected.runs.iter_mut().enumerate() {
            if is_within(number, run) {
                find_values(&mut [(&mut decoded.batches, run)], fields, selection.only_annotated);
            }
        }
    }
    if let Some(search) = &mut search {
        if let Some(condition) = selection.later_condition(true) {
            for (_, run) in selected.runs.iter_mut().enumerate().filter(|(number, run)| is_within(*number, run)) {
                judge_end(&mut [(&mut decoded.batches, run)], condition, search.games_before);
            }
        }
        let runs = selected.runs.iter_mut().enumerate().filter(|_| !selection.having.is_empty());
        let mut asked: Vec<&mut Run> =
            runs.filter(|(number, run)| run.verdict.is_none() && is_within(*number, run)).map(|(_, run)| run).collect();
        if !asked.is_empty() {
            let games: Vec<GameRecords> = asked.iter().map(|run| run.records(0)).collect();
            let searched = with_shared(&mut decoded.batches, |batches| search.search(batches, &games));
            for (run, searched) in asked.iter_mut().zip(searched) {
                settle(&mut [(&mut decoded.batches, run)], searched, selection);
            }
        }
    }
    for (number, run) in selected.runs.iter_mut().enumerate() {
        if is_within(number, run) {
            decide(&mut [(&mut decoded.batches, run)], selection, None);
        }
    }
    decoded.selected = Some(Box::new(selected));
}

/// Whether some record has a game and a clock or an evaluation.
pub(crate) fn has_annotated_games(batches: &[Batch]) -> bool {
    let has = |batch: &Batch, field| batch.values(field).is_some_and(|values| values.count_present() != 0);
    batches.iter().any(|batch| has(batch, Field::Game) && CLOCKS_AND_EVALUATIONS.iter().any(|field| has(batch, field)))
}

/// Whether the last record is the first of a game, whose evaluations all come later.
pub(crate) fn ends_with_first_record(batches: &[Batch]) -> bool {
    let last = batches.last().filter(|batch| !batch.is_empty());
    last.is_some_and(|batch| batch.values(Field::Ply).and_then(|plies| plies.number(batch.len() - 1)) == Some(0))
}

/// The runs of some batches.
fn runs(batches: &[Batch], chains: Option<&[usize]>, selection: &GameFilter) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let needs_whole = selection.needs_whole_games();
    let finds_values = selection.only_finds_values();
    let mut rows_before = 0;
    for (number, batch) in batches.iter().enumerate() {
        let begins_chain = |row: usize| chains.is_some_and(|chains| chains.binary_search(&(rows_before + row)).is_ok());
        let ply = |row: usize| batch.values(Field::Ply)?.number(row).map(|ply| ply as u16);
        let facts: Vec<&Array> = selection
            .fields_of_games()
            .iter()
            .filter(|&field| field != Field::Ply)
            .filter_map(|field| batch.values(field))
            .collect();
        let same = |a: usize, b: usize| facts.iter().all(|values| code(values, a) == code(values, b));
        let mut start = 0;
        while start < batch.len() {
            let mut end = (start + 1..batch.len()).find(|&row| !same(row - 1, row)).unwrap_or(batch.len());
            let game = batch.values(Field::Game).and_then(|games| games.number(start)).map(|game| game as u64);
            // Where games are shuffled, most records are alone, and nothing is found for them.
            let is_alone = finds_values && end - start == 1 && start > 0 && end < batch.len();
            let game = game.filter(|_| !is_alone);
            // Records without a game follow one another while their plies rise by one.
            let mut way = None;
            if game.is_none()
                && selection.whole_games.is_some()
                && !selection.only_annotated
                && let Some(first) = ply(start)
            {
                let follows = |row: usize| {
                    !begins_chain(row)
                        && ply(row).is_some_and(|own| ply(row - 1).and_then(|ply| ply.checked_add(1)) == Some(own))
                };
                end = (start + 1..end).find(|&row| !follows(row)).unwrap_or(end);
                way = Some((first, ply(end - 1).unwrap_or(first)));
            }
            let verdict = match game {
                _ if finds_values => None,
                None if selection.last_of_games => Some((ROWS_OF_GAMES, false)),
                None if !selection.having.is_empty() => Some((HAVING, false)),
                _ => selection.leaves_out(&Row::new(batch, start)).or_else(|| {
                    if selection.later_condition(true).is_some() {
                        return None;
                    }
                    selection.condition_leaves_out(|condition| record(batch, start, condition.needs().fields))
                }),
            };
            let next = Run {
                game,
                verdict,
                parts: vec![(number, start..end)],
                decided: false,
                left_out: Vec::new(),
                is_found: false,
                matches: None,
                main_line: None,
                bad: 0,
                of_other_shard: batch.of_other_shard,
                way,
                has_values: false,
            };
            match runs.last_mut() {
                Some(run) if run.is_continued_by(&next, needs_whole) && !(way.is_some() && begins_chain(start)) => {
                    match run.parts.last_mut() {
                        Some((last, rows)) if *last == number => rows.end = end,
                        _ => run.parts.extend(next.parts),
                    }
                    run.way = run.way.zip(way).map(|((first, _), (_, last))| (first, last));
                }
                _ => runs.push(next),
            }
            start = end;
        }
        rows_before += batch.len();
    }
    runs
}

/// Finds the values of a game, whose records are in several chunks, that need all of them.
fn find_values(game: &mut [(&mut Vec<Batch>, &mut Run)], fields: Fields, only_annotated: bool) {
    let is_connected = |run: &Run| run.game.is_some() || run.is_connected() && !only_annotated;
    let is_wanted = |run: &Run| run.verdict.is_none() && !run.has_values && is_connected(run);
    let Some(first) = game.first().map(|(_, run)| &**run).filter(|run| is_wanted(run)) else { return };
    let is_game = first.game.is_some();
    let mut rows = Vec::with_capacity(game.iter().map(|(_, run)| run.len()).sum());
    for (part, (_, run)) in game.iter().enumerate() {
        rows.extend(run.rows().map(|(batch, row)| Place { part, batch, row }));
    }
    let mut parts: Vec<&mut Vec<Batch>> = game.iter_mut().map(|(batches, _)| &mut **batches).collect();
    match only_annotated {
        false => fields_from_whole_games::find(&mut parts, &rows, fields, is_game),
        true => fields_from_whole_games::find_of_annotated(&mut parts, &rows, fields),
    }
    game.iter_mut().for_each(|(_, run)| run.has_values = true);
}

/// Finds those of these fields that need whole games, where all records of them are here.
#[cfg(feature = "parquet")]
pub(crate) fn find_values_of_all(decoded: &mut Decoded, fields: Fields) {
    let fields = fields.intersection(OF_WHOLE_GAMES);
    if fields.is_empty() {
        return;
    }
    let selection = GameFilter { whole_games: Some(fields), ..GameFilter::default() };
    fields_from_whole_games::make_room(&mut decoded.batches, fields);
    for mut run in runs(&decoded.batches, decoded.chains.as_deref(), &selection) {
        find_values(&mut [(&mut decoded.batches, &mut run)], fields, false);
    }
}

/// Whether these records may all be of one game, or on one way without a game, as far as whole games are concerned.
#[cfg(feature = "parquet")]
pub(crate) fn may_be_one_game(decoded: &Decoded) -> bool {
    let selection = GameFilter { whole_games: Some(OF_WHOLE_GAMES), ..GameFilter::default() };
    match &runs(&decoded.batches, decoded.chains.as_deref(), &selection)[..] {
        [] => true,
        [run] => run.is_connected(),
        _ => false,
    }
}

/// A batch with one row of another batch, with these fields.
fn record(batch: &Batch, row: usize, fields: Fields) -> Batch {
    let mut one = Batch::of_one();
    for field in fields.iter() {
        if let Some(values) = batch.values(field) {
            let mut value = field.column(0);
            value.extend_from(values, std::iter::once(row));
            one.fields.insert(field, value);
        }
    }
    one
}

/// A number for the value of a row, equal for neighbours only if their values are equal.
fn code(values: &Array, row: usize) -> Option<i64> {
    match values {
        Array::Text(texts) => texts.codes().get(row).map(|&code| code.into()),
        values => values.number(row),
    }
}

/// Judges a game, whose records are in several chunks, by a condition on its end.
fn judge_end(game: &mut [(&mut Vec<Batch>, &mut Run)], condition: &Condition, games_before: u64) {
    let Some((batches, last)) = game.last() else { return };
    let Some((batch, row)) = last.rows().last().filter(|_| last.verdict.is_none()) else { return };
    let batch = &batches[batch];
    let end = GameRow::of_last_record(batch, row);
    let values = record(batch, row, condition.needs().fields);
    if !condition.is_true_of_game(at_end(values, end.last.as_ref(), end.plies, games_before)) {
        game.iter_mut().for_each(|(_, run)| run.verdict = Some((WHERE, false)));
    }
}

/// A record of a game with its last position, its number over all inputs, and its length, if that is known.
fn at_end(values: Batch, last: Option<&Position>, plies: Option<u32>, games_before: u64) -> Batch {
    let board = last.and_then(|last| Packed::pack(last).ok()).unwrap_or_default();
    let (halfmove, fullmove) = last.map_or((0, 0), |last| (last.halfmove, last.fullmove));
    let mut record = Batch::new();
    record.push(board, halfmove, fullmove);
    (record.fields, record.tags) = (values.fields, values.tags);
    if let Some(Array::U64(games)) = record.fields.get_mut(&Field::Game) {
        games.add(games_before);
    }
    if let Some(plies) = plies {
        let mut values = Values::<u16>::default();
        values.push(Some(plies.min(u16::MAX.into()) as u16));
        record.fields.insert(Field::GamePlies, Array::U16(values));
    }
    record
}

/// Searches a game, whose records are in several chunks, for the sequence of positions.
fn search_game(game: &mut [(&mut Vec<Batch>, &mut Run)], search: &mut SequenceSearch<'_>) -> Option<Searched> {
    let mut all = Vec::new();
    let mut records = GameRecords::default();
    let mut counts = Vec::new();
    for (batches, run) in game.iter_mut() {
        records.parts.extend(run.records(all.len()).parts);
        counts.push(batches.len());
        all.append(batches);
    }
    let searched = with_shared(&mut all, |batches| search.search(batches, &[records])).pop();
    let mut all = all.into_iter();
    for ((batches, _), count) in game.iter_mut().zip(counts) {
        batches.extend(all.by_ref().take(count));
    }
    searched
}

/// Notes whether a game has the sequence of positions.
fn settle(game: &mut [(&mut Vec<Batch>, &mut Run)], searched: Searched, selection: &GameFilter) {
    match searched {
        Searched::Found(matches) => {
            game.iter_mut().for_each(|(_, run)| run.is_found = true);
            if let Some((_, last)) = game.last_mut() {
                last.matches = matches;
            }
        }
        Searched::Missed(bad) => {
            game.iter_mut().for_each(|(_, run)| run.verdict = Some((HAVING, false)));
            // Bad records are rejects, whatever is chosen; but rows of games are made of the last records only.
            if selection.last_of_games {
                return;
            }
            let mut bad = bad.into_iter().peekable();
            let mut before = 0;
            for (batches, run) in game {
                while let Some((batch, row)) = bad.next_if(|&(batch, _)| batch < before + batches.len()) {
                    run.bad += 1;
                    if let Some(words) = &mut batches[batch - before].selected {
                        words[row / 64] |= 1 << (row % 64);
                    }
                }
                before += batches.len();
            }
        }
    }
}

/// Takes all records of a run.
fn take_all(run: &Run, batches: &mut [Batch]) {
    for (batch, rows) in &run.parts {
        let Some(words) = &mut batches[*batch].selected else { continue };
        let mut rows = rows.clone();
        while !rows.is_empty() {
            let bit = rows.start % 64;
            let len = rows.len().min(64 - bit);
            words[rows.start / 64] |= (u64::MAX >> (64 - len)) << bit;
            rows.start += len;
        }
    }
}

/// Decides which positions of a game are taken: its records in several chunks, in order.
fn decide(game: &mut [(&mut Vec<Batch>, &mut Run)], selection: &GameFilter, search: Option<&mut SequenceSearch<'_>>) {
    // A game belongs to the shard in which it begins.
    if let Some((_, first)) = game.first()
        && first.verdict.is_none()
    {
        let of_other_shard = first.of_other_shard;
        for (_, run) in game.iter_mut() {
            run.of_other_shard = of_other_shard;
            run.verdict = of_other_shard.then_some((OTHER_SHARD, false));
        }
    }
    if let Some(fields) = selection.whole_games {
        find_values(game, fields, selection.only_annotated);
    }
    if selection.only_finds_values() && game.first().is_some_and(|(_, first)| first.verdict.is_none()) {
        for (batches, run) in game {
            take_all(run, batches);
            run.decided = true;
        }
        return;
    }
    if let Some((_, first)) = game.first()
        && let Some(search) = search
        && first.verdict.is_none()
        && !first.is_found
    {
        if let Some(condition) = selection.later_condition(true) {
            judge_end(game, condition, search.games_before);
        }
        if game.first().is_some_and(|(_, first)| first.verdict.is_none())
            && !selection.having.is_empty()
            && let Some(searched) = search_game(game, search)
        {
            settle(game, searched, selection);
        }
    }
    let Some((_, first)) = game.first() else {
        return;
    };
    if first.verdict.is_some() {
        game.iter_mut().for_each(|(_, run)| run.decided = true);
        return;
    }
    let rows: Vec<(usize, usize, usize)> = game
        .iter()
        .enumerate()
        .flat_map(|(chunk, (_, run))| run.rows().map(move |(batch, row)| (chunk, batch, row)))
        .collect();
    if selection.moves {
        let line = MainLine::of(rows.iter().map(|&(chunk, batch, row)| (&game[chunk].0[batch], row)));
        if let Some((_, last)) = game.last_mut() {
            last.main_line = line.map(Box::new);
        }
    }
    let Some((_, first)) = game.first() else {
        return;
    };
    let mut left_out = Vec::new();
    let kept = {
        let ply = |at: usize| {
            let (chunk, batch, row) = rows[at];
            let ply = game[chunk].0[batch].values(Field::Ply)?.number(row)?;
            Some(ply as u32)
        };
        let hash = match selection.max_per_game {
            Some(_) => {
                rows.iter().fold(0, |hash, &(chunk, batch, row)| hash_on(hash, &game[chunk].0[batch].board(row)))
            }
            None => 0,
        };
        let mut leave_out = |name, count| {
            if count != 0 {
                left_out.push((name, count));
            }
        };
        match first.game {
            Some(_) => selection.positions_by(rows.len(), &ply, hash, &mut leave_out),
            // Records without a game do not form a game together.
            None => {
                let alone = GameFilter { every: 0, last: false, max_per_game: None, ..selection.clone() };
                alone.positions_by(rows.len(), &ply, hash, &mut leave_out)
            }
        }
    };
    for (&(chunk, batch, row), _) in rows.iter().zip(kept).filter(|(_, keep)| *keep) {
        if let Some(words) = &mut game[chunk].0[batch].selected {
            words[row / 64] |= 1 << (row % 64);
        }
    }
    game.iter_mut().for_each(|(_, run)| run.decided = true);
    // The game is counted where it begins, so that the count does not depend on which of its records is the last one
    // requested.
    if let Some((_, first)) = game.first_mut() {
        first.left_out = left_out;
    }
}

/// Checks that the records of each game of a file follow one another. Games may come in any order, as `shuffle --by game`
/// leaves them.
#[derive(Debug, Default)]
pub(crate) struct GamesInOrder {
    /// Number of records of the file so far.
    records: u64,
    /// The last game.
    last: Option<u64>,
    /// The games so far: a bit for each, in blocks of [`GAMES_OF_BLOCK`] games.
    seen: BTreeMap<u64, Box<[u64; GAMES_OF_BLOCK as usize / 64]>>,
    /// A game that comes again was found.
    scattered: bool,
    /// The game of the last record before those of this shard.
    before_own: Option<u64>,
}

const GAMES_OF_BLOCK: u64 = 4096;
/// The maximum number of blocks: for 64 MiB. A file with more must have its games in ascending order.
const MOST_BLOCKS: usize = 1 << 17;

impl GamesInOrder {
    /// The record of the next chunk with which it turns out that the games of the file are scattered, and its game.
    pub(crate) fn add(&mut self, decoded: &Decoded) -> Option<(u64, u64)> {
        let before = self.records;
        self.records += decoded.records;
        // Numbers that count from the first game of the chunk follow one another.
        if self.scattered || decoded.games != 0 {
            return None;
        }
        for batch in &decoded.batches {
            let Some(Array::U64(games)) = batch.values(Field::Game) else { continue };
            // How much is read of other shards is left to chance.
            if batch.of_other_shard {
                let last = (0..batch.len()).rev().find_map(|row| games.get(row).copied());
                self.before_own = last.or(self.before_own);
                continue;
            }
            if let Some(before) = self.before_own.take() {
                self.comes_again(before);
                self.last = Some(before);
            }
            for row in 0..batch.len() {
                let Some(&game) = games.get(row).filter(|&&game| self.last != Some(game)) else { continue };
                if self.comes_again(game) {
                    self.scattered = true;
                    self.seen.clear();
                    return Some((before + batch.first_index + batch.ordinal(row), game));
                }
                self.last = Some(game);
            }
        }
        None
    }

    /// Whether a game has been there before.
    fn comes_again(&mut self, game: u64) -> bool {
        let block = game / GAMES_OF_BLOCK;
        if self.seen.len() >= MOST_BLOCKS && !self.seen.contains_key(&block) {
            return self.last.is_some_and(|last| game < last);
        }
        let bits = self.seen.entry(block).or_insert_with(|| Box::new([0; GAMES_OF_BLOCK as usize / 64]));
        let (word, bit) = ((game % GAMES_OF_BLOCK / 64) as usize, 1 << (game % 64));
        let is_known = bits[word] & bit != 0;
        bits[word] |= bit;
        is_known
    }
}

/// Records that were held back.
#[derive(Debug)]
pub(crate) struct PendingGame {
    pub(crate) format: Format,
    pub(crate) chunk: Chunk,
    pub(crate) decoded: Decoded,
    /// Number of lines of the input before the chunk.
    pub(crate) lines: u64,
}

/// Decides about the games at the edges of chunks, which it sees in order.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    /// A game that may go on in the next chunk.
    open: Vec<PendingGame>,
    /// Number of its records that are held back.
    held: usize,
    /// The last game of the chunk before.
    last: Option<(u64, Verdict)>,
    /// The fields that some record of this file has; `None` until a record is read.
    carried: Option<Fields>,
}

impl Edges {
    /// Decides about the first games of a chunk, and takes the last one out unless the file ends here. Records of
    /// earlier games that were held back must be taken first. The error is a game that is too long to be held. `lines`:
    /// the number of lines before the chunk.
    pub(crate) fn join(
        &mut self,
        (chunk, lines): (&Chunk, u64),
        format: Format,
        decoded: &mut Decoded,
        selection: &GameFilter,
        mut search: Option<&mut SequenceSearch<'_>>,
        at_end: bool,
    ) -> Result<Vec<PendingGame>, Damage> {
        let Some(mut selected) = decoded.selected.take() else {
            return Ok(self.close(selection, search));
        };
        // Games that are numbered from the first of the chunk are whole: none goes on in the next, so that none is open.
        let are_whole = decoded.games != 0;
        if are_whole {
            self.last = None;
        }
        let at_end = at_end || are_whole;
        let count = selected.runs.len();
        if count != 0 {
            let before = self.carried.unwrap_or_default();
            self.carried = Some(before.union(selected.carried));
        }
        if count == 0 {
            decoded.selected = Some(selected);
            // Damage may begin right here; then the open game does not continue.
            return Ok(if at_end { self.close(selection, search) } else { Vec::new() });
        }
        let goes_on = |held: &PendingGame, run: &Run| {
            let runs = held.decoded.selected.as_ref().map(|held| &held.runs[..]);
            runs.and_then(<[Run]>::last).is_some_and(|open| open.goes_on_in(run))
        };
        let continues = self.open.last().is_some_and(|held| goes_on(held, &selected.runs[0]));
        let mut ready = Vec::new();
        if !continues {
            ready = self.close(selection, search.as_deref_mut());
        }
        let holds = !at_end && !selected.runs[count - 1].decided;
        if holds && count == 1 {
            // The chunk has nothing but one game that may go on.
            let len = selected.runs[0].len();
            decoded.selected = Some(selected);
            let held = PendingGame { format, chunk: decoded_chunk(chunk), decoded: decoded.take_records(), lines };
            self.open.push(held);
            self.held += len;
            if self.held <= MOST_HELD {
                return Ok(ready);
            }
            if selection.only_finds_values() {
                // It is too long to be a game.
                ready.extend(self.close(selection, search));
                return Ok(ready);
            }
            self.open.clear();
            self.held = 0;
            let what = format!(
                "a game of more than {MOST_HELD} records; options that choose among the positions of a game need it whole"
            );
            return Err(Damage::limit(0, what));
        }
        if continues {
            let mut open = std::mem::take(&mut self.open);
            let mut game = parts_of(&mut open);
            game.push((&mut decoded.batches, &mut selected.runs[0]));
            decide(&mut game, selection, search.as_deref_mut());
            ready = open;
            self.held = 0;
        } else if !selected.runs[0].decided {
            decide(&mut [(&mut decoded.batches, &mut selected.runs[0])], selection, search.as_deref_mut());
        }
        let mut tail = None;
        if let Some(last) = selected.runs.last_mut()
            && !last.decided
        {
            if holds {
                tail = selected.runs.pop();
            } else {
                decide(&mut [(&mut decoded.batches, last)], selection, search);
            }
        }
        let fields = selected.fields;
        decoded.selected = Some(selected);
        if let Some(tail) = tail {
            self.held = tail.len();
            let decoded = split_off(decoded, tail, fields);
            self.open.push(PendingGame { format, chunk: decoded_chunk(chunk), decoded, lines });
        }
        Ok(ready)
    }

    /// Whether records are held back.
    pub(crate) fn has_open_records(&self) -> bool {
        !self.open.is_empty()
    }

    /// The format of the records that are held back.
    pub(crate) fn format(&self) -> Option<Format> {
        self.open.first().map(|held| held.format)
    }

    /// Whether a game that begins in this shard may go on after the records so far.
    pub(crate) fn has_open_game(&self) -> bool {
        let runs = self.open.first().and_then(|held| held.decoded.selected.as_ref()).map(|selected| &selected.runs[..]);
        runs.and_then(<[Run]>::last).is_some_and(|run| !run.of_other_shard)
    }

    /// Returns the games that were held back and are now complete.
    pub(crate) fn close(
        &mut self,
        selection: &GameFilter,
        search: Option<&mut SequenceSearch<'_>>,
    ) -> Vec<PendingGame> {
        let mut open = std::mem::take(&mut self.open);
        self.held = 0;
        decide(&mut parts_of(&mut open), selection, search);
        open
    }

    /// Ends a file: the next one has other games. Returns the fields that some record of it had, if it had records.
    pub(crate) fn end_file(&mut self) -> Option<Fields> {
        self.last = None;
        self.carried.take()
    }

    /// Numbers the records that are taken, and counts what was left out, up to the last one of the `left` records (or
    /// rows of games) that are requested.
    pub(crate) fn finish(&mut self, decoded: &mut Decoded, selection: &GameFilter, left: u64) {
        let Some(selected) = decoded.selected.take() else {
            return;
        };
        let last = number(decoded, left);
        let cut = if selection.last_of_games {
            let rows = taken(&decoded.batches);
            (rows.len() as u64 >= left).then(|| left.checked_sub(1).map(|last| rows[last as usize]))
        } else {
            (decoded.records >= left).then_some(last)
        };
        for mut run in selected.runs {
            if let Some(cut) = cut {
                let Some(cut) = cut.filter(|&cut| run.rows().next().is_some_and(|first| first <= cut)) else {
                    break;
                };
                // Whole games are counted as such.
                if !selection.needs_whole_games() {
                    up_to(&mut run, cut, &mut decoded.batches, selection);
                }
            }
            let found = FoundInGame { matches: run.matches.take(), main_line: run.main_line.take() };
            if selection.last_of_games && (found.matches.is_some() || found.main_line.is_some()) {
                decoded.found_in_games.extend(run.rows().last().map(|row| (row, found)));
            }
            if run.verdict.is_some_and(|(name, _)| name == ROWS_OF_GAMES) && !run.of_other_shard {
                decoded.remarks.add(&NO_GAME, run.len() as u64);
            }
            let is_new = run.game.is_none_or(|game| self.last != Some((game, run.verdict)));
            count(&run, is_new, &mut decoded.left_out);
            self.last = run.game.map(|game| (game, run.verdict));
        }
        for batch in &mut decoded.batches {
            batch.fields.retain(|&field, _| selected.fields.contains(field));
        }
    }
}

/// Drops what a decoded chunk no longer needs: parts of tables give back their memory.
fn decoded_chunk(chunk: &Chunk) -> Chunk {
    let extent = match &chunk.extent {
        Extent::Rows(rows) => Extent::Rows(rows.decoded()),
        other => other.clone(),
    };
    Chunk { extent, ..chunk.clone() }
}

/// The records of a game that was held back.
fn parts_of(open: &mut [PendingGame]) -> Vec<(&mut Vec<Batch>, &mut Run)> {
    let parts = open.iter_mut().filter_map(|held| {
        let run = held.decoded.selected.as_mut()?.runs.last_mut()?;
        Some((&mut held.decoded.batches, run))
    });
    parts.collect()
}

/// Takes the last run out of a chunk.
fn split_off(decoded: &mut Decoded, tail: Run, fields: Fields) -> Decoded {
    let (first, start) = tail.rows().next().unwrap_or_default();
    let mut batches: Vec<Batch> = decoded.batches[first..].to_vec();
    // Its bits are not set yet, and those before it stay where they are.
    for batch in &mut batches {
        batch.selected = Some(vec![0; batch.len().div_ceil(64)]);
    }
    let place = decoded.batches.get(first).map_or(0, |batch| batch.first_index + batch.ordinal(start));
    let after = decoded.rejects.partition_point(|reject| reject.place.record < place);
    let parts = tail.parts.into_iter().map(|(batch, rows)| (batch - first, rows));
    Decoded {
        batches,
        rejects: decoded.rejects.split_off(after),
        selected: Some(Box::new(Selected {
            runs: vec![Run { parts: parts.collect(), ..tail }],
            carried: Fields::NONE,
            fields,
        })),
        texts: decoded.texts.clone(),
        ..Decoded::default()
    }
}

/// Numbers the records that are taken and those that could not be decoded, in order. Returns the batch and row of the
/// last of the `left` records that are requested; if that one could not be decoded, those of the row before it.
fn number(decoded: &mut Decoded, left: u64) -> Option<(usize, usize)> {
    let mut next = 0u64;
    let (mut last, mut before) = (None, None);
    let mut rejects = decoded.rejects.iter_mut().peekable();
    for (number, batch) in decoded.batches.iter_mut().enumerate() {
        let words = batch.selected.take().unwrap_or_default();
        let mut numbers = Vec::with_capacity(batch.len());
        let is_between = rejects.peek().is_some_and(|reject| {
            reject.place.record < batch.first_index + batch.ordinal(batch.len().saturating_sub(1))
        });
        if !batch.is_empty() && !is_between && next + (batch.len() as u64) < left {
            // Nothing else has a number among these records.
            for (word, &bits) in words.iter().enumerate() {
                let rows = (batch.len() - 64 * word).min(64);
                match bits {
                    0 => numbers.resize(numbers.len() + rows, next as u32),
                    _ => numbers
                        .extend((0..rows).map(|row| (next + u64::from((bits & ((1 << row) - 1)).count_ones())) as u32)),
                }
                next += u64::from(bits.count_ones());
            }
            before = Some((number, batch.len() - 1));
            (batch.first_index, batch.numbers, batch.selected) = (0, Some(numbers), Some(words));
            continue;
        }
        for row in 0..batch.len() {
            let place = batch.first_index + batch.ordinal(row);
            while let Some(reject) = rejects.next_if(|reject| reject.place.record < place) {
                reject.place.record = next;
                next += 1;
                if next == left {
                    last = before;
                }
            }
            numbers.push(next as u32);
            before = Some((number, row));
            if words[row / 64] >> (row % 64) & 1 != 0 {
                next += 1;
                if next == left {
                    last = before;
                }
            }
        }
        batch.first_index = 0;
        batch.numbers = Some(numbers);
        batch.selected = Some(words);
    }
    for reject in rejects {
        reject.place.record = next;
        next += 1;
        if next == left {
            last = before;
        }
    }
    decoded.records = next;
    last
}

/// Batch and row of each record that is taken.
fn taken<B: Borrow<Batch>>(batches: &[B]) -> Vec<(usize, usize)> {
    let rows = batches.iter().enumerate().flat_map(|(number, batch)| {
        let batch = batch.borrow();
        let words = batch.selected.as_deref().unwrap_or_default();
        (0..batch.len()).filter(move |row| words[row / 64] >> (row % 64) & 1 != 0).map(move |row| (number, row))
    });
    rows.collect()
}

/// Among the records that are taken, each the last one of its game, keeps the requested ones; returns how many there
/// were. Nothing after the last requested one is left, so that it does not matter where chunks end.
pub(crate) fn keep_games(decoded: &mut Decoded, requested: Range<u64>) -> u64 {
    let rows = taken(&decoded.batches);
    let count = rows.len() as u64;
    let end = requested.end.min(count) as usize;
    let start = (requested.start as usize).min(end);
    if count >= requested.end {
        let index = |(batch, row): (usize, usize)| decoded.batches[batch].index(row);
        let after = end.checked_sub(1).map_or(0, |last| index(rows[last]) + 1);
        decoded.rejects.retain(|reject| reject.place.record < after);
        decoded.records = decoded.records.min(after);
    }
    for batch in &mut decoded.batches {
        batch.selected = Some(vec![0; batch.len().div_ceil(64)]);
    }
    for &(batch, row) in &rows[start..end] {
        if let Some(words) = &mut decoded.batches[batch].selected {
            words[row / 64] |= 1 << (row % 64);
        }
    }
    count
}

/// The rows of the games whose last records are taken, with the numbers of these records.
pub(crate) fn rows_of_games(batches: &[Arc<Batch>], mut found: FoundInGames) -> Vec<(u64, GameRow)> {
    let rows = taken(batches).into_iter().map(|(batch, row)| {
        let game = GameRow::of_last_record(&batches[batch], row);
        let FoundInGame { matches, main_line } = found.remove(&(batch, row)).unwrap_or_default();
        (batches[batch].index(row), GameRow { matches, main_line, ..game })
    });
    rows.collect()
}

/// What was found in a game that its last record does not say.
#[derive(Debug, Default)]
pub(crate) struct FoundInGame {
    /// Where it has the sequence of positions.
    matches: Option<Box<GameMatches>>,
    main_line: Option<Box<MainLine>>,
}

/// What was found in games, by the batch and row of their last record.
pub(crate) type FoundInGames = BTreeMap<(usize, usize), FoundInGame>;

/// A game that was decoded as a whole, in which a sequence of positions is to be searched for.
#[derive(Debug)]
pub(crate) struct WholeGame {
    /// Its number, counted from the first game of the chunk.
    pub(crate) number: u64,
    /// Offset of its text in the chunk.
    pub(crate) start: usize,
    /// Its rows, and those of them in variations.
    pub(crate) rows: Range<usize>,
    pub(crate) apart: Vec<usize>,
    /// A record with its tags and its number, counted from the first game of the chunk, if a condition on the end of games
    /// needs them.
    pub(crate) values: Option<Box<Batch>>,
}

impl WholeGame {
    /// The rows of the main line.
    fn main_line(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.rows.clone().filter(|row| self.apart.binary_search(row).is_err())
    }
    /// The row of the last position of the main line.
    fn last(&self) -> Option<usize> {
        self.main_line().next_back()
    }
}

/// Keeps the games that have a sequence of positions, and those of their positions that are to be taken, of a chunk of
/// whole games. Of the fields, only these are kept. The rows of these games are completed, if they have to tell more than
/// where the games are.
pub(crate) fn select_games(
    (format, chunk, options): (Format, &Chunk, &DecodeOptions),
    decoded: &mut Decoded,
    selection: &GameFilter,
    search: &mut SequenceSearch<'_>,
    fields: Fields,
) {
    let about = (format, chunk, options);
    let tells_rows = search.tells_matches;
    let mut games = std::mem::take(&mut decoded.whole_games);
    if let Some(fields) = selection.whole_games {
        let is_any = match selection.only_annotated {
            true => has_annotated_games(&decoded.batches),
            false => !decoded.batches.is_empty(),
        };
        match selection.only_annotated {
            false => fields_from_whole_games::make_room(&mut decoded.batches, fields),
            true if is_any => fields_from_whole_games::make_room_for_annotated(&mut decoded.batches, fields),
            true => {}
        }
        let mut rows = Vec::new();
        for game in games.iter().filter(|_| is_any) {
            rows.clear();
            rows.extend(game.main_line().map(|row| Place { part: 0, batch: 0, row }));
            match selection.only_annotated {
                false => fields_from_whole_games::find(&mut [&mut decoded.batches], &rows, fields, true),
                true => fields_from_whole_games::find_of_annotated(&mut [&mut decoded.batches], &rows, fields),
            }
        }
    }
    if selection.takes_decoded_games() && !tells_rows {
        // Nothing is left out, so that the records keep their numbers.
        decoded.batches.iter_mut().for_each(|batch| batch.fields.retain(|&field, _| fields.contains(field)));
        return;
    }
    let by_end: Vec<WholeGame> = match selection.later_condition(false) {
        None => Vec::new(),
        Some(condition) => {
            games.extract_if(.., |game| !is_true_at_end(game, &decoded.batches, condition, search)).collect()
        }
    };
    if !by_end.is_empty() {
        let positions = by_end.iter().map(|game| game.rows.len() as u64).sum();
        let count = FilterCount { games: by_end.len() as u64, positions, unknown: 0 };
        decoded.left_out.entry(WHERE).or_default().add(count);
        // As those that tags leave out, they are no rejects.
        let is_left = |number: u64| by_end.binary_search_by_key(&number, |game| game.number).is_err();
        decoded.rejects.retain(|reject| reject.place.game.is_none_or(is_left));
        leave_out_games(decoded, &by_end);
    }
    if decoded.batches.is_empty() {
        // Games without any position, which cannot be replayed.
        number(decoded, u64::MAX);
        if selection.having.is_empty() {
            return if tells_rows {
                complete_rows(about, decoded, &games, BTreeMap::new(), selection.moves)
            };
        }
        if !games.is_empty() {
            decoded.left_out.entry(HAVING).or_default().games += games.len() as u64;
        }
        return leave_out_games(decoded, &games);
    }
    let records: Vec<GameRecords> = games
        .iter()
        .map(|game| GameRecords { parts: vec![(0, game.rows.clone())], apart: game.apart.clone() })
        .collect();
    let searched = if selection.having.is_empty() {
        records.iter().map(|_| Searched::Found(None)).collect()
    } else {
        with_shared(&mut decoded.batches, |batches| search.search(batches, &records))
    };
    let batch = &mut decoded.batches[0];
    let mut words = vec![0; batch.len().div_ceil(64)];
    let mut take = |row: usize| words[row / 64] |= 1 << (row % 64);
    let mut leave_out = |name, games, positions| {
        if games + positions != 0 {
            decoded.left_out.entry(name).or_default().add(FilterCount { games, positions, unknown: 0 });
        }
    };
    let (mut taken, mut missed) = (Vec::new(), Vec::new());
    let mut matches = BTreeMap::new();
    for (game, searched) in games.into_iter().zip(searched) {
        match searched {
            Searched::Missed(bad) => {
                leave_out(HAVING, 1, (game.rows.len() - bad.len()) as u64);
                bad.into_iter().for_each(|(_, row)| take(row));
                missed.push(game);
            }
            Searched::Found(found) => {
                let ply = |at| batch.values(Field::Ply)?.number(game.rows.start + at).map(|ply| ply as u32);
                let hash = match selection.max_per_game {
                    Some(_) => game.rows.clone().fold(0, |hash, row| hash_on(hash, &batch.board(row))),
                    None => 0,
                };
                let keep = selection.positions_by(game.rows.len(), &ply, hash, &mut |name, positions| {
                    leave_out(name, 0, positions);
                });
                game.rows.clone().zip(keep).filter(|(_, keep)| *keep).for_each(|(row, _)| take(row));
                matches.extend(found.map(|found| (game.number, found)));
                taken.push(game);
            }
        }
    }
    if taken.is_empty() && words.iter().all(|&bits| bits == 0) {
        // So it is mostly, when something rare is searched for.
        decoded.batches.clear();
        decoded.game_records.clear();
        decoded.lost_of_each = decoded.lost_of_each.take().map(|_| Box::default());
        number(decoded, u64::MAX);
        return leave_out_games(decoded, &missed);
    }
    // Numbers of records before they are numbered anew; a game may have no position.
    let old: Vec<Option<u64>> = taken.iter().map(|game| game.rows.clone().next().map(|row| batch.index(row))).collect();
    batch.selected = Some(words);
    number(decoded, u64::MAX);
    let batch = &mut decoded.batches[0];
    batch.fields.retain(|&field, _| fields.contains(field));
    let words = batch.selected.as_deref().unwrap_or_default();
    let mut new: BTreeMap<u64, Range<u64>> = BTreeMap::new();
    decoded.game_records.clear();
    for (game, old) in taken.iter().zip(old) {
        let mut rows = game.rows.clone().filter(|&row| words[row / 64] >> (row % 64) & 1 != 0);
        let Some((old, first)) = old.zip(rows.next()) else { continue };
        let numbers = batch.index(first)..batch.index(rows.next_back().unwrap_or(first)) + 1;
        new.insert(old, numbers.clone());
        decoded.game_records.push(numbers);
    }
    if let Some(lost) = &mut decoded.lost_of_each {
        lost.renumber(&new);
    }
    let makes_rows = !decoded.game_rows.is_empty();
    decoded.dropped_values.retain_mut(|dropped| match new.get(&dropped.place.record) {
        Some(records) => {
            dropped.place.record = records.start;
            true
        }
        None => makes_rows,
    });
    leave_out_games(decoded, &missed);
    if tells_rows {
        complete_rows(about, decoded, &taken, matches, selection.moves);
    }
}

/// Adds tags, last positions and matches to the rows of games, each of which has one.
fn complete_rows(
    (format, chunk, options): (Format, &Chunk, &DecodeOptions),
    decoded: &mut Decoded,
    games: &[WholeGame],
    mut matches: BTreeMap<u64, Box<GameMatches>>,
    reads_moves: bool,
) {
    let starts: Vec<usize> = games.iter().map(|game| game.start).collect();
    let mut tags = format.tags_of_games(chunk, options, &starts).into_iter();
    for (row, game) in decoded.game_rows.iter_mut().zip(games) {
        row.matches = matches.remove(&row.game);
        // Rows of tables have had their tags since they were decoded.
        row.tags = tags.next().unwrap_or_else(|| std::mem::take(&mut row.tags));
        row.last = game.last().and_then(|last| decoded.batches.first()?.position(last).ok());
        row.values = game.last().zip(decoded.batches.first()).and_then(|(row, batch)| GameRow::values_of(batch, row));
        if let Some(batch) = decoded.batches.first().filter(|_| reads_moves) {
            row.main_line = MainLine::of(game.main_line().map(|row| (batch, row))).map(Box::new);
        }
    }
}

/// Whether a condition on the end of a game is true.
fn is_true_at_end(game: &mut WholeGame, batches: &[Batch], condition: &Condition, search: &SequenceSearch<'_>) -> bool {
    let Some(mut values) = game.values.take() else { return true };
    if let (Some(row), Some(batch)) = (game.last(), batches.first()) {
        values.fields.extend(record(batch, row, condition.needs().fields.intersection(OF_WHOLE_GAMES)).fields);
    }
    let last = game.last().and_then(|row| batches.first()?.position(row).ok());
    condition.is_true_of_game(at_end(*values, last.as_ref(), None, search.games_before))
}

/// Removes what is known about some games.
fn leave_out_games(decoded: &mut Decoded, games: &[WholeGame]) {
    let is_left = |offset: u64| games.binary_search_by_key(&offset, |game| game.start as u64).is_err();
    decoded.game_rows.retain(|row| games.binary_search_by_key(&row.game, |game| game.number).is_err());
    decoded.dropped_values.retain(|dropped| is_left(dropped.place.offset));
}

/// Ends a run with this row, so that counts do not depend on where chunks end.
fn up_to(run: &mut Run, cut: (usize, usize), batches: &mut Vec<Batch>, selection: &GameFilter) {
    let rows = run.rows().take_while(|&row| row <= cut).count();
    if rows == run.len() {
        return;
    }
    let mut left = rows;
    run.parts.retain_mut(|(_, rows)| {
        rows.end = rows.end.min(rows.start + left);
        left -= rows.len();
        rows.start < rows.end
    });
    if run.verdict.is_none() {
        decide(&mut [(batches, run)], selection, None);
    }
}

/// Adds what was left out of a run.
fn count(run: &Run, is_new: bool, left_out: &mut LeftOutBy) {
    if run.of_other_shard {
        return;
    }
    if let Some((name, unknown)) = run.verdict.filter(|&(name, _)| name != ROWS_OF_GAMES) {
        let games = u64::from(is_new && run.game.is_some());
        let entry: &mut FilterCount = left_out.entry(name).or_default();
        entry.games += games;
        entry.unknown += games * u64::from(unknown);
        entry.positions += run.len() as u64 - run.bad;
    }
    for &(name, positions) in &run.left_out {
        left_out.entry(name).or_default().positions += positions;
    }
}

/// The facts of the game of a record.
struct Row<'a> {
    batch: &'a Batch,
    row: usize,
}

impl<'a> Row<'a> {
    fn new(batch: &'a Batch, row: usize) -> Self {
        Self { batch, row }
    }
    fn number(&self, field: Field) -> Option<i64> {
        self.batch.values(field)?.number(self.row)
    }
    fn text(&self, field: Field) -> &'a [u8] {
        let values = self.batch.values(field);
        let text = values.and_then(|values| values.text(self.row));
        text.unwrap_or_default().as_bytes()
    }
}

impl Facts for Row<'_> {
    fn elos(&self) -> [Option<u16>; 2] {
        [Field::WhiteElo, Field::BlackElo].map(|field| Some(self.number(field)? as u16))
    }
    fn players(&self) -> [Cow<'_, str>; 2] {
        let text = |field| self.batch.values(field).and_then(|values| values.text(self.row)).unwrap_or_default();
        [Field::White, Field::Black].map(|field| text(field).into())
    }
    fn time_control(&self) -> &[u8] {
        self.text(Field::TimeControl)
    }
    fn outcome(&self) -> Option<Outcome> {
        let codes = [Outcome::Black, Outcome::Draw, Outcome::White];
        let code = self.number(Field::Result)?;
        codes.into_iter().find(|outcome| i64::from(outcome.code()) == code)
    }
    fn plies(&self) -> u32 {
        u32::MAX
    }
    fn termination(&self) -> &[u8] {
        self.text(Field::Termination)
    }
    fn eco(&self) -> &[u8] {
        self.text(Field::Eco)
    }
    fn date(&self) -> Option<Date> {
        Date::parse(self.text(Field::Date))
    }
    fn variant(&self) -> Option<Variant> {
        None
    }
}

/// The reason why records with these fields cannot be selected as requested: the rest of a sentence that begins with
/// the name of the file.
pub(crate) fn cannot_select(selection: &GameFilter, format: Format, carried: Fields) -> Option<String> {
    if selection.copies_games {
        return Some(format!(
            "is {} file, which does not have the text of games; only PGN can be copied",
            with_article(format)
        ));
    }
    selection.requirements().find_map(|(option, fields)| {
        if option == ROWS_OF_GAMES {
            let has_games = fields.is_some_and(|fields| fields.iter().all(|&field| carried.contains(field)));
            return (!has_games).then(|| "has no games: its records do not carry `game`".to_owned());
        }
        let Some(fields) = fields else {
            return Some(format!(
                "is {} file, in which --{option} has nothing to go by: it needs the text of games (PGN)",
                with_article(format)
            ));
        };
        let missing: Vec<_> = fields
            .iter()
            .filter(|&&field| !carried.contains(field))
            .map(|field| format!("`{}`", field.name()))
            .collect();
        (!missing.is_empty()).then(|| format!("does not carry {}, which --{option} needs", missing.join(" and ")))
    })
}

/// The name of a format with an article: `an arrow`, `a boards`.
fn with_article(format: Format) -> String {
    let article = if format.name().starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {format}")
}
