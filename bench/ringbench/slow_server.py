"""A server that takes its time, and rows that are measured on it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import media, tools
from .rows import Row
from .suites import Result, Session, run_rows
from .tools import C_FLAGS, WORK

# Microseconds of a lookup, and the lookups that the server works on at a time.
DELAY_US, MOST = 2000, 256


@dataclass
class SlowServer:
    """A server that takes its time for each lookup."""

    point: Path
    # The number of lookups, known when the server has ended.
    lookups: int = 0


@contextlib.contextmanager
def slow_server(
    scratch: Path, shape: tuple[int, int], most: int = MOST, delay_us: int = DELAY_US
) -> Iterator[SlowServer]:
    """Provides a server that takes its time for each lookup, and its mount.

    `shape` is the number of directories and of the files in each; without directories it is one
    directory of files.
    """
    media.need_root()
    source, program = tools.BENCH.parent / "tests/support/slow_server.c", WORK / "slow_server"
    WORK.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc")
    media.call(compiler, *C_FLAGS, "-o", program, source)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="slow-") as folder:
        point = Path(folder) / "tree"
        point.mkdir()
        (Path(folder) / "out").mkdir()
        numbers = map(str, (*shape, delay_us, most))
        server = subprocess.Popen(
            [program, point, *numbers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        slow = SlowServer(point)
        try:
            assert server.stdout is not None
            if server.stdout.readline().strip() != "ready":
                raise OSError(f"{program}: could not mount {point}")
            yield slow
        finally:
            said, _ = server.communicate()
            if said:
                slow.lookups = int(said.split()[0].removeprefix("lookups="))


def measure(
    session: Session,
    suite: str,
    table: list[Row],
    shape: tuple[int, int],
    delay_us: int = DELAY_US,
) -> Result:
    """Measures rows on a tree of that shape, which takes so many microseconds for each lookup."""
    directories, files = shape
    about = {
        "tree": f"{max(1, directories)} directories of {files} files",
        "delay_of_a_lookup_us": delay_us,
        "lookups_at_a_time": MOST,
        "emulated": "a FUSE server that answers lookups late; all processes on one machine",
    }
    with slow_server(session.scratch, shape, delay_us=delay_us) as server:
        return run_rows(session, suite, table, server.point, 5, about, warm_up=0, enough=5)
