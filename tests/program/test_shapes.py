"""Trees of unusual shape: very deep, very wide, very long names, paths longer than PATH_MAX."""

from __future__ import annotations

import os

import pytest
from support import trees
from support.gnu import assert_same, counted, find_totals

DEEP = 100_000
WIDE = 100_000
PATH_MAX = 4096


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    shm = trees.Path("/dev/shm")
    top = (shm if shm.is_dir() else tmp_path_factory.getbasetemp()) / f"chain-{os.getpid()}"
    with trees.deep_tree(top, DEEP) as path:
        yield path


@pytest.mark.parametrize("workers", (1, 2, 8))
def test_deep_count(count, chain, workers):
    assert counted(count("--no-stat", "--workers", workers, chain).ok()) == (DEEP,)


def test_deep_count_with_sizes(count, chain):
    entries, size = counted(count(chain).ok())
    assert entries == DEEP
    # Every level except the last holds one directory, so all have the same size.
    level = os.stat(chain / "d").st_size
    last = size - level * (DEEP - 1)
    assert 0 <= last <= level


@pytest.mark.parametrize("options", (("-s",), ("-d1",), ("-sb",), ("-s", "--inodes")))
def test_deep_du(du, gnu_du, chain, options):
    assert_same(du, gnu_du, *options, chain)


def test_deep_with_few_descriptors(count, du, chain):
    assert counted(count("--no-stat", chain, nofile=16).ok()) == (DEEP,)
    assert du("-s", "--inodes", chain, nofile=16).ok().out.split()[0] == b"%d" % (DEEP + 1)


@pytest.fixture(scope="module")
def beyond_path_max(base):
    """A chain of 255-byte names with some files on each level: paths of 10 000 bytes."""
    top = base / "long"
    descriptor = os.open(base, os.O_RDONLY)
    name = "long"
    for level in range(40):
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
        for number in range(3):
            file = os.open(f"file{number}", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor)
            os.write(file, b"x" * level)
            os.close(file)
        name = chr(ord("a") + level % 26) * 255
    os.close(descriptor)
    trees.settle(base)
    return top


@pytest.mark.parametrize("workers", (1, 4))
def test_paths_beyond_path_max_are_counted(count, beyond_path_max, workers):
    files, size = find_totals(beyond_path_max)
    assert files == 39 + 40 * 3
    out = count("--workers", workers, beyond_path_max).ok().out
    assert counted(out) == (files, size)


@pytest.mark.parametrize("options", ("-a", "-ab", "-c", "-S"))
def test_paths_beyond_path_max_are_printed(du, gnu_du, beyond_path_max, options):
    result = assert_same(du, gnu_du, options, beyond_path_max)
    assert max(len(line) for line in result.lines()) > 2 * PATH_MAX


def test_paths_beyond_path_max_are_printed_when_links_are_followed(du, beyond_path_max):
    # GNU du fails at PATH_MAX here. The tree has no links, so -L must change nothing.
    assert du("-aL", beyond_path_max).ok().out == du("-a", beyond_path_max).ok().out


def test_paths_beyond_path_max_with_few_descriptors(count, du, gnu_du, beyond_path_max):
    files, size = find_totals(beyond_path_max)
    assert counted(count("--workers", 4, beyond_path_max, nofile=16).ok()) == (files, size)
    expected = sorted(gnu_du("-a", beyond_path_max).lines())
    assert sorted(du("-a", beyond_path_max, nofile=16).ok().lines()) == expected


@pytest.fixture(scope="module")
def wide(base):
    top = base / "wide"
    trees.make_wide(top, WIDE)
    trees.settle(top)
    return top


@pytest.mark.parametrize("workers", range(1, 9))
def test_wide_count(count, wide, workers):
    assert counted(count("--workers", workers, wide).ok()) == (WIDE, WIDE // 100)


@pytest.mark.parametrize("options", (("-s",), ("-sb",), ("-a",), ("-s", "--inodes")))
def test_wide_du(du, gnu_du, wide, options):
    assert_same(du, gnu_du, *options, wide)


@pytest.mark.parametrize("workers", (2, 8))
def test_wide_order_is_the_same_for_every_worker_count(du, wide, workers):
    one = du("-a", "--workers", 1, wide).ok().out
    assert du("-a", "--workers", workers, wide).ok().out == one


def test_names_of_every_length(count, du, gnu_du, scratch):
    """The length of a record of getdents64 depends on its name. Every length occurs once."""
    for length in range(1, 256):
        (scratch / ("n" * length)).write_bytes(b"")
    assert counted(count(scratch).ok()) == (255, 0)
    assert_same(du, gnu_du, "-a", scratch)
