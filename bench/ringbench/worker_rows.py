"""Rows for numbers of workers on a slow server, as in `rows.py`; and the trees of their suites."""

from __future__ import annotations

from itertools import product

from .rows import ENTRIES, Row


def _row(key: str, *options: str) -> Row:
    return Row(key, "stat", "ringwalk", (*options, "count", "{tree}"), ENTRIES)


FIXED = [_row(f"workers-{n}", "--workers", str(n)) for n in (16, 32, 64, 128, 256, 512)]
ROWS = [*FIXED, _row("auto")]

# The tree of each suite: its directories, the files in each, and microseconds of a lookup.
TREES = {
    f"workers-{name}-{delay}ms": (*shape, 1000 * delay)
    for (name, shape), delay in product(
        {"tree": (400, 100), "directory": (0, 50_000)}.items(), (1, 2, 5)
    )
}
