//! All integration tests, in one binary.

mod choose;
/// The command-line contract.
mod cli;
mod formats;
/// Every fuzz target for a few seconds.
mod fuzz;
mod jobs;
mod kernels;
/// Drawn command lines, compared with a plain model of the command line.
#[cfg(all(unix, feature = "parquet"))]
mod model;
mod pipeline;
mod reports;
/// Shared helpers: the sample data, positions, random numbers.
mod support;
mod table;
