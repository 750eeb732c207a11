//! Runs a case and its model and says how they differ.

use super::expected::{Expected, Oracle, combined, expected};
use super::generate::{Case, Input, Job};
use super::judge_outputs;
use super::options::Options;
use super::records::{COLUMNS, DERIVED, Entry, Format, Record, histories, stored};
use super::run::{Done, Place, Prepared, Row, arguments, split_rows, typed};
use super::texts::Wrapping;
use std::collections::BTreeMap;
use std::fs;

/// A difference, for people.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) what: String,
    /// The commands that show it.
    pub(crate) typed: Vec<String>,
}

/// The program as the oracle for choices that no document fixes.
struct Asked<'a> {
    place: &'a Place,
    inputs: &'a [Prepared],
}

impl Oracle for Asked<'_> {
    fn taken(&mut self, options: &Options, columns: [&str; 2]) -> Result<Vec<[u64; 2]>, String> {
        let mut arguments = vec!["compute".to_owned()];
        arguments.extend(self.inputs.iter().map(|input| input.argument.clone()));
        arguments.extend(["--columns", &*columns.join(","), "--format", "csv", "-q"].map(str::to_owned));
        let mut options = options.clone();
        (options.strict, options.manifest, options.allow_loss) = (false, false, false);
        arguments.extend(options.arguments());
        let piped = self.inputs.iter().find_map(|input| input.piped.clone());
        let done = self.place.run(&arguments, piped.as_deref());
        if done.status == 2 || done.status < 0 {
            return Err(format!("{} ended with {}: {}", typed(&arguments, piped.as_deref()), done.status, done.stderr));
        }
        let number = |cell: Option<&String>| cell.and_then(|cell| cell.parse().ok()).unwrap_or(0);
        Ok(split_rows(&done.stdout).iter().map(|row| [number(row.first()), number(row.last())]).collect())
    }
}

/// The entries of an input as the command meets it.
pub(crate) fn entries(input: &Input) -> Vec<Entry> {
    let (_, entries) = input.written();
    let Some(format) = input.converted else {
        return entries;
    };
    let good: Vec<Record> = entries
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Good(record) => Some(record),
            Entry::Bad(_) => None,
        })
        .collect();
    stored(format, &good).records.into_iter().map(Entry::Good).collect()
}

/// Runs a case in every way. `None`: it is as the model says, or the case asks for nothing that stands together.
pub(crate) fn difference(case: &Case) -> Option<Difference> {
    let mut place = Place::new();
    let what = compared(case, &mut place).err()?;
    Some(Difference { what, typed: place.typed })
}

fn compared(case: &Case, place: &mut Place) -> Result<(), String> {
    let against = match &case.job {
        Job::Dedup { against: Some(input), .. } => Some(input),
        _ => None,
    };
    // What the program refuses to convert, or an empty file that is none, is no input.
    let is_input = |input: &Input| {
        let to_viri = input.converted == Some(Format::Viri);
        let can_be_empty = input.format().is_text() && input.wrapping != Wrapping::Pipe;
        (!to_viri || input.text.has_moves()) && (can_be_empty || !entries(input).is_empty())
    };
    if !case.inputs.iter().chain(against).all(is_input) {
        return Ok(());
    }
    let mut prepared = Vec::new();
    for (number, input) in case.inputs.iter().enumerate() {
        prepared.push(place.prepare(&format!("in{number}"), input)?);
    }
    let mut parts: Vec<Vec<Entry>> = Vec::new();
    for (input, prepared) in case.inputs.iter().zip(&prepared) {
        parts.push(met(place, input, prepared)?);
    }
    let mut against = None;
    let mut other = Vec::new();
    if let Job::Dedup { against: Some(input), .. } = &case.job {
        let prepared = place.prepare("against", input)?;
        other = met(place, input, &prepared)?;
        against = Some(prepared);
    }
    if case.options.shard.is_some() {
        return Ok(());
    }
    let model = expected(case, &parts, &other, &mut Asked { place, inputs: &prepared })?;
    let piped = prepared.iter().find_map(|input| input.piped.clone());
    let plain = arguments(case, &prepared, against.as_ref(), &case.output("out"));
    let done = place.run_typed(&plain, piped.as_deref());
    judged(case, &model, &done, place)?;
    match case.job {
        Job::Shards(of) => judge_outputs::shares(case, &model, place, &prepared, of)?,
        Job::Merge(of) => judge_outputs::merged(case, &model, place, (&prepared, &done), of)?,
        _ => {}
    }
    // The same bytes in every tier, with any number of threads, and with little memory.
    for (start, more) in [("one", "--threads=1 --tier=portable"), ("four", "--threads=4 --memory=1K")] {
        let mut again = arguments(case, &prepared, against.as_ref(), &case.output(start));
        let more = more.split(' ').filter(|word| !word.starts_with("--memory") || takes_memory(case));
        again.extend(more.map(str::to_owned));
        let other = place.run(&again, piped.as_deref());
        let shown = || typed(&again, piped.as_deref());
        if other.status != done.status {
            return Err(format!("status {} with {}, {} without: {}", other.status, shown(), done.status, other.stderr));
        }
        for (first, second) in case.outputs("out").iter().zip(case.outputs(start)) {
            let [first, second] = [first, &second].map(|name| fs::read(place.path(name)).ok());
            if first != second {
                return Err(format!("other bytes with {}", shown()));
            }
        }
        if !matches!(case.job, Job::Stats | Job::Merge(_)) && other.stdout != done.stdout {
            return Err(format!("another output with {}", shown()));
        }
    }
    Ok(())
}

fn takes_memory(case: &Case) -> bool {
    !matches!(case.job, Job::Verify | Job::Games)
}

/// The entries of an input, checked against what `compute` shows of it alone. Those of a shuffled file are in its order.
fn met(place: &Place, input: &Input, prepared: &Prepared) -> Result<Vec<Entry>, String> {
    let mut entries = combined(&[entries(input)]);
    if entries.is_empty() {
        return Ok(entries);
    }
    let (rows, done) = place.rows(std::slice::from_ref(prepared), &[])?;
    let wanted: Vec<Row> = good(&entries).iter().map(Record::row).collect();
    if input.shuffled {
        let mut left = good(&entries);
        entries.clear();
        for row in &rows {
            // Chains are made anew: their numbers are others.
            let from = if input.format().stores_chains() { 3 } else { 0 };
            let alike = |other: &Row| other[0] == row[0] && other[from..] == row[from..];
            let found = left.iter().position(|record| alike(&record.row()));
            let found = found.ok_or_else(|| format!("shuffling made a record that was not there: {row:?}"))?;
            let mut record = left.remove(found);
            if input.format().stores_chains() {
                (record.game, record.ply) = (row[1].parse().ok(), row[2].parse().ok());
            }
            entries.push(Entry::Good(record));
        }
        let records = entries.iter_mut().filter_map(|entry| match entry {
            Entry::Good(record) => Some(record),
            Entry::Bad(_) => None,
        });
        histories(input.format(), &mut records.collect::<Vec<_>>());
        return if left.is_empty() { Ok(entries) } else { Err("shuffling lost a record".to_owned()) };
    }
    let bad = entries.iter().filter(|entry| matches!(entry, Entry::Bad(_))).count() as u64;
    same_rows(&rows, &wanted).map_err(|what| format!("reading {}: {what}", prepared.argument))?;
    if done.rejected() != bad || (done.status == 1) != (bad > 0) {
        return Err(format!(
            "reading {}: status {}, {} rejects, not {bad}: {}",
            prepared.argument,
            done.status,
            done.rejected(),
            done.stderr
        ));
    }
    Ok(entries)
}

fn good(entries: &[Entry]) -> Vec<Record> {
    let good = |entry: &Entry| match entry {
        Entry::Good(record) => Some(record.clone()),
        Entry::Bad(_) => None,
    };
    entries.iter().filter_map(good).collect()
}

/// Says where rows differ first.
pub(crate) fn same_rows(got: &[Row], wanted: &[Row]) -> Result<(), String> {
    for (number, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        for (column, (got, wanted)) in COLUMNS.iter().chain([&DERIVED]).zip(got.iter().zip(wanted)) {
            if got != wanted {
                return Err(format!("row {number}: {column} is `{got}`, not `{wanted}`"));
            }
        }
    }
    if got.len() != wanted.len() {
        return Err(format!("{} rows, not {}", got.len(), wanted.len()));
    }
    Ok(())
}

/// Compares a run with the model.
fn judged(case: &Case, model: &Expected, done: &Done, place: &Place) -> Result<(), String> {
    let status = match model.stops {
        Some(_) => 2,
        None => i32::from(model.rejected + model.bad_there > 0),
    };
    // Whether a table has any value of a column is known at its end, and a limit may come first; it may also come before the
    // records that are scattered.
    let may_come_later = |reason: &str| reason.starts_with("no ") || reason == "scattered games";
    if model.stops.is_some_and(may_come_later) && case.options.limit.is_some() && done.status != 2 {
        return Ok(());
    }
    if done.status != status {
        let reason = model.stops.map_or(String::new(), |reason| format!(" ({reason})"));
        return Err(format!("status {}, not {status}{reason}: {}", done.status, done.stderr));
    }
    let written_to = case.outputs("out");
    if status == 2 {
        let left: Vec<&String> = written_to.iter().filter(|name| place.path(name).exists()).collect();
        return if left.is_empty() { Ok(()) } else { Err(format!("status 2, but there is {left:?}")) };
    }
    if done.rejected() != model.rejected {
        return Err(format!("{} rejects, not {}: {}", done.rejected(), model.rejected, done.stderr));
    }
    // Where the reading ends at a limit, options tell what they left out up to there.
    if case.options.limit.is_none() {
        for (name, number) in &model.left_out {
            let told = done.left_out(name);
            if told != *number {
                return Err(format!("--{name} left out {number}, but says {told}: {}", done.stderr));
            }
        }
    }
    judge_outputs::lists(case, model, done, place)?;
    match &case.job {
        Job::Stats => statistics(case, model, done),
        Job::Compute => judge_outputs::printed(model, done),
        Job::Games => judge_outputs::games(model, done),
        Job::Merge(_) | Job::Shards(_) | Job::Verify => Ok(()),
        _ => judge_outputs::files(case, model, place, &written_to),
    }
}

pub(crate) fn written(place: &Place, name: &str) -> Result<Vec<Row>, String> {
    let prepared = Prepared { argument: name.to_owned(), piped: None };
    Ok(place.rows(&[prepared], &[])?.0)
}

/// Some plain counts of `stats --json`.
pub(crate) fn statistics(case: &Case, model: &Expected, done: &Done) -> Result<(), String> {
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).map_err(|error| error.to_string())?;
    let records = &model.chosen;
    let count = |takes: &dyn Fn(&Record) -> bool| records.iter().filter(|record| takes(record)).count() as u64;
    let sum = |of: &dyn Fn(&Record) -> usize| records.iter().map(of).sum::<usize>() as u64;
    let result = |result| count(&|record| record.result == result);
    use super::records::Outcome;
    for (path, wanted) in [
        ("/positions", records.len() as u64),
        ("/rejected", model.rejected),
        ("/stm/white", count(&Record::white_moves)),
        ("/in_check", count(&|record| record.position.in_check())),
        ("/checkmate", count(&|record| record.position.is_checkmate())),
        ("/stalemate", count(&|record| record.position.is_stalemate())),
        ("/legal_moves/sum", sum(&|record| record.position.legal_moves().len())),
        ("/results/white", result(Some(Outcome::White))),
        ("/results/draw", result(Some(Outcome::Draw))),
        ("/results/black", result(Some(Outcome::Black))),
        ("/results/unknown", result(None)),
    ] {
        let got = json.pointer(path).and_then(serde_json::Value::as_u64);
        if got != Some(wanted) {
            return Err(format!("{path} is {got:?}, not {wanted}"));
        }
    }
    let Some((column, width)) = case.by else {
        return Ok(());
    };
    // The number of records and of legal moves in each range of values.
    let mut wanted: BTreeMap<Option<i64>, [u64; 2]> = BTreeMap::new();
    for record in records {
        let value = column.of(record).map(|value| value.div_euclid(width) * width);
        let [positions, moves] = wanted.entry(value).or_default();
        *positions += 1;
        *moves += record.position.legal_moves().len() as u64;
    }
    let groups = json.pointer("/groups/values").and_then(serde_json::Value::as_array);
    let group = |group: &serde_json::Value| {
        let number = |path| group.pointer(path).and_then(serde_json::Value::as_u64).unwrap_or(u64::MAX);
        let value = group.get("value").and_then(serde_json::Value::as_i64);
        (value, [number("/stats/positions"), number("/stats/legal_moves/sum")])
    };
    let got: BTreeMap<Option<i64>, [u64; 2]> = groups.into_iter().flatten().map(group).collect();
    match got == wanted {
        true => Ok(()),
        false => Err(format!("groups by {}/{width} are {got:?}, not {wanted:?}", column.name())),
    }
}
