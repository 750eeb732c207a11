//! `move_see` against the question that it answers: does the exchange that a move begins win at least this much?
//!
//! The twin answers for one threshold at a time, by playing out whether the sides take or stop, on a board of squares and
//! with rays that are walked.

use crate::support::{FAMOUS, Random, shared_texts};
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::chess::{Color, Move, MoveKind, Piece, Position, Role, Square};
use lanefish::packed::Packed;
use lanefish::queries::GroupResults;
use lanefish::table::{Array, Batch, Column, Field, Tile, Values};
use lanefish::tiers::Tier;
use std::sync::Arc;

const DIRECTIONS: [(i8, i8); 8] = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)];
const HOPS: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

fn worth(role: Role) -> i32 {
    match role {
        Role::Pawn => 208,
        Role::Knight => 781,
        Role::Bishop => 825,
        Role::Rook => 1276,
        Role::Queen => 2538,
        Role::King => 0,
    }
}

/// The pieces that are left, and what was pinned and pinning before the move.
#[derive(Clone)]
struct Exchange {
    to: Square,
    mover: Color,
    left: [Option<Piece>; 64],
    pinned: [Vec<Square>; 2],
    pinners: [Vec<Square>; 2],
}

fn glides(role: Role, direction: (i8, i8)) -> bool {
    match role {
        Role::Queen => true,
        Role::Rook => direction.0 == 0 || direction.1 == 0,
        Role::Bishop => direction.0 != 0 && direction.1 != 0,
        _ => false,
    }
}

/// All squares in a direction, up to the edge.
fn walk(from: Square, (files, ranks): (i8, i8)) -> Vec<Square> {
    std::iter::successors(from.offset(files, ranks), |at| at.offset(files, ranks)).collect()
}

fn pins(board: &[Option<Piece>; 64], side: Color) -> (Vec<Square>, Vec<Square>) {
    let at = |square: Square| board[square.index()];
    let king = Square::all().find(|&square| at(square) == Some(Piece { color: side, role: Role::King }));
    let (mut pinned, mut pinners) = (Vec::new(), Vec::new());
    for (king, direction) in king.into_iter().flat_map(|king| DIRECTIONS.map(|direction| (king, direction))) {
        let mut blocker = None;
        for square in walk(king, direction) {
            match at(square) {
                None => {}
                // Other sliders of the same line are no obstacles.
                Some(piece) if piece.color != side && glides(piece.role, direction) => {
                    if let Some(own) = blocker {
                        pinned.push(own);
                        pinners.push(square);
                    }
                }
                Some(piece) if piece.color == side && blocker.is_none() => blocker = Some(square),
                Some(_) => break,
            }
        }
    }
    (pinned, pinners)
}

impl Exchange {
    fn attackers(&self, side: Color) -> Vec<(Role, Square)> {
        let mut attackers = Vec::new();
        let mut add = |square: Option<Square>, attacks: &dyn Fn(Role) -> bool| {
            if let Some(square) = square
                && let Some(piece) = self.left[square.index()]
                && piece.color == side
                && attacks(piece.role)
            {
                attackers.push((piece.role, square));
            }
        };
        let forward = if side == Color::White { 1 } else { -1 };
        for direction in DIRECTIONS {
            let line = walk(self.to, direction);
            let first = line.iter().copied().find(|square| self.left[square.index()].is_some());
            add(first, &|role| glides(role, direction));
            let is_pawn_step = direction.0 != 0 && direction.1 == -forward;
            add(line.first().copied(), &|role| role == Role::King || role == Role::Pawn && is_pawn_step);
        }
        HOPS.iter().for_each(|&(files, ranks)| add(self.to.offset(files, ranks), &|role| role == Role::Knight));
        attackers.sort_by_key(|&(role, square)| (role, square.index()));
        attackers
    }

    /// Whether the mover keeps its balance above or at zero, `side` being next to take a piece of this value or to stop.
    fn holds(&self, side: Color, balance: i32, standing: i32) -> bool {
        let stops = balance >= 0;
        let still_pins = |&&at: &&Square| self.left[at.index()].is_some();
        let mut able = self.attackers(side);
        if self.pinners[side.index()].iter().any(|at| still_pins(&at)) {
            able.retain(|(_, square)| !self.pinned[side.index()].contains(square));
        }
        let Some(&(role, from)) = able.first() else {
            return stops;
        };
        if role == Role::King && !self.attackers(!side).is_empty() {
            return stops;
        }
        let balance = if side == self.mover { balance + standing } else { balance - standing };
        let takes = match role {
            Role::King => balance >= 0,
            _ => {
                let mut after = self.clone();
                after.left[from.index()] = None;
                after.holds(!side, balance, worth(role))
            }
        };
        if side == self.mover { stops || takes } else { stops && takes }
    }
}

/// Whether the exchange wins at least `threshold`.
fn wins(position: &Position, mv: Move, threshold: i32) -> bool {
    if mv.kind != MoveKind::Normal {
        return threshold <= 0;
    }
    let mut board = [None; 64];
    Square::all().for_each(|square| board[square.index()] = position.piece_at(square));
    let [moved, captured] = [mv.from, mv.to].map(|square| board[square.index()].map_or(0, |piece| worth(piece.role)));
    let [white, black] = Color::ALL.map(|color| pins(&board, color));
    board[mv.from.index()] = None;
    board[mv.to.index()] = None;
    let exchange = Exchange {
        to: mv.to,
        mover: position.side_to_move,
        left: board,
        pinned: [white.0, black.0],
        pinners: [white.1, black.1],
    };
    exchange.holds(!position.side_to_move, captured - threshold, moved)
}

/// Values of moves, for the side that moves.
fn values(records: &[(Position, Move)]) -> Vec<i16> {
    let (mut batch, mut moves) = (Batch::new(), Values::<u16>::default());
    for (position, mv) in records {
        batch.push(Packed::pack(position).expect("a board"), position.halfmove, position.fullmove);
        moves.push(Some(mv.to_bits()));
    }
    batch.fields.insert(Field::Move, Array::U16(moves));
    let batch = Arc::new(batch);
    let results = vec![GroupResults::default(); batch.groups().len()];
    let mask = vec![!0; records.len().div_ceil(64)];
    let analyzer = Tier::best().analyzer().expect("it was chosen");
    let tile = Tile::new(analyzer, &batch, 0, records.len(), &results, &mask);
    match Column::named("move_see").expect("a column").fill(&tile) {
        Array::I16(values) => {
            assert_eq!(values.count_present(), records.len());
            values.into_values()
        }
        other => panic!("{other:?}"),
    }
}

/// Compares values with the twin; returns the different ones.
fn check(records: &[(Position, Move)]) -> Vec<i16> {
    let mut found = values(records);
    for ((position, mv), &value) in records.iter().zip(&found) {
        let value = i32::from(value);
        // It does not matter which threshold is asked for but on which side of the value it is; a few far ones nevertheless.
        for threshold in [value - 573, value - 1, value] {
            assert!(wins(position, *mv, threshold), "{position}: {mv:?} is {value}, not {threshold}");
        }
        for threshold in [value + 1, value + 44, value + 1276] {
            assert!(!wins(position, *mv, threshold), "{position}: {mv:?} is {value}, but {threshold}");
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// All legal moves of a position.
fn all_moves(position: &Position) -> Vec<(Position, Move)> {
    position.legal_moves().iter().map(|&mv| (position.clone(), mv)).collect()
}

fn value_of(fen: &str, uci: &str) -> i16 {
    let position: Position = fen.parse().unwrap();
    let mv = Move::from_uci(uci, &position).unwrap();
    check(&[(position, mv)])[0]
}

#[test]
fn exchanges_that_are_known() {
    // The two examples of the Chess Programming Wiki.
    assert_eq!(value_of("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5"), 208);
    assert_eq!(value_of("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5"), 208 - 781);
    // Quiet moves: to a safe square, and into the attack of a pawn.
    assert_eq!(value_of("4k3/8/3p4/8/8/8/8/R3K3 w - - 0 1", "a1a8"), 0);
    assert_eq!(value_of("4k3/8/3p4/8/8/8/8/R3K3 w - - 0 1", "a1a5"), 0);
    assert_eq!(value_of("4k3/8/1p1p4/8/8/8/8/R3K3 w - - 0 1", "a1a5"), -1276);
    // The king takes what is not protected, and must not take what a rook protects from behind.
    assert_eq!(value_of("8/8/8/3k4/4p3/8/4R3/4K3 w - - 0 1", "e2e4"), 208 - 1276);
    assert_eq!(value_of("8/8/8/3k4/4p3/8/4Q3/4RK2 w - - 0 1", "e2e4"), 208);
    // Castling, promotions and en passant are not counted.
    assert_eq!(value_of("r3k3/1P6/8/8/8/8/8/4K2R w K - 0 1", "e1g1"), 0);
    assert_eq!(value_of("r3k3/1P6/8/8/8/8/8/4K2R w K - 0 1", "b7a8q"), 0);
    assert_eq!(value_of("4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1", "d5c6"), 0);
}

#[test]
fn pinned_pieces_stay_out_while_a_pinner_stands() {
    // The knight on e7 is pinned by the rook on e1, so it does not take back on d5.
    assert_eq!(value_of("4k3/4n3/8/3p4/8/2N5/8/4R1K1 w - - 0 1", "c3d5"), 208);
    assert_eq!(value_of("4k3/4n3/8/3p4/8/2N5/8/5RK1 w - - 0 1", "c3d5"), 208 - 781);
    // The pinner itself takes: then the knight is free to take back.
    assert_eq!(value_of("8/3k4/2n5/4p3/B7/8/8/K3R3 w - - 0 1", "e1e5"), 208);
    assert_eq!(value_of("k7/1n6/8/3p4/4B3/8/8/6K1 w - - 0 1", "e4d5"), 208);
    // One behind the other on the line: after the first has gone, the second still pins.
    assert_eq!(value_of("4k3/4n3/8/3p4/8/2N5/4R3/4R1K1 w - - 0 1", "c3d5"), 208);
    // A piece of the mover between the sliders ends the line; one of its own is pinned before the move.
    assert_eq!(value_of("4k3/4r3/3p4/4p3/8/4N3/8/4K3 b - - 0 1", "e5e4"), 0);
    assert_eq!(value_of("4k3/4r3/8/3p4/8/4N3/8/4K3 b - - 0 1", "d5d4"), 0);
}

#[test]
fn exchanges_of_random_games() {
    let mut kinds = 0;
    for (seed, start) in [(1, Start::Standard), (2, Start::Chess960)] {
        for played in RandomPlay::new(seed, start).take(1500) {
            let records = all_moves(&played.position);
            if !records.is_empty() {
                kinds = kinds.max(check(&records).len());
            }
        }
    }
    assert!(kinds > 5);
}

#[test]
fn exchanges_of_real_positions() {
    let mut positions: Vec<Position> = FAMOUS.iter().map(|fen| fen.parse().expect("a position")).collect();
    for (_, text) in shared_texts("epd") {
        let lines: Vec<&str> = text.lines().collect();
        for line in lines.iter().step_by(lines.len().div_ceil(150)) {
            let fen: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
            positions.extend(format!("{} 0 1", fen.join(" ")).parse::<Position>().ok());
        }
    }
    for position in positions {
        let records = all_moves(&position);
        if !records.is_empty() {
            check(&records);
        }
    }
}

/// Boards without kings, with many of them, full of queens; moves of anything to anywhere.
#[test]
fn exchanges_on_weird_boards() {
    let mut random = Random::new(3);
    let mut records = Vec::new();
    while records.len() < 6000 {
        let mut position = Position::empty();
        let most = [5, 14, 40, 64][random.below(4) as usize];
        for _ in 0..most {
            let roles = [&Role::ALL[..], &[Role::Queen, Role::King], &[Role::Rook, Role::Bishop, Role::King]];
            let roles = roles[random.below(3) as usize];
            let role = roles[random.below(roles.len() as u64) as usize];
            let color = Color::ALL[random.below(2) as usize];
            position.put(Square::new(random.below(64) as u8), Piece { color, role });
        }
        position.side_to_move = Color::ALL[random.below(2) as usize];
        let [from, to] = [(); 2].map(|()| Square::new(random.below(64) as u8));
        if from != to && Packed::pack(&position).is_ok() {
            records.push((position, Move { from, to, kind: MoveKind::Normal }));
        }
    }
    let mut full = Position::empty();
    for square in Square::all() {
        full.put(square, Piece { color: Color::ALL[square.index() / 32], role: Role::Queen });
    }
    let [from, to] = ["d4", "d5"].map(|name| name.parse().unwrap());
    records.push((full, Move { from, to, kind: MoveKind::Normal }));
    assert!(check(&records).len() > 50);
}
