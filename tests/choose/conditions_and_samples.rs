//! Records chosen by conditions and at random, against plain loops over all of them.

use crate::support::{Ended, run, shared_data};
use lanefish::Error;
use lanefish::choose::{Assignments, Choose, Condition, Sample};
use lanefish::input::Inputs;
use lanefish::jobs::{OutputContent, OutputFormat, Statistics, WriteJob};
use lanefish::output::ScratchSpace;
use lanefish::output::SquareSetStyle;
use lanefish::pipeline::{ReadOptions, RunOptions};
use lanefish::table::Columns;
use lanefish::tiers::Tier;
use std::collections::BTreeSet;

const COLUMNS: &str = "index,legal_moves,in_check,score,ply,eco,tag:Event,fen,raw_score,mate,result,halfmove,\
    score_before,score_placeholder,eco_position,opening_position,game_plies,plies_left";

fn inputs() -> Inputs {
    inputs_with("pgn/lichess_db_1000k.pgn")
}

/// The samples, and a file of the shared data.
fn inputs_with(shared: &str) -> Inputs {
    let mut names: Vec<_> =
        ["data/sample.epd", "data/lichess-2025-05.pgn", "data/sample.boards"].map(Into::into).into();
    names.extend(shared_data(shared));
    names.push("data/famous.epd".into());
    Inputs::resolve(&names, lanefish::formats::is_supported).unwrap()
}

/// Rows of CSV of the records that are read, and the summary.
fn rows_of(
    inputs: &Inputs,
    read: &ReadOptions,
    threads: usize,
    chunk: usize,
    space: ScratchSpace,
) -> (Vec<String>, Ended) {
    let options = RunOptions::new(Tier::best().analyzer().unwrap()).read(read.clone());
    rows_with(COLUMNS, inputs, options.threads(threads).chunk_size(chunk).space(space))
}

fn rows_with(columns: &str, inputs: &Inputs, options: RunOptions<'_>) -> (Vec<String>, Ended) {
    let columns = Columns::named(columns).unwrap();
    let job = WriteJob::new(OutputContent::Columns(&columns, SquareSetStyle::Hex), OutputFormat::Csv).unwrap();
    let mut csv = Vec::new();
    let mut file = job.open(&mut csv).unwrap();
    let summary = run(inputs, options, &job, |part| {
        job.put(&mut file, part).map_err(|source| Error::Write { path: "rows".into(), source })
    });
    let _ = job.finish(file).unwrap();
    let text = String::from_utf8(csv).unwrap();
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    (text.lines().skip(1).map(str::to_owned).collect(), summary)
}

fn all_ways(read: &ReadOptions) -> (Vec<String>, Ended) {
    all_ways_of(&inputs(), read)
}

fn all_ways_of(inputs: &Inputs, read: &ReadOptions) -> (Vec<String>, Ended) {
    let (expected, summary) = rows_of(inputs, read, 1, 1 << 20, ScratchSpace::default());
    for (threads, chunk, memory) in [(1, 5_000, 64 << 10), (2, 30_000, 256 << 10), (8, 100_000, 1 << 30)] {
        let (again, other) = rows_of(inputs, read, threads, chunk, ScratchSpace::default().memory(memory));
        assert!(again == expected, "{threads} threads, chunks of {chunk}");
        assert_eq!((other.records, other.rejected), (summary.records, summary.rejected), "{threads} {chunk}");
        assert_eq!(format!("{:?}", other.left_out), format!("{:?}", summary.left_out));
    }
    (expected, summary)
}

fn field(row: &str, at: usize) -> &str {
    row.split(',').nth(at).unwrap()
}

/// Whether a row is to be taken.
type Holds = fn(&str) -> bool;

#[test]
fn conditions_choose_and_limits_count_what_is_left() {
    let (all, whole) = all_ways(&ReadOptions::default());
    assert!(all.len() > 1000);
    let holds: [(&str, Holds); 4] = [
        ("legal_moves > 20 and not in_check", |row| field(row, 1).parse::<u32>().unwrap() > 20 && field(row, 2) == "0"),
        ("score between -50 and 50", |row| field(row, 3).parse().is_ok_and(|score: i32| (-50..=50).contains(&score))),
        ("\"tag:Event\" like 'Rated%' and ply % 3 = 1", |row| {
            field(row, 6).starts_with("Rated") && field(row, 4).parse().is_ok_and(|ply: u32| ply % 3 == 1)
        }),
        ("index >= 100 and eco is null", |row| {
            field(row, 0).parse::<u32>().unwrap() >= 100 && field(row, 5).is_empty()
        }),
    ];
    for (condition, holds) in holds {
        let read = ReadOptions::default().choose(Choose::default().filter(Some(condition.parse().unwrap())));
        let expected: Vec<&String> = all.iter().filter(|row| holds(row)).collect();
        assert!(!expected.is_empty() && expected.len() < all.len(), "{condition}");
        let (chosen, summary) = all_ways(&read);
        assert!(chosen.iter().eq(expected.iter().copied()), "{condition}: {} {}", chosen.len(), expected.len());
        assert_eq!((summary.records, summary.rejected), (whole.records, whole.rejected));
        assert_eq!(summary.left_out["where"].positions, whole.accepted() - expected.len() as u64);
        let count = expected.len();
        for (skip, limit) in [(0, 0), (0, 1), (3, 10), (count / 2, 5), (count - 1, 9), (count + 5, 5), (0, count + 1)] {
            let read = read.clone().skip(skip as u64).limit(Some(limit as u64));
            let (chosen, _) = all_ways(&read);
            let expected = expected.iter().skip(skip).take(limit).copied();
            assert!(chosen.iter().eq(expected), "{condition} --skip {skip} --limit {limit}: {}", chosen.len());
        }
        // Statistics are of what is chosen.
        let job = Statistics::new();
        let options = RunOptions::new(Tier::best().analyzer().unwrap()).read(read).threads(2);
        let summary = run(&inputs(), options, &job, |part| job.add(part));
        assert_eq!(job.finish(summary.rejected, false).unwrap().positions, count as u64);
    }
}

#[test]
fn samples_are_random_and_the_same_for_the_same_seed() {
    // Many samples: of a smaller file.
    let inputs = inputs_with("wrappers/lichess_db_100k.pgn");
    let all_ways = |read: &ReadOptions| all_ways_of(&inputs, read);
    let (all, whole) = all_ways(&ReadOptions::default());
    let sample = |text: &str, seed| {
        ReadOptions::default().choose(Choose::default().sample(Some(text.parse().unwrap())).seed(seed))
    };
    for (text, rate) in [("0.1", 0.1), ("25%", 0.25), ("case when legal_moves > 20 then 0.5 else 0 end", 0.0)] {
        let mut seen = BTreeSet::new();
        for seed in [0, 1] {
            let (taken, summary) = all_ways(&sample(text, seed));
            assert!(taken.iter().all(|row| all.contains(row) || !seen.insert(row.clone())));
            assert!(taken.is_sorted_by_key(|row| field(row, 0).parse::<u64>().unwrap()));
            assert_eq!(summary.left_out["sample"].positions, whole.accepted() - taken.len() as u64);
            let expected = match rate {
                0.0 => all.iter().filter(|row| field(row, 1).parse::<u32>().unwrap() > 20).count() as f64 * 0.5,
                rate => all.len() as f64 * rate,
            };
            assert!((taken.len() as f64 - expected).abs() < 5.0 * expected.sqrt() + 1.0, "{text}: {}", taken.len());
        }
        assert_ne!(all_ways(&sample(text, 0)).0, all_ways(&sample(text, 1)).0);
    }
    assert_eq!(all_ways(&sample("1.0", 5)).0, all);
    for count in [2, 100, all.len() - 1, all.len(), all.len() + 10] {
        let (taken, summary) = all_ways(&sample(&count.to_string(), 3));
        assert_eq!(taken.len(), count.min(all.len()));
        assert_eq!(summary.left_out["sample"].positions, (all.len() - taken.len()) as u64);
        let known: BTreeSet<&String> = all.iter().collect();
        assert!(taken.iter().all(|row| known.contains(row)));
        assert!(taken.is_sorted_by_key(|row| field(row, 0).parse::<u64>().unwrap()));
        let limited = all_ways(&sample(&count.to_string(), 3).skip(1).limit(Some(20))).0;
        assert!(limited.iter().eq(taken.iter().skip(1).take(20)), "{count}");
        // More than there are, and more than a part of a sample that does not fit in memory.
        for skip in [taken.len(), taken.len() + 1].into_iter().filter(|_| count == 100) {
            let rest = all_ways(&sample(&count.to_string(), 3).skip(skip as u64).limit(None)).0;
            assert!(rest.iter().eq(taken.iter().skip(skip)), "{count}, {skip}");
        }
    }
    // A sample is a smaller one and more.
    let (few, many) = (all_ways(&sample("50", 9)).0, all_ways(&sample("60", 9)).0);
    assert!(few.iter().all(|row| many.contains(row)));
    // Each record is taken as often as any other.
    let few = Inputs::resolve(&["data/famous.epd".into()], lanefish::formats::is_supported).unwrap();
    let mut counts = vec![0_u32; 200];
    for seed in 0..400 {
        let read = sample("20", seed).limit(None);
        let choose = read.choose.clone().filter(Some("index < 200".parse().unwrap()));
        let read = read.choose(choose);
        let (taken, _) = rows_of(&few, &read, 1, 1 << 20, ScratchSpace::default());
        taken.iter().for_each(|row| counts[field(row, 0).parse::<usize>().unwrap()] += 1);
    }
    // The mean is 40, the standard deviation 6.
    assert!(counts.iter().all(|count| (10..=72).contains(count)), "{counts:?}");
    assert!("7".parse::<Sample>().is_ok() && "nonsense".parse::<Sample>().is_err());
}

#[test]
fn records_are_given_values_that_expressions_make_of_what_was_read() {
    let (all, whole) = all_ways(&ReadOptions::default());
    let set = |texts: &[&str]| ReadOptions::default().choose(Choose::default().set(Assignments::parse(texts).unwrap()));
    // Each sees the record as it was read.
    let (changed, summary) = all_ways(&set(&[
        "score = case when score < 0 then least(-score, 31000) when mate is not null then mate end",
        "Result = case when result = '1-0' then '0-1' when result = '0-1' then '1-0' else '1/2-1/2' end",
        "ply=coalesce(ply, 7) + 0.5",
        "halfmove = legal_moves * 2",
    ]));
    assert_eq!((summary.records, summary.rejected), (whole.records, whole.rejected));
    let mut seen = [0; 3];
    for (before, after) in all.iter().zip(&changed) {
        let number = |at| field(before, at).parse::<i64>().ok();
        let score = match (number(3), number(9)) {
            (Some(score @ ..0), _) => {
                seen[0] += 1;
                Some(-score)
            }
            (_, Some(mate)) => {
                seen[1] += 1;
                Some(mate)
            }
            _ => None,
        };
        let result = match field(before, 10) {
            "1-0" => "0-1",
            "0-1" => "1-0",
            _ => "1/2-1/2",
        };
        let ply = number(4).unwrap_or(7);
        seen[2] += i32::from(ply % 2 == 1);
        // A half is rounded away from zero.
        let expected = (score, result, ply + 1, number(1).unwrap() * 2);
        let number = |at| field(after, at).parse::<i64>().ok();
        assert_eq!(
            (number(3), field(after, 10), number(4).unwrap(), number(11).unwrap()),
            expected,
            "{before} {after}"
        );
        assert_eq!(number(8), score, "the score as it is stored");
        assert!(field(after, 9).is_empty() || score.is_none(), "a mate and a score: {after}");
        let clocks = field(after, 7).rsplit(' ').nth(1).unwrap().parse().ok();
        assert_eq!(clocks, number(11), "the position has the clock: {after}");
    }
    assert_eq!(all.len(), changed.len());
    // The samples have no mates.
    let has_mates = shared_data("pgn/lichess_db_1000k.pgn").is_some();
    assert!(seen[0] > 10 && (seen[1] > 10 || !has_mates) && seen[2] > 10, "{seen:?}");
    // What does not fit is a reject, of what is chosen only.
    let read = set(&["raw_score = case when legal_moves > 40 then 32768 else -32002 end", "mate = null"]);
    let choose = read.choose.clone().filter(Some("legal_moves > 35".parse().unwrap()));
    let read = read.choose(choose);
    let (changed, summary) = all_ways(&read);
    let moves = |row: &String| field(row, 1).parse::<i64>().unwrap();
    let wrong = all.iter().filter(|row| moves(row) > 40).count() as u64;
    assert!(wrong > 10);
    assert_eq!(summary.rejected, whole.rejected + wrong);
    let kept: Vec<String> =
        all.iter().filter(|row| (36..=40).contains(&moves(row))).map(|row| field(row, 0).into()).collect();
    assert!(changed.iter().map(|row| field(row, 0)).eq(kept.iter().map(String::as_str)));
    assert!(
        changed.iter().all(|row| field(row, 8) == "-32002" && field(row, 3).is_empty() && field(row, 9).is_empty())
    );
    let reject = summary
        .first_rejects
        .iter()
        .find(|reject| reject.reasons == ["value"])
        .map(|reject| reject.message.to_string())
        .unwrap_or_default();
    assert!(
        summary.first_rejects.len() == 10
            && (reject.is_empty() || reject.starts_with("--set raw_score: 32768 does not fit"))
    );
    for wrong in ["score", "fen = 'x'", "score = 'x'", "result = 1", "ply = true", "score = legal_move", "mate ="] {
        assert!(Assignments::parse([wrong]).is_err(), "{wrong}");
    }
    assert!(Assignments::parse(["score = 1", "RAW_SCORE = 2"]).is_err());
}

/// Whether a text is like a pattern.
fn is_like(text: &[u8], pattern: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'%', rest @ ..] => (0..=text.len()).any(|skipped| is_like(&text[skipped..], rest)),
        [letter, rest @ ..] => {
            matches!(text, [first, others @ ..] if (*letter == b'_' || letter == first) && is_like(others, rest))
        }
    }
}

/// Texts of moves and of pieces are not written for each record to find those that a condition asks for. The records are
/// the same as if they were.
#[test]
fn moves_and_material_are_found_as_their_texts() {
    let inputs = inputs();
    let rows = |condition: Option<&str>| {
        let filter = condition.map(|text| text.parse().unwrap());
        let read = ReadOptions::default().choose(Choose::default().filter(filter));
        let options = RunOptions::new(Tier::best().analyzer().unwrap()).read(read).threads(2);
        rows_with("index,san,material", &inputs, options).0
    };
    let all = rows(None);
    let (mut some, mut conditions) = (0, 0);
    let mut check = |condition: &str, holds: &dyn Fn(&str, &str) -> bool| {
        let expected: Vec<&String> = all.iter().filter(|row| holds(field(row, 1), field(row, 2))).collect();
        assert!(rows(Some(condition)).iter().eq(expected.iter().copied()), "{condition}");
        some += usize::from(!expected.is_empty() && expected.len() < all.len());
        conditions += 1;
    };
    for pattern in [
        "Bxh%", "%+", "%=N%", "%=Q%", "O-O%", "O-O", "O-O-O%", "e_", "%x%=Q+", "N%d%", "Kx%", "_x%", "%x%", "%", "Q%#",
        "a8=%", "K%", "R_e1", "exd5", "%#", "Z%", "x%", "=%", "o-o%", "____", "N__4%",
    ] {
        let fits = |san: &str| !san.is_empty() && is_like(san.as_bytes(), pattern.as_bytes());
        check(&format!("san like '{pattern}'"), &|san, _| fits(san));
        check(&format!("not san like '{pattern}'"), &|san, _| !san.is_empty() && !fits(san));
        let folded = pattern.to_lowercase();
        let folded = |san: &str| !san.is_empty() && is_like(san.to_lowercase().as_bytes(), folded.as_bytes());
        check(&format!("san ilike '{pattern}'"), &|san, _| folded(san));
    }
    check("san in ('e4', 'Nf3', 'O-O', 'Bxh7+')", &|san, _| ["e4", "Nf3", "O-O", "Bxh7+"].contains(&san));
    check("san = 'O-O-O' or san = 'Kxe8'", &|san, _| ["O-O-O", "Kxe8"].contains(&san));
    check("san <> 'e4'", &|san, _| !san.is_empty() && san != "e4");
    check("coalesce(san, 'none') = 'none'", &|san, _| san.is_empty());
    for pattern in ["KQ%vK%", "%P", "%vK", "KRPPPPvKRPPP", "K%RvK%R%", "_v_", "%v%QQ%", "K_"] {
        let fits = |material: &str| is_like(material.as_bytes(), pattern.as_bytes());
        check(&format!("material like '{pattern}'"), &|_, material| fits(material));
        check(&format!("not material like '{pattern}'"), &|_, material| !fits(material));
    }
    let some_material =
        ["KvK", "KQvK", "KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP", "KvKP", "KRPPPPvKRPPP", "KRvKR", "KQRRvKQRR", "KNvK"];
    // Other texts are never those of pieces.
    for text in ["PKvK", "v", "KvK ", "kvk", "KK"] {
        assert!(format!("material = '{text}'").parse::<Condition>().is_err(), "{text}");
    }
    for texts in some_material.windows(3) {
        let list = texts.iter().map(|text| format!("'{text}'")).collect::<Vec<_>>().join(", ");
        check(&format!("material in ({list})"), &|_, material| texts.contains(&material));
        check(&format!("material not in ({list})"), &|_, material| !texts.contains(&material));
    }
    assert!(some > 60, "{some} of {conditions}");
}
