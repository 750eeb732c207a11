//! Unpacks pages one by one, checks them, and hands them to the library.
//!
//! The library does not limit the size to which it unpacks gzip and brotli. So such a column is presented to it as not
//! compressed, and its pages are decompressed here, up to the size that was checked before.

use super::page_checks::{self, Written};
use super::page_subset::Pieces;
use super::panic_guard::guarded;
use super::parquet_page_headers::Page;
use crate::input;
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{self, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::serialized_reader::SerializedPageReader;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;

/// The compression of a column that is unpacked here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Brotli,
}

impl Packing {
    fn of(compression: Compression) -> Option<Self> {
        match compression {
            Compression::GZIP(_) => Some(Self::Gzip),
            Compression::BROTLI(_) => Some(Self::Brotli),
            _ => None,
        }
    }

    fn unpack(self, packed: &[u8], unpacked: &mut Vec<u8>, most: u64) -> io::Result<()> {
        let read: &mut dyn Read = match self {
            Self::Gzip => &mut flate2::read::MultiGzDecoder::new(packed),
            Self::Brotli => &mut brotli::Decompressor::new(packed, 64 << 10),
        };
        read.take(most).read_to_end(unpacked).map(drop)
    }

    fn content(self, page: &Page, packed: &Bytes) -> Result<Bytes, String> {
        if !page.is_packed {
            return Ok(packed.clone());
        }
        let levels = packed.get(..page.levels as usize).ok_or("it is too short")?;
        let mut content = levels.to_vec();
        // A page of nothing but nulls has no values to decompress.
        if page.unpacked > page.levels {
            let most = page.unpacked - page.levels;
            self.unpack(&packed[levels.len()..], &mut content, most + 1).map_err(|error| error.to_string())?;
        }
        if content.len() as u64 == page.unpacked {
            Ok(content.into())
        } else {
            Err("it has another size than its header says".to_owned())
        }
    }
}

/// A page that has been unpacked and checked.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) page: page::Page,
    /// Length of the longest value, if values are derived from those before.
    pub(super) longest: u64,
}

impl Ready {
    /// Unpacks a page of a column.
    ///
    /// # Errors
    /// If it is damaged.
    pub(super) fn of(
        page: &Page,
        bytes: input::Bytes,
        column: &ColumnChunkMetaData,
        written: Written,
    ) -> Result<Self, String> {
        let ready = Self::without_rows(page, bytes, column, written)?;
        if written.is_list && !page.is_dictionary && written.rows_of_lists(&ready.page)? != (page.rows, page.continues)
        {
            return Err(format!("the page at byte {}: it has another number of rows than its header says", page.place));
        }
        Ok(ready)
    }

    /// The same, but the number of its rows is not compared.
    ///
    /// # Errors
    /// If it is damaged.
    pub(super) fn without_rows(
        page: &Page,
        bytes: input::Bytes,
        column: &ColumnChunkMetaData,
        written: Written,
    ) -> Result<Self, String> {
        let unpack = || {
            let mut pieces = Pieces { pieces: Vec::with_capacity(1), len: 0 };
            pieces.push(bytes);
            let packing = Packing::of(column.compression());
            let len = pieces.len as i64;
            let mut found = guarded(|| {
                let mut column = column
                    .clone()
                    .into_builder()
                    .set_dictionary_page_offset(None)
                    .set_data_page_offset(0)
                    .set_total_compressed_size(len);
                if packing.is_some() {
                    column = column.set_compression(Compression::UNCOMPRESSED);
                }
                let (pieces, column) = (Arc::new(pieces), column.build()?);
                // With its place, the library takes the page as it lies in memory instead of reading it into a buffer.
                let compressed_page_size = i32::try_from(len)?;
                let place = PageLocation { offset: 0, compressed_page_size, first_row_index: 0 };
                SerializedPageReader::new(pieces, &column, page.rows as usize, Some(vec![place]))?.get_next_page()
            })?
            .ok_or("there is none")?;
            if u64::from(found.num_values()) != page.values {
                return Err("it has another number of values than its header says".to_owned());
            }
            if let Some(packing) = packing {
                let (page::Page::DataPage { buf, .. }
                | page::Page::DataPageV2 { buf, .. }
                | page::Page::DictionaryPage { buf, .. }) = &mut found;
                *buf = packing.content(page, buf)?;
            }
            let longest = page_checks::check(&found, written)?;
            Ok(Self { page: found, longest })
        };
        unpack().map_err(|what: String| format!("the page at byte {}: {what}", page.place))
    }
}

/// Pages of a column, one after the other, unpacked when they are needed.
pub(super) struct Queue<F> {
    pub(super) pages: VecDeque<Page>,
    /// Whether rows are lists, which may go on in the next page.
    pub(super) are_lists: bool,
    pub(super) unpack: F,
}

impl<F: Fn(&Page) -> Result<Ready, String>> Iterator for Queue<F> {
    type Item = ParquetResult<page::Page>;
    fn next(&mut self) -> Option<Self::Item> {
        let page = self.pages.pop_front()?;
        let ready = (self.unpack)(&page);
        Some(ready.map(|ready| ready.page).map_err(ParquetError::General))
    }
}

impl<F: Fn(&Page) -> Result<Ready, String> + Send> PageReader for Queue<F> {
    fn get_next_page(&mut self) -> ParquetResult<Option<page::Page>> {
        self.next().transpose()
    }
    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        Ok(self.pages.front().map(|page| PageMetadata {
            num_rows: (!page.is_dictionary && !self.are_lists).then_some(page.rows as usize),
            num_levels: (!page.is_dictionary).then_some(page.values as usize),
            is_dict: page.is_dictionary,
        }))
    }
    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.pages.pop_front();
        Ok(())
    }
}
