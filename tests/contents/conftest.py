"""Fixtures of the tests of `ringwalk hash` and `ringwalk dupes`."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

import pytest
from support import zoo
from support.run import Program


@pytest.fixture(scope="session")
def hashing(ringwalk: Program) -> Program:
    """`ringwalk hash`."""
    return ringwalk.with_args("hash")


@pytest.fixture(scope="session")
def dupes(ringwalk: Program) -> Program:
    """`ringwalk dupes`."""
    return ringwalk.with_args("dupes")


@pytest.fixture
def home(scratch):
    return scratch / "home"


@pytest.fixture
def act(dupes, home) -> Program:
    """`ringwalk dupes --do`, whose trash and log are those of the test."""
    env = {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
    }
    return Program(*dupes.first, env=env)


# Its number is the same on every architecture (include/uapi/asm-generic/unistd.h).
IO_URING_SETUP = 425


@pytest.fixture
def needs_io_uring() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    # Without a place for its answer a kernel that has the call fails it in another way.
    libc.syscall(IO_URING_SETUP, 1, None)
    if ctypes.get_errno() in (errno.ENOSYS, errno.EPERM):
        pytest.skip(f"io_uring is refused: {os.strerror(ctypes.get_errno())}")


@pytest.fixture(scope="session")
def named(base: Path) -> Path:
    """Files under every odd name, each with other contents. Not to be changed."""
    top = base / "named"
    zoo.names(top)
    for number, path in enumerate(files_below(top)):
        with open(path, "wb") as file:
            file.write(b"%d " % number * (number % 40))
    return top


def files_below(top: Path) -> list[bytes]:
    """Returns the paths of the regular files, sorted."""
    found = []
    for folder, _, files in os.walk(os.fsencode(top)):
        found += [os.path.join(folder, name) for name in files]
    return sorted(path for path in found if not os.path.islink(path))
