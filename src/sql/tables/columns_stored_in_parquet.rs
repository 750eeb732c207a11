//! Parquet files that this program wrote: the engine reads their columns as they stand, and nothing is computed again.
//!
//! A query whose columns all stand in the files, with the name, type and meaning that they have now, is answered from
//! them; then no row is judged. Every other query reads positions, as it does from files of other programs. Files that
//! another program has written again are no longer ours, even where they still have our metadata.
//!
//! Some columns depend on what is read, and not on the row alone, such as its number: they are never taken from a file.

use super::filter_pushdown::condition;
use super::sql_types::{schema, widened_batch};
use super::where_conditions::called_text;
use crate::chess::Validity;
use crate::columnar::{self, Described};
use crate::input::{Inputs, Source};
use crate::pipeline::ReadOptions;
use crate::table::ChosenColumn;
use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchema, Result};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::sync::Arc;

/// The columns of a table that stand in its files.
#[derive(Debug)]
pub(in crate::sql) struct StoredColumns {
    table: Arc<dyn TableProvider>,
    /// The place of each of them among the columns of the table.
    places: HashMap<String, usize>,
}

/// Whether all records are read as they stand in their files, by the usual rules: no option chooses, changes or judges them.
pub(in crate::sql) fn reads_all_as_they_stand(read: &ReadOptions) -> bool {
    let (choose, decode) = (&read.choose, &read.decode);
    let all_records = read.shard.is_none() && read.skip == 0 && read.limit.is_none();
    let all_are_good = choose.games.is_none() && choose.filter.is_none() && choose.sample.is_none() && !read.strict;
    let as_they_are = read.from.is_none() && choose.set.is_empty() && !decode.keep_en_passant;
    let usual_rules = decode.validity == Validity::default();
    let same_columns = decode.fen_column.is_none() && decode.moves_column.is_none() && decode.start_column.is_none();
    all_records && all_are_good && as_they_are && usual_rules && same_columns
}

/// The names of the columns that all inputs have as they would be computed; `None` if an input is not a file of ours, or
/// records are read in another way than they were.
pub(in crate::sql) fn names(inputs: &Inputs, columns: &[ChosenColumn], read: &ReadOptions) -> Option<BTreeSet<String>> {
    if !reads_all_as_they_stand(read) {
        return None;
    }
    let mut common: Option<BTreeSet<String>> = None;
    for source in &inputs.sources {
        let names = names_in(source, columns)?;
        common = Some(match common {
            None => names,
            Some(common) => common.intersection(&names).cloned().collect(),
        });
    }
    common
}

fn names_in(source: &Source, columns: &[ChosenColumn]) -> Option<BTreeSet<String>> {
    if source.is_member() {
        return None;
    }
    // Damage is reported when the file is read.
    let file = File::open(source.name()).ok()?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).ok()?;
    if !columnar::is_ours(metadata.metadata().file_metadata(), metadata.metadata().row_groups()) {
        return None;
    }
    let stored = metadata.schema();
    let is_stored = |column: &&ChosenColumn| {
        let expected = columnar::schema(&[Described::of(column)]);
        let expected = expected.field(0);
        let is_same = |field: &datafusion::arrow::datatypes::Field| {
            field.data_type() == expected.data_type() && field.metadata() == expected.metadata()
        };
        !column.needs().records_before && stored.field_with_name(column.name()).is_ok_and(is_same)
    };
    Some(columns.iter().filter(is_stored).map(|column| column.name().to_owned()).collect())
}

impl StoredColumns {
    /// These columns of a table of the engine.
    pub(in crate::sql) fn new(table: Arc<dyn TableProvider>, names: &BTreeSet<String>) -> Self {
        let schema = table.schema();
        let place = |name: &String| Some((name.clone(), schema.index_of(name).ok()?));
        Self { places: names.iter().filter_map(place).collect(), table }
    }

    /// The rows that pass all filters, with the columns of the projection, read from the files; `None` if they do not
    /// have all that is needed.
    pub(in crate::sql) async fn scan(
        &self,
        session: &dyn Session,
        (columns, projection): (&[ChosenColumn], Option<&Vec<usize>>),
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(filters) = Self::own_filters(session, columns, filters)? else { return Ok(None) };
        let mut needed = projection.cloned().unwrap_or_else(|| (0..columns.len()).collect());
        let shown = needed.len();
        let named: BTreeSet<&str> =
            filters.iter().flat_map(Expr::column_refs).map(|column| column.name.as_str()).collect();
        for name in named {
            let place = columns.iter().position(|column| column.name() == name);
            needed.extend(place.filter(|place| !needed.contains(place)));
        }
        let needed: Vec<ChosenColumn> = needed.iter().map(|&place| columns[place].clone()).collect();
        let places: Option<Vec<usize>> = needed.iter().map(|column| self.places.get(column.name()).copied()).collect();
        let Some(places) = places else { return Ok(None) };
        let limit = limit.filter(|_| filters.is_empty());
        let mut files = self.table.scan(session, Some(&places), &[], limit).await?;
        if let Some(filter) = conjunction(filters) {
            // The engine tells the reader of the files, which passes over row groups by their statistics. Were the
            // rows chosen there, too, conditions that most rows fulfil would cost a third more.
            let names = DFSchema::try_from(Schema::clone(&files.schema()))?;
            files = Arc::new(FilterExec::try_new(session.create_physical_expr(filter, &names)?, files)?);
        }
        // Without columns there are only the numbers of rows, which the files say.
        Ok(Some(if needed.is_empty() {
            files
        } else {
            Arc::new(StoredScan::new(files, Arc::new(schema(&needed[..shown]))))
        }))
    }

    /// The filters as the engine evaluates them, on the types of files too, because they only compare columns with constants;
    /// `None` if one of them is a condition that only scans of positions know.
    fn own_filters(session: &dyn Session, columns: &[ChosenColumn], filters: &[Expr]) -> Result<Option<Vec<Expr>>> {
        let Some(session) = session.as_any().downcast_ref::<SessionState>() else { return Ok(None) };
        let names = DFSchema::try_from(schema(columns))?;
        let mut own = Vec::new();
        for filter in filters {
            let Some(text) = called_text(filter) else {
                own.push(filter.clone());
                continue;
            };
            let filter = session.create_logical_expr(text, &names).ok();
            let Some(filter) = filter.filter(|filter| means_the_same(filter, columns)) else { return Ok(None) };
            own.push(filter);
        }
        Ok(Some(own))
    }
}

/// Whether a condition means the same in SQL and in the language of `--where`: comparisons of a column with constants,
/// joined by AND and OR.
fn means_the_same(filter: &Expr, columns: &[ChosenColumn]) -> bool {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And | Operator::Or, right }) => {
            means_the_same(left, columns) && means_the_same(right, columns)
        }
        filter => condition(filter, columns).is_some(),
    }
}

/// The first columns of rows of files, with the types that they have in SQL.
#[derive(Debug)]
struct StoredScan {
    files: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl StoredScan {
    fn new(files: Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Self {
        let of_files = files.properties();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            datafusion::physical_plan::Partitioning::UnknownPartitioning(of_files.partitioning.partition_count()),
            of_files.emission_type,
            of_files.boundedness,
        );
        Self { files, schema, properties: Arc::new(properties) }
    }
}

impl DisplayAs for StoredScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "StoredColumns: columns=[{}]", names.join(", "))
    }
}

#[async_trait]
impl ExecutionPlan for StoredScan {
    fn name(&self) -> &str {
        "StoredColumns"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.files]
    }
    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(match children.pop() {
            Some(files) => Arc::new(Self::new(files, Arc::clone(&self.schema))),
            None => self,
        })
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = Arc::clone(&self.schema);
        let rows = self.files.execute(partition, context)?.map(move |batch| Ok(widened_batch(&batch?, &schema)?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows)))
    }
}
