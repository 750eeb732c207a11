//! Makes a case that differs as small as it can be while it still differs.

use super::compare::{Difference, difference};
use super::generate::{Case, Input, Job};
use super::options::NAMES;
use super::texts::{Notation, Wrapping};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The smallest case found within a minute, and its difference.
pub(crate) fn shrunk(case: Case, found: Difference) -> (Case, Difference) {
    let (mut best, mut found) = (case, found);
    let end = Instant::now() + Duration::from_secs(60);
    let kind =
        |difference: &Difference| difference.what.split([':', '`']).next().unwrap_or("").replace(char::is_numeric, "");
    let kind_found = kind(&found);
    'again: loop {
        for smaller in smaller(&best) {
            if Instant::now() > end {
                break 'again;
            }
            if let Some(other) = difference(&smaller).filter(|other| kind(other) == kind_found) {
                (best, found) = (smaller, other);
                continue 'again;
            }
        }
        break;
    }
    (best, found)
}

/// Cases that are a little smaller.
fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    for place in 0..case.inputs.len() {
        if case.inputs.len() > 1 {
            let mut fewer = case.clone();
            fewer.inputs.remove(place);
            all.push(fewer);
        }
    }
    for name in NAMES {
        let options = case.options.without(name);
        if options != case.options {
            all.push(Case { options, ..case.clone() });
        }
    }
    if !case.compressed.is_empty() {
        all.push(Case { compressed: "", ..case.clone() });
    }
    if case.by.is_some() {
        all.push(Case { by: None, ..case.clone() });
    }
    for place in 0..case.inputs.len() {
        for input in smaller_inputs(&case.inputs[place]) {
            let mut other = case.clone();
            other.inputs[place] = input;
            all.push(other);
        }
    }
    if let Job::Dedup { key, keep, against: Some(input), counts } = &case.job {
        let job = |against| Job::Dedup { key: *key, keep: *keep, against, counts: *counts };
        all.push(Case { job: job(None), ..case.clone() });
        all.extend(smaller_inputs(input).into_iter().map(|input| Case { job: job(Some(input)), ..case.clone() }));
    }
    all
}

fn smaller_inputs(input: &Input) -> Vec<Input> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Input)| {
        let mut other = input.clone();
        change(&mut other);
        if other != *input {
            all.push(other);
        }
    };
    with(&|other| other.wrapping = Wrapping::None);
    with(&|other| other.shuffled = false);
    with(&|other| other.bad_lines.clear());
    let half = input.games.len() / 2;
    if half > 0 {
        with(&|other| other.games.truncate(half));
        with(&|other| drop(other.games.drain(..half)));
    }
    for place in 0..input.games.len() {
        with(&|other| drop(other.games.remove(place)));
        let moves = input.games[place].moves.len();
        for length in [0, moves / 2, moves.saturating_sub(1)] {
            with(&|other| {
                other.games[place].moves.truncate(length);
                other.games[place].scores.truncate(length);
            });
        }
        with(&|other| other.games[place].bad_at = None);
        with(&|other| other.games[place].notation = Notation::San);
        with(&|other| other.games[place].tags = Rc::default());
    }
    all
}
