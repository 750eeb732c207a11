//! Boards files: packed, mapped, in the layout of the lanes.
//!
//! A file is a sequence of *sections*, each a multiple of 64 bytes long and each with checksums of its own: a
//! header, blocks of records, an index, an end section. It can be written in one pass without knowing the number
//! of records, read in one pass from a pipe, and used in place when it is mapped: the boards of a
//! block are an array of [`Group`](crate::packed::Group)s as the kernels load them. All numbers are little-endian.
//!
//! ## Section header (64 bytes)
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 8 | magic number: `89 4C 46 42 0D 0A 1A 0A` header, `LFBBLOCK`, `LFBINDEX`, `LFBEND\r\n` |
//! | 8 | 8 | length of the section with this header, a multiple of 64; of a block at most 2^28 |
//! | 16 | 8 | number of records before this section |
//! | 24 | 4 | block: its records; index: its blocks; else 0 |
//! | 28 | 4 | header, block: its columns; else 0 |
//! | 32 | 8 | header: version major (2), minor (2), records in a block (4); end: where the index begins; else 0 |
//! | 40 | 8 | header: records of the file, all ones if unknown; end: records of the file; else 0 |
//! | 48 | 8 | checksum of the rest of the section |
//! | 56 | 8 | checksum of the 56 bytes before |
//!
//! ## Header section (2048 bytes; 1024 before version 1.4)
//! After the section header there is one entry of 32 bytes for each column, at most 62 (30), then zeros.
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 2 | the column's id |
//! | 2 | 1 | its type: 0 groups, 1 u8, 2 i16, 3 u16, 4 u32, 5 u64, 6 text |
//! | 3 | 5 | 0 |
//! | 8 | 24 | its name, padded with zeros |
//!
//! Ids: 0 the boards, 1 the halfmove clocks, 2 the fullmove numbers, 3 scores of any size; 16 and up the fields of a
//! batch in their order, [`Field::ALL`](crate::table::Field::ALL). The type of an id never changes. A file written to
//! a pipe lists all columns that could occur; any other file lists those that did.
//!
//! ## Block section
//! After the section header there is a directory entry of 32 bytes for each column, then zeros up to a multiple of 64,
//! then the columns in any order, each padded with zeros to a multiple of 64, and without gaps. All blocks but the last
//! have the same number of records (given in the header, at most 2^20; 4096 when written by lanefish).
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 2 | the column's id |
//! | 2 | 1 | its type |
//! | 3 | 1 | 0: every row has a value; 1: a bitmap of the rows that have one comes first |
//! | 4 | 4 | 0 |
//! | 8 | 8 | where the column begins in the section |
//! | 16 | 8 | its bytes, without the padding |
//! | 24 | 8 | 0 |
//!
//! - *Groups*: eight boards each, in 256 bytes, see [`crate::packed`]. Lanes after the last record are zero.
//! - *Numbers*: one per row, 0 if it has none.
//! - *Text*: number of different texts (4), 0 (4), the end of each of them (4 each), the text of each row (2
//!   each, 0 if it has none), the texts.
//! - The *bitmap* is words of 64 bits, row 0 in bit 0.
//!
//! Readers skip columns with unknown ids; a later minor version may have them. Another
//! major version is refused.
//!
//! ## Versions
//!
//! | version | difference |
//! | --- | --- |
//! | 1.0 | mates are among the scores, as 32,000 minus the number of moves, negative if Black mates |
//! | 1.1 | mates are a field of their own, id 30, and scores are at most 31,000 |
//! | 1.2 | ids 31 to 36: players, termination, and id, rating and themes of puzzles |
//! | 1.3 | ids 37 to 41: depth and thousands of nodes of evaluations; popularity, number of plays and rating deviation of puzzles; id 42: the en passant square that only the key depends on; bit 12 of castling moves in games of Chess960 |
//! | 1.4 | a score may be the sentinel 32,002 or -32,002 of training data: the record has none that is to be used; id 43: how often the record occurred; id 3: scores of any size, which a block has in place of id 16 where some score is neither at most 31,000 nor a sentinel; the header is larger |
//!
//! In the column with id 16, a score beyond 31,000 is read as a mate in any version, unless it is the sentinel.
//!
//! ## What counts as damage
//!
//! A checksum shows that a section is as it was written, not that it was written correctly. In a
//! section whose checksum matches, the following also counts as damage. Every reader checks all of it, even in
//! columns that it does not use, before it relies on anything or allocates memory for it.
//!
//! - A section whose length is not a multiple of 64, does not match its kind and count (header 1024 or 2048, index
//!   64 and 8 for each block, end 64), or is larger than a block may be.
//! - In the header: records before it or in it; blocks of no records or of more than 2^20; more
//!   columns than it can list (62, or 30 in 1024 bytes); an id twice; a known id with another type; a name that is
//!   empty, not UTF-8, or has control characters.
//! - In a block: no records, more than 2^20, or more than the header has in a block; more than 62 columns, an id
//!   twice, a known id with another type; no boards or no clocks, or some of them missing; a column that does
//!   not begin where the directory or the column before it ends (one that overlaps another, for instance), ends
//!   beyond the block, or does not have the length that its type and the number of records require; bytes at the end
//!   that belong to no column.
//! - In a column: a bitmap flag other than 0 and 1; bits of the bitmap, or boards, after the last record; a
//!   result above 2, an en passant square on another rank than 3 and 6, a move that
//!   [`Move::from_bits`](crate::chess::Move::from_bits) does not know, in the column with id 16 a score beyond 32,000
//!   that is not the sentinel; more texts than records; ends of texts that go back, are within a character, or leave
//!   bytes over; texts that are not UTF-8; a row with a text that does not exist.
//! - In the file: no header or a second one, blocks that are missing, duplicated or out of order, a block after
//!   one that is not full, an index that does not match the blocks, counts that differ between header, blocks,
//!   index and end, anything after the end, or no end.
//!
//! Not checked: bytes that are 0 in the tables above, padding, the numbers of rows that have none, the order
//! of texts, and texts that no row has. The validity of a board as a position is checked like that of any other
//! record. Texts may hold any characters; programs that show them must replace control characters.
//!
//! ## Index and end
//!
//! The index has the place of every block in the file, 8 bytes each. The end section has the place of the
//! index. So record *n* is found from the end of the file in three reads.
//!
//! ## Checksum
//!
//! The bytes, padded with zeros to a multiple of 64, are taken as rows of eight 64-bit words. Each of the
//! eight lanes keeps a sum *a* of its words and a sum *b* of all values of *a*, modulo 2^64 (Fletcher's
//! scheme, wide). The eight *a*, the eight *b* and the number of rows are then hashed into one word. Any
//! change within one word changes its *a*, so a flipped bit is always detected before hashing; exchanged
//! words change *b*. Two additions per word are all that can be afforded: a CRC with carry-less multiplication
//! costs as much as counting the moves.
//!
//! ## A file, byte by byte
//!
//! Three positions with scores (the second has none) and places; lines of zeros are omitted. The start
//! position, after 1. e4, and a rook ending. The file is `tests/golden/three.boards`.
//!
//! ```text
//! 0000  89 4C 46 42 0D 0A 1A 0A  00 08 00 00 00 00 00 00  header section; 2048 bytes
//! 0010  00 00 00 00 00 00 00 00  00 00 00 00 05 00 00 00  no record before it; 5 columns
//! 0020  01 00 04 00 00 10 00 00  03 00 00 00 00 00 00 00  version 1.4, 4096 a block; 3 records
//! 0030  F0 60 C5 5E F4 B7 58 19  9A B4 44 0D 42 65 2F DE  checksums: rest of the section; this header
//! 0040  00 00 00 00 00 00 00 00  62 6F 61 72 64 73 00 00  column 0: groups, "boards"
//! 0060  01 00 03 00 00 00 00 00  68 61 6C 66 6D 6F 76 65  column 1: u16, "halfmove"
//! 0080  02 00 03 00 00 00 00 00  66 75 6C 6C 6D 6F 76 65  column 2: u16, "fullmove"
//! 00A0  10 00 02 00 00 00 00 00  73 63 6F 72 65 00 00 00  column 16: i16, "score"
//! 00C0  1C 00 06 00 00 00 00 00  73 69 74 65 00 00 00 00  column 28: text, "site"
//!
//! 0800  4C 46 42 42 4C 4F 43 4B  00 03 00 00 00 00 00 00  block section; 768 bytes
//! 0810  00 00 00 00 00 00 00 00  03 00 00 00 05 00 00 00  first record 0; 3 records, 5 columns
//! 0830  E4 C2 CD 99 EC 29 49 95  38 9C 53 EA E9 72 6F 8D  checksums
//! 0840  00 00 00 00 00 00 00 00  00 01 00 00 00 00 00 00  column 0, groups, all rows; begins at 0x100
//! 0850  00 01 00 00 00 00 00 00  00 00 00 00 00 00 00 00  256 bytes
//! 0860  01 00 03 00 00 00 00 00  00 02 00 00 00 00 00 00  column 1, u16, all rows; begins at 0x200
//! 0870  06 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  6 bytes
//! 0880  02 00 03 00 00 00 00 00  40 02 00 00 00 00 00 00  column 2
//! 0890  06 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 08A0  10 00 02 01 00 00 00 00  80 02 00 00 00 00 00 00  column 16, i16, with a bitmap
//! 08B0  0E 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  14 bytes
//! 08C0  1C 00 06 00 00 00 00 00  C0 02 00 00 00 00 00 00  column 28, text
//! 08D0  1F 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  31 bytes
//! 0900  00 00 00 00 00 00 FF FF  00 10 00 00 00 00 FF FF  colour plane of boards 0 and 1: Black's pieces,
//!                                                         and a bit on e2: Black is to move
//! 0910  00 00 00 00 00 00 00 10  00 00 00 00 00 00 00 00  board 2: the king on e8; then five empty boards
//! 0940  AD FF 00 00 00 00 FF AD  AD EF 00 10 00 00 FF AD  type bit 0: pawns, bishops, queens, castling rooks
//! 0950  80 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0980  F7 00 00 00 00 00 00 F7  F7 00 00 00 00 00 00 F7  type bit 1: knights, bishops, kings, castling rooks
//! 0990  90 00 00 00 00 00 00 10  00 00 00 00 00 00 00 00
//! 09C0  99 00 00 00 00 00 00 99  99 00 00 00 00 00 00 99  type bit 2: rooks, queens, kings
//! 09D0  90 00 00 00 00 00 00 10  00 00 00 00 00 00 00 00
//! 0A00  00 00 00 00 09 00                                 halfmove clocks 0, 0, 9
//! 0A40  01 00 01 00 28 00                                 fullmove numbers 1, 1, 40
//! 0A80  05 00 00 00 00 00 00 00  14 00 00 00 FB FF        rows 0 and 2 have scores: 20, -5
//! 0AC0  02 00 00 00 00 00 00 00  05 00 00 00 09 00 00 00  2 texts, which end after 5 and 9 bytes
//! 0AD0  00 00 00 00 01 00        50 61 72 69 73 4F 73 6C 6F  rows: text 0, 0, 1; "ParisOslo"
//!
//! 0B00  4C 46 42 49 4E 44 45 58  80 00 00 00 00 00 00 00  index section; 128 bytes
//! 0B10  03 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00  3 records before it; 1 block
//! 0B30  96 99 F3 06 D6 BB 92 C2  D4 81 50 A8 ED DD EC 15  checksums
//! 0B40  00 08 00 00 00 00 00 00                           the block begins at 0x800
//!
//! 0B80  4C 46 42 45 4E 44 0D 0A  40 00 00 00 00 00 00 00  end mark; 64 bytes
//! 0B90  03 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  3 records before it
//! 0BA0  00 0B 00 00 00 00 00 00  03 00 00 00 00 00 00 00  the index begins at 0xB00; 3 records
//! 0BB0  B0 48 AC CA D3 F0 D6 B8  E8 61 56 A9 C2 90 A2 73  checksums
//! ```

mod block;
mod checksum;
pub(super) mod column;
mod gather_boards;
mod header;
mod random_access;
mod section;
mod section_order;
mod seek;
#[cfg(test)]
mod tests;
mod write;

pub use checksum::Checksum;
pub use column::ColumnInfo;
pub use random_access::BoardsFile;
pub use write::{BoardsWriter, Finished};

use super::codec::conversion_losses::Refuse;
use super::codec::dropped_values::{DroppedKind, DroppedValue};
use super::codec::encode::{BlockRecords, Boundaries, Encoded, Encoder, Writer, was_changed};
use super::codec::layout::{Entry, ReadAt, Requested, RequestedSections, Sections};
use super::tables::fields_from_values::odd_texts;
use super::{About, Chunk, Codec, DecodeOptions, Decoded, Extent, Layout, Likeness, WholeFileCheck};
use crate::error::{Damage, Place};
use crate::input::{Bytes, Shard};
use crate::table::{Array, Batch, Fields, Tile};
use block::{read_block, read_packed_block};
use column::{Ids, MOST_RECORDS, field_of};
use header::read_header;
use section::{HEADER_MAGIC, Kind, SectionHeader};
use section_order::{Found, Section, Sequence};
use std::io;
use std::sync::Arc;
use write::{Outline, check_texts, encode_block, finish_passing_on, pass_block_on, refuse_numbers};

/// Version of written files; files of the same major version can be read.
pub const VERSION: (u16, u16) = (1, 4);
/// Records per block.
pub const BLOCK_LEN: usize = 4096;
/// Bytes of a section header, and the unit of padding.
const UNIT: usize = 64;
/// Bytes of an entry in the header's list of columns, and in a block's directory.
const ENTRY_LEN: usize = 32;
/// The value for an unknown number of records.
const UNKNOWN: u64 = u64::MAX;

/// Writes a batch as a block into `section`, replacing its content.
///
/// # Errors
/// If the texts are too long.
pub(crate) fn to_block(batch: &Batch, section: &mut Vec<u8>) -> io::Result<()> {
    encode_block(0, &[(batch, 0..batch.len())], Fields::ALL, section)?;
    Ok(())
}

/// Reads the batch of a block.
///
/// # Errors
/// If it is not a block, or is damaged: a message.
pub(crate) fn of_block(section: Vec<u8>) -> Result<Batch, String> {
    let header = SectionHeader::read(&section)?;
    if header.len != section.len() as u64 || Checksum::of(&section[UNIT..]) != header.checksum {
        return Err("the block does not match its checksum".to_owned());
    }
    read_block(&section.into(), &header, Fields::ALL)
}

/// The codec of boards files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boards;

impl Codec for Boards {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "boards",
            title: "lanefish's own: packed, mapped, with checksums",
            extensions: &["boards"],
            has_games: false,
            can_be_empty: true,
            selects: false,
            carries: Fields::ALL,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(head.starts_with(&HEADER_MAGIC))
    }
    fn layout(&self) -> Layout {
        Layout::Sections(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode(chunk, options)
    }
    fn carried(&self, head: &[u8]) -> Fields {
        let columns = SectionHeader::read(head).ok().and_then(|header| {
            let section = head.get(..usize::try_from(header.len).ok()?)?;
            read_header(section, &header).ok()
        });
        // What is wrong with the header is reported when it is read.
        columns.map_or(Fields::ALL, |columns| {
            let fields = columns.iter().filter_map(|column| field_of(column.id));
            fields.collect()
        })
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&Boards)
    }
    fn watch(&self) -> Option<Box<dyn WholeFileCheck>> {
        Some(Box::new(Sequence::default()))
    }
}

impl Sections for Boards {
    fn cut(&self, bytes: &[u8]) -> Option<usize> {
        cut(bytes)
    }
    fn enter(&self, len: u64, shard: Shard, reads_on: bool, read: &ReadAt<'_>) -> io::Result<Option<Entry>> {
        seek::enter(len, shard, reads_on, read)
    }
}

impl Encoder for Boards {
    fn fields(&self) -> Fields {
        Fields::ALL
    }
    fn cut(&self) -> Boundaries {
        Boundaries::Every(BLOCK_LEN)
    }
    fn refuse(&self, tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
        refuse_numbers(tile, refuse);
    }
    fn block(&self, records: &BlockRecords<'_>, block: &mut Encoded) -> io::Result<()> {
        block.columns = match whole_block(records) {
            Some(section) => pass_block_on(records.first, section, block)?,
            None => {
                let mut runs = Vec::new();
                for (batch, rows) in &records.runs {
                    runs.push((batch.unpacked().map_err(was_changed)?, rows.clone()));
                }
                encode_block(records.first, &runs, Fields::ALL, &mut block.bytes)?
            }
        }
        .bits();
        block.records = records.runs.iter().map(|(_, rows)| rows.len() as u64).sum();
        Ok(())
    }
    fn passes_blocks_on(&self) -> bool {
        true
    }
    fn check(&self, first: u64, records: &Batch) -> io::Result<()> {
        check_texts(first, records.text_len())
    }
    fn writer(&self) -> Box<dyn Writer> {
        Box::new(Outline::default())
    }
}

/// The block of an input that has exactly these records, with the same numbers of games.
fn whole_block<'a>(records: &BlockRecords<'a>) -> Option<&'a Bytes> {
    let [(batch, rows)] = &records.runs[..] else { return None };
    let block = batch.block.as_ref().filter(|block| *rows == (0..batch.len()) && block.games_before == 0)?;
    Some(&block.section)
}

impl Writer for Outline {
    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(&Outline::begin(self, Fields::ALL))
    }
    fn put(&mut self, block: &Encoded, out: &mut dyn io::Write) -> io::Result<()> {
        let more = block.more.as_deref().unwrap_or_default();
        self.add(block.bytes.len() + more.len(), block.records, Ids::of_bits(block.columns));
        out.write_all(&block.bytes)?;
        match &block.more {
            Some(more) => finish_passing_on(more, out.write_all(more)),
            None => Ok(()),
        }
    }
    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<Option<Vec<u8>>> {
        let (end, finished) = Outline::finish(self);
        out.write_all(&end)?;
        Ok(Some(finished.header))
    }
}

/// Cuts after the last whole section, or, if no section begins here, before the next one. The length is always a number
/// of whole units: sections begin at multiples of a unit only, so after a cut elsewhere none would be found again.
fn cut(bytes: &[u8]) -> Option<usize> {
    let bytes = &bytes[..bytes.len() / UNIT * UNIT];
    let mut at = 0;
    while at < bytes.len() {
        match SectionHeader::read(&bytes[at..]) {
            Ok(header) if header.len <= (bytes.len() - at) as u64 => at += header.len as usize,
            Ok(_) => break,
            Err(_) => at += lost(&bytes[at..]),
        }
    }
    (at > 0).then_some(at)
}

/// Number of bytes up to the next place where a section begins, if none begins at the first byte.
fn lost(bytes: &[u8]) -> usize {
    (UNIT..bytes.len()).step_by(UNIT).find(|&at| SectionHeader::read(&bytes[at..]).is_ok()).unwrap_or(bytes.len())
}

/// Decodes a run of sections.
fn decode(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let mut decoded = Decoded::default();
    let mut sections: Vec<Section> = Vec::new();
    let bytes = &chunk.bytes;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let place = chunk.offset + at as u64;
        let is_unchecked = match &chunk.extent {
            Extent::Sections(RequestedSections { which: Requested::Within(own), checks_others: false, .. }) => {
                !own.contains(&place)
            }
            _ => false,
        };
        let mut damage = |what: String| {
            decoded.damage.push(Damage::at(at as u64, what));
        };
        let header = match SectionHeader::read(rest) {
            Ok(header) => header,
            Err(what) => {
                let len = lost(rest);
                let what = Found::Lost(len, what);
                if !is_unchecked {
                    sections.push(Section { at, what });
                }
                at += len;
                continue;
            }
        };
        if is_unchecked {
            if header.len > rest.len() as u64 {
                break;
            }
        } else {
            sections.push(Section { at, what: Found::Section(header) });
        }
        if header.len > rest.len() as u64 {
            damage(format!("a section is truncated: {} of {} bytes are present", rest.len(), header.len));
            break;
        }
        let len = header.len as usize;
        if header.kind == Kind::Block
            && let Extent::Sections(requested) = &chunk.extent
            && !header.is_requested(&requested.which, place)
        {
            if requested.reads_others {
                let section = bytes.slice(at..at + len);
                if let Some(mut batch) = block_of_other_shard(&section, &header, options.fields) {
                    batch.first_index = decoded.records;
                    batch.origins = vec![at as u32];
                    decoded.records += batch.len() as u64;
                    decoded.batches.push(batch);
                }
            }
            at += len;
            continue;
        }
        let section = bytes.slice(at..at + len);
        let mut whole = true;
        if Checksum::of(&section[UNIT..]) != header.checksum {
            whole = false;
            damage(match header.kind {
                Kind::Header => "the header does not match its checksum".to_owned(),
                Kind::Block => mismatch(&header),
                Kind::Index => "the index does not match its checksum".to_owned(),
                Kind::End => "the end section does not match its checksum".to_owned(),
            });
        }
        if header.kind == Kind::Header && whole && header.version().0 == VERSION.0 {
            // Nothing more is known about other versions.
            if let Err(what) = read_header(&section, &header) {
                damage(what);
            }
        }
        if header.kind == Kind::Block {
            if whole {
                let batch = if options.blocks {
                    read_packed_block(&section, &header)
                } else {
                    read_block(&section, &header, options.fields)
                };
                match batch {
                    Ok(mut batch) => {
                        batch.first_index = decoded.records;
                        batch.origins = vec![at as u32];
                        count_odd_texts(&batch, chunk, &mut decoded.dropped_values);
                        decoded.batches.push(batch);
                    }
                    Err(what) => damage(what),
                }
            }
            // Absurd values are not counted.
            if header.count <= MOST_RECORDS {
                decoded.records += u64::from(header.count);
            }
        }
        at += len;
    }
    decoded.evidence = Some(Box::new(sections));
    decoded
}

/// The records of a block that lies in another shard, which reports what is wrong with it.
fn block_of_other_shard(section: &Bytes, header: &SectionHeader, fields: Fields) -> Option<Batch> {
    let is_whole = Checksum::of(&section[UNIT..]) == header.checksum;
    let mut batch = read_block(section, header, fields).ok().filter(|_| is_whole)?;
    batch.of_other_shard = true;
    Some(batch)
}

/// Counts the texts of a block from which no other columns can be made.
fn count_odd_texts(batch: &Batch, chunk: &Chunk, dropped_values: &mut Vec<DroppedValue>) {
    for (&field, values) in &batch.fields {
        let Array::Text(texts) = values else { continue };
        dropped_values.extend(odd_texts(field, texts).map(|(row, text)| {
            let place = Place {
                offset: batch.origins[0].into(),
                record: batch.first_index + row as u64,
                ..Place::start_of(Arc::clone(&chunk.file))
            };
            DroppedValue::new(DroppedKind::Text(field), place, text.as_bytes())
        }));
    }
}

fn mismatch(header: &SectionHeader) -> String {
    format!(
        "the block of records {} to {} does not match its checksum",
        header.first,
        header.first.saturating_add(header.count.into()).saturating_sub(1)
    )
}
