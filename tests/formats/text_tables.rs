//! CSV, TSV and JSON lines with a column of positions.

use crate::formats::round_trips::{lines, read};
use crate::pipeline::shards::{WAYS, read_with};
use crate::support::Random;
use lanefish::chess::Position;
use lanefish::formats::{DroppedKind, Format};
use lanefish::pipeline::Shard;
use lanefish::table::{Array, Field};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KINGS: &str = "4k3/8/8/8/8/8/8/4K2R w K - 9 40";

fn file(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// The records of a text, or the reasons, lines and texts of its rejects.
type Read = (Vec<String>, Vec<(String, Option<u64>, String)>);

fn read_text(name: &str, text: impl AsRef<[u8]>) -> Read {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), name, text);
    let mut found: Option<Read> = None;
    for way in WAYS {
        let read = read_with(&path, None, way, |_| {});
        assert!(read.summary.failure.is_none());
        let rejects = read.rejects.iter().map(|reject| {
            let raw = String::from_utf8_lossy(&reject.raw).into_owned();
            (reject.reasons.join(","), reject.place.line, raw)
        });
        let read = (read.records, rejects.collect());
        assert!(found.as_ref().is_none_or(|found| *found == read), "{way:?}");
        found = Some(read);
    }
    found.unwrap()
}

fn records(name: &str, text: impl AsRef<[u8]>) -> Vec<String> {
    let (records, rejects) = read_text(name, text);
    assert_eq!(rejects, []);
    records
}

fn rejects(name: &str, text: impl AsRef<[u8]>) -> Vec<(String, Option<u64>, String)> {
    read_text(name, text).1
}

#[test]
fn columns_are_fields_by_their_names() {
    let expected = [format!("{START} score=31 result=2 white_elo=1500 site=a, \"b\""), format!("{KINGS} move=49604")];
    let [start, castles] = [START, KINGS];
    for (name, text) in [
        (
            "a.csv",
            format!(
                "x,fen,score,result,move,white_elo,site\n1,{start},31,1-0,,1500,\"a, \"\"b\"\"\"\n,{castles},,*,O-O,,\n"
            ),
        ),
        (
            "b.csv",
            format!(
                "\u{feff}FEN , cp,GameUrl,result,line,white_elo\r\n\r\n \r\n\"{start}\",+31.0,\"a, \"\"b\"\"\",1-0,,1500.0\r\n {castles} ,nan,,,e1g1 e8e7,None\r\n"
            ),
        ),
        (
            "c.tsv",
            format!(
                "fen\tsite\twhite_elo\tcp\tscore\tresult\tmove\n{start}\t\"a, \"\"b\"\"\"\t1500\t99\t31\t1-0\t\n{castles}\t\t\t4\t\t\te1g1\n"
            ),
        ),
        (
            "d.jsonl",
            format!(
                "{{\"fen\":\"{start}\",\"score\":31,\"result\":\"1-0\",\"white_elo\":\"1500\",\"site\":\"a, \\\"b\\\"\"}}\n\
             {{\"move\" : \"O-O\", \"result\":null, \"fen\":\"{castles}\"}}\n"
            ),
        ),
        (
            "e.ndjson",
            format!(
                " {{\"nested\":{{\"fen\":[1,{{}}]}},\"cp\":3.1e1,\"fen\":\"{}\",\"\\u0073ite\":\"\\u0061, \\u0022b\\\"\",\"result\":\"*\",\
             \"result\":\"1-0\",\"white_elo\":1500}} \r\n\n{{\"fen\":\"{castles}\",\"cp\":NaN,\"move\":49604}}",
                start.replace('/', "\\/")
            ),
        ),
    ] {
        assert_eq!(records(name, &text), expected, "{name}");
    }
}

#[test]
fn lines_that_are_not_records_are_rejected_where_they_are() {
    let reject = |reason: &str, line, raw: &str| (reason.to_owned(), Some(line), raw.to_owned());
    let text = format!(
        "fen,site\n{START},a\n{START}\n\n{START},a,b\n\"{START},a\n{START},\"a\"b\n,a\n\"\",\nnonsense,a\nfen,site\n{KINGS},\"a\n\"\n"
    );
    assert_eq!(
        rejects("a.csv", text),
        [
            reject("number_of_values", 3, START),
            reject("number_of_values", 5, &format!("{START},a,b")),
            reject("open_quote", 6, &format!("\"{START},a")),
            reject("malformed_csv", 7, &format!("{START},\"a\"b")),
            reject("null_position", 8, ",a"),
            reject("null_position", 9, "\"\","),
            reject("fen_piece", 10, "nonsense,a"),
            reject("open_quote", 12, &format!("{KINGS},\"a")),
            reject("open_quote", 13, "\""),
        ]
    );
    let invalid = START.replace('K', "1");
    let text = format!(
        "{{\"fen\":\"{START}\"}}\n{{}}\n{{\"fen\":null}}\n{{\"fen\":[\"x\"]}}\n{{\"fen\":\"{START}\"\n{{\"fen\":\"\\q\"}}\nx\n{{\"fen\":\"{invalid}\"}}\n{{\"fen\":\"{START}\"}}}}\n"
    );
    let lines: Vec<&str> = text.lines().collect();
    let reasons =
        ["null_position", "null_position", "position_not_text", "malformed_json", "malformed_json", "malformed_json"];
    let expected = (2u64..).zip(reasons).map(|(line, reason)| reject(reason, line, lines[line as usize - 1]));
    let found = rejects("a.jsonl", &text);
    assert_eq!(found[..6], expected.collect::<Vec<_>>());
    assert_eq!(found[6].1, Some(8));
    assert_eq!(found[7], reject("malformed_json", 9, lines[8]));
}

/// Lines that are too long are rejected where they are, as others are.
#[test]
fn lines_that_are_too_long_are_rejected_where_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let long = "x".repeat(300);
    let text = format!("fen,site\n{START},a\n{START},{long}\n{KINGS},b\n{START},{long}\n");
    let second = "fen,site\n".len() + START.len() + 3;
    let path = file(directory.path(), "a.csv", text);
    for way in WAYS {
        let read = read_with(&path, None, way, |options| options.read.decode.max_record = 200);
        let places =
            read.rejects.iter().map(|reject| (reject.place.record, reject.place.line, reject.reasons.join(",")));
        let expected = [(1, Some(3), "record_too_long".to_owned()), (3, Some(5), "record_too_long".to_owned())];
        assert_eq!(places.collect::<Vec<_>>(), expected, "{way:?}");
        assert_eq!(read.rejects[0].place.offset, second as u64, "{way:?}");
        assert_eq!(read.records.len(), 2);
    }
}

#[test]
fn malformed_json_is_shown_with_its_column() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "a.jsonl", format!("{{\"fen\":\"{START}\"}}\n{{\"fen\" \"{START}\"}}\n"));
    let (_, summary) = read(&[path], |_| {});
    assert_eq!(summary.first_rejects[0].message, "column 8: expected a JSON object");
}

#[test]
fn a_header_line_alone_is_an_empty_table() {
    for (name, text) in [("a.csv", "fen,score\n"), ("b.csv", "\u{feff}fen"), ("c.tsv", "\r\nfen\tx\r\n"), ("d.csv", "")]
    {
        assert_eq!(records(name, text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn values_that_do_not_fit_are_left_out_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let rows = |row: usize| match row % 10 {
        3 => format!("{START},32768,x,e2e5\n"),
        4 => "nonsense,x,x,x\n".to_owned(),
        5 => format!("{START},null,1,\n"),
        _ => format!("{START},{row},1-0,e2e4\n"),
    };
    let text: String = (0..1000).map(rows).collect();
    let csv = file(directory.path(), "a.csv", format!("fen,score,result,move\n{text}"));
    let lines = text.lines().map(|line| {
        let values: Vec<&str> = line.split(',').collect();
        let names = ["fen", "score", "result", "move"];
        let object: Map<String, Value> =
            names.into_iter().zip(values).map(|(name, value)| (name.into(), value.into())).collect();
        Value::Object(object).to_string() + "\n"
    });
    let json = file(directory.path(), "a.jsonl", lines.collect::<String>());
    for path in [csv, json] {
        let first = if path.extension().unwrap() == "csv" { 5 } else { 4 };
        for way in WAYS {
            let whole = read_with(&path, None, way, |_| {});
            assert_eq!((whole.summary.records, whole.summary.rejected), (1000, 100));
            let count = |field| whole.summary.dropped_values.count(&DroppedKind::Value(field));
            assert_eq!([Field::Score, Field::Result, Field::Move].map(count), [100, 200, 100]);
            let notes: Vec<String> = whole.summary.dropped_values.notes().collect();
            let place = format!("{}:{first}", path.display());
            assert_eq!(
                notes[0],
                format!("100 values that `score` cannot hold were left out, first `32768` at {place}")
            );
            assert_eq!(notes.len(), 3);
            // Only those of the requested records, and up to the first reject of a strict run.
            let some = read_with(&path, None, way, |options| {
                options.read.skip = 4;
                options.read.limit = Some(500);
            });
            let count = |field| some.summary.dropped_values.count(&DroppedKind::Value(field));
            assert_eq!([Field::Score, Field::Result, Field::Move].map(count), [50, 100, 50]);
            let strict = read_with(&path, None, way, |options| options.read.strict = true);
            let count = |field| strict.summary.dropped_values.count(&DroppedKind::Value(field));
            assert_eq!([Field::Score, Field::Result, Field::Move].map(count), [1, 1, 1]);
            let parts = [0, 1, 2].map(|part| {
                let shard = Shard::new(part, 3).unwrap();
                read_with(&path, Some(shard), way, |_| {})
                    .summary
                    .dropped_values
                    .count(&DroppedKind::Value(Field::Result))
            });
            assert_eq!(parts.iter().sum::<u64>(), 200);
        }
    }
}

#[test]
fn keys_that_only_later_lines_have_are_read_or_counted() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!(
        "{{\"fen\":\"{START}\",\"a\":1}}\n{{\"fen\":\"{START}\",\"score\":5,\"b\":2}}\n{{\"b\":1,\"fen\":\"{START}\",\"\\u0062\":3,\"a\":1}}\n"
    );
    let path = file(directory.path(), "a.jsonl", text);
    let (batch, summary) = read(&[path], |_| {});
    assert_eq!(lines(&batch), [START.to_owned(), format!("{START} score=5"), START.to_owned()]);
    assert_eq!(summary.dropped_values.count(&DroppedKind::Key("b".into())), 3);
    assert_eq!(summary.files[0].note.as_deref(), Some("columns not read: `a`"));
    let note = summary.dropped_values.notes().next().unwrap();
    assert!(note.starts_with("the key `b`, which the first line lacks, was not read in 3 records, first at"), "{note}");
    assert!(note.ends_with("a.jsonl:2"), "{note}");
}

/// Dates that are no days may come in lines that have no others, and before a line that has one.
#[test]
fn dates_may_be_texts_alone() {
    let text = format!(
        "{{\"fen\":\"{START}\",\"date_text\":\"2024.??.??\"}}\n{{\"fen\":\"{START}\",\"date\":\"2024-02-03\"}}\n"
    );
    let expected = [format!("{START} date=2024.??.??"), format!("{START} date=2024.02.03")];
    assert_eq!(records("a.jsonl", text), expected);
}

/// Lines may end in carriage returns alone, the header line as well.
#[test]
fn lines_may_end_in_carriage_returns() {
    let text = format!("fen,score\r{START},5\r{KINGS},6\r");
    assert_eq!(records("a.csv", text), [format!("{START} score=5"), format!("{KINGS} score=6")]);
}

/// Scores are any numbers of 16 bits.
#[test]
fn scores_up_to_the_largest_are_read() {
    let text = format!("fen,score\n{START},31000\n{START},32767\n{START},-32768\n{START},32768\n");
    let scores = ["31000", "32767", "-32768"].map(|score| format!("{START} score={score}"));
    assert_eq!(records("a.csv", text), [&scores[..], &[START.to_owned()]].concat());
}

/// Values that nobody asks for are skipped, whatever they are.
#[test]
fn values_of_other_keys_may_be_missing_numbers() {
    let text = format!("{{\"mine\":NaN,\"fen\":\"{START}\",\"more\":[null,NaN],\"last\":{{\"a\":NaN}}}}\n");
    assert_eq!(records("a.jsonl", text), [START]);
}

/// However many keys there are, the first hundred kinds of what is left out are counted to the end.
#[test]
fn kinds_that_are_known_are_counted_when_there_are_many() {
    let directory = tempfile::tempdir().unwrap();
    let line = |key: usize| format!("{{\"fen\":\"{START}\",\"key{key}\":1}}\n");
    let text: String = (0..3).flat_map(|_| (0..150).map(line)).collect();
    let path = file(directory.path(), "a.jsonl", format!("{{\"fen\":\"{START}\"}}\n{text}"));
    for way in WAYS {
        let dropped_values = read_with(&path, None, way, |_| {}).summary.summary.dropped_values;
        let count = |key: usize| dropped_values.count(&DroppedKind::Key(format!("key{key}").into()));
        assert_eq!([0, 99, 100, 149].map(count), [3, 3, 0, 0], "{way:?}");
    }
}

#[test]
fn rows_with_moves_that_set_up_are_puzzles() {
    let fen = "r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24";
    let moves = "f2g3 e6e7 b2b1 b3c1 b1c1 h6c1";
    let csv = format!("PuzzleId,FEN,Moves,Rating\na,{fen},{moves},1760\nb,{fen},f2f8,1\n");
    let expected = read_text("a.csv", &csv);
    assert!(expected.0[0].contains(" w - - 0 25 move="), "{expected:?}");
    assert_eq!(expected.1[0].0, "illegal_move");
    let tsv = read_text("a.tsv", csv.replace(',', "\t"));
    let json = format!(
        "{{\"PuzzleId\":\"a\",\"FEN\":\"{fen}\",\"Moves\":\"{moves}\",\"Rating\":1760}}\n{{\"PuzzleId\":\"b\",\"FEN\":\"{fen}\",\"Moves\":\"f2f8\",\"Rating\":1}}\n"
    );
    let json = read_text("a.jsonl", json);
    // Operations are what puzzles become in EPD.
    let without = |text: &str| text.split(" operations=").next().unwrap().to_owned();
    let ours = |read: &Read| read.0.iter().map(|text| without(text)).collect::<Vec<_>>();
    let fields = |text: &str| {
        let mut fields: Vec<String> = text
            .split(' ')
            .map(str::to_owned)
            .filter(|it| !it.starts_with("operations") && !it.contains(['"', ';']))
            .collect();
        fields.sort();
        fields.retain(|field| field.contains('='));
        fields
    };
    assert_eq!(ours(&tsv), ours(&json));
    assert_eq!(tsv.1[0].0, "illegal_move");
    assert!(fields(&tsv.0[0]).iter().all(|field| expected.0[0].contains(field.as_str())), "{tsv:?} {expected:?}");
    assert_eq!(fields(&tsv.0[0]).len(), 3);
}

/// A value of a field, as text.
fn value(field: Field, random: &mut Random, position: &Position) -> Option<String> {
    let number = random.next();
    if number.is_multiple_of(4) {
        return None;
    }
    Some(match (field, field.column(0)) {
        (Field::Result, _) => ["1-0", "0-1", "1/2-1/2"][number as usize % 3].to_owned(),
        (Field::Move, _) => {
            let moves = position.legal_moves();
            let moves = moves.as_slice();
            moves.get(number as usize % moves.len().max(1))?.uci(position).as_str().to_owned()
        }
        (Field::Score, _) => (number as i64 % 31_000).to_string(),
        (Field::KeyEnPassant, _) => (16 + number % 8).to_string(),
        (_, Array::Text(_)) => {
            const WORDS: [&str; 8] = ["a", "b, c", "\"", "é\u{1f600}", "\\", "x\ty", "'", "null"];
            (0..=number % 3).map(|at| WORDS[(number >> (8 * at)) as usize % 8]).collect()
        }
        (_, Array::I16(_)) => (number as i16).to_string(),
        (_, Array::U16(_)) => (number as u16).to_string(),
        (_, Array::U32(_)) => (number as u32).to_string(),
        _ => (number >> 20).to_string(),
    })
}

/// Random values of all fields, written as CSV, TSV and JSON lines by other code, are the same records.
#[test]
fn tables_of_the_same_values_are_the_same_records() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut fields: Vec<Field> = Field::ALL.iter().copied().filter(|_| random.below(3) > 0).collect();
        fields.push(Field::Score);
        fields.sort();
        fields.dedup();
        let (mut csv, mut tsv, mut json, mut expected) = (String::new(), String::new(), String::new(), Vec::new());
        let names: Vec<&str> = ["fen"].into_iter().chain(fields.iter().map(|field| field.name())).collect();
        csv += &(names.join(",") + "\n");
        tsv += &(names.join("\t") + "\n");
        let mut position = Position::standard();
        for row in 0..200 {
            let moves = position.legal_moves();
            match moves.as_slice() {
                [] => position = Position::standard(),
                moves => drop(position.make(moves[random.below(moves.len() as u64) as usize])),
            }
            position.drop_unusable_en_passant();
            let values: Vec<Option<String>> =
                fields.iter().map(|&field| value(field, &mut random, &position)).collect();
            let mut record = position.to_string();
            let mut object = Map::new();
            object.insert("fen".into(), record.clone().into());
            let fen = Some(record.clone());
            for (at, value) in [&fen].into_iter().chain(&values).enumerate() {
                let value = value.as_deref().unwrap_or_default();
                for (text, separator) in [(&mut csv, ','), (&mut tsv, '\t')] {
                    if at > 0 {
                        text.push(separator);
                    }
                    if value.contains([separator, '"']) || random.below(9) == 0 {
                        *text += &format!("\"{}\"", value.replace('"', "\"\""));
                    } else {
                        *text += value;
                    }
                }
            }
            for (&field, value) in fields.iter().zip(&values) {
                let Some(value) = value else {
                    if row == 0 || random.below(2) == 0 {
                        object.insert(field.name().into(), Value::Null);
                    }
                    continue;
                };
                let number = match field.column(0) {
                    Array::Text(_) => None,
                    _ => value.parse::<i64>().ok(),
                };
                let as_json = number.filter(|_| random.below(4) > 0).map_or_else(|| value.clone().into(), Value::from);
                object.insert(field.name().into(), as_json);
                record += &match field {
                    Field::Result => {
                        format!(" result={}", ["0-1", "1/2-1/2", "1-0"].iter().position(|it| it == value).unwrap())
                    }
                    Field::Move => {
                        let mv = lanefish::chess::Move::from_uci(value, &position).unwrap();
                        format!(" move={}", mv.to_bits())
                    }
                    _ => format!(" {}={value}", field.name()),
                };
            }
            // Keys in any order, after the first line.
            if row > 0 && random.below(2) == 0 {
                object = object.into_iter().rev().collect();
            }
            csv.push('\n');
            tsv.push('\n');
            json += &(Value::Object(object).to_string() + "\n");
            expected.push(record);
        }
        for (name, text) in [("a.csv", csv), ("a.tsv", tsv), ("a.jsonl", json)] {
            let path = file(directory.path(), name, text);
            let (batch, summary) = read(&[path], |options| options.chunk_size = 3000);
            // Dates and time controls are any texts here.
            let mut notes = summary.dropped_values.notes();
            let all_fit = notes.all(|note| note.contains("were not understood") || note.contains("was not understood"));
            assert_eq!((summary.rejected, all_fit), (0, true), "{name} {seed}");
            let found = lines(&batch);
            for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{name} {seed} {row}");
            }
            assert_eq!(found.len(), expected.len());
        }
    }
    assert_eq!(Format::JSONL.about().extensions, ["jsonl", "ndjson"]);
}
