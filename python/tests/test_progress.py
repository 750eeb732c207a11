"""Progress on standard error."""

import sys
import types

import pytest
from conftest import TOP

import lanefish
from lanefish import _progress

SAMPLE = TOP / "data" / "sample.epd"


@pytest.fixture
def lines(monkeypatch, capsys):
    """What was written to standard error since the last call, without tqdm."""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    return lambda: capsys.readouterr().err.splitlines()


def test_it_is_off_by_default(lines, tmp_path):
    lanefish.stats(SAMPLE)
    lanefish.scan(SAMPLE).read_all()
    lanefish.convert(SAMPLE, tmp_path / "a.boards")
    assert lines() == []


def test_lines_without_tqdm(lines, tmp_path):
    records = len(lanefish.scan(SAMPLE, "index").read_all())
    boards, pgn = tmp_path / "a.boards", TOP / "data" / "lichess-2025-05.pgn"
    calls = {
        "stats": lambda: lanefish.stats(SAMPLE, progress=True),
        "verify": lambda: lanefish.verify(SAMPLE, progress=True),
        "scan": lambda: lanefish.scan(SAMPLE, "index", progress=True).read_all(),
        "convert": lambda: lanefish.convert(SAMPLE, boards, progress=True),
        "shuffle": lambda: lanefish.shuffle(SAMPLE, tmp_path / "b.boards", progress=True),
        "interleave": lambda: lanefish.interleave([SAMPLE, boards], tmp_path / "c.boards", progress=True),
        "split": lambda: lanefish.split(SAMPLE, tmp_path / "{part}.boards", "x=0.5,y=0.5", progress=True),
        "dedup": lambda: lanefish.dedup(SAMPLE, progress=True),
        "games": lambda: lanefish.games(pgn, progress=True).read_all(),
    }
    for name, call in calls.items():
        call()
        last = lines()[-1]
        assert last.startswith(f"lanefish.{name}: "), name
        assert " records, 100% of " in last and last.endswith(" s"), last
        if name in ["stats", "verify", "scan", "convert"]:
            assert f": {records:,} records, " in last


def test_a_scan_that_is_left(lines):
    with lanefish.scan(SAMPLE, "index", progress=True) as scan:
        next(scan)
    assert lines()[-1].startswith("lanefish.scan: ")
    scan.close()
    assert lines() == []


def test_a_line_each_second(lines, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    shown = _progress.begin("stats", 4_000_000)
    for now[0], read in [(0.5, 1), (1.0, 1_000_000), (1.9, 2_000_000), (2.0, 3_000_000)]:
        shown.show(read, 1234)
    now[0] = 2.5
    shown.show(4_000_000, 5000)
    shown.finish()
    assert lines() == [
        "lanefish.stats: 1,234 records read, 25% of 4.0 MB, 1.0 s",
        "lanefish.stats: 1,234 records read, 75% of 4.0 MB, 2.0 s",
        "lanefish.stats: 5,000 records, 100% of 4.0 MB, 2.5 s",
    ]


def test_a_bar_of_tqdm(monkeypatch):
    """A module with the interface of tqdm, which need not be installed."""
    made = []

    class Bar:
        def __init__(self, total, desc, unit, unit_scale):
            self.n, self.total, self.desc, self.is_closed = 0, total, desc, False
            made.append(self)

        def set_postfix_str(self, text, refresh):
            self.text = text

        def update(self, more):
            self.n += more

        def reset(self):
            self.n = 0

        def close(self):
            self.is_closed = True

    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    records = len(lanefish.scan(SAMPLE, "index").read_all())
    lanefish.stats(SAMPLE, progress=True)
    (bar,) = made
    assert (bar.desc, bar.n, bar.total, bar.is_closed) == ("lanefish.stats", *[SAMPLE.stat().st_size] * 2, True)
    assert bar.text == f"{records:,} records"
    # An error of the bar is an error of the call.
    monkeypatch.setattr(Bar, "close", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lanefish.stats(SAMPLE, progress=True)
