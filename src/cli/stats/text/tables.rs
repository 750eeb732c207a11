//! Tables with counts, summary statistics, distinct positions and groups.

use super::Text;
use super::group_table_columns::{GroupFact, WholeOfGroups};
use super::plots::bar;
use crate::cli::terminal::palette;
use crate::cli::terminal::style::wrapped;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use lanefish::distinct::{LEVELS, Sketch};
use lanefish::report::plots_and_tables::{Hue, NumberTable};
use lanefish::report::{GroupValue, Histogram, Mates, RESULT_SCORE_MOST, Report, Results, Severity};
use lanefish_core::text::numbers::{grouped, percent};
use std::fmt::Write;

/// A header line with nothing below it.
pub(crate) const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Width needed by two tables next to each other, or by a table with quantiles.
const WIDE: usize = 76;

pub(in crate::cli::stats) fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

pub(super) fn decimal(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.2}"))
}

fn whole(value: Option<i64>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

impl Text<'_> {
    /// Counts of positions and of moves, with their percentages: beside each other, or one after the other, where on one
    /// screen moves are a sentence.
    pub(super) fn counts(&self, out: &mut String, is_one_screen: bool) -> std::fmt::Result {
        let report = self.report;
        let positions = report.positions;
        let moves = report.moves();
        let of_positions = |name: &'static str, count: u64| (report.title(name), count, positions);
        let mut left = vec![
            of_positions("White to move", report.white_to_move),
            of_positions("Black to move", positions - report.white_to_move),
        ];
        left.extend(report.position_counts.iter().map(|(number, count)| of_positions(number.title, count)));
        left.extend([
            of_positions("castling rights", report.castling.some),
            of_positions("en passant possible", report.en_passant),
        ]);
        if report.mates != Mates::default() {
            left.extend([
                of_positions("mate score for White", report.mates.white),
                of_positions("mate score for Black", report.mates.black),
            ]);
        }
        left.extend(report.coded_scores.iter().flat_map(|(code, counts)| {
            let titles = code.titles();
            [0, 1].map(|side| of_positions(titles[side], counts[side]))
        }));
        let kinds = report.move_counts.iter();
        // The column is narrow: all of "en passant captures" are captures.
        let kinds = kinds.map(|(number, count)| (number.title.trim_end_matches(" captures"), count, moves));
        let right_side: Vec<_> = std::iter::once(("legal moves", moves, moves)).chain(kinds).collect();
        let cells = |(name, count, whole): (&str, u64, u64)| {
            [Cell::new(name), right(grouped(count)), right(percent(count, whole))]
        };
        let mut table = Table::new();
        table.load_style(RULED);
        table.set_header(["positions", "", "", "", "moves", "", ""]);
        for (at, &left) in left.iter().enumerate() {
            let mut row = Vec::from(cells(left));
            if let Some(&right) = right_side.get(at) {
                row.push(Cell::new(" "));
                row.extend(cells(right));
            }
            table.add_row(row);
        }
        let beside = table.trim_fmt();
        if self.width < WIDE || !self.fits(&beside) {
            let tables = if is_one_screen { 1 } else { 2 };
            let kinds = right_side[1..].iter().map(|&(name, count, whole)| format!("{} {name}", percent(count, whole)));
            let sentence = format!("{} legal moves: {}", grouped(moves), kinds.collect::<Vec<_>>().join(", "));
            for (title, rows) in [("positions", left), ("moves", right_side)].into_iter().take(tables) {
                let mut table = Table::new();
                table.load_style(RULED);
                table.set_header([title, "", ""]);
                rows.into_iter().for_each(|row| {
                    table.add_row(cells(row));
                });
                writeln!(out, "\n{}", table.trim_fmt())?;
            }
            if is_one_screen {
                writeln!(out, "\n{}", wrapped(&sentence, self.width.saturating_sub(1), " "))?;
            }
            return Ok(());
        }
        writeln!(out, "\n{beside}")
    }

    /// A table after an empty line. Its lines that end in these bars, in this order, have them in the colours of their codes.
    fn with_bars(&self, out: &mut String, table: &str, bars: &[(String, &str)]) -> std::fmt::Result {
        out.push('\n');
        let bars = bars.iter().map(|(bar, code)| (bar.trim_end(), code));
        let mut bars = bars.filter(|(bar, _)| !bar.is_empty()).peekable();
        for line in table.lines() {
            let bar = bars.next_if(|(bar, _)| line.ends_with(bar));
            match bar.and_then(|(bar, code)| Some((line.strip_suffix(bar)?, bar, code))) {
                Some((before, bar, code)) => writeln!(out, "{before}{}", self.style.sgr(code, bar))?,
                None => writeln!(out, "{line}")?,
            }
        }
        Ok(())
    }

    /// The results: by game, where games are known, and by position.
    pub(super) fn results(&self, out: &mut String) -> std::fmt::Result {
        let report = self.report;
        let mut columns = vec![("games", report.game_results), ("positions", report.results)];
        columns.retain(|(_, results)| results.known() > 0);
        if columns.is_empty() {
            return Ok(());
        }
        type Part = (&'static str, fn(&Results) -> u64);
        let mut parts: Vec<Part> = vec![
            ("White won", |results| results.white),
            ("drawn", |results| results.draw),
            ("Black won", |results| results.black),
        ];
        if columns.iter().any(|(_, results)| results.unknown > 0) {
            parts.push(("unknown", |results| results.unknown));
        }
        /// The length of the bar of everything.
        const LONGEST: usize = 24;
        let bar_of = |part: fn(&Results) -> u64| {
            let (_, results) = columns[0];
            bar(part(&results), results.total(), LONGEST)
        };
        let codes = [palette::WHITE, palette::DRAW, palette::BLACK, palette::COUNTS];
        let bars: Vec<(String, &str)> =
            parts.iter().zip(codes).map(|(&(_, part), code)| (bar_of(part), code)).collect();
        let table = |bars: &[(String, &str)]| {
            let mut table = Table::new();
            table.load_style(RULED);
            let mut header = vec![Cell::new("results")];
            header.extend(columns.iter().flat_map(|&(unit, _)| [right(unit), Cell::new("")]));
            table.set_header(header);
            for (at, (name, part)) in parts.iter().enumerate() {
                let cells = columns.iter().flat_map(|(_, results)| {
                    let count = part(results);
                    [right(grouped(count)), right(percent(count, results.total()))]
                });
                let cells = std::iter::once(Cell::new(report.title(name))).chain(cells);
                table.add_row(cells.chain(bars.get(at).map(|(bar, _)| Cell::new(bar))));
            }
            table.trim_fmt()
        };
        let beside = table(&bars);
        match self.fits(&beside) {
            true => self.with_bars(out, &beside, &bars),
            false => self.with_bars(out, &table(&[]), &[]),
        }
    }

    /// Whether no line is too long.
    fn fits(&self, text: &str) -> bool {
        text.lines().all(|line| line.chars().count() <= self.width)
    }

    /// Minimum, maximum, mean and quantiles, and the distribution if it is not shown elsewhere. Columns that do not fit
    /// are left out.
    pub(super) fn spreads(&self, out: &mut String, with_distribution: bool) -> std::fmt::Result {
        type Value = fn(&Histogram) -> String;
        /// The title, and whether the column is one of a narrow table.
        const COLUMNS: [(&str, bool, Value); 7] = [
            ("mean", true, |histogram| decimal(histogram.summary().mean)),
            ("std. dev.", false, |histogram| decimal(histogram.summary().stddev)),
            ("min", true, |histogram| whole(histogram.summary().min)),
            ("5 %", false, |histogram| whole(histogram.quantile(5, 100))),
            ("median", true, |histogram| {
                histogram.summary().median.map_or("-".to_owned(), |median| median.to_string())
            }),
            ("95 %", false, |histogram| whole(histogram.quantile(95, 100))),
            ("max", true, |histogram| whole(histogram.summary().max)),
        ];
        const DISTRIBUTION: &str = "distribution";
        const SCORE: &str = "score (centipawns)";
        let report = self.report;
        let [white, black] = &report.material;
        let puzzles = report.puzzles.as_deref();
        let evaluations = report.evaluations.as_deref();
        let mut rows = vec![
            ("legal moves", &report.legal_moves),
            ("pieces", &report.pieces),
            (report.title("White's material"), white),
            (report.title("Black's material"), black),
            ("phase", &report.phase),
        ];
        let others = [
            (SCORE, Some(&report.scores)),
            ("moves to mate", evaluations.map(|evaluations| &evaluations.mate_distances)),
            ("depth", evaluations.map(|evaluations| &evaluations.depths)),
            ("puzzle rating", puzzles.map(|puzzles| &puzzles.ratings)),
            ("popularity", puzzles.map(|puzzles| &puzzles.popularity)),
        ];
        rows.extend(others.into_iter().filter_map(|(name, histogram)| Some((name, histogram?))));
        rows.retain(|(_, histogram)| !histogram.is_empty());
        let spark = |histogram: &Histogram, most: i64| match [1, 999].map(|share| histogram.quantile(share, 1000)) {
            [Some(from), Some(to)] => histogram.spark(from.clamp(-most, most)..=to.clamp(-most, most)),
            _ => String::new(),
        };
        // Scores that are won, or codes for mates, are at the ends.
        let most = |name: &str| if name == SCORE { RESULT_SCORE_MOST.into() } else { i64::MAX };
        let hue = |name: &str| match name {
            "legal moves" => Hue::Moves,
            SCORE | "moves to mate" | "depth" => Hue::Scores,
            _ => Hue::Counts,
        };
        let bars = rows.iter().map(|&(name, histogram)| (spark(histogram, most(name)), palette::code(hue(name))));
        let bars: Vec<(String, &str)> = bars.filter(|_| with_distribution).collect();
        let table = |columns: &[&(&str, bool, Value)]| {
            let mut table = Table::new();
            table.load_style(RULED);
            let names = std::iter::once("per position").chain(columns.iter().map(|(name, ..)| *name));
            table.set_header(names.chain(with_distribution.then_some(DISTRIBUTION)));
            for (at, (name, histogram)) in rows.iter().enumerate() {
                let values = columns.iter().map(|(.., value)| right(value(histogram)));
                let cells = std::iter::once(Cell::new(name)).chain(values);
                table.add_row(cells.chain(bars.get(at).map(|(bar, _)| Cell::new(bar))));
            }
            // There is no distribution of these.
            let attacks = ["attacked by White", "attacked by Black"].into_iter().zip(&report.attacks);
            for (name, map) in attacks.filter(|_| !with_distribution) {
                let mean = map.sum() as f64 / report.positions as f64;
                table.add_row([Cell::new(report.title(name)), right(format!("{mean:.2}"))]);
            }
            table.trim_fmt()
        };
        let all = || COLUMNS.iter();
        let choices: [Vec<_>; 4] = [
            all().filter(|(name, ..)| !with_distribution || *name != "std. dev.").collect(),
            all().filter(|(name, is_narrow, _)| *is_narrow || !with_distribution && *name != "std. dev.").collect(),
            all().filter(|(_, is_narrow, _)| *is_narrow).collect(),
            all().filter(|(name, ..)| ["mean", "median"].contains(name)).collect(),
        ];
        let tables = choices.iter().map(|columns| table(columns));
        let mut tables: Vec<String> = tables.collect();
        let at = tables.iter().position(|table| self.fits(table)).unwrap_or(tables.len() - 1);
        self.with_bars(out, &tables.swap_remove(at), &bars)
    }

    /// Numbers of distinct positions, estimated or exact.
    pub(super) fn distinct(&self, out: &mut String) -> std::fmt::Result {
        let Some(details) = &self.report.details else {
            return Ok(());
        };
        let mut table = Table::new();
        table.load_style(RULED);
        let error = format!("estimate ± {:.1} %", Sketch::ERROR * 100.0);
        let how = match details.exact_distinct {
            Some(_) => "exactly",
            None => &error,
        };
        table.set_header(["distinct", how, "of all"]);
        const NAMES: [&str; LEVELS.len()] =
            ["boards", "… and sides to move", "… and castling rights", "… and en passant captures"];
        let estimates = details.distinct.estimates();
        for (name, count) in NAMES.into_iter().zip(details.exact_distinct.unwrap_or(estimates)) {
            // An estimate may exceed the number of positions.
            let share = percent(count.min(self.report.positions), self.report.positions);
            table.add_row([Cell::new(name), right(grouped(count)), right(share)]);
        }
        writeln!(out, "\n{}", table.trim_fmt())
    }

    /// The time that moves took, mistakes, and accuracy. Columns that do not fit are left out.
    pub(super) fn number_tables(&self, out: &mut String) -> std::fmt::Result {
        self.report.number_tables().iter().try_for_each(|table| self.number_table(out, table))
    }

    /// A table of numbers, without the columns that do not fit.
    pub(super) fn number_table(&self, out: &mut String, table: &NumberTable) -> std::fmt::Result {
        let NumberTable { title, note, head, rows, .. } = table;
        let text = |columns: usize| {
            let mut table = Table::new();
            table.load_style(RULED);
            let cell = |at: usize, text: &str| if at == 0 { Cell::new(text) } else { right(text) };
            table.set_header(head.iter().take(columns).enumerate().map(|(at, name)| cell(at, name)));
            for row in rows {
                table.add_row(row.iter().take(columns).enumerate().map(|(at, text)| cell(at, text)));
            }
            table.trim_fmt()
        };
        let mut columns = head.len();
        while columns > 2 && !self.fits(&text(columns)) {
            columns -= 1;
        }
        self.heading(out, title)?;
        if !note.is_empty() {
            writeln!(out, "{}", self.style.faint(&wrapped(note, self.width, "")))?;
        }
        // A header without names is only a line.
        let text = text(columns);
        let is_named = head.iter().any(|name| !name.is_empty());
        writeln!(out, "{}", if is_named { &text } else { text.trim_start_matches([' ', '\n']) })?;
        if columns < head.len() {
            let names = head[columns..].join(", ");
            let left_out = format!("Left out because they do not fit: {names}. --csv and --html have all.");
            writeln!(out, "{}", self.style.faint(&wrapped(&left_out, self.width, "")))?;
        }
        Ok(())
    }

    /// The remarks, in lines that fit.
    pub(super) fn remarks(&self, out: &mut String) -> std::fmt::Result {
        let remarks = self.report.remarks_on(self.origin);
        if remarks.is_empty() {
            return Ok(());
        }
        out.push('\n');
        for remark in remarks {
            let (sign, code) = match remark.severity {
                Severity::Warning => ("!", "33"),
                Severity::Note => ("·", "2"),
            };
            let advice = remark.advice.map_or(String::new(), |advice| format!(" {advice}"));
            let mut column = self.width;
            write!(out, "{}", self.style.sgr(code, sign))?;
            for (at, word) in format!("{}{advice}", remark.text).split(' ').enumerate() {
                let len = word.chars().count();
                if at > 0 && column + 1 + len > self.width {
                    out.push_str("\n ");
                    column = 1;
                } else if at == 0 {
                    column = 1;
                }
                write!(out, " {word}")?;
                column += 1 + len;
            }
            out.push('\n');
        }
        Ok(())
    }

    /// A line for each group of positions, and one for all that are not among the largest. Long texts are cut, and columns
    /// that do not fit are left out, the least important first.
    pub(super) fn groups(&self, out: &mut String) -> std::fmt::Result {
        /// The lengths to which texts of groups are cut, one after the other, until the table fits.
        const CUTS: [usize; 5] = [usize::MAX, 40, 32, 26, 20];
        let Some(groups) = &self.report.groups else {
            return Ok(());
        };
        let mut shown = groups.shown();
        if let Some(order) = self.order {
            order.sort(&mut shown);
        }
        let others = groups.others.as_ref();
        let reports: Vec<&Report> =
            shown.iter().map(|&(_, report)| report).chain(others.iter().map(|others| &*others.report)).collect();
        let mut named: Vec<GroupColumnText> = Vec::new();
        for (place, column) in groups.by.iter().enumerate() {
            let label = |value: &GroupValue| lanefish_core::text::one_line::of(&column.label(value)).into_owned();
            let mut cells: Vec<String> = shown.iter().map(|(values, _)| label(&values[place])).collect();
            if let Some(others) = others {
                let name = if place == 0 { format!("{} others", grouped(others.groups)) } else { String::new() };
                cells.push(name);
            }
            let is_text = shown.iter().any(|(values, _)| matches!(values[place], GroupValue::Text(_)));
            named.push(GroupColumnText { is_text, head: column.name.clone(), cells });
        }
        let whole = WholeOfGroups::of(self.report, groups);
        let number = |facts: &[GroupFact]| -> Vec<GroupColumnText> {
            let columns = facts.iter().map(|fact| {
                // In several groups, a game may have been counted more than once.
                let is_of_others = |at: usize| at >= shown.len() && !groups.are_of_games();
                let cells = reports.iter().enumerate().map(|(at, report)| {
                    if is_of_others(at) && fact.is_of_games(&whole) {
                        "-".to_owned()
                    } else {
                        fact.text(report, &whole)
                    }
                });
                GroupColumnText { is_text: false, head: fact.title(self.report).to_owned(), cells: cells.collect() }
            });
            columns.collect()
        };
        let mut facts = self.facts.map_or_else(|| GroupFact::usual(&whole), <[GroupFact]>::to_vec);
        let mut left_out: Vec<&str> = Vec::new();
        loop {
            let numbers = number(&facts);
            let tables = CUTS.iter().map(|&most| group_table(&named, &numbers, most));
            let mut last = String::new();
            let fitting = tables.inspect(|table| last.clone_from(table)).find(|table| self.fits(table));
            let least = facts.iter().max_by_key(|fact| fact.importance(&whole)).copied();
            let table = match (fitting, least) {
                (Some(table), _) => table,
                // What was asked for is shown.
                (None, Some(least)) if self.facts.is_none() && facts.len() > 1 => {
                    facts.retain(|&fact| fact != least);
                    left_out.insert(0, least.title(self.report));
                    continue;
                }
                (None, _) => last,
            };
            writeln!(out, "\n{table}")?;
            if !left_out.is_empty() {
                let columns =
                    format!("Left out because they do not fit: {}. --show chooses columns.", left_out.join(", "));
                writeln!(out, "{}", self.style.faint(&wrapped(&columns, self.width, "")))?;
            }
            if groups.by.iter().any(|column| column.name == "san") {
                let inputs = self.origin.inputs.as_deref().unwrap_or("FILE");
                let tree =
                    format!("`lanefish tree {inputs}` shows the moves of a position, and goes on from each of them.");
                writeln!(out, "{}", self.style.faint(&wrapped(&tree, self.width, "")))?;
            }
            return Ok(());
        }
    }
}

/// A column of the table of groups.
struct GroupColumnText {
    /// Whether it is aligned to the left, and may be cut.
    is_text: bool,
    head: String,
    cells: Vec<String>,
}

/// The table of these columns, with texts of at most this length.
fn group_table(named: &[GroupColumnText], numbers: &[GroupColumnText], most: usize) -> String {
    let mut table = Table::new();
    table.load_style(RULED);
    let columns = || named.iter().chain(numbers);
    let cell = |column: &GroupColumnText, text: &str| match column.is_text {
        true if text.chars().count() > most => Cell::new(text.chars().take(most - 1).chain(['…']).collect::<String>()),
        true => Cell::new(text),
        false => right(text),
    };
    table.set_header(columns().map(|column| cell(column, &column.head)));
    for row in 0..named.first().map_or(0, |column| column.cells.len()) {
        table.add_row(columns().map(|column| cell(column, &column.cells[row])));
    }
    table.trim_fmt()
}
