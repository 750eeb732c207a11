//! `show`: positions on a board in the terminal, with attacks, checks and pins.

use super::arguments::command_scope::{Examples, RunCommand, Scope};
use super::arguments::common_args::Reading;
use super::arguments::position_arg::{looks_like_fen, position_of};
use super::run::invocation::{Invocation, Nothing, RunOverrides};
use super::terminal::style::Style;
use anyhow::Result;
use clap::{Args, ValueEnum, ValueHint};
use lanefish::chess::{Bitboard, Color, Position, Role, Square};
use lanefish::pipeline::Job;
use lanefish::table::{Needs, Tile};
use lanefish_core::text::numbers::counted;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Draw positions on a board, with attacks, checks and pins
///
/// Checking and pinned pieces are highlighted (red and yellow in colour,
/// !N and (N) without).
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A FEN, or files, directories, zip archives, or - for standard input
    #[arg(value_name = "FEN|INPUT", value_hint = ValueHint::AnyPath)]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    /// Draw record number N (from 0) [default: the first record, or the first ones up to --limit]
    #[arg(long, value_name = "N", conflicts_with = "limit", value_parser = super::arguments::number_args::count)]
    index: Option<u64>,

    /// Mark the squares that a side attacks
    #[arg(long, value_name = "SIDE", num_args = 0..=1, default_missing_value = "both")]
    attacks: Option<Attacks>,

    /// Unicode figurines instead of letters
    #[arg(long)]
    unicode: bool,

    /// Draw the board with Black at the bottom
    #[arg(long)]
    flip: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Attacks {
    White,
    Black,
    Both,
}

/// Collects the positions.
struct Take;

impl Job for Take {
    type Part = Vec<(u64, Position)>;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Self::Part {
        Vec::new()
    }
    fn tile(&self, positions: &mut Self::Part, tile: &Tile<'_>) {
        positions.extend(tile.records().map(|record| (record.index(), record.position())));
    }
}

impl RunCommand for ShowArgs {
    const EXAMPLES: Examples = &[
        ("A position", "lanefish show \"4r1k1/8/8/1b6/8/3N4/4N3/q3K2R w K - 0 1\""),
        (
            "The tenth record of a file, with the squares that White attacks",
            "lanefish show games.pgn --index 9 --attacks white",
        ),
    ];
    const SCOPE: Scope = Scope { ignores: &[], ..Scope::READS };

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if let Some(first) = self.inputs.first()
            && looks_like_fen(first.as_os_str())
            && !Path::new(first).exists()
        {
            let words: Vec<_> = self.inputs.iter().map(|word| word.to_string_lossy()).collect();
            let keep = self.reading.keep_en_passant;
            let position = position_of(&words.join(" "), invocation, keep)?;
            super::print(self.draw(&position, invocation.style).as_bytes())?;
            return Ok(0);
        }
        let choice = RunOverrides { skip: self.index, limit: Some(1), ..RunOverrides::default() };
        let mut first = true;
        let style = invocation.style;
        let done = invocation.read(&self.inputs, &self.reading, choice, &Take, |positions| {
            for (index, position) in positions {
                let blank = if first { "" } else { "\n" };
                first = false;
                let heading = style.heading(&format!("record {index}"));
                let text = format!("{blank}{heading}\n{}", self.draw(&position, style));
                super::write_stdout(text.as_bytes())?;
            }
            Ok(())
        })?;
        if done.failure.is_none() && done.summary.records == 0 {
            let index = self.index.unwrap_or(0);
            if !invocation.can_read_again(&self.inputs, &self.reading)? {
                anyhow::bail!("record {index} does not exist");
            }
            let all = invocation.read(&self.inputs, &self.reading, RunOverrides::default(), &Nothing, |()| Ok(()))?;
            let records = counted(all.summary.records, "record");
            anyhow::bail!("record {index} does not exist: the inputs have {records}, numbered from 0");
        }
        invocation.conclude(done)
    }
}

impl ShowArgs {
    fn draw(&self, position: &Position, style: Style) -> String {
        let marks = Marks {
            checkers: position.checkers(),
            pinned: position.pinned(),
            white: match self.attacks {
                Some(Attacks::White | Attacks::Both) => position.attacked_by(Color::White),
                _ => Bitboard::EMPTY,
            },
            black: match self.attacks {
                Some(Attacks::Black | Attacks::Both) => position.attacked_by(Color::Black),
                _ => Bitboard::EMPTY,
            },
        };
        let facts = facts(position, self.attacks.is_some());
        let mut facts = facts.iter();
        let mut text = String::new();
        for row in 0..8u8 {
            let rank = if self.flip { row } else { 7 - row };
            text.push_str(&style.faint(&format!("{} ", rank + 1)));
            for column in 0..8u8 {
                let file = if self.flip { 7 - column } else { column };
                let square = Square::new(rank * 8 + file);
                text.push_str(&self.cell(position, square, &marks, style));
            }
            let _ = write!(text, "  {}", facts.next().map_or("", String::as_str));
            end_line(&mut text);
        }
        let files = if self.flip { "hgfedcba" } else { "abcdefgh" };
        text.push_str("  ");
        for file in files.chars() {
            text.push_str(&style.faint(&format!(" {file} ")));
        }
        end_line(&mut text);
        for fact in facts {
            let _ = writeln!(text, "{fact}");
        }
        let _ = writeln!(text, "{position}");
        text
    }

    /// Three columns: the piece between its flags.
    fn cell(&self, position: &Position, square: Square, marks: &Marks, style: Style) -> String {
        let piece = position.piece_at(square);
        let letter = match piece {
            None => ' ',
            Some(piece) if self.unicode => {
                let at = piece.role.index();
                let figurines = match piece.color {
                    Color::White => ['♙', '♘', '♗', '♖', '♕', '♔'],
                    Color::Black => ['♟', '♞', '♝', '♜', '♛', '♚'],
                };
                figurines[at]
            }
            Some(piece) => piece.letter(),
        };
        let (white, black) = (marks.white.contains(square), marks.black.contains(square));
        let checks = marks.checkers.contains(square);
        let pinned = marks.pinned.contains(square);
        let king_in_check = piece.is_some_and(|piece| {
            piece.role == Role::King && piece.color == position.side_to_move && marks.checkers.any()
        });
        if style.has_color() {
            let light = (square.file().index() + square.rank().index()) % 2 == 1;
            let background = match (white, black) {
                _ if checks || king_in_check => 160,
                _ if pinned => 172,
                (true, true) => {
                    if light {
                        176
                    } else {
                        133
                    }
                }
                (true, false) => {
                    if light {
                        110
                    } else {
                        67
                    }
                }
                (false, true) => {
                    if light {
                        174
                    } else {
                        131
                    }
                }
                _ => {
                    if light {
                        180
                    } else {
                        137
                    }
                }
            };
            let ink = match piece {
                Some(piece) if piece.color == Color::White => 231,
                _ => 16,
            };
            return style.sgr(&format!("1;38;5;{ink};48;5;{background}"), &format!(" {letter} "));
        }
        let letter = if letter == ' ' { '.' } else { letter };
        match (checks || king_in_check, pinned, white, black) {
            (true, ..) => format!("!{letter} "),
            (_, true, ..) => format!("({letter})"),
            (.., true, true) => format!(" {letter}±"),
            (.., true, false) => format!(" {letter}+"),
            (.., false, true) => format!(" {letter}-"),
            _ => format!(" {letter} "),
        }
    }
}

/// The highlighted squares of the board.
struct Marks {
    checkers: Bitboard,
    pinned: Bitboard,
    white: Bitboard,
    black: Bitboard,
}

/// Ends a line and drops its trailing blanks.
fn end_line(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
}

/// The text beside the board.
fn facts(position: &Position, attacks: bool) -> Vec<String> {
    let list = |set: Bitboard| {
        let squares: Vec<String> = set.into_iter().map(|square| square.to_string()).collect();
        squares.join(" ")
    };
    let side = match position.side_to_move {
        Color::White => "White",
        Color::Black => "Black",
    };
    let moves = position.legal_moves();
    let checkers = position.checkers();
    let state = match (moves.is_empty(), checkers.len()) {
        (true, 0) => ", stalemate",
        (true, _) => ", checkmate",
        (false, 0) => "",
        (false, 1) => ", check",
        (false, _) => ", double check",
    };
    let mut facts = vec![format!("{side} to move{state}"), format!("{} legal moves", moves.len())];
    if checkers.any() {
        facts.push(format!("checkers {}", list(checkers)));
    }
    let pinned = position.pinned();
    if pinned.any() {
        facts.push(format!("pinned {}", list(pinned)));
    }
    if attacks {
        let count = |color| position.attacked_by(color).len();
        facts.push(format!("White attacks {} squares (+)", count(Color::White)));
        facts.push(format!("Black attacks {} squares (-)", count(Color::Black)));
    }
    // Files have it in hexadecimal, and other programs as a number.
    let key = position.polyglot_key();
    facts.push(format!("key {key:#018x} = {key}"));
    facts
}
