"""`ringwalk count` against GNU find."""

from __future__ import annotations

import json
import os

import pytest
from support import trees
from support.gnu import count_line, find_totals, find_types

WORKERS = range(1, 9)


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("seed", (11, 12, 13))
def test_random_trees(count, base, seed, workers):
    top = base / f"count-{seed}"
    if not top.exists():
        trees.RandomTree(top, seed)
    files, size = find_totals(top)
    assert files > 200
    result = count("--workers", workers, top).ok()
    assert result.out == count_line(files, size)


@pytest.mark.parametrize("workers", WORKERS)
def test_names_only(count, tree, workers):
    files, _ = find_totals(tree)
    assert count("--no-stat", "--workers", workers, tree).ok().out == b"%d files\n" % files


@pytest.mark.parametrize("workers", (1, 2, 8))
@pytest.mark.parametrize("options", ((), ("--no-stat",)))
def test_json_counts_by_type(count, tree, workers, options):
    files, size = find_totals(tree)
    report = json.loads(count("--format=json", *options, "--workers", workers, tree).ok().out)
    assert report["files"] == files
    assert report["errors"] == 0
    assert report["source"] == "syscall"
    assert 1 <= report["workers"] <= workers
    if not options:
        assert report["bytes"] == size
    types = {name: number for name, number in report["types"].items() if number}
    expected = find_types(tree)
    # Only root can make devices. The tree has every other type.
    assert set(expected) >= {"directory", "file", "symlink", "fifo", "socket"}
    assert types == expected


def test_several_directories_add_up(count, tree, text_tree):
    files, size = find_totals(tree, text_tree)
    assert count(tree, text_tree).ok().out == count_line(files, size)


def test_same_directory_twice_counts_twice(count, tree):
    files, size = find_totals(tree)
    assert count(tree, tree).ok().out == count_line(2 * files, 2 * size)


def test_current_directory_is_the_default_or_named(count, tree):
    files, size = find_totals(tree)
    assert count(".", cwd=tree).ok().out == count_line(files, size)


@pytest.mark.smoke
def test_hard_links_count_each_time(count, scratch):
    (scratch / "a").mkdir()
    (scratch / "b").mkdir()
    (scratch / "a" / "one").write_bytes(b"12345")
    for name in ("a/two", "b/one", "b/two"):
        os.link(scratch / "a" / "one", scratch / name)
    files, size = find_totals(scratch)
    assert files == 6
    assert count(scratch).ok().out == count_line(files, size)


def test_empty_directory(count, scratch):
    assert count(scratch).ok().out == b"0 files, 0 bytes\n"


@pytest.mark.smoke
def test_symlinks_are_not_followed(count, scratch):
    (scratch / "inside").mkdir()
    (scratch / "outside").mkdir()
    (scratch / "outside" / "file").write_bytes(b"x" * 1000)
    (scratch / "inside" / "link").symlink_to("../outside")
    files, size = find_totals(scratch / "inside")
    assert (files, size) == (1, len("../outside"))
    assert count(scratch / "inside").ok().out == count_line(files, size)


def test_name_starting_with_a_dash(count, scratch):
    (scratch / "-d").mkdir()
    (scratch / "-d" / "file").write_bytes(b"xyz")
    assert count("--", "-d", cwd=scratch).ok().out == b"1 files, 3 bytes\n"
