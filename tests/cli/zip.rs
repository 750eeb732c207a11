//! Zip archives.

use super::{Dir, START, json, lanefish, output, sample, stderr_of};
use crate::pipeline::zip::Zip;
use std::fs;

/// An archive of some samples, and their names.
fn archive(dir: &Dir) -> (String, Vec<String>) {
    let names = ["famous.epd", "lichess-2025-05.pgn", "sample.boards"].map(sample).to_vec();
    let contents: Vec<_> = names.iter().map(|name| fs::read(name).unwrap()).collect();
    let files = ["a/famous.epd", "b.pgn", "c.boards"].into_iter().zip(contents.iter().map(Vec::as_slice));
    let words = [("README.md", &b"words"[..])];
    (dir.file("all.zip", Zip::of(files.chain(words), true)), names)
}

#[test]
fn every_command_reads_archives() {
    let dir = Dir::new();
    let (zip, names) = archive(&dir);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for command in [&["compute", "--columns", "all"][..], &["convert", "--to", "epd"], &["dedup", "--to", "fen"]] {
        for more in [&[][..], &["--threads", "1"], &["--no-mmap"], &["--limit", "1000"]] {
            let [of_zip, of_files] =
                [&[&*zip][..], &names].map(|inputs| output(0, &[&["-q"], command, more, inputs].concat()));
            assert!(of_zip == of_files, "{command:?} {more:?}");
        }
    }
    let games = fs::read(sample("lichess-2025-05.pgn")).unwrap();
    let two = dir.file("games.zip", Zip::of([("1.pgn", &*games), ("2/2.pgn", &*games)], true));
    let twice = sample("lichess-2025-05.pgn");
    assert!(output(0, &["games", &two]) == output(0, &["games", &twice, &twice]));
    let mut stats = json(0, &["stats", "--json", &zip]);
    let mut expected = json(0, &[&["stats", "--json"], &names[..]].concat());
    stats["run"].take();
    expected["run"].take();
    assert_eq!(stats, expected);
    let shuffled =
        [&[&*zip][..], &names].map(|inputs| output(0, &[&["-q", "shuffle", "--to", "fen"], inputs].concat()));
    assert!(shuffled[0] == shuffled[1]);

    let verified = json(0, &["verify", "--json", &zip]);
    let files = verified["files"].as_array().unwrap();
    assert_eq!(files.len(), 3);
    assert_eq!(files[0]["path"], format!("{zip}/a/famous.epd"));
    let stderr = stderr_of(0, &["-v", "stats", &zip]);
    assert!(stderr.contains(&format!("{zip}/README.md: not a supported format, skipped")), "{stderr}");
}

#[test]
fn info_describes_every_file() {
    let dir = Dir::new();
    let (zip, _) = archive(&dir);
    let text = output(0, &["info", &zip]);
    for line in ["a/famous.epd\nformat: epd\n", "b.pgn\nformat: pgn\n", "c.boards\nformat: boards\n"] {
        assert!(text.contains(&format!("file: {zip}/{line}")), "{text}");
    }
    assert!(text.contains("records: 4,098\n"), "{text}");
    assert_eq!(output(0, &["info", "--json", &zip]).lines().count(), 3);
}

#[test]
fn rejects_say_in_which_file_they_are() {
    let dir = Dir::new();
    let text = format!("{START}\nnonsense\n");
    let zip = dir.file("x.zip", Zip::of([("dir/a.fen", text.as_bytes())], true));
    let rejects = dir.name("bad.txt");
    let stderr = stderr_of(1, &["stats", "--json", "--rejects", &rejects, &zip]);
    let place = format!("{zip}/dir/a.fen:2");
    assert!(stderr.contains(&place), "{stderr}");
    assert!(fs::read_to_string(rejects).unwrap().starts_with(&place));
}

#[test]
fn an_archive_is_an_input_that_no_output_replaces() {
    let dir = Dir::new();
    let (zip, _) = archive(&dir);
    let before = fs::read(&zip).unwrap();
    for arguments in [
        &["convert", &zip, "--to", "epd", "--force", "-o", &zip][..],
        &["stats", &zip, "--force", "--rejects", &zip],
        &["dedup", &sample("famous.epd"), "--against", &zip, "--to", "epd", "--force", "-o", &zip],
    ] {
        let stderr = stderr_of(2, arguments);
        assert!(stderr.contains("is an input and cannot also be an output"), "{stderr}");
    }
    assert_eq!(fs::read(&zip).unwrap(), before);

    // In a manifest, an archive is one file.
    let out = dir.name("out.epd");
    output(0, &["-q", "convert", &zip, "-o", &out, "--manifest"]);
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.name("out.epd.manifest.json")).unwrap()).unwrap();
    let inputs = manifest["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 1);
    assert_eq!((&inputs[0]["path"], &inputs[0]["format"]), (&zip.into(), &"zip".into()));
    assert_eq!(inputs[0]["records"], manifest["output"]["records"]);
    output(0, &["verify", "--manifest", &dir.name("out.epd.manifest.json")]);
}

#[test]
fn archives_in_pipes_are_explained() {
    let dir = Dir::new();
    let (zip, _) = archive(&dir);
    let bytes = fs::read(&zip).unwrap();
    for more in [&[][..], &["--from", "pgn"]] {
        let done = lanefish(&[&["stats", "-"], more].concat()).write_stdin(bytes.clone()).assert().code(2);
        let stderr = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(stderr.contains("standard input is a zip archive: a zip archive must be a file"), "{stderr}");
    }
    // Cut off: never a shorter one.
    let cut = dir.file("cut.zip", &bytes[..bytes.len() - 100]);
    assert!(stderr_of(2, &["stats", &cut]).contains("truncated"));
    let verified = json(2, &["verify", "--json", &cut, &sample("famous.epd")]);
    assert_eq!(verified["ok"], false);
}

#[test]
fn other_archives_are_named_with_what_reads_them() {
    let dir = Dir::new();
    let seven = dir.file("x.7z", b"7z\xBC\xAF\x27\x1C\0\x04");
    let stderr = stderr_of(2, &["stats", &seven]);
    assert!(stderr.contains("7z x -so"), "{stderr}");
    let mut tar = vec![0; 1024];
    tar[..5].copy_from_slice(b"x.fen");
    tar[257..262].copy_from_slice(b"ustar");
    let tar = dir.file("x.tar", tar);
    let stderr = stderr_of(2, &["stats", &tar]);
    assert!(stderr.contains("tar -xOf"), "{stderr}");
}
