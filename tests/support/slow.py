"""A FUSE file system whose server takes its time, and works on many requests at a time."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import started

from support.capi import compile_c
from support.mounts import Unavailable, unmount

SERVER = Path(__file__).with_name("slow_server.c")

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
def slow(work: Path, directories: int, files: int, microseconds: int, most: int = 0) -> Iterator:
    """Mounts directories of so many files each, of which a lookup takes so long. The server works
    on `most` of them at a time, or on all."""
    program, point = work / "slow_server", work / "slow"
    compile_c(SERVER, "-O2", "-o", program, "-lpthread")
    point.mkdir()
    words = [program, point, *map(str, (directories, files, microseconds, most))]
    with started(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdout.readline() != "ready\n":
            assert server.wait() == REFUSED
            raise Unavailable("FUSE cannot be mounted")
        try:
            yield Slow(point, server)
        finally:
            unmount(point)
