"""Trees to read."""

import os
import pathlib

import pytest
from cluster_support import make_tree
from processes import accept_interrupts
from support import endless_tree


def pytest_configure() -> None:
    accept_interrupts()


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> pathlib.Path:
    """Files of all sizes, links, a hard link, an empty directory, and names that are no text."""
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "empty").mkdir()
    for number in range(50):
        (top / "a" / f"file{number}").write_bytes(b"x" * number)
    (top / "a" / "b" / "deep.txt").write_text("deep")
    os.link(top / "a" / "file7", top / "a" / "b" / "again")
    (top / "link").symlink_to("a")
    (top / "dangling").symlink_to("nowhere")
    os.mkfifo(top / "pipe")
    (top / "line\nbreak").touch()
    pathlib.Path(os.fsdecode(os.fsencode(top) + b"/\xff\xfe.dat")).write_bytes(b"12345")
    os.utime(top / "a" / "file1", ns=(1_000_000_007, -5_000_000_003))
    return top


@pytest.fixture
def endless(tmp_path: pathlib.Path) -> pathlib.Path:
    """A tree that takes for ever when links are followed."""
    return endless_tree(tmp_path / "endless")


@pytest.fixture
def top(tmp_path: pathlib.Path) -> pathlib.Path:
    """A tree for several tasks: 40 directories of five files."""
    return make_tree(tmp_path / "top")


@pytest.fixture
def out(tmp_path: pathlib.Path) -> pathlib.Path:
    """The directory of a snapshot by several tasks; it is not there yet."""
    return tmp_path / "out"
