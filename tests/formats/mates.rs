//! Mates are distinct from scores: PGN, evaluations and boards files of both versions agree on them.

use crate::formats::round_trips::{lines, read};
use lanefish::chess::Position;
use lanefish::formats::boards::{BoardsWriter, Checksum};
use lanefish::packed::Packed;
use lanefish::queries::GroupResults;
use lanefish::stats::Stats;
use lanefish::table::{Array, Batch, Field, Fields, Tile, Values};
use lanefish::tiers::Tier;
use std::path::PathBuf;
use std::sync::Arc;

const GAME: &str = "[Event \"x\"]\n\n1. f3 {[%eval -1.5]} e5 {[%eval -1.6] [%eval #5]} 2. g4 {[%eval #-1]} \
    Qh4# {[%eval #0]} 0-1\n";

fn file(directory: &tempfile::TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn values(batch: &Batch, field: Field) -> Vec<Option<i64>> {
    let of = |values: &Array| (0..batch.len()).map(|row| values.number(row)).collect();
    batch.values(field).map_or_else(|| vec![None; batch.len()], of)
}

fn stats_of(batch: Batch) -> Stats {
    let analyzer = Tier::best().analyzer().unwrap();
    let mut results = vec![GroupResults::default(); batch.groups().len()];
    analyzer.analyze(batch.groups(), Stats::QUERIES, &mut results);
    let (len, batch) = (batch.len(), Arc::new(batch));
    let mask = [!0 >> (64 - len)];
    let mut stats = Stats::new();
    stats.add_tile(&Tile::new(analyzer, &batch, 0, len, &results, &mask));
    stats
}

#[test]
fn from_games_through_boards_and_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(&directory, "x.pgn", GAME.as_bytes());
    let (batch, summary) = read(std::slice::from_ref(&path), |_| {});
    assert_eq!((batch.len(), summary.rejected), (5, 0));
    let scores = [None, Some(-150), Some(-160), None, None];
    let mates = [None, None, None, Some(-1), Some(0)];
    assert_eq!(values(&batch, Field::Score), scores);
    assert_eq!(values(&batch, Field::Mate), mates);

    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    writer.write(&batch, 0..batch.len()).unwrap();
    let boards = file(&directory, "x.boards", &writer.finish().unwrap().0);
    let (found, summary) = read(std::slice::from_ref(&boards), |_| {});
    assert!(summary.failure.is_none());
    assert_eq!(lines(&found), lines(&batch));

    // Each field on its own.
    for path in [path, boards] {
        for (field, expected) in [(Field::Score, scores), (Field::Mate, mates)] {
            let (found, _) = read(std::slice::from_ref(&path), |options| {
                options.read.decode.fields = [field].into_iter().collect();
            });
            assert_eq!(found.fields.keys().collect::<Vec<_>>(), [&field]);
            assert_eq!(values(&found, field), expected);
        }
    }

    let stats = stats_of(batch);
    // Black is about to mate in one record, and has mated in the next.
    let mates = stats.report(false).mates;
    assert_eq!((mates.white, mates.black), (0, 2));
    let scores = stats.report(false).scores.summary();
    assert_eq!((scores.count, scores.sum), (2, -310));
    let mut twice = stats.clone();
    twice.merge(&stats);
    assert_eq!(twice.report(false).mates.black, 4);
}

#[test]
fn checkmates_count_for_the_side_that_has_mated() {
    let mut batch = Batch::new();
    let mut mates = Values::default();
    for (fen, mate) in [
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", 0),
        ("6k1/8/8/8/8/8/5PPP/r5K1 w - - 0 1", 0),
        ("6k1/8/8/8/8/8/5PPP/r5K1 b - - 0 1", 3),
    ] {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        batch.push(Packed::pack(&position).unwrap(), 0, 1);
        mates.push(Some(mate));
    }
    batch.fields.insert(Field::Mate, Array::I16(mates));
    let report = stats_of(batch).report(false);
    assert_eq!((report.mates.white, report.mates.black), (2, 1));
    assert!(report.scores.is_empty());
}

/// Files of version 1.0 store a mate as a score of 32,000 minus the number of moves.
#[test]
fn mates_among_the_scores_of_older_files() {
    let directory = tempfile::tempdir().unwrap();
    let old = [31_000, -31_000, 31_001, -31_997, 32_000, -32_000, 5];
    let mut batch = Batch::new();
    let mut column = Values::default();
    for score in old {
        batch.push(Packed::pack(&Position::standard()).unwrap(), 0, 1);
        column.push(Some(score));
    }
    // The current writer has a column of its own for such scores, so the old ones are patched in afterwards.
    let clamped: Vec<i16> = old.iter().map(|&score: &i16| score.clamp(-31_000, 31_000)).collect();
    let mut first = Values::default();
    clamped.iter().for_each(|&score| first.push(Some(score)));
    batch.fields.insert(Field::Score, Array::I16(column));
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    writer.write(&batch, 0..7).unwrap();
    let (found, _) = read(&[file(&directory, "raw.boards", &writer.finish().unwrap().0)], |_| {});
    assert_eq!(values(&found, Field::Score), old.map(|score| Some(score.into())));
    batch.fields.insert(Field::Score, Array::I16(first));
    let mut writer = BoardsWriter::new(Vec::new(), Fields::ALL).unwrap();
    writer.write(&batch, 0..7).unwrap();
    let mut bytes = writer.finish().unwrap().0;
    let new = file(&directory, "new.boards", &bytes);
    let (found, _) = read(&[new], |_| {});
    assert!(values(&found, Field::Score).into_iter().eq(clamped.iter().map(|&score| Some(score.into()))));

    let block = 2048..2048 + u64::from_le_bytes(bytes[2056..2064].try_into().unwrap()) as usize;
    let section = &mut bytes[block];
    // The fourth directory entry is the column of scores.
    let at = u64::from_le_bytes(section[64 + 96 + 8..][..8].try_into().unwrap()) as usize;
    for (row, score) in old.into_iter().enumerate() {
        section[at + 2 * row..][..2].copy_from_slice(&score.to_le_bytes());
    }
    let rest = Checksum::of(&section[64..]);
    section[48..56].copy_from_slice(&rest.to_le_bytes());
    let header = Checksum::of(&section[..56]);
    section[56..64].copy_from_slice(&header.to_le_bytes());
    let path = file(&directory, "old.boards", &bytes);
    let scores = [Some(31_000), Some(-31_000), None, None, None, None, Some(5)];
    let mates = [None, None, Some(999), Some(-3), Some(0), Some(0), None];
    for fields in [Fields::ALL, [Field::Mate].into_iter().collect()] {
        let (found, summary) = read(std::slice::from_ref(&path), |options| {
            options.read.decode.fields = fields;
        });
        assert!(summary.failure.is_none());
        assert_eq!(values(&found, Field::Mate), mates);
    }
    for fields in [Fields::ALL, [Field::Score].into_iter().collect()] {
        let (found, _) = read(std::slice::from_ref(&path), |options| {
            options.read.decode.fields = fields;
        });
        assert_eq!(values(&found, Field::Score), scores);
    }
}

/// A line break or several blanks between name and value; the first of two values counts; malformed commands are
/// ignored.
#[test]
fn commands_in_any_layout() {
    let game = "[Event \"x\"]\n\n1. e4 {[%clk\n0:01:00]} e5 {[%clk\t \t0:00:59]} 2. Nf3 {[%eval\r\n0.35] \
        [%clk 1.55:05]} Nc6 {[%eval 0.30][%eval #2] [%clk 0:00:58] [%clk 0:00:01]} 3. Bb5 {[%evaluation 3] \
        [%clk0:00:57] [%eval] [%eval -0.1,\n22]} *\n";
    let directory = tempfile::tempdir().unwrap();
    let path = file(&directory, "x.pgn", game.as_bytes());
    let (batch, summary) = read(&[path], |_| {});
    assert_eq!((batch.len(), summary.rejected), (6, 0));
    assert_eq!(values(&batch, Field::Clock), [Some(6000), Some(5900), None, Some(5800), None, None]);
    assert_eq!(values(&batch, Field::Score), [None, None, None, Some(35), Some(30), Some(-10)]);
    assert!(batch.values(Field::Mate).is_none());
}
