//! Heat maps: how often each square is occupied by each piece, and attacked by each side.
//!
//! Adding a set of squares to 64 counters one bit at a time would cost more than finding all legal moves.
//! Counted *vertically* it is almost free: one word holds the lowest bit of all 64 counters, the next word
//! their second bit, and adding a set is a ripple of AND and XOR through the words, 64 squares at a time,
//! eight boards side by side. Every 15 groups (four bits a counter) the lanes are added together, still
//! vertically, and only then are bits turned into numbers.

use crate::block::Group;
use crate::tiers::GroupResults;

/// Number of maps: twelve pieces, two sides' attacks.
pub const MAPS: usize = 14;

/// Bits of a vertical counter before it is emptied, and the number of groups that it can take.
const BITS: usize = 4;
const GROUPS: usize = (1 << BITS) - 1;

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
    /// How often each square is attacked by White, by Black.
    pub fn attacks(&self) -> &[[u64; 64]] {
        &self.maps[12..]
    }
    /// Adds everything that another holds.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self
            .maps
            .as_flattened_mut()
            .iter_mut()
            .zip(other.maps.as_flattened())
        {
            *ours += theirs;
        }
    }
    /// Adds whole groups; lanes that do not count must be empty boards without attacks.
    pub fn add(&mut self, groups: &[Group], results: &[GroupResults]) {
        for (groups, results) in groups.chunks(GROUPS).zip(results.chunks(GROUPS)) {
            let mut counters = [[[0u64; Group::LEN]; BITS]; MAPS];
            for (group, results) in groups.iter().zip(results) {
                for (counter, sets) in counters.iter_mut().zip(sets(group, results)) {
                    increment(counter, sets);
                }
            }
            for (map, counter) in self.maps.iter_mut().zip(&counters) {
                empty_into(map, counter);
            }
        }
    }
}

/// The fourteen sets of each board.
#[inline(always)]
fn sets(group: &Group, results: &GroupResults) -> [[u64; Group::LEN]; MAPS] {
    let [color, t0, t1, t2] = &group.planes;
    let mut sets = [[0; Group::LEN]; MAPS];
    for lane in 0..Group::LEN {
        let (color, t0, t1, t2) = (color[lane], t0[lane], t1[lane], t2[lane]);
        let roles = [
            t0 & !t1 & !t2,
            t1 & !t0 & !t2,
            t0 & t1 & !t2,
            t2 & !(t0 ^ t1) & !(t0 & !t1),
            t2 & t0 & !t1,
            t2 & t1 & !t0,
        ];
        for (role, set) in roles.into_iter().enumerate() {
            sets[role][lane] = set & !color;
            sets[role + 6][lane] = set & color;
        }
        sets[12][lane] = results.attacks_white[lane];
        sets[13][lane] = results.attacks_black[lane];
    }
    sets
}

#[inline(always)]
fn increment(counter: &mut [[u64; Group::LEN]; BITS], sets: [u64; Group::LEN]) {
    let mut carry = sets;
    for bit in counter {
        for lane in 0..Group::LEN {
            let both = bit[lane] & carry[lane];
            bit[lane] ^= carry[lane];
            carry[lane] = both;
        }
    }
}

/// Adds the counters of the eight lanes vertically, then spreads the sum's bits over the 64 numbers.
fn empty_into(map: &mut [u64; 64], counter: &[[u64; Group::LEN]; BITS]) {
    let mut sum = [0u64; BITS + 3];
    for lane in 0..Group::LEN {
        let mut carry = 0;
        for (bit, sum) in sum.iter_mut().enumerate() {
            let other = counter.get(bit).map_or(0, |bits| bits[lane]);
            let total = *sum ^ other ^ carry;
            carry = *sum & other | carry & (*sum ^ other);
            *sum = total;
        }
    }
    for (byte, squares) in map.chunks_exact_mut(8).enumerate() {
        // Eight squares' counts, at most 120 each, as bytes.
        let counts = sum.iter().enumerate().fold(0, |counts, (weight, bits)| {
            counts + (spread(bits >> (8 * byte) & 0xFF) << weight)
        });
        for (square, count) in squares.iter_mut().zip(counts.to_le_bytes()) {
            *square += u64::from(count);
        }
    }
}

/// Eight bits to eight bytes of 0 or 1, the lowest bit to the lowest byte.
#[inline(always)]
fn spread(bits: u64) -> u64 {
    // Bit i of the copy in byte i is kept; adding 0x7F carries it into the byte's highest bit.
    let one_each = bits.wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    (one_each + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & 0x0101_0101_0101_0101
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreading() {
        for bits in 0..256u64 {
            let bytes = spread(bits).to_le_bytes();
            for (i, byte) in bytes.into_iter().enumerate() {
                assert_eq!(u64::from(byte), bits >> i & 1, "{bits:08b} bit {i}");
            }
        }
    }

    /// Any planes are boards for this purpose.
    #[test]
    fn agrees_with_counting_one_by_one() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state ^ state >> 29
        };
        for len in [1, 14, 15, 16, 31, 200] {
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
            let mut maps = HeatMaps::default();
            maps.add(&groups, &results);
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
            assert_eq!(maps, expected);
        }
    }
}
