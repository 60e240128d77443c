"""Mount points inside the tree: other file systems, bind mounts, loops across them."""

from __future__ import annotations

import pytest
from support import mounts, trees
from support.gnu import assert_same, counted, find_totals, messages

pytestmark = pytest.mark.usefixtures("needs_root")


@pytest.fixture
def nested(mount, scratch):
    """A directory with a tmpfs, an ext4 image and a FUSE mount in it, each with a few files."""
    top = scratch / "top"
    (top / "plain").mkdir(parents=True)
    (top / "plain" / "file").write_bytes(b"x" * 7000)
    for point in (
        mount(mounts.tmpfs, top),
        mount(mounts.image, "ext4", top / "images"),
        mount(mounts.fuse, top / "daemons"),
    ):
        (point / "sub").mkdir()
        (point / "sub" / "file").write_bytes(b"x" * 9000)
        (point / "up").symlink_to(top)
        (point / "sub" / "top").symlink_to(point)
    (top / "plain" / "across").symlink_to(top / "tmpfs" / "sub")
    trees.settle(top)
    return top


def test_everything_below_counts(count, du, gnu_du, nested):
    files, size = find_totals(nested)
    assert counted(count(nested).ok()) == (files, size)
    assert_same(du, gnu_du, "-a", nested)


def names(result) -> list[bytes]:
    return sorted(line.split(b"\t", 1)[1] for line in result.lines())


@pytest.mark.parametrize("options", (("-x",), ("-ax",), ("-a", "--one-file-system"), ("-sx",)))
def test_one_file_system(du, gnu_du, nested, options):
    result = assert_same(du, gnu_du, *options, nested)
    assert not any(b"/tmpfs/sub" in line for line in result.lines())


def test_one_file_system_of_each_operand(du, gnu_du, nested):
    operands = (nested / "tmpfs", nested / "plain", nested / "images" / "ext4")
    assert_same(du, gnu_du, "-ax", *operands)


@pytest.mark.parametrize("options", (("-L",), ("-aL",), ("-sL",), ("-aLx",)))
def test_symlink_loops_across_file_systems(du, gnu_du, nested, options):
    for workers in (1, 4):
        got, expected = du(*options, "--workers", workers, nested), gnu_du(*options, nested)
        assert sorted(got.lines()) == sorted(expected.lines())
        assert got.status == expected.status


@pytest.fixture
def bound(mount, scratch):
    """A directory and a bind mount of it on the same file system."""
    top = scratch / "top"
    (top / "real" / "sub").mkdir(parents=True)
    (top / "real" / "sub" / "file").write_bytes(b"x" * 20_000)
    mount(mounts.bind, top / "real", top / "again")
    trees.settle(top)
    return top


@pytest.mark.parametrize("options", ((), ("-a",), ("-ax",), ("-x",), ("-al",)))
def test_bind_mounts(count, du, gnu_du, bound, options):
    files, size = find_totals(bound)
    assert files == 6
    assert counted(count(bound).ok()) == (files, size)
    assert_same(du, gnu_du, *options, bound)


def test_a_bind_mount_of_an_ancestor_ends(count, du, gnu_du, mount, scratch):
    top = scratch / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "file").write_bytes(b"x" * 20_000)
    mount(mounts.bind, top, top / "a" / "b")
    for workers in (1, 4):
        count("--workers", workers, top).sane()
        expected, got = gnu_du("-a", top), du("-a", "--workers", workers, top)
        assert names(got) == names(expected)
        assert got.status == expected.status
        assert len(messages(got)) == len(messages(expected))


def test_a_bind_mounted_file(count, du, gnu_du, mount, scratch):
    (scratch / "top").mkdir()
    (scratch / "elsewhere").write_bytes(b"x" * 30_000)
    (scratch / "top" / "file").touch()
    tmp = mount(mounts.tmpfs, scratch / "other")
    (tmp / "file").write_bytes(b"x" * 50_000)
    with mounts.mounted(scratch / "top", "--bind", scratch / "top"):
        mounts.call("mount", "--bind", tmp / "file", scratch / "top" / "file")
        try:
            assert counted(count(scratch / "top").ok()) == (1, 50000)
            assert_same(du, gnu_du, "-a", scratch / "top")
            # GNU du -x leaves out a file of another device, too.
            assert_same(du, gnu_du, "-ax", scratch / "top")
        finally:
            mounts.call("umount", scratch / "top" / "file")
