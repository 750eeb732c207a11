//! Reads chunks.

use super::bits::{BitReader, NthBit, Portable, bits_for, from_zigzag};
use super::move_index::Choices;
use super::stem::{self, Values};
use super::{Binpack, CARRIES, HEADER, STEM};
use crate::chess::{Color, Move, Square};
use crate::error::Damage;
use crate::formats::codec::chain_segments::Start;
use crate::formats::codec::decode_records::{BadRecord, SATURATED_SCORE, hexadecimal, score_of_white};
use crate::formats::codec::layout::{Chains, Link};
use crate::formats::training::chain_gaps::InChunk;
use crate::formats::training::decode_chains::{self, IllegalMoveFound, NewRows, Run, Scored};
use crate::formats::{Chunk, DecodeOptions, Decoded, Extent, Remarks};
use crate::replay::Board;
use crate::simd::bmi2::Bmi2;
use crate::text::numbers::counted;
use std::cell::Cell;
use std::ops::Range;

/// Approximate number of bytes of a record, so that vectors need not grow.
const USUAL: usize = 2;

/// Decodes a run of chunks, or a segment of it.
pub(super) fn decode(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let read = |bytes: usize, start: Start, end: usize| {
        let outcome = Cell::new((None, start));
        let mut decoded = decode_chains::read_trusting(chunk, options, CARRIES, |records| {
            records.reserve(bytes / USUAL);
            let mut gaps = InChunk::new();
            let next = read_chunks(chunk, (start, end), records, &mut gaps, options)?;
            outcome.set((Some(gaps), next));
            Ok(())
        });
        let (gaps, next) = outcome.take();
        decoded.evidence = gaps.map(|gaps| Box::new(gaps) as _);
        (decoded, next)
    };
    match &chunk.extent {
        Extent::Segment(segment) => segment.decode(|start, end| read(segment.bytes(), start, end)),
        _ => read(chunk.bytes.len(), Start::default(), usize::MAX).0,
    }
}

/// Reads the chains of a run of chunks that begin before the byte `end`, and finds the gaps between chunks. Returns
/// where the next chain begins.
pub(in crate::formats) fn read_chunks(
    chunk: &Chunk,
    (mut start, end): (Start, usize),
    records: &mut Scored<'_>,
    gaps: &mut InChunk,
    options: &DecodeOptions,
) -> Result<Start, IllegalMoveFound> {
    let bytes = &chunk.bytes[..];
    let end = end.min(bytes.len());
    while start.place() < end {
        let at = start.chain;
        let rest = &bytes[at..];
        match Binpack.link(rest, usize::MAX) {
            Link::Chain(len) => {
                let present = rest.len().min(usize::try_from(len).unwrap_or(usize::MAX));
                let missing = len - present as u64;
                let range = start.within.max(HEADER)..end - at;
                match chains(&rest[..present], (at, range), missing, records, options)? {
                    Some(within) => start.within = within,
                    None => start = Start { chain: at + present, within: 0 },
                }
            }
            Link::Lost(len) => {
                let next = bytes.len().min(at + len as usize);
                gaps.push(at..next);
                start = Start { chain: next, within: 0 };
            }
            Link::More => {
                let what = format!("the last chunk is truncated: {} of its {HEADER} first bytes", rest.len());
                records.decoded.damage.push(Damage::at(at as u64, what));
                start = Start { chain: bytes.len(), within: 0 };
            }
        }
    }
    Ok(start)
}

/// Reads the chains of a chunk that begins at byte `start` of the input's chunk, as far as they begin in this range of
/// its bytes; `missing` is the number of its bytes that are not there. Returns where the next chain begins; `None` after
/// the end of the chunk.
///
/// # Errors
/// If moves are trusted, and something is wrong.
fn chains(
    bytes: &[u8],
    (start, range): (usize, Range<usize>),
    missing: u64,
    records: &mut Scored<'_>,
    options: &DecodeOptions,
) -> Result<Option<usize>, IllegalMoveFound> {
    let mut at = range.start;
    let ends = |at: usize| bytes.len() - at < STEM;
    while at < bytes.len() && !ends(at) {
        if at >= range.end {
            return Ok(Some(at));
        }
        match chain(&bytes[at..], start + at, records, options) {
            Ok(len) => {
                at += len;
                records.go_on()?;
            }
            // The error may come from a move before it.
            Err(_) if records.trust() => return Err(IllegalMoveFound),
            Err(Fault { at: place, bad }) if missing == 0 => {
                let what = format!(
                    "{}: the rest of the chunk, {}, cannot be read",
                    bad.message,
                    counted((bytes.len() - at - place) as u64, "byte")
                );
                records.decoded.damage.push(Damage::at((start + at + place) as u64, what));
                return Ok(None);
            }
            // The part that ends there seems to be wrong.
            Err(_) => break,
        }
    }
    if missing > 0 {
        let what = format!(
            "the last chunk is truncated: {} of {} bytes are present",
            bytes.len() - HEADER,
            bytes.len() as u64 - HEADER as u64 + missing
        );
        records.decoded.damage.push(Damage::at((start + bytes.len()) as u64, what));
    } else if at < bytes.len() {
        let what =
            format!("the chunk ends with {} that are too few for a chain", counted((bytes.len() - at) as u64, "byte"));
        records.decoded.damage.push(Damage::at((start + at) as u64, what));
    }
    Ok(None)
}

/// The fault at a byte of a chain.
struct Fault {
    at: usize,
    bad: BadRecord,
}

impl Fault {
    fn new(at: usize, reason: &'static str, message: &'static str) -> Self {
        Self { at, bad: BadRecord::new(reason, message) }
    }
}

/// Reads the chain at the start of these bytes, which begin at a byte of the chunk; returns its length.
fn chain(bytes: &[u8], start: usize, records: &mut Scored<'_>, options: &DecodeOptions) -> Result<usize, Fault> {
    let header = bytes.first_chunk::<STEM>().ok_or_else(|| Fault::new(0, "truncated", "a chain without its stem"))?;
    let (first, values) = stem::read(header, options).map_err(|bad| Fault { at: 0, bad })?;
    let Values { mv, mut score, ply, result, further } = values;
    let mut is_black = first.position.side_to_move == Color::Black;
    let mut board = match records.begin(&first) {
        Ok(board) => board,
        Err(bad) => return refused(bad, further, start, header, records),
    };
    let after = match mv {
        Some(mv) => board.play_move(mv),
        None => board.null_move(),
    };
    let result_of_white = if is_black { 2 - result } else { result };
    let run = Run { origin: start, result: result_of_white, ply, game: 0 };
    let next = match (after, mv) {
        (Ok(next), _) => Some(next),
        // A null move in check does not lead to a valid position.
        (Err(_), None) if further == 0 => None,
        (Err(_), _) => {
            let message = match mv {
                Some(mv) => format!("the move {} is not legal", mv.uci_as(false)),
                None => "a null move in check".to_owned(),
            };
            return refused(BadRecord::new("illegal_move", message), further, start, header, records);
        }
    };
    records.begin_chain();
    let mv = mv.map(Move::to_bits);
    let mut reader = BitReader::new(&bytes[STEM..]);
    let mut stored = Stored::default();
    if records.trust() {
        let is_read = {
            let mut rows = records.new_rows(1 + usize::from(further));
            rows.set_position(0, &board);
            rows.set_values(0, stored.score(score, is_black), mv);
            let values = (score, is_black, ply);
            match (next, Bmi2::detect().filter(|_| !crate::cpu::pext_is_microcoded())) {
                (None, _) => true,
                (Some(next), Some(bmi2)) => bmi2.enter(
                    #[inline(always)]
                    || further_plies(bmi2, next, &mut reader, values, &mut rows, &mut stored),
                ),
                (Some(next), None) => further_plies(Portable, next, &mut reader, values, &mut rows, &mut stored),
            }
        };
        if !is_read {
            return Err(Fault::new(0, "illegal_move", "something is wrong with this chain"));
        }
        records.end_run(run);
        stored.remark(&mut records.decoded.remarks);
        return Ok(STEM + reader.bytes_read());
    }
    records.push(&board, stored.score(score, is_black), mv);
    let mut fault = None;
    if let Some(mut next) = next {
        for number in 1..=u32::from(further) {
            board = next;
            is_black = !is_black;
            board.fullmove = fullmove(ply, number);
            next = board;
            match further_ply::<_, false>(Portable, &mut next, &mut reader, &mut score) {
                Ok(mv) => records.push(&board, stored.score(score, is_black), Some(mv)),
                Err((reason, message)) => {
                    fault = Some(Fault::new(STEM + reader.bytes_read().min(bytes.len() - STEM), reason, message));
                    break;
                }
            }
        }
    }
    records.end_run(run);
    stored.remark(&mut records.decoded.remarks);
    match fault {
        Some(fault) => Err(fault),
        None => Ok(STEM + reader.bytes_read()),
    }
}

/// The fullmove number, this many plies after the stem.
#[inline(always)]
fn fullmove(ply: u16, number: u32) -> u16 {
    u16::try_from(u32::from(ply) + number).unwrap_or(u16::MAX) / 2 + 1
}

/// Scores as White sees them.
#[derive(Default)]
struct Stored {
    saturated: u64,
}

impl Stored {
    #[inline(always)]
    fn score(&mut self, score: i16, is_black: bool) -> i16 {
        let (score, is_saturated) = score_of_white(score, is_black);
        self.saturated += u64::from(is_saturated);
        score
    }
    fn remark(&self, remarks: &mut Remarks) {
        remarks.add(&SATURATED_SCORE, self.saturated);
    }
}

/// Fills the rows of all further plies, whose moves are trusted; false if something is wrong.
#[inline(always)]
fn further_plies(
    bits: impl NthBit,
    mut board: Board,
    reader: &mut BitReader<'_>,
    (mut score, mut is_black, ply): (i16, bool, u16),
    rows: &mut NewRows<'_>,
    stored: &mut Stored,
) -> bool {
    for row in 1..rows.len() {
        is_black = !is_black;
        board.fullmove = fullmove(ply, row as u32);
        rows.set_position(row, &board);
        let Ok(mv) = further_ply::<_, true>(bits, &mut board, reader, &mut score) else {
            return false;
        };
        rows.set_values(row, stored.score(score, is_black), Some(mv));
    }
    !board.is_after_king_left_in_check()
}

/// The reason why a further ply cannot be read.
type Why = (&'static str, &'static str);

/// Reads the next ply: returns the bits of its move, and plays it. The score becomes that of its side to move. If the
/// move is trusted, it may leave the king in check.
#[inline(always)]
fn further_ply<B: NthBit, const TRUST: bool>(
    bits: B,
    board: &mut Board,
    reader: &mut BitReader<'_>,
    score: &mut i16,
) -> Result<u16, Why> {
    const TRUNCATED: Why = ("truncated", "a chain ends within a move");
    const IMPOSSIBLE: Why = ("illegal_move", "a move that is not possible");
    let sides = board.sides();
    let mut window = reader.window();
    let mut used = 0;
    let mut take = |bits: u32| {
        let value = if bits == 0 { 0 } else { (window >> (64 - bits)) as u32 };
        window <<= bits;
        used += bits;
        value
    };
    let pieces = sides.own.count_ones();
    let piece = take(bits_for(pieces));
    if piece >= pieces {
        return Err(IMPOSSIBLE);
    }
    let from = Square::new(bits.nth_bit(sides.own, piece) as u8 & 63);
    let choices = Choices::of(&sides, from).ok_or(IMPOSSIBLE)?;
    let count = choices.count();
    let number = take(bits_for(count));
    if number >= count {
        return Err(IMPOSSIBLE);
    }
    let mut change = 0;
    for group in 0.. {
        if group == 4 {
            return Err(("invalid_score", "a score of more than 16 bits"));
        }
        let next = take(5);
        change |= (next & 15) << (4 * group);
        if next & 16 == 0 {
            break;
        }
    }
    if !reader.take(used) {
        return Err(TRUNCATED);
    }
    *score = score.wrapping_neg().wrapping_add(from_zigzag(change as u16));
    let mv = choices.at(number, bits);
    let move_bits = mv.to_bits();
    if TRUST {
        return if board.play_pseudolegal(move_bits) { Ok(move_bits) } else { Err(IMPOSSIBLE) };
    }
    *board = board.play_move(mv).map_err(|_| IMPOSSIBLE)?;
    Ok(move_bits)
}

/// A stem that can be read but is bad: a reject if no further plies depend on it.
fn refused(
    bad: BadRecord,
    further: u16,
    start: usize,
    header: &[u8; STEM],
    records: &mut Scored<'_>,
) -> Result<usize, Fault> {
    if further > 0 {
        return Err(Fault { at: 0, bad });
    }
    records.reject(start, (None, None), bad, hexadecimal(header));
    Ok(STEM)
}
