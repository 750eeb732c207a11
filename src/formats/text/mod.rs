//! FEN, EPD and perft lists: a position per line, or a block of lines.
//!
//! Lines end at LF; a CR before it is dropped, and so is a UTF-8 byte order mark at the start of a line
//! (concatenated files have them in the middle). Blank lines and lines that begin with `#` are skipped.
//! Text after the FEN fields of a line, such as EPD operations or perft counts, is kept in [`Field::Operations`]. Some
//! of the operations are fields of the record as well: the first move of `bm`, if it is legal, is its [`Field::Move`],
//! the evaluation `ce` its [`Field::Score`], a mate `dm` its [`Field::Mate`], and `acd` its [`Field::Depth`]. In EPD,
//! `ce` and `dm` are from the view of the side to move, and a `ce` beyond 32,000 is a mate. The [`Field::Result`] is that
//! of `result`, or of a comment (`c0` to `c9`) that is nothing but a result. Trainers also write lines with a position
//! and a result alone, such as `FEN [1.0]` or `FEN | 1-0`; the result becomes the operation `c9 "1-0";`. Values of these
//! operations that cannot be read are counted, for a note with the first of them. A line `FEN moves e2e4` is rejected.
//!
//! FEN is written with six fields and nothing else. EPD keeps the operations of the record after the first four
//! fields, or after all six if the clocks are not those of a new game: readers of EPD take two numbers
//! there as the clocks, so nothing is lost. Control characters in them become blanks. A perft file is an EPD
//! file whose operations are counts.
//!
//! A perft *block* consists of lines `id NAME`, `epd FEN`, `perft DEPTH COUNT`, …; it is one record, and its id and
//! counts become the operations `id "NAME"; D1 20; D2 400;`.

mod blocks;
mod decode;
mod epd_operations;

pub use epd_operations::{id, perft_counts, unreadable_perft_counts};

pub(super) use decode::{OperationColumns, Refusal, UsualLines, place, unusual, usual};

use super::codec::encode::{Encoded, Encoder, lost_fields};
use super::codec::layout::Text;
use super::codec::line_records::strip_bom;
use super::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, Losses};
use crate::chess::fen::{self, CastlingStyle, Coded, FenOptions};
use crate::table::{Batch, Field, Fields, Tile};
use crate::text::one_line;
use crate::text::text_writer::Room;
pub(super) use epd_operations::operation_of;
use epd_operations::{OperationFields, is_in_operations, result_alone};
use std::ops::Range;

/// The fields that a line may have.
pub(super) const CARRIES: Fields = OperationFields::FIELDS.union(Fields::of(&[Field::Operations, Field::KeyEnPassant]));

/// The layout of lines, some of which belong together.
#[derive(Clone, Copy, Debug)]
struct Blocks;

impl Text for Blocks {
    fn cut(&self, bytes: &[u8], max_record: usize) -> Option<usize> {
        blocks::cut(bytes, max_record)
    }
    fn division(&self, bytes: &[u8], from: usize, at_end: bool) -> Option<usize> {
        blocks::division(bytes, from, at_end)
    }
    fn reach(&self) -> usize {
        blocks::BLOCK_REACH
    }
}

macro_rules! format_of_lines {
    ($(#[$doc:meta])* $name:ident, $kind:expr, $about:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(in crate::formats) struct $name;

        impl Codec for $name {
            fn about(&self) -> &'static About {
                static ABOUT: About = $about;
                &ABOUT
            }
            fn likeness(&self, head: &[u8]) -> Likeness {
                match sniff(head) {
                    Some(kind) if kind == $kind => Likeness::Certain,
                    Some(Kind::Fen | Kind::Epd) => Likeness::Possible,
                    _ => Likeness::No,
                }
            }
            fn hint(&self, bad: &[u8]) -> Option<&'static str> {
                if $kind == Kind::Perft { None } else { crate::formats::training::scored_line::hint(bad) }
            }
            fn layout(&self) -> Layout {
                Layout::Text(&Blocks)
            }
            fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
                decode::decode(chunk, options)
            }
            fn encoder(&self) -> Option<&'static dyn Encoder> {
                const ENCODER: Lines = Lines {
                    with_operations: !matches!($kind, Kind::Fen),
                };
                Some(&ENCODER)
            }
        }
    };
}

format_of_lines!(
    /// The codec of FEN: a position per line, six fields.
    Fen,
    Kind::Fen,
    About {
        name: "fen",
        title: "a position per line, six fields",
        extensions: &["fen", "fens", "sfens"],
        has_games: false,
        can_be_empty: false,
        selects: false,
        carries: CARRIES,
    }
);
format_of_lines!(
    /// The codec of EPD: a position per line, four fields and operations.
    Epd,
    Kind::Epd,
    About {
        name: "epd",
        title: "a position per line, four fields and operations",
        extensions: &["epd"],
        has_games: false,
        can_be_empty: false,
        selects: false,
        carries: CARRIES,
    }
);
format_of_lines!(
    /// The codec of positions with perft counts.
    Perft,
    Kind::Perft,
    About {
        name: "perft",
        title: "positions with perft counts",
        extensions: &["perft"],
        has_games: false,
        can_be_empty: false,
        selects: false,
        carries: CARRIES,
    }
);

/// The one of the three formats that a line looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fen,
    Epd,
    Perft,
}

/// Writes records as lines, with or without the text after the fields of the position.
#[derive(Clone, Copy, Debug)]
struct Lines {
    with_operations: bool,
}

impl Encoder for Lines {
    fn fields(&self) -> Fields {
        if self.with_operations { Fields::of(&[Field::Operations]) } else { Fields::NONE }
    }
    fn encode(&self, batch: &Batch, rows: &[Range<usize>], piece: &mut Encoded) {
        let operations = batch.values(Field::Operations).filter(|_| self.with_operations);
        let mut safe = Vec::new();
        let mut room = Room::behind(&mut piece.bytes);
        for row in rows.iter().cloned().flatten() {
            safe.clear();
            if let Some(operations) = operations.and_then(|operations| operations.text(row)) {
                one_line::push(operations.as_bytes(), &mut safe);
            }
            room.write(Coded::ROOM + safe.len(), |line| {
                let position = batch.board(row).coded(batch.halfmove[row], batch.fullmove[row]);
                let mut at = position.write(line, CastlingStyle::Outermost);
                if self.with_operations {
                    at -= if line[..at].ends_with(b" 0 1") { 4 } else { 0 };
                    if !safe.is_empty() {
                        line[at] = b' ';
                        at += 1;
                        line[at..at + safe.len()].copy_from_slice(&safe);
                        at += safe.len();
                    }
                }
                line[at] = b'\n';
                at + 1
            });
        }
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        let fields = self.fields();
        lost_fields(tile, losses, |row, field| {
            fields.contains(field) || self.with_operations && is_in_operations(tile.batch, row, field)
        });
    }
}

/// Whether the first meaningful line looks like one of these formats.
fn sniff(head: &[u8]) -> Option<Kind> {
    for line in head.split(|&byte| byte == b'\n').take(1000) {
        let line = strip_bom(line).trim_ascii();
        if line.is_empty() || line[0] == b'#' {
            continue;
        }
        if line.starts_with(b"id ") || line.starts_with(b"epd ") {
            return Some(Kind::Perft);
        }
        // Training data.
        if super::training::scored_line::sniff(line) {
            return None;
        }
        if fen::parse(line, FenOptions::default()).is_ok_and(|fen| result_alone(fen.rest).is_some()) {
            return Some(Kind::Epd);
        }
        let mut tokens = line.split(|byte| byte.is_ascii_whitespace()).filter(|token| !token.is_empty());
        let board = tokens.next()?;
        let looks_like_a_board = board.iter().filter(|&&byte| byte == b'/').count() == 7
            && board.iter().all(|byte| b"pnbrqkPNBRQK12345678/".contains(byte));
        if !looks_like_a_board || !matches!(tokens.next(), Some(b"w" | b"b")) {
            return None;
        }
        let rest: Vec<&[u8]> = tokens.collect();
        let number = |token: &&[u8]| token.iter().all(u8::is_ascii_digit);
        return Some(if rest.contains(&&b"|"[..]) {
            // `FEN | score | result` is a format of its own.
            return None;
        } else if rest.len() == 4 && rest[2..].iter().all(number) {
            Kind::Fen
        } else {
            Kind::Epd
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::packed::Packed;
    use crate::table::Array;

    #[test]
    fn clocks_are_written_where_they_matter() {
        let fresh = "8/8/8/4k3/8/8/8/4K2R w K - 0 1";
        let later = "8/8/8/4k3/8/8/8/4K2R w K - 10 1";
        let mut batch = Batch::new();
        for fen in [fresh, later] {
            let position = Position::from_fen_unvalidated(fen).unwrap();
            let board = Packed::pack(&position).unwrap();
            batch.push(board, position.halfmove, position.fullmove);
        }
        let mut values = Field::Operations.column(1);
        if let Array::Text(column) = &mut values {
            column.push(Some("id \"a\";"));
        }
        batch.fields.insert(Field::Operations, values);
        let batch = std::sync::Arc::new(batch);
        let lines = |with_operations| {
            let mut piece = Encoded::default();
            Lines { with_operations }.encode(&batch, &[0..1, 1..2], &mut piece);
            String::from_utf8(piece.bytes).unwrap()
        };
        assert_eq!(lines(false), format!("{fresh}\n{later}\n"));
        assert_eq!(lines(true), format!("8/8/8/4k3/8/8/8/4K2R w K -\n{later} id \"a\";\n"));
    }
}
