//! Reads the metadata at the end of a Parquet file.

use super::column_map::{Column, Kind};
use super::panic_guard::guarded;
use super::parquet_page_headers;
use crate::columnar::check_file;
use crate::error::Damage;
use crate::input::RandomAccess;
use ::parquet::arrow::{ProjectionMask, parquet_to_arrow_schema, parquet_to_arrow_schema_by_columns};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use ::parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use arrow_schema::{DataType, Field};
use std::ops::Range;
use std::sync::Arc;

pub(super) const MAGIC: &[u8] = b"PAR1";
/// Maximum number of row groups of a file: their numbers have 16 bits.
const MOST_GROUPS: u64 = 1 << 15;
/// Maximum length of the metadata.
const MOST_METADATA: u64 = 512 << 20;
pub(super) fn footer_damage(source: &RandomAccess, what: String) -> Damage {
    Damage::at(source.len().saturating_sub(8), what)
}

/// Reads the metadata at the end of the file.
pub(super) fn metadata(source: &RandomAccess) -> Result<Arc<ParquetMetaData>, Damage> {
    let len = source.len();
    let wrong = |what: &str| footer_damage(source, what.to_owned());
    let read = |range: Range<u64>| {
        let bytes = source.bytes(range);
        bytes.map_err(|error| footer_damage(source, error.to_string()))
    };
    if len < 12 {
        return Err(wrong("too short for a Parquet file"));
    }
    if !read(0..4)?.starts_with(MAGIC) {
        return Err(Damage::at(0, "not a Parquet file: it does not begin with PAR1".to_owned()));
    }
    let footer = read(len - 8..len)?;
    let Some((&size, magic)) = footer.split_first_chunk::<4>() else {
        return Err(wrong("there is no footer"));
    };
    if magic != MAGIC {
        return Err(wrong("the footer is missing: the file is truncated, or something was appended"));
    }
    let size = u64::from(u32::from_le_bytes(size));
    if size > len - 12 {
        return Err(wrong("the footer claims more metadata than the file has"));
    }
    if size > MOST_METADATA {
        return Err(wrong("the metadata are longer than 512 MiB"));
    }
    let bytes = read(len - 8 - size..len - 8)?;
    // The library allocates memory for all row groups before it reads the first one.
    if parquet_page_headers::row_groups(&bytes).is_none_or(|groups| groups > MOST_GROUPS) {
        return Err(wrong("the metadata cannot be read"));
    }
    let metadata = guarded(|| ParquetMetaDataReader::decode_metadata(&bytes))
        .map_err(|error| footer_damage(source, format!("the metadata: {error}")))?;
    let count = metadata.file_metadata().schema_descr().num_columns();
    let mut rows = 0u64;
    for group in metadata.row_groups() {
        let group_rows = u64::try_from(group.num_rows()).ok();
        let sum = group_rows.and_then(|group_rows| rows.checked_add(group_rows));
        rows = sum.ok_or_else(|| wrong("the number of rows is impossible"))?;
        if group.num_columns() != count {
            return Err(wrong("columns of a row group are missing"));
        }
    }
    if u64::try_from(metadata.file_metadata().num_rows()) != Ok(rows) {
        return Err(wrong("the row groups have another number of rows than the file"));
    }
    check_file(metadata.file_metadata(), metadata.row_groups()).map_err(|what| footer_damage(source, what))?;
    Ok(Arc::new(metadata))
}

/// The value of a key of the metadata of a file.
pub(super) fn value_of<'a>(metadata: &'a ParquetMetaData, key: &str) -> Option<&'a str> {
    let pairs = metadata.file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
}

/// Whether a leaf is that of a column of lists of plain values.
pub(super) fn is_list(column: &ColumnDescriptor) -> bool {
    // The list, the values repeated in it, and the value: old forms have no group around the value.
    column.max_rep_level() == 1 && (1..=3).contains(&column.path().parts().len()) && column.max_def_level() <= 3
}

/// A column of a file, or a field of a struct, and where its values are.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) column: Column,
    /// The number of its leaf, if it has plain values, or lists of such values.
    pub(super) leaf: Option<usize>,
    /// The number of structs around it.
    pub(super) structs: usize,
}

/// The columns of a file, and behind them the fields of structs with these paths.
pub(super) fn leaves(metadata: &ParquetMetaData, paths: &[&str]) -> Vec<Leaf> {
    let schema = metadata.file_metadata().schema_descr();
    let mut columns = Vec::new();
    let fields = schema.root_schema().get_fields();
    let mut leaves = vec![None; fields.len()];
    for leaf in 0..schema.num_columns() {
        let column = schema.column(leaf);
        let is_plain = column.path().parts().len() == 1 && column.max_rep_level() == 0 && column.max_def_level() <= 1;
        if (is_plain || is_list(&column))
            && let Some(of_root) = leaves.get_mut(schema.get_column_root_idx(leaf))
        {
            *of_root = Some(leaf);
        }
    }
    let pairs = metadata.file_metadata().key_value_metadata();
    let hints = guarded(|| parquet_to_arrow_schema(schema, pairs)).ok();
    for (field, leaf) in fields.iter().zip(leaves) {
        let name = field.name().to_owned();
        let data = leaf.and_then(|leaf| type_of_root(schema, leaf));
        // Parquet has no durations: only the schema that Arrow's writers add tells them from numbers.
        let of_arrow = hints.as_ref().and_then(|hints| hints.field_with_name(&name).ok()).map(Field::data_type);
        let data = match (data, of_arrow) {
            (Some(DataType::Int64), Some(duration @ DataType::Duration(_))) => Some(duration.clone()),
            (data, _) => data,
        };
        let kind = data.as_ref().map_or(Kind::Other, Kind::of);
        let is_read = leaf.is_some_and(|leaf| kind != Kind::Other || !is_list(&schema.column(leaf)));
        let (data, leaf) = match data {
            Some(data) if is_read => (data.to_string(), leaf),
            _ => ("nested".to_owned(), None),
        };
        columns.push(Leaf { column: Column { name, kind, data }, leaf, structs: 0 });
    }
    for path in paths {
        if !fields.iter().any(|field| field.name() == *path) {
            columns.extend(field_of_struct(schema, path));
        }
    }
    columns
}

/// The type of the column with a leaf, as if it had no other one.
fn type_of_root(schema: &SchemaDescriptor, leaf: usize) -> Option<DataType> {
    let only = guarded(|| {
        let mask = ProjectionMask::leaves(schema, [leaf]);
        parquet_to_arrow_schema_by_columns(schema, mask, None)
    });
    Some(only.ok()?.fields().first()?.data_type().clone())
}

/// The field of a struct with a path, if its values are plain, or lists of such values.
fn field_of_struct(schema: &SchemaDescriptor, path: &str) -> Option<Leaf> {
    let is_within = |leaf: &usize| {
        let of_leaf = schema.column(*leaf).path().string();
        of_leaf.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut leaves = (0..schema.num_columns()).filter(is_within);
    let leaf = leaves.next().filter(|_| leaves.next().is_none())?;
    let mut data = type_of_root(schema, leaf)?;
    let mut rest = path.strip_prefix(schema.get_column_root(leaf).name())?;
    let mut structs = 0;
    while let DataType::Struct(fields) = &data
        && let Some(of_field) = rest.strip_prefix('.')
        && let Some(field) = fields.first()
    {
        rest = of_field.strip_prefix(&**field.name())?;
        structs += 1;
        data = field.data_type().clone();
    }
    let kind = Kind::of(&data);
    // What is repeated is a list of plain values.
    let is_read = rest.is_empty() && schema.column(leaf).max_rep_level() == i16::from(kind.is_list());
    is_read.then(|| Leaf {
        column: Column { name: path.to_owned(), kind, data: data.to_string() },
        leaf: Some(leaf),
        structs,
    })
}
