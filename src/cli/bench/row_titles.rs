//! The titles of all rows, in the order in which they are measured: so that a filter can be checked
//! before anything is measured, and progress has a total.

use super::Group;
use crate::cli::measure::cli_commands;
use crate::cli::measure::kernels::Kernel;
use crate::cli::measure::pipeline::{self, label, thread_counts};
use crate::cli::measure::scan::Place;
use crate::cli::measure::{slider_queries::SliderPiece, sliders::Source};
use lanefish::sliders::{Sliders, Visitor, for_each_algorithm};
use lanefish::tiers::{self, Tier};

/// Names of the slider algorithms on lanes; the tests compare them with the rows.
pub(super) const LANES: [&str; 6] = [
    "lanes-fill-portable",
    "lanes-hyperbola-portable",
    "lanes-fill-avx2",
    "lanes-hyperbola-avx2",
    "lanes-fill-avx512",
    "lanes-hyperbola-avx512",
];
const DECODE: [&str; 17] = [
    "fen",
    "pgn",
    "boards",
    "pgn_scan",
    "pgn_words",
    "pgn_replay",
    "pgn_words_portable",
    "pgn_replay_portable",
    "pgn_scan_avx2",
    "pgn_words_avx2",
    "pgn_replay_avx2",
    "pgn_scan_avx512",
    "pgn_words_avx512",
    "pgn_replay_avx512",
    "pack",
    "unpack",
    "write_fen",
];
const SCAN: [&str; 3] = ["sum", "checksum", "legal_count"];

fn algorithms() -> Vec<&'static str> {
    struct Names(Vec<&'static str>);
    impl Visitor for Names {
        fn visit<A: Sliders>(&mut self) {
            self.0.push(A::NAME);
        }
    }
    let mut names = Names(Vec::new());
    for_each_algorithm(&mut names);
    let mut names = names.0;
    // The lanes of other CPUs are not compiled in.
    let lanes = if cfg!(target_arch = "x86_64") { 6 } else { 2 };
    names.extend(&LANES[..lanes]);
    names
}

/// The names of the implementations that run a kernel.
fn implementations(kernel: Kernel) -> Vec<&'static str> {
    let mut names: Vec<_> = Tier::all().map(Tier::name).collect();
    let alternatives = tiers::alternatives().into_iter();
    names.extend(
        alternatives
            .filter(|other| match kernel {
                // Only tiers decode.
                Kernel::Decode => false,
                Kernel::LegalCount => true,
                _ => !other.counts_only,
            })
            .map(|other| other.name),
    );
    names
}

/// The titles of a group's rows; `threads` are all threads of the pipeline.
pub(super) fn of(group: Group, threads: usize) -> Vec<String> {
    let mut titles = Vec::new();
    match group {
        Group::Sliders => {
            let algorithms = algorithms();
            for source in Source::ALL {
                for piece in SliderPiece::ALL {
                    let title = |name| format!("sliders/{name}/{piece}/{source}");
                    titles.extend(algorithms.iter().map(title));
                }
            }
        }
        Group::Kernels => {
            for kernel in Kernel::ALL {
                let title = |name| format!("kernels/{}/{name}", kernel.name());
                titles.extend(implementations(kernel).into_iter().map(title));
            }
        }
        Group::Decode => titles.extend(DECODE.map(|name| format!("decode/{name}"))),
        Group::Scan => {
            for place in Place::ALL {
                titles.extend(SCAN.map(|name| format!("scan/{name}/{place}")));
            }
        }
        Group::Commands => titles.extend(cli_commands::NAMES.map(|name| format!("commands/{name}"))),
        Group::Pipeline => {
            for name in pipeline::NAMES {
                let title = |threads| format!("pipeline/{name}/{}", label(threads));
                titles.extend(thread_counts(threads).into_iter().map(title));
            }
        }
    }
    titles
}

/// The same, abbreviated as shell brace expansion.
pub(super) fn in_short(group: Group, threads: usize) -> String {
    match group {
        Group::Sliders => format!(
            "sliders/{{{}}}/{{{}}}/{{{}}}",
            algorithms().join(","),
            SliderPiece::ALL.map(|piece| piece.to_string()).join(","),
            Source::ALL.map(|source| source.to_string()).join(",")
        ),
        Group::Kernels => {
            let kernels = Kernel::ALL.map(Kernel::name);
            let tiers = implementations(Kernel::Decode);
            let others = implementations(Kernel::Everything).split_off(tiers.len());
            let counting = implementations(Kernel::LegalCount);
            let counting = counting[tiers.len() + others.len()..].to_vec();
            // Kernels, and what runs all of them.
            let sets = [(&kernels[..], tiers), (&kernels[1..], others), (&[Kernel::LegalCount.name()], counting)];
            let parts: Vec<String> = sets
                .iter()
                .filter(|(_, names)| !names.is_empty())
                .map(|(kernels, names)| format!("kernels/{{{}}}/{{{}}}", kernels.join(","), names.join(",")))
                .collect();
            parts.join(", ")
        }
        Group::Decode => format!("decode/{{{}}}", DECODE.join(",")),
        Group::Scan => {
            format!("scan/{{{}}}/{{{}}}", SCAN.join(","), Place::ALL.map(|place| place.to_string()).join(","))
        }
        Group::Commands => format!("commands/{{{}}}", cli_commands::NAMES.join(",")),
        Group::Pipeline => {
            let labels: Vec<_> = thread_counts(threads).into_iter().map(label).collect();
            format!("pipeline/{{{}}}/{{{}}}", pipeline::NAMES.join(","), labels.join(","))
        }
    }
}

/// What is measured together with the row of this title, in words.
pub(super) fn together(title: &str) -> String {
    let words: Vec<&str> = title.split('/').collect();
    match words[..] {
        ["sliders", _, piece, source] => format!("sliders, {piece}, {source}"),
        ["kernels", kernel, _] => format!("kernels, {kernel}"),
        ["scan", _, place] => format!("scan, {place}"),
        _ => words[0].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_in_words() {
        assert_eq!(together("sliders/pext/queen/real"), "sliders, queen, real");
        assert_eq!(together("decode/fen"), "decode");
        assert!(of(Group::Kernels, 1).contains(&"kernels/pins/avx2".to_owned()));
        assert!(in_short(Group::Scan, 1).starts_with("scan/{sum,"));
        assert_eq!(of(Group::Pipeline, 1).len(), 7);
        assert_eq!(of(Group::Pipeline, 8)[..2], ["pipeline/kernel/1", "pipeline/kernel/all"]);
        assert!(in_short(Group::Pipeline, 8).ends_with("/{1,all}") && in_short(Group::Pipeline, 1).ends_with("/{1}"));
    }
}
