"""Whole data sets: shuffle, interleave, split, dedup, verify do what the commands do."""

import json

import pytest
from conftest import TOP

import lanefish

SAMPLE = TOP / "data" / "sample.epd"
GAMES = TOP / "data" / "lichess-2025-05.pgn"


def written(command, *arguments):
    return json.loads(command(*arguments, "--json"))


def test_shuffle_and_interleave(command, tmp_path):
    for number, (by, path) in enumerate([("record", SAMPLE), ("game", GAMES)]):
        ours, theirs = tmp_path / f"a{number}.boards", tmp_path / f"b{number}.boards"
        done = lanefish.shuffle(path, ours, seed=5, by=by, memory=1 << 20, temp=tmp_path)
        expected = written(command, "shuffle", path, "-o", theirs, "--seed", "5", "--by", by)
        assert ours.read_bytes() == theirs.read_bytes()
        assert done["written"] == expected["written"] == done["records"] - done["rejected"]
        ours, theirs = tmp_path / f"c{number}.boards", tmp_path / f"d{number}.boards"
        done = lanefish.interleave([path, path], ours, seed=5, by=by)
        expected = written(command, "interleave", path, path, "-o", theirs, "--seed", "5", "--by", by)
        assert ours.read_bytes() == theirs.read_bytes() and done["written"] == expected["written"]
    ours, theirs = tmp_path / "e.boards", tmp_path / "f.boards"
    done = lanefish.interleave([SAMPLE, GAMES], ours, weights=[0.3, 0.7], repeat=True)
    expected = written(command, "interleave", SAMPLE, GAMES, "-o", theirs, "--weights", "0.3,0.7", "--repeat")
    assert ours.read_bytes() == theirs.read_bytes()
    assert done["inputs"] == [{name: given[name] for name in ["available", "taken"]} for given in expected["inputs"]]
    with pytest.raises(ValueError, match="1 weights for 2 paths"):
        lanefish.interleave([SAMPLE, GAMES], tmp_path / "x.boards", weights=[1.0])
    with pytest.raises(lanefish.Error, match="exists"):
        lanefish.shuffle(SAMPLE, ours)
    with pytest.raises(lanefish.Error, match="is an input"):
        lanefish.shuffle(ours, ours, overwrite=True)
    with pytest.raises(ValueError, match="by must be"):
        lanefish.shuffle(SAMPLE, tmp_path / "x.boards", by="position")


@pytest.mark.parametrize("by", ["position", "relative", "game", "record"])
def test_split(command, tmp_path, by):
    done = lanefish.split(GAMES, tmp_path / "{part}.boards", {"train": 0.9, "test": "10%"}, by=by, seed=3)
    pattern = tmp_path / "x{part}.boards"
    expected = written(command, "split", GAMES, "-o", pattern, "--parts", "train=0.9,test=0.1", "--by", by, "--seed", 3)
    assert done["parts"] == expected["parts"] and done["written"] == expected["written"]
    for part in done["parts"]:
        assert (tmp_path / f"{part}.boards").read_bytes() == (tmp_path / f"x{part}.boards").read_bytes()
    with pytest.raises(ValueError, match="part"):
        lanefish.split(GAMES, tmp_path / "a.boards", "train=1")
    with pytest.raises(lanefish.Error, match="not the whole"):
        lanefish.split(GAMES, tmp_path / "y{part}.boards", "train=0.5")
    # All files appear, or none.
    with pytest.raises(lanefish.Error, match="exists"):
        lanefish.split(GAMES, tmp_path / "{part}.boards", {"new": 0.5, "train": 0.5})
    assert not (tmp_path / "new.boards").exists()


def test_dedup(command, tmp_path):
    found = lanefish.dedup([SAMPLE, GAMES])
    expected = written(command, "dedup", SAMPLE, GAMES)
    assert found["distinct"] == {name: expected["distinct"][name] for name in found["distinct"]}
    for number, (key, keep) in enumerate([("position", "first"), ("relative", "last"), ("board", "most:ply")]):
        ours, theirs = tmp_path / f"a{number}.boards", tmp_path / f"b{number}.boards"
        done = lanefish.dedup(GAMES, ours, key=key, keep=keep, against=SAMPLE, counts=True)
        options = ["--key", key, "--keep", keep, "--against", SAMPLE, "--counts"]
        expected = written(command, "dedup", GAMES, "-o", theirs, *options)
        assert ours.read_bytes() == theirs.read_bytes()
        assert (done["written"], done["duplicates"]) == (expected["written"], expected["duplicates"])
    for wrong, match in [({"key": "moves"}, "not a key of records"), ({"keep": "most:x"}, "no column")]:
        with pytest.raises(lanefish.Error, match=match):
            lanefish.dedup(GAMES, tmp_path / "x.boards", **wrong)
    with pytest.raises(ValueError, match="for an output"):
        lanefish.dedup(GAMES, counts=True)


def test_verify(command, tmp_path):
    bad = tmp_path / "bad.boards"
    lanefish.convert(SAMPLE, bad)
    content = bytearray(bad.read_bytes())
    content[len(content) // 2] ^= 1
    bad.write_bytes(content)
    for path, options in [(SAMPLE, {}), (TOP / "data", {}), (TOP / "data", {"validity": "playable"}), (bad, {})]:
        found = lanefish.verify(path, **options)
        arguments = [text for name, value in options.items() for text in (f"--{name}", value)]
        expected = command("verify", path, "--json", *arguments)
        assert found == json.loads(expected)
    assert not found["ok"] and found["files"][0]["damage"]
    assert lanefish.verify(GAMES, where="in_check", limit=100)["files"][0]["records"] <= 100
