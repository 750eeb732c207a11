//! What the slider rows say, in sentences: which algorithm is the fastest here, and by how much.
//!
//! Only reliable rows count (see `ranking`), and algorithms that differ less than their noise are said to be equal. A
//! filter leaves fewer rows, and the verdict then has the sentences that these rows allow.

use super::ranking::{Calls, Ranked, Ranking};
use crate::cli::measure::Row;
use crate::cli::measure::sliders::Source;
use lanefish::sliders::Kind;
use lanefish_core::text::numbers::counted;

/// Slower algorithms with which the fastest one is compared.
const NEXT: usize = 3;
/// Names in a list; the others are counted.
const NAMES: usize = 4;

/// A sentence, and the details below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    pub(super) details: Vec<String>,
}

impl Statement {
    fn new(text: String) -> Self {
        Self { text, details: Vec::new() }
    }
}

/// The heading and the sentences; `None` without slider rows on real boards or under pressure.
pub(super) fn verdict(rows: &[Row]) -> Option<(String, Vec<Statement>)> {
    let ranking = |calls, source| Ranking::of(rows, calls, source);
    let real = ranking(Calls::One, Source::Real);
    let pressure = ranking(Calls::One, Source::Pressure);
    let eight = ranking(Calls::Eight, Source::Real);
    let mut statements = Vec::new();
    statements.extend(fastest(&real, "On real boards", Calls::One, NEXT));
    statements.extend(kinds(&real));
    statements.extend(fastest(&pressure, "Under cache pressure", Calls::One, 1));
    let mut of_eight = fastest(&eight, "On real boards", Calls::Eight, 1);
    if let (Some(statement), Some(lanes), Some(one)) = (&mut of_eight, eight.ranked.first(), real.ranked.first())
        && real.pieces == eight.pieces
    {
        let [lanes_ns, one_ns] = [lanes, one].map(|ranked| ranked.time.nanoseconds);
        let manner = Calls::One.words();
        statement.details.push(if !lanes.time.differs(one.time) {
            format!("as fast, within noise, as {} for {manner}", one.name)
        } else if lanes_ns < one_ns {
            format!("{} times as fast as {} for {manner}", times(one_ns / lanes_ns), one.name)
        } else {
            format!("{} times as slow as {} for {manner}", times(lanes_ns / one_ns), one.name)
        });
    }
    statements.extend(of_eight);
    let pieces =
        [&real, &pressure, &eight].into_iter().map(|ranking| &ranking.pieces).find(|pieces| !pieces.is_empty());
    let pieces: Vec<String> = pieces?.iter().map(ToString::to_string).collect();
    let heading = match &pieces[..] {
        [one] => format!("Verdict for the {one}"),
        _ => format!("Verdict by the mean of {}", list(&pieces)),
    };
    (!statements.is_empty()).then_some((heading, statements))
}

/// The fastest algorithms and some slower ones; `None` without any row.
fn fastest(ranking: &Ranking, place: &str, calls: Calls, next: usize) -> Option<Statement> {
    let (leaders, slower) = ranking.leaders();
    let manner = calls.words();
    let nanoseconds = |ranked: &Ranked| format!("{:.2}", ranked.time.nanoseconds);
    let mut statement = Statement::new(match leaders {
        [] if ranking.unreliable.is_empty() => return None,
        [] => format!("{place}, nothing can be said for {manner}, because all rows are unreliable"),
        [first] if slower.is_empty() => {
            let only = if ranking.unreliable.is_empty() { "" } else { ", and is the only reliable one" };
            format!("{place}, {} takes {} ns per query{only}, for {manner}", first.name, nanoseconds(first))
        }
        [first] => {
            format!("{place}, {} is the fastest for {manner}, with {} ns per query", first.name, nanoseconds(first))
        }
        [first, .., last] => {
            let names: Vec<String> = leaders.iter().map(|ranked| ranked.name.to_owned()).collect();
            let range = match (nanoseconds(first), nanoseconds(last)) {
                (low, high) if low == high => low,
                (low, high) => format!("{low} to {high}"),
            };
            format!(
                "{place}, {} are the fastest for {manner}, equal within noise, with {range} ns per query",
                list(&names)
            )
        }
    });
    if let [first, ..] = leaders {
        for other in slower.iter().take(next) {
            let factor = times(other.time.nanoseconds / first.time.nanoseconds);
            let subject = if leaders.len() > 1 { format!("{} is ", first.name) } else { String::new() };
            statement.details.push(format!("{subject}{factor} times as fast as {}", other.name));
        }
        if !ranking.unreliable.is_empty() {
            let names: Vec<String> = ranking.unreliable.iter().map(|&name| name.to_owned()).collect();
            let are = if names.len() == 1 { "is" } else { "are" };
            statement.details.push(format!("{} {are} left out as unreliable", list(&names)));
        }
    }
    Some(statement)
}

/// The fastest algorithm with special instructions and the fastest one without.
fn kinds(ranking: &Ranking) -> Option<Statement> {
    let [intrinsic, portable] = [Kind::Intrinsic, Kind::Portable].map(|kind| ranking.fastest(kind));
    let (intrinsic, portable) = (intrinsic?, portable?);
    let [first, second] = [intrinsic, portable].map(|ranked| ranked.time.nanoseconds);
    let (intrinsic, portable, differ) = (intrinsic.name, portable.name, intrinsic.time.differs(portable.time));
    Some(Statement::new(if !differ {
        format!(
            "The fastest intrinsic algorithm there, {intrinsic}, and the fastest portable one, {portable}, are equal \
             within noise"
        )
    } else if first < second {
        let factor = times(second / first);
        format!(
            "The fastest intrinsic algorithm there, {intrinsic}, is {factor} times as fast as the fastest portable \
             one, {portable}"
        )
    } else {
        let factor = times(first / second);
        format!(
            "The fastest portable algorithm there, {portable}, is {factor} times as fast as the fastest intrinsic \
             one, {intrinsic}"
        )
    }))
}

/// A factor, with two decimals where they matter.
fn times(factor: f64) -> String {
    if factor < 9.995 { format!("{factor:.2}") } else { format!("{factor:.0}") }
}

/// `a`, `a and b`, `a, b and c`; long lists are cut.
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] if names.len() <= NAMES => format!("{} and {last}", most.join(", ")),
        _ => {
            let (shown, rest) = names.split_at(NAMES - 1);
            format!("{} and {}", shown.join(", "), counted(rest.len() as u64, "other"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::ranking::tests::rows;

    /// The sentences, one per line, details indented.
    fn text(rows: &[Row]) -> String {
        let Some((heading, statements)) = verdict(rows) else {
            return String::new();
        };
        let mut lines = vec![heading];
        for Statement { text, details } in statements {
            lines.push(text);
            lines.extend(details.iter().map(|detail| format!("  {detail}")));
        }
        lines.join("\n")
    }

    #[test]
    fn the_fastest_by_how_much_and_for_which_calls() {
        let mut all = rows(Source::Random, &[("ray-walk", 0.1)]);
        all.extend(rows(
            Source::Real,
            &[("magic-plain", 1.5), ("pext", 1.0), ("first", 3.0), ("last", 4.0), ("lanes-fill-avx2", 0.5)],
        ));
        all.extend(rows(Source::Pressure, &[("pext", 5.0), ("first", 4.0), ("magic-plain", 9.0)]));
        assert_eq!(
            text(&all),
            "Verdict by the mean of rook, bishop and queen\n\
             On real boards, pext is the fastest for one square at a time, with 1.00 ns per query\n\
             \x20 1.50 times as fast as magic-plain\n\
             \x20 3.00 times as fast as first\n\
             \x20 4.00 times as fast as last\n\
             The fastest intrinsic algorithm there, pext, is 1.50 times as fast as the fastest portable one, \
             magic-plain\n\
             Under cache pressure, first is the fastest for one square at a time, with 4.00 ns per query\n\
             \x20 1.25 times as fast as pext\n\
             On real boards, lanes-fill-avx2 takes 0.50 ns per query, for eight squares at once\n\
             \x20 2.00 times as fast as pext for one square at a time"
        );
    }

    #[test]
    fn algorithms_within_noise_are_equal() {
        let all = rows(Source::Real, &[("magic-plain", 1.01), ("pext", 1.0), ("first", 3.0)]);
        let text = text(&all);
        let leaders = "pext and magic-plain are the fastest for one square at a time, equal within noise, with 1.00 to \
                       1.01 ns per query\n  pext is 3.00 times as fast as first";
        assert!(text.contains(leaders), "{text}");
        assert!(text.contains("pext, and the fastest portable one, magic-plain, are equal within noise"), "{text}");
    }

    #[test]
    fn an_unreliable_row_never_wins() {
        let mut all = rows(Source::Real, &[("magic-plain", 1.5), ("pext", 1.0), ("first", 3.0)]);
        all[1].measured.as_mut().unwrap().timing.spread = 0.5;
        let some = text(&all);
        assert!(some.contains("magic-plain is the fastest"), "{some}");
        assert!(some.contains("\n  pext is left out as unreliable"), "{some}");
        for row in &mut all {
            row.measured.as_mut().unwrap().timing.spread = 0.5;
        }
        let none = text(&all);
        assert!(
            none.contains("nothing can be said for one square at a time, because all rows are unreliable"),
            "{none}"
        );
        assert!(!none.contains("fastest"), "{none}");
    }

    #[test]
    fn with_few_rows_it_says_what_it_can() {
        assert_eq!(verdict(&[]), None);
        assert_eq!(verdict(&rows(Source::Random, &[("pext", 1.0), ("first", 2.0)])), None);
        let mut one = rows(Source::Real, &[("pext", 1.0)]);
        one.truncate(1);
        assert_eq!(
            text(&one),
            "Verdict for the rook\nOn real boards, pext takes 1.00 ns per query, for one square at a time"
        );
        let eight = rows(Source::Real, &[("lanes-fill-avx2", 1.0), ("lanes-fill-portable", 2.0)]);
        let text = text(&eight);
        assert!(text.contains("lanes-fill-avx2 is the fastest for eight squares at once"), "{text}");
        assert!(!text.contains("one square"), "{text}");
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = "abcdef".chars().map(String::from).collect();
        assert_eq!(list(&names[..4]), "a, b, c and d");
        assert_eq!(list(&names), "a, b, c and 3 others");
        assert_eq!((times(1.234), times(12.34)), ("1.23".to_owned(), "12".to_owned()));
    }
}
