"""Fixtures of the tests of `ringwalk browse`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import tmux
from support.browse import Browse
from support.run import Program


@pytest.fixture
def browse(ringwalk: Program, scratch: Path) -> Browse:
    """The program under test, with `--once`."""
    return Browse(ringwalk, scratch)


@pytest.fixture
def terminal(programs: Path, browse: Browse, scratch: Path) -> Iterator[Callable]:
    """A function that runs `ringwalk browse` in a terminal: `terminal(top, "-x", size=(20, 5))`."""
    with contextlib.ExitStack() as stack:

        def enter(*args, size=(80, 24), env=None) -> tmux.Terminal:
            words = [programs / "ringwalk", "browse", *args]
            variables = {**browse.env, **(env or {})}
            made = tmux.terminal(scratch / "terminal", words, size=size, env=variables)
            return stack.enter_context(made)

        yield enter


@pytest.fixture
def shell(programs: Path, browse: Browse, scratch: Path) -> Iterator[tmux.Terminal]:
    """A terminal with a shell, in which `ringwalk` is the program under test."""
    env = {**browse.env, "PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin", "PS1": "ready> "}
    with tmux.terminal(scratch / "terminal", ["sh", "-i"], env=env) as made:
        made.wait("ready>")
        yield made


@pytest.fixture
def top(scratch: Path) -> Path:
    """A small tree: 3 directories and 6 files, of sizes that no two entries share."""
    top = scratch / "top"
    for name, size in (
        ("big/one.log", 900_000),
        ("big/two.log", 300_000),
        ("big/deep/three.o", 200_000),
        ("small/four.o", 60_000),
        ("small/five.txt", 20_000),
        ("six.txt", 100_000),
    ):
        file = top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * size)
    return top
