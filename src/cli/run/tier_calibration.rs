//! `info --calibrate`: measures whether the choices made for this CPU are the fastest.

use crate::cli::measure::kernels::{Kernel, measure_kernels};
use crate::cli::measure::{BenchOptions, Row, Subject, sample_positions};
use lanefish::Error;
use lanefish::tiers::Tier;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// Time for each of the eight candidates: together about a second.
const TIME: Duration = Duration::from_millis(100);
/// A choice is right if nothing is faster by more than this factor; smaller differences are noise.
const MARGIN: f64 = 1.05;

/// The measurements.
#[derive(Debug)]
pub(in crate::cli) struct Calibration {
    rows: Vec<Row>,
}

/// A choice and whether it is right.
struct Verdict {
    chosen: String,
    fastest: String,
    /// How many times faster the fastest is.
    ratio: f64,
}

impl Verdict {
    fn holds(&self) -> bool {
        self.ratio <= MARGIN
    }

    /// The verdict as a sentence, with advice if the choice is wrong.
    fn text(&self, advice: &str) -> String {
        let Self { chosen, fastest, ratio } = self;
        if !self.holds() {
            format!("{chosen} is used, but {fastest} is {ratio:.2} times as fast here; {advice}")
        } else if chosen == fastest {
            format!("{chosen} is used, and nothing is faster here; nothing to do")
        } else {
            format!("{chosen} is used, and {fastest} is equal within noise ({ratio:.2} times as fast); nothing to do")
        }
    }

    fn json(&self) -> Value {
        json!({
            "chosen": self.chosen,
            "fastest": self.fastest,
            "ratio": self.ratio,
            "holds": self.holds(),
        })
    }
}

fn who(row: &Row) -> (Option<Tier>, &'static str) {
    match row.subject {
        Subject::Kernel { tier, algorithm } => (tier, algorithm),
        _ => (None, row.name),
    }
}

fn nanoseconds(row: &Row) -> Option<f64> {
    row.measured.map(|measured| measured.timing.nanoseconds)
}

impl Calibration {
    /// Counts the legal moves of the sample with each candidate that this CPU can run.
    pub(in crate::cli) fn measure() -> Result<Self, Error> {
        let options = BenchOptions {
            time: TIME,
            filter: Some(format!("kernels/{}/", Kernel::LegalCount.name())),
            ..BenchOptions::default()
        };
        let mut rows = Vec::new();
        measure_kernels(&options, &sample_positions(), &mut |row| rows.push(row))?;
        Ok(Self { rows })
    }

    /// Compares the candidates that this CPU can run, if the chosen one is among them.
    fn verdict(&self, name: impl Fn(&Row) -> Option<String>, is_chosen: impl Fn(&Row) -> bool) -> Option<Verdict> {
        let in_question = || self.rows.iter().filter_map(|row| Some((row, name(row)?, nanoseconds(row)?)));
        let (_, chosen, own) = in_question().find(|(row, ..)| is_chosen(row))?;
        let (_, fastest, least) = in_question().min_by(|(.., a), (.., b)| a.total_cmp(b))?;
        Some(Verdict { chosen, fastest, ratio: own / least })
    }

    /// Whether [`Tier::best`] is the fastest tier.
    fn tier(&self) -> Option<Verdict> {
        self.verdict(|row| who(row).0.map(|tier| tier.to_string()), |row| who(row).0 == Some(Tier::best()))
    }

    /// Whether the algorithm of the tier `bmi2` is the fastest for sliders looked up piece by piece.
    fn per_piece(&self) -> Option<Verdict> {
        let is_bmi2 = |row: &Row| who(row).0.is_some_and(|tier| tier.name() == "bmi2");
        let is_per_piece = |row: &Row| is_bmi2(row) || who(row).0.is_none();
        self.verdict(|row| is_per_piece(row).then(|| who(row).1.to_owned()), is_bmi2)
    }

    pub(in crate::cli) fn json(&self) -> Value {
        let candidates: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let (tier, algorithm) = who(row);
                let per_second = row.measured.map(|measured| measured.timing.per_second);
                json!({
                    "tier": tier.map(Tier::name),
                    "algorithm": algorithm,
                    "available": row.measured.is_some(),
                    "verified": row.measured.is_some_and(|measured| measured.verified),
                    "positions_per_second": per_second,
                })
            })
            .collect();
        json!({
            "query": Kernel::LegalCount.name(),
            "candidates": candidates,
            "tier": self.tier().map(|verdict| verdict.json()),
            "per_piece": self.per_piece().map(|verdict| verdict.json()),
        })
    }

    pub(in crate::cli) fn text(&self) -> String {
        let mut text = "\nlegal move counts, millions of positions per second on one thread:\n".to_owned();
        for row in &self.rows {
            let (tier, algorithm) = who(row);
            let tier = tier.map_or("-", Tier::name);
            let rate = match row.measured {
                Some(measured) => format!("{:6.1}", measured.timing.per_second / 1e6),
                None => format!("not available, needs {}", row.needs.join(" ")),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {tier:8}  {algorithm:22}  {rate}");
        }
        if let Some(verdict) = self.tier() {
            let advice = format!(
                "measure again on a quiet machine, then use --tier {fastest} or set LANEFISH_TIER={fastest}",
                fastest = verdict.fastest
            );
            let _ = writeln!(text, "choice of tier: {}", verdict.text(&advice));
        }
        if let Some(verdict) = self.per_piece() {
            let advice = match Tier::best().name() {
                "bmi2" => "measure again on a quiet machine, and try --tier portable",
                _ => "it matters only with --tier bmi2",
            };
            let _ = writeln!(text, "choice of slider algorithm in the tier bmi2: {}", verdict.text(advice));
        }
        text
    }
}
