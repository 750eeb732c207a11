//! Each command against a slow, plain twin, on games, evaluations, puzzles and random play, with so little memory that
//! parts are divided several times, and with any number of threads.

use super::{Dedup, Interleave, Interleaved, Keep, Key, MixedInput, Shares, Shuffle, Split, SplitBy, Unit, Weights};
use crate::Error;
use crate::input::Inputs;
use crate::jobs::{OutputContent, OutputFormat, WriteJob, WritePart};
use crate::output::ScratchSpace;
use crate::output::SquareSetStyle;
use crate::pipeline::{Job, ReadOptions, RunError, RunOptions, Summary, run};
use crate::seed::{Purpose, Seeded};
use crate::table::{Column, Columns, Needs, Tile};
use crate::testing::shared_data;
use crate::tiers::Tier;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// Everything that records carry, and `index`, which says where a record was.
const COLUMNS: &str = "index,game,ply,fen,move,score,mate,result,white,black,white_elo,clock,eco,opening,site,date,depth,\
    knodes,puzzle_id,themes,operations,key_en_passant,count";
/// Columns before the FEN.
const GAME: usize = 1;
const FEN: usize = 3;

/// Files of the project, read with a limit; others where they are.
fn inputs() -> Inputs {
    let mut names: Vec<PathBuf> =
        ["data/sample.epd", "data/sample.boards", "data/lichess-2025-05.pgn"].map(PathBuf::from).to_vec();
    names.extend(["pgn", "jsonl", "csv", "epd"].into_iter().filter_map(shared_data));
    Inputs::resolve(&names, crate::formats::is_supported).unwrap()
}

const LIMIT: u64 = 3_000;

fn options<'a>(threads: usize) -> RunOptions<'a> {
    let read = ReadOptions::default().limit(Some(LIMIT));
    RunOptions::new(Tier::best().analyzer().unwrap()).threads(threads).read(read).chunk_size(40_000)
}

/// Reads only.
struct Nothing;

impl Job for Nothing {
    type Part = ();
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) {}
    fn tile(&self, (): &mut (), _: &Tile<'_>) {}
}

/// Rows of CSV, of which each is a record.
fn rows_by(
    work: impl FnOnce(&WriteJob<'_>, &mut dyn FnMut(WritePart) -> Result<(), Error>) -> Result<Summary, RunError>,
) -> Vec<String> {
    let columns = Columns::named(COLUMNS).unwrap();
    let job = WriteJob::new(OutputContent::Columns(&columns, SquareSetStyle::Hex), OutputFormat::Csv).unwrap();
    let mut csv = Vec::new();
    let mut file = job.open(&mut csv).unwrap();
    let summary =
        work(&job, &mut |part| job.put(&mut file, part).map_err(|source| Error::Write { path: "rows".into(), source }));
    drop(summary.unwrap());
    let _ = job.finish(file).unwrap();
    let text = String::from_utf8(csv).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

/// Without the number that only records of a run have.
fn without_index(rows: &[String]) -> Vec<&str> {
    rows.iter().map(|row| row.split_once(',').unwrap().1).collect()
}

fn fields(row: &str) -> Vec<String> {
    let mut reader = csv_fields(row);
    std::iter::from_fn(|| reader.next()).collect()
}

/// The fields of a row; those that are quoted have commas or quotes in them.
fn csv_fields(row: &str) -> impl Iterator<Item = String> {
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut field = String::new();
        let mut chars = text.char_indices().peekable();
        let mut quoted = false;
        while let Some((at, letter)) = chars.next() {
            match letter {
                '"' if quoted && chars.peek().is_some_and(|&(_, next)| next == '"') => {
                    chars.next();
                    field.push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => {
                    rest = Some(&text[at + 1..]);
                    return Some(field);
                }
                letter => field.push(letter),
            }
        }
        rest = None;
        Some(field)
    })
}

fn plain(inputs: &Inputs) -> Vec<String> {
    rows_by(|job, sink| run(inputs, options(1), job, sink))
}

/// Spaces in which parts are divided several times, and one in which nothing is, with numbers of threads.
fn spaces() -> [(ScratchSpace, usize); 4] {
    let space = |memory| ScratchSpace::default().memory(memory);
    [(space(32 << 10), 1), (space(32 << 10), 2), (space(256 << 10), 8), (space(1 << 30), 2)]
}

#[test]
fn shuffled_records_are_in_the_order_of_their_hashes() {
    let inputs = inputs();
    let rows = plain(&inputs);
    assert!(rows.len() > 500);
    for seed in [0, 1, u64::MAX] {
        let seeded = Seeded::new(seed, Purpose::Shuffle);
        let mut expected: Vec<(u64, &str)> =
            without_index(&rows).into_iter().zip(0..).map(|(row, number)| (seeded.hash(number), row)).collect();
        expected.sort_unstable();
        for (space, threads) in spaces() {
            let shuffle = Shuffle::default().seed(seed);
            let shuffled = rows_by(|job, sink| shuffle.run(&inputs, options(threads).space(space.clone()), job, sink));
            assert!(without_index(&shuffled).into_iter().eq(expected.iter().map(|(_, row)| *row)), "{seed} {threads}");
        }
    }
}

/// Only inputs with games.
fn games() -> Inputs {
    let mut inputs = inputs();
    inputs.sources.retain(|source| source.to_string().contains(".pgn"));
    inputs.sources.extend(inputs.sources.clone());
    inputs
}

#[test]
fn shuffled_games_stay_together() {
    let inputs = games();
    let rows = plain(&inputs);
    let seeded = Seeded::new(5, Purpose::Shuffle);
    let hash = |row: &str| seeded.hash(fields(row)[GAME].parse().unwrap());
    let mut expected: Vec<&String> = rows.iter().collect();
    expected.sort_by_key(|row| hash(row));
    let expected: Vec<String> = expected.into_iter().cloned().collect();
    for (space, threads) in spaces() {
        let shuffle = Shuffle::default().seed(5).by(Unit::Game);
        let shuffled = rows_by(|job, sink| shuffle.run(&inputs, options(threads).space(space.clone()), job, sink));
        assert!(without_index(&shuffled) == without_index(&expected), "{threads}");
    }
    let shuffle = Shuffle::default().by(Unit::Game);
    let without = Inputs::of([std::path::Path::new("data/sample.epd")]);
    let columns = Columns::named("fen").unwrap();
    let job = WriteJob::new(OutputContent::Columns(&columns, SquareSetStyle::Hex), OutputFormat::Csv).unwrap();
    let ended = shuffle.run(&without, options(1), &job, |_| Ok(()));
    assert!(matches!(ended.unwrap_err().error, Error::NoGame { record: 0 }));
}

/// Where records go is as good as random: each of a few records is at each of a few places about as often, and so are
/// neighbours.
#[test]
fn all_orders_are_equally_likely() {
    const RECORDS: u64 = 6;
    const SEEDS: u64 = 60_000;
    let mut places = [[0_u32; RECORDS as usize]; RECORDS as usize];
    let mut orders: HashMap<Vec<u64>, u32> = HashMap::new();
    for seed in 0..SEEDS {
        let seeded = Seeded::new(seed, Purpose::Shuffle);
        let mut order: Vec<u64> = (0..RECORDS).collect();
        order.sort_unstable_by_key(|&number| seeded.hash(number));
        for (place, &number) in order.iter().enumerate() {
            places[number as usize][place] += 1;
        }
        *orders.entry(order).or_default() += 1;
    }
    let chi = |counts: &mut dyn Iterator<Item = u32>, expected: f64| -> f64 {
        counts.map(|count| (f64::from(count) - expected).powi(2) / expected).sum()
    };
    // 720 orders: the mean is 719, the standard deviation 38.
    let of_orders = chi(&mut orders.values().copied(), SEEDS as f64 / 720.0);
    assert!(orders.len() == 720 && (719.0 - 5.0 * 38.0..719.0 + 5.0 * 38.0).contains(&of_orders), "{of_orders}");
    // 25 degrees of freedom.
    let of_places = chi(&mut places.iter().flatten().copied(), SEEDS as f64 / 6.0);
    assert!(of_places < 60.0, "{of_places}");
}

/// What makes positions equal, in words: the fields of a FEN, in which an en passant square stands only where such a
/// capture is legal.
fn key_of(key: Key, row: &str) -> String {
    let all = fields(row);
    let fen: Vec<&str> = all[FEN].split(' ').collect();
    let taken = match key {
        Key::Board => 1,
        Key::Stm => 2,
        Key::Castling => 3,
        Key::Position | Key::Relative => 4,
        Key::Record => return all[GAME + 1..].join("|"),
    };
    if key == Key::Relative && fen[1] == "b" {
        let exchanged = |text: &str| -> String {
            let other = |letter: char| {
                if letter.is_ascii_uppercase() { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() }
            };
            text.chars().map(other).collect()
        };
        let board: Vec<String> = fen[0].split('/').rev().map(exchanged).collect();
        let mut castling: Vec<char> = exchanged(fen[2]).chars().collect();
        castling.sort_unstable();
        let castling: String = castling.into_iter().collect();
        let en_passant = fen[3].replace('3', "6");
        return format!("{} w {castling} {en_passant}", board.join("/"));
    }
    fen[..taken].join(" ")
}

#[test]
fn one_record_of_each_kind_is_kept() {
    let inputs = inputs();
    // With everything twice, so that there is something to leave out.
    let twice = Inputs::of(inputs.sources.iter().chain(&inputs.sources).cloned());
    let twice_read = |threads| options(threads).read(ReadOptions::default().limit(Some(2 * LIMIT)));
    let rows = rows_by(|job, sink| run(&twice, twice_read(1), job, sink));
    let fullmove = Column::named("fullmove").unwrap();
    let score = Column::named("score").unwrap();
    let value = |keep: &Keep, row: &str| -> Option<i64> {
        let all = fields(row);
        match keep {
            Keep::Most(column) | Keep::Least(column) if column.name == "score" => all[FEN + 2].parse().ok(),
            _ => all[FEN].rsplit(' ').next()?.parse().ok(),
        }
    };
    for key in [Key::Board, Key::Stm, Key::Castling, Key::Position, Key::Relative, Key::Record] {
        let keeps = [Keep::First, Keep::Last, Keep::Most(fullmove), Keep::Least(fullmove), Keep::Most(score)];
        let all_ways = matches!(key, Key::Position | Key::Record);
        for keep in keeps.into_iter().take(if all_ways { 5 } else { 1 }) {
            let mut kept: HashMap<String, usize> = HashMap::new();
            let mut counts: HashMap<String, u64> = HashMap::new();
            for (number, row) in rows.iter().enumerate() {
                *counts.entry(key_of(key, row)).or_default() += 1;
                let known = kept.entry(key_of(key, row)).or_insert(number);
                let (new, old) = (value(&keep, row), value(&keep, &rows[*known]));
                let is_better = match keep {
                    Keep::First => false,
                    Keep::Last => true,
                    Keep::Most(_) => new > old,
                    Keep::Least(_) => new.is_some() && (old.is_none() || new < old),
                };
                if is_better {
                    *known = number;
                }
            }
            let mut expected: Vec<usize> = kept.into_values().collect();
            expected.sort_unstable();
            let expected: Vec<&str> = expected.into_iter().map(|number| &*rows[number]).collect();
            for (space, threads) in spaces() {
                let dedup = Dedup::default().key(key).keep(keep.clone());
                let mut count = 0;
                let distinct = rows_by(|job, sink| {
                    let (summary, done) = dedup.run(&twice, twice_read(threads).space(space.clone()), job, sink)?;
                    count = done.kept;
                    Ok(summary)
                });
                assert_eq!(count, distinct.len() as u64);
                assert!(distinct == expected, "{key:?} {keep:?} {threads}: {} {}", distinct.len(), expected.len());
                let dedup = dedup.counts(true);
                let counted = rows_by(|job, sink| {
                    dedup.run(&twice, twice_read(threads).space(space.clone()), job, sink).map(|done| done.0)
                });
                let with_counts = expected.iter().map(|row| format!("{row}{}", counts[&key_of(key, row)]));
                assert!(with_counts.eq(counted), "{key:?} {keep:?} {threads}");
            }
        }
    }
    let distinct = |key| rows.iter().map(|row| key_of(key, row)).collect::<BTreeSet<_>>().len() as u64;
    for (space, threads) in spaces() {
        let (summary, counted) = Dedup::default().count(&twice, twice_read(threads).space(space)).unwrap();
        assert_eq!(summary.accepted(), rows.len() as u64);
        let counts = [counted.board, counted.stm, counted.castling, counted.position, counted.record];
        let keys = [Key::Board, Key::Stm, Key::Castling, Key::Position, Key::Record];
        assert_eq!(counts, keys.map(distinct));
    }
}

#[test]
fn what_occurs_elsewhere_is_left_out() {
    let inputs = inputs();
    let rows = plain(&inputs);
    let against = Inputs::of(inputs.sources.iter().step_by(2).cloned());
    let theirs = rows_by(|job, sink| run(&against, options(1).read(ReadOptions::default()), job, sink));
    let mut known: BTreeSet<String> = theirs.iter().map(|row| key_of(Key::Position, row)).collect();
    let expected: Vec<&String> = rows.iter().filter(|row| known.insert(key_of(Key::Position, row))).collect();
    for keep in [Keep::First, Keep::Least(Column::named("index").unwrap())] {
        for (space, threads) in spaces() {
            let dedup = Dedup::default().against(against.clone()).keep(keep.clone());
            let distinct = rows_by(|job, sink| {
                dedup.run(&inputs, options(threads).space(space.clone()), job, sink).map(|done| done.0)
            });
            assert!(distinct.iter().eq(expected.iter().copied()), "{threads}");
        }
    }
}

#[test]
fn parts_have_their_shares_and_nothing_in_common() {
    let inputs = inputs();
    let twice = Inputs::of(inputs.sources.iter().chain(&inputs.sources).cloned());
    let rows = rows_by(|job, sink| run(&twice, options(1), job, sink));
    let shares: Shares = "train=0.7,valid=0.2,test=0.1".parse().unwrap();
    let columns = Columns::named(COLUMNS).unwrap();
    for (by, key) in
        [(SplitBy::Position, Some(Key::Position)), (SplitBy::Relative, Some(Key::Relative)), (SplitBy::Record, None)]
    {
        for (seed, threads) in [(0, 1), (0, 3), (9, 2)] {
            let job =
                |_| WriteJob::new(OutputContent::Columns(&columns, SquareSetStyle::Hex), OutputFormat::Csv).unwrap();
            let jobs: Vec<_> = (0..3).map(job).collect();
            let mut parts = vec![Vec::new(); 3];
            let mut counts = [0; 3];
            {
                let mut files: Vec<_> =
                    jobs.iter().zip(&mut parts).map(|(job, part)| job.open(part).unwrap()).collect();
                let split = Split::new(shares.clone()).by(by).seed(seed);
                let summary = split.run(&twice, options(threads), &jobs, |part, records, made| {
                    counts[part] += records;
                    jobs[part].put(&mut files[part], made).unwrap();
                    Ok(())
                });
                drop(summary.unwrap());
                for (job, file) in jobs.into_iter().zip(files) {
                    let _ = job.finish(file).unwrap();
                }
            }
            let parts: Vec<Vec<String>> = parts
                .into_iter()
                .map(|part| String::from_utf8(part).unwrap().lines().skip(1).map(str::to_owned).collect())
                .collect();
            assert!(parts.iter().zip(counts).all(|(part, count)| part.len() as u64 == count));
            // Each record is in one part, in its order.
            let place: BTreeMap<&str, usize> =
                (0..).zip(&parts).flat_map(|(part, rows)| rows.iter().map(move |row| (&**row, part))).collect();
            for (part, rows_of) in parts.iter().enumerate() {
                assert!(rows.iter().filter(|row| place[&***row] == part).eq(rows_of.iter()));
            }
            // Kinds are divided as the shares are.
            let kinds: Vec<BTreeSet<String>> = parts
                .iter()
                .map(|rows| rows.iter().map(|row| key.map_or_else(|| row.clone(), |key| key_of(key, row))).collect())
                .collect();
            assert!(
                kinds[0].is_disjoint(&kinds[1]) && kinds[0].is_disjoint(&kinds[2]) && kinds[1].is_disjoint(&kinds[2])
            );
            let all: usize = kinds.iter().map(BTreeSet::len).sum();
            for (kinds, share) in kinds.iter().zip([0.7, 0.2, 0.1]) {
                let (expected, deviation) = (all as f64 * share, (all as f64 * share * (1.0 - share)).sqrt());
                assert!((kinds.len() as f64 - expected).abs() < 5.0 * deviation, "{by:?}: {} of {all}", kinds.len());
            }
        }
    }
}

#[test]
fn inputs_are_mixed_and_keep_their_order() {
    let inputs = games();
    let rows = plain(&inputs);
    let own: Vec<Vec<String>> = {
        // As many records of each as the limit leaves.
        let mut left = LIMIT;
        let mut start = 0;
        let mut own = Vec::new();
        for source in &inputs.sources {
            let one = Inputs::of([source.clone()]);
            let read = ReadOptions::default().limit(Some(left));
            let summary = run(&one, options(1).read(read), &Nothing, |()| Ok(())).unwrap();
            left -= summary.records;
            let end = start + summary.accepted() as usize;
            own.push(rows[start..end].to_vec());
            start = end;
        }
        own
    };
    for by in [Unit::Record, Unit::Game] {
        let units: Vec<Vec<Vec<&str>>> = own
            .iter()
            .map(|rows| {
                let rows = without_index(rows);
                match by {
                    Unit::Record => rows.into_iter().map(|row| vec![row]).collect(),
                    Unit::Game => {
                        let game = |row: &&str| row.split(',').next().unwrap().to_owned();
                        rows.chunk_by(|a, b| game(a) == game(b)).map(<[_]>::to_vec).collect()
                    }
                }
            })
            .collect();
        let available: Vec<u64> = units.iter().map(|units| units.len() as u64).collect();
        let equal = vec!["1"; available.len()].join(",");
        let rising: Vec<String> = (1..=available.len()).map(|weight| weight.to_string()).collect();
        let rising = rising.join(",");
        for (weights, repeats) in
            [(None, false), (Some(&equal), false), (Some(&rising), false), (Some(&equal), true), (Some(&rising), true)]
        {
            let weights: Option<Weights> = weights.map(|weights| weights.parse().unwrap());
            let planned = match &weights {
                None => available.clone(),
                Some(weights) => weights.units(&available, repeats),
            };
            let seeded = Seeded::new(3, Purpose::Interleave);
            let mut taken = vec![0; units.len()];
            let mut expected: Vec<&str> = Vec::new();
            for number in 0.. {
                let left: Vec<u64> = planned.iter().zip(&taken).map(|(all, taken)| all - *taken as u64).collect();
                let total: u64 = left.iter().sum();
                if total == 0 {
                    break;
                }
                let mut unit = ((u128::from(seeded.hash(number)) * u128::from(total)) >> 64) as u64;
                let mut input = 0;
                while unit >= left[input] {
                    unit -= left[input];
                    input += 1;
                }
                expected.extend(&units[input][taken[input] % units[input].len()]);
                taken[input] += 1;
            }
            for threads in [1, 2, 8] {
                let interleave = Interleave::default().seed(3).by(by).weights(weights.clone()).repeats(repeats);
                let mut mixed = Interleaved::default();
                let found = rows_by(|job, sink| {
                    interleave.run(&inputs, options(threads), job, sink).map(|(summary, done)| {
                        mixed = done;
                        summary
                    })
                });
                assert!(without_index(&found).iter().eq(expected.iter()), "{by:?} {weights:?} {repeats} {threads}");
                let numbers = |number: fn(&MixedInput) -> u64| mixed.inputs.iter().map(number).collect::<Vec<_>>();
                assert_eq!(numbers(|input| input.available), available);
                assert_eq!(numbers(|input| input.taken), planned);
            }
        }
    }
}

#[test]
fn seeds_and_shares_are_told_apart() {
    // A sample by one seed can be split by the same.
    let [shuffle, split, mix] = [Purpose::Shuffle, Purpose::Split, Purpose::Interleave].map(|p| Seeded::new(1, p));
    let agree = |a: Seeded, b: Seeded| (0..10_000).filter(|&n| a.hash(n) >> 63 == b.hash(n) >> 63).count();
    for both in [agree(shuffle, split), agree(split, mix), agree(shuffle, mix)] {
        assert!((4_700..5_300).contains(&both), "{both}");
    }
}
