//! Every fuzz target for two seconds, on the seeds in `fuzz/corpus` and on mutations of them.
//! `LANEFISH_FUZZ_SECONDS` sets the time per target, `LANEFISH_FUZZ_SEED` the random seed, and
//! `LANEFISH_FUZZ_TARGET` selects a single target.

mod properties;

use crate::support::Random;
use properties::TARGETS;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The seeds of a target: small files.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no seeds for {target}");
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// Text that has a meaning in some format.
const WORDS: [&[u8]; 48] = [
    b"[Event \"x\"]\n",
    b"\n\n",
    b"[%clk 0:01:02]",
    b"[%eval ",
    b"#-3]",
    b"{",
    b"}",
    b"(",
    b")",
    b";",
    b"\n%",
    b" 1-0 ",
    b" 1/2-1/2 ",
    b"*",
    b" 0-1\n",
    b"1. ",
    b"e4 ",
    b"Nf3 ",
    b"O-O ",
    b"--",
    b"$1 ",
    b"\xEF\xBB\xBF",
    b"id ",
    b"epd ",
    b"perft 1 20\n",
    b"\nid x\n",
    b" bm e4;",
    b"\"",
    b"\\",
    b" w KQkq - 0 1",
    b"/8/",
    b"\t",
    b"\r\n",
    b"\xC2\xA0",
    b"\xFF",
    b"\0",
    b"[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n",
    b"e8=Q",
    b"exd6 e.p.",
    b"{\"fen\":\"",
    b"\"evals\":[",
    b"\"mate\":-3",
    b"],",
    b"2025.05.??",
    b"300+3",
    b"LFBBLOCK",
    b"B10-B19",
    b"\x28\xB5\x2F\xFD",
];

/// Makes one to four small changes.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>, others: &[Vec<u8>]) {
    for _ in 0..1 + random.below(4) {
        let place = random.below(bytes.len() as u64 + 1) as usize;
        let longest = 1 + random.below(64);
        let len = (random.below(longest) as usize).min(bytes.len() - place);
        match random.below(10) {
            0 | 1 if place < bytes.len() => bytes[place] ^= 1 << random.below(8),
            2 if place < bytes.len() => bytes[place] = random.next() as u8,
            3 => drop(bytes.drain(place..place + len)),
            4 => {
                let copy = bytes[place..place + len].to_vec();
                let to = random.below(bytes.len() as u64 + 1) as usize;
                bytes.splice(to..to, copy);
            }
            5 => bytes.truncate(place),
            6 => {
                let other = &others[random.below(others.len() as u64) as usize];
                let from = random.below(other.len() as u64 + 1) as usize;
                let len = (random.below(200) as usize).min(other.len() - from);
                bytes.splice(place..place, other[from..from + len].iter().copied());
            }
            7 if bytes.len() >= place + 8 => {
                // Numbers of binary formats, mostly extreme ones.
                let numbers = [
                    0,
                    1,
                    0xFF,
                    0xFFFF,
                    64,
                    4096,
                    u64::MAX,
                    1 << 40,
                    random.next(),
                ];
                let number = numbers[random.below(9) as usize].to_le_bytes();
                let width = [1, 2, 4, 8][random.below(4) as usize];
                bytes[place..place + width].copy_from_slice(&number[..width]);
            }
            _ => {
                let word = WORDS[random.below(WORDS.len() as u64) as usize];
                bytes.splice(place..place, word.iter().copied());
            }
        }
    }
}

fn run(target: &str) {
    if std::env::var("LANEFISH_FUZZ_TARGET").is_ok_and(|only| only != target) {
        return;
    }
    let (_, check) = TARGETS
        .iter()
        .find(|(name, _)| *name == target)
        .expect("a target of this name");
    let seeds = seeds(target);
    let seconds = variable("LANEFISH_FUZZ_SECONDS").unwrap_or(2);
    let mut random = Random::new(variable("LANEFISH_FUZZ_SEED").unwrap_or(1));
    let begin = Instant::now();
    let mut count = 0u64;
    let mut run = |bytes: &[u8]| {
        let tried = catch_unwind(AssertUnwindSafe(|| check(bytes)));
        if tried.is_err() {
            let kept =
                std::env::temp_dir().join(format!("lanefish-fuzz-{target}-{}", std::process::id()));
            std::fs::write(&kept, bytes).unwrap();
            panic!("{target}: this input breaks a property: {}", kept.display());
        }
        count += 1;
    };
    seeds.iter().for_each(|seed| run(seed));
    let mut current = Vec::new();
    while begin.elapsed() < Duration::from_secs(seconds) {
        // Several mutations accumulate before the next seed.
        if current.is_empty() || current.len() > 8192 || random.below(6) == 0 {
            current.clone_from(&seeds[random.below(seeds.len() as u64) as usize]);
        }
        mutate(&mut random, &mut current, &seeds);
        run(&current);
    }
    let elapsed = begin.elapsed().as_secs_f64();
    eprintln!("{target}: {count} inputs in {elapsed:.1} s");
}

macro_rules! targets {
    ($($target:ident),+) => {$(
        #[test]
        fn $target() {
            run(stringify!($target));
        }
    )+};
}

targets!(
    fen, epd, perft, pgn, evals, puzzles, boards, containers, selection, san, report
);
#[cfg(feature = "parquet")]
targets!(parquet, arrow);
