//! This run and an earlier one, row by row. Both are the JSON of `--json`, so that files of any version can be read.

use super::noise::Time;
use super::table_layout::{Lines, number, wrapped};
use crate::cli::measure::pipeline::label;
use anyhow::{Context, Result};
use lanefish::Error;
use lanefish_core::text::numbers::counted;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Titles of rows that are in one of the runs only, as long as they are few.
const FEW: usize = 3;

/// Rows whose median ratio is shown: about as many as the smallest groups have together.
const ENOUGH: usize = 20;

/// A run of `bench`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Saved {
    version: String,
    cpu: String,
    threads: u64,
    seconds: f64,
    /// All threads of the pipeline, if it was measured.
    pipeline_threads: Option<usize>,
    rows: Vec<SavedRow>,
}

/// A row that was measured.
#[derive(Clone, Debug, PartialEq)]
struct SavedRow {
    title: String,
    time: Time,
    checksum: String,
}

impl Saved {
    /// Reads a file that `--save` has written, or `--json`.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|source| Error::Open { path: Arc::from(path), source })?;
        let not = || format!("{} is not a run that bench --save has written", path.display());
        let value = serde_json::from_slice(&bytes).with_context(not)?;
        Self::of(&value).with_context(not)
    }

    /// The run in the JSON of `--json`; an error names what is missing.
    pub(super) fn of(object: &Value) -> Result<Self> {
        let missing = |key: &str| format!("`{key}` is missing or wrong");
        let text = |key: &str| object[key].as_str().map(str::to_owned).with_context(|| missing(key));
        let rows = object["rows"].as_array().with_context(|| missing("rows"))?;
        let pipeline_threads = rows.iter().filter(|row| row["group"] == "pipeline").filter_map(threads_of).max();
        let rows = rows.iter().enumerate().map(|(number, row)| {
            let what = || format!("row {} is not a row of bench", number + 1);
            // Rows that the CPU could not run have no time.
            let title = title(row).with_context(what)?;
            let ns = if row["group"] == "sliders" { "ns_per_query" } else { "ns_per_position" };
            if row[ns].is_null() && row["available"] == false {
                return Ok(None);
            }
            let positive = |key: &str| row[key].as_f64().filter(|&number| number > 0.0);
            let nanoseconds = positive(ns).with_context(what)?;
            let spread = row["spread"].as_f64().with_context(what)?;
            let checksum = row["checksum"].as_str().with_context(what)?.to_owned();
            Ok(Some(SavedRow { title, time: Time { nanoseconds, spread }, checksum }))
        });
        Ok(Self {
            version: text("version")?,
            cpu: text("cpu")?,
            threads: object["threads"].as_u64().with_context(|| missing("threads"))?,
            seconds: object["seconds"].as_f64().with_context(|| missing("seconds"))?,
            pipeline_threads,
            rows: rows.filter_map(Result::transpose).collect::<Result<_>>()?,
        })
    }
}

/// The number of threads of a row of the pipeline, from its JSON.
fn threads_of(row: &Value) -> Option<usize> {
    usize::try_from(row["threads"].as_u64()?).ok()
}

/// The title of a row, from its JSON.
fn title(row: &Value) -> Option<String> {
    let text = |key: &str| row[key].as_str();
    let (group, name) = (text("group")?, text("name")?);
    let rest = match group {
        "sliders" => format!("/{}/{}", text("piece")?, text("source")?),
        "kernels" => format!("/{}", text("tier").or(text("algorithm"))?),
        "scan" => format!("/{}", text("place")?),
        "pipeline" => format!("/{}", label(threads_of(row)?)),
        _ => String::new(),
    };
    Some(format!("{group}/{name}{rest}"))
}

/// A row in both runs.
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    title: String,
    before: Time,
    now: Time,
}

impl Pair {
    /// How many times longer it takes now.
    fn ratio(&self) -> f64 {
        self.now.nanoseconds / self.before.nanoseconds
    }

    /// How far the ratio is from 1, in either direction.
    fn change(&self) -> f64 {
        self.ratio().ln().abs()
    }

    fn is_reliable(&self) -> bool {
        self.before.is_reliable() && self.now.is_reliable()
    }

    fn has_changed(&self) -> bool {
        self.is_reliable() && self.now.differs_between_runs(self.before)
    }
}

/// Two runs.
#[derive(Clone, Debug)]
pub(super) struct Compared<'a> {
    before: &'a Saved,
    /// Differences between the runs that make the times less comparable, or not at all.
    remarks: Vec<String>,
    /// The largest change first.
    pairs: Vec<Pair>,
    only_before: Vec<&'a str>,
    only_now: Vec<&'a str>,
}

impl<'a> Compared<'a> {
    pub(super) fn between(before: &'a Saved, now: &'a Saved) -> Self {
        let times: HashMap<&str, &SavedRow> = before.rows.iter().map(|row| (&*row.title, row)).collect();
        let mut compared = Self {
            before,
            remarks: remarks(before, now),
            pairs: Vec::new(),
            only_before: Vec::new(),
            only_now: Vec::new(),
        };
        let (mut found, mut other_results) = (HashMap::new(), 0);
        for row in &now.rows {
            let Some(earlier) = times.get(&*row.title) else {
                compared.only_now.push(&row.title);
                continue;
            };
            found.insert(&*row.title, ());
            other_results += u64::from(earlier.checksum != row.checksum);
            compared.pairs.push(Pair { title: row.title.clone(), before: earlier.time, now: row.time });
        }
        let titles = before.rows.iter().map(|row| &*row.title);
        compared.only_before = titles.filter(|title| !found.contains_key(title)).collect();
        if other_results > 0 {
            let verb = if other_results == 1 { "has another checksum" } else { "have other checksums" };
            compared.remarks.push(format!(
                "{} {verb} than before: the runs had other positions or sizes, or the results have changed",
                counted(other_results, "row")
            ));
        }
        // The sort is stable: rows with equal changes stay in their order.
        compared.pairs.sort_by(|a, b| b.change().total_cmp(&a.change()));
        compared
    }

    /// The table of changes, and sentences.
    pub(super) fn text(&self, file: &Path, markdown: bool) -> String {
        let changed: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.has_changed()).collect();
        let mut text = String::new();
        if !changed.is_empty() {
            let nanoseconds = |time: Time| {
                let decimals = if time.nanoseconds < 100.0 { 2 } else { 0 };
                number(Some(time.nanoseconds), decimals)
            };
            let line = |pair: &&Pair| {
                vec![pair.title.clone(), nanoseconds(pair.before), nanoseconds(pair.now), number(Some(pair.ratio()), 2)]
            };
            let table = Lines {
                title: format!("Rows that changed since {}: nanoseconds; a ratio below 1 is faster", file.display()),
                about: Vec::new(),
                header: ["row", "before", "now", "ratio"].map(str::to_owned).to_vec(),
                lines: changed.iter().map(line).collect(),
                numbers: 1..4,
            };
            text.push_str(&table.render(markdown));
            text.push('\n');
        }
        for sentence in self.sentences(&changed, file) {
            text.push_str(&wrapped(&sentence, markdown));
        }
        text
    }

    /// The median of the ratios of reliable rows; of few rows it says nothing.
    fn median_ratio(&self) -> Option<f64> {
        let mut ratios: Vec<f64> = self.pairs.iter().filter(|pair| pair.is_reliable()).map(Pair::ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        (ratios.len() >= ENOUGH).then(|| ratios[ratios.len() / 2])
    }

    fn sentences(&self, changed: &[&Pair], file: &Path) -> Vec<String> {
        let faster = changed.iter().filter(|pair| pair.ratio() < 1.0).count();
        let unreliable = self.pairs.iter().filter(|pair| !pair.is_reliable()).count();
        let rows = |count: usize| counted(count as u64, "row");
        let mut sentences = vec![format!(
            "Since {}, {} became faster and {} slower; {} did not change beyond the noise.",
            file.display(),
            rows(faster),
            rows(changed.len() - faster),
            rows(self.pairs.len() - changed.len() - unreliable)
        )];
        if let Some(median) = self.median_ratio() {
            sentences.push(format!(
                "The median ratio of all rows is {median:.2}; a ratio that nearly all rows share is that of the \
                 machine, such as another frequency of the CPU."
            ));
        }
        if unreliable > 0 {
            let verb = if unreliable == 1 { "is" } else { "are" };
            sentences.push(format!("{} {verb} unreliable in one of the two runs.", rows(unreliable)));
        }
        for (titles, only) in [(&self.only_before, "the earlier run"), (&self.only_now, "this run")] {
            if !titles.is_empty() {
                let names = if titles.len() <= FEW { format!(": {}", titles.join(", ")) } else { String::new() };
                let verb = if titles.len() == 1 { "was" } else { "were" };
                sentences.push(format!("{} {verb} measured only in {only}{names}.", rows(titles.len())));
            }
        }
        sentences.extend(self.remarks.iter().map(|remark| format!("{remark}.")));
        sentences
    }

    /// The same for programs, with all rows.
    pub(super) fn json(&self, file: &Path) -> Value {
        let time = |time: Time| json!({ "ns": time.nanoseconds, "spread": time.spread });
        let pair = |pair: &Pair| {
            json!({
                "title": pair.title,
                "before": time(pair.before),
                "now": time(pair.now),
                "ratio": pair.ratio(),
                "reliable": pair.is_reliable(),
                "changed": pair.has_changed(),
            })
        };
        let Saved { version, cpu, threads, seconds, .. } = self.before;
        Value::Object(Map::from_iter([
            ("file".to_owned(), json!(file.display().to_string())),
            ("before".to_owned(), json!({ "version": version, "cpu": cpu, "threads": threads, "seconds": seconds })),
            ("remarks".to_owned(), json!(self.remarks)),
            ("median_ratio".to_owned(), json!(self.median_ratio())),
            ("rows".to_owned(), self.pairs.iter().map(pair).collect()),
            ("only_before".to_owned(), json!(self.only_before)),
            ("only_now".to_owned(), json!(self.only_now)),
        ]))
    }
}

/// What was different about the whole run.
fn remarks(before: &Saved, now: &Saved) -> Vec<String> {
    let mut remarks = Vec::new();
    if before.cpu != now.cpu {
        remarks.push(format!("The CPU was another one: {} before, {} now", before.cpu, now.cpu));
    }
    if before.threads != now.threads {
        remarks.push(format!("The number of threads was another one: {} before, {} now", before.threads, now.threads));
    }
    if let (Some(before), Some(now)) = (before.pipeline_threads, now.pipeline_threads)
        && before != now
    {
        remarks.push(format!("All threads of the pipeline were {before} before and are {now} now"));
    }
    if before.seconds != now.seconds {
        remarks.push(format!("--seconds was another one: {} before, {} now", before.seconds, now.seconds));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::json;
    use super::super::ranking::tests::{row, rows};
    use super::*;
    use crate::cli::measure::scan::Place;
    use crate::cli::measure::{Row, Subject};
    use crate::cli::measure::{slider_queries::SliderPiece, sliders::Source};
    use lanefish::tiers::Tier;

    fn saved(rows: &[Row]) -> Saved {
        Saved::of(&Value::Object(json::object(rows, 1, 0.2))).unwrap()
    }

    fn text(before: &Saved, now: &Saved) -> String {
        Compared::between(before, now).text(Path::new("a.json"), false)
    }

    #[test]
    fn titles_are_those_of_the_rows() {
        let example = row("pext", SliderPiece::Queen, Source::Real, None);
        let subjects = [
            ("sliders", example.subject.clone()),
            ("kernels", Subject::Kernel { tier: Some(Tier::PORTABLE), algorithm: "lanes" }),
            ("kernels", Subject::Kernel { tier: None, algorithm: "magic" }),
            ("decode", Subject::Decode { bytes_per_position: 1.0 }),
            ("scan", Subject::Scan { place: Place::Cache, tier: None, bytes: 1 }),
            ("commands", Subject::Command { bytes_per_position: 1.0 }),
            ("pipeline", Subject::Pipeline { tier: Tier::PORTABLE, threads: 1, positions: 1, bytes_per_position: 1.0 }),
            ("pipeline", Subject::Pipeline { tier: Tier::PORTABLE, threads: 8, positions: 1, bytes_per_position: 1.0 }),
        ];
        for (group, subject) in subjects {
            let row = Row { group, subject, ..example.clone() };
            let rows = [row.clone()];
            assert_eq!(title(&json::value(&row, &rows)), Some(row.title()));
        }
    }

    #[test]
    fn changes_are_sorted_and_the_rest_is_counted() {
        let before = rows(Source::Real, &[("pext", 1.0), ("magic", 2.0), ("first", 3.0), ("gone", 1.0)]);
        let mut now = rows(Source::Real, &[("pext", 1.5), ("magic", 2.01), ("first", 1.0), ("new", 1.0)]);
        // Of `first`, the bishop.
        now[6].measured.as_mut().unwrap().timing.spread = 0.9;
        let text = text(&saved(&before), &saved(&now));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("Rows that changed since a.json"), "{text}");
        let shown: Vec<Vec<&str>> = lines[3..8].iter().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            shown,
            [
                ["sliders/first/rook/real", "3.00", "1.00", "0.33"],
                ["sliders/first/queen/real", "3.00", "1.00", "0.33"],
                ["sliders/pext/rook/real", "1.00", "1.50", "1.50"],
                ["sliders/pext/bishop/real", "1.00", "1.50", "1.50"],
                ["sliders/pext/queen/real", "1.00", "1.50", "1.50"],
            ]
        );
        for sentence in [
            "Since a.json, 2 rows became faster and 3 rows slower; 3 rows did not change\n",
            "1 row is unreliable in one of the two runs.",
            "3 rows were measured only in the earlier run: sliders/gone/rook/real,",
            "3 rows were measured only in this run: sliders/new/rook/real,",
        ] {
            assert!(text.contains(sentence), "{sentence}\n{text}");
        }
    }

    #[test]
    fn other_circumstances_are_remarked() {
        let mut before = saved(&rows(Source::Real, &[("pext", 1.0)]));
        let same = text(&before, &before);
        assert_eq!(
            same,
            "Since a.json, 0 rows became faster and 0 rows slower; 3 rows did not change\nbeyond the noise.\n"
        );
        let mut now = before.clone();
        (now.cpu, now.threads, now.seconds) = ("6502".to_owned(), 8, 0.5);
        (before.pipeline_threads, now.pipeline_threads) = (Some(2), Some(4));
        now.rows[0].checksum = "0x2".to_owned();
        let other = text(&before, &now);
        for part in [
            "6502 now.",
            "threads was another one: 1 before, 8 now.",
            "All threads of the pipeline were 2 before and",
            "--seconds was",
            "1 row has another",
        ] {
            assert!(other.contains(part), "{part}\n{other}");
        }
    }

    #[test]
    fn the_median_ratio_shows_a_change_of_the_machine() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let [before, now] = [1.0, 1.04].map(|time| saved(&rows(Source::Real, &names.map(|name| (name, time)))));
        let all = text(&before, &now);
        assert!(all.contains("0 rows slower") && all.contains("The median ratio of all rows is 1.04"), "{all}");
        let compared = Compared::between(&before, &now).json(Path::new("a.json"));
        assert_eq!(compared["median_ratio"], 1.04);
    }

    #[test]
    fn what_is_not_a_run_is_an_error() {
        let mut object = json::object(&rows(Source::Real, &[("pext", 1.0)]), 1, 0.2);
        for (key, value) in [("cpu", json!(1)), ("threads", json!("x")), ("rows", json!([{ "group": "sliders" }]))] {
            let old = object.insert(key.to_owned(), value).unwrap();
            assert!(Saved::of(&Value::Object(object.clone())).is_err(), "{key}");
            object.insert(key.to_owned(), old);
        }
        Saved::of(&Value::Object(object)).unwrap();
        for other in [json!([]), json!(1), json!({})] {
            Saved::of(&other).unwrap_err();
        }
    }

    #[test]
    fn rows_that_the_cpu_cannot_run_are_not_compared() {
        let before = rows(Source::Real, &[("pext", 1.0)]);
        let now = vec![row("pext", SliderPiece::Queen, Source::Real, None)];
        let (before, now) = (saved(&before), saved(&now));
        let compared = Compared::between(&before, &now);
        assert!(compared.pairs.is_empty() && compared.only_before.len() == 3 && compared.only_now.is_empty());
        let json = Compared::between(&before, &before).json(Path::new("a.json"));
        assert_eq!(json["rows"][0]["ratio"], 1.0);
        assert_eq!(json["rows"][0]["changed"], false);
    }
}
