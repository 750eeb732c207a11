//! Stems: the whole position at the beginning of a chain, with its move and values.

use super::STEM;
use super::bits::{from_zigzag, to_zigzag};
use crate::chess::{Bitboard, Color, Move, MoveKind, Piece, Position, Rank, Role, Square};
use crate::formats::DecodeOptions;
use crate::formats::codec::decode_records::{BadRecord, Record};

/// A pawn that has just made a double step.
const PUSHED: u8 = 12;
/// A white rook that may castle; the next code is that of a black one.
const CASTLING_ROOK: u8 = 13;
/// The black king, if Black is to move.
const BLACK_TO_MOVE: u8 = 15;

/// The values of a stem besides its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    /// `None` for a null move.
    pub(super) mv: Option<Move>,
    /// For the side to move.
    pub(super) score: i16,
    pub(super) ply: u16,
    /// For the side to move: 0 loss, 1 draw, 2 win.
    pub(super) result: u8,
    /// Number of further plies.
    pub(super) further: u16,
}

/// Reads a stem.
///
/// # Errors
/// If the bytes are not a stem.
pub(super) fn read(stem: &[u8; STEM], options: &DecodeOptions) -> Result<(Record, Values), BadRecord> {
    let bad = |reason, message: &str| Err(BadRecord::new(reason, message.to_owned()));
    let [m0, m1, s0, s1, p0, p1, h0, h1, n0, n1] = *stem.last_chunk().expect("ten bytes of 34");
    let occupied = Bitboard(u64::from_be_bytes(*stem.first_chunk().expect("eight bytes of 34")));
    if occupied.0.count_ones() > 32 {
        return bad("too_many_pieces", "more than 32 occupied squares");
    }
    let mut position = Position::empty();
    let mut pushed = None;
    let mut codes = stem[8..24].iter().flat_map(|&byte| [byte & 15, byte >> 4]);
    for (square, code) in occupied.into_iter().zip(&mut codes) {
        let rank = square.rank();
        let (color, role) = match code {
            PUSHED if rank == Rank::new(3) => (Color::White, Role::Pawn),
            PUSHED if rank == Rank::new(4) => (Color::Black, Role::Pawn),
            PUSHED => return bad("invalid_en_passant", "a pawn after a double step on another rank than 4 and 5"),
            BLACK_TO_MOVE => (Color::Black, Role::King),
            CASTLING_ROOK => (Color::White, Role::Rook),
            // That of Black.
            14 => (Color::Black, Role::Rook),
            code => (if code & 1 == 0 { Color::White } else { Color::Black }, Role::ALL[usize::from(code / 2)]),
        };
        match code {
            PUSHED if pushed.replace(square).is_some() => {
                return bad("invalid_en_passant", "two pawns after a double step");
            }
            BLACK_TO_MOVE => position.side_to_move = Color::Black,
            CASTLING_ROOK | 14 => position.castling.0 |= Bitboard::square(square),
            _ => {}
        }
        position.put(square, Piece { color, role });
    }
    if codes.any(|code| code != 0) {
        return bad("unused_bytes", "the code of a piece without a square");
    }
    for color in Color::ALL {
        if position.pieces(color, Role::King).0.count_ones() != 1 {
            return bad("not_one_king_each", "not one king of each side");
        }
    }
    let (result, ply) = (p0 >> 6, u16::from_be_bytes([p0 & 0x3F, p1]));
    position.halfmove = u16::from_be_bytes([h0, h1]);
    position.fullmove = ply / 2 + 1;
    let us = position.side_to_move;
    let mut record = Record::of(position);
    if let Some(square) = pushed {
        if record.position.color(us).contains(square) {
            return bad("invalid_en_passant", "a pawn of the side to move after a double step");
        }
        let behind = if us == Color::Black { square.index() - 8 } else { square.index() + 8 };
        record.set_en_passant(Square::new(behind as u8), options)?;
    }
    let result = match result {
        0 => 1,
        1 => 0,
        2 => 2,
        _ => return bad("invalid_result", "an unknown result"),
    };
    let bits = u16::from_be_bytes([m0, m1]);
    let mv = match bits {
        0 => None,
        _ => match move_of(bits) {
            Some(mv) => Some(mv),
            None => return bad("illegal_move", "bits that do not encode a move"),
        },
    };
    let score = from_zigzag(u16::from_be_bytes([s0, s1]));
    Ok((record, Values { mv, score, ply, result, further: u16::from_be_bytes([n0, n1]) }))
}

/// The move in these bits; `None` if they are not a move.
fn move_of(bits: u16) -> Option<Move> {
    let promotion = bits & 3;
    let kind = match (bits >> 14, promotion) {
        (0, 0) => MoveKind::Normal,
        (1, _) => MoveKind::Promotion(Role::PROMOTIONS[usize::from(promotion)]),
        (2, 0) => MoveKind::Castle,
        (3, 0) => MoveKind::EnPassant,
        _ => return None,
    };
    Some(Move { from: Square::new((bits >> 8 & 63) as u8), to: Square::new((bits >> 2 & 63) as u8), kind })
}

fn bits_of(mv: Move) -> u16 {
    let (kind, promotion) = match mv.kind {
        MoveKind::Normal => (0, 0),
        MoveKind::Promotion(role) => (1, role.index() as u16 - 1),
        MoveKind::Castle => (2, 0),
        MoveKind::EnPassant => (3, 0),
    };
    kind << 14 | (mv.from.index() as u16) << 8 | (mv.to.index() as u16) << 2 | promotion
}

/// The stem for a position, as bytes; the fullmove number is not stored.
pub(super) fn write(position: &Position, values: Values) -> [u8; STEM] {
    let mut stem = [0; STEM];
    let occupied = position.occupied();
    stem[..8].copy_from_slice(&occupied.0.to_be_bytes());
    let pushed = position.en_passant_victim();
    let black_to_move = position.side_to_move == Color::Black;
    for (place, square) in occupied.iter().take(32).enumerate() {
        let Some(Piece { color, role }) = position.piece_at(square) else { continue };
        let black = u8::from(color == Color::Black);
        let code = match role {
            _ if pushed == Some(square) => PUSHED,
            Role::Rook if position.castling.0.contains(square) => CASTLING_ROOK + black,
            Role::King if black_to_move && color == Color::Black => BLACK_TO_MOVE,
            role => 2 * role.index() as u8 + black,
        };
        stem[8 + place / 2] |= code << (4 * (place % 2));
    }
    let result: u16 = match values.result {
        0 => 1,
        1 => 0,
        _ => 2,
    };
    let numbers = [
        values.mv.map_or(0, bits_of),
        to_zigzag(values.score),
        values.ply | result << 14,
        position.halfmove,
        values.further,
    ];
    for (place, number) in stem[24..].as_chunks_mut::<2>().0.iter_mut().zip(numbers) {
        *place = number.to_be_bytes();
    }
    stem
}
