"""What runs on a worker: the task, and digests of what it has written."""

from __future__ import annotations

import hashlib
import os
import secrets
import zlib
from collections.abc import Callable
from typing import Any

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


def run(
    task: Task | None, directory: bytes, roots: list[bytes], given: dict[str, Any]
) -> dict[str, Any]:
    """Runs a task, and adds the digests and sizes of its files to its result.

    `task` is the function that works, by default the one of this package. `given` are its other
    arguments: the `submit` of some engines has arguments with the same names.
    """
    # An engine may run the same task twice at a time, when it takes a worker for dead that is not.
    # So each run has a number of its own, and with it names of files that no other run has.
    attempt = secrets.randbits(31)
    result = (task or engine_task())(directory, roots, attempt=attempt, **given)
    digests: dict[str, Any] = {}
    for key in ("part", "todo", "errors_file"):
        if result[key] is not None:
            path = os.path.join(directory, os.fsencode(result[key]))
            digests[key] = sha256(path) if key == "part" else crc32(path)
    return {**result, "attempt": attempt, "digests": digests}


def sha256(path: bytes | str) -> tuple[int, str]:
    """Returns the size and the SHA-256 of a file."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def crc32(path: bytes | str) -> tuple[int, int]:
    """Returns the size and the CRC-32 of a file."""
    checksum, size = 0, 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
            size += len(block)
    return size, checksum
