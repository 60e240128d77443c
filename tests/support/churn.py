"""Directories that change during a walk, and the guarantees of a walk of them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
from pathlib import Path

from support import trees
from support.answers import assert_sources_agree
from support.find import difference
from support.run import Program, rounds

FOLDERS = ("small", "large", "large/below", "empty")
SECONDS = 3.0


def remove(path: str | Path) -> None:
    """Removes a file, a link or an empty directory."""
    try:
        os.unlink(path)
    except IsADirectoryError:
        os.rmdir(path)


class Writer:
    """A process that changes directories, but no entry named `stays-`."""

    def __init__(self, top: Path, seed: int):
        self.rng = random.Random(seed)
        self.seed = seed
        self.folders = [str(top / name) for name in FOLDERS]

    def forever(self) -> None:
        """Makes, grows, renames and removes entries, in bursts that split blocks of directories."""
        while True:
            here, there = self.rng.choice(self.folders), self.rng.choice(self.folders)
            names = [self.name() for _ in range(self.rng.randrange(1, 60))]
            for name in names:
                self.make(f"{here}/{name}")
            for name in names:
                if self.rng.random() < 0.5:
                    os.rename(f"{here}/{name}", f"{there}/{name}")
            for name in names:
                for folder in {here, there}:
                    with contextlib.suppress(FileNotFoundError):
                        remove(f"{folder}/{name}")

    def name(self) -> str:
        """Returns a random name, which no other entry is likely to have had."""
        return f"comes-{self.seed}-{self.rng.random()}".ljust(self.rng.randrange(20, 200), "-")

    def make(self, path: str) -> None:
        """Makes a directory, a link or a file."""
        kind = self.rng.randrange(4)
        if kind == 0:
            os.mkdir(path)
        elif kind == 1:
            os.symlink("t" * self.rng.randrange(1, 200), path)
        else:
            with open(path, "wb") as file:
                file.write(b"x" * self.rng.randrange(9000))


@contextlib.contextmanager
def writing(top: Path):
    """Runs two processes that change the entries of `top`, while the block runs."""
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=Writer(top, seed).forever, daemon=True) for seed in range(2)]
    for writer in writers:
        writer.start()
    try:
        yield
        assert all(writer.is_alive() for writer in writers), "a writer ended by itself"
    finally:
        for writer in writers:
            writer.kill()
            writer.join()


def prepare(top: Path) -> set[bytes]:
    """Fills directories with entries that stay; returns the lines of find for them."""
    expected = set()
    for name in FOLDERS:
        (top / name).mkdir(exist_ok=True)
    for name, number in (("small", 20), ("large", 2000), ("large/below", 300)):
        for entry in range(number):
            path = top / name / f"stays-{entry}".ljust(20 + entry % 150, "-")
            path.write_bytes(b"x" * (entry % 7))
            expected.add(b"%s %d 1 f" % (bytes(path.relative_to(top)), entry % 7))
    trees.settle(top)
    return expected


def check(ringwalk: Program, top: Path, source: str, *engine: str) -> None:
    """Checks the guarantees: each entry that stays is reported once, with its fields. No entry is
    reported that never existed. Vanished entries are no errors.
    """
    expected = prepare(top)
    command = ("find", ".", "-ignore_readdir_race", "-mindepth", "1", "-printf", "%P %s %n %y\\0")
    ask = ringwalk.with_args("--source", source, *engine)
    with writing(top):
        for _ in rounds(SECONDS, least=2):
            reported = ask(*command, cwd=top).ok().lines(b"\0")
            stays = [line for line in reported if b"stays-" in line]
            assert not difference(expected, stays)
            for line in set(reported) - set(stays):
                name = line.split(b" ")[0]
                assert b"comes-" in name or name.decode() in (*FOLDERS, "lost+found"), line
            assert b'"errors":0' in ask("count", "--format=json", top).ok().out
            summed = ask("du", "-s", "--inodes", top).sane()
            # du reports a directory that has vanished before it is read, as GNU du does.
            others = [line for line in summed.err.splitlines() if b"No such file" not in line]
            assert not others, others
            assert len(expected) < int(summed.out.split()[0]) < len(expected) + 2000
    # The writers have ended, so every answer must be equal.
    trees.settle(top)
    assert_sources_agree(ringwalk, [source, "auto"], *command, separator=b"\0", cwd=top)
