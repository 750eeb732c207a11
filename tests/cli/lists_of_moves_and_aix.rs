//! Games as lists of moves, and in the bytes of Aix, give what the same games give in other forms.

use super::{Dir, output, sample, stderr_of};
use crate::support::{Random, shared_data, shared_text};
use arrow_array::builder::{
    FixedSizeListBuilder, GenericListBuilder, Int32Builder, LargeStringBuilder, MapBuilder, StringBuilder,
    StringDictionaryBuilder,
};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, DictionaryArray, Float64Array, LargeStringArray, NullArray,
    RecordBatch, StringArray, StringViewArray, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Fields};
use lanefish::chess::{MoveKind, Position};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};
use std::fs;
use std::sync::Arc;

/// Lists of texts, with nulls among lists and elements.
type Lists = Vec<List>;
type List = Option<Vec<Option<String>>>;

fn list_columns(lists: &Lists) -> Vec<ArrayRef> {
    macro_rules! lists {
        ($offset:ty, $texts:ty) => {{
            let mut builder = GenericListBuilder::<$offset, _>::new(<$texts>::new());
            for list in lists {
                for element in list.iter().flatten() {
                    builder.values().append_option(element.as_deref());
                }
                builder.append(list.is_some());
            }
            Arc::new(builder.finish()) as ArrayRef
        }};
    }
    vec![lists!(i32, StringBuilder), lists!(i64, LargeStringBuilder), lists!(i32, StringDictionaryBuilder<Int32Type>)]
}

fn parquet(batch: &RecordBatch, rows: usize, version: WriterVersion) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows))
        .set_compression(Compression::SNAPPY)
        .set_writer_version(version)
        .set_data_page_size_limit(100)
        .set_write_batch_size(16);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).expect("a schema");
    writer.write(batch).expect("written");
    writer.close().expect("closed");
    bytes
}

fn arrow(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).expect("a schema");
    for start in (0..batch.num_rows()).step_by(77) {
        writer.write(&batch.slice(start, 77.min(batch.num_rows() - start))).expect("written");
    }
    writer.finish().expect("closed");
    bytes
}

/// Random games, as words of UCI or SAN.
fn random_games(count: usize, is_uci: bool, random: &mut Random) -> Vec<Vec<String>> {
    let mut games = Vec::new();
    for _ in 0..count {
        let mut position = Position::standard();
        let mut words = Vec::new();
        for _ in 0..random.below(120) {
            let moves = position.legal_moves();
            let castling = moves.iter().find(|mv| mv.kind == MoveKind::Castle);
            let any = moves.get(random.below(moves.len().max(1) as u64) as usize);
            let Some(&mv) = castling.or(any) else { break };
            words.push(if is_uci { mv.uci_as(false).to_string() } else { mv.san(&position) });
            position.make(mv);
        }
        games.push(words);
    }
    games
}

/// The commands give the same for both files, with any number of threads.
pub(super) fn assert_same(one: &str, other: &str, commands: &[&str]) {
    assert_same_with(0, one, other, &[], commands);
}

/// The same with this exit status; the second file is read with these options.
fn assert_same_with(status: i32, one: &str, other: &str, options: &[&str], commands: &[&str]) {
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        let expected = output(status, &[&arguments[..], &[one]].concat());
        for threads in ["1", "2", "8"] {
            let found = output(status, &[&arguments[..], &[other, "--threads", threads], options].concat());
            let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
            assert_eq!(differs, None, "{command}: {other}");
            assert_eq!(expected.lines().count(), found.lines().count(), "{command}: {other}");
        }
    }
}

const COMMANDS: [&str; 6] = [
    "compute --columns all --format csv",
    "compute --columns game,ply,fen --format csv --plies 10..30 --every 3 --result 1-0",
    "compute --columns game,ply,fen --format csv --skip 100 --limit 333",
    "compute --columns game,ply,fen --format csv --sample 50",
    "compute --columns game,ply,fen --format csv --having in_check",
    "games --format csv",
];

#[test]
fn lists_of_moves_are_read_as_their_texts() {
    let dir = Dir::new();
    let mut random = Random::new(71);
    for (name, is_uci) in [("moves", true), ("moves_san", false)] {
        let games = random_games(200, is_uci, &mut random);
        let results: ArrayRef =
            Arc::new((0..games.len()).map(|game| Some(["1-0", "0-1", "1/2-1/2"][game % 3])).collect::<StringArray>());
        let texts: ArrayRef = Arc::new(games.iter().map(|words| Some(words.join(" "))).collect::<StringArray>());
        let of = |moves: ArrayRef| {
            RecordBatch::try_from_iter([("result", Arc::clone(&results)), (name, moves)]).expect("two columns")
        };
        let text = dir.file("t.parquet", parquet(&of(texts), 1000, WriterVersion::PARQUET_1_0));
        let lists: Lists =
            games.iter().map(|words| Some(words.iter().map(|word| Some(word.clone())).collect())).collect();
        for (number, column) in list_columns(&lists).into_iter().enumerate() {
            let batch = of(column);
            for (rows, version) in
                [(1000, WriterVersion::PARQUET_1_0), (7, WriterVersion::PARQUET_1_0), (90, WriterVersion::PARQUET_2_0)]
            {
                let commands = if number == 0 { &COMMANDS[..] } else { &COMMANDS[..1] };
                assert_same(&text, &dir.file("l.parquet", parquet(&batch, rows, version)), commands);
            }
            assert_same(&text, &dir.file("l.arrow", arrow(&batch)), &COMMANDS);
        }
        // What is written as PGN has the same games.
        let list = dir.file("l.arrow", arrow(&of(list_columns(&lists).remove(0))));
        let written = dir.name(&format!("{name}.pgn"));
        output(0, &["games", &list, "-o", &written]);
        assert_same(&text, &written, &COMMANDS[..3]);
        let movetext = fs::read_to_string(&written).expect("written");
        assert!(movetext.contains("\n1. ") && movetext.contains(" 2. "), "{}", &movetext[..300]);
    }
}

/// A struct with this column among others of any type, this many times within each other. The outermost one is `a`.
fn within_structs(column: &ArrayRef, depth: usize, is_missing: impl Fn(usize, usize) -> bool) -> RecordBatch {
    let rows = column.len();
    let words: DictionaryArray<Int8Type> = (0..rows).map(|row| ["x", "y"].get(row % 3).copied()).collect();
    let lists = list_columns(&vec![Some(vec![Some("e2e4".to_owned()), None]); rows]).remove(0);
    let mut entries = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in 0..rows {
        entries.keys().append_value("x");
        entries.values().append_value(row as i32);
        entries.append(row % 2 == 0).expect("an entry");
    }
    let others: [(&str, ArrayRef); 6] = [
        ("flag", Arc::new((0..rows).map(|row| (row % 2 == 0).then_some(row % 3 == 0)).collect::<BooleanArray>())),
        ("none", Arc::new(NullArray::new(rows))),
        ("word", Arc::new(words)),
        ("list", lists),
        ("map", Arc::new(entries.finish())),
        ("number", Arc::new((0..rows).map(|row| Some(row as f64)).collect::<Float64Array>())),
    ];
    let mut column = Arc::clone(column);
    for level in 0..depth {
        let siblings = others.iter().filter(|_| level == 0).map(|(name, array)| (*name, Arc::clone(array)));
        let columns: Vec<(&str, ArrayRef)> = siblings.chain([("m.x", column)]).collect();
        let fields: Fields =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        let nulls: NullBuffer = (0..rows).map(|row| !is_missing(level, row)).collect::<Vec<_>>().into();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        column = Arc::new(StructArray::new(fields, arrays, Some(nulls)));
    }
    RecordBatch::try_from_iter([("before", Arc::clone(&others[0].1)), ("a", column)]).expect("columns")
}

/// A field of structs is read like a column, and null where any of them is.
#[test]
fn fields_of_structs_are_read_as_columns() {
    let dir = Dir::new();
    let mut random = Random::new(73);
    let mut games = random_games(120, true, &mut random);
    games.extend(random_games(120, false, &mut random));
    let missing = |level: usize, row: usize| (row + 7 * level) % 90 == 3;
    let commands = ["compute --columns game,ply,fen --format csv", "games --format csv"];
    for depth in [1, 2, 20, 60] {
        let is_missing = |row| (0..depth).any(|level| missing(level, row));
        let words = |row: usize| (!is_missing(row)).then(|| &games[row]);
        let texts: StringArray = (0..games.len()).map(|row| words(row).map(|words| words.join(" "))).collect();
        let plain = RecordBatch::try_from_iter([("moves", Arc::new(texts) as ArrayRef)]).expect("a column");
        let plain = dir.file("plain.parquet", parquet(&plain, 100, WriterVersion::PARQUET_1_0));
        let texts: Vec<Option<String>> = games.iter().map(|words| Some(words.join(" "))).collect();
        let lists: Lists =
            games.iter().map(|words| Some(words.iter().map(|word| Some(word.clone())).collect())).collect();
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(texts.clone())),
            Arc::new(LargeStringArray::from(texts.clone())),
            Arc::new(StringViewArray::from_iter(texts.clone())),
            Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>()),
        ];
        columns.extend(list_columns(&lists));
        let path = format!("a{}", ".m.x".repeat(depth));
        let options = ["--moves-column", &path];
        for column in &columns {
            let batch = within_structs(column, depth, missing);
            let file = dir.file("s.arrow", arrow(&batch));
            if depth < 60 {
                assert_same_with(1, &plain, &file, &options, &commands);
            } else {
                // Arrow's library reads no schemas that are nested so deep.
                let message = stderr_of(2, &["stats", &file, "--moves-column", &path]);
                assert!(message.contains("depth limit"), "{message}");
            }
            for (rows, version) in [(100, WriterVersion::PARQUET_1_0), (64, WriterVersion::PARQUET_2_0)] {
                assert_same_with(
                    1,
                    &plain,
                    &dir.file("s.parquet", parquet(&batch, rows, version)),
                    &options,
                    &commands,
                );
            }
        }
    }
}
/// Something else than moves in a list is an error of its row, behind the moves before it.
#[test]
fn other_elements_of_lists_are_rejected() {
    let dir = Dir::new();
    let list = |words: &[Option<&str>]| Some(words.iter().map(|word| word.map(str::to_owned)).collect());
    let rows: Vec<(List, usize, &str)> = vec![
        (list(&[Some("e2e4"), Some("e7e5")]), 3, ""),
        (list(&[]), 1, ""),
        (None, 0, "there are no moves"),
        (list(&[Some("e2e4"), None, Some("e7e5")]), 2, "element 1 of the list of moves is null"),
        (list(&[Some("e2e4"), Some("")]), 2, "element 1 of the list of moves is empty"),
        (list(&[Some("e4"), Some("e5"), Some("Nf3 Nc6")]), 3, "element 2 of the list of moves has a blank"),
        (list(&[None]), 1, "element 0 of the list of moves is null"),
        (list(&[Some("e2e4"), Some("e2e4"), None]), 2, "illegal move `e2e4`"),
        // White could castle, but this is Black's king.
        (list(&["g1f3", "g8f6", "g2g3", "g7g6", "f1g2", "f8g7", "e8g8"].map(Some)), 7, "illegal move `e8g8`"),
        (list(&[Some("e4"), Some("e5"), Some("1-0")]), 3, ""),
        (list(&[Some("e2e4"), Some("e7e5")]), 3, ""),
    ];
    let lists: Lists = rows.iter().map(|(list, ..)| list.clone()).collect();
    let batch = RecordBatch::try_from_iter([("moves", list_columns(&lists).remove(0))]).expect("a column");
    for file in
        [dir.file("x.parquet", parquet(&batch, 4, WriterVersion::PARQUET_1_0)), dir.file("x.arrow", arrow(&batch))]
    {
        let found = output(1, &["compute", "--columns", "game", "--format", "csv", &file]);
        let messages = stderr_of(1, &["compute", "--columns", "game", "--format", "csv", &file]);
        for (row, (list, positions, message)) in rows.iter().enumerate() {
            assert_eq!(found.lines().filter(|line| *line == row.to_string()).count(), *positions, "{list:?}");
            let place = format!("(row {row}, ");
            let told = messages.lines().find(|line| line.contains(&place));
            assert_eq!(told.is_some(), !message.is_empty(), "{list:?}: {told:?}");
            assert!(told.is_none_or(|told| told.contains(message)), "{list:?}: {told:?}");
        }
    }
    // Lists of a fixed length.
    let mut fixed = FixedSizeListBuilder::new(StringBuilder::new(), 2);
    for words in [["e2e4", "e7e5"], ["d2d4", "d7d5"]] {
        words.iter().for_each(|word| fixed.values().append_value(word));
        fixed.append(true);
    }
    let fixed: ArrayRef = Arc::new(fixed.finish());
    let batch = RecordBatch::try_from_iter([("moves", fixed)]).expect("a column");
    let file = dir.file("y.arrow", arrow(&batch));
    assert_eq!(output(0, &["compute", "--columns", "game", "--format", "csv", &file]).lines().count(), 7);
}

/// Lists whose words are numbers of dictionary entries are read as lists whose words are written out, with whatever else is
/// in them.
#[test]
fn lists_in_dictionaries_are_read_as_others() {
    let dir = Dir::new();
    let mut random = Random::new(74);
    let mut games = random_games(260, true, &mut random);
    games.extend(random_games(40, false, &mut random));
    let mut lists: Lists = games.into_iter().map(|words| Some(words.into_iter().map(Some).collect())).collect();
    for list in &mut lists {
        let words = list.as_mut().expect("a list");
        let at = random.below(words.len() as u64 + 1) as usize;
        match random.below(20) {
            0 => *list = None,
            1 => words.clear(),
            2 => words.insert(at, None),
            3 => words.push(Some("1-0".to_owned())),
            4 => {
                let others = ["", " ", "0000", "e2 e4", "e2e5", "a7a8Q", "a7a8q", "e9e4", "Nf3", "xx"];
                words.insert(at, Some(others[random.below(10) as usize].to_owned()));
            }
            _ => {}
        }
    }
    let batch = RecordBatch::try_from_iter([("moves", list_columns(&lists).remove(0))]).expect("a column");
    let written = |has_dictionary, rows, page, version| {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(has_dictionary)
            .set_max_row_group_row_count(Some(rows))
            .set_data_page_size_limit(page)
            .set_write_batch_size(16)
            .set_writer_version(version);
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).expect("a schema");
        writer.write(&batch).expect("written");
        writer.close().expect("closed");
        bytes
    };
    let plain = dir.file("plain.parquet", written(false, 1000, 1 << 20, WriterVersion::PARQUET_1_0));
    for (rows, page, version) in [
        (1000, 1 << 20, WriterVersion::PARQUET_1_0),
        (1000, 60, WriterVersion::PARQUET_1_0),
        (100, 1000, WriterVersion::PARQUET_2_0),
        (7, 60, WriterVersion::PARQUET_2_0),
        (1, 60, WriterVersion::PARQUET_1_0),
    ] {
        let numbered = dir.file("numbered.parquet", written(true, rows, page, version));
        // Where rejects tell about positions, the library reads the lists.
        let commands =
            [COMMANDS[0], "compute --columns game,ply,fen --format csv --validity strict", "games --format csv"];
        assert_same_with(1, &plain, &numbered, &[], &commands);
        let messages = |file: &str| {
            let messages = stderr_of(1, &["compute", "--columns", "game", "--format", "csv", file]);
            let of_rows = messages.lines().filter(|line| line.contains("(row ")).map(|line| line.replace(file, ""));
            of_rows.collect::<Vec<_>>()
        };
        assert_eq!(messages(&plain), messages(&numbered));
    }
}

/// Moves with more than moves among them are copied to PGN as they are, whatever their column is called.
#[test]
fn remarks_beside_moves_are_not_lost_in_pgn() {
    let dir = Dir::new();
    let texts = ["1. e4 { best by test } e5 (1... c5) 2. Nf3 $1", "1. d4! d5", "e2e4 e7e5", "e4 e5"];
    let column: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    for name in ["moves", "line"] {
        let batch = RecordBatch::try_from_iter([(name, Arc::clone(&column))]).expect("a column");
        let table = dir.file("x.parquet", parquet(&batch, 4, WriterVersion::PARQUET_1_0));
        let written = dir.name("x.pgn");
        output(0, &["games", &table, "-o", &written, "--moves-column", name, "--force"]);
        let pgn = fs::read_to_string(&written).expect("written");
        let moves: Vec<&str> = pgn.lines().filter(|line| !line.starts_with('[') && !line.is_empty()).collect();
        let expected = ["1. e4 { best by test } e5 (1... c5) 2. Nf3 $1 *", "1. d4! d5 *", "1. e4 e5 *", "1. e4 e5 *"];
        assert_eq!(moves, expected);
    }
}

/// A game in the bytes of Aix.
fn aix(moves: &[(Position, lanefish::chess::Move)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (position, mv) in moves {
        let uci = mv.uci_as(true).to_string().into_bytes();
        let square = |at: usize| 8 * (uci[at + 1] - b'1') + uci[at] - b'a';
        let piece = uci.get(4).map(|letter| b"qrbn".iter().position(|known| known == letter).expect("a piece") as u8);
        let mut after = position.clone();
        after.make(*mv);
        let pieces = |position: &Position| {
            position.to_string().split(' ').next().map(|board| board.bytes().filter(u8::is_ascii_alphabetic).count())
        };
        let captures = u8::from(pieces(position) != pieces(&after));
        bytes.push(square(0) | u8::from(piece.is_some()) << 6 | captures << 7);
        bytes.push(square(2) | piece.unwrap_or(0) << 6);
    }
    bytes.push(0);
    bytes
}

#[test]
fn moves_of_aix_are_those_of_uci() {
    let dir = Dir::new();
    let mut random = Random::new(72);
    let (mut uci, mut movedata) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        let mut position = Position::standard();
        let (mut words, mut moves) = (Vec::new(), Vec::new());
        for _ in 0..random.below(150) {
            let legal = position.legal_moves();
            let rare = legal.iter().find(|mv| !matches!(mv.kind, MoveKind::Normal));
            let any = legal.get(random.below(legal.len().max(1) as u64) as usize);
            let Some(&mv) = rare.or(any) else { break };
            words.push(mv.uci_as(false).to_string());
            moves.push((position.clone(), mv));
            position.make(mv);
        }
        uci.push(words.join(" "));
        movedata.push(aix(&moves));
    }
    let uci: ArrayRef = Arc::new(uci.iter().map(|text| Some(&**text)).collect::<StringArray>());
    let bytes: ArrayRef = Arc::new(movedata.iter().map(|bytes| Some(&**bytes)).collect::<BinaryArray>());
    let write = |name: &str, of: &str, column: &ArrayRef| {
        let batch = RecordBatch::try_from_iter([(of, Arc::clone(column))]).expect("a column");
        dir.file(name, parquet(&batch, 90, WriterVersion::PARQUET_1_0))
    };
    let (uci, aix) = (write("u.parquet", "uci", &uci), write("a.parquet", "movedata", &bytes));
    assert_same(&uci, &aix, &COMMANDS);
    // Every length up to nine with every last byte is a game, or a bad row.
    let mut odd: Vec<Vec<u8>> = Vec::new();
    for len in 0..10 {
        for last in 0..=u8::MAX {
            let mut bytes = movedata[usize::from(last)][..len.min(movedata[usize::from(last)].len())].to_vec();
            if let Some(end) = bytes.last_mut() {
                *end = last;
            }
            odd.push(bytes);
        }
    }
    // The level of the first row decides whether the file is read.
    odd.insert(0, vec![0]);
    let column: ArrayRef = Arc::new(odd.iter().map(|bytes| Some(&**bytes)).collect::<BinaryArray>());
    assert_eq!(column.len(), 2_561);
    let file = write("o.parquet", "movedata", &column);
    let rejects = dir.name("rejects");
    let games = output(1, &["games", "--format", "csv", "--columns", "plies,error", "--rejects", &rejects, &file]);
    let rejects = fs::read_to_string(&rejects).expect("written");
    for (row, (bytes, line)) in odd.iter().zip(games.lines().skip(1)).enumerate() {
        let is_good = line.ends_with(',');
        let place = format!("{file}#{row}\t");
        let reject = rejects.lines().find(|line| line.starts_with(&place));
        assert_eq!(reject.is_none(), is_good, "{bytes:?}: {line}");
        if is_good {
            assert_eq!((bytes.len() % 2, bytes.last()), (1, Some(&0)), "{bytes:?}");
            assert_eq!(line, format!("{},", bytes.len() / 2));
        }
    }
}

#[test]
fn samples_of_aix_and_lists_are_the_games_of_their_pgn() {
    let columns = "game,ply,fen,move,san,clock,score,mate,white,black,white_elo,black_elo,result,eco,opening,\
                   time_control,termination,site,date,time_used,judgment";
    let of_rows = format!("compute --columns {columns} --format csv");
    let games = "games --format csv --columns white,black,white_elo,black_elo,result,eco,opening,plies,fen,\
                 tag:WhiteRatingDiff,tag:UTCTime,tag:UTCDate,tag:WhiteTitle";
    let moves = "compute --columns game,ply,fen,move,san --format csv";
    for (pgn, table, commands) in [
        ("pgn/lichess_db_1000k.pgn", "game-tables/aix-low.parquet", &[&*of_rows, games][..]),
        ("pgn/lichess_db_1000k.pgn", "game-tables/uci-list.parquet", &[moves]),
        ("pgn/lichess_db_1000k.pgn", "game-tables/uci-list.arrow", &[moves]),
        ("game-tables/mixed.pgn", "game-tables/mixed-san-list.parquet", &[moves]),
    ] {
        let (Some(pgn), Some(table)) = (shared_data(pgn), shared_data(table)) else { return };
        let [pgn, table] = [pgn, table].map(|path| path.display().to_string());
        assert_same(&pgn, &table, commands);
        let dir = Dir::new();
        let written = dir.name("x.pgn");
        output(0, &["games", &table, "-o", &written]);
        assert_same(&table, &written, commands);
    }
}

#[test]
fn damaged_rows_of_aix_are_rejected_with_their_places() {
    let Some(expected) = shared_text("game-tables/damaged.json") else { return };
    let file = |name: &str| shared_data(name).expect("it is beside the other").display().to_string();
    let damaged = file("game-tables/damaged-aix.parquet");
    let dir = Dir::new();
    let rejects = dir.name("rejects");
    let rows = output(1, &["compute", "--columns", "game", "--format", "csv", "--rejects", &rejects, &damaged]);
    let expected: serde_json::Value = serde_json::from_str(&expected).expect("JSON");
    let rejects = fs::read_to_string(&rejects).expect("written");
    for (row, what) in expected["damaged-aix.parquet"].as_array().expect("rows").iter().enumerate() {
        let positions = rows.lines().filter(|line| *line == row.to_string()).count();
        let place = format!("{damaged}#{row}\t");
        let rejected = rejects.lines().filter(|line| line.starts_with(&place)).count();
        assert_eq!(
            [positions, rejected].map(|count| count as u64),
            ["positions", "rejects"].map(|key| what[key].as_u64().expect("a number")),
            "row {row}: {what}"
        );
    }
    // The levels that are not read.
    let levels = file("game-tables/aix-levels.parquet");
    assert_eq!(output(1, &["compute", "--columns", "game", "--format", "csv", &levels]).lines().count(), 1 + 20);
    let error = stderr_of(2, &["stats", &file("game-tables/aix-medium.parquet")]);
    assert!(error.contains("level Medium") && error.contains("recompress(movedata, 0)"), "{error}");
    let info = output(0, &["info", &levels]);
    assert!(info.contains("rows: games as Aix in the column `movedata` (Binary)"), "{info}");
    // Games of another column than the usual ones.
    let pgn = sample("lichess-2025-05.pgn");
    assert!(stderr_of(2, &["stats", &pgn, &levels, "--moves-column", "nowhere"]).contains("nowhere"));
}
