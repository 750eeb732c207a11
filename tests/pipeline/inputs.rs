//! Inputs: containers, pipes, directories, and everything that can be wrong with them.

use crate::formats::round_trips::{lines, read};
use crate::support::shared_data;
use lanefish::error::Error;
use lanefish::formats::is_supported;
use lanefish::input::{Access, Input, Inputs, Source};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All bytes of an input, and the error that ends it.
fn contents(path: &Path) -> (Vec<u8>, Option<Error>) {
    contents_with(path, Access::default())
}

fn contents_with(path: &Path, access: Access) -> (Vec<u8>, Option<Error>) {
    let mut input = match Input::open(&Source::from(path), access, Arc::default()) {
        Ok(input) => input,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut all = Vec::new();
    loop {
        match input.next_bytes() {
            Ok(Some(bytes)) => all.extend_from_slice(&bytes),
            Ok(None) => return (all, None),
            Err(error) => return (all, Some(error)),
        }
    }
}

#[test]
fn all_wrappers_hold_the_same_text() {
    let Some(plain) = shared_data("wrappers/lichess_db_100k.pgn") else {
        return;
    };
    let expected = std::fs::read(&plain).unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(plain.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let (found, error) = contents(&path);
        if path.to_string_lossy().contains("truncated") {
            assert!(matches!(error, Some(Error::Container { offset: 72_309, .. })), "{error:?}");
            assert_eq!(found, expected[..72_309]);
        } else if path.to_string_lossy().contains("window28") {
            assert!(
                matches!(
                    error,
                    Some(Error::Window { offset: 0, needed: 0x1000_0000, allowed: Access::MAX_WINDOW, .. })
                ),
                "{error:?}"
            );
            let access = Access::default().max_window(256 << 20);
            let (found, error) = contents_with(&path, access);
            assert!(error.is_none() && found == expected, "{error:?}");
        } else {
            assert!(error.is_none(), "{}: {error:?}", path.display());
            assert!(found == expected, "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen > 10);
}

/// A list of positions, and its lines.
fn list(lines: usize) -> String {
    (0..lines)
        .map(|line| format!("4k3/8/8/8/8/8/8/{}K{} w - - {} {}\n", line % 7 + 1, 6 - line % 7, line % 100, line + 1))
        .map(|line| line.replace("K0", "K"))
        .collect()
}

fn compressed(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let halves = [&text[..text.len() / 3], &text[text.len() / 3..]];
    let each = |pack: &dyn Fn(&[u8]) -> Vec<u8>| halves.map(pack).concat();
    let gzip = |part: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let bzip2 = |part: &[u8]| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let announced = |part: &[u8]| {
        let frame = zstd::encode_all(part, 1).unwrap();
        let mut bytes = vec![0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];
        bytes.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&frame);
        bytes
    };
    vec![
        ("zst", zstd::encode_all(text, 1).unwrap()),
        ("zst", each(&|part| zstd::encode_all(part, 1).unwrap())),
        ("zst", each(&announced)),
        ("gz", each(&gzip)),
        ("bz2", each(&bzip2)),
    ]
}

#[test]
fn a_cut_container_gives_all_whole_records_and_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let text = list(2000);
    for (number, (extension, bytes)) in compressed(text.as_bytes()).into_iter().enumerate() {
        let path = directory.path().join(format!("x.fen.{extension}"));
        std::fs::write(&path, &bytes).unwrap();
        let (whole, summary) = read(std::slice::from_ref(&path), |options| options.threads = 2);
        assert!(summary.failure.is_none(), "{extension} {:?}", summary.failure);
        assert_eq!(whole.len(), 2000);
        let whole = lines(&whole);
        let mut unnoticed = 0;
        for cut in (0..bytes.len()).step_by(bytes.len() / 97 + 1) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let (found, summary) = read(std::slice::from_ref(&path), |options| options.threads = 2);
            assert_eq!(summary.rejected, 0, "{extension} cut at {cut}");
            let feeds = contents(&path).0.iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(found.len(), feeds, "{extension} cut at {cut}");
            assert_eq!(lines(&found), whole[..found.len()]);
            unnoticed += u32::from(summary.failure.is_none());
        }
        // Between two members nothing is missing.
        assert!(unnoticed <= 1, "{extension} {number}: {unnoticed}");
    }
}

#[test]
fn threads_and_chunks_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let text = list(3000) + "bad\n" + &list(100);
    for (extension, bytes) in compressed(text.as_bytes()) {
        let path = directory.path().join(format!("x.fen.{extension}"));
        std::fs::write(&path, &bytes).unwrap();
        let mut first = None;
        for threads in [1, 2, 8] {
            for chunk_size in [1, 1000, 1 << 20] {
                let (found, summary) = read(std::slice::from_ref(&path), |options| {
                    options.threads = threads;
                    options.chunk_size = chunk_size;
                });
                let places: Vec<_> = summary.first_rejects.iter().map(|r| r.place.clone()).collect();
                assert_eq!(places[0].line, Some(3001));
                let outcome = (lines(&found), places);
                assert_eq!(*first.get_or_insert_with(|| outcome.clone()), outcome);
            }
        }
    }
}

#[test]
fn directories_are_read_in_name_order_without_what_nobody_can_read() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("b.fen", "4k3/8/8/8/8/8/8/4K3 w - - 2 2\n");
    write("a.epd", "4k3/8/8/8/8/8/8/4K3 w - - 1 1\n");
    write("README.md", "# Not positions\n\nWords.\n");
    write(".hidden.fen", "4k3/8/8/8/8/8/8/4K3 w - - 9 9\n");
    write("_SUCCESS", "");
    std::fs::create_dir(directory.path().join("c.fen")).unwrap();
    let (found, summary) = read(&[directory.path().to_owned()], |_| {});
    assert!(summary.failure.is_none());
    assert_eq!(found.halfmove, [1, 2]);
    let inputs = Inputs::resolve(&[directory.path().to_owned()], is_supported).unwrap();
    assert_eq!(inputs.sources.len(), 2);
    assert_eq!(inputs.skipped, [directory.path().join("README.md")]);
    let empty = directory.path().join("c.fen");
    assert!(matches!(Inputs::resolve(&[empty], is_supported), Err(Error::EmptyDirectory { .. })));
}

#[test]
fn subdirectories_are_read_in_the_order_of_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, halfmove: u32| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("4k3/8/8/8/8/8/8/4K3 w - - {halfmove} 9\n")).unwrap();
    };
    write("b.fen", 3);
    write("a/z/x.fen", 2);
    write("a/b.fen", 1);
    write("month=2025-06/part-1.fen", 6);
    write("month=2025-05/part-0.fen", 4);
    write("month=2025-05/part-1.fen", 5);
    write("_temporary/0/part-0.fen", 7);
    write(".git/x.fen", 8);
    write("c/_metadata", 9);
    let all = || read(&[directory.path().to_owned()], |_| {});
    let (found, summary) = all();
    assert!(summary.failure.is_none());
    assert_eq!(found.halfmove, [1, 2, 3, 4, 5, 6]);

    #[cfg(unix)]
    {
        let link = |name: &str, to: &str| std::os::unix::fs::symlink(to, directory.path().join(name)).unwrap();
        // Another directory once more, the directory itself, a circle, and nothing.
        link("d", "a");
        link("a/z/loop", "../..");
        link("e", "f");
        link("f", "e");
        link("g", "missing");
        let (found, summary) = all();
        assert_eq!(found.halfmove, [1, 2, 3, 1, 2, 4, 5, 6]);
        let rejects: Vec<_> = summary.first_rejects.iter().map(|reject| &*reject.message).collect();
        let (inside, broken) = ("a symbolic link to a directory that contains it", "a broken symbolic link");
        assert_eq!(rejects, [inside, inside, broken, broken, broken]);
    }
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing.fen");
    let error = Inputs::resolve(&[missing], is_supported).unwrap_err().to_string();
    assert!(error.contains("missing.fen"), "{error}");

    let cases: [(&str, &[u8], bool); 10] = [
        ("empty.fen", b"", true),
        ("empty", b"", true),
        ("empty.pgn", b"\n", true),
        ("empty.csv", b"fen,score\n", true),
        ("empty.fen.zst", b"", false),
        ("empty.bullet", b"", false),
        ("empty.boards", b"", false),
        ("one", b"\x01", false),
        ("words.txt", b"It was a dark and stormy night.\n", false),
        ("one.fen", b"x", true),
    ];
    for (name, content, readable) in cases {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        let (_, summary) = read(&[path], |_| {});
        assert_eq!(summary.failure.is_none(), readable, "{name}: {:?}", summary.failure);
    }
}

/// A named pipe in a directory.
#[cfg(unix)]
fn pipe_in(directory: &Path) -> Option<PathBuf> {
    let pipe = directory.join("pipe.fen");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        return Some(pipe);
    }
    crate::support::skipped("no mkfifo");
    None
}

/// A file is read as far as it reached when it was opened, whatever is appended meanwhile.
#[test]
fn what_a_file_grows_by_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let text = list(3000).into_bytes();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text).unwrap();
    let contents = [
        ("x.fen", text.clone()),
        ("x.fen.gz", gzip.finish().unwrap()),
        ("x.fen.zst", zstd::encode_all(&text[..], 1).unwrap()),
    ];
    for (name, content) in contents {
        for map in [true, false] {
            let path = directory.path().join(name);
            std::fs::write(&path, &content).unwrap();
            let access = Access::default().map(map);
            let shared: Arc<Path> = Arc::from(&*path);
            let mut input = Input::open(&Source::from(Arc::clone(&shared)), access, Arc::default()).unwrap();
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            // More of the same, so that it would be read.
            file.write_all(&content).unwrap();
            let mut found = Vec::new();
            while let Some(bytes) = input.next_bytes().unwrap() {
                found.extend_from_slice(&bytes);
            }
            assert_eq!(found.len(), text.len(), "{name} {map}");
            assert!(found == text);
            // What it has then is read the next time.
            let (batch, summary) = read(&[path], |options| options.read.access.map = map);
            assert!(summary.failure.is_none());
            assert_eq!(batch.len(), 6000, "{name} {map}");
        }
    }
}

/// Nothing of the run waits for a pipe to be opened, or for its first bytes.
#[cfg(unix)]
#[test]
fn a_run_with_a_silent_pipe_can_be_interrupted() {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;
    for threads in [1, 2, 8] {
        for has_writer in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let Some(pipe) = pipe_in(directory.path()) else {
                return;
            };
            let mut options = std::fs::OpenOptions::new();
            let _writer = has_writer.then(|| options.read(true).write(true).open(&pipe).unwrap());
            let interrupt: &AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
            let (sender, done) = std::sync::mpsc::channel();
            // Not joined: in a run that hangs it never ends.
            std::thread::spawn(move || {
                let (_, summary) = read(&[pipe], |options| {
                    options.threads = threads;
                    options.interrupt = Some(interrupt);
                });
                sender.send(summary.failure)
            });
            std::thread::sleep(Duration::from_millis(100));
            interrupt.store(true, Ordering::Relaxed);
            let failure = done.recv_timeout(Duration::from_secs(30));
            assert!(matches!(failure, Ok(Some(Error::Interrupted))), "{threads} {has_writer}: {failure:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_special_files_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let Some(pipe) = pipe_in(directory.path()) else {
        return;
    };
    let text = list(5000);
    let writer = {
        let (pipe, text) = (pipe.clone(), text.clone());
        std::thread::spawn(move || {
            let mut pipe = std::fs::File::create(pipe).unwrap();
            // A byte at a time at first, as slow writers do.
            for byte in &text.as_bytes()[..100] {
                pipe.write_all(&[*byte]).unwrap();
            }
            pipe.write_all(&text.as_bytes()[100..]).unwrap();
        })
    };
    let inputs = Inputs::of([pipe]);
    let (found, error) = contents(inputs.sources[0].name());
    writer.join().unwrap();
    assert!(error.is_none());
    assert_eq!(found, text.as_bytes());
    // No size, cannot be mapped.
    let (found, error) = contents(&PathBuf::from("/proc/self/status"));
    assert!(error.is_none() && !found.is_empty());
}

/// A writer that gives large pieces: they are handed over as they fill up.
#[cfg(unix)]
#[test]
fn large_pipes_are_read_to_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let Some(pipe) = pipe_in(directory.path()) else {
        return;
    };
    let text = list(100_000);
    let writer = {
        let (pipe, text) = (pipe.clone(), text.clone());
        std::thread::spawn(move || std::fs::write(pipe, text).unwrap())
    };
    let (found, error) = contents(&pipe);
    writer.join().unwrap();
    assert!(error.is_none());
    assert!(found == text.as_bytes());
}

/// A frame that wants this window, and holds this text.
fn frame(text: &[u8], window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.window_log(window_log).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Of a frame that makes no sense from some block on, the blocks before are read.
#[test]
fn a_damaged_frame_among_others_gives_what_stands_before_the_damage() {
    const BLOCK: usize = 128 << 10;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.fen.zst");
    let text = list(20_000);
    let packed = frame(text.as_bytes(), 20);
    // Magic number, descriptor and window.
    let mut at = 6;
    for blocks in 0..text.len() / BLOCK {
        let expected = text.len() + blocks * BLOCK;
        // A kind of block that does not exist, and one whose content makes no sense.
        let (mut unknown, mut garbled) = (packed.clone(), packed.clone());
        unknown[at] |= 6;
        garbled[at + 3..at + 40].fill(0xFF);
        for (damaged, map) in [(&unknown, true), (&unknown, false), (&garbled, true), (&garbled, false)] {
            std::fs::write(&path, [&packed[..], damaged, &packed].concat()).unwrap();
            let (found, error) = contents_with(&path, Access::default().map(map));
            assert!(found == text.repeat(2).as_bytes()[..expected], "{blocks}");
            assert!(matches!(error, Some(Error::Container { offset, .. }) if offset == expected as u64), "{error:?}");
        }
        let header = u32::from_le_bytes([packed[at], packed[at + 1], packed[at + 2], 0]);
        at += 3 + (header >> 3) as usize;
    }
}

#[test]
fn windows_above_the_limit_are_refused_by_every_way_of_reading() {
    let directory = tempfile::tempdir().unwrap();
    let text = list(500);
    let small = frame(text.as_bytes(), 17);
    let large = frame(text.as_bytes(), 24);
    const BLANK: usize = 1 << 20;
    let blank = frame(&[b'\n'; BLANK], 17);
    let limited = |map| Access::default().map(map).max_window(1 << 23);
    let empty = [0x28, 0xB5, 0x2F, 0xFD, 0, (25 - 10) << 3, 1, 0, 0];
    // A single frame, the third of several, and one that fits in a buffer as a whole.
    let cases = [
        (large.clone(), 0),
        ([&small[..], &small, &large, &small].concat(), 2 * text.len()),
        ([&small[..], &empty].concat(), text.len()),
        // Behind blocks that are one byte many times over.
        ([&blank[..], &large].concat(), BLANK),
    ];
    for (number, (bytes, before)) in cases.iter().enumerate() {
        let path = directory.path().join(format!("{number}.fen.zst"));
        std::fs::write(&path, bytes).unwrap();
        for map in [true, false] {
            let (found, error) = contents_with(&path, limited(map));
            assert_eq!(found.len(), *before, "case {number}, map {map}");
            assert!(
                matches!(error, Some(Error::Window { offset, allowed: 0x80_0000, .. })
                    if offset == *before as u64),
                "{error:?}"
            );
            let (found, error) = contents_with(&path, Access::default().map(map));
            assert!(error.is_none(), "{error:?}");
            assert!(found.len() >= *before);
        }
    }
}

#[test]
fn a_name_that_promises_a_container_keeps_its_word() {
    let directory = tempfile::tempdir().unwrap();
    let text = list(100);
    for (extension, mut bytes) in compressed(text.as_bytes()) {
        bytes[0] ^= 0x10;
        for (name, content) in [("damaged", &bytes[..]), ("plain", text.as_bytes())] {
            let path = directory.path().join(format!("{name}.fen.{extension}"));
            std::fs::write(&path, content).unwrap();
            for map in [true, false] {
                let (_, summary) = read(std::slice::from_ref(&path), |options| {
                    options.read.access.map = map;
                });
                assert_eq!((summary.records, summary.rejected), (0, 0));
                assert!(matches!(summary.failure, Some(Error::NoContainer { .. })), "{:?}", summary.failure);
            }
        }
    }
}

#[test]
fn files_that_are_not_mapped_read_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let text = list(40_000) + "bad\n" + &list(10);
    let path = directory.path().join("x.fen");
    std::fs::write(&path, &text).unwrap();
    let boards = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/three.boards");
    for path in [path, boards] {
        let (mapped, one) = read(std::slice::from_ref(&path), |options| options.threads = 2);
        let (plain, other) = read(std::slice::from_ref(&path), |options| {
            options.threads = 2;
            options.read.access.map = false;
        });
        assert!(lines(&mapped) == lines(&plain));
        assert_eq!(one.first_rejects, other.first_rejects);
        assert_eq!(one.bytes, other.bytes);
        assert!(one.failure.is_none() && other.failure.is_none());
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_keep_their_format() {
    use lanefish::formats::Format;
    use std::os::unix::ffi::OsStrExt;
    let name = |bytes: &[u8]| Format::of_name(Path::new(std::ffi::OsStr::from_bytes(bytes)));
    assert_eq!(name(b"caf\xE9.epd"), Some(Format::EPD));
    assert_eq!(name(b"caf\xE9.PGN.ZST"), Some(Format::PGN));
    assert_eq!(name(b"caf\xE9.e\xE9d"), None);
    assert_eq!(name(b"epd"), None);
    assert_eq!(name(b"x.gz"), None);
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_listed() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.fen"), list(3)).unwrap();
    let broken = directory.path().join("b.fen");
    std::os::unix::fs::symlink("nowhere.fen", &broken).unwrap();
    let inputs = Inputs::resolve(&[directory.path().to_owned()], is_supported).unwrap();
    assert_eq!(inputs.sources.len(), 1);
    assert_eq!(inputs.broken, [broken]);
}

/// The process that reads the file ends, so it is one of its own: this test again, with the directory in a variable.
#[cfg(target_os = "linux")]
#[test]
fn a_map_that_was_cut_ends_the_process_with_a_message() {
    const DIRECTORY: &str = "LANEFISH_TEST_CUT_IN";
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        touch_a_map_that_was_cut(directory.as_ref());
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("x.fen"), list(1000)).unwrap();
    let test = "pipeline::inputs::a_map_that_was_cut_ends_the_process_with_a_message";
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("became shorter"), "{stderr}");
    let names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["x.fen"]);
}

#[cfg(target_os = "linux")]
fn touch_a_map_that_was_cut(directory: &Path) -> ! {
    lanefish::input::explain_truncated_maps();
    let path = directory.join("x.fen");
    let mut input = Input::open(&Source::from(&*path), Access::default(), Arc::default()).unwrap();
    let bytes = input.next_bytes().unwrap().unwrap();
    let mut output = lanefish::output::AtomicFile::create(&directory.join("out.csv"), false).unwrap();
    output.write_all(b"half").unwrap();
    assert!(bytes.check().is_ok());
    std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert!(bytes.check().is_err());
    let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
    panic!("could be read: {sum}");
}

#[test]
fn a_file_that_changes_between_two_reads_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.fen");
    let line = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n";
    let open = |source: &Source| Input::open(source, Access::default(), Arc::default()).map(drop);
    for change in ["longer", "replaced", "touched"] {
        std::fs::write(&path, line).unwrap();
        let source = Source::from(&*path);
        open(&source).unwrap();
        open(&source.clone()).unwrap();
        match change {
            "longer" => std::fs::write(&path, line.repeat(2)).unwrap(),
            "replaced" => {
                let other = directory.path().join("b.fen");
                std::fs::copy(&path, &other).unwrap();
                std::fs::rename(other, &path).unwrap();
            }
            _ => {
                let file = std::fs::File::options().append(true).open(&path).unwrap();
                file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
            }
        }
        let error = open(&source.clone()).unwrap_err();
        let reason = std::error::Error::source(&error).unwrap().to_string();
        assert!(reason.contains("has changed"), "{change}: {error}: {reason}");
        // A source that is made anew is read anew.
        open(&Source::from(&*path)).unwrap();
    }
}
