//! Records in another format.

use crate::formats::{Encoded, Encoder};
use crate::pipeline::Job;
use crate::queries::Queries;
use crate::table::{Field, Tile};
use std::collections::BTreeMap;

/// Encodes all records, and counts what the format has no place for.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// That of the [format](crate::formats::Codec::encoder).
    pub encoder: &'static dyn Encoder,
}

/// What a chunk becomes: a piece for the [writer](Encoder::writer) of the format, and how many
/// records carried fields that it cannot hold.
pub type Converted = (Encoded, BTreeMap<Field, u64>);

impl Job for Conversion {
    type Part = Converted;
    fn queries(&self) -> Queries {
        Queries::NONE
    }
    fn begin(&self) -> Self::Part {
        Self::Part::default()
    }
    fn tile(&self, (piece, lost): &mut Self::Part, tile: &Tile<'_>) {
        let rows: Vec<usize> = tile.rows().collect();
        self.encoder.encode(tile.batch, &rows, piece);
        let kept = self.encoder.fields();
        for (&field, values) in &tile.batch.fields {
            if !kept.contains(field) {
                let is_lost = |&&row: &&usize| {
                    values.is_present(row) && !self.encoder.keeps(tile.batch, row, field)
                };
                *lost.entry(field).or_default() += rows.iter().filter(is_lost).count() as u64;
            }
        }
    }
}
