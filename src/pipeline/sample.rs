//! A random part of the records.

use crate::expression::{Formula, Type};
use std::fmt;
use std::str::FromStr;

/// Which part of the records is taken at random: the same for the same seed, whatever the number of threads.
///
/// ```
/// use lanefish::pipeline::Sample;
///
/// let sample: Sample = "1%".parse()?;
/// assert_eq!(sample, "0.01".parse()?);
/// assert_eq!("1000".parse(), Ok(Sample::Count(1000)));
/// for wrong in ["0", "1", "1.5", "-1"] {
///     assert!(wrong.parse::<Sample>().is_err());
/// }
/// # Ok::<(), lanefish::pipeline::SampleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Sample {
    /// Each record with the same probability.
    Rate(Rate),
    /// This number of records, or all, if there are fewer; each set of them is as likely as any other.
    Count(u64),
    /// Each record with a probability of its own: below 0 and null it is never taken, above 1 always.
    Formula(Formula),
}

/// A probability from above 0 to 1, as a decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct Rate {
    /// In parts of [`Fraction::WHOLE`].
    parts: u64,
}

/// Decimal numbers from 0 to 1.
pub(crate) struct Fraction;

impl Fraction {
    /// Most digits after the point.
    const DIGITS: usize = 18;
    /// One.
    pub(crate) const WHOLE: u64 = 10_u64.pow(Self::DIGITS as u32);

    /// A decimal number or percentage from 0 to 1, in parts of [`Self::WHOLE`].
    pub(crate) fn parse(text: &str) -> Option<u64> {
        let (number, shift) = match text.strip_suffix('%') {
            Some(number) => (number, 2),
            None => (text, 0),
        };
        let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = are_digits(whole) && are_digits(rest) && !(whole.is_empty() && rest.is_empty());
        let rest = rest.trim_end_matches('0');
        if !is_number || whole.trim_start_matches('0').len() > 3 || rest.len() + shift > Self::DIGITS {
            return None;
        }
        let digits = format!("{whole}{rest}");
        let scale = 10_u128.pow((Self::DIGITS - shift - rest.len()) as u32);
        let value = digits.parse::<u128>().ok()? * scale;
        u64::try_from(value).ok().filter(|&value| value <= Self::WHOLE)
    }
}

impl Rate {
    /// The number of hashes below which records are taken; `None` if all are.
    pub(super) fn below(self) -> Option<u64> {
        let below = (u128::from(self.parts) << u64::BITS) / u128::from(Fraction::WHOLE);
        u64::try_from(below).ok()
    }
}

/// A text that is no sample.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// A number that is no rate and no count.
    #[error("`{0}`: expected a rate such as 0.01 or 1%, at most 1.0, or a number of records above 1")]
    Number(String),
    /// A wrong expression.
    #[error("{0}")]
    Expression(#[from] crate::expression::ExpressionError),
    /// An expression that is no number.
    #[error("`{0}`: a probability is needed, from 0 to 1")]
    Kind(String),
}

impl FromStr for Sample {
    type Err = SampleError;
    fn from_str(text: &str) -> Result<Self, SampleError> {
        let text = text.trim();
        let wrong = || SampleError::Number(text.to_owned());
        let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'%' | b'-' | b'+');
        if text.is_empty() {
            return Err(wrong());
        }
        if text.bytes().all(is_number) {
            return match text.bytes().all(|byte| byte.is_ascii_digit()) {
                true => text.parse().ok().filter(|&count| count > 1).map(Self::Count).ok_or_else(wrong),
                false => {
                    let parts = Fraction::parse(text).filter(|&parts| parts > 0);
                    parts.map(|parts| Self::Rate(Rate { parts })).ok_or_else(wrong)
                }
            };
        }
        let formula: Formula = text.parse()?;
        match formula.kind() {
            Type::Text => Err(SampleError::Kind(text.to_owned())),
            _ => Ok(Self::Formula(formula)),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:018}", self.parts % Fraction::WHOLE);
        let digits = digits.trim_end_matches('0');
        write!(f, "{}.{}", self.parts / Fraction::WHOLE, if digits.is_empty() { "0" } else { digits })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => rate.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Formula(formula) => formula.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_exact() {
        let rate = |text: &str| match text.parse() {
            Ok(Sample::Rate(rate)) => Some(rate.below()),
            _ => None,
        };
        assert_eq!(rate("0.5"), Some(Some(1 << 63)));
        assert_eq!(rate("50%"), Some(Some(1 << 63)));
        assert_eq!(rate("1.0"), Some(None));
        assert_eq!(rate("100%"), Some(None));
        assert_eq!(rate(".000000000000000001"), Some(Some(18)));
        for wrong in ["0.0", "0%", "101%", "1.5", "-0.5", "1.", "%", ".", "0.0000000000000000001"] {
            let is_whole = wrong == "1.";
            assert_eq!(rate(wrong).is_some(), is_whole, "{wrong}");
        }
        assert_eq!("0.125".parse::<Sample>().unwrap().to_string(), "0.125");
        assert_eq!("100%".parse::<Sample>().unwrap().to_string(), "1.0");
    }
}
