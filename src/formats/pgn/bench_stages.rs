//! The stages of reading games, one by one, for benchmarks: the scan of the text, the words, the moves.

use super::Games;
use super::movetext_scan::{Commands, ENOUGH, Isa, Scan};
use super::records::{Records, Requested};
use crate::chess::Position;
use crate::kernels::replay::Order;
use crate::packed::{Group, Packed};
use crate::replay::{Board, OrderRows, Rows, San};
use crate::simd::Simd;
use crate::simd::bmi2::Bmi2;
use std::ops::Range;

/// Games prepared for the stages.
pub(crate) struct Stages<'a> {
    text: &'a [u8],
    movetexts: Vec<Range<usize>>,
    /// The number of words of each game.
    counts: Vec<usize>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    moves: Vec<San>,
    rows: usize,
}

impl<'a> Stages<'a> {
    /// Prepares games from the start position with nothing but moves and comments.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        let mut records = Records::new(Requested::default(), 0);
        let mut games = Games::new(text, false, false);
        let mut movetexts = Vec::new();
        while let Some(game) = games.next(&mut records) {
            movetexts.push(game.start + game.tags.len()..game.end);
        }
        let mut stages = Self {
            text,
            movetexts,
            counts: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            moves: Vec::new(),
            rows: records.len(),
        };
        let (mut starts, mut ends, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        stages.scan(Scan::default(), |game, scan| {
            starts.extend_from_slice(scan.starts());
            ends.extend_from_slice(scan.ends());
            counts.resize(game + 1, 0);
            counts[game] += scan.starts().len();
        });
        (stages.starts, stages.ends, stages.counts) = (starts, ends, counts);
        stages.moves = stages.words();
        stages
    }

    /// Number of positions.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Finds the words; `found` gets the number of the game and the places of some of its words.
    fn scan(&self, mut scan: Scan, mut found: impl FnMut(usize, &Scan)) {
        for (number, movetext) in self.movetexts.iter().enumerate() {
            let mut at = movetext.start;
            loop {
                while self.text.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                scan.clear();
                let (end, stops) = scan.fill(self.text, at, Commands::None, ENOUGH);
                found(number, &scan);
                at = end;
                if stops {
                    break;
                }
            }
        }
    }

    /// Number of words that the scan finds, one block of text after the other.
    pub(crate) fn scanned(&self) -> u64 {
        self.scanned_in(Isa::any())
    }
    /// The same in vectors of AVX2, if this CPU has them.
    pub(crate) fn scanned_in_avx2(&self) -> Option<u64> {
        Isa::avx2().map(|isa| self.scanned_in(isa))
    }
    /// The same in vectors of AVX-512, if this CPU has them, and VBMI2.
    pub(crate) fn scanned_in_avx512(&self) -> Option<u64> {
        Isa::avx512().map(|isa| self.scanned_in(isa))
    }
    fn scanned_in(&self, isa: Isa) -> u64 {
        let mut words = 0;
        self.scan(Scan::new(isa), |_, scan| words += scan.starts().len() as u64);
        words
    }

    /// Reads the words one by one; returns their number.
    pub(crate) fn read(&self) -> u64 {
        self.words().len() as u64
    }

    fn words(&self) -> Vec<San> {
        match Bmi2::detect() {
            Some(bits) => bits.enter(
                #[inline(always)]
                || self.words_with(),
            ),
            None => self.words_with(),
        }
    }

    #[inline(always)]
    fn words_with(&self) -> Vec<San> {
        let words = self.starts.iter().zip(&self.ends);
        words.map(|(&start, &end)| San::of_word(self.text, start as usize, end as usize)).collect()
    }

    /// Reads the words in lanes.
    pub(crate) fn read_in_lanes<S: Simd>(&self, simd: S) -> OrderRows {
        let mut orders = OrderRows::with_capacity(self.rows + 8);
        let mut at = 0;
        for &count in &self.counts {
            orders.push(Order::START);
            orders.push_words_with(simd, self.text, &self.starts[at..at + count], &self.ends[at..at + count]);
            at += count;
        }
        orders.fill();
        orders
    }

    /// Plays the moves game by game.
    pub(crate) fn replay(&self) -> Vec<Group> {
        match Bmi2::detect() {
            Some(bits) => bits.enter(
                #[inline(always)]
                || self.replay_with(),
            ),
            None => self.replay_with(),
        }
    }

    #[inline(always)]
    fn replay_with(&self) -> Vec<Group> {
        let mut groups = Vec::with_capacity(self.rows / Group::LEN + 1);
        let mut rows = 0;
        let mut push = |board: Packed| {
            if rows % Group::LEN == 0 {
                groups.push(Group::default());
            }
            groups[rows / Group::LEN].set(rows % Group::LEN, board);
            rows += 1;
        };
        let mut moves = self.moves.iter();
        for &count in &self.counts {
            let mut board = Board::new(&Position::standard());
            push(board.packed());
            for san in moves.by_ref().take(count) {
                let next = match san.castles {
                    Some(side) => board.castle(side).ok(),
                    None => board.play(*san).ok().or_else(|| board.play_only(*san)),
                };
                board = next.map_or(board, |(next, _)| next);
                push(board.packed());
            }
        }
        groups
    }

    /// Plays orders in lanes.
    pub(crate) fn replay_in_lanes<S: Simd>(&self, simd: S, orders: &OrderRows) -> Vec<Group> {
        let mut groups = vec![Group::default(); self.rows.div_ceil(Group::LEN)];
        let (mut halfmove, mut fullmove) = (vec![0; self.rows], vec![0; self.rows]);
        let mut rows = Rows {
            groups: &mut groups,
            halfmove: &mut halfmove,
            fullmove: &mut fullmove,
            moves: &mut [],
            pseudo_en_passants: Vec::new(),
            failed: Vec::new(),
        };
        orders.play_with(simd, &mut rows);
        groups
    }
}
