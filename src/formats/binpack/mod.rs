//! Stockfish's binpack: chains of positions for training, in which a position is a move.
//!
//! A file is a sequence of chunks, each of them `BINP`, the number of the bytes that follow (4, little-endian), and chains.
//! A chain begins with a whole position, its *stem*, and goes on with as few bits as possible for each further ply. All other
//! numbers are big-endian.
//!
//! | at | bytes | stem |
//! | --- | --- | --- |
//! | 0 | 8 | occupied squares, a1 in the lowest bit |
//! | 8 | 16 | a code of 4 bits for each of them, from a1 to h8, the low half of a byte first |
//! | 24 | 2 | move: kind (normal, promotion, castling, en passant), origin (6 bits), target (6 bits), promotion piece (2 bits) |
//! | 26 | 2 | score of the side to move, zigzag: 0, -1, 1, -2, .. |
//! | 28 | 2 | ply in bits 0 to 13; result in bits 14 and 15: 0 draw, 1 loss, 2 win of the side to move |
//! | 30 | 2 | halfmove clock |
//! | 32 | 2 | number of further plies |
//!
//! Codes are twice the piece (pawn to king), and 1 more for Black; 12 is a pawn that has just made a double step, 13 and 14
//! are a white and a black rook that may still castle, and 15 is the black king if Black is to move. Castling is king takes
//! rook; there is no Chess960. The number of the full move is half the ply, and one more.
//!
//! For each further ply there are, the highest bit of a byte first: the number of the piece among the mover's, by its square;
//! the number of the move among those of the piece (`choices` has their order), both in as many bits as their number needs;
//! and by how much the score differs from the negative of the score before, as zigzag in groups of four bits, the lowest
//! first, each after a bit that says whether another one follows. A chain ends at the end of a byte.
//!
//! ## Reading
//!
//! Every position is a record with its move, score, result and ply. The score 32,002 says that there is none: it is kept as
//! a sentinel. Bits of 0 stand for a record without a move. What cannot be decoded ends its chunk, because nothing says
//! where the next chain begins: that is damage, with the place, and the next chunk is read. So is a chunk that is cut off;
//! nothing is decoded after its last byte.
//!
//! ## Writing
//!
//! Records that go on with the one before become one chain, if their clocks do as well; any other one costs 34 bytes. Chains
//! end before their moves need more than 10 KiB, and chunks after 1 MiB, as those of the original program.
//!
//! The layout is that of the tools of Stockfish.

mod bits;
mod choices;
mod read;
mod stem;
#[cfg(test)]
mod tests;
mod write;

#[cfg(test)]
pub(super) use read::read_chunks;

use super::gaps::Gaps;
use super::layout::{Chains, Link};
use super::{About, Chunk, Codec, DecodeOptions, Decoded, Encoder, Layout, Likeness, Watch};
use crate::table::{Field, Fields};
use memchr::memmem;

/// Where a chunk begins.
const MAGIC: [u8; 4] = *b"BINP";
/// Bytes before the content of a chunk.
const HEADER: usize = 8;
/// The largest content of a chunk: readers refuse more.
const LARGEST: u32 = 100 << 20;
/// Bytes of a stem with the number of further plies.
const STEM: usize = 34;
/// The largest ply that a stem can have.
const MOST_PLIES: u16 = (1 << 14) - 1;

/// What records carry.
pub(super) const CARRIES: Fields =
    Fields::of(&[Field::Score, Field::Result, Field::Move, Field::Ply, Field::KeyEnPassant]);

/// Stockfish's binpack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binpack;

impl Codec for Binpack {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "binpack",
            title: "Stockfish's binpack: training data as chains of moves with scores",
            extensions: &["binpack"],
            has_games: false,
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
        read::decode(chunk, options)
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&write::Writing)
    }
    fn watch(&self) -> Option<Box<dyn Watch>> {
        Some(Box::new(Gaps::new("no chunk begins here")))
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
}

/// Bytes up to the next place where a chunk may begin, which is not the first one.
fn next_chunk(bytes: &[u8]) -> usize {
    if let Some(at) = memmem::find(&bytes[1..], &MAGIC) {
        return at + 1;
    }
    // The beginning of its mark may be at the end.
    let may_begin = |&at: &usize| MAGIC.starts_with(&bytes[at..]);
    (bytes.len().saturating_sub(3).max(1)..bytes.len()).find(may_begin).unwrap_or(bytes.len())
}
