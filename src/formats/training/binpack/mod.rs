//! Stockfish's binpack: chains of positions for training, in which only the moves are stored after the first position.
//!
//! A file is a sequence of chunks, each of them `BINP`, the number of the bytes that follow (4, little-endian), and
//! chains. A chain begins with a whole position, its *stem*, and continues with as few bits as possible for each
//! further ply. All other numbers are big-endian.
//!
//! | at | bytes | stem |
//! | --- | --- | --- |
//! | 0 | 8 | occupied squares, a1 in the lowest bit |
//! | 8 | 16 | a code of 4 bits for each occupied square, from a1 to h8, the low half of a byte first |
//! | 24 | 2 | move: kind (normal, promotion, castling, en passant), origin (6 bits), target (6 bits), promotion piece (2 bits) |
//! | 26 | 2 | score for the side to move, zigzag: 0, -1, 1, -2, .. |
//! | 28 | 2 | ply in bits 0 to 13; result in bits 14 and 15: 0 draw, 1 loss, 2 win for the side to move |
//! | 30 | 2 | halfmove clock |
//! | 32 | 2 | number of further plies |
//!
//! Codes are twice the piece (pawn to king), and 1 more for Black; 12 is a pawn that has just made a double step, 13
//! and 14 are a white and a black rook that may still castle, and 15 is the black king if Black is to move. Castling is
//! king takes rook; there is no Chess960. The fullmove number is half the ply, plus one.
//!
//! Each further ply has three parts, the highest bit of a byte first. The first is the number of the piece among the
//! mover's, by its square. The second is the number of the move among those of the piece (`move_index` defines their
//! order). Both take just enough bits for the number of choices. The third is the difference between the score and the
//! negative of the score before, as zigzag in groups of four bits, the lowest first; a bit before each group says
//! whether another one follows. A chain ends at the end of a byte.
//!
//! ## Reading
//!
//! Every position is a record with its move, score, result and ply. The score 32,002 means that there is no score; it
//! is kept as a sentinel. If the bits of a move are 0, the record has no move. If something cannot be decoded, its
//! chunk ends there, because the beginning of the next chain is unknown: this is reported as damage, with its place,
//! and reading continues with the next chunk. A chunk that is cut off is damage, too; nothing is decoded after its last
//! byte.
//!
//! ## Writing
//!
//! Records that continue the one before become one chain, if their clocks continue as well; any other record costs 34
//! bytes. Chains end before their moves need more than 10 KiB, and chunks after 1 MiB, as in the original program.
//!
//! The layout is that of the tools of Stockfish.

mod bits;
mod move_index;
mod read;
mod stem;
#[cfg(test)]
mod tests;
mod write;

#[cfg(test)]
pub(in crate::formats) use read::read_chunks;

use super::chain_gaps::Gaps;
use crate::formats::codec::layout::{Chains, Link};
use crate::formats::{
    About, Chunk, Codec, DecodeOptions, Decoded, Encoder, Layout, Likeness, Remark, RemarkOnTaken, WholeFileCheck,
};
use crate::table::{Batch, Field, Fields, ScoreCodes, bits_where, is_sentinel};
use memchr::memmem;

/// The mark at the beginning of a chunk.
const MAGIC: [u8; 4] = *b"BINP";
/// Number of bytes before the content of a chunk.
const HEADER: usize = 8;
/// The largest content of a chunk: readers refuse more.
const LARGEST: u32 = 100 << 20;
/// Number of bytes of a stem with the number of further plies.
const STEM: usize = 34;
/// The largest ply that a stem can have.
const MOST_PLIES: u16 = (1 << 14) - 1;

/// The fields of the records.
pub(in crate::formats) const CARRIES: Fields =
    Fields::of(&[Field::Score, Field::Result, Field::Move, Field::Ply, Field::KeyEnPassant]);

/// Records of binpack files with the sentinel in place of a score, among those that a run takes.
static NOT_EVALUATED: Remark = Remark {
    what: "record",
    how: "with the score 32002, which means that it was not evaluated; in a minimised file, such a position may belong \
          to no game and only link others; they are kept unless --where \"score is not null\" leaves them out",
    is_detail: false,
};

/// The records with a sentinel in place of a score.
fn count_sentinels(batch: &Batch, start: usize, mask: &[u64]) -> u64 {
    let Some(scores) = batch.column::<i16>(Field::Score) else { return 0 };
    let scores = scores.values().get(start..).unwrap_or_default();
    let counts = mask.iter().zip(scores.chunks(64)).map(|(&mask, scores)| mask & bits_where(scores, is_sentinel));
    counts.map(|rows| u64::from(rows.count_ones())).sum()
}

/// The codec of Stockfish's binpack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binpack;

impl Codec for Binpack {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "binpack",
            title: "Stockfish's binpack: training data as chains of moves with scores",
            extensions: &["binpack"],
            has_games: false,
            can_be_empty: false,
            selects: false,
            carries: CARRIES,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(head.starts_with(&MAGIC))
    }
    fn layout(&self) -> Layout {
        Layout::Chains(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        read::decode(chunk, options).with_score_codes(ScoreCodes::Stockfish)
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&write::Writing)
    }
    fn watch(&self) -> Option<Box<dyn WholeFileCheck>> {
        Some(Box::new(Gaps::new("no chunk begins here")))
    }
    fn remark_on_taken(&self) -> Option<RemarkOnTaken> {
        Some(RemarkOnTaken { remark: &NOT_EVALUATED, count: count_sentinels })
    }
}

impl Chains for Binpack {
    fn link(&self, bytes: &[u8], _max_record: usize) -> Link {
        match bytes.first_chunk::<HEADER>() {
            Some(&[b'B', b'I', b'N', b'P', ref len @ ..]) => match u32::from_le_bytes(*len) {
                len @ 0..=LARGEST => Link::Chain(HEADER as u64 + u64::from(len)),
                _ => Link::Lost(next_chunk(bytes) as u64),
            },
            None if MAGIC.starts_with(&bytes[..bytes.len().min(4)]) || bytes.starts_with(&MAGIC) => Link::More,
            _ => Link::Lost(next_chunk(bytes) as u64),
        }
    }
    fn has_segments(&self) -> bool {
        true
    }
}

/// Number of bytes up to the next place where a chunk may begin, other than the first byte.
fn next_chunk(bytes: &[u8]) -> usize {
    if let Some(at) = memmem::find(&bytes[1..], &MAGIC) {
        return at + 1;
    }
    // The beginning of its mark may be at the end.
    let may_begin = |&at: &usize| MAGIC.starts_with(&bytes[at..]);
    (bytes.len().saturating_sub(3).max(1)..bytes.len()).find(may_begin).unwrap_or(bytes.len())
}
