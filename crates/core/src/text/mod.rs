//! Text as such, for all modules: made in place, made safe for one line, numbers for readers.

pub mod numbers;
pub mod one_line;
pub mod short_text;
pub mod text_writer;

/// The eight bytes from a place on, as a number with the first byte lowest; `None` if fewer are left.
#[inline(always)]
pub fn eight_bytes(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*eight))
}
