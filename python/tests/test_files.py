"""Files: scan, stats, convert."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import START, TOP, package

import lanefish

SAMPLE = TOP / "data" / "sample.epd"


@pytest.fixture
def mixed(tmp_path, sample):
    """Good lines with two bad ones among them."""
    path = tmp_path / "mixed.epd"
    lines = sample[:20] + ["nonsense"] + sample[20:40] + ["8/8/8/8/8/8/8/K6R w - -"]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def long(tmp_path_factory, million):
    """A file that takes long to read."""
    path = tmp_path_factory.mktemp("long") / "long.fen"
    text = "\n".join(million) + "\n"
    with open(path, "w") as file:
        for _ in range(10):
            file.write(text)
    return path


def test_scan_is_compute(command):
    names = "index,fen,legal_moves,in_check,phase"
    found = lanefish.scan(SAMPLE, names).read_all().to_pydict()
    lines = command("compute", SAMPLE, "--columns", names).splitlines()[1:]
    flags = ["0", "1"]
    rows = zip(*found.values())
    assert [f"{i},{f},{m},{flags[c]},{p}" for i, f, m, c, p in rows] == lines


def test_scan_to_packages(million, long):
    pa = package("pyarrow")
    scan = lanefish.scan(long, ["legal_moves"], limit=1_000_000)
    table = pa.table(scan)
    assert table.num_rows == 1_000_000 and scan.records == 1_000_000
    expected = lanefish.compute(million, "legal_moves")["legal_moves"]
    assert table["legal_moves"].to_pylist() == expected
    with pytest.raises(lanefish.Error, match="has been read"):
        pa.table(scan)
    assert pa.record_batch(next(lanefish.scan(long, "phase"))).num_rows > 1000


def test_scan_to_polars(long):
    pl = package("polars")
    frame = pl.DataFrame(lanefish.scan(long, ["legal_moves"], limit=100_000))
    assert frame.height == 100_000


def test_scan_to_duckdb(long):
    duckdb = package("duckdb")
    scan = lanefish.scan(long, ["legal_moves"], limit=100_000)  # noqa: F841
    assert duckdb.sql("select count(*) from scan").fetchall() == [(100_000,)]


def test_scan_and_bad_records(mixed):
    scan = lanefish.scan(mixed, "index,legal_moves", on_bad="skip")
    assert scan.rejected is None
    rows = [row for batch in scan for row in batch.to_pydict()["index"]]
    assert rows == [*range(20), *range(21, 41)]
    assert scan.rejected == 2 and scan.records == 42 and len(scan.rejects) == 2
    with pytest.raises(lanefish.Error, match="mixed.epd:21") as caught:
        list(lanefish.scan(mixed))
    assert caught.value.line == 21 and caught.value.text == "nonsense"
    assert caught.value.record == 20 and caught.value.path == str(mixed)
    with pytest.raises(ValueError):
        lanefish.scan(mixed, on_bad="null")


def test_scan_options(mixed):
    index = lambda **options: lanefish.scan(mixed, "index", on_bad="skip", **options).read_all()["index"]
    assert index(skip=3, limit=2) == [3, 4]
    assert len(index(shard="0/2")) + len(index(shard="1/2")) == 40
    assert index(threads=1) == index(threads=5)
    assert index(from_format="epd") == index()
    both = lanefish.scan([mixed, str(SAMPLE)], "index", on_bad="skip").read_all()
    assert len(both) == 40 + len(lanefish.scan(SAMPLE, "index").read_all())


def test_errors(tmp_path):
    with pytest.raises(lanefish.Error, match="cannot open .*missing.epd: No such file"):
        lanefish.scan(tmp_path / "missing.epd")
    for wrong in [{"from_format": "xyz"}, {"shard": "9/2"}]:
        with pytest.raises(lanefish.Error):
            lanefish.scan(SAMPLE, **wrong)
    with pytest.raises(lanefish.Error):
        lanefish.stats(SAMPLE, by="beauty")
    (tmp_path / "bad.zst").write_bytes(b"no zstd")
    with pytest.raises(lanefish.Error, match="zstd"):
        list(lanefish.scan(tmp_path / "bad.zst"))
    with pytest.raises(TypeError):
        lanefish.scan(5)


def test_scan_stops_early(long):
    threads = threading.active_count()
    with lanefish.scan(long, "fen") as scan:
        next(scan)
    assert list(scan) == []
    scan = lanefish.scan(long, "fen")
    next(scan)
    begin = time.monotonic()
    del scan
    assert time.monotonic() - begin < 2
    assert threading.active_count() == threads
    lanefish.scan(long)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_scan_memory_is_flat(long):
    def resident():
        status = open("/proc/self/status").read()
        return int(status.split("RssAnon:")[1].split()[0])

    scan = lanefish.scan(long, "all")
    next(scan)
    time.sleep(2)  # Nobody takes anything: nothing may pile up.
    before = resident()
    for _ in range(100):
        next(scan)
    assert resident() - before < 300_000


def test_stats_are_those_of_the_command_line(mixed, command):
    for by in [None, "phase", "legal_moves/10"]:
        for path in [SAMPLE, mixed]:
            found = lanefish.stats(path, by=by, details=True)
            options = ["--by", by] if by else []
            expected = json.loads(command("stats", "--json", "--details", *options, path))
            # Only a command line has a command.
            assert set(found.pop("run")) == set(expected.pop("run")) - {"command"}
            assert found == expected
    covered = lanefish.stats(SAMPLE, features="halfka_v2_hm")["features"]
    assert covered == json.loads(command("stats", "--json", "--features", "halfka_v2_hm", SAMPLE))["features"]
    assert (covered["inputs"], sum(covered["counts"])) == (22528, covered["active_sum"])
    with pytest.raises(lanefish.Error, match="there is no set of features"):
        lanefish.stats(SAMPLE, features="halfka_v3")
    assert lanefish.stats(mixed)["rejected"] == 2
    with pytest.raises(lanefish.Error):
        lanefish.stats(mixed, on_bad="raise")


def test_convert(mixed, tmp_path, command):
    for name in ["a.boards", "a.epd.zst", "a.parquet", "a.arrow", "a.arrows", "a.fen"]:
        done = lanefish.convert(SAMPLE, tmp_path / name)
        assert done["rejected"] == 0 and done["records"] > 0
        command("convert", SAMPLE, "-o", tmp_path / f"expected.{name}")
        assert (tmp_path / name).read_bytes() == (tmp_path / f"expected.{name}").read_bytes(), name
    with pytest.raises(lanefish.Error, match="exists"):
        lanefish.convert(SAMPLE, tmp_path / "a.boards")
    lanefish.convert(SAMPLE, tmp_path / "a.boards", overwrite=True)
    with pytest.raises(lanefish.Error, match="mixed.epd:21"):
        lanefish.convert(mixed, tmp_path / "b.boards")
    assert not (tmp_path / "b.boards").exists()
    assert lanefish.convert(mixed, tmp_path / "b.boards", on_bad="skip")["rejected"] == 2
    with pytest.raises(lanefish.Error, match="cannot infer a format"):
        lanefish.convert(SAMPLE, tmp_path / "b.xyz")
    with pytest.raises(lanefish.Error, match="is an input"):
        lanefish.convert(mixed, mixed, overwrite=True)
    lanefish.convert(SAMPLE, tmp_path / "c.dat", to="boards")
    again = lanefish.scan(tmp_path / "a.parquet", "fen").read_all()
    assert again["fen"] == lanefish.scan(SAMPLE, "fen").read_all()["fen"]


def test_the_gil_is_released(long):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    lanefish.stats(long, threads=1, limit=3_000_000)
    stop.set()
    thread.join()
    assert len(ticks) > 50


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "work",
    [
        "lanefish.stats([PATH] * 50)",
        "lanefish.convert([PATH] * 50, OUT)",
        "[None for _ in lanefish.scan([PATH] * 50, 'all')]",
        "lanefish.scan([PATH] * 50, 'all').read_all()",
        "lanefish.compute([START] * 200_000 * 20, 'all')",
    ],
)
def test_ctrl_c(work, long, tmp_path):
    code = textwrap.dedent(
        f"""
        import lanefish
        PATH, OUT, START = {str(long)!r}, {str(tmp_path / "out.boards")!r}, {START!r}
        print("ready", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\n"
    assert time.monotonic() - begin < 5
    assert list(tmp_path.iterdir()) == []


def test_games_in_tables(tmp_path):
    pa, parquet = package("pyarrow"), package("pyarrow.parquet")
    start = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    columns = {"White": ["a", "b"], "moves": ["e4 e5 Nf3 1-0", "e1g1"], "start_fen": [None, start]}
    path = tmp_path / "games.parquet"
    parquet.write_table(pa.table(columns), path)
    expected = {"game": [0, 0, 0, 0, 1, 1], "ply": [0, 1, 2, 3, 0, 1], "white": ["a"] * 4 + ["b"] * 2}
    assert lanefish.scan(path, "game,ply,white").read_all().to_pydict() == expected
    assert lanefish.games(path, "white,result").read_all().to_pydict() == {"white": ["a", "b"], "result": ["1-0", None]}
    other = tmp_path / "other.parquet"
    parquet.write_table(pa.table({"White": columns["White"], "x": columns["moves"], "y": columns["start_fen"]}), other)
    named = {"moves_column": "x", "start_column": "y"}
    assert lanefish.scan(other, "game,ply,white", **named).read_all().to_pydict() == expected
    assert lanefish.stats(other, **named)["positions"] == 6
    with pytest.raises(lanefish.Error, match="has neither positions .* nor games"):
        lanefish.stats(other)
    with pytest.raises(ValueError, match="moves_column and start_column are for rows with games"):
        lanefish.stats(other, fen_column="y", **named)


def test_games_are_chosen_in_every_format(tmp_path):
    pgn = tmp_path / "two.pgn"
    elos = [(2100, 2200), (1500, 2200)]
    game = '[WhiteElo "{}"]\n[BlackElo "{}"]\n\n1. e4 e5 2. Nf3 *\n\n'
    pgn.write_text("".join(game.format(*elo) for elo in elos))
    chosen = {"min_elo": 2000, "plies": (1, None), "every": 2}
    for name in ["two.boards", "two.parquet", "two.arrow"]:
        path = tmp_path / name
        lanefish.convert(pgn, path)
        for file in [pgn, path]:
            found = lanefish.scan(file, "game,ply", games=chosen).read_all().to_pydict()
            assert found == {"game": [0, 0], "ply": [1, 3]}
            assert lanefish.stats(file, games=chosen)["positions"] == 2
        back = tmp_path / ("chosen-" + name)
        assert lanefish.convert(path, back, games=chosen)["records"] == 2
    # Every form of a result that is read in PGN.
    for result, positions in [("1:0", 0), (["½-½", "unknown"], 8), ("*", 8)]:
        assert lanefish.stats(pgn, games={"result": result})["positions"] == positions
    fen = tmp_path / "one.fen"
    fen.write_text("8/8/8/8/8/8/6k1/4K2R w K - 0 1\n")
    with pytest.raises(lanefish.Error, match="one.fen.*white_elo"):
        lanefish.stats(fen, games={"min_elo": 1})
    for wrong in [{"elo": 1}, {"since": "yesterday"}, {"every": 0}, {"plies": (3, 2)}, {"result": "won"}]:
        with pytest.raises(ValueError):
            lanefish.stats(fen, games=wrong)
    with pytest.raises(TypeError):
        lanefish.stats(fen, games={"min_elo": "high"})


def test_games_are_chosen_by_their_positions(tmp_path):
    pgn = tmp_path / "three.pgn"
    pgn.write_text("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n1. d4 d5 *\n\n1. e4 f5 2. Qh5+ g6 3. Qxg6+ hxg6 *\n\n")
    boards = tmp_path / "three.boards"
    lanefish.convert(pgn, boards)
    for path in [pgn, boards]:
        games = lambda having, **more: sorted(
            set(lanefish.scan(path, "game", having=having, **more).read_all().to_pydict()["game"])
        )
        assert games("in_check") == [0, 2]
        assert games([("having", "in_check"), ("then", "in_check")]) == [2]
        assert games([("having", "move_checks"), ("next", "c"), ("next", "c")], let={"c": "in_check"}) == []
        assert games("on('d4', 'P')", games={"plies": (1, 1)}) == [1]
        assert lanefish.stats(path, having="checkmate")["positions"] == 6
    for wrong in ["in_chek", [("then", "in_check")], [("having", "in_check"), ("having", "quiet")]]:
        with pytest.raises(lanefish.Error, match="having"):
            lanefish.scan(pgn, "game", having=wrong)
    with pytest.raises(ValueError, match="'after'|\"after\""):
        lanefish.scan(pgn, "game", having=[("after", "in_check")])


def test_conditions_samples_and_names(tmp_path):
    path = str(tmp_path / "games.pgn")
    with open(path, "w") as file:
        file.write("[Event \"a\"]\n\n" + "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 1-0\n\n")
    scan = lanefish.scan(path, "index,half", let={"half": "ply / 2.0"}, where="half > 1 and not move_captures")
    assert scan.read_all().to_pydict() == {"index": [3, 4, 5], "half": [1.5, 2.0, 2.5]}
    assert lanefish.stats(path, where="ply >= 4")["positions"] == 5
    taken = [lanefish.scan(path, "index", sample=sample, seed=2).read_all().to_pydict()["index"] for sample in (0.5, "50%")]
    drawn = lanefish.scan(path, "index", where="uniform(index, 2) < 0.5").read_all().to_pydict()["index"]
    assert taken == [drawn, drawn] and 0 < len(drawn) < 8
    assert len(lanefish.scan(path, "index", sample=3).read_all().to_pydict()["index"]) == 3
    boards = str(tmp_path / "set.boards")
    lanefish.convert(path, boards, where="ply < 3", let={"n": 7}, set={"score": "ply * n"})
    assert lanefish.scan(boards, "score").read_all().to_pydict() == {"score": [0, 7, 14]}
    for wrong in [{"where": "plyy > 1"}, {"where": "ply"}, {"sample": 0}, {"sample": 1.5}, {"let": {"ply": "1"}}]:
        with pytest.raises(lanefish.Error):
            lanefish.scan(path, "index", **wrong)
    with pytest.raises(lanefish.Error):
        lanefish.convert(path, boards, overwrite=True, set={"fen": "1"})
