//! Counts on a cluster.

use super::report_origin::{command_line, now};
use super::{CountedReport, StatsArgs, object};
use crate::cli::arguments::common_args::Reading;
use crate::cli::cluster;
use crate::cli::run::invocation::{Invocation, Timed};
use anyhow::{Result, bail};
use lanefish::chess::Validity;
use lanefish::report::{html, left_out_to_json};
use lanefish::sql::cluster::{Cluster, Counting};
use lanefish::sql::{Session as SqlSession, SessionOptions};
use lanefish_core::text::numbers::{bytes, short};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

impl StatsArgs {
    /// Counts the positions of the inputs on a cluster.
    pub(super) fn read_on_cluster(
        &self,
        invocation: &Invocation<'_>,
        inputs: &[PathBuf],
        reading: &Reading,
        cluster: Cluster,
    ) -> Result<(Option<CountedReport>, Timed)> {
        let begin = Instant::now();
        let global = invocation.global();
        if global.input.shard.is_some() || global.input.skip > 0 || global.input.limit.is_some() {
            bail!("--cluster counts whole inputs: --shard, --skip and --limit work in a single process only");
        }
        let inputs = invocation.take_inputs(inputs, reading, false)?;
        if inputs.sources.iter().any(lanefish::input::Source::is_stdin) {
            bail!("--cluster: the machines of a cluster cannot read standard input; name files");
        }
        let mut rejects = invocation.open_rejects()?;
        let read = invocation.read_options(reading, Validity::default())?;
        let options = SessionOptions::new(invocation.analyzer).read(read);
        let (address, slots) = (cluster.address().to_owned(), cluster.slots());
        let sql = SqlSession::on_cluster(options.clone(), cluster)?;
        let counting =
            Counting::default().details(self.has_details()).features(self.features()?).by(self.grouped_by()?);
        let counting = counting.rejects(rejects.is_some());
        let (rows, mut counted) = sql.count(inputs, &options, &counting)?;
        cluster::read_rows(invocation, &sql, rows, |batch| {
            counted.add(batch, |lines| rejects.as_mut().map_or(Ok(()), |rejects| Ok(rejects.put(lines)?)))
        })?;
        let (report, summary) = counted.finish()?;
        invocation.keep_rejects(rejects);
        let elapsed = begin.elapsed();
        let seconds = elapsed.as_secs_f64();
        let rate = summary.records as f64 / seconds;
        let made = CountedReport {
            report,
            games: summary.games_taken,
            run: object(json!({
                "cluster": address,
                "slots": slots,
                "seconds": seconds,
                "positions_per_second": rate,
                "bytes_read": summary.bytes,
                "games": summary.games_taken,
                "left_out": left_out_to_json(summary.left_out.iter().map(|(&option, left)| (option, left))),
                "command": command_line(),
            })),
            page_run: Some(html::Run {
                date: now(),
                tier: "cluster".to_owned(),
                threads: slots,
                seconds,
                rate,
                bytes: summary.bytes,
            }),
            speed: format!(
                "{seconds:.3} s, {} positions/s, {} of the cluster at {address}, {} read",
                short(rate),
                lanefish_core::text::numbers::counted(slots as u64, "slot"),
                bytes(summary.bytes as f64),
            ),
            labels: None,
        };
        Ok((Some(made), Timed { summary, failure: None, elapsed }))
    }
}
