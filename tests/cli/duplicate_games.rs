//! `dedup --by game` against a plain twin, which compares every game with every kept one.

use super::{Dir, json, lanefish, output, sample, stderr_of};
use crate::support::Random;
use lanefish::chess::Position;
use lanefish::games::PlayerName;
use std::fs;

const NAMES: [&str; 16] = [
    "Carlsen, Magnus",
    "Carlsen,M",
    "Magnus Carlsen",
    "GM CARLSEN, Magnus",
    "Carlsen",
    "Carlsen, Mats",
    "Magnus",
    "Jorden van Foreest",
    "van Foreest, J",
    "Van Foreest, Lucas",
    "Ding Liren",
    "Liren, Ding",
    "Ding, L.",
    "?",
    "",
    "drunk_knight",
];
const DATES: [[u16; 3]; 7] =
    [[2024, 5, 17], [2024, 5, 0], [2024, 0, 0], [0, 0, 0], [2024, 5, 18], [2023, 0, 0], [2024, 6, 0]];

/// A made game, and its text.
#[derive(Clone, Debug)]
struct Game {
    moves: Vec<String>,
    white: &'static str,
    black: &'static str,
    date: [u16; 3],
    result: &'static str,
    event: &'static str,
    elos: Option<[u64; 2]>,
    annotations: usize,
    text: String,
}

fn pick<T: Copy>(from: &[T], random: &mut Random) -> T {
    from[random.below(from.len() as u64) as usize]
}

/// Games of which many are equal, or nearly so.
fn games(count: usize, seed: u64) -> Vec<Game> {
    let mut random = Random::new(seed);
    // The lines are the same for every seed.
    let mut of_lines = Random::new(1);
    let lines: Vec<Vec<String>> = (0..4)
        .map(|_| {
            let mut position = Position::standard();
            (0..50)
                .map_while(|_| {
                    let moves = position.legal_moves();
                    let mv = *moves.get(of_lines.below(moves.len().max(1) as u64) as usize)?;
                    let san = mv.san(&position);
                    position.make(mv);
                    Some(san)
                })
                .collect()
        })
        .collect();
    (0..count).map(|_| game(&lines, &mut random)).collect()
}

fn game(lines: &[Vec<String>], random: &mut Random) -> Game {
    let line = &lines[random.below(lines.len() as u64) as usize];
    let plies = pick(&[0, 5, 10, 19, 20, 21, 30, 50, 50], random);
    let moves: Vec<String> = line.iter().take(plies).cloned().collect();
    let (white, black) = (pick(&NAMES, random), pick(&NAMES[..6], random));
    let date = pick(&DATES, random);
    let result = pick(&["1-0", "0-1", "1/2-1/2", "*"], random);
    let event = pick(&["A", "B"], random);
    let elos = (random.below(2) == 0).then(|| [2000 + random.below(4), 2000 + random.below(3)]);
    let part = |number: u16, len: usize| match number {
        0 => "?".repeat(len),
        number => format!("{number:0len$}"),
    };
    let [year, month, day] = date;
    let shown = [part(year, 4), part(month, 2), part(day, 2)].join(".");
    let mut tags = vec![("Event", event), ("White", white), ("Black", black), ("Date", &shown), ("Result", result)];
    let numbers = elos.map(|elos| elos.map(|elo| elo.to_string()));
    if let Some([white, black]) = &numbers {
        tags.extend([("WhiteElo", white.as_str()), ("BlackElo", black)]);
    }
    let mut annotations = tags.len();
    let mut text: String = tags.iter().map(|(name, value)| format!("[{name} \"{value}\"]\n")).collect();
    text += "\n";
    for (ply, mv) in moves.iter().enumerate() {
        if ply % 2 == 0 {
            text += &format!("{}. ", ply / 2 + 1);
        }
        text += mv;
        let (added, counts) = match random.below(40) {
            0 => (" {good}", 1),
            1 => (" {[%clk 0:01:00]}", 1),
            2 => (" $1", 0),
            3 => (" {[%eval 0.17] so (they say)}", 2),
            4 => (" ({a} a3 (a4 $2))", if ply == 1 { 3 } else { 0 }),
            _ => ("", 0),
        };
        if counts > 0 || added == " $1" {
            text += added;
            annotations += counts;
        }
        text += " ";
    }
    text += result;
    Game { moves, white, black, date, result, event, elos, annotations, text }
}

fn file(games: &[Game]) -> String {
    games.iter().map(|game| format!("{}\n\n", game.text)).collect()
}

/// Whether games are equal by all of these keys.
fn are_equal(keys: &str, prefix: usize, one: &Game, other: &Game) -> bool {
    let agree = |one: &str, other: &str| PlayerName::of(one).agrees_with(&PlayerName::of(other));
    keys.split(',').all(|key| match key {
        "moves" => !one.moves.is_empty() && one.moves == other.moves,
        "prefix" => {
            let [short, long] = match one.moves.len() < other.moves.len() {
                true => [&one.moves, &other.moves],
                false => [&other.moves, &one.moves],
            };
            !short.is_empty() && long.starts_with(short) && (short.len() == long.len() || short.len() >= prefix)
        }
        "players" => agree(one.white, other.white) && agree(one.black, other.black),
        "date" => {
            let mut parts = one.date.into_iter().zip(other.date);
            let differs = parts.find(|&(one, other)| one != other || one == 0);
            differs.is_none_or(|(one, other)| one == 0 || other == 0)
        }
        "result" => one.result == other.result,
        "tag:Event" => one.event == other.event,
        _ => unreachable!("{key}"),
    })
}

/// The games in the order in which they are judged.
fn order(keep: &str, games: &[Game]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..games.len()).collect();
    match keep {
        "last" => order.reverse(),
        "longest" => order.sort_by_key(|&game| std::cmp::Reverse(games[game].moves.len())),
        "most-annotated" => order.sort_by_key(|&game| std::cmp::Reverse(games[game].annotations)),
        "highest-rated" => order.sort_by_key(|&game| std::cmp::Reverse(games[game].elos.map(|elos| elos[0] + elos[1]))),
        _ => {}
    }
    order
}

/// For each game the one that it is left out for, if it is: one of the others, or one to compare with.
fn expected(keys: &str, keep: &str, prefix: usize, games: &[Game], against: &[Game]) -> Vec<Option<(bool, usize)>> {
    let mut kept: Vec<(&Game, (bool, usize))> =
        against.iter().enumerate().map(|(number, game)| (game, (true, number))).collect();
    let mut left_out = vec![None; games.len()];
    for number in order(keep, games) {
        let game = &games[number];
        match kept.iter().find(|(other, _)| are_equal(keys, prefix, game, other)) {
            Some((_, place)) => left_out[number] = Some(*place),
            None => kept.push((game, (false, number))),
        }
    }
    left_out
}

#[test]
fn every_key_and_every_choice_agrees_with_the_twin() {
    let dir = Dir::new();
    let (games, others) = (games(170, 7), games(40, 8));
    let (own, against) = (dir.file("own.pgn", file(&games)), dir.file("against.pgn", file(&others)));
    let keys = [
        "moves",
        "prefix",
        "players",
        "players,date",
        "moves,players",
        "prefix,players",
        "prefix,date",
        "date,result",
        "players,tag:Event",
    ];
    for (place, keys) in keys.into_iter().enumerate() {
        for (turn, keep) in ["first", "last", "longest", "most-annotated", "highest-rated"].into_iter().enumerate() {
            let is_compared = (place + turn) % 2 == 1;
            let prefix = if keys.contains("prefix") { [20, 5, 31][turn % 3] } else { 20 };
            let left_out = expected(keys, keep, prefix, &games, if is_compared { &others } else { &[] });
            let kept = games.iter().zip(&left_out).filter(|(_, left_out)| left_out.is_none());
            let kept: Vec<Game> = kept.map(|(game, _)| game.clone()).collect();
            let number = prefix.to_string();
            let mut arguments = vec!["-q", "dedup", "--by", "game", &own, "--key", keys, "--keep", keep];
            if keys.contains("prefix") {
                arguments.extend(["--prefix-plies", &number]);
            }
            if is_compared {
                arguments.extend(["--against", &against]);
            }
            let ways: [&[&str]; 3] =
                [&["--threads", "1"], &["--threads", "8", "--memory", "1M"], &["--threads", "2", "--list"]];
            let (way, list) = (ways[(place + 2 * turn) % 3], dir.name("list.csv"));
            let (said, out) = (format!("{keys} {keep} {is_compared} {way:?}"), dir.name("out.pgn"));
            let mut arguments = [&arguments[..], way].concat();
            if way.contains(&"--list") {
                arguments.push(&list);
            }
            output(0, &[&arguments[..], &["--force", "-o", &out]].concat());
            assert_eq!(fs::read_to_string(&out).unwrap(), file(&kept), "{said}");
            let mut heads: Vec<_> = left_out.iter().flatten().collect();
            heads.sort();
            heads.dedup();
            let numbers = json(0, &[&arguments[..], &["--json", "--force"]].concat());
            assert_eq!(numbers["games"], games.len(), "{said}");
            assert_eq!(numbers["duplicates"], games.len() - kept.len(), "{said}");
            assert_eq!(numbers["sets"], heads.len(), "{said}");
            if way.contains(&"--list") {
                assert_eq!(listed(&fs::read_to_string(&list).unwrap(), &against), left_out, "{said}");
            }
        }
    }
}

/// The games that a list says were left out.
fn listed(list: &str, against: &str) -> Vec<Option<(bool, usize)>> {
    let mut left_out = vec![None; 170];
    let mut last = None;
    for line in list.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let game: usize = cells[1].parse().unwrap();
        assert!(last < Some(game), "{line}");
        last = Some(game);
        left_out[game] = Some((cells[3] == against, cells[4].parse().unwrap()));
    }
    left_out
}

#[test]
fn a_list_says_where_games_are_and_what_differs() {
    let dir = Dir::new();
    let (first, second) = ("[Event \"A\"]\n[Site \"x\"]\n\n1. e4 e5 *\n", "[Event \"B\"]\n\n1. d4 *\n");
    let one = dir.file("one.pgn", format!("{second}\n{first}"));
    let third = "[Event \"A\"]\n[Site \"y, z\"]\n[Annotator \"n\"]\n\n1. e4 {good} e5 1-0\n";
    let two = dir.file("two.pgn", format!("\n\n{third}\n{second}\n{first}"));
    let list = dir.name("list.csv");
    let said =
        stderr_of(0, &["dedup", "--by", "game", &one, &two, "--key", "prefix", "--list", &list, "--prefix-plies", "1"]);
    assert!(said.contains("2 of 5 games kept, 3 games left out in 2 sets of equal games"), "{said}");
    let expected = [
        "file,game,line,kept_file,kept_game,kept_line,differs".to_owned(),
        format!("{two},0,3,{one},1,5,Site Annotator comments"),
        format!("{two},1,9,{one},0,1,"),
        format!("{two},2,13,{one},1,5,"),
    ];
    assert_eq!(fs::read_to_string(&list).unwrap().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn records_of_games_are_kept_like_their_text() {
    let dir = Dir::new();
    let pgn = dir.file("x.pgn", file(&games(120, 3)));
    let rows = |file: &str| output(0, &["-q", "compute", file, "--columns", "fen,move,white,black,date,result"]);
    for keys in ["moves", "prefix,players", "players,date"] {
        let unique = dir.name("unique.pgn");
        output(0, &["-q", "dedup", "--by", "game", &pgn, "--key", keys, "--force", "-o", &unique]);
        let expected = rows(&unique);
        let tables = cfg!(feature = "parquet").then_some("x.parquet");
        for name in ["x.pgn", "x.boards"].into_iter().chain(tables) {
            let own = dir.name(name);
            if name != "x.pgn" {
                output(0, &["-q", "convert", &pgn, "--force", "-o", &own]);
            }
            let boards = dir.name("unique.boards");
            output(0, &["-q", "dedup", "--by", "game", &own, "--key", keys, "--force", "-o", &boards]);
            assert_eq!(rows(&boards), expected, "{name} by {keys}");
        }
    }
}

#[test]
fn records_without_a_game_are_reported() {
    let dir = Dir::new();
    let start = super::START;
    let rows = format!("fen,game,move,ply\n{start},,e2e4,0\n{start},3,e2e4,0\n{start},4,e2e4,0\n");
    let csv = dir.file("x.csv", rows);
    let said = stderr_of(0, &["dedup", "--by", "game", &csv, "-o", &dir.name("x.boards")]);
    assert!(said.contains("1 of 2 games kept"), "{said}");
    assert!(said.contains("1 record without a game"), "{said}");
}

#[test]
fn damaged_games_equal_nothing() {
    let dir = Dir::new();
    let bad = "[Event \"bad\"]\n\n1. e4 e5 2. Ke3 *\n";
    let good = "[Event \"good\"]\n\n1. e4 e5 *\n";
    let pgn = dir.file("x.pgn", [bad, bad, good, good].join("\n"));
    let (out, rejects) = (dir.name("out.pgn"), dir.name("rejects.txt"));
    let said = stderr_of(1, &["dedup", "--by", "game", &pgn, "-o", &out, "--rejects", &rejects]);
    assert!(said.contains("3 of 4 games kept, 1 game left out in 1 set of equal games"), "{said}");
    assert!(said.contains("2 damaged games equal nothing"), "{said}");
    assert_eq!(fs::read_to_string(&out).unwrap(), format!("{bad}\n{bad}\n{good}\n"));
    assert_eq!(fs::read_to_string(&rejects).unwrap().lines().count(), 2);
    // Of records, too, each is reported once.
    let said = stderr_of(1, &["dedup", "--by", "game", &pgn, "-o", &dir.name("x.boards")]);
    assert!(said.contains("2 records rejected") || said.contains("2 of"), "{said}");
}

#[test]
fn what_is_for_records_is_an_error_for_games() {
    let games = sample("lichess-2025-05.pgn");
    for (arguments, expected) in [
        (&["--by", "game", "--key", "position"][..], "--key: position is for records; games have moves, prefix"),
        (&["--by", "game", "--keep", "most:ply"], "--keep: most:ply is for records; games have first, last, longest"),
        (&["--by", "game", "--counts"], "--counts is for records"),
        (&["--by", "game", "--sample", "0.5"], "--sample is for records"),
        (&["--by", "game", "--plies", "3.."], "--plies chooses among positions"),
        (&["--by", "game", "--prefix-plies", "3"], "--prefix-plies is for --key prefix"),
        (&["--by", "game", "--key", "moves,prefix"], "choose one of them"),
        (&["--by", "game", "--key", "moves,nothing"], "there is no column `nothing`"),
        (&["--by", "game", "--where", "ply > 3", "-o", "x.pgn"], "--having"),
        (&["--key", "moves"], "--key: moves is for games: add --by game; records have board"),
        (&["--keep", "longest"], "--keep: longest is for games: add --by game"),
        (&["--list", "x.csv"], "--list is for games: add --by game"),
        (&["--to", "pgn"], "PGN holds games: add --by game"),
        (&["--by", "game", "-o", "x.pgn", "--list", "x.pgn"], "--list and -o name the same file"),
        (&["--by", "game", "--against", &games, "--list", &games, "--force"], "cannot also be an output"),
    ] {
        let said = stderr_of(2, &[&["dedup", &games], arguments].concat());
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    // To keep games, inputs are read twice.
    for (more, status) in [(&[][..], 0), (&["--to", "pgn"], 2)] {
        let arguments = [&["dedup", "--by", "game", "-"], more].concat();
        lanefish(&arguments).write_stdin("[Event \"A\"]\n\n1. e4 *\n").assert().code(status);
    }
}

#[test]
fn options_that_choose_games_hold() {
    let dir = Dir::new();
    let pgn = dir.file("x.pgn", file(&games(120, 5)));
    let count = |more: &[&str]| json(0, &[&["-q", "dedup", "--by", "game", "--json", &pgn][..], more].concat());
    let games =
        |more: &[&str]| output(0, &[&["-q", "games", "--format", "csv", &pgn][..], more].concat()).lines().count() - 1;
    for more in [
        &["--min-elo", "2001"][..],
        &["--where", "result = '1-0'"],
        &["--having", "in_check"],
        &["--skip", "10", "--limit", "30"],
        &["--player", "Carlsen, Magnus"],
        &["--shard", "1/3"],
    ] {
        let numbers = count(more);
        assert_eq!(numbers["games"], games(more), "{more:?}");
        assert_ne!(numbers["games"], 0, "{more:?}");
        let out = dir.name("out.pgn");
        output(0, &[&["-q", "dedup", "--by", "game", &pgn, "--force", "-o", &out], more].concat());
        let kept = fs::read_to_string(&out).unwrap().matches("[Event ").count();
        assert_eq!(numbers["distinct"]["moves"], kept, "{more:?}");
    }
}
