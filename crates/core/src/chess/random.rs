//! Positions by seeded random play: an endless, reproducible supply for tests and benchmarks.

use super::chess960;
use super::moves::Move;
use super::piece::Role;
use super::position::Position;

/// A small random number generator, SplitMix64: the same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with a seed; all seeds are equally good.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
    /// A number below `bound`, or 0 if that is 0. The bias is below one in 2^32.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// The start positions of random play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Start {
    /// The start position of standard chess.
    #[default]
    Standard,
    /// Any of the 960 start positions; in every other game the two sides have different ones (double Chess960).
    Chess960,
}

/// A position of a random game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomPosition {
    /// The position.
    pub position: Position,
    /// The number of the game, from 0.
    pub game: u64,
    /// The plies played so far.
    pub ply: u16,
    /// The next move played; `None` at the end of the game.
    pub next: Option<Move>,
}

/// All positions of an endless series of random games.
///
/// A game ends by mate, stalemate, bare kings, the fifty-move rule or after [`RandomPlay::LONGEST`] plies.
/// All positions are strictly valid.
///
/// ```
/// use lanefish_core::chess::random::{RandomPlay, Start};
/// let mut play = RandomPlay::new(1, Start::Standard);
/// assert_eq!(play.next().unwrap().ply, 0);
/// assert_eq!(play.next().unwrap().ply, 1);
/// ```
#[derive(Clone, Debug)]
pub struct RandomPlay {
    random: Random,
    start: Start,
    game: u64,
    ply: u16,
    position: Position,
    over: bool,
}

impl RandomPlay {
    /// The largest number of plies in a game.
    pub const LONGEST: u16 = 400;

    /// The games of this seed.
    pub fn new(seed: u64, start: Start) -> Self {
        let mut play =
            Self { random: Random::new(seed), start, game: 0, ply: 0, position: Position::standard(), over: false };
        play.set_up();
        play
    }

    fn set_up(&mut self) {
        self.ply = 0;
        self.over = false;
        self.position = match self.start {
            Start::Standard => Position::standard(),
            Start::Chess960 => {
                let mut start = || self.random.below(chess960::START_POSITIONS.into()) as u16;
                let white = start();
                let black = if self.game.is_multiple_of(2) { white } else { start() };
                Position::chess960(white, black).unwrap_or_else(Position::standard)
            }
        };
    }
}

impl Iterator for RandomPlay {
    type Item = RandomPosition;

    fn next(&mut self) -> Option<RandomPosition> {
        if self.over {
            self.game += 1;
            self.set_up();
        }
        let position = self.position.clone();
        let bare = (position.occupied() - position.role(Role::King)).is_empty();
        let moves = position.legal_moves();
        self.over = moves.is_empty() || bare || position.halfmove >= 100 || self.ply >= Self::LONGEST;
        let (game, ply) = (self.game, self.ply);
        let next = (!self.over).then(|| moves[self.random.below(moves.len() as u32) as usize]);
        if let Some(mv) = next {
            self.position.make(mv);
            self.ply += 1;
        }
        Some(RandomPosition { position, game, ply, next })
    }
}
