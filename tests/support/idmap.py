"""Mounts with a mapping of owners (mount_setattr(2)), which mount(8) of Debian 12 cannot make."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from processes import started

from support import mounts

# Numbers of the system calls. Calls since Linux 5.1 have the same number on every architecture.
SYS_OPEN_TREE, SYS_MOVE_MOUNT, SYS_MOUNT_SETATTR = 428, 429, 442
AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000
OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
MOVE_MOUNT_F_EMPTY_PATH = 4
MOUNT_ATTR_IDMAP = 0x100000

LIBC = ctypes.CDLL(None, use_errno=True)


class MountAttr(ctypes.Structure):
    """struct mount_attr of linux/mount.h."""

    _fields_ = [
        (name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")
    ]


def system_call(number: int, *args) -> int:
    """Makes a system call for which the C library may have no function."""
    wide = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    done = LIBC.syscall(ctypes.c_long(number), *wide)
    if done < 0:
        raise mounts.Unavailable(f"idmapped mount: {os.strerror(ctypes.get_errno())}")
    return done


@contextlib.contextmanager
def user_namespace(shift: int, length: int = 65536) -> Iterator[int]:
    """Gives a descriptor of a user namespace that maps `shift` to 0 of the outside."""
    command = ["unshare", "--user", "sh", "-c", "echo; exec cat"]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with started(command, **streams) as holder:
        if holder.stdout.readline() != b"\n":
            raise mounts.Unavailable(f"unshare --user: {holder.stderr.read().decode().strip()}")
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{holder.pid}/{name}").write_text(f"0 {shift} {length}\n")
        descriptor = os.open(f"/proc/{holder.pid}/ns/user", os.O_RDONLY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def idmapped(source: Path, point: Path, shift: int = 100000) -> Iterator[Path]:
    """Mounts `source` at `point` too, where every owner's number is larger by `shift`."""
    point.mkdir(parents=True, exist_ok=True)
    with user_namespace(shift) as namespace:
        flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC
        tree = system_call(SYS_OPEN_TREE, AT_FDCWD, os.fsencode(source), flags)
        try:
            attr = MountAttr(attr_set=MOUNT_ATTR_IDMAP, userns_fd=namespace)
            size = ctypes.sizeof(attr)
            system_call(SYS_MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH, ctypes.byref(attr), size)
            empty = (tree, b"", AT_FDCWD, os.fsencode(point), MOVE_MOUNT_F_EMPTY_PATH)
            system_call(SYS_MOVE_MOUNT, *empty)
        finally:
            os.close(tree)
    try:
        yield point
    finally:
        mounts.unmount(point)
