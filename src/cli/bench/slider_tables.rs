//! The tables of the slider rows: one square at a time first, eight at once after it, each with ratios of its own.

use super::ranking::{Calls, Ranking, query, sentence};
use super::table_layout::{Lines, believed, bytes, keys, needs, number, spread};
use crate::cli::measure::sliders::Source;
use crate::cli::measure::{Row, Subject};

/// In text, a table for each kind of call and each source of queries, and one of what the algorithms need; in Markdown,
/// one table for each kind of call.
pub(super) fn all(rows: &[Row], markdown: bool) -> Vec<Lines> {
    let mut tables = Vec::new();
    for calls in Calls::ALL {
        let own: Vec<Row> =
            rows.iter().filter(|row| query(row).is_some() && Calls::of(row.name) == calls).cloned().collect();
        if markdown {
            tables.extend(whole_table(&own, calls));
        } else {
            let sources = sources(&own).into_iter().enumerate();
            tables.extend(sources.map(|(number, source)| table(&own, calls, source, number == 0)));
        }
    }
    if !markdown {
        tables.extend(needs_table(rows));
    }
    tables
}

fn sources(rows: &[Row]) -> Vec<Source> {
    keys(rows, |row| query(row).map(|(_, source)| source))
}

/// Nanoseconds per query.
fn nanoseconds(row: Option<&Row>) -> String {
    if row.and_then(|row| row.measured).is_some_and(|measured| !measured.verified) {
        return "wrong".to_owned();
    }
    believed(row, |timing| number(Some(timing.nanoseconds), 2))
}

/// The ratio to the fastest algorithm; large ones without decimals.
fn ratio(ranking: &Ranking, name: &str) -> String {
    let ratio = ranking.ratio(name);
    number(ratio, if ratio >= Some(100.0) { 0 } else { 2 })
}

/// The names of the algorithms, in the order of a ranking.
fn names(rows: &[Row], ranking: &Ranking) -> Vec<&'static str> {
    let mut names = keys(rows, |row| Some(row.name));
    names.sort_by_key(|name| ranking.place(name));
    names
}

/// One line per algorithm and one column per piece, for one source of queries.
fn table(rows: &[Row], calls: Calls, source: Source, is_first: bool) -> Lines {
    let own: Vec<Row> = rows.iter().filter(|row| query(row).is_some_and(|(_, own)| own == source)).cloned().collect();
    let pieces = keys(&own, |row| query(row).map(|(piece, _)| piece));
    let ranking = Ranking::of(&own, calls, source);
    let mut header = vec!["algorithm".to_owned()];
    header.extend(pieces.iter().map(ToString::to_string));
    header.extend(["ratio", "spread"].map(str::to_owned));
    let line = |&name: &&'static str| {
        let of_name = || own.iter().filter(move |row| row.name == name);
        let of_piece = |piece| of_name().find(|row| query(row).is_some_and(|(own, _)| own == piece));
        let mut line = vec![name.to_owned()];
        line.extend(pieces.iter().map(|&piece| nanoseconds(of_piece(piece))));
        line.extend([ratio(&ranking, name), spread(of_name())]);
        line
    };
    let section = is_first.then(|| calls.sentence().to_owned());
    Lines {
        title: format!("Sliders, {}, {source}: ns per query; ratio by the mean", calls.words()),
        about: section.into_iter().chain([sentence(source).to_owned()]).collect(),
        lines: names(&own, &ranking).iter().map(line).collect(),
        numbers: 1..header.len(),
        header,
    }
}

/// One line per algorithm, with one column per source and piece.
fn whole_table(rows: &[Row], calls: Calls) -> Option<Lines> {
    let columns = keys(rows, query);
    let sources = sources(rows);
    let &deciding = sources.iter().find(|&&source| source == Source::Real).or(sources.last())?;
    let ranking = Ranking::of(rows, calls, deciding);
    let mut header = vec!["algorithm".to_owned()];
    header.extend(columns.iter().map(|(piece, source)| format!("{source} {piece}")));
    header.extend(["ratio", "spread", "tables", "kind", "needs"].map(str::to_owned));
    let line = |&name: &&'static str| {
        let of_name = || rows.iter().filter(move |row| row.name == name);
        let first = of_name().next()?;
        let mut line = vec![name.to_owned()];
        let of_column = |column| of_name().find(|row| query(row) == Some(column));
        line.extend(columns.iter().map(|&column| nanoseconds(of_column(column))));
        line.extend([ratio(&ranking, name), spread(of_name()), size(first)?, first.kind.to_string(), needs(first)]);
        Some(line)
    };
    let sentences = sources.iter().map(|&source| sentence(source).to_owned());
    Some(Lines {
        title: format!("Sliders, {}: ns per query; ratio by the mean, {deciding}", calls.words()),
        about: [calls.sentence().to_owned()].into_iter().chain(sentences).collect(),
        header,
        lines: names(rows, &ranking).iter().filter_map(line).collect(),
        numbers: 1..columns.len() + 4,
    })
}

/// The size of the tables of an algorithm.
fn size(row: &Row) -> Option<String> {
    match row.subject {
        Subject::Slider { table_bytes, .. } => Some(bytes(table_bytes)),
        _ => None,
    }
}

/// What the algorithms need.
fn needs_table(rows: &[Row]) -> Option<Lines> {
    let names = keys(rows, |row| query(row).and(Some(row.name)));
    let lines: Vec<_> = names
        .into_iter()
        .filter_map(|name| {
            let row = rows.iter().find(|row| query(row).is_some() && row.name == name)?;
            Some(vec![name.to_owned(), size(row)?, row.kind.to_string(), needs(row)])
        })
        .collect();
    (!lines.is_empty()).then(|| Lines {
        title: "Slider algorithms: table sizes and requirements".to_owned(),
        about: Vec::new(),
        header: ["algorithm", "tables", "kind", "needs"].map(str::to_owned).to_vec(),
        lines,
        numbers: 1..2,
    })
}
