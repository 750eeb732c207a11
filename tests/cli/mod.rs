//! The command-line contract: every command, option, exit status and error.

mod arguments;
mod bench;
mod bullet;
#[cfg(all(feature = "cluster", unix))]
mod chaos;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_doors;
#[cfg(feature = "cluster")]
mod cluster_output;
mod common_mistakes;
mod completions;
mod compression;
mod compute;
mod convert;
mod damage;
#[cfg(unix)]
mod datasets;
#[cfg(all(unix, feature = "parquet"))]
mod documents;
mod duplicate_games;
#[cfg(unix)]
mod examples;
mod expected;
mod files;
mod foreign;
mod games;
mod games_across_shards;
mod games_having;
#[cfg(feature = "parquet")]
mod games_in_parquet_and_arrow;
mod games_sorted_by_column;
mod games_where;
#[cfg(feature = "parquet")]
mod games_with_their_moves;
mod generate;
mod help;
mod info;
mod leela_planes;
mod levels;
#[cfg(unix)]
mod limits;
mod list_columns;
#[cfg(feature = "parquet")]
mod lists_of_moves_and_aix;
mod manifest;
#[cfg(unix)]
mod network_feature_coverage;
#[cfg(feature = "sql")]
mod nullable;
mod options;
mod perft;
mod pgn_unusual_spellings;
#[cfg(unix)]
mod pipes;
mod puzzles;

mod second_file;
#[cfg(feature = "parquet")]
mod several_outputs;
mod shapes;
mod show;
#[cfg(unix)]
mod signals;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
mod sql_errors;
#[cfg(feature = "sql")]
mod sql_memory;
#[cfg(feature = "sql")]
mod sql_prompt;
mod stats;
mod stats_sources;
mod text_safety;
mod text_tables;
mod time_and_mistakes;
mod training;
mod training_formats;
mod tree;
mod unread;
mod verify;
mod zip;

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The program, without environment variables that would change its behaviour: that of `LANEFISH_PROGRAM`, for instance
/// a release, or the one that is built with the tests.
fn lanefish(arguments: &[&str]) -> Command {
    let mut command = match std::env::var_os("LANEFISH_PROGRAM") {
        Some(program) => Command::new(program),
        None => Command::cargo_bin("lanefish").expect("the program is built with its tests"),
    };
    // The standard library prints a backtrace of a failed allocation, for which it allocates, and may then wait for itself.
    command.args(arguments).env_remove("NO_COLOR").env_remove("RUST_BACKTRACE");
    levels::apply(&mut command);
    command
}

/// The program, to be spawned; through the runner that cargo may be told to use.
#[cfg(unix)]
fn program() -> std::process::Command {
    let own = lanefish(&[]);
    let mut command = std::process::Command::new(own.get_program());
    command.args(own.get_args());
    command
}

/// Standard output of a run, which must end with this status.
fn output(status: i32, arguments: &[&str]) -> String {
    let done = lanefish(arguments).assert().code(status).get_output().stdout.clone();
    String::from_utf8(done).expect("UTF-8")
}

/// Standard error of a run, which must end with this status.
fn stderr_of(status: i32, arguments: &[&str]) -> String {
    let done = lanefish(arguments).assert().code(status).get_output().stderr.clone();
    String::from_utf8(done).expect("UTF-8")
}

/// The JSON that a run prints.
fn json(status: i32, arguments: &[&str]) -> Value {
    serde_json::from_str(&output(status, arguments)).expect("JSON")
}

/// Path of one of this repository's sample files.
fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// A directory for a test's files.
struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    /// Path of a file in it, as an argument.
    fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }
    /// Writes a file and returns its path.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).expect("written");
        self.name(name)
    }
    /// Names of all its entries.
    fn list(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .expect("readable")
            .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
