"""System calls that strace delays or lets fail, and descriptors that it counts."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from .run import Result, needs_program, run


def injecting(folder: Path, call: str, effect: str, path: Path | str = "") -> list[str]:
    """Returns words to put before a command, so that `call` has `effect` (strace(1), --inject).

    With a `path`, only calls about that file have it.
    """
    needs_program("strace")
    prefix = ["strace", "-f", "-o", str(folder / "strace.log"), "-e", f"trace={call}"]
    prefix += ["-e", f"inject={call}:{effect}"]
    if path:
        prefix += ["--quiet=attach,path-resolution", "-P", str(path)]
    probe = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"strace cannot trace here: {probe.stderr.decode().strip()}")
    return prefix


# Calls that return a descriptor, and the call that closes one. io_uring opens none here.
OPENERS = (
    "open,openat,openat2,open_by_handle_at,dup,dup2,dup3,fcntl,socket,eventfd2,epoll_create1,"
    "io_uring_setup,memfd_create,timerfd_create,signalfd4"
)
OPENED = re.compile(r"(\w+)(?:\(| resumed>).*\) += (\d+)(?: |$)")
CLOSED = re.compile(r"close\((\d+)")


def most_open(folder: Path, command: Sequence, **options) -> tuple[int, Result]:
    """Returns the largest number of descriptors that a command has open, beside the standard ones.

    The command is not to start others. A descriptor counts from the return of the call that opens
    it to the beginning of the call that closes it.
    """
    needs_program("strace")
    log = folder / "strace-descriptors.log"
    prefix = ["strace", "-f", "-o", log, "-e", f"trace={OPENERS},close"]
    done = run([*prefix, *command], **options)
    if not log.exists():
        pytest.skip(f"strace cannot trace here: {done.err.decode().strip()}")
    now, most = {0, 1, 2}, 3
    for line in log.read_text().splitlines():
        if closed := CLOSED.search(line):
            now.discard(int(closed[1]))
        elif (opened := OPENED.search(line)) and (opened[1] != "fcntl" or "F_DUPFD" in line):
            now.add(int(opened[2]))
            most = max(most, len(now))
    return most - 3, done


READ = re.compile(r"pread64\(\d+<(.*?)>, .* = (\d+)$")


def bytes_read(folder: Path, command: Sequence, below: Path, **options) -> tuple[dict, Result]:
    """Returns how many bytes a command reads of each file below a directory, and its result.

    The command must read by pread64(2) only, as Ringwalk reads files of less than 32 MiB where it
    has no io_uring. Here it has none.
    """
    needs_program("strace")
    log = folder / "strace-reads.log"
    prefix = ["strace", "-f", "-y", "-s", "0", "-o", log, "-e", "trace=pread64,io_uring_setup"]
    prefix += ["-e", "inject=io_uring_setup:error=ENOSYS"]
    done = run([*prefix, *command], **options)
    if not log.exists():
        pytest.skip(f"strace cannot trace here: {done.err.decode().strip()}")
    sums: dict[str, int] = {}
    for line in joined(log.read_text(errors="replace").splitlines()):
        found = READ.search(line)
        if found and found[1].startswith(f"{below}/"):
            name = os.path.relpath(found[1], below)
            sums[name] = sums.get(name, 0) + int(found[2])
    return sums, done


def joined(lines: Sequence[str]) -> list[str]:
    """Returns the lines of a log, with the parts of each interrupted call in one line."""
    begun: dict[str, str] = {}
    whole = []
    for line in lines:
        thread, _, text = line.partition(" ")
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>")
        elif " resumed>" in text:
            whole.append(begun.pop(thread, "") + text.partition(" resumed>")[2])
        else:
            whole.append(text)
    return whole
