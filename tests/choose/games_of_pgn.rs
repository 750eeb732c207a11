//! Selection of games and positions: every option at its limits, dates, repeated tags, `games --limit`.

use crate::formats::round_trips::read;
use crate::support::Ended;
use crate::support::{Random, shared_data};
use assert_cmd::Command;
use lanefish::choose::{GameFilter, TimeControl};
use lanefish::games::{Date, Speed, Variant};
use lanefish::table::{Batch, Field};
use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

fn select(text: &str, selection: GameFilter) -> (Batch, Ended) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, text).unwrap();
    read(&[path], |options| {
        options.read.choose.games = Some(Arc::new(selection));
    })
}

/// A game of four plies with these tags.
fn game(tags: &[(&str, &str)]) -> String {
    let tags: String = tags.iter().map(|(name, value)| format!("[{name} \"{value}\"]\n")).collect();
    format!("[Event \"x\"]\n{tags}\n1. e4 e5 2. Nf3 Nc6 *\n\n")
}

/// Whether a selection takes the game with these tags.
fn takes(selection: &GameFilter, tags: &[(&str, &str)]) -> bool {
    let (batch, summary) = select(&game(tags), selection.clone());
    let left_out: u64 = summary.left_out.values().map(|left_out| left_out.games).sum();
    assert_eq!((batch.len(), left_out), if batch.is_empty() { (0, 1) } else { (5, 0) });
    !batch.is_empty()
}

fn plies(selection: GameFilter) -> Vec<u16> {
    let (batch, _) = select(&game(&[]), selection);
    (0..batch.len()).map(|row| batch.values(Field::Ply).unwrap().number(row).unwrap() as u16).collect()
}

#[test]
fn rating_limits_apply_to_both_players() {
    let min = GameFilter::default().min_elo(Some(2000));
    let max = GameFilter::default().max_elo(Some(2000));
    for (white, black, at_least, at_most) in [
        ("2000", "2000", true, true),
        ("1999", "2000", false, true),
        ("2000", "1999", false, true),
        ("2001", "2000", true, false),
        ("2000", "2001", true, false),
        ("1999", "2001", false, false),
        ("2001", "1999", false, false),
        ("?", "2000", false, false),
        ("2000", "?", false, false),
        ("2000", "", false, false),
    ] {
        let tags = [("WhiteElo", white), ("BlackElo", black)];
        assert_eq!(takes(&min, &tags), at_least, "{white} {black}");
        assert_eq!(takes(&max, &tags), at_most, "{white} {black}");
    }
}

#[test]
fn classes_of_time_controls() {
    use Speed::*;
    for (tag, class) in [
        ("29", Some(UltraBullet)),
        ("30", Some(Bullet)),
        ("15+0", Some(UltraBullet)),
        ("10+0.5", Some(Bullet)),
        ("0+1", Some(Bullet)),
        ("179", Some(Bullet)),
        ("180+0", Some(Blitz)),
        ("60+2", Some(Bullet)),
        ("60+3", Some(Blitz)),
        ("479", Some(Blitz)),
        ("479.5+0", Some(Blitz)),
        ("480", Some(Rapid)),
        ("480+0", Some(Rapid)),
        ("300+5", Some(Rapid)),
        ("360+3", Some(Rapid)),
        ("359+3", Some(Blitz)),
        ("1499", Some(Rapid)),
        ("1500", Some(Classical)),
        ("900+15", Some(Classical)),
        ("-", Some(Correspondence)),
        ("", None),
        ("?", None),
        ("*", None),
        ("nan", None),
        ("NaN", None),
        ("inf", None),
        ("infinity+inf", None),
        ("+inf", None),
        ("1e9", None),
        ("300+nan", None),
        ("-300", None),
        ("300+-3", None),
        ("300++3", None),
        ("+", None),
        ("300+", None),
        ("40/9000", Some(Classical)),
    ] {
        assert_eq!(Speed::of_tag(tag.as_bytes()), class, "{tag}");
    }
    let classical = GameFilter::default().time_controls(vec!["classical".parse().unwrap()]);
    assert!(takes(&classical, &[("TimeControl", "5400+30")]));
    for tag in ["nan", "inf", "900+nan", "inf+inf"] {
        assert!(!takes(&classical, &[("TimeControl", tag)]), "{tag}");
    }
    let exact = GameFilter::default().time_controls(vec!["300+3".parse().unwrap(), "rapid".parse().unwrap()]);
    for (tag, taken) in [("300+3", true), ("300+2", false), ("480+0", true), ("479+0", false)] {
        assert_eq!(takes(&exact, &[("TimeControl", tag)]), taken, "{tag}");
    }
}

#[test]
fn only_options_in_use_are_reported() {
    let all = GameFilter::default;
    let names = |selection| {
        let (_, summary) = select(&game(&[]), selection);
        summary.summary.left_out.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(names(all()), [""; 0]);
    let set = [
        ("plies", all().first_ply(1)),
        ("plies", all().last_ply(Some(9))),
        ("skip-book", all().skip_book(1)),
        ("every", all().every(2)),
        ("last", all().last(true)),
        ("max-per-game", all().max_per_game(Some(9))),
        ("min-elo", all().min_elo(Some(0))),
        ("max-elo", all().max_elo(Some(9))),
        ("min-plies", all().min_plies(1)),
        ("drop-bad-games", all().drop_bad_games(true)),
        ("variant", all().variant(Some(Variant::Standard))),
    ];
    for (name, selection) in set {
        assert_eq!(names(selection), [name]);
    }
}

#[test]
fn time_control_classes_by_name() {
    let classes = [
        ("ultrabullet", "15+0"),
        ("bullet", "60+0"),
        ("Blitz", "180+2"),
        ("rapid", "600+0"),
        ("classical", "1800+0"),
        ("correspondence", "-"),
    ];
    for (name, own) in classes {
        let selection = GameFilter::default().time_controls(vec![name.parse().unwrap()]);
        for (_, tag) in classes {
            let taken = takes(&selection, &[("TimeControl", tag)]);
            assert_eq!(taken, tag == own, "{name}: {tag}");
        }
    }
    assert!("slow".parse::<TimeControl>().is_err());
}

#[test]
fn variants_by_any_of_their_names() {
    let only = |variant| GameFilter::default().variant(Some(variant));
    for (tag, standard) in
        [("Standard", true), ("From Position", true), ("", true), ("Chess960", false), ("fischerandom", false)]
    {
        let tags = [("Variant", tag)];
        assert_eq!(takes(&only(Variant::Standard), &tags), standard, "{tag}");
        assert_eq!(takes(&only(Variant::Chess960), &tags), !standard, "{tag}");
    }
    assert!(takes(&only(Variant::Standard), &[]));
    assert!(!takes(&only(Variant::Chess960), &[]));
}

#[test]
fn ranges_of_opening_codes_include_both_ends() {
    for (range, inside, outside) in [
        ("B10-B19", &["B10", "B15", "B19", "b19", "B19b"][..], &["B09", "B20", "A10", "C10", "", "?"][..]),
        ("B1-B2", &["B10", "B29"], &["B09", "B30"]),
        ("B", &["B00", "B99", "b42"], &["A99", "C00"]),
        ("B12", &["B12", "b12"], &["B11", "B13", "B1"]),
        ("b12-c03", &["B12", "C03"], &["B11", "C04"]),
        ("B12-B1", &["B12", "B19"], &["B11", "B20"]),
    ] {
        let selection = GameFilter::default().ecos(vec![range.parse().unwrap()]);
        for code in inside {
            assert!(takes(&selection, &[("ECO", code)]), "{code} in {range}");
        }
        for code in outside {
            assert!(!takes(&selection, &[("ECO", code)]), "{code} in {range}");
        }
    }
    for range in ["B19-B10", "C-B", "B2-B19", "B1-A", "B10-", "-B10", "F00", "B100", "B1x"] {
        assert!(range.parse::<lanefish::choose::EcoRange>().is_err(), "{range}");
    }
}

#[test]
fn dates_in_the_forms_found_in_real_files() {
    let day = |text: &str| text.parse::<Date>();
    let may = day("2025.05.03").unwrap();
    for same in [
        "2025-05-03",
        "2025/05/03",
        "2025.5.3",
        "2025/5/3",
        "2025-5-3",
        "20250503",
        "03.05.2025",
        "3.5.2025",
        " 2025.05.03 ",
        "2025-05-03T12:00:00Z",
        "2025.05.03 12:00",
    ] {
        assert_eq!(day(same), Ok(may), "{same}");
    }
    let last = day("2025.12.31").unwrap();
    for same in ["31.12.2025", "31/12/2025", "31-12-2025", "12/31/2025", "12-31-2025", "12.31.2025", "20251231"] {
        assert_eq!(day(same), Ok(last), "{same}");
    }
    assert_eq!(day("5/5/2025"), day("2025.05.05"));
    for (part, whole) in [
        ("2025.??.??", "2025"),
        ("2025.00.00", "2025"),
        ("2025.05.??", "2025.05"),
        ("2025.??.03", "2025"),
        ("??.05.2025", "2025.05"),
        ("??.??.2025", "2025"),
        ("2025.1?.??", "2025"),
    ] {
        assert_eq!(day(part), day(whole), "{part}");
    }
    for unknown in [
        "",
        "?",
        "????.??.??",
        "0000.00.00",
        "5/3/2025",
        "5-3-2025",
        "03/05/2025",
        "2025.13.01",
        "2025.02.30",
        "2025.04.31",
        "1900.02.29",
        "13.13.2025",
        "20251301",
        "2025050",
        "202505",
        "May 2025",
        "25.05.03",
        "2025.05.03.01",
        "2025.5.x",
        "+025.05.03",
        "2025.123.1",
        "20?5.01.01",
    ] {
        assert!(day(unknown).is_err(), "{unknown}");
    }
    assert!(day("2024.02.29").is_ok() && day("2000.02.29").is_ok());
}

#[test]
fn since_and_until_include_their_day_and_skip_unknown_dates() {
    let since = |text: &str| GameFilter::default().since(Some(text.parse().unwrap()));
    let until = |text: &str| GameFilter::default().until(Some(text.parse().unwrap()));
    for (limit, date, from, to) in [
        ("2025.05.03", "2025.05.02", false, true),
        ("2025.05.03", "2025.05.03", true, true),
        ("2025.05.03", "2025.05.04", true, false),
        ("2025.05.03", "2025-5-2", false, true),
        ("2025.05.03", "4.5.2025", true, false),
        ("2025.05.03", "20250504", true, false),
        ("2025.05.03", "2025.10.01", true, false),
        ("2025.05.03", "2025/10/1", true, false),
        ("2025.05.03", "31/12/2024", false, true),
        // Compared as far as both are known.
        ("2025.05.03", "2025.05.??", true, true),
        ("2025.05.03", "2025.??.??", true, true),
        ("2025.05.03", "2024.??.??", false, true),
        ("2025.05", "2025.05.31", true, true),
        ("2025.05", "2025.04.30", false, true),
        ("2025.05", "2025.06.01", true, false),
        ("2025", "2025.12.31", true, true),
        ("2025", "2026.01.01", true, false),
        ("31.12.2025", "2025.12.31", true, true),
        ("2025.05.03", "????.??.??", false, false),
        ("2025.05.03", "5/3/2025", false, false),
        ("2025.05.03", "yesterday", false, false),
    ] {
        let tags = [("Date", date)];
        assert_eq!(takes(&since(limit), &tags), from, "{date} since {limit}");
        assert_eq!(takes(&until(limit), &tags), to, "{date} until {limit}");
        let (_, summary) = select(&game(&tags), since(limit));
        let unknown = summary.left_out["since"].unknown;
        assert_eq!(unknown, u64::from(!from && !to), "{date}");
    }
    assert!(!takes(&since("2025"), &[]));
    // The UTC date takes precedence if it is known.
    let tags = |utc| [("Date", "2025.05.03"), ("UTCDate", utc)];
    assert!(takes(&since("2025.05.04"), &tags("2025.05.04")));
    assert!(takes(&since("2025.05.03"), &tags("????.??.??")));
    assert!(!takes(&since("2025.05.04"), &tags("????.??.??")));
    // Both on the same day select that day.
    let both = since("2025.05.03").until(since("2025.05.03").since);
    assert!(takes(&both, &[("Date", "3.5.2025")]));
    for date in ["2.5.2025", "4.5.2025"] {
        assert!(!takes(&both, &[("Date", date)]), "{date}");
    }
}

#[test]
fn plies_at_the_edges() {
    let all = GameFilter::default;
    for (selection, expected) in [
        (all(), &[0, 1, 2, 3, 4][..]),
        (all().first_ply(2).last_ply(Some(3)), &[2, 3]),
        (all().first_ply(4), &[4]),
        (all().last_ply(Some(0)), &[0]),
        (all().skip_book(3), &[3, 4]),
        (all().skip_book(5), &[]),
        (all().every(1), &[0, 1, 2, 3, 4]),
        (all().every(2), &[0, 2, 4]),
        (all().every(3), &[0, 3]),
        (all().every(4), &[0, 4]),
        (all().every(5), &[0]),
        (all().every(2).skip_book(1), &[1, 3]),
        (all().every(2).last(true), &[4]),
        (all().last_ply(Some(3)).last(true), &[3]),
        (all().max_per_game(Some(5)), &[0, 1, 2, 3, 4]),
        (all().max_per_game(Some(0)), &[]),
        (all().min_plies(4), &[0, 1, 2, 3, 4]),
        (all().min_plies(5), &[]),
    ] {
        assert_eq!(plies(selection.clone()), expected, "{selection:?}");
    }
}

/// The sample of a game depends on the game and the seed, not on its place in the file; different games have different
/// samples.
#[test]
fn samples_depend_on_the_game() {
    let moves = ["Nf3 Nf6 Ng1 Ng8", "Nc3 Nc6 Nb1 Nb8", "Nh3 Nh6 Ng1 Ng8", "Na3 Na6 Nb1 Nb8"];
    let texts: Vec<String> = (0..24)
        .map(|number| {
            let turns = [moves[number % 4], moves[number / 4 % 4], moves[number / 16]].join(" ");
            format!("[Event \"x\"]\n\n{turns} {turns} {turns} *\n\n")
        })
        .collect();
    let sample = |text: &str, seed| {
        let selection = GameFilter::default().max_per_game(Some(1)).seed(seed);
        let (batch, _) = select(text, selection);
        (0..batch.len()).map(|row| batch.values(Field::Ply).unwrap().number(row).unwrap()).collect::<Vec<_>>()
    };
    let together = sample(&texts.concat(), 1);
    let alone: Vec<_> = texts.iter().flat_map(|text| sample(text, 1)).collect();
    assert_eq!(together, alone);
    let distinct: std::collections::BTreeSet<_> = together.iter().collect();
    assert!(distinct.len() > 8, "{together:?}");
    assert_ne!(sample(&texts.concat(), 2), together);
}

#[test]
fn the_last_of_repeated_tags_counts_everywhere() {
    let doubled = "[Event \"x\"]\n[White \"a\"]\n[White \"c\"]\n[WhiteElo \"2000\"]\n[WhiteElo \"2600\"]\n\
        [BlackElo \"2600\"]\n[Result \"0-1\"]\n[Result \"1-0\"]\n[FEN \"k7/8/8/8/8/8/8/K7 w - - 0 1\"]\n\
        [FEN \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"]\n\n*\n\n";
    let text = format!("{doubled}{}", game(&[("White", "w")]));
    let strong = GameFilter::default().min_elo(Some(2600));
    let (batch, summary) = select(&text, strong);
    assert_eq!(batch.len(), 1);
    assert_eq!(batch.position(0).unwrap().to_string(), "4k3/8/8/8/8/8/8/4K3 w - - 0 1");
    assert_eq!(batch.values(Field::WhiteElo).unwrap().number(0), Some(2600));
    assert_eq!(batch.values(Field::Result).unwrap().number(0), Some(2));
    assert_eq!(summary.remarks.count(&lanefish::formats::pgn::DOUBLED_TAG), 1);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, &text).unwrap();
    let path = path.to_str().unwrap();
    let (csv, stderr) = run(&["-v", "games", path]);
    let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((row[6], row[8], row[15]), ("c", "2600", "1-0"));
    assert!(stderr.contains("1 game with a tag given more than once"), "{stderr}");
    let (jsonl, stderr) = run(&["games", "--format", "jsonl", path]);
    let row: serde_json::Value = serde_json::from_str(jsonl.lines().next().unwrap()).unwrap();
    assert_eq!((&row["tags"]["White"], &row["result"]), (&"c".into(), &"1-0".into()));
    assert_eq!(stderr, "");
    if let Some(path) = shared_data("regressions/pgn/dup-tags.pgn") {
        let (csv, _) = run(&["games", path.to_str().unwrap()]);
        assert!(csv.lines().nth(1).unwrap().contains(",c,,2600,"), "{csv}");
    }
}

/// Standard output and standard error of a successful run.
fn run(arguments: &[&str]) -> (String, String) {
    let done = Command::cargo_bin("lanefish").unwrap().args(arguments).assert().success().get_output().clone();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(done.stdout), text(done.stderr))
}

#[test]
fn unknown_dates_and_dropped_castling_rights_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    let text: String =
        ["2025.01.01", "soon", "????.??.??", "2024"].iter().map(|date| game(&[("Date", date)])).collect();
    let start = "[Event \"x\"]\n[FEN \"4k3/8/8/8/8/8/8/4K3 w KQ - 0 1\"]\n\n*\n";
    std::fs::write(&path, text + start).unwrap();
    let path = path.to_str().unwrap();
    let (_, stderr) = run(&["games", "--since", "2025", path]);
    assert!(
        stderr.contains(
            "--since left out 4 games and 16 positions, 3 games for a date that is unknown or cannot be read"
        ),
        "{stderr}"
    );
    assert!(stderr.contains("2 castling rights of FEN tags dropped"), "{stderr}");
    let (_, stderr) = run(&["games", "--until", "2025", path]);
    assert!(stderr.contains("--until left out 3 games and 11 positions, 3 games"), "{stderr}");
    let (csv, _) = run(&["games", "--since", "31.12.2024", "--until", "20250101", path]);
    assert_eq!(csv.lines().count(), 3);
    if let Some(path) = shared_data("regressions/pgn/dates.pgn") {
        let path = path.to_str().unwrap();
        let count = |option, date| run(&["games", option, date, path]).0.lines().count() - 1;
        assert_eq!(count("--since", "2025.12.31"), 3);
        assert_eq!(count("--since", "2025.05.04"), 3);
        assert_eq!(count("--until", "3.5.2025"), 1);
        assert_eq!(count("--until", "2025"), 4);
        assert_eq!(count("--since", "2026"), 0);
    }
}

/// The games up to the limit do not depend on chunks or threads, nor on anything after the limit.
#[test]
fn a_limit_of_games_ends_the_reading() {
    let mut random = Random::new(1);
    let mut text = String::new();
    for number in 0..60_000 {
        let elo = (random.below(1000) + 1000).to_string();
        let moves = match number % 7 {
            3 => "1. e4 e5 2. Ke3",
            _ => "1. e4 e5 2. Nf3",
        };
        text += &format!("[Event \"{number}\"]\n[WhiteElo \"{elo}\"]\n[BlackElo \"2000\"]\n\n{moves} *\n\n");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, &text).unwrap();
    let path = path.to_str().unwrap();
    // A file after the limit may be broken.
    let broken = directory.path().join("broken.pgn.zst");
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    std::fs::write(&broken, &packed[..packed.len() / 2]).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for inputs in [&[path][..], &[path, broken.to_str().unwrap()]] {
        for threads in ["1", "2", "7", "16"] {
            let done = Command::cargo_bin("lanefish")
                .unwrap()
                .args(["games", "--limit", "1000", "--skip", "20000"])
                .args(["--min-elo", "1500", "--threads", threads])
                .args(inputs)
                .assert()
                .code(1)
                .get_output()
                .clone();
            let out = String::from_utf8(done.stdout).unwrap();
            assert_eq!(out.lines().count(), 1001);
            seen.insert((out, String::from_utf8(done.stderr).unwrap()));
        }
    }
    assert_eq!(seen.len(), 1, "{:?}", seen.iter().map(|(_, stderr)| stderr).collect::<Vec<_>>());
}

/// The pipe never ends.
#[test]
fn a_limit_of_games_leaves_the_rest_of_a_pipe_unread() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_lanefish"))
        .args(["games", "--from", "pgn", "--limit", "1", "--threads", "2", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let block = game(&[]).repeat(10_000);
    let mut written = 0;
    while pipe.write_all(block.as_bytes()).is_ok() {
        written += block.len();
        assert!(written < 1 << 30, "reading does not stop");
    }
    drop(pipe);
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    assert_eq!(String::from_utf8(done.stdout).unwrap().lines().count(), 2);
}

#[test]
fn reversed_ranges_and_invalid_dates_are_rejected() {
    for (option, value) in [("--eco", "B19-B10"), ("--since", "5/3/2025"), ("--until", "soon")] {
        let done = Command::cargo_bin("lanefish")
            .unwrap()
            .args(["games", option, value, "no.pgn"])
            .assert()
            .code(2)
            .get_output()
            .clone();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(stderr.contains(option) || stderr.contains(value), "{stderr}");
    }
}

/// Chosen positions are rows of all positions, with their moves, whatever the games before and after them.
#[test]
fn chosen_positions_have_the_moves_of_all_positions() {
    // Games that the lanes leave to one board, and games all of whose positions are chosen.
    let texts = [
        "1. e2e4 e7e5 2. g1f3 b8c6 3. f1b5 a7a6 1-0",
        "1. e4 e5 *",
        "1. Pe2-e4 Pe7-e5 2. Ng1-f3 Nb8-c6 3. Bf1-b5 Pa7-a6 1-0",
        "1. d4 1-0",
        "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 5. d3 0-0 0-1",
        "1. c4 c5 2. Nc3 *",
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6",
        "*",
        "1. e4 e5 2. Nf3 Nf6 3. Nxe5 d6 4. Nf3 Nxe4 1/2-1/2",
    ];
    let mut random = Random::new(7);
    let mut text = String::new();
    for number in 0..400 {
        text += &format!("[Event \"{number}\"]\n");
        if random.below(5) == 0 {
            text += "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]\n[SetUp \"1\"]\n";
        }
        text += &format!("\n{}\n\n", texts[random.below(texts.len() as u64) as usize]);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let rows = |options: &[&str]| -> Vec<String> {
        let (csv, _) = run(&[&["compute", "--columns", "game,ply,move,san,fen", "-q", path], options].concat());
        csv.lines().skip(1).map(str::to_owned).collect()
    };
    let all = rows(&[]);
    let plies = |row: &String| row.split(',').nth(1).unwrap().parse::<u32>().unwrap();
    assert!(all.len() > 1_500);
    for end in 0..8 {
        let chosen: Vec<String> = all.iter().filter(|row| plies(row) <= end).cloned().collect();
        assert_eq!(rows(&["--plies", &format!("0..{end}")]), chosen, "--plies 0..{end}");
    }
    for every in 2..5 {
        let chosen: Vec<String> = all.iter().filter(|row| plies(row) % every == 0).cloned().collect();
        assert_eq!(rows(&["--every", &every.to_string()]), chosen, "--every {every}");
    }
}
