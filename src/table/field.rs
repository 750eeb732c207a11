//! The fields that records may carry, in addition to their position.

use super::array::{Array, Texts};
use super::list_array::{Items, Lists};
use super::values::Values;

macro_rules! fields {
    (
        $($(#[$about:meta])+ $field:ident, $name:literal, $array:ident;)*
        derived:
        $($(#[$derived_about:meta])+ $derived:ident = $number:literal, $derived_name:literal, $derived_array:ident;)*
    ) => {
        /// A field that a record may carry, in addition to its position.
        ///
        /// The order is the order of columns in files and listings. New fields go to the end of [`Self::ALL`]; those after
        /// it are in no file: decoders derive them where they are requested.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Field {
            $($(#[$about])+ $field,)*
            $($(#[$derived_about])+ $derived = $number,)*
        }

        impl Field {
            /// Fields that no file has.
            pub const DERIVED: &[Self] = &[$(Self::$derived),*];
            /// All fields that files can have, in order.
            pub const ALL: &[Self] = &[$(Self::$field),*];

            /// The name, as columns of outputs carry it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$field => $name,)*
                    $(Self::$derived => $derived_name,)*
                }
            }

            /// The name between backticks, for sentences.
            pub(crate) const fn quoted_name(self) -> &'static str {
                match self {
                    $(Self::$field => concat!("`", $name, "`"),)*
                    $(Self::$derived => concat!("`", $derived_name, "`"),)*
                }
            }

            /// A column of this field in which `len` rows are missing.
            pub fn column(self, len: usize) -> Array {
                match self {
                    $(Self::$field => column!($array, len),)*
                    $(Self::$derived => column!($derived_array, len),)*
                }
            }
        }
    };
}

/// A column of missing values.
macro_rules! column {
    (Text, $len:ident) => {
        Array::Text(Texts::missing($len))
    };
    (Lists, $len:ident) => {{
        let mut lists = Lists::new(Items::U64(Vec::new()));
        (0..$len).for_each(|_| lists.push_missing());
        Array::Lists(lists)
    }};
    ($array:ident, $len:ident) => {
        Array::$array(Values::missing($len))
    };
}

// The documentation of each field, its name, and the type of its columns.
fields! {
    /// The score as White sees it: the number that the source has, which is centipawns by custom, or the sentinel
    /// [`NO_SCORE`] with either sign; missing where the source gave a mate. Formats with a syntax for mates and text have
    /// at most [`MOST_CENTIPAWNS`] either way.
    Score, "score", I16;
    /// 0 Black won, 1 draw, 2 White won.
    Result, "result", U8;
    /// The move played or the best move, as [`crate::chess::Move::to_bits`] packs it.
    Move, "move", U16;
    /// Plies since the start of the game.
    Ply, "ply", U16;
    /// 0-based number of the game over all inputs.
    Game, "game", U64;
    /// White's rating.
    WhiteElo, "white_elo", U16;
    /// Black's rating.
    BlackElo, "black_elo", U16;
    /// The mover's remaining time after the move, in centiseconds.
    Clock, "clock", U32;
    /// Opening code such as `B12`.
    Eco, "eco", Text;
    /// Name of the opening.
    Opening, "opening", Text;
    /// Time control as the PGN tag gives it.
    TimeControl, "time_control", Text;
    /// Date as `YYYY.MM.DD`.
    Date, "date", Text;
    /// Site, for Lichess the address of the game.
    Site, "site", Text;
    /// EPD operations, as in the line.
    Operations, "operations", Text;
    /// Moves to mate, positive where White mates, negative where Black does; 0 where the side to move is mated.
    Mate, "mate", I16;
    /// The player of the white pieces.
    White, "white", Text;
    /// The player of the black pieces.
    Black, "black", Text;
    /// How the game ended, as the PGN tag gives it.
    Termination, "termination", Text;
    /// Id of the puzzle.
    PuzzleId, "puzzle_id", Text;
    /// Rating of the puzzle.
    PuzzleRating, "puzzle_rating", U16;
    /// Themes of the puzzle, separated by blanks.
    Themes, "themes", Text;
    /// Depth of the evaluation, in plies.
    Depth, "depth", U16;
    /// Nodes searched for the evaluation, in thousands.
    Knodes, "knodes", U64;
    /// Popularity of the puzzle, from -100 (all players dislike it) to 100.
    Popularity, "popularity", I16;
    /// How often the puzzle was played.
    Plays, "plays", U32;
    /// Rating deviation of the puzzle.
    RatingDeviation, "rating_deviation", U16;
    /// The en passant square that counts in the Polyglot key although no capture on it is legal.
    KeyEnPassant, "key_en_passant", U8;
    /// How often the record occurred, if duplicates were removed and counted.
    Count, "count", U64;
    derived:
    /// Derived: after how many moves of the game a clock stands.
    ClockedPlies = 41, "clocked_plies", U16;
    /// Derived: after how many moves of the game an evaluation stands.
    EvaluatedPlies = 42, "evaluated_plies", U16;
    /// Derived: centiseconds that White used in the game.
    WhiteTime = 43, "white_time", U32;
    /// Derived: centiseconds that Black used in the game.
    BlackTime = 44, "black_time", U32;
    /// Derived: White's accuracy in the game, as the bits of a real number.
    WhiteAccuracy = 45, "white_accuracy", U64;
    /// Derived: Black's accuracy in the game, as the bits of a real number.
    BlackAccuracy = 46, "black_accuracy", U64;
    /// Derived: White's mean loss of centipawns in the game, as the bits of a real number.
    WhiteAcpl = 47, "white_acpl", U64;
    /// Derived: Black's mean loss of centipawns in the game, as the bits of a real number.
    BlackAcpl = 48, "black_acpl", U64;
    /// Derived: White's inaccuracies in the game.
    WhiteInaccuracies = 49, "white_inaccuracies", U16;
    /// Derived: White's mistakes in the game.
    WhiteMistakes = 50, "white_mistakes", U16;
    /// Derived: White's blunders in the game.
    WhiteBlunders = 51, "white_blunders", U16;
    /// Derived: Black's inaccuracies in the game.
    BlackInaccuracies = 52, "black_inaccuracies", U16;
    /// Derived: Black's mistakes in the game.
    BlackMistakes = 53, "black_mistakes", U16;
    /// Derived: Black's blunders in the game.
    BlackBlunders = 54, "black_blunders", U16;
    /// Derived: how often the position has been on the board in the game.
    Repetition = 55, "repetition", U8;
    /// Derived: how many plies later the next record of the game is.
    NextPly = 56, "next_ply", U16;
    /// Derived: the mate of the next record of the game.
    MateAfter = 57, "mate_after", I16;
    /// Derived: the score of the next record of the game, if it is not a sentinel.
    ScoreAfter = 58, "score_after", I16;
    /// Derived: centiseconds used for the move.
    TimeUsed = 59, "time_used", U32;
    /// Derived: plies of the main line of the game.
    GamePlies = 60, "game_plies", U16;
    /// Derived: number of the latest position of the game so far that the list of openings has.
    PositionOpening = 61, "position_opening", U16;
    /// Derived: the score of the previous record of the game, if it has one that is not a sentinel.
    ScoreBefore = 62, "score_before", I16;
    /// Derived: the latest score of the game before this record that is neither 0 nor a sentinel.
    LastScore = 63, "last_score", I16;
    /// Derived: whether the position occurred before in its game, and the positions before it, up to seven, the last one
    /// first, each as its four planes, followed by whether it had occurred before.
    History = 39, "history", Lists;
    /// Derived: centiseconds used for the move, as a comment says it.
    MoveTime = 40, "move_time", U32;
}

/// The derived fields that are the same for all records of a game, but for its number of plies.
pub(crate) const OF_GAME: [Field; 14] = [
    Field::WhiteAccuracy,
    Field::BlackAccuracy,
    Field::WhiteAcpl,
    Field::BlackAcpl,
    Field::WhiteInaccuracies,
    Field::WhiteMistakes,
    Field::WhiteBlunders,
    Field::BlackInaccuracies,
    Field::BlackMistakes,
    Field::BlackBlunders,
    Field::WhiteTime,
    Field::BlackTime,
    Field::EvaluatedPlies,
    Field::ClockedPlies,
];

/// The column of dates that are not full days, next to the column of days.
pub(crate) const DATE_TEXT: &str = "date_text";

/// The column of scores as they are stored, including sentinels.
pub(crate) const RAW_SCORE: &str = "raw_score";

/// The column of scores that are sentinels, next to the column of scores.
pub(crate) const SCORE_SENTINEL: &str = "score_sentinel";

/// The largest [`Field::Score`] of sources that are text: larger evaluations are read as this.
pub const MOST_CENTIPAWNS: u16 = 31_000;

/// The [`Field::Score`], of either sign, of records whose score is not to be used: a sentinel of training data.
pub const NO_SCORE: u16 = 32_002;

/// Whether a [`Field::Score`] is the sentinel [`NO_SCORE`].
#[inline(always)]
pub(crate) const fn is_sentinel(score: i16) -> bool {
    score.unsigned_abs() == NO_SCORE
}

impl Field {
    /// Whether [`Self::KeyEnPassant`] can have a value: a square of rank 3 or 6.
    pub(crate) const fn is_key_en_passant(square: u8) -> bool {
        matches!(square, 16..24 | 40..48)
    }
}

/// A set of [`Field`]s.
///
/// ```
/// use lanefish::table::{Field, Fields};
/// let fields: Fields = [Field::Score, Field::Result].into_iter().collect();
/// assert!(fields.contains(Field::Score) && !fields.contains(Field::Move));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Fields(u64);

impl Fields {
    /// No field.
    pub const NONE: Self = Self(0);
    /// All fields that files can have.
    pub const ALL: Self = Self((1 << Field::ALL.len()) - 1);

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Whether a field is among them.
    #[inline]
    pub const fn contains(self, field: Field) -> bool {
        self.0 >> (field as u8) & 1 != 0
    }
    /// These fields.
    pub const fn of(fields: &[Field]) -> Self {
        let mut set = Self::NONE;
        let mut at = 0;
        while at < fields.len() {
            set.insert(fields[at]);
            at += 1;
        }
        set
    }
    /// All fields except this one.
    pub const fn without(self, field: Field) -> Self {
        Self(self.0 & !(1 << (field as u8)))
    }
    /// The set without those of another one.
    pub(crate) const fn without_all(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// The fields that both sets have.
    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    /// Whether both sets have a field in common.
    pub(crate) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// The union of both sets.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Adds a field.
    pub const fn insert(&mut self, field: Field) {
        self.0 |= 1 << (field as u8);
    }
    /// The fields, in order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.iter().chain(Field::DERIVED).copied().filter(move |&f| self.contains(f))
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        let mut set = Self::NONE;
        fields.into_iter().for_each(|field| set.insert(field));
        set
    }
}
