//! The page that compares datasets.

use super::About;
use super::markup::{Escaped, Head, Table, bar, foot};
use super::plot::Plot;
use super::{bars, board};
use crate::report::plots_and_tables::{Hue, Share};
use crate::report::{Comparison, Difference, Distance, Pair};
use crate::text::numbers::{counted, decimal, grouped, percentage, tenths};
use std::fmt::{self, Write};

pub(super) fn write(out: &mut String, comparisons: &[Comparison], abouts: &[About]) -> fmt::Result {
    let Some((first, others)) = abouts.split_first() else { return Ok(()) };
    let names: Vec<&str> = abouts.iter().map(|about| about.title.as_str()).collect();
    let title = match names.split_last() {
        Some((last, names)) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        _ => first.title.clone(),
    };
    let kind = match abouts.len() {
        2 => "comparison of two datasets".to_owned(),
        datasets => format!("comparison of {datasets} datasets"),
    };
    // Sections of a comparison with a further dataset are numbered.
    let pairs: Vec<Compared<'_>> = (1..)
        .zip(comparisons.iter().zip(others))
        .map(|(number, (comparison, other))| Compared {
            comparison,
            abouts: [first, other],
            letters: ["A".to_owned(), char::from(b'A' + (number % 26) as u8).to_string()],
            suffix: if number == 1 { String::new() } else { number.to_string() },
        })
        .collect();
    let sections = pairs.iter().flat_map(|pair| pair.sections(pairs.len() > 1));
    let sections: Vec<(String, String)> =
        sections.chain([("about".to_owned(), "About this page".to_owned())]).collect();
    let sections: Vec<(&str, &str)> = sections.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
    let head = Head { title: &title, kind: &kind, inputs: Vec::new(), sections: &sections };
    head.write(out)?;
    pairs.iter().try_for_each(|pair| pair.write(out))?;
    about_page(out, abouts)?;
    foot(out);
    Ok(())
}

/// Where the datasets come from.
fn about_page(out: &mut String, abouts: &[About]) -> fmt::Result {
    let version = env!("CARGO_PKG_VERSION");
    writeln!(
        out,
        "<section id=\"about\">\n<h2>About this page</h2>\n<div class=\"about\"><p>Made by lanefish {version}.</p>"
    )?;
    for (letter, about) in ('A'..).zip(abouts) {
        writeln!(out, "<h3>{letter}: {}</h3>", Escaped(&about.title))?;
        super::sections::origin(out, about)?;
    }
    out.push_str("</div>\n</section>\n");
    Ok(())
}

/// Two of the datasets.
struct Compared<'a> {
    comparison: &'a Comparison,
    abouts: [&'a About; 2],
    letters: [String; 2],
    /// The end of the names of its sections.
    suffix: String,
}

impl Compared<'_> {
    /// The names of its sections, as anchors and as shown; `several`: there are other comparisons.
    fn sections(&self, several: bool) -> Vec<(String, String)> {
        let comparison = self.comparison;
        let all = [
            ("summary", "Summary", false),
            ("distributions", "Distributions", comparison.plots.is_empty()),
            ("kinds", "Categories", comparison.bars.is_empty()),
            ("boards", "Boards", comparison.boards.is_empty()),
        ];
        let own = all.into_iter().filter(|&(_, _, is_empty)| !is_empty);
        let name =
            |name: &str| if several { format!("{name} of {}", self.letters.join(" and ")) } else { name.to_owned() };
        own.map(|(id, title, _)| (format!("{id}{}", self.suffix), name(title))).collect()
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        self.summary(out)?;
        let Self { comparison, letters: [a, b], suffix, .. } = self;
        if !comparison.plots.is_empty() {
            writeln!(
                out,
                "<section id=\"distributions{suffix}\">\n<h2>Distributions</h2>\n<p class=\"scale\"><span \
                 class=\"key a\"></span>{a} <span class=\"key o\"></span>{b}</p>\n<div class=\"plots\">"
            )?;
            for pair in &comparison.plots {
                let arrow =
                    |pair: [Option<f64>; 2]| pair.map(|number| number.map_or("–".to_owned(), decimal)).join(" → ");
                let first = &pair.a;
                let note = format!(
                    "{}mean {} · median {}",
                    distance(pair.distance()),
                    arrow(pair.means()),
                    arrow(pair.medians())
                );
                let series = [(a.as_str(), &first.histogram), (b.as_str(), &pair.b.histogram)];
                Plot {
                    title: first.title,
                    axis: first.axis,
                    unit: first.unit,
                    hue: Hue::Counts,
                    width: first.width,
                    limits: first.limits,
                    series: &series,
                    note,
                }
                .write(out)?;
            }
            out.push_str("</div>\n</section>\n");
        }
        if !comparison.bars.is_empty() {
            writeln!(
                out,
                "<section id=\"kinds{suffix}\">\n<h2>Categories</h2>\n<p class=\"scale\"><span class=\"key \
                 a\"></span>{a} <span class=\"key o\"></span>{b}; within each, the largest differences first</p>\n<div class=\"plots \
                 pairs\">"
            )?;
            for kinds in &comparison.bars {
                let counts = kinds.counts();
                let note = {
                    let values = counts.iter().filter(|(_, counts)| *counts != [0; 2]).count();
                    format!("{}{}", distance(kinds.distance()), counted(values as u64, "value"))
                };
                bars::comparison(out, (kinds.a.key, kinds.a.title), &note, [a, b], &counts)?;
            }
            out.push_str("</div>\n</section>\n");
        }
        if !comparison.boards.is_empty() {
            writeln!(
                out,
                "<section id=\"boards{suffix}\">\n<h2>Boards</h2>\n<p class=\"scale\">more often in {a} <span class=\"heat\"><i \
                 class=\"first q9\"></i><i class=\"first q6\"></i><i class=\"first q4\"></i><i class=\"first \
                 q2\"></i></span><span class=\"heat\"><i class=\"other q2\"></i><i class=\"other q4\"></i><i \
                 class=\"other q6\"></i><i class=\"other q9\"></i></span> more \
                 often in {b}; differences of the shares of each square, in percentage points; the strongest colour is \
                 the largest difference of the board</p>\n<div class=\"boards\">"
            )?;
            for board in &comparison.boards {
                if let found @ Some(_) = board.distance() {
                    board::difference(out, board.a.title, &distance(found), [a, b], board.squares())?;
                }
            }
            out.push_str("</div>\n</section>\n");
        }
        Ok(())
    }

    /// The compared datasets, and the largest differences.
    fn summary(&self, out: &mut String) -> fmt::Result {
        let Self { comparison, abouts, letters, suffix } = self;
        writeln!(
            out,
            "<section id=\"summary{suffix}\" class=\"halves compared\">\n<div>\n<h2>Datasets</h2>\n<dl class=\"numbers\">"
        )?;
        let sizes = comparison.positions.into_iter().zip(comparison.games);
        for ((name, class), (about, (positions, games))) in letters.iter().zip(["a", "o"]).zip(abouts.iter().zip(sizes))
        {
            let inputs = about.inputs.iter().take(3).map(|input| Escaped(&input.name).to_string());
            let games = if games > 0 { format!(" of {}", counted(games, "game")) } else { String::new() };
            writeln!(
                out,
                "<div class=\"wide\"><dt><span class=\"key {class}\"></span>{name}: {}</dt><dd>{} \
                 <small>positions{games}{}{}</small></dd></div>",
                Escaped(&about.title),
                grouped(positions),
                if about.inputs.is_empty() { "" } else { " · " },
                inputs.collect::<Vec<_>>().join(", ")
            )?;
        }
        out.push_str("</dl>\n");
        for (name, about) in letters.iter().zip(abouts) {
            if !about.left_out.is_empty() {
                let left_out = about.left_out.join(". ");
                writeln!(out, "<p class=\"about\">{name} is a selection. {}.</p>", Escaped(&left_out))?;
            }
        }
        let names = letters.each_ref().map(String::as_str);
        writeln!(out, "<p class=\"differs\">{}</p>", Escaped(&comparison.sentence(names)))?;
        for (name, only) in letters.iter().zip(comparison.titles_of_only()) {
            if !only.is_empty() {
                writeln!(out, "<p class=\"about\">Only {name} has: {}.</p>", Escaped(&only.join(", ")))?;
            }
        }
        let observations = if comparison.games.contains(&0) {
            "positions, as if they were independent of each other"
        } else {
            "games, because the positions of a game depend on each other"
        };
        writeln!(
            out,
            "<p class=\"about\">The distance of two distributions (total variation) is the share of the positions of \
             one that would have to change to get the distribution of the other: 0 if they are equal, 1 if they have \
             nothing in common. <b>Chance</b> is the largest difference that two samples of the same source have, \
             judged by the number of {observations}. What is furthest beyond chance comes first.</p>"
        )?;
        self.shares(out)?;
        out.push_str("</div>\n<div class=\"full\">\n<h2>Distributions, furthest beyond chance first</h2>\n");
        let distances = comparison.distances();
        let (beyond_chance, by_chance): (Vec<Distance>, Vec<Distance>) =
            distances.into_iter().partition(|distance| !distance.difference.is_chance());
        let row = |distance: Distance| {
            let means = distance.means.map(|mean| mean.map_or(String::new(), decimal));
            let means = if means[0].is_empty() { String::new() } else { means.join(" → ") };
            vec![
                Escaped(distance.title).to_string(),
                format!("{:.3}", distance.difference.value),
                bar(distance.difference.value),
                format!("{:.3}", distance.difference.chance),
                beyond(distance.difference),
                means,
            ]
        };
        let means = format!("mean\u{A0}{} →\u{A0}{}", letters[0], letters[1]);
        let head = ["", "distance", "", "chance", "beyond chance", &means];
        let rows = [beyond_chance, by_chance].map(|distances| distances.into_iter().map(row).collect());
        beyond_and_by_chance(out, "Distances of the distributions", &head, "distribution", rows)?;
        out.push_str("</div>\n</section>\n");
        Ok(())
    }

    fn shares(&self, out: &mut String) -> fmt::Result {
        out.push_str("<h2>Shares, furthest beyond chance first</h2>\n<div class=\"full\">");
        let row = |(share, difference): (&Pair<Share>, Difference)| {
            let [a, b] = share.percentages().map(|share| share.map_or("–".to_owned(), percentage));
            let title = format!("{} <small>of {}</small>", Escaped(share.a.title), share.a.unit.name());
            let chance = board::points(difference.chance).replace('+', "±\u{2009}");
            vec![title, a, b, board::points(difference.value), chance, beyond(difference)]
        };
        let [a, b] = &self.letters;
        let head = ["", a, b, "difference", "chance", "beyond chance"];
        let all = self.comparison.differences().into_iter();
        let (beyond_chance, by_chance): (Vec<_>, Vec<_>) = all.partition(|(_, difference)| !difference.is_chance());
        let rows = [beyond_chance, by_chance].map(|shares| shares.into_iter().map(row).collect());
        beyond_and_by_chance(out, "Shares and their differences in percentage points", &head, "share", rows)?;
        out.push_str("</div>\n");
        Ok(())
    }
}

/// A table of what differs by more than chance, and one that opens with the rest, which is only counted.
fn beyond_and_by_chance(
    out: &mut String,
    caption: &str,
    head: &[&str],
    what: &str,
    [beyond_chance, by_chance]: [Vec<Vec<String>>; 2],
) -> fmt::Result {
    if !beyond_chance.is_empty() {
        Table { caption, head, rows: beyond_chance }.write(out)?;
    }
    if !by_chance.is_empty() {
        let verb = if by_chance.len() == 1 { "differs" } else { "differ" };
        let count = counted(by_chance.len() as u64, what);
        write!(out, "<details><summary>{count} {verb} by no more than chance</summary>")?;
        Table { caption, head, rows: by_chance }.write(out)?;
        out.push_str("</details>");
    }
    Ok(())
}

/// The distance, as a prefix.
fn distance(distance: Option<Difference>) -> String {
    distance.map_or(String::new(), |distance| {
        let beyond = match beyond(distance) {
            none if none.is_empty() => "no more than chance".to_owned(),
            beyond => format!("{beyond} chance"),
        };
        format!("distance {:.3}, {beyond} · ", distance.value)
    })
}

/// How far a difference is beyond chance; empty if it is not.
fn beyond(difference: Difference) -> String {
    if difference.is_chance() { String::new() } else { format!("{} ×", tenths(difference.beyond())) }
}
