//! Columns of records, of games, or of whole records, for Parquet and Arrow files.

use super::chunk_joiner::{Finished, InOrder};
use super::game_columns::GameColumns;
use super::game_rows::cells_of_games;
use super::output_content::OutputContent;
use super::output_error::OutputError;
use super::partitions::{PartitionColumn, PartitionedRows};
use super::row_division::{Partition, RowDivision};
use crate::columnar::{
    Described, Ipc, IpcFile, IpcKind, Pages, Parquet, ParquetFile, ParquetPages, ROW_GROUP_OF_GAMES, RowBlock,
    RowBlocks, dates_without_days, in_place_of_values, schema,
};
use crate::games::{GameRow, GameVerdict, MoveForms};
use crate::output::SquareSetStyle;
use crate::packed::Packed;
use crate::pipeline::{Job, for_each_tile_unqueried};
use crate::queries::Queries;
use crate::table::{
    Array, Batch, COLUMNS, ChosenColumn, Column, DATE_TEXT, Field, Fields, Kind, Needs, SCORE_SENTINEL, Tile,
    score_sentinels,
};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group where rows are divided by value.
const ROWS_OF_PARTITIONS: u64 = 1 << 17;

/// Fills the columns of a table.
pub(super) struct Table<'a> {
    rows: OutputContent<'a>,
    encoder: Encoder,
    line: InOrder<PartitionedRows, TableBlock>,
    /// The column by which rows are divided.
    by: Option<PartitionColumn>,
}

#[derive(Debug)]
enum Encoder {
    Parquet(Parquet),
    Ipc(Ipc),
    Batches(Ipc),
}

/// A finished block of a table.
#[derive(Debug)]
pub(super) struct TableBlock {
    finish: Finish,
    pub(super) rows: usize,
    /// Whether the next block goes to another file.
    pub(super) ends_file: bool,
    /// The value of its rows, if they are divided.
    pub(super) partition: Option<Partition>,
}

impl TableBlock {
    /// The record batch, for a table that is not Parquet.
    pub(super) fn into_batch(self) -> Option<RecordBatch> {
        match self.finish {
            Finish::Batch(batch) => Some(batch),
            Finish::Pages(_) => None,
        }
    }
}

#[derive(Debug)]
enum Finish {
    Pages(Pages),
    Batch(RecordBatch),
}

/// The output of one chunk.
#[derive(Debug, Default)]
pub(super) struct TablePart {
    cells: Vec<Array>,
    blocks: Option<Finished<TableBlock>>,
}

impl TablePart {
    /// The finished blocks, for the [file](Table::begin); waits for blocks that other workers encode.
    pub(super) fn blocks(self) -> impl Iterator<Item = io::Result<TableBlock>> {
        self.blocks.into_iter().flatten()
    }
}

impl fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// The columns for all fields of records.
fn carried() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| column.is_carried())
}

/// The columns of the catalogue that a table of whole records always has, in addition to the board.
fn always(fen: bool) -> impl Iterator<Item = &'static Column> {
    let names = ["halfmove", "fullmove", "fen"].into_iter().take(if fen { 3 } else { 2 });
    names.filter_map(Column::named)
}

/// The columns of a table with this content.
fn described(written: OutputContent<'_>) -> Vec<Described> {
    match written {
        OutputContent::Columns(columns, masks) => {
            let described = columns.iter().map(|column| match (Described::of(column).or_boards(column), masks) {
                (column @ Described { kind: Kind::Bits, .. }, SquareSetStyle::Signed) => {
                    Described { kind: Kind::I64, ..column }
                }
                (column @ Described { kind: Kind::ListOfBits, .. }, SquareSetStyle::Signed) => {
                    Described { kind: Kind::ListOfI64, ..column }
                }
                (column, _) => column,
            });
            described.collect()
        }
        OutputContent::Records { fen } => {
            let meaning = "the board in 32 bytes: four planes of 64 bits, little-endian";
            let board = Described::new("board", Kind::Board, meaning);
            let columns = always(fen).chain(carried()).map(Described::of_listed);
            let meaning = "the date as text, where it is no day, or is written in another way than YYYY.MM.DD";
            let text = Described::new(DATE_TEXT, Kind::Text, meaning).nullable();
            let meaning = "the sentinel that the record has in place of a score";
            let sentinel = Described::new(SCORE_SENTINEL, Kind::I16, meaning).nullable();
            [board].into_iter().chain(columns).chain([text, sentinel]).collect()
        }
        OutputContent::Games => super::game_rows::described(GameColumns::usual()),
        OutputContent::GameColumns(columns) => super::game_rows::described(columns),
    }
}

impl<'a> Table<'a> {
    /// A Parquet file.
    ///
    /// # Errors
    /// If it should have Bloom filters, and has no column that can have one.
    pub(super) fn parquet(rows: OutputContent<'a>, pages: ParquetPages) -> Result<Self, OutputError> {
        let mut names = described(rows).into_iter().map(|column| column.name);
        if pages.bloom_filters && !names.any(|name| ParquetPages::FILTERED.contains(&&*name)) {
            return Err(OutputError::NoFilteredColumn);
        }
        Ok(Self::new(rows, |columns| Encoder::Parquet(Parquet::new(columns, pages))))
    }

    /// An Arrow file or stream.
    pub(super) fn arrow(rows: OutputContent<'a>, kind: IpcKind) -> Self {
        Self::new(rows, |columns| Encoder::Ipc(Ipc::new(columns, kind)))
    }

    /// Record batches in memory.
    pub(super) fn batches(rows: OutputContent<'a>) -> Self {
        Self::new(rows, |columns| Encoder::Batches(Ipc::new(columns, IpcKind::Stream)))
    }

    fn new(rows: OutputContent<'a>, encoder: impl FnOnce(Vec<Described>) -> Encoder) -> Self {
        let described = described(rows);
        let has_moves = described.iter().any(|column| column.has_moves);
        let encoder = encoder(described);
        let blocks = match encoder {
            Encoder::Parquet(_) if has_moves => RowBlocks::of_groups(ROW_GROUP_OF_GAMES),
            Encoder::Parquet(_) => RowBlocks::default(),
            Encoder::Ipc(_) | Encoder::Batches(_) => RowBlocks::without_dictionaries(),
        };
        Self { rows, encoder, line: InOrder::new(PartitionedRows::new(blocks)), by: None }
    }

    /// The same table in row groups, files and folders.
    ///
    /// # Errors
    /// If it does not have the column of the folders, or that column does not divide rows.
    pub(super) fn divided(self, division: &RowDivision) -> Result<Self, OutputError> {
        let by = division.partition_by.as_deref().map(|name| {
            let column = PartitionColumn::of(name, &described(self.rows));
            column.ok_or_else(|| OutputError::NoPartitionColumn(name.to_owned()))
        });
        let rows = self.line.into_inner().with_blocks(|mut blocks| {
            if let Some(rows) = division.rows_per_group {
                blocks = blocks.with_groups(rows);
            } else if by.is_some() {
                // Row groups of all values are in memory.
                blocks = blocks.with_groups(ROWS_OF_PARTITIONS);
            }
            match division.rows_per_file {
                Some(rows) => blocks.of_files(rows),
                None => blocks,
            }
        });
        Ok(Self { line: InOrder::new(rows), by: by.transpose()?, ..self })
    }

    /// Begins the file.
    ///
    /// # Errors
    /// If writing fails.
    pub(super) fn open<W: Write>(&self, out: W) -> io::Result<TableFile<W>> {
        Ok(TableFile(match &self.encoder {
            Encoder::Parquet(parquet) => File::Parquet(Box::new(parquet.begin(out)?)),
            Encoder::Ipc(ipc) => File::Ipc(Box::new(ipc.begin(out)?)),
            Encoder::Batches(_) => return Err(io::Error::other("record batches are not a file")),
        }))
    }

    /// The Arrow schema of the columns.
    pub(super) fn schema(&self) -> SchemaRef {
        match &self.encoder {
            Encoder::Parquet(_) => Arc::new(schema(&described(self.rows))),
            Encoder::Ipc(ipc) | Encoder::Batches(ipc) => ipc.schema(),
        }
    }

    /// The last blocks, if there are rows left. Called once, after all parts.
    ///
    /// # Errors
    /// If they cannot be encoded.
    pub(super) fn last(&self) -> io::Result<Vec<TableBlock>> {
        let last = self.line.with_rest(PartitionedRows::last).into_iter();
        // A block without rows ends a row group, which other formats do not have.
        let needed = last.filter(|(_, block)| matches!(self.encoder, Encoder::Parquet(_)) || !block.is_empty());
        needed.map(|block| self.encoder.encode(block)).collect()
    }

    /// Whether fields that no record carries do not get a column, in a file that has all records.
    pub(super) fn drops_empty_columns(&self) -> bool {
        matches!(self.rows, OutputContent::Records { .. })
    }

    /// Whether rows are whole records.
    pub(super) fn is_of_records(&self) -> bool {
        matches!(self.rows, OutputContent::Records { .. })
    }

    /// Whole records of a batch that comes from no run: nothing is computed, and all of them count.
    pub(super) fn batch(&self, part: &mut TablePart, batch: &Arc<Batch>) {
        for_each_tile_unqueried(batch, |tile| self.tile(part, tile));
    }

    /// The values of the rows that count.
    fn fill(&self, tile: &Tile<'_>) -> Vec<Array> {
        match self.rows {
            OutputContent::Columns(columns, _) => {
                let mut is_first = true;
                let fill = |column: &ChosenColumn| match column.of_boards() {
                    Some(_) => in_place_of_values(std::mem::take(&mut is_first), boards(tile)),
                    None => column.fill(tile),
                };
                columns.iter().map(fill).collect()
            }
            OutputContent::Records { fen } => {
                let columns = always(fen).chain(carried());
                columns.map(|column| column.fill(tile)).collect()
            }
            OutputContent::Games | OutputContent::GameColumns(_) => Vec::new(),
        }
    }
}

/// The boards of all records of a tile.
fn boards(tile: &Tile<'_>) -> impl ExactSizeIterator<Item = Packed> {
    (tile.start..tile.start + tile.len).map(|row| tile.batch.board(row))
}

impl Encoder {
    fn encode(&self, (partition, block): (Option<Partition>, RowBlock)) -> io::Result<TableBlock> {
        let (rows, ends_file) = (block.len(), block.ends_file);
        let finish = match self {
            Self::Parquet(parquet) => Finish::Pages(parquet.encode(block)?),
            Self::Ipc(ipc) | Self::Batches(ipc) => Finish::Batch(ipc.encode(&block)?),
        };
        Ok(TableBlock { finish, rows, ends_file, partition })
    }
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct TableFile<W: Write>(File<W>);

#[derive(Debug)]
enum File<W: Write> {
    Parquet(Box<ParquetFile<W>>),
    Ipc(Box<IpcFile<W>>),
}

impl<W: Write> TableFile<W> {
    /// Ends the file, after all of its blocks.
    ///
    /// # Errors
    /// If writing fails.
    pub(super) fn finish(self, drop_empty: bool) -> io::Result<()> {
        match self.0 {
            File::Parquet(file) => file.finish(drop_empty),
            File::Ipc(file) => file.finish(),
        }
    }
    /// Writes the next block.
    ///
    /// # Errors
    /// If writing fails.
    pub(super) fn put(&mut self, block: TableBlock) -> io::Result<()> {
        match (&mut self.0, block.finish) {
            (File::Parquet(file), Finish::Pages(pages)) => file.put(pages),
            (File::Ipc(file), Finish::Batch(batch)) => file.put(&batch),
            _ => Err(io::Error::other("a block of another format")),
        }
    }
}

impl Job for Table<'_> {
    type Part = TablePart;
    fn needs(&self) -> Needs {
        match self.rows {
            OutputContent::Columns(columns, _) => columns.needs(),
            OutputContent::Records { .. } => Needs::new(Queries::NONE, Fields::ALL),
            OutputContent::GameColumns(columns) => columns.needs(),
            OutputContent::Games => Needs::NONE,
        }
    }
    fn reads_games(&self) -> bool {
        matches!(self.rows, OutputContent::Games | OutputContent::GameColumns(_))
    }
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        match self.rows {
            OutputContent::GameColumns(columns) => columns.tags(),
            _ => GameColumns::usual().tags(),
        }
    }
    fn move_forms(&self) -> MoveForms {
        match self.rows {
            OutputContent::GameColumns(columns) => columns.move_forms(),
            _ => MoveForms::NONE,
        }
    }
    fn judge_game(&self, game: &GameRow) -> GameVerdict {
        match self.rows {
            OutputContent::GameColumns(columns) => columns.judge(game),
            _ => GameVerdict::Take,
        }
    }
    fn reads_lost_tags(&self) -> bool {
        matches!(self.rows, OutputContent::Records { .. })
    }
    fn begin(&self) -> TablePart {
        TablePart::default()
    }
    fn tile(&self, part: &mut TablePart, tile: &Tile<'_>) {
        let mut filled = Vec::new();
        if let OutputContent::Records { .. } = self.rows {
            filled.push(Array::Boards(boards(tile).collect()));
        }
        let mut arrays = self.fill(tile);
        if let OutputContent::Records { fen } = self.rows {
            let mut columns = always(fen).chain(carried());
            let date = columns.position(|column| column.name == Field::Date.name());
            if let Some(Array::Text(dates)) = date.and_then(|at| arrays.get(at)) {
                arrays.push(Array::Text(dates_without_days(dates)));
            }
            arrays.push(score_sentinels(tile));
        }
        filled.extend(arrays.into_iter().map(Array::without_empty));
        Array::append_tile(&mut part.cells, filled, tile);
    }
    fn games(&self, part: &mut TablePart, games: &[GameRow]) {
        let columns = match self.rows {
            OutputContent::Games => GameColumns::usual(),
            OutputContent::GameColumns(columns) => columns,
            OutputContent::Columns(..) | OutputContent::Records { .. } => return,
        };
        part.cells = cells_of_games(columns, games);
    }
    fn end(&self, part: &mut TablePart, chunk: u64) {
        let cells = std::mem::take(&mut part.cells);
        let pieces = match &self.by {
            Some(by) => by.divide(cells),
            None => vec![(None, cells)],
        };
        let finished = self.line.end(chunk, pieces, |block| self.encoder.encode(block));
        part.blocks = Some(finished);
    }
}
