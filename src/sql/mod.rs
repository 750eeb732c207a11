//! SQL over positions: inputs as tables, columns as functions, on the engine of DataFusion.
//!
//! # Data flow
//!
//! ```text
//! text ──> statements ──> plan ──> rows
//!                          │
//!   tables/paths            from 'dump.pgn.zst': a table of positions, or a file for the engine
//!   tables/position_table   projection, filters and limit reach the scan
//!   tables/scan             one run of the pipeline, whose batches all partitions of the plan share
//!   tables/where_conditions conditions of queries in the language of --where
//!   tables/scan_job         the job of the scan: conditions first, then the columns that are left
//!   engine/                 statements and plans that the engine would answer wrongly
//!   functions/              columns of any FEN or board, for tables that are not ours, and their statistics
//! ```
//!
//! The engine plans, joins, sorts and groups; positions are only read and computed here, by the same pipeline and the
//! same kernels as everywhere. Rows of a query without grouping, joins and sorting come in the order of the records,
//! whatever the number of threads.
//!
//! Records that a scan rejects are counted as in any other run: [`Session::summaries`].
//!
//! With the feature `cluster`, the same queries run on many machines: `cluster`.

#[cfg(feature = "cluster")]
pub mod cluster;
mod engine;
mod errors;
mod functions;
mod rows;
mod summarize;
mod tables;
mod write_rows;

use crate::input::Inputs;
use crate::option_setters::setters;
use crate::pipeline::{Progress, ReadOptions, RunError, RunOptions, Shard, Summary};
use crate::tiers::Analyzer;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{DynamicFileCatalog, MemTable, TableProvider};
use datafusion::common::{DataFusionError, TableReference};
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SendableRecordBatchStream, SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
#[cfg(feature = "cluster")]
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use datafusion::sql::parser::{DFParser, Statement as Parsed};
use engine::column_spelling::Respelled;
use functions::ValidityOptions;
use functions::values_without_position::ValuesWithoutPosition;
use rows::{Again, Rejects};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use summarize::Summarized;
use tables::paths::{NAMED, Paths, Plain};
use tables::scan_registry::Reads;
use tables::sql_types::Named;
use tables::where_conditions::Marked;
use tokio::runtime::Runtime;

pub use datafusion::arrow;
pub use errors::SqlError;
pub use rows::{Rows, Step};
pub use tables::sql_types::data_type_of;
pub use write_rows::RowWriter;

/// Maximum number of rows of a batch of a registered table.
const ROWS_OF_BATCH: usize = 8192;
/// Interval between checks whether a statement that begins has been interrupted.
const PATIENCE: Duration = Duration::from_millis(50);

/// Options for reading tables.
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Answers the queries.
    pub analyzer: &'static dyn Analyzer,
    /// Threads of a scan.
    pub threads: usize,
    /// Options for reading the records of each table.
    pub read: ReadOptions,
    /// Whether columns are computed even if they stand in a table that this program wrote.
    pub recompute: bool,
}

impl SessionOptions {
    /// The defaults: one thread.
    pub fn new(analyzer: &'static dyn Analyzer) -> Self {
        Self { analyzer, threads: 1, read: ReadOptions::default(), recompute: false }
    }

    /// The rules by which functions judge positions.
    fn judging(&self) -> ValidityOptions {
        let decode = &self.read.decode;
        ValidityOptions {
            tier: self.analyzer.tier(),
            validity: decode.validity,
            keep_en_passant: decode.keep_en_passant,
        }
    }

    /// The options of a run over a part of the inputs, if it has one.
    fn run<'a>(&self, shard: Option<Shard>) -> RunOptions<'a> {
        let mut read = self.read.clone();
        read.shard = shard.or(read.shard);
        RunOptions::new(self.analyzer).threads(self.threads).read(read)
    }
}

setters!(SessionOptions { threads: usize, read: ReadOptions, recompute: bool });

impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions")
            .field("analyzer", &self.analyzer)
            .field("threads", &self.threads)
            .field("read", &self.read)
            .field("recompute", &self.recompute)
            .finish()
    }
}

/// Inputs, and the options for reading them.
#[derive(Debug)]
struct PositionSource {
    inputs: Inputs,
    options: SessionOptions,
}

impl fmt::Display for PositionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inputs.sources[..] {
            [] => f.write_str("nothing"),
            [source] => source.fmt(f),
            [first, others @ ..] => write!(f, "{first} and {} more", others.len()),
        }
    }
}

/// The limits of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of memory for grouping, joins and sorting; beyond it, they use temporary files. Without it there is no
    /// limit.
    pub memory: Option<usize>,
    /// The directory of temporary files, instead of that of the system.
    pub temp: Option<PathBuf>,
}

setters!(Limits {
    memory: Option<usize>,
    temp: Option<PathBuf>,
});

/// A statement that has been parsed.
#[derive(Clone, Debug)]
pub struct Statement {
    parsed: Parsed,
    named: Named,
    /// The conditions that marks in it stand for.
    marked: Vec<Marked>,
    /// If it asks for a summary of its rows.
    summarized: Option<Summarized>,
}

/// A session: tables that statements created, and the threads that run statements.
///
/// ```
/// use lanefish::sql::{Limits, Session, SessionOptions};
/// use lanefish::tiers;
///
/// let session = Session::new(SessionOptions::new(tiers::best()), &Limits::default(), false)?;
/// let query = "select in_check, count(*) from 'data/sample.epd' group by in_check";
/// let mut rows = 0;
/// for statement in Session::parse(query)? {
///     for batch in session.run(&statement)? {
///         rows += batch?.num_rows();
///     }
/// }
/// assert_eq!(rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    runtime: Runtime,
    context: SessionContext,
    reads: Arc<Reads>,
    rejects: tokio::sync::Mutex<Rejects>,
    paths: Arc<Paths>,
    told: ValuesWithoutPosition,
    /// The cluster that runs statements, if it is not this process.
    #[cfg(feature = "cluster")]
    link: Option<cluster::Link>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("reads", &self.reads).finish_non_exhaustive()
    }
}

impl Session {
    /// A session without tables. `rejects` requests the lines of rejected records from [`Rows::step`].
    ///
    /// # Errors
    /// If threads cannot be started, or the directory of temporary files does not exist.
    pub fn new(options: SessionOptions, limits: &Limits, rejects: bool) -> Result<Self, SqlError> {
        let threads = options.threads.max(1);
        let mut disk = DiskManagerBuilder::default();
        if let Some(directory) = &limits.temp {
            fs::read_dir(directory).map_err(|source| {
                let path = Arc::from(directory.as_path());
                SqlError::Table(Arc::new(crate::Error::Open { path, source }))
            })?;
            disk = disk.with_mode(DiskManagerMode::Directories(vec![directory.clone()]));
        }
        let mut environment = RuntimeEnvBuilder::new().with_disk_manager_builder(disk);
        if let Some(memory) = limits.memory {
            let most = NonZeroUsize::new(5).unwrap_or(NonZeroUsize::MIN);
            let pool = TrackConsumersPool::new(FairSpillPool::new(memory), most);
            environment = environment.with_memory_pool(Arc::new(pool));
        }
        let mut config = config().with_target_partitions(threads);
        if let Some(memory) = limits.memory {
            // The memory that every sort reserves for merging: at most a quarter of its share.
            let reserved = &mut config.options_mut().execution.sort_spill_reservation_bytes;
            *reserved = (*reserved).min(memory / (4 * threads));
        }
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(environment.build_arc()?)
            .with_default_features()
            .build();
        Self::of_state(
            runtime(threads)?,
            state,
            options,
            rejects,
            #[cfg(feature = "cluster")]
            None,
        )
    }

    /// A session whose statements run on a cluster: all of its machines must be able to read the files under the same
    /// names. Rows come in the order that a statement requests, otherwise in any order. Lines of rejected records are
    /// not sent.
    ///
    /// # Errors
    /// If threads cannot be started, or only a part of the records is to be read.
    #[cfg(feature = "cluster")]
    pub fn on_cluster(options: SessionOptions, cluster: cluster::Cluster) -> Result<Self, SqlError> {
        let read = &options.read;
        if read.shard.is_some() || read.skip > 0 || read.limit.is_some() {
            return Err(SqlError::Cluster(
                "a cluster reads whole inputs, not a shard or a number of records".to_owned(),
            ));
        }
        let link = cluster::Link::new(cluster);
        let state = SessionStateBuilder::new().with_config(link.config(config())).with_default_features().build();
        let state = link.upgraded(state)?;
        Self::of_state(runtime(2)?, state, options, false, Some(link))
    }

    fn of_state(
        runtime: Runtime,
        state: SessionState,
        options: SessionOptions,
        rejects: bool,
        #[cfg(feature = "cluster")] link: Option<cluster::Link>,
    ) -> Result<Self, SqlError> {
        let (reads, rejects) = Reads::new(rejects);
        let others = DynamicListTableFactory::default();
        let catalogs = Arc::clone(state.catalog_list());
        let sight: Arc<dyn tables::files_of_datafusion::Sight> = match () {
            #[cfg(feature = "cluster")]
            () if link.is_some() => Arc::new(cluster::Digests::of_client()),
            () => Arc::new(tables::files_of_datafusion::Unchanged),
        };
        let store = Arc::new(tables::files_of_datafusion::Store::new(sight));
        let context = SessionContext::new_with_state(state);
        let place = ObjectStoreUrl::parse(tables::files_of_datafusion::STORE)?;
        context.register_object_store(place.as_ref(), Arc::<tables::files_of_datafusion::Store>::clone(&store) as _);
        others.session_store().with_state(context.state_weak_ref());
        let (judging, told) = (options.judging(), ValuesWithoutPosition::default());
        functions::scalar(judging, &told).into_iter().for_each(|function| context.register_udf(function));
        functions::aggregates(judging).into_iter().for_each(|function| context.register_udaf(function));
        let paths = Arc::new(Paths {
            options,
            reads: Arc::clone(&reads),
            others,
            store,
            #[cfg(feature = "cluster")]
            pieces: link.as_ref().map(|link| link.cluster().partitions()),
        });
        context.register_udtf("plain", Arc::new(Plain(Arc::clone(&paths))));
        context.register_catalog_list(Arc::new(DynamicFileCatalog::new(catalogs, Arc::clone(&paths) as _)));
        Ok(Self {
            runtime,
            context,
            reads,
            rejects: tokio::sync::Mutex::new(Rejects { lines: rejects, waiting: VecDeque::new() }),
            paths,
            told,
            #[cfg(feature = "cluster")]
            link,
        })
    }

    /// The statements of a text, separated by semicolons.
    ///
    /// # Errors
    /// If the text is not valid SQL.
    pub fn parse(text: &str) -> Result<Vec<Statement>, SqlError> {
        let (text, summarized) = &summarize::replaced(text);
        let tokens = engine::query_tokens::of(text);
        let text = &*engine::hex_literals::lower(text, &tokens)?;
        let named = Named::of(&tokens);
        let (marked_text, marked) = tables::where_conditions::mark(text, tokens);
        // Errors refer to the original text.
        let (statements, marked, parsed_text) = match DFParser::parse_sql(&marked_text) {
            Ok(statements) => (statements, marked, &*marked_text),
            Err(_) => (DFParser::parse_sql(text)?, Vec::new(), text),
        };
        let statements = statements.into_iter().enumerate().map(|(place, mut parsed)| {
            engine::statement_repair::repair(&mut parsed, parsed_text);
            let summarized = summarized.get(place).cloned().flatten();
            Statement { parsed, named: named.clone(), marked: marked.clone(), summarized }
        });
        Ok(statements.collect())
    }

    /// Makes rows in memory a table with this name. Statements find it with any capital letters, unless another table is
    /// named like this.
    ///
    /// ```
    /// use lanefish::sql::arrow::array::{ArrayRef, RecordBatch, StringArray};
    /// use lanefish::sql::{Limits, Session, SessionOptions};
    /// use lanefish::tiers;
    /// use std::sync::Arc;
    ///
    /// let fens: ArrayRef = Arc::new(StringArray::from(vec!["8/8/8/8/8/8/6k1/4K2R w K - 0 1"]));
    /// let batch = RecordBatch::try_from_iter([("fen", fens)])?;
    /// let session = Session::new(SessionOptions::new(tiers::best()), &Limits::default(), false)?;
    /// session.register("t", batch.schema(), &[batch])?;
    /// for statement in Session::parse("select legal_moves(fen) from t")? {
    ///     let batches = session.run(&statement)?.collect::<Result<Vec<_>, _>>()?;
    ///     assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is a table with this name, or the batches do not have this schema.
    pub fn register(&self, name: &str, schema: SchemaRef, batches: &[RecordBatch]) -> Result<(), SqlError> {
        let slices = batches.iter().flat_map(|batch| {
            let rows = batch.num_rows();
            // Threads share the work by batches.
            (0..rows).step_by(ROWS_OF_BATCH).map(move |start| batch.slice(start, ROWS_OF_BATCH.min(rows - start)))
        });
        // Several partitions would be read in any order.
        let table: Arc<dyn TableProvider> = Arc::new(MemTable::try_new(schema, vec![slices.collect()])?);
        let folded = name.to_lowercase();
        if folded != name && !self.context.table_exist(TableReference::bare(&*folded))? {
            self.context.register_table(TableReference::bare(&*folded), Arc::clone(&table))?;
        }
        self.context.register_table(TableReference::bare(name), table)?;
        Ok(())
    }

    /// Starts a statement. Nothing is read before the first rows are requested, unless the statement creates a table of
    /// rows.
    ///
    /// # Errors
    /// If the statement cannot be planned, for example because a table or column does not exist.
    pub fn run(&self, statement: &Statement) -> Result<Rows<'_>, SqlError> {
        self.run_unless(statement, &AtomicBool::new(false))
    }

    /// Starts a statement like [`Session::run`], unless the flag is set before its rows can be requested.
    ///
    /// # Errors
    /// Those of [`Session::run`], and [`Error::Interrupted`](crate::Error::Interrupted) if the flag is set.
    pub fn run_unless(&self, statement: &Statement, interrupt: &AtomicBool) -> Result<Rows<'_>, SqlError> {
        let (stream, again) = self.runtime.block_on(async {
            let spills = self.rejects.lock().await.lines.is_some();
            // Two threads may plan statements at the same time.
            let begun = NAMED.scope(statement.named.clone(), async {
                match &statement.summarized {
                    Some(summarized) => self.begin_summary(statement, summarized, spills).await,
                    None => self.begin(statement.clone(), spills).await,
                }
            });
            tokio::pin!(begun);
            let mut rejects = self.rejects.lock().await;
            loop {
                tokio::select! {
                    biased;
                    // Statements that create a table of rows read them here.
                    Some(line) = rejects.next() => rejects.waiting.push_back(line),
                    begun = &mut begun => return begun,
                    () = tokio::time::sleep(PATIENCE) => if interrupt.load(Ordering::Relaxed) {
                        return Err(errors::of_table(crate::Error::Interrupted));
                    },
                }
            }
        })?;
        Ok(Rows::new(self, stream, again))
    }

    #[cfg(feature = "cluster")]
    fn rows(&self, stream: SendableRecordBatchStream) -> Rows<'_> {
        Rows::new(self, stream, None)
    }

    /// Starts a statement of which a summary is requested.
    async fn begin_summary(
        &self,
        statement: &Statement,
        summarized: &Summarized,
        spills: bool,
    ) -> datafusion::common::Result<(SendableRecordBatchStream, Option<Again>)> {
        let mut query = Statement { summarized: None, ..statement.clone() };
        let mut is_of_fields = false;
        if let Summarized::File(file) = summarized {
            is_of_fields = self.summarizes_positions(file).await?;
            let parsed = DFParser::parse_sql(&summarize::query_of(file, is_of_fields))?.pop_front();
            query.parsed = parsed.unwrap_or(query.parsed);
        }
        let (rows, _) = self.begin(query, spills).await?;
        Ok((summarize::summary(rows, is_of_fields), None))
    }

    /// Starts a statement, and returns how it begins again. `spills` starts it with little memory at once: lines of
    /// rejected records are passed on, so that nothing may be read a second time.
    async fn begin(
        &self,
        statement: Statement,
        spills: bool,
    ) -> datafusion::common::Result<(SendableRecordBatchStream, Option<Again>)> {
        let Statement { mut parsed, marked, .. } = statement;
        if !marked.is_empty() {
            let mut are_of_positions = Vec::new();
            for mark in &marked {
                are_of_positions.push(self.paths.has_positions(&mark.file).await?);
            }
            tables::where_conditions::unmark(&mut parsed, &marked, &are_of_positions)?;
        }
        #[cfg(feature = "cluster")]
        if self.link.is_some() {
            cluster::protocol::file_names_in_queries::name_files(&mut parsed);
        }
        // Each column is respelled once at most.
        let mut known = Vec::new();
        loop {
            self.told.clear();
            let error = match self.begin_parsed(parsed.clone(), spills).await {
                Err(error) => error,
                begun => return begun,
            };
            match Respelled::of(&error).filter(|respelled| !known.contains(respelled)) {
                Some(respelled) => {
                    respelled.apply(&mut parsed);
                    known.push(respelled);
                }
                None => return Err(engine::clause_of_error::placed(error, &parsed, |parsed| self.plan(parsed)).await),
            }
        }
    }

    /// Plans a statement without beginning it.
    async fn plan(&self, parsed: Parsed) -> datafusion::common::Result<()> {
        let state = self.context.state();
        let plan = state.statement_to_plan(parsed).await?;
        state.optimize(&engine::plan_corrections::corrected(plan)?).map(drop)
    }

    async fn begin_parsed(
        &self,
        parsed: Parsed,
        spills: bool,
    ) -> datafusion::common::Result<(SendableRecordBatchStream, Option<Again>)> {
        let state = self.context.state();
        let plan = state.statement_to_plan(parsed).await?;
        if let LogicalPlan::Dml(_) | LogicalPlan::Copy(_) = plan {
            let message = "statements do not write; the rows of a query go to the file named with -o";
            return Err(DataFusionError::Plan(message.to_owned()));
        }
        let frame = self.context.execute_logical_plan(engine::plan_corrections::corrected(plan)?).await?;
        #[cfg(feature = "cluster")]
        if self.link.is_some() {
            let again = Again::OnCluster(Box::new(frame.clone()), cluster::TIMES);
            return self.execute(frame).await.map(|stream| (stream, Some(again)));
        }
        let (mut state, plan) = frame.into_parts();
        let plan = state.optimize(&plan)?;
        if keeps_order(&plan) {
            let config = state.config_mut();
            config.options_mut().execution.target_partitions = 1;
        }
        let again = engine::low_memory_plans::Again::of(&state, &plan);
        if let Some(again) = again.clone().filter(|_| spills) {
            return again.begin().await.map(|stream| (stream, None));
        }
        let stream = DataFrame::new(state, plan).execute_stream().await?;
        Ok((stream, again.map(|again| Again::WithLessMemory(Box::new(again)))))
    }

    /// Starts a plan on the cluster.
    #[cfg(feature = "cluster")]
    async fn execute(&self, frame: DataFrame) -> datafusion::common::Result<SendableRecordBatchStream> {
        let context = Arc::new(frame.task_ctx());
        let (state, plan) = frame.into_parts();
        let plan = state.optimize(&plan)?;
        if let LogicalPlan::EmptyRelation(empty) = &plan
            && !empty.produce_one_row
        {
            // The engine would forget the columns.
            let schema = Arc::clone(empty.schema.inner());
            return datafusion::physical_plan::execute_stream(Arc::new(EmptyExec::new(schema)), context);
        }
        cluster::protocol::file_names_in_queries::check_names(&plan)?;
        let nullable = engine::nullability::possible(&plan);
        let plan = state.query_planner().create_physical_plan(&plan, &state).await?;
        if let Some(link) = &self.link {
            link.watch(&plan);
        }
        let rows = datafusion::physical_plan::execute_stream(plan, context)?;
        Ok(match nullable {
            Some(nullable) => engine::nullability::declare(rows, &nullable),
            None => rows,
        })
    }

    /// The names of the tables and views that statements of this session created, sorted.
    pub fn tables(&self) -> Vec<String> {
        let state = self.context.state();
        let options = &state.config_options().catalog;
        let catalog = self.context.catalog(&options.default_catalog);
        let schema = catalog.and_then(|catalog| catalog.schema(&options.default_schema));
        let mut names = schema.map_or_else(Vec::new, |schema| schema.table_names());
        names.sort();
        names
    }

    /// The names of all functions, sorted: those of positions and those of the engine.
    pub fn functions(&self) -> Vec<String> {
        let state = self.context.state();
        let names = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
        let names = names.chain(state.window_functions().keys()).chain(state.table_functions().keys());
        let public = names.filter(|name| *name != tables::where_conditions::NAME);
        public.cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Progress of all scans together.
    pub fn progress(&self) -> Progress {
        self.reads.progress()
    }

    /// The summaries of the scans since the last call that were read to their end or to their limit; waits for scans
    /// that are still running. [`Rows`] with a running scan must be dropped before.
    ///
    /// For a cluster, only the numbers of records are known.
    ///
    /// # Errors
    /// If the scheduler of a cluster no longer answers.
    pub fn summaries(&self) -> Result<Vec<Result<Summary, RunError>>, SqlError> {
        #[cfg(feature = "cluster")]
        if let Some(link) = &self.link {
            let summary = self.runtime.block_on(link.summary())?;
            return Ok(summary.into_iter().map(Ok).collect());
        }
        Ok(self.reads.take().into_iter().map(Summary::into_result).collect())
    }

    /// Notes on values since the last statement began that functions were given in place of positions. A cluster does not
    /// tell them.
    pub fn notes(&self) -> Vec<String> {
        self.told.take_notes()
    }

    /// Progress of the current job on the cluster, if the session has one.
    #[cfg(feature = "cluster")]
    pub fn job_progress(&self) -> Option<cluster::JobProgress> {
        self.link.as_ref().map(cluster::Link::progress)
    }
}

/// The columns that every table of positions has, and those of legal moves, which it has where a query names them.
pub fn columns_of_positions() -> arrow::datatypes::Schema {
    let columns = crate::table::COLUMNS.iter().chain(crate::table::LEGAL_MOVE_COLUMNS);
    tables::sql_types::schema(&columns.map(crate::table::ChosenColumn::Listed).collect::<Vec<_>>())
}

/// The settings of all sessions.
fn config() -> SessionConfig {
    let mut config = SessionConfig::new().with_information_schema(true);
    config.options_mut().sql_parser.collect_spans = true;
    config
}

fn runtime(threads: usize) -> Result<Runtime, SqlError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(threads).thread_name("lanefish sql");
    // Connections need more than time.
    runtime.enable_all().build().map_err(|error| {
        let reason = error.to_string();
        SqlError::Table(Arc::new(crate::Error::Threads { threads, reason }))
    })
}

/// Whether rows come in the order of the records: such a plan has one partition, whose scan has all threads.
fn keeps_order(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Explain(_)
        | LogicalPlan::Analyze(_)
        | LogicalPlan::Limit(_) => plan.inputs().into_iter().all(keeps_order),
        LogicalPlan::TableScan(_) => true,
        _ => false,
    }
}
