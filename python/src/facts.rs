//! `columns` and `cpu`: the available columns, and the features of this CPU.

use crate::reading;
use lanefish::jobs::GameColumn;
use lanefish::table::{COLUMNS, Columns, FAMILIES, LEGAL_MOVE_COLUMNS, TAGS};
use lanefish::tiers::Tier;
use lanefish_core::cpu as processor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Lists all columns: one dict per column, with its name, type and meaning, and whether it is one of the defaults.
///
/// These are the columns of positions, which `compute` and `scan` have, or with `of="games"` those of `lanefish.games`.
///
/// >>> import lanefish
/// >>> [column["type"] for column in lanefish.columns() if column["name"] == "legal_moves"]
/// ['u16']
/// >>> [column["type"] for column in lanefish.columns(of="games") if column["name"] == "match_count"]
/// ['u32']
#[pyfunction]
#[pyo3(signature = (of="positions"))]
pub(crate) fn columns<'py>(py: Python<'py>, of: &str) -> PyResult<Bound<'py, PyList>> {
    let defaults: Vec<&str> = Columns::DEFAULT.split(',').collect();
    let mut listed: Vec<([&str; 3], bool)> = match of {
        "positions" => COLUMNS
            .iter()
            .chain(LEGAL_MOVE_COLUMNS)
            .map(|column| ([column.name, column.kind.name(), column.meaning], defaults.contains(&column.name)))
            .collect(),
        "games" => GameColumn::all()
            .iter()
            .map(|column| ([column.name(), column.kind().name(), column.meaning()], column.is_usual()))
            .collect(),
        _ => return Err(PyValueError::new_err("of must be 'positions' or 'games'")),
    };
    let families = if of == "positions" { &FAMILIES[..] } else { &[&TAGS] };
    listed.extend(families.iter().map(|family| ([family.pattern, family.kind.name(), family.meaning], false)));
    let all = PyList::empty(py);
    for ([name, kind, meaning], is_default) in listed {
        let column = PyDict::new(py);
        column.set_item("name", name)?;
        column.set_item("type", kind)?;
        column.set_item("meaning", meaning)?;
        column.set_item("default", is_default)?;
        all.append(column)?;
    }
    Ok(all)
}

/// Describes this CPU: its features, which implementation (tier) is used, and why. `LANEFISH_TIER` sets another one.
///
/// >>> import lanefish
/// >>> lanefish.cpu()["tier"] in lanefish.cpu()["tiers"]
/// True
#[pyfunction]
pub(crate) fn cpu(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let analyzer = reading::analyzer(py)?;
    let tier = analyzer.tier();
    let names = |present: bool| -> Vec<&str> {
        let features = processor::features().into_iter().filter(|feature| feature.present == present);
        features.map(|feature| feature.name).collect()
    };
    let facts = PyDict::new(py);
    facts.set_item("version", env!("CARGO_PKG_VERSION"))?;
    facts.set_item("cpu", processor::model())?;
    facts.set_item("architecture", std::env::consts::ARCH)?;
    facts.set_item("cores", reading::threads(None)?)?;
    facts.set_item("features", names(true))?;
    facts.set_item("missing", names(false))?;
    facts.set_item("tiers", Tier::available().map(Tier::name).collect::<Vec<_>>())?;
    facts.set_item("tier", tier.name())?;
    facts.set_item("uses", analyzer.features())?;
    facts.set_item(
        "why",
        match std::env::var("LANEFISH_TIER").as_deref() {
            Err(_) | Ok("" | "auto") => tier.why().to_owned(),
            Ok(_) => format!("{tier} was requested by LANEFISH_TIER"),
        },
    )?;
    Ok(facts)
}
