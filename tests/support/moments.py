"""Files whose structures on the disk are older than the answers of system calls."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from support import answers, trees
from support.answers import FEW
from support.run import Program

NUMBERED = 200
WITHOUT_A_NAME = 20

# The command of `check_numbered`.
LIST_NUMBERED = ("find", ".", "-name", "f[0-9]*", "-path", "./f*", "-printf", "%f %s\n")


def write_numbered(top: Path) -> set[bytes]:
    """Writes files of many sizes; returns the lines of find for them."""
    expected = set()
    for number in range(NUMBERED):
        (top / f"f{number}").write_bytes(b"x" * (number * 1000))
        expected.add(b"f%d %d" % (number, number * 1000))
    return expected


def check_numbered(ringwalk: Program, top: Path, expected: set[bytes], *engine: str) -> None:
    """Checks that sizes are those that were written, whether or not the data is on the disk."""
    assert set(ringwalk(*engine, *LIST_NUMBERED, cwd=top).ok().lines()) == expected


def check_said_twice(ringwalk: Program, top: Path, *engine: str) -> None:
    """Checks that the answer has what system calls answer both before and after it.

    Files get their blocks at any time, so two answers of system calls may differ.
    """
    for question in FEW:
        before, got, after = (
            answers.records(question, answers.ask(ringwalk, question, top, *words).ok())
            for words in (("--source", "syscall"), engine, ("--source", "syscall"))
        )
        missing = (set(before) & set(after)) - set(got)
        assert not missing, (engine, question, sorted(missing)[:5])
        assert len(got) == len(before), (engine, question)


@contextlib.contextmanager
def without_a_name(top: Path) -> Iterator[None]:
    """Makes files that are unlinked while open, files without a name, and files that stay."""
    for number in range(WITHOUT_A_NAME):
        (top / f"kept{number}").write_bytes(b"x" * 10_000)
    with contextlib.ExitStack() as stack:
        for number in range(WITHOUT_A_NAME):
            file = stack.enter_context(open(top / f"unlinked{number}", "wb"))
            file.write(b"x" * 100_000)
            file.flush()
            (top / f"unlinked{number}").unlink()
            nameless = os.open(top, os.O_TMPFILE | os.O_RDWR)
            stack.callback(os.close, nameless)
            os.write(nameless, b"x" * 50_000)
        trees.settle(top)
        yield
