//! Columns and their types in SQL.
//!
//! They are those of files, in which quantities are signed and one size larger than their values; scores are one size larger
//! here, so that their differences do not wrap either. Sets of squares and keys stay unsigned, with all their bits.

use crate::columnar::Described;
use crate::table::{COLUMNS, ChosenColumn, FAMILIES, Kind, LEGAL_MOVE_COLUMNS};
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The type of a column.
pub(in crate::sql) fn data_type(column: &ChosenColumn) -> DataType {
    data_type_of(column.kind())
}

/// The type of columns of this kind.
pub fn data_type_of(kind: Kind) -> DataType {
    match kind {
        Kind::Flag => DataType::Boolean,
        Kind::U8 => DataType::Int16,
        Kind::U16 | Kind::I16 => DataType::Int32,
        // Numbers of records and games; sets of squares and keys have all 64 bits.
        Kind::U32 | Kind::U64 => DataType::Int64,
        Kind::I32 | Kind::I64 => DataType::Int64,
        Kind::F64 => DataType::Float64,
        Kind::Bits => DataType::UInt64,
        Kind::Text => DataType::Utf8,
        Kind::Date => DataType::Date32,
        Kind::Board => DataType::FixedSizeBinary(32),
        // Only tables of games that are written have them.
        Kind::ExactU8 | Kind::ExactU16 | Kind::Time => DataType::Int32,
        Kind::Timestamp => DataType::Int64,
        Kind::Bytes => DataType::Binary,
        // No integer wraps, and none is unsigned.
        Kind::ListOfU16 | Kind::ListOfI16 | Kind::ListOfI32 => DataType::new_list(DataType::Int32, true),
        Kind::ListOfBits => DataType::new_list(DataType::UInt64, true),
        Kind::ListOfI64 => DataType::new_list(DataType::Int64, true),
        Kind::ListOfText => DataType::new_list(DataType::Utf8, true),
    }
}

/// The schema of these columns.
pub(in crate::sql) fn schema(columns: &[ChosenColumn]) -> Schema {
    let fields = columns.iter().map(|column| {
        let nullable = Described::of(column).nullable;
        Field::new(column.name(), data_type(column), nullable)
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// The schema with nulls allowed in all columns. The plans of a cluster put nulls from outer joins into columns whose
/// tables have none, and would otherwise refuse them.
#[cfg(feature = "cluster")]
pub(in crate::sql) fn nullable_schema(columns: &[ChosenColumn]) -> Schema {
    let fields = columns.iter().map(|column| Field::new(column.name(), data_type(column), true));
    Schema::new(fields.collect::<Vec<_>>())
}

/// Converts values from the types of files to those of SQL.
pub(in crate::sql) fn widened(values: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if values.data_type() == to { Ok(Arc::clone(values)) } else { cast(values, to) }
}

/// Converts all columns of a batch.
pub(in crate::sql) fn widened_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(values, field)| widened(values, field.data_type()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect::<Result<_, _>>()?, &options)
}

/// The columns of a table: the catalogue, and those of legal moves and of families that the tokens of a query name, as in
/// `legal_moves_uci`, `"tag:Event"` and `"folder:month"`.
pub(in crate::sql) fn columns_for(query: &[TokenWithSpan]) -> Vec<ChosenColumn> {
    let names = query.iter().filter_map(|token| match &token.token {
        Token::Word(word) if matches!(word.quote_style, None | Some('"')) => Some(word.value.as_str()),
        _ => None,
    });
    let is_of_family = |name: &&str| FAMILIES.iter().any(|family| name.starts_with(family.prefix));
    let is_on_request = |name: &&str| LEGAL_MOVE_COLUMNS.iter().any(|column| column.name == *name);
    let on_request: BTreeSet<&str> = names.filter(|name| is_of_family(name) || is_on_request(name)).collect();
    let on_request = on_request.iter().filter_map(|name| ChosenColumn::named(name));
    COLUMNS.iter().map(ChosenColumn::Listed).chain(on_request).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::engine::query_tokens;

    #[test]
    fn tags_are_columns_where_a_query_names_them() {
        let names = |query| -> Vec<String> {
            let columns = columns_for(&query_tokens::of(query));
            let more = columns[COLUMNS.len()..].iter();
            more.map(|column| column.name().to_owned()).collect()
        };
        assert_eq!(names("select 1"), [""; 0]);
        assert_eq!(
            names(r#"select "tag:Round", "folder:a", "other" from 'x' where "tag:Event" <> 'one " and "tag:No"'"#),
            ["folder:a", "tag:Event", "tag:Round"]
        );
    }

    #[test]
    fn no_integer_wraps() {
        let schema = schema(&columns_for(&[]));
        for field in schema.fields() {
            let wraps = matches!(field.data_type(), DataType::UInt8 | DataType::UInt16 | DataType::UInt32);
            assert!(!wraps, "{field}");
        }
        let elo = schema.field_with_name("white_elo");
        assert_eq!(elo.map(Field::data_type).ok(), Some(&DataType::Int32));
    }
}
