//! Functions of positions: computed columns for any FEN or board, and other common functions.
//!
//! Functions take and return arrays. Their rows pass through the same decoder, judge and kernels as those of files.
//! Invalid positions and nulls yield null.

mod column_functions;
mod position_functions;
pub(super) mod statistics;
pub(super) mod values_without_position;

use super::tables::where_conditions::ConditionFunction;
use crate::chess::Validity;
use crate::error::Error;
use crate::formats::DecodeOptions;
use crate::jobs::ArrowPositions;
use crate::table::{COLUMNS, LEGAL_MOVE_COLUMNS};
use crate::tiers::{Analyzer, Tier};
use column_functions::ColumnFunction;
use datafusion::arrow::array::{Array, ArrayRef, UInt64Array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_err};
use datafusion::logical_expr::{AggregateUDF, ColumnarValue, ScalarUDF};
use position_functions::{Matches, Play, PopCount};
use statistics::PositionStats;
use values_without_position::ValuesWithoutPosition;

/// The rules for judging positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ValidityOptions {
    pub(super) tier: Tier,
    pub(super) validity: Validity,
    pub(super) keep_en_passant: bool,
}

impl ValidityOptions {
    fn options(self) -> DecodeOptions {
        DecodeOptions::default().validity(self.validity).keep_en_passant(self.keep_en_passant)
    }
    pub(super) fn analyzer(self) -> Result<&'static dyn Analyzer> {
        let analyzer = self.tier.analyzer();
        analyzer.ok_or_else(|| DataFusionError::Execution(format!("this CPU cannot run the tier `{}`", self.tier)))
    }
}

#[cfg(feature = "cluster")]
impl ValidityOptions {
    /// Whether positions are judged by the default rules.
    pub(super) fn is_default(self) -> bool {
        self.validity == Validity::default() && !self.keep_en_passant
    }
}

/// The rules by which a function judges positions, if it is one of ours that does.
#[cfg(feature = "cluster")]
pub(super) fn judging_of(function: &ScalarUDF) -> Option<ValidityOptions> {
    let function = function.inner();
    let of_column = function.downcast_ref::<ColumnFunction>().map(ColumnFunction::judging);
    let of_pattern = function.downcast_ref::<Matches>().map(Matches::judging);
    let of_move = function.downcast_ref::<Play>().map(Play::judging);
    of_column.or(of_pattern).or(of_move)
}

/// The rules by which an aggregate judges positions, if it is one of ours that does.
#[cfg(feature = "cluster")]
pub(super) fn judging_of_aggregate(function: &AggregateUDF) -> Option<ValidityOptions> {
    let function = function.inner().downcast_ref::<PositionStats>();
    function.map(PositionStats::judging)
}

/// All functions of rows, which tell what they are given in place of positions.
pub(super) fn scalar(judging: ValidityOptions, told: &ValuesWithoutPosition) -> Vec<ScalarUDF> {
    let computed =
        COLUMNS.iter().filter(|column| column.name == "key" || column.fields.is_empty() && column.name != "index");
    let computed = computed.chain(LEGAL_MOVE_COLUMNS.iter().filter(|column| column.fields.is_empty()));
    let of_column = |name, column| ScalarUDF::from(ColumnFunction::new(name, column, judging, told.clone()));
    let columns = computed.map(|column| of_column(column.name, column.name));
    let normalize = of_column("normalize_fen", "fen");
    let others = [
        Matches::new(judging, told.clone()).into(),
        Play::new(judging, told.clone()).into(),
        PopCount::new().into(),
        ConditionFunction::new().into(),
    ];
    columns.chain([normalize]).chain(others).collect()
}

/// All functions of groups of rows.
pub(super) fn aggregates(judging: ValidityOptions) -> Vec<AggregateUDF> {
    vec![PositionStats::new(judging).into()]
}

/// An error in reading arrays.
fn failed(error: Error) -> DataFusionError {
    DataFusionError::External(error.into())
}

/// The positions of an array.
fn positions_of(array: &ArrayRef) -> Result<ArrowPositions> {
    ArrowPositions::of_array(array.data_type(), vec![array.clone()]).map_err(failed)
}

/// The type as which a function takes an argument that should be a FEN or a board.
fn position_type(function: &str, given: &DataType) -> Result<DataType> {
    Ok(match given {
        DataType::Null => DataType::Utf8,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => given.clone(),
        DataType::Dictionary(_, values) => return position_type(function, values),
        DataType::FixedSizeBinary(32) => given.clone(),
        // Boards, as some files and programs have them.
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => DataType::FixedSizeBinary(32),
        other => return plan_err!("{function} takes a FEN or a board, not {other}"),
    })
}

/// The type as which a function takes an argument that should be text.
fn text_type(function: &str, what: &str, given: &DataType) -> Result<DataType> {
    match given {
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(DataType::Utf8),
        DataType::Dictionary(_, values) => text_type(function, what, values),
        other => plan_err!("{function} takes {what} as text, not {other}"),
    }
}

/// The result of a function whose arguments were all constants is one.
fn as_given(args: &[ColumnarValue], result: ArrayRef) -> Result<ColumnarValue> {
    let are_constant = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    if are_constant && result.len() == 1 {
        ScalarValue::try_from_array(&result, 0).map(ColumnarValue::Scalar)
    } else {
        Ok(ColumnarValue::Array(result))
    }
}

/// The arguments as arrays; a single row if all of them are constants.
fn arrays(args: &[ColumnarValue], rows: usize) -> Result<Vec<ArrayRef>> {
    let are_constant = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    let rows = if are_constant { 1 } else { rows };
    args.iter().map(|arg| arg.to_array(rows)).collect()
}

/// The rows of an array that are not null.
fn present(array: &ArrayRef) -> Result<ArrayRef> {
    if array.null_count() == 0 {
        return Ok(array.clone());
    }
    let rows: UInt64Array = (0..array.len()).filter(|&row| array.is_valid(row)).map(|row| row as u64).collect();
    Ok(datafusion::arrow::compute::take(array, &rows, None)?)
}
