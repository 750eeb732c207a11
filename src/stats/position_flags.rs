//! The state of a position: one small number for all of its flags.

/// The state of a position, counted as one number below 256. Bit 0: Black to move; 1-4: castling K, Q, k, q; 5: en
/// passant square; 6: in check; 7: double check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    pub(super) fn black_to_move(self) -> bool {
        self.0 & 1 != 0
    }
    /// K, Q, k, q from bit 0 on.
    pub(super) fn castling(self) -> u8 {
        self.0 >> 1 & 0xF
    }
    pub(super) fn has_en_passant(self) -> bool {
        self.0 >> 5 & 1 != 0
    }
    /// 0, 1, or 2 for more than one.
    pub(super) fn checks(self) -> u8 {
        (self.0 >> 6 & 1) + (self.0 >> 7)
    }
}
