//! bulletformat: recognized by its bytes, bad records, large scores, truncated files, the note on what it lacks.

use super::{Dir, json, lanefish, output, stderr_of};
use std::fs;
use std::path::Path;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bullet_files").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(file(name)).expect("readable")
}

/// A good record.
fn record() -> Vec<u8> {
    bytes("bullet-without-0d.data")[..32].to_vec()
}

/// A byte 0x0D among the first is no line end: the bytes are examined as they are.
#[test]
fn carriage_returns_in_binary_files_are_no_line_ends() {
    for name in ["bullet-with-0d.data", "bullet-without-0d.data"] {
        assert_eq!(json(0, &["stats", "--json", &file(name)])["positions"], 10, "{name}");
        lanefish(&["stats", "--json"]).write_stdin(bytes(name)).assert().code(0);
    }
    let dir = Dir::new();
    // Every byte of a record may be one.
    for at in 24..26 {
        let mut record = record();
        record[at] = 0x0D;
        let copy = dir.file("x.data", record.repeat(20));
        let rows = output(0, &["-q", "compute", "--columns", "score", &copy]);
        let score = i16::from_le_bytes([record[24], record[25]]);
        assert!(rows.lines().skip(1).all(|row| row == score.to_string()), "{rows}");
    }
}

/// A few bad records among the first do not make a file unreadable: each is rejected, with its bytes.
#[test]
fn bad_records_are_rejected() {
    let dir = Dir::new();
    let rejects = dir.name("rejects");
    let path = file("bullet-one-bad-of-200.data");
    let stats = json(1, &["-q", "stats", "--json", "--rejects", &rejects, &path]);
    assert_eq!((&stats["positions"], &stats["rejected"]), (&199.into(), &1.into()));
    let text = fs::read_to_string(&rejects).unwrap();
    let hex: String = bytes("bullet-one-bad-of-200.data")[160..192].iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(text.contains(&hex) && text.contains("160"), "{text}");
    // Also those that only the judge finds: a pawn on the first rank.
    let mut pawn = record();
    let occupied = u64::from_le_bytes(pawn[..8].try_into().unwrap());
    assert_eq!(occupied & 1, 1);
    pawn[8] &= 0xF0;
    let copy = dir.file("pawn.data", [record().repeat(15), pawn.clone(), record()].concat());
    let stats = json(1, &["-q", "stats", "--json", "--force", "--rejects", &rejects, &copy]);
    assert_eq!((&stats["positions"], &stats["rejected"]), (&16.into(), &1.into()));
    let text = fs::read_to_string(&rejects).unwrap();
    let hex: String = pawn.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(text.contains(&hex) && text.contains("480"), "{text}");
}

/// Files most of whose records are bad are refused, and the message says what was seen and what reads them.
#[test]
fn what_is_not_recognized_is_described() {
    let dir = Dir::new();
    let bad = vec![0xFF; 32];
    for (good, others) in [(1, 1), (17, 3), (80, 20)] {
        let copy = dir.file("x.data", [record().repeat(good), bad.repeat(others)].concat());
        let stderr = stderr_of(2, &["stats", &copy]);
        let seen = format!("{others} of its first {} records", good + others);
        assert!(stderr.contains(&seen) && stderr.contains("--from bullet"), "{stderr}");
        let stats = json(1, &["-q", "stats", "--json", "--from", "bullet", &copy]);
        assert_eq!(stats["positions"], good);
    }
    for (good, others) in [(9, 1), (180, 20)] {
        let copy = dir.file("y.data", [record().repeat(good), bad.repeat(others)].concat());
        assert_eq!(json(1, &["-q", "stats", "--json", &copy])["rejected"], others);
    }
    stderr_of(2, &["stats", &dir.file("z.data", &bad)]);
}

/// Scores are any number of 16 bits.
#[test]
fn large_scores_are_read_as_stored() {
    let path = file("bullet-large-scores.bullet");
    assert_eq!(stderr_of(0, &["stats", "--json", &path]).lines().count(), 1);
    let raw = output(0, &["-q", "compute", "--columns", "raw_score", &path]);
    assert_eq!(raw.lines().filter(|line| matches!(*line, "32002" | "-32002")).count(), 2, "{raw}");
    let dir = Dir::new();
    for score in [31_000, 31_001, -31_000, -31_001, i16::MAX, i16::MIN] {
        let mut record = record();
        record[24..26].copy_from_slice(&i16::to_le_bytes(score));
        let copy = dir.file("x.bullet", &record);
        assert_eq!(output(0, &["-q", "compute", "--columns", "raw_score", &copy]), format!("raw_score\n{score}\n"));
    }
}

#[test]
fn the_note_names_what_records_lack() {
    let path = file("bullet-without-0d.data");
    for arguments in [&["stats", "--json", &path][..], &["verify", &path], &["compute", &path]] {
        let stderr = stderr_of(0, arguments);
        for what in ["side to move", "castling rights", "en passant", "clocks"] {
            assert!(stderr.contains(what), "{arguments:?}: {stderr}");
        }
    }
}

/// What is left of a record at the end is damage at the byte where it begins, however the file is cut into chunks.
#[test]
fn truncated_files_are_damaged_where_the_last_record_begins() {
    let dir = Dir::new();
    for whole in [10, 100_000] {
        let content = [record().repeat(whole), record()[..7].to_vec()].concat();
        for name in ["x.bullet", "y.bullet.gz"] {
            let copy = dir.name(name);
            if name.ends_with(".gz") {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                std::io::Write::write_all(&mut encoder, &content).unwrap();
                fs::write(&copy, encoder.finish().unwrap()).unwrap();
            } else {
                fs::write(&copy, &content).unwrap();
            }
            for threads in ["1", "4"] {
                let verified = json(1, &["-q", "verify", "--json", "--threads", threads, &copy]);
                let damage = &verified["files"][0]["damage"];
                assert_eq!(damage[0]["offset"], whole * 32, "{name} {damage}");
                assert_eq!(verified["files"][0]["records"], whole);
            }
        }
    }
}

/// Before the end of a truncated container, all whole records are read.
#[test]
fn truncated_containers_give_the_records_before_their_end() {
    let dir = Dir::new();
    let records: Vec<u8> = (0..3000i16)
        .flat_map(|score| {
            let mut record = record();
            record[24..26].copy_from_slice(&(score * 7).to_le_bytes());
            record
        })
        .collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &records).unwrap();
    let whole = encoder.finish().unwrap();
    let cut = &whole[..whole.len() / 2];
    let mut read = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(cut), &mut read).unwrap_err();
    assert!(read.len() > 32 && read.len() < records.len());
    let copy = dir.file("x.bullet.gz", cut);
    for threads in ["1", "4"] {
        let verified = json(2, &["-q", "verify", "--json", "--threads", threads, &copy]);
        assert_eq!(verified["files"][0]["records"], read.len() / 32, "{verified}");
    }
}

/// Samples know whose scores they have, in memory and beyond.
#[test]
fn samples_are_still_from_the_movers_side() {
    let path = file("bullet-one-bad-of-200.data");
    let dir = Dir::new();
    let many = dir.file("many.data", record().repeat(40_000));
    for (path, size, memory) in [(&path, 5, "1G"), (&path, 1_000, "1G"), (&many, 20_000, "1M")] {
        let arguments = ["-q", "stats", "--json", "--sample", &size.to_string(), "--memory", memory, path];
        let done = lanefish(&arguments).assert().get_output().stdout.clone();
        let stats: serde_json::Value = serde_json::from_slice(&done).unwrap();
        assert!(stats["positions"].as_u64().unwrap() > 0, "{stats}");
        assert_eq!(stats["from_mover"], stats["positions"], "--sample {size} --memory {memory} {path}");
    }
}
