"""The screen at every size of a terminal, and when the size changes."""

from __future__ import annotations

import pytest

SIZES = ((20, 5), (80, 24), (300, 100))
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")

# Keys that cover the list, and a text that appears at every size.
COVERS = (
    ("?", "Moving"),
    ("1", "one.log"),
    ("2", "log"),
    ("3", ""),
    ("4", ""),
    ("5", ""),
    ("t", "/big"),
    ("i", "directory"),
)


def assert_fits(screen, size):
    columns, lines = size
    shown = screen.lines()
    assert len(shown) == lines
    assert all(len(line) <= columns for line in shown), shown


@sizes
@pytest.mark.smoke
def test_list_and_directories(terminal, top, size):
    screen = terminal(top, size=size)
    screen.wait("/big", "/small", "six.txt")
    screen.still()
    assert_fits(screen, size)
    screen.press("Enter")
    screen.wait("one.log", "two.log", "/deep", without=["six.txt"])
    screen.press("h")
    screen.wait("six.txt")
    screen.press("q")
    assert screen.status() == 0


@sizes
def test_panes_treemap_help_and_details(terminal, top, size):
    screen = terminal(top, size=size)
    screen.wait("six.txt", without=["reading", "..."])
    before = screen.still()
    for key, wanted in COVERS:
        screen.press(key)
        screen.until(lambda: screen.text() != before, f"a change after {key}")  # noqa: B023
        screen.wait(wanted)
        assert_fits(screen, size)
        screen.press("Escape")
        screen.until(lambda: screen.text() == before, f"the list after {key}")


@sizes
def test_a_deletion_can_be_decided(terminal, top, size):
    """The question and the answer are visible on the smallest screen, too."""
    screen = terminal(top, size=size)
    screen.wait("/big")
    screen.still()
    screen.press("d")
    screen.wait("y/N", "5 entries")
    assert_fits(screen, size)
    screen.press("Enter")
    screen.wait("nothing was deleted", without=["y/N"])
    assert (top / "big" / "one.log").exists()


def test_resize(terminal, top):
    screen = terminal(top)
    screen.wait("six.txt", "? keys")
    screen.still()
    for size in (*SIZES, (1, 1), (2, 2), (40, 3), (80, 24)):
        screen.resize(*size)
        screen.until(lambda: len(screen.lines()) == size[1], size)  # noqa: B023
    screen.wait("six.txt", "? keys", "by allocated size")
    screen.press("t")
    screen.wait("treemap")
    for size in ((20, 5), (3, 3), (300, 100), (80, 24)):
        screen.resize(*size)
    screen.wait("treemap of allocated sizes", "+/big")
    screen.press("q")
    assert screen.status() == 0


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (3, 1), (1, 40), (5, 3), (1000, 2), (2, 1000)])
def test_no_size_is_too_small(browse, top, size):
    for keys in ("", "?", "i", "t", "1", "2", "d", "/-name x", "M-name x<enter>"):
        lines = browse.lines(top, keys=keys, size=size)
        assert len(lines) == size[1], keys
        assert all(len(line) <= size[0] for line in lines), keys


@pytest.mark.parametrize("value", ["0", "-1", "x", "1001"])
@pytest.mark.parametrize("variable", ["COLUMNS", "LINES"])
def test_sizes_that_are_none(browse, top, variable, value):
    done = browse.run(top, env={variable: value})
    assert done.status == 2 and done.out == b""
    assert variable.encode() in done.err
