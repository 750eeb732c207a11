//! Files of the opening tree: a row for each position and move, and Polyglot books.

use super::opening_tree::{TreeMove, TreePosition};
#[cfg(feature = "parquet")]
use crate::chess::fen::{CastlingStyle, Coded};
#[cfg(feature = "parquet")]
use crate::columnar::{BLOCK, Described, Ipc, IpcFile, Parquet, ParquetFile, RowBlock, RowBlocks};
use crate::formats::polyglot_book::{BookEntry, book_code};
#[cfg(feature = "parquet")]
use crate::games::Date;
use crate::jobs::OutputFormat;
use crate::output::cells::{write_csv_text, write_json_string};
#[cfg(feature = "parquet")]
use crate::table::{Array, Kind, TextList, Texts, Values};
use std::io::{self, Write};

/// What the weights of a Polyglot book are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BookWeight {
    /// Two for each game that the mover won, and one for each draw.
    #[default]
    Points,
    /// The number of games.
    Games,
    /// The performance of the mover; 0 where it is below 0 or not known.
    Performance,
}

/// The numbers of what a [`TreeFile`] has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeWritten {
    /// Number of rows, or entries of a book.
    pub rows: u64,
    /// Number of positions.
    pub positions: u64,
    /// Moves that a book lacks, because their weight is 0.
    pub without_weight: u64,
}

/// A file that is being written.
#[derive(Debug)]
pub struct TreeFile<W: Write> {
    form: Form<W>,
    written: TreeWritten,
}

#[derive(Debug)]
enum Form<W: Write> {
    Csv(W),
    JsonLines(W),
    #[cfg(feature = "parquet")]
    Table(Box<Table<W>>),
    Book {
        out: W,
        weight: BookWeight,
        key: u64,
        entries: Vec<BookEntry>,
    },
}

/// The columns of the rows.
const NAMES: [&str; 13] = [
    "key",
    "fen",
    "ply",
    "move",
    "san",
    "games",
    "white",
    "draws",
    "black",
    "mean_elo",
    "performance",
    "first_date",
    "last_date",
];

/// The texts of a row that are missing where they are empty.
fn optional(played: &TreeMove) -> [String; 4] {
    let date = |place: usize| played.dates.map_or_else(String::new, |dates| dates[place].to_string());
    [
        played.mean_elo.map_or_else(String::new, |elo| elo.to_string()),
        played.performance.map_or_else(String::new, |performance| performance.to_string()),
        date(0),
        date(1),
    ]
}

impl<W: Write> TreeFile<W> {
    /// Begins a file of rows.
    ///
    /// # Errors
    /// If writing fails, or the format is not one of rows.
    pub fn rows(format: OutputFormat, mut out: W) -> io::Result<Self> {
        let form = match format {
            OutputFormat::Csv => {
                out.write_all(NAMES.join(",").as_bytes())?;
                out.write_all(b"\n")?;
                Form::Csv(out)
            }
            OutputFormat::JsonLines => Form::JsonLines(out),
            #[cfg(feature = "parquet")]
            OutputFormat::Parquet(pages) => {
                let encoder = Parquet::new(described(), pages);
                let file = encoder.begin(out)?;
                Form::Table(Box::new(Table::new(Encoder::Parquet(encoder, Box::new(file)))))
            }
            #[cfg(feature = "parquet")]
            OutputFormat::Arrow(kind) => {
                let encoder = Ipc::new(described(), kind);
                let file = encoder.begin(out)?;
                Form::Table(Box::new(Table::new(Encoder::Ipc(encoder, Box::new(file)))))
            }
            OutputFormat::Pgn | OutputFormat::Records(_) => {
                return Err(io::Error::other(format!("{format} does not hold rows of a tree")));
            }
        };
        Ok(Self { form, written: TreeWritten::default() })
    }

    /// Begins a Polyglot book.
    pub fn book(weight: BookWeight, out: W) -> Self {
        let form = Form::Book { out, weight, key: 0, entries: Vec::new() };
        Self { form, written: TreeWritten::default() }
    }

    /// Writes a position with its moves; positions come in the order of keys.
    ///
    /// # Errors
    /// If writing fails.
    pub fn put(&mut self, position: &TreePosition) -> io::Result<()> {
        if position.moves.is_empty() {
            return Ok(());
        }
        self.written.positions += 1;
        if let Form::Book { out, weight, key, entries } = &mut self.form {
            if *key != position.key {
                self.written.rows += end_key(entries, out)?;
                *key = position.key;
            }
            let before = entries.len();
            entries.extend(entries_of(position, *weight));
            self.written.without_weight += (position.moves.len() - (entries.len() - before)) as u64;
            return Ok(());
        }
        self.written.rows += position.moves.len() as u64;
        match &mut self.form {
            Form::Csv(out) => write_lines(position, out, append_csv),
            Form::JsonLines(out) => write_lines(position, out, append_json),
            #[cfg(feature = "parquet")]
            Form::Table(table) => table.put(position),
            Form::Book { .. } => Ok(()),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> io::Result<TreeWritten> {
        let mut written = self.written;
        match self.form {
            Form::Csv(mut out) | Form::JsonLines(mut out) => out.flush()?,
            #[cfg(feature = "parquet")]
            Form::Table(table) => table.finish()?,
            Form::Book { mut out, mut entries, .. } => {
                written.rows += end_key(&mut entries, &mut out)?;
                out.flush()?;
            }
        }
        Ok(written)
    }
}

/// What a line has of a position, besides a move: its key and its FEN; then the move in both forms.
struct LineTexts<'a> {
    key: u64,
    fen: &'a str,
    uci: &'a str,
    san: &'a str,
}

/// Writes a line for each move of a position.
fn write_lines(
    position: &TreePosition,
    out: &mut impl Write,
    append: impl Fn(&LineTexts<'_>, &TreeMove, &mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let fen = position.position.to_string();
    let mut lines = Vec::new();
    for played in &position.moves {
        let (uci, san) = (position.uci(played.mv), played.mv.san(&position.position));
        append(&LineTexts { key: position.key, fen: &fen, uci: &uci, san: &san }, played, &mut lines)?;
        lines.push(b'\n');
    }
    out.write_all(&lines)
}

fn append_csv(texts: &LineTexts<'_>, played: &TreeMove, line: &mut Vec<u8>) -> io::Result<()> {
    let LineTexts { key, fen, uci, san } = texts;
    let [elo, performance, first, last] = optional(played);
    let TreeMove { ply, games, white, draws, black, .. } = played;
    write!(line, "0x{key:016x},")?;
    write_csv_text(fen, line);
    write!(line, ",{ply},{uci},{san},{games},{white},{draws},{black},{elo},{performance},{first},{last}")
}

fn append_json(texts: &LineTexts<'_>, played: &TreeMove, line: &mut Vec<u8>) -> io::Result<()> {
    let LineTexts { key, fen, uci, san } = texts;
    let [elo, performance, first, last] = optional(played);
    let TreeMove { ply, games, white, draws, black, .. } = played;
    write!(line, "{{\"key\":\"0x{key:016x}\",\"fen\":")?;
    write_json_string(fen, line);
    write!(line, ",\"ply\":{ply},\"move\":\"{uci}\",\"san\":\"{san}\",\"games\":{games}")?;
    write!(line, ",\"white\":{white},\"draws\":{draws},\"black\":{black}")?;
    let or_null = |text: &str| if text.is_empty() { "null".to_owned() } else { text.to_owned() };
    let quoted = |text: &str| if text.is_empty() { "null".to_owned() } else { format!("\"{text}\"") };
    write!(line, ",\"mean_elo\":{},\"performance\":{}", or_null(&elo), or_null(&performance))?;
    write!(line, ",\"first_date\":{},\"last_date\":{}}}", quoted(&first), quoted(&last))
}

/// The entries of a position whose weight is not 0.
fn entries_of(position: &TreePosition, weight: BookWeight) -> Vec<BookEntry> {
    let is_white = position.position.side_to_move == crate::chess::Color::White;
    let weight_of = |played: &TreeMove| match weight {
        BookWeight::Points => 2 * if is_white { played.white } else { played.black } + played.draws,
        BookWeight::Games => played.games,
        BookWeight::Performance => played.performance.map_or(0, |performance| performance.max(0) as u64),
    };
    let largest = position.moves.iter().map(weight_of).max().unwrap_or(0);
    let scaled = |weight: u64| match largest {
        0..=0xFFFF => weight as u16,
        _ => ((u128::from(weight) * 0xFFFF / u128::from(largest)) as u16).max(1),
    };
    let entries = position.moves.iter().filter(|played| weight_of(played) > 0).map(|played| BookEntry {
        key: position.key,
        code: book_code(played.mv),
        weight: scaled(weight_of(played)),
        learn: 0,
    });
    entries.collect()
}

/// Writes the entries of a key: the largest weight first, then the smaller code. Returns their number.
fn end_key(entries: &mut Vec<BookEntry>, out: &mut impl Write) -> io::Result<u64> {
    entries.sort_unstable_by_key(|entry| (u16::MAX - entry.weight, entry.code));
    for entry in entries.iter() {
        out.write_all(&entry.to_bytes())?;
    }
    let count = entries.len() as u64;
    entries.clear();
    Ok(count)
}

/// The columns of a table.
#[cfg(feature = "parquet")]
fn described() -> Vec<Described> {
    let columns = [
        (Kind::Bits, "Polyglot key of the position"),
        (Kind::Text, "the position, with the clocks 0 1"),
        (Kind::U16, "smallest ply at which the move was played"),
        (Kind::Text, "the move in UCI form"),
        (Kind::Text, "the move in standard algebraic notation"),
        (Kind::U64, "number of games, with those without a result"),
        (Kind::U64, "number of games that White won"),
        (Kind::U64, "number of draws"),
        (Kind::U64, "number of games that Black won"),
        (Kind::U16, "mean rating of the mover, rounded"),
        (Kind::I16, "performance of the mover: mean rating of the opponents + 400 * log10(s / (1 - s))"),
        (Kind::Date, "the first day of a game"),
        (Kind::Date, "the last day of a game"),
    ];
    let described = NAMES.iter().zip(columns).enumerate().map(|(place, (name, (kind, meaning)))| {
        let column = Described::new(name, kind, meaning);
        if place >= 9 { column.nullable() } else { column }
    });
    described.collect()
}

/// A table of rows.
#[cfg(feature = "parquet")]
#[derive(Debug)]
struct Table<W: Write> {
    encoder: Encoder<W>,
    blocks: RowBlocks,
    numbers: [Values<u64>; 5],
    small: [Values<u16>; 2],
    performances: Values<i16>,
    /// A position has one text for all of its moves.
    fens: TextList,
    fen_codes: Values<u32>,
    moves: Repeated,
    sans: Repeated,
    dates: [Repeated; 2],
    /// The last move that was written.
    text: Vec<u8>,
}

/// A column of texts that repeat and have numbers: most of them are written once for the rows that are collected.
#[cfg(feature = "parquet")]
#[derive(Debug, Default)]
struct Repeated {
    codes: Values<u32>,
    words: TextList,
    /// Numbers and their codes, by a hash; the last of those with the same hash.
    known: Vec<(u64, u32)>,
}

/// Number of numbers that are known, as bits.
#[cfg(feature = "parquet")]
const KNOWN: u32 = 11;

#[cfg(feature = "parquet")]
impl Repeated {
    /// Adds a row. The number is that of no other text, and less than the largest one.
    fn push(&mut self, number: u64, push: impl FnOnce(&mut TextList)) {
        if self.known.is_empty() {
            self.known.resize(1 << KNOWN, (u64::MAX, 0));
        }
        let hash = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - KNOWN);
        let known = &mut self.known[hash as usize];
        if known.0 != number {
            *known = (number, self.words.len() as u32);
            push(&mut self.words);
        }
        self.codes.push(Some(known.1));
    }

    /// Adds a row without a text.
    fn push_none(&mut self) {
        self.codes.push(None);
    }

    fn take(&mut self) -> Array {
        self.known.clear();
        Array::Text(Texts::from_parts(std::mem::take(&mut self.codes), std::mem::take(&mut self.words)))
    }
}

/// The number of a date, which tells all dates apart.
#[cfg(feature = "parquet")]
fn number_of(date: Date) -> u64 {
    let [month, day] = [date.month(), date.day()].map(|part| u64::from(part.unwrap_or(0)));
    u64::from(date.year()) << 16 | month << 8 | day
}

/// The text of bytes.
#[cfg(feature = "parquet")]
fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(feature = "parquet")]
#[derive(Debug)]
enum Encoder<W: Write> {
    Parquet(Parquet, Box<ParquetFile<W>>),
    Ipc(Ipc, Box<IpcFile<W>>),
}

#[cfg(feature = "parquet")]
impl<W: Write> Table<W> {
    fn new(encoder: Encoder<W>) -> Self {
        Self {
            encoder,
            blocks: RowBlocks::default(),
            numbers: Default::default(),
            small: Default::default(),
            performances: Values::default(),
            fens: TextList::default(),
            fen_codes: Values::default(),
            moves: Repeated::default(),
            sans: Repeated::default(),
            dates: Default::default(),
            text: Vec::new(),
        }
    }

    /// Adds a row for each move of a position.
    fn put(&mut self, position: &TreePosition) -> io::Result<()> {
        let TreePosition { position, key, moves } = position;
        let is_standard = position.castles_as_standard();
        let mut fen = [0; Coded::ROOM];
        let len = Coded::from(position).write(&mut fen, CastlingStyle::Outermost);
        let fen = text_of(&fen[..len]);
        for (place, played) in moves.iter().enumerate() {
            if self.performances.is_empty() {
                self.reserve();
            }
            if place == 0 || self.fens.is_empty() {
                self.fens.push(fen);
            }
            self.fen_codes.push(Some(self.fens.len() as u32 - 1));
            let &TreeMove { mv, ply, games, white, draws, black, mean_elo, performance, dates } = played;
            let numbers = [*key, games, white, draws, black];
            self.numbers.iter_mut().zip(numbers).for_each(|(values, number)| values.push(Some(number)));
            self.small[0].push(Some(ply));
            self.small[1].push(mean_elo);
            self.performances.push(performance);
            let number = u64::from(mv.to_bits()) << 1 | u64::from(is_standard);
            self.moves.push(number, |words| words.push(mv.uci_as(!is_standard).as_str()));
            self.text.clear();
            mv.append_san(position, &mut self.text);
            let san = text_of(&self.text);
            // At most seven letters, which are the number.
            let mut letters = [0; 8];
            let len = san.len().min(letters.len());
            letters[..len].copy_from_slice(&san.as_bytes()[..len]);
            self.sans.push(u64::from_le_bytes(letters), |words| words.push(san));
            for (place, texts) in self.dates.iter_mut().enumerate() {
                match dates.map(|dates| dates[place]) {
                    Some(date) => texts.push(number_of(date), |words| words.push(&date.to_string())),
                    None => texts.push_none(),
                }
            }
            // Whole blocks are not copied.
            if self.performances.len() == BLOCK {
                self.join()?;
            }
        }
        Ok(())
    }

    /// Makes room for the rows of a block.
    fn reserve(&mut self) {
        const BYTES_OF_FEN: usize = 64;
        self.numbers.iter_mut().for_each(|values| values.reserve(BLOCK));
        self.small.iter_mut().for_each(|values| values.reserve(BLOCK));
        self.performances.reserve(BLOCK);
        self.fens = TextList::with_capacity(BLOCK, BLOCK * BYTES_OF_FEN);
        let [first, last] = &mut self.dates;
        for codes in
            [&mut self.fen_codes, &mut self.moves.codes, &mut self.sans.codes, &mut first.codes, &mut last.codes]
        {
            codes.reserve(BLOCK);
        }
    }

    /// Hands the collected rows over.
    fn join(&mut self) -> io::Result<()> {
        let rows = self.performances.len();
        let [key, games, white, draws, black] = std::mem::take(&mut self.numbers).map(Array::U64);
        let [ply, elo] = std::mem::take(&mut self.small).map(Array::U16);
        let performance = Array::I16(std::mem::take(&mut self.performances));
        let fen = Texts::from_parts(std::mem::take(&mut self.fen_codes), std::mem::take(&mut self.fens));
        let fen = Array::Text(fen);
        let [uci, san] = [&mut self.moves, &mut self.sans].map(Repeated::take);
        let [first, last] = self.dates.each_mut().map(Repeated::take);
        let cells = vec![key, fen, ply, uci, san, games, white, draws, black, elo, performance, first, last];
        for block in self.blocks.join(cells, 0..rows) {
            self.encoder.put(block)?;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.join()?;
        let Self { mut encoder, blocks, .. } = self;
        if let Some(last) = blocks.finish().filter(|last| matches!(encoder, Encoder::Parquet(..)) || !last.is_empty()) {
            encoder.put(last)?;
        }
        match encoder {
            Encoder::Parquet(_, file) => file.finish(false),
            Encoder::Ipc(_, file) => file.finish(),
        }
    }
}

#[cfg(feature = "parquet")]
impl<W: Write> Encoder<W> {
    fn put(&mut self, block: RowBlock) -> io::Result<()> {
        match self {
            Self::Parquet(encoder, file) => file.put(encoder.encode(block)?),
            Self::Ipc(encoder, file) => file.put(&encoder.encode(&block)?),
        }
    }
}
