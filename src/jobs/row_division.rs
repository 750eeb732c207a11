//! Rows divided into several files and folders, each complete in itself, and into row groups.
//!
//! The rows of a chunk may belong to several files. Blocks of tables end where a file does; of text, which has a line for
//! each row, the lines are counted when they are written. So the files do not depend on chunks and threads.

use std::sync::Arc;

/// The number of rows of files and row groups, and the column of folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowDivision {
    /// Rows of a file, at least one; without it there is one file.
    pub rows_per_file: Option<u64>,
    /// Rows of a row group of a Parquet file, at least one.
    pub rows_per_group: Option<u64>,
    /// The column whose values have files of their own.
    pub partition_by: Option<String>,
}

impl RowDivision {
    /// Files and row groups of these numbers of rows, for each value of a column.
    pub fn new(rows_per_file: Option<u64>, rows_per_group: Option<u64>, partition_by: Option<String>) -> Self {
        Self { rows_per_file, rows_per_group, partition_by }
    }

    /// Whether there may be several files.
    pub fn has_files(&self) -> bool {
        self.rows_per_file.is_some() || self.partition_by.is_some()
    }
}

/// A value of the column by which rows are divided.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    column: Arc<str>,
    /// None for rows without a value.
    value: Option<Arc<str>>,
}

impl Partition {
    /// The name of its folder. Bytes that names of files cannot have, or that other programs expect to be escaped, are
    /// written as `%` and two digits.
    ///
    /// ```
    /// # use lanefish::jobs::Partition;
    /// assert_eq!(Partition::new("result", Some("1/2-1/2")).folder(), "result=1%2F2-1%2F2");
    /// assert_eq!(Partition::new("eco", None).folder(), "eco=__HIVE_DEFAULT_PARTITION__");
    /// ```
    pub fn folder(&self) -> String {
        let Some(value) = &self.value else { return format!("{}=__HIVE_DEFAULT_PARTITION__", self.column) };
        let mut folder = format!("{}=", self.column);
        for letter in value.chars() {
            if letter.is_ascii_control() || "\"#%'*/:=?\\{}[]^<>|".contains(letter) {
                folder += &format!("%{:02X}", u32::from(letter));
            } else {
                folder.push(letter);
            }
        }
        folder
    }

    /// A value of a column; `None` for rows without one.
    pub fn new(column: &str, value: Option<&str>) -> Self {
        Self { column: column.into(), value: value.map(Arc::from) }
    }
}

/// Where the first `rows` rows of a text end, and their number, which is smaller if the text has fewer. `has_quotes`: values may
/// have line feeds between quotation marks, as those of CSV.
pub(super) fn end_of_rows(text: &[u8], rows: u64, has_quotes: bool) -> (usize, u64) {
    let (mut found, mut is_quoted) = (0, false);
    if found == rows {
        return (0, 0);
    }
    for at in memchr::memchr2_iter(b'\n', b'"', text) {
        if text[at] == b'"' {
            is_quoted = has_quotes && !is_quoted;
        } else if !is_quoted {
            found += 1;
            if found == rows {
                return (at + 1, rows);
            }
        }
    }
    (text.len(), found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_at_line_feeds_outside_of_values() {
        let text = b"a,\"b\nc\",d\n\"x\"\"\n\",1\n,\n";
        assert_eq!(end_of_rows(text, 0, true), (0, 0));
        assert_eq!(end_of_rows(text, 1, true), (10, 1));
        assert_eq!(end_of_rows(text, 2, true), (19, 2));
        assert_eq!(end_of_rows(text, 3, true), (21, 3));
        assert_eq!(end_of_rows(text, 4, true), (21, 3));
        assert_eq!(end_of_rows(b"", 4, true), (0, 0));
        assert_eq!(end_of_rows(b"{\"a\":\"\\\"\"}\n{}\n", 1, false), (11, 1));
    }
}
