//! Zip archives: read like the directories of their files, and never taken for shorter ones.

use crate::formats::every_format::samples;
use crate::formats::round_trips::{Collect, OnlyValidity, lines, read_with};
use crate::pipeline::shards::{USUAL, WAYS, frames, read_source};
use crate::support::{Ended, run};
use lanefish::error::{Error, Reject};
use lanefish::formats::{DecodeOptions, is_supported};
use lanefish::input::{Access, Inputs, Shard, Source};
use lanefish::pipeline::RunOptions;
use lanefish::table::{Batch, Fields};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes archives byte by byte.
#[derive(Default)]
pub(crate) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u64,
    /// Whether lengths and places are in the fields of zip64.
    is_zip64: bool,
}

impl Zip {
    fn zip64() -> Self {
        Self { is_zip64: true, ..Self::default() }
    }

    /// The archive with these files.
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>, deflate: bool) -> Vec<u8> {
        let mut zip = Self::default();
        for (name, content) in files {
            zip.add(name.as_bytes(), content, deflate);
        }
        zip.finish()
    }

    /// Adds a file.
    fn add(&mut self, name: &[u8], content: &[u8], deflate: bool) {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let data = if deflate {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        } else {
            content.to_vec()
        };
        let place = self.bytes.len() as u64;
        let mut extra = Vec::new();
        let mut sizes = [data.len() as u32, content.len() as u32];
        let mut short_place = place as u32;
        if self.is_zip64 {
            extra.extend([1, 0, 24, 0]);
            extra.extend([content.len() as u64, data.len() as u64, place].map(u64::to_le_bytes).concat());
            (sizes, short_place) = ([u32::MAX; 2], u32::MAX);
        }
        // Version, flags, method, time and date.
        let mut both = [20, 0, if deflate { 8 } else { 0 }, 0, 33].map(u16::to_le_bytes).concat();
        both.extend([crc.sum(), sizes[0], sizes[1]].map(u32::to_le_bytes).concat());
        both.extend([name.len() as u16, extra.len() as u16].map(u16::to_le_bytes).concat());
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&both);
        self.bytes.extend([name, &extra, &data].concat());
        // The program is one of Unix.
        self.directory.extend(b"PK\x01\x02\x14\x03");
        self.directory.extend(&both);
        self.directory.extend([0; 6]);
        self.directory.extend([0o100_644 << 16, short_place].map(u32::to_le_bytes).concat());
        self.directory.extend([name, &extra].concat());
        self.count += 1;
    }

    fn finish(mut self) -> Vec<u8> {
        let place = self.bytes.len() as u64;
        let len = self.directory.len() as u64;
        self.bytes.append(&mut self.directory);
        let mut short = (self.count as u16, len as u32, place as u32);
        if self.is_zip64 {
            let end = self.bytes.len() as u64;
            self.bytes.extend(b"PK\x06\x06");
            self.bytes.extend([44_u64.to_le_bytes().to_vec(), vec![45, 3, 45, 0], vec![0; 8]].concat());
            self.bytes.extend([self.count, self.count, len, place].map(u64::to_le_bytes).concat());
            self.bytes.extend(b"PK\x06\x07\0\0\0\0");
            self.bytes.extend([end.to_le_bytes().to_vec(), vec![1, 0, 0, 0]].concat());
            short = (u16::MAX, u32::MAX, u32::MAX);
        }
        let (count, len, place) = short;
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        self.bytes.extend([count, count].map(u16::to_le_bytes).concat());
        self.bytes.extend([len, place].map(u32::to_le_bytes).concat());
        self.bytes.extend([0; 2]);
        self.bytes
    }
}

/// Text that is one position a line.
fn positions(from: usize, count: usize) -> Vec<u8> {
    let line = |number| format!("4k3/8/8/8/8/8/8/4K3 w - - {} {}\n", number % 100, number % 60_000 + 1);
    (from..from + count).map(line).collect::<String>().into_bytes()
}

fn write(directory: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// The names of the inputs in an archive, without its own.
fn names(path: &Path) -> (Vec<String>, Vec<String>) {
    let inputs = Inputs::resolve(&[path.to_owned()], is_supported).unwrap();
    let name = |name: &Path| name.to_string_lossy()[path.to_string_lossy().len() + 1..].to_owned();
    let read = inputs.sources.iter().map(|source| name(source.name())).collect();
    (read, inputs.skipped.iter().map(|path| name(path)).collect())
}

/// What a run finds in a file, with names from those of the file on.
fn found(path: &Path, threads: usize, map: bool) -> (Vec<String>, Vec<String>, Ended) {
    let mut rejects = Vec::new();
    let mut on_reject = |reject: &Reject| {
        rejects.push(reject.to_string().replacen(&*path.to_string_lossy(), "", 1));
        Ok(())
    };
    let (records, summary) = read_with(&[path.to_owned()], &mut on_reject, |options| {
        options.threads = threads;
        options.read.access.map = map;
    });
    (lines(&records), rejects, summary)
}

/// Files of all formats, some of them compressed, in a directory.
fn files_of_all_formats(directory: &Path) -> Vec<(String, Vec<u8>)> {
    for (format, path) in samples(directory) {
        if format.tables().is_none() {
            let name = format!("{}.zst", path.file_name().unwrap().to_string_lossy());
            write(directory, &name, frames(&fs::read(path).unwrap(), 5000, true));
        }
    }
    write(directory, "readme.txt", "Not positions.");
    write(directory, "empty.csv", "fen\n");
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let file = |path: PathBuf| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap());
    entries.map(file).collect()
}

#[test]
fn archives_are_read_like_the_directories_of_their_files() {
    let [directory, archives] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let files = files_of_all_formats(directory.path());
    let (records, rejects, summary) = found(directory.path(), 1, true);
    assert!(summary.failure.is_none() && !rejects.is_empty());
    let inputs = Inputs::resolve(&[directory.path().to_owned()], is_supported).unwrap();
    for (deflate, ways) in [(false, &[(1, true), (8, true)][..]), (true, &[(2, false)])] {
        let bytes = Zip::of(files.iter().map(|(name, content)| (&**name, &**content)), deflate);
        // Known by its content.
        let path = write(archives.path(), "all", bytes);
        let (read, skipped) = names(&path);
        assert_eq!((read.len(), skipped.len()), (inputs.sources.len(), inputs.skipped.len()));
        for &(threads, map) in ways {
            let again = found(&path, threads, map);
            assert!(again.2.failure.is_none(), "{:?}", again.2.failure);
            assert!(again.0 == records, "deflated: {deflate}, {threads} threads, mapped: {map}");
            assert_eq!(again.1, rejects);
            assert_eq!((again.2.records, again.2.games), (summary.records, summary.games));
        }
    }
}

#[test]
fn shards_of_files_in_archives_partition_them() {
    let directory = tempfile::tempdir().unwrap();
    let files = files_of_all_formats(directory.path());
    for deflate in [false, true] {
        let bytes = Zip::of(files.iter().map(|(name, content)| (&**name, &**content)), deflate);
        let path = write(directory.path(), "all.zip", bytes);
        for (source, way) in
            Inputs::resolve(&[path], is_supported).unwrap().sources.into_iter().zip(WAYS.iter().cycle())
        {
            let mut whole = read_source(source.clone(), None, USUAL, |_| {}).records;
            let mut parts = Vec::new();
            for shard in (0..3).map(|index| Shard::new(index, 3)) {
                let part = read_source(source.clone(), shard, *way, |_| {});
                assert!(part.summary.failure.is_none(), "{source}: {:?}", part.summary.failure);
                parts.extend(part.records);
            }
            whole.sort_unstable();
            parts.sort_unstable();
            assert!(parts == whole, "{source} {way:?}");
        }
    }
}

/// The order is that of the names, whatever is decompressed first; long files lie between short ones.
#[test]
fn many_files_are_read_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let length = |number| if number % 50 == 7 { 60_000 } else { 3 };
    let files: Vec<_> =
        (0..200).rev().map(|number| (format!("{number:03}.fen"), positions(1000 * number, length(number)))).collect();
    let path = write(directory.path(), "many.zip", Zip::of(files.iter().map(|(name, text)| (&**name, &**text)), true));
    let expected: Vec<u16> = (0..200)
        .flat_map(|number| 1000 * number..1000 * number + length(number))
        .map(|number| (number % 60_000 + 1) as u16)
        .collect();
    for threads in [1, 2, 8] {
        let (records, summary) = read_with(std::slice::from_ref(&path), &mut |_| Ok(()), |options| {
            options.threads = threads;
        });
        assert!(summary.failure.is_none());
        assert!(records.fullmove == expected);
        assert_eq!(summary.files.len(), 200);
        // What is opened ahead is given up with the run.
        let limit = Some(10);
        let (some, _) = read_with(std::slice::from_ref(&path), &mut |_| Ok(()), |options| {
            options.threads = threads;
            options.read.limit = limit;
        });
        assert_eq!(some.len(), 10);
    }
}

#[test]
fn what_is_skipped_and_what_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let text = positions(0, 3);
    let inner = Zip::of([("x.fen", &*text)], false);
    let mut zip = Zip::default();
    for name in [".hidden.fen", "a/.b/x.fen", "__MACOSX/x.fen", "__MACOSX/._x.fen", "directory.fen/"] {
        zip.add(name.as_bytes(), if name.ends_with('/') { b"" } else { &text }, false);
    }
    zip.add(b"inner.zip", &inner, true);
    zip.add(b"inner", &inner, true);
    zip.add(b"notes.txt", b"Not positions.", true);
    for name in ["z.fen", "./y.fen", "../up.fen", "/etc/absolute.fen", "a/b/c/deep.fen", "twice.fen", "twice.fen"] {
        zip.add(name.as_bytes(), &text, true);
    }
    zip.add(b"odd-\xFF\x80.fen", &text, true);
    let path = write(directory.path(), "x.zip", zip.finish());
    let (read, mut skipped) = names(&path);
    let mut expected = [
        "../up.fen",
        "./y.fen",
        "/etc/absolute.fen",
        "a/b/c/deep.fen",
        "odd-\u{FFFD}\u{FFFD}.fen",
        "twice.fen",
        "twice.fen",
        "z.fen",
    ];
    expected.sort_by_key(|name| PathBuf::from(format!("{}/{name}", path.display())));
    skipped.sort();
    assert_eq!(read, expected);
    assert_eq!(skipped, ["inner", "inner.zip", "notes.txt"]);
    let (records, rejects, summary) = found(&path, 2, true);
    assert!(summary.failure.is_none() && rejects.is_empty());
    assert_eq!(records.len(), 8 * 3);

    // In a directory, between other files; archives without positions are like other files without them.
    let mixed = tempfile::tempdir().unwrap();
    write(mixed.path(), "a.fen", &text);
    write(mixed.path(), "b.zip", Zip::of([("x.fen", &*text), ("y.md", b"words")], true));
    write(mixed.path(), "c.fen", &text);
    write(mixed.path(), "d.docx", Zip::of([("word/document.xml", &b"<xml/>"[..])], true));
    write(mixed.path(), "e.zip", Zip::default().finish());
    assert_eq!(names(mixed.path()).0, ["a.fen", "b.zip/x.fen", "c.fen"]);
    assert_eq!(names(mixed.path()).1, ["b.zip/y.md", "d.docx/word/document.xml"]);
    for name in ["d.docx", "e.zip"] {
        let error = Inputs::resolve(&[mixed.path().join(name)], is_supported).unwrap_err();
        assert!(matches!(error, Error::EmptyArchive { .. }) && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn archives_that_are_no_files_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = Zip::of([("x.fen", &*positions(0, 3))], true);
    let path = write(directory.path(), "x.zip.gz", crate::pipeline::shards::gzip(&bytes));
    for source in [Source::in_memory("x.zip", bytes), Source::from(&*path)] {
        let found = read_source(source.clone(), None, USUAL, |_| {});
        let error = found.summary.failure.unwrap().to_string();
        assert!(error.contains("a zip archive must be a file") && error.contains("x.zip"), "{source}: {error}");
    }
    let path = write(directory.path(), "x.zip", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n");
    let error = Inputs::resolve(&[path], is_supported).unwrap_err();
    assert!(matches!(error, Error::NoContainer { container: "zip", .. }), "{error}");
    for short in ["", "PK"] {
        let path = write(directory.path(), "x.zip", short);
        let error = Inputs::resolve(&[path], is_supported).unwrap_err();
        assert!(error.to_string().contains("truncated"), "{error}");
    }
}

/// What reading a damaged archive comes to: its records, and whether something was found to be wrong.
fn outcome(path: &Path, map: bool) -> (Vec<String>, bool) {
    let Ok(inputs) = Inputs::resolve(&[path.to_owned()], is_supported) else {
        return (Vec::new(), true);
    };
    let mut options = RunOptions::new(&OnlyValidity).threads(2);
    options.read.access = Access::default().map(map);
    options.read.decode = DecodeOptions::default().fields(Fields::ALL);
    let mut all = Batch::new();
    let summary = run(&inputs, options, &Collect, |batch| {
        all.extend_from(&batch, 0..batch.len());
        Ok(())
    });
    (lines(&all), summary.failure.is_some() || summary.rejected > 0)
}

fn small_archives() -> Vec<Vec<u8>> {
    let texts = [positions(0, 4), positions(10, 30), zstd::encode_all(&positions(50, 3)[..], 3).unwrap()];
    let files = || ["a.fen", "b/c.epd", "d.fen.zst"].into_iter().zip(texts.iter().map(Vec::as_slice));
    let mut zip64 = Zip::zip64();
    for (name, text) in files() {
        zip64.add(name.as_bytes(), text, true);
    }
    // As other programs write them, with lengths behind the data.
    let mut streamed = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, text) in files() {
        let method = rawzip::CompressionMethod::DEFLATE;
        let (mut entry, config) = streamed.new_file(name).compression_method(method).start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::best());
        let mut writer = config.wrap(encoder);
        writer.write_all(text).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    vec![Zip::of(files(), false), Zip::of(files(), true), zip64.finish(), streamed.finish().unwrap()]
}

#[test]
fn cut_archives_are_never_shorter_ones() {
    let directory = tempfile::tempdir().unwrap();
    for (number, bytes) in small_archives().into_iter().enumerate() {
        let path = write(directory.path(), "x.zip", &bytes);
        let (whole, is_wrong) = outcome(&path, true);
        assert!(whole.len() == 37 && !is_wrong, "archive {number}");
        for cut in 0..bytes.len() {
            let path = write(directory.path(), "x.zip", &bytes[..cut]);
            let error = Inputs::resolve(&[path], is_supported).unwrap_err();
            assert!(error.to_string().contains("truncated") || cut == 0, "archive {number}, {cut} bytes: {error}");
        }
        // One after the other, and what is behind the end.
        for joined in [[&bytes[..], &bytes].concat(), [&bytes[..], b"more"].concat()] {
            let path = write(directory.path(), "x.zip", joined);
            let error = Inputs::resolve(&[path], is_supported).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
        }
        // A program may be before an archive.
        let path = write(directory.path(), "x.zip", [b"#!/bin/sh\nexit\n", &bytes[..]].concat());
        assert!(number >= 2 || outcome(&path, true) == (whole, false), "archive {number}");
    }
}

#[test]
fn changed_bytes_are_noticed_or_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for (number, bytes) in small_archives().into_iter().enumerate() {
        let path = write(directory.path(), "x.zip", &bytes);
        let (whole, _) = outcome(&path, true);
        for at in 0..bytes.len() {
            // One bit of each byte, and all bits of every third.
            for change in [1 << (at % 8), 0xFF].into_iter().take(1 + usize::from(at % 3 == 0)) {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                let path = write(directory.path(), "x.zip", changed);
                let (records, is_wrong) = outcome(&path, at % 2 == 0);
                assert!(is_wrong || records == whole, "archive {number}, byte {at} changed by {change}");
            }
        }
    }
}

/// Replaces bytes that occur once.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let places: Vec<usize> = (0..bytes.len()).filter(|&place| bytes[place..].starts_with(from)).collect();
    let [place] = places[..] else {
        panic!("{} places", places.len());
    };
    [&bytes[..place], to, &bytes[place + from.len()..]].concat()
}

#[test]
fn unsupported_and_forged_archives_are_explained() {
    let directory = tempfile::tempdir().unwrap();
    let text = positions(0, 3);
    let bytes = Zip::of([("a.fen", &*text), ("b.fen", &*text)], false);
    let end = bytes.len() - 22;
    let central = bytes.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let patched = |patches: &[(usize, &[u8])]| {
        let mut patched = bytes.clone();
        for &(at, to) in patches {
            patched[at..at + to.len()].copy_from_slice(to);
        }
        patched
    };
    let second = bytes.len() - 22 - 51;
    let cases: [(&str, Vec<u8>); 9] = [
        ("it is encrypted in the zip archive", patched(&[(6, &[1, 0]), (central + 8, &[1, 0])])),
        ("it is compressed by the method LZMA", patched(&[(8, &[14, 0]), (central + 10, &[14, 0])])),
        ("it is compressed by the method number 4321", patched(&[(8, &[0xE1, 16]), (central + 10, &[0xE1, 16])])),
        ("in several files", patched(&[(end + 4, &[1, 0]), (end + 6, &[1, 0])])),
        ("has 2 entries instead of 1", patched(&[(end + 8, &[1, 0, 1, 0])])),
        ("the directory and the header of `c.fen` differ", patched(&[(second + 46, b"c")])),
        ("`b.fen` overlaps what follows it", patched(&[(second + 20, &[0xFF, 0xFF])])),
        ("`a.fen` overlaps what follows it", patched(&[(central + 20, &[text.len() as u8 + 1, 0])])),
        ("does not list the bytes before", {
            let mut other = replaced(&bytes, b"PK\x05\x06\0\0\0\0\x02\0\x02\0", b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
            other.drain(central..second);
            let end = other.len() - 22;
            other[end + 12..end + 16].copy_from_slice(&51_u32.to_le_bytes());
            other
        }),
    ];
    for (message, bytes) in cases {
        let path = write(directory.path(), "x.zip", bytes);
        let error = match Inputs::resolve(&[path], is_supported) {
            Ok(inputs) => match read_source(inputs.sources[0].clone(), None, USUAL, |_| {}).summary.failure {
                Some(Error::Open { path, source }) => format!("{}: {source}", path.display()),
                other => panic!("{message}: {other:?}"),
            },
            Err(error) => error.to_string(),
        };
        assert!(error.contains(message) && error.contains("x.zip"), "{message}: {error}");
    }
    // Lengths and checksums of what comes out.
    let deflated = Zip::of([("a.fen", &*text)], true);
    let central = deflated.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    for (at, message) in [(central + 16, "CRC-32"), (central + 24, "bytes")] {
        for map in [true, false] {
            for mut bytes in [deflated.clone(), Zip::of([("a.fen", &*text)], false)] {
                let at = at + bytes.len() - deflated.len();
                bytes[at] ^= 1;
                let path = write(directory.path(), "x.zip", bytes);
                let (records, _, summary) = found(&path, 1, map);
                let Some(Error::Container { container: "zip", source, .. }) = summary.failure else {
                    panic!("{:?}", summary.failure);
                };
                assert!(source.to_string().contains(message), "{source}");
                assert!(records.len() <= 3);
            }
        }
    }
}

/// A file that lies in a directory and is damaged is an error when it is read, after the files before it.
#[test]
fn damaged_archives_in_directories_are_reported_at_their_turn() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = Zip::of([("a.fen", &*positions(0, 3))], true);
    write(directory.path(), "a.fen", positions(0, 3));
    write(directory.path(), "b.zip", &bytes[..bytes.len() - 30]);
    write(directory.path(), "c.fen", positions(0, 3));
    let (records, _, summary) = found(directory.path(), 2, true);
    assert!(matches!(&summary.failure, Some(Error::Damaged { path, .. }) if path.ends_with("b.zip")));
    assert_eq!(records.len(), 3);
    let (_, summary) = read_with(&[directory.path().to_owned()], &mut |_| Ok(()), |options| options.past_damage = true);
    assert_eq!((summary.records, summary.files.len()), (6, 3));
}

/// An archive that is replaced by another one while it is read is noticed.
#[test]
fn an_archive_that_changes_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "x.zip", Zip::of([("a.fen", &*positions(0, 3))], true));
    let inputs = Inputs::resolve(&[path], is_supported).unwrap();
    write(directory.path(), "x.zip", Zip::of([("a.fen", &*positions(0, 900))], true));
    let failure = read_source(inputs.sources[0].clone(), None, USUAL, |_| {}).summary.failure;
    assert!(matches!(failure, Some(Error::Open { .. })), "{failure:?}");
}
