//! Every slider algorithm on real positions: the rows of `lanefish bench sliders` under criterion.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lanefish::bench::sample_positions;
use lanefish::bench::sliders::{Piece, Question, agrees, ask, real_questions};
use lanefish::sliders::{Sliders, Visitor, for_each_algorithm};
use std::hint::black_box;
use std::time::Duration;

struct Bench<'a> {
    criterion: &'a mut Criterion,
    questions: [Vec<Question>; 3],
}

impl Visitor for Bench<'_> {
    fn visit<A: Sliders>(&mut self) {
        let Some(algorithm) = A::detect() else {
            eprintln!("SKIPPED: {} needs {:?}", A::NAME, A::NEEDS);
            return;
        };
        let mut group = self.criterion.benchmark_group("sliders");
        group
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(500));
        for (piece, questions) in Piece::ALL.into_iter().zip(&self.questions) {
            assert!(agrees(algorithm, piece, questions), "{}", A::NAME);
            group.throughput(Throughput::Elements(questions.len() as u64));
            group.bench_function(BenchmarkId::new(A::NAME, piece), |bench| {
                bench.iter(|| ask(algorithm, piece, black_box(questions)));
            });
        }
        group.finish();
    }
}

fn benches(criterion: &mut Criterion) {
    let positions = sample_positions();
    for_each_algorithm(&mut Bench {
        criterion,
        questions: Piece::ALL.map(|piece| real_questions(&positions, piece)),
    });
}

criterion_group!(slider_benches, benches);
criterion_main!(slider_benches);
