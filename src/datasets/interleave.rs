//! Interleaving: mixing several inputs evenly, keeping the order within each.
//!
//! The next record always comes from an input with a probability proportional to the records that it has left, so all
//! ways of mixing are equally likely. A first run counts the records of each input. Then all inputs are read at the
//! same time, a little ahead, and each record is taken from the chosen input. Both runs give records and games the same
//! numbers, and so choose the same records.
//!
//! With [`Weights`], each input gives the records of its share instead, and with [`Interleave::repeats`] one with too few
//! records is read again.

use super::interleave_weights::{Weights, among_files};
use super::shuffle::Unit;
use crate::choose::{DrawnUpTo, RecordFilter, Sample, draw};
use crate::error::Error;
use crate::formats::Totals;
use crate::input::Inputs;
use crate::jobs::{Sender, Stream};
use crate::pipeline::{
    AnyJob, AnySink, BatchRun, Job, Part, ReadOptions, Refusal, RunError, RunOptions, Summary, erased, run_to_end,
};
use crate::poisoned_locks::Unpoisoned;
use crate::queries::Queries;
use crate::seed::{Purpose, Seeded};
use crate::table::{Batch, Field, Fields, Needs, Tile};
use crate::tiers::Analyzer;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

/// Options of the interleaving.
///
/// ```
/// use lanefish::datasets::Interleave;
/// use lanefish::jobs::{OutputFormat, WriteJob, OutputContent};
/// use lanefish::{formats::Format, input::Inputs, pipeline::RunOptions, tiers};
///
/// let inputs = Inputs::resolve(&["data/sample.epd".into(), "data/lichess-2025-05.pgn".into()], |_| true)?;
/// let job = WriteJob::new(OutputContent::Records { fen: false }, OutputFormat::Records(Format::FEN))?;
/// let mut fen = Vec::new();
/// let mut file = job.open(&mut fen)?;
/// let (summary, _) = Interleave::default().seed(1).run(&inputs, RunOptions::new(tiers::best()), &job, |part| {
///     job.put(&mut file, part).map_err(|source| lanefish::Error::Write { path: "mixed".into(), source })
/// })?;
/// job.finish(file)?;
/// assert_eq!(fen.split(|&byte| byte == b'\n').count() as u64, summary.accepted() + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interleave {
    /// The seed of the order.
    pub seed: u64,
    /// The unit that stays together.
    pub by: Unit,
    /// The shares of the inputs, instead of all that they have.
    pub weights: Option<Weights>,
    /// The number of files that make each input of the weights, one after the other; without them, each file is an input.
    pub files: Option<Vec<usize>>,
    /// Whether an input of which there is not enough for its share begins again, instead of ending the mixture.
    pub repeats: bool,
}

crate::option_setters::setters!(Interleave {
    seed: u64,
    by: Unit,
    weights: Option<Weights>,
    files: Option<Vec<usize>>,
    repeats: bool,
});

/// What a mixture has of each input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interleaved {
    /// The inputs, in their order.
    pub inputs: Vec<MixedInput>,
}

/// What a mixture has of an input, in records, or in games if these stay together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MixedInput {
    /// How many it has.
    pub available: u64,
    /// How many are in the mixture; more than it has if it was read again.
    pub taken: u64,
}

/// Maximum number of batches of an input that wait to be mixed.
const WAITING: usize = 2;
/// Records of a batch of the output.
const BATCH_LEN: usize = 1 << 14;
/// Minimum size of chunks when many inputs are read at the same time.
const SMALLEST_CHUNK: usize = 64 << 10;

/// The records of an input that are taken.
#[derive(Clone, Debug, Default)]
struct Counted {
    /// The totals before the input.
    before: Totals,
    /// The numbers of the first and the last of them.
    numbers: Option<(u64, u64)>,
    records: u64,
    /// Runs of records of the same game.
    games: u64,
    last_game: Option<u64>,
}

impl Counted {
    fn units(&self, by: Unit) -> u64 {
        match by {
            Unit::Record => self.records,
            Unit::Game => self.games,
        }
    }
}

/// What the first run finds out: which records the second run has to take, and how many each input has.
#[derive(Default)]
struct Taken {
    inputs: Vec<Counted>,
    /// The largest draw of a record in an exact sample, with the seed of the sample. No two records have the same draw,
    /// so these records are those whose draws are not larger.
    largest_draw: Option<(u64, u64)>,
    /// A record without a game.
    without_game: Option<u64>,
}

impl Taken {
    /// Adds records, which are in the order of their numbers; `starts` has the totals before each input so far.
    fn add(&mut self, records: &[(u64, Option<u64>)], starts: &[Totals]) {
        for &(number, game) in records {
            // Inputs without records begin at the same number as the next one.
            let input = starts.partition_point(|start| start.records <= number) - 1;
            while self.inputs.len() <= input {
                self.inputs.push(Counted { before: starts[self.inputs.len()], ..Counted::default() });
            }
            let counted = &mut self.inputs[input];
            let (first, _) = *counted.numbers.get_or_insert((number, number));
            counted.numbers = Some((first, number));
            counted.records += 1;
            counted.games += u64::from(game.is_some() && game != counted.last_game);
            counted.last_game = game.or(counted.last_game);
            if game.is_none() {
                self.without_game = self.without_game.or(Some(number));
            }
            if let Some((largest, seed)) = &mut self.largest_draw {
                *largest = draw(number, *seed).bits().max(*largest);
            }
        }
    }
}

/// Passes on the numbers of the taken records and of their games.
struct Count {
    /// The decoded fields, the same as in the second run, so that decoding reports the same.
    fields: Fields,
    lost_tags: bool,
    refusal: Option<Refusal>,
}

impl Job for Count {
    type Part = Vec<(u64, Option<u64>)>;
    fn needs(&self) -> Needs {
        Needs::new(Queries::NONE, self.fields)
    }
    fn reads_lost_tags(&self) -> bool {
        self.lost_tags
    }
    fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }
    fn begin(&self) -> Self::Part {
        Vec::new()
    }
    fn tile(&self, part: &mut Self::Part, tile: &Tile<'_>) {
        let games = tile.batch.values(Field::Game);
        let game = |row| games.and_then(|games| games.number(row)).map(|game| game as u64);
        part.extend(tile.rows().map(|row| (tile.batch.index(row), game(row))));
    }
}

/// Passes the records of an input on.
#[derive(Clone, Copy)]
struct Pass {
    fields: Fields,
    /// The function that finds records which the output cannot store.
    refusal: Option<Refusal>,
}

impl Job for Pass {
    type Part = Batch;
    fn needs(&self) -> Needs {
        Needs::new(Queries::NONE, self.fields)
    }
    fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }
    fn begin(&self) -> Batch {
        Batch::new()
    }
    fn tile(&self, part: &mut Batch, tile: &Tile<'_>) {
        part.extend_from(tile.batch, tile.rows());
    }
}

impl Interleave {
    /// Reads all inputs twice, and runs a job on their records as they are mixed. Parts are passed to `sink` in that
    /// order on the calling thread.
    ///
    /// Nothing is passed on unless all inputs could be read.
    ///
    /// # Errors
    /// As for [`pipeline::run`](crate::pipeline::run), or if the inputs changed between the two readings.
    pub fn run<J: Job>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        job: &J,
        sink: impl FnMut(J::Part) -> Result<(), Error>,
    ) -> Result<(Summary, Interleaved), RunError> {
        let (summary, mixed) = erased(job, sink, |job, sink| self.run_any(inputs, options, job, sink));
        Ok((summary.into_result()?, mixed))
    }

    /// The same for any job, compiled once.
    fn run_any<'a>(
        &self,
        inputs: &Inputs,
        mut options: RunOptions<'_>,
        job: AnyJob<'a>,
        sink: &mut AnySink<'_, 'a>,
    ) -> (Summary, Interleaved) {
        let job = &job;
        let mut mixed = Interleaved::default();
        if let Err(error) = inputs.check_regular() {
            return (Summary { failure: Some(error), ..Summary::default() }, mixed);
        }
        let fields = match self.by {
            Unit::Record => job.needs().fields,
            Unit::Game => job.needs().fields.union(Fields::of(&[Field::Game])),
        };
        let batches = BatchRun::of(&options);
        let (read, chunk_size) = (options.read.clone(), options.chunk_size);
        let starts = Arc::new(Mutex::new(Vec::new()));
        options.starts = Some(Arc::clone(&starts));
        let exact = matches!(read.choose.sample, Some(Sample::Count(_)));
        let mut taken = Taken { largest_draw: exact.then_some((0, read.choose.seed)), ..Taken::default() };
        let count = Count { fields, lost_tags: job.reads_lost_tags(), refusal: job.refusal() };
        let mut summary = run_to_end(inputs, options, &count, |part| {
            taken.add(&part, &starts.lock().unpoisoned());
            Ok(())
        });
        if summary.failure.is_some() {
            return (summary, mixed);
        }
        if let (Unit::Game, Some(record)) = (self.by, taken.without_game) {
            summary.failure = Some(Error::NoGame { record });
            return (summary, mixed);
        }
        taken.inputs.resize(inputs.sources.len(), Counted::default());
        let units = self.plan(&taken, &mut mixed);
        let chunk_size = (chunk_size / inputs.sources.len().max(1)).max(SMALLEST_CHUNK);
        let pass = Pass { fields, refusal: job.refusal() };
        let mixer = Mixer::new(self, inputs, &read, (&taken, &units), pass, (batches.analyzer, chunk_size));
        let done = mixer.and_then(|mut mixer| batches.run(move || mixer.next(), |batch| Ok(vec![batch]), job, sink));
        summary.failure = done.err();
        (summary, mixed)
    }

    /// The numbers of units that each file gives.
    fn plan(&self, taken: &Taken, mixed: &mut Interleaved) -> Vec<u64> {
        let available = taken.inputs.iter().map(|counted| counted.units(self.by));
        let available: Vec<u64> = available.collect();
        let files = self.files.clone().unwrap_or_else(|| vec![1; available.len()]);
        let mut rest = &available[..];
        let inputs = files.iter().map(|&files| {
            let (own, others) = rest.split_at(files.min(rest.len()));
            rest = others;
            own
        });
        let inputs: Vec<&[u64]> = inputs.collect();
        let of_inputs: Vec<u64> = inputs.iter().map(|own| own.iter().sum()).collect();
        let units = match &self.weights {
            Some(weights) => weights.units(&of_inputs, self.repeats),
            None => of_inputs.clone(),
        };
        let pairs = of_inputs.iter().zip(&units);
        mixed.inputs = pairs.map(|(&available, &taken)| MixedInput { available, taken }).collect();
        inputs.iter().zip(&units).flat_map(|(own, &units)| among_files(units, own)).collect()
    }
}

/// An input that is being read.
struct Mixed {
    stream: Option<Stream<Batch, Summary>>,
    /// Begins to read it, and the number of times that this is still to be done.
    begin: Box<dyn Fn() -> Result<Stream<Batch, Summary>, Error> + Send>,
    repetitions: u64,
    /// Whether the batch is the first one after the input has begun again.
    has_begun_again: bool,
    /// Whether all of its records are taken, so that none may follow.
    is_whole: bool,
    batch: Batch,
    /// The rows of the batch that were taken and are not in `taken`.
    rows: std::ops::Range<usize>,
    /// The records that were taken for the batch of the output.
    taken: Batch,
    expected: u64,
}

impl Mixed {
    /// Moves the rows that were taken to the batch that waits for the output.
    fn flush(&mut self) {
        if !self.rows.is_empty() {
            self.taken.extend_from(&self.batch, self.rows.clone());
            self.rows.start = self.rows.end;
        }
    }

    /// Makes sure that there is a next record; false after the last.
    fn fill(&mut self) -> Result<bool, Error> {
        while self.rows.end == self.batch.len() {
            self.flush();
            let Some(stream) = &mut self.stream else {
                return Ok(false);
            };
            match stream.wait(Duration::from_secs(1)) {
                Poll::Pending => {}
                Poll::Ready(Some(batch)) => {
                    (self.batch, self.rows) = (batch, 0..0);
                }
                Poll::Ready(None) => {
                    let ended = self.stream.take().map(Stream::end);
                    if let Some(Ok(Summary { failure: Some(error), .. })) = ended {
                        return Err(error);
                    }
                    if !matches!(ended, Some(Ok(_))) {
                        return Err(Error::Threads { threads: 1, reason: "a thread ended with a panic".to_owned() });
                    }
                    if self.repetitions > 0 {
                        self.repetitions -= 1;
                        self.stream = Some((self.begin)()?);
                        self.has_begun_again = true;
                    }
                }
            }
        }
        Ok(true)
    }

    /// Takes the next record.
    fn take(&mut self) -> Result<(), Error> {
        if !self.fill()? {
            return Err(Error::Changed { before: self.expected, after: self.expected - 1 });
        }
        self.rows.end += 1;
        self.has_begun_again = false;
        Ok(())
    }

    fn game(&self, row: usize) -> Option<i64> {
        self.batch.values(Field::Game)?.number(row)
    }

    /// Whether the next record belongs to another game than the previous one.
    fn ends_game(&mut self) -> Result<bool, Error> {
        let game = self.game(self.rows.end - 1);
        Ok(!self.fill()? || self.has_begun_again || self.game(self.rows.end) != game)
    }
}

/// The numbers of units that the inputs have left.
struct Left {
    /// A Fenwick tree of these numbers: each entry is the sum for a range of inputs, whose length is the lowest set bit
    /// of its index.
    sums: Vec<u64>,
    total: u64,
}

impl Left {
    fn new(left: &[u64]) -> Self {
        let mut sums = vec![0; left.len() + 1];
        for (place, &more) in (1..).zip(left) {
            sums[place] += more;
            let next = place + (place & place.wrapping_neg());
            if next < sums.len() {
                sums[next] += sums[place];
            }
        }
        Self { sums, total: left.iter().sum() }
    }

    /// Takes a unit, counted over all inputs; returns its input.
    fn take(&mut self, mut unit: u64) -> usize {
        let mut place = 0;
        let mut step = self.sums.len().next_power_of_two();
        while step > 0 {
            if let Some(&sum) = self.sums.get(place + step)
                && sum <= unit
            {
                unit -= sum;
                place += step;
            }
            step /= 2;
        }
        let input = place;
        place += 1;
        while let Some(sum) = self.sums.get_mut(place) {
            *sum -= 1;
            place += place & place.wrapping_neg();
        }
        self.total -= 1;
        input
    }
}

/// Takes records of one input after the other.
struct Mixer {
    sources: Vec<Mixed>,
    left: Left,
    seeded: Seeded,
    by: Unit,
    /// Units that were taken.
    taken: u64,
}

impl Mixer {
    fn new(
        how: &Interleave,
        inputs: &Inputs,
        read: &ReadOptions,
        (taken, units): (&Taken, &[u64]),
        pass: Pass,
        (analyzer, chunk_size): (&'static dyn Analyzer, usize),
    ) -> Result<Self, Error> {
        // The numbers and the draws tell which records are taken. Bad records have been reported.
        let mut read = read.clone().skip(0).limit(None).strict(false);
        read.choose.sample = read.choose.sample.filter(|_| taken.largest_draw.is_none());
        let mut sources = Vec::new();
        for ((source, counted), &units) in inputs.sources.iter().zip(&taken.inputs).zip(units) {
            let (inputs, read, before) = (Inputs::of([source.clone()]), read.clone(), counted.before);
            let (first, last) = counted.numbers.unwrap_or_default();
            let largest = taken.largest_draw;
            let begin = move || {
                let (inputs, read) = (inputs.clone(), read.clone());
                let largest = largest.map(|(largest, seed)| DrawnUpTo { seed, largest });
                let work = move |sender: &Sender<Batch>| {
                    let mut options = RunOptions::new(analyzer).read(read).chunk_size(chunk_size);
                    options.interrupt = Some(sender.interrupt());
                    options.only = largest.as_ref().map(|largest| largest as &dyn RecordFilter);
                    options.part = Some(Part { before, numbers: first..last + 1 });
                    run_to_end(&inputs, options, &pass, |part| sender.send(part))
                };
                Stream::begin(WAITING, work)
            };
            let available = counted.units(how.by);
            let stream = if units > 0 { Some(begin()?) } else { None };
            sources.push(Mixed {
                stream,
                begin: Box::new(begin),
                repetitions: units.saturating_sub(1).checked_div(available).unwrap_or(0),
                has_begun_again: false,
                is_whole: available > 0 && units % available == 0,
                batch: Batch::new(),
                rows: 0..0,
                taken: Batch::new(),
                expected: counted.records,
            });
        }
        Ok(Self {
            sources,
            left: Left::new(units),
            seeded: Seeded::new(how.seed, Purpose::Interleave),
            by: how.by,
            taken: 0,
        })
    }

    /// The next records; `None` after the last.
    fn next(&mut self) -> Result<Option<Batch>, Error> {
        let mut order: Vec<usize> = Vec::with_capacity(BATCH_LEN);
        while order.len() < BATCH_LEN && self.left.total > 0 {
            let hash = self.seeded.hash(self.taken);
            let unit = ((u128::from(hash) * u128::from(self.left.total)) >> u64::BITS) as u64;
            let input = self.left.take(unit);
            self.taken += 1;
            let source = &mut self.sources[input];
            loop {
                source.take()?;
                order.push(input);
                if self.by == Unit::Record || source.ends_game()? {
                    break;
                }
            }
        }
        if order.is_empty() {
            for source in self.sources.iter_mut().filter(|source| source.is_whole) {
                if source.fill()? {
                    return Err(Error::Changed { before: source.expected, after: source.expected + 1 });
                }
            }
            return Ok(None);
        }
        // The records of one input after those of the other, and then in the order in which they were taken.
        let mut rows = Batch::new();
        let mut next = Vec::new();
        for source in &mut self.sources {
            source.flush();
            next.push(rows.len());
            let taken = std::mem::take(&mut source.taken);
            rows.extend_from(&taken, 0..taken.len());
        }
        for place in &mut order {
            let row = &mut next[*place];
            *place = *row;
            *row += 1;
        }
        let mut mixed = Batch::new();
        mixed.extend_from(&rows, order.iter().copied());
        Ok(Some(mixed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_their_inputs() {
        let counts = [3, 0, 5, 1, 0, 2, 9];
        let mut left = Left::new(&counts);
        let mut plain: Vec<usize> = (0..).zip(counts).flat_map(|(input, count)| vec![input; count as usize]).collect();
        let mut unit = 7;
        while !plain.is_empty() {
            unit = (unit * 31 + 5) % plain.len();
            let input = plain[unit];
            assert_eq!(left.take(unit as u64), input);
            // The first that is left of the input: which one makes no difference.
            let first = plain.iter().position(|&other| other == input).unwrap();
            plain.remove(first);
            assert_eq!(left.total, plain.len() as u64);
        }
    }
}
