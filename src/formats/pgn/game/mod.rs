//! One game after another: the tag section, the movetext, and where the game ends.
//!
//! [`Games::next`] plays the moves of a game and records every position. Simple text is read by
//! [`main_line`], which scans many moves ahead; everything else goes through [`tokens`], one byte class at a
//! time. A game that cannot be read further is followed to its end by the same code, so that the error does not change
//! where the next game begins.
//!
//! Where the CPU has vectors, the fast path only collects the words of the moves ([`Plays::Later`]), for the lanes.
//! A game in which the position matters while it is read is read again from its beginning.
//!
//! Text that has neither tags nor a move is not a game. Leftovers of a game (a second result, closing signs, a
//! variation after the result) are skipped; any other text is one [`BadGame`] without a position.

#[cfg(feature = "parquet")]
mod aix_moves;
mod error;
mod main_line;
mod movetext;
mod movetext_words;
mod tag_section;
#[cfg(test)]
mod tests;
mod tokens;
#[cfg(feature = "parquet")]
mod uci_moves;

#[cfg(feature = "parquet")]
pub(in crate::formats) use aix_moves::{PlyValues, unread_level};
pub use error::{BadGame, GameError};
#[cfg(feature = "parquet")]
pub(super) use uci_moves::are_uci_moves;
#[cfg(feature = "parquet")]
pub(in crate::formats) use uci_moves::{SquareRows, SquareWord};

use super::lex::{self, Comment};
use super::movetext_scan::{ENOUGH, Scan};
use super::records::Records;
use super::tags::{self, Name, Tags};
use crate::chess::Position;
use crate::games::{Outcome, Variant, Verdict};
#[cfg(feature = "parquet")]
use crate::kernels::replay::Order;
use crate::replay::{Board, San};
use crate::simd::bmi2::Bmi2;
use movetext::End;
use movetext_words::{result, shown};
use std::ops::Range;
use tag_section::start_board;

/// The name of the tag that has the result.
const RESULT: Name<'static> = Name::new("Result");

/// A game that has been read.
#[derive(Clone, Debug)]
pub struct Game<'a> {
    /// Offset of its first byte in the text.
    pub start: usize,
    /// Offset of the byte after it.
    pub end: usize,
    /// The tags of the game.
    pub tags: Tags<'a>,
    /// Offset of the text after its tags.
    pub(super) movetext: usize,
    /// Number of plies played in the main line.
    pub plies: u32,
    /// The result token at its end; `None` if it is missing, `*`, or neither a win nor a draw.
    pub outcome: Option<Outcome>,
    /// Whether its `Result` tag counts before that token, which is so in tables.
    pub(super) tag_has_result: bool,
    /// The token at its end, if its points are neither those of a win nor those of a draw.
    pub(super) unequal: Option<&'a [u8]>,
    /// Whether a result token (`*` included) ends it, rather than the next game or the end of the text.
    pub terminated: bool,
    /// Whether this is not a game but other text, such as prose, or moves after a result; [`Game::bad`] says which.
    pub stray: bool,
    /// The last position of the main line, if the game had one and its moves have been played.
    pub last: Option<Position>,
    /// Number of castling rights dropped from its `FEN` tag, because the king or the rook is elsewhere.
    pub dropped_castling: u64,
    /// Whether its `FEN` tag has text after the fields, which was not read.
    pub(super) has_fen_rest: bool,
    /// Whether some castling right of its start position is one of Chess960 only.
    pub(super) castles_as_chess960: bool,
    /// Tokens of digits or dashes that have no meaning.
    pub(super) skipped: Option<Box<Skipped>>,
    /// The error that stopped the reading.
    pub bad: Option<Box<BadGame>>,
}

/// Tokens of movetext that were not read.
#[derive(Clone, Debug, Default)]
pub(super) struct Skipped {
    pub(super) count: u64,
    /// The first of them, as shown.
    pub(super) first: String,
}

impl<'a> Game<'a> {
    /// The result of the game: the token at its end, or else its `Result` tag.
    pub fn result(&self) -> Option<Outcome> {
        if self.tag_has_result {
            return Outcome::from_token(self.tags.value(RESULT)?);
        }
        if self.unequal.is_some() {
            return None;
        }
        self.outcome.or_else(|| Outcome::from_token(self.tags.value(RESULT)?))
    }

    /// The result as it is written, if it is neither a win nor a draw, nor says that it is unknown: in the tag, or at the
    /// end of the moves.
    #[inline]
    pub(super) fn unread_result(&self) -> Option<&'a [u8]> {
        // Nearly all games have the same result in both places.
        let agrees = self.outcome.is_some_and(|outcome| self.tags.has_usual(RESULT, outcome.token()));
        if agrees { None } else { self.rare_result() }
    }

    #[cold]
    fn rare_result(&self) -> Option<&'a [u8]> {
        let value = self.tags.value(RESULT);
        value.filter(|value| matches!(Verdict::of(value), None | Some(Verdict::Unequal))).or(self.unequal)
    }

    /// Whether this is a game of Chess960, according to its tags or its start position.
    pub(super) fn is_chess960(&self) -> bool {
        let variant = self.tags.variant().and_then(Variant::from_tag);
        self.castles_as_chess960 || variant == Some(Variant::Chess960)
    }

    /// A game of which only the tags are known: its moves are missing.
    #[cfg(feature = "parquet")]
    pub(super) fn without_moves(tags: &Tags<'a>) -> Self {
        Self {
            start: 0,
            end: 0,
            tags: *tags,
            movetext: 0,
            plies: 0,
            outcome: None,
            tag_has_result: false,
            unequal: None,
            terminated: false,
            stray: false,
            last: None,
            dropped_castling: 0,
            castles_as_chess960: false,
            has_fen_rest: false,
            skipped: None,
            bad: Some(Box::new(BadGame { error: GameError::NoMoves, offset: 0, ply: 0, position: None })),
        }
    }

    /// Whether the game has more bytes than a record may have.
    pub(super) fn is_too_long(&self) -> bool {
        let bad = self.bad.as_ref();
        bad.is_some_and(|bad| matches!(bad.error, GameError::TooLong(_)))
    }
}

/// A game that was to be played later has to be played as it is read.
#[derive(Debug)]
struct PlaysAgain;

/// A line of moves that is interrupted by a variation.
#[derive(Debug)]
struct Line {
    board: Board,
    before: Board,
    ply: u32,
    /// The record of the last position.
    record: Option<usize>,
    /// The record before it.
    record_before: Option<usize>,
    /// The record from which the line branches off.
    branch: Option<usize>,
}

/// The games of a text.
#[derive(Debug)]
pub struct Games<'a> {
    bytes: &'a [u8],
    at: usize,
    variations: bool,
    /// Whether only text that the standard allows is read.
    strict: bool,
    /// The longest game in bytes.
    max_record: usize,
    /// Whether the text is truncated, so that the rest at its end may have been a game.
    truncated: bool,
    lines: Vec<Line>,
    /// Whether main lines are scanned; variations need every token.
    quick: bool,
    bits: Option<Bmi2>,
    scan: Scan,
    /// The result of the last scan.
    moves: Vec<San>,
    /// Number of moves to scan at once.
    enough: usize,
    /// The end of the word that the fast path could not play; before it, nothing is scanned again.
    slow_until: usize,
    /// The part of a line, up to its end, in which no line feed was found.
    line: Range<usize>,
    /// Places of games, in order, that are not played later.
    played_now: Vec<usize>,
    /// The orders of a game.
    #[cfg(feature = "parquet")]
    orders: Vec<Order>,
    /// Signatures of names of tags that have been looked at.
    usual_names: tags::UsualNames,
}

/// The game being read.
struct State {
    board: Board,
    /// The board before the last move.
    before: Board,
    ply: u32,
    record: Option<usize>,
    record_before: Option<usize>,
    /// The record from which the variation being read branches off.
    branch: Option<usize>,
    /// Nesting depth of variations, whether they are skipped or read.
    depth: u32,
    /// Whether the game has no tags so far.
    tagless: bool,
    /// The first move number, and whether it is Black's.
    number: Option<(u32, bool)>,
    bad: Option<Box<BadGame>>,
    /// Tokens of digits or dashes that have no meaning.
    skipped: Option<Box<Skipped>>,
    /// Whether the letter of a piece has been a word of its own.
    has_piece_alone: bool,
    /// When the moves are played.
    plays: Plays,
}

/// When the moves of a game are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plays {
    /// As they are read.
    Now,
    /// All of them [later](Records::play); the board stays the start position.
    Later,
    /// As they are read, for which the game has to be read once more: what follows depends on the position.
    Again,
}

impl<'a> Games<'a> {
    /// Reads the games of a text; `variations` also records the positions of variations, and `strict` refuses
    /// what the standard does not allow.
    pub fn new(bytes: &'a [u8], variations: bool, strict: bool) -> Self {
        Self {
            bytes,
            at: 0,
            variations,
            strict,
            max_record: usize::MAX,
            truncated: false,
            lines: Vec::new(),
            quick: !variations,
            bits: Bmi2::detect(),
            scan: Scan::default(),
            moves: Vec::new(),
            enough: ENOUGH,
            slow_until: 0,
            line: 0..0,
            played_now: Vec::new(),
            #[cfg(feature = "parquet")]
            orders: Vec::new(),
            usual_names: tags::UsualNames::default(),
        }
    }

    /// Games that begin at these places, in order, are not played later.
    pub(super) fn played_now(mut self, games: Vec<usize>) -> Self {
        self.played_now = games;
        self
    }

    /// Sets the maximum length of a game in bytes, and whether the text is truncated at its end.
    pub(super) fn limited(mut self, max_record: usize, truncated: bool) -> Self {
        self.max_record = max_record;
        self.truncated = truncated;
        self
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Whether there are only blanks between the beginning of the line and here.
    fn begins_line(&self) -> bool {
        let before = &self.bytes[..self.at];
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | 0xEF | 0xBB | 0xBF);
        matches!(before.iter().rev().find(|byte| !blank(byte)), None | Some(b'\n' | b'\r'))
    }

    /// Whether there is an empty line before the line that begins here.
    fn follows_empty_line(&self) -> bool {
        let mut feeds = 0;
        for byte in self.bytes[..self.at].iter().rev() {
            match byte {
                b'\n' => feeds += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => break,
            }
        }
        feeds >= 2
    }

    /// Skips text that may come between games; returns whether something else follows.
    fn find_game(&mut self) -> bool {
        let bytes = self.bytes;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' | b' ' | b'\t' | b'\r' => self.at += 1,
                // Byte order marks, end-of-file marks and other leftovers of tools.
                0xEF if bytes[self.at..].starts_with(b"\xEF\xBB\xBF") => self.at += 3,
                0xFF | 0x1A | 0x00 if !is_utf16(&bytes[self.at..]) => self.at += 1,
                b'%' if self.begins_line() => self.at = lex::text_line_end(bytes, self.at),
                b';' => self.at = lex::text_line_end(bytes, self.at),
                b'{' => match lex::comment(bytes, self.at) {
                    Comment::Closed(end) if end - self.at < self.max_record => self.at = end + 1,
                    _ => return true,
                },
                b'*' | b'0' | b'1' => match self.result() {
                    Some((_, len)) => self.at += len,
                    None => return true,
                },
                b')' | b'!' | b'?' | b'+' | b'#' | b'=' | b'.' | b',' => self.at += 1,
                b'}' if !self.strict => self.at += 1,
                b'-' if !bytes[self.at..].starts_with(b"--") => self.at += 1,
                b'$' => {
                    self.at += 1;
                    self.skip_digits();
                }
                _ => return true,
            }
        }
        false
    }

    fn skip_digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// The result token here, and its length.
    fn result(&self) -> Option<(Verdict, usize)> {
        result(&self.bytes[self.at..], self.strict)
    }

    /// Reads the next game and records its positions; `None` at the end of the text.
    pub(super) fn next(&mut self, records: &mut Records) -> Option<Game<'a>> {
        loop {
            if !self.find_game() {
                return None;
            }
            let (start, rows) = (self.at, records.len());
            let later = self.quick && records.may_play_later() && self.played_now.binary_search(&start).is_err();
            let plays = if later { Plays::Later } else { Plays::Now };
            let game = self.game(records, plays, None).unwrap_or_else(|PlaysAgain| {
                records.truncate(rows);
                self.at = start;
                self.slow_until = start;
                self.game(records, Plays::Now, None).unwrap_or_default()
            });
            if game.is_some() {
                return game;
            }
        }
    }

    /// The tags of a section that stands apart from the moves.
    #[cfg(feature = "parquet")]
    pub(super) fn tags_of(&mut self, section: &'a [u8]) -> Tags<'a> {
        self.begin_text(section);
        self.tag_section()
    }

    /// Reads the game of a text that has no other, and whose tags are these; records its positions. What follows after
    /// its end is an error.
    #[cfg(feature = "parquet")]
    pub(super) fn only_game(
        &mut self,
        tags: &Tags<'a>,
        text: &'a [u8],
        later: bool,
        records: &mut Records,
    ) -> Game<'a> {
        let rows = records.len();
        let plays = if later && self.quick && records.may_play_later() { Plays::Later } else { Plays::Now };
        self.begin_text(text);
        let game = self.game(records, plays, Some(tags)).unwrap_or_else(|PlaysAgain| {
            records.truncate(rows);
            self.begin_text(text);
            self.game(records, Plays::Now, Some(tags)).unwrap_or_default()
        });
        // A text with tags, even without any, is a game.
        let mut game = game.unwrap_or_else(|| Game::without_moves(tags));
        game.tag_has_result = tags.verdict().is_some();
        if game.bad.is_none() && self.find_game() {
            let error = GameError::AfterEnd(shown(&text[self.at..]));
            game.bad = Some(Box::new(BadGame { error, offset: self.at, ply: game.plies, position: None }));
        }
        game.end = text.len();
        game
    }

    #[cfg(feature = "parquet")]
    fn begin_text(&mut self, text: &'a [u8]) {
        (self.bytes, self.at, self.slow_until, self.line) = (text, 0, 0, 0..0);
    }

    /// Reads the game that begins here; `None` if there are only leftovers of a game.
    ///
    /// # Errors
    /// If the moves were to be played later, and have to be played as they are read.
    fn game(
        &mut self,
        records: &mut Records,
        plays: Plays,
        tags_apart: Option<&Tags<'a>>,
    ) -> Result<Option<Game<'a>>, PlaysAgain> {
        let bytes = self.bytes;
        let start = self.at;
        let first_record = records.len();
        records.begin_game();
        let utf16 = is_utf16(&bytes[start..]);
        let tags = match tags_apart {
            Some(tags) => *tags,
            None if utf16 => Tags::new(&[], tags::Marked::default()),
            None => self.tag_section(),
        };
        if tags.has_comments() {
            records.has_more_text();
        }
        let start_board = start_board(&tags, self.strict);
        let board = match &start_board {
            Ok(start) => start.board,
            Err(_) => Board::new(&Position::standard()),
        };
        let mut state = State {
            board,
            before: board,
            ply: 0,
            record: None,
            record_before: None,
            branch: None,
            depth: 0,
            tagless: tags_apart.is_none() && !tags.has_any(),
            number: None,
            bad: None,
            skipped: None,
            has_piece_alone: false,
            plays: Plays::Now,
        };
        let mut has_start = false;
        let mut dropped_castling = 0;
        let mut has_fen_rest = false;
        let mut castles_as_chess960 = false;
        match start_board {
            Ok(start) => {
                castles_as_chess960 = start.castles_as_chess960;
                dropped_castling = start.dropped_castling;
                has_fen_rest = start.has_fen_rest;
                has_start = true;
                if plays == Plays::Later && !state.tagless && tags.fen().is_none() && tags.variant().is_none() {
                    state.plays = Plays::Later;
                    state.record = Some(records.push_start());
                } else {
                    state.record = Some(records.push(state.board, 0));
                }
            }
            Err(error) => {
                let offset = if tags_apart.is_some() { start } else { start + tags.start_offset() };
                state.bad = Some(Box::new(BadGame { error, offset, ply: 0, position: None }));
            }
        }
        if utf16 {
            self.at += 2;
            self.refuse(&mut state, GameError::Utf16, start);
        }
        let end = self.movetext(&mut state, &tags, records, start);
        // This must not depend on where the text ends: a chunk must decode to the same games as the whole file.
        let is_cut_off = || tags_apart.is_none() && tags.is_cut_off();
        if end == End::NextGame && state.ply == 0 && state.bad.is_none() && is_cut_off() {
            state.bad = Some(Box::new(BadGame { error: GameError::OpenTag, offset: start, ply: 0, position: None }));
        }
        if state.depth > 0 || !self.lines.is_empty() {
            self.refuse(&mut state, GameError::OpenVariation, self.at);
            if let Some(main) = self.lines.drain(..).next() {
                (state.board, state.ply) = (main.board, main.ply);
            }
        }
        if state.plays == Plays::Again {
            return Err(PlaysAgain);
        }
        let mut stray = false;
        let mut terminated = matches!(end, End::Result(..));
        let too_long = end == End::TooLong || self.at - start > self.max_record;
        if too_long {
            let from = start.saturating_add(self.max_record);
            let next = if tags_apart.is_some() { None } else { lex::resume(self.bytes, from, true) };
            self.at = next.unwrap_or(self.bytes.len());
            // The place where reading stopped depends on more than this game.
            terminated = lex::ends_with_result(bytes[start..self.at].trim_ascii_end());
            records.drop_game(first_record);
            has_start = false;
            state.ply = 0;
            state.bad = Some(Box::new(BadGame {
                error: GameError::TooLong(self.max_record),
                offset: start,
                ply: 0,
                position: None,
            }));
        } else if state.tagless && state.ply == 0 {
            // No move was played, so there is no position either.
            records.drop_game(first_record);
            has_start = false;
            let cut_off = self.truncated && self.at == bytes.len();
            if state.bad.is_none() {
                let error = if cut_off {
                    GameError::CutOff
                } else if tags.is_empty() {
                    return Ok(None);
                } else {
                    GameError::Token(shown(&bytes[start..]))
                };
                self.refuse(&mut state, error, start);
            }
            if let Some(bad) = &mut state.bad {
                stray = !cut_off && !bad.error.is_of_a_move();
                if stray {
                    bad.position = None;
                }
            }
        }
        Ok(Some(Game {
            start,
            end: self.at,
            tags,
            movetext: if tags_apart.is_some() { start } else { start + tags.len() },
            plies: state.ply,
            outcome: match end {
                End::Result(Verdict::Outcome(outcome), _) if !too_long => Some(outcome),
                _ => None,
            },
            tag_has_result: false,
            unequal: match end {
                End::Result(Verdict::Unequal, token) if !too_long => Some(&bytes[token]),
                _ => None,
            },
            terminated,
            stray,
            last: (has_start && state.plays == Plays::Now).then(|| state.board.position()),
            dropped_castling,
            castles_as_chess960,
            has_fen_rest,
            skipped: state.skipped,
            bad: state.bad,
        }))
    }

    /// Records the first error of the game.
    #[cold]
    fn refuse(&self, state: &mut State, error: GameError, offset: usize) {
        if state.plays != Plays::Now {
            state.plays = Plays::Again;
            return;
        }
        if state.bad.is_none() {
            state.bad =
                Some(Box::new(BadGame { error, offset, ply: state.ply, position: Some(state.board.position()) }));
        }
    }
}

/// Whether a text looks like UTF-16: it begins with its byte order mark, or has a zero in every other byte.
fn is_utf16(text: &[u8]) -> bool {
    match text {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [0, a, 0, b, ..] | [a, 0, b, 0, ..] => a.is_ascii_graphic() && b.is_ascii_graphic(),
        _ => false,
    }
}
