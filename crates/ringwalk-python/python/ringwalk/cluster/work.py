"""What runs on a worker: the task, and digests of what it has written."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

import ringwalk
from ringwalk.cluster import trees
from ringwalk.cluster.files import Files
from ringwalk.cluster.problems import OtherTree, WrongVersion

Task = Callable[..., dict[str, Any]]

# Bytes that are read at once.
_BLOCK = 1 << 20


def engine_task() -> Task:
    """Returns the task that is part of this package. It walks directories and writes a part."""
    from ringwalk import _ringwalk

    task: Task = _ringwalk.cluster_task
    return task


def nothing() -> None:
    """Does nothing: an empty task, whose cost is measured."""


def run(version: str, *given: Any) -> dict[str, Any]:
    """Runs a task: `given` are the arguments of `_run`. `version` is the driver's.

    Only the first argument has the same meaning in all versions of this package.

    Raises `WrongVersion` if this worker has another one.
    """
    if ringwalk.__version__ != version:
        raise WrongVersion(
            f"the worker on {socket.gethostname()!r} has ringwalk {ringwalk.__version__}, and the "
            f"driver has {version}: install the same version, and go on with --resume"
        )
    return _run(*given)


def _run(
    task: Task | None,
    directory: bytes,
    roots: list[bytes],
    identities: list[tuple[Any, ...]],
    mounts: list[tuple[Any, ...]],
    given: dict[str, Any],
) -> dict[str, Any]:
    """Runs a task, and adds the digests and sizes of its files to its result.

    `task` is the function that works, by default the one of this package. `identities` are the
    identities of the roots on the driver's machine, as tuples, and `mounts` are the mounts below
    the roots there. `given` are the other arguments of the task: the `submit` of some engines has
    arguments with the same names.

    Raises `OtherTree` if something else is mounted here, before or after the task.
    """
    known = {point: trees.Identity(*identity) for point, *identity in mounts}
    roots_there = [trees.Identity(*identity) for identity in identities]
    begun = given["pieces"] is not None

    def check() -> None:
        try:
            trees.check(roots, roots_there, known, begun)
        except OtherTree as error:
            error.thread = socket.gethostname(), os.getpid(), threading.get_native_id()
            error.worker = _worker()
            raise

    try:
        check()
    except OtherTree:
        # A worker that fails at once is always the first that is free: it would get all tasks.
        time.sleep(given["seconds"])
        raise
    # An engine may run the same task twice at a time, when it takes a worker for dead that is not.
    # So each run has a number of its own, and with it names of files that no other run has.
    attempt = secrets.randbits(31)
    result = (task or engine_task())(directory, roots, attempt=attempt, **given)
    # What was unmounted meanwhile looks as if it had been removed.
    check()
    digests: dict[str, Any] = {}
    files = Files(os.fsdecode(directory))
    for key in ("part", "todo", "errors_file"):
        if result[key] is not None:
            with files.open(result[key]) as file:
                digests[key] = sha256(file) if key == "part" else crc32(file)
    return {**result, "attempt": attempt, "digests": digests}


def _worker() -> str | None:
    """Returns the address of this worker of Dask, or `None` on another engine."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        address: str = distributed.get_worker().address
    except ValueError:
        return None
    return address


def sha256(file: BinaryIO) -> tuple[int, str]:
    """Returns the size and the SHA-256 of a file."""
    digest, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK):
        digest.update(block)
        size += len(block)
    return size, digest.hexdigest()


def crc32(file: BinaryIO) -> tuple[int, int]:
    """Returns the size and the CRC-32 of a file."""
    checksum, size = 0, 0
    while block := file.read(_BLOCK):
        checksum = zlib.crc32(block, checksum)
        size += len(block)
    return size, checksum
