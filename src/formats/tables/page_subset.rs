//! Presents some pages of a column to the library as a row group of their own.

use crate::input;
use crate::poisoned_locks::Unpoisoned;
use ::parquet::arrow::arrow_reader::RowGroups;
use ::parquet::column::page::{PageIterator, PageReader};
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::{Buf, Bytes};
use std::sync::Mutex;

/// Pages from different places, as if one followed the other.
pub(super) struct Pieces {
    /// The pages, with the place where each begins.
    pub(super) pieces: Vec<(u64, Bytes)>,
    pub(super) len: u64,
}

impl Pieces {
    pub(super) fn push(&mut self, bytes: input::Bytes) {
        let len = bytes.len() as u64;
        self.pieces.push((self.len, Bytes::from_owner(bytes)));
        self.len += len;
    }
    /// The bytes from a place to the end of its page.
    fn from(&self, place: u64) -> Option<Bytes> {
        let number = self.pieces.partition_point(|&(start, _)| start <= place);
        let (start, bytes) = self.pieces.get(number.checked_sub(1)?)?;
        let at = usize::try_from(place - start).ok()?;
        (at <= bytes.len()).then(|| bytes.slice(at..))
    }
}

fn beyond() -> ParquetError {
    ParquetError::EOF("a page is shorter than it claims".to_owned())
}

impl Length for Pieces {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Pieces {
    type T = bytes::buf::Reader<Bytes>;
    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.from(start).map(Buf::reader).ok_or_else(beyond)
    }
    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        // An empty page may end where the next one begins.
        if length == 0 {
            return Ok(Bytes::new());
        }
        let bytes = self.from(start).filter(|bytes| length <= bytes.len());
        bytes.map(|bytes| bytes.slice(..length)).ok_or_else(beyond)
    }
}

/// The pages of a column, as if they were all of a row group.
pub(super) struct OneColumn<'a> {
    pub(super) pages: Mutex<Option<Box<dyn PageReader>>>,
    pub(super) rows: usize,
    pub(super) metadata: &'a ParquetMetaData,
}

impl RowGroups for OneColumn<'_> {
    fn num_rows(&self) -> usize {
        self.rows
    }
    fn column_chunks(&self, _: usize) -> ParquetResult<Box<dyn PageIterator>> {
        let pages = self.pages.lock().unpoisoned().take();
        Ok(Box::new(Once(pages)))
    }
    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter().take(1))
    }
    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}

pub(super) struct Once(Option<Box<dyn PageReader>>);

impl Iterator for Once {
    type Item = ParquetResult<Box<dyn PageReader>>;
    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for Once {}
