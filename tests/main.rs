//! All integration tests, one binary.

/// The rules of one position.
mod chess;
