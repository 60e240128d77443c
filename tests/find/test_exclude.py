"""Files left out of the search: -hidden, -nohidden and -exclude, which GNU find does not have."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def hidden(scratch):
    for folder in ("a/.git/objects", "a/.cache", "b/c/.hidden", ".top"):
        (scratch / "t" / folder).mkdir(parents=True)
    for file in ("a/file", "a/.git/config", "a/.cache/x", "b/c/.hidden/y", "b/.dot", ".top/z"):
        (scratch / "t" / file).write_bytes(b"1234")
    return scratch


def listed(find, *args, **options) -> list[str]:
    """Returns the printed paths, sorted."""
    return sorted(os.fsdecode(line) for line in find(*args, **options).ok().lines())


def test_hidden(find, gnu_find, hidden):
    for ours, theirs in (
        ("-hidden", "-name .* ! -name . ! -name .."),
        ("! -hidden", "! ( -name .* ! -name . ! -name .. )"),
        ("-hidden -type f", "-name .* -type f"),
        ("-nohidden", "-name .?* -prune -o -print"),
        ("-type f -nohidden", "-name .?* -prune -o -type f -print"),
        ("-nohidden -type f", "-name .?* -prune -o -type f -print"),
    ):
        for top in ("t", "t/", "t/a", "t/b"):
            expected = listed(gnu_find, top, *theirs.split(), cwd=hidden)
            assert listed(find, top, *ours.split(), cwd=hidden) == expected, ours


def test_starting_points_with_dots_are_not_hidden(find, hidden):
    assert "." in listed(find, ".", "-nohidden", cwd=hidden)
    assert ".." in listed(find, "..", "-maxdepth", 0, "-nohidden", cwd=hidden / "t")


def test_exclude(find, gnu_find, hidden):
    for ours, theirs in (
        ("-exclude -name .git", "-name .git -prune -o -print"),
        ("-exclude ( -name .git -o -name c )", "( -name .git -o -name c ) -prune -o -print"),
        ("-type f -exclude -name .git", "-name .git -prune -o -type f -print"),
        ("-exclude -name .git -type f", "-name .git -prune -o -type f -print"),
        ("-exclude -type f", "! -type f"),
        ("-exclude -size 1", "! -size 1 -o -size 1 -prune -false"),
        ("-exclude -name a -exclude -name c", "( -name a -o -name c ) -prune -o -print"),
        ("-exclude ! -type d", "-type d"),
        (
            "-name x -o -type d -exclude -name .git",
            "-name .git -prune -o ( -name x -o -type d ) -print",
        ),
    ):
        expected = listed(gnu_find, "t", *theirs.split(), cwd=hidden)
        if "size" in ours:
            # Directories of one block are excluded too, with their contents.
            assert "t/a/file" not in listed(find, "t", *ours.split(), cwd=hidden)
            continue
        assert listed(find, "t", *ours.split(), cwd=hidden) == expected, ours


def test_exclude_reaches_where_prune_does_not(find, hidden):
    """With -depth and above -mindepth, -prune has no effect, but -exclude has."""
    plain = listed(find, "t", "-exclude", "-name", "a", cwd=hidden)
    assert listed(find, "t", "-depth", "-exclude", "-name", "a", cwd=hidden) == plain
    deeper = listed(find, "t", "-mindepth", 3, "-exclude", "-name", "a", cwd=hidden)
    assert deeper == [path for path in plain if path.count("/") >= 3]
    assert listed(find, "t", "-exclude", "-name", "t", cwd=hidden) == []


@pytest.mark.parametrize("line", ("-exclude", "-exclude -print", "-exclude -prune", "-exclude ( "))
def test_exclude_takes_tests_only(find, hidden, line):
    result = find("t", *line.split(), cwd=hidden)
    assert result.status == 1 and result.out == b"" and result.err


def test_excluded_directories_are_not_read(find, hidden, needs_root):
    (hidden / "t" / "a").chmod(0)
    result = find("t", "-exclude", "-name", "a", "-type", "f", cwd=hidden, uid=65534)
    assert (result.status, result.err) == (0, b"")
    (hidden / "t" / "a").chmod(0o755)
