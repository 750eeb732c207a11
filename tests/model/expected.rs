//! The model: what a command line must give, in plain loops over lists of records.

use super::expression::{Column, uniform};
use super::generate::{Case, Input, Job, Keep, Key};
use super::options::{Options, Sample, Target, Value};
use super::records::{Entry, Format, Outcome, Record, Tags, held, stored};
use lanefish::chess::{Position, Square};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A choice that no document fixes: the model asks the program for it, and checks what must hold of it.
pub(crate) trait Oracle {
    /// The records that these options take: the values of a column for each, and of another.
    fn taken(&mut self, options: &Options, columns: [&str; 2]) -> Result<Vec<[u64; 2]>, String>;
}

/// What a command must give.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// The status is 2, for this reason, and there is no output.
    pub(crate) stops: Option<&'static str>,
    pub(crate) rejected: u64,
    /// Bad records of `--against`.
    pub(crate) bad_there: u64,
    /// The options that leave something out, with the number of positions.
    pub(crate) left_out: Vec<(&'static str, u64)>,
    /// The records as they are in the output.
    pub(crate) records: Vec<Record>,
    /// Whether some of the records are not as they were.
    pub(crate) changed: bool,
    /// The records before the output's format takes its toll.
    pub(crate) chosen: Vec<Record>,
    /// The games of which a row is made.
    pub(crate) games: Vec<u64>,
}

/// The entries of several inputs one after another: records and games are numbered on.
pub(crate) fn combined(parts: &[Vec<Entry>]) -> Vec<Entry> {
    let (mut all, mut index, mut first_game) = (Vec::new(), 0, 0);
    for (input, part) in parts.iter().enumerate() {
        let mut next_game = first_game;
        for entry in part {
            let mut entry = entry.clone();
            let game = match &mut entry {
                Entry::Good(record) => {
                    (record.index, record.input) = (index, input);
                    &mut record.game
                }
                Entry::Bad(Some(record)) => &mut record.game,
                Entry::Bad(None) => &mut None,
            };
            if let Some(game) = game {
                *game += first_game;
                next_game = next_game.max(*game + 1);
            }
            index += 1;
            all.push(entry);
        }
        first_game = next_game;
    }
    all
}

/// Whether an input carries what an option asks for; `None` where no document says it.
fn carries(input: &Input, records: &[Entry], wanted: impl Fn(&Record) -> bool) -> Option<bool> {
    if input.format() == Format::Csv && records.is_empty() {
        // The header says it.
        let mut all = Record::of(Position::standard());
        (all.game, all.ply, all.score, all.result) = (Some(0), Some(0), Some(0), Some(Outcome::Draw));
        all.tags = Rc::new(Tags { white_elo: Some(1), ..Tags::default() });
        return Some(wanted(&all));
    }
    let any = records.iter().any(|entry| matches!(entry, Entry::Good(record) if wanted(record)));
    match input.format() {
        Format::Pgn => Some(true),
        _ if any => Some(true),
        _ => Some(false),
    }
}

/// Whether an input has not a byte: a table has a header.
fn is_empty(input: &Input, entries: &[Entry]) -> bool {
    entries.is_empty() && input.format().is_text() && input.format() != Format::Csv
}

/// Why the options do not stand for these inputs.
pub(crate) fn refusal(case: &Case, parts: &[Vec<Entry>]) -> Option<&'static str> {
    let options = &case.options;
    let mut filled = case.inputs.iter().zip(parts).filter(|(input, entries)| !is_empty(input, entries)).peekable();
    if case.writes()
        && case.to == Format::Viri
        && filled.peek().is_some()
        && filled.all(|(input, _)| !input.format().has_moves())
    {
        return Some("no format with moves");
    }
    for (input, entries) in case.inputs.iter().zip(parts) {
        let lacks = |wanted: &dyn Fn(&Record) -> bool| carries(input, entries, wanted) == Some(false);
        if is_empty(input, entries) {
            if options.strict {
                return Some("no records with --strict");
            }
            continue;
        }
        if (options.min_elo.is_some() || options.max_elo.is_some())
            && (lacks(&|record| record.tags.white_elo.is_some()) || lacks(&|record| record.tags.black_elo.is_some()))
        {
            return Some("no ratings");
        }
        if options.choose_plies() && lacks(&|record| record.ply.is_some()) {
            return Some("no plies");
        }
        if (case.job == Job::Games || options.looks_at_games()) && lacks(&|record| record.game.is_some()) {
            return Some("no games");
        }
        if (case.job == Job::Games || options.looks_at_games()) && are_scattered(entries) {
            return Some("scattered games");
        }
        if !options.result.is_empty() && lacks(&|record| record.result.is_some()) {
            return Some("no results");
        }
        if options.termination.is_some() && lacks(&|record| !record.tags.termination.is_empty()) {
            return Some("no terminations");
        }
        if options.eco.is_some() && lacks(&|record| !record.tags.eco.is_empty()) {
            return Some("no codes of openings");
        }
        if options.time_control.is_some() && lacks(&|record| !record.tags.time_control.is_empty()) {
            return Some("no time controls");
        }
        if (options.min_plies.is_some() || options.drop_bad_games) && input.format() != Format::Pgn {
            return Some("no lengths of games");
        }
    }
    None
}

/// Whether the records of some game do not follow one another. Games may come in any order, as `shuffle --by game` leaves
/// them.
fn are_scattered(entries: &[Entry]) -> bool {
    let games = entries.iter().filter_map(|entry| match entry {
        Entry::Good(record) => record.game,
        Entry::Bad(_) => None,
    });
    let (mut last, mut seen) = (None, BTreeSet::new());
    for game in games {
        if last != Some(game) && !seen.insert(game) {
            return true;
        }
        last = Some(game);
    }
    false
}

/// Whether a game's tags are those that the options ask for, with the first option that leaves it out.
fn left_out_by(options: &Options, record: &Record) -> Option<&'static str> {
    let tags = &record.tags;
    let both =
        |fits: &dyn Fn(u16) -> bool| [tags.white_elo, tags.black_elo].into_iter().all(|elo| elo.is_some_and(fits));
    if options.min_elo.is_some_and(|least| !both(&|elo| elo >= least)) {
        return Some("min-elo");
    }
    if options.max_elo.is_some_and(|most| !both(&|elo| elo <= most)) {
        return Some("max-elo");
    }
    if options.time_control.as_ref().is_some_and(|control| tags.time_control != *control) {
        return Some("time-control");
    }
    if !options.result.is_empty() && !options.result.contains(&record.result) {
        return Some("result");
    }
    if options.min_plies.is_some_and(|least| record.game_plies.is_none_or(|plies| plies < least)) {
        return Some("min-plies");
    }
    if options.termination.as_ref().is_some_and(|wanted| !tags.termination.eq_ignore_ascii_case(wanted)) {
        return Some("termination");
    }
    if options.eco.as_ref().is_some_and(|wanted| !eco_fits(wanted, &tags.eco)) {
        return Some("eco");
    }
    None
}

fn eco_fits(wanted: &str, code: &str) -> bool {
    match wanted.split_once('-') {
        Some((first, last)) => (first..=last).contains(&code),
        None => !code.is_empty() && code.starts_with(wanted),
    }
}

/// Chooses from the entries of all inputs, in the documented order.
pub(crate) fn chosen(options: &Options, entries: &[Entry], oracle: &mut dyn Oracle) -> Result<Expected, String> {
    let mut expected = Expected::default();
    if !options.choose() {
        let skip = options.skip.unwrap_or(0) as usize;
        let limit = options.limit.map_or(usize::MAX, |limit| limit as usize);
        for entry in entries.iter().skip(skip).take(limit) {
            match entry {
                Entry::Good(record) => expected.chosen.push(record.clone()),
                Entry::Bad(_) => expected.rejected += 1,
            }
        }
    } else {
        // The tags of a game are judged before it is replayed.
        let met = |entry: &Entry| match entry {
            Entry::Good(_) | Entry::Bad(None) => true,
            Entry::Bad(Some(game)) => left_out_by(options, game).is_none(),
        };
        let places = entries.iter().enumerate().filter(|(_, entry)| matches!(entry, Entry::Bad(_)) && met(entry));
        let mut bad: Vec<u64> = places.map(|(place, _)| place as u64).collect();
        expected.chosen = choose(options, entries, oracle, &mut expected.left_out, &mut bad)?;
        let all = expected.chosen.len();
        let skip = options.skip.unwrap_or(0) as usize;
        let limit = options.limit.map_or(usize::MAX, |limit| limit as usize);
        if options.condition.is_none() && options.sample.is_none() {
            // Bad records come out of the options for games and positions, too, and count.
            let range = skip as u64..(skip as u64).saturating_add(options.limit.unwrap_or(u64::MAX));
            expected.chosen.retain(|record| range.contains(&record.index));
            expected.rejected = bad.iter().filter(|index| range.contains(index)).count() as u64;
            return Ok(changed(options, expected));
        }
        // Reading ends at the limit: what is bad behind it is not met.
        let end = match skip.saturating_add(limit) {
            0 => 0,
            end if end <= all => expected.chosen[end - 1].index,
            _ => u64::MAX,
        };
        expected.chosen = expected.chosen.into_iter().skip(skip).take(limit).collect();
        // A number of records is drawn from all of them.
        let end = if matches!(options.sample, Some(Sample::Number(_))) { u64::MAX } else { end };
        expected.rejected = bad.iter().filter(|&&index| index < end).count() as u64;
    }
    Ok(changed(options, expected))
}

/// The records with new values.
fn changed(options: &Options, mut expected: Expected) -> Expected {
    if let Some((target, value)) = &options.set {
        let all = std::mem::take(&mut expected.chosen);
        for record in all {
            match set(&record, *target, value) {
                Some(record) => expected.chosen.push(record),
                None => expected.rejected += 1,
            }
        }
    }
    expected
}

/// The games that the options choose: `--skip` and `--limit` count them.
fn games(options: &Options, entries: &[Entry]) -> Expected {
    let mut expected = Expected::default();
    let mut games: BTreeMap<u64, (bool, bool)> = BTreeMap::new();
    for entry in entries {
        let (record, is_bad) = match entry {
            Entry::Good(record) | Entry::Bad(Some(record)) => (record, matches!(entry, Entry::Bad(_))),
            Entry::Bad(None) => {
                expected.rejected += 1;
                continue;
            }
        };
        let Some(number) = record.game else { continue };
        let game = games.entry(number).or_insert((left_out_by(options, record).is_none(), false));
        game.1 |= is_bad;
    }
    games.retain(|_, (is_chosen, _)| *is_chosen);
    if options.drop_bad_games {
        // What is left out for its error is a reject all the same.
        let all = games.len();
        games.retain(|_, (_, is_bad)| !*is_bad);
        expected.rejected += (all - games.len()) as u64;
    }
    let skip = options.skip.unwrap_or(0) as usize;
    let limit = options.limit.map_or(usize::MAX, |limit| limit as usize);
    let chosen: Vec<(u64, bool)> = games.into_iter().map(|(game, (_, is_bad))| (game, is_bad)).collect();
    for (game, is_bad) in chosen.into_iter().skip(skip).take(limit) {
        expected.games.push(game);
        expected.rejected += u64::from(is_bad);
    }
    if options.strict && expected.rejected > 0 {
        expected.stops = Some("a bad record with --strict");
    }
    expected
}

/// The options for games and positions, `--where` and `--sample`.
fn choose(
    options: &Options,
    entries: &[Entry],
    oracle: &mut dyn Oracle,
    left_out: &mut Vec<(&'static str, u64)>,
    bad: &mut [u64],
) -> Result<Vec<Record>, String> {
    let mut records: Vec<Record> = entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Good(record) => Some(record.clone()),
            Entry::Bad(_) => None,
        })
        .collect();
    let mut keep = |name: &'static str, records: &mut Vec<Record>, takes: &mut dyn FnMut(&Record) -> bool| {
        let before = records.len();
        records.retain(|record| takes(record));
        left_out.push((name, (before - records.len()) as u64));
    };
    for name in ["min-elo", "max-elo", "time-control", "result", "min-plies", "termination", "eco"] {
        keep(name, &mut records, &mut |record| left_out_by(options, record) != Some(name));
    }
    if options.drop_bad_games {
        let bad_games: Vec<Option<u64>> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Bad(Some(game)) => Some(game.game),
                _ => None,
            })
            .collect();
        keep("drop-bad-games", &mut records, &mut |record| !bad_games.contains(&record.game));
    }
    if let Some((first, last)) = options.plies {
        let within = |ply: u32| ply >= first && last.is_none_or(|last| ply <= last);
        keep("plies", &mut records, &mut |record| record.ply.is_some_and(within));
    }
    if let Some(book) = options.skip_book {
        keep("skip-book", &mut records, &mut |record| record.ply.is_some_and(|ply| ply >= book));
    }
    if let Some(every) = options.every {
        let mut of_game: BTreeMap<Option<u64>, u32> = BTreeMap::new();
        keep("every", &mut records, &mut |record| {
            let number = of_game.entry(record.game).or_default();
            *number += 1;
            (*number - 1).is_multiple_of(every)
        });
    }
    if options.last {
        let mut last: BTreeMap<Option<u64>, u64> = BTreeMap::new();
        for record in &records {
            last.insert(record.game, record.index);
        }
        keep("last", &mut records, &mut |record| last.get(&record.game) == Some(&record.index));
    }
    if let Some(most) = options.max_per_game {
        let mut so_far = options.clone();
        (so_far.condition, so_far.sample, so_far.set, so_far.skip, so_far.limit) = (None, None, None, None, None);
        let taken = oracle.taken(&so_far, ["game", "ply"])?;
        let is_taken = |record: &Record| taken.contains(&[record.game.unwrap_or(0), record.ply.unwrap_or(0).into()]);
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        for record in &records {
            *before.entry(record.game).or_insert(0u32) += 1;
            *after.entry(record.game).or_insert(0u32) += u32::from(is_taken(record));
        }
        keep("max-per-game", &mut records, &mut |record| is_taken(record));
        if records.len() != taken.len() {
            return Err("--max-per-game takes a position that the options before it left out".to_owned());
        }
        for (game, number) in before {
            if after[&game] != number.min(most) {
                return Err(format!(
                    "--max-per-game {most} takes {} of {number} positions of game {game:?}",
                    after[&game]
                ));
            }
        }
    }
    // Records are numbered as they come out of the options for games and positions, bad ones included.
    let mut numbered: Vec<u64> = records.iter().map(|record| record.index).chain(bad.iter().copied()).collect();
    numbered.sort_unstable();
    let number = |index: u64| numbered.binary_search(&index).map_or(0, |number| number as u64);
    for record in &mut records {
        record.index = number(record.index);
    }
    for index in bad.iter_mut() {
        *index = number(*index);
    }
    if let Some(condition) = &options.condition {
        keep("where", &mut records, &mut |record| condition.takes(record));
    }
    let seed = options.seed.unwrap_or(0);
    match &options.sample {
        None => {}
        Some(Sample::Rate(rate)) => {
            let rate = f64::from(*rate) / 1000.0;
            keep("sample", &mut records, &mut |record| uniform(&[record.index, seed]) < rate);
        }
        Some(Sample::Case(condition, yes, no)) => keep("sample", &mut records, &mut |record| {
            let rate = if condition.takes(record) { *yes } else { *no };
            uniform(&[record.index, seed]) < f64::from(rate) / 1000.0
        }),
        Some(Sample::Number(number)) => {
            let mut so_far = options.clone();
            (so_far.set, so_far.skip, so_far.limit) = (None, None, None);
            let taken = oracle.taken(&so_far, ["index", "fullmove"])?;
            let there = records.len() as u64;
            keep("sample", &mut records, &mut |record| taken.iter().any(|taken| taken[0] == record.index));
            if records.len() as u64 != there.min(*number) || taken.len() != records.len() {
                return Err(format!(
                    "--sample {number} takes {} of {there} records, {} of them known",
                    taken.len(),
                    records.len()
                ));
            }
        }
    }
    Ok(records)
}

/// The record with a new value, or nothing if the value does not fit.
fn set(record: &Record, target: Target, value: &Value) -> Option<Record> {
    let mut changed = record.clone();
    match (target, value) {
        (Target::Result, Value::Result(condition, result)) => {
            if condition.takes(record) {
                changed.result = Some(*result);
            }
        }
        (_, Value::Result(..)) | (Target::Result, _) => unreachable!("a value of another type"),
        (target, Value::Number(number)) => {
            let number = number.of(record);
            match target {
                Target::Score | Target::RawScore => {
                    changed.score = number.map(i16::try_from).transpose().ok()?.map(i32::from);
                    changed.mate = changed.mate.filter(|_| number.is_none());
                }
                Target::Ply => changed.ply = number.map(u16::try_from).transpose().ok()?.map(u32::from),
                Target::Halfmove => changed.position.halfmove = u16::try_from(number?).ok()?,
                Target::Result => unreachable!("above"),
            }
        }
    }
    Some(changed)
}

/// What is equal for `dedup`.
pub(crate) fn key_of(key: Key, record: &Record) -> String {
    let fen = record.position.to_string();
    let fields: Vec<&str> = fen.split(' ').collect();
    match key {
        Key::Board => fields[0].to_owned(),
        Key::Stm => fields[..2].join(" "),
        Key::Castling => fields[..3].join(" "),
        Key::Position => fields[..4].join(" "),
        Key::Relative if record.white_moves() => fields[..4].join(" "),
        Key::Relative => exchanged(&record.position).to_string().split(' ').take(4).collect::<Vec<_>>().join(" "),
        // Equal records of several games are equal.
        Key::Record => format!("{:?}", Record { game: None, ..record.clone() }.row()),
    }
}

/// The position with colours exchanged and ranks reversed.
fn exchanged(position: &Position) -> Position {
    let mut other = Position::empty();
    for square in position.occupied() {
        let mut piece = position.piece_at(square).expect("a piece");
        piece.color = !piece.color;
        other.put(square.flip_vertical(), piece);
    }
    other.side_to_move = !position.side_to_move;
    other.castling.0 = position.castling.0.into_iter().map(Square::flip_vertical).collect();
    other.en_passant = position.en_passant.map(Square::flip_vertical);
    other
}

pub(crate) fn keep_text(keep: Keep) -> String {
    match keep {
        Keep::First => "first".to_owned(),
        Keep::Last => "last".to_owned(),
        Keep::Most(column) => format!("most:{}", column.name()),
        Keep::Least(column) => format!("least:{}", column.name()),
    }
}

/// One record of each kind, in the order of the input.
pub(crate) fn distinct(records: &[Record], against: &[Record], (key, keep): (Key, Keep), counts: bool) -> Vec<Record> {
    let there: Vec<String> = against.iter().map(|record| key_of(key, record)).collect();
    let mut kinds: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for (place, record) in records.iter().enumerate() {
        let key = key_of(key, record);
        if there.contains(&key) {
            continue;
        }
        let kind = kinds.entry(key).or_insert((place, 0));
        kind.1 += 1;
        let better = |column: Column, sign: i64| match (column.of(record), column.of(&records[kind.0])) {
            (Some(new), Some(old)) => sign * new > sign * old,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let replaces = match keep {
            Keep::First => false,
            Keep::Last => true,
            Keep::Most(column) => better(column, 1),
            Keep::Least(column) => better(column, -1),
        };
        if replaces {
            kind.0 = place;
        }
    }
    let mut kept: Vec<(usize, u64)> = kinds.into_values().collect();
    kept.sort_unstable();
    kept.into_iter().map(|(place, count)| Record { count: counts.then_some(count), ..records[place].clone() }).collect()
}

/// What a whole command must give.
pub(crate) fn expected(
    case: &Case,
    parts: &[Vec<Entry>],
    against: &[Entry],
    oracle: &mut dyn Oracle,
) -> Result<Expected, String> {
    if let Some(reason) = refusal(case, parts) {
        return Ok(Expected { stops: Some(reason), ..Expected::default() });
    }
    if let Job::Dedup { against: Some(input), .. } = &case.job
        && is_empty(input, against)
        && case.options.strict
    {
        return Ok(Expected { stops: Some("nothing in --against with --strict"), ..Expected::default() });
    }
    let entries = combined(parts);
    if case.job == Job::Games {
        return Ok(games(&case.options, &entries));
    }
    let mut expected = chosen(&case.options, &entries, oracle)?;
    if let Job::Dedup { key, keep, counts, .. } = &case.job {
        let mut others = Vec::new();
        for entry in against {
            match entry {
                Entry::Good(record) => others.push(record.clone()),
                Entry::Bad(_) => expected.bad_there += 1,
            }
        }
        // What the output cannot hold is refused before equal records are left out.
        let (held, refused) = held(case.to, &expected.chosen);
        expected.rejected += refused;
        expected.chosen = distinct(&held, &others, (*key, *keep), *counts);
    }
    let by_game = matches!(
        case.job,
        Job::Shuffle { by_game: true } | Job::Interleave { by_game: true } | Job::Split { by: "game" }
    );
    // What is refused is not asked for its game.
    if by_game && held(case.to, &expected.chosen).0.iter().any(|record| record.game.is_none()) {
        expected.stops = Some("records without a game");
    }
    if case.writes() {
        let written = stored(case.to, &expected.chosen);
        if !matches!(case.job, Job::Dedup { .. }) {
            expected.rejected += written.rejected;
        }
        expected.changed = written.changed;
        expected.records = written.records;
        if written.changed && !case.options.allow_loss {
            expected.stops = Some("records would be changed");
        }
    }
    if case.options.strict && expected.rejected + expected.bad_there > 0 {
        expected.stops = Some("a bad record with --strict");
    }
    Ok(expected)
}
