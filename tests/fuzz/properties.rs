//! Properties of every reader that hold for any input. The fuzz target and the tests run the same functions.
//!
//! A reader must not panic; every record is counted, accepted or rejected; chunks decode to the same records as the
//! whole input, wherever it is cut; all tiers agree on the positions; and the positions survive being written and
//! read again.

#![allow(unreachable_pub, reason = "this file is a module of the tests and of the fuzz target")]

use lanefish::chess::{self, Position, Validity};
#[cfg(feature = "parquet")]
use lanefish::chess::{MoveKind, Role};
use lanefish::choose::expression::Evaluated;
use lanefish::choose::{Definitions, GameFilter};
use lanefish::datasets::{OpeningTree, TreeFile};
use lanefish::formats::boards::{BoardsWriter, Checksum};
use lanefish::formats::polyglot_book::PolyglotBook;
use lanefish::formats::{Chunk, DecodeOptions, Decoded, Format, Totals, pgn};
use lanefish::games::GameRow;
#[cfg(feature = "parquet")]
use lanefish::input::RandomAccess;
use lanefish::input::{Access, Input, Inputs, Source};
use lanefish::jobs::OutputFormat;
#[cfg(feature = "parquet")]
use lanefish::jobs::{PositionReader, source_of_batches};
use lanefish::output::ScratchSpace;
use lanefish::packed::Packed;
use lanefish::perft;
use lanefish::pipeline::{Job, ReadOptions, RunOptions};
use lanefish::queries::{GroupResults, Queries};
use lanefish::report::{Comparison, Report, csv, html};
use lanefish::table::{Batch, Fields, Needs, Tile};
use lanefish::tiers::Tier;
use std::path::Path;
use std::sync::Arc;

/// The name of a target and the function that checks its properties.
pub type Target = (&'static str, fn(&[u8]));

/// Calls a macro with the names of all targets: a target is a name here, a function below, and a folder of small files in
/// `fuzz/corpus`.
macro_rules! for_all_targets {
    ($call:ident) => {
        $call! {
            fen, epd, perft, pgn, evals, puzzles, csv, tsv, jsonl, boards, bullet, marlin, sfen, viri, binpack, plain,
            text, containers, selection, expression, san, report, tree, verify, zip,
            #[cfg(feature = "parquet")] parquet,
            #[cfg(feature = "parquet")] arrow,
            #[cfg(feature = "parquet")] game_cells,
        }
    };
}
#[allow(unused_imports, reason = "only the tests use it elsewhere")]
pub(crate) use for_all_targets;

macro_rules! list {
    ($($(#[$feature:meta])? $target:ident,)*) => {
        /// All targets.
        pub const TARGETS: &[Target] = &[$($(#[$feature])? (stringify!($target), $target)),*];
    };
}
for_all_targets!(list);

/// FEN, as a list of lines and as a single position.
pub fn fen(bytes: &[u8]) {
    pieces(Format::FEN, bytes);
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(position) = Position::from_fen_unvalidated(text)
    {
        let written = position.to_string();
        let again = Position::from_fen_unvalidated(&written).expect("the writer's output can be read");
        assert_eq!(again.to_string(), written);
        let shredder = Position::from_fen_unvalidated(&position.shredder_fen());
        assert_eq!(shredder.expect("the writer's output can be read"), again);
    }
}

/// EPD with operations.
pub fn epd(bytes: &[u8]) {
    pieces(Format::EPD, bytes);
}

/// Perft lists, including blocks; and perft of their first positions in every tier, compared with plain counting.
pub fn perft(bytes: &[u8]) {
    pieces(Format::PERFT, bytes);
    let decoded = Format::PERFT.decode(&chunk(bytes, 0), &options(1 << 24));
    let rows = decoded.batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
    for (batch, row) in rows.take(4) {
        let Ok(mut position) = batch.position(row) else {
            continue;
        };
        let depth = if chess::perft::perft(&mut position, 2) > 3_000 { 2 } else { 3 };
        let expected = chess::perft::perft(&mut position, depth);
        let mut boards = None;
        for analyzer in Tier::all().flat_map(Tier::implementations) {
            let count = perft::count(&position, depth, analyzer, 1).expect("one thread needs no others");
            assert_eq!(count.nodes, expected, "{analyzer:?}: {position}");
            assert_eq!(*boards.get_or_insert(count.boards), count.boards, "{analyzer:?}: {position}");
        }
    }
}

/// Lichess evaluations.
pub fn evals(bytes: &[u8]) {
    pieces(Format::EVALS, bytes);
}

/// Lichess puzzles.
pub fn puzzles(bytes: &[u8]) {
    pieces(Format::PUZZLES, bytes);
}

/// CSV with a header line.
pub fn csv(bytes: &[u8]) {
    pieces(Format::CSV, bytes);
}

/// The same, separated by tabs.
pub fn tsv(bytes: &[u8]) {
    pieces(Format::TSV, bytes);
}

/// JSON objects, one a line.
pub fn jsonl(bytes: &[u8]) {
    pieces(Format::JSONL, bytes);
}

/// Records of bulletformat.
pub fn bullet(bytes: &[u8]) {
    pieces(Format::BULLET, bytes);
}

/// Records of marlinformat.
pub fn marlin(bytes: &[u8]) {
    pieces(Format::MARLIN, bytes);
}

/// Records of packed sfen.
pub fn sfen(bytes: &[u8]) {
    pieces(Format::SFEN, bytes);
}

/// Games of viriformat.
pub fn viri(bytes: &[u8]) {
    pieces(Format::VIRI, bytes);
}

/// Chunks of binpack.
pub fn binpack(bytes: &[u8]) {
    pieces(Format::BINPACK, bytes);
}

/// Stockfish's plain text.
pub fn plain(bytes: &[u8]) {
    pieces(Format::PLAIN, bytes);
}

/// Lines with scores and results.
pub fn text(bytes: &[u8]) {
    pieces(Format::TEXT, bytes);
}

fn options(max_record: usize) -> DecodeOptions {
    DecodeOptions::default()
        .fields(Fields::ALL)
        .tags(["Event", "White"].map(Arc::from).into())
        .game_rows(true)
        .max_record(max_record)
}

fn chunk(bytes: &[u8], offset: usize) -> Chunk {
    Chunk::new(Path::new("fuzz").into(), bytes.to_vec().into()).offset(offset as u64)
}

/// A hash of the input, to derive choices from.
pub fn choice(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Records, rejects and games of the chunks of an input, as text.
fn decoded(format: Format, chunks: &[&[u8]], options: &DecodeOptions) -> Vec<(u64, String)> {
    let mut totals = Totals::default();
    let (mut found, mut offset) = (Vec::new(), 0);
    let header = format.header(&chunks.concat(), true);
    for bytes in chunks {
        let chunk = chunk(bytes, offset).header(header.clone());
        offset += bytes.len();
        let mut decoded = format.decode(&chunk, options);
        account(&decoded, format);
        decoded.number(&mut totals, &chunk);
        for batch in &decoded.batches {
            found.extend((0..batch.len()).map(|row| (batch.index(row), record(batch, row))));
        }
        for reject in &decoded.rejects {
            assert!(!reject.reasons.is_empty() && !reject.message.is_empty());
            found.push((reject.place.record, format!("{reject} {:?}", reject.raw)));
        }
        for game in &decoded.game_rows {
            // Not its end, which is relative to the chunk.
            let GameRow { game, tags, plies, result, last, error, .. } = game;
            let row = format!("{game} {tags:?} {plies:?} {result:?} {last:?} {error:?}");
            found.push((u64::MAX, row));
        }
    }
    found.sort();
    found.push((u64::MAX, format!("{totals:?}")));
    found
}

/// A record with everything that it carries.
fn record(batch: &Batch, row: usize) -> String {
    let mut text = match batch.position(row) {
        Ok(position) => position.shredder_fen(),
        Err(error) => error.to_string(),
    };
    for (field, values) in &batch.fields {
        if let Some(value) = values.text(row) {
            text += &format!(" {}={value:?}", field.name());
        } else if let Some(number) = values.number(row) {
            text += &format!(" {}={number}", field.name());
        }
    }
    for (name, values) in &batch.tags {
        if let Some(value) = values.get(row) {
            text += &format!(" tag:{name}={value:?}");
        }
    }
    text
}

/// Checks that nothing is lost: every record is accepted, rejected, or part of damage.
fn account(decoded: &Decoded, format: Format) {
    let lost = lost(decoded, format);
    assert!(lost == 0 || !decoded.damage.is_empty(), "{format}");
}

/// The number of records that are neither accepted nor rejected.
fn lost(decoded: &Decoded, format: Format) -> u64 {
    let good: usize = decoded.batches.iter().map(Batch::len).sum();
    let all = (good + decoded.rejects.len()) as u64;
    assert!(all <= decoded.records, "{format}");
    for batch in &decoded.batches {
        assert_eq!(batch.halfmove.len(), batch.len());
        assert_eq!(batch.fullmove.len(), batch.len());
        assert!(batch.fields.values().all(|values| values.len() == batch.len()));
        assert!(batch.tags.values().all(|tag| tag.len() == batch.len()));
    }
    decoded.records - all
}

/// A format that can be cut: in one chunk, and in pieces as from a pipe.
fn pieces(format: Format, bytes: &[u8]) {
    let mut seed = choice(bytes);
    let max_record = if seed.is_multiple_of(5) { 64 } else { 1 << 24 };
    let options = options(max_record);
    let whole = decoded(format, &[bytes], &options);
    let (mut chunks, mut from, mut seen) = (Vec::new(), 0, 0);
    while seen < bytes.len() {
        seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        let step = if seed >> 63 == 0 { 1 + (seed >> 60) } else { 1 + (seed >> 55) };
        seen = bytes.len().min(seen + step as usize);
        if let Some(len) = format.cut(&bytes[from..seen], max_record) {
            assert!(len > 0 && len <= seen - from);
            chunks.push(&bytes[from..from + len]);
            from += len;
        }
    }
    chunks.push(&bytes[from..]);
    assert_eq!(decoded(format, &chunks, &options), whole);
    positions(&format.decode(&chunk(bytes, 0).header(format.header(bytes, true)), &options));
}

/// Games: cut at every possible boundary, with and without variations, strict or lenient.
pub fn pgn(bytes: &[u8]) {
    let seed = choice(bytes);
    let mut options = options(if seed.is_multiple_of(5) { 100 } else { 1 << 24 });
    options.strict_pgn = seed >> 8 & 3 == 0;
    if seed >> 10 & 3 == 0 {
        options.games = Some(Arc::new(GameFilter::default().variations(true)));
    }
    let whole = decoded(Format::PGN, &[bytes], &options);
    let mut limit = bytes.len();
    while let Some(cut) = pgn::boundary(bytes, limit, true) {
        assert!(cut > 0 && cut <= limit);
        let pieces = decoded(Format::PGN, &[&bytes[..cut], &bytes[cut..]], &options);
        assert_eq!(pieces, whole, "cut at {cut}");
        limit = cut - 1;
        // A text of nothing but tags has a boundary in each line.
        if limit < bytes.len() / 2 && seed >> 12 & 1 == 0 {
            break;
        }
    }
    positions(&Format::PGN.decode(&chunk(bytes, 0), &options));
}

/// Boards files, also with corrected checksums.
pub fn boards(bytes: &[u8]) {
    let repaired = repair(bytes);
    for bytes in [bytes, &repaired] {
        let options = options(1 << 24);
        let whole = decoded(Format::BOARDS, &[bytes], &options);
        // As from a pipe: more bytes, of any number, are awaited until there is a section.
        let mut seed = choice(bytes);
        let (mut chunks, mut from, mut seen) = (Vec::new(), 0, 0);
        while seen < bytes.len() {
            seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            seen = bytes.len().min(seen + 1 + (seed >> 53) as usize);
            if let Some(len) = Format::BOARDS.cut(&bytes[from..seen], 1 << 24) {
                assert!(len > 0 && len <= seen - from);
                chunks.push(&bytes[from..from + len]);
                from += len;
            }
        }
        chunks.push(&bytes[from..]);
        assert_eq!(decoded(Format::BOARDS, &chunks, &options), whole);
        positions(&Format::BOARDS.decode(&chunk(bytes, 0), &options));
    }
}

/// Parquet files.
#[cfg(feature = "parquet")]
pub fn parquet(bytes: &[u8]) {
    table(Format::PARQUET, bytes);
}

/// Arrow files and streams.
#[cfg(feature = "parquet")]
pub fn arrow(bytes: &[u8]) {
    table(Format::ARROW, bytes);
}

/// A table: its parts are those of the whole, and any number of shards has each of them once.
#[cfg(feature = "parquet")]
fn table(format: Format, bytes: &[u8]) {
    // The hook of fuzzers ends the process, also when a panic is caught.
    lanefish::formats::tables::hide_caught_panics();
    let options = options(1 << 24);
    let tables = format.tables().expect("a format of tables");
    let source = || RandomAccess::of(bytes.to_vec().into());
    // A few bytes may be any number of rows that are all the same.
    if tables.facts(source()).is_ok_and(|facts| facts.rows > 1 << 18) {
        return;
    }
    let mut has_games = false;
    let whole = format.decode(&chunk(bytes, 0), &options);
    let mut records = 0;
    let len = bytes.len() as u64;
    for shard in [0..len / 3, len / 3..len] {
        let Ok(parts) = tables.open(source(), &options, Some(shard)) else {
            return;
        };
        // A row is a record, or a game with any number of them.
        has_games = parts.kind().has_games;
        // What is wrong with several parts is reported with one of them.
        let (mut missing, mut is_damaged) = (0, false);
        for part in parts {
            let file: Arc<Path> = Path::new("fuzz").into();
            let decoded = format.decode(&Chunk::of_rows(Arc::clone(&file), part.up_to(3)), &options);
            assert!(if has_games { decoded.games } else { decoded.records } <= 3);
            records += part.rows().end - part.rows().start;
            let chunk = Chunk::of_rows(file, part);
            let decoded = format.decode(&chunk, &options);
            missing += lost(&decoded, format);
            is_damaged |= !decoded.damage.is_empty();
        }
        assert!(missing == 0 || is_damaged, "{format}");
    }
    assert!(records >= if has_games { whole.games } else { whole.records } || !whole.damage.is_empty());
    positions(&whole);
}

/// The form in which [`game_cells`] writes games.
#[cfg(feature = "parquet")]
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellForm {
    Uci,
    Lists,
    San,
    Movetext,
    Aix,
}

/// Cells with the moves of games: the bytes choose legal moves, and now and then something else. Each row has the positions
/// that playing its moves one by one gives, and is rejected if something else than a legal move was met.
#[cfg(feature = "parquet")]
pub fn game_cells(bytes: &[u8]) {
    use CellForm::{Aix, Lists, Movetext, San, Uci};
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray};

    let Some((&first, bytes)) = bytes.split_first() else { return };
    let form = [Uci, Lists, San, Movetext, Aix][usize::from(first) % 5];
    let (mut expected, mut bad) = (Vec::new(), 0);
    let (mut texts, mut lists, mut cells) = (Vec::new(), ListBuilder::new(StringBuilder::new()), Vec::new());
    for choices in bytes.split(|&byte| byte == b'\n').take(64) {
        let (words, cell, is_bad) = game_of(choices, form, &mut expected);
        bad += u64::from(is_bad);
        words.iter().for_each(|word| lists.values().append_value(word));
        lists.append(true);
        texts.push(words.join(" "));
        cells.push(cell);
    }
    let texts = || -> ArrayRef { Arc::new(StringArray::from(texts.clone())) };
    let (name, column) = match form {
        Uci | San => ("moves", texts()),
        Movetext => ("movetext", texts()),
        Lists => ("moves", Arc::new(lists.finish()) as ArrayRef),
        Aix => ("movedata", Arc::new(BinaryArray::from_iter_values(&cells)) as ArrayRef),
    };
    let batch = RecordBatch::try_from_iter([(name, column)]).expect("one column");
    let source = source_of_batches("cells", &batch.schema(), &[batch]).expect("a stream");
    let mut reader = PositionReader::new(Inputs::of([source]), ReadOptions::default(), 1).expect("a thread");
    let shown = |mut position: Position| {
        position.drop_unusable_en_passant();
        position.to_string()
    };
    let found: Vec<String> = reader.by_ref().map(|position| shown(position.expect("rows can be read"))).collect();
    assert_eq!(found, expected.into_iter().map(shown).collect::<Vec<_>>());
    assert_eq!(reader.summary().map(|summary| summary.rejected), Some(bad));
}

/// A game of moves that bytes choose, as words and in the bytes of Aix, and whether it has something else. Its positions
/// are added to others.
#[cfg(feature = "parquet")]
fn game_of(choices: &[u8], form: CellForm, positions: &mut Vec<Position>) -> (Vec<String>, Vec<u8>, bool) {
    let mut position = Position::standard();
    positions.push(position.clone());
    let (mut words, mut cell) = (Vec::new(), Vec::new());
    let mut is_bad = false;
    for (ply, pair) in choices.chunks(2).enumerate() {
        let (choice, other) = (pair[0], pair.get(1).copied().unwrap_or(0));
        let moves = position.legal_moves();
        let Some(&mv) = moves.get(usize::from(choice) % moves.len().max(1)) else { break };
        let (from, to) = (mv.from.index() as u8, mv.to.index() as u8);
        let code = match mv.kind {
            MoveKind::Promotion(role) => match role {
                Role::Queen => Some(0),
                Role::Rook => Some(1),
                Role::Bishop => Some(2),
                _ => Some(3),
            },
            _ => None,
        };
        let is_castling = mv.kind == MoveKind::Castle;
        let is_capture = mv.kind == MoveKind::EnPassant || !is_castling && position.piece_at(mv.to).is_some();
        let flags = u8::from(code.is_some()) << 6 | u8::from(is_capture) << 7;
        let mut bytes = [from | flags, to | code.unwrap_or(0) << 6];
        let mut word = match form {
            CellForm::San | CellForm::Movetext => mv.san(&position),
            _ => mv.uci_as(choice & 128 != 0).to_string(),
        };
        // Rarely, a capture that is none, or a piece that is not there.
        if other > 250 {
            is_bad = true;
            bytes[0] ^= 0x80;
            word = ["a3a3", "Kj9", "e2e4e5", "a7a8k"][usize::from(other) % 4].to_owned();
        }
        if form == CellForm::Movetext {
            let number = if ply % 2 == 0 { format!("{}. ", ply / 2 + 1) } else { String::new() };
            let remark = ["", " $3", " { [%clk 0:01:02] }", " (x)", "!?"][usize::from(other) % 5];
            word = format!("{number}{word}{remark}");
        }
        words.push(word);
        cell.extend(bytes);
        if !is_bad {
            position.make(mv);
            positions.push(position.clone());
        }
    }
    cell.push(0);
    (words, cell, is_bad)
}

/// Corrects the checksums of all sections that can be found.
pub fn repair(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let magics: [&[u8]; 4] = [b"\x89LFB\r\n\x1A\n", b"LFBBLOCK", b"LFBINDEX", b"LFBEND\r\n"];
    let mut at = 0;
    while at + 64 <= bytes.len() {
        if !magics.iter().any(|magic| bytes[at..].starts_with(magic)) {
            at += 64;
            continue;
        }
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let len = usize::try_from(word(at + 8)).unwrap_or(usize::MAX);
        let end = at.saturating_add(len).min(bytes.len()).max(at + 64);
        let sum = Checksum::of(&bytes[at + 64..end]);
        bytes[at + 48..at + 56].copy_from_slice(&sum.to_le_bytes());
        let sum = Checksum::of(&bytes[at..at + 56]);
        bytes[at + 56..at + 64].copy_from_slice(&sum.to_le_bytes());
        at = (end / 64 * 64).max(at + 64);
    }
    bytes
}

/// Checks that all tiers agree on all boards, and that boards files and FEN keep the positions.
fn positions(decoded: &Decoded) {
    for batch in &decoded.batches {
        let mut playable = Vec::new();
        let requested = Queries::KINDS
            .union(Queries::CHECKERS)
            .union(Queries::PINNED)
            .union(Queries::ATTACKS)
            .union(Queries::MOBILITY)
            .union(Queries::INVALID);
        let mut first: Option<Vec<GroupResults>> = None;
        for analyzer in Tier::all().flat_map(Tier::implementations) {
            let mut results = vec![GroupResults::default(); batch.groups().len()];
            analyzer.analyze(batch.groups(), requested, &mut results);
            let Some(expected) = &first else {
                playable = (0..batch.len()).filter(|row| results[row / 8].invalid[row % 8] == 0).collect();
                first = Some(results);
                continue;
            };
            for row in 0..batch.len() {
                let (a, b, lane) = (&expected[row / 8], &results[row / 8], row % 8);
                assert_eq!(a.invalid[lane] != 0, b.invalid[lane] != 0, "{analyzer:?}");
                if a.invalid[lane] == 0 {
                    let all = |results: &GroupResults| {
                        [
                            results.counts[lane],
                            results.checkers[lane],
                            results.pinned[lane],
                            results.attacks_white[lane],
                            results.attacks_black[lane],
                            results.mobility[lane],
                        ]
                    };
                    assert_eq!(all(a), all(b), "{analyzer:?}: {}", record(batch, row));
                }
            }
        }
        for &row in &playable {
            let position = batch.position(row).expect("a playable board decodes");
            assert!(position.is_valid(Validity::Playable));
            let results = first.as_ref().map(|all| &all[row / 8]);
            let moves = results.map(|results| results.legal(row % 8).moves);
            assert_eq!(moves, Some(position.count_legal_moves()));
            // A boards file may hold an en passant square without a legal capture; readers of FEN drop it.
            let mut position = position;
            position.drop_unusable_en_passant();
            let again = Position::from_fen_unvalidated(&position.to_string());
            assert_eq!(again.map(|again| again.to_string()).ok(), Some(position.to_string()));
        }
        survives_in_boards(batch);
    }
}

/// Checks that a boards file keeps the records, except for tags.
fn survives_in_boards(batch: &Batch) {
    let mut batch = batch.clone();
    batch.tags.clear();
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).expect("writing to memory does not fail");
    writer.write(&batch, 0..batch.len()).expect("writing to memory does not fail");
    let (bytes, _) = writer.finish().expect("writing to memory does not fail");
    let options = options(1 << 24);
    let again = Format::BOARDS.decode(&chunk(&bytes, 0), &options);
    assert_eq!(again.damage, []);
    let records = |batches: &mut dyn Iterator<Item = &Batch>| -> Vec<String> {
        batches.flat_map(|batch| (0..batch.len()).map(move |row| record(batch, row))).collect()
    };
    assert_eq!(records(&mut again.batches.iter()), records(&mut std::iter::once(&batch)));
}

/// Compressed containers: everything that can be decompressed, then the end or an error, mapped or streamed.
pub fn containers(bytes: &[u8]) {
    thread_local! {
        static PLACE: tempfile::TempDir = tempfile::tempdir().expect("a temporary directory");
    }
    let path = PLACE.with(|place| place.path().join("input.bin"));
    std::fs::write(&path, bytes).expect("written");
    let path: Arc<Path> = path.into();
    let read = |access: Access| {
        let mut all = Vec::new();
        let mut input = match Input::open(&Source::from(&*path), access, Arc::default()) {
            Ok(input) => input,
            Err(error) => return (all, Some(error.to_string())),
        };
        loop {
            match input.next_bytes() {
                Ok(Some(bytes)) => all.extend_from_slice(&bytes),
                Ok(None) => return (all, None),
                Err(error) => return (all, Some(error.to_string())),
            }
            // A small file may decompress to a huge one; that is not tested here.
            if all.len() > 4 << 20 {
                return (Vec::new(), None);
            }
        }
    };
    let mapped = read(Access::default());
    let streamed = read(Access::default().map(false));
    assert_eq!(mapped.1.is_some(), streamed.1.is_some());
    // How much of damaged data is recovered may differ, but not its content.
    let common = mapped.0.len().min(streamed.0.len());
    assert!(mapped.0[..common] == streamed.0[..common]);
    if mapped.1.is_none() {
        assert_eq!(mapped.0.len(), streamed.0.len());
    }
}

/// The run of `lanefish verify` over one file of any format, mapped by one thread and streamed to two in small chunks:
/// it ends, and finds the same.
pub fn verify(bytes: &[u8]) {
    thread_local! {
        static PLACE: tempfile::TempDir = tempfile::tempdir().expect("a temporary directory");
    }
    let path = PLACE.with(|place| place.path().join("input.bin"));
    std::fs::write(&path, bytes).expect("written");
    read_twice(&Inputs::of([path]));
}

/// Zip archives: their list or an error, and a run over what is in them that finds the same twice.
pub fn zip(bytes: &[u8]) {
    thread_local! {
        static PLACE: tempfile::TempDir = tempfile::tempdir().expect("a temporary directory");
    }
    let path = PLACE.with(|place| place.path().join("input.zip"));
    std::fs::write(&path, bytes).expect("written");
    // Also without a list, it is an error.
    let opened = lanefish::formats::open(&Source::from(&*path), None, None, Access::default(), Arc::default());
    assert!(opened.is_err());
    if let Ok(inputs) = Inputs::resolve(&[path], lanefish::formats::is_supported) {
        let sizes = inputs.sources.iter().map(|source| source.len().expect("members have a length"));
        assert!(sizes.sum::<u64>() <= bytes.len() as u64, "members do not overlap");
        read_twice(&inputs);
    }
}

/// Reads inputs past damage, mapped by one thread and streamed to two in small chunks, and compares.
fn read_twice(inputs: &Inputs) {
    let analyzer = Tier::best().analyzer().expect("the best tier is available");
    let read = |threads: usize, chunk_size: usize, map: bool| {
        let run = RunOptions::new(analyzer)
            .threads(threads)
            .chunk_size(chunk_size)
            .read(
                ReadOptions::default()
                    .access(Access::default().map(map))
                    .decode(DecodeOptions::default().validity(Validity::Strict))
                    // A few bytes may be any number of rows that are all the same.
                    .limit(Some(1 << 14)),
            )
            .past_damage(true);
        let (summary, failed) = match lanefish::pipeline::run(inputs, run, &Nothing, |()| Ok(())) {
            Ok(summary) => (summary, false),
            Err(ended) => (*ended.summary, true),
        };
        let rejects: u64 = summary.files.iter().map(|file| file.rejected).sum();
        assert_eq!(rejects, summary.rejected);
        assert!(summary.rejected <= summary.records);
        (summary, failed)
    };
    let ((mapped, mapped_failed), (streamed, streamed_failed)) = (read(1, 1 << 20, true), read(2, 64, false));
    assert_eq!(mapped_failed, streamed_failed);
    // How much of a damaged container is recovered may differ.
    if !mapped_failed && mapped.files.iter().all(|file| file.damage.is_empty()) {
        assert_eq!(
            (mapped.records, mapped.rejected, mapped.games),
            (streamed.records, streamed.rejected, streamed.games)
        );
    }
}

/// A job that only reads.
struct Nothing;

impl Job for Nothing {
    type Part = ();
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) {}
    fn tile(&self, (): &mut (), _: &Tile<'_>) {}
}

/// Selections of games and positions: positions taken and left out add up to all positions.
pub fn selection(bytes: &[u8]) {
    let (head, text) = bytes.split_at(bytes.len().min(48));
    let byte = |at: usize| head.get(at).copied().unwrap_or(0);
    let number = |at: usize| u32::from(byte(at));
    let words = String::from_utf8_lossy(head.get(16..).unwrap_or_default()).into_owned();
    let mut words = words.split(['\n', ' ', '\0']);
    let mut word = || words.next().unwrap_or_default().to_owned();
    let selection = GameFilter::default()
        .first_ply(number(0) / 8)
        .last_ply((byte(1) & 1 == 1).then_some(number(1)))
        .skip_book(number(2) / 32)
        .every(number(3) / 64)
        .last(byte(4) & 7 == 1)
        .max_per_game((byte(5) & 3 == 1).then_some(number(5) / 16))
        .seed(number(6).into())
        .min_elo((byte(7) & 7 == 1).then_some(10 * u16::from(byte(7))))
        .max_elo((byte(8) & 7 == 1).then_some(10 * u16::from(byte(8))))
        .min_plies(number(9) / 64)
        .drop_bad_games(byte(10) & 3 == 1)
        .variations(byte(10) & 12 == 4)
        .time_controls(word().parse().into_iter().collect())
        .ecos(word().parse().into_iter().collect())
        .since(word().parse().ok())
        .until(word().parse().ok());
    let everything = GameFilter::default().variations(selection.variations);
    let read = |selection: GameFilter| {
        let options = options(1 << 24).games(Some(Arc::new(selection)));
        Format::PGN.decode(&chunk(text, 0), &options)
    };
    let positions = |decoded: &Decoded| decoded.batches.iter().map(Batch::len).sum::<usize>() as u64;
    let (some, all) = (read(selection), read(everything));
    assert_eq!(some.games, all.games);
    let left_out: u64 = some.left_out.values().map(|left_out| left_out.positions).sum();
    assert_eq!(positions(&some) + left_out, positions(&all));
}

/// Definitions, a line each, and an expression: an error with its place, or a value for each record of a small batch. What
/// has a number as its value in the first record is the same when the text is written out and parsed again.
pub fn expression(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<&str> = text.split('\n').collect();
    let last = lines.pop().unwrap_or_default();
    let definitions = Definitions::parse(&lines).unwrap_or_default();
    let formula = match definitions.formula(last) {
        Ok(formula) => formula,
        Err(error) => {
            assert!(error.place().end <= last.len() && !error.to_string().is_empty());
            return;
        }
    };
    let mut batch = Batch::new();
    for fen in ["rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", "4k3/P7/8/8/8/8/8/4K3 w - - 5 40"] {
        let position: Position = fen.parse().unwrap();
        batch.push(Packed::pack(&position).unwrap(), position.halfmove, position.fullmove);
    }
    let batch = Arc::new(batch);
    let analyzer = Tier::best().analyzer().unwrap();
    let mut results = vec![GroupResults::default(); batch.groups().len()];
    analyzer.analyze(batch.groups(), formula.needs().queries, &mut results);
    let tile = Tile::new(analyzer, &batch, 0, batch.len(), &results, &[3]);
    let values = formula.evaluate(&tile);
    let again = definitions.formula(&formula.to_string()).unwrap();
    assert!(again == formula && again.evaluate(&tile) == values);
    if let Ok(condition) = definitions.condition(last) {
        let mut mask = [3];
        condition.choose(&tile, &mut mask);
        if let Evaluated::Boolean(values) = values {
            let taken: Vec<bool> = (0..2).map(|row| mask[0] >> row & 1 != 0).collect();
            assert!(values.iter().map(|value| *value == Some(true)).eq(taken));
        }
    }
}

/// A position and a move in algebraic notation: parsed moves are legal and survive being written and parsed again.
pub fn san(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (fen, san) = text.rsplit_once('\n').unwrap_or(("", &text));
    let position = match Position::from_fen_unvalidated(fen) {
        Ok(position) if position.is_valid(Validity::Playable) => position,
        _ => Position::standard(),
    };
    if let Ok(mv) = position.parse_san(san) {
        assert!(position.is_legal(mv));
        assert_eq!(position.parse_san(&mv.san(&position)), Ok(mv));
    }
}

/// Opening books and parts of trees: an error, or entries that can be looked up and moves with their texts.
pub fn tree(bytes: &[u8]) {
    thread_local! {
        static PLACE: tempfile::TempDir = tempfile::tempdir().expect("a temporary directory");
    }
    let path = PLACE.with(|place| place.path().join("input"));
    std::fs::write(&path, bytes).expect("written");
    if let Ok(mut book) = PolyglotBook::open(&path) {
        let mut wrong = 0_u64;
        let facts = book.verify(|_, what| wrong += u64::from(!what.is_empty())).expect("a file that is there");
        assert!(facts.entries == bytes.len() as u64 / 16 && facts.positions <= facts.entries);
        let moves = book.moves_of(&Position::standard()).expect("a file that is there");
        assert!(moves.iter().all(|entry| !entry.uci.is_empty()) && moves.len() as u64 <= facts.entries);
    }
    let mut rows = TreeFile::rows(OutputFormat::Csv, Vec::new()).expect("rows");
    let merged = OpeningTree::default().merge(&[&path], &ScratchSpace::default(), 1, |position| {
        rows.put(&position).map_err(|source| lanefish::Error::Stdout { source })
    });
    assert_eq!(merged.is_ok(), bytes.starts_with(b"\x89LFTREE") && rows.finish().is_ok() && merged.is_ok());
}

/// Reports as JSON: whatever is accepted can be shown, merged and compared, and is the same after being written.
pub fn report(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) else {
        return;
    };
    let Ok(report) = Report::from_json(&value) else {
        return;
    };
    let written = serde_json::Value::from(report.to_json());
    assert!(Report::from_json(&written).is_ok_and(|again| again == report));
    let page = html::page(&report, &html::About::default());
    assert!(page.starts_with("<!doctype html>"));
    assert!(!csv::files(&report).is_empty());
    let mut twice = report.clone();
    twice.merge(&report);
    assert_eq!(twice.positions, 2 * report.positions);
    let comparison = Comparison::of(&report, &twice);
    let same = comparison.plots.iter().all(|plot| plot.distance().is_none_or(|distance| distance.value == 0.0));
    assert!(same, "twice the same differs from the same");
    let abouts = [html::About::default(), html::About::default()];
    assert!(!html::comparison(&[comparison], &abouts).is_empty());
}
