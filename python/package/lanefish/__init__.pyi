import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Optional, Protocol, TypedDict, Union

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

_Path = Union[str, "os.PathLike[str]"]
_Paths = Union[_Path, Iterable[_Path], "_ArrowArray", "_ArrowStream"]
_Data = Union[_ArrowArray, _ArrowStream, Iterable[Optional[str]]]
_Validity = Literal["playable", "strict"]

class _Column(TypedDict):
    name: str
    type: str
    meaning: str
    default: bool

class _Games(TypedDict, total=False):
    variations: bool
    drop_bad_games: bool
    plies: tuple[int, Optional[int]]
    skip_book: int
    every: int
    last: bool
    max_per_game: int
    seed: int
    min_elo: int
    max_elo: int
    player: str
    time_control: Union[str, Iterable[str]]
    result: Union[str, Iterable[str]]
    min_plies: int
    termination: Union[str, Iterable[str]]
    eco: Union[str, Iterable[str]]
    since: str
    until: str
    variant: Literal["standard", "chess960"]

class _Converted(TypedDict):
    records: int
    rejected: int
    reasons: dict[str, int]
    rejects: list[str]
    notes: list[str]
    written: int
    left_out: dict[str, dict[str, int]]
    lost: dict[str, int]
    lost_tags: dict[str, int]
    placeholders: dict[str, int]
    changed: dict[str, int]

class _Split(_Converted):
    parts: dict[str, int]

__version__: str

class Error(Exception):
    row: Optional[int]
    record: Optional[int]
    line: Optional[int]
    path: Optional[str]
    reasons: Optional[list[str]]
    text: Optional[str]

class RecordBatch:
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def column(self, name: str) -> Column: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...

class Column:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def to_pylist(self) -> list[Any]: ...
    def __array__(self, dtype: Any = None, **keywords: Any) -> Any: ...
    def __dlpack__(self, **keywords: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...

class Table:
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def bad_rows(self) -> list[int]: ...
    @property
    def rejected(self) -> int: ...
    @property
    def rejects(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[RecordBatch]: ...
    def __getitem__(self, name: str) -> list[Any]: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def to_numpy(self) -> dict[str, Any]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

class Scan:
    @property
    def column_names(self) -> list[str]: ...
    @property
    def records(self) -> Optional[int]: ...
    @property
    def rejected(self) -> Optional[int]: ...
    @property
    def rejects(self) -> Optional[list[str]]: ...
    def __iter__(self) -> Scan: ...
    def __next__(self) -> RecordBatch: ...
    def __enter__(self) -> Scan: ...
    def __exit__(self, *_raised: object) -> None: ...
    def read_all(self) -> Table: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def close(self) -> None: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

def compute(
    data: _Data,
    columns: Union[str, Iterable[str], None] = None,
    *,
    on_bad: Literal["raise", "null", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
) -> Table: ...
def scan(
    paths: _Paths,
    columns: Union[str, Iterable[str], None] = None,
    *,
    batch_size: Optional[int] = None,
    pad: Union[int, Mapping[str, int], None] = None,
    shuffle_buffer: Optional[int] = None,
    cycle: bool = False,
    on_bad: Literal["raise", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> Scan: ...
def games(
    paths: _Paths,
    columns: Union[str, Iterable[str], None] = None,
    *,
    on_bad: Literal["raise", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> Scan: ...
def stats(
    paths: _Paths,
    *,
    by: Optional[str] = None,
    details: bool = False,
    features: Optional[str] = None,
    on_bad: Literal["raise", "skip"] = "skip",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> dict[str, Any]: ...
def convert(
    input: _Paths,
    output: _Path,
    *,
    to: Optional[str] = None,
    overwrite: bool = False,
    level: Optional[int] = None,
    compression: Optional[str] = None,
    fen: bool = False,
    allow_loss: bool = False,
    set: Optional[Mapping[str, Union[str, int, float]]] = None,
    on_bad: Literal["raise", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> _Converted: ...
def shuffle(
    input: _Paths,
    output: _Path,
    *,
    by: Literal["record", "game"] = "record",
    memory: Optional[int] = None,
    temp: Optional[_Path] = None,
    to: Optional[str] = None,
    overwrite: bool = False,
    level: Optional[int] = None,
    compression: Optional[str] = None,
    allow_loss: bool = False,
    on_bad: Literal["raise", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> _Converted: ...
def interleave(
    paths: _Paths,
    output: _Path,
    *,
    by: Literal["record", "game"] = "record",
    weights: Optional[list[float]] = None,
    repeat: bool = False,
    to: Optional[str] = None,
    overwrite: bool = False,
    level: Optional[int] = None,
    compression: Optional[str] = None,
    allow_loss: bool = False,
    on_bad: Literal["raise", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> _Converted: ...
def split(
    input: _Paths,
    output: _Path,
    parts: Union[str, Mapping[str, Union[str, float]]],
    *,
    by: Literal["position", "relative", "game", "record"] = "position",
    to: Optional[str] = None,
    overwrite: bool = False,
    level: Optional[int] = None,
    compression: Optional[str] = None,
    allow_loss: bool = False,
    on_bad: Literal["raise", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> _Split: ...
def dedup(
    input: _Paths,
    output: Optional[_Path] = None,
    *,
    key: Literal["board", "stm", "castling", "position", "relative", "record"] = "position",
    keep: str = "first",
    against: Optional[_Paths] = None,
    counts: bool = False,
    memory: Optional[int] = None,
    temp: Optional[_Path] = None,
    to: Optional[str] = None,
    overwrite: bool = False,
    level: Optional[int] = None,
    compression: Optional[str] = None,
    allow_loss: bool = False,
    on_bad: Literal["raise", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> dict[str, Any]: ...
def verify(
    paths: _Paths,
    *,
    on_bad: Literal["raise", "skip"] = "skip",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    skip: int = 0,
    limit: Optional[int] = None,
    shard: Optional[str] = None,
    validity: _Validity = "strict",
    keep_en_passant: bool = False,
    games: Optional[_Games] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    where: Optional[str] = None,
    sample: Union[float, int, str, None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    seed: int = 0,
    progress: bool = False,
) -> dict[str, Any]: ...
def sql(
    query: str,
    /,
    *,
    on_bad: Literal["raise", "skip"] = "raise",
    threads: Optional[int] = None,
    fen_column: Optional[str] = None,
    moves_column: Optional[str] = None,
    start_column: Optional[str] = None,
    from_format: Optional[str] = None,
    validity: _Validity = "playable",
    keep_en_passant: bool = False,
    games: Union[_Games, _ArrowArray, _ArrowStream, None] = None,
    having: Union[str, Iterable[tuple[Literal["having", "then", "next"], str]], None] = None,
    let: Optional[Mapping[str, Union[str, int, float]]] = None,
    recompute: bool = False,
    memory: Optional[int] = None,
    temp: Optional[_Path] = None,
    progress: bool = False,
    **tables: Union[_ArrowArray, _ArrowStream, list[Optional[str]]],
) -> Table: ...
def columns(of: Literal["positions", "games"] = "positions") -> list[_Column]: ...
def cpu() -> dict[str, Any]: ...
