//! `--list-columns`: the columns that a command can write, with type and meaning.

use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use lanefish::table::{ColumnFamily, Subject};
use serde_json::json;

/// A column of a list.
#[derive(Clone)]
pub(crate) struct ListedColumn<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) meaning: &'a str,
    /// What its values describe, if that is not the same for all columns.
    pub(crate) subject: Option<Subject>,
    /// Whether it is written unless other columns are chosen.
    pub(crate) is_default: bool,
}

/// Prints the columns, as a table or as a JSON array. The last entries stand for all columns of families.
pub(crate) fn print(columns: &[ListedColumn<'_>], families: &[&'static ColumnFamily], json: bool) -> Result<u8> {
    let subjects = columns.iter().any(|column| column.subject.is_some());
    let of_families = families.iter().map(|family| ListedColumn {
        name: family.pattern,
        kind: family.kind.name(),
        meaning: family.meaning,
        subject: subjects.then_some(family.subject),
        is_default: false,
    });
    let columns = columns.iter().cloned().chain(of_families);
    if json {
        let columns: Vec<String> = columns
            .map(|ListedColumn { name, kind, meaning, subject, is_default }| {
                let mut object = json!({ "name": name, "type": kind, "meaning": meaning, "default": is_default });
                if let Some(subject) = subject {
                    object["of"] = json!(subject.name());
                }
                format!("  {object}")
            })
            .collect();
        crate::cli::print(format!("[\n{}\n]\n", columns.join(",\n")).as_bytes())?;
        return Ok(0);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(if subjects {
        vec!["column", "type", "of", "meaning"]
    } else {
        vec!["column", "type", "meaning"]
    });
    for ListedColumn { name, kind, meaning, subject, .. } in columns {
        table.add_row(match subject {
            Some(subject) => vec![name, kind, subject.name(), meaning],
            None => vec![name, kind, meaning],
        });
    }
    crate::cli::print(format!("{table}\n").as_bytes())?;
    Ok(0)
}
