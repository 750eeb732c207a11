//! Writing records: what a format that can be written provides.
//!
//! An [`Encoder`] turns rows into [`Encoded`] pieces on any thread. The pieces of text formats and of records of one
//! length are finished bytes. Formats made of blocks or chains only note which records are to be written, without
//! copying them. [`RecordBlocks`] takes the pieces in order and cuts them as the format's [`Boundaries`] says, whatever the
//! size of the pieces. Each [`RecordBlock`] can then be encoded on any thread. The [`Writer`] of an output takes
//! finished pieces in order, and adds what comes before, between and after them.
//!
//! A record that the format cannot hold at all is refused where records are judged, so that it becomes a reject with
//! its place like any other bad record. If the format cannot hold some part of a record, that loss is counted
//! ([`Losses`]).

use super::conversion_losses::{Losses, Refuse};
use super::encoder_columns::Rows;
use crate::input::Bytes;
use crate::table::row_queue::{RowRun, RowRuns};
use crate::table::{Batch, Field, Fields, Tile};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Tells which records a format cannot hold.
#[derive(Clone, Copy, Debug)]
pub struct Refusal(&'static dyn Encoder);

impl Refusal {
    /// Makes it for the output format with this encoder.
    pub(crate) fn of(encoder: &'static dyn Encoder) -> Self {
        Self(encoder)
    }
    /// The fields on which the decision depends.
    pub(crate) fn fields(self) -> Fields {
        self.0.needs().union(self.0.decides_by())
    }
    /// The fields without which the format cannot hold a record.
    pub(crate) fn needs(self) -> Fields {
        self.0.needs()
    }
    /// Passes on the rows that are refused, in order, each once, with a name for the reason and a message.
    pub(crate) fn rows(self, tile: &Tile<'_>) -> Vec<(usize, &'static str, String)> {
        let mut refused = Vec::new();
        self.0.refuse(tile, &mut |row, reason, message| refused.push((row, reason, message)));
        refused.sort_by_key(|&(row, ..)| row);
        refused.dedup_by_key(|&mut (row, ..)| row);
        refused
    }
}

/// The places where an output can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundaries {
    /// After any record: pieces are finished bytes.
    Anywhere,
    /// After every block of this number of records.
    Every(usize),
    /// Where a record does not continue the one before, after at least this number of records.
    Chains(usize),
}

/// Turns records into pieces of an output. One static value per format.
pub(crate) trait Encoder: fmt::Debug + Sync {
    /// The fields that the format can store.
    fn fields(&self) -> Fields;

    /// The fields without which the format cannot hold a record.
    fn needs(&self) -> Fields {
        Fields::NONE
    }

    /// The fields by which it [refuses](Self::refuse) records.
    fn decides_by(&self) -> Fields {
        self.needs()
    }

    /// The places where output of this format can be cut.
    fn cut(&self) -> Boundaries {
        Boundaries::Anywhere
    }

    /// Adds these rows of a batch to a piece as bytes. Formats that are not cut [anywhere](Boundaries::Anywhere) do not
    /// implement this: their pieces note the rows.
    fn encode(&self, _batch: &Batch, _rows: &[Range<usize>], _piece: &mut Encoded) {}

    /// Refuses those records of a tile that the format cannot hold at all.
    fn refuse(&self, _tile: &Tile<'_>, _refuse: &mut Refuse<'_>) {}

    /// The records of a tile that are left out without being refused, and whether the output implies them after the
    /// record before.
    fn unwritten(&self, _tile: &Tile<'_>) -> Vec<(usize, bool)> {
        Vec::new()
    }

    /// Counts what the output does not keep from the records of a tile.
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_columns(tile, losses, |field| self.fields().contains(field));
    }

    /// Whether blocks of boards files can be passed on.
    fn passes_blocks_on(&self) -> bool {
        false
    }

    /// Whether a record may come out changed in a way that readers of the output cannot detect.
    fn can_change(&self) -> bool {
        false
    }

    /// Whether a record continues the chain of the one before.
    fn continues(&self, _before: (&Rows<'_>, usize), _next: (&Rows<'_>, usize)) -> bool {
        false
    }

    /// Notes which of these rows, after the first, do not continue the chain of the row before.
    fn chains(&self, columns: &Rows<'_>, rows: Range<usize>, begins: &mut dyn FnMut(usize)) {
        for row in rows.skip(1) {
            if !self.continues((columns, row - 1), (columns, row)) {
                begins(row);
            }
        }
    }

    /// Encodes records into `block`, replacing its content. Formats that are cut [anywhere](Boundaries::Anywhere) do not
    /// implement this.
    ///
    /// # Errors
    /// If the format cannot hold the records.
    fn block(&self, _records: &BlockRecords<'_>, _block: &mut Encoded) -> io::Result<()> {
        Ok(())
    }

    /// Whether a block that begins with these records is possible.
    ///
    /// # Errors
    /// If the format cannot hold the records.
    fn check(&self, _first: u64, _records: &Batch) -> io::Result<()> {
        Ok(())
    }

    /// Begins an output.
    fn writer(&self) -> Box<dyn Writer> {
        Box::new(Bytewise)
    }
}

/// The records of a block.
#[derive(Debug)]
pub(crate) struct BlockRecords<'a> {
    /// The number of the first one in the output.
    pub(crate) first: u64,
    pub(crate) runs: Vec<(&'a Batch, Range<usize>)>,
    /// The records before which chains begin, counted from the first one. The first one always begins a chain, whether
    /// it is listed here or not.
    chains: &'a [usize],
}

impl<'a> BlockRecords<'a> {
    /// Records without chains.
    #[cfg(test)]
    pub(in crate::formats) fn of(first: u64, runs: Vec<(&'a Batch, Range<usize>)>) -> Self {
        Self { first, runs, chains: &[] }
    }

    /// Takes all rows in order: their columns, the row, and whether a chain begins with it.
    ///
    /// # Errors
    /// The first error of `take`.
    #[inline(always)]
    pub(in crate::formats) fn rows(
        &self,
        mut take: impl FnMut(&Rows<'a>, usize, bool) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut chains = self.chains.iter().peekable();
        let mut at = 0;
        for (batch, rows) in &self.runs {
            let columns = Rows::of(batch);
            for row in rows.clone() {
                let begins = chains.next_if_eq(&&at).is_some() || at == 0;
                take(&columns, row, begins)?;
                at += 1;
            }
        }
        Ok(())
    }
}

/// Counts the fields of the records of a tile that the output does not keep.
pub(in crate::formats) fn lost_fields(tile: &Tile<'_>, losses: &mut Losses, keeps: impl Fn(usize, Field) -> bool) {
    for (&field, values) in &tile.batch.fields {
        if Fields::ALL.contains(field) {
            let is_lost = |&row: &usize| values.is_present(row) && !keeps(row, field);
            losses.lack(field.quoted_name(), tile.rows().filter(is_lost).count() as u64);
        }
    }
}

/// Like [`lost_fields`], for outputs where it depends on the field alone.
pub(in crate::formats) fn lost_columns(tile: &Tile<'_>, losses: &mut Losses, keeps: impl Fn(Field) -> bool) {
    let lost = tile.batch.fields.iter().filter(|&(&field, _)| Fields::ALL.contains(field) && !keeps(field));
    for (field, values) in lost {
        let present = tile.mask.iter().zip(&values.present()[tile.start / 64..]);
        let records = present.map(|(mask, present)| u64::from((mask & present).count_ones())).sum();
        losses.lack(field.quoted_name(), records);
    }
}

/// Encoded records that are not written yet. A format uses what suits it.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    /// Finished bytes.
    pub(crate) bytes: Vec<u8>,
    /// For a block that is passed on: its bytes in the input, which follow `bytes` in the output.
    pub(crate) more: Option<Bytes>,
    /// Records for a format that is made of blocks or chains, in order, still where they were decoded.
    pub(crate) runs: Vec<(Arc<Batch>, Range<usize>)>,
    /// The number of records.
    pub(crate) records: u64,
    /// The columns of the block: a bit for each, as the format numbers them.
    pub(crate) columns: u64,
    /// For chains: the records before which they begin, counted from the first one, if the predecessor is in the same
    /// piece; in a block, the offsets at which they end.
    pub(crate) chains: Vec<usize>,
}

impl Encoded {
    /// Adds rows of a batch, as bytes or as runs.
    pub(crate) fn add(&mut self, encoder: &dyn Encoder, batch: &Arc<Batch>, rows: &[Range<usize>]) {
        match encoder.cut() {
            Boundaries::Anywhere => {
                encoder.encode(batch, rows, self);
                self.records += rows.iter().map(|rows| rows.len() as u64).sum::<u64>();
            }
            Boundaries::Every(_) => rows.iter().for_each(|rows| self.push_run(batch, rows.clone())),
            Boundaries::Chains(_) => {
                let columns = Rows::of(batch);
                for rows in rows.iter().filter(|rows| !rows.is_empty()) {
                    let first = self.records as usize;
                    // For the first record of a piece, this depends on the piece before.
                    if let Some((last, before)) = self.runs.last()
                        && !encoder.continues((&Rows::of(last), before.end - 1), (&columns, rows.start))
                    {
                        self.chains.push(first);
                    }
                    encoder.chains(&columns, rows.clone(), &mut |row| self.chains.push(first + row - rows.start));
                    self.push_run(batch, rows.clone());
                }
            }
        }
    }

    /// Adds a run of rows to those that are noted.
    fn push_run(&mut self, batch: &Arc<Batch>, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        self.records += rows.len() as u64;
        match self.runs.last_mut() {
            Some((last, run)) if run.end == rows.start && Arc::ptr_eq(last, batch) => {
                run.end = rows.end;
            }
            _ => self.runs.push((Arc::clone(batch), rows)),
        }
    }

    /// Removes the records, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.more = None;
        self.runs.clear();
        self.chains.clear();
        self.records = 0;
    }
}

/// Number of records after which a chain is cut anywhere, so that memory is limited.
const LONGEST_BLOCK: usize = 1 << 20;

/// Approximate number of bytes of a row in memory, without texts.
const ROW_LEN: usize = 64;

/// The error for an input that another program has changed.
pub(in crate::formats) fn was_changed(what: &str) -> io::Error {
    io::Error::other(format!("an input was changed before its records were written: {what}"))
}

/// Cuts records into blocks.
#[derive(Debug)]
pub(crate) struct RecordBlocks {
    encoder: &'static dyn Encoder,
    cut: Boundaries,
    /// Records that do not fill a block yet.
    waiting: RowRuns<Batch>,
    /// Records in blocks.
    records: u64,
    /// For chains: the waiting records before which they begin, as numbers in the output.
    chains: VecDeque<u64>,
    /// The last record.
    last: Option<(Arc<Batch>, usize)>,
}

impl RecordBlocks {
    /// Makes a cutter for an output of this format, if the format is made of blocks or chains.
    pub(crate) fn of(encoder: &'static dyn Encoder) -> Option<Self> {
        let cut = encoder.cut();
        (cut != Boundaries::Anywhere).then(|| Self {
            encoder,
            cut,
            waiting: RowRuns::default(),
            records: 0,
            chains: VecDeque::new(),
            last: None,
        })
    }
    /// Takes the next piece; returns the blocks that it completes.
    ///
    /// # Errors
    /// If the format cannot hold the records.
    pub(crate) fn join(&mut self, piece: Encoded) -> io::Result<Vec<RecordBlock>> {
        let before = self.records + self.waiting.len() as u64;
        if let (Boundaries::Chains(_), Some((batch, rows))) = (self.cut, piece.runs.first())
            && let Some((last, row)) = &self.last
            && !self.encoder.continues((&Rows::of(last), *row), (&Rows::of(batch), rows.start))
        {
            self.chains.push_back(before);
        }
        self.chains.extend(piece.chains.iter().map(|&place| before + place as u64));
        if let Some((batch, rows)) = piece.runs.last() {
            self.last = Some((Arc::clone(batch), rows.end - 1));
        }
        for run in piece.runs {
            self.waiting.push(run);
        }
        let mut blocks = Vec::new();
        while let Some(len) = self.complete() {
            blocks.push(self.take(len));
        }
        self.compact()?;
        Ok(blocks)
    }
    /// The number of records of the next block, if it is complete.
    fn complete(&mut self) -> Option<usize> {
        match self.cut {
            Boundaries::Anywhere => None,
            Boundaries::Every(len) => Some(len).filter(|&len| self.waiting.len() >= len),
            Boundaries::Chains(least) => {
                let next = self.chains_before(self.records + least as u64);
                let end = self.chains.get(next).map_or(usize::MAX, |&end| (end - self.records) as usize);
                let len = end.min(LONGEST_BLOCK);
                (len <= self.waiting.len()).then_some(len)
            }
        }
    }
    /// Approximate number of records of a block.
    const fn block_len(&self) -> usize {
        match self.cut {
            Boundaries::Anywhere => 0,
            Boundaries::Every(len) | Boundaries::Chains(len) => len,
        }
    }
    /// Copies the records that wait for their block if the batches that they keep alive are much larger, as happens
    /// when few records of a batch are written.
    fn compact(&mut self) -> io::Result<()> {
        let mut kept: Option<&Arc<Batch>> = None;
        let mut held = 0;
        for (batch, _) in self.waiting.iter() {
            // The last batch is not counted: a large one that was cut into blocks leaves a rest.
            if let Some(before) = kept
                && !Arc::ptr_eq(before, batch)
            {
                let packed = before.block.as_ref().map_or(0, |block| block.section.len() as u64);
                held += (before.len() * ROW_LEN) as u64 + before.text_len() + packed;
            }
            kept = Some(batch);
        }
        if held > (self.block_len() * ROW_LEN * 4) as u64 {
            let mut copy = Batch::new();
            let len = self.waiting.len();
            for (batch, rows) in self.waiting.take(len) {
                copy.extend_from(batch.unpacked().map_err(was_changed)?, rows);
            }
            self.encoder.check(self.records, &copy)?;
            let copy = Arc::new(copy);
            if let Some((last, row)) = &mut self.last {
                (*last, *row) = (Arc::clone(&copy), len - 1);
            }
            self.waiting.push((copy, 0..len));
        }
        Ok(())
    }
    /// The last block, if there are records left.
    pub(crate) fn finish(mut self) -> Option<RecordBlock> {
        let len = self.waiting.len();
        (len > 0).then(|| self.take(len))
    }
    fn take(&mut self, len: usize) -> RecordBlock {
        let first = self.records;
        self.records += len as u64;
        let count = self.chains_before(self.records);
        let chains = self.chains.drain(..count).map(|chain| (chain - first) as usize).collect();
        RecordBlock { encoder: self.encoder, first, runs: self.waiting.take(len), chains }
    }
    /// The number of chains that begin before the record with this number.
    fn chains_before(&self, record: u64) -> usize {
        self.chains.partition_point(|&chain| chain < record)
    }
}

/// The records of a block that is not encoded yet.
#[derive(Debug)]
pub(crate) struct RecordBlock {
    encoder: &'static dyn Encoder,
    first: u64,
    runs: Vec<RowRun<Batch>>,
    chains: Vec<usize>,
}

impl RecordBlock {
    /// Encodes the block in the memory of a piece that is no longer needed, or in a new one.
    ///
    /// # Errors
    /// If the format cannot hold the records.
    pub(crate) fn encode(&self, mut used: Encoded) -> io::Result<Encoded> {
        let runs = self.runs.iter().map(|(batch, rows)| (&**batch, rows.clone())).collect();
        self.encoder.block(&BlockRecords { first: self.first, runs, chains: &self.chains }, &mut used)?;
        Ok(used)
    }

    /// The batches that are not needed anywhere else.
    pub(crate) fn into_batches(self) -> impl Iterator<Item = Batch> {
        self.runs.into_iter().filter_map(|(batch, _)| Arc::into_inner(batch))
    }
}

/// Writes the finished pieces of one output, in order.
pub(crate) trait Writer: Send {
    /// Writes what comes before the first record.
    ///
    /// # Errors
    /// If writing fails.
    fn begin(&mut self, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
    /// Writes the next piece.
    ///
    /// # Errors
    /// If writing fails.
    fn put(&mut self, piece: &Encoded, out: &mut dyn io::Write) -> io::Result<()>;
    /// Writes what comes after the last record; returns what should replace the first bytes, if the
    /// output can be rewound.
    ///
    /// # Errors
    /// If writing fails.
    fn finish(&mut self, _out: &mut dyn io::Write) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// The writer of formats whose pieces are finished bytes.
#[derive(Clone, Copy, Debug)]
struct Bytewise;

impl Writer for Bytewise {
    fn put(&mut self, piece: &Encoded, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(&piece.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;

    /// Blocks contain the same records no matter how the records arrive.
    #[test]
    fn blocks_do_not_depend_on_pieces() {
        let encoder = Format::BOARDS.encoder().unwrap();
        let Boundaries::Every(len) = encoder.cut() else { panic!("boards are made of blocks") };
        let batches = [Arc::new(Batch::new()), Arc::new(Batch::new())];
        for lens in [&[0, 1, len - 1, 0, len, 2 * len, 3][..], &[3 * len + 5, 0, len], &[1; 100], &[]] {
            let mut blocks = RecordBlocks::of(encoder).unwrap();
            let mut made = Vec::new();
            let mut expected = Vec::new();
            for (at, &len) in lens.iter().enumerate() {
                let mut piece = Encoded::default();
                for rows in [0..len / 3, len / 3..len] {
                    piece.push_run(&batches[at % 2], rows);
                }
                expected.extend((0..len).map(|row| (at % 2, row)));
                made.extend(blocks.join(piece).unwrap());
            }
            assert!(made.iter().all(|block| lens_of(block) == len));
            made.extend(blocks.finish());
            assert!(made.iter().all(|block| lens_of(block) > 0));
            let mut first = 0;
            let mut records = Vec::new();
            for block in &made {
                assert_eq!(block.first, first);
                first += lens_of(block) as u64;
                for (batch, rows) in &block.runs {
                    let batch = usize::from(Arc::ptr_eq(batch, &batches[1]));
                    records.extend(rows.clone().map(|row| (batch, row)));
                }
            }
            assert_eq!(records, expected);
        }
        fn lens_of(block: &RecordBlock) -> usize {
            block.runs.iter().map(|(_, rows)| rows.len()).sum()
        }
    }
}
