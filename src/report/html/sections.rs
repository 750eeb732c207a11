//! The page about a dataset, section by section.

use super::super::remarks::ENOUGH;
use super::super::{GroupColumn, GroupValue, Groups, Histogram, Report, ResultBars, Results, Severity, StrikingFact};
use super::bars;
use super::board::{self, Scale};
use super::joint_plots::{self, Shade};
use super::markup::{Escaped, Head, Prose, Table, bar, bar_in, foot, stack, stack_of_shares, unbroken};
use super::plot::Plot;
use super::score_results;
use super::{About, Input, Run};
use crate::distinct::Sketch;
use crate::report::plots_and_tables::{Bars, FEATURE_KINGS, Hue, NumberTable, Plot as Facts, Unit};
use crate::text::numbers::{bytes, counted, decimal, grouped, percent, short, signed, tenths};
use std::fmt::{self, Write};

/// The keys of the plots in each section; all others are in "Positions and moves".
const SCORES: &[&str] = &["score", "mate_distance", "depth"];
const MATERIAL: &[&str] = &["pieces", "phase", "material_balance", "material_white", "material_black"];
const GAMES: &[&str] = &["game_length", "white_elo", "black_elo", "elo_difference"];
const TIME_AND_MISTAKES: &[&str] = &["accuracy"];
const PUZZLES: &[&str] = &["puzzle_rating", "rating_deviation", "popularity"];
/// The keys of the bars that have sections of their own, or are elsewhere.
const BARS_OF_PUZZLES: &[&str] = &["theme", "plays"];
const OTHER_BARS: &[&str] = &["game_result", "result", "material", "knodes"];
/// Maximum number of groups that are shown.
const MOST_GROUPS: usize = 250;
/// Maximum size of a page with embedded JSON, without the script at its end, so that it opens quickly.
#[cfg(feature = "json")]
const MOST_BYTES: usize = 980_000;

/// Maximum number of openings whose results are shown.
const MOST_OPENINGS: usize = 12;
/// Maximum number of kinds of material that are listed.
const MOST_SIGNATURES: usize = 30;

/// A section: its id, its title, and its content.
struct Section {
    id: &'static str,
    title: &'static str,
    content: String,
}

pub(super) fn write(out: &mut String, report: &Report, about: &About) -> fmt::Result {
    let bars = report.most_frequent(MOST_SIGNATURES);
    let bars = bars.as_slice();
    let mut sections = Vec::new();
    let mut add = |id, title, write: &dyn Fn(&mut String) -> fmt::Result| -> fmt::Result {
        let mut content = String::new();
        write(&mut content)?;
        if !content.is_empty() {
            sections.push(Section { id, title, content });
        }
        Ok(())
    };
    if let Some(by) = &report.groups {
        add("groups", "Groups", &|out| groups(out, report, by))?;
    }
    if report.positions > 0 {
        add("results", "Results", &|out| results(out, report))?;
    }
    add("summary", "Summary", &|out| summary(out, report, about))?;
    if report.positions > 0 {
        add("games", "Games", &|out| games(out, report, bars))?;
        add("mistakes", "Time and mistakes", &|out| time_and_mistakes(out, report))?;
        add("puzzles", "Puzzles", &|out| puzzles(out, report, bars))?;
        add("scores", "Scores", &|out| scores(out, report, bars))?;
        add("positions", "Positions and moves", &|out| positions(out, report))?;
        add("material", "Material", &|out| material(out, report, bars))?;
        add("joint", "Joint distributions", &|out| joints(out, report))?;
        add("features", "Inputs of a network", &|out| features(out, report))?;
        add("boards", "Boards", &|out| boards(out, report))?;
    }
    add("about", "About this page", &|out| about_page(out, report, about))?;
    let names: Vec<(&str, &str)> = sections.iter().map(|section| (section.id, section.title)).collect();
    let head = Head {
        title: &about.title,
        kind: "dataset report",
        inputs: about.inputs.iter().map(|input| input.name.clone()).collect(),
        sections: &names,
    };
    head.write(out)?;
    chosen(out, about, report.positions)?;
    story(out, report)?;
    for Section { id, title, content } in sections {
        // The summary keeps its numbers on one line itself, and code is copied unchanged.
        let content = if ["about", "summary"].contains(&id) { content } else { unbroken(&content) };
        writeln!(out, "<section id=\"{id}\">\n<h2>{title}</h2>\n{content}</section>")?;
    }
    #[cfg(feature = "json")]
    embed(out, report)?;
    foot(out);
    Ok(())
}

/// How the positions were chosen, if not all were taken.
pub(super) fn chosen(out: &mut String, about: &About, positions: u64) -> fmt::Result {
    if about.left_out.is_empty() {
        return Ok(());
    }
    let how_many = if positions == 0 { "All positions were left out." } else { "Not all positions were taken." };
    write!(out, "<p class=\"about\">{how_many} ")?;
    for sentence in &about.left_out {
        write!(out, "{}. ", Escaped(sentence))?;
    }
    writeln!(out, "</p>")
}

/// The strip of the most striking facts; nothing where there are none.
fn story(out: &mut String, report: &Report) -> fmt::Result {
    let facts = report.striking_facts();
    if facts.is_empty() {
        return Ok(());
    }
    out.push_str("<section class=\"story\" aria-label=\"What stands out\"><ul>");
    for StrikingFact { figure, text, .. } in &facts {
        write!(out, "<li><b>{}</b> {}</li>", Escaped(&unbroken(figure)), Escaped(&unbroken(text)))?;
    }
    out.push_str("</ul></section>\n");
    Ok(())
}

/// The most important numbers, and the remarks.
fn summary(out: &mut String, report: &Report, about: &About) -> fmt::Result {
    out.push_str("<div class=\"halves\"><div>\n<dl class=\"numbers\">");
    let mut tile = |name: &str, value: String, note: String| {
        let note = if note.is_empty() { note } else { format!("<small>{}</small>", unbroken(&note)) };
        writeln!(out, "<div><dt>{name}</dt><dd>{value}{note}</dd></div>")
    };
    let positions = report.positions;
    let details = report.details.as_deref();
    tile("Positions", grouped(positions), String::new())?;
    let games = about.games.or(details.map(|details| details.games.count));
    if let Some(games @ 1..) = games {
        let each = positions as f64 / games as f64;
        let each = if positions == games { "1 position".to_owned() } else { format!("{} positions", decimal(each)) };
        tile("Games", grouped(games), format!("{each} each"))?;
    }
    let records = positions + report.rejected;
    let note = match report.rejected {
        0 => String::new(),
        rejected => format!("{} of the records", percent(rejected, records)),
    };
    tile("Rejected", grouped(report.rejected), note)?;
    if positions > 0 {
        if let Some(details) = details {
            match details.exact_distinct {
                Some([.., exact]) => {
                    tile("Distinct", grouped(exact), percent(exact, positions))?;
                }
                None => {
                    // An estimate may exceed the number of positions.
                    let estimate = details.distinct.estimates()[3].min(positions);
                    let note =
                        format!("{}, estimated ± {} %", percent(estimate, positions), decimal(Sketch::ERROR * 100.0));
                    tile("Distinct", grouped(estimate), note)?;
                }
            }
        }
        let of_positions = |count: u64| percent(count, positions);
        let black = positions - report.white_to_move;
        if !report.is_from_mover() {
            tile("White to move", of_positions(report.white_to_move), format!("Black {}", of_positions(black)))?;
        }
        tile("In check", of_positions(report.position_counts.in_check), grouped(report.position_counts.in_check))?;
        tile(
            "Mates, stalemates",
            of_positions(report.position_counts.checkmate + report.position_counts.stalemate),
            format!("{} and {}", grouped(report.position_counts.checkmate), grouped(report.position_counts.stalemate)),
        )?;
        let mut mean = |name: &str, of: &str, histogram: &Histogram| {
            let summary = histogram.summary();
            match (summary.mean, summary.min, summary.max) {
                (Some(mean), Some(min), Some(max)) => {
                    tile(name, decimal(mean), format!("mean{of}; {} to {}", signed(min), signed(max)))
                }
                _ => Ok(()),
            }
        };
        mean("Legal moves", "", &report.legal_moves)?;
        mean("Pieces", "", &report.pieces)?;
        let scored = format!(" of {}, centipawns", counted(report.scores.total(), "position"));
        mean("Score", &scored, &report.scores)?;
        if let Some(evaluations) = &report.evaluations {
            mean("Depth", ", plies", &evaluations.depths)?;
        }
        if let Some(puzzles) = &report.puzzles {
            mean("Puzzle rating", "", &puzzles.ratings)?;
            mean("Popularity", "", &puzzles.popularity)?;
        }
    }
    out.push_str("</dl>\n</div>\n<div>\n<h3>Remarks</h3>\n<ul class=\"remarks\">");
    let remarks = report.remarks_on(&about.origin);
    for remark in &remarks {
        let (class, name) = match remark.severity {
            Severity::Warning => ("warning", "Warning"),
            Severity::Note => ("note", "Note"),
        };
        write!(out, "<li class=\"{class}\"><b>{name}</b><p>{}</p>", Prose(&remark.text))?;
        if let Some(advice) = &remark.advice {
            write!(out, "<p class=\"advice\">{}</p>", Prose(advice))?;
        }
        out.push_str("</li>\n");
    }
    if remarks.is_empty() {
        // The text names only the checks that were made.
        let sides = if report.positions >= ENOUGH {
            ", and balanced sides.".to_owned()
        } else {
            format!(". Shares are judged only where there are at least {} positions.", grouped(ENOUGH))
        };
        writeln!(out, "<li><p>Nothing unusual was found: no rejected records, mates or duplicates{sides}</p></li>")?;
    }
    out.push_str("</ul>\n</div>\n</div>\n");
    Ok(())
}

/// Who won: the results of all games, by opening, rating and time control, and by phase.
fn results(out: &mut String, report: &Report) -> fmt::Result {
    let all = [("game", &report.game_results), ("position", &report.results)];
    if all.iter().all(|(_, results)| results.known() == 0) {
        return Ok(());
    }
    out.push_str("<dl class=\"numbers\">");
    for (unit, results) in all {
        let known = results.known();
        if known == 0 {
            continue;
        }
        let unknown = match results.unknown {
            0 => String::new(),
            unknown => format!(" · {} without a result", percent(unknown, results.total())),
        };
        writeln!(
            out,
            "<div class=\"wide\"><dt>Results by {unit} ({})</dt><dd>{}<small>{} {} · drawn {} · {} \
             {}{unknown}</small></dd></div>",
            counted(results.total(), unit),
            stack(report, results),
            report.title("White won"),
            percent(results.white, known),
            percent(results.draw, known),
            report.title("Black won"),
            percent(results.black, known)
        )?;
    }
    out.push_str("</dl>\n");
    let mut figures = String::new();
    let by = report.details.as_ref().map_or_else(Vec::new, |details| details.games.results.bars());
    let has_openings = by.iter().any(|bars| bars.key == "opening_results");
    for bars in by.iter().filter(|bars| !has_openings || bars.key != "eco_results") {
        result_bars(&mut figures, report, bars)?;
    }
    for table in report.tables().iter().filter(|table| table.key == "phase_result") {
        joint_plots::results(&mut figures, table)?;
    }
    grid(out, "plots", &figures);
    Ok(())
}

/// The results of games of several kinds as bars of White, draw and Black; of openings, those of the most games.
fn result_bars(out: &mut String, report: &Report, ResultBars { title, bars, key, .. }: &ResultBars) -> fmt::Result {
    let mut shown: Vec<&(String, Results)> = bars.iter().filter(|(_, results)| results.known() > 0).collect();
    let kinds = shown.len();
    let are_openings = ["opening_results", "eco_results"].contains(key);
    if are_openings {
        shown.sort_by_key(|(_, results)| std::cmp::Reverse(results.total()));
        shown.truncate(MOST_OPENINGS);
    }
    let rows = shown.iter().map(|(name, results)| {
        vec![Escaped(name).to_string(), grouped(results.total()), stack_of_shares(report, results)]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    let which = if kinds > rows.len() {
        format!("the {} of the most games, of {}; ", rows.len(), grouped(kinds as u64))
    } else {
        String::new()
    };
    let colors = report.title("White / draw / Black");
    write!(
        out,
        "<figure class=\"bars results\"><figcaption><h3>{title}</h3><p>{which}{colors}, of the games with a \
         result</p></figcaption>"
    )?;
    Table { caption: title, head: &["", "games", colors], rows }.write(out)?;
    out.push_str("</figure>\n");
    Ok(())
}

fn scores(out: &mut String, report: &Report, bars: &[Bars]) -> fmt::Result {
    let mut figures = String::new();
    score_results::figure(&mut figures, report)?;
    plots(&mut figures, report, |key| SCORES.contains(&key))?;
    for table in report.tables().iter().filter(|table| table.key == "phase_score") {
        joint_plots::heat_map(&mut figures, table, Shade::Row)?;
    }
    mean_scores(&mut figures, report)?;
    for all in bars.iter().filter(|bars| bars.key == "knodes") {
        bars::figure(&mut figures, all, None)?;
    }
    grid(out, "plots", &figures);
    Ok(())
}

/// Mean scores by phase.
fn mean_scores(out: &mut String, report: &Report) -> fmt::Result {
    let Some(details) = &report.details else {
        return Ok(());
    };
    let phases = details.phase_score_sums.iter().zip(details.phase_scores.rows()).enumerate();
    let scores = phases.filter_map(|(phase, (&sum, columns))| joint_plots::Scores::of(phase, sum, columns));
    joint_plots::means(out, &scores.collect::<Vec<_>>(), report.title("centipawns from White's side"))
}

fn positions(out: &mut String, report: &Report) -> fmt::Result {
    let mut figures = String::new();
    plots(&mut figures, report, |key| ![SCORES, MATERIAL, GAMES, TIME_AND_MISTAKES, PUZZLES].concat().contains(&key))?;
    let mut tables = String::new();
    for unit in [Unit::Games, Unit::Moves, Unit::Positions] {
        let shares = report.shares().into_iter().filter(|share| share.unit == unit);
        let rows: Vec<Vec<String>> = shares
            .map(|share| {
                vec![
                    Escaped(share.title).to_string(),
                    grouped(share.count),
                    percent(share.count, share.whole),
                    bar_in(Hue::of(share.key), share.count as f64 / share.whole.max(1) as f64),
                ]
            })
            .collect();
        if rows.is_empty() {
            continue;
        }
        let (title, whole) = match unit {
            Unit::Games => ("Shares of the games", counted(report.game_results.total(), "game")),
            Unit::Positions => ("Shares of the positions", counted(report.positions, "position")),
            Unit::Moves => ("Shares of the legal moves", counted(report.moves(), "legal move")),
            Unit::Sides => continue,
        };
        write!(tables, "<figure class=\"bars\"><figcaption><h3>{title}</h3><p>of {whole}</p></figcaption>")?;
        let table = Table { caption: title, head: &["", "count", "share", ""], rows };
        table.write(&mut tables)?;
        tables.push_str("</figure>\n");
    }
    grid(out, "plots", &figures);
    grid(out, "columns", &tables);
    Ok(())
}

fn material(out: &mut String, report: &Report, bars: &[Bars]) -> fmt::Result {
    let mut figures = String::new();
    plots(&mut figures, report, |key| MATERIAL.contains(&key))?;
    grid(out, "plots", &figures);
    let mut figures = String::new();
    for all in bars.iter().filter(|bars| bars.key == "material") {
        bars::figure(&mut figures, all, Some(MOST_SIGNATURES))?;
    }
    out.push_str(&figures);
    Ok(())
}

fn boards(out: &mut String, report: &Report) -> fmt::Result {
    let boards = report.boards();
    let mut pieces = String::new();
    let mut others = String::new();
    for each in boards.iter().filter(|board| board.counts.iter().any(|&count| count > 0)) {
        let sum: u64 = each.counts.iter().sum();
        // Rare things are shown as shares of their own total.
        let (whole, of, is_whole) = match each.key {
            "checkers" => (sum, "the checking pieces", false),
            "en_passant" => (sum, "the en passant squares", false),
            FEATURE_KINGS => (sum, "the lists", false),
            _ => (report.positions, "the positions", true),
        };
        let is_piece = boards[..12].iter().any(|piece| piece.key == each.key);
        let (figures, scale) = if is_piece { (&mut pieces, Scale::Root) } else { (&mut others, Scale::Linear) };
        board::heat_map(figures, each, (whole, of), scale, is_whole)?;
    }
    let positions = counted(report.positions, "position");
    let scales = [(pieces, "the square root of the share"), (others, "the share")];
    for (figures, scale) in scales {
        if !figures.is_empty() {
            out.push_str("<p class=\"scale\">none <span class=\"heat\">");
            for level in 0..10 {
                write!(out, "<i class=\"q{level}\"></i>")?;
            }
            writeln!(
                out,
                "</span> maximum on this board; the colour follows {scale}; shares of {positions} unless \
                 said otherwise</p>"
            )?;
            grid(out, "boards", &figures);
        }
    }
    let names: Vec<&str> = boards.iter().map(|board| board.title).collect();
    let mut head = vec!["square"];
    head.extend(&names);
    let rows = (0..64).map(|square| {
        let mut row = vec![board::name(square)];
        row.extend(boards.iter().map(|board| grouped(board.counts[square])));
        row
    });
    let table = Table { caption: "Counts of all boards", head: &head, rows: rows.collect() };
    table.write_details(out)
}

fn joints(out: &mut String, report: &Report) -> fmt::Result {
    let mut figures = String::new();
    for table in report.tables() {
        if !["phase_result", "phase_score"].contains(&table.key) {
            joint_plots::heat_map(&mut figures, &table, Shade::Count)?;
        }
    }
    grid(out, "plots", &figures);
    Ok(())
}

fn games(out: &mut String, report: &Report, bars: &[Bars]) -> fmt::Result {
    let mut figures = String::new();
    plots(&mut figures, report, |key| GAMES.contains(&key))?;
    grid(out, "plots", &figures);
    let mut figures = String::new();
    let own = |bars: &&Bars| ![OTHER_BARS, BARS_OF_PUZZLES].concat().contains(&bars.key);
    for all in bars.iter().filter(own) {
        let is_known = all.bars.iter().any(|(name, count)| name != "unknown" && *count > 0);
        // Openings and the like are many; classes of time controls and dates have an order.
        let most = !["time_control", "date"].contains(&all.key);
        if is_known {
            bars::figure(&mut figures, all, most.then_some(15))?;
        }
    }
    grid(out, "plots", &figures);
    Ok(())
}

/// Means and shares as tables, and the distribution of accuracy.
fn time_and_mistakes(out: &mut String, report: &Report) -> fmt::Result {
    let mut figures = String::new();
    // The scale of scores stands beside its curve.
    let tables = report.number_tables().into_iter().filter(|table| table.key != "score_scale");
    for table in tables {
        number_table(&mut figures, table)?;
    }
    grid(out, "columns", &figures);
    let mut figures = String::new();
    plots(&mut figures, report, |key| TIME_AND_MISTAKES.contains(&key))?;
    grid(out, "plots", &figures);
    Ok(())
}

/// A table of numbers as a figure.
fn number_table(out: &mut String, NumberTable { title, note, head, rows, .. }: NumberTable) -> fmt::Result {
    write!(out, "<figure class=\"bars\"><figcaption><h3>{title}</h3><p>{}</p></figcaption>", Escaped(&note))?;
    let rows = rows.into_iter().map(|row| row.iter().map(|cell| Escaped(cell).to_string()).collect()).collect();
    Table { caption: title, head: &head, rows }.write(out)?;
    out.push_str("</figure>\n");
    Ok(())
}

/// How the inputs of a network are covered.
fn features(out: &mut String, report: &Report) -> fmt::Result {
    let mut figures = String::new();
    report.feature_tables().into_iter().try_for_each(|table| number_table(&mut figures, table))?;
    grid(out, "columns", &figures);
    Ok(())
}

fn puzzles(out: &mut String, report: &Report, bars: &[Bars]) -> fmt::Result {
    let mut figures = String::new();
    plots(&mut figures, report, |key| PUZZLES.contains(&key))?;
    let of = |key| bars.iter().filter(move |bars| bars.key == key);
    of("plays").try_for_each(|plays| bars::figure(&mut figures, plays, None))?;
    grid(out, "plots", &figures);
    of("theme").try_for_each(|themes| bars::figure(out, themes, Some(MOST_SIGNATURES)))
}

/// One row for each group, and one for all that are not among the largest.
fn groups(out: &mut String, all: &Report, groups: &Groups) -> fmt::Result {
    let number = groups.values.len() as u64 + groups.others.as_ref().map_or(0, |others| others.groups);
    let are_of_games = groups.are_of_games();
    let groups = groups.largest(MOST_GROUPS);
    let shown = groups.shown();
    let reports = || shown.iter().map(|(_, report)| *report).chain(groups.others.iter().map(|others| &*others.report));
    let total: u64 = reports().map(|report| report.positions).sum();
    let largest = reports().map(|report| report.positions).max().unwrap_or(1).max(1);
    let has_results = reports().any(|report| report.results.known() > 0);
    let has_games = all.game_results.total() > 0;
    let has_scores = reports().any(|report| !report.scores.is_empty());
    let mut head: Vec<&str> = groups.by.iter().map(|column| column.name.as_str()).collect();
    if has_games {
        head.push("games");
    }
    head.extend([
        "positions",
        "share",
        "",
        all.title("White to move"),
        "in check",
        "mates, stalemates",
        "mean moves",
        "median moves",
        "legal moves",
    ]);
    if has_results {
        head.extend([
            if has_games { "results by game" } else { "results by position" },
            all.title("White / draw / Black"),
        ]);
    }
    if has_scores {
        head.push("mean score");
    }
    let has_ratings = reports().any(|report| report.ratings.count > 0);
    if has_ratings {
        head.push("mean rating");
    }
    let moves = all.legal_moves.quantile(0, 1).unwrap_or(0)..=all.legal_moves.quantile(999, 1000).unwrap_or(0);
    let row = |names: Vec<String>, report: &Report, knows_games: bool| {
        let of_positions = |count: u64| percent(count, report.positions);
        let number = |value: Option<f64>| value.map_or("–".to_owned(), tenths);
        let mut row = names;
        if has_games {
            row.push(if knows_games { grouped(report.game_results.total()) } else { "–".to_owned() });
        }
        row.extend([
            grouped(report.positions),
            percent(report.positions, total),
            bar(report.positions as f64 / largest as f64),
            of_positions(report.white_to_move),
            of_positions(report.position_counts.in_check),
            of_positions(report.position_counts.checkmate + report.position_counts.stalemate),
            number(report.legal_moves.summary().mean),
            number(report.legal_moves.summary().median),
            format!("<span class=\"spark\" aria-hidden=\"true\">{}</span>", report.legal_moves.spark(moves.clone())),
        ]);
        if has_results {
            let results = if has_games { &report.game_results } else { &report.results };
            let known = if has_games && !knows_games { 0 } else { results.known() };
            row.push(if known == 0 { String::new() } else { stack(report, results) });
            row.push(if known == 0 {
                "–".to_owned()
            } else {
                let share = |count: u64| format!("{:.0}", count as f64 / known as f64 * 100.0);
                [results.white, results.draw, results.black].map(share).join(" / ") + " %"
            });
        }
        if has_scores {
            row.push(number(report.scores.summary().mean));
        }
        if has_ratings {
            row.push(report.ratings.mean().map_or("–".to_owned(), |mean| format!("{mean:.0}")));
        }
        row
    };
    let name = |column: &GroupColumn, value: &GroupValue| match value {
        GroupValue::Number(_) => column.label(value).replace('-', "−"),
        _ => Escaped(&column.label(value)).to_string(),
    };
    let mut rows: Vec<Vec<String>> = shown
        .iter()
        .map(|&(values, report)| {
            let names = groups.by.iter().zip(values).map(|(column, value)| name(column, value));
            row(names.collect(), report, true)
        })
        .collect();
    if let Some(others) = &groups.others {
        let mut names = vec![format!("{} others", grouped(others.groups))];
        names.resize(groups.by.len(), String::new());
        // In several groups, a game may have been counted more than once.
        rows.push(row(names, &others.report, are_of_games));
    }
    let by: Vec<&str> = groups.by.iter().map(|column| column.name.as_str()).collect();
    let by = by.join(" and ");
    let caption = match groups.others {
        None => format!("{} by {by}", counted(number, "group")),
        Some(_) => format!("The {} largest of {} groups by {by}", grouped(shown.len() as u64), grouped(number)),
    };
    writeln!(out, "<p class=\"about\">{}. A click on a heading sorts by that column.</p>", Escaped(&caption))?;
    let table = Table { caption: &caption, head: &head, rows };
    let mut text = String::new();
    table.write(&mut text)?;
    grid(out, "full sortable", &text);
    Ok(())
}

/// The command and the inputs of a report.
pub(super) fn origin(out: &mut String, about: &About) -> fmt::Result {
    if let Some(command) = &about.command {
        writeln!(out, "<p>Command: <code>{}</code></p>", Escaped(command))?;
    }
    if about.inputs.iter().any(|input| input.bytes.is_some()) {
        out.push_str("<p>Inputs:</p><ul>");
        for Input { name, bytes, hash } in &about.inputs {
            write!(out, "<li>{}", Escaped(name))?;
            if let Some(bytes) = bytes {
                write!(out, ", {}", counted(*bytes, "byte"))?;
            }
            if let Some(hash) = hash {
                write!(out, "; BLAKE3 according to its manifest: <code>{}</code>", Escaped(hash))?;
            }
            writeln!(out, "</li>")?;
        }
        out.push_str("</ul>\n");
    }
    Ok(())
}

fn about_page(out: &mut String, report: &Report, about: &About) -> fmt::Result {
    writeln!(out, "<div class=\"about\"><p>Made by lanefish {}.</p>", env!("CARGO_PKG_VERSION"))?;
    origin(out, about)?;
    if let Some(run) = &about.run {
        let Run { date, tier, threads, seconds, rate, bytes: read } = run;
        let threads = counted(*threads as u64, "thread");
        writeln!(
            out,
            "<p>Counted on {} in {seconds:.3} s: {} positions per second, {} read, tier {}, {threads}.</p>",
            Escaped(date),
            short(*rate),
            bytes(*read as f64),
            Escaped(tier)
        )?;
    }
    if report.positions == 0 {
        out.push_str("</div>\n");
        return Ok(());
    }
    out.push_str(
        "<p>Material is in points: pawn 1, knight and bishop 3, rook 5, queen 9. Phase counts the \
        other pieces: knight and bishop 1, rook 2, queen 4, so that the start position has 24.",
    );
    if !report.scores.is_empty() {
        let from = report.title("centipawns from White's side");
        write!(out, " Scores are in {from}; mates are counted apart.")?;
    }
    out.push_str("</p>\n");
    if report.details.as_ref().is_some_and(|details| details.exact_distinct.is_none()) {
        let error = decimal(Sketch::ERROR * 100.0);
        writeln!(
            out,
            "<p>The number of distinct positions is an estimate (HyperLogLog). Its standard error is {error}\u{A0}% \
             of the number. Positions are the same if their pieces, side to move, castling rights and legal en \
             passant captures are.</p>"
        )?;
    }
    out.push_str(
        "<p>Values of bars, squares and cells are shown on hover, on touch, and with the arrow \
        keys.</p></div>\n",
    );
    Ok(())
}

/// The plots whose key is accepted.
fn plots(out: &mut String, report: &Report, accept: impl Fn(&str) -> bool) -> fmt::Result {
    let plots = report.plots();
    for facts in plots.iter().filter(|facts| accept(facts.key)) {
        let &Facts { title, axis, unit, width, limits, ref histogram, .. } = facts;
        let hue = Hue::of(facts.key);
        let plot = Plot { title, axis, unit, hue, width, limits, series: &[("", histogram)], note: String::new() };
        plot.write(out)?;
    }
    Ok(())
}

/// Figures next to each other.
fn grid(out: &mut String, class: &str, figures: &str) {
    if !figures.is_empty() {
        out.extend(["<div class=\"", class, "\">\n", figures, "</div>\n"]);
    }
}

/// The numbers for programs, as JSON.
#[cfg(feature = "json")]
fn embed(out: &mut String, report: &Report) -> fmt::Result {
    let details = report.details.as_ref();
    let most = MOST_BYTES.saturating_sub(out.len());
    // Kinds of material take about 25 bytes each.
    if details.is_some_and(|details| details.signatures.len() > most / 25) {
        return Ok(());
    }
    let json = serde_json::Value::from(report.to_json()).to_string();
    // In a script only `</` and `<!--` would end or change it, and in JSON `<` occurs only in strings.
    let json = crate::text::one_line::of_json(&json).replace('<', "\\u003c");
    if json.len() <= most {
        writeln!(out, "<script type=\"application/json\" id=\"report\">{json}</script>")?;
    }
    Ok(())
}
