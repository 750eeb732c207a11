//! Every fuzz target for a second, on its seeds and on mutations of them.
//!
//! Each target runs in a process of its own, under a limit of addresses and of time per input, so that a failed
//! allocation or an input without end is a finding like any other: the input that is being tried is always in a file.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LANEFISH_FUZZ_SECONDS` | time per target |
//! | `LANEFISH_FUZZ_INPUTS` | inputs per target, instead of a time; findings are counted and do not end the run |
//! | `LANEFISH_FUZZ_SEED` | the random seed |
//! | `LANEFISH_FUZZ_TARGET` | only this target |
//! | `LANEFISH_FUZZ_FINDINGS` | the folder of findings, instead of the temporary one |
//! | `LANEFISH_FUZZ_TIMEOUT` | seconds per input, 60 by default |
//! | `LANEFISH_FUZZ_MEMORY` | mebibytes of addresses, 4096 by default |

mod properties;
#[cfg(feature = "parquet")]
mod seeds;

use crate::support::Random;
use properties::{TARGETS, choice, for_all_targets, repair};
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Set in the process of a target.
const CHILD: &str = "LANEFISH_FUZZ_CHILD";
/// A long run ends after this many findings.
const MOST_FINDINGS: u64 = 20;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Small files of one format.
fn files(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no seeds for {target}");
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// The seeds of a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        #[cfg(feature = "parquet")]
        "parquet" => [files(target), seeds::parquet()].concat(),
        #[cfg(feature = "parquet")]
        "arrow" => [files(target), seeds::arrow()].concat(),
        // Of every format.
        "verify" => TARGETS
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| {
                !["verify", "san", "report", "selection", "expression", "tree", "zip", "game_cells"].contains(name)
            })
            .flat_map(seeds)
            .collect(),
        _ => files(target),
    }
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
                let numbers = [0, 1, 0xFF, 0xFFFF, 64, 4096, u64::MAX, 1 << 40, random.next()];
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

/// Where findings are kept.
fn findings() -> PathBuf {
    let directory = std::env::var_os("LANEFISH_FUZZ_FINDINGS").map_or_else(std::env::temp_dir, PathBuf::from);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Runs a target in a process of its own.
fn run(target: &'static str) {
    if std::env::var("LANEFISH_FUZZ_TARGET").is_ok_and(|only| only != target) {
        return;
    }
    if std::env::var_os(CHILD).is_some() {
        return try_inputs(target);
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("fuzz::{target}"), "--nocapture"])
        .env(CHILD, "1")
        .spawn()
        .unwrap();
    let trying = trying(target, child.id());
    let done = child.wait_with_output().unwrap();
    if done.status.success() {
        let _ = std::fs::remove_file(&trying);
    } else {
        panic!("{target}: {}; the last input is {}", done.status, trying.display());
    }
}

/// The file of the input that is being tried by this process.
fn trying(target: &str, process: u32) -> PathBuf {
    findings().join(format!("lanefish-fuzz-{target}-{process}"))
}

/// Ends the process when an input takes too long.
fn watch(count: Arc<AtomicU64>, target: &'static str) {
    let limit = Duration::from_secs(variable("LANEFISH_FUZZ_TIMEOUT").unwrap_or(60));
    std::thread::spawn(move || {
        let (mut seen, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = count.load(Ordering::Relaxed);
            if now != seen {
                (seen, since) = (now, Instant::now());
            } else if since.elapsed() > limit {
                eprintln!("{target}: input {now} takes longer than {limit:?}");
                std::process::abort();
            }
        }
    });
}

fn try_inputs(target: &'static str) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let current = variable("LANEFISH_FUZZ_MEMORY").unwrap_or(4096) << 20;
        let maximum = getrlimit(Resource::As).maximum;
        let current = Some(maximum.map_or(current, |most| most.min(current)));
        setrlimit(Resource::As, Rlimit { current, maximum }).unwrap();
    }
    let (_, check) = TARGETS.iter().find(|(name, _)| *name == target).expect("a target of this name");
    let seeds = seeds(target);
    let inputs = variable("LANEFISH_FUZZ_INPUTS");
    let time = Duration::from_secs(variable("LANEFISH_FUZZ_SECONDS").unwrap_or(1));
    let mut random = Random::new(variable("LANEFISH_FUZZ_SEED").unwrap_or(1));
    let trying = trying(target, std::process::id());
    let mut kept = std::fs::File::create(&trying).unwrap();
    let begin = Instant::now();
    let count = Arc::new(AtomicU64::new(0));
    watch(Arc::clone(&count), target);
    let mut found = 0;
    let mut run = |bytes: &[u8]| {
        kept.set_len(0).unwrap();
        kept.rewind().unwrap();
        kept.write_all(bytes).unwrap();
        let tried = catch_unwind(AssertUnwindSafe(|| check(bytes)));
        if tried.is_err() {
            let finding = findings().join(format!("lanefish-finding-{target}-{}", choice(bytes)));
            std::fs::write(&finding, bytes).unwrap();
            eprintln!("{target}: this input breaks a property: {}", finding.display());
            found += 1;
            assert!(inputs.is_some() && found < MOST_FINDINGS);
        }
        count.fetch_add(1, Ordering::Relaxed) + 1
    };
    for seed in &seeds {
        run(seed);
    }
    let mut current = Vec::new();
    let mut done = 0;
    while inputs.map_or_else(|| begin.elapsed() < time, |most| done < most) {
        // Several mutations accumulate before the next seed.
        if current.is_empty() || current.len() > 8192 || random.below(6) == 0 {
            current.clone_from(&seeds[random.below(seeds.len() as u64) as usize]);
        }
        mutate(&mut random, &mut current, &seeds);
        // Otherwise most changes of such files would be found by the checksums alone.
        if current.starts_with(b"\x89LFB\r\n\x1A\n") && random.below(2) == 0 {
            current = repair(&current);
        }
        done = run(&current);
    }
    let elapsed = begin.elapsed().as_secs_f64();
    eprintln!("{target}: {done} inputs in {elapsed:.1} s, {found} findings");
    assert_eq!(found, 0);
}

macro_rules! tests {
    ($($(#[$feature:meta])? $target:ident,)*) => {$(
        $(#[$feature])?
        #[test]
        fn $target() {
            run(stringify!($target));
        }
    )*};
}
for_all_targets!(tests);

/// Inputs that once broke a property.
#[test]
fn games_that_were_found() {
    for name in [
        "long-game-behind-a-brace.pgn",
        "long-game-with-a-result.pgn",
        "odd-tags-before-a-crowded-line.pgn",
        "odd-tags-repeated-in-a-crowded-line.pgn",
    ] {
        let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/found");
        properties::pgn(&std::fs::read(found.join(name)).unwrap());
    }
}
