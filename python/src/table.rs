//! Record batches and tables for other packages.

use crate::error;
use crate::packages;
use crate::pickling;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{self as arrow, Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule};
use std::sync::Arc;

/// The type of a batch as an Arrow struct, the form in which batches are exchanged.
pub(crate) fn field_of(schema: &Schema) -> FieldRef {
    let field = Field::new_struct("", schema.fields().clone(), false);
    Arc::new(field.with_metadata(schema.metadata().clone()))
}

/// A batch as a struct.
pub(crate) fn struct_of(batch: arrow::RecordBatch) -> ArrayRef {
    Arc::new(StructArray::from(batch))
}

fn names(schema: &Schema) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

/// The values of an array as Python objects.
fn append(list: &Bound<'_, PyList>, array: &dyn Array) -> PyResult<()> {
    macro_rules! numbers {
        ($type:ty) => {
            array.as_primitive::<$type>().iter().try_for_each(|value| list.append(value))
        };
    }
    macro_rules! values {
        ($values:expr) => {
            $values.iter().try_for_each(|value| list.append(value))
        };
    }
    let py = list.py();
    match array.data_type() {
        DataType::Boolean => values!(array.as_boolean()),
        DataType::Int8 => numbers!(Int8Type),
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::Float32 => numbers!(Float32Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::Float64 => numbers!(Float64Type),
        DataType::Utf8 => values!(array.as_string::<i32>()),
        DataType::LargeUtf8 => values!(array.as_string::<i64>()),
        DataType::Utf8View => values!(array.as_string_view()),
        DataType::Binary => values!(array.as_binary::<i32>()),
        DataType::LargeBinary => values!(array.as_binary::<i64>()),
        DataType::BinaryView => values!(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => values!(array.as_fixed_size_binary()),
        DataType::Null => (0..array.len()).try_for_each(|_| list.append(py.None())),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = arrow_select::take::take(dictionary.values(), dictionary.keys(), None);
            append(list, &values.map_err(|failed| error::message(py, failed.to_string()))?)
        }
        DataType::Struct(fields) => {
            let structs = array.as_struct();
            let columns = structs.columns().iter().map(|column| {
                let values = PyList::empty(py);
                append(&values, column).map(|()| values)
            });
            let columns = columns.collect::<PyResult<Vec<_>>>()?;
            (0..array.len()).try_for_each(|row| {
                if structs.is_null(row) {
                    return list.append(py.None());
                }
                let of_row = PyDict::new(py);
                for (field, values) in fields.iter().zip(&columns) {
                    of_row.set_item(field.name(), values.get_item(row)?)?;
                }
                list.append(of_row)
            })
        }
        DataType::Decimal128(_, scale) => {
            let decimal = py.import("decimal")?.getattr("Decimal")?;
            array.as_primitive::<Decimal128Type>().iter().try_for_each(|value| {
                let value = value.map(|value| decimal.call1((format!("{value}e{}", -i32::from(*scale)),)));
                list.append(value.transpose()?)
            })
        }
        DataType::LargeList(_) => append_lists(list, array.len(), |row| {
            let lists = array.as_list::<i64>();
            lists.is_valid(row).then(|| lists.value(row))
        }),
        DataType::List(_) => append_lists(list, array.len(), |row| {
            let lists = array.as_list::<i32>();
            lists.is_valid(row).then(|| lists.value(row))
        }),
        DataType::FixedSizeList(..) => append_lists(list, array.len(), |row| {
            let lists = array.as_fixed_size_list();
            lists.is_valid(row).then(|| lists.value(row))
        }),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::Date32 => {
            const BEFORE_1970: i64 = 719_163;
            let date = py.import("datetime")?.getattr("date")?;
            array.as_primitive::<Date32Type>().iter().try_for_each(|days| {
                let days = days.map(|days| i64::from(days) + BEFORE_1970);
                let day = days.map(|day| date.call_method1("fromordinal", (day,)));
                list.append(day.transpose()?)
            })
        }
        other => {
            let message = format!("columns of {other} have no Python values here: other packages have them");
            Err(pyo3::exceptions::PyTypeError::new_err(message))
        }
    }
}

/// Lists of Python objects.
fn append_lists(list: &Bound<'_, PyList>, rows: usize, items: impl Fn(usize) -> Option<ArrayRef>) -> PyResult<()> {
    for row in 0..rows {
        let Some(items) = items(row) else {
            list.append(list.py().None())?;
            continue;
        };
        let of_row = PyList::empty(list.py());
        append(&of_row, &items)?;
        list.append(of_row)?;
    }
    Ok(())
}

/// The columns by name.
fn dict<'py>(py: Python<'py>, schema: &Schema, batches: &[arrow::RecordBatch]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (at, field) in schema.fields().iter().enumerate() {
        all.set_item(field.name(), column(py, at, batches)?)?;
    }
    Ok(all)
}

fn column<'py>(py: Python<'py>, at: usize, batches: &[arrow::RecordBatch]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for batch in batches {
        append(&list, batch.column(at))?;
        py.check_signals()?;
    }
    Ok(list)
}

/// A batch of rows, as a scan yields it.
///
/// Other packages accept it as it is: `pyarrow.record_batch(batch)`, `polars.DataFrame(batch)`.
///
/// >>> import lanefish
/// >>> table = lanefish.compute(["8/8/8/8/8/8/6k1/4K2R w K - 0 1"], "legal_moves")
/// >>> [batch.to_pydict() for batch in table]
/// [{'legal_moves': [12]}]
#[pyclass(module = "lanefish", frozen)]
pub(crate) struct RecordBatch(pub(crate) arrow::RecordBatch);

#[pymethods]
impl RecordBatch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
    fn __repr__(&self) -> String {
        let names = names(self.0.schema_ref()).join(", ");
        format!("<lanefish.RecordBatch: {} rows of {names}>", self.0.num_rows())
    }
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }
    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        names(self.0.schema_ref())
    }
    /// The values of each column as a list.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.0.schema_ref(), std::slice::from_ref(&self.0))
    }
    /// A column by its name, for numpy and torch.
    fn column(&self, name: &str) -> PyResult<Column> {
        match self.0.column_by_name(name) {
            Some(array) => Ok(Column(Arc::clone(array))),
            None => Err(PyKeyError::new_err(name.to_owned())),
        }
    }
    /// As an Arrow stream in memory.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        pickling::reduced_batch(py, &self.0)
    }
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.0.schema_ref().as_ref())?)
    }
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let field = field_of(self.0.schema_ref());
        let rows = struct_of(self.0.clone());
        Ok(to_array_pycapsules(py, field, &rows, requested_schema)?)
    }
}

/// A column of a batch.
///
/// `numpy.asarray(column)` and `torch.from_dlpack(column)` have its memory, without a copy, if it has numbers of which none
/// is missing, or lists of these with one length (`pad`). Otherwise numpy gets a copy: missing numbers are NaN, texts are
/// objects. Other packages take it as Arrow data: `pyarrow.array(column)`.
///
/// >>> import lanefish
/// >>> table = lanefish.compute(["8/8/8/8/8/8/6k1/4K2R w K - 0 1"], "legal_moves")
/// >>> column = next(iter(table)).column("legal_moves")
/// >>> column.to_pylist(), column.shape
/// ([12], (1,))
#[pyclass(module = "lanefish", frozen)]
pub(crate) struct Column(pub(crate) ArrayRef);

/// Numbers in memory, one after the other.
struct Numbers {
    address: usize,
    /// As numpy names the type.
    kind: &'static str,
}

impl Numbers {
    /// The numbers of an array; `None` if it has anything else, or some are missing.
    fn of(array: &dyn Array) -> Option<Self> {
        macro_rules! numbers {
            ($type:ty, $kind:literal) => {{
                let kind = if cfg!(target_endian = "big") { concat!(">", $kind) } else { concat!("<", $kind) };
                Some(Self { address: array.as_primitive::<$type>().values().as_ptr() as usize, kind })
            }};
        }
        if array.null_count() > 0 {
            return None;
        }
        match array.data_type() {
            DataType::Int16 => numbers!(Int16Type, "i2"),
            DataType::Int32 => numbers!(Int32Type, "i4"),
            DataType::Int64 => numbers!(Int64Type, "i8"),
            DataType::UInt64 => numbers!(UInt64Type, "u8"),
            DataType::Float64 => numbers!(Float64Type, "f8"),
            DataType::FixedSizeList(..) => Self::of(array.as_fixed_size_list().values()),
            _ => None,
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }
    fn __repr__(&self) -> String {
        format!("<lanefish.Column: {} values of {}>", self.0.len(), self.0.data_type())
    }
    /// Number of rows, and with padded lists that of items in each of them.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match self.0.data_type() {
            DataType::FixedSizeList(_, len) => PyTuple::new(py, [self.0.len(), *len as usize]),
            _ => PyTuple::new(py, [self.0.len()]),
        }
    }
    /// The values as Python objects.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        append(&list, &self.0)?;
        Ok(list)
    }
    /// Where the numbers are: numpy's protocol for arrays of others. numpy keeps the column as long as its array.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(Numbers { address, kind }) = Numbers::of(&self.0) else {
            return Err(PyAttributeError::new_err("this column has no numbers without a gap"));
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", self.shape(py)?)?;
        interface.set_item("typestr", kind)?;
        interface.set_item("data", (address, false))?;
        Ok(interface)
    }
    /// The values as an array of numpy, for columns that are not numbers in memory.
    #[pyo3(signature = (dtype=None, **_keywords))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        _keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = packages::to_numpy(&self.to_pylist(py)?, self.0.data_type())?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }
    /// The numbers as DLPack has them, by way of numpy.
    #[pyo3(signature = (**keywords))]
    fn __dlpack__<'py>(slf: &Bound<'py, Self>, keywords: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let array = slf.py().import("numpy")?.call_method1("asarray", (slf,))?;
        array.call_method("__dlpack__", (), keywords)
    }
    /// The CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }
    /// As an Arrow stream in memory.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        pickling::reduced_column(py, &self.0)
    }
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.0.data_type())?)
    }
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let field = Arc::new(Field::new("", self.0.data_type().clone(), true));
        Ok(to_array_pycapsules(py, field, &self.0, requested_schema)?)
    }
}

/// The columns that `compute` returns.
///
/// Other packages accept it as it is, without a copy: `pyarrow.table(computed)`, `polars.DataFrame(computed)`,
/// `duckdb.sql("from computed")`. Without any of them, `table["legal_moves"]` and `to_pydict()` are Python lists.
///
/// >>> import lanefish
/// >>> table = lanefish.compute(["8/8/8/8/8/8/6k1/4K2R w K - 0 1"], ["legal_moves", "in_check"])
/// >>> table["legal_moves"], table.column_names, len(table)
/// ([12], ['legal_moves', 'in_check'], 1)
#[pyclass(module = "lanefish", frozen)]
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<arrow::RecordBatch>,
    pub(crate) bad: Vec<u64>,
    pub(crate) rejected: u64,
    pub(crate) rejects: Vec<String>,
    pub(crate) notes: Vec<String>,
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batches.iter().map(arrow::RecordBatch::num_rows).sum()
    }
    fn __repr__(&self) -> String {
        let names = names(&self.schema).join(", ");
        format!("<lanefish.Table: {} rows of {names}>", self.__len__())
    }
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batches: PyResult<Vec<_>> =
            self.batches.iter().cloned().map(RecordBatch).map(|batch| Bound::new(py, batch)).collect();
        batches?.into_bound_py_any(py)?.call_method0("__iter__")
    }
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        match self.schema.index_of(name) {
            Ok(at) => column(py, at, &self.batches),
            Err(_) => Err(PyKeyError::new_err(name.to_owned())),
        }
    }
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.__len__()
    }
    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        names(&self.schema)
    }
    /// Row numbers of the input rows without a valid position, with `on_bad="null"` and `"skip"`.
    #[getter]
    fn bad_rows(&self) -> Vec<u64> {
        self.bad.clone()
    }
    /// The number of bad rows or records.
    #[getter]
    fn rejected(&self) -> u64 {
        self.rejected
    }
    /// The reasons why the first bad rows were rejected.
    #[getter]
    fn rejects(&self) -> Vec<String> {
        self.rejects.clone()
    }
    /// What the command line would note besides.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
    /// The values of each column as a list.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.schema, &self.batches)
    }
    /// The rows as a frame of pandas, which has to be installed.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        packages::to_pandas(slf.as_any())
    }
    /// The rows as a frame of polars, which has to be installed.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        packages::to_polars(slf.as_any())
    }
    /// The values of each column as an array of numpy, which has to be installed. Numbers with missing values become
    /// floats with NaN, and texts objects with None, as do sets of squares and keys, which are unsigned otherwise.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let table = slf.get();
        let arrays = PyDict::new(slf.py());
        for (at, field) in table.schema.fields().iter().enumerate() {
            let list = column(slf.py(), at, &table.batches)?;
            arrays.set_item(field.name(), packages::to_numpy(&list, field.data_type())?)?;
        }
        Ok(arrays)
    }
    /// A table is no array: other packages would make one object of it.
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn __array__(&self, _arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        Err(packages::no_array())
    }
    /// As an Arrow stream in memory.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        pickling::reduced_table(py, self)
    }
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.schema.as_ref())?)
    }
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let batches: Vec<_> = self.batches.iter().cloned().map(struct_of).map(Ok).collect();
        let reader = ArrayIterator::new(batches, field_of(&self.schema));
        Ok(to_stream_pycapsule(py, Box::new(reader), requested_schema)?)
    }
}
