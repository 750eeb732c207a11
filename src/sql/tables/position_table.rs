//! Inputs as a table with every column of the catalogue; only columns that a query names are filled.

use super::columns_stored_in_parquet::{StoredColumns, reads_all_as_they_stand};
use super::filter_pushdown::condition;
use super::rows_counted_by_files::{self, CountedRows};
use super::scan::{Request, Scan};
use super::scan_registry::Reads;
use super::sql_types::schema;
use crate::pipeline::check;
use crate::sql::PositionSource;
#[cfg(feature = "cluster")]
use crate::sql::cluster::Piece;
use crate::sql::errors::of_table;
use crate::table::ChosenColumn;
use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// The records of some inputs.
#[derive(Debug)]
pub(in crate::sql) struct PositionTable {
    source: Arc<PositionSource>,
    columns: Vec<ChosenColumn>,
    schema: SchemaRef,
    reads: Arc<Reads>,
    /// The columns that stand in the files.
    stored: Option<StoredColumns>,
    /// For the tasks of a cluster.
    #[cfg(feature = "cluster")]
    pieces: Option<Vec<Piece>>,
}

impl PositionTable {
    pub(in crate::sql) fn new(source: PositionSource, columns: Vec<ChosenColumn>, reads: Arc<Reads>) -> Self {
        Self {
            source: Arc::new(source),
            schema: Arc::new(schema(&columns)),
            columns,
            reads,
            stored: None,
            #[cfg(feature = "cluster")]
            pieces: None,
        }
    }

    /// A table of which some columns stand in the files.
    pub(in crate::sql) fn with_stored(self, stored: StoredColumns) -> Self {
        Self { stored: Some(stored), ..self }
    }

    /// A table that is divided for a cluster.
    #[cfg(feature = "cluster")]
    pub(in crate::sql) fn divided(self, pieces: Vec<Piece>) -> Self {
        Self { schema: Arc::new(super::sql_types::nullable_schema(&self.columns)), pieces: Some(pieces), ..self }
    }

    /// The table with the nulls that its columns can have in one process.
    #[cfg(feature = "cluster")]
    pub(in crate::sql) fn declared(&self) -> Self {
        Self {
            source: Arc::clone(&self.source),
            columns: self.columns.clone(),
            schema: Arc::new(schema(&self.columns)),
            reads: Arc::clone(&self.reads),
            stored: None,
            pieces: None,
        }
    }

    /// The inputs that it reads.
    #[cfg(feature = "cluster")]
    pub(in crate::sql) fn source(&self) -> &PositionSource {
        &self.source
    }

    /// The columns of the table.
    #[cfg(feature = "cluster")]
    pub(in crate::sql) fn columns(&self) -> &[ChosenColumn] {
        &self.columns
    }

    /// The division of the inputs for a cluster.
    #[cfg(feature = "cluster")]
    pub(in crate::sql) fn pieces(&self) -> Option<&[Piece]> {
        self.pieces.as_deref()
    }
}

#[async_trait]
impl TableProvider for PositionTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let supported = filters.iter().map(|filter| match condition(filter, &self.columns) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        });
        Ok(supported.collect())
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if let Some(stored) = &self.stored
            && let Some(plan) = stored.scan(session, (&self.columns, projection), filters, limit).await?
        {
            return Ok(plan);
        }
        let (columns, schema) = match projection {
            None => (self.columns.clone(), Arc::clone(&self.schema)),
            Some(places) => (
                places.iter().map(|&place| self.columns[place].clone()).collect(),
                Arc::new(self.schema.project(places)?),
            ),
        };
        let conditions = filters.iter().filter_map(|filter| condition(filter, &self.columns));
        let request =
            Request { source: Arc::clone(&self.source), columns, conditions: conditions.collect(), limit, schema };
        #[cfg(feature = "cluster")]
        if let Some(pieces) = &self.pieces {
            return crate::sql::cluster::scan(request, pieces);
        }
        if request.columns.is_empty() && filters.is_empty() {
            let PositionSource { inputs, options } = &*request.source;
            if !options.recompute
                && reads_all_as_they_stand(&options.read)
                && let Some(rows) = rows_counted_by_files::records(inputs, options.read.access)
            {
                return Ok(Arc::new(CountedRows::new(rows.min(limit.unwrap_or(usize::MAX)))));
            }
        }
        let checked = Arc::clone(&request.source);
        let fields = request.needs().fields;
        tokio::task::spawn_blocking(move || check(&checked.inputs, &checked.options.read, fields))
            .await
            .map_err(|error| DataFusionError::External(error.into()))?
            .map_err(of_table)?;
        let partitions = session.config().target_partitions();
        Ok(Arc::new(Scan::new(request, Arc::clone(&self.reads), partitions)))
    }
}
