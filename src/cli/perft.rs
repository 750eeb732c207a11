//! `perft`: counts the leaves of the move tree, the classical test and benchmark for a move generator.

use super::SOMETHING_WRONG;
use super::arguments::command_scope::{Examples, Reads, RunCommand, Scope};
use super::arguments::common_args::Reading;
use super::arguments::position_arg::{looks_like_fen, position_of};
use super::run::invocation::{Invocation, RunOverrides};
use super::terminal::progress::time_left;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};
use lanefish::chess::Position;
use lanefish::formats::Chunk;
use lanefish::formats::text::{id, perft_counts, unreadable_perft_counts};
use lanefish::perft::{self, Count};
use lanefish::pipeline::{FileSummary, Job};
use lanefish::queries::Queries;
use lanefish::table::Tile;
use lanefish::table::{Batch, Field, Fields, Needs};
use lanefish_core::text::numbers::{counted, short};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Count the move tree below a position
///
/// Nodes are the leaves of the tree, as in other programs. Moves that leave the opponent as many replies as a pass
/// would are counted together, so legal moves are counted for fewer boards than the tree has; a note gives their
/// number, and --json has it as `boards`.
#[derive(Debug, Args)]
#[command(override_usage = "lanefish perft [OPTIONS] [FEN] DEPTH\n       lanefish perft [OPTIONS] --suite FILE...")]
pub(crate) struct PerftArgs {
    /// The position [default: the start position] and the depth in plies
    #[arg(value_name = "[FEN] DEPTH", required_unless_present = "suite", conflicts_with = "suite")]
    position_and_depth: Vec<String>,

    /// Print the count below each move of the position
    #[arg(long, conflicts_with = "suite")]
    divide: bool,

    /// Check every count in these perft files
    #[arg(long, value_name = "FILE", num_args = 1.., value_hint = ValueHint::AnyPath)]
    suite: Vec<PathBuf>,

    /// With --suite, skip counts above this
    #[arg(long, value_name = "N", default_value_t = 100_000_000, requires = "suite", value_parser = super::arguments::number_args::count)]
    max_nodes: u64,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl RunCommand for PerftArgs {
    const EXAMPLES: Examples = &[
        ("From the start position", "lanefish perft 6"),
        ("Counts per move, from another position", "lanefish perft --divide \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\" 5"),
        ("A file of known counts", "lanefish perft --suite standard.perft"),
    ];
    const SCOPE: Scope = Scope { reads: Reads::With("suite", "--suite"), ignores: &["force", "color"], ..Scope::READS };

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if !self.suite.is_empty() {
            return self.suite(invocation);
        }
        let Some((depth, fen)) = self.position_and_depth.split_last() else {
            bail!("missing DEPTH");
        };
        if let [first, rest @ ..] = &self.position_and_depth[..]
            && first.parse::<u32>().is_ok()
            && rest.first().is_some_and(|fen| looks_like_fen(fen.as_ref()))
        {
            bail!("the position comes first, and then the depth: lanefish perft \"{}\" {first}", rest.join(" "));
        }
        let depth: u32 =
            depth.parse().ok().filter(|&depth| depth <= 100).with_context(|| format!("`{depth}` is not a depth"))?;
        let position = position_of(&fen.join(" "), invocation, false)?;
        let text = format!("counting to depth {depth}");
        let phase = invocation.phase(&text);
        let begin = Instant::now();
        let moves = perft::count_by_move(&position, depth, invocation.analyzer, invocation.threads, |progress| {
            let share = progress.done as f64 / progress.moves as f64;
            let moves = format!("{text}  {} of {} moves", progress.done, progress.moves);
            phase.set_with_left(moves, time_left(phase.elapsed(), share));
        })?;
        let total = match depth {
            // The root itself is the only board.
            0 | 1 => perft::count(&position, depth, invocation.analyzer, 1)?,
            _ => moves.iter().map(|(_, count)| *count).sum(),
        };
        let work = Work { total, seconds: begin.elapsed().as_secs_f64() };
        drop(phase);
        if self.json {
            let mut object = Map::new();
            object.insert("fen".to_owned(), json!(position.to_string()));
            object.insert("depth".to_owned(), json!(depth));
            object.extend(work.json(invocation));
            if self.divide {
                let moves: Map<_, _> =
                    moves.iter().map(|(mv, count)| (mv.uci(&position).to_string(), json!(count.nodes))).collect();
                object.insert("moves".to_owned(), moves.into());
            }
            super::print_object(&object)?;
            return Ok(0);
        }
        let mut text = Vec::new();
        if self.divide {
            for (mv, count) in moves {
                writeln!(text, "{}: {}", mv.uci(&position), count.nodes)?;
            }
        }
        writeln!(text, "nodes {}", total.nodes)?;
        super::print(&text)?;
        work.note(invocation);
        Ok(0)
    }
}

impl PerftArgs {
    fn suite(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let reading = Reading { from: None, ..Reading::default() };
        let mut cases = Vec::new();
        let done = invocation.read(&self.suite, &reading, RunOverrides::default(), &Suite, |some| {
            cases.extend(some.cases);
            Ok(())
        })?;
        if done.failure.is_none()
            && let Some(path) = without_counts(&done.summary.files, &cases)
        {
            invocation.report(&done.summary, None);
            bail!(
                "{} has no counts: expected `FEN ;D1 20 ;D2 400`, or lines such as `perft 2 400` below `epd FEN`",
                path.display()
            );
        }
        let (mut checked, mut wrong, mut skipped, mut total) = (0u64, Vec::new(), 0u64, Count::default());
        let is_chosen = |count: &&Known| count.expected <= self.max_nodes;
        let chosen = cases.iter().flat_map(|case| &case.counts).filter(is_chosen);
        let chosen_nodes: u64 = chosen.map(|count| count.expected).sum();
        let begin = Instant::now();
        let phase = invocation.phase("counting");
        for (number, case) in cases.iter().enumerate() {
            let text = format!("counting, position {} of {}", number + 1, cases.len());
            // Time goes by nodes, of which the positions have very different numbers.
            if total.nodes == 0 {
                phase.set(text);
            } else {
                let share = total.nodes as f64 / chosen_nodes as f64;
                phase.set_with_left(text, time_left(phase.elapsed(), share));
            }
            for known @ &Known { depth, expected, line } in &case.counts {
                if !is_chosen(&known) {
                    skipped += 1;
                    continue;
                }
                let count = perft::count(&case.position, depth, invocation.analyzer, invocation.threads)?;
                checked += 1;
                total = [total, count].into_iter().sum();
                let nodes = count.nodes;
                if nodes != expected {
                    let place = case.place(line);
                    invocation
                        .note(format_args!("{place}: {nodes} at depth {depth}, not {expected}: {}", case.position));
                    wrong.push(json!({
                        "file": case.file.display().to_string(),
                        "line": line,
                        "id": case.name,
                        "fen": case.position.to_string(),
                        "depth": depth,
                        "expected": expected,
                        "nodes": nodes,
                    }));
                }
            }
        }
        let work = Work { total, seconds: begin.elapsed().as_secs_f64() };
        drop(phase);
        for case in &cases {
            for (line, text) in &case.unreadable {
                let place = case.place(*line);
                invocation.note(format_args!("{place}: `{text}` is no count, it must be a number: {}", case.position));
                wrong.push(json!({
                    "file": case.file.display().to_string(),
                    "line": line,
                    "id": case.name,
                    "fen": case.position.to_string(),
                    "unreadable": text,
                }));
            }
        }
        let ok = wrong.is_empty();
        if self.json {
            let mut object = Map::from_iter([
                ("positions".to_owned(), json!(cases.len())),
                ("counts".to_owned(), json!(checked)),
                ("left_out".to_owned(), json!(skipped)),
                ("wrong".to_owned(), wrong.into()),
            ]);
            object.extend(work.json(invocation));
            object.insert("ok".to_owned(), json!(ok));
            super::print_object(&object)?;
        } else {
            let text = format!(
                "{} positions, {checked} counts checked, {} wrong, {skipped} above {} nodes left out\n\
                 nodes {}\n",
                cases.len(),
                wrong.len(),
                self.max_nodes,
                total.nodes,
            );
            super::print(text.as_bytes())?;
            work.note(invocation);
        }
        let status = invocation.conclude(done)?;
        Ok(if ok { status } else { status.max(SOMETHING_WRONG) })
    }
}

/// What was counted, and how long it took.
#[derive(Debug)]
struct Work {
    total: Count,
    seconds: f64,
}

impl Work {
    fn nodes_per_second(&self) -> f64 {
        self.total.nodes as f64 / self.seconds.max(1e-9)
    }

    /// The fields of the JSON object.
    fn json(&self, invocation: &Invocation<'_>) -> [(String, Value); 6] {
        let field = |name: &str, value: Value| (name.to_owned(), value);
        [
            field("nodes", json!(self.total.nodes)),
            field("boards", json!(self.total.boards)),
            field("seconds", json!(self.seconds)),
            field("nodes_per_second", json!(self.nodes_per_second())),
            field("tier", json!(invocation.analyzer.tier().name())),
            field("threads", json!(invocation.threads)),
        ]
    }

    fn note(&self, invocation: &Invocation<'_>) {
        let rate = short(self.nodes_per_second());
        let boards = counted(self.total.boards, "board");
        invocation.note(format_args!("{:.3} s, {rate} nodes/s, {boards} counted", self.seconds));
    }
}

/// The first file with positions but without a single count: it would check nothing.
fn without_counts<'a>(files: &'a [FileSummary], cases: &[Case]) -> Option<&'a Path> {
    let counted: HashSet<&Path> = cases
        .iter()
        .filter(|case| !case.counts.is_empty() || !case.unreadable.is_empty())
        .map(|case| &*case.file)
        .collect();
    let mut paths = files.iter().map(|file| &*file.path);
    paths.find(|path| !counted.contains(path))
}

/// A position with its known counts.
#[derive(Debug)]
struct Case {
    file: Arc<Path>,
    position: Position,
    name: Option<String>,
    counts: Vec<Known>,
    /// Counts that are no numbers, as they are written, and their lines.
    unreadable: Vec<(Option<u64>, String)>,
}

impl Case {
    /// The file, and the line if it is known.
    fn place(&self, line: Option<u64>) -> String {
        let file = self.file.display();
        line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}"))
    }
}

/// The expected number of nodes at one depth.
#[derive(Debug)]
struct Known {
    depth: u32,
    expected: u64,
    /// The place of the count in the file, as text.
    line: Option<u64>,
}

/// The cases of a chunk, and their places.
#[derive(Default)]
struct Cases {
    cases: Vec<Case>,
    chunk: Option<Chunk>,
    /// A place in the chunk, and the number of input lines before it.
    lines: Option<(usize, u64)>,
}

/// Collects the cases of perft files.
struct Suite;

impl Job for Suite {
    type Part = Cases;
    fn needs(&self) -> Needs {
        Needs::new(Queries::NONE, Fields::of(&[Field::Operations]))
    }
    fn begin(&self) -> Cases {
        Cases::default()
    }
    fn source(&self, part: &mut Cases, chunk: &Chunk, lines: Option<u64>) {
        part.lines = lines.map(|lines| (0, lines));
        part.chunk = Some(chunk.clone());
    }
    fn tile(&self, part: &mut Cases, tile: &Tile<'_>) {
        for row in tile.rows() {
            let case = part.case(tile.batch, row);
            part.cases.extend(case);
        }
    }
    fn end(&self, part: &mut Cases, _: u64) {
        part.chunk = None;
    }
}

impl Cases {
    fn case(&mut self, batch: &Batch, row: usize) -> Option<Case> {
        let chunk = self.chunk.as_ref()?;
        let operations = batch.values(Field::Operations).and_then(|values| values.text(row)).map_or("", |text| text);
        let text = chunk.bytes.get(batch.origin(row)..).unwrap_or_default();
        if let Some((at, lines)) = &mut self.lines {
            let between = chunk.bytes.get(*at..batch.origin(row)).unwrap_or_default();
            *lines += between.iter().filter(|&&byte| byte == b'\n').count() as u64;
            *at = batch.origin(row);
        }
        let counts = perft_counts(operations).map(|(depth, expected)| Known {
            depth,
            expected,
            line: self.lines.map(|(_, before)| before + 1 + lines_before_count(text, depth)),
        });
        let line_of = |depth| self.lines.map(|(_, before)| before + 1 + lines_before_count(text, depth));
        let unreadable = unreadable_perft_counts(operations).map(|(depth, text)| (line_of(depth), text.to_owned()));
        Some(Case {
            unreadable: unreadable.collect(),
            file: Arc::clone(&chunk.file),
            position: batch.position(row).ok()?,
            name: id(operations).map(str::to_owned),
            counts: counts.collect(),
        })
    }
}

/// The lines between the beginning of a record and its count for this depth: in a block, each count has its own.
fn lines_before_count(record: &[u8], depth: u32) -> u64 {
    let mut has_position = false;
    let lines = record.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    for (number, line) in (0..).zip(lines) {
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        match words.next() {
            Some(b"perft") => {
                let own = words.next().and_then(|word| str::from_utf8(word).ok());
                if own.and_then(|word| word.parse().ok()) == Some(depth) {
                    return number;
                }
            }
            Some(b"epd") if !has_position => has_position = true,
            Some(b"id") if number == 0 => {}
            None => {}
            Some(word) if word.starts_with(b"#") => {}
            // The record is a single line, or the next record begins.
            _ => break,
        }
    }
    0
}
