//! The fast path: moves of the main line with nothing but simple text between them.
//!
//! [`Scan`](crate::formats::pgn::movetext_scan::Scan) finds the words of many moves at once; then all of these are parsed,
//! and then played one after another without looking at the text between, or later, in lanes. The first word that is not exactly one
//! legal move in the usual spelling is left to [`tokens`](super::tokens), and few moves are scanned after it at
//! first, because those after the next such word would be scanned in vain.

use super::error::MOST_PLIES;
use super::{Games, Plays, State};
use crate::formats::pgn::movetext_scan::{Command, ENOUGH};
use crate::formats::pgn::records::Records;
use crate::replay::San;

/// Number of moves to scan at once after one that the fast path could not play.
const FEW: usize = 8;

impl Games<'_> {
    /// The moves of the main line, up to the first that is not simple or has text before it that is not.
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
        let mut more = true;
        while more {
            self.scan.clear();
            let (end, stops) = self.scan.fill(bytes, self.at, commands, self.enough);
            let found = self.scan.starts().len();
            if state.ply as usize + found > MOST_PLIES as usize {
                break;
            }
            self.enough = (2 * self.enough).min(ENOUGH);
            self.at = end;
            more = !stops && end <= limit;
            // The rows of the position after some of these moves, and of the one before it.
            let (earlier, first) = ([state.record, state.record_before], records.len());
            let rows = |played: usize| match played {
                0 => earlier,
                1 => [Some(first), earlier[0]],
                _ => [Some(first + played - 1), Some(first + played - 2)],
            };
            let note = |command: &Command, records: &mut Records, played| {
                let [row, before] = rows(played);
                records.command(bytes, command.at as usize, row, before);
            };
            let mut commands = self.scan.commands.iter();
            let mut command = commands.next();
            let mut played = 0;
            if state.plays == Plays::Later {
                played = records.push_words(state.ply + 1, bytes, self.scan.starts(), self.scan.ends());
                while let Some(due) = command
                    && due.moves as usize <= played
                {
                    note(due, records, due.moves as usize);
                    command = commands.next();
                }
            } else {
                // Parsing and playing in one loop would need more registers than the CPU has.
                self.moves.resize(found, San::NONE);
                let words = self.scan.starts().iter().zip(self.scan.ends());
                for (san, (&start, &end)) in self.moves.iter_mut().zip(words) {
                    *san = San::of_word(bytes, start as usize, end as usize);
                }
                loop {
                    while let Some(&san) = self.moves.get(played) {
                        while let Some(due) = command
                            && due.moves as usize <= played
                        {
                            note(due, records, played);
                            command = commands.next();
                        }
                        let Ok((next, bits)) = board.play(san) else {
                            break;
                        };
                        board = next;
                        played += 1;
                        records.push_after(board, state.ply + played as u32, bits, || rows(played)[1]);
                    }
                    // Castling is rare, and would make the loop slower if it were played there.
                    let castling = self.moves.get(played).and_then(|san| san.castles);
                    let Some(Ok((next, bits))) = castling.map(|side| board.castle(side)) else {
                        break;
                    };
                    board = next;
                    played += 1;
                    records.push_after(board, state.ply + played as u32, bits, || rows(played)[1]);
                }
            }
            if played < found {
                self.at = self.scan.starts()[played] as usize;
                self.enough = FEW;
                self.slow_until = self.scan.ends()[played] as usize;
                more = false;
            } else {
                let rest = command.into_iter().chain(commands);
                rest.for_each(|command| note(command, records, played));
            }
            [state.record, state.record_before] = rows(played);
            state.ply += played as u32;
        }
        state.board = board;
    }
}
