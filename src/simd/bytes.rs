//! Bytes of text, sixteen at a time.
//!
//! SSE2 is part of every x86-64 CPU, so no token has to prove it; elsewhere a loop does the same.

/// A bit for each of 32 bytes, set where it equals `byte`.
#[inline(always)]
pub(crate) fn equal(bytes: &[u8; 32], byte: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
        };
        let at = bytes.as_ptr().cast::<__m128i>();
        // SAFETY: 32 bytes can be read there, unaligned; x86-64 has SSE2.
        unsafe {
            let wanted = _mm_set1_epi8(byte as i8);
            let low = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(at), wanted));
            let high = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(at.add(1)), wanted));
            low as u32 | (high as u32) << 16
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    bytes
        .iter()
        .rev()
        .fold(0, |bits, &other| bits << 1 | u32::from(other == byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_its_bit() {
        let mut bytes = [b'x'; 32];
        for at in [0, 1, 15, 16, 31] {
            bytes[at] = b'}';
            assert_eq!(equal(&bytes, b'}'), 1 << at);
            assert_eq!(equal(&bytes, b'x'), !(1 << at));
            bytes[at] = b'x';
        }
        assert_eq!(equal(&[0xFF; 32], 0xFF), !0);
        assert_eq!(equal(&[0xFF; 32], 0x7F), 0);
    }
}
