//! Plays moves that are given by their squares, as formats of training data store them.

use super::tables::{ALL, BLACK, CAPTURES, KING, PAWN, PIECES, REACH, ROWS};
use super::{Board, EN_PASSANT_RANKS, between_bits};
use crate::chess::Move;
use std::hint::cold_path;

/// The kinds of moves, as in [`Move::to_bits`].
const PROMOTION: u16 = 1;
const EN_PASSANT: u16 = 2;
const CASTLING: u16 = 3;

/// The code of a rook that may castle, and what distinguishes it from other rooks.
const CASTLING_ROOK: usize = 7;

/// The row of [`REACH`] for a piece code of three bits, times four: for a quiet move and for a capture, first for
/// White, then for Black.
static ROW: [u8; 32] = {
    let mut rows = [ROWS as u8 - 1; 32];
    let mut at = 4;
    while at < 32 {
        rows[at] = match at / 4 {
            PAWN => CAPTURES * (at % 2) + BLACK * (at / 2 % 2),
            CASTLING_ROOK => PIECES + 4,
            code => PIECES + code,
        } as u8;
        at += 1;
    }
    rows
};

impl Board {
    /// Plays a move, given as the bits of [`Move::to_bits`], and checks all rules but one: the move may leave its own
    /// king in check, which is checked later. For castling moves, all rules are checked. Returns whether the move is
    /// allowed; if not, the board must not be used any more.
    ///
    /// Rare cases are left to branches, so that the next move depends on few operations: a piece takes its own bits
    /// along.
    #[inline(always)]
    pub fn play_pseudolegal(&mut self, bits: u16) -> bool {
        let kind = bits >> 14;
        let (from, to) = (usize::from(bits & 63), usize::from(bits >> 6 & 63));
        let (origin, target) = (1u64 << from, 1u64 << to);
        let (black, [t0, t1, t2]) = (self.black_to_move, self.types);
        let occupied = t0 | t1 | t2;
        let own = self.black ^ if black { 0 } else { occupied };
        let moved = [t0 >> from & 1, t1 >> from & 1, t2 >> from & 1];
        let mover = (moved[0] | moved[1] << 1 | moved[2] << 2) as usize;
        let pawn = mover == PAWN;
        let captures = occupied & target != 0;
        let mut clear = origin | target;
        let mut arrives = moved.map(|bit| bit << to);
        let mut row = 4 * mover + usize::from(captures) + 2 * usize::from(black);
        let promotes = pawn & matches!(to / 8, 0 | 7);
        if (kind != 0) | promotes {
            cold_path();
            let promotion = bits >> 12 & 3;
            match kind {
                CASTLING => {
                    let mv = Move::from_bits(bits).filter(|mv| mv.to_bits() == bits);
                    let next = mv.and_then(|mv| self.castle_with(mv).ok());
                    return next.map(|next| *self = next).is_some();
                }
                EN_PASSANT if pawn && promotion == 0 && self.en_passant & EN_PASSANT_RANKS & target != 0 => {
                    clear |= if black { target << 8 } else { target >> 8 };
                    row += 1;
                }
                PROMOTION if promotes => {
                    let code = u64::from(promotion) + 2;
                    arrives = [code & 1, code >> 1 & 1, code >> 2].map(|bit| bit << to);
                }
                _ => return false,
            }
        } else if (bits >> 12 != 0) | (pawn & (self.en_passant & EN_PASSANT_RANKS & target != 0)) {
            cold_path();
            return false;
        }
        let reach = REACH[usize::from(ROW[row % 32]) % ROWS][to];
        if (own & !target & reach & origin == 0) | ((own & target) | (between_bits(from, to) & occupied) != 0) {
            return false;
        }
        self.types = [t0 & !clear | arrives[0], t1 & !clear | arrives[1], t2 & !clear | arrives[2]];
        let rights = t0 & t1 & t2 & own;
        if (rights != 0) & ((mover == KING) | (mover == CASTLING_ROOK)) {
            cold_path();
            // A king move loses all castling rights, and a rook move its own.
            let lost = if mover == KING { rights } else { target };
            self.types[0] &= !lost;
            self.types[1] &= !lost;
        }
        self.black = self.black & !clear | target & if black { ALL } else { 0 };
        self.halfmove = if pawn | captures { 0 } else { self.halfmove.saturating_add(1) };
        self.pass();
        if pawn & (from.abs_diff(to) == 16) {
            self.en_passant = self.passed(to);
        }
        true
    }

    /// Whether the move that led here left its own king in check.
    #[inline]
    pub fn is_after_king_left_in_check(self) -> bool {
        self.king_attacked(!self.black_to_move)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::{RandomPlay, Start};

    /// Plays legal moves, the same moves with other kinds, and arbitrary words, on boards from random play. The result
    /// must be the board of the checked way, or a failure in both.
    #[test]
    fn agrees_with_checked_moves() {
        let mut legal = [0; 4];
        for start in [Start::Standard, Start::Chess960] {
            for (number, played) in RandomPlay::new(5, start).take(4000).enumerate() {
                let board = Board::new(&played.position);
                let moves: Vec<u16> = played.position.legal_moves().iter().map(|mv| mv.to_bits()).collect();
                let kinds = moves.iter().flat_map(|bits| (0..16).map(move |kind| bits & 0x0FFF | kind << 12));
                for bits in kinds.chain((0..=u16::MAX).skip(number % 997).step_by(997)) {
                    let mut next = board;
                    let found =
                        next.play_pseudolegal(bits).then_some(next).filter(|next| !next.is_after_king_left_in_check());
                    // The mark of Chess960 does not belong to the move itself.
                    let mv = Move::from_bits(bits).filter(|mv| mv.to_bits() == bits);
                    let expected = mv.and_then(|mv| board.play_move(mv).ok());
                    assert_eq!(found, expected, "{} {bits:x}", played.position);
                    legal[usize::from(bits >> 14)] += usize::from(found.is_some());
                }
            }
        }
        assert!(legal.iter().all(|&moves| moves >= 10), "{legal:?}");
    }
}
