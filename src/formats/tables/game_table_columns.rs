//! Rows of tables that are games: a column of moves, and columns of tags.
//!
//! The moves are movetext (what follows the tags in PGN), moves alone, in SAN or in UCI, as a text or as a list of texts, or
//! the `movedata` of Aix, which has clocks and evaluations in lists of numbers beside it. Columns named as tags of PGN
//! are the tags, whatever the case of their letters, and with or without `_`. Numbers, dates and times are written as PGN
//! writes them: a rating 1028.0 as `1028`, a difference of ratings 5 as `+5`, a day as `2025.05.01`. Tags are read for the
//! fields and options of a run only.

use super::RowKind;
use super::column_map::{Column, Kind, all_of, note_on};
use super::decode::{Raws, ReadColumns};
use super::detect_games_or_positions::ReadRows;
use super::dictionary_values;
use super::parquet_dictionary_lists::NumberedLists;
use super::values::{Floats, Lists, Numbers, Texts};
use crate::chess::Validity;
use crate::error::Damage;
use crate::formats::pgn::{
    BadList, Form, PlyValues, RowMoves, SquareRows, SquareWord, TagSections, decode_rows, unread_level,
};
use crate::formats::{Chunk, DecodeOptions, Decoded};
use crate::games::Date;
use crate::table::{Field, Fields, TAGS};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date64Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use std::ops::Range;
use std::sync::Arc;

/// The names of columns that hold the moves of games, the first that a table has counts, and their forms.
pub(super) const MOVES: [(&str, Form); 9] = [
    ("movedata", Form::Aix),
    ("movetext", Form::Movetext),
    ("pgn", Form::Movetext),
    ("moves", Form::Moves),
    ("moves_uci", Form::Moves),
    ("uci", Form::Moves),
    ("moves_san", Form::Moves),
    ("san", Form::Moves),
    ("transcript", Form::Moves),
];
/// The names of columns that hold the FENs of the positions in which games begin.
const STARTS: [&str; 3] = ["start_fen", "initial_fen", "starting_fen"];
/// Bytes of the column of moves that a part should have, for each form: few enough that what is made of them stays in
/// the caches, and enough games to fill the lanes.
const BYTES_OF_MOVETEXT_PART: u64 = 1 << 20;
const BYTES_OF_MOVES_PART: u64 = 1 << 18;
const BYTES_OF_AIX_PART: u64 = 1 << 16;

/// The names of tags, in the order in which PGN has them.
const TAG_NAMES: [&str; 50] = [
    "Event",
    "Site",
    "Date",
    "Round",
    "White",
    "Black",
    "Result",
    "GameId",
    "UTCDate",
    "UTCTime",
    "WhiteElo",
    "BlackElo",
    "WhiteRatingDiff",
    "BlackRatingDiff",
    "WhiteTitle",
    "BlackTitle",
    "WhiteTeam",
    "BlackTeam",
    "WhiteFideId",
    "BlackFideId",
    "Variant",
    "ECO",
    "NIC",
    "Opening",
    "Variation",
    "SubVariation",
    "TimeControl",
    "Termination",
    "SetUp",
    "PlyCount",
    "Annotator",
    "Time",
    "EventDate",
    "EventSponsor",
    "EventType",
    "EventRounds",
    "EventCountry",
    "Section",
    "Stage",
    "Board",
    "Mode",
    "Source",
    "SourceDate",
    "WhiteType",
    "BlackType",
    "WhiteNA",
    "BlackNA",
    "StudyName",
    "ChapterName",
    "Remark",
];

/// Other names of tags.
const SYNONYMS: [(&str, &str); 2] = [("white_rating", "WhiteElo"), ("black_rating", "BlackElo")];

/// Whether a column has a name, apart from the case of letters and `_`.
pub(super) fn is_named(column: &Column, name: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = u8> {
        name.bytes().filter(|&byte| byte != b'_').map(|byte| byte.to_ascii_lowercase())
    }
    letters(&column.name).eq(letters(name))
}

/// The tag that the name of a column means.
fn tag_of(column: &Column) -> Option<&'static str> {
    let synonym = SYNONYMS.iter().find(|(name, _)| is_named(column, name)).map(|&(_, tag)| tag);
    synonym.or_else(|| TAG_NAMES.into_iter().find(|name| is_named(column, name)))
}

/// Whether the values of a column can be those of a tag.
fn can_be_tag(kind: Kind) -> bool {
    kind.is_text() || matches!(kind, Kind::Integer | Kind::Float | Kind::Date | Kind::Time | Kind::Null)
}

/// The form of the moves in a column, if its name and type are those of one.
pub(super) fn form_of(column: &Column) -> Option<Form> {
    let (_, form) = MOVES.into_iter().find(|(name, _)| is_named(column, name))?;
    let fits = match form {
        Form::Aix => column.kind == Kind::Bytes,
        Form::Movetext => column.kind.is_text(),
        Form::Moves | Form::Any => column.kind.is_text() || column.kind == Kind::TextList,
    };
    fits.then_some(form)
}

/// The columns of a table with a game in each row.
#[derive(Debug)]
pub(super) struct GameTableColumns {
    moves: usize,
    form: Form,
    is_list: bool,
    /// A description of that column.
    described: String,
    /// The tags that are read, in the order of PGN.
    tags: Vec<TagColumn>,
    beside: Option<Beside>,
    /// The columns that are read as bytes.
    texts: Vec<usize>,
    /// All tags that have a column.
    known: Vec<Box<str>>,
    fields: Fields,
    note: Option<String>,
}

/// A tag, and where its values are.
#[derive(Clone, Debug)]
struct TagColumn {
    tag: Box<str>,
    column: usize,
    made: Made,
}

/// How the value of a tag is made from that of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    AsItIs,
    /// The address of a game of Lichess, from its name.
    LichessAddress,
    /// A time control, from the time at the beginning, and the increment in this column.
    TimeControl(usize),
}

/// The columns that Aix has beside the moves.
#[derive(Clone, Debug)]
struct Beside {
    clocks: [Option<usize>; 2],
    evals: Option<usize>,
    plies: Option<usize>,
}

impl Beside {
    fn columns(&self) -> impl Iterator<Item = usize> {
        self.clocks.into_iter().chain([self.evals, self.plies]).flatten()
    }
}

/// The tags that columns of Aix have under names of its own.
fn tags_of_aix(columns: &[Column]) -> Vec<TagColumn> {
    let find = |name: &str, fits: fn(Kind) -> bool| {
        columns.iter().position(|column| is_named(column, name) && (fits(column.kind) || column.kind == Kind::Null))
    };
    let is_integer = |kind| kind == Kind::Integer;
    let tag = |tag: &str, column, made| TagColumn { tag: tag.into(), column, made };
    let mut tags = Vec::new();
    tags.extend(find("lichess_id", Kind::is_text).map(|at| tag("Site", at, Made::LichessAddress)));
    if let Some((initial, increment)) = find("time_initial", is_integer).zip(find("time_increment", is_integer)) {
        tags.push(tag("TimeControl", initial, Made::TimeControl(increment)));
    }
    if let Some(at) = find("utc_timestamp", |kind| kind == Kind::Time) {
        tags.extend(["UTCDate", "UTCTime"].map(|name| tag(name, at, Made::AsItIs)));
    }
    tags
}

impl GameTableColumns {
    /// Chooses among the columns of a file.
    ///
    /// # Errors
    /// If there is no column of moves, or a column that the options name is missing or does not fit.
    pub(super) fn of(columns: &[Column], options: &DecodeOptions) -> Result<Self, String> {
        let named = |name: &str, option: &str, fits: fn(Kind) -> bool| {
            let found = columns.iter().position(|column| column.name == name);
            match found.map(|at| (at, &columns[at])) {
                Some((at, column)) if fits(column.kind) => Ok(at),
                Some((_, column)) => {
                    let (column, all) = (column.described(), all_of(columns));
                    Err(format!("cannot be read: the column {column} of {option} does not hold text; {all}"))
                }
                None => Err(format!("has no column `{name}`, which {option} names; {}", all_of(columns))),
            }
        };
        let find = |name: &str| columns.iter().position(|column| is_named(column, name) && column.kind.is_text());
        let moves = match &options.moves_column {
            Some(name) => named(name, "--moves-column", |kind| kind.is_text() || kind == Kind::TextList)?,
            None => MOVES
                .into_iter()
                .find_map(|(name, _)| {
                    columns.iter().position(|column| is_named(column, name) && form_of(column).is_some())
                })
                .ok_or_else(|| format!("has no column of moves; {}; name it with --moves-column", all_of(columns)))?,
        };
        let is_list = columns[moves].kind == Kind::TextList;
        let any = if is_list { Form::Moves } else { Form::Any };
        let form = form_of(&columns[moves]).unwrap_or(any);
        let start = match &options.start_column {
            Some(name) => Some(named(name, "--start-column", Kind::is_text)?),
            None if form == Form::Aix => None,
            None => STARTS.into_iter().find_map(find).or_else(|| {
                let fen = columns.iter().position(|column| column.name == "FEN" && column.kind.is_text());
                fen.filter(|_| form == Form::Movetext)
            }),
        };
        let (mut tags, mut beside) = (Vec::new(), None);
        if form == Form::Aix {
            tags = tags_of_aix(columns);
            let find = |name: &str, kind: Kind| {
                columns.iter().position(|column| is_named(column, name) && column.kind == kind)
            };
            beside = Some(Beside {
                clocks: ["clocks_white", "clocks_black"].map(|name| find(name, Kind::IntegerList)),
                evals: find("evals", Kind::IntegerList),
                plies: find("ply_count", Kind::Integer),
            });
        }
        let taken: Vec<usize> = tags
            .iter()
            .flat_map(|tag| [Some(tag.column), if let Made::TimeControl(at) = tag.made { Some(at) } else { None }])
            .flatten()
            .chain(beside.iter().flat_map(Beside::columns))
            .chain([moves])
            .chain(start)
            .collect();
        let mut left = Vec::new();
        for (at, column) in columns.iter().enumerate().filter(|(at, _)| !taken.contains(at)) {
            let asked = || options.tags.iter().find(|name| name.strip_prefix(TAGS.prefix) == Some(&*column.name));
            let tag = tag_of(column).or_else(|| asked().map(|_| &*column.name));
            match tag.filter(|_| can_be_tag(column.kind)) {
                Some(tag) if !tags.iter().any(|known| *known.tag == *tag) => {
                    tags.push(TagColumn { tag: tag.into(), column: at, made: Made::AsItIs });
                }
                _ => left.push(column.described()),
            }
        }
        let place = |tag: &str| TAG_NAMES.iter().position(|name| *name == tag).unwrap_or(TAG_NAMES.len());
        tags.sort_by_key(|tag| (place(&tag.tag), tag.column));
        let known = tags.iter().map(|tag| tag.tag.clone()).collect();
        tags.retain(|tag| is_needed(&tag.tag, options));
        tags.extend(start.map(|column| TagColumn { tag: "FEN".into(), column, made: Made::AsItIs }));
        let is_text = |at: &usize| columns[*at].kind.is_text();
        let texts = tags.iter().map(|tag| tag.column).filter(is_text).chain([moves]).collect();
        Ok(Self {
            moves,
            form,
            is_list,
            described: columns[moves].described(),
            tags,
            beside,
            texts,
            known,
            fields: options.fields,
            note: note_on(&left),
        })
    }
}

/// Whether a run with these options reads a tag.
fn is_needed(tag: &str, options: &DecodeOptions) -> bool {
    let of_rows = || match &options.row_tags {
        None => true,
        Some(names) => names.iter().any(|name| name.eq_ignore_ascii_case(tag)),
    };
    let fields: &[Field] = match tag {
        // They matter for the moves and the result.
        "Variant" | "Result" | "SetUp" => return true,
        "White" => &[Field::White],
        "Black" => &[Field::Black],
        "Site" => &[Field::Site],
        "Date" | "UTCDate" => &[Field::Date],
        "WhiteElo" => &[Field::WhiteElo],
        "BlackElo" => &[Field::BlackElo],
        "ECO" => &[Field::Eco],
        "Opening" => &[Field::Opening],
        "TimeControl" => &[Field::TimeControl],
        "Termination" => &[Field::Termination],
        _ => &[],
    };
    options.games.is_some()
        || options.lost_tags
        || options.game_rows && of_rows()
        || fields.iter().any(|&field| options.fields.contains(field))
        || options.tags.iter().any(|name| name.strip_prefix(TAGS.prefix).unwrap_or(name).eq_ignore_ascii_case(tag))
}

impl ReadRows for GameTableColumns {
    fn kind(&self) -> RowKind {
        let form = match self.form {
            Form::Movetext => "as movetext ",
            Form::Moves if self.is_list => "as lists of moves ",
            Form::Moves => "as moves ",
            Form::Any => "",
            Form::Aix => "as Aix ",
        };
        RowKind { has_games: true, evidence: format!("games {form}in the column {}", self.described) }
    }
    fn columns(&self) -> Vec<usize> {
        let mut columns = vec![self.moves];
        let more = |tag: &TagColumn| if let Made::TimeControl(at) = tag.made { Some(at) } else { None };
        let tags = self.tags.iter().flat_map(|tag| [Some(tag.column), more(tag)]).flatten();
        for column in tags.chain(self.beside.iter().flat_map(Beside::columns)) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }
    fn reads_bytes(&self, column: usize) -> bool {
        self.texts.contains(&column)
    }
    fn bytes_of_part(&self) -> Option<u64> {
        Some(match self.form {
            Form::Movetext | Form::Any => BYTES_OF_MOVETEXT_PART,
            Form::Moves => BYTES_OF_MOVES_PART,
            Form::Aix => BYTES_OF_AIX_PART,
        })
    }
    fn fields(&self) -> Fields {
        self.fields
    }
    fn note(&self) -> Option<String> {
        self.note.clone()
    }
    fn dropped_values(&self) -> &[(Field, String)] {
        &[]
    }
    fn decode(
        &self,
        columns: &dyn ReadColumns,
        rows: Range<u64>,
        first: u64,
        chunk: &Chunk,
        options: &DecodeOptions,
    ) -> Decoded {
        let count = rows.end - rows.start;
        let of_group = rows.start - first..rows.end - first;
        self.read(columns, of_group, rows.start, chunk, options).unwrap_or_else(|what| Decoded {
            damage: vec![Damage::at(0, what)],
            records: count,
            games: count,
            ..Decoded::default()
        })
    }
}

impl GameTableColumns {
    fn read(
        &self,
        columns: &dyn ReadColumns,
        rows: Range<u64>,
        first: u64,
        chunk: &Chunk,
        options: &DecodeOptions,
    ) -> Result<Decoded, String> {
        let count = (rows.end - rows.start) as usize;
        // Rejects of positions show the values as they are.
        let may_be_numbers = self.is_list && options.validity != Validity::Strict;
        let numbered = if may_be_numbers { columns.numbered_lists(self.moves, rows.clone()) } else { None };
        let moves = if numbered.is_some() { Vec::new() } else { arrays(columns, self.moves, &rows)? };
        let mut texts: Vec<Option<&[u8]>> = Vec::with_capacity(count);
        let joined = match numbered {
            Some(lists) => Joined::of_numbers(&lists, options.max_record),
            None if self.is_list => Joined::of(&moves, options.max_record)?,
            None => Joined::default(),
        };
        if self.is_list {
            texts.extend(joined.rows.iter().map(|row| joined.text.get(row.clone()?)));
        } else {
            for (_, array) in &moves {
                let values = Texts::of(array).ok_or("the column of moves is not text")?;
                texts.extend((0..array.array.len()).map(|row| values.get(row)));
            }
        }
        if self.form == Form::Aix
            && first == 0
            && let Some(&Some(bytes)) = texts.first()
            && let Some(level) = unread_level(bytes)
        {
            return Err(format!(
                "the movedata of the first row are of the level {level}, which is not read; `recompress(movedata, 0)` \
                 of DuckDB's aixchess makes level Low"
            ));
        }
        let numbers_of = |column: Option<usize>| match column {
            Some(column) => NumberLists::of(&arrays(columns, column, &rows)?),
            None => Ok(NumberLists::default()),
        };
        let beside = match &self.beside {
            None => None,
            Some(Beside { clocks: [white, black], evals, plies }) => {
                let plies = match *plies {
                    Some(column) => integers(&arrays(columns, column, &rows)?)?,
                    None => Vec::new(),
                };
                Some(([numbers_of(*white)?, numbers_of(*black)?, numbers_of(*evals)?], plies))
            }
        };
        let beside = beside.as_ref().map(|([white, black, evals], plies)| {
            let of_row = |row| PlyValues {
                clocks: [white.row(row), black.row(row)],
                evals: evals.row(row),
                plies: plies.get(row).copied().flatten(),
            };
            (0..count).map(of_row).collect()
        });
        let arrays_of = |tag: &TagColumn| -> Result<_, String> {
            let more = match tag.made {
                Made::TimeControl(column) => arrays(columns, column, &rows)?,
                Made::AsItIs | Made::LichessAddress => Vec::new(),
            };
            Ok([arrays(columns, tag.column, &rows)?, more])
        };
        let tags = self.tags.iter().map(arrays_of).collect::<Result<Vec<_>, _>>()?;
        let tags = tags.iter().map(|[first, more]| Some([TagValues::of(first)?, TagValues::of(more)?]));
        let mut tags = tags.collect::<Option<Vec<_>>>().ok_or("a column has another type than its file says")?;
        let mut sections = TagSections::default();
        let mut value = Vec::new();
        for text in &mut texts {
            for (values, tag) in tags.iter_mut().zip(&self.tags) {
                value.clear();
                if tag.write_next(values, &mut value) {
                    sections.push(&tag.tag, &value);
                }
            }
            if let Some(text) = text
                && self.form != Form::Aix
            {
                *text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
                let begins_with_tag = self.form != Form::Moves && text.trim_ascii_start().starts_with(b"[");
                if begins_with_tag && text.len() <= options.max_record {
                    let is_known = |name: &[u8]| self.known.iter().any(|known| known.as_bytes() == name);
                    *text = &text[sections.push_leading(text, is_known)..];
                }
            }
            sections.end_row();
        }
        let row_moves = RowMoves { texts, form: self.form, squares: joined.squares, bad_lists: joined.bad, beside };
        let mut decoded = decode_rows(chunk, first, &row_moves, &sections, options);
        if options.validity == Validity::Strict {
            // Positions may still be rejected.
            decoded.texts = Some(Arc::new(Raws(moves.iter().map(|(_, array)| array.clone()).collect())));
        }
        Ok(decoded)
    }
}

impl TagColumn {
    /// Writes the value of the next row; false if there is none.
    fn write_next(&self, [values, more]: &mut [TagValues<'_>; 2], out: &mut Vec<u8>) -> bool {
        match self.made {
            Made::AsItIs => values.write_next(&self.tag, out),
            Made::LichessAddress => {
                out.extend_from_slice(b"https://lichess.org/");
                values.write_next(&self.tag, out)
            }
            Made::TimeControl(_) => {
                let has_initial = values.write_next(&self.tag, out) || {
                    out.push(b'0');
                    false
                };
                out.push(b'+');
                let has_increment = more.write_next(&self.tag, out);
                match (has_initial, has_increment) {
                    (false, false) => {
                        out.clear();
                        out.push(b'-');
                    }
                    (_, false) => out.push(b'0'),
                    (_, true) => {}
                }
                true
            }
        }
    }
}

/// Lists of moves: by their squares where all of them are words of UCI, and as texts with blanks between the moves.
#[derive(Default)]
struct Joined {
    text: Vec<u8>,
    /// Where the text of each row is; `None` if there is no list.
    rows: Vec<Option<Range<usize>>>,
    squares: SquareRows,
    bad: Vec<BadList>,
}

impl Joined {
    /// Joins the lists of some arrays. Texts longer than `most` bytes are not read to their end.
    fn of(arrays: &[(DataType, dictionary_values::Column)], most: usize) -> Result<Self, String> {
        let mut joined = Self::default();
        for (_, array) in arrays {
            let lists = Lists::of(array).ok_or("the column of moves has no lists")?;
            let elements = lists.texts().ok_or("the lists of moves are not of text")?;
            for row in 0..array.array.len() {
                let places = lists.get(row);
                let words = places.clone().into_iter().flatten();
                let word_of = |place| elements.get(place).map_or(SquareWord::NONE, SquareWord::of);
                match places {
                    _ if joined.squares.push(words.map(word_of), most) => joined.rows.push(Some(0..0)),
                    Some(places) => joined.row(places.map(|place| elements.get(place)), most),
                    None => joined.rows.push(None),
                }
            }
        }
        Ok(joined)
    }

    /// Joins lists of numbers of texts.
    fn of_numbers(lists: &NumberedLists, most: usize) -> Self {
        let mut joined = Self::default();
        let entries = &lists.entries;
        for row in lists.rows() {
            let words = row.unwrap_or_default().iter().map(|&number| entries.word(number));
            match row {
                _ if joined.squares.push(words, most) => joined.rows.push(Some(0..0)),
                Some(numbers) => joined.row(numbers.iter().map(|&number| entries.text(number)), most),
                None => joined.rows.push(None),
            }
        }
        joined
    }

    /// Adds the text of a row.
    fn row<'a>(&mut self, elements: impl Iterator<Item = Option<&'a [u8]>>, most: usize) {
        let start = self.text.len();
        let mut is_good = true;
        for (number, element) in elements.enumerate() {
            let what = match element {
                None => "is null",
                Some([]) => "is empty",
                Some(text) if text.iter().any(u8::is_ascii_whitespace) => "has a blank",
                Some(_) => "",
            };
            if is_good && !what.is_empty() {
                is_good = false;
                let before = self.text.len() - start;
                self.bad.push(BadList { row: self.rows.len(), element: number, what, before });
            }
            if number > 0 {
                self.text.push(b' ');
            }
            self.text.extend_from_slice(element.unwrap_or_default());
            if self.text.len() - start > most {
                break;
            }
        }
        self.rows.push(Some(start..self.text.len()));
    }
}

/// Lists of whole numbers.
#[derive(Debug, Default)]
struct NumberLists {
    numbers: Vec<i32>,
    /// The end of each row's list.
    ends: Vec<usize>,
}

impl NumberLists {
    /// A list that is missing is empty.
    fn of(arrays: &[(DataType, dictionary_values::Column)]) -> Result<Self, String> {
        let mut all = Self::default();
        for (_, array) in arrays {
            let lists = Lists::of(array).ok_or("a column of clocks or evaluations has no lists")?;
            let numbers = Numbers::of_primitive(lists.values).ok_or("its lists are not of whole numbers")?;
            for row in 0..array.array.len() {
                let number = |place| numbers.get(place).and_then(|number| i32::try_from(number).ok());
                all.numbers
                    .extend(lists.get(row).into_iter().flatten().map(|at| number(at).unwrap_or(PlyValues::NONE)));
                all.ends.push(all.numbers.len());
            }
        }
        Ok(all)
    }

    fn row(&self, row: usize) -> &[i32] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(0));
        self.ends.get(row).and_then(|&end| self.numbers.get(start..end)).unwrap_or_default()
    }
}

/// Whole numbers that are not negative.
fn integers(arrays: &[(DataType, dictionary_values::Column)]) -> Result<Vec<Option<u64>>, String> {
    let mut all = Vec::new();
    for (_, array) in arrays {
        let numbers = Numbers::of(array).ok_or("a column is not of whole numbers")?;
        all.extend((0..array.array.len()).map(|row| numbers.get(row).and_then(|number| u64::try_from(number).ok())));
    }
    Ok(all)
}

/// The arrays with some rows of a column, and their types.
fn arrays(
    columns: &dyn ReadColumns,
    column: usize,
    rows: &Range<u64>,
) -> Result<Vec<(DataType, dictionary_values::Column)>, String> {
    let mut arrays = Vec::new();
    columns.read(column, rows.clone(), &mut |column| {
        arrays.push((column.array.data_type().clone(), with_numbers(column)));
        Ok(())
    })?;
    Ok(arrays)
}

/// An array with whole numbers in place of times, or of dates that are not days.
fn with_numbers(column: &dictionary_values::Column) -> dictionary_values::Column {
    let array = &column.array;
    macro_rules! numbers {
        ($of:ty as $as:ty) => {
            array.as_primitive_opt::<$of>().map(|array| Arc::new(array.reinterpret_cast::<$as>()) as ArrayRef)
        };
    }
    let numbers = match array.data_type() {
        DataType::Date64 => numbers!(Date64Type as Int64Type),
        DataType::Time32(TimeUnit::Second) => numbers!(Time32SecondType as Int32Type),
        DataType::Time32(_) => numbers!(Time32MillisecondType as Int32Type),
        DataType::Time64(TimeUnit::Microsecond) => numbers!(Time64MicrosecondType as Int64Type),
        DataType::Time64(_) => numbers!(Time64NanosecondType as Int64Type),
        DataType::Timestamp(TimeUnit::Second, _) => numbers!(TimestampSecondType as Int64Type),
        DataType::Timestamp(TimeUnit::Millisecond, _) => numbers!(TimestampMillisecondType as Int64Type),
        DataType::Timestamp(TimeUnit::Microsecond, _) => numbers!(TimestampMicrosecondType as Int64Type),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => numbers!(TimestampNanosecondType as Int64Type),
        _ => None,
    };
    match numbers {
        Some(array) => dictionary_values::Column { array, words: None },
        None => column.clone(),
    }
}

/// The values of an array, of one type.
enum Values<'a> {
    Texts(Texts<'a>),
    Integers(Numbers<'a>),
    Floats(Floats<'a>),
    Days(Numbers<'a>),
    /// This many units make a second; they count from 1970, or from midnight.
    Moments {
        numbers: Numbers<'a>,
        in_second: i64,
        has_date: bool,
    },
    Nothing,
}

impl<'a> Values<'a> {
    fn of(data: &DataType, column: &'a dictionary_values::Column) -> Option<Self> {
        if let Some(texts) = Texts::of(column) {
            return Some(Self::Texts(texts));
        }
        let numbers = || Numbers::of(column);
        let in_second = |unit: &TimeUnit| match unit {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => 1_000_000_000,
        };
        let moments = |in_second, has_date| Some(Self::Moments { numbers: numbers()?, in_second, has_date });
        match data {
            DataType::Null => Some(Self::Nothing),
            DataType::Date32 => numbers().map(Self::Days),
            DataType::Date64 => moments(1_000, true),
            DataType::Time32(unit) | DataType::Time64(unit) => moments(in_second(unit), false),
            DataType::Timestamp(unit, _) => moments(in_second(unit), true),
            DataType::Float32 | DataType::Float64 => Floats::of(column).map(Self::Floats),
            _ => numbers().map(Self::Integers),
        }
    }

    /// Writes the value of a row as PGN has it in this tag; false if there is none.
    fn write(&self, row: usize, tag: &str, out: &mut Vec<u8>) -> bool {
        let is_difference = tag.ends_with("RatingDiff");
        let shown = match self {
            Self::Texts(texts) => {
                let Some(text) = texts.get(row) else { return false };
                let start = out.len();
                out.extend_from_slice(text);
                if tag.ends_with("Date") {
                    to_points(&mut out[start..]);
                }
                return true;
            }
            Self::Integers(numbers) => numbers.get(row).map(|number| whole(number, is_difference)),
            Self::Floats(floats) => floats.get(row).map(|number| match number as i128 {
                integer if integer as f64 == number => whole(integer, is_difference),
                _ => number.to_string(),
            }),
            Self::Days(numbers) => numbers.get(row).and_then(date),
            Self::Moments { numbers, in_second, has_date } => numbers.get(row).map(|number| {
                let seconds = number.div_euclid((*in_second).into());
                let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
                let time = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
                match (has_date, date(day)) {
                    (true, Some(date)) if tag.ends_with("Date") => date,
                    (true, Some(date)) if !tag.ends_with("Time") => format!("{date} {time}"),
                    _ => time,
                }
            }),
            Self::Nothing => None,
        };
        out.extend(shown.iter().flat_map(|text| text.bytes()));
        shown.is_some()
    }
}

/// A whole number; a difference has a sign.
fn whole(number: i128, is_difference: bool) -> String {
    if is_difference { format!("{number:+}") } else { number.to_string() }
}

/// A day as PGN writes it, counted from 1970.
fn date(days: i128) -> Option<String> {
    i32::try_from(days).ok().and_then(Date::of_days).map(|date| date.to_string())
}

/// Replaces the dashes of a date by points: `2025-05-01`.
fn to_points(date: &mut [u8]) {
    if let [.., b'-', _, _, b'-', _, _] = date
        && date.len() == 10
    {
        (date[4], date[7]) = (b'.', b'.');
    }
}

/// The values of a column, one row after the other.
struct TagValues<'a> {
    arrays: std::vec::IntoIter<(Values<'a>, usize)>,
    /// The array of the next row, the row in it, and its length.
    current: Option<(Values<'a>, usize)>,
    row: usize,
}

impl<'a> TagValues<'a> {
    /// `None` if some array is of a type that no column of tags has.
    fn of(arrays: &'a [(DataType, dictionary_values::Column)]) -> Option<Self> {
        let arrays = arrays.iter().map(|(data, column)| Some((Values::of(data, column)?, column.array.len())));
        Some(Self { arrays: arrays.collect::<Option<Vec<_>>>()?.into_iter(), current: None, row: 0 })
    }

    /// Writes the value of the next row as PGN has it in this tag; false if there is none.
    fn write_next(&mut self, tag: &str, out: &mut Vec<u8>) -> bool {
        while self.current.as_ref().is_none_or(|(_, len)| self.row >= *len) {
            let Some(next) = self.arrays.next() else { return false };
            (self.current, self.row) = (Some(next), 0);
        }
        let row = self.row;
        self.row += 1;
        self.current.as_ref().is_some_and(|(values, _)| values.write(row, tag, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Date32Array, Float64Array, Int16Array, StringArray, Time32SecondArray, TimestampMillisecondArray,
    };

    fn column(name: &str, data: &DataType) -> Column {
        Column { name: name.to_owned(), kind: Kind::of(data), data: data.to_string() }
    }

    #[test]
    fn names_of_columns_are_compared_by_their_letters() {
        for (name, tag) in [
            ("WhiteElo", Some("WhiteElo")),
            ("white_elo", Some("WhiteElo")),
            ("whiteelo", Some("WhiteElo")),
            ("White_Rating", Some("WhiteElo")),
            ("utc_date", Some("UTCDate")),
            ("eco", Some("ECO")),
            ("white_rating_diff", Some("WhiteRatingDiff")),
            ("whiteelo2", None),
            ("id", None),
        ] {
            assert_eq!(tag_of(&column(name, &DataType::Utf8)), tag, "{name}");
        }
        assert!(TAG_NAMES.iter().all(|name| tag_of(&column(name, &DataType::Utf8)) == Some(*name)));
    }

    #[test]
    fn values_are_written_as_in_pgn() {
        let arrays: [(&str, ArrayRef, [Option<&str>; 4]); 9] = [
            (
                "WhiteElo",
                Arc::new(Int16Array::from(vec![Some(1028), None, Some(0), Some(-7)])),
                [Some("1028"), None, Some("0"), Some("-7")],
            ),
            (
                "BlackElo",
                Arc::new(Float64Array::from(vec![Some(1028.0), Some(f64::NAN), Some(10.5), None])),
                [Some("1028"), None, Some("10.5"), None],
            ),
            (
                "WhiteRatingDiff",
                Arc::new(Int16Array::from(vec![Some(5), Some(0), Some(-12), None])),
                [Some("+5"), Some("+0"), Some("-12"), None],
            ),
            (
                "UTCDate",
                Arc::new(Date32Array::from(vec![Some(20_209), Some(0), Some(-1), None])),
                [Some("2025.05.01"), Some("1970.01.01"), Some("1969.12.31"), None],
            ),
            (
                "Date",
                Arc::new(StringArray::from(vec![Some("2025-05-01"), Some("2025.??.??"), Some(""), None])),
                [Some("2025.05.01"), Some("2025.??.??"), Some(""), None],
            ),
            (
                "UTCTime",
                Arc::new(Time32SecondArray::from(vec![Some(6), Some(86_399), Some(3600), None])),
                [Some("00:00:06"), Some("23:59:59"), Some("01:00:00"), None],
            ),
            (
                "UTCTime",
                Arc::new(TimestampMillisecondArray::from(vec![Some(1_746_057_606_500), Some(-1), None, None])),
                [Some("00:00:06"), Some("23:59:59"), None, None],
            ),
            (
                "UTCDate",
                Arc::new(TimestampMillisecondArray::from(vec![Some(1_746_057_606_500), Some(-1), None, None])),
                [Some("2025.05.01"), Some("1969.12.31"), None, None],
            ),
            (
                "Event",
                Arc::new(TimestampMillisecondArray::from(vec![Some(1_746_057_606_500), None, None, None])),
                [Some("2025.05.01 00:00:06"), None, None, None],
            ),
        ];
        for (tag, array, expected) in arrays {
            let data = array.data_type().clone();
            let halves = [array.slice(0, 1), array.slice(1, 0), array.slice(1, 3)];
            let halves: Vec<_> = halves
                .into_iter()
                .map(|array| (data.clone(), with_numbers(&dictionary_values::Column { array, words: None })))
                .collect();
            let mut values = TagValues::of(&halves).expect("types of tags");
            for expected in expected {
                let mut out = Vec::new();
                let found = values.write_next(tag, &mut out);
                assert_eq!(found.then(|| String::from_utf8(out).unwrap()).as_deref(), expected, "{tag}");
            }
        }
    }
}
