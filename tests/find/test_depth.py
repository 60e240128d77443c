"""Deep trees, and paths longer than the kernel accepts."""

from __future__ import annotations

from support import trees
from support.find import assert_same


def test_paths_beyond_what_the_kernel_takes(find, gnu_find, scratch):
    """Paths of 20 kB: every name is found, and its metadata can be read."""
    with trees.deep_tree(scratch / "deep", 100, b"d" * 200):
        for expression in (
            ["-printf", "%d %s %n %y %P\\n"],
            ["-depth", "-type", "d", "-printf", "%d\\n"],
            ["-empty"],
            ["-name", "d*", "-links", 2, "-printf", "%d\\n"],
            ["-perm", "-u=rwx", "-newermt", "yesterday", "-printf", "%d %m\\n"],
            ["-mindepth", 95],
            ["-readable", "-printf", "%d\\n"],
        ):
            result = assert_same(find, gnu_find, "deep", *expression, cwd=scratch)
            assert result.ok().out
        lines = find("deep", cwd=scratch).ok().lines()
        assert len(lines) == 101 and max(map(len, lines)) > 20000


def test_hundreds_of_levels(find, gnu_find, scratch):
    with trees.deep_tree(scratch / "deep", 3000):
        for nofile in (None, 20):
            result = assert_same(
                find, gnu_find, "deep", "-printf", "%d\n", cwd=scratch, nofile=nofile
            )
            assert len(result.lines()) == 3001
