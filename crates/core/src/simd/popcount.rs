//! Population counts of vectors by scalar instructions, from memory.

/// Planes between vector stores and scalar loads. None of them crosses a cache line.
#[repr(align(64))]
pub(super) struct Scratch<const N: usize>(pub(super) [[u64; 8]; N]);

impl<const N: usize> Scratch<N> {
    /// Adds, in each lane, the number of ones of each plane times its weight. Only for methods of tokens that prove POPCNT.
    #[inline(always)]
    pub(super) fn add_weighted_counts(&self, weights: &[u64; N], to: &mut [u64; 8]) {
        let mut lane = 0;
        while lane < 8 {
            let mut sum = to[lane];
            let mut plane = 0;
            while plane < N {
                let count = count_ones_in_memory(&self.0[plane][lane]);
                sum = sum.wrapping_add(count.wrapping_mul(weights[plane]));
                plane += 1;
            }
            store_scalar(&mut to[lane], sum);
            lane += 1;
        }
    }
}

/// Number of ones, by the scalar instruction from memory. Otherwise the compiler would extract the lanes
/// from the vector register one by one, or count in vector registers with byte shuffles; both are much slower.
#[inline(always)]
fn count_ones_in_memory(bits: &u64) -> u64 {
    let count;
    // SAFETY: called only by methods of tokens that prove POPCNT; reads what the reference covers. The output
    // is cleared first because some CPUs wait for its old value.
    unsafe {
        std::arch::asm!(
            "xor {0:e}, {0:e}",
            "popcnt {0}, qword ptr [{1}]",
            out(reg) count,
            in(reg) bits,
            options(pure, readonly, nostack),
        );
    }
    count
}

/// A store that the compiler does not merge with its neighbours: it would first move all sums back into a
/// vector register, one by one.
#[inline(always)]
fn store_scalar(to: &mut u64, bits: u64) {
    // SAFETY: the reference may be written through.
    unsafe { std::ptr::write_volatile(to, bits) }
}
