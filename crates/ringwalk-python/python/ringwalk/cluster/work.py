"""What runs on a worker: the task, and digests of what it has written."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import socket
import stat
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import ringwalk
from ringwalk.cluster.files import Files
from ringwalk.cluster.problems import WrongVersion

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
    given: dict[str, Any],
) -> dict[str, Any]:
    """Runs a task, and adds the digests and sizes of its files to its result.

    `task` is the function that works, by default the one of this package. `identities` are those of
    the roots on the driver's machine, as tuples. `given` are the other arguments of the task: the
    `submit` of some engines has arguments with the same names.

    Raises `OSError` if a root is another directory here: it may not be mounted.
    """
    # Later tasks compare the roots with what the first one has seen.
    if given["pieces"] is None:
        _check_roots(roots, identities)
    # An engine may run the same task twice at a time, when it takes a worker for dead that is not.
    # So each run has a number of its own, and with it names of files that no other run has.
    attempt = secrets.randbits(31)
    result = (task or engine_task())(directory, roots, attempt=attempt, **given)
    digests: dict[str, Any] = {}
    files = Files(os.fsdecode(directory))
    for key in ("part", "todo", "errors_file"):
        if result[key] is not None:
            with files.open(result[key]) as file:
                digests[key] = sha256(file) if key == "part" else crc32(file)
    return {**result, "attempt": attempt, "digests": digests}


def status_of(root: bytes) -> os.stat_result:
    """Returns the status of a root. An automount is mounted by that."""
    try:
        return os.stat(os.path.join(root, b"."))
    except (NotADirectoryError, PermissionError):
        return os.lstat(root)


@dataclass(frozen=True)
class Identity:
    """What identifies a root on every machine, and after another mount or boot.

    The device number is not a part of it, because it may change at each mount. An empty mount point
    may have the inode number of what was mounted there: all roots of btrfs have 256. So the file
    system counts too, where it is known.
    """

    inode: int
    # As the file system reports it; `None` if it has none, or the kernel is too old.
    uuid: str | None = None
    # The number of the subvolume of btrfs.
    subvolume: int | None = None

    def is_of_same(self, other: Identity) -> bool:
        """Returns true if two roots may be the same: nothing that is known of both differs."""
        known = zip((self.uuid, self.subvolume), (other.uuid, other.subvolume))
        differ = any(None not in pair and pair[0] != pair[1] for pair in known)
        return self.inode == other.inode and not differ


def identity_of(root: bytes) -> Identity:
    """Returns the identity of a root. An automount is mounted by that."""
    from ringwalk import _ringwalk

    status = status_of(root)
    if not stat.S_ISDIR(status.st_mode):
        return Identity(status.st_ino)
    return Identity(status.st_ino, *_ringwalk.cluster_file_system(root))


def _check_roots(roots: list[bytes], identities: list[tuple[Any, ...]]) -> None:
    for root, identity in zip(roots, identities):
        if not identity_of(root).is_of_same(Identity(*identity)):
            message = "not what the driver has there: is its file system mounted on this machine?"
            raise OSError(errno.ESTALE, message, os.fsdecode(root))


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
