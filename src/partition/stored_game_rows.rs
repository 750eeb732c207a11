//! Rows of games as bytes, to be sorted.

use crate::games::{AixGame, GameMatches, GameRow, GameTags, Outcome, WrittenMoves};
use crate::packed::Packed;
use crate::table::OF_GAME;

/// Appends what is known about a game, but for its main line and its place in a chunk.
pub(crate) fn put(game: &GameRow, to: &mut Vec<u8>) {
    put_number(game.game, to);
    put_option(game.plies, to, |plies, to| put_number(plies.into(), to));
    put_option(game.result, to, |result, to| to.push(result.code()));
    let last = game.last.as_ref();
    // Every valid position can be packed.
    let board = last.and_then(|last| Some((Packed::pack(last).ok()?, last)));
    put_option(board, to, |(Packed { color, types }, last), to| {
        [color].iter().chain(&types).for_each(|plane| to.extend_from_slice(&plane.to_le_bytes()));
        put_number(last.halfmove.into(), to);
        put_number(last.fullmove.into(), to);
    });
    put_option(game.error.as_deref(), to, put_text);
    put_option(game.matches.as_deref(), to, |GameMatches { plies, first, last, count }, to| {
        put_number(plies.len() as u64, to);
        plies.iter().chain([first, last, count]).for_each(|&number| put_number(number.into(), to));
    });
    put_option(game.values.as_deref(), to, |values, to| {
        values.iter().for_each(|&value| put_option(value, to, put_number));
    });
    put_option(game.moves.as_deref(), to, |moves, to| {
        let WrittenMoves { start, movetext, uci, san, aix } = moves;
        [start, movetext, uci, san].iter().for_each(|text| put_option(text.as_deref(), to, put_text));
        put_option(aix.as_ref(), to, |AixGame { movedata, clocks: [white, black], evals }, to| {
            put_number(movedata.len() as u64, to);
            to.extend_from_slice(movedata);
            for list in [white, black, evals] {
                put_option(list.as_deref(), to, |list, to| {
                    put_number(list.len() as u64, to);
                    list.iter().for_each(|&number| put_number((number as u32).into(), to));
                });
            }
        });
    });
    game.tags.iter().flat_map(|(name, value)| [name, value]).for_each(|text| put_text(text, to));
}

/// A game of which nothing is known.
pub(crate) fn unknown() -> GameRow {
    GameRow {
        game: 0,
        tags: GameTags::default(),
        plies: None,
        result: None,
        last: None,
        error: None,
        matches: None,
        values: None,
        main_line: None,
        record: 0,
        moves: None,
        start: 0,
        movetext: 0,
        moves_end: 0,
        end: 0,
    }
}

/// Takes a game that was [put](put) there; `None` if the bytes are something else.
pub(crate) fn take(bytes: &[u8]) -> Option<GameRow> {
    let from = &mut { bytes };
    let mut game = GameRow {
        game: take_number(from)?,
        plies: take_option(from, take_small)?,
        result: take_option(from, |from| {
            let code = *from.split_off_first()?;
            [Outcome::Black, Outcome::Draw, Outcome::White].into_iter().find(|outcome| outcome.code() == code)
        })?,
        last: take_option(from, |from| {
            let mut plane = || Some(u64::from_le_bytes(*from.split_off(..8)?.first_chunk()?));
            let board = Packed { color: plane()?, types: [plane()?, plane()?, plane()?] };
            board.unpack(take_small(from)?, take_small(from)?).ok()
        })?,
        error: take_option(from, |from| take_text(from).map(str::to_owned))?,
        matches: take_option(from, |from| {
            let len = take_number(from)?;
            let plies = (0..len).map(|_| take_small(from)).collect::<Option<_>>()?;
            let [first, last, count] = [take_small(from)?, take_small(from)?, take_small(from)?];
            Some(Box::new(GameMatches { plies, first, last, count }))
        })?,
        values: take_option(from, |from| {
            let mut values = [None; OF_GAME.len()];
            for value in &mut values {
                *value = take_option(from, take_number)?;
            }
            Some(Box::new(values))
        })?,
        moves: take_option(from, |from| {
            let mut next = || take_option(from, |from| take_text(from).map(Box::from));
            let [start, movetext, uci, san] = [next()?, next()?, next()?, next()?];
            let aix = take_option(from, |from| {
                let len: usize = take_small(from)?;
                let movedata = from.split_off(..len)?.to_vec();
                let mut list = || {
                    take_option(from, |from| {
                        let len: usize = take_small(from)?;
                        (0..len).map(|_| take_small::<u32>(from).map(|number| number as i32)).collect()
                    })
                };
                Some(AixGame { movedata, clocks: [list()?, list()?], evals: list()? })
            })?;
            Some(Box::new(WrittenMoves { start, movetext, uci, san, aix }))
        })?,
        ..unknown()
    };
    while !from.is_empty() {
        let (name, value) = (take_text(from)?, take_text(from)?);
        game.tags.push(name, value);
    }
    Some(game)
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn put_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn take_number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *from.split_off_first()?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take_small<T: TryFrom<u64>>(from: &mut &[u8]) -> Option<T> {
    take_number(from)?.try_into().ok()
}

fn put_text(text: &str, to: &mut Vec<u8>) {
    put_number(text.len() as u64, to);
    to.extend_from_slice(text.as_bytes());
}

fn take_text<'a>(from: &mut &'a [u8]) -> Option<&'a str> {
    let len: usize = take_small(from)?;
    std::str::from_utf8(from.split_off(..len)?).ok()
}

fn put_option<T>(value: Option<T>, to: &mut Vec<u8>, put: impl FnOnce(T, &mut Vec<u8>)) {
    to.push(value.is_some().into());
    if let Some(value) = value {
        put(value, to);
    }
}

/// The value, if there is one; `None` if the bytes are something else.
fn take_option<'a, T>(from: &mut &'a [u8], take: impl FnOnce(&mut &'a [u8]) -> Option<T>) -> Option<Option<T>> {
    match from.split_off_first()? {
        0 => Some(None),
        _ => take(from).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;

    #[test]
    fn games_come_back() {
        let empty = unknown();
        let last: Position = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQ d6 7 300".parse().unwrap();
        let matches = GameMatches { plies: vec![0, 70_000], first: 1, last: u32::MAX, count: 3 };
        let mut values = [None; OF_GAME.len()];
        (values[0], values[13]) = (Some(u64::MAX), Some(0));
        let full = GameRow {
            game: 1 << 40,
            plies: Some(300),
            result: Some(Outcome::Draw),
            last: Some(last),
            error: Some("illegal move `é`".to_owned()),
            matches: Some(Box::new(matches)),
            values: Some(Box::new(values)),
            moves: {
                let aix = AixGame { movedata: vec![1, 2, 0], clocks: [None, Some(vec![3])], evals: Some(vec![-5]) };
                let movetext = Some("1. e4 *".into());
                Some(Box::new(WrittenMoves { movetext, aix: Some(aix), ..WrittenMoves::default() }))
            },
            tags: [("White", ""), ("Event", &"é".repeat(200))].into_iter().collect(),
            ..empty.clone()
        };
        for game in [empty, full] {
            let mut bytes = Vec::new();
            put(&game, &mut bytes);
            assert_eq!(format!("{:?}", take(&bytes).unwrap()), format!("{game:?}"));
            // Only whole tags can be cut off.
            let cut = (0..bytes.len()).filter(|&len| take(&bytes[..len]).is_some()).count();
            assert_eq!(cut, game.tags.iter().len());
        }
    }
}
