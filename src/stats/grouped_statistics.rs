//! Statistics of groups of positions: by phase, by opening, or by any other column, or by two.
//!
//! The lanes need full groups of eight boards. So the boards of a tile and their results are first copied to buffers,
//! one per group of positions, and a buffer is counted whenever it is full. The fields of the records are counted
//! immediately, with a mask for each group. The statistics of all positions are the merged statistics of all groups, so
//! they are not counted a second time.
//!
//! A group takes up to a few hundred kilobytes, so that their number is limited. Where there are more, the inputs are
//! read twice: first to find the largest groups ([`GroupSizes`]), then to count these and all others together.

use super::full_report_details::Boards;
use super::group_by::GroupBy;
use super::group_ids::{GroupIds, MOST_VALUES, NO_ID};
use super::puzzles_and_evaluations::Columns;
use super::results_by_game::{GameResults, Games};
use super::{Carried, Stats};
use crate::kernels::BoardCounts;
use crate::packed::Group;
use crate::queries::GroupResults;
use crate::report::GroupValue;
use crate::table::{Tile, first_rows, rows_of};
use crate::tiers::Analyzer;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of groups: each takes up to a few hundred kilobytes.
pub const MOST_GROUPS: usize = 1000;
/// Maximum number of groups if the inputs of a network are counted, which takes up to a few megabytes for each.
pub const MOST_GROUPS_WITH_FEATURES: usize = 100;
/// Number of groups of eight boards that are counted together.
const WAITING: usize = 16;
/// The place that means "no group".
const NO_GROUP: u16 = u16::MAX;

/// The largest groups of a dataset, found by [`GroupCounts`](crate::jobs::GroupCounts).
#[derive(Clone, Debug, Default)]
pub struct LargestGroups {
    /// The values of the largest groups.
    values: HashSet<Vec<GroupValue>>,
    /// Number of the other groups.
    others: u64,
}

impl LargestGroups {
    /// The largest of these groups, at most this number of them; of equally large ones those with the lowest values.
    pub(crate) fn of(sizes: HashMap<Vec<GroupValue>, u64>, most: usize) -> Self {
        let mut sizes: Vec<(Vec<GroupValue>, u64)> = sizes.into_iter().collect();
        sizes.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        let others = sizes.len().saturating_sub(most.min(MOST_GROUPS)) as u64;
        sizes.truncate(most.min(MOST_GROUPS));
        Self { values: sizes.into_iter().map(|(values, _)| values).collect(), others }
    }
    /// These groups, beside this number of others.
    pub fn new(values: impl IntoIterator<Item = Vec<GroupValue>>, others: u64) -> Self {
        Self { values: values.into_iter().collect(), others }
    }
    /// Number of the other groups.
    pub fn others(&self) -> u64 {
        self.others
    }
}

/// Statistics of groups under construction.
#[derive(Debug)]
pub(crate) struct Grouped {
    /// The analyzer that the tiles used.
    analyzer: Option<&'static dyn Analyzer>,
    /// The statistics of a group without positions.
    empty: Stats,
    /// Maximum number of groups.
    most: usize,
    ids: GroupIds,
    /// The place of each value among the groups.
    places: Vec<u16>,
    /// The groups, with their values; all that are not among the [largest](Self::largest) are one group without values.
    groups: Vec<(Option<Vec<GroupValue>>, Sorted)>,
    largest: Option<Arc<LargestGroups>>,
    /// The place of the group of all others.
    others: u16,
    games: Games,
    /// The games of all groups together: a game may have records in several.
    all_games: (Games, GameResults),
    /// Whether there are too many groups; the counts are then not used.
    pub(crate) is_over: bool,
}

/// The statistics of one group, and the boards that are not yet counted.
#[derive(Debug)]
struct Sorted {
    stats: Stats,
    boards: Box<[Group; WAITING]>,
    results: Box<[GroupResults; WAITING]>,
    waiting: usize,
    /// The records of the tile that belong to the group, and whether there are any.
    mask: [u64; Grouped::WORDS],
    is_present: bool,
}

impl Grouped {
    /// Words of the masks: for tiles of at most this number of records times 64.
    const WORDS: usize = Stats::RUN / Group::LEN;

    /// Begins to count at most this number of groups, each with statistics like these; with `largest`, all other groups are one.
    pub(crate) fn new(empty: Stats, most: usize, largest: Option<Arc<LargestGroups>>) -> Self {
        Self {
            analyzer: None,
            empty,
            most,
            ids: GroupIds::default(),
            places: Vec::new(),
            groups: Vec::new(),
            largest,
            others: NO_GROUP,
            games: Games::default(),
            all_games: <(Games, GameResults)>::default(),
            is_over: false,
        }
    }

    /// Adds the records of a tile that count; a tile has at most [`Stats::RUN`] groups.
    pub(crate) fn add_tile(&mut self, tile: &Tile<'_>, by: &GroupBy) {
        if self.is_over {
            return;
        }
        let analyzer = tile.analyzer;
        self.analyzer = Some(analyzer);
        let mut ids = [NO_ID; Stats::RUN * Group::LEN];
        self.ids.find(tile, by, &mut ids);
        self.find_places();
        if self.is_over {
            return;
        }
        let places = if self.largest.is_none() {
            // Groups are made in the order of their numbers; `NO_ID` becomes `NO_GROUP`.
            ids.map(|id| id as u16)
        } else {
            ids.map(|id| self.places.get(id as usize).copied().unwrap_or(NO_GROUP))
        };
        self.games.add_tile(tile, Some((&places, self.groups.len())));
        self.all_games.0.add_tile(tile, None);
        self.add_games();
        // Details need the counts of boards together with the fields of records, and are counted with masks.
        let masks = self.empty.details.is_some() && !tile.batch.fields.is_empty();
        let carried = if masks { None } else { Carried::of(tile) };
        let mut present: Vec<u16> = Vec::new();
        let (mut row, end) = (0, tile.len);
        while row < end {
            // Neighbours are often in the same group.
            let place = places[row];
            let len = places[row..end].iter().take_while(|&&other| other == place).count();
            let run = row..row + len;
            row += len;
            let Some((_, sorted)) = self.groups.get_mut(usize::from(place)) else {
                // These records do not count.
                continue;
            };
            if masks {
                if !std::mem::replace(&mut sorted.is_present, true) {
                    present.push(place);
                }
                set(&mut sorted.mask, run.clone());
            } else if let Some(carried) = &carried {
                let rows = tile.start + run.start..tile.start + run.end;
                sorted.stats.add_run(carried, rows);
            }
            if tile.batch.is_from_mover {
                sorted.stats.from_mover += len as u64;
            }
            if by.has_ratings() {
                sorted.stats.add_ratings(tile.batch, tile.start + run.start..tile.start + run.end);
            }
            sorted.push(analyzer, tile, run);
        }
        if !masks {
            return;
        }
        let columns = Columns::of(tile.batch);
        let mut counts = vec![Default::default(); tile.groups.len()];
        analyzer.board_counts(tile.groups, tile.results, &mut counts);
        for place in present {
            let (_, sorted) = &mut self.groups[usize::from(place)];
            let mask = std::mem::take(&mut sorted.mask);
            sorted.is_present = false;
            let mask = &mask[..tile.mask.len()];
            sorted.stats.add_fields(tile.batch, tile.start, mask, &counts);
            if let Some(columns) = &columns {
                sorted.stats.annotations.add(columns, rows_of(mask).map(|row| tile.start + row));
            }
        }
    }

    /// Finds the places of values that are new.
    fn find_places(&mut self) {
        while self.places.len() < self.ids.len() && !self.is_over {
            let values = self.ids.values(self.places.len() as u32);
            let is_other = self.largest.as_ref().is_some_and(|largest| !largest.values.contains(&values));
            let place = if is_other && self.others != NO_GROUP {
                self.others
            } else if self.groups.len() > self.most || self.groups.len() == self.most && self.largest.is_none() {
                self.is_over = true;
                return;
            } else {
                self.groups.push(((!is_other).then_some(values), Sorted::new(self.empty.clone())));
                (self.groups.len() - 1) as u16
            };
            if is_other {
                self.others = place;
            }
            self.places.push(place);
        }
        self.is_over |= self.ids.len() > MOST_VALUES;
    }

    /// Ends the chunk with this number.
    pub(crate) fn end(&mut self, chunk: u64) {
        self.games.end(chunk);
        self.all_games.0.end(chunk);
        self.add_games();
    }

    /// Adds the games that were found.
    fn add_games(&mut self) {
        let (games, results) = &mut self.all_games;
        games.take().for_each(|game| results.add(game));
        for game in self.games.take() {
            if let Some((_, sorted)) = self.groups.get_mut(usize::from(game.group)) {
                sorted.stats.games.add(game);
            }
        }
    }

    /// Takes the games of all groups together, and their results.
    pub(crate) fn take_all_games(&mut self) -> (Games, GameResults) {
        std::mem::take(&mut self.all_games)
    }

    /// The statistics of the groups, in arbitrary order; those that are not among the largest have no values.
    pub(crate) fn finish(self) -> impl Iterator<Item = (Option<Vec<GroupValue>>, Stats)> {
        let analyzer = self.analyzer;
        self.groups.into_iter().map(move |(values, mut group)| {
            if let Some(analyzer) = analyzer {
                group.count(analyzer);
            }
            (values, group.stats)
        })
    }
}

/// The sizes of groups under construction.
#[derive(Debug, Default)]
pub(crate) struct GroupSizes {
    ids: GroupIds,
    sizes: Vec<u64>,
}

impl GroupSizes {
    /// Adds the records of a tile that count; false if there are more than [`MOST_VALUES`] values.
    pub(crate) fn add_tile(&mut self, tile: &Tile<'_>, by: &GroupBy) -> bool {
        let mut ids = [NO_ID; Stats::RUN * Group::LEN];
        self.ids.find(tile, by, &mut ids);
        self.sizes.resize(self.ids.len(), 0);
        for id in ids {
            if let Some(size) = self.sizes.get_mut(id as usize) {
                *size += 1;
            }
        }
        self.ids.len() <= MOST_VALUES
    }

    /// Adds the sizes to others.
    pub(crate) fn add_to(&self, sizes: &mut HashMap<Vec<GroupValue>, u64>) {
        for (id, size) in (0..).zip(&self.sizes) {
            *sizes.entry(self.ids.values(id)).or_default() += size;
        }
    }
}

/// Sets the bits of rows.
#[inline(always)]
fn set(mask: &mut [u64], mut rows: Range<usize>) {
    while !rows.is_empty() {
        let (word, bit) = (rows.start / 64, rows.start % 64);
        let len = rows.len().min(64 - bit);
        mask[word] |= (u64::MAX >> (64 - len)) << bit;
        rows.start += len;
    }
}

impl Sorted {
    fn new(stats: Stats) -> Self {
        Self {
            stats,
            boards: Box::new([Group::default(); WAITING]),
            results: Box::new([GroupResults::default(); WAITING]),
            waiting: 0,
            mask: [0; Grouped::WORDS],
            is_present: false,
        }
    }

    /// Adds the boards of a run of rows of a tile.
    #[inline(always)]
    fn push(&mut self, analyzer: &dyn Analyzer, tile: &Tile<'_>, run: Range<usize>) {
        let mut waiting = self.waiting;
        for row in run {
            let (group, results) = (&tile.groups[row / Group::LEN], &tile.results[row / Group::LEN]);
            let (lane, to) = (row % Group::LEN, waiting % Group::LEN);
            let board = &mut self.boards[waiting / Group::LEN];
            for (to_plane, plane) in board.planes.iter_mut().zip(&group.planes) {
                to_plane[to] = plane[lane];
            }
            let to_results = &mut self.results[waiting / Group::LEN];
            to_results.counts[to] = results.counts[lane];
            to_results.checkers[to] = results.checkers[lane];
            to_results.attacks_white[to] = results.attacks_white[lane];
            to_results.attacks_black[to] = results.attacks_black[lane];
            waiting += 1;
            if waiting == WAITING * Group::LEN {
                self.waiting = waiting;
                self.count(analyzer);
                waiting = 0;
            }
        }
        self.waiting = waiting;
    }

    /// Counts the boards in the buffer.
    #[inline(never)]
    fn count(&mut self, analyzer: &dyn Analyzer) {
        let len = std::mem::take(&mut self.waiting);
        if len == 0 {
            return;
        }
        let mask: [u64; WAITING / 8] = first_rows(len);
        let groups = len.div_ceil(Group::LEN);
        let (groups, results) = (&self.boards[..groups], &self.results[..groups]);
        let mut board_counts = [BoardCounts::default(); WAITING];
        let board_counts = &mut board_counts[..groups.len()];
        analyzer.board_counts(groups, results, board_counts);
        let boards = Boards { groups, results, board_counts, mask: &mask };
        self.stats.add_counted(analyzer, &boards);
    }
}
