//! One game after another: the tag section, the movetext, and where the game ends.
//!
//! [`Games::next`] plays the moves of a game and records every position. Simple text is found by
//! [`Scan`] many moves ahead; everything else goes through [`Games::token`], one byte class at a time. A
//! game that cannot be read further is followed to its end by the same code, so that the next game begins
//! where it would have begun anyway.
//!
//! Text that has neither tags nor a move is not a game. Leftovers of a game (a second result, closing signs, a
//! variation after the result) are skipped; any other text is one [`BadGame`] without a position.

use super::lex::{self, Comment};
use super::records::Records;
use super::replay::{Board, Refused, San};
use super::scan::{ENOUGH, Scan};
use super::tags::{self, Tags};
use crate::chess::Position;
use crate::chess::fen::{self, Fen, FenError, FenOptions};
use crate::chess::validity::{Validity, Violations};
use crate::games::{Outcome, Variant};
use crate::simd::bmi2::Bmi2;
use std::collections::HashSet;
use std::ops::Range;

/// Deeper variations than these are not read.
const DEEPEST: u32 = 1000;
/// Longer games are not read: numbers of plies have sixteen bits, and no rules allow as many.
const MOST_PLIES: u32 = u16::MAX as u32;
/// Moves scanned at once after one that the fast path could not play.
const FEW: usize = 8;
/// Letters of a token that a message quotes.
const SHOWN: usize = 60;

/// Why a game cannot be read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// Another variant of chess.
    #[error("the variant `{0}` is neither standard chess nor Chess960")]
    Variant(String),
    /// The FEN tag does not parse.
    #[error("FEN tag: {0}")]
    Fen(FenError),
    /// The FEN tag is not a position that a game can start from.
    #[error("FEN tag: {0}")]
    Start(Violations),
    /// A move that no rule allows.
    #[error("illegal move `{0}`")]
    Illegal(String),
    /// A move that several pieces can make.
    #[error("ambiguous move `{0}`")]
    Ambiguous(String),
    /// A token that has no meaning in PGN.
    #[error("unexpected token `{0}`")]
    Token(String),
    /// A comment without end.
    #[error("the comment is not closed before the next game")]
    OpenComment,
    /// A variation without end.
    #[error("the variation is not closed before the game ends")]
    OpenVariation,
    /// The file is truncated within the game.
    #[error("the game is truncated, because the rest of the file cannot be read")]
    CutOff,
    /// A tag without end, and nothing after it.
    #[error("the tag pair is truncated by the end of the game")]
    OpenTag,
    /// Deeper nesting of variations than any real game has.
    #[error("more than {DEEPEST} levels of variations")]
    VariationTooDeep,
    /// More moves than any game can have.
    #[error("more than {MOST_PLIES} half-moves")]
    TooManyMoves,
    /// Moves that continue from an unknown position.
    #[error(
        "the moves begin with number {0}, and there is no FEN tag with the position before them"
    )]
    NoStart(u32),
    /// A game of more bytes than one may have.
    #[error("longer than {0} bytes; --max-record SIZE sets the limit")]
    TooLong(usize),
    /// Text of two bytes per letter.
    #[error("the text is UTF-16; convert it to UTF-8")]
    Utf16,
}

impl GameError {
    /// Whether it is about a move that can be parsed.
    fn is_of_a_move(&self) -> bool {
        matches!(self, Self::Illegal(_) | Self::Ambiguous(_))
    }

    /// Stable names in snake case, for counting rejects by reason.
    pub fn names(&self) -> Vec<&'static str> {
        vec![match self {
            Self::Variant(_) => "variant",
            Self::Fen(error) => error.expected.name(),
            Self::Start(violations) => return violations.names().collect(),
            Self::Illegal(_) => "illegal_move",
            Self::Ambiguous(_) => "ambiguous_move",
            Self::Token(_) => "bad_token",
            Self::OpenComment => "open_comment",
            Self::OpenVariation => "open_variation",
            Self::CutOff => "cut_off",
            Self::OpenTag => "open_tag",
            Self::VariationTooDeep => "variation_too_deep",
            Self::TooManyMoves => "too_many_moves",
            Self::NoStart(_) => "moves_after_result",
            Self::TooLong(_) => "record_too_long",
            Self::Utf16 => "utf16",
        }]
    }
}

/// Where and why a game cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadGame {
    /// Why.
    pub error: GameError,
    /// Offset of the token in the text.
    pub offset: usize,
    /// Plies played before it.
    pub ply: u32,
    /// The position at that place, if the game had one.
    pub position: Option<Position>,
}

/// A game as read.
#[derive(Clone, Debug)]
pub struct Game<'a> {
    /// Offset of its first byte in the text.
    pub start: usize,
    /// Offset of the byte after it.
    pub end: usize,
    /// Its tags.
    pub tags: Tags<'a>,
    /// Plies played in the main line.
    pub plies: u32,
    /// The result token at its end; `None` if it is missing or `*`.
    pub outcome: Option<Outcome>,
    /// Whether a result token (`*` included) ends it, rather than the next game or the end of the text.
    pub terminated: bool,
    /// Whether it is not a game but other text, which [`Game::bad`] explains: prose, or moves after a result.
    pub stray: bool,
    /// The last position of the main line, if the game had one.
    pub last: Option<Position>,
    /// Castling rights dropped from its `FEN` tag, because the king or the rook is elsewhere.
    pub dropped_castling: u64,
    /// What stopped the reading.
    pub bad: Option<Box<BadGame>>,
}

impl Game<'_> {
    /// How the game ended: by the token at its end, or else by its `Result` tag.
    pub fn result(&self) -> Option<Outcome> {
        self.outcome
            .or_else(|| Outcome::from_token(self.tags.get("Result")?))
    }

    /// Whether it has more bytes than a record may have.
    pub(super) fn is_too_long(&self) -> bool {
        let bad = self.bad.as_ref();
        bad.is_some_and(|bad| matches!(bad.error, GameError::TooLong(_)))
    }
}

/// Byte classes of movetext.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Digit,
    Move,
    Open,
    Glyph,
    Dash,
    Other,
}

static CLASS: [Class; 256] = {
    let mut table = [Class::Other; 256];
    const fn fill(table: &mut [Class; 256], bytes: &[u8], class: Class) {
        let mut index = 0;
        while index < bytes.len() {
            table[bytes[index] as usize] = class;
            index += 1;
        }
    }
    fill(&mut table, b" \t\r\n\x0B\x0C", Class::Blank);
    fill(&mut table, b"0123456789", Class::Digit);
    fill(&mut table, b"abcdefghijklmnopqrstuvwxyz", Class::Move);
    fill(&mut table, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", Class::Move);
    fill(&mut table, b"{", Class::Open);
    fill(&mut table, b".!?+#=/~<>^_|,", Class::Glyph);
    fill(&mut table, b"-", Class::Dash);
    table
};

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
}

/// The games of a text.
#[derive(Debug)]
pub struct Games<'a> {
    bytes: &'a [u8],
    at: usize,
    variations: bool,
    /// Whether only what the standard allows is read.
    strict: bool,
    /// The longest game in bytes.
    max_record: usize,
    /// Whether the text is truncated, so that its last part may have been a game.
    truncated: bool,
    lines: Vec<Line>,
    /// Whether main lines are scanned; variations need every token.
    quick: bool,
    bits: Option<Bmi2>,
    scan: Scan,
    /// Moves to scan at once.
    enough: usize,
    /// The end of the word that the fast path could not play; before it, nothing is scanned again.
    slow_until: usize,
    /// The part of a line, up to its end, in which no line feed was found.
    line: Range<usize>,
}

/// What ends the reading of movetext.
#[derive(PartialEq, Eq)]
enum End {
    Result(Option<Outcome>),
    NextGame,
    TooLong,
}

/// The game being read.
struct State {
    board: Board,
    /// The board before the last move.
    before: Board,
    ply: u32,
    record: Option<usize>,
    record_before: Option<usize>,
    /// Nesting of variations, skipped or walked.
    depth: u32,
    /// Whether no tag came before.
    tagless: bool,
    /// The first move number, and whether it is Black's.
    number: Option<(u32, bool)>,
    bad: Option<Box<BadGame>>,
}

impl<'a> Games<'a> {
    /// The games of a text; `variations` also records the positions of variations, and `strict` refuses
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
            enough: ENOUGH,
            slow_until: 0,
            line: 0..0,
        }
    }

    /// With the longest game in bytes, and whether the text is truncated at its end.
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
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | 0xEF | 0xBB | 0xBF);
        matches!(
            before.iter().rev().find(|byte| !blank(byte)),
            None | Some(b'\n')
        )
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

    /// Skips what may come between games; returns whether something else is here.
    fn find_game(&mut self) -> bool {
        let bytes = self.bytes;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' | b' ' | b'\t' | b'\r' => self.at += 1,
                // Byte order marks, end-of-file marks and other leftovers of tools.
                0xEF if bytes[self.at..].starts_with(b"\xEF\xBB\xBF") => self.at += 3,
                0xFF | 0x1A | 0x00 if !is_utf16(&bytes[self.at..]) => self.at += 1,
                b'%' if self.begins_line() => self.at = lex::line_end(bytes, self.at),
                b';' => self.at = lex::line_end(bytes, self.at),
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
    fn result(&self) -> Option<(Option<Outcome>, usize)> {
        result(&self.bytes[self.at..], self.strict)
    }

    /// The end of the line that contains `at`.
    fn line_end(&mut self, at: usize) -> usize {
        // Many games may stand in one line.
        if !self.line.contains(&at) {
            self.line = at..lex::line_end(self.bytes, at);
        }
        self.line.end
    }

    /// Reads the tag section that begins here, if there is one.
    fn tag_section(&mut self) -> Tags<'a> {
        let start = self.at;
        let mut end = start;
        let mut has_event = false;
        // Line feeds after the last tag.
        let mut feeds = 0;
        // Names of tags, once an empty line follows them.
        let mut names = HashSet::new();
        let bytes = self.bytes;
        let mut marked = tags::Marked::default();
        loop {
            match self.peek() {
                Some(b'[') => {
                    // Up to the end of the line, looking for further tags in it.
                    let mut line = lex::find2(bytes, self.at + 1, b'\n', b'[');
                    if bytes.get(line) == Some(&b'[') {
                        marked.crowd();
                        line = self.line_end(line);
                    }
                    let is_event = bytes[self.at..].starts_with(b"[Event ");
                    let empty_line = feeds >= 2;
                    if (is_event || empty_line) && end > start {
                        if is_event && (empty_line || has_event) || lex::begins_game(bytes, self.at)
                        {
                            break;
                        }
                        if empty_line {
                            if names.is_empty() {
                                add_names(bytes, start, &mut names, false);
                            }
                            if add_names(bytes, self.at, &mut names, true) {
                                break;
                            }
                        }
                    }
                    has_event |= is_event;
                    let text = &bytes[self.at..line];
                    marked.look(text, self.at - start);
                    let moves = tags::moves_after(text);
                    self.at = moves.map_or(line, |len| self.at + len);
                    end = self.at;
                    feeds = 0;
                    if moves.is_some() {
                        break;
                    }
                }
                Some(b'\n') => {
                    feeds += 1;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'%') if self.begins_line() => self.at = lex::line_end(bytes, self.at),
                Some(b';') => self.at = lex::line_end(bytes, self.at),
                _ => break,
            }
        }
        Tags::new(&bytes[start..end], marked)
    }

    /// Reads the next game and records its positions; `None` at the end of the text.
    pub(super) fn next(&mut self, records: &mut Records) -> Option<Game<'a>> {
        loop {
            if !self.find_game() {
                return None;
            }
            let game = self.game(records);
            if game.is_some() {
                return game;
            }
        }
    }

    /// Reads the game that begins here; `None` if it is only leftovers of a game.
    fn game(&mut self, records: &mut Records) -> Option<Game<'a>> {
        let bytes = self.bytes;
        let start = self.at;
        let first_record = records.len();
        let utf16 = is_utf16(&bytes[start..]);
        let tags = match utf16 {
            true => Tags::new(&[], tags::Marked::default()),
            false => self.tag_section(),
        };
        let board = Board::new(&Position::standard());
        let mut state = State {
            board,
            before: board,
            ply: 0,
            record: None,
            record_before: None,
            depth: 0,
            tagless: !tags.has_any(),
            number: None,
            bad: None,
        };
        let mut has_start = false;
        let mut dropped_castling = 0;
        match start_position(&tags, self.strict) {
            Ok(start) => {
                if let Some(start) = start {
                    state.board = Board::new(&start.position);
                    dropped_castling = start.dropped_castling;
                }
                has_start = true;
                state.before = state.board;
                state.record = Some(records.push(state.board, 0));
            }
            Err(error) => {
                let offset = start + tags.start_offset();
                state.bad = Some(Box::new(BadGame {
                    error,
                    offset,
                    ply: 0,
                    position: None,
                }));
            }
        }
        if utf16 {
            self.at += 2;
            self.refuse(&mut state, GameError::Utf16, start);
        }
        let end = self.movetext(&mut state, records, start);
        // Wherever the text ends or continues: a chunk must decode as the whole does.
        if end == End::NextGame && state.ply == 0 && state.bad.is_none() && tags.is_cut_off() {
            state.bad = Some(Box::new(BadGame {
                error: GameError::OpenTag,
                offset: start,
                ply: 0,
                position: None,
            }));
        }
        if state.depth > 0 || !self.lines.is_empty() {
            self.refuse(&mut state, GameError::OpenVariation, self.at);
            if let Some(main) = self.lines.drain(..).next() {
                (state.board, state.ply) = (main.board, main.ply);
            }
        }
        let mut stray = false;
        if end == End::TooLong || self.at - start > self.max_record {
            let rest = &bytes[start..];
            self.at = start + lex::resume(rest, self.max_record, true).unwrap_or(rest.len());
            records.truncate(first_record);
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
            records.truncate(first_record);
            has_start = false;
            let cut_off = self.truncated && self.at == bytes.len();
            if state.bad.is_none() {
                let error = match tags.is_empty() {
                    _ if cut_off => GameError::CutOff,
                    true => return None,
                    false => GameError::Token(shown(&bytes[start..])),
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
        Some(Game {
            start,
            end: self.at,
            tags,
            plies: state.ply,
            outcome: match end {
                End::Result(outcome) => outcome,
                End::NextGame | End::TooLong => None,
            },
            terminated: matches!(end, End::Result(_)),
            stray,
            last: has_start.then(|| state.board.position()),
            dropped_castling,
            bad: state.bad,
        })
    }

    /// Records the first error of the game, here or at this place.
    #[cold]
    fn refuse(&self, state: &mut State, error: GameError, offset: usize) {
        if state.bad.is_none() {
            state.bad = Some(Box::new(BadGame {
                error,
                offset,
                ply: state.ply,
                position: Some(state.board.position()),
            }));
        }
    }

    /// Whether tokens have any effect now.
    #[inline(always)]
    fn plays(&self, state: &State) -> bool {
        state.bad.is_none() && (state.depth == 0 || self.variations)
    }

    /// Reads movetext to the end of the game that begins at `start`.
    fn movetext(&mut self, state: &mut State, records: &mut Records, start: usize) -> End {
        let bytes = self.bytes;
        let limit = start.saturating_add(self.max_record);
        // Whether this is not a game so far: results have no meaning then.
        let mut garbage = state
            .bad
            .as_ref()
            .is_some_and(|bad| bad.error == GameError::Utf16);
        // A first line that is garbage may have been a tag: the following tags then belong to this game.
        let mut headless = false;
        loop {
            while self
                .peek()
                .is_some_and(|byte| CLASS[byte as usize] == Class::Blank)
            {
                self.at += 1;
            }
            if self.at > limit {
                return End::TooLong;
            }
            if self.at > start
                && self.peek() == Some(b'1')
                && self.begins_again(state, garbage && !headless)
            {
                return End::NextGame;
            }
            if self.quick
                && state.bad.is_none()
                && state.depth == 0
                && (state.ply > 0 || !state.tagless)
                && self.at >= self.slow_until
            {
                self.main_line(state, records, limit);
            }
            let Some(byte) = self.peek() else {
                return End::NextGame;
            };
            match byte {
                b'[' if self.begins_line() => {
                    let event = bytes[self.at..].starts_with(b"[Event ");
                    if !headless || event || self.follows_empty_line() {
                        return End::NextGame;
                    }
                    garbage = false;
                    self.at = lex::line_end(bytes, self.at);
                }
                b'*' | b'0' | b'1' | 0xC2 | 0xBD if state.depth == 0 && !garbage => {
                    match self.result() {
                        Some((outcome, len)) => {
                            self.at += len;
                            return End::Result(outcome);
                        }
                        None => self.token(byte, state, records),
                    }
                }
                _ => {
                    let was_good = state.bad.is_none();
                    let token = self.at;
                    self.token(byte, state, records);
                    if was_good && state.bad.is_some() && state.tagless && state.ply == 0 {
                        garbage = state.number.is_none()
                            && state
                                .bad
                                .as_ref()
                                .is_some_and(|bad| matches!(bad.error, GameError::Token(_)));
                        let line = &bytes[token..lex::line_end(bytes, token)];
                        headless = garbage && line.trim_ascii_end().ends_with(b"]");
                    }
                }
            }
        }
    }

    /// Whether the move number here begins a game without tags: the first number again, after an empty
    /// line. After `garbage` it may begin any line.
    fn begins_again(&self, state: &State, garbage: bool) -> bool {
        if self.at == 0 || self.bytes[self.at - 1] != b'\n' {
            return false;
        }
        if lex::begins_game(self.bytes, self.at) {
            return true;
        }
        lex::is_first_move(&self.bytes[self.at..])
            && (garbage
                || state.depth == 0
                    && (state.ply > 0
                        || state.tagless && state.number.is_some()
                        || state
                            .bad
                            .as_ref()
                            .is_some_and(|bad| bad.error.is_of_a_move()))
                    && self.follows_empty_line())
    }

    /// The moves of the main line, as far as they and the text between them are simple.
    fn main_line(&mut self, state: &mut State, records: &mut Records, limit: usize) {
        match self.bits {
            Some(bits) => bits.enter(
                #[inline(always)]
                || self.main_line_with(state, records, limit),
            ),
            None => self.main_line_with(state, records, limit),
        }
    }

    #[inline(always)]
    fn main_line_with(&mut self, state: &mut State, records: &mut Records, limit: usize) {
        let bytes = self.bytes;
        let commands = records.requested_commands();
        let mut board = state.board;
        let mut ply = state.ply;
        let mut row = state.record;
        let mut before = state.record_before;
        let mut more = true;
        while more {
            self.scan.clear();
            let (end, stops) = self.scan.fill(bytes, self.at, commands, self.enough);
            if ply as usize + self.scan.starts().len() > MOST_PLIES as usize {
                break;
            }
            self.enough = (2 * self.enough).min(ENOUGH);
            self.at = end;
            more = !stops && end <= limit;
            let mut commands = self.scan.commands.iter().peekable();
            let moves = self.scan.starts().iter().zip(self.scan.ends());
            for (number, (&start, &end)) in moves.enumerate() {
                while let Some(command) = commands.next_if(|next| next.moves as usize <= number) {
                    records.command(bytes, command.at as usize, row, before);
                }
                let at = start as usize;
                let Some((next, bits)) = quick_move(bytes, at, (end - start) as usize, board)
                else {
                    self.at = at;
                    self.enough = FEW;
                    self.slow_until = end as usize;
                    commands = [].iter().peekable();
                    more = false;
                    break;
                };
                board = next;
                ply += 1;
                before = row;
                records.played(before, bits);
                row = Some(records.push(board, ply));
            }
            for command in commands {
                records.command(bytes, command.at as usize, row, before);
            }
        }
        state.board = board;
        state.ply = ply;
        state.record = row;
        state.record_before = before;
    }

    /// Any token but a result of the main line or a tag at the beginning of a line.
    fn token(&mut self, byte: u8, state: &mut State, records: &mut Records) {
        let bytes = self.bytes;
        let start = self.at;
        match CLASS[byte as usize] {
            Class::Blank => self.at += 1,
            Class::Digit => self.number(state, records),
            Class::Move => {
                let end = self.word_end(start);
                self.san(end, state, records);
            }
            Class::Open => match lex::comment(bytes, start) {
                Comment::Closed(end) => {
                    if self.plays(state) {
                        records.comment(&bytes[start + 1..end], state.record, state.record_before);
                    }
                    self.at = end + 1;
                }
                Comment::Open(end) => {
                    self.refuse(state, GameError::OpenComment, start);
                    self.at = end;
                }
            },
            Class::Glyph if self.strict && !matches!(byte, b'.' | b'!' | b'?') => {
                self.refuse_token(state, start + 1);
            }
            Class::Glyph => self.at += 1,
            Class::Dash if bytes[start..].starts_with(b"--") => {
                self.null_move(start + 2, state, records);
            }
            Class::Dash if self.strict => self.refuse_token(state, start + 1),
            Class::Dash => self.at += 1,
            Class::Other => self.odd(byte, state, records),
        }
    }

    /// A move number, or another token that begins with a digit.
    fn number(&mut self, state: &mut State, records: &mut Records) {
        let bytes = self.bytes;
        let start = self.at;
        let rest = &bytes[start..];
        if rest.starts_with(b"0-0") {
            let word = &rest[..word_len(&rest[..rest.len().min(16)])];
            let castles = without_result(word).unwrap_or(word);
            if matches!(trim_signs(castles), b"0-0" | b"0-0-0") {
                self.san(start + castles.len(), state, records);
                return;
            }
        }
        if rest.starts_with(b"0000") && !rest.get(4).is_some_and(u8::is_ascii_alphanumeric) {
            self.null_move(start + 4, state, records);
            return;
        }
        self.skip_digits();
        if let Some((_, len)) = result(rest, self.strict) {
            // Within a variation.
            self.at = start + len;
        } else if state.number.is_none() && state.ply == 0 && state.depth == 0 {
            let digits = &bytes[start..self.at];
            let number = digits.iter().fold(0u32, |number, digit| {
                number
                    .saturating_mul(10)
                    .saturating_add(u32::from(digit - b'0'))
            });
            let after = &bytes[self.at..];
            let dots = after.strip_prefix(b".").unwrap_or(after).trim_ascii_start();
            let black = after.starts_with("…".as_bytes()) || dots.starts_with(b"..");
            if after.starts_with(b".") || black {
                state.number = Some((number, black));
            }
        }
    }

    /// Tokens that begin with an unusual byte.
    fn odd(&mut self, byte: u8, state: &mut State, records: &mut Records) {
        let bytes = self.bytes;
        let start = self.at;
        match byte {
            b'(' => {
                self.at += 1;
                if state.depth == DEEPEST {
                    self.refuse(state, GameError::VariationTooDeep, start);
                }
                if self.variations && state.bad.is_none() {
                    self.lines.push(Line {
                        board: state.board,
                        before: state.before,
                        ply: state.ply,
                        record: state.record,
                        record_before: state.record_before,
                    });
                    state.board = state.before;
                    state.ply = state.ply.saturating_sub(1);
                    // The move that the variation replaces stays the move of its position.
                    state.record = None;
                    state.record_before = None;
                }
                state.depth = state.depth.saturating_add(1);
            }
            b')' => {
                self.at += 1;
                state.depth = state.depth.saturating_sub(1);
                if let Some(line) = (state.bad.is_none()).then(|| self.lines.pop()).flatten() {
                    state.board = line.board;
                    state.before = line.before;
                    state.ply = line.ply;
                    state.record = line.record;
                    state.record_before = line.record_before;
                }
            }
            b';' => self.at = lex::line_end(bytes, start),
            b'%' if self.begins_line() => self.at = lex::line_end(bytes, start),
            b'$' => {
                self.at += 1;
                self.skip_digits();
            }
            b'*' => self.at += 1,
            0xEF if bytes[start..].starts_with(b"\xEF\xBB\xBF") => self.at += 3,
            0xFF | 0x1A | 0x00 => self.at += 1,
            b'@' if bytes[start..].starts_with(b"@@@@") => {
                self.null_move(start + 4, state, records);
            }
            _ if is_figurine(&bytes[start..]) => {
                let end = self.word_end(start);
                self.san(end, state, records);
            }
            b'}' if !self.strict => self.at += 1,
            0x80.. if !self.strict => match symbol(&bytes[start..]) {
                Some(len) => self.at += len,
                None => self.refuse_token(state, start + 1),
            },
            _ => {
                // Figurines and lower-case piece letters also begin a move.
                let end = self.word_end(start).max(start + 1);
                if self.strict {
                    self.refuse_token(state, end);
                } else {
                    self.san(end, state, records);
                }
            }
        }
    }

    /// The end of the word at `at`: a move or something in its place.
    fn word_end(&self, at: usize) -> usize {
        at + word_len(&self.bytes[at..])
    }

    /// Refuses the token that ends at `end`, unless it is skipped anyway.
    #[cold]
    fn refuse_token(&mut self, state: &mut State, end: usize) {
        let start = self.at;
        self.at = end;
        if self.plays(state) {
            let token = shown(&self.bytes[start..]);
            self.refuse(state, GameError::Token(token), start);
        }
    }

    /// Whether a move may be played from here; refuses it if that is known without parsing it.
    fn may_move(&mut self, start: usize, state: &mut State) -> bool {
        let error = match state.number {
            Some((number, black))
                if state.tagless && state.ply == 0 && state.depth == 0 && (number > 1 || black) =>
            {
                GameError::NoStart(number)
            }
            _ if state.ply >= MOST_PLIES => GameError::TooManyMoves,
            _ => return true,
        };
        self.refuse(state, error, start);
        false
    }

    /// Plays the move that ends at `end`.
    fn san(&mut self, end: usize, state: &mut State, records: &mut Records) {
        let start = self.at;
        self.at = end;
        let word = &self.bytes[start..end];
        if !self.plays(state) {
            if state.depth == 0
                && let Some(word) = without_result(word)
            {
                self.at = start + word.len();
            }
            return;
        }
        let text = trim_signs(word);
        if is_null(text) {
            self.at = start;
            self.null_move(end, state, records);
            return;
        }
        if is_remark(text) {
            if self.strict {
                self.at = start;
                self.refuse_token(state, end);
            }
            return;
        }
        if !self.may_move(start, state) {
            return;
        }
        let board = state.board;
        let mut played = play(board, text, self.strict);
        if matches!(played, Err(Refused::Syntax)) && !self.strict {
            // A result, a remark or an evaluation without a blank before it.
            if let Some(word) = without_result(word) {
                played = play(board, trim_remarks(word), false);
                self.at = start + word.len();
            } else if trim_remarks(text).len() < text.len() {
                played = play(board, trim_remarks(text), false);
            }
        }
        match played {
            Ok((board, bits)) => {
                records.played(state.record, bits);
                self.step(board, state, records);
            }
            Err(refused) => {
                let token = shown(&self.bytes[start..]);
                let error = match refused {
                    Refused::Illegal => GameError::Illegal(token),
                    Refused::Ambiguous => GameError::Ambiguous(token),
                    Refused::Syntax => GameError::Token(token),
                };
                self.refuse(state, error, start);
            }
        }
    }

    /// A null move, which ends at `end`.
    fn null_move(&mut self, end: usize, state: &mut State, records: &mut Records) {
        let start = self.at;
        if self.strict {
            self.refuse_token(state, end);
            return;
        }
        self.at = end;
        if !self.plays(state) || !self.may_move(start, state) {
            return;
        }
        match state.board.null_move() {
            Ok(board) => self.step(board, state, records),
            Err(_) => {
                let token = shown(&self.bytes[start..]);
                self.refuse(state, GameError::Illegal(token), start);
            }
        }
    }

    /// Advances to the position after a move.
    fn step(&self, board: Board, state: &mut State, records: &mut Records) {
        state.before = state.board;
        state.board = board;
        state.ply += 1;
        state.record_before = state.record;
        state.record = Some(records.push(board, state.ply));
    }
}

/// The result token that a text begins with, and its length.
fn result(rest: &[u8], strict: bool) -> Option<(Option<Outcome>, usize)> {
    let (token, outcome): (&[u8], _) = match rest.first()? {
        b'*' => return Some((None, 1)),
        b'0' => (b"0-1", Outcome::Black),
        b'1' if rest.starts_with(b"1-") => (b"1-0", Outcome::White),
        b'1' if rest.starts_with(b"1/2-1/2") => (b"1/2-1/2", Outcome::Draw),
        b'1' if !strict => (b"1/2", Outcome::Draw),
        _ if strict => return None,
        0xBD => (b"\xBD-\xBD", Outcome::Draw),
        _ => ("½-½".as_bytes(), Outcome::Draw),
    };
    let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'.'));
    (rest.starts_with(token) && rest.get(token.len()).is_none_or(ends))
        .then_some((Some(outcome), token.len()))
}

/// The length of the word that a text begins with.
fn word_len(text: &[u8]) -> usize {
    let mut len = 0;
    loop {
        let rest = &text[len..];
        len += rest.iter().position(ends_word).unwrap_or(rest.len());
        match sign_in_word(&text[len..]) {
            Some(sign) => len += sign,
            None => break,
        }
    }
    // A promotion in parentheses.
    match text[len..] {
        [b'(', b'N' | b'B' | b'R' | b'Q', b')', ..] => len + 3,
        _ => len,
    }
}

fn ends_word(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || *byte >= 0x80 || b"{}();[]$*,".contains(byte)
}

/// A word without the result at its end, `None` if there is none or nothing else.
fn without_result(word: &[u8]) -> Option<&[u8]> {
    [&b"1/2-1/2"[..], b"1-0", b"0-1"]
        .iter()
        .filter_map(|result| word.strip_suffix(*result))
        .find(|word| !word.is_empty())
}

/// Whether a word in the place of a move is a null move.
fn is_null(text: &[u8]) -> bool {
    matches!(text, b"Z0" | b"null" | b"pass")
}

/// Whether a word belongs to the move before (check, mate, en passant), or denotes a novelty or a diagram.
fn is_remark(text: &[u8]) -> bool {
    let text = text.strip_suffix(b".").unwrap_or(text);
    REMARKS.contains(&text) || matches!(text, b"N" | b"TN" | b"D" | b"dis.ch" | b"dbl.ch")
}

/// Words that may follow a move.
const REMARKS: [&[u8]; 6] = [b"ch", b"mate", b"dis", b"dbl", b"ep", b"e.p"];

/// Without remarks and evaluations at the end.
fn trim_remarks(mut text: &[u8]) -> &[u8] {
    loop {
        let before = text;
        while let [rest @ .., byte] = text
            && b"+#!?-=/~<>^_|.".contains(byte)
        {
            text = rest;
        }
        for remark in REMARKS {
            text = text.strip_suffix(remark).unwrap_or(text);
        }
        if text.len() == before.len() {
            return text;
        }
    }
}

/// Whether a text begins with the sign of a chess piece, `♔` to `♟`.
fn is_figurine(text: &[u8]) -> bool {
    matches!(text, [0xE2, 0x99, 0x94..=0x9F, ..])
}

/// The length of the prefix of a text that may be part of a move: a figurine and a variation selector,
/// `×`, and a dash followed by a square.
fn sign_in_word(text: &[u8]) -> Option<usize> {
    match text {
        [0xE2, 0x99, 0x94..=0x9F, ..] | [0xEF, 0xB8, 0x8E | 0x8F, ..] => Some(3),
        [0xE2, 0x80, 0x90..=0x95, b'a'..=b'h', ..] => Some(3),
        [0xC3, 0x97, ..] => Some(2),
        _ => None,
    }
}

/// The length of the blank or sign that a text begins with: a non-letter, in UTF-8 or ISO-8859-1.
fn symbol(text: &[u8]) -> Option<usize> {
    let head = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    match valid.chars().next() {
        Some(
            '\u{80}'..='\u{A9}' | '\u{AB}'..='\u{B4}' | '\u{B6}'..='\u{B9}' | '\u{BB}'..='\u{BF}',
        )
        | Some('×' | '÷' | 'Δ' | '\u{FEFF}' | '\u{FE0E}' | '\u{FE0F}' | '\u{FFFD}')
        | Some('\u{2000}'..='\u{206F}' | '\u{2190}'..='\u{27FF}' | '\u{2900}'..='\u{2BFF}')
        | Some('\u{3000}'..='\u{3002}') => valid.chars().next().map(char::len_utf8),
        Some(_) => None,
        // ISO-8859-1, and dashes, quotes and dots of Windows-1252.
        None => matches!(text.first(), Some(0x80..=0xBF | 0xD7 | 0xF7)).then_some(1),
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

/// The token that a text begins with, as quoted in a message.
fn shown(text: &[u8]) -> String {
    let ends = |&at: &usize| text[at] < 0x80 && ends_word(&text[at]);
    let len = (1..text.len()).find(ends).unwrap_or(text.len());
    let mut shown: String = String::from_utf8_lossy(&text[..len.min(4 * SHOWN)])
        .chars()
        .map(|letter| match letter.is_control() {
            true => '\u{FFFD}',
            false => letter,
        })
        .take(SHOWN)
        .collect();
    if len > shown.len() {
        shown.push('…');
    }
    shown
}

/// Adds the names of the tags of a paragraph; with `stop`, nothing is added if one is already present, and
/// the return value is whether that is so.
fn add_names<'a>(bytes: &'a [u8], at: usize, names: &mut HashSet<&'a [u8]>, stop: bool) -> bool {
    let paragraph = || {
        bytes[at..]
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .take_while(|line| matches!(line.first(), Some(b'[' | b'%' | b';')))
            .filter(|line| line.starts_with(b"["))
            .map(tags::name)
    };
    if stop && paragraph().any(|name| names.contains(name)) {
        return true;
    }
    names.extend(paragraph());
    false
}

/// Plays a move as written, without signs at its end.
#[cold]
fn play(board: Board, text: &[u8], strict: bool) -> Result<(Board, u16), Refused> {
    let quick = (text.len() >= 2 && text.len() <= 8)
        .then(|| {
            let mut word = [0; 8];
            word[..text.len()].copy_from_slice(text);
            San::decode(u64::from_le_bytes(word), text.len())
        })
        .flatten();
    quick
        .map_or(Err(Refused::Syntax), |san| board.play(san))
        .or_else(|_| board.play_spelled(text, strict))
}

/// Plays a move of this many bytes on the fast path, if that finds exactly one legal move.
#[inline(always)]
fn quick_move(bytes: &[u8], at: usize, len: usize, board: Board) -> Option<(Board, u16)> {
    let word = lex::word(bytes, at)?;
    if !(2..=8).contains(&len) {
        return None;
    }
    let played = match San::decode(word, len) {
        Some(san) => board.play(san),
        None if len == 3 && word << 40 == u64::from_le_bytes(*b"\0\0\0\0\0O-O") => {
            board.castle(true)
        }
        None if len == 5 && word << 24 == u64::from_le_bytes(*b"\0\0\0O-O-O") => {
            board.castle(false)
        }
        None => return None,
    };
    played.ok()
}

/// Without check and annotation signs at the end.
fn trim_signs(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b'+' | b'#' | b'!' | b'?'] = text {
        text = rest;
    }
    text
}

/// The position of the FEN tag, or `None` for the standard one.
fn start_position<'a>(tags: &Tags<'a>, strict: bool) -> Result<Option<Fen<'a>>, GameError> {
    if let Some(variant) = tags.variant()
        && Variant::from_tag(variant).is_none()
    {
        return Err(GameError::Variant(
            String::from_utf8_lossy(variant).into_owned(),
        ));
    }
    let Some(text) = tags.fen() else {
        return Ok(None);
    };
    let start = match strict {
        true => fen::parse(text, FenOptions::default()),
        false => fen::parse_tag(text),
    };
    let start = start.map_err(GameError::Fen)?;
    let violations = start.position.violations(Validity::Playable);
    if !violations.is_empty() {
        return Err(GameError::Start(violations));
    }
    Ok(Some(start))
}

#[cfg(test)]
mod tests {
    use super::super::records::Requested;
    use super::*;
    use crate::table::Fields;
    use proptest::prelude::*;

    /// Everything read from a text, with main lines scanned or token by token.
    fn read(text: &[u8], quick: bool) -> String {
        let requested = Requested {
            moves: true,
            plies: true,
            scores: true,
            clocks: true,
        };
        let mut records = Records::new(requested, text.len());
        let mut games = Games::new(text, false, false);
        games.quick = quick;
        let mut read = String::new();
        while let Some(game) = games.next(&mut records) {
            let Game {
                start, end, plies, ..
            } = game;
            let last = game.last.map(|last| last.to_string());
            let (bad, outcome) = (game.bad, game.outcome);
            read += &format!("{start}..{end} {plies} {outcome:?} {last:?} {bad:?}\n");
        }
        let batch = records.into_batch(Fields::ALL);
        for row in 0..batch.len() {
            let position = batch.position(row).map(|position| position.to_string());
            read += &format!("{position:?}");
            for values in batch.fields.values() {
                read += &format!(" {:?}", values.number(row));
            }
            read.push('\n');
        }
        read
    }

    /// A game whose moves are all legal in this order.
    const MOVES: [&str; 24] = [
        "e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7", "Re1", "b5", "Bb3",
        "d6", "c3", "O-O", "h3", "Nb8", "d4", "Nbd7", "c4", "c6", "cxb5", "axb5",
    ];
    const USUAL: [&str; 8] = [
        " ",
        "\n",
        " { [%eval 0.17] [%clk 0:05:00] } ",
        " { [%clk 0:05:00] } 1... ",
        " 12. ",
        "! ",
        " 3.",
        "{a comment that is longer than one block of sixty-four bytes, which is where scans are cut}",
    ];
    const ODD: [&str; 50] = [
        "(",
        ")",
        " (e4 e5) ",
        "$1 ",
        " $14",
        "+",
        "#",
        "!?",
        " 1-0 ",
        " 0-1",
        " *",
        " 1/2-1/2 ",
        "\n\n",
        "\n%escape\n",
        " ;rest of line\n",
        "\n[Event \"x\"]\n\n",
        "{",
        "}",
        "{two\nlines}",
        " {lost\n\n[Event \"y\"]\n\n",
        " 0-0 ",
        " e.p. ",
        " -- ",
        " 12abc",
        ".",
        "..",
        "-",
        " =",
        " e8=Q ",
        "\u{a0}",
        " Nbxd7",
        " {[%eval #3]",
        " {[%eval [%eval 2.5] [%e",
        "[%clk 1",
        " {[%clk\n0:01:00]}",
        " {[%clk  0:01:00] [%clk 0:02:00]}",
        " {[%eval\t0.3] [%eval #-2]}",
        " {[%eval\r\n #3,\n20]}",
        "\t",
        "\n\n1. d4 ",
        "\n1. d4 ",
        "\r\n \r\n1.e4 e5",
        "\n 5. ",
        " 0000 ",
        " null",
        "-----",
        " e41-0 ",
        " 0-01-0",
        " Nf3ch ",
        " e9",
    ];

    proptest! {
        #[test]
        fn scanned_lines_are_read_like_tokens(
            picks in prop::collection::vec((0..100u8, any::<prop::sample::Index>()), 0..80)
        ) {
            let mut moves = MOVES.iter();
            let mut text = String::new();
            for (kind, index) in picks {
                text += match kind {
                    0..8 => *index.get(&ODD),
                    8..12 => *index.get(&MOVES),
                    _ => moves.next().copied().unwrap_or(" "),
                };
                text += if kind % 10 == 0 { "" } else { *index.get(&USUAL) };
            }
            prop_assert_eq!(read(text.as_bytes(), true), read(text.as_bytes(), false), "{}", text);
        }
    }
}
