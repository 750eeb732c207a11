//! Text as such, for all modules: made in place, made safe for one line, numbers for readers.

pub mod numbers;
pub mod one_line;
pub mod short_text;
pub mod text_writer;

/// The eight bytes from a place on, as a number with the first byte lowest; those after the end are 0.
#[inline(always)]
pub fn eight_bytes(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => fewer_bytes(rest),
    }
}

#[cold]
fn fewer_bytes(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
