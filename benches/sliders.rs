//! Every slider algorithm on real positions: the rows of `lanefish bench sliders` under criterion, and
//! cozy-chess's lookups on the same queries. These use magic bitboards; for PEXT run
//! `RUSTFLAGS=-Ctarget-cpu=native cargo bench --bench sliders --features cozy-chess/pext`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lanefish::sliders::{Sliders, Visitor, for_each_algorithm, ray_walk::RayWalk};
use std::hint::black_box;
use std::time::Duration;

#[allow(dead_code, unused_imports, reason = "the program uses all of it")]
#[path = "../src/cli/measure/positions.rs"]
mod positions;
#[allow(dead_code, reason = "the program uses all of it")]
#[path = "../src/cli/measure/slider_queries.rs"]
mod slider_queries;

use positions::sample_positions;
use slider_queries::{Query, SliderPiece, agrees, real_queries, run_queries};

struct Bench<'a> {
    criterion: &'a mut Criterion,
    queries: [Vec<Query>; 3],
}

impl Bench<'_> {
    /// Times passes over all queries, which return the sum of the results.
    fn row(&mut self, name: &str, piece: SliderPiece, pass: impl Fn(&[Query]) -> u64) {
        let queries = &self.queries[piece as usize];
        let mut group = self.criterion.benchmark_group("sliders");
        group
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(500))
            .throughput(Throughput::Elements(queries.len() as u64));
        group.bench_function(BenchmarkId::new(name, piece), |bench| {
            bench.iter(|| pass(black_box(queries)));
        });
        group.finish();
    }

    fn cozy_chess(&mut self) {
        use cozy_chess::{BitBoard, Square, get_bishop_moves, get_rook_moves};
        macro_rules! sum {
            (|$square:ident, $occupied:ident| $attacks:expr) => {
                |queries: &[Query]| {
                    queries.iter().fold(0u64, |sum, query| {
                        let $square = Square::index(query.square.index());
                        let $occupied = BitBoard(query.occupied.0);
                        sum.wrapping_add($attacks.0)
                    })
                }
            };
        }
        let rook = sum!(|square, occupied| get_rook_moves(square, occupied));
        let bishop = sum!(|square, occupied| get_bishop_moves(square, occupied));
        let queen = sum!(|square, occupied| get_rook_moves(square, occupied) | get_bishop_moves(square, occupied));
        let passes: [fn(&[Query]) -> u64; 3] = [rook, bishop, queen];
        for (piece, pass) in SliderPiece::ALL.into_iter().zip(passes) {
            let queries = &self.queries[piece as usize];
            assert_eq!(pass(queries), run_queries(RayWalk, piece, queries));
        }
        self.row("cozy-chess", SliderPiece::Rook, rook);
        self.row("cozy-chess", SliderPiece::Bishop, bishop);
        self.row("cozy-chess", SliderPiece::Queen, queen);
    }
}

impl Visitor for Bench<'_> {
    fn visit<A: Sliders>(&mut self) {
        let Some(algorithm) = A::detect() else {
            eprintln!("SKIPPED: {} needs {:?}", A::NAME, A::NEEDS);
            return;
        };
        for piece in SliderPiece::ALL {
            let queries = &self.queries[piece as usize];
            assert!(agrees(algorithm, piece, queries), "{}", A::NAME);
            self.row(A::NAME, piece, |queries| run_queries(algorithm, piece, queries));
        }
    }
}

fn benches(criterion: &mut Criterion) {
    let positions = sample_positions();
    let mut bench = Bench { criterion, queries: SliderPiece::ALL.map(|piece| real_queries(&positions, piece)) };
    for_each_algorithm(&mut bench);
    bench.cozy_chess();
}

criterion_group!(slider_benches, benches);
criterion_main!(slider_benches);
