//! Metadata of our files about their own columns, so that a damaged name or type is found when they are read.
//!
//! An Arrow file has the metadata `lanefish.columns`: the number of its columns and a checksum of their names and
//! types. Other programs keep these metadata when they drop or add columns. So they are only checked if the number of
//! columns is the same and each still has its `lanefish.meaning`; otherwise another program has written the file.
//!
//! A Parquet file has the pair `lanefish.checksum`: a checksum of the schema and of the places of all column chunks. It
//! is only checked if the metadata also name lanefish as the writer. Another program that writes the file again names
//! itself. The pair `lanefish.statistics` is a checksum of the statistics of column chunks; only queries that trust these look
//! at it.

use arrow_schema::{DataType, Fields};
use crc32fast::Hasher;
use parquet::basic::Compression;
use parquet::file::metadata::{FileMetaData, RowGroupMetaData};
use std::collections::HashMap;

/// The metadata of an Arrow file.
pub(crate) const COLUMNS: &str = "lanefish.columns";
/// The pair of a Parquet file.
pub(super) const CHECKSUM: &str = "lanefish.checksum";
/// The pair of a Parquet file with the checksum of the statistics of all column chunks, by which queries pass over them.
pub(super) const STATISTICS: &str = "lanefish.statistics";
/// The beginning of our program name in a Parquet file.
pub(super) const WRITER: &str = "lanefish version ";
/// The metadata of each column.
pub(super) const MEANING: &str = "lanefish.meaning";

/// The key that says what the rows of a table are: `games` or `positions`.
pub(crate) const TABLE: &str = "lanefish.table";

/// The value of [`COLUMNS`].
pub(super) fn of_columns(fields: &Fields) -> String {
    columns_checksum(fields, |data| match data {
        DataType::Int32 => 9,
        DataType::Int64 => 10,
        DataType::Float64 => 11,
        data => number_of(data),
    })
}

/// The numbers of the types that there have always been; quantities were unsigned.
fn number_of(data: &DataType) -> u8 {
    match data {
        DataType::Boolean => 0,
        DataType::UInt8 => 1,
        DataType::UInt16 => 2,
        DataType::UInt32 => 3,
        DataType::UInt64 => 4,
        DataType::Int16 => 5,
        DataType::Utf8 => 6,
        DataType::Date32 => 7,
        DataType::FixedSizeBinary(32) => 8,
        // None of ours.
        _ => u8::MAX,
    }
}

fn columns_checksum(fields: &Fields, number_of: impl Fn(&DataType) -> u8) -> String {
    let mut hasher = Hasher::new();
    // Other programs may have changed their order.
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|field| field.name());
    for field in &fields {
        put_text(&mut hasher, field.name());
        hasher.update(&[number_of(field.data_type()), field.is_nullable().into()]);
    }
    format!("{} {:08x}", fields.len(), hasher.finalize())
}

/// Checks the columns of one of our Arrow files.
///
/// # Errors
/// If they are not those with which it was written.
pub(crate) fn check_columns(fields: &Fields, metadata: &HashMap<String, String>) -> Result<(), String> {
    let Some(written) = metadata.get(COLUMNS) else {
        return Ok(());
    };
    let count = written.split(' ').next();
    let is_whole =
        count == Some(&*fields.len().to_string()) && fields.iter().all(|field| field.metadata().contains_key(MEANING));
    // As this version writes it, or the ones before.
    let is_as_written = || *written == of_columns(fields) || *written == columns_checksum(fields, number_of);
    if is_whole && !is_as_written() {
        Err(format!(
            "the names and types of its columns are not those with which lanefish wrote it: it is damaged, or another \
             program has changed them and kept the metadata `{COLUMNS}`"
        ))
    } else {
        Ok(())
    }
}

/// The value of [`CHECKSUM`].
pub(super) fn of_file(file: &FileMetaData, groups: &[RowGroupMetaData]) -> String {
    let mut hasher = Hasher::new();
    let schema = file.schema_descr();
    for column in schema.columns() {
        put_text(&mut hasher, &column.path().string());
        for number in [
            column.physical_type() as i32,
            column.converted_type() as i32,
            column.type_length(),
            column.max_def_level().into(),
            column.max_rep_level().into(),
        ] {
            hasher.update(&number.to_le_bytes());
        }
    }
    for group in groups {
        hasher.update(&group.num_rows().to_le_bytes());
        for column in group.columns() {
            let codec = match column.compression() {
                Compression::UNCOMPRESSED => 0,
                Compression::SNAPPY => 1,
                Compression::ZSTD(_) => 2,
                // None of ours.
                _ => -1,
            };
            for number in [
                codec,
                column.num_values(),
                column.dictionary_page_offset().unwrap_or(-1),
                column.data_page_offset(),
                column.compressed_size(),
            ] {
                hasher.update(&number.to_le_bytes());
            }
        }
    }
    format!("{:08x}", hasher.finalize())
}

/// Checks the metadata of one of our Parquet files.
///
/// # Errors
/// If they are not those with which it was written.
pub(crate) fn check_file(file: &FileMetaData, groups: &[RowGroupMetaData]) -> Result<(), String> {
    match checksum_holds(file, groups) {
        Some(false) => Err("the metadata do not match their checksum".to_owned()),
        // Files of other programs, and of earlier versions, have none.
        Some(true) | None => Ok(()),
    }
}

/// Whether the metadata of a Parquet file are those with which this program wrote it, with the statistics of its columns.
#[cfg(feature = "sql")]
pub(crate) fn is_ours(file: &FileMetaData, groups: &[RowGroupMetaData]) -> bool {
    checksum_holds(file, groups) == Some(true)
        && written(file, STATISTICS).is_some_and(|written| written == of_statistics(groups))
}

/// Whether the metadata of a Parquet file match their checksum; `None` if it has none, or another program has written it.
fn checksum_holds(file: &FileMetaData, groups: &[RowGroupMetaData]) -> Option<bool> {
    written(file, CHECKSUM).map(|written| written == of_file(file, groups))
}

/// The value that this program wrote under a name.
fn written<'a>(file: &'a FileMetaData, name: &str) -> Option<&'a str> {
    file.created_by().filter(|name| name.starts_with(WRITER))?;
    let pair = file.key_value_metadata()?.iter().find(|pair| pair.key == name)?;
    Some(pair.value.as_deref().unwrap_or_default())
}

/// The value of [`STATISTICS`].
pub(super) fn of_statistics(groups: &[RowGroupMetaData]) -> String {
    let mut hasher = Hasher::new();
    for column in groups.iter().flat_map(RowGroupMetaData::columns) {
        let Some(statistics) = column.statistics() else {
            hasher.update(&[0]);
            continue;
        };
        for bound in [statistics.min_bytes_opt(), statistics.max_bytes_opt()] {
            hasher.update(&bound.map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
            hasher.update(bound.unwrap_or_default());
        }
        hasher.update(&statistics.null_count_opt().unwrap_or(u64::MAX).to_le_bytes());
    }
    format!("{:08x}", hasher.finalize())
}

fn put_text(hasher: &mut Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::Field;

    #[test]
    fn columns_are_checked_as_this_version_or_an_earlier_one_wrote_them() {
        let fields = |kinds: [DataType; 3]| -> Fields {
            let fields = ["legal_moves", "game", "ratio"].into_iter().zip(kinds).map(|(name, kind)| {
                let meaning = HashMap::from([(MEANING.to_owned(), "a meaning".to_owned())]);
                Field::new(name, kind, false).with_metadata(meaning)
            });
            fields.collect()
        };
        let of = |written: String| HashMap::from([(COLUMNS.to_owned(), written)]);
        let before = fields([DataType::UInt16, DataType::UInt64, DataType::Float64]);
        let now = fields([DataType::Int32, DataType::Int64, DataType::Float64]);
        check_columns(&before, &of(columns_checksum(&before, number_of))).unwrap();
        check_columns(&now, &of(of_columns(&now))).unwrap();
        check_columns(&now, &of(of_columns(&before))).unwrap_err();
        check_columns(&before, &of(of_columns(&now))).unwrap_err();
    }
}
