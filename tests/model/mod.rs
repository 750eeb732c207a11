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

use options::NAMES;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of seeds that are tried, unless the environment asks for more.
const SEEDS: u64 = 45;

/// The case of a seed: how often each pair of options stood in it, and its first difference, shrunk, as text.
fn tried(seed: u64, pairs: &mut BTreeMap<(&'static str, &'static str), u64>) -> Option<String> {
    let case = generate::draw(seed);
    let given = case.options.given();
    for (place, &first) in given.iter().enumerate() {
        given[place..].iter().for_each(|&second| *pairs.entry((first, second)).or_default() += 1);
    }
    let found = compare::difference(&case)?;
    let (case, found) = shrink::shrunk(case, found);
    Some(format!("seed {seed}: {}\n{}\n{:?}", found.what, found.typed.join("\n"), case.options.given()))
}

/// How many cases had each pair of options: a row and a column for each option.
fn table(pairs: &BTreeMap<(&'static str, &'static str), u64>) -> String {
    let mut lines = String::new();
    for (row, first) in NAMES.iter().enumerate() {
        let cells = NAMES[..=row].iter().map(|second| {
            let count = pairs.get(&(*second, *first)).copied().unwrap_or(0);
            format!("{count:>6}")
        });
        lines.push_str(&format!("{:>2} {first:<16}{}\n", row + 1, cells.collect::<String>()));
    }
    let numbers: String = (1..=NAMES.len()).map(|number| format!("{number:>6}")).collect();
    format!("{:19}{numbers}\n{lines}", "")
}

/// The first seeds, or with `LANEFISH_MODEL_SECONDS` as many as there is time for, from `LANEFISH_MODEL_SEED` on. Then each
/// difference is printed when it is found, and a table of the pairs of options at the end.
#[test]
fn drawn_command_lines_do_what_the_documents_say() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let first = number("LANEFISH_MODEL_SEED").unwrap_or(0);
    let time = number("LANEFISH_MODEL_SECONDS").map(Duration::from_secs);
    let begin = Instant::now();
    let next = AtomicU64::new(first);
    let (found, pairs) = (Mutex::new(Vec::new()), Mutex::new(BTreeMap::new()));
    let work = || {
        let mut here = BTreeMap::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let go_on = time.map_or(seed < first + SEEDS, |time| begin.elapsed() < time);
            if !go_on {
                break;
            }
            if let Some(difference) = tried(seed, &mut here) {
                if time.is_some() {
                    eprintln!("{difference}\n");
                }
                found.lock().expect("no panic").push(difference);
            }
        }
        let mut all = pairs.lock().expect("no panic");
        here.into_iter().for_each(|(pair, count)| *all.entry(pair).or_insert(0) += count);
    };
    // The other tests run beside the short one.
    let threads = if time.is_some() { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    if time.is_some() {
        let seeds = next.load(Ordering::Relaxed) - first - threads as u64;
        let commands = run::COMMANDS.load(Ordering::Relaxed);
        eprintln!(
            "{seeds} cases from seed {first} on, {commands} command lines\n{}",
            table(&pairs.into_inner().expect("no panic"))
        );
    }
    let found = found.into_inner().expect("no panic");
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}
