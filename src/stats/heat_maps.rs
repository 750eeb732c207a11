//! Heat maps: how often each square is occupied by each piece, attacked by each side, or the square of a rarer event.
//!
//! The lanes count *vertically* ([`VerticalCounters`]); their bits are converted to numbers here, when the counters
//! are full or the maps are needed.

use crate::kernels::{VerticalCounters, squares_of_pieces};
use crate::packed::Group;
use crate::queries::GroupResults;
use crate::report::Squares;
use crate::simd::Lanes;
use crate::table::spread_bits;
use crate::tiers::Analyzer;
use std::sync::LazyLock;

/// Adds counters, given by their bits.
fn add<const DEPTH: usize>(maps: &mut [Squares], sets: &[[[u64; Group::LEN]; DEPTH]]) {
    for (map, planes) in maps.iter_mut().zip(sets) {
        empty_into(map, planes);
    }
}

/// Bits of [`Deep`] counters.
const DEPTH: usize = 24;

/// Counters like [`VerticalCounters`], for about 16 million groups. They are converted to numbers so rarely that the
/// cost is negligible.
#[derive(Clone, Debug)]
struct Deep<const MAPS: usize> {
    planes: [[[u64; Group::LEN]; DEPTH]; MAPS],
    /// Number of counters that were added.
    added: u32,
}

impl<const MAPS: usize> Default for Deep<MAPS> {
    fn default() -> Self {
        Self { planes: [[[0; Group::LEN]; DEPTH]; MAPS], added: 0 }
    }
}

impl<const MAPS: usize> Deep<MAPS> {
    /// Maximum number of counters that can be added.
    const ROOM: u32 = (1 << DEPTH) / VerticalCounters::<MAPS>::GROUPS as u32 - 1;

    fn add(&mut self, counters: &VerticalCounters<MAPS>) {
        for (planes, others) in self.planes.iter_mut().zip(&counters.planes) {
            let mut carry = [0; Group::LEN];
            let (low, high) = planes.split_at_mut(others.len());
            for (plane, other) in low.iter_mut().zip(others) {
                for lane in 0..Group::LEN {
                    (plane[lane], carry[lane]) = plane[lane].full_add(other[lane], carry[lane]);
                }
            }
            for plane in high {
                for (bits, carry) in plane.iter_mut().zip(&mut carry) {
                    (*bits, *carry) = (*bits ^ *carry, *bits & *carry);
                }
                if carry.iter().fold(0, |any, carry| any | carry) == 0 {
                    break;
                }
            }
        }
        self.added += 1;
    }
}

/// Heat maps under construction: counts for each square, a1 first, for several sets of squares.
#[derive(Clone, Debug)]
pub(super) struct Heat<const MAPS: usize> {
    maps: [Squares; MAPS],
    deep: Deep<MAPS>,
    counters: VerticalCounters<MAPS>,
}

/// The sets of [`SquareCounters`](crate::kernels::SquareCounters).
pub(super) type SquareMaps = Heat<14>;

/// Checking pieces, rooks with castling rights, and en passant squares on which a capture is legal.
pub(super) type EventMaps = Heat<3>;

impl<const MAPS: usize> Default for Heat<MAPS> {
    fn default() -> Self {
        Self { maps: [[0; 64]; MAPS], deep: Deep::default(), counters: VerticalCounters::default() }
    }
}

impl<const MAPS: usize> Heat<MAPS> {
    /// Adds whole groups, which a function of an [`Analyzer`](crate::tiers::Analyzer) counts.
    pub(super) fn add(
        &mut self,
        mut groups: &[Group],
        mut results: &[GroupResults],
        count: impl Fn(&[Group], &[GroupResults], &mut VerticalCounters<MAPS>),
    ) {
        while !groups.is_empty() {
            if self.counters.room() == 0 {
                self.deepen();
            }
            let (now, later) = groups.split_at(groups.len().min(self.counters.room()));
            count(now, &results[..now.len()], &mut self.counters);
            results = &results[now.len()..];
            groups = later;
        }
    }

    /// Moves the counts of full counters to deeper ones.
    #[cold]
    fn deepen(&mut self) {
        if self.deep.added == Deep::<MAPS>::ROOM {
            add(&mut self.maps, &self.deep.planes);
            self.deep = Deep::default();
        }
        self.deep.add(&self.counters);
        self.counters = VerticalCounters::default();
    }

    /// Adds the counts of another instance.
    pub(super) fn merge(&mut self, other: &Self) {
        let ours = self.maps.as_flattened_mut();
        for (ours, theirs) in ours.iter_mut().zip(other.maps().as_flattened()) {
            *ours += theirs;
        }
    }

    /// The maps so far.
    pub(super) fn maps(&self) -> [Squares; MAPS] {
        let mut maps = self.maps;
        add(&mut maps, &self.deep.planes);
        add(&mut maps, &self.counters.planes);
        maps
    }
}

impl SquareMaps {
    /// The maps of the pieces in the order `PNBRQKpnbrqk`, then of the squares attacked by White and by Black.
    pub(super) fn pieces_and_attacks(&self) -> [Squares; 14] {
        with_pieces(self.maps())
    }
}

/// Maps of pieces in place of those of the sets that the lanes count.
fn with_pieces(mut maps: [Squares; 14]) -> [Squares; 14] {
    for square in 0..64 {
        let pieces = squares_of_pieces(std::array::from_fn(|set| maps[set][square]));
        for (map, count) in maps.iter_mut().zip(pieces) {
            map[square] = count;
        }
    }
    maps
}

/// Maps of pieces only. There are many of them, so that they have no deeper counters.
#[derive(Clone, Debug)]
pub(super) struct PieceMaps {
    maps: [Squares; 14],
    counters: VerticalCounters<14>,
}

impl Default for PieceMaps {
    fn default() -> Self {
        Self { maps: [[0; 64]; 14], counters: VerticalCounters::default() }
    }
}

impl PieceMaps {
    /// Adds all boards of some groups, at most 16.
    pub(super) fn add(&mut self, analyzer: &dyn Analyzer, groups: &[Group]) {
        static NO_ATTACKS: LazyLock<[GroupResults; 16]> = LazyLock::new(Default::default);
        if self.counters.room() < groups.len() {
            add(&mut self.maps, &self.counters.planes);
            self.counters = VerticalCounters::default();
        }
        analyzer.count_squares(groups, &NO_ATTACKS[..groups.len()], &mut self.counters);
    }
    /// The maps so far, in the order `PNBRQKpnbrqk`.
    pub(super) fn pieces(&self) -> [Squares; 12] {
        let mut maps = self.maps;
        add(&mut maps, &self.counters.planes);
        let maps = with_pieces(maps);
        std::array::from_fn(|piece| maps[piece])
    }
}

/// Adds the counters of the eight lanes vertically, then spreads the sum's bits over the 64 numbers.
fn empty_into(map: &mut [u64; 64], planes: &[[u64; Group::LEN]]) {
    // The sum of eight lanes has three more bits.
    let mut sum = [0u64; DEPTH + 3];
    let sum = &mut sum[..planes.len() + 3];
    for lane in 0..Group::LEN {
        let mut carry = 0;
        for (bit, sum) in sum.iter_mut().enumerate() {
            let other = planes.get(bit).map_or(0, |bits| bits[lane]);
            (*sum, carry) = sum.full_add(other, carry);
        }
    }
    for (byte, squares) in map.chunks_exact_mut(8).enumerate() {
        for (place, planes) in sum.chunks(8).enumerate() {
            // The same eight bits of eight squares' counts, in bytes.
            let digits = planes
                .iter()
                .enumerate()
                .fold(0, |counts, (weight, bits)| counts + (spread_bits((bits >> (8 * byte)) as u8) << weight));
            for (square, digits) in squares.iter_mut().zip(digits.to_le_bytes()) {
                *square += u64::from(digits) << (8 * place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::queries::EN_PASSANTS;
    use crate::tiers::Tier;

    fn count_squares<'a>(
        analyzer: &'a dyn Analyzer,
    ) -> impl Fn(&[Group], &[GroupResults], &mut VerticalCounters<14>) + 'a {
        |groups, results, counters| analyzer.count_squares(groups, results, counters)
    }

    /// Random planes will do as boards.
    #[test]
    fn agrees_with_counting_square_by_square() {
        let mut numbers = Random::new(1);
        let mut random = || numbers.bits();
        for len in [1, 15, 16, 17, 31, 200, 255, 256, 600] {
            let groups: Vec<Group> = (0..len)
                .map(|_| Group { planes: std::array::from_fn(|_| std::array::from_fn(|_| random())) })
                .collect();
            let results: Vec<GroupResults> = (0..len)
                .map(|_| {
                    let mut results = GroupResults::default();
                    results.attacks_white = std::array::from_fn(|_| random());
                    results.attacks_black = [u64::MAX; 8];
                    results.checkers = std::array::from_fn(|_| random());
                    results.counts = std::array::from_fn(|_| random() & 3 << EN_PASSANTS | 20);
                    results
                })
                .collect();
            let mut expected = [[0; 64]; 14];
            let mut expected_events = [[0; 64]; 3];
            for (group, results) in groups.iter().zip(&results) {
                for lane in 0..8 {
                    let board = group.get(lane);
                    for square in crate::chess::Square::all().map(crate::chess::Square::index) {
                        let at = |set: u64| set >> square & 1;
                        let code = at(board.types[0]) | at(board.types[1]) << 1 | at(board.types[2]) << 2;
                        let role = [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), Some(3)][code as usize];
                        if let Some(role) = role {
                            expected[role + 6 * at(board.color) as usize][square] += 1;
                        }
                        expected[12][square] += at(results.attacks_white[lane]);
                        expected[13][square] += at(results.attacks_black[lane]);
                        expected_events[0][square] += at(results.checkers[lane]);
                        expected_events[1][square] += u64::from(code == 7);
                        if code == 0 && results.counts[lane] >> EN_PASSANTS != 0 {
                            expected_events[2][square] += at(board.color);
                        }
                    }
                }
            }
            for analyzer in Tier::all().flat_map(Tier::implementations) {
                let mut heat = SquareMaps::default();
                heat.add(&groups, &results, count_squares(analyzer));
                let mut total = Heat::default();
                total.merge(&heat);
                assert_eq!(heat.pieces_and_attacks(), expected, "{analyzer:?}");
                assert_eq!(total.pieces_and_attacks(), expected, "{analyzer:?}");
                let mut events = EventMaps::default();
                events.add(&groups, &results, |groups, results, counters| {
                    analyzer.count_events(groups, results, counters);
                });
                assert_eq!(events.maps(), expected_events, "{analyzer:?}");
            }
        }
    }

    #[test]
    fn deep_counters_are_emptied_before_they_overflow() {
        let group = Group { planes: [[!0, 0, 1 << 63, 5, 0, 0, 0, !0]; 4] };
        let mut results = GroupResults::default();
        results.attacks_white = [!0, 1, 2, 3, 4, 5, 6, 7];
        let analyzer = Tier::PORTABLE.analyzer().unwrap();
        let full = VerticalCounters::<14>::GROUPS;
        let (groups, results) = (vec![group; full], vec![results; full]);
        let mut heat = SquareMaps::default();
        heat.add(&groups, &results, count_squares(analyzer));
        let once = heat.maps();
        let times = u64::from(Deep::<14>::ROOM) + 3;
        let counters = heat.counters.clone();
        for _ in 1..times {
            heat.deepen();
            heat.counters = counters.clone();
        }
        assert_eq!(heat.deep.added, 2);
        let expected = once.map(|map| map.map(|count| count * times));
        assert_eq!(heat.maps(), expected);
    }
}
