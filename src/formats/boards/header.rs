//! The header section: it states how long blocks are, and which columns they may have.

use super::column::{ColumnInfo, MOST_RECORDS, check_kind, columns_in, kind_name};
use super::section::{HEADER_LEN, OLD_HEADER_LEN, SectionHeader, u16_at};
use super::{ENTRY_LEN, UNIT};

/// The columns that a header section lists, or what is wrong with it although its checksum matches.
pub(super) fn read_header(section: &[u8], header: &SectionHeader) -> Result<Vec<ColumnInfo>, String> {
    if ![OLD_HEADER_LEN, HEADER_LEN].contains(&section.len()) {
        let len = section.len();
        return Err(format!("a header section of {len} bytes, not {OLD_HEADER_LEN} or {HEADER_LEN}"));
    }
    if header.first != 0 || header.count != 0 {
        return Err("a header with records before it or inside it".to_owned());
    }
    let block_len = header.block_len();
    if !(1..=MOST_RECORDS).contains(&block_len) {
        return Err(format!("blocks of {block_len} records; from 1 to {MOST_RECORDS} are possible"));
    }
    let count = header.columns as usize;
    let most = columns_in(section.len());
    if count > most {
        return Err(format!("a header with {count} columns; at most {most} are possible"));
    }
    let mut columns: Vec<ColumnInfo> = Vec::with_capacity(count);
    for entry in &section[UNIT..].as_chunks::<ENTRY_LEN>().0[..count] {
        let id = u16_at(entry, 0);
        if columns.iter().any(|column| column.id == id) {
            return Err(format!("the header lists column {id} twice"));
        }
        check_kind(id, entry[2])?;
        let name = std::str::from_utf8(&entry[8..])
            .ok()
            .map(|name| name.trim_end_matches('\0'))
            .filter(|name| !name.is_empty() && !name.contains(char::is_control))
            .ok_or_else(|| format!("the name of column {id} is invalid"))?;
        columns.push(ColumnInfo { id, name: name.to_owned(), kind: kind_name(entry[2]) });
    }
    Ok(columns)
}
