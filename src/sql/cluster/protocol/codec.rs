//! Encoding of our tables, scans and functions in plans, in addition to the codecs of the engine.

use super::errors::carried;
use super::input_shares::Piece;
use super::message_envelope::{decoded, encoded, is_ours};
use super::messages::{CountingWire, FilesWire, JudgingWire, ScanWire, TableWire, columns, names, source};
use super::scan::{PieceScan, PieceTable, Work};
use super::write_request::Writing;
use crate::input::Inputs;
use crate::sql::cluster::protection::Directories;
use crate::sql::cluster::protection::plan_allowlist::refused;
use crate::sql::functions::values_without_position::ValuesWithoutPosition;
use crate::sql::functions::{self, ValidityOptions};
use crate::sql::tables::position_table::PositionTable;
use crate::sql::tables::scan::Request;
use crate::sql::tables::scan_registry::Reads;
use crate::sql::tables::sql_types::nullable_schema;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result, TableReference};
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::Arc;

/// A table in its encoded form.
#[derive(Serialize, Deserialize)]
enum AnyTable {
    Positions(TableWire),
    Statistics(CountingWire, Vec<Piece>),
    Files(FilesWire, Vec<Piece>),
}

/// A leaf of a plan in its encoded form.
#[derive(Serialize, Deserialize)]
enum AnyScan {
    Positions(ScanWire),
    Statistics(CountingWire),
    File(FilesWire),
}

/// Encodes tables and functions in plans of queries.
#[derive(Debug, Default)]
pub(in crate::sql::cluster) struct LogicalCodec(BallistaLogicalExtensionCodec);

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(&self, _: &[u8], _: &[LogicalPlan], _: &TaskContext) -> Result<Extension> {
        Err(refused(&"extensions of queries"))
    }
    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, bytes)
    }
    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        _: &TableReference,
        _: SchemaRef,
        _: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        Ok(match decoded(bytes)? {
            AnyTable::Positions(table) => {
                let (reads, _) = Reads::new(false);
                let source = source(Piece::all(&table.pieces).inputs(), table.read)?;
                let positions = PositionTable::new(source, columns(&table.columns)?, reads);
                Arc::new(positions.divided(table.pieces))
            }
            AnyTable::Statistics(counting, pieces) => {
                let (read, counting) = counting.into_counting()?;
                let inputs = Piece::all(&pieces).inputs();
                Arc::new(PieceTable::statistics(source(inputs, read)?, pieces, counting))
            }
            AnyTable::Files(FilesWire { read, writing }, pieces) => {
                let inputs = Piece::all(&pieces).inputs();
                Arc::new(PieceTable::files(source(inputs, read)?, pieces, writing))
            }
        })
    }
    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let any = &*table as &dyn Any;
        let message = if let Some(table) = any.downcast_ref::<PositionTable>() {
            AnyTable::Positions(TableWire {
                read: table.source().options.read.clone(),
                pieces: table.pieces().unwrap_or_default().to_vec(),
                columns: names(table.columns()),
            })
        } else if let Some(table) = any.downcast_ref::<PieceTable>() {
            let pieces = table.pieces().to_vec();
            match table.work() {
                Work::Statistics(source, counting) => {
                    AnyTable::Statistics(CountingWire::of(&source.options.read, counting), pieces)
                }
                Work::File(source, writing) => {
                    let (read, writing) = (source.options.read.clone(), Writing::clone(writing));
                    AnyTable::Files(FilesWire { read, writing }, pieces)
                }
                Work::Columns(_) => return Err(carried("columns of pieces are no table of their own")),
            }
        } else if any.is::<MemTable>() {
            return Err(carried(&format!(
                "the table {name} is in the memory of this process, which a cluster cannot see: write its rows to a \
                 file with -o, and name that"
            )));
        } else {
            return self.0.try_encode_table_provider(name, table, bytes);
        };
        bytes.extend(encoded(&message)?);
        Ok(())
    }
    // Only a query that writes files has one.
    fn try_decode_file_format(&self, _: &[u8], _: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        Err(refused(&"queries that write files"))
    }
    fn try_encode_file_format(&self, bytes: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.0.try_encode_file_format(bytes, format)
    }
    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        scalar(name, bytes)
    }
    fn try_encode_udf(&self, function: &ScalarUDF, bytes: &mut Vec<u8>) -> Result<()> {
        judging(functions::judging_of(function), bytes)
    }
    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        aggregate(name, bytes)
    }
    fn try_encode_udaf(&self, function: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
        judging(functions::judging_of_aggregate(function), bytes)
    }
}

/// Encodes scans and functions in plans of tasks.
#[derive(Debug, Default)]
pub(in crate::sql::cluster) struct PhysicalCodec {
    engine: BallistaPhysicalExtensionCodec,
    /// Where this machine reads and writes files, if it is an executor.
    directories: Option<Directories>,
}

impl PhysicalCodec {
    /// That of an executor.
    pub(in crate::sql::cluster) fn of_executor(directories: Directories) -> Self {
        Self { engine: BallistaPhysicalExtensionCodec::default(), directories: Some(directories) }
    }
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !is_ours(bytes) {
            return self.engine.try_decode(bytes, inputs, context, converter);
        }
        let [pieces] = inputs else {
            return Err(DataFusionError::Internal("a scan of a task has one input".to_owned()));
        };
        let work = match decoded(bytes)? {
            AnyScan::Positions(scan) => {
                let columns = columns(&scan.columns)?;
                Work::Columns(Arc::new(Request {
                    source: Arc::new(source(Inputs::default(), scan.read)?),
                    schema: Arc::new(nullable_schema(&columns)),
                    columns,
                    conditions: scan.conditions,
                    limit: scan.limit,
                }))
            }
            AnyScan::Statistics(counting) => {
                let (read, counting) = counting.into_counting()?;
                Work::Statistics(Arc::new(source(Inputs::default(), read)?), counting)
            }
            AnyScan::File(FilesWire { read, writing }) => {
                Work::File(Arc::new(source(Inputs::default(), read)?), Arc::new(writing))
            }
        };
        Ok(Arc::new(PieceScan::new(work, Arc::clone(pieces), self.directories.clone())))
    }
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(scan) = node.downcast_ref::<PieceScan>() else {
            return self.engine.try_encode(node, bytes, converter);
        };
        let read = scan.work().read();
        bytes.extend(encoded(&match scan.work() {
            Work::Columns(request) => AnyScan::Positions(ScanWire {
                read: read.clone(),
                columns: names(&request.columns),
                conditions: request.conditions.clone(),
                limit: request.limit,
            }),
            Work::Statistics(_, counting) => AnyScan::Statistics(CountingWire::of(read, counting)),
            Work::File(_, writing) => AnyScan::File(FilesWire { read: read.clone(), writing: (**writing).clone() }),
        })?);
        Ok(())
    }
    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        scalar(name, bytes)
    }
    fn try_encode_udf(&self, function: &ScalarUDF, bytes: &mut Vec<u8>) -> Result<()> {
        judging(functions::judging_of(function), bytes)
    }
    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        aggregate(name, bytes)
    }
    fn try_encode_udaf(&self, function: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
        judging(functions::judging_of_aggregate(function), bytes)
    }
}

/// The encoded rules by which a function judges positions, if it does; empty for the default, which all machines have
/// registered.
fn judging(judging: Option<ValidityOptions>, bytes: &mut Vec<u8>) -> Result<()> {
    if let Some(judging) = judging
        && !judging.is_default()
    {
        bytes.extend(encoded(&JudgingWire::of(judging))?);
    }
    Ok(())
}

fn scalar(name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
    let judging = judging_of(name, bytes)?;
    let mut functions = functions::scalar(judging, &ValuesWithoutPosition::default()).into_iter();
    let function = functions.find(|function| function.name() == name);
    function.map(Arc::new).ok_or_else(|| unknown(name))
}

/// The rules of a function. Functions that this machine has registered have no bytes.
fn judging_of(name: &str, bytes: &[u8]) -> Result<ValidityOptions> {
    match bytes {
        [] => Err(unknown(name)),
        bytes => Ok(decoded::<JudgingWire>(bytes)?.into_judging()),
    }
}

fn aggregate(name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
    let judging = judging_of(name, bytes)?;
    let mut functions = functions::aggregates(judging).into_iter();
    let function = functions.find(|function| function.name() == name);
    function.map(Arc::new).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> DataFusionError {
    DataFusionError::Plan(format!("there is no function {name}"))
}
