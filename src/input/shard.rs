//! Shards: one of N shares of the inputs.

use crate::ParseError;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// One of N shares of the inputs. The shares are disjoint and cover all inputs.
///
/// ```
/// use lanefish::input::Shard;
/// let shard: Shard = "3/8".parse().unwrap();
/// assert_eq!(Shard::new(3, 8), Some(shard));
/// assert_eq!((shard.index(), shard.count()), (3, 8));
/// assert_eq!(shard.to_string(), "3/8");
/// assert!("8/8".parse::<Shard>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "cluster", serde(try_from = "String", into = "String"))]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// The largest possible number of shards.
    pub const MOST: u32 = 10_000;

    /// The shard with this number, counted from 0, of `count` shards; `None` unless `index` is below `count` and
    /// `count` at most [`Shard::MOST`].
    pub const fn new(index: u32, count: u32) -> Option<Self> {
        if index < count && count <= Self::MOST { Some(Self { index, count }) } else { None }
    }

    /// The number of the shard, counted from 0.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The number of shards.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Whether there is no shard after it.
    pub(crate) const fn is_last(self) -> bool {
        self.index + 1 == self.count
    }

    /// Whether it is the only shard.
    pub(crate) const fn is_whole(self) -> bool {
        self.count == 1
    }

    /// Whether this turn belongs to the shard, if all shards take turns.
    pub(crate) const fn has_turn(self, turn: u64) -> bool {
        turn % self.count as u64 == self.index as u64
    }

    /// The part of this number of bytes that belongs to the shard.
    pub(crate) fn range(self, len: u64) -> Range<u64> {
        let place = |index: u32| (u128::from(len) * u128::from(index) / u128::from(self.count)) as u64;
        place(self.index)..place(self.index + 1)
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl TryFrom<String> for Shard {
    type Error = ParseError;
    fn try_from(text: String) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The message for a text that is not two numbers.
const SYNTAX: &str = "expected I/N, such as 0/4 for the first of four shards";

impl FromStr for Shard {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let syntax = || ParseError::new(SYNTAX);
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // Very large numbers are numbers, but not valid ones for a shard.
            is_number.then(|| text.parse().unwrap_or(u32::MAX)).ok_or_else(syntax)
        };
        let (index, count) = text.split_once('/').ok_or_else(syntax)?;
        let (index, count) = (number(index)?, number(count)?);
        if !(1..=Self::MOST).contains(&count) {
            return Err(ParseError::new(format!("the number of shards must be from 1 to {}", Self::MOST)));
        }
        let last = count - 1;
        Self::new(index, count).ok_or_else(|| {
            ParseError::new(format!("shards are numbered from 0: the last of {count} is {last}/{count}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_shards_are_refused_with_the_reason() {
        for (text, error) in [
            ("", SYNTAX),
            ("1", SYNTAX),
            ("/", SYNTAX),
            ("1/", SYNTAX),
            ("-1/2", SYNTAX),
            ("+1/2", SYNTAX),
            ("1/2/3", SYNTAX),
            (" 1/2", SYNTAX),
            ("0/0", "the number of shards must be from 1 to 10000"),
            ("0/10001", "the number of shards must be from 1 to 10000"),
            ("0/99999999999999999999", "the number of shards must be from 1 to 10000"),
            ("2/2", "shards are numbered from 0: the last of 2 is 1/2"),
            ("99999999999999999999/2", "shards are numbered from 0: the last of 2 is 1/2"),
        ] {
            assert_eq!(text.parse::<Shard>(), Err(ParseError::new(error)), "{text}");
        }
        for text in ["0/1", "1/2", "9999/10000"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn ranges_are_disjoint_and_complete() {
        for len in [0, 1, 5, 999, 1000, u64::MAX] {
            for count in [1, 2, 3, 7, Shard::MOST] {
                let mut end = 0;
                for index in 0..count {
                    let range = Shard::new(index, count).unwrap().range(len);
                    assert_eq!(range.start, end);
                    end = range.end;
                }
                assert_eq!(end, len);
            }
        }
    }
}
