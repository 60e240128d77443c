"""Entries that change between the screen and the deletion: nothing else is deleted for them."""

from __future__ import annotations

import os

import pytest

REPLACED = "is another file than the one shown"


@pytest.fixture
def outside(scratch):
    """A directory that no deletion may touch."""
    outside = scratch / "outside"
    (outside / "deep").mkdir(parents=True)
    for name in ("one.log", "two.log", "deep/three.o", "precious"):
        (outside / name).write_bytes(b"precious")
    return outside


def whole(outside):
    return sorted(str(path.relative_to(outside)) for path in outside.rglob("*")) == [
        "deep",
        "deep/three.o",
        "one.log",
        "precious",
        "two.log",
    ]


def swap(path, target, how):
    """Puts something else in place of a directory."""
    path.rename(path.parent.parent / "moved")
    if how == "link":
        path.symlink_to(target)
    elif how == "file":
        path.write_bytes(b"new")
    elif how == "copy":
        (path / "deep").mkdir(parents=True)
        (path / "one.log").write_bytes(b"new")
    elif how == "bound":
        target.rename(path)


@pytest.mark.parametrize("how", ["link", "file", "copy", "other"])
@pytest.mark.parametrize("moment", ["before the question", "before the answer"])
def test_a_swapped_directory(terminal, top, outside, browse, how, moment):
    screen = terminal(top)
    screen.wait("/big", "six.txt", without=["reading"])
    screen.still()
    target = outside
    if how == "other":
        target, how = top / "small", "bound"
    if moment == "before the question":
        swap(top / "big", target, how)
    screen.press("g", "d")
    screen.wait("5 entries", "y/N")
    if moment == "before the answer":
        swap(top / "big", target, how)
    screen.press("y")
    screen.wait(REPLACED)
    # It stays listed, with its reason.
    screen.wait_for(r"^ X.*/big$")
    screen.press("i")
    screen.wait(f"Not deleted: {REPLACED}")
    assert whole(outside)
    assert os.path.lexists(top / "big") and (top.parent / "moved" / "one.log").exists()
    assert [line["event"] for line in browse.logged()] == ["begin", "kept"]
    assert browse.logged()[1]["reason"] == REPLACED


def test_a_swapped_directory_below(terminal, top, outside):
    screen = terminal(top)
    screen.wait("/big", "six.txt", without=["reading"])
    screen.still()
    swap(top / "big" / "deep", outside / "deep", "link")
    screen.press("g", "d")
    screen.wait("y/N")
    screen.press("y")
    screen.wait("2 entries deleted", "2 could not be")
    screen.press("i")
    screen.wait("Not deleted: contains entries that were kept")
    screen.press("i")
    assert whole(outside) and (top / "moved" / "three.o").exists()
    assert not (top / "big" / "one.log").exists()
    screen.press("Enter")
    screen.wait_for(r"^ X.*/deep$")
    screen.wait(REPLACED, without=["one.log"])


def test_a_swapped_directory_above(terminal, top, outside):
    """The directory that is shown has become a link to another one with the same names."""
    screen = terminal(top)
    screen.wait("/big", without=["reading"])
    screen.still()
    screen.press("g", "Enter")
    screen.wait("one.log")
    swap(top / "big", outside, "link")
    for name, moves in (("one.log", ["g"]), ("deep", ["G"])):
        screen.press(*moves, "d")
        screen.wait(f"big/{name}", "y/N")
        screen.press("y")
        screen.wait("0 entries deleted", "1 could not be", without=["y/N"])
        screen.press("i")
        screen.wait("Not deleted: a directory above was moved or replaced")
        screen.press("i")
    assert whole(outside) and (top.parent / "moved" / "one.log").exists()


def test_a_swapped_top(terminal, top, outside):
    screen = terminal(top)
    screen.wait("/big", without=["reading"])
    screen.still()
    screen.press("g", "Enter")
    screen.wait("one.log")
    moved = top.rename(top.parent / "elsewhere")
    (outside / "big").symlink_to(outside)
    top.symlink_to(outside)
    screen.press("g", "d")
    screen.wait("big/one.log", "y/N")
    screen.press("y")
    screen.wait("cannot delete", "is another dir", without=["y/N"])
    (outside / "big").unlink()
    assert whole(outside) and (moved / "big" / "one.log").exists()


def test_a_file_that_was_replaced(terminal, top):
    screen = terminal(top)
    screen.wait("six.txt", without=["reading"])
    screen.still()
    (top / "six.txt").rename(top.parent / "moved")
    (top / "six.txt").write_bytes(b"new")
    screen.press("g", "Down", "d")
    screen.wait("six.txt", "y/N")
    screen.press("y")
    screen.wait(REPLACED)
    assert (top / "six.txt").read_bytes() == b"new"


def test_new_entries_are_kept(terminal, top):
    """Nobody has seen them, so nobody has agreed. Everything else goes."""
    screen = terminal(top)
    screen.wait("/big", without=["reading"])
    screen.still()
    (top / "big" / "deep" / "new").write_bytes(b"new")
    screen.press("g", "d")
    screen.wait("5 entries", "y/N")
    screen.press("y")
    screen.wait("could not be")
    assert (top / "big" / "deep" / "new").read_bytes() == b"new"
    assert not (top / "big" / "one.log").exists()


def test_entries_that_have_gone(terminal, top):
    screen = terminal(top)
    screen.wait("six.txt", without=["reading"])
    screen.still()
    (top / "six.txt").unlink()
    screen.press("g", "Down", "d")
    screen.wait("six.txt", "y/N")
    screen.press("y")
    screen.wait("is no longer there")
