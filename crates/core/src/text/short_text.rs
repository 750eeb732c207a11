//! Texts of up to seven bytes in a register: numbers, and what stands between them.
//!
//! A text is stored as one word of eight bytes, of which the next text overwrites what is too much. So rows of
//! short values are written without a loop, a copy or a branch for each of them.

/// Up to seven bytes, the first one lowest; the highest byte is their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ShortText(u64);

const BYTES: u64 = u64::MAX >> 8;

impl ShortText {
    /// Room that [`Self::write`] needs, whatever the text.
    pub const ROOM: usize = 8;
    /// The most bytes that a text has.
    pub const MOST: usize = 7;
    /// No bytes.
    pub const EMPTY: Self = Self(0);

    /// These bytes.
    ///
    /// # Panics
    /// If there are more than seven.
    pub const fn of(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= Self::MOST);
        let mut text = Self::EMPTY;
        let mut at = 0;
        while at < bytes.len() {
            text.0 |= (bytes[at] as u64) << (8 * at);
            at += 1;
        }
        text.0 |= (bytes.len() as u64) << 56;
        text
    }

    /// These bytes, if there are at most seven.
    pub fn try_of(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= Self::MOST).then(|| Self::of(bytes))
    }

    /// The first `len` of these bytes, at most seven.
    #[inline(always)]
    pub fn start_of(bytes: &[u8], len: usize) -> Self {
        match bytes.first_chunk() {
            Some(word) => {
                let mask = (1 << (8 * len)) - 1;
                Self(u64::from_le_bytes(*word) & mask | (len as u64) << 56)
            }
            None => Self::of(&bytes[..len]),
        }
    }

    /// A number in decimal.
    #[inline(always)]
    pub fn number(number: u16) -> Self {
        match NUMBERS.get(usize::from(number)) {
            Some(&text) => text,
            None => {
                let high = NUMBERS[usize::from(number / 1000)];
                high.then(three_digits(usize::from(number % 1000)))
            }
        }
    }

    /// A number in decimal, negative ones with a sign.
    #[inline(always)]
    pub fn signed(number: i16) -> Self {
        const SIGN: ShortText = ShortText::of(b"-");
        let sign = if number < 0 { SIGN } else { Self::EMPTY };
        sign.then(Self::number(number.unsigned_abs()))
    }

    /// Number of bytes.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub const fn len(self) -> usize {
        (self.0 >> 56) as usize
    }

    /// This text and then another one, together not more than seven bytes.
    #[inline(always)]
    pub const fn then(self, other: Self) -> Self {
        debug_assert!(self.len() + other.len() <= Self::MOST);
        // Eight times the length, which is in the highest byte.
        let place = self.0 >> 53 & !7;
        Self((self.0 | (other.0 & BYTES) << place) + (other.0 & !BYTES))
    }

    /// Appends the text.
    pub fn append(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes()[..self.len()]);
    }

    /// Writes the text, and something after it, and returns where it ends.
    ///
    /// # Panics
    /// If there is no [`Self::ROOM`] in `text` from `at` on.
    #[inline(always)]
    pub fn write(self, text: &mut [u8], at: usize) -> usize {
        text[at..at + Self::ROOM].copy_from_slice(&self.0.to_le_bytes());
        at + self.len()
    }
}

/// The numbers below 1000.
static NUMBERS: [ShortText; 1000] = {
    let mut numbers = [ShortText::EMPTY; 1000];
    let mut number = 0;
    while number < 1000 {
        let [hundreds, tens, ones] = digits(number);
        numbers[number] = match number {
            0..10 => ShortText::of(&[ones]),
            10..100 => ShortText::of(&[tens, ones]),
            _ => ShortText::of(&[hundreds, tens, ones]),
        };
        number += 1;
    }
    numbers
};

/// The last three digits of a number, zeros included.
#[inline(always)]
const fn digits(number: usize) -> [u8; 3] {
    let [hundreds, tens, ones] = [number / 100 % 10, number / 10 % 10, number % 10];
    [b'0' + hundreds as u8, b'0' + tens as u8, b'0' + ones as u8]
}

/// A number below 1000 with three digits.
#[inline(always)]
pub fn three_digits(number: usize) -> ShortText {
    static TEXTS: [ShortText; 1000] = {
        let mut texts = [ShortText::EMPTY; 1000];
        let mut number = 0;
        while number < 1000 {
            texts[number] = ShortText::of(&digits(number));
            number += 1;
        }
        texts
    };
    TEXTS[number]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: ShortText) -> String {
        let mut bytes = [b'?'; 8];
        let end = text.write(&mut bytes, 0);
        String::from_utf8(bytes[..end].to_vec()).unwrap()
    }

    #[test]
    fn every_number() {
        for number in i16::MIN..=i16::MAX {
            assert_eq!(written(ShortText::signed(number)), number.to_string());
        }
        for number in 0..=u16::MAX {
            assert_eq!(written(ShortText::number(number)), number.to_string());
        }
    }

    #[test]
    fn one_after_the_other() {
        let text = ShortText::of(b"-").then(ShortText::number(31_000));
        assert_eq!(written(text.then(ShortText::of(b","))), "-31000,");
        assert_eq!(written(ShortText::EMPTY), "");
        for len in 0..=7 {
            let text = "abcdefghi";
            for bytes in [text, &text[..7]] {
                let start = ShortText::start_of(bytes.as_bytes(), len);
                assert_eq!(written(start), text[..len]);
            }
        }
    }
}
