//! Standard algebraic notation, written exactly and read leniently.

use super::bitboard::Bitboard;
use super::castling::Wing;
use super::moves::{Move, MoveError, MoveKind};
use super::piece::Role;
use super::position::Position;
use super::square::{File, Rank, Square};

impl Move {
    /// The move in algebraic notation, with `+` or `#`; the origin is named as far as other legal moves
    /// make it necessary, file before rank before both.
    ///
    /// ```
    /// use lanefish::chess::Position;
    /// let position = Position::from_fen("1k6/8/8/8/8/8/1K6/R6R w - - 0 1").unwrap();
    /// let mv = position.parse_san("Rd1").unwrap_err();
    /// assert_eq!(mv, lanefish::chess::MoveError::Ambiguous);
    /// assert_eq!(position.parse_san("Rad1").unwrap().san(&position), "Rad1");
    /// ```
    ///
    /// # Panics
    /// May panic when the move is not legal in the position.
    pub fn san(self, position: &Position) -> String {
        let mut text = String::with_capacity(8);
        let role = position.role_at(self.from).unwrap_or(Role::Pawn);
        let captures = self.kind == MoveKind::EnPassant
            || position.color(!position.side_to_move).contains(self.to);
        if self.kind == MoveKind::Castle {
            text.push_str(match Wing::of(self.from, self.to) {
                Wing::King => "O-O",
                Wing::Queen => "O-O-O",
            });
        } else {
            if role == Role::Pawn {
                if captures {
                    text.push(self.from.file().letter());
                }
            } else {
                text.push(role.letter().to_ascii_uppercase());
                self.push_origin(position, role, &mut text);
            }
            if captures {
                text.push('x');
            }
            text.push_str(&self.to.to_string());
            if let MoveKind::Promotion(role) = self.kind {
                text.push('=');
                text.push(role.letter().to_ascii_uppercase());
            }
        }
        let mut after = position.clone();
        after.make(self);
        if after.in_check() {
            text.push(if after.has_legal_move() { '+' } else { '#' });
        }
        text
    }

    fn push_origin(self, position: &Position, role: Role, text: &mut String) {
        let moves = position.legal_moves();
        let rivals: Bitboard = moves
            .iter()
            .filter(|mv| {
                mv.to == self.to
                    && mv.from != self.from
                    && mv.kind != MoveKind::Castle
                    && position.role(role).contains(mv.from)
            })
            .map(|mv| mv.from)
            .collect();
        if rivals.is_empty() {
            return;
        }
        let same_file = (rivals & Bitboard::file(self.from.file())).any();
        let same_rank = (rivals & Bitboard::rank(self.from.rank())).any();
        if !same_file || same_rank {
            text.push(self.from.file().letter());
        }
        if same_file {
            text.push(self.from.rank().digit());
        }
    }
}

/// What a text in algebraic notation says.
enum San {
    Castle(Wing),
    Piece {
        role: Role,
        file: Option<File>,
        rank: Option<Rank>,
        to: Square,
        promotion: Option<Role>,
    },
}

impl San {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim_end_matches(['+', '#', '!', '?']);
        let text = text.strip_suffix("e.p.").unwrap_or(text).trim_end();
        match text {
            "O-O" | "0-0" | "o-o" => return Some(Self::Castle(Wing::King)),
            "O-O-O" | "0-0-0" | "o-o-o" => return Some(Self::Castle(Wing::Queen)),
            _ => {}
        }
        let mut rest = text.as_bytes();
        let mut role = Role::Pawn;
        if let [
            letter @ (b'N' | b'B' | b'R' | b'Q' | b'K' | b'P'),
            tail @ ..,
        ] = rest
        {
            role = Role::from_letter(*letter)?;
            rest = tail;
        }
        // From the end: promotion, target square; what is left names the origin.
        let mut promotion = None;
        if let [head @ .., b')'] = rest {
            rest = head;
        }
        if let [head @ .., letter @ (b'N' | b'B' | b'R' | b'Q')] = rest {
            promotion = Some(Role::from_letter(*letter)?);
            rest = head;
            if let [head @ .., b'=' | b'(' | b'/'] = rest {
                rest = head;
            }
        }
        let [head @ .., file @ b'a'..=b'h', rank @ b'1'..=b'8'] = rest else {
            return None;
        };
        let to = Square::at(File::from_letter(*file)?, Rank::try_new(rank - b'1')?);
        rest = head;
        if let [head @ .., b'x' | b'-' | b':'] = rest {
            rest = head;
        }
        let (file, rank) = match *rest {
            [] => (None, None),
            [file @ b'a'..=b'h'] => (File::from_letter(file), None),
            [rank @ b'1'..=b'8'] => (None, Rank::try_new(rank - b'1')),
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
                (File::from_letter(file), Rank::try_new(rank - b'1'))
            }
            _ => return None,
        };
        Some(Self::Piece {
            role,
            file,
            rank,
            to,
            promotion,
        })
    }

    fn means(&self, mv: Move, position: &Position) -> bool {
        match *self {
            Self::Castle(wing) => mv.kind == MoveKind::Castle && Wing::of(mv.from, mv.to) == wing,
            Self::Piece {
                role,
                file,
                rank,
                to,
                promotion,
            } => {
                let becomes = match mv.kind {
                    MoveKind::Castle => return false,
                    MoveKind::Promotion(role) => Some(role),
                    _ => None,
                };
                mv.to == to
                    && becomes == promotion
                    && position.role(role).contains(mv.from)
                    && file.is_none_or(|file| mv.from.file() == file)
                    && rank.is_none_or(|rank| mv.from.rank() == rank)
            }
        }
    }
}

impl Position {
    /// The legal move that a text in algebraic notation means.
    ///
    /// Also read: castling with zeros, long forms (`Nf3-e5`, `e4xd5`), `e8Q` and `e8(Q)`, `e.p.`, marks
    /// such as `!?`, needless or missing `x`, `+` and `#`, and UCI (`g1f3`).
    ///
    /// # Errors
    /// When the text is no such form, means no legal move, or several.
    pub fn parse_san(&self, text: &str) -> Result<Move, MoveError> {
        let san = San::parse(text).ok_or(MoveError::Syntax)?;
        let legal = self.legal_moves();
        let mut meant = legal.iter().filter(|&&mv| san.means(mv, self));
        match (meant.next(), meant.next()) {
            (Some(&mv), None) => Ok(mv),
            (Some(_), Some(_)) => Err(MoveError::Ambiguous),
            (None, _) => Move::from_uci(text, self).map_err(|_| MoveError::Illegal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(fen: &str, san: &str, uci: &str) {
        let position = Position::from_fen(fen).unwrap();
        let mv = position.parse_san(san);
        assert_eq!(mv, Move::from_uci(uci, &position), "{fen} {san}");
        assert!(mv.is_ok());
    }

    #[test]
    fn forms_seen_in_the_wild() {
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
            let position = Position::from_fen(fen).unwrap();
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
