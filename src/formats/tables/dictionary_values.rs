//! The values of an Arrow dictionary, which may come in many pieces.
//!
//! A batch refers to values by number. More values may come between batches, and the numbers of a batch refer to those
//! that came before it. To read every piece only once, however many there are, pieces are not joined: they are a list
//! that grows at its end, and each batch knows how long the list was. A piece is decoded where it is first needed.

use super::ipc_messages::{Located, content, message};
use super::panic_guard::guarded;
use crate::formats::codec::memory_budget::Charge;
use crate::input::RandomAccess;
use crate::poisoned_locks::Unpoisoned;
use arrow_array::{Array as _, ArrayRef};
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::RecordBatchDecoder;
use arrow_schema::{ArrowError, SchemaRef};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// Lists of pieces, each twice as long as the one before.
const LISTS: usize = 32;

/// A dictionary.
pub(super) struct DictionaryValues {
    pub(super) source: Arc<RandomAccess>,
    pub(super) version: MetadataVersion,
    /// One column: the values.
    pub(super) schema: SchemaRef,
    lists: [OnceLock<Box<[OnceLock<Piece>]>>; LISTS],
    decoded: Mutex<Decoded>,
}

impl fmt::Debug for DictionaryValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DictionaryValues").field(&self.schema).finish()
    }
}

/// The number of pieces that have been decoded, and the reason why there are no more.
#[derive(Debug, Default)]
struct Decoded {
    pieces: usize,
    failed: Option<String>,
}

/// Values that came in one message.
struct Piece {
    at: Located,
    /// The number of its first value, and how many values it has.
    first: u64,
    len: u64,
    values: OnceLock<ArrayRef>,
    _charge: Arc<Charge>,
}

/// The place of a piece: its list, and its index there.
fn place(number: usize) -> (usize, usize) {
    let list = (number + 1).ilog2() as usize;
    (list, number + 1 - (1 << list))
}

impl DictionaryValues {
    pub(super) fn new(source: Arc<RandomAccess>, version: MetadataVersion, schema: SchemaRef) -> Self {
        Self { source, version, schema, lists: [const { OnceLock::new() }; LISTS], decoded: Mutex::default() }
    }

    /// Adds a piece. Its number is the number of pieces before it, and the number of its first value is the number of
    /// values before it.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn add(
        &self,
        (number, first): (usize, u64),
        at: Located,
        len: u64,
        charge: Arc<Charge>,
    ) -> Result<(), String> {
        let (list, slot) = place(number);
        let slots = 1usize << list.min(LISTS);
        let list = self
            .lists
            .get(list)
            .ok_or("it has too many pieces")?
            .get_or_init(|| (0..slots).map(|_| OnceLock::new()).collect());
        let piece = Piece { at, first, len, values: OnceLock::new(), _charge: charge };
        let slot = list.get(slot).ok_or("it has too many pieces")?;
        slot.set(piece).map_err(|_| "a piece comes twice".to_owned())
    }

    fn piece(&self, number: usize) -> Option<&Piece> {
        let (list, at) = place(number);
        self.lists.get(list)?.get()?.get(at)?.get()
    }

    /// Decodes the first pieces.
    ///
    /// # Errors
    /// With the number of a piece, if it is damaged.
    pub(super) fn decode(&self, pieces: usize) -> Result<(), (usize, String)> {
        let mut decoded = self.decoded.lock().unpoisoned();
        while decoded.pieces < pieces {
            let number = decoded.pieces;
            if decoded.failed.is_none() {
                decoded.failed = self.decode_piece(number).err();
            }
            match &decoded.failed {
                Some(what) => return Err((number, what.clone())),
                None => decoded.pieces += 1,
            }
        }
        Ok(())
    }

    fn decode_piece(&self, number: usize) -> Result<(), String> {
        let piece = self.piece(number).ok_or("a piece is missing")?;
        let (head, body) = content(&self.source, piece.at)?;
        let message = message(&head)?;
        let batch =
            message.header_as_dictionary_batch().and_then(|batch| batch.data()).ok_or("a dictionary is missing")?;
        let values = guarded(|| {
            let (schema, none) = (Arc::clone(&self.schema), HashMap::new());
            let decoder = RecordBatchDecoder::try_new(&body, batch, schema, &none, &self.version)?;
            let batch = decoder.read_record_batch()?;
            let values = batch.columns().first().cloned();
            values.ok_or_else(|| ArrowError::IpcError("it has no values".to_owned()))
        })?;
        if values.len() as u64 != piece.len {
            return Err(format!("{} values of {}", values.len(), piece.len));
        }
        piece.values.set(values).map_err(|_| "it comes twice".to_owned())
    }

    /// A value, among those of the first pieces, which have been decoded: an array, and the place in it.
    fn find(&self, number: u64, pieces: usize) -> Option<(&ArrayRef, usize)> {
        let (mut from, mut to) = (0, pieces);
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.piece(middle)?.first <= number {
                from = middle;
            } else {
                to = middle;
            }
        }
        let piece = self.piece(from)?;
        let at = number.checked_sub(piece.first).filter(|&at| at < piece.len)?;
        Some((piece.values.get()?, at as usize))
    }
}

/// The values of a dictionary that a batch may use.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) words: Arc<DictionaryValues>,
    pub(super) pieces: usize,
    /// Number of values.
    pub(super) len: u64,
}

impl Known {
    /// The array with a value, and the place in it.
    pub(super) fn get(&self, number: u64) -> Option<(&ArrayRef, usize)> {
        if number < self.len { self.words.find(number, self.pieces) } else { None }
    }
    /// The array with all values, if there is just one.
    pub(super) fn whole(&self) -> Option<&ArrayRef> {
        match self.pieces {
            1 => self.words.piece(0)?.values.get(),
            _ => None,
        }
    }
}

/// Rows of a column: an array of values, or of numbers of values in a dictionary.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) array: ArrayRef,
    pub(super) words: Option<Known>,
}

impl Column {
    pub(super) fn len(&self) -> usize {
        self.array.len()
    }
}

impl From<ArrayRef> for Column {
    fn from(array: ArrayRef) -> Self {
        Self { array, words: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_places() {
        let places: Vec<_> = (0..7).map(place).collect();
        assert_eq!(places, [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3)]);
    }
}
