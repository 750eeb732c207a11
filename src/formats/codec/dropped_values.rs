//! Counts what is left out of records, for a note at the end: values in tables, EPD operations and tags that do not fit
//! their field, texts that are not understood, and keys that are not read.
//!
//! A chunk lists them one by one, each with its place, so that only those in requested records are counted. The summary
//! keeps the number of each kind, and the first example.

use crate::error::{Place, shown};
use crate::table::Field;
use crate::text::numbers::counted;
use crate::text::one_line;
use std::collections::BTreeMap;
use std::fmt;

/// Number of bytes of a value that are shown.
const SHOWN: usize = 32;
/// Number of kinds that are kept.
const MOST_KINDS: usize = 100;

/// The kind of thing that was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DroppedKind {
    /// A value that this field cannot have.
    Value(Field),
    /// A text of this field that is kept, but not understood, so that columns made of it have no value.
    Text(Field),
    /// A key that the first line of its file does not have, and that is not read.
    Key(Box<str>),
}

/// Something that was left out of a record.
#[derive(Clone, Debug)]
pub(crate) struct DroppedValue {
    pub(crate) kind: DroppedKind,
    pub(crate) place: Place,
    /// The beginning of the value.
    pub(crate) value: Box<str>,
}

impl DroppedValue {
    pub(crate) fn new(kind: DroppedKind, place: Place, value: &[u8]) -> Self {
        let start = String::from_utf8_lossy(&value[..value.len().min(SHOWN)]);
        Self { kind, place, value: one_line::of(&start).into() }
    }
}

/// The number of times that something was left out, and the first place.
#[derive(Clone, Debug)]
struct Counted {
    times: u64,
    first: Place,
    value: Box<str>,
}

/// Everything that was left out of the records of a run.
#[derive(Clone, Debug, Default)]
pub struct DroppedValues(BTreeMap<DroppedKind, Counted>);

impl DroppedValues {
    /// Adds things that come after those counted so far.
    pub(crate) fn add(&mut self, dropped_value: DroppedValue, times: u64) {
        let DroppedValue { kind, place, value } = dropped_value;
        let is_room = self.0.len() < MOST_KINDS;
        match self.0.get_mut(&kind) {
            Some(counted) => counted.times += times,
            None if is_room => {
                self.0.insert(kind, Counted { times, first: place, value });
            }
            None => {}
        }
    }
    /// Whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The number of things that were left out.
    pub fn count(&self, kind: &DroppedKind) -> u64 {
        self.0.get(kind).map_or(0, |counted| counted.times)
    }
    /// Each kind, with its first example and its number.
    #[cfg(feature = "cluster")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (DroppedValue, u64)> {
        self.0.iter().map(|(kind, counted)| {
            let (place, value) = (counted.first.clone(), counted.value.clone());
            (DroppedValue { kind: kind.clone(), place, value }, counted.times)
        })
    }
    /// A sentence for each kind.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(kind, counted)| Note(kind, counted).to_string())
    }
}

struct Note<'a>(&'a DroppedKind, &'a Counted);

impl fmt::Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(kind, Counted { times, first, value }) = self;
        match kind {
            DroppedKind::Value(field) => {
                let (values, were) = (counted(*times, "value"), if *times == 1 { "was" } else { "were" });
                write!(f, "{values} that `{}` cannot hold {were} left out, first `{value}`", field.name())?;
            }
            DroppedKind::Text(field) => {
                let (values, were) = (counted(*times, "value"), if *times == 1 { "was" } else { "were" });
                let lacking = match field {
                    Field::Date => "they have no month",
                    Field::TimeControl => "they have no speed",
                    _ => "they count as unknown",
                };
                let lacking = if *times == 1 {
                    lacking.replace("they have", "it has").replace("they count", "it counts")
                } else {
                    lacking.to_owned()
                };
                write!(f, "{values} of `{}` {were} not understood ({lacking}), first `{value}`", field.name())?;
            }
            DroppedKind::Key(key) => {
                let key = one_line::of(key);
                write!(
                    f,
                    "the key `{key}`, which the first line lacks, was not read in {}",
                    counted(*times, "record")
                )?;
                f.write_str(", first")?;
            }
        }
        write!(f, " at {}", shown(&first.file))?;
        match (first.line, first.row) {
            (Some(line), _) => write!(f, ":{line}"),
            (None, Some(row)) => write!(f, " (row {row})"),
            (None, None) => write!(f, " (byte {})", first.offset),
        }
    }
}
