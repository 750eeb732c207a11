"""Arrow data in memory as an input: rows that are games or positions, in scan, games, stats, convert and compute."""

import json

import pytest
from conftest import START, TOP, package

import lanefish

GAMES = TOP / "data" / "lichess-2025-05.pgn"
NAMES = "game,ply,fen,move,score,clock,white,white_elo,date"


@pytest.fixture(scope="module")
def tables(command, tmp_path_factory):
    """The games of the sample as tables of pyarrow, one for each way to write moves."""
    pq = package("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("tables")

    def written(form):
        path = folder / f"{form}.parquet"
        command("games", GAMES, "-o", path, "--moves", form)
        return pq.read_table(path).replace_schema_metadata()

    return {form: written(form) for form in ["movetext", "uci", "san", "aix"]}


def rows(scan):
    return scan.read_all().to_pydict()


@pytest.mark.parametrize("form", ["movetext", "uci", "san", "aix"])
def test_games_of_a_table_are_those_of_the_dump(tables, form):
    names = NAMES if form in ["movetext", "aix"] else NAMES.replace(",score,clock", "")
    expected = rows(lanefish.scan(GAMES, names))
    for threads in [1, 2]:
        assert rows(lanefish.scan(tables[form], names, threads=threads)) == expected
    assert lanefish.compute(tables[form], names).to_pydict() == expected
    assert rows(lanefish.games(tables[form], "game,result,plies")) == rows(lanefish.games(GAMES, "game,result,plies"))
    chosen = {"where": "in_check and white_elo > 1000", "games": {"plies": (10, None)}}
    assert rows(lanefish.scan(tables[form], names, **chosen)) == rows(lanefish.scan(GAMES, names, **chosen))


def test_statistics_are_those_of_the_dump(tables):
    of_file, of_table = lanefish.stats(GAMES), lanefish.stats(tables["movetext"])
    for name in ["positions", "legal_moves", "results", "games"]:
        assert of_table.get(name) == of_file.get(name), name


def test_convert_takes_a_table(tables, tmp_path):
    done = lanefish.convert(tables["uci"], tmp_path / "x.boards")
    assert done["records"] == lanefish.stats(GAMES)["positions"]
    assert lanefish.stats(tmp_path / "x.boards")["positions"] == done["records"]


def test_any_types_and_chunks(tables):
    pa = package("pyarrow")
    moves = tables["uci"]["moves"].to_pylist()
    expected = rows(lanefish.scan(GAMES, "game,ply,fen"))
    lists = [text.split() for text in moves]
    types = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
    arrays = [pa.array(moves, type) for type in types]
    arrays += [pa.array(lists, pa.list_(type)) for type in [pa.string(), pa.large_string()]]
    arrays += [pa.array(lists, pa.large_list(pa.string()))]
    for array in arrays:
        chunks = pa.chunked_array([array[:3], array[3:3], array[3:]])
        table = pa.table({"moves": chunks, "other": pa.chunked_array([pa.array([{"a": [1]}] * len(array))])})
        assert rows(lanefish.scan(table, "game,ply,fen")) == expected, array.type
        named = table.rename_columns(["my moves", "other"])
        assert rows(lanefish.scan(named, "game,ply,fen", moves_column="my moves")) == expected
        assert lanefish.compute(named, "game,ply,fen", moves_column="my moves").to_pydict() == expected
    # The dictionary of a chunk may be another one than that before.
    parts = [pa.array(part, types[-1]) for part in [moves[:5], moves[5:]]]
    assert rows(lanefish.scan(pa.table({"moves": pa.chunked_array(parts)}), "game,ply,fen")) == expected


def test_frames_of_other_packages(tables):
    expected = rows(lanefish.scan(GAMES, "game,ply,fen"))
    polars = package("polars")
    assert rows(lanefish.scan(polars.DataFrame(tables["uci"]), "game,ply,fen")) == expected
    frame = polars.DataFrame(tables["uci"]).with_columns(polars.col("moves").str.split(" "))
    assert rows(lanefish.scan(frame, "game,ply,fen")) == expected
    pandas = package("pandas")
    if hasattr(pandas.DataFrame, "__arrow_c_stream__"):
        assert rows(lanefish.scan(tables["uci"].to_pandas(), "game,ply,fen")) == expected


def test_positions_in_memory(sample, tmp_path):
    pa = package("pyarrow")
    path = tmp_path / "x.fen"
    path.write_text("\n".join(sample) + "\n")
    expected = rows(lanefish.scan(path, "index,legal_moves"))
    fens = pa.array(sample)
    for data in [fens, pa.chunked_array([fens[:100], fens[100:]]), pa.table({"fen": fens})]:
        assert rows(lanefish.scan(data, "index,legal_moves")) == expected
    # A stream of this package is one as well.
    stream = lanefish.scan(path, "fen")
    assert rows(lanefish.scan(stream, "index,legal_moves")) == expected
    assert json.dumps(lanefish.stats(pa.table({"fen": fens}))["legal_moves"]) == json.dumps(
        lanefish.stats(path)["legal_moves"]
    )


def test_what_is_wrong_is_said(tables):
    pa = package("pyarrow")
    bad = pa.table({"uci": ["e2e4 e7e5", "e2e5", None, "d2d4"]})
    with pytest.raises(lanefish.Error, match="game 1, ply 0"):
        lanefish.compute(bad, "game,ply")
    found = lanefish.compute(bad, "game,ply", on_bad="skip")
    assert found.to_pydict()["game"] == [0, 0, 0, 1, 3, 3]
    with pytest.raises(ValueError, match="a row is a game|each row is a game"):
        lanefish.compute(bad, "game,ply", on_bad="null")
    with pytest.raises(ValueError, match="fen_column"):
        lanefish.compute(bad, "game", fen_column="uci", moves_column="uci")
    with pytest.raises(lanefish.Error, match="neither positions"):
        lanefish.scan(pa.table({"a": [1]}), "fen").read_all()
    with pytest.raises(lanefish.Error, match="no column"):
        lanefish.scan(tables["uci"], "fen", moves_column="nothing").read_all()
    with pytest.raises(TypeError, match="Arrow data"):
        lanefish.scan(3, "fen")


def test_tables_become_frames_and_arrays():
    table = lanefish.scan(GAMES, "ply,san,score,in_check").read_all()
    expected = table.to_pydict()
    numpy = package("numpy")
    arrays = table.to_numpy()
    assert list(arrays) == ["ply", "san", "score", "in_check"]
    assert arrays["ply"].dtype.kind == "i" and arrays["ply"].tolist() == expected["ply"]
    assert arrays["score"].dtype.kind == "f" and arrays["in_check"].dtype.kind == "b"
    missing = [value is None for value in expected["score"]]
    assert numpy.isnan(arrays["score"]).tolist() == missing and any(missing) and not all(missing)
    assert arrays["san"].tolist() == expected["san"]
    # Floats would not have room for all bits.
    masks = lanefish.compute([START, START], "white_king_mask,black_king_mask").to_numpy()
    assert {name: (str(array.dtype), array.tolist()) for name, array in masks.items()} == {
        "white_king_mask": ("uint64", [1 << 4] * 2),
        "black_king_mask": ("uint64", [1 << 60] * 2),
    }
    keys = lanefish.compute([START, "nonsense"], "key", on_bad="null")
    assert keys.to_numpy()["key"].tolist() == keys["key"] and keys["key"][1] is None
    # As one object, a table would be of no use.
    with pytest.raises(TypeError, match="to_pandas"):
        numpy.asarray(table)
    pandas = package("pandas")
    frame = table.to_pandas()
    assert list(frame.columns) == list(expected) and frame["ply"].tolist() == expected["ply"]
    assert lanefish.scan(GAMES, "ply").to_pandas()["ply"].tolist() == expected["ply"]
    try:
        assert pandas.DataFrame(table).shape == (len(table), 4)
    except TypeError as error:
        assert "to_pandas" in str(error)
    polars = package("polars")
    assert table.to_polars().to_dict(as_series=False) == expected
    assert lanefish.scan(GAMES, "ply,san", limit=200).to_polars().shape == (200, 2)
    assert isinstance(table.to_polars(), polars.DataFrame)


@pytest.mark.parametrize("file", ["sample.epd", "famous.epd"])
def test_planes_of_the_readme(monkeypatch, tmp_path, file):
    numpy = package("numpy")
    text = (TOP / "python" / "README.md").read_text()
    block = text.split("```python\n")[2].split("```")[0]
    (tmp_path / "a.epd").write_bytes((TOP / "data" / file).read_bytes())
    monkeypatch.chdir(tmp_path)
    names = {"numpy": numpy, "lanefish": lanefish}
    exec(block, names)
    fens = lanefish.scan("a.epd", "fen").read_all()["fen"]
    assert names["planes"].shape == (len(fens), 12, 8, 8)
    for fen, planes in zip(fens[:300], names["planes"]):
        ranks = fen.split()[0].split("/")[::-1]
        rows = ["".join("." * int(letter) if letter.isdigit() else letter for letter in rank) for rank in ranks]
        for plane, piece in zip(planes, "PNBRQKpnbrqk"):
            assert [[int(letter == piece) for letter in row] for row in rows] == plane.tolist()


def test_convert_says_what_was_written(tmp_path):
    every = lanefish.stats(GAMES)["positions"]
    done = lanefish.convert(GAMES, tmp_path / "a.boards", where="quiet")
    quiet = lanefish.stats(tmp_path / "a.boards")["positions"]
    assert 0 < quiet < every
    assert (done["records"], done["written"]) == (every, quiet)
    assert done["left_out"] == {"where": {"games": 0, "positions": every - quiet}}
    assert done["lost_tags"]
    done = lanefish.convert(GAMES, tmp_path / "b.boards", games={"min_elo": 1500, "every": 3}, limit=100)
    assert done["written"] == lanefish.stats(tmp_path / "b.boards")["positions"] <= 100


def test_misspelt_columns_are_recognized():
    with pytest.raises(lanefish.Error, match="did you mean `san`"):
        lanefish.scan(GAMES, "sann")
    with pytest.raises(lanefish.Error, match="did you mean `white_elo`"):
        lanefish.games(GAMES, "white_eloo")
