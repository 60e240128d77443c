"""What deletion frees where files share extents, and where that is not known."""

from __future__ import annotations

import subprocess

import pytest
from support import mounts

WIDE = (160, 30)
MEGABYTE = 1 << 20


def reflinked(point):
    """Makes `a/whole`, a copy of it that shares all extents in `b`, and files of their own."""
    for name in ("a", "b"):
        (point / "tree" / name).mkdir(parents=True)
        (point / "tree" / name / "own").write_bytes(b"x" * MEGABYTE)
    whole = point / "tree" / "a" / "whole"
    whole.write_bytes(b"y" * 4 * MEGABYTE)
    copy = ["cp", "--reflink=always", whole, point / "tree" / "b" / "copy"]
    subprocess.run(copy, check=True, capture_output=True)
    return point / "tree"


def exclusive(ringwalk, path):
    """Returns what `ringwalk du --exclusive` says of a directory, in MiB."""
    out = ringwalk("du", "-s", "--exclusive", "--block-size=1", path).ok().out
    return int(out.split()[0]) / MEGABYTE


@pytest.mark.parametrize("kind", ["btrfs", "xfs"])
def test_shared_extents_are_not_freed(browse, ringwalk, scratch, mount, kind):
    tree = reflinked(mount(mounts.filesystem, kind, scratch))
    shown = browse.text(tree, keys="\\a<enter>x", size=WIDE)
    freed = f"{exclusive(ringwalk, tree / 'a'):.1f}M"
    assert f"frees {freed} without shared extents" in shown, shown
    assert freed.startswith("1.")
    question = browse.text(tree, keys="\\a<enter>dx", size=WIDE)
    assert f"frees {freed} without shared extents" in question, question
    assert "frees 5.0M" in question and "y/N" in question
    marked = browse.text(tree, keys="vx", size=WIDE)
    assert "frees 2.0M without shared" in marked, marked
    # Once the other file is gone, nothing is shared.
    (tree / "b" / "copy").unlink()
    assert "frees 5.0M without shared" in browse.text(tree, keys="\\a<enter>x", size=WIDE)


def test_nothing_is_shared_on_tmpfs(browse, scratch, mount):
    point = mount(mounts.filesystem, "tmpfs", scratch)
    (point / "d").mkdir()
    (point / "d" / "file").write_bytes(b"x" * 3 * MEGABYTE)
    shown = browse.text(point, keys="x", size=WIDE)
    assert "frees 3.0M without shared extents" in shown


def test_a_file_system_that_does_not_say(browse, scratch, mount):
    point = mount(mounts.filesystem, "fuse", scratch)
    (point / "d").mkdir()
    (point / "d" / "file").write_bytes(b"x" * MEGABYTE)
    shown = browse.text(point, keys="\\d<enter>x", size=WIDE)
    assert "frees at least 0 without shared extents; 2 not known" in shown, shown
    assert "does not report which space files share" in shown


def test_snapshots_decline(browse, ringwalk, top, scratch):
    ringwalk("snapshot", "-o", scratch / "snap", top).ok()
    shown = browse.text(scratch / "snap", keys="x", size=WIDE)
    assert "a snapshot does not know what files share" in shown


def test_trees_that_may_not_be_changed(browse, top):
    assert "without shared extents" in browse.text(top, "--read-only", keys="x", size=WIDE)
