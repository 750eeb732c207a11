"""SQL: with a wheel that has it, and without."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import START, TOP, package

import lanefish
from lanefish._lanefish import _HAS_SQL as HAS_SQL

SAMPLE = TOP / "data" / "sample.epd"
BOARDS = TOP / "data" / "sample.boards"
KRK = "8/8/8/8/8/8/6k1/4K2R w K - 0 1"
with_sql = pytest.mark.skipif(not HAS_SQL, reason="SKIPPED: this wheel has no sql")


@pytest.mark.skipif(HAS_SQL, reason="this wheel has sql")
def test_without_it_the_error_has_the_command():
    with pytest.raises(lanefish.Error) as caught:
        lanefish.sql("select 1", t=[START])
    command = str(caught.value).split(": ", 1)[1]
    assert shlex.split(command) == ["pip", "install", "./python", "--config-settings=build-args=--features sql"]
    assert command in (TOP / "python" / "README.md").read_text()


def test_options_that_choose_records():
    for name, value in {"skip": 1, "limit": 5, "shard": "0/2", "where": "in_check", "sample": 0.5}.items():
        with pytest.raises(lanefish.Error, match=f"does not take {name}: its statements choose the records"):
            lanefish.sql("select 1", **{name: value})
    for wrong in [5, {"fen": [START]}, START]:
        with pytest.raises(TypeError, match="t: expected a table"):
            lanefish.sql("select 1", t=wrong)
    with pytest.raises(TypeError):
        lanefish.sql("select 1", games=5)


@with_sql
def test_files(command):
    query = f"select phase, count(*) as n, avg(legal_moves) as moves from '{SAMPLE}' group by phase order by phase"
    found = lanefish.sql(query).to_pydict()
    rows = [json.loads(line) for line in command("sql", query, "--format", "jsonl").splitlines()]
    assert [dict(zip(found, row)) for row in zip(*found.values())] == rows and len(rows) > 1


@with_sql
def test_tables_of_every_package():
    query = "select id, legal_moves(fen) as moves, in_check(fen) as c from t where matches(fen, '8/8/8/8/8/8/6k1/8') order by id"
    expected = {"id": [1, 3], "moves": [12, 12], "c": [False, False]}
    pa, pl, pd, duckdb = package("pyarrow"), package("polars"), package("pandas"), package("duckdb")
    columns = {"id": [0, 1, 2, 3], "fen": [START, KRK, START, KRK]}
    frame = pd.DataFrame(columns)  # noqa: F841
    tables = [
        pa.table(columns),
        pa.table(columns).to_reader(max_chunksize=2),
        pl.DataFrame(columns),
        pd.DataFrame(columns),
        duckdb.sql("from frame"),
    ]
    for table in tables:
        found = lanefish.sql(query, t=table)
        assert found.to_pydict() == expected, type(table)
        assert pa.table(found).num_rows == 2 and pl.DataFrame(found).height == 2


@with_sql
def test_tables_and_files_together(sample):
    table = lanefish.scan(SAMPLE, "fen,phase", limit=5)
    query = f"select count(*) as n from t join '{SAMPLE}' s on t.fen = s.fen"
    assert lanefish.sql(query, t=table)["n"][0] >= 5
    # The names of options are names of tables as well, and capital letters do not matter.
    rows = lanefish.sql('select count(*) as n from games, Frame, "limit"', games=table_of(2), Frame=table_of(3), limit=table_of(5))
    assert rows["n"] == [30]
    assert lanefish.sql("select fen from t", t=[START, None])["fen"] == [START, None]


def table_of(rows):
    return lanefish.compute([START] * rows, "fen")


@with_sql
def test_rows_of_a_table_keep_their_order(million):
    table = lanefish.compute(million, "fen,legal_moves")
    found = lanefish.sql("select fen, legal_moves(fen) as moves from t where not in_check(fen)", t=table, threads=4)
    checks = lanefish.compute(million, "in_check")["in_check"]
    rows = zip(table["fen"], table["legal_moves"], checks)
    assert list(zip(found["fen"], found["moves"])) == [(fen, moves) for fen, moves, check in rows if not check]


@with_sql
def test_several_statements():
    query = f"create view checks as select * from '{SAMPLE}' where in_check; select count(*) as n from checks;"
    assert lanefish.sql(query)["n"][0] > 0
    with pytest.raises(lanefish.Error, match="two statements return rows"):
        lanefish.sql("select 1; select 2")
    assert len(lanefish.sql("create view v as select 1 as x")) == 0
    with pytest.raises(lanefish.Error, match="no statement"):
        lanefish.sql("  ")
    assert lanefish.sql("select 1 as x where false").column_names == ["x"]


@with_sql
def test_values_of_every_type():
    query = """select 1::tinyint a, 2.5::real b, 'x' c, null d, X'01ff' e, 1.50::decimal(5,2) f, [1, 2] g,
               named_struct('x', 1, 'y', 'z') h, date '2024-02-29' i, arrow_cast('k', 'Dictionary(Int32, Utf8)') j,
               arrow_cast('v', 'Utf8View') k, arrow_cast('l', 'LargeUtf8') l"""
    (row,) = zip(*lanefish.sql(query).to_pydict().values())
    text = [str(value) for value in row]
    assert text[:4] == ["1", "2.5", "x", "None"] and row[4] == b"\x01\xff" and text[5:7] == ["1.50", "[1, 2]"]
    assert row[7] == {"x": 1, "y": "z"} and text[8:] == ["2024-02-29", "k", "v", "l"]
    with pytest.raises(TypeError, match="no Python values here"):
        lanefish.sql("select interval '1' day as x").to_pydict()


@with_sql
def test_errors_have_the_place_and_the_advice_of_the_command():
    program = os.environ.get("LANEFISH")
    queries = [
        f"select legal_move from '{SAMPLE}'",
        f"select *\nfrom '{SAMPLE}' where",
        "select x from nowhere",
        "select 1 +",
        "select legal_moves(5)",
        "from 'missing.epd'",
        f"insert into x select fen from '{SAMPLE}'",
    ]
    for query in queries:
        with pytest.raises(lanefish.Error) as caught:
            lanefish.sql(query)
        if program is not None:
            done = subprocess.run([program, "sql", query], capture_output=True, check=False)
            assert done.stderr.decode().rstrip("\n") == f"lanefish: {caught.value}", query
    with pytest.raises(lanefish.Error, match=re.escape("line 1, column 8: there is no column `legal_move`; did you mean")):
        lanefish.sql(queries[0])


@with_sql
def test_bad_records(tmp_path):
    path = tmp_path / "bad.epd"
    path.write_text(f"{START}\nnonsense\n{KRK}\n")
    query = f"select legal_moves from '{path}'"
    with pytest.raises(lanefish.Error, match="bad.epd:2") as caught:
        lanefish.sql(query)
    assert caught.value.line == 2 and caught.value.text == "nonsense"
    found = lanefish.sql(query, on_bad="skip")
    assert found["legal_moves"] == [20, 12] and found.rejected == 1 and len(found.rejects) == 1
    found = lanefish.sql("select legal_moves(fen) as moves from t", t=["nonsense", START])
    assert found["moves"] == [None, 20] and "nonsense" in found.notes[0] and found.rejected == 0
    with pytest.raises(ValueError):
        lanefish.sql(query, on_bad="null")
    with pytest.raises(lanefish.Error, match="truncated or corrupt|zstd"):
        (tmp_path / "bad.epd.zst").write_bytes(b"\x28\xb5\x2f\xfd no zstd")
        lanefish.sql(f"select fen from '{tmp_path}/bad.epd.zst'")


@with_sql
def test_options(tmp_path):
    count = lambda query, **options: lanefish.sql(query, **options)["n"][0]
    pgn = TOP / "data" / "lichess-2025-05.pgn"
    query = f"select count(*) as n from '{pgn}' where in_check or not in_check"
    assert 0 < count(query, games={"min_elo": 1500}, having="ply > m", let={"m": 40}) < count(query)
    assert count(query, threads=1) == count(query, threads=3)
    (tmp_path / "a.txt").write_text(f"{KRK}\n")
    assert lanefish.sql(f"select legal_moves from '{tmp_path}/a.txt'", from_format="fen")["legal_moves"] == [12]
    with pytest.raises(lanefish.Error, match="; memory, a number of bytes, allows more"):
        lanefish.sql(f"select array_agg(a.fen || b.fen) from '{BOARDS}' a, '{BOARDS}' b", memory=1 << 20)
    with pytest.raises(lanefish.Error, match="cannot open"):
        lanefish.sql("select 1", temp=tmp_path / "nowhere")


@with_sql
def test_progress(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    count = f"select count(*) as n from '{SAMPLE}' where in_check or not in_check"
    query = f"create table a as {count}; create table b as {count}; select a.n + b.n as n from a, b"
    (records,) = lanefish.sql(query, progress=True)["n"]
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"lanefish.sql: {records:,} records, ")


@with_sql
def test_results_are_pickled():
    import pickle

    found = lanefish.sql(f"select fen, phase from '{SAMPLE}'")
    assert pickle.loads(pickle.dumps(found)).to_pydict() == found.to_pydict()


@with_sql
def test_it_can_be_interrupted():
    """Ctrl-C ends a query, and a table that is being created."""
    table = "create table t as select a.value from generate_series(1, 100000) a, generate_series(1, 100000) b"
    for query in ["select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b where a.value < b.value", table]:
        code = f"""
            import lanefish
            print("ready", flush=True)
            try:
                lanefish.sql({query!r}, memory=1 << 40)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """
        child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=30)[0] == "interrupted\n"


@with_sql
def test_the_gil_is_released():
    import threading

    query = "select count(*) from generate_series(1, 30000) a, generate_series(1, 30000) b where a.value < b.value"
    ended = threading.Event()
    worker = threading.Thread(target=lambda: (lanefish.sql(query), ended.set()))
    worker.start()
    steps = 0
    while not ended.wait(0.01):
        steps += 1
    worker.join()
    assert steps > 3
