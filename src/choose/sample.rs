//! Random samples of the records.

use super::expression::{Definitions, Formula, Type};
use super::expression_option_error::ExpressionOptionError;
use crate::text::numbers::parse_count;
use std::fmt;
use std::str::FromStr;

/// A random sample of the records. It is the same for the same seed, whatever the number of threads.
///
/// ```
/// use lanefish::choose::Sample;
///
/// let sample: Sample = "1%".parse()?;
/// assert_eq!(sample, "0.01".parse()?);
/// for thousand in ["1000", "1_000", "1e3", "1k", "1000.0"] {
///     assert_eq!(thousand.parse(), Ok(Sample::Count(1000)));
/// }
/// for wrong in ["0", "1", "1.5", "-1"] {
///     assert!(wrong.parse::<Sample>().is_err());
/// }
/// # Ok::<(), lanefish::choose::ExpressionOptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Sample {
    /// Each record with the same probability.
    Rate(Rate),
    /// This number of records, or all, if there are fewer; each set of records is equally likely.
    Count(u64),
    /// Each record with its own probability. It is never taken if the probability is null or at most 0, and always if
    /// it is at least 1.
    Formula(Formula),
}

/// A probability from above 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct Rate {
    /// The bits of the real number that is nearest to the text.
    bits: u64,
}

/// Decimal numbers from 0 to 1.
pub(crate) struct Fraction;

impl Fraction {
    /// Maximum number of digits after the point.
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
    /// A decimal number or percentage from above 0 to 1.
    fn parse(text: &str) -> Option<Self> {
        Fraction::parse(text).filter(|&parts| parts > 0)?;
        // As decimal digits, so that 1% is 0.01 and not 1 divided by 100.
        let value = match text.strip_suffix('%') {
            Some(number) => format!("{number}e-2").parse::<f64>(),
            None => text.parse(),
        };
        value.ok().map(|value| Self { bits: value.to_bits() })
    }
    /// The probability.
    pub const fn value(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

impl FromStr for Sample {
    type Err = ExpressionOptionError;
    fn from_str(text: &str) -> Result<Self, ExpressionOptionError> {
        Self::parse(text, &Definitions::default())
    }
}

impl Sample {
    /// A sample whose expression may use these names.
    ///
    /// # Errors
    /// If the text is none.
    pub fn parse(text: &str, definitions: &Definitions) -> Result<Self, ExpressionOptionError> {
        let text = text.trim();
        let wrong = || {
            let expected =
                "a rate such as 0.01 or 1%, at most 1.0, or a number of records above 1, such as 1000 or 1e6";
            ExpressionOptionError::form(format!("`{text}`: expected {expected}"))
        };
        if text.is_empty() {
            return Err(wrong());
        }
        match parse_count(text) {
            Some(count @ 2..) => return Ok(Self::Count(count)),
            // Zero and one could be meant as either.
            Some(_) if !text.contains('.') => return Err(wrong()),
            _ => {}
        }
        let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'%' | b'-' | b'+' | b'_');
        let is_out_of_range = || text.parse::<f64>().is_ok_and(|value| value <= 0.0 || value >= 1.0);
        if text.bytes().all(is_number) || is_out_of_range() {
            return Rate::parse(text).map(Self::Rate).ok_or_else(wrong);
        }
        let formula = definitions.formula(text)?;
        match formula.kind() {
            // A condition belongs to `--where`; as a probability it would take records, but no sample.
            Type::Text | Type::Boolean => Err(ExpressionOptionError::form(format!(
                "`{text}`: a probability is needed, a number from 0 to 1; --where takes conditions"
            ))),
            _ => Ok(Self::Formula(formula)),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.value())
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
    fn numbers_above_one_are_counts() {
        for (text, count) in [
            ("2", 2),
            ("1e4", 10_000),
            ("10k", 10_000),
            ("10_000", 10_000),
            ("5.0", 5),
            ("1.5M", 1_500_000),
            ("2E+3", 2000),
        ] {
            assert_eq!(text.parse(), Ok(Sample::Count(count)), "{text}");
        }
        for wrong in
            ["", "0", "1", "1_", "0.0", "1e0", "0k", "1.5", "15e-1", "-2", "-1e4", "1e20", "1e400", "1__0", "+5"]
        {
            assert!(matches!(wrong.parse::<Sample>(), Err(ExpressionOptionError::Form(_))), "{wrong}");
        }
        assert!(matches!("1e-3".parse(), Ok(Sample::Formula(_))));
    }

    #[test]
    fn rates_are_those_of_the_text() {
        let rate = |text: &str| match text.parse() {
            Ok(Sample::Rate(rate)) => Some(rate.value()),
            _ => None,
        };
        assert_eq!(rate("0.5"), Some(0.5));
        assert_eq!(rate("50%"), Some(0.5));
        assert_eq!(rate("7%"), Some(0.07));
        assert_eq!(rate("1.0"), Some(1.0));
        assert_eq!(rate("100%"), Some(1.0));
        assert_eq!(rate(".000000000000000001"), Some(1e-18));
        for wrong in ["0.0", "0%", "101%", "1.5", "-0.5", "1.", "%", ".", "0.0000000000000000001"] {
            let is_whole = wrong == "1.";
            assert_eq!(rate(wrong).is_some(), is_whole, "{wrong}");
        }
        assert_eq!("0.125".parse::<Sample>().unwrap().to_string(), "0.125");
        assert_eq!("100%".parse::<Sample>().unwrap().to_string(), "1.0");
    }
}
