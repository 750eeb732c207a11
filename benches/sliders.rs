//! Every slider algorithm on real positions: the rows of `lanefish bench sliders` under criterion, and
//! cozy-chess's lookup on the same queries. That uses magic numbers; PEXT needs
//! `RUSTFLAGS=-Ctarget-cpu=native cargo bench --bench sliders --features cozy-chess/pext`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lanefish::bench::sample_positions;
use lanefish::bench::sliders::{Piece, Question, agrees, ask, real_questions};
use lanefish::sliders::{RayWalk, Sliders, Visitor, for_each_algorithm};
use std::hint::black_box;
use std::time::Duration;

struct Bench<'a> {
    criterion: &'a mut Criterion,
    questions: [Vec<Question>; 3],
}

impl Bench<'_> {
    /// Times passes over all queries, which return the sum of the results.
    fn row(&mut self, name: &str, piece: Piece, pass: impl Fn(&[Question]) -> u64) {
        let questions = &self.questions[piece as usize];
        let mut group = self.criterion.benchmark_group("sliders");
        group
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(500))
            .throughput(Throughput::Elements(questions.len() as u64));
        group.bench_function(BenchmarkId::new(name, piece), |bench| {
            bench.iter(|| pass(black_box(questions)));
        });
        group.finish();
    }

    fn cozy_chess(&mut self) {
        use cozy_chess::{BitBoard, Square, get_bishop_moves, get_rook_moves};
        macro_rules! sum {
            (|$square:ident, $occupied:ident| $attacks:expr) => {
                |questions: &[Question]| {
                    questions.iter().fold(0u64, |sum, question| {
                        let $square = Square::index(question.square.index());
                        let $occupied = BitBoard(question.occupied.0);
                        sum.wrapping_add($attacks.0)
                    })
                }
            };
        }
        let rook = sum!(|square, occupied| get_rook_moves(square, occupied));
        let bishop = sum!(|square, occupied| get_bishop_moves(square, occupied));
        let queen = sum!(|square, occupied| get_rook_moves(square, occupied)
            | get_bishop_moves(square, occupied));
        let passes: [fn(&[Question]) -> u64; 3] = [rook, bishop, queen];
        for (piece, pass) in Piece::ALL.into_iter().zip(passes) {
            let questions = &self.questions[piece as usize];
            assert_eq!(pass(questions), ask(RayWalk, piece, questions));
        }
        self.row("cozy-chess", Piece::Rook, rook);
        self.row("cozy-chess", Piece::Bishop, bishop);
        self.row("cozy-chess", Piece::Queen, queen);
    }
}

impl Visitor for Bench<'_> {
    fn visit<A: Sliders>(&mut self) {
        let Some(algorithm) = A::detect() else {
            eprintln!("SKIPPED: {} needs {:?}", A::NAME, A::NEEDS);
            return;
        };
        for piece in Piece::ALL {
            let questions = &self.questions[piece as usize];
            assert!(agrees(algorithm, piece, questions), "{}", A::NAME);
            self.row(A::NAME, piece, |questions| ask(algorithm, piece, questions));
        }
    }
}

fn benches(criterion: &mut Criterion) {
    let positions = sample_positions();
    let mut bench = Bench {
        criterion,
        questions: Piece::ALL.map(|piece| real_questions(&positions, piece)),
    };
    for_each_algorithm(&mut bench);
    bench.cozy_chess();
}

criterion_group!(slider_benches, benches);
criterion_main!(slider_benches);
