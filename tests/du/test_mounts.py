"""Directories that bind mounts show below themselves and at several places."""

from __future__ import annotations

import os
import random

import pytest
from support import mounts, trees
from support.gnu import assert_same, counted, find_totals

pytestmark = pytest.mark.usefixtures("needs_root")

OPTIONS = ("-a", "-s", "-S", "-x", "-l", "-L", "-c", "-b", "--inodes", "-d1", "-sl", "-aLl", "-D")


@pytest.fixture
def tree(scratch):
    """Directories to mount at each other, with files of one name and of two."""
    top = scratch / "top"
    sizes = {"a/b/c/file": 9000, "a/b/file": 5000, "d/e/file": 20_000, "d/f/g": 1}
    for path, size in sizes.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(b"x" * size)
    os.link(top / "a/b/file", top / "d/again")
    trees.settle(top)
    return top


def compare(du, gnu_du, tree, operands, options=OPTIONS) -> None:
    for option in options:
        for workers in (1, 3):
            ours = du.with_args("--workers", str(workers))
            assert_same(ours, gnu_du, option, *operands, cwd=tree)


OPERANDS = (("a/b",), ("a",), (".",), ("a", "a/b"), ("a/b", "a"), ("a/b/c", "a/b", "a"))


@pytest.mark.parametrize("operands", OPERANDS, ids=" ".join)
def test_a_directory_below_itself_counts_once(du, gnu_du, mount, tree, operands):
    mount(mounts.bind, tree / "a", tree / "a/b/c")
    compare(du, gnu_du, tree, operands)


def test_the_directory_below_itself_is_neither_entered_nor_shown_again(du, mount, tree):
    mount(mounts.bind, tree / "a", tree / "a/b/c")
    # `a` is mounted at a/b/c and counts once. Its `b` is the operand.
    lines = du("-a", "--inodes", "a/b", cwd=tree).ok().lines()
    assert sorted(lines) == [b"1\ta/b/c", b"1\ta/b/file", b"3\ta/b"]


def test_mounts_within_each_other(du, gnu_du, mount, tree):
    """`a` is mounted in `d`, and `d` in `a`."""
    mount(mounts.bind, tree / "a", tree / "d/e")
    mount(mounts.bind, tree / "d", tree / "a/b/c")
    for operands in (("a",), ("d",), (".",), ("d/e/b", "a"), ("a/b/c/e",)):
        compare(du, gnu_du, tree, operands)


@pytest.mark.parametrize("seed", range(8))
def test_random_mounts(du, gnu_du, mount, tree, seed):
    rng = random.Random(seed)
    for _ in range(4):
        places = [tree, *(path for path in sorted(tree.rglob("*")) if path.is_dir())]
        source, point = rng.sample(places, 2)
        if point != tree:
            mount(mounts.mounted, point, rng.choice(("--bind", "--rbind")), source)
    places = sorted(path for path in tree.rglob("*") if path.is_dir())
    for _ in range(3):
        operands = [path.relative_to(tree) for path in rng.choices([tree, *places], k=2)]
        compare(du, gnu_du, tree, operands[:1], ("-a", "-sl", "-L"))
        compare(du, gnu_du, tree, operands, ("-a", "-sl", "-L"))


@pytest.mark.parametrize("kind", ("ext4", "xfs", "btrfs"))
def test_a_file_system_with_a_directory_below_itself(du, gnu_du, mount, scratch, kind):
    """A whole file system. Without mounts in it a source would read it past the kernel."""
    point = mount(mounts.image, kind, scratch)
    (point / "a/b/c").mkdir(parents=True)
    (point / "a/file").write_bytes(b"x" * 9000)
    trees.settle(point)
    mount(mounts.bind, point / "a", point / "a/b/c")
    for options in ("-s", "-sx", "-sl", "--inodes", "-a"):
        assert_same(du, gnu_du, options, point)
        assert_same(du, gnu_du, options, point / "a/b")


def test_count_counts_each_place(count, ringwalk_find, mount, tree):
    mount(mounts.bind, tree / "a", tree / "a/b/c")
    found = ringwalk_find("a/b", "-mindepth", "1", "-printf", "%s\n", cwd=tree).ok().lines()
    assert len(found) == 6
    assert counted(count("a/b", cwd=tree).ok()) == (len(found), sum(map(int, found)))
    mount(mounts.bind, tree / "d/e", tree / "d/f")
    assert counted(count("d", cwd=tree).ok()) == find_totals(tree / "d")
