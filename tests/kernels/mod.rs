//! The rules of chess, and the kernels on every tier.

/// Kernels in every tier, compared with the plain rules.
pub(super) mod agreement;
/// Perft on the lanes.
pub(super) mod perft;
/// Moves that leave the replies as they are after a pass.
pub(super) mod replies;
/// The rules of one position.
pub(super) mod rules;
/// Every slider algorithm, compared with the ray walk.
pub(super) mod sliders;
