//! Reads the comments of moves: the commands for evaluations and clocks, and what engines write.

use super::{NO_CLOCK, NO_SCORE, Records, Requested, note};
use crate::chess::Color;
use crate::formats::pgn::comment_values::{Eval, clock, eval, is_no_eval, is_whole, plain_clock};
use crate::formats::pgn::movetext_scan::Commands;
use crate::formats::pgn::{engine_comments, lex};
use memchr::{memchr, memchr_iter};

/// Comments are searched for commands up to this length.
const LONGEST_COMMAND: usize = 128;

impl Records {
    /// Reads the commands of a comment after the move from row `before` to row `row`.
    #[inline(always)]
    pub(in crate::formats::pgn) fn comment(&mut self, comment: &[u8], row: Option<usize>, before: Option<usize>) {
        if self.requested.scores | self.requested.clocks | self.requested.move_times | self.requested.texts {
            self.commands(comment, row, before);
            self.engine(comment, before);
        }
    }

    /// Reads the comment of an engine after the move from row `before`.
    fn engine(&mut self, comment: &[u8], before: Option<usize>) {
        let comment = comment.trim_ascii();
        if !comment.is_empty() && !comment.starts_with(b"[%") {
            self.has_more_text();
        }
        let Some(before) = before else {
            return;
        };
        if !engine_comments::may_be_one(comment) || comment.len() >= engine_comments::LONGEST {
            return;
        }
        let side = match self.played_later_from {
            Some(first) if (before - first).is_multiple_of(2) => Color::White,
            Some(_) => Color::Black,
            None => self.row(before).0.side_to_move(),
        };
        let said = engine_comments::said(comment, side);
        if self.requested.scores {
            match said.eval {
                Some(eval) => {
                    let is_first = self.scores.get(before).is_none_or(|&score| score == NO_SCORE);
                    note(&mut self.scores, before, eval.packed(), NO_SCORE);
                    match eval {
                        Eval::Centipawns(_) => {}
                        Eval::Mate(number) => self.mates.add(number, side, is_first.then_some(before)),
                        Eval::Beyond(_) => self.beyond.add(comment),
                    }
                }
                None if engine_comments::looks_like_one(comment) => self.unread.add(comment),
                None => {}
            }
        }
        if self.requested.clocks
            && let Some(clock) = said.clock
        {
            note(&mut self.clocks, before, clock, NO_CLOCK);
        }
    }

    fn commands(&mut self, comment: &[u8], row: Option<usize>, before: Option<usize>) {
        for percent in memchr_iter(b'%', comment) {
            self.command(comment, percent + 1, row, before);
        }
    }

    /// The commands that must be passed to [`Records::command`].
    pub(in crate::formats::pgn) fn requested_commands(&self) -> Commands {
        match self.requested {
            Requested { clocks: true, .. } | Requested { move_times: true, .. } | Requested { texts: true, .. } => {
                Commands::All
            }
            Requested { scores: true, .. } => Commands::Evals,
            _ => Commands::None,
        }
    }

    /// Reads the command of a comment whose name begins at `at`, if a bracket precedes its percent sign, or the comment
    /// of an engine that begins there, after the move from row `before` to row `row`.
    pub(in crate::formats::pgn) fn command(
        &mut self,
        text: &[u8],
        at: usize,
        row: Option<usize>,
        before: Option<usize>,
    ) {
        if !text[..at].ends_with(b"[%") {
            if text[..at].ends_with(b"%") || !engine_comments::may_be_one(&text[at..]) {
                // Comments are skipped here unless the scan has seen that they begin with a command.
                self.has_more_text |= !text[at..].starts_with(b"[%");
                return;
            }
            let window = &text[at..text.len().min(at + engine_comments::LONGEST)];
            match memchr(b'}', window) {
                Some(end) => self.engine(&window[..end], before),
                None => self.has_more_text(),
            }
            return;
        }
        // Values are short; a search of the whole comment for each `[%` would take quadratic time.
        let window = &text[..text.len().min(at + LONGEST_COMMAND)];
        if let [b'c', b'l', b'k', b' ', value @ ..] = &text[at..]
            && let Some(clock) = plain_clock(value)
        {
            if self.requested.texts && !is_usual_clock(text, at) {
                self.reads(text, at, at + PLAIN_CLOCK);
            }
            if self.requested.clocks
                && let Some(before) = before
            {
                note(&mut self.clocks, before, clock, NO_CLOCK);
            }
            return;
        }
        let end = lex::find2(window, at, b']', b'}');
        let command = &text[at..end];
        if let Some(value) = value_of(command, b"eval") {
            if self.requested.scores {
                match eval(value) {
                    Some(eval) => {
                        if self.requested.texts {
                            self.reads(text, at, end);
                            self.has_more_text |= !is_whole(value);
                        }
                        if let Some(row) = row {
                            note(&mut self.scores, row, eval.packed(), NO_SCORE);
                        }
                        if let Eval::Beyond(_) = eval {
                            self.beyond.add(&text[at - 2..end + usize::from(text.get(end) == Some(&b']'))]);
                        }
                    }
                    None => {
                        self.has_more_text();
                        if !is_no_eval(value) {
                            self.unread.add(&text[at - 2..end + usize::from(text.get(end) == Some(&b']'))]);
                        }
                    }
                }
            } else {
                self.has_more_text();
            }
        } else if let Some(value) = value_of(command, b"clk")
            && self.requested.clocks
        {
            match clock(value) {
                Some(clock) => {
                    if self.requested.texts {
                        self.reads(text, at, end);
                        self.has_more_text |= !is_whole(value);
                    }
                    if let Some(before) = before {
                        note(&mut self.clocks, before, clock, NO_CLOCK);
                    }
                }
                None => {
                    self.has_more_text();
                    if before.is_some() && !value.is_empty() {
                        self.unread_clocks.add(&text[at - 2..end + usize::from(text.get(end) == Some(&b']'))]);
                    }
                }
            }
        } else {
            // Records do not keep it.
            self.has_more_text();
            if self.requested.move_times
                && let Some(value) = value_of(command, b"emt")
                && let Some((time, before)) = clock(value).zip(before)
            {
                note(&mut self.move_times, before, time, NO_CLOCK);
            }
        }
    }

    /// Called when a command has been read, with its name at `at` and its end at `end`. The text before and after it
    /// shows whether there is more in its comment; this is enough, because other commands are passed here as well.
    #[inline(never)]
    fn reads(&mut self, text: &[u8], at: usize, end: usize) {
        self.has_more_text |= !stands_alone(&text[..at - 2], &text[end..]);
    }
}

/// The text after the name of a command and at least one blank.
fn value_of<'a>(command: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, value) = command.split_at_checked(name.len())?;
    if !start.eq_ignore_ascii_case(name) {
        return None;
    }
    value.first().is_some_and(u8::is_ascii_whitespace).then(|| value.trim_ascii())
}

/// Whether the content of a command, from its name on, is read, and whether it contains more than a score or a clock.
pub(in crate::formats::pgn) fn reads(command: &[u8]) -> (bool, bool) {
    let command = &command[..command.len().min(LONGEST_COMMAND)];
    match (value_of(command, b"eval"), value_of(command, b"clk")) {
        (Some(value), _) => (eval(value).is_some(), eval(value).is_some() && !is_whole(value)),
        (None, Some(value)) => (clock(value).is_some(), false),
        (None, None) => (false, false),
    }
}

/// Number of bytes of `clk h:mm:ss`.
const PLAIN_CLOCK: usize = b"clk 0:00:00".len();

/// Whether a plain clock is a whole comment as Lichess writes it.
#[inline(always)]
fn is_usual_clock(text: &[u8], at: usize) -> bool {
    const LEN: usize = b"{ [%clk 0:00:00] }".len();
    let whole = text.get(at.wrapping_sub(4)..).and_then(<[u8]>::first_chunk::<LEN>);
    matches!(whole, Some([b'{', b' ', .., b' ', b'}']))
}

/// Whether there are only blanks and commands around a command, by the text before its bracket and from the closing one
/// on. There are no braces where a comment was taken out of its own.
fn stands_alone(before: &[u8], after: &[u8]) -> bool {
    let Some(after) = after.strip_prefix(b"]") else {
        return false;
    };
    let (before, after) = (before.trim_ascii_end(), after.trim_ascii_start());
    let (last, next) = (before.last(), after.first());
    matches!(last, None | Some(b'{' | b']')) && (matches!(next, None | Some(b'}')) || after.starts_with(b"[%"))
}
