//! Checks for many positions at once that the side that has just moved did not leave its king in check.
//!
//! A replay that trusts its moves in this respect adds positions to groups. The kernel that judges every record of a
//! file then finds the positions in which the side not to move is in check: eight at once, where a replay would look at
//! one. It also finds positions that are not playable for other reasons; they are left to a second replay, which checks
//! every move.

use crate::packed::Group;
use crate::queries::{GroupResults, Queries};
use crate::tiers::{Analyzer, Tier};

/// Number of groups that are examined at once, chosen so that they stay in the nearest cache.
const GROUPS: usize = 64;

/// Examines positions in groups that grow.
#[derive(Debug)]
pub struct KingSafety {
    analyzer: &'static dyn Analyzer,
    results: Vec<GroupResults>,
    /// Number of groups that have been examined.
    examined: usize,
}

impl KingSafety {
    /// Begins without positions; `None` if there are no kernels for this CPU.
    pub fn new() -> Option<Self> {
        let analyzer = Tier::best().analyzer()?;
        Some(Self { analyzer, results: vec![GroupResults::default(); GROUPS], examined: 0 })
    }

    /// Examines the positions in full groups, if there are many of them. Returns whether all are playable.
    pub fn go_on(&mut self, groups: &[Group], positions: usize) -> bool {
        while positions / Group::LEN - self.examined >= GROUPS {
            if !self.examine(&groups[self.examined..self.examined + GROUPS], GROUPS * Group::LEN) {
                return false;
            }
        }
        true
    }

    /// Examines the rest.
    pub fn finish(mut self, groups: &[Group], positions: usize) -> bool {
        if !self.go_on(groups, positions) {
            return false;
        }
        let rest = &groups[self.examined..positions.div_ceil(Group::LEN)];
        let positions = positions - self.examined * Group::LEN;
        self.examine(rest, positions)
    }

    /// Examines the first positions of some groups.
    fn examine(&mut self, groups: &[Group], positions: usize) -> bool {
        self.analyzer.analyze(groups, Queries::INVALID, &mut self.results[..groups.len()]);
        self.examined += groups.len();
        let invalid = |results: &GroupResults, lanes: usize| results.invalid[..lanes].iter().any(|&lane| lane != 0);
        let (full, rest) = (positions / Group::LEN, positions % Group::LEN);
        !self.results[..full].iter().any(|results| invalid(results, Group::LEN))
            && (rest == 0 || !invalid(&self.results[full], rest))
    }
}
