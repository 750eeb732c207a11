//! Reading chunks.

use super::bits::{BitReader, bits_for, from_zigzag, nth_bit};
use super::choices::Choices;
use super::stem::{self, Values};
use super::{Binpack, CARRIES, HEADER, STEM};
use crate::chess::{Color, Square};
use crate::error::Damage;
use crate::formats::gaps::InChunk;
use crate::formats::layout::{Chains, Link};
use crate::formats::pgn::replay::Board;
use crate::formats::records::{BadRecord, SATURATED_SCORE, hexadecimal, score_of_white};
use crate::formats::scored::{self, Distrust, Run, Scored};
use crate::formats::{Chunk, DecodeOptions, Decoded};
use crate::text::numbers::counted;
use std::cell::Cell;

/// About the number of bytes for a record, so that vectors need not grow.
const USUAL: usize = 2;

/// Decodes a run of chunks.
pub(super) fn decode(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let gaps = Cell::new(None);
    let mut decoded = scored::read_trusting(chunk, options, CARRIES, |records| {
        gaps.set(Some(read(chunk, records, options)?));
        Ok(())
    });
    decoded.evidence = gaps.take().map(|gaps| Box::new(gaps) as _);
    decoded
}

/// Reads a run of chunks, and where there are none.
fn read(chunk: &Chunk, records: &mut Scored<'_>, options: &DecodeOptions) -> Result<InChunk, Distrust> {
    let bytes = &chunk.bytes[..];
    records.reserve(bytes.len() / USUAL);
    let mut gaps = InChunk::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        match Binpack.link(rest, usize::MAX) {
            Link::Chain(len) => {
                let end = rest.len().min(usize::try_from(len).unwrap_or(usize::MAX));
                let missing = len - end as u64;
                chains(&rest[..end], at, missing, records, options)?;
                at += end;
            }
            Link::Lost(len) => {
                let end = bytes.len().min(at + len as usize);
                gaps.push(at..end);
                at = end;
            }
            Link::More => {
                let what = format!("the last chunk is truncated: {} of its {HEADER} first bytes", rest.len());
                records.decoded.damage.push(Damage::at(at as u64, what));
                break;
            }
        }
    }
    Ok(gaps)
}

/// Reads the chains of a chunk that begins at a byte of the input's chunk; `missing` is the number of its bytes that are not
/// there.
///
/// # Errors
/// If moves are trusted, and something is wrong.
fn chains(
    bytes: &[u8],
    start: usize,
    missing: u64,
    records: &mut Scored<'_>,
    options: &DecodeOptions,
) -> Result<(), Distrust> {
    let mut at = HEADER;
    let ends = |at: usize| bytes.len() - at < STEM;
    while at < bytes.len() && !ends(at) {
        match chain(&bytes[at..], start + at, records, options) {
            Ok(len) => {
                at += len;
                records.go_on()?;
            }
            // It may come from a move before it.
            Err(_) if records.trust() => return Err(Distrust),
            Err(Fault { at: place, bad }) if missing == 0 => {
                let what = format!(
                    "{}: the rest of the chunk, {}, cannot be read",
                    bad.message,
                    counted((bytes.len() - at - place) as u64, "byte")
                );
                records.decoded.damage.push(Damage::at((start + at + place) as u64, what));
                return Ok(());
            }
            // What ends there seems to be wrong.
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
    Ok(())
}

/// What is wrong at a byte of a chain.
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
    let mut saturated = 0;
    let mut stored = |score: i16, is_black: bool| {
        let (score, is_saturated) = score_of_white(score, is_black);
        saturated += u64::from(is_saturated);
        score
    };
    let mut next = match (after, mv) {
        (Ok(next), _) => Some(next),
        // A null move in check leads nowhere.
        (Err(_), None) if further == 0 => None,
        (Err(_), _) => {
            let message = match mv {
                Some(mv) => format!("the move {} is not legal", mv.uci_as(false)),
                None => "a null move in check".to_owned(),
            };
            return refused(BadRecord::new("illegal_move", message), further, start, header, records);
        }
    };
    records.push(&board, stored(score, is_black), mv.map(|mv| mv.to_bits()));
    let mut reader = BitReader::new(&bytes[STEM..]);
    let mut fault = None;
    let trust = records.trust();
    for number in 1..=u32::from(further) {
        let Some(here) = next else { break };
        board = here;
        is_black = !is_black;
        let ply = u16::try_from(u32::from(ply) + number).unwrap_or(u16::MAX);
        board.fullmove = ply / 2 + 1;
        match further_ply(&board, &mut reader, &mut score, trust) {
            Ok((mv, after)) => {
                records.push(&board, stored(score, is_black), Some(mv));
                next = Some(after);
            }
            Err((reason, message)) => {
                fault = Some(Fault::new(STEM + reader.bytes_read().min(bytes.len() - STEM), reason, message));
                break;
            }
        }
    }
    if trust && next.is_some_and(Board::is_after_king_left_in_check) {
        fault = Some(Fault::new(0, "illegal_move", "a move that leaves the king in check"));
    }
    records.end_run(run);
    records.decoded.remarks.add(&SATURATED_SCORE, saturated);
    match fault {
        Some(fault) => Err(fault),
        None => Ok(STEM + reader.bytes_read()),
    }
}

/// Why a further ply cannot be read.
type Why = (&'static str, &'static str);

/// Reads the next ply: the bits of its move, and the board after it. The score becomes that of its side to move. If the
/// move is trusted, it may leave the king in check.
#[inline(always)]
fn further_ply(board: &Board, reader: &mut BitReader<'_>, score: &mut i16, trust: bool) -> Result<(u16, Board), Why> {
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
    let from = Square::new(nth_bit(sides.own, piece) as u8 & 63);
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
        let bits = take(5);
        change |= (bits & 15) << (4 * group);
        if bits & 16 == 0 {
            break;
        }
    }
    if !reader.take(used) {
        return Err(TRUNCATED);
    }
    *score = score.wrapping_neg().wrapping_add(from_zigzag(change as u16));
    let mv = choices.at(number);
    let mut after = *board;
    if trust {
        return if after.play_pseudolegal(mv.to_bits()) { Ok((mv.to_bits(), after)) } else { Err(IMPOSSIBLE) };
    }
    let after = board.play_move(mv).map_err(|_| IMPOSSIBLE)?;
    Ok((mv.to_bits(), after))
}

/// A stem that can be read and is bad: a reject if no further plies depend on it.
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
