//! PGN: games as text, replayed into positions.
//!
//! A game gives the position that it starts from and one after each move of its main line. Of a game that
//! cannot be read to its end, the positions before the bad place stay (unless
//! [`Selection::drop_bad_games`]), and the game is one reject. The fields of a record are those of its
//! position: `move` is the move played *from* it (the last one has none) and `clock` the time that the
//! mover had left after that move; `score` is the evaluation *of* it, which PGN writes after the move that
//! leads to it.
//!
//! ## What is read
//!
//! Byte order marks, CR LF, escape lines (`%`), both kinds of comments, variations, NAGs and suffixes; moves
//! in SAN that is disambiguated too much or just by the rules, with or without check signs, `=`, `e.p.` or
//! move numbers, castling with letters or zeros; games with any of tags, moves and result missing, and
//! without empty lines between. Text may be UTF-8 or ISO-8859-1.
//!
//! Unless [`DecodeOptions::strict_pgn`] is set, also what the standard does not have but files do: null moves
//! (`--`, `Z0`, `0000`, `@@@@`, `null`, `pass`), results glued to a move, `½-½`, closing braces too many, words
//! such as `ch`, `mate`, `dis+` and `e.p.`, `N` and `D` for novelties and diagrams, signs of evaluation in
//! ASCII or Unicode, and blanks of Unicode.
//!
//! Moves may also be written without the `x` of a capture or with one too many, as in UCI (`g1f3`), long
//! (`Ng1-f3`), with small letters or figurines for the pieces, and castling as a move of the king, wherever one
//! legal move fits. A `FEN` tag may end after any of its fields, and castling rights in it that have no rook
//! are dropped and counted. [`DecodeOptions::strict_pgn`] refuses these liberties. Of tags that a game has twice
//! the last one counts. Chess960 is known by its `FEN`; other variants are rejected by name.
//!
//! ## Where a game begins
//!
//! At a tag at the beginning of a line once moves have begun, at `[Event "` after an empty line anywhere, at
//! tags after an empty line that repeat the name of a tag before it, at move number 1 of White after moves and an
//! empty line, and after a result. [`boundary`] says what holds within comments, and why files can be cut there.
//!
//! Text with neither tags nor a move is no game: what a game has left over after its result is passed over;
//! prose, and moves that go on after a result, are one reject without a position. So is a game longer than
//! [`DecodeOptions::max_record`]; reading goes on at the next [`boundary`] that many bytes after its beginning.

mod game;
mod lex;
mod records;
mod replay;
mod scan;
mod select;
mod tags;

pub use game::{BadGame, Game, GameError, Games, Outcome};
pub use lex::boundary;
pub(super) use lex::resume;
pub use select::{
    Date, EcoRange, LeftOut, LeftOutBy, Selection, SelectionError, Speed, TimeControl,
};
pub use tags::{Tags, Variant};

pub(super) use records::mate_in;

use super::{Chunk, DecodeOptions, Decoded};
use crate::batch::{Field, Fields, Values};
use crate::chess::Position;
use crate::error::{Place, Reject};
use memchr::memchr_iter;
use records::{Records, Wanted};
use std::borrow::Cow;
use std::sync::Arc;

/// Where no tags tell where games begin, so much text is cut after a result.
const TAGLESS: usize = 4 << 20;

/// Of a game that is too long, a reject keeps no more bytes than these.
const RAW_OF_TOO_LONG: usize = 4096;

/// The longest run at the start of `bytes` that ends where a game begins, whatever comes after.
pub(super) fn cut(bytes: &[u8]) -> Option<usize> {
    boundary(bytes, bytes.len(), false).or_else(|| {
        (bytes.len() >= TAGLESS)
            .then(|| lex::last_result(bytes))
            .flatten()
    })
}

/// Whether a text begins like PGN: with a tag, or with the first move number.
pub(super) fn sniff(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let line = head
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !matches!(line[0], b'%' | b';'));
    match line {
        Some([b'[', letter, rest @ ..]) => {
            let quote = rest.iter().position(|&byte| byte == b'"');
            letter.is_ascii_alphabetic()
                && quote.is_some_and(|quote| !rest[..quote].contains(&b']'))
        }
        Some([b'1', b'.', ..]) => true,
        _ => false,
    }
}

/// Decodes a run of games.
pub(super) fn decode(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    let bytes: &[u8] = &chunk.bytes;
    let everything = Selection::default();
    let selection = options.games.as_deref().unwrap_or(&everything);
    let selects = !selection.takes_all_positions();
    let fields = options.fields;
    let wanted = Wanted {
        moves: fields.contains(Field::Move),
        plies: fields.contains(Field::Ply) || selects,
        scores: fields.contains(Field::Score) || fields.contains(Field::Mate),
        clocks: fields.contains(Field::Clock),
    };
    let mut records = Records::new(wanted, bytes.len());
    let mut columns = GameColumns::new(fields);
    let mut decoded = Decoded::default();
    // Ranges of rows, and the number of the first one, where numbers are not just rows.
    let mut numbers: Vec<(usize, u64)> = Vec::new();
    let mut origins = Vec::with_capacity(bytes.len() / 30);
    let mut lines = Lines {
        bytes,
        at: 0,
        count: 0,
    };
    let torn =
        chunk.torn && !(bytes.ends_with(b"\n") && lex::ends_with_result(bytes.trim_ascii_end()));
    let mut games = Games::new(bytes, selection.variations, options.strict_pgn)
        .limited(options.max_record, torn);
    loop {
        let start = records.len();
        let Some(mut game) = games.next(&mut records) else {
            break;
        };
        decoded.last_game_open = !game.terminated && !game.stray && game.end == bytes.len();
        if game.stray
            && let Some(bad) = &game.bad
        {
            let reject = reject(chunk, &game, bad, None, decoded.records, &mut lines);
            decoded.rejects.push(reject);
            numbers.push((start, decoded.records));
            decoded.records += 1;
            continue;
        }
        if torn && game.end == bytes.len() && !game.is_too_long() {
            // Its last move may have lost a letter and still look like one.
            records.truncate(start);
            game.bad = Some(Box::new(BadGame {
                error: GameError::CutOff,
                offset: bytes.len(),
                ply: game.plies,
                position: game.last.clone(),
            }));
        }
        let number = decoded.games;
        decoded.games += 1;
        let positions = (records.len() - start) as u64;
        decoded.dropped_castling += game.dropped_castling;
        decoded.games_with_doubled_tags += u64::from(game.tags.has_doubled());
        let mut leave_out = |name, games, positions| {
            if games + positions != 0 {
                let left_out: &mut LeftOut = decoded.left_out.entry(name).or_default();
                left_out.games += games;
                left_out.positions += positions;
            }
        };
        if let Some((name, unknown)) = selection.leaves_out(&game) {
            leave_out(name, 1, positions);
            decoded.left_out.entry(name).or_default().unknown += u64::from(unknown);
            records.truncate(start);
            continue;
        }
        if game.bad.is_some() && selection.drop_bad_games {
            leave_out("drop-bad-games", 0, positions);
            records.truncate(start);
        } else if selects {
            let hash = if selection.max_per_game.is_some() {
                records.hash(start)
            } else {
                0
            };
            let keep = selection.positions(records.plies(start), hash, &mut |name, positions| {
                leave_out(name, 0, positions);
            });
            records.retain(start, |row| keep[row]);
        }
        let kept = records.len() - start;
        origins.resize(records.len(), game.start as u32);
        columns.extend(&game, number, kept);
        if options.game_rows {
            decoded.game_rows.push(GameRow::new(number, &game));
        }
        numbers.push((start, decoded.records));
        decoded.records += kept as u64;
        if let Some(bad) = &game.bad {
            let reject = reject(chunk, &game, bad, Some(number), decoded.records, &mut lines);
            decoded.rejects.push(reject);
            decoded.records += 1;
        }
    }
    decoded.lines = lines.up_to(bytes.len());
    let len = records.len();
    let mut batch = records.into_batch(fields);
    columns.finish(&mut batch.fields);
    batch.origins = origins;
    if !decoded.rejects.is_empty() {
        let mut ordinals = Vec::with_capacity(len);
        for (index, &(start, number)) in numbers.iter().enumerate() {
            let end = numbers.get(index + 1).map_or(len, |&(next, _)| next);
            ordinals.extend((0..(end - start) as u64).map(|row| (number + row) as u32));
        }
        batch.ordinals = Some(ordinals);
    }
    if !batch.is_empty() {
        decoded.batches.push(batch);
    }
    decoded
}

/// What is known of a game, for tables of games.
#[derive(Clone, Debug)]
pub struct GameRow {
    /// 0-based number of the game; over all inputs after [`Decoded::settle`].
    pub game: u64,
    /// Names and values of its tags, in their order.
    pub tags: Vec<(String, String)>,
    /// Plies of the main line that were played.
    pub plies: u32,
    /// How it ended.
    pub result: Option<Outcome>,
    /// The last position of the main line that was reached, if the game has one at all.
    pub last: Option<Position>,
    /// What is wrong with the game.
    pub error: Option<String>,
    /// Offset of the byte after it in the chunk.
    pub(crate) end: usize,
}

impl GameRow {
    fn new(number: u64, game: &Game<'_>) -> Self {
        let text = |text| tags::text(text).into_owned();
        Self {
            game: number,
            tags: game
                .tags
                .pairs()
                .map(|(name, value)| (text(name), text(value)))
                .collect(),
            plies: game.plies,
            result: game.result(),
            last: game.last.clone(),
            error: game.bad.as_ref().map(|bad| bad.error.to_string()),
            end: game.end,
        }
    }
}

/// Counts line ends up to places that come in order.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    count: u64,
}

impl Lines<'_> {
    fn up_to(&mut self, at: usize) -> u64 {
        // A tag that is to blame may stand before the last place.
        if at > self.at {
            self.count += memchr_iter(b'\n', &self.bytes[self.at..at]).count() as u64;
            self.at = at;
        } else {
            self.count -= memchr_iter(b'\n', &self.bytes[at..self.at]).count() as u64;
            self.at = at;
        }
        self.count
    }
}

#[cold]
fn reject(
    chunk: &Chunk,
    game: &Game<'_>,
    bad: &BadGame,
    number: Option<u64>,
    record: u64,
    lines: &mut Lines<'_>,
) -> Reject {
    let message = match &bad.position {
        Some(position) => format!("{} in {position}", bad.error),
        None => bad.error.to_string(),
    };
    let end = match game.is_too_long() {
        true => game.end.min(game.start + RAW_OF_TOO_LONG),
        false => game.end,
    };
    Reject {
        place: Place {
            file: Arc::clone(&chunk.file),
            line: Some(lines.up_to(bad.offset) + 1),
            offset: bad.offset as u64,
            record,
            game: number,
            ply: Some(bad.ply.min(u16::MAX.into()) as u16),
        },
        reasons: bad.error.names(),
        message: Cow::Owned(message),
        raw: chunk.bytes[game.start..end].trim_ascii().to_vec(),
    }
}

/// The columns in which all rows of a game have the same value.
struct GameColumns {
    columns: Vec<(Field, Values)>,
}

impl GameColumns {
    fn new(fields: Fields) -> Self {
        let columns = fields.iter().filter(|field| {
            !matches!(
                field,
                Field::Score
                    | Field::Mate
                    | Field::Move
                    | Field::Ply
                    | Field::Clock
                    | Field::Operations
            )
        });
        Self {
            columns: columns.map(|field| (field, field.column(0))).collect(),
        }
    }

    /// Adds so many rows of a game.
    fn extend(&mut self, game: &Game<'_>, number: u64, rows: usize) {
        let tags = &game.tags;
        for (field, values) in &mut self.columns {
            match (field, values) {
                (Field::Game, Values::U64(column)) => column.push_many(Some(number), rows),
                (Field::Result, Values::U8(column)) => {
                    column.push_many(game.result().map(Outcome::code), rows);
                }
                (Field::WhiteElo, Values::U16(column)) => {
                    column.push_many(tags.number("WhiteElo"), rows);
                }
                (Field::BlackElo, Values::U16(column)) => {
                    column.push_many(tags.number("BlackElo"), rows);
                }
                (field, Values::Text(column)) => {
                    let value = match field {
                        Field::Eco => tags.get("ECO"),
                        Field::Opening => tags.get("Opening"),
                        Field::TimeControl => tags.get("TimeControl"),
                        Field::Date => select::date(tags),
                        Field::Site => tags.get("Site"),
                        _ => None,
                    };
                    let value = value.filter(|value| !matches!(*value, b"" | b"?"));
                    column.push_many(value.map(|value| Arc::from(tags::text(value))), rows);
                }
                (_, values) => (0..rows).for_each(|_| values.push_missing()),
            }
        }
    }

    /// Hands over the columns that have any value.
    fn finish(self, fields: &mut std::collections::BTreeMap<Field, Values>) {
        for (field, values) in self.columns {
            if values.count_present() != 0 {
                fields.insert(field, values);
            }
        }
    }
}
