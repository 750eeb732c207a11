//! Gives random access to records, through the index at the end.

use super::block::read_block;
use super::column::ColumnInfo;
use super::header::read_header;
use super::section::{Kind, SectionHeader, u64_at};
use super::{Checksum, UNIT, UNKNOWN, VERSION};
use crate::error::{Damage, Error};
use crate::input::{Access, Bytes, Input, Source};
use crate::table::{Batch, Fields};
use std::path::Path;
use std::sync::Arc;

/// A boards file with random access, through its index.
#[derive(Debug)]
pub struct BoardsFile {
    path: Arc<Path>,
    bytes: Bytes,
    header: SectionHeader,
    columns: Vec<ColumnInfo>,
    places: Bytes,
    records: u64,
}

/// Fails if a mapped file has become shorter: the data read from it may be zeros.
fn not_cut(path: &Arc<Path>, bytes: &Bytes) -> Result<(), Error> {
    bytes.check().map_err(|source| Error::Read { path: Arc::clone(path), offset: 0, source })
}

impl BoardsFile {
    /// Opens a file: header, index and end are checked, blocks are not yet.
    ///
    /// # Errors
    /// If the file cannot be read, is compressed, or is damaged in those parts.
    pub fn open(path: &Arc<Path>) -> Result<Self, Error> {
        Self::open_with(path, Access::default())
    }

    /// Like [`BoardsFile::open`]; without a map, the whole file is read into memory.
    ///
    /// # Errors
    /// As [`BoardsFile::open`].
    pub fn open_with(path: &Arc<Path>, access: Access) -> Result<Self, Error> {
        let mut input = Input::open(&Source::from(Arc::clone(path)), access, Arc::default())?;
        let mut bytes: Bytes = Vec::new().into();
        if input.is_mapped() {
            if let Some(mapped) = input.next_bytes()? {
                bytes = mapped;
            }
        } else {
            let mut all = Vec::new();
            while let Some(piece) = input.next_bytes()? {
                all.extend_from_slice(&piece);
            }
            bytes = all.into();
        }
        let opened = Self::new(path, bytes.clone());
        not_cut(path, &bytes)?;
        opened.map_err(|damage| Error::Damaged { path: Arc::clone(path), damage })
    }

    fn new(path: &Arc<Path>, bytes: Bytes) -> Result<Self, Damage> {
        let damaged = |offset: u64, what: String| Damage::at(offset, what);
        let section = |at: u64, kind: Kind| {
            let rest = usize::try_from(at)
                .ok()
                .and_then(|at| bytes.get(at..))
                .ok_or_else(|| damaged(at, "the file is truncated".to_owned()))?;
            let header = SectionHeader::read(rest).map_err(|what| damaged(at, what.to_owned()))?;
            if header.kind != kind || header.len > rest.len() as u64 {
                return Err(damaged(at, format!("expected {kind:?} here").to_lowercase()));
            }
            let rest = &rest[UNIT..header.len as usize];
            if Checksum::of(rest) != header.checksum {
                return Err(damaged(at, "a section does not match its checksum".to_owned()));
            }
            Ok((header, at as usize + UNIT..at as usize + header.len as usize))
        };
        let (header, rest) = section(0, Kind::Header)?;
        let (major, minor) = header.version();
        if major != VERSION.0 {
            let what = format!("version {major}.{minor} of the format; this program reads version {}", VERSION.0);
            return Err(damaged(0, what));
        }
        let columns = read_header(&bytes[..rest.end], &header).map_err(|what| damaged(0, what))?;
        let last = (bytes.len() as u64).saturating_sub(UNIT as u64);
        let (end, _) = section(last, Kind::End)?;
        let (index, places) = section(end.extra, Kind::Index)?;
        let records = end.total;
        let promised = if header.total == UNKNOWN { records } else { header.total };
        if [end.first, promised] != [records; 2] {
            let what = "header and end differ in the number of records";
            return Err(damaged(last, what.to_owned()));
        }
        let blocks = records.div_ceil(header.block_len().into());
        if index.first != records || u64::from(index.count) != blocks {
            let what = "the index does not match the number of records of the file";
            return Err(damaged(end.extra, what.to_owned()));
        }
        Ok(Self { path: Arc::clone(path), places: bytes.slice(places), bytes, header, columns, records })
    }

    /// Number of records.
    pub fn len(&self) -> u64 {
        self.records
    }
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }
    /// Version of the format, major and minor.
    pub fn version(&self) -> (u16, u16) {
        self.header.version()
    }
    /// Records of a full block.
    pub fn block_len(&self) -> u32 {
        self.header.block_len()
    }
    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.records.div_ceil(self.block_len().into())
    }
    /// The columns that the header lists.
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// Reads a block with all its columns.
    ///
    /// # Errors
    /// If the block is damaged or there is no such block.
    pub fn block(&self, block: u64) -> Result<Batch, Error> {
        let read = self.read(block);
        not_cut(&self.path, &self.bytes)?;
        read
    }

    fn read(&self, block: u64) -> Result<Batch, Error> {
        let failed =
            |offset: u64, what: &str| Error::Damaged { path: Arc::clone(&self.path), damage: Damage::at(offset, what) };
        if block >= self.blocks() {
            return Err(failed(self.bytes.len() as u64, "no such block"));
        }
        let at = u64_at(&self.places, 8 * block as usize);
        let rest = usize::try_from(at)
            .ok()
            .and_then(|at| self.bytes.get(at..))
            .ok_or_else(|| failed(at, "the index points beyond the file"))?;
        let header = SectionHeader::read(rest).map_err(|what| failed(at, what))?;
        if header.kind != Kind::Block || header.len > rest.len() as u64 {
            return Err(failed(at, "no block where the index has one"));
        }
        let first = block * u64::from(self.block_len());
        let count = (self.records - first).min(self.block_len().into());
        if header.first != first || u64::from(header.count) != count {
            return Err(failed(at, "not the block that was expected here"));
        }
        let section = self.bytes.slice(at as usize..at as usize + header.len as usize);
        if Checksum::of(&section[UNIT..]) != header.checksum {
            return Err(failed(at, "the block does not match its checksum"));
        }
        let mut batch = read_block(&section, &header, Fields::ALL).map_err(|what| failed(at, &what))?;
        batch.first_index = header.first;
        Ok(batch)
    }

    /// Reads a record, as a batch of one with all its columns, or `None` beyond the last.
    ///
    /// # Errors
    /// If its block is damaged.
    pub fn record(&self, record: u64) -> Result<Option<Batch>, Error> {
        if record >= self.records {
            return Ok(None);
        }
        let block_len = u64::from(self.block_len());
        let batch = self.block(record / block_len)?;
        let row = (record % block_len) as u32;
        let record = (u64::from(row) < batch.len() as u64).then(|| batch.select(&[row]));
        // The boards of the block were still in the map of the file.
        not_cut(&self.path, &self.bytes)?;
        Ok(record)
    }
}
