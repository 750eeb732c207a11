"""What tests in Python leave out is said as by the tests in Rust: see `src/testing.rs`."""

import os
import pathlib
import sys


def shared_data():
    """The folder of the shared data, whether it exists or not."""
    beside = pathlib.Path(__file__).resolve().parents[2].parent / "shared"
    return pathlib.Path(os.environ.get("LANEFISH_SHARED") or beside) / "data"


def skipped(test, reason):
    """Says that a test is skipped."""
    line = f"== SKIPPED TEST: {test}: {' '.join(reason.split())}\n"
    sys.stderr.write(line)
    if path := os.environ.get("LANEFISH_SKIPPED_TESTS"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(line)


def skipped_without_data(test, reason):
    """Says that a test is skipped because of missing shared data, which may not be."""
    if os.environ.get("LANEFISH_EXPECT_DATA") == "1":
        sys.exit(f"{test}: {reason}, and LANEFISH_EXPECT_DATA is set")
    skipped(test, reason)
