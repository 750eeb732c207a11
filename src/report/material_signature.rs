//! The kind of material on the board.

use crate::ParseError;
use std::fmt;
use std::str::FromStr;

/// How many pieces of each kind both sides have: at most eight pawns and two of each other kind.
///
/// The text has White's pieces, `v`, and Black's, each in the order `KQRBNP`:
///
/// ```
/// use lanefish::report::Signature;
/// let signature: Signature = "KRPPvKR".parse().unwrap();
/// assert_eq!(signature.to_string(), "KRPPvKR");
/// assert_eq!(signature.pieces(), [[0, 1, 0, 0, 2], [0, 1, 0, 0, 0]]);
/// assert!("KQQQvK".parse::<Signature>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(u32);

/// The digits of its number, from the highest, as places in [`Signature::pieces`] with their base. Pawns come last, so
/// that similar kinds of material are close together.
const DIGITS: [(usize, usize, u32); 10] =
    [(0, 0, 3), (0, 1, 3), (0, 2, 3), (0, 3, 3), (1, 0, 3), (1, 1, 3), (1, 2, 3), (1, 3, 3), (0, 4, 9), (1, 4, 9)];

fn not_a_signature() -> ParseError {
    ParseError::new("not a kind of material such as KRPPvKR")
}

impl Signature {
    /// Number of different signatures.
    pub const COUNT: usize = 3usize.pow(8) * 9 * 9;

    /// The signature with this number; `None` from [`Self::COUNT`] on. The lanes compute these numbers. Their digits
    /// are White's queens, rooks, bishops and knights, then Black's, in base 3, and then White's and Black's pawns, in
    /// base 9.
    pub fn from_index(index: usize) -> Option<Self> {
        (index < Self::COUNT).then_some(Self(index as u32))
    }
    /// The number of the signature.
    pub fn index(self) -> usize {
        self.0 as usize
    }
    /// The queens, rooks, bishops, knights and pawns of White and of Black.
    pub fn pieces(self) -> [[u8; 5]; 2] {
        let mut pieces = [[0; 5]; 2];
        let mut rest = self.0;
        for (side, kind, base) in DIGITS.into_iter().rev() {
            pieces[side][kind] = (rest % base) as u8;
            rest /= base;
        }
        pieces
    }
    /// The signature with these queens, rooks, bishops, knights and pawns of White and of Black; `None` if there are
    /// too many.
    pub fn from_pieces(pieces: [[u8; 5]; 2]) -> Option<Self> {
        let number = DIGITS.into_iter().try_fold(0, |number, (side, kind, base)| {
            let digit = u32::from(pieces[side][kind]);
            (digit < base).then_some(number * base + digit)
        });
        number.map(Self)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Reports have tens of thousands of them: no allocations. Each side has at most 17 letters.
        let (mut text, mut end) = ([0; 35], 0);
        let mut push = |letter: u8, count: u8| {
            for _ in 0..count {
                text[end] = letter;
                end += 1;
            }
        };
        let [white, black] = self.pieces();
        for (separator, pieces) in [(0, white), (1, black)] {
            push(b'v', separator);
            push(b'K', 1);
            b"QRBNP".iter().zip(pieces).for_each(|(&letter, count)| push(letter, count));
        }
        f.pad(std::str::from_utf8(&text[..end]).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Signature {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (white, black) = text.split_once('v').ok_or_else(not_a_signature)?;
        let side = |text: &str| {
            let letters = text.strip_prefix('K').ok_or_else(not_a_signature)?;
            if letters.len() > 16 {
                return Err(not_a_signature());
            }
            Ok(['Q', 'R', 'B', 'N', 'P'].map(|piece| letters.matches(piece).count() as u8))
        };
        let signature = Self::from_pieces([side(white)?, side(black)?]).ok_or_else(not_a_signature)?;
        // Only this order is accepted, and no other letters.
        (signature.to_string() == text).then_some(signature).ok_or_else(not_a_signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_as_text_and_back() {
        for index in 0..Signature::COUNT {
            let signature = Signature::from_index(index).unwrap();
            assert_eq!(signature.to_string().parse(), Ok(signature));
            assert_eq!(signature.index(), index);
        }
        assert_eq!(Signature::from_index(Signature::COUNT), None);
        for text in ["", "K", "KK", "vK", "KPRvK", "Kvk", "KvKvK", "KXvK", "KNNNvK", "KPPPPPPPPPvK"] {
            assert!(text.parse::<Signature>().is_err(), "{text}");
        }
    }
}
