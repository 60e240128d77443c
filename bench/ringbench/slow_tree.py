"""Rows that are measured on a server that takes its time."""

from __future__ import annotations

import tempfile
from pathlib import Path

from slow_server import slow
from unavailable import Unavailable

from . import media
from .rows import Row
from .suites import Result, Session, run_rows
from .tools import MissingTool

# Microseconds of a lookup, and the lookups that the server works on at a time.
DELAY_US, MOST = 2000, 256


def measure(
    session: Session,
    suite: str,
    table: list[Row],
    shape: tuple[int, int],
    delay_us: int = DELAY_US,
) -> Result:
    """Measures rows on a tree whose server takes so many microseconds for each lookup.

    `shape` is the number of directories and of the files in each; without directories it is one
    directory of files.
    """
    media.need_root()
    directories, files = shape
    about = {
        "tree": f"{max(1, directories)} directories of {files} files",
        "delay_of_a_lookup_us": delay_us,
        "lookups_at_a_time": MOST,
        "emulated": "a FUSE server that answers lookups late; all processes on one machine",
    }
    with tempfile.TemporaryDirectory(dir=session.scratch, prefix="slow-") as folder:
        # The clusters' rows write into it, beside the tree.
        (Path(folder) / "out").mkdir()
        try:
            with slow(Path(folder), directories, files, delay_us, MOST) as server:
                return run_rows(session, suite, table, server.point, 5, about, warm_up=0, enough=5)
        except Unavailable as refused:
            raise MissingTool(str(refused)) from None
