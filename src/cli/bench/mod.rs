//! `bench`: intrinsics against portable code, side by side, on this CPU.

mod compare;
mod json;
mod noise;
mod pipeline;
mod ranking;
mod row_titles;
mod slider_tables;
mod slider_verdict;
mod table_layout;
mod tables;

use super::SOMETHING_WRONG;
use super::arguments::command_scope::{Examples, Reads, RunCommand, Scope};
use super::arguments::common_args::Reading;
use super::arguments::game_filter_args::GameFilterArgs;
use super::run::file_identity::Destination;
use super::run::invocation::{Invocation, RunOverrides};
use super::run::output::Output;
use crate::cli::measure::cli_commands::measure_commands;
use crate::cli::measure::decode::measure_decode;
use crate::cli::measure::kernels::measure_kernels;
use crate::cli::measure::pipeline::measure_pipeline;
use crate::cli::measure::scan::measure_scan;
use crate::cli::measure::sliders::measure_sliders;
use crate::cli::measure::{BenchOptions, Row, sample_positions};
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum, ValueHint};
use compare::{Compared, Saved};
use lanefish::chess::Position;
use lanefish::pipeline::Job;
use lanefish::table::{Needs, Tile};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Time every algorithm and tier that this CPU can run, and list those it cannot run
///
/// Every row is verified before it is timed. Times are medians of the least disturbed of several rounds, in
/// nanoseconds of one thread (`commands` and `pipeline`: of all threads together); the spread is half the distance
/// between the quartiles of all rounds. Rows whose spread is above 20 % are shown as unreliable: nothing else should
/// run on the machine. Without --threads, one thread works, and `pipeline` measures with one and with all cores.
///
/// Every row takes the time of --seconds or a little longer, so that `sliders` (288 rows) takes about a minute and all
/// groups (381 rows, 374 with one core) about half a minute more.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure [default: everything]
    #[arg(value_name = "GROUP")]
    groups: Vec<Group>,

    /// Take the positions from this file, of any supported format [default: 2,000 from Lichess games]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    input: Vec<PathBuf>,

    /// Time for each row, in seconds
    #[arg(long, value_name = "S", default_value_t = 0.2)]
    seconds: f64,

    /// Only rows whose title, such as sliders/pext/queen/real or kernels/pins/avx2, contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Size of the files that `commands` read, in MB (10^6 bytes); they are made in the directory for temporary files.
    /// `pipeline` reads PGN of this size, and FEN of four times and boards of eight times this size
    #[arg(long, value_name = "MB", default_value_t = 8.0)]
    size: f64,

    /// Print the tables as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// One JSON object with all rows
    #[arg(long)]
    json: bool,

    /// Also write the object of --json to this file, for a later --compare
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    save: Option<PathBuf>,

    /// Compare with an earlier run, from a file of --save: the rows that changed beyond the noise, the largest change
    /// first
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    compare: Option<PathBuf>,
}

/// The groups of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Slider attacks of one piece on one square, on `random` boards, on `real` ones, and under `pressure`:
    /// real ones while the L1 and L2 caches are full of other data
    Sliders,
    /// Bulk queries on positions, in every tier and in alternatives that no tier uses
    Kernels,
    /// From text and files to positions, and back
    Decode,
    /// Packed boards read from the cache and from memory: how close the kernels get to memory bandwidth
    Scan,
    /// Whole commands, from a generated file to results: `stats`, `compute`, `convert`
    Commands,
    /// The kernel alone, and how much of its speed `stats` and `convert` reach on generated files, with one thread and
    /// with all; a verdict says what is slower than it should be
    Pipeline,
}

/// Bytes of a packed board.
const PACKED_BYTES: f64 = (lanefish::packed::Group::BYTES / lanefish::packed::Group::LEN) as f64;

/// As many positions as are queried; more would not be used.
const MOST_POSITIONS: u64 = 100_000;

impl RunCommand for BenchArgs {
    const EXAMPLES: Examples = &[
        ("Everything, in about a minute and a half", "lanefish bench"),
        ("One algorithm, on positions of a file", "lanefish bench sliders --filter pext --input positions.epd"),
        ("What is slower than it should be on this machine", "lanefish bench pipeline"),
        ("As JSON, for other programs", "lanefish bench kernels --json > kernels.json"),
        ("Kept for a later comparison", "lanefish bench decode --save old.json"),
        ("What has changed since then", "lanefish bench decode --compare old.json"),
    ];
    const SCOPE: Scope = Scope { reads: Reads::With("input", "--input"), ..Scope::READS };

    fn compares_tiers(&self) -> bool {
        true
    }

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        ensure!(
            self.seconds > 0.0 && self.seconds <= 3600.0,
            "--seconds must be > 0 and at most 3600, got {}",
            self.seconds
        );
        ensure!(
            (0.01..=1_000_000.0).contains(&self.size),
            "--size must be at least 0.01 and at most 1000000, got {}",
            self.size
        );
        let options = BenchOptions {
            time: Duration::from_secs_f64(self.seconds),
            filter: self.filter.clone(),
            threads: invocation.global().threads.map_or(1, usize::from),
            size: (self.size * 1e6) as usize,
        };
        let with_all = BenchOptions { threads: invocation.threads, ..options.clone() };
        let all: Vec<Group> =
            if self.groups.is_empty() { Group::value_variants().to_vec() } else { self.groups.clone() };
        let filter = self.filter.as_deref().unwrap_or_default();
        let mut titles: Vec<String> = all.iter().flat_map(|&group| row_titles::of(group, invocation.threads)).collect();
        titles.retain(|title| title.contains(filter));
        ensure!(
            !titles.is_empty(),
            "--filter {filter}: no title contains this; the titles are {}",
            all.iter().map(|&group| row_titles::in_short(group, invocation.threads)).collect::<Vec<_>>().join(", ")
        );
        let before = self.compare.as_deref().map(Saved::read).transpose()?;
        let mut status = 0;
        let save = self.open_save(invocation)?;
        let positions =
            if self.input.is_empty() { sample_positions() } else { self.positions(invocation, &mut status)? };
        let mut rows = Vec::new();
        let phase = invocation.phase("preparing");
        let begin = Instant::now();
        let at = |done: usize| {
            if let Some(title) = titles.get(done) {
                let (row, of) = (done + 1, titles.len());
                let left = time_left(of, done, options.time, begin.elapsed());
                phase.set_with_left(format!("row {row} of {of}: {}", row_titles::together(title)), left);
            }
        };
        at(0);
        for group in all {
            let show = &mut |row: Row| {
                if invocation.verbose() {
                    invocation.note(format_args!("{}", row.title()));
                }
                rows.push(row);
                at(rows.len());
            };
            match group {
                Group::Sliders => measure_sliders(&options, &positions, show),
                Group::Kernels => measure_kernels(&options, &positions, show),
                Group::Decode => measure_decode(&options, &positions, show),
                Group::Scan => measure_scan(&options, &positions, invocation.analyzer, show),
                Group::Commands => measure_commands(&options, &positions, invocation.analyzer, show),
                Group::Pipeline => measure_pipeline(&with_all, &positions, invocation.analyzer, show),
            }?;
        }
        drop(phase);
        let faults = faults(&rows);
        for fault in &faults {
            invocation.note(format_args!("{fault}"));
        }
        if !faults.is_empty() {
            status = SOMETHING_WRONG;
        }
        let mut object = json::object(&rows, options.threads, self.seconds);
        let now;
        let mut compared = None;
        if let (Some(before), Some(file)) = (&before, &self.compare) {
            now = Saved::of(&Value::Object(object.clone()))?;
            let both = Compared::between(before, &now);
            object.insert("compared".to_owned(), both.json(file));
            compared = Some((both, file));
        }
        if let Some(mut save) = save {
            save.put(super::object_text(&object).as_bytes())?;
            invocation.commit([save])?;
        }
        if self.json {
            super::print_object(&object)?;
        } else {
            let mut text = tables::text(&rows, options.threads, self.markdown);
            if let Some((compared, file)) = compared {
                text.push('\n');
                text.push_str(&compared.text(file, self.markdown));
            }
            super::print(text.as_bytes())?;
        }
        Ok(status)
    }
}

impl BenchArgs {
    /// Opens the file of `--save`, so that nobody waits for minutes to learn that it cannot be written.
    fn open_save(&self, invocation: &Invocation<'_>) -> Result<Option<Output>> {
        let Some(path) = &self.save else {
            return Ok(None);
        };
        ensure!(
            Destination::of(Some(path)) != Destination::Stdout,
            "--save writes a file; --json prints the same on standard output"
        );
        let inputs: Vec<PathBuf> = self.input.iter().chain(&self.compare).cloned().collect();
        invocation.compare(Some(path), &inputs)?;
        invocation.open_beside(path).map(Some)
    }

    fn positions(&self, invocation: &Invocation<'_>, status: &mut u8) -> Result<Vec<Position>> {
        let reading =
            Reading { from: None, keep_en_passant: false, games: GameFilterArgs::default(), ..Reading::default() };
        let run = RunOverrides { limit: Some(MOST_POSITIONS), ..RunOverrides::default() };
        let mut positions = Vec::new();
        let read = invocation.read(&self.input, &reading, run, &Positions, |some| {
            positions.extend(some);
            Ok(())
        })?;
        *status = invocation.conclude(read)?;
        ensure!(!positions.is_empty(), "the input holds no valid position");
        Ok(positions)
    }
}

/// The time that the remaining rows take: each as long as those before, at first as long as `--seconds` says.
fn time_left(rows: usize, done: usize, seconds: Duration, elapsed: Duration) -> Duration {
    let each = if done == 0 { seconds } else { elapsed.div_f64(done as f64) };
    each.mul_f64((rows - done) as f64)
}

/// Collects positions.
struct Positions;

impl Job for Positions {
    type Part = Vec<Position>;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Vec<Position> {
        Vec::new()
    }
    fn tile(&self, positions: &mut Vec<Position>, tile: &Tile<'_>) {
        positions.extend(tile.records().map(|record| record.position()));
    }
}

/// Rows that were not verified, and rows whose checksum differs from that of the first one with the same query.
fn faults(rows: &[Row]) -> Vec<String> {
    let mut checksums = HashMap::new();
    let mut faults = Vec::new();
    for row in rows {
        let Some(measured) = row.measured else {
            continue;
        };
        if !measured.verified {
            faults.push(format!("{}: wrong results", row.title()));
        }
        let expected = *checksums.entry(row.query()).or_insert(measured.checksum);
        if measured.checksum != expected {
            faults.push(format!("{}: checksum differs", row.title()));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn help_names_the_number_of_rows() {
        let help = BenchArgs::augment_args(clap::Command::new("bench")).render_long_help().to_string();
        let all: usize = Group::value_variants().iter().map(|&group| row_titles::of(group, 2).len()).sum();
        let words: Vec<&str> = help.split_whitespace().collect();
        for rows in [row_titles::of(Group::Sliders, 2).len(), all] {
            assert!(words.contains(&&*format!("({rows}")), "{rows}: {help}");
        }
    }

    #[test]
    fn the_time_left_is_rows_times_seconds_and_then_what_is_measured() {
        let (seconds, ten) = (Duration::from_millis(200), Duration::from_secs(10));
        assert_eq!(time_left(300, 0, seconds, ten), Duration::from_secs(60));
        assert_eq!(time_left(300, 20, seconds, ten), Duration::from_secs(140));
        assert_eq!(time_left(20, 20, seconds, ten), Duration::ZERO);
    }
}
