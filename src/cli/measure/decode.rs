//! The decoding rows: from text and files to packed boards, and from packed boards to positions and back.
//!
//! | row | timed work |
//! | --- | --- |
//! | `fen` | lines of FEN to packed boards, as files are read |
//! | `pgn` | games of random play, with tags and clocks, to packed boards; every move is parsed and made |
//! | `pgn_scan` | the same games, after their tags: where moves begin and end, one block of text after the other |
//! | `pgn_scan_avx2`, `pgn_scan_avx512` | the same, four or eight blocks at once |
//! | `pgn_words` | the words of these moves, read one by one |
//! | `pgn_words_portable`, `pgn_words_avx2`, `pgn_words_avx512` | the same, read in lanes |
//! | `pgn_replay` | these moves played game by game, to packed boards |
//! | `pgn_replay_portable`, `pgn_replay_avx2`, `pgn_replay_avx512` | the same, one game per lane |
//! | `boards` | blocks of a boards file in memory to packed boards; checksums are compared, columns copied |
//! | `pack` | positions to packed boards |
//! | `unpack` | packed boards to positions |
//! | `write_fen` | positions to lines of FEN |
//!
//! All but those of `pgn` use the same positions. Reading games takes what the CPU does fastest of each stage.

use super::generated::{RandomGames, batch_of, boards_found, boards_of, chunk, fen_lines};
use super::positions::{digest, follow_up, groups_of};
use super::{BenchOptions, Candidate, Comparison, Row, Subject};
use lanefish::Error;
use lanefish::chess::Position;
use lanefish::formats::boards::BoardsWriter;
use lanefish::formats::pgn::reading_stages;
use lanefish::formats::{Chunk, DecodeOptions, Format};
use lanefish::packed::Packed;
use lanefish::sliders::Kind;
use lanefish::table::{Batch, Fields};
use std::hint::black_box;
use std::slice;

/// Number of decoded positions.
const POSITIONS: usize = 1 << 14;

/// Verifies and times all rows, and passes them to `show`. Uses the first 16,384 positions; if there are fewer, each is
/// followed by random moves.
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
pub(in crate::cli) fn measure_decode(
    options: &BenchOptions,
    positions: &[Position],
    show: &mut dyn FnMut(Row),
) -> Result<(), Error> {
    let (positions, _) = groups_of(&follow_up(positions, POSITIONS));
    let batch = batch_of(&positions);
    let boards: Vec<Packed> = boards_of(&batch).collect();
    let lines = fen_lines(&positions);
    let games = RandomGames::play();
    let (fen, pgn) = (chunk(lines.clone()), chunk(games.text.into_bytes()));
    let file = chunk(boards_file(&batch));

    let mut comparison = Comparison::new(options);
    for (format, chunk, boards) in
        [(Format::FEN, &fen, &boards), (Format::PGN, &pgn, &games.boards), (Format::BOARDS, &file, &boards)]
    {
        let row = row(format.name(), chunk.bytes.len(), boards.len());
        comparison.add(row, || Some(reading(format, chunk, boards)));
    }
    for stage in reading_stages(&pgn.bytes, &games.boards) {
        let (needs, positions) = (stage.needs, stage.positions);
        let row = Row { kind: Kind::of(needs), needs, ..row(stage.name, pgn.bytes.len(), positions) };
        comparison.add(row, || {
            let (verified, pass) = stage.prepare()?;
            let checksum = pass();
            Some(Candidate::passes(&[()], positions, verified, checksum, move |_| pass()))
        });
    }
    comparison.add(row("pack", size_of_val(&*boards), boards.len()), || {
        let packed: Vec<Packed> = positions.iter().filter_map(|p| Packed::pack(p).ok()).collect();
        let pass = |positions: &[Position]| {
            for position in positions {
                let _ = black_box(Packed::pack(position));
            }
            0
        };
        let verified = packed == boards;
        Some(Candidate::passes(&positions, 1, verified, checksum(&packed), pass))
    });
    comparison.add(row("unpack", size_of_val(&*boards), boards.len()), || {
        let same = |(board, position): (&Packed, &Position)| {
            board.unpack(position.halfmove, position.fullmove).as_ref() == Ok(position)
        };
        let verified = boards.iter().zip(&positions).all(same);
        let pass = |boards: &[Packed]| {
            for board in boards {
                let _ = black_box(board.unpack(0, 1));
            }
            0
        };
        Some(Candidate::passes(&boards, 1, verified, checksum(&boards), pass))
    });
    comparison.add(row("write_fen", lines.len(), positions.len()), || {
        let text = String::from_utf8_lossy(&lines);
        let read = text.lines().zip(&positions);
        let verified = read
            .fold(true, |good, (line, position)| good && Position::from_fen_unvalidated(line).as_ref() == Ok(position));
        let sum = digest(lines.iter().map(|&byte| byte.into()));
        let pass = |positions: &[Position]| fen_lines(positions).len() as u64;
        Some(Candidate::passes(&positions, 1, verified, sum, pass))
    });
    comparison.finish(show)
}

fn row(name: &'static str, bytes: usize, positions: usize) -> Row {
    Row {
        group: "decode",
        name,
        kind: Kind::Portable,
        needs: &[],
        subject: Subject::Decode { bytes_per_position: bytes as f64 / positions as f64 },
        measured: None,
    }
}

fn checksum(boards: &[Packed]) -> u64 {
    boards.iter().fold(0, |sum, board| {
        let [a, b, c] = board.types;
        sum.wrapping_add(digest([board.color, a, b, c]))
    })
}

/// Decodes all bytes at once, which must give these boards.
fn reading<'a>(format: Format, chunk: &'a Chunk, boards: &[Packed]) -> Candidate<'a> {
    let options = DecodeOptions::default();
    let decoded = format.decode(chunk, &options);
    let found = boards_found(&decoded);
    let verified = found == boards && decoded.rejects.is_empty() && decoded.damage.is_empty();
    let pass = move |chunks: &[Chunk]| {
        for chunk in chunks {
            black_box(format.decode(chunk, &options));
        }
        0
    };
    let chunks = slice::from_ref(chunk);
    Candidate::passes(chunks, boards.len(), verified, checksum(&found), pass)
}

fn boards_file(batch: &Batch) -> Vec<u8> {
    const IN_MEMORY: &str = "writing to memory does not fail";
    let mut writer = BoardsWriter::new(Vec::new(), Fields::NONE).expect(IN_MEMORY);
    writer.write(batch, 0..batch.len()).expect(IN_MEMORY);
    writer.finish().expect(IN_MEMORY).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn rows_are_verified() {
        let options = BenchOptions { time: Duration::ZERO, ..BenchOptions::default() };
        let mut rows = Vec::new();
        measure_decode(&options, &[], &mut |row| rows.push(row)).unwrap();
        assert_eq!(rows.len(), 17);
        for row in &rows {
            // Only rows that need something of the CPU may be missing.
            let verified = row.measured.map_or(!row.needs.is_empty(), |measured| measured.verified);
            assert!(verified, "{}", row.title());
        }
    }
}
