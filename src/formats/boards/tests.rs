//! Tests of whole files.

use super::section::{HEADER_LEN, OLD_HEADER_LEN};
use super::*;
use crate::chess::Position;
use crate::formats::codec::encode::RecordBlocks;
use crate::packed::Packed;
use crate::table::{Array, Batch, Field, Fields, Values};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Three positions and a column of each kind of layout.
fn small_batch() -> Batch {
    let mut batch = Batch::new();
    let mut scores = Values::default();
    let mut sites = crate::table::Texts::default();
    for (fen, score, site) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", Some(20), Some("Paris")),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", None, Some("Paris")),
        ("4k3/8/8/8/8/8/8/4K2R w K - 9 40", Some(-5), Some("Oslo")),
    ] {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let board = Packed::pack(&position).unwrap();
        batch.push(board, position.halfmove, position.fullmove);
        scores.push(score);
        sites.push(site);
    }
    batch.fields.insert(Field::Score, Array::I16(scores));
    batch.fields.insert(Field::Site, Array::Text(sites));
    batch
}

/// A file with these records.
fn file_of(batch: &Batch) -> Vec<u8> {
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    writer.write(batch, 0..batch.len()).unwrap();
    let (mut bytes, finished) = writer.finish().unwrap();
    bytes[..HEADER_LEN].copy_from_slice(&finished.header);
    bytes
}

fn small_file() -> Vec<u8> {
    file_of(&small_batch())
}

#[test]
fn the_golden_file_is_written_to_the_byte() {
    let golden = include_bytes!("../../../tests/golden/three.boards");
    assert!(small_file() == golden, "the format has changed");
}

#[test]
fn the_golden_files_of_older_versions_are_still_read() {
    let old: [&[u8]; 4] = [
        include_bytes!("../../../tests/golden/three-1.0.boards"),
        include_bytes!("../../../tests/golden/three-1.1.boards"),
        include_bytes!("../../../tests/golden/three-1.2.boards"),
        include_bytes!("../../../tests/golden/three-1.3.boards"),
    ];
    for old in old {
        assert_eq!(damage(old), []);
        // Older headers are shorter, but blocks are the same.
        let block = 0x300;
        assert!(small_file()[HEADER_LEN..][..block] == old[OLD_HEADER_LEN..][..block]);
    }
}

/// All faults of a file that is read in chunks, as in the pipeline.
fn damage(bytes: &[u8]) -> Vec<Damage> {
    let mut all = Vec::new();
    let mut sequence = Sequence::default();
    let mut at = 0;
    while at < bytes.len() {
        let len = cut(&bytes[at..]).unwrap_or(bytes.len() - at);
        let content = bytes[at..at + len].to_vec().into();
        let chunk = Chunk::new(Path::new("x").into(), content).offset(at as u64);
        let options = DecodeOptions { fields: Fields::ALL, ..DecodeOptions::default() };
        let mut decoded = decode(&chunk, &options);
        all.extend(sequence.chunk(decoded.evidence.take(), at as u64));
        decoded.number(&mut super::super::Totals::default(), &chunk);
        all.append(&mut decoded.damage);
        at += len;
    }
    all.extend(sequence.end(bytes.len() as u64).0);
    all
}

/// The records of a file, without some, as they are written again, and the number of blocks that are passed on.
fn written_again(file: &[u8], without: Range<usize>, blocks: bool) -> (Vec<u8>, usize) {
    let chunk = Chunk::new(Path::new("x").into(), file.to_vec().into());
    let decoded = decode(&chunk, &DecodeOptions { fields: Fields::ALL, blocks, ..DecodeOptions::default() });
    let mut joint = RecordBlocks::of(&Boards).unwrap();
    let mut made = Vec::new();
    for batch in decoded.batches.into_iter().map(Arc::new) {
        let first = batch.first_index as usize;
        let [start, end] = [without.start, without.end].map(|at| at.saturating_sub(first).min(batch.len()));
        let mut piece = Encoded::default();
        piece.add(&Boards, &batch, &[0..start, end..batch.len()]);
        made.extend(joint.join(piece).unwrap());
    }
    made.extend(joint.finish());
    let (mut bytes, mut passed_on) = (Vec::new(), 0);
    let mut writer = Boards.writer();
    writer.begin(&mut bytes).unwrap();
    for block in made {
        let block = block.encode(Encoded::default()).unwrap();
        passed_on += usize::from(block.more.is_some());
        writer.put(&block, &mut bytes).unwrap();
    }
    let header = writer.finish(&mut bytes).unwrap().unwrap();
    bytes[..HEADER_LEN].copy_from_slice(&header);
    (bytes, passed_on)
}

/// The file with something changed in the sections of a kind, and checksums that match.
fn changed(file: &[u8], kind: Kind, change: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let mut at = 0;
    while let Ok(header) = SectionHeader::read(&bytes[at..]) {
        let section = &mut bytes[at..at + header.len as usize];
        if header.kind == kind {
            change(section);
            let checksum = Checksum::of(&section[UNIT..]);
            section[..UNIT].copy_from_slice(&SectionHeader { checksum, ..header }.to_bytes());
        }
        at += header.len as usize;
        if at == bytes.len() {
            return bytes;
        }
    }
    panic!("not a file");
}

/// Which blocks are passed on does not show in what is written.
#[test]
fn blocks_are_passed_on_where_nothing_changes() {
    let mut batch = Batch::new();
    let rows = 2 * BLOCK_LEN + 5;
    batch.extend_from(&small_batch(), (0..rows).map(|row| row % 7 % 3));
    let file = file_of(&batch);
    // The place of a column's entry in its directory.
    let entry = |column: usize| UNIT + column * ENTRY_LEN;
    let values = |block: &[u8], column| u64::from_le_bytes(*block[entry(column) + 8..].first_chunk().unwrap()) as usize;
    const SCORE: usize = 3;
    const SITE: usize = 4;
    let unknown = |section: &mut [u8]| section[entry(SITE)] = 60;
    let other_columns = changed(&changed(&file, Kind::Block, unknown), Kind::Header, unknown);
    let mates = changed(&file, Kind::Block, |block| {
        let rows = u32::from_le_bytes(*block[24..].first_chunk().unwrap()) as usize;
        let present = values(block, SCORE);
        block[present] |= 1;
        let first = present + rows.div_ceil(64) * 8;
        block[first..first + 2].copy_from_slice(&31_990_i16.to_le_bytes());
    });
    let without_scores = changed(&file, Kind::Block, |block| {
        let rows = u32::from_le_bytes(*block[24..].first_chunk().unwrap()) as usize;
        let first = values(block, SCORE);
        block[first..first + rows.div_ceil(64) * 8].fill(0);
    });
    for (case, (file, without, expected)) in [
        (&file, 0..0, 3),
        (&file, 0..1, 0),
        (&file, BLOCK_LEN - 1..BLOCK_LEN, 0),
        (&file, BLOCK_LEN + 9..BLOCK_LEN + 11, 1),
        (&file, rows - 1..rows, 2),
        (&file, 0..BLOCK_LEN, 2),
        (&file, 10..BLOCK_LEN + 10, 1),
        (&file, 0..rows, 0),
        (&other_columns, 0..0, 0),
        (&mates, 0..0, 0),
        (&without_scores, 0..0, 0),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(damage(file), []);
        let (bytes, passed_on) = written_again(file, without.clone(), true);
        assert_eq!(passed_on, expected, "case {case}");
        assert!(bytes == written_again(file, without.clone(), false).0, "case {case}");
        assert_eq!(damage(&bytes), [], "case {case}");
    }
    assert!(written_again(&file, 0..0, true).0 == file);
}

/// Numbers of games go on from file to file, so that blocks with other numbers are made anew.
#[test]
fn blocks_with_other_numbers_of_games_are_not_passed_on() {
    let mut batch = small_batch();
    batch.fields.insert(Field::Game, Array::U64(Values::from(vec![0, 0, 1])));
    let written = |blocks: bool| {
        let mut totals = crate::formats::Totals::default();
        let mut all = Vec::new();
        for file in 0..2 {
            let chunk = Chunk::new(Path::new("x").into(), file_of(&batch).into());
            let options = DecodeOptions { fields: Fields::ALL, blocks, ..DecodeOptions::default() };
            let mut decoded = decode(&chunk, &options);
            decoded.number(&mut totals, &chunk);
            totals.begin();
            let batch = &decoded.batches[0];
            let mut block = Encoded::default();
            let runs = vec![(batch, 0..batch.len())];
            Boards.block(&BlockRecords::of(0, runs), &mut block).unwrap();
            assert_eq!(block.more.is_some(), blocks && file == 0);
            all.extend_from_slice(&block.bytes);
            all.extend_from_slice(block.more.as_deref().unwrap_or_default());
        }
        all
    };
    assert!(written(true) == written(false));
}

#[test]
fn every_flipped_bit_is_found_in_its_section() {
    let bytes = small_file();
    assert_eq!(damage(&bytes), []);
    let sections: Vec<usize> =
        (0..bytes.len()).step_by(UNIT).filter(|&at| SectionHeader::read(&bytes[at..]).is_ok()).collect();
    assert_eq!(sections.len(), 4);
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let section = sections.iter().rfind(|&&at| at <= bit / 8).unwrap();
        let found = damage(&flipped);
        assert_eq!(found[0].offset, *section as u64, "bit {bit}: {found:?}");
    }
}

#[test]
fn every_cut_and_anything_appended_is_found() {
    let bytes = small_file();
    for len in 0..bytes.len() {
        assert!(!damage(&bytes[..len]).is_empty(), "cut at {len}");
    }
    for garbage in [&[0][..], &[0; 64], &[1; 1000], &bytes] {
        let found = damage(&[&bytes, garbage].concat());
        assert_eq!(found[0].offset, bytes.len() as u64, "{found:?}");
    }
}

#[test]
fn another_major_version_is_refused_and_a_minor_one_read() {
    for (version, fine) in [((2, 0), false), ((1, 7), true)] {
        let mut bytes = small_file();
        let mut header = SectionHeader::read(&bytes).unwrap();
        header.extra = header.extra >> 32 << 32 | version.0 | version.1 << 16;
        bytes[..UNIT].copy_from_slice(&header.to_bytes());
        let found = damage(&bytes);
        assert_eq!(found.is_empty(), fine, "{found:?}");
        assert!(fine || found[0].what.contains("version 2.0"));
    }
}
