"""The example `largest`, which docs/api.md shows beside the program for walkdir it was made of."""

from __future__ import annotations

import os

import pytest
from support.run import USER, Program


@pytest.fixture
def largest(example) -> Program:
    return Program(example("largest"))


def test_it_prints_the_largest_of_each_extension(largest, scratch):
    sizes = {f"{number}.rs": number for number in range(1, 6)}
    sizes |= {
        "below/deep/9.rs": 9,
        "below/7.md": 7,
        "plain": 2,
        ".hidden.rs": 8,
        ".git/large.rs": 99,
    }
    for name, size in sizes.items():
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    (scratch / "link.rs").symlink_to("5.rs")
    expected = [("md", 7, "below/7.md"), ("none", 2, "plain")]
    expected += [("rs", 9, "below/deep/9.rs"), ("rs", 8, ".hidden.rs"), ("rs", 5, "5.rs")]
    found = largest(scratch).ok().lines()
    assert found == [f"{ext} {size} {scratch / name}".encode() for ext, size, name in expected]


def test_of_files_with_one_size_the_newest_comes_first(largest, scratch):
    for name, time in {"old": 100, "new": 300.5, "middle": 300, "oldest": 50}.items():
        (scratch / name).write_bytes(b"x")
        os.utime(scratch / name, (0, time))
    found = largest(scratch).ok().lines()
    assert found == [f"none 1 {scratch / name}".encode() for name in ("new", "middle", "old")]


def test_what_cannot_be_read_is_an_error_with_its_depth(largest, scratch):
    for name in ("a/closed/file", "a/open/file", ".hidden/file"):
        (scratch / name).parent.mkdir(parents=True)
        (scratch / name).write_bytes(b"xyz")
    scratch.chmod(0o755)
    (scratch / "a/closed").chmod(0)
    (scratch / ".hidden").chmod(0)
    done = largest(scratch, uid=USER)
    assert done.status == 1
    assert done.lines() == [f"none 3 {scratch / 'a/open/file'}".encode()]
    closed = f'largest: depth 2: cannot open directory "{scratch / "a/closed"}"'
    assert done.err.startswith(closed.encode()) and done.err.count(b"\n") == 1
    (scratch / "a/closed").chmod(0o755)
    (scratch / ".hidden").chmod(0o755)


def test_a_root_that_is_missing_is_an_error(largest, scratch):
    done = largest(scratch / "missing")
    assert done.status == 1 and done.out == b""
    assert b"depth 0" in done.err and b"No such file or directory" in done.err
