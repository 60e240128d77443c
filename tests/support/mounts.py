"""Mounts for the tests: loop images, tmpfs, overlayfs, bind mounts and a FUSE file system.

Every helper is a context manager that undoes what it did. The test session runs in a mount
namespace of its own (see `private_namespace`), so that even a killed run leaves nothing mounted
and no loop device in use.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from unavailable import Unavailable

CLONE_NEWNS = 0x00020000  # sched.h
MS_REC = 0x4000  # sys/mount.h
MS_PRIVATE = 1 << 18

# EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN, and the flag for a shutdown without a write-back.
SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2

# The smallest sizes that the tools of Debian 12 accept, rounded up. The images are sparse.
IMAGE_SIZES = {"ext4": 64 << 20, "xfs": 320 << 20, "btrfs": 256 << 20}
MAKERS = {
    "ext4": ["mkfs.ext4", "-q", "-F"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}

# The kinds of file systems that the tests walk.
KINDS = ("ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuse")


# Tests that write back every file system, and tests of what is not written back yet: one at a time.
WRITE_BACK = pytest.mark.xdist_group("write-back")


def private_namespace() -> str | None:
    """Gives this process its own mount namespace; returns the reason if that is refused."""
    if os.geteuid() != 0:
        return "mounts need root"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        return f"no mount namespace: {os.strerror(ctypes.get_errno())}"
    if libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return f"mounts cannot be made private: {os.strerror(ctypes.get_errno())}"
    return None


@contextlib.contextmanager
def or_skip(config: pytest.Config, helper: Callable, *args) -> Iterator:
    """Enters a helper of this module; skips the test if the machine cannot make the mount.

    For fixtures that outlive a test, which cannot have the fixture `mount`.
    """
    if config.mounts_refused:
        pytest.skip(config.mounts_refused)
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(helper(*args))
        except Unavailable as refused:
            pytest.skip(str(refused))
        yield made


def call(*args: str | Path) -> None:
    """Runs a tool. If it fails, its message is the reason of the error."""
    if shutil.which(str(args[0])) is None:
        raise Unavailable(f"{args[0]} is not installed")
    done = subprocess.run(args, capture_output=True, check=False)
    if done.returncode != 0:
        text = done.stderr.decode(errors="replace").strip()
        raise Unavailable(f"{args[0]}: {text.partition(chr(10))[0]}")


def unmount(point: Path) -> None:
    """Unmounts and waits for the last user of the mount; detaches after 5 seconds."""
    for _ in range(50):
        done = subprocess.run(["umount", point], capture_output=True, check=False)
        # The test may have unmounted it.
        if done.returncode == 0 or b"not mounted" in done.stderr:
            return
        time.sleep(0.1)
    subprocess.run(["umount", "-l", point], capture_output=True, check=False)


def shut_down(point: Path) -> None:
    """Shuts down the ext4 or XFS at `point`: data in memory is lost."""
    directory = os.open(point, os.O_RDONLY)
    try:
        fcntl.ioctl(directory, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
    finally:
        os.close(directory)


@contextlib.contextmanager
def mounted(point: Path, *args: str | Path) -> Iterator[Path]:
    """Runs `mount ARGS POINT`, and unmounts at the end of the block. `point` may be a file."""
    if not point.exists():
        point.mkdir(parents=True)
    call("mount", *args, point)
    try:
        yield point
    finally:
        unmount(point)


@contextlib.contextmanager
def image(kind: str, work: Path) -> Iterator[Path]:
    """Gives a new file system of `kind` on a loop device."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / f"{kind}.img"
    with open(file, "wb") as handle:
        handle.truncate(IMAGE_SIZES[kind])
    try:
        call(*MAKERS[kind], file)
        with mounted(work / kind, "-o", "loop", "-t", kind, file) as point:
            yield point
    finally:
        file.unlink()


@contextlib.contextmanager
def tmpfs(work: Path) -> Iterator[Path]:
    """Gives a new tmpfs."""
    with mounted(work / "tmpfs", "-t", "tmpfs", "-o", "size=512m", "tmpfs") as point:
        yield point


@contextlib.contextmanager
def bind(source: Path, point: Path) -> Iterator[Path]:
    """Mounts `source` at `point` too."""
    with mounted(point, "--bind", source):
        yield point


@contextlib.contextmanager
def overlay(work: Path) -> Iterator[Path]:
    """Gives an overlay whose two layers are on different file systems, each with its own files.

    Files of such an overlay report device numbers of their own layer's, other than the directory
    that holds them: the case in which comparing devices is most easily done wrong.
    """
    with contextlib.ExitStack() as stack:
        lower = stack.enter_context(
            mounted(work / "lower", "-t", "tmpfs", "-o", "size=64m", "tmpfs")
        )
        writable = stack.enter_context(
            mounted(work / "writable", "-t", "tmpfs", "-o", "size=512m", "tmpfs")
        )
        (lower / "below").mkdir()
        (lower / "below" / "file").write_bytes(b"lower" * 1000)
        (lower / "removed").write_bytes(b"a whiteout will hide this")
        upper, scratch = writable / "upper", writable / "scratch"
        upper.mkdir()
        scratch.mkdir()
        options = f"lowerdir={lower},upperdir={upper},workdir={scratch}"
        point = stack.enter_context(
            mounted(work / "merged", "-t", "overlay", "-o", options, "none")
        )
        (point / "removed").unlink()
        (point / "below" / "upper-file").write_bytes(b"upper" * 2000)
        yield point


@contextlib.contextmanager
def fuse(work: Path, *options: str) -> Iterator[Path]:
    """Gives a FUSE file system (bindfs) over a directory of `work`, `fuse-source`."""
    source, point = work / "fuse-source", work / "fuse"
    source.mkdir(parents=True, exist_ok=True)
    # Without caching every answer comes from the daemon. A cached attribute would be the one of the
    # moment when the file was made.
    options = ("attr_timeout=0", "entry_timeout=0", *options)
    with server(point, "bindfs", "-o", ",".join(options), source):
        yield point


@contextlib.contextmanager
def server(point: Path, *command: str | Path) -> Iterator[Path]:
    """Runs `COMMAND POINT`, a server of FUSE, and unmounts at the end of the block."""
    point.mkdir(parents=True, exist_ok=True)
    call(*command, point)
    try:
        yield point
    finally:
        unmount(point)


@contextlib.contextmanager
def two_below_one(work: Path) -> Iterator[Path]:
    """Gives a FUSE file system above two ext4, `1` and `2`, whose inode numbers it passes on."""
    with contextlib.ExitStack() as stack:
        for name in ("1", "2"):
            point = stack.enter_context(image("ext4", work / name))
            stack.enter_context(bind(point, work / "fuse-source" / name))
        yield stack.enter_context(fuse(work))


# Sets the title of a terminal; holds DEL, a C1 control character and a line break.
HOSTILE = "t\x1b]0;x\x07\x7f\x9b2J\nnext"


@contextlib.contextmanager
def hostile_fuse(work: Path) -> Iterator[Path]:
    """Gives a FUSE file system with `HOSTILE` as type and source; any user can mount one."""
    source, point = work / "hostile-source", work / "hostile-fuse"
    source.mkdir(parents=True, exist_ok=True)
    names = f"subtype={HOSTILE},fsname={HOSTILE}"
    with server(point, "bindfs", "-o", names, source):
        yield point


@contextlib.contextmanager
def hostile_tmpfs(work: Path) -> Iterator[Path]:
    """Gives a tmpfs with `HOSTILE` as source and as the name of its mount point."""
    with mounted(work / HOSTILE, "-t", "tmpfs", HOSTILE) as point:
        yield point


@contextlib.contextmanager
def filesystem(kind: str, work: Path) -> Iterator[Path]:
    """Gives a new file system of one of `KINDS`. It holds only the files that its kind brings."""
    makers = {"tmpfs": tmpfs, "overlay": overlay, "fuse": fuse}
    with makers[kind](work) if kind in makers else image(kind, work) as point:
        yield point
