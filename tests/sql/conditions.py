"""Asks lanefish and DuckDB which records the conditions of conditions.txt take, and compares their numbers.

    python conditions.py LANEFISH

lanefish is asked twice: with `compute --where`, and with a query of `sql`. DuckDB reads the Parquet file that
`compute --columns all` writes of the same records; boards, hashes and curves are computed here, from their definitions.
Needs the package duckdb; the exit status is 1 if any answers differ.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb

from skipped import shared_data, skipped_without_data

CONDITIONS = pathlib.Path(__file__).with_name("conditions.txt")
AT_ONCE = 2
ALL_BITS = (1 << 64) - 1


def mixed(number):
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & ALL_BITS
    number = (number ^ number >> 27) * 0x94D049BB133111EB & ALL_BITS
    return number ^ number >> 31


def uniform(*values):
    """The hash of values as a number from 0 to 1, as documented."""
    state = 0x6A09E667F3BCC908
    for value in values:
        if value is None:
            return None
        words = [value & ALL_BITS] if isinstance(value, int) else []
        if isinstance(value, str):
            encoded = value.encode()
            words = [int.from_bytes(encoded[at : at + 8], "little") for at in range(0, len(encoded), 8)]
            words.append(~len(encoded) & ALL_BITS)
        for word in words:
            state = mixed((mixed(state ^ word) + 0x9E3779B97F4A7C15) & ALL_BITS)
    return (state >> 11) / (1 << 53)


def squares(fen):
    """The 64 squares from a1 to h8: letters, and `.` where nothing stands."""
    ranks = re.sub(r"\d", lambda digit: "." * int(digit[0]), fen.split()[0]).split("/")
    return "".join(reversed(ranks))


def flipped(pattern):
    return "".join(pattern[rank * 8 : rank * 8 + 8] for rank in range(7, -1, -1)).swapcase()


def mirrored(pattern):
    return "".join(pattern[rank * 8 : rank * 8 + 8][::-1] for rank in range(8))


def matches(placement, words=""):
    """The condition on `squares` and `stm`; `?` is a square that may hold anything."""
    words = re.findall(r"\w+", words)
    ranks = re.sub(r"\d", lambda digit: ("." if "exact" in words else "?") * int(digit[0]), placement).split("/")
    assert all(len(rank) == 8 for rank in ranks) and len(ranks) == 8, placement

    def any_of(pattern):
        patterns = {pattern}
        if "flip" in words:
            patterns |= {flipped(pattern) for pattern in patterns}
        if "mirror" in words:
            patterns |= {mirrored(pattern) for pattern in patterns}
        tests = [
            " and ".join(
                [f"squares[{at + 1}] = '{letter}'" for at, letter in enumerate(pattern) if letter != "?"] or ["true"]
            )
            for pattern in patterns
        ]
        return "(" + " or ".join(f"({test})" for test in tests) + ")"

    pattern = "".join(reversed(ranks))
    if "mover" in words:
        return f"(case stm when 'w' then {any_of(pattern)} else {any_of(flipped(pattern))} end)"
    return any_of(pattern)


def on(square, letters):
    at = (int(square[1]) - 1) * 8 + ord(square[0]) - ord("a")
    return f"(strpos('{letters}', squares[{at + 1}]) > 0)"


def interp(arguments):
    x, *points = arguments
    points = [(float(points[at]), float(points[at + 1])) for at in range(0, len(points), 2)]
    cases = [f"when {x} is null then null", f"when {x} <= {points[0][0]} then {points[0][1]}::double"]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        line = f"{y0}::double + ({y1}::double - {y0}::double) * (({x} - {x0}::double) / ({x1}::double - {x0}::double))"
        cases += [f"when {x} < {x1} then {line}", f"when {x} = {x1} then {y1}::double"]
    return f"(case {' '.join(cases)} else {points[-1][1]}::double end)"


UNIFORMS = {}


def translated(condition):
    """The condition in the words of DuckDB."""
    text = re.sub(r"\bmatches\('([^']*)'(?:, '([^']*)')?\)", lambda m: matches(m[1], m[2] or ""), condition)
    text = re.sub(r"\bon\('(..)', '(\w+)'\)", lambda m: on(m[1], m[2]), text)
    text = re.sub(r"\binterp\(([^()]*)\)", lambda m: interp([part.strip() for part in m[1].split(",")]), text)

    def drawn(match):
        name = UNIFORMS.setdefault(match[1], f"uniform_{len(UNIFORMS)}")
        return name

    text = re.sub(r"\buniform\(([^()]*)\)", drawn, text)
    text = re.sub(r"\bpopcount\(", "bit_count(", text)
    text = re.sub(r"\b(ln|sqrt|power)\(", r"real_\1(", text)
    text = re.sub(r"\b0[xX]([0-9a-fA-F]+)", lambda m: str(int(m[1], 16)), text)
    # Reals without a point would be decimals.
    text = re.sub(r"(?<![\w.'])(\d+\.\d*|\.\d+|\d+e\d+|\d+\.\d*e\d+)(?![\w.':])", r"\1::double", text)
    if "::double" not in text and not re.search(r"\b(exp|real_ln|real_sqrt|real_power)\(", text):
        text = re.sub(r" / ", " // ", text)
    return text


def asked(program, *arguments):
    done = subprocess.run([program, "-q", *arguments], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments}: {done.stderr}")
    return [int(line) for line in done.stdout.split()[1:]]


def main():
    program, games = sys.argv[1], shared_data() / "pgn" / "lichess_db_1000k.pgn"
    if not games.exists():
        skipped_without_data("conditions.py", "the shared data has no games")
        return
    conditions = [
        line for line in CONDITIONS.read_text().splitlines() if line.strip() and not line.startswith("-- ")
    ]
    with tempfile.TemporaryDirectory() as directory:
        records, table = str(games), f"{directory}/records.parquet"
        columns = "all,tag:Event,tag:Result"
        subprocess.run([program, "-q", "compute", records, "--columns", columns, "-o", table], check=True)
        texts = [translated(condition) for condition in conditions]
        database = duckdb.connect()
        # What has no value is null here.
        database.execute("set global error_on_division_by_zero = false")
        database.execute("create macro real_ln(x) as case when x >= 0 then ln(x::double) end")
        database.execute("create macro real_sqrt(x) as case when x >= 0 then sqrt(x::double) end")
        database.execute("create macro real_power(x, y) as case when x >= 0 or y = round(y) then power(x::double, y) end")
        rows = database.sql(f"select * from '{table}'")
        names = rows.columns
        values = [dict(zip(names, row)) for row in rows.fetchall()]

        def evaluated(arguments, row):
            parts = [part.strip() for part in arguments.split(",")]
            return uniform(
                *(part[1:-1] if part[0] == "'" else int(part) if part.isdigit() else row[part] for part in parts)
            )

        database.execute("create table more (number bigint, squares varchar" + "".join(
            f", {name} double" for name in UNIFORMS.values()
        ) + ")")
        database.executemany(
            f"insert into more values (?, ?{', ?' * len(UNIFORMS)})",
            [
                [row["index"], squares(row["fen"]), *(evaluated(arguments, row) for arguments in UNIFORMS)]
                for row in values
            ],
        )
        # Integers are signed and have 64 bits, but for sets of squares and keys.
        small = ["SMALLINT", "INTEGER"]
        casts = [
            f'"{name}"::bigint as "{name}"'
            for name, kind in zip(rows.columns, map(str, rows.types))
            if kind in small
        ]
        replaced = f"* replace ({', '.join(casts)})"
        database.execute(f"create table records as select {replaced} from '{table}' join more on \"index\" = number")

        def answers(number):
            condition, text = conditions[number], texts[number]
            try:
                theirs = database.cursor().sql(f'select "index" from records where {text}\n order by 1').fetchall()
            except duckdb.Error as error:
                return condition, f"DuckDB: {error}", None
            theirs = [row[0] for row in theirs]
            try:
                ours = asked(program, "compute", records, "--where", condition, "--columns", "index")
                query = f'select "index" from \'{records}\' where {condition}\n order by 1'
                queried = asked(program, "sql", "--format", "csv", query)
            except RuntimeError as error:
                return condition, str(error), None
            for name, found in [("--where", ours), ("sql", queried)]:
                if found != theirs:
                    odd = sorted(set(found) ^ set(theirs))[:3]
                    return condition, f"{name}: {len(found)} records, DuckDB {len(theirs)}; the first that differ: {odd}", None
            return condition, None, len(theirs) / len(values)

        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            results = list(pool.map(answers, range(len(conditions))))
    failures = [(condition, problem) for condition, problem, _ in results if problem]
    for condition, problem in failures:
        print(f"{condition}\n    {problem}")
    selective = sum(1 for _, _, share in results if share is not None and 0.01 <= share <= 0.99)
    print(f"{len(results)} conditions, {selective} of which take from 1 to 99 % of the records: {len(failures)} differ")
    for condition, _, share in results:
        if share is not None and not 0.01 <= share <= 0.99:
            print(f"  takes {share:.2%}: {condition}")
    if selective < 200:
        print("at least 200 are to be selective")
    return 1 if failures or selective < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
