//! Joint counts of the numbers of a position: three tables in which each position increments one counter each.
//!
//! The lanes put all numbers of a position into one word ([`BoardCounts`]), so that the index of a counter is a quarter
//! of that word. Histograms of single numbers, checks, mates and castling rights are sums over
//! these tables. The few positions with more queens than any game has do not fit. Each of their numbers is counted
//! separately, and they are not in any joint distribution.

use super::position_flags::Flags;
use super::tally::Tally;
use crate::kernels::BoardCounts;
use crate::report::Matrix;
use crate::table::rows_of;

/// Bits that are set if a number does not fit into the tables: a phase of 32 or more, 128 points of material or more of
/// Black or of White.
pub(super) const BEYOND: u64 = 0xF << 12 | 0xF << 30 | 0x7F << 41;
/// Bits that are set if there are 256 legal moves or more.
pub(super) const BEYOND_MOVES: u64 = 0xFF00;
/// The maximum of the phase.
pub(super) const MOST_PHASE: usize = 24;

/// Numbers of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) pieces: usize,
    /// Not capped.
    pub(super) phase: usize,
    /// White's, and Black's.
    pub(super) material: [usize; 2],
}

impl Numbers {
    /// The numbers in a word of [`BoardCounts`].
    #[inline(always)]
    pub(super) fn of(word: u64) -> Self {
        let part = |at: u32, mask: u64| (word >> at & mask) as usize;
        let white = part(34, 0x3FFF);
        let black = (part(16, 0x3_FFFF) - white) >> 7;
        Self { pieces: part(0, 0x7F), phase: part(7, 0x1FF), material: [white, black] }
    }
}

/// Positions by pieces and phase, by material of both sides, and by legal moves and flags.
#[derive(Clone, Debug, Default)]
pub(super) struct Joint {
    /// The number of pieces in bits 0 to 6, and the uncapped phase above them.
    pieces_phase: Tally<{ 1 << 12 }>,
    /// White's material in bits 0 to 6, Black's above it.
    material: Tally<{ 1 << 14 }>,
    /// Flags in bits 0 to 7, legal moves above them.
    moves_flags: Tally<{ 1 << 16 }>,
    beyond: Option<Box<Beyond>>,
}

/// Numbers of positions that do not fit into the tables.
#[derive(Clone, Debug, Default)]
struct Beyond {
    moves: Tally<1024>,
    pieces: Tally<128>,
    phase: Tally<32>,
    material: [Tally<1024>; 2],
    flags: Tally<256>,
    checkmate: u64,
    stalemate: u64,
}

impl Joint {
    /// Adds these lanes of a group; `counts` are the numbers of their legal moves.
    #[inline(always)]
    pub(super) fn add_group(&mut self, words: &BoardCounts, counts: &[u64; 8], lanes: u8) {
        let any = words.iter().fold(0, |any, word| any | word);
        let any_counts = counts.iter().fold(0, |any, counts| any | counts);
        if any & BEYOND | any_counts & BEYOND_MOVES != 0 {
            self.add_lanes(words, counts, lanes);
        } else if lanes == 0xFF {
            words.iter().for_each(|&word| self.add(word));
        } else {
            rows_of(&[lanes.into()]).for_each(|lane| self.add(words[lane]));
        }
    }

    #[inline(always)]
    fn add(&mut self, word: u64) {
        self.pieces_phase.add(usize::from(word as u16));
        self.material.add(usize::from((word >> 16) as u16));
        self.add_moves_flags(word);
    }

    #[cold]
    fn add_lanes(&mut self, words: &BoardCounts, counts: &[u64; 8], lanes: u8) {
        for lane in rows_of(&[lanes.into()]) {
            self.add_any(words[lane], counts[lane]);
        }
    }

    /// Adds a board that may not fit into the tables.
    pub(super) fn add_any(&mut self, word: u64, counts: u64) {
        match word & BEYOND | counts & BEYOND_MOVES {
            0 => self.add(word),
            _ => self.beyond.get_or_insert_default().add(word, counts),
        }
    }

    /// Adds legal moves and flags of a board that fits into the tables; pieces and material are
    /// [added](Self::add_pieces) later.
    #[inline(always)]
    pub(super) fn add_moves_flags(&mut self, word: u64) {
        self.moves_flags.add((word >> 48) as usize);
    }

    /// Adds boards with these queens, rooks, bishops, knights and pawns of White and of Black to the tables of pieces
    /// and material.
    pub(super) fn add_pieces(&mut self, pieces: [[u8; 5]; 2], count: u64) {
        let sum = |weights: [usize; 5], side: usize| -> usize {
            let numbers = pieces[side].iter().zip(weights);
            numbers.map(|(&number, weight)| usize::from(number) * weight).sum()
        };
        let both = |weights: [usize; 5]| sum(weights, 0) + sum(weights, 1);
        let (all, phase) = (2 + both([1; 5]), both([4, 2, 1, 1, 0]));
        self.pieces_phase.add_many(phase << 7 | all, count);
        const VALUES: [usize; 5] = [9, 5, 3, 3, 1];
        let material = sum(VALUES, 1) << 7 | sum(VALUES, 0);
        self.material.add_many(material, count);
    }

    /// Adds the counts of another instance.
    pub(super) fn merge(&mut self, other: &Self) {
        self.pieces_phase.merge(&other.pieces_phase);
        self.material.merge(&other.material);
        self.moves_flags.merge(&other.moves_flags);
        if let Some(theirs) = &other.beyond {
            self.beyond.get_or_insert_default().merge(theirs);
        }
    }

    /// Number of positions with N legal moves, at index N.
    pub(super) fn moves(&self) -> Vec<u64> {
        let beyond = self.beyond.as_ref().map(|beyond| &beyond.moves);
        histogram(self.moves_flags.sums_by_high(8), beyond)
    }
    /// Number of positions with N pieces.
    pub(super) fn pieces(&self) -> Vec<u64> {
        let beyond = self.beyond.as_ref().map(|beyond| &beyond.pieces);
        histogram(self.pieces_phase.sums_by_low(7), beyond)
    }
    /// Number of positions in phase N.
    pub(super) fn phase(&self) -> Vec<u64> {
        let mut phases = self.pieces_phase.sums_by_high(7);
        let more = phases.split_off(MOST_PHASE + 1);
        phases[MOST_PHASE] += more.iter().sum::<u64>();
        let beyond = self.beyond.as_ref().map(|beyond| &beyond.phase);
        histogram(phases, beyond)
    }
    /// Number of positions with material N of White, and of Black.
    pub(super) fn material(&self) -> [Vec<u64>; 2] {
        let sums = [self.material.sums_by_low(7), self.material.sums_by_high(7)];
        let mut sides = sums.into_iter().enumerate().map(|(side, sums)| {
            let beyond = self.beyond.as_ref().map(|beyond| &beyond.material[side]);
            histogram(sums, beyond)
        });
        std::array::from_fn(|_| sides.next().unwrap_or_default())
    }
    /// Number of positions by material of White (rows) and Black (columns), for the positions in the table.
    pub(super) fn by_material(&self) -> Matrix {
        let black = self.material.counts().chunks(1 << 7);
        let rows = (0..1 << 7).map(|white| black.clone().map(|counts| counts[white]).collect());
        Matrix::new(rows.collect())
    }
    /// Number of positions with these flags.
    pub(super) fn flags(&self) -> Vec<u64> {
        let beyond = self.beyond.as_ref().map(|beyond| &beyond.flags);
        histogram(self.moves_flags.sums_by_low(8), beyond)
    }
    /// Number of positions without a legal move, in check or not.
    pub(super) fn mates(&self, in_check: bool) -> u64 {
        let without_moves = self.moves_flags.counts()[..256].iter().enumerate();
        let mates = without_moves.filter(|(flags, _)| is_in_check(*flags) == in_check);
        let beyond =
            self.beyond.as_ref().map_or(0, |beyond| if in_check { beyond.checkmate } else { beyond.stalemate });
        mates.map(|(_, count)| count).sum::<u64>() + beyond
    }
}

fn is_in_check(flags: usize) -> bool {
    Flags(flags as u8).checks() > 0
}

/// The counts of numbers within the tables and beyond them, up to the largest number that occurs.
fn histogram<const N: usize>(mut counts: Vec<u64>, beyond: Option<&Tally<N>>) -> Vec<u64> {
    if let Some(beyond) = beyond {
        counts.resize(counts.len().max(N), 0);
        for (ours, theirs) in counts.iter_mut().zip(beyond.counts()) {
            *ours += theirs;
        }
    }
    let last = counts.iter().rposition(|&count| count > 0);
    counts.truncate(last.map_or(0, |last| last + 1));
    counts
}

impl Beyond {
    fn add(&mut self, word: u64, counts: u64) {
        let Numbers { pieces, phase, material: [white, black] } = Numbers::of(word);
        let flags = (word >> 48) as usize & 0xFF;
        let moves = counts as usize & 0xFFFF;
        self.moves.add(moves);
        self.pieces.add(pieces);
        self.phase.add(phase.min(MOST_PHASE));
        self.material[0].add(white);
        self.material[1].add(black);
        self.flags.add(flags);
        if moves == 0 {
            if is_in_check(flags) {
                self.checkmate += 1;
            } else {
                self.stalemate += 1;
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.moves.merge(&other.moves);
        self.pieces.merge(&other.pieces);
        self.phase.merge(&other.phase);
        for (ours, theirs) in self.material.iter_mut().zip(&other.material) {
            ours.merge(theirs);
        }
        self.flags.merge(&other.flags);
        self.checkmate += other.checkmate;
        self.stalemate += other.stalemate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_moves_than_the_table_has_room_for() {
        // 40 pieces, phase 30, material 20 and 100, in check.
        let word = 40 | 30 << 7 | (20 + 128 * 100) << 16 | 20 << 34 | 1 << 54;
        let mut joint = Joint::default();
        let mut counts = [7 | 1 << 16; 8];
        joint.add_group(&[word | 7 << 56; 8], &counts, 0xFF);
        counts[3] = 300;
        let mut words = [word | 7 << 56; 8];
        words[3] = word | 300 << 56;
        joint.add_group(&words, &counts, 0b1010);
        joint.add_group(&[word; 8], &[0; 8], 1);
        let mut all = joint.clone();
        all.merge(&joint);
        let moves = all.moves();
        assert_eq!((moves[0], moves[7], moves[300], moves.len()), (2, 18, 2, 301));
        assert_eq!((all.pieces()[40], all.pieces().len()), (22, 41));
        assert_eq!((all.phase()[24], all.phase().len()), (22, 25));
        assert_eq!(all.material().map(|counts| counts.len()), [21, 101]);
        assert_eq!(all.flags()[1 << 6], 22);
        assert_eq!((all.mates(true), all.mates(false)), (2, 0));
    }

    /// No board of at most 32 pieces has that much material with that low a phase, but words need not be of such boards.
    #[test]
    fn material_alone_may_be_beyond_the_tables() {
        let [white, black] = [130 | 130 << 18, 130 << 7].map(|material| 2 | material << 16 | 7 << 56);
        let mut joint = Joint::default();
        joint.add_group(&[white, black, white, white, black, white, white, white], &[7; 8], 0xFF);
        let [of_white, of_black] = joint.material();
        assert_eq!((of_white[130], of_white[0], of_white.len()), (6, 2, 131));
        assert_eq!((of_black[130], of_black[0], of_black.len()), (2, 6, 131));
    }
}
