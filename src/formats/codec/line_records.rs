//! Shared by formats with one record per line: where lines end, and a loop over them.

use super::decode_records::{BadRecord, DecodedRows, Record};
use crate::formats::{Chunk, DecodeOptions, Decoded};
use crate::table::Fields;
use memchr::{memchr, memchr_iter, memrchr};

pub(in crate::formats) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line without the byte order mark at its start.
pub(in crate::formats) fn strip_bom(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// The first line that is not blank, without a byte order mark and without its end.
pub(in crate::formats) fn first_line(text: &[u8]) -> &[u8] {
    let lines = text.split(|&byte| byte == b'\n').map(|line| without_end(strip_bom(line)));
    lines.into_iter().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default()
}

/// A line without the carriage returns at its end.
pub(in crate::formats) fn without_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
    &line[..end]
}

/// Up to and including the last line end.
pub(in crate::formats) fn cut_lines(bytes: &[u8]) -> Option<usize> {
    memrchr(b'\n', bytes).map(|at| at + 1)
}

/// The first beginning of a line at `from` or later, other than the beginning of the text.
pub(in crate::formats) fn next_line(bytes: &[u8], from: usize) -> Option<usize> {
    let before = from.max(1) - 1;
    let feed = memchr(b'\n', bytes.get(before..)?)?;
    Some(before + feed + 1)
}

/// The line that contains a place, without its end, and its number counted from 1.
pub(in crate::formats) fn line_at(bytes: &[u8], at: usize) -> (&[u8], u64) {
    let at = at.min(bytes.len());
    let start = memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
    let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
    let number = memchr_iter(b'\n', &bytes[..start]).count() as u64 + 1;
    (bytes[start..end].trim_ascii_end(), number)
}

/// Decodes a chunk of lines of a format; `read` gets a line and the number that its record will have in the chunk, and
/// returns `None` for a line that is not a record and is not meant to be one.
pub(in crate::formats) fn decode(
    carries: Fields,
    chunk: &Chunk,
    options: &DecodeOptions,
    mut read: impl FnMut(&[u8], u64) -> Option<Result<Record, BadRecord>>,
) -> Decoded {
    let bytes: &[u8] = &chunk.bytes;
    let mut records = DecodedRows::new(chunk, carries, options);
    let mut start = 0;
    while start < bytes.len() {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |len| start + len);
        let line = &bytes[start..end];
        let number = records.decoded.lines + 1;
        if line.len() > options.max_record {
            let mut reject = crate::formats::too_long(&chunk.file, line, options.max_record);
            reject.place.line = Some(number);
            records.reject(start, reject);
        } else {
            let line = strip_bom(line).trim_ascii();
            let record = if line.is_empty() { None } else { read(line, records.decoded.records) };
            if let Some(record) = record {
                records.add(start, record, || (Some(number), line.to_vec()));
            }
        }
        records.decoded.lines += u64::from(end < bytes.len());
        start = end + 1;
    }
    records.finish()
}

/// A byte of Windows-1252: ISO-8859-1, but with letters and signs in place of the second set of control characters.
pub(in crate::formats) fn windows_1252(byte: u8) -> char {
    const SIGNS: [char; 32] = [
        '€', '\u{FFFD}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{FFFD}', 'Ž', '\u{FFFD}',
        '\u{FFFD}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{FFFD}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9F => SIGNS[usize::from(byte - 0x80)],
        _ => byte as char,
    }
}

/// Bytes as text: as UTF-8, or as Latin-1 if they are not valid UTF-8, so that no byte is lost.
pub(in crate::formats) fn text_of(bytes: &[u8]) -> String {
    // Copied before validation: bytes of a mapped file could change in between.
    String::from_utf8(bytes.to_vec())
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| windows_1252(byte)).collect())
}
/// Whether the text after a position is `moves`: the `position` command of UCI, for the position after these moves.
pub(in crate::formats) fn are_moves(rest: &[u8]) -> bool {
    let word = rest.split(|byte| !byte.is_ascii_alphanumeric()).next();
    word.is_some_and(|word| word.eq_ignore_ascii_case(b"moves"))
}
