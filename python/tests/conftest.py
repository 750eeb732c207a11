"""What the tests share: positions, and the command line to compare with."""

import os
import pathlib
import random
import shutil
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "sql"))
from skipped import skipped  # noqa: E402

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def package(name):
    """A package, or a skipped test."""
    return pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed")


def pytest_runtest_logreport(report):
    """Says which tests were skipped, with those of the other languages."""
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped(report.nodeid, str(report.longrepr[2]).removeprefix("Skipped: ").removeprefix("SKIPPED: "))


@pytest.fixture(scope="session")
def sample():
    """The positions of the sample, all of them valid."""
    lines = (TOP / "data" / "sample.epd").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="session")
def command():
    """Runs the command line; LANEFISH names the program."""
    program = os.environ.get("LANEFISH") or shutil.which("lanefish")
    if program is None:
        pytest.skip("SKIPPED: no program to compare with; LANEFISH names it")

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr.decode()
        return done.stdout.decode()

    return run


@pytest.fixture(scope="session")
def million(sample):
    """A million FENs: those of the sample with other clocks."""
    clocks = random.Random(1)
    fields = [line.split()[:4] for line in sample]
    return [
        " ".join(fields[row % len(fields)]) + f" {clocks.randrange(100)} {1 + clocks.randrange(200)}"
        for row in range(1_000_000)
    ]
