//! `bench`: rows, their fields, and that their results agree. Times are not checked.

use super::levels::shown;
use super::{Dir, json, lanefish, output, sample, stderr_of};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::sync::{Arc, Mutex, OnceLock};

/// Too short to measure anything, long enough to run everything.
const AN_INSTANT: &str = "0.0001";

/// The size of generated files in MB: without optimisation all groups take long with more.
const SMALL: &str = "0.05";

/// A run of all groups.
struct Whole {
    table: String,
    report: Value,
}

impl Whole {
    fn rows(&self, groups: &[&str]) -> Vec<&Value> {
        let rows = self.report["rows"].as_array().unwrap();
        rows.iter().filter(|row| groups.contains(&row["group"].as_str().unwrap())).collect()
    }
}

const OF_WHOLE: [&str; 7] = ["bench", "--size", SMALL, "--seconds", AN_INSTANT, "--threads", "2"];

/// The run of all groups on the CPU that this thread shows, which several tests look at: it takes long.
fn whole() -> Arc<Whole> {
    type Run = Arc<OnceLock<Option<Arc<Whole>>>>;
    static RUNS: Mutex<BTreeMap<Option<&str>, Run>> = Mutex::new(BTreeMap::new());
    let run = Arc::clone(RUNS.lock().unwrap().entry(shown()).or_default());
    let make = || {
        let dir = Dir::new();
        let file = dir.name("a.json");
        let done = lanefish(&[&OF_WHOLE[..], &["--save", &file]].concat()).output().unwrap();
        if !done.status.success() {
            eprintln!("{done:?}");
            return None;
        }
        let report = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        Some(Arc::new(Whole { table: String::from_utf8(done.stdout).unwrap(), report }))
    };
    // A run that failed fails in all of them, and is not repeated.
    Arc::clone(run.get_or_init(make).as_ref().expect("a run of all groups"))
}

#[test]
pub(super) fn slider_rows_have_all_fields_and_agree() {
    let whole = whole();
    let report = &whole.report;
    assert!(report["version"].is_string() && report["cpu"].is_string());
    let mut names = BTreeSet::new();
    let mut queries = BTreeSet::new();
    let mut checksums: HashMap<(String, String), Value> = HashMap::new();
    for row in whole.rows(&["sliders"]) {
        let text = |key: &str| row[key].as_str().expect(key).to_owned();
        names.insert(text("name"));
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
pub(super) fn kernel_rows_have_all_fields_and_agree() {
    let whole = whole();
    let mut queries = BTreeSet::new();
    let mut checksums: HashMap<String, Value> = HashMap::new();
    for row in whole.rows(&["kernels"]) {
        let name = row["name"].as_str().unwrap().to_owned();
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
pub(super) fn decode_and_scan_rows_are_verified() {
    let whole = whole();
    let mut names = Vec::new();
    for row in whole.rows(&["decode", "scan"]) {
        let name = row["name"].as_str().unwrap();
        // Not every CPU has the lanes.
        if row["available"] == true || !name.contains("_avx") {
            assert_eq!(row["verified"], true, "{row}");
            assert!(row["positions_per_second"].as_f64().unwrap() > 0.0, "{row}");
            assert!(row["bytes_per_second"].as_f64().unwrap() > 0.0, "{row}");
        }
        names.push(name.to_owned());
    }
    let mut decode = vec!["fen", "pgn", "boards", "pgn_scan", "pgn_words", "pgn_replay"];
    decode.extend(["pgn_words_portable", "pgn_replay_portable"]);
    #[cfg(target_arch = "x86_64")]
    {
        decode.extend(["pgn_scan_avx2", "pgn_words_avx2", "pgn_replay_avx2"]);
        decode.extend(["pgn_scan_avx512", "pgn_words_avx512", "pgn_replay_avx512"]);
    }
    decode.extend(["pack", "unpack", "write_fen"]);
    let scan = ["sum", "checksum", "legal_count"];
    assert_eq!(names, [&decode[..], &scan, &scan].concat());
    let table = &whole.table;
    assert!(table.contains("write_fen") && table.contains("memory, 256.0 MiB"), "{table}");
}

#[test]
pub(super) fn pipeline_rows_have_shares_and_speedups() {
    let dir = Dir::new();
    let file = dir.name("a.json");
    let own = ["bench", "pipeline", "--size", SMALL, "--seconds", AN_INSTANT, "--threads", "2"];
    let whole = whole();
    let rows = whole.rows(&["pipeline"]);
    let mut titles = Vec::new();
    for &row in &rows {
        let (name, threads) = (row["name"].as_str().unwrap(), row["threads"].as_u64().unwrap());
        assert_eq!((&row["group"], &row["verified"]), (&"pipeline".into(), &true.into()), "{row}");
        assert!(row["tier"].is_string() && row["positions"].as_u64().unwrap() > 0, "{row}");
        for rate in ["positions_per_second", "ns_per_position", "bytes_per_second", "share_of_kernel"] {
            assert!(row[rate].as_f64().unwrap() > 0.0, "{rate}: {row}");
        }
        assert_eq!(row["speedup"].is_f64(), threads == 2, "{row}");
        assert_eq!(row["share_of_stats"].is_f64(), name.starts_with("convert-"), "{row}");
        let same = rows.iter().find(|other| other["name"] == name).unwrap();
        assert_eq!(same["checksum"], row["checksum"]);
        titles.push(format!("{name}/{threads}"));
    }
    assert_eq!((titles.len(), &*titles[2], &*titles[13]), (14, "stats-boards/1", "convert-fen-to-boards/2"));

    let mut earlier = whole.report.clone();
    earlier["rows"].as_array_mut().unwrap().retain(|row| row["group"] == "pipeline");
    fs::write(&file, earlier.to_string()).unwrap();
    let filter = ["--filter", "pipeline/stats-pgn/all", "--compare", &file];
    let text = output(0, &[&own[..], &filter].concat());
    assert!(text.contains("Pipeline: ") && text.contains("13 rows were measured only in the earlier run"), "{text}");
    assert!(!text.contains("threads of the pipeline were"), "{text}");
    // The default of the other groups does not apply.
    assert!(!text.lines().next().unwrap().contains("thread"), "{text}");

    let other =
        ["bench", "pipeline", "--size", SMALL, "--seconds", AN_INSTANT, "--threads", "3", "--filter", "fen/all"];
    let text = output(0, &[&other[..], &["--compare", &file]].concat());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("All threads of the pipeline were 2 before and are 3 now."), "{text}");
}

#[test]
fn the_pipeline_of_one_thread_has_no_duplicates_and_a_verdict() {
    let own = ["bench", "pipeline", "--size", SMALL, "--seconds", AN_INSTANT, "--threads", "1"];
    let text = output(0, &own);
    assert_eq!(text.lines().filter(|line| line.starts_with("stats-") || line.starts_with("convert-")).count(), 6);
    assert!(text.contains("Verdict on the pipeline:"), "{text}");
    let markdown = output(0, &[&own[..], &["--markdown", "--filter=-boards/1"]].concat());
    assert!(markdown.contains("| stats-boards "), "{markdown}");
    let stderr = stderr_of(2, &["bench", "pipeline", "--threads", "1", "--filter", "/all"]);
    assert!(stderr.contains("pipeline/{kernel,stats-boards,") && stderr.contains("/{1}"), "{stderr}");
    let stderr = stderr_of(2, &["bench", "pipeline", "--threads", "2", "--filter", "no such row"]);
    assert!(stderr.contains("/{1,all}"), "{stderr}");
}

#[test]
pub(super) fn filter_input_and_tables() {
    let famous = sample("famous.epd");
    let own = ["bench", "--seconds", AN_INSTANT, "--filter", "kogge-stone"];
    let table = output(0, &[&own[..], &["--input", &famous]].concat());
    assert!(table.contains("kogge-stone") && !table.contains("pext") && !table.contains("Kernels"), "{table}");
    assert!(table.contains("checksums"), "{table}");
    let markdown = output(0, &[&own[..], &["--markdown", "--threads", "2"]].concat());
    assert!(markdown.contains("| kogge-stone") && markdown.contains("|--"), "{markdown}");
}

#[test]
pub(super) fn a_filter_without_matches_is_an_error_that_lists_all_titles() {
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
pub(super) fn every_row_can_be_filtered_by_its_title() {
    let whole = whole();
    let rows = whole.report["rows"].as_array().unwrap();
    let stderr = stderr_of(2, &[&OF_WHOLE[..], &["--filter", "no such row"]].concat());
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
pub(super) fn tables_fit_a_terminal() {
    let whole = whole();
    let table = &whole.table;
    // The first line names the CPU and may be of any length. Where much is missing, lines are longest.
    for line in table.lines().skip(1) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(table.contains("AVX-512") && table.contains("BMI2"), "{table}");
    assert!(!table.contains("avx512f"), "{table}");
    assert!(table.contains("AVX-512 BITALG (missing)") || shown() != Some("x86-64"), "{table}");
    assert!(table.contains("Verdict on the pipeline:"), "{table}");
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

/// Few rows that are soon measured.
const FEW: [&str; 6] = ["bench", "sliders", "--seconds", AN_INSTANT, "--filter", "magic-plain/"];

#[test]
pub(super) fn a_saved_run_is_the_object_of_json() {
    let dir = Dir::new();
    let file = dir.name("a.json");
    let printed = output(0, &[&FEW[..], &["--json", "--save", &file]].concat());
    assert!(printed == fs::read_to_string(&file).unwrap());
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap()["rows"].as_array().unwrap().len(), 9);
    // An existing file is refused before anything is measured.
    let stderr = stderr_of(2, &["bench", "--save", &file]);
    assert!(stderr.contains("--force"), "{stderr}");
    let table = output(0, &[&FEW[..], &["--save", &file, "--force"]].concat());
    assert!(table.contains("Verdict by the mean of rook, bishop and queen"), "{table}");
    assert!(fs::read_to_string(&file).unwrap() != printed);
    assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 1);
}

#[test]
pub(super) fn an_earlier_run_is_compared_row_by_row() {
    let dir = Dir::new();
    let file = dir.name("a.json");
    output(0, &[&FEW[..], &["--save", &file]].concat());
    let mut report: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    // Of nine rows one was a thousand times faster, one is missing, and one was not reliable.
    let rows = report["rows"].as_array_mut().unwrap();
    for (number, spread) in [(0, 0.0), (2, 0.9)] {
        rows[number]["spread"] = spread.into();
    }
    let nanoseconds = rows[0]["ns_per_query"].as_f64().unwrap();
    rows[0]["ns_per_query"] = (nanoseconds / 1000.0).into();
    rows.pop();
    report["threads"] = 7.into();
    let other = dir.file("other.json", report.to_string());

    let compared = json(0, &[&FEW[..], &["--json", "--compare", &other]].concat());
    assert_eq!(compared["rows"].as_array().unwrap().len(), 9);
    let compared = &compared["compared"];
    assert_eq!(compared["before"]["threads"], 7);
    let rows = compared["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0]["title"], "sliders/magic-plain/rook/random");
    assert!(rows[0]["ratio"].as_f64().unwrap() > 100.0, "{}", rows[0]);
    let unreliable = rows.iter().find(|row| row["title"] == "sliders/magic-plain/queen/random").unwrap();
    assert_eq!((&unreliable["reliable"], &unreliable["changed"]), (&false.into(), &false.into()));
    assert_eq!(compared["only_now"], serde_json::json!(["sliders/magic-plain/queen/pressure"]));

    let text = output(0, &[&FEW[..], &["--compare", &other]].concat());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["Since ", " did not change beyond the noise.", "1 row was measured only in this run: sliders/magic"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("The number of threads was another one: 7 before, 1 now."), "{text}");
    let markdown = output(0, &[&FEW[..], &["--markdown", "--compare", &other]].concat());
    assert!(markdown.contains("Since ") && markdown.contains("measured only in this run"), "{markdown}");
}

#[test]
pub(super) fn all_groups_can_be_compared() {
    let dir = Dir::new();
    // `commands` takes long, and needs no instruction that a CPU may lack.
    let last = if shown().is_some() { &["decode"][..] } else { &["decode", "commands"] };
    let groups = [&["kernels", "--filter", "checkers/"], &["scan", "--filter", "sum/cache"], last];
    for (number, groups) in groups.into_iter().enumerate() {
        let file = dir.name(&format!("{number}.json"));
        let own = [&["bench", "--size", SMALL, "--seconds", AN_INSTANT, "--json"], groups].concat();
        let report = json(0, &[&own[..], &["--save", &file]].concat());
        let available = report["rows"].as_array().unwrap().iter().filter(|row| row["available"] == true).count();
        let compared = json(0, &[&own[..], &["--compare", &file]].concat());
        assert_eq!(compared["compared"]["rows"].as_array().unwrap().len(), available);
        for key in ["remarks", "only_before", "only_now"] {
            assert_eq!(compared["compared"][key], serde_json::json!([]), "{groups:?}, {key}");
        }
    }
}

#[test]
fn what_cannot_be_saved_or_compared_is_an_error() {
    let dir = Dir::new();
    for (name, content) in [("text", "so"), ("object", "{}"), ("rows", "{\"version\":\"1\",\"rows\":[1]}")] {
        let file = dir.file(name, content);
        let stderr = stderr_of(2, &["bench", "--compare", &file]);
        assert!(stderr.contains("is not a run that bench --save has written"), "{stderr}");
    }
    let stderr = stderr_of(2, &["bench", "--compare", &dir.name("nothing")]);
    assert!(stderr.contains("nothing"), "{stderr}");
    let stderr = stderr_of(2, &["bench", "--save", "-"]);
    assert!(stderr.contains("--json prints the same"), "{stderr}");
    // The earlier run is not replaced by the one compared with it.
    let file = dir.name("a.json");
    output(0, &[&FEW[..], &["--save", &file]].concat());
    let stderr = stderr_of(2, &["bench", "--compare", &file, "--save", &file, "--force"]);
    assert!(stderr.contains("cannot also be an output"), "{stderr}");
}

#[test]
pub(super) fn progress_has_the_row_and_the_time_left() {
    let stderr = stderr_of(0, &[&FEW[..], &["--progress", "always"]].concat());
    assert!(stderr.contains("row 1 of 9: sliders, rook, random  0:0") && stderr.contains(" left"), "{stderr}");
    assert_eq!(stderr_of(0, &FEW), "");
}

#[test]
pub(super) fn lanes_stand_apart() {
    let table = output(0, &["bench", "sliders", "--seconds", AN_INSTANT, "--filter", "portable/queen/real"]);
    assert!(table.contains("Sliders, eight squares at once, real") && !table.contains("one square"), "{table}");
    let table = output(0, &["bench", "sliders", "--seconds", AN_INSTANT, "--filter", "queen/real"]);
    let (one, eight) = table.split_once("Sliders, eight squares at once, real").unwrap();
    assert!(one.contains("kogge-stone") && !one.contains("lanes-"), "{table}");
    assert!(eight.contains("lanes-fill-portable") && eight.contains("Verdict for the queen:"), "{table}");
}
