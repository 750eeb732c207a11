//! Filling columns: a record as a lane with its results, and the columns that need more than a line in the catalogue.

use super::array::{Array, Texts};
use super::date::Date;
use super::field::{Field, is_sentinel};
use super::openings::{self, Opening};
use super::text_buffer::TextBuffer;
use super::text_list::TextList;
use super::tile::Tile;
use super::time_class::Speed;
use super::time_control::Control;
use super::values::{Values, bits_where};
use crate::canonical::{Canonical, keys};
use crate::chess::fen::{CastlingStyle, Coded};
use crate::chess::zobrist::en_passant_key;
use crate::chess::{Color, LegalCounts, Move, MoveKind, Position, Role, Square};
use crate::packed::{Group, Packed, Planes};
use crate::queries::{EN_PASSANTS, GroupResults};
use crate::simd::bmi2::Bmi2;
use crate::simd::inlined;
use crate::text::text_writer::Room;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// A record with its results.
pub(super) struct Lane<'a> {
    pub(super) planes: Planes<u64>,
    pub(super) results: &'a GroupResults,
    pub(super) lane: usize,
}

impl Lane<'_> {
    #[inline(always)]
    pub(super) fn legal(&self) -> LegalCounts {
        self.results.legal(self.lane)
    }
    #[inline(always)]
    pub(super) fn checkers(&self) -> u64 {
        self.results.checkers[self.lane]
    }
    #[inline(always)]
    pub(super) fn white(&self) -> u64 {
        self.planes.occupied() & !self.planes.color
    }
    #[inline(always)]
    pub(super) fn black(&self) -> u64 {
        self.planes.occupied() & self.planes.color
    }
    #[inline(always)]
    pub(super) fn role(&self, role: Role) -> u64 {
        self.planes.role(role)
    }
    #[inline(always)]
    pub(super) fn material(&self, side: u64) -> u16 {
        let number = |role| u16::from(count(self.role(role) & side));
        let minors = number(Role::Knight) + number(Role::Bishop);
        number(Role::Pawn) + 3 * minors + 5 * number(Role::Rook) + 9 * number(Role::Queen)
    }
    /// The pieces of the side to move.
    #[inline(always)]
    pub(super) fn mover(&self) -> u64 {
        if self.is_black_to_move() { self.black() } else { self.white() }
    }
    /// The pieces of the other side.
    #[inline(always)]
    pub(super) fn opponent(&self) -> u64 {
        if self.is_black_to_move() { self.white() } else { self.black() }
    }
    #[inline(always)]
    pub(super) fn is_black_to_move(&self) -> bool {
        self.packed().side_to_move() == Color::Black
    }
    fn packed(&self) -> Packed {
        Packed { color: self.planes.color, types: self.planes.types }
    }
    #[inline(always)]
    pub(super) fn points(&self, side: u64) -> u8 {
        self.material(side).min(255) as u8
    }
    #[inline(always)]
    pub(super) fn king_of_mover(&self) -> u8 {
        let king = self.role(Role::King) & self.mover();
        let seen = if self.is_black_to_move() { king.swap_bytes() } else { king };
        first(seen) as u8
    }
    #[inline(always)]
    pub(super) fn distinct_key(&self) -> u64 {
        let legal = self.results.counts[self.lane] >> EN_PASSANTS != 0;
        let [.., position] = keys(&Canonical::of(&self.packed(), legal));
        position
    }
    #[inline(always)]
    pub(super) fn castles_as_standard(&self) -> bool {
        const CORNERS: u64 = 0x8100_0000_0000_0081;
        const E1: u64 = 1 << 4;
        const E8: u64 = 1 << 60;
        let rights = self.planes.castling();
        let kings = self.role(Role::King);
        let has_king = |rank: u64, king: u64| rights & rank == 0 || kings & king != 0;
        rights & !CORNERS == 0 && has_king(0xFF, self.white() & E1) && has_king(0xFF << 56, self.black() & E8)
    }
    #[inline(always)]
    pub(super) fn phase(&self) -> u8 {
        let minors = count(self.role(Role::Knight) | self.role(Role::Bishop));
        let heavy = count(self.role(Role::Rook)) * 2 + count(self.role(Role::Queen)) * 4;
        (minors + heavy).min(24)
    }
}

/// At most 64 squares.
#[inline(always)]
pub(super) fn count(set: u64) -> u8 {
    set.count_ones() as u8
}

/// A value for each lane, for every record of a tile, including those that do not count.
pub(super) fn per_lane<T: Copy + Default>(tile: &Tile<'_>, value: impl Fn(&Lane<'_>) -> T) -> Values<T> {
    let fill = inlined(
        #[inline(always)]
        || {
            let mut values = Vec::with_capacity(tile.groups.len() * Group::LEN);
            for (group, results) in tile.groups.iter().zip(tile.results) {
                // No `from_fn`, which is not always inlined.
                let mut of_group = [T::default(); Group::LEN];
                for (lane, slot) in of_group.iter_mut().enumerate() {
                    *slot = value(&Lane { planes: group.get(lane).planes(), results, lane });
                }
                values.extend_from_slice(&of_group);
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

/// An unchanged field of the records; missing if a record does not have it.
pub(super) fn raw_field(tile: &Tile<'_>, field: Field) -> Array {
    match tile.batch.values(field) {
        Some(values) => values.rows(tile.start..tile.start + tile.len),
        None => field.column(tile.len),
    }
}

/// A text for each position that counts.
pub(super) fn texts(tile: &Tile<'_>, bytes: usize, push: impl Fn(&mut TextBuffer, usize, &Position)) -> Array {
    let mut strings = TextBuffer::with_capacity(tile.len, bytes);
    for (row, position) in tile.positions().iter().enumerate() {
        push(&mut strings, row, position);
    }
    Array::TextBuffer(strings)
}

/// Codes for a few words.
pub(super) fn words(words: impl IntoIterator<Item = impl AsRef<str>>, codes: Values<u32>) -> Array {
    Array::Text(Texts::from_parts(codes, words.into_iter().collect()))
}

/// The squares, and `-` for none.
pub(super) fn squares(codes: Values<u32>) -> Array {
    static WORDS: LazyLock<TextList> = LazyLock::new(|| {
        let names = Square::all().map(|square| square.to_string());
        names.chain(["-".to_owned()]).collect()
    });
    Array::Text(Texts::from_parts(codes, WORDS.clone()))
}

/// The first square of a set.
#[inline(always)]
pub(super) fn first(set: u64) -> u32 {
    set.trailing_zeros()
}

pub(super) fn side_to_move(tile: &Tile<'_>) -> Array {
    let boards = (tile.start..tile.start + tile.len).map(|row| tile.batch.board(row));
    let codes = boards.map(|board| u32::from(board.side_to_move() == Color::Black));
    words(["w", "b"], codes.collect())
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

/// A text for each position; `write` writes the text and returns its length.
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
    Array::TextBuffer(TextBuffer::from_parts(bytes, ends.into()))
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

pub(super) fn played_move(tile: &Tile<'_>) -> Array {
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
        let bits = played.and_then(|moves| moves.number(tile.start + row)).map_or(0, |bits| bits as u16);
        let mv = Move::from_bits(bits).filter(|_| bits != 0);
        match mv {
            Some(mv) if tile.counts(tile.start + row) => strings.push_with(|out| write(mv, bits, position, out)),
            _ => strings.push(None),
        }
    })
}

pub(super) fn result(tile: &Tile<'_>) -> Array {
    words(["0-1", "1/2-1/2", "1-0"], results(tile, |_, result| result))
}

/// The code of each result.
fn results(tile: &Tile<'_>, code: impl Fn(&Packed, u8) -> u8) -> Values<u32> {
    let Array::U8(results) = raw_field(tile, Field::Result) else { unreachable!("results are small numbers") };
    let words = results.values().chunks(64).zip(results.present());
    let present = words.map(|(results, present)| present & bits_where(results, |result| result < 3)).collect();
    // Without a branch: of results that are not known, the codes become 0.
    let numbered = results.values().iter().enumerate();
    let codes = numbered.map(|(row, &result)| code(&tile.board(row), result.min(2)).into()).collect();
    Values::from_parts(codes, present)
}

pub(super) fn result_of_mover(tile: &Tile<'_>) -> Array {
    words(
        ["loss", "draw", "win"],
        results(tile, |board, result| match board.side_to_move() {
            Color::White => result,
            Color::Black => 2 - result,
        }),
    )
}

/// Scores as they are stored.
fn raw_scores(tile: &Tile<'_>) -> Values<i16> {
    let Array::I16(raw) = raw_field(tile, Field::Score) else { unreachable!("scores are signed numbers") };
    raw
}

/// Whether there is a sentinel among scores: without a branch, because hardly any file has one.
fn any_sentinel(scores: &[i16]) -> bool {
    scores.iter().fold(false, |any, &score| any | is_sentinel(score))
}

/// Scores without sentinels.
fn scores(tile: &Tile<'_>) -> Values<i16> {
    let raw = raw_scores(tile);
    if !any_sentinel(raw.values()) {
        return raw;
    }
    let words = raw.values().chunks(64).zip(raw.present());
    let present = words.map(|(scores, present)| present & !bits_where(scores, is_sentinel)).collect();
    Values::from_parts(raw.into_values(), present)
}

/// The sentinels among the scores of a tile; missing where the score is not a sentinel.
#[cfg(feature = "parquet")]
pub(crate) fn score_sentinels(tile: &Tile<'_>) -> Array {
    let raw = raw_scores(tile);
    if !any_sentinel(raw.values()) {
        return Field::Score.column(tile.len);
    }
    let words = raw.values().chunks(64).zip(raw.present());
    let present = words.map(|(scores, present)| present & bits_where(scores, is_sentinel)).collect();
    Array::I16(Values::from_parts(raw.into_values(), present))
}

pub(super) fn score(tile: &Tile<'_>) -> Array {
    Array::I16(scores(tile))
}

pub(super) fn score_of_mover(tile: &Tile<'_>) -> Array {
    let scores = scores(tile);
    let present = scores.present().to_vec();
    let mut values = scores.into_values();
    for (row, score) in values.iter_mut().enumerate() {
        if tile.board(row).side_to_move() == Color::Black {
            *score = score.saturating_neg();
        }
    }
    Array::I16(Values::from_clean_parts(values, present))
}

/// Whether a score of 0 is a placeholder: the game was won, and the earlier scores show that it was already decided.
pub(super) fn score_placeholder(tile: &Tile<'_>) -> Array {
    /// Maximum distance from 0 of a score after which a score of 0 is plausible.
    const NEAR: u16 = 100;
    let scores = raw_scores(tile);
    let [results, last_scores] = [Field::Result, Field::LastScore].map(|field| raw_field(tile, field));
    let is_placeholder = |row: usize, score: i16| {
        let is_decided = matches!(results.number(row), Some(0 | 2));
        score == 0 && is_decided && last_scores.number(row).is_some_and(|last| last.unsigned_abs() > NEAR.into())
    };
    let mut flags = Values::default();
    for row in 0..tile.len {
        flags.push(scores.get(row).map(|&score| is_placeholder(row, score)));
    }
    Array::Flag(flags)
}

/// Numbers of pieces: a byte for each kind, from pawns to kings; of White and of Black.
type PieceCounts = [u64; 2];

/// The number of each kind of pieces on each board.
fn piece_counts(tile: &Tile<'_>) -> Values<PieceCounts> {
    per_lane(tile, |lane| {
        let (white, black) = (lane.white(), lane.black());
        let roles = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];
        let [mut low, mut high] = [0_u64; 2];
        for (place, role) in roles.into_iter().enumerate() {
            let pieces = lane.role(role);
            low |= u64::from(count(pieces & white)) << (8 * place);
            high |= u64::from(count(pieces & black)) << (8 * place);
        }
        [low, high]
    })
}

/// Appends the pieces as letters.
fn push_signature([white, black]: PieceCounts, text: &mut String) {
    for (counts, between) in [(white, "v"), (black, "")] {
        for (place, letter) in "PNBRQK".char_indices().rev() {
            (0..counts >> (8 * place) & 0xFF).for_each(|_| text.push(letter));
        }
        text.push_str(between);
    }
}

/// A bit for each board whose pieces, as letters, are one of these texts.
pub(crate) fn material_among(tile: &Tile<'_>, texts: &[Arc<str>]) -> Vec<u64> {
    let counts_of = |text: &str| -> Option<PieceCounts> {
        let (white, black) = text.split_once('v')?;
        let counts = [white, black].map(|letters| {
            "PNBRQK".char_indices().fold(0, |counts, (place, letter)| {
                counts | (letters.matches(letter).count() as u64 & 0xFF) << (8 * place)
            })
        });
        let mut own = String::new();
        push_signature(counts, &mut own);
        (own == text).then_some(counts)
    };
    let wanted: Vec<PieceCounts> = texts.iter().filter_map(|text| counts_of(text)).collect();
    let counts = piece_counts(tile);
    counts.values().chunks(64).map(|some| bits_where(some, |counts| wanted.contains(&counts))).collect()
}

/// The letters of the pieces, for conditions, in a dictionary: rows that follow one another mostly have the same pieces.
pub(crate) fn material_signatures(tile: &Tile<'_>) -> Array {
    let counts = piece_counts(tile);
    let mut codes = Vec::with_capacity(tile.len);
    let (mut text, mut ends) = (String::new(), Vec::new());
    // The last code of some counts; others may have taken its place.
    const PLACES: usize = 64;
    let mut known = [([0; 2], u32::MAX); PLACES];
    for &counts in counts.values() {
        let [white, black] = counts;
        let hash = (white ^ black.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (of, code) = &mut known[(hash >> 58) as usize];
        if *of != counts || *code == u32::MAX {
            push_signature(counts, &mut text);
            (*of, *code) = (counts, ends.len() as u32);
            ends.push(text.len());
        }
        codes.push(*code);
    }
    Array::Text(Texts::from_parts(codes.into(), TextList::from_parts(text, ends)))
}

/// The letters of the pieces.
pub(super) fn material(tile: &Tile<'_>) -> Array {
    // All squares, and `v` twice, of which the last is cut off.
    const MOST: usize = 66;
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(tile.len));
    let mut room = Room::behind(&mut bytes);
    for row in 0..tile.len {
        let planes = tile.board(row).planes();
        let occupied = planes.occupied();
        room.write(MOST, |text| {
            let mut len = 0;
            for side in [occupied & !planes.color, occupied & planes.color] {
                for (role, letter) in Role::ALL.into_iter().zip(b"PNBRQK").rev() {
                    let pieces = usize::from(count(planes.role(role) & side));
                    text[len..len + pieces].fill(*letter);
                    len += pieces;
                }
                text[len] = b'v';
                len += 1;
            }
            len - 1
        });
        ends.push(room.end() as u32);
    }
    drop(room);
    Array::TextBuffer(TextBuffer::from_parts(bytes, ends.into()))
}

pub(super) fn speed(tile: &Tile<'_>) -> Array {
    let Array::Text(controls) = raw_field(tile, Field::TimeControl) else { unreachable!("texts") };
    let speeds: Vec<Option<Speed>> = controls.words().iter().map(|word| Speed::of_tag(word.as_bytes())).collect();
    let mut codes = Values::default();
    for row in 0..tile.len {
        let speed = controls.codes().get(row).and_then(|&code| speeds[code as usize]);
        codes.push(speed.map(|speed| speed as u32));
    }
    words(Speed::ALL.map(Speed::name), codes)
}

/// A number of the time control of each record.
pub(super) fn numbers_of_controls<T: Copy + Default>(
    tile: &Tile<'_>,
    number: impl Fn(&Control) -> Option<T>,
) -> Values<T> {
    let Array::Text(controls) = raw_field(tile, Field::TimeControl) else { unreachable!("texts") };
    let of_word = |word: &str| Control::parse(word.as_bytes()).and_then(|control| number(&control));
    let numbers: Vec<Option<T>> = controls.words().iter().map(of_word).collect();
    let mut values = Values::default();
    for row in 0..tile.len {
        values.push(controls.codes().get(row).and_then(|&code| numbers[code as usize]));
    }
    values
}

/// The openings up to the first colon: the family, without its variations.
pub(super) fn opening_family(tile: &Tile<'_>) -> Array {
    derived_texts(tile, Field::Opening, |name| {
        Some(name.split_once(':').map_or(name, |(family, _)| family).trim_end().to_owned())
    })
}

/// The months of the dates, or the years where only these are known.
pub(super) fn month(tile: &Tile<'_>) -> Array {
    derived_texts(tile, Field::Date, |date| Date::parse(date.as_bytes()).map(Date::month_text))
}

/// The texts that a function makes of those of a field, each of which it sees once.
fn derived_texts(tile: &Tile<'_>, field: Field, derive: impl Fn(&str) -> Option<String>) -> Array {
    let Array::Text(sources) = raw_field(tile, field) else { unreachable!("texts") };
    let mut derived = TextList::default();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let derived_of_word: Vec<Option<u32>> = sources
        .words()
        .iter()
        .map(|word| {
            let text = derive(word)?;
            let number = numbers.entry(text).or_insert_with_key(|text| {
                derived.push(text);
                (derived.len() - 1) as u32
            });
            Some(*number)
        })
        .collect();
    let mut codes = Values::default();
    for row in 0..tile.len {
        codes.push(sources.codes().get(row).and_then(|&code| derived_of_word[code as usize]));
    }
    Array::Text(Texts::from_parts(codes, derived))
}

pub(super) fn plies_left(tile: &Tile<'_>) -> Array {
    let [all, played] = [Field::GamePlies, Field::Ply].map(|field| raw_field(tile, field));
    let mut left = Values::default();
    for row in 0..tile.len {
        let plies = all.number(row).zip(played.number(row));
        left.push(plies.and_then(|(all, played)| (all - played).try_into().ok()));
    }
    Array::U16(left)
}

/// A text of the opening of each record.
pub(super) fn opening(tile: &Tile<'_>, text: impl Fn(&Opening) -> &Arc<str>) -> Array {
    let Array::U16(numbers) = raw_field(tile, Field::PositionOpening) else { unreachable!("small numbers") };
    let mut texts = Texts::default();
    let mut row = 0;
    while row < tile.len {
        let number = numbers.get(row).copied();
        let same = (row..tile.len).take_while(|&row| numbers.get(row).copied() == number).count();
        let opening = number.and_then(openings::get);
        texts.push_many(opening.map(|opening| &**text(opening)), same);
        row += same;
    }
    Array::Text(texts)
}

pub(super) fn mean_elo(tile: &Tile<'_>) -> Array {
    let [Array::U16(white), Array::U16(black)] = [Field::WhiteElo, Field::BlackElo].map(|field| raw_field(tile, field))
    else {
        unreachable!("ratings are numbers")
    };
    let both = white.present().iter().zip(black.present()).map(|(white, black)| white & black);
    let means = white.values().iter().zip(black.values()).map(|(&white, &black)| white.midpoint(black));
    Array::U16(Values::from_parts(means.collect(), both.collect()))
}

/// White's rating minus Black's.
pub(super) fn elo_difference(tile: &Tile<'_>) -> Array {
    let [white, black] = [Field::WhiteElo, Field::BlackElo].map(|field| raw_field(tile, field));
    let mut differences = Values::default();
    for row in 0..tile.len {
        let both = white.number(row).zip(black.number(row));
        differences.push(both.and_then(|(white, black)| i16::try_from(white - black).ok()));
    }
    Array::I16(differences)
}

/// The letters of the pieces, of the stronger side first.
pub(super) fn material_key(tile: &Tile<'_>) -> Array {
    let counts = piece_counts(tile);
    let mut text = String::new();
    let mut ends = Vec::with_capacity(tile.len);
    for &[white, black] in counts.values() {
        let points = |counts: u64| {
            let [pawns, knights, bishops, rooks, queens, ..] = counts.to_le_bytes().map(u32::from);
            pawns + 3 * (knights + bishops) + 5 * rooks + 9 * queens
        };
        // The highest byte counts the kings, the next one the queens: the stronger piece decides.
        let strength = |counts| (points(counts), counts);
        let is_black_first = strength(black) > strength(white);
        push_signature(if is_black_first { [black, white] } else { [white, black] }, &mut text);
        ends.push(text.len() as u32);
    }
    Array::TextBuffer(TextBuffer::from_parts(text.into_bytes(), ends.into()))
}
