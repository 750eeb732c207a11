"""Asks lanefish and DuckDB the queries of queries.sql, and compares their rows.

    python compare.py LANEFISH [SCHEDULER]

LANEFISH is the program; with SCHEDULER, the address of one, its queries run on that cluster, where only `order by` makes
an order. Its `sql` reads the files themselves, of every format; DuckDB reads the Parquet file that its
`compute --columns all` writes of the same files. Needs the package duckdb; the exit status is 1 if any rows differ.
"""

import concurrent.futures
import csv
import datetime
import decimal
import glob
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import duckdb
except ImportError:
    duckdb = None

from skipped import shared_data, skipped, skipped_without_data

QUERIES = pathlib.Path(__file__).with_name("queries.sql")
AT_ONCE = 2
SECONDS = 60
# Sums and means of reals depend on the order of the additions, which neither engine promises; functions such as `exp`
# may differ in the last bit. Both are errors of some 1e-16, times the number of rows, of which there are at most 30,000.
TOLERANCE = 1e-9

# Files of the shared data that are read as they are; a pattern is several files.
FILES = {
    "awkward": "pgn/awkward/*.pgn",
    "awkward_directory": "pgn/awkward",
    "bratko": "epd/bratko-kopec.epd",
    "cozy_invalid": "epd/cozy_invalid.half_a.sfens.zst",
    "cozy_valid": "epd/cozy_valid.half_a.sfens.zst",
    "evals": "jsonl/derived_eval_from_lichess_pgn.jsonl.zst",
    "evals_sample": "jsonl/lichess_db_eval.sample.jsonl",
    "frc_starts": "epd/FRC_openings.epd.zst",
    "perft": "perft/random.half_a.perft",
    "perft_960": "perft/chess960.half_a.perft",
    "perft_files": "perft/*",
    "perft_suite": "perft/perftsuite.epd",
    "perft_tricky": "perft/tricky.perft",
    "pgn": "pgn/lichess_db_1000k.pgn",
    "pgn_bz2": "wrappers/lichess_db_100k.pgn.multistream.bz2",
    "pgn_gz": "wrappers/lichess_db_100k.pgn.gz",
    "pgn_tags": "pgn/lichess_db_1000k.pgn",
    "pgn_zst": "wrappers/lichess_db_100k.pgn.multiframe.zst",
    "puzzles": "csv/lichess_db_puzzle.half_a.csv",
    "puzzles_zst": "csv/lichess_db_puzzle.half_a.csv.zst",
    "stalemates": "epd/stalemates_200d30_v1.half_a.epd.zst",
    "terminal": "epd/terminal_and_checks.half_a.epd.zst",
}

# The first records of a file, converted: source, output, options.
CONVERTED = {
    "arrow": ("pgn/lichess_db_1000k.pgn", "games.arrow", ["--fen"]),
    "arrows": ("jsonl/derived_eval_from_lichess_pgn.jsonl.zst", "evals.arrows", []),
    "boards": ("pgn/lichess_db_1000k.pgn", "games.boards", []),
    "boards_zst": ("jsonl/derived_eval_from_lichess_pgn.jsonl.zst", "evals.boards.zst", []),
    "dfrc": ("epd/DFRC_openings.sample_a.epd.zst", "dfrc.epd", []),
    "endgames": ("epd/endgames.half_a.epd.zst", "endgames.epd.bz2", []),
    "epd": ("epd/noob_3moves.epd.zst", "openings.epd.zst", []),
    "frc_moves": ("epd/3moves_FRC.epd.zst", "frc.fen", []),
    "hybrid": ("epd/hybrid_book_beta.epd.zst", "hybrid.epd.zst", []),
    "parquet": ("pgn/lichess_db_1000k.pgn", "games.parquet", []),
    "parquet_fen": ("csv/lichess_db_puzzle.half_a.csv", "puzzles.parquet", ["--fen"]),
    "perft_copy": ("perft/random.half_a.perft", "random.perft.zst", []),
    "popular": ("epd/popularpos_lichess_v3.epd.zst", "popular.epd.gz", []),
    "uho": ("epd/UHO_4060_v2.half_a.epd.zst", "uho.epd.zst", []),
}
MOST_RECORDS = 30_000

COLUMNS = {"pgn_tags": "all,tag:Event,tag:Round,tag:WhiteRatingDiff"}

# Files without positions, which the engine reads by itself.
PLAYERS = """select white as player, count(distinct game) as games, max(white_elo) as elo, max(fen) as last_fen
from {awkward} group by white"""
OPENINGS = "openings/*.tsv"

# Integers of which `lanefish sql` makes larger ones than files have, so that differences do not wrap.
WIDER = ["score", "raw_score", "score_before", "stm_score", "mate", "move_see"]


class Failure(Exception):
    """A program does not answer."""


class Query:
    """A query in both dialects."""

    def __init__(self, block, line):
        comments, text = partition(block, lambda row: row.startswith("--"))
        first, second = split_at(text, "-- duckdb:")
        self.line = line
        self.lanefish = "\n".join(first)
        self.duckdb = "\n".join(second or first)
        self.needs_one_process = "-- one process" in comments
        self.has_order = has_outer_order(self.lanefish)
        self.is_ordered = "-- in order" in comments or self.has_order

    def depends_on_order(self):
        """Whether the rows themselves depend on an order that is not in the query."""
        return not self.has_order and re.search(r"\blimit\b", self.lanefish) is not None


def partition(rows, is_first):
    """The rows at the beginning that are of a kind, and all others."""
    first = list(itertools.takewhile(is_first, rows))
    return first, rows[len(first) :]


def split_at(rows, separator):
    """The rows before and after a separator."""
    if separator not in rows:
        return rows, []
    place = rows.index(separator)
    return rows[:place], rows[place + 1 :]


def has_outer_order(text):
    """Whether there is an `order by` outside all parentheses."""
    text = re.sub(r"'[^']*'", "''", text)
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return re.search(r"\border\s+by\b", text) is not None


def read_queries(path):
    """The queries of a file: blocks between blank lines, as far as they are more than comments."""
    rows = list(enumerate(path.read_text().splitlines(), 1))
    for is_blank, block in itertools.groupby(rows, lambda row: not row[1].strip()):
        block = list(block)
        if not is_blank and any(not text.startswith("--") for _, text in block):
            yield Query([text for _, text in block], block[0][0])


def lanefish(program, *arguments):
    """What the program writes; rejected records are no failure."""
    command = [str(program), *map(str, arguments), "--quiet"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Failure(f"no answer in {SECONDS} seconds") from None
    if done.returncode not in (0, 1):
        raise Failure(f"status {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout.decode()


def with_paths(text, paths):
    """A query with a quoted path for each table."""
    quoted = {name: "'" + str(path).replace("'", "''") + "'" for name, path in paths.items()}
    return re.sub(r"\{(\w+)\}", lambda table: quoted[table[1]], text)


def with_names(text):
    """A query with a name for each table."""
    return re.sub(r"\{(\w+)\}", r'"\1"', text)


def convert_inputs(program, data, folder):
    """Converts the first records of files; the paths of the outputs."""
    paths = {}
    for name, (source, output, options) in CONVERTED.items():
        paths[name] = folder / output
        lanefish(program, "convert", data / source, "-o", paths[name], "--limit", MOST_RECORDS, *options)
    return paths


def compute_parquet(program, path, columns, output):
    """Writes all columns of the files that a path or pattern stands for."""
    files = sorted(glob.glob(str(path)))
    lanefish(program, "compute", *files, "--columns", columns, "-o", output)


def write_openings(data, output):
    """Names of openings as one CSV file."""
    with open(output, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["eco", "name", "moves"])
        for path in sorted(data.glob(OPENINGS)):
            writer.writerows(row.split("\t") for row in path.read_text().splitlines()[1:])


def create_table(duck, name, path):
    """A table of a file for DuckDB, with the types that `lanefish sql` has."""
    columns = duck.execute(f"describe select * from '{path}'").fetchall()
    kinds = [(column, "INTEGER" if column in WIDER else kind) for column, kind, *_ in columns]
    columns = [f'cast("{column}" as {kind}) as "{column}"' for column, kind in kinds]
    duck.execute(f"create table \"{name}\" as select {', '.join(columns)} from '{path}'")


def prepare(program, data, folder):
    """Makes all inputs; the paths for lanefish, and a database that has the same tables."""
    paths = {name: data / path for name, path in FILES.items()} | convert_inputs(program, data, folder)
    duck = duckdb.connect()
    # As DataFusion has it.
    duck.execute("set default_null_order = 'nulls_last_on_asc_first_on_desc'")
    # With more threads, it does not always keep the order of the records.
    duck.execute("set threads = 1")
    for name, path in paths.items():
        parquet = folder / f"all_of_{name}.parquet"
        compute_parquet(program, path, COLUMNS.get(name, "all"), parquet)
        create_table(duck, name, parquet)
    others = {"players": folder / "players.parquet", "openings": folder / "openings.csv"}
    lanefish(program, "sql", with_paths(PLAYERS, paths), "-o", others["players"])
    write_openings(data, others["openings"])
    for name, path in others.items():
        create_table(duck, name, path)
    return paths | others, duck


def rows_of_lanefish(program, text, options):
    """The rows of a query; columns may have the same name."""
    lines = lanefish(program, "sql", text, "--format", "jsonl", *options).splitlines()
    return [json.loads(line, object_pairs_hook=lambda pairs: [value for _, value in pairs]) for line in lines]


def rows_of_duckdb(duck, text):
    """The rows of a query, as JSON would have them."""
    try:
        rows = duck.cursor().execute(text).fetchall()
    except duckdb.Error as error:
        raise Failure(f"DuckDB: {error}") from None
    return [[as_json(value) for value in row] for row in rows]


def as_json(value):
    """A value as lanefish writes it."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


def are_equal(one, other):
    """Whether two values are the same, numbers as far as they can be."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) or isinstance(other, float):
        are_numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
        return are_numbers and math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-12)
    return one == other


def sorted_rows(rows, inexact):
    """Rows in any fixed order, in which columns of inexact numbers come last."""

    def rank(value):
        return (value is not None, isinstance(value, str), value if value is not None else 0)

    def key(row):
        ranks = [rank(value) for value in row]
        return sorted(enumerate(ranks), key=lambda column: column[0] in inexact)

    return sorted(rows, key=key)


def difference(expected, found, is_ordered):
    """The first difference of rows; nothing if they are the same."""
    if not is_ordered:
        rows = itertools.chain(expected, found)
        inexact = {place for row in rows for place, value in enumerate(row) if isinstance(value, float)}
        expected, found = sorted_rows(expected, inexact), sorted_rows(found, inexact)
    for number, (right, row) in enumerate(zip(expected, found)):
        if len(right) != len(row) or not all(map(are_equal, right, row)):
            return f"row {number} of {len(expected)}\n  DuckDB:   {right}\n  lanefish: {row}"
    if len(expected) != len(found):
        return f"DuckDB has {len(expected)} rows, lanefish {len(found)}"
    return None


def check(query, program, paths, duck, options):
    """What is wrong with the rows of a query; nothing if nothing is."""
    try:
        found = rows_of_lanefish(program, with_paths(query.lanefish, paths), options)
        expected = rows_of_duckdb(duck, with_names(query.duckdb))
    except Failure as failure:
        return str(failure)
    return difference(expected, found, query.has_order if options else query.is_ordered)


def compare(program, data, options):
    """Asks all queries; whether all rows are the same."""
    queries = list(read_queries(QUERIES))
    if options:
        queries = [query for query in queries if not query.depends_on_order() and not query.needs_one_process]
    with tempfile.TemporaryDirectory() as folder:
        paths, duck = prepare(program, data, pathlib.Path(folder))
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            results = list(pool.map(lambda query: check(query, program, paths, duck, options), queries))
        duck.close()
    for query, wrong in zip(queries, results):
        if wrong:
            print(f"{QUERIES.name}:{query.line}\n{query.lanefish}\n  {wrong}\n")
    equal = results.count(None)
    print(f"{len(queries)} queries, {equal} equal")
    return equal == len(queries)


def main():
    """The command line."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program, data = pathlib.Path(sys.argv[1]), shared_data()
    options = ["--cluster", sys.argv[2]] if len(sys.argv) == 3 else []
    if duckdb is None:
        skipped("compare.py", "the package duckdb is not installed")
        return
    missing = [path for path in FILES.values() if not glob.glob(str(data / path))]
    if missing:
        skipped_without_data("compare.py", f"the shared data has no {missing[0]}")
        return
    try:
        sys.exit(0 if compare(program, data, options) else 1)
    except Failure as failure:
        sys.exit(f"the inputs cannot be made: {failure}")


if __name__ == "__main__":
    main()
