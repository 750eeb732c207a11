//! Rows of tables that are games: a column of moves, and columns of tags.
//!
//! The moves are movetext (what follows the tags in PGN), or moves alone, in SAN or in UCI. Columns named as tags of PGN
//! are the tags, whatever the case of their letters, and with or without `_`. Numbers, dates and times are written as PGN
//! writes them: a rating 1028.0 as `1028`, a difference of ratings 5 as `+5`, a day as `2025.05.01`. Tags are read for the
//! fields and options of a run only.

use super::RowKind;
use super::column_map::{Column, Kind, all_of, note_on};
use super::decode::{Raws, ReadColumns};
use super::detect_games_or_positions::ReadRows;
use super::dictionary_values;
use super::values::{Floats, Numbers, Texts};
use crate::chess::Validity;
use crate::error::Damage;
use crate::formats::pgn::{Form, TagSections, decode_rows};
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
pub(super) const MOVES: [(&str, Form); 8] = [
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
/// Bytes of text that a part should have.
const BYTES_OF_PART: u64 = 1 << 20;

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

/// The columns of a table with a game in each row.
#[derive(Debug)]
pub(super) struct GameTableColumns {
    moves: usize,
    form: Form,
    /// A description of that column.
    described: String,
    /// The tags that are read, each with its column, in the order of PGN.
    tags: Vec<(Box<str>, usize)>,
    /// The columns that are read as bytes.
    texts: Vec<usize>,
    /// All tags that have a column.
    known: Vec<Box<str>>,
    fields: Fields,
    note: Option<String>,
}

impl GameTableColumns {
    /// Chooses among the columns of a file.
    ///
    /// # Errors
    /// If there is no column of moves, or a column that the options name is missing or does not fit.
    pub(super) fn of(columns: &[Column], options: &DecodeOptions) -> Result<Self, String> {
        let text = |name: &str, option: &str| {
            let found = columns.iter().position(|column| column.name == name);
            match found.map(|at| (at, &columns[at])) {
                Some((at, column)) if column.kind.is_text() => Ok(at),
                Some((_, column)) => {
                    let (column, all) = (column.described(), all_of(columns));
                    Err(format!("cannot be read: the column {column} of {option} does not hold text; {all}"))
                }
                None => Err(format!("has no column `{name}`, which {option} names; {}", all_of(columns))),
            }
        };
        let find = |name: &str| columns.iter().position(|column| is_named(column, name) && column.kind.is_text());
        let moves = match &options.moves_column {
            Some(name) => text(name, "--moves-column")?,
            None => MOVES
                .into_iter()
                .find_map(|(name, _)| find(name))
                .ok_or_else(|| format!("has no column of moves; {}; name it with --moves-column", all_of(columns)))?,
        };
        let known = MOVES.into_iter().find(|(name, _)| is_named(&columns[moves], name));
        let form = known.map_or(Form::Any, |(_, form)| form);
        let start = match &options.start_column {
            Some(name) => Some(text(name, "--start-column")?),
            None => STARTS.into_iter().find_map(find).or_else(|| {
                let fen = columns.iter().position(|column| column.name == "FEN" && column.kind.is_text());
                fen.filter(|_| form == Form::Movetext)
            }),
        };
        let mut tags: Vec<(Box<str>, usize)> = Vec::new();
        let mut left = Vec::new();
        for (at, column) in columns.iter().enumerate().filter(|&(at, _)| at != moves && Some(at) != start) {
            let asked = || options.tags.iter().find(|name| name.strip_prefix(TAGS.prefix) == Some(&*column.name));
            let tag = tag_of(column).or_else(|| asked().map(|_| &*column.name));
            match tag.filter(|_| can_be_tag(column.kind)) {
                Some(tag) if !tags.iter().any(|(known, _)| **known == *tag) => tags.push((tag.into(), at)),
                _ => left.push(column.described()),
            }
        }
        let place = |tag: &str| TAG_NAMES.iter().position(|name| *name == tag).unwrap_or(TAG_NAMES.len());
        tags.sort_by_key(|(tag, at)| (place(tag), *at));
        let known = tags.iter().map(|(tag, _)| tag.clone()).collect();
        tags.retain(|(tag, _)| is_needed(tag, options));
        tags.extend(start.map(|at| ("FEN".into(), at)));
        let is_text = |at: &usize| columns[*at].kind.is_text();
        let texts = tags.iter().map(|&(_, at)| at).filter(is_text).chain([moves]).collect();
        Ok(Self {
            moves,
            form,
            described: columns[moves].described(),
            tags,
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
            Form::Moves => "as moves ",
            Form::Any => "",
        };
        RowKind { has_games: true, evidence: format!("games {form}in the column {}", self.described) }
    }
    fn columns(&self) -> Vec<usize> {
        let mut columns = vec![self.moves];
        columns.extend(self.tags.iter().map(|&(_, at)| at).filter(|&at| at != self.moves));
        columns
    }
    fn reads_bytes(&self, column: usize) -> bool {
        self.texts.contains(&column)
    }
    fn bytes_of_part(&self) -> Option<u64> {
        Some(BYTES_OF_PART)
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
        let moves = arrays(columns, self.moves, &rows)?;
        let mut texts: Vec<Option<&[u8]>> = Vec::with_capacity(count);
        for (_, array) in &moves {
            let values = Texts::of(array).ok_or("the column of moves is not text")?;
            texts.extend((0..array.array.len()).map(|row| values.get(row)));
        }
        let tags = self.tags.iter().map(|(_, at)| arrays(columns, *at, &rows)).collect::<Result<Vec<_>, _>>()?;
        let tags = tags.iter().map(|arrays| TagValues::of(arrays)).collect::<Option<Vec<_>>>();
        let mut tags = tags.ok_or("a column has another type than its file says")?;
        let mut sections = TagSections::default();
        let mut value = Vec::new();
        for text in &mut texts {
            for (values, (tag, _)) in tags.iter_mut().zip(&self.tags) {
                value.clear();
                if values.write_next(tag, &mut value) {
                    sections.push(tag, &value);
                }
            }
            if let Some(text) = text {
                *text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
                let begins_with_tag = self.form != Form::Moves && text.trim_ascii_start().starts_with(b"[");
                if begins_with_tag && text.len() <= options.max_record {
                    let is_known = |name: &[u8]| self.known.iter().any(|known| known.as_bytes() == name);
                    *text = &text[sections.push_leading(text, is_known)..];
                }
            }
            sections.end_row();
        }
        let mut decoded = decode_rows(chunk, first, (&texts, self.form), &sections, options);
        if options.validity == Validity::Strict {
            // Positions may still be rejected.
            decoded.texts = Some(Arc::new(Raws(moves.iter().map(|(_, array)| array.clone()).collect())));
        }
        Ok(decoded)
    }
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
