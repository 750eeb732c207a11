//! Decompression with an end: gzip and brotli, whose decoders in the library stop only where the data do.
//!
//! The library is told that such a column is not compressed, and its pages are decompressed here, up to the size that
//! was checked before.

use super::pages::Page;
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{self, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use std::collections::VecDeque;
use std::io::{self, Read};

/// Which of the two a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Brotli,
}

impl Packing {
    pub(super) fn of(compression: Compression) -> Option<Self> {
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
}

/// Pages whose content is decompressed.
pub(super) struct Unpacked<R> {
    pub(super) inner: R,
    pub(super) packing: Packing,
    /// The pages to come.
    pub(super) pages: VecDeque<Page>,
}

impl<R: PageReader> Unpacked<R> {
    fn content(&mut self, packed: &Bytes) -> Result<Bytes> {
        let page = self.pages.pop_front();
        let page = page.ok_or_else(|| ParquetError::General("one page too many".to_owned()))?;
        if !page.is_packed {
            return Ok(packed.clone());
        }
        let levels = packed.get(..page.levels as usize);
        let levels = levels.ok_or_else(|| ParquetError::EOF("a page is too short".to_owned()))?;
        let mut content = levels.to_vec();
        // A page of nothing but nulls has no values to decompress.
        if page.unpacked > page.levels {
            let most = page.unpacked - page.levels;
            self.packing
                .unpack(&packed[levels.len()..], &mut content, most + 1)?;
        }
        if content.len() as u64 != page.unpacked {
            return Err(ParquetError::General(
                "a page has another size than its header says".to_owned(),
            ));
        }
        Ok(content.into())
    }
}

impl<R: PageReader> Iterator for Unpacked<R> {
    type Item = Result<page::Page>;
    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: PageReader> PageReader for Unpacked<R> {
    fn get_next_page(&mut self) -> Result<Option<page::Page>> {
        let Some(mut page) = self.inner.get_next_page()? else {
            return Ok(None);
        };
        let (page::Page::DataPage { buf, .. }
        | page::Page::DataPageV2 { buf, .. }
        | page::Page::DictionaryPage { buf, .. }) = &mut page;
        *buf = self.content(buf)?;
        Ok(Some(page))
    }
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }
    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.pop_front();
        self.inner.skip_next_page()
    }
}
