//! `perft`: counts the leaves of the move tree, the classical test and benchmark of a move generator.

use super::SOMETHING_WRONG;
use super::args::Reading;
use super::position::position_of;
use super::session::{Run, Session};
use anyhow::{Context, Result, bail};
use clap::Args;
use lanefish::chess::Position;
use lanefish::formats::text::{id, perft_counts};
use lanefish::numbers::short;
use lanefish::perft;
use lanefish::pipeline::Job;
use lanefish::queries::Queries;
use lanefish::table::Tile;
use lanefish::table::{Batch, Field};
use serde_json::{Map, json};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Count the move tree below a position
#[derive(Debug, Args)]
#[command(
    override_usage = "lanefish perft [OPTIONS] [FEN] DEPTH\n       lanefish perft [OPTIONS] --suite FILE..."
)]
pub(crate) struct PerftArgs {
    /// The position [default: the start position] and the depth in plies
    #[arg(
        value_name = "[FEN] DEPTH",
        required_unless_present = "suite",
        conflicts_with = "suite"
    )]
    position_and_depth: Vec<String>,

    /// Print the count below each move of the position
    #[arg(long, conflicts_with = "suite")]
    divide: bool,

    /// Check every count in these perft files
    #[arg(long, value_name = "FILE", num_args = 1..)]
    suite: Vec<PathBuf>,

    /// With --suite, skip counts above this
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100_000_000,
        requires = "suite"
    )]
    max_nodes: u64,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl PerftArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        if !self.suite.is_empty() {
            return self.suite(session);
        }
        let Some((depth, fen)) = self.position_and_depth.split_last() else {
            bail!("missing DEPTH");
        };
        let depth: u32 = depth
            .parse()
            .ok()
            .filter(|&depth| depth <= 100)
            .with_context(|| format!("`{depth}` is not a depth"))?;
        let position = position_of(&fen.join(" "), session, false)?;
        let phase = session.phase(&format!("counting to depth {depth}"));
        let begin = Instant::now();
        let moves = if self.divide {
            perft::divide(&position, depth, session.analyzer, session.threads)?
        } else {
            Vec::new()
        };
        let nodes = if self.divide && depth > 0 {
            moves.iter().map(|(_, nodes)| nodes).sum()
        } else {
            perft::perft(&position, depth, session.analyzer, session.threads)?
        };
        let seconds = begin.elapsed().as_secs_f64();
        drop(phase);
        let rate = nodes as f64 / seconds.max(1e-9);
        if self.json {
            let mut object = Map::new();
            object.insert("fen".to_owned(), json!(position.to_string()));
            object.insert("depth".to_owned(), json!(depth));
            object.insert("nodes".to_owned(), json!(nodes));
            object.insert("seconds".to_owned(), json!(seconds));
            object.insert("nodes_per_second".to_owned(), json!(rate));
            object.insert("tier".to_owned(), json!(session.analyzer.tier().name()));
            object.insert("threads".to_owned(), json!(session.threads));
            if self.divide {
                let moves: Map<_, _> = moves
                    .iter()
                    .map(|(mv, nodes)| (mv.uci(&position).to_string(), json!(nodes)))
                    .collect();
                object.insert("moves".to_owned(), moves.into());
            }
            super::print_object(&object)?;
            return Ok(0);
        }
        let mut text = Vec::new();
        for (mv, nodes) in moves {
            writeln!(text, "{}: {nodes}", mv.uci(&position))?;
        }
        writeln!(text, "nodes {nodes}")?;
        super::print(&text)?;
        session.note(format_args!("{seconds:.3} s, {} nodes/s", short(rate)));
        Ok(0)
    }

    fn suite(&self, session: &Session<'_>) -> Result<u8> {
        let reading = Reading {
            from: None,
            ..Reading::default()
        };
        let run = Run {
            fields: [Field::Operations].into_iter().collect(),
            ..Run::default()
        };
        let mut cases = Vec::new();
        let done = session.read(&self.suite, &reading, run, &Cases, |some| {
            cases.extend(some);
            Ok(())
        })?;
        let (mut checked, mut wrong, mut skipped, mut all_nodes) = (0u64, Vec::new(), 0u64, 0u64);
        let begin = Instant::now();
        let phase = session.phase("counting");
        for (number, case) in cases.iter().enumerate() {
            phase.set(format!(
                "counting, position {} of {}",
                number + 1,
                cases.len()
            ));
            for &(depth, expected) in &case.counts {
                if expected > self.max_nodes {
                    skipped += 1;
                    continue;
                }
                let nodes = perft::perft(&case.position, depth, session.analyzer, session.threads)?;
                checked += 1;
                all_nodes += nodes;
                if nodes != expected {
                    wrong.push(json!({
                        "id": case.name,
                        "fen": case.position.to_string(),
                        "depth": depth,
                        "expected": expected,
                        "nodes": nodes,
                    }));
                }
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        drop(phase);
        let rate = all_nodes as f64 / seconds.max(1e-9);
        for case in &wrong {
            session.note(format_args!("wrong: {case}"));
        }
        let ok = wrong.is_empty();
        if self.json {
            let object = Map::from_iter([
                ("positions".to_owned(), json!(cases.len())),
                ("counts".to_owned(), json!(checked)),
                ("left_out".to_owned(), json!(skipped)),
                ("wrong".to_owned(), wrong.into()),
                ("nodes".to_owned(), json!(all_nodes)),
                ("seconds".to_owned(), json!(seconds)),
                ("nodes_per_second".to_owned(), json!(rate)),
                ("tier".to_owned(), json!(session.analyzer.tier().name())),
                ("threads".to_owned(), json!(session.threads)),
                ("ok".to_owned(), json!(ok)),
            ]);
            super::print_object(&object)?;
        } else {
            let text = format!(
                "{} positions, {checked} counts checked, {} wrong, {skipped} above {} nodes left out\n\
                 nodes {all_nodes}\n",
                cases.len(),
                wrong.len(),
                self.max_nodes,
            );
            super::print(text.as_bytes())?;
            session.note(format_args!("{seconds:.3} s, {} nodes/s", short(rate)));
        }
        let status = session.conclude(done.summary)?;
        Ok(if ok {
            status
        } else {
            status.max(SOMETHING_WRONG)
        })
    }
}

/// A position with its known counts.
#[derive(Debug)]
struct Case {
    position: Position,
    name: Option<String>,
    counts: Vec<(u32, u64)>,
}

/// Collects the cases of perft files.
struct Cases;

impl Job for Cases {
    type Part = Vec<Case>;
    fn queries(&self) -> Queries {
        Queries::NONE
    }
    fn begin(&self) -> Vec<Case> {
        Vec::new()
    }
    fn tile(&self, cases: &mut Vec<Case>, tile: &Tile<'_>) {
        cases.extend(tile.rows().filter_map(|row| case(tile.batch, row)));
    }
}

fn case(batch: &Batch, row: usize) -> Option<Case> {
    let operations = batch
        .values(Field::Operations)
        .and_then(|values| values.text(row));
    let operations = operations.map_or("", |text| text);
    Some(Case {
        position: batch.position(row).ok()?,
        name: id(operations).map(str::to_owned),
        counts: perft_counts(operations).collect(),
    })
}
