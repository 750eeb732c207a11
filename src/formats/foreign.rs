//! Formats that are recognized but not supported yet: their files are refused by name instead of being mistaken
//! for something else.
//!
//! Content decides if it is certain: a magic number, the lines of a text, or records that are all well-formed
//! as far as they are checked. Otherwise the extension does, which for some formats is a weak
//! hint: five unrelated ones use `.bin`.

use super::Format;
use crate::input::Compression;
use std::path::Path;

/// The unsupported format of an input, if it is one: by its first bytes (`all`: there are no more), as they are and as a
/// text.
fn of_content(head: &[u8], text: &[u8], all: bool, path: &Path) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"BINP", "a Stockfish binpack"),
        #[cfg(not(feature = "parquet"))]
        (b"PAR1", "a Parquet file"),
        #[cfg(not(feature = "parquet"))]
        (b"ARROW1", "an Arrow file"),
        (b"PARE", "an encrypted Parquet file"),
        (b"FEA1", "a Feather file of version 1"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"Scid.si", "a Scid database"),
        (b"ChessBase", "a ChessBase database"),
    ];
    for (magic, what) in MAGIC {
        if head.starts_with(magic) {
            return Some(what);
        }
    }
    if let Some(what) = of_lines(text) {
        return Some(what);
    }
    if is_viri(head) {
        return Some("a viriformat file (training data, whole games)");
    }
    let is_bin = extension(path).is_some_and(|extension| matches!(&*extension, "bin" | "bookbin"));
    (is_bin && is_polyglot(head, all)).then_some("a Polyglot opening book")
}

/// The format suggested by a file name, without its compression.
pub fn of_name(path: &Path) -> Option<&'static str> {
    Some(match &*extension(path)? {
        "binpack" => "a binpack (training data)",
        "plain" => "a Stockfish plain file (training data as text)",
        "vf" | "viri" | "viriformat" => "a viriformat file (training data)",
        "data" => "a .data file (training data)",
        "bookbin" => "a Polyglot opening book",
        "bin" => "a .bin file (training data or a Polyglot opening book)",
        "abk" | "ctg" => "an opening book",
        "scid" | "si4" | "si5" | "sg4" | "sg5" | "sn4" | "sn5" => "a Scid database",
        "cbh" | "cbv" | "cbf" | "2cbh" => "a ChessBase database",
        #[cfg(not(feature = "parquet"))]
        "parquet" => "a Parquet file",
        #[cfg(not(feature = "parquet"))]
        "arrow" | "arrows" | "feather" | "ipc" => "an Arrow file",
        "sqlite" | "db" => "a database",
        _ => return None,
    })
}

/// Why an input that no reader has recognized is refused: the rest of a sentence that begins with its name.
/// A name that some reader claims (`named`) counts for more than nothing, and less than content.
pub(super) fn recognized(head: &[u8], text: &[u8], all: bool, path: &Path, named: Option<Format>) -> Option<String> {
    let by_name = || match named {
        None => of_name(path),
        Some(_) => None,
    };
    if let Some(what) = of_content(head, text, all, path) {
        return Some(format!("is {what}: lanefish cannot read that format yet"));
    }
    let what = by_name()?;
    // Some names stand for formats that are read, too; only their content tells.
    let seen = match &*extension(path)? {
        "data" | "bin" => super::open::seen(head),
        _ => None,
    };
    Some(match seen {
        Some(seen) => format!("is {what}, and {seen}"),
        None => format!("is {what}: lanefish cannot read that format yet"),
    })
}

/// Whether a line is a position with a score and a result: `FEN | score | result`.
///
/// ```
/// use lanefish::formats::foreign::is_scored_line;
/// assert!(is_scored_line(b"8/8/8/8/8/8/6k1/K7 w - - 0 1 | 12 | 0.5"));
/// assert!(!is_scored_line(b"8/8/8/8/8/8/6k1/K7 w - - 0 1"));
/// ```
pub fn is_scored_line(line: &[u8]) -> bool {
    let mut parts = line.split(|&byte| byte == b'|').map(<[u8]>::trim_ascii);
    let (Some(fen), Some(score), Some(result), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let mut words = fen.split(u8::is_ascii_whitespace);
    let board = words.next().unwrap_or_default();
    let is_number = |text: &[u8]| {
        let is_digit = |byte: &u8| byte.is_ascii_digit() || b"+-./[]".contains(byte);
        !text.is_empty() && text.iter().all(is_digit)
    };
    is_board(board) && matches!(words.next(), Some(b"w" | b"b")) && is_number(score) && is_number(result)
}

fn is_board(word: &[u8]) -> bool {
    word.iter().filter(|&&byte| byte == b'/').count() == 7
        && word.iter().all(|byte| b"pnbrqkPNBRQK12345678/".contains(byte))
}

/// The last extension in lower case, without that of a compression.
fn extension(path: &Path) -> Option<String> {
    let lower = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    let last = lower(path)?;
    match Compression::of_extension(&last) {
        Some(_) => lower(Path::new(path.file_stem()?)),
        None => Some(last),
    }
}

/// Texts of training data.
fn of_lines(head: &[u8]) -> Option<&'static str> {
    let mut lines =
        head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty() && line[0] != b'#');
    let first = lines.next()?;
    if is_scored_line(first) {
        return Some("a text of training data (FEN | score | result)");
    }
    let board = first.strip_prefix(b"fen ")?;
    let board = board.split(u8::is_ascii_whitespace).next()?;
    let next = lines.next()?;
    (is_board(board) && next.starts_with(b"move ")).then_some("a Stockfish plain file (training data as text)")
}

/// Number of records checked.
const MOST: usize = 100;

fn word(bytes: &[u8; 32]) -> u64 {
    bytes[..8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The occupied squares of a board of 32 bytes, each with its code; `None` if unused codes are not
/// zero.
fn coded(record: &[u8; 32]) -> Option<Vec<(u8, u8)>> {
    let mut occupancy = word(record);
    let mut codes = record[8..24].iter().flat_map(|&byte| [byte & 15, byte >> 4]);
    let mut pieces = Vec::new();
    while occupancy != 0 {
        pieces.push((occupancy.trailing_zeros() as u8, codes.next()?));
        occupancy &= occupancy - 1;
    }
    codes.all(|code| code == 0).then_some(pieces)
}

/// The squares of the two kings, if there is one each.
fn kings(pieces: &[(u8, u8)]) -> Option<(u8, u8)> {
    let only = |king: u8| {
        let mut squares = pieces.iter().filter(|&&(_, code)| code == king);
        let square = squares.next()?.0;
        squares.next().is_none().then_some(square)
    };
    Some((only(5)?, only(13)?))
}

fn is_marlin(record: &[u8; 32]) -> bool {
    coded(record).is_some_and(|pieces| {
        let en_passant = record[24] & 0x7F;
        let rank = if record[24] & 0x80 == 0 { 5 } else { 2 };
        pieces.iter().all(|&(_, code)| code & 7 < 7)
            && kings(&pieces).is_some()
            && (en_passant == 64 || en_passant / 8 == rank)
            && record[30] <= 2
    })
}

/// A board, moves, and a terminator; then the next game.
pub(super) fn is_viri(head: &[u8]) -> bool {
    let mut rest = head;
    for game in 0..MOST {
        let Some((board, moves)) = rest.split_first_chunk::<32>() else {
            return game > 0;
        };
        if !is_marlin(board) {
            return false;
        }
        let (moves, _) = moves.as_chunks::<4>();
        let Some(plies) = moves.iter().position(|ply| *ply == [0; 4]) else {
            return game > 0;
        };
        rest = &rest[32 + 4 * (plies + 1)..];
    }
    true
}

/// Keys in ascending order; moves of fifteen bits.
fn is_polyglot(head: &[u8], all: bool) -> bool {
    let (records, rest) = head.as_chunks::<16>();
    let is_move = |record: &[u8; 16]| record[8] & 0x80 == 0 && record[8..10] != [0; 2];
    records.len() > 1
        && (!all || rest.is_empty())
        && records.iter().all(is_move)
        && records.is_sorted_by_key(|record| record.first_chunk::<8>().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::detect;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let digit = |at: usize| (digits[at] as char).to_digit(16).unwrap() as u8;
        (0..digits.len() / 2).map(|at| digit(2 * at) << 4 | digit(2 * at + 1)).collect()
    }

    #[test]
    fn content_tells() {
        let viri = "ffff00000000ffff1642256100000000888888889ecaade94000010000000200\
            0c072300b208140046052900000000009100000000000091\
            56e6ed000000000000000000000000004004150000000100c48100003c8ef1ff8603fdff00000000";
        for (content, what) in [
            (bytes(viri), "viriformat"),
            (b"BINP\x26\0\0\0".to_vec(), "Stockfish binpack"),
            (b"PARE\x15\x04".to_vec(), "encrypted Parquet"),
            (b"fen 8/8/8/8/8/8/6k1/K7 w - - 0 1\nmove a1b1\n".to_vec(), "plain"),
            (b"8/8/8/8/8/8/6k1/K7 w - - 0 1 | 5 | 1.0\n".to_vec(), "FEN | score | result"),
        ] {
            // Whatever its name.
            for name in ["x", "x.bin", "x.fen", "x.txt"] {
                let reason = detect(&content, true, Path::new(name)).unwrap_err();
                assert!(
                    reason.contains(what) && reason.contains("cannot read that format yet"),
                    "{what} as {name}: {reason}"
                );
            }
        }
        let book = [[1u8; 16], [2; 16]].concat();
        assert!(of_content(&book, &book, true, Path::new("x.bin")).is_some());
        assert!(of_content(&book, &book, true, Path::new("x.dat")).is_none());
    }

    #[test]
    fn names_tell_where_content_does_not() {
        for name in ["a.binpack", "a.PLAIN.zst", "a.si5", "a.sqlite", "a.bin"] {
            let reason = detect(b"anything", false, Path::new(name)).unwrap_err();
            assert!(reason.contains("cannot read that format yet"), "{name}");
        }
        let reason = detect(b"anything", false, Path::new("a.xyz")).unwrap_err();
        assert!(reason.contains("--from"), "{reason}");
        assert!(detect(b"anything", false, Path::new("a.pgn")).is_ok());
    }
}
