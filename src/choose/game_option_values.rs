//! Values of the options that choose games: plies, time controls, ranges of opening codes.

use crate::ParseError;
use crate::games::{Outcome, Variant};
use crate::table::{Control, Speed};
use std::num::ParseIntError;
use std::str::FromStr;

/// A whole number within these limits.
pub(super) fn number<T: TryFrom<i64> + Into<i64> + Copy>(text: &str, least: T, most: T) -> Result<T, String> {
    let number: i64 = text.parse().map_err(|wrong: ParseIntError| wrong.to_string())?;
    let (least, most) = (least.into(), most.into());
    let fits = (least..=most).contains(&number);
    let number = T::try_from(number).ok().filter(|_| fits);
    number.ok_or_else(|| format!("{text} is not in {least}..={most}"))
}

/// A result as PGN writes it; `None` means unknown.
pub(super) fn result(text: &str) -> Result<Option<Outcome>, String> {
    match text {
        "1-0" => Ok(Some(Outcome::White)),
        "0-1" => Ok(Some(Outcome::Black)),
        "1/2-1/2" | "1/2" | "draw" => Ok(Some(Outcome::Draw)),
        "*" | "unknown" => Ok(None),
        // The other forms of PGN.
        _ => match Outcome::from_token(text.as_bytes()) {
            Some(outcome) => Ok(Some(outcome)),
            None => Err(format!("`{text}`: expected 1-0, 0-1, 1/2-1/2 or *")),
        },
    }
}

/// A variant by its name.
pub(super) fn variant(text: &str) -> Result<Variant, String> {
    match text {
        "standard" => Ok(Variant::Standard),
        "chess960" => Ok(Variant::Chess960),
        _ => Err(format!("`{text}`: expected standard or chess960")),
    }
}

/// A range of plies, both ends included. The default has all plies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct Plies {
    /// The first ply.
    pub first: u32,
    /// The last ply; `None` for all that follow.
    pub last: Option<u32>,
}

impl Plies {
    /// Whether this ply is in the range.
    pub fn contains(self, ply: u32) -> bool {
        ply >= self.first && self.last.is_none_or(|last| ply <= last)
    }
}

impl FromStr for Plies {
    type Err = String;
    /// Reads `A..B`, `A..`, `..B` or a single number.
    fn from_str(text: &str) -> Result<Self, String> {
        let number =
            |text: &str| text.parse::<u32>().map_err(|_| "expected plies such as 10..60, 10.., ..60 or 12".to_owned());
        let Some((first, last)) = text.split_once("..") else {
            return number(text).map(|ply| Self { first: ply, last: Some(ply) });
        };
        let last = last.strip_prefix('=').unwrap_or(last);
        let first = if first.is_empty() { 0 } else { number(first)? };
        let last = (!last.is_empty()).then(|| number(last)).transpose()?;
        if last.is_some_and(|last| last < first) {
            return Err("the last ply is before the first".to_owned());
        }
        Ok(Self { first, last })
    }
}

/// A time control, or a class of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum TimeControl {
    /// A class, by the expected time of a player: seconds plus forty increments.
    Class(Speed),
    /// Exactly this time control, as in the tag, or in another form that means the same: `300+3`.
    Exactly(String),
}

impl TimeControl {
    pub(super) fn fits(&self, tag: &[u8], parsed: Option<&Control>) -> bool {
        match self {
            Self::Class(speed) => parsed.map(Control::speed) == Some(*speed),
            Self::Exactly(text) => {
                text.as_bytes() == tag || parsed.is_some() && Control::parse(text.as_bytes()).as_ref() == parsed
            }
        }
    }
}

impl FromStr for TimeControl {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let name = text.to_ascii_lowercase();
        if let Some(speed) = Speed::ALL.into_iter().find(|speed| speed.name() == name) {
            return Ok(Self::Class(speed));
        }
        if text.starts_with(|first: char| first.is_ascii_digit() || "-?*".contains(first)) {
            return Ok(Self::Exactly(text.to_owned()));
        }
        let expected = "ultrabullet, bullet, blitz, rapid, classical, correspondence or a time control such as 300+3";
        Err(ParseError::new(format!("`{text}`: expected {expected}")))
    }
}

/// A range of opening codes, both ends included; each may be shortened (`B`, `B1`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct EcoRange {
    first: String,
    last: String,
}

impl EcoRange {
    pub(super) fn contains(&self, code: &[u8]) -> bool {
        let code = code.to_ascii_uppercase();
        let starts = |len: usize| &code[..code.len().min(len)];
        !code.is_empty()
            && starts(self.first.len()) >= self.first.as_bytes()
            && starts(self.last.len()) <= self.last.as_bytes()
    }
}

impl FromStr for EcoRange {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let upper = text.to_ascii_uppercase();
        let (first, last) = upper.split_once('-').unwrap_or((&upper, &upper));
        let is_code = |code: &str| {
            code.len() <= 3
                && code.starts_with(|letter| ('A'..='E').contains(&letter))
                && code[1..].bytes().all(|digit| digit.is_ascii_digit())
        };
        let fail = |expected: &str| Err(ParseError::new(format!("`{text}`: expected {expected}")));
        if !is_code(first) || !is_code(last) {
            return fail("an opening code such as B, B1 or B12, or two such as B10-B19");
        }
        let common = first.len().min(last.len());
        if first[..common] > last[..common] {
            return fail("the first code before the last, as in B10-B19");
        }
        Ok(Self { first: first.to_owned(), last: last.to_owned() })
    }
}
