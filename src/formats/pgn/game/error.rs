//! Errors in games, with their places.
//!
//! A reject names the first error only: after it, the position is unknown, so that further errors could not be judged.
//! The limits are here because the messages state them.

use crate::chess::Position;
use crate::chess::Violations;
use crate::chess::fen::FenError;

/// Deeper variations than these are not read.
pub(super) const DEEPEST: u32 = 1000;
/// Longer games are not read: numbers of plies have sixteen bits, and the rules of chess end every game before that.
pub(super) const MOST_PLIES: u32 = u16::MAX as u32;

/// The reason why a game cannot be read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// Another variant of chess.
    #[error("the variant `{0}` is neither standard chess nor Chess960")]
    Variant(String),
    /// The FEN tag does not parse.
    #[error("FEN tag: {0}")]
    Fen(FenError),
    /// The FEN tag is not a position that a game can start from.
    #[error("FEN tag: {0}")]
    Start(Violations),
    /// The FEN tag has a position and moves from there, as the `position` command of UCI.
    #[error("FEN tag: `moves`: moves after the position, which are not played")]
    FenMoves,
    /// An illegal move.
    #[error("illegal move `{0}`")]
    Illegal(String),
    /// An ambiguous move: several pieces can make it.
    #[error("ambiguous move `{0}`")]
    Ambiguous(String),
    /// A token that has no meaning in PGN.
    #[error("unexpected token `{0}`")]
    Token(String),
    /// A comment without end.
    #[error("the comment is not closed before the next game")]
    OpenComment,
    /// A variation without end.
    #[error("the variation is not closed before the game ends")]
    OpenVariation,
    /// The file is truncated within the game.
    #[error("the game is truncated, because the rest of the file cannot be read")]
    CutOff,
    /// A tag without end, and nothing after it.
    #[error("the tag pair is truncated by the end of the game")]
    OpenTag,
    /// Deeper nesting of variations than any real game has.
    #[error("more than {DEEPEST} levels of variations")]
    VariationTooDeep,
    /// More moves than any game can have.
    #[error("more than {MOST_PLIES} half-moves")]
    TooManyMoves,
    /// Moves that continue from an unknown position.
    #[error("the moves begin with number {0}, and there is no FEN tag with the position before them")]
    NoStart(u32),
    /// A game with more bytes than the limit.
    #[error("longer than {0} bytes; --max-record SIZE sets the limit")]
    TooLong(usize),
    /// The text of the moves is missing; an empty one would be a game without moves.
    #[error("there are no moves: the value is null")]
    NoMoves,
    /// A text of one game goes on after the game.
    #[error("`{0}` follows after the end of the game")]
    AfterEnd(String),
    /// A list of moves with something else among them: its number in the list, and what it is.
    #[error("element {0} of the list of moves {1}")]
    BadMoveList(usize, &'static str),
    /// Bytes that are not moves as Aix writes them.
    #[error("the movedata are damaged: {0}")]
    Movedata(&'static str),
    /// A level of Aix that is not read.
    #[error("movedata of the level {0} are not read; `recompress(movedata, 0)` of DuckDB's aixchess makes level Low")]
    AixLevel(&'static str),
    /// The table says another number of moves.
    #[error("the row says {0} half-moves, and there are {1}")]
    PliesDiffer(u64, u64),
    /// More clocks than moves of a side.
    #[error("there are more clocks than moves")]
    TooManyClocks,
    /// More evaluations than moves.
    #[error("there are more evaluations than moves")]
    TooManyEvals,
    /// The position from which a row's moves begin.
    #[error("the start position: {0}")]
    BadStart(Box<Self>),
    /// Text with two bytes per letter, such as UTF-16.
    #[error("the text is UTF-16; convert it to UTF-8")]
    Utf16,
}

impl GameError {
    /// Whether the error is about a move that can be parsed.
    pub(super) fn is_of_a_move(&self) -> bool {
        matches!(self, Self::Illegal(_) | Self::Ambiguous(_))
    }

    /// Stable names in snake case, for counting rejects by reason.
    pub fn names(&self) -> Vec<&'static str> {
        vec![match self {
            Self::Variant(_) => "variant",
            Self::Fen(error) => error.expected.name(),
            Self::Start(violations) => return violations.names().collect(),
            Self::FenMoves => "fen_trailing_text",
            Self::Illegal(_) => "illegal_move",
            Self::Ambiguous(_) => "ambiguous_move",
            Self::Token(_) => "bad_token",
            Self::OpenComment => "open_comment",
            Self::OpenVariation => "open_variation",
            Self::CutOff => "cut_off",
            Self::OpenTag => "open_tag",
            Self::VariationTooDeep => "variation_too_deep",
            Self::TooManyMoves => "too_many_moves",
            Self::NoStart(_) | Self::AfterEnd(_) => "moves_after_result",
            Self::NoMoves => "no_moves",
            Self::TooLong(_) => "record_too_long",
            Self::BadMoveList(..) => "bad_move_list",
            Self::Movedata(_) => "bad_movedata",
            Self::AixLevel(_) => "aix_level",
            Self::PliesDiffer(..) => "plies_differ",
            Self::TooManyClocks => "too_many_clocks",
            Self::TooManyEvals => "too_many_evals",
            Self::BadStart(error) => return error.names().into_iter().chain(["bad_start"]).collect(),
            Self::Utf16 => "utf16",
        }]
    }
}

/// The place at which a game cannot be read further, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadGame {
    /// The reason.
    pub error: GameError,
    /// Offset of the token in the text.
    pub offset: usize,
    /// Number of plies played before it.
    pub ply: u32,
    /// The position at that place, if the game had one.
    pub position: Option<Position>,
}
