//! The replay board: plays the moves of a game and is, at every moment, a packed record.
//!
//! Two ideas make it fast. First, the board *is* the four planes of [`crate::block`], so that a move is a
//! few masks on four words, a capture does not depend on the captured piece, and writing a position out is
//! copying it. Second, a SAN move is resolved backwards, with no move list: the candidates are the pieces
//! of the named kind within [`REACH`] of the target square, and nearly always there is just one. One table
//! serves all kinds of moves, pawn steps and captures included, so that there is no branch on the piece.
//! A candidate must find the squares between empty, and the king safe after the move.
//!
//! If that does not find exactly one move (two candidates that differ only by a pin, castling, unusual
//! spellings), [`crate::chess`] decides; such moves are rare.

use crate::block::Packed;
use crate::chess::castling::CastlingSide;
use crate::chess::geometry::between;
use crate::chess::{Bitboard, Color, MoveError, Position, Role, Square, san};

/// Rows of [`REACH`]: pawn steps and captures of each side, then knight to king.
const ROWS: usize = 9;
/// `REACH[row][to]`: where a piece may come from that moves to this square in this way, on an empty board.
static REACH: [[u64; 64]; ROWS] = reach();

const fn reach() -> [[u64; 64]; ROWS] {
    let mut table = [[0; 64]; ROWS];
    let mut to = 0;
    while to < 64 {
        let (file, rank) = (to % 8, to / 8);
        let mut from = 0;
        while from < 64 {
            let files = (from % 8) as i8 - file as i8;
            let ranks = (from / 8) as i8 - rank as i8;
            let (across, up) = (files.unsigned_abs(), ranks.unsigned_abs());
            let on_board = from / 8 > 0 && from / 8 < 7;
            let slides = (across == up, across == 0 || up == 0);
            let hits = [
                on_board && files == 0 && (ranks == -1 || (ranks == -2 && rank == 3)),
                on_board && across == 1 && ranks == -1,
                on_board && files == 0 && (ranks == 1 || (ranks == 2 && rank == 4)),
                on_board && across == 1 && ranks == 1,
                (across == 1 && up == 2) || (across == 2 && up == 1),
                slides.0,
                slides.1,
                slides.0 || slides.1,
                across <= 1 && up <= 1,
            ];
            let mut row = 0;
            while row < ROWS {
                if hits[row] && from != to {
                    table[row][to] |= 1 << from;
                }
                row += 1;
            }
            from += 1;
        }
        to += 1;
    }
    table
}

/// Piece codes of [`crate::block`], which are role index plus one.
const PAWN: usize = 1;
const KING: usize = 6;

/// The row of [`REACH`] by piece code, side to move and whether a pawn captures.
const fn row_of(code: usize, black: bool, captures: bool) -> usize {
    if code == PAWN {
        2 * black as usize + captures as usize
    } else {
        code + 2
    }
}

const ALL: u64 = !0;
const fn all_if(condition: bool) -> u64 {
    (condition as u64).wrapping_neg()
}

/// What a byte after the first one requires of the origin square; empty (no square)
/// if it is not allowed there.
static ORIGIN: [u64; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 8 {
        table[b'a' as usize + index] = 0x0101_0101_0101_0101 << index;
        table[b'1' as usize + index] = 0xFF << (8 * index);
        index += 1;
    }
    table[b'x' as usize] = ALL;
    table
};

/// What the first byte requires of that square: the file of a pawn, anything for a piece, empty if no move
/// begins this way.
static FIRST: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match CODE[byte] as usize {
            0 => 0,
            PAWN => ORIGIN[byte],
            _ => ALL,
        };
        byte += 1;
    }
    table
};

/// The piece code that a first letter of SAN stands for, or 0.
static CODE: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 8 {
        table[b'a' as usize + index] = PAWN as u8;
        index += 1;
    }
    let pieces = b"NBRQK";
    let mut index = 0;
    while index < pieces.len() {
        table[pieces[index] as usize] = index as u8 + 2;
        index += 1;
    }
    table
};

/// A parsed SAN move, except castling.
#[derive(Clone, Copy, Debug)]
pub(super) struct San {
    code: u8,
    captures: bool,
    to: u8,
    /// Piece code of the promotion, or 0.
    promotion: u8,
    /// Squares that the text allows as origin; none if it has a byte out of place.
    origin: u64,
}

impl San {
    /// Parses the first `len` bytes of `word` (at least 2, at most 8), without check and annotation
    /// signs; `None`, or no origin, if they are not standard SAN.
    #[inline(always)]
    pub(super) fn decode(word: u64, mut len: usize) -> Option<Self> {
        let mut promotion = 0;
        let mut target = word >> ((8 * (len - 2)) & 63);
        // Digits are below `A`, promotion pieces are not.
        if (target >> 8) as u8 >= b'A' {
            promotion = CODE[(target >> 8) as usize & 0xFF];
            if len < 4 || target as u8 != b'=' || !(2..=5).contains(&promotion) {
                return None;
            }
            len -= 2;
            target = word >> ((8 * (len - 2)) & 63);
        }
        let file = (target as u8).wrapping_sub(b'a');
        let rank = ((target >> 8) as u8).wrapping_sub(b'1');
        let first = word as u8;
        let code = CODE[first as usize];
        let head = len - 2;
        let before_target = (word << 8 >> ((8 * head) & 63)) as u8;
        let captures = before_target == b'x';
        // Before the target a pawn has a file and an `x`, or nothing.
        let odd_pawn = (code == PAWN as u8) & (head != 2 * usize::from(captures));
        if (file | rank > 7) | odd_pawn {
            return None;
        }
        let second = if head >= 2 { (word >> 8) as u8 } else { b'x' };
        let mut origin = FIRST[first as usize] & ORIGIN[second as usize];
        if head >= 3 {
            // File and rank, or one of them and an `x`, or all three; letters are above digits.
            let third = (word >> 16) as u8;
            let in_order = match head {
                3 if captures => second != b'x',
                3 => second >= b'a' && second != b'x' && third < b'a',
                4 => captures && second >= b'a' && second != b'x' && third < b'a',
                _ => false,
            };
            if !in_order {
                return None;
            }
            origin &= ORIGIN[third as usize];
        }
        Some(Self {
            code,
            captures,
            to: rank * 8 + file,
            promotion,
            origin,
        })
    }
}

/// Why a move cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// No legal move fits.
    Illegal,
    /// Several legal moves fit.
    Ambiguous,
    /// The text is not a move.
    Syntax,
}

/// A position during replay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Board {
    /// Black's pieces.
    black: u64,
    /// The bits of the piece codes.
    types: [u64; 3],
    /// The en passant square, where an en passant capture is legal.
    en_passant: u64,
    black_to_move: bool,
    pub(super) halfmove: u16,
    pub(super) fullmove: u16,
}

impl Board {
    pub(super) fn new(position: &Position) -> Self {
        let of = |role| position.role(role).0;
        let castling = position.castling.0.0 & of(Role::Rook);
        Self {
            black: position.color(Color::Black).0,
            types: [
                of(Role::Pawn) | of(Role::Bishop) | of(Role::Queen) | castling,
                of(Role::Knight) | of(Role::Bishop) | of(Role::King) | castling,
                of(Role::Rook) | of(Role::Queen) | of(Role::King),
            ],
            en_passant: position
                .en_passant
                .map_or(0, |square| Bitboard::square(square).0),
            black_to_move: position.side_to_move == Color::Black,
            halfmove: position.halfmove,
            fullmove: position.fullmove,
        }
    }

    /// The record of this position.
    #[inline(always)]
    pub(super) fn packed(self) -> Packed {
        const EN_PASSANT_RANKS: u64 = 0x0000_FF00_00FF_0000;
        let free = !(self.occupied() | EN_PASSANT_RANKS);
        let black = all_if(self.black_to_move & (self.en_passant == 0));
        Packed {
            color: self.black | self.en_passant | free & free.wrapping_neg() & black,
            types: self.types,
        }
    }

    /// The position as [`crate::chess`] represents it.
    pub(super) fn position(self) -> Position {
        self.packed()
            .unpack(self.halfmove, self.fullmove)
            .expect("a replay board has at most one sentinel bit")
    }

    #[inline(always)]
    fn occupied(self) -> u64 {
        self.types[0] | self.types[1] | self.types[2]
    }

    /// Pieces of a code, rooks that may castle among the rooks; both colours.
    #[inline(always)]
    fn coded(self, code: usize) -> u64 {
        let [t0, t1, t2] = self.types;
        let [n0, n1, n2, castling] = SELECT[code & 7];
        (t0 ^ n0) & (t1 ^ n1) & (t2 ^ n2) | t0 & t1 & t2 & castling
    }

    /// The board after a move, and the move's bits (see [`Move::to_bits`]).
    ///
    /// Boards are passed by value here: the fields then live in registers, and are not copied through memory in
    /// other widths than they were written in, which would stall each move.
    ///
    /// # Errors
    /// If the fast path does not find exactly one legal move.
    #[inline(always)]
    pub(super) fn play(self, san: San) -> Result<(Self, u16), Refused> {
        let black = self.black_to_move;
        let code = san.code as usize;
        let to = san.to as usize & 63;
        let to_bit = 1u64 << to;
        let occupied = self.occupied();
        let own = self.black ^ if black { 0 } else { occupied };
        let pawn = code == PAWN;
        let row = row_of(code, black, san.captures);

        let passing = self.en_passant & all_if(pawn);
        let barred = own | occupied ^ all_if(san.captures);
        // The en passant square is empty, and yet pawns capture there.
        let barred = barred & !(passing & all_if(san.captures));
        let last_rank = to_bit & Bitboard::BACK_RANKS.0 != 0;
        if barred & to_bit != 0 || (pawn & last_rank) != (san.promotion != 0) {
            return Err(Refused::Illegal);
        }

        let mut candidates = self.coded(code) & own & san.origin & REACH[row.min(ROWS - 1)][to];
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
        let mut kind = 0;
        let mut clear = candidates | to_bit;
        if to_bit & passing != 0 {
            clear |= if black { to_bit << 8 } else { to_bit >> 8 };
            kind = 2 << 14;
        }
        let mut arrives = code;
        if san.promotion != 0 {
            arrives = san.promotion as usize;
            kind = 1 << 14 | (arrives as u16 - 2) << 12;
        }
        let king_moves = all_if(code == KING);
        let [t0, t1, t2] = self.types;
        let lost = t0 & t1 & t2 & own & king_moves;
        let bit = |n: usize| all_if(arrives >> n & 1 != 0) & to_bit;
        next.types = [
            (t0 ^ lost) & !clear | bit(0),
            (t1 ^ lost) & !clear | bit(1),
            t2 & !clear | bit(2),
        ];
        next.black = self.black & !clear | to_bit & all_if(black);
        if next.king_attacked(black) {
            return Err(Refused::Illegal);
        }
        let quiet = !pawn & (occupied & to_bit == 0);
        next.halfmove = if quiet {
            self.halfmove.saturating_add(1)
        } else {
            0
        };
        next.pass();
        if pawn & (from.abs_diff(to) == 16) {
            next.en_passant = next.passed(to);
        }
        Ok((next, from as u16 | (to as u16) << 6 | kind))
    }

    /// Passes the turn.
    #[inline(always)]
    fn pass(&mut self) {
        self.fullmove = self.fullmove.saturating_add(u16::from(self.black_to_move));
        self.black_to_move = !self.black_to_move;
        self.en_passant = 0;
    }

    /// Whether the king of a side is attacked. A side without king is not.
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
            | pawns & REACH[row_of(PAWN, !black, true)][king]
            | kings & REACH[8][king];
        let first = diagonal & REACH[5][king] | straight & REACH[6][king];
        // There are nearly always two at most, and two without a loop mispredict no branch.
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

    /// The en passant square behind a pawn that has just made a double step, if the side to move may take
    /// it; else nothing.
    #[inline(always)]
    fn passed(self, to: usize) -> u64 {
        let [t0, t1, t2] = self.types;
        let pawns = t0 & !t1 & !t2 & (self.black ^ if self.black_to_move { 0 } else { ALL });
        let beside =
            (1u64 << to) << 1 & !0x0101_0101_0101_0101 | (1u64 << to) >> 1 & !0x8080_8080_8080_8080;
        if pawns & beside == 0 {
            return 0;
        }
        let square = if self.black_to_move { to - 8 } else { to + 8 };
        self.if_taken(1 << square)
    }

    /// The en passant square if some en passant capture on it is legal.
    #[cold]
    fn if_taken(mut self, square: u64) -> u64 {
        self.en_passant = square;
        if self.position().drop_idle_en_passant() {
            0
        } else {
            square
        }
    }

    /// The board after castling, towards the h-file if `short`, and the move's bits.
    #[inline(never)]
    pub(super) fn castle(mut self, short: bool) -> Result<(Self, u16), Refused> {
        let position = self.position();
        let color = position.side_to_move;
        let king = position.king(color).ok_or(Refused::Illegal)?;
        let side = if short {
            CastlingSide::King
        } else {
            CastlingSide::Queen
        };
        let rook = position
            .castling
            .rook(color, king, side)
            .filter(|&rook| position.castling_is_legal(rook))
            .ok_or(Refused::Illegal)?;
        let goal = |file| Bitboard::square(Square::at(file, king.rank())).0;
        let (king_goal, rook_goal) = (goal(side.king_goal()), goal(side.rook_goal()));
        let rights = position.castling.of(color).0;
        let clear = Bitboard::square(king).0 | Bitboard::square(rook).0;
        let [t0, t1, t2] = self.types;
        self.types = [
            (t0 ^ rights) & !clear,
            (t1 ^ rights) & !clear | king_goal,
            t2 & !clear | king_goal | rook_goal,
        ];
        self.black = self.black & !clear | (king_goal | rook_goal) & all_if(color == Color::Black);
        self.halfmove = self.halfmove.saturating_add(1);
        self.pass();
        let bits = king.index() as u16 | (rook.index() as u16) << 6 | 3 << 14;
        Ok((self, bits))
    }

    /// The board after a null move.
    pub(super) fn null_move(mut self) -> Result<Self, Refused> {
        if self.king_attacked(self.black_to_move) {
            return Err(Refused::Illegal);
        }
        self.halfmove = self.halfmove.saturating_add(1);
        self.pass();
        Ok(self)
    }

    /// The board after a move in any spelling, and the move's bits: see [`san::read`]. `text` is without
    /// check and annotation signs; `strict` refuses what the standard does not allow.
    #[cold]
    pub(super) fn play_spelled(self, text: &[u8], strict: bool) -> Result<(Self, u16), Refused> {
        // In UCI files all moves look like this, so they are not left to the move list.
        if !strict && let Some(played) = self.play_squares(text) {
            return Ok(played);
        }
        let mut position = self.position();
        let mv = san::read(&position, text, strict).map_err(|error| match error {
            MoveError::Illegal => Refused::Illegal,
            MoveError::Ambiguous => Refused::Ambiguous,
            MoveError::Syntax => Refused::Syntax,
        })?;
        position.make(mv);
        Ok((Self::new(&position), mv.to_bits()))
    }
}

impl Board {
    /// The board after a move in UCI form, except castling, and the move's bits, if the fast path finds it.
    fn play_squares(self, text: &[u8]) -> Option<(Self, u16)> {
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
        let san = San {
            code,
            captures: (self.occupied() | passing) & target != 0,
            to,
            promotion,
            origin,
        };
        if code == 0 { None } else { self.play(san).ok() }
    }
}

/// Masks that select a piece code from the three planes: flips, and whether castling rooks count.
static SELECT: [[u64; 4]; 8] = {
    let mut table = [[0; 4]; 8];
    let mut code = 0;
    while code < 8 {
        table[code] = [
            all_if(code & 1 == 0),
            all_if(code & 2 == 0),
            all_if(code & 4 == 0),
            all_if(code == Role::Rook as usize + 1),
        ];
        code += 1;
    }
    table
};

#[inline(always)]
fn between_bits(a: usize, b: usize) -> u64 {
    between(Square::new(a as u8 & 63), Square::new(b as u8 & 63)).0
}

/// The candidates with nothing between them and the target.
fn open(candidates: u64, to: usize, occupied: u64) -> u64 {
    Bitboard(candidates)
        .iter()
        .filter(|from| between_bits(from.index(), to) & occupied == 0)
        .fold(0, |set, from| set | Bitboard::square(from).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Move;
    use crate::chess::moves::MoveKind;
    use std::collections::HashSet;

    /// All texts that are standard SAN, except castling.
    fn standard() -> HashSet<String> {
        let maybe = |texts: &str| -> Vec<String> {
            let texts = texts.chars().map(String::from);
            texts.chain([String::new()]).collect()
        };
        let mut all = HashSet::new();
        for to in (0..64).map(|index| Square::new(index).to_string()) {
            for x in maybe("x") {
                for rank in maybe("12345678") {
                    for file in maybe("abcdefgh") {
                        for piece in "NBRQK".chars() {
                            all.insert(format!("{piece}{file}{rank}{x}{to}"));
                        }
                        if rank.is_empty() && file.is_empty() == x.is_empty() {
                            for promotion in ["", "=N", "=B", "=R", "=Q"] {
                                all.insert(format!("{file}{x}{to}{promotion}"));
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(all.len(), 64 * (2 * 9 * 9 * 5 + (1 + 8) * 5));
        all
    }

    fn decode(text: &[u8]) -> Option<San> {
        let mut word = [0; 8];
        word[..text.len()].copy_from_slice(text);
        // No piece comes from an empty set, and only pawns are promoted: see `Board::play`.
        San::decode(u64::from_le_bytes(word), text.len())
            .filter(|san| san.origin != 0 && (san.promotion == 0 || usize::from(san.code) == PAWN))
    }

    #[test]
    fn only_the_form_of_the_standard_is_decoded() {
        let standard = standard();
        for text in &standard {
            assert!(decode(text.as_bytes()).is_some(), "{text}");
        }
        // All texts of a few letters, longer ones of fewer letters.
        for (letters, lengths) in [
            (&b"abgh1278NBRKx=-O"[..], 2..=5),
            (b"abd1BQx=-", 6..=6),
            (b"a1bNx=", 7..=8),
        ] {
            for len in lengths {
                let mut digits = vec![0; len];
                loop {
                    let text: Vec<u8> = digits.iter().map(|&digit| letters[digit]).collect();
                    if decode(&text).is_some() {
                        let text = std::str::from_utf8(&text).unwrap();
                        assert!(standard.contains(text), "{text}");
                    }
                    let Some(place) = digits.iter().rposition(|&digit| digit + 1 < letters.len())
                    else {
                        break;
                    };
                    digits[place] += 1;
                    digits[place + 1..].fill(0);
                }
            }
        }
    }

    /// The legal move that a standard text means, written plainly.
    fn meant(position: &Position, text: &str) -> Result<Move, Refused> {
        let (text, promotion) = text.split_once('=').unwrap_or((text, ""));
        let captures = text.contains('x');
        let text = text.replace('x', "");
        let (head, to) = text.split_at(text.len() - 2);
        let piece = head.chars().find(char::is_ascii_uppercase).unwrap_or('P');
        let origin: Vec<char> = head.chars().filter(|letter| *letter != piece).collect();
        let moves = position.legal_moves();
        let fitting: Vec<Move> = moves
            .iter()
            .copied()
            .filter(|mv| {
                let takes = mv.kind == MoveKind::EnPassant || position.role_at(mv.to).is_some();
                let becomes = match mv.kind {
                    MoveKind::Promotion(role) => role.letter().to_ascii_uppercase().to_string(),
                    _ => String::new(),
                };
                let from = mv.from.to_string();
                let role = position.role_at(mv.from).unwrap().letter();
                mv.kind != MoveKind::Castle
                    && mv.to.to_string() == to
                    && takes == captures
                    && becomes == promotion
                    && role.to_ascii_uppercase() == piece
                    && origin.iter().all(|&letter| from.contains(letter))
                    && (piece != 'P' || takes || from[..1] == to[..1])
            })
            .collect();
        match *fitting {
            [] => Err(Refused::Illegal),
            [mv] => Ok(mv),
            _ => Err(Refused::Ambiguous),
        }
    }

    #[test]
    fn moves_named_by_their_squares_are_those_of_the_rules() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nPP5/B1P1P3/q4N2/Pp1P2PP/R2Q1RK1 b kq - 0 1",
            "2q1k3/1P6/8/N1NpPp2/8/N1N5/4K3/2Q1Q2Q w - d6 0 1",
            "4k3/8/8/8/7b/2n3N1/3N4/R3K2R w KQ - 0 1",
        ] {
            let position = Position::from_fen_unvalidated(fen).unwrap();
            let board = Board::new(&position);
            let mut played = 0;
            let squares = || (0..64).map(|index| Square::new(index).to_string());
            for from in squares() {
                for to in squares() {
                    for promotion in ["", "q", "N", "k"] {
                        let text = format!("{from}{to}{promotion}");
                        let quick = board.play_squares(text.as_bytes());
                        let read = san::read(&position, text.as_bytes(), false);
                        if let Some((next, bits)) = quick {
                            assert_eq!(read.map(Move::to_bits), Ok(bits), "{text} in {fen}");
                            let mut position = position.clone();
                            position.make(read.unwrap());
                            assert_eq!(next.position(), position, "{text} in {fen}");
                            played += 1;
                        } else if let Ok(mv) = read {
                            assert_eq!(mv.kind, MoveKind::Castle, "{text} in {fen}");
                        }
                    }
                }
            }
            assert!(played > 10);
        }
    }

    /// The fast path agrees with the rules, and what it does not play is left to them.
    #[test]
    fn quick_and_cold_moves_are_those_of_the_rules() {
        let texts = standard();
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nPP5/B1P1P3/q4N2/Pp1P2PP/R2Q1RK1 b kq - 0 1",
            "2q1k3/1P6/8/N1NpPp2/8/N1N5/4K3/2Q1Q2Q w - d6 0 1",
            "4k3/8/8/8/7b/2n3N1/3N4/R3K2R w KQ - 0 1",
        ] {
            let position = Position::from_fen_unvalidated(fen).unwrap();
            let board = Board::new(&position);
            for text in &texts {
                let expected = meant(&position, text).map(Move::to_bits);
                let quick = board.play(decode(text.as_bytes()).unwrap());
                let bits = |played: Result<(Board, u16), Refused>| played.map(|(_, bits)| bits);
                if let Ok((next, bits)) = quick {
                    assert_eq!(Ok(bits), expected, "{text} in {fen}");
                    let (cold, _) = board.play_spelled(text.as_bytes(), true).unwrap();
                    assert_eq!(next.position(), cold.position(), "{text} in {fen}");
                }
                let strict = bits(board.play_spelled(text.as_bytes(), true));
                assert_eq!(strict, expected, "{text} in {fen}");
                let lenient = bits(board.play_spelled(text.as_bytes(), false));
                assert!(
                    lenient == expected || expected == Err(Refused::Illegal),
                    "{text} in {fen}"
                );
            }
        }
    }
}
