//! Statistics of all records.

use crate::pipeline::Job;
use crate::queries::Queries;
use crate::stats::Stats;
use crate::table::{Field, Fields, Tile};
use crate::tiers::Analyzer;
use std::sync::{Mutex, PoisonError};

/// Counts records. Every chunk takes statistics from the shelf, adds to them, and puts them back: there are only
/// as many as chunks under way, and they are merged once, at the end.
#[derive(Debug)]
pub struct Statistics<'a> {
    analyzer: &'a dyn Analyzer,
    shelf: Mutex<Vec<Stats>>,
}

impl<'a> Statistics<'a> {
    /// What is read besides positions.
    pub const FIELDS: Fields = Fields::of(&[Field::Score, Field::Mate, Field::Result]);

    /// Statistics by an analyzer, which should be that of the run.
    pub fn new(analyzer: &'a dyn Analyzer) -> Self {
        Self {
            analyzer,
            shelf: Mutex::default(),
        }
    }
    /// Takes what a chunk made: the sink of the run.
    pub fn put_back(&self, stats: Stats) {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.push(stats);
    }
    /// All of it.
    pub fn finish(self) -> Stats {
        let shelf = self.shelf.into_inner();
        let shelf = shelf.unwrap_or_else(PoisonError::into_inner);
        let merged = shelf.into_iter().reduce(|mut all, some| {
            all.merge(&some);
            all
        });
        merged.unwrap_or_default()
    }
}

impl Job for Statistics<'_> {
    type Part = Stats;
    fn queries(&self) -> Queries {
        Stats::QUERIES
    }
    fn begin(&self) -> Stats {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.pop().unwrap_or_default()
    }
    fn tile(&self, stats: &mut Stats, tile: &Tile<'_>) {
        stats.add_tile(self.analyzer, tile);
    }
}
