//! Records, columns or games, written in any format.
//!
//! One job for all of them: chunks are encoded on all threads, and what is finished comes back in order, to be written
//! by the thread that called the run. The command line and [`RecordFile`](super::RecordFile) differ only in where the
//! bytes go. Batches that come from no run are taken as well: [`WriteJob::batch`].

use super::OutputError;
#[cfg(feature = "parquet")]
use super::arrow_and_parquet_files::{Table, TableBlock, TableFile, TablePart};
use super::encode_records::{Conversion, EncodedPart};
use super::game_columns::GameColumns;
use super::game_rows::{CopiedGames, CopyGames, GameRows};
use super::output_content::OutputContent;
use super::output_format::OutputFormat;
use super::row_division::{Partition, RowDivision, end_of_rows};
use super::text_rows::Rows;
use crate::formats::{self, Chunk, Losses, Refusal};
use crate::games::{GameRow, GameVerdict, MoveForms};
use crate::output::csv::Csv;
use crate::output::jsonl::JsonLines;
use crate::pipeline::Job;
use crate::table::{Batch, Fields, Needs, Tile};
use crate::text::numbers::counted;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

/// A job that writes what it reads.
///
/// ```
/// use lanefish::jobs::{OutputFormat, WriteJob, OutputContent};
/// use lanefish::pipeline::{RunOptions, run};
/// use lanefish::{input::Inputs, output::SquareSetStyle, table::Columns, tiers};
///
/// let inputs = Inputs::open(["data/sample.epd"])?;
/// let columns = Columns::named("fen,legal_moves,in_check")?;
/// let job = WriteJob::new(OutputContent::Columns(&columns, SquareSetStyle::Hex), OutputFormat::Csv)?;
/// let mut csv = Vec::new();
/// let mut file = job.open(&mut csv)?;
/// let summary = run(&inputs, RunOptions::new(tiers::best()), &job, |part| {
///     job.put(&mut file, part).map_err(|source| lanefish::Error::Write { path: "rows".into(), source })
/// })?;
/// job.finish(file)?;
/// assert_eq!(csv.split(|&byte| byte == b'\n').count() as u64, 1 + summary.accepted() + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WriteJob<'a> {
    kind: Kind<'a>,
    format: OutputFormat,
    allow_loss: bool,
    division: RowDivision,
}

enum Kind<'a> {
    Records(Box<Conversion>),
    Columns(Rows<'a>),
    Games(GameRows<'a>),
    CopyGames(CopyGames),
    #[cfg(feature = "parquet")]
    Table(Box<Table<'a>>),
}

/// The output of one chunk.
#[derive(Debug)]
pub struct WritePart {
    part: Part,
    /// Records, or games, that are written.
    records: u64,
}

#[derive(Debug)]
enum Part {
    Records(Box<EncodedPart>),
    Text(Vec<u8>),
    CopyGames(CopiedGames),
    #[cfg(feature = "parquet")]
    Table(TablePart),
}

/// The number of rows of each file, in the order in which they were opened, by the value of their rows.
type RecordsByFile = BTreeMap<Option<Partition>, Vec<u64>>;

/// Opens the next file of an output, for rows of this value if they are divided by one.
pub type NextFile<'a, W> = dyn FnMut(Option<&Partition>) -> io::Result<W> + 'a;

/// An output that is being written.
#[must_use = "an output has to be finished"]
pub struct WriteFile<W: Write> {
    to: To<W>,
    records: u64,
    /// Rows of text that the file still takes.
    left: u64,
    /// Rows of each file, if there may be several.
    by_file: RecordsByFile,
    losses: Losses,
    /// Chains of the records, where the format has chains.
    chains: u64,
}

enum To<W: Write> {
    Records(Box<dyn formats::Writer>, W),
    /// None between two files.
    Text(Option<W>),
    /// The files that are open, by the value of their rows.
    #[cfg(feature = "parquet")]
    Table(BTreeMap<Option<Partition>, TableFile<W>>),
}

/// An output that is complete.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct OutputSummary {
    /// Bytes that replace its first ones, if the output can be rewound: counts that were not known at the beginning.
    pub start: Option<Vec<u8>>,
    /// Number of records, or games, in it.
    pub records: u64,
    /// The values of the records that the format does not keep.
    pub losses: Losses,
    /// Number of chains of records, for a format that has chains; otherwise 0.
    pub chains: u64,
    /// Number of rows of each file, in the order in which they were opened, by the value of their rows, if rows are
    /// [divided](WriteJob::divided) into several.
    pub records_by_file: BTreeMap<Option<Partition>, Vec<u64>>,
}

impl OutputSummary {
    /// Adds the counts of another output.
    pub fn merge(&mut self, other: &Self) {
        self.records += other.records;
        self.losses.merge(&other.losses);
        self.chains += other.chains;
    }

    /// A note on the cost of short chains; `None` if it is small.
    pub fn note_of_chains(&self, format: OutputFormat) -> Option<String> {
        // In a single chain, all records go on with the one before, however few there are.
        let alone = self.chains > 1 && self.records / self.chains < FEW_RECORDS;
        alone.then(|| {
            format!(
                "{format}: {} are stored in {}, because many of them do not continue the one before; each chain needs \
                 more than ten times the bytes of a further record",
                counted(self.records, "record"),
                counted(self.chains, "chain"),
            )
        })
    }
}

/// If chains have fewer records on average, most of the file consists of the beginnings of chains.
const FEW_RECORDS: u64 = 8;

impl fmt::Debug for WriteJob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteJob").finish_non_exhaustive()
    }
}

impl<W: Write> fmt::Debug for WriteFile<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteFile").field("losses", &self.losses).finish_non_exhaustive()
    }
}

impl<'a> WriteJob<'a> {
    /// A job that writes this in a format.
    ///
    /// # Errors
    /// If the format cannot hold this content.
    pub fn new(written: OutputContent<'a>, format: OutputFormat) -> Result<Self, OutputError> {
        let kind = match (format, written) {
            #[cfg(feature = "parquet")]
            (OutputFormat::Parquet(pages), _) => Kind::Table(Box::new(Table::parquet(written, pages)?)),
            #[cfg(feature = "parquet")]
            (OutputFormat::Arrow(kind), _) => Kind::Table(Box::new(Table::arrow(written, kind))),
            (OutputFormat::Records(format), OutputContent::Records { fen: false }) => {
                let encoder = format.encoder().ok_or(OutputError::ReadOnly(format))?;
                Kind::Records(Box::new(Conversion::new(encoder)))
            }
            (OutputFormat::Records(_), OutputContent::Records { fen: true }) => return Err(OutputError::NoFenColumn),
            (OutputFormat::Csv, OutputContent::Columns(columns, masks)) => {
                Kind::Columns(Rows { columns, format: &Csv, masks })
            }
            (OutputFormat::JsonLines, OutputContent::Columns(columns, masks)) => {
                Kind::Columns(Rows { columns, format: &JsonLines, masks })
            }
            (OutputFormat::Csv, OutputContent::Games) => Kind::Games(GameRows::csv(GameColumns::usual())),
            (OutputFormat::JsonLines, OutputContent::Games) => Kind::Games(GameRows::tagged_json()),
            (OutputFormat::Csv, OutputContent::GameColumns(columns)) => Kind::Games(GameRows::csv(columns)),
            (OutputFormat::JsonLines, OutputContent::GameColumns(columns)) => {
                Kind::Games(GameRows::json_lines(columns))
            }
            (OutputFormat::Pgn, OutputContent::Games) => Kind::CopyGames(CopyGames),
            (
                OutputFormat::Pgn,
                OutputContent::Columns(..) | OutputContent::Records { .. } | OutputContent::GameColumns(_),
            )
            | (
                OutputFormat::Records(_),
                OutputContent::Columns(..) | OutputContent::Games | OutputContent::GameColumns(_),
            )
            | (OutputFormat::Csv | OutputFormat::JsonLines, OutputContent::Records { .. }) => {
                return Err(OutputError::OtherContent { format, content: written.content() });
            }
        };
        Ok(Self { kind, format, allow_loss: false, division: RowDivision::default() })
    }

    /// Whether records may come out changed in a way that readers of the output cannot detect: see
    /// [`Losses::changed`]. Otherwise an output with such a record cannot be finished.
    #[must_use]
    pub fn allow_loss(self, allow_loss: bool) -> Self {
        Self { allow_loss, ..self }
    }

    /// The rows in several files and in row groups of other numbers of rows: see [`Self::put_in`].
    ///
    /// # Errors
    /// If the format is none of tables: Parquet, Arrow, CSV and JSON lines, or has no row groups.
    pub fn divided(self, division: RowDivision) -> Result<Self, OutputError> {
        let (has_rows, has_groups) = match &self.kind {
            Kind::Columns(_) | Kind::Games(_) => (true, false),
            #[cfg(feature = "parquet")]
            Kind::Table(_) => (true, matches!(self.format, OutputFormat::Parquet(_))),
            Kind::Records(_) | Kind::CopyGames(_) => (false, false),
        };
        if division.rows_per_file.is_some() && !has_rows {
            return Err(OutputError::NoRows(self.format));
        }
        if division.rows_per_group.is_some() && !has_groups {
            return Err(OutputError::NoRowGroups(self.format));
        }
        let kind = match self.kind {
            #[cfg(feature = "parquet")]
            Kind::Table(table) => Kind::Table(Box::new(table.divided(&division)?)),
            kind => match &division.partition_by {
                Some(name) => return Err(OutputError::NoPartitionColumn(name.clone())),
                None => kind,
            },
        };
        Ok(Self { kind, division, ..self })
    }

    /// The text before the first row of a file.
    fn header(&self) -> Vec<u8> {
        let mut header = Vec::new();
        match &self.kind {
            Kind::Columns(rows) => rows.format.header(rows.columns, &mut header),
            Kind::Games(games) => header = games.header(),
            _ => {}
        }
        header
    }

    /// Begins an output of one file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn open<W: Write>(&self, out: W) -> io::Result<WriteFile<W>> {
        let mut out = Some(out);
        self.open_in(&mut |_| out.take().map_or_else(only_one, Ok))
    }

    /// Begins an output, of which `next` opens the files: see [`Self::put_in`].
    ///
    /// # Errors
    /// If writing fails, or the file cannot be opened.
    pub fn open_in<W: Write>(&self, next: &mut NextFile<'_, W>) -> io::Result<WriteFile<W>> {
        let to = match &self.kind {
            Kind::Records(conversion) => {
                let (mut writer, mut out) = (conversion.encoder().writer(), next(None)?);
                writer.begin(&mut out)?;
                To::Records(writer, out)
            }
            Kind::Columns(_) | Kind::Games(_) | Kind::CopyGames(_) => {
                let mut out = next(None)?;
                out.write_all(&self.header())?;
                To::Text(Some(out))
            }
            // The values of rows are not known yet.
            #[cfg(feature = "parquet")]
            Kind::Table(_) if self.division.partition_by.is_some() => To::Table(BTreeMap::new()),
            #[cfg(feature = "parquet")]
            Kind::Table(table) => To::Table(BTreeMap::from([(None, table.open(next(None)?)?)])),
        };
        let left = self.division.rows_per_file.unwrap_or(u64::MAX);
        // With a column of folders, no file is open yet.
        let has_first = self.division.has_files() && self.division.partition_by.is_none();
        let by_file = has_first.then(|| (None, vec![0])).into_iter().collect();
        Ok(WriteFile { to, records: 0, left, by_file, losses: Losses::default(), chains: 0 })
    }

    /// Writes the output of one chunk. The parts must come in order, as a run passes them on.
    ///
    /// # Errors
    /// If writing fails, or the format cannot hold the records.
    pub fn put<W: Write>(&self, file: &mut WriteFile<W>, part: WritePart) -> io::Result<()> {
        self.put_in(file, part, &mut |_| only_one())
    }

    /// Writes the output of one chunk to the file, and to the next ones, which `next` opens: see [`Self::divided`]. A file is
    /// complete when the next one is opened.
    ///
    /// # Errors
    /// As [`Self::put`], and if a file cannot be opened.
    pub fn put_in<W: Write>(
        &self,
        file: &mut WriteFile<W>,
        part: WritePart,
        next: &mut NextFile<'_, W>,
    ) -> io::Result<()> {
        file.records += part.records;
        match (&self.kind, &mut file.to, part.part) {
            (Kind::Records(conversion), To::Records(writer, out), Part::Records(converted)) => {
                file.losses.merge(&converted.losses);
                if self.is_refused(&file.losses) {
                    // The rest is read only to say how much would be changed.
                    return Ok(());
                }
                let chains = &mut file.chains;
                converted.pieces().try_for_each(|piece| {
                    let piece = piece?;
                    *chains += piece.chains.len() as u64;
                    writer.put(&piece, out)?;
                    conversion.reuse(piece);
                    Ok(())
                })
            }
            (_, To::Text(place), Part::Text(text)) => {
                let mut text = &text[..];
                while !text.is_empty() {
                    if place.is_none() {
                        let mut opened = next(None)?;
                        opened.write_all(&self.header())?;
                        *place = Some(opened);
                        file.by_file.entry(None).or_default().push(0);
                    }
                    let Some(out) = place else { break };
                    let Some(rows) = self.division.rows_per_file else { return out.write_all(text) };
                    let (end, taken) = end_of_rows(text, file.left, matches!(self.format, OutputFormat::Csv));
                    out.write_all(&text[..end])?;
                    text = &text[end..];
                    file.left -= taken;
                    if let Some(last) = file.by_file.get_mut(&None).and_then(|files| files.last_mut()) {
                        *last += taken;
                    }
                    if file.left == 0 {
                        file.left = rows;
                        *place = None;
                    }
                }
                Ok(())
            }
            (_, To::Text(Some(out)), Part::CopyGames(CopiedGames { text, .. })) => out.write_all(&text),
            #[cfg(feature = "parquet")]
            (Kind::Table(table), To::Table(files), Part::Table(part)) => {
                let by_file = &mut file.by_file;
                part.blocks().try_for_each(|block| put_block(table, (files, by_file), block?, next))
            }
            _ => Err(io::Error::other("a part of another job")),
        }
    }

    /// Completes the output, after all parts.
    ///
    /// # Errors
    /// If writing fails, the format cannot hold the records, or some come out changed and that is not
    /// [allowed](Self::allow_loss).
    pub fn finish<W: Write>(self, file: WriteFile<W>) -> io::Result<OutputSummary> {
        self.finish_in(file, &mut |_| only_one())
    }

    /// Completes the output, of which `next` opens further files: see [`Self::put_in`].
    ///
    /// # Errors
    /// As [`Self::finish`], and if a file cannot be opened.
    pub fn finish_in<W: Write>(
        self,
        file: WriteFile<W>,
        #[cfg_attr(not(feature = "parquet"), expect(unused_variables, reason = "text has no rows left"))]
        next: &mut NextFile<'_, W>,
    ) -> io::Result<OutputSummary> {
        if self.is_refused(&file.losses) {
            return Err(io::Error::other(file.losses.refusal(self.format).unwrap_or_default()));
        }
        #[cfg_attr(not(feature = "parquet"), expect(unused_mut, reason = "text has no rows left"))]
        let WriteFile { to, records, losses, mut chains, mut by_file, .. } = file;
        let start = match (self.kind, to) {
            (Kind::Records(conversion), To::Records(mut writer, mut out)) => {
                if let Some(last) = conversion.finish()? {
                    chains += last.chains.len() as u64;
                    writer.put(&last, &mut out)?;
                }
                writer.finish(&mut out)?
            }
            (_, To::Text(_)) => None,
            #[cfg(feature = "parquet")]
            (Kind::Table(table), To::Table(mut files)) => {
                for last in table.last()? {
                    put_block(&table, (&mut files, &mut by_file), last, next)?;
                }
                let drops_empty = table.drops_empty_columns() && !self.division.has_files();
                files.into_values().try_for_each(|file| file.finish(drops_empty))?;
                None
            }
            _ => return Err(io::Error::other("the output of another job")),
        };
        Ok(OutputSummary { start, records, losses, chains, records_by_file: by_file })
    }

    fn is_refused(&self, losses: &Losses) -> bool {
        !self.allow_loss && losses.changed().next().is_some()
    }

    /// Whether a record may come out changed in a way that readers cannot detect: see [`OutputSummary::losses`].
    pub fn can_change(&self) -> bool {
        match &self.kind {
            Kind::Records(conversion) => conversion.encoder().can_change(),
            _ => false,
        }
    }

    /// The fields without which a record cannot be written.
    pub fn required_fields(&self) -> Fields {
        match &self.kind {
            Kind::Records(conversion) => conversion.encoder().needs(),
            _ => Fields::NONE,
        }
    }

    /// Encodes a batch that does not come from a run; all of its records are written. Batches are numbered from zero
    /// without gaps, and may be encoded in any order on any thread.
    ///
    /// The part is empty for columns and games, because only runs compute these.
    pub fn batch(&self, batch: &Arc<Batch>, number: u64) -> WritePart {
        let mut part = self.begin();
        match (&self.kind, &mut part.part) {
            (Kind::Records(conversion), Part::Records(part)) => {
                conversion.count_losses(part, batch);
                conversion.batch(part, batch);
            }
            #[cfg(feature = "parquet")]
            (Kind::Table(table), Part::Table(part)) if table.is_of_records() => table.batch(part, batch),
            _ => return part,
        }
        part.records = batch.len() as u64;
        self.end(&mut part, number);
        part
    }
}

/// There is no other file than the first.
fn only_one<W>() -> io::Result<W> {
    Err(io::Error::other("rows for several files, where there is one"))
}

/// Writes a block to the file of its value, which is opened if it is not open.
#[cfg(feature = "parquet")]
fn put_block<W: Write>(
    table: &Table<'_>,
    (files, by_file): (&mut BTreeMap<Option<Partition>, TableFile<W>>, &mut RecordsByFile),
    block: TableBlock,
    next: &mut NextFile<'_, W>,
) -> io::Result<()> {
    let (rows, ends_file, partition) = (block.rows as u64, block.ends_file, block.partition.clone());
    if !files.contains_key(&partition) {
        let opened = table.open(next(partition.as_ref())?)?;
        files.insert(partition.clone(), opened);
        by_file.entry(partition.clone()).or_default().push(0);
    }
    if let Some(count) = by_file.get_mut(&partition).and_then(|counts| counts.last_mut()) {
        *count += rows;
    }
    if let Some(file) = files.get_mut(&partition) {
        file.put(block)?;
    }
    if !ends_file {
        return Ok(());
    }
    // All files have the same columns.
    files.remove(&partition).map_or(Ok(()), |complete| complete.finish(false))
}

impl Job for WriteJob<'_> {
    type Part = WritePart;
    fn needs(&self) -> Needs {
        match &self.kind {
            Kind::Records(conversion) => conversion.needs(),
            Kind::Columns(rows) => rows.needs(),
            Kind::Games(games) => games.needs(),
            Kind::CopyGames(games) => games.needs(),
            #[cfg(feature = "parquet")]
            Kind::Table(table) => table.needs(),
        }
    }
    fn reads_games(&self) -> bool {
        match &self.kind {
            Kind::Games(_) | Kind::CopyGames(_) => true,
            Kind::Records(_) | Kind::Columns(_) => false,
            #[cfg(feature = "parquet")]
            Kind::Table(table) => table.reads_games(),
        }
    }
    fn copies_games(&self) -> bool {
        match &self.kind {
            Kind::CopyGames(games) => games.copies_games(),
            _ => false,
        }
    }
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        match &self.kind {
            Kind::Games(games) => games.game_tags(),
            Kind::Records(_) | Kind::Columns(_) | Kind::CopyGames(_) => None,
            #[cfg(feature = "parquet")]
            Kind::Table(table) => table.game_tags(),
        }
    }
    fn move_forms(&self) -> MoveForms {
        match &self.kind {
            Kind::Games(games) => games.move_forms(),
            Kind::Records(_) | Kind::Columns(_) | Kind::CopyGames(_) => MoveForms::NONE,
            #[cfg(feature = "parquet")]
            Kind::Table(table) => table.move_forms(),
        }
    }
    fn judge_game(&self, game: &GameRow) -> GameVerdict {
        match &self.kind {
            Kind::Games(games) => games.judge_game(game),
            Kind::Records(_) | Kind::Columns(_) | Kind::CopyGames(_) => GameVerdict::Take,
            #[cfg(feature = "parquet")]
            Kind::Table(table) => table.judge_game(game),
        }
    }
    fn reads_lost_tags(&self) -> bool {
        match &self.kind {
            Kind::Records(conversion) => conversion.reads_lost_tags(),
            Kind::Columns(_) | Kind::Games(_) | Kind::CopyGames(_) => false,
            #[cfg(feature = "parquet")]
            Kind::Table(table) => table.reads_lost_tags(),
        }
    }
    fn passes_blocks_on(&self) -> bool {
        match &self.kind {
            Kind::Records(conversion) => conversion.passes_blocks_on(),
            _ => false,
        }
    }
    fn begin(&self) -> WritePart {
        let part = match &self.kind {
            Kind::Records(conversion) => Part::Records(Box::new(conversion.begin())),
            Kind::Columns(_) | Kind::Games(_) => Part::Text(Vec::new()),
            Kind::CopyGames(games) => Part::CopyGames(games.begin()),
            #[cfg(feature = "parquet")]
            Kind::Table(table) => Part::Table(table.begin()),
        };
        WritePart { part, records: 0 }
    }
    fn source(&self, part: &mut WritePart, chunk: &Chunk, lines: Option<u64>) {
        if let (Kind::CopyGames(games), Part::CopyGames(part)) = (&self.kind, &mut part.part) {
            games.source(part, chunk, lines);
        }
    }
    fn refusal(&self) -> Option<Refusal> {
        match &self.kind {
            Kind::Records(conversion) => conversion.refusal(),
            _ => None,
        }
    }
    fn tile(&self, part: &mut WritePart, tile: &Tile<'_>) {
        match (&self.kind, &mut part.part) {
            (Kind::Records(conversion), Part::Records(converted)) => {
                conversion.tile(converted, tile);
                part.records = converted.records;
                return;
            }
            (Kind::Columns(rows), Part::Text(text)) => rows.tile(text, tile),
            #[cfg(feature = "parquet")]
            (Kind::Table(table), Part::Table(part)) => table.tile(part, tile),
            _ => {}
        }
        part.records += if self.reads_games() { 0 } else { tile.count() as u64 };
    }
    fn games(&self, part: &mut WritePart, games: &[GameRow]) {
        part.records += games.len() as u64;
        match (&self.kind, &mut part.part) {
            (Kind::Games(rows), Part::Text(text)) => rows.games(text, games),
            (Kind::CopyGames(texts), Part::CopyGames(part)) => texts.games(part, games),
            #[cfg(feature = "parquet")]
            (Kind::Table(table), Part::Table(part)) => table.games(part, games),
            _ => {}
        }
    }
    fn end(&self, part: &mut WritePart, chunk: u64) {
        match (&self.kind, &mut part.part) {
            (Kind::Records(conversion), Part::Records(part)) => conversion.end(part, chunk),
            #[cfg(feature = "parquet")]
            (Kind::Table(table), Part::Table(part)) => table.end(part, chunk),
            _ => {}
        }
    }
}
