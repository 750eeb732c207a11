//! Bulk processing of chess positions: one board per 64-bit SIMD lane, on the best instructions that the CPU has.
//!
//! Every result is the same, bit for bit, whatever the instructions, the number of threads or the size of a batch.
//!
//! # Data flow
//!
//! ```text
//! input        bytes: maps of files, streams, containers (.zst, .gz, .bz2)
//!   |
//! formats      chunks of whole records, decoded by all threads; games are chosen by `games`
//!   |
//! table        batches: boards in groups of eight, clocks, and an array for each field that records carry
//!   |
//! pipeline queries tiles of boards with `tiers`, judges which records count, keeps the order
//!   |
//! jobs     processing of tiles: statistics, rows of columns, conversion, games
//!   |
//! stats, output
//! ```
//!
//! Games are decoded in two passes, which [`formats::pgn`] describes. The first reads the text in order, sixty-four
//! bytes per lane, and turns each word into an order: *this piece to that square*. The second plays the orders of eight
//! games at once, one game per lane, straight into the groups of a batch. A game that is not simple is played in the
//! first pass.
//!
//! # Modules
//!
//! | module | content |
//! | --- | --- |
//! | [`Boards`] | the simplest interface: positions in memory, queried in bulk |
//! | [`stats()`], [`rows`], [`convert`] | files of any format, in one call each |
//! | [`chess`] | one position at a time: squares, moves, FEN, SAN, the rules; the reference for all tests |
//! | [`packed`] | packed boards, 32 bytes each, in groups of eight |
//! | [`queries`] | the queries on boards, and their results |
//! | [`tiers`] | which implementation runs on this CPU |
//! | [`sliders`] | slider attacks: many algorithms behind one trait |
//! | [`table`] | records as columns, and the catalogue of all columns |
//! | [`games`] | game metadata |
//! | [`formats`] | one file or folder per format: reading and writing |
//! | [`input`], [`output`] | bytes in, bytes out |
//! | [`pipeline`] | inputs to results, on all threads, in order |
//! | [`jobs`], [`mod@stats`], [`perft`] | processing of positions |
//! | [`report`], [`distinct`] | reports on datasets; numbers of distinct positions |
//! | `sql` | files as tables, columns as functions (feature `sql`) |
//!
//! # Examples
//!
//! Legal moves of many positions:
//!
//! ```
//! use lanefish::Boards;
//! use lanefish::chess::{Color, Position};
//!
//! let fens = ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "8/8/8/8/8/8/6k1/4K2R w K - 0 1"];
//! let boards: Boards = fens.iter().map(|fen| fen.parse::<Position>()).collect::<Result<_, _>>()?;
//! assert_eq!(boards.legal_move_counts(), [20, 12]);
//! let attacked = boards.attacks(Color::Black); // a set of squares for each position; also `checkers` and `pinned`
//! assert_eq!(attacked.iter().map(|squares| squares.len()).collect::<Vec<_>>(), [22, 8]);
//! # Ok::<(), lanefish::chess::fen::PositionError>(())
//! ```
//!
//! Statistics of files of any format; [`rows`] writes their columns, and [`convert`] their records:
//!
//! ```
//! let (report, summary) = lanefish::stats(["data/sample.epd"], &lanefish::Options::default())?;
//! assert_eq!(report.positions, summary.accepted());
//! println!("{:.1} legal moves on average", report.legal_moves.summary().mean.unwrap_or(0.0));
//! # Ok::<(), lanefish::RunError>(())
//! ```
//!
//! # Other libraries' positions
//!
//! Positions convert from and to those of other libraries through FEN, or through their sets of squares:
//!
//! ```
//! use lanefish::chess::{Color, Position, Role};
//!
//! let theirs = cozy_chess::Board::default();
//! let ours: Position = theirs.to_string().parse()?;
//! let back = ours.to_string().parse::<cozy_chess::Board>().ok();
//! assert_eq!(back.as_ref(), Some(&theirs));
//! let pawns = theirs.colored_pieces(cozy_chess::Color::White, cozy_chess::Piece::Pawn);
//! assert_eq!(ours.pieces(Color::White, Role::Pawn).0, pawns.0);
//! # Ok::<(), lanefish::chess::fen::PositionError>(())
//! ```
//!
//! # Features
//!
//! `parquet` (default) reads and writes Parquet and Arrow files; `cli` (default) builds the command-line tool. A
//! program that only uses the library does not need them, and compiles about two fifths of the crates without them:
//! `lanefish = { path = "../lanefish", default-features = false }`.
//! `sql` adds queries over files of positions, with DataFusion, and `cluster` runs them on many machines.
//!
//! The chapter `docs/library.md` shows more of the library: positions in a format of your own, jobs of your own, and
//! what is guaranteed. The other chapters in `docs/` describe the command line, reports, shards, columns and training
//! data; `examples/` has programs to start from.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod boards;
pub mod choose;
#[cfg(feature = "parquet")]
pub mod columnar;
pub mod datasets;
pub mod distinct;
pub mod error;
pub mod formats;
pub mod games;
pub mod input;
pub mod jobs;
pub mod output;
mod partition;
pub mod pipeline;
pub mod report;
#[cfg(feature = "sql")]
pub mod sql;
pub mod stats;
mod stats_rows_convert;
pub mod table;
#[cfg(test)]
mod testing;

pub(crate) use lanefish_core::{canonical, cpu, kernels, option_setters, poisoned_locks, replay, seed, simd, text};
pub use lanefish_core::{chess, packed, perft, queries, sliders, tiers};

/// The Arrow crates whose types appear here, in the versions that fit.
#[cfg(feature = "parquet")]
pub mod arrow {
    pub use arrow_array as array;
    pub use arrow_schema as schema;
}

pub use boards::{Boards, LegalMoves};
pub use error::Error;
pub use lanefish_core::ParseError;
pub use pipeline::RunError;
pub use stats_rows_convert::{Options, convert, rows, stats};

/// The examples of a chapter, which are tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod chapter {}
