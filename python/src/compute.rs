//! `compute`: columns of positions in memory.

use crate::input::Rows;
use crate::reading::NamedColumns;
use crate::scan::Scan;
use crate::signals::Signals;
use crate::table::Table;
use crate::{error, reading};
use lanefish::Error;
use lanefish::choose::Definitions;
use lanefish::input::Inputs;
use lanefish::jobs::{self, BadRows, ComputeOptions};
use lanefish::pipeline::ReadOptions;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Computes columns for positions. The result is a table that other packages accept as it is.
///
/// `data` is anything with the Arrow PyCapsule interface (an array of FEN, or a table with a column `fen` or `board`,
/// from pyarrow, polars, pandas, duckdb, ...), or any iterable of `str` and None. `columns` are names, as a list or
/// separated by commas; `columns()` lists them. `fen_column` names another column of a table.
///
/// If the rows of a table are games (a column of movetext, of moves as text or lists, or `movedata`), the result has a row
/// for each of their positions. `moves_column` and `start_column` name the columns of moves and of first positions.
///
/// `on_bad` decides what happens to rows without a valid position: "raise" raises an `Error`, "null" gives nulls in all
/// columns, and "skip" leaves them out.
/// The result is the same for any number of `threads` (by default, all cores).
///
/// >>> import lanefish
/// >>> start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
/// >>> lanefish.compute([start, "nonsense"], "legal_moves,in_check", on_bad="null").to_pydict()
/// {'legal_moves': [20, None], 'in_check': [False, None]}
#[pyfunction]
#[pyo3(signature = (
    data, columns=None, *, on_bad="raise", threads=None, fen_column=None, moves_column=None, start_column=None,
    validity="playable", keep_en_passant=false
))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn compute(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    columns: Option<&Bound<'_, PyAny>>,
    on_bad: &str,
    threads: Option<usize>,
    fen_column: Option<String>,
    moves_column: Option<String>,
    start_column: Option<String>,
    validity: &str,
    keep_en_passant: bool,
) -> PyResult<Table> {
    let on_bad = match on_bad {
        "raise" => BadRows::Raise,
        "null" => BadRows::Null,
        "skip" => BadRows::Skip,
        _ => {
            return Err(PyValueError::new_err("on_bad must be 'raise', 'null' or 'skip'"));
        }
    };
    let names = columns.map(reading::column_names).transpose()?;
    let columns = reading::columns(py, names.as_deref(), &Definitions::default())?;
    let threads = reading::threads(threads)?;
    let named = NamedColumns { fen: fen_column, moves: moves_column, start: start_column };
    let decode = reading::decode(named, validity, keep_en_passant)?;
    let analyzer = reading::analyzer(py)?;
    let rows = Rows::of(data)?;
    let positions = rows.positions(py)?;
    if positions.are_games(&decode).map_err(|failed| error::of(py, &failed))? {
        if on_bad == BadRows::Null {
            return Err(PyValueError::new_err(
                "each row is a game, which has no row of its own: on_bad must be 'raise' or 'skip'",
            ));
        }
        let read = ReadOptions::default().decode(decode).strict(on_bad == BadRows::Raise);
        let inputs = Inputs::of([rows.source(py)?]);
        drop((rows, positions));
        let scan = jobs::Scan::new(inputs, columns, analyzer, move |options| options.threads(threads).read(read));
        return Scan::from(scan).read_all(py);
    }
    drop(rows);
    let (computed, signals) = py.detach(|| {
        let signals = Signals::new();
        let interrupt = || signals.have_raised();
        let options =
            ComputeOptions::new(analyzer).threads(threads).decode(decode).on_bad(on_bad).interrupt(Some(&interrupt));
        let computed = jobs::compute(&positions, &columns, &options);
        drop(positions);
        (computed, signals)
    });
    if let Some(raised) = signals.into_raised() {
        return Err(raised);
    }
    let computed = computed.map_err(|failed| match &failed {
        Error::Strict(reject) => error::of_row(py, reject),
        other => error::of(py, other),
    })?;
    let rejects = computed.first_rejects.iter().map(|reject| {
        let row = reject.place.record;
        format!("row {row}: {}", reject.message)
    });
    Ok(Table {
        rejects: rejects.collect(),
        rejected: computed.bad.len() as u64,
        schema: computed.schema,
        batches: computed.batches,
        bad: computed.bad,
        notes: Vec::new(),
    })
}
