//! Positions given as arguments.

use crate::cli::run::invocation::Invocation;
use anyhow::{Context, Result, bail};
use lanefish::chess::Position;
use lanefish::chess::Validity;
use lanefish::chess::fen::{FenOptions, parse};
use std::ffi::OsStr;

/// Whether an argument looks like a FEN rather than a file name: eight ranks of pieces, or
/// `startpos`.
pub(crate) fn looks_like_fen(argument: &OsStr) -> bool {
    let Some(board) = argument.to_str().and_then(|text| text.split_whitespace().next()) else {
        return false;
    };
    if board == "startpos" {
        return true;
    }
    board.matches('/').count() == 7 && board.bytes().all(|byte| b"pnbrqkPNBRQK12345678/".contains(&byte))
}

/// The position of a FEN; no argument or `startpos` is the start position.
pub(crate) fn position_of(fen: &str, invocation: &Invocation<'_>, keep_en_passant: bool) -> Result<Position> {
    if fen.is_empty() || fen == "startpos" {
        return Ok(Position::standard());
    }
    let options = FenOptions::default().keep_en_passant(keep_en_passant);
    let parsed = parse(fen.as_bytes(), options).with_context(|| format!("`{fen}` is not a FEN"))?;
    if !parsed.rest.is_empty() {
        let rest = String::from_utf8_lossy(parsed.rest);
        bail!("`{fen}`: `{rest}` follows the six fields");
    }
    let violations = parsed.violations(invocation.validity(Validity::Playable));
    if !violations.is_empty() {
        bail!("`{fen}` is not a valid position: {violations}");
    }
    Ok(parsed.position)
}
