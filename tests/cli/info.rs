//! `info` and `--version`.

use super::{Dir, json, lanefish, output, sample, stderr_of};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// The texts of a list.
fn list(facts: &Value, key: &str) -> BTreeSet<String> {
    let values = facts[key].as_array().unwrap().iter();
    values.map(|value| value.as_str().unwrap().to_owned()).collect()
}

#[test]
pub(super) fn the_cpu() {
    let info = json(0, &["info", "--json"]);
    for key in ["version", "cpu", "features", "tiers", "tier", "why"] {
        assert!(!info[key].is_null(), "{key}");
    }
    let text = output(0, &["info"]);
    assert!(text.lines().any(|line| line.starts_with("tier: ")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("why: ")), "{text}");
    let text = output(0, &["info", "--tier", "portable"]);
    assert!(text.contains("tier: portable\n") && text.contains("requested"), "{text}");
}

/// What the variable hides, nothing sees.
#[test]
fn a_level_hides_what_the_cpu_has_beyond_it() {
    let info = |level: &str, more: &[&str]| {
        let mut command = lanefish(&[&["info", "--json"], more].concat());
        command.env("LANEFISH_CPU", level);
        command.assert()
    };
    let facts =
        |level: &str| -> Value { serde_json::from_slice(&info(level, &[]).success().get_output().stdout).unwrap() };
    let whole = facts("");
    let own = list(&whole, "features");
    let bmi2 = ["popcnt", "lzcnt", "bmi1", "bmi2"];
    let wide = ["avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"];
    for (level, known, tiers) in [
        ("x86-64", vec![], 1),
        ("bmi2", bmi2.to_vec(), 2),
        ("avx2", [&bmi2[..], &["avx2"]].concat(), 3),
        ("avx512", [&bmi2[..], &["avx2"], &wide].concat(), 4),
    ] {
        let facts = facts(level);
        let known: BTreeSet<String> = known.into_iter().map(str::to_owned).collect();
        let shown = list(&facts, "features");
        assert_eq!(shown, own.intersection(&known).cloned().collect(), "{level}");
        let both: BTreeSet<String> = shown.union(&list(&facts, "missing")).cloned().collect();
        assert_eq!(both, &own | &list(&whole, "missing"), "{level}");
        for used in list(&facts, "uses") {
            assert!(shown.contains(&used), "{level}: {used}");
        }
        let all = ["portable", "bmi2", "avx2", "avx512"];
        let own = list(&whole, "tiers");
        for (number, tier) in all.into_iter().enumerate() {
            let runs = number < tiers && own.contains(tier);
            assert_eq!(list(&facts, "tiers").contains(tier), runs, "{level}: {tier}");
            let status = if runs { 0 } else { 2 };
            info(level, &["--tier", tier]).code(status);
        }
    }
    let wrong = info("i486", &[]).code(2);
    let stderr = String::from_utf8_lossy(&wrong.get_output().stderr).into_owned();
    assert!(stderr.contains("LANEFISH_CPU") && stderr.contains("i486") && stderr.contains("bmi2"), "{stderr}");
}

/// Nothing in the process finds a feature that the requested tier does not use; the CPU is described as it is.
#[test]
pub(super) fn a_tier_disables_what_it_does_not_use() {
    // The environment may ask for another tier.
    let whole = json(0, &["info", "--json", "--tier", "auto"]);
    assert!(list(&whole, "disabled").is_empty(), "{whole}");
    for tier in list(&whole, "tiers") {
        let facts = json(0, &["info", "--json", "--tier", &tier]);
        for key in ["features", "missing", "tiers"] {
            assert_eq!(facts[key], whole[key], "{tier}: {key}");
        }
        let mut remaining = &list(&facts, "features") - &list(&facts, "disabled");
        // Some of it, the CPU may lack.
        let used: &[&str] = match &*tier {
            "portable" => &[],
            "bmi2" => &["popcnt", "lzcnt", "bmi1", "bmi2"],
            "avx2" => {
                remaining.remove("gfni");
                &["popcnt", "lzcnt", "bmi1", "bmi2", "avx2"]
            }
            _ => {
                remaining.retain(|feature| !feature.starts_with("avx512") && feature != "gfni");
                &["popcnt", "lzcnt", "bmi1", "bmi2", "avx2"]
            }
        };
        assert_eq!(remaining, used.iter().copied().map(str::to_owned).collect(), "{tier}");
    }
    // All tiers are compared.
    let facts = json(0, &["info", "--calibrate", "--json", "--tier", "portable"]);
    assert!(list(&facts, "disabled").is_empty(), "{facts}");
    let candidates = facts["calibration"]["candidates"].as_array().unwrap();
    let available = candidates.iter().filter(|candidate| candidate["available"] == true);
    let tiers: BTreeSet<String> = available.filter_map(|one| one["tier"].as_str().map(str::to_owned)).collect();
    assert_eq!(tiers, list(&whole, "tiers"));
}

#[test]
pub(super) fn calibration() {
    let info = json(0, &["info", "--calibrate", "--json"]);
    let calibration = &info["calibration"];
    for candidate in calibration["candidates"].as_array().unwrap() {
        assert_eq!(candidate["available"], candidate["verified"], "{candidate}");
        let rate = candidate["positions_per_second"].as_f64();
        assert_eq!(candidate["available"], rate.is_some(), "{candidate}");
    }
    assert!(calibration["tier"]["chosen"].is_string());
    assert!(calibration["tier"]["holds"].is_boolean());
    let text = output(0, &["info", "--calibrate"]);
    assert!(text.contains("choice of tier: ") && text.contains("  portable  lanes "), "{text}");
    let verdict = text.lines().find(|line| line.starts_with("choice of tier: ")).unwrap();
    assert!(
        ["nothing is faster here", "equal within noise", "set LANEFISH_TIER="]
            .iter()
            .any(|words| verdict.contains(words)),
        "{verdict}"
    );
    stderr_of(2, &["info", "--calibrate", &sample("famous.epd")]);
}

#[test]
pub(super) fn files() {
    let text = output(0, &["info", &sample("sample.boards")]);
    assert!(text.lines().any(|line| line == "format: boards"), "{text}");
    assert!(text.lines().any(|line| line == "records: 4,098"), "{text}");
    let info = json(0, &["info", "--json", &sample("sample.boards")]);
    assert_eq!(info["format"], "boards");
    assert_eq!(info["records"], 4098);
    assert_eq!(info["columns"].as_array().unwrap()[0], "boards");
    let text = output(0, &["info", &sample("famous.epd")]);
    assert!(text.contains("format: epd\n") && text.contains("records: 426\n"), "{text}");
    let both = output(0, &["info", "--json", &sample("famous.epd"), &sample("sample.boards")]);
    assert_eq!(both.lines().count(), 2);
}

/// It reads no records, so it takes no longer for a large file: a damaged one has the same facts.
#[test]
fn info_is_immediate() {
    let dir = Dir::new();
    let good = fs::read(sample("sample.boards")).unwrap();
    let facts = |bytes: &[u8]| output(0, &["info", &dir.file("a.boards", bytes)]);
    let expected = facts(&good);
    let mut damaged = good.clone();
    damaged[good.len() / 2] ^= 0xFF;
    assert_eq!(facts(&damaged), expected);
    assert!(output(1, &["verify", &dir.name("a.boards")]).contains("does not match its checksum"));
}

#[test]
fn files_without_information() {
    let dir = Dir::new();
    stderr_of(2, &["info", &dir.name("missing")]);
    assert!(stderr_of(2, &["info", &dir.name("")]).contains("directory"));
    stderr_of(2, &["info", &dir.file("noise.bin", [0u8, 1, 2, 255, 0, 9])]);
}

#[test]
pub(super) fn version() {
    let version = format!("lanefish {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(output(0, &["--version"]), version);
    assert_eq!(output(0, &["-V"]), version);
    let more = output(0, &["--version", "-v"]);
    assert!(more.starts_with(&version) && more.contains("\ntier: ") && more.contains("\nwhy: "), "{more}");
}

/// Programs that use the library do not check the variable: a level that does not exist hides everything.
#[test]
fn a_level_that_does_not_exist_hides_everything() {
    const VARIABLE: &str = lanefish_core::cpu::LEVEL;
    if std::env::var_os(VARIABLE).is_some_and(|level| level == "avx1024") {
        let names: Vec<&str> = lanefish::tiers::Tier::available().map(|tier| tier.name()).collect();
        println!("tiers: {}", names.join(" "));
        return;
    }
    // This test again, in a process with the variable, under the emulator that the program itself may need.
    let own = lanefish(&[]);
    let mut words: Vec<std::ffi::OsString> =
        std::iter::once(own.get_program()).chain(own.get_args()).map(Into::into).collect();
    *words.last_mut().unwrap() = std::env::current_exe().unwrap().into();
    let name = "cli::info::a_level_that_does_not_exist_hides_everything";
    let mut command = std::process::Command::new(&words[0]);
    let done =
        command.args(&words[1..]).args(["--exact", name, "--nocapture"]).env(VARIABLE, "avx1024").output().unwrap();
    let stdout = String::from_utf8(done.stdout).unwrap();
    assert!(stdout.contains("tiers: portable\n"), "{stdout}");
}

#[test]
pub(super) fn the_build_says_what_it_has() {
    let facts = json(0, &["info", "--json"]);
    let [with, without] = ["built_with", "built_without"].map(|key| list(&facts, key));
    let all = ["parquet", "sql", "cluster"].map(str::to_owned);
    assert_eq!(&with | &without, all.into_iter().collect());
    assert!(with.is_disjoint(&without));
    assert_eq!(with.contains("parquet"), cfg!(feature = "parquet"));
    assert!(output(0, &["--version", "-v"]).contains("\nbuilt_with: "));
}

#[cfg(feature = "parquet")]
#[test]
fn tables_say_how_they_are_compressed() {
    let dir = Dir::new();
    let of = |name: &str, more: &[&str]| {
        let file = dir.name(name);
        output(0, &[&["-q", "compute", "-o", &file, &sample("sample.epd")], more].concat());
        json(0, &["info", "--json", &file])["compression"].as_str().unwrap().to_owned()
    };
    assert_eq!(of("z.parquet", &[]), "zstd");
    assert_eq!(of("s.parquet", &["--compression", "snappy"]), "snappy");
    assert_eq!(of("n.parquet", &["--compression", "none"]), "none");
    assert_eq!(of("x.arrow", &[]), "none");
}
