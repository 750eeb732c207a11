//! lanefish: bulk processing of chess positions, one board per SIMD lane.

pub mod answers;
pub mod bench;
pub mod block;
pub mod chess;
pub mod cpu;
pub mod error;
pub mod formats;
pub mod games;
pub mod input;
pub mod jobs;
pub mod kernels;
pub mod one_line;
pub mod output;
pub mod perft;
pub mod pipeline;
pub mod simd;
pub mod sliders;
pub mod stats;
pub mod table;
pub mod tiers;

pub use error::Error;
