//! `stats`: reports on datasets, for people, for programs, and for comparison.
//!
//! A report comes from reading positions, from merging the reports of earlier runs, or from a file with a report. The
//! code that shows it does not depend on its origin.

mod network_feature_listing;
#[cfg(feature = "cluster")]
mod on_cluster;
mod report_origin;
mod text;

use super::arguments::command_scope::{Examples, Reads, RunCommand, Scope};
use super::arguments::common_args::{ReadArgs, Reading};
use super::arguments::second_file_args::{SecondFileArgs, push_names_in, push_names_of};
use super::arguments::value_parsers;
use super::run::file_identity::Destination;
use super::run::invocation::{Invocation, RunOverrides, Timed};
use super::run::output::Output;
use super::run::output_directories::MadeDirectories;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};
use lanefish::Error;
use lanefish::jobs::{CompareLabels, GroupCounts, LabelComparison, Statistics};
use lanefish::pipeline::{self, BESIDE};
use lanefish::report::{Comparison, Report, csv, html, left_out_to_json, run_to_json};
use lanefish::stats::{GroupBy, LargestGroups, MOST_GROUPS, MOST_GROUPS_WITH_FEATURES};
use lanefish::table::FeatureSet;
use lanefish_core::text::numbers::{bytes, grouped, short};
use lanefish_core::text::one_line;
use report_origin::{command_line, left_out, now};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use text::{GroupFact, GroupOrder, Shown, Text};

/// Dataset statistics: legal moves, checks, mates, material, castling, heat maps, results
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    second: SecondFileArgs,

    /// One JSON object instead of the table
    #[arg(long)]
    json: bool,

    /// Show every distribution, and boards with heat maps
    ///
    /// Otherwise one screen has the numbers.
    #[arg(long, conflicts_with = "json")]
    full: bool,

    /// Also draw a heat map for each kind of piece
    #[arg(long, conflicts_with = "json")]
    maps: bool,

    /// Add statistics that take longer (implies --full)
    ///
    /// Distinct positions (estimated), kinds of material, joint distributions, squares of checkers and castling rooks,
    /// and, for games, their length, openings, ratings and time controls.
    #[arg(long)]
    details: bool,

    /// Write a page with plots, boards and remarks to this file
    ///
    /// A self-contained HTML file for screens, phones and paper. An earlier page is replaced. Implies --details.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,

    /// Also put the date and the speed of the run on the page, which is otherwise the same whenever it is made
    #[arg(long, requires = "html", hide_short_help = true)]
    dated: bool,

    /// Write one tidy CSV file per distribution to this directory
    ///
    /// One row per count; with --by, the first column is the group. Implies --details.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    csv: Option<PathBuf>,

    /// Add a report for each group of positions: phase, result, eco, ply/20, …
    ///
    /// Any column, name of --let or expression can be given; numbers are grouped into ranges of WIDTH. An expression with
    /// a slash or a comma stands in parentheses: (white_elo - black_elo)/100. Without a width, columns with many values use
    /// a default (ply/10, score/100, white_elo/100). Two columns (speed,result, or --by twice) make groups of both. Of
    /// more than 1,000 groups only the largest are counted separately; for that, the inputs are read twice.
    #[arg(
        long,
        value_name = "COLUMN[/WIDTH]",
        conflicts_with_all = ["merge", "compare"]
    )]
    by: Vec<String>,

    /// Count active inputs of a network: halfka_v2_hm, … (`list` names all)
    ///
    /// Two lists a position are counted, one for each side's view: which of the inputs of the set are seen, how often, and with
    /// which squares of the own king; with threats, also who attacks whom, and which pieces hang. Sets are joined by `+`. With
    /// --by, the tables of the groups that are shown are kept, at most 100, and all others are one. docs/network-features.md has
    /// more.
    #[arg(long, value_name = "SET", conflicts_with = "merge")]
    features: Option<String>,

    /// The columns of the table of groups: games, positions, share, white, draw, black, mean_moves, mean_elo, mean_cp, in_check, mates,
    /// captures, distribution
    ///
    /// Without it, all of them that are known, as far as they fit.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "by", hide_short_help = true)]
    show: Vec<GroupFact>,

    /// The order of the table of groups: one of its columns, or `group`, with :asc or :desc
    ///
    /// Without it, groups of numbers are in the order of these, and groups of texts by their games or positions, the
    /// largest first.
    #[arg(long, value_name = "COLUMN[:asc|:desc]", requires = "by", hide_short_help = true)]
    sort: Option<GroupOrder>,

    /// Number of groups that are shown: those with the most games or positions, or the first by --sort [default: 50]
    ///
    /// All others become one group. Without --top, pages show 250 groups, and --json and --csv have all of up to 1,000.
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..))]
    top: Option<u64>,

    /// Also count distinct positions exactly (implies --details)
    #[arg(long, hide_short_help = true, conflicts_with_all = ["merge", "compare"])]
    exact_distinct: bool,

    /// Merge the inputs, which are files written by --json
    ///
    /// For example, of the shards of a dataset: the result is identical to that of a single run. Exact numbers of
    /// distinct positions are left out, since the same position may be in several parts.
    #[arg(long, conflicts_with = "compare")]
    merge: bool,

    /// Compare the first input with each of the others
    ///
    /// What differs most stands in the first sentence, and what differs by no more than chance is only counted (--full shows
    /// it). Shares are shown with their difference in percentage points, distributions with their total variation distance:
    /// half the sum of the differences of all shares. Each comes with the largest difference that chance would give,
    /// and those furthest beyond chance come first. Implies --details. Inputs whose names end in .json are reports
    /// written by --json; those without details have no ratings or openings to compare.
    ///
    /// With --zip FILE, the scores and results of the records are compared with those of the records beside them instead.
    #[arg(long, conflicts_with_all = ["maps", "csv"])]
    compare: bool,

    /// Count on the cluster with this scheduler
    ///
    /// The result is identical to that of one process. The machines of the cluster must be able to read the inputs
    /// under the same names; lanefish cluster --help has more.
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["merge", "exact_distinct"])]
    cluster: Option<String>,

    #[cfg(feature = "cluster")]
    #[command(flatten)]
    tls: super::cluster::TlsArgs,
}

/// Number of groups that are shown.
const MOST_SHOWN: usize = 50;

/// The names of datasets that are compared.
const LETTERS: [&str; 26] = [
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W",
    "X", "Y", "Z",
];

/// A report, and where it comes from.
struct CountedReport {
    report: Report,
    games: u64,
    /// The `run` key.
    run: Map<String, Value>,
    /// The facts about the run for the page, if positions were read.
    page_run: Option<html::Run>,
    /// The speed, as text for people.
    speed: String,
    /// Where labels differ from those of a second file, if they are compared.
    labels: Option<LabelComparison>,
}

/// A report, and the comparison of labels if it is asked for.
type Counted = (Report, Option<LabelComparison>);

/// Where a report is written, in addition to standard output.
struct Files {
    page: Option<Output>,
    /// Directories that are removed again if nothing is written.
    _directories: MadeDirectories,
}

impl RunCommand for StatsArgs {
    const EXAMPLES: Examples = &[
        ("A report on a game dump", "lanefish stats games.pgn.zst"),
        ("A single number", "lanefish stats --json games.pgn.zst | jq .legal_moves.mean"),
        ("A page with plots, boards and remarks", "lanefish stats games.pgn.zst --html games.html"),
        ("One report per phase of the game", "lanefish stats --by phase games.pgn.zst"),
        ("Differences between two datasets", "lanefish stats --compare old.boards new.boards"),
        ("Where scores differ from those of another file", "lanefish stats a.boards --zip new.jsonl --compare"),
        (
            "A quarter of a dataset on each of four machines, and the merged report",
            "lanefish stats --json --shard 0/4 dump.pgn.zst > 0.json; lanefish stats --merge ?.json",
        ),
        ("Only strong players, without the opening", "lanefish stats --min-elo 2200 --skip-book 16 games.pgn.zst"),
    ];
    const SCOPE: Scope = Scope { reads: Reads::Without(&[("merge", "--merge")]), ignores: &[], ..Scope::READS };

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.features.as_deref() == Some("list") {
            return network_feature_listing::print(self.json);
        }
        self.features()?;
        if self.second.zip.is_some() && self.merge {
            bail!("--zip has records beside those of inputs, and --merge reads reports");
        }
        #[cfg(feature = "cluster")]
        if self.second.zip.is_some() && self.cluster.is_some() {
            bail!("--zip and --cluster: the machines of a cluster do not have the second file");
        }
        if self.compare && self.second.zip.is_some() && self.html.is_some() {
            bail!("--compare with --zip compares labels, and writes no page");
        }
        if self.compare && self.second.zip.is_none() {
            return self.run_comparison(invocation);
        }
        if self.merge {
            let made = self.merged(invocation)?;
            let files = self.open_files(invocation)?;
            self.tell(invocation, &made, files)?;
            if !self.json {
                invocation.note(format_args!("{}", made.speed));
            }
            return Ok(0);
        }
        let reading = &self.read.reading;
        if let Some(path) = self.read.inputs.iter().find(|path| is_report(path) && read_report(path).is_ok()) {
            bail!("{} is a report: --merge and --compare read reports", path.display());
        }
        self.read_second(invocation)?;
        self.grouped_by()?;
        invocation.prepare(&self.read.inputs, reading)?;
        let files = self.open_files(invocation)?;
        let (made, timed) = self.read(invocation, &self.read.inputs, reading)?;
        match &made {
            Some(made) if timed.failure.is_none() => self.tell(invocation, made, files)?,
            // A report of zeros would look like one of an empty dataset.
            Some(made) if timed.summary.records > 0 => self.show(invocation, made)?,
            _ => {}
        }
        let has_failed = timed.failure.is_some();
        let status = invocation.conclude(timed);
        for path in self.html.iter().chain(&self.csv).filter(|_| has_failed) {
            invocation.note(format_args!("{} was not written", path.display()));
        }
        let status = status?;
        if let Some(made) = made.filter(|_| !self.json) {
            invocation.note(format_args!("{}", made.speed));
        }
        Ok(status)
    }
}

impl StatsArgs {
    /// Reads the second file, if there is one.
    fn read_second(&self, invocation: &Invocation<'_>) -> Result<()> {
        let mut names = Vec::new();
        for by in &self.by {
            push_names_in(by, &mut names);
            let parts: Vec<&str> = by.split(',').map(|part| part.split('/').next().unwrap_or(part)).collect();
            push_names_of(&parts.join(","), &mut names);
        }
        if self.compare {
            push_names_of(&CompareLabels::COLUMNS.map(|name| format!("{BESIDE}{name}")).join(","), &mut names);
        }
        let read = (&self.read.inputs[..], &self.read.reading);
        invocation.read_second(&self.second, read, names, self.html.as_deref())
    }

    /// Shows datasets side by side: the first one, and each of the others.
    fn run_comparison(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let inputs = &self.read.inputs;
        if !(2..=LETTERS.len()).contains(&inputs.len()) {
            bail!("--compare needs 2 to {} inputs, got {}", LETTERS.len(), inputs.len());
        }
        if inputs.iter().all(|path| !is_report(path)) {
            // An error in the second input should not be found only after the first one has been read.
            invocation.prepare(inputs, &self.read.reading)?;
        }
        let Files { mut page, .. } = self.open_files(invocation)?;
        let mut made = Vec::new();
        let mut runs = Vec::new();
        for path in inputs {
            if is_report(path) {
                made.push(read_report(path)?);
                continue;
            }
            let one = std::slice::from_ref(path);
            invocation.prepare(one, &self.read.reading)?;
            let (counted, timed) = self.read(invocation, one, &self.read.reading)?;
            if timed.failure.is_some() {
                return invocation.conclude(timed);
            }
            made.extend(counted);
            runs.push(timed);
        }
        let Some((first, others)) = made.split_first() else {
            bail!("nothing to compare");
        };
        for (other, path) in others.iter().zip(&inputs[1..]) {
            check_features([(&first.report, &inputs[0]), (&other.report, path)], "compared")?;
        }
        let comparisons = others.iter().map(|other| Comparison::of(&first.report, &other.report));
        let comparisons: Vec<Comparison> = comparisons.collect();
        let names: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
        if self.json {
            let comparisons = comparisons.iter().zip(&names[1..]).map(|(comparison, name)| {
                let mut object = object(json!({ "a": names[0], "b": name }));
                object.extend(comparison.to_json());
                Value::Object(object)
            });
            super::print_object(&object(json!({
                "version": env!("CARGO_PKG_VERSION"),
                "comparisons": comparisons.collect::<Vec<_>>(),
                "run": { "command": command_line() },
            })))?;
        } else if page.is_none() {
            let mut out = String::new();
            let has_games = made.iter().all(|made| made.report.game_results.total() > 0);
            for ((letter, name), CountedReport { report, .. }) in LETTERS.iter().zip(&names).zip(&made) {
                let sizes = (report.positions, report.game_results.total());
                text::comparison::write_dataset(&mut out, [letter, &one_line::of(name)], sizes, invocation.style)?;
            }
            for (comparison, letter) in comparisons.iter().zip(&LETTERS[1..]) {
                let view = text::comparison::View { width: text::width(), is_full: self.full };
                text::comparison::write(&mut out, comparison, [LETTERS[0], letter], view)?;
            }
            text::comparison::write_legend(&mut out, has_games, invocation.style, text::width())?;
            super::print(out.as_bytes())?;
        }
        if let Some(page) = &mut page {
            let abouts = made.iter().zip(inputs).map(|(made, path)| self.about(made, std::slice::from_ref(path)));
            let abouts: Vec<html::About> = abouts.collect();
            page.put(html::comparison(&comparisons, &abouts).as_bytes())?;
        }
        let has_page = page.is_some();
        invocation.commit(page)?;
        if has_page && !self.json {
            self.say_written(&format!("comparison of {} datasets", made.len()))?;
        }
        let mut status = 0;
        for run in runs {
            status = status.max(invocation.conclude(run)?);
        }
        Ok(status)
    }

    /// Counts the positions of the inputs. There is no report if the run failed for a reason other than its input.
    fn read(
        &self,
        invocation: &Invocation<'_>,
        inputs: &[PathBuf],
        reading: &Reading,
    ) -> Result<(Option<CountedReport>, Timed)> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = super::cluster::connect(invocation, self.cluster.as_deref(), &self.tls)? {
            return self.read_on_cluster(invocation, inputs, reading, cluster);
        }
        let input = (inputs, reading);
        let (report, timed) = match self.count(invocation, input, self.features()?, None)? {
            (Some(Err(Error::TooManyGroups { .. })), _) if invocation.can_read_again(inputs, reading)? => {
                match self.features()? {
                    None => self.count_largest(invocation, input)?,
                    Some(set) => self.count_shown_with(set, invocation, input)?,
                }
            }
            counted => counted,
        };
        let Some((report, labels)) = report.transpose()? else { return Ok((None, timed)) };
        let Timed { summary, elapsed, .. } = &timed;
        let seconds = elapsed.as_secs_f64();
        let rate = summary.records as f64 / seconds;
        let tier = invocation.analyzer.tier().name();
        let threads = match invocation.threads {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        let mut run = run_to_json(invocation.analyzer.tier(), invocation.threads, *elapsed, summary);
        for (key, column) in game_columns(&self.read.reading) {
            run.insert(key.to_owned(), json!(column));
        }
        run.insert("command".to_owned(), json!(command_line()));
        let made = CountedReport {
            report,
            games: summary.games_taken,
            run,
            page_run: Some(html::Run {
                date: now(),
                tier: tier.to_owned(),
                threads: invocation.threads,
                seconds,
                rate,
                bytes: summary.bytes,
            }),
            speed: format!(
                "{seconds:.3} s, {} positions/s, {tier}, {threads}, {} read",
                short(rate),
                bytes(summary.bytes as f64),
            ),
            labels,
        };
        Ok((Some(made), timed))
    }

    /// Reads the inputs once. There is no report if the run failed for a reason other than its input.
    fn count(
        &self,
        invocation: &Invocation<'_>,
        (inputs, reading): (&[PathBuf], &Reading),
        features: Option<FeatureSet>,
        largest: Option<LargestGroups>,
    ) -> Result<(Option<Result<Counted, Error>>, Timed)> {
        let mut job = Statistics::new();
        let labels = reading.chosen.second().filter(|_| self.compare).and_then(CompareLabels::with);
        if let Some(labels) = labels.clone() {
            job = job.with_labels(labels);
        }
        if self.has_details() {
            job = job.with_details();
        }
        if let Some(set) = features {
            job = job.with_features(set);
        }
        if let Some(by) = self.grouped_by()? {
            job = job.grouped_by(by);
        }
        if let Some(largest) = largest {
            job = job.of_largest(largest);
        }
        if self.exact_distinct {
            job = job.with_exact_distinct(&reading.space.beside(None), invocation.threads)?;
        }
        let mut timed = invocation.read_by(inputs, reading, RunOverrides::default(), |inputs, options| {
            if invocation.global().input.shard.is_some() {
                job = std::mem::take(&mut job).of_a_part(inputs);
            }
            pipeline::run(inputs, options, &job, |part| job.add(part))
        })?;
        if matches!(timed.failure, Some(Error::TooManyGroups { .. })) {
            let failure = timed.failure.take();
            return Ok((failure.map(Err), timed));
        }
        // The records before the damaged part of an input count and are shown.
        if !timed.failure.as_ref().is_none_or(Error::is_of_input) {
            return Ok((None, timed));
        }
        let report = job.finish(timed.summary.rejected, reading.keep_en_passant);
        Ok((Some(report.map(|report| (report, labels.map(|labels| labels.found())))), timed))
    }

    /// Reads the inputs again: to find the largest groups, and to count these.
    fn count_largest(
        &self,
        invocation: &Invocation<'_>,
        input: (&[PathBuf], &Reading),
    ) -> Result<(Option<Result<Counted, Error>>, Timed)> {
        let largest = self.find_largest(invocation, input.0, input.1)?;
        self.count(invocation, input, None, Some(largest))
    }

    /// Reads the inputs again: to find the groups that are shown, and to count the inputs of a network in each of these.
    fn count_shown_with(
        &self,
        set: FeatureSet,
        invocation: &Invocation<'_>,
        input: (&[PathBuf], &Reading),
    ) -> Result<(Option<Result<Counted, Error>>, Timed)> {
        let most = MOST_GROUPS_WITH_FEATURES as u64;
        invocation.note(format_args!(
            "more than {most} groups: the inputs are read again, first to find the groups whose features are counted"
        ));
        let plain = match self.count(invocation, input, None, None)? {
            (Some(Err(Error::TooManyGroups { .. })), _) => {
                invocation.prepare_again(input.0, input.1)?;
                self.count_largest(invocation, input)?
            }
            counted => counted,
        };
        let (Some(Ok((report, _))), Timed { failure: None, .. }) = &plain else {
            return Ok(plain);
        };
        let shown = self.with_largest(report, Some(MOST_SHOWN));
        let groups = shown.groups.as_ref();
        let values = groups.into_iter().flat_map(|groups| groups.values.keys().cloned());
        let others = groups.and_then(|groups| groups.others.as_ref()).map_or(0, |others| others.groups);
        let largest = LargestGroups::new(values, others);
        invocation.prepare_again(input.0, input.1)?;
        self.count(invocation, input, Some(set), Some(largest))
    }

    /// Reads the inputs to find the largest groups.
    fn find_largest(
        &self,
        invocation: &Invocation<'_>,
        inputs: &[PathBuf],
        reading: &Reading,
    ) -> Result<LargestGroups> {
        let Some(by) = self.grouped_by()? else { return Ok(LargestGroups::default()) };
        invocation.note(format_args!(
            "more than {} groups by {by}: the inputs are read again, first to find the largest groups",
            grouped(MOST_GROUPS as u64)
        ));
        let counts = GroupCounts::new(by);
        let timed = invocation.read(inputs, reading, RunOverrides::default(), &counts, |part| counts.add(part))?;
        invocation.prepare_again(inputs, reading)?;
        match timed.failure {
            Some(failure) if !failure.is_of_input() => Err(failure.into()),
            // Which of them are shown is decided when their games are known.
            _ => Ok(counts.largest(MOST_GROUPS)?),
        }
    }

    /// Whether details are counted. Comparisons need them: ratings, openings and the like often differ first.
    fn has_details(&self) -> bool {
        let compares_datasets = self.compare && self.second.zip.is_none();
        self.details || compares_datasets || self.csv.is_some() || self.html.is_some()
    }

    /// The set of `--features`.
    fn features(&self) -> Result<Option<FeatureSet>> {
        let Some(name) = &self.features else { return Ok(None) };
        if let Some(top) = self.top.filter(|&top| top > MOST_GROUPS_WITH_FEATURES as u64) {
            bail!("--features counts at most {MOST_GROUPS_WITH_FEATURES} groups separately, and --top is {top}");
        }
        let set = FeatureSet::parse_indices(name);
        set.map(Some).map_err(|error| anyhow::anyhow!("--features: {error} (`stats --features list` explains them)"))
    }

    /// All columns of `--by`.
    fn grouped_by(&self) -> Result<Option<GroupBy>> {
        if self.by.is_empty() {
            return Ok(None);
        }
        let definitions = self.read.reading.chosen.definitions()?;
        let by = value_parsers::group_by(&self.by.join(","), &definitions)?;
        let shows_ratings = self.show.contains(&GroupFact::MeanElo);
        Ok(Some(by.with_ratings(shows_ratings)))
    }

    /// Merges the reports of earlier runs.
    fn merged(&self, invocation: &Invocation<'_>) -> Result<CountedReport> {
        let mut inputs = self.read.inputs.iter();
        let Some(first) = inputs.next() else {
            bail!("--merge: name files written by stats --json");
        };
        let CountedReport { mut report, mut games, run, .. } = read_report(first)?;
        let mut all_left_out = left_out(&run);
        let mut all_run = object(json!({}));
        all_run.extend(GAME_COLUMNS.iter().filter_map(|&key| Some((key.to_owned(), run.get(key)?.clone()))));
        let has_exact = |report: &Report| {
            let details = report.details.as_ref();
            details.is_some_and(|details| details.exact_distinct.is_some())
        };
        let mut exact = has_exact(&report);
        let mut count = 1;
        for path in inputs {
            let CountedReport { report: next, games: more, run, .. } = read_report(path)?;
            if let Some(key) = GAME_COLUMNS.iter().find(|&&key| all_run.get(key) != run.get(key)) {
                bail!(
                    "{} and {} were made from other columns of games (--{}); only parts of one run can be merged",
                    first.display(),
                    path.display(),
                    key.replace('_', "-")
                );
            }
            if report.details.is_some() != next.details.is_some() {
                let (with, without) = match next.details {
                    Some(_) => (path, first),
                    None => (first, path),
                };
                bail!(
                    "{} was counted with --details and {} without; only reports of one kind can be merged",
                    with.display(),
                    without.display()
                );
            }
            let by = |report: &Report| report.groups.as_ref().map(|groups| groups.by.clone());
            if [&report, &next]
                .iter()
                .any(|report| report.groups.as_ref().is_some_and(|groups| groups.others.is_some()))
            {
                bail!(
                    "{} or {} has only its largest groups; reports are merged where they have all of them",
                    first.display(),
                    path.display()
                );
            }
            check_features([(&report, first), (&next, path)], "merged")?;
            if by(&report) != by(&next) {
                bail!(
                    "{} and {} are grouped in different ways (--by); only reports of one kind can be merged",
                    first.display(),
                    path.display()
                );
            }
            exact |= has_exact(&next);
            report.merge(&next);
            games += more;
            count += 1;
            for (option, left) in left_out(&run) {
                all_left_out.entry(option).or_default().add(left);
            }
        }
        if exact && count > 1 {
            invocation.note(format_args!(
                "exact numbers of distinct positions are left out: the same position may be in several parts"
            ));
        }
        Ok(CountedReport {
            report,
            games,
            run: {
                all_run.extend(object(json!({
                    "merged": count,
                    "games": games,
                    "left_out": left_out_to_json(all_left_out.iter().map(|(option, left)| (&**option, left))),
                    "command": command_line(),
                })));
                all_run
            },
            page_run: None,
            speed: format!("merged from {count} files"),
            labels: None,
        })
    }

    /// Writes the files and says so, or shows the report.
    fn tell(&self, invocation: &Invocation<'_>, made: &CountedReport, files: Files) -> Result<()> {
        let has_files = self.html.is_some() || self.csv.is_some();
        if self.json || !has_files {
            self.show(invocation, made)?;
        }
        self.write_files(invocation, made, files)?;
        if has_files && !self.json {
            self.say_written(&text::size(&made.report, made.games))?;
        }
        Ok(())
    }

    /// Says which files were written, instead of what they contain.
    fn say_written(&self, content: &str) -> Result<()> {
        // A page on standard output is not followed by anything.
        if self.html.as_deref().is_some_and(|path| Destination::of(Some(path)) == Destination::Stdout) {
            return Ok(());
        }
        let pages = self.html.iter().map(|path| one_line::of(&path.display().to_string()).into_owned());
        let tables = self.csv.iter().map(|path| format!("tables in {}", one_line::of(&path.display().to_string())));
        let files: Vec<String> = pages.chain(tables).collect();
        super::print(format!("wrote {}: {content}\n", files.join(" and ")).as_bytes())
    }

    /// The report with the largest groups only, or the first ones by `--sort`, if not all are requested.
    fn with_largest<'a>(&self, report: &'a Report, usual: Option<usize>) -> Cow<'a, Report> {
        let most = self.top.map(|top| top as usize).or(usual);
        match (&report.groups, most) {
            (Some(groups), Some(most)) if groups.values.len() > most => {
                let mut largest = report.clone();
                largest.groups = Some(match self.sort {
                    Some(order) => order.first(groups, most),
                    None => groups.largest(most),
                });
                Cow::Owned(largest)
            }
            _ => Cow::Borrowed(report),
        }
    }

    fn show(&self, invocation: &Invocation<'_>, made: &CountedReport) -> Result<()> {
        if self.json {
            let mut object = self.with_largest(&made.report, None).to_json();
            object.extend(made.labels.iter().map(|labels| ("labels".to_owned(), labels.to_json())));
            object.insert("run".to_owned(), made.run.clone().into());
            return super::print_object(&object);
        }
        let mut out = String::new();
        if let Some(labels) = &made.labels {
            text::label_comparison::write(&mut out, labels, invocation.style)?;
            return super::print(out.as_bytes());
        }
        let report = self.with_largest(&made.report, Some(MOST_SHOWN));
        let origin = self.origin(&self.read.inputs);
        let (games, style, width) = (made.games, invocation.style, text::width());
        let facts = (!self.show.is_empty()).then_some(&*self.show);
        let view = Text { report: &report, games, origin: &origin, facts, order: self.sort, style, width };
        let shown = Shown { distributions: self.full || report.details.is_some(), all_boards: self.maps };
        view.write(&mut out, shown)?;
        super::print(out.as_bytes())
    }

    /// Opens the page, and checks in advance whether the other files can be written.
    fn open_files(&self, invocation: &Invocation<'_>) -> Result<Files> {
        let inputs = &self.read.inputs;
        let mut made = MadeDirectories::default();
        if let Some(directory) = &self.csv {
            let failed = || format!("cannot write to {}", directory.display());
            if let Some(input) = inputs.iter().find(|input| is_in(input, directory)) {
                bail!(
                    "{} is an input in the directory of --csv {}, where it might be replaced",
                    input.display(),
                    directory.display()
                );
            }
            made.make(directory).with_context(failed)?;
            let mut entries = fs::read_dir(directory).with_context(failed)?;
            if entries.next().is_some() && !invocation.global().force {
                bail!("{} is not empty; --force replaces files in it", directory.display());
            }
        }
        let Some(path) = &self.html else {
            return Ok(Files { page: None, _directories: made });
        };
        // Reports of earlier runs are inputs that the invocation has not prepared.
        invocation.compare(Some(path), inputs)?;
        Ok(Files { page: Some(invocation.open_page(path)?), _directories: made })
    }

    fn write_files(&self, invocation: &Invocation<'_>, made: &CountedReport, files: Files) -> Result<()> {
        let mut outputs = Vec::new();
        if let Some(mut page) = files.page {
            let about = self.about(made, &self.read.inputs);
            page.put(html::page(&self.with_largest(&made.report, None), &about).as_bytes())?;
            outputs.push(page);
        }
        if let Some(directory) = &self.csv {
            for (name, content) in csv::files(&self.with_largest(&made.report, None)) {
                let path = directory.join(name);
                let mut output = Output::open(Some(&path), invocation.global().force, None, 1)?;
                output.put(&content)?;
                outputs.push(output);
            }
        }
        Ok(invocation.commit(outputs)?)
    }
}

/// Checks that two reports have counted the inputs of the same set, or neither has.
fn check_features([(a, of_a), (b, of_b)]: [(&Report, &PathBuf); 2], done: &str) -> Result<()> {
    let set = |report: &Report| report.features.as_ref().map(|features| features.set.clone());
    let name = |report| set(report).map_or("none".to_owned(), |set| set.name().to_owned());
    if set(a) == set(b) || done == "compared" && (set(a).is_none() || set(b).is_none()) {
        return Ok(());
    }
    bail!(
        "{} and {} were counted with features of other sets ({} and {}); they cannot be {done}",
        of_a.display(),
        of_b.display(),
        name(a),
        name(b)
    );
}

/// Whether an input is the report of an earlier run.
fn is_report(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Whether an input is a file in this directory, or the directory itself.
fn is_in(input: &Path, directory: &Path) -> bool {
    let (Ok(input), Ok(directory)) = (input.canonicalize(), directory.canonicalize()) else {
        return false;
    };
    input == directory || input.parent() == Some(&directory)
}

/// The keys of `run` for the options that name columns of games; parts of one run have the same.
const GAME_COLUMNS: [&str; 2] = ["moves_column", "start_column"];

/// These options, as far as they are given.
fn game_columns(reading: &Reading) -> impl Iterator<Item = (&'static str, &str)> {
    let columns = [&reading.moves_column, &reading.start_column].map(Option::as_deref);
    GAME_COLUMNS.into_iter().zip(columns).filter_map(|(key, column)| Some((key, column?)))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Reads a report from a file written by `--json`.
fn read_report(path: &Path) -> Result<CountedReport> {
    let shown = || path.display().to_string();
    let mut text = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut text)
    } else {
        fs::File::open(path).and_then(|mut file| file.read_to_end(&mut text))
    }
    .with_context(|| format!("cannot read {}", shown()))?;
    let value: Value =
        serde_json::from_slice(&text).with_context(|| format!("{} is not JSON as stats --json writes it", shown()))?;
    let report = Report::from_json(&value).with_context(|| format!("{} is not what stats --json writes", shown()))?;
    let games = value.pointer("/run/games").and_then(Value::as_u64);
    let run = value.get("run").cloned().unwrap_or_default();
    Ok(CountedReport {
        report,
        games: games.unwrap_or(0),
        run: object(run),
        page_run: None,
        speed: String::new(),
        labels: None,
    })
}
