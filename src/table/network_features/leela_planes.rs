//! The planes of Leela's networks: the position and the seven before it in its game, castling rights and counters.
//!
//! After `src/neural/encoder.cc` of lc0, `INPUT_CLASSICAL_112_PLANE`. All positions are seen from the side to move of the first.

use super::View;
use crate::chess::{CastlingSide, Color};
use crate::packed::Packed;
use crate::table::array::Array;
use crate::table::field::Field;
use crate::table::list_array::{Items, Lists};
use crate::table::tile::Tile;

/// Number of planes.
pub(super) const PLANES: u32 = 112;
/// Positions, with 13 planes each.
const POSITIONS: usize = 8;
const PLANES_OF_POSITION: usize = 13;

/// All ones, or nothing.
fn all(is_set: bool) -> u64 {
    u64::from(is_set).wrapping_neg()
}

/// The planes of the records of a tile that count; of the others, none.
pub(super) fn fill(tile: &Tile<'_>) -> Lists {
    let mut ends = Vec::with_capacity(tile.len);
    let mut planes = Vec::with_capacity(PLANES as usize * tile.len);
    let history = match tile.batch.values(Field::History) {
        Some(Array::Lists(lists)) if let Items::U64(words) = lists.items() => Some((lists, words)),
        _ => None,
    };
    for row in 0..tile.len {
        if tile.counts(tile.start + row) {
            let words = history.and_then(|(lists, words)| lists.range(tile.start + row).map(|range| &words[range]));
            let halfmove = tile.batch.halfmove.get(tile.start + row).copied().unwrap_or_default();
            push(&tile.board(row), halfmove, words.unwrap_or_default(), &mut planes);
        }
        ends.push(planes.len() as u32);
    }
    Lists::from_parts(Items::U64(planes), ends)
}

/// Adds the planes of a position, whose value of [`Field::History`] is given.
fn push(board: &Packed, halfmove: u16, history: &[u64], planes: &mut Vec<u64>) {
    let start = planes.len();
    let us = board.side_to_move();
    let (is_repeated, earlier) = history.split_first().map_or((0, history), |(first, rest)| (*first, rest));
    let mut push_position = |board: &Packed, is_repeated: u64| {
        planes.extend_from_slice(View::new(board, us).pieces().as_flattened());
        planes.push(all(is_repeated != 0));
    };
    push_position(board, is_repeated);
    for words in earlier.chunks_exact(5) {
        let &[color, low, middle, high, is_repeated] = words else { continue };
        push_position(&Packed { color, types: [low, middle, high] }, is_repeated);
    }
    planes.resize(start + POSITIONS * PLANES_OF_POSITION, 0);
    // Rights of boards that are not positions are unknown.
    let position = board.unpack(halfmove, 1).ok();
    for color in [us, !us] {
        for side in [CastlingSide::Queen, CastlingSide::King] {
            let rook =
                position.as_ref().and_then(|position| position.castling.rook(color, position.king(color)?, side));
            planes.push(all(rook.is_some()));
        }
    }
    planes.extend([all(us == Color::Black), halfmove.into(), 0, !0]);
}
