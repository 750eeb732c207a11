//! The page that compares two datasets.

use super::super::Comparison;
use super::About;
use super::markup::{Escaped, Head, Table, bar, foot};
use super::plot::Plot;
use super::{bars, board};
use crate::text::numbers::{decimal, grouped, percentage};
use std::fmt::{self, Write};

pub(super) fn write(out: &mut String, comparison: &Comparison, abouts: [&About; 2]) -> fmt::Result {
    let title = format!("{} and {}", abouts[0].title, abouts[1].title);
    let mut sections = vec![("summary", "Summary")];
    let all = [
        ("distributions", "Distributions", comparison.plots.is_empty()),
        ("kinds", "Categories", comparison.bars.is_empty()),
        ("boards", "Boards", comparison.boards.is_empty()),
    ]
    .into_iter()
    .filter(|&(_, _, is_empty)| !is_empty);
    sections.extend(all.map(|(id, name, _)| (id, name)));
    let head = Head { title: &title, kind: "comparison of two datasets", inputs: Vec::new(), sections: &sections };
    head.write(out)?;
    summary(out, comparison, abouts)?;
    if !comparison.plots.is_empty() {
        out.push_str(
            "<section id=\"distributions\">\n<h2>Distributions</h2>\n<p class=\"scale\"><span \
            class=\"key a\"></span>A <span class=\"key o\"></span>B</p>\n<div class=\"plots\">\n",
        );
        for plot in &comparison.plots {
            let arrow = |pair: [Option<f64>; 2]| pair.map(|number| number.map_or("–".to_owned(), decimal)).join(" → ");
            let first = &plot.a;
            let plot = Plot {
                title: first.title,
                axis: first.axis,
                unit: first.unit,
                width: first.width,
                series: &[("A", &first.histogram), ("B", &plot.b.histogram)],
                note: format!(
                    "{}mean {} · median {}",
                    distance(plot.distance()),
                    arrow(plot.means()),
                    arrow(plot.medians())
                ),
            };
            plot.write(out)?;
        }
        out.push_str("</div>\n</section>\n");
    }
    if !comparison.bars.is_empty() {
        out.push_str(
            "<section id=\"kinds\">\n<h2>Categories</h2>\n<p class=\"scale\"><span class=\"key \
            a\"></span>A <span class=\"key o\"></span>B, the most different first</p>\n<div class=\"plots \
            pairs\">\n",
        );
        for kinds in &comparison.bars {
            let counts = kinds.counts();
            let note = format!("{}{} different", distance(kinds.distance()), grouped(counts.len() as u64));
            bars::comparison(out, kinds.a.title, &note, &counts)?;
        }
        out.push_str("</div>\n</section>\n");
    }
    if !comparison.boards.is_empty() {
        out.push_str(
            "<section id=\"boards\">\n<h2>Boards</h2>\n<p class=\"scale\">more often in A <span><i \
            class=\"q9\"></i><i class=\"q6\"></i><i class=\"q4\"></i><i class=\"q2\"></i></span><span><i \
            class=\"oq2\"></i><i class=\"oq4\"></i><i class=\"oq6\"></i><i class=\"oq9\"></i></span> more often \
            in B; differences of the shares of each square, in percentage points; the darkest square is the \
            largest difference of the board</p>\n<div class=\"boards\">\n",
        );
        for board in &comparison.boards {
            if let found @ Some(_) = board.distance() {
                board::difference(out, board.a.title, &distance(found), board.squares())?;
            }
        }
        out.push_str("</div>\n</section>\n");
    }
    foot(out);
    Ok(())
}

/// The distance, as a prefix.
fn distance(distance: Option<f64>) -> String {
    distance.map_or(String::new(), |distance| format!("distance {distance:.3} · "))
}

/// The compared datasets, and the largest differences.
fn summary(out: &mut String, comparison: &Comparison, abouts: [&About; 2]) -> fmt::Result {
    out.push_str("<section id=\"summary\">\n<div>\n<h2>Datasets</h2>\n<dl class=\"numbers\">");
    for ((name, class), (about, positions)) in
        [("A", "a"), ("B", "o")].into_iter().zip(abouts.into_iter().zip(comparison.positions))
    {
        let inputs = about.inputs.iter().take(3).map(|input| Escaped(input).to_string());
        writeln!(
            out,
            "<div class=\"wide\"><dt><span class=\"key {class}\"></span>{name}: {}</dt><dd>{} \
             <small>positions{}{}</small></dd></div>",
            Escaped(&about.title),
            grouped(positions),
            if about.inputs.is_empty() { "" } else { " · " },
            inputs.collect::<Vec<_>>().join(", ")
        )?;
    }
    out.push_str("</dl>\n");
    for (name, about) in ["A", "B"].into_iter().zip(abouts) {
        if !about.left_out.is_empty() {
            let left_out = about.left_out.join(". ");
            writeln!(out, "<p class=\"about\">{name} is a selection. {}.</p>", Escaped(&left_out))?;
        }
    }
    for (name, only) in ["A", "B"].into_iter().zip(&comparison.only) {
        if !only.is_empty() {
            writeln!(out, "<p class=\"about\">Only {name} has: {}.</p>", Escaped(&only.join(", ")))?;
        }
    }
    out.push_str(
        "<p class=\"about\">The distance of two distributions (total variation) is the share of the \
        positions of one that would have to change to get the distribution of the other: 0 if they are equal, 1 \
        if they have nothing in common. Even two samples of the same source have a small one.</p>\n",
    );
    shares(out, comparison)?;
    out.push_str("</div>\n<div class=\"full\">\n<h2>Distributions, the most different first</h2>\n");
    let mut distances: Vec<(&str, f64, String)> = Vec::new();
    for plot in &comparison.plots {
        let means = plot.means().map(|mean| mean.map_or("–".to_owned(), decimal));
        distances.extend(plot.distance().map(|distance| (plot.a.title, distance, means.join(" → "))));
    }
    for kinds in &comparison.bars {
        distances.extend(kinds.distance().map(|distance| (kinds.a.title, distance, String::new())));
    }
    for board in &comparison.boards {
        distances.extend(board.distance().map(|distance| (board.a.title, distance, String::new())));
    }
    distances.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rows = distances.into_iter().map(|(title, distance, means)| {
        vec![Escaped(title).to_string(), format!("{distance:.3}"), bar(distance), means]
    });
    let table = Table {
        caption: "Distances of the distributions",
        head: &["", "distance", "", "mean of A → B"],
        rows: rows.collect(),
    };
    table.write(out)?;
    out.push_str("</div>\n</section>\n");
    Ok(())
}

fn shares(out: &mut String, comparison: &Comparison) -> fmt::Result {
    out.push_str("<h2>Shares, the most different first</h2>\n<div class=\"full\">");
    let mut shares: Vec<_> = comparison.shares.iter().filter_map(|share| Some((share, share.difference()?))).collect();
    shares.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let rows = shares.into_iter().map(|(share, difference)| {
        let [a, b] = share.percentages().map(|share| share.map_or("–".to_owned(), percentage));
        let title = format!("{} <small>of {}</small>", Escaped(share.a.title), share.a.unit.name());
        vec![title, a, b, board::points(difference)]
    });
    let table = Table {
        caption: "Shares and their differences in percentage points",
        head: &["", "A", "B", "difference"],
        rows: rows.collect(),
    };
    table.write(out)?;
    out.push_str("</div>\n");
    Ok(())
}
