//! All integration tests, one binary.

/// The rules of one position.
mod chess;
/// What several areas' tests need: the shared sample data.
mod support;
