//! Selection of games and of their positions, from a dict with the options of the command line, and by a sequence of
//! positions.

use crate::error;
use lanefish::choose::{Definitions, GameFilter, GameOption, GameOptionStage, PositionSequence, SequenceWord};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Why options that choose among positions are errors where whole games are taken.
pub(crate) const WHOLE_GAMES: &str = "lanefish.games does not take it, because it has one row per whole game";

/// Reads a filter from a dict. Where whole games are taken, options that choose among their positions are errors.
pub(crate) fn filter(games: &Bound<'_, PyDict>, takes_whole_games: bool) -> PyResult<GameFilter> {
    let mut filter = GameFilter::default();
    for (name, value) in games {
        let name: String = name.extract()?;
        set(&mut filter, &name, &value, takes_whole_games).map_err(|wrong| {
            let py = games.py();
            if wrong.is_instance_of::<PyTypeError>(py) {
                PyTypeError::new_err(format!("games[{name:?}]: {}", wrong.value(py)))
            } else {
                PyValueError::new_err(format!("games[{name:?}]: {}", wrong.value(py)))
            }
        })?;
    }
    Ok(filter)
}

/// Reads a sequence of positions: a condition, or pairs of a word (`having`, `then`, `next`) and a condition.
pub(crate) fn sequence(having: &Bound<'_, PyAny>, definitions: &Definitions) -> PyResult<PositionSequence> {
    let conditions: Vec<(String, String)> = match having.extract::<String>() {
        Ok(condition) => vec![(SequenceWord::Having.name().to_owned(), condition)],
        Err(_) => having.extract()?,
    };
    let mut words = Vec::new();
    for (word, condition) in conditions {
        let Some(known) = SequenceWord::ALL.into_iter().find(|known| known.name() == word) else {
            return Err(PyValueError::new_err(format!("having: {word:?} is none of having, then and next")));
        };
        words.push((known, condition));
    }
    PositionSequence::parse(words, definitions)
        .map_err(|(word, wrong)| error::message(having.py(), format!("having: {}: {wrong}", word.name())))
}

fn set(filter: &mut GameFilter, name: &str, value: &Bound<'_, PyAny>, takes_whole_games: bool) -> PyResult<()> {
    let Some(option) = GameOption::named(name).filter(|_| !name.contains('-')) else {
        let names: Vec<String> = GameOption::ALL.iter().map(|option| option.name.replace('-', "_")).collect();
        return Err(PyValueError::new_err(format!("no such option; there are {}", names.join(", "))));
    };
    if takes_whole_games && option.stage == GameOptionStage::Positions {
        return Err(PyValueError::new_err(WHOLE_GAMES));
    }
    for text in texts(option, value)? {
        option.set(filter, &text).map_err(PyValueError::new_err)?;
    }
    Ok(())
}

/// The values as they are on the command line.
fn texts(option: &GameOption, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if option.value.is_empty() {
        let is_set: bool = value.extract()?;
        return Ok(if is_set { vec![String::new()] } else { Vec::new() });
    }
    if option.takes_several && !value.is_instance_of::<PyString>() {
        return value.try_iter()?.map(|text| text?.extract()).collect();
    }
    if option.is_number {
        return Ok(vec![value.extract::<i128>()?.to_string()]);
    }
    // A range of plies.
    if let Ok((first, last)) = value.extract::<(u32, Option<u32>)>() {
        return Ok(vec![format!("{first}..{}", last.map_or_else(String::new, |last| last.to_string()))]);
    }
    Ok(vec![value.extract()?])
}
