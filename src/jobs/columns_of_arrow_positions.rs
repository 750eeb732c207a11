//! Columns computed for positions that are Arrow arrays in memory.
//!
//! The rows are divided into pieces of [`BLOCK`] rows, wherever the chunks of the arrays end. A thread takes a piece,
//! decodes it like a row group of a file, judges it as the pipeline does, and fills the columns one tile at a time.
//! Each piece becomes a record batch, so that results depend neither on threads nor on how the arrays are divided.
//! Threads belong to the call: there is no pool that a process could lose by a fork, and a single piece needs no
//! thread.

use crate::columnar::{BLOCK, Described, record_batch, schema};
use crate::error::{Damage, Error, Reject};
use crate::formats::codec::fields_from_whole_games::OF_WHOLE_GAMES;
use crate::formats::codec::game_history::{History, OF_HISTORY};
use crate::formats::codec::game_selection::{find_values_of_all, may_be_one_game};
use crate::formats::tables::{Arrays, RowPart};
use crate::formats::{Chunk, DecodeOptions, Decoded, DroppedValue, DroppedValues, Format, Remarks, Totals};
use crate::option_setters::setters;
use crate::pipeline::{FIRST_REJECTS, Job, TILE, in_order, judge_chunk};
use crate::queries::GroupResults;
use crate::table::{Array, Batch, Columns, Needs, Tile};
use crate::tiers::Analyzer;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The treatment of rows without a valid position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BadRows {
    /// The first one is an error.
    #[default]
    Raise,
    /// The values of such rows are missing.
    Null,
    /// They are left out.
    Skip,
}

/// Positions in memory: an Arrow array of FEN or of packed boards, or record batches with a column of these.
///
/// Strings may have any type, including views and dictionaries; boards are 32 bytes, as in boards files.
#[derive(Clone, Debug)]
pub struct ArrowPositions(Arrays);

/// Options of [`compute`].
#[non_exhaustive]
pub struct ComputeOptions<'a> {
    /// Answers the queries.
    pub analyzer: &'static dyn Analyzer,
    /// Number of threads that compute; the calling one, if it is 1.
    pub threads: usize,
    /// How positions are read, and which are accepted; fields and tags follow from the columns.
    pub decode: DecodeOptions,
    /// The treatment of bad rows.
    pub on_bad: BadRows,
    /// Called from time to time by the calling thread; [`Error::Interrupted`] is the result once it returns true.
    pub interrupt: Option<&'a dyn Fn() -> bool>,
}

impl ComputeOptions<'_> {
    /// The defaults: one thread, and a bad row is an error.
    pub fn new(analyzer: &'static dyn Analyzer) -> Self {
        Self { analyzer, threads: 1, decode: DecodeOptions::default(), on_bad: BadRows::default(), interrupt: None }
    }
}

setters!(ComputeOptions<'a> {
    threads: usize,
    decode: DecodeOptions,
    on_bad: BadRows,
    interrupt: Option<&'a dyn Fn() -> bool>,
});

impl fmt::Debug for ComputeOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComputeOptions")
            .field("analyzer", &self.analyzer)
            .field("threads", &self.threads)
            .field("decode", &self.decode)
            .field("on_bad", &self.on_bad)
            .finish_non_exhaustive()
    }
}

/// The result of [`compute`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Computed {
    /// The schema of all batches.
    pub schema: SchemaRef,
    /// The rows in their order.
    pub batches: Vec<RecordBatch>,
    /// Rows without a valid position, in ascending order.
    pub bad: Vec<u64>,
    /// The count of each reason; a row may have several.
    pub reasons: BTreeMap<&'static str, u64>,
    /// The first bad rows.
    pub first_rejects: Vec<Reject>,
    /// Changes and remarks from reading.
    pub remarks: Remarks,
    /// Values that their fields cannot hold, and which are therefore missing.
    pub dropped_values: DroppedValues,
}

/// The name used in messages instead of that of a file.
const NAME: &str = "data";

impl ArrowPositions {
    /// Chunks of an array, of FEN in any type of strings, or of packed boards (`FixedSizeBinary(32)`).
    ///
    /// # Errors
    /// If the chunks are not of this type.
    pub fn of_array(data: &DataType, chunks: Vec<ArrayRef>) -> Result<Self, Error> {
        Arrays::of_positions(data, chunks).map(Self).map_err(wrong)
    }
    /// Record batches with a column `board` or `fen`, or one that [`DecodeOptions::fen_column`] names.
    ///
    /// # Errors
    /// If the batches do not have this schema.
    pub fn of_batches(schema: &Schema, batches: &[RecordBatch]) -> Result<Self, Error> {
        Arrays::of_batches(schema, batches).map(Self).map_err(wrong)
    }
    /// Whether each row is a game and not a position, so that [`source_of_batches`](super::source_of_batches) reads them.
    ///
    /// # Errors
    /// If the rows are neither, or the options name columns that are not there.
    pub fn are_games(&self, options: &DecodeOptions) -> Result<bool, Error> {
        self.0.are_games(options).map_err(wrong)
    }
    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.0.rows()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn wrong(reason: String) -> Error {
    Error::Columns { path: Arc::from(Path::new(NAME)), reason }
}

/// The columns of a piece, for the rows that count.
struct Fill<'a>(&'a Columns);

impl Fill<'_> {
    fn add(&self, cells: &mut Vec<Array>, tile: &Tile<'_>) {
        let filled = self.0.iter().map(|column| column.fill(tile).without_empty());
        Array::append_tile(cells, filled.collect(), tile);
    }
    /// The columns without rows.
    fn empty(&self, analyzer: &'static dyn Analyzer) -> Vec<Array> {
        let batch = Arc::new(Batch::new());
        let mut cells = Vec::new();
        self.add(&mut cells, &Tile::new(analyzer, &batch, 0, 0, &[], &[]));
        cells
    }
}

impl Job for Fill<'_> {
    type Part = Vec<Array>;
    fn needs(&self) -> Needs {
        self.0.needs()
    }
    fn begin(&self) -> Vec<Array> {
        Vec::new()
    }
    fn tile(&self, cells: &mut Vec<Array>, tile: &Tile<'_>) {
        self.add(cells, tile);
    }
}

/// The output for one piece.
struct Piece {
    rows: Range<u64>,
    batch: RecordBatch,
    bad: Vec<u64>,
    rejects: Vec<Reject>,
    reasons: BTreeMap<&'static str, u64>,
    remarks: Remarks,
    dropped_values: Vec<DroppedValue>,
}

/// What all threads need.
struct Work<'a> {
    part: &'a (dyn Fn(Range<u64>) -> RowPart + Sync),
    columns: &'a Columns,
    described: &'a [Described],
    schema: &'a SchemaRef,
    decode: &'a DecodeOptions,
    analyzer: &'static dyn Analyzer,
    on_bad: BadRows,
}

/// Computes columns of the catalogue for positions in memory.
///
/// The result does not depend on the number of threads, nor on how the arrays are divided into chunks. Batches are in
/// the order of the rows, and cover at most [`BLOCK`] rows each. Where columns need whole games, the memory grows with
/// the longest game.
///
/// # Errors
/// If there is no column of positions, a row is bad and [`BadRows::Raise`] is set ([`Error::Strict`]), or the work was
/// interrupted.
///
/// ```
/// use arrow_array::{ArrayRef, Int32Array, StringArray};
/// use lanefish::jobs::{ComputeOptions, ArrowPositions, compute};
/// use lanefish::{table::Columns, tiers};
/// use std::sync::Arc;
///
/// let fens: ArrayRef = Arc::new(StringArray::from(vec![
///     "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
///     "8/8/8/8/8/8/6k1/4K2R w K - 0 1",
/// ]));
/// let positions = ArrowPositions::of_array(&fens.data_type().clone(), vec![fens])?;
/// let columns = Columns::named("legal_moves")?;
/// let computed = compute(&positions, &columns, &ComputeOptions::new(tiers::best()))?;
/// let moves = computed.batches[0].column(0).as_any().downcast_ref::<Int32Array>();
/// assert_eq!(moves.ok_or("numbers")?.values()[..], [20, 12]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compute(positions: &ArrowPositions, columns: &Columns, options: &ComputeOptions<'_>) -> Result<Computed, Error> {
    let needs = columns.needs();
    let decode = options.decode.clone().fields(needs.fields).tags(needs.tags.into_iter().collect());
    let part = positions.0.parts(&decode).map_err(wrong)?;
    let described: Vec<Described> = columns
        .iter()
        .map(|column| match (Described::of(column), options.on_bad) {
            (described, BadRows::Null) => described.nullable(),
            (described, _) => described,
        })
        .collect();
    let schema = Arc::new(schema(&described));
    let work = Work {
        part: &part,
        columns,
        described: &described,
        schema: &schema,
        decode: &decode,
        analyzer: options.analyzer,
        on_bad: options.on_bad,
    };
    let mut computed = Computed {
        schema: Arc::clone(&schema),
        batches: Vec::new(),
        bad: Vec::new(),
        reasons: BTreeMap::new(),
        first_rejects: Vec::new(),
        remarks: Remarks::default(),
        dropped_values: DroppedValues::default(),
    };
    let threads = (options.threads as u64).min(positions.len().div_ceil(BLOCK as u64)) as usize;
    let is_interrupted = || options.interrupt.is_some_and(|interrupt| interrupt());
    let mut start = 0;
    let next_part = || {
        if start == positions.len() {
            return Ok(None);
        }
        let end = work.end_of_piece(start, positions.len())?;
        Ok(Some(part(std::mem::replace(&mut start, end)..end)))
    };
    // A single thread is the calling one.
    in_order(
        if threads > 1 { threads } else { 0 },
        next_part,
        || vec![GroupResults::default(); TILE],
        |results, _, part| work.piece(part, results),
        is_interrupted,
        |piece| {
            // A piece with a long game has several batches.
            let is_left_out = |row: &&u64| options.on_bad == BadRows::Skip && piece.rows.contains(row);
            let bad: Vec<u64> = piece.bad.iter().filter(is_left_out).copied().collect();
            for start in piece.rows.clone().step_by(BLOCK) {
                let rows_before = |row: u64| row - piece.rows.start - bad.partition_point(|&bad| bad < row) as u64;
                let end = piece.rows.end.min(start + BLOCK as u64);
                let rows = rows_before(start) as usize..rows_before(end) as usize;
                computed.batches.push(piece.batch.slice(rows.start, rows.len()));
            }
            computed.bad.extend(piece.bad);
            for (reason, times) in piece.reasons {
                *computed.reasons.entry(reason).or_default() += times;
            }
            let room = FIRST_REJECTS - computed.first_rejects.len();
            computed.first_rejects.extend(piece.rejects.into_iter().take(room));
            computed.remarks.merge(&piece.remarks);
            piece.dropped_values.into_iter().for_each(|dropped_value| computed.dropped_values.add(dropped_value, 1));
            Ok(())
        },
    )?;
    Ok(computed)
}

impl Work<'_> {
    /// The row after the piece that begins with this row. Where games are needed as wholes, it ends with a game.
    fn end_of_piece(&self, start: u64, all: u64) -> Result<u64, Error> {
        let end = start.saturating_add(BLOCK as u64).min(all);
        if !self.decode.fields.intersects(OF_WHOLE_GAMES) {
            return Ok(end);
        }
        // The number of rows from the end that may continue the game is found by trying more, then fewer.
        let continues = |rows: u64| {
            let (_, decoded) = decoded((self.part)(end - 1..end + rows), self.decode)?;
            Ok::<bool, Error>(may_be_one_game(&decoded))
        };
        let most = all - end;
        let (mut known, mut tried) = (0, most.min(1));
        while known < tried && continues(tried)? {
            known = tried;
            tried = tried.saturating_mul(2).min(most);
        }
        while known + 1 < tried {
            let middle = known.midpoint(tried);
            *if continues(middle)? { &mut known } else { &mut tried } = middle;
        }
        Ok(end + known)
    }

    /// The way to this row: earlier rows are read again, back to where it may begin.
    fn history_before(&self, row: u64) -> Result<History, Error> {
        let mut history = History::default();
        if !self.decode.fields.intersects(OF_HISTORY) {
            return Ok(history);
        }
        let mut before = Vec::new();
        let mut end = row;
        while end > 0 {
            let start = end.saturating_sub(BLOCK as u64);
            let (_, decoded) = decoded((self.part)(start..end), self.decode)?;
            let is_one = History::is_one(&decoded.batches);
            before.push(decoded);
            if !is_one {
                break;
            }
            end = start;
        }
        before.iter_mut().rev().for_each(|decoded| history.join(decoded));
        Ok(history)
    }

    fn piece(&self, part: RowPart, results: &mut [GroupResults]) -> Result<Piece, Error> {
        let history = self.history_before(part.rows().start)?;
        let job = Fill(self.columns);
        let JudgedPiece { rows, output: mut cells, mut rejects, remarks, dropped_values } =
            judged(part, history, self.decode, self.analyzer, &job, results)?;
        if self.on_bad == BadRows::Raise && !rejects.is_empty() {
            return Err(Error::Strict(Box::new(rejects.swap_remove(0))));
        }
        if cells.is_empty() {
            cells = job.empty(self.analyzer);
        }
        let mut reasons = BTreeMap::new();
        for reason in rejects.iter().flat_map(|reject| &reject.reasons) {
            *reasons.entry(*reason).or_default() += 1;
        }
        let bad: Vec<u64> = rejects.iter().map(|reject| reject.place.record).collect();
        rejects.truncate(FIRST_REJECTS);
        if self.on_bad == BadRows::Null && !bad.is_empty() {
            let bad: Vec<usize> = bad.iter().map(|row| (row - rows.start) as usize).collect();
            let len = (rows.end - rows.start) as usize;
            cells = cells.iter().map(|cells| spread(cells, &bad, len)).collect();
        }
        let batch = record_batch(self.described, self.schema, cells);
        Ok(Piece {
            rows,
            batch: batch.map_err(|error| damaged(error.to_string()))?,
            bad,
            rejects,
            reasons,
            remarks,
            dropped_values,
        })
    }
}

/// The output of a job for a piece.
struct JudgedPiece<T> {
    rows: Range<u64>,
    output: T,
    rejects: Vec<Reject>,
    remarks: Remarks,
    dropped_values: Vec<DroppedValue>,
}

fn damaged(what: String) -> Error {
    Error::Damaged { path: Arc::from(Path::new(NAME)), damage: Damage::at(0, what) }
}

/// Decodes a piece.
fn decoded(part: RowPart, options: &DecodeOptions) -> Result<(Chunk, Decoded), Error> {
    let chunk = Chunk::of_rows(Arc::from(Path::new(NAME)), part);
    let mut decoded = Format::ARROW.decode(&chunk, options);
    match decoded.damage.pop() {
        Some(damage) => Err(damaged(damage.what)),
        None => Ok((chunk, decoded)),
    }
}

/// Decodes a piece, and runs a job on the rows that count.
fn judged<J: Job>(
    part: RowPart,
    mut history: History,
    options: &DecodeOptions,
    analyzer: &'static dyn Analyzer,
    job: &J,
    results: &mut [GroupResults],
) -> Result<JudgedPiece<J::Part>, Error> {
    let rows = part.rows();
    let (chunk, mut decoded) = decoded(part, options)?;
    history.join(&mut decoded);
    find_values_of_all(&mut decoded, options.fields);
    let mut totals = Totals { records: rows.start, ..Totals::default() };
    decoded.number(&mut totals, &chunk);
    let remarks = std::mem::take(&mut decoded.remarks);
    let dropped_values = std::mem::take(&mut decoded.dropped_values);
    let (output, rejects) = judge_chunk(analyzer, options, job, (Format::ARROW, &chunk), decoded, results);
    Ok(JudgedPiece { rows, output, rejects, remarks, dropped_values })
}

/// Runs a job on the positions that count, one piece after the other; `take` receives the output for each piece and the
/// number of bad rows.
///
/// # Errors
/// If there is no column of positions, or `take` fails.
#[cfg(feature = "sql")]
pub(crate) fn judge<J: Job>(
    positions: &ArrowPositions,
    options: &DecodeOptions,
    analyzer: &'static dyn Analyzer,
    job: &J,
    mut take: impl FnMut(J::Part, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let part = positions.0.parts(options).map_err(wrong)?;
    let mut results = vec![GroupResults::default(); TILE];
    for start in (0..positions.len()).step_by(BLOCK) {
        let rows = start..positions.len().min(start + BLOCK as u64);
        let judged = judged(part(rows), History::default(), options, analyzer, job, &mut results)?;
        take(judged.output, judged.rejects.len() as u64)?;
    }
    Ok(())
}

/// The cells as `len` rows, where the rows with these numbers are missing.
fn spread(cells: &Array, missing: &[usize], len: usize) -> Array {
    let mut all = cells.empty_like();
    let mut from = 0;
    for &row in missing {
        // The number of missing rows before it equals the number of numbers before its own.
        let run = row - all.len();
        all.append(cells, from..from + run);
        all.push_missing();
        from += run;
    }
    all.append(cells, from..from + (len - all.len()));
    all
}
