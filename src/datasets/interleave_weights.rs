//! How many records each input of a mixture has to give, if their shares are asked for.
//!
//! All inputs are counted before they are mixed, so these numbers are known at once. Of `n` units, an input has its share
//! rounded down, and what is missing then goes to the largest remainders: each is within one unit of its share. Without
//! repetition, `n` is the largest number for which every input has enough; with it, the smallest for which every input is used
//! up.

use crate::ParseError;
use std::str::FromStr;

/// The shares of the inputs of a mixture, in the order of the inputs.
///
/// ```
/// use lanefish::datasets::Weights;
///
/// let weights: Weights = "0.7,0.3".parse()?;
/// assert_eq!(weights, "70,30".parse()?);
/// assert!("0.7,0".parse::<Weights>().is_err());
/// # Ok::<(), lanefish::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights(Vec<u64>);

/// Digits after the point.
const DIGITS: usize = 9;

fn weight(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = are_digits(whole) && are_digits(rest) && rest.len() <= DIGITS && whole.len() <= DIGITS;
    let number = format!("{whole}{rest:0<DIGITS$}").parse().ok();
    number.filter(|&number: &u64| is_number && number > 0)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl FromStr for Weights {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let weights = text.split(',').map(|part| {
            let part = part.trim();
            weight(part).ok_or_else(|| {
                ParseError::new(format!("`{part}` is not a weight: expected positive numbers such as 0.7,0.3"))
            })
        });
        let weights = weights.collect::<Result<Vec<u64>, _>>()?;
        let common = weights.iter().copied().fold(0, greatest_common_divisor);
        Ok(Self(weights.into_iter().map(|weight| weight / common).collect()))
    }
}

impl Weights {
    /// Number of inputs.
    #[allow(clippy::len_without_is_empty, reason = "there is always a weight")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of units that each input gives, from the number that it has.
    pub(super) fn units(&self, available: &[u64], repeats: bool) -> Vec<u64> {
        let sum: u128 = self.0.iter().copied().map(u128::from).sum();
        let of = |units: u128| shares(&self.0, units);
        let fits = |units: u128| of(units).iter().zip(available).all(|(share, &available)| *share <= available);
        let uses_all = |units: u128| of(units).iter().zip(available).all(|(share, &available)| *share >= available);
        let each = || self.0.iter().zip(available);
        if available.contains(&0) {
            return vec![0; available.len()];
        }
        // A share is within one unit of the exact one.
        let mut units;
        if repeats {
            let exact = each().map(|(&weight, &available)| u128::from(available - 1) * sum / u128::from(weight));
            units = exact.max().unwrap_or(0);
            while !uses_all(units) {
                units += 1;
            }
        } else {
            let exact = each().map(|(&weight, &available)| (u128::from(available) + 1) * sum / u128::from(weight));
            units = exact.min().unwrap_or(0);
            while !fits(units) {
                units -= 1;
            }
        }
        of(units)
    }
}

/// The numbers of units, of all of them, that are in proportion to the weights, each to within one.
fn shares(weights: &[u64], units: u128) -> Vec<u64> {
    let sum: u128 = weights.iter().copied().map(u128::from).sum();
    let exact = weights.iter().map(|&weight| u128::from(weight) * units);
    let mut shares: Vec<u64> = exact.clone().map(|share| (share / sum) as u64).collect();
    let given: u128 = shares.iter().copied().map(u128::from).sum();
    let mut remainders: Vec<(u128, usize)> = exact.map(|share| share % sum).zip(0..).collect();
    remainders.sort_by_key(|&(remainder, input)| (std::cmp::Reverse(remainder), input));
    for &(_, input) in remainders.iter().take((units - given) as usize) {
        shares[input] += 1;
    }
    shares
}

/// Divides the units of an input among its files, in proportion to what they have.
pub(super) fn among_files(units: u64, files: &[u64]) -> Vec<u64> {
    let all: u64 = files.iter().sum();
    if all == 0 { vec![0; files.len()] } else { shares(files, units.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_within_one_unit_of_their_shares() {
        for (text, available, repeats, expected) in [
            ("0.7,0.3", vec![100, 100], false, vec![100, 43]),
            ("0.7,0.3", vec![100, 100], true, vec![232, 100]),
            ("1,1", vec![5, 5], false, vec![5, 5]),
            ("1,1", vec![5, 0], false, vec![0, 0]),
            ("1,1", vec![5, 0], true, vec![0, 0]),
            ("1", vec![7], false, vec![7]),
            ("1", vec![7], true, vec![7]),
            ("1,2,3", vec![10, 10, 10], false, vec![4, 7, 10]),
        ] {
            let weights: Weights = text.parse().unwrap();
            assert_eq!(weights.units(&available, repeats), expected, "{text} {available:?}");
        }
        for seed in 0..2_000_u64 {
            let number = |step: u64, most: u64| 1 + (seed * 7919 + step * 104_729) % most;
            let weights: Vec<u64> = (0..1 + seed % 4).map(|input| number(input, 50)).collect();
            let available: Vec<u64> = (0..weights.len() as u64).map(|input| number(input + 9, 500)).collect();
            let sum: u64 = weights.iter().sum();
            for repeats in [false, true] {
                let units = Weights(weights.clone()).units(&available, repeats);
                let all: u64 = units.iter().sum();
                for (input, &found) in units.iter().enumerate() {
                    let exact = weights[input] as f64 * all as f64 / sum as f64;
                    assert!((found as f64 - exact).abs() < 1.0, "{weights:?} {available:?}: {units:?}");
                    assert!(if repeats { found >= available[input] } else { found <= available[input] });
                }
                // One unit more, or less, does not do.
                let other = shares(&weights, u128::from(if repeats { all - 1 } else { all + 1 }));
                let mut pairs = other.iter().zip(&available);
                assert!(if repeats {
                    pairs.any(|(share, has)| share < has)
                } else {
                    pairs.any(|(share, has)| share > has)
                });
            }
        }
        for wrong in ["", "0.7,", "0", "-1", "1e3", "0.7;0.3", "a", "0.1234567891", "."] {
            assert!(wrong.parse::<Weights>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_share_what_their_input_gives() {
        assert_eq!(among_files(10, &[5, 15]), [3, 7]);
        assert_eq!(among_files(40, &[5, 15]), [10, 30]);
        assert_eq!(among_files(0, &[0, 0]), [0, 0]);
        assert_eq!(among_files(3, &[1, 0, 1]), [2, 0, 1]);
    }
}
