//! Boards as text and back: eight ranks of eight symbols, in which runs of empty squares are numbers, as in the first
//! field of FEN.
//!
//! A board is four sets of 64 bits, which give each square a code of four bits. Sets are in the order of the
//! text: the lowest byte is the first rank of the text, its lowest bit the first square. A code whose lowest three
//! bits are zero is an empty square.

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

    /// Reads ranks of the letters `pnbrqk` with codes 1 to 6, capitals without and small letters with the fourth bit.
    /// `None` if they do not end in a blank within 64 bytes, or are not what [`Self::write`] writes but for the
    /// last separator.
    #[inline(always)]
    pub(crate) fn read(self, text: &[u8; WINDOW]) -> Option<Board> {
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
    pub(crate) sets: [u64; 4],
    /// Bytes of its text, which a blank follows.
    pub(crate) len: usize,
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
        for (squares, occupied) in ranks.into_iter().zip(occupied) {
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

    /// The classes of 32 bytes of a board.
    struct Classes {
        /// The bits of the piece code, then whether a letter is small.
        codes: [u32; 4],
        letters: u32,
        digits: u32,
        slashes: u32,
        /// A bit for each square that a byte stands for.
        squares: __m256i,
        /// The first of these bits, where it is a piece.
        pieces: __m256i,
        /// The last of these bits, where a separator or a blank follows.
        lasts: __m256i,
    }

    /// The top bit of each byte.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(bytes: __m256i) -> u32 {
        _mm256_movemask_epi8(bytes) as u32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn words(low: __m256i, high: __m256i) -> [u64; 8] {
        let mut words = [0; 8];
        let at = words.as_mut_ptr().cast::<__m256i>();
        // SAFETY: the array has 64 bytes.
        unsafe {
            _mm256_storeu_si256(at, low);
            _mm256_storeu_si256(at.add(1), high);
        }
        words
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn classes(bytes: __m256i, next: __m256i, is_board: __m256i) -> Classes {
        let table = |low, high| _mm256_broadcastsi128_si256(_mm_set_epi64x(high, low));
        // By the low half of a byte: B, K and N, then P, Q and R.
        let bkn = table(0x0000_0000_0003_0000, 0x0002_0000_0600_0000);
        let pqr = table(0x0000_0000_0004_0501, 0);
        // 1 to 8: as many squares, and the last of them.
        let counts = table(0x7F3F_1F0F_0703_0100, 0xFF);
        let ends = table(0x4020_1008_0402_0100, 0x80);
        let is = |bytes, byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
        let half = |bits: u8| _mm256_and_si256(bytes, _mm256_set1_epi8(bits as i8));
        let low = half(0x0F);
        // 0x20 is the case of a letter.
        let kind = half(0xD0);
        let code = _mm256_and_si256(
            is_board,
            _mm256_or_si256(
                _mm256_and_si256(is(kind, 0x40), _mm256_shuffle_epi8(bkn, low)),
                _mm256_and_si256(is(kind, 0x50), _mm256_shuffle_epi8(pqr, low)),
            ),
        );
        let is_digit = _mm256_and_si256(is_board, is(half(0xF0), 0x30));
        let pieces = _mm256_min_epu8(code, _mm256_set1_epi8(1));
        let of_digit = |table| _mm256_and_si256(is_digit, _mm256_shuffle_epi8(table, low));
        let count = of_digit(counts);
        let ends_rank = _mm256_or_si256(is(next, b'/'), is(next, b' '));
        let last = _mm256_or_si256(pieces, of_digit(ends));
        Classes {
            codes: [
                mask(_mm256_slli_epi16::<7>(code)),
                mask(_mm256_slli_epi16::<6>(code)),
                mask(_mm256_slli_epi16::<5>(code)),
                mask(_mm256_slli_epi16::<2>(bytes)),
            ],
            letters: !mask(is(code, 0)),
            digits: !mask(is(count, 0)),
            slashes: mask(_mm256_and_si256(is_board, is(bytes, b'/'))),
            squares: _mm256_or_si256(pieces, count),
            pieces,
            lasts: _mm256_and_si256(last, ends_rank),
        }
    }

    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
    pub(super) fn read(text: &[u8; WINDOW]) -> Option<Board> {
        // SAFETY: 32 bytes can be read from each of these places, the last of which is 33.
        let load = |at: usize| unsafe { _mm256_loadu_si256(text[at..at + 32].as_ptr().cast()) };
        let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let (low, high) = (load(0), load(32));
        let blank = _mm256_set1_epi8(b' ' as i8);
        let blanks = join(mask(_mm256_cmpeq_epi8(low, blank)), mask(_mm256_cmpeq_epi8(high, blank)));
        if blanks == 0 {
            return None;
        }
        let len = blanks.trailing_zeros();
        let numbers = _mm256_setr_epi8(
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
            29, 30, 31,
        );
        let before = |len: i8| _mm256_cmpgt_epi8(_mm256_set1_epi8(len), numbers);
        let low = classes(low, load(1), before(len as i8));
        let high = classes(high, load(33), before(len as i8 - 32));
        let letters = join(low.letters, high.letters);
        let digits = join(low.digits, high.digits);
        let slashes = join(low.slashes, high.slashes);
        // The squares that the bytes stand for, put together: which hold a piece, and which end a rank.
        let squares = words(low.squares, high.squares);
        let pieces = words(low.pieces, high.pieces);
        let lasts = words(low.lasts, high.lasts);
        let (mut occupied, mut ends, mut count) = (0, 0, 0);
        for ((squares, pieces), lasts) in squares.into_iter().zip(pieces).zip(lasts) {
            occupied |= _pext_u64(pieces, squares).wrapping_shl(count);
            ends |= _pext_u64(lasts, squares).wrapping_shl(count);
            count += squares.count_ones();
        }
        let known = (letters | digits | slashes) == (1 << len) - 1;
        let whole = count == 64 && ends == 0x8080_8080_8080_8080 && slashes.count_ones() == 7;
        if !known || !whole || digits & digits << 1 != 0 {
            return None;
        }
        let sets = std::array::from_fn(|bit| {
            let bits = join(low.codes[bit], high.codes[bit]);
            _pdep_u64(_pext_u64(bits, letters), occupied)
        });
        Some(Board { sets, len: len as usize })
    }
}
