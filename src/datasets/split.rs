//! Splitting: each record belongs to one of several parts.
//!
//! A hash decides, whose range is divided in proportion to the shares. When splitting by positions, it is a hash of the
//! position's key, so equal positions are never in two parts, neither in one run nor in several with the same seed and
//! shares.

use crate::ParseError;
use crate::choose::Fraction;
use crate::distinct::{canonical_at, keys};
use crate::error::Error;
use crate::formats::Chunk;
use crate::input::Inputs;
use crate::pipeline::{Job, Refusal, RunError, RunOptions, Summary, run};
use crate::queries::Queries;
use crate::seed::{Purpose, Seeded};
use crate::table::{Field, Fields, Needs, Tile};
use std::fmt;
use std::str::FromStr;

/// Records that are never divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SplitBy {
    /// Equal positions: board, side to move, castling rights and legal en passant squares.
    #[default]
    Position,
    /// Equal positions, where positions with exchanged colours are also equal.
    Relative,
    /// The records of a game.
    Game,
    /// None: each record separately.
    Record,
}

/// The share of a part, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Share {
    /// The name of the part.
    pub name: String,
    /// The end of its range of hashes, in parts of [`WHOLE`].
    end: u64,
}

/// All records.
const WHOLE: u64 = Fraction::WHOLE;

/// The parts of a split.
///
/// ```
/// use lanefish::datasets::Shares;
///
/// let shares: Shares = "train=0.9,valid=5%,test=0.05".parse()?;
/// assert!(shares.iter().map(|share| &*share.name).eq(["train", "valid", "test"]));
/// assert!("train=0.9,test=0.2".parse::<Shares>().is_err());
/// # Ok::<(), lanefish::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares(Vec<Share>);

impl Shares {
    /// The parts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Share> {
        self.0.iter()
    }
    /// Number of parts.
    #[allow(clippy::len_without_is_empty, reason = "there is always a part")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// The part of a hash.
    fn part_of(&self, hash: u64) -> usize {
        let place = (u128::from(hash) * u128::from(WHOLE)) >> u64::BITS;
        self.0.partition_point(|share| u128::from(share.end) <= place)
    }
}

impl FromStr for Shares {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = |what: String| {
            let expected = "expected parts such as train=0.9,valid=5%,test=0.05, which together are 1";
            ParseError::new(format!("{what}: {expected}"))
        };
        let mut end = 0_u64;
        let mut shares: Vec<Share> = Vec::new();
        for part in text.split(',') {
            let (name, share) = part.split_once('=').ok_or_else(|| wrong(format!("`{part}` has no share")))?;
            let (name, share) = (name.trim(), share.trim());
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            if name.is_empty() || !name.bytes().all(is_name) || name.bytes().all(|byte| byte == b'.') {
                return Err(wrong(format!("`{name}` cannot be the name of a part")));
            }
            if shares.iter().any(|share| share.name == name) {
                return Err(wrong(format!("there are two parts `{name}`")));
            }
            end += Fraction::parse(share).ok_or_else(|| wrong(format!("`{share}` is not a share")))?;
            if end > WHOLE {
                break;
            }
            shares.push(Share { name: name.to_owned(), end });
        }
        if end != WHOLE {
            return Err(wrong(format!("`{text}` is not the whole")));
        }
        Ok(Self(shares))
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(|share| &*share.name).collect();
        f.write_str(&names.join(","))
    }
}

/// Options of the splitting.
///
/// ```
/// use lanefish::datasets::Split;
/// use lanefish::jobs::{OutputFormat, WriteJob, OutputContent};
/// use lanefish::{formats::Format, input::Inputs, pipeline::RunOptions, tiers};
///
/// let inputs = Inputs::open(["data/sample.epd"])?;
/// let written = OutputContent::Records { fen: false };
/// let job = |_| WriteJob::new(written, OutputFormat::Records(Format::FEN));
/// let jobs = (0..2).map(job).collect::<Result<Vec<_>, _>>()?;
/// let split = Split::new("train=0.9,test=0.1".parse()?).seed(3);
/// let mut written = [0, 0];
/// let summary = split.run(&inputs, RunOptions::new(tiers::best()), &jobs, |part, records, _| {
///     written[part] += records;
///     Ok(())
/// })?;
/// assert_eq!(written[0] + written[1], summary.accepted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Split {
    /// The parts.
    pub shares: Shares,
    /// Records that are never divided.
    pub by: SplitBy,
    /// The seed of the choice.
    pub seed: u64,
}

crate::option_setters::setters!(Split { by: SplitBy, seed: u64 });

impl Split {
    /// A split by positions into these parts.
    pub fn new(shares: Shares) -> Self {
        Self { shares, by: SplitBy::default(), seed: 0 }
    }

    /// Reads all inputs, and runs the job of each part on its records. The output of a job for a chunk is passed to
    /// `sink` with the place of the part and the number of records, in the order of the input, on the calling thread.
    ///
    /// # Errors
    /// As for [`pipeline::run`](crate::pipeline::run).
    ///
    /// # Panics
    /// If there are not as many jobs as parts.
    pub fn run<J: Job>(
        &self,
        inputs: &Inputs,
        options: RunOptions<'_>,
        jobs: &[J],
        mut sink: impl FnMut(usize, u64, J::Part) -> Result<(), Error>,
    ) -> Result<Summary, RunError> {
        assert_eq!(jobs.len(), self.shares.len(), "a job for each part");
        let job = Dividing { split: self, seeded: Seeded::new(self.seed, Purpose::Split), jobs };
        run(inputs, options, &job, |divided: Divided<J::Part>| {
            divided.failure.map_or(Ok(()), Err)?;
            let mut parts = (0..).zip(divided.parts);
            parts.try_for_each(|(place, (records, part))| sink(place, records, part))
        })
    }
}

/// Hands each record to the job of its part.
struct Dividing<'a, J> {
    split: &'a Split,
    seeded: Seeded,
    jobs: &'a [J],
}

/// The outputs of the jobs for a chunk.
struct Divided<P> {
    parts: Vec<(u64, P)>,
    failure: Option<Error>,
}

impl<J: Job> Dividing<'_, J> {
    /// The hash of a record, from the first one of the tile on.
    fn hash(&self, tile: &Tile<'_>, row: usize) -> Result<u64, Error> {
        let number = match self.split.by {
            SplitBy::Record => tile.batch.index(row),
            SplitBy::Game => {
                let game = tile.batch.values(Field::Game).and_then(|games| games.number(row));
                game.ok_or_else(|| Error::NoGame { record: tile.batch.index(row) })? as u64
            }
            SplitBy::Position => keys(&canonical_at(tile.batch, row))[3],
            SplitBy::Relative => keys(&canonical_at(tile.batch, row).relative())[3],
        };
        Ok(self.seeded.hash(number))
    }
}

impl<J: Job> Job for Dividing<'_, J> {
    type Part = Divided<J::Part>;
    fn needs(&self) -> Needs {
        let own = match self.split.by {
            SplitBy::Game => Fields::of(&[Field::Game]),
            SplitBy::Position | SplitBy::Relative | SplitBy::Record => Fields::NONE,
        };
        self.jobs.iter().map(Job::needs).fold(Needs::new(Queries::NONE, own), Needs::and)
    }
    fn reads_lost_tags(&self) -> bool {
        self.jobs.iter().any(Job::reads_lost_tags)
    }
    fn begin(&self) -> Self::Part {
        Divided { parts: self.jobs.iter().map(|job| (0, job.begin())).collect(), failure: None }
    }
    fn source(&self, part: &mut Self::Part, chunk: &Chunk, lines: Option<u64>) {
        for (job, (_, part)) in self.jobs.iter().zip(&mut part.parts) {
            job.source(part, chunk, lines);
        }
    }
    fn refusal(&self) -> Option<Refusal> {
        // All parts have the same format.
        self.jobs.first().and_then(Job::refusal)
    }
    fn tile(&self, divided: &mut Self::Part, tile: &Tile<'_>) {
        let mut masks = vec![vec![0_u64; tile.mask.len()]; self.jobs.len()];
        for row in tile.rows() {
            match self.hash(tile, row) {
                Ok(hash) => {
                    let place = row - tile.start;
                    masks[self.split.shares.part_of(hash)][place / 64] |= 1 << (place % 64);
                }
                Err(error) => {
                    divided.failure.get_or_insert(error);
                    return;
                }
            }
        }
        for ((job, (records, part)), mask) in self.jobs.iter().zip(&mut divided.parts).zip(&masks) {
            let tile = tile.masked(mask);
            let count = tile.count();
            if count > 0 {
                *records += count as u64;
                job.tile(part, &tile);
            }
        }
    }
    fn end(&self, divided: &mut Self::Part, chunk: u64) {
        for (job, (_, part)) in self.jobs.iter().zip(&mut divided.parts) {
            job.end(part, chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact() {
        let ends = |text: &str| text.parse::<Shares>().map(|shares| shares.iter().map(|share| share.end).collect());
        let tenth = WHOLE / 10;
        assert_eq!(ends("a=0.1,b=0.2,c=0.7"), Ok(vec![tenth, 3 * tenth, WHOLE]));
        assert_eq!(ends("a=10%,b=.9"), Ok(vec![tenth, WHOLE]));
        assert_eq!(ends("only=1"), Ok(vec![WHOLE]));
        assert_eq!(ends("a=33.3333%,b=0.666667"), Ok(vec![WHOLE / 1_000_000 * 333_333, WHOLE]));
        for wrong in [
            "",
            "a",
            "a=",
            "=1",
            "a=1,b",
            "a=0.5,a=0.5",
            "a=0.5",
            "a=0.6,b=0.6",
            "a=-1,b=2",
            "a=1e0",
            "a=.",
            "a/b=1",
            "..=1",
            "a=0.0000000000000000001,b=1",
            "a=1,",
            "a=100000000000000000000000000000000000000000",
        ] {
            assert!(ends(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_hash_has_a_part() {
        let shares: Shares = "a=0.5,nothing=0,b=0.25,c=0.25".parse().unwrap();
        for (hash, part) in [(0, 0), (u64::MAX / 2, 0), (1 << 63, 2), ((1 << 63) + (1 << 62), 3), (u64::MAX, 3)] {
            assert_eq!(shares.part_of(hash), part, "{hash:x}");
        }
    }
}
