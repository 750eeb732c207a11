//! Chooses which columns of a table are read, and for which fields: one list of names for Parquet, Arrow, CSV, TSV and
//! JSON lines.

use crate::formats::DecodeOptions;
use crate::table::{Array, ChosenColumn, DATE_TEXT, Field, Fields, RAW_SCORE, SCORE_SENTINEL};
use crate::text::one_line;
#[cfg(feature = "parquet")]
use arrow_schema::{DataType, TimeUnit};
use std::sync::Arc;

/// The types as which the values of a column can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Kind {
    Text,
    /// Text that may represent any type: the columns of CSV, the keys of JSON.
    Cell,
    /// Bytes, which may be text.
    Bytes,
    /// Values of 32 bytes.
    Board,
    Integer,
    /// Numbers of floating point, as pandas writes integers that may be missing.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text has no types"))]
    Float,
    /// Whole numbers that count units of time; this many units make a second.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text has no durations"))]
    Duration(i64),
    Date,
    /// Times of day, or dates with times: only tags of games have them.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text has no types"))]
    Time,
    /// Lists of texts, and of whole numbers: only games have them.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text has no lists"))]
    TextList,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text has no lists"))]
    IntegerList,
    /// True or false: only columns that are read as they are have them.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text has no types"))]
    Boolean,
    /// All values are missing.
    Null,
    Other,
}

impl Kind {
    #[cfg(feature = "parquet")]
    pub(in crate::formats) fn of(data: &DataType) -> Self {
        match data {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::Bytes,
            DataType::FixedSizeBinary(32) => Self::Board,
            DataType::Dictionary(keys, values) if keys.is_integer() => match Self::of(values) {
                kind @ (Self::Text | Self::Bytes | Self::Board) if !matches!(**values, DataType::Dictionary(..)) => {
                    kind
                }
                _ => Self::Other,
            },
            DataType::Date32 => Self::Date,
            DataType::Duration(unit) => Self::Duration(match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => 1_000_000_000,
            }),
            DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Date64 => Self::Time,
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element)
            | DataType::FixedSizeList(element, _) => match Self::of(element.data_type()) {
                Self::Text | Self::Bytes => Self::TextList,
                Self::Integer => Self::IntegerList,
                _ => Self::Other,
            },
            DataType::Boolean => Self::Boolean,
            DataType::Null => Self::Null,
            DataType::Float32 | DataType::Float64 => Self::Float,
            data if data.is_integer() => Self::Integer,
            _ => Self::Other,
        }
    }
    pub(in crate::formats) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Cell | Self::Bytes)
    }
    #[cfg(feature = "parquet")]
    pub(in crate::formats) fn is_list(self) -> bool {
        matches!(self, Self::TextList | Self::IntegerList)
    }
    fn is_board(self) -> bool {
        matches!(self, Self::Board | Self::Bytes)
    }
}

/// A column of a file.
#[derive(Clone, Debug)]
pub(in crate::formats) struct Column {
    pub(in crate::formats) name: String,
    pub(in crate::formats) kind: Kind,
    /// The type, for messages; empty in text, which has none.
    pub(in crate::formats) data: String,
}

impl Column {
    pub(in crate::formats) fn described(&self) -> String {
        match (&*self.name, &*self.data) {
            ("", "") => "one without a name".to_owned(),
            (name, "") => format!("`{}`", one_line::of(name)),
            (name, data) => format!("`{name}` ({data})"),
        }
    }
}

/// The columns, by number, from which positions are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Positions {
    Fen(usize),
    Board {
        board: usize,
        halfmove: Option<usize>,
        fullmove: Option<usize>,
    },
    /// There are none; any column that is read tells how many rows there are.
    None(usize),
}

impl Positions {
    /// The column that holds the positions themselves.
    pub(in crate::formats) fn column(&self) -> usize {
        match *self {
            Self::Fen(column) | Self::Board { board: column, .. } | Self::None(column) => column,
        }
    }
}

/// The columns that are read.
#[derive(Clone, Debug)]
pub(in crate::formats) struct Plan {
    pub(in crate::formats) positions: Positions,
    /// The fields, each with its column.
    pub(in crate::formats) fields: Vec<(Field, usize, Kind)>,
    /// The column with dates as text, for dates without a month or day, where the date column has whole days only.
    pub(in crate::formats) date_text: Option<usize>,
    /// The column of scores as they were stored; they take precedence over those of the field.
    pub(in crate::formats) raw_score: Option<usize>,
    /// The column of move lists that begin with the move that sets up a puzzle.
    pub(in crate::formats) set_up: Option<usize>,
    /// The column whose first word is the move.
    pub(in crate::formats) line: Option<usize>,
    /// The columns that are read as they are: their names in [`Batch::tags`](crate::table::Batch::tags).
    pub(in crate::formats) others: Vec<(Arc<str>, usize, Kind)>,
    /// Descriptions of the columns that are not read.
    left: Vec<String>,
    /// The requested fields whose columns have other types, with descriptions of these columns.
    pub(in crate::formats) dropped_values: Vec<(Field, String)>,
    /// A description of the column of the positions.
    pub(in crate::formats) described: String,
    /// A column that may hold the moves of games, which are not read.
    pub(in crate::formats) moves_beside: Option<String>,
}

impl Plan {
    /// Reads nothing but positions.
    pub(in crate::formats) fn only(positions: Positions) -> Self {
        Self {
            positions,
            fields: Vec::new(),
            date_text: None,
            raw_score: None,
            set_up: None,
            line: None,
            others: Vec::new(),
            left: Vec::new(),
            dropped_values: Vec::new(),
            described: String::new(),
            moves_beside: None,
        }
    }

    /// Chooses among the columns of a file.
    ///
    /// # Errors
    /// If there is no column of positions: the rest of a sentence that begins with the name of the file.
    pub(in crate::formats) fn of(columns: &[Column], options: &DecodeOptions) -> Result<Self, String> {
        let find = |name: &str| columns.iter().position(|column| column.name == name);
        let has = |at: usize, fits: fn(Kind) -> bool| fits(columns[at].kind);
        let described = |at: usize| columns[at].described();
        let all = || all_of(columns);
        let puzzles = || find("Moves").and(find("FEN"));
        // Header lines of text files differ in their use of capital letters.
        let any_case = || {
            let is_fen = |column: &Column| column.kind == Kind::Cell && column.name.eq_ignore_ascii_case("fen");
            columns.iter().position(is_fen)
        };
        let (fen, board) = (find("fen").or_else(puzzles).or_else(any_case), find("board"));
        let positions = match (&options.fen_column, board, fen) {
            (Some(name), ..) => match find(name) {
                Some(at) if has(at, Kind::is_text) => Positions::Fen(at),
                Some(at) => {
                    return Err(format!("cannot be read: the column {} does not hold text; {}", described(at), all()));
                }
                None => {
                    return Err(format!("has no column `{name}`; {}", all()));
                }
            },
            (None, Some(board), _) if has(board, Kind::is_board) => Positions::Board {
                board,
                halfmove: find("halfmove").filter(|&at| columns[at].kind == Kind::Integer),
                fullmove: find("fullmove").filter(|&at| columns[at].kind == Kind::Integer),
            },
            (None, _, Some(fen)) if has(fen, Kind::is_text) => Positions::Fen(fen),
            (None, None, None) if options.may_lack_positions && !columns.is_empty() => Positions::None(0),
            (None, board, None) if board.is_none_or(|at| columns[at].kind == Kind::Cell) => {
                let or_board = if columns.iter().any(|column| column.kind == Kind::Cell) { "" } else { " or `board`" };
                return Err(format!(
                    "has no column `fen`{or_board}; {}; name the column of the positions with --fen-column",
                    all()
                ));
            }
            (None, board, fen) => {
                let columns: Vec<_> = board.into_iter().chain(fen).map(described).collect();
                return Err(format!(
                    "cannot be read: `fen` must be text and `board` 32 bytes, but there is {}; name the column of \
                     the positions with --fen-column",
                    columns.join(" and ")
                ));
            }
        };
        let raw_score = || find(RAW_SCORE).or_else(|| find(SCORE_SENTINEL));
        let mut plan = Self::only(positions);
        plan.others = others(columns, &plan.positions, options)?;
        if let (Positions::None(column), Some(&(_, first, _))) = (&mut plan.positions, plan.others.first()) {
            *column = first;
        }
        plan.described = described(plan.positions.column());
        plan.raw_score = raw_score().filter(|&at| matches!(columns[at].kind, Kind::Integer | Kind::Cell));
        // Rows with these columns are puzzles, just like lines of CSV with them.
        if let (Positions::Fen(fen), Some(moves)) = (&plan.positions, find("Moves"))
            && columns[*fen].name == "FEN"
            && has(moves, Kind::is_text)
        {
            plan.set_up = Some(moves);
        }
        // If both columns exist, the one with our own name counts.
        let is_shadowed = |name: &str, field: Field| name != field.name() && find(field.name()).is_some();
        let field_of = |name: &str| field_named(name).filter(|&field| !is_shadowed(name, field));
        for (at, column) in columns.iter().enumerate() {
            let name = &*column.name;
            let holds_positions = !matches!(plan.positions, Positions::None(_)) && at == plan.positions.column();
            if holds_positions || plan.set_up == Some(at) {
                continue;
            }
            if find(name) != Some(at) && !name.is_empty() {
                // Of several columns of one name, the first counts.
                plan.left.push(described(at));
                continue;
            }
            match field_of(name) {
                Some(_) if column.kind == Kind::Null => {}
                Some(field) if !fits(field, column.kind) => {
                    plan.left.push(described(at));
                    if options.fields.contains(field) {
                        plan.dropped_values.push((field, described(at)));
                    }
                }
                Some(Field::Move) if plan.set_up.is_some() => plan.left.push(described(at)),
                // Moves are read on their position.
                Some(Field::Move) if matches!(plan.positions, Positions::None(_)) => {}
                Some(field) if options.fields.contains(field) => {
                    if name == "line" {
                        plan.line = Some(at);
                    }
                    plan.fields.push((field, at, column.kind));
                }
                Some(_) => {}
                None if name == DATE_TEXT && column.kind.is_text() => {}
                None if plan.raw_score == Some(at) => {}
                None if matches!(name, RAW_SCORE | SCORE_SENTINEL) && column.kind == Kind::Null => {}
                None if matches!(name, "fen" | "FEN" | "board" | "halfmove" | "fullmove") => {}
                None if column.kind == Kind::Cell && name.eq_ignore_ascii_case("fen") => {}
                None => plan.left.push(described(at)),
            }
        }
        if let Some(at) = find(DATE_TEXT).filter(|&at| columns[at].kind.is_text())
            && options.fields.contains(Field::Date)
        {
            // A file has no column of days if none of its dates is a full day.
            match plan.fields.iter().find(|(field, ..)| *field == Field::Date) {
                None => plan.fields.push((Field::Date, at, columns[at].kind)),
                Some((.., Kind::Date | Kind::Cell)) => plan.date_text = Some(at),
                Some(_) => {}
            }
        }
        plan.raw_score = plan.raw_score.filter(|_| options.fields.contains(Field::Score));
        // In text, types cannot tell the two columns apart, so they are read as one.
        if let Some(at) = plan.raw_score.filter(|&at| columns[at].kind == Kind::Cell)
            && plan.fields.iter().all(|(field, ..)| *field != Field::Score)
        {
            plan.fields.push((Field::Score, at, Kind::Cell));
            plan.raw_score = None;
        }
        if options.may_lack_positions {
            plan.left.clear();
        }
        if options.without_positions && plan.has_all_fields(options) {
            let read = plan.fields.first().map_or(plan.positions.column(), |&(_, column, _)| column);
            plan.positions = Positions::None(read);
        }
        Ok(plan)
    }

    /// Whether all requested fields are in columns of their own, and mean the same without the positions.
    fn has_all_fields(&self, options: &DecodeOptions) -> bool {
        let has = |field: Field| self.fields.iter().any(|&(other, ..)| other == field);
        let requested = || Field::ALL.iter().filter(|&&field| options.fields.contains(field));
        self.set_up.is_none() && requested().all(|&field| field != Field::Move && has(field))
    }

    /// All columns that are read, each once.
    pub(in crate::formats) fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = match &self.positions {
            Positions::Fen(column) | Positions::None(column) => vec![*column],
            Positions::Board { board, halfmove, fullmove } => {
                [Some(*board), *halfmove, *fullmove].into_iter().flatten().collect()
            }
        };
        columns.extend(self.fields.iter().map(|&(_, at, _)| at));
        columns.extend(self.date_text);
        columns.extend(self.raw_score);
        columns.extend(self.set_up);
        columns.extend(self.others.iter().map(|&(_, at, _)| at));
        let mut known = std::collections::HashSet::new();
        columns.retain(|&column| known.insert(column));
        columns
    }

    /// Whether a column is read as bytes.
    pub(in crate::formats) fn reads_bytes(&self, column: usize) -> bool {
        let is_field = |&(_, at, kind): &(Field, usize, Kind)| at == column && kind.is_text();
        let is_other = |(_, at, kind): &(Arc<str>, usize, Kind)| *at == column && kind.is_text();
        !matches!(self.positions, Positions::None(_)) && self.positions.column() == column
            || self.others.iter().any(is_other)
            || self.date_text == Some(column)
            || self.set_up == Some(column)
            || self.fields.iter().any(is_field)
    }

    /// The fields that are read.
    pub(in crate::formats) fn carried(&self) -> Fields {
        let score = self.raw_score.map(|_| Field::Score);
        self.fields.iter().map(|&(field, ..)| field).chain(score).collect()
    }

    /// The note on the columns that are not read.
    pub(in crate::formats) fn note(&self) -> Option<String> {
        note_on(&self.left)
    }
}

/// The prefix of names in [`DecodeOptions::tags`] that stand for columns of tables which are read as they are.
///
/// Their texts in [`Batch::tags`](crate::table::Batch::tags) begin with a byte that says what they are.
pub(crate) const COLUMN: &str = "column:";

/// What a text of a column that is read as it is was in the file: the first byte of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A value of CSV, which can be anything.
    Untyped,
    /// A text.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
}

impl Written {
    const ALL: [(Self, u8); 4] =
        [(Self::Untyped, b'?'), (Self::Text, b't'), (Self::Number, b'n'), (Self::Boolean, b'b')];

    /// The text with the byte in front, in a buffer.
    pub(in crate::formats) fn mark<'a>(self, text: &[u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
        buffer.clear();
        buffer.extend(Self::ALL.iter().find(|(written, _)| *written == self).map(|(_, byte)| byte));
        buffer.extend_from_slice(text);
        buffer
    }
    /// What the byte says, and the text after it.
    pub(crate) fn read(marked: &str) -> Option<(Self, &str)> {
        let (&first, _) = marked.as_bytes().split_first()?;
        let (written, _) = Self::ALL.into_iter().find(|(_, byte)| *byte == first)?;
        Some((written, &marked[1..]))
    }
}

/// The columns that the options name to be read as they are.
///
/// # Errors
/// If there is no column of a name, and it is not one that can be computed, or a column has values that are neither
/// numbers nor texts: the rest of a sentence that begins with the name of the file.
fn others(
    columns: &[Column],
    positions: &Positions,
    options: &DecodeOptions,
) -> Result<Vec<(Arc<str>, usize, Kind)>, String> {
    let has_positions = !matches!(positions, Positions::None(_));
    let mut others = Vec::new();
    for tag in options.tags.iter() {
        let Some(name) = tag.strip_prefix(COLUMN) else { continue };
        if has_positions && name == Field::Move.name() {
            continue;
        }
        match columns.iter().position(|column| column.name == name) {
            Some(at) => match columns[at].kind {
                Kind::Board | Kind::Time | Kind::TextList | Kind::IntegerList | Kind::Other => {
                    let described = columns[at].described();
                    return Err(format!("has a column {described}, which holds neither numbers nor texts"));
                }
                kind => others.push((Arc::clone(tag), at, kind)),
            },
            None if name == Field::Move.name() || has_positions && ChosenColumn::named(name).is_some() => {}
            None => return Err(format!("has no column `{}`; {}", one_line::of(name), all_of(columns))),
        }
    }
    Ok(others)
}

/// The note on columns that are not read.
pub(in crate::formats) fn note_on(left: &[String]) -> Option<String> {
    const MOST: usize = 8;
    let more = match left.len() {
        0 => return None,
        len if len > MOST => format!(" and {} more", len - MOST),
        _ => String::new(),
    };
    let shown = &left[..left.len().min(MOST)];
    Some(format!("columns not read: {}{more}", shown.join(", ")))
}

/// The columns of a table, for messages: a part of a sentence.
pub(in crate::formats) fn all_of(columns: &[Column]) -> String {
    const MOST: usize = 40;
    if columns.is_empty() {
        return "it has no columns".to_owned();
    }
    let names: Vec<_> = columns.iter().take(MOST).map(Column::described).collect();
    let more = match columns.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("its columns are {}{more}", names.join(", "))
}

/// The field for the name of a column: a name of ours, or one used in other people's files of evaluations and puzzles.
pub(in crate::formats) fn field_named(name: &str) -> Option<Field> {
    Some(match name {
        "cp" => Field::Score,
        "line" => Field::Move,
        "PuzzleId" => Field::PuzzleId,
        "Rating" => Field::PuzzleRating,
        "RatingDeviation" => Field::RatingDeviation,
        "Popularity" => Field::Popularity,
        "NbPlays" => Field::Plays,
        "Themes" => Field::Themes,
        "GameUrl" => Field::Site,
        "OpeningTags" => Field::Opening,
        _ => return Field::ALL.iter().copied().find(|field| field.name() == name),
    })
}

/// Whether values of this kind can be read as this field.
fn fits(field: Field, kind: Kind) -> bool {
    match (field, kind) {
        (_, Kind::Cell) => true,
        (Field::Move | Field::Result, Kind::Integer) | (Field::Date, Kind::Date) => true,
        (Field::Clock, Kind::Duration(_)) => true,
        (Field::Move | Field::Result, kind) => kind.is_text(),
        (field, kind) => match field.column(0) {
            Array::Text(_) => kind.is_text(),
            _ => matches!(kind, Kind::Integer | Kind::Float),
        },
    }
}
