//! Columns of the names of files: `month=2025-05/part-0.parquet` gives its records the text `2025-05` as `folder:month`, and
//! the whole name as [`FILE_NAME_TAG`].
//!
//! This is how Hive, Spark and data hubs divide tables. Their escapes (`%20`) are resolved, and the name that they give
//! to a missing value is one.

use crate::formats::{Chunk, DecodeOptions, Decoded};
use crate::table::{FOLDERS, Texts};
use std::borrow::Cow;
use std::path::{Component, Path};

/// The value that stands for none.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The name, among those of tags, that requests the name of the file. No tag has a colon in its name.
pub(crate) const FILE_NAME_TAG: &str = "file:name";

/// The names of the folders with values around a file.
#[cfg(feature = "sql")]
pub(crate) fn names_of_folders(file: &Path) -> impl Iterator<Item = &str> {
    let folders = file.parent().into_iter().flat_map(Path::components);
    folders.filter_map(|component| Some(component.as_os_str().to_str()?.split_once('=')?.0))
}

/// Adds the columns of folders that are asked for, and the name of the file if it is.
pub(in crate::formats) fn add(decoded: &mut Decoded, chunk: &Chunk, options: &DecodeOptions) {
    for name in options.tags.iter() {
        let value = match name.strip_prefix(FOLDERS.prefix) {
            Some(folder) => value(&chunk.file, folder),
            None if &**name == FILE_NAME_TAG => Some(chunk.file.to_string_lossy()),
            None => continue,
        };
        for batch in &mut decoded.batches {
            let mut texts = Texts::default();
            texts.push_many(value.as_deref(), batch.len());
            batch.tags.insert(name.clone(), texts);
        }
    }
}

/// The value of the innermost folder of this name around a file.
fn value<'a>(file: &'a Path, folder: &str) -> Option<Cow<'a, str>> {
    let mut folders = file.parent()?.components().rev().filter_map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let value = folders.find_map(|name| name.strip_prefix(folder)?.strip_prefix('='))?;
    (value != MISSING).then(|| unescaped(value))
}

/// A value with its escapes resolved, if all of it is then text.
fn unescaped(value: &str) -> Cow<'_, str> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match rest {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)),
            _ => None,
        };
        let (byte, len) = escaped.map_or((first, 0), |(high, low)| (high << 4 | low, 2));
        bytes.push(byte);
        rest = &after[len..];
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(value), Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_innermost_folders() {
        let value = |file: &str, folder| value(Path::new(file), folder).map(Cow::into_owned);
        let file = "/hub/year=2025/month=05/year=2026/part=x.parquet";
        assert_eq!(value(file, "year").as_deref(), Some("2026"));
        assert_eq!(value(file, "month").as_deref(), Some("05"));
        assert_eq!(value(file, "part"), None);
        assert_eq!(value(file, "yea"), None);
        assert_eq!(value("-", "year"), None);
        assert_eq!(value("a=/x.pgn", "a").as_deref(), Some(""));
        assert_eq!(value("a=b=c/x.pgn", "a").as_deref(), Some("b=c"));
        assert_eq!(value("a=__HIVE_DEFAULT_PARTITION__/x.pgn", "a"), None);
        assert_eq!(value("a=M%C3%BCller%20%2F%2/x.pgn", "a").as_deref(), Some("Müller /%2"));
        assert_eq!(value("a=%FF/x.pgn", "a").as_deref(), Some("%FF"));
    }
}
