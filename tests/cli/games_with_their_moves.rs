//! Tables that `games --moves` and `--schema` write are games again, with the same positions and values.

use super::lists_of_moves_and_aix::assert_same;
use super::{Dir, lanefish, output, sample, stderr_of};
use crate::support::{FAMOUS, Random, shared_data};
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use lanefish::chess::{MoveKind, Position};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};

const MOVES: &str = "compute --columns game,ply,fen,move,san,white,black,white_elo,result,site --format csv";

/// Games with everything that PGN may have in its moves, as PGN: standard chess, Chess960 and set-up positions; and how many
/// begin in the usual position.
fn odd_games() -> (String, usize) {
    let mut pgn =
        "[White \"é\"]\n\n1. e4 {one\ntwo} e5 ; to the end } of the line\n2. Nf3 $1 (2. f4 exf4 (2... d6)) Nc6 *\n\n\
                   [White \"no move\"]\n\n1-0\n\n[White \"null\"]\n\n1. e4 -- 2. d4 1/2-1/2\n\n"
            .to_owned();
    let mut usual = 3;
    let mut random = Random::new(11);
    for number in 0..200 {
        let (chess960, seed) = (number % 3 == 1, random.below(960) as u16);
        let mut position: Position = match number % 3 {
            0 => Position::standard(),
            1 => Position::chess960(seed, seed).expect("there are 960"),
            _ => FAMOUS[random.below(6) as usize].parse().expect("a position"),
        };
        usual += usize::from(position == Position::standard());
        pgn += &format!("[White \"{number}\"]\n[Result \"0-1\"]\n");
        if number % 3 != 0 {
            let variant = if chess960 { "[Variant \"Chess960\"]\n" } else { "" };
            pgn += &format!("{variant}[SetUp \"1\"]\n[FEN \"{position}\"]\n");
        }
        pgn.push('\n');
        for _ in 0..random.below(80) {
            let moves = position.legal_moves();
            let castling = moves.iter().find(|mv| mv.kind == MoveKind::Castle);
            let any = moves.get(random.below(moves.len().max(1) as u64) as usize);
            let Some(&mv) = castling.or(any) else { break };
            pgn += &format!("{} {{[%clk 0:0{}:0{}]}}\n", mv.san(&position), random.below(10), random.below(10));
            position.make(mv);
        }
        pgn += "0-1\n\n";
    }
    (pgn, usual)
}

#[test]
fn written_moves_are_the_games() {
    let dir = Dir::new();
    let odd = dir.file("odd.pgn", odd_games().0);
    for pgn in [sample("lichess-2025-05.pgn"), odd] {
        for (forms, columns) in
            [("movetext", &["compute --columns all --format csv", MOVES][..]), ("uci", &[MOVES]), ("san", &[MOVES])]
        {
            for name in ["x.parquet", "x.arrow"] {
                let table = dir.name(name);
                output(0, &["games", &pgn, "-o", &table, "--moves", forms, "--force"]);
                assert_same(&pgn, &table, columns);
            }
        }
        // The same bytes for any number of threads, with all forms together.
        let [one, other] = ["1.parquet", "8.parquet"].map(|name| dir.name(name));
        for (file, threads) in [(&one, "1"), (&other, "8")] {
            output(0, &["games", &pgn, "-o", file, "--moves", "movetext,uci,san,aix", "--threads", threads, "--force"]);
        }
        assert_eq!(fs::read(&one).expect("written"), fs::read(&other).expect("written"));
        assert!(output(0, &["info", &one]).contains("`lanefish.table` is `games`"));
        // Sorted and chosen games have their moves.
        let [rows, games] = ["s.parquet", "s.pgn"].map(|name| dir.name(name));
        for (file, moves) in [(&rows, &["--moves", "movetext"][..]), (&games, &[])] {
            output(
                0,
                &[&["games", &pgn, "-o", file, "--sort", "plies:desc", "--limit", "7", "--force"], moves].concat(),
            );
        }
        assert_same(&games, &rows, &[MOVES]);
        for (file, moves) in [(&rows, &["--moves", "uci"][..]), (&games, &[])] {
            output(0, &[&["games", &pgn, "-o", file, "--having", "in_check", "--force"], moves].concat());
        }
        assert_same(&games, &rows, &[MOVES]);
    }
}

/// From boards and from tables, too. A game that has lost positions is rejected, and is never a shorter game.
#[test]
fn moves_are_written_from_every_input() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let moves = "compute --columns game,ply,fen,move,clock,score,mate,white,result --format csv";
    let boards = dir.name("x.boards");
    output(0, &["convert", &pgn, "-o", &boards]);
    for forms in ["movetext", "uci", "san"] {
        let table = dir.name("b.parquet");
        output(0, &["games", &boards, "-o", &table, "--moves", forms, "--force"]);
        let columns =
            if forms == "movetext" { moves } else { "compute --columns game,ply,fen,move,white,result --format csv" };
        assert_same(&pgn, &table, &[columns]);
    }
    let aix = dir.name("a.parquet");
    output(0, &["games", &pgn, "-o", &aix, "--schema", "aix"]);
    let table = dir.name("c.parquet");
    output(0, &["games", &aix, "-o", &table, "--moves", "movetext"]);
    assert_same(&pgn, &table, &[moves]);
    output(0, &["convert", &pgn, "-o", &boards, "--every", "3", "--force"]);
    let csv = output(1, &["games", &boards, "--format", "csv", "--moves", "uci", "--columns", "game"]);
    assert_eq!(csv.lines().count(), 1, "{csv}");
    let told = stderr_of(1, &["games", &boards, "--format", "csv", "--moves", "uci"]);
    assert!(told.contains("not all of its positions are there"), "{told}");
    // A damaged game keeps its text, and has no moves.
    let bad = dir.file("bad.pgn", "[White \"a\"]\n\n1. e4 e5 2. Ke5 *\n\n[White \"b\"]\n\n1. d4 *\n");
    let rows = output(1, &["games", &bad, "--format", "jsonl", "--moves", "movetext,uci", "--columns", "white"]);
    let expected = "{\"white\":\"a\",\"start_fen\":null,\"movetext\":\"1. e4 e5 2. Ke5 *\",\"moves\":null}\n\
                    {\"white\":\"b\",\"start_fen\":null,\"movetext\":\"1. d4 *\",\"moves\":\"d2d4\"}\n";
    assert_eq!(rows, expected);
    for arguments in [
        &["--moves", "lan"][..],
        &["--moves", "uci,uci"],
        &["--moves", "uci", "--format", "pgn"],
        &["--moves", "uci", "--format", "table"],
        &["--schema", "hub", "--format", "csv"],
        &["--schema", "hub", "--moves", "uci"],
        &["--schema", "x"],
    ] {
        lanefish(&[&["games", &pgn], arguments].concat()).assert().code(2);
    }
}

fn batches(file: &str) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).expect("written")).expect("Parquet");
    reader.build().expect("columns").map(|batch| batch.expect("rows")).collect()
}

/// What is written in the form of others has their columns, types and values.
#[test]
fn published_tables_are_written_as_they_are() {
    let dir = Dir::new();
    let written = dir.name("w.parquet");
    let Some(aix) = shared_data("game-tables/aix-low.parquet") else { return };
    let aix = aix.display().to_string();
    output(0, &["games", &aix, "-o", &written, "--schema", "aix"]);
    let (expected, found) = (batches(&aix), batches(&written));
    let fields = |batches: &[RecordBatch]| -> Vec<(String, String)> {
        let schema = batches[0].schema();
        schema.fields().iter().map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    };
    assert_eq!(fields(&expected), fields(&found));
    let movedata = |batches: &[RecordBatch]| -> Vec<Vec<u8>> {
        let columns = batches.iter().map(|batch| batch.column_by_name("movedata").expect("a column").clone());
        columns
            .flat_map(|column| {
                column.as_binary::<i32>().iter().map(|bytes| bytes.expect("moves").to_vec()).collect::<Vec<_>>()
            })
            .collect()
    };
    assert!(movedata(&expected) == movedata(&found));
    for name in ["clocks_white", "clocks_black", "evals"] {
        let lists = |batches: &[RecordBatch]| -> Vec<String> {
            let columns = batches.iter().map(|batch| batch.column_by_name(name).expect("a column").clone());
            columns
                .flat_map(|column| {
                    (0..column.len()).map(|row| format!("{:?}", column.slice(row, 1))).collect::<Vec<_>>()
                })
                .collect()
        };
        assert!(lists(&expected) == lists(&found), "{name}");
    }
    let pgn = shared_data("pgn/lichess_db_1000k.pgn").expect("it is beside the other").display().to_string();
    output(0, &["games", &pgn, "-o", &written, "--schema", "hub", "--force"]);
    assert_same(
        &pgn,
        &written,
        &["compute --columns game,ply,fen,move,clock,score,mate,white,white_elo,date,opening --format csv"],
    );
    // Other starts and null moves have no place there.
    let (odd, usual) = odd_games();
    let odd = dir.file("odd.pgn", odd);
    for (schema, left) in [("hub", usual), ("aix", usual - 1)] {
        output(1, &["games", &odd, "-o", &written, "--schema", schema, "--force"]);
        let rows: usize = batches(&written).iter().map(RecordBatch::num_rows).sum();
        assert_eq!(rows, left, "{schema}");
    }
}

/// Parts of runs that read other columns are not put together.
#[test]
fn parts_of_other_columns_are_refused() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let table = dir.name("x.parquet");
    output(0, &["games", &pgn, "-o", &table, "--moves", "movetext,uci"]);
    let part = |column: &str, share: &str| {
        let report = output(0, &["stats", "--json", "--shard", share, "--moves-column", column, &table]);
        dir.file(&format!("{column}-{}.json", &share[..1]), report)
    };
    let [first, second, other] = [part("moves", "0/2"), part("moves", "1/2"), part("movetext", "1/2")];
    output(0, &["stats", "--merge", &first, &second]);
    let error = stderr_of(2, &["stats", "--merge", &first, &other]);
    assert!(error.contains("were made from other columns of games (--moves-column)"), "{error}");
    let tree = |column: &str, share: &str| {
        let file = dir.name(&format!("{column}-{}.tree", &share[..1]));
        output(0, &["tree", &table, "--shard", share, "--moves-column", column, "-o", &file]);
        file
    };
    let [first, second, other] = [tree("moves", "0/2"), tree("moves", "1/2"), tree("movetext", "1/2")];
    let whole = dir.name("whole.csv");
    output(0, &["tree", "--merge", &first, &second, "-o", &whole]);
    stderr_of(2, &["tree", "--merge", &first, &other, "-o", &dir.name("mixed.csv")]);
}
