"""Disks to measure on: a plain loop device, a slow one, a rotating one.

image <- nbdkit, which takes the time <- nbdfuse, the disk as a file <- loop device.
Without direct I/O the loop device would send one read after the other and keep a second
copy in the page cache; with it several reads wait at once, as at a disk. libfuse answers
with ten threads and can be given no more, so the tenth is the last that waits at the disk
and the others wait before it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .media import (
    MIB,
    ColdMount,
    background,
    call,
    loop_device,
    need_root,
    unmount,
    wait_until,
)
from .tools import BENCH, WORK, MissingTool, need

# The kernel's default read-ahead of a disk. The loop device would have 2560 KiB: twice its
# longest request.
READ_AHEAD_KIB = 128

# More than the threads of libfuse that use them.
CONNECTIONS = 16


@dataclass(frozen=True)
class Disk:
    """A model of a disk: whether Linux shall take it to rotate, and how nbdkit serves it.

    `server` is the end of nbdkit's command line; without one the image is the disk.
    """

    name: str
    rotational: bool = False
    server: tuple[str, ...] = ()

    def options(self, image: Path) -> list[str]:
        """Returns the end of nbdkit's command line for this image."""
        return [word.replace("{image}", str(image)) for word in self.server]


AS_IT_IS = Disk("loop device")


def slow(delay: str) -> Disk:
    """Returns a disk on which each read takes `delay` longer, but many wait at once."""
    server = ("--filter=delay", "file", "file={image}", f"rdelay={delay}")
    return Disk(f"{delay} a read", False, server)


def spinning(disks: int = 1, slower: int = 1) -> Disk:
    """Returns a rotating disk with one head, or a RAID 0 of them: see bench/spindle.c.

    `slower` suits it to an emulated guest, whose processors are slower by as much.
    """
    name = "spinning, 7200 rpm" if disks == 1 else f"RAID 0 of {disks} spinning disks, 7200 rpm"
    name += f", {slower} x slower as the processors are" if slower > 1 else ""
    options = ("file={image}", f"disks={disks}", f"slower={slower}")
    return Disk(name, True, (str(spindle()), *options))


def spindle(work: Path = WORK) -> Path:
    """Compiles the plugin when its source is newer; returns it."""
    source, plugin = BENCH / "spindle.c", work / "spindle.so"
    if plugin.exists() and plugin.stat().st_mtime > source.stat().st_mtime:
        return plugin
    work.mkdir(parents=True, exist_ok=True)
    flags = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-pthread", "-shared", "-fPIC")
    compiler = os.environ.get("CC", "cc")
    command = [compiler, *flags, "-o", plugin, source, "-lm"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise MissingTool(
            f"{source}: could not be compiled (apt-get install nbdkit-plugin-dev):\n{done.stderr}"
        )
    return plugin


@contextlib.contextmanager
def plugged(disk: Disk, image: Path, scratch: Path) -> Iterator[str]:
    """Provides a read-only block device with the content of `image` that is as slow as `disk`."""
    need("losetup", "blockdev", "mount", "umount")
    need_root()
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(_served(disk, image, scratch)) if disk.server else image
        # Past the page cache: a second copy of the image in there would never be cold.
        device = stack.enter_context(loop_device(file, "--read-only", "--direct-io=on"))
        queue = Path("/sys/class/block") / Path(device).name / "queue"
        (queue / "rotational").write_text(f"{int(disk.rotational)}\n")
        (queue / "read_ahead_kb").write_text(f"{READ_AHEAD_KIB}\n")
        yield device


def _listens(path: Path) -> bool:
    """Returns whether a server takes connections there. Its file exists a moment before that."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


@contextlib.contextmanager
def exported(disk: Disk, image: Path, scratch: Path, *, guest: bool = False) -> Iterator[Path]:
    """Provides a socket at which nbdkit serves `image`, read-only, as slowly as `disk` is.

    A guest has no use for a disk that refuses writes: what it writes is kept aside.
    """
    need("nbdkit")
    path, log = (scratch / f"disk.{what}" for what in ("sock", "log"))
    try:
        log.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        server = ("nbdkit", "--foreground", "--unix", path, "--threads", "64")
        access = ("--filter=cow",) if guest else ("--readonly",)
        # Blocks of the size that is read: larger ones would be read whole.
        sizes = ("cow-block-size=4096",) if guest else ()
        with background(*server, *access, *disk.options(image), *sizes, log=log):
            wait_until(lambda: _listens(path), f"nbdkit (see {log})")
            yield path
        # Kept when something failed: it says why.
        log.unlink()
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _served(disk: Disk, image: Path, scratch: Path) -> Iterator[Path]:
    """Provides a file with the content of `image` that nbdkit and nbdfuse serve."""
    need("nbdkit", "nbdfuse")
    file, log = scratch / "disk.file", scratch / "nbdfuse.log"
    try:
        log.unlink(missing_ok=True)
        file.touch()
        with contextlib.ExitStack() as stack:
            uri = f"nbd+unix:///?socket={stack.enter_context(exported(disk, image, scratch))}"
            client = ("nbdfuse", "--readonly", "--connections", CONNECTIONS, file, uri)
            stack.enter_context(background(*client, log=log))
            stack.callback(unmount, file)
            wait_until(lambda: file.stat().st_size > 0, f"nbdfuse (see {log})")
            yield file
        log.unlink()
    finally:
        file.unlink(missing_ok=True)


@contextlib.contextmanager
def mounted(disk: Disk, image: Path, scratch: Path) -> Iterator[ColdMount]:
    """Provides the file system of `image`, mounted read-only from a disk of this kind, and cold."""
    point = scratch / "measured"
    try:
        with plugged(disk, image, scratch) as device, contextlib.ExitStack() as stack:
            mount = ColdMount(device, point)
            stack.callback(mount.close)
            mount.renew()
            yield mount
    finally:
        with contextlib.suppress(OSError):
            point.rmdir()


@contextlib.contextmanager
def slow_copy(scratch: Path, tree: Path, delay: str) -> Iterator[ColdMount]:
    """Provides an ext4 copy of `tree`, made by mke2fs and deleted afterwards, on a slow disk."""
    need("mke2fs")
    need_root()
    image = scratch / "slow.ext4"
    try:
        used = int(call("du", "--summarize", "--block-size=1M", tree).split()[0])
        # A fifth more for what the file system itself needs.
        with open(image, "wb") as file:
            file.truncate((used + used // 5 + 64) * MIB)
        call("mke2fs", "-q", "-F", "-t", "ext4", "-E", "nodiscard", "-d", tree, image)
        with mounted(slow(delay), image, scratch) as mount:
            yield mount
    finally:
        image.unlink(missing_ok=True)
