//! A report as text for people: tables, bars and boards that fit the terminal.
//!
//! Everything except the tables is generated from the facts of the report, in their order, so that new facts appear
//! here automatically.

mod boards;
pub(super) mod comparison;
mod group_table_columns;
pub(super) mod label_comparison;
mod plots;
mod score_results;
pub(super) mod tables;

pub(super) use group_table_columns::{GroupFact, GroupOrder};

use crate::cli::terminal::style::{self, Style, wrapped};
use lanefish::report::plots_and_tables::{Board, FEATURE_KINGS, Plot};
use lanefish::report::{HeatMap, Origin, Report};
use lanefish_core::text::numbers::{counted, grouped};
use std::fmt::Write;

/// Minimum and maximum width of the text.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=132;

/// Options for the text of a report.
pub(super) struct Text<'a> {
    pub(super) report: &'a Report,
    pub(super) games: u64,
    pub(super) origin: &'a Origin,
    /// The columns of the table of groups, if they were chosen, and its order.
    pub(super) facts: Option<&'a [GroupFact]>,
    pub(super) order: Option<GroupOrder>,
    pub(super) style: Style,
    pub(super) width: usize,
}

/// What is shown beside one screen of numbers.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    /// Every distribution, and boards.
    pub(super) distributions: bool,
    /// The boards for all pieces.
    pub(super) all_boards: bool,
}

/// The width of the terminal, or a usual one, within limits.
pub(super) fn width() -> usize {
    style::width().clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// The number of positions of a report, of their games, and of rejected records.
pub(super) fn size(report: &Report, games: u64) -> String {
    // Games with positions, unless they could not be counted.
    let games = [report.game_results.total(), games].into_iter().find(|&games| games > 0 && report.positions > 0);
    let games = games.map_or(String::new(), |games| format!(" of {}", counted(games, "game")));
    format!("{}{games}, {} rejected", counted(report.positions, "position"), grouped(report.rejected))
}

impl Text<'_> {
    /// The text of the report.
    pub(super) fn write(&self, out: &mut String, shown: Shown) -> std::fmt::Result {
        let report = self.report;
        writeln!(out, "{}", self.style.heading(&size(report, self.games)))?;
        if report.positions == 0 {
            return Ok(());
        }
        if report.groups.is_some() {
            self.groups(out)?;
            self.features(out)?;
            return self.remarks(out);
        }
        self.remarks(out)?;
        self.counts(out, !shown.distributions)?;
        self.results(out)?;
        self.spreads(out, !shown.distributions)?;
        self.features(out)?;
        if shown.distributions {
            self.distributions(out)?;
        }
        if shown.distributions || shown.all_boards {
            self.all_boards(out, shown.all_boards)?;
        }
        if !shown.distributions {
            let more = "--full shows every distribution and the boards, --details openings, ratings and more, --html FILE \
                        makes a page of everything.";
            writeln!(out, "\n{}", self.style.faint(&wrapped(more, self.width, "")))?;
        }
        Ok(())
    }

    /// Distributions, each with its bars.
    fn distributions(&self, out: &mut String) -> std::fmt::Result {
        let report = self.report;
        self.distinct(out)?;
        self.score_results(out)?;
        self.number_tables(out)?;
        // The table has the material.
        let is_shown = |plot: &Plot| !plot.key.starts_with("material_") || plot.key == "material_balance";
        for plot in report.plots().iter().filter(|plot| is_shown(plot)) {
            self.plot(out, plot)?;
        }
        for bars in
            report.most_frequent(plots::KINDS + 1).iter().filter(|bars| !["result", "game_result"].contains(&bars.key))
        {
            self.bars(out, bars)?;
        }
        Ok(())
    }

    /// Heat maps; with those for all pieces if requested.
    fn all_boards(&self, out: &mut String, with_pieces: bool) -> std::fmt::Result {
        let report = self.report;
        let mut boards = vec![
            self.all_pieces("white", report.title("White's pieces"), &report.occupancy[..6]),
            self.all_pieces("black", report.title("Black's pieces"), &report.occupancy[6..]),
        ];
        // The pieces come first, the rest after them.
        let mut pieces = report.boards();
        let others = pieces.split_off(report.occupancy.len());
        boards.extend(others.into_iter().filter(|board| board.key != FEATURE_KINGS));
        self.boards(out, &boards)?;
        if with_pieces {
            self.boards(out, &pieces)?;
        }
        Ok(())
    }

    /// How the inputs of a network are covered.
    fn features(&self, out: &mut String) -> std::fmt::Result {
        for table in self.report.feature_tables() {
            self.number_table(out, &table)?;
        }
        let kings: Vec<Board> = self.report.boards().into_iter().filter(|board| board.key == FEATURE_KINGS).collect();
        self.boards(out, &kings)
    }

    fn heading(&self, out: &mut String, title: &str) -> std::fmt::Result {
        writeln!(out, "\n{}", self.style.heading(title))
    }

    fn all_pieces(&self, key: &'static str, title: &'static str, pieces: &[HeatMap]) -> Board {
        let counts: [u64; 64] = std::array::from_fn(|square| pieces.iter().map(|map| map.0[square]).sum());
        Board::new(key, title, counts)
    }
}
