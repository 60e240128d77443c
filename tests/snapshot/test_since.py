"""`ringwalk snapshot --since`: the same snapshot as a full one, whatever has changed."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from support import images, mounts, trees
from support.constant import constant
from support.edits import Edits
from support.marks import long
from support.mounts import WRITE_BACK

TAKEN = re.compile(rb"(\d+) directories unchanged since")


@pytest.fixture
def snapshot(ringwalk):
    """`ringwalk snapshot`, with everything written back first."""
    return ringwalk.with_args("snapshot", "--sync")


def taken(done) -> int:
    """Returns how many directories were taken from the older snapshot, by --explain."""
    assert done.status == 0, done
    found = TAKEN.search(done.err)
    return int(found[1]) if found else 0


def assert_same_as_full(snapshot, top: Path, old: Path, new: Path, *source: str) -> int:
    """Compares an update with full snapshots before and after it.

    Returns how many directories were taken. While the file system writes back, allocated sizes
    change by themselves; then the comparison is made again.
    """
    full = [new.with_name("full-before"), new.with_name("full-after")]
    for _ in range(20):
        snapshot("--source=syscall", top, "-o", full[0]).ok()
        done = snapshot("--explain", *source, top, "--since", old, "-o", new)
        snapshot("--source=syscall", top, "-o", full[1]).ok()
        before, after = (constant(path) for path in full)
        if before == after:
            directories = taken(done)
            assert constant(new) == before, done
            return directories
        time.sleep(0.1)
    raise AssertionError("the tree changes by itself")


def disk_of(kind: str, mount, scratch: Path) -> Path:
    """Returns a new file system. Reading does not change it, as it has no times of access."""
    if kind == "tmpfs":
        return mount(mounts.tmpfs, scratch)
    return mount(images.fresh, kind, scratch / "work").point


@WRITE_BACK
@pytest.mark.parametrize("kind", ("btrfs", "tmpfs", *long("xfs", "ext4")))
def test_random_edits(snapshot, mount, scratch, kind):
    top = disk_of(kind, mount, scratch) / "top"
    trees.RandomTree(top, seed=151, entries=250)
    (top / "large").mkdir()
    # More than a page of rows.
    for number in range(9000):
        (top / "large" / f"{number}").touch()
    edits = Edits(top / "tree-of-edits", seed=152)
    edits.top.mkdir()
    edits.some(60)
    old, new = scratch / "old", scratch / "new"
    snapshot(top, "-o", old).ok()
    sources = ("--source=auto",) if kind == "tmpfs" else ("--source=auto", f"--source={kind}")
    updated = 0
    for round_ in range(8):
        edits.some(round_)
        if round_ == 5:
            (top / "large" / "8500").rename(top / "large" / "9500")
        updated += assert_same_as_full(snapshot, top, old, new, sources[round_ % len(sources)])
        if round_ % 3 == 2:
            # The next update begins with this one.
            new.rename(old)
    assert (updated > 0) == (kind == "btrfs")


@WRITE_BACK
@pytest.mark.parametrize("columns", ((), ("--projid", "--atime")))
def test_what_is_taken(snapshot, mount, scratch, columns):
    """Directories that did not change are taken, and no other."""
    snapshot = snapshot.with_args(*columns)
    disk = disk_of("btrfs", mount, scratch)
    for number in range(20):
        (disk / f"{number}").mkdir()
        (disk / f"{number}" / "file").write_bytes(b"x")
    old, new = scratch / "old", scratch / "new"
    snapshot(disk, "-o", old).ok()
    assert assert_same_as_full(snapshot, disk, old, new) == 21
    (disk / "3" / "more").touch()
    (disk / "4" / "file").write_bytes(b"xx")
    assert assert_same_as_full(snapshot, disk, old, new) == 20


@WRITE_BACK
def test_changes_as_the_older_snapshot_is_taken(snapshot, mount, scratch):
    """No time has to pass between a change and the older snapshot, or after it."""
    disk = disk_of("btrfs", mount, scratch)
    (disk / "folder").mkdir()
    old, new = scratch / "old", scratch / "new"
    snapshot(disk, "-o", old).ok()
    assert assert_same_as_full(snapshot, disk, old, new) == 2
    (disk / "folder" / "file").touch()
    assert assert_same_as_full(snapshot, disk, old, new) == 1


@WRITE_BACK
def test_mounts_and_subvolumes_come_and_go(snapshot, mount, scratch):
    disk = disk_of("btrfs", mount, scratch)
    (disk / "point").mkdir()
    (disk / "point" / "below").touch()
    old, new = scratch / "old", scratch / "new"
    snapshot(disk, "-o", old).ok()
    other = mount(mounts.mounted, disk / "point", "-t", "tmpfs", "tmpfs")
    (other / "above").touch()
    assert_same_as_full(snapshot, disk, old, new)
    snapshot(disk, "-o", old).ok()
    mounts.unmount(other)
    assert_same_as_full(snapshot, disk, old, new)


@WRITE_BACK
def test_another_file_system_with_the_same_name(snapshot, mount, scratch):
    """Nothing is taken from a snapshot of another file system that was mounted there."""
    first = mount(images.fresh, "btrfs", scratch / "first").point
    second = mount(images.fresh, "btrfs", scratch / "second").point
    for disk in (first, second):
        (disk / "folder").mkdir()
        (disk / "folder" / disk.parent.name).touch()
    old, new = scratch / "old", scratch / "new"
    snapshot(first, "-o", old).ok()
    assert assert_same_as_full(snapshot, second, old, new) == 0


@WRITE_BACK
@pytest.mark.parametrize("kind", ("xfs", "ext4", "tmpfs"))
@pytest.mark.parametrize("source", ("auto", "syscall"))
def test_where_nothing_is_certain_all_is_read(snapshot, mount, scratch, kind, source):
    disk = disk_of(kind, mount, scratch)
    (disk / "folder").mkdir()
    old, new = scratch / "old", scratch / "new"
    snapshot(disk, "-o", old).ok()
    assert assert_same_as_full(snapshot, disk, old, new, f"--source={source}") == 0
    done = snapshot("--explain", f"--source={source}", disk, "--since", old, "-o", new)
    assert b"nothing taken from the older snapshot" in done.err, done


def test_the_older_snapshot_may_be_replaced(snapshot, tree, scratch):
    old, full = scratch / "old", scratch / "full"
    snapshot(tree, "-o", old).ok()
    snapshot(tree, "--since", old, "-o", old).ok()
    snapshot(tree, "-o", full).ok()
    assert constant(old) == constant(full)


def test_an_older_snapshot_that_is_none(snapshot, tree, scratch):
    output = scratch / "output"
    output.write_bytes(b"as before")
    for name, data in (("missing", None), ("no-snapshot", b"PAR1 is not all PAR1")):
        old = scratch / name
        if data:
            old.write_bytes(data)
        done = snapshot(tree, "--since", old, "-o", output)
        assert done.status == 2
        assert os.fsencode(name) in done.err
        assert output.read_bytes() == b"as before"
