"""Rows of games: those of the command `games`."""

import csv

import pytest
from conftest import TOP, package

import lanefish

GAMES = TOP / "data" / "lichess-2025-05.pgn"
NAMES = "game,white,black,white_elo,result,plies,outcome,fen,tag:UTCDate,error"
MATCHES = ["match_plies", "first_match", "last_match", "match_count"]

# Keywords, and the same as options.
CHOICES = [
    ({}, []),
    ({"having": "in_check"}, ["--having", "in_check"]),
    (
        {"having": [("having", "c"), ("then", "c"), ("next", "move_captures")], "let": {"c": "in_check"}},
        ["--let", "c=in_check", "--having", "c", "--then", "c", "--next", "move_captures"],
    ),
    ({"where": "mean_elo >= 1500 and plies > 40"}, ["--where", "mean_elo >= 1500 and plies > 40"]),
    ({"where": "w", "let": {"w": "white_elo > 1500"}}, ["--let", "w=white_elo > 1500", "--where", "w"]),
    ({"games": {"min_elo": 1400, "result": ["1-0", "0-1"]}}, ["--min-elo", "1400", "--result", "1-0,0-1"]),
    (
        {"games": {"max_elo": 1900}, "where": "result = '1-0'", "having": "move_castles"},
        ["--max-elo", "1900", "--where", "result = '1-0'", "--having", "move_castles"],
    ),
    ({"skip": 3, "limit": 4}, ["--skip", "3", "--limit", "4"]),
    ({"having": "in_check", "skip": 1, "limit": 2}, ["--having", "in_check", "--skip", "1", "--limit", "2"]),
    ({"validity": "strict", "from_format": "pgn"}, ["--validity", "strict", "--from", "pgn"]),
]


def as_csv(stream):
    """The rows of a stream as lists of texts, with the names of the columns first."""
    columns = stream.read_all().to_pydict()
    text = lambda value: "" if value is None else str(value)
    return [list(columns), *([text(value) for value in row] for row in zip(*columns.values()))]


@pytest.fixture
def damaged(tmp_path):
    """Three games; the second one cannot be read to its end."""
    path = tmp_path / "damaged.pgn"
    path.write_text('[White "a"]\n\n1. e4 e5 *\n\n[White "b"]\n\n1. e4 e4 *\n\n[White "c"]\n\n1. d4 d5 2. c4 1-0\n')
    return path


@pytest.mark.parametrize("keywords, options", CHOICES)
def test_rows_are_those_of_the_command_line(keywords, options, command):
    names = NAMES.split(",") + (MATCHES if "having" in keywords else [])
    expected = list(csv.reader(command("games", GAMES, "--columns", ",".join(names), *options).splitlines()))
    assert len(expected) > 1
    for threads in [1, 2]:
        assert as_csv(lanefish.games(GAMES, names, threads=threads, **keywords)) == expected
    assert as_csv(lanefish.games([GAMES], ",".join(names), **keywords)) == expected


@pytest.mark.parametrize("keywords, options", CHOICES)
@pytest.mark.parametrize("columns", [None, "all"])
def test_tables_are_those_of_the_command_line(columns, keywords, options, command, tmp_path):
    pa = package("pyarrow")
    path = tmp_path / "expected.arrow"
    command("games", GAMES, "-o", path, *options, *(["--columns", columns] if columns else []))
    expected = pa.ipc.open_file(path).read_all()
    found = pa.table(lanefish.games(GAMES, columns, **keywords))
    assert found.equals(expected)
    assert (found.column_names[-4:] == MATCHES) == ("having" in keywords)


def test_shares_are_all_games():
    for keywords in [{}, {"having": "in_check"}]:
        whole = as_csv(lanefish.games(GAMES, "white,plies,fen", **keywords))[1:]
        shares = [as_csv(lanefish.games(GAMES, "white,plies,fen", shard=f"{i}/3", **keywords))[1:] for i in range(3)]
        assert len(whole) > 1 and sum(shares, []) == whole


def test_damaged_games(damaged, command):
    expected = list(csv.reader(command("games", damaged).splitlines()))
    for threads in [1, 2]:
        games = lanefish.games(damaged, on_bad="skip", threads=threads)
        assert as_csv(games) == expected
        assert games.rejected == 1 and games.records == 10 and len(games.rejects) == 1
    found = lanefish.games(damaged, "game,plies,error", on_bad="skip").read_all().to_pydict()
    assert found == {"game": [0, 1, 2], "plies": [2, 1, 3], "error": [None, "illegal move `e4`", None]}
    with pytest.raises(lanefish.Error, match="illegal move") as caught:
        lanefish.games(damaged).read_all()
    assert caught.value.line == 7 and caught.value.path == str(damaged)
    assert lanefish.games(damaged, "game", limit=1).read_all()["game"] == [0]
    dropped = lanefish.games(damaged, "game", on_bad="skip", games={"drop_bad_games": True})
    assert dropped.read_all()["game"] == [0, 2]


def test_an_error_comes_after_the_batches_before_it(damaged, tmp_path):
    good = "1. e4 e5 *\n\n" * 300_000
    path = tmp_path / "late.pgn"
    path.write_text(good + damaged.read_text())
    games = lanefish.games(path, "game")
    found = []
    with pytest.raises(lanefish.Error, match="illegal move"):
        for batch in games:
            found.extend(batch.to_pydict()["game"])
    assert found == list(range(len(found))) and 0 < len(found) <= 300_001


@pytest.mark.parametrize("name", ["games.boards", "games.parquet", "games.arrow"])
def test_games_of_records(name, command, tmp_path):
    path = tmp_path / name
    lanefish.convert(GAMES, path)
    names = "game,white,result,plies,fen"
    for keywords, options in CHOICES[:3] + CHOICES[5:6]:
        expected = list(csv.reader(command("games", path, "--columns", names, *options).splitlines()))
        assert len(expected) > 1
        assert as_csv(lanefish.games(path, names, **keywords)) == expected


def test_inputs_without_games():
    with pytest.raises(lanefish.Error, match="sample.boards has no games"):
        lanefish.games(TOP / "data" / "sample.boards").read_all()


def test_options_that_choose_among_positions_are_errors():
    refused = [{"sample": 0.5}, {"seed": 1}, {"keep_en_passant": True}, {"where": "ply > 3"}, {"where": "plyy > 3"}]
    for keywords in refused:
        with pytest.raises(lanefish.Error, match=next(iter(keywords))):
            lanefish.games(GAMES, **keywords)
    for option in [{"plies": (1, None)}, {"every": 2}, {"last": True}, {"max_per_game": 1}, {"seed": 1}]:
        with pytest.raises(ValueError, match="one row per whole game"):
            lanefish.games(GAMES, games=option)
        lanefish.scan(GAMES, games=option)


def test_errors_of_sequences_name_the_condition():
    for having, place in [
        ("in_chek", "having: having: .*in_chek"),
        ([("having", "true"), ("then", "in_chek")], "having: then: .*in_chek"),
        ([("having", "true"), ("then", "true"), ("next", "in_chek")], "having: next: .*in_chek"),
    ]:
        with pytest.raises(lanefish.Error, match=place):
            lanefish.games(GAMES, having=having)
    with pytest.raises(ValueError, match="after"):
        lanefish.games(GAMES, having=[("after", "in_check")])


def test_columns():
    listed = lanefish.columns(of="games")
    usual = [column["name"] for column in listed if column["default"]]
    assert lanefish.games(GAMES).column_names == usual
    assert lanefish.games(GAMES, having="in_check").column_names == usual + MATCHES
    assert lanefish.games(GAMES, having=[]).column_names == usual
    every = [column["name"] for column in listed[:-1]]
    assert sorted(lanefish.games(GAMES, "all", having="in_check").column_names) == sorted(every)
    assert sorted(lanefish.games(GAMES, "all").column_names) == sorted(set(every) - set(MATCHES))
    assert listed[-1]["name"] == "tag:NAME"
    assert lanefish.games(GAMES, ["tag:UTCDate", "white"]).column_names == ["tag:UTCDate", "white"]
    for name in MATCHES:
        assert lanefish.games(GAMES, name, having="in_check").column_names == [name]
        with pytest.raises(lanefish.Error, match=f"columns: `{name}`"):
            lanefish.games(GAMES, name)
    for wrong in ["legal_moves", "white,white", "", []]:
        with pytest.raises(lanefish.Error, match="columns"):
            lanefish.games(GAMES, wrong)
    assert lanefish.columns() == lanefish.columns(of="positions")
    with pytest.raises(ValueError, match="positions"):
        lanefish.columns(of="records")
