//! Squares, files and ranks.

use crate::ParseError;
use std::fmt;
use std::str::FromStr;

macro_rules! coordinate {
    ($(#[$doc:meta])* $name:ident, $count:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u8);

        impl $name {
            /// Number of values.
            pub const COUNT: usize = $count;

            /// The value with this index, counted from zero.
            ///
            /// # Panics
            /// If the index is out of range.
            #[inline(always)]
            pub const fn new(index: u8) -> Self {
                assert!((index as usize) < $count);
                Self(index)
            }

            /// The value with this index, or `None` if it is out of range.
            #[inline(always)]
            pub const fn try_new(index: u8) -> Option<Self> {
                if (index as usize) < $count { Some(Self(index)) } else { None }
            }

            /// The index, counted from zero.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// All values, in order.
            pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
                (0..$count as u8).map(Self)
            }
        }
    };
}

coordinate!(
    /// A file (column) of the board, a = 0 to h = 7.
    File, 8
);
coordinate!(
    /// A rank (row) of the board, first = 0 to eighth = 7.
    Rank, 8
);
coordinate!(
    /// A square, a1 = 0, b1 = 1, … h8 = 63.
    ///
    /// ```
    /// use lanefish_core::chess::Square;
    /// let e4: Square = "e4".parse().unwrap();
    /// assert_eq!(e4.index(), 28);
    /// assert_eq!(e4.flip_vertical().to_string(), "e5");
    /// ```
    Square, 64
);

impl File {
    /// The lower-case letter, `a` to `h`.
    #[inline]
    pub const fn letter(self) -> char {
        (b'a' + self.0) as char
    }
    /// The file with this letter, in either case.
    #[inline]
    pub const fn from_letter(letter: u8) -> Option<Self> {
        match letter {
            b'a'..=b'h' => Some(Self(letter - b'a')),
            b'A'..=b'H' => Some(Self(letter - b'A')),
            _ => None,
        }
    }
}

impl Rank {
    /// The digit, `1` to `8`.
    #[inline]
    pub const fn digit(self) -> char {
        (b'1' + self.0) as char
    }
}

impl Square {
    /// The square on this file and rank.
    #[inline(always)]
    pub const fn at(file: File, rank: Rank) -> Self {
        Self(rank.0 * 8 + file.0)
    }
    /// The file of the square.
    #[inline(always)]
    pub const fn file(self) -> File {
        File(self.0 & 7)
    }
    /// The rank of the square.
    #[inline(always)]
    pub const fn rank(self) -> Rank {
        Rank(self.0 >> 3)
    }
    /// The square seen from the other side of the board: e4 becomes e5.
    #[inline(always)]
    pub const fn flip_vertical(self) -> Self {
        Self(self.0 ^ 56)
    }
    /// The square mirrored from left to right: e4 becomes d4.
    #[inline(always)]
    pub const fn flip_horizontal(self) -> Self {
        Self(self.0 ^ 7)
    }
    /// The square N files to the right and M ranks up, or `None` off the board.
    #[inline]
    pub const fn offset(self, files: i8, ranks: i8) -> Option<Self> {
        let file = (self.0 & 7) as i8 + files;
        let rank = (self.0 >> 3) as i8 + ranks;
        if 0 <= file && file < 8 && 0 <= rank && rank < 8 { Some(Self((rank * 8 + file) as u8)) } else { None }
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}
impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.digit())
    }
}
impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.file(), self.rank())
    }
}
impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Square {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.as_bytes() {
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => Ok(Self((rank - b'1') * 8 + (file - b'a'))),
            _ => Err(ParseError::new("not a square: expected a letter a-h and a digit 1-8")),
        }
    }
}
