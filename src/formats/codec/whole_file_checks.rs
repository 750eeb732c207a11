//! Rules that concern a file as a whole, checked chunk by chunk.

use crate::error::Damage;

/// Follows the chunks of a file in order, and checks the rules that concern the file as a whole.
pub(crate) trait WholeFileCheck: Send {
    /// Checks the next chunk, which begins at this byte; returns what is wrong. The format put the data for this into
    /// [`Decoded::evidence`](super::decoded_chunk::Decoded::evidence).
    fn chunk(&mut self, evidence: Option<Evidence>, offset: u64) -> Vec<Damage>;
    /// Ends the file at this byte; returns what is wrong, and what the user should know.
    fn end(&mut self, len: u64) -> (Vec<Damage>, Option<&'static str>);
}

/// A chunk's contribution to the checks of its file, which only the [`WholeFileCheck`] of the same format understands.
pub(crate) type Evidence = Box<dyn std::any::Any + Send>;
