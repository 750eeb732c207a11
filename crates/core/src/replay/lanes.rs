//! Plays the games of a text eight at a time, one per lane.
//!
//! Each row has an [`Order`]: what the word says that leads to its position, or that a game begins. The rows are cut at
//! beginnings of games into eight ranges of about the same length, and each lane plays its range from end to end; where a
//! game ends, the next one begins with the next order. The ranges are read and written in blocks of eight rows, which are
//! the groups of the records: eight steps of eight lanes, transposed, are eight whole groups.

use super::{Board, San};
use crate::chess::CastlingSide;
use crate::kernels::replay::{Boards, LaneBoard, Order, Orders, Positions, Resolved, replay};
use crate::kernels::san::read_words;
use crate::packed::Group;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::bytes::fetch;
use crate::simd::{Simd, Work, with_widest};
use crate::text::eight_bytes;
use std::ops::Range;

/// The orders of the rows of a tile.
#[derive(Debug, Default)]
pub struct OrderRows {
    /// The number of the first row, which begins a group.
    first: usize,
    pub(super) origins: Vec<u64>,
    pub(super) bits: Vec<u64>,
}

impl OrderRows {
    pub fn with_capacity(rows: usize) -> Self {
        Self { first: 0, origins: Vec::with_capacity(rows), bits: Vec::with_capacity(rows) }
    }
    /// Begins the next tile, whose games begin at this row.
    pub fn begin_tile(&mut self, row: usize) {
        self.first = row / Group::LEN * Group::LEN;
        self.truncate(self.first);
        (self.first..row).for_each(|_| self.push(Order::NONE));
    }
    /// Number of rows of this tile and those before it.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.first + self.bits.len()
    }
    /// The number of the first row of the tile.
    pub const fn first(&self) -> usize {
        self.first
    }
    /// Adds orders.
    pub fn extend(&mut self, orders: &[Order]) {
        self.origins.extend(orders.iter().map(|order| order.origin));
        self.bits.extend(orders.iter().map(|order| order.bits));
    }
    /// Adds the order of each of these things. If one has none, nothing is added; returns whether all have one.
    #[inline(always)]
    pub fn extend_with<T: Copy>(&mut self, things: &[T], mut order_of: impl FnMut(T) -> Option<Order>) -> bool {
        let before = self.bits.len();
        let len = before + things.len();
        self.origins.resize(len, 0);
        self.bits.resize(len, 0);
        let rows = self.origins[before..].iter_mut().zip(&mut self.bits[before..]);
        for ((origin, bits), &thing) in rows.zip(things) {
            let Some(order) = order_of(thing) else {
                self.origins.truncate(before);
                self.bits.truncate(before);
                return false;
            };
            (*origin, *bits) = (order.origin, order.bits);
        }
        true
    }
    pub fn push(&mut self, order: Order) {
        self.origins.push(order.origin);
        self.bits.push(order.bits);
    }
    /// Adds the orders of words of a text, up to the first that is not a move in the form of the standard; returns their
    /// number.
    pub fn push_words(&mut self, text: &[u8], starts: &[u32], ends: &[u32]) -> usize {
        struct PushWords<'a>(&'a mut OrderRows, &'a [u8], &'a [u32], &'a [u32]);
        impl Work for PushWords<'_> {
            type Output = usize;
            fn run<S: Simd>(self, simd: S) -> usize {
                let Self(rows, text, starts, ends) = self;
                rows.push_words_with(simd, text, starts, ends)
            }
        }
        with_widest(PushWords(self, text, starts, ends))
    }
    pub fn push_words_with<S: Simd>(&mut self, simd: S, text: &[u8], starts: &[u32], ends: &[u32]) -> usize {
        simd.enter(
            #[inline(always)]
            || {
                let before = self.bits.len();
                self.origins.reserve(starts.len() + 8);
                self.bits.reserve(starts.len() + 8);
                let mut count = 0;
                for (starts, ends) in starts.chunks(8).zip(ends.chunks(8)) {
                    let number = starts.len();
                    let (starts, ends) = match (starts.as_array(), ends.as_array()) {
                        (Some(starts), Some(ends)) => (*starts, *ends),
                        _ => (padded(starts), padded(ends)),
                    };
                    let words = starts.map(|start| eight_bytes(text, start as usize));
                    let lens = std::array::from_fn(|lane| u64::from(ends[lane] - starts[lane]));
                    let (mut origins, mut bits) = ([0; 8], [0; 8]);
                    let wrong = read_words(simd, &words, &lens, &mut origins, &mut bits);
                    // All eight are added, and removed again after the last.
                    self.origins.extend_from_slice(&origins);
                    self.bits.extend_from_slice(&bits);
                    let right = (wrong.trailing_zeros() as usize).min(number);
                    count += right;
                    if right < number {
                        break;
                    }
                }
                self.truncate(self.first + before + count);
                count
            },
        )
    }
    /// Adds the orders of others from a row on.
    pub fn extend_from(&mut self, others: &Self, start: usize) {
        let start = start - others.first;
        self.origins.extend_from_slice(&others.origins[start..]);
        self.bits.extend_from_slice(&others.bits[start..]);
    }
    pub fn truncate(&mut self, rows: usize) {
        let rows = rows - self.first;
        self.origins.truncate(rows);
        self.bits.truncate(rows);
    }
    fn starts(&self, row: usize) -> bool {
        self.bits[row] & Order::START.bits != 0
    }
    /// The ranges of the lanes, in rows of the tile: they begin where the nearest games begin.
    fn ranges(&self) -> [Range<usize>; Group::LEN] {
        let rows = self.bits.len();
        let begin = |lane: usize| {
            let row = rows * lane / Group::LEN;
            let after = (row..rows).find(|&row| self.starts(row)).unwrap_or(rows);
            let before = (0..row).rev().take(after - row).find(|&row| self.starts(row));
            before.filter(|_| lane > 0).unwrap_or(after)
        };
        std::array::from_fn(|lane| begin(lane)..if lane + 1 < Group::LEN { begin(lane + 1) } else { rows })
    }
}

/// Places, filled up with the beginning of the text.
fn padded(places: &[u32]) -> [u32; 8] {
    let mut padded = [0; 8];
    padded[..places.len()].copy_from_slice(places);
    padded
}

/// The rows of a tile that are written; if there is no room for groups, the games are only checked.
#[derive(Debug)]
pub struct Rows<'a> {
    pub groups: &'a mut [Group],
    pub halfmove: &'a mut [u16],
    pub fullmove: &'a mut [u16],
    /// The move that is played from each row; empty if they are not requested.
    pub moves: &'a mut [u16],
    /// Rows with a square of `Field::KeyEnPassant`.
    pub pseudo_en_passants: Vec<(usize, u8)>,
    /// Rows to which no legal move leads; the rest of their games is not played.
    pub failed: Vec<usize>,
}

/// Whether games are played faster in the lanes of this CPU than one after the other, as they are wherever there are
/// vectors.
pub fn are_lanes_faster() -> bool {
    #[cfg(target_arch = "x86_64")]
    return Avx2::detect().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Plays all games.
pub fn play_all(orders: &mut OrderRows, rows: &mut Rows<'_>) {
    struct PlayAll<'a, 'b>(&'a OrderRows, &'a mut Rows<'b>);
    impl Work for PlayAll<'_, '_> {
        type Output = ();
        fn run<S: Simd>(self, simd: S) {
            self.0.play_with(simd, self.1);
        }
    }
    orders.fill();
    with_widest(PlayAll(orders, rows));
}

impl OrderRows {
    /// Fills the last block.
    pub fn fill(&mut self) {
        let len = self.bits.len().next_multiple_of(Group::LEN);
        self.origins.resize(len, Order::NONE.origin);
        self.bits.resize(len, Order::NONE.bits);
    }
    /// Plays all games with this token; the last block must be [full](Self::fill).
    pub fn play_with<S: Simd>(&self, simd: S, rows: &mut Rows<'_>) {
        let ranges = self.ranges();
        simd.enter(
            #[inline(always)]
            || play_ranges(simd, self, &ranges, rows),
        );
    }
}

/// How many blocks before its turn the memory of a block is brought into the cache. The lanes read and write more places
/// at once than the CPU notices by itself, and they would wait for most of them.
const AHEAD: usize = 2;

#[inline(always)]
fn play_ranges<S: Simd>(simd: S, orders: &OrderRows, ranges: &[Range<usize>; Group::LEN], rows: &mut Rows<'_>) {
    let (origins, _) = orders.origins.as_chunks::<{ Group::LEN }>();
    let (bits, _) = orders.bits.as_chunks::<{ Group::LEN }>();
    let blocks = ranges.each_ref().map(|rows| rows.start / Group::LEN..rows.end.div_ceil(Group::LEN));
    let count = ranges.iter().zip(&blocks).filter(|(rows, _)| !rows.is_empty()).map(|(_, blocks)| blocks.len()).max();
    let mut boards = Boards { dead: [!0; Group::LEN], ..Boards::default() };
    let (mut positions, mut by_lane) = (Positions::default(), Positions::default());
    let mut of_lanes = Orders { origins: [[0; 8]; 8], bits: [[Order::NONE.bits; 8]; 8] };
    let mut of_steps = of_lanes;
    for number in 0..count.unwrap_or(0) {
        for (lane, (lane_origins, lane_bits)) in of_lanes.origins.iter_mut().zip(&mut of_lanes.bits).enumerate() {
            let block = blocks[lane].start + number;
            if block >= blocks[lane].end {
                *lane_bits = [Order::NONE.bits; Group::LEN];
                continue;
            }
            fetch(origins, block + AHEAD);
            fetch(bits, block + AHEAD);
            rows.fetch(block + AHEAD);
            *lane_origins = origins[block];
            *lane_bits = bits[block];
            let range = &ranges[lane];
            if block * Group::LEN < range.start || (block + 1) * Group::LEN > range.end {
                // The other rows are those of other lanes.
                for (row, bits) in (block * Group::LEN..).zip(lane_bits) {
                    if !range.contains(&row) {
                        *bits = Order::NONE.bits;
                    }
                }
            }
        }
        simd.turn(&of_lanes.origins, &mut of_steps.origins);
        simd.turn(&of_lanes.bits, &mut of_steps.bits);
        replay(simd, &mut boards, &of_steps, &mut positions, &mut |step, lane, board| {
            let row = (blocks[lane].start + number) * Group::LEN + step;
            let order = Order { origin: of_steps.origins[step][lane], bits: of_steps.bits[step][lane] };
            let Some((board, mv)) = play_rare(board, order) else {
                rows.failed.push(row);
                return None;
            };
            if let Some(square) = board.pseudo_en_passant() {
                rows.pseudo_en_passants.push((row, square));
            }
            Some(Resolved { board: board.in_lane(), color: board.packed().color, mv })
        });
        if rows.groups.is_empty() {
            continue;
        }
        positions.turn(simd, &mut by_lane);
        for (lane, orders) in of_lanes.bits.iter().enumerate() {
            let block = blocks[lane].start + number;
            if block < blocks[lane].end {
                rows.put(block, orders, &by_lane, lane);
            }
        }
    }
}

/// Plays an order that the lanes leave open, if exactly one legal move fits; also returns the bits of the move.
#[cold]
pub(super) fn play_rare(board: &LaneBoard, order: Order) -> Option<(Board, u16)> {
    let order = order.on_board(board)?;
    let board = Board::of_lane(board);
    if order.bits & Order::SHORT != 0 {
        return board.castle(CastlingSide::King).ok();
    }
    if order.bits & Order::LONG != 0 {
        return board.castle(CastlingSide::Queen).ok();
    }
    board.play_only(San::of_order(order))
}

impl Rows<'_> {
    /// Brings the memory of a block into the cache.
    #[inline(always)]
    fn fetch(&self, block: usize) {
        fetch(self.groups, block);
        fetch(self.halfmove, block * Group::LEN);
        fetch(self.fullmove, block * Group::LEN);
        fetch(self.moves, block * Group::LEN);
    }

    /// Writes a block of rows with the orders and positions of a lane, except the rows that are not for the lane.
    #[inline(always)]
    fn put(&mut self, block: usize, orders: &[u64; Group::LEN], by_lane: &Positions, lane: usize) {
        let first = block * Group::LEN;
        let is_whole = orders.iter().fold(0, |any, order| any | order) & Order::NONE.bits == 0;
        if !is_whole || first == 0 {
            return self.put_some(first, orders, &by_lane.group(lane), &by_lane.facts[lane]);
        }
        for (to, plane) in self.groups[block].planes.iter_mut().zip(&by_lane.planes) {
            *to = plane[lane];
        }
        let facts = &by_lane.facts[lane];
        let rows = first..first + Group::LEN;
        self.halfmove[rows.clone()].copy_from_slice(&facts.map(|facts| facts as u16));
        self.fullmove[rows].copy_from_slice(&facts.map(|facts| (facts >> 16) as u16));
        if !self.moves.is_empty() {
            // Each move is that of the row before. The row before the start of a game is that of another game, which may
            // have been played elsewhere and have a move.
            let moves = &mut self.moves[first - 1..first - 1 + Group::LEN];
            for ((mv, facts), order) in moves.iter_mut().zip(facts).zip(orders) {
                *mv = if order & Order::START.bits == 0 { (facts >> Order::MOVE) as u16 } else { *mv };
            }
        }
    }

    /// As [`Self::put`], row by row.
    #[cold]
    #[inline(never)]
    fn put_some(&mut self, first: usize, orders: &[u64; Group::LEN], group: &Group, facts: &[u64; Group::LEN]) {
        for lane in (0..Group::LEN).filter(|&lane| orders[lane] & Order::NONE.bits == 0) {
            let (row, facts) = (first + lane, facts[lane]);
            self.groups[row / Group::LEN].set(lane, group.get(lane));
            self.halfmove[row] = facts as u16;
            self.fullmove[row] = (facts >> 16) as u16;
            if !self.moves.is_empty() && row > 0 && orders[lane] & Order::START.bits == 0 {
                self.moves[row - 1] = (facts >> Order::MOVE) as u16;
            }
        }
    }
}

impl Board {
    fn of_lane(board: &LaneBoard) -> Self {
        Self {
            black: board.black,
            types: board.types,
            en_passant: board.en_passant,
            black_to_move: board.black_to_move,
            halfmove: board.clocks as u16,
            fullmove: (board.clocks >> 16) as u16,
        }
    }
    pub(super) fn in_lane(self) -> LaneBoard {
        LaneBoard {
            black: self.black,
            types: self.types,
            en_passant: self.en_passant,
            black_to_move: self.black_to_move,
            clocks: u64::from(self.halfmove) | u64::from(self.fullmove) << 16,
        }
    }
    /// The board after a move, and the move's bits, if exactly one legal move fits.
    pub fn play_only(self, san: San) -> Option<(Self, u16)> {
        let mut origins = self.coded(usize::from(san.code)) & san.origin;
        let mut played = None;
        while origins != 0 {
            let origin = origins & origins.wrapping_neg();
            if let Ok(next) = self.play(San { origin, ..san })
                && played.replace(next).is_some()
            {
                return None;
            }
            origins &= origins - 1;
        }
        played
    }
}
