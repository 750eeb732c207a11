//! Score against result: the shares of wins, draws and losses over the score, with the logistic curve that fits best.

use super::markup::{Escaped, Table};
use crate::report::score_results::range_label;
use crate::report::{
    MoverResults, RESULT_SCORE_MOST, RESULT_SCORE_RANGES, RESULT_SCORE_WIDTH, Report, first_of_result_range,
};
use crate::text::numbers::{counted, grouped, percent};
use std::fmt::{self, Write};

const WIDTH: f64 = 360.0;
const LEFT: f64 = 38.0;
const RIGHT: f64 = 352.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 158.0;

/// The figure; nothing if no record has a score and a result.
pub(super) fn figure(out: &mut String, report: &Report) -> fmt::Result {
    let Some(results) = report.details.as_ref().and_then(|details| details.score_results.as_deref()) else {
        return Ok(());
    };
    let all = results.all();
    let scale = report.logistic_scale(None);
    let [below, above] = [all[0], all[RESULT_SCORE_RANGES - 1]].map(MoverResults::total);
    write!(
        out,
        "<figure><figcaption><h3>Score against result</h3><p>both from the side to move: <span class=\"key \
         w\"></span>won <span class=\"key d\"></span>drawn <span class=\"key b\"></span>lost{}</p>",
        scale.map_or(String::new(), |scale| format!("; <span class=\"key o\"></span>{}", Escaped(&scale.to_string())))
    )?;
    if below + above > 0 {
        write!(
            out,
            "<p>Not shown: {} below −{most} and {} from {most} on.</p>",
            counted(below, "position"),
            grouped(above),
            most = grouped(RESULT_SCORE_MOST as u64)
        )?;
    }
    write!(
        out,
        "</figcaption>\n<svg class=\"joint\" viewBox=\"0 0 {WIDTH} 196\" role=\"img\" aria-label=\"Stacked bars: results by \
         score from the side to move.{}\"><text class=\"a\" x=\"0\" y=\"11\">% of {}</text>",
        scale.map_or(String::new(), |scale| format!(" {}", Escaped(&scale.to_string()))),
        counted(results.total(), "position")
    )?;
    let most = f64::from(RESULT_SCORE_MOST);
    let x = |score: f64| LEFT + (RIGHT - LEFT) * (score + most) / (2.0 * most);
    let y = |share: f64| BOTTOM - (BOTTOM - TOP) * share;
    for share in [0, 25, 50, 75, 100] {
        let y = y(f64::from(share) / 100.0);
        write!(out, "<text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{share}</text>", LEFT - 5.0, y + 3.6)?;
    }
    for (range, of_range) in all.iter().enumerate().take(RESULT_SCORE_RANGES - 1).skip(1) {
        let total = of_range.total();
        let first = f64::from(first_of_result_range(range).unwrap_or_default());
        let (left, width) = (x(first), x(f64::from(RESULT_SCORE_WIDTH)) - x(0.0));
        let mut from = 0;
        for (name, count, class) in [("won", 0, "w"), ("drawn", 1, "d"), ("lost", 2, "b")] {
            let count = of_range.counts[count];
            if count == 0 {
                continue;
            }
            let [low, high] = [from, from + count].map(|count| y(count as f64 / total as f64));
            from += count;
            write!(
                out,
                "<rect class=\"s{class}\" x=\"{left:.1}\" y=\"{high:.1}\" width=\"{width:.1}\" \
                 height=\"{:.1}\"><title>{}: {name} {} ({})</title></rect>",
                low - high,
                Escaped(&range_label(range)),
                grouped(count),
                percent(count, total)
            )?;
        }
    }
    if let Some(scale) = scale {
        let mut path = String::new();
        for step in 0..=60 {
            let score = -most + f64::from(step) * most / 30.0;
            write!(path, "{}{:.1} {:.1}", if step == 0 { 'M' } else { 'L' }, x(score), y(scale.points(score)))?;
        }
        write!(out, "<path class=\"o\" d=\"{path}\"/>")?;
    }
    write!(out, "<path class=\"x\" d=\"M{LEFT} {BOTTOM}H{RIGHT}M{LEFT} {BOTTOM}V{TOP}\"/>")?;
    for score in [-1500, -1000, -500, 0, 500, 1000, 1500] {
        let x = x(f64::from(score));
        let name = score.to_string().replace('-', "−");
        write!(
            out,
            "<path class=\"x\" d=\"M{x:.1} {BOTTOM}v4\"/><text class=\"n\" x=\"{x:.1}\" y=\"{:.1}\">{name}</text>",
            BOTTOM + 15.0
        )?;
    }
    writeln!(
        out,
        "<text class=\"n a\" x=\"{:.1}\" y=\"{:.1}\">centipawns from the side to move</text></svg>",
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 32.0
    )?;
    let rows = all.iter().enumerate().filter(|(_, results)| results.total() > 0).map(|(range, results)| {
        let [won, drawn, lost] = results.counts;
        let points = results.points().map_or(String::new(), |points| format!("{:.1} %", 100.0 * points));
        vec![Escaped(&range_label(range)).to_string(), grouped(won), grouped(drawn), grouped(lost), points]
    });
    let head = ["score", "won", "drawn", "lost", "points"];
    Table { caption: "Score against result", head: &head, rows: rows.collect() }.write_details(out)?;
    out.push_str("</figure>\n");
    phases(out, report)
}

/// The scale of each range of phases.
fn phases(out: &mut String, report: &Report) -> fmt::Result {
    let Some(table) = report.scale_by_phase() else {
        return Ok(());
    };
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| Escaped(cell).to_string()).collect()).collect();
    write!(
        out,
        "<figure class=\"bars\"><figcaption><h3>{}</h3><p>{}</p></figcaption>",
        table.title,
        Escaped(&table.note)
    )?;
    Table { caption: table.title, head: &table.head, rows }.write(out)?;
    out.push_str("</figure>\n");
    Ok(())
}
