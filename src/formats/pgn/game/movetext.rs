//! The movetext of a game, up to its result or the beginning of the next game.
//!
//! The loop decides only whether the game ends here, and whether the fast path of
//! [`main_line`](super::main_line) may try; all other text is left to [`tokens`](super::tokens).

use super::movetext_words::castling;
use super::tokens::{CLASS, Class};
use super::{GameError, Games, Plays, State};
use crate::formats::pgn::lex::{self, Comment};
use crate::formats::pgn::records::Records;
use crate::formats::pgn::tags::Tags;
use crate::games::Verdict;
use std::ops::Range;

/// The reason why the movetext ends.
#[derive(PartialEq, Eq)]
pub(super) enum End {
    /// A result, and its place.
    Result(Verdict, Range<usize>),
    NextGame,
    TooLong,
}

impl Games<'_> {
    /// Reads movetext to the end of the game that begins at `start`.
    pub(super) fn movetext(&mut self, state: &mut State, tags: &Tags<'_>, records: &mut Records, start: usize) -> End {
        let limit = start.saturating_add(self.max_record);
        // Whether this is not a game so far; then results have no meaning.
        let mut garbage = state.bad.as_ref().is_some_and(|bad| bad.error == GameError::Utf16);
        loop {
            while self.peek().is_some_and(|byte| CLASS[byte as usize] == Class::Blank) {
                self.at += 1;
            }
            if self.at > limit {
                return End::TooLong;
            }
            if state.plays == Plays::Again {
                return End::NextGame;
            }
            if self.at > start && self.peek() == Some(b'1') && self.begins_again(state, garbage) {
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
                b'[' if self.begins_line() => return End::NextGame,
                b'*' | b'0' | b'1' | 0xC2 | 0xBD | b'.' | b'+' | b'-' | b'=' if state.depth == 0 && !garbage => {
                    match self.last_result(state, tags) {
                        Some((verdict, len)) => {
                            let token = self.at..self.at + len;
                            self.at = token.end;
                            return End::Result(verdict, token);
                        }
                        None => self.token(byte, state, records),
                    }
                }
                _ => {
                    let was_good = state.bad.is_none();
                    self.token(byte, state, records);
                    if was_good && state.bad.is_some() && state.tagless && state.ply == 0 {
                        garbage = state.number.is_none()
                            && state.bad.as_ref().is_some_and(|bad| matches!(bad.error, GameError::Token(_)));
                    }
                }
            }
        }
    }

    /// The result token here that ends the game, and its length.
    fn last_result(&self, state: &State, tags: &Tags<'_>) -> Option<(Verdict, usize)> {
        let (verdict, len) = self.result()?;
        let token = &self.bytes[self.at..self.at + len];
        let is_last = match token {
            b"*" | b"1-0" | b"0-1" | b"1/2-1/2" => true,
            // A move number and a castling move may look the same: `1.0-0`.
            [b'1', b'.', b'0', .., b'0'] if castling(&token[2..]).is_some() => state.ply > 0 && self.ends_after(len),
            _ if verdict != Verdict::Unequal => token != "½".as_bytes() && token != b"\xBD" || self.ends_after(len),
            // Both players lost, or one of them castles.
            _ if castling(token).is_some() => tags.verdict() == Some(Verdict::Unequal) && self.ends_after(len),
            _ => !token.iter().any(u8::is_ascii_whitespace) || self.ends_after(len),
        };
        is_last.then_some((verdict, len))
    }

    /// Whether nothing but comments and signs follows in the game after a token of this length.
    #[cold]
    fn ends_after(&self, len: usize) -> bool {
        let bytes = self.bytes;
        let mut at = self.at + len;
        loop {
            let begins_line = at > 0 && matches!(bytes[at - 1], b'\n' | b'\r');
            at = match bytes.get(at) {
                None => return true,
                Some(b'{') => match lex::comment(bytes, at) {
                    Comment::Closed(end) => end + 1,
                    Comment::Open(_) => return true,
                },
                Some(b';') => lex::text_line_end(bytes, at),
                Some(b'%') if begins_line => lex::text_line_end(bytes, at),
                Some(b' ' | b'\t' | b'\r' | b'\n' | b'+' | b'#' | b'!' | b'?' | b'}' | 0xFF | 0x1A | 0x00) => at + 1,
                Some(b'[') => {
                    let line = bytes[..at].trim_ascii_end().len();
                    return bytes[line..at].contains(&b'\n') || bytes[line..at].contains(&b'\r');
                }
                Some(b'1') => return begins_line && lex::is_first_move(&bytes[at..]),
                Some(_) => return false,
            };
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
                        || state.bad.as_ref().is_some_and(|bad| bad.error.is_of_a_move()))
                    && self.follows_empty_line())
    }
}
