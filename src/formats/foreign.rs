//! Formats that are recognized but not supported yet: the error names the format, so that a file is not mistaken for
//! something else.
//!
//! The content decides if it is unmistakable: a magic number, or records that are all well-formed as far as they are
//! checked. Otherwise the extension decides. It can be a weak hint: five unrelated formats use `.bin`.

use super::Format;
use crate::input::Compression;
use std::path::Path;

/// The unsupported format of an input, if it is one: by its first bytes (`all`: there are no more).
fn of_content(head: &[u8], all: bool, path: &Path) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
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
    let is_bin = extension(path).is_some_and(|extension| matches!(&*extension, "bin" | "bookbin"));
    (is_bin && is_polyglot(head, all)).then_some("a Polyglot opening book")
}

/// The reason why an archive or container is not read, and what to use instead: the rest of a sentence that begins with
/// the name of the file.
pub(super) fn archive(head: &[u8], path: &Path) -> Option<String> {
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
pub fn of_name(path: &Path) -> Option<&'static str> {
    Some(match &*extension(path)? {
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

/// The reason why an input that no reader has recognized is refused: the rest of a sentence that begins with its name.
/// A name that some reader claims (`named`) counts, but less than content.
pub(super) fn recognized(head: &[u8], all: bool, path: &Path, named: Option<Format>) -> Option<String> {
    let by_name = || match named {
        None => of_name(path),
        Some(_) => None,
    };
    if let Some(what) = of_content(head, all, path) {
        return Some(format!("is {what}: lanefish cannot read that format yet"));
    }
    let what = by_name()?;
    // Some extensions are also those of supported formats; only the content can tell.
    let seen = match &*extension(path)? {
        "data" | "bin" => super::headerless::closest(head),
        _ => None,
    };
    Some(match seen {
        Some(seen) => format!("is {what}, and {seen}"),
        None => format!("is {what}: lanefish cannot read that format yet"),
    })
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

/// Whether these look like entries of a Polyglot book: keys in ascending order, moves of fifteen bits.
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

    #[test]
    fn content_tells() {
        for (content, what) in
            [(b"SQLite format 3\0".to_vec(), "SQLite database"), (b"PARE\x15\x04".to_vec(), "encrypted Parquet")]
        {
            // Whatever its name.
            for name in ["x", "x.bin", "x.fen", "x.txt"] {
                let reason = detect(&content, true, Path::new(name)).unwrap_err().reason;
                assert!(
                    reason.contains(what) && reason.contains("cannot read that format yet"),
                    "{what} as {name}: {reason}"
                );
            }
        }
        let book = [[1u8; 16], [2; 16]].concat();
        assert!(of_content(&book, true, Path::new("x.bin")).is_some());
        assert!(of_content(&book, true, Path::new("x.dat")).is_none());
    }

    #[test]
    fn names_tell_where_content_does_not() {
        for name in ["a.scid", "a.CBH.zst", "a.si5", "a.sqlite", "a.bin"] {
            let reason = detect(b"anything", false, Path::new(name)).unwrap_err().reason;
            assert!(reason.contains("cannot read that format yet"), "{name}");
        }
        let reason = detect(b"anything", false, Path::new("a.xyz")).unwrap_err().reason;
        assert!(reason.contains("--from"), "{reason}");
        assert!(detect(b"anything", false, Path::new("a.pgn")).is_ok());
    }
}
