"""The order of the output: parents before their contents, and -s."""

from __future__ import annotations

import os

import pytest
from support import trees
from support.find import assert_parents_first


def expected_order(top: bytes, above: bytes) -> list[bytes]:
    """Returns the order of -s: a directory, then its entries by name, each with its contents."""
    lines = [above]
    if os.path.isdir(top) and not os.path.islink(top):
        for name in sorted(os.listdir(top)):
            lines += expected_order(os.path.join(top, name), above + b"/" + name)
    return lines


@pytest.mark.parametrize("workers", ("1", "2", "8"))
def test_sorted(find, text_tree, workers):
    env = {"RINGWALK_WORKERS": workers}
    top = os.fsencode(text_tree)
    expected = expected_order(top, top)
    assert find(text_tree, "-s", env=env).ok().lines() == expected
    types = find(text_tree, "-type", "d", "-s", env=env).ok().lines()
    assert types == [path for path in expected if os.path.isdir(path) and not os.path.islink(path)]
    printed = find(text_tree, "-s", "-printf", "%p\\n", "-size", "+1k", "-print", env=env).ok()
    assert len(printed.lines()) > len(expected)


@pytest.mark.smoke
def test_sorted_starting_points(find, text_tree, scratch):
    for name in ("b", "a", "c"):
        (scratch / name / "x").mkdir(parents=True)
    lines = find("c", "a", "b", "-s", cwd=scratch).ok().lines()
    assert lines in (
        [b"c", b"c/x", b"a", b"a/x", b"b", b"b/x"],
        [b"a", b"a/x", b"b", b"b/x", b"c", b"c/x"],
    )
    depth = find(scratch, "-s", "-depth", "-printf", "%P\\n").ok().lines()
    assert depth == [b"a/x", b"a", b"b/x", b"b", b"c/x", b"c", b""]


def test_sorted_with_commands(find, text_tree):
    plain = find(text_tree, "-s").ok().lines()
    line = ("-exec", "printf", "%s\\n", "{}", ";")
    for number, path in enumerate(find(text_tree, "-s", *line).ok().lines()):
        assert path == plain[number]


def test_parents_first_in_wide_trees(find, scratch):
    trees.make_branching(scratch / "t", levels=7, children=2)
    for workers in ("2", "8"):
        lines = find("t", cwd=scratch, env={"RINGWALK_WORKERS": workers}).ok().lines()
        assert len(lines) == 509
        assert_parents_first(lines)


@pytest.mark.parametrize("rest", ("", "-depth"))
@pytest.mark.parametrize("workers", ("1", "3"))
def test_sorted_and_unique(find, scratch, workers, rest):
    for path in ("b/y/z", "a/x", "c", "b.d/w"):
        (scratch / "tree" / path).mkdir(parents=True)
    env = {"RINGWALK_WORKERS": workers}
    plain = find("tree", "-s", *rest.split(), cwd=scratch, env=env).ok()
    unique = find("tree", "-s", "-unique", *rest.split(), cwd=scratch, env=env).ok()
    assert unique.lines() == plain.lines() and len(plain.lines()) == 9


def test_parents_come_first(find, text_tree):
    for workers in ("1", "2", "8"):
        env = {"RINGWALK_WORKERS": workers}
        assert_parents_first(find(text_tree, env=env).ok().lines())
        lines = find(text_tree, "-links", "+0", "-print", env=env).ok().lines()
        assert len(lines) > 200
        assert_parents_first(lines)
