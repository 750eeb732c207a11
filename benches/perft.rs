//! Perft of Kiwipete in every tier, and cozy-chess, which also counts the last ply without making it.
//!
//! `LANEFISH_PERFT_DEPTH` sets the depth (default 4; 6 takes seconds per round).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lanefish::chess::Position;
use lanefish::perft::perft;
use lanefish::tiers::Tier;

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const NODES: [u64; 7] = [1, 48, 2039, 97_862, 4_085_603, 193_690_690, 8_031_647_685];

fn cozy(board: &cozy_chess::Board, depth: usize) -> u64 {
    let mut nodes = 0;
    board.generate_moves(|moves| {
        if depth == 1 {
            nodes += moves.len() as u64;
        } else {
            for mv in moves {
                let mut child = board.clone();
                child.play_unchecked(mv);
                nodes += cozy(&child, depth - 1);
            }
        }
        false
    });
    nodes
}

fn benches(criterion: &mut Criterion) {
    let depth = std::env::var("LANEFISH_PERFT_DEPTH").map_or(4, |depth| depth.parse().expect("a depth of 1 to 6"));
    let nodes = NODES[depth];
    let mut group = criterion.benchmark_group(format!("perft/kiwipete-{depth}"));
    group.throughput(Throughput::Elements(nodes));
    group.sample_size(10);
    let position = Position::from_fen_unvalidated(KIWIPETE).expect("FEN");
    for analyzer in Tier::all().filter_map(Tier::analyzer) {
        group.bench_function(analyzer.tier().name(), |bench| {
            bench.iter(|| assert_eq!(perft(&position, depth as u32, analyzer, 1).unwrap(), nodes));
        });
    }
    let board = cozy_chess::Board::from_fen(KIWIPETE, false).expect("FEN");
    group.bench_function("cozy-chess", |bench| {
        bench.iter(|| assert_eq!(cozy(&board, depth), nodes));
    });
    group.finish();
}

criterion_group!(perft_benches, benches);
criterion_main!(perft_benches);
