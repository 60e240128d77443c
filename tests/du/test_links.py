"""Hard links, symbolic links and overlapping operands: which name counts, and the order."""

from __future__ import annotations

import os
import random

import pytest
from support import strace, trees
from support.gnu import assert_same
from support.run import run


@pytest.fixture(scope="module")
def linked(base):
    """Twenty directories that share two hundred files among them."""
    top = base / "linked"
    rng = random.Random(5)
    folders = []
    for number in range(20):
        parent = rng.choice(folders) if folders and rng.random() < 0.5 else top
        folders.append(parent / f"dir{number}")
        folders[-1].mkdir(parents=True)
    for number in range(200):
        first = rng.choice(folders) / f"file{number}"
        first.write_bytes(b"x" * rng.randrange(1, 50_000))
        for other in range(rng.randrange(1, 5)):
            os.link(first, rng.choice(folders) / f"link{number}-{other}")
    trees.settle(top)
    return top


@pytest.mark.parametrize("options", (("-a",), ("-b",), ("-S",), ("--inodes",), ("-al",), ("-d1",)))
def test_links_across_directories(du, gnu_du, linked, options):
    """GNU du charges the first link in directory order; so does a parallel walk."""
    result = assert_same(du, gnu_du, *options, linked)
    for workers in range(1, 9):
        for _ in range(3):
            assert du(*options, "--workers", workers, linked).ok().out == result.out


def test_links_are_charged_to_the_earlier_operand(du, gnu_du, linked):
    folders = sorted(linked.rglob("dir*"))
    for order in (folders, folders[::-1]):
        expected = gnu_du("-s", *order)
        assert du("-s", *order).ok().out == expected.out


@pytest.mark.smoke
def test_a_link_to_a_symlink_or_fifo_counts_once(du, gnu_du, scratch):
    for folder in ("a", "b"):
        (scratch / folder).mkdir()
    (scratch / "a" / "symlink").symlink_to("x" * 200)
    os.mkfifo(scratch / "a" / "fifo")
    for name in ("symlink", "fifo"):
        os.link(scratch / "a" / name, scratch / "b" / name, follow_symlinks=False)
    assert_same(du, gnu_du, "-ab", scratch)
    assert_same(du, gnu_du, "-a", "--inodes", scratch)


OPERANDS = (
    (".", "."),
    ("a", "a/b", "a"),
    ("a/b", "a", "a/b/c"),
    ("a/b/c", "a/b", "a"),
    ("a/file", "a/file"),
    ("a/file", "a"),
    ("a", "a/file"),
    ("link", "a"),
    ("link/", "a"),
    ("a/", "a//", "./a"),
    (".", "a", "..", "a/b"),
    ("a/b/../b", "a/b"),
)


@pytest.fixture(scope="module")
def overlapping(base):
    top = base / "overlapping"
    (top / "a" / "b" / "c").mkdir(parents=True)
    for path, size in (("a/file", 5000), ("a/b/file", 9000), ("a/b/c/file", 70_000), ("file", 1)):
        (top / path).write_bytes(b"x" * size)
    (top / "link").symlink_to("a")
    (top / "a" / "up").symlink_to("..")
    os.link(top / "a" / "file", top / "a" / "b" / "c" / "again")
    trees.settle(top)
    return top


@pytest.mark.smoke
@pytest.mark.parametrize("options", ((), ("-a",), ("-sc",), ("-D",), ("-L",), ("-al",), ("-Sc",)))
@pytest.mark.parametrize("operands", OPERANDS, ids=" ".join)
def test_overlapping_operands(du, gnu_du, overlapping, operands, options):
    if ".." in operands:
        # The parent holds the trees of other tests, so its totals may change.
        operands = tuple("a/.." if operand == ".." else operand for operand in operands)
    expected = gnu_du(*options, *operands, cwd=overlapping)
    got = du(*options, *operands, cwd=overlapping)
    assert sorted(got.lines()) == sorted(expected.lines())
    assert got.status == expected.status
    for workers in (1, 4):
        again = du(*options, "--workers", workers, *operands, cwd=overlapping)
        assert again.out == got.out


def test_a_directory_reached_twice_by_links_counts_once(du, gnu_du, scratch):
    (scratch / "real").mkdir()
    (scratch / "real" / "file").write_bytes(b"x" * 10_000)
    for name in ("one", "two"):
        (scratch / name).symlink_to("real")
    for option in ("-L", "-aL", "-sL"):
        expected, got = gnu_du(option, scratch), du(option, scratch)
        assert sum(int(line.split()[0]) for line in got.lines()) == sum(
            int(line.split()[0]) for line in expected.lines()
        )
        assert got.status == expected.status == 0


@pytest.mark.parametrize("options", ("-L", "-Ll", "-aLl"))
def test_a_link_above_the_root_leads_into_the_tree_only_once(du, gnu_du, scratch, options):
    """A directory closes the loop, not a link: the walk finds its root below the link."""
    (scratch / "top" / "tree" / "sub").mkdir(parents=True)
    (scratch / "top" / "tree" / "file").write_bytes(b"x" * 30_000)
    (scratch / "top" / "tree" / "sub" / "up").symlink_to("../..")
    trees.settle(scratch)
    assert_same(du, gnu_du, options, scratch / "top" / "tree")


def test_a_dangling_link_is_reported_when_followed(du, gnu_du, scratch):
    (scratch / "dangling").symlink_to("nowhere")
    (scratch / "self").symlink_to("self")
    for option in ("-L", "-D", "-P"):
        assert_same(du, gnu_du, option, scratch)
        assert_same(du, gnu_du, option, "dangling", cwd=scratch)
        assert_same(du, gnu_du, option, "self", cwd=scratch)


def test_a_directory_that_does_not_tell_which_it_is(programs, scratch):
    """A directory without a known identity is not entered: it may close a loop of links."""
    top = scratch / "top"
    (top / "a" / "b" / "below").mkdir(parents=True)
    (top / "a" / "b" / "up").symlink_to("..")
    prefix = strace.injecting(scratch, "fstat,newfstatat", "error=EIO", top / "a" / "b")
    result = run([*prefix, programs / "ringwalk", "--workers", "1", "find", "-L", top])
    assert result.status == 1
    assert os.fsencode(top / "a" / "b") + b"': Input/output error" in result.err
    assert sorted(result.lines()) == [os.fsencode(top / path) for path in ("", "a", "a/b")]


@pytest.mark.parametrize("options", (("-L",), ("-aL",), ("-D",), ("-bL",), ("-L", "--inodes")))
def test_links_without_a_target(du, gnu_du, scratch, options):
    """Broken links, links through a file and links in circles get a message and status 1."""
    (scratch / "dir").mkdir()
    (scratch / "file").write_bytes(b"x" * 5000)
    for name, target in (("none", "nowhere"), ("through", "file/below"), ("circle", "circle")):
        (scratch / name).symlink_to(target)
    for tops in (["."], ["none"], ["through"], ["circle"], ["dir", "through", "file"]):
        result = assert_same(du, gnu_du, *options, *tops, cwd=scratch)
        assert result.status == 0 if tops == ["."] and "-D" in options else result.status == 1


@pytest.mark.parametrize("options", ("-L", "-aL", "-Ll"))
def test_a_long_chain_of_links_is_followed(du, scratch, options):
    """GNU du names the last file by a path through all links, which the kernel refuses: ELOOP."""
    for number in range(100):
        (scratch / str(number)).mkdir()
        (scratch / str(number) / "next").symlink_to(f"../{number + 1}")
    (scratch / "100").write_bytes(b"x" * 1000)
    assert b"1000\t0\n" in du(options, "-b", "0", cwd=scratch).ok().out
