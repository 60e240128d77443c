"""Checks that every machine reads the same trees: the roots, and all mounts below them.

The driver's machine decides. Each worker compares its own mounts before and after each task. If a
mount were missing, its directory would look empty, and all files below it would look removed.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ringwalk.cluster.problems import OtherTree


@dataclass(frozen=True)
class Identity:
    """What identifies a root or a mounted file system on every machine, and after another boot.

    The device number is not a part of it, because it may change at each mount. An empty mount point
    may have the inode number of what was mounted there: all roots of btrfs have 256. So the file
    system counts too, where it is known.
    """

    # `None` if it may not be looked at, or each machine has its own.
    inode: int | None
    # As the file system reports it; `None` if it has none, or the kernel is too old.
    uuid: str | None = None
    # The number of the subvolume of btrfs.
    subvolume: int | None = None
    # The type of a file system that is mounted below a root.
    kind: str | None = None

    def is_of_same(self, other: Identity) -> bool:
        """Returns true if two may be the same: nothing that is known of both differs."""
        own, others = vars(self).values(), vars(other).values()
        return all(one == two or None in (one, two) for one, two in zip(own, others))


def status_of(root: bytes) -> os.stat_result:
    """Returns the status of a root. An automount is mounted by that."""
    try:
        return os.stat(os.path.join(root, b"."))
    except (NotADirectoryError, PermissionError):
        return os.lstat(root)


def identity_of(root: bytes) -> Identity:
    """Returns the identity of a root. An automount is mounted by that."""
    from ringwalk import _ringwalk

    status = status_of(root)
    if not stat.S_ISDIR(status.st_mode):
        return Identity(status.st_ino)
    return Identity(status.st_ino, *_ringwalk.cluster_file_system(root))


Mounts = dict[bytes, Identity]


def mounts_of(roots: Iterable[bytes], expected: Iterable[bytes] = ()) -> Mounts:
    """Returns what is mounted below the roots on this machine, by mount point.

    What is mounted only when a directory is entered counts if it is among `expected`.
    """
    from ringwalk import _ringwalk

    found = _ringwalk.cluster_mounts(list(roots), list(expected))
    return {
        point: Identity(inode, uuid, subvolume, kind)
        for point, inode, uuid, subvolume, kind in found
    }


def missing_mount(known: Mounts, found: Mounts) -> bytes | None:
    """Returns the first mount point at which a known file system is missing or replaced, or `None`.

    A mount point that was removed does not count: its directory has vanished, with all below it.
    """
    for point, identity in known.items():
        here = found.get(point)
        if here is None and os.path.lexists(point):
            return point
        if here is not None and not here.is_of_same(identity):
            return point
    return None


def check(roots: list[bytes], identities: list[Identity], mounts: Mounts, begun: bool) -> None:
    """Raises `OtherTree` if the roots, or what is mounted below them, are not the driver's.

    A root that is a file may be replaced when the run has begun.
    """
    for root, identity in zip(roots, identities):
        try:
            is_file = begun and not os.path.isdir(root) and os.path.lexists(root)
            is_same = is_file or identity_of(root).is_of_same(identity)
        except OSError as error:
            raise _other_tree(root, str(error.strerror)) from error
        if not is_same:
            raise _other_tree(root, "another directory than the driver has there")
    found = mounts_of(roots, mounts)
    if (point := missing_mount(mounts, found)) is not None:
        raise _other_tree(point, "the file system that the driver has there is not mounted")
    if more := found.keys() - mounts.keys():
        raise _other_tree(min(more), "the driver does not have the file system that is mounted")


def _other_tree(path: bytes, why: str) -> OtherTree:
    host = socket.gethostname()
    return OtherTree(f"{os.fsdecode(path)!r} on {host!r}: {why}")


def plain(mounts: Mounts) -> list[tuple[Any, ...]]:
    """Returns mounts without classes of this package, which another version may not have."""
    return [(point, *vars(identity).values()) for point, identity in mounts.items()]
