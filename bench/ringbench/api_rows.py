"""The table of what is measured of the interfaces for Rust, Python and C.

As in `rows.py`. Rows of a source are named after it: `scan-syscall`, `scan-auto`.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from .rows import ENTRIES, ENTRIES_AND_BYTES, FLOOR_STAT, Row

SOURCES = ("syscall", "auto")

# Below a directory, by Ringwalk's own and by the one program that reads it in each way.
TRAVERSE = [
    FLOOR_STAT,
    Row("traverse", "stat", "traverse", ("{tree}",), ENTRIES_AND_BYTES),
    Row("traverse-stream", "stat", "traverse", ("--stream", "{tree}"), ENTRIES_AND_BYTES),
    Row(
        "tokio-traverse",
        "stat",
        "tokio-traverse",
        ("multi-thread", "{tree}"),
        ENTRIES_AND_BYTES,
    ),
    Row(
        "tokio-traverse-current",
        "stat",
        "tokio-traverse",
        ("current-thread", "{tree}"),
        ENTRIES_AND_BYTES,
    ),
]

# One directory, by name of the way to read it: names only.
LISTINGS = ("next-batch", "next", "tokio", "std")
DIRECTORY_FILES = 100_000
# What lists a directory costs is the file system's own by far on ext4, and little on the others.
DIRECTORY_KINDS = ("ext4", "xfs", "btrfs")


def directory(folder: str) -> list[Row]:
    """Returns the entries of one directory below what is mounted."""
    where = f"{{tree}}/{folder}"
    listings = [Row(way, "names", "listing", (way, where), ENTRIES) for way in LISTINGS]
    return [Row("floor-names", "names", "floor", ("names", where), ENTRIES), *listings]


# The number of directories open at a time, and how far each has been read. A directory that has
# been read in part has its buffers, so only the others show the cost without buffers.
IDLE_DIRS = 5000
IDLE_FILES = 5000
IDLE_WITHOUT_BUFFER = ("idle-opened", "idle-ended")
IDLE = [
    Row(f"idle-{state}", "memory", "listing", (f"idle-{state}", "{tree}", str(IDLE_DIRS)))
    for state in ("opened", "ended", "read")
]


def reported(subject: str) -> Callable[[bytes], int]:
    """Returns a reader of one number of a program's JSON."""

    def parse(output: bytes) -> int:
        try:
            return int(json.loads(output)[subject])
        except (KeyError, TypeError):
            raise ValueError(f"expected {subject} in the output, found {output[:80]!r}") from None

    return parse


def _python(key: str, group: str, *subjects: str) -> Row:
    answers = {subject: reported(subject) for subject in subjects}
    return Row(key, group, "walks", (key, "{tree}"), answers)


NEWEST = ("entries", "bytes", "newest")
PYTHON = [
    _python("walk", "names", "entries"),
    _python("os-walk", "names", "entries"),
    _python("scandir-rs-walk", "names"),
    *(_python(f"scan-{source}", "stat", *NEWEST) for source in SOURCES),
    _python("os-walk-stat", "stat", *NEWEST),
    _python("scandir-rs", "stat", "entries", "bytes"),
]

PYTHON_MEMORY = [_python(f"table-{source}", "stat", "entries") for source in SOURCES]

C = [
    FLOOR_STAT,
    *(
        Row(
            f"fts-{source}",
            "stat",
            "capi-fts",
            ("--source", source, "{tree}"),
            ENTRIES_AND_BYTES,
        )
        for source in SOURCES
    ),
    Row("glibc-fts", "stat", "fts", ("{tree}",), ENTRIES_AND_BYTES),
]
