"""Data in memory, from and to every package."""

import threading
import time

import pytest
from conftest import START, package

import lanefish

COLUMNS = ["fen", "legal_moves", "in_check", "checkers", "attacks_white", "phase", "key"]
BAD = [START, "nonsense", None, "8/8/8/8/8/8/8/K6R w - - 0 1", START]


@pytest.fixture(scope="module")
def expected(million, command, tmp_path_factory):
    """What the command line computes of the million, as lists."""
    folder = tmp_path_factory.mktemp("million")
    (folder / "in.fen").write_text("\n".join(million) + "\n")
    names = ",".join(COLUMNS)
    out = command("compute", folder / "in.fen", "--columns", names, "--masks", "decimal")
    rows = [line.split(",") for line in out.splitlines()[1:]]
    assert len(rows) == len(million)
    kinds = [str, int, lambda flag: flag == "1", int, int, int, int]
    return {name: [kind(row[at]) for row in rows] for at, (name, kind) in enumerate(zip(COLUMNS, kinds))}


def test_lists(million, expected):
    assert lanefish.compute(million, COLUMNS).to_pydict() == expected


def test_pyarrow(million, expected):
    pa = package("pyarrow")
    for data in [
        pa.array(million),
        pa.chunked_array([pa.array(million[:333_333]), pa.array([], pa.string()), pa.array(million[333_333:])]),
        pa.array(million, pa.large_string()),
        pa.table({"other": pa.array(range(len(million))), "fen": million}),
        pa.table({"fen": million}).to_reader(max_chunksize=1000),
    ]:
        assert pa.table(lanefish.compute(data, COLUMNS)).to_pydict() == expected


def test_pyarrow_types():
    pa = package("pyarrow")
    table = pa.table(lanefish.compute([START], "all"))
    assert table.schema.field("legal_moves").type == pa.int32()
    assert table.schema.field("in_check").type == pa.bool_()
    assert table.schema.field("date").type == pa.date32()
    assert not table.schema.field("legal_moves").nullable
    assert table.schema.metadata[b"lanefish.version"].decode() == lanefish.__version__
    assert table.schema.field("phase").metadata[b"lanefish.meaning"]


def test_strings_of_every_type():
    pa = package("pyarrow")
    good = [START, None, "8/8/8/8/8/8/6k1/4K2R w K - 0 1"]
    types = [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())]
    if hasattr(pa, "string_view"):
        types.append(pa.string_view())
    for kind in types:
        array = pa.array(good).cast(kind) if kind != pa.binary() else pa.array([g and g.encode() for g in good])
        if isinstance(kind, pa.DictionaryType):
            array = pa.array(good).dictionary_encode()
        for sliced, moves in [(array, [20, None, 12]), (array[2:], [12]), (array[1:2], [None]), (array[:0], [])]:
            assert lanefish.compute(sliced, "legal_moves", on_bad="null")["legal_moves"] == moves, kind


def test_polars(million, expected):
    pl = package("polars")
    for data in [pl.Series("fen", million), pl.DataFrame({"fen": million})]:
        table = lanefish.compute(data, COLUMNS)
        assert pl.DataFrame(table).to_dict(as_series=False) == expected
    # Newer versions make a table of another package a series of structs here.
    found = pl.from_arrow(lanefish.compute([START], ["legal_moves", "phase"]))
    frame = found.struct.unnest() if isinstance(found, pl.Series) else found
    assert frame.to_dicts() == [{"legal_moves": 20, "phase": 24}]


def test_polars_categories():
    pl = package("polars")
    data = pl.Series([START, None, START], dtype=pl.Categorical)
    assert lanefish.compute(data, "legal_moves", on_bad="null")["legal_moves"] == [20, None, 20]


def test_pandas(million, expected):
    pd = package("pandas")
    package("pyarrow")
    for data in [pd.Series(million), pd.DataFrame({"fen": million})]:
        table = lanefish.compute(data, COLUMNS)
        frame = pd.DataFrame(table.to_pydict())
        assert frame.to_dict(orient="list") == expected
    missing = pd.Series([START, None])
    assert lanefish.compute(missing, "legal_moves", on_bad="skip")["legal_moves"] == [20]


def test_duckdb(million, expected):
    duckdb = package("duckdb")
    pa = package("pyarrow")
    source = pa.table({"row": range(len(million)), "fen": million})  # noqa: F841
    relation = duckdb.sql("select fen from source order by row")
    computed = lanefish.compute(relation, COLUMNS)
    found = duckdb.sql("select sum(legal_moves), count(*), sum(phase) from computed").fetchall()
    assert found == [(sum(expected["legal_moves"]), len(million), sum(expected["phase"]))]
    assert computed.to_pydict() == expected


def test_boards(million, tmp_path):
    package("pyarrow")
    from pyarrow import parquet

    fens = million[:10_000]
    (tmp_path / "in.fen").write_text("\n".join(fens) + "\n")
    lanefish.convert(tmp_path / "in.fen", tmp_path / "boards.parquet")
    table = parquet.read_table(tmp_path / "boards.parquet")
    assert "fen" not in table.column_names
    names = [name for name in COLUMNS if name != "fen"]
    expected = lanefish.compute(fens, names).to_pydict()
    assert lanefish.compute(table["board"], names).to_pydict() == expected
    # With the clocks, that a board has not.
    assert lanefish.compute(table, ["fen", *names]).to_pydict() == {"fen": fens, **expected}


def test_bad_rows():
    with pytest.raises(lanefish.Error, match="row 1: ") as caught:
        lanefish.compute(BAD)
    assert caught.value.row == 1
    assert caught.value.text == "nonsense"
    assert caught.value.reasons
    nulls = lanefish.compute(BAD, "index,legal_moves", on_bad="null")
    assert nulls.to_pydict() == {"index": [0, None, None, None, 4], "legal_moves": [20, None, None, None, 20]}
    skipped = lanefish.compute(BAD, "index,legal_moves", on_bad="skip")
    assert skipped.to_pydict() == {"index": [0, 4], "legal_moves": [20, 20]}
    for table in nulls, skipped:
        assert table.bad_rows == [1, 2, 3]
        assert len(table.rejects) == 3 and table.rejects[0].startswith("row 1: ")
    with pytest.raises(ValueError):
        lanefish.compute(BAD, on_bad="ignore")


def test_wrong_arguments():
    for data in [START, b"", 5, [5], [b"x"]]:
        with pytest.raises(TypeError):
            lanefish.compute(data)
    with pytest.raises(lanefish.Error, match="no column `beauty`"):
        lanefish.compute([START], ["beauty"])
    with pytest.raises(ValueError):
        lanefish.compute([START], threads=0)
    pa = package("pyarrow")
    with pytest.raises(lanefish.Error, match="neither positions"):
        lanefish.compute(pa.table({"position": [START]}))
    named = lanefish.compute(pa.table({"position": [START]}), "legal_moves", fen_column="position")
    assert named["legal_moves"] == [20]
    with pytest.raises(lanefish.Error):
        lanefish.compute(pa.array([1, 2]))
    assert len(lanefish.compute([], "fen")) == 0


def test_fields_come_along():
    pa = package("pyarrow")
    data = pa.table({"fen": [START, START], "score": [35, None], "move": ["e2e4", "g1f3"]})
    assert lanefish.compute(data, "score,san").to_pydict() == {"score": [35, None], "san": ["e4", "Nf3"]}


def test_threads_do_not_matter(million):
    few = million[:100_000] + ["nonsense"] + million[:100_000]
    one = lanefish.compute(few, COLUMNS, on_bad="null", threads=1)
    for threads in 2, 3, 8:
        assert lanefish.compute(few, COLUMNS, on_bad="null", threads=threads).to_pydict() == one.to_pydict()


def test_the_gil_is_released(million):
    pa = package("pyarrow")
    data = pa.chunked_array([pa.array(million)] * 8)
    counts = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    time.sleep(0.01)
    before = counts[0]
    lanefish.compute(data, "legal_moves", threads=1)
    after = counts[0]
    stop.set()
    thread.join()
    assert after - before > 50
