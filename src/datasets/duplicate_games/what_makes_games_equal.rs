//! What makes games equal.

use crate::ParseError;
use crate::canonical::Canonical;
use crate::games::{Date, GameRow, MainLine, PlayerName};
use crate::jobs::GameColumns;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// What makes games equal: all of a list of things, separated by commas.
///
/// | name | |
/// | --- | --- |
/// | `moves` | the same start and the same moves; the default |
/// | `prefix` | the same start, and the moves of one game are those of the other or, if it has enough of them, the beginning of those |
/// | `players` | the [names](PlayerName::agrees_with) of White and of Black agree |
/// | `date` | the same date, or one is less exact than the other; an unknown one agrees with all |
/// | any [column of games](crate::jobs::GameColumn) | the same text; without one, it equals those without one |
///
/// By `moves` and `prefix`, a game without moves equals nothing.
///
/// ```
/// use lanefish::datasets::GameKeys;
/// let keys: GameKeys = "players,date,result,tag:Event".parse().unwrap();
/// assert_eq!(keys.to_string(), "players,date,result,tag:Event");
/// assert!("position".parse::<GameKeys>().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct GameKeys {
    names: String,
    pub(super) moves: bool,
    /// The minimum number of plies of a beginning.
    pub(super) prefix: Option<u32>,
    pub(super) players: bool,
    pub(super) date: bool,
    columns: Option<GameColumns>,
}

/// The minimum number of plies of a game that may be the beginning of another.
const PREFIX_PLIES: u32 = 20;

impl Default for GameKeys {
    fn default() -> Self {
        Self { moves: true, ..Self::none("moves") }
    }
}

impl fmt::Display for GameKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names)
    }
}

impl FromStr for GameKeys {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut keys = Self::none(text);
        let mut columns: Vec<&str> = Vec::new();
        for name in text.split(',').map(str::trim) {
            match name {
                "moves" => keys.moves = true,
                "prefix" => keys.prefix = Some(PREFIX_PLIES),
                "players" => keys.players = true,
                "date" => keys.date = true,
                name => columns.push(name),
            }
        }
        if keys.moves && keys.prefix.is_some() {
            return Err(ParseError::new("moves and prefix: choose one of them".to_owned()));
        }
        if !columns.is_empty() {
            let known = GameColumns::named(&columns.join(",")).map_err(|wrong| {
                ParseError::new(format!(
                    "{wrong}; games have the keys moves, prefix, players, date, result, round, tag:NAME and the columns \
                     of `games --list-columns`"
                ))
            })?;
            if let Some(column) = known.iter().find(|column| column.is_of_matches()) {
                let name = column.name();
                return Err(ParseError::new(format!(
                    "`{name}` says where a game has what was asked for, and is no key"
                )));
            }
            keys.columns = Some(known);
        }
        Ok(keys)
    }
}

/// The parts of an entry that have to agree.
#[derive(Debug)]
pub(super) struct AgreeingParts<'a> {
    pub(super) players: Option<[PlayerName; 2]>,
    /// Year, month and day; 0 where one is unknown.
    date: [u16; 3],
    /// The moves after those that have to be equal.
    pub(super) moves: &'a [u8],
}

impl AgreeingParts<'_> {
    pub(super) fn agree_with(&self, other: &Self) -> bool {
        let [long, short] = match self.moves.len() < other.moves.len() {
            true => [other.moves, self.moves],
            false => [self.moves, other.moves],
        };
        let mut dates = self.date.iter().zip(&other.date);
        let do_dates_agree = dates
            .find(|&(own, other)| *own == 0 || *other == 0 || own != other)
            .is_none_or(|(own, other)| *own == 0 || *other == 0);
        do_dates_agree
            && long.starts_with(short)
            && self.players.iter().zip(&other.players).all(|([white, black], [other_white, other_black])| {
                white.agrees_with(other_white) && black.agrees_with(other_black)
            })
    }
}

/// Appends a text with its length.
pub(super) fn put_text(text: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(&(text.len() as u32).to_le_bytes());
    to.extend_from_slice(text.as_bytes());
}

/// Takes a text off that was appended with its length.
pub(super) fn read_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let (len, rest) = bytes.split_first_chunk()?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

/// Reads the parts of an entry that have to agree.
pub(super) fn agreeing_parts<'a>(keys: &GameKeys, mut bytes: &'a [u8]) -> AgreeingParts<'a> {
    let mut name = || PlayerName::of(read_text(&mut bytes).unwrap_or_default());
    let players = keys.players.then(|| [name(), name()]);
    let mut date = [0; 3];
    if keys.date {
        for part in &mut date {
            if let Some((number, rest)) = bytes.split_first_chunk() {
                (*part, bytes) = (u16::from_le_bytes(*number), rest);
            }
        }
    }
    AgreeingParts { players, date, moves: bytes }
}

fn tag<'a>(game: &'a GameRow, name: &str) -> &'a str {
    let mut tags = game.tags.iter().rev().filter(|(other, _)| other.eq_ignore_ascii_case(name));
    tags.next().map_or("", |(_, value)| value)
}

fn players(game: &GameRow) -> [PlayerName; 2] {
    ["White", "Black"].map(|name| PlayerName::of(tag(game, name)))
}

impl GameKeys {
    fn none(names: &str) -> Self {
        let names = names.split(',').map(str::trim).collect::<Vec<_>>().join(",");
        Self { names, moves: false, prefix: None, players: false, date: false, columns: None }
    }
    /// Sets the minimum number of plies of a game that may be the beginning of another, by `prefix`.
    #[must_use]
    pub fn prefix_plies(mut self, plies: u32) -> Self {
        self.prefix = self.prefix.map(|_| plies);
        self
    }
    /// Whether a game may be the beginning of another.
    pub fn has_prefix(&self) -> bool {
        self.prefix.is_some()
    }
    /// Whether moves have to be equal, as far as both games have some.
    pub(super) fn reads_moves(&self) -> bool {
        self.moves || self.prefix.is_some()
    }
    /// Whether no hash brings all games together that may be equal.
    pub(super) fn has_pairs(&self) -> bool {
        self.players && !self.reads_moves()
    }
    pub(super) fn columns(&self) -> Option<&GameColumns> {
        self.columns.as_ref()
    }
    /// The tags that are read; `None` for all of them.
    pub(super) fn tags(&self) -> Option<Vec<Arc<str>>> {
        let mut tags = self.columns.as_ref().map_or(Some(Vec::new()), GameColumns::tags)?;
        if self.players {
            tags.extend(["White".into(), "Black".into()]);
        }
        if self.date {
            tags.push("Date".into());
        }
        Some(tags)
    }

    /// The words by which a game is divided, if no hash brings all games together that may equal it.
    pub(super) fn words_to_divide_by(&self, game: &GameRow) -> Option<Vec<String>> {
        let [white, _] = self.has_pairs().then(|| players(game))?;
        Some(white.ends_of_family_names().into_iter().map(str::to_owned).collect())
    }

    /// Appends what has to be equal, then what has to agree; returns their lengths.
    pub(super) fn put(&self, game: &GameRow, to: &mut Vec<u8>) -> [usize; 2] {
        let start = to.len();
        let mut rest: &[u16] = &[];
        if let Some(line) = game.main_line.as_deref().filter(|_| self.reads_moves()) {
            put_start(line, to);
            let equal = self.prefix.map_or(line.moves.len(), |plies| line.moves.len().min(plies as usize));
            let (first, after) = line.moves.split_at(equal);
            // A game that is too short to be the beginning of another equals those with the same moves only.
            let is_short = self.prefix.is_none_or(|plies| equal < plies as usize);
            to.push(is_short.into());
            to.extend_from_slice(&(equal as u32).to_le_bytes());
            first.iter().for_each(|mv| to.extend_from_slice(&mv.to_le_bytes()));
            rest = after;
        }
        for column in self.columns.iter().flat_map(GameColumns::iter) {
            put_text(&column.text(game), to);
        }
        let equal = to.len() - start;
        if self.players {
            players(game).iter().for_each(|name| put_text(&name.normal_form(), to));
        }
        if self.date {
            let date = Date::parse(tag(game, "Date").as_bytes());
            let parts = date
                .map_or([0; 3], |date| [date.year(), date.month().unwrap_or(0).into(), date.day().unwrap_or(0).into()]);
            parts.iter().for_each(|part: &u16| to.extend_from_slice(&part.to_le_bytes()));
        }
        rest.iter().for_each(|mv| to.extend_from_slice(&mv.to_le_bytes()));
        [equal, to.len() - start - equal]
    }
}

/// Appends the position in which a game begins.
fn put_start(line: &MainLine, to: &mut Vec<u8>) {
    let Canonical { board, black_to_move, castling, en_passant } = line.start;
    board.iter().chain([&castling, &en_passant]).for_each(|word| to.extend_from_slice(&word.to_le_bytes()));
    to.push(black_to_move.into());
}
