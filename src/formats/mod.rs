//! Formats: from bytes to records.
//!
//! A format is a value that implements `Codec`; [`Format`] is the handle to it, and [`Format::ALL`] the one
//! list. A codec says how its bytes are divided (`Layout`), and decodes a chunk (`Codec::decode`). One thread does the
//! cutting, which has to be quick; all threads do the decoding, so a chunk knows nothing about what came before it.
//! Numbers of lines, games and records count from zero in each chunk, and [`Totals`] turns them into numbers over all
//! inputs once the chunks before are known. Rules that concern a file as a whole are checked by a `WholeFileCheck`,
//! which sees the chunks in order.
//!
//! To add a format, add a file to the room of its family with a type that implements `Codec`, and a line in the list
//! below; CONTRIBUTING.md lists every step.

pub mod boards;
pub(crate) mod codec;
pub(crate) mod detect;
pub mod lichess;
pub mod pgn;
pub mod polyglot_book;
pub mod tables;
#[cfg(test)]
mod test_mutations;
pub mod text;
pub mod training;

#[cfg(feature = "cluster")]
pub(crate) use codec::chunk::ValidityWire;
pub use codec::chunk::{Chunk, DecodeOptions, MAX_MEMORY, MAX_RECORD};
pub(crate) use codec::chunk::{GIANT_HEAD, too_long};
pub use codec::conversion_losses::{Changed, Losses};
pub use codec::decoded_chunk::{Decoded, Remark, Remarks, Totals};
pub(crate) use codec::dropped_values::DroppedValue;
pub use codec::dropped_values::{DroppedKind, DroppedValues};
pub use codec::encode::Refusal;
pub(crate) use codec::encode::{Encoded, Encoder, RecordBlock, RecordBlocks, Writer};
pub(crate) use codec::layout::{Extent, Layout};
pub use codec::unstored_tags::UnstoredTags;
pub(crate) use codec::unstored_tags_by_game::{LostByKey, UnstoredTagsByGame};
pub(crate) use codec::whole_file_checks::{Evidence, WholeFileCheck};
pub use detect::headerless::sampled;
pub use detect::open::{NotDetected, Opened, PEEK, detect, is_supported, is_supported_with, open};
pub(crate) use detect::open::{note_on_skipped, to_line_feeds};
#[cfg(feature = "sql")]
pub(crate) use tables::hive_folders::{FILE_NAME_TAG, names_of_folders};

use crate::ParseError;
use crate::games::GameTags;
use crate::input::Compression;
use crate::table::{Batch, Fields};
use memchr::memchr_iter;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// Static facts about a format.
#[derive(Debug)]
#[non_exhaustive]
pub struct About {
    /// The name of the format on the command line.
    pub name: &'static str,
    /// A description in a few words.
    pub title: &'static str,
    /// File extensions, in lower case; the first is the usual one.
    pub extensions: &'static [&'static str],
    /// Whether it holds games, whose positions are the records.
    pub has_games: bool,
    /// Whether a file holds more than its records (a header, a footer, the names of columns), so that a file without
    /// records says that it is empty.
    pub can_be_empty: bool,
    /// Whether it selects games and positions by [`DecodeOptions::games`] while it decodes, makes the rows of games,
    /// and finds the values that depend on the moves before a position. For all other formats, the pipeline does that
    /// after decoding.
    pub selects: bool,
    /// The fields that its records may have besides the position.
    pub carries: Fields,
}

/// How much the first bytes of an input look like a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    /// Not at all.
    No,
    /// It can be read as this format, if the file name suggests it.
    Possible,
    /// It is this format, unless the name suggests another possible one.
    Certain,
}

impl Likeness {
    /// The likeness for formats that are either recognized or not.
    fn certain_if(recognized: bool) -> Self {
        if recognized { Self::Certain } else { Self::No }
    }
    /// For formats without a header.
    fn of_sample(sampled: Option<Sampled>) -> Self {
        Self::certain_if(sampled.is_some_and(|sampled| sampled.fits()))
    }
}

/// How well the first records of an input fit a format that has no header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sampled {
    /// Number of records examined.
    pub examined: usize,
    /// Number of good records among them.
    pub good: usize,
    /// The number of the first bad one, and what is wrong with it.
    pub first_bad: Option<(usize, String)>,
}

impl Sampled {
    /// One in this many examined records may be bad.
    const TOLERATED: usize = 10;

    /// Reports what is wrong with the record that was examined last.
    fn bad(&mut self, message: String) {
        let number = self.examined - 1;
        self.first_bad.get_or_insert((number, message));
    }

    /// Whether the input is of the format, as far as can be seen.
    pub fn fits(&self) -> bool {
        self.examined != 0 && self.examined - self.good <= self.examined / Self::TOLERATED
    }
}

/// The operations of a format. Its [`Layout`] says how its bytes are divided.
pub(crate) trait Codec: fmt::Debug + Sync {
    /// The static facts of the format.
    fn about(&self) -> &'static About;

    /// How much the first bytes of an input look like it.
    fn likeness(&self, head: &[u8]) -> Likeness;

    /// How many of the first records of an input are good; `None` for formats that are not recognized by that.
    fn sampled(&self, _head: &[u8]) -> Option<Sampled> {
        None
    }

    /// How its bytes are divided.
    fn layout(&self) -> Layout;

    /// Decodes a chunk.
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded;

    /// The codec of those tables of this format whose rows are games.
    fn of_games(&self) -> Option<&'static dyn Codec> {
        None
    }

    /// The tags, as far as rows of games need them, of the games that begin at some places, in formats whose decoder does
    /// not read them for rows of games that are chosen later.
    fn tags_of_games(&self, _chunk: &Chunk, _options: &DecodeOptions, _starts: &[usize]) -> Vec<GameTags> {
        Vec::new()
    }

    /// The fields that the records of an input may have, judged by its first bytes.
    fn carried(&self, _head: &[u8]) -> Fields {
        self.about().carries
    }

    /// Checks the first line of an input that is not empty, if that line determines how all others are read; returns
    /// what the user should know.
    ///
    /// # Errors
    /// If the others cannot be read: the rest of a sentence that begins with the name of the file.
    fn begin(&self, _header: Option<&[u8]>, _options: &DecodeOptions) -> Result<Option<String>, String> {
        Ok(None)
    }

    /// Encodes records; `None` if the format cannot be written.
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        None
    }

    /// What users should know about some of the records that a run takes.
    fn remark_on_taken(&self) -> Option<RemarkOnTaken> {
        None
    }

    /// What users can do about a bad record with this content: a sentence.
    fn hint(&self, _bad: &[u8]) -> Option<&'static str> {
        None
    }

    /// Makes a watch over the chunks of a file, if the format has rules that concern the file as a whole.
    fn watch(&self) -> Option<Box<dyn WholeFileCheck>> {
        None
    }
}

/// A remark on records that a run takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemarkOnTaken {
    pub(crate) remark: &'static Remark,
    /// The number of records that it concerns, among those of a batch from a row on whose bits are set.
    pub(crate) count: fn(&Batch, usize, &[u64]) -> u64,
}

/// The handle to a format.
///
/// ```
/// use lanefish::formats::Format;
/// let format: Format = "epd".parse().unwrap();
/// assert_eq!(format, Format::EPD);
/// assert_eq!(format.about().extensions, ["epd"]);
/// ```
#[derive(Clone, Copy)]
pub struct Format(&'static dyn Codec);

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident = $codec:expr $(, with $feature:literal)?;)*) => {
        impl Format {
            $($(#[$doc])* $(#[cfg(feature = $feature)])? pub const $name: Self = Self(&$codec);)*
            /// All formats.
            pub const ALL: &'static [Self] = &[$($(#[cfg(feature = $feature)])? Self::$name),*];
        }
    };
}

formats! {
    /// A position per line, six fields.
    FEN = text::Fen;
    /// A position per line, four fields and operations.
    EPD = text::Epd;
    /// Positions with perft counts: `;D1 20 ;D2 400` in the line, or blocks of `id`, `epd`, `perft` lines.
    PERFT = text::Perft;
    /// The packed format: see [`boards`].
    BOARDS = boards::Boards;
    /// Games: see [`pgn`].
    PGN = pgn::Pgn;
    /// Lichess puzzles: see [`lichess::puzzles`].
    PUZZLES = lichess::puzzles::Puzzles;
    /// Lichess evaluations: see [`lichess::evals`].
    EVALS = lichess::evals::Evals;
    /// CSV with a column of positions: see [`tables::text`].
    CSV = tables::text::CSV;
    /// Values separated by tabs, with a column of positions: see [`tables::text`].
    TSV = tables::text::TSV;
    /// JSON lines with a key of positions: see [`tables::text`].
    JSONL = tables::text::JSON_LINES;
    /// bulletformat, training data without a side to move: see [`training::bullet`].
    BULLET = training::bullet::Bullet;
    /// marlinformat, training data: see [`training::marlin`].
    MARLIN = training::marlin::Marlin;
    /// Packed sfen, training data: see [`training::sfen`].
    SFEN = training::sfen::Sfen;
    /// Stockfish's plain text: see [`training::stockfish_plain`].
    PLAIN = training::stockfish_plain::Plain;
    /// Lines with a position, a score and a result: see [`training::scored_text`].
    TEXT = training::scored_text::ScoredText;
    /// Stockfish's binpack: see [`training::binpack`].
    BINPACK = training::binpack::Binpack;
    /// viriformat, games for training: see [`training::viri`].
    VIRI = training::viri::Viri;
    /// Parquet files with a column of positions: see [`tables`].
    PARQUET = tables::Parquet, with "parquet";
    /// Arrow files and streams with a column of positions: see [`tables`].
    ARROW = tables::Arrow, with "parquet";
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Format {
    /// The name of the format on the command line.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// The static facts of the format.
    pub fn about(self) -> &'static About {
        self.0.about()
    }

    /// What users can do about a bad record with this content: a sentence.
    pub fn hint(self, bad: &[u8]) -> Option<&'static str> {
        self.0.hint(bad)
    }

    /// What users should know about some of the records that a run takes.
    pub(crate) fn remark_on_taken(self) -> Option<RemarkOnTaken> {
        self.0.remark_on_taken()
    }

    /// Whether its records are lines or games.
    pub fn is_text(self) -> bool {
        matches!(self.layout(), Layout::Text(_))
    }

    /// How much the first bytes of an input look like it.
    pub(crate) fn likeness(self, head: &[u8]) -> Likeness {
        self.0.likeness(head)
    }

    /// How many of the first records of an input are good; `None` for formats that are not recognized by that.
    pub fn sampled(self, head: &[u8]) -> Option<Sampled> {
        self.0.sampled(head)
    }

    /// How its bytes are divided.
    pub(crate) fn layout(self) -> Layout {
        self.0.layout()
    }

    /// Length of the longest run at the start of `bytes` that decodes without what follows; `None` if there is none
    /// yet, or if the format is a table, which is not cut. Never zero. `max_record` is [`DecodeOptions::max_record`].
    ///
    /// ```
    /// use lanefish::formats::{Format, MAX_RECORD};
    /// assert_eq!(Format::FEN.cut(b"8/8/8/4k3/8/4K3/8/8 w - - 0 1\n8/8/8/4k3/8/8/", MAX_RECORD), Some(30));
    /// ```
    pub fn cut(self, bytes: &[u8], max_record: usize) -> Option<usize> {
        self.layout().cut(bytes, max_record)
    }

    /// Decodes a chunk.
    pub fn decode(self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        let mut decoded = self.0.decode(chunk, options);
        if !self.about().selects {
            codec::game_history::find(&mut decoded, options.fields);
        }
        tables::hive_folders::add(&mut decoded, chunk, options);
        decoded
    }

    /// The tags, as far as rows of games need them, of the games that begin at some places of a chunk.
    pub(crate) fn tags_of_games(self, chunk: &Chunk, options: &DecodeOptions, starts: &[usize]) -> Vec<GameTags> {
        self.0.tags_of_games(chunk, options, starts)
    }

    /// The fields that the records of an input may have, judged by its first bytes.
    pub fn carried(self, head: &[u8]) -> Fields {
        self.0.carried(head)
    }

    /// The line at the beginning of an input that determines how all others are read, if the format has one and these
    /// first bytes (`all`: there are no more) hold it: for [`Chunk::header`].
    pub fn header(self, head: &[u8], all: bool) -> Option<Arc<[u8]>> {
        self.layout().header(head, all)
    }

    /// Checks that line: see `Codec::begin`.
    pub(crate) fn begin(self, header: Option<&[u8]>, options: &DecodeOptions) -> Result<Option<String>, String> {
        self.0.begin(header, options)
    }

    /// The opener for inputs that divide themselves into parts; `None` for formats that are not tables.
    pub fn tables(self) -> Option<tables::Tables> {
        match self.layout() {
            Layout::Tables(tables) => Some(tables::Tables::new(tables)),
            Layout::Text(_) | Layout::Records(_) | Layout::Chains(_) | Layout::Sections(_) => None,
        }
    }

    /// The format of those tables of this format whose rows are games, which has the same name.
    pub(crate) fn of_games(self) -> Self {
        self.0.of_games().map_or(self, Self)
    }

    /// Encodes records; `None` if the format cannot be written.
    pub(crate) fn encoder(self) -> Option<&'static dyn Encoder> {
        self.0.encoder()
    }

    /// Makes a watch over the chunks of a file, if the format has rules that concern the file as a whole.
    pub(crate) fn watch(self) -> Option<Box<dyn WholeFileCheck>> {
        self.0.watch()
    }

    /// The format for a file name: by its last extension, without that of a compression.
    ///
    /// ```
    /// use lanefish::formats::Format;
    /// assert_eq!(Format::of_name("book.epd.zst".as_ref()), Some(Format::EPD));
    /// ```
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_encoded_bytes();
        let mut parts = name.rsplit(|&byte| byte == b'.');
        // The part before the last dot need not be UTF-8.
        let mut extension = || std::str::from_utf8(parts.next()?).ok();
        let mut last = extension()?;
        if Compression::of_extension(last).is_some() {
            last = extension()?;
        }
        // Without a dot it is a name, not an extension.
        parts.next()?;
        let last = last.to_ascii_lowercase();
        let is_last = |format: &Self| format.about().extensions.contains(&last.as_str());
        Self::ALL.iter().copied().find(is_last)
    }

    /// Makes the reject for a record that is longer than [`DecodeOptions::max_record`] and was never in memory as a
    /// whole. The chunk has its first bytes; `feeds` counts the line feeds in the whole record.
    pub(crate) fn decode_giant(self, chunk: &Chunk, feeds: u64, options: &DecodeOptions) -> Decoded {
        let games = self.about().has_games;
        let blanks = if games { chunk.bytes.len() - chunk.bytes.trim_ascii_start().len() } else { 0 };
        let line = memchr_iter(b'\n', &chunk.bytes[..blanks]).count() as u64 + 1;
        let mut reject = too_long(&chunk.file, &chunk.bytes[blanks..], options.max_record);
        reject.place.line = Some(line);
        reject.place.offset = blanks as u64;
        reject.place.game = games.then_some(0);
        Decoded { rejects: vec![reject], records: 1, lines: feeds, games: u64::from(games), ..Decoded::default() }
    }
}

#[cfg(feature = "cluster")]
impl serde::Serialize for Format {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(feature = "cluster")]
impl<'de> serde::Deserialize<'de> for Format {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <String as serde::Deserialize>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

fn known_names() -> String {
    let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    names.join(", ")
}

impl FromStr for Format {
    type Err = ParseError;
    fn from_str(name: &str) -> Result<Self, ParseError> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name)
            .ok_or_else(|| ParseError::new(format!("unknown format `{name}`: expected one of {}", known_names())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{Choose, GameFilter};
    use crate::input::Inputs;
    use crate::jobs::{OutputContent, OutputFormat, WriteJob};
    use crate::output::SquareSetStyle;
    use crate::pipeline::{ReadOptions, RunOptions, run};
    use crate::table::Columns;
    use crate::tiers::Tier;

    /// PGN that selects nothing itself.
    #[derive(Debug)]
    struct Unselected;

    impl Codec for Unselected {
        fn about(&self) -> &'static About {
            static ABOUT: About = About {
                name: "unselected",
                title: "games as text, all of them",
                extensions: &[],
                has_games: true,
                can_be_empty: false,
                selects: false,
                carries: Fields::ALL,
            };
            &ABOUT
        }
        fn likeness(&self, _: &[u8]) -> Likeness {
            Likeness::No
        }
        fn layout(&self) -> Layout {
            Format::PGN.layout()
        }
        fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
            Format::PGN.decode(chunk, &options.clone().games(None))
        }
    }

    #[test]
    fn a_format_with_games_may_leave_selecting_to_the_pipeline() {
        static UNSELECTED: Unselected = Unselected;
        let rows = |format: Format, selection: GameFilter, chunk_size: usize| {
            let columns = Columns::named("index,game,ply,fen,white_elo,result").unwrap();
            let job = WriteJob::new(OutputContent::Columns(&columns, SquareSetStyle::Hex), OutputFormat::Csv).unwrap();
            let mut csv = Vec::new();
            let mut file = job.open(&mut csv).unwrap();
            let choose = Choose::default().games(Some(Arc::new(selection)));
            let read = ReadOptions::default().from(Some(format)).choose(choose);
            let options = RunOptions::new(Tier::best().analyzer().unwrap()).read(read).chunk_size(chunk_size);
            let inputs = Inputs::open(["data/lichess-2025-05.pgn"]).unwrap();
            let summary = run(&inputs, options, &job, |part| {
                job.put(&mut file, part).map_err(|source| crate::Error::Write { path: "rows".into(), source })
            });
            drop(summary.unwrap());
            let _ = job.finish(file).unwrap();
            // This one numbers records where they are decoded; the others number those that are left.
            let rows = String::from_utf8(csv).unwrap();
            rows.lines().map(|row| row.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>()
        };
        let all = rows(Format::PGN, GameFilter::default(), 1 << 20).len();
        for selection in [
            GameFilter::default().min_elo(Some(1500)),
            GameFilter::default().results(vec![Some(crate::games::Outcome::White)]).skip_book(8),
            GameFilter::default().first_ply(10).last_ply(Some(30)).every(3),
            GameFilter::default().last(true),
        ] {
            let expected = rows(Format::PGN, selection.clone(), 1 << 20);
            assert!(1 < expected.len() && expected.len() < all, "{selection:?}");
            for chunk_size in [5_000, 1 << 20] {
                assert!(rows(Format(&UNSELECTED), selection.clone(), chunk_size) == expected, "{selection:?}");
            }
        }
    }
}
