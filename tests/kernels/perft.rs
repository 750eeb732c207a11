//! Perft on the lanes: every tier and several threads, compared with the rules of one position and known counts.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LANEFISH_PERFT_POSITIONS` | positions of each kind that are counted to depth 3; every eighth also to depth 4 |
//! | `LANEFISH_PERFT_SEED` | the random seed |

use crate::kernels::replies::{kinds, variable};
use crate::support::{FAMOUS, Random, shared_texts};
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::chess::{self, Position, Validity};
use lanefish::formats::text::perft_counts;
use lanefish::perft::{Count, count, count_by_move, divide, perft};
use lanefish::tiers::{Analyzer, Tier};
use std::collections::HashMap;

fn analyzers() -> impl Iterator<Item = &'static dyn Analyzer> {
    Tier::all().flat_map(Tier::implementations)
}

/// The position and the expected counts of each case of a perft file, in either form.
fn cases(text: &str) -> Vec<(Position, Vec<(u32, u64)>)> {
    let mut cases = Vec::new();
    for line in text.lines() {
        if let Some(fen) = line.strip_prefix("epd ") {
            cases.push((Position::from_fen_unvalidated(fen).expect("FEN"), Vec::new()));
        } else if let Some(count) = line.strip_prefix("perft ") {
            let (depth, nodes) = count.split_once(' ').expect("two numbers");
            let numbers = (depth.parse().expect("depth"), nodes.parse().expect("nodes"));
            cases.last_mut().expect("a position").1.push(numbers);
        } else if let Some((fen, counts)) = line.split_once(';') {
            let position = Position::from_fen_unvalidated(fen).expect("FEN");
            cases.push((position, perft_counts(counts).collect()));
        }
    }
    cases
}

#[test]
fn famous_positions_move_by_move() {
    for fen in FAMOUS {
        let position = Position::from_fen_unvalidated(fen).expect("FEN");
        for depth in 0..=3 {
            let expected = chess::perft::divide(&mut position.clone(), depth);
            for analyzer in analyzers() {
                let found = divide(&position, depth, analyzer, 1).unwrap();
                assert_eq!(found, expected, "{fen} {depth} {analyzer:?}");
                let nodes = perft(&position, depth, analyzer, 1).unwrap();
                let sum: u64 = expected.iter().map(|(_, nodes)| nodes).sum();
                assert_eq!(nodes, if depth == 0 { 1 } else { sum });
            }
        }
    }
}

#[test]
fn threads_make_no_difference() {
    let position = Position::standard();
    let analyzer = analyzers().last().expect("the portable tier");
    let one = divide(&position, 5, analyzer, 1).unwrap();
    assert_eq!(one.iter().map(|(_, nodes)| nodes).sum::<u64>(), 4_865_609);
    for threads in [0, 2, 3] {
        assert_eq!(divide(&position, 5, analyzer, threads).unwrap(), one);
    }
}

/// Two plies of positions from random play, standard and Chess960: all children are made, and their moves counted.
#[test]
fn random_play_two_plies() {
    for start in [Start::Standard, Start::Chess960] {
        for (index, step) in RandomPlay::new(7, start).take(4000).enumerate() {
            let expected = chess::perft::divide(&mut step.position.clone(), 2);
            let analyzer = analyzers().nth(index % analyzers().count());
            let found = divide(&step.position, 2, analyzer.expect("a tier"), 1).unwrap();
            assert_eq!(found, expected, "{}", step.position);
        }
    }
}

/// Positions of every kind, counted in every tier and plainly.
#[test]
fn plain_counting() {
    let variable_number = variable("LANEFISH_PERFT_POSITIONS");
    let number = variable_number.unwrap_or(100) as usize;
    // Boards full of queens have millions of nodes at depth 3.
    let most = if variable_number.is_some() { 3_000_000 } else { 150_000 };
    for (name, positions) in kinds(variable("LANEFISH_PERFT_SEED").unwrap_or(2)) {
        let mut checked = [0; 5];
        let (mut nodes, mut boards) = (0, 0);
        for (index, position) in positions.step_by(3).take(number).enumerate() {
            for depth in 3..=if index % 8 == 0 { 4 } else { 3 } {
                // The last count is about as many times larger as the one before.
                let [above, before] = [depth - 2, depth - 1].map(|d| chess::perft::perft(&mut position.clone(), d));
                if before * before / above.max(1) > most {
                    break;
                }
                let expected = chess::perft::perft(&mut position.clone(), depth);
                let mut counts = analyzers().map(|analyzer| count(&position, depth, analyzer, 1).unwrap());
                let first = counts.next().expect("the portable tier");
                assert_eq!(first.nodes, expected, "{position} {depth}");
                assert!(first.boards <= before, "{position} {depth}");
                for other in counts {
                    assert_eq!(other, first, "{position} {depth}");
                }
                checked[depth as usize] += 1;
                nodes += first.nodes;
                boards += first.boards;
            }
        }
        if variable_number.is_some() {
            let [.., three, four] = checked;
            eprintln!("{name}: {three} positions at depth 3, {four} at depth 4, {nodes} nodes, {boards} boards");
        }
        assert!(checked[3] * 2 > number, "{name}: {checked:?}");
    }
}

#[test]
fn boards_do_not_depend_on_threads_or_tiers() {
    let position = Position::from_fen_unvalidated(FAMOUS[2]).expect("FEN");
    let mut counts = Vec::new();
    for analyzer in [analyzers().next(), analyzers().last()].into_iter().flatten() {
        for threads in [1, 3] {
            let done = std::sync::Mutex::new(Vec::new());
            let progress = |progress: lanefish::perft::Progress| done.lock().unwrap().push(progress);
            let moves = count_by_move(&position, 5, analyzer, threads, progress).unwrap();
            let mut done: Vec<usize> = done.into_inner().unwrap().iter().map(|progress| progress.done).collect();
            done.sort_unstable();
            assert_eq!(done, (1..=moves.len()).collect::<Vec<_>>());
            counts.push(moves);
        }
    }
    assert!(counts.iter().all(|moves| *moves == counts[0]));
    let sum: Count = counts[0].iter().map(|(_, count)| *count).sum();
    assert_eq!(sum.nodes, 674_624);
    assert!(sum.boards < 43_238, "{sum:?}");
    // One board is counted at depth 1, and one for each move at depth 2.
    let analyzer = analyzers().last().expect("a tier");
    assert_eq!(count(&position, 0, analyzer, 1).unwrap(), Count { nodes: 1, boards: 0 });
    assert_eq!(count(&position, 1, analyzer, 1).unwrap(), Count { nodes: 14, boards: 1 });
    assert_eq!(count(&position, 2, analyzer, 1).unwrap(), Count { nodes: 191, boards: 14 });
}

#[test]
fn invalid_boards() {
    for fen in [
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
        "4k3/4P3/8/8/8/8/8/P3K3 w - - 0 1",
        "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQ1/KQQQQQ1k b - - 0 1",
    ] {
        let position = Position::from_fen_unvalidated(fen).expect("FEN");
        assert!(!position.is_valid(Validity::Playable));
        for depth in 0..=2 {
            let expected = chess::perft::perft(&mut position.clone(), depth);
            for analyzer in analyzers() {
                assert_eq!(perft(&position, depth, analyzer, 2).unwrap(), expected, "{fen}");
            }
        }
    }
}

/// Nine queens and 218 moves, the most of any reachable position.
#[test]
fn many_moves() {
    let fen = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";
    let position = Position::from_fen_unvalidated(fen).expect("FEN");
    let expected = chess::perft::perft(&mut position.clone(), 3);
    for analyzer in analyzers() {
        assert_eq!(perft(&position, 1, analyzer, 1).unwrap(), 218);
        assert_eq!(perft(&position, 3, analyzer, 1).unwrap(), expected);
    }
}

/// A sample of cases from all perft files, each at its greatest depth with at most a million nodes.
#[test]
fn sampled_suites() {
    let mut random = Random::new(11);
    let mut checked = HashMap::new();
    for (name, text) in shared_texts("perft") {
        let cases = cases(&text);
        let sampled = 60.min(cases.len());
        for index in 0..sampled {
            let (position, counts) =
                if sampled == cases.len() { &cases[index] } else { &cases[random.below(cases.len() as u64) as usize] };
            let Some(&(depth, nodes)) = counts.iter().rfind(|&&(_, nodes)| nodes <= 1_000_000) else {
                continue;
            };
            let analyzer = analyzers().nth(index % analyzers().count());
            let found = perft(position, depth, analyzer.expect("a tier"), 1 + index % 2).unwrap();
            assert_eq!(found, nodes, "{name}: {position} {depth}");
            *checked.entry(name.clone()).or_insert(0) += 1;
        }
        assert!(checked[&name] > 0, "{name} has no counts");
    }
}
