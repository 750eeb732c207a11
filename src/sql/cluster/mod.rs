//! Queries on many machines, with Ballista, the distributed engine of DataFusion.
//!
//! # Data flow
//!
//! ```text
//! client      query ──> plan, whose tables are files, divided into pieces
//!                         │
//! scheduler   plan ──> stages ──> tasks: some pieces, or partitions of intermediate rows
//!                         │
//! executors   piece ──> a run of the pipeline on one thread ──> rows, in the work directory
//!                         │
//! client      rows of the last stage, from the executors that made them
//! ```
//!
//! - `protocol`: `input_shares` divides the inputs, as [`crate::pipeline::ReadOptions::shard`] does, so that every record
//!   is in one piece, and `file_fingerprint_check` recognizes the files of a piece on the machine that reads it. `messages` and
//!   `codec` encode tables, scans and functions. An executor reads pieces by `scan`. `statistics` gives the same reports
//!   as one process: each piece is counted separately, and the client merges them. `write_pieces` makes each piece a file
//!   on the machine that reads it, and tells the client (`piece_result_rows`). `client` watches a job: its progress,
//!   and whether an executor still works on it; its calls go through `scheduler_connection`. `file_names_in_queries`
//!   changes queries before they are sent, which the scheduler would read otherwise.
//! - `scheduling`: `processes` has the scheduler and the executors, `fair_scheduling` the order of their tasks,
//!   `shuffle_files` the rows that a task reads, `work_dir` the place for them, `object_store` the files of other tables,
//!   `executor_connections` those among executors, `ports` their ports. `optimizer_rules` change plans of the scheduler
//!   that the engine would divide wrongly.
//! - `protection`: `tls` protects the ports, `plan_allowlist` has the plans that a cluster carries out, and `data_dirs`
//!   and `output_dir` the directories in which its processes read and write files: all are checked where they are used,
//!   whatever a message says.
//! - `monitoring`: what the processes tell about themselves.
//!
//! Every machine must be able to read the files under the same names, and run the same version. Without [`Tls`], anyone
//! who can reach the scheduler or an executor can run queries over the files in the directories of the executors, so
//! they listen on the loopback address only, unless they are told that the network is safe.

mod monitoring;
mod protection;
pub(in crate::sql) mod protocol;
mod scheduling;

pub use monitoring::status::{ExecutorStatus, JobStatus, Status};
pub use protection::tls::{NAME, Tls};
pub use protocol::client::{Cluster, JobProgress};
pub use protocol::statistics::Counted;
pub use protocol::statistics_request::Counting;
pub use protocol::write_pieces::{WrittenFiles, WrittenPieces};
pub use protocol::write_request::{ExistingPiece, PieceContent, Writing};
pub use scheduling::processes::{ExecutorOptions, SchedulerOptions, run_executor, run_scheduler};

pub(super) use protocol::client::Link;
use protocol::input_shares::divide_for_files;
pub(super) use protocol::input_shares::{Piece, divide};
pub(super) use scheduling::object_store::Digests;

use super::tables::scan::Request;
use super::{PositionSource, Rows, Session, SessionOptions, SqlError};
use crate::input::{Inputs, Source};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::logical_expr::{SortExpr, col};
use datafusion::physical_plan::ExecutionPlan;
use protocol::scan::{PieceScan, PieceTable, Work};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Number of times that a query is run again.
pub(super) const TIMES: u32 = 5;

/// Whether a query, which has returned no row yet, failed because executors were lost, and the scheduler is there to run
/// it again.
pub(super) fn must_run_again(error: &DataFusionError, link: &Link) -> bool {
    let message = protocol::errors::found(&error.to_string());
    let is_lost = message.is_some_and(|message| message == scheduling::shuffle_files::RUN_AGAIN)
        || protocol::errors::is_lost_executor(error);
    is_lost && link.cluster().answers()
}

/// The inputs under names that do not depend on the current directory.
pub(super) fn absolute(inputs: &mut Inputs) -> Result<(), crate::Error> {
    for source in &mut inputs.sources {
        if let Some(path) = source.file() {
            let failed = |error| crate::Error::Open { path: Arc::clone(path), source: error };
            *source = Source::from(std::path::absolute(path).map_err(failed)?);
        }
    }
    for path in &mut inputs.broken {
        *path = std::path::absolute(&*path).unwrap_or_else(|_| PathBuf::from(&*path));
    }
    Ok(())
}

/// A scan of the pieces of a table.
pub(super) fn scan(request: Request, pieces: &[Piece]) -> EngineResult<Arc<dyn ExecutionPlan>> {
    let whole = request.depends_on_records_before().then(|| Piece::all(pieces));
    let pieces = whole.as_ref().map_or(pieces, std::slice::from_ref);
    let work = Work::Columns(Arc::new(request));
    Ok(Arc::new(PieceScan::new(work, protocol::input_shares::plan(pieces)?, None)))
}

/// The order of the lines of rejected records.
fn in_order() -> Vec<SortExpr> {
    ["piece", "place"].map(|name| col(name).sort(true, false)).to_vec()
}

impl Session {
    /// Begins to count the statistics of inputs on the cluster: the rows are for [`Counted::add`].
    ///
    /// # Errors
    /// If an input cannot be opened or is not a regular file, the scheduler does not accept the job, or the session has
    /// no cluster.
    pub fn count(
        &self,
        mut inputs: Inputs,
        options: &SessionOptions,
        counting: &Counting,
    ) -> Result<(Rows<'_>, Counted), SqlError> {
        let Some(link) = &self.link else {
            return Err(SqlError::Cluster("the session has no cluster".to_owned()));
        };
        let of_table = |error| SqlError::Table(Arc::new(error));
        absolute(&mut inputs).map_err(of_table)?;
        let is_grouped_so = counting.by.as_ref().is_some_and(|by| by.needs().records_before);
        let is_whole = is_grouped_so || options.read.depends_on_records_before();
        let count = if is_whole { 1 } else { link.cluster().partitions() };
        let pieces = divide(&inputs, count, &options.read).map_err(of_table)?;
        let counted = Counted::new(pieces.len());
        let source = PositionSource { inputs, options: options.clone() };
        let table = PieceTable::statistics(source, pieces, counting.clone());
        let mut frame = self.context.read_table(Arc::new(table))?;
        // Reports merge in any order. Sorting them would keep one of each piece in memory at the same time.
        if counting.rejects {
            frame = frame.sort(in_order())?;
        }
        let stream = self.runtime.block_on(self.execute(frame))?;
        Ok((self.rows(stream), counted))
    }

    /// Begins to write files of inputs on the cluster, one for each piece: the rows are for [`WrittenPieces::add`].
    ///
    /// # Errors
    /// If an input cannot be opened or is not a regular file, or would be replaced, the scheduler does not accept the job,
    /// or the session has no cluster.
    pub fn write(
        &self,
        mut inputs: Inputs,
        options: &SessionOptions,
        mut writing: Writing,
    ) -> Result<(Rows<'_>, WrittenPieces), SqlError> {
        if self.link.is_none() {
            return Err(SqlError::Cluster("the session has no cluster".to_owned()));
        }
        let of_table = |error| SqlError::Table(Arc::new(error));
        absolute(&mut inputs).map_err(of_table)?;
        // The division must not depend on the cluster: a later one may go on with the job.
        let pieces = divide_for_files(&inputs, writing.pieces, &options.read).map_err(of_table)?;
        let names: BTreeSet<PathBuf> = (0..).zip(&pieces).map(|(number, _)| writing.piece(number)).collect();
        if let Some(path) = inputs.sources.iter().filter_map(Source::file).find(|path| names.contains(&***path)) {
            let error = format!("{} is an input and cannot also be an output", path.display());
            return Err(SqlError::Cluster(error));
        }
        writing.count = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
        let (rejects, written) = (writing.rejects, WrittenPieces::new(pieces.len(), &writing));
        let source = PositionSource { inputs, options: options.clone() };
        let mut frame = self.context.read_table(Arc::new(PieceTable::files(source, pieces, writing)))?;
        if rejects {
            frame = frame.sort(in_order())?;
        }
        let stream = self.runtime.block_on(self.execute(frame))?;
        Ok((self.rows(stream), written))
    }
}
