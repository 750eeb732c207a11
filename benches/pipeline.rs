//! The whole pipeline: statistics of a mapped boards file, of FEN text and of games, and their conversion to boards, with
//! one thread and two; and the decoding of packed records alone.

mod positions;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lanefish::formats::Format;
use lanefish::formats::boards::BoardsWriter;
use lanefish::input::Inputs;
use lanefish::jobs::{OutputContent, OutputFormat, Statistics, WriteJob};
use lanefish::packed::{Group, Packed};
use lanefish::pipeline::{self, RunOptions};
use lanefish::table::{Batch, Fields};
use lanefish::tiers::Tier;
use std::hint::black_box;
use std::io::Write;

/// Copies of the sample of games.
const COPIES: usize = 800;

fn pipeline(criterion: &mut Criterion) {
    let positions = positions::shuffled();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let boards = directory.path().join("positions.boards");
    let text = directory.path().join("positions.fen");
    let mut batch = Batch::new();
    for position in &positions {
        let board = Packed::pack(position).expect("a valid position");
        batch.push(board, position.halfmove, position.fullmove);
    }
    let file = std::fs::File::create(&boards).expect("a file");
    let mut writer = BoardsWriter::new(file, Fields::NONE).expect("a writer");
    writer.write(&batch, 0..batch.len()).expect("disk space");
    writer.finish().expect("disk space");
    let mut lines = std::io::BufWriter::new(std::fs::File::create(&text).expect("a file"));
    for position in &positions {
        writeln!(lines, "{position}").expect("disk space");
    }
    lines.flush().expect("disk space");
    drop(lines);

    // Half a million positions of games.
    let games = directory.path().join("games.pgn");
    let sample = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/lichess-2025-05.pgn")).expect("the sample");
    std::fs::write(&games, sample.repeat(COPIES)).expect("disk space");

    let analyzer = Tier::best().analyzer().expect("the best tier is available");
    for (name, path) in [("boards", boards), ("fen", text), ("pgn", games)] {
        let inputs = Inputs::resolve(&[path], |_| true).expect("the file just written");
        let options = |threads| RunOptions::new(analyzer).threads(threads);
        let count = Statistics::new();
        let records =
            pipeline::run(&inputs, options(2), &count, |part| count.add(part)).expect("a good file").accepted();
        let mut bench = criterion.benchmark_group(format!("stats/{name}"));
        bench.throughput(Throughput::Elements(records));
        bench.sample_size(10);
        for threads in [1, 2] {
            bench.bench_function(format!("{threads} threads"), |bench| {
                bench.iter(|| {
                    let job = Statistics::new();
                    let summary = pipeline::run(&inputs, options(threads), &job, |part| job.add(part));
                    assert_eq!(summary.expect("a good file").accepted(), records);
                    job.finish(0, false).expect("no groups and no temporary files")
                });
            });
        }
        bench.finish();
        let mut bench = criterion.benchmark_group(format!("convert/{name}-to-boards"));
        bench.throughput(Throughput::Elements(records));
        bench.sample_size(10);
        for threads in [1, 2] {
            bench.bench_function(format!("{threads} threads"), |bench| {
                bench.iter(|| {
                    let to = OutputFormat::Records(Format::BOARDS);
                    let job = WriteJob::new(OutputContent::Records { fen: false }, to).expect("boards are written");
                    let mut output = job.open(std::io::sink()).expect("no disk is needed");
                    let summary = pipeline::run(&inputs, options(threads), &job, |part| {
                        job.put(&mut output, part).expect("no disk is needed");
                        Ok(())
                    });
                    assert_eq!(summary.expect("a good file").accepted(), records);
                    job.finish(output).expect("no disk is needed")
                });
            });
        }
        bench.finish();
    }

    let mut bench = criterion.benchmark_group("decode");
    bench.throughput(Throughput::Elements(positions.len() as u64));
    bench.sample_size(10);
    bench.bench_function("unpack", |bench| {
        bench.iter(|| {
            for group in black_box(batch.groups()) {
                for lane in 0..Group::LEN {
                    let _ = black_box(group.get(lane).unpack(0, 1));
                }
            }
        });
    });
    bench.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
