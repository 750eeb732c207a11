//! The rules of chess and the kernels of [lanefish](https://crates.io/crates/lanefish): one position per 64-bit SIMD
//! lane, on the best instructions that the CPU has.
//!
//! This crate is for programs that only need positions in memory: legal moves and their numbers, attacks, checks,
//! perft, and twenty algorithms for the attacks of sliders. The crate `lanefish` contains all of it under the same
//! paths, and adds files, games, columns and reports.
//!
//! | module | content |
//! | --- | --- |
//! | [`chess`] | one position at a time: squares, moves, FEN, SAN, the rules; the reference for all tests |
//! | [`packed`] | packed boards, 32 bytes each, in groups of eight |
//! | [`queries`] | the queries on boards, and their results |
//! | [`tiers`] | which implementation runs on this CPU |
//! | [`sliders`] | slider attacks: many algorithms behind one trait |
//! | [`perft`] | perft with legal move counts from the lanes |
//! | [`canonical`] | equality of positions at four levels, and their keys |
//!
//! Legal moves of many positions, on the widest lanes that this CPU has:
//!
//! ```
//! use lanefish_core::packed::{Group, Packed};
//! use lanefish_core::queries::{GroupResults, Queries};
//! use lanefish_core::tiers;
//!
//! let fens = ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "8/8/8/8/8/8/6k1/4K2R w K - 0 1"];
//! let mut group = Group::default();
//! for (lane, fen) in fens.iter().enumerate() {
//!     group.set(lane, Packed::pack(&fen.parse()?)?);
//! }
//! let mut results = [GroupResults::default()];
//! tiers::best().analyze(&[group], Queries::MOVES, &mut results);
//! assert_eq!([0, 1].map(|lane| results[0].legal(lane).moves), [20, 12]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Perft:
//!
//! ```
//! use lanefish_core::{chess::Position, perft, tiers};
//!
//! assert_eq!(perft::perft(&Position::standard(), 5, tiers::best(), 1)?, 4_865_609);
//! # Ok::<(), perft::ThreadsError>(())
//! ```

pub mod canonical;
pub mod chess;
#[doc(hidden)]
pub mod cpu;
#[doc(hidden)]
pub mod kernels;
#[doc(hidden)]
pub mod option_setters;
pub mod packed;
mod parse_error;
pub mod perft;
#[doc(hidden)]
pub mod poisoned_locks;
pub mod queries;
#[doc(hidden)]
pub mod replay;
#[doc(hidden)]
pub mod seed;
#[doc(hidden)]
pub mod simd;
pub mod sliders;
#[cfg(test)]
#[allow(dead_code, reason = "the tests of this crate need no data")]
#[path = "../../../src/testing.rs"]
mod testing;
#[doc(hidden)]
pub mod text;
pub mod tiers;

pub use parse_error::ParseError;

/// The examples of the first page, which are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod first_page {}
