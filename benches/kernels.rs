//! Every kernel in every tier that this CPU supports, and the legal moves of gigachess and cozy-chess on the same
//! positions. Those two are built for one CPU: `RUSTFLAGS=-Ctarget-cpu=native cargo bench --bench kernels --features
//! gigachess/pext,cozy-chess/pext -- legal_count` has them at their best.
//!
//! Rates are positions per second. The sum of all legal moves is checked before anything is timed.

mod positions;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lanefish::chess::Position;
use lanefish::packed::{Group, Packed};
use lanefish::queries::{GroupResults, Queries};
use lanefish::tiers::{Analyzer, Tier};
use lanefish_core::kernels::{BoardCounts, MoveLists, SquareCounters};
use std::hint::black_box;

/// Groups analyzed at once; the results stay in the L1 cache.
const TILE: usize = 64;

/// The positions in groups.
fn groups(positions: &[Position]) -> Vec<Group> {
    positions
        .chunks(Group::LEN)
        .map(|positions| {
            let mut group = Group::default();
            for (lane, position) in positions.iter().enumerate() {
                group.set(lane, Packed::pack(position).expect("a valid position"));
            }
            group
        })
        .collect()
}

fn legal_moves(analyzer: &dyn Analyzer, groups: &[Group], requested: Queries) -> u64 {
    let mut results = [GroupResults::default(); TILE];
    let mut sum = 0;
    for tile in groups.chunks(TILE) {
        analyzer.analyze(tile, requested, &mut results);
        for result in &results[..tile.len()] {
            sum += result.counts.iter().map(|counts| counts & 0xFFFF).sum::<u64>();
        }
    }
    sum
}

fn kernels(criterion: &mut Criterion) {
    let mut positions = positions::shuffled();
    positions.truncate(positions.len() / Group::LEN * Group::LEN);
    let groups = groups(&positions);
    let boards: Vec<cozy_chess::Board> = positions
        .iter()
        .filter_map(|position| cozy_chess::Board::from_fen(&position.to_string(), false).ok())
        .collect();
    let boards_of_gigachess: Vec<gigachess::Board> =
        positions.iter().filter_map(|position| gigachess::fen::parse_fen(&position.to_string()).ok()).collect();
    let count = |board: &cozy_chess::Board| {
        let mut moves = 0;
        board.generate_moves(|fan| {
            moves += fan.len() as u64;
            false
        });
        moves
    };
    let expected: u64 = positions.iter().map(|position| u64::from(position.count_legal_moves())).sum();

    let queries = [
        ("legal_count", Queries::MOVES),
        ("everything", Queries::ALL.without(Queries::MOBILITY).without(Queries::INVALID)),
        ("attack_maps", Queries::ATTACKS),
        ("checkers", Queries::CHECKERS),
        ("pins", Queries::PINNED),
        ("mobility", Queries::MOBILITY),
        ("invalid", Queries::INVALID),
    ];
    for (name, requested) in queries {
        let mut bench = criterion.benchmark_group(name);
        bench.throughput(Throughput::Elements(positions.len() as u64));
        bench.sample_size(20);
        for analyzer in Tier::all().filter_map(Tier::analyzer) {
            if requested.contains(Queries::MOVES) {
                assert_eq!(legal_moves(analyzer, &groups, requested), expected, "{}", analyzer.tier());
            }
            bench.bench_function(analyzer.tier().name(), |bench| {
                bench.iter(|| legal_moves(analyzer, black_box(&groups), requested));
            });
        }
        if name == "legal_count" {
            bench.throughput(Throughput::Elements(boards.len() as u64));
            bench.bench_function("cozy-chess", |bench| {
                bench.iter(|| black_box(&boards).iter().map(count).sum::<u64>());
            });
            let count = |boards: &[gigachess::Board]| -> u64 {
                boards.iter().map(|board| u64::from(board.count_legal_moves())).sum()
            };
            if boards_of_gigachess.len() == positions.len() {
                assert_eq!(count(&boards_of_gigachess), expected, "gigachess");
            }
            bench.throughput(Throughput::Elements(boards_of_gigachess.len() as u64));
            bench.bench_function("gigachess", |bench| {
                bench.iter(|| count(black_box(&boards_of_gigachess)));
            });
        }
        bench.finish();
    }

    let mut bench = criterion.benchmark_group("legal_move_lists");
    bench.throughput(Throughput::Elements(positions.len() as u64));
    bench.sample_size(20);
    for analyzer in Tier::all().filter_map(Tier::analyzer) {
        let list = |groups: &[Group]| -> u64 {
            let mut lists = MoveLists::default();
            let moves = groups.chunks(TILE).map(|tile| {
                lists.clear();
                analyzer.list_moves(tile, &[!0; TILE / 8], &mut lists);
                lists.moves().len() as u64
            });
            moves.sum()
        };
        assert_eq!(list(&groups), expected, "{}", analyzer.tier());
        bench.bench_function(analyzer.tier().name(), |bench| bench.iter(|| list(black_box(&groups))));
    }
    let list = |boards: &[gigachess::Board]| -> u64 {
        boards.iter().map(|board| black_box(board.legal_moves()).len() as u64).sum()
    };
    bench.throughput(Throughput::Elements(boards_of_gigachess.len() as u64));
    bench.bench_function("gigachess", |bench| bench.iter(|| list(black_box(&boards_of_gigachess))));
    bench.finish();

    let mut bench = criterion.benchmark_group("counts");
    bench.throughput(Throughput::Elements(positions.len() as u64));
    bench.sample_size(20);
    for analyzer in Tier::all().filter_map(Tier::analyzer) {
        let results = vec![GroupResults::default(); SquareCounters::GROUPS];
        bench.bench_function(analyzer.tier().name(), |bench| {
            bench.iter(|| {
                let mut board_counts = [BoardCounts::default(); SquareCounters::GROUPS];
                let mut sum = 0;
                for tile in black_box(&groups).chunks(SquareCounters::GROUPS) {
                    let mut counters = SquareCounters::default();
                    analyzer.board_counts(tile, &results, &mut board_counts);
                    analyzer.count_squares(tile, &results, &mut counters);
                    sum ^= board_counts[0][0] ^ counters.planes[0][0][0];
                }
                sum
            });
        });
    }
    bench.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
