//! Statistics against counting by hand.

use super::*;
use crate::chess::random::{RandomPlay, Start};
use crate::chess::{Position, Role, Square};
use crate::distinct::{Canonical, keys};
use crate::packed::Packed;
use crate::report::{Details, Matrix, Signature};
use crate::table::Texts;
use crate::tiers::Tier;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

fn batch_of<'a>(positions: impl IntoIterator<Item = &'a Position>) -> Arc<Batch> {
    let mut batch = Batch::new();
    for position in positions {
        batch.push(Packed::pack(position).unwrap(), 0, 1);
    }
    Arc::new(batch)
}

/// Statistics of the first `len` records, taken in tiles of N groups (a multiple of 8).
fn stats_of(batch: &Arc<Batch>, len: usize, analyzer: &'static dyn Analyzer, tile: usize) -> Stats {
    let mut stats = Stats::new().with_details();
    add_rows(&mut stats, batch, 0..batch.len(), analyzer, tile, |row| row < len);
    stats
}

/// Adds rows, from a multiple of 64 on, in tiles of N groups.
fn add_rows(
    stats: &mut Stats,
    batch: &Arc<Batch>,
    rows: Range<usize>,
    analyzer: &'static dyn Analyzer,
    tile: usize,
    counts: impl Fn(usize) -> bool,
) {
    let groups = batch.groups();
    let mut results = vec![GroupResults::default(); groups.len()];
    analyzer.analyze(groups, Stats::QUERIES, &mut results);
    for start in rows.clone().step_by(tile * Group::LEN) {
        let len = (rows.end - start).min(tile * Group::LEN);
        let mut mask = vec![0u64; len.div_ceil(64)];
        let counted = (0..len).filter(|row| counts(start + row));
        counted.for_each(|row| mask[row / 64] |= 1 << (row % 64));
        let groups = start / Group::LEN..(start + len).div_ceil(Group::LEN);
        let tile = Tile::new(analyzer, batch, start, len, &results[groups], &mask);
        stats.add_tile(&tile);
    }
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
        "rnbqkbnr/3q4/8/8/8/8/3Q4/RNBQKBNR b KQkq - 0 1",
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
    let count = |test: &dyn Fn(&Position) -> bool| positions.iter().filter(|position| test(position)).count() as u64;
    let sum = |number: &dyn Fn(&Position) -> u32| -> u64 {
        positions.iter().map(|position| u64::from(number(position))).sum()
    };
    let rook_beyond_king = |position: &Position, color, side| {
        let king = position.king(color).unwrap();
        position.castling.rook(color, king, side).is_some()
    };
    // A tile of 304 groups is more than the vertical counters can hold.
    for (analyzer, tile) in Tier::all().flat_map(Tier::implementations).zip([8, 64, 304].into_iter().cycle()) {
        let mut stats = stats_of(&batch, len, analyzer, tile);
        let report = stats.report(false);
        assert_eq!(report.positions, len as u64);
        assert_eq!(report.white_to_move, count(&|p| p.side_to_move == Color::White));
        assert_eq!(report.position_counts.in_check, count(&|p| p.in_check()));
        assert_eq!(report.position_counts.double_check, count(&|p| p.checkers().several()));
        assert_eq!(report.position_counts.checkmate, count(&|p| p.is_checkmate()));
        assert_eq!(report.position_counts.stalemate, count(&|p| p.is_stalemate()));
        assert_eq!(report.en_passant, count(&|p| p.en_passant.is_some()));
        assert_eq!(stats.report(true).en_passant, report.en_passant);
        assert_eq!(report.moves(), sum(&|p| p.count_legal_moves().into()));
        let kinds = [
            report.move_counts.captures,
            report.move_counts.promotions,
            report.move_counts.castles,
            report.move_counts.en_passants,
        ];
        let expected = [
            sum(&|p| p.legal_counts().captures.into()),
            sum(&|p| p.legal_counts().promotions.into()),
            sum(&|p| p.legal_counts().castles.into()),
            sum(&|p| p.legal_counts().en_passants.into()),
        ];
        assert_eq!(kinds, expected);
        let castling = &report.castling;
        assert_eq!(castling.none, count(&|p| p.castling.is_empty()));
        assert_eq!(castling.some, len as u64 - castling.none);
        use crate::chess::CastlingSide::{King, Queen};
        for (ours, color, side) in [
            (castling.white_king, Color::White, King),
            (castling.white_queen, Color::White, Queen),
            (castling.black_king, Color::Black, King),
            (castling.black_queen, Color::Black, Queen),
        ] {
            assert_eq!(ours, count(&|p| rook_beyond_king(p, color, side)));
        }
        assert_eq!(report.legal_moves.total(), len as u64);
        for (moves, ours) in report.legal_moves.iter() {
            assert_eq!(ours, count(&|p| i64::from(p.count_legal_moves()) == moves));
        }
        for histogram in [&report.pieces, &report.phase].into_iter().chain(&report.material) {
            assert_eq!(histogram.total(), len as u64);
        }
        for (pieces, ours) in report.pieces.iter() {
            assert_eq!(ours, count(&|p| i64::from(p.occupied().len()) == pieces));
        }
        for (phase, ours) in report.phase.iter() {
            assert_eq!(ours, count(&|p| i64::from(phase_of(p)) == phase));
        }
        for (color, histogram) in Color::ALL.into_iter().zip(&report.material) {
            for (material, ours) in histogram.iter() {
                let of = |p: &Position| worth(p, color, [1, 3, 3, 5, 9]);
                assert_eq!(ours, count(&|p| i64::from(of(p)) == material));
            }
        }
        for square in Square::all() {
            for (at, map) in report.occupancy.iter().enumerate() {
                let (color, role) = (Color::ALL[at / 6], Role::ALL[at % 6]);
                let standing = count(&|p| p.pieces(color, role).contains(square));
                assert_eq!(map.0[square.index()], standing, "{color:?} {role:?} {square}");
            }
            for (color, map) in Color::ALL.into_iter().zip(&report.attacks) {
                let attacked = count(&|p| p.attacked_by(color).contains(square));
                assert_eq!(map.0[square.index()], attacked, "{color:?} {square}");
            }
        }
        assert_eq!(report.results.unknown, len as u64);
        assert!(*report.details.as_deref().unwrap() == details_of(positions), "{analyzer:?}");
        let mut twice = report.clone();
        twice.merge(&report);
        stats.merge(&stats.clone());
        assert!(stats.report(false) == twice);
        assert_eq!(twice.moves(), 2 * report.moves());
    }
}

fn worth(position: &Position, color: Color, worths: [u32; 5]) -> u32 {
    let pieces = |role| position.pieces(color, role).len();
    let worths = Role::ALL.into_iter().zip(worths);
    worths.map(|(role, worth)| pieces(role) * worth).sum()
}

fn phase_of(position: &Position) -> u32 {
    let of = |color| worth(position, color, [0, 1, 1, 2, 4]);
    (of(Color::White) + of(Color::Black)).min(24)
}

/// The details of positions that carry nothing else, counted plainly.
fn details_of(positions: &[Position]) -> Details {
    let mut details = Details::default();
    let mut pieces_moves = vec![vec![0; 256]; 128];
    let mut material = vec![vec![0; 128]; 128];
    let mut phases = vec![vec![0; 4]; 25];
    for position in positions {
        let counts = position.legal_counts();
        let pieces = position.occupied().len();
        let [white, black] = Color::ALL.map(|color| worth(position, color, [1, 3, 3, 5, 9]));
        let phase: u32 = Color::ALL.map(|color| worth(position, color, [0, 1, 1, 2, 4])).iter().sum();
        if white < 128 && black < 128 && phase < 32 && counts.moves < 256 {
            material[white as usize][black as usize] += 1;
        }
        if counts.moves < 256 {
            pieces_moves[pieces as usize][usize::from(counts.moves)] += 1;
        }
        phases[phase_of(position) as usize][3] += 1;
        let mut beyond = false;
        let sides = Color::ALL.map(|color| {
            let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];
            roles.map(|role| {
                let count = position.pieces(color, role).len();
                beyond |= count > if role == Role::Pawn { 8 } else { 2 };
                count as u8
            })
        });
        match Signature::from_pieces(sides) {
            Some(signature) => *details.signatures.entry(signature).or_default() += 1,
            None => details.other_signatures += 1,
        }
        assert_eq!(Signature::from_pieces(sides).is_none(), beyond);
        for square in position.checkers() {
            details.checkers.0[square.index()] += 1;
        }
        for square in position.castling.0 {
            details.castling_rooks.0[square.index()] += 1;
        }
        if let Some(square) = position.en_passant {
            details.en_passant.0[square.index()] += 1;
        }
        let canonical = Canonical {
            board: [
                position.color(Color::Black).0,
                position.role(Role::Pawn).0 | position.role(Role::Bishop).0 | position.role(Role::Queen).0,
                position.role(Role::Knight).0 | position.role(Role::Bishop).0 | position.role(Role::King).0,
                position.role(Role::Rook).0 | position.role(Role::Queen).0 | position.role(Role::King).0,
            ],
            black_to_move: position.side_to_move == Color::Black,
            castling: position.castling.0.0,
            en_passant: position.en_passant.map_or(0, |square| 1 << square.index()),
        };
        for (sketch, key) in details.distinct.0.iter_mut().zip(keys(&canonical)) {
            sketch.insert(key);
        }
    }
    details.pieces_moves = Matrix::new(pieces_moves);
    details.material = Matrix::new(material);
    details.phase_results = Matrix::new(phases);
    details.phase_score_sums = vec![0; 25];
    details
}

/// Records that are left out, one by one or in runs of any length, leave nothing behind.
#[test]
fn records_in_between_may_be_left_out() {
    let analyzer = Tier::best().analyzer().unwrap();
    let positions: Vec<Position> = [Start::Standard, Start::Chess960]
        .into_iter()
        .flat_map(|start| RandomPlay::new(8, start).take(700))
        .map(|played| played.position)
        .collect();
    let batch = batch_of(&positions);
    // Few, half, most; one of each group; long runs, with and without an end within a group.
    let choices: [fn(usize) -> bool; 7] = [
        |row| row % 97 == 5,
        |row| (row * row + row / 3) % 2 == 0,
        |row| row % 61 != 7,
        |row| row % 8 == row / 8 % 8,
        |row| row / 160 % 2 == 0,
        |row| row / 131 % 2 == 1,
        |_| false,
    ];
    for chosen in choices {
        let mut stats = Stats::new().with_details();
        add_rows(&mut stats, &batch, 0..batch.len(), analyzer, 64, chosen);
        let rows: Vec<usize> = (0..positions.len()).filter(|&row| chosen(row)).collect();
        let alone = batch_of(rows.iter().map(|&row| &positions[row]));
        let alone = stats_of(&alone, rows.len(), analyzer, 64);
        assert_eq!(stats.report(false), alone.report(false));
    }
}

#[test]
fn lanes_after_the_last_board_are_ignored() {
    let positions: Vec<Position> = RandomPlay::new(1, Start::Standard).take(24).map(|played| played.position).collect();
    let batch = batch_of(&positions);
    let analyzer = Tier::PORTABLE.analyzer().unwrap();
    for len in [0, 1, 7, 8, 9, 15, 16, 17, 24] {
        let report = stats_of(&batch, len, analyzer, 64).report(false);
        assert_eq!(report.positions, len as u64);
        assert_eq!(report.occupancy[5].sum(), len as u64);
        let details = report.details.as_deref().unwrap();
        assert!(*details == details_of(&positions[..len]));
        let moves: u64 = positions[..len].iter().map(|p| u64::from(p.count_legal_moves())).sum();
        assert_eq!(report.moves(), moves);
    }
}

/// What the record in a row carries, in tests.
struct Carried;

impl Carried {
    fn result(row: usize) -> Option<u8> {
        (row % 7 != 3).then_some((row % 5 % 3) as u8)
    }
    fn score(row: usize) -> Option<i16> {
        (row % 200 < 100 || row % 11 != 2).then_some((row as i16 - 400) * 7)
    }
    /// The same, with sentinels in some of the rows that have none.
    fn raw_score(row: usize) -> Option<i16> {
        Self::score(row).or([Some(32_002), Some(-32_002), None][row % 3])
    }
    fn mate(row: usize) -> Option<i16> {
        (row % 13 == 1).then_some(row as i16 - 400)
    }
    /// Games of 50 positions; the last one is not finished.
    fn ply(row: usize) -> Option<u16> {
        Some((row % 50) as u16)
    }
    fn elo(row: usize) -> Option<u16> {
        (row / 50 % 3 != 1).then_some(1500 + (row / 50) as u16)
    }
    fn eco(row: usize) -> Option<Arc<str>> {
        ["B12", "E99", "?", "A00"].get(row / 50 % 5).map(|&code| code.into())
    }
    fn time_control(row: usize) -> Option<Arc<str>> {
        ["300+3", "-", "60"].get(row / 50 % 4).map(|&text| text.into())
    }
    fn of(positions: &[Position]) -> Arc<Batch> {
        let mut batch = Arc::into_inner(batch_of(positions)).unwrap();
        let rows = || 0..positions.len();
        fn column<T: Clone + Default>(values: impl Iterator<Item = Option<T>>) -> Values<T> {
            let mut column = Values::default();
            values.for_each(|value| column.push(value));
            column
        }
        let texts = |of: fn(usize) -> Option<Arc<str>>| {
            let mut column = Texts::default();
            rows().for_each(|row| column.push(of(row).as_deref()));
            Array::Text(column)
        };
        batch.fields.extend([
            (Field::Result, Array::U8(column(rows().map(Self::result)))),
            (Field::Score, Array::I16(column(rows().map(Self::raw_score)))),
            (Field::Mate, Array::I16(column(rows().map(Self::mate)))),
            (Field::Ply, Array::U16(column(rows().map(Self::ply)))),
            (Field::WhiteElo, Array::U16(column(rows().map(Self::elo)))),
            (Field::Eco, texts(Self::eco)),
            (Field::TimeControl, texts(Self::time_control)),
        ]);
        Arc::new(batch)
    }
}

/// What records carry is counted in ranges of any size, at any place in a batch.
#[test]
fn fields_of_ranges_of_rows() {
    let positions: Vec<Position> =
        RandomPlay::new(9, Start::Standard).map(|played| played.position).take(800).collect();
    let batch = Carried::of(&positions);
    let analyzer = Tier::best().analyzer().unwrap();
    for rows in [0..0, 0..800, 1..799, 64..128, 63..400, 254..256, 511..767] {
        let mut stats = Stats::new().with_details();
        add_rows(&mut stats, &batch, 0..800, analyzer, 64, |row| rows.contains(&row));
        let report = stats.report(false);
        let count = |value: Option<u8>| {
            let of = |&row: &usize| Carried::result(row) == value;
            rows.clone().filter(of).count() as u64
        };
        let Results { white, draw, black, unknown, .. } = report.results;
        let results = [Some(2), Some(1), Some(0), None].map(count);
        assert_eq!([white, draw, black, unknown], results, "{rows:?}");
        let scores: Vec<i128> = rows.clone().filter_map(Carried::score).map(i128::from).collect();
        let found = report.scores.summary();
        assert_eq!(found.count, scores.len() as u64, "{rows:?}");
        assert_eq!(found.sum, scores.iter().sum::<i128>(), "{rows:?}");
        let mates = |white: bool| {
            let of_side = |&moves: &i16| (moves > 0) == white;
            rows.clone().filter_map(Carried::mate).filter(of_side).count() as u64
        };
        assert_eq!(report.mates.white, mates(true), "{rows:?}");
        assert_eq!(report.mates.black, mates(false), "{rows:?}");

        let details = report.details.as_deref().unwrap();
        let mut by_phase = vec![[0u64; 4]; 25];
        let mut scores = vec![vec![0u64; 128]; 25];
        let mut sums = vec![0i64; 25];
        let mut plies = vec![0u64; 50];
        let (mut eco, mut elos, mut speeds) = (BTreeMap::new(), BTreeMap::new(), [0; 7]);
        let mut games = 0;
        for row in rows.clone() {
            let phase = phase_of(&positions[row]) as usize;
            by_phase[phase][Carried::result(row).map_or(3, |result| 2 - usize::from(result))] += 1;
            if let Some(score) = Carried::score(row) {
                // 50 centipawns a column, rounded, ends included.
                let column = (f64::from(score) / 50.0 + 0.5).floor().clamp(-40.0, 40.0) + 40.0;
                scores[phase][column as usize] += 1;
                sums[phase] += i64::from(score);
            }
            plies[row % 50] += 1;
            if row % 50 == 0 {
                games += 1;
                if let Some(code) = Carried::eco(row).filter(|code| code.len() == 3) {
                    let code: [u8; 3] = code.as_bytes().try_into().unwrap();
                    *eco.entry(code).or_default() += 1;
                }
                if let Some(elo) = Carried::elo(row) {
                    *elos.entry(i64::from(elo)).or_default() += 1;
                }
                // Blitz, correspondence, bullet, unknown.
                speeds[[2, 5, 1, 6][row / 50 % 4]] += 1;
            }
        }
        let by_phase = by_phase.iter().map(|counts| counts.to_vec()).collect();
        assert_eq!(details.phase_results, Matrix::new(by_phase), "{rows:?}");
        assert_eq!(details.phase_scores, Matrix::new(scores), "{rows:?}");
        assert_eq!(details.phase_score_sums, sums, "{rows:?}");
        assert_eq!(details.ply, Histogram::new(0, plies), "{rows:?}");
        assert_eq!((details.games.count, &details.games.eco), (games, &eco), "{rows:?}");
        assert_eq!(details.games.speeds, speeds, "{rows:?}");
        let [white, black] = &details.games.elo;
        assert!(white.iter().eq(elos) && black.is_empty(), "{rows:?}");
    }
    let mut stats = Stats::new().with_details();
    add_rows(&mut stats, &batch, 0..800, analyzer, 64, |_| true);
    let details = stats.report(false).details.unwrap();
    // Sixteen games of 49 plies.
    let mut ends = vec![0; 50];
    ends[49] = 16;
    assert_eq!(details.game_lengths(), Some(Histogram::new(0, ends)));
    let mut middle = Stats::new().with_details();
    add_rows(&mut middle, &batch, 0..800, analyzer, 64, |row| row % 50 > 7);
    assert_eq!(middle.report(false).details.unwrap().game_lengths(), None);
}

#[test]
fn merged_statistics_equal_those_of_the_whole() {
    let positions: Vec<Position> =
        RandomPlay::new(3, Start::Chess960).map(|played| played.position).take(1024).collect();
    let batch = Carried::of(&positions);
    let analyzer = Tier::best().analyzer().unwrap();
    let of = |rows: Range<usize>| {
        let mut stats = Stats::new().with_details();
        add_rows(&mut stats, &batch, rows.clone(), analyzer, 64, |_| true);
        stats.add_rejected(rows.len() as u64);
        stats
    };
    let parts = [of(0..320), of(320..512), of(512..512), of(512..1024)];
    let whole = of(0..1024).report(false);
    let mut merged = Stats::new().with_details();
    parts.iter().for_each(|part| merged.merge(part));
    assert!(merged.report(false) == whole);
    let reports = parts.map(|part| part.report(false));
    let mut merged = reports[3].clone();
    reports[..3].iter().for_each(|part| merged.merge(part));
    assert!(merged == whole);
    #[cfg(feature = "json")]
    {
        // And through files.
        let json = reports.map(|part| serde_json::Value::from(part.to_json()).to_string());
        let mut read = json.iter().map(|text| Report::from_json(&serde_json::from_str(text).unwrap()).unwrap());
        let mut merged = read.next().unwrap();
        read.for_each(|part| merged.merge(&part));
        assert!(merged == whole);
        assert_eq!(merged.to_json(), whole.to_json());
    }
}
