"""System calls that strace delays or lets fail, and descriptors that it counts."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from .run import Result, run


def injecting(folder: Path, call: str, effect: str, path: Path | str = "") -> list[str]:
    """Returns words to put before a command, so that `call` has `effect` (strace(1), --inject).

    With a `path`, only calls about that file have it.
    """
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
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
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
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
