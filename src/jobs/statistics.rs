//! Statistics of all records.

use super::CompareLabels;
use crate::error::Error;
use crate::input::Inputs;
use crate::output::ScratchSpace;
use crate::partition::distinct_positions::{Collected, Exact};
use crate::pipeline::Job;
use crate::poisoned_locks::Unpoisoned;
use crate::report::{GroupValue, Groups, OtherGroups, Report};
use crate::stats::{
    ANNOTATIONS, GameOrder, GameResults, Games, GroupBy, GroupSizes, Grouped, InputNames, LargestGroups, MOST_GROUPS,
    MOST_GROUPS_WITH_FEATURES, MOST_VALUES, Stats, TIMES_AND_MISTAKES,
};
use crate::table::{FeatureSet, Field, Fields, Needs, Tile};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

/// Counts records. Every chunk takes statistics from a shared list, adds to them, and puts them back. So there is only
/// one instance per chunk in flight, and these are merged once, at the end.
#[derive(Debug, Default)]
pub struct Statistics {
    details: bool,
    features: Option<Arc<FeatureSet>>,
    by: Option<GroupBy>,
    largest: Option<Arc<LargestGroups>>,
    exact: Option<Exact>,
    labels: Option<CompareLabels>,
    threads: usize,
    /// The names of the inputs, if the run reads only a part of them.
    part_of: Option<InputNames>,
    shelf: Mutex<Vec<Counted>>,
}

/// Counts of some of the chunks so far.
#[derive(Debug)]
pub struct Counted {
    counting: Counting,
    /// The positions of a chunk, until they are counted exactly.
    collected: Collected,
}

#[derive(Debug)]
enum Counting {
    All(Box<Stats>, Games),
    Groups(Box<Grouped>),
}

impl Statistics {
    /// The fields that plain statistics read, in addition to positions.
    pub const FIELDS: Fields = Fields::of(&[Field::Score, Field::Mate, Field::Result, Field::Game]).union(ANNOTATIONS);
    /// The additional fields that [details](Self::with_details) read.
    const DETAILS: Fields = Fields::of(&[
        Field::Ply,
        Field::WhiteElo,
        Field::BlackElo,
        Field::Eco,
        Field::TimeControl,
        Field::Opening,
        Field::Date,
        Field::Termination,
        Field::Move,
        Field::Clock,
        Field::MoveTime,
    ]);

    /// Plain statistics.
    pub fn new() -> Self {
        Self::default()
    }
    /// Also counts [`Details`](crate::report::Details).
    #[must_use]
    pub fn with_details(mut self) -> Self {
        self.details = true;
        self
    }
    /// Also counts how often each input of a network is active.
    ///
    /// This takes up to a few megabytes for each group of positions, so that there may be at most
    /// [`MOST_GROUPS_WITH_FEATURES`] groups.
    #[must_use]
    pub fn with_features(mut self, set: FeatureSet) -> Self {
        self.features = Some(Arc::new(set));
        self
    }
    /// Also counts each group of positions separately.
    #[must_use]
    pub fn grouped_by(mut self, by: GroupBy) -> Self {
        self.by = Some(by);
        self
    }
    /// Counts only these groups separately, and all others together.
    #[must_use]
    pub fn of_largest(mut self, largest: LargestGroups) -> Self {
        self.largest = Some(Arc::new(largest));
        self
    }
    /// Also compares the labels of the records with those of a second file.
    #[must_use]
    pub fn with_labels(mut self, labels: CompareLabels) -> Self {
        self.labels = Some(labels);
        self
    }
    /// Also counts distinct positions exactly, which implies details; the last step uses this number of threads.
    ///
    /// # Errors
    /// If the temporary files cannot be created.
    pub fn with_exact_distinct(mut self, space: &ScratchSpace, threads: usize) -> Result<Self, Error> {
        self.details = true;
        self.exact = Some(Exact::new(space)?);
        self.threads = threads.max(1);
        Ok(self)
    }
    /// Prepares for merging: the run reads only a part of its inputs, such as a shard, and games that may go on in
    /// another part are counted once when the reports are merged. Files are recognized by their absolute paths.
    #[must_use]
    pub fn of_a_part(self, inputs: &Inputs) -> Self {
        self.of_a_part_named(InputNames::of(inputs))
    }
    /// As [`Self::of_a_part`], with the names of the inputs.
    pub(crate) fn of_a_part_named(mut self, names: InputNames) -> Self {
        self.part_of = Some(names);
        self
    }
    /// The sink for the run: adds the counts of one chunk.
    ///
    /// # Errors
    /// If there are more than [`MOST_GROUPS`] groups, or a temporary file cannot be written.
    pub fn add(&self, counted: Counted) -> Result<(), Error> {
        if let Counting::Groups(groups) = &counted.counting
            && groups.is_over
        {
            return Err(self.too_many_groups());
        }
        if let Some(exact) = &self.exact {
            exact.check()?;
        }
        let mut shelf = self.shelf.lock().unpoisoned();
        shelf.push(counted);
        Ok(())
    }

    /// Statistics of no positions.
    fn empty(&self) -> Stats {
        let mut stats = Stats::new();
        if self.details {
            stats = stats.with_details();
        }
        match &self.features {
            Some(set) => stats.with_features(Arc::clone(set)),
            None => stats,
        }
    }

    /// Maximum number of groups.
    fn most_groups(&self) -> usize {
        if self.features.is_some() { MOST_GROUPS_WITH_FEATURES } else { MOST_GROUPS }
    }

    fn too_many_groups(&self) -> Error {
        // With the largest groups, only the number of values is limited.
        let most = if self.largest.is_some() { MOST_VALUES } else { self.most_groups() };
        Error::TooManyGroups { by: self.by.as_ref().map(GroupBy::to_string).unwrap_or_default(), most }
    }

    /// The report, with this number of rejected records; see [`Stats::report`] for `keep_en_passant`.
    ///
    /// # Errors
    /// If there are more than [`MOST_GROUPS`] groups in all, or a temporary file cannot be written or read.
    pub fn finish(self, rejected: u64, keep_en_passant: bool) -> Result<Report, Error> {
        let too_many = self.too_many_groups();
        let (mut all, most) = (self.empty(), self.most_groups());
        let shelf = self.shelf.into_inner().unpoisoned();
        let mut groups: BTreeMap<Option<Vec<GroupValue>>, Stats> = BTreeMap::new();
        let (mut order, mut all_games) = (GameOrder::default(), GameResults::default());
        for Counted { counting, .. } in shelf {
            match counting {
                Counting::All(stats, games) => {
                    all.merge(&stats);
                    order.add(games);
                }
                Counting::Groups(mut grouped) => {
                    let (games, results) = grouped.take_all_games();
                    order.add(games);
                    all_games.merge(&results);
                    for (values, stats) in grouped.finish() {
                        all.merge(&stats);
                        match groups.get_mut(&values) {
                            Some(known) => known.merge(&stats),
                            None => {
                                groups.insert(values, stats);
                            }
                        }
                    }
                }
            }
        }
        let others = groups.remove(&None);
        if groups.len() > most {
            return Err(too_many);
        }
        if self.by.is_some() {
            all.set_games(all_games);
        }
        all.add_rejected(rejected);
        let ends = order.ends();
        let report_of = |mut stats: Stats| {
            // Within the run, the other games are complete.
            let ends = ends.as_ref();
            stats.close_games(|game| self.part_of.is_some() && ends.is_some_and(|ends| ends.contains(game)));
            let mut report = stats.report(keep_en_passant);
            if let Some(names) = &self.part_of {
                report.open_games = stats.open_games(names);
            }
            if ends.is_none() {
                report.scatter_games();
            }
            report
        };
        let mut report = report_of(all);
        report.groups = self.by.map(|by| {
            let values = groups.into_iter().filter_map(|(values, stats)| Some((values?, report_of(stats))));
            let number = self.largest.as_ref().map_or(0, |largest| largest.others());
            Groups {
                by: by.described(),
                values: values.collect(),
                others: others.map(|stats| OtherGroups { groups: number, report: Box::new(report_of(stats)) }),
            }
        });
        if let (Some(details), Some(exact)) = (&mut report.details, self.exact) {
            details.exact_distinct = Some(exact.finish(self.threads)?);
        }
        Ok(report)
    }
}

impl Job for Statistics {
    type Part = Counted;
    fn needs(&self) -> Needs {
        let details = if self.details { Self::DETAILS } else { Fields::NONE };
        let by = self.by.as_ref().map(GroupBy::needs).unwrap_or_default();
        let labels = self.labels.as_ref().map(CompareLabels::needs).unwrap_or_default();
        Needs::new(Stats::QUERIES, Self::FIELDS.union(details)).and(by).and(labels)
    }
    fn needs_of_annotated_games(&self) -> Fields {
        if self.details { TIMES_AND_MISTAKES } else { Fields::NONE }
    }
    fn begin(&self) -> Counted {
        let mut shelf = self.shelf.lock().unpoisoned();
        shelf.pop().unwrap_or_else(|| {
            let counting = match &self.by {
                Some(_) => {
                    let grouped = Grouped::new(self.empty(), self.most_groups(), self.largest.clone());
                    Counting::Groups(Box::new(grouped))
                }
                None => Counting::All(Box::new(self.empty()), Games::default()),
            };
            Counted { counting, collected: Collected::default() }
        })
    }
    fn tile(&self, Counted { counting, collected }: &mut Counted, tile: &Tile<'_>) {
        match (counting, &self.by) {
            (Counting::Groups(groups), Some(by)) => groups.add_tile(tile, by),
            (Counting::All(stats, games), _) => {
                stats.add_tile(tile);
                games.add_tile(tile, None);
                stats.add_games(games);
            }
            (Counting::Groups(_), None) => {}
        }
        if let Some(labels) = &self.labels {
            labels.add_tile(tile);
        }
        if self.exact.is_some() {
            collected.add_tile(tile);
        }
    }
    fn end(&self, counted: &mut Counted, chunk: u64) {
        match &mut counted.counting {
            Counting::All(stats, games) => {
                games.end(chunk);
                stats.add_games(games);
            }
            Counting::Groups(groups) => groups.end(chunk),
        }
        if let Some(exact) = &self.exact {
            exact.add(&mut counted.collected);
        }
    }
}

/// Counts the positions of all groups, however many there are, to find the largest.
#[derive(Debug)]
pub struct GroupCounts {
    by: GroupBy,
    shelf: Mutex<Vec<CountedGroups>>,
}

/// The sizes of groups in some of the chunks so far.
#[derive(Debug, Default)]
pub struct CountedGroups {
    sizes: GroupSizes,
    is_over: bool,
}

impl GroupCounts {
    /// Counts the positions of each group.
    pub fn new(by: GroupBy) -> Self {
        Self { by, shelf: Mutex::default() }
    }
    fn too_many_groups(&self) -> Error {
        Error::TooManyGroups { by: self.by.to_string(), most: MOST_VALUES }
    }
    /// The sink for the run: adds the counts of one chunk.
    ///
    /// # Errors
    /// If there are more than 1,048,576 groups.
    pub fn add(&self, counted: CountedGroups) -> Result<(), Error> {
        if counted.is_over {
            return Err(self.too_many_groups());
        }
        self.shelf.lock().unpoisoned().push(counted);
        Ok(())
    }
    /// The largest groups, at most this number and [`MOST_GROUPS`].
    ///
    /// # Errors
    /// If there are more than 1,048,576 groups in all.
    pub fn largest(self, most: usize) -> Result<LargestGroups, Error> {
        let too_many = self.too_many_groups();
        let mut sizes = HashMap::new();
        for CountedGroups { sizes: more, .. } in self.shelf.into_inner().unpoisoned() {
            more.add_to(&mut sizes);
            if sizes.len() > MOST_VALUES {
                return Err(too_many);
            }
        }
        Ok(LargestGroups::of(sizes, most))
    }
}

impl Job for GroupCounts {
    type Part = CountedGroups;
    fn needs(&self) -> Needs {
        self.by.needs()
    }
    fn begin(&self) -> CountedGroups {
        self.shelf.lock().unpoisoned().pop().unwrap_or_default()
    }
    fn tile(&self, counted: &mut CountedGroups, tile: &Tile<'_>) {
        counted.is_over |= !counted.sizes.add_tile(tile, &self.by);
    }
}
