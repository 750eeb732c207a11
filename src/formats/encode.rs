//! Writing records: what a format that can be written provides.
//!
//! Encoding has two halves. An [`Encoder`] turns rows into [`Encoded`] pieces on any thread; the [`Writer`] of an
//! output takes the pieces in order on one thread, adds what stands before, between and after them, and can be as
//! simple as copying bytes.

use crate::table::{Batch, Field, Fields};
use std::fmt;
use std::io;

/// Turns records into pieces of an output. One static value per format.
pub trait Encoder: fmt::Debug + Sync {
    /// The fields for which a written record has a place.
    fn fields(&self) -> Fields;

    /// Adds these rows of a batch to a piece.
    fn encode(&self, batch: &Batch, rows: &[usize], piece: &mut Encoded);

    /// Whether the output keeps this field of a record: because it has a place for the field, or because it says
    /// the same in another one.
    fn keeps(&self, _batch: &Batch, _row: usize, field: Field) -> bool {
        self.fields().contains(field)
    }

    /// Begins an output.
    fn writer(&self) -> Box<dyn Writer> {
        Box::new(Bytewise)
    }
}

/// Encoded records that are not written yet. A format uses the field that suits it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Encoded {
    /// Finished bytes.
    pub bytes: Vec<u8>,
    /// Records that are combined with those of other pieces.
    pub batch: Batch,
}

/// Writes the pieces of one output, in order.
pub trait Writer: Send {
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
    /// If writing fails, or the format cannot hold the records.
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
