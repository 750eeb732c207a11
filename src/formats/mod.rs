//! Formats: bytes to records.
//!
//! A format says two things: how to cut a run of bytes into chunks that decode alone ([`Format::cut`]), and
//! how to decode a chunk ([`Format::decode`]). The cutting is done by one thread and has to be quick; the
//! decoding is done by all threads, and so a chunk knows nothing of what came before it. Numbers of lines,
//! games and records count from zero in each chunk, and [`Totals`] turns them into numbers over all inputs
//! when the chunks before are known.
//!
//! To add a format: a file here with its two functions, a variant of [`Format`], and its test in
//! [`detect`].

pub mod boards;
pub mod evals;
pub mod foreign;
mod lines;
pub mod pgn;
pub mod puzzles;
pub mod text;

use crate::batch::{Batch, Field, Fields, Values};
use crate::chess::validity::Validity;
use crate::error::{Damage, Error, Place, Reject};
use crate::input::{Access, Bytes, Compression, Input};
use memchr::{memchr, memchr_iter};
use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A format of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A position a line, six fields.
    Fen,
    /// A position a line, four fields and operations.
    Epd,
    /// Positions with perft counts: `;D1 20 ;D2 400` in the line, or blocks of `id`, `epd`, `perft` lines.
    Perft,
    /// The packed format: see [`boards`].
    Boards,
    /// Games: see [`pgn`].
    Pgn,
    /// Lichess puzzles: see [`puzzles`].
    Puzzles,
    /// Lichess evaluations: see [`evals`].
    Evals,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::Fen,
        Self::Epd,
        Self::Perft,
        Self::Boards,
        Self::Pgn,
        Self::Puzzles,
        Self::Evals,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fen => "fen",
            Self::Epd => "epd",
            Self::Perft => "perft",
            Self::Boards => "boards",
            Self::Pgn => "pgn",
            Self::Puzzles => "puzzles",
            Self::Evals => "evals",
        }
    }

    /// The format that a file of this name would have: by its last extension, that of a compression aside.
    ///
    /// ```
    /// use lanefish::formats::Format;
    /// assert_eq!(Format::of_name("book.epd.zst".as_ref()), Some(Format::Epd));
    /// ```
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_encoded_bytes();
        let mut parts = name.rsplit(|&byte| byte == b'.');
        // What is before the last dot need not be UTF-8.
        let mut extension = || std::str::from_utf8(parts.next()?).ok();
        let mut last = extension()?;
        if Compression::of_extension(last).is_some() {
            last = extension()?;
        }
        // Without a dot before it, it is a name and no extension.
        parts.next()?;
        match last.to_ascii_lowercase().as_str() {
            "fen" | "fens" | "sfens" => Some(Self::Fen),
            "epd" => Some(Self::Epd),
            "perft" => Some(Self::Perft),
            "boards" => Some(Self::Boards),
            "pgn" => Some(Self::Pgn),
            _ => None,
        }
    }

    /// Length of the longest run at the start of `bytes` that can be decoded without knowing what comes
    /// after; `None` where there is no such place yet. Never zero. What comes after decodes without knowing
    /// the run: cutting and decoding agree on what belongs together. `max_record` is
    /// [`DecodeOptions::max_record`].
    pub fn cut(self, bytes: &[u8], max_record: usize) -> Option<usize> {
        match self {
            Self::Puzzles | Self::Evals => text::cut_lines(bytes),
            Self::Fen | Self::Epd | Self::Perft => text::cut(bytes, max_record),
            Self::Boards => boards::cut(bytes),
            Self::Pgn => pgn::cut(bytes),
        }
    }

    /// Decodes a chunk.
    pub fn decode(self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        match self {
            Self::Fen | Self::Epd | Self::Perft => text::decode(chunk, options),
            Self::Boards => boards::decode(chunk, options),
            Self::Pgn => pgn::decode(chunk, options),
            Self::Puzzles => puzzles::decode(chunk, options),
            Self::Evals => evals::decode(chunk, options),
        }
    }

    /// Where behind a record that is too long the next one begins, at `from` or later; `None` where that
    /// cannot be told yet. `at_end` says that the input ends with these bytes.
    pub(crate) fn resume(self, bytes: &[u8], from: usize, at_end: bool) -> Option<usize> {
        match self {
            Self::Fen | Self::Epd | Self::Perft | Self::Puzzles | Self::Evals => {
                let at = memchr(b'\n', bytes.get(from..)?)?;
                Some(from + at + 1)
            }
            Self::Boards => None,
            Self::Pgn => pgn::resume(bytes, from, at_end),
        }
    }

    /// What stands for a record that is longer than [`DecodeOptions::max_record`] and was never held as a
    /// whole: a reject. The chunk has its first bytes; `feeds` counts the line feeds in all of it.
    pub(crate) fn decode_giant(
        self,
        chunk: &Chunk,
        feeds: u64,
        options: &DecodeOptions,
    ) -> Decoded {
        let games = self == Self::Pgn;
        let blanks = match games {
            true => chunk.bytes.len() - chunk.bytes.trim_ascii_start().len(),
            false => 0,
        };
        let line = memchr_iter(b'\n', &chunk.bytes[..blanks]).count() as u64 + 1;
        let mut reject = too_long(&chunk.file, &chunk.bytes[blanks..], options.max_record);
        reject.place.line = Some(line);
        reject.place.offset = blanks as u64;
        reject.place.game = games.then_some(0);
        Decoded {
            rejects: vec![reject],
            records: 1,
            lines: feeds,
            games: u64::from(games),
            ..Decoded::default()
        }
    }

    /// How much of what is left before a broken end can be decoded.
    pub fn salvage(self, bytes: &[u8], max_record: usize) -> usize {
        match self {
            Self::Fen | Self::Epd | Self::Perft | Self::Puzzles | Self::Evals => {
                self.cut(bytes, max_record).unwrap_or(0)
            }
            Self::Boards => 0,
            // A game that is not whole is still to be told of.
            Self::Pgn => bytes.len(),
        }
    }

    /// The record whose [`Batch::origins`] says that it begins at this place of a chunk, as it stands there,
    /// and its line in the chunk (counted from 1); `None` where records are not text.
    pub fn raw(self, chunk: &[u8], origin: usize) -> Option<(&[u8], u64)> {
        match self {
            Self::Fen | Self::Epd | Self::Perft | Self::Pgn | Self::Puzzles | Self::Evals => {
                Some(text::line_at(chunk, origin))
            }
            Self::Boards => None,
        }
    }
}

/// Bytes that a reject keeps of a record that is too long.
pub(crate) const GIANT_HEAD: usize = 4096;

/// The reject of a record that is longer than [`DecodeOptions::max_record`]; the place is to be completed.
pub(crate) fn too_long(file: &Arc<Path>, record: &[u8], max_record: usize) -> Reject {
    Reject {
        place: Place {
            file: Arc::clone(file),
            line: None,
            offset: 0,
            record: 0,
            game: None,
            ply: None,
        },
        reasons: vec!["record_too_long"],
        message: format!("longer than {max_record} bytes; --max-record SIZE sets the limit").into(),
        raw: record[..record.len().min(GIANT_HEAD)].to_vec(),
    }
}

/// What is true of a file only as a whole, looked at chunk after chunk.
#[derive(Debug, Default)]
pub(crate) struct FileCheck(Option<boards::Sequence>);

impl FileCheck {
    pub(crate) fn new(format: Format) -> Self {
        Self((format == Format::Boards).then(boards::Sequence::default))
    }
    /// Looks at the next chunk, which begins at this byte; gives what is wrong.
    pub(crate) fn chunk(&mut self, decoded: &Decoded, offset: u64) -> Vec<Damage> {
        match &mut self.0 {
            Some(sequence) => sequence.accept(&decoded.sections, offset),
            None => Vec::new(),
        }
    }
    /// The file ends at this byte; gives what is wrong.
    pub(crate) fn end(&mut self, len: u64) -> Vec<Damage> {
        match &mut self.0 {
            Some(sequence) => sequence.end(len),
            None => Vec::new(),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no format has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{name}`: expected one of {known}", known = Format::ALL.map(Format::name).join(", "))]
pub struct UnknownFormat {
    name: String,
}

impl FromStr for Format {
    type Err = UnknownFormat;
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat {
                name: name.to_owned(),
            })
    }
}

/// How to decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Keep en passant squares as written, also where no en passant capture is legal.
    pub keep_en_passant: bool,
    /// How much is asked of a position. Decoders judge only what they alone can see (an en passant square
    /// that is dropped afterwards); the rest is judged in bulk.
    pub validity: Validity,
    /// What is wanted besides positions; the rest need not be decoded.
    pub fields: Fields,
    /// Which games and which of their positions are taken; all by default.
    pub games: Option<Arc<pgn::Selection>>,
    /// Whether [`Decoded::game_rows`] are wanted.
    pub game_rows: bool,
    /// Read only what the PGN standard allows, without the liberties of real files.
    pub strict_pgn: bool,
    /// The longest record (a line, a game) in bytes; a longer one is a reject.
    pub max_record: usize,
}

/// The default of [`DecodeOptions::max_record`].
pub const MAX_RECORD: usize = 16 << 20;

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            keep_en_passant: false,
            validity: Validity::default(),
            fields: Fields::default(),
            games: None,
            game_rows: false,
            strict_pgn: false,
            max_record: MAX_RECORD,
        }
    }
}

/// A run of whole records of one input.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The input.
    pub file: Arc<Path>,
    /// The bytes.
    pub bytes: Bytes,
    /// Where they begin in the decompressed input.
    pub offset: u64,
    /// Whether the input breaks off after them, so that the last record may not be whole.
    pub torn: bool,
}

/// What a chunk decodes to. All numbers of records, lines, games and byte offsets count from the start of
/// the chunk until [`Decoded::settle`].
#[derive(Debug, Default)]
pub struct Decoded {
    /// The records that could be decoded, in order.
    pub batches: Vec<Batch>,
    /// Those that could not, in order.
    pub rejects: Vec<Reject>,
    /// Damaged places; the records in them are lost.
    pub damage: Vec<Damage>,
    /// Number of records, good and bad.
    pub records: u64,
    /// Number of line ends.
    pub lines: u64,
    /// Number of games that begin here. Where it is not zero, [`Field::Game`] columns and rejects are
    /// numbered from the chunk's first game.
    pub games: u64,
    /// En passant squares that were written and dropped.
    pub dropped_en_passants: u64,
    /// Castling rights of `FEN` tags that were dropped, because the king or the rook is elsewhere.
    pub dropped_castling: u64,
    /// Games in which some tag stands several times.
    pub games_with_doubled_tags: u64,
    /// Games and positions that were not selected.
    pub left_out: pgn::LeftOutBy,
    /// Whether the last game reaches to the end of the chunk without a result token, not even `*`.
    pub last_game_open: bool,
    /// What is known of each game, where it is wanted.
    pub game_rows: Vec<pgn::GameRow>,
    /// What a boards file's chunk says about the file as a whole.
    pub(crate) sections: Vec<boards::Section>,
}

/// What has been counted before a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Records over all inputs.
    pub records: u64,
    /// Games over all inputs.
    pub games: u64,
    /// Lines of this input.
    pub lines: u64,
}

impl Decoded {
    /// Turns the numbers that count from the start of the chunk into those over all inputs, and adds the
    /// chunk's own to the totals.
    pub fn settle(&mut self, totals: &mut Totals, chunk: &Chunk) {
        for batch in &mut self.batches {
            batch.first_index += totals.records;
            if self.games != 0
                && totals.games != 0
                && let Some(Values::U64(games)) = batch.fields.get_mut(&Field::Game)
            {
                games.add(totals.games);
            }
        }
        for reject in &mut self.rejects {
            let place = &mut reject.place;
            place.record += totals.records;
            place.offset += chunk.offset;
            if let Some(line) = &mut place.line {
                *line += totals.lines;
            }
            if let Some(game) = &mut place.game
                && self.games != 0
            {
                *game += totals.games;
            }
        }
        for row in &mut self.game_rows {
            row.game += totals.games;
        }
        for damage in &mut self.damage {
            damage.offset += chunk.offset;
        }
        totals.records += self.records;
        totals.lines += self.lines;
        totals.games += self.games;
    }

    /// Leaves only the batches that begin before this byte of the chunk.
    pub(crate) fn truncate(&mut self, offset: u64) {
        let before = |batch: &Batch| {
            batch
                .origins
                .first()
                .is_none_or(|&at| u64::from(at) < offset)
        };
        let end = self.batches.partition_point(before);
        self.batches.truncate(end);
        self.records = self.batches.iter().map(|batch| batch.len() as u64).sum();
    }
}

/// Bytes that are looked at to find out a format.
const PEEK: usize = 64 << 10;

/// Bytes by which the shortest of compressed containers is known.
const MAGIC: usize = 4;

/// An input of known format.
#[derive(Debug)]
pub struct Opened {
    /// The input.
    pub input: Input,
    /// Its format.
    pub format: Format,
}

/// Opens an input and finds out its format, from the content first and then from the name. `consumed`
/// counts the bytes read from it as they lie on disk.
///
/// # Errors
/// When it cannot be opened, is not in the container that its name promises, or nothing tells the format.
pub fn open(
    path: &Arc<Path>,
    from: Option<Format>,
    access: Access,
    consumed: Arc<AtomicU64>,
) -> Result<Opened, Error> {
    let mut input = Input::open(path, access, consumed)?;
    if input.compression().is_none()
        && let Some(promised) = promised_compression(path)
    {
        let (head, all) = input.peek(MAGIC)?;
        let container = promised.name();
        let path = Arc::clone(path);
        // What is left of a container without even its first bytes looks like an empty list.
        return Err(if all && head.len() < MAGIC {
            Error::Container {
                path,
                container,
                offset: 0,
                source: io::ErrorKind::UnexpectedEof.into(),
            }
        } else {
            Error::NoContainer { path, container }
        });
    }
    let format = match from {
        Some(format) => format,
        None => {
            let (head, all) = input.peek(PEEK)?;
            detect(&head, all, path).map_err(|reason| Error::UnknownFormat {
                path: Arc::clone(path),
                reason,
            })?
        }
    };
    Ok(Opened { input, format })
}

/// Whether a file has content or a name that some format claims: which files of a directory are read.
/// One that cannot be opened counts too, so that the reason is told.
pub fn is_supported(path: &Path) -> bool {
    !matches!(
        open(&Arc::from(path), None, Access::default(), Arc::default()),
        Err(Error::UnknownFormat { .. })
    )
}

/// Finds the format of an input by its first bytes (`all`: there are no more) and its name.
///
/// # Errors
/// With what was seen, when neither tells.
pub fn detect(head: &[u8], all: bool, path: &Path) -> Result<Format, String> {
    let named = Format::of_name(path);
    if boards::is_boards(head) {
        return Ok(Format::Boards);
    }
    if pgn::sniff(head) {
        return Ok(Format::Pgn);
    }
    if evals::sniff(head) {
        return Ok(Format::Evals);
    }
    if puzzles::sniff(head) {
        return Ok(Format::Puzzles);
    }
    match text::sniff(head) {
        // What a line of positions is called is a matter of taste, and taste is in the name.
        Some(Format::Fen | Format::Epd) if named.is_some_and(Format::is_lines) => {
            Ok(named.unwrap_or(Format::Epd))
        }
        Some(format) => Ok(format),
        None => match (foreign::recognized(head, all, path, named), named) {
            (Some(reason), _) => Err(reason),
            (None, Some(format)) => Ok(format),
            // Nothing at all is an empty list.
            (None, None) if all && head.is_empty() => Ok(Format::Fen),
            (None, None) => {
                let start = String::from_utf8_lossy(&head[..head.len().min(24)]);
                let start: String = start.escape_debug().collect();
                Err(format!(
                    "has no known format: neither its content (`{start}`) nor its name shows one; \
                     name the format with --from"
                ))
            }
        },
    }
}

impl Format {
    /// Whether it is a text with a position a line.
    const fn is_lines(self) -> bool {
        matches!(self, Self::Fen | Self::Epd | Self::Perft)
    }
}

/// The container that the end of a name tells.
fn promised_compression(path: &Path) -> Option<Compression> {
    Compression::of_extension(path.extension()?.to_str()?)
}
