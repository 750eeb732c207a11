//! Joint distributions: heat maps of cells, and stacked bars where the columns are results.

use super::bins::ticks;
use super::markup::{Escaped, Table};
use crate::report::plots_and_tables::{Axis, Table as Joint};
use crate::report::{Matrix, Results, SCORE_MOST, SCORE_WIDTH};
use crate::text::numbers::{counted, decimal, grouped, percent, percentage, tenths};
use std::fmt::{self, Write};

const WIDTH: f64 = 360.0;
const LEFT: f64 = 38.0;
const RIGHT: f64 = 352.0;
const TOP: f64 = 18.0;

/// Maximum number of columns and rows; more would be too small to distinguish on a phone.
const MOST_COLUMNS: usize = 41;
const MOST_ROWS: usize = 32;
/// Rows and columns at the edges are omitted if their share is below this.
const TAIL: u64 = 1000;

/// The meaning of the shade of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shade {
    /// The logarithm of the count.
    Count,
    /// The share within its row.
    Row,
}

/// The rows or columns that are drawn, from a first to a last one, some of them combined.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: usize,
    /// Rows or columns in each cell.
    width: usize,
    cells: usize,
}

impl Span {
    /// The range with nearly all counts, in at most `most` cells.
    fn of(sums: &[u64], most: usize) -> Self {
        let total: u64 = sums.iter().sum();
        let beyond = |ends: &mut dyn Iterator<Item = &u64>| {
            let mut sum = 0;
            ends.take_while(|&&count| {
                sum += count;
                sum == 0 || sum < total / TAIL
            })
            .count()
        };
        let first = beyond(&mut sums.iter()).min(sums.len().saturating_sub(1));
        let last = sums.len().saturating_sub(beyond(&mut sums.iter().rev())).max(first + 1);
        let width = (last - first).div_ceil(most);
        // Cells begin at multiples of their width.
        let first = first / width * width;
        Self { first, width, cells: (last - first).div_ceil(width) }
    }
    fn cell(&self, at: usize) -> Option<usize> {
        let cell = at.checked_sub(self.first)? / self.width;
        (cell < self.cells).then_some(cell)
    }
    fn covers(&self, at: usize) -> bool {
        self.cell(at).is_some()
    }
    fn label(&self, axis: &Axis, cell: usize) -> String {
        let first = self.first + cell * self.width;
        let last = first + self.width - 1;
        let minus = |text: String| text.replace('-', "−");
        if axis.width > 0 {
            let middle = |at: usize| axis.label(at).parse::<i64>().unwrap_or(0);
            let (low, high) = (middle(first) - axis.width / 2, middle(last) + (axis.width - 1) / 2);
            return match (first == 0, last + 1 >= axis.labels.len()) {
                (true, _) => minus(format!("up to {high}")),
                (_, true) => minus(format!("from {low}")),
                _ => minus(format!("{low} to {high}")),
            };
        }
        let name = |at: usize| minus(axis.label(at));
        match self.width {
            1 => name(first),
            _ if last < axis.labels.len() || axis.labels.is_empty() => {
                format!("{} to {}", name(first), name(last))
            }
            _ => name(first),
        }
    }
}

/// A heat map of the cells. The rows go up, as on an axis.
pub(super) fn heat_map(out: &mut String, joint: &Joint, shade: Shade) -> fmt::Result {
    let (rows, columns, cells) = condensed(&joint.cells);
    let total: u64 = joint.cells.iter().map(|(_, _, count)| count).sum();
    let shown: u64 = cells.iter().flatten().sum();
    let most = cells.iter().flatten().copied().max().unwrap_or(0);
    let how = match shade {
        Shade::Count => format!("colour: 1 to {}", counted(most, "position")),
        // All scores beyond the largest are in one column.
        Shade::Row if columns.first == 0 || columns.covers(joint.columns.labels.len() - 1) => {
            "each row has its own scale: the strongest colour is its most frequent score; the outermost columns include \
             all scores beyond"
                .to_owned()
        }
        Shade::Row => "each row has its own scale: the strongest colour is its most frequent score".to_owned(),
    };
    write!(
        out,
        "<figure><figcaption><h3>{}{}</h3><p>{how}</p>",
        Escaped(joint.title),
        if shade == Shade::Count { " <small>(log scale)</small>" } else { "" },
    )?;
    if shown < total {
        write!(
            out,
            "<p>Not shown: {} ({}) at the edges.</p>",
            counted(total - shown, "position"),
            percent(total - shown, total)
        )?;
    }
    out.push_str("</figcaption>\n");
    // Wide cells are as high as they are wide, up to a limit.
    let width = (RIGHT - LEFT) / columns.cells as f64;
    let height = (210.0 / rows.cells as f64).clamp(5.0, 12.0);
    let bottom = TOP + height * rows.cells as f64;
    let (best_row, best_column) = (0..rows.cells)
        .flat_map(|row| (0..columns.cells).map(move |column| (row, column)))
        .find(|&(row, column)| cells[row][column] == most)
        .unwrap_or((0, 0));
    let label = format!(
        "Heat map: {} (rows) and {} (columns). Most positions: {} and {}, {}.",
        joint.rows.title,
        joint.columns.title,
        rows.label(&joint.rows, best_row),
        columns.label(&joint.columns, best_column),
        percent(most, total)
    );
    // The script takes the values of the cells from the table of numbers.
    let whole = match shade {
        Shade::Count => total.to_string(),
        Shade::Row => "row".to_owned(),
    };
    write!(
        out,
        "<svg class=\"joint\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\" data-whole=\"{whole}\"><text \
         class=\"a\" x=\"0\" y=\"11\">{}</text><g class=\"cells\" transform=\"translate({LEFT} {bottom:.1}) \
         scale({width:.4} -{height:.4})\">",
        bottom + 38.0,
        Escaped(&label),
        Escaped(joint.rows.title)
    )?;
    for (level, path) in paths(&cells, shade).iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        write!(out, "<path class=\"q{level}\" d=\"{path}\"/>")?;
    }
    out.push_str("</g>");
    row_names(out, &joint.rows, rows, bottom, height)?;
    write!(out, "<path class=\"x\" d=\"M{LEFT} {bottom:.1}H{RIGHT}M{LEFT} {bottom:.1}V{TOP}\"/>")?;
    for (at, name) in round_names(&joint.columns, columns, 6) {
        let x = LEFT + width * at;
        write!(
            out,
            "<path class=\"x\" d=\"M{x:.1} {bottom:.1}v4\"/><text class=\"n\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            bottom + 15.0,
            Escaped(&name)
        )?;
    }
    writeln!(
        out,
        "<text class=\"n a\" x=\"{:.1}\" y=\"{:.1}\">{}</text></svg>",
        (LEFT + RIGHT) / 2.0,
        bottom + 32.0,
        Escaped(joint.columns.title)
    )?;
    numbers(joint, rows, columns, &cells).write_details(out)?;
    out.push_str("</figure>\n");
    Ok(())
}

/// Number of steps of the colours of cells.
const LEVELS: usize = 10;

/// The cells of each step of colour as a path of rectangles, one for each run of cells of a row: in units of cells, so
/// that pages are short.
fn paths(cells: &[Vec<u64>], shade: Shade) -> [String; LEVELS] {
    let most = cells.iter().flatten().copied().max().unwrap_or(0);
    let mut paths = [const { String::new() }; LEVELS];
    for (row, counts) in cells.iter().enumerate() {
        let highest = counts.iter().copied().max().unwrap_or(0);
        let level = |count: u64| {
            let level = match shade {
                Shade::Count if most > 1 => (count as f64).ln() / (most as f64).ln(),
                Shade::Count => 1.0,
                Shade::Row => count as f64 / highest as f64,
            };
            (count > 0).then_some(((level * LEVELS as f64) as usize).min(LEVELS - 1))
        };
        let mut column = 0;
        for run in counts.chunk_by(|&a, &b| level(a) == level(b)) {
            if let Some(level) = level(run[0]) {
                let width = run.len();
                paths[level].push_str(&format!("M{column} {row}h{width}v1h-{width}z"));
            }
            column += run.len();
        }
    }
    paths
}

/// Combines the cells of a matrix until there are few enough.
fn condensed(matrix: &Matrix) -> (Span, Span, Vec<Vec<u64>>) {
    let mut sums = vec![0; matrix.columns()];
    for (_, column, count) in matrix.iter() {
        sums[column] += count;
    }
    let row_sums: Vec<u64> = (0..matrix.rows().len()).map(|row| matrix.row_sum(row)).collect();
    let rows = Span::of(&row_sums, MOST_ROWS);
    let columns = Span::of(&sums, MOST_COLUMNS);
    let mut cells = vec![vec![0; columns.cells]; rows.cells];
    for (row, column, count) in matrix.iter() {
        if let (Some(row), Some(column)) = (rows.cell(row), columns.cell(column)) {
            cells[row][column] += count;
        }
    }
    (rows, columns, cells)
}

/// Round numbers on an axis, with their places in cells.
fn round_names(axis: &Axis, span: Span, most: usize) -> Vec<(f64, String)> {
    let value = |at: usize| axis.label(at).parse::<f64>().ok();
    let last = span.first + span.cells * span.width - 1;
    let (Some(low), Some(next)) = (value(span.first), value(span.first + 1)) else {
        let names = (0..span.cells).map(|cell| (cell as f64 + 0.5, span.label(axis, cell)));
        return names.collect();
    };
    let step = next - low;
    let high = low + step * (last - span.first) as f64;
    ticks(low, high, most)
        .into_iter()
        .filter(|tick| tick.fract() == 0.0)
        .map(|tick| {
            let at = (tick - low) / step + 0.5;
            (at / span.width as f64, format!("{tick}").replace('-', "−"))
        })
        .collect()
}

fn row_names(out: &mut String, axis: &Axis, rows: Span, bottom: f64, height: f64) -> fmt::Result {
    for (at, name) in round_names(axis, rows, 7) {
        let y = bottom - height * at;
        write!(out, "<text class=\"y\" x=\"{}\" y=\"{:.1}\">{}</text>", LEFT - 5.0, y + 3.6, Escaped(&name))?;
    }
    Ok(())
}

fn numbers<'a>(joint: &'a Joint, rows: Span, columns: Span, cells: &[Vec<u64>]) -> OwnedTable<'a> {
    let corner = format!("{} \\ {}", joint.rows.title, joint.columns.title);
    let mut head = vec![corner];
    head.extend((0..columns.cells).map(|cell| columns.label(&joint.columns, cell)));
    let rows = cells.iter().enumerate().map(|(row, counts)| {
        let mut cells = vec![Escaped(&rows.label(&joint.rows, row)).to_string()];
        cells.extend(counts.iter().map(|&count| grouped(count)));
        cells
    });
    OwnedTable { caption: joint.title, head, rows: rows.collect() }
}

/// The numbers of a joint distribution as a table.
struct OwnedTable<'a> {
    caption: &'a str,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl OwnedTable<'_> {
    fn write_details(self, out: &mut String) -> fmt::Result {
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        let table = Table { caption: self.caption, head: &head, rows: self.rows };
        table.write_details(out)
    }
}

/// The scores of a phase.
pub(super) struct Scores {
    pub(super) phase: usize,
    pub(super) count: u64,
    pub(super) mean: f64,
    /// The standard error of the mean.
    pub(super) error: f64,
}

impl Scores {
    /// The scores of a phase, from their sum and their distribution over the columns of [`score_column`].
    ///
    /// [`score_column`]: crate::report::score_column
    pub(super) fn of(phase: usize, sum: i64, columns: &[u64]) -> Option<Self> {
        let count: u64 = columns.iter().sum();
        if count == 0 {
            return None;
        }
        let value = |column: usize| (column as i64 * i64::from(SCORE_WIDTH) - i64::from(SCORE_MOST)) as f64;
        let middle =
            columns.iter().enumerate().map(|(at, &count)| value(at) * count as f64).sum::<f64>() / count as f64;
        let squares = columns.iter().enumerate().map(|(at, &count)| (value(at) - middle).powi(2) * count as f64);
        let error = (squares.sum::<f64>() / count as f64 / count as f64).sqrt();
        Some(Self { phase, count, mean: sum as f64 / count as f64, error })
    }

    /// The range of two standard errors around the mean.
    fn band(&self) -> [f64; 2] {
        [self.mean - 2.0 * self.error, self.mean + 2.0 * self.error]
    }
}

/// Phases with fewer scores are not drawn.
const FEWEST_SCORES: u64 = 30;

/// Mean scores by phase, with the number of scores, as bars to both sides of zero, and with their uncertainty.
pub(super) fn means(out: &mut String, all: &[Scores], label: &str) -> fmt::Result {
    let means = || all.iter().filter(|scores| scores.count >= FEWEST_SCORES);
    let Some(rows) = means().map(|scores| scores.phase + 1).max() else {
        return Ok(());
    };
    let ends = || means().flat_map(Scores::band);
    let (low, high) = (ends().fold(0.0, f64::min), ends().fold(0.0, f64::max));
    let (low, high) = if high > low { (low, high) } else { (-1.0, 1.0) };
    let (levels, [low, high]) = symmetric_axis(low, high, 5);
    let height = (210.0 / rows as f64).clamp(6.0, 16.0);
    let bottom = TOP + height * rows as f64;
    let x = |score: f64| LEFT + (score - low) / (high - low) * (RIGHT - LEFT);
    let title = "Mean score by phase";
    let few = all.len() - means().count();
    let left_out = match few {
        0 => String::new(),
        1 => format!("; one phase with fewer than {FEWEST_SCORES} scores is only among the numbers"),
        few => format!("; {few} phases with fewer than {FEWEST_SCORES} scores are only among the numbers"),
    };
    write!(
        out,
        "<figure><figcaption><h3>{title}</h3><p>without mates; lines: two standard errors to either \
         side{left_out}</p></figcaption>\n\
         <svg class=\"plot scores\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Bars: {title}, from {} to \
             {} centipawns.\"><text class=\"a\" x=\"0\" y=\"11\">phase</text>",
        bottom + 38.0,
        decimal(means().map(|scores| scores.mean).fold(f64::INFINITY, f64::min)),
        decimal(means().map(|scores| scores.mean).fold(f64::NEG_INFINITY, f64::max))
    )?;
    for tick in levels {
        let x = x(tick);
        write!(
            out,
            "<path class=\"g\" d=\"M{x:.1} {bottom:.1}V{TOP}\"/><text class=\"n\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            bottom + 15.0,
            decimal(tick)
        )?;
    }
    for scores in means() {
        let &Scores { phase, count, mean, error } = scores;
        let y = bottom - height * (phase + 1) as f64;
        let (from, to) = (x(mean.min(0.0)), x(mean.max(0.0)));
        let [band_from, band_to] = scores.band().map(x);
        write!(
            out,
            "<rect class=\"b\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\
             <path class=\"x\" d=\"M{band_from:.1} {:.1}H{band_to:.1}\"/>\
             <rect class=\"h\" x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{phase}: \
                 {} ± {}, {} scores</title></rect>",
            y + 0.5,
            (to - from).max(0.5),
            height - 1.0,
            y + height / 2.0,
            RIGHT - LEFT,
            decimal(mean),
            decimal(2.0 * error),
            grouped(count)
        )?;
    }
    let span = Span { first: 0, width: 1, cells: rows };
    let phase = Axis { key: "phase", title: "phase", labels: Vec::new(), width: 0 };
    row_names(out, &phase, span, bottom, height)?;
    let zero = x(0.0);
    writeln!(
        out,
        "<path class=\"x\" d=\"M{zero:.1} {bottom:.1}V{TOP}\"/><text class=\"n a\" x=\"{:.1}\" \
         y=\"{:.1}\">{label}</text></svg>",
        (LEFT + RIGHT) / 2.0,
        bottom + 32.0
    )?;
    let rows = all.iter().map(|&Scores { phase, count, mean, error }| {
        vec![phase.to_string(), grouped(count), tenths(mean), tenths(2.0 * error)]
    });
    let table = Table {
        caption: &format!("Mean score in each phase, in {label}"),
        head: &["phase", "scores", "mean score", "±"],
        rows: rows.collect(),
    };
    table.write_details(out)?;
    out.push_str("</figure>\n");
    Ok(())
}

/// The numbers of an axis that may begin below zero, and its ends, which are among them.
fn symmetric_axis(low: f64, high: f64, most: usize) -> (Vec<f64>, [f64; 2]) {
    let levels = ticks(low, high, most);
    let [first, second, ..] = *levels else { return (levels, [low, high]) };
    let step = second - first;
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    let levels: Vec<f64> = (first as i64..=last as i64).map(|at| at as f64 * step).collect();
    (levels, [first * step, last * step])
}

/// The results in each row as a stacked bar. The columns are White won, draw, Black won, unknown.
pub(super) fn results(out: &mut String, joint: &Joint) -> fmt::Result {
    let of_row = |row: usize| {
        let count = |column: usize| joint.cells.count(row, column);
        Results { white: count(0), draw: count(1), black: count(2), unknown: count(3) }
    };
    let known: Vec<u64> = (0..joint.cells.rows().len()).map(|row| of_row(row).known()).collect();
    let rows = known.len();
    if known.iter().all(|&count| count == 0) {
        return Ok(());
    }
    let height = (210.0 / rows as f64).clamp(6.0, 16.0);
    let bottom = TOP + height * rows as f64;
    let total: u64 = known.iter().sum();
    // The results, in the order of the columns.
    let (white_won, black_won) = (joint.columns.label(0), joint.columns.label(2));
    let mut all = Results::default();
    (0..rows).for_each(|row| {
        let results = of_row(row);
        all.white += results.white;
        all.draw += results.draw;
        all.black += results.black;
    });
    write!(
        out,
        "<figure><figcaption><h3>{}</h3><p><span class=\"key w\"></span>{white_won} <span class=\"key \
         d\"></span>drawn <span class=\"key b\"></span>{black_won}</p></figcaption>\n\
         <svg class=\"joint\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Stacked bars: {}. Of all, \
             {white_won} {}, drawn {}, {black_won} {}.\"><text class=\"a\" x=\"0\" y=\"11\">{}</text>",
        Escaped(joint.title),
        bottom + 38.0,
        Escaped(joint.title),
        percent(all.white, total),
        percent(all.draw, total),
        percent(all.black, total),
        Escaped(joint.rows.title)
    )?;
    for (row, &known) in known.iter().enumerate().filter(|&(_, &known)| known > 0) {
        let results = of_row(row);
        let y = bottom - height * (row + 1) as f64;
        let mut x = LEFT;
        let parts =
            [(&*white_won, results.white, "w"), ("drawn", results.draw, "d"), (&*black_won, results.black, "b")];
        for (name, count, class) in parts.into_iter().filter(|&(_, count, _)| count > 0) {
            let width = count as f64 / known as f64 * (RIGHT - LEFT);
            write!(
                out,
                "<rect class=\"s{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" \
                 height=\"{:.1}\"><title>{}: {name} {} ({})</title></rect>",
                y + 0.5,
                height - 1.0,
                Escaped(&joint.rows.label(row)),
                grouped(count),
                percent(count, known)
            )?;
            x += width;
        }
    }
    let span = Span { first: 0, width: 1, cells: rows };
    row_names(out, &joint.rows, span, bottom, height)?;
    for share in [0, 25, 50, 75, 100] {
        let x = LEFT + (RIGHT - LEFT) * f64::from(share) / 100.0;
        write!(
            out,
            "<path class=\"x\" d=\"M{x:.1} {bottom:.1}v4\"/><text class=\"n\" x=\"{x:.1}\" y=\"{:.1}\">{share}</text>",
            bottom + 15.0
        )?;
    }
    writeln!(
        out,
        "<text class=\"n a\" x=\"{:.1}\" y=\"{:.1}\">% of positions with a result</text></svg>",
        (LEFT + RIGHT) / 2.0,
        bottom + 32.0
    )?;
    let rows = (0..rows).map(|row| {
        let (results, known) = (of_row(row), known[row].max(1));
        let counts = [results.white, results.draw, results.black];
        let mut cells = vec![Escaped(&joint.rows.label(row)).to_string()];
        cells.extend(
            counts.map(|count| format!("{} ({})", grouped(count), percentage(count as f64 / known as f64 * 100.0))),
        );
        cells.push(grouped(results.unknown));
        cells
    });
    let table = Table {
        caption: joint.title,
        head: &[joint.rows.title, &white_won, "drawn", &black_won, "unknown"],
        rows: rows.collect(),
    };
    table.write_details(out)?;
    out.push_str("</figure>\n");
    Ok(())
}
