//! Rows of games that are played later, in lanes.
//!
//! A game gets its rows when its words are read, and everything but the boards, clocks and moves is known then. The
//! games are played in tiles of some thousand rows, while the cache still holds their rows and orders. If only some of
//! the rows of a game are kept, or none, it is played apart from the others, and these rows are copied.

use super::{NO_SQUARE, Records, note};
use crate::chess::Position;
use crate::kernels::replay::Order;
use crate::packed::{Group, Packed};
use crate::replay::{OrderRows, Rows, play_all};

/// The number of rows that are played together, at least. A cache of 512 KiB holds them and their orders, so that they do
/// not come from memory again; with fewer rows, the lanes would end at different times. Unit tests, whose texts are short,
/// have many tiles.
pub(super) const TILE: usize = if cfg!(test) { 16 } else { 1 << 13 };

/// A row of a game that is played later.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats::pgn) enum LaterRow {
    /// Among the rows that are kept.
    Kept(usize),
    /// Among those of games that are played apart.
    DeferredRow(usize),
}

/// Games that are played later, and apart from the rows that are kept.
#[derive(Debug, Default)]
pub(super) struct DeferredRow {
    orders: OrderRows,
    /// The first row of each game, and the place of the game in the text.
    games: Vec<(usize, usize)>,
    /// The rows that are kept: where they are kept, and which ones they are.
    pub(super) kept: Vec<(usize, usize)>,
}

/// The rows of [`DeferredRow`].
#[derive(Debug, Default)]
struct Played {
    groups: Vec<Group>,
    halfmove: Vec<u16>,
    fullmove: Vec<u16>,
    moves: Vec<u16>,
    pseudo_en_passants: Vec<(usize, u8)>,
    /// The places of games that cannot be played.
    failed: Vec<usize>,
}

impl DeferredRow {
    /// Plays all games. Their rows are only needed if some are kept, or their positions.
    fn play(&mut self, with_moves: bool, positions: &[LaterRow]) -> Played {
        let mut played = Played::default();
        if self.games.is_empty() {
            return played;
        }
        if !self.kept.is_empty() || positions.iter().any(|row| matches!(row, LaterRow::DeferredRow(_))) {
            let len = self.orders.len();
            played.groups.resize(len.div_ceil(Group::LEN), Group::default());
            played.halfmove.resize(len, 0);
            played.fullmove.resize(len, 0);
            played.moves.resize(if with_moves { len } else { 0 }, 0);
        }
        let mut rows = Rows {
            groups: &mut played.groups,
            halfmove: &mut played.halfmove,
            fullmove: &mut played.fullmove,
            moves: &mut played.moves,
            pseudo_en_passants: Vec::new(),
            failed: Vec::new(),
        };
        play_all(&mut self.orders, &mut rows);
        let Rows { pseudo_en_passants, failed, .. } = rows;
        let place = |row: usize| self.games[self.games.partition_point(|&(first, _)| first <= row) - 1].1;
        played.failed = failed.into_iter().map(place).collect();
        played.pseudo_en_passants = pseudo_en_passants;
        played.pseudo_en_passants.sort_unstable();
        played
    }
}

impl Played {
    fn row(&self, row: usize) -> (Packed, [u16; 2]) {
        (self.groups[row / Group::LEN].get(row % Group::LEN), [self.halfmove[row], self.fullmove[row]])
    }
}

impl Records {
    /// Whether games may be played later.
    pub(in crate::formats::pgn) const fn may_play_later(&self) -> bool {
        self.orders.is_some()
    }

    /// Adds the row of the start position for a game that will be [played](Self::play) later; returns the row.
    pub(in crate::formats::pgn) fn push_start(&mut self) -> usize {
        let row = self.len();
        self.played_later_from = Some(row);
        if let Some(orders) = &mut self.orders {
            orders.push(Order::START);
        }
        self.push_rows(0, 1);
        row
    }

    /// Adds a row for each of these words of the text, up to the first that is not a move in the form of the standard;
    /// returns their number. They will be played later. The first leads to a position of this ply.
    pub(in crate::formats::pgn) fn push_words(&mut self, ply: u32, text: &[u8], starts: &[u32], ends: &[u32]) -> usize {
        let Some(orders) = &mut self.orders else { return 0 };
        let count = orders.push_words(text, starts, ends);
        self.push_rows(ply, count);
        count
    }

    /// Adds a row for each order; they will be played later. The first leads to a position of this ply.
    #[cfg(feature = "parquet")]
    pub(in crate::formats::pgn) fn push_orders(&mut self, ply: u32, found: &[Order]) {
        let Some(orders) = &mut self.orders else { return };
        orders.extend(found);
        self.push_rows(ply, found.len());
    }

    /// Adds the row of the start position for a game, and one for the order of each of these moves; they will be played
    /// later. Adds nothing, and returns false, if a move has no order or games are not played later.
    #[cfg(feature = "parquet")]
    #[inline(always)]
    pub(in crate::formats::pgn) fn push_game<T: Copy>(
        &mut self,
        moves: &[T],
        order_of: impl FnMut(T) -> Option<Order>,
    ) -> bool {
        let row = self.len();
        let Some(orders) = &mut self.orders else { return false };
        orders.push(Order::START);
        if !orders.extend_with(moves, order_of) {
            orders.truncate(row);
            return false;
        }
        self.played_later_from = Some(row);
        self.push_rows(0, 1 + moves.len());
        true
    }

    /// Makes room for rows that will be played later.
    fn push_rows(&mut self, ply: u32, count: usize) {
        let len = self.len() + count;
        if self.requested.plies {
            self.plies.extend((ply..).map(|ply| ply as u16).take(count));
        }
        if self.requested.moves {
            self.moves.resize(len, 0);
        }
        self.groups.resize(len.div_ceil(Group::LEN), Group::default());
        self.halfmove.resize(len, 0);
        self.fullmove.resize(len, 0);
        self.last_row = LaterRow::Kept(len - 1);
    }

    /// Drops the rows of a game from `start` on, which is not played at all.
    pub(in crate::formats::pgn) fn drop_game(&mut self, start: usize) {
        self.truncate(start);
        self.played_later_from = None;
    }

    /// The row of the last position of the game, if it is played later.
    pub(in crate::formats::pgn) fn last_row(&self) -> Option<LaterRow> {
        self.played_later_from.map(|_| self.last_row)
    }

    /// If the game whose rows begin at `start` is played later, it will be played apart from the rows that are kept.
    /// Returns the number of its first row there. It is played even if none of its rows is kept, because games that
    /// cannot be played count differently. It begins at `place` in the text.
    pub(super) fn set_apart(&mut self, start: usize, place: usize) -> Option<usize> {
        let orders = self.orders.as_ref().filter(|_| self.played_later_from == Some(start))?;
        let first = self.apart.orders.len();
        self.apart.games.push((first, place));
        self.apart.orders.extend_from(orders, start);
        self.last_row = LaterRow::DeferredRow(self.apart.orders.len() - 1);
        Some(first)
    }

    /// Drops the rows of a game from `start` on, which begins at `place` in the text.
    pub(in crate::formats::pgn) fn leave_out(&mut self, start: usize, place: usize) {
        self.set_apart(start, place);
        self.truncate(start);
    }

    /// Plays the games that are to be played later, if their rows fill a tile.
    pub(in crate::formats::pgn) fn play_tile(&mut self) {
        if self.orders.as_ref().is_some_and(|orders| orders.len() - orders.first() >= TILE) {
            self.play_orders();
        }
    }

    /// Plays the rows of the tile, and begins the next one.
    fn play_orders(&mut self) {
        let len = self.len();
        let Some(orders) = &mut self.orders else { return };
        let first = orders.first();
        let mut rows = Rows {
            groups: &mut self.groups[first / Group::LEN..],
            halfmove: &mut self.halfmove[first..],
            fullmove: &mut self.fullmove[first..],
            moves: self.moves.get_mut(first..).unwrap_or_default(),
            pseudo_en_passants: Vec::new(),
            failed: Vec::new(),
        };
        play_all(orders, &mut rows);
        let Rows { pseudo_en_passants, failed, .. } = rows;
        self.failed.extend(failed.into_iter().map(|row| first + row));
        if self.requested.pseudo_en_passants {
            for (row, square) in pseudo_en_passants {
                note(&mut self.pseudo_en_passants, first + row, square, NO_SQUARE);
            }
        }
        orders.begin_tile(len);
    }

    /// Plays the games that are still to be played; returns the positions of some rows. `places` has the place of the game
    /// of each row.
    ///
    /// # Errors
    /// If a move of some games cannot be played: the places of these games. The records then mean nothing.
    pub(in crate::formats::pgn) fn play(
        &mut self,
        places: &[u32],
        positions: &[LaterRow],
    ) -> Result<Vec<Option<Position>>, Vec<usize>> {
        self.play_orders();
        if self.orders.take().is_none() {
            return Ok(Vec::new());
        }
        let mut failed: Vec<usize> = self.failed.iter().map(|&row| places[row] as usize).collect();
        let mut apart = std::mem::take(&mut self.apart);
        let played = apart.play(self.requested.moves, positions);
        failed.extend(&played.failed);
        if !failed.is_empty() {
            return Err(failed);
        }
        for &(to, from) in &apart.kept {
            self.groups[to / Group::LEN].set(to % Group::LEN, played.groups[from / Group::LEN].get(from % Group::LEN));
            (self.halfmove[to], self.fullmove[to]) = (played.halfmove[from], played.fullmove[from]);
            if self.requested.moves {
                self.moves[to] = played.moves[from];
            }
        }
        if self.requested.pseudo_en_passants {
            for &(row, square) in &played.pseudo_en_passants {
                if let Ok(kept) = apart.kept.binary_search_by_key(&row, |&(_, from)| from) {
                    note(&mut self.pseudo_en_passants, apart.kept[kept].0, square, NO_SQUARE);
                }
            }
        }
        let position = |&row: &LaterRow| {
            let (board, [halfmove, fullmove]) = match row {
                LaterRow::Kept(row) => self.row(row),
                LaterRow::DeferredRow(row) => played.row(row),
            };
            board.unpack(halfmove, fullmove).ok()
        };
        Ok(positions.iter().map(position).collect())
    }
}
