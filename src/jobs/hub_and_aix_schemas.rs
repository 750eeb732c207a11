//! Tables of games with the columns and types of those that others publish, so that every tool that reads these reads ours.

use super::game_columns::{GameColumn, GameValue};
use crate::ParseError;
use crate::games::{GameRow, GameVerdict};
use crate::table::Kind;
use std::str::FromStr;

/// A table of games as others publish it; as text `hub` or `aix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum GameSchema {
    /// All games of Lichess, as they are published as Parquet: a column `movetext`, and columns of tags.
    Hub,
    /// The games of Lichess in the form of Aix, at its level *Low*.
    Aix,
}

impl FromStr for GameSchema {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "hub" => Ok(Self::Hub),
            "aix" => Ok(Self::Aix),
            _ => Err(ParseError::new(format!("`{text}`: expected hub or aix"))),
        }
    }
}

impl GameSchema {
    /// Whether a table of this kind can hold a game.
    pub(super) fn judge(self, game: &GameRow) -> GameVerdict {
        let Some(moves) = &game.moves else { return GameVerdict::LeaveOut };
        let has_other_rules = moves.start.is_some() || game.is_variant();
        match self {
            _ if has_other_rules && game.error.is_none() => {
                let what = "the table has games of standard chess from the usual position only";
                GameVerdict::Reject("not_standard_start", what)
            }
            // What is wrong with the game has been reported.
            _ if has_other_rules => GameVerdict::LeaveOut,
            Self::Aix if game.error.is_some() => GameVerdict::LeaveOut,
            Self::Aix if moves.aix.is_none() => {
                GameVerdict::Reject("null_move", "it has a null move, which Aix cannot hold")
            }
            _ => GameVerdict::Take,
        }
    }
}

/// The columns of a table.
pub(super) fn columns(schema: GameSchema) -> Vec<GameColumn> {
    let column = GameColumn::new;
    let tag = |name, tag: &'static str, kind| column(name, kind, "a tag of the game", GameValue::Tag(tag.into()));
    let text = |name| tag(name, name, Kind::Text);
    match schema {
        GameSchema::Hub => {
            let mut columns: Vec<GameColumn> = ["Event", "Site", "White", "Black"].map(text).into();
            columns.push(column("Result", Kind::Text, "1-0, 0-1, 1/2-1/2 or *", GameValue::ResultOrStar));
            columns.extend(["WhiteTitle", "BlackTitle"].map(text));
            let numbers = ["WhiteElo", "BlackElo", "WhiteRatingDiff", "BlackRatingDiff"];
            columns.extend(numbers.map(|name| tag(name, name, Kind::I16)));
            columns.push(tag("UTCDate", "UTCDate", Kind::Date));
            columns.push(column("UTCTime", Kind::Time, "the tag UTCTime of the game", GameValue::UtcTime));
            columns.extend(["ECO", "Opening", "Termination", "TimeControl"].map(text));
            columns.push(column("movetext", Kind::Text, "what follows the tags in PGN", GameValue::Movetext));
            columns
        }
        GameSchema::Aix => {
            let mut columns = vec![
                column("lichess_id", Kind::Text, "the name of the game at Lichess", GameValue::LichessGame),
                column("tournament", Kind::Text, "the name of its tournament at Lichess", GameValue::LichessTournament),
            ];
            columns.extend(columns_of_aix_moves());
            columns.extend([
                column("ply_count", Kind::ExactU16, "plies played", GameValue::Plies),
                tag("white", "White", Kind::Text),
                tag("black", "Black", Kind::Text),
                tag("white_rating", "WhiteElo", Kind::I16),
                tag("black_rating", "BlackElo", Kind::I16),
                column("time_initial", Kind::ExactU16, "the time at the beginning, in seconds", GameValue::InitialTime),
                column("time_increment", Kind::ExactU8, "the time for a move, in seconds", GameValue::IncrementTime),
                column("result", Kind::Text, "1-0, 0-1, 1/2-1/2 or *", GameValue::ResultOrStar),
                tag("termination", "Termination", Kind::Text),
                tag("white_rating_diff", "WhiteRatingDiff", Kind::I16),
                tag("black_rating_diff", "BlackRatingDiff", Kind::I16),
                tag("eco", "ECO", Kind::Text),
                tag("opening", "Opening", Kind::Text),
                tag("white_title", "WhiteTitle", Kind::Text),
                tag("black_title", "BlackTitle", Kind::Text),
                column("utc_timestamp", Kind::Timestamp, "the tags UTCDate and UTCTime", GameValue::UtcTimestamp),
            ]);
            columns
        }
    }
}

/// The columns of the moves, clocks and evaluations of Aix.
pub(super) fn columns_of_aix_moves() -> [GameColumn; 4] {
    let clocks = "seconds after each move of the side";
    [
        GameColumn::new("movedata", Kind::Bytes, "the moves as Aix writes them, level Low", GameValue::Movedata),
        GameColumn::new("clocks_white", Kind::ListOfU16, clocks, GameValue::Clocks(0)),
        GameColumn::new("clocks_black", Kind::ListOfU16, clocks, GameValue::Clocks(1)),
        GameColumn::new("evals", Kind::ListOfI16, "the evaluation after each move, as Aix writes it", GameValue::Evals),
    ]
}
