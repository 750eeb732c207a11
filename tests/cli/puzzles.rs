//! Files of puzzles and evaluations as other programs write them: by the names in their header, quoted, as tables.

use super::{Dir, lanefish, output, stderr_of};
use std::fmt::Write as _;

const COLUMNS: &str = "fen,move,puzzle_id,puzzle_rating,rating_deviation,popularity,plays,themes,site,opening";

/// Rows of the Lichess columns.
const PUZZLES: [[&str; 10]; 3] = [
    [
        "00008",
        "r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24",
        "f2g3 e6e7 b2b1 b3c1 b1c1 h6c1",
        "1784",
        "76",
        "95",
        "6871",
        "crushing hangingPiece long middlegame",
        "https://lichess.org/787zsVup/black#48",
        "",
    ],
    [
        "0000D",
        "5rk1/1p3ppp/pq3b2/8/8/1P1Q1N2/P4PPP/3R2K1 w - - 2 27",
        "d3d6 f8d8 d6d8 f6d8",
        "1501",
        "74",
        "-96",
        "29443",
        "advantage, \"endgame\"",
        "https://lichess.org/F8M8OS71#53",
        "Some_Opening",
    ],
    ["x", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4 e8e7", "1432", "80", "-100", "4000000000", "", "", ""],
];
const NAMES: [&str; 10] = [
    "PuzzleId",
    "FEN",
    "Moves",
    "Rating",
    "RatingDeviation",
    "Popularity",
    "NbPlays",
    "Themes",
    "GameUrl",
    "OpeningTags",
];

/// The puzzles N times, with these columns; 10 is an index.
fn csv(order: &[usize], quote_all: bool, times: usize, end: &str) -> String {
    let value = |text: &str| {
        if quote_all || text.contains([',', '"']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let line = |row: &dyn Fn(usize) -> String| {
        let values: Vec<String> = order.iter().map(|&at| value(&row(at))).collect();
        values.join(",") + end
    };
    let mut text = line(&|at| NAMES.get(at).copied().unwrap_or_default().to_owned());
    for round in 0..times {
        for (number, puzzle) in PUZZLES.iter().enumerate() {
            text += &line(&|at| match puzzle.get(at) {
                Some(value) => (*value).to_owned(),
                None => (round * 3 + number).to_string(),
            });
        }
    }
    text
}

fn expected(times: usize) -> String {
    let rows = "\
        r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2b1/PqP3PP/7K w - - 0 25,e6e7,00008,1784,76,95,6871,\
        crushing hangingPiece long middlegame,https://lichess.org/787zsVup/black#48,\n\
        5rk1/1p3ppp/pq1Q1b2/8/8/1P3N2/P4PPP/3R2K1 b - - 3 27,f8d8,0000D,1501,74,-96,29443,\
        \"advantage, \"\"endgame\"\"\",https://lichess.org/F8M8OS71#53,Some_Opening\n\
        4k3/8/8/8/4P3/8/8/4K3 b - - 0 1,e8e7,x,1432,80,-100,4000000000,,,\n";
    format!("{COLUMNS}\n{}", rows.repeat(times))
}

#[test]
fn columns_are_found_by_the_names_of_the_header() {
    let dir = Dir::new();
    let usual: Vec<usize> = (0..10).collect();
    let orders: [&[usize]; 3] = [&usual, &[10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[3, 1, 0, 2, 7, 9, 8, 5, 6, 4]];
    for (number, order) in orders.into_iter().enumerate() {
        for (quote_all, end) in [(false, "\n"), (true, "\r\n")] {
            let text = csv(order, quote_all, 1, end);
            let file = dir.file(&format!("{number}.{quote_all}.csv"), &text);
            let computed = output(0, &["compute", "--columns", COLUMNS, &file]);
            assert_eq!(computed, expected(1), "{text}");
            let marked = dir.file(&format!("{number}.{quote_all}.m.csv"), format!("\u{feff}{text}"));
            assert_eq!(output(0, &["compute", "--columns", COLUMNS, &marked]), computed);
        }
    }
    // Without the header, as Lichess has them.
    let text = csv(&usual, false, 1, "\n");
    let (_, lines) = text.split_once('\n').unwrap();
    let file = dir.file("excerpt.csv", lines);
    assert_eq!(output(0, &["compute", "--columns", COLUMNS, &file]), expected(1));
}

/// The names of a header may be in any case.
#[test]
fn headers_in_lower_case() {
    let dir = Dir::new();
    let line = "x,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e4 e8e7,1432\n";
    let rows = "fen,move,puzzle_rating\n4k3/8/8/8/4P3/8/8/4K3 b - - 0 1,e8e7,1432\n";
    for header in ["PuzzleId,FEN,Moves,Rating", "puzzleid,fen,moves,rating", "PUZZLEID,Fen,MOVES,RATING"] {
        let file = dir.file("a.csv", format!("{header}\n{line}"));
        assert_eq!(output(0, &["compute", "--columns", "fen,move,puzzle_rating", &file]), rows);
    }
    let file = dir.file("a.csv", "fen,moves\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e4 e8e7\n");
    assert_eq!(output(0, &["compute", "--columns", "move", &file]), "move\ne8e7\n");
}

/// Of evaluations of one depth that with more nodes counts, and of equal ones the first.
#[test]
fn the_best_of_some_evaluations() {
    let dir = Dir::new();
    let eval = |cp: i32, depth: u32, knodes: u32| {
        format!("{{\"pvs\":[{{\"cp\":{cp},\"line\":\"e2e4\"}}],\"knodes\":{knodes},\"depth\":{depth}}}")
    };
    for (evals, score) in [
        ([eval(1, 20, 5), eval(2, 20, 5), eval(3, 19, 900)], 1),
        ([eval(1, 20, 5), eval(2, 20, 6), eval(3, 20, 6)], 2),
        ([eval(1, 20, 5), eval(2, 20, 5), eval(3, 21, 1)], 3),
    ] {
        let line = format!("{{\"fen\":\"4k3/8/8/8/8/8/4P3/4K3 w - -\",\"evals\":[{}]}}\n", evals.join(","));
        let file = dir.file("a.jsonl", line);
        assert_eq!(output(0, &["compute", "--columns", "score", &file]), format!("score\n{score}\n"));
    }
}

/// All chunks know the header: those of other threads, of shards that begin in the middle, of pipes, of compressed files.
#[test]
fn every_part_of_a_file_knows_the_header() {
    let dir = Dir::new();
    let times = 3000;
    let text = csv(&[3, 10, 1, 0, 2, 7, 9, 8, 5, 6, 4], true, times, "\n");
    let file = dir.file("a.csv", &text);
    let arguments = ["compute", "--columns", COLUMNS];
    let run = |more: &[&str]| output(0, &[&arguments[..], more].concat());
    let whole = expected(times);
    assert!(run(&["--threads", "3", &file]) == whole);
    assert!(run(&["--no-mmap", "--threads", "1", &file]) == whole);
    assert!(run(&["--from", "puzzles", &file]) == whole);
    let packed = dir.name("a.csv.zst");
    let bytes = zstd::encode_all(text.as_bytes(), 1).unwrap();
    std::fs::write(&packed, bytes).unwrap();
    assert!(run(&[&packed]) == whole);
    let head = format!("{COLUMNS}\n");
    for input in [&file, &packed] {
        let mut rows = head.clone();
        for shard in ["0/3", "1/3", "2/3"] {
            rows += run(&["--shard", shard, input]).strip_prefix(&head).unwrap();
        }
        // A file that cannot be entered is divided by records in turn.
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        assert!(sorted(&rows) == sorted(&whole), "{input}");
    }
    let piped = lanefish(&arguments).write_stdin(text).assert().code(0);
    assert!(piped.get_output().stdout == whole.as_bytes());
}

#[test]
fn what_is_no_puzzle_is_rejected_by_line() {
    let dir = Dir::new();
    let [_, good, _] = PUZZLES;
    let good = format!("{},{},{}\n", good[1], good[2], good[3]);
    let mut text = "FEN,Moves,Rating\n".to_owned();
    text += &good;
    text += "\"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\",\"e2e4\ne8e7\",1\n";
    text += "FEN,Moves,Rating\n";
    text += "Moves,FEN,Rating\n";
    writeln!(text, "\"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"x,e2e4 e8e7,1").unwrap();
    text += "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,,1\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e5,1\n";
    text += &good;
    let file = dir.file("a.csv", &text);
    let arguments = ["compute", "--columns", "puzzle_rating", &file];
    assert_eq!(output(1, &arguments), "puzzle_rating\n1501\n1501\n");
    let stderr = stderr_of(1, &arguments);
    for (line, reason) in [
        (3, "a quoted value does not end in its line"),
        (4, ""),
        (6, "a header line with other columns"),
        (7, "expected a comma after the quotation mark"),
        (8, "no value in the line is a list of moves"),
        (9, "e2e5"),
    ] {
        let at = format!("a.csv:{line}");
        assert!(stderr.lines().any(|text| text.contains(&at) && text.contains(reason)), "{line}: {stderr}");
    }
    assert!(stderr.contains("6 of 8 records rejected"), "{stderr}");
}

#[cfg(feature = "parquet")]
mod tables {
    use super::{COLUMNS, Dir, expected, output, stderr_of};
    use arrow_array::{ArrayRef, Int16Array, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;

    fn arrow(dir: &Dir, name: &str, columns: Vec<(&str, ArrayRef)>) -> String {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        dir.file(name, bytes)
    }

    fn texts(values: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    /// A table of puzzles has the records of the CSV.
    #[test]
    fn puzzles() {
        let dir = Dir::new();
        let column = |at: usize| texts(&super::PUZZLES.map(|puzzle| puzzle[at]));
        let number = |at: usize| -> ArrayRef {
            let numbers = super::PUZZLES.map(|puzzle| puzzle[at].parse::<i64>().unwrap());
            Arc::new(Int64Array::from(numbers.to_vec()))
        };
        let columns = super::NAMES.iter().enumerate().map(|(at, &name)| {
            let values = match at {
                3..=6 => number(at),
                _ => column(at),
            };
            (name, values)
        });
        let file = arrow(&dir, "a.arrow", columns.collect());
        assert_eq!(stderr_of(0, &["compute", "--columns", COLUMNS, &file]), "");
        assert_eq!(output(0, &["compute", "--columns", COLUMNS, &file]), expected(1));
        let again = dir.name("b.parquet");
        output(0, &["convert", &file, "-o", &again]);
        assert_eq!(output(0, &["compute", "--columns", COLUMNS, &again]), expected(1));
    }

    #[test]
    fn bad_moves_are_rejected_by_row() {
        let dir = Dir::new();
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        let columns = vec![("FEN", texts(&[fen; 4])), ("Moves", texts(&["e2e4 e8e7", "e2e5 e8e7", "", "e2e4 e8e4"]))];
        let file = arrow(&dir, "a.arrow", columns);
        let arguments = ["compute", "--columns", "fen,move", &file];
        assert_eq!(output(1, &arguments), "fen,move\n4k3/8/8/8/4P3/8/8/4K3 b - - 0 1,e8e7\n");
        let stderr = stderr_of(1, &arguments);
        for text in ["row 1", "e2e5", "row 2", "row 3", "e8e4", "3 of 4 records"] {
            assert!(stderr.contains(text), "{text}: {stderr}");
        }
    }

    /// `line`, `cp` and others are those of evaluations; columns of our own names win.
    #[test]
    fn evaluations() {
        let dir = Dir::new();
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - -";
        let numbers = |values: [Option<i16>; 2]| -> ArrayRef { Arc::new(Int16Array::from(values.to_vec())) };
        let columns = || {
            vec![
                ("fen", texts(&[fen, fen])),
                ("line", texts(&["e2e4 e8e7", " e2e3"])),
                ("depth", numbers([Some(46), None])),
                ("knodes", Arc::new(Int64Array::from(vec![4_189_972_999, 7])) as ArrayRef),
                ("cp", numbers([Some(-69), None])),
                ("mate", numbers([None, Some(-3)])),
            ]
        };
        let file = arrow(&dir, "a.arrow", columns());
        let arguments = ["compute", "--columns", "move,depth,knodes,score,mate", &file];
        assert_eq!(stderr_of(0, &arguments), "");
        assert_eq!(output(0, &arguments), "move,depth,knodes,score,mate\ne2e4,46,4189972999,-69,\ne2e3,,7,,-3\n");
        let mut both = columns();
        both.push(("score", numbers([Some(5), Some(6)])));
        both.push(("move", texts(&["e1d1", "e1f1"])));
        let file = arrow(&dir, "b.arrow", both);
        let arguments = ["compute", "--columns", "move,score", &file];
        assert_eq!(output(0, &arguments), "move,score\ne1d1,5\ne1f1,6\n");
        let stderr = stderr_of(0, &arguments);
        assert!(stderr.contains("columns not read: `line`") && stderr.contains("`cp`"), "{stderr}");
    }
}

/// Files that once were read as the positions before the opponent's move.
#[test]
fn copies_by_other_programs() {
    let files = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/puzzle_files");
    let expected = "\
        fen,move,puzzle_id,puzzle_rating,rating_deviation,popularity,plays\n\
        r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2b1/PqP3PP/7K w - - 0 25,e6e7,00008,1784,76,95,6871\n\
        5rk1/1p3ppp/pq1Q1b2/8/8/1P3N2/P4PPP/3R2K1 b - - 3 27,f8d8,0000D,1501,74,96,29443\n";
    let (columns, _) = expected.split_once('\n').unwrap();
    for name in ["puzzles-pandas.csv", "puzzles-quoted.csv", "puzzles-reorder.csv"] {
        let file = files.join(name);
        let file = file.to_str().unwrap();
        let found = output(0, &["compute", "--columns", columns, file]);
        let three: String = found.split_inclusive('\n').take(3).collect();
        assert_eq!(three, expected, "{name}");
        assert_eq!(output(0, &["verify", file]).matches(" 0 rejected").count(), 1);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_of_data_hubs() {
    let files = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/table_files");
    let read = |name: &str, columns: &str| {
        let file = files.join(name);
        output(0, &["compute", "--columns", columns, file.to_str().unwrap()])
    };
    assert_eq!(
        read("hf-puzzles.parquet", "fen,move,puzzle_id,puzzle_rating"),
        "fen,move,puzzle_id,puzzle_rating\n\
         r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2b1/PqP3PP/7K w - - 0 25,e6e7,00008,1784\n"
    );
    assert_eq!(
        read("hf-evals.parquet", "fen,move,score,depth,knodes"),
        "fen,move,score,depth,knodes\n\
         7r/1p3k2/p1bPR3/5p2/2B2P1p/8/PP4P1/3K4 b - - 0 1,f7g7,-5,46,100\n\
         7k/8/8/8/8/8/8/K6R b - - 0 1,h8g8,,3,3\n"
    );
}
