//! lanefish: bulk processing of chess positions, one board per SIMD lane.

pub mod block;
pub mod chess;
