//! The pipeline rows: their table, what they should reach, and a verdict that says where this machine falls short.
//!
//! A result is judged by the times of two rows, and only if both are reliable. It falls short if the difference from
//! what is expected is beyond the noise of the two (see `noise`).

use super::noise::Time;
use super::slider_verdict::Statement;
use super::table_layout::{Lines, believed, millions, number, or_dash, reliable, spread, timing};
use crate::cli::measure::pipeline::{KERNEL, NAMES, find, label};
use crate::cli::measure::{Row, Subject};
use lanefish_core::text::numbers::counted;

/// The least rate of a row relative to another one, with one thread.
struct Share {
    name: &'static str,
    of: &'static str,
    floor: f64,
    /// What else the row does, if it does all that the other one does.
    rest: Option<&'static str>,
}

/// The expected shares.
const SHARES: [Share; 3] = [
    // Reading, the checksum of each block and adding up the results are simpler than the queries themselves.
    Share { name: "stats-boards", of: KERNEL, floor: 0.5, rest: Some("reading, checksums and adding up the results") },
    // Both read and replay the games; packing and writing boards should not take longer than that.
    Share { name: "convert-pgn-to-boards", of: "stats-pgn", floor: 0.5, rest: None },
    // Packing and writing boards should not take much longer than counting their moves.
    Share { name: "convert-boards-to-boards", of: "stats-boards", floor: 0.8, rest: None },
];

/// How many times faster two threads should be than one: twice, without what the threads do in turn.
const fn two_threads(name: &str) -> f64 {
    match name.as_bytes() {
        // Threads share nothing.
        b"kernel" => 1.9,
        // Only the chunks are handed out in turn.
        b"stats-boards" => 1.85,
        // The text is also divided at the ends of games or lines.
        b"stats-pgn" | b"stats-fen" => 1.8,
        // One thread writes what the others have prepared.
        _ => 1.6,
    }
}

/// The expected speedup: each further thread adds as much as the second one.
fn expected_speedup(name: &str, threads: usize) -> f64 {
    1.0 + (threads as f64 - 1.0) * (two_threads(name) - 1.0)
}

/// The least that each further thread must add to the kernel for other rows to be judged.
const LEAST_GAIN: f64 = 0.1;

/// The shortest run, in nanoseconds, whose speedup is judged: starting the threads takes about 0.3 ms of it.
const SHORTEST_RUN: f64 = 4e6;

/// The table of the pipeline, one line per row.
pub(super) fn table(rows: &[Row]) -> Option<Lines> {
    let reliable = reliable(rows);
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0));
    let lines: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let threads = row.pipeline_threads()?;
            timing(row)?;
            Some(vec![
                row.name.to_owned(),
                threads.to_string(),
                millions(Some(row)),
                believed(Some(row), |timing| number(Some(timing.nanoseconds), 1)),
                or_dash(row, percent(row.share_of_kernel(&reliable))),
                or_dash(row, percent(row.share_of_stats(&reliable))),
                or_dash(row, number(row.speedup(&reliable), 2)),
                spread([row].into_iter()),
            ])
        })
        .collect();
    let header = ["row", "threads", "M/s", "ns", "kernel", "stats", "speedup", "spread"];
    (!lines.is_empty()).then(|| Lines {
        title: "Pipeline: millions of positions per second, time per position".to_owned(),
        about: vec![
            "The shares are those of the rate of the kernel alone, and of `stats` of the same file, with as many \
             threads. The speedup is that over one thread."
                .to_owned(),
        ],
        header: header.map(str::to_owned).to_vec(),
        lines,
        numbers: 1..8,
    })
}

/// What can be said about a result.
#[derive(Clone, Debug, PartialEq)]
enum Judgement {
    Short(String),
    Met(String),
    /// These rows are unreliable.
    Unreliable(Vec<String>),
    TooShort(String),
}

/// The heading and the sentences; `None` if nothing can be compared.
pub(super) fn verdict(rows: &[Row]) -> Option<(String, Vec<Statement>)> {
    let shares = SHARES.iter().filter_map(|share| judge_share(share, rows));
    let capacity = Capacity::of(rows);
    let speedups = NAMES.iter().filter_map(|name| judge_speedup(name, rows, &capacity));
    let (mut short, mut met, mut unreliable, mut brief) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut doubtful = 0;
    for judgement in shares.chain(speedups) {
        match judgement {
            Judgement::Short(text) => short.push(text),
            Judgement::Met(text) => met.push(text),
            Judgement::TooShort(text) => brief.push(text),
            Judgement::Unreliable(titles) => {
                doubtful += 1;
                unreliable.extend(titles);
            }
        }
    }
    unreliable.sort_unstable();
    unreliable.dedup();
    let mut statements = Vec::new();
    let mut say = |count: usize, one: &str, several: &str, details: Vec<String>| {
        if count > 0 {
            let rest = if count == 1 { one } else { several };
            statements.push(Statement { text: format!("{} {rest}", counted(count as u64, "result")), details });
        }
    };
    say(
        short.len(),
        "is lower than it should be on this machine",
        "are lower than they should be on this machine",
        short,
    );
    say(met.len(), "is as high as expected", "are as high as expected", met);
    say(
        brief.len(),
        "is not judged, because the files are too small",
        "are not judged, because the files are too small",
        brief,
    );
    say(
        doubtful,
        "is not judged, because of unreliable rows",
        "are not judged, because of unreliable rows",
        unreliable,
    );
    (!statements.is_empty()).then(|| ("Verdict on the pipeline".to_owned(), statements))
}

/// The rows whose results are right.
fn verified<'a>(rows: &'a [Row], name: &str, threads: usize) -> Option<&'a Row> {
    find(rows, name, threads).filter(|row| row.measured.is_some_and(|measured| measured.verified))
}

/// The time of rows, or the titles of those that are unreliable.
fn times(rows: [&Row; 2]) -> Result<[Time; 2], Vec<String>> {
    let reliable = |row: &&Row| Time::of(row).is_some_and(Time::is_reliable);
    match rows.map(Time::of) {
        [Some(one), Some(other)] if rows.iter().all(reliable) => Ok([one, other]),
        _ => Err(rows.iter().filter(|row| !reliable(row)).map(|row| row.title()).collect()),
    }
}

/// Compares the ratio of two times, the reference to the own one, with the expected one.
fn compare(own: Time, reference: Time, expected: f64) -> Comparison {
    let aim = Time { nanoseconds: reference.nanoseconds / expected, ..reference };
    if own.nanoseconds <= aim.nanoseconds {
        Comparison::Reached
    } else if own.differs(aim) {
        Comparison::Short
    } else {
        Comparison::WithinNoise
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Short,
    WithinNoise,
    Reached,
}

impl Comparison {
    /// What follows after the expected value.
    fn remark(self) -> &'static str {
        if self == Self::WithinNoise { ", equal within noise" } else { "" }
    }
}

fn judge_share(share: &Share, rows: &[Row]) -> Option<Judgement> {
    let (own, other) = (verified(rows, share.name, 1)?, verified(rows, share.of, 1)?);
    let [time, reference] = match times([own, other]) {
        Ok(times) => times,
        Err(titles) => return Some(Judgement::Unreliable(titles)),
    };
    let compared = compare(time, reference, share.floor);
    let percent = reference.nanoseconds / time.nanoseconds * 100.0;
    let of = if share.of == KERNEL { "the kernel" } else { share.of };
    let expected = format!("({:.0} % expected{})", share.floor * 100.0, compared.remark());
    let (name, ns, other) = (share.name, time.nanoseconds, reference.nanoseconds);
    Some(match (compared, share.rest) {
        (Comparison::Short, Some(rest)) => Judgement::Short(format!(
            "{name} reaches only {percent:.0} % of {of} {expected}: {:.1} of {ns:.1} ns per position go to {rest}",
            ns - other
        )),
        (Comparison::Short, None) => Judgement::Short(format!(
            "{name} reaches only {percent:.0} % of {of} {expected}: it takes {ns:.1} ns per position, and {of} \
             {other:.1} ns"
        )),
        _ => Judgement::Met(format!("{name} reaches {percent:.0} % of {of} {expected}")),
    })
}

/// How much of the expected speedup the CPUs have to offer.
#[derive(Clone, Debug, PartialEq)]
enum Capacity {
    /// A part of 1: lower if the threads of the kernel, which share nothing, slow each other down.
    Part(f64),
    /// The threads share the same cores, so that nothing can be expected of more threads.
    Nothing,
    /// These rows of the kernel are unreliable.
    Unreliable(Vec<String>),
}

impl Capacity {
    /// Everything, if the kernel was not measured.
    fn of(rows: &[Row]) -> Self {
        let Some((all, one, threads)) = of_all_threads(rows, KERNEL) else {
            return Self::Part(1.0);
        };
        match times([all, one]) {
            Ok([all, one]) => {
                let expected = expected_speedup(KERNEL, threads);
                let speedup = one.nanoseconds / all.nanoseconds;
                match compare(all, one, expected) {
                    _ if speedup - 1.0 < LEAST_GAIN * (threads as f64 - 1.0) => Self::Nothing,
                    Comparison::Short => Self::Part(speedup / expected),
                    _ => Self::Part(1.0),
                }
            }
            Err(titles) => Self::Unreliable(titles),
        }
    }
}

/// The rows of all threads and of one thread, and the number of threads.
fn of_all_threads<'a>(rows: &'a [Row], name: &str) -> Option<(&'a Row, &'a Row, usize)> {
    let threads = rows.iter().filter_map(Row::pipeline_threads).max().filter(|&threads| threads > 1)?;
    Some((verified(rows, name, threads)?, verified(rows, name, 1)?, threads))
}

/// What to do about a run with all threads that is too short to be judged. The kernel is repeated as long as needed.
fn too_short(row: &Row, time: Time) -> Option<String> {
    let Subject::Pipeline { positions, threads, .. } = row.subject else {
        return None;
    };
    let run = time.nanoseconds * positions as f64;
    let factor = (SHORTEST_RUN / run).ceil();
    (row.name != KERNEL && run < SHORTEST_RUN).then(|| {
        let (title, ms) = (format!("{}/{}", row.name, label(threads)), run / 1e6);
        format!("{title} takes {ms:.1} ms: --size should be {factor:.0} times as large")
    })
}

fn judge_speedup(name: &str, rows: &[Row], capacity: &Capacity) -> Option<Judgement> {
    let (all, one, threads) = of_all_threads(rows, name)?;
    let [time, reference] = match times([all, one]) {
        Ok(times) => times,
        Err(titles) => return Some(Judgement::Unreliable(titles)),
    };
    let part = match capacity {
        // The kernel itself is judged by what its threads should do.
        _ if name == KERNEL => 1.0,
        Capacity::Part(part) => *part,
        Capacity::Nothing => return None,
        Capacity::Unreliable(titles) => return Some(Judgement::Unreliable(titles.clone())),
    };
    if let Some(text) = too_short(all, time) {
        return Some(Judgement::TooShort(text));
    }
    let expected = expected_speedup(name, threads) * part;
    let compared = compare(time, reference, expected);
    let speedup = reference.nanoseconds / time.nanoseconds;
    let of = if name == KERNEL { "the kernel" } else { name };
    let than_one = format!("{speedup:.2} times as fast as one for {of} ({expected:.2} expected{})", compared.remark());
    Some(match compared {
        Comparison::Short if name == KERNEL => {
            let others = match capacity {
                Capacity::Nothing => "the speedups of the other rows are not judged",
                _ => "less is expected of the other rows",
            };
            Judgement::Short(format!(
                "{threads} threads are only {than_one}: the threads share cores with each other or with other \
                 programs, so {others}"
            ))
        }
        Comparison::Short => Judgement::Short(format!("{threads} threads are only {than_one}")),
        _ => Judgement::Met(format!("{threads} threads are {than_one}")),
    })
}

#[cfg(test)]
mod tests {
    use super::super::ranking::tests::row;
    use super::*;
    use crate::cli::measure::{slider_queries::SliderPiece, sliders::Source};
    use lanefish::tiers::Tier;

    /// Rows of one thread and of two, with their times; a spread of 1 %, and a run of a million positions.
    fn rows(times: &[(&'static str, f64, f64)]) -> Vec<Row> {
        let of = |&(name, one, two): &(&'static str, f64, f64)| {
            [(1, one), (2, two)].map(|(threads, nanoseconds)| {
                let time = Time { nanoseconds, spread: 0.01 };
                let row = row(name, SliderPiece::Queen, Source::Real, Some(time));
                let (tier, positions, bytes_per_position) = (Tier::PORTABLE, 1_000_000, 36.0);
                Row {
                    group: "pipeline",
                    subject: Subject::Pipeline { tier, threads, positions, bytes_per_position },
                    ..row
                }
            })
        };
        times.iter().flat_map(of).collect()
    }

    /// The sentences, one per line, details indented.
    fn text(rows: &[Row]) -> String {
        let (_, statements) = verdict(rows).unwrap_or_default();
        let lines = statements.into_iter().flat_map(|Statement { text, details }| {
            std::iter::once(text).chain(details.into_iter().map(|detail| format!("  {detail}")))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    const GOOD: [(&str, f64, f64); 7] = [
        ("kernel", 10.0, 5.0),
        ("stats-boards", 16.0, 8.2),
        ("stats-pgn", 100.0, 52.0),
        ("stats-fen", 50.0, 26.0),
        ("convert-pgn-to-boards", 150.0, 90.0),
        ("convert-boards-to-boards", 12.0, 7.0),
        ("convert-fen-to-boards", 50.0, 28.0),
    ];

    #[test]
    fn what_is_as_expected() {
        let text = text(&rows(&GOOD));
        assert!(text.starts_with("10 results are as high as expected\n"), "{text}");
        for part in [
            "\n  stats-boards reaches 62 % of the kernel (50 % expected)\n",
            "\n  convert-boards-to-boards reaches 133 % of stats-boards (80 % expected)\n",
            "\n  2 threads are 2.00 times as fast as one for the kernel (1.90 expected)\n",
            "\n  2 threads are 1.67 times as fast as one for convert-pgn-to-boards (1.60 expected)\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn what_falls_short_beyond_the_noise() {
        let mut times = GOOD;
        times[1] = ("stats-boards", 32.0, 17.5);
        times[2] = ("stats-pgn", 70.0, 36.0);
        let text = text(&rows(&times));
        assert!(
            text.starts_with(
                "2 results are lower than they should be on this machine\n\
                 \x20 stats-boards reaches only 31 % of the kernel (50 % expected): 22.0 of 32.0 ns per position go to \
                 reading, checksums and adding up the results\n\
                 \x20 convert-pgn-to-boards reaches only 47 % of stats-pgn (50 % expected): it takes 150.0 ns per \
                 position, and stats-pgn 70.0 ns\n\
                 8 results are as high as expected\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("1.83 times as fast as one for stats-boards (1.85 expected, equal within noise)"),
            "{text}"
        );
    }

    #[test]
    fn threads_that_share_cores_are_expected_to_gain_less() {
        let mut times = GOOD;
        times[0].2 = 8.0;
        times[1].2 = 13.0;
        let text = text(&rows(&times));
        assert!(
            text.starts_with(
                "1 result is lower than it should be on this machine\n\
                 \x20 2 threads are only 1.25 times as fast as one for the kernel (1.90 expected): the threads share"
            ),
            "{text}"
        );
        assert!(text.contains("2 threads are 1.23 times as fast as one for stats-boards (1.22 expected)"), "{text}");
        times[0].2 = 9.8;
        let text = self::text(&rows(&times));
        assert!(text.contains("programs, so the speedups of the other rows are not judged\n"), "{text}");
        assert_eq!(text.matches("times as fast").count(), 1, "{text}");
        // Without the kernel, nothing is known about the cores.
        let alone = self::text(&rows(&times[1..2]));
        assert!(alone.contains("only 1.23 times as fast as one for stats-boards (1.85 expected)"), "{alone}");
        assert!((expected_speedup("convert-fen-to-boards", 8) - 5.2).abs() < 1e-9);
    }

    #[test]
    fn unreliable_rows_and_short_runs_are_not_judged() {
        let mut all = rows(&GOOD);
        all[2].measured.as_mut().unwrap().timing.spread = 0.5;
        let Subject::Pipeline { positions, .. } = &mut all[5].subject else { unreachable!() };
        *positions = 10_000;
        let text = text(&all);
        let end = "1 result is not judged, because the files are too small\n\
                   \x20 stats-pgn/all takes 0.5 ms: --size should be 8 times as large\n\
                   3 results are not judged, because of unreliable rows\n\
                   \x20 pipeline/stats-boards/1";
        assert!(text.ends_with(end) && text.starts_with("6 results are as high as expected"), "{text}");
        all[0].measured.as_mut().unwrap().timing.spread = 0.5;
        let text = self::text(&all);
        assert!(!text.contains("times as fast") && text.contains("pipeline/kernel/1"), "{text}");
    }

    #[test]
    fn with_few_rows_it_says_what_it_can() {
        assert_eq!(verdict(&[]), None);
        assert_eq!(verdict(&rows(&GOOD)[..1]), None);
        let mut rows = rows(&GOOD[..2]);
        rows.retain(|row| row.pipeline_threads() == Some(1));
        assert_eq!(
            text(&rows),
            "1 result is as high as expected\n  stats-boards reaches 62 % of the kernel (50 % expected)"
        );
        rows[0].measured.as_mut().unwrap().verified = false;
        assert_eq!(verdict(&rows), None);
    }

    #[test]
    fn the_table_has_shares_and_speedups() {
        let mut all = rows(&GOOD);
        let lines = table(&all).unwrap().lines;
        assert_eq!(lines[0], ["kernel", "1", "100", "10.0", "100 %", "-", "-", "1 %"]);
        assert_eq!(lines[9], ["convert-pgn-to-boards", "2", "11.1", "90.0", "6 %", "58 %", "1.67", "1 %"]);
        all[8].measured.as_mut().unwrap().timing.spread = 0.3;
        let lines = table(&all).unwrap().lines;
        assert_eq!(lines[8], ["convert-pgn-to-boards", "1", "unreliable", "unreliable", "-", "-", "-", "30 %"]);
        assert_eq!(lines[9][4..7], ["6 %", "58 %", "-"]);
        assert!(table(&[]).is_none());
    }
}
