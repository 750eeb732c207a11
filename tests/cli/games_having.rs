//! `--having`, `--then`, `--next`: games chosen by their positions, against a slow twin that evaluates every condition at
//! every ply and tries every sequence of plies.

use super::{Dir, json, lanefish, output, sample, stderr_of};
use crate::support::{Ended, run, shared_data};
use lanefish::Error;
use lanefish::choose::{Choose, Definitions, FilterCount, GameFilter, PositionSequence, SequenceWord};
use lanefish::formats;
use lanefish::input::Inputs;
use lanefish::jobs::{GameColumns, OutputContent, OutputFormat, WriteJob};
use lanefish::output::SquareSetStyle;
use lanefish::pipeline::{ReadOptions, RunOptions};
use lanefish::table::Columns;
use lanefish::tiers::Tier;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use SequenceWord::{Having, Next, Then};

type List = &'static [(SequenceWord, &'static str)];

/// Lists of conditions. Some have no game in small files, and some have nearly all.
const LISTS: [List; 66] = [
    &[(Having, "in_check")],
    &[(Having, "checkmate")],
    &[(Having, "stalemate or pieces = 3")],
    &[(Having, "in_check"), (Next, "in_check")],
    &[(Having, "in_check"), (Then, "in_check"), (Then, "in_check"), (Then, "in_check"), (Then, "in_check")],
    &[(Having, "in_check"), (Next, "not in_check"), (Next, "in_check")],
    &[(Having, "move_checks"), (Next, "true"), (Next, "move_checks"), (Next, "true"), (Next, "move_checks")],
    &[(Having, "matches('8/8/8/8/3P4/8/8/8') and white_pawns_mask & 0x1414141414141414 = 0")],
    &[(Having, "on('d4', 'P') and on('e5', 'p')")],
    &[(Having, "matches('rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR', 'exact')")],
    &[(Having, "matches('rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR', 'exact')")],
    &[(Having, "matches('8/8/8/8/8/8/5PPP/6K1', 'flip mirror')")],
    &[(Having, "matches('8/8/8/8/8/8/5PPP/6K1', 'flip')"), (Then, "material_white + material_black < 20")],
    &[(Having, "matches('8/8/8/8/8/3B4/8/8', 'mover')"), (Then, "moved_piece = 'B' and san like 'Bxh%+'")],
    &[(Having, "move_promotes")],
    &[(Having, "move_promotes and not san like '%=Q%'")],
    &[(Having, "move_castles and move = 'e1g1'"), (Then, "move_castles and move = 'e8g8'")],
    &[(Having, "san like 'O-O-O%'")],
    &[(Having, "san = 'O-O-O' and ply > 20")],
    &[(Having, "move_en_passant")],
    &[(Having, "move_captures"), (Next, "move_captures"), (Next, "move_captures"), (Next, "move_captures")],
    &[(Having, "captured_piece = 'Q'"), (Next, "captured_piece = 'Q'")],
    &[(Having, "captured_piece = 'Q'"), (Next, "not move_captures or captured_piece <> 'Q'")],
    &[(Having, "moved_piece = 'K' and captured_piece = 'Q'")],
    &[(Having, "moved_piece = 'N' and move_checks")],
    &[(Having, "move_see < -300")],
    &[(Having, "move_see >= 500"), (Then, "move_see >= 500"), (Next, "move_see < 0")],
    &[(Having, "legal_moves = 1")],
    &[(Having, "legal_moves > 45")],
    &[(Having, "legal_moves > 40"), (Next, "legal_moves < 10")],
    &[(Having, "legal_captures = 0 and ply > 30")],
    &[(Having, "attacked_white & attacked_black = 0")],
    &[(Having, "popcount(pinned_mask) >= 2")],
    &[(Having, "pieces <= 10")],
    &[(Having, "pieces = 5"), (Then, "pieces = 4"), (Then, "pieces = 3")],
    &[(Having, "material = 'KRPPPPvKRPPP' or material = 'KRPPPvKRPPPP'")],
    &[(Having, "material like 'K%Rv%' or material like '%vKR%'")],
    &[(Having, "material like 'KRP%vKRP%' and not material like '%RR%'")],
    &[(Having, "stm_material > nstm_material + 9")],
    &[(Having, "abs(material_white - material_black) >= 5"), (Then, "material_white = material_black")],
    &[(Having, "score > 300")],
    &[(Having, "score > 200"), (Then, "score < -200")],
    &[(Having, "abs(score - score_before) > 300")],
    &[(Having, "mate is not null"), (Then, "mate is null and score is not null")],
    &[(Having, "mate = 1 or mate = -1")],
    &[(Having, "clock < 10 and ply > 10")],
    &[(Having, "clock < 30 and stm_score > 300"), (Then, "stm_score < 0")],
    &[(Having, "eco_position like 'B2%'")],
    &[(Having, "opening_position like '%Gambit%'"), (Then, "checkmate")],
    &[(Having, "plies_left = 10 and pieces < 14")],
    &[(Having, "white_elo > 1700 and in_check")],
    &[(Having, "result = '1-0' and material_white < material_black - 3 and ply > 30")],
    &[(Having, "uniform(game) < 0.3")],
    &[(Having, "game % 7 = 3 and in_check")],
    &[(Having, "uniform(distinct_key, 's') < 0.01")],
    &[(Having, "ply = 60")],
    &[(Having, "ply = 10 and on('f3', 'N')"), (Then, "ply = 40 and on('f3', 'N')")],
    &[(Having, "halfmove >= 20"), (Next, "halfmove = 0")],
    &[(Having, "en_passant <> '-'"), (Next, "move_captures"), (Then, "in_check"), (Next, "moved_piece = 'K'")],
    &[(Having, "castling = '-'"), (Then, "pieces > 28")],
    &[(Having, "stm = 'w' and in_check"), (Then, "stm = 'b' and in_check"), (Then, "checkmate")],
    &[(Having, "quiet"), (Next, "quiet"), (Next, "quiet"), (Next, "quiet"), (Next, "quiet")],
    &[(Having, "popcount(white_bishops_mask) = 1 and popcount(black_bishops_mask) = 1 and phase < 8")],
    &[(Having, "case when stm = 'w' then material_white else material_black end < 10 and white_queens_mask <> 0")],
    &[(Having, "\"tag:Event\" like 'Rated%' and move_checks and move_captures")],
    &[(Having, "stm_king in (6, 2)"), (Then, "on('h7', 'B') or on('h2', 'b')"), (Next, "moved_piece = 'K'")],
];

fn sequence(list: List) -> PositionSequence {
    PositionSequence::parse(list.iter().copied(), &Definitions::default()).unwrap()
}

fn reading(list: List) -> ReadOptions {
    let games = GameFilter::default().having(sequence(list));
    ReadOptions::default().choose(Choose::default().games(Some(Arc::new(games))))
}

struct Setting {
    threads: usize,
    chunk: usize,
    tier: Tier,
}

impl Setting {
    fn new(threads: usize, chunk: usize) -> Self {
        Self { threads, chunk, tier: Tier::best() }
    }
}

/// What is written of some inputs.
fn written(
    files: &[PathBuf],
    read: &ReadOptions,
    content: OutputContent<'_>,
    format: OutputFormat,
    setting: &Setting,
) -> (Vec<u8>, Ended) {
    let inputs = Inputs::resolve(files, formats::is_supported).unwrap();
    let job = WriteJob::new(content, format).unwrap();
    let mut text = Vec::new();
    let mut out = job.open(&mut text).unwrap();
    let options = RunOptions::new(setting.tier.analyzer().unwrap()).read(read.clone());
    let summary = run(&inputs, options.threads(setting.threads).chunk_size(setting.chunk), &job, |part| {
        job.put(&mut out, part).map_err(|source| Error::Write { path: "rows".into(), source })
    });
    job.finish(out).unwrap();
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    (text, summary)
}

fn lines(text: Vec<u8>) -> Vec<String> {
    String::from_utf8(text).unwrap().lines().skip(1).map(str::to_owned).collect()
}

/// The number and the four columns of each game that is chosen.
fn chosen(files: &[PathBuf], list: List, setting: &Setting) -> (Vec<String>, Ended) {
    let columns = GameColumns::named("game,match_plies,first_match,last_match,match_count").unwrap();
    let (text, summary) =
        written(files, &reading(list), OutputContent::GameColumns(&columns), OutputFormat::Csv, setting);
    (lines(text), summary)
}

/// For each game the plies, and which conditions are true at each.
type Truths = BTreeMap<u64, Vec<(u32, Vec<bool>)>>;

/// Every condition at every ply.
fn truths(files: &[PathBuf], list: List) -> Truths {
    let names: Vec<String> = (0..list.len()).map(|place| format!("c{place}")).collect();
    let texts = names.iter().zip(list).map(|(name, (_, text))| format!("{name}={text}"));
    let definitions = Definitions::parse(texts).unwrap();
    let columns = format!("game,ply,{}", names.join(","));
    let columns = Columns::named_with(&columns, |name| definitions.column(name)).unwrap();
    let content = OutputContent::Columns(&columns, SquareSetStyle::Hex);
    let setting = Setting::new(2, 1 << 16);
    let (text, _) = written(files, &ReadOptions::default(), content, OutputFormat::Csv, &setting);
    let mut games = Truths::new();
    for line in lines(text) {
        let fields: Vec<&str> = line.split(',').collect();
        let is_true = fields[2..].iter().map(|&value| matches!(value, "true" | "1")).collect();
        games.entry(fields[0].parse().unwrap()).or_default().push((fields[1].parse().unwrap(), is_true));
    }
    games
}

/// Tries every sequence of plies: those that begin a sequence of the first conditions, with the best way to each.
fn tried(game: &[(u32, Vec<bool>)], list: List) -> Option<(Vec<u32>, u32, u32, usize)> {
    // The smallest plies from the left on which each position can be reached.
    let mut ways: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (place, (word, _)) in list.iter().enumerate() {
        let mut longer: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for at in (0..game.len()).filter(|&at| game[at].1[place]) {
            let before: Vec<Vec<u32>> = match word {
                Having => vec![Vec::new()],
                Then => ways.iter().filter(|&(&before, _)| before < at).map(|(_, way)| way.clone()).collect(),
                Next => ways.iter().filter(|&(&before, _)| before + 1 == at).map(|(_, way)| way.clone()).collect(),
            };
            if let Some(mut way) = before.into_iter().min() {
                way.push(game[at].0);
                longer.insert(at, way);
            }
        }
        ways = longer;
    }
    let (&first, plies) = ways.first_key_value()?;
    let (&last, _) = ways.last_key_value()?;
    Some((plies.clone(), game[first].0, game[last].0, ways.len()))
}

/// The rows of the games that the twin chooses.
fn expected(truths: &Truths, list: List) -> Vec<String> {
    let rows = truths.iter().filter_map(|(game, plies)| {
        let (way, first, last, count) = tried(plies, list)?;
        let way: Vec<String> = way.iter().map(u32::to_string).collect();
        Some(format!("{game},{},{first},{last},{count}", way.join(" ")))
    });
    rows.collect()
}

/// All files with games: those of this repository and all PGN of the shared data.
fn pgn_files() -> Vec<PathBuf> {
    fn collect(path: &Path, files: &mut Vec<PathBuf>) {
        if path.is_dir() {
            let mut entries: Vec<PathBuf> =
                std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            entries.iter().for_each(|entry| collect(entry, files));
        } else if path.extension().is_some_and(|extension| extension == "pgn") {
            files.push(path.to_owned());
        }
    }
    let mut files = vec![PathBuf::from(sample("lichess-2025-05.pgn"))];
    for folder in ["pgn", "game-tables", "regressions"] {
        if let Some(folder) = shared_data(folder) {
            collect(&folder, &mut files);
        }
    }
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pgn_files"), &mut files);
    files
}

#[test]
fn games_are_those_of_the_slow_twin() {
    let files = pgn_files();
    let (all, _) = written(
        &files,
        &ReadOptions::default(),
        OutputContent::Games,
        OutputFormat::JsonLines,
        &Setting::new(2, 1 << 20),
    );
    let number_of_games = all.iter().filter(|&&byte| byte == b'\n').count();
    let mut chosen_some = 0;
    let tiers: Vec<Tier> = Tier::all().filter(|tier| tier.analyzer().is_some()).collect();
    for (number, list) in LISTS.into_iter().enumerate() {
        let expected = expected(&truths(&files, list), list);
        let (threads, chunk) = [(2, 700), (8, 1 << 16)][number % 2];
        let settings =
            [Setting::new(1, 1 << 20), Setting { tier: tiers[number % tiers.len()], ..Setting::new(threads, chunk) }];
        for setting in &settings {
            let (found, summary) = chosen(&files, list, setting);
            assert_eq!(found, expected, "{}", sequence(list));
            let left_out = summary.left_out["having"].games as usize;
            assert_eq!(left_out + found.len(), number_of_games, "{}", sequence(list));
        }
        let share = expected.len() as f64 / number_of_games as f64;
        chosen_some += usize::from((0.01..=0.99).contains(&share));
    }
    assert!(chosen_some >= 40, "{chosen_some} of {} lists choose some games", LISTS.len());
}

/// Other formats give the same games as the PGN that they came from, wherever their chunks end.
#[test]
fn every_format_has_the_games_of_its_text() {
    let dir = Dir::new();
    let mut files = vec![sample("lichess-2025-05.pgn")];
    if let Some(dump) = shared_data("pgn/lichess_db_1000k.pgn") {
        files.push(dump.to_str().unwrap().to_owned());
    }
    const COLUMNS: &str = "fen,game,ply,move,result,score,mate,clock,white_elo,black_elo";
    let names: &[&str] = if cfg!(feature = "parquet") {
        &["boards", "boards.zst", "csv", "jsonl", "parquet", "arrow"]
    } else {
        &["boards", "boards.zst", "csv", "jsonl"]
    };
    for (number, file) in files.iter().enumerate() {
        let pgn = [PathBuf::from(file)];
        for (place, name) in names.iter().enumerate() {
            let copy = dir.name(&format!("{number}.{name}"));
            match *name {
                "csv" | "jsonl" => output(0, &["-q", "compute", "--columns", COLUMNS, file, "-o", &copy]),
                _ => output(0, &["-q", "convert", file, "-o", &copy]),
            };
            let copy = [PathBuf::from(copy)];
            // Each list is tried in two formats of each file.
            for list in LISTS.into_iter().skip((place + number) % 3).step_by(3) {
                let needs_text =
                    list.iter().any(|(_, text)| ["tag:", "plies_left"].iter().any(|word| text.contains(word)));
                if needs_text {
                    continue;
                }
                let (expected, of_text) = chosen(&pgn, list, &Setting::new(1, 1 << 20));
                for setting in [Setting::new(1, 1 << 20), Setting::new(2, 3000)] {
                    let (found, summary) = chosen(&copy, list, &setting);
                    assert_eq!(found, expected, "{name}: {}", sequence(list));
                    assert_eq!(summary.left_out, of_text.left_out, "{name}: {}", sequence(list));
                }
            }
        }
    }
}

/// Records of whole games are taken, and other choices come after.
#[test]
fn positions_are_those_of_the_chosen_games() {
    let dir = Dir::new();
    let pgn = sample("lichess-2025-05.pgn");
    let boards = dir.name("all.boards");
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    let having = ["--having", "in_check", "--then", "move_captures"];
    let rows = output(0, &[&["-q", "games", &pgn, "--columns", "game", "--format", "csv"][..], &having].concat());
    let games: BTreeSet<&str> = rows.lines().skip(1).collect();
    assert!(games.len() > 2, "{games:?}");
    let game_of = |line: &str| line.split(',').next().map(str::to_owned).unwrap();
    for more in [
        &[][..],
        &["--plies", "5..30"],
        &["--last"],
        &["--every", "3", "--skip-book", "4"],
        &["--max-per-game", "4", "--seed", "9"],
        &["--where", "pieces < 28"],
        &["--min-elo", "1500"],
        &["--limit", "50", "--skip", "7", "--where", "true"],
        &["--sample", "1.0"],
    ] {
        let columns = ["--columns", "game,ply,fen,move", "--format", "csv"];
        let of =
            |file: &str, having: &[&str]| output(0, &[&["-q", "compute", file][..], &columns, more, having].concat());
        let with = of(&pgn, &having);
        if !more.contains(&"--limit") {
            let without = of(&pgn, &[]);
            let expected: Vec<&str> = without.lines().filter(|line| games.contains(&*game_of(line))).collect();
            assert_eq!(with.lines().skip(1).collect::<Vec<_>>(), expected, "{more:?}");
        }
        assert_eq!(of(&boards, &having), with, "{more:?}");
        for threads in ["1", "3"] {
            let again = [&having[..], &["--threads", threads]].concat();
            assert_eq!(of(&boards, &again), with, "{more:?}");
            assert_eq!(of(&pgn, &again), with, "{more:?}");
        }
    }
    // Limits end the reading, and what was left out before is counted.
    let limited = |limit: &str| {
        let arguments = [&["games", &pgn, "--columns", "game", "--format", "csv", "--limit", limit][..], &having];
        let done = lanefish(&arguments.concat()).assert().success().get_output().clone();
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    for limit in 1..=games.len() {
        let (rows, notes) = limited(&limit.to_string());
        assert_eq!(rows.lines().count(), limit + 1);
        let last: usize = rows.lines().last().unwrap().parse().unwrap();
        assert!(notes.contains(&format!("--having left out {}", last + 1 - limit)) || last + 1 == limit, "{notes}");
    }
    // A copy has the same games, byte by byte.
    let copy = dir.name("copy.pgn");
    output(0, &[&["-q", "games", &pgn, "-o", &copy][..], &having].concat());
    let columns = ["--columns", "white,black,site,plies,fen", "--format", "csv"];
    let expected = output(0, &[&["-q", "games", &pgn][..], &columns, &having].concat());
    assert_eq!(output(0, &[&["-q", "games", &copy][..], &columns].concat()), expected);
    let text = std::fs::read_to_string(&pgn).unwrap();
    let copied = std::fs::read_to_string(&copy).unwrap();
    assert!(copied.split_inclusive("\n\n").all(|part| text.contains(part.trim_end())));
    // Statistics and conversions take them, too.
    let report = json(0, &[&["-q", "stats", "--json", &pgn][..], &having].concat());
    let results = report["game_results"].as_object().unwrap();
    assert_eq!(results.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), games.len() as u64, "{results:?}");
}

/// The shares of a PGN file have its games, each once.
#[test]
fn shards_put_together_are_the_whole() {
    let dir = Dir::new();
    let file = shared_data("pgn/lichess_db_1000k.pgn")
        .map_or_else(|| sample("lichess-2025-05.pgn"), |file| file.to_str().unwrap().to_owned());
    let packed = dir.name("x.pgn.zst");
    std::fs::write(&packed, zstd::encode_all(&std::fs::read(&file).unwrap()[..], 1).unwrap()).unwrap();
    let having = ["--having", "move_promotes", "--then", "in_check"];
    let whole = output(0, &[&["-q", "games", &file, "--format", "pgn"][..], &having].concat());
    assert!(whole.contains("[Event "));
    for shards in [3, 16] {
        for input in [&file, &packed] {
            let shares = (0..shards).map(|share| {
                let share = format!("{share}/{shards}");
                output(0, &[&["-q", "games", input, "--format", "pgn", "--shard", &share][..], &having].concat())
            });
            let mut games: Vec<String> =
                shares.collect::<String>().split_inclusive("\n\n[").map(str::to_owned).collect();
            let mut expected: Vec<String> = whole.split_inclusive("\n\n[").map(str::to_owned).collect();
            if input == &packed {
                // The shares take turns.
                games.iter_mut().chain(&mut expected).for_each(|game| {
                    *game = game.trim_matches(['[', '\n']).to_owned();
                });
                games.sort();
                expected.sort();
            }
            assert_eq!(games, expected, "{shards} {input}");
        }
    }
}

/// Positions of variations are taken, but games are chosen by their main lines.
#[test]
fn variations_do_not_choose() {
    let dir = Dir::new();
    let file = dir.file("v.pgn", "1. e4 (1. d4 d5 2. c4 e5) e5 2. Nf3 (2. Qh5 Ke7 3. Qxe5#) Nc6 *\n\n1. d4 d5 *\n");
    let compute = |condition: &str| {
        let arguments = ["-q", "compute", &file, "--variations", "--columns", "game,ply,move", "--format", "csv"];
        output(0, &[&arguments[..], &["--having", condition]].concat())
    };
    assert_eq!(compute("checkmate").lines().count(), 1);
    assert_eq!(compute("on('d4', 'P')"), "game,ply,move\n1,0,d2d4\n1,1,d7d5\n1,2,\n");
    let whole = compute("on('e4', 'P')");
    assert_eq!(whole.lines().count(), 1 + 5 + 4 + 3, "{whole}");
    // `next` is the next position of the main line.
    let arguments = ["--having", "on('e4', 'P')", "--next", "on('e5', 'p')", "--next", "on('f3', 'N')"];
    let found = output(0, &[&["-q", "compute", &file, "--variations", "--columns", "game"][..], &arguments].concat());
    assert_eq!(found.lines().count(), 1 + 12);
}

/// A damaged game is a reject, and is judged by its good positions.
#[test]
fn damaged_games_are_rejects() {
    let dir = Dir::new();
    let file = dir.file("bad.pgn", "1. e4 e5 2. Nf3 Nc6 3. Bb5 Qxq9 *\n\n1. d4 d5 *\n\n1. e4 c5 2. Nf3 *\n");
    for (condition, games) in
        [("on('b5', 'B')", "0"), ("on('c5', 'p')", "2"), ("on('d5', 'p')", "1"), ("pieces < 9", "")]
    {
        let arguments = ["games", &file, "--columns", "game", "--format", "csv", "--having", condition];
        let rejects = dir.name("rejects.txt");
        let done = lanefish(&[&arguments[..], &["--rejects", &rejects, "--force"]].concat()).assert().code(1);
        let rows = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        assert_eq!(rows.lines().skip(1).collect::<Vec<_>>().join(" "), games, "{condition}");
        assert!(std::fs::read_to_string(&rejects).unwrap().contains("Qxq9"));
    }
    // A bad position in a table is a reject, whatever becomes of its game.
    let table = dir.file(
        "bad.csv",
        "fen,game,ply\n\
         rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1,0,0\n\
         4k3/8/8/8/8/8/8/4KQ2 w - - 0 1,0,1\n\
         4kQ2/8/8/8/8/8/8/4K3 w - - 0 1,0,2\n\
         4k3/8/8/8/8/8/8/4K2Q w - - 0 1,1,0\n",
    );
    for (condition, games) in [("on('f8', 'Q')", ""), ("on('f1', 'Q')", "0 0"), ("on('h1', 'Q')", "1")] {
        let arguments = ["-q", "compute", &table, "--columns", "game", "--format", "csv", "--having", condition];
        assert_eq!(output(1, &arguments).lines().skip(1).collect::<Vec<_>>().join(" "), games, "{condition}");
    }
}

#[test]
fn errors_name_the_option() {
    let pgn = sample("lichess-2025-05.pgn");
    for (arguments, expected) in [
        (&["--having", "in_chek"][..], "lanefish: --having: there is no column `in_chek`; did you mean `in_check`?"),
        (&["--having", "in_check", "--next", "pieces"], "lanefish: --next: a condition is needed"),
        (&["--having", "in_check", "--having", "quiet"], "lanefish: --having it is given twice"),
        (&["--having", "index = 3"], "lanefish: --having records are numbered after games are chosen"),
        (&["--then", "in_check"], "the following required arguments were not provided"),
        (&["--where", "in_check"], "--having has conditions on positions"),
        (&["--let", "x = in_check", "--where", "x"], "--having has conditions on positions"),
        (&["--let", "x = in_check", "--where", "x", "--having", "x"], "--having has conditions on positions"),
        (&["--columns", "match_plies"], "--having"),
    ] {
        let error = stderr_of(2, &[&["games", &pgn][..], arguments].concat());
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    let dir = Dir::new();
    let epd = sample("sample.epd");
    let error = stderr_of(2, &["stats", &epd, "--having", "in_check"]);
    assert!(error.contains("does not carry `game`, which --having needs"), "{error}");
    let boards = dir.name("a.boards");
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    let scattered = dir.name("b.boards");
    output(0, &["-q", "shuffle", &boards, "-o", &scattered]);
    let error = stderr_of(2, &["compute", &scattered, "--having", "in_check"]);
    assert!(error.contains("shuffle --by game"), "{error}");
    let error = stderr_of(2, &["games", &boards, "--having", "in_check", "-o", &dir.name("x.pgn")]);
    assert!(error.contains("only PGN can be copied"), "{error}");
    // Conditions on games come first.
    let both = ["games", &pgn, "--having", "in_check", "--where", "mean_elo > 1500", "--min-elo", "1000"];
    let notes = stderr_of(0, &both);
    let place =
        |option: &str| notes.find(&format!("--{option} left out")).unwrap_or_else(|| panic!("{option}: {notes}"));
    assert!(place("min-elo") < place("where") && place("where") < place("having"), "{notes}");
    // Names may be for either.
    output(0, &["-q", "games", &pgn, "--let", "x = in_check", "--where", "white_elo > 0", "--having", "x"]);
    assert_eq!(FilterCount::new(1, 80, 0).sentence("having"), "--having left out 1 game and 80 positions");
}
