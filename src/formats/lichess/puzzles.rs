//! Lichess puzzles: lines of comma-separated values.
//!
//! `PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags`, and lately an eleventh
//! column. The FEN is the position *before* the opponent's move that sets up the puzzle; a record is the position after
//! it, and its `move` is the first move of the solution.
//!
//! Copies have been through other programs: values may be quoted (RFC 4180), in another order, with an index before
//! them. A file that begins with a line that names `FEN` and `Moves` is read by the names in it, which every
//! [chunk](Chunk::header) knows. In an excerpt without such a line, the FEN and the moves are recognized by their
//! content, and the others by their distance from the FEN. Values end with their line, even if they are quoted.
//!
//! Also kept: rating deviation, popularity, number of plays, the game's address as `site`, the opening's tags as
//! `opening`, and id, rating and themes, both as fields of their own and as the EPD operations `id`, `c0` and `c1`.

use crate::chess::fen::{self, FenOptions};
use crate::chess::{Move, Position, Square, Validity};
use crate::formats::codec::decode_records::{BadRecord, Record};
use crate::formats::codec::layout::Text;
use crate::formats::codec::line_records;
use crate::formats::tables::delimited::{Separated, Splitter};
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, LostByKey, UnstoredTags, text};
use crate::table::{Field, Fields};
use memchr::memchr;
use std::sync::Arc;

/// The codec of Lichess puzzles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Puzzles;

impl Text for Puzzles {
    fn header(&self, head: &[u8], all: bool) -> Option<Arc<[u8]>> {
        let head = line_records::strip_bom(head);
        let end = memchr(b'\n', head).or(all.then_some(head.len()))?;
        let line = head[..end].trim_ascii();
        Places::named(line).map(|_| Arc::from(line))
    }
}

impl Codec for Puzzles {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "puzzles",
            title: "Lichess puzzles (CSV)",
            extensions: &[],
            has_games: false,
            can_be_empty: true,
            selects: false,
            carries: Fields::of(&[
                Field::Move,
                Field::Opening,
                Field::Site,
                Field::Operations,
                Field::PuzzleId,
                Field::PuzzleRating,
                Field::Themes,
                Field::Popularity,
                Field::Plays,
                Field::RatingDeviation,
                Field::KeyEnPassant,
            ]),
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(sniff(head))
    }
    fn layout(&self) -> Layout {
        Layout::Text(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        let places = chunk.header.as_deref().and_then(Places::named);
        let mut splitter = Splitter::default();
        let mut rest = 0;
        let mut each = options.lists_lost_of_records().then(LostByKey::default);
        let mut decoded = line_records::decode(self.about().carries, chunk, options, |line, number| {
            // A line with a position has slashes.
            if memchr(b'/', line).is_none()
                && let Some(named) = Places::named(line)
            {
                let expected = places.as_ref().unwrap_or(&Places::USUAL);
                return (named != *expected).then(|| {
                    let message = "a header line with other columns than those of the file";
                    Err(BadRecord::new("puzzle_header", message))
                });
            }
            let values = splitter.split(line, b',');
            let record = values.and_then(|values| read(values, places.as_ref(), options, &mut rest));
            if let Some(each) = &mut each {
                let rest = std::mem::take(&mut rest);
                each.add(number, rest, || rests_of_solutions(rest));
            }
            Some(record)
        });
        decoded.lost_tags = rests_of_solutions(rest);
        decoded.lost_of_each = each.map(LostByKey::finish);
        decoded
    }
}

/// Whether a text looks like puzzles: it begins with their header line, or with a puzzle.
pub(in crate::formats) fn sniff(head: &[u8]) -> bool {
    let head = line_records::strip_bom(head);
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    if Places::named(first).is_some() {
        return true;
    }
    Splitter::default().split(first, b',').is_ok_and(|values| {
        let mut values = values.iter();
        values.any(is_fen) && values.any(is_moves)
    })
}

/// The places of the values in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    fen: usize,
    moves: usize,
    id: Option<usize>,
    rating: Option<usize>,
    rating_deviation: Option<usize>,
    popularity: Option<usize>,
    plays: Option<usize>,
    themes: Option<usize>,
    site: Option<usize>,
    opening: Option<usize>,
}

impl Places {
    /// The places in the files of Lichess.
    const USUAL: Self = Self {
        id: Some(0),
        fen: 1,
        moves: 2,
        rating: Some(3),
        rating_deviation: Some(4),
        popularity: Some(5),
        plays: Some(6),
        themes: Some(7),
        site: Some(8),
        opening: Some(9),
    };

    /// Finds the places by the names in a header line, if this line is one.
    fn named(line: &[u8]) -> Option<Self> {
        let mut splitter = Splitter::default();
        let names = splitter.split(line, b',').ok()?;
        let find = |name: &str| {
            let mut names = names.iter();
            names.position(|other| other.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
        };
        Some(Self {
            fen: find("FEN")?,
            moves: find("Moves")?,
            id: find("PuzzleId"),
            rating: find("Rating"),
            rating_deviation: find("RatingDeviation"),
            popularity: find("Popularity"),
            plays: find("NbPlays"),
            themes: find("Themes"),
            site: find("GameUrl"),
            opening: find("OpeningTags"),
        })
    }

    /// Finds the places by the content of a line.
    fn recognized(values: Separated<'_>) -> Result<Self, BadRecord> {
        let fen = values.iter().position(is_fen).ok_or_else(without_fen)?;
        let moves = values.iter().position(is_moves);
        Ok(Self {
            fen,
            moves: moves.ok_or_else(without_moves)?,
            id: fen.checked_sub(1),
            rating: Some(fen + 2),
            rating_deviation: Some(fen + 3),
            popularity: Some(fen + 4),
            plays: Some(fen + 5),
            themes: Some(fen + 6),
            site: Some(fen + 7),
            opening: Some(fen + 8),
        })
    }
}

fn without_fen() -> BadRecord {
    BadRecord::new("puzzle_without_fen", "no value in the line is a FEN")
}

fn without_moves() -> BadRecord {
    BadRecord::new("puzzle_without_moves", "no value in the line is a list of moves")
}

fn is_fen(field: &[u8]) -> bool {
    let board = field.split(|&byte| byte == b' ').next();
    board.is_some_and(|board| board.iter().filter(|&&byte| byte == b'/').count() == 7)
}

fn is_moves(field: &[u8]) -> bool {
    !field.is_empty()
        && field.split(|&byte| byte == b' ').all(|mv| {
            matches!(
                mv,
                [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8']
                    | [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8', _]
            )
        })
}

/// Plays the move that sets up a puzzle; returns the first move of its solution, and the value of
/// [`Field::KeyEnPassant`].
pub(in crate::formats) fn set_up(
    position: &mut Position,
    moves: &[u8],
) -> Result<(Option<Move>, Option<Square>), BadRecord> {
    let mut moves = moves.split(|&byte| byte == b' ');
    let mut next = |position: &Position| {
        let text = moves.next().and_then(|mv| std::str::from_utf8(mv).ok())?;
        let found = Move::from_uci(text, position);
        Some(found.map_err(|error| BadRecord::new("illegal_move", format!("`{text}` in {position}: {error}"))))
    };
    let mut idle = None;
    if let Some(first) = next(position).transpose()? {
        position.make(first);
        idle = position.idle_en_passant_after(first);
    }
    Ok((next(position).transpose()?, idle))
}

/// Whether a value is a list of moves, which is what makes a line or a row a puzzle.
pub(in crate::formats) fn has_moves(value: &[u8]) -> Result<(), BadRecord> {
    is_moves(value).then_some(()).ok_or_else(without_moves)
}

/// The moves of solutions for which there is no field, as the note of a conversion names them.
pub(in crate::formats) fn rests_of_solutions(moves: u64) -> UnstoredTags {
    let mut lost = UnstoredTags::default();
    lost.add_text("moves of solutions after the first", moves);
    lost
}

/// Number of moves of a solution after its first. The first move of the list sets the puzzle up.
pub(in crate::formats) fn rest_of_solution(moves: &[u8]) -> u64 {
    moves.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).skip(2).count() as u64
}

/// Reads a puzzle; adds the number of moves for which there is no field to `rest`.
fn read(
    values: Separated<'_>,
    places: Option<&Places>,
    options: &DecodeOptions,
    rest: &mut u64,
) -> Result<Record, BadRecord> {
    let places = match places {
        Some(places) => *places,
        None => Places::recognized(values)?,
    };
    let fen = values.get(places.fen).filter(|value| is_fen(value.trim_ascii())).ok_or_else(without_fen)?.trim_ascii();
    let moves = values.get(places.moves).ok_or_else(without_moves)?.trim_ascii();
    has_moves(moves)?;
    let mut position = fen::parse(fen, FenOptions::default())?.position;
    let violations = position.violations(Validity::Playable);
    if let Some(reason) = violations.names().next() {
        return Err(BadRecord::new(reason, violations.to_string()));
    }
    let (mv, pseudo_en_passant) = set_up(&mut position, moves)?;
    let value = |place: Option<usize>| {
        let value = values.get(place?)?;
        (!value.is_empty()).then(|| String::from_utf8_lossy(value).into_owned())
    };
    let wants = |field| options.fields.contains(field);
    let mut texts = Vec::new();
    for (field, place) in [
        (Field::Site, places.site),
        (Field::Opening, places.opening),
        (Field::PuzzleId, places.id),
        (Field::Themes, places.themes),
    ] {
        if wants(field) {
            texts.extend(value(place).map(|text| (field, text)));
        }
    }
    if wants(Field::Operations) {
        let operations: Vec<String> =
            [(Field::PuzzleId, places.id), (Field::PuzzleRating, places.rating), (Field::Themes, places.themes)]
                .into_iter()
                .filter_map(|(field, place)| text::operation_of(field, &value(place)?))
                .collect();
        texts.push((Field::Operations, operations.join(" ")));
    }
    fn number<T: std::str::FromStr>(
        field: Field,
        value: Option<&[u8]>,
        unread: &mut Vec<(Field, String)>,
    ) -> Option<T> {
        let text = value?.trim_ascii();
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        if number.is_none() && !text.is_empty() {
            unread.push((field, String::from_utf8_lossy(text).into_owned()));
        }
        number
    }
    let value = |field, place: Option<usize>| values.get(place?).filter(|_| wants(field));
    let mut unread = Vec::new();
    if options.lost_tags {
        *rest += rest_of_solution(moves);
    }
    Ok(Record {
        mv,
        pseudo_en_passant,
        puzzle_rating: number(Field::PuzzleRating, value(Field::PuzzleRating, places.rating), &mut unread),
        rating_deviation: number(
            Field::RatingDeviation,
            value(Field::RatingDeviation, places.rating_deviation),
            &mut unread,
        ),
        popularity: number(Field::Popularity, value(Field::Popularity, places.popularity), &mut unread),
        plays: number(Field::Plays, value(Field::Plays, places.plays), &mut unread),
        texts,
        unread,
        ..Record::of(position)
    })
}
