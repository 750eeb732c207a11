//! The one catalogue of named columns: name, type, meaning, and how a tile of it is filled.
//!
//! Whoever offers columns to a user (the row outputs, the list of `compute --list-columns`) reads this
//! catalogue; whoever computes asks it which questions the chosen columns put to the analyzer and which fields
//! they read from the input. A new column is one entry: most are a closure from a [`Lane`], a record with the
//! answers about it, to a number. Only tags of games have too many names to be listed: see [`TAGS`].

use super::array::{Array, Strings, Texts, Values};
use super::field::{Field, Fields};
use super::tile::Tile;
use crate::answers::{GroupResults, Questions};
use crate::block::{Group, Planes};
use crate::chess::fen::CastlingStyle;
use crate::chess::{Color, LegalCounts, Move, Position, Role, Square};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// 0 or 1.
    Flag,
    /// 0 to 255.
    U8,
    /// 0 to 65,535.
    U16,
    /// 0 to 2^32 - 1.
    U32,
    /// 0 to 2^64 - 1.
    U64,
    /// -32,768 to 32,767.
    I16,
    /// A set of squares or a hash key; in text as `0x` and 16 hexadecimal digits.
    Bits,
    /// Text.
    Text,
}

impl Kind {
    /// The name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flag => "0/1",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 | Self::Bits => "u64",
            Self::I16 => "i16",
            Self::Text => "text",
        }
    }
}

/// A named column.
#[non_exhaustive]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// What it means.
    pub meaning: &'static str,
    /// What it asks of the analyzer.
    pub asks: Questions,
    /// What it reads from the input, besides the position.
    pub field: Option<Field>,
    fill: fn(&Tile<'_>) -> Array,
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Column {
    /// The column of this name; `eval`, as PGN calls it, is `score`.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = if name == "eval" { "score" } else { name };
        COLUMNS.iter().find(|column| column.name == name)
    }
    /// Its values for every record of a tile; those of records that do not count mean nothing.
    pub fn fill(&self, tile: &Tile<'_>) -> Array {
        (self.fill)(tile)
    }
}

/// Columns that no catalogue can list: one for each name that follows a prefix.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ColumnFamily {
    /// What comes before the name.
    pub prefix: &'static str,
    /// How listings show its columns.
    pub pattern: &'static str,
    /// The type of their values.
    pub kind: Kind,
    /// What they mean.
    pub meaning: &'static str,
}

/// Tags of games: the column `tag:Event` has the values of the tag `Event`.
pub static TAGS: ColumnFamily = ColumnFamily {
    prefix: "tag:",
    pattern: "tag:NAME",
    kind: Kind::Text,
    meaning: "any tag of the game, such as tag:Event",
};

/// A column of a choice: one of the catalogue, or a tag.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ChosenColumn {
    /// A column of the catalogue.
    Listed(&'static Column),
    /// A column of [`TAGS`], with its whole name.
    Tag(Arc<str>),
}

impl ChosenColumn {
    fn named(name: &str) -> Option<Self> {
        if let Some(column) = Column::named(name) {
            return Some(Self::Listed(column));
        }
        let tag = name.strip_prefix(TAGS.prefix)?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        (!tag.is_empty() && tag.bytes().all(is_name)).then(|| Self::Tag(name.into()))
    }
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Listed(column) => column.name,
            Self::Tag(name) => name,
        }
    }
    /// The type of its values.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Listed(column) => column.kind,
            Self::Tag(_) => TAGS.kind,
        }
    }
    /// The tag that it has the values of, if it is one.
    pub fn tag(&self) -> Option<&str> {
        match self {
            Self::Listed(_) => None,
            Self::Tag(name) => name.strip_prefix(TAGS.prefix),
        }
    }
    /// Its values for every record of a tile; those of records that do not count mean nothing.
    pub fn fill(&self, tile: &Tile<'_>) -> Array {
        let column = match self {
            Self::Listed(column) => return column.fill(tile),
            Self::Tag(_) => self.tag().and_then(|tag| tile.batch.tags.get(tag)),
        };
        Array::Text(match column {
            None => Texts::missing(tile.len),
            Some(values) => {
                let mut texts = Texts::default();
                texts.extend_from(values, tile.start..tile.start + tile.len);
                texts
            }
        })
    }
}

/// No column has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no column `{0}`{hint}", hint = rule_of_tags(_0))]
pub struct UnknownColumn(String);

fn rule_of_tags(name: &str) -> &'static str {
    match name.starts_with(TAGS.prefix) {
        true => ": the name of a tag is letters, digits and `_`",
        false => "",
    }
}

/// A choice of columns, in the order in which they are written.
#[derive(Clone, Debug)]
pub struct Columns(Vec<ChosenColumn>);

impl Columns {
    /// What `compute` writes when nothing else is asked for.
    pub const DEFAULT: &'static str =
        "fen,legal_moves,checkers,in_check,checkmate,stalemate,attacked_white,attacked_black";

    /// Names separated by commas; `all` stands for all of the catalogue.
    ///
    /// # Errors
    /// When there is no column of a name.
    ///
    /// ```
    /// use lanefish::table::Columns;
    /// let columns = Columns::named("fen,legal_moves,tag:Event").unwrap();
    /// let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
    /// assert_eq!(names, ["fen", "legal_moves", "tag:Event"]);
    /// assert!(Columns::named("fen,beauty").is_err());
    /// ```
    pub fn named(names: &str) -> Result<Self, UnknownColumn> {
        let mut columns = Vec::new();
        for name in names.split(',').map(str::trim) {
            if name == "all" {
                columns.extend(COLUMNS.iter().map(ChosenColumn::Listed));
            } else {
                let column = ChosenColumn::named(name);
                columns.push(column.ok_or_else(|| UnknownColumn(name.to_owned()))?);
            }
        }
        Ok(Self(columns))
    }
    /// The columns.
    pub fn iter(&self) -> impl Iterator<Item = &ChosenColumn> {
        self.0.iter()
    }
    /// Those of the catalogue.
    fn listed(&self) -> impl Iterator<Item = &'static Column> {
        self.iter().filter_map(|column| match column {
            ChosenColumn::Listed(column) => Some(*column),
            ChosenColumn::Tag(_) => None,
        })
    }
    /// What they ask of the analyzer.
    pub fn asks(&self) -> Questions {
        self.listed().map(|column| column.asks).collect()
    }
    /// What they read from the input.
    pub fn fields(&self) -> Fields {
        self.listed().filter_map(|column| column.field).collect()
    }
    /// The tags that they read from the input, each once.
    pub fn tags(&self) -> Arc<[Arc<str>]> {
        let tags: BTreeSet<&str> = self.iter().filter_map(ChosenColumn::tag).collect();
        tags.into_iter().map(Arc::from).collect()
    }
}

const NOTHING: Questions = Questions::NONE;
const MOVES: Questions = Questions::MOVES;
const KINDS: Questions = Questions::KINDS;
const CHECKERS: Questions = Questions::CHECKERS;
const ENDED: Questions = Questions::MOVES.union(Questions::CHECKERS);
const ATTACKS: Questions = Questions::ATTACKS;
const PINNED: Questions = Questions::PINNED;
const MOBILITY: Questions = Questions::MOBILITY;

/// A record and the answers about it.
struct Lane<'a> {
    planes: Planes<u64>,
    results: &'a GroupResults,
    lane: usize,
}

impl Lane<'_> {
    fn legal(&self) -> LegalCounts {
        self.results.legal(self.lane)
    }
    fn checkers(&self) -> u64 {
        self.results.checkers[self.lane]
    }
    fn white(&self) -> u64 {
        self.planes.occupied() & !self.planes.color
    }
    fn black(&self) -> u64 {
        self.planes.occupied() & self.planes.color
    }
    fn role(&self, role: Role) -> u64 {
        self.planes.role(role)
    }
    fn material(&self, side: u64) -> u16 {
        let worth = |(role, worth)| u16::from(count(self.role(role) & side)) * worth;
        [
            (Role::Pawn, 1),
            (Role::Knight, 3),
            (Role::Bishop, 3),
            (Role::Rook, 5),
            (Role::Queen, 9),
        ]
        .map(worth)
        .into_iter()
        .sum()
    }
    fn phase(&self) -> u8 {
        let minors = count(self.role(Role::Knight) | self.role(Role::Bishop));
        let heavy = count(self.role(Role::Rook)) * 2 + count(self.role(Role::Queen)) * 4;
        (minors + heavy).min(24)
    }
}

/// At most 64 squares.
fn count(set: u64) -> u8 {
    set.count_ones() as u8
}

/// A value of each lane, for every record of a tile, also those that do not count.
fn each<T: Clone + Default>(tile: &Tile<'_>, value: impl Fn(&Lane<'_>) -> T) -> Values<T> {
    let lanes = (0..tile.len).map(|row| Lane {
        planes: tile.groups[row / Group::LEN].get(row % Group::LEN).planes(),
        results: &tile.results[row / Group::LEN],
        lane: row % Group::LEN,
    });
    lanes.map(|lane| value(&lane)).collect()
}

/// What records carry, as it is; nothing where they do not.
fn carried_as_it_is(tile: &Tile<'_>, field: Field) -> Array {
    let mut array = field.column(0);
    match tile.batch.values(field) {
        Some(values) => array.extend_from(values, tile.start..tile.start + tile.len),
        None => (0..tile.len).for_each(|_| array.push_missing()),
    }
    array
}

/// A text for each position that counts.
fn texts(tile: &Tile<'_>, bytes: usize, push: impl Fn(&mut Strings, usize, &Position)) -> Array {
    let mut strings = Strings::with_capacity(tile.len, bytes);
    for (row, position) in tile.positions().iter().enumerate() {
        push(&mut strings, row, position);
    }
    Array::Strings(strings)
}

/// Codes of few words.
fn words(words: &[Arc<str>], codes: Values<u32>) -> Array {
    Array::Text(Texts::from_parts(codes, words.to_vec()))
}

/// The squares, and `-` for none.
fn squares(codes: Values<u32>) -> Array {
    static WORDS: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| {
        let names = Square::all().map(|square| square.to_string());
        names.chain(["-".to_owned()]).map(Arc::from).collect()
    });
    words(&WORDS, codes)
}

/// The first square of a set.
fn first(set: u64) -> u32 {
    set.trailing_zeros()
}

fn side_to_move(tile: &Tile<'_>) -> Array {
    static WORDS: LazyLock<[Arc<str>; 2]> = LazyLock::new(|| ["w", "b"].map(Arc::from));
    let boards = (tile.start..tile.start + tile.len).map(|row| tile.batch.board(row));
    let codes = boards.map(|board| u32::from(board.side_to_move() == Color::Black));
    words(&*WORDS, codes.collect())
}

fn en_passant(tile: &Tile<'_>) -> Array {
    let boards = (tile.start..tile.start + tile.len).map(|row| tile.batch.board(row));
    squares(
        boards
            .map(|board| {
                board
                    .en_passant()
                    .map_or(64, |square| square.index() as u32)
            })
            .collect(),
    )
}

fn fen(tile: &Tile<'_>) -> Array {
    texts(tile, 64, |strings, _, position| {
        strings.push_with(|out| position.write_fen(out, CastlingStyle::Outermost));
    })
}

fn castling(tile: &Tile<'_>) -> Array {
    texts(tile, 4, |strings, _, position| {
        let mut fen = Vec::with_capacity(96);
        position.write_fen(&mut fen, CastlingStyle::Outermost);
        // The third field.
        let field = fen.split(|&byte| byte == b' ').nth(2).unwrap_or_default();
        strings.push_with(|out| out.extend_from_slice(field));
    })
}

fn the_move(tile: &Tile<'_>) -> Array {
    moves(tile, |mv, position, out| {
        out.extend_from_slice(mv.uci(position).as_bytes())
    })
}

fn san(tile: &Tile<'_>) -> Array {
    moves(tile, |mv, position, out| {
        out.extend_from_slice(mv.san(position).as_bytes())
    })
}

fn moves(tile: &Tile<'_>, write: impl Fn(Move, &Position, &mut Vec<u8>)) -> Array {
    let played = tile.batch.values(Field::Move);
    texts(tile, 5, |strings, row, position| {
        let bits = played.and_then(|moves| moves.number(tile.start + row));
        match bits.and_then(|bits| Move::from_bits(bits as u16)) {
            Some(mv) if tile.counts(row) => strings.push_with(|out| write(mv, position, out)),
            _ => strings.push(None),
        }
    })
}

fn result(tile: &Tile<'_>) -> Array {
    static WORDS: LazyLock<[Arc<str>; 3]> =
        LazyLock::new(|| ["0-1", "1/2-1/2", "1-0"].map(Arc::from));
    let Array::U8(results) = carried_as_it_is(tile, Field::Result) else {
        unreachable!("results are small numbers")
    };
    let mut codes = Values::default();
    for row in 0..tile.len {
        let known = results.get(row).filter(|&&result| result < 3);
        codes.push(known.map(|&result| result.into()));
    }
    words(&*WORDS, codes)
}

const fn column(
    name: &'static str,
    kind: Kind,
    asks: Questions,
    fill: fn(&Tile<'_>) -> Array,
    meaning: &'static str,
) -> Column {
    Column {
        name,
        kind,
        meaning,
        asks,
        field: None,
        fill,
    }
}

/// A column that is carried as it is.
macro_rules! carried {
    ($field:ident, $kind:ident, $meaning:literal) => {
        carried(
            Field::$field,
            Kind::$kind,
            |tile| carried_as_it_is(tile, Field::$field),
            $meaning,
        )
    };
}

/// A column that is computed lane by lane.
macro_rules! computed {
    ($name:literal, $kind:ident, $array:ident, $asks:expr, $value:expr, $meaning:literal) => {
        column(
            $name,
            Kind::$kind,
            $asks,
            |tile| Array::$array(each(tile, $value)),
            $meaning,
        )
    };
}

const fn carried(
    field: Field,
    kind: Kind,
    fill: fn(&Tile<'_>) -> Array,
    meaning: &'static str,
) -> Column {
    Column {
        name: field.name(),
        kind,
        meaning,
        asks: NOTHING,
        field: Some(field),
        fill,
    }
}

/// All columns, in the order of listings and of `--columns all`.
pub static COLUMNS: &[Column] = &[
    column(
        "index",
        Kind::U64,
        NOTHING,
        |t| {
            Array::U64(
                (t.start..t.start + t.len)
                    .map(|row| t.batch.index(row))
                    .collect(),
            )
        },
        "0-based number of the record over all inputs",
    ),
    column(
        "fen",
        Kind::Text,
        NOTHING,
        fen,
        "the position; castling as KQkq where the rook is the outermost one, else its file letter; en passant square only where such a capture is legal",
    ),
    column(
        "stm",
        Kind::Text,
        NOTHING,
        side_to_move,
        "side to move, w or b",
    ),
    computed!(
        "legal_moves",
        U16,
        U16,
        MOVES,
        |r| r.legal().moves,
        "number of legal moves; each promotion piece counts, castling counts once per rook"
    ),
    computed!(
        "legal_captures",
        U16,
        U16,
        KINDS,
        |r| r.legal().captures,
        "of those, captures (en passant is one)"
    ),
    computed!(
        "legal_promotions",
        U16,
        U16,
        KINDS,
        |r| r.legal().promotions,
        "of the legal moves, promotions"
    ),
    computed!(
        "legal_castles",
        U16,
        U16,
        KINDS,
        |r| r.legal().castles,
        "of the legal moves, castling moves"
    ),
    computed!(
        "legal_en_passants",
        U16,
        U16,
        KINDS,
        |r| r.legal().en_passants,
        "of the legal moves, en passant captures"
    ),
    computed!(
        "checkers",
        U8,
        U8,
        CHECKERS,
        |r| count(r.checkers()),
        "number of enemy pieces giving check to the side to move"
    ),
    computed!(
        "in_check",
        Flag,
        Flag,
        CHECKERS,
        |r| r.checkers() != 0,
        "whether the side to move is in check"
    ),
    computed!(
        "double_check",
        Flag,
        Flag,
        CHECKERS,
        |r| count(r.checkers()) > 1,
        "whether more than one piece gives check"
    ),
    computed!(
        "checkmate",
        Flag,
        Flag,
        ENDED,
        |r| r.legal().moves == 0 && r.checkers() != 0,
        "in check and without a legal move"
    ),
    computed!(
        "stalemate",
        Flag,
        Flag,
        ENDED,
        |r| r.legal().moves == 0 && r.checkers() == 0,
        "not in check and without a legal move"
    ),
    computed!(
        "attacked_white",
        U8,
        U8,
        ATTACKS,
        |r| count(r.results.attacks_white[r.lane]),
        "number of squares that White attacks: sliders stop at the first piece, own pieces' squares count, pins are ignored"
    ),
    computed!(
        "attacked_black",
        U8,
        U8,
        ATTACKS,
        |r| count(r.results.attacks_black[r.lane]),
        "the same of Black"
    ),
    computed!(
        "attacks_white",
        Bits,
        U64,
        ATTACKS,
        |r| r.results.attacks_white[r.lane],
        "squares that White attacks, a1 = bit 0, h8 = bit 63"
    ),
    computed!(
        "attacks_black",
        Bits,
        U64,
        ATTACKS,
        |r| r.results.attacks_black[r.lane],
        "squares that Black attacks"
    ),
    computed!(
        "checkers_mask",
        Bits,
        U64,
        CHECKERS,
        |r| r.checkers(),
        "enemy pieces giving check"
    ),
    computed!(
        "pinned_mask",
        Bits,
        U64,
        PINNED,
        |r| r.results.pinned[r.lane],
        "pieces of the side to move that are absolutely pinned to their king"
    ),
    computed!(
        "mobility_white",
        U16,
        U16,
        MOBILITY,
        |r| (r.results.mobility[r.lane] & 0xFFFF) as u16,
        "pairs of a white knight, bishop, rook or queen and a square that it attacks and that holds no white piece"
    ),
    computed!(
        "mobility_black",
        U16,
        U16,
        MOBILITY,
        |r| (r.results.mobility[r.lane] >> 16 & 0xFFFF) as u16,
        "the same of Black"
    ),
    computed!(
        "pieces",
        U8,
        U8,
        NOTHING,
        |r| count(r.planes.occupied()),
        "number of pieces, pawns and kings included"
    ),
    computed!(
        "white_pieces",
        U8,
        U8,
        NOTHING,
        |r| count(r.white()),
        "of those, White's"
    ),
    computed!(
        "black_pieces",
        U8,
        U8,
        NOTHING,
        |r| count(r.black()),
        "of those, Black's"
    ),
    computed!(
        "pawns",
        U8,
        U8,
        NOTHING,
        |r| count(r.role(Role::Pawn)),
        "number of pawns of both sides"
    ),
    computed!(
        "knights",
        U8,
        U8,
        NOTHING,
        |r| count(r.role(Role::Knight)),
        "number of knights of both sides"
    ),
    computed!(
        "bishops",
        U8,
        U8,
        NOTHING,
        |r| count(r.role(Role::Bishop)),
        "number of bishops of both sides"
    ),
    computed!(
        "rooks",
        U8,
        U8,
        NOTHING,
        |r| count(r.role(Role::Rook)),
        "number of rooks of both sides"
    ),
    computed!(
        "queens",
        U8,
        U8,
        NOTHING,
        |r| count(r.role(Role::Queen)),
        "number of queens of both sides"
    ),
    computed!(
        "material_white",
        U16,
        U16,
        NOTHING,
        |r| r.material(r.white()),
        "White's material, 1-3-3-5-9"
    ),
    computed!(
        "material_black",
        U16,
        U16,
        NOTHING,
        |r| r.material(r.black()),
        "Black's material, 1-3-3-5-9"
    ),
    computed!(
        "phase",
        U8,
        U8,
        NOTHING,
        |r| r.phase(),
        "24 = all minor and major pieces on the board, 0 = none (minor 1, rook 2, queen 4; at most 24)"
    ),
    column(
        "white_king",
        Kind::Text,
        NOTHING,
        |t| squares(each(t, |r| first(r.role(Role::King) & r.white()))),
        "square of the white king",
    ),
    column(
        "black_king",
        Kind::Text,
        NOTHING,
        |t| squares(each(t, |r| first(r.role(Role::King) & r.black()))),
        "square of the black king",
    ),
    column(
        "castling",
        Kind::Text,
        NOTHING,
        castling,
        "castling rights, as in FEN",
    ),
    column(
        "en_passant",
        Kind::Text,
        NOTHING,
        en_passant,
        "en passant square, as in FEN",
    ),
    column(
        "halfmove",
        Kind::U16,
        NOTHING,
        |t| {
            Array::U16(
                t.batch.halfmove[t.start..t.start + t.len]
                    .iter()
                    .copied()
                    .collect(),
            )
        },
        "halfmove clock, as in FEN",
    ),
    column(
        "fullmove",
        Kind::U16,
        NOTHING,
        |t| {
            Array::U16(
                t.batch.fullmove[t.start..t.start + t.len]
                    .iter()
                    .copied()
                    .collect(),
            )
        },
        "fullmove number, as in FEN",
    ),
    column(
        "key",
        Kind::Bits,
        NOTHING,
        |t| Array::U64(t.positions().iter().map(Position::polyglot_key).collect()),
        "Polyglot Zobrist key",
    ),
    carried!(Game, U64, "0-based number of the game over all inputs"),
    carried!(Ply, U16, "plies since the start of the game"),
    carried(
        Field::Move,
        Kind::Text,
        the_move,
        "the move played or the best move of the record, in UCI form",
    ),
    Column {
        name: "san",
        kind: Kind::Text,
        meaning: "the same move in standard algebraic notation",
        asks: NOTHING,
        field: Some(Field::Move),
        fill: san,
    },
    carried!(
        Score,
        I16,
        "centipawns, from White's side; none where the record has a mate"
    ),
    carried!(
        Mate,
        I16,
        "moves to mate, positive where White mates, negative where Black does; 0 where the side to move is mated"
    ),
    carried(Field::Result, Kind::Text, result, "1-0, 0-1 or 1/2-1/2"),
    carried!(
        Termination,
        Text,
        "how the game ended, as the game gives it"
    ),
    carried!(White, Text, "White's name"),
    carried!(Black, Text, "Black's name"),
    carried!(WhiteElo, U16, "White's rating"),
    carried!(BlackElo, U16, "Black's rating"),
    carried!(
        Clock,
        U32,
        "the mover's remaining time after the move, in centiseconds"
    ),
    carried!(Eco, Text, "opening code"),
    carried!(Opening, Text, "name of the opening"),
    carried!(TimeControl, Text, "time control, as the game gives it"),
    carried!(Date, Text, "date as YYYY.MM.DD"),
    carried!(Site, Text, "site; for Lichess the address of the game"),
    carried!(PuzzleId, Text, "id of the puzzle"),
    carried!(PuzzleRating, U16, "rating of the puzzle"),
    carried!(Themes, Text, "themes of the puzzle, separated by blanks"),
    carried!(
        Operations,
        Text,
        "EPD operations, as they stood in the line"
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Packed;
    use crate::output::csv::Csv;
    use crate::output::rows::{Masks, RowFormat};
    use crate::table::Batch;

    fn row_of(fen: &str, names: &str) -> String {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let mut batch = Batch::new();
        batch.push(
            Packed::pack(&position).unwrap(),
            position.halfmove,
            position.fullmove,
        );
        let mut results = GroupResults::default();
        results.attacks_white[0] = 0x8000_0000_0000_000F;
        let results = [results];
        let tile = Tile::new(&batch, 0, 1, &results, &[1]);
        let mut out = Vec::new();
        Csv.tile(&Columns::named(names).unwrap(), Masks::Hex, &tile, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_of_a_position() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 7 31";
        assert_eq!(
            row_of(
                fen,
                "stm,castling,halfmove,fullmove,pieces,white_pieces,pawns,rooks,phase"
            ),
            "b,Kq,7,31,32,16,16,4,24\n"
        );
        assert_eq!(row_of(fen, "fen"), format!("{fen}\n"));
        assert_eq!(
            row_of(
                fen,
                "white_king,black_king,en_passant,material_white,material_black,score"
            ),
            "e1,e8,-,39,39,\n"
        );
        assert_eq!(
            row_of(fen, "attacked_white,attacks_white"),
            "5,0x800000000000000f\n"
        );
    }

    #[test]
    fn phase_ends_at_24() {
        assert_eq!(
            row_of("qqqqk3/8/8/8/8/8/8/QQQQK2R w - - 0 1", "phase"),
            "24\n"
        );
        assert_eq!(
            row_of("qqqk4/8/8/8/8/8/8/QQ1K3R w - - 0 1", "phase"),
            "22\n"
        );
        assert_eq!(
            row_of("qqqk3n/8/8/8/8/8/8/QQ1K2RR w - - 0 1", "phase"),
            "24\n"
        );
    }

    #[test]
    fn names_are_unique_and_meanings_are_one_line() {
        for (at, column) in COLUMNS.iter().enumerate() {
            assert!(
                COLUMNS[..at].iter().all(|other| other.name != column.name),
                "{}",
                column.name
            );
            assert!(!column.meaning.is_empty() && !column.meaning.contains('\n'));
        }
    }
}
