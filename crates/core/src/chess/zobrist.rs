//! The Zobrist key of Polyglot opening books: the de facto standard hash of a chess position.
//!
//! A key is the exclusive or of published random numbers: one for each piece on its square, each castling
//! right, the file of an en passant capture and White to move. The 781 numbers are not arbitrary: they are
//! the first ones that Bob Jenkins' generator ISAAC-64 yields from a zero seed, so they are computed here
//! at compile time instead of being listed.

use super::attacks::pawn_attacks;
use super::bitboard::Bitboard;
use super::castling::{CastlingRights, CastlingSide};
use super::moves::{Move, MoveKind};
use super::piece::{Color, Piece, Role};
use super::position::Position;
use super::square::{Rank, Square};

const CASTLING: usize = 768;
const EN_PASSANT: usize = 772;
const WHITE_TO_MOVE: usize = 780;
const LEN: usize = 781;

static KEYS: [u64; LEN] = isaac64();

/// The first numbers of ISAAC-64 seeded with zeros, each batch of 256 taken from its end.
const fn isaac64() -> [u64; LEN] {
    const SIZE: usize = 256;
    let mut memory = [0u64; SIZE];
    // The golden ratio, mixed; then two passes over the (zero) seed.
    let mut mixed = [0x9E37_79B9_7F4A_7C13u64; 8];
    let mut round = 0;
    while round < 4 {
        mixed = mix(mixed);
        round += 1;
    }
    let mut pass = 0;
    while pass < 2 {
        let mut block = 0;
        while block < SIZE {
            let mut lane = 0;
            while lane < 8 {
                mixed[lane] = mixed[lane].wrapping_add(memory[block + lane]);
                lane += 1;
            }
            mixed = mix(mixed);
            lane = 0;
            while lane < 8 {
                memory[block + lane] = mixed[lane];
                lane += 1;
            }
            block += 8;
        }
        pass += 1;
    }

    let mut numbers = [0u64; LEN];
    let (mut a, mut b, mut batch) = (0u64, 0u64, 0);
    while batch * SIZE < LEN {
        b = b.wrapping_add(batch as u64 + 1);
        let mut index = 0;
        while index < SIZE {
            let x = memory[index];
            let shifted = match index % 4 {
                0 => !(a ^ a << 21),
                1 => a ^ a >> 5,
                2 => a ^ a << 12,
                _ => a ^ a >> 33,
            };
            a = shifted.wrapping_add(memory[(index + SIZE / 2) % SIZE]);
            let y = memory[(x >> 3) as usize % SIZE].wrapping_add(a).wrapping_add(b);
            memory[index] = y;
            b = memory[(y >> 11) as usize % SIZE].wrapping_add(x);
            let place = batch * SIZE + SIZE - 1 - index;
            if place < LEN {
                numbers[place] = b;
            }
            index += 1;
        }
        batch += 1;
    }
    numbers
}

const fn mix([mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h]: [u64; 8]) -> [u64; 8] {
    a = a.wrapping_sub(e);
    f ^= h >> 9;
    h = h.wrapping_add(a);
    b = b.wrapping_sub(f);
    g ^= a << 9;
    a = a.wrapping_add(b);
    c = c.wrapping_sub(g);
    h ^= b >> 23;
    b = b.wrapping_add(c);
    d = d.wrapping_sub(h);
    a ^= c << 15;
    c = c.wrapping_add(d);
    e = e.wrapping_sub(a);
    b ^= d >> 14;
    d = d.wrapping_add(e);
    f = f.wrapping_sub(b);
    c ^= e << 20;
    e = e.wrapping_add(f);
    g = g.wrapping_sub(c);
    d ^= f >> 17;
    f = f.wrapping_add(g);
    h = h.wrapping_sub(d);
    e ^= g << 14;
    g = g.wrapping_add(h);
    [a, b, c, d, e, f, g, h]
}

/// The number of a piece on a square. Polyglot orders pieces by role, Black's before White's.
#[inline(always)]
pub(crate) fn piece_key(piece: Piece, square: Square) -> u64 {
    let kind = 2 * piece.role.index() + 1 - piece.color.index();
    KEYS[64 * kind + square.index()]
}

/// The number of a castling right.
#[inline(always)]
pub(crate) fn castling_key(color: Color, side: CastlingSide) -> u64 {
    KEYS[CASTLING + 2 * color.index() + usize::from(side == CastlingSide::Queen)]
}

/// The number of an en passant square, by its file.
#[inline(always)]
#[doc(hidden)]
pub fn en_passant_key(square: Square) -> u64 {
    KEYS[EN_PASSANT + square.file().index()]
}

/// The number of White to move.
#[inline(always)]
pub(crate) fn white_to_move_key() -> u64 {
    KEYS[WHITE_TO_MOVE]
}

impl Position {
    /// The key of the position in Polyglot opening books.
    ///
    /// The en passant square counts if a pawn of the side to move stands beside the pawn it could take, legally or not.
    /// Positions keep the square only if a capture is legal (as they are parsed and made here): in the rare case that the
    /// capture is illegal, only [`Self::polyglot_key_after`] knows of it.
    ///
    /// ```
    /// use lanefish_core::chess::Position;
    /// assert_eq!(Position::standard().polyglot_key(), 0x463B_9618_1691_FC9C);
    /// ```
    pub fn polyglot_key(&self) -> u64 {
        self.key(self.counted_en_passant(self.en_passant))
    }

    /// The same as [`Self::polyglot_key`], if the last move is known and may have been a double step next to a pinned
    /// pawn.
    ///
    /// ```
    /// use lanefish_core::chess::{Move, Position};
    /// let mut position = Position::from_fen_unvalidated("7k/5p2/8/3KP1q1/8/8/8/8 b - - 0 1").unwrap();
    /// let last = Move::from_uci("f7f5", &position).unwrap();
    /// position.make(last);
    /// // exf6 would expose the king to the queen.
    /// assert_eq!(position.en_passant, None);
    /// assert_ne!(position.polyglot_key_after(last), position.polyglot_key());
    /// ```
    pub fn polyglot_key_after(&self, last: Move) -> u64 {
        let passed = self.en_passant.or_else(|| self.passed_by(last));
        self.key(self.counted_en_passant(passed))
    }

    /// The square that the last move passed over, if it was the double step of a pawn.
    fn passed_by(&self, last: Move) -> Option<Square> {
        let (from, to) = (last.from.index(), last.to.index());
        let is_double =
            last.kind == MoveKind::Normal && from.abs_diff(to) == 16 && self.role_at(last.to) == Some(Role::Pawn);
        is_double.then(|| Square::new(((from + to) / 2) as u8))
    }

    /// The square, if a pawn of the side to move stands where it could capture on it.
    fn counted_en_passant(&self, square: Option<Square>) -> Option<Square> {
        let us = self.side_to_move;
        square.filter(|&square| (pawn_attacks(!us, square) & self.pieces(us, Role::Pawn)).any())
    }

    /// The en passant square that counts in the key although no capture on it is legal, after the last move.
    #[doc(hidden)]
    pub fn idle_en_passant_after(&self, last: Move) -> Option<Square> {
        self.pseudo_en_passant(self.passed_by(last))
    }

    /// The key, if the last move passed over a square.
    #[doc(hidden)]
    pub fn pseudo_en_passant(&self, passed: Option<Square>) -> Option<Square> {
        let rank = match self.side_to_move {
            Color::White => 5,
            Color::Black => 2,
        };
        let passed = passed.filter(|square| square.rank() == Rank::new(rank));
        match self.en_passant {
            None => self.counted_en_passant(passed),
            Some(_) => None,
        }
    }

    fn key(&self, en_passant: Option<Square>) -> u64 {
        let mut key = castling_keys(Color::ALL.map(|color| self.king(color)), self.castling);
        for color in Color::ALL {
            for role in Role::ALL {
                for square in self.pieces(color, role) {
                    key ^= piece_key(Piece { color, role }, square);
                }
            }
        }
        if let Some(square) = en_passant {
            key ^= en_passant_key(square);
        }
        if self.side_to_move == Color::White {
            key ^= white_to_move_key();
        }
        key
    }
}

/// The numbers of castling rights, of the kings of White and Black.
fn castling_keys(kings: [Option<Square>; 2], rights: CastlingRights) -> u64 {
    let mut key = 0;
    for (color, king) in Color::ALL.into_iter().zip(kings) {
        let Some(king) = king else { continue };
        for rook in rights.of(color) {
            key ^= castling_key(color, CastlingSide::of(king, rook));
        }
    }
    key
}

/// The numbers of pieces by their codes in [packed boards](crate::packed), those of Black behind those of White; an empty
/// square has 0.
static BY_CODE: [[u64; 64]; 16] = by_code();

const fn by_code() -> [[u64; 64]; 16] {
    let mut numbers = [[0; 64]; 16];
    let mut code = 1;
    while code < 8 {
        // The last code is that of rooks that may still castle.
        let role = if code == 7 { 3 } else { code - 1 };
        let mut square = 0;
        while square < 64 {
            numbers[code][square] = KEYS[64 * (2 * role + 1) + square];
            numbers[8 | code][square] = KEYS[64 * (2 * role) + square];
            square += 1;
        }
        code += 1;
    }
    numbers
}

/// Computes the keys of boards from their planes. Each key is made from the one before, by exchanging the pieces on the
/// squares that differ, so that boards that follow one another in a game need few steps.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct KeysOfPlanes {
    planes: [u64; 4],
    /// The key of the pieces alone.
    pieces: u64,
    /// The castling rooks, all kings and the black ones, and the key of these castling rights.
    castling: [u64; 3],
    rights: u64,
}

impl KeysOfPlanes {
    /// The key of a board: its planes as in [`Canonical`](crate::canonical::Canonical), the castling rooks, the side to move,
    /// and the en passant square if it counts.
    #[inline(always)]
    pub fn of(&mut self, planes: [u64; 4], castling: u64, side_to_move: Color, en_passant: Option<Square>) -> u64 {
        let before = std::mem::replace(&mut self.planes, planes);
        let code = |[black, t0, t1, t2]: [u64; 4], square: u32| {
            let bit = |plane: u64| (plane >> square & 1) as usize;
            bit(black) << 3 | bit(t2) << 2 | bit(t1) << 1 | bit(t0)
        };
        let mut differ = planes.iter().zip(before).fold(0, |differ, (plane, before)| differ | plane ^ before);
        while differ != 0 {
            let square = differ.trailing_zeros();
            differ &= differ - 1;
            self.pieces ^=
                BY_CODE[code(before, square)][square as usize] ^ BY_CODE[code(planes, square)][square as usize];
        }
        let [black, t0, t1, t2] = planes;
        let kings = t2 & t1 & !t0;
        let [castling_before, kings_before, black_before] = self.castling;
        if castling ^ castling_before | kings ^ kings_before | kings & black ^ black_before != 0 {
            self.castling = [castling, kings, kings & black];
            let kings = [kings & !black, kings & black].map(|kings| Bitboard(kings).first());
            self.rights = castling_keys(kings, CastlingRights(Bitboard(castling)));
        }
        let mut key = self.pieces ^ self.rights;
        if let Some(square) = en_passant {
            key ^= en_passant_key(square);
        }
        if side_to_move == Color::White {
            key ^= white_to_move_key();
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::Canonical;
    use crate::chess::Move;
    use crate::chess::random::{RandomPlay, Start};
    use crate::packed::Packed;

    #[test]
    fn the_table_begins_and_ends_as_published() {
        assert_eq!(KEYS[0], 0x9D39_247E_3377_6D41);
        assert_eq!(KEYS[1], 0x2AF7_3980_05AA_A5C7);
        assert_eq!(KEYS[780], 0xF8D6_26AA_AF27_8509);
    }

    #[test]
    fn keys_are_those_of_the_format_description() {
        for (moves, key) in [
            ("", 0x463B96181691FC9C_u64),
            ("e2e4", 0x823C9B50FD114196),
            ("e2e4 d7d5", 0x0756B94461C50FB0),
            ("e2e4 d7d5 e4e5", 0x662FAFB965DB29D4),
            ("e2e4 d7d5 e4e5 f7f5", 0x22A48B5A8E47FF78),
            ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652A607CA3F242C1),
            ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00FDD303C946BDD9),
            ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3C8123EA7B067637),
            ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5C3F9B829B279560),
        ] {
            let mut position = Position::standard();
            for text in moves.split_whitespace() {
                let mv = Move::from_uci(text, &position).unwrap();
                position.make(mv);
            }
            assert_eq!(position.polyglot_key(), key, "{moves}");
        }
    }

    #[test]
    fn keys_of_planes_are_those_of_positions() {
        let (mut keys, mut counted) = (KeysOfPlanes::default(), 0);
        for start in [Start::Standard, Start::Chess960] {
            for played in RandomPlay::new(9, start).take(20_000) {
                let position = played.position;
                let canonical = Canonical::of(&Packed::pack(&position).unwrap(), false);
                let en_passant = position.counted_en_passant(position.en_passant);
                counted += usize::from(en_passant.is_some());
                let of = |keys: &mut KeysOfPlanes| {
                    keys.of(canonical.board, canonical.castling, position.side_to_move, en_passant)
                };
                assert_eq!(of(&mut keys), position.polyglot_key(), "{position}");
                assert_eq!(of(&mut KeysOfPlanes::default()), position.polyglot_key(), "{position}");
            }
        }
        assert!(counted > 0);
    }
}
