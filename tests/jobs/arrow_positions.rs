//! Columns of arrays in memory, compared with one position at a time.

use crate::support::{FAMOUS, Random};
use arrow_array::builder::{StringDictionaryBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, Int16Array, Int32Array, LargeStringArray, NullArray,
    RecordBatch, StringArray, UInt16Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use lanefish::Error;
use lanefish::chess::{Position, Validity};
use lanefish::columnar::BLOCK;
use lanefish::formats::DecodeOptions;
use lanefish::jobs::{ArrowPositions, BadRows, ComputeOptions, Computed, compute};
use lanefish::packed::Packed;
use lanefish::table::Columns;
use lanefish::tiers::Tier;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// Texts that are no valid position.
const BAD: [Option<&str>; 4] = [None, Some("nonsense"), Some(""), Some("8/8/8/8/8/8/8/K6R w - - 0 1")];

fn options() -> ComputeOptions<'static> {
    ComputeOptions::new(Tier::best().analyzer().expect("it was chosen"))
}

fn columns(names: &str) -> Columns {
    Columns::named(names).expect("columns of the catalogue")
}

/// Positions of random games, some of them bad.
fn texts(len: usize, bad_ones: bool) -> Vec<Option<String>> {
    let mut random = Random::new(5);
    (0..len)
        .map(|_| {
            if bad_ones && random.below(10) == 0 {
                return BAD[random.below(4) as usize].map(str::to_owned);
            }
            Some(FAMOUS[random.below(FAMOUS.len() as u64) as usize].to_owned())
        })
        .collect()
}

fn of_array(array: ArrayRef) -> ArrowPositions {
    let data = array.data_type().clone();
    ArrowPositions::of_array(&data, vec![array]).expect("one array")
}

/// What one position at a time has: the number of legal moves, where the text is a valid position.
fn slow(text: Option<&str>) -> Option<u16> {
    let position: Position = text?.parse().ok()?;
    position.is_valid(Validity::Playable).then(|| position.legal_moves().len() as u16)
}

/// Index and number of legal moves of each row.
fn rows(computed: &Computed) -> Vec<(Option<u64>, Option<u16>)> {
    let batches = computed.batches.iter();
    batches
        .flat_map(|batch| {
            let index = batch.column(0).as_primitive::<Int64Type>().iter().map(|it| it.map(i64::cast_unsigned));
            let moves = batch.column(1).as_primitive::<Int32Type>().iter().map(|it| it.map(|moves| moves as u16));
            index.zip(moves).collect::<Vec<_>>()
        })
        .collect()
}

fn expected(texts: &[Option<String>], on_bad: BadRows) -> Vec<(Option<u64>, Option<u16>)> {
    let rows = (0..).zip(texts);
    rows.filter_map(|(row, text)| match (slow(text.as_deref()), on_bad) {
        (Some(moves), _) => Some((Some(row), Some(moves))),
        (None, BadRows::Null) => Some((None, None)),
        (None, _) => None,
    })
    .collect()
}

/// The texts in every layout of strings.
fn layouts(texts: &[Option<String>]) -> Vec<ArrayRef> {
    let mut view = StringViewBuilder::new();
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    for text in texts {
        view.append_option(text.as_ref());
        dictionary.append_option(text.as_ref());
    }
    let all = || texts.iter().map(Option::as_deref);
    let bytes = all().map(|text| text.map(str::as_bytes));
    vec![
        Arc::new(all().collect::<StringArray>()),
        Arc::new(all().collect::<LargeStringArray>()),
        Arc::new(bytes.collect::<BinaryArray>()),
        Arc::new(view.finish()),
        Arc::new(dictionary.finish()),
    ]
}

#[test]
fn every_layout_is_like_one_position_at_a_time() {
    let texts = texts(3000, true);
    for on_bad in [BadRows::Null, BadRows::Skip] {
        for array in layouts(&texts) {
            let options = options().on_bad(on_bad);
            for (from, len) in [(0, 3000), (1, 2999), (999, 65), (17, 1), (3000, 0)] {
                let positions = of_array(array.slice(from, len));
                let done = compute(&positions, &columns("index,legal_moves"), &options).expect("bad rows are no error");
                assert_eq!(rows(&done), expected(&texts[from..from + len], on_bad));
                let bad =
                    texts[from..from + len].iter().enumerate().filter(|(_, text)| slow(text.as_deref()).is_none());
                assert!(done.bad.iter().copied().eq(bad.map(|(row, _)| row as u64)));
            }
        }
    }
}

#[test]
fn neither_threads_nor_chunks_matter() {
    let texts = texts(2 * BLOCK + 777, true);
    let array: ArrayRef = Arc::new(texts.iter().map(Option::as_deref).collect::<StringArray>());
    let columns = columns("all");
    let mut random = Random::new(7);
    for on_bad in [BadRows::Null, BadRows::Skip] {
        let one =
            compute(&of_array(Arc::clone(&array)), &columns, &options().on_bad(on_bad)).expect("bad rows are no error");
        assert_eq!(one.batches.len(), 3);
        for threads in [2, 5] {
            let mut chunks = Vec::new();
            let mut at = 0;
            while at < array.len() {
                let len = (random.below(9000) as usize).min(array.len() - at);
                chunks.push(array.slice(at, len));
                at += len;
            }
            let positions = ArrowPositions::of_array(&DataType::Utf8, chunks).expect("one type");
            let options = options().on_bad(on_bad).threads(threads);
            let other = compute(&positions, &columns, &options).expect("bad rows are no error");
            assert_eq!(one.batches, other.batches);
            assert_eq!(one.bad, other.bad);
            assert_eq!(one.reasons, other.reasons);
        }
    }
}

#[test]
fn the_first_bad_row_is_the_error() {
    let mut texts = texts(3 * BLOCK, false);
    for row in [BLOCK + 3, BLOCK + 4, 2 * BLOCK + 1] {
        texts[row] = Some("8/8/8/8/8/8/8/K6R w - - 0 1".to_owned());
    }
    let array: ArrayRef = Arc::new(texts.iter().map(Option::as_deref).collect::<StringArray>());
    for threads in [1, 3] {
        let done = compute(&of_array(Arc::clone(&array)), &columns("fen"), &options().threads(threads));
        match done {
            Err(Error::Strict(reject)) => {
                assert_eq!(reject.place.row, Some(BLOCK as u64 + 3));
                assert_eq!(reject.reasons, ["not_one_king_each"]);
                assert_eq!(reject.raw, b"8/8/8/8/8/8/8/K6R w - - 0 1");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn all_rows_may_be_bad_and_none_be_there() {
    for len in [0, 1, 9] {
        let array: ArrayRef = Arc::new(vec![None::<&str>; len].into_iter().collect::<StringArray>());
        for (on_bad, rows) in [(BadRows::Null, len), (BadRows::Skip, 0)] {
            let positions = of_array(Arc::clone(&array));
            let done = compute(&positions, &columns("all"), &options().on_bad(on_bad)).expect("bad rows are no error");
            assert_eq!(done.bad.len(), len);
            let batches = done.batches.iter();
            assert_eq!(batches.map(RecordBatch::num_rows).sum::<usize>(), rows);
            for column in done.batches.iter().flat_map(RecordBatch::columns) {
                assert_eq!(column.null_count(), rows);
            }
        }
    }
}

#[test]
fn boards_and_tables_are_positions() {
    let positions = FAMOUS.map(|fen| fen.parse::<Position>().expect("a position"));
    let boards = positions.each_ref().map(|position| {
        let Packed { color, types: [t0, t1, t2] } = Packed::pack(position).expect("a valid position");
        [color, t0, t1, t2].map(u64::to_le_bytes).as_flattened().to_vec()
    });
    let boards = FixedSizeBinaryArray::try_from_iter(boards.iter()).expect("32 bytes each");
    let boards: ArrayRef = Arc::new(boards);
    let moves: Vec<i32> = positions.iter().map(|it| it.legal_moves().len() as i32).collect();
    for (from, len) in [(0, 9), (3, 4)] {
        let sliced = boards.slice(from, len);
        let done = compute(&of_array(sliced), &columns("legal_moves"), &options()).expect("boards");
        let found = done.batches[0].column(0).as_primitive::<Int32Type>();
        assert_eq!(found.values()[..], moves[from..from + len]);
    }
    // Fields come along; other columns may have any type.
    let schema = Schema::new(vec![
        Field::new("nothing", DataType::Null, true),
        Field::new("score", DataType::Int32, true),
        Field::new("position", DataType::Utf8, false),
    ]);
    let scores: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(-40_000)]));
    let arrays: Vec<ArrayRef> =
        vec![Arc::new(NullArray::new(3)), scores, Arc::new(StringArray::from(FAMOUS[..3].to_vec()))];
    let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays).expect("three columns");
    let table = ArrowPositions::of_batches(&schema, &[batch.slice(1, 2), batch]).expect("one schema");
    let named = DecodeOptions::default().fen_column(Some("position".into()));
    let options_of_it = options().decode(named).on_bad(BadRows::Null);
    let done = compute(&table, &columns("score"), &options_of_it).expect("a column of texts");
    let scores: Vec<_> = done.batches[0].column(0).as_primitive::<Int16Type>().iter().collect();
    assert_eq!(scores, [None, None, Some(1), None, None]);
    assert_eq!((done.bad.len(), done.reasons.len()), (0, 0));
    let notes: Vec<String> = done.dropped_values.notes().collect();
    assert!(notes[0].starts_with("2 values that `score` cannot hold were left out, first `-40000`"), "{notes:?}");
    let missing = compute(&table, &columns("score"), &options()).expect_err("no column `fen`");
    assert!(missing.to_string().starts_with("data has no column `fen` or `board`"), "{missing}");
}

#[test]
fn work_can_be_interrupted() {
    let texts = texts(5 * BLOCK, false);
    let array: ArrayRef = Arc::new(texts.iter().map(Option::as_deref).collect::<StringArray>());
    // Positions without games are computed in pieces, too, where columns need whole games.
    for (threads, names) in [(1, "legal_moves"), (2, "legal_moves"), (1, "repetition"), (2, "repetition")] {
        let calls = Cell::new(0);
        let interrupt = || {
            calls.set(calls.get() + 1);
            calls.get() == 2
        };
        let options = options().threads(threads).interrupt(Some(&interrupt));
        let done = compute(&of_array(Arc::clone(&array)), &columns(names), &options);
        assert!(matches!(done, Err(Error::Interrupted)), "{done:?}");
    }
}

/// The opening of a record is that of the last position on the way to it, in whatever piece that is.
#[test]
fn openings_go_on_from_piece_to_piece() {
    let names = ["rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"];
    // In one game after the other: the rows in which each begins, and whether with a position of the list.
    for begins in [vec![(0, true), (5, false)], vec![(0, false), (9, true), (3 * BLOCK - 1, true)], vec![(0, true)]] {
        let game = |row: usize| begins.iter().rposition(|&(begin, _)| begin <= row).expect("the first begins at 0");
        let rows = 0..4 * BLOCK - 7;
        let is_named = |row: usize| begins.contains(&(row, true));
        let fens: StringArray = rows.clone().map(|row| Some(names[usize::from(!is_named(row))])).collect();
        let games: UInt64Array = rows.clone().map(|row| game(row) as u64).collect();
        let plies: UInt16Array = rows.clone().map(|row| (row - begins[game(row)].0) as u16).collect();
        let arrays: Vec<ArrayRef> = vec![Arc::new(fens), Arc::new(games), Arc::new(plies)];
        let fields: Vec<_> = ["fen", "game", "ply"]
            .into_iter()
            .zip(&arrays)
            .map(|(name, array)| Field::new(name, array.data_type().clone(), false))
            .collect();
        let schema = Schema::new(fields);
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays).expect("three columns");
        let table = ArrowPositions::of_batches(&schema, &[batch]).expect("one schema");
        for threads in [1, 3] {
            let computed = compute(&table, &columns("eco_position"), &options().threads(threads)).expect("good rows");
            let batches = computed.batches.iter();
            let found: Vec<Option<String>> = batches
                .flat_map(|batch| batch.column(0).as_string::<i32>().iter().map(|eco| eco.map(str::to_owned)))
                .collect();
            let expected = rows.clone().map(|row| begins[game(row)].1.then(|| "B00".to_owned()));
            assert!(found.into_iter().eq(expected), "{begins:?}");
        }
    }
}

/// The score before a record is that of the record before, in whatever piece that is; likewise the last one that is not 0.
#[test]
fn scores_go_on_from_piece_to_piece() {
    // Scores of one game after the other, which begin in these rows; all others are 0.
    for begins in [vec![0, BLOCK, 2 * BLOCK + 5], vec![0], vec![0, 3 * BLOCK - 1]] {
        let scored = [1, BLOCK - 1, 3 * BLOCK - 1];
        let game = |row: usize| begins.iter().rposition(|&begin| begin <= row).expect("the first begins at 0");
        let score = |row: usize| scored.iter().position(|&at| at == row).map_or(0, |at| 101 + at as i16);
        let rows = 0..4 * BLOCK - 7;
        let fens: StringArray = rows.clone().map(|_| Some("4k3/8/8/8/8/8/8/4K3 w - - 0 1")).collect();
        let results: StringArray = rows.clone().map(|_| Some("1-0")).collect();
        let games: UInt64Array = rows.clone().map(|row| game(row) as u64).collect();
        let plies: UInt16Array = rows.clone().map(|row| (row - begins[game(row)]) as u16).collect();
        let scores: Int16Array = rows.clone().map(score).collect();
        let arrays: Vec<ArrayRef> =
            vec![Arc::new(fens), Arc::new(results), Arc::new(games), Arc::new(plies), Arc::new(scores)];
        let fields: Vec<_> = ["fen", "result", "game", "ply", "raw_score"]
            .into_iter()
            .zip(&arrays)
            .map(|(name, array)| Field::new(name, array.data_type().clone(), false))
            .collect();
        let schema = Schema::new(fields);
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays).expect("five columns");
        let table = ArrowPositions::of_batches(&schema, &[batch]).expect("one schema");
        for threads in [1, 3] {
            let names = columns("score_before,score_placeholder");
            let computed = compute(&table, &names, &options().threads(threads)).expect("good rows");
            let found: Vec<(Option<i16>, Option<bool>)> = computed
                .batches
                .iter()
                .flat_map(|batch| {
                    batch.column(0).as_primitive::<Int16Type>().iter().zip(batch.column(1).as_boolean().iter())
                })
                .collect();
            assert_eq!(found.len(), rows.len());
            for (row, found) in found.into_iter().enumerate() {
                let begin = begins[game(row)];
                let before = (row > begin).then(|| score(row - 1));
                let is_placeholder = score(row) == 0 && scored.iter().any(|at| (begin..row).contains(at));
                assert_eq!(found, (before, Some(is_placeholder)), "{begins:?}: {row}");
            }
        }
    }
}

/// Games are whole, in whatever pieces their rows are: the score after a record is that of the next one of its game, and
/// every position counts as often as it was on the board. No batch has more rows than a block.
#[test]
fn games_over_several_pieces_are_whole() {
    let fens = ["4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/3K4 b - - 0 1", "no position"];
    for begins in [
        vec![0, BLOCK, 2 * BLOCK + 5],
        vec![0],
        vec![0, 3 * BLOCK - 1, 3 * BLOCK, 3 * BLOCK + 1],
        vec![0, BLOCK - 3, BLOCK + 3, BLOCK + 300],
    ] {
        let game = |row: usize| begins.iter().rposition(|&begin| begin <= row).expect("the first begins at 0");
        let rows = 0..4 * BLOCK - 7;
        let is_bad = |row: usize| row % 1000 == 7 || (2 * BLOCK - 2..2 * BLOCK + 2).contains(&row);
        let fen = |row: usize| fens[if is_bad(row) { 2 } else { row % 2 }];
        // Every second game begins again, so neighbours have different numbers.
        let numbers: UInt64Array = rows.clone().map(|row| game(row) as u64 % 2).collect();
        let plies: UInt16Array = rows.clone().map(|row| (row - begins[game(row)]) as u16).collect();
        let scores: Int16Array = rows.clone().map(|row| (row % 500) as i16).collect();
        let texts: StringArray = rows.clone().map(|row| Some(fen(row))).collect();
        let arrays: Vec<ArrayRef> = vec![Arc::new(texts), Arc::new(numbers), Arc::new(plies), Arc::new(scores)];
        let fields: Vec<_> = ["fen", "game", "ply", "raw_score"]
            .into_iter()
            .zip(&arrays)
            .map(|(name, array)| Field::new(name, array.data_type().clone(), false))
            .collect();
        let schema = Schema::new(fields);
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays).expect("four columns");
        let chunks: Vec<RecordBatch> = (0..batch.num_rows())
            .step_by(BLOCK / 3)
            .map(|start| batch.slice(start, (BLOCK / 3).min(batch.num_rows() - start)))
            .collect();
        let good: Vec<usize> = rows.clone().filter(|&row| !is_bad(row)).collect();
        let mut seen = HashMap::new();
        let expected: Vec<i16> = good
            .iter()
            .map(|&row| {
                let times: &mut i16 = seen.entry((game(row), row % 2)).or_default();
                *times = (*times + 1).min(255);
                *times
            })
            .collect();
        for threads in [1, 3] {
            let table = ArrowPositions::of_batches(&schema, &chunks).expect("one schema");
            let options = options().threads(threads).on_bad(BadRows::Skip);
            let computed = compute(&table, &columns("repetition"), &options).expect("good rows");
            let batches = computed.batches.iter();
            let found: Vec<i16> =
                batches.flat_map(|batch| batch.column(0).as_primitive::<Int16Type>().values().to_vec()).collect();
            assert_eq!(found.len(), expected.len(), "{begins:?}");
            let differs = found.iter().zip(&expected).position(|(found, expected)| found != expected);
            assert_eq!(differs.map(|at| (good[at], found[at], expected[at])), None, "{begins:?}");
            assert!(computed.batches.iter().all(|batch| batch.num_rows() <= BLOCK));
        }
    }
}

/// Rows are computed in pieces; of all bad ones, the first are kept.
#[test]
fn the_first_bad_rows_are_kept_over_all_pieces() {
    for (first, second) in [(4, 20), (10, 3), (11, 11), (0, 12), (3, 3)] {
        let mut rows = vec![Some(FAMOUS[0]); 2 * BLOCK];
        let bad: Vec<usize> =
            (0..first).map(|number| 7 * number).chain((0..second).map(|number| BLOCK + 5 * number)).collect();
        bad.iter().for_each(|&row| rows[row] = Some("nonsense"));
        for threads in [1, 2, 8] {
            let positions = of_array(Arc::new(StringArray::from(rows.clone())));
            let mut options = options();
            options.threads = threads;
            options.on_bad = BadRows::Skip;
            let computed = compute(&positions, &columns("legal_moves"), &options).unwrap();
            let bad: Vec<u64> = bad.iter().map(|&row| row as u64).collect();
            assert_eq!(computed.bad, bad);
            let found: Vec<u64> = computed.first_rejects.iter().map(|reject| reject.place.record).collect();
            assert_eq!(found, bad[..bad.len().min(10)], "{first} {second}");
        }
    }
}

/// What is counted adds up over the pieces.
#[test]
fn reasons_and_remarks_add_up_over_all_pieces() {
    let mut rows = vec![Some(FAMOUS[0]); 3 * BLOCK];
    // An en passant square behind a pawn that nobody can capture.
    let dropped = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
    for (row, text) in
        [(3, "nonsense"), (5, dropped), (BLOCK + 1, "nonsense"), (BLOCK + 7, dropped), (BLOCK + 8, dropped)]
    {
        rows[row] = Some(text);
    }
    rows[2 * BLOCK + 2] = Some("8/8/8/8/8/8/8/K6R w - - 0 1");
    for threads in [1, 4] {
        let mut options = options();
        (options.threads, options.on_bad) = (threads, BadRows::Null);
        let positions = of_array(Arc::new(StringArray::from(rows.clone())));
        let computed = compute(&positions, &columns("legal_moves"), &options).unwrap();
        let alone = |text: &str| {
            let positions = of_array(Arc::new(StringArray::from(vec![text])));
            compute(&positions, &columns("legal_moves"), &options).unwrap()
        };
        let (nonsense, without_king) = (alone("nonsense").reasons, alone("8/8/8/8/8/8/8/K6R w - - 0 1").reasons);
        let mut expected = without_king;
        for (reason, times) in nonsense {
            *expected.entry(reason).or_default() += 2 * times;
        }
        assert_eq!(computed.reasons, expected);
        let remarks: Vec<(&str, u64)> = computed.remarks.iter().map(|(remark, times)| (remark.what, times)).collect();
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        assert_eq!(remarks[0].1, 3, "{remarks:?}");
    }
}
