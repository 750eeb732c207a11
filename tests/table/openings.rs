//! `game_plies`, `plies_left` and the openings of positions, compared with a plain replay of another library, on every
//! road and however inputs are cut.

use crate::support::{SetRead as _, run, shared_data, shared_text};
use cozy_chess::{Board, Move, Piece, Square};
use lanefish::choose::GameFilter;
use lanefish::formats::DecodeOptions;
use lanefish::input::Inputs;
use lanefish::jobs;
use lanefish::output::SquareSetStyle;
use lanefish::pipeline::RunOptions;
use lanefish::table::Columns;
use lanefish::tiers::Tier;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The move of a text in SAN, by trying all of them.
fn san(board: &Board, text: &str) -> Move {
    let text = text.trim_end_matches(['+', '#']);
    let mut moves = Vec::new();
    board.generate_moves(|some| {
        moves.extend(some);
        false
    });
    let castles = |mv: &Move| board.colors(board.side_to_move()).has(mv.to);
    if text.starts_with("O-O") {
        let is_long = text == "O-O-O";
        let is = |mv: &&Move| castles(mv) && ((mv.to as usize % 8) < (mv.from as usize % 8)) == is_long;
        return *moves.iter().find(is).expect("castling is legal");
    }
    let (text, promotion) = text.split_once('=').map_or((text, None), |(text, piece)| (text, Some(piece)));
    let promotion = promotion.map(|piece| piece.to_ascii_lowercase().parse::<Piece>().expect("a piece"));
    let (piece, rest) = match text.chars().next() {
        Some(letter @ 'A'..='Z') => (letter.to_ascii_lowercase().to_string().parse().expect("a piece"), &text[1..]),
        _ => (Piece::Pawn, text),
    };
    let to: Square = rest[rest.len() - 2..].parse().expect("a square");
    let hints = rest[..rest.len() - 2].trim_end_matches('x');
    let fits = |mv: &&Move| {
        let from = mv.from.to_string();
        mv.to == to
            && mv.promotion == promotion
            && board.piece_on(mv.from) == Some(piece)
            && !castles(mv)
            && hints.chars().all(|hint| from.contains(hint))
    };
    let mut fitting = moves.iter().filter(fits);
    let mv = *fitting.next().unwrap_or_else(|| panic!("{text} in {board}"));
    assert_eq!(fitting.next(), None, "{text} in {board}");
    mv
}

/// What makes positions the same. The library keeps an en passant square only if a pawn could capture there, legally
/// or not: those where no capture is legal are left out.
fn same(board: &Board) -> String {
    let text = board.to_string();
    let mut fields: Vec<&str> = text.split(' ').take(4).collect();
    let mut is_legal = false;
    board.generate_moves(|some| {
        let is_pawn = some.piece == Piece::Pawn;
        is_legal |= is_pawn && some.into_iter().any(|mv| mv.to.to_string() == fields[3]);
        is_legal
    });
    if !is_legal {
        fields[3] = "-";
    }
    fields.join(" ")
}

type Openings = HashMap<String, [String; 2]>;

/// The list as Lichess has it, replayed; `None` without the shared data.
fn list() -> Option<Openings> {
    shared_data("openings")?;
    let mut openings = Openings::new();
    for volume in ["a", "b", "c", "d", "e"] {
        let text = shared_text(&format!("openings/{volume}.tsv"))?;
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let mut board = Board::default();
            for word in fields[2].split(' ').filter(|word| !word.ends_with('.')) {
                let mv = san(&board, word);
                board.play(mv);
            }
            openings.insert(same(&board), [fields[0].to_owned(), fields[1].to_owned()]);
        }
    }
    Some(openings)
}

/// Games as their moves, from a text without variations.
fn games(text: &str) -> Vec<Vec<String>> {
    let mut games: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("[Event ") {
            games.push(Vec::new());
        }
        if line.starts_with('[') {
            continue;
        }
        let mut plain = String::new();
        let mut rest = line;
        while let Some((before, comment)) = rest.split_once('{') {
            plain.push_str(before);
            rest = comment.split_once('}').expect("comments end in their line").1;
        }
        plain.push_str(rest);
        let words = plain
            .split_ascii_whitespace()
            .filter(|word| !word.ends_with('.'))
            .filter(|word| !["1-0", "0-1", "1/2-1/2", "*"].contains(word))
            .map(|word| word.trim_end_matches(['!', '?']).to_owned());
        games.last_mut().expect("tags come first").extend(words);
    }
    games
}

/// Rows of `ply,game_plies,plies_left,eco_position,opening_position`, position by position.
fn naive(text: &str, openings: &Openings) -> Vec<String> {
    let mut rows = Vec::new();
    for game in games(text) {
        let mut board = Board::default();
        let mut last: Option<&[String; 2]> = None;
        for ply in 0..=game.len() {
            last = openings.get(&same(&board)).or(last);
            let [eco, name] = last.map_or(["", ""], |[eco, name]| [eco, name]);
            let name = if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
            rows.push(format!("{ply},{},{},{eco},{name}", game.len(), game.len() - ply));
            if let Some(word) = game.get(ply) {
                let mv = san(&board, word);
                board.play(mv);
            }
        }
    }
    rows
}

struct Way {
    chunk_size: usize,
    threads: usize,
    selection: GameFilter,
}

fn way(chunk_size: usize, threads: usize) -> Way {
    Way { chunk_size, threads, selection: GameFilter::default() }
}

fn rows(path: &Path, columns: &str, way: &Way) -> Vec<String> {
    let columns = Columns::named(columns).expect("columns of the catalogue");
    let mut out = Vec::new();
    let job = jobs::WriteJob::new(jobs::OutputContent::Columns(&columns, SquareSetStyle::Hex), jobs::OutputFormat::Csv)
        .expect("CSV");
    let mut file = job.open(&mut out).expect("memory");
    let inputs = Inputs::resolve(&[path.to_owned()], |_| true).expect("it exists");
    let games = (way.selection != GameFilter::default()).then(|| Arc::new(way.selection.clone()));
    let options = RunOptions::new(Tier::best().analyzer().expect("it was chosen"))
        .threads(way.threads)
        .chunk_size(way.chunk_size)
        .decode(DecodeOptions::default().games(games));
    let summary = run(&inputs, options, &job, |part| {
        job.put(&mut file, part).map_err(|source| lanefish::Error::Write { path: "rows".into(), source })
    });
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    let _ = job.finish(file).expect("memory");
    String::from_utf8(out).expect("UTF-8").lines().skip(1).map(str::to_owned).collect()
}

const COLUMNS: &str = "ply,game_plies,plies_left,eco_position,opening_position";
const WAYS: [(usize, usize); 3] = [(1 << 20, 1), (5000, 2), (64, 3)];

fn write_as(directory: &Path, from: &Path, name: &str) -> PathBuf {
    let to = directory.join(name);
    let mut command = assert_cmd::Command::cargo_bin("lanefish").expect("it is built");
    command.args(["-q", "convert", "--force", "-o"]).args([&to, from]).assert().success();
    to
}

#[test]
fn openings_of_games_are_those_of_a_plain_replay() {
    let (Some(path), Some(text)) = (shared_data("pgn/lichess_db_1000k.pgn"), shared_text("pgn/lichess_db_1000k.pgn"))
    else {
        return;
    };
    let openings = list().expect("it is beside the games");
    let expected = naive(&text, &openings);
    assert!(expected.iter().any(|row| row.contains(",B12,")));
    for (chunk_size, threads) in WAYS {
        assert!(rows(&path, COLUMNS, &way(chunk_size, threads)) == expected, "{chunk_size}");
    }
    // Positions that are skipped count for the way.
    let some = |every: usize| -> Vec<String> {
        let mut row = 0;
        let take = |text: &&String| {
            row = if text.starts_with("0,") { 0 } else { row + 1 };
            row % every == 0
        };
        expected.iter().filter(take).cloned().collect()
    };
    let seventh = Way { selection: GameFilter::default().every(7), ..way(5000, 2) };
    assert!(rows(&path, COLUMNS, &seventh) == some(7));

    // Records that know their games and plies, in any format, have the same openings; they know no whole games.
    let directory = tempfile::tempdir().expect("a directory");
    let without_plies = |row: &String| {
        let fields: Vec<&str> = row.splitn(4, ',').collect();
        format!("{},,,{}", fields[0], fields[3])
    };
    let expected: Vec<String> = expected.iter().map(without_plies).collect();
    let seventh_of_them: Vec<String> = some(7).iter().map(without_plies).collect();
    let tables: &[&str] = if cfg!(feature = "parquet") { &["x.parquet", "x.arrow"] } else { &[] };
    for name in [&["x.boards"], tables].concat() {
        let file = write_as(directory.path(), &path, name);
        for (chunk_size, threads) in WAYS {
            assert!(rows(&file, COLUMNS, &way(chunk_size, threads)) == expected, "{name} {chunk_size}");
            let seventh = Way { selection: GameFilter::default().every(7), ..way(chunk_size, threads) };
            assert!(rows(&file, COLUMNS, &seventh) == seventh_of_them, "{name} {chunk_size}");
        }
    }
}

#[test]
fn variations_have_their_own_ways() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x.pgn");
    let game = "[Event \"x\"]\n\n1. e4 e5 (1... c6 2. d4 (2. a3 h6) 2... d5) (1... a6) 2. a3 h5 *\n\n\
                [Event \"y\"]\n\n1. a3 *\n";
    std::fs::write(&path, game.repeat(50)).expect("written");
    let selection = GameFilter::default().variations(true);
    for (chunk_size, threads) in WAYS {
        let way = Way { chunk_size, threads, selection: selection.clone() };
        let found = rows(&path, "ply,game_plies,plies_left,eco_position,opening_position", &way);
        assert_eq!(
            found[..13],
            [
                "0,4,4,,",
                "1,4,3,B00,King's Pawn Game",
                "2,4,2,C20,King's Pawn Game",
                "2,4,2,B10,Caro-Kann Defense",
                "3,4,1,B12,Caro-Kann Defense",
                "3,4,1,B10,Caro-Kann Defense",
                "4,4,0,B10,Caro-Kann Defense",
                "4,4,0,B12,Caro-Kann Defense",
                "2,4,2,B00,St. George Defense",
                "3,4,1,C20,King's Pawn Game: Mengarini's Opening",
                "4,4,0,C20,King's Pawn Game: Mengarini's Opening",
                "0,1,1,,",
                "1,1,0,A00,Anderssen's Opening",
            ]
        );
        assert!(found.chunks(13).all(|game| game == &found[..13]));
    }
}

/// With `--variations`, the main lines have the same openings as without, whatever stands between their moves.
#[test]
fn main_lines_do_not_depend_on_variations() {
    let Some(folder) = shared_data("pgn/awkward") else {
        return;
    };
    let (mut found, mut variations) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let with = |variations| Way { selection: GameFilter::default().variations(variations), ..way(1 << 20, 1) };
        let all = rows(&path, "game,ply,fen,eco_position,opening_position", &with(true));
        let main = rows(&path, "game,ply,fen,eco_position,opening_position", &with(false));
        let place = |row: &str| -> String { row.splitn(4, ',').take(3).collect::<Vec<_>>().join(",") };
        let mut by_place: HashMap<String, Vec<&String>> = HashMap::new();
        all.iter().for_each(|row| by_place.entry(place(row)).or_default().push(row));
        // Reading ends where a variation cannot be played.
        for (row, others) in main.iter().filter_map(|row| Some((row, by_place.get(&place(row))?))) {
            assert!(others.contains(&row), "{}: {row}", path.display());
            found += 1;
        }
        variations += usize::from(all.len() > main.len());
    }
    assert!(found > 3000 && variations > 1, "{found} {variations}");
}

/// Without a game, a position has only its own opening.
#[test]
fn positions_alone_have_their_own_opening() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x.epd");
    let lines = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
        "rnbqkbnr/pppppp1p/6p1/8/4P3/7P/PPPP1PP1/RNBQKBNR b KQkq -",
        // No capture is legal there.
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3",
        "4k3/8/8/8/8/8/8/4K3 w - -",
    ];
    std::fs::write(&path, lines.join("\n")).expect("written");
    let expected = ["B00,King's Pawn Game,,", ",,,", "B00,King's Pawn Game,,", ",,,"];
    let columns = "eco_position,opening_position,game_plies,plies_left";
    for keep in [false, true] {
        let mut command = assert_cmd::Command::cargo_bin("lanefish").expect("it is built");
        command.args(["compute", "--columns", columns]).arg(&path);
        if keep {
            command.arg("--keep-en-passant");
        }
        let done = command.assert().success();
        let found = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
        assert_eq!(found.lines().skip(1).collect::<Vec<_>>(), expected);
    }
}
