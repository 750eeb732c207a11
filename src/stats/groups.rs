//! Statistics of groups of positions: by phase, by opening, or by any other column.
//!
//! The lanes need full groups of eight boards. So the boards of a tile and their results are first copied to buffers,
//! one per group of positions, and a buffer is counted whenever it is full. The fields of the records are counted
//! immediately, with a mask for each group. The statistics of all positions are the merged statistics of all groups, so
//! they are not counted a second time.

use super::details::Boards;
use super::games::{GameResults, Games};
use super::{Carried, Stats};
use crate::kernels::BoardCounts;
use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::report::GroupValue;
use crate::table::{Array, ChosenColumn, Columns, ColumnsError, Fields, Kind, Tile, Values, first_rows, rows_of};
use crate::tiers::Analyzer;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

/// The column by which positions are grouped, and the width of ranges.
///
/// ```
/// use lanefish::stats::GroupBy;
/// let by: GroupBy = "ply/20".parse().unwrap();
/// assert_eq!((by.name(), by.width()), ("ply", 20));
/// assert_eq!("ply".parse::<GroupBy>().unwrap().width(), 10);
/// assert!("phase/0".parse::<GroupBy>().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct GroupBy {
    columns: Columns,
    width: u64,
}

/// Why positions cannot be grouped that way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupByError {
    /// There is no such column, or it is named twice.
    #[error(transparent)]
    Column(#[from] ColumnsError),
    /// More than one column.
    #[error("expected one column")]
    Several,
    /// The width of ranges is not a positive number.
    #[error("expected a width from 1 to 1,000,000 after the slash, as in ply/10")]
    Width,
    /// Text has no ranges.
    #[error("`{0}` is text: it has no ranges of numbers")]
    Text(String),
}

/// Columns with many values, and the width of their ranges unless another one is given.
const WIDTHS: [(&str, u64); 26] = [
    ("ply", 10),
    ("game_plies", 10),
    ("plies_left", 10),
    ("fullmove", 10),
    ("halfmove", 10),
    ("score", 100),
    ("raw_score", 100),
    ("stm_score", 100),
    ("score_before", 100),
    ("move_see", 100),
    ("white_elo", 100),
    ("black_elo", 100),
    ("mean_elo", 100),
    ("puzzle_rating", 100),
    ("rating_deviation", 10),
    ("popularity", 10),
    ("plays", 1000),
    ("knodes", 100_000),
    ("clock", 6000),
    ("legal_moves", 5),
    ("mobility_white", 5),
    ("mobility_black", 5),
    ("material_white", 5),
    ("material_black", 5),
    ("stm_material", 5),
    ("nstm_material", 5),
];

impl fmt::Display for GroupBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_text() { f.write_str(self.name()) } else { write!(f, "{}/{}", self.name(), self.width) }
    }
}

impl FromStr for GroupBy {
    type Err = GroupByError;
    fn from_str(text: &str) -> Result<Self, GroupByError> {
        let (name, width) = match text.split_once('/') {
            Some((name, width)) => (name, Some(width)),
            None => (text, None),
        };
        let columns = Columns::named(name)?;
        if columns.iter().count() != 1 {
            return Err(GroupByError::Several);
        }
        let by = Self { columns, width: 1 };
        let width = match width {
            Some(_) if by.is_text() => return Err(GroupByError::Text(name.to_owned())),
            Some(width) => {
                width.parse().ok().filter(|width| (1..=1_000_000).contains(width)).ok_or(GroupByError::Width)?
            }
            None => {
                let usual = WIDTHS.iter().find(|(other, _)| *other == by.name());
                usual.map_or(1, |&(_, width)| width)
            }
        };
        Ok(Self { width, ..by })
    }
}

impl GroupBy {
    fn column(&self) -> Option<&ChosenColumn> {
        self.columns.iter().next()
    }
    fn is_text(&self) -> bool {
        let kind = self.column().map(ChosenColumn::kind);
        matches!(kind, Some(Kind::Text | Kind::Date))
    }
    /// The column.
    pub fn name(&self) -> &str {
        self.column().map_or("", ChosenColumn::name)
    }
    /// The width of ranges: numbers from a multiple of it up to the next one are one group.
    pub fn width(&self) -> u64 {
        self.width
    }
    /// Whether the column depends on earlier records.
    #[cfg(feature = "cluster")]
    pub(crate) fn depends_on_records_before(&self) -> bool {
        self.columns.iter().any(ChosenColumn::depends_on_records_before)
    }
    /// The queries that the column needs.
    pub fn queries(&self) -> Queries {
        self.columns.queries()
    }
    /// The fields that it reads.
    pub fn fields(&self) -> Fields {
        self.columns.fields()
    }
    /// The tags that it reads.
    pub fn tags(&self) -> Arc<[Arc<str>]> {
        self.columns.tags()
    }
}

/// Maximum number of groups: each takes up to a few hundred kilobytes.
pub const MOST_GROUPS: usize = 1000;
/// Number of groups of eight boards that are counted together.
const WAITING: usize = 16;
/// Number of ranges near zero, which are found without a search.
const NEAR: usize = 4096;

/// The place that means "no group".
const NO_GROUP: u16 = u16::MAX;

/// Statistics of groups under construction.
#[derive(Debug)]
pub(crate) struct Grouped {
    /// The analyzer that the tiles used.
    analyzer: Option<&'static dyn Analyzer>,
    details: bool,
    groups: Vec<(GroupValue, Sorted)>,
    /// The place of each value among the groups.
    places: HashMap<GroupValue, u16>,
    /// The place of each range near zero.
    near: Vec<u16>,
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

    pub(crate) fn new(details: bool) -> Self {
        Self {
            details,
            analyzer: None,
            groups: Vec::new(),
            places: HashMap::new(),
            near: vec![NO_GROUP; NEAR],
            games: Games::default(),
            all_games: <(Games, GameResults)>::default(),
            is_over: false,
        }
    }

    /// Adds the records of a tile that count; a tile has at most [`Stats::RUN`] groups.
    pub(crate) fn add_tile(&mut self, tile: &Tile<'_>, by: &GroupBy) {
        let analyzer = tile.analyzer;
        self.analyzer = Some(analyzer);
        let Some(column) = by.column() else { return };
        let mut places = [NO_GROUP; Stats::RUN * Group::LEN];
        let (array, width) = (column.fill(tile), by.width as i64);
        match &array {
            Array::Flag(column) => self.find_ranges(column, width, tile.mask, &mut places),
            Array::U8(column) => self.find_ranges(column, width, tile.mask, &mut places),
            Array::U16(column) => self.find_ranges(column, width, tile.mask, &mut places),
            Array::I16(column) => self.find_ranges(column, width, tile.mask, &mut places),
            Array::U32(column) => self.find_ranges(column, width, tile.mask, &mut places),
            // Sets of squares and keys are also numbers, although hardly useful for grouping.
            Array::U64(column) => {
                let numbers = column.values().iter().map(|&number| number as i64);
                let column = Values::from_clean_parts(numbers.collect(), column.present().to_vec());
                self.find_ranges(&column, width, tile.mask, &mut places);
            }
            Array::Text(_) | Array::Strings(_) => self.find_texts(&array, tile.mask, &mut places),
            Array::Boards(_) => unreachable!("no column of the catalogue has boards"),
        }
        if self.is_over {
            return;
        }
        self.games.add_tile(tile, Some((&places, self.groups.len())));
        self.all_games.0.add_tile(tile, None);
        self.add_games();
        // Details need the counts of boards together with the fields of records, and are counted with masks.
        let masks = self.details && !tile.batch.fields.is_empty();
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
            sorted.push(analyzer, tile, run);
        }
        if !masks {
            return;
        }
        let mut counts = vec![Default::default(); tile.groups.len()];
        analyzer.board_counts(tile.groups, tile.results, &mut counts);
        for place in present {
            let (_, sorted) = &mut self.groups[usize::from(place)];
            let mask = std::mem::take(&mut sorted.mask);
            sorted.is_present = false;
            let mask = &mask[..tile.mask.len()];
            sorted.stats.add_fields(tile.batch, tile.start, mask, &counts);
        }
    }

    /// Finds the places of the groups of numbers.
    #[inline(always)]
    fn find_ranges<T: Copy + Default + Into<i64>>(
        &mut self,
        column: &Values<T>,
        width: i64,
        mask: &[u64],
        places: &mut [u16],
    ) {
        let words = column.values().chunks(64).zip(column.present());
        for ((values, &present), (places, &mask)) in words.zip(places.chunks_mut(64).zip(mask)) {
            if width == 1 && present & mask == !0 {
                // Usually all values have been seen before.
                let mut most = 0;
                for (place, &number) in places.iter_mut().zip(values) {
                    let near = usize::try_from(number.into()).unwrap_or(usize::MAX);
                    *place = self.near.get(near).copied().unwrap_or(NO_GROUP);
                    most = most.max(*place);
                }
                if most != NO_GROUP {
                    continue;
                }
            }
            for row in rows_of(&[mask]) {
                let number = (present >> row & 1 != 0).then(|| values[row].into());
                let range = number.map(|number| match width {
                    1 => number,
                    _ => number.div_euclid(width),
                });
                let near = range.and_then(|range| self.near.get(usize::try_from(range).ok()?));
                places[row] = match near {
                    Some(&place) if place != NO_GROUP => place,
                    _ => self.place_of_range(range, width),
                };
            }
        }
    }

    /// Finds the places of the groups of texts.
    fn find_texts(&mut self, array: &Array, mask: &[u64], places: &mut [u16]) {
        let mut last: Option<(Option<&str>, u16)> = None;
        for row in rows_of(mask) {
            let text = array.text(row);
            places[row] = match last {
                Some((last, place)) if last == text => place,
                _ => self.place(match text {
                    Some(text) => GroupValue::Text(text.to_owned()),
                    None => GroupValue::Missing,
                }),
            };
            last = Some((text, places[row]));
        }
    }

    #[cold]
    #[inline(never)]
    fn place_of_range(&mut self, range: Option<i64>, width: i64) -> u16 {
        let place = self.place(match range {
            Some(range) => GroupValue::Number(range.saturating_mul(width)),
            None => GroupValue::Missing,
        });
        let near = range.and_then(|range| self.near.get_mut(usize::try_from(range).ok()?));
        if let Some(known) = near {
            *known = place;
        }
        place
    }

    /// The place of the group for a value; the group is created if there is none.
    fn place(&mut self, value: GroupValue) -> u16 {
        if let Some(&place) = self.places.get(&value) {
            return place;
        }
        if self.groups.len() == MOST_GROUPS {
            self.is_over = true;
            return NO_GROUP;
        }
        let place = self.groups.len() as u16;
        self.places.insert(value.clone(), place);
        let stats = if self.details { Stats::new().with_details() } else { Stats::new() };
        self.groups.push((value, Sorted::new(stats)));
        place
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

    /// The statistics of the groups, in arbitrary order.
    pub(crate) fn finish(self) -> impl Iterator<Item = (GroupValue, Stats)> {
        let analyzer = self.analyzer;
        self.groups.into_iter().map(move |(value, mut group)| {
            if let Some(analyzer) = analyzer {
                group.count(analyzer);
            }
            (value, group.stats)
        })
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
