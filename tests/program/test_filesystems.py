"""The same answers on ext4, XFS, btrfs, tmpfs, overlayfs and FUSE as GNU's programs give."""

from __future__ import annotations

import subprocess

import pytest
from support import mounts, trees
from support.gnu import assert_same, counted, find_totals

pytestmark = pytest.mark.usefixtures("needs_root")

# All these file systems accept every byte in names. bindfs passes names on unchanged.
ALPHABET = trees.LINE_BYTES


@pytest.fixture(params=mounts.KINDS)
def filesystem(request, mount, scratch):
    """A random tree on each kind of file system."""
    point = mount(mounts.filesystem, request.param, scratch)
    trees.RandomTree(point / "tree", seed=31, entries=300, alphabet=ALPHABET)
    trees.settle(point)
    return point


def test_count(count, filesystem):
    files, size = find_totals(filesystem)
    assert files > 100
    for workers in (1, 2, 5):
        result = count("--workers", workers, filesystem).ok()
        assert counted(result) == (files, size)
        names = count("--no-stat", "--workers", workers, filesystem).ok()
        assert counted(names) == (files,)


def test_du(du, gnu_du, filesystem):
    for options in (("-a",), ("-ab",), ("-x",), ("-axb",), ("--inodes",), ("-s", "-S")):
        assert_same(du, gnu_du, *options, filesystem)
    one = du("-a", "--workers", 1, filesystem).ok().out
    assert du("-a", "--workers", 4, filesystem).ok().out == one


def test_few_descriptors(count, filesystem):
    files, size = find_totals(filesystem)
    assert counted(count("--workers", 4, filesystem, nofile=16).ok()) == (files, size)


@pytest.mark.parametrize("kind", mounts.KINDS)
def test_a_wide_directory(count, du, gnu_du, mount, scratch, kind):
    """Names for several buffers, which each file system splits in its own way."""
    point = mount(mounts.filesystem, kind, scratch)
    trees.make_wide(point / "wide", 3000, prefix="a-somewhat-longer-name-of-a-file-")
    trees.settle(point)
    assert counted(count(point / "wide").ok()) == (3000, 30)
    assert_same(du, gnu_du, "-a", point)


def test_btrfs_subvolumes_are_other_devices(count, du, gnu_du, mount, scratch):
    point = mount(mounts.image, "btrfs", scratch)
    for name in ("sub", "sub/inner", "dir/snapshot"):
        (point / name).parent.mkdir(exist_ok=True)
        subprocess.run(
            ["btrfs", "subvolume", "create", point / name], check=True, capture_output=True
        )
        (point / name / "file").write_bytes(b"x" * 100_000)
    subprocess.run(
        ["btrfs", "subvolume", "snapshot", point / "sub", point / "dir" / "copy"],
        check=True,
        capture_output=True,
    )
    trees.settle(point)
    files, size = find_totals(point)
    assert counted(count(point).ok()) == (files, size)
    all_lines = assert_same(du, gnu_du, "-a", point)
    own_lines = assert_same(du, gnu_du, "-ax", point)
    assert len(own_lines.lines()) < len(all_lines.lines())


def test_an_overlay_of_two_devices(du, gnu_du, mount, scratch):
    """Its files report other device numbers than the directory they are in: -x leaves them out."""
    point = mount(mounts.overlay, scratch)
    everything = assert_same(du, gnu_du, "-a", point)
    assert sum(b"file" in line for line in everything.lines()) == 2
    assert b"removed" not in everything.out
    assert_same(du, gnu_du, "-ax", point)
