//! Heat maps drawn as boards: the light and dark squares are visible below the heat.

use super::super::Squares;
use super::markup::Escaped;
use crate::report::plots_and_tables::Board;
use crate::text::numbers::{grouped, percent, percentage};
use std::fmt::{self, Write};

const SQUARE: usize = 20;
const WIDTH: usize = LEFT + 8 * SQUARE + 2;
const HEIGHT: usize = TOP + 8 * SQUARE + 16;
/// Left edge of the board, to the right of the rank numbers.
const LEFT: usize = 14;
const TOP: usize = 2;

/// The name of a square.
pub(super) fn name(square: usize) -> String {
    format!("{}{}", (b'a' + (square % 8) as u8) as char, square / 8 + 1)
}

/// The piece that a heat map is about, as a figurine.
fn figurine(key: &str) -> Option<char> {
    let (color, piece) = key.split_once('_')?;
    let place = ["king", "queens", "rooks", "bishops", "knights", "pawns"].iter().position(|&name| name == piece)?;
    let figurines = match color {
        "white" => FIGURINES[0],
        "black" => FIGURINES[1],
        _ => return None,
    };
    Some(figurines[place])
}

/// The kings, queens, rooks, bishops, knights and pawns of White and of Black.
pub(super) const FIGURINES: [[char; 6]; 2] = [['♔', '♕', '♖', '♗', '♘', '♙'], ['♚', '♛', '♜', '♝', '♞', '♟']];

/// Pieces as figurines: dark on light in both modes, because white pieces are outlines and black ones are filled.
pub(super) fn figurines(text: &str) -> String {
    // Some fonts have a pawn in colours unless this selector asks for text.
    let text = text.replace('♟', "♟\u{FE0E}");
    format!("<span class=\"pieces\" aria-hidden=\"true\">{text}</span>")
}

/// Draws a board: its light and dark squares, and over them a style class and a description for each square.
fn draw(out: &mut String, label: &str, square: impl Fn(usize) -> (String, String)) -> fmt::Result {
    let size = 8 * SQUARE;
    // The dark squares are the dashes of a line along each rank.
    let dark: String = (0..8)
        .map(|rank| {
            let (x, y) = (LEFT + rank % 2 * SQUARE, TOP + (7 - rank) * SQUARE + SQUARE / 2);
            format!("M{x} {y}H{}", LEFT + size)
        })
        .collect();
    write!(
        out,
        "<svg class=\"board\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\"><path class=\"light\" \
         d=\"M{LEFT} {TOP}h{size}v{size}h-{size}z\"/><path class=\"dark\" d=\"{dark}\"/>",
        Escaped(label)
    )?;
    for rank in 0..8 {
        let y = TOP + (7 - rank) * SQUARE;
        write!(out, "<text class=\"r\" x=\"8\" y=\"{}\">{}</text>", y + 14, rank + 1)?;
        for file in 0..8 {
            let (class, text) = square(8 * rank + file);
            write!(
                out,
                "<rect class=\"{class}\" x=\"{}\" y=\"{y}\" width=\"20\" height=\"20\"><title>{}</title></rect>",
                LEFT + file * SQUARE,
                Escaped(&text)
            )?;
        }
    }
    for (file, letter) in ('a'..='h').enumerate() {
        let (x, y) = (LEFT + file * SQUARE + SQUARE / 2, TOP + 8 * SQUARE + 13);
        write!(out, "<text class=\"n\" x=\"{x}\" y=\"{y}\">{letter}</text>")?;
    }
    out.push_str("</svg>");
    Ok(())
}

/// The relation of shades to counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Shades grow linearly with counts.
    Linear,
    /// Shades grow with the square roots of counts, because most squares of a piece have low counts compared with its
    /// start square.
    Root,
}

/// The style class for a share of the maximum: ten levels, and a separate one for zero.
fn level(share: f64) -> String {
    if share > 0.0 { format!("q{}", ((share * 10.0).ceil() as usize).clamp(1, 10) - 1) } else { "z".to_owned() }
}

/// A board with counts, as shares of `whole`.
pub(super) fn heat_map(
    out: &mut String,
    Board { key, title, counts, .. }: &Board,
    (whole, of): (u64, &str),
    scale: Scale,
    is_whole: bool,
) -> fmt::Result {
    let most = counts.iter().copied().max().unwrap_or(0);
    let top = counts.iter().position(|&count| count == most).unwrap_or(0);
    let best = format!("most on {}: {}", name(top), percent(most, whole));
    let shown = if is_whole { String::new() } else { format!(" of {}", grouped(whole)) };
    let figurine = figurine(key).map_or(String::new(), |figurine| figurines(&figurine.to_string()) + " ");
    write!(out, "<figure><figcaption><h4>{figurine}{}</h4><p>{best}{shown}</p></figcaption>", Escaped(title))?;
    let label = format!("Board: {title}, {best} of {of}.");
    draw(out, &label, |square| {
        let count = counts[square];
        let text = format!("{}: {} ({})", name(square), grouped(count), percent(count, whole));
        let share = count as f64 / most.max(1) as f64;
        let share = if scale == Scale::Root { share.sqrt() } else { share };
        (level(share), text)
    })?;
    out.push_str("</figure>\n");
    Ok(())
}

/// A board with the differences of shares, in one hue where the first has more, and in another where the second has
/// more.
pub(super) fn difference(
    out: &mut String,
    title: &str,
    note: &str,
    names: [&str; 2],
    [a, b]: [&Squares; 2],
) -> fmt::Result {
    let shares = [a, b].map(|counts| {
        let sum = counts.iter().sum::<u64>().max(1) as f64;
        counts.map(|count| count as f64 / sum * 100.0)
    });
    let difference = |square: usize| shares[1][square] - shares[0][square];
    let most = (0..64).map(|square| difference(square).abs()).fold(0.0, f64::max);
    let top = (0..64).find(|&square| difference(square).abs() == most).unwrap_or(0);
    let best = if most > 0.0 {
        format!("largest on {}: {}", name(top), points(difference(top)))
    } else {
        "no difference".to_owned()
    };
    write!(out, "<figure><figcaption><h4>{}</h4><p>{note}{best}</p></figcaption>", Escaped(title))?;
    let label = format!("Board of differences: {title}, {best}.");
    draw(out, &label, |square| {
        let difference = difference(square);
        // Differences that are small compared with the largest count as zero.
        let share = difference.abs() / most;
        let class = level(if share < 0.1 { 0.0 } else { share });
        let dataset = match class.as_str() {
            "z" => "",
            _ if difference > 0.0 => "other ",
            _ => "first ",
        };
        let [a, b] = shares.map(|shares| percentage(shares[square]));
        let text = format!("{}: {} {a}, {} {b}, {}", name(square), names[0], names[1], points(difference));
        (format!("{dataset}{class}"), text)
    })?;
    out.push_str("</figure>\n");
    Ok(())
}

/// A difference in percentage points.
pub(super) fn points(difference: f64) -> String {
    let size = difference.abs();
    let decimals = match size {
        0.1.. => 1,
        0.01.. => 2,
        _ => 3,
    };
    let sign = match difference {
        _ if size < 0.0005 => return "0 pp".to_owned(),
        ..0.0 => "−",
        _ => "+",
    };
    format!("{sign}{size:.decimals$} pp")
}
