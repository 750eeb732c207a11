//! Statistics against counting by hand.

use super::*;
use crate::block::Packed;
use crate::chess::random::{RandomPlay, Start};
use crate::chess::{Position, Role, Square};
use crate::tiers::Tier;

fn batch_of<'a>(positions: impl IntoIterator<Item = &'a Position>) -> Batch {
    let mut batch = Batch::new();
    for position in positions {
        batch.push(Packed::pack(position).unwrap(), 0, 1);
    }
    batch
}

/// Statistics of the first `len` records, taken in tiles of N groups.
fn stats_of(batch: &Batch, len: usize, analyzer: &dyn Analyzer, tile: usize) -> Stats {
    let groups = batch.groups();
    let mut results = vec![GroupResults::default(); groups.len()];
    analyzer.analyze(groups, Stats::QUERIES, &mut results);
    let mut stats = Stats::new();
    for (at, groups) in groups.chunks(tile).enumerate() {
        let start = at * tile * Group::LEN;
        let len = len.saturating_sub(start).min(groups.len() * Group::LEN);
        let mut mask = vec![0u64; groups.len().div_ceil(8)];
        (0..len).for_each(|row| mask[row / 64] |= 1 << (row % 64));
        stats.add_tile(analyzer, groups, &results[at * tile..], &mask);
    }
    stats
}

#[test]
fn every_tier_agrees_with_plain_counting() {
    let positions: Vec<Position> = [Start::Standard, Start::Chess960]
        .into_iter()
        .flat_map(|start| RandomPlay::new(5, start).take(2500))
        .map(|played| played.position)
        .collect();
    agrees_with_plain_counting(&positions);
}

/// Boards whose material or phase does not fit into the joint tables, between ordinary ones.
#[test]
fn numbers_beyond_the_tables_are_counted() {
    let boards = [
        "7k/QQQQQQ2/QQQQQQQ1/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/K7 b - - 0 1",
        "k7/3Q4/1Q6/4Q2Q/Q1Q5/5Q2/2Q3Q1/K2Q1Q1Q w - - 0 1",
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
        "7k/8/8/qqqqqqqq/qqqqqqqq/8/8/K7 w - - 0 1",
        "7k/8/8/nnnnnnnn/nnnnnnnn/nnnnnnnn/nnnnnnnn/6K1 b - - 0 1",
        "knQQ1QQQ/ppQ4Q/Q6Q/1Q5Q/QQ5Q/Q6Q/QQ5Q/KQQQQQQQ w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "6QQ/8/QQQQQQ2/QQQQQQQQ/8/Q7/1Q5K/k7 b - - 0 1",
    ];
    let mut positions = Vec::new();
    for (turn, board) in boards.iter().cycle().take(60).enumerate() {
        let position = Position::from_fen_unvalidated(board).unwrap();
        if position.is_valid(crate::chess::Validity::Playable) {
            positions.push(position);
        }
        let ordinary = RandomPlay::new(turn as u64, Start::Standard).nth(turn % 7);
        positions.extend(ordinary.map(|played| played.position));
    }
    assert!(positions.iter().any(Position::is_checkmate));
    agrees_with_plain_counting(&positions);
}

fn agrees_with_plain_counting(positions: &[Position]) {
    let len = positions.len();
    let batch = batch_of(positions);
    let count = |test: &dyn Fn(&Position) -> bool| {
        positions.iter().filter(|position| test(position)).count() as u64
    };
    let sum = |number: &dyn Fn(&Position) -> u32| -> u64 {
        positions
            .iter()
            .map(|position| u64::from(number(position)))
            .sum()
    };
    let worth = |position: &Position, color, worths: [u32; 5]| -> u32 {
        let pieces = |role| position.pieces(color, role).len();
        Role::ALL
            .into_iter()
            .zip(worths)
            .map(|(role, worth)| pieces(role) * worth)
            .sum()
    };
    let rook_beyond_king = |position: &Position, color, side| {
        let king = position.king(color).unwrap();
        position.castling.rook(color, king, side).is_some()
    };
    // A tile of 300 groups is more than the vertical counters can hold.
    for (tier, tile) in Tier::all().zip([1, 64, 300, 64]) {
        let Some(analyzer) = tier.analyzer() else {
            continue;
        };
        let stats = stats_of(&batch, len, analyzer, tile);
        assert_eq!(stats.positions(), len as u64);
        assert_eq!(
            stats.black_to_move(),
            count(&|p| p.side_to_move == Color::Black)
        );
        assert_eq!(stats.in_check(), count(&|p| p.in_check()));
        assert_eq!(stats.double_check(), count(&|p| p.checkers().several()));
        assert_eq!(stats.checkmate(), count(&|p| p.is_checkmate()));
        assert_eq!(stats.stalemate(), count(&|p| p.is_stalemate()));
        assert_eq!(
            stats.with_legal_en_passant(),
            count(&|p| p.en_passant.is_some())
        );
        assert_eq!(
            stats.with_en_passant_square(),
            stats.with_legal_en_passant()
        );
        assert_eq!(
            stats.legal_moves().sum,
            sum(&|p| p.count_legal_moves().into()).into()
        );
        assert_eq!(
            stats.legal_captures(),
            sum(&|p| p.legal_counts().captures.into())
        );
        assert_eq!(
            stats.legal_promotions(),
            sum(&|p| p.legal_counts().promotions.into())
        );
        assert_eq!(
            stats.legal_castles(),
            sum(&|p| p.legal_counts().castles.into())
        );
        assert_eq!(
            stats.legal_en_passants(),
            sum(&|p| p.legal_counts().en_passants.into())
        );
        let castling = stats.castling();
        assert_eq!(castling.none, count(&|p| p.castling.is_empty()));
        assert_eq!(castling.some, len as u64 - castling.none);
        use crate::chess::castling::CastlingSide::{King, Queen};
        for (ours, color, side) in [
            (castling.white_king, Color::White, King),
            (castling.white_queen, Color::White, Queen),
            (castling.black_king, Color::Black, King),
            (castling.black_queen, Color::Black, Queen),
        ] {
            assert_eq!(ours, count(&|p| rook_beyond_king(p, color, side)));
        }
        let moves = stats.legal_moves_histogram();
        assert_eq!(moves.iter().sum::<u64>(), len as u64);
        for (moves, &ours) in moves.iter().enumerate() {
            assert_eq!(ours, count(&|p| p.count_legal_moves() as usize == moves));
        }
        for histogram in stats.material_histograms() {
            assert_eq!(histogram.iter().sum::<u64>(), len as u64);
        }
        for (pieces, &ours) in stats.pieces_histogram().iter().enumerate() {
            assert_eq!(ours, count(&|p| p.occupied().len() == pieces as u32));
        }
        for (phase, &ours) in stats.phase_histogram().iter().enumerate() {
            let of = |p: &Position| {
                let of = |color| worth(p, color, [0, 1, 1, 2, 4]);
                (of(Color::White) + of(Color::Black)).min(24)
            };
            assert_eq!(ours, count(&|p| of(p) == phase as u32));
        }
        for (color, histogram) in Color::ALL.into_iter().zip(stats.material_histograms()) {
            for (material, ours) in histogram.into_iter().enumerate() {
                let of = |p: &Position| worth(p, color, [1, 3, 3, 5, 9]);
                assert_eq!(ours, count(&|p| of(p) == material as u32));
            }
        }
        let heat = stats.heat();
        for square in Square::all() {
            for (at, map) in heat.occupancy().iter().enumerate() {
                let (color, role) = (Color::ALL[at / 6], Role::ALL[at % 6]);
                let standing = count(&|p| p.pieces(color, role).contains(square));
                assert_eq!(map[square.index()], standing, "{color:?} {role:?} {square}");
            }
            for (color, map) in Color::ALL.into_iter().zip(heat.attacks()) {
                let attacked = count(&|p| p.attacked_by(color).contains(square));
                assert_eq!(map[square.index()], attacked, "{color:?} {square}");
            }
        }
        assert_eq!(stats.results().unknown, len as u64);
        let mut twice = stats.clone();
        twice.merge(&stats);
        assert_eq!(twice.heat().attacks()[0][30], 2 * heat.attacks()[0][30]);
        assert_eq!(twice.legal_moves().sum, 2 * stats.legal_moves().sum);
    }
}

#[test]
fn lanes_after_the_last_board_are_ignored() {
    let positions: Vec<Position> = RandomPlay::new(1, Start::Standard)
        .take(24)
        .map(|played| played.position)
        .collect();
    let batch = batch_of(&positions);
    let analyzer = Tier::PORTABLE.analyzer().unwrap();
    for len in [0, 1, 7, 8, 9, 15, 16, 17, 24] {
        let stats = stats_of(&batch, len, analyzer, 64);
        assert_eq!(stats.positions(), len as u64);
        assert_eq!(stats.heat().occupancy()[5].iter().sum::<u64>(), len as u64);
        assert_eq!(stats.white_to_move() + stats.black_to_move(), len as u64);
        let moves: u64 = positions[..len]
            .iter()
            .map(|p| u64::from(p.count_legal_moves()))
            .sum();
        assert_eq!(stats.legal_moves().sum, i128::from(moves));
    }
}

/// Results are counted in ranges of any size, at any place in a batch.
#[test]
fn fields_of_ranges_of_rows() {
    let mut batch = Batch::owned(vec![Group::default(); 100], 800);
    let result = |row: usize| (row % 7 != 3).then_some((row % 5 % 3) as u8);
    let score = |row: usize| (row % 200 < 100 || row % 11 != 2).then_some(row as i16 - 400);
    let mate = |row: usize| (row % 13 == 1).then_some(row as i16 - 400);
    let columns = [
        (Field::Result, Array::U8(Values::default())),
        (Field::Score, Array::I16(Values::default())),
        (Field::Mate, Array::I16(Values::default())),
    ];
    batch.fields.extend(columns);
    for row in 0..800 {
        for (field, column) in &mut batch.fields {
            match (field, column) {
                (Field::Score, Array::I16(column)) => column.push(score(row)),
                (_, Array::I16(column)) => column.push(mate(row)),
                (_, Array::U8(column)) => column.push(result(row)),
                _ => unreachable!(),
            }
        }
    }
    for rows in [0..0, 0..800, 1..799, 64..128, 63..400, 254..256, 511..767] {
        let mut mask = vec![0; 13];
        rows.clone()
            .for_each(|row| mask[row / 64] |= 1 << (row % 64));
        let mut stats = Stats::new();
        stats.add_fields(&batch, 0, &mask);
        let count = |value| {
            rows.clone()
                .filter(|&row| result(row) == Some(value))
                .count() as u64
        };
        assert_eq!(stats.results, [0, 1, 2].map(count), "{rows:?}");
        let scores: Vec<i128> = rows.clone().filter_map(score).map(i128::from).collect();
        let found = stats.scores().unwrap_or_default();
        assert_eq!(found.count, scores.len() as u64, "{rows:?}");
        assert_eq!(found.sum, scores.iter().sum::<i128>(), "{rows:?}");
        let mates = |white: bool| {
            let of_side = |&moves: &i16| (moves > 0) == white;
            rows.clone().filter_map(mate).filter(of_side).count() as u64
        };
        assert_eq!(stats.mates().white, mates(true), "{rows:?}");
        assert_eq!(stats.mates().black, mates(false), "{rows:?}");
    }
}

#[test]
#[cfg(feature = "json")]
fn merged_statistics_equal_those_of_the_whole() {
    let positions: Vec<Position> = RandomPlay::new(3, Start::Chess960)
        .map(|played| played.position)
        .take(1024)
        .collect();
    let mut batch = batch_of(&positions);
    let (mut results, mut scores) = (Values::<u8>::default(), Values::<i16>::default());
    let mut mates = Values::<i16>::default();
    for row in 0..1024usize {
        results.push((row % 5 != 0).then_some((row % 3) as u8));
        scores.push((row % 4 != 0).then_some(row as i16 - 500));
        mates.push((row % 7 == 0).then_some(3 - (row % 2 * 6) as i16));
    }
    batch.fields.insert(Field::Result, Array::U8(results));
    batch.fields.insert(Field::Score, Array::I16(scores));
    batch.fields.insert(Field::Mate, Array::I16(mates));
    let analyzer = Tier::best().analyzer().unwrap();
    let mut results = vec![GroupResults::default(); 128];
    analyzer.analyze(batch.groups(), Stats::QUERIES, &mut results);
    let of = |groups: std::ops::Range<usize>| {
        let mut stats = Stats::new();
        let mask = vec![!0; groups.len() / 8];
        let rows = groups.clone();
        stats.add_tile(
            analyzer,
            &batch.groups()[rows.clone()],
            &results[rows],
            &mask,
        );
        stats.add_fields(&batch, groups.start * Group::LEN, &mask);
        stats.add_rejected(groups.len() as u64);
        stats
    };
    let mut merged = of(0..40);
    merged.merge(&of(40..64));
    merged.merge(&of(64..128));
    let whole = of(0..128);
    assert!(merged.to_json(false) == whole.to_json(false));
    assert_eq!(merged.results.iter().sum::<u64>(), 819);
}
