//! FEN text to validated positions, and back, compared with cozy-chess's parser on the same lines.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lanefish::chess::fen::{self, CastlingStyle, FenOptions};
use lanefish::chess::{Position, Validity};
use std::hint::black_box;

#[allow(dead_code, reason = "of what tests need, a benchmark only needs the folder")]
#[path = "../src/testing.rs"]
mod testing;

/// Six-field FEN lines: the shared sample of Lichess positions, or random play if it is missing.
fn lines() -> Vec<String> {
    let path = testing::shared_folder().join("epd/popularpos_lichess_v3.epd.zst");
    let positions: Vec<Position> = match std::fs::read(&path) {
        Ok(packed) => {
            let text = zstd::decode_all(&packed[..]).expect("a zstd file");
            text.split(|&byte| byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| {
                    let read = fen::parse(line, FenOptions::default());
                    read.expect("FEN").position
                })
                .collect()
        }
        Err(_) => {
            use lanefish::chess::random::{RandomPlay, Start};
            let play = RandomPlay::new(1, Start::Standard);
            play.take(200_000).map(|step| step.position).collect()
        }
    };
    positions.iter().map(Position::to_string).collect()
}

fn benches(criterion: &mut Criterion) {
    let lines = lines();
    let bytes = lines.iter().map(|line| line.len() as u64).sum();
    let mut group = criterion.benchmark_group("fen");
    group.throughput(Throughput::ElementsAndBytes { elements: lines.len() as u64, bytes });
    group.sample_size(10);
    group.bench_function("read_and_validate/lanefish", |bench| {
        bench.iter(|| {
            for line in &lines {
                let read = fen::parse(line.as_bytes(), FenOptions::default()).expect("FEN");
                assert!(read.violations(Validity::Playable).is_empty());
                black_box(&read.position);
            }
        });
    });
    group.bench_function("read_and_validate/cozy-chess", |bench| {
        bench.iter(|| {
            for line in &lines {
                let board = cozy_chess::Board::from_fen(line, false);
                black_box(board.expect("FEN"));
            }
        });
    });
    let positions: Vec<Position> =
        lines.iter().map(|line| Position::from_fen_unvalidated(line).expect("FEN")).collect();
    group.bench_function("write/lanefish", |bench| {
        let mut out = Vec::new();
        bench.iter(|| {
            out.clear();
            for position in &positions {
                position.write_fen(&mut out, CastlingStyle::Outermost);
            }
            black_box(out.len())
        });
    });
    group.finish();
}

criterion_group!(fen_benches, benches);
criterion_main!(fen_benches);
