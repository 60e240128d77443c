"""Few file descriptors: the answer is right, and there is no message."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support import images, strace, trees
from support.gnu import counted, find_totals
from support.marks import long
from support.run import run

FEW = 16


@pytest.fixture(scope="module")
def branching(base):
    """Seven levels with three children each: far more directories at once than descriptors."""
    top = base / "branching"
    made = trees.make_branching(top, levels=7, children=3)
    assert made == 2 * sum(3**level for level in range(1, 8))
    trees.settle(top)
    return top


@pytest.mark.parametrize("workers", (1, 2, 4, 8))
def test_count_on_a_branching_tree(count, branching, workers):
    files, size = find_totals(branching)
    result = count("--workers", workers, branching, nofile=FEW).ok()
    assert counted(result) == (files, size)


@pytest.mark.parametrize("workers", (1, 2, 4, 8))
def test_du_on_a_branching_tree(du, branching, workers):
    expected = du("-a", branching).ok().out
    assert du("-a", "--workers", workers, branching, nofile=FEW).ok().out == expected


@pytest.mark.parametrize("errno", ("ENOSYS", "EPERM"))
def test_closed_directories_are_found_again_without_openat2(programs, base, branching, errno):
    """Linux before 5.6 lacks the call, and some seccomp filters refuse it."""
    files, size = find_totals(branching)
    prefix = strace.injecting(base, "openat2", f"error={errno}")
    result = run([*prefix, programs / "ringwalk", "count", branching], nofile=FEW).ok()
    assert counted(result) == (files, size)
    assert errno in (base / "strace.log").read_text(), "the call was made"


@pytest.mark.parametrize("workers", (1, 8))
def test_count_on_a_chain(count, memory, workers):
    with trees.deep_tree(memory / "chain", 3000) as chain:
        result = count("--no-stat", "--workers", workers, chain, nofile=FEW).ok()
        assert counted(result) == (3000,)


def test_many_operands(count, du, gnu_du, branching):
    operands = [branching] * 40
    files, size = find_totals(branching)
    assert counted(count(*operands, nofile=FEW).ok()) == (40 * files, 40 * size)
    expected = gnu_du("-sl", *operands, nofile=FEW).lines()
    assert du("-sl", *operands, nofile=FEW).ok().lines() == expected


def make_deep(top: Path, levels: int) -> int:
    """Makes a chain of directories with empty ones beside each; returns the number of entries.

    The names of the chain change, so that in any order of reading some of the empty ones come
    before the directory that leads down, and some behind it.
    """
    top.mkdir()
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for level in range(levels):
        for name in ("e0", "e1", "e2", "e3"):
            os.mkdir(name, dir_fd=descriptor)
        name = f"d{level % 13}"
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    return 5 * levels + 1


@pytest.fixture(scope="module")
def deep(base):
    """2500 levels: 10 001 directories, of which 2500 are not empty."""
    top = base / "deep"
    make_deep(top, 2500)
    return top


# The first command never runs. Since it could run, find walks in preorder.
PREORDER = ("-name", "nowhere", "-exec", "true", ";", "-o", "-type", "d", "-empty", "-print")
FINDS = {
    "exec": PREORDER,
    "by name": ("-s", "-type", "d", "-empty"),
    "by name, exec": ("-s", *PREORDER),
    "depth": ("-depth", "-type", "d", "-empty"),
    "depth, exec": ("-depth", *PREORDER),
    "plain": ("-type", "d", "-empty"),
    "execdir": tuple(word.replace("-exec", "-execdir") for word in PREORDER),
    "execdir plus": (*PREORDER[:2], "-execdir", "true", "{}", "+", *PREORDER[5:]),
}


@pytest.mark.parametrize("workers", (1, 8, *long(2)))
@pytest.mark.parametrize("expression", FINDS.values(), ids=FINDS)
def test_find_on_a_deep_tree(programs, deep, workers, expression):
    """Regression: waiting directories kept their descriptors, and 200 matches were lost."""
    search = [programs / "find", deep, *expression]
    result = run(search, nofile=FEW, env={"RINGWALK_WORKERS": str(workers)}).ok()
    assert len(set(result.lines())) == len(result.lines()) == 10_001


@pytest.mark.parametrize("workers", (1, 2, 8))
def test_sums_of_a_deep_tree(count, du, deep, workers):
    entries = 5 * 2500 + 1
    names = count("--no-stat", "--workers", workers, deep, nofile=FEW).ok()
    assert counted(names) == (entries - 1,)
    assert len(du("--workers", workers, deep, nofile=FEW).ok().lines()) == entries


def test_the_soft_limit_is_raised_before_directories_are_closed(programs, deep):
    search = [programs / "find", deep, *PREORDER]
    result = run(["prlimit", "--nofile=64:8192", *search], env={"RINGWALK_EXPLAIN": "1"})
    assert (result.status, len(result.lines())) == (0, 10_001), result.err
    assert b"no directory had to be opened again" in result.err


def claim(err: bytes) -> tuple[int, ...]:
    """Returns the numbers of --explain: descriptors held, allowed, and in reserve."""
    row = rb"descriptors +(\d+) held at the most, (\d+) allowed, (\d+) left to other uses"
    found = re.search(row, err)
    assert found, err
    return tuple(int(number) for number in found.groups())


WALKS = {
    **{name: ("find", *words) for name, words in FINDS.items()},
    "metadata": ("find", "-size", "0"),
    "count": ("count",),
    "count, names": ("count", "--no-stat"),
    "du": ("du",),
    "du of all": ("du", "-a"),
}


def check_claim(programs, scratch, top, words, nofile, **options):
    """Compares what --explain says with what strace sees."""
    if words[0] == "find":
        # No predicate that opens files itself: those descriptors come out of the reserve.
        words = [word for word in words if word != "-empty"]
    command = [programs / "ringwalk", words[0], top, *words[1:]]
    limited = ["prlimit", f"--nofile={nofile}:{nofile}", *command]
    env = {f"RINGWALK_{name}": value for name, value in {"explain": "1", **options}.items()}
    env = {name.upper(): value for name, value in env.items()}
    most, done = strace.most_open(scratch, limited, env=env)
    assert done.status == 0, done
    held, allowed, reserve = claim(done.err)
    assert 1 <= most <= held <= allowed <= nofile - 3 - reserve
    # A source that was chosen by name opens its device before the reserve is computed.
    assert 0 <= min(64, (nofile - 3) // 4) - reserve <= (1 if "source" in options else 0)


@pytest.fixture(scope="module")
def less_deep(base):
    top = base / "less deep"
    make_deep(top, 150)
    return top


@pytest.mark.parametrize("nofile", (FEW, 64, 1024))
@pytest.mark.parametrize("words", WALKS.values(), ids=WALKS)
def test_no_more_are_open_than_explain_says(programs, scratch, less_deep, words, nofile):
    for workers in ("1", "4"):
        check_claim(programs, scratch, less_deep, words, nofile, workers=workers)


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("words", WALKS.values(), ids=WALKS)
def test_no_more_are_open_on_a_device_than_explain_says(programs, scratch, mount, words):
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -b 1024")
    make_deep(image.point / "deep", 60)
    image.freeze()
    options = {"source": "ext4", "prefetch": "always"}
    check_claim(programs, scratch, image.point / "deep", words, 64, **options)
