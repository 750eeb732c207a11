//! `--features list`: the sets of inputs of networks, with their sizes and sources.

use crate::cli::stats::text::tables::{RULED, right};
use anyhow::Result;
use comfy_table::{Cell, Table};
use lanefish::table::feature_parts;
use lanefish_core::text::numbers::grouped;
use serde_json::json;

/// Prints the sets, as a table or as a JSON array.
pub(super) fn print(json: bool) -> Result<u8> {
    if json {
        let parts = feature_parts().map(|part| {
            let (name, inputs, most) = (part.name, part.size, part.most_active);
            format!("  {}", json!({ "name": name, "inputs": inputs, "most_active": most, "source": part.source }))
        });
        let lines: Vec<String> = parts.collect();
        crate::cli::print(format!("[\n{}\n]\n", lines.join(",\n")).as_bytes())?;
        return Ok(0);
    }
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(["set", "inputs", "active", "source"]);
    for part in feature_parts() {
        let inputs = part.size.map_or("by name".to_owned(), |size| grouped(size.into()));
        table.add_row([Cell::new(part.name), right(inputs), right(part.most_active), Cell::new(part.source)]);
    }
    let text = format!(
        "{}\n\nactive: the largest number in a position of a game. Sets are joined by +; planes are sets of squares, and are not counted.\n",
        table.trim_fmt()
    );
    crate::cli::print(text.as_bytes())?;
    Ok(0)
}
