//! Columns: their names and types, the data that they need, and the code that fills them.

use super::array::Array;
use super::catalogue::OF_GAMES;
use super::field::Fields;
use super::tile::Tile;
use crate::queries::Queries;
use std::fmt;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// 0 or 1.
    Flag,
    /// 0 to 255.
    U8,
    /// 0 to 65,535.
    U16,
    /// 0 to 2^32 - 1.
    U32,
    /// 0 to 2^64 - 1.
    U64,
    /// -32,768 to 32,767.
    I16,
    /// -2^31 to 2^31 - 1, in an array of smaller numbers.
    I32,
    /// Any integer of 64 bits, in [`Array::U64`] in two's complement.
    I64,
    /// A real number, in [`Array::U64`] as the bits of IEEE 754; never NaN.
    F64,
    /// A set of squares or a hash key; in text as `0x` and 16 hexadecimal digits.
    Bits,
    /// Text.
    Text,
    /// A [date](crate::games::Date): its text, and in tables days since 1970-01-01, missing where day or month is not
    /// known.
    Date,
    /// A packed board of 32 bytes, in tables: four planes, little-endian.
    Board,
    /// 0 to 255, and in tables exactly that type.
    ExactU8,
    /// 0 to 65,535, and in tables exactly that type.
    ExactU16,
    /// A time of day, in milliseconds.
    Time,
    /// Microseconds since 1970-01-01, in [`Array::U64`] in two's complement.
    Timestamp,
    /// Any bytes.
    Bytes,
    /// Lists of numbers from 0 to 65,535.
    ListOfU16,
    /// Lists of numbers from -32,768 to 32,767.
    ListOfI16,
    /// Lists of numbers from -2^31 to 2^31 - 1.
    ListOfI32,
    /// Lists of sets of squares.
    ListOfBits,
    /// The same bits as signed numbers.
    ListOfI64,
    /// Lists of texts.
    ListOfText,
}

impl Kind {
    /// Whether its values are lists.
    pub const fn is_list(self) -> bool {
        matches!(
            self,
            Self::ListOfU16 | Self::ListOfI16 | Self::ListOfI32 | Self::ListOfBits | Self::ListOfI64 | Self::ListOfText
        )
    }
    /// The name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flag => "0/1",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 | Self::Bits => "u64",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F64 => "f64",
            Self::Text | Self::Date => "text",
            Self::Board => "board",
            Self::ExactU8 => "u8",
            Self::ExactU16 => "u16",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::Bytes => "bytes",
            Self::ListOfU16 => "list<u16>",
            Self::ListOfI16 => "list<i16>",
            Self::ListOfI32 => "list<i32>",
            Self::ListOfBits => "list<u64>",
            Self::ListOfI64 => "list<i64>",
            Self::ListOfText => "list<text>",
        }
    }
}

/// What the values of a column describe. A record has a position and the move played from it, and may belong to a game: so
/// the score of a record is that of its position, before the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// The position.
    Position,
    /// The move played from the position.
    Move,
    /// The whole game.
    Game,
    /// The record, or the puzzle.
    Record,
}

impl Subject {
    /// The name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Move => "move",
            Self::Game => "game",
            Self::Record => "record",
        }
    }
}

/// A named column.
#[non_exhaustive]
pub struct Column {
    /// The name of the column.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// The meaning of its values.
    pub meaning: &'static str,
    /// The queries that it needs answered.
    pub queries: Queries,
    /// The fields that it reads from the input, besides the position.
    pub fields: Fields,
    pub(super) fill: fn(&Tile<'_>) -> Array,
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Column {
    /// Whether it is an unchanged field, rather than computed from the position or from fields.
    pub fn is_carried(&self) -> bool {
        self.fields.iter().any(|field| Fields::ALL.contains(field) && field.name() == self.name)
    }
    /// What its values describe.
    pub fn subject(&self) -> Subject {
        match self.name {
            "move" | "san" | "clock" | "moved_piece" | "captured_piece" | "quiet" | "time_used" | "score_after"
            | "mate_after" | "loss" | "loss_cp" | "judgment" | "accuracy" => Subject::Move,
            name if name.starts_with("move_") => Subject::Move,
            "game" | "stm_result" => Subject::Game,
            "legal_move_index" => Subject::Move,
            name if name.starts_with("policy_index:") => Subject::Move,
            name if OF_GAMES.contains(&name) => Subject::Game,
            "index" | "puzzle_id" | "puzzle_rating" | "rating_deviation" | "popularity" | "plays" | "themes"
            | "operations" | "count" => Subject::Record,
            _ => Subject::Position,
        }
    }
    /// The values of the column for every record of a tile; those of records that do not count are unspecified.
    pub fn fill(&self, tile: &Tile<'_>) -> Array {
        (self.fill)(tile)
    }
}
