//! Manifests of outputs: what is in them, and that a change of any file is found.

use super::{Dir, json, output, sample, stderr_of};
use serde_json::Value;
use std::fs;

fn manifest(of: &str) -> (String, Value) {
    let path = format!("{of}.manifest.json");
    let value = serde_json::from_slice(&fs::read(&path).expect("written")).expect("JSON");
    (path, value)
}

#[test]
fn a_manifest_says_how_its_output_came_to_be() {
    let dir = Dir::new();
    let input = dir.file("games.pgn", fs::read(sample("lichess-2025-05.pgn")).expect("a sample"));
    let to = dir.name("chosen.boards");
    let condition = "not in_check";
    output(0, &["convert", &input, "--where", condition, "--seed", "7", "--manifest", "-o", &to]);
    let (path, made) = manifest(&to);
    assert_eq!(made["lanefish"], env!("CARGO_PKG_VERSION"));
    assert_eq!(made["seed"], 7);
    assert!(made["command"].as_array().unwrap().iter().any(|argument| argument == condition), "{made}");
    let (all, taken) = (json(0, &["stats", "--json", &input]), json(0, &["stats", "--json", &to]));
    assert_eq!(made["inputs"][0]["records"], all["positions"]);
    assert_eq!(made["output"]["records"], taken["positions"]);
    let left_out = all["positions"].as_u64().unwrap() - taken["positions"].as_u64().unwrap();
    assert!(left_out > 0);
    assert_eq!(made["left_out"]["where"], left_out);
    for (file, name) in [(&made["inputs"][0], &input), (&made["output"], &to)] {
        assert_eq!(file["path"], **name);
        assert_eq!(file["bytes"], fs::metadata(name).unwrap().len());
        assert_eq!(file["blake3"].as_str().map(str::len), Some(64));
    }
    assert!(output(0, &["verify", "--manifest", &path]).ends_with("ok\n"));
    // One bit of either file, its length, and a file that is gone.
    for name in [&input, &to] {
        let before = fs::read(name).unwrap();
        let mut changed = before.clone();
        *changed.last_mut().unwrap() ^= 1;
        fs::write(name, changed).unwrap();
        assert!(output(1, &["verify", "--manifest", &path]).contains("not ok"));
        fs::write(name, &before[1..]).unwrap();
        assert!(output(1, &["verify", "--manifest", &path]).contains("not ok"));
        fs::remove_file(name).unwrap();
        assert!(output(1, &["verify", "--manifest", &path]).contains("not ok"));
        fs::write(name, before).unwrap();
    }
    output(0, &["verify", "--manifest", &path]);
}

#[test]
fn each_part_of_a_split_has_a_manifest() {
    let dir = Dir::new();
    let to = dir.name("part-{part}.boards");
    let input = sample("lichess-2025-05.pgn");
    output(0, &["split", &input, "--parts", "a=0.7,b=0.3", "--manifest", "-o", &to]);
    let records = ["a", "b"].map(|part| {
        let (path, made) = manifest(&to.replace("{part}", part));
        output(0, &["verify", "--manifest", &path]);
        made["output"]["records"].as_u64().unwrap()
    });
    assert_eq!(Value::from(records.iter().sum::<u64>()), json(0, &["stats", "--json", &input])["positions"]);
}

#[test]
fn a_file_that_is_no_manifest_is_an_error() {
    let dir = Dir::new();
    for content in ["", "[]", "{}", "{\"inputs\": 3}"] {
        let path = dir.file("x.manifest.json", content);
        let said = stderr_of(2, &["verify", "--manifest", &path]);
        assert!(said.contains("x.manifest.json"), "{content}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_again_has_no_manifest() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Dir::new();
    let (input, out) = (sample("sample.epd"), dir.name("out.boards"));
    for name in [&[][..], &["-"], &["/dev/stdin"], &["/dev/fd/0"], &["/proc/self/fd/0"]] {
        let mut run = super::program();
        run.args(["convert", "--manifest", "-o", &out]).args(name).stdin(fs::File::open(&input).unwrap());
        let done = run.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{name:?}: {said}");
        assert!(said.contains("cannot be read again"), "{name:?}: {said}");
        assert!(dir.list().is_empty(), "{name:?}");
    }
    let odd = dir.path("").join(std::ffi::OsStr::from_bytes(b"odd\xFF.epd"));
    fs::copy(&input, &odd).unwrap();
    let odd_out = dir.path("").join(std::ffi::OsStr::from_bytes(b"out\xFF.boards"));
    for (from, to) in [(odd.as_os_str(), out.as_ref()), (input.as_ref(), odd_out.as_os_str())] {
        let done = super::program().args(["convert", "--manifest"]).arg(from).arg("-o").arg(to).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(2) && said.contains("is not UTF-8"), "{said}");
    }
    assert_eq!(dir.list().len(), 1);
}
