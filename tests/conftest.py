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
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import accept_interrupts
from support import ROOT, capi, gnu, mounts, saved, trees, zoo
from support import find as finding
from support.run import Program


def pytest_configure(config: pytest.Config) -> None:
    """Moves the process into a mount namespace of its own: each worker of pytest-xdist has one."""
    accept_interrupts()
    config.mounts_refused = mounts.private_namespace()


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist puts the groups into the names
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Gives tests that share a fixture of their module to one worker of pytest-xdist.

    So the fixture is made once. Tests that disturb each other name a group of their own. Groups
    come first, as they take long; single tests at the end keep all workers busy.
    """
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs.values()
        shares = any(fixture.scope == "module" for known in fixtures for fixture in known)
        if shares and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@pytest.fixture(scope="session")
def base() -> Iterator[Path]:
    """A directory on disk for all files of the tests. Every user may enter it."""
    path = Path(tempfile.mkdtemp(prefix="ringwalk-test-"))
    path.chmod(0o755)
    yield path
    # rm copes with every mode, name and depth that the tests make; shutil.rmtree recurses.
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


@pytest.fixture
def scratch(base: Path) -> Iterator[Path]:
    """A new directory for one test."""
    path = Path(tempfile.mkdtemp(dir=base))
    path.chmod(0o755)
    yield path
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A new directory for trees of very many entries, in /dev/shm if that is there."""
    shm = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(prefix="ringwalk-test-", dir=shm if shm.is_dir() else None))
    yield path
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


@pytest.fixture(scope="session")
def programs(base: Path) -> Path:
    """A directory that any user can reach, with the program and its links named du and find."""
    built = Path(os.environ.get("RINGWALK_BIN", ROOT / "target" / "debug" / "ringwalk"))
    if not built.is_file():
        pytest.fail(f"{built} is missing: build it first (make e2e does)", pytrace=False)
    folder = base / "bin"
    folder.mkdir()
    shutil.copy(built, folder / "ringwalk")
    for name in ("du", "find"):
        (folder / name).symlink_to("ringwalk")
    return folder


@pytest.fixture(scope="session")
def example(programs: Path) -> Callable[[str], Path]:
    """A function that gives an example by its name, in a folder that every user can read."""
    built = Path(os.environ.get("RINGWALK_BIN", ROOT / "target/debug/ringwalk")).parent

    def find(name: str) -> Path:
        for folder in (built / "examples", built):
            if (folder / name).is_file():
                return Path(shutil.copy(folder / name, programs / name))
        pytest.fail(f"{name} is not in {built}: build it first (make e2e does)")

    return find


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
    """GNU du, the reference, with the apparent sizes of coreutils 9.10."""
    program = gnu.du(base)
    if program is None:
        pytest.skip("du is not GNU du")
    return program


@pytest.fixture(scope="session")
def find(programs: Path, base: Path) -> Iterator[Program]:
    """The program under test, called through its link named find.

    Its answers are compared with those from snapshots too.
    """
    settled = [base / name for name in ("zoo", "tree", "text-tree")]
    # Not in `base`, which tests search too.
    with tempfile.TemporaryDirectory(prefix="ringwalk-saved-") as folder:
        snapshots = saved.Saved(Program(programs / "ringwalk"), Path(folder), settled)
        yield saved.FindWithSaved(programs / "find", snapshots)


@pytest.fixture(scope="session")
def ringwalk_find(ringwalk: Program) -> Program:
    """`ringwalk find`."""
    return ringwalk.with_args("find")


@pytest.fixture(scope="session")
def gnu_find(base: Path) -> Program:
    """GNU find, the reference."""
    program = finding.gnu_find(base)
    if program is None:
        pytest.skip("find is not GNU find")
    return program


@pytest.fixture(scope="session")
def library(base: Path) -> capi.Library:
    """The C library under test; programs of tests are built with it."""
    built = Path(os.environ.get("RINGWALK_CAPI", ROOT / "target" / "capi" / "dev"))
    if not (built / "libringwalk.so").exists():
        pytest.fail(f"{built} is missing: build it first (make e2e does)", pytrace=False)
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
    """A function that mounts for the length of one test: `mount(mounts.tmpfs, work)`."""
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
