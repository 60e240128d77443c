"""Totals are those of du: each inode counts once, the same at every reading."""

from __future__ import annotations

import os
import re

import pytest


def summed(du, path, *options):
    return int(du("-s", "-B1", *options, path).ok().out.split()[0])


@pytest.mark.smoke
def test_totals_are_those_of_du(browse, ringwalk, top):
    du = ringwalk.with_args("du")
    for name in ("big", "small"):
        numbers = browse.bytes(top, name=name)
        assert numbers["Allocated"] == summed(du, top / name)
    numbers = browse.bytes(top.parent, name="top")
    assert numbers["Allocated"] == summed(du, top) == numbers["Freeable"]
    details = browse.details(top.parent, name="top")
    inodes = int(ringwalk("du", "-s", "--inodes", top).ok().out.split()[0])
    assert details["Entries"].split()[0] == str(inodes) == "10"


@pytest.mark.parametrize("kind", ["tree", "menagerie"])
def test_totals_of_trees_with_everything(browse, ringwalk, request, base, kind):
    """With every type of file, hard links, holes, and every byte in names."""
    tree = request.getfixturevalue(kind)
    allocated = summed(ringwalk.with_args("du"), tree)
    # Beside other trees a search for the name could find another one.
    alone = base / f"alone-{kind}"
    alone.mkdir()
    tree.rename(alone / tree.name)
    try:
        numbers = browse.bytes(alone, "-x", name=tree.name)
        assert numbers["Allocated"] == allocated
        for workers in ("1", "2", "7"):
            again = browse.bytes(alone, "-x", "--workers", workers, name=tree.name)
            assert again == numbers
    finally:
        (alone / tree.name).rename(tree)
        alone.rmdir()


@pytest.fixture
def linked(scratch):
    """Two directories that share an inode, and a third one with two names of one inode."""
    tree = scratch / "tree"
    for name in ("a", "b", "c"):
        (tree / name).mkdir(parents=True)
    (tree / "a" / "shared").write_bytes(b"x" * 1_000_000)
    os.link(tree / "a" / "shared", tree / "b" / "shared")
    (tree / "c" / "one").write_bytes(b"x" * 500_000)
    os.link(tree / "c" / "one", tree / "c" / "two")
    return tree


def test_a_hard_link_counts_once(browse, ringwalk, linked):
    du = ringwalk.with_args("du")
    whole = browse.bytes(linked.parent, name="tree")
    assert whole["Allocated"] == summed(du, linked)
    parts = [browse.bytes(linked, name=name)["Allocated"] for name in ("a", "b", "c")]
    assert sum(parts) + os.stat(linked).st_blocks * 512 == whole["Allocated"]
    # Of two names the further one has a flag.
    shown = browse.lines(linked, keys="n\\c<enter><enter>")
    flagged = [line for line in shown if line.startswith(" H")]
    assert len(flagged) == 1 and flagged[0].endswith("two")


def test_charges_do_not_depend_on_timing(browse, linked):
    first = browse.text(linked, keys="n")
    for workers in (1, 2, 5):
        for _ in range(3):
            assert browse.text(linked, "--workers", workers, keys="n") == first


def test_reading_again_charges_the_same(terminal, linked):
    screen = terminal(linked)
    screen.wait("/c", "8 entries", without=["reading"])
    screen.press("n")
    screen.wait("by name")
    first = screen.lines()[3:6]
    for move in ("g", "Down", "Down", "Up", "G", "g"):
        screen.press(move, "r")
        screen.wait("reading it again")
        screen.until(lambda: screen.lines()[3:6] == first, "the same lines")
        # This takes the message away.
        screen.press(move)
        screen.wait("? keys")
    screen.press("q")


def test_reading_several_entries_again_at_once(terminal, linked):
    """The second reading does not end the first one."""
    screen = terminal(linked)
    screen.wait("/c", "8 entries", without=["reading"])
    screen.press("n")
    screen.wait("by name")
    first = screen.lines()[3:6]
    for _ in range(5):
        screen.press("g", "r", "Down", "r", "Down", "r")
        screen.until(lambda: screen.lines()[3:6] == first, "the same lines")
    screen.press("l")
    screen.wait("one", "two")


def test_freeable_needs_every_name(browse, linked):
    # The only name of its inode in `a`: nothing is free before the one in `b` goes too.
    directory = os.stat(linked / "a").st_blocks * 512
    assert browse.bytes(linked, name="a")["Freeable"] == directory
    assert browse.bytes(linked, name="b")["Freeable"] == directory
    both = browse.lines(linked, keys="n  ")
    assert "2 marked" in both[-2] and "frees 98" in both[-2], both[-2]
    numbers = browse.bytes(linked, name="c")
    assert numbers["Freeable"] == numbers["Allocated"] > 500_000


def test_apparent_sizes_of_files(browse, top):
    for file in top.rglob("*.*"):
        keys = "".join(f"\\{part}<enter><enter>" for part in file.relative_to(top).parent.parts)
        numbers = browse.bytes(top, name=file.name, keys=keys)
        stat = os.stat(file)
        assert numbers["Apparent"] == stat.st_size, file
        assert numbers["Allocated"] == stat.st_blocks * 512, file


def test_numbers_above_and_below_the_list_are_the_same(browse, ringwalk, top, scratch):
    """As in reports, a tree counts with its root; so several trees together are no exception."""
    for name, roots in ("one", [top]), ("two", [top / "big", top / "small"]):
        snapshot = scratch / name
        ringwalk("snapshot", "-o", snapshot, *roots).ok()
        rows = sum(1 for root in roots for _ in [root, *root.rglob("*")])
        for tree in (snapshot, *roots[: len(roots) == 1]):
            lines = browse.lines(tree)
            assert lines[1].startswith(f"{rows} entries "), (tree, lines)
            assert lines[-2].startswith(f"{rows} entries, "), (tree, lines)


def test_a_snapshot_and_a_file_of_ncdu_have_the_same_totals(browse, ringwalk, linked, scratch):
    """The exports come from the browser itself."""
    for name in ("tree.parquet", "tree.json"):
        out = scratch / name
        assert "exported" in browse.text(linked, keys=f"e{out}<enter>", size=(300, 24))
    live = browse.lines(linked, keys="n")
    total = re.compile(r"\d+ entries, .* allocated, .* apparent")
    for name in ("tree.parquet", "tree.json"):
        saved = browse.lines(scratch / name, keys="n")
        assert total.search(saved[-2])[0] == total.search(live[-2])[0], name
        assert [line.split()[:2] for line in saved[3:6]] == [line.split()[:2] for line in live[3:6]]
