//! Columns and their types in SQL.
//!
//! They are those of files, in which quantities are signed and one size larger than their values; scores are one size larger
//! here, so that their differences do not wrap either. Sets of squares and keys stay unsigned, with all their bits.

use super::file_name_column;
use crate::columnar::Described;
use crate::formats::names_of_folders;
use crate::input::Inputs;
use crate::table::{COLUMNS, ChosenColumn, FAMILIES, FOLDERS, Kind, LEGAL_MOVE_COLUMNS};
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

/// What a query names: the columns that its tables of positions may have, and its words.
#[derive(Clone, Debug, Default)]
pub(in crate::sql) struct Named {
    pub(in crate::sql) columns: Vec<ChosenColumn>,
    /// In small letters.
    words: BTreeSet<String>,
}

impl Named {
    /// The columns of tables: the catalogue, and those of legal moves, of families and of files that the tokens of a query
    /// name, as in `legal_moves_uci`, `"tag:Event"`, `"folder:month"` and `filename`.
    pub(in crate::sql) fn of(query: &[TokenWithSpan]) -> Self {
        let words = query.iter().filter_map(|token| match &token.token {
            Token::Word(word) if matches!(word.quote_style, None | Some('"')) => Some(word),
            _ => None,
        });
        let is_of_family = |name: &&str| FAMILIES.iter().any(|family| name.starts_with(family.prefix));
        let is_on_request = |name: &&str| LEGAL_MOVE_COLUMNS.iter().any(|column| column.name == *name);
        let names = words.clone().map(|word| word.value.as_str());
        let on_request: BTreeSet<&str> = names.filter(|name| is_of_family(name) || is_on_request(name)).collect();
        let words: BTreeSet<String> = words.map(|word| word.value.to_lowercase()).collect();
        let of_files = words.get(file_name_column::NAME).map(String::as_str);
        let on_request = on_request.into_iter().chain(of_files).filter_map(file_name_column::column_named);
        Self { columns: COLUMNS.iter().map(ChosenColumn::Listed).chain(on_request).collect(), words }
    }

    /// Whether a query has this word.
    pub(in crate::sql) fn has(&self, word: &str) -> bool {
        self.words.contains(&word.to_lowercase())
    }

    /// The columns of a table of these inputs: also those of folders that a query names without `folder:`, unless the
    /// catalogue has a column of that name.
    pub(in crate::sql) fn columns_for(&self, inputs: &Inputs) -> Vec<ChosenColumn> {
        let folders = inputs.sources.iter().flat_map(|source| names_of_folders(source.name()));
        let named: BTreeSet<&str> = folders.filter(|name| self.has(name)).collect();
        let is_known = |name: &str| self.columns.iter().any(|column| column.name() == name);
        let folders = named.into_iter().filter(|name| !is_known(&name.to_lowercase()));
        let folders = folders.map(|name| format!("{}{name}", FOLDERS.prefix)).filter(|name| !is_known(name));
        let folders: Vec<ChosenColumn> = folders.filter_map(|name| ChosenColumn::named(&name)).collect();
        self.columns.iter().cloned().chain(folders).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::engine::query_tokens;

    #[test]
    fn tags_are_columns_where_a_query_names_them() {
        let names = |query| -> Vec<String> {
            let columns = Named::of(&query_tokens::of(query)).columns;
            let more = columns[COLUMNS.len()..].iter();
            more.map(|column| column.name().to_owned()).collect()
        };
        assert_eq!(names("select 1"), [""; 0]);
        assert_eq!(
            names(r#"select "tag:Round", "folder:a", "other" from 'x' where "tag:Event" <> 'one " and "tag:No"'"#),
            ["folder:a", "tag:Event", "tag:Round"]
        );
        assert_eq!(names("select FileName from 'x'"), ["filename"]);
    }

    #[test]
    fn no_integer_wraps() {
        let schema = schema(&Named::of(&[]).columns);
        for field in schema.fields() {
            let wraps = matches!(field.data_type(), DataType::UInt8 | DataType::UInt16 | DataType::UInt32);
            assert!(!wraps, "{field}");
        }
        let elo = schema.field_with_name("white_elo");
        assert_eq!(elo.map(Field::data_type).ok(), Some(&DataType::Int32));
    }
}
