"""ext4 from the block device while it is in use: new files, open files, changes."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from pathlib import Path

import pytest
from support import answers, churn, images, moments, trees
from support.answers import FEW, Reference, assert_sources_agree
from support.mounts import WRITE_BACK

pytestmark = [pytest.mark.usefixtures("needs_root"), WRITE_BACK]

SOURCES = ("ext4", "auto")


@pytest.fixture(params=("has_journal", "^has_journal", "has_journal,bigalloc,inline_data"))
def disk(request, mount, scratch):
    """An empty ext4, which tests write to."""
    return mount(images.fresh, "ext4", scratch, f"-t ext4 -b 4096 -O {request.param}").point


@pytest.fixture
def plain(mount, scratch):
    """An empty ext4 in the usual format."""
    return mount(images.fresh, "ext4", scratch, "-t ext4 -b 4096").point


def write_all(top: Path) -> None:
    """Files in every state between the write and the disk."""
    trees.RandomTree(top / "tree", seed=61, entries=150)
    for number in range(100):
        (top / f"appended{number}").write_bytes(b"x" * (number * 97))
    old = (1_000_000_000 * 10**9, 1_000_000_000 * 10**9)
    for number in range(0, 100, 3):
        with open(top / f"appended{number}", "ab") as file:
            file.write(b"more" * 3000)
        # As `cp -a` does: an old modification time does not mean that a file is on the disk.
        os.utime(top / f"appended{number}", ns=old)
    with open(top / "mapped", "w+b") as file:
        file.truncate(1 << 20)
        with mmap.mmap(file.fileno(), 1 << 20) as memory:
            memory[5000:5010] = b"y" * 10
            memory[900_000:900_010] = b"y" * 10
    with open(top / "shortened", "wb") as file:
        file.write(b"x" * 500_000)
        file.truncate(123_456)
    with open(top / "preallocated", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 20)
        file.write(b"x" * 10)
    (top / "renamed").write_bytes(b"x" * 10_000)
    (top / "renamed").rename(top / "by another name")
    (top / "link").symlink_to("t" * 200)


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_files_written_a_moment_before(ringwalk, disk, engine):
    write_all(disk)
    for source in SOURCES:
        moments.check_said_twice(ringwalk, disk, "--source", source, *engine)


def test_sizes_are_right_before_anything_is_written_back(ringwalk, plain):
    """Before write-back, which takes seconds by default, the disk has sizes of 0 bytes."""
    expected = moments.write_numbered(plain)
    for source in SOURCES:
        moments.check_numbered(ringwalk, plain, expected, "--source", source)
        total = int(ringwalk("--source", source, "du", "-sb", ".", cwd=plain).ok().out.split()[0])
        assert total >= sum(number * 1000 for number in range(moments.NUMBERED))


@pytest.mark.parametrize("options", ("lazytime", "strictatime", "relatime", "nodelalloc"))
def test_times_that_change_alone(ringwalk, mount, scratch, options):
    """Access times and modification times that changed a moment ago, and nothing else."""
    top = mount(images.fresh, "ext4", scratch, "-t ext4 -b 4096 -I 256", options).point
    trees.RandomTree(top / "tree", seed=62, entries=100)
    for number in range(50):
        (top / f"f{number}").write_bytes(b"x" * 5000)
    trees.settle(top)
    command = ("find", ".", "-type", "f", "-printf", "%p %s %b %A@ %C@ %T@\\0")
    # With lazytime the times stay in memory for a day.
    sources = ("auto",) if options == "lazytime" else SOURCES
    for source in sources:
        for number in range(0, 50, 2):
            (top / f"f{number}").read_bytes()
            with open(top / f"f{number + 1}", "r+b") as file:
                file.write(b"y")
            os.utime(top / f"f{number + 1}")
        assert_sources_agree(ringwalk, [source], *command, separator=b"\0", cwd=top)
        assert_sources_agree(ringwalk, [source], "--sync", *command, separator=b"\0", cwd=top)
    if options == "lazytime":
        refused = ringwalk("--source", "ext4", *command, cwd=top)
        assert refused.status == 1 and b"lazytime" in refused.err and refused.out == b""


def test_times_of_access_of_directories(ringwalk, mount, scratch):
    """Reading a directory changes its access time; a walk past the VFS does not."""
    top = mount(images.fresh, "ext4", scratch, "-t ext4 -b 4096", "strictatime").point
    for number in range(30):
        (top / f"d{number}").mkdir()
        (top / f"d{number}" / "file").touch()
    trees.settle(top)
    # A walk opens directories that are new, as another file may have had their inode number.
    time.sleep(4)
    for number in range(30):
        os.listdir(top / f"d{number}")
    # With -maxdepth these directories are not read.
    command = ("find", ".", "-mindepth", "1", "-maxdepth", "1", "-printf", "%p %A@ %T@\n")
    # du reads names by system calls if their order matters.
    for whole in (("find", "."), ("find", ".", "-size", "+1"), ("du", "-s"), ("count",)):
        before = sorted(ringwalk("--source", "syscall", *command, cwd=top).ok().lines())
        ringwalk("--source", "ext4", *whole, cwd=top).ok()
        after = sorted(ringwalk("--source", "ext4", *command, cwd=top).ok().lines())
        assert after == before


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_files_without_a_name(ringwalk, disk, engine):
    """No walk reports files that were unlinked while open, or that never had a name."""
    with moments.without_a_name(disk), contextlib.ExitStack() as stack:
        removed = disk / "removed"
        removed.mkdir()
        stack.callback(os.close, os.open(removed, os.O_RDONLY))
        removed.rmdir()
        trees.settle(disk)
        reference = Reference(ringwalk, disk)
        for source in SOURCES:
            reference.check("--source", source, *engine)
        assert b'"file": 20' in answers.records("counts", reference.answer("counts"))[0]
    reference.check("--source", "ext4", questions=FEW)


def test_hard_links_are_charged_once(ringwalk, plain):
    for number in range(50):
        folder = plain / f"d{number}"
        folder.mkdir()
        (folder / "own").write_bytes(b"x" * 4096)
        os.link(folder / "own", folder / "again")
        os.link(plain / "d0" / "own", folder / "first")
    trees.settle(plain)
    reference = Reference(ringwalk, plain)
    for engine in ((), ("--sync",)):
        for source in SOURCES:
            reference.check("--source", source, *engine)
    once, each = (
        reference.answer(question).out for question in ("one size", "one size, links each")
    )
    assert int(each.split()[0]) - int(once.split()[0]) == 100 * 4096


@pytest.mark.parametrize(
    "line", ("-t ext4 -b 4096", "-t ext4 -b 1024 -O ^metadata_csum,^uninit_bg")
)
@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_while_it_is_written_to(ringwalk, mount, scratch, line, engine):
    churn.check(ringwalk, mount(images.fresh, "ext4", scratch, line).point, "ext4", *engine)


def test_a_directory_that_grows(ringwalk, plain):
    """A directory grows from one block to an index of many, and shrinks to nothing."""
    folder = plain / "grows"
    folder.mkdir()
    command = ("find", "grows", "-printf", "%p %i %y\n")
    for number in range(3000):
        (folder / f"entry-{number}-{'n' * 180}").touch()
        if number in (1, 2, 3, 14, 15, 16, 17, 18, 19, 20, 40) or number % 600 == 0:
            assert_sources_agree(ringwalk, ["ext4"], *command, cwd=plain)
    for number in range(3000):
        (folder / f"entry-{number}-{'n' * 180}").unlink()
        if number >= 2998 or number % 600 == 0:
            assert_sources_agree(ringwalk, ["ext4"], *command, cwd=plain)


def test_inodes_that_are_used_again(ringwalk, plain):
    """Directories, links and devices get inode numbers that files have had."""
    for turn in range(12):
        for number in range(40):
            path = plain / f"turn{turn}-{number}"
            kind = (turn + number) % 4
            if kind == 0:
                path.mkdir()
            elif kind == 1:
                path.symlink_to("nowhere" * (turn + 1))
            elif kind == 2:
                os.mkfifo(path)
            else:
                path.write_bytes(b"x" * 1000 * turn)
        assert_sources_agree(
            ringwalk, SOURCES, "find", ".", "-printf", "%p %i %y %s %l\n", cwd=plain
        )
        for path in plain.glob(f"turn{turn}-*"):
            churn.remove(path)


def test_a_large_directory_of_new_files_is_read_to_its_end(ringwalk, plain):
    """auto falls back in the middle of a directory when it finds that most files are new."""
    below = plain / "top"
    # Enough files that auto opens the volume; it reads each directory at once.
    for _ in range(2):
        below = below / "next"
        below.mkdir(parents=True)
        for number in range(1000):
            (below / f"f{number}").touch()
    (below / "large").mkdir()
    for number in range(9000):
        os.mknod(below / "large" / f"{'n' * 60}{number}")
    command = ("--workers", "1", "du", "-s", "--inodes", "top")
    row = answers.explained(ringwalk, plain, *command)["source"]
    assert "given up" in row, row
    assert_sources_agree(ringwalk, SOURCES, *command, cwd=plain)


def test_directories_in_directories(ringwalk, mount, scratch):
    """So many levels that a way up from each of them would take very long."""
    top = mount(images.fresh, "ext4", scratch, "-t ext4 -b 1024 -N 30000").point
    command = ("count", "--no-stat", top / "deep")
    with trees.deep_tree(top / "deep", 20_000):
        # System calls read new directories in any case.
        time.sleep(4)
        expected = ringwalk("--source", "syscall", *command).ok().out
        for source in SOURCES:
            assert ringwalk("--source", source, *command, cpu=10).ok().out == expected
