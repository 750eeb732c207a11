//! Lichess puzzles: lines of comma-separated values, none of which is ever quoted.
//!
//! `PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags`, and lately an
//! eleventh. The FEN is the position *before* the opponent's move that sets up the puzzle; a record is the
//! position after it, and its `move` is the first of the solution. The columns used are recognized by
//! their content, so that parts of the file, excerpts without the header line and copies with other columns are
//! all read the same.
//!
//! Also kept: the game's address as `site`, the opening's tags as `opening`, and id, rating and themes, both as
//! fields of their own and as the EPD operations `id`, `c0` and `c1`.

use super::lines::{self, BadLine, Record};
use super::{About, Chunk, Codec, DecodeOptions, Decoded, Likeness, text};
use crate::chess::fen::{self, FenOptions};
use crate::chess::validity::Validity;
use crate::chess::{Move, Position};
use crate::table::{Field, Fields};

/// Lichess puzzles.
#[derive(Clone, Copy, Debug)]
pub struct Puzzles;

impl Codec for Puzzles {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "puzzles",
            title: "Lichess puzzles (CSV)",
            extensions: &[],
            is_text: true,
            has_games: false,
            carries: Fields::of(&[
                Field::Move,
                Field::Opening,
                Field::Site,
                Field::Operations,
                Field::PuzzleId,
                Field::PuzzleRating,
                Field::Themes,
            ]),
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(sniff(head))
    }
    fn cut(&self, bytes: &[u8], _: usize) -> Option<usize> {
        lines::cut_lines(bytes)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        lines::decode(self, chunk, options, |line| {
            (!line.starts_with(b"PuzzleId,")).then(|| read(line, options))
        })
    }
}

/// Whether a text looks like puzzles: it begins with their header line, or with a line of them.
fn sniff(head: &[u8]) -> bool {
    let head = lines::without_mark(head);
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut fields = first.split(|&byte| byte == b',');
    first.starts_with(b"PuzzleId,") || (fields.clone().any(is_fen) && fields.any(is_moves))
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

fn read(line: &[u8], options: &DecodeOptions) -> Result<Record, BadLine> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b',').collect();
    let fen = fields
        .iter()
        .position(|field| is_fen(field))
        .ok_or_else(|| BadLine::new("puzzle_without_fen", "no value in the line is a FEN"))?;
    let moves = fields.iter().find(|field| is_moves(field)).ok_or_else(|| {
        BadLine::new(
            "puzzle_without_moves",
            "no value in the line is a list of moves",
        )
    })?;
    let mut position = fen::parse(fields[fen], FenOptions::default())?.position;
    let violations = position.violations(Validity::Playable);
    if let Some(reason) = violations.names().next() {
        return Err(BadLine::new(reason, violations.to_string()));
    }
    let mut moves = moves.split(|&byte| byte == b' ');
    let mut next = |position: &Position| {
        let text = moves.next().and_then(|mv| std::str::from_utf8(mv).ok())?;
        let found = Move::from_uci(text, position);
        Some(found.map_err(|error| {
            BadLine::new("illegal_move", format!("`{text}` in {position}: {error}"))
        }))
    };
    if let Some(posing) = next(&position) {
        position.make(posing?);
    }
    let mv = next(&position).transpose()?;
    let value = |index: usize| {
        let value = fields.get(fen + index).copied().unwrap_or_default();
        (!value.is_empty()).then(|| String::from_utf8_lossy(value).into_owned())
    };
    let mut texts = Vec::new();
    let wants = |field| options.fields.contains(field);
    if wants(Field::Site) {
        texts.extend(value(7).map(|site| (Field::Site, site)));
    }
    if wants(Field::Opening) {
        texts.extend(value(8).map(|opening| (Field::Opening, opening)));
    }
    let id = || Some(String::from_utf8_lossy(fields[fen.checked_sub(1)?]).into_owned());
    let rating = || value(2);
    let themes = || value(6);
    if wants(Field::PuzzleId) {
        let id = id().filter(|id| !id.is_empty());
        texts.extend(id.map(|id| (Field::PuzzleId, id)));
    }
    if wants(Field::Themes) {
        texts.extend(themes().map(|themes| (Field::Themes, themes)));
    }
    let puzzle_rating = match wants(Field::PuzzleRating) {
        true => rating().and_then(|rating| rating.trim().parse().ok()),
        false => None,
    };
    if wants(Field::Operations) {
        let operations: Vec<String> = [
            (Field::PuzzleId, id()),
            (Field::PuzzleRating, rating()),
            (Field::Themes, themes()),
        ]
        .into_iter()
        .filter_map(|(field, value)| text::operation_of(field, &value?))
        .collect();
        texts.push((Field::Operations, operations.join(" ")));
    }
    Ok(Record {
        mv,
        puzzle_rating,
        texts,
        ..Record::of(position)
    })
}
