"""A tree on nfs-ganesha, and rows that are measured on it.

`bench/nfs_client.c` is the client. It mounts the tree by FUSE, and delays each request.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import ganesha
from unavailable import Unavailable

from . import media, tools, trees
from .rows import Row
from .suites import Result, Session, run_rows
from .tools import MissingTool

DELAY_US = 2000

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Nfs:
    """A mounted tree. The figures are known when it is unmounted."""

    point: Path
    # The requests by their names; `most` is the largest number at one time.
    counts: dict[str, int] = field(default_factory=dict)
    # Seconds of CPU time while the tree was mounted.
    server_cpu: float = 0
    client_cpu: float = 0

    def requests(self) -> int:
        """Returns the number of requests."""
        return sum(count for name, count in self.counts.items() if name != "most")


def _cpu(process: subprocess.Popen) -> float:
    """Returns the seconds of CPU time of a process that runs."""
    # The name of the program may hold spaces. It ends with the last parenthesis: proc(5).
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _fill(folder: Path, shape: tuple[int, int]) -> None:
    directories, files = shape
    for number in range(directories):
        directory = folder / f"dir-{number:05}"
        directory.mkdir()
        trees.fill_directory(str(directory), files)


@contextlib.contextmanager
def mounted(scratch: Path, shape: tuple[int, int], delay_us: int = DELAY_US) -> Iterator[Nfs]:
    """Provides a tree of so many directories, and files in each, on a server of its own."""
    media.need_root()
    program = tools.build("nfs_client")
    with contextlib.ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=scratch, prefix="nfs-")))
        for name in ("tree", "out"):
            (work / name).mkdir()
        try:
            inside = stack.enter_context(ganesha.network(work))
            server = stack.enter_context(ganesha.serving(work, inside))
        except Unavailable as refused:
            raise MissingTool(str(refused)) from None
        _fill(server.folder, shape)
        nfs = Nfs(work / "tree")
        words = [*inside, program, nfs.point, "127.0.0.1", "2049", "export", str(delay_us)]
        client = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert client.stdout is not None
            if client.stdout.readline().strip() != "ready":
                raise OSError(f"{program}: could not mount {nfs.point}")
            before = _cpu(server.process)
            yield nfs
            nfs.server_cpu, nfs.client_cpu = _cpu(server.process) - before, _cpu(client)
        finally:
            said, _ = client.communicate()
            nfs.counts = {
                name: int(count) for name, count in (pair.split("=") for pair in said.split())
            }


def measure(session: Session, suite: str, table: list[Row], shape: tuple[int, int]) -> Result:
    """Measures rows on a tree of that shape."""
    directories, files = shape
    about: dict[str, object] = {
        "tree": f"{directories} directories of {files} files",
        "delay_of_a_request_us": DELAY_US,
        "emulated": "the client delays requests; all processes and the server on one machine",
    }
    with mounted(session.scratch, shape) as nfs:
        result = run_rows(session, suite, table, nfs.point, 5, about, warm_up=0, enough=5)
    requests = nfs.requests()
    if requests and not result.failures:
        # Each row is tried once before it is measured.
        walks = len(result.rows) * (1 + result.about["runs"])
        result.about |= {
            "requests_per_entry": round(requests / (walks * directories * (files + 1)), 3),
            "most_requests_at_a_time": nfs.counts["most"],
            "server_cpu_us_a_request": round(nfs.server_cpu / requests * 1e6, 1),
            "client_cpu_us_a_request": round(nfs.client_cpu / requests * 1e6, 1),
        }
    return result
