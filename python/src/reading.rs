//! Options that several functions share.

use crate::input::{self, Rows};
use crate::{choosing_games, error};
use lanefish::chess::Validity;
use lanefish::choose::{Assignments, Choose, Definitions, GameFilter, Sample};
use lanefish::formats::{DecodeOptions, Format};
use lanefish::input::Inputs;
use lanefish::jobs::{GameColumn, GameColumns};
use lanefish::pipeline::{ReadOptions, RunOptions, Shard};
use lanefish::table::{COLUMNS, Columns, ColumnsError, LEGAL_MOVE_COLUMNS};
use lanefish::tiers::{Analyzer, Tier};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyString};
use std::path::PathBuf;
use std::sync::Arc;

/// The implementation to use: the best one, or the one that `LANEFISH_TIER` names.
pub(crate) fn analyzer(py: Python<'_>) -> PyResult<&'static dyn Analyzer> {
    let tier = match std::env::var("LANEFISH_TIER").as_deref() {
        Err(_) | Ok("" | "auto") => Tier::best(),
        Ok(name) => name.parse().map_err(|_| error::message(py, format!("LANEFISH_TIER: unknown tier `{name}`")))?,
    };
    tier.analyzer().ok_or_else(|| {
        let available = Tier::available().map(Tier::name).collect::<Vec<_>>().join(", ");
        error::message(py, format!("this CPU cannot run the tier `{tier}`; it can run {available}"))
    })
}

/// Number of threads: as given, or one for each core.
pub(crate) fn threads(threads: Option<usize>) -> PyResult<usize> {
    match threads {
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(threads @ 1..=1024) => Ok(threads),
        Some(_) => Err(PyValueError::new_err("threads must be 1 to 1024")),
    }
}

/// Names of columns, separated by commas: of a string with commas, or of any names.
pub(crate) fn column_names(names: &Bound<'_, PyAny>) -> PyResult<String> {
    if names.is_instance_of::<PyString>() {
        return names.extract();
    }
    let names: PyResult<Vec<String>> = names.try_iter()?.map(|name| name?.extract()).collect();
    Ok(names?.join(","))
}

/// Columns by name, with commas between the names.
pub(crate) fn columns(py: Python<'_>, names: Option<&str>, definitions: &Definitions) -> PyResult<Columns> {
    let names = names.unwrap_or(Columns::DEFAULT);
    Columns::named_with(names, |name| definitions.column(name)).map_err(|wrong| {
        let known = COLUMNS.iter().chain(LEGAL_MOVE_COLUMNS).map(|column| column.name).chain(definitions.names());
        error::message(py, format!("{wrong}{}; lanefish.columns() lists all of them", meant(py, &wrong, known)))
    })
}

/// A suggestion for a name that is none of these, or nothing.
fn meant<'a>(py: Python<'_>, wrong: &ColumnsError, known: impl Iterator<Item = &'a str>) -> String {
    let ColumnsError::Unknown(name) = wrong else {
        return String::new();
    };
    close_name(py, name, known).map_or_else(String::new, |close| format!("; did you mean `{close}`?"))
}

/// The one of these names that is close to another one.
pub(crate) fn close_name<'a>(py: Python<'_>, name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.collect();
    let close = || -> PyResult<Vec<String>> {
        py.import("difflib")?.call_method1("get_close_matches", (name, known, 1))?.extract()
    };
    close().unwrap_or_default().into_iter().next()
}

/// Defines functions of Python with the keywords about reading: the list of them is here, and in [`Keywords`].
macro_rules! reading_function {
    (
        $(#[$attribute:meta])*
        signature($($signature:tt)*);
        pub(crate) fn $name:ident<$py_life:lifetime>(
            $py:ident: Python<'_>,
            $keywords:ident: Keywords, on_bad = $on_bad:literal;
            $($own:ident: $own_type:ty,)*
        ) -> $returned:ty $body:block
    ) => {
        $crate::reading::reading_function! {
            $(#[$attribute])*
            signature($($signature)*);
            pub(crate) fn $name<$py_life>(
                $py: Python<'_>,
                $keywords: Keywords, on_bad = $on_bad, validity = "playable";
                $($own: $own_type,)*
            ) -> $returned $body
        }
    };
    (
        $(#[$attribute:meta])*
        signature($($signature:tt)*);
        pub(crate) fn $name:ident<$py_life:lifetime>(
            $py:ident: Python<'_>,
            $keywords:ident: Keywords, on_bad = $on_bad:literal, validity = $validity:literal;
            $($own:ident: $own_type:ty,)*
        ) -> $returned:ty $body:block
    ) => {
        $(#[$attribute])*
        #[pyfunction]
        #[pyo3(signature = (
            $($signature)*, on_bad=$on_bad, threads=None, fen_column=None, moves_column=None, start_column=None,
            from_format=None, skip=0, limit=None, shard=None, validity=$validity, keep_en_passant=false, games=None,
            having=None, r#where=None, sample=None, r#let=None, seed=0, progress=false
        ))]
        #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
        pub(crate) fn $name<$py_life>(
            $py: Python<$py_life>,
            $($own: $own_type,)*
            on_bad: &str,
            threads: Option<usize>,
            fen_column: Option<String>,
            moves_column: Option<String>,
            start_column: Option<String>,
            from_format: Option<&str>,
            skip: u64,
            limit: Option<u64>,
            shard: Option<&str>,
            validity: &str,
            keep_en_passant: bool,
            games: Option<&Bound<'_, PyDict>>,
            having: Option<&Bound<'_, PyAny>>,
            r#where: Option<&str>,
            sample: Option<&Bound<'_, PyAny>>,
            r#let: Option<&Bound<'_, PyDict>>,
            seed: u64,
            progress: bool,
        ) -> $returned {
            let $keywords = $crate::reading::Keywords {
                on_bad,
                threads,
                fen_column,
                moves_column,
                start_column,
                from_format,
                skip,
                limit,
                shard,
                validity,
                keep_en_passant,
                games,
                having,
                condition: r#where,
                sample,
                definitions: r#let,
                seed,
                progress,
                function: stringify!($name),
                set: None,
                takes_whole_games: false,
            };
            $body
        }
    };
}
pub(crate) use reading_function;

/// The keywords about reading and choosing, as users pass them.
pub(crate) struct Keywords<'a, 'py> {
    pub(crate) on_bad: &'a str,
    pub(crate) threads: Option<usize>,
    pub(crate) fen_column: Option<String>,
    pub(crate) moves_column: Option<String>,
    pub(crate) start_column: Option<String>,
    pub(crate) from_format: Option<&'a str>,
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) shard: Option<&'a str>,
    pub(crate) validity: &'a str,
    pub(crate) keep_en_passant: bool,
    pub(crate) games: Option<&'a Bound<'py, PyDict>>,
    pub(crate) having: Option<&'a Bound<'py, PyAny>>,
    pub(crate) condition: Option<&'a str>,
    pub(crate) sample: Option<&'a Bound<'py, PyAny>>,
    pub(crate) definitions: Option<&'a Bound<'py, PyDict>>,
    pub(crate) seed: u64,
    pub(crate) progress: bool,
    /// The name of the function.
    pub(crate) function: &'static str,
    /// New values, which only `convert` has.
    pub(crate) set: Option<&'a Bound<'py, PyDict>>,
    /// Whether whole games are taken, so that `where` is about games, and what chooses among positions is an error.
    pub(crate) takes_whole_games: bool,
}

/// `name=expression` of each entry.
fn assignments(values: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let values = values.into_iter().flat_map(|values| values.iter());
    let text = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<String> {
        Ok(format!("{}={}", name.extract::<String>()?, value.str()?))
    };
    values.map(text).collect()
}

impl Keywords<'_, '_> {
    /// Adds the keywords to a dict.
    pub(crate) fn add_to(&self, given: &Bound<'_, PyDict>) -> PyResult<()> {
        given.set_item("on_bad", self.on_bad)?;
        given.set_item("threads", self.threads)?;
        given.set_item("fen_column", &self.fen_column)?;
        given.set_item("moves_column", &self.moves_column)?;
        given.set_item("start_column", &self.start_column)?;
        given.set_item("from_format", self.from_format)?;
        given.set_item("skip", self.skip)?;
        given.set_item("limit", self.limit)?;
        given.set_item("shard", self.shard)?;
        given.set_item("validity", self.validity)?;
        given.set_item("keep_en_passant", self.keep_en_passant)?;
        // The caller may change these later.
        given.set_item("games", self.games.map(|games| games.copy()).transpose()?)?;
        given.set_item("let", self.definitions.map(|definitions| definitions.copy()).transpose()?)?;
        given.set_item("having", self.having)?;
        given.set_item("where", self.condition)?;
        given.set_item("sample", self.sample)?;
        given.set_item("seed", self.seed)?;
        given.set_item("progress", self.progress)
    }

    pub(crate) fn definitions(&self, py: Python<'_>) -> PyResult<Definitions> {
        let texts = assignments(self.definitions)?;
        Definitions::parse(texts).map_err(|wrong| error::message(py, format!("let: {wrong}")))
    }

    fn choose(&self, py: Python<'_>) -> PyResult<Choose> {
        let definitions = self.definitions(py)?;
        let of_games = self.takes_whole_games;
        let filter = self.games.map(|games| choosing_games::filter(games, of_games));
        let mut games = filter.transpose()?.unwrap_or_default();
        if let Some(having) = self.having {
            games = games.having(choosing_games::sequence(having, &definitions)?);
        }
        let games = Some(games).filter(|filter| *filter != GameFilter::default()).map(Arc::new);
        let condition = self.condition.map(|text| match of_games {
            true => definitions.condition_on_games(text),
            false => definitions.condition(text),
        });
        let condition = condition.transpose();
        let sample = self.sample.map(|sample| -> PyResult<Sample> {
            // Of numbers, the type says what they are: 1.0 is a rate.
            let text = if sample.is_instance_of::<PyFloat>() { sample.repr()? } else { sample.str()? };
            Sample::parse(&text.extract::<String>()?, &definitions)
                .map_err(|wrong| error::message(py, format!("sample: {wrong}")))
        });
        let set = Assignments::parse_with(assignments(self.set)?, &definitions);
        Ok(Choose::default()
            .games(games)
            .filter(condition.map_err(|wrong| error::message(py, format!("where: {wrong}")))?)
            .sample(sample.transpose()?)
            .seed(self.seed)
            .set(set.map_err(|wrong| error::message(py, format!("set: {wrong}")))?))
    }

    /// Checks that nothing is given that would choose among the positions of whole games, or change the last ones.
    fn check_whole_games(&self) -> Result<(), String> {
        if self.sample.is_some() {
            return Err(format!("sample: {}", choosing_games::WHOLE_GAMES));
        }
        if self.seed != 0 {
            return Err(format!("seed: {}", choosing_games::WHOLE_GAMES));
        }
        if self.keep_en_passant {
            let reason = "final positions have no en passant squares without a legal capture";
            return Err(format!("keep_en_passant: {reason}"));
        }
        Ok(())
    }

    /// The checked options.
    pub(crate) fn check(self, py: Python<'_>) -> PyResult<Reading> {
        if self.takes_whole_games {
            self.check_whole_games().map_err(|refusal| error::message(py, refusal))?;
        }
        let strict = match self.on_bad {
            "raise" => true,
            "skip" => false,
            _ => return Err(PyValueError::new_err("on_bad must be 'raise' or 'skip'")),
        };
        let from = self.from_format.map(|name| name.parse::<Format>()).transpose();
        let shard = self.shard.map(|shard| shard.parse::<Shard>()).transpose();
        let choose = self.choose(py)?;
        let named = NamedColumns { fen: self.fen_column, moves: self.moves_column, start: self.start_column };
        let decode = decode(named, self.validity, self.keep_en_passant)?;
        Ok(Reading {
            threads: threads(self.threads)?,
            progress: self.progress,
            function: self.function,
            read: ReadOptions::default()
                .from(from.map_err(|unknown| error::message(py, unknown.to_string()))?)
                .decode(decode)
                .choose(choose)
                .strict(strict)
                .shard(shard.map_err(|wrong| error::message(py, wrong.to_string()))?)
                .skip(self.skip)
                .limit(self.limit),
        })
    }
}

/// The checked arguments about reading.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) threads: usize,
    /// Whether progress is shown.
    pub(crate) progress: bool,
    /// The name of the function.
    pub(crate) function: &'static str,
    pub(crate) read: ReadOptions,
}

/// Names of columns of a table.
pub(crate) struct NamedColumns {
    pub(crate) fen: Option<String>,
    pub(crate) moves: Option<String>,
    pub(crate) start: Option<String>,
}

/// The decoding options that also apply to data in memory.
pub(crate) fn decode(named: NamedColumns, validity: &str, keep_en_passant: bool) -> PyResult<DecodeOptions> {
    if named.fen.is_some() && (named.moves.is_some() || named.start.is_some()) {
        let message = "fen_column is for rows with positions, moves_column and start_column are for rows with games";
        return Err(PyValueError::new_err(message));
    }
    let validity = match validity {
        "playable" => Validity::Playable,
        "strict" => Validity::Strict,
        _ => {
            return Err(PyValueError::new_err("validity must be 'playable' or 'strict'"));
        }
    };
    Ok(DecodeOptions::default()
        .validity(validity)
        .keep_en_passant(keep_en_passant)
        .fen_column(named.fen.map(Arc::from))
        .moves_column(named.moves.map(Arc::from))
        .start_column(named.start.map(Arc::from)))
}

/// The names of one path or of several.
pub(crate) fn path_names(paths: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    let names: Vec<PathBuf> = match paths.extract::<PathBuf>() {
        Ok(path) => vec![path],
        Err(_) => match paths.try_iter() {
            Ok(paths) => {
                let paths: PyResult<_> = paths.map(|path| path?.extract::<PathBuf>()).collect();
                paths?
            }
            Err(_) => return Err(PyTypeError::new_err("expected a path, or several, or Arrow data")),
        },
    };
    if names.is_empty() { Err(PyValueError::new_err("no paths")) } else { Ok(names) }
}

impl Reading {
    /// Columns of games by name. Where games are chosen by a sequence of positions, some columns say where it is.
    pub(crate) fn game_columns(&self, py: Python<'_>, names: Option<&str>) -> PyResult<GameColumns> {
        let has_matches = self.read.choose.games.as_ref().is_some_and(|games| !games.having.is_empty());
        GameColumns::chosen(names, has_matches).map_err(|wrong| {
            let known = GameColumn::all().iter().map(GameColumn::name);
            let meant = meant(py, &wrong, known);
            let hint = match wrong {
                ColumnsError::WithoutHaving(_) => "",
                _ => "; lanefish.columns(of=\"games\") lists all of them",
            };
            error::message(py, format!("columns: {wrong}{meant}{hint}"))
        })
    }

    /// The inputs of these names, or Arrow data as the only input.
    pub(crate) fn inputs(&self, py: Python<'_>, paths: &Bound<'_, PyAny>) -> PyResult<Inputs> {
        if input::is_arrow(paths)? {
            return Ok(Inputs::of([Rows::of(paths)?.source(py)?]));
        }
        self.open(py, &path_names(paths)?)
    }

    /// The inputs of these names.
    pub(crate) fn open(&self, py: Python<'_>, names: &[PathBuf]) -> PyResult<Inputs> {
        let from = self.read.from;
        let column = self.read.decode.fen_column.as_deref();
        let inputs = py.detach(|| Inputs::open_as(names, from, column));
        inputs.map_err(|failed| error::of(py, &failed))
    }

    /// Sets the options of a run.
    pub(crate) fn set<'a>(self, options: RunOptions<'a>) -> RunOptions<'a> {
        options.threads(self.threads).read(self.read)
    }
}
