//! Every example of help texts and manual pages, with what it must select.

use super::help::COMMANDS;
use super::{Dir, KIWIPETE, START, lanefish, output, sample};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A game of strong players that ends in stalemate, after twelve others.
const STALEMATE: &str = "\n[Event \"Stalemate\"]\n[WhiteElo \"2300\"]\n[BlackElo \"2400\"]\n[Result \"1/2-1/2\"]\n\n\
    1. e3 a5 2. Qh5 Ra6 3. Qxa5 h5 4. h4 Rah6 5. Qxc7 f6 6. Qxd7+ Kf7 7. Qxb7 Qd3 8. Qxb8 Qh7 9. Qxc8 Kg6 10. Qe6 \
    1/2-1/2\n";
/// Positions of all these games.
const POSITIONS: usize = 645 + 20;

/// The answer of a `jq` filter, for the filters that occur.
fn jq(filter: &str, text: &str) -> String {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>().map(|value| value.expect("JSON"));
    let pointer = |path: &str| path.replace('.', "/");
    let found: Vec<String> = match filter.strip_prefix("'select(") {
        Some(condition) => {
            let condition = condition.strip_suffix(")'").expect("one condition");
            let (path, wanted) = condition.split_once(" == ").expect("a comparison");
            let wanted: Value = serde_json::from_str(wanted).expect("JSON");
            let chosen = values.filter(|value| value.pointer(&pointer(path)) == Some(&wanted));
            chosen.map(|value| value.to_string()).collect()
        }
        None => values.map(|value| value.pointer(&pointer(filter)).expect(filter).to_string()).collect(),
    };
    found.join("\n")
}

/// The files that the examples name.
fn make_inputs(dir: &Dir) {
    let mut games = fs::read(sample("lichess-2025-05.pgn")).unwrap();
    games.extend_from_slice(STALEMATE.as_bytes());
    let packed = zstd::encode_all(&games[..], 1).unwrap();
    for name in ["games.pgn", "twic.pgn", "own.pgn"] {
        dir.file(name, &games);
    }
    dir.file("games.pgn.zst", &packed);
    dir.file("dump.pgn.zst", &packed);
    for name in ["games.boards", "old.boards", "a.boards", "b.boards", "all.boards", "test.boards"] {
        output(0, &["convert", &dir.name("games.pgn"), "-o", &dir.name(name)]);
    }
    let rescored = (0..POSITIONS).map(|record| format!("{{\"score\":{}}}\n", record % 7));
    dir.file("new.jsonl", rescored.collect::<String>());
    let evaluation = format!(
        "{{\"fen\":\"{START}\",\"evals\":[{{\"pvs\":[{{\"cp\":20,\"line\":\"e2e4\"}}],\"knodes\":1,\"depth\":9}}]}}\n"
    );
    dir.file("evals.jsonl.zst", zstd::encode_all(evaluation.as_bytes(), 1).unwrap());
    fs::copy(sample("sample.boards"), dir.path("new.boards")).unwrap();
    fs::copy(sample("famous.epd"), dir.path("positions.epd")).unwrap();
    let black = START.replace(" w ", " b ");
    dir.file("a.fen", format!("{START}\n{black}\n{KIWIPETE}\n"));
    dir.file("mixed.epd", format!("{START}\nrubbish\n{KIWIPETE}\n"));
    dir.file("hub.csv", format!("fen,score\n{START},20\n"));
    dir.file("standard.perft", format!("id start\nepd {START}\nperft 1 20\nperft 3 8902\n"));
    for folder in ["data", ".local/share/bash-completion/completions", ".config/fish/completions"] {
        fs::create_dir_all(dir.path(folder)).unwrap();
    }
    fs::copy(dir.path("games.pgn"), dir.path("data/games.pgn")).unwrap();
    fs::copy(dir.path("mixed.epd"), dir.path("data/mixed.epd")).unwrap();
}

fn read(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let bytes = if path.extension().is_some_and(|extension| extension == "zst") {
        zstd::decode_all(&bytes[..]).unwrap()
    } else {
        bytes
    };
    String::from_utf8(bytes).unwrap()
}

/// Records of a file, as `info` counts them.
fn records(path: &Path) -> u64 {
    let facts = output(0, &["info", "--json", path.to_str().unwrap()]);
    let facts: Value = serde_json::from_str(&facts).unwrap();
    facts["records"].as_u64().unwrap()
}

/// Checks what an example has printed and written; false if it is not known here.
fn is_as_expected(example: &str, dir: &Path, out: &str) -> bool {
    let lines = |name: &str| read(&dir.join(name)).lines().count();
    let file = |name: &str| records(&dir.join(name)) as usize;
    let says = |text: &str| assert!(out.contains(text), "{example}: {out}");
    match example {
        "lanefish stats games.pgn.zst" | "lanefish stats --by phase games.pgn.zst" => {
            says(&format!("{POSITIONS} positions of 13 games, 0 rejected"));
            if example.contains("--by") {
                says("phase");
            }
        }
        "lanefish stats --json games.pgn.zst | jq .legal_moves.mean" => {
            let mean: f64 = out.parse().unwrap();
            assert!((20.0..40.0).contains(&mean), "{mean}");
        }
        "lanefish stats games.pgn.zst --html games.html" => {
            assert!(read(&dir.join("games.html")).contains("</html>"));
        }
        "lanefish stats --compare old.boards new.boards" => says("old.boards"),
        "lanefish stats --json --shard 0/4 dump.pgn.zst > 0.json; lanefish stats --merge ?.json" => {
            says("positions of ");
        }
        "lanefish stats --min-elo 2200 --skip-book 16 games.pgn.zst" => {
            says("4 positions of 1 game, 0 rejected");
        }
        "lanefish compute positions.epd --columns fen,legal_moves,in_check --limit 10" => {
            assert_eq!(out.lines().next(), Some("fen,legal_moves,in_check"));
            assert_eq!(out.lines().count(), 11);
        }
        "lanefish compute positions.epd --columns fen,legal_moves -o rows.csv.gz" => {
            assert!(fs::metadata(dir.join("rows.csv.gz")).unwrap().len() > 1000);
        }
        "lanefish compute games.pgn.zst --columns all -o rows.jsonl.zst" => {
            assert_eq!(lines("rows.jsonl.zst"), POSITIONS);
        }
        "lanefish compute games.boards --columns all -o rows.parquet" => {
            assert_eq!(file("rows.parquet"), POSITIONS);
        }
        "grep -v ' b ' a.fen | lanefish compute" => assert_eq!(out.lines().count(), 3),
        "lanefish shuffle a.boards b.boards --seed 7 -o shuffled.boards" => {
            assert_eq!(file("shuffled.boards"), 2 * POSITIONS);
        }
        "lanefish shuffle games.pgn.zst --by game --memory 256M -o shuffled.boards" => {
            assert_eq!(file("shuffled.boards"), POSITIONS);
        }
        "lanefish dedup games.pgn.zst" => says("position"),
        "lanefish dedup evals.jsonl.zst --keep most:depth --against test.boards -o unique.boards" => {
            assert_eq!(file("unique.boards"), 0);
        }
        "lanefish dedup --by game twic.pgn own.pgn --list others.csv -o unique.pgn" => {
            assert_eq!(lines("others.csv"), 1 + read(&dir.join("unique.pgn")).matches("[Event ").count());
        }
        "lanefish interleave a.boards b.boards -o mixed.boards" => assert_eq!(file("mixed.boards"), 2 * POSITIONS),
        "lanefish interleave a.boards b.boards --weights 0.7,0.3 -o mixed.boards" => {
            // All records of the first, and three for seven of them of the second.
            assert_eq!(file("mixed.boards"), POSITIONS + (POSITIONS * 3).div_ceil(7));
        }
        "lanefish split all.boards --parts train=0.98,valid=0.02 -o '{part}.boards'" => {
            assert_eq!(file("train.boards") + file("valid.boards"), POSITIONS);
        }
        "lanefish split games.pgn.zst --by game --parts train=0.9,test=10% -o '{part}.fen'" => {
            let parts = ["train", "test"].map(|part| lines(&format!("{part}.fen")));
            assert_eq!(parts.iter().sum::<usize>(), POSITIONS);
        }
        "lanefish convert games.pgn.zst -o games.boards" => {
            assert_eq!(file("games.boards"), POSITIONS);
        }
        "lanefish convert games.boards -o games.fen.zst --level 19" => {
            assert_eq!(lines("games.fen.zst"), POSITIONS);
        }
        "lanefish convert a.boards --zip new.jsonl --set 'score = \"zip:score\"' -o c.boards" => {
            assert_eq!(file("c.boards"), POSITIONS);
        }
        "lanefish stats a.boards --zip new.jsonl --compare" => says("records with both scores"),
        "lanefish convert mixed.epd -o good.epd --rejects bad.txt" => {
            assert_eq!((lines("good.epd"), lines("bad.txt")), (2, 1));
        }
        "lanefish games games.pgn.zst --min-elo 2500 -o strong.pgn.zst" => assert_eq!(lines("strong.pgn.zst"), 0),
        "lanefish games games.pgn -o games.csv" => assert_eq!(lines("games.csv"), 14),
        "lanefish games games.pgn.zst -o games.parquet --moves movetext,uci" => {
            assert_eq!(file("games.parquet"), 13);
        }
        "lanefish games games.pgn --sort plies:desc --limit 10 --columns plies,white,black" => {
            let plies = out.lines().skip(1).filter_map(|line| line.split(',').next()?.parse::<u32>().ok());
            let plies: Vec<u32> = plies.collect();
            assert!(plies.len() == 10 && plies.is_sorted_by(|one, next| one >= next), "{out}");
        }
        "lanefish games games.pgn --columns white,black,result,tag:Annotator" => {
            assert!(out.starts_with("white,black,result,tag:Annotator\n") && out.lines().count() == 14, "{out}");
        }
        "lanefish games games.pgn --having \"on('d4', 'P') and white_pawns_mask & 0x1414141414141414 = 0\" -o iqp.pgn" =>
        {
            assert_eq!(read(&dir.join("iqp.pgn")).matches("[Event ").count(), 1);
        }
        "lanefish games games.pgn --format jsonl | jq 'select(.outcome == \"stalemate\")'" => {
            assert_eq!(out.lines().count(), 1, "{out}");
            says("\"game\":12");
        }
        "lanefish tree games.pgn.zst" => says("White to move, 1"),
        "lanefish tree games.pgn.zst --moves \"e4 c5 Nf3\" --depth 2 --top 5" => says("Black to move"),
        "lanefish tree games.pgn.zst --plies 30 --min-games 5 -o tree.csv" => assert!(lines("tree.csv") >= 1),
        "lanefish tree games.pgn.zst --min-elo 2400 --plies 24 --min-games 3 -o book.bin" => {
            assert_eq!(fs::metadata(dir.join("book.bin")).unwrap().len(), 0);
        }
        "lanefish show \"4r1k1/8/8/1b6/8/3N4/4N3/q3K2R w K - 0 1\"" => says("White to move"),
        "lanefish show games.pgn --index 9 --attacks white" => {
            says("record 9");
            says("White attacks");
        }
        "lanefish show games.pgn --where checkmate --limit 3" => says("checkmate"),
        "lanefish perft 6" => says("nodes 119060324"),
        "lanefish perft --divide \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\" 5" => says("nodes 133987"),
        "lanefish perft --suite standard.perft" => says("2 counts checked, 0 wrong"),
        "lanefish bench" => says("Kernels"),
        "lanefish bench sliders --filter pext --input positions.epd" => says("pext"),
        "lanefish bench pipeline" => says("Pipeline: "),
        "lanefish bench kernels --json > kernels.json" => {
            let rows: Value = serde_json::from_str(&read(&dir.join("kernels.json"))).unwrap();
            assert!(!rows["rows"].as_array().unwrap().is_empty());
        }
        "lanefish bench decode --save old.json" => assert!(lines("old.json") > 5),
        "lanefish bench decode --compare old.json" => says("Since old.json"),
        "lanefish generate -n 1000000 --seed 7 -o random.boards" => {
            assert_eq!(file("random.boards"), 1_000_000);
        }
        "lanefish generate -n 50000 --chess960 -o random.fen.zst" => {
            assert_eq!(lines("random.fen.zst"), 50_000);
        }
        "lanefish verify --validity playable data/" => {
            says("mixed.epd");
            says("not ok");
        }
        "lanefish verify --json --validity playable a.boards" => says("\"ok\": true"),
        "lanefish info" => says("tier: "),
        "lanefish info games.boards" => says(&format!("records: {POSITIONS}")),
        "lanefish info --calibrate" => says("choice of tier: "),
        "lanefish completions bash > ~/.local/share/bash-completion/completions/lanefish" => {
            assert!(lines(".local/share/bash-completion/completions/lanefish") > 100);
        }
        "lanefish completions fish > ~/.config/fish/completions/lanefish.fish" => {
            assert!(lines(".config/fish/completions/lanefish.fish") > 100);
        }
        "lanefish man compute | man -l -" => says(".TH lanefish-compute 1"),
        "lanefish man --directory ~/.local/share/man/man1" => {
            assert!(lines(".local/share/man/man1/lanefish.1") > 20);
        }
        sql if sql.starts_with("lanefish sql ") => match sql.split_once(" -o ") {
            Some((_, name)) => assert!(fs::metadata(dir.join(name)).unwrap().len() > 0),
            None => assert!(out.lines().count() > 1, "{out}"),
        },
        _ => return false,
    }
    true
}

/// Runs an example in a directory; `.0` is standard output, as far as it reaches the end.
fn run(example: &str, dir: &Path) -> (String, Option<i32>) {
    let (line, filter) = match example.split_once(" | jq ") {
        Some((line, filter)) => (line, Some(filter)),
        None => (example, None),
    };
    // Not every machine has the program that shows pages.
    let line = line.strip_suffix(" | man -l -").unwrap_or(line);
    let line = match line.split_once("lanefish bench") {
        Some((_, rest)) => format!("lanefish bench --seconds 0.0001 --size 1{rest}"),
        None => line.to_owned(),
    };
    let done = shell(&line, dir);
    let out = String::from_utf8(done.stdout).unwrap();
    let out = match filter {
        Some(filter) => jq(filter, &out),
        None => out,
    };
    (out, done.status.code())
}

/// Runs a command line in a directory with the [program](install).
pub(super) fn shell(line: &str, dir: &Path) -> Output {
    let tools = std::env::var("PATH").unwrap_or_default();
    Command::new("sh")
        .args(["-c", line])
        .current_dir(dir)
        .env("PATH", format!("{}:{tools}", dir.join("bin").display()))
        .env("HOME", dir)
        .output()
        .unwrap()
}

/// Puts the program into a directory, with the runner that cargo may be told to use for it.
pub(super) fn install(dir: &Dir) {
    fs::create_dir(dir.path("bin")).unwrap();
    let program = lanefish(&[]);
    let words: Vec<String> = std::iter::once(program.get_program())
        .chain(program.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let script = dir.file("bin/lanefish", format!("#!/bin/sh\nexec {} \"$@\"\n", words.join(" ")));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(script, executable).unwrap();
}

#[test]
fn every_example_selects_what_it_says() {
    let dir = Dir::new();
    make_inputs(&dir);
    install(&dir);

    let mut pages: Vec<Vec<&str>> = COMMANDS.iter().map(|&command| vec![command]).collect();
    pages.push(Vec::new());
    if cfg!(feature = "cluster") {
        pages.extend(["scheduler", "executor", "status"].map(|role| vec!["cluster", role]));
    }
    let mut seen = BTreeSet::new();
    for page in pages {
        let help = output(0, &[&page[..], &["--help"]].concat());
        let name = page.join("-");
        let man = if name.is_empty() { output(0, &["man"]) } else { output(0, &["man", &name]) };
        let man = man.replace("\\-", "-").replace("\\e", "\\");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let man = words(&man);
        let mut examples: Vec<String> = Vec::new();
        for line in help.lines() {
            if let Some(line) = line.strip_prefix("    $ ") {
                examples.push(line.to_owned());
            } else if let Some(example) = examples.last_mut().filter(|it| it.matches('"').count() % 2 == 1) {
                // A quotation goes on in the next line.
                *example += &format!(" {}", line.trim());
            }
        }
        // The examples of the parts of a cluster are those of `cluster`.
        assert!(!examples.is_empty() || page.len() > 1, "{page:?}");
        for example in &examples {
            assert!(man.contains(&words(example)), "{example}");
            // Those need several machines.
            let is_remote = example.contains("lanefish cluster ") || example.contains("--cluster ");
            if is_remote || !seen.insert(example.to_owned()) {
                continue;
            }
            for option in [" -o ", " --html ", " --list "] {
                if let Some((_, rest)) = example.split_once(option) {
                    let name = rest.split(' ').next().unwrap();
                    let _ = fs::remove_file(dir.path(name));
                }
            }
            let (out, status) = run(example, dir.0.path());
            let bad = example.contains("mixed.epd") || example.ends_with(" data/");
            assert_eq!(status, Some(i32::from(bad)), "{example}: {out}");
            assert!(is_as_expected(example, dir.0.path(), &out), "what must `{example}` do?");
        }
    }
    assert!(seen.len() > 35, "{seen:#?}");
}
