//! Games in the words of two bytes that Aix writes at its level *Low*: a byte with the square that a move comes from, and
//! one with the square that it goes to; bits beside them mark captures and promotions. Castling goes to the rook. The last
//! byte of a game says the level.
//!
//! As with [moves in UCI](super::uci_moves), squares become orders for the lanes; other games are played move by move. Clocks and evaluations come as lists of numbers.

use super::error::MOST_PLIES;
use super::uci_moves::{Word, play};
use super::{BadGame, Game, GameError, Games};
use crate::chess::Position;
use crate::formats::pgn::comment_values::{Eval, LONGEST_MATE};
use crate::formats::pgn::records::Records;
use crate::formats::pgn::tags::Tags;
use crate::kernels::replay::Order;
use crate::replay::Board;
use crate::table::MOST_CENTIPAWNS;

/// What stands beside the moves of a game.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::formats) struct PlyValues<'a> {
    /// Seconds after each move of White, and of Black; [`PlyValues::NONE`] where there is none.
    pub(in crate::formats) clocks: [&'a [i32]; 2],
    /// Evaluations after each move, as Aix writes them.
    pub(in crate::formats) evals: &'a [i32],
    /// The number of moves that the table says.
    pub(in crate::formats) plies: Option<u64>,
}

impl PlyValues<'_> {
    /// The number in place of a missing value.
    pub(in crate::formats) const NONE: i32 = i32::MIN;
}

/// The levels that are not read: their moves have codes of different lengths.
const LEVELS: [&str; 2] = ["Medium", "High"];

/// The name of the level of a game, if it is one that is not read.
pub(in crate::formats) fn unread_level(bytes: &[u8]) -> Option<&'static str> {
    let level = usize::from(bytes.last()? >> 6);
    LEVELS.get(level.checked_sub(1)?).copied()
}

/// A move of two bytes.
#[derive(Clone, Copy)]
struct Bytes {
    from: u8,
    to: u8,
    /// The code of the piece that a pawn becomes, or 0.
    promotion: u8,
    captures: bool,
}

impl Bytes {
    /// `None` if bits that mean nothing are set.
    #[inline]
    fn of([first, second]: [u8; 2]) -> Option<Self> {
        let promotion = match (first >> 6 & 1, second >> 6) {
            (0, 0) => 0,
            (0, _) => return None,
            (_, piece) => 5 - piece,
        };
        Some(Self { from: first & 63, to: second & 63, promotion, captures: first >> 7 != 0 })
    }

    /// The move as UCI writes it.
    fn uci(self) -> Vec<u8> {
        let square = |square: u8| [b'a' + square % 8, b'1' + square / 8];
        let mut text = [square(self.from), square(self.to)].concat();
        text.extend(self.promotion.checked_sub(2).map(|piece| b"nbrq"[usize::from(piece & 3)]));
        text
    }
}

impl<'a> Games<'a> {
    /// Reads the game of a row, whose tags are these; records its positions.
    pub(in crate::formats::pgn) fn write_aix(
        &mut self,
        tags: &Tags<'a>,
        bytes: &'a [u8],
        values: &PlyValues<'_>,
        later: bool,
        records: &mut Records,
    ) -> Game<'a> {
        records.begin_game();
        let mut game = Game { end: bytes.len(), bad: None, ..Game::without_moves(tags) };
        game.tag_has_result = tags.verdict().is_some();
        let mut wrong = |error| {
            let bad = BadGame { error, offset: 0, ply: 0, position: None };
            Game { bad: Some(Box::new(bad)), ..std::mem::replace(&mut game, Game::without_moves(tags)) }
        };
        let Some((&level, moves)) = bytes.split_last() else {
            return wrong(GameError::Movedata("it is empty"));
        };
        if bytes.len() > self.max_record {
            return wrong(GameError::TooLong(self.max_record));
        }
        match unread_level(bytes) {
            Some(name) => return wrong(GameError::AixLevel(name)),
            None if level >> 6 == 3 => return wrong(GameError::AixLevel("3, which does not exist,")),
            None => {}
        }
        let (moves, half) = moves.as_chunks::<2>();
        let end = match (half, level) {
            ([], 0) => None,
            ([_, ..], _) => Some(GameError::Movedata("half a move is at its end")),
            ([], _) => Some(GameError::Movedata("its last byte has bits without a meaning")),
        };
        let of_side = |side: usize| (moves.len() + 1 - side) / 2;
        let count = moves.len() as u64;
        let end = end.or(match () {
            () if values.plies.is_some_and(|plies| plies != count) => {
                Some(GameError::PliesDiffer(values.plies.unwrap_or_default(), count))
            }
            () if (0..2).any(|side| values.clocks[side].len() > of_side(side)) => Some(GameError::TooManyClocks),
            () if values.evals.len() > moves.len() => Some(GameError::TooManyEvals),
            () => None,
        });
        let start = records.len();
        let is_played_later = later && end.is_none() && self.quick && records.may_play_later();
        if !(is_played_later && Self::aix_later(moves, &mut game, records)) {
            play_now(moves, &mut game, records);
            if game.bad.is_none() {
                let bad = |error| BadGame { error, offset: bytes.len(), ply: game.plies, position: None };
                game.bad = end.map(bad).map(Box::new);
            }
        }
        let plies = game.plies as usize;
        // Most games have no clocks.
        let with_clocks = 2 * values.clocks.iter().map(|clocks| clocks.len()).max().unwrap_or(0);
        for ply in 0..plies.min(with_clocks) {
            if let Some(&seconds) = values.clocks[ply % 2].get(ply / 2)
                && let Ok(seconds) = u32::try_from(seconds)
            {
                records.set_clock(start + ply, 100 * seconds);
            }
        }
        for (ply, &eval) in (1..=plies).zip(values.evals) {
            if eval != PlyValues::NONE {
                records.set_score(start + ply, eval_of(eval));
            }
        }
        game
    }

    /// Adds the orders of a game for the lanes; false if it has to be played move by move.
    fn aix_later(moves: &[[u8; 2]], game: &mut Game<'a>, records: &mut Records) -> bool {
        if moves.len() > MOST_PLIES as usize {
            return false;
        }
        let are_added = records.push_game(
            moves,
            #[inline(always)]
            |bytes| {
                let Bytes { from, to, promotion, captures } = Bytes::of(bytes)?;
                Some(Order::of_move([from, to], promotion, Some(captures)))
            },
        );
        if are_added {
            game.plies = moves.len() as u32;
        }
        are_added
    }
}

/// An evaluation: centipawns, or beyond them the moves to a mate.
fn eval_of(value: i32) -> Eval {
    const MATES: i32 = 32_256;
    let mate = |black_mates: bool, moves: i32| Eval::mate(black_mates, moves.unsigned_abs().into());
    let most = i32::from(MOST_CENTIPAWNS);
    match value {
        MATES.. => mate(false, 32_768 - value),
        _ if value < -MATES => mate(true, value + 32_769),
        _ if value.abs() > most => Eval::Beyond((value.signum() * most) as i16),
        _ => Eval::Centipawns(value as i16),
    }
}
const _: () = assert!(LONGEST_MATE >= 512);

/// Plays a game move by move.
fn play_now(moves: &[[u8; 2]], game: &mut Game<'_>, records: &mut Records) {
    let mut board = Board::new(&Position::standard());
    let mut row = Some(records.push(board, 0));
    for (number, &bytes) in moves.iter().enumerate() {
        let error = match Bytes::of(bytes) {
            Some(_) if game.plies == MOST_PLIES => GameError::TooManyMoves,
            Some(word) => match play_one(board, word) {
                Ok((next, bits)) => {
                    board = next;
                    game.plies += 1;
                    row = records.follow(row, Some(bits), board, game.plies);
                    continue;
                }
                Err(error) => error,
            },
            None => GameError::Movedata("a move that is no promotion has the bits of one"),
        };
        let bad = BadGame { error, offset: 2 * number, ply: game.plies, position: Some(board.position()) };
        game.bad = Some(Box::new(bad));
        break;
    }
    game.last = Some(board.position());
}

/// The board after a move, and the bits of the move.
fn play_one(board: Board, word: Bytes) -> Result<(Board, u16), GameError> {
    let uci = word.uci();
    let found = Word::Squares(word.from, word.to, word.promotion);
    let played = play(board, found, &uci).ok().and_then(|(next, bits)| Some((next, bits?)));
    let Some((next, bits)) = played else {
        return Err(GameError::Illegal(String::from_utf8_lossy(&uci).into_owned()));
    };
    let pieces = |board: Board| board.packed().planes().occupied().count_ones();
    if (pieces(next) < pieces(board)) == word.captures {
        Ok((next, bits))
    } else {
        Err(GameError::Movedata("the bit of captures is wrong"))
    }
}
