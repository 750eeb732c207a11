//! The columns of legal moves against the plain rules, and the layouts of policies against tables of texts.

use crate::support::{Random, sample_positions, weird_positions};
use lanefish::chess::{Color, Move, MoveKind, Piece, Position, Role, Square};
use lanefish::packed::{Group, Packed};
use lanefish::queries::GroupResults;
use lanefish::table::{Array, Batch, Column, Field, Items, Lists, Tile, Values};
use lanefish::tiers::Tier;
use std::collections::HashMap;
use std::sync::Arc;

type Records = Vec<(Position, Option<Move>)>;

/// The legal moves in the order of lists.
fn plain_moves(position: &Position) -> Vec<Move> {
    let mut moves: Vec<Move> = position.legal_moves().iter().copied().collect();
    let promotion = |mv: &Move| match mv.kind {
        MoveKind::Promotion(role) => Some(role),
        _ => None,
    };
    moves.sort_by_key(|mv| (mv.from.index(), mv.to.index(), promotion(mv)));
    moves
}

/// Positions with one of their legal moves, with none, and with a move that is not legal.
fn records() -> Records {
    let mut random = Random::new(11);
    let with_move = |position: Position| {
        let moves = position.legal_moves();
        let mv = match random.below(10) {
            0 => None,
            1 => Some(Move { from: Square::new(3), to: Square::new(41), kind: MoveKind::Normal }),
            _ => moves.get(random.below(moves.len().max(1) as u64) as usize).copied(),
        };
        (position, mv)
    };
    sample_positions([2, 3], 20_000, 500).into_iter().map(with_move).collect()
}

fn batch_of(records: &Records) -> Arc<Batch> {
    let mut batch = Batch::new();
    let mut moves = Values::<u16>::default();
    for (position, mv) in records {
        batch.push(Packed::pack(position).expect("chosen so"), position.halfmove, position.fullmove);
        moves.push(mv.map(Move::to_bits));
    }
    batch.fields.extend([(Field::Move, Array::U16(moves))]);
    Arc::new(batch)
}

/// Compares a column with a value for each record, in each tier; records that do not count are skipped.
fn check(records: &Records, name: &str, agrees: impl Fn(&Array, usize, &(Position, Option<Move>)) -> bool) {
    let batch = batch_of(records);
    let column = Column::named(name).expect("a column");
    let results = vec![GroupResults::default(); records.len().div_ceil(Group::LEN)];
    let every_second = 0x5555_5555_5555_5555_u64;
    for analyzer in Tier::available().filter_map(Tier::analyzer) {
        for word in [!0, every_second] {
            let mut mask = vec![word; records.len().div_ceil(64)];
            if let (Some(last), 1..) = (mask.last_mut(), records.len() % 64) {
                *last &= !0 >> (64 - records.len() % 64);
            }
            let tile = Tile::new(analyzer, &batch, 0, records.len(), &results, &mask);
            let found = column.fill(&tile);
            assert_eq!(found.len(), records.len());
            for (row, record) in records.iter().enumerate().filter(|(row, _)| mask[row / 64] >> (row % 64) & 1 != 0) {
                assert!(agrees(&found, row, record), "{analyzer:?} {name} of row {row}: {record:?}");
            }
        }
    }
}

fn lists(array: &Array) -> &Lists {
    match array {
        Array::Lists(lists) => lists,
        other => panic!("{other:?}"),
    }
}

fn has_numbers(array: &Array, row: usize, expected: &[u16]) -> bool {
    let (Items::U16(numbers), Some(items)) = (lists(array).items(), lists(array).range(row)) else { return false };
    numbers[items] == *expected
}

fn has_texts(array: &Array, row: usize, expected: &[String]) -> bool {
    let (Items::Text(texts), Some(items)) = (lists(array).items(), lists(array).range(row)) else { return false };
    items.map(|item| texts.get(item).expect("no item is missing")).eq(expected)
}

#[test]
fn lists_have_the_legal_moves() {
    let records = records();
    check(&records, "legal_moves_u16", |found, row, (position, _)| {
        let moves: Vec<u16> = plain_moves(position).into_iter().map(Move::to_bits).collect();
        has_numbers(found, row, &moves)
    });
    check(&records, "legal_moves_uci", |found, row, (position, _)| {
        let moves: Vec<String> = plain_moves(position).iter().map(|mv| mv.uci(position).to_string()).collect();
        has_texts(found, row, &moves)
    });
    check(&records, "checking_moves_u16", |found, row, (position, _)| {
        let gives_check = |mv: &Move| {
            let mut after = position.clone();
            after.make(*mv);
            after.in_check()
        };
        let checks: Vec<u16> = plain_moves(position).into_iter().filter(gives_check).map(Move::to_bits).collect();
        has_numbers(found, row, &checks)
    });
    check(&records, "legal_move_index", |found, row, (position, mv)| {
        let place = mv.and_then(|mv| plain_moves(position).iter().position(|&legal| legal == mv));
        found.number(row) == place.map(|place| place as i64)
    });
}

/// The text of a move as the side that plays it sees it, with castling as king takes rook.
fn text_from_side(position: &Position, mv: Move) -> String {
    let turn = if position.side_to_move == Color::Black { 56 } else { 0 };
    let [from, to] = [mv.from, mv.to].map(|square| Square::new(square.index() as u8 ^ turn));
    match mv.kind {
        MoveKind::Promotion(role) => format!("{from}{to}{}", role.letter()),
        _ => format!("{from}{to}"),
    }
}

/// The texts of Leela's moves in their order.
fn texts_of_leela() -> HashMap<String, u16> {
    let mut texts: Vec<String> = Vec::new();
    let reach = |role: Role, from: Square| -> Vec<Square> {
        let mut position = Position::empty();
        position.put(from, Piece { color: Color::White, role });
        position.attacked_by(Color::White).iter().collect()
    };
    for from in Square::all() {
        let mut targets = [reach(Role::Queen, from), reach(Role::Knight, from)].concat();
        targets.sort();
        texts.extend(targets.iter().map(|to| format!("{from}{to}")));
    }
    for from in 'a'..='h' {
        let targets = ('a'..='h').filter(|to| (*to as u8).abs_diff(from as u8) < 2);
        texts.extend(targets.flat_map(|to| ['q', 'r', 'b'].map(|piece| format!("{from}7{to}8{piece}"))));
    }
    assert_eq!(texts.len(), 1858);
    texts.into_iter().zip(0..).collect()
}

#[test]
fn policy_of_leela() {
    let known = texts_of_leela();
    let index = |position: &Position, mv: Move| {
        let text = text_from_side(position, mv);
        known[text.strip_suffix('n').filter(|_| text.len() == 5).unwrap_or(&text)]
    };
    check_policy("lc0", index);
}

/// The plane by the description in words: how far and where a queen goes, or else a knight, or what a pawn becomes.
fn plane_of_alphazero(position: &Position, mv: Move) -> u16 {
    let text = mv.uci(position).to_string();
    let place = |text: &str| {
        let [file, rank] = [text.as_bytes()[0] - b'a', text.as_bytes()[1] - b'1'].map(i32::from);
        (file, if position.side_to_move == Color::Black { 7 - rank } else { rank })
    };
    let ((from_file, from_rank), (to_file, to_rank)) = (place(&text[..2]), place(&text[2..4]));
    let (east, north) = (to_file - from_file, to_rank - from_rank);
    let plane = match text.as_bytes().get(4) {
        Some(piece @ (b'n' | b'b' | b'r')) => {
            let pieces = "nbr".bytes().position(|letter| letter == *piece).expect("one of them");
            64 + 3 * (east + 1) + pieces as i32
        }
        _ if east * north != 0 && east.abs() != north.abs() => match (north, east) {
            (2, 1) => 56,
            (1, 2) => 57,
            (-1, 2) => 58,
            (-2, 1) => 59,
            (-2, -1) => 60,
            (-1, -2) => 61,
            (1, -2) => 62,
            (2, -1) => 63,
            other => panic!("{other:?}"),
        },
        _ => {
            let compass = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
            let north_or_south = if north > 0 { "N" } else { "S" };
            let east_or_west = if east > 0 { "E" } else { "W" };
            let towards =
                [if north != 0 { north_or_south } else { "" }, if east != 0 { east_or_west } else { "" }].concat();
            let direction = compass.iter().position(|name| *name == towards).expect("a direction");
            7 * direction as i32 + north.abs().max(east.abs()) - 1
        }
    };
    (73 * (8 * from_rank + from_file) + plane) as u16
}

#[test]
fn policy_of_alphazero() {
    check_policy("az73", plane_of_alphazero);
}

fn check_policy(layout: &str, index: impl Fn(&Position, Move) -> u16) {
    let records = records();
    check(&records, &format!("policy_mask:{layout}"), |found, row, (position, _)| {
        let mut indices: Vec<u16> = plain_moves(position).iter().map(|&mv| index(position, mv)).collect();
        indices.sort_unstable();
        let all = indices.len();
        indices.dedup();
        assert_eq!(indices.len(), all, "two moves have the same index");
        has_numbers(found, row, &indices)
    });
    check(&records, &format!("policy_index:{layout}"), |found, row, (position, mv)| {
        let legal = mv.filter(|mv| plain_moves(position).contains(mv));
        found.number(row) == legal.map(|mv| index(position, mv).into())
    });
}

/// Boards that decode but are not positions of chess have some list, and nothing panics.
#[test]
fn weird_boards_have_lists() {
    let positions = weird_positions(&mut Random::new(5), 2_000);
    let records = positions.into_iter().map(|position| (position, None)).collect();
    for column in lanefish::table::LEGAL_MOVE_COLUMNS {
        check(&records, column.name, |_, _, _| true);
    }
}
