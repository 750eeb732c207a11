//! Heat maps: how often each square is occupied by each piece, and attacked by each side.
//!
//! The lanes count *vertically* ([`VerticalCounters`]); their bits are converted to numbers here, when the counters
//! are full or the maps are needed.

use crate::block::Group;
use crate::kernels::VerticalCounters;
use crate::queries::GroupResults;
use crate::table::spread_bits;
use crate::tiers::Analyzer;

/// Number of maps: twelve pieces, and the attacks of two sides.
const MAPS: usize = VerticalCounters::SETS;

/// Counts of each square, a1 first: pieces in the order `PNBRQKpnbrqk`, then squares attacked by White and
/// by Black.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatMaps {
    maps: [[u64; 64]; MAPS],
}

impl Default for HeatMaps {
    fn default() -> Self {
        Self {
            maps: [[0; 64]; MAPS],
        }
    }
}

impl HeatMaps {
    /// The letters of the pieces in the order of [`Self::occupancy`].
    pub const PIECES: [char; 12] = ['P', 'N', 'B', 'R', 'Q', 'K', 'p', 'n', 'b', 'r', 'q', 'k'];

    /// How often each piece stands on each square.
    pub fn occupancy(&self) -> &[[u64; 64]] {
        &self.maps[..12]
    }
    /// How often each square is attacked, by White and by Black.
    pub fn attacks(&self) -> &[[u64; 64]] {
        &self.maps[12..]
    }

    fn add(&mut self, counters: &VerticalCounters) {
        for (map, planes) in self.maps.iter_mut().zip(&counters.planes) {
            empty_into(map, planes);
        }
    }
}

/// Heat maps under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Heat {
    maps: HeatMaps,
    counters: VerticalCounters,
}

impl Heat {
    /// Adds whole groups; masked lanes must be empty boards without attacks.
    pub(super) fn add(
        &mut self,
        analyzer: &dyn Analyzer,
        mut groups: &[Group],
        mut results: &[GroupResults],
    ) {
        while !groups.is_empty() {
            if self.counters.room() == 0 {
                self.maps.add(&self.counters);
                self.counters = VerticalCounters::default();
            }
            let (now, later) = groups.split_at(groups.len().min(self.counters.room()));
            analyzer.count_squares(now, &results[..now.len()], &mut self.counters);
            results = &results[now.len()..];
            groups = later;
        }
    }

    /// Adds the counts of another instance.
    pub(super) fn merge(&mut self, other: &Self) {
        let ours = self.maps.maps.as_flattened_mut();
        for (ours, theirs) in ours.iter_mut().zip(other.maps.maps.as_flattened()) {
            *ours += theirs;
        }
        self.maps.add(&other.counters);
    }

    /// The maps so far.
    pub(super) fn maps(&self) -> HeatMaps {
        let mut maps = self.maps.clone();
        maps.add(&self.counters);
        maps
    }
}

/// Adds the counters of the eight lanes vertically, then spreads the sum's bits over the 64 numbers.
fn empty_into(map: &mut [u64; 64], planes: &[[u64; Group::LEN]; 8]) {
    let mut sum = [0u64; 8 + 3];
    for lane in 0..Group::LEN {
        let mut carry = 0;
        for (bit, sum) in sum.iter_mut().enumerate() {
            let other = planes.get(bit).map_or(0, |bits| bits[lane]);
            let total = *sum ^ other ^ carry;
            carry = *sum & other | carry & (*sum ^ other);
            *sum = total;
        }
    }
    for (byte, squares) in map.chunks_exact_mut(8).enumerate() {
        // Eight squares' counts in bytes: the low digits and the three high ones.
        let digits = |planes: &[u64]| {
            planes.iter().enumerate().fold(0, |counts, (weight, bits)| {
                counts + (spread_bits((bits >> (8 * byte)) as u8) << weight)
            })
        };
        let (low, high) = (
            digits(&sum[..8]).to_le_bytes(),
            digits(&sum[8..]).to_le_bytes(),
        );
        for (square, (low, high)) in squares.iter_mut().zip(low.into_iter().zip(high)) {
            *square += u64::from(low) + (u64::from(high) << 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiers::Tier;

    /// Random planes will do as boards.
    #[test]
    fn agrees_with_counting_square_by_square() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state ^ state >> 29
        };
        for len in [1, 15, 16, 17, 31, 200, 255, 256, 600] {
            let groups: Vec<Group> = (0..len)
                .map(|_| Group {
                    planes: std::array::from_fn(|_| std::array::from_fn(|_| random())),
                })
                .collect();
            let results: Vec<GroupResults> = (0..len)
                .map(|_| GroupResults {
                    attacks_white: std::array::from_fn(|_| random()),
                    attacks_black: [u64::MAX; 8],
                    ..GroupResults::default()
                })
                .collect();
            let mut expected = HeatMaps::default();
            for (group, results) in groups.iter().zip(&results) {
                for lane in 0..8 {
                    let board = group.get(lane);
                    for square in 0..64 {
                        let at = |set: u64| set >> square & 1;
                        let code =
                            at(board.types[0]) | at(board.types[1]) << 1 | at(board.types[2]) << 2;
                        let role = [
                            None,
                            Some(0),
                            Some(1),
                            Some(2),
                            Some(3),
                            Some(4),
                            Some(5),
                            Some(3),
                        ][code as usize];
                        if let Some(role) = role {
                            expected.maps[role + 6 * at(board.color) as usize][square] += 1;
                        }
                        expected.maps[12][square] += at(results.attacks_white[lane]);
                        expected.maps[13][square] += at(results.attacks_black[lane]);
                    }
                }
            }
            for analyzer in Tier::all().filter_map(Tier::analyzer) {
                let mut heat = Heat::default();
                heat.add(analyzer, &groups, &results);
                let mut total = Heat::default();
                total.merge(&heat);
                assert_eq!(heat.maps(), expected, "{}", analyzer.tier());
                assert_eq!(total.maps(), expected, "{}", analyzer.tier());
            }
        }
    }
}
