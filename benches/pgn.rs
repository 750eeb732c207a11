//! The stages of reading games, each in every way that this CPU has: the scan for words, the words, the replay.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lanefish::formats::pgn::reading_stages;
use std::hint::black_box;

#[allow(dead_code, reason = "the program uses all of it")]
#[path = "../src/cli/measure/generated.rs"]
mod generated;

fn stages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pgn");
    let games = generated::RandomGames::play();
    for stage in reading_stages(games.text.as_bytes(), &games.boards) {
        let (name, positions) = (stage.name, stage.positions);
        if let Some((verified, pass)) = stage.prepare() {
            assert!(verified, "{name}");
            group.throughput(Throughput::Elements(positions as u64));
            group.bench_function(name, |bench| bench.iter(|| black_box(pass())));
        }
    }
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
