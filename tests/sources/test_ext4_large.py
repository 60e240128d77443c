"""Very many files on ext4: a million and a half, a million of them in one directory."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest
from support import images, mounts
from support.run import with_peak

# A tree of a million files takes minutes to make.
pytestmark = [pytest.mark.usefixtures("needs_root"), pytest.mark.long]

IN_ONE = 1_000_000
DIRECTORIES = 1000
IN_EACH = 500
# More subdirectories than a link count can hold: it is 1 then (dir_nlink).
SUBDIRECTORIES = 65_100


def one_directory(top: Path) -> None:
    """Makes a million files, all empty but one."""
    (top / "million").mkdir()
    folder = os.open(top / "million", os.O_RDONLY)
    for number in range(IN_ONE):
        os.mknod(f"file{number:07}", 0o100644, dir_fd=folder)
    os.truncate(top / "million" / "file0000001", 12345)


def many_directories(top: Path) -> None:
    """Makes half a million files in a thousand directories, and a directory of directories."""
    for number in range(DIRECTORIES):
        path = top / f"d{number // 100}" / f"d{number}"
        path.mkdir(parents=True)
        folder = os.open(path, os.O_RDONLY)
        for file in range(IN_EACH):
            os.mknod(f"file{file}", 0o100600 + file % 8, dir_fd=folder)
        os.close(folder)
    (top / "subdirectories").mkdir()
    folder = os.open(top / "subdirectories", os.O_RDONLY)
    for number in range(SUBDIRECTORIES):
        os.mkdir(f"d{number}", dir_fd=folder)


def fill(top: Path) -> None:
    """Makes both concurrently."""
    context = multiprocessing.get_context("fork")
    makers = [
        context.Process(target=maker, args=(top,)) for maker in (one_directory, many_directories)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
        assert maker.exitcode == 0


@pytest.fixture(scope="module")
def image(request, base):
    """The image, mounted read-only."""
    line = "-t ext4 -O ^has_journal,sparse_super2 -N 1700000 -b 4096"
    form = images.Format(line, 4096, options="noatime", fill=fill)
    with mounts.or_skip(request.config, images.filled, "ext4", form, base / "large") as image:
        yield image


FILES = IN_ONE + DIRECTORIES * IN_EACH
FOLDERS = (
    DIRECTORIES
    + DIRECTORIES // 100
    + SUBDIRECTORIES
    + len(("million", "subdirectories", "lost+found"))
)


def test_totals(ringwalk, image):
    image.remount()
    report = json.loads(
        ringwalk("--source", "ext4", "count", "--format=json", image.point).ok().out
    )
    assert (report["entries"], report["directories"]) == (FILES + FOLDERS, FOLDERS)
    expected = ringwalk("--source", "syscall", "du", "-sb", image.point).ok().out
    for source in ("ext4", "auto"):
        assert ringwalk("--source", source, "du", "-sb", image.point).ok().out == expected
    inodes = ringwalk("--source", "ext4", "du", "-s", "--inodes", image.point).ok().out
    assert int(inodes.split()[0]) == FILES + FOLDERS + 1


def test_every_entry(ringwalk, image):
    image.remount()
    command = ("find", ".", "-printf", "%p %i %s %m %n %y\\n")
    got = ringwalk("--source", "ext4", *command, cwd=image.point).ok().lines()
    expected = ringwalk("--source", "syscall", *command, cwd=image.point).ok().lines()
    assert len(got) == FILES + FOLDERS + 1
    got.sort()
    expected.sort()
    assert got == expected
    assert any(line.endswith(b"12345 644 1 f") for line in got)
    (line,) = [line for line in got if line.startswith(b"./subdirectories ")]
    assert line.endswith(b" 755 1 d")


def test_one_directory_of_a_million(ringwalk, image):
    """Several workers read the directory after it was read ahead."""
    image.remount()
    command = ("--source", "ext4", "--workers", "4", "--prefetch", "always")
    found = ringwalk(*command, "find", "million", "-size", "+0", cwd=image.point).ok().lines()
    assert sorted(found) == [b"million", b"million/file0000001"]


def test_memory(programs, image):
    """The program does not hold the names or metadata of 1.5 million entries."""
    for command in (("du", "-sb"), ("count",)):
        walk = [programs / "ringwalk", "--source", "ext4", *command, image.point]
        _, peak = with_peak(walk)
        assert peak < 96 << 20
