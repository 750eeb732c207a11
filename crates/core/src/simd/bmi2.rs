//! Bits gathered and scattered under a mask: PEXT and PDEP.
//!
//! Every CPU with BMI2 also has BMI1, LZCNT and POPCNT; they are required together so that code inside
//! [`Bmi2::enter`] gets single-instruction bit scans and population counts.

/// On other architectures there is no token.
#[cfg(not(target_arch = "x86_64"))]
type Proof = std::convert::Infallible;
#[cfg(target_arch = "x86_64")]
type Proof = ();

/// Proof that the CPU has BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, Debug)]
pub struct Bmi2(Proof);

#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(unused_variables, reason = "without a token there is nothing to work on")
)]
impl Bmi2 {
    #[cfg(target_arch = "x86_64")]
    features!([pub] "bmi1" "bmi2" "lzcnt" "popcnt");

    /// The required CPU features, as `std::arch` names them.
    #[cfg(not(target_arch = "x86_64"))]
    pub const FEATURES: &'static [&'static str] = &["bmi2"];

    /// The token: always `None`.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn detect() -> Option<Self> {
        None
    }

    /// Runs the work; never called.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn enter<R>(self, _: impl FnOnce() -> R) -> R {
        match self.0 {}
    }

    /// The bits of `bits` under the mask, gathered at the low end.
    #[inline(always)]
    pub fn pext(self, bits: u64, mask: u64) -> u64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves BMI2.
        unsafe {
            std::arch::x86_64::_pext_u64(bits, mask)
        }
        #[cfg(not(target_arch = "x86_64"))]
        match self.0 {}
    }

    /// The low bits of `bits`, scattered to the places of the mask.
    #[inline(always)]
    pub fn pdep(self, bits: u64, mask: u64) -> u64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves BMI2.
        unsafe {
            std::arch::x86_64::_pdep_u64(bits, mask)
        }
        #[cfg(not(target_arch = "x86_64"))]
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::Bmi2;

    #[test]
    fn gather_and_scatter() {
        let Some(bmi2) = Bmi2::detect() else {
            crate::testing::skipped("this CPU has no BMI2");
            return;
        };
        assert_eq!(bmi2.pext(0b1010_1100, 0b1111_0000), 0b1010);
        assert_eq!(bmi2.pdep(0b1010, 0b1111_0000), 0b1010_0000);
        let mask = 0x8421_0842_1084_2108;
        for bits in 0..1 << 13 {
            assert_eq!(bmi2.pext(bmi2.pdep(bits, mask), mask), bits);
        }
    }
}
