//! What the outputs of commands must have that put records into an order of their own, or are made of several runs.

use super::compare::{same_rows, statistics, written};
use super::expected::Expected;
use super::generate::{Case, Job};
use super::options::Options;
use super::records::{COLUMNS, Format, Record, stored};
use super::run::{Done, Place, Prepared, Row, arguments, rejects, split_rows};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The rows of records, sorted. Chains are made anew by formats that store them: games and plies have other numbers.
fn sorted(case: &Case, rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.into_iter().map(|row| without_place(case, row)).collect();
    rows.sort();
    rows
}

fn without_place(case: &Case, mut row: Row) -> Row {
    if case.to.stores_chains() {
        drop(row.drain(1..3));
    }
    row
}

/// Rows of an output in an order of its own, in which a position without a move is left out where it happens to follow the
/// record before.
fn without_followers(case: &Case, model: &Expected, got: Vec<Row>) -> Result<(), String> {
    let each = model.chosen.iter().flat_map(|record| stored(case.to, std::slice::from_ref(record)).records);
    let (moves, ends): (Vec<Record>, Vec<Record>) = each.partition(|record| record.played.is_some());
    let mut ends = sorted(case, ends.iter().map(Record::row));
    let mut is_end = |row: &Row| ends.iter().position(|end| end == row).map(|place| ends.remove(place)).is_some();
    let rest: Vec<Row> = got.into_iter().filter(|row| !is_end(row)).collect();
    same_rows(&rest, &sorted(case, moves.iter().map(Record::row)))
}

/// `shuffle`: all records, and by game all of a game together in their order.
pub(crate) fn shuffled(case: &Case, model: &Expected, rows: &[Row], by_game: bool) -> Result<(), String> {
    let got = sorted(case, rows.iter().cloned());
    if case.to == Format::Binpack {
        return without_followers(case, model, got);
    }
    same_rows(&got, &sorted(case, model.records.iter().map(Record::row)))?;
    if by_game && !case.to.stores_chains() && has_games(case, model) {
        let mut left = model.records.clone();
        left.sort_by_key(|record| record.ply);
        let mut next: Option<(u64, usize)> = None;
        for row in rows {
            let game: u64 = row[1].parse().map_err(|_| format!("a record without a game: {row:?}"))?;
            let found = left.iter().position(|record| record.game == Some(game) && record.row() == *row);
            let found = found.ok_or_else(|| format!("a record that is not of this game: {row:?}"))?;
            // The first of the game that is left is the next.
            let first = left.iter().position(|record| record.game == Some(game));
            if first != Some(found) {
                return Err(format!("game {game} is in another order at {row:?}"));
            }
            if let Some((before, remaining)) = next
                && before != game
                && remaining > 0
            {
                return Err(format!("game {before} goes on behind game {game}"));
            }
            left.remove(found);
            next = Some((game, left.iter().filter(|record| record.game == Some(game)).count()));
        }
    }
    Ok(())
}

fn has_games(case: &Case, model: &Expected) -> bool {
    stored(case.to, &model.chosen).records.iter().all(|record| record.game.is_some())
}

/// `interleave`: all records, those of an input in their order.
pub(crate) fn interleaved(case: &Case, model: &Expected, rows: &[Row]) -> Result<(), String> {
    let got = sorted(case, rows.iter().cloned());
    if case.to == Format::Binpack {
        return without_followers(case, model, got);
    }
    same_rows(&got, &sorted(case, model.records.iter().map(Record::row)))?;
    let mut inputs_of: BTreeMap<Row, BTreeSet<usize>> = BTreeMap::new();
    for record in &model.records {
        inputs_of.entry(without_place(case, record.row())).or_default().insert(record.input);
    }
    for input in 0..case.inputs.len() {
        // Rows that other inputs have, too, may come from them.
        let only = |row: &Row| inputs_of.get(row).is_some_and(|inputs| inputs.len() == 1 && inputs.contains(&input));
        let got = rows.iter().map(|row| without_place(case, row.clone())).filter(only);
        let wanted = model.records.iter().map(|record| without_place(case, record.row())).filter(only);
        same_rows(&got.collect::<Vec<_>>(), &wanted.collect::<Vec<_>>())
            .map_err(|what| format!("the order of input {input}: {what}"))?;
    }
    Ok(())
}

/// `split`: each record in one part, in the order of the input; what is equal by the key in one part.
pub(crate) fn split(case: &Case, model: &Expected, parts: &[Vec<Row>], by: &str) -> Result<(), String> {
    if case.to.stores_chains() {
        // What one record tells of the next is in another place for each part.
        return Ok(());
    }
    same_rows(&sorted(case, parts.concat()), &sorted(case, model.records.iter().map(Record::row)))?;
    let mut part_of: BTreeMap<String, usize> = BTreeMap::new();
    for (place, part) in parts.iter().enumerate() {
        let mut left = model.records.iter();
        for row in part {
            let found = left.find(|record| record.row() == *row);
            found.ok_or_else(|| format!("part {place} is in another order at {row:?}"))?;
            let key = match by {
                "game" => row[1].clone(),
                // Without rights to castle, positions can become equal.
                "position" if !matches!(case.to, Format::Bullet | Format::Sfen) => {
                    row[0].split(' ').take(4).collect::<Vec<_>>().join(" ")
                }
                _ => continue,
            };
            // Without the game in the output, it is not known.
            if key.is_empty() {
                continue;
            }
            let first = *part_of.entry(key.clone()).or_insert(place);
            if first != place {
                return Err(format!("{key} is in parts {first} and {place}"));
            }
        }
    }
    Ok(())
}

/// `games`: a row for each game, in order.
pub(crate) fn games(model: &Expected, done: &Done) -> Result<(), String> {
    let rows = split_rows(&done.stdout);
    let got: Vec<u64> = rows.iter().filter_map(|row| row[0].parse().ok()).collect();
    match got == model.games {
        true => Ok(()),
        false => Err(format!("games {got:?}, not {:?}", model.games)),
    }
}

/// Whether it matters what a share knows of earlier records: that begins with the share, unless the records of a game come
/// out of one text.
fn looks_back(case: &Case) -> bool {
    case.options.arguments().iter().any(|word| word.contains("score_before"))
        && case.inputs.iter().any(|input| input.format() != Format::Pgn)
}

/// The records of several shares, one share after another, are those of the whole.
pub(crate) fn shares(case: &Case, model: &Expected, place: &Place, inputs: &[Prepared], of: u32) -> Result<(), String> {
    if looks_back(case) {
        return Ok(());
    }
    let (mut rows, mut rejected, mut stopped) = (Vec::new(), 0, 0);
    for share in 0..of {
        let done = share_of(case, place, inputs, share, of, &[]);
        match done.status {
            2 => stopped += 1,
            0 | 1 => rows.extend(split_rows(&done.stdout)),
            status => return Err(format!("share {share} of {of}: status {status}: {}", done.stderr)),
        }
        rejected += done.rejected();
    }
    if let Some(reason) = model.stops {
        // A share may lack what others have.
        let is_known = stopped > 0 || reason.starts_with("no ");
        return if is_known { Ok(()) } else { Err(format!("no share of {of} stops ({reason})")) };
    }
    // Shares of tables end within games.
    if stopped > 0 && case.options.looks_at_games() {
        return Ok(());
    }
    if stopped > 0 {
        return Err(format!("{stopped} shares of {of} end with status 2"));
    }
    if rejected != model.rejected {
        return Err(format!("{rejected} rejects in {of} shares, not {}", model.rejected));
    }
    // Games are numbered within the share.
    let without_game = |mut row: Row| {
        row.remove(1);
        row
    };
    let mut got: Vec<Row> = rows.into_iter().map(without_game).collect();
    let mut wanted: Vec<Row> = model.chosen.iter().map(|record| without_game(record.row())).collect();
    got.sort();
    wanted.sort();
    same_rows(&got, &wanted).map_err(|what| format!("in {of} shares, sorted: {what}"))
}

fn share_of(case: &Case, place: &Place, inputs: &[Prepared], share: u32, of: u32, more: &[&str]) -> Done {
    let options = Options { shard: Some((share, of)), ..case.options.clone() };
    let case = Case { options, ..case.clone() };
    let mut words = arguments(&case, inputs, None, "");
    words.extend(more.iter().map(|&word| word.to_owned()));
    place.run(&words, inputs.iter().find_map(|input| input.piped.clone()).as_deref())
}

/// The merged statistics of several shares are those of the whole.
pub(crate) fn merged(
    case: &Case,
    model: &Expected,
    place: &Place,
    (inputs, whole): (&[Prepared], &Done),
    of: u32,
) -> Result<(), String> {
    let mut names = Vec::new();
    if looks_back(case) {
        return Ok(());
    }
    for share in 0..of {
        let done = share_of(case, place, inputs, share, of, &[]);
        // Shares of all but PGN end within games.
        if done.status == 2 && (model.stops.is_some() || case.options.looks_at_games()) {
            return Ok(());
        }
        if !matches!(done.status, 0 | 1) {
            return Err(format!("share {share} of {of}: status {}: {}", done.status, done.stderr));
        }
        let name = format!("share{share}.json");
        fs::write(place.path(&name), &done.stdout).map_err(|error| error.to_string())?;
        names.push(name);
    }
    if let Some(reason) = model.stops {
        return if reason.starts_with("no ") { Ok(()) } else { Err(format!("no share of {of} stops ({reason})")) };
    }
    let words = [&["stats", "--json", "--merge"].map(str::to_owned)[..], &names].concat();
    let done = place.run(&words, None);
    if !matches!(done.status, 0 | 1) {
        return Err(format!("merging: status {}: {}", done.status, done.stderr));
    }
    statistics(case, model, &done).map_err(|what| format!("merged: {what}"))?;
    let [whole, merged] = [&whole.stdout, &done.stdout].map(|json| serde_json::from_slice::<serde_json::Value>(json));
    let (mut whole, mut merged) =
        (whole.map_err(|error| error.to_string())?, merged.map_err(|error| error.to_string())?);
    // The games in which shares end are kept for further merging, and shares do not see that the games of a file are
    // scattered.
    let is_shuffled = case.inputs.iter().any(|input| input.shuffled);
    for report in [&mut whole, &mut merged] {
        let groups = report.pointer_mut("/groups/values").and_then(serde_json::Value::as_array_mut);
        for stats in groups.into_iter().flatten().filter_map(|group| group.get_mut("stats")?.as_object_mut()) {
            stats.remove("open_games");
            let _ = is_shuffled.then(|| stats.remove("game_results"));
        }
    }
    let differs = |(key, value): &(&String, &serde_json::Value)| {
        !["run", "distinct", "sources"].contains(&key.as_str()) && merged.get(key) != Some(value)
    };
    match whole.as_object().and_then(|whole| whole.iter().find(differs)) {
        Some((key, value)) => Err(format!("merged: {key} is {:?}, not {value}", merged.get(key))),
        None => Ok(()),
    }
}

/// The rows that a command printed.
pub(crate) fn printed(model: &Expected, done: &Done) -> Result<(), String> {
    let wanted = model.chosen.iter().map(|record| {
        let mut row = record.row();
        row.push(record.score_before.map_or(String::new(), |score| score.to_string()));
        row
    });
    same_rows(&split_rows(&done.stdout), &wanted.collect::<Vec<_>>())
}

/// Judges what a command lists beside its output: rejects, manifests, files that it verified.
pub(crate) fn lists(case: &Case, model: &Expected, done: &Done, place: &Place) -> Result<(), String> {
    let rejected = model.rejected + model.bad_there;
    if case.options.rejects {
        let name = rejects(&case.output("out"));
        let list = fs::read_to_string(place.path(&name)).unwrap_or_default();
        if list.lines().count() as u64 != rejected {
            return Err(format!("{} lines in {name}, not {rejected}: {list}", list.lines().count()));
        }
    }
    let json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).map_err(|error| error.to_string());
    let number = |json: &serde_json::Value, path: &str| json.pointer(path).and_then(serde_json::Value::as_u64);
    if case.options.manifest && case.writes() {
        let mut written = 0;
        for name in case.outputs("out") {
            let name = format!("{name}.manifest.json");
            let manifest = fs::read(place.path(&name)).map_err(|error| format!("{name}: {error}"))?;
            written += number(&json(&manifest)?, "/output/records").ok_or_else(|| format!("{name}: no records"))?;
        }
        // What formats of chains do not write because it follows is told by none of them.
        if !case.to.stores_chains() && written != model.records.len() as u64 {
            return Err(format!("{written} records in manifests, not {}", model.records.len()));
        }
    }
    if case.job == Job::Verify {
        let json = json(&done.stdout)?;
        let files = json.pointer("/files").and_then(serde_json::Value::as_array);
        let told: u64 = files.into_iter().flatten().filter_map(|file| number(file, "/rejected")).sum();
        if told != rejected {
            return Err(format!("verify rejects {told}, not {rejected}"));
        }
    }
    Ok(())
}

/// Judges the files that a command wrote.
pub(crate) fn files(case: &Case, model: &Expected, place: &Place, outputs: &[String]) -> Result<(), String> {
    let mut parts = Vec::new();
    for name in outputs {
        // An empty file of most formats cannot be read.
        let rows = match written(place, name) {
            Err(what) if model.records.is_empty() || what.contains("no records: in this format") => Vec::new(),
            rows => rows?,
        };
        parts.push(rows);
    }
    match case.job {
        Job::Shuffle { by_game } => shuffled(case, model, &parts[0], by_game),
        Job::Interleave { .. } => interleaved(case, model, &parts[0]),
        Job::Split { by } => split(case, model, &parts, by),
        _ => same_rows(&parts[0], &model.records.iter().map(Record::row).collect::<Vec<_>>()),
    }
    .map_err(|what| format!("in {}: {what}", outputs[0]))
}

const _: () = assert!(COLUMNS.len() == 17, "the places of `game` and `ply`");
