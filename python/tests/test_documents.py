"""The examples in the chapters of the documentation."""

import re
import shutil

import lanefish
import pytest
from conftest import START, TOP, package
from lanefish._lanefish import _HAS_SQL as HAS_SQL


def test_examples_of_the_chapter_on_columns(tmp_path, monkeypatch):
    text = (TOP / "docs" / "columns.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for name, sample in [
        ("games.pgn", "lichess-2025-05.pgn"),
        ("train.boards", "sample.boards"),
        ("a.epd", "famous.epd"),
    ]:
        shutil.copy(TOP / "data" / sample, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(block, {"lanefish": lanefish, "frame": {"fen": [START, "rubbish"]}})
    assert (tmp_path / "a.boards").exists()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that examples name, in the current directory."""
    for name, sample in [
        ("games.pgn", "lichess-2025-05.pgn"),
        ("a.epd", "famous.epd"),
    ]:
        shutil.copy(TOP / "data" / sample, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks_of(*name):
    return re.findall(r"^```python\n(.*?)^```$", TOP.joinpath(*name).read_text(), re.MULTILINE | re.DOTALL)


def test_lists_of_moves(folder):
    (block,) = blocks_of("docs", "legal-moves.md")
    names = {}
    exec(block, names)
    assert names["masks"].to_pylist()


@pytest.mark.skipif(not HAS_SQL, reason="SKIPPED: this wheel has no sql")
def test_queries(folder):
    pl = package("polars")
    names = {"frame": pl.DataFrame({"id": [1], "fen": [START]})}
    (block,) = blocks_of("docs", "sql.md")
    exec(block, names)
    assert names["moves"].to_pydict() == {"id": [1], "moves": [20]} and len(names["mates"]["fen"]) > 0
    block = blocks_of("python", "README.md")[2].replace("games.pgn.zst", "games.pgn")
    exec(block, {"lanefish": lanefish, "polars": pl, "start": START})


def test_the_first_network(tmp_path, monkeypatch):
    """The network of the chapter learns something from the positions that it chooses."""
    text = (TOP / "docs" / "first-network.md").read_text()
    (block,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    condition = "score is not null and result is not null and move is not null and not in_check and not move_captures"
    lanefish.convert(TOP / "data" / "lichess-2025-05.pgn", "quiet.boards", where=condition, allow_loss=True)
    lanefish.shuffle("quiet.boards", "mixed.boards", seed=1)
    columns = ["features:chess768:stm", "features:chess768:nstm", "stm_score", "won"]
    won = {"won": "case stm_result when 'win' then 1.0 when 'draw' then 0.5 else 0.0 end"}
    batch = next(lanefish.scan("mixed.boards", columns, pad=32, batch_size=256, cycle=True, let=won))
    assert batch.column(columns[0]).shape == (256, 32) and batch.column("won").shape == (256,)
    package("torch")
    names = {}
    exec(block, names)
    assert names["loss"].item() < 0.05
