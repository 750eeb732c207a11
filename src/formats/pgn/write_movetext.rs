//! Writes the moves of a game in standard algebraic notation, with their numbers, evaluations and clocks, in the form of the
//! games of Lichess: `1. e4 { [%eval 0.17] [%clk 0:00:30] } 1... c5 { … }`.

use super::lex;
use crate::chess::{Color, Move, Position};
use crate::games::RecordValues;
use crate::replay::Board;
use std::io::Write as _;

/// Writes the moves of a game from a position on, as the bits of [`Move`], 0 for a null move, with the values of the
/// records to which they belong. There is no result.
pub(crate) fn write_movetext(mut position: Position, moves: &[u16], values: &[RecordValues], out: &mut Vec<u8>) {
    let mut has_comment = true;
    for (ply, &bits) in moves.iter().enumerate() {
        if ply > 0 {
            out.push(b' ');
        }
        match position.side_to_move {
            Color::White => write(out, format_args!("{}. ", position.fullmove)),
            Color::Black if has_comment => write(out, format_args!("{}... ", position.fullmove)),
            Color::Black => {}
        }
        let Some(next) = write_move(position, bits, out) else { return };
        position = next;
        let of = |record: usize| values.get(record).copied().unwrap_or_default();
        // The evaluation is that of the position after the move.
        let (RecordValues { score, mate, .. }, clock) = (of(ply + 1), of(ply).clock);
        has_comment = score.is_some() || mate.is_some() || clock.is_some();
        if !has_comment {
            continue;
        }
        out.extend_from_slice(b" {");
        match (score, mate) {
            (Some(score), _) => {
                let (sign, score) = (if score < 0 { "-" } else { "" }, score.unsigned_abs());
                write(out, format_args!(" [%eval {sign}{}.{}]", score / 100, decimals((score % 100).into())));
            }
            (None, Some(mate)) => write(out, format_args!(" [%eval #{mate}]")),
            (None, None) => {}
        }
        if let Some(clock) = clock {
            let (seconds, rest) = (clock / 100, clock % 100);
            let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            write(out, format_args!(" [%clk {hours}:{minutes:02}:{seconds:02}"));
            if rest != 0 {
                write(out, format_args!(".{}", decimals(rest)));
            }
            out.push(b']');
        }
        out.extend_from_slice(b" }");
    }
}

/// Writes a move, or `--` for a null move; returns the position after it, unless it is impossible.
fn write_move(mut position: Position, bits: u16, out: &mut Vec<u8>) -> Option<Position> {
    let Some(mv) = played(bits) else {
        out.extend_from_slice(b"--");
        return Some(Board::new(&position).null_move().ok()?.position());
    };
    mv.append_san(&position, out);
    position.make(mv);
    Some(position)
}

/// Writes the moves of a game in standard algebraic notation alone, with blanks between them.
pub(crate) fn write_san(mut position: Position, moves: &[u16], out: &mut Vec<u8>) {
    for (ply, &bits) in moves.iter().enumerate() {
        if ply > 0 {
            out.push(b' ');
        }
        let Some(next) = write_move(position, bits, out) else { return };
        position = next;
    }
}

/// Writes the moves of a game as UCI has them, with blanks between them. Castling is king takes rook in Chess960.
pub(crate) fn write_uci(position: &Position, moves: &[u16], out: &mut Vec<u8>) {
    let is_chess960 = !position.castles_as_standard();
    for (ply, &bits) in moves.iter().enumerate() {
        if ply > 0 {
            out.push(b' ');
        }
        match played(bits) {
            Some(mv) => {
                let text = mv.uci_as(is_chess960 || bits >> 14 == 3 && bits & Move::CHESS960 != 0);
                out.extend_from_slice(text.as_bytes());
            }
            None => out.extend_from_slice(b"0000"),
        }
    }
}

/// The move of some bits.
pub(crate) fn played(bits: u16) -> Option<Move> {
    let bits = bits & if bits >> 14 == 3 { !Move::CHESS960 } else { u16::MAX };
    Move::from_bits(bits).filter(|_| bits != 0)
}

/// Brings a movetext into one line: line ends become blanks, comments up to the end of the line get braces, and escaped
/// lines are left out. The result is added where it is missing.
pub(crate) fn write_one_line(movetext: &[u8], result: &str, out: &mut Vec<u8>) {
    let movetext = movetext.trim_ascii();
    if movetext.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b';' | b'\t')) {
        let mut in_braces = false;
        let mut lines = movetext.split(|byte| matches!(byte, b'\n' | b'\r')).peekable();
        while let Some(line) = lines.next() {
            if line.starts_with(b"%") && !in_braces {
                continue;
            }
            let mut open = None;
            for &byte in line.trim_ascii_end() {
                match byte {
                    _ if open.is_some() => out.push(if byte == b'}' { b')' } else { byte }),
                    b';' if !in_braces => {
                        open = Some(());
                        out.push(b'{');
                    }
                    b'{' | b'}' => {
                        in_braces = byte == b'{';
                        out.push(byte);
                    }
                    b'\t' => out.push(b' '),
                    _ => out.push(byte),
                }
            }
            if open.is_some() {
                out.push(b'}');
            }
            if lines.peek().is_some() && !out.ends_with(b" ") {
                out.push(b' ');
            }
        }
        out.truncate(out.trim_ascii_end().len());
    } else {
        out.extend_from_slice(movetext);
    }
    if !lex::ends_with_result(movetext) {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.extend_from_slice(result.as_bytes());
    }
}

/// Two digits after a point; a nought at the end is left out.
fn decimals(hundredths: u32) -> String {
    match hundredths % 10 {
        0 => (hundredths / 10).to_string(),
        _ => format!("{hundredths:02}"),
    }
}

fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Chunk, DecodeOptions, Format};
    use crate::table::{Field, Fields};
    use std::path::Path;
    use std::sync::Arc;

    /// What is written is what was read, where it has the form of Lichess.
    #[test]
    fn games_of_lichess_are_written_as_they_were() {
        for text in [
            "1. e4 { [%eval 0.17] [%clk 0:05:00] } 1... e5 { [%eval -1.5] [%clk 0:04:59.3] } 2. Nf3 { [%eval #3] }",
            "1. e4 e5 2. Nf3 { [%clk 1:00:07.05] } 2... Nc6 3. -- a6",
            "1. d4 { [%eval 0.0] } 1... d5 { [%eval 12.0] } 2. c4 { [%eval #-12] } 2... dxc4",
        ] {
            let fields = Fields::of(&[Field::Ply, Field::Move, Field::Score, Field::Mate, Field::Clock]);
            let options = DecodeOptions::default().fields(fields);
            let chunk = Chunk::new(Arc::from(Path::new("x")), text.as_bytes().to_vec().into());
            let decoded = Format::PGN.decode(&chunk, &options);
            let batch = &decoded.batches[0];
            let bits = |record| batch.values(Field::Move).and_then(|moves| moves.number(record)).unwrap_or(0) as u16;
            let moves: Vec<u16> = (0..batch.len() - 1).map(bits).collect();
            let values: Vec<RecordValues> = (0..batch.len()).map(|record| RecordValues::of(batch, record)).collect();
            let mut written = Vec::new();
            write_movetext(batch.position(0).expect("a position"), &moves, &values, &mut written);
            assert_eq!(String::from_utf8_lossy(&written), text);
        }
    }

    #[test]
    fn movetexts_become_one_line() {
        for (text, expected) in [
            ("1. e4 e5 1-0", "1. e4 e5 1-0"),
            ("\n1. e4\r\ne5\n\n", "1. e4 e5 *"),
            ("1. e4 ; the king's } pawn\n1... e5 *", "1. e4 {the king's ) pawn} 1... e5 *"),
            ("1. e4 { two ;\n% lines } e5\n% not this\n2. Nf3 1-0", "1. e4 { two ; % lines } e5 2. Nf3 1-0"),
            ("", "*"),
        ] {
            let mut line = Vec::new();
            write_one_line(text.as_bytes(), "*", &mut line);
            assert_eq!(String::from_utf8_lossy(&line).replace("{ the", "{the"), expected);
        }
    }
}
