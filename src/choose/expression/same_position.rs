//! The function `same_position('FEN')`: one position, compared with many.

use crate::chess::Validity;
use crate::chess::fen::{FenOptions, parse};
use crate::chess::{Color, Position, Square};
use crate::packed::{Group, Packed};

/// A position without its clocks: pieces, side to move, castling rights and a legal en passant square.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SamePosition {
    /// The bits of the codes of pieces, which include castling rights, and Black's pieces.
    types: [u64; 3],
    black: u64,
    side_to_move: Color,
    en_passant: Option<Square>,
}

impl SamePosition {
    /// The position of a FEN with four or six fields. An en passant square that no pawn can use is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let fields @ 0..=3 = text.split_ascii_whitespace().count() {
            if text.trim().split('/').count() != 8 {
                position_of(text)?;
            }
            let cure = match fields {
                1 => "; `matches('BOARD', 'exact')` compares boards alone",
                _ => "",
            };
            return Err(format!(
                "`same_position` takes a FEN with the fields for the board, the side to move, castling rights and the en \
                 passant square, and this one has only {fields}{cure}"
            ));
        }
        let position = position_of(text)?;
        let violations = position.violations(Validity::Playable);
        if !violations.is_empty() {
            return Err(format!("no record has this position: it has {violations}"));
        }
        let packed = Packed::pack(&position).map_err(|error| error.to_string())?;
        Ok(Self {
            types: packed.types,
            black: packed.color & packed.occupied(),
            side_to_move: position.side_to_move,
            en_passant: position.en_passant,
        })
    }

    /// The lanes with this position, a bit each.
    pub(super) fn lanes(&self, group: &Group) -> u8 {
        let [color, t0, t1, t2] = &group.planes;
        let [own0, own1, own2] = self.types;
        let occupied = own0 | own1 | own2;
        let wrong: [u64; Group::LEN] = std::array::from_fn(|lane| {
            t0[lane] ^ own0 | t1[lane] ^ own1 | t2[lane] ^ own2 | color[lane] & occupied ^ self.black
        });
        // Few boards have all these pieces.
        let boards = wrong.iter().enumerate().filter(|&(_, &wrong)| wrong == 0);
        boards.filter(|&(lane, _)| self.has_state(group.get(lane))).fold(0, |lanes, (lane, _)| lanes | 1 << lane)
    }

    /// Whether a board with all these pieces and castling rights has also this side to move and en passant square.
    fn has_state(&self, board: Packed) -> bool {
        // A board that was read with its en passant square as given may have one that no pawn can use.
        let legal = |square: Square| {
            self.en_passant == Some(square)
                || board.unpack(0, 1).is_ok_and(|position| !position.en_passant_captors().is_empty())
        };
        board.side_to_move() == self.side_to_move
            && board.en_passant().filter(|&square| legal(square)) == self.en_passant
    }
}

/// The position of a FEN as all inputs are read; the error says why there is none.
pub(super) fn position_of(text: &str) -> Result<Position, String> {
    let wrong =
        |reason: &str| format!("'{}' is not a FEN: {reason}", text.escape_debug().take(100).collect::<String>());
    let fen = parse(text.trim().as_bytes(), FenOptions::default()).map_err(|error| wrong(&error.to_string()))?;
    if !fen.rest.is_empty() {
        let rest = String::from_utf8_lossy(fen.rest);
        return Err(wrong(&format!("`{}` follows its fields", rest.escape_debug().take(24).collect::<String>())));
    }
    Ok(fen.position)
}
