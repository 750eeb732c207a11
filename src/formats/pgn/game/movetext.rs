//! The movetext of a game, up to its result or the beginning of the next game.
//!
//! The loop decides only whether the game ends here, and whether the fast path of
//! [`main_line`](super::main_line) may try; all other text is left to [`tokens`](super::tokens).

use super::tokens::{CLASS, Class};
use super::{GameError, Games, Plays, State};
use crate::formats::pgn::lex;
use crate::formats::pgn::records::Records;
use crate::games::Outcome;

/// The reason why the movetext ends.
#[derive(PartialEq, Eq)]
pub(super) enum End {
    Result(Option<Outcome>),
    NextGame,
    TooLong,
}

impl Games<'_> {
    /// Reads movetext to the end of the game that begins at `start`.
    pub(super) fn movetext(&mut self, state: &mut State, records: &mut Records, start: usize) -> End {
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
                b'*' | b'0' | b'1' | 0xC2 | 0xBD if state.depth == 0 && !garbage => match self.result() {
                    Some((outcome, len)) => {
                        self.at += len;
                        return End::Result(outcome);
                    }
                    None => self.token(byte, state, records),
                },
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
