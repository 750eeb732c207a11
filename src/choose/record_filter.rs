//! Choosing among the good records, by their columns or at random.

use super::expression::{Condition, Evaluated, Formula};
use super::{LeftOutBy, Rate};
use crate::seed::Draw;
use crate::table::{Needs, Tile, rows_of};

/// Chooses records by their values.
pub(crate) trait RecordFilter: Sync {
    /// The name of its option, for the report on records left out.
    fn name(&self) -> &'static str;
    /// What it needs of records.
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    /// Clears the bits of the records of the tile that are left out; there is one bit per record.
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]);
}

impl RecordFilter for Condition {
    fn name(&self) -> &'static str {
        "where"
    }
    fn needs(&self) -> Needs {
        Self::needs(self).clone()
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        Self::choose(self, tile, mask);
    }
}

/// The number that decides about a record: `uniform(index, seed)`.
pub(crate) fn draw(index: u64, seed: u64) -> Draw {
    Draw::new().with(index).with(seed)
}

/// Takes each record with the same probability.
pub(crate) struct AtRandom {
    pub(crate) seed: u64,
    pub(crate) rate: Rate,
}

impl RecordFilter for AtRandom {
    fn name(&self) -> &'static str {
        "sample"
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        let rate = self.rate.value();
        keep(tile, mask, |row| draw(tile.batch.index(row), self.seed).uniform() < rate);
    }
}

/// Takes the records whose draws are not larger than one.
pub(crate) struct DrawnUpTo {
    pub(crate) seed: u64,
    pub(crate) largest: u64,
}

impl RecordFilter for DrawnUpTo {
    fn name(&self) -> &'static str {
        "sample"
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        keep(tile, mask, |row| draw(tile.batch.index(row), self.seed).bits() <= self.largest);
    }
}

/// Takes each record with its own probability.
pub(crate) struct ByFormula<'a> {
    pub(crate) seed: u64,
    pub(crate) formula: &'a Formula,
}

impl RecordFilter for ByFormula<'_> {
    fn name(&self) -> &'static str {
        "sample"
    }
    fn needs(&self) -> Needs {
        self.formula.needs().clone()
    }
    fn choose(&self, tile: &Tile<'_>, mask: &mut [u64]) {
        let values = self.formula.evaluate(tile);
        let likelihood = |place: usize| match &values {
            Evaluated::Integer(values) => values[place].map(|value| value as f64),
            Evaluated::Bits(values) => values[place].map(|value| value as f64),
            Evaluated::Real(values) => values[place],
            Evaluated::Boolean(values) => values[place].map(|value| f64::from(u8::from(value))),
            Evaluated::Text(_) | Evaluated::Null => None,
        };
        keep(tile, mask, |row| {
            let drawn = draw(tile.batch.index(row), self.seed).uniform();
            likelihood(row - tile.start).is_some_and(|likelihood| drawn < likelihood)
        });
    }
}

/// Keeps those records of a mask for which `is` holds.
pub(crate) fn keep(tile: &Tile<'_>, mask: &mut [u64], is: impl Fn(usize) -> bool) {
    let before = mask.to_vec();
    for place in rows_of(&before) {
        if !is(tile.start + place) {
            mask[place / 64] &= !(1 << (place % 64));
        }
    }
}

/// Applies the choices to a tile, one after the other, and counts the records left out.
pub(crate) fn choose(choices: &[&dyn RecordFilter], tile: &Tile<'_>, mask: &mut [u64], left_out: &mut LeftOutBy) {
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
