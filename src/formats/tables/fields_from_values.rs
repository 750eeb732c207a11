//! Turns values, as files store them, into columns of fields. All tables share this, whatever holds the values.

use crate::chess::{Move, MoveKind, Validity};
use crate::error::Damage;
#[cfg(feature = "parquet")]
use crate::formats::DecodeOptions;
use crate::formats::GIANT_HEAD;
use crate::formats::codec::line_records::text_of;
use crate::games::{Date, Verdict};
use crate::table::{self, Array, Batch, Control, Field, TextList, Values};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Why a value is rejected: a stable name, and a message.
pub(in crate::formats) type Wrong = (&'static str, String);

/// The limit for the bytes of texts of one part: a share of the limit of the run, so that several parts can be decoded
/// at once.
#[cfg(feature = "parquet")]
pub(in crate::formats) fn most_texts(options: &DecodeOptions) -> u64 {
    options.max_memory / TEXT_SHARE
}

/// The texts of a part may take up this fraction of the memory: one sixteenth.
pub(in crate::formats) const TEXT_SHARE: u64 = 16;

/// The message for a request of this many bytes beyond the limit. `shares` of the request are sixteenths of the limit
/// itself (room for texts), which grow with it; `texts` is the size of the longest column of texts, which must fit in
/// one of them. The amount given in the message is enough for all of this.
pub(in crate::formats) fn refusal(needed: u64, shares: u64, texts: u64, most: u64) -> String {
    const MIB: u64 = 1 << 20;
    let fixed = u128::from(needed.saturating_sub(shares * (most / TEXT_SHARE)));
    let with_shares = fixed * u128::from(TEXT_SHARE) / u128::from(TEXT_SHARE - shares.min(TEXT_SHARE - 1));
    let enough = with_shares.max(needed.into()).max(u128::from(texts) * u128::from(TEXT_SHARE)).div_ceil(MIB.into());
    let limit = if most < MIB { format!("{most} bytes") } else { format!("{} MiB", most / MIB) };
    format!("{enough} MiB of memory are needed; the limit is {limit}; --max-memory {enough}M reads it")
}

#[cfg(feature = "parquet")]
#[cold]
pub(in crate::formats) fn out_of_range(name: &str, number: i128) -> Wrong {
    let message = format!("{name} {number} is out of range");
    ("value_out_of_range", message)
}

/// The part of a text that a reject keeps.
pub(in crate::formats) fn start_of(text: &[u8]) -> Vec<u8> {
    text[..text.len().min(GIANT_HEAD)].to_vec()
}

/// Adds a number to the column of a field, as a missing one if it is out of range; says whether it is in range.
pub(in crate::formats) fn push(field: Field, values: &mut Array, number: Option<i128>) -> bool {
    if number == Some(0) && matches!(field, Field::WhiteElo | Field::BlackElo) {
        // This is how some programs write that a player has no rating.
        values.push_missing();
        return true;
    }
    let number = number.filter(|&number| match field {
        Field::Result => (0..=2).contains(&number),
        Field::Move => u16::try_from(number).is_ok_and(|bits| Move::from_bits(bits).is_some()),
        Field::KeyEnPassant => u8::try_from(number).is_ok_and(Field::is_key_en_passant),
        _ => true,
    });
    macro_rules! push {
        ($column:expr) => {{
            let value = number.and_then(|number| number.try_into().ok());
            $column.push(value);
            value.is_some()
        }};
    }
    match values {
        Array::U8(column) => push!(column),
        Array::I16(column) => push!(column),
        Array::U16(column) => push!(column),
        Array::U32(column) => push!(column),
        Array::U64(column) => push!(column),
        other => {
            other.push_missing();
            false
        }
    }
}

/// Whether a text is one from which other columns can be made, or says that the value is unknown.
pub(in crate::formats) fn is_understood(field: Field, text: &[u8]) -> bool {
    match field {
        Field::Date => Date::parse(text).is_some() || Date::is_unknown(text),
        Field::TimeControl => Control::can_parse(text) || Control::is_unknown(text),
        _ => true,
    }
}

/// Checks the texts of one column for those that are [not understood](is_understood). Rows of a game have the same text.
#[derive(Default)]
pub(in crate::formats) struct Understood {
    last: Vec<u8>,
    is_last_odd: bool,
}

impl Understood {
    /// Whether a text of this field is not understood.
    #[inline]
    pub(in crate::formats) fn is_odd(&mut self, field: Field, text: &[u8]) -> bool {
        if !matches!(field, Field::Date | Field::TimeControl) {
            return false;
        }
        if self.last != text {
            self.is_last_odd = !is_understood(field, text);
            self.last.clear();
            self.last.extend_from_slice(text);
        }
        self.is_last_odd
    }
}

/// The rows of a column whose texts are not [understood](is_understood).
pub(in crate::formats) fn odd_texts(field: Field, texts: &table::Texts) -> impl Iterator<Item = (usize, &str)> {
    let is_odd: Vec<bool> = match field {
        Field::Date | Field::TimeControl => {
            texts.words().iter().map(|word| !is_understood(field, word.as_bytes())).collect()
        }
        _ => Vec::new(),
    };
    let rows = if is_odd.contains(&true) { texts.len() } else { 0 };
    (0..rows).filter_map(move |row| {
        let code = *texts.codes().get(row)? as usize;
        is_odd[code].then(|| (row, &texts.words()[code]))
    })
}

/// A result in any of its forms.
pub(in crate::formats) fn result_of(text: Option<&[u8]>) -> Result<Option<i128>, Wrong> {
    let text = text.unwrap_or_default();
    match Verdict::of(text) {
        Some(Verdict::Outcome(outcome)) => Ok(Some(outcome.code().into())),
        Some(Verdict::Unknown) => Ok(None),
        Some(Verdict::Unequal) | None => {
            let shown = start_of(text.trim_ascii()).escape_ascii().to_string();
            Err(("unknown_result", format!("result `{shown}` is unknown")))
        }
    }
}

/// The text before the first blank.
pub(in crate::formats) fn first_word(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    &text[..end]
}

/// A move as UCI or SAN has it.
pub(in crate::formats) fn move_of(text: Option<&[u8]>, batch: &Batch, record: usize) -> Result<Option<i128>, Wrong> {
    let text = match text.map(<[u8]>::trim_ascii) {
        None | Some(b"") => return Ok(None),
        Some(text) => String::from_utf8_lossy(&text[..text.len().min(32)]),
    };
    // The others are rejected later, and have no defined moves.
    let position = batch.position(record).ok();
    let Some(position) = position.filter(|position| position.is_valid(Validity::Playable)) else {
        return Ok(None);
    };
    let mv = Move::from_uci(&text, &position).or_else(|error| match position.parse_san(&text) {
        Ok(mv) => Ok(mv),
        Err(_) => Err(error),
    });
    match mv {
        Ok(mv) => {
            // Written as in Chess960 although it could have been written otherwise: this is a game of Chess960.
            let is_chess960 =
                mv.kind == MoveKind::Castle && position.castles_as_standard() && text == mv.uci_as(true).as_str();
            let flag = if is_chess960 { Move::CHESS960 } else { 0 };
            Ok(Some((mv.to_bits() | flag).into()))
        }
        Err(error) => {
            let shown = text.escape_debug();
            Err(("illegal_move", format!("`{shown}` in {position}: {error}")))
        }
    }
}

/// Texts, each of which is kept once.
#[derive(Default)]
pub(in crate::formats) struct Dictionary {
    codes: Values<u32>,
    words: TextList,
    known: HashMap<Box<[u8]>, u32, RandomState>,
    last: Option<u32>,
    /// The bytes of the texts, and the limit for them.
    size: u64,
    most: u64,
}

impl Dictionary {
    /// Makes an empty column for texts of at most this number of bytes.
    pub(in crate::formats) fn new(most: u64) -> Self {
        Self { most, ..Self::default() }
    }
    pub(in crate::formats) fn push(&mut self, text: Option<&[u8]>) {
        let code = text.map(|text| self.code(text));
        self.push_code(code);
    }
    /// Adds a text by its [code](Self::code).
    #[inline]
    pub(in crate::formats) fn push_code(&mut self, code: Option<u32>) {
        self.codes.push(code);
    }
    /// Adds missing texts up to this length of the column.
    pub(in crate::formats) fn pad(&mut self, len: usize) {
        self.codes.push_many(None, len - self.codes.len());
    }
    /// The code of a text.
    pub(in crate::formats) fn code(&mut self, text: &[u8]) -> u32 {
        if let Some(last) = self.last
            && self.words[last as usize].as_bytes() == text
        {
            return last;
        }
        let code = match self.known.get(text) {
            Some(&code) => code,
            None => {
                let code = self.words.len() as u32;
                self.size += text.len() as u64;
                if self.size > self.most {
                    // The column will not be used.
                    return 0;
                }
                self.words.push(&text_of(text));
                self.known.insert(text.into(), code);
                code
            }
        };
        self.last = Some(code);
        code
    }
    /// The column.
    ///
    /// # Errors
    /// If the texts exceed the limit.
    pub(in crate::formats) fn finish(self, field: Field) -> Result<Array, Damage> {
        self.finish_texts(field.name()).map(Array::Text)
    }
    /// The column, with a name for messages.
    ///
    /// # Errors
    /// If the texts exceed the limit.
    pub(in crate::formats) fn finish_texts(self, name: &str) -> Result<table::Texts, Damage> {
        if self.size > self.most {
            let needed = self.size.saturating_mul(TEXT_SHARE);
            let what = format!("texts of `{name}`: {}", refusal(needed, 0, self.size, self.most * TEXT_SHARE));
            return Err(Damage::limit(0, what));
        }
        Ok(table::Texts::from_parts(self.codes, self.words))
    }
}
