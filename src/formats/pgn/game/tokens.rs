//! The slow path: one token after another, by the class of its first byte.
//!
//! Everything that occurs in movetext is understood here: moves in any spelling, variations, null moves, signs and
//! words after a move. Even where tokens have no effect (in a skipped variation or after an error), they are recognized
//! in the same way, so that the end of the game does not depend on which moves could be played.

use super::error::{DEEPEST, MOST_PLIES};
use super::movetext_words::{
    castling, ends_with_move, evaluation, is_figurine, is_null, is_remark, lacks_piece, of_numeric, result, shown,
    symbol, trim_remarks, trim_signs, without_result, word_len,
};
use super::{GameError, Games, Line, Plays, State};
use crate::formats::pgn::lex::{self, Comment};
use crate::formats::pgn::records::Records;
use crate::games::{Verdict, dash};
use crate::replay::{Board, Refused, San};

/// Byte classes of movetext.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Blank,
    Digit,
    Move,
    Open,
    Glyph,
    Dash,
    Other,
}

pub(super) static CLASS: [Class; 256] = {
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

impl Games<'_> {
    /// Whether tokens have any effect now.
    #[inline(always)]
    fn plays(&self, state: &State) -> bool {
        state.bad.is_none() && (state.depth == 0 || self.variations)
    }

    /// Any token but a result of the main line or a tag at the beginning of a line.
    pub(super) fn token(&mut self, byte: u8, state: &mut State, records: &mut Records) {
        let bytes = self.bytes;
        let start = self.at;
        match CLASS[byte as usize] {
            Class::Blank => self.at += 1,
            Class::Digit => self.number(state, records),
            Class::Move => {
                if matches!(byte, b'O' | b'o') && self.castles(state, records) {
                    return;
                }
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
            Class::Glyph if bytes[start..].starts_with(b"<>") => self.null_move(start + 2, state, records),
            Class::Glyph => self.at += evaluation(&bytes[start..]).max(1),
            Class::Dash if self.strict => {
                let is_double = bytes[start..].starts_with(b"--");
                self.refuse_token(state, start + 1 + usize::from(is_double));
            }
            Class::Dash => match evaluation(&bytes[start..]) {
                0 if bytes[start..].starts_with(b"--") => self.null_move(start + 2, state, records),
                0 => self.skip_token(start, start + 1, state),
                len => self.at += len,
            },
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
        if rest.starts_with(b"0") && self.castles(state, records) {
            return;
        }
        self.skip_digits();
        // `1.0-0` may be a result, and a move number with a castling move.
        let is_number = matches!(rest, [_, b'.', ..]) && castling(&rest[2..]).is_some();
        if let Some((verdict, len)) = result(rest, self.strict).filter(|_| !is_number) {
            if self.plays(state) && (state.depth == 0 || verdict == Verdict::Unequal) {
                // It does not end the game, and is no castling move either.
                self.at = start;
                self.refuse_token(state, start + len);
            } else {
                self.at = start + len;
            }
            return;
        }
        let digits = &bytes[start..self.at];
        let after = &bytes[self.at..];
        let dots = after.strip_prefix(b".").unwrap_or(after).trim_ascii_start();
        let black = after.starts_with("…".as_bytes()) || dots.starts_with(b"..");
        if after.starts_with(b".") || black {
            if state.number.is_none() && state.ply == 0 && state.depth == 0 {
                state.number = Some((number_of(digits), black));
            }
        } else if !dots.starts_with(b".") && self.plays(state) {
            self.bare_digits(start, state, records);
        }
    }

    /// Digits without a point: a move number, a move in the numeric notation of correspondence chess, or neither.
    #[cold]
    fn bare_digits(&mut self, start: usize, state: &mut State, records: &mut Records) {
        let end = self.at;
        let digits = &self.bytes[start..end];
        let expected = match state.plays {
            Plays::Now => state.board.fullmove.into(),
            Plays::Later | Plays::Again => 1 + state.ply / 2,
        };
        if number_of(digits) == expected {
            return;
        }
        // Perhaps a castling move whose dashes are damaged. Without it, the game would go on with other moves.
        if digits.starts_with(b"0") {
            let end = self.word_end(start);
            self.at = start;
            self.refuse_token(state, end);
            return;
        }
        let is_whole = !self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric());
        match of_numeric(digits).filter(|_| is_whole && !self.strict) {
            Some(text) => self.play_as(start, end, &text, state, records),
            None => self.skip_token(start, end, state),
        }
    }

    /// Castles, if an unusual spelling of a castling move is here; returns whether it is.
    fn castles(&mut self, state: &mut State, records: &mut Records) -> bool {
        let start = self.at;
        let Some((text, len)) = castling(&self.bytes[start..]).filter(|_| !self.strict) else {
            return false;
        };
        let is_usual =
            matches!(&self.bytes[start..start + len], b"O-O" | b"O-O-O" | b"0-0" | b"0-0-0" | b"o-o" | b"o-o-o");
        if !is_usual {
            self.play_as(start, start + len, text, state, records);
        }
        !is_usual
    }

    /// Skips a token of digits or dashes that has no meaning, and counts it if it is not skipped anyway.
    #[cold]
    fn skip_token(&mut self, start: usize, end: usize, state: &mut State) {
        self.at = end;
        if self.plays(state) {
            let skipped = state.skipped.get_or_insert_default();
            if skipped.count == 0 {
                skipped.first = shown(&self.bytes[start..end]);
            }
            skipped.count += 1;
        }
    }

    /// Tokens that begin with an unusual byte.
    fn odd(&mut self, byte: u8, state: &mut State, records: &mut Records) {
        let bytes = self.bytes;
        let start = self.at;
        match byte {
            b'(' => {
                records.has_more_text();
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
                        branch: state.branch,
                    });
                    state.board = state.before;
                    state.ply = state.ply.saturating_sub(1);
                    state.branch = state.record_before.or(state.branch);
                    // The position keeps the move of the main line, which the variation replaces.
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
                    state.branch = line.branch;
                }
            }
            b';' => {
                records.has_more_text();
                self.at = lex::text_line_end(bytes, start);
            }
            b'%' if self.begins_line() => self.at = lex::text_line_end(bytes, start),
            b'$' => {
                records.has_more_text();
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
                Some(len) => match evaluation(&bytes[start..]) {
                    0 if dash(&bytes[start..]).is_some() => self.skip_token(start, start + len, state),
                    sign => self.at += sign.max(len),
                },
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

    /// Whether a move is played from here now. Refuses it if that is known without parsing it; in a game that is
    /// replayed in lanes, asks to read it again.
    fn may_move(&mut self, start: usize, state: &mut State) -> bool {
        let error = match state.number {
            Some((number, black)) if state.tagless && state.ply == 0 && state.depth == 0 && (number > 1 || black) => {
                GameError::NoStart(number)
            }
            _ if state.ply >= MOST_PLIES => GameError::TooManyMoves,
            _ if state.plays != Plays::Now => {
                state.plays = Plays::Again;
                return false;
            }
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
            } else if let [letter @ (b'N' | b'D')] | [letter @ (b'N' | b'D'), b'.'] = *text {
                self.piece_alone(letter, start, state, records);
            }
            return;
        }
        if !self.may_move(start, state) {
            return;
        }
        let board = state.board;
        let mut played = play(board, text, self.strict);
        if matches!(played, Err(Refused::Syntax)) && !self.strict {
            // A result, a remark or an evaluation follows without a blank.
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

    /// A move that is spelled otherwise in the text from `start` to `end`.
    #[cold]
    fn play_as(&mut self, start: usize, end: usize, text: &[u8], state: &mut State, records: &mut Records) {
        self.at = end;
        if !self.plays(state) || !self.may_move(start, state) {
            return;
        }
        match play(state.board, text, false) {
            Ok((board, bits)) => {
                records.played(state.record, bits);
                self.step(board, state, records);
            }
            Err(_) => self.refuse(state, GameError::Illegal(shown_whole(&self.bytes[start..end])), start),
        }
    }

    /// `N` or `D` as a word that ends here. Behind a move it is the sign of a novelty or a diagram. In front of a move
    /// that lacks its piece, it may be the letter of a knight, or of a queen in other languages, with a blank behind it:
    /// then the move is never read as a pawn's move.
    #[cold]
    fn piece_alone(&mut self, letter: u8, start: usize, state: &mut State, records: &mut Records) {
        let bytes = self.bytes;
        let mut next = self.at;
        while let Some(len) = match bytes[next..] {
            [b' ' | b'\t' | b'\r' | b'\n', ..] => Some(1),
            [0xC2, 0xA0, ..] => Some(2),
            _ => None,
        } {
            next += len;
        }
        let end = self.word_end(next);
        let word = trim_signs(&bytes[next..end]);
        if next == self.at || !lacks_piece(word) {
            return;
        }
        if state.plays != Plays::Now {
            state.plays = Plays::Again;
            return;
        }
        let piece = if letter == b'N' { b'N' } else { b'Q' };
        let as_piece = play(state.board, &[&[piece], trim_remarks(word)].concat(), false);
        let as_pawn = play(state.board, word, false);
        let is_sign = state.ply > 0 && !state.has_piece_alone && ends_with_move(&bytes[..start]);
        if is_sign && matches!(as_piece, Err(Refused::Illegal | Refused::Syntax)) {
            return;
        }
        if !self.may_move(start, state) {
            return;
        }
        let token = || shown_whole(&bytes[start..end]);
        self.at = end;
        match as_piece {
            _ if is_sign && as_pawn.is_ok() => self.refuse(state, GameError::Ambiguous(token()), start),
            _ if letter != b'N' => self.refuse(state, GameError::Token(token()), start),
            Ok((board, bits)) => {
                state.has_piece_alone = true;
                records.played(state.record, bits);
                self.step(board, state, records);
            }
            Err(Refused::Ambiguous) => self.refuse(state, GameError::Ambiguous(token()), start),
            Err(_) => self.refuse(state, GameError::Illegal(token()), start),
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
        let row = records.push(board, state.ply);
        state.record = Some(row);
        if state.depth != 0 {
            records.is_in_variation(row);
        }
        records.comes_after(state.record_before.or(state.branch));
    }
}

/// The number that digits say.
fn number_of(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number: u32, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
}

/// A token as quoted in a message, with the blanks in it.
fn shown_whole(token: &[u8]) -> String {
    let words: Vec<String> = token.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(shown).collect();
    words.join(" ")
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
    quick.map_or(Err(Refused::Syntax), |san| board.play(san)).or_else(|_| board.play_spelled(text, strict))
}
