#!/usr/bin/env python3
"""Measures the memory of the driver of ringwalk.cluster with very many directories pending.

    PYTHON bench/cluster_memory.py [--pending N] [--leftovers N] [--chunk N] [--name BYTES] [--fail]

PYTHON has ringwalk. The driver, its log, its files and its pool of two processes are the real ones.
Only the tree is invented. Its root has directories whose tasks leave `--leftovers` directories
each, in chunks of `--chunk`. Their names have `--name` bytes, their paths twice that and more.

The run is stopped when N directories are pending, and resumed to its end. Each command is a process
of its own. Prints a line of JSON for each, with numbers of MiB:

* `start_mib`: the memory of the driver before its first task;
* `peak_mib`: its greatest resident memory in the whole run;
* `pending`: the greatest number of directories that were found and not read.

With `--fail`, tasks that read directories below those at the top fail, and are set aside.

Ends with status 1 if the snapshot is not complete, or if a peak is above 256 MiB.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ringwalk import cluster
from ringwalk.cluster.driver import Driver

BOUND_MIB = 256
PROCESSES = 2
# The shape of the tree, for the driver and its workers: directories at the top, leftovers of a
# task, leftovers of a chunk, bytes of a name, and 1 if tasks fail.
SHAPE = "RINGWALK_BENCH_SHAPE"


def invent(
    directory: bytes,
    roots: list[bytes],
    pieces: list[tuple[str, int, int]] | None,
    *,
    task: int,
    epoch: int,
    attempt: int,
    **_: Any,
) -> dict[str, Any]:
    """Takes the place of the package's task: invents what a walk would have found."""
    start = time.monotonic()
    tops, below, chunk, name, fail = map(int, os.environ[SHAPE].split())
    read = [""] if pieces is None else list(_lines(directory, pieces))
    if fail and "/" in read[0]:
        raise RuntimeError("tasks fail by --fail")
    todo: list[bytes] = []
    for path in read:
        # The directories at the top have others, which have nothing.
        count = tops if not path else 0 if "/" in path else below
        prefix = f"{path}/" if path else ""
        inner = (f"{prefix}{number:0{name}}" for number in range(count))
        todo += (json.dumps({"root": 0, "path": each}).encode() + b"\n" for each in inner)
    stem = os.path.join(directory, os.fsencode(f"tmp/{epoch}/{task}-{attempt}"))
    # The root is as a huge directory in shares: so each directory at the top is a task.
    is_share = pieces is None
    chunks, offset = [], 0
    for at in range(0, len(todo), 1 if is_share else chunk):
        group = todo[at : at + (1 if is_share else chunk)]
        length = sum(map(len, group))
        chunks.append([offset, length, len(group), is_share])
        offset += length
    # Nobody reads the part: only its size and digest are looked at.
    part = _written(stem + b".parquet", [b"part"])
    return {
        "entries": len(read),
        "directories": len(read),
        "found": len(todo),
        "left": len(todo),
        "vanished": 0,
        "vanished_trees": [],
        "errors": 0,
        "rows": len(read),
        "bytes": 4,
        "part": part,
        "todo": _written(stem + b".todo", todo) if todo else None,
        "errors_file": None,
        "chunks": chunks,
        "seconds": time.monotonic() - start,
    }


def _lines(directory: bytes, pieces: list[tuple[str, int, int]]) -> Iterator[str]:
    for file, offset, length in pieces:
        with open(os.path.join(directory, os.fsencode(file)), "rb") as opened:
            data = os.pread(opened.fileno(), length, offset)
        yield from (json.loads(line)["path"] for line in data.splitlines())


def _written(path: bytes, lines: list[bytes]) -> str:
    Path(os.fsdecode(path)).write_bytes(b"".join(lines))
    return "/".join(os.fsdecode(path).rsplit("/", 3)[-3:])


def memory_mib(name: str) -> float:
    """Returns a number of this process's memory, from /proc/self/status."""
    text = Path("/proc/self/status").read_text()
    kib = next(line.split()[1] for line in text.splitlines() if line.startswith(f"{name}:"))
    return round(int(kib) / 1024, 1)


class Watch:
    """Sees each task that is committed, and may stop the run."""

    def __init__(self, stop_at: int | None) -> None:
        self.stop_at = stop_at
        self.start_mib = 0.0
        self.pending = 0

    def begin(self, driver: Driver) -> None:
        """Puts itself between a driver and its pool."""
        self.start_mib = memory_mib("VmRSS")
        add = driver.pool.add

        def add_and_look(*given: Any) -> None:
            add(*given)
            self._look(driver)

        driver.pool.add = add_and_look  # type: ignore[method-assign]
        self._look(driver)

    def _look(self, driver: Driver) -> None:
        counts = driver.history.totals.counts
        # The root, and all that was found, without those that were read.
        self.pending = max(self.pending, 1 + counts["found"] - counts["directories"])
        if self.stop_at is not None and self.pending >= self.stop_at:
            driver.stop()


def run_command(command: str, scratch: Path, stop_at: int) -> dict[str, Any]:
    """Runs one command in this process. Returns what it needed."""
    out = scratch / "out"
    watch = Watch(stop_at if command == "begin" else None)
    begin = time.monotonic()
    complete = None
    if command == "verify":
        watch.start_mib = memory_mib("VmRSS")
        complete = not cluster.verify(out)["damaged"]
    else:
        with contextlib.suppress(cluster.Stopped):
            verdict = cluster.snapshot(
                scratch / "root",
                out,
                processes=PROCESSES,
                resume=command == "resume",
                task=invent,
                ready=watch.begin,
            )
            complete = verdict["complete"]
    return {
        "command": command,
        "pending": watch.pending,
        "start_mib": watch.start_mib,
        "peak_mib": memory_mib("VmHWM"),
        "complete": complete,
        "seconds": round(time.monotonic() - begin, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pending", type=int, default=1_000_000)
    parser.add_argument("--leftovers", type=int, default=10_000, help="of a task (default: 10000)")
    parser.add_argument("--chunk", type=int, default=64, help="leftovers (default: 64)")
    parser.add_argument("--name", type=int, default=8, help="bytes of a name (default: 8)")
    parser.add_argument("--fail", action="store_true", help="tasks below the top fail")
    parser.add_argument("--command", help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.command:
        # Some tasks read what lies below while the last directories at the top are read.
        stop_at = given.pending * 95 // 100
        print(json.dumps(run_command(given.command, given.scratch, stop_at)))
        return 0
    tops = given.pending // given.leftovers
    shape = f"{tops} {given.leftovers} {given.chunk} {given.name} {int(given.fail)}"
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "root").mkdir()
        for command in ("begin", "resume", "verify"):
            words = [sys.executable, *sys.argv, "--command", command, "--scratch", scratch]
            environment = {**os.environ, SHAPE: shape}
            done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True)
            said = json.loads(done.stdout)
            print(json.dumps(said), flush=True)
            too_few = command == "begin" and said["pending"] < given.pending * 95 // 100
            # A snapshot with tasks that were set aside is not complete.
            wrong = said["complete"] is (given.fail and command == "resume")
            failed |= wrong or too_few or said["peak_mib"] > BOUND_MIB
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
