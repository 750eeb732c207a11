//! A second file beside the inputs: record by record, scores of another engine, results of a network or anything else.
//!
//! The second file has one record for each record of the inputs, in their order. It may have any format, and tables may
//! lack positions. [`SecondFile::read`] reads it on all threads, before the inputs. For each record it writes a row of
//! fixed size to a temporary file: only the columns that somebody asks for (`stored_rows`) and, if the file has
//! positions, the packed board with its two counters. Texts are in a file of their own, to which the rows refer.
//!
//! In the run over the inputs, every record has its number over all inputs, bad ones included. With it, any thread
//! finds the row beside the record: the values are [columns](SecondFile::columns) like any other, which are looked up
//! when a tile is filled (`columns_beside`). So the values need no place in batches, and it makes no difference which records
//! are chosen, how chunks are cut, or whether records were kept in temporary files in between. Memory does not depend on
//! the length of the file.
//!
//! With [`RunOptions::beside`], the run also compares each good record with the board beside it (`position_comparison`). En
//! passant squares count only where such a capture is legal; the counters may differ, which is remarked on. The first
//! record that differs, in the order of the inputs, ends the run, and so does a file that has fewer or more records.
//! Rejected records are compared with nothing, and a rejected record of the second file has no values.
//!
//! Numbers have to count all records of the inputs. Runs over a [shard](ReadOptions::shard), and those in which options
//! choose games before their records are numbered, are refused.

mod columns_beside;
mod inferred_column_types;
mod position_comparison;
mod stored_rows;

pub(super) use position_comparison::OTHER_COUNTERS;

use super::{RunError, RunOptions, Summary, run_to_end};
use crate::error::{Error, shown};
use crate::input::Inputs;
use crate::output::temp_file::Spill;
use crate::poisoned_locks::Unpoisoned;
use crate::table::ComputedColumn;
use crate::text::numbers::counted;
use columns_beside::ColumnBeside;
use inferred_column_types::ColumnType;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use stored_rows::{Gathered, StoreRows};

/// The prefix of the names of its columns: `zip:score` is the score of the record beside.
pub const BESIDE: &str = "zip:";

/// A file that has been read, with a record for each record of the inputs.
///
/// ```no_run
/// use lanefish::input::Inputs;
/// use lanefish::pipeline::{RunOptions, SecondFile};
/// use lanefish::tiers;
///
/// let file = Inputs::of([std::path::Path::new("rescored.jsonl")]);
/// let (second, _) = SecondFile::read(&file, RunOptions::new(tiers::best()), &["score".to_owned()])?;
/// let definitions = lanefish::choose::Definitions::parse_with_columns::<&str>([], second.columns())?;
/// assert!(definitions.condition("abs(score - \"zip:score\") > 300").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SecondFile(Arc<StoredFile>);

impl fmt::Debug for SecondFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecondFile").field(&self.0.path).finish()
    }
}

/// The rows of the file.
struct StoredFile {
    path: Arc<Path>,
    records: u64,
    /// The rows, the boards with their counters, and the texts.
    rows: Spill,
    boards: Spill,
    texts: Spill,
    has_boards: bool,
    /// The names of the columns, and their types, in the order of their slots.
    columns: Vec<(String, ColumnType)>,
    /// The first failure to read one of the files.
    failure: Mutex<Option<Error>>,
}

impl StoredFile {
    fn row_len(&self) -> usize {
        stored_rows::row_len(self.columns.len())
    }
    /// Keeps the failure of a temporary file, for the end of the chunk.
    fn failed(&self, spill: &Spill, source: io::Error) {
        self.failure.lock().unpoisoned().get_or_insert(spill.failed(source));
    }
}

impl SecondFile {
    /// Reads a file, and keeps the columns of these names in temporary files. A name is that of a column of the file or,
    /// if the file has positions, one of the [catalogue](crate::table::COLUMNS), which is then computed.
    ///
    /// Text tables are recognized without a column `fen`. The summary tells which records of the file were rejected.
    ///
    /// # Errors
    /// If the file cannot be read, has no column of a name, or a temporary file cannot be written.
    pub fn read(inputs: &Inputs, mut options: RunOptions<'_>, names: &[String]) -> Result<(Self, Summary), RunError> {
        let space = options.space.clone();
        let spill = || Spill::begin(&space.directory);
        let (rows, boards, texts) = (spill()?, spill()?, spill()?);
        options.read.access.any_columns = true;
        options.read.decode.may_lack_positions = true;
        let path = inputs.sources.first().map_or_else(|| Path::new("").into(), |source| Arc::clone(source.name()));
        let job = StoreRows::new(names);
        let mut gathered = Gathered::new(&job, Arc::clone(&path), (&rows, &boards, &texts));
        let summary = run_to_end(inputs, options, &job, |part| gathered.add(part)).into_result()?;
        let (columns, has_boards) = gathered.finish(summary.records)?;
        let stored = StoredFile {
            path,
            records: summary.records,
            rows,
            boards,
            texts,
            has_boards,
            columns: names.iter().cloned().zip(columns).collect(),
            failure: Mutex::new(None),
        };
        Ok((Self(Arc::new(stored)), summary))
    }

    /// The number of records of the file, rejected ones included.
    pub fn records(&self) -> u64 {
        self.0.records
    }

    /// The requested columns, in their order, each with [`BESIDE`] before its name.
    pub fn columns(&self) -> Vec<Arc<dyn ComputedColumn>> {
        let column = |slot| -> Arc<dyn ComputedColumn> { Arc::new(ColumnBeside::new(&self.0, slot)) };
        (0..self.0.columns.len()).map(column).collect()
    }

    /// The first failure to read a temporary file.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.0.failure.lock().unpoisoned().take()
    }

    /// The error for inputs that ended after this number of records, if the file has more or fewer.
    pub(super) fn check_length(&self, inputs: &Inputs, records: u64) -> Result<(), Error> {
        let StoredFile { path, records: own, .. } = &*self.0;
        if *own == records {
            return Ok(());
        }
        let last = inputs.sources.last().map_or_else(String::new, |source| shown(source.name()));
        let reason = format!(
            "the inputs end after {}, but {} has {}: it must have one for each of them",
            counted(records, "record"),
            shown(path),
            counted(*own, "record")
        );
        Err(Error::NotBeside { place: last, reason })
    }
}

/// Reads a part of a temporary file.
fn read(spill: &Spill, start: u64, to: &mut [u8]) -> io::Result<()> {
    use io::Read as _;
    spill.section(start..start + to.len() as u64).read_exact(to)
}

/// Calls a function with the bytes of rows of a temporary file that has rows of this length: each of `rows` is the place
/// among the records asked for, and the number of the row. Neighbours are read at once.
fn each_row(
    spill: &Spill,
    len: usize,
    rows: &[(usize, u64)],
    mut each: impl FnMut(usize, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    /// Rows between two that are asked for, which are rather read than skipped.
    const GAP: u64 = 16;
    /// Most bytes that are read at once.
    const MOST: usize = 1 << 20;
    let mut bytes = Vec::new();
    let mut rest = rows;
    while let Some(&(_, first)) = rest.first() {
        let most = ((MOST / len) as u64).max(1);
        let pairs = rest.iter().zip(&rest[1..]);
        let is_near = |&(&(_, one), &(_, next)): &(&(usize, u64), &(usize, u64))| {
            (one..=one + GAP).contains(&next) && next - first < most
        };
        let count = 1 + pairs.take_while(is_near).count();
        let (these, others) = rest.split_at(count);
        let last = these.last().map_or(first, |&(_, last)| last);
        bytes.resize((last - first + 1) as usize * len, 0);
        read(spill, first * len as u64, &mut bytes)?;
        for &(place, row) in these {
            each(place, &bytes[(row - first) as usize * len..][..len])?;
        }
        rest = others;
    }
    Ok(())
}
