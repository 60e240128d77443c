"""Images and mounts.

Everything here is a context manager that takes down what it set up, in the reverse
order and whatever happened in between. cli.py turns SIGTERM and SIGHUP into exceptions
so that they unwind as well. Nothing needs the caches of the whole machine dropped:
unmounting a file system forgets its inodes, names and metadata blocks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .tools import MissingTool, need

MIB = 1024 * 1024


def call(*command: str | Path) -> str:
    """Runs a command of the system, returns its output; its stderr is in the exception."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        words = " ".join(map(str, command))
        raise OSError(f"{words}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()


def attempt(*command: str | Path) -> bool:
    """Runs a command as `call` does, to take things down: reports a failure and goes on."""
    try:
        call(*command)
    except OSError as error:
        print(f"bench: while cleaning up: {error}", file=sys.stderr)
        return False
    return True


def need_root() -> None:
    """Raises unless this process may mount."""
    if os.geteuid():
        raise MissingTool("needs root, to mount what it measures")


# Seconds that a server may take to come up, or the last user of a disk to leave.
PATIENCE = 30.0


def wait_until(ready: Callable[[], bool], what: str) -> None:
    """Waits for something that is about to be true."""
    seconds = PATIENCE
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise OSError(f"{what}: not there after {seconds:g} s")
        time.sleep(0.05)


@contextlib.contextmanager
def loop_device(file: Path, *options: str) -> Iterator[str]:
    """Provides a loop device over a file."""
    device = call("losetup", "--find", "--show", *options, file)
    try:
        yield device
    finally:
        attempt("losetup", "--detach", device)


def unmount(point: Path) -> None:
    """Unmounts; waits for a straggler, and detaches the mount if there still is one."""
    for _ in range(20):
        if subprocess.run(["umount", str(point)], capture_output=True).returncode == 0:
            return
        if not os.path.ismount(point):
            return
        time.sleep(0.25)
    attempt("umount", "--lazy", point)


@contextlib.contextmanager
def mounted(source: str, point: Path, *options: str) -> Iterator[Path]:
    """Provides a mount of a device at `point`, which is made if it is not there."""
    point.mkdir(parents=True, exist_ok=True)
    call("mount", *options, source, point)
    try:
        yield point
    finally:
        unmount(point)


@contextlib.contextmanager
def background(*command: str | Path, log: Path) -> Iterator[subprocess.Popen]:
    """Provides a server, in a session of its own: ^C reaches the runner, which ends the server."""
    with open(log, "ab") as output:
        server = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield server
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            # With all that it started.
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


@contextlib.contextmanager
def ext4(scratch: Path, inodes: int, megabytes: int) -> Iterator[Path]:
    """Provides an empty ext4 for many files, in a sparse image that is deleted afterwards.

    Without a journal and without the background zeroing of inode tables, both of which
    would be at work while the first runs are measured.
    """
    need("mke2fs", "losetup", "mount")
    need_root()
    image, point = scratch / "many-files.ext4", scratch / "many-files"
    try:
        with open(image, "wb") as file:
            file.truncate(megabytes * MIB)
        features = ("-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard")
        call("mke2fs", "-q", "-F", "-t", "ext4", "-N", str(inodes), *features, image)
        with loop_device(image) as device:
            with mounted(device, point, "-o", "noinit_itable,noatime"):
                yield point
    finally:
        image.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            point.rmdir()


def is_free(device: str) -> bool:
    """Returns whether a block device is in use by no file system, wherever that may be mounted."""
    try:
        # Of a block device, exclusively means: while nobody has it mounted (open(2)).
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return False
        raise
    return True


class ColdMount:
    """A mount that can be made cold: unmounted, its blocks forgotten, mounted again."""

    def __init__(self, device: str, point: Path):
        self._device, self.point = device, point
        point.mkdir(exist_ok=True)

    def renew(self) -> None:
        """Mounts with nothing of the file system cached."""
        if os.path.ismount(self.point):
            unmount(self.point)
        # A copy of the mount in another mount namespace keeps everything in memory.
        wait_until(lambda: is_free(self._device), f"{self._device} without any mount")
        call("blockdev", "--flushbufs", self._device)
        call("mount", "-o", "ro,noatime", self._device, self.point)

    def close(self) -> None:
        """Unmounts."""
        if os.path.ismount(self.point):
            unmount(self.point)
