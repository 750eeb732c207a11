//! Records and games as plain values, the formats that hold them, and what each format keeps of a record.

use lanefish::chess::{CastlingRights, Color, Move, MoveKind, Position};
use std::borrow::BorrowMut;
use std::rc::Rc;

/// A result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    White,
    Draw,
    Black,
}

impl Outcome {
    pub(crate) const ALL: [Self; 3] = [Self::White, Self::Draw, Self::Black];
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::White => "1-0",
            Self::Draw => "1/2-1/2",
            Self::Black => "0-1",
        }
    }
    /// The result with the colours exchanged.
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Draw => Self::Draw,
            Self::Black => Self::White,
        }
    }
}

/// What a game says of itself. A text is empty where the game does not say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(crate) white: String,
    pub(crate) black: String,
    pub(crate) white_elo: Option<u16>,
    pub(crate) black_elo: Option<u16>,
    pub(crate) eco: String,
    pub(crate) time_control: String,
    pub(crate) termination: String,
    pub(crate) date: String,
}

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) position: Position,
    pub(crate) game: Option<u64>,
    pub(crate) ply: Option<u32>,
    pub(crate) played: Option<Move>,
    /// The stored number, as White sees it.
    pub(crate) score: Option<i32>,
    pub(crate) mate: Option<i32>,
    pub(crate) result: Option<Outcome>,
    pub(crate) tags: Rc<Tags>,
    /// The number of the record over all inputs.
    pub(crate) index: u64,
    /// The number of the input from which it comes.
    pub(crate) input: usize,
    /// `score` of the record before in the same game.
    pub(crate) score_before: Option<i32>,
    /// Plies of the whole game, where the format tells.
    pub(crate) game_plies: Option<u32>,
    /// How often the record occurred, for `dedup --counts`.
    pub(crate) count: Option<u64>,
}

/// The number that training data store in place of a score.
pub(crate) const NO_SCORE: i32 = 32002;

/// A column of records that comes from earlier records, and is in no output of records.
pub(crate) const DERIVED: &str = "score_before";
/// The columns by which records are compared.
pub(crate) const COLUMNS: [&str; 17] = [
    "fen",
    "game",
    "ply",
    "move",
    "raw_score",
    "score",
    "mate",
    "result",
    "white",
    "black",
    "white_elo",
    "black_elo",
    "eco",
    "time_control",
    "termination",
    "date",
    "count",
];

impl Record {
    pub(crate) fn of(position: Position) -> Self {
        Self {
            position,
            game: None,
            ply: None,
            played: None,
            score: None,
            mate: None,
            result: None,
            tags: Rc::default(),
            index: 0,
            input: 0,
            score_before: None,
            game_plies: None,
            count: None,
        }
    }
    pub(crate) fn white_moves(&self) -> bool {
        self.position.side_to_move == Color::White
    }
    /// The score, if the stored number is one.
    pub(crate) fn real_score(&self) -> Option<i32> {
        self.score.filter(|score| score.abs() != NO_SCORE)
    }
    pub(crate) fn uci(&self) -> String {
        self.played.map_or(String::new(), |played| played.uci(&self.position).to_string())
    }
    /// The values of [`COLUMNS`].
    pub(crate) fn row(&self) -> Vec<String> {
        fn number<T: ToString>(number: Option<T>) -> String {
            number.map_or(String::new(), |number| number.to_string())
        }
        let tags = &self.tags;
        vec![
            self.position.to_string(),
            number(self.game),
            number(self.ply),
            self.uci(),
            number(self.score),
            number(self.real_score()),
            number(self.mate),
            self.result.map_or("", Outcome::text).to_owned(),
            tags.white.clone(),
            tags.black.clone(),
            number(tags.white_elo),
            number(tags.black_elo),
            tags.eco.clone(),
            tags.time_control.clone(),
            tags.termination.clone(),
            tags.date.clone(),
            number(self.count),
        ]
    }
}

/// An entry of an input, good or bad.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Good(Record),
    /// A bad entry. That of a game has the first record of the game.
    Bad(Option<Record>),
}

/// The formats, by the extension that says them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    Fen,
    Epd,
    Pgn,
    Csv,
    Text,
    Plain,
    Boards,
    Bullet,
    Marlin,
    Viri,
    Sfen,
    Binpack,
    Parquet,
    Arrow,
    Arrows,
}

impl Format {
    /// What `convert` can write.
    pub(crate) const WRITTEN: [Self; 13] = [
        Self::Fen,
        Self::Boards,
        Self::Epd,
        Self::Text,
        Self::Plain,
        Self::Bullet,
        Self::Marlin,
        Self::Viri,
        Self::Sfen,
        Self::Binpack,
        Self::Parquet,
        Self::Arrow,
        Self::Arrows,
    ];
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Fen => "fen",
            Self::Epd => "epd",
            Self::Pgn => "pgn",
            Self::Csv => "csv",
            Self::Text => "text",
            Self::Plain => "plain",
            Self::Boards => "boards",
            Self::Bullet => "bullet",
            Self::Marlin => "marlin",
            Self::Viri => "viri",
            Self::Sfen => "sfen",
            Self::Binpack => "binpack",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Arrows => "arrows",
        }
    }
    /// Whether files may be compressed as a whole.
    pub(crate) fn compressible(self) -> bool {
        !matches!(self, Self::Parquet | Self::Arrow | Self::Arrows)
    }
    /// Whether an empty file is an empty dataset.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Fen | Self::Epd | Self::Pgn | Self::Csv | Self::Text | Self::Plain)
    }
    /// Whether records of this format may have a move.
    pub(crate) fn has_moves(self) -> bool {
        !matches!(self, Self::Text | Self::Bullet | Self::Marlin)
    }
    pub(crate) fn stores_chains(self) -> bool {
        matches!(self, Self::Viri | Self::Binpack)
    }
}

/// Records as a format returns them.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) records: Vec<Record>,
    /// Records that the format cannot hold.
    pub(crate) rejected: u64,
    /// Whether a record comes out changed in a way that no reader can know.
    pub(crate) changed: bool,
}

/// Writes records in a format and reads them back.
pub(crate) fn stored(format: Format, records: &[Record]) -> Stored {
    let mut stored = Stored::default();
    let (mut last, mut has_odd_rights) = (None, Vec::new());
    for (place, record) in records.iter().enumerate() {
        // The last position of a game follows from its last move.
        let without_ply = Record { ply: record.ply.filter(|_| format != Format::Viri), ..record.clone() };
        let follows = place > 0 && record.game.is_some() && continues(&records[place - 1], &without_ply);
        if format.stores_chains() && record.played.is_none() && follows {
            continue;
        }
        if format == Format::Viri && record.played.is_none() {
            stored.rejected += 1;
            continue;
        }
        let mut bare = Record::of(record.position.clone());
        let rook_squares_matter = !record.position.castles_as_standard();
        match format {
            Format::Fen => {}
            Format::Epd => {}
            Format::Boards | Format::Parquet | Format::Arrow | Format::Arrows | Format::Pgn | Format::Csv => {
                bare = record.clone();
                bare.game_plies = None;
            }
            Format::Text
            | Format::Marlin
            | Format::Bullet
            | Format::Plain
            | Format::Sfen
            | Format::Binpack
            | Format::Viri => {
                stored.changed |= record.score.is_none() || record.result.is_none();
                let score = match (record.score, record.mate) {
                    (Some(score), _) => score,
                    (None, Some(mate)) => mate.signum() * (32000 - mate.abs()),
                    (None, None) => 0,
                };
                bare.score = Some(score);
                bare.result = Some(record.result.unwrap_or(Outcome::Draw));
                let most = match format {
                    Format::Sfen => 127,
                    Format::Marlin | Format::Viri => 255,
                    _ => u16::MAX,
                };
                if record.position.halfmove > most {
                    stored.changed = true;
                    bare.position.halfmove = most;
                }
                if matches!(format, Format::Sfen | Format::Binpack) && rook_squares_matter {
                    stored.changed = true;
                    bare.position.castling = CastlingRights::NONE;
                }
            }
        }
        match format {
            Format::Plain | Format::Sfen | Format::Binpack => {
                let castles = record.played.is_some_and(|played| played.kind == MoveKind::Castle);
                let lost = castles && rook_squares_matter && format != Format::Plain;
                bare.played = record.played.filter(|_| !lost);
                let counted = 2 * (u32::from(record.position.fullmove.max(1)) - 1) + u32::from(!record.white_moves());
                bare.ply = Some(record.ply.unwrap_or(counted));
                // The sentinel of formats for the side to move is positive, whatever its sign was.
                if bare.score == Some(-NO_SCORE) && record.white_moves() {
                    bare.score = Some(NO_SCORE);
                } else if bare.score.is_some_and(|score| score.abs() == NO_SCORE) && !record.white_moves() {
                    bare.score = Some(-NO_SCORE);
                }
                if format == Format::Binpack {
                    // Of the ply and the number of the move, it holds one: the other follows.
                    bare.ply = record.ply.filter(|ply| ply / 2 == counted / 2).or(Some(counted));
                }
            }
            Format::Viri => {
                bare.played = record.played;
                // What is not stored does not come between two records of a chain.
                let joined = stored.records.last().filter(|_| last.is_some_and(|last| continues(last, &without_ply)));
                let joined = joined.filter(|before| before.result == bare.result);
                let (game, ply) = match (joined, stored.records.last()) {
                    (Some(before), _) => (before.game.unwrap_or(0), before.ply.unwrap_or(0) + 1),
                    (None, Some(before)) => (before.game.unwrap_or(0) + 1, 0),
                    (None, None) => (0, 0),
                };
                (bare.game, bare.ply) = (Some(game), Some(ply));
            }
            Format::Bullet => bare = seen_by_mover(&bare),
            _ => {}
        }
        has_odd_rights.push(rook_squares_matter);
        bare.index = stored.records.len() as u64;
        bare.input = record.input;
        stored.records.push(bare);
        last = Some(record);
    }
    histories(format, &mut stored.records);
    if format == Format::Binpack {
        // Where rights to castle were removed, the positions of a chain might not follow from one another.
        for place in (1..stored.records.len()).filter(|&place| has_odd_rights[place - 1] || has_odd_rights[place]) {
            stored.records[place].score_before = None;
        }
    }
    stored
}

/// The records that a format can hold, and how many others there are.
pub(crate) fn held(format: Format, records: &[Record]) -> (Vec<Record>, u64) {
    // The ply of a position that follows from the record before is not stored.
    let without_ply = |record: &Record| Record { ply: None, ..record.clone() };
    let follows = |place: usize| {
        place > 0 && records[place].game.is_some() && continues(&records[place - 1], &without_ply(&records[place]))
    };
    let is_held = |place: &usize| format != Format::Viri || records[*place].played.is_some() || follows(*place);
    let held: Vec<Record> = (0..records.len()).filter(is_held).map(|place| records[place].clone()).collect();
    let refused = (records.len() - held.len()) as u64;
    (held, refused)
}

/// Whether the second record is the next one of the same game, and what the move of the first one leads to.
pub(crate) fn continues(before: &Record, record: &Record) -> bool {
    let next = |ply: u32| record.ply.is_none_or(|own| own == ply + 1);
    before.game == record.game
        && before.ply.is_none_or(next)
        && before.played.is_some_and(|played| {
            let mut position = before.position.clone();
            position.make(played);
            position == record.position
        })
}

/// The record as bulletformat stores it: the mover plays White's pieces, and nothing but the board is known.
fn seen_by_mover(record: &Record) -> Record {
    let mut position = Position::empty();
    for square in record.position.occupied() {
        let mut piece = record.position.piece_at(square).expect("a piece");
        let mut seen = square;
        if !record.white_moves() {
            piece.color = !piece.color;
            seen = square.flip_vertical();
        }
        position.put(seen, piece);
    }
    let mut seen = Record::of(position);
    let turned = !record.white_moves();
    // The sentinel is positive, whatever its sign was.
    seen.score = record.score.map(|score| match score {
        score if score.abs() == NO_SCORE => NO_SCORE,
        score if turned => -score,
        score => score,
    });
    seen.result = record.result.map(|result| if turned { result.flipped() } else { result });
    seen
}

/// Fills in the columns of a game's history, as a file of this format has them.
pub(crate) fn histories<R: BorrowMut<Record>>(format: Format, records: &mut [R]) {
    if let Some(first) = records.first_mut() {
        first.borrow_mut().score_before = None;
    }
    for place in (1..records.len()).rev() {
        let (before, record) = records.split_at_mut(place);
        let (before, record) = (before[place - 1].borrow(), record[0].borrow_mut());
        let same = match (before.game, record.game) {
            // Without numbers of games, a game goes on while plies do.
            (None, None) => record.ply.is_some() && before.ply.map(|ply| ply + 1) == record.ply,
            (before_game, game) => before_game == game && before.ply < record.ply,
        };
        // What is known of earlier records does not leave a chain.
        let same = same && (format != Format::Binpack || record.played.is_some() && continues(before, record));
        record.score_before = if same { before.real_score() } else { None };
    }
}
