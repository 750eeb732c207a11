//! Computed columns as functions of a FEN or a board.

use super::{ValidityOptions, ValuesWithoutPosition, arrays, as_given, failed, position_type, positions_of};
use crate::jobs::{BadRows, ComputeOptions, compute};
use crate::sql::tables::sql_types::{data_type, widened};
use crate::table::{ChosenColumn, Columns};
use datafusion::arrow::array::{Array, ArrayRef, new_empty_array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

/// A column as a function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ColumnFunction {
    name: &'static str,
    column: &'static str,
    judging: ValidityOptions,
    told: ValuesWithoutPosition,
    signature: Signature,
}

impl ColumnFunction {
    #[cfg(feature = "cluster")]
    pub(super) fn judging(&self) -> ValidityOptions {
        self.judging
    }

    pub(super) fn new(
        name: &'static str,
        column: &'static str,
        judging: ValidityOptions,
        told: ValuesWithoutPosition,
    ) -> Self {
        Self { name, column, judging, told, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn column(&self) -> Result<ChosenColumn> {
        let column = ChosenColumn::named(self.column);
        column.ok_or_else(|| DataFusionError::Internal(format!("no column {}", self.column)))
    }
}

impl ScalarUDFImpl for ColumnFunction {
    fn name(&self) -> &str {
        self.name
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [position] => Ok(vec![position_type(self.name, position)?]),
            _ => plan_err!("{} takes one FEN or board", self.name),
        }
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(data_type(&self.column()?))
    }
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = arrays(&args.args, args.number_rows)?;
        let positions = positions_of(&arrays[0])?;
        let options =
            ComputeOptions::new(self.judging.analyzer()?).decode(self.judging.options()).on_bad(BadRows::Null);
        let columns = Columns::from_iter([self.column()?]);
        let computed = compute(&positions, &columns, &options).map_err(failed)?;
        self.told.add(self.name, &arrays[0], computed.bad.iter().map(|&row| row as usize));
        let batches: Vec<ArrayRef> = computed.batches.iter().map(|batch| batch.column(0).clone()).collect();
        let values: Vec<&dyn Array> = batches.iter().map(|values| &**values).collect();
        let values = match &values[..] {
            [] => new_empty_array(computed.schema.field(0).data_type()),
            values => concat(values)?,
        };
        as_given(&args.args, widened(&values, args.return_type())?)
    }
}
