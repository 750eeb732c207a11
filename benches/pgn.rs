//! The stages of reading games, each in every way that this CPU has: the scan for words, the words, the replay.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lanefish::bench::decode::for_each_stage;
use std::hint::black_box;

fn stages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pgn");
    for_each_stage(|name, positions, pass| {
        group.throughput(Throughput::Elements(positions as u64));
        group.bench_function(name, |bench| bench.iter(|| black_box(pass())));
    });
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
