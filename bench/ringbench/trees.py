"""The directory trees that are measured."""

from __future__ import annotations

import multiprocessing
import os
import random
import stat
import subprocess
from pathlib import Path

from .tools import MissingTool

# Debian's package linux-source-6.1: about 79 000 files in 5 100 directories.
KERNEL_SOURCE = Path("/usr/src/linux-source-6.1.tar.xz")

REGULAR = stat.S_IFREG | 0o644


def kernel(work: Path) -> Path:
    """Returns the Linux 6.1 source, unpacked into `work` on the first use."""
    tree = work / "linux-source-6.1"
    if tree.is_dir():
        return tree
    if not KERNEL_SOURCE.exists():
        raise MissingTool(
            f"{KERNEL_SOURCE}: no such file: apt-get install linux-source-6.1, "
            "or give another tree with --tree DIR"
        )
    # Under another name until it is whole: an interrupted run leaves no half tree.
    partial = work / "linux-source-6.1.partial"
    subprocess.run(["rm", "-rf", str(partial)], check=True)
    partial.mkdir(parents=True)
    command = ["tar", "-C", str(partial), "--strip-components=1", "-xJf", str(KERNEL_SOURCE)]
    subprocess.run(command, check=True)
    partial.rename(tree)
    return tree


def _fill(job: tuple[str, int]) -> None:
    directory, files = job
    os.mkdir(directory)
    fill_directory(directory, files)


def fill_directory(directory: str, files: int) -> None:
    """Makes `files` empty regular files in a directory that exists.

    mknod instead of open and close: one call a file, with no descriptor.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for number in range(files):
            os.mknod(f"file-{number:07}.dat", REGULAR, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def synthetic(root: Path, directories: int, files: int) -> int:
    """Makes `directories` x `files` files; returns how many entries lie below `root`.

    The directories lie a hundred to a parent: neither flat nor deep, like a spool or a
    cache. One process a CPU makes them, for different directories do not share locks.
    """
    parents = (directories + 99) // 100
    jobs = []
    for parent in range(parents):
        (root / f"part-{parent:04}").mkdir()
        for number in range(min(100, directories - parent * 100)):
            jobs.append((str(root / f"part-{parent:04}" / f"dir-{number:02}"), files))
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for _ in pool.imap_unordered(_fill, jobs, chunksize=4):
            pass
    return parents + directories + directories * files


def shuffled(directory: Path, files: int) -> None:
    """Makes `files` files of 4 KiB in a directory that exists, in random order.

    The blocks are allocated but not written: they lie where those of real files would,
    between the blocks of the directory, and the image stays small.
    """
    numbers = list(range(files))
    random.Random(files).shuffle(numbers)
    parent = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for number in numbers:
            flags = os.O_CREAT | os.O_WRONLY | os.O_EXCL
            file = os.open(f"message-{number:07}.eml", flags, 0o644, dir_fd=parent)
            os.posix_fallocate(file, 0, 4096)
            os.close(file)
    finally:
        os.close(parent)


def sketch(tree: Path, copy: Path) -> None:
    """Makes a tree of the names, types and sizes of another; blocks are allocated, not written."""
    copy.mkdir()
    for entry in sorted(os.scandir(tree), key=lambda entry: entry.name):
        target = copy / entry.name
        if entry.is_symlink():
            target.symlink_to(os.readlink(entry.path))
        elif entry.is_dir():
            sketch(Path(entry.path), target)
        else:
            file = os.open(target, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o644)
            size = entry.stat(follow_symlinks=False).st_size
            if size:
                os.posix_fallocate(file, 0, size)
            os.close(file)


def maildir(root: Path, messages: int) -> None:
    """Makes empty files named as a mail server names delivered messages."""
    for number in range(messages):
        second, micro = 1_700_000_000 + number * 97, number * 7919 % 1_000_000
        size = 2000 + number * 31 % 90_000
        name = f"{second}.M{micro:06}P{1000 + number % 9000}.mx1,S={size},W={size + 60}:2,S"
        (root / name).touch()
