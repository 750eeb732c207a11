//! The census of a board: what the statistics count besides moves and attacks, in one word.
//!
//! | bits | what |
//! | --- | --- |
//! | 0-7 | pieces |
//! | 8-15 | phase |
//! | 16-31 | White's material |
//! | 32-47 | Black's material |
//! | 48-53 | state: Black to move; castling K, Q, k, q; an en passant square is marked |
//!
//! Plain arithmetic without branches. Without a population count instruction (plain x86-64 has none)
//! counting is adding neighbouring bits, then pairs, then nibbles. Material stops that addition at bytes,
//! where the four piece types can be weighted and added *before* they are summed across the board.

use crate::block::Group;

const RANK_6: u64 = 0x0000_FF00_0000_0000;
const EN_PASSANT_RANKS: u64 = 0x0000_FF00_00FF_0000;

/// The state of a position that is counted as one number below 256.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    #[inline(always)]
    pub(super) fn of(census: u64, checkers: u64) -> Self {
        let in_check = u64::from(checkers != 0);
        let double = u64::from(checkers & checkers.wrapping_sub(1) != 0);
        Self((census >> 48 | in_check << 6 | double << 7) as u8)
    }
    pub(super) fn black_to_move(self) -> bool {
        self.0 & 1 != 0
    }
    /// K, Q, k, q from bit 0 on.
    pub(super) fn castling(self) -> u8 {
        self.0 >> 1 & 0xF
    }
    pub(super) fn en_passant(self) -> bool {
        self.0 >> 5 & 1 != 0
    }
    /// 0, 1, or 2 for more than one.
    pub(super) fn checks(self) -> u8 {
        (self.0 >> 6 & 1) + (self.0 >> 7)
    }
}

/// Number of squares in each byte.
#[inline(always)]
fn per_byte(set: u64) -> u64 {
    let pairs = set - (set >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    (nibbles + (nibbles >> 4)) & 0x0F0F_0F0F_0F0F_0F0F
}

/// Sum of eight bytes.
#[inline(always)]
fn across(bytes: u64) -> u64 {
    let pairs = (bytes & 0x00FF_00FF_00FF_00FF) + (bytes >> 8 & 0x00FF_00FF_00FF_00FF);
    let quads = pairs + (pairs >> 16);
    (quads + (quads >> 32)) & 0xFFFF
}

/// The census of each board of a group.
#[inline(always)]
pub fn census(group: &Group) -> [u64; 8] {
    let [color, t0, t1, t2] = &group.planes;
    let mut census = [0; Group::LEN];
    for lane in 0..Group::LEN {
        census[lane] = census_of(color[lane], t0[lane], t1[lane], t2[lane]);
    }
    census
}

#[inline(always)]
fn census_of(color: u64, t0: u64, t1: u64, t2: u64) -> u64 {
    let castling = t0 & t1 & t2;
    let occupied = t0 | t1 | t2;
    let pawns = t0 & !t1 & !t2;
    let minors = t1 & !t2;
    let rooks = t2 & !t1 & !t0 | castling;
    let queens = t2 & t0 & !t1;
    let kings = t2 & t1 & !t0;

    let white = Men::of(pawns, minors, rooks, queens, !color);
    let black = Men::of(pawns, minors, rooks, queens, color);
    let phase = (white.minors + black.minors)
        + ((white.rooks + black.rooks) << 1)
        + ((white.queens + black.queens) << 2);

    let mark = color & !occupied;
    let black_to_move = u64::from(mark & !RANK_6 != 0);
    let en_passant = u64::from(mark & EN_PASSANT_RANKS != 0);
    let rights = wings(castling & !color & 0xFF, kings & !color & 0xFF)
        | wings((castling & color) >> 56, (kings & color) >> 56) << 2;

    across(per_byte(occupied))
        | across(phase).min(24) << 8
        | across(white.material()) << 16
        | across(black.material()) << 32
        | black_to_move << 48
        | rights << 49
        | en_passant << 53
}

/// The men of one side in each byte of the board.
struct Men {
    pawns: u64,
    minors: u64,
    rooks: u64,
    queens: u64,
}

impl Men {
    #[inline(always)]
    fn of(pawns: u64, minors: u64, rooks: u64, queens: u64, side: u64) -> Self {
        Self {
            pawns: per_byte(pawns & side),
            minors: per_byte(minors & side),
            rooks: per_byte(rooks & side),
            queens: per_byte(queens & side),
        }
    }
    /// At most 8 * 9 in a byte.
    #[inline(always)]
    fn material(&self) -> u64 {
        self.pawns + self.minors * 3 + self.rooks * 5 + self.queens * 9
    }
}

/// On one back rank: a castling rook above the king is on its h-side, one below on its a-side.
#[inline(always)]
fn wings(rooks: u64, king: u64) -> u64 {
    let below = king.wrapping_sub(1);
    u64::from(rooks & !(below | king) != 0) | u64::from(rooks & below != 0) << 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Packed;
    use crate::chess::{Bitboard, CastlingRights, Color, Piece, Position, Role, Square};

    fn start() -> Position {
        let mut position = Position::empty();
        let back = [
            Role::Rook,
            Role::Knight,
            Role::Bishop,
            Role::Queen,
            Role::King,
            Role::Bishop,
            Role::Knight,
            Role::Rook,
        ];
        for (file, role) in (0u8..).zip(back) {
            for (color, rank, pawns) in [(Color::White, 0, 1), (Color::Black, 7, 6)] {
                position.put(Square::new(rank * 8 + file), Piece { color, role });
                let role = Role::Pawn;
                position.put(Square::new(pawns * 8 + file), Piece { color, role });
            }
        }
        position.castling = CastlingRights(Bitboard(0x8100_0000_0000_0081));
        position
    }

    #[test]
    fn census_of_the_start_and_of_a_bare_board() {
        let mut group = Group::default();
        group.set(0, Packed::pack(&start()).unwrap());
        let mut black = start();
        black.side_to_move = Color::Black;
        black.castling = CastlingRights(Bitboard(0x0100_0000_0000_0080));
        group.set(3, Packed::pack(&black).unwrap());
        let census = census(&group);
        assert_eq!(census[1], 0);
        assert_eq!(
            census[0] & 0xFFFF_FFFF_FFFF,
            32 | 24 << 8 | 39 << 16 | 39 << 32
        );
        let flags = Flags::of(census[0], 0);
        assert_eq!(
            (flags.black_to_move(), flags.castling(), flags.checks()),
            (false, 15, 0)
        );
        let flags = Flags::of(census[3], 0b11);
        assert_eq!(
            (flags.black_to_move(), flags.castling(), flags.checks()),
            (true, 0b1001, 2)
        );
        assert!(!flags.en_passant());
    }

    #[test]
    fn many_queens_do_not_overflow() {
        let mut position = Position::empty();
        for square in 0..63 {
            let piece = Piece {
                color: Color::Black,
                role: Role::Queen,
            };
            position.put(Square::new(square), piece);
        }
        let mut group = Group::default();
        group.set(7, Packed::pack(&position).unwrap());
        assert_eq!(census(&group)[7], 63 | 24 << 8 | (63 * 9) << 32);
    }
}
