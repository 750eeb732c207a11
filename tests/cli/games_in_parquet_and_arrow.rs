//! Games in Parquet and Arrow tables give what the same games give as PGN: the PGN is the truth.

use super::{Dir, json, lanefish, output, sample, stderr_of};
use crate::support::{FAMOUS, Random, shared_data, shared_text};
use arrow_array::builder::{BinaryBuilder, LargeStringBuilder, StringBuilder, StringViewBuilder};
use arrow_array::types::Int16Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use lanefish::chess::{MoveKind, Position};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// A game of a PGN file: its tags, and what follows them.
struct Game {
    tags: Vec<(String, String)>,
    movetext: String,
}

/// The games of a text whose tags each have a line of their own.
fn games_of(pgn: &str) -> Vec<Game> {
    let mut games = Vec::new();
    let mut lines = pgn.lines().peekable();
    while lines.peek().is_some() {
        let mut game = Game { tags: Vec::new(), movetext: String::new() };
        while let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with("[")) {
            if let Some((name, value)) = line.strip_prefix("[").and_then(|line| line.split_once(" \"")) {
                game.tags.push((name.to_owned(), value.trim_end_matches("\"]").to_owned()));
            }
        }
        while let Some(line) = lines.next_if(|line| !line.starts_with("[")) {
            game.movetext += line;
            game.movetext += "\n";
        }
        game.movetext = game.movetext.trim().to_owned();
        games.push(game);
    }
    games
}

/// The column of the texts, in every type of texts.
fn text_columns(texts: &[Option<&str>]) -> Vec<ArrayRef> {
    let (mut large, mut view, mut bytes) = (LargeStringBuilder::new(), StringViewBuilder::new(), BinaryBuilder::new());
    for text in texts {
        large.append_option(*text);
        view.append_option(*text);
        bytes.append_option(*text);
    }
    let dictionary: DictionaryArray<Int16Type> = texts.iter().copied().collect();
    let plain: StringArray = texts.iter().copied().collect();
    vec![
        Arc::new(plain),
        Arc::new(large.finish()),
        Arc::new(view.finish()),
        Arc::new(bytes.finish()),
        Arc::new(dictionary),
    ]
}

/// A table with all tags as columns, and this column of moves. Ratings are integers or numbers of floating point.
fn table(games: &[Game], name: &str, moves: ArrayRef, floats: bool) -> RecordBatch {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in games.iter().flat_map(|game| &game.tags) {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for name in names {
        let value = |game: &Game| game.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.clone());
        let is_number = ["WhiteElo", "BlackElo", "WhiteRatingDiff", "BlackRatingDiff"].contains(&name);
        let numbers = games.iter().map(|game| value(game)?.trim_start_matches('+').parse::<i32>().ok());
        let column: ArrayRef = match (is_number, floats) {
            (true, false) => Arc::new(numbers.collect::<Int32Array>()),
            (true, true) => Arc::new(numbers.map(|number| number.map(f64::from)).collect::<Float64Array>()),
            (false, _) => {
                let mut texts = StringBuilder::new();
                games.iter().for_each(|game| texts.append_option(value(game)));
                Arc::new(texts.finish())
            }
        };
        columns.push((name.to_owned(), column));
    }
    columns.push((name.to_owned(), moves));
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(name, column.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("columns of one length")
}

fn write_parquet(batch: &RecordBatch, rows: usize, compression: Compression) -> Vec<u8> {
    let properties =
        WriterProperties::builder().set_max_row_group_row_count(Some(rows)).set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a schema");
    writer.write(batch).expect("written");
    writer.close().expect("closed");
    bytes
}

fn write_arrow(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).expect("a schema");
    for start in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(start, rows.min(batch.num_rows() - start))).expect("written");
    }
    writer.finish().expect("closed");
    bytes
}

/// Commands whose output depends on every part of reading.
const COMMANDS: [&str; 14] = [
    "compute --columns all --format csv",
    "compute --columns all --format csv --variations",
    "compute --columns fen,tag:UTCTime,tag:Event,tag:WhiteRatingDiff --format csv",
    "compute --columns game,ply,fen --format csv --min-elo 1200 --plies 10..30 --every 3",
    "compute --columns game,ply,fen --format csv --skip 100 --limit 333",
    "compute --columns game,ply,fen --format csv --last",
    "compute --columns game,ply,fen --format csv --sample 50",
    "compute --columns game,ply,fen --format csv --variations --max-per-game 5",
    "compute --columns game,ply,time_used,white_accuracy --format csv --where time_used>500",
    "compute --columns game,ply,fen --format csv --having in_check --result 1-0",
    "games --format csv",
    "games --format jsonl --where white_elo>1000",
    "games --format csv --having in_check --columns game,white,match_plies",
    "games --format csv --skip 3 --limit 4",
];

/// The tables give what the PGN gives.
fn assert_equal(pgn: &str, table: &str, commands: &[&str], threads: &[&str]) {
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        let expected = output(0, &[&arguments[..], &[pgn]].concat());
        for threads in threads {
            let found = output(0, &[&arguments[..], &[table, "--threads", threads]].concat());
            let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
            assert_eq!(differs, None, "{command}: {table}");
            assert_eq!(expected.lines().count(), found.lines().count(), "{command}: {table}");
        }
    }
}

#[test]
fn rows_are_the_games_of_their_pgn() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let games = games_of(&fs::read_to_string(&pgn).expect("a sample"));
    assert!(games.len() > 5);
    let texts: Vec<Option<&str>> = games.iter().map(|game| Some(&*game.movetext)).collect();
    for (number, column) in text_columns(&texts).into_iter().enumerate() {
        let batch = table(&games, ["movetext", "Move_Text", "pgn"][number % 3], column, number % 2 == 0);
        let is_whole = number == 0;
        let zstd = Compression::ZSTD(ZstdLevel::default());
        for (rows, compression) in [(1, zstd), (7, Compression::SNAPPY), (1000, Compression::UNCOMPRESSED)] {
            let commands = if is_whole { &COMMANDS[..] } else { &COMMANDS[..1] };
            let file = dir.file("x.parquet", write_parquet(&batch, rows, compression));
            assert_equal(&pgn, &file, commands, &["1", "2", "8"]);
            let file = dir.file("x.arrow", write_arrow(&batch, rows));
            assert_equal(&pgn, &file, commands, &["2"]);
        }
    }
}

/// Statistics differ only in what they say about the run.
#[test]
fn statistics_are_those_of_the_pgn() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let games = games_of(&fs::read_to_string(&pgn).expect("a sample"));
    let texts: Vec<Option<&str>> = games.iter().map(|game| Some(&*game.movetext)).collect();
    let batch = table(&games, "movetext", text_columns(&texts).remove(0), false);
    let table = dir.file("x.parquet", write_parquet(&batch, 3, Compression::SNAPPY));
    let stats = |file: &str| {
        let mut stats = json(0, &["stats", "--json", "--details", file]);
        stats.as_object_mut().expect("an object").retain(|key, _| key != "run");
        stats
    };
    assert_eq!(stats(&pgn), stats(&table));
    // The numbers of games go on from file to file.
    let last = |files: &[&str]| {
        let rows = output(0, &[&["compute", "--columns", "game", "--format", "csv"], files].concat());
        rows.lines().last().map(str::to_owned)
    };
    assert_eq!(last(&[&pgn, &table]), Some((2 * games.len() - 1).to_string()));
    assert_eq!(last(&[&table, &pgn]), last(&[&pgn, &table]));
    // Shares have whole games, and together all of them.
    let mut of_shares = 0;
    for share in ["0/3", "1/3", "2/3"] {
        of_shares += json(0, &["stats", "--json", "--shard", share, &table])["positions"].as_u64().expect("a number");
    }
    assert_eq!(of_shares, stats(&pgn)["positions"].as_u64().expect("a number"));
}

/// Tags may come before the moves in the same text, where there is no column of their names.
#[test]
fn leading_tags_count_where_there_is_no_column() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let text = fs::read_to_string(&pgn).expect("a sample");
    let starts: Vec<usize> = text.match_indices("[Event ").map(|(at, _)| at).chain([text.len()]).collect();
    let texts: Vec<Option<&str>> = starts.windows(2).map(|pair| Some(&text[pair[0]..pair[1]])).collect();
    let column = text_columns(&texts).remove(0);
    let batch = RecordBatch::try_from_iter([("pgn", column)]).expect("a column");
    let file = dir.file("x.parquet", write_parquet(&batch, 1000, Compression::SNAPPY));
    assert_equal(&pgn, &file, &COMMANDS, &["2"]);
    // A column wins.
    let white: ArrayRef = Arc::new(StringArray::from(vec!["Anna"; texts.len()]));
    let both = RecordBatch::try_from_iter([("white", white), ("pgn", text_columns(&texts).remove(0))]);
    let file = dir.file("y.parquet", write_parquet(&both.expect("two columns"), 1000, Compression::SNAPPY));
    let names = output(0, &["games", "--format", "csv", "--columns", "white", &file]);
    assert!(names.lines().skip(1).all(|name| name == "Anna"), "{names}");
}

/// What is written as PGN has the same games.
#[test]
fn games_are_written_as_pgn() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let games = games_of(&fs::read_to_string(&pgn).expect("a sample"));
    let texts: Vec<Option<&str>> = games.iter().map(|game| Some(&*game.movetext)).collect();
    let batch = table(&games, "movetext", text_columns(&texts).remove(0), false);
    let table = dir.file("x.parquet", write_parquet(&batch, 4, Compression::SNAPPY));
    for (options, number) in [(&[][..], "0"), (&["--having", "in_check"], "1"), (&["--sort", "white_elo"], "2")] {
        let [of_pgn, of_table] = ["p", "t"].map(|name| dir.name(&format!("{name}{number}.pgn")));
        output(0, &[&["games", &pgn, "-o", &of_pgn], options].concat());
        output(0, &[&["games", &table, "-o", &of_table], options].concat());
        assert_equal(&of_pgn, &of_table, &COMMANDS, &["2"]);
    }
    // Without a result, the tag's is written; where both differ, the tag counts.
    let made = [("1. e4 e5", Some("1-0")), ("1. e4 e5 0-1", Some("1-0")), ("1. d4 1/2-1/2", None), ("", None)];
    let results: ArrayRef = Arc::new(made.iter().map(|(_, result)| *result).collect::<StringArray>());
    let moves: ArrayRef = Arc::new(made.iter().map(|(moves, _)| Some(*moves)).collect::<StringArray>());
    let batch = RecordBatch::try_from_iter([("result", results), ("movetext", moves)]).expect("two columns");
    let table = dir.file("y.parquet", write_parquet(&batch, 4, Compression::SNAPPY));
    let written = dir.name("y.pgn");
    output(0, &["games", &table, "-o", &written]);
    let expected = "[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n\
                    [Result \"1/2-1/2\"]\n\n1. d4 1/2-1/2\n\n[Result \"*\"]\n\n*\n\n";
    assert_eq!(fs::read_to_string(&written).expect("written"), expected);
    let results = output(0, &["games", "--format", "csv", "--columns", "result,plies", &table]);
    assert_eq!(results.lines().skip(1).collect::<Vec<_>>(), ["1-0,2", "1-0,2", "1/2-1/2,1", ",0"]);
}

/// Which rows are games is decided from the schema.
#[test]
fn games_and_positions_are_told_apart() {
    let dir = Dir::new();
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["1. e4 e5"]));
    let fens: ArrayRef = Arc::new(StringArray::from(vec!["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let write = |name: &str, columns: &[(&str, &ArrayRef)]| {
        let columns = columns.iter().map(|(name, column)| (*name, Arc::clone(column)));
        let batch = RecordBatch::try_from_iter(columns).expect("columns");
        dir.file(name, write_parquet(&batch, 4, Compression::SNAPPY))
    };
    let count = |arguments: &[&str]| {
        let rows = output(0, &[&["compute", "--columns", "fen", "--format", "csv"], arguments].concat());
        rows.lines().count() - 1
    };
    let moves_of = |moves: &str| -> ArrayRef { Arc::new(StringArray::from(vec![moves])) };
    let both = write("both.parquet", &[("fen", &fens), ("movetext", &texts)]);
    assert_eq!(count(&[&both]), 1);
    let note = stderr_of(0, &["compute", "--columns", "fen", &both]);
    assert!(note.contains("each row is read as a position; --moves-column movetext reads games"), "{note}");
    assert_eq!(count(&[&both, "--moves-column", "movetext"]), 3);
    let from = write("from.parquet", &[("start_fen", &fens), ("movetext", &moves_of("1. Kd2"))]);
    assert_eq!(count(&[&from]), 2);
    let other = write("other.parquet", &[("fen", &fens), ("line", &moves_of("1. e4 Kd7"))]);
    assert_eq!(count(&[&other, "--moves-column", "line", "--start-column", "fen"]), 3);
    let info = output(0, &["info", &from]);
    assert!(info.contains("rows: games as movetext in the column `movetext` (Utf8)"), "{info}");
    let info = output(0, &["info", &both]);
    assert!(info.contains("rows: positions in the column `fen` (Utf8)"), "{info}");
    let neither = write("neither.parquet", &[("movetext", &numbers), ("x", &texts)]);
    let error = stderr_of(2, &["stats", &neither]);
    for part in ["has neither positions", "nor games", "`movetext` (Int32)", "--moves-column"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let error = stderr_of(2, &["stats", &neither, "--moves-column", "y"]);
    assert!(error.contains("has no column `y`, which --moves-column names"), "{error}");
    let error = stderr_of(2, &["stats", &neither, "--moves-column", "movetext"]);
    assert!(error.contains("does not hold text"), "{error}");
    lanefish(&["stats", &neither, "--moves-column", "x", "--fen-column", "x"]).assert().code(2);
    let csv = dir.file("x.csv", "fen,movetext\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,1. e4\n");
    let error = stderr_of(2, &["stats", &csv, "--moves-column", "movetext"]);
    assert!(error.contains("--moves-column and --start-column are for games in Parquet and Arrow"), "{error}");
    // A dump has no columns, but may stand beside a table.
    let pgn = sample("lichess-2025-05.pgn");
    let note = stderr_of(1, &["compute", "--columns", "fen", &pgn, &other, "--moves-column", "line"]);
    assert!(
        note.contains("lichess-2025-05.pgn: --moves-column and --start-column are for Parquet and Arrow"),
        "{note}"
    );
    assert!(!note.contains("other.parquet: --moves-column"), "{note}");
}

/// Damaged rows keep the positions before the damage, and their neighbours are untouched.
#[test]
fn damaged_rows_are_rejected_with_their_places() {
    let Some(expected) = shared_text("game-tables/damaged.json") else { return };
    let file = shared_data("game-tables/damaged-movetext.parquet").expect("it is beside the other");
    let file = file.display().to_string();
    let dir = Dir::new();
    let rejects = dir.name("rejects");
    let rows = output(1, &["compute", "--columns", "game", "--format", "csv", "--rejects", &rejects, &file]);
    let expected: serde_json::Value = serde_json::from_str(&expected).expect("JSON");
    let rejects = fs::read_to_string(&rejects).expect("written");
    for (row, what) in expected["damaged-movetext.parquet"].as_array().expect("rows").iter().enumerate() {
        let positions = rows.lines().filter(|line| *line == row.to_string()).count();
        let place = format!("{file}#{row}\t");
        let rejected = rejects.lines().filter(|line| line.starts_with(&place)).count();
        for (key, found) in [("positions", positions), ("rejects", rejected)] {
            if let Some(expected) = what[key].as_u64() {
                assert_eq!(found as u64, expected, "{key} of row {row}: {what}");
            }
        }
    }
    for threads in ["1", "8"] {
        let again = output(1, &["compute", "--columns", "game", "--format", "csv", "--threads", threads, &file]);
        assert!(again == rows);
    }
}

/// Moves in UCI and in SAN give the games of their PGN, from every start and with castling in both spellings.
#[test]
fn moves_are_read_in_uci_and_san() {
    let dir = Dir::new();
    let mut random = Random::new(960);
    let (mut pgn, mut uci, mut san, mut starts) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..300 {
        let chess960 = number % 3 == 1;
        let mut position = match number % 3 {
            0 => Position::standard(),
            1 => {
                let number = random.below(960) as u16;
                Position::chess960(number, number).expect("there are 960")
            }
            _ => FAMOUS[random.below(6) as usize].parse().expect("a position"),
        };
        let fen = (number % 3 != 0).then(|| position.to_string());
        let (mut in_uci, mut in_san) = (Vec::new(), Vec::new());
        for _ in 0..random.below(100) {
            let moves = position.legal_moves();
            let castling = moves.iter().find(|mv| mv.kind == MoveKind::Castle);
            let Some(&mv) = castling.or_else(|| moves.get(random.below(moves.len().max(1) as u64) as usize)) else {
                break;
            };
            in_uci.push(mv.uci_as(chess960 || random.below(2) == 0).to_string());
            in_san.push(mv.san(&position));
            position.make(mv);
        }
        pgn += &format!("[White \"{number}\"]\n");
        if let Some(fen) = &fen {
            let variant = if chess960 { "[Variant \"Chess960\"]\n" } else { "" };
            pgn += &format!("{variant}[SetUp \"1\"]\n[FEN \"{fen}\"]\n");
        }
        pgn += &format!("\n{} *\n\n", in_san.join(" "));
        uci.push(in_uci.join(" "));
        san.push(in_san.join(" "));
        starts.push(fen);
    }
    let pgn = dir.file("x.pgn", pgn);
    for (name, texts) in [("moves", &uci), ("moves_san", &san), ("transcript", &uci), ("San", &san)] {
        let white: StringArray = (0..300).map(|number| Some(number.to_string())).collect();
        let variant: StringArray = (0..300).map(|number| (number % 3 == 1).then_some("Chess960")).collect();
        let starts: StringArray = starts.iter().map(Option::as_deref).collect();
        let texts: StringArray = texts.iter().map(|text| Some(&**text)).collect();
        let columns: [(&str, ArrayRef); 4] = [
            ("white", Arc::new(white)),
            ("variant", Arc::new(variant)),
            ("initial_fen", Arc::new(starts)),
            (name, Arc::new(texts)),
        ];
        let batch = RecordBatch::try_from_iter(columns).expect("four columns");
        let table = dir.file("x.parquet", write_parquet(&batch, 37, Compression::SNAPPY));
        assert_equal(&pgn, &table, &COMMANDS[..10], &["1", "2"]);
        let table = dir.file("x.arrow", write_arrow(&batch, 100));
        assert_equal(&pgn, &table, &COMMANDS[..1], &["2"]);
    }
}

/// What is wrong with a word of UCI is said with its place, and ends the game there.
#[test]
fn wrong_moves_in_uci_are_rejected() {
    let dir = Dir::new();
    let rows = [
        ("e2e4 e7e5 1-0", 3, ""),
        ("e2e4 e7e5 1-0 g1f3", 3, "`g1f3` follows after the end of the game"),
        ("e2e4 e7e6e5", 2, "unexpected token `e7e6e5`"),
        ("e2e4 e5", 2, "unexpected token `e5`"),
        ("e2e4 0000 e1e2", 4, ""),
        ("e2e4 e7e5 e1g1", 3, "illegal move `e1g1`"),
        ("e2e4 e7e5 a7a8q", 3, "illegal move `a7a8q`"),
        ("0000", 2, ""),
        ("", 1, ""),
        ("  e2e4\te7e5\n ", 3, ""),
        ("e2e4 e7e5", 3, ""),
    ];
    let moves: ArrayRef = Arc::new(rows.iter().map(|(moves, ..)| Some(*moves)).collect::<StringArray>());
    let batch = RecordBatch::try_from_iter([("uci", moves)]).expect("a column");
    let table = dir.file("x.parquet", write_parquet(&batch, 3, Compression::SNAPPY));
    let found = output(1, &["compute", "--columns", "game", "--format", "csv", &table]);
    let messages = stderr_of(1, &["compute", "--columns", "game", "--format", "csv", &table]);
    for (row, (moves, positions, message)) in rows.iter().enumerate() {
        assert_eq!(found.lines().filter(|line| *line == row.to_string()).count(), *positions, "{moves}");
        let place = format!("(row {row}, ");
        let told = messages.lines().find(|line| line.contains(&place));
        assert_eq!(told.is_some(), !message.is_empty(), "{moves}: {told:?}");
        assert!(told.is_none_or(|told| told.contains(message)), "{moves}: {told:?}");
    }
}

/// Files that are cut off or have flipped bits are errors, or give other moves, and nothing panics.
#[test]
fn damaged_files_are_not_taken_for_shorter_ones() {
    let dir = Dir::new();
    let games = games_of(&fs::read_to_string(sample("lichess-2025-05.pgn")).expect("a sample"));
    let texts: Vec<Option<&str>> = games.iter().map(|game| Some(&*game.movetext)).collect();
    let batch = table(&games, "movetext", text_columns(&texts).remove(0), false);
    let mut random = Random::new(67);
    for (name, bytes) in
        [("x.parquet", write_parquet(&batch, 4, Compression::SNAPPY)), ("x.arrow", write_arrow(&batch, 4))]
    {
        for round in 0..60 {
            let mut bytes = bytes.clone();
            if round % 2 == 0 {
                bytes.truncate(random.below(bytes.len() as u64) as usize);
            } else {
                let bit = random.below(8 * bytes.len() as u64);
                bytes[bit as usize / 8] ^= 1 << (bit % 8);
            }
            let file = dir.file(name, &bytes);
            let done = lanefish(&["compute", "--columns", "game", "--format", "csv", &file]).output().expect("it runs");
            let status = done.status.code().expect("no signal");
            let rows = String::from_utf8(done.stdout).expect("text");
            let last = rows.lines().last().map(str::to_owned);
            assert!(status != 0 || last == Some((games.len() - 1).to_string()), "{name}, round {round}: {last:?}");
            assert!(!String::from_utf8_lossy(&done.stderr).contains("panicked"), "{name}, round {round}");
        }
    }
}

/// The folders of the shared data, whose truth is PGN.
#[test]
fn samples_are_the_games_of_their_pgn() {
    for (pgn, table, commands) in [
        ("pgn/lichess_db_1000k.pgn", "game-tables/hub", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12][..]),
        ("game-tables/mixed.pgn", "game-tables/mixed-movetext.parquet", &[3, 4, 5, 6, 7]),
        ("game-tables/mixed.pgn", "game-tables/mixed-uci.parquet", &[3, 4, 5, 6]),
        ("pgn/lichess_db_1000k.pgn", "game-tables/uci.parquet", &[3, 4, 5, 6]),
        ("pgn/lichess_db_1000k.pgn", "game-tables/san.parquet", &[3, 4, 5, 6]),
    ] {
        let (Some(pgn), Some(table)) = (shared_data(pgn), shared_data(table)) else { return };
        let [pgn, table] = [pgn, table].map(|path: PathBuf| path.display().to_string());
        let commands: Vec<&str> = commands.iter().map(|&at| COMMANDS[at]).collect();
        assert_equal(&pgn, &table, &commands, &["1", "2", "8"]);
    }
}
