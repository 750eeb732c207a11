//! The stages of reading games, one by one, for benchmarks: the scan of the text, the words, the moves.

use super::Games;
use super::movetext_scan::{Commands, ENOUGH, Isa, Scan};
use super::records::{Records, Requested};
use crate::chess::Position;
use crate::kernels::replay::Order;
use crate::packed::{Group, Packed};
use crate::replay::{Board, OrderRows, Rows, San};
use crate::simd::bmi2::Bmi2;
#[cfg(target_arch = "x86_64")]
use crate::simd::bytes::Avx512Blocks;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512Gfni};
use crate::simd::{Scalar, Simd};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A stage of reading games, in one of its implementations; see [`reading_stages`].
#[non_exhaustive]
pub struct ReadingStage<'a> {
    /// `pgn_scan`, `pgn_words` or `pgn_replay`; in vectors or lanes with `_portable`, `_avx2` or `_avx512` behind it.
    pub name: &'static str,
    /// The CPU features that it needs.
    pub needs: &'static [&'static str],
    /// Number of positions of the games.
    pub positions: usize,
    prepare: Box<dyn FnOnce() -> Option<Prepared<'a>> + 'a>,
}

/// Whether the result is right, and a pass over all games.
type Prepared<'a> = (bool, Pass<'a>);
type Pass<'a> = Box<dyn Fn() -> u64 + Sync + 'a>;

impl fmt::Debug for ReadingStage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadingStage").field("name", &self.name).field("needs", &self.needs).finish_non_exhaustive()
    }
}

impl<'a> ReadingStage<'a> {
    /// Whether the result of the stage is right, and a pass over all games, which returns a number that depends on the
    /// work. `None` if this CPU lacks what the stage needs.
    pub fn prepare(self) -> Option<(bool, Box<dyn Fn() -> u64 + Sync + 'a>)> {
        (self.prepare)()
    }
}

/// The stages of reading games, each of which can be timed by itself: where the words of the moves are (`pgn_scan`),
/// what they say (`pgn_words`), and the boards after them (`pgn_replay`). The games begin with the start position and
/// have nothing but tags, moves and comments; the boards of a replay are compared with `boards`, as far as these go.
///
/// ```
/// let games = "[Event \"?\"]\n\n1. e4 e5 2. Nf3 { [%clk 0:03:00] } Nc6 *\n\n";
/// for stage in lanefish::formats::pgn::reading_stages(games.as_bytes(), &[]) {
///     assert!(stage.name.starts_with("pgn_") && stage.positions == 5);
///     if let Some((_, pass)) = stage.prepare() {
///         assert!(pass() > 0);
///     }
/// }
/// ```
pub fn reading_stages<'a>(games: &'a [u8], boards: &[Packed]) -> Vec<ReadingStage<'a>> {
    let (stages, boards) = (Arc::new(Stages::of(games)), Arc::from(boards));
    let words = stages.read();
    let mut all = vec![
        stage("pgn_scan", &[], &stages, move |stages| {
            Some((stages.scanned() == words, Box::new(move || stages.scanned())))
        }),
        stage("pgn_words", &[], &stages, |stages| Some((true, Box::new(move || stages.read())))),
        stage("pgn_replay", &[], &stages, {
            let boards = Arc::clone(&boards);
            move |stages| Some((are_boards(&stages.replay(), &boards), Box::new(move || stages.replay().len() as u64)))
        }),
    ];
    all.extend(stages_in_lanes::<Scalar>(&stages, &boards, ["pgn_words_portable", "pgn_replay_portable"]));
    #[cfg(target_arch = "x86_64")]
    {
        all.push(stage("pgn_scan_avx2", Avx2::FEATURES, &stages, move |stages| {
            let scanned = stages.scanned_in_avx2()?;
            Some((scanned == words, Box::new(move || stages.scanned_in_avx2().unwrap_or(0))))
        }));
        all.extend(stages_in_lanes::<Avx2>(&stages, &boards, ["pgn_words_avx2", "pgn_replay_avx2"]));
        all.push(stage("pgn_scan_avx512", Avx512Blocks::FEATURES, &stages, move |stages| {
            let scanned = stages.scanned_in_avx512()?;
            Some((scanned == words, Box::new(move || stages.scanned_in_avx512().unwrap_or(0))))
        }));
        all.extend(stages_in_lanes::<Avx512Gfni>(&stages, &boards, ["pgn_words_avx512", "pgn_replay_avx512"]));
    }
    all
}

/// The stages that have lanes.
fn stages_in_lanes<'a, S: Simd>(
    stages: &Arc<Stages<'a>>,
    boards: &Arc<[Packed]>,
    [words, replay]: [&'static str; 2],
) -> [ReadingStage<'a>; 2] {
    let boards = Arc::clone(boards);
    [
        stage(words, S::FEATURES, stages, |stages| {
            let simd = S::detect()?;
            Some((true, Box::new(move || stages.read_in_lanes(simd).len() as u64)))
        }),
        stage(replay, S::FEATURES, stages, move |stages| {
            let simd = S::detect()?;
            let orders = stages.read_in_lanes(simd);
            let verified = are_boards(&stages.replay_in_lanes(simd, &orders), &boards);
            Some((verified, Box::new(move || stages.replay_in_lanes(simd, &orders).len() as u64)))
        }),
    ]
}

fn stage<'a>(
    name: &'static str,
    needs: &'static [&'static str],
    stages: &Arc<Stages<'a>>,
    prepare: impl FnOnce(Arc<Stages<'a>>) -> Option<Prepared<'a>> + 'a,
) -> ReadingStage<'a> {
    let (positions, stages) = (stages.rows, Arc::clone(stages));
    ReadingStage { name, needs, positions, prepare: Box::new(move || prepare(stages)) }
}

fn are_boards(groups: &[Group], boards: &[Packed]) -> bool {
    let found = groups.iter().flat_map(|group| (0..Group::LEN).map(|lane| group.get(lane)));
    found.take(boards.len()).eq(boards.iter().copied())
}

/// Games prepared for the stages.
struct Stages<'a> {
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
    fn of(text: &'a [u8]) -> Self {
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
    fn scanned(&self) -> u64 {
        self.scanned_in(Isa::any())
    }
    /// The same in vectors of AVX2, if this CPU has them.
    fn scanned_in_avx2(&self) -> Option<u64> {
        Isa::avx2().map(|isa| self.scanned_in(isa))
    }
    /// The same in vectors of AVX-512, if this CPU has them, and VBMI2.
    fn scanned_in_avx512(&self) -> Option<u64> {
        Isa::avx512().map(|isa| self.scanned_in(isa))
    }
    fn scanned_in(&self, isa: Isa) -> u64 {
        let mut words = 0;
        self.scan(Scan::new(isa), |_, scan| words += scan.starts().len() as u64);
        words
    }

    /// Reads the words one by one; returns their number.
    fn read(&self) -> u64 {
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
    fn read_in_lanes<S: Simd>(&self, simd: S) -> OrderRows {
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
    fn replay(&self) -> Vec<Group> {
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
    fn replay_in_lanes<S: Simd>(&self, simd: S, orders: &OrderRows) -> Vec<Group> {
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
