//! `sql`: queries over files and over data in memory.

#[cfg_attr(not(feature = "sql"), path = "sql/without_engine.rs")]
mod engine;

use crate::input;
use crate::reading::Keywords;
use crate::table::Table;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A query, as users pass it.
#[cfg_attr(not(feature = "sql"), allow(dead_code, reason = "only an engine reads it"))]
struct Query<'a, 'py> {
    text: &'a str,
    /// The tables by name.
    tables: Vec<(String, Bound<'py, PyAny>)>,
    keywords: Keywords<'a, 'py>,
    recompute: bool,
    memory: Option<u64>,
    temp: Option<PathBuf>,
}

/// Answers a query of SQL over files and over data in memory, as `lanefish sql` does. The wheel has to be built with the
/// feature `sql`; otherwise, the error has the command.
///
/// A path in single quotes is a table: 'games.pgn.zst', a directory, or a pattern. Its columns are those that `columns()`
/// lists, and only those that the query names are computed. All further keywords are tables, too: anything with the Arrow
/// PyCapsule interface, or a list of FENs as the column `fen`. Columns of positions are also functions: `legal_moves(fen)`.
/// Several statements are separated by semicolons; one of them may have rows.
///
/// The result is a table like that of `compute`. An `Error` has the place in the query. With `on_bad="raise"`, bad records
/// in the files raise an `Error` when they have been read; with "skip", they are left out, and `rejected` of the table counts
/// them. A function of anything that is not a position is null, and the `notes` of the table say how often.
///
/// `memory` (bytes; 4 GiB by default) limits grouping, joins and sorting, which then use temporary files in the folder
/// `temp`. `recompute` computes columns also where they stand in Parquet files that lanefish wrote. The other arguments are
/// those of `scan`, but for those that choose records, which the query does. Arrow data are a table also as `games`.
///
/// >>> import lanefish
/// >>> fens = ["8/8/8/8/8/8/6k1/4K2R w K - 0 1", "8/8/8/8/8/8/8/K1k5 w - - 0 1"]
/// >>> lanefish.sql("select fen, legal_moves(fen) as moves from t where legal_moves(fen) > 1", t=fens).to_pydict()
/// {'fen': ['8/8/8/8/8/8/6k1/4K2R w K - 0 1'], 'moves': [12]}
#[pyfunction]
#[pyo3(signature = (
    query, /, *, on_bad="raise", threads=None, fen_column=None, moves_column=None, start_column=None, from_format=None,
    validity="playable", keep_en_passant=false, games=None, having=None, r#let=None, recompute=false, memory=None,
    temp=None, progress=false, **tables
))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn sql<'py>(
    py: Python<'py>,
    query: &str,
    on_bad: &str,
    threads: Option<usize>,
    fen_column: Option<String>,
    moves_column: Option<String>,
    start_column: Option<String>,
    from_format: Option<&str>,
    validity: &str,
    keep_en_passant: bool,
    games: Option<&Bound<'py, PyAny>>,
    having: Option<&Bound<'py, PyAny>>,
    r#let: Option<&Bound<'py, PyDict>>,
    recompute: bool,
    memory: Option<u64>,
    temp: Option<PathBuf>,
    progress: bool,
    tables: Option<&Bound<'py, PyDict>>,
) -> PyResult<Table> {
    let mut named = Vec::new();
    for (name, data) in tables.into_iter().flatten() {
        let name: String = name.extract()?;
        check_table(py, &name, &data)?;
        named.push((name, data));
    }
    let mut filter = None;
    match games {
        Some(games) if input::is_arrow(games)? => named.push(("games".to_owned(), games.clone())),
        Some(games) => filter = Some(games.cast::<PyDict>()?),
        None => {}
    }
    let keywords = Keywords {
        on_bad,
        threads,
        fen_column,
        moves_column,
        start_column,
        from_format,
        skip: 0,
        limit: None,
        shard: None,
        validity,
        keep_en_passant,
        games: filter,
        having,
        condition: None,
        sample: None,
        definitions: r#let,
        seed: 0,
        progress,
        function: "sql",
        set: None,
        takes_whole_games: false,
    };
    engine::run(py, Query { text: query, tables: named, keywords, recompute, memory, temp })
}

/// Checks that this keyword is a table.
fn check_table(py: Python<'_>, name: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
    use pyo3::types::{PyList, PyTuple};

    if input::is_arrow(data)? || data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>() {
        return Ok(());
    }
    if ["shard", "skip", "limit", "where", "sample", "seed"].contains(&name) {
        let message = format!("lanefish.sql does not take {name}: its statements choose the records");
        return Err(crate::error::message(py, message));
    }
    let found = data.get_type().name()?;
    Err(PyTypeError::new_err(format!("{name}: expected a table, which is Arrow data or a list of FENs, found {found}")))
}
