//! Bitwise addition of sets, so that fewer population counts are needed.
//!
//! The sum of many sets is kept as five planes: bit *n* of plane *k* is bit *k* of the number of sets that
//! hold square *n*. A full adder adds two sets to a plane and passes one carry on, so twenty sets cost
//! about eighteen adders instead of twenty population counts, and every count over all of them (only some squares,
//! only captures) needs just five planes.

use crate::simd::Lanes;

/// The number of sets on each square, one plane per binary digit; exact up to 31.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums<L> {
    pub planes: [L; 5],
}

impl<L: Lanes> Sums<L> {
    /// The sum of sixteen sets.
    #[inline(always)]
    pub(crate) fn of_sixteen(sets: [L; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = sets;
        let (ones, twos_1) = a.full_add(b, c);
        let (ones, twos_2) = ones.full_add(d, e);
        let (ones, twos_3) = ones.full_add(f, g);
        let (twos, fours_1) = twos_1.full_add(twos_2, twos_3);
        let (ones, twos_4) = ones.full_add(h, i);
        let (ones, twos_5) = ones.full_add(j, k);
        let (twos, fours_2) = twos.full_add(twos_4, twos_5);
        let (ones, twos_6) = ones.full_add(l, m);
        let (ones, twos_7) = ones.full_add(n, o);
        let (twos, fours_3) = twos.full_add(twos_6, twos_7);
        let (fours, eights_1) = fours_1.full_add(fours_2, fours_3);
        // The last set is added alone.
        let twos_8 = ones & p;
        let fours_4 = twos & twos_8;
        let eights_2 = fours & fours_4;
        Self { planes: [ones ^ p, twos ^ twos_8, fours ^ fours_4, eights_1 ^ eights_2, eights_1 & eights_2] }
    }

    /// Adds sixteen sets to counters of four bits, for several kinds of sets at once. The planes of the counters are given
    /// by their number, and so are the sets; each is asked for when it is needed, so that few of them are in registers at
    /// a time. Returns the new planes, and the squares whose counter overflowed.
    #[inline(always)]
    pub(crate) fn add_sixteen<const N: usize>(
        plane: impl Fn(usize) -> [L; N],
        sets: impl Fn(usize) -> [L; N],
    ) -> ([[L; N]; 4], [L; N]) {
        let (ones, twos_1) = full_adds(plane(0), sets(0), sets(1));
        let (ones, twos_2) = full_adds(ones, sets(2), sets(3));
        let (twos, fours_1) = full_adds(plane(1), twos_1, twos_2);
        let (ones, twos_3) = full_adds(ones, sets(4), sets(5));
        let (ones, twos_4) = full_adds(ones, sets(6), sets(7));
        let (twos, fours_2) = full_adds(twos, twos_3, twos_4);
        let (fours, eights_1) = full_adds(plane(2), fours_1, fours_2);
        let (ones, twos_5) = full_adds(ones, sets(8), sets(9));
        let (ones, twos_6) = full_adds(ones, sets(10), sets(11));
        let (twos, fours_3) = full_adds(twos, twos_5, twos_6);
        let (ones, twos_7) = full_adds(ones, sets(12), sets(13));
        let (ones, twos_8) = full_adds(ones, sets(14), sets(15));
        let (twos, fours_4) = full_adds(twos, twos_7, twos_8);
        let (fours, eights_2) = full_adds(fours, fours_3, fours_4);
        let (eights, sixteens) = full_adds(plane(3), eights_1, eights_2);
        ([ones, twos, fours, eights], sixteens)
    }

    /// Adds three more sets.
    #[inline(always)]
    pub(crate) fn plus_three(self, [a, b, c]: [L; 3]) -> Self {
        let [ones, twos, fours, eights, sixteens] = self.planes;
        let (ones, twos_1) = ones.full_add(a, b);
        let (ones, twos_2) = (ones ^ c, ones & c);
        let (twos, carry) = twos.full_add(twos_1, twos_2);
        let (fours, carry) = (fours ^ carry, fours & carry);
        let (eights, carry) = (eights ^ carry, eights & carry);
        Self { planes: [ones, twos, fours, eights, sixteens ^ carry] }
    }

    /// Only the squares of a set.
    #[inline(always)]
    pub(crate) fn within(self, set: L) -> Self {
        let [ones, twos, fours, eights, sixteens] = self.planes;
        Self { planes: [ones & set, twos & set, fours & set, eights & set, sixteens & set] }
    }

    /// Selects the other sum in lanes where the mask is all ones, and this sum where it is zero.
    #[inline(always)]
    pub(crate) fn or_where(self, mask: L, other: Self) -> Self {
        let [a1, a2, a4, a8, a16] = self.planes;
        let [b1, b2, b4, b8, b16] = other.planes;
        Self {
            planes: [
                mask.choose(b1, a1),
                mask.choose(b2, a2),
                mask.choose(b4, a4),
                mask.choose(b8, a8),
                mask.choose(b16, a16),
            ],
        }
    }

    /// The squares that are in any of the sets.
    #[inline(always)]
    pub(crate) fn any(self) -> L {
        let [ones, twos, fours, eights, sixteens] = self.planes;
        ones | twos | fours | eights | sixteens
    }
}

/// Bitwise sums of three bits each: (low bits, carries).
#[inline(always)]
fn full_adds<L: Lanes, const N: usize>(a: [L; N], b: [L; N], c: [L; N]) -> ([L; N], [L; N]) {
    let (mut low, mut carries) = (a, a);
    let mut at = 0;
    while at < N {
        (low[at], carries[at]) = a[at].full_add(b[at], c[at]);
        at += 1;
    }
    (low, carries)
}
