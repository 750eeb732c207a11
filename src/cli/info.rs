//! `info`: describes a file; without one, the features of this CPU, the tier that is used, and why.

use super::arguments::command_scope::{Examples, Reads, RunCommand, Scope};
use super::arguments::common_args::{Global, Reading, TierChoice};
use super::run::invocation::{Invocation, Nothing, RunOverrides, analyzer_for};
use super::run::tier_calibration::Calibration;
use anyhow::{Result, bail};
use clap::{Args, ValueHint};
use lanefish::chess::Position;
use lanefish::formats::boards::BoardsFile;
use lanefish::formats::polyglot_book::{BookEntry, PolyglotBook};
use lanefish::formats::{self, Format};
use lanefish::input::{Inputs, Source};
use lanefish::tiers::{Analyzer, Tier};
use lanefish_core::cpu::{self, Feature};
use lanefish_core::text::numbers::grouped;
use lanefish_core::text::one_line;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Describe files, or this CPU and the tier used on it
///
/// Headers are read, and files of up to 16 MiB without a number of records in their header are counted; `verify` reads
/// everything. In a zip archive, every file is described.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Files to describe; without any, the CPU is described
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    files: Vec<PathBuf>,

    /// Measure for a second whether the chosen tier and algorithm are the fastest on this CPU
    #[arg(long, conflicts_with = "files")]
    calibrate: bool,

    /// JSON instead of text: an object for the CPU or a single file, else one object per line
    #[arg(long)]
    json: bool,
}

type Object = Map<String, Value>;

impl RunCommand for InfoArgs {
    const EXAMPLES: Examples = &[
        ("This CPU, and which tier is used", "lanefish info"),
        ("A file", "lanefish info games.boards"),
        ("Whether the chosen tier is the fastest on this CPU", "lanefish info --calibrate"),
    ];
    const SCOPE: Scope = Scope {
        reads: Reads::With("files", "a file"),
        refuses: &["shard", "skip", "limit"],
        ignores: &["force", "color", "progress"],
        ..Scope::READS
    };

    fn compares_tiers(&self) -> bool {
        self.calibrate
    }

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.files.is_empty() {
            let mut facts = cpu_facts(invocation.global().tier()?, invocation.analyzer);
            let calibration = if self.calibrate {
                let _phase = invocation.phase("calibrating");
                Some(Calibration::measure()?)
            } else {
                None
            };
            if let Some(calibration) = calibration.as_ref().filter(|_| self.json) {
                facts.insert("calibration".to_owned(), calibration.json());
            }
            self.tell(&[facts])?;
            if let Some(calibration) = calibration.filter(|_| !self.json) {
                super::print(calibration.text().as_bytes())?;
            }
            return Ok(0);
        }
        let mut facts = Vec::new();
        for path in &self.files {
            if path.is_dir() {
                bail!("{} is a directory; name the files in it", path.display());
            }
            if PolyglotBook::is_one(path).unwrap_or(false) {
                facts.push(book_facts(path)?);
                continue;
            }
            // Each file of a zip archive is described separately.
            let inputs = Inputs::resolve(std::slice::from_ref(path), formats::is_supported)?;
            for source in &inputs.sources {
                facts.push(file_facts(invocation, source)?);
            }
            for skipped in &inputs.skipped {
                invocation.note(format_args!("{}: not a supported format, skipped", skipped.display()));
            }
        }
        let status = self.tell(&facts)?;
        invocation.commit(None)?;
        Ok(status)
    }
}

impl InfoArgs {
    fn tell(&self, all: &[Object]) -> Result<u8> {
        match all {
            [one] if self.json => super::print_object(one)?,
            _ if self.json => {
                for facts in all {
                    let line = Value::Object(facts.clone()).to_string();
                    super::print(format!("{}\n", one_line::of_json(&line)).as_bytes())?;
                }
            }
            _ => {
                let texts: Vec<String> = all.iter().map(|facts| text(facts, width())).collect();
                super::print(texts.join("\n").as_bytes())?;
            }
        }
        Ok(0)
    }
}

/// `--version`, with `-v` also the CPU.
pub(super) fn version(global: &Global) -> Result<u8> {
    let mut answer = format!("lanefish {}\n", env!("CARGO_PKG_VERSION"));
    if global.verbose > 0 {
        answer.push_str(&text(&cpu_facts(global.tier()?, analyzer_for(global.tier()?)?), width()));
    }
    super::print(answer.as_bytes())?;
    Ok(0)
}

/// One `key: value` per line; on a terminal of this width, values go on in lines below.
fn text(facts: &Object, width: Option<usize>) -> String {
    let mut text = String::new();
    for (key, value) in facts {
        let value = match value {
            Value::String(value) => one_line::of(value).into_owned(),
            Value::Number(number) => number.as_u64().map_or_else(|| number.to_string(), grouped),
            Value::Array(values) => {
                let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                one_line::of(&words.join(" ")).into_owned()
            }
            Value::Null if key == "records" => {
                let file = facts.get("file").and_then(Value::as_str).unwrap_or("FILE");
                format!("unknown: `lanefish stats {}` counts them", one_line::of(file))
            }
            Value::Null => "unknown".to_owned(),
            other => other.to_string(),
        };
        let mut column = key.len() + 1;
        text.extend([key, ":"]);
        for word in value.split(' ') {
            let len = word.chars().count();
            if width.is_some_and(|width| column + 1 + len > width.max(INDENT + len + 1)) {
                text.push_str(&format!("\n{:INDENT$}", ""));
                column = INDENT;
            }
            text.extend([" ", word]);
            column += 1 + len;
        }
        text.push('\n');
    }
    text
}

/// The width of the terminal, if standard output is one.
fn width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Columns before a value that goes on in another line, without the blank before every word.
const INDENT: usize = 3;

/// The parts of lanefish that this program has, and those that it was built without.
fn parts() -> (Vec<&'static str>, Vec<&'static str>) {
    let all = [
        ("parquet", cfg!(feature = "parquet")),
        ("sql", cfg!(feature = "sql")),
        ("cluster", cfg!(feature = "cluster")),
    ];
    let names = |is: bool| all.iter().filter(|&&(_, has)| has == is).map(|&(name, _)| name).collect();
    (names(true), names(false))
}

fn cpu_facts(choice: TierChoice, analyzer: &dyn Analyzer) -> Object {
    let features = cpu::features();
    let names = |which: fn(&Feature) -> bool| -> Vec<&'static str> {
        features.iter().filter(|feature| which(feature)).map(|feature| feature.name).collect()
    };
    let present = names(|feature| feature.present);
    let runs = |tier: &Tier| tier.needs().iter().all(|need| present.contains(need));
    let tiers: Vec<&str> = Tier::all().filter(runs).map(Tier::name).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (built_with, built_without) = parts();
    Object::from_iter([
        ("version".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
        ("built_with".to_owned(), json!(built_with)),
        ("built_without".to_owned(), json!(built_without)),
        ("cpu".to_owned(), json!(cpu::model())),
        ("architecture".to_owned(), json!(std::env::consts::ARCH)),
        ("cores".to_owned(), json!(threads)),
        ("features".to_owned(), json!(present)),
        ("missing".to_owned(), json!(names(|feature| !feature.present))),
        ("disabled".to_owned(), json!(names(|feature| feature.present && !feature.enabled))),
        ("tiers".to_owned(), json!(tiers)),
        ("tier".to_owned(), json!(analyzer.tier().name())),
        ("uses".to_owned(), json!(analyzer.features())),
        ("why".to_owned(), json!(why(choice, analyzer.tier()))),
    ])
}

/// Why this tier was chosen.
fn why(choice: TierChoice, tier: Tier) -> String {
    if let TierChoice::Only(tier) = choice {
        return format!("{tier} was requested by --tier or LANEFISH_TIER");
    }
    let reason = tier.why().to_owned();
    if cpu::pext_is_microcoded() {
        return format!("{reason}; PEXT is present but microcoded on this CPU family, so bmi2 is not chosen");
    }
    reason
}

/// The number of the first records of an input that fit its format, and other formats that fit some of them.
fn evidence(format: Format, head: &[u8]) -> String {
    let (own, others): (Vec<_>, Vec<_>) = formats::sampled(head).into_iter().partition(|(of, _)| *of == format);
    let fits = own.iter().map(|(_, fits)| {
        let plural = if fits.examined == 1 { "" } else { "s" };
        format!("fits {format}: {} of {} sampled record{plural}", fits.good, fits.examined)
    });
    let others = others.iter().map(|(format, fits)| format!("as {format}: {}", fits.good));
    fits.chain(others).collect::<Vec<_>>().join("; ")
}

/// Larger inputs without a count in their header are not read in full just to be counted.
const COUNTED: u64 = 16 << 20;

/// The facts of an opening book.
fn book_facts(path: &Path) -> Result<Object> {
    let mut book = PolyglotBook::open(path)?;
    let entries = book.len();
    let start = book.moves_of(&Position::standard())?.len();
    Ok(Object::from_iter([
        ("file".to_owned(), json!(path.display().to_string())),
        ("format".to_owned(), json!("polyglot")),
        ("bytes".to_owned(), json!(entries * BookEntry::LEN as u64)),
        ("entries".to_owned(), json!(entries)),
        ("moves_of_start".to_owned(), json!(start)),
        ("reader".to_owned(), json!("an opening book: `lanefish tree --book` shows its moves")),
    ]))
}

fn file_facts(invocation: &Invocation<'_>, source: &Source) -> Result<Object> {
    let path = source.name();
    let opened = formats::open(source, None, None, invocation.access(), Arc::default())?;
    let (format, compression) = (opened.format, opened.input.compression());
    let mut input = opened.input;
    let evidence = match format.sampled(&[]) {
        Some(_) => Some(evidence(format, &input.peek(formats::PEEK)?.0)),
        None => None,
    };
    drop(input);
    let bytes = source.len();
    let mut facts = Object::from_iter([
        ("file".to_owned(), json!(path.display().to_string())),
        ("format".to_owned(), json!(format.name())),
        ("compression".to_owned(), json!(compression.map_or("none", |c| c.name()))),
        ("bytes".to_owned(), json!(bytes)),
    ]);
    facts.extend(evidence.map(|evidence| ("evidence".to_owned(), json!(evidence))));
    if format == Format::BOARDS && compression.is_none() && source.file().is_some() {
        let boards = BoardsFile::open_with(path, invocation.access())?;
        let (major, minor) = boards.version();
        let columns: Vec<String> = boards.columns().iter().map(|c| c.name.clone()).collect();
        facts.insert("version".to_owned(), json!(format!("{major}.{minor}")));
        facts.insert("records".to_owned(), json!(boards.len()));
        facts.insert("columns".to_owned(), json!(columns));
        facts.insert("blocks".to_owned(), json!(boards.blocks()));
        facts.insert("records_per_block".to_owned(), json!(boards.block_len()));
        let checksum = "header, index and end are intact; verify checks the blocks";
        facts.insert("checksum".to_owned(), json!(checksum));
    } else if let Some(tables) = format.tables() {
        let opened = formats::open(source, Some(format), None, invocation.access(), Arc::default())?;
        let table = tables
            .facts(opened.input.into_random_access(format.name())?)
            .map_err(|damage| lanefish::Error::Damaged { path: Arc::clone(path), damage })?;
        let columns: Vec<_> = table.columns.iter().map(|(name, kind)| format!("{name}:{kind}")).collect();
        facts.insert("records".to_owned(), json!(table.rows));
        facts.insert("columns".to_owned(), json!(columns));
        facts.insert("groups".to_owned(), json!(table.groups));
        let rows = match table.kind {
            Ok(kind) => kind.evidence,
            Err(reason) => format!("neither games nor positions: it {reason}"),
        };
        facts.insert("rows".to_owned(), json!(rows));
        if compression.is_none() && !table.codecs.is_empty() {
            facts.insert("compression".to_owned(), json!(table.codecs.join(", ")));
        }
    } else if bytes.is_some_and(|bytes| bytes <= COUNTED) {
        let reading = Reading { from: None, ..Reading::default() };
        invocation.prepare_source(source.clone());
        let done = invocation.read(&[], &reading, RunOverrides::default(), &Nothing, |()| Ok(()))?;
        if let Some(failure) = done.failure {
            return Err(failure.into());
        }
        facts.insert("records".to_owned(), json!(done.summary.records));
        facts.insert("rejected".to_owned(), json!(done.summary.rejected));
    } else {
        facts.insert("records".to_owned(), Value::Null);
    }
    Ok(facts)
}
