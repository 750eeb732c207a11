//! Shuffling: all records in a random order.
//!
//! Records are ordered by a keyed hash of their numbers. The hash is a permutation of all 64-bit numbers, so no two
//! records have the same place, and all orders are equally likely, as far as a hash can be random. Only the seed
//! determines the order. For games, the number of the game is hashed, and the records of a game stay together.

use super::divide_by_keys::{CollectedKeys, Gather, Keys};
use crate::error::Error;
use crate::input::Inputs;
use crate::partition::keyed_rows::{Partition, Partitions, Store};
use crate::partition::stored_records::{JoinedBuffers, Place, Records};
use crate::pipeline::{AnyJob, AnySink, BatchRun, Job, RunError, RunOptions, Summary, erased, run_to_end};
use crate::poisoned_locks::Unpoisoned;
use crate::seed::{Purpose, Seeded};
use crate::table::{Array, Batch, Field, Fields};
use std::sync::Mutex;

/// The unit that stays together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Unit {
    /// Each record separately.
    #[default]
    Record,
    /// The records of a game, in the order of the input.
    Game,
}

/// Options of the shuffling.
///
/// ```
/// use lanefish::datasets::Shuffle;
/// use lanefish::jobs::{OutputFormat, WriteJob, OutputContent};
/// use lanefish::{formats::Format, input::Inputs, pipeline::RunOptions, tiers};
///
/// let inputs = Inputs::open(["data/sample.epd"])?;
/// let job = WriteJob::new(OutputContent::Records { fen: false }, OutputFormat::Records(Format::EPD))?;
/// let mut epd = Vec::new();
/// let mut file = job.open(&mut epd)?;
/// let summary = Shuffle::default().seed(7).run(&inputs, RunOptions::new(tiers::best()), &job, |part| {
///     job.put(&mut file, part).map_err(|source| lanefish::Error::Write { path: "shuffled".into(), source })
/// })?;
/// job.finish(file)?;
/// assert_eq!(epd.split(|&byte| byte == b'\n').count() as u64, summary.accepted() + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shuffle {
    /// The seed of the order.
    pub seed: u64,
    /// The unit that stays together.
    pub by: Unit,
}

crate::option_setters::setters!(Shuffle { seed: u64, by: Unit });

/// The key of a record.
#[derive(Clone, Copy)]
struct Order {
    seeded: Seeded,
    by: Unit,
}

impl Keys for Order {
    fn fields(&self) -> Fields {
        match self.by {
            Unit::Record => Fields::NONE,
            Unit::Game => Fields::of(&[Field::Game, Field::Ply]),
        }
    }
    fn keys(&self, batch: &Batch, rows: &[u32], keys: &mut Vec<u64>) -> Result<(), Error> {
        match self.by {
            Unit::Record => keys.extend(rows.iter().map(|&row| self.seeded.hash(batch.index(row as usize)))),
            Unit::Game => {
                for &row in rows {
                    let Some(Array::U64(games)) = batch.values(Field::Game) else {
                        return Err(Error::NoGame { record: batch.index(row as usize) });
                    };
                    let game =
                        games.get(row as usize).ok_or_else(|| Error::NoGame { record: batch.index(row as usize) })?;
                    keys.push(self.seeded.hash(*game));
                }
            }
        }
        Ok(())
    }
}

/// Records of a batch of the output.
const BATCH_LEN: usize = 1 << 14;

impl Shuffle {
    /// Reads all inputs, and runs a job on their records in a random order. Parts are passed to `sink` in that order on
    /// the calling thread.
    ///
    /// Nothing is passed on unless all inputs could be read.
    ///
    /// # Errors
    /// As for [`pipeline::run`](crate::pipeline::run).
    pub fn run<J: Job>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        job: &J,
        sink: impl FnMut(J::Part) -> Result<(), Error>,
    ) -> Result<Summary, RunError> {
        erased(job, sink, |job, sink| self.run_any(inputs, options, job, sink)).into_result()
    }

    /// The same for any job, compiled once.
    fn run_any<'a>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        job: AnyJob<'a>,
        sink: &mut AnySink<'_, 'a>,
    ) -> Summary {
        let job = &job;
        let space = options.space.clone();
        let store = match Store::new(&space) {
            Ok(store) => store,
            Err(error) => return Summary { failure: Some(error), ..Summary::default() },
        };
        let of_games = self.by == Unit::Game;
        let keys = Order { seeded: Seeded::new(self.seed, Purpose::Shuffle), by: self.by };
        let gather = Gather { store: &store, job, keys, numbers: of_games, used: Mutex::default() };
        let batches = BatchRun::of(&options);
        let mut summary = run_to_end(inputs, options, &gather, |part: CollectedKeys| {
            part.check()?;
            store.check()
        });
        drop(gather);
        if summary.failure.is_none() {
            let used: Mutex<Vec<Sort>> = Mutex::default();
            let make = |leaf| {
                let mut sort = used.lock().unpoisoned().pop().unwrap_or_default();
                let batches = sort.sorted(leaf, of_games)?;
                used.lock().unpoisoned().push(sort);
                Ok(batches)
            };
            let done = Partitions::of(store, &space, batches.threads)
                .and_then(|mut leaves| batches.run(move || leaves.next(), make, job, sink));
            summary.failure = done.err();
        }
        summary
    }
}

/// Keys of the records of a leaf, with their places; the next leaf reuses the memory.
#[derive(Default)]
struct Sort {
    keys: Vec<(u64, Place)>,
    order: Vec<(u64, Place)>,
    ends: Vec<u32>,
}

impl Sort {
    /// The records of a leaf in the order of their keys. The records of a game are in the order of their numbers, or of
    /// their plies if all of them have one: in a file that was shuffled, numbers tell nothing.
    fn sorted(&mut self, leaf: Partition<Records>, of_games: bool) -> Result<Vec<Batch>, Error> {
        let records = JoinedBuffers::of(leaf.piles()?);
        self.by_key(&records);
        if of_games {
            for game in self.order.chunk_by_mut(|(key, _), (next, _)| key == next) {
                let have_plies = game.iter().all(|&(_, place)| records.ply(place).is_some());
                let ply = |place| records.ply(place).filter(|_| have_plies);
                game.sort_unstable_by_key(|&(_, place)| (ply(place), records.number(place)));
            }
        }
        let batches = self.order.chunks(BATCH_LEN);
        Ok(batches.map(|order| records.batch(order.iter().map(|&(_, place)| place))).collect())
    }

    /// Orders all records by their keys, which are as good as random.
    fn by_key(&mut self, records: &JoinedBuffers) {
        let Self { keys, order, ends } = self;
        keys.clear();
        order.clear();
        records.keys(keys);
        let Some(&(first, some)) = keys.first() else {
            return;
        };
        // Places by the bits after those that all keys have in common, about two keys to a place.
        let common = keys.iter().fold(0, |bits, (key, _)| bits | (key ^ first)).leading_zeros();
        let bits = usize::max(keys.len(), 4).ilog2() - 1;
        let place = |key: u64| match common {
            64 => 0,
            common => (key << common >> (64 - bits)) as usize,
        };
        ends.clear();
        ends.resize((1 << bits) + 1, 0);
        keys.iter().for_each(|&(key, _)| ends[place(key) + 1] += 1);
        for place in 1..ends.len() {
            ends[place] += ends[place - 1];
        }
        order.resize(keys.len(), (0, some));
        for &(key, record) in &*keys {
            let at = &mut ends[place(key)];
            order[*at as usize] = (key, record);
            *at += 1;
        }
        // Each end has become that of the place itself.
        let mut start = 0;
        for &end in &*ends {
            let end = end as usize;
            sort_few(&mut order[start..end]);
            start = end;
        }
    }
}

/// Sorts by keys; there are hardly ever more than a handful of records.
#[inline]
fn sort_few(order: &mut [(u64, Place)]) {
    const FEW: usize = 16;
    if order.len() > FEW {
        order.sort_unstable_by_key(|&(key, _)| key);
        return;
    }
    for end in 1..order.len() {
        let next = order[end];
        let mut at = end;
        while at > 0 && order[at - 1].0 > next.0 {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = next;
    }
}
