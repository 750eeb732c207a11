//! Training data in records of one length: bulletformat, marlinformat and packed sfen hold the same positions, and are
//! recognized under any name.

use super::{Dir, START, json, output, sample, stderr_of};
use crate::formats::encoders;
use crate::support::shared_data;
use std::fs;

/// The formats, and their files of the same positions.
const FORMATS: [(&str, &str); 3] = [("bullet", "bullet.data"), ("marlin", "marlin.data"), ("sfen", "sfen.bin")];

/// What a file of text says of each position: FEN, move, score, ply and result as White sees the last two.
fn plain(stem: &str) -> Option<Vec<[String; 5]>> {
    let text = fs::read_to_string(shared_data(&format!("nnue/{stem}.plain"))?).unwrap();
    let entries = text.split_terminator("\ne\n").map(|entry| {
        let value = |key: &str| {
            let line = entry.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            line.unwrap().to_owned()
        };
        let fen = value("fen");
        let sign = if fen.contains(" w ") { 1 } else { -1 };
        let score = sign * value("score").parse::<i32>().unwrap();
        let result = ["0-1", "1/2-1/2", "1-0"][(sign * value("result").parse::<i32>().unwrap() + 1) as usize];
        [fen, value("move"), score.to_string(), value("ply"), result.to_owned()]
    });
    Some(entries.collect())
}

fn rows(columns: &str, file: &str) -> Vec<Vec<String>> {
    let text = output(0, &["-q", "compute", "--columns", columns, file]);
    text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn all_formats_hold_the_positions_of_the_text() {
    for stem in ["slice_a", "example"] {
        let Some(plain) = plain(stem) else {
            return;
        };
        let path = |name: &str| shared_data(&format!("nnue/{stem}.{name}")).unwrap().to_str().unwrap().to_owned();
        let sfen = rows("fen,move,raw_score,ply,result", &path("sfen.bin"));
        assert_eq!(sfen.len(), plain.len());
        for (row, entry) in sfen.iter().zip(&plain) {
            assert_eq!(row[..], entry[..], "{stem}");
        }
        let marlin = rows("fen,raw_score,result", &path("marlin.data"));
        assert_eq!(marlin.len(), plain.len());
        for (row, [fen, _, score, _, result]) in marlin.iter().zip(&plain) {
            assert_eq!(row[..], [fen.clone(), score.clone(), result.clone()], "{stem}");
        }
        let bullet = fs::read(path("bullet.data")).unwrap();
        let (bullet, _) = bullet.as_chunks::<32>();
        assert_eq!(bullet.len(), plain.len());
        for (record, [fen, _, score, _, result]) in bullet.iter().zip(&plain) {
            let sign = if fen.contains(" w ") { 1 } else { -1 };
            let result = ["0-1", "1/2-1/2", "1-0"].iter().position(|&of| of == result).unwrap() as i32 - 1;
            let score = sign * score.parse::<i32>().unwrap();
            assert_eq!(*record, encoders::bullet(fen, score as i16, (sign * result + 1) as u8), "{stem} {fen}");
        }
    }
}

#[test]
fn files_are_recognized_under_any_name() {
    let dir = Dir::new();
    for stem in ["slice_a", "example"] {
        for (format, name) in FORMATS {
            let Some(path) = shared_data(&format!("nnue/{stem}.{name}")) else {
                return;
            };
            let bytes = fs::read(path).unwrap();
            for copy in ["x", "x.bin", "x.data", "x.fen", "x.bullet", "x.marlin", "x.sfen", "x.binpack"] {
                let info = json(0, &["info", "--json", &dir.file(copy, &bytes)]);
                assert_eq!(info["format"], format, "{stem} {copy}");
                assert_eq!(info["rejected"], 0, "{stem} {copy}");
                let evidence = info["evidence"].as_str().unwrap();
                let sampled = if stem == "example" { 10 } else { 100 };
                let own = format!("fits {format}: {sampled} of {sampled} sampled records; as ");
                assert!(evidence.starts_with(&own), "{evidence}");
            }
        }
    }
}

/// Scores of 64 make records of bulletformat records of marlinformat as well.
#[test]
fn what_fits_two_formats_equally_well_needs_to_be_named() {
    let dir = Dir::new();
    let file = dir.file("x.data", encoders::bullet(START, 64, 1).repeat(20));
    let stderr = stderr_of(2, &["stats", &file]);
    assert!(stderr.contains("fits bullet as well as marlin: 20 of 20") && stderr.contains("--from"), "{stderr}");
    for format in ["bullet", "marlin"] {
        assert_eq!(json(0, &["-q", "stats", "--json", "--from", format, &file])["positions"], 20);
    }
    // One record decides, and so does the name.
    let one = [encoders::bullet(START, 64, 1).repeat(20), encoders::bullet(START, 63, 1).to_vec()].concat();
    assert_eq!(json(0, &["info", "--json", &dir.file("y.data", one)])["format"], "bullet");
    let named = dir.file("z.marlin", encoders::bullet(START, 64, 1).repeat(20));
    assert_eq!(json(0, &["info", "--json", &named])["format"], "marlin");
}

#[test]
fn the_last_record_is_damage_wherever_a_file_ends() {
    let dir = Dir::new();
    let fen = "r3k2r/8/8/8/3pP3/8/8/R3K2R b KQkq e3 0 7";
    let marlin = [START, fen, START].map(|fen| encoders::marlin(fen, 5, 1)).concat();
    let sfen = [START, fen, START].map(|fen| encoders::sfen(fen, 5, 0, 0, 1)).concat();
    for (format, len, bytes) in [("marlin", 32, marlin), ("sfen", 40, sfen)] {
        for end in (len + 1..bytes.len()).step_by(7) {
            let file = dir.file(&format!("x.{format}"), &bytes[..end]);
            let rest = end % len;
            let verified = json(i32::from(rest != 0), &["-q", "verify", "--json", &file]);
            assert_eq!(verified["files"][0]["records"], end / len, "{format} {end}");
            if rest != 0 {
                let damage = &verified["files"][0]["damage"][0];
                assert_eq!(damage["offset"], end - rest, "{damage}");
                let what = damage["what"].as_str().unwrap();
                let plural = if end / len == 1 { "" } else { "s" };
                assert!(what.contains(&format!("after {} whole record{plural}", end / len)), "{what}");
            }
        }
    }
}

/// Games as viriformat, and the same as chains of a binpack file.
fn games(dir: &Dir) -> (String, String) {
    let (viri, binpack) = (dir.name("games.viri"), dir.name("games.binpack"));
    let choice = "score is not null and move is not null";
    output(0, &["-q", "convert", &sample("lichess-2025-05.pgn"), "--where", choice, "-o", &viri]);
    output(0, &["-q", "convert", &viri, "-o", &binpack]);
    (viri, binpack)
}

#[test]
fn chains_are_not_games_but_become_games() {
    let dir = Dir::new();
    let (viri, binpack) = games(&dir);
    for command in ["shuffle", "interleave"] {
        let stderr = stderr_of(2, &[command, "--by", "game", &binpack, "-o", &dir.name("x.viri")]);
        assert!(stderr.contains("`lanefish convert FILE -o FILE.viri` first makes games of them"), "{stderr}");
    }
    let back = dir.name("back.viri");
    output(0, &["convert", &binpack, "-o", &back]);
    assert!(fs::read(&viri).unwrap() == fs::read(&back).unwrap());
    output(0, &["shuffle", "--by", "game", &back, "-o", &dir.name("shuffled.viri")]);
}

#[test]
fn placeholders_for_moves_are_named() {
    let dir = Dir::new();
    let (viri, binpack) = games(&dir);
    let bullet = dir.name("x.bullet");
    output(0, &["-q", "convert", &viri, "-o", &bullet]);
    let records = json(0, &["stats", "--json", &viri])["positions"].as_u64().unwrap();
    for name in ["plain", "sfen", "binpack"] {
        let stderr = stderr_of(0, &["convert", &bullet, "-o", &dir.name(&format!("y.{name}"))]);
        let note = format!("{name} has placeholders for missing values: the move a1a1 ({records} records)");
        assert!(stderr.contains(&note), "{stderr}");
    }
    let stderr = stderr_of(0, &["convert", &binpack, "-o", &dir.name("z.plain")]);
    assert!(!stderr.contains("a1a1"), "{stderr}");
}

/// The sentinels that are counted are those of the records that are taken.
#[test]
fn sentinels_count_where_they_are_taken() {
    let dir = Dir::new();
    let (viri, _) = games(&dir);
    let marked = dir.name("marked.binpack");
    let set = "raw_score = case when ply % 3 = 0 then 32002 else raw_score end";
    output(0, &["-q", "convert", &viri, "--set", set, "-o", &marked]);
    let out = dir.name("out.viri");
    for (options, counted) in [
        (&["--limit", "4"][..], Some("2 records with the score 32002")),
        (&["--where", "score is not null"], None),
        (&["--where", "false"], None),
        (&["--where", "index = 3"], Some("1 record with the score 32002")),
    ] {
        let stderr = stderr_of(0, &[&["convert", "--force", &marked, "-o", &out], options].concat());
        assert_eq!(stderr.contains("32002"), counted.is_some(), "{stderr}");
        assert!(counted.is_none_or(|counted| stderr.contains(counted)), "{stderr}");
    }
    let halved = dir.name("halved.binpack");
    let stderr = stderr_of(2, &["convert", &marked, "--set", "score = score / 2", "-o", &halved]);
    assert!(stderr.contains("records without a score, stored with the score 0"), "{stderr}");
    output(0, &["convert", &marked, "--set", "raw_score = coalesce(score / 2, raw_score)", "-o", &halved]);
}

/// The note on what was read comes after the error, and tells how to take it.
#[test]
fn a_cut_file_can_be_read_up_to_the_cut() {
    let dir = Dir::new();
    let (_, binpack) = games(&dir);
    let bytes = fs::read(&binpack).unwrap();
    let cut = dir.file("cut.binpack", &bytes[..bytes.len() - 20]);
    let out = dir.name("out.viri");
    let stderr = stderr_of(2, &["convert", &cut, "-o", &out]);
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(lines[0].contains("damaged at byte"), "{stderr}");
    let limit =
        lines[1].split_once("nothing was written; --limit ").and_then(|(_, rest)| rest.split_once(' ')).unwrap().0;
    output(0, &["convert", &cut, "--limit", limit, "-o", &out]);
    assert_eq!(json(0, &["stats", "--json", &out])["positions"].to_string(), limit);
    let stderr = stderr_of(2, &["stats", &cut]);
    assert!(stderr.ends_with(&format!("the {limit} records before that place were processed\n")), "{stderr}");
}

#[test]
fn an_empty_file_is_called_empty() {
    let dir = Dir::new();
    let empty = dir.file("x.csv", "fen\n");
    let stderr = stderr_of(0, &["verify", &empty]);
    assert!(stderr.contains("x.csv has no records"), "{stderr}");
}
