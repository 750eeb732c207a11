//! Distributions of kinds, as a table with bars.

use super::board::{FIGURINES, figurines};
use super::markup::{Escaped, Table, bar, bar_in};
use crate::report::Signature;
use crate::report::plots_and_tables::{Bars, Hue};
use crate::text::numbers::{counted, grouped, percent, percentage};
use std::fmt::{self, Write};

/// Maximum number of rows of a comparison.
const MOST_PAIRS: usize = 15;
/// Maximum number of rows of a table; longer ones become two tables next to each other.
const LONG: usize = 20;

/// A piece is repeated up to this number; of more there is one and the number.
const MOST_REPEATED: usize = 2;

/// The name of a kind; that of a kind of material as figurines of both sides.
fn shown(bars_key: &str, name: &str) -> String {
    let signature = if bars_key == "material" { name.parse::<Signature>().ok() } else { None };
    let Some(signature) = signature else {
        return Escaped(name).to_string();
    };
    let side = |pieces: [u8; 5], all: [char; 6]| {
        let counts = std::iter::once(1).chain(pieces).map(usize::from);
        let kinds = all.into_iter().zip(counts).filter(|&(_, count)| count > 0);
        let kinds = kinds.map(|(figurine, count)| match count {
            ..=MOST_REPEATED => figurine.to_string().repeat(count),
            _ => format!("{figurine}×{count}"),
        });
        figurines(&kinds.collect::<Vec<_>>().join(" "))
    };
    let [white, black] = signature.pieces();
    format!(
        "<span class=\"sig\" role=\"img\" aria-label=\"{name}\" title=\"{name}\">{}{}</span>",
        side(white, FIGURINES[0]),
        side(black, FIGURINES[1]),
        name = Escaped(name)
    )
}

/// What the rows of a distribution are.
fn noun(key: &str) -> &'static str {
    match key {
        "eco" => "range of codes",
        "plays" | "knodes" => "range",
        "time_control" => "class",
        _ => "distinct value",
    }
}

/// A figure with a bar for each kind that occurs: all in their order, or the `most` most frequent.
pub(super) fn figure(out: &mut String, bars: &Bars, most: Option<usize>) -> fmt::Result {
    let total = bars.total();
    let mut kinds: Vec<&(String, u64)> = bars.bars.iter().filter(|(_, count)| *count > 0).collect();
    let all = kinds.len() as u64 + bars.rest.0;
    if most.is_some() {
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
    let longest = kinds.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    // A single one that is left takes no more room than its count.
    let most_shown = most.map_or(usize::MAX, |most| if all == most as u64 + 1 { most + 1 } else { most });
    let (first, rest) = kinds.split_at(kinds.len().min(most_shown));
    let length = |count: u64| bar_in(Hue::of(bars.key), count as f64 / longest as f64);
    let row = |name: String, count: u64, bar: String| vec![name, grouped(count), percent(count, total), bar];
    let mut rows: Vec<Vec<String>> =
        first.iter().map(|(name, count)| row(shown(bars.key, name), *count, length(*count))).collect();
    let others = rest.len() as u64 + bars.rest.0;
    if others > 0 {
        let sum = rest.iter().map(|(_, count)| count).sum::<u64>() + bars.rest.1;
        let name = format!("{} others", grouped(others));
        // Where a position may be of several kinds, the others have no sum.
        rows.push(match bars.units {
            None => row(name, sum, String::new()),
            Some(_) => vec![name, String::new(), String::new(), String::new()],
        });
    }
    write!(
        out,
        "<figure class=\"bars\"><figcaption><h3>{}</h3><p>{} in {}{}</p></figcaption>",
        Escaped(bars.title),
        counted(all, noun(bars.key)),
        bars.unit.counted(total),
        if most.is_some() { "; the most frequent first" } else { "" }
    )?;
    let is_long = rows.len() > LONG;
    if is_long {
        out.push_str("<div class=\"plots pairs\">");
    }
    let length = if is_long { rows.len().div_ceil(2) } else { rows.len() };
    for rows in rows.chunks(length.max(1)) {
        let table = Table { caption: bars.title, head: &["", "count", "share", ""], rows: rows.to_vec() };
        table.write(out)?;
    }
    if is_long {
        out.push_str("</div>");
    }
    out.push_str("</figure>\n");
    Ok(())
}

/// A figure for two distributions: the share in each, with two bars. The largest differences come first.
pub(super) fn comparison(
    out: &mut String,
    (key, title): (&str, &str),
    note: &str,
    [a, b]: [&str; 2],
    bars: &[(&str, [u64; 2])],
) -> fmt::Result {
    let totals = [0, 1].map(|at: usize| bars.iter().map(|(_, counts)| counts[at]).sum::<u64>().max(1));
    let shares = |counts: &[u64; 2]| [0, 1].map(|at: usize| counts[at] as f64 / totals[at] as f64 * 100.0);
    let mut kinds: Vec<(&str, [f64; 2])> = bars.iter().map(|(name, counts)| (*name, shares(counts))).collect();
    let difference = |[a, b]: [f64; 2]| (a - b).abs();
    kinds.sort_by(|a, b| difference(b.1).total_cmp(&difference(a.1)));
    kinds.retain(|&(_, shares)| shares != [0.0; 2]);
    let largest = &kinds[..kinds.len().min(MOST_PAIRS)];
    let longest = largest.iter().flat_map(|&(_, shares)| shares).fold(0.0, f64::max).max(1e-9);
    let rows = largest.iter().map(|&(name, [a, b])| {
        let pair =
            format!("<span class=\"pair\"><span>{}</span><span>{}</span></span>", bar(a / longest), bar(b / longest));
        vec![shown(key, name), percentage(a), percentage(b), super::board::points(b - a), pair]
    });
    let rest = match kinds.len() - largest.len() {
        0 => String::new(),
        1 => "; 1 other not shown".to_owned(),
        rest => format!("; {} others not shown", grouped(rest as u64)),
    };
    write!(out, "<figure class=\"bars\"><figcaption><h3>{}</h3><p>{note}{rest}</p></figcaption>", Escaped(title))?;
    let table = Table { caption: title, head: &["", a, b, "difference", ""], rows: rows.collect() };
    table.write(out)?;
    out.push_str("</figure>\n");
    Ok(())
}
