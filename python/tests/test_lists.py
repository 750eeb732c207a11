"""Columns of lists, and batches for trainers."""

import time

import pytest
from conftest import START, TOP, package

import lanefish

SAMPLE = TOP / "data" / "sample.boards"
SETS = ["features:halfka_v2_hm:white", "features:halfka_v2_hm:black"]


def rows(batches, names):
    """The rows of all batches as tuples, in their order."""
    found = []
    for batch in batches:
        columns = batch.to_pydict()
        found.extend(zip(*(map(tuple, columns[name]) if name in SETS else columns[name] for name in names)))
    return found


def test_lists_are_python_lists(command):
    computed = lanefish.compute([START, "8/8/8/8/8/5k2/5p2/5K2 w - - 0 1"], ["legal_moves_uci", "legal_moves_u16"])
    table = computed.to_pydict()
    assert len(table["legal_moves_uci"][0]) == 20 and table["legal_moves_uci"][0][0] == "b1a3"
    assert table["legal_moves_u16"][0][0] == 1 | 16 << 6
    assert table["legal_moves_uci"][1] == []
    names = "legal_moves_uci,policy_mask:lc0,features:threats:sfnnv16:stm"
    found = lanefish.scan(SAMPLE, names).read_all().to_pydict()
    lines = command("compute", SAMPLE, "--columns", names, "--format", "csv").splitlines()[1:]
    joined = [",".join(" ".join(map(str, items)) for items in row) for row in zip(*found.values())]
    assert joined == lines
    bad = lanefish.compute([START, "nonsense"], "legal_moves_uci", on_bad="null")
    assert bad["legal_moves_uci"][1] is None


def test_lists_go_to_packages():
    pa = package("pyarrow")
    table = pa.table(lanefish.scan(SAMPLE, ["legal_moves_uci", "legal_moves_u16", *SETS]))
    assert table.schema.field("legal_moves_uci").type == pa.list_(pa.field("element", pa.string()))
    assert table.schema.field("legal_moves_u16").type == pa.list_(pa.field("element", pa.uint16()))
    assert table.schema.field(SETS[0]).type == pa.list_(pa.field("element", pa.int32()))
    assert table.num_rows == 3000 or table.num_rows > 1000
    table.validate(full=True)


def test_batches_have_the_size(sample):
    path = TOP / "data" / "sample.epd"
    whole = lanefish.scan(path, ["index", "fen"]).read_all().to_pydict()
    for size in (1, 7, 64, 1000, 10**6):
        batches = list(lanefish.scan(path, ["index", "fen"], batch_size=size))
        sizes = [len(batch) for batch in batches]
        assert all(found == size for found in sizes[:-1]) and 0 < sizes[-1] <= size
        found = [value for batch in batches for value in batch.to_pydict()["fen"]]
        assert found == whole["fen"]


def test_padded_lists():
    names = ["index", *SETS]
    plain = rows(lanefish.scan(SAMPLE, names), names)
    for threads in (1, 3):
        batches = list(lanefish.scan(SAMPLE, names, batch_size=100, pad=32, threads=threads))
        assert batches[0].column(SETS[0]).shape == (100, 32)
        padded = rows(batches, names)
        assert len(padded) == len(plain)
        for (index, *lists), (number, *others) in zip(plain, padded):
            assert index == number
            for items, filled in zip(lists, others):
                assert filled == items + (-1,) * (32 - len(items))
    one = next(lanefish.scan(SAMPLE, names, batch_size=5, pad={SETS[0]: 40}))
    assert one.column(SETS[0]).shape == (5, 40) and one.column(SETS[1]).shape == (5,)


def test_columns_are_arrays_without_a_copy():
    numpy = package("numpy")
    names = [*SETS, "stm_score", "legal_moves", "fen", "result"]
    batch = next(lanefish.scan(SAMPLE, names, batch_size=64, pad=32))
    column = batch.column(SETS[0])
    array = numpy.asarray(column)
    assert array.shape == (64, 32) and array.dtype == numpy.int32
    assert array.tolist() == column.to_pylist()
    assert array.__array_interface__["data"][0] == column.__array_interface__["data"][0]
    assert numpy.from_dlpack(column).tolist() == column.to_pylist()
    assert numpy.shares_memory(numpy.from_dlpack(column), array)
    moves = numpy.asarray(batch.column("legal_moves"))
    assert moves.dtype == numpy.int32 and moves.tolist() == batch.to_pydict()["legal_moves"]
    assert numpy.asarray(batch.column("fen")).tolist() == batch.to_pydict()["fen"]
    assert not hasattr(batch.column("fen"), "__array_interface__")
    # The array keeps what it shows.
    del batch, column
    again = next(lanefish.scan(SAMPLE, names, batch_size=64, pad=32)).column(SETS[0])
    assert array.tolist() == again.to_pylist()
    empty = lanefish.scan(SAMPLE, names, batch_size=64, pad=32, where="pieces > 99")
    assert list(empty) == []
    with pytest.raises(KeyError):
        next(lanefish.scan(SAMPLE, "fen")).column("beauty")


def test_torch_takes_columns():
    torch = package("torch")
    batch = next(lanefish.scan(SAMPLE, SETS, batch_size=64, pad=32))
    tensor = torch.from_dlpack(batch.column(SETS[0]))
    assert tuple(tensor.shape) == (64, 32) and tensor.tolist() == batch.column(SETS[0]).to_pylist()


def test_shuffled_rows_are_all_there():
    plain = [index for batch in lanefish.scan(SAMPLE, "index") for index in batch.to_pydict()["index"]]
    orders = {}
    for seed in (1, 2):
        for buffer in (1, 50, 10**6):
            for threads in (1, 4):
                scan = lanefish.scan(SAMPLE, "index", shuffle_buffer=buffer, seed=seed, batch_size=77, threads=threads)
                found = [index for batch in scan for index in batch.to_pydict()["index"]]
                assert sorted(found) == plain
                assert orders.setdefault((seed, buffer), found) == found
    assert orders[1, 50] != orders[2, 50] and orders[1, 10**6] != orders[2, 10**6] != plain
    # Within a buffer of 50 rows, a row comes at most 49 places too early.
    assert all(index - place < 50 for place, index in enumerate(orders[1, 50]))
    lists = lanefish.scan(SAMPLE, ["index", *SETS], shuffle_buffer=50, seed=1, batch_size=77, pad=32)
    assert [row[0] for row in rows(lists, ["index", *SETS])] == orders[1, 50]


def test_cycles():
    plain = [index for batch in lanefish.scan(SAMPLE, "index") for index in batch.to_pydict()["index"]]
    scan = lanefish.scan(SAMPLE, "index", cycle=True, batch_size=100)
    found = []
    while len(found) < 3 * len(plain):
        batch = next(scan)
        assert len(batch) == 100
        found.extend(batch.to_pydict()["index"])
    scan.close()
    assert found[: 3 * len(plain)] == 3 * plain
    assert next(scan, None) is None
    scan = lanefish.scan(SAMPLE, "index", cycle=True, batch_size=100, shuffle_buffer=10**6, seed=5)
    epochs = [index for _ in range(2 * len(plain) // 100) for index in next(scan).to_pydict()["index"]]
    first = epochs[: len(plain)]
    assert sorted(first) == plain and first != epochs[len(plain) : 2 * len(plain)]
    with pytest.raises(lanefish.Error, match="no records to repeat"):
        next(lanefish.scan(SAMPLE, "index", cycle=True, batch_size=100, where="pieces > 99"))


def test_frames_cycle_too():
    pa = package("pyarrow")
    table = pa.table({"fen": [START, "8/8/8/8/8/8/6k1/4K2R w K - 0 1"]})
    scan = lanefish.scan(table, ["legal_moves"], cycle=True, batch_size=3)
    assert [next(scan).to_pydict()["legal_moves"] for _ in range(2)] == [[20, 12, 20], [12, 20, 12]]


def test_shards_of_workers():
    names = ["index"]
    plain = rows(lanefish.scan(SAMPLE, names), names)
    shares = [rows(lanefish.scan(SAMPLE, names, shard=f"{share}/3", batch_size=50), names) for share in range(3)]
    assert len(plain) == sum(map(len, shares))


def test_what_does_not_fit():
    with pytest.raises(lanefish.Error, match=r"row \d+ has \d+ items in the column features:.*padded to 3"):
        list(lanefish.scan(SAMPLE, SETS, batch_size=10, pad=3))
    for keywords, message in [
        ({"pad": {"fen": 3}}, "does not have lists of numbers"),
        ({"pad": {"beauty": 3}}, "is not one of the columns"),
        ({"pad": 0}, "at least 1"),
        ({"batch_size": 0}, "at least 1"),
        ({"shuffle_buffer": 0}, "at least 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            lanefish.scan(SAMPLE, ["fen", *SETS], **keywords)
    with pytest.raises(lanefish.Error, match="there is no set of features `halfpk`"):
        lanefish.scan(SAMPLE, "features:halfpk:white")
    with pytest.raises(lanefish.Error, match="sides are white, black, stm, nstm"):
        lanefish.scan(SAMPLE, "features:halfkp:left")


def test_a_scan_that_is_left_ends():
    scan = lanefish.scan(SAMPLE, SETS, batch_size=10, pad=32, cycle=True, shuffle_buffer=100)
    next(scan)
    begin = time.monotonic()
    del scan
    assert time.monotonic() - begin < 5
