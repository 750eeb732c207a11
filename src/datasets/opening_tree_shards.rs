//! Parts of an opening tree: the sums of a shard, from which [`OpeningTree::merge`](super::OpeningTree::merge) makes what one
//! run would have made.
//!
//! | bytes | |
//! | --- | --- |
//! | 8 | magic `\x89LFTREE\n` |
//! | 4, 4, 4, 4 | version (1), number of the shard, number of shards, length of the options |
//! | | the options of the run, as text: parts of other options are not put together |
//! | 136 each | the rows, sorted by key, position and move |
//! | 8, 8, 8 | 1 if a game of Chess960 is among them, number of rows, and the checksum of everything before it |
//!
//! Numbers are little-endian, in files as in memory: other machines are not supported by the packed formats either.

use super::opening_tree_rows::TreeRow;
use crate::canonical::fold;
use crate::error::{Damage, Error};
use crate::pipeline::Shard;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;

const MAGIC: [u8; 8] = *b"\x89LFTREE\n";
const VERSION: u32 = 1;
/// The longest options.
const MOST_OPTIONS: u32 = 1 << 20;
const ROW: usize = size_of::<TreeRow>();

/// A checksum of words.
#[derive(Clone, Copy, Debug, Default)]
struct Sum(u64);

impl Sum {
    /// Adds bytes, the last of which are filled up with zeros.
    fn add(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut filled = [0; 8];
            filled[..word.len()].copy_from_slice(word);
            self.0 = fold(self.0 ^ u64::from_le_bytes(filled) ^ 0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93);
        }
    }
}

/// A part that is being written.
#[derive(Debug)]
pub(super) struct PartWriter<W> {
    out: W,
    sum: Sum,
    rows: u64,
}

impl<W: Write> PartWriter<W> {
    pub(super) fn begin(mut out: W, shard: Option<Shard>, options: &str) -> io::Result<Self> {
        let (number, count) = shard.map_or((0, 1), |shard| (shard.index(), shard.count()));
        let mut head = MAGIC.to_vec();
        for word in [VERSION, number, count, options.len() as u32] {
            head.extend_from_slice(&word.to_le_bytes());
        }
        head.extend_from_slice(options.as_bytes());
        let mut sum = Sum::default();
        sum.add(&head);
        out.write_all(&head)?;
        Ok(Self { out, sum, rows: 0 })
    }
    pub(super) fn put(&mut self, rows: &[TreeRow]) -> io::Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(rows);
        self.sum.add(bytes);
        self.rows += rows.len() as u64;
        self.out.write_all(bytes)
    }
    pub(super) fn finish(mut self, has_chess960: bool) -> io::Result<u64> {
        let end = [u64::from(has_chess960), self.rows];
        let end: Vec<u8> = end.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.sum.add(&end);
        self.out.write_all(&end)?;
        self.out.write_all(&self.sum.0.to_le_bytes())?;
        self.out.flush()?;
        Ok(self.rows)
    }
}

/// A part that is being read.
#[derive(Debug)]
pub(super) struct PartReader {
    pub(super) path: Arc<Path>,
    file: BufReader<File>,
    sum: Sum,
    rows: u64,
    left: u64,
    /// Whether a game of Chess960 is among the games; known at the end.
    pub(super) has_chess960: bool,
    pub(super) shard: (u32, u32),
    pub(super) options: String,
}

impl PartReader {
    /// Opens a part, and reads its beginning.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let path: Arc<Path> = path.into();
        let failed = |source| Error::Open { path: Arc::clone(&path), source };
        let file = File::open(&path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let damaged = |what: &str| Error::Damaged { path: Arc::clone(&path), damage: Damage::at(0, what.to_owned()) };
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut head = [0; 24];
        if file.read_exact(&mut head).is_err() || head[..8] != MAGIC {
            return Err(damaged("not a part of a tree, which `lanefish tree -o x.tree` writes"));
        }
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let [version, number, count, options_len] = [8, 12, 16, 20].map(word);
        if version != VERSION {
            return Err(damaged(&format!(
                "version {version} of the parts of trees; this program reads version {VERSION}"
            )));
        }
        let around = 24 + u64::from(options_len) + 24;
        let rows =
            len.checked_sub(around).filter(|rows| options_len <= MOST_OPTIONS && rows.is_multiple_of(ROW as u64));
        let Some(rows) = rows else { return Err(damaged("the part is truncated")) };
        let mut options = vec![0; options_len as usize];
        file.read_exact(&mut options).map_err(failed)?;
        let mut sum = Sum::default();
        sum.add(&[&head[..], &options].concat());
        let options = String::from_utf8(options).map_err(|_| damaged("the options are not text"))?;
        let rows = rows / ROW as u64;
        Ok(Self { path, file, sum, rows, left: rows, has_chess960: false, shard: (number, count), options })
    }

    /// The next rows; none at the end, where the checksum is compared.
    pub(super) fn next(&mut self, most: usize) -> Result<Vec<TreeRow>, Error> {
        let path = &self.path;
        let failed = |source| Error::Read { path: Arc::clone(path), offset: 0, source };
        if self.left == 0 {
            let mut end = [0; 24];
            self.file.read_exact(&mut end).map_err(failed)?;
            self.sum.add(&end[..16]);
            self.has_chess960 = end[0] != 0;
            if end[8..16] != self.rows.to_le_bytes() || end[16..] != self.sum.0.to_le_bytes() {
                let damage = Damage::at(0, "the part does not match its checksum".to_owned());
                return Err(Error::Damaged { path: Arc::clone(path), damage });
            }
            return Ok(Vec::new());
        }
        let count = (self.left as usize).min(most);
        let mut bytes = vec![0; count * ROW];
        self.file.read_exact(&mut bytes).map_err(failed)?;
        self.sum.add(&bytes);
        self.left -= count as u64;
        Ok(bytes.chunks_exact(ROW).map(bytemuck::pod_read_unaligned).collect())
    }
}
