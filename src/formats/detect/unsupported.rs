//! Formats that are recognized but not supported yet: the error names the format, so that a file is not mistaken for
//! something else.
//!
//! The content decides if it is unmistakable: a magic number, or records that are all well-formed as far as they are
//! checked. Otherwise the extension decides. It can be a weak hint: five unrelated formats use `.bin`.

use crate::formats::{Format, Layout};
use crate::input::Compression;
use crate::text::numbers::counted;
use std::path::Path;

/// A kind of file that cannot be read or written as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// lanefish does not support it.
    Unsupported(&'static str),
    /// The name is common to several formats without a header.
    Ambiguous(&'static str),
    /// It needs the feature `parquet`, with which lanefish was not built.
    #[cfg(not(feature = "parquet"))]
    NeedsParquet(&'static str),
}

impl Foreign {
    /// The kind of file, with its article.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::Unsupported(what) | Self::Ambiguous(what) => what,
            #[cfg(not(feature = "parquet"))]
            Self::NeedsParquet(what) => what,
        }
    }
    /// The formats that the name may stand for.
    pub(crate) fn candidates(self) -> Vec<Format> {
        let is_headerless = |format: &Format| matches!(format.layout(), Layout::Records(_));
        match self {
            Self::Ambiguous(_) => Format::ALL.iter().copied().filter(is_headerless).collect(),
            _ => Vec::new(),
        }
    }
}

/// The unsupported format of an input, if it is one: by its first bytes (`all`: there are no more).
fn of_content(head: &[u8]) -> Option<Foreign> {
    const MAGIC: &[(&[u8], Foreign)] = &[
        #[cfg(not(feature = "parquet"))]
        (b"PAR1", Foreign::NeedsParquet("a Parquet file")),
        #[cfg(not(feature = "parquet"))]
        (b"ARROW1", Foreign::NeedsParquet("an Arrow file")),
        (b"PARE", Foreign::Unsupported("an encrypted Parquet file")),
        (b"FEA1", Foreign::Unsupported("a Feather file of version 1")),
        (b"SQLite format 3\0", Foreign::Unsupported("an SQLite database")),
        (b"Scid.si", Foreign::Unsupported("a Scid database")),
        (b"ChessBase", Foreign::Unsupported("a ChessBase database")),
    ];
    for (magic, what) in MAGIC {
        if head.starts_with(magic) {
            return Some(*what);
        }
    }
    if is_leela(head) {
        return Some(Foreign::Unsupported("training data of Leela Chess Zero"));
    }
    is_monty(head).then_some(Foreign::Unsupported("training data of Monty (montyformat, not Stockfish's binpack)"))
}

/// Whether the first bytes are a record of Leela's training data, of version 3 to 7: after the version, and from version 5 on
/// the number of an input format, the probabilities of 1,858 moves follow, of which most are illegal and have -1.
fn is_leela(head: &[u8]) -> bool {
    /// Number of moves that are looked at, which are those from a1 and b1: most of them are never legal.
    const MOVES: usize = 40;
    let word = |place: usize| Some(u32::from_le_bytes(head.get(4 * place..4 * place + 4)?.try_into().ok()?));
    let first = match word(0) {
        Some(3 | 4) => 1,
        Some(5..=7) if matches!(word(1), Some(1..=255)) => 2,
        _ => return false,
    };
    let moves: Option<Vec<f32>> = (first..first + MOVES).map(|place| word(place).map(f32::from_bits)).collect();
    moves.is_some_and(|moves| {
        moves.iter().all(|&share| share == -1.0 || (0.0..=1.0).contains(&share)) && moves.contains(&-1.0)
    })
}

/// Whether the first bytes are the header of a game in Monty's format: four sets of squares, the black pieces and three bits of
/// the kind of each, then side to move, en passant square, castling rights, counters, files of rooks, and the result.
fn is_monty(head: &[u8]) -> bool {
    const HEADER: usize = 43;
    let Some((sets, &[stm, en_passant, rights, _, fullmove, later_fullmove, ref rest @ ..])) =
        head.get(..HEADER).and_then(|header| header.split_at_checked(32))
    else {
        return false;
    };
    let (files, result) = (&rest[..4], rest[4]);
    let set = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| sets[8 * at + byte]));
    let [black, heavy, middle, light] = [0, 1, 2, 3].map(set);
    let occupied = heavy | middle | light;
    let kings = heavy & middle & !light;
    let pawns = light & !heavy & !middle;
    black & !occupied == 0
        && heavy & middle & light == 0
        && [kings & black, kings & !black].iter().all(|king| king.count_ones() == 1)
        && occupied.count_ones() <= 32
        && pawns & 0xFF00_0000_0000_00FF == 0
        && stm < 2
        && en_passant < 64
        && rights < 16
        && u16::from_le_bytes([fullmove, later_fullmove]) < 10_000
        && files.iter().all(|&file| file < 8)
        && result < 3
}

/// The reason why an opening book is not read as positions, and what reads it: the rest of a sentence that begins with the
/// name of the file.
pub(super) const BOOK: &str =
    "is a Polyglot opening book, which has moves and no games: `lanefish tree --book FILE` shows them";

/// Whether a name is one that opening books have, among others.
pub(super) fn may_be_book(path: &Path) -> bool {
    extension(path).is_some_and(|extension| matches!(&*extension, "bin" | "bookbin"))
}

/// The reason why an archive or container is not read, and what to use instead: the rest of a sentence that begins with
/// the name of the file.
pub(in crate::formats) fn archive(head: &[u8], path: &Path) -> Option<String> {
    const MAGIC: &[(usize, &[u8], &str, &str)] = &[
        (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive", "7z x -so"),
        (0, b"Rar!\x1A\x07", "a RAR archive", "unrar p -inul"),
        (0, b"\xFD7zXZ\0", "an xz file", "xz -dc"),
        (257, b"ustar", "a tar archive", "tar -xOf"),
    ];
    let is =
        |&&(place, magic, ..): &&(usize, &[u8], _, _)| head.get(place..).is_some_and(|rest| rest.starts_with(magic));
    let (_, _, what, command) = MAGIC.iter().find(is)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Some(format!("is {what}, which lanefish does not read: pipe what is in it, `{command} {name} | lanefish .. -`"))
}

/// The format suggested by a file name, without its compression.
pub(crate) fn of_name(path: &Path) -> Option<Foreign> {
    Some(match &*extension(path)? {
        "data" => Foreign::Ambiguous("a .data file (training data)"),
        "bin" => Foreign::Ambiguous("a .bin file (training data or a Polyglot opening book)"),
        "bookbin" => Foreign::Unsupported("a Polyglot opening book"),
        "abk" | "ctg" => Foreign::Unsupported("an opening book"),
        "scid" | "si4" | "si5" | "sg4" | "sg5" | "sn4" | "sn5" => Foreign::Unsupported("a Scid database"),
        "cbh" | "cbv" | "cbf" | "2cbh" => Foreign::Unsupported("a ChessBase database"),
        #[cfg(not(feature = "parquet"))]
        "parquet" => Foreign::NeedsParquet("a Parquet file"),
        #[cfg(not(feature = "parquet"))]
        "arrow" | "arrows" | "feather" | "ipc" => Foreign::NeedsParquet("an Arrow file"),
        "sqlite" | "db" => Foreign::Unsupported("a database"),
        _ => return None,
    })
}

/// The reason why an input that no reader has recognized is refused: the rest of a sentence that begins with its name.
/// A name that some reader claims (`named`) counts, but less than content.
pub(in crate::formats) fn recognized(head: &[u8], path: &Path, named: Option<Format>) -> Option<String> {
    let by_name = || match named {
        None => of_name(path),
        Some(_) => None,
    };
    let found = of_content(head).or_else(by_name)?;
    let what = found.what();
    Some(match found {
        Foreign::Unsupported(_) => format!("is {what}: lanefish cannot read that format yet"),
        #[cfg(not(feature = "parquet"))]
        Foreign::NeedsParquet(_) => format!("is {what}: reading it needs the feature `parquet`"),
        // Only the content can tell.
        Foreign::Ambiguous(_) => match super::headerless::closest(head) {
            Some(seen) => format!("is {what}, and {seen}"),
            None => format!(
                "is {what} whose {} are less than one record; --from {} names the format",
                counted(head.len() as u64, "byte"),
                alternatives(found.candidates().into_iter().map(Format::name)),
            ),
        },
    })
}

/// `a, b or c`.
pub(crate) fn alternatives<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<T> = names.into_iter().collect();
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        text += match names.len() - at {
            _ if at == 0 => "",
            1 => " or ",
            _ => ", ",
        };
        text += name.as_ref();
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::detect;

    #[test]
    fn content_tells() {
        for (content, what) in
            [(b"SQLite format 3\0".to_vec(), "SQLite database"), (b"PARE\x15\x04".to_vec(), "encrypted Parquet")]
        {
            // Whatever its name.
            for name in ["x", "x.bin", "x.fen", "x.txt"] {
                let reason = detect(&content, true, Path::new(name), None).unwrap_err().reason;
                assert!(
                    reason.contains(what) && reason.contains("cannot read that format yet"),
                    "{what} as {name}: {reason}"
                );
            }
        }
        assert!(may_be_book(Path::new("x.bin")) && !may_be_book(Path::new("x.dat")));
    }

    /// A record of Leela's, and the usual start position as Monty's format has it.
    #[test]
    fn training_data_of_others_is_named() {
        let mut leela = Vec::new();
        leela.extend(6_u32.to_le_bytes());
        leela.extend(1_u32.to_le_bytes());
        let share = |at: u32| if at.is_multiple_of(7) { 0.05_f32 } else { -1.0 };
        (0..1_858).for_each(|at| leela.extend(share(at).to_le_bytes()));
        leela.resize(8_356, 0);
        let sets = [0xFFFF_0000_0000_0000, 0x9900_0000_0000_0099, 0x7600_0000_0000_0076, 0x2CFF_0000_0000_FF2C_u64];
        let mut monty: Vec<u8> = sets.into_iter().flat_map(u64::to_le_bytes).collect();
        monty.extend([0, 0, 15, 0, 1, 0, 0, 7, 0, 7, 2, 0xC1, 0x31, 0xE7, 0xFF, 0, 0, 0, 0]);
        for (content, what) in [(&leela, "Leela Chess Zero"), (&monty, "Monty")] {
            for name in ["training.1.gz", "a.binpack", "a.bin", "a"] {
                let reason = detect(content, true, Path::new(name), None).unwrap_err().reason;
                assert!(reason.contains(what) && reason.contains("cannot read that format yet"), "{name}: {reason}");
            }
            // A beginning, and what differs from it, are something else or nothing.
            assert!(detect(&content[..20], true, Path::new("a"), None).is_err());
            let mut other = content.clone();
            other[40] = 0xFF;
            other[20] ^= 0xFF;
            let reason = detect(&other, true, Path::new("a"), None).unwrap_err().reason;
            assert!(!reason.contains(what), "{reason}");
        }
    }

    #[test]
    fn names_of_tables_need_the_feature() {
        match detect(b"anything", false, Path::new("a.parquet"), None) {
            Ok(format) => assert_eq!(format.name(), "parquet"),
            Err(error) => assert!(error.reason.ends_with("reading it needs the feature `parquet`"), "{}", error.reason),
        }
    }

    #[test]
    fn names_tell_where_content_does_not() {
        for name in ["a.scid", "a.CBH.zst", "a.si5", "a.sqlite", "a.bookbin"] {
            let reason = detect(b"anything", false, Path::new(name), None).unwrap_err().reason;
            assert!(reason.contains("cannot read that format yet"), "{name}");
        }
        for name in ["a.bin", "a.data"] {
            let reason = detect(b"anything", true, Path::new(name), None).unwrap_err().reason;
            assert!(reason.contains("8 bytes are less than one record; --from bullet, marlin or sfen"), "{reason}");
        }
        let reason = detect(b"anything", false, Path::new("a.xyz"), None).unwrap_err().reason;
        assert!(reason.contains("--from"), "{reason}");
        assert!(detect(b"anything", false, Path::new("a.pgn"), None).is_ok());
    }
}
