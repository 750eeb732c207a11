//! Shards of files whose games go on in the next shard: a game is in the one in which its first record lies, whatever looks
//! at whole games.

use super::{Dir, output, sample};
use crate::pipeline::shards::{Order, USUAL, WAYS, Way, compare_with, frames, gzip, read_with};
use crate::support::shared_data;
use lanefish::choose::{Choose, Definitions, GameFilter, PositionSequence, SequenceWord};
use lanefish::pipeline::RunOptions;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Games with some 5,000 records: two blocks of a boards file.
fn games(dir: &Dir) -> String {
    let text = fs::read(sample("lichess-2025-05.pgn")).unwrap();
    dir.file("x.pgn", text.repeat(8))
}

/// Choices that look at whole games, some with others.
fn choices() -> Vec<(&'static str, GameFilter)> {
    let having = |text: &str| PositionSequence::parse([(SequenceWord::Having, text)], &Definitions::default()).unwrap();
    let all = GameFilter::default();
    vec![
        ("last", all.clone().last(true)),
        ("every", all.clone().every(3)),
        ("max-per-game", all.clone().max_per_game(Some(4)).min_elo(Some(1500))),
        ("having", all.clone().having(having("in_check"))),
        ("none", all.clone().having(having("pieces = 1"))),
        ("all", all.clone().having(having("true"))),
        ("end", all.clone().having(having("plies_left = 0 and pieces < 14")).last(true)),
        ("tags", all.having(having("move_captures")).min_elo(Some(1700)).skip_book(6)),
    ]
}

fn choose(options: &mut RunOptions<'_>, filter: &GameFilter) {
    options.read.choose = Choose::default().games(Some(Arc::new(filter.clone())));
}

/// Compares the shards of a file with the whole, for each choice.
fn check(path: &Path, order: Order) {
    for (number, (name, filter)) in choices().into_iter().enumerate() {
        let whole = read_with(path, None, USUAL, |options| choose(options, &filter));
        assert!(whole.summary.failure.is_none(), "{}: {:?}", path.display(), whole.summary.failure);
        for (count, way) in [(3, WAYS[number % 4]), (16, WAYS[(number + 1) % 4]), (2, Way { chunk_size: 700, ..USUAL })]
        {
            let text = format!("{} of {} as {count} shards, {way:?}", name, path.display());
            compare_with(&whole, path, count, order, &text, |shard| {
                read_with(path, Some(shard), way, |options| choose(options, &filter))
            });
        }
    }
}

const COLUMNS: &str = "fen,game,ply,move,result,score,mate,clock,white_elo,black_elo,opening";

fn files_of(dir: &Dir, pgn: &str) -> Vec<(PathBuf, Order)> {
    let mut files = Vec::new();
    let mut add = |name: &str, order| {
        files.push((dir.path(name), order));
        dir.name(name)
    };
    let boards = add("a.boards", Order::Places);
    output(0, &["-q", "convert", pgn, "-o", &boards]);
    output(0, &["-q", "convert", pgn, "-o", &add("b.boards.zst", Order::Turns)]);
    let csv = add("a.csv", Order::Places);
    output(0, &["-q", "compute", "--columns", COLUMNS, pgn, "-o", &csv]);
    let jsonl = add("a.jsonl", Order::Places);
    output(0, &["-q", "compute", "--columns", COLUMNS, pgn, "-o", &jsonl]);
    let text = fs::read(&csv).unwrap();
    fs::write(add("gzip.csv.gz", Order::Turns), gzip(&text)).unwrap();
    for (name, len, sizes) in [("long.csv.zst", 70_000, false), ("short.csv.zst", 3_000, true)] {
        fs::write(add(name, Order::Places), frames(&text, len, sizes)).unwrap();
    }
    // Lines that cannot be read, between those of games and within them.
    let lines = String::from_utf8(text).unwrap();
    let odd = lines.split_inclusive('\n').enumerate().flat_map(|(number, line)| {
        let more = if number % 7 == 3 { "nonsense,,\n" } else { "" };
        [line, more]
    });
    fs::write(add("odd.csv", Order::Places), odd.collect::<String>()).unwrap();
    #[cfg(feature = "parquet")]
    {
        let table = dir.name("whole.parquet");
        output(0, &["-q", "convert", pgn, "-o", &table]);
        for (name, content) in tables(&table) {
            fs::write(add(name, Order::Places), content).unwrap();
        }
    }
    files
}

/// A table in files of several row groups or record batches.
#[cfg(feature = "parquet")]
fn tables(whole: &str) -> Vec<(&'static str, Vec<u8>)> {
    use arrow_array::RecordBatch;
    use parquet::arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder};
    use parquet::file::properties::WriterProperties;
    let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(whole).unwrap()).unwrap();
    let batches: Vec<RecordBatch> = reader.with_batch_size(777).build().unwrap().map(Result::unwrap).collect();
    let schema = batches[0].schema();
    let mut groups = Vec::new();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1000))
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(50);
    let mut writer = ArrowWriter::try_new(&mut groups, schema.clone(), Some(properties.build())).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    let (mut file, mut stream) = (Vec::new(), Vec::new());
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut file, &schema).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut stream, &schema).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    vec![("groups.parquet", groups), ("batches.arrow", file), ("batches.arrows", stream)]
}

#[test]
fn games_of_two_shards_are_in_the_first_one() {
    let dir = Dir::new();
    for (path, order) in files_of(&dir, &games(&dir)) {
        check(&path, order);
    }
}

/// Without a usable index, the headers of all blocks are read.
#[test]
fn blocks_without_an_index_are_passed() {
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    output(0, &["-q", "convert", &games(&dir), "-o", &boards]);
    let mut bytes = fs::read(&boards).unwrap();
    let end = bytes.len() - 64;
    let index = u64::from_le_bytes(bytes[end + 32..end + 40].try_into().unwrap()) as usize;
    bytes[index + 64] ^= 1;
    let damaged = dir.path("damaged.boards");
    fs::write(&damaged, bytes).unwrap();
    for (name, filter) in choices() {
        let change = |options: &mut RunOptions<'_>| {
            choose(options, &filter);
            options.past_damage = true;
        };
        let whole = read_with(&damaged, None, USUAL, change);
        for (count, way) in [(3, USUAL), (16, WAYS[1])] {
            compare_with(&whole, &damaged, count, Order::Places, name, |shard| {
                read_with(&damaged, Some(shard), way, change)
            });
        }
    }
}

/// Rows of games, copies, and columns that look back, by every command that makes them.
#[test]
fn commands_take_games_as_wholes() {
    let dir = Dir::new();
    let pgn =
        shared_data("pgn/lichess_db_1000k.pgn").map_or_else(|| games(&dir), |file| file.to_str().unwrap().to_owned());
    let boards = dir.name("a.boards");
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    let csv = dir.name("a.csv");
    let columns = "fen,game,ply,move,result,score,clock";
    output(0, &["-q", "compute", "--columns", columns, &pgn, "-o", &csv]);
    let commands: [&[&str]; 6] = [
        &["games", "--format", "csv", "--columns", "result,plies,fen"],
        &["games", "--format", "csv", "--columns", "result,plies,fen", "--where", "plies > 60"],
        &["games", "--format", "jsonl", "--having", "in_check", "--next", "in_check"],
        &["compute", "--format", "csv", "--columns", "fen,ply,score_before,eco_position"],
        &["compute", "--format", "csv", "--columns", "fen,ply,score_before", "--last"],
        &["compute", "--format", "csv", "--columns", "fen,game", "--having", "move_promotes", "--where", "in_check"],
    ];
    for command in commands {
        for file in [&boards, &csv] {
            let whole = output(0, &[command, &["-q", file]].concat());
            let rows = |text: &str| -> Vec<String> {
                let skipped = usize::from(command.contains(&"csv"));
                text.lines().skip(skipped).map(str::to_owned).collect()
            };
            for count in [3, 7] {
                let shards: Vec<String> = (0..count)
                    .flat_map(|share| {
                        let shard = format!("{share}/{count}");
                        let done = super::lanefish(&[command, &["-q", file, "--shard", &shard]].concat()).output();
                        let done = done.unwrap();
                        assert!(matches!(done.status.code(), Some(0 | 2)), "{command:?} {file} {shard}: {done:?}");
                        rows(&String::from_utf8(done.stdout).unwrap())
                    })
                    .collect();
                assert!(shards == rows(&whole), "{command:?} of {file} in {count} shards");
            }
        }
    }
}
