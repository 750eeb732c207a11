//! Matrices of GFNI's affine instruction: bit i of a byte becomes the parity of its bits in byte 7 - i of the matrix.

/// Bit i becomes bit 7 - i.
pub(super) const MIRROR: u64 = 0x8040_2010_0804_0201;
/// The identity, and also the bytes that pick the columns of another matrix.
pub(super) const COLUMNS: u64 = 0x0102_0408_1020_4080;
/// The bytes that pick the columns in reverse order.
pub(super) const REVERSED_COLUMNS: u64 = COLUMNS.swap_bytes();

/// A shift of each byte, as a matrix: the identity with its rows moved.
pub(super) const fn shift_left(by: u32) -> u64 {
    COLUMNS >> (8 * by)
}
/// The opposite one.
pub(super) const fn shift_right(by: u32) -> u64 {
    COLUMNS << (8 * by)
}
/// Both; bits that meet in one place cancel.
pub(super) const fn sides(by: u32) -> u64 {
    shift_left(by) ^ shift_right(by)
}
