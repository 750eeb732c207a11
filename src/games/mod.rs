//! Game metadata, in any format.
//!
//! A format of games implements `Facts` for its games and consults a [`GameFilter`](crate::choose::GameFilter) to
//! decide which of them, and which of their positions, to deliver. A [`GameRow`] has everything known about a game.

mod outcome;
mod player_names;
mod write_aix;
mod write_moves;

pub use crate::table::{Date, Speed};
pub use outcome::Outcome;
pub(crate) use outcome::{Verdict, dash};
pub use player_names::PlayerName;
pub(crate) use write_aix::AixGame;
pub(crate) use write_moves::WrittenMoves;
pub use write_moves::{GameVerdict, MoveForms};

use crate::ParseError;
use crate::canonical::Canonical;
use crate::chess::{Move, Position};
use crate::distinct::canonical_at;
use crate::table::{Array, Batch, Field, Fields, OF_GAME, Values};
use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;

/// The facts about a game that a [`GameFilter`](crate::choose::GameFilter) needs. Unknown texts are empty.
pub(crate) trait Facts {
    /// The ratings of White and Black.
    fn elos(&self) -> [Option<u16>; 2];
    /// The names of White and Black.
    fn players(&self) -> [Cow<'_, str>; 2];
    /// The time control, as PGN writes it.
    fn time_control(&self) -> &[u8];
    /// How it ended; `None` if unknown.
    fn outcome(&self) -> Option<Outcome>;
    /// Number of plies played.
    fn plies(&self) -> u32;
    /// Why it ended, as Lichess writes it.
    fn termination(&self) -> &[u8];
    /// The opening code.
    fn eco(&self) -> &[u8];
    /// When it was played.
    fn date(&self) -> Option<Date>;
    /// The rules of the game; `None` for variants that are not supported.
    fn variant(&self) -> Option<Variant>;
}

/// The rules of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Variant {
    /// Standard chess, also from set-up positions.
    Standard,
    /// Chess960 and double Chess960.
    Chess960,
}

impl Variant {
    /// The variant of a `Variant` tag in any of its spellings; `None` for unsupported variants.
    ///
    /// ```
    /// use lanefish::games::Variant;
    /// assert_eq!(Variant::from_tag(b"fischerandom"), Some(Variant::Chess960));
    /// assert_eq!(Variant::from_tag(b"Live Chess - Chess960"), Some(Variant::Chess960));
    /// assert_eq!(Variant::from_tag(b"From Position"), Some(Variant::Standard));
    /// assert_eq!(Variant::from_tag(b"Crazyhouse"), None);
    /// ```
    pub fn from_tag(value: &[u8]) -> Option<Self> {
        let name: String = value
            .iter()
            .filter(|byte| byte.is_ascii_alphanumeric())
            .map(|byte| byte.to_ascii_lowercase() as char)
            .collect();
        match name.as_str() {
            "" | "standard" | "normal" | "chess" | "classical" | "classic" | "orthodox" | "regular"
            | "fromposition" | "standardchess" | "livechess" => Some(Self::Standard),
            "chess960"
            | "livechesschess960"
            | "960"
            | "frc"
            | "dfrc"
            | "fischerandom"
            | "fischerrandom"
            | "fischerandomchess"
            | "fischerrandomchess"
            | "doublefischerandom"
            | "doublefischerrandom"
            | "doublechess960"
            | "freestyle"
            | "freestylechess"
            | "wildfr"
            | "wild960"
            | "shuffle960" => Some(Self::Chess960),
            _ => None,
        }
    }
}

/// Names and values of the tags of a game, in their order; in one text, because there are many of them.
///
/// ```
/// use lanefish::games::GameTags;
/// let tags = GameTags::from_iter([("White", "Adams"), ("Black", "Torre")]);
/// assert_eq!(tags.iter().last(), Some(("Black", "Torre")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameTags {
    text: String,
    /// The end of each name, and of each value, in the text.
    ends: Vec<u32>,
}

impl GameTags {
    /// Adds a tag.
    ///
    /// # Panics
    /// If the tags have more than 4 GiB together.
    pub fn push(&mut self, name: &str, value: &str) {
        for text in [name, value] {
            self.text.push_str(text);
            self.ends.push(u32::try_from(self.text.len()).expect("tags below 4 GiB"));
        }
    }
    /// The names and values.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> + ExactSizeIterator {
        (0..self.ends.len() / 2).map(|place| {
            let start = place.checked_sub(1).map_or(0, |before| self.ends[2 * before + 1] as usize);
            let (middle, end) = (self.ends[2 * place] as usize, self.ends[2 * place + 1] as usize);
            (&self.text[start..middle], &self.text[middle..end])
        })
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for GameTags {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(all: I) -> Self {
        let mut tags = Self::default();
        all.into_iter().for_each(|(name, value)| tags.push(name, value));
        tags
    }
}

/// The values of a game that are found for it as a whole, as the bits of columns, in the order of their fields.
pub(crate) type WholeGameValues = [Option<u64>; OF_GAME.len()];

/// Where a sequence of positions occurs in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GameMatches {
    /// The plies of the sequence that ends first; of several, those of the one with smaller plies from the left.
    pub plies: Vec<u32>,
    /// The first ply at which a sequence ends.
    pub first: u32,
    /// The last ply at which a sequence ends.
    pub last: u32,
    /// Number of plies at which a sequence ends.
    pub count: u32,
}

/// What a record says beside its position and move: the evaluation of the position, and the clock after the move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordValues {
    pub(crate) score: Option<i16>,
    pub(crate) mate: Option<i16>,
    /// In centiseconds.
    pub(crate) clock: Option<u32>,
}

impl RecordValues {
    /// The fields that have them.
    pub(crate) const FIELDS: [Field; 3] = [Field::Score, Field::Mate, Field::Clock];

    /// The values of a record.
    pub(crate) fn of(batch: &Batch, row: usize) -> Self {
        let [score, mate, clock] = Self::FIELDS.map(|field| batch.values(field)?.number(row));
        let small = |number: Option<i64>| number.and_then(|number| i16::try_from(number).ok());
        Self { score: small(score), mate: small(mate), clock: clock.and_then(|clock| u32::try_from(clock).ok()) }
    }
}

/// The main line of a game.
#[derive(Clone, Debug)]
pub(crate) struct MainLine {
    /// The position in which it begins.
    pub(crate) start: Canonical,
    /// Its moves, as the bits of [`Move`]; 0 where a record before others has none.
    pub(crate) moves: Vec<u16>,
    /// What the records say beside their moves, if they say anything.
    pub(crate) values: Vec<RecordValues>,
    /// The position in which it begins, with its counters, if it is a position.
    pub(crate) position: Option<Position>,
    /// Whether it begins with the first position of the game, as far as that is known.
    pub(crate) has_start: bool,
    /// Whether every position follows from the one before it by the move that was played there.
    pub(crate) is_whole: bool,
}

impl MainLine {
    /// The main line of the records of a game, in order; `None` without records.
    pub(crate) fn of<'a>(records: impl Iterator<Item = (&'a Batch, usize)>) -> Option<Self> {
        let mut line: Option<Self> = None;
        let (mut ply_before, mut has_move) = (None, true);
        let mut columns: Option<(&Batch, [Option<&Values<u16>>; 2])> = None;
        for (batch, row) in records {
            let of_batch = columns.filter(|(known, _)| std::ptr::eq(*known, batch)).map(|(_, columns)| columns);
            let [plies, moves] = of_batch.unwrap_or_else(|| {
                [Field::Ply, Field::Move].map(|field| match batch.values(field) {
                    Some(Array::U16(values)) => Some(values),
                    _ => None,
                })
            });
            columns = Some((batch, [plies, moves]));
            let get = |values: Option<&Values<u16>>| values.and_then(|values| values.get(row).copied());
            let (ply, mv) = (get(plies), get(moves));
            let line = match &mut line {
                None => line.insert(Self {
                    start: canonical_at(batch, row),
                    moves: Vec::new(),
                    values: Vec::new(),
                    position: batch.position(row).ok(),
                    has_start: ply.is_none_or(|ply| ply == 0),
                    is_whole: true,
                }),
                Some(line) => {
                    let follows =
                        ply.zip(ply_before).is_none_or(|(ply, before): (u16, u16)| before.checked_add(1) == Some(ply));
                    line.is_whole &= has_move && follows;
                    if !has_move {
                        line.moves.push(0);
                    }
                    line
                }
            };
            if RecordValues::FIELDS.iter().any(|&field| batch.values(field).is_some()) {
                line.values.resize(line.moves.len(), RecordValues::default());
                line.values.push(RecordValues::of(batch, row));
            }
            has_move = mv.is_some();
            ply_before = ply;
            line.moves.extend(mv);
        }
        line
    }
}

/// Everything known about a game, for tables of games.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GameRow {
    /// 0-based number of the game; over all inputs after [`crate::formats::Decoded::number`].
    pub game: u64,
    /// Its tags.
    pub tags: GameTags,
    /// Plies played in the main line; `None` if that is not known.
    pub plies: Option<u32>,
    /// How it ended.
    pub result: Option<Outcome>,
    /// The last position of the main line, if the game has any position.
    pub last: Option<Position>,
    /// The error in the game, if there is one.
    pub error: Option<String>,
    /// Where the [sequence](crate::choose::GameFilter::having) by which games were chosen occurs in it.
    pub matches: Option<Box<GameMatches>>,
    /// The values that are found for whole games, if they are requested.
    pub(crate) values: Option<Box<WholeGameValues>>,
    /// Its main line, if it is requested.
    pub(crate) main_line: Option<Box<MainLine>>,
    /// The number of its first record, or of its reject; over all inputs after [`crate::formats::Decoded::number`].
    pub(crate) record: u64,
    /// Its moves as texts, if they are requested.
    pub(crate) moves: Option<Box<WrittenMoves>>,
    /// Offset of the game in the chunk; of the first one with what comes before it.
    pub(crate) start: usize,
    /// Offset of the end of its tags in the chunk.
    pub(crate) movetext: usize,
    /// Offset of the end of its moves, without text between games.
    pub(crate) moves_end: usize,
    /// Offset of the end of the game in the chunk, where the next game or other text begins.
    pub(crate) end: usize,
}

/// The tags that records carry, and the fields that have them.
const TAGS_OF_RECORDS: [(&str, Field); 10] = [
    ("Site", Field::Site),
    ("Date", Field::Date),
    ("White", Field::White),
    ("Black", Field::Black),
    ("WhiteElo", Field::WhiteElo),
    ("BlackElo", Field::BlackElo),
    ("ECO", Field::Eco),
    ("Opening", Field::Opening),
    ("TimeControl", Field::TimeControl),
    ("Termination", Field::Termination),
];

impl GameRow {
    /// The fields of records that rows of games are made of, if all tags or those with these names are needed.
    pub(crate) fn fields(tags: Option<&[Arc<str>]>) -> Fields {
        let is_needed = |name: &str| tags.is_none_or(|tags| tags.iter().any(|tag| tag.eq_ignore_ascii_case(name)));
        let tags = TAGS_OF_RECORDS.iter().filter(|(name, _)| is_needed(name)).map(|&(_, field)| field);
        tags.chain([Field::Game, Field::Ply, Field::Move, Field::Result]).collect()
    }

    /// The values of the game of a record that are found for whole games, if its batch has any.
    pub(crate) fn values_of(batch: &Batch, row: usize) -> Option<Box<WholeGameValues>> {
        let is_any = OF_GAME.into_iter().any(|field| batch.values(field).is_some());
        is_any.then(|| {
            Box::new(OF_GAME.map(|field| match batch.values(field)? {
                Array::U64(values) => values.get(row).copied(),
                values => values.number(row).map(|number| number as u64),
            }))
        })
    }

    /// The row of a game of which this is the last record. If it has a move, the move is the last one of the game.
    pub(crate) fn of_last_record(batch: &Batch, row: usize) -> Self {
        let number = |field| batch.values(field).and_then(|values: &Array| values.number(row));
        let mut tags = GameTags::default();
        for (name, field) in TAGS_OF_RECORDS {
            let Some(values) = batch.values(field) else { continue };
            if let Some(text) = values.text(row) {
                tags.push(name, text);
            } else if let Some(number) = values.number(row) {
                tags.push(name, &number.to_string());
            }
        }
        let before = batch.position(row);
        let mv = number(Field::Move).and_then(|bits| Move::from_bits(bits as u16));
        let (last, error) = match before {
            Ok(mut position) => {
                let is_legal = mv.is_none_or(|mv| position.is_legal(mv));
                if let Some(mv) = mv.filter(|_| is_legal) {
                    position.make(mv);
                }
                (Some(position), (!is_legal).then(|| "the last move is not legal".to_owned()))
            }
            Err(error) => (None, Some(error.to_string())),
        };
        let codes = [Outcome::Black, Outcome::Draw, Outcome::White];
        Self {
            game: number(Field::Game).unwrap_or(0) as u64,
            tags,
            plies: number(Field::Ply).map(|ply| ply as u32 + u32::from(mv.is_some() && error.is_none())),
            result: number(Field::Result).and_then(|code| codes.get(code as usize).copied()),
            last,
            error,
            matches: None,
            values: Self::values_of(batch, row),
            main_line: None,
            record: batch.index(row),
            moves: None,
            start: 0,
            movetext: 0,
            moves_end: 0,
            end: 0,
        }
    }
}

impl FromStr for Date {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text.as_bytes()).ok_or_else(|| {
            let expected = "a date such as 2025.05.01, 2025-05-01, 20250501, 31.05.2025, 2025.05 or 2025";
            ParseError::new(format!("`{text}`: expected {expected}"))
        })
    }
}
