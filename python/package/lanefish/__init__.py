"""Columns of chess positions as Arrow data: legal moves, checks, attacks, statistics.

>>> import lanefish
>>> start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
>>> lanefish.compute([start], columns=["legal_moves", "in_check"]).to_pydict()
{'legal_moves': [20], 'in_check': [False]}

Data are exchanged with pyarrow, polars, pandas, duckdb and all other packages that have the Arrow PyCapsule interface.
None of them is required.
"""

from ._lanefish import (
    Column,
    Error,
    RecordBatch,
    Scan,
    Table,
    __version__,
    columns,
    compute,
    convert,
    cpu,
    dedup,
    games,
    interleave,
    scan,
    shuffle,
    split,
    sql,
    stats,
    verify,
)

__all__ = [
    "Column",
    "Error",
    "RecordBatch",
    "Scan",
    "Table",
    "__version__",
    "columns",
    "compute",
    "convert",
    "cpu",
    "dedup",
    "games",
    "interleave",
    "scan",
    "shuffle",
    "split",
    "sql",
    "stats",
    "verify",
]
