"""A FUSE file system whose server takes its time, and works on many requests at a time.

`slow_server.c` is the server. The tests and the bench use it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import finished, started
from unavailable import Unavailable

SOURCE = Path(__file__).with_suffix(".c")
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread")

# The status of a server that cannot be mounted.
REFUSED = 77


@dataclass
class Slow:
    """A mounted server."""

    point: Path
    server: subprocess.Popen

    def counts(self) -> dict[str, int]:
        """Ends the server. Returns `lookups`, how many it was asked for, and `most`, how many of
        them waited for it at one time."""
        said, _ = self.server.communicate()
        return {name: int(count) for name, count in (pair.split("=") for pair in said.split())}


@contextlib.contextmanager
def slow(
    work: Path, directories: int, files: int, microseconds: int, most: int = 0
) -> Iterator[Slow]:
    """Mounts directories of so many files each, of which a lookup takes so long. The server works
    on `most` of them at a time, or on all."""
    program, point = work / "slow_server", work / "slow"
    finished([os.environ.get("CC", "cc"), *FLAGS, "-o", program, SOURCE], check=True)
    point.mkdir()
    words = [program, point, *map(str, (directories, files, microseconds, most))]
    with started(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdout.readline() != "ready\n":
            assert server.wait() == REFUSED
            raise Unavailable("FUSE cannot be mounted")
        try:
            yield Slow(point, server)
        finally:
            # A server that has ended by itself has unmounted it.
            subprocess.run(["umount", "--lazy", point], capture_output=True, check=False)
