//! The moves of games as texts: as movetext, in UCI, and in standard algebraic notation.

use super::write_aix::AixGame;
use super::{GameRow, MainLine, Variant};
use crate::ParseError;
use crate::chess::Position;
use crate::formats::pgn::write_movetext::{write_movetext, write_one_line, write_san, write_uci};
use std::str::FromStr;

/// The forms in which moves are written: names separated by commas, as text.
///
/// ```
/// use lanefish::games::MoveForms;
/// let forms: MoveForms = "movetext,uci".parse()?;
/// assert_eq!(forms, MoveForms { movetext: true, uci: true, ..MoveForms::NONE });
/// assert!("lan".parse::<MoveForms>().is_err());
/// # Ok::<(), lanefish::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct MoveForms {
    /// What follows the tags in PGN, in one line, with the result.
    pub movetext: bool,
    /// The words of UCI, with blanks between them.
    pub uci: bool,
    /// Standard algebraic notation without anything else, with blanks between the moves.
    pub san: bool,
    /// The words of two bytes of Aix, level Low, with lists of clocks and evaluations beside them.
    pub aix: bool,
}

impl MoveForms {
    /// Nothing.
    pub const NONE: Self = Self { movetext: false, uci: false, san: false, aix: false };

    /// Whether the moves of the main line are needed, whatever the input is.
    pub(crate) fn need_main_line(self) -> bool {
        self.uci || self.san || self.aix
    }
    /// Whether nothing is written.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

impl FromStr for MoveForms {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut forms = Self::NONE;
        for name in text.split(',').map(str::trim) {
            let form = match name {
                "movetext" => &mut forms.movetext,
                "uci" => &mut forms.uci,
                "san" => &mut forms.san,
                "aix" => &mut forms.aix,
                _ => return Err(ParseError::new(format!("`{name}`: expected movetext, uci, san or aix"))),
            };
            if std::mem::replace(form, true) {
                return Err(ParseError::new(format!("`{name}` is named twice")));
            }
        }
        Ok(forms)
    }
}

/// The moves of a game, in the requested forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenMoves {
    /// The FEN of the position in which the game begins, unless it is the usual one.
    pub(crate) start: Option<Box<str>>,
    pub(crate) movetext: Option<Box<str>>,
    pub(crate) uci: Option<Box<str>>,
    pub(crate) san: Option<Box<str>>,
    pub(crate) aix: Option<AixGame>,
}

/// What becomes of a game that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GameVerdict {
    /// It is taken.
    Take,
    /// It has been rejected for another reason.
    LeaveOut,
    /// A reason in snake case, and as a sentence.
    Reject(&'static str, &'static str),
}

/// What cannot be written of a game as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CutValues {
    /// Clocks with a fraction of a second.
    pub(crate) fractions: u64,
    /// Clocks and mates beyond the numbers of Aix.
    pub(crate) beyond: u64,
}

impl GameRow {
    /// Writes the moves in some forms: movetext as it is in the text, if there is one. Of a damaged game only its text is
    /// written, so that it is never taken for a shorter one.
    pub(crate) fn write_moves(&mut self, forms: MoveForms, text: Option<&[u8]>) -> CutValues {
        let mut cut = CutValues::default();
        let line = self.main_line.take();
        let result = self.result.map_or("*", |result| result.token());
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            // PGN may be in ISO-8859-1.
            let text = String::from_utf8(bytes)
                .unwrap_or_else(|error| error.into_bytes().iter().map(|&byte| char::from(byte)).collect());
            Some(text.into_boxed_str())
        };
        let mut moves =
            WrittenMoves { start: self.start_of(line.as_deref(), text.is_some()), ..WrittenMoves::default() };
        if let Some(text) = text.filter(|_| forms.movetext) {
            moves.movetext = written(&|out| write_one_line(text, result, out));
        }
        let whole = line.as_deref().filter(|_| self.error.is_none());
        if let Some(MainLine { moves: bits, values, position: Some(position), .. }) = whole {
            if forms.movetext && text.is_none() {
                moves.movetext = written(&|out| {
                    write_movetext(position.clone(), bits, values, out);
                    if !out.is_empty() {
                        out.push(b' ');
                    }
                    out.extend_from_slice(result.as_bytes());
                });
            }
            if forms.uci {
                moves.uci = written(&|out| write_uci(position, bits, out));
            }
            if forms.san {
                moves.san = written(&|out| write_san(position.clone(), bits, out));
            }
        }
        if let Some(line) = whole.filter(|_| forms.aix && moves.start.is_none() && !self.is_variant()) {
            moves.aix = AixGame::of(line, &mut cut);
        }
        self.moves = Some(Box::new(moves));
        cut
    }

    /// Whether its tags name other rules than those of standard chess.
    pub(crate) fn is_variant(&self) -> bool {
        let tag = self.tags.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("Variant"));
        tag.is_some_and(|(_, variant)| Variant::from_tag(variant.as_bytes()) != Some(Variant::Standard))
    }

    /// The FEN of the first position, unless it is the usual one.
    fn start_of(&self, line: Option<&MainLine>, has_tags: bool) -> Option<Box<str>> {
        let usual = Position::standard();
        if has_tags {
            let fen = self.tags.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("FEN"))?.1;
            return match fen.parse::<Position>() {
                Ok(position) if position == usual => None,
                _ => Some(fen.into()),
            };
        }
        let position = line?.position.as_ref().filter(|position| **position != usual)?;
        Some(position.to_string().into())
    }
}
