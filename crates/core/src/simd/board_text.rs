//! Boards as text and back: eight ranks of eight symbols, in which runs of empty squares are numbers, as in the first
//! field of FEN.
//!
//! A board is four sets of 64 bits, which give each square a code of four bits. A code whose lowest three bits are zero
//! is an empty square. A byte of a set is a rank, its lowest bit the first square. The text begins with the highest byte.

/// Reads and writes boards with AVX2 and BMI2. Without them the caller has to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankText {
    /// On other architectures there is no value of this type.
    #[cfg(target_arch = "x86_64")]
    token: super::Avx2,
    #[cfg(not(target_arch = "x86_64"))]
    token: std::convert::Infallible,
}

/// Room for a board and its last separator, and for the word with which each rank is written.
pub(crate) const ROOM: usize = 80;

#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(unused_variables, reason = "without a token there is nothing to work on")
)]
impl RankText {
    /// The best implementation for this CPU.
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            use super::Simd;
            super::Avx2::detect().map(|token| Self { token })
        }
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Writes a board as ranks with a `/` after each, also the last one, and returns the length of the text.
    #[inline(always)]
    pub(crate) fn write(self, sets: [u64; 4], letters: &[u8; 16], text: &mut [u8; ROOM]) -> usize {
        #[cfg(target_arch = "x86_64")]
        {
            let _ = self.token;
            // SAFETY: the token proves the features.
            unsafe { x86::write(sets, letters, text) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        match self.token {}
    }

    /// Runs the work with the CPU features enabled. See the inlining rules of [`crate::simd`].
    #[inline(always)]
    pub(crate) fn enter<R>(self, work: impl FnOnce() -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        return super::Simd::enter(self.token, work);
        #[cfg(not(target_arch = "x86_64"))]
        match self.token {}
    }

    /// Reads ranks of the letters `pnbrqk` with codes 1 to 6, capitals without and small letters with the fourth bit.
    /// `None` if they do not end in a blank within 64 bytes, or are not what [`Self::write`] writes but for the
    /// last separator.
    #[inline(always)]
    pub(crate) fn read(self, text: &[u8; WINDOW]) -> Option<Board> {
        self.enter(
            #[inline(always)]
            || self.read_entered(text),
        )
    }

    /// The same as [`Self::read`], within [`Self::enter`].
    #[inline(always)]
    pub(crate) fn read_entered(self, text: &[u8; WINDOW]) -> Option<Board> {
        #[cfg(target_arch = "x86_64")]
        {
            let _ = self.token;
            // SAFETY: the token proves the features.
            unsafe { x86::read(text) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        match self.token {}
    }
}

/// Bytes that the reader looks at.
pub(crate) const WINDOW: usize = 72;

/// A board that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Board {
    /// The four sets.
    pub sets: [u64; 4],
    /// Bytes of its text, which a blank follows.
    pub len: usize,
}

/// For each set of occupied squares of a rank: the places of its text among the eight squares (0 to 7) and the eight
/// numbers (8 to 15).
#[cfg(target_arch = "x86_64")]
static PLACES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut occupied = 0;
    while occupied < 256 {
        let (mut square, mut at) = (0, 0);
        while square < 8 {
            let start = square;
            while square < 8 && occupied >> square & 1 == 0 {
                square += 1;
            }
            if square > start {
                table[occupied][at] = 7 + (square - start) as u8;
                at += 1;
            }
            if square < 8 {
                table[occupied][at] = square as u8;
                square += 1;
                at += 1;
            }
        }
        occupied += 1;
    }
    table
};

/// The length of that text.
#[cfg(target_arch = "x86_64")]
static LENGTHS: [u8; 256] = {
    let mut table = [0; 256];
    let mut occupied = 0u32;
    while occupied < 256 {
        let empty = !occupied & 0xFF;
        // Each run of empty squares is one byte.
        let runs = empty & !(empty << 1);
        table[occupied as usize] = (occupied.count_ones() + runs.count_ones()) as u8;
        occupied += 1;
    }
    table
};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Board, LENGTHS, PLACES, ROOM, WINDOW};
    use std::arch::x86_64::*;

    /// The letters of 32 squares.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn letters_of(sets: [u32; 4], letters: __m256i) -> __m256i {
        // Each byte of the set is repeated for its eight squares, then each of them looks at its own bit.
        let byte = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
        let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let mut codes = _mm256_setzero_si256();
        for (number, set) in sets.into_iter().enumerate() {
            let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(set as i32), byte);
            let is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
            let value = _mm256_set1_epi8(1 << number);
            codes = _mm256_or_si256(codes, _mm256_and_si256(is_set, value));
        }
        _mm256_shuffle_epi8(letters, codes)
    }

    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
    pub(super) fn write(sets: [u64; 4], letters: &[u8; 16], text: &mut [u8; ROOM]) -> usize {
        // SAFETY: the reference is valid for the 16 bytes.
        let letters = unsafe { _mm_loadu_si128(letters.as_ptr().cast()) };
        let letters = _mm256_broadcastsi128_si256(letters);
        let low = letters_of(sets.map(|set| set as u32), letters);
        let high = letters_of(sets.map(|set| (set >> 32) as u32), letters);
        let ranks = [
            _mm256_extract_epi64::<0>(low),
            _mm256_extract_epi64::<1>(low),
            _mm256_extract_epi64::<2>(low),
            _mm256_extract_epi64::<3>(low),
            _mm256_extract_epi64::<0>(high),
            _mm256_extract_epi64::<1>(high),
            _mm256_extract_epi64::<2>(high),
            _mm256_extract_epi64::<3>(high),
        ];
        let numbers = i64::from_le_bytes(*b"12345678");
        let occupied = (sets[0] | sets[1] | sets[2]).to_le_bytes();
        let mut at = 0;
        for (squares, occupied) in ranks.into_iter().zip(occupied).rev() {
            let symbols = _mm_set_epi64x(numbers, squares);
            let places = u64::from_le_bytes(PLACES[usize::from(occupied)]);
            let rank = _mm_shuffle_epi8(symbols, _mm_cvtsi64_si128(places as i64));
            text[at..at + 8].copy_from_slice(&_mm_cvtsi128_si64(rank).to_le_bytes());
            at += usize::from(LENGTHS[usize::from(occupied)]);
            text[at] = b'/';
            at += 1;
        }
        at
    }

    /// Four ranks, one in each lane.
    struct Ranks {
        /// In each lane, the byte of the rank in each of the four sets.
        sets: __m256i,
        /// Not zero in lanes that are not a whole rank of known letters and digits.
        wrong: __m256i,
        /// A bit for each byte that is a letter or a digit of its rank.
        symbols: u32,
        /// Those that are pieces.
        pieces: u32,
    }

    /// Reads ranks; each lane begins with the text of one, and a separator may follow.
    ///
    /// # Safety
    /// The CPU must have AVX2.
    #[inline(always)]
    unsafe fn ranks(text: __m256i) -> Ranks {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let all = |byte: u8| _mm256_set1_epi8(byte as i8);
            let table = |low: u64, high: u64| _mm256_broadcastsi128_si256(_mm_set_epi64x(high as i64, low as i64));
            let separators = _mm256_or_si256(_mm256_cmpeq_epi8(text, all(b'/')), _mm256_cmpeq_epi8(text, all(b' ')));
            // Subtracting one from a lane sets all bits below the first separator.
            let before = _mm256_andnot_si256(separators, _mm256_add_epi64(separators, _mm256_set1_epi64x(-1)));
            // All fourteen symbols get different numbers, below 16: the low half of a byte, in which a constant that
            // depends on the high half flips bits. Numbers 0 to 8 are b and the digits, 9 and 12 to 15 k, n, r, q, p.
            let nibble = all(0x0F);
            let high_half = _mm256_and_si256(_mm256_srli_epi16::<4>(text), nibble);
            let flips = _mm256_shuffle_epi8(table(0x0F02_0F02_0000_0400, 0), high_half);
            let numbers = _mm256_xor_si256(_mm256_and_si256(text, nibble), flips);
            // Any other byte differs from the symbol that has its number.
            let symbol = _mm256_shuffle_epi8(table(0x3736_3534_3332_3162, 0x7071_726E_0000_6B38), numbers);
            let unknown = _mm256_xor_si256(symbol, _mm256_or_si256(text, all(0x20)));
            // The top bit for a piece, the code of the piece above the low half, and the number of squares in it.
            let meaning = _mm256_shuffle_epi8(table(0x0706_0504_0302_01B1, 0x91D1_C1A1_0000_E108), numbers);
            let meaning = _mm256_and_si256(meaning, before);
            // The number of squares up to each symbol.
            let widths = _mm256_and_si256(meaning, nibble);
            let sums = _mm256_add_epi8(widths, _mm256_slli_epi64::<8>(widths));
            let sums = _mm256_add_epi8(sums, _mm256_slli_epi64::<16>(sums));
            let sums = _mm256_add_epi8(sums, _mm256_slli_epi64::<32>(sums));
            let short = _mm256_xor_si256(_mm256_srli_epi64::<56>(sums), _mm256_set1_epi64x(8));
            let squares = _mm256_shuffle_epi8(table(0x4020_1008_0402_0100, 0x80), sums);
            let none = _mm256_setzero_si256();
            // Each square has a bit of its own, so their sum is their union.
            let set = |top_bits| _mm256_sad_epu8(_mm256_blendv_epi8(none, squares, top_bits), none);
            let [a, b, c, black] = [
                set(_mm256_slli_epi16::<3>(meaning)),
                set(_mm256_slli_epi16::<2>(meaning)),
                set(_mm256_slli_epi16::<1>(meaning)),
                set(_mm256_and_si256(_mm256_slli_epi16::<2>(text), meaning)),
            ];
            let low = _mm256_or_si256(a, _mm256_slli_epi64::<8>(b));
            let high = _mm256_or_si256(c, _mm256_slli_epi64::<8>(black));
            Ranks {
                sets: _mm256_or_si256(low, _mm256_slli_epi64::<16>(high)),
                wrong: _mm256_or_si256(short, _mm256_and_si256(unknown, before)),
                symbols: _mm256_movemask_epi8(before) as u32,
                pieces: _mm256_movemask_epi8(meaning) as u32,
            }
        }
    }

    /// # Safety
    /// The CPU must have AVX2, POPCNT and BMI1.
    #[inline(always)]
    pub(super) unsafe fn read(text: &[u8; WINDOW]) -> Option<Board> {
        // SAFETY: the caller vouches for the features; each slice has as many bytes as are read from it.
        unsafe {
            let load = |at: usize| _mm256_loadu_si256(text[at..at + 32].as_ptr().cast());
            let (low, high) = (load(0), load(32));
            let equal = |bytes, byte: u8| {
                let equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
                u64::from(_mm256_movemask_epi8(equal) as u32)
            };
            let places = |byte| equal(low, byte) | equal(high, byte) << 32;
            let blanks = places(b' ');
            let mut slashes = places(b'/') & blanks.wrapping_sub(1) & !blanks;
            if blanks == 0 || slashes.count_ones() != 7 {
                return None;
            }
            let len = blanks.trailing_zeros();
            let at = |start: usize| text[start..start + 8].as_ptr().cast::<i64>().read_unaligned();
            let mut next = || {
                // A blank follows the last slash within 64 bytes.
                let start = (slashes.trailing_zeros() as usize + 1) % 64;
                slashes &= slashes.wrapping_sub(1);
                at(start)
            };
            // The text begins with the last rank.
            let upper = [at(0), next(), next(), next()];
            let lower = [next(), next(), next(), next()];
            let lanes = |[d, c, b, a]: [i64; 4]| _mm256_setr_epi64x(a, b, c, d);
            let (lower, upper) = (ranks(lanes(lower)), ranks(lanes(upper)));
            let join = |lower: u32, upper: u32| u64::from(lower) | u64::from(upper) << 32;
            let symbols = join(lower.symbols, upper.symbols);
            let digits = symbols & !join(lower.pieces, upper.pieces);
            // Two digits side by side in a rank.
            let divided = digits & digits << 1 & !crate::simd::FIRST_COLUMN;
            let wrong = _mm256_or_si256(lower.wrong, upper.wrong);
            // A rank with more symbols than squares is longer than its lane.
            let is_whole = symbols.count_ones() + 7 == len;
            if _mm256_testz_si256(wrong, wrong) == 0 || divided != 0 || !is_whole {
                return None;
            }
            let sets = _mm256_or_si256(lower.sets, _mm256_slli_epi64::<32>(upper.sets));
            // The bytes of each set are brought together.
            let order = _mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15);
            let sets = _mm256_shuffle_epi8(sets, _mm256_broadcastsi128_si256(order));
            let (even, odd) = (_mm256_castsi256_si128(sets), _mm256_extracti128_si256::<1>(sets));
            let (low, high) = (_mm_unpacklo_epi16(even, odd), _mm_unpackhi_epi16(even, odd));
            let sets = [
                _mm_cvtsi128_si64(low),
                _mm_extract_epi64::<1>(low),
                _mm_cvtsi128_si64(high),
                _mm_extract_epi64::<1>(high),
            ];
            Some(Board { sets: sets.map(|set| set as u64), len: len as usize })
        }
    }
}
