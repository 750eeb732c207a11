//! `stats`: summarizes a dataset, as a table for people or as JSON.

use super::args::ReadArgs;
use super::numbers::{bytes, counted, grouped, percent, short};
use super::session::{Run, Session, Timed};
use super::style::Style;
use anyhow::Result;
use clap::Args;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use lanefish::Error;
use lanefish::jobs::Statistics;
use lanefish::stats::{Distribution, HeatMaps, Mates, Stats};
use serde_json::json;
use std::fmt::Write;

/// Dataset statistics: legal moves, checks, mates, material, castling, heat maps, results
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    read: ReadArgs,

    /// One JSON object instead of the table
    #[arg(long)]
    json: bool,

    /// Also draw heat maps: where each kind of piece stands
    #[arg(long, conflicts_with = "json")]
    maps: bool,
}

impl StatsArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        let job = Statistics::new(session.analyzer);
        let run = Run {
            fields: Statistics::FIELDS,
            ..Run::default()
        };
        let reading = &self.read.reading;
        let Timed { summary, elapsed } =
            session.read(&self.read.inputs, reading, run, &job, |stats| {
                job.put_back(stats);
                Ok(())
            })?;
        let mut stats = job.finish();
        stats.add_rejected(summary.rejected);

        // What was read before the damaged part of an input counts and is shown.
        if summary.failure.as_ref().is_none_or(Error::is_of_input) {
            let seconds = elapsed.as_secs_f64();
            let rate = summary.records as f64 / seconds;
            let tier = session.analyzer.tier().name();
            if self.json {
                let mut object = stats.to_json(reading.keep_en_passant);
                let run = json!({
                    "tier": tier,
                    "threads": session.threads,
                    "seconds": seconds,
                    "positions_per_second": rate,
                    "bytes_read": summary.bytes,
                    "games": summary.games,
                });
                object.insert("run".to_owned(), run);
                super::print_object(&object)?;
            } else {
                let mut text = String::new();
                let report = Report {
                    stats: &stats,
                    games: summary.games,
                    style: session.style,
                };
                report.write(&mut text, self.maps)?;
                let threads = match session.threads {
                    1 => "1 thread".to_owned(),
                    threads => format!("{threads} threads"),
                };
                let run = format!(
                    "{seconds:.3} s, {} positions/s, {tier}, {threads}, {} read\n",
                    short(rate),
                    bytes(summary.bytes as f64),
                );
                text.push('\n');
                text.push_str(&session.style.faint(&run));
                super::print(text.as_bytes())?;
            }
        }
        session.conclude(summary)
    }
}

/// The table for people.
struct Report<'a> {
    stats: &'a Stats,
    games: u64,
    style: Style,
}

/// A header line with nothing below it.
const RULED: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Cells of the longest bar.
const BAR: usize = 40;

impl Report<'_> {
    fn write(&self, out: &mut String, all_maps: bool) -> std::fmt::Result {
        let stats = self.stats;
        let games = match self.games {
            0 => String::new(),
            games => format!(" of {}", counted(games, "game")),
        };
        writeln!(
            out,
            "{} positions{games}, {} rejected",
            self.style.heading(&grouped(stats.positions())),
            grouped(stats.rejected())
        )?;
        if stats.positions() == 0 {
            return Ok(());
        }
        writeln!(out, "\n{}", self.counts().trim_fmt())?;
        writeln!(out, "\n{}", self.spreads().trim_fmt())?;
        self.histogram(out, "Legal moves", &stats.legal_moves_histogram(), 5)?;
        self.histogram(out, "Pieces on the board", &stats.pieces_histogram(), 2)?;
        self.histogram(
            out,
            "Phase (24 = all minor and major pieces)",
            &stats.phase_histogram(),
            2,
        )?;
        let heat = stats.heat();
        let side = |pieces: &[[u64; 64]]| -> [u64; 64] {
            std::array::from_fn(|square| pieces.iter().map(|map| map[square]).sum())
        };
        let (white, black) = heat.occupancy().split_at(6);
        let attacks = heat.attacks();
        self.maps(
            out,
            &[
                "White's pieces",
                "Black's pieces",
                "attacked by White",
                "attacked by Black",
            ],
            &[side(white), side(black), attacks[0], attacks[1]],
        )?;
        if all_maps {
            for maps in [0..4, 4..6, 6..10, 10..12] {
                let names: Vec<String> = HeatMaps::PIECES[maps.clone()]
                    .iter()
                    .map(|piece| format!("piece {piece}"))
                    .collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.maps(out, &names, &heat.occupancy()[maps])?;
            }
        }
        Ok(())
    }

    /// Counts of positions and of moves, with their percentages.
    fn counts(&self) -> Table {
        let stats = self.stats;
        let positions = stats.positions();
        let castling = stats.castling();
        let results = stats.results();
        let moves = u64::try_from(stats.legal_moves().sum).unwrap_or(u64::MAX);
        let of_positions = |name: &'static str, count: u64| (name, count, positions);
        let mut left = vec![
            of_positions("White to move", stats.white_to_move()),
            of_positions("Black to move", stats.black_to_move()),
            of_positions("in check", stats.in_check()),
            of_positions("double check", stats.double_check()),
            of_positions("checkmate", stats.checkmate()),
            of_positions("stalemate", stats.stalemate()),
            of_positions("castling rights", castling.some),
            of_positions("en passant possible", stats.with_legal_en_passant()),
        ];
        let mates = stats.mates();
        if mates != Mates::default() {
            left.extend([
                of_positions("mate by White", mates.white),
                of_positions("mate by Black", mates.black),
            ]);
        }
        let mut right = vec![
            ("legal moves", moves, moves),
            ("captures", stats.legal_captures(), moves),
            ("promotions", stats.legal_promotions(), moves),
            ("castling moves", stats.legal_castles(), moves),
            ("en passants", stats.legal_en_passants(), moves),
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
        let stats = self.stats;
        let heat = stats.heat();
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
        row("legal moves", &stats.legal_moves());
        row("pieces", &Distribution::of(&stats.pieces_histogram(), 0));
        let [white, black] = stats.material_histograms();
        row("White's material", &Distribution::of(&white, 0));
        row("Black's material", &Distribution::of(&black, 0));
        row("phase", &Distribution::of(&stats.phase_histogram(), 0));
        if let Some(scores) = stats.scores() {
            row("score (centipawns)", &scores);
        }
        for (name, map) in ["squares attacked by White", "squares attacked by Black"]
            .into_iter()
            .zip(heat.attacks())
        {
            let sum: u64 = map.iter().sum();
            let mean = sum as f64 / stats.positions() as f64;
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
            let share = percent(bin, self.stats.positions());
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
    fn maps(&self, out: &mut String, names: &[&str], maps: &[[u64; 64]]) -> std::fmt::Result {
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
