"""The examples in the chapters of the documentation."""

import re
import shutil

import lanefish
from conftest import START, TOP


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
