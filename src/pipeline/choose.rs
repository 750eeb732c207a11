//! Choosing among the good records, by their columns or at random.

use crate::expression::Condition;
use crate::games::LeftOutBy;
use crate::queries::Queries;
use crate::seed::Seeded;
use crate::table::{Fields, Tile, rows_of};
use std::sync::Arc;

/// Chooses records by what is known of them.
pub(crate) trait Choose: Sync {
    /// The option that it stands for, in what is said of the records left out.
    fn name(&self) -> &'static str;
    /// The queries to be answered.
    fn queries(&self) -> Queries {
        Queries::NONE
    }
    /// What it reads of records besides their positions.
    fn fields(&self) -> Fields {
        Fields::NONE
    }
    /// The tags of games that it reads.
    fn tags(&self) -> Arc<[Arc<str>]> {
        Arc::default()
    }
    /// Clears the bits of records of the tile, a bit each from the first one on, that are left out.
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]);
}

impl Choose for Condition {
    fn name(&self) -> &'static str {
        "where"
    }
    fn queries(&self) -> Queries {
        Self::queries(self)
    }
    fn fields(&self) -> Fields {
        Self::fields(self)
    }
    fn tags(&self) -> Arc<[Arc<str>]> {
        Self::tags(self)
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        Self::choose(self, tile, mask);
    }
}

/// Takes each record with this probability, in parts of 2^64.
pub(super) struct AtRandom {
    pub(super) seeded: Seeded,
    pub(super) below: u64,
}

impl Choose for AtRandom {
    fn name(&self) -> &'static str {
        "sample"
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        keep(tile, mask, |row| self.seeded.hash(tile.batch.index(row)) < self.below);
    }
}

/// Takes each record with a probability of its own.
pub(super) struct ByFormula<'a> {
    pub(super) seeded: Seeded,
    pub(super) formula: &'a crate::expression::Formula,
}

impl Choose for ByFormula<'_> {
    fn name(&self) -> &'static str {
        "sample"
    }
    fn queries(&self) -> Queries {
        self.formula.queries()
    }
    fn fields(&self) -> Fields {
        self.formula.fields()
    }
    fn tags(&self) -> Arc<[Arc<str>]> {
        self.formula.tags()
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        use crate::expression::Evaluated;
        let values = self.formula.evaluate(tile);
        let likelihood = |place: usize| match &values {
            Evaluated::Integer(values) => values[place].map(|value| value as f64),
            Evaluated::Bits(values) => values[place].map(|value| value as f64),
            Evaluated::Number(values) => values[place],
            Evaluated::Boolean(values) => values[place].map(|value| f64::from(u8::from(value))),
            Evaluated::Text(_) | Evaluated::Null => None,
        };
        keep(tile, mask, |row| match likelihood(row - tile.start) {
            None => false,
            Some(likelihood) if likelihood >= 1.0 => true,
            // Negative numbers become 0.
            Some(likelihood) => self.seeded.hash(tile.batch.index(row)) < (likelihood * 2_f64.powi(64)) as u64,
        });
    }
}

/// Keeps those records of a mask for which `is` holds.
fn keep(tile: &Tile<'_>, mask: &mut [u64], is: impl Fn(usize) -> bool) {
    let before = mask.to_vec();
    for place in rows_of(&before) {
        if !is(tile.start + place) {
            mask[place / 64] &= !(1 << (place % 64));
        }
    }
}

/// Leaves out records of a tile, one choice after the other; counts them.
pub(super) fn choose(choices: &[&dyn Choose], tile: &Tile<'_>, mask: &mut [u64], left_out: &mut LeftOutBy) {
    let count = |mask: &[u64]| mask.iter().map(|bits| u64::from(bits.count_ones())).sum::<u64>();
    let mut before = count(mask);
    for choice in choices {
        if before == 0 {
            return;
        }
        choice.choose(tile, mask);
        let after = count(mask);
        if after < before {
            left_out.entry(choice.name()).or_default().positions += before - after;
        }
        before = after;
    }
}
