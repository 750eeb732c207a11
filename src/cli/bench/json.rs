//! A run as JSON.

use super::PACKED_BYTES;
use crate::cli::measure::{Row, Subject};
use lanefish::tiers::Tier;
use lanefish_core::cpu;
use serde_json::{Map, Value, json};

/// The whole run; `seconds` is the time of a row.
pub(super) fn object(rows: &[Row], threads: usize, seconds: f64) -> Map<String, Value> {
    Map::from_iter([
        ("version".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
        ("cpu".to_owned(), json!(cpu::model())),
        ("threads".to_owned(), json!(threads)),
        ("seconds".to_owned(), json!(seconds)),
        ("rows".to_owned(), rows.iter().map(|row| value(row, rows)).collect()),
    ])
}

/// A row; `rows` are those it is compared with.
pub(super) fn value(row: &Row, rows: &[Row]) -> Value {
    let measured = row.measured;
    let timing = measured.map(|measured| measured.timing);
    let nanoseconds = json!(timing.map(|timing| timing.nanoseconds));
    let per_second = timing.map(|timing| timing.per_second);
    let checksum = measured.map(|measured| format!("{:#018x}", measured.checksum));
    let verified = measured.is_some_and(|measured| measured.verified);

    let mut object = Map::new();
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    put("group", json!(row.group));
    put("name", json!(row.name));
    put("kind", json!(row.kind.to_string()));
    put("needs", json!(row.needs));
    put("available", json!(measured.is_some()));
    put("verified", json!(verified));
    put("checksum", json!(checksum));
    match &row.subject {
        Subject::Slider { piece, source, table_bytes } => {
            put("piece", json!(piece.to_string()));
            put("source", json!(source.to_string()));
            put("ns_per_query", nanoseconds);
            put("queries_per_second", json!(per_second));
            put("table_bytes", json!(table_bytes));
        }
        Subject::Kernel { tier, algorithm } => {
            put("tier", json!(tier.map(Tier::name)));
            put("algorithm", json!(algorithm));
            put("ns_per_position", nanoseconds);
            put("positions_per_second", json!(per_second));
            put("ratio_to_portable", json!(row.ratio_to_portable(rows)));
        }
        Subject::Decode { bytes_per_position } | Subject::Command { bytes_per_position } => {
            let bytes = per_second.map(|positions| positions * bytes_per_position);
            put("ns_per_position", nanoseconds);
            put("positions_per_second", json!(per_second));
            put("bytes_per_position", json!(bytes_per_position));
            put("bytes_per_second", json!(bytes));
        }
        Subject::Scan { place, tier, bytes } => {
            put("place", json!(place.to_string()));
            put("tier", json!(tier.map(Tier::name)));
            put("bytes", json!(bytes));
            put("ns_per_position", nanoseconds);
            put("positions_per_second", json!(per_second));
            put("bytes_per_second", json!(per_second.map(|positions| positions * PACKED_BYTES)));
        }
        Subject::Pipeline { tier, threads, positions, bytes_per_position } => {
            put("tier", json!(tier.name()));
            put("threads", json!(threads));
            put("positions", json!(positions));
            put("ns_per_position", nanoseconds);
            put("positions_per_second", json!(per_second));
            put("bytes_per_position", json!(bytes_per_position));
            put("bytes_per_second", json!(per_second.map(|positions| positions * bytes_per_position)));
            put("share_of_kernel", json!(row.share_of_kernel(rows)));
            put("share_of_stats", json!(row.share_of_stats(rows)));
            put("speedup", json!(row.speedup(rows)));
        }
    }
    put("spread", json!(timing.map(|timing| timing.spread)));
    put("samples", json!(timing.map(|timing| timing.samples)));
    put("ratio_to_fastest", json!(row.ratio_to_fastest(rows)));
    Value::Object(object)
}
