//! The one catalogue of named columns: name, type, meaning and where the value comes from.
//!
//! A column is a plain function from a [`Row`] (a record of a batch with its results) to a [`Cell`], a small
//! value that is written without allocating. Whoever offers columns to a user (the row outputs, the list of
//! `compute --list-columns`) reads this catalogue; whoever computes asks it which questions the chosen
//! columns put to the analyzer and which fields they read from the input. A new column is one entry.

use crate::answers::{GroupResults, Questions};
use crate::batch::{Batch, Field, Fields, Values};
use crate::block::Packed;
use crate::chess::fen::CastlingStyle;
use crate::chess::{Bitboard, LegalCounts, Move, Position, Role, Square, moves::UciText};
use crate::one_line;
use std::cell::OnceCell;
use std::fmt;
use std::io::Write as _;

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

/// The value of a column in a row.
#[derive(Clone, Debug)]
pub enum Cell<'a> {
    /// The record has no such value.
    Missing,
    /// A number from zero.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A set of squares or a key.
    Bits(u64),
    /// A letter.
    Letter(u8),
    /// A word that is the same wherever it occurs.
    Word(&'static str),
    /// A square, `-` for none.
    Square(Option<Square>),
    /// A move in UCI form.
    Move(UciText),
    /// All six fields of FEN.
    Fen(&'a Position),
    /// The castling field of FEN.
    Castling(&'a Position),
    /// Any text of the input.
    Text(&'a str),
}

impl Cell<'_> {
    /// Appends the value as a CSV field, in quotes where it needs them and in one line; nothing where it is
    /// missing.
    pub fn write_csv(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) if text.bytes().any(|b| matches!(b, b',' | b'"')) => {
                out.push(b'"');
                for (at, part) in text.split('"').enumerate() {
                    if at > 0 {
                        out.extend_from_slice(b"\"\"");
                    }
                    one_line::push(part.as_bytes(), out);
                }
                out.push(b'"');
            }
            _ => self.write_plain(out),
        }
    }

    /// Appends the value as JSON: a number, a string, or `null`.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Missing => out.extend_from_slice(b"null"),
            Self::Unsigned(_) | Self::Signed(_) => self.write_plain(out),
            Self::Text(text) => write_json_string(text, out),
            _ => {
                out.push(b'"');
                self.write_plain(out);
                out.push(b'"');
            }
        }
    }

    /// Appends the value as it is, control characters in text as blanks.
    pub fn write_plain(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Missing => {}
            Self::Unsigned(number) => write_number(number, out),
            Self::Signed(number) => {
                if number < 0 {
                    out.push(b'-');
                }
                write_number(number.unsigned_abs(), out);
            }
            Self::Bits(bits) => write_hex(bits, out),
            Self::Letter(letter) => out.push(letter),
            Self::Word(word) => out.extend_from_slice(word.as_bytes()),
            Self::Square(None) => out.push(b'-'),
            Self::Square(Some(square)) => {
                out.push(square.file().letter() as u8);
                out.push(square.rank().digit() as u8);
            }
            Self::Move(text) => out.extend_from_slice(text.as_bytes()),
            Self::Fen(position) => position.write_fen(out, CastlingStyle::Outermost),
            Self::Castling(position) => {
                let start = out.len();
                position.write_fen(out, CastlingStyle::Outermost);
                // The third field: what lies between the second blank and the third.
                let mut blanks = (start..out.len()).filter(|&at| out[at] == b' ').skip(1);
                if let (Some(from), Some(to)) = (blanks.next(), blanks.next()) {
                    out.copy_within(from + 1..to, start);
                    out.truncate(start + to - from - 1);
                }
            }
            Self::Text(text) => one_line::push(text.as_bytes(), out),
        }
    }
}

/// Appends a number in decimal.
fn write_number(mut number: u64, out: &mut Vec<u8>) {
    if number < 10 {
        out.push(b'0' + number as u8);
        return;
    }
    let mut digits = [0; 20];
    let mut first = digits.len();
    while number > 0 {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[first..]);
}

/// Appends `0x` and 16 hexadecimal digits.
fn write_hex(bits: u64, out: &mut Vec<u8>) {
    let mut text = *b"0x0000000000000000";
    for (place, digit) in text[2..].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(bits >> (60 - 4 * place) & 0xF) as usize];
    }
    out.extend_from_slice(&text);
}

fn write_json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend_from_slice(&[b'\\', char as u8]),
            ' '..='~' => out.push(char as u8),
            _ if one_line::is_control(char) => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// A record with its results: what the getters of columns read.
#[derive(Debug)]
pub struct Row<'a> {
    batch: &'a Batch,
    record: usize,
    board: Packed,
    results: &'a GroupResults,
    lane: usize,
    /// Unpacked only when a column asks for it.
    position: OnceCell<Position>,
}

impl<'a> Row<'a> {
    /// A record of a batch, with the results of its group.
    ///
    /// # Panics
    /// When the record is out of range.
    #[inline]
    pub fn new(batch: &'a Batch, record: usize, results: &'a GroupResults) -> Self {
        Self {
            batch,
            record,
            board: batch.board(record),
            results,
            lane: record % crate::block::Group::LEN,
            position: OnceCell::new(),
        }
    }

    /// The position. Boards that do not decode appear empty; a pipeline rejects them before.
    #[inline]
    pub fn position(&self) -> &Position {
        self.position.get_or_init(|| {
            self.batch
                .position(self.record)
                .unwrap_or_else(|_| Position::empty())
        })
    }

    fn legal(&self) -> LegalCounts {
        self.results.legal(self.lane)
    }
    fn checkers(&self) -> u64 {
        self.results.checkers[self.lane]
    }
    fn white(&self) -> u64 {
        self.board.occupied() & !self.board.color
    }
    fn black(&self) -> u64 {
        self.board.occupied() & self.board.color
    }
    /// All pieces of a role, found in the planes without unpacking.
    fn role(&self, role: Role) -> u64 {
        let [t0, t1, t2] = self.board.types;
        match role {
            Role::Pawn => t0 & !t1 & !t2,
            Role::Knight => t1 & !t0 & !t2,
            Role::Bishop => t0 & t1 & !t2,
            Role::Rook => t2 & !(t0 ^ t1) & !(t1 & !t0),
            Role::Queen => t2 & t0 & !t1,
            Role::King => t2 & t1 & !t0,
        }
    }
    fn material(&self, side: u64) -> u64 {
        [
            (Role::Pawn, 1),
            (Role::Knight, 3),
            (Role::Bishop, 3),
            (Role::Rook, 5),
            (Role::Queen, 9),
        ]
        .into_iter()
        .map(|(role, worth)| count(self.role(role) & side) * worth)
        .sum()
    }
    fn phase(&self) -> u64 {
        let minors = count(self.role(Role::Knight) | self.role(Role::Bishop));
        let heavy = count(self.role(Role::Rook)) * 2 + count(self.role(Role::Queen)) * 4;
        (minors + heavy).min(24)
    }
    fn number(&self, field: Field) -> Option<i64> {
        self.batch.values(field)?.number(self.record)
    }
    fn unsigned(&self, field: Field) -> Cell<'_> {
        self.number(field)
            .map_or(Cell::Missing, |n| Cell::Unsigned(n as u64))
    }
    fn text(&self, field: Field) -> Cell<'_> {
        self.batch
            .values(field)
            .and_then(|values: &Values| values.text(self.record))
            .map_or(Cell::Missing, |text| Cell::Text(text))
    }
}

#[inline]
fn count(set: u64) -> u64 {
    u64::from(set.count_ones())
}
fn flag(value: bool) -> Cell<'static> {
    Cell::Unsigned(value.into())
}

/// Where a column's value comes from.
type Getter = for<'a> fn(&'a Row<'a>) -> Cell<'a>;

/// A named column.
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
    get: Getter,
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
    /// Its value in a row.
    #[inline]
    pub fn get<'a>(&self, row: &'a Row<'a>) -> Cell<'a> {
        (self.get)(row)
    }
}

/// No column has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no column `{0}`")]
pub struct UnknownColumn(String);

/// A choice of columns, in the order in which they are written.
#[derive(Clone, Debug)]
pub struct Columns(Vec<&'static Column>);

impl Columns {
    /// What `compute` writes when nothing else is asked for.
    pub const DEFAULT: &'static str =
        "fen,legal_moves,checkers,in_check,checkmate,stalemate,attacked_white,attacked_black";

    /// Names separated by commas; `all` stands for all of them.
    ///
    /// # Errors
    /// When there is no column of a name.
    ///
    /// ```
    /// use lanefish::columns::Columns;
    /// let columns: Vec<_> = Columns::named("fen,legal_moves").unwrap().iter().map(|c| c.name).collect();
    /// assert_eq!(columns, ["fen", "legal_moves"]);
    /// assert!(Columns::named("fen,beauty").is_err());
    /// ```
    pub fn named(names: &str) -> Result<Self, UnknownColumn> {
        let mut columns = Vec::new();
        for name in names.split(',').map(str::trim) {
            if name == "all" {
                columns.extend(COLUMNS);
            } else {
                let column = Column::named(name).ok_or_else(|| UnknownColumn(name.to_owned()))?;
                columns.push(column);
            }
        }
        Ok(Self(columns))
    }
    /// The columns.
    pub fn iter(&self) -> impl Iterator<Item = &'static Column> {
        self.0.iter().copied()
    }
    /// What they ask of the analyzer.
    pub fn asks(&self) -> Questions {
        self.iter().map(|column| column.asks).collect()
    }
    /// What they read from the input.
    pub fn fields(&self) -> Fields {
        self.iter().filter_map(|column| column.field).collect()
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

const fn column(
    name: &'static str,
    kind: Kind,
    asks: Questions,
    get: Getter,
    meaning: &'static str,
) -> Column {
    Column {
        name,
        kind,
        meaning,
        asks,
        field: None,
        get,
    }
}

const fn carried(field: Field, kind: Kind, get: Getter, meaning: &'static str) -> Column {
    Column {
        name: field.name(),
        kind,
        meaning,
        asks: NOTHING,
        field: Some(field),
        get,
    }
}

/// All columns, in the order of listings and of `--columns all`.
pub static COLUMNS: &[Column] = &[
    column(
        "index",
        Kind::U64,
        NOTHING,
        |r| Cell::Unsigned(r.batch.index(r.record)),
        "0-based number of the record over all inputs",
    ),
    column(
        "fen",
        Kind::Text,
        NOTHING,
        |r| Cell::Fen(r.position()),
        "the position; castling as KQkq where the rook is the outermost one, else its file letter; en passant square only where such a capture is legal",
    ),
    column(
        "stm",
        Kind::Text,
        NOTHING,
        |r| Cell::Letter(r.board.side_to_move().letter() as u8),
        "side to move, w or b",
    ),
    column(
        "legal_moves",
        Kind::U16,
        MOVES,
        |r| Cell::Unsigned(r.legal().moves.into()),
        "number of legal moves; each promotion piece counts, castling counts once per rook",
    ),
    column(
        "legal_captures",
        Kind::U16,
        KINDS,
        |r| Cell::Unsigned(r.legal().captures.into()),
        "of those, captures (en passant is one)",
    ),
    column(
        "legal_promotions",
        Kind::U16,
        KINDS,
        |r| Cell::Unsigned(r.legal().promotions.into()),
        "of the legal moves, promotions",
    ),
    column(
        "legal_castles",
        Kind::U16,
        KINDS,
        |r| Cell::Unsigned(r.legal().castles.into()),
        "of the legal moves, castlings",
    ),
    column(
        "legal_en_passants",
        Kind::U16,
        KINDS,
        |r| Cell::Unsigned(r.legal().en_passants.into()),
        "of the legal moves, en passant captures",
    ),
    column(
        "checkers",
        Kind::U8,
        CHECKERS,
        |r| Cell::Unsigned(count(r.checkers())),
        "number of enemy pieces giving check to the side to move",
    ),
    column(
        "in_check",
        Kind::Flag,
        CHECKERS,
        |r| flag(r.checkers() != 0),
        "whether the side to move is in check",
    ),
    column(
        "double_check",
        Kind::Flag,
        CHECKERS,
        |r| flag(count(r.checkers()) > 1),
        "whether more than one piece gives check",
    ),
    column(
        "checkmate",
        Kind::Flag,
        ENDED,
        |r| flag(r.legal().moves == 0 && r.checkers() != 0),
        "in check and without a legal move",
    ),
    column(
        "stalemate",
        Kind::Flag,
        ENDED,
        |r| flag(r.legal().moves == 0 && r.checkers() == 0),
        "not in check and without a legal move",
    ),
    column(
        "attacked_white",
        Kind::U8,
        ATTACKS,
        |r| Cell::Unsigned(count(r.results.attacks_white[r.lane])),
        "number of squares that White attacks: sliders stop at the first piece, own pieces' squares count, pins are ignored",
    ),
    column(
        "attacked_black",
        Kind::U8,
        ATTACKS,
        |r| Cell::Unsigned(count(r.results.attacks_black[r.lane])),
        "the same of Black",
    ),
    column(
        "attacks_white",
        Kind::Bits,
        ATTACKS,
        |r| Cell::Bits(r.results.attacks_white[r.lane]),
        "squares that White attacks, a1 = bit 0, h8 = bit 63",
    ),
    column(
        "attacks_black",
        Kind::Bits,
        ATTACKS,
        |r| Cell::Bits(r.results.attacks_black[r.lane]),
        "squares that Black attacks",
    ),
    column(
        "checkers_mask",
        Kind::Bits,
        CHECKERS,
        |r| Cell::Bits(r.checkers()),
        "enemy pieces giving check",
    ),
    column(
        "pinned_mask",
        Kind::Bits,
        PINNED,
        |r| Cell::Bits(r.results.pinned[r.lane]),
        "pieces of the side to move that are absolutely pinned to their king",
    ),
    column(
        "mobility_white",
        Kind::U16,
        MOBILITY,
        |r| Cell::Unsigned(r.results.mobility[r.lane] & 0xFFFF),
        "pairs of a white knight, bishop, rook or queen and a square that it attacks and that holds no white piece",
    ),
    column(
        "mobility_black",
        Kind::U16,
        MOBILITY,
        |r| Cell::Unsigned(r.results.mobility[r.lane] >> 16 & 0xFFFF),
        "the same of Black",
    ),
    column(
        "pieces",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(count(r.board.occupied())),
        "number of pieces, pawns and kings included",
    ),
    column(
        "white_pieces",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(count(r.white())),
        "of those, White's",
    ),
    column(
        "black_pieces",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(count(r.black())),
        "of those, Black's",
    ),
    column(
        "pawns",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(count(r.role(Role::Pawn))),
        "number of pawns of both sides",
    ),
    column(
        "knights",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(count(r.role(Role::Knight))),
        "number of knights of both sides",
    ),
    column(
        "bishops",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(count(r.role(Role::Bishop))),
        "number of bishops of both sides",
    ),
    column(
        "rooks",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(count(r.role(Role::Rook))),
        "number of rooks of both sides",
    ),
    column(
        "queens",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(count(r.role(Role::Queen))),
        "number of queens of both sides",
    ),
    column(
        "material_white",
        Kind::U16,
        NOTHING,
        |r| Cell::Unsigned(r.material(r.white())),
        "White's material, 1-3-3-5-9",
    ),
    column(
        "material_black",
        Kind::U16,
        NOTHING,
        |r| Cell::Unsigned(r.material(r.black())),
        "Black's material, 1-3-3-5-9",
    ),
    column(
        "phase",
        Kind::U8,
        NOTHING,
        |r| Cell::Unsigned(r.phase()),
        "24 = all minor and major pieces on the board, 0 = none (minor 1, rook 2, queen 4; at most 24)",
    ),
    column(
        "white_king",
        Kind::Text,
        NOTHING,
        |r| Cell::Square(Bitboard(r.role(Role::King) & r.white()).first()),
        "square of the white king",
    ),
    column(
        "black_king",
        Kind::Text,
        NOTHING,
        |r| Cell::Square(Bitboard(r.role(Role::King) & r.black()).first()),
        "square of the black king",
    ),
    column(
        "castling",
        Kind::Text,
        NOTHING,
        |r| Cell::Castling(r.position()),
        "castling rights, as in FEN",
    ),
    column(
        "en_passant",
        Kind::Text,
        NOTHING,
        |r| Cell::Square(r.position().en_passant),
        "en passant square, as in FEN",
    ),
    column(
        "halfmove",
        Kind::U16,
        NOTHING,
        |r| Cell::Unsigned(r.batch.halfmove[r.record].into()),
        "halfmove clock, as in FEN",
    ),
    column(
        "fullmove",
        Kind::U16,
        NOTHING,
        |r| Cell::Unsigned(r.batch.fullmove[r.record].into()),
        "fullmove number, as in FEN",
    ),
    column(
        "key",
        Kind::Bits,
        NOTHING,
        |r| Cell::Bits(r.position().polyglot_key()),
        "Polyglot Zobrist key",
    ),
    carried(
        Field::Game,
        Kind::U64,
        |r| r.unsigned(Field::Game),
        "0-based number of the game over all inputs",
    ),
    carried(
        Field::Ply,
        Kind::U16,
        |r| r.unsigned(Field::Ply),
        "plies since the start of the game",
    ),
    carried(
        Field::Move,
        Kind::Text,
        the_move,
        "the move played or the best move of the record, in UCI form",
    ),
    carried(
        Field::Score,
        Kind::I16,
        |r| r.number(Field::Score).map_or(Cell::Missing, Cell::Signed),
        "centipawns, from White's side; none where the record has a mate",
    ),
    carried(
        Field::Mate,
        Kind::I16,
        |r| r.number(Field::Mate).map_or(Cell::Missing, Cell::Signed),
        "moves to mate, positive where White mates, negative where Black does; 0 where the side to move is mated",
    ),
    carried(Field::Result, Kind::Text, result, "1-0, 0-1 or 1/2-1/2"),
    carried(
        Field::WhiteElo,
        Kind::U16,
        |r| r.unsigned(Field::WhiteElo),
        "White's rating",
    ),
    carried(
        Field::BlackElo,
        Kind::U16,
        |r| r.unsigned(Field::BlackElo),
        "Black's rating",
    ),
    carried(
        Field::Clock,
        Kind::U32,
        |r| r.unsigned(Field::Clock),
        "the mover's remaining time after the move, in centiseconds",
    ),
    carried(
        Field::Eco,
        Kind::Text,
        |r| r.text(Field::Eco),
        "opening code",
    ),
    carried(
        Field::Opening,
        Kind::Text,
        |r| r.text(Field::Opening),
        "name of the opening",
    ),
    carried(
        Field::TimeControl,
        Kind::Text,
        |r| r.text(Field::TimeControl),
        "time control, as the game gives it",
    ),
    carried(
        Field::Date,
        Kind::Text,
        |r| r.text(Field::Date),
        "date as YYYY.MM.DD",
    ),
    carried(
        Field::Site,
        Kind::Text,
        |r| r.text(Field::Site),
        "site; for Lichess the address of the game",
    ),
    carried(
        Field::Operations,
        Kind::Text,
        |r| r.text(Field::Operations),
        "EPD operations, as they stood in the line",
    ),
];

fn the_move<'a>(row: &'a Row<'a>) -> Cell<'a> {
    row.number(Field::Move)
        .and_then(|bits| Move::from_bits(bits as u16))
        .map_or(Cell::Missing, |mv| Cell::Move(mv.uci(row.position())))
}

fn result<'a>(row: &'a Row<'a>) -> Cell<'a> {
    match row.number(Field::Result) {
        Some(0) => Cell::Word("0-1"),
        Some(1) => Cell::Word("1/2-1/2"),
        Some(2) => Cell::Word("1-0"),
        _ => Cell::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(fen: &str, names: &str) -> String {
        let position = Position::from_fen(fen).unwrap();
        let mut batch = Batch::new();
        batch.push(
            Packed::pack(&position).unwrap(),
            position.halfmove,
            position.fullmove,
        );
        let mut results = GroupResults::default();
        results.attacks_white[0] = 0x8000_0000_0000_000F;
        let row = Row::new(&batch, 0, &results);
        let mut out = Vec::new();
        for column in Columns::named(names).unwrap().iter() {
            column.get(&row).write_csv(&mut out);
            out.push(b' ');
        }
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
            "b Kq 7 31 32 16 16 4 24 "
        );
        assert_eq!(row_of(fen, "fen"), format!("{fen} "));
        assert_eq!(
            row_of(
                fen,
                "white_king,black_king,en_passant,material_white,material_black,score"
            ),
            "e1 e8 - 39 39  "
        );
        assert_eq!(
            row_of(fen, "attacked_white,attacks_white"),
            "5 0x800000000000000f "
        );
    }

    #[test]
    fn phase_ends_at_24() {
        assert_eq!(
            row_of("qqqqk3/8/8/8/8/8/8/QQQQK2R w - - 0 1", "phase"),
            "24 "
        );
        assert_eq!(row_of("qqqk4/8/8/8/8/8/8/QQ1K3R w - - 0 1", "phase"), "22 ");
        assert_eq!(
            row_of("qqqk3n/8/8/8/8/8/8/QQ1K2RR w - - 0 1", "phase"),
            "24 "
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

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        let written = |text: &str, json: bool| {
            let mut out = Vec::new();
            let cell = Cell::Text(text);
            if json {
                cell.write_json(&mut out)
            } else {
                cell.write_csv(&mut out)
            }
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written("B12", false), "B12");
        assert_eq!(
            written("Caro-Kann, \"Fantasy\"", false),
            "\"Caro-Kann, \"\"Fantasy\"\"\""
        );
        assert_eq!(written("a,b", false), "\"a,b\"");
        assert_eq!(written("a\"b", false), "\"a\"\"b\"");
        assert_eq!(written("\"", false), "\"\"\"\"");
        // A line feed is a blank, and a blank needs no quotes.
        assert_eq!(written("a\nb\u{85}", false), "a b ");
        assert_eq!(written("\u{7f}\u{2028}", true), "\"\\u007f\\u2028\"");
        assert_eq!(written("a\"b\\c\u{1}é", true), "\"a\\\"b\\\\c\\u0001é\"");
    }

    #[test]
    fn numbers() {
        for number in [0, 9, 10, 99, 100, u64::MAX] {
            let mut out = Vec::new();
            Cell::Unsigned(number).write_csv(&mut out);
            assert_eq!(out, number.to_string().into_bytes());
        }
        let mut out = Vec::new();
        Cell::Signed(-32768).write_csv(&mut out);
        assert_eq!(out, b"-32768");
    }
}
