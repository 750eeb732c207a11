//! What a test needs and may not find: the shared data, another program, an instruction. A test that has to do without
//! says so here, so that what was not checked can be counted. The tests in `tests` and the benchmarks include this file.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Names the folder that holds the folder `data` of the shared data; without it, it is `shared` beside the repository.
const SHARED: &str = "LANEFISH_SHARED";
/// If this is 1, missing shared data is a failure.
const EXPECT_DATA: &str = "LANEFISH_EXPECT_DATA";
/// Names a file to which the lines about skipped tests are added.
const SKIPPED_TESTS: &str = "LANEFISH_SKIPPED_TESTS";

/// The folder of the shared data, whether it exists or not.
pub(crate) fn shared_folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os(SHARED).map_or_else(beside, PathBuf::from).join("data");
    // Some tests change the directory of the programs that they run.
    std::path::absolute(&folder).unwrap_or(folder)
}

/// A file or folder of the shared data; `None`, with a message, if it is missing.
pub(crate) fn shared_data(name: &str) -> Option<PathBuf> {
    let folder = shared_folder();
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    let reason = match folder.exists() {
        true => format!("the shared data has no {name}"),
        false => "the shared data is missing".to_owned(),
    };
    assert!(std::env::var_os(EXPECT_DATA).is_none_or(|value| value != "1"), "{reason}, and {EXPECT_DATA} is set");
    skipped(&reason);
    None
}

/// Says that the test of this thread is skipped, or a part of it.
pub(crate) fn skipped(reason: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let thread = std::thread::current();
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("== SKIPPED TEST: {}: {reason}\n", thread.name().unwrap_or("a thread of a test"));
    if !SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.clone()) {
        return;
    }
    // Written directly: the test harness would hide the output of tests that pass.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os(SKIPPED_TESTS) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the list of skipped tests can be written");
    }
}
