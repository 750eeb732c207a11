//! Writing records: what a format that can be written provides.
//!
//! An [`Encoder`] turns rows into [`Encoded`] pieces on any thread. The pieces of text formats are finished bytes.
//! Formats made of blocks only note which records are to be written, without copying them; [`RecordBlocks`] takes the
//! pieces in order and cuts them into blocks of the same number of records, whatever the size of pieces; each
//! [`RecordBlock`] can be encoded on any thread. The [`Writer`] of an output takes finished pieces in order, and adds what
//! stands before, between and after them.

use crate::table::runs::{RowRun, RowRuns};
use crate::table::{Batch, Field, Fields};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Turns records into pieces of an output. One static value per format.
pub(crate) trait Encoder: fmt::Debug + Sync {
    /// The fields for which a written record has a place.
    fn fields(&self) -> Fields;

    /// Adds these rows of a batch to a piece: as bytes, or for a format that is made of blocks, as
    /// [runs](Encoded::push_run).
    fn encode(&self, batch: &Arc<Batch>, rows: &[Range<usize>], piece: &mut Encoded);

    /// Whether the output keeps this field of a record: because it has a place for the field, or because it says
    /// the same in another one.
    fn keeps(&self, _batch: &Batch, _row: usize, field: Field) -> bool {
        self.fields().contains(field)
    }

    /// The number of records in a block, for a format that is made of blocks.
    fn block_len(&self) -> Option<usize> {
        None
    }

    /// Encodes a block, whose first record has this number in the output, in place of what is in `block`. Formats
    /// without blocks leave it.
    ///
    /// # Errors
    /// If the format cannot hold the records.
    fn block(&self, _first: u64, _runs: &[(&Batch, Range<usize>)], _block: &mut Encoded) -> io::Result<()> {
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

/// Encoded records that are not written yet. A format uses what suits it.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    /// Finished bytes.
    pub(crate) bytes: Vec<u8>,
    /// Records of a format that is made of blocks, in order, still where they were decoded.
    pub(crate) runs: Vec<(Arc<Batch>, Range<usize>)>,
    /// Number of the records of a block.
    pub(crate) records: u64,
    /// The fields that any record of a block has.
    pub(crate) present: Fields,
}

impl Encoded {
    /// Adds a run of rows to those that are noted.
    pub(crate) fn push_run(&mut self, batch: &Arc<Batch>, rows: Range<usize>) {
        match self.runs.last_mut() {
            Some((last, run)) if run.end == rows.start && Arc::ptr_eq(last, batch) => {
                run.end = rows.end;
            }
            _ => self.runs.push((Arc::clone(batch), rows)),
        }
    }
}

/// About the number of bytes of a row in memory, without texts.
const ROW_LEN: usize = 64;

/// Cuts records into blocks.
#[derive(Debug)]
pub(crate) struct RecordBlocks {
    encoder: &'static dyn Encoder,
    block_len: usize,
    /// Records that are no whole block yet.
    waiting: RowRuns<Batch>,
    /// Records in blocks.
    records: u64,
}

impl RecordBlocks {
    /// For an output of this format, if it is made of blocks.
    pub(crate) fn of(encoder: &'static dyn Encoder) -> Option<Self> {
        Some(Self { encoder, block_len: encoder.block_len()?, waiting: RowRuns::default(), records: 0 })
    }
    /// Takes the next piece; returns the blocks that it completes.
    ///
    /// # Errors
    /// If the format cannot hold the records.
    pub(crate) fn join(&mut self, piece: Encoded) -> io::Result<Vec<RecordBlock>> {
        for run in piece.runs {
            self.waiting.push(run);
        }
        let complete = self.waiting.len() / self.block_len;
        let blocks = (0..complete).map(|_| self.take(self.block_len)).collect();
        self.compact()?;
        Ok(blocks)
    }
    /// Copies the records that wait for their block, where the batches that they keep alive are much larger: few of
    /// these may have been good.
    fn compact(&mut self) -> io::Result<()> {
        let mut kept: Option<&Arc<Batch>> = None;
        let mut held = 0;
        for (batch, _) in self.waiting.iter() {
            // The last batch is not counted: a large one that was cut into blocks leaves a rest.
            if let Some(before) = kept
                && !Arc::ptr_eq(before, batch)
            {
                held += (before.len() * ROW_LEN) as u64 + before.text_len();
            }
            kept = Some(batch);
        }
        if held > (self.block_len * ROW_LEN * 4) as u64 {
            let mut copy = Batch::new();
            let len = self.waiting.len();
            for (batch, rows) in self.waiting.take(len) {
                copy.extend_from(&batch, rows);
            }
            self.encoder.check(self.records, &copy)?;
            self.waiting.push((Arc::new(copy), 0..len));
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
        RecordBlock { encoder: self.encoder, first, runs: self.waiting.take(len) }
    }
}

/// The records of a block that is not encoded yet.
#[derive(Debug)]
pub(crate) struct RecordBlock {
    encoder: &'static dyn Encoder,
    first: u64,
    runs: Vec<RowRun<Batch>>,
}

impl RecordBlock {
    /// Encodes it in the memory of a piece that is no longer needed, or a new one.
    ///
    /// # Errors
    /// If the format cannot hold the records.
    pub(crate) fn encode(&self, mut used: Encoded) -> io::Result<Encoded> {
        let runs = self.runs.iter();
        let runs: Vec<_> = runs.map(|(batch, rows)| (&**batch, rows.clone())).collect();
        self.encoder.block(self.first, &runs, &mut used)?;
        Ok(used)
    }

    /// The batches that nothing else needs.
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

    /// Blocks have the same records however these arrive.
    #[test]
    fn blocks_do_not_depend_on_pieces() {
        let encoder = Format::BOARDS.encoder().unwrap();
        let len = encoder.block_len().unwrap();
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
