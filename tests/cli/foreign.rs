//! Formats that are recognized but not supported yet are rejected by name.

use super::{Dir, START, output, sample, stderr_of};

#[test]
fn the_file_name_decides_if_the_content_is_unknown() {
    let dir = Dir::new();
    let file = dir.file("x.si5", "anything");
    let stderr = stderr_of(2, &["stats", &file]);
    assert!(stderr.contains("x.si5 is a Scid database: lanefish cannot read that format yet"), "{stderr}");
    // In a directory they are skipped, like all unsupported files.
    dir.file("a.fen", START);
    let stderr = stderr_of(0, &["-v", "stats", &dir.name("")]);
    assert!(stderr.contains("x.si5"), "{stderr}");
    let stderr = stderr_of(2, &["convert", &sample("perft.epd"), "-o", &dir.name("y.si5")]);
    assert!(stderr.contains("cannot write that format yet") && stderr.contains("boards"), "{stderr}");
    assert_eq!(dir.list(), ["a.fen", "x.si5"]);
}

/// Names that several formats share do not say how to write, and a file below one record does not say what it is.
#[test]
fn shared_names_ask_for_the_format() {
    let dir = Dir::new();
    for name in ["small.data", "small.bin", "small.bin.zst"] {
        let stderr = stderr_of(2, &["convert", &sample("perft.epd"), "-o", &dir.name(name)]);
        assert!(stderr.contains("does not say which format: pass --to bullet, marlin or sfen"), "{stderr}");
    }
    output(0, &["convert", &sample("perft.epd"), "--allow-loss", "--to", "marlin", "-o", &dir.name("small.bin")]);
    let short = dir.file("short.bin", [7; 20]);
    let stderr = stderr_of(2, &["stats", &short]);
    assert!(stderr.contains("whose 20 bytes are less than one record; --from bullet, marlin or sfen"), "{stderr}");
}

#[test]
fn lines_with_score_and_result_are_explained_once() {
    let dir = Dir::new();
    let lines = format!("{START} | 20 | 0.5\n").repeat(20);
    let file = dir.file("a.txt", format!("{START}\n{lines}"));
    let stderr = stderr_of(1, &["stats", "--from", "fen", &file]);
    assert_eq!(stderr.matches("carry a score and a result: --from text reads them").count(), 1, "{stderr}");
    // Read as what they are, bad ones need no such advice.
    let file = dir.file("c.text", format!("{lines}x | 20 | 0.5\n"));
    let stderr = stderr_of(1, &["verify", "--from", "text", &file]);
    assert!(stderr.contains("1 of 21") && !stderr.contains("a score and a result"), "{stderr}");
    let file = dir.file("b.txt", format!("{START}\nnonsense\n"));
    let stderr = stderr_of(1, &["stats", "--from", "fen", &file]);
    assert!(!stderr.contains("a score and a result"), "{stderr}");
}

#[test]
fn one_note_names_all_lost_fields() {
    let dir = Dir::new();
    let file = dir.file(
        "a.pgn",
        "[Event \"?\"]\n[Site \"x\"]\n[Result \"1-0\"]\n\n1. e4 { [%eval 0.2] [%clk 0:01:00] } e5 1-0\n",
    );
    let stderr = stderr_of(0, &["convert", &file, "--to", "epd"]);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    for field in ["`move` (2 records)", "`score`", "`result`", "`site`"] {
        assert!(stderr.contains(field), "{stderr}");
    }
    assert_eq!(output(0, &["-q", "convert", &file, "--to", "epd"]).lines().count(), 3);
}

/// Files of a directory whose names are those of formats, but whose content is not, are not skipped in silence.
#[test]
fn skipped_files_with_names_of_formats_are_named() {
    let dir = Dir::new();
    dir.file("a.fen", START);
    dir.file("readme.md", "no positions");
    assert_eq!(stderr_of(0, &["stats", "--json", &dir.name("")]), "");
    dir.file("b.data", [7; 64]);
    let stderr = stderr_of(0, &["stats", "--json", &dir.name("")]);
    assert!(
        stderr.contains("1 file found in directories or archives was skipped") && stderr.contains("b.data"),
        "{stderr}"
    );
    for name in ["c.scid", "d.sqlite", "e.si4", "f.cbh"] {
        dir.file(name, "anything");
    }
    for command in ["stats", "verify", "compute", "games"] {
        let done = super::lanefish(&[command, &dir.name("")]).assert();
        let stderr = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        if command != "games" {
            assert!(
                stderr.contains("5 files found in directories or archives were skipped") && stderr.contains("2 more"),
                "{stderr}"
            );
        }
        assert!(!stderr.contains("readme"), "{stderr}");
    }
}
