"""Progress on standard error: a bar of tqdm where that is installed, otherwise a line now and then."""

import sys
import time

# Seconds between two lines.
_EVERY = 1.0


class _Lines:
    def __init__(self, function, total):
        self._function, self._total = function, total
        self._begin = self._last = time.monotonic()
        self._shown = None

    def show(self, read, records):
        self._shown = read, records
        if time.monotonic() - self._last >= _EVERY:
            self._write(" read")

    def _write(self, what):
        self._last = time.monotonic()
        read, records = self._shown
        parts = [f"lanefish.{self._function}: {records:,} records{what}"]
        if self._total:
            parts.append(f"{min(read / self._total, 1):.0%} of {self._total / 1e6:,.1f} MB")
        parts.append(f"{self._last - self._begin:.1f} s")
        # A program without a console has no standard error.
        if sys.stderr is not None:
            print(", ".join(parts), file=sys.stderr, flush=True)

    def finish(self):
        if self._shown is not None:
            self._write("")


class _Bar:
    def __init__(self, bar):
        self._bar = bar

    def show(self, read, records):
        bar = self._bar
        if read < bar.n:
            # The files are read once more.
            bar.reset()
        bar.set_postfix_str(f"{records:,} records", refresh=False)
        bar.update(read - bar.n)

    def finish(self):
        self._bar.close()


def begin(function, total):
    """Shows the progress of a function that reads this number of bytes, or None where it is not known."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines(function, total)
    return _Bar(tqdm(total=total, desc=f"lanefish.{function}", unit="B", unit_scale=True))
