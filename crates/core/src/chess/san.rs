//! Standard algebraic notation, written exactly and parsed leniently.

use super::attacks::piece_attacks;
use super::bitboard::Bitboard;
use super::castling::CastlingSide;
use super::moves::{Move, MoveError, MoveKind};
use super::piece::Role;
use super::position::Position;
use super::square::{File, Rank, Square};
use std::borrow::Cow;

impl Move {
    /// The move in algebraic notation, with `+` or `#`. The origin is given only as far as other legal moves require:
    /// file, rank, or both, in this order of preference.
    ///
    /// ```
    /// use lanefish_core::chess::Position;
    /// let position = Position::from_fen_unvalidated("1k6/8/8/8/8/8/1K6/R6R w - - 0 1").unwrap();
    /// let mv = position.parse_san("Rd1").unwrap_err();
    /// assert_eq!(mv, lanefish_core::chess::MoveError::Ambiguous);
    /// assert_eq!(position.parse_san("Rad1").unwrap().san(&position), "Rad1");
    /// ```
    ///
    /// # Panics
    /// May panic if the move is not legal in the position.
    pub fn san(self, position: &Position) -> String {
        let mut text = Vec::with_capacity(8);
        self.append_san(position, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Appends the text of [`Self::san`].
    #[doc(hidden)]
    pub fn append_san(self, position: &Position, text: &mut Vec<u8>) {
        let role = position.role_at(self.from).unwrap_or(Role::Pawn);
        let captures = self.kind == MoveKind::EnPassant || position.color(!position.side_to_move).contains(self.to);
        if self.kind == MoveKind::Castle {
            text.extend_from_slice(match CastlingSide::of(self.from, self.to) {
                CastlingSide::King => b"O-O",
                CastlingSide::Queen => b"O-O-O",
            });
        } else {
            if role == Role::Pawn {
                if captures {
                    text.push(self.from.file().letter() as u8);
                }
            } else {
                text.push(role.letter().to_ascii_uppercase() as u8);
                self.push_origin(position, role, text);
            }
            if captures {
                text.push(b'x');
            }
            text.push(self.to.file().letter() as u8);
            text.push(self.to.rank().digit() as u8);
            if let MoveKind::Promotion(role) = self.kind {
                text.push(b'=');
                text.push(role.letter().to_ascii_uppercase() as u8);
            }
        }
        let mut after = position.clone();
        after.make(self);
        if after.in_check() {
            text.push(if after.has_legal_move() { b'+' } else { b'#' });
        }
    }

    fn push_origin(self, position: &Position, role: Role, text: &mut Vec<u8>) {
        // Pieces attack each other's squares mutually, and nearly always no other piece of the kind is near.
        let color = position.side_to_move;
        let near = piece_attacks(role, color, self.to, position.occupied());
        if (near & (position.pieces(color, role) - self.from.into())).is_empty() {
            return;
        }
        let moves = position.legal_moves();
        let ambiguous: Bitboard = moves
            .iter()
            .filter(|mv| {
                mv.to == self.to
                    && mv.from != self.from
                    && mv.kind != MoveKind::Castle
                    && position.role(role).contains(mv.from)
            })
            .map(|mv| mv.from)
            .collect();
        if ambiguous.is_empty() {
            return;
        }
        let same_file = (ambiguous & Bitboard::file(self.from.file())).any();
        let same_rank = (ambiguous & Bitboard::rank(self.from.rank())).any();
        if !same_file || same_rank {
            text.push(self.from.file().letter() as u8);
        }
        if same_file {
            text.push(self.from.rank().digit() as u8);
        }
    }
}

/// A parsed text in algebraic notation, except castling.
#[derive(Clone, Copy, Debug)]
struct San {
    role: Role,
    file: Option<File>,
    rank: Option<Rank>,
    to: Square,
    captures: bool,
    promotion: Option<Role>,
}

impl San {
    /// Parses what follows the letter of this piece, leniently.
    fn parse(role: Role, mut rest: &[u8]) -> Option<Self> {
        if role == Role::Pawn {
            for suffix in [&b"e.p."[..], b"ep", b"e.p"] {
                rest = rest.strip_suffix(suffix).unwrap_or(rest);
            }
            rest = rest.trim_ascii_end();
        }
        // From the end: promotion, target square; the rest is the origin.
        let mut promotion = None;
        let letter = match rest {
            [before @ .., b'(', letter, b')'] => {
                rest = before.strip_suffix(b"=").unwrap_or(before);
                Some(letter)
            }
            [before @ .., b'=' | b'/', letter] | [before @ .., letter] if letter.is_ascii_alphabetic() => {
                rest = before;
                Some(letter)
            }
            _ => None,
        };
        if let Some(&letter) = letter {
            let role = Role::from_letter(letter)?;
            promotion = Some(role).filter(|role| Role::PROMOTIONS.contains(role));
            promotion?;
        }
        let file = |&byte: &u8| byte.is_ascii_lowercase().then(|| File::from_letter(byte))?;
        let rank = |&byte: &u8| Rank::try_new(byte.wrapping_sub(b'1'));
        let [origin @ .., to_file, to_rank] = rest else {
            return None;
        };
        let to = Square::at(file(to_file)?, rank(to_rank)?);
        let (origin, captures) = match origin {
            [before @ .., b'x' | b'X' | b':'] => (before, true),
            [before @ .., b'-'] => (before, false),
            _ => (origin, false),
        };
        let (file, rank) = match origin {
            [] => (None, None),
            [one] => match file(one) {
                Some(file) => (Some(file), None),
                None => (None, Some(rank(one)?)),
            },
            [first, second] => (Some(file(first)?), Some(rank(second)?)),
            _ => return None,
        };
        Some(Self { role, file, rank, to, captures, promotion })
    }

    /// Whether a legal move matches, apart from the capture sign.
    fn matches(&self, mv: Move, position: &Position) -> bool {
        // A pawn without a file moves straight ahead.
        let file = match self.role {
            Role::Pawn => self.file.or(Some(self.to.file())),
            _ => self.file,
        };
        let promotion = match mv.kind {
            MoveKind::Promotion(role) => Some(role),
            _ => None,
        };
        (mv.to == self.to || king_goes_to(mv, self.to))
            && promotion == self.promotion
            && file.is_none_or(|file| mv.from.file() == file)
            && self.rank.is_none_or(|rank| mv.from.rank() == rank)
            && position.role_at(mv.from) == Some(self.role)
    }

    /// Whether the text has a capture sign exactly if the move is a capture. Castling may be written as king takes
    /// rook.
    fn has_correct_capture_sign(&self, mv: Move, position: &Position) -> bool {
        match mv.kind {
            MoveKind::Castle => true,
            MoveKind::EnPassant => self.captures,
            _ => self.captures == position.color(!position.side_to_move).contains(mv.to),
        }
    }
}

/// Whether a move is castling with this square as the king's destination, more than one file away. (A move by one file
/// is a step.)
fn king_goes_to(mv: Move, to: Square) -> bool {
    mv.kind == MoveKind::Castle
        && to == Square::at(CastlingSide::of(mv.from, mv.to).king_destination(), mv.from.rank())
        && mv.from.file().index().abs_diff(to.file().index()) > 1
}

/// Whether a text has the standard form of a move other than castling: `e4`, `exd5`, `e8=Q`,
/// `Nf3`, `Nbd7`, `R1xe4`, `Qh4xe1`.
fn is_standard(text: &[u8]) -> bool {
    let is_file = |byte: &u8| (b'a'..=b'h').contains(byte);
    let is_rank = |byte: &u8| (b'1'..=b'8').contains(byte);
    if let [b'N' | b'B' | b'R' | b'Q' | b'K', head @ .., file, rank] = text {
        let origin = head.strip_suffix(b"x").unwrap_or(head);
        return is_file(file)
            && is_rank(rank)
            && match origin {
                [] => true,
                [one] => is_file(one) || is_rank(one),
                [first, second] => is_file(first) && is_rank(second),
                _ => false,
            };
    }
    let step = match text {
        [step @ .., b'=', b'N' | b'B' | b'R' | b'Q'] => step,
        _ => text,
    };
    match step {
        [file, rank] => is_file(file) && is_rank(rank),
        [from, b'x', file, rank] => is_file(from) && is_file(file) && is_rank(rank),
        _ => false,
    }
}

/// The side towards which a text castles.
fn castling(text: &[u8]) -> Option<CastlingSide> {
    match text {
        b"O-O" | b"0-0" | b"o-o" => Some(CastlingSide::King),
        b"O-O-O" | b"0-0-0" | b"o-o-o" => Some(CastlingSide::Queen),
        _ => None,
    }
}

/// The text with figurines and printed annotation signs replaced by ASCII.
fn without_figurines(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let letters = String::from_utf8_lossy(text);
    let ascii: String = letters
        .chars()
        .filter_map(|letter| match letter {
            // The variation selector that shows an emoji as text.
            '\u{FE0E}' | '\u{FE0F}' => None,
            // Annotation glyphs.
            '‼' | '⁇' | '⁉' | '⁈' | '□' | '∞' | '±' | '∓' | '⩲' | '⩱' => None,
            '♔' | '♚' => Some('K'),
            '♕' | '♛' => Some('Q'),
            '♖' | '♜' => Some('R'),
            '♗' | '♝' => Some('B'),
            '♘' | '♞' => Some('N'),
            '♙' | '♟' => Some('P'),
            '×' => Some('x'),
            '–' => Some('-'),
            other => Some(other),
        })
        .collect();
    let word = ascii.trim_end_matches(['+', '#', '!', '?']);
    Cow::Owned(word.as_bytes().to_vec())
}

/// The move, if there is exactly one.
fn only(mut moves: impl Iterator<Item = Move>) -> Result<Move, MoveError> {
    match (moves.next(), moves.next()) {
        (None, _) => Err(MoveError::Illegal),
        (Some(mv), None) => Ok(mv),
        (Some(_), Some(_)) => Err(MoveError::Ambiguous),
    }
}

/// The legal move of a text without check and annotation signs. `strict` accepts only the standard form; otherwise see
/// [`Position::parse_san`].
///
/// A text in the standard form that matches a legal move always means that move. Other forms are tried only after it,
/// so `bxc3` is a pawn move whenever a pawn can make it.
pub(crate) fn read(position: &Position, text: &[u8], strict: bool) -> Result<Move, MoveError> {
    let legal = position.legal_moves();
    let legal = || legal.iter().copied();
    if let Some(side) = castling(text) {
        if strict && text[0] != b'O' {
            return Err(MoveError::Syntax);
        }
        return only(legal().filter(|mv| mv.kind == MoveKind::Castle && CastlingSide::of(mv.from, mv.to) == side));
    }
    if is_standard(text) {
        let (role, rest) = named(text);
        let san = San::parse(role, rest).ok_or(MoveError::Syntax)?;
        let found = only(legal().filter(|&mv| {
            san.matches(mv, position)
                && san.has_correct_capture_sign(mv, position)
                && !(strict && mv.kind == MoveKind::Castle)
        }));
        if strict || found != Err(MoveError::Illegal) {
            return found;
        }
    } else if strict {
        return Err(MoveError::Syntax);
    }
    let text = &*without_figurines(text);
    let (role, rest) = named(text);
    let san = San::parse(role, rest);
    if let Some(san @ San { file: Some(file), rank: Some(rank), .. }) = san
        && rest.len() == text.len()
    {
        // Both squares are given: any piece, as in UCI.
        let from = Square::at(file, rank);
        let role = position.role_at(from).unwrap_or(Role::Pawn);
        let san = San { role, ..san };
        return only(legal().filter(|&mv| san.matches(mv, position)));
    }
    let bishop = match text {
        [b'b', rest @ ..] => San::parse(Role::Bishop, rest),
        _ => None,
    };
    if san.is_none() && bishop.is_none() {
        return Err(MoveError::Syntax);
    }
    only(legal().filter(|&mv| [san, bishop].iter().flatten().any(|san| san.matches(mv, position))))
}

/// The piece of the first letter, or a pawn, and the rest of the text; `b` is a file.
fn named(text: &[u8]) -> (Role, &[u8]) {
    match text {
        [letter @ (b'P' | b'N' | b'B' | b'R' | b'Q' | b'K' | b'p' | b'n' | b'r' | b'q' | b'k'), rest @ ..] => {
            (Role::from_letter(*letter).unwrap_or(Role::Pawn), rest)
        }
        _ => (Role::Pawn, text),
    }
}

impl Position {
    /// The legal move of a text in algebraic notation.
    ///
    /// Also accepted, if exactly one legal move matches: castling with zeros or as a king move, long forms
    /// (`Nf3-e5`, `e4xd5`), UCI (`g1f3`), `e8Q` and `e8(Q)`, `e.p.`, signs such as `!?`, needless or missing
    /// `x`, `+` and `#`, figurines, and lower-case letters for pieces (a pawn move takes precedence for
    /// `b`).
    ///
    /// # Errors
    /// If the text has no such form, or matches no legal move, or several.
    pub fn parse_san(&self, text: &str) -> Result<Move, MoveError> {
        let text = text.trim_end_matches(['+', '#', '!', '?']);
        read(self, text.as_bytes(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(fen: &str, san: &str, uci: &str) {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let mv = position.parse_san(san);
        assert_eq!(mv, Move::from_uci(uci, &position), "{fen} {san}");
        assert!(mv.is_ok());
    }

    #[test]
    fn forms_found_in_real_files() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        reads(start, "Nf3", "g1f3");
        reads(start, "Ng1-f3!?", "g1f3");
        reads(start, "g1f3", "g1f3");
        reads(start, "Pe4", "e2e4");
        let castles = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        reads(castles, "O-O", "e1g1");
        reads(castles, "0-0-0", "e1a1");
        let promotes = "3r3k/4P3/8/8/8/8/8/K7 w - - 0 1";
        for san in ["exd8=Q+", "e7xd8(Q)", "ed8Q", "exd8/Q"] {
            reads(promotes, san, "e7d8q");
        }
        let passed = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
        reads(passed, "exd6 e.p.", "e5d6");
        let read = |text| Position::standard().parse_san(text);
        for text in ["", "--", "Z0", "N@f3", "O", "e9"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read("e5"), Err(MoveError::Illegal));
    }

    #[test]
    fn origins_are_named_as_far_as_needed() {
        let writes = |fen: &str, uci: &str| {
            let position = Position::from_fen_unvalidated(fen).unwrap();
            Move::from_uci(uci, &position).unwrap().san(&position)
        };
        let queens = "1k6/8/8/8/4Q2Q/8/K7/7Q w - - 0 1";
        assert_eq!(writes(queens, "h4e1"), "Qh4e1");
        // The knight on d2 is pinned and does not count.
        let pinned = "3rk3/8/8/8/8/8/3N2N1/3K4 w - - 0 1";
        assert_eq!(writes(pinned, "g2e3"), "Ne3");
        let two = "4k3/8/8/8/8/2N5/8/2N1K3 w - - 0 1";
        assert_eq!(writes(two, "c3e2"), "N3e2");
        assert_eq!(writes("6k1/8/6K1/8/8/8/8/7R w - - 0 1", "h1h8"), "Rh8+");
        let mate = "6k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1";
        assert_eq!(writes(mate, "e1e8"), "Re8#");
    }
}
