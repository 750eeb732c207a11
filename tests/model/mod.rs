//! A plain model of the command line, compared with the program on drawn command lines.
//!
//! The generator writes games and lines, lets the program convert them to other formats, and draws a command. The model
//! says from the documents what the command must give. What differs is shrunk and printed as commands to type.

mod compare;
mod expected;
mod expression;
mod generate;
mod judge_outputs;
mod options;
mod records;
mod run;
mod shrink;
mod texts;

use std::time::{Duration, Instant};

/// Number of seeds that are tried, unless the environment asks for more.
const SEEDS: u64 = 45;

/// The first difference of the case of a seed, shrunk, as text.
fn difference(seed: u64) -> Option<String> {
    let case = generate::draw(seed);
    let found = compare::difference(&case)?;
    let (case, found) = shrink::shrunk(case, found);
    Some(format!("seed {seed}: {}\n{}\n{:?}", found.what, found.typed.join("\n"), case.options.given()))
}

/// The first seeds, or with `LANEFISH_MODEL_SECONDS` as many as there is time for, from `LANEFISH_MODEL_SEED` on.
#[test]
fn drawn_command_lines_do_what_the_documents_say() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let first = number("LANEFISH_MODEL_SEED").unwrap_or(0);
    let time = number("LANEFISH_MODEL_SECONDS").map(Duration::from_secs);
    let begin = Instant::now();
    let seeds = (first..).take_while(|seed| match time {
        Some(time) => begin.elapsed() < time,
        None => *seed < first + SEEDS,
    });
    let found: Vec<String> = seeds.filter_map(difference).collect();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}
