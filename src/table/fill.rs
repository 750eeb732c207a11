//! How columns are filled: a record as a lane with its results, and the columns that take more than a line of
//! the catalogue.

use super::array::{Array, Texts, Values};
use super::field::Field;
use super::strings::Strings;
use super::tile::Tile;
use crate::chess::fen::{CastlingStyle, Coded};
use crate::chess::zobrist::en_passant_key;
use crate::chess::{Color, LegalCounts, Move, MoveKind, Position, Role, Square};
use crate::packed::{Group, Planes};
use crate::queries::GroupResults;
use crate::simd::bmi2::Bmi2;
use crate::simd::inlined;
use crate::text::room::Room;
use std::sync::{Arc, LazyLock};

/// A record with its results.
pub(super) struct Lane<'a> {
    pub(super) planes: Planes<u64>,
    pub(super) results: &'a GroupResults,
    pub(super) lane: usize,
}

impl Lane<'_> {
    pub(super) fn legal(&self) -> LegalCounts {
        self.results.legal(self.lane)
    }
    pub(super) fn checkers(&self) -> u64 {
        self.results.checkers[self.lane]
    }
    pub(super) fn white(&self) -> u64 {
        self.planes.occupied() & !self.planes.color
    }
    pub(super) fn black(&self) -> u64 {
        self.planes.occupied() & self.planes.color
    }
    pub(super) fn role(&self, role: Role) -> u64 {
        self.planes.role(role)
    }
    pub(super) fn material(&self, side: u64) -> u16 {
        let worth = |(role, worth)| u16::from(count(self.role(role) & side)) * worth;
        [(Role::Pawn, 1), (Role::Knight, 3), (Role::Bishop, 3), (Role::Rook, 5), (Role::Queen, 9)]
            .map(worth)
            .into_iter()
            .sum()
    }
    pub(super) fn phase(&self) -> u8 {
        let minors = count(self.role(Role::Knight) | self.role(Role::Bishop));
        let heavy = count(self.role(Role::Rook)) * 2 + count(self.role(Role::Queen)) * 4;
        (minors + heavy).min(24)
    }
}

/// At most 64 squares.
pub(super) fn count(set: u64) -> u8 {
    set.count_ones() as u8
}

/// A value of each lane, for every record of a tile, also those that do not count.
pub(super) fn each<T: Clone + Default>(tile: &Tile<'_>, value: impl Fn(&Lane<'_>) -> T) -> Values<T> {
    let fill = inlined(
        #[inline(always)]
        || {
            let mut values = Vec::with_capacity(tile.groups.len() * Group::LEN);
            for (group, results) in tile.groups.iter().zip(tile.results) {
                let of_group: [T; Group::LEN] =
                    std::array::from_fn(|lane| value(&Lane { planes: group.get(lane).planes(), results, lane }));
                values.extend(of_group);
            }
            values
        },
    );
    // Most columns are population counts, which are one instruction there.
    static BMI2: LazyLock<Option<Bmi2>> = LazyLock::new(Bmi2::detect);
    let mut values = match *BMI2 {
        Some(bmi2) => bmi2.enter(fill),
        None => fill(),
    };
    values.truncate(tile.len);
    values.into()
}

/// A carried field as it is; missing where records do not have it.
pub(super) fn carried_as_it_is(tile: &Tile<'_>, field: Field) -> Array {
    match tile.batch.values(field) {
        Some(values) => values.rows(tile.start..tile.start + tile.len),
        None => field.column(tile.len),
    }
}

/// A text for each position that counts.
pub(super) fn texts(tile: &Tile<'_>, bytes: usize, push: impl Fn(&mut Strings, usize, &Position)) -> Array {
    let mut strings = Strings::with_capacity(tile.len, bytes);
    for (row, position) in tile.positions().iter().enumerate() {
        push(&mut strings, row, position);
    }
    Array::Strings(strings)
}

/// Codes of few words.
pub(super) fn words(words: &[Arc<str>], codes: Values<u32>) -> Array {
    Array::Text(Texts::from_parts(codes, words.to_vec()))
}

/// The squares, and `-` for none.
pub(super) fn squares(codes: Values<u32>) -> Array {
    static WORDS: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| {
        let names = Square::all().map(|square| square.to_string());
        names.chain(["-".to_owned()]).map(Arc::from).collect()
    });
    words(&WORDS, codes)
}

/// The first square of a set.
pub(super) fn first(set: u64) -> u32 {
    set.trailing_zeros()
}

pub(super) fn side_to_move(tile: &Tile<'_>) -> Array {
    static WORDS: LazyLock<[Arc<str>; 2]> = LazyLock::new(|| ["w", "b"].map(Arc::from));
    let boards = (tile.start..tile.start + tile.len).map(|row| tile.batch.board(row));
    let codes = boards.map(|board| u32::from(board.side_to_move() == Color::Black));
    words(&*WORDS, codes.collect())
}

pub(super) fn en_passant(tile: &Tile<'_>) -> Array {
    let boards = (tile.start..tile.start + tile.len).map(|row| tile.batch.board(row));
    squares(boards.map(|board| board.en_passant().map_or(64, |square| square.index() as u32)).collect())
}

pub(super) fn fen(tile: &Tile<'_>) -> Array {
    coded(tile, |position, text| position.write(text, CastlingStyle::Outermost))
}

pub(super) fn castling(tile: &Tile<'_>) -> Array {
    coded(tile, |position, text| position.write_castling_field(text, CastlingStyle::Outermost))
}

/// A text for each position, which `write` writes and of which it returns the length.
fn coded(tile: &Tile<'_>, write: impl Fn(&Coded, &mut [u8]) -> usize) -> Array {
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(tile.len));
    let mut room = Room::behind(&mut bytes);
    for row in 0..tile.len {
        let board = tile.groups[row / Group::LEN].get(row % Group::LEN);
        let row = tile.start + row;
        let position = board.coded(tile.batch.halfmove[row], tile.batch.fullmove[row]);
        room.write(Coded::ROOM, |text| write(&position, text));
        ends.push(room.end() as u32);
    }
    drop(room);
    Array::Strings(Strings::from_parts(bytes, ends.into()))
}

pub(super) fn key(tile: &Tile<'_>) -> Array {
    let positions = tile.positions();
    let mut keys: Vec<u64> = positions.iter().map(Position::polyglot_key).collect();
    if let Some(idle) = tile.batch.values(Field::KeyEnPassant) {
        for (row, key) in keys.iter_mut().enumerate() {
            if let Some(square) = idle.number(tile.start + row) {
                *key ^= en_passant_key(Square::new(square as u8 & 63));
            }
        }
    }
    Array::U64(keys.into_iter().collect())
}

pub(super) fn the_move(tile: &Tile<'_>) -> Array {
    moves(tile, |mv, bits, position, out| {
        let is_chess960 = bits & Move::CHESS960 != 0 && mv.kind == MoveKind::Castle;
        let text = mv.uci_as(is_chess960 || !position.castles_as_standard());
        out.extend_from_slice(text.as_bytes())
    })
}

pub(super) fn san(tile: &Tile<'_>) -> Array {
    moves(tile, |mv, _, position, out| mv.append_san(position, out))
}

fn moves(tile: &Tile<'_>, write: impl Fn(Move, u16, &Position, &mut Vec<u8>)) -> Array {
    let played = tile.batch.values(Field::Move);
    texts(tile, 5, |strings, row, position| {
        let bits = played.and_then(|moves| moves.number(tile.start + row));
        let bits = bits.map_or(0, |bits| bits as u16);
        let mv = Move::from_bits(bits).filter(|_| bits != 0);
        match mv {
            Some(mv) if tile.counts(tile.start + row) => strings.push_with(|out| write(mv, bits, position, out)),
            _ => strings.push(None),
        }
    })
}

pub(super) fn result(tile: &Tile<'_>) -> Array {
    static WORDS: LazyLock<[Arc<str>; 3]> = LazyLock::new(|| ["0-1", "1/2-1/2", "1-0"].map(Arc::from));
    let Array::U8(results) = carried_as_it_is(tile, Field::Result) else { unreachable!("results are small numbers") };
    let mut codes = Values::default();
    for row in 0..tile.len {
        let known = results.get(row).filter(|&&result| result < 3);
        codes.push(known.map(|&result| result.into()));
    }
    words(&*WORDS, codes)
}
