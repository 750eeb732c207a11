//! `show`: positions on a board in the terminal, with attacks, checks and pins, and with what their records say: the game,
//! its players, the moves before and after the position, the clock and the evaluation.
//!
//! The move that led to a position is that of the record before it in the same batch, if this is one ply earlier in the
//! same game; records that `--where` leaves out are there as well.

use super::arguments::command_scope::{Examples, RunCommand, Scope};
use super::arguments::common_args::Reading;
use super::arguments::position_arg::{looks_like_fen, position_of};
use super::arguments::second_file_args::SecondFileArgs;
use super::run::invocation::{Invocation, Nothing, RunOverrides};
use super::terminal::style::{self, Style};
use anyhow::Result;
use clap::{Args, ValueEnum, ValueHint};
use lanefish::chess::{Bitboard, Color, Move, Position, Role, Square};
use lanefish::pipeline::Job;
use lanefish::queries::Queries;
use lanefish::table::{Batch, Field, Fields, Needs, Record, Tile};
use lanefish_core::text::numbers::counted;
use lanefish_core::text::one_line;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Draw positions on a board, with attacks, checks and pins
///
/// Checking and pinned pieces are highlighted (red and yellow in colour,
/// !N and (N) without), and the squares of the last move (green in colour,
/// [N] without). Wide terminals have several boards side by side.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A FEN, or files, directories, zip archives, or - for standard input
    #[arg(value_name = "FEN|INPUT", value_hint = ValueHint::AnyPath)]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    second: SecondFileArgs,

    /// Draw record number N (from 0), or --limit records from it on [default: the first record]
    #[arg(long, value_name = "N", value_parser = super::arguments::number_args::count)]
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

/// A position, and what its record says.
struct Shown {
    position: Position,
    /// The move that led to it.
    last: Option<Move>,
    /// Lines above the board: the game, and its players.
    heading: Vec<String>,
    /// Lines beside the board: the moves before and after it, clock and evaluation.
    facts: Vec<String>,
}

/// A move with its number, as in `12... Nf6`; `None` if it is not legal.
fn numbered(mv: Option<Move>, position: &Position) -> Option<(Move, String)> {
    let mv = mv.filter(|mv| position.legal_moves().contains(mv))?;
    let dots = if position.side_to_move == Color::White { "." } else { "..." };
    Some((mv, format!("{}{dots} {}", position.fullmove, mv.san(position))))
}

/// Hundredths of a second, as in `0:01:30`.
fn clock(centiseconds: i64) -> String {
    let seconds = centiseconds / 100;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

impl Shown {
    fn of(batch: &Batch, record: &Record<'_>) -> Self {
        let position = record.position();
        let number = |field: Field, row: usize| batch.values(field)?.number(row);
        let move_at = |row: usize| Move::from_bits(u16::try_from(number(Field::Move, row)?).ok()?);
        let row = record.row;
        let before = row.checked_sub(1).filter(|&before| {
            let game = number(Field::Game, row);
            let ply = number(Field::Ply, row);
            game.is_some()
                && game == number(Field::Game, before)
                && ply == number(Field::Ply, before).map(|ply| ply + 1)
        });
        let last = before.and_then(|before| {
            let position_before = batch.position(before).ok()?;
            let (mv, text) = numbered(move_at(before), &position_before)?;
            // The record before may be one that was left out, of a branch.
            let mut after = position_before;
            after.make(mv);
            let is_next =
                [Color::White, Color::Black].into_iter().all(|color| after.color(color) == position.color(color));
            is_next.then_some((mv, text))
        });
        let text = |field: Field| {
            record.text(field).filter(|text| !text.is_empty()).map(|text| one_line::of(text).into_owned())
        };
        let place = [(Field::Game, "game"), (Field::Ply, "ply")]
            .map(|(field, name)| Some(format!("{name} {}", record.number(field)?)));
        let place: Vec<String> =
            std::iter::once(format!("record {}", record.index())).chain(place.into_iter().flatten()).collect();
        let mut heading = vec![place.join(", ")];
        let player = |name: Field, elo: Field| {
            let name = text(name)?;
            Some(record.number(elo).map_or(name.clone(), |elo| format!("{name} ({elo})")))
        };
        let players = [player(Field::White, Field::WhiteElo), player(Field::Black, Field::BlackElo)];
        if players.iter().any(Option::is_some) {
            let [white, black] = players.map(|player| player.unwrap_or_else(|| "?".to_owned()));
            let result =
                record.number(Field::Result).and_then(|result| ["0-1", "1/2-1/2", "1-0"].get(result as usize).copied());
            let more = [result.map(str::to_owned), text(Field::Date), text(Field::Site)];
            let words: Vec<String> =
                std::iter::once(format!("{white} - {black}")).chain(more.into_iter().flatten()).collect();
            heading.push(words.join(", "));
        }
        let mut facts = Vec::new();
        let next = numbered(move_at(row), &position);
        if let Some((_, text)) = &next {
            let left = record.number(Field::Clock).map_or(String::new(), |left| format!(" ({} left)", clock(left)));
            facts.push(format!("next move {text}{left}"));
        }
        if let Some((_, text)) = &last {
            facts.push(format!("last move {text}"));
        }
        if let Some(mate) = record.number(Field::Mate) {
            facts.push(match mate {
                0 => "evaluation: mate".to_owned(),
                _ => format!("evaluation: {} mates in {}", if mate > 0 { "White" } else { "Black" }, mate.abs()),
            });
        } else if let Some(score) = record.number(Field::Score) {
            facts.push(format!("evaluation: {:+.2}", score as f64 / 100.0));
        }
        Self { position, last: last.map(|(mv, _)| mv), heading, facts }
    }
}

/// Collects the positions.
struct Take;

impl Take {
    const FIELDS: [Field; 13] = [
        Field::Game,
        Field::Ply,
        Field::Move,
        Field::Result,
        Field::Score,
        Field::Mate,
        Field::Clock,
        Field::White,
        Field::Black,
        Field::WhiteElo,
        Field::BlackElo,
        Field::Date,
        Field::Site,
    ];
}

impl Job for Take {
    type Part = Vec<Shown>;
    fn needs(&self) -> Needs {
        Needs::new(Queries::NONE, Fields::of(&Self::FIELDS))
    }
    fn begin(&self) -> Self::Part {
        Vec::new()
    }
    fn tile(&self, positions: &mut Self::Part, tile: &Tile<'_>) {
        positions.extend(tile.records().map(|record| Shown::of(tile.batch, &record)));
    }
}

impl RunCommand for ShowArgs {
    const EXAMPLES: Examples = &[
        ("A position", "lanefish show \"4r1k1/8/8/1b6/8/3N4/4N3/q3K2R w K - 0 1\""),
        (
            "The tenth record of a file, with the squares that White attacks",
            "lanefish show games.pgn --index 9 --attacks white",
        ),
        (
            "Three positions in which a game has just ended in mate",
            "lanefish show games.pgn --where checkmate --limit 3",
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
            let shown = Shown { position, last: None, heading: Vec::new(), facts: Vec::new() };
            super::print(self.draw(&shown, invocation.style).as_bytes())?;
            return Ok(0);
        }
        invocation.read_second(&self.second, (&self.inputs, &self.reading), Vec::new(), None)?;
        let choice = RunOverrides { skip: self.index, limit: Some(1), ..RunOverrides::default() };
        let mut rows = Rows { width: style::width(), waiting: Vec::new(), is_first: true };
        let style = invocation.style;
        let done = invocation.read(&self.inputs, &self.reading, choice, &Take, |positions| {
            positions.iter().try_for_each(|shown| rows.push(&self.draw(shown, style)))
        })?;
        rows.flush()?;
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

/// Boards that are drawn side by side.
struct Rows {
    width: usize,
    /// The lines of the boards that are to be drawn, and the width of each.
    waiting: Vec<(Vec<String>, usize)>,
    is_first: bool,
}

/// Columns between two boards.
const GAP: usize = 4;

impl Rows {
    fn push(&mut self, board: &str) -> Result<(), lanefish::Error> {
        let lines: Vec<String> = board.lines().map(str::to_owned).collect();
        let width = lines.iter().map(|line| columns_of(line)).max().unwrap_or(0);
        let taken: usize = self.waiting.iter().map(|(_, width)| width + GAP).sum();
        if taken + width > self.width {
            self.flush()?;
        }
        self.waiting.push((lines, width));
        Ok(())
    }

    /// Draws the boards that are waiting.
    fn flush(&mut self) -> Result<(), lanefish::Error> {
        let boards = std::mem::take(&mut self.waiting);
        let mut text = String::new();
        if !boards.is_empty() && !std::mem::replace(&mut self.is_first, false) {
            text.push('\n');
        }
        for row in 0..boards.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0) {
            let mut column = 0;
            let mut at = 0;
            for (lines, width) in &boards {
                let line = lines.get(row).map_or("", String::as_str);
                if !line.is_empty() {
                    text.push_str(&" ".repeat(column - at));
                    text.push_str(line);
                    at = column + columns_of(line);
                }
                column += width + GAP;
            }
            text.push('\n');
        }
        super::write_stdout(text.as_bytes())
    }
}

/// The number of columns of a line, without its codes of colours.
fn columns_of(line: &str) -> usize {
    let mut is_code = false;
    let is_shown = |letter: &char| match (is_code, letter) {
        (false, '\x1b') => {
            is_code = true;
            false
        }
        (true, 'm') => {
            is_code = false;
            false
        }
        _ => !is_code,
    };
    line.chars().filter(is_shown).count()
}

impl ShowArgs {
    fn draw(&self, shown: &Shown, style: Style) -> String {
        let position = &shown.position;
        let squares = |mv: Move| Bitboard::from(mv.from) | Bitboard::from(mv.to);
        let marks = Marks {
            last: shown.last.map_or(Bitboard::EMPTY, squares),
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
        let mut facts = facts(position, self.attacks.is_some());
        // The side to move comes first.
        facts.splice(1..1, shown.facts.iter().cloned());
        let mut facts = facts.iter();
        let mut text: String = shown.heading.iter().map(|line| style.heading(line) + "\n").collect();
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
        let is_last = marks.last.contains(square);
        let king_in_check = piece.is_some_and(|piece| {
            piece.role == Role::King && piece.color == position.side_to_move && marks.checkers.any()
        });
        if style.has_color() {
            let light = (square.file().index() + square.rank().index()) % 2 == 1;
            let background = match (white, black) {
                _ if checks || king_in_check => 160,
                _ if pinned => 172,
                _ if is_last => {
                    if light {
                        150
                    } else {
                        107
                    }
                }
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
            _ if is_last => format!("[{letter}]"),
            (.., true, true) => format!(" {letter}±"),
            (.., true, false) => format!(" {letter}+"),
            (.., false, true) => format!(" {letter}-"),
            _ => format!(" {letter} "),
        }
    }
}

/// The highlighted squares of the board.
struct Marks {
    /// The squares of the last move.
    last: Bitboard,
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
