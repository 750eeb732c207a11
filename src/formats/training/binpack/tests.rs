//! Tests with chains made by hand, and with every kind of damage to them.

use super::*;
use crate::error::Damage;
use crate::formats::codec::chain_segments::segments;
use crate::formats::codec::decode_records::of_hexadecimal as bytes;
use crate::formats::{Encoded, Extent, RecordBlocks, Totals};
use crate::table::Batch;
use std::path::Path;
use std::sync::Arc;

/// Four chains: after the start position, castling on both sides, en passant and a promotion, a clock of 70.
const FOUR: &str = "\
    42494e5095000000\
    ffff00000000ffff2d844ad200000000111111113e955be30c70004680000000000227 82ce84\
    9100000000000091adedeb00000000000000000000000000841c0000002800040002 6f835808\
    10810000020004100a01b100000000000000000000000000 0a68057880620000 0002343787e8f0\
    00200000080004008a0f000000000000000000000000000035b8f9eb413f00460000";

/// The content of a file, and its faults.
fn read_file(bytes: &[u8]) -> (Vec<Batch>, Vec<Damage>, usize) {
    let options = DecodeOptions { fields: CARRIES, ..DecodeOptions::default() };
    let chunk = Chunk::new(Path::new("x").into(), bytes.to_vec().into());
    let mut decoded = Binpack.decode(&chunk, &options);
    let mut gaps = Binpack.watch().unwrap();
    let mut damage = gaps.chunk(decoded.evidence.take(), 0);
    damage.extend(gaps.end(bytes.len() as u64).0);
    decoded.number(&mut Totals::default(), &chunk);
    damage.append(&mut decoded.damage);
    (decoded.batches, damage, decoded.rejects.len())
}

fn lines(batches: &[Batch]) -> Vec<String> {
    let rows = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
    let line = |(batch, row): (&Batch, usize)| {
        let number = |field| batch.values(field).and_then(|values| values.number(row));
        let mv = number(Field::Move).and_then(|bits| crate::chess::Move::from_bits(bits as u16));
        let position = batch.position(row).unwrap();
        let mv = mv.map_or("-".to_owned(), |mv| mv.uci(&position).to_string());
        let [score, result, ply] = [Field::Score, Field::Result, Field::Ply].map(|field| number(field).unwrap());
        format!("{position} {mv} {score} {result} {ply}")
    };
    rows.map(line).collect()
}

#[test]
fn chains_by_hand_are_read_and_written() {
    let file = bytes(FOUR);
    let (batches, damage, rejects) = read_file(&file);
    assert_eq!((damage, rejects), (vec![], 0));
    assert_eq!(
        lines(&batches),
        [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 e2e4 35 2 0",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 c7c5 20 2 1",
            "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2 g1f3 41 2 2",
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 4 21 e1g1 0 1 40",
            "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 5 21 e8c8 -15 1 41",
            "2kr3r/8/8/8/8/8/8/R4RK1 w - - 6 22 g1g2 -3 1 42",
            "4k3/P6p/8/8/1p6/8/2P5/4K3 w - - 0 50 c2c4 700 2 98",
            "4k3/P6p/8/8/1pP5/8/8/4K3 b - c3 0 50 b4c3 650 2 99",
            "4k3/P6p/8/8/8/2p5/8/4K3 w - - 0 51 a7a8q 32002 2 100",
            "8/5k2/8/8/3Q4/8/2K5/8 b - - 70 160 f7g6 31990 2 319",
        ]
    );
    let mut written = Vec::new();
    let encoder = Binpack.encoder().unwrap();
    let mut writer = encoder.writer();
    let mut piece = Encoded::default();
    for batch in batches {
        let all = 0..batch.len();
        piece.add(encoder, &Arc::new(batch), std::slice::from_ref(&all));
    }
    let mut blocks = RecordBlocks::of(encoder).unwrap();
    assert!(blocks.join(piece).unwrap().is_empty());
    let block = blocks.finish().unwrap().encode(Encoded::default()).unwrap();
    writer.put(&block, &mut written).unwrap();
    writer.finish(&mut written).unwrap();
    assert_eq!(written, file);
}

/// A file that is cut off is never taken for a shorter one, and its records are the first of the whole file.
#[test]
fn every_cut_is_found() {
    let file = [bytes(FOUR), bytes(FOUR)].concat();
    let all = lines(&read_file(&file).0);
    for len in 1..file.len() {
        let (batches, damage, _) = read_file(&file[..len]);
        assert_eq!(damage.is_empty(), len == file.len() / 2, "cut at {len}");
        let read = lines(&batches);
        assert!(all.starts_with(&read), "cut at {len}");
    }
}

/// A flipped bit is detected, or gives other records that can be read; it never harms the next chunk.
#[test]
fn flipped_bits_do_no_harm() {
    let file = [bytes(FOUR), bytes(FOUR)].concat();
    let half = file.len() / 2;
    let all = lines(&read_file(&file[half..]).0);
    for bit in 0..8 * file.len() {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (batches, damage, _) = read_file(&flipped);
        if bit / 8 < 4 || bit / 8 >= half && bit / 8 < half + 4 {
            assert!(!damage.is_empty(), "bit {bit}");
        }
        if (HEADER..half).contains(&(bit / 8)) {
            assert!(lines(&batches).ends_with(&all), "bit {bit}");
        }
    }
}

#[test]
fn lengths_that_lie_are_found() {
    for len in [0, 33, 34, 0x94, 0x96, LARGEST, LARGEST + 1, u32::MAX] {
        let mut file = bytes(FOUR);
        file[4..8].copy_from_slice(&len.to_le_bytes());
        assert!(!read_file(&file).1.is_empty(), "{len}");
    }
    for junk in [&b"x"[..], b"BIN", b"BINP\0\0", b"BINPBINPBINP"] {
        let file = [junk, &bytes(FOUR)].concat();
        let (batches, damage, _) = read_file(&file);
        assert_eq!((lines(&batches).len() + damage.len() > 0, damage.is_empty()), (true, false), "{junk:?}");
    }
}

/// Everything about a file that is read in segments of this many bytes: its records, faults and rejects. The segments
/// are decoded in the given order.
fn read_segments(bytes: &[u8], segment: usize, is_backwards: bool) -> (Vec<String>, Vec<Damage>, Vec<String>) {
    let options = DecodeOptions { fields: CARRIES, ..DecodeOptions::default() };
    let whole = Chunk::new(Path::new("x").into(), bytes.to_vec().into());
    let chunks =
        segments(bytes.len(), segment).map(|segment| Chunk { extent: Extent::Segment(segment), ..whole.clone() });
    let chunks: Vec<Chunk> = chunks.collect();
    let mut decoded: Vec<Decoded> = if is_backwards {
        let backwards = chunks.iter().rev().map(|chunk| Binpack.decode(chunk, &options));
        let mut decoded: Vec<_> = backwards.collect();
        decoded.reverse();
        decoded
    } else {
        chunks.iter().map(|chunk| Binpack.decode(chunk, &options)).collect()
    };
    let mut gaps = Binpack.watch().unwrap();
    let (mut totals, mut damage) = (Totals::default(), Vec::new());
    for (decoded, chunk) in decoded.iter_mut().zip(&chunks) {
        damage.extend(gaps.chunk(decoded.evidence.take(), 0));
        decoded.number(&mut totals, chunk);
        damage.append(&mut decoded.damage);
    }
    damage.extend(gaps.end(bytes.len() as u64).0);
    damage.sort_by_key(|damage| damage.offset);
    let rejects = decoded.iter().flat_map(|decoded| &decoded.rejects).map(|reject| format!("{reject:?}")).collect();
    let batches: Vec<Batch> = decoded.into_iter().flat_map(|decoded| decoded.batches).collect();
    (lines(&batches), damage, rejects)
}

/// A chunk that is decoded in segments has the same records, faults and rejects as one that is decoded as a whole,
/// whatever the size of the segments and their order, and whatever is wrong with the chunk.
#[test]
fn segments_make_the_whole() {
    let good = [bytes(FOUR), b"junk".to_vec(), bytes(FOUR), bytes(FOUR)].concat();
    let mut random = crate::chess::random::Random::new(5);
    for turn in 0..600 {
        let mut file = good.clone();
        if turn > 0 {
            let bit = random.bits() as usize % (8 * file.len());
            file[bit / 8] ^= 1 << (bit % 8);
        }
        if turn % 5 == 4 {
            file.truncate(1 + random.bits() as usize % file.len());
        }
        let whole = read_segments(&file, file.len(), false);
        for (segment, is_backwards) in [(1, false), (7, true), (34, true), (100, false), (400, true)] {
            assert_eq!(read_segments(&file, segment, is_backwards), whole, "{turn}: {segment} bytes");
        }
    }
}
