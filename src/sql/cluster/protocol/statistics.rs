//! Statistics of whole inputs on a cluster: rows with the report of each piece, which the client merges.
//!
//! Reports merge to the bit, in any order; summaries are added up in the order of the pieces.

use super::errors::{carried, failure_of};
use super::message_envelope::{decoded, encoded};
use super::messages::SummaryWire;
use super::piece_result_rows::{self, PieceSender, REJECTS, REPORT, SUMMARY, wrong};
use super::scan_metrics::ScanMetrics;
use super::statistics_request::Counting;
use crate::error::{Error, Reject};
use crate::input::{Inputs, Shard};
use crate::jobs::{Sender, Statistics};
use crate::pipeline::{Summary, run_to_end};
use crate::report::Report;
use crate::sql::functions::statistics as state;
use crate::sql::tables::scan::{Batch, ScanRun};
use crate::sql::{PositionSource, SqlError};
use crate::stats::InputNames;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Begins to count a piece.
pub(in crate::sql::cluster) fn begin(
    source: &Arc<PositionSource>,
    counting: &Counting,
    number: u32,
    (inputs, names): (Inputs, InputNames),
    shard: Option<Shard>,
    told: ScanMetrics,
) -> Result<ScanRun> {
    let (options, counting) = (source.options.clone(), counting.clone());
    let source = PositionSource { inputs, options };
    ScanRun::begin(2, move |sender| count(&source, names, shard, &counting, number, sender, &told))
}

/// Counts a piece.
fn count(
    source: &PositionSource,
    names: InputNames,
    shard: Option<Shard>,
    counting: &Counting,
    number: u32,
    sender: &Sender<Batch>,
    told: &ScanMetrics,
) -> Result<()> {
    let mut job = Statistics::new().of_a_part_named(names);
    if counting.details {
        job = job.with_details();
    }
    if let Some(set) = &counting.features {
        job = job.with_features(set.clone());
    }
    if let Some(by) = &counting.by {
        job = job.grouped_by(by.clone());
    }
    let mut rows = PieceSender::new(sender, number);
    let mut on_reject = |reject: &Reject| -> Result<(), Error> { rows.reject(reject) };
    let options = source
        .options
        .run(shard)
        .interrupt(Some(sender.interrupt()))
        .on_reject(counting.rejects.then_some(&mut on_reject as _));
    let summary = run_to_end(&source.inputs, options, &job, |part| job.add(part));
    if let Some(failure) = &summary.failure {
        return Err(failure_of(failure));
    }
    let keep_en_passant = source.options.read.decode.keep_en_passant;
    let report = job.finish(summary.rejected, keep_en_passant).map_err(|error| carried(&error.to_string()))?;
    told.tell(&summary);
    rows.end(&[(REPORT, state::encoded(&report)?), (SUMMARY, encoded(&SummaryWire::of(&summary))?)]);
    Ok(())
}

/// The reports of pieces, which are merged to one report.
///
/// Made for the rows of [`Session::count`](crate::sql::Session::count).
#[derive(Debug)]
pub struct Counted {
    report: Option<Report>,
    /// The pieces whose reports have arrived.
    reports: BTreeSet<u32>,
    summaries: BTreeMap<u32, Vec<u8>>,
    pieces: usize,
}

impl Counted {
    /// The initial state, for this number of pieces.
    pub(in crate::sql::cluster) fn new(pieces: usize) -> Self {
        Self { report: None, reports: BTreeSet::new(), summaries: BTreeMap::new(), pieces }
    }

    /// Adds rows, and passes on the lines of rejected records that are among them.
    ///
    /// # Errors
    /// If `on_rejects` fails, or the rows are not rows of statistics.
    pub fn add<E: From<SqlError>>(
        &mut self,
        rows: &RecordBatch,
        mut on_rejects: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        piece_result_rows::each(rows, |piece, kind, content| {
            match kind {
                REJECTS => on_rejects(content)?,
                REPORT => {
                    if !self.reports.insert(piece) {
                        return Err(wrong().into());
                    }
                    let report = state::decoded(content).map_err(SqlError::from)?;
                    match &mut self.report {
                        Some(all) => all.merge(&report),
                        none => *none = Some(report),
                    }
                }
                SUMMARY => {
                    self.summaries.insert(piece, content.to_vec());
                }
                _ => return Err(wrong().into()),
            }
            Ok(())
        })
    }

    /// The merged report, once there are no more rows.
    ///
    /// # Errors
    /// If a piece is missing.
    pub fn finish(self) -> Result<(Report, Summary), SqlError> {
        let pieces = self.pieces;
        let Some(mut report) = self.report.filter(|_| self.reports.len() == pieces && self.summaries.len() == pieces)
        else {
            return Err(SqlError::Cluster(format!(
                "the cluster returned the statistics of {} pieces, of {pieces}",
                self.reports.len()
            )));
        };
        report.close_games();
        let mut all = Summary::default();
        for summary in self.summaries.values() {
            let summary: SummaryWire = decoded(summary).map_err(SqlError::from)?;
            summary.add_to(&mut all);
        }
        Ok((report, all))
    }
}
