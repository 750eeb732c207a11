//! Older CPUs, as `LANEFISH_CPU` shows them to the program. Most of its tests know no CPU, so they run once, and one test
//! here compares what the commands make of every format at each level. What describes the CPU is tested at each level:
//! the tests of `info` and `bench`, and those of `--tier`, run again, each under the name of the level.

use super::{json, lanefish};
use crate::formats::every_format::{Size, samples_of};
use crate::support::FAMOUS;
use assert_cmd::Command;
use lanefish::formats::Format;
use lanefish::jobs::{Content, OutputFormat};
use lanefish_core::cpu::LEVEL;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// The level at which this thread runs the program, if not that of the CPU.
    static SHOWN: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The level at which this thread runs the program.
pub(super) fn shown() -> Option<&'static str> {
    SHOWN.get()
}

/// Lets a command see the CPU that this thread shows.
pub(super) fn apply(command: &mut Command) {
    if let Some(level) = shown() {
        // The environment may ask for a tier that this level does not have.
        command.env(LEVEL, level).env_remove("LANEFISH_TIER");
    }
}

/// Does something while this thread shows the program another CPU.
fn showing<T>(level: Option<&'static str>, act: impl FnOnce() -> T) -> T {
    /// Also after a panic: one thread may run all tests.
    struct Restored(Option<&'static str>);
    impl Drop for Restored {
        fn drop(&mut self) {
            SHOWN.set(self.0);
        }
    }
    let _restored = Restored(SHOWN.replace(level));
    act()
}

/// The levels at which this CPU shows less than it has. An emulator has a level of its own, and takes too long.
fn levels() -> &'static [&'static str] {
    static LEVELS: OnceLock<Vec<&str>> = OnceLock::new();
    LEVELS.get_or_init(|| {
        if lanefish(&[]).get_args().next().is_some() {
            return Vec::new();
        }
        let features = |level| showing(level, || json(0, &["info", "--json"])["features"].take());
        let own = features(None);
        ["x86-64", "bmi2", "avx2", "avx512"].into_iter().filter(|&level| features(Some(level)) != own).collect()
    })
}

/// A test of another file, at a level.
fn again(level: &'static str, test: fn()) {
    if levels().contains(&level) {
        showing(Some(level), test);
    } else {
        println!("the CPU has nothing beyond {level}: this would be the same test");
    }
}

/// Tests of other files at each level, in a module for each.
macro_rules! at_each_level {
    (@$name:ident $level:literal $($file:ident: $($test:ident)*;)*) => {
        mod $name {
            $(mod $file {
                $(#[test]
                fn $test() {
                    super::super::again($level, super::super::super::$file::$test);
                })*
            })*
        }
    };
    ($($file:ident: $($test:ident)*;)*) => {
        const AGAIN: &[(&str, &[&str])] = &[$((stringify!($file), &[$(stringify!($test)),*])),*];
        at_each_level! { @x86_64 "x86-64" $($file: $($test)*;)* }
        at_each_level! { @bmi2 "bmi2" $($file: $($test)*;)* }
        at_each_level! { @avx2 "avx2" $($file: $($test)*;)* }
        at_each_level! { @avx512 "avx512" $($file: $($test)*;)* }
    };
}

at_each_level! {
    bench:
        slider_rows_have_all_fields_and_agree
        kernel_rows_have_all_fields_and_agree
        decode_and_scan_rows_are_verified
        pipeline_rows_have_shares_and_speedups
        filter_input_and_tables
        a_filter_without_matches_is_an_error_that_lists_all_titles
        every_row_can_be_filtered_by_its_title
        tables_fit_a_terminal
        a_saved_run_is_the_object_of_json
        an_earlier_run_is_compared_row_by_row
        all_groups_can_be_compared
        progress_has_the_row_and_the_time_left
        lanes_stand_apart;
    info:
        the_cpu
        a_tier_disables_what_it_does_not_use
        calibration
        files
        version
        the_build_says_what_it_has;
    options:
        tiers_by_option_and_by_variable
        a_tier_that_the_cpu_lacks_is_a_clear_error;
}

/// The tests of `info` and `bench` that need not run again: they set the level themselves, or no CPU matters to them.
const NOT_AGAIN: [&str; 8] = [
    "a_level_hides_what_the_cpu_has_beyond_it",
    "a_level_that_does_not_exist_hides_everything",
    "files_without_information",
    "info_is_immediate",
    "tables_say_how_they_are_compressed",
    "the_pipeline_of_one_thread_has_no_duplicates_and_a_verdict",
    "what_cannot_be_saved_or_compared_is_an_error",
    "wrong_arguments",
];

#[test]
fn every_test_of_info_and_bench_is_in_the_list() {
    for (file, text) in [("info", include_str!("info.rs")), ("bench", include_str!("bench.rs"))] {
        let (_, again) = AGAIN.iter().find(|(name, _)| *name == file).expect("in the list");
        for test in text.split("#[test]\n").skip(1) {
            let name = test.split_once("fn ").and_then(|(_, rest)| rest.split_once('(')).expect("a function").0;
            assert!(again.contains(&name) != NOT_AGAIN.contains(&name), "{file}::{name}");
        }
    }
}

/// The parts of standard output that name the tier or measure time: members of the objects of `stats --json` and
/// `perft --json`, whose values are not compared.
const MEMBERS: [&str; 4] = ["\"tier\":", "\"seconds\":", "\"positions_per_second\":", "\"nodes_per_second\":"];
/// The parts of standard error that do: how many fields the notes of `stats` and `perft` begin with that are the time,
/// the speed and the tier.
const NOTES: [(&str, usize); 2] = [(" positions/s, ", 3), (" nodes/s, ", 2)];

fn comparable_stdout(bytes: Vec<u8>, arguments: &[&str]) -> Vec<u8> {
    if !(["stats", "perft"].contains(&arguments[0]) && arguments.contains(&"--json")) {
        return bytes;
    }
    let mut text = String::from_utf8(bytes).expect("UTF-8");
    for member in MEMBERS {
        if let Some((before, rest)) = text.split_once(member) {
            let value = rest.find([',', '\n']).expect("something follows");
            assert!(!rest.contains(member), "{member} comes twice");
            text = format!("{before}{member}{}", &rest[value..]);
        }
    }
    text.into_bytes()
}

fn comparable_stderr(bytes: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8(bytes).expect("UTF-8");
    let kept = |line: &str| match NOTES.iter().find(|(note, _)| line.contains(note)) {
        Some(&(_, fields)) => line.split(", ").skip(fields).collect::<Vec<_>>().join(", "),
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(kept).collect::<String>().into_bytes()
}

/// What a run leaves, by name: the status, what was printed, and each file.
type Outcome = BTreeMap<String, Vec<u8>>;

fn add_files(outcome: &mut Outcome, top: &Path, folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_files(outcome, top, &path);
        } else {
            let name = path.strip_prefix(top).expect("inside").display().to_string();
            outcome.insert(name, fs::read(path).expect("readable"));
        }
    }
}

/// Runs the program in a folder of its own.
fn run(folder: &Path, arguments: &[String]) -> Outcome {
    fs::create_dir(folder).expect("created");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = lanefish(&arguments).current_dir(folder).output().expect("started");
    let mut outcome = Outcome::new();
    add_files(&mut outcome, folder, folder);
    fs::remove_dir_all(folder).expect("removed");
    outcome.insert("the status".to_owned(), format!("{:?}", done.status.code()).into_bytes());
    outcome.insert("standard output".to_owned(), comparable_stdout(done.stdout, &arguments));
    outcome.insert("standard error".to_owned(), comparable_stderr(done.stderr));
    outcome
}

/// The first difference of two runs, if there is one.
fn difference(own: &Outcome, other: &Outcome) -> Option<String> {
    if !own.keys().eq(other.keys()) {
        return Some(format!("{:?} became {:?}", own.keys(), other.keys()));
    }
    let (name, was, is) =
        own.iter().map(|(name, bytes)| (name, bytes, &other[name])).find(|(_, own, other)| own != other)?;
    if [was, is].iter().any(|bytes| std::str::from_utf8(bytes).is_err()) {
        let at = was.iter().zip(is).take_while(|(was, is)| was == is).count();
        return Some(format!("{name}: {} and {} bytes differ at byte {at}", was.len(), is.len()));
    }
    let lines = |bytes: &[u8]| -> Vec<String> {
        bytes
            .split(|&byte| byte == b'\n')
            .map(|line| String::from_utf8_lossy(line).chars().take(300).collect())
            .collect()
    };
    let (was, is) = (lines(was), lines(is));
    let at = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
    let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
    Some(format!("{name}, line {}:\n    {}\n    {}", at + 1, line(&was), line(&is)))
}

/// The commands on an input of this format, which is the `number`th. It is converted to every third format, so that several
/// inputs are converted to each.
fn commands(input: &str, format: Format, number: usize) -> Vec<Vec<String>> {
    let mut all: Vec<String> = [
        "stats --json --details",
        "stats --html page.html --csv csv --rejects bad.txt",
        "compute --columns all --rejects bad.txt",
        "compute --columns all --format jsonl --masks decimal",
        "compute --columns all -o out.parquet",
        "compute --columns all -o out.arrow",
        "games",
        "verify --json",
        "dedup --key record -o out.boards --rejects bad.txt",
        "shuffle --seed 7 -o out.fen --manifest",
        "split --parts a=0.7,b=0.3 -o {part}.fen",
        "show --attacks white --limit 3",
        "info --json",
    ]
    .map(str::to_owned)
    .into();
    let written = Format::ALL.iter().map(|format| format.name());
    let written = written.filter(|name| OutputFormat::named(name, Content::Records).is_ok());
    let written = written.skip(number % 3).step_by(3);
    all.extend(written.map(|name| format!("convert --allow-loss --to {name} -o out --rejects bad.txt")));
    if ["epd", "perft"].contains(&format.name()) {
        all.push("perft --max-nodes 10000 --suite".to_owned());
    }
    let words = |command: String| command.split(' ').chain([input]).map(str::to_owned).collect();
    all.into_iter().map(words).collect()
}

/// The same bytes in all files and on standard output, the same messages and the same status as natively.
#[test]
fn all_commands_on_all_formats_do_the_same_at_every_level() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let inputs = top.path().join("in");
    fs::create_dir(&inputs).expect("created");
    let mut tasks = Vec::new();
    let size = Size { positions: 300, lines: 300, copies: 1 };
    for (number, (format, path)) in samples_of(size, &inputs).into_iter().enumerate() {
        let input = format!("../in/{}", path.file_name().expect("a name").display());
        tasks.extend(commands(&input, format, number));
    }
    for (number, fen) in FAMOUS.into_iter().enumerate() {
        let option = if number % 2 == 0 { "--divide" } else { "--json" };
        tasks.push(["perft", option, fen, "3"].map(str::to_owned).into());
    }
    let (next, successful) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut wrong = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(arguments) = tasks.get(number) else { return wrong };
            let folder = |level: &str| top.path().join(format!("{number}-{level}"));
            let own = run(&folder("own"), arguments);
            successful.fetch_add(
                usize::from(own["the status"] == b"Some(0)" || own["the status"] == b"Some(1)"),
                Ordering::Relaxed,
            );
            for level in levels() {
                let other = showing(Some(level), || run(&folder(level), arguments));
                wrong.extend(difference(&own, &other).map(|what| (number, level, what)));
            }
        }
    };
    let wrong: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut text = String::new();
    for (number, level, what) in wrong.iter().take(10) {
        writeln!(text, "{level}: {}: {what}", tasks[*number].join(" ")).expect("written");
    }
    assert!(wrong.is_empty(), "{} of {} commands differ\n{text}", wrong.len(), tasks.len());
    // Commands that all fail would agree. Records that are rejected, which most samples have, are no failure.
    let successful = successful.into_inner();
    println!("{} commands, {successful} successful, at {:?}", tasks.len(), levels());
    assert!(10 * successful > 7 * tasks.len(), "{successful} of {}", tasks.len());
}
