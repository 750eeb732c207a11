//! PGN: games as text, replayed into positions.
//!
//! A game yields the position that it starts from and one after each move of its main line. If a game cannot be read to
//! its end, the positions before the error are kept (unless [`GameFilter::drop_bad_games`] is set), and the game counts
//! as one reject. The fields of a record are those of its position: `move` is the move played *from* it (the last
//! position has none), and `clock` is the time that the mover had left after that move. `score` is the evaluation *of*
//! it, which PGN writes after the move that leads to it.
//!
//! ## Two passes
//!
//! 1. The text is read once, in order: tags, comments, variations, results, and where games begin and end (`game`). In
//!    movetext, vectors look at eight blocks of sixty-four bytes at once for the places of words (`movetext_scan`). A game from
//!    the start position whose moves are all written in the form of the standard is not played yet. Each of its words
//!    becomes an order, *this piece to that square*, eight words at once, and gets a row (`records`). Any other game is
//!    played while it is read, by the board of `replay`.
//! 2. The lanes of the CPU play the orders of eight games at once, straight into the groups of the records
//!    (`replay::lanes`).
//!
//! ```text
//! 1. e4 { [%clk 0:05:00] } e5 2. Nf3          text
//!    ^^     ^              ^^    ^^^          scan: where words begin and end, and the commands of comments
//!    P to e4               P to e5  N to f3   orders: the piece, its target, the squares that it may come from
//!    row 1                 row 2    row 3     replay: the lanes play eight games, each its own
//! ```
//!
//! Whatever the first pass needs to know about a game (its end, its plies, which position an evaluation belongs to) is
//! known from its words alone, as long as all of them are legal moves. If one is not, the text is read once more, and that
//! game is played as it is read: the lanes need neither messages nor places. Games are also played as they are read if
//! the choice of positions, the opening or the last position has to be known at once, and on CPUs without vectors.
//!
//! ## Accepted text
//!
//! Byte order marks, CR LF, CR or LF, escape lines (`%`), both kinds of comments, variations, NAGs and suffixes; moves
//! in SAN that is disambiguated more or less than needed, with or without check signs, `=`, `e.p.` or
//! move numbers, castling with letters or zeros; games without tags, moves or a result, and without empty lines between
//! them. Text may be UTF-8 or ISO-8859-1, and values of tags may lack straight quotes.
//!
//! Unless [`DecodeOptions::strict_pgn`] is set, some text that occurs in files is accepted although the standard does
//! not allow it: null moves (`--`, `<>`, `Z0`, `0000`, `@@@@`, `null`, `pass`), results glued to a move or in other forms
//! (`½-½`, `1:0`, `0.5-0.5`), extra closing braces, words such as `ch`, `mate`, `dis+` and `e.p.`, `N` and `D` for
//! novelties and diagrams, signs of evaluation in ASCII or Unicode, and blanks of Unicode.
//!
//! Moves may also be written without the `x` of a capture or with an extra one, as in UCI (`g1f3`), long
//! (`Ng1-f3`), with lower-case letters or figurines for the pieces, and castling as a king move, if exactly one
//! legal move fits; with other dashes in castling, or none; in the numeric notation of correspondence chess (`5254`);
//! and with a blank after the letter of a knight, if no pawn may be meant. A `FEN` tag may end after any of its fields, and castling rights in it that have no rook are
//! dropped and counted. [`DecodeOptions::strict_pgn`] refuses these deviations, too. If a tag occurs several times, the
//! last one counts. Chess960 is recognized by its `FEN`; other variants are rejected by name.
//!
//! ## Where a game begins
//!
//! A game begins at a tag at the beginning of a line once moves have begun, at `[Event "` after an empty line anywhere,
//! at tags after an empty line that repeat the name of a tag before it, at move number 1 of White after moves and an
//! empty line, and after a result. See [`boundary`] for the rule within comments, and for why files can be cut there.
//!
//! Text with neither tags nor a move is not a game: leftovers of a game after its result are skipped;
//! prose, and moves that continue after a result, count as one reject without a position. So does a game longer than
//! [`DecodeOptions::max_record`]; reading continues at the next [`boundary`] that many bytes after its beginning.

mod comment_values;
mod engine_comments;
mod game;
#[cfg(feature = "parquet")]
mod games_in_table_rows;
mod lex;
mod movetext_scan;
mod reading_stages;
mod records;
mod tag_columns;
mod tag_counts;
mod tag_syntax;
mod tags;
#[cfg(test)]
mod tests;
mod unstored_text;
pub(crate) mod write_movetext;

pub use game::{BadGame, Game, GameError, Games};
#[cfg(feature = "parquet")]
pub(super) use game::{PlyValues, SquareRows, SquareWord, unread_level};
#[cfg(feature = "parquet")]
pub(super) use games_in_table_rows::{BadList, Form, RowMoves, TagSections, decode_rows};
pub use lex::boundary;
pub use reading_stages::{ReadingStage, reading_stages};
pub use tags::Tags;
pub(crate) use unstored_text::annotations;

pub(super) use comment_values::{LONGEST_MATE, mate_in};

use super::codec::game_history::OF_HISTORY;
use super::codec::game_selection::WholeGame;
use super::codec::layout::Text;
use super::tables::COLUMN;
use super::{
    About, Chunk, Codec, DecodeOptions, Decoded, DroppedKind, DroppedValue, Evidence, Layout, Likeness, Remark,
    UnstoredTags, WholeFileCheck,
};
use crate::chess::Validity;
use crate::choose::{Condition, FilterCount, GameFilter};
use crate::error::Damage;
use crate::error::{Place, Reject};
use crate::games::{Date, Facts, GameRow, GameTags, Outcome, Variant};
use crate::replay::are_lanes_faster;
use crate::table::{Batch, Field, Fields};
use crate::text::one_line;
use memchr::{memchr, memchr_iter};
use records::{LaterRow, Records, Requested, estimated_rows, rows_of_whole};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use tag_columns::GameColumns;
use tag_counts::TagCounts;
use tags::Name;

/// The codec of PGN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pgn;

/// The fields that the text of games may have.
pub(super) const OF_GAMES: Fields = Fields::ALL
    .without(Field::Operations)
    .without(Field::PuzzleId)
    .without(Field::PuzzleRating)
    .without(Field::Themes)
    .without(Field::Depth)
    .without(Field::Knodes)
    .without(Field::Popularity)
    .without(Field::Plays)
    .without(Field::RatingDeviation)
    .without(Field::Count);

impl Codec for Pgn {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "pgn",
            title: "games as text",
            extensions: &["pgn"],
            has_games: true,
            can_be_empty: false,
            selects: true,
            carries: OF_GAMES,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(sniff(head))
    }
    fn layout(&self) -> Layout {
        Layout::Text(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode(chunk, options)
    }
    fn watch(&self) -> Option<Box<dyn WholeFileCheck>> {
        Some(Box::new(LastGame::default()))
    }
    fn tags_of_games(&self, chunk: &Chunk, options: &DecodeOptions, starts: &[usize]) -> Vec<GameTags> {
        let wanted = options.row_tags.as_deref();
        if wanted.is_some_and(<[_]>::is_empty) {
            return Vec::new();
        }
        let mut games = Games::new(&chunk.bytes, false, false);
        starts.iter().map(|&start| pairs(&games.tags_at(start), wanted)).collect()
    }
}

impl Text for Pgn {
    fn cut(&self, bytes: &[u8], _: usize) -> Option<usize> {
        cut(bytes)
    }
    fn resume(&self, bytes: &[u8], from: usize, at_end: bool) -> Option<usize> {
        lex::resume(bytes, from, at_end)
    }
    /// A [`boundary`].
    fn division(&self, bytes: &[u8], from: usize, at_end: bool) -> Option<usize> {
        lex::resume(bytes, from, at_end)
    }
    fn reach(&self) -> usize {
        lex::REACH
    }
    /// All of it can be decoded; a truncated game is still reported.
    fn before_truncated_end(&self, bytes: &[u8], _: usize) -> usize {
        bytes.len()
    }
}

/// Castling rights of `FEN` tags that are dropped.
pub static DROPPED_CASTLING: Remark = Remark {
    what: "castling right",
    how: "of FEN tags dropped, because the king or the rook is elsewhere",
    is_detail: false,
};

/// `FEN` tags with text after the fields.
pub static FEN_REST: Remark =
    Remark { what: "FEN tag", how: "with text after the position that was not read", is_detail: false };

/// Games that announce a set-up position but have none.
pub static SETUP_WITHOUT_FEN: Remark =
    Remark { what: "game", how: "with SetUp \"1\" but no FEN tag, read from the start position", is_detail: false };

/// Tags with text after their value.
pub static IGNORED_IN_TAGS: Remark =
    Remark { what: "tag", how: "with text after the value or the bracket that was ignored", is_detail: false };

/// Comments that seem to contain an evaluation.
pub static UNREAD_EVALUATIONS: Remark =
    Remark { what: "comment", how: "with what looks like an evaluation that was not read", is_detail: false };

/// Clocks in comments that are not read.
pub static UNREAD_CLOCKS: Remark = Remark { what: "clock", how: "in a comment that was not read", is_detail: false };

/// Tags whose name is nearly that of a known one.
pub static UNREAD_VARIANTS: Remark =
    Remark { what: "tag", how: "not read, with a name almost like that of a known tag", is_detail: false };

/// Digits and dashes in movetext.
pub static SKIPPED_TOKENS: Remark =
    Remark { what: "token", how: "of digits or dashes between moves skipped", is_detail: false };

/// Comments whose evaluation is beyond the range of its column.
pub static EVALUATIONS_BEYOND: Remark = Remark {
    what: "comment",
    how: "with an evaluation beyond 310 pawns or 1,000 moves to mate, read as that",
    is_detail: false,
};

/// Games in which some tag occurs several times.
pub static DOUBLED_TAG: Remark =
    Remark { what: "game", how: "with a tag given more than once; its last value is used", is_detail: true };

/// Whether the last game of a file has a result. A chunk's evidence is a `bool`: whether its last game goes on to its
/// end without a result token, not even `*`.
#[derive(Debug, Default)]
struct LastGame {
    is_open: bool,
}

impl WholeFileCheck for LastGame {
    fn chunk(&mut self, evidence: Option<Evidence>, _: u64) -> Vec<Damage> {
        if let Some(is_open) = evidence.and_then(|evidence| evidence.downcast().ok()) {
            self.is_open = *is_open;
        }
        Vec::new()
    }
    fn end(&mut self, _: u64) -> (Vec<Damage>, Option<&'static str>) {
        let note = "the last game has no result; the file may be truncated";
        (Vec::new(), self.is_open.then_some(note))
    }
}

/// If no tags show where games begin, this much text is cut after a result.
const TAGLESS: usize = 4 << 20;

/// Maximum number of bytes that the reject of a too long game keeps.
const RAW_OF_TOO_LONG: usize = 4096;

/// The longest run at the start of `bytes` that ends where a game begins, whatever comes after.
fn cut(bytes: &[u8]) -> Option<usize> {
    boundary(bytes, bytes.len(), false).or_else(|| (bytes.len() >= TAGLESS).then(|| lex::last_result(bytes)).flatten())
}

/// Whether a text looks like PGN: it begins with a tag, or with the first move number.
fn sniff(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let line = head
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !matches!(line[0], b'%' | b';'));
    match line {
        Some(head_line @ [b'[', letter, rest @ ..]) => {
            let quote = rest.iter().position(|&byte| byte == b'"');
            letter.is_ascii_alphabetic() && quote.is_some_and(|quote| !rest[..quote].contains(&b']'))
                || has_roster_name(&head_line[1..])
        }
        Some([b'1', b'.', ..]) => true,
        _ => false,
    }
}

/// Whether a text is one of the seven names that every game should have, and a blank; its value may lack quotes.
fn has_roster_name(text: &[u8]) -> bool {
    let names = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];
    names.iter().any(|name| text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b" ")))
        && memchr(b']', text).is_some()
}

/// The fields that are derived from the scores of other positions.
const SCORES_BEFORE: Fields = Fields::of(&[Field::ScoreBefore, Field::LastScore]);
/// The fields for which scores are read.
const SCORES: Fields = Fields::of(&[Field::Score, Field::Mate]).union(SCORES_BEFORE);

/// Decodes a run of games.
fn decode(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    decode_with(chunk, options, are_lanes_faster())
}

/// Decodes a run of games, with or without lanes.
fn decode_with(chunk: &Chunk, options: &DecodeOptions, lanes: bool) -> Decoded {
    let truncated = chunk.truncated && {
        let bytes: &[u8] = &chunk.bytes;
        !(bytes.ends_with(b"\n") && lex::ends_with_result(bytes.trim_ascii_end()))
    };
    decode_source(options, lanes, truncated, |played_now| TextGames::new(chunk, options, truncated, played_now))
}

/// The games of a chunk, one after the other: of a text, or in the rows of a table.
trait GameSource<'a> {
    /// Reads the next game and records its positions; `None` after the last one.
    fn next(&mut self, records: &mut Records) -> Option<Game<'a>>;
    /// The text in which the last game lies.
    fn text(&self) -> &'a [u8];
    /// The part of the chunk that belongs to the last game: bytes, or a row.
    fn extent(&self, game: &Game<'_>) -> Range<usize>;
    /// The place of a byte of the last game's text, for the record with this number.
    fn place(&mut self, offset: usize, record: u64) -> Place;
    /// Number of bytes that have been read, and of all.
    fn progress(&self) -> (usize, usize);
    /// The end of the chunk, as [extents](Self::extent) count.
    fn end(&self) -> usize;
    /// Number of bytes of the text.
    #[inline(always)]
    fn text_len(&self) -> usize {
        self.text().len()
    }
    /// Whether rows of games have their tags, also if the rest of them is completed later.
    fn keeps_tags(&self) -> bool;
    /// The number of positions, as far as a beginning of the text tells.
    fn likely_positions(&self) -> usize;
    /// Whether there are hardly ever more positions than that, so that they are not estimated once more.
    fn are_hardly_more(&self) -> bool {
        false
    }
    /// Number of line feeds in the text.
    fn lines(&mut self) -> u64;
}

/// The games of a text.
struct TextGames<'a> {
    games: Games<'a>,
    chunk: &'a Chunk,
    lines: Lines<'a>,
    at: usize,
}

impl<'a> TextGames<'a> {
    fn new(chunk: &'a Chunk, options: &DecodeOptions, truncated: bool, played_now: Vec<usize>) -> Self {
        let variations = options.games.as_ref().is_some_and(|games| games.variations);
        let games = Games::new(&chunk.bytes, variations, options.strict_pgn);
        let games = games.limited(options.max_record, truncated).played_now(played_now);
        Self { games, chunk, lines: Lines { bytes: &chunk.bytes, at: 0, count: 0 }, at: 0 }
    }
}

impl<'a> GameSource<'a> for TextGames<'a> {
    #[inline(always)]
    fn next(&mut self, records: &mut Records) -> Option<Game<'a>> {
        let game = self.games.next(records)?;
        self.at = game.end;
        Some(game)
    }
    #[inline(always)]
    fn text(&self) -> &'a [u8] {
        &self.chunk.bytes
    }
    #[inline(always)]
    fn extent(&self, game: &Game<'_>) -> Range<usize> {
        game.start..game.end
    }
    fn place(&mut self, offset: usize, record: u64) -> Place {
        let line = Some(self.lines.up_to(offset) + 1);
        Place { line, offset: offset as u64, record, ..Place::start_of(Arc::clone(&self.chunk.file)) }
    }
    #[inline(always)]
    fn progress(&self) -> (usize, usize) {
        (self.at, self.chunk.bytes.len())
    }
    fn end(&self) -> usize {
        self.chunk.bytes.len()
    }
    fn keeps_tags(&self) -> bool {
        false
    }
    fn likely_positions(&self) -> usize {
        estimated_rows(&self.chunk.bytes, self.chunk.bytes.len())
    }
    fn lines(&mut self) -> u64 {
        self.lines.up_to(self.chunk.bytes.len())
    }
}

/// Decodes games, with or without lanes. `source` begins with the first of them; those whose extents begin at these places
/// are played as they are read.
fn decode_source<'a, S: GameSource<'a>>(
    options: &DecodeOptions,
    lanes: bool,
    truncated: bool,
    source: impl Fn(Vec<usize>) -> S,
) -> Decoded {
    // Everything is read once more if the lanes could not play some games, which are then played at once.
    let mut played_now = lanes.then(Vec::new);
    loop {
        let games = source(played_now.clone().unwrap_or_default());
        match decode_games(games, options, played_now.is_some(), truncated) {
            Ok(decoded) => return decoded,
            Err(mut games) => {
                games.extend(played_now.iter().flatten());
                games.sort_unstable();
                // Lanes that fail again named the wrong games, and might do so forever.
                let failed_before = played_now.is_some_and(|games| !games.is_empty());
                debug_assert!(!failed_before, "the lanes named the wrong games");
                played_now = (!failed_before).then_some(games);
            }
        }
    }
}

/// Decodes games, with or without lanes.
///
/// # Errors
/// If the lanes could not play some games: where these begin.
fn decode_games<'a>(
    mut games: impl GameSource<'a>,
    options: &DecodeOptions,
    lanes: bool,
    truncated: bool,
) -> Result<Decoded, Vec<usize>> {
    let everything = GameFilter::default();
    let selection = options.games.as_deref().unwrap_or(&everything);
    // If games are chosen once they are decoded, so are positions.
    let selects_later = selection.chooses_whole_games();
    let later_condition = selection.later_condition(false);
    let selects = !selection.takes_all_positions() && !selects_later;
    let fields = match options.validity {
        Validity::Playable => options.fields,
        // Positions may still be rejected, and the places of rejects name the game, whatever is requested.
        Validity::Strict => options.fields.union(Fields::of(&[Field::Game, Field::Ply])),
    };
    let requested = Requested {
        moves: fields.contains(Field::Move),
        plies: fields.contains(Field::Ply) || selects,
        scores: fields.intersects(SCORES),
        clocks: fields.contains(Field::Clock),
        move_times: fields.contains(Field::MoveTime),
        pseudo_en_passants: fields.contains(Field::KeyEnPassant),
        openings: fields.contains(Field::PositionOpening),
        scores_before: fields.intersects(SCORES_BEFORE),
        histories: fields.contains(Field::History),
        parents: fields.intersects(OF_HISTORY) && selection.variations,
        variations: selects_later && selection.variations,
        texts: options.lost_tags,
        lanes: false,
    };
    let needs_boards =
        requested.openings || requested.histories || truncated || selects && selection.max_per_game.is_some();
    let requested = Requested { lanes: lanes && !needs_boards, ..requested };
    let (_, all_bytes) = games.progress();
    let rows = games.likely_positions();
    // After some games, the number of rows is estimated once more.
    let mut estimates_again_at = if games.are_hardly_more() { usize::MAX } else { all_bytes / 8 };
    let mut records = Records::new(requested, rows);
    // Columns of tables are not tags of games.
    let tags: Vec<Arc<str>> = options.tags.iter().filter(|tag| !tag.starts_with(COLUMN)).cloned().collect();
    let mut columns = GameColumns::new(fields, &tags, rows);
    let mut lost_tags = TagCounts::new(options.lost_of_each);
    let mut lost_texts = UnstoredTags::default();
    let mut decoded = Decoded::default();
    // Ranges of rows, with the number of the first one if numbers differ from rows.
    let mut numbers: Vec<(usize, u64)> = Vec::new();
    let mut origins = Vec::with_capacity(rows);
    let mut last_game_is_open = None;
    // The rows of games whose last position is known later.
    let mut later: Vec<(usize, LaterRow)> = Vec::new();
    // The beginning of the text before the next game that does not belong to the row of any game.
    let mut between = 0;
    loop {
        let start = records.len();
        let Some(mut game) = games.next(&mut records) else {
            break;
        };
        let text_len = games.text_len();
        let extent = games.extent(&game);
        extend_row(decoded.game_rows.last_mut(), between, extent.start);
        let before = between;
        between = extent.end;
        let (read_bytes, _) = games.progress();
        if read_bytes >= estimates_again_at {
            estimates_again_at = usize::MAX;
            let rows = rows_of_whole(records.len(), read_bytes, all_bytes);
            records.reserve(rows);
            columns.reserve(rows);
            origins.reserve_exact(rows.saturating_sub(origins.len()));
        }
        last_game_is_open = Some(!game.terminated && !game.stray && game.end == text_len);
        if game.stray
            && let Some(bad) = &game.bad
        {
            let place = games.place(bad.offset, decoded.records);
            let reject = reject(games.text(), &game, bad, place);
            decoded.rejects.push(reject);
            numbers.push((start, decoded.records));
            decoded.records += 1;
            continue;
        }
        if truncated && game.end == text_len && !game.is_too_long() {
            // Its last move may have lost a letter and still look valid.
            records.truncate(start);
            game.bad = Some(Box::new(BadGame {
                error: GameError::CutOff,
                offset: text_len,
                ply: game.plies,
                position: game.last.clone(),
            }));
        }
        let number = decoded.games;
        decoded.games += 1;
        let positions = (records.len() - start) as u64;
        let remarks = &mut decoded.remarks;
        remarks.add(&DROPPED_CASTLING, game.dropped_castling);
        remarks.add(&FEN_REST, game.has_fen_rest.into());
        remarks.add(&SETUP_WITHOUT_FEN, game.tags.lacks_fen().into());
        remarks.add(&IGNORED_IN_TAGS, game.tags.ignored());
        remarks.add(&DOUBLED_TAG, game.tags.has_doubled().into());
        for name in game.tags.unread_variants() {
            remarks.add_with(&UNREAD_VARIANTS, 1, Some(&one_line::of(&tag_syntax::text(name))));
        }
        if let Some(skipped) = &game.skipped {
            remarks.add_with(&SKIPPED_TOKENS, skipped.count, Some(&skipped.first));
        }
        let mut leave_out = |name, games, positions| {
            if games + positions != 0 {
                let left_out: &mut FilterCount = decoded.left_out.entry(name).or_default();
                left_out.games += games;
                left_out.positions += positions;
            }
        };
        if !game.is_too_long() {
            let unread = records.take_unread();
            remarks.add_with(&UNREAD_EVALUATIONS, unread.count, unread.first.as_deref());
            let clocks = records.take_unread_clocks();
            remarks.add_with(&UNREAD_CLOCKS, clocks.count, clocks.first.as_deref());
            let beyond = records.take_beyond();
            remarks.add_with(&EVALUATIONS_BEYOND, beyond.count, beyond.first.as_deref());
        }
        records.settle_mates();
        let verdict = selection.leaves_out(&game);
        if let Some((name, unknown)) = verdict.or_else(|| match later_condition {
            Some(_) => None,
            None => selection.condition_leaves_out(|condition| record(&game, condition, 0)),
        }) {
            leave_out(name, 1, positions);
            decoded.left_out.entry(name).or_default().unknown += u64::from(unknown);
            records.leave_out(start, extent.start);
            continue;
        }
        if requested.openings {
            records.find_openings(start);
        }
        if requested.scores_before {
            records.find_scores_before(start);
        }
        if requested.histories {
            records.find_histories(start);
        }
        let is_dropped = game.bad.is_some() && selection.drop_bad_games;
        if is_dropped {
            // Among positions the game still counts, as bad; among games it is left out.
            leave_out("drop-bad-games", u64::from(options.game_rows), positions);
            records.leave_out(start, extent.start);
        } else if selects {
            let hash = if selection.max_per_game.is_some() { records.hash(start) } else { 0 };
            let keep = selection.positions(records.plies(start), hash, &mut |name, positions| {
                leave_out(name, 0, positions);
            });
            records.retain(start, extent.start, |row| keep[row]);
        }
        let kept = records.len() - start;
        if selects_later && !is_dropped {
            decoded.whole_games.push(WholeGame {
                number,
                start: extent.start,
                rows: start..records.len(),
                apart: records.take_variations(),
                values: later_condition.map(|condition| Box::new(record(&game, condition, number))),
            });
        }
        if requested.moves && game.is_chess960() {
            records.is_chess960(start);
        }
        origins.resize(records.len(), extent.start as u32);
        columns.extend(&game, number, kept);
        // Rows of games have a result, too.
        let reads_result = options.game_rows && !options.game_places && !is_dropped && !fields.contains(Field::Result);
        let of_row = if reads_result { game.unread_result() } else { None };
        let of_row = of_row.map(|text| (DroppedKind::Value(Field::Result), text.to_vec()));
        for (kind, value) in columns.take_unread().filter(|_| kept != 0).chain(of_row) {
            let place = games.place(game.start, decoded.records);
            decoded.dropped_values.push(DroppedValue::new(kind, place, &value));
        }
        if options.lost_tags && kept != 0 {
            lost_tags.game(&game.tags, number);
            if records.may_lose_text() {
                let end = game.bad.as_ref().map_or(game.end, |bad| bad.offset.min(game.end));
                let part = game.movetext..end;
                unstored_text::count(games.text(), part, selection.variations, &mut lost_texts);
            }
            lost_tags.end_game(decoded.records..decoded.records + kept as u64, &mut lost_texts);
        }
        if options.game_rows && !is_dropped {
            let place = if before == 0 { 0 } else { extent.start };
            // Rows of games that are chosen later are completed then.
            let is_place = options.game_places || selects_later;
            if let Some(last) = records.last_row().filter(|_| !is_place) {
                later.push((decoded.game_rows.len(), last));
            }
            let place = place..extent.end;
            let has_tags = !options.game_places && (!is_place || games.keeps_tags());
            let tags = has_tags.then_some(options.row_tags.as_deref());
            let record = decoded.records;
            decoded.game_rows.push(GameRow { record, ..row(number, &game, place, tags) });
        }
        numbers.push((start, decoded.records));
        if kept > 0 {
            let first = decoded.records;
            decoded.game_records.push(first..first + kept as u64);
        }
        decoded.records += kept as u64;
        if let Some(bad) = &game.bad {
            let place = Place { game: Some(number), ..games.place(bad.offset, decoded.records) };
            let reject = reject(games.text(), &game, bad, place);
            decoded.rejects.push(reject);
            decoded.records += 1;
        }
        records.play_tile();
    }
    let (games_played, lasts): (Vec<usize>, Vec<LaterRow>) = later.into_iter().unzip();
    match records.play(&origins, &lasts) {
        Ok(positions) => {
            for (game, position) in games_played.into_iter().zip(positions) {
                decoded.game_rows[game].last = position;
            }
        }
        Err(failed) => return Err(failed),
    }
    extend_row(decoded.game_rows.last_mut(), between, games.end());
    decoded.evidence = last_game_is_open.map(|is_open| Box::new(is_open) as Evidence);
    decoded.lines = games.lines();
    let len = records.len();
    let mut batch = records.into_batch(fields);
    columns.finish(&mut batch);
    (decoded.lost_tags, decoded.lost_of_each) = lost_tags.finish(lost_texts);
    batch.origins = origins;
    if !decoded.rejects.is_empty() {
        let mut ordinals = Vec::with_capacity(len);
        for (index, &(start, number)) in numbers.iter().enumerate() {
            let end = numbers.get(index + 1).map_or(len, |&(next, _)| next);
            ordinals.extend((0..(end - start) as u64).map(|row| (number + row) as u32));
        }
        batch.ordinals = Some(ordinals);
    }
    if !batch.is_empty() {
        decoded.batches.push(batch);
    }
    Ok(decoded)
}

/// Adds the text between two games to the first of them, if that is the game of the last row.
fn extend_row(row: Option<&mut GameRow>, end: usize, next: usize) {
    if let Some(row) = row.filter(|row| row.end == end) {
        row.end = next;
    }
}

/// The known facts of a game at a place of the chunk, with all tags or those of some names; `None`: only its place and
/// little more.
fn row(number: u64, game: &Game<'_>, place: Range<usize>, tags: Option<Option<&[Arc<str>]>>) -> GameRow {
    GameRow {
        game: number,
        tags: tags.map_or_else(GameTags::default, |wanted| pairs(&game.tags, wanted)),
        plies: Some(game.plies),
        result: game.result(),
        last: game.last.clone().filter(|_| tags.is_some()),
        error: game.bad.as_ref().map(|bad| bad.error.to_string()),
        matches: None,
        values: None,
        main_line: None,
        record: 0,
        moves: None,
        start: place.start,
        movetext: game.movetext,
        moves_end: game.end,
        end: place.end,
    }
}

/// The names and values of tags, or of those with these names.
fn pairs(tags: &Tags<'_>, wanted: Option<&[Arc<str>]>) -> GameTags {
    let mut all = GameTags::default();
    if wanted.is_some_and(<[_]>::is_empty) {
        return all;
    }
    let [mut name_buffer, mut buffer] = [Vec::new(), Vec::new()];
    let is_wanted = |name: &[u8]| {
        wanted.is_none_or(|wanted| wanted.iter().any(|wanted| wanted.as_bytes().eq_ignore_ascii_case(name)))
    };
    for (name, value) in tags.pairs().filter(|(name, _)| is_wanted(name)) {
        all.push(&tag_syntax::text_in(name, &mut name_buffer), &tag_syntax::text_in(value, &mut buffer));
    }
    all
}

/// A record of a game with the values that a condition reads.
fn record(game: &Game<'_>, condition: &Condition, number: u64) -> Batch {
    let tags: Vec<Arc<str>> = condition.needs().tags.iter().cloned().collect();
    let mut columns = GameColumns::new(condition.needs().fields, &tags, 1);
    columns.extend(game, number, 1);
    let mut batch = Batch::of_one();
    columns.finish(&mut batch);
    batch
}

impl Facts for Game<'_> {
    fn elos(&self) -> [Option<u16>; 2] {
        ["WhiteElo", "BlackElo"].map(|name| self.tags.rating(name))
    }
    fn players(&self) -> [Cow<'_, str>; 2] {
        ["White", "Black"].map(|name| tag_syntax::text(self.tags.get(name).unwrap_or_default()).into())
    }
    fn time_control(&self) -> &[u8] {
        self.tags.get("TimeControl").unwrap_or_default()
    }
    fn outcome(&self) -> Option<Outcome> {
        self.result()
    }
    fn plies(&self) -> u32 {
        self.plies
    }
    fn termination(&self) -> &[u8] {
        self.tags.get("Termination").unwrap_or_default()
    }
    fn eco(&self) -> &[u8] {
        self.tags.get("ECO").unwrap_or_default()
    }
    fn date(&self) -> Option<Date> {
        Date::parse(date(&self.tags)?)
    }
    fn variant(&self) -> Option<Variant> {
        Variant::from_tag(self.tags.variant().unwrap_or_default())
    }
}

/// The day of a game: `UTCDate` if it can be parsed, or else `Date`.
fn date<'a>(tags: &Tags<'a>) -> Option<&'a [u8]> {
    let utc = tags.value(const { Name::new("UTCDate") });
    utc.filter(|date| Date::parse(date).is_some()).or_else(|| tags.value(const { Name::new("Date") }))
}

/// Counts line ends up to places that come in ascending order.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    count: u64,
}

impl Lines<'_> {
    fn up_to(&mut self, at: usize) -> u64 {
        // A tag that caused an error may come before the last place.
        if at > self.at {
            self.count += memchr_iter(b'\n', &self.bytes[self.at..at]).count() as u64;
            self.at = at;
        } else {
            self.count -= memchr_iter(b'\n', &self.bytes[at..self.at]).count() as u64;
            self.at = at;
        }
        self.count
    }
}

/// The reject of a game in a text.
#[cold]
fn reject(text: &[u8], game: &Game<'_>, bad: &BadGame, place: Place) -> Reject {
    let message = match &bad.position {
        Some(position) => format!("{} in {position}", bad.error),
        None => bad.error.to_string(),
    };
    let end = if game.is_too_long() { game.end.min(game.start + RAW_OF_TOO_LONG) } else { game.end };
    Reject {
        place: Place { ply: Some(bad.ply.min(u16::MAX.into()) as u16), ..place },
        reasons: bad.error.names(),
        message: Cow::Owned(message),
        raw: text[game.start..end].trim_ascii().to_vec(),
    }
}
