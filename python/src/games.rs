//! Selection of games and of their positions, from a dict with the options of the command line.

use lanefish::choose::{EcoRange, GameFilter, TimeControl};
use lanefish::games::{Date, Outcome, Variant};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::fmt::Display;
use std::str::FromStr;

/// The names of all options, for messages.
const NAMES: &str = "variations, drop_bad_games, plies, skip_book, every, last, max_per_game, seed, min_elo, max_elo, \
                     time_control, result, min_plies, termination, eco, since, until, variant";

/// Reads a selection from a dict.
pub(crate) fn selection(games: &Bound<'_, PyDict>) -> PyResult<GameFilter> {
    let mut selection = GameFilter::default();
    for (name, value) in games {
        let name: String = name.extract()?;
        selection = set(selection, &name, &value).map_err(|wrong| {
            let py = games.py();
            if wrong.is_instance_of::<PyTypeError>(py) {
                PyTypeError::new_err(format!("games[{name:?}]: {}", wrong.value(py)))
            } else {
                PyValueError::new_err(format!("games[{name:?}]: {}", wrong.value(py)))
            }
        })?;
    }
    Ok(selection)
}

fn set(selection: GameFilter, name: &str, value: &Bound<'_, PyAny>) -> PyResult<GameFilter> {
    Ok(match name {
        "variations" => selection.variations(value.extract()?),
        "drop_bad_games" => selection.drop_bad_games(value.extract()?),
        "plies" => {
            let (first, last): (u32, Option<u32>) = value.extract()?;
            if last.is_some_and(|last| last < first) {
                return Err(PyValueError::new_err("the last ply comes before the first"));
            }
            selection.first_ply(first).last_ply(last)
        }
        "skip_book" => selection.skip_book(value.extract()?),
        "every" => match value.extract()? {
            0 => return Err(PyValueError::new_err("must be 1 or more")),
            every => selection.every(every),
        },
        "last" => selection.last(value.extract()?),
        "max_per_game" => selection.max_per_game(Some(value.extract()?)),
        "seed" => selection.seed(value.extract()?),
        "min_elo" => selection.min_elo(Some(value.extract()?)),
        "max_elo" => selection.max_elo(Some(value.extract()?)),
        "time_control" => selection.time_controls(several::<TimeControl>(value)?),
        "result" => {
            let results = texts(value)?.into_iter().map(|text| match &*text {
                "*" => Ok(None),
                text => Outcome::from_token(text.as_bytes())
                    .map(Some)
                    .ok_or_else(|| PyValueError::new_err("expected '1-0', '0-1', '1/2-1/2' or '*'")),
            });
            selection.results(results.collect::<PyResult<_>>()?)
        }
        "min_plies" => selection.min_plies(value.extract()?),
        "termination" => selection.terminations(texts(value)?),
        "eco" => selection.ecos(several::<EcoRange>(value)?),
        "since" => selection.since(Some(parsed::<Date>(&value.extract::<String>()?)?)),
        "until" => selection.until(Some(parsed::<Date>(&value.extract::<String>()?)?)),
        "variant" => selection.variant(Some(match &*value.extract::<String>()? {
            "standard" => Variant::Standard,
            "chess960" => Variant::Chess960,
            _ => return Err(PyValueError::new_err("expected 'standard' or 'chess960'")),
        })),
        _ => {
            return Err(PyValueError::new_err(format!("no such option; there are {NAMES}")));
        }
    })
}

/// One text, or several.
fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        Ok(vec![value.extract()?])
    } else {
        value.try_iter()?.map(|text| text?.extract()).collect()
    }
}

fn several<T: FromStr<Err: Display>>(value: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    texts(value)?.iter().map(|text| parsed(text)).collect()
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> PyResult<T> {
    text.parse().map_err(|wrong: T::Err| PyValueError::new_err(wrong.to_string()))
}
