//! A random sample with an exact number of records: each set of records is equally likely.
//!
//! The sample consists of the records whose numbers have the smallest hashes. All records are read once, and those that
//! can no longer be in the sample are dropped. A few times the requested number of records remain, in memory or
//! temporary files. They are sorted by their hashes, and the sample is then sorted by record number again.

use super::any_job::{AnyJob, AnySink, erased};
use super::exact_sample_losses::{BITS, LostOfCandidates};
use super::record_judge::add_number;
use super::{BatchRun, Job, Refusal, RunOptions, Summary, run_all};
use crate::choose::draw;
use crate::error::Error;
use crate::formats::UnstoredTagsByGame;
use crate::input::Inputs;
use crate::output::ScratchSpace;
use crate::partition::keyed_rows::{Partition, Partitions, Store};
use crate::partition::stored_records::{JoinedBuffers, KeyedRows, Place, Records};
use crate::poisoned_locks::Unpoisoned;
use crate::table::{Batch, Fields, Needs, Tile};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Number of records after which the limit is updated.
const OFTEN: u64 = 1 << 16;
/// Records of a batch of the output.
const BATCH_LEN: usize = 1 << 14;

/// Runs a job on a number of records.
pub(super) fn run_sampled<'a>(
    inputs: &Inputs,
    mut options: RunOptions<'_>,
    count: u64,
    job: AnyJob<'a>,
    sink: &mut AnySink<'_, 'a>,
) -> Summary {
    let space = options.space.clone();
    let store = match Store::new(&space) {
        Ok(store) => store,
        Err(error) => return Summary { failure: Some(error), ..Summary::default() },
    };
    let seed = options.read.choose.seed;
    let batches = BatchRun::of(&options);
    let (skip, limit) = (options.read.skip, options.read.limit);
    let last = Arc::new(AtomicU64::new(u64::MAX >> (u64::BITS - BITS)));
    let lost = Arc::new(LostOfCandidates::new(seed, Arc::clone(&last)));
    options.read.choose.sample = None;
    options.only = None;
    options.lost_of_candidates = job.reads_lost_tags().then(|| Arc::clone(&lost));
    (options.read.skip, options.read.limit) = (0, None);
    let candidates = Candidates {
        store: &store,
        job: &job,
        seed,
        count,
        seen: AtomicU64::new(0),
        hashes: (0..1 << BITS).map(|_| AtomicU64::new(0)).collect(),
        last,
        deciding: Mutex::new(0),
    };
    let mut summary = erased(&candidates, |_| store.check(), |job, sink| run_all(inputs, options, job, sink));
    let seen = candidates.seen.into_inner();
    let taken = seen.min(count);
    summary.left_out.entry("sample").or_default().positions += seen - taken;
    if summary.failure.is_some() {
        return summary;
    }
    let sampled = Sampled { job: &job, lost: Mutex::new(lost.in_order()) };
    // Limits apply to the records of the sample.
    let requested = skip..limit.map_or(u64::MAX, |limit| skip.saturating_add(limit)).min(taken);
    let in_order = Partitions::of(store, &space, batches.threads).and_then(|leaves| smallest(leaves, taken, &space));
    let done = in_order.and_then(|store| Partitions::of(store, &space, batches.threads)).and_then(|mut leaves| {
        let mut before = 0;
        let next = move || -> Result<Option<Task>, Error> {
            let Some(leaf) = leaves.next()? else {
                return Ok(None);
            };
            let start = before;
            before += leaf.len() as u64;
            // A leaf may end before the first requested record, or begin after the last one.
            let first = requested.start.clamp(start, before);
            let end = requested.end.clamp(first, before);
            Ok(Some((leaf, first - start..end - start)))
        };
        batches.run(next, |(leaf, rows)| sorted(leaf, rows), &sampled, |(part, _)| sink(part))
    });
    for lost in sampled.lost.into_inner().unpoisoned() {
        summary.lost_tags.merge(&lost.of_marked());
    }
    summary.failure = done.err();
    summary
}

/// A leaf, and which of its records are requested, in the order of their numbers.
type Task = (Partition<Records>, Range<u64>);

/// Keeps the records that may be in the sample.
struct Candidates<'a, J> {
    store: &'a Store<Records>,
    job: &'a J,
    seed: u64,
    count: u64,
    /// Number of records so far.
    seen: AtomicU64,
    /// Number of records by the leading bits of their hashes.
    hashes: Vec<AtomicU64>,
    /// The leading bits of the largest hash that may be in the sample.
    last: Arc<AtomicU64>,
    /// Number of records when this limit was last updated.
    deciding: Mutex<u64>,
}

impl<J> Candidates<'_, J> {
    /// Lowers the limit, if enough records have smaller hashes.
    fn decide(&self) {
        let Ok(mut decided) = self.deciding.try_lock() else {
            return;
        };
        let seen = self.seen.load(Ordering::Relaxed);
        if seen < *decided + OFTEN.max(self.count / 4) {
            return;
        }
        *decided = seen;
        let mut sum = 0;
        let enough = self.hashes.iter().position(|hashes| {
            sum += hashes.load(Ordering::Relaxed);
            sum >= self.count
        });
        if let Some(last) = enough {
            self.last.fetch_min(last as u64, Ordering::Relaxed);
        }
    }
}

/// Passes the records of the sample on, and marks what is lost of them and of their games.
struct Sampled<'a, J> {
    job: &'a J,
    /// What is lost of the chunks, in order.
    lost: Mutex<Vec<UnstoredTagsByGame>>,
}

impl<J: Job> Job for Sampled<'_, J> {
    /// The part of the job, and the numbers of the records.
    type Part = (J::Part, Vec<Range<u64>>);
    fn needs(&self) -> Needs {
        self.job.needs()
    }
    fn needs_of_annotated_games(&self) -> Fields {
        self.job.needs_of_annotated_games()
    }
    fn begin(&self) -> Self::Part {
        (self.job.begin(), Vec::new())
    }
    fn tile(&self, (part, numbers): &mut Self::Part, tile: &Tile<'_>) {
        tile.rows().for_each(|row| add_number(numbers, tile.batch.index(row)));
        self.job.tile(part, tile);
    }
    fn end(&self, (part, numbers): &mut Self::Part, chunk: u64) {
        let numbers = std::mem::take(numbers);
        if let (Some(first), Some(last)) = (numbers.first(), numbers.last()) {
            let mut lost = self.lost.lock().unpoisoned();
            // The last chunk that begins before the first record may have it.
            let begin = lost.partition_point(|chunk| chunk.start() <= Some(first.start)).saturating_sub(1);
            let end = lost.partition_point(|chunk| chunk.start() < Some(last.end));
            lost[begin.min(end)..end].iter_mut().for_each(|chunk| chunk.mark(&numbers));
        }
        self.job.end(part, chunk);
    }
}

/// The records of a chunk.
#[derive(Default)]
pub(super) struct Chosen(Vec<(Arc<Batch>, Vec<u32>)>);

impl<J: Job> Job for Candidates<'_, J> {
    type Part = Chosen;
    fn needs(&self) -> Needs {
        self.job.needs().without_queries()
    }
    fn needs_of_annotated_games(&self) -> Fields {
        self.job.needs_of_annotated_games()
    }
    fn reads_lost_tags(&self) -> bool {
        self.job.reads_lost_tags()
    }
    fn refusal(&self) -> Option<Refusal> {
        self.job.refusal()
    }
    fn begin(&self) -> Chosen {
        Chosen::default()
    }
    fn tile(&self, Chosen(batches): &mut Chosen, tile: &Tile<'_>) {
        let rows = tile.rows().map(|row| row as u32);
        match batches.last_mut() {
            Some((batch, known)) if Arc::ptr_eq(batch, tile.batch) => known.extend(rows),
            _ => batches.push((Arc::clone(tile.batch), rows.collect())),
        }
    }
    fn end(&self, Chosen(batches): &mut Chosen, _chunk: u64) {
        let mut keyed = KeyedRows::default();
        for (batch, mut rows) in batches.drain(..) {
            self.seen.fetch_add(rows.len() as u64, Ordering::Relaxed);
            let last = self.last.load(Ordering::Relaxed);
            let mut keys = Vec::new();
            rows.retain(|&row| {
                let key = draw(batch.index(row as usize), self.seed).bits();
                let place = key >> (u64::BITS - BITS);
                let is_possible = place <= last;
                if is_possible {
                    self.hashes[place as usize].fetch_add(1, Ordering::Relaxed);
                    keys.push(key);
                }
                is_possible
            });
            keyed.push(batch, rows, &keys, true);
        }
        self.store.add(keyed.keys(), |pile: &mut Records, places| pile.add(&keyed, places));
        self.decide();
    }
}

/// The records with the smallest keys, by their numbers.
fn smallest(mut leaves: Partitions<Records>, count: u64, space: &ScratchSpace) -> Result<Store<Records>, Error> {
    let by_number = Store::new(space)?;
    let mut left = count;
    while left > 0
        && let Some(leaf) = leaves.next()?
    {
        let records = JoinedBuffers::of(leaf.piles()?);
        let mut order: Vec<(u64, Place)> = Vec::new();
        records.keys(&mut order);
        order.sort_unstable_by_key(|&(key, _)| key);
        order.truncate(left.min(order.len() as u64) as usize);
        left -= order.len() as u64;
        let places: Vec<Place> = order.into_iter().map(|(_, place)| place).collect();
        let keys: Vec<u64> = places.iter().map(|&place| records.number(place) << SPARE).collect();
        let keyed = records.keyed(&places, &keys);
        by_number.add(&keys, |pile: &mut Records, places| pile.add(&keyed, places));
        by_number.check()?;
    }
    Ok(by_number)
}

/// Numbers of records have fewer bits than keys.
const SPARE: u32 = 16;

/// Some of the records of a leaf, in the order of their numbers.
fn sorted(leaf: Partition<Records>, taken: Range<u64>) -> Result<Vec<Batch>, Error> {
    let records = JoinedBuffers::of(leaf.piles()?);
    let mut order: Vec<(u64, Place)> = Vec::new();
    records.keys(&mut order);
    order.iter_mut().for_each(|(key, place)| *key = records.number(*place));
    order.sort_unstable_by_key(|&(number, _)| number);
    let far = |first: u64, number: u64| number - first > u64::from(u32::MAX);
    let mut batches = Vec::new();
    let mut rest = &order[taken.start as usize..taken.end as usize];
    while let Some(&(first, _)) = rest.first() {
        // All records of a batch say alike whose move it is, and which scores are codes.
        let flags = records.of_format(rest[0].1);
        let is_other = |&(number, place): &(u64, Place)| far(first, number) || records.of_format(place) != flags;
        let end = rest.iter().take(BATCH_LEN).position(is_other).unwrap_or(rest.len());
        let (these, others) = rest.split_at(end.min(BATCH_LEN));
        let mut next = records.batch(these.iter().map(|&(_, place)| place));
        next.first_index = first;
        next.ordinals = Some(these.iter().map(|&(number, _)| (number - first) as u32).collect());
        batches.push(next);
        rest = others;
    }
    Ok(batches)
}
