"""ext4 from the block device while it is in use: what is fresh, what is open, what changes."""

from __future__ import annotations

import contextlib
import mmap
import multiprocessing
import os
import random
import time
from pathlib import Path

import pytest
from support import answers, images, trees
from support.answers import FEW, Reference, assert_sources_agree
from support.find import difference

pytestmark = pytest.mark.usefixtures("needs_root")

SOURCES = ("ext4", "auto")


@pytest.fixture(params=("has_journal", "^has_journal", "has_journal,bigalloc,inline_data"))
def disk(request, mount, scratch):
    """An empty ext4 that is written to."""
    return mount(images.fresh, "ext4", scratch, f"-t ext4 -O {request.param}").point


@pytest.fixture
def plain(mount, scratch):
    """The same in the usual format only."""
    return mount(images.fresh, "ext4", scratch, "-t ext4").point


def write_all(top: Path) -> None:
    """Files in every state between being written and being on the disk."""
    trees.RandomTree(top / "tree", seed=61, entries=150)
    for number in range(100):
        (top / f"appended{number}").write_bytes(b"x" * (number * 97))
    old = (1_000_000_000 * 10**9, 1_000_000_000 * 10**9)
    for number in range(0, 100, 3):
        with open(top / f"appended{number}", "ab") as file:
            file.write(b"more" * 3000)
        # What `cp -a` does: a time of modification long ago tells nothing.
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
    """Files get their blocks at any time; what system calls say twice must be said."""
    write_all(disk)
    for source in SOURCES:
        for question in FEW:
            before, got, after = (
                answers.records(question, answers.ask(ringwalk, question, disk, *words).ok())
                for words in (
                    ("--source", "syscall"),
                    ("--source", source, *engine),
                    ("--source", "syscall"),
                )
            )
            missing = (set(before) & set(after)) - set(got)
            assert not missing, (source, question, sorted(missing)[:5])
            assert len(got) == len(before), (source, question)


def test_sizes_are_right_before_anything_is_written_back(ringwalk, plain):
    """With write-back as far away as it is by default, what the disk has would be 0 bytes."""
    expected = set()
    for number in range(200):
        (plain / f"f{number}").write_bytes(b"x" * (number * 1000))
        expected.add(b"f%d %d" % (number, number * 1000))
    command = ("find", ".", "-name", "f*", "-printf", "%f %s\n")
    for source in SOURCES:
        result = ringwalk("--source", source, *command, cwd=plain).ok()
        assert set(result.lines()) == expected
        total = int(ringwalk("--source", source, "du", "-sb", ".", cwd=plain).ok().out.split()[0])
        assert total >= sum(number * 1000 for number in range(200))


@pytest.mark.parametrize("options", ("lazytime", "strictatime", "relatime", "nodelalloc"))
def test_times_that_are_only_in_memory(ringwalk, mount, scratch, options):
    """lazytime keeps times in memory for a day; accesses change them beside every other change."""
    top = mount(images.fresh, "ext4", scratch, "-t ext4 -I 256", options).point
    trees.RandomTree(top / "tree", seed=62, entries=100)
    for number in range(50):
        (top / f"f{number}").write_bytes(b"x" * 5000)
    trees.settle(top)
    command = ("find", ".", "-type", "f", "-printf", "%p %s %b %A@ %C@ %T@\\0")
    for source in SOURCES:
        for number in range(0, 50, 2):
            (top / f"f{number}").read_bytes()
            # The same size: nothing but times changes.
            with open(top / f"f{number + 1}", "r+b") as file:
                file.write(b"y")
            os.utime(top / f"f{number + 1}")
        for engine in ((), ("--sync",)):
            expected = ringwalk("--source", "syscall", *command, cwd=top).ok().lines(b"\0")
            got = ringwalk("--source", source, *engine, *command, cwd=top).ok().lines(b"\0")
            assert not difference(expected, got)


def test_times_of_access_of_directories(ringwalk, mount, scratch):
    """Reading past the VFS is no access; what system calls then say is what was said."""
    top = mount(images.fresh, "ext4", scratch, "-t ext4", "lazytime,strictatime").point
    for number in range(30):
        (top / f"d{number}").mkdir()
        (top / f"d{number}" / "file").touch()
    os.sync()
    for number in range(30):
        os.listdir(top / f"d{number}")
    command = ("find", ".", "-mindepth", "1", "-maxdepth", "1", "-printf", "%p %A@ %T@\n")
    # -maxdepth keeps them from being read.
    got = ringwalk("--source", "ext4", *command, cwd=top).ok().lines()
    expected = ringwalk("--source", "syscall", *command, cwd=top).ok().lines()
    assert not difference(expected, got)


@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_files_without_a_name(ringwalk, disk, engine):
    """Unlinked while open, made without a name, waiting to be removed: no walk meets them."""
    for number in range(20):
        (disk / f"kept{number}").write_bytes(b"x" * 10_000)
    with contextlib.ExitStack() as stack:
        for number in range(20):
            file = stack.enter_context(open(disk / f"unlinked{number}", "wb"))
            file.write(b"x" * 100_000)
            (disk / f"unlinked{number}").unlink()
            nameless = os.open(disk, os.O_TMPFILE | os.O_RDWR)
            stack.callback(os.close, nameless)
            os.write(nameless, b"x" * 50_000)
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


def remove(path: str) -> None:
    """Removes a file, a link or an empty directory."""
    try:
        os.unlink(path)
    except IsADirectoryError:
        os.rmdir(path)


class Churn:
    """What a process does in directories that are walked: nothing to entries named `stays-`."""

    def __init__(self, top: Path, seed: int):
        self.rng = random.Random(seed)
        self.seed = seed
        self.folders = [str(top / name) for name in FOLDERS]

    def forever(self) -> None:
        """Makes, grows, renames and removes entries, in bursts that split blocks of directories."""
        while True:
            folder, other = self.rng.choice(self.folders), self.rng.choice(self.folders)
            names = [
                f"comes-{self.seed}-{self.rng.random()}".ljust(self.rng.randrange(20, 200), "-")
                for _ in range(self.rng.randrange(1, 60))
            ]
            for name in names:
                kind = self.rng.randrange(4)
                path = f"{folder}/{name}"
                if kind == 0:
                    os.mkdir(path)
                elif kind == 1:
                    os.symlink("t" * self.rng.randrange(1, 200), path)
                else:
                    with open(path, "wb") as file:
                        file.write(b"x" * self.rng.randrange(0, 9000))
            for name in names:
                if self.rng.random() < 0.5:
                    os.rename(f"{folder}/{name}", f"{other}/{name}")
            for name in names:
                for place in {folder, other}:
                    path = f"{place}/{name}"
                    with contextlib.suppress(FileNotFoundError):
                        remove(path)


FOLDERS = ("small", "large", "large/below", "empty")
WRITER_SECONDS = 3.0


@contextlib.contextmanager
def churning(top: Path):
    """Two processes that change what is in `top` while the block runs."""
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=Churn(top, seed).forever, daemon=True) for seed in range(2)]
    for writer in writers:
        writer.start()
    try:
        yield writers
    finally:
        for writer in writers:
            writer.kill()
            writer.join()


def settle_for_writers(top: Path) -> set[bytes]:
    """Directories of which some entries stay; returns lines that tell all of those."""
    expected = set()
    for name in FOLDERS:
        (top / name).mkdir(exist_ok=True)
    for name, number in (("small", 20), ("large", 2500), ("large/below", 300)):
        for entry in range(number):
            path = top / name / f"stays-{entry}".ljust(20 + entry % 150, "-")
            path.write_bytes(b"x" * (entry % 7))
            expected.add(b"%s %d 1 f" % (bytes(path.relative_to(top)), entry % 7))
    trees.settle(top)
    return expected


@pytest.mark.parametrize("line", ("-t ext4", "-t ext4 -b 1024 -O ^metadata_csum,^uninit_bg"))
@pytest.mark.parametrize("engine", ((), ("--sync",)), ids=("", "synced"))
def test_while_it_is_written_to(ringwalk, mount, scratch, line, engine):
    """What is promised: entries that are there during the whole walk are told, once and rightly."""
    top = mount(images.fresh, "ext4", scratch, line).point
    expected = settle_for_writers(top)
    command = ("find", ".", "-ignore_readdir_race", "-mindepth", "1")
    command += ("-printf", "%P %s %n %y\\0")
    runs = 0
    with churning(top) as writers:
        end = time.monotonic() + WRITER_SECONDS
        while time.monotonic() < end:
            result = ringwalk("--source", "ext4", *engine, *command, cwd=top).ok()
            told = result.lines(b"\0")
            stays = [line for line in told if b"stays-" in line]
            assert not difference(expected, stays)
            for line in set(told) - set(stays):
                name = line.split(b" ")[0]
                assert b"comes-" in name or name.decode() in (*FOLDERS, "lost+found"), line
            counted = ringwalk("--source", "ext4", *engine, "count", "--json", top).ok()
            assert b'"errors":0' in counted.out
            summed = ringwalk("--source", "ext4", *engine, "du", "-s", "--inodes", top).sane()
            # A directory that is gone when it is to be read is told, as GNU du does.
            told = [line for line in summed.err.splitlines() if b"No such file" not in line]
            assert not told
            assert len(expected) < int(summed.out.split()[0]) < len(expected) + 2000
            runs += 1
        assert all(writer.is_alive() for writer in writers), "a writer ended by itself"
    assert runs >= 2
    # In peace again.
    trees.settle(top)
    assert_sources_agree(ringwalk, SOURCES, *command, separator=b"\0", cwd=top)


def test_a_directory_that_grows(ringwalk, plain):
    """From one block to an index of many, and back to nothing."""
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
    """A number that was a file's becomes a directory's, a link's, a device's."""
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
            remove(str(path))
