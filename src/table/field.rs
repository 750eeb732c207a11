//! The fields that records may carry, in addition to their position.

use super::array::{Array, Texts};
use super::values::Values;

/// A field that a record may carry, in addition to its position.
///
/// The order is the order of columns in files and listings. New fields go to the end of [`Self::ALL`]; those after it
/// are in no file: decoders derive them where they are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Field {
    /// The score as White sees it: the number that the source has, which is centipawns by custom, or the sentinel
    /// [`NO_SCORE`] with either sign; missing where the source gave a mate. Formats with a syntax for mates and text have
    /// at most [`MOST_CENTIPAWNS`] either way.
    Score,
    /// 0 Black won, 1 draw, 2 White won.
    Result,
    /// The move played or the best move, as [`crate::chess::Move::to_bits`] packs it.
    Move,
    /// Plies since the start of the game.
    Ply,
    /// 0-based number of the game over all inputs.
    Game,
    /// White's rating.
    WhiteElo,
    /// Black's rating.
    BlackElo,
    /// The mover's remaining time after the move, in centiseconds.
    Clock,
    /// Opening code such as `B12`.
    Eco,
    /// Name of the opening.
    Opening,
    /// Time control as the PGN tag gives it.
    TimeControl,
    /// Date as `YYYY.MM.DD`.
    Date,
    /// Site, for Lichess the address of the game.
    Site,
    /// EPD operations, as in the line.
    Operations,
    /// Moves to mate, positive where White mates, negative where Black does; 0 where the side to move is mated.
    Mate,
    /// The player of the white pieces.
    White,
    /// The player of the black pieces.
    Black,
    /// How the game ended, as the PGN tag gives it.
    Termination,
    /// Id of the puzzle.
    PuzzleId,
    /// Rating of the puzzle.
    PuzzleRating,
    /// Themes of the puzzle, separated by blanks.
    Themes,
    /// Depth of the evaluation, in plies.
    Depth,
    /// Nodes searched for the evaluation, in thousands.
    Knodes,
    /// Popularity of the puzzle, from -100 (all players dislike it) to 100.
    Popularity,
    /// How often the puzzle was played.
    Plays,
    /// Rating deviation of the puzzle.
    RatingDeviation,
    /// The en passant square that counts in the Polyglot key although no capture on it is legal.
    KeyEnPassant,
    /// How often the record occurred, if duplicates were removed and counted.
    Count,
    /// Derived: plies of the main line of the game.
    GamePlies = 60,
    /// Derived: number of the latest position of the game so far that the list of openings has.
    PositionOpening = 61,
    /// Derived: the score of the previous record of the game, if it has one that is not a sentinel.
    ScoreBefore = 62,
    /// Derived: the latest score of the game before this record that is neither 0 nor a sentinel.
    LastScore = 63,
}

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
    /// Fields that no file has.
    pub const DERIVED: [Self; 4] = [Self::GamePlies, Self::PositionOpening, Self::ScoreBefore, Self::LastScore];
    /// All fields that files can have, in order.
    pub const ALL: [Self; 28] = [
        Self::Score,
        Self::Result,
        Self::Move,
        Self::Ply,
        Self::Game,
        Self::WhiteElo,
        Self::BlackElo,
        Self::Clock,
        Self::Eco,
        Self::Opening,
        Self::TimeControl,
        Self::Date,
        Self::Site,
        Self::Operations,
        Self::Mate,
        Self::White,
        Self::Black,
        Self::Termination,
        Self::PuzzleId,
        Self::PuzzleRating,
        Self::Themes,
        Self::Depth,
        Self::Knodes,
        Self::Popularity,
        Self::Plays,
        Self::RatingDeviation,
        Self::KeyEnPassant,
        Self::Count,
    ];

    /// The name, as columns of outputs carry it.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// The name between backticks, for sentences.
    pub(crate) const fn quoted_name(self) -> &'static str {
        self.names().1
    }

    const fn names(self) -> (&'static str, &'static str) {
        macro_rules! both {
            ($name:literal) => {
                ($name, concat!("`", $name, "`"))
            };
        }
        match self {
            Self::Score => both!("score"),
            Self::Result => both!("result"),
            Self::Move => both!("move"),
            Self::Ply => both!("ply"),
            Self::Game => both!("game"),
            Self::WhiteElo => both!("white_elo"),
            Self::BlackElo => both!("black_elo"),
            Self::Clock => both!("clock"),
            Self::Eco => both!("eco"),
            Self::Opening => both!("opening"),
            Self::TimeControl => both!("time_control"),
            Self::Date => both!("date"),
            Self::Site => both!("site"),
            Self::Operations => both!("operations"),
            Self::Mate => both!("mate"),
            Self::White => both!("white"),
            Self::Black => both!("black"),
            Self::Termination => both!("termination"),
            Self::PuzzleId => both!("puzzle_id"),
            Self::PuzzleRating => both!("puzzle_rating"),
            Self::Themes => both!("themes"),
            Self::Depth => both!("depth"),
            Self::Knodes => both!("knodes"),
            Self::Popularity => both!("popularity"),
            Self::Plays => both!("plays"),
            Self::RatingDeviation => both!("rating_deviation"),
            Self::KeyEnPassant => both!("key_en_passant"),
            Self::Count => both!("count"),
            Self::GamePlies => both!("game_plies"),
            Self::PositionOpening => both!("position_opening"),
            Self::ScoreBefore => both!("score_before"),
            Self::LastScore => both!("last_score"),
        }
    }

    /// Whether [`Self::KeyEnPassant`] can have a value: a square of rank 3 or 6.
    pub(crate) const fn is_key_en_passant(square: u8) -> bool {
        matches!(square, 16..24 | 40..48)
    }

    /// A column of this field in which `len` rows are missing.
    pub fn column(self, len: usize) -> Array {
        match self {
            Self::Score | Self::Mate | Self::Popularity | Self::ScoreBefore | Self::LastScore => {
                Array::I16(Values::missing(len))
            }
            Self::Result | Self::KeyEnPassant => Array::U8(Values::missing(len)),
            Self::Move
            | Self::Ply
            | Self::WhiteElo
            | Self::BlackElo
            | Self::PuzzleRating
            | Self::Depth
            | Self::RatingDeviation
            | Self::GamePlies
            | Self::PositionOpening => Array::U16(Values::missing(len)),
            Self::Clock | Self::Plays => Array::U32(Values::missing(len)),
            Self::Game | Self::Knodes | Self::Count => Array::U64(Values::missing(len)),
            Self::Eco
            | Self::Opening
            | Self::TimeControl
            | Self::Date
            | Self::Site
            | Self::Operations
            | Self::White
            | Self::Black
            | Self::Termination
            | Self::PuzzleId
            | Self::Themes => Array::Text(Texts::missing(len)),
        }
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
        Field::ALL.into_iter().chain(Field::DERIVED).filter(move |&f| self.contains(f))
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        let mut set = Self::NONE;
        fields.into_iter().for_each(|field| set.insert(field));
        set
    }
}
