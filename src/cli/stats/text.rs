//! The statistics as a table for people, with histograms and boards.

use super::super::numbers::{counted, grouped, percent};
use super::super::style::Style;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use lanefish::report::{Distribution, HeatMap, Mates, Report, Squares};
use std::fmt::Write;

/// The table for people.
pub(super) struct Text<'a> {
    pub(super) report: &'a Report,
    pub(super) games: u64,
    pub(super) style: Style,
}

/// A header line with nothing below it.
const RULED: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Cells of the longest bar.
const BAR: usize = 40;

impl Text<'_> {
    pub(super) fn write(&self, out: &mut String, all_maps: bool) -> std::fmt::Result {
        let report = self.report;
        let games = match self.games {
            0 => String::new(),
            games => format!(" of {}", counted(games, "game")),
        };
        writeln!(
            out,
            "{} positions{games}, {} rejected",
            self.style.heading(&grouped(report.positions)),
            grouped(report.rejected)
        )?;
        if report.positions == 0 {
            return Ok(());
        }
        writeln!(out, "\n{}", self.counts().trim_fmt())?;
        writeln!(out, "\n{}", self.spreads().trim_fmt())?;
        self.histogram(out, "Legal moves", report.legal_moves.counts(), 5)?;
        self.histogram(out, "Pieces on the board", report.pieces.counts(), 2)?;
        self.histogram(
            out,
            "Phase (24 = all minor and major pieces)",
            report.phase.counts(),
            2,
        )?;
        let side = |pieces: &[HeatMap]| -> Squares {
            std::array::from_fn(|square| pieces.iter().map(|map| map.0[square]).sum())
        };
        let (white, black) = report.occupancy.split_at(6);
        let [attacks_white, attacks_black] = &report.attacks;
        self.maps(
            out,
            &[
                "White's pieces",
                "Black's pieces",
                "attacked by White",
                "attacked by Black",
            ],
            &[side(white), side(black), attacks_white.0, attacks_black.0],
        )?;
        if all_maps {
            for maps in [0..4, 4..6, 6..10, 10..12] {
                let boards = &report.boards()[maps];
                let names: Vec<&str> = boards.iter().map(|board| board.title).collect();
                let counts: Vec<Squares> = boards.iter().map(|board| board.counts).collect();
                self.maps(out, &names, &counts)?;
            }
        }
        Ok(())
    }

    /// Counts of positions and of moves, with their percentages.
    fn counts(&self) -> Table {
        let report = self.report;
        let positions = report.positions;
        let castling = &report.castling;
        let results = &report.results;
        let moves = report.moves();
        let of_positions = |name: &'static str, count: u64| (name, count, positions);
        let mut left = vec![
            of_positions("White to move", report.white_to_move),
            of_positions("Black to move", positions - report.white_to_move),
            of_positions("in check", report.in_check),
            of_positions("double check", report.double_check),
            of_positions("checkmate", report.checkmate),
            of_positions("stalemate", report.stalemate),
            of_positions("castling rights", castling.some),
            of_positions("en passant possible", report.en_passant),
        ];
        let mates = report.mates;
        if mates != Mates::default() {
            left.extend([
                of_positions("mate by White", mates.white),
                of_positions("mate by Black", mates.black),
            ]);
        }
        let mut right = vec![
            ("legal moves", moves, moves),
            ("captures", report.legal_captures, moves),
            ("promotions", report.legal_promotions, moves),
            ("castling moves", report.legal_castles, moves),
            ("en passants", report.legal_en_passants, moves),
        ];
        if results.unknown < positions {
            right.extend([
                of_positions("White won", results.white),
                of_positions("drawn", results.draw),
                of_positions("Black won", results.black),
            ]);
        }
        let mut table = Table::new();
        table.load_style(RULED);
        table.set_header(["positions", "", "", "", "moves", "", ""]);
        for (at, left) in left.into_iter().enumerate() {
            let cells = |(name, count, whole): (&str, u64, u64)| {
                [
                    Cell::new(name),
                    Cell::new(grouped(count)).set_alignment(CellAlignment::Right),
                    Cell::new(percent(count, whole)).set_alignment(CellAlignment::Right),
                ]
            };
            let mut row = Vec::from(cells(left));
            if let Some(&right) = right.get(at) {
                row.push(Cell::new(" "));
                row.extend(cells(right));
            }
            table.add_row(row);
        }
        table
    }

    /// Minimum, maximum, mean and so on.
    fn spreads(&self) -> Table {
        let report = self.report;
        let mut table = Table::new();
        table.load_style(RULED);
        table.set_header([
            "a position has",
            "mean",
            "median",
            "std. dev.",
            "least",
            "most",
        ]);
        let mut row = |name: &str, summary: &Distribution| {
            let decimal = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2}"));
            let whole = |value: Option<i64>| value.map_or("-".to_owned(), |v| v.to_string());
            let median = summary.median.map_or("-".to_owned(), |v| v.to_string());
            let numbers = [
                decimal(summary.mean),
                median,
                decimal(summary.stddev),
                whole(summary.min),
                whole(summary.max),
            ];
            let mut cells = vec![Cell::new(name)];
            cells.extend(
                numbers.map(|number| Cell::new(number).set_alignment(CellAlignment::Right)),
            );
            table.add_row(cells);
        };
        row("legal moves", &report.legal_moves.summary());
        row("pieces", &report.pieces.summary());
        let [white, black] = &report.material;
        row("White's material", &white.summary());
        row("Black's material", &black.summary());
        row("phase", &report.phase.summary());
        if !report.scores.is_empty() {
            row("score (centipawns)", &report.scores.summary());
        }
        for (name, map) in ["squares attacked by White", "squares attacked by Black"]
            .into_iter()
            .zip(&report.attacks)
        {
            let sum = map.sum();
            let mean = sum as f64 / report.positions as f64;
            let mut cells = vec![Cell::new(name)];
            cells.push(Cell::new(format!("{mean:.2}")).set_alignment(CellAlignment::Right));
            table.add_row(cells);
        }
        table
    }

    fn histogram(
        &self,
        out: &mut String,
        title: &str,
        counts: &[u64],
        width: usize,
    ) -> std::fmt::Result {
        writeln!(out, "\n{}", self.style.heading(title))?;
        let bins: Vec<u64> = counts.chunks(width).map(|bin| bin.iter().sum()).collect();
        let tallest = bins.iter().copied().max().unwrap_or(0).max(1);
        let first = bins.iter().position(|&bin| bin > 0).unwrap_or(0);
        // The last thousandth is often spread thinly over a wide range: one line is enough for it.
        let total: u64 = bins.iter().sum();
        let mut shown = 0;
        for (at, &bin) in bins.iter().enumerate().skip(first) {
            let low = at * width;
            let rest = total - shown;
            let is_tail = at > first && rest * 1000 <= total;
            let (bin, high) = if is_tail {
                (rest, counts.len() - 1)
            } else {
                (bin, (low + width).min(counts.len()) - 1)
            };
            let range = if high == low {
                low.to_string()
            } else {
                format!("{low}-{high}")
            };
            let cells = eighths(bin, tallest);
            let colored = self.style.sgr("36", &cells);
            let pad = " ".repeat(BAR - cells.chars().count());
            let share = percent(bin, self.report.positions);
            writeln!(
                out,
                "{range:>8} {colored}{pad} {:>14}  {share:>9}",
                grouped(bin)
            )?;
            shown += bin;
            if is_tail {
                break;
            }
        }
        Ok(())
    }

    /// Boards side by side, darker where there is more, each relative to its own hottest square.
    fn maps(&self, out: &mut String, names: &[&str], maps: &[Squares]) -> std::fmt::Result {
        out.push('\n');
        for name in names {
            write!(out, "  {}", self.style.heading(&format!("{name:<18}")))?;
        }
        end_line(out);
        for rank in (0..8).rev() {
            for map in maps {
                write!(out, "{} ", rank + 1)?;
                let hottest = map.iter().copied().max().unwrap_or(0).max(1);
                for file in 0..8 {
                    out.push_str(&self.heat(map[rank * 8 + file], hottest));
                }
                out.push_str("  ");
            }
            end_line(out);
        }
        for _ in maps {
            out.push_str("  a b c d e f g h   ");
        }
        end_line(out);
        Ok(())
    }

    fn heat(&self, count: u64, hottest: u64) -> String {
        if self.style.has_color() {
            // From black over red to yellow on the 256 colour cube.
            const RAMP: [u8; 8] = [232, 52, 88, 124, 160, 202, 208, 220];
            let level = (count as u128 * 7).div_ceil(hottest.into()) as usize;
            self.style.sgr(&format!("48;5;{}", RAMP[level]), "  ")
        } else {
            const SHADES: [&str; 5] = ["· ", "░░", "▒▒", "▓▓", "██"];
            SHADES[(count as u128 * 4).div_ceil(hottest.into()) as usize].to_owned()
        }
    }
}

/// Ends a line of columns and drops the trailing blanks.
fn end_line(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

/// A bar with steps of an eighth of a cell; everything that is not zero is visible.
fn eighths(count: u64, tallest: u64) -> String {
    let eighths = (count as u128 * BAR as u128 * 8).div_ceil(tallest.into()) as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(['▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8 - 1]);
    }
    bar
}
