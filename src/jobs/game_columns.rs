//! The columns of a table of games, and a choice of them.
//!
//! The columns of [`crate::table::COLUMNS`] have a value for each position. These have one for each game, computed
//! from its [row](GameRow). CSV, JSON lines and tables write the same choice.

use super::hub_and_aix_schemas::{self, GameSchema};
use crate::formats::codec::decode_records::hexadecimal;
use crate::games::{Date, GameRow, GameVerdict, MoveForms};
use crate::output::cells::write_json_string;
use crate::table::{ChosenColumn, Column, ColumnsError, Control, Kind, Needs, OF_GAME};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

/// Columns that are tags, and their names as columns.
const OF_TAGS: [(&str, &str); 14] = [
    ("Event", "event"),
    ("Site", "site"),
    ("Date", "date"),
    ("UTCTime", "time"),
    ("Round", "round"),
    ("White", "white"),
    ("Black", "black"),
    ("WhiteElo", "white_elo"),
    ("BlackElo", "black_elo"),
    ("ECO", "eco"),
    ("Opening", "opening"),
    ("TimeControl", "time_control"),
    ("Termination", "termination"),
    ("Variant", "variant"),
];

/// More tags that games of Lichess have; their columns belong to tables with moves.
const MORE_TAGS: [(&str, &str, Kind); 5] = [
    ("UTCDate", "utc_date", Kind::Date),
    ("WhiteTitle", "white_title", Kind::Text),
    ("BlackTitle", "black_title", Kind::Text),
    ("WhiteRatingDiff", "white_rating_diff", Kind::I16),
    ("BlackRatingDiff", "black_rating_diff", Kind::I16),
];

/// What stands for the names of all columns.
const ALL_NAMES: &str = "all";

/// A column of a table of games.
#[derive(Clone, Debug)]
pub struct GameColumn {
    name: Cow<'static, str>,
    kind: Kind,
    meaning: Cow<'static, str>,
    pub(super) value: GameValue,
}

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GameValue {
    Number,
    /// The tag with this name.
    Tag(Cow<'static, str>),
    Result,
    Plies,
    Outcome,
    Fen,
    Error,
    /// The plies of the sequence of positions by which games were chosen, and the first and last ply at which one ends.
    MatchPlies,
    FirstMatch,
    LastMatch,
    MatchCount,
    /// A number of the tag `TimeControl`.
    Base,
    Increment,
    MovesPerPeriod,
    /// White's rating minus Black's.
    EloDifference,
    /// The value of this place among those that are [found](OF_GAME) for whole games.
    OfWholeGame(usize),
    /// All tags, as a JSON object.
    Tags,
    /// The first position, unless it is the usual one.
    Start,
    /// The moves, in the forms of [`MoveForms`].
    Movetext,
    Uci,
    San,
    Movedata,
    /// The clocks of White (0) or Black (1).
    Clocks(usize),
    Evals,
    /// The result, or `*`.
    ResultOrStar,
    /// The name of the game, or of its tournament, at Lichess.
    LichessGame,
    LichessTournament,
    /// The tag UTCTime, in milliseconds.
    UtcTime,
    /// The tags UTCDate and UTCTime, in microseconds since 1970.
    UtcTimestamp,
    /// The two numbers of a time control such as 300+3.
    InitialTime,
    IncrementTime,
}

impl GameValue {
    /// Whether it is a form of the moves, whose empty text is that of a game without moves.
    pub(super) fn is_of_moves(&self) -> bool {
        matches!(self, Self::Movetext | Self::Uci | Self::San | Self::Movedata)
    }
}

/// All columns that have a name of their own; those of the usual table come first.
static ALL: LazyLock<Vec<GameColumn>> = LazyLock::new(|| {
    let column = |name: &'static str, kind, meaning: &'static str, value| GameColumn {
        name: name.into(),
        kind,
        meaning: meaning.into(),
        value,
    };
    let number = column("game", Kind::U64, "0-based number of the game over all inputs", GameValue::Number);
    let mut all = vec![number];
    all.extend(OF_TAGS.map(|(tag, name)| {
        let kind = match name {
            "date" => Kind::Date,
            "white_elo" | "black_elo" => Kind::U16,
            _ => Kind::Text,
        };
        let meaning = format!("the tag {tag} of the game").into();
        GameColumn { name: name.into(), kind, meaning, value: GameValue::Tag(tag.into()) }
    }));
    all.extend([
        column("result", Kind::Text, "1-0, 0-1 or 1/2-1/2", GameValue::Result),
        column("plies", Kind::U32, "plies played, if known", GameValue::Plies),
        column("outcome", Kind::Text, "checkmate or stalemate, where the last position is one", GameValue::Outcome),
        column("fen", Kind::Text, "the last position", GameValue::Fen),
        column("error", Kind::Text, "what is wrong with the game", GameValue::Error),
        column("match_plies", Kind::Text, "with --having, a ply for each of its conditions", GameValue::MatchPlies),
        column("first_match", Kind::U32, "with --having, the first ply at which a match ends", GameValue::FirstMatch),
        column("last_match", Kind::U32, "with --having, the last ply at which a match ends", GameValue::LastMatch),
        column("match_count", Kind::U32, "with --having, at how many plies a match ends", GameValue::MatchCount),
    ]);
    let of_records = [
        ("base", GameValue::Base),
        ("increment", GameValue::Increment),
        ("moves_per_period", GameValue::MovesPerPeriod),
        ("elo_difference", GameValue::EloDifference),
    ];
    let found = OF_GAME.iter().enumerate().map(|(place, field)| (field.name(), GameValue::OfWholeGame(place)));
    for (name, value) in of_records.into_iter().chain(found) {
        // The same as those of records.
        if let Some(same) = Column::named(name) {
            all.push(column(name, same.kind, same.meaning, value));
        }
    }
    all.extend([column("tags", Kind::Text, "all tags of the game, as a JSON object", GameValue::Tags)]);
    all
});

static USUAL: LazyLock<GameColumns> =
    LazyLock::new(|| GameColumns(ALL.iter().filter(|column| column.is_usual()).cloned().collect(), None));

impl GameColumn {
    /// A column with another name than the usual one.
    pub(super) fn new(name: &'static str, kind: Kind, meaning: &'static str, value: GameValue) -> Self {
        Self { name: name.into(), kind, meaning: meaning.into(), value }
    }
    /// The columns that have a name of their own. In addition, `tag:NAME` is any tag.
    pub fn all() -> &'static [Self] {
        &ALL
    }
    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The type of its values.
    pub fn kind(&self) -> Kind {
        self.kind
    }
    /// The meaning of its values.
    pub fn meaning(&self) -> &str {
        &self.meaning
    }
    /// Whether a table has it unless other columns are chosen. Where games are chosen by their positions, it also has the
    /// columns [of these](Self::is_of_matches).
    pub fn is_usual(&self) -> bool {
        use GameValue::{Base, EloDifference, Increment, MovesPerPeriod, OfWholeGame, Tags};
        let is_asked_for =
            matches!(self.value, Tags | Base | Increment | MovesPerPeriod | EloDifference | OfWholeGame(_));
        !is_asked_for && !self.is_of_matches()
    }
    /// Whether it says where the [sequence](crate::choose::GameFilter::having) is by which games were chosen.
    pub fn is_of_matches(&self) -> bool {
        use GameValue::{FirstMatch, LastMatch, MatchCount, MatchPlies};
        matches!(self.value, MatchPlies | FirstMatch | LastMatch | MatchCount)
    }

    /// The column of a name, or of a tag.
    pub(super) fn named(name: &str) -> Option<Self> {
        if let Some(listed) = ALL.iter().find(|column| column.name == name) {
            return Some(listed.clone());
        }
        // Rows of games do not have the columns of folders.
        let column = ChosenColumn::named(name).filter(ChosenColumn::is_of_games)?;
        let tag = column.tag()?.to_owned();
        let meaning = format!("the tag {tag} of the game").into();
        let value = GameValue::Tag(tag.into());
        Some(Self { name: name.to_owned().into(), kind: Kind::Text, meaning, value })
    }

    /// The value as text; empty if the game does not have it.
    pub(crate) fn text<'a>(&self, game: &'a GameRow) -> Cow<'a, str> {
        match &self.value {
            GameValue::Number => game.game.to_string().into(),
            GameValue::Tag(_) if self.kind == Kind::I16 => self.signed_text(game).into(),
            GameValue::Tag(name) => tag(game, name).into(),
            GameValue::Result => game.result.map_or("", |result| result.token()).into(),
            GameValue::Plies => game.plies.map_or_else(String::new, |plies| plies.to_string()).into(),
            GameValue::Outcome => outcome(game).into(),
            GameValue::Fen => game.last.as_ref().map_or_else(String::new, ToString::to_string).into(),
            GameValue::Start => game.moves.as_ref().and_then(|moves| moves.start.as_deref()).unwrap_or_default().into(),
            GameValue::Movetext | GameValue::Uci | GameValue::San => self.moves_of(game).unwrap_or_default().into(),
            GameValue::Movedata => {
                let digits = self.bytes_of(game).map(hexadecimal).unwrap_or_default();
                String::from_utf8(digits).unwrap_or_default().into()
            }
            GameValue::Clocks(_) | GameValue::Evals => {
                let numbers = self.list_of(game).unwrap_or_default();
                numbers.iter().map(i32::to_string).collect::<Vec<_>>().join(" ").into()
            }
            GameValue::ResultOrStar => {
                let token = game.result.map(|result| result.token());
                token.or(Some(tag(game, "Result")).filter(|tag| !tag.is_empty())).unwrap_or("*").into()
            }
            GameValue::LichessGame => last_part(tag(game, "Site"), "lichess.org/").into(),
            GameValue::LichessTournament => last_part(tag(game, "Event"), "lichess.org/tournament/").into(),
            GameValue::Error => game.error.as_deref().unwrap_or_default().into(),
            GameValue::MatchPlies => game
                .matches
                .as_ref()
                .map_or_else(String::new, |matches| {
                    let plies: Vec<String> = matches.plies.iter().map(u32::to_string).collect();
                    plies.join(" ")
                })
                .into(),
            GameValue::OfWholeGame(_) if self.kind == Kind::F64 => {
                self.number(game).map_or_else(String::new, |bits| format!("{:?}", f64::from_bits(bits))).into()
            }
            GameValue::EloDifference => self.signed_text(game).into(),
            GameValue::UtcTime
            | GameValue::UtcTimestamp
            | GameValue::InitialTime
            | GameValue::IncrementTime
            | GameValue::FirstMatch
            | GameValue::LastMatch
            | GameValue::MatchCount
            | GameValue::Base
            | GameValue::Increment
            | GameValue::MovesPerPeriod
            | GameValue::OfWholeGame(_) => {
                self.number(game).map_or_else(String::new, |number| number.to_string()).into()
            }
            GameValue::Tags => {
                let mut object = Vec::new();
                write_tags(game, &mut object);
                String::from_utf8_lossy(&object).into_owned().into()
            }
        }
    }

    fn signed_text(&self, game: &GameRow) -> String {
        self.number(game).map_or_else(String::new, |number| (number as i64).to_string())
    }

    /// The moves in the form of this column; `None` if they are not known.
    pub(super) fn moves_of<'a>(&self, game: &'a GameRow) -> Option<&'a str> {
        let moves = game.moves.as_deref()?;
        match self.value {
            GameValue::Movetext => moves.movetext.as_deref(),
            GameValue::Uci => moves.uci.as_deref(),
            GameValue::San => moves.san.as_deref(),
            _ => None,
        }
    }

    /// The bytes of the moves.
    pub(super) fn bytes_of<'a>(&self, game: &'a GameRow) -> Option<&'a [u8]> {
        let aix = game.moves.as_ref()?.aix.as_ref()?;
        (self.value == GameValue::Movedata).then_some(&aix.movedata)
    }

    /// The list of numbers of a game.
    pub(super) fn list_of<'a>(&self, game: &'a GameRow) -> Option<&'a [i32]> {
        let aix = game.moves.as_ref()?.aix.as_ref()?;
        match self.value {
            GameValue::Clocks(side) => aix.clocks[side].as_deref(),
            GameValue::Evals => aix.evals.as_deref(),
            _ => None,
        }
    }

    /// The value of a column whose [kind](Self::kind) is one of numbers; of real and signed ones, the bits.
    pub(crate) fn number(&self, game: &GameRow) -> Option<u64> {
        match &self.value {
            GameValue::Number => Some(game.game),
            GameValue::Plies => game.plies.map(u64::from),
            GameValue::Tag(name) if self.kind == Kind::I16 => {
                tag(game, name).parse::<i16>().ok().map(|number| number as u64)
            }
            GameValue::Tag(name) => tag(game, name).parse::<u16>().ok().map(u64::from),
            GameValue::FirstMatch => game.matches.as_ref().map(|matches| matches.first.into()),
            GameValue::LastMatch => game.matches.as_ref().map(|matches| matches.last.into()),
            GameValue::MatchCount => game.matches.as_ref().map(|matches| matches.count.into()),
            GameValue::Base => control(game)?.base().map(u64::from),
            GameValue::Increment => control(game)?.increment().map(u64::from),
            GameValue::MovesPerPeriod => control(game)?.moves_per_period().map(u64::from),
            GameValue::EloDifference => {
                let [white, black] = ["WhiteElo", "BlackElo"].map(|name| tag(game, name).parse::<u16>().ok());
                i16::try_from(i32::from(white?) - i32::from(black?)).ok().map(|difference| difference as u64)
            }
            GameValue::OfWholeGame(place) => game.values.as_ref()?[*place],
            GameValue::UtcTime => time_of_day(game).map(|seconds| 1_000 * seconds),
            GameValue::UtcTimestamp => {
                let days = Date::parse(tag(game, "UTCDate").as_bytes()).and_then(Date::days)?;
                let seconds = 86_400 * i64::from(days) + time_of_day(game)? as i64;
                Some((1_000_000 * seconds) as u64)
            }
            GameValue::InitialTime => tag(game, "TimeControl").split_once('+')?.0.parse().ok(),
            GameValue::IncrementTime => tag(game, "TimeControl").split_once('+')?.1.parse().ok(),
            _ => None,
        }
    }
}

/// A choice of columns of games, in the order of the output.
#[derive(Clone, Debug)]
pub struct GameColumns(Vec<GameColumn>, Option<GameSchema>);

impl From<GameColumn> for GameColumns {
    fn from(column: GameColumn) -> Self {
        Self(vec![column], None)
    }
}

impl GameColumns {
    /// The columns of the usual table of games.
    pub fn usual() -> &'static Self {
        &USUAL
    }
    /// The columns of an output: those with these names, as [`Self::named`] has them, or the usual ones.
    ///
    /// If games are chosen by a [sequence](crate::choose::GameFilter::having) of positions, `has_matches`, then the usual
    /// columns, and all of them, are followed by those that [say where](GameColumn::is_of_matches) it is.
    ///
    /// # Errors
    /// If a column is unknown, or named twice, or says where a sequence is although there is none.
    ///
    /// ```
    /// use lanefish::jobs::GameColumns;
    /// let last = |columns: GameColumns| columns.iter().last().map(|column| column.name().to_owned());
    /// assert_eq!(last(GameColumns::chosen(None, false)?).as_deref(), Some("error"));
    /// assert_eq!(last(GameColumns::chosen(None, true)?).as_deref(), Some("match_count"));
    /// assert_eq!(last(GameColumns::chosen(Some("match_plies,white"), true)?).as_deref(), Some("white"));
    /// assert!(GameColumns::chosen(Some("match_plies,white"), false).is_err());
    /// # Ok::<(), lanefish::table::ColumnsError>(())
    /// ```
    pub fn chosen(names: Option<&str>, has_matches: bool) -> Result<Self, ColumnsError> {
        let columns = names.map_or_else(|| Ok(Self::usual().clone()), Self::named)?;
        let of_matches = columns.iter().find(|column| column.is_of_matches()).map(|column| column.name().to_owned());
        if let Some(column) = of_matches.filter(|_| !has_matches) {
            return Err(ColumnsError::WithoutHaving(column));
        }
        let has_all = names.is_none_or(|names| names.split(',').any(|name| name.trim() == ALL_NAMES));
        Ok(if has_matches && has_all { columns.with_matches() } else { columns })
    }
    /// The same columns, and then those that say where the [sequence](crate::choose::GameFilter::having) is by which games
    /// were chosen, as far as they are not among them.
    #[must_use]
    pub fn with_matches(mut self) -> Self {
        let missing = |column: &&GameColumn| self.0.iter().all(|own| own.name != column.name);
        let more: Vec<GameColumn> =
            ALL.iter().filter(|column| column.is_of_matches()).filter(missing).cloned().collect();
        self.0.extend(more);
        self
    }

    /// The same columns, and then the moves in some forms, so that the table can be read as one of games: the last position
    /// is `final_fen`, the first one, unless it is the usual one, `start_fen`, and all tags that Lichess writes have a column.
    ///
    /// ```
    /// use lanefish::games::MoveForms;
    /// use lanefish::jobs::GameColumns;
    /// let columns = GameColumns::named("white,fen")?.with_moves(MoveForms { uci: true, ..MoveForms::NONE });
    /// let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
    /// assert_eq!(names, ["white", "final_fen", "start_fen", "moves"]);
    /// # Ok::<(), lanefish::table::ColumnsError>(())
    /// ```
    #[must_use]
    pub fn with_moves(mut self, forms: MoveForms) -> Self {
        let column = |name: &'static str, kind, meaning: &'static str, value| GameColumn {
            name: name.into(),
            kind,
            meaning: meaning.into(),
            value,
        };
        let is_usual = self.0.iter().filter(|column| column.is_usual()).count() == USUAL.0.len();
        for column in &mut self.0 {
            match column.value {
                GameValue::Fen => column.name = "final_fen".into(),
                // A column `time` would be read as the tag Time.
                GameValue::Tag(ref tag) if tag == "UTCTime" && column.name == "time" => column.name = "utc_time".into(),
                _ => {}
            }
        }
        if is_usual {
            self.0.extend(MORE_TAGS.map(|(tag, name, kind)| GameColumn {
                name: name.into(),
                kind,
                meaning: format!("the tag {tag} of the game").into(),
                value: GameValue::Tag(tag.into()),
            }));
        }
        let start = "the first position, unless it is the usual one";
        self.0.push(column("start_fen", Kind::Text, start, GameValue::Start));
        let meaning = "what follows the tags in PGN, in one line: moves, comments, result";
        self.0.extend(forms.movetext.then(|| column("movetext", Kind::Text, meaning, GameValue::Movetext)));
        let meaning = "the moves of the main line in UCI; none of a damaged game";
        self.0.extend(forms.uci.then(|| column("moves", Kind::Text, meaning, GameValue::Uci)));
        let meaning = "the moves of the main line in standard algebraic notation; none of a damaged game";
        self.0.extend(forms.san.then(|| column("moves_san", Kind::Text, meaning, GameValue::San)));
        if forms.aix {
            self.0.extend(hub_and_aix_schemas::columns_of_aix_moves());
        }
        self
    }
    /// The columns of a table as others publish it, with the same names and types.
    pub fn of_schema(schema: GameSchema) -> Self {
        Self(hub_and_aix_schemas::columns(schema), Some(schema))
    }
    /// What becomes of a game: whether a table with these columns can hold it.
    pub(crate) fn judge(&self, game: &GameRow) -> GameVerdict {
        self.1.map_or(GameVerdict::Take, |schema| schema.judge(game))
    }
    /// The forms of moves among them.
    pub(crate) fn move_forms(&self) -> MoveForms {
        let has = |value| self.0.iter().any(|column| column.value == value);
        MoveForms {
            movetext: has(GameValue::Movetext),
            uci: has(GameValue::Uci),
            san: has(GameValue::San),
            aix: has(GameValue::Movedata),
        }
    }

    /// The names of the tags that they read; `None` if they may read all of them.
    pub(crate) fn tags(&self) -> Option<Vec<Arc<str>>> {
        let mut tags = Vec::new();
        for column in &self.0 {
            match &column.value {
                GameValue::Tag(name) => tags.push(Arc::from(&**name)),
                GameValue::Base | GameValue::Increment | GameValue::MovesPerPeriod => {
                    tags.push("TimeControl".into());
                }
                GameValue::EloDifference => tags.extend(["WhiteElo".into(), "BlackElo".into()]),
                GameValue::Tags => return None,
                GameValue::Start => tags.push("FEN".into()),
                GameValue::ResultOrStar => tags.push("Result".into()),
                GameValue::LichessGame => tags.push("Site".into()),
                GameValue::LichessTournament => tags.push("Event".into()),
                GameValue::UtcTime => tags.push("UTCTime".into()),
                GameValue::UtcTimestamp => tags.extend(["UTCDate".into(), "UTCTime".into()]),
                GameValue::InitialTime | GameValue::IncrementTime => tags.push("TimeControl".into()),
                _ => {}
            }
        }
        if !self.move_forms().is_none() {
            tags.extend(["FEN".into(), "Variant".into()]);
        }
        Some(tags)
    }

    /// What they need of records.
    pub(crate) fn needs(&self) -> Needs {
        let found = self.0.iter().filter(|column| matches!(column.value, GameValue::OfWholeGame(_)));
        found.filter_map(|column| ChosenColumn::named(&column.name)).map(|column| column.needs()).collect()
    }

    /// Names separated by commas; `all` stands for all that have a name of their own, except those [of
    /// matches](GameColumn::is_of_matches), and `tag:NAME` is any tag.
    ///
    /// # Errors
    /// If a column is unknown, or named twice.
    ///
    /// ```
    /// use lanefish::jobs::GameColumns;
    /// let columns = GameColumns::named("white,black,tag:Annotator").unwrap();
    /// let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
    /// assert_eq!(names, ["white", "black", "tag:Annotator"]);
    /// assert!(GameColumns::named("white,legal_moves").is_err());
    /// ```
    pub fn named(names: &str) -> Result<Self, ColumnsError> {
        let mut columns = Vec::new();
        for name in names.split(',').map(str::trim) {
            if name == ALL_NAMES {
                columns.extend(ALL.iter().filter(|column| !column.is_of_matches()).cloned());
            } else {
                columns.push(GameColumn::named(name).ok_or_else(|| ColumnsError::Unknown(name.to_owned()))?);
            }
        }
        let mut seen = HashSet::new();
        match columns.iter().find(|column| !seen.insert(column.name())) {
            Some(column) => Err(ColumnsError::Twice(column.name().to_owned())),
            None => Ok(Self(columns, None)),
        }
    }

    /// The columns.
    pub fn iter(&self) -> impl Iterator<Item = &GameColumn> {
        self.0.iter()
    }
}

/// The seconds of the tag UTCTime.
fn time_of_day(game: &GameRow) -> Option<u64> {
    let mut parts = tag(game, "UTCTime").split(':').map(|part| part.parse::<u64>().ok());
    let [hours, minutes, seconds] = [parts.next()??, parts.next()??, parts.next()??];
    let is_time = hours < 24 && minutes < 60 && seconds < 60 && parts.next().is_none();
    is_time.then_some(3_600 * hours + 60 * minutes + seconds)
}

/// The part of an address after a name, which is letters and digits.
fn last_part<'a>(address: &'a str, before: &str) -> &'a str {
    let part = address.find(before).map_or("", |at| &address[at + before.len()..]);
    if part.bytes().all(|byte| byte.is_ascii_alphanumeric()) { part } else { "" }
}

/// How the final position ends the game, if it does.
pub(super) fn outcome(game: &GameRow) -> &'static str {
    match &game.last {
        Some(last) if last.is_checkmate() => "checkmate",
        Some(last) if last.is_stalemate() => "stalemate",
        _ => "",
    }
}

/// The time control of a game.
fn control(game: &GameRow) -> Option<Control> {
    Control::parse(tag(game, "TimeControl").as_bytes())
}

fn tag<'a>(game: &'a GameRow, name: &str) -> &'a str {
    let last = |is_it: &dyn Fn(&str) -> bool| game.tags.iter().rev().find(|&(other, _)| is_it(other));
    // The names of known tags may be in another case.
    let found = last(&|other| other == name).or_else(|| {
        let is_known = OF_TAGS.iter().any(|(known, _)| *known == name);
        last(&|other| is_known && other.eq_ignore_ascii_case(name))
    });
    found.map_or("", |(_, value)| value)
}

/// Appends all tags as a JSON object. If a tag occurs twice, the last value is written, at the place of the first.
pub(super) fn write_tags(game: &GameRow, text: &mut Vec<u8>) {
    let last: HashMap<&str, &str> = game.tags.iter().collect();
    let mut written = HashSet::new();
    text.push(b'{');
    for (name, _) in game.tags.iter() {
        if written.insert(name) {
            if written.len() > 1 {
                text.push(b',');
            }
            write_json_string(name, text);
            text.push(b':');
            write_json_string(last[name], text);
        }
    }
    text.push(b'}');
}
