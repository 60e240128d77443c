"""Fixtures shared by the end-to-end tests.

The program under test is the debug build, whose arithmetic and assertions are checked; set
RINGWALK_BIN to test another one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import capi, gnu, mounts, trees, zoo
from support import find as finding
from support.run import Program

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """Moves the session into its own mount namespace, before any thread is there."""
    config.mounts_refused = mounts.private_namespace()


@pytest.fixture(scope="session")
def base() -> Iterator[Path]:
    """A directory on disk that every user may enter; all that tests make is below it."""
    path = Path(tempfile.mkdtemp(prefix="ringwalk-test-"))
    path.chmod(0o755)
    yield path
    # rm copes with every mode, name and depth that the tests make; shutil.rmtree recurses.
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


@pytest.fixture
def scratch(base: Path) -> Iterator[Path]:
    """A fresh directory for one test."""
    path = Path(tempfile.mkdtemp(dir=base))
    path.chmod(0o755)
    yield path
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A fresh directory in memory where there is one: for trees of very many entries."""
    shm = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(prefix="ringwalk-test-", dir=shm if shm.is_dir() else None))
    yield path
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


@pytest.fixture(scope="session")
def programs(base: Path) -> Path:
    """A directory that any user can reach, with the program and its links named du and find."""
    built = Path(os.environ.get("RINGWALK_BIN", ROOT / "target" / "debug" / "ringwalk"))
    if not built.is_file():
        pytest.exit(f"{built} is not there: build it first (make test does)", returncode=2)
    folder = base / "bin"
    folder.mkdir()
    shutil.copy(built, folder / "ringwalk")
    for name in ("du", "find"):
        (folder / name).symlink_to("ringwalk")
    return folder


@pytest.fixture(scope="session")
def ringwalk(programs: Path) -> Program:
    """The program under test."""
    return Program(programs / "ringwalk")


@pytest.fixture(scope="session")
def count(ringwalk: Program) -> Program:
    """`ringwalk count`."""
    return ringwalk.with_args("count")


@pytest.fixture(scope="session")
def du(programs: Path) -> Program:
    """The program under test, called through its link named du."""
    return Program(programs / "du")


@pytest.fixture(scope="session")
def gnu_du(base: Path) -> Program:
    """GNU du, the reference, with the apparent sizes of coreutils 9.7."""
    program = gnu.du(base)
    if program is None:
        pytest.skip("du is not GNU du")
    return program


@pytest.fixture(scope="session")
def find(programs: Path) -> Program:
    """The program under test, called through its link named find."""
    return Program(programs / "find")


@pytest.fixture(scope="session")
def ringwalk_find(ringwalk: Program) -> Program:
    """`ringwalk find`."""
    return ringwalk.with_args("find")


@pytest.fixture(scope="session")
def gnu_find() -> Program:
    """GNU find, the reference."""
    program = finding.gnu_find()
    if program is None:
        pytest.skip("find is not GNU find")
    return program


@pytest.fixture(scope="session")
def library(base: Path) -> capi.Library:
    """The C library under test; programs of tests are built with it."""
    built = Path(os.environ.get("RINGWALK_CAPI", ROOT / "target" / "capi" / "dev"))
    if not (built / "libringwalk.so").exists():
        pytest.exit(f"{built} is not there: build it first (make test does)", returncode=2)
    work = base / "capi"
    work.mkdir()
    return capi.Library(built.resolve(), work)


@pytest.fixture(scope="session")
def library_tree(base: Path) -> Path:
    """The tree of tests/capi/cases.h. Not to be changed."""
    top = base / "library-tree"
    capi.make_tree(top)
    return top


@pytest.fixture(scope="session")
def menagerie(base: Path) -> Path:
    """The directory of `support/zoo.py`. Not to be changed."""
    top = base / "zoo"
    zoo.make(top)
    trees.settle(top)
    return top


@pytest.fixture(scope="session")
def tree(base: Path) -> Path:
    """A random tree with every type of entry and every byte in names. Not to be changed."""
    top = base / "tree"
    trees.RandomTree(top, seed=1, entries=700)
    zoo.settle_access_times(top)
    trees.settle(top)
    return top


@pytest.fixture(scope="session")
def text_tree(base: Path) -> Path:
    """A random tree whose names hold every byte but the newline. Not to be changed."""
    top = base / "text-tree"
    trees.RandomTree(top, seed=2, entries=500, alphabet=trees.LINE_BYTES)
    zoo.settle_access_times(top)
    trees.settle(top)
    return top


@pytest.fixture
def needs_root() -> None:
    """Skips the test for other users."""
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture
def mount(request: pytest.FixtureRequest, scratch: Path) -> Iterator:
    """Enters mount helpers for the length of one test: `mount(mounts.tmpfs, work)`."""
    reason = request.config.mounts_refused
    if reason:
        pytest.skip(reason)
    with contextlib.ExitStack() as stack:

        def enter(helper, *args):
            try:
                return stack.enter_context(helper(*args))
            except mounts.Unavailable as refused:
                pytest.skip(str(refused))

        yield enter
