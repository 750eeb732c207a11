"""Pickles: what other processes can be sent."""

import copy
import multiprocessing
import pickle

import pytest
from conftest import START, TOP, package

import lanefish

SAMPLE = TOP / "data" / "sample.epd"
NAMES = ["index", "fen", "legal_moves", "in_check", "legal_moves_uci"]


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def read(scan):
    return scan.read_all()


def fails(_):
    lanefish.compute(["8/8/8/8/8/8/8/K6R w - - 0 1"])


def test_tables():
    table = lanefish.compute([START, "nonsense", None], NAMES[1:], on_bad="null")
    for other in [again(table), copy.copy(table), copy.deepcopy(table)]:
        assert isinstance(other, lanefish.Table)
        assert other.to_pydict() == table.to_pydict() and other.column_names == table.column_names
        assert other.bad_rows == [1, 2] and other.rejects == table.rejects and other.rejected == table.rejected == 2
    assert again(lanefish.compute([], NAMES[1:])).column_names == NAMES[1:]
    all_columns = lanefish.scan(SAMPLE, "all").read_all()
    assert again(all_columns).to_pydict() == all_columns.to_pydict()


def test_schemas_keep_their_meaning():
    pa = package("pyarrow")
    table = lanefish.compute([START], "all")
    assert pa.table(again(table)).equals(pa.table(table), check_metadata=True)


def test_batches_and_columns():
    batch = next(lanefish.scan(SAMPLE, ["features:chess768:stm", "legal_moves"], pad=32, batch_size=16))
    assert again(batch).to_pydict() == batch.to_pydict()
    column = batch.column("features:chess768:stm")
    assert again(column).to_pylist() == column.to_pylist() and again(column).shape == column.shape == (16, 32)


def test_scans_before_they_begin(tmp_path, monkeypatch, sample):
    (tmp_path / "a.epd").write_text("\n".join(sample[:20] + ["nonsense"]) + "\n")
    monkeypatch.chdir(tmp_path)
    options = {"on_bad": "skip", "where": "legal_moves > x", "let": {"x": 3}, "limit": 7, "batch_size": 5}
    scan = lanefish.scan((name for name in ["a.epd"]), (name for name in NAMES), **options)
    sent = pickle.dumps(scan)
    expected = scan.read_all()
    monkeypatch.chdir(TOP)
    for _ in range(2):
        other = pickle.loads(sent)
        assert [len(batch) for batch in other] == [5, 2] and other.records == scan.records
        assert pickle.loads(sent).read_all().to_pydict() == expected.to_pydict()
    games = lanefish.games(TOP / "data" / "lichess-2025-05.pgn", "game,white", games={"min_elo": 1500}, having="in_check")
    assert again(games).read_all().to_pydict() == games.read_all().to_pydict()


def test_scans_that_cannot_be_sent():
    scan = lanefish.scan(SAMPLE, "index")
    next(scan)
    with pytest.raises(lanefish.Error, match="has begun"):
        pickle.dumps(scan)
    with pytest.raises(lanefish.Error, match="data in memory"):
        pickle.dumps(lanefish.scan(lanefish.compute([START], "fen")))


def test_errors():
    with pytest.raises(lanefish.Error) as caught:
        fails(None)
    error = again(caught.value)
    assert type(error) is lanefish.Error and str(error) == str(caught.value)
    assert (error.row, error.reasons) == (0, ["not_one_king_each"])


def test_other_processes():
    """Workers open the shards of a scan, and send back what they read."""
    scans = [lanefish.scan(SAMPLE, "fen", shard=f"{part}/3") for part in range(3)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        tables = pool.map(read, scans)
        with pytest.raises(lanefish.Error, match="row 0"):
            pool.map(fails, [None])
    found = [fen for table in tables for fen in table["fen"]]
    assert sorted(found) == sorted(lanefish.scan(SAMPLE, "fen").read_all()["fen"])
