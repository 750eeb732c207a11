//! `data/stats.schema.json` has the plain numbers of a report.

use lanefish::report::{MoveCounts, Number, PositionCounts};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;

/// Adds the numbers that are missing behind those before them.
fn complete(object: &mut Value, before: &str, numbers: &[Number]) {
    let mut last = before.to_owned();
    for number in numbers {
        let key = number.json_key;
        let properties = object["properties"].as_object_mut().unwrap();
        if !properties.contains_key(key) {
            let mut longer = Map::new();
            for (name, value) in std::mem::take(properties) {
                let is_last = name == last;
                longer.insert(name, value);
                if is_last {
                    let meaning = number.meaning.trim();
                    longer.insert(key.to_owned(), json!({ "$ref": "#/$defs/count", "description": meaning }));
                }
            }
            *properties = longer;
        }
        let required = object["required"].as_array_mut().unwrap();
        if !required.iter().any(|name| name == key) {
            let at = required.iter().position(|name| *name == *last).expect("the number before");
            required.insert(at + 1, json!(key));
        }
        last = key.to_owned();
    }
}

#[test]
fn schema_has_all_numbers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/stats.schema.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    let (whole, group) = ("", "/$defs/stats");
    for place in [whole, group] {
        let object = schema.pointer_mut(place).unwrap();
        complete(object, "stm", PositionCounts::NUMBERS);
        complete(object, "legal_moves", MoveCounts::NUMBERS);
    }
    let expected = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if text != expected && std::env::var_os("LANEFISH_UPDATE_SCHEMA").is_some() {
        return fs::write(path, expected).unwrap();
    }
    assert_eq!(text, expected, "LANEFISH_UPDATE_SCHEMA=1 cargo test schema_has_all_numbers writes it");
}
