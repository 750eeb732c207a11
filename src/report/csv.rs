//! A report as tidy CSV files: one row per count, one file per distribution.

use super::time_and_mistakes::{class_name, first_rating};
use super::{
    Details, GroupValue, PHASE_WIDTH, PIECE_LETTERS, PLY_WIDTH, Report, Results, decimal, first_of_result_range,
};
use crate::chess::Square;
use crate::distinct::LEVELS;
use crate::output::cells::write_csv_text;
use std::collections::BTreeMap;

/// The files of a report: their names and contents.
///
/// Each file has a header line and one row per count. With groups, all groups are in the same files. The first columns
/// are then those by which positions are grouped. The groups that are not among the largest are called `(others)`.
///
/// ```
/// use lanefish::report::{Report, csv};
/// let files = csv::files(&Report::default());
/// let (name, content) = files.first_key_value().unwrap();
/// assert_eq!(name, "shares.csv");
/// assert!(content.starts_with(b"unit,share,count,whole\n"));
/// ```
pub fn files(report: &Report) -> BTreeMap<String, Vec<u8>> {
    let mut files = Files::default();
    match &report.groups {
        None => files.add(report, &[]),
        Some(groups) => {
            files.group = groups.by.iter().map(|column| column.name.clone()).collect();
            for (values, report) in &groups.values {
                let values = values.iter().zip(&groups.by).map(|(value, column)| match value {
                    GroupValue::Number(number) => decimal(*number, column.decimals.unwrap_or(0)),
                    GroupValue::Text(text) => text.clone(),
                    GroupValue::Missing => String::new(),
                });
                files.add(report, &values.collect::<Vec<_>>());
            }
            if let Some(others) = &groups.others {
                files.add(&others.report, &vec![OTHERS.to_owned(); groups.by.len()]);
            }
        }
    }
    files.files
}

/// The value of a group that stands for all that are not among the largest.
const OTHERS: &str = "(others)";

#[derive(Default)]
struct Files {
    /// The names of the columns of groups.
    group: Vec<String>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Files {
    /// Adds the rows of a report, each starting with its group, if there are groups.
    fn add(&mut self, report: &Report, group: &[String]) {
        let shares = report.shares();
        let rows = shares.iter().map(|share| {
            let [count, whole] = [share.count, share.whole].map(|number| number.to_string());
            [share.unit.name().to_owned(), share.key.to_owned(), count, whole]
        });
        self.write("shares", ["unit", "share", "count", "whole"], group, rows);
        for plot in report.plots() {
            let rows = plot.histogram.iter().map(|(number, count)| [number.to_string(), count.to_string()]);
            self.write(plot.key, ["value", "count"], group, rows);
        }
        for bars in report.bars() {
            let rows = bars.bars.into_iter().map(|(name, count)| [name, count.to_string()]);
            self.write(bars.key, ["value", "count"], group, rows);
        }
        for board in report.boards() {
            let rows = Square::all()
                .zip(board.counts)
                .map(|(square, count)| [board.key.to_owned(), square.to_string(), count.to_string()]);
            self.write("squares", ["map", "square", "count"], group, rows);
        }
        for table in report.tables() {
            let rows = table.cells.iter().map(|(row, column, count)| {
                let labels = [table.rows.label(row), table.columns.label(column)];
                let [row, column] = labels;
                [row, column, count.to_string()]
            });
            self.write(table.key, [table.rows.key, table.columns.key, "count"], group, rows);
        }
        self.add_features(report, group);
        if let Some(details) = &report.details {
            let estimates = LEVELS.into_iter().zip(details.distinct.estimates()).enumerate();
            let rows = estimates.map(|(at, (level, estimate))| {
                let exact = details.exact_distinct.map(|exact| exact[at].to_string());
                [level.to_owned(), estimate.to_string(), exact.unwrap_or_default()]
            });
            self.write("distinct", ["level", "estimate", "exact"], group, rows);
            for bars in details.games.results.bars() {
                let rows = bars.keys.into_iter().zip(bars.bars).map(|(name, (_, results))| {
                    let Results { white, draw, black, unknown } = results;
                    let [white, draw, black, unknown] = [white, draw, black, unknown].map(|count| count.to_string());
                    [name, white, draw, black, unknown]
                });
                self.write(bars.key, [bars.column, "white", "draw", "black", "unknown"], group, rows);
            }
            self.add_time_and_mistakes(details, group);
            self.add_score_results(details, group);
        }
    }

    /// Adds how the inputs of a network are covered: a row for each input, for each bucket of the own king, and for each pair of
    /// pieces.
    fn add_features(&mut self, report: &Report, group: &[String]) {
        let Some(features) = &report.features else {
            return;
        };
        let rows = (0..).zip(&features.counts);
        let rows = rows.map(|(index, count)| [index.to_string(), features.set.meaning(index), count.to_string()]);
        self.write("features", ["index", "meaning", "count"], group, rows);
        if features.king_buckets.is_some() {
            let rows = features.named_king_buckets().into_iter().enumerate();
            let rows = rows.map(|(bucket, (name, count))| [bucket.to_string(), name, count.to_string()]);
            self.write("king_buckets", ["bucket", "king", "lists"], group, rows);
        }
        let Some(threats) = &features.threats else {
            return;
        };
        let rows = PIECE_LETTERS.iter().zip(&threats.attacks).flat_map(|(attacker, counts)| {
            let attacked = PIECE_LETTERS.iter().zip(counts);
            attacked.map(|(attacked, count)| [(*attacker).to_owned(), (*attacked).to_owned(), count.to_string()])
        });
        self.write("threats", ["attacker", "attacked", "count"], group, rows);
        let rows = ["white", "black"].into_iter().zip(&threats.hanging).map(|(color, hanging)| {
            [color.to_owned(), hanging.undefended.to_string(), hanging.attacked_by_less.to_string()]
        });
        self.write("hanging", ["color", "undefended", "attacked_by_less"], group, rows);
    }

    /// Adds the results by score: the rows with counts. Scores below all ranges have no first one.
    fn add_score_results(&mut self, details: &Details, group: &[String]) {
        let Some(results) = &details.score_results else {
            return;
        };
        let ranges =
            results.phases.iter().enumerate().flat_map(|(phase, ranges)| {
                ranges.iter().enumerate().map(move |(range, results)| (phase, range, results))
            });
        let rows = ranges.filter(|(.., results)| results.total() > 0).map(|(phase, range, results)| {
            let first = first_of_result_range(range).map_or(String::new(), |first| first.to_string());
            let [won, drawn, lost] = results.counts.map(|count| count.to_string());
            [(phase * PHASE_WIDTH).to_string(), first, won, drawn, lost]
        });
        self.write("score_results", ["first_phase", "first_score", "won", "drawn", "lost"], group, rows);
    }

    /// Adds the rows about time, mistakes and accuracy: those with counts.
    fn add_time_and_mistakes(&mut self, details: &Details, group: &[String]) {
        if let Some(times) = &details.times_used {
            let bands =
                times.moves.iter().enumerate().flat_map(|(band, classes)| {
                    classes.iter().enumerate().map(move |(class, moves)| (band, class, moves))
                });
            let rows = bands.filter(|(.., moves)| moves.moves > 0).map(|(band, class, moves)| {
                let ply = band * usize::from(PLY_WIDTH);
                let [count, time] = [moves.moves, moves.centiseconds].map(|number| number.to_string());
                [ply.to_string(), class_name(class).to_owned(), count, time]
            });
            self.write("time_used", ["first_ply", "time_control", "moves", "centiseconds"], group, rows);
        }
        let rating = |band: usize| first_rating(band).map_or(String::new(), |first| first.to_string());
        if let Some(mistakes) = &details.mistakes {
            let bands =
                mistakes.moves.iter().enumerate().flat_map(|(phase, ratings)| {
                    ratings.iter().enumerate().map(move |(band, moves)| (phase, band, moves))
                });
            let rows = bands.filter(|(.., moves)| moves.moves > 0).map(|(phase, band, moves)| {
                let [inaccuracies, mistakes, blunders] = moves.judgments.map(|count| count.to_string());
                let phase = (phase * PHASE_WIDTH).to_string();
                [phase, rating(band), moves.moves.to_string(), inaccuracies, mistakes, blunders]
            });
            let header = ["first_phase", "first_rating", "moves", "inaccuracies", "mistakes", "blunders"];
            self.write("mistakes", header, group, rows);
        }
        if let Some(accuracies) = &details.accuracies {
            let rows = accuracies.percent.iter().enumerate().flat_map(|(band, percent)| {
                percent.iter().map(move |(percent, count)| [rating(band), percent.to_string(), count.to_string()])
            });
            self.write("accuracy_by_rating", ["first_rating", "accuracy", "count"], group, rows);
        }
    }

    fn write<const N: usize>(
        &mut self,
        name: &str,
        header: [&str; N],
        group: &[String],
        rows: impl Iterator<Item = [String; N]>,
    ) {
        let file = self.files.entry(format!("{name}.csv")).or_insert_with(|| {
            let mut file = Vec::new();
            let group = self.group.iter().map(String::as_str);
            line(group.chain(header), &mut file);
            file
        });
        for row in rows {
            let group = group.iter().map(String::as_str);
            line(group.chain(row.iter().map(String::as_str)), file);
        }
    }
}

fn line<'a>(fields: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_csv_text(field, out);
    }
    out.push(b'\n');
}
