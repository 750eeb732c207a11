//! Collects the gaps of a file of chains: bytes in which no chain begins.
//!
//! A chunk may end in the middle of a gap. So gaps are joined in the order of the file before they are reported, and
//! each is one fault, wherever chunks end.

use crate::error::Damage;
use crate::formats::{Evidence, WholeFileCheck};
use std::ops::Range;

/// Reports each gap, in the words of the format.
#[derive(Debug)]
pub(in crate::formats) struct Gaps {
    what: &'static str,
    open: Option<Range<u64>>,
}

/// The places of gaps in a chunk, for [`Gaps`].
pub(in crate::formats) type InChunk = Vec<Range<usize>>;

impl Gaps {
    /// Begins without gaps; `what` describes a gap in messages, such as `no game begins here`.
    pub(in crate::formats) fn new(what: &'static str) -> Self {
        Self { what, open: None }
    }

    fn close(&mut self) -> Option<Damage> {
        let Range { start, end } = self.open.take()?;
        let bytes = crate::text::numbers::counted(end - start, "byte");
        Some(Damage::at(start, format!("{}: {bytes} skipped", self.what)))
    }
}

impl WholeFileCheck for Gaps {
    fn chunk(&mut self, evidence: Option<Evidence>, offset: u64) -> Vec<Damage> {
        let gaps = evidence.and_then(|evidence| evidence.downcast::<InChunk>().ok());
        let mut damage = Vec::new();
        for gap in gaps.into_iter().flat_map(|gaps| *gaps) {
            let (start, end) = (offset + gap.start as u64, offset + gap.end as u64);
            match &mut self.open {
                Some(open) if open.end == start => open.end = end,
                _ => {
                    damage.extend(self.close());
                    self.open = Some(start..end);
                }
            }
        }
        damage
    }
    fn end(&mut self, _len: u64) -> (Vec<Damage>, Option<&'static str>) {
        (self.close().into_iter().collect(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_joined_across_chunks() {
        let mut gaps = Gaps::new("nothing begins here");
        let evidence = |gap: Range<usize>| {
            let gaps: InChunk = std::iter::once(gap).collect();
            Some(Box::new(gaps) as Evidence)
        };
        assert_eq!(gaps.chunk(evidence(3..10), 100), []);
        assert_eq!(gaps.chunk(evidence(0..5), 110), []);
        let found = gaps.chunk(evidence(6..7), 115);
        assert_eq!(found, [Damage::at(103, "nothing begins here: 12 bytes skipped".to_owned())]);
        assert_eq!(gaps.end(200).0, [Damage::at(121, "nothing begins here: 1 byte skipped".to_owned())]);
    }
}
