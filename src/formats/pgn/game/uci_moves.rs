//! Games whose moves are named by their squares, as UCI writes them: `e2e4`, `a7a8q`, `e1g1` or `e1h1` for castling, and
//! `0000` for a null move, with blanks between them. A result may be the last word.
//!
//! No such word is ambiguous, and all of a game's moves have this form if the first one has. Where the lanes play games
//! later, they find on their boards which piece moves, whether it captures, and whether the move is legal. Other games,
//! and those with a move that is not, are played move by move.

use super::error::MOST_PLIES;
use super::movetext_words::{result, shown};
use super::tag_section::start_board;
use super::{BadGame, Game, GameError, Games};
use crate::chess::{Move, MoveError};
use crate::formats::pgn::records::Records;
use crate::formats::pgn::tags::Tags;
use crate::games::Verdict;
use crate::kernels::replay::Order;
use crate::replay::Board;
use crate::text::eight_bytes;
use std::cell::OnceCell;
use std::ops::Range;

/// A word of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// From, to, and the code of the piece that a pawn becomes, or 0.
    Squares(u8, u8, u8),
    Null,
}

impl Word {
    /// `None` if a word is no move.
    #[inline]
    fn of(word: &[u8]) -> Option<Self> {
        let square = |file: u8, rank: u8| {
            let (file, rank) = (file.wrapping_sub(b'a'), rank.wrapping_sub(b'1'));
            (file | rank < 8).then(|| 8 * rank + file)
        };
        let (squares, promotion) = match *word {
            [a, b, c, d] => ([a, b, c, d], 0),
            [a, b, c, d, letter] => {
                let code = match letter.to_ascii_lowercase() {
                    b'n' => 2,
                    b'b' => 3,
                    b'r' => 4,
                    b'q' => 5,
                    _ => return None,
                };
                ([a, b, c, d], code)
            }
            _ => return None,
        };
        if squares == *b"0000" && promotion == 0 {
            return Some(Self::Null);
        }
        let [a, b, c, d] = squares;
        Some(Self::Squares(square(a, b)?, square(c, d)?, promotion))
    }
}

/// A move by its squares, in 15 bits: from, to, and the code of the piece that a pawn becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) struct SquareWord(u16);

impl SquareWord {
    /// In place of anything else.
    pub(in crate::formats) const NONE: Self = Self(1 << 15);

    /// The word with this text; none if it is not written as [`Self::push_text`] does.
    #[inline]
    pub(in crate::formats) fn of(text: &[u8]) -> Self {
        match (Word::of(text), text) {
            (Some(Word::Squares(from, to, promotion)), [_, _, _, _] | [_, _, _, _, b'a'..=b'z']) => {
                Self(u16::from(from) | u16::from(to) << 6 | u16::from(promotion) << 12)
            }
            _ => Self::NONE,
        }
    }

    #[inline(always)]
    const fn squares(self) -> (u8, u8, u8) {
        ((self.0 & 63) as u8, (self.0 >> 6 & 63) as u8, (self.0 >> 12) as u8)
    }

    /// Number of letters.
    #[inline]
    fn letters(self) -> usize {
        4 + usize::from(self.0 >> 12 != 0)
    }

    fn push_text(self, out: &mut Vec<u8>) {
        let (from, to, promotion) = self.squares();
        for square in [from, to] {
            out.extend([b'a' + square % 8, b'1' + square / 8]);
        }
        out.extend(promotion.checked_sub(2).map(|piece| b"nbrq"[usize::from(piece & 3)]));
    }
}

/// The moves of rows by their squares, as far as rows have nothing else.
#[derive(Debug, Default)]
pub(in crate::formats) struct SquareRows {
    words: Vec<SquareWord>,
    rows: Vec<SquareRow>,
}

#[derive(Debug, Default)]
struct SquareRow {
    /// The words, of which other rows have none.
    words: Range<usize>,
    /// Number of bytes of the text, and the text if it was needed.
    len: usize,
    text: OnceCell<Box<[u8]>>,
}

impl SquareRows {
    /// Adds a row with these words. If one of them is none, if there are none, or if their text may have more than `most`
    /// bytes, the row gets no words. Returns whether it has some.
    #[inline]
    pub(in crate::formats) fn push(&mut self, words: impl Iterator<Item = SquareWord>, most: usize) -> bool {
        let start = self.words.len();
        let mut letters = 0;
        for word in words {
            if word == SquareWord::NONE || letters >= most {
                self.words.truncate(start);
                break;
            }
            letters += 1 + word.letters();
            self.words.push(word);
        }
        let words = start..self.words.len();
        let has_words = !words.is_empty();
        let len = if has_words { letters - 1 } else { 0 };
        self.rows.push(SquareRow { words, len, text: OnceCell::new() });
        has_words
    }

    /// The words of a row; none if the row has anything else.
    #[inline]
    pub(in crate::formats::pgn) fn row(&self, row: usize) -> Option<&[SquareWord]> {
        let found = self.rows.get(row)?;
        self.words.get(found.words.clone()).filter(|words| !words.is_empty())
    }

    /// Number of bytes of the text of a row.
    #[inline]
    pub(in crate::formats::pgn) fn text_len(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |row| row.len)
    }

    /// Number of words of all rows.
    pub(in crate::formats::pgn) fn len(&self) -> usize {
        self.words.len()
    }

    /// The words of a row as a text, with blanks between them.
    #[cold]
    pub(in crate::formats::pgn) fn text(&self, row: usize) -> Option<&[u8]> {
        let words = self.row(row)?;
        let text = self.rows[row].text.get_or_init(|| {
            let mut text = Vec::with_capacity(self.text_len(row));
            for (number, word) in words.iter().enumerate() {
                if number > 0 {
                    text.push(b' ');
                }
                word.push_text(&mut text);
            }
            text.into()
        });
        Some(text)
    }
}

/// Whether the moves of a text are named by their squares: its first word is such a move.
pub(in crate::formats::pgn) fn are_uci_moves(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let len = text.iter().take(6).take_while(|byte| !byte.is_ascii_whitespace()).count();
    Word::of(&text[..len]).is_some()
}

/// The squares of a word of four letters, the first of eight bytes, behind which a blank stands.
#[inline(always)]
const fn squares_before_blank(bytes: u64) -> Option<[u8; 2]> {
    const BASE: u32 = u32::from_le_bytes(*b"a1a1");
    if (bytes >> 32) as u8 != b' ' {
        return None;
    }
    // A byte below its base borrows from the next one, and has high bits itself.
    let numbers = (bytes as u32).wrapping_sub(BASE);
    if numbers & 0xF8F8_F8F8 != 0 {
        return None;
    }
    let [a, b, c, d] = numbers.to_le_bytes();
    Some([8 * b + a, 8 * d + c])
}

/// The words of a text, and where each begins.
fn words(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let len = text[at..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let start = at;
        at += len;
        (len > 0).then(|| (start, &text[start..at]))
    })
}

impl<'a> Games<'a> {
    /// Adds the orders of a game with these moves, whose tags are these, for the lanes. `None` if it has to be played
    /// move by move; nothing is recorded then.
    pub(in crate::formats::pgn) fn squares_game(
        &mut self,
        tags: &Tags<'a>,
        words: &[SquareWord],
        text_len: usize,
        records: &mut Records,
    ) -> Option<Game<'a>> {
        let is_usual = self.quick && tags.fen().is_none() && tags.variant().is_none();
        if !is_usual || !records.may_play_later() || words.len() > MOST_PLIES as usize || text_len > self.max_record {
            return None;
        }
        records.begin_game();
        let are_added = records.push_game(
            words,
            #[inline(always)]
            |word| {
                let (from, to, promotion) = word.squares();
                Some(Order::of_move([from, to], promotion, None))
            },
        );
        are_added.then(|| {
            let mut game = Game { end: text_len, bad: None, ..Game::without_moves(tags) };
            game.tag_has_result = tags.verdict().is_some();
            game.plies = words.len() as u32;
            game
        })
    }

    /// Reads the game of a text of moves by their squares, whose tags are these; records its positions.
    pub(in crate::formats::pgn) fn uci_game(
        &mut self,
        tags: &Tags<'a>,
        text: &'a [u8],
        later: bool,
        records: &mut Records,
    ) -> Game<'a> {
        records.begin_game();
        let mut game = Game { end: text.len(), bad: None, ..Game::without_moves(tags) };
        game.tag_has_result = tags.verdict().is_some();
        if text.len() > self.max_record {
            let error = GameError::TooLong(self.max_record);
            game.bad = Some(Box::new(BadGame { error, offset: 0, ply: 0, position: None }));
            return game;
        }
        let is_usual = self.quick && tags.fen().is_none() && tags.variant().is_none();
        if later && is_usual && records.may_play_later() && self.play_later(text, &mut game, records) {
            return game;
        }
        match start_board(tags, self.strict) {
            Ok(start) => {
                game.dropped_castling = start.dropped_castling;
                game.has_fen_rest = start.has_fen_rest;
                game.castles_as_chess960 = start.castles_as_chess960;
                play_now(start.board, text, self.strict, &mut game, records);
            }
            Err(error) => game.bad = Some(Box::new(BadGame { error, offset: 0, ply: 0, position: None })),
        }
        game
    }

    /// Adds the orders of a game for the lanes; false if it has to be played move by move.
    fn play_later(&mut self, text: &'a [u8], game: &mut Game<'a>, records: &mut Records) -> bool {
        self.orders.clear();
        let mut at = 0;
        while at < text.len() {
            // Most words are followed by one blank.
            if let Some(squares) = squares_before_blank(eight_bytes(text, at)) {
                self.orders.push(Order::of_move(squares, 0, None));
                at += 5;
                continue;
            }
            let Some((before, word)) = words(&text[at..]).next() else { break };
            let start = at + before;
            at = start + word.len();
            match Word::of(word) {
                Some(Word::Squares(from, to, promotion)) => {
                    self.orders.push(Order::of_move([from, to], promotion, None));
                }
                Some(Word::Null) => return false,
                None => match result(word, self.strict) {
                    Some((verdict, len)) if len == word.len() && text[at..].trim_ascii().is_empty() => {
                        end(game, verdict, word);
                    }
                    _ => return false,
                },
            }
        }
        if self.orders.len() > MOST_PLIES as usize {
            return false;
        }
        records.push_start();
        records.push_orders(1, &self.orders);
        game.plies = self.orders.len() as u32;
        true
    }
}

/// Notes the result at the end of a text.
fn end<'a>(game: &mut Game<'a>, verdict: Verdict, token: &'a [u8]) {
    game.terminated = true;
    match verdict {
        Verdict::Outcome(outcome) => game.outcome = Some(outcome),
        Verdict::Unequal => game.unequal = Some(token),
        Verdict::Unknown => {}
    }
}

/// Plays a game from a position, move by move.
fn play_now<'a>(mut board: Board, text: &'a [u8], strict: bool, game: &mut Game<'a>, records: &mut Records) {
    let mut row = Some(records.push(board, 0));
    let mut words = words(text).peekable();
    while let Some((offset, word)) = words.next() {
        let error = match Word::of(word) {
            Some(_) if game.plies == MOST_PLIES => GameError::TooManyMoves,
            Some(found) => match play(board, found, word) {
                Ok((next, bits)) => {
                    board = next;
                    game.plies += 1;
                    row = records.follow(row, bits, board, game.plies);
                    continue;
                }
                Err(()) => GameError::Illegal(shown(word)),
            },
            None => match result(word, strict).filter(|(_, len)| *len == word.len()) {
                Some((verdict, _)) => {
                    end(game, verdict, word);
                    match words.peek() {
                        None => break,
                        Some((_, word)) => GameError::AfterEnd(shown(word)),
                    }
                }
                None => GameError::Token(shown(word)),
            },
        };
        let position = (!matches!(error, GameError::AfterEnd(_))).then(|| board.position());
        game.bad = Some(Box::new(BadGame { error, offset, ply: game.plies, position }));
        break;
    }
    game.last = Some(board.position());
}

/// The board after a move, and the bits of the move, which a null move does not have.
pub(super) fn play(board: Board, found: Word, word: &[u8]) -> Result<(Board, Option<u16>), ()> {
    let Word::Squares(..) = found else {
        return board.null_move().map(|board| (board, None)).map_err(|_| ());
    };
    if let Some((next, bits)) = board.play_squares(word) {
        return Ok((next, Some(bits)));
    }
    let mut position = board.position();
    let text = std::str::from_utf8(word).map_err(|_| ())?;
    let mv = Move::from_uci(text, &position).map_err(|_: MoveError| ())?;
    position.make(mv);
    let mut next = Board::new(&position);
    next.mark(position.idle_en_passant_after(mv));
    Ok((next, Some(mv.to_bits())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_eight_bytes_are_words() {
        // Each byte is changed to any other.
        for place in 0..6 {
            for byte in 0..=u8::MAX {
                let mut text = *b"e2h8 a7a";
                text[place] = byte;
                let found = squares_before_blank(u64::from_le_bytes(text));
                let plain = match Word::of(&text[..4]) {
                    Some(Word::Squares(from, to, _)) if text[4] == b' ' => Some([from, to]),
                    _ => None,
                };
                assert_eq!(found, plain, "{text:?}");
            }
        }
    }
}
