"""Answers queries with SQLite, for tests/cli/shapes.rs.

    python oracle.py p=P.csv q=Q.csv < QUERIES

Each file becomes a table of this name; an empty cell is null. Standard input has a query in each line, as JSON;
standard output has its rows in a line, as JSON: null, a number or a text for each cell.
"""

import csv
import json
import sqlite3
import sys


def cell(text):
    """The value of a cell of CSV."""
    if text == "":
        return None
    try:
        return int(text)
    except ValueError:
        return text


def main():
    if sqlite3.sqlite_version_info < (3, 39):
        sys.exit(f"SQLite {sqlite3.sqlite_version} has no full joins")
    database = sqlite3.connect(":memory:")
    database.execute("pragma case_sensitive_like = on")
    for argument in sys.argv[1:]:
        table, path = argument.split("=", 1)
        with open(path, newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        columns = ", ".join(f'"{name}"' for name in names)
        database.execute(f"create table {table} ({columns})")
        places = ", ".join("?" for _ in names)
        database.executemany(f"insert into {table} values ({places})", [[cell(text) for text in row] for row in rows])
    for line in sys.stdin:
        print(json.dumps(database.execute(json.loads(line)).fetchall()))


main()
