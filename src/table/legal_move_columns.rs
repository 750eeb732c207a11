//! Columns of legal moves: lists of them, the place of the record's move among them, and the indices of both in the
//! layouts of policy heads.
//!
//! The moves of a tile are listed once, by the [analyzer](crate::tiers::Analyzer::list_moves), however many of these
//! columns there are.
//!
//! # Layouts of policies
//!
//! A network with a policy head has an output for each move. In both layouts, Black's squares have their ranks turned
//! over. `lc0` is that of Leela Chess Zero without transforms (`MoveToNNIndex` in `src/neural/encoder.cc`): the pairs
//! of a square and a square a queen's or a knight's move away, in the order of their numbers, then the promotions of
//! each file to a queen, a rook or a bishop; a promotion to a knight has the index of its squares, and castling is king
//! takes rook. `az73` has 73 planes for each square, after the description in Silver et al., "Mastering Chess and Shogi by Self-Play
//! with a General Reinforcement Learning Algorithm" (2017): queen's moves by direction and distance, knight's moves,
//! and promotions to less than a queen; the order of the planes is that of `gym_chess` (without its turning the board).

use super::array::Array;
use super::catalogue::{column, made_of};
use super::column::{Column, Kind};
use super::field::Field;
use super::fill::per_lane;
use super::list_array::{Items, Lists};
use super::text_buffer::TextBuffer;
use super::tile::Tile;
use super::values::Values;
use crate::chess::{CastlingSide, Color, Move, MoveKind, Role, Square};
use crate::queries::Queries;
use std::sync::LazyLock;

const NOTHING: Queries = Queries::NONE;

/// The columns of legal moves. They are not part of `--columns all`.
pub static LEGAL_MOVE_COLUMNS: &[Column] = &[
    column(
        "legal_moves_uci",
        Kind::ListOfText,
        NOTHING,
        legal_moves_uci,
        "the legal moves in UCI form, in the order of from, to (of castling the rook's square) and promotion",
    ),
    column(
        "legal_moves_u16",
        Kind::ListOfU16,
        NOTHING,
        legal_moves_u16,
        "the same moves in 16 bits: from, to (of castling the rook's square), promotion and kind, as in boards files",
    ),
    made_of(
        &[Field::Move],
        "legal_move_index",
        Kind::U16,
        NOTHING,
        legal_move_index,
        "place of the record's move among the legal moves, from 0 on",
    ),
    column(
        "checking_moves_u16",
        Kind::ListOfU16,
        NOTHING,
        checking_moves_u16,
        "those of the moves that give check, in 16 bits",
    ),
    column(
        "policy_mask:lc0",
        Kind::ListOfU16,
        NOTHING,
        |tile| policy_mask(tile, lc0_index),
        "the legal moves as indices of Leela's policy of 1858, ascending; castling is king takes rook",
    ),
    made_of(
        &[Field::Move],
        "policy_index:lc0",
        Kind::U16,
        NOTHING,
        |tile| policy_index(tile, lc0_index),
        "index of the record's move in that policy",
    ),
    column(
        "policy_mask:az73",
        Kind::ListOfU16,
        NOTHING,
        |tile| policy_mask(tile, az73_index),
        "the legal moves as indices of AlphaZero's policy of 64 squares by 73 planes (73 * from + plane), ascending",
    ),
    made_of(
        &[Field::Move],
        "policy_index:az73",
        Kind::U16,
        NOTHING,
        |tile| policy_index(tile, az73_index),
        "index of the record's move in that policy",
    ),
];

fn legal_moves_u16(tile: &Tile<'_>) -> Array {
    let lists = tile.legal_moves();
    of_rows(tile, Items::U16(lists.moves().to_vec()), lists.ends().to_vec())
}

/// Lists of the rows of a tile, given those of its groups: the last one may have fewer records than lanes.
fn of_rows(tile: &Tile<'_>, items: Items, mut ends: Vec<u32>) -> Array {
    ends.truncate(tile.len);
    Array::Lists(Lists::from_parts(items, ends))
}

/// Whether castling of each record is written as king takes rook: where its rights are not those of standard chess, and
/// where its move says that the game is one of Chess960.
fn castles_as_chess960(tile: &Tile<'_>) -> Vec<bool> {
    let standard = per_lane(tile, |lane| lane.castles_as_standard());
    let moves = tile.batch.values(Field::Move);
    let of_row = |(row, &standard): (usize, &bool)| {
        let bits = moves.and_then(|moves| moves.number(tile.start + row)).map_or(0, |bits| bits as u16);
        let castles = Move::from_bits(bits).is_some_and(|mv| mv.kind == MoveKind::Castle);
        !standard || castles && bits & Move::CHESS960 != 0
    };
    standard.values().iter().enumerate().map(of_row).collect()
}

fn legal_moves_uci(tile: &Tile<'_>) -> Array {
    /// The squares of moves, by their twelve bits.
    static SQUARES: LazyLock<Vec<[u8; 4]>> = LazyLock::new(|| {
        let text = |bits: u16| {
            let [from, to] = [bits & 63, bits >> 6].map(|square| Square::new(square as u8));
            let letters = |square: Square| [square.file().letter() as u8, square.rank().digit() as u8];
            let ([a, b], [c, d]) = (letters(from), letters(to));
            [a, b, c, d]
        };
        (0..4096).map(text).collect()
    });
    let lists = tile.legal_moves();
    let chess960 = castles_as_chess960(tile);
    let (mut bytes, mut ends) = (Vec::with_capacity(4 * lists.moves().len()), Vec::with_capacity(lists.moves().len()));
    for (row, &chess960) in chess960.iter().enumerate() {
        for &bits in lists.get(row) {
            let squares = match bits >> 14 {
                3 if !chess960 => bits & 63 | (king_destination(bits) as u16) << 6,
                _ => bits & 0xFFF,
            };
            bytes.extend_from_slice(&SQUARES[usize::from(squares)]);
            if bits >> 14 == 1 {
                bytes.push(b"nbrq"[usize::from(bits >> 12 & 3)]);
            }
            ends.push(u32::try_from(bytes.len()).expect("less than 4 GiB of text"));
        }
    }
    of_rows(tile, Items::Text(TextBuffer::from_parts(bytes, ends.into())), lists.ends().to_vec())
}

/// The square of the king after castling.
fn king_destination(bits: u16) -> u8 {
    let [king, rook] = [bits & 63, bits >> 6 & 63].map(|square| Square::new(square as u8));
    Square::at(CastlingSide::of(king, rook).king_destination(), king.rank()).index() as u8
}

/// The bits of the record's move as lists have them; `None` where there is none.
fn played(tile: &Tile<'_>, row: usize) -> Option<u16> {
    let bits = tile.batch.values(Field::Move)?.number(tile.start + row)? as u16;
    Move::from_bits(bits).filter(|_| bits != 0).map(Move::to_bits)
}

fn legal_move_index(tile: &Tile<'_>) -> Array {
    let lists = tile.legal_moves();
    let mut places = Values::default();
    for row in 0..tile.len {
        let place = played(tile, row).and_then(|mv| lists.get(row).iter().position(|&legal| legal == mv));
        places.push(place.map(|place| place as u16));
    }
    Array::U16(places)
}

fn checking_moves_u16(tile: &Tile<'_>) -> Array {
    let lists = tile.legal_moves();
    let (mut checking, mut ends) = (Vec::new(), Vec::with_capacity(tile.len));
    for row in 0..tile.len {
        let board = tile.board(row);
        let gives_check = |&&bits: &&u16| {
            let mv = Move::from_bits(bits);
            mv.is_some_and(|mv| super::move_features::checks(&board, mv))
        };
        checking.extend(lists.get(row).iter().filter(gives_check));
        ends.push(u32::try_from(checking.len()).expect("less than 2^32 moves"));
    }
    of_rows(tile, Items::U16(checking), ends)
}

/// The index of a move in a layout: of its bits, the side that plays it, and whether castling is king takes rook.
type Layout = fn(bits: u16, side: Color, chess960: bool) -> u16;

fn policy_mask(tile: &Tile<'_>, index: Layout) -> Array {
    let lists = tile.legal_moves();
    let chess960 = castles_as_chess960(tile);
    let mut indices = Vec::with_capacity(lists.moves().len());
    for (row, &chess960) in chess960.iter().enumerate() {
        let side = tile.board(row).side_to_move();
        let start = indices.len();
        indices.extend(lists.get(row).iter().map(|&bits| index(bits, side, chess960)));
        indices[start..].sort_unstable();
    }
    of_rows(tile, Items::U16(indices), lists.ends().to_vec())
}

fn policy_index(tile: &Tile<'_>, index: Layout) -> Array {
    let lists = tile.legal_moves();
    let chess960 = castles_as_chess960(tile);
    let mut indices = Values::default();
    for (row, &chess960) in chess960.iter().enumerate() {
        let legal = played(tile, row).filter(|mv| lists.get(row).contains(mv));
        indices.push(legal.map(|bits| index(bits, tile.board(row).side_to_move(), chess960)));
    }
    Array::U16(indices)
}

/// The squares of a move as the side that plays it sees them, from its own first rank on.
fn squares_from_side(bits: u16, side: Color) -> [u16; 2] {
    let turn = if side == Color::Black { 56 } else { 0 };
    [(bits & 63) ^ turn, (bits >> 6 & 63) ^ turn]
}

/// Number of pairs of squares in Leela's layout.
const LC0_PAIRS: u16 = 1792;

/// The index in Leela's layout.
fn lc0_index(bits: u16, side: Color, _: bool) -> u16 {
    /// The index of each pair of squares, and of the promotions of each file to the one left of it, straight on, and
    /// right of it.
    static PAIRS: LazyLock<Vec<u16>> = LazyLock::new(|| {
        let mut next = 0;
        let indices = (0..4096_u16).map(|pair| {
            let ([from, to], index) = ([pair >> 6, pair & 63], next);
            let [files, ranks] = [(from & 7).abs_diff(to & 7), (from >> 3).abs_diff(to >> 3)];
            let is_queens = from != to && (files == 0 || ranks == 0 || files == ranks);
            let is_knights = files * ranks == 2;
            next += u16::from(is_queens || is_knights);
            index
        });
        let indices = indices.collect();
        debug_assert_eq!(next, LC0_PAIRS);
        indices
    });
    let [from, to] = squares_from_side(bits, side);
    match promotion(bits) {
        // Of the promotions before it, three for each target; the a-file has no target on its left.
        Some(role @ (Role::Queen | Role::Rook | Role::Bishop)) => {
            let (file, target) = (from & 7, to & 7);
            let before = (3 * file).saturating_sub(1) + (target + 1 - file) - u16::from(file == 0);
            let piece = Role::Queen as u16 - role as u16;
            LC0_PAIRS + 3 * before + piece
        }
        _ => PAIRS[usize::from(from << 6 | to)],
    }
}

/// The role to which a move promotes.
fn promotion(bits: u16) -> Option<Role> {
    (bits >> 14 == 1).then(|| Role::PROMOTIONS[usize::from(bits >> 12 & 3)])
}

/// The index in AlphaZero's layout.
fn az73_index(bits: u16, side: Color, chess960: bool) -> u16 {
    /// Directions as files and ranks: N NE E SE S SW W NW.
    const DIRECTIONS: [(i8, i8); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
    /// Jumps as ranks and files.
    const JUMPS: [(i8, i8); 8] = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)];
    const KNIGHT_PLANES: u16 = 56;
    const PROMOTION_PLANES: u16 = 64;
    let bits = match bits >> 14 {
        3 if !chess960 => bits & 63 | u16::from(king_destination(bits)) << 6,
        _ => bits,
    };
    let [from, to] = squares_from_side(bits, side);
    let files = (to & 7) as i8 - (from & 7) as i8;
    let ranks = (to >> 3) as i8 - (from >> 3) as i8;
    let place = |all: [(i8, i8); 8], wanted: (i8, i8)| all.iter().position(|&each| each == wanted).map(|at| at as u16);
    let plane = match promotion(bits) {
        Some(role @ (Role::Knight | Role::Bishop | Role::Rook)) => {
            PROMOTION_PLANES + 3 * (files + 1) as u16 + (role as u16 - Role::Knight as u16)
        }
        _ => match place(JUMPS, (ranks, files)) {
            Some(jump) => KNIGHT_PLANES + jump,
            None => {
                let distance = files.unsigned_abs().max(ranks.unsigned_abs());
                // Every other move goes along a line.
                let direction = place(DIRECTIONS, (files.signum(), ranks.signum())).unwrap_or_default();
                7 * direction + u16::from(distance.max(1)) - 1
            }
        },
    };
    73 * from + plane
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(from: &str, to: &str, kind: MoveKind) -> u16 {
        Move { from: from.parse().unwrap(), to: to.parse().unwrap(), kind }.to_bits()
    }

    /// The list of moves by which Leela's networks are described, built as its documentation says: sorted pairs, then
    /// promotions.
    #[test]
    fn leela_has_an_index_for_every_move() {
        let mut expected = Vec::new();
        for from in Square::all() {
            for to in Square::all() {
                let of = |square: Square| (square.index() as i32 % 8, square.index() as i32 / 8);
                let ((a, b), (c, d)) = (of(from), of(to));
                let (x, y) = ((a - c).abs(), (b - d).abs());
                if from != to && (x == 0 || y == 0 || x == y || (x, y) == (1, 2) || (x, y) == (2, 1)) {
                    expected.push(Move { from, to, kind: MoveKind::Normal }.to_bits());
                }
            }
        }
        assert_eq!(expected.len(), 1792);
        for from in 0..8_u8 {
            for to in from.saturating_sub(1)..=(from + 1).min(7) {
                for role in [Role::Queen, Role::Rook, Role::Bishop] {
                    let [from, to] = [Square::new(48 + from), Square::new(56 + to)];
                    expected.push(Move { from, to, kind: MoveKind::Promotion(role) }.to_bits());
                }
            }
        }
        assert_eq!(expected.len(), 1858);
        for (index, &mv) in expected.iter().enumerate() {
            assert_eq!(lc0_index(mv, Color::White, false), index as u16);
            assert_eq!(lc0_index(mv ^ (56 | 56 << 6), Color::Black, true), index as u16);
        }
        let knight = bits("a7", "b8", MoveKind::Promotion(Role::Knight));
        assert_eq!(
            lc0_index(knight, Color::White, false),
            lc0_index(bits("a7", "b8", MoveKind::Normal), Color::White, false)
        );
    }

    #[test]
    fn alphazero_has_an_index_for_every_move() {
        let white = |from, to, kind| az73_index(bits(from, to, kind), Color::White, false);
        assert_eq!(white("a1", "a2", MoveKind::Normal), 0);
        assert_eq!(white("e2", "e4", MoveKind::Normal), 73 * 12 + 1);
        assert_eq!(white("h8", "a1", MoveKind::Normal), 73 * 63 + 7 * 5 + 6);
        assert_eq!(white("g1", "f3", MoveKind::Normal), 73 * 6 + 63);
        assert_eq!(white("a7", "b8", MoveKind::Promotion(Role::Queen)), 73 * 48 + 7);
        assert_eq!(white("b7", "a8", MoveKind::Promotion(Role::Rook)), 73 * 49 + 66);
        assert_eq!(white("b7", "c8", MoveKind::Promotion(Role::Knight)), 73 * 49 + 70);
        // Castling is the move of its text.
        assert_eq!(white("e1", "h1", MoveKind::Castle), 73 * 4 + 7 * 2 + 1);
        assert_eq!(az73_index(bits("e1", "a1", MoveKind::Castle), Color::White, true), 73 * 4 + 7 * 6 + 3);
        assert_eq!(az73_index(bits("e8", "a8", MoveKind::Castle), Color::Black, false), 73 * 4 + 7 * 6 + 1);
    }
}
