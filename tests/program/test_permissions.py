"""Directories that a user without privileges may not read, as their owner and as another user."""

from __future__ import annotations

import json
import os

import pytest
from support import trees
from support.gnu import assert_same, counted, find_totals
from support.run import USER, run


@pytest.fixture(scope="module")
def closed(base):
    """A tree with a directory closed to reading, one closed to searching, and open ones."""
    top = base / "closed"
    for path in ("open/a", "unreadable/hidden", "unsearchable/a", "open/nothing"):
        (top / path).mkdir(parents=True)
    for path in ("open/a", "open", "unreadable", "unreadable/hidden", "unsearchable"):
        for number in range(3):
            (top / path / f"file{number}").write_bytes(b"x" * 5000)
    trees.settle(top)
    modes = {"unreadable": 0o311, "unsearchable": 0o444, "open/nothing": 0}
    for path, mode in modes.items():
        (top / path).chmod(mode)
    yield top
    for path in modes:
        (top / path).chmod(0o755)


@pytest.mark.parametrize("options", (("-a",), ("-s",), ("-ab",), ("--inodes",), ("-d1",)))
def test_du_reports_like_gnu(du, gnu_du, closed, options):
    assert_same(du, gnu_du, *options, closed, uid=USER)
    assert_same(du, gnu_du, *options, closed / "unreadable", uid=USER)
    assert_same(du, gnu_du, *options, closed / "unreadable" / "hidden", uid=USER)


def test_du_does_not_complain_of_what_is_left_out(du, gnu_du, closed):
    """An excluded file is no error, even if its metadata cannot be read."""
    result = assert_same(du, gnu_du, "-a", "--exclude=file*", closed / "unsearchable", uid=USER)
    assert b"file" not in result.err
    assert_same(du, gnu_du, "--exclude=*unreadable", closed, uid=USER)
    assert_same(du, gnu_du, "--exclude=missing", "missing", ".", cwd=closed / "open" / "a")


@pytest.mark.parametrize("workers", (1, 4))
def test_count_names_what_it_could_not_read(count, closed, workers):
    result = count("--workers", workers, closed, uid=USER)
    assert result.status == 1
    for name in (b"unreadable", b"nothing"):
        assert name in result.err
    assert result.err.count(b"Permission denied") >= 2
    # Names need permissions on directories only, none on their entries.
    names = count("--no-stat", "--workers", workers, closed, uid=USER)
    found = run(["find", closed, "-mindepth", "1", "-printf", "x"], uid=USER)
    assert counted(names) == (len(found.out),)


def test_count_json_says_how_many_errors(count, closed):
    result = count("--format=json", "--no-stat", closed, uid=USER)
    assert result.status == 1
    assert json.loads(result.out)["errors"] == result.err.count(b"Permission denied") == 3


def test_an_unreadable_operand(count, du, gnu_du, closed):
    result = count(closed / "open" / "nothing", closed / "open" / "a", uid=USER)
    assert result.status == 1
    assert b"nothing" in result.err and b"Permission denied" in result.err
    assert counted(result) == (3, 15000)
    assert_same(du, gnu_du, closed / "open" / "nothing", uid=USER)


def test_an_open_tree_needs_no_privileges(count, du, gnu_du, closed):
    files, size = find_totals(closed / "open" / "a")
    assert counted(count(closed / "open" / "a", uid=USER).ok()) == (files, size)
    assert_same(du, gnu_du, "-a", closed / "open" / "a", uid=USER)


def test_a_parent_that_may_not_be_read(count, du, gnu_du, closed):
    """Relative operands work even if parents of the current directory may not be read."""
    folder = closed / "unreadable" / "hidden"
    assert os.stat(folder.parent).st_mode & 0o777 == 0o311
    assert counted(count(".", cwd=folder, uid=USER).ok()) == (3, 15000)
    assert_same(du, gnu_du, "-a", cwd=folder, uid=USER)
