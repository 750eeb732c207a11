//! The replay board: plays the moves of a game and is, at every moment, a packed record.
//!
//! Two ideas make it fast. First, the board *is* the four planes of [`crate::packed`], so that a move is a
//! few masks on four words, a capture does not depend on the captured piece, and writing a position out is
//! copying it. Second, a SAN move is resolved backwards, with no move list: the candidates are the pieces
//! of the named kind within `REACH` of the target square, and nearly always there is just one. One table
//! serves all kinds of moves, pawn steps and captures included, so that there is no branch on the piece.
//! A candidate must find the squares between empty, and the king safe after the move.
//!
//! If that does not find exactly one move (two candidates that differ only by a pin, castling, unusual
//! spellings), [`crate::chess`] decides; such moves are rare.
//!
//! `lanes` plays eight such games at once.

mod king_safety;
mod lanes;
mod san;
mod squares;
mod tables;
#[cfg(test)]
mod tests;

pub use king_safety::KingSafety;
pub use lanes::{OrderRows, Rows, are_lanes_faster, play_all};
pub use san::San;

use crate::chess::CastlingSide;
use crate::chess::geometry::between;
use crate::chess::{self, Bitboard, Color, Move, MoveError, MoveKind, Position, Role, Square};
use crate::packed::Packed;
use san::{CODE, is_promoted};
use std::hint::cold_path;
use tables::{ALL, BLACK, CAPTURES, KING, PAWN, REACH, ROWS, SELECT, all_if};

/// The reason why a move cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No legal move fits.
    Illegal,
    /// Several legal moves fit.
    Ambiguous,
    /// The text is not a move.
    Syntax,
}

/// The ranks of the squares passed by double steps.
const EN_PASSANT_RANKS: u64 = 0x0000_FF00_00FF_0000;

/// A position during replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Black's pieces.
    black: u64,
    /// The bits of the piece codes.
    types: [u64; 3],
    /// The en passant square, where an en passant capture is legal. If a pawn is beside the one that made a double step
    /// but cannot legally capture it, this is the square of the same file on the mover's last rank: no pawn ever
    /// captures en passant there, and only the key of the position depends on it.
    en_passant: u64,
    black_to_move: bool,
    pub halfmove: u16,
    pub fullmove: u16,
}

/// A board as the side to move sees it.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    pub own: u64,
    pub occupied: u64,
    /// Own rooks that may castle.
    pub castling: u64,
    /// The square on which an en passant capture is legal.
    pub en_passant: u64,
    pub is_black: bool,
    types: [u64; 3],
}

impl Sides {
    /// The piece on a square; `None` if it is empty.
    #[inline(always)]
    pub fn role_at(&self, square: usize) -> Option<Role> {
        let [b0, b1, b2] = self.types.map(|plane| (plane >> (square & 63) & 1) as usize);
        match b0 | b1 << 1 | b2 << 2 {
            0 => None,
            7 => Some(Role::Rook),
            code => Some(Role::ALL[code - 1]),
        }
    }
}

impl Board {
    #[inline(always)]
    pub fn sides(&self) -> Sides {
        let occupied = self.occupied();
        let own = self.black ^ if self.black_to_move { 0 } else { occupied };
        let [t0, t1, t2] = self.types;
        Sides {
            own,
            occupied,
            castling: own & t0 & t1 & t2,
            en_passant: self.en_passant & EN_PASSANT_RANKS,
            is_black: self.black_to_move,
            types: self.types,
        }
    }

    pub fn new(position: &Position) -> Self {
        let of = |role| position.role(role).0;
        let castling = position.castling.0.0 & of(Role::Rook);
        Self {
            black: position.color(Color::Black).0,
            types: [
                of(Role::Pawn) | of(Role::Bishop) | of(Role::Queen) | castling,
                of(Role::Knight) | of(Role::Bishop) | of(Role::King) | castling,
                of(Role::Rook) | of(Role::Queen) | of(Role::King),
            ],
            en_passant: position.en_passant.map_or(0, |square| Bitboard::square(square).0),
            black_to_move: position.side_to_move == Color::Black,
            halfmove: position.halfmove,
            fullmove: position.fullmove,
        }
    }

    /// The record of this position.
    #[inline(always)]
    pub fn packed(self) -> Packed {
        let en_passant = self.en_passant & EN_PASSANT_RANKS;
        let free = !(self.occupied() | EN_PASSANT_RANKS);
        let black = all_if(self.black_to_move & (en_passant == 0));
        Packed { color: self.black | en_passant | free & free.wrapping_neg() & black, types: self.types }
    }

    /// Makes the board of a record, and the square of [`Field::KeyEnPassant`](crate::table::Field::KeyEnPassant).
    pub fn of_record(board: &Packed, idle: Option<Square>, halfmove: u16, fullmove: u16) -> Self {
        let occupied = board.occupied();
        let en_passant = board.color & !occupied & EN_PASSANT_RANKS;
        let mut unpacked = Self {
            black: board.color & occupied,
            types: board.types,
            en_passant,
            black_to_move: board.side_to_move() == Color::Black,
            halfmove,
            fullmove,
        };
        unpacked.mark(idle);
        unpacked
    }

    /// Keeps an en passant square on which a pawn could capture, but not legally.
    pub fn mark(&mut self, idle: Option<Square>) {
        if let Some(square) = idle {
            let file = square.index() % 8;
            self.en_passant = 1 << if self.black_to_move { 56 + file } else { file };
        }
    }

    /// The board without the square kept by [`Self::mark`].
    #[inline(always)]
    pub fn unmarked(self) -> Self {
        Self { en_passant: self.en_passant & EN_PASSANT_RANKS, ..self }
    }

    /// The square kept by [`Self::mark`].
    #[inline(always)]
    pub fn pseudo_en_passant(self) -> Option<u8> {
        let marked = self.en_passant & !EN_PASSANT_RANKS;
        (marked != 0).then(|| {
            let file = marked.trailing_zeros() as u8 % 8;
            file + if self.black_to_move { 16 } else { 40 }
        })
    }

    /// The position in the representation of [`crate::chess`].
    pub fn position(self) -> Position {
        self.packed().unpack(self.halfmove, self.fullmove).expect("a replay board has at most one sentinel bit")
    }

    #[inline(always)]
    fn occupied(self) -> u64 {
        self.types[0] | self.types[1] | self.types[2]
    }

    /// The pieces with a code, of both colours; rooks that may castle are included among the rooks.
    #[inline(always)]
    fn coded(self, code: usize) -> u64 {
        let [t0, t1, t2] = self.types;
        let [n0, n1, n2, castling] = SELECT[code & 7];
        (t0 ^ n0) & (t1 ^ n1) & (t2 ^ n2) | t0 & t1 & t2 & castling
    }

    /// The board after a move, and the move's bits (see [`Move::to_bits`](crate::chess::Move::to_bits)). A pawn that
    /// moves to the last rank must promote, and nothing else may; castling is refused here.
    ///
    /// Boards are passed by value here: the fields then live in registers, and are not copied through memory in
    /// other widths than they were written in, which would stall each move.
    ///
    /// # Errors
    /// If the fast path does not find exactly one legal move.
    #[inline(always)]
    pub fn play(self, san: San) -> Result<(Self, u16), Refused> {
        let black = self.black_to_move;
        let code = san.code as usize;
        let to = san.to as usize & 63;
        let to_bit = 1u64 << to;
        let occupied = self.occupied();
        let own = self.black ^ if black { 0 } else { occupied };
        let pawn = code == PAWN;
        let row = san.row as usize + if pawn & black { BLACK } else { 0 };

        let passing = self.en_passant & all_if(pawn);
        let barred = own | occupied ^ all_if(san.captures);
        // Pawns capture on the en passant square, although it is empty.
        let barred = barred & !(passing & all_if(san.captures));
        if barred & to_bit != 0 {
            return Err(Refused::Illegal);
        }

        let mut candidates = self.coded(code) & own & san.origin & REACH[row % ROWS][to];
        if candidates & candidates.wrapping_sub(1) != 0 {
            candidates = open(candidates, to, occupied);
            if candidates & candidates.wrapping_sub(1) != 0 {
                return Err(Refused::Ambiguous);
            }
        }
        let from = candidates.trailing_zeros() as usize & 63;
        if candidates == 0 || between_bits(from, to) & occupied != 0 {
            return Err(Refused::Illegal);
        }

        let mut next = self;
        let mut kind = san.kind;
        let mut clear = candidates | to_bit;
        if to_bit & passing != 0 {
            // Rare enough for a branch.
            cold_path();
            clear |= if black { to_bit << 8 } else { to_bit >> 8 };
            kind = 2 << 14;
        }
        let king_moves = all_if(code == KING);
        let [t0, t1, t2] = self.types;
        let lost = t0 & t1 & t2 & own & king_moves;
        let bit = |n: usize| u64::from(san.arrives >> n & 1) << to;
        next.types = [(t0 ^ lost) & !clear | bit(0), (t1 ^ lost) & !clear | bit(1), t2 & !clear | bit(2)];
        next.black = self.black & !clear | to_bit & all_if(black);
        if next.king_attacked(black) {
            return Err(Refused::Illegal);
        }
        let quiet = !pawn & (occupied & to_bit == 0);
        next.halfmove = if quiet { self.halfmove.saturating_add(1) } else { 0 };
        next.pass();
        if pawn & (from.abs_diff(to) == 16) {
            next.en_passant = next.passed(to);
        }
        Ok((next, from as u16 | (to as u16) << 6 | kind))
    }

    /// The board after a move that is given by its squares.
    ///
    /// # Errors
    /// If the move is not legal.
    #[inline(always)]
    pub fn play_move(self, mv: Move) -> Result<Self, Refused> {
        if mv.kind == MoveKind::Castle {
            cold_path();
            return self.castle_with(mv);
        }
        let (from, to) = (mv.from.index(), mv.to.index());
        let (origin, target) = (1u64 << from, 1u64 << to);
        let bits = self.types.map(|plane| u8::from(plane & origin != 0));
        let code = match bits[0] | bits[1] << 1 | bits[2] << 2 {
            // A rook that may castle.
            7 => Role::Rook as u8 + 1,
            code => code,
        };
        let passing = self.en_passant & EN_PASSANT_RANKS & all_if(usize::from(code) == PAWN);
        let captures = (self.occupied() | passing) & target != 0;
        let mut san = San { to: to as u8, origin, ..San::of_piece(code, captures) };
        let promotion = match mv.kind {
            MoveKind::Promotion(role) => {
                san.promote(role as u8 + 1);
                true
            }
            _ => false,
        };
        if code == 0 || is_promoted(code, to as u8 / 8) != promotion {
            return Err(Refused::Illegal);
        }
        let (next, bits) = self.play(san)?;
        if bits == mv.to_bits() { Ok(next) } else { Err(Refused::Illegal) }
    }

    /// The board after the king takes a rook of its own.
    #[inline(never)]
    fn castle_with(self, mv: Move) -> Result<Self, Refused> {
        let (next, bits) = self.castle(CastlingSide::of(mv.from, mv.to))?;
        if bits == mv.to_bits() { Ok(next) } else { Err(Refused::Illegal) }
    }

    /// Passes the turn.
    #[inline(always)]
    fn pass(&mut self) {
        self.fullmove = self.fullmove.saturating_add(u16::from(self.black_to_move));
        self.black_to_move = !self.black_to_move;
        self.en_passant = 0;
    }

    /// Whether the king of a side is attacked; false if the side has no king.
    #[inline(always)]
    fn king_attacked(self, black: bool) -> bool {
        let [t0, t1, t2] = self.types;
        let occupied = t0 | t1 | t2;
        let own = self.black ^ if black { 0 } else { occupied };
        let enemy = occupied & !own;
        let king = (own & t1 & t2 & !t0).trailing_zeros() as usize & 63;
        let diagonal = enemy & t0 & (t1 ^ t2);
        let straight = enemy & t2 & (t0 | !t1);
        let knights = enemy & t1 & !t0 & !t2;
        let pawns = enemy & t0 & !t1 & !t2;
        let kings = enemy & t1 & t2 & !t0;
        let steps = knights & REACH[4][king]
            | pawns & REACH[if black { CAPTURES } else { BLACK + CAPTURES }][king]
            | kings & REACH[8][king];
        let first = diagonal & REACH[5][king] | straight & REACH[6][king];
        // There are nearly always at most two, and checking two without a loop avoids mispredicted branches.
        let second = first & first.wrapping_sub(1);
        let hits = |snipers: u64| {
            let sniper = snipers.trailing_zeros() as usize & 63;
            (snipers != 0) & (between_bits(king, sniper) & occupied == 0)
        };
        let mut attacked = (steps != 0) | hits(first) | hits(second);
        let mut more = second & second.wrapping_sub(1);
        while more != 0 {
            attacked |= hits(more);
            more &= more - 1;
        }
        attacked
    }

    /// The en passant square behind a pawn that has just made a double step, if the side to move can capture it; or its
    /// mark if a pin prevents that; else nothing.
    #[inline(always)]
    fn passed(self, to: usize) -> u64 {
        let [t0, t1, t2] = self.types;
        let pawns = t0 & !t1 & !t2 & (self.black ^ if self.black_to_move { 0 } else { ALL });
        let beside = (1u64 << to) << 1 & !0x0101_0101_0101_0101 | (1u64 << to) >> 1 & !0x8080_8080_8080_8080;
        if pawns & beside == 0 {
            return 0;
        }
        let square = if self.black_to_move { to - 8 } else { to + 8 };
        self.if_taken(1 << square)
    }

    /// The en passant square if some en passant capture on it is legal, else its mark.
    #[cold]
    fn if_taken(mut self, square: u64) -> u64 {
        self.en_passant = square;
        let mut position = self.position();
        let passed = position.en_passant;
        if position.drop_unusable_en_passant() {
            self.mark(position.pseudo_en_passant(passed));
        }
        self.en_passant
    }

    /// The board after castling, and the move's bits.
    #[inline(never)]
    pub fn castle(mut self, side: CastlingSide) -> Result<(Self, u16), Refused> {
        let position = self.position();
        let color = position.side_to_move;
        let king = position.king(color).ok_or(Refused::Illegal)?;
        let rook = position
            .castling
            .rook(color, king, side)
            .filter(|&rook| position.castling_is_legal(rook))
            .ok_or(Refused::Illegal)?;
        let goal = |file| Bitboard::square(Square::at(file, king.rank())).0;
        let (king_destination, rook_destination) = (goal(side.king_destination()), goal(side.rook_destination()));
        let rights = position.castling.of(color).0;
        let clear = Bitboard::square(king).0 | Bitboard::square(rook).0;
        let [t0, t1, t2] = self.types;
        self.types = [
            (t0 ^ rights) & !clear,
            (t1 ^ rights) & !clear | king_destination,
            t2 & !clear | king_destination | rook_destination,
        ];
        self.black = self.black & !clear | (king_destination | rook_destination) & all_if(color == Color::Black);
        self.halfmove = self.halfmove.saturating_add(1);
        self.pass();
        let bits = king.index() as u16 | (rook.index() as u16) << 6 | 3 << 14;
        Ok((self, bits))
    }

    /// The board after a null move.
    pub fn null_move(mut self) -> Result<Self, Refused> {
        if self.king_attacked(self.black_to_move) {
            return Err(Refused::Illegal);
        }
        self.halfmove = self.halfmove.saturating_add(1);
        self.pass();
        Ok(self)
    }

    /// The board after a move in any spelling, and the move's bits: see [`chess::san::read`]. `text` is without
    /// check and annotation signs; `strict` refuses what the standard does not allow.
    #[cold]
    pub fn play_spelled(self, text: &[u8], strict: bool) -> Result<(Self, u16), Refused> {
        // In UCI files all moves look like this, so they are not left to the move list.
        if !strict && let Some(played) = self.play_squares(text) {
            return Ok(played);
        }
        let mut position = self.position();
        let mv = chess::san::read(&position, text, strict).map_err(|error| match error {
            MoveError::Illegal => Refused::Illegal,
            MoveError::Ambiguous => Refused::Ambiguous,
            MoveError::Syntax => Refused::Syntax,
        })?;
        position.make(mv);
        let mut board = Self::new(&position);
        board.mark(position.idle_en_passant_after(mv));
        Ok((board, mv.to_bits()))
    }
}

impl Board {
    /// The board after a move in UCI form, except castling, and the move's bits, if the fast path finds it.
    pub fn play_squares(self, text: &[u8]) -> Option<(Self, u16)> {
        let [from_file, from_rank, to_file, to_rank, ref promotion @ ..] = *text else {
            return None;
        };
        let square = |file: u8, rank: u8| {
            let (file, rank) = (file.wrapping_sub(b'a'), rank.wrapping_sub(b'1'));
            (file | rank < 8).then(|| rank * 8 + file)
        };
        let (from, to) = (square(from_file, from_rank)?, square(to_file, to_rank)?);
        let promotion = match *promotion {
            [] => 0,
            [letter] => match CODE[letter.to_ascii_uppercase() as usize] {
                code @ 2..=5 => code,
                _ => return None,
            },
            _ => return None,
        };
        let (origin, target) = (1u64 << from, 1u64 << to);
        let bits = self.types.map(|plane| u8::from(plane & origin != 0));
        let code = match bits[0] | bits[1] << 1 | bits[2] << 2 {
            // A rook that may castle.
            7 => Role::Rook as u8 + 1,
            code => code,
        };
        let passing = self.en_passant & all_if(usize::from(code) == PAWN);
        let captures = (self.occupied() | passing) & target != 0;
        let san = San::of_squares(code, [from, to], captures, promotion);
        if code == 0 || is_promoted(code, to / 8) != (promotion != 0) {
            return None;
        }
        self.play(san).ok()
    }
}

#[inline(always)]
fn between_bits(a: usize, b: usize) -> u64 {
    between(Square::new(a as u8 & 63), Square::new(b as u8 & 63)).0
}

/// The candidates whose path to the target is free.
fn open(candidates: u64, to: usize, occupied: u64) -> u64 {
    Bitboard(candidates)
        .iter()
        .filter(|from| between_bits(from.index(), to) & occupied == 0)
        .fold(0, |set, from| set | Bitboard::square(from).0)
}
