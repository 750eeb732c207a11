//! `--list-columns`: the columns that a command can write, with type and meaning.

use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use lanefish::table::ColumnFamily;
use serde_json::json;

/// A column of a list.
pub(crate) struct ListedColumn<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) meaning: &'a str,
    /// Whether it is written unless other columns are chosen.
    pub(crate) is_default: bool,
}

/// Prints the columns, as a table or as a JSON array. The last entries stand for all columns of families.
pub(crate) fn print<'a>(
    columns: impl Iterator<Item = ListedColumn<'a>>,
    families: &[&'static ColumnFamily],
    json: bool,
) -> Result<u8> {
    let of_families = families.iter().map(|family| ListedColumn {
        name: family.pattern,
        kind: family.kind.name(),
        meaning: family.meaning,
        is_default: false,
    });
    let columns = columns.chain(of_families);
    if json {
        let columns: Vec<String> = columns
            .map(|ListedColumn { name, kind, meaning, is_default }| {
                let object = json!({ "name": name, "type": kind, "meaning": meaning, "default": is_default });
                format!("  {object}")
            })
            .collect();
        super::print(format!("[\n{}\n]\n", columns.join(",\n")).as_bytes())?;
        return Ok(0);
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(["column", "type", "meaning"]);
    for column in columns {
        table.add_row([column.name, column.kind, column.meaning]);
    }
    super::print(format!("{table}\n").as_bytes())?;
    Ok(0)
}
