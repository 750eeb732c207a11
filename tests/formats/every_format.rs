//! What holds for every format in the list: shards partition, chunks and containers make no difference, what is cut off
//! is noticed, and what is written reads back. A new format fails here until it has a sample.

use crate::formats::encoders;
use crate::pipeline::shards::{Order, WAYS, check, frames, gzip, read, read_source, write};
use lanefish::chess::{CastlingRights, Color, Piece, Position, Square};
use lanefish::formats::{Chunk, DecodeOptions, Format};
use lanefish::input::{Inputs, Shard, Source};
use lanefish::jobs::{Content, FileOptions, OutputFormat, RecordFile};
use lanefish::pipeline::RunOptions;
use lanefish::tiers::Tier;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much a sample has.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// Records of formats whose records are made one by one.
    pub(crate) positions: usize,
    /// Lines of the EPD file.
    pub(crate) lines: usize,
    /// Copies of the twelve games from which other formats are converted.
    pub(crate) copies: usize,
}

/// Enough for two blocks or chunks of every format.
const LARGE: Size = Size { positions: 3000, lines: usize::MAX, copies: 60 };

fn positions(count: usize) -> Vec<Position> {
    let path: Arc<Path> = Path::new("data/sample.epd").into();
    let chunk = Chunk::new(Arc::clone(&path), fs::read(&path).unwrap().into());
    let decoded = Format::EPD.decode(&chunk, &DecodeOptions::default());
    let batch = &decoded.batches[0];
    (0..count).map(|row| batch.position(row).unwrap()).collect()
}

/// Records, some of them bad where the format can have bad ones.
fn sample(format: Format, directory: &Path, size: Size) -> Vec<u8> {
    let positions = || positions(size.positions);
    let lines = |line: &dyn Fn(usize, &Position) -> String| {
        let positions = positions();
        let line = |(number, position)| match number % 97 {
            13 => "nonsense\n".to_owned(),
            _ => line(number, position),
        };
        positions.iter().enumerate().map(line).collect::<String>().into_bytes()
    };
    let converted = |name: &str| {
        let path = directory.join(name);
        let file = RecordFile::new(&path, None, FileOptions::default().allow_loss(true)).unwrap();
        let inputs = Inputs::of(std::iter::repeat_n(Path::new("data/lichess-2025-05.pgn"), size.copies));
        let (summary, _) = file.write(&inputs, RunOptions::new(Tier::best().analyzer().unwrap())).unwrap();
        assert!(summary.records > 334 * size.copies as u64);
        fs::read(path).unwrap()
    };
    match format.name() {
        "fen" => lines(&|_, position| format!("{position}\n")),
        "epd" => {
            let text = fs::read_to_string("data/sample.epd").unwrap();
            text.split_inclusive('\n').take(size.lines).collect::<String>().into_bytes()
        }
        "perft" => lines(&|number, position| format!("id {number}\nepd {position}\nperft 1 20\n")),
        "pgn" => fs::read("data/lichess-2025-05.pgn").unwrap(),
        "puzzles" => lines(&|number, position| {
            let moves = position.legal_moves();
            let first = moves.iter().next().map_or("a1a1".to_owned(), |mv| mv.uci(position).as_str().to_owned());
            format!("{number},{position},{first} a1a2,1500,75,90,100,mate,https://x,\n")
        }),
        "csv" => {
            let mut text = b"site,fen,score,result,game\n".to_vec();
            text.extend(lines(&|number, position| {
                format!("\"a, \"\"b\"\"\",{position},{number},1-0,{}\n", number / 70)
            }));
            text
        }
        "tsv" => {
            let mut text = b"fen\tmove\tscore\n".to_vec();
            text.extend(lines(&|number, position| format!("{position}\t\t{}\n", -(number as i32))));
            text
        }
        "jsonl" => lines(&|number, position| match number % 2 {
            0 => format!("{{\"fen\":\"{position}\",\"score\":{number},\"site\":\"\\u00e9\"}}\n"),
            _ => format!("{{\"score\":\"{number}\",\"late\":[{{}}],\"fen\":\"{position}\"}}\n"),
        }),
        "evals" => lines(&|number, position| {
            format!(
                "{{\"fen\":\"{position}\",\"evals\":[{{\"pvs\":[{{\"cp\":{number}}}],\"knodes\":1,\"depth\":9}}]}}\n"
            )
        }),
        "boards" => converted("x.boards"),
        "bullet" => {
            let mut bytes = Vec::new();
            for (number, position) in positions().iter().enumerate() {
                let mut record = encoders::bullet(&position.to_string(), number as i16, (number % 3) as u8);
                if number % 97 == 13 {
                    record[30] = 1;
                }
                bytes.extend(record);
            }
            bytes
        }
        "marlin" => {
            let mut bytes = Vec::new();
            for (number, position) in positions().iter().enumerate() {
                let mut record = encoders::marlin(&position.to_string(), number as i16, (number % 3) as u8);
                if number % 97 == 13 {
                    record[30] = 3;
                }
                bytes.extend(record);
            }
            bytes
        }
        "sfen" => {
            let mut bytes = Vec::new();
            for (number, position) in positions().iter().enumerate() {
                let (score, result) = (number as i16, (number % 3) as i8 - 1);
                let mut record = encoders::sfen(&position.to_string(), score, 0, number as u16, result);
                if number % 97 == 13 {
                    record[38] = 2;
                }
                bytes.extend(record);
            }
            bytes
        }
        "viri" => converted("x.viri"),
        // Two chunks.
        "binpack" => converted("x.binpack").repeat(2),
        "plain" => lines(&|number, position| {
            let moves = position.legal_moves();
            let first = moves.iter().next().map_or("a1a1".to_owned(), |mv| mv.uci(position).as_str().to_owned());
            format!("fen {position}\nmove {first}\nscore {number}\nply {number}\nresult 0\ne\n")
        }),
        "text" => lines(&|number, position| format!("{position} | {number} | 0.5\n")),
        "parquet" => converted("x.parquet"),
        "arrow" => converted("x.arrow"),
        other => panic!("no sample of {other}"),
    }
}

/// A file of each format, named so that it is recognized.
pub(crate) fn samples(directory: &Path) -> Vec<(Format, PathBuf)> {
    samples_of(LARGE, directory)
}

/// The same of this size.
pub(crate) fn samples_of(size: Size, directory: &Path) -> Vec<(Format, PathBuf)> {
    let of = |&format: &Format| {
        let bytes = sample(format, directory, size);
        let name = match format.about().extensions.first() {
            Some(extension) => format!("sample.{extension}"),
            None => format!("sample-{format}"),
        };
        (format, write(directory, &name, bytes))
    };
    Format::ALL.iter().map(of).collect()
}

#[test]
fn shards_partition_and_nothing_depends_on_chunks_or_containers() {
    let directory = tempfile::tempdir().unwrap();
    for (number, (format, path)) in samples(directory.path()).into_iter().enumerate() {
        let whole = read(&path, None, WAYS[0]);
        let found = whole.summary.files[0].format;
        assert_eq!(found, Some(format));
        assert!(whole.summary.failure.is_none() && whole.summary.records > 300, "{format}");
        for (way, count) in WAYS.into_iter().zip([2, 3, 7, 2]) {
            let again = read(&path, None, way);
            assert!(again.records == whole.records && again.rejects == whole.rejects, "{format} {way:?}");
            check(&path, count, way, Order::Places);
        }
        let parts = check(&path, 2, WAYS[0], Order::Places);
        if format.tables().is_some() {
            // All rows are in one group.
            continue;
        }
        assert_eq!(parts, 2, "{format}");
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let gzip = write(directory.path(), &format!("{name}.gz"), gzip(&bytes));
        let frames = write(directory.path(), &format!("{name}.zst"), frames(&bytes, 5000, true));
        for (odd, path) in [gzip, frames].into_iter().enumerate() {
            // Half of the ways for each, the others for the next format.
            for (way, count) in WAYS.into_iter().zip([2, 3, 7, 2]).skip((number + odd) % 2).step_by(2) {
                let again = read(&path, None, way);
                assert!(again.records == whole.records, "{format} {way:?}");
                check(&path, count, way, Order::Turns);
            }
        }
    }
}

/// Bytes in memory are read like a file of the same name, whole, in shards and compressed.
#[test]
fn bytes_in_memory_are_read_like_files() {
    let directory = tempfile::tempdir().unwrap();
    for (number, (format, path)) in samples(directory.path()).into_iter().enumerate() {
        let bytes = fs::read(&path).unwrap();
        let whole = read(&path, None, WAYS[0]);
        let mut sorted = whole.records.clone();
        sorted.sort_unstable();
        let name = path.to_string_lossy();
        let mut sources = vec![Source::in_memory(&path, bytes.clone())];
        if format.tables().is_none() {
            sources.push(Source::in_memory(format!("{name}.gz"), gzip(&bytes)));
            sources.push(Source::in_memory(format!("{name}.zst"), frames(&bytes, 5000, true)));
        }
        // Half of the ways for each, the others for the next format.
        let ways = (0..sources.len())
            .flat_map(|odd| (0..WAYS.len()).skip((number + odd) % 2).step_by(2).map(move |way| (odd, way)));
        for (source, way) in ways.map(|(source, way)| (&sources[source], WAYS[way])) {
            let found = read_source(source.clone(), None, way, |_| {});
            assert!(found.summary.failure.is_none() && found.records == whole.records, "{source} {way:?}");
            assert_eq!(found.rejects.len(), whole.rejects.len(), "{source} {way:?}");
            let mut parts = Vec::new();
            for shard in (0..3).map(|index| Shard::new(index, 3)) {
                parts.extend(read_source(source.clone(), shard, way, |_| {}).records);
            }
            parts.sort_unstable();
            assert!(parts == sorted, "{source} {way:?}");
        }
    }
}

/// A file that ends too early is never taken for a shorter one, unless it is text that ends with a line or a game.
#[test]
fn what_is_cut_off_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    for (format, path) in samples(directory.path()) {
        let whole = read(&path, None, WAYS[0]);
        let bytes = fs::read(&path).unwrap();
        for cut in [bytes.len() - 1, bytes.len() - 7, bytes.len() / 2 + 1, 701] {
            let path = write(directory.path(), &format!("cut-{cut}"), &bytes[..cut]);
            let found =
                crate::pipeline::shards::read_with(&path, None, WAYS[0], |options| options.read.from = Some(format));
            assert!(found.records.len() <= whole.records.len(), "{format} {cut}");
            if format.is_text() {
                continue;
            }
            assert!(found.summary.failure.is_some(), "{format} {cut}");
            let same = found.records.iter().zip(&whole.records).all(|(found, whole)| found == whole);
            assert!(same, "{format} {cut}");
        }
    }
}

#[test]
fn what_is_written_reads_back() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = Inputs::of([Path::new("data/sample.epd")]);
    let fens = |path: &Path| -> Vec<String> {
        let records = read(path, None, WAYS[0]).records;
        records.iter().map(|record| record.split(' ').take(6).collect::<Vec<_>>().join(" ")).collect()
    };
    let whole = fens(Path::new("data/sample.epd"));
    for &format in Format::ALL {
        let path = directory.path().join(format!("written.{format}"));
        // Training data have more than positions: tests of their own read them back.
        let Ok(file) = RecordFile::new(&path, None, FileOptions::default().allow_loss(true)) else {
            let output = OutputFormat::named(format.name(), Content::Records);
            assert!(output.is_err(), "{format}");
            continue;
        };
        let (summary, _) = file.write(&inputs, RunOptions::new(Tier::best().analyzer().unwrap())).unwrap();
        if format == Format::VIRI {
            // The records have no moves.
            assert_eq!(summary.rejected, whole.len() as u64);
            continue;
        }
        let kept: Vec<String> = whole.iter().map(|fen| kept(format, fen)).collect();
        assert!(fens(&path) == kept, "{format}");
    }
}

/// What a format keeps of a position.
fn kept(format: Format, fen: &str) -> String {
    let mut position = Position::from_fen_unvalidated(fen).unwrap();
    match format.name() {
        // The board as the side to move sees it.
        "bullet" => {
            let mut seen = Position::empty();
            let is_black = position.side_to_move == Color::Black;
            for square in position.occupied() {
                let piece = position.piece_at(square).unwrap();
                if is_black {
                    seen.put(Square::new(square.index() as u8 ^ 56), Piece { color: !piece.color, ..piece });
                } else {
                    seen.put(square, piece);
                }
            }
            (seen.halfmove, seen.fullmove) = (0, 1);
            position = seen;
        }
        // Castling is that of standard chess, and clocks have seven bits.
        "sfen" => {
            if !position.castles_as_standard() {
                position.castling = CastlingRights::default();
            }
            position.halfmove = position.halfmove.min(127);
        }
        // The same; the number of the move follows from the ply.
        "binpack" if !position.castles_as_standard() => position.castling = CastlingRights::default(),
        _ => {}
    }
    position.to_string()
}
