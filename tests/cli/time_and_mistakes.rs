//! The columns of `docs/time-and-mistakes.md` against plain twins, which have nothing but scores, mates, clocks and boards;
//! and the same rows from every format.

use super::{Dir, output, sample};
use crate::support::shared_data;
use std::collections::{BTreeMap, BTreeSet};

const K: f64 = 0.003_682_08;

/// The rows of some columns, as texts.
fn rows(columns: &str, arguments: &[&str]) -> Vec<Vec<String>> {
    let text = output(0, &[&["-q", "compute", "--format", "csv", "--columns", columns][..], arguments].concat());
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn files() -> Vec<String> {
    let mut files = vec![sample("lichess-2025-05.pgn")];
    files.extend(shared_data("pgn/lichess_db_1000k.pgn").map(|file| file.to_str().unwrap().to_owned()));
    files
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Score(f64),
    Mate(bool),
}

/// An evaluation, as White sees it.
fn seen(score: &str, mate: &str, is_white: bool) -> Option<Seen> {
    match (score.parse::<f64>(), mate.parse::<i32>()) {
        (_, Ok(0)) => Some(Seen::Mate(!is_white)),
        (_, Ok(mate)) => Some(Seen::Mate(mate > 0)),
        (Ok(score), _) => Some(Seen::Score(score)),
        _ => None,
    }
}

fn limited(seen: Seen) -> f64 {
    match seen {
        Seen::Score(score) => score.clamp(-1000.0, 1000.0),
        Seen::Mate(by_white) => {
            if by_white {
                1000.0
            } else {
                -1000.0
            }
        }
    }
}

fn chance(seen: Seen) -> f64 {
    match seen {
        Seen::Score(score) => 1.0 / (1.0 + (-K * score).exp()),
        Seen::Mate(by_white) => f64::from(u8::from(by_white)),
    }
}

fn percent(seen: Seen) -> f64 {
    100.0 / (1.0 + (-K * limited(seen)).exp())
}

fn accuracy(drop: f64) -> f64 {
    if drop <= 0.0 {
        return 100.0;
    }
    (103.166_810_071_164_9 * (-0.043_544_153_867_539_51 * drop).exp() - 2.166_924_740_191_411).clamp(0.0, 100.0)
}

fn judgment(before: Seen, after: Seen, is_white: bool) -> &'static str {
    let side = if is_white { 1.0 } else { -1.0 };
    let by = |score: f64| {
        if score > 999.0 {
            "inaccuracy"
        } else if score > 700.0 {
            "mistake"
        } else {
            "blunder"
        }
    };
    match (before, after) {
        (Seen::Score(before), Seen::Score(after)) => {
            let of = |score: f64| 2.0 / (1.0 + (-K * score * side).exp()) - 1.0;
            match of(before) - of(after) {
                drop if drop >= 0.3 => "blunder",
                drop if drop >= 0.2 => "mistake",
                drop if drop >= 0.1 => "inaccuracy",
                _ => "",
            }
        }
        (Seen::Score(before), Seen::Mate(by_white)) if by_white != is_white => by(-before * side),
        (Seen::Mate(by_white), Seen::Score(after)) if by_white == is_white => by(after * side),
        (Seen::Mate(had), Seen::Mate(has)) if had == is_white && has != is_white => "blunder",
        _ => "",
    }
}

fn assert_near(found: &str, expected: Option<f64>, what: &str) {
    match expected {
        None => assert_eq!(found, "", "{what}"),
        Some(expected) => {
            let found: f64 = found.parse().unwrap_or_else(|_| panic!("{what}: `{found}` instead of {expected}"));
            assert!(
                (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                "{what}: {found} instead of {expected}"
            );
        }
    }
}

#[test]
fn evaluations_of_moves_are_those_of_the_plain_twin() {
    const COLUMNS: &str = "game,ply,stm,score,mate,win_chance,loss,loss_cp,judgment,accuracy,white_accuracy,\
                           black_accuracy,white_acpl,black_acpl,white_blunders,black_inaccuracies,evaluated_plies";
    let mut whole_games = 0;
    for file in files() {
        let mut games: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for row in rows(COLUMNS, &[&file]) {
            games.entry(row[0].clone()).or_default().push(row);
        }
        for (game, rows) in games {
            let is_white = |at: usize| rows[at][2] == "w";
            let evaluation = |at: usize| seen(&rows[at][3], &rows[at][4], is_white(at));
            let before = |at: usize| evaluation(at).or((at == 0).then_some(Seen::Score(15.0)));
            let last = rows.len() - 1;
            let evaluated = (0..last).filter(|&at| evaluation(at + 1).is_some()).count();
            let is_whole =
                evaluated > 0 && (0..evaluated).all(|at| evaluation(at + 1).is_some()) && evaluated + 1 >= last;
            let (mut accuracies, mut losses, mut names) = (Vec::new(), Vec::new(), Vec::new());
            for (at, row) in rows.iter().enumerate() {
                let what = format!("{file}, game {game}, ply {at}");
                assert_near(&row[5], evaluation(at).map(chance), &what);
                let both = if at < last { before(at).zip(evaluation(at + 1)) } else { None };
                let side = if is_white(at) { 1.0 } else { -1.0 };
                let loss = both.map(|(before, after)| (side * (chance(before) - chance(after))).max(0.0));
                assert_near(&row[6], loss, &what);
                let centipawns = both.map(|(before, after)| (side * (limited(before) - limited(after))).max(0.0));
                assert_near(&row[7], centipawns, &what);
                let name = both.map_or("", |(before, after)| judgment(before, after, is_white(at)));
                assert_eq!(row[8], name, "{what}");
                let of_move = both.map(|(before, after)| accuracy(side * (percent(before) - percent(after))));
                assert_near(&row[9], of_move, &what);
                accuracies.push(of_move.unwrap_or_default());
                losses.push(centipawns.unwrap_or_default());
                names.push(name);
            }
            let percentages: Vec<f64> =
                if is_whole { (0..=evaluated).map(|at| percent(before(at).unwrap())).collect() } else { Vec::new() };
            let width = (evaluated / 10).clamp(2, 8);
            let window = |at: usize| {
                let extra = width.min(evaluated + 1) - 2;
                let start = at.saturating_sub(extra);
                &percentages[start..(start + width).min(percentages.len())]
            };
            for (side, is_white_side) in [true, false].into_iter().enumerate() {
                let own: Vec<usize> = (0..evaluated).filter(|&at| is_white(at) == is_white_side).collect();
                let expected = (is_whole && !own.is_empty()).then(|| {
                    let weights: Vec<f64> = own
                        .iter()
                        .map(|&at| {
                            let some = window(at);
                            let mean = some.iter().sum::<f64>() / some.len() as f64;
                            (some.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / some.len() as f64)
                                .sqrt()
                                .clamp(0.5, 12.0)
                        })
                        .collect();
                    let weighted: f64 = own.iter().zip(&weights).map(|(&at, weight)| accuracies[at] * weight).sum();
                    let harmonic = own.len() as f64 / own.iter().map(|&at| 1.0 / accuracies[at].max(1.0)).sum::<f64>();
                    whole_games += 1;
                    (weighted / weights.iter().sum::<f64>() + harmonic) / 2.0
                });
                let what = format!("{file}, game {game}, side {side}");
                assert_near(&rows[0][10 + side], expected, &what);
                let mean = expected.map(|_| own.iter().map(|&at| losses[at]).sum::<f64>() / own.len() as f64);
                assert_near(&rows[last][12 + side], mean, &what);
                let (column, name) = [(14, "blunder"), (15, "inaccuracy")][side];
                let count = expected.map(|_| own.iter().filter(|&&at| names[at] == name).count() as f64);
                assert_near(&rows[0][column], count, &what);
            }
            assert_eq!(rows[0][16], evaluated.to_string());
        }
    }
    assert!(whole_games >= 4, "{whole_games}");
}

#[test]
fn times_used_are_those_of_the_plain_twin() {
    for file in files() {
        let mut clocks: BTreeMap<(String, String), i64> = BTreeMap::new();
        let (mut times, mut berserks) = (0, BTreeSet::new());
        for row in rows("game,ply,stm,clock,time_used,base,increment,move", &[&file]) {
            let number = |at: usize| row[at].parse::<i64>().ok();
            let side = (row[0].clone(), row[2].clone());
            let before = match number(1) {
                Some(0 | 1) => number(5).map(|base| 100 * base),
                _ => clocks.get(&side).copied(),
            };
            let is_first = matches!(number(1), Some(0 | 1));
            let base = number(5).map(|base| 100 * base);
            if is_first && number(3).map(|clock| 2 * clock) == base {
                berserks.insert(side.clone());
            }
            let expected = number(3).zip(before).zip(number(6)).map(|((clock, before), increment)| {
                let is_berserk = berserks.contains(&side);
                match is_first && (is_berserk || clock == before) {
                    true => 0,
                    false => before + if is_berserk { 0 } else { 100 * increment } - clock,
                }
            });
            assert_eq!(number(4), expected.filter(|&time| time >= 0 && !row[7].is_empty()), "{row:?}");
            times += i64::from(expected.is_some());
            clocks.remove(&side);
            clocks.extend(number(3).map(|clock| (side, clock)));
        }
        assert!(times > 0 || file.contains("1000k"), "{file}");
    }
}

/// Comments, clocks that are set anew, berserk, periods, and games that are read from the middle.
#[test]
fn awkward_clocks_have_no_times() {
    let dir = Dir::new();
    let game = |control: &str, moves: &str| format!("[White \"x\"]\n[TimeControl \"{control}\"]\n\n{moves} *\n\n");
    let clock = |time: &str| format!("{{ [%clk {time}] }}");
    let text = [
        game(
            "60+1",
            &format!(
                "1. e4 {} e5 {} 2. d4 {} d5 {} 3. c4 {}",
                clock("0:00:30"),
                clock("0:01:00"),
                clock("0:00:25"),
                clock("0:00:59.5"),
                clock("0:00:26")
            ),
        ),
        game("60", "1. e4 {[%emt 0:00:02][%clk 0:00:50]} e5 2. d4 {[%clk 0:00:45]} *"),
        game("2/60:30", &format!("1. e4 {0} e5 {0} 2. d4 {0}", clock("0:00:55"))),
        game("-", &format!("1. e4 {0} e5 {0}", clock("0:00:55"))),
    ]
    .concat();
    let pgn = dir.file("x.pgn", text);
    let times: Vec<String> = rows("time_used", &[&pgn]).into_iter().map(|row| row[0].clone()).collect();
    let expected = ["0", "0", "500", "150", "", "", "200", "", "500", "", "500", "500", "", "", "", "", ""];
    assert_eq!(times, expected);
    // The time of a comment is only in the text.
    let boards = dir.name("x.boards");
    output(0, &["-q", "convert", &pgn, "-o", &boards]);
    let times: Vec<String> = rows("time_used", &[&boards]).into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(times[6], "1000");
    assert_eq!((&times[..6], &times[7..]), (&expected.map(str::to_owned)[..6], &expected.map(str::to_owned)[7..]));
}

/// From every format, with every choice, for any number of threads and in shares.
#[test]
fn every_format_has_the_same_values() {
    const COLUMNS: &str =
        "game,ply,time_used,score_after,loss,judgment,repetition,white_accuracy,black_time,clocked_plies";
    let dir = Dir::new();
    let pgn = files().pop().unwrap();
    let mut copies = vec![dir.name("a.boards"), dir.name("a.boards.zst"), dir.name("a.csv")];
    if cfg!(feature = "parquet") {
        copies.push(dir.name("a.parquet"));
    }
    for copy in &copies {
        match copy.ends_with("csv") {
            true => {
                let columns = "fen,game,ply,move,score,mate,clock,time_control,result";
                output(0, &["-q", "compute", "--columns", columns, &pgn, "-o", copy])
            }
            false => output(0, &["-q", "convert", &pgn, "-o", copy]),
        };
    }
    for more in [
        &[][..],
        &["--plies", "10..20"],
        &["--every", "7"],
        &["--last"],
        &["--having", "judgment = 'blunder'", "--next", "judgment = 'blunder'"],
        &["--where", "repetition >= 2 or loss > 0.3"],
        &["--limit", "500", "--skip", "33"],
    ] {
        let expected = rows(COLUMNS, &[&[&*pgn][..], more].concat());
        assert!(!expected.is_empty(), "{more:?}");
        for copy in &copies {
            for threads in ["1", "3"] {
                let found = rows(COLUMNS, &[&[copy, "--threads", threads][..], more].concat());
                assert!(found == expected, "{copy} {more:?}");
            }
        }
    }
    let without_games =
        |rows: Vec<Vec<String>>| -> Vec<Vec<String>> { rows.into_iter().map(|row| row[1..].to_vec()).collect() };
    let expected = without_games(rows(COLUMNS, &[&pgn]));
    let shares = (0..3).flat_map(|share| rows(COLUMNS, &[&copies[0], "--shard", &format!("{share}/3")]));
    assert!(without_games(shares.collect()) == expected);
    // Rows of games have the same as all of their positions.
    let of_games = "game,white_accuracy,black_acpl,white_mistakes,white_time,evaluated_plies,base";
    let of_positions: Vec<Vec<String>> = rows(of_games, &[&pgn, "--last"]);
    for file in [&pgn, &copies[0]] {
        let text = output(0, &["-q", "games", "--format", "csv", "--columns", of_games, file]);
        let found: Vec<Vec<String>> =
            text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect();
        assert!(found == of_positions, "{file}");
    }
    let many =
        output(0, &["-q", "games", "--columns", "game", "--format", "csv", "--where", "white_blunders > 2", &pgn]);
    let expected =
        of_positions.len() - rows("game", &[&pgn, "--last", "--where", "white_blunders > 2 is not true"]).len();
    assert_eq!(many.lines().count() - 1, expected);
}
