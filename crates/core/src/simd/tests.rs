//! The operations of all lanes, compared with their definitions bit by bit.

use super::{Lanes, Scalar, Simd};
use crate::chess::random::Random;

/// Bit `bit` of byte `byte`.
fn bit(word: u64, byte: u32, bit: u32) -> bool {
    word >> (8 * byte + bit) & 1 != 0
}

/// The word in which bit b of byte r is set if `is_set(r, b)`.
fn matrix(is_set: impl Fn(u32, u32) -> bool) -> u64 {
    let places = (0..8).flat_map(|r| (0..8).map(move |b| (r, b)));
    places.fold(0, |word, (r, b)| word | u64::from(is_set(r, b)) << (8 * r + b))
}

/// A function of each byte, where the others do not matter.
fn bytes(words: [u64; 3], operation: impl Fn(u8, u8) -> u8) -> u64 {
    let [a, b, _] = words.map(u64::to_le_bytes);
    u64::from_le_bytes(std::array::from_fn(|i| operation(a[i], b[i])))
}

fn operations_are_as_defined<S: Simd>() {
    let Some(simd) = S::detect() else {
        crate::testing::skipped(&format!("this CPU lacks one of {:?}", S::FEATURES));
        return;
    };
    let mut random = Random::new(7);
    let rows: [[u64; 8]; 8] = std::array::from_fn(|_| std::array::from_fn(|_| random.bits()));
    let turned: [[u64; 8]; 8] = std::array::from_fn(|i| std::array::from_fn(|j| rows[j][i]));
    let mut found = [[0; 8]; 8];
    simd.enter(|| simd.turn(&rows, &mut found));
    assert_eq!(found, turned, "{simd:?}");
    for round in 0..500 {
        let mut words = [[0; 8]; 3];
        for word in words.as_flattened_mut() {
            // Dense, sparse, and with one bit.
            *word = match round % 3 {
                0 => random.bits(),
                1 => random.bits() & random.bits() & random.bits(),
                _ => 1 << random.below(64),
            };
        }
        for at in (0..8).step_by(S::WIDTH) {
            let [a, b, c] = words.each_ref().map(|words| simd.load(words, at));
            let check = |name: &str, found: S::Lanes, expected: &dyn Fn([u64; 3]) -> u64| {
                let mut lanes = [0; 8];
                simd.store(found, &mut lanes, at);
                for lane in at..at + S::WIDTH {
                    let words = words.map(|words| words[lane]);
                    assert_eq!(lanes[lane], expected(words), "{simd:?}: {name} of {words:x?}");
                }
            };
            let sparse = a & b & c;
            let nonzero = (0..S::WIDTH)
                .filter(|lane| {
                    let [a, b, c] = words.map(|words| words[at + lane]);
                    a & b & c != 0
                })
                .fold(0, |bits, lane| bits | 1 << lane);
            assert_eq!(sparse.nonzero_bits(), nonzero, "{simd:?}: {words:x?}");
            assert_eq!(sparse.any(), nonzero != 0, "{simd:?}: {words:x?}");
            if at == 0 {
                let bits = words[0][0];
                let mut mask = [0; 8];
                simd.store(simd.mask(bits), &mut mask, 0);
                let expected =
                    std::array::from_fn(|lane| if lane < S::WIDTH { (bits >> lane & 1).wrapping_neg() } else { 0 });
                assert_eq!(mask, expected, "{simd:?}: {bits:x}");
                let mut delayed = [0; 8];
                simd.store(simd.delayed(a, b), &mut delayed, 0);
                let expected = std::array::from_fn(|lane| match lane {
                    0 => words[1][S::WIDTH - 1],
                    _ if lane < S::WIDTH => words[0][lane - 1],
                    _ => 0,
                });
                assert_eq!(delayed, expected, "{simd:?}: {words:x?}");
            }
            check("mirror", a.mirror(), &|words| bytes(words, |a, _| a.reverse_bits()));
            check("transpose", a.transpose(), &|[a, ..]| matrix(|byte, of| bit(a, 7 - of, 7 - byte)));
            check("mirror_and_transpose", a.mirror_and_transpose(), &|[a, ..]| matrix(|byte, of| bit(a, 7 - of, byte)));
            check("multiply_halves", a.multiply_halves(b), &|[a, b, _]| u64::from(a as u32) * u64::from(b as u32));
            check("fold_product", a.fold_product(b), &|[a, b, _]| {
                let product = u128::from(a) * u128::from(b);
                product as u64 ^ (product >> 64) as u64
            });
            let counts = b & a.splat(63);
            check("shl_by", a.shl_by(counts), &|[a, b, _]| a << (b & 63));
            check("shr_by", a.shr_by(counts), &|[a, b, _]| a >> (b & 63));
            check("shl_in_bytes", a.shl_in_bytes::<1>(), &|words| bytes(words, |a, _| a << 1));
            check("shl_in_bytes", a.shl_in_bytes::<2>(), &|words| bytes(words, |a, _| a << 2));
            check("shr_in_bytes", a.shr_in_bytes::<1>(), &|words| bytes(words, |a, _| a >> 1));
            check("shr_in_bytes", a.shr_in_bytes::<2>(), &|words| bytes(words, |a, _| a >> 2));
            check("sub_twice_in_bytes", a.sub_twice_in_bytes(b), &|words| bytes(words, |a, b| a.wrapping_sub(b << 1)));
            check("add_in_bytes", a.add_in_bytes(b), &|words| bytes(words, u8::wrapping_add));
            check("sweep_up_in_bytes", a.sweep_up_in_bytes(a & b), &|words| {
                bytes(words, |a, b| a ^ a.wrapping_sub((a & b) << 1))
            });
            check("count_ones_in_bytes", a.count_ones_in_bytes(), &|words| bytes(words, |a, _| a.count_ones() as u8));
            check("count_ones", a.count_ones(), &|[a, ..]| u64::from(a.count_ones()));
            check("sum_of_digits", S::Lanes::sum_of_digits([a, b, c, a]), &|[a, b, c]| {
                let [a, b, c] = [a, b, c].map(|digit| u64::from(digit.count_ones()));
                9 * a + 2 * b + 4 * c
            });
            check("sum_of_bytes", a.sum_of_bytes(), &|[a, ..]| a.to_le_bytes().into_iter().map(u64::from).sum());
            check("without_unless", a.without_unless(b, c), &|[a, b, c]| a & !(b & !c));
            check("differs_from", a.differs_from(b, c), &|[a, b, c]| (a ^ b) | (a ^ c));
            check("choose", a.choose(b, c), &|[a, b, c]| (a & b) | (!a & c));
            check("where_any", a.where_any::<1>(b, c), &|[a, b, c]| if a & 1 != 0 { b } else { c });
            check("where_any", a.where_any::<{ 1 << 63 }>(b, c), &|[a, b, c]| if a >> 63 != 0 { b } else { c });
            check("where_any", a.where_any::<{ 1 << 40 | 1 << 5 }>(b, c), &|[a, b, c]| {
                if a & (1 << 40 | 1 << 5) != 0 { b } else { c }
            });
            // Few planes and many, with the largest weights that are allowed.
            let ones = |word: u64, weight: u64| u64::from(word.count_ones()).wrapping_mul(weight);
            let few = [11 | 1 << 32, 20 | 30 << 56];
            let many = [1, 2, 4, 1 << 8, 30 << 24 | 7 << 16, 24 | 31 << 40, 1 << 56, 1 << 8];
            let mut counts = [[0; 8]; 2];
            simd.store_weighted_counts(c, [a, b], few, &mut counts[0], at);
            simd.store_weighted_counts(c, [a, b, c, a, b, c, a, b], many, &mut counts[1], at);
            check("few weighted counts", simd.load(&counts[0], at), &|[a, b, c]| {
                c.wrapping_add(ones(a, few[0])).wrapping_add(ones(b, few[1]))
            });
            check("many weighted counts", simd.load(&counts[1], at), &|words| {
                let planes = words.into_iter().cycle().zip(many);
                planes.fold(words[2], |sum, (word, weight)| sum.wrapping_add(ones(word, weight)))
            });
            check("neighbours", a.neighbours(), &|[a, ..]| around(a, |rows, columns| rows.max(columns) == 1));
            check("jumps", a.jumps(), &|[a, ..]| around(a, |rows, columns| rows * columns == 2));
            if round % 3 == 2 {
                check("sides_of_bit", a.sides_of_bit::<1>(), &|[a, ..]| {
                    around(a, |rows, columns| rows == 0 && columns == 1)
                });
                check("sides_of_bit", a.sides_of_bit::<2>(), &|[a, ..]| {
                    around(a, |rows, columns| rows == 0 && columns == 2)
                });
                check("neighbours_of_bit", a.neighbours_of_bit(), &|[a, ..]| {
                    around(a, |rows, columns| rows.max(columns) == 1)
                });
                check("jumps_of_bit", a.jumps_of_bit(), &|[a, ..]| around(a, |rows, columns| rows * columns == 2));
                let lines = a.lines_through_bit();
                check("column", lines.column, &|[a, ..]| around(a, |_, columns| columns == 0));
            }
        }
    }
}

/// The bits at certain distances in rows and columns from any bit of a word.
fn around(word: u64, is_there: impl Fn(u32, u32) -> bool) -> u64 {
    matrix(|byte, of| {
        (0..64).any(|from| {
            let distances = (byte.abs_diff(from / 8), of.abs_diff(from % 8));
            word >> from & 1 != 0 && is_there(distances.0, distances.1)
        })
    })
}

#[test]
fn scalar() {
    operations_are_as_defined::<Scalar>();
}

#[cfg(target_arch = "x86_64")]
#[test]
fn vectors() {
    operations_are_as_defined::<super::Avx2>();
    operations_are_as_defined::<super::Avx2Gfni>();
    operations_are_as_defined::<super::Avx512>();
    operations_are_as_defined::<super::Avx512Gfni>();
    operations_are_as_defined::<super::Avx2Words>();
    operations_are_as_defined::<super::Avx512Words>();
}
