//! `stats`: summarizes a dataset, as a table for people or as JSON.

use super::args::ReadArgs;
mod text;

use super::numbers::{bytes, short};
use super::session::{Run, Session, Timed};
use anyhow::Result;
use clap::Args;
use lanefish::Error;
use lanefish::jobs::Statistics;
use serde_json::json;
use text::Text;

/// Dataset statistics: legal moves, checks, mates, material, castling, heat maps, results
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    read: ReadArgs,

    /// One JSON object instead of the table
    #[arg(long)]
    json: bool,

    /// Also draw heat maps: where each kind of piece stands
    #[arg(long, conflicts_with = "json")]
    maps: bool,
}

impl StatsArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        let job = Statistics::new(session.analyzer);
        let run = Run {
            fields: Statistics::FIELDS,
            ..Run::default()
        };
        let reading = &self.read.reading;
        let Timed { summary, elapsed } =
            session.read(&self.read.inputs, reading, run, &job, |stats| {
                job.put_back(stats);
                Ok(())
            })?;
        let mut stats = job.finish();
        stats.add_rejected(summary.rejected);
        let report = stats.report(reading.keep_en_passant);

        // What was read before the damaged part of an input counts and is shown.
        if summary.failure.as_ref().is_none_or(Error::is_of_input) {
            let seconds = elapsed.as_secs_f64();
            let rate = summary.records as f64 / seconds;
            let tier = session.analyzer.tier().name();
            if self.json {
                let mut object = report.to_json();
                let run = json!({
                    "tier": tier,
                    "threads": session.threads,
                    "seconds": seconds,
                    "positions_per_second": rate,
                    "bytes_read": summary.bytes,
                    "games": summary.games,
                });
                object.insert("run".to_owned(), run);
                super::print_object(&object)?;
            } else {
                let mut text = String::new();
                let view = Text {
                    report: &report,
                    games: summary.games,
                    style: session.style,
                };
                view.write(&mut text, self.maps)?;
                let threads = match session.threads {
                    1 => "1 thread".to_owned(),
                    threads => format!("{threads} threads"),
                };
                let run = format!(
                    "{seconds:.3} s, {} positions/s, {tier}, {threads}, {} read\n",
                    short(rate),
                    bytes(summary.bytes as f64),
                );
                text.push('\n');
                text.push_str(&session.style.faint(&run));
                super::print(text.as_bytes())?;
            }
        }
        session.conclude(summary)
    }
}
