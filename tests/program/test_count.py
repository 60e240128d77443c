"""`ringwalk count` against GNU find."""

from __future__ import annotations

import json
import os

import pytest
from support import trees
from support.gnu import counted, find_blocks, find_totals, find_types

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
    assert counted(result) == (files, size)


@pytest.mark.parametrize("workers", WORKERS)
def test_names_only(count, tree, workers):
    files, _ = find_totals(tree)
    assert counted(count("--no-stat", "--workers", workers, tree).ok()) == (files,)


@pytest.mark.parametrize("workers", (1, 2, 8))
@pytest.mark.parametrize("options", ((), ("--no-stat",)))
def test_json_counts_by_type(count, tree, workers, options):
    files, size = find_totals(tree)
    report = json.loads(count("--format=json", *options, "--workers", workers, tree).ok().out)
    assert report["entries"] == files
    assert report["errors"] == 0
    assert report["source"] == "syscall"
    assert 1 <= report["workers"] <= workers
    if not options:
        assert (report["apparent_size"], report["allocated_size"]) == (size, find_blocks(tree))
    types = {name: number for name, number in report["types"].items() if number}
    expected = find_types(tree)
    # Only root can make devices. The tree has every other type.
    assert set(expected) >= {"directory", "file", "symlink", "fifo", "socket"}
    assert types == expected
    assert report["directories"] == types["directory"]
    assert report["files"] == files - types["directory"]


@pytest.mark.smoke
def test_the_table(count, scratch):
    """Numbers as they are, or for people, as `du` shows them: rounded up."""
    tree = scratch / "tree"
    (tree / "below").mkdir(parents=True)
    for name in ("one", "below/two"):
        (tree / name).write_bytes(b"x" * 12_345)
    entries, size = find_totals(tree)
    directories = find_types(tree)["directory"]
    numbers = (entries, entries - directories, directories, size, find_blocks(tree))
    words = ("entries", "files", "directories", "apparent size", "allocated size")
    lines = count(tree).ok().out.decode().splitlines()
    assert [line[:14].rstrip() for line in lines] == list(words)
    assert [int(line[14:]) for line in lines] == list(numbers)
    assert len({len(line) for line in lines}) == 1
    for option, unit in ("-h", 1024), ("--human-readable", 1024), ("--si", 1000):
        shown = count(option, tree).ok().out.decode().splitlines()
        letter = "K" if unit == 1024 else "k"
        for line, number in zip(shown[3:], numbers[3:], strict=True):
            assert 10 * unit <= number < 1000 * unit, (number, "the tree has another size")
            assert line.split()[-1] == f"{-(-number // unit)}{letter}", (option, line)
    for option in "-h", "--si":
        for other in ("--format=json",), ("--no-stat",):
            result = count(option, *other, tree)
            assert result.status == 2 and b"has no effect with --" in result.err
    text = count("--help").ok().out.decode()
    assert "-h, --human-readable" in text and "-h, --help" not in text


def test_several_directories_add_up(count, tree, text_tree):
    files, size = find_totals(tree, text_tree)
    assert counted(count(tree, text_tree).ok()) == (files, size)


def test_same_directory_twice_counts_twice(count, tree):
    files, size = find_totals(tree)
    assert counted(count(tree, tree).ok()) == (2 * files, 2 * size)


def test_current_directory_is_the_default_or_named(count, tree):
    files, size = find_totals(tree)
    assert counted(count(".", cwd=tree).ok()) == (files, size)


@pytest.mark.smoke
def test_hard_links_count_each_time(count, scratch):
    (scratch / "a").mkdir()
    (scratch / "b").mkdir()
    (scratch / "a" / "one").write_bytes(b"12345")
    for name in ("a/two", "b/one", "b/two"):
        os.link(scratch / "a" / "one", scratch / name)
    files, size = find_totals(scratch)
    assert files == 6
    assert counted(count(scratch).ok()) == (files, size)


def test_empty_directory(count, scratch):
    assert counted(count(scratch).ok()) == (0, 0)


@pytest.mark.smoke
def test_symlinks_are_not_followed(count, scratch):
    (scratch / "inside").mkdir()
    (scratch / "outside").mkdir()
    (scratch / "outside" / "file").write_bytes(b"x" * 1000)
    (scratch / "inside" / "link").symlink_to("../outside")
    files, size = find_totals(scratch / "inside")
    assert (files, size) == (1, len("../outside"))
    assert counted(count(scratch / "inside").ok()) == (files, size)


def test_name_starting_with_a_dash(count, scratch):
    (scratch / "-d").mkdir()
    (scratch / "-d" / "file").write_bytes(b"xyz")
    assert counted(count("--", "-d", cwd=scratch).ok()) == (1, 3)


def test_a_directory_that_a_snapshot_lacks_is_an_error(ringwalk, scratch):
    (scratch / "d").mkdir()
    ringwalk("snapshot", "d", "-o", "s", cwd=scratch).ok()
    result = ringwalk("count", "--from", "s", "d", "none", "--format", "json", cwd=scratch)
    assert result.status == 1 and b"'none': not in" in result.err
    assert json.loads(result.out)["errors"] == 1
