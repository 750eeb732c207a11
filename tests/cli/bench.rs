//! `bench`: rows, their fields, and that their results agree. Times are not checked.

use super::{json, lanefish, output, sample, stderr_of};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Too short to measure anything, long enough to run everything.
const AN_INSTANT: &str = "0.0001";

#[test]
fn slider_rows_have_all_fields_and_agree() {
    let report = json(0, &["bench", "sliders", "--json", "--seconds", AN_INSTANT]);
    assert!(report["version"].is_string() && report["cpu"].is_string());
    let mut names = BTreeSet::new();
    let mut queries = BTreeSet::new();
    let mut checksums: HashMap<(String, String), Value> = HashMap::new();
    for row in report["rows"].as_array().unwrap() {
        let text = |key: &str| row[key].as_str().expect(key).to_owned();
        names.insert(text("name"));
        assert_eq!(text("group"), "sliders");
        assert!(["intrinsic", "portable"].contains(&&*text("kind")));
        assert!(row["needs"].is_array() && row["table_bytes"].is_u64());
        queries.insert((text("source"), text("piece")));
        if row["available"] == false {
            assert!(row["ns_per_query"].is_null() && row["checksum"].is_null());
            assert_ne!(row["needs"], Value::Array(Vec::new()), "{row}");
            continue;
        }
        assert_eq!(row["verified"], true, "{row}");
        assert!(row["ns_per_query"].as_f64().unwrap() > 0.0);
        assert!(row["queries_per_second"].as_f64().unwrap() > 0.0);
        let checksum = checksums.entry((text("source"), text("piece"))).or_insert_with(|| row["checksum"].clone());
        assert_eq!(*checksum, row["checksum"], "{row}");
    }
    assert!(names.len() >= 20, "{names:?}");
    assert_eq!(queries.len(), 9);
}

#[test]
fn kernel_rows_have_all_fields_and_agree() {
    let report = json(0, &["bench", "kernels", "--json", "--seconds", AN_INSTANT]);
    let mut queries = BTreeSet::new();
    let mut checksums: HashMap<String, Value> = HashMap::new();
    for row in report["rows"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap().to_owned();
        assert_eq!(row["group"], "kernels");
        assert!(row["needs"].is_array() && row["kind"].is_string());
        if let Some(tier) = row["tier"].as_str() {
            queries.insert((tier.to_owned(), name.clone()));
        }
        if row["available"] == false {
            assert!(row["positions_per_second"].is_null(), "{row}");
            continue;
        }
        assert_eq!(row["verified"], true, "{row}");
        for rate in ["positions_per_second", "ns_per_position", "ratio_to_portable"] {
            assert!(row[rate].as_f64().unwrap() > 0.0, "{row}");
        }
        let checksum = checksums.entry(name).or_insert_with(|| row["checksum"].clone());
        assert_eq!(*checksum, row["checksum"], "{row}");
    }
    // Four tiers, six queries.
    assert_eq!((queries.len(), checksums.len()), (24, 6));
}

#[test]
fn decode_and_scan_rows_are_verified() {
    let own = ["bench", "decode", "scan", "--seconds", AN_INSTANT];
    let report = json(0, &[&own[..], &["--json"]].concat());
    let mut names = Vec::new();
    for row in report["rows"].as_array().unwrap() {
        assert_eq!(row["verified"], true, "{row}");
        assert!(row["positions_per_second"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["bytes_per_second"].as_f64().unwrap() > 0.0, "{row}");
        names.push(row["name"].as_str().unwrap().to_owned());
    }
    let decode = ["fen", "pgn", "boards", "pack", "unpack", "write_fen"];
    let scan = ["sum", "checksum", "legal_count"];
    assert_eq!(names, [&decode[..], &scan, &scan].concat());
    let table = output(0, &own);
    assert!(table.contains("write_fen") && table.contains("memory, 256.0 MiB"), "{table}");
}

#[test]
fn filter_input_and_tables() {
    let famous = sample("famous.epd");
    let own = ["bench", "--seconds", AN_INSTANT, "--filter", "kogge-stone"];
    let table = output(0, &[&own[..], &["--input", &famous]].concat());
    assert!(table.contains("kogge-stone") && !table.contains("pext") && !table.contains("Kernels"), "{table}");
    assert!(table.contains("checksums"), "{table}");
    let markdown = output(0, &[&own[..], &["--markdown", "--threads", "2"]].concat());
    assert!(markdown.contains("| kogge-stone") && markdown.contains("|--"), "{markdown}");
}

#[test]
fn a_filter_without_matches_is_an_error_that_lists_all_titles() {
    let stderr = stderr_of(2, &["bench", "--filter", "no such row"]);
    for name in [
        "no such row",
        "sliders/{",
        "pext-compressed",
        "kernels/{decode,",
        "decode/{fen,",
        "scan/{sum,",
        "{cache,memory}",
    ] {
        assert!(stderr.contains(name), "{stderr}");
    }
    let stderr = stderr_of(2, &["bench", "decode", "--filter", "pext"]);
    assert!(stderr.contains("decode/{fen,") && !stderr.contains("sliders"), "{stderr}");
}

/// Titles are listed before anything is measured: a row missing from the list could not be requested.
#[test]
fn every_row_can_be_filtered_by_its_title() {
    let report = json(0, &["bench", "--json", "--seconds", AN_INSTANT]);
    let rows = report["rows"].as_array().unwrap();
    let stderr = stderr_of(2, &["bench", "--filter", "no such row"]);
    let mut expected = 0;
    // As many titles are listed as there are rows.
    for group in stderr.split("the titles are ").nth(1).unwrap().split(", ") {
        let parts = group.trim().split('/').skip(1);
        let counts = parts.map(|part| part.matches(',').count() + 1);
        expected += counts.product::<usize>();
    }
    assert_eq!(rows.len(), expected, "{stderr}");
    for row in rows {
        let name = row["name"].as_str().unwrap();
        assert!(stderr.contains(name), "{name}: {stderr}");
    }
}

#[test]
fn tables_fit_a_terminal() {
    let whole = output(0, &["bench", "--seconds", AN_INSTANT]);
    // Where much is missing, lines are longest.
    let mut plain = lanefish(&["bench", "sliders", "kernels", "--seconds", AN_INSTANT]);
    let plain = plain.env("LANEFISH_CPU", "x86-64").assert().success();
    let plain = String::from_utf8(plain.get_output().stdout.clone()).unwrap();
    assert!(plain.contains("AVX-512 BITALG (missing)"), "{plain}");
    for table in [whole, plain] {
        // The first line names the CPU and may be of any length.
        for line in table.lines().skip(1) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(table.contains("AVX-512") && table.contains("BMI2"), "{table}");
        assert!(!table.contains("avx512f"), "{table}");
    }
}

#[test]
fn wrong_arguments() {
    for seconds in ["0", "-1", "NaN", "1e9"] {
        let stderr = stderr_of(2, &["bench", &format!("--seconds={seconds}")]);
        assert!(stderr.contains("seconds"), "{stderr}");
    }
    stderr_of(2, &["bench", "no-such-group"]);
    stderr_of(2, &["bench", "--input", "no/such/file"]);
}
