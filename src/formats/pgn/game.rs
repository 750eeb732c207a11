//! One game after another: the tag section, the movetext, and where the game ends.
//!
//! [`Games::next`] plays the moves of a game and records every position. What needs no thought is found by
//! [`Scan`] many moves ahead; everything else goes through [`Games::token`], one byte class at a time. A
//! game that cannot be read further is followed to its end with the same eyes, so that the next game begins
//! where it would have begun anyway.

use super::lex::{self, Comment};
use super::records::Records;
use super::replay::{Board, Refused, San};
use super::scan::Scan;
use super::tags::{self, Tags, Variant};
use crate::chess::Position;
use crate::chess::fen::{self, Fen, FenError, FenOptions};
use crate::chess::validity::{Validity, Violations};
use crate::simd::bmi2::Bmi2;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// White won.
    White,
    /// Black won.
    Black,
    /// Nobody won.
    Draw,
}

impl Outcome {
    /// The token of PGN.
    pub const fn token(self) -> &'static str {
        match self {
            Self::White => "1-0",
            Self::Black => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }
    /// 0 Black won, 1 draw, 2 White won: the code of [`crate::batch::Field::Result`].
    pub const fn code(self) -> u8 {
        match self {
            Self::Black => 0,
            Self::Draw => 1,
            Self::White => 2,
        }
    }
    /// The outcome of a token or tag, `None` for `*` and anything else.
    pub fn from_token(token: &[u8]) -> Option<Self> {
        match token {
            b"1-0" => Some(Self::White),
            b"0-1" => Some(Self::Black),
            b"1/2-1/2" | b"1/2" => Some(Self::Draw),
            _ => None,
        }
    }
}

/// Why a game cannot be read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// Another variant of chess.
    #[error("the variant `{0}` is neither standard chess nor Chess960")]
    Variant(String),
    /// The FEN tag does not parse.
    #[error("the FEN tag: {0}")]
    Fen(FenError),
    /// The FEN tag is no position that a game can start from.
    #[error("the FEN tag: {0}")]
    Start(Violations),
    /// A move that no rule allows.
    #[error("illegal move `{0}`")]
    Illegal(String),
    /// A move that several pieces can make.
    #[error("ambiguous move `{0}`")]
    Ambiguous(String),
    /// A token that means nothing in PGN.
    #[error("`{0}` is neither a move nor anything else of PGN")]
    Token(String),
    /// A comment without end.
    #[error("the comment is not closed before the next game")]
    OpenComment,
    /// A variation without end.
    #[error("the variation is not closed before the game ends")]
    OpenVariation,
    /// The file breaks off within the game.
    #[error("the game is cut off, because the rest of the file cannot be read")]
    CutOff,
    /// A tag without end, last in the text.
    #[error("the tag pair is cut off by the end of the text")]
    OpenTag,
}

impl GameError {
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
    /// The position in which it stands, if the game had one.
    pub position: Option<Position>,
}

/// A game as it was read.
#[derive(Clone, Debug)]
pub struct Game<'a> {
    /// Offset of its first byte in the text.
    pub start: usize,
    /// Offset of the byte after it.
    pub end: usize,
    /// Its tags.
    pub tags: Tags<'a>,
    /// Plies of the main line that were played.
    pub plies: u32,
    /// The result token at its end; `None` where it is missing or `*`.
    pub outcome: Option<Outcome>,
    /// The last position of the main line, if the game had one.
    pub last: Option<Position>,
    /// Castling rights of its `FEN` tag that were dropped, because the king or the rook is elsewhere.
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
    fill(&mut table, b"abcdefghNBRQKOPZop", Class::Move);
    fill(&mut table, b"{", Class::Open);
    fill(&mut table, b".!?+#=/~<>^_|,", Class::Glyph);
    fill(&mut table, b"-", Class::Dash);
    table
};

/// A line of moves that a variation has interrupted.
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
    /// Whether an empty line or the beginning of the text came after the last game.
    after_blank: bool,
    variations: bool,
    /// Whether only what the standard allows is read.
    strict: bool,
    lines: Vec<Line>,
    /// Whether main lines are scanned; variations need to know of every token.
    quick: bool,
    bits: Option<Bmi2>,
    scan: Scan,
}

/// What ends the reading of movetext.
enum End {
    Result(Option<Outcome>),
    NextGame,
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
    bad: Option<Box<BadGame>>,
}

impl<'a> Games<'a> {
    /// The games of a text; `variations` records the positions of variations, too, and `strict` refuses
    /// what the standard does not allow.
    pub fn new(bytes: &'a [u8], variations: bool, strict: bool) -> Self {
        Self {
            bytes,
            at: 0,
            after_blank: true,
            variations,
            strict,
            lines: Vec::new(),
            quick: !variations,
            bits: Bmi2::detect(),
            scan: Scan::default(),
        }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Whether only blanks stand between the beginning of the line and here.
    fn begins_line(&self) -> bool {
        let before = &self.bytes[..self.at];
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | 0xEF | 0xBB | 0xBF);
        matches!(
            before.iter().rev().find(|byte| !blank(byte)),
            None | Some(b'\n')
        )
    }

    /// Whether an empty line stands before the line that begins here.
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

    /// Passes what may stand between games; whether a game begins here.
    fn find_game(&mut self) -> bool {
        let mut feeds = 0;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    feeds += 1;
                    self.after_blank |= feeds >= 2;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                // Byte order mark, end-of-file marks and other leftovers of tools.
                0xEF if self.bytes[self.at..].starts_with(b"\xEF\xBB\xBF") => self.at += 3,
                0xFF | 0x1A | 0x00 => self.at += 1,
                b'%' if self.begins_line() => self.at = lex::line_end(self.bytes, self.at),
                b';' => self.at = lex::line_end(self.bytes, self.at),
                b'{' => {
                    feeds = 0;
                    self.at = match lex::comment(self.bytes, self.at) {
                        Comment::Closed(end) => end + 1,
                        Comment::Open(end) => end,
                    };
                }
                b'[' => return true,
                b'*' | b'0' | b'1' if !self.after_blank && self.result().is_some() => {
                    feeds = 0;
                    let (_, len) = self.result().unwrap_or((None, 1));
                    self.at += len;
                }
                b')' | b'!' | b'?' | b'+' | b'#' | b'=' if !self.after_blank => self.at += 1,
                b'$' if !self.after_blank => {
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
        result(&self.bytes[self.at..])
    }

    /// Reads the tag section that begins here, if one does.
    fn tag_section(&mut self) -> Tags<'a> {
        let start = self.at;
        let mut end = start;
        let mut first: Option<&[u8]> = None;
        let mut empty_line = false;
        let bytes = self.bytes;
        let mut marked = tags::Marked::default();
        loop {
            match self.peek() {
                Some(b'[') => {
                    // Up to the end of the line, with an eye on further tags in it.
                    let mut line = lex::find2(bytes, self.at + 1, b'\n', b'[');
                    if bytes.get(line) == Some(&b'[') {
                        marked.crowd();
                        line = lex::line_end(bytes, line);
                    }
                    if empty_line {
                        let name = tags::name(&bytes[self.at..line]);
                        if name == b"Event" || Some(name) == first.map(tags::name) {
                            break;
                        }
                    } else if first.is_some() && bytes[self.at..].starts_with(b"[Event ") {
                        let section = Tags::new(&bytes[start..end], marked);
                        if section.get("Event").is_some() {
                            break;
                        }
                    }
                    let text = &bytes[self.at..line];
                    first.get_or_insert(text);
                    marked.look(text, self.at - start);
                    let moves = tags::moves_after(text);
                    self.at = moves.map_or(line, |len| self.at + len);
                    end = self.at;
                    empty_line = false;
                    if moves.is_some() {
                        break;
                    }
                }
                Some(b'\n') => {
                    empty_line = bytes.get(self.at + 1).is_some_and(|byte| {
                        *byte == b'\n' || bytes[self.at + 1..].starts_with(b"\r\n")
                    }) || empty_line;
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
        if !self.find_game() {
            return None;
        }
        let start = self.at;
        let tags = self.tag_section();
        let mut state = State {
            board: Board::new(&Position::standard()),
            before: Board::new(&Position::standard()),
            ply: 0,
            record: None,
            record_before: None,
            depth: 0,
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
        if state.bad.is_none() && tags.is_cut_off() && self.at == self.bytes.len() {
            state.bad = Some(Box::new(BadGame {
                error: GameError::OpenTag,
                offset: start,
                ply: 0,
                position: None,
            }));
        }
        let end = self.movetext(&mut state, records, tags.is_empty());
        if state.depth > 0 || !self.lines.is_empty() {
            self.refuse(&mut state, GameError::OpenVariation, self.at);
            if let Some(main) = self.lines.drain(..).next() {
                (state.board, state.ply) = (main.board, main.ply);
            }
        }
        let outcome = match end {
            End::Result(outcome) => outcome,
            End::NextGame => None,
        };
        self.after_blank = false;
        Some(Game {
            start,
            end: self.at,
            tags,
            plies: state.ply,
            outcome,
            last: has_start.then(|| state.board.position()),
            dropped_castling,
            bad: state.bad,
        })
    }

    /// Marks the game as bad, here or at the first such place.
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

    /// Whether tokens change anything now.
    #[inline(always)]
    fn plays(&self, state: &State) -> bool {
        state.bad.is_none() && (state.depth == 0 || self.variations)
    }

    /// Reads movetext to the end of the game. `tagless` says that no tag section came before.
    fn movetext(&mut self, state: &mut State, records: &mut Records, tagless: bool) -> End {
        // A first line that is garbage may have been a tag: those that follow then belong to this game.
        let mut headless = false;
        loop {
            if self.quick && state.bad.is_none() && state.depth == 0 {
                self.main_line(state, records);
            }
            let Some(byte) = self.peek() else {
                return End::NextGame;
            };
            match byte {
                b'[' if self.begins_line() => {
                    let event = self.bytes[self.at..].starts_with(b"[Event ");
                    if !headless || event || self.follows_empty_line() {
                        return End::NextGame;
                    }
                    self.at = lex::line_end(self.bytes, self.at);
                }
                b'*' | b'0' | b'1' if state.depth == 0 => match self.result() {
                    Some((outcome, len)) => {
                        self.at += len;
                        return End::Result(outcome);
                    }
                    None => self.token(byte, state, records),
                },
                _ => {
                    self.token(byte, state, records);
                    headless |= tagless && state.ply == 0 && state.bad.is_some();
                }
            }
        }
    }

    /// The moves of the main line, as far as they and what stands between them need no thought.
    fn main_line(&mut self, state: &mut State, records: &mut Records) {
        match self.bits {
            Some(bits) => bits.enter(
                #[inline(always)]
                || self.main_line_with(state, records),
            ),
            None => self.main_line_with(state, records),
        }
    }

    #[inline(always)]
    fn main_line_with(&mut self, state: &mut State, records: &mut Records) {
        let bytes = self.bytes;
        let commands = records.commands_wanted();
        let mut board = state.board;
        let mut ply = state.ply;
        let mut row = state.record;
        let mut before = state.record_before;
        let mut more = true;
        while more {
            self.scan.clear();
            let (end, stops) = self.scan.fill(bytes, self.at, commands);
            self.at = end;
            more = !stops;
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
            Class::Blank => {
                self.at += 1;
                if byte == b'\n' && self.peek() == Some(b'%') {
                    self.at = lex::line_end(bytes, self.at);
                }
            }
            Class::Digit => {
                let zeros = self.word_end(start);
                let castles = matches!(trim_signs(&bytes[start..zeros]), b"0-0" | b"0-0-0");
                if castles {
                    self.san(zeros, state, records);
                } else {
                    self.skip_digits();
                    if let Some((_, len)) = result(&bytes[start..]) {
                        // Within a variation.
                        self.at = start + len;
                    }
                }
            }
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
            Class::Glyph => self.at += 1,
            Class::Dash => {
                if bytes[start..].starts_with(b"--") {
                    self.at += 2;
                    self.null_move(start, state, records);
                } else {
                    self.at += 1;
                }
            }
            Class::Other => self.mark(byte, state, records),
        }
    }

    /// Tokens of one odd byte.
    fn mark(&mut self, byte: u8, state: &mut State, records: &mut Records) {
        let bytes = self.bytes;
        let start = self.at;
        match byte {
            b'(' => {
                self.at += 1;
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
                state.depth += 1;
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
            // No-break space, ellipsis.
            0xC2 if bytes[start..].starts_with(b"\xC2\xA0") => self.at += 2,
            0xE2 if bytes[start..].starts_with("…".as_bytes()) => self.at += 3,
            0xA0 | 0xFF | 0x1A | 0x00 => self.at += 1,
            _ => {
                // Figurines and small letters of pieces begin a move, too.
                let end = self.word_end(start).max(start + 1);
                self.san(end, state, records);
            }
        }
    }

    /// The end of the word at `at`: a move or what stands in the place of one.
    fn word_end(&self, at: usize) -> usize {
        let stops = |byte: &u8| byte.is_ascii_whitespace() || b"{}();[]$*,".contains(byte);
        let rest = &self.bytes[at..];
        let len = rest.iter().position(stops).unwrap_or(rest.len());
        // A promotion in parentheses.
        match rest[len..] {
            [b'(', b'N' | b'B' | b'R' | b'Q', b')', ..] => at + len + 3,
            _ => at + len,
        }
    }

    /// Plays the move that ends at `end`.
    fn san(&mut self, end: usize, state: &mut State, records: &mut Records) {
        let start = self.at;
        self.at = end;
        if !self.plays(state) {
            return;
        }
        let text = trim_signs(&self.bytes[start..end]);
        match text {
            // Suffix of the move before; novelty and diagram marks.
            b"e.p." | b"ep" | b"e.p" | b"N" | b"D" => return,
            b"Z0" => return self.null_move(start, state, records),
            _ => {}
        }
        let board = state.board;
        let quick = (text.len() >= 2 && text.len() <= 8)
            .then(|| {
                let mut word = [0; 8];
                word[..text.len()].copy_from_slice(text);
                San::decode(u64::from_le_bytes(word), text.len())
            })
            .flatten();
        let played = quick
            .map_or(Err(Refused::Syntax), |san| board.play(san))
            .or_else(|_| board.play_spelled(text, self.strict));
        match played {
            Ok((board, bits)) => {
                records.played(state.record, bits);
                self.step(board, state, records);
            }
            Err(refused) => {
                let token = String::from_utf8_lossy(&self.bytes[start..end]).into_owned();
                let error = match refused {
                    Refused::Illegal => GameError::Illegal(token),
                    Refused::Ambiguous => GameError::Ambiguous(token),
                    Refused::Syntax => GameError::Token(token),
                };
                self.refuse(state, error, start);
            }
        }
    }

    fn null_move(&mut self, start: usize, state: &mut State, records: &mut Records) {
        if !self.plays(state) {
            return;
        }
        match state.board.null_move() {
            Ok(board) => self.step(board, state, records),
            Err(_) => {
                let token = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
                self.refuse(state, GameError::Illegal(token), start);
            }
        }
    }

    /// Goes on to the position after a move.
    fn step(&self, board: Board, state: &mut State, records: &mut Records) {
        state.before = state.board;
        state.board = board;
        state.ply += 1;
        state.record_before = state.record;
        state.record = Some(records.push(board, state.ply));
    }
}

/// The result token that a text begins with, and its length.
fn result(rest: &[u8]) -> Option<(Option<Outcome>, usize)> {
    let (token, outcome): (&[u8], _) = match rest.first()? {
        b'*' => return Some((None, 1)),
        b'0' => (b"0-1", Outcome::Black),
        _ if rest.starts_with(b"1-") => (b"1-0", Outcome::White),
        _ if rest.starts_with(b"1/2-1/2") => (b"1/2-1/2", Outcome::Draw),
        _ => (b"1/2", Outcome::Draw),
    };
    let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'.'));
    (rest.starts_with(token) && rest.get(token.len()).is_none_or(ends))
        .then_some((Some(outcome), token.len()))
}

/// Plays a move of so many bytes the quick way, if that finds exactly one that is legal.
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
    use super::super::records::Wanted;
    use super::*;
    use crate::batch::Fields;
    use proptest::prelude::*;

    /// Everything that is read of a text, main lines scanned or token by token.
    fn read(text: &[u8], quick: bool) -> String {
        let wanted = Wanted {
            moves: true,
            plies: true,
            scores: true,
            clocks: true,
        };
        let mut records = Records::new(wanted, text.len());
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
    const ODD: [&str; 35] = [
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
        "\t",
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
