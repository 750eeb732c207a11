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
use crate::chess::Position;
use crate::error::Error;
use crate::formats::boards::BoardsWriter;
use crate::formats::pgn::bench_stages::Stages;
use crate::formats::{Chunk, DecodeOptions, Format};
use crate::packed::{Group, Packed};
#[cfg(target_arch = "x86_64")]
use crate::simd::bytes::Avx512Blocks;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512Gfni};
use crate::simd::{Scalar, Simd};
use crate::sliders::Kind;
use crate::table::{Batch, Fields};
use std::hint::black_box;
use std::slice;

/// Number of decoded positions.
const POSITIONS: usize = 1 << 14;

/// Verifies and times all rows, and passes them to `show`. Uses the first 16,384 positions; if there are fewer, each is
/// followed by random moves.
///
/// # Errors
/// [`Error::Threads`] if they cannot be started.
pub fn measure_decode(options: &BenchOptions, positions: &[Position], show: &mut dyn FnMut(Row)) -> Result<(), Error> {
    let (positions, _) = groups_of(&follow_up(positions, POSITIONS));
    let batch = batch_of(&positions);
    let boards: Vec<Packed> = boards_of(&batch).collect();
    let lines = fen_lines(&positions);
    let games = RandomGames::play();
    let (fen, pgn) = (chunk(lines.clone()), chunk(games.text.into_bytes()));
    let file = chunk(boards_file(&batch));

    let stages = Stages::of(&pgn.bytes);
    let mut comparison = Comparison::new(options);
    for (format, chunk, boards) in
        [(Format::FEN, &fen, &boards), (Format::PGN, &pgn, &games.boards), (Format::BOARDS, &file, &boards)]
    {
        let row = row(format.name(), chunk.bytes.len(), boards.len());
        comparison.add(row, || Some(reading(format, chunk, boards)));
    }
    for Stage { name, needs, prepare } in all_stages(&stages, &games.boards) {
        let row = Row { kind: Kind::of(needs), needs, ..row(name, pgn.bytes.len(), games.boards.len()) };
        comparison.add(row, || {
            let (verified, pass) = prepare()?;
            let checksum = pass(&stages);
            let pass = move |all: &[Stages<'_>]| all.iter().map(&pass).sum();
            Some(Candidate::passes(slice::from_ref(&stages), stages.rows(), verified, checksum, pass))
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

/// A stage of reading games, in one of its ways.
struct Stage<'a> {
    name: &'static str,
    /// The CPU features that it uses.
    needs: &'static [&'static str],
    prepare: Box<dyn FnOnce() -> Option<Prepared<'a>> + 'a>,
}

/// Whether the result is right, and a pass over all games.
type Prepared<'a> = (bool, Box<dyn Fn(&Stages<'_>) -> u64 + Sync + 'a>);

/// All stages of reading games.
fn all_stages<'a>(stages: &'a Stages<'_>, boards: &'a [Packed]) -> Vec<Stage<'a>> {
    let words = stages.read();
    let mut all = vec![
        stage("pgn_scan", &[], move || Some((stages.scanned() == words, Box::new(|stages| stages.scanned())))),
        stage("pgn_words", &[], || Some((true, Box::new(|stages| stages.read())))),
        stage("pgn_replay", &[], || {
            Some((are_boards(&stages.replay(), boards), Box::new(|stages| stages.replay().len() as u64)))
        }),
    ];
    all.extend(lanes::<Scalar>(stages, boards, ["pgn_words_portable", "pgn_replay_portable"]));
    #[cfg(target_arch = "x86_64")]
    {
        all.push(stage("pgn_scan_avx2", Avx2::FEATURES, move || {
            let scanned = stages.scanned_in_avx2()?;
            Some((scanned == words, Box::new(|stages| stages.scanned_in_avx2().unwrap_or(0))))
        }));
        all.extend(lanes::<Avx2>(stages, boards, ["pgn_words_avx2", "pgn_replay_avx2"]));
        all.push(stage("pgn_scan_avx512", Avx512Blocks::FEATURES, move || {
            let scanned = stages.scanned_in_avx512()?;
            Some((scanned == words, Box::new(|stages| stages.scanned_in_avx512().unwrap_or(0))))
        }));
        all.extend(lanes::<Avx512Gfni>(stages, boards, ["pgn_words_avx512", "pgn_replay_avx512"]));
    }
    all
}

/// The stages that have lanes.
fn lanes<'a, S: Simd>(
    stages: &'a Stages<'_>,
    boards: &'a [Packed],
    [words, replay]: [&'static str; 2],
) -> [Stage<'a>; 2] {
    [
        stage(words, S::FEATURES, || {
            let simd = S::detect()?;
            Some((true, Box::new(move |stages| stages.read_in_lanes(simd).len() as u64)))
        }),
        stage(replay, S::FEATURES, || {
            let simd = S::detect()?;
            let orders = stages.read_in_lanes(simd);
            let verified = are_boards(&stages.replay_in_lanes(simd, &orders), boards);
            Some((verified, Box::new(move |stages| stages.replay_in_lanes(simd, &orders).len() as u64)))
        }),
    ]
}

fn stage<'a>(
    name: &'static str,
    needs: &'static [&'static str],
    prepare: impl FnOnce() -> Option<Prepared<'a>> + 'a,
) -> Stage<'a> {
    Stage { name, needs, prepare: Box::new(prepare) }
}

/// Prepares the stages of reading games that this CPU has, and passes each to `each`: the name of its row, its number of
/// positions, and a pass over all of them, which returns a number that depends on the work. For benchmarks that take
/// the time themselves.
///
/// ```
/// lanefish::bench::decode::for_each_stage(|name, positions, pass| {
///     assert!(name.starts_with("pgn_"));
///     assert!(positions > 0 && pass() > 0);
/// });
/// ```
pub fn for_each_stage(mut each: impl FnMut(&'static str, usize, &dyn Fn() -> u64)) {
    let games = RandomGames::play();
    let stages = Stages::of(games.text.as_bytes());
    for stage in all_stages(&stages, &games.boards) {
        if let Some((_, pass)) = (stage.prepare)() {
            each(stage.name, stages.rows(), &|| pass(&stages));
        }
    }
}

fn are_boards(groups: &[Group], boards: &[Packed]) -> bool {
    let found = groups.iter().flat_map(|group| (0..Group::LEN).map(|lane| group.get(lane)));
    found.take(boards.len()).eq(boards.iter().copied())
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
