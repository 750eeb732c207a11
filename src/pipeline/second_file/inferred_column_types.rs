//! The types of columns of the second file.
//!
//! A column of the catalogue has its own type. The columns of tables are read as they are written, and have the type that
//! fits all of their values, however the file is cut: so each part of the file says which classes of values it has seen.

use crate::formats::tables::Written;
use crate::table::{Array, Kind, TextBuffer, Texts, Values};

/// Which classes of values a column has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Classes(u8);

/// An integer that fits in 64 bits with a sign.
const INTEGER: u8 = 1;
/// A negative one.
const NEGATIVE: u8 = 2;
/// An integer beyond them, up to 2^64 - 1.
const LARGE: u8 = 4;
/// Any other number.
const REAL: u8 = 8;
/// `true` or `false`.
const BOOLEAN: u8 = 16;
/// `0x` and 16 hexadecimal digits, as sets of squares and keys are written.
const BITS: u8 = 32;
const TEXT: u8 = 64;

/// The number in the notation of sets of squares and keys.
fn bits(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

/// The real number that a text is; words for infinity count only in files that have types.
fn real(text: &str, written: Written) -> Option<f64> {
    let is_number = written == Written::Number || text.bytes().any(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number: &f64| is_number && !number.is_nan())
}

/// Whether a value of CSV says that there is none.
fn is_missing(text: &str) -> bool {
    ["", "null", "none", "nan", "na", "\\n"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

impl Classes {
    /// Adds a value.
    pub(super) fn add(&mut self, written: Written, text: &str) {
        let text = if written == Written::Untyped { text.trim() } else { text };
        self.0 |= match written {
            Written::Untyped if is_missing(text) => 0,
            Written::Boolean => BOOLEAN,
            Written::Untyped if matches!(text, "true" | "false") => BOOLEAN,
            Written::Text | Written::Untyped if bits(text).is_some() => BITS,
            Written::Text => TEXT,
            _ => match (text.parse::<i64>(), text.parse::<u64>(), real(text, written)) {
                (Ok(0..), ..) => INTEGER,
                (Ok(_), ..) => INTEGER | NEGATIVE,
                (_, Ok(_), _) => LARGE,
                (_, _, Some(_)) => REAL,
                _ => TEXT,
            },
        };
    }
    pub(super) fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }
    /// The type that has all of the values.
    pub(super) fn column(self) -> ColumnType {
        let is_of = |classes: u8| self.0 != 0 && self.0 & !classes == 0;
        ColumnType::AsWritten(if is_of(BOOLEAN) {
            Kind::Flag
        } else if is_of(INTEGER | NEGATIVE) {
            Kind::I64
        } else if is_of(INTEGER | LARGE) {
            Kind::U64
        } else if is_of(INTEGER | NEGATIVE | LARGE | REAL) {
            Kind::F64
        } else if is_of(BITS) {
            Kind::Bits
        } else {
            Kind::Text
        })
    }
}

/// The type of a column of the second file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// The texts of a column of a table, which are values of this type.
    AsWritten(Kind),
    /// A column of the catalogue, and the arrays in which its values are.
    Listed(Kind, ArrayType),
}

/// The type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrayType {
    Flag,
    U8,
    I16,
    U16,
    U32,
    U64,
    Text,
    TextBuffer,
}

impl ArrayType {
    /// `None` for those that have neither numbers nor texts.
    pub(super) fn of(array: &Array) -> Option<Self> {
        Some(match array {
            Array::Flag(_) => Self::Flag,
            Array::U8(_) => Self::U8,
            Array::I16(_) => Self::I16,
            Array::U16(_) => Self::U16,
            Array::U32(_) => Self::U32,
            Array::U64(_) => Self::U64,
            Array::Text(_) => Self::Text,
            Array::TextBuffer(_) => Self::TextBuffer,
            _ => return None,
        })
    }
    /// The arrays of a column of which there is no value.
    pub(super) fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Flag => Self::Flag,
            Kind::Text | Kind::Date => Self::Text,
            _ => Self::U64,
        }
    }
}

impl ColumnType {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::AsWritten(kind) | Self::Listed(kind, _) => kind,
        }
    }
    /// An empty array for its values.
    pub(super) fn array(self) -> Array {
        let array = match self {
            Self::AsWritten(kind) => ArrayType::of_kind(kind),
            Self::Listed(_, array) => array,
        };
        match array {
            ArrayType::Flag => Array::Flag(Values::default()),
            ArrayType::U8 => Array::U8(Values::default()),
            ArrayType::I16 => Array::I16(Values::default()),
            ArrayType::U16 => Array::U16(Values::default()),
            ArrayType::U32 => Array::U32(Values::default()),
            ArrayType::U64 => Array::U64(Values::default()),
            ArrayType::Text => Array::Text(Texts::default()),
            ArrayType::TextBuffer => Array::TextBuffer(TextBuffer::default()),
        }
    }
    /// Adds a value that is stored as a text.
    pub(super) fn push_text(self, array: &mut Array, text: &str) {
        let Self::AsWritten(kind) = self else {
            return match array {
                Array::Text(texts) => texts.push(Some(text)),
                Array::TextBuffer(texts) => texts.push(Some(text)),
                other => other.push_missing(),
            };
        };
        let Some((written, text)) = Written::read(text) else { return array.push_missing() };
        let plain = if written == Written::Untyped { text.trim() } else { text };
        let number = match kind {
            Kind::Flag => ["false", "true"].iter().position(|word| *word == plain).map(|place| place as u64),
            Kind::I64 => plain.parse::<i64>().ok().map(|number| number as u64),
            Kind::U64 => plain.parse().ok(),
            Kind::F64 => real(plain, written).map(f64::to_bits),
            Kind::Bits => bits(plain),
            _ => {
                if let Array::Text(texts) = array {
                    texts.push(Some(text));
                }
                return;
            }
        };
        push_number(array, number);
    }
}

/// Adds the number with these bits, of which the lowest are taken.
pub(super) fn push_number(array: &mut Array, number: Option<u64>) {
    array.push_missing();
    if let Some(number) = number {
        array.set_bits(array.len() - 1, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(written: Written, texts: &[&str]) -> Kind {
        let mut classes = Classes::default();
        texts.iter().for_each(|text| classes.add(written, text));
        classes.column().kind()
    }

    #[test]
    fn the_type_fits_all_values() {
        let of_csv = |texts: &[&str]| kind(Written::Untyped, texts);
        assert_eq!(of_csv(&["1", "-3", "", "NaN"]), Kind::I64);
        assert_eq!(of_csv(&["1", "18446744073709551615"]), Kind::U64);
        assert_eq!(of_csv(&["-1", "18446744073709551615"]), Kind::F64);
        assert_eq!(of_csv(&["1", "2.5", "1e3"]), Kind::F64);
        assert_eq!(of_csv(&["true", "false"]), Kind::Flag);
        assert_eq!(of_csv(&["0x00000000000000ff"]), Kind::Bits);
        assert_eq!(of_csv(&["1", "e4"]), Kind::Text);
        assert_eq!(of_csv(&["1", "true"]), Kind::Text);
        assert_eq!(of_csv(&["inf"]), Kind::Text);
        assert_eq!(of_csv(&["null", ""]), Kind::Text);
        assert_eq!(kind(Written::Text, &["1", "2"]), Kind::Text);
        assert_eq!(kind(Written::Number, &["inf", "2.0"]), Kind::F64);
    }

    #[test]
    fn values_are_read_as_the_type_of_their_column() {
        let read = |kind, text: &str| {
            let column = ColumnType::AsWritten(kind);
            let mut array = column.array();
            column.push_text(&mut array, text);
            assert_eq!(array.len(), 1);
            array
        };
        assert_eq!(read(Kind::I64, "n-7").number(0), Some(-7));
        assert_eq!(read(Kind::F64, "?2").number(0), Some(2f64.to_bits() as i64));
        assert_eq!(read(Kind::I64, "?null").number(0), None);
        assert_eq!(read(Kind::Flag, "btrue").number(0), Some(1));
        assert_eq!(read(Kind::Bits, "t0x8000000000000000").number(0), Some(i64::MIN));
        assert_eq!(read(Kind::Text, "? a ").text(0), Some(" a "));
    }
}
