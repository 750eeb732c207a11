//! The positions of games as they are recorded: straight into groups, with the columns that are wanted.

use super::lex;
use super::replay::Board;
use super::scan::Commands;
use crate::batch::{Batch, Column, Field, Fields, Values};
use crate::block::{Group, Packed};
use memchr::memchr_iter;

/// Which columns are wanted of each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Wanted {
    pub(super) moves: bool,
    pub(super) plies: bool,
    pub(super) scores: bool,
    pub(super) clocks: bool,
}

/// Scores of mates: this, less the number of moves to the mate.
const MATE_SCORE: i16 = 32000;

/// Commands of comments are read up to here.
const LONGEST_COMMAND: usize = 128;

const NO_SCORE: i16 = i16::MIN;
const NO_CLOCK: u32 = u32::MAX;

/// Recorded positions.
#[derive(Debug, Default)]
pub(super) struct Records {
    wanted: Wanted,
    groups: Vec<Group>,
    halfmove: Vec<u16>,
    fullmove: Vec<u16>,
    /// [`crate::chess::Move::to_bits`] of the move played, 0 for none.
    moves: Vec<u16>,
    plies: Vec<u16>,
    /// Up to the last row that has one; and so the clocks.
    scores: Vec<i16>,
    clocks: Vec<u32>,
}

/// Sets the value of a row in a column that ends with its last value.
fn note<T: Copy>(column: &mut Vec<T>, row: usize, value: T, missing: T) {
    if column.len() <= row {
        column.resize(row + 1, missing);
    }
    column[row] = value;
}

impl Records {
    /// Room for the records of so many bytes of text, which is guessed for the text of Lichess.
    pub(super) fn new(wanted: Wanted, bytes: usize) -> Self {
        let rows = bytes / 30;
        Self {
            wanted,
            groups: Vec::with_capacity(rows / Group::LEN),
            halfmove: Vec::with_capacity(rows),
            fullmove: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.halfmove.len()
    }

    /// Records a position; gives its row.
    #[inline(always)]
    pub(super) fn push(&mut self, board: Board, ply: u32) -> usize {
        let row = self.len();
        self.put(board.packed(), board.halfmove, board.fullmove);
        if self.wanted.moves {
            self.moves.push(0);
        }
        if self.wanted.plies {
            self.plies.push(ply.min(u16::MAX.into()) as u16);
        }
        row
    }

    #[inline(always)]
    fn put(&mut self, board: Packed, halfmove: u16, fullmove: u16) {
        let (group, lane) = (self.len() / Group::LEN, self.len() % Group::LEN);
        if lane == 0 {
            self.groups.push(Group::default());
        }
        self.groups[group].set(lane, board);
        self.halfmove.push(halfmove);
        self.fullmove.push(fullmove);
    }

    /// Notes the move that is played from the position of a row.
    #[inline(always)]
    pub(super) fn played(&mut self, row: Option<usize>, bits: u16) {
        if self.wanted.moves
            && let Some(row) = row
        {
            self.moves[row] = bits;
        }
    }

    /// Reads the commands of a comment after the move from row `before` to row `row`.
    #[inline(always)]
    pub(super) fn comment(&mut self, comment: &[u8], row: Option<usize>, before: Option<usize>) {
        if self.wanted.scores | self.wanted.clocks {
            self.commands(comment, row, before);
        }
    }

    fn commands(&mut self, comment: &[u8], row: Option<usize>, before: Option<usize>) {
        for percent in memchr_iter(b'%', comment) {
            self.command(comment, percent + 1, row, before);
        }
    }

    /// Which commands [`Records::command`] is to be told of.
    pub(super) fn commands_wanted(&self) -> Commands {
        match self.wanted {
            Wanted { clocks: true, .. } => Commands::All,
            Wanted { scores: true, .. } => Commands::Evals,
            _ => Commands::None,
        }
    }

    /// Reads the command of a comment whose name begins at `at`, if a bracket stands before its percent sign,
    /// after the move from row `before` to row `row`.
    pub(super) fn command(
        &mut self,
        text: &[u8],
        at: usize,
        row: Option<usize>,
        before: Option<usize>,
    ) {
        if !text[..at].ends_with(b"[%") {
            return;
        }
        // Values are short; a search of the whole comment for each `[%` would cost its square.
        let window = &text[..text.len().min(at + LONGEST_COMMAND)];
        let command = &text[at..lex::find2(window, at, b']', b'}')];
        if let Some(value) = command.strip_prefix(b"eval ") {
            if self.wanted.scores
                && let (Some(row), Some(score)) = (row, score(value.trim_ascii()))
            {
                note(&mut self.scores, row, score, NO_SCORE);
            }
        } else if let Some(value) = command.strip_prefix(b"clk ")
            && self.wanted.clocks
            && let (Some(before), Some(clock)) = (before, clock(value.trim_ascii()))
        {
            note(&mut self.clocks, before, clock, NO_CLOCK);
        }
    }

    /// Keeps those rows from `start` on for which `keep`, given the distance from `start`, says so.
    pub(super) fn retain(&mut self, start: usize, mut keep: impl FnMut(usize) -> bool) {
        let len = self.len();
        let mut kept = Vec::with_capacity(len - start);
        kept.extend((start..len).filter(|&row| keep(row - start)));
        if kept.len() == len - start {
            return;
        }
        self.scores.resize(len, NO_SCORE);
        self.clocks.resize(len, NO_CLOCK);
        let boards: Vec<_> = kept.iter().map(|&row| self.row(row)).collect();
        for (to, &row) in (start..).zip(&kept) {
            fn carry<T: Copy>(column: &mut [T], to: usize, row: usize) {
                if let Some(&value) = column.get(row) {
                    column[to] = value;
                }
            }
            carry(&mut self.moves, to, row);
            carry(&mut self.plies, to, row);
            carry(&mut self.scores, to, row);
            carry(&mut self.clocks, to, row);
        }
        self.truncate_boards(start);
        for (board, [halfmove, fullmove]) in boards {
            self.put(board, halfmove, fullmove);
        }
        self.truncate(self.len());
    }

    /// Board and clocks of a row.
    fn row(&self, row: usize) -> (Packed, [u16; 2]) {
        let board = self.groups[row / Group::LEN].get(row % Group::LEN);
        (board, [self.halfmove[row], self.fullmove[row]])
    }

    fn truncate_boards(&mut self, len: usize) {
        self.groups.truncate(len.div_ceil(Group::LEN));
        self.halfmove.truncate(len);
        self.fullmove.truncate(len);
    }

    /// Drops the rows from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.truncate_boards(len);
        self.moves.truncate(len);
        self.plies.truncate(len);
        self.scores.truncate(len);
        self.clocks.truncate(len);
    }

    /// The plies of the rows from `start` on; they must be wanted.
    pub(super) fn plies(&self, start: usize) -> &[u16] {
        &self.plies[start..]
    }

    /// A number for the boards from `start` on.
    pub(super) fn hash(&self, start: usize) -> u64 {
        (start..self.len()).fold(0, |hash: u64, row| {
            let (board, _) = self.row(row);
            [board.color, board.types[0], board.types[1], board.types[2]]
                .iter()
                .fold(hash, |hash, plane| {
                    (hash.rotate_left(23) ^ plane).wrapping_mul(0x9E37_79B9_7F4A_7C15)
                })
        })
    }

    /// All rows as a batch with these of the columns, as far as they were recorded and hold anything.
    pub(super) fn into_batch(mut self, fields: Fields) -> Batch {
        let len = self.len();
        let lanes = len % Group::LEN;
        if let Some(last) = self.groups.last_mut()
            && lanes != 0
        {
            (lanes..Group::LEN).for_each(|lane| last.set(lane, Packed::default()));
        }
        let mut batch = Batch::owned(self.groups, len);
        batch.halfmove = self.halfmove;
        batch.fullmove = self.fullmove;
        fn column<T: Copy + Default>(
            values: &[T],
            len: usize,
            present: impl Fn(T) -> bool,
        ) -> Column<T> {
            if values.is_empty() {
                return Column::default();
            }
            let mut column = Column::default();
            for &value in values {
                column.push(Some(value).filter(|&value| present(value)));
            }
            (values.len()..len).for_each(|_| column.push(None));
            column
        }
        let mut put = |field, values: Values| {
            if fields.contains(field) && values.count_present() != 0 {
                batch.fields.insert(field, values);
            }
        };
        put(
            Field::Move,
            Values::U16(column(&self.moves, len, |bits| bits != 0)),
        );
        put(Field::Ply, Values::U16(column(&self.plies, len, |_| true)));
        let has_score = |score| score != NO_SCORE;
        put(
            Field::Score,
            Values::I16(column(&self.scores, len, has_score)),
        );
        let has_clock = |clock| clock != NO_CLOCK;
        put(
            Field::Clock,
            Values::U32(column(&self.clocks, len, has_clock)),
        );
        batch
    }
}

/// The value of `[%eval ..]`, in centipawns from White's side: pawns with decimals, or `#` and a number of
/// moves, negative where Black mates.
pub(super) fn score(value: &[u8]) -> Option<i16> {
    if let Some(mate) = value.strip_prefix(b"#") {
        let (negative, digits) = match mate {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let (moves, rest) = number(digits)?;
        ends(rest)?;
        return Some(mate_score(negative, moves.into()));
    }
    let (negative, digits) = match value {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (pawns, rest) = number(digits)?;
    let mut cents = 0;
    let mut rest = rest;
    if let [b'.', decimals @ ..] = rest {
        let mut worth = 10;
        rest = decimals;
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            cents += u32::from(digit - b'0') * worth;
            worth /= 10;
            rest = after;
        }
    }
    ends(rest)?;
    let total = (pawns.saturating_mul(100).saturating_add(cents)).min(MATE_SCORE as u32 - 1000);
    let total = total as i16;
    Some(if negative { -total } else { total })
}

/// The score of a mate in so many moves.
pub(in crate::formats) fn mate_score(black_mates: bool, moves: u64) -> i16 {
    let score = MATE_SCORE - moves.min(999) as i16;
    if black_mates { -score } else { score }
}

/// The value of `[%clk h:mm:ss]`, with decimals or not, in hundredths of a second.
pub(super) fn clock(value: &[u8]) -> Option<u32> {
    let mut total = 0u32;
    let mut rest = value;
    for part in 0.. {
        let (number, after) = number(rest)?;
        total = total.checked_mul(60)?.checked_add(number)?;
        match after {
            [b':', after @ ..] if part < 2 => rest = after,
            _ => {
                rest = after;
                break;
            }
        }
    }
    let mut hundredths = 0;
    if let [b'.', decimals @ ..] = rest {
        for (digit, worth) in decimals.iter().zip([10, 1]) {
            hundredths += u32::from(digit.checked_sub(b'0').filter(|&digit| digit < 10)?) * worth;
        }
    } else {
        ends(rest)?;
    }
    total.checked_mul(100)?.checked_add(hundredths)
}

/// Leading digits and what follows them.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = std::str::from_utf8(&text[..len]).ok()?;
    Some((digits.parse().ok()?, &text[len..]))
}

/// Whether a value may end here; ChessBase and others append a depth after a comma.
fn ends(rest: &[u8]) -> Option<()> {
    matches!(rest, [] | [b',' | b' ' | b'/', ..]).then_some(())
}
