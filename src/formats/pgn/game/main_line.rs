//! The fast path: moves of the main line with nothing but simple text between them.
//!
//! [`Scan`](crate::formats::pgn::scan::Scan) finds the words of many moves at once; then they are played one
//! after another without looking at the text between. The first word that is not exactly one legal move in the
//! usual spelling is left to [`tokens`](super::tokens), and few moves are scanned after it at first, because
//! those after the next such word would be scanned in vain.

use super::error::MOST_PLIES;
use super::{Games, State};
use crate::formats::pgn::lex;
use crate::formats::pgn::records::Records;
use crate::formats::pgn::replay::{Board, San};
use crate::formats::pgn::scan::ENOUGH;

/// Moves scanned at once after one that the fast path could not play.
const FEW: usize = 8;

impl Games<'_> {
    /// The moves of the main line, as far as they and the text between them are simple.
    pub(super) fn main_line(&mut self, state: &mut State, records: &mut Records, limit: usize) {
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
