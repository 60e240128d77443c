"""-xdev, -mount and -fstype where other file systems are mounted inside the tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import mounts
from support.find import LS, assert_alike, assert_same, basenames, knows_pins

pytestmark = pytest.mark.usefixtures("needs_root")


@pytest.fixture
def nested(mount, scratch):
    """A tmpfs, an ext4 image, a bind mount and a mounted file, with links into and out of them."""
    top = scratch / "top"
    (top / "plain").mkdir(parents=True)
    (top / "plain" / "file").write_bytes(b"x" * 7000)
    (top / "again").mkdir()
    (top / "mounted-file").touch()
    for point in (mount(mounts.tmpfs, top), mount(mounts.image, "ext4", top / "images")):
        (point / "sub").mkdir()
        (point / "sub" / "file").write_bytes(b"x" * 9000)
    mount(mounts.bind, top / "plain", top / "again")
    mount(mounts.mounted, top / "tmpfs" / "inner", "-t", "tmpfs", "tmpfs")
    (top / "tmpfs" / "inner" / "deep").touch()
    (top / "into").symlink_to("tmpfs/sub")
    (top / "tmpfs" / "out").symlink_to("../plain")
    return scratch


EXPRESSIONS = (
    "-true",
    "-xdev",
    "-xdev -type f",
    "-type d -xdev",
    "-xdev -depth",
    "-xdev -mindepth 1 -maxdepth 2",
    "-fstype tmpfs",
    "-fstype ext4",
    "-fstype tmpfs -type f",
    "! -fstype tmpfs -o -type f",
    "-fstype tmpfs -prune -o -print",
    "-fstype nonsense",
    "-xdev -fstype tmpfs",
    "-name tmpfs -xdev -prune -o -print",
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("follow", ("-P", "-L", "-H"))
def test_other_file_systems(find, gnu_find, nested, expression, follow):
    for tops in (["top"], ["top/tmpfs", "top/plain"], ["top/into", "top/images/ext4/"]):
        result = assert_same(find, gnu_find, follow, *tops, *expression.split(), cwd=nested)
        assert "xdev" not in expression or b"deep" not in result.out


# Starting points and expressions, and what -xdev shows and -mount does not.
MOUNTED = {
    ("-P", "top", "-mount"): "top/images/ext4 top/null top/tmpfs",
    ("-P", "top", "-mount", "-depth"): "top/images/ext4 top/null top/tmpfs",
    ("-P", "top", "-mount", "-size", "-9999"): "top/images/ext4 top/null top/tmpfs",
    ("-P", "top", "-mount", "-xdev", "-type", "d"): "top/images/ext4 top/tmpfs",
    ("-P", "top", "-type", "c", "-o", "-mount", "-name", "tmpfs"): "top/null top/tmpfs",
    ("-P", "top", "-mount", "-maxdepth", "1", "-mindepth", "1"): "top/null top/tmpfs",
    ("-L", "top", "-mount"): "top/images/ext4 top/into top/null top/tmpfs",
    ("-L", "top", "-mount", "-maxdepth", "1", "-type", "d"): "top/into top/tmpfs",
    ("-P", "top/tmpfs", "top/plain", "-mount"): "top/tmpfs/inner",
    ("-L", "top/tmpfs", "-mount"): "top/tmpfs/inner top/tmpfs/out",
    ("-H", "top/into", "top/null", "-mount"): "",
}


@pytest.mark.parametrize("line", MOUNTED, ids=" ".join)
def test_mount_leaves_out_mount_points(find, gnu_find, mount, nested, line):
    """As in findutils 4.11. Before, it was another name of -xdev."""
    (nested / "top" / "null").touch()
    mount(mounts.bind, Path("/dev/null"), nested / "top" / "null")
    shown = find(*("-xdev" if word == "-mount" else word for word in line), cwd=nested).ok()
    left_out = MOUNTED[line].encode().split()
    result = find(*line, cwd=nested).ok()
    assert sorted([*result.lines(), *left_out]) == sorted(shown.lines())
    if knows_pins(gnu_find):
        assert_alike(gnu_find(*line, cwd=nested), result)


def test_mount_in_a_snapshot(find, ringwalk, nested):
    snapshot = nested / "snapshot.parquet"
    ringwalk("snapshot", "top", "-o", snapshot, cwd=nested).ok()
    paths = find("--from", snapshot, "top", "-mount", cwd=nested).ok().lines()
    assert sorted(paths) == sorted(find("top", "-mount", cwd=nested).ok().lines())


def test_files_of_the_layers_of_an_overlay(find, mount, scratch):
    """They have devices of their own, which GNU find takes for other file systems."""
    for name in ("lower", "upper"):
        (mount(mounts.tmpfs, scratch / name) / "sub").mkdir(parents=True)
    lower, upper = (scratch / name / "tmpfs" for name in ("lower", "upper"))
    for path in (lower / "a", lower / "sub" / "b", upper / "sub" / "c"):
        path.touch()
    (upper / "work").mkdir()
    layers = f"lowerdir={lower},upperdir={upper / 'sub'},workdir={upper / 'work'},xino=off"
    mount(mounts.mounted, scratch / "over", "-t", "overlay", "-o", layers, "overlay")
    for expression in (["-mount"], ["-mount", "-size", "-9"], ["-mount", "-type", "f"]):
        found = basenames(find("over", *expression, cwd=scratch).ok())
        assert [name for name in found if name in "abc"] == ["a", "b", "c"], expression


def test_formats(find, gnu_find, nested):
    for follow in ("-P", "-L"):
        args = (follow, "top", "-printf", "%p %F %D %i\\n")
        result = assert_same(find, gnu_find, *args, cwd=nested)
        assert b"tmpfs/sub tmpfs" in result.out and b"images/ext4 ext4" in result.out


def test_a_mount_of_a_directory_above(find, mount, scratch):
    """The bind mount shows the directory without the mount below it, so the search ends."""
    (scratch / "top" / "a" / "b").mkdir(parents=True)
    (scratch / "top" / "a" / "file").touch()
    mount(mounts.bind, scratch / "top", scratch / "top" / "a" / "b")
    expected = [b"top", b"top/a", b"top/a/b", b"top/a/b/a", b"top/a/b/a/b", b"top/a/b/a/file"]
    for follow in ("-P", "-L"):
        assert sorted(find(follow, "top", cwd=scratch).ok().lines()) == [*expected, b"top/a/file"]
        assert sorted(find(follow, "top", "-xdev", cwd=scratch).ok().lines())[:2] == expected[:2]


@pytest.mark.parametrize("kind", ("overlay", "fuse", "xfs", "btrfs"))
def test_kinds_of_file_systems(find, gnu_find, mount, scratch, kind):
    point = mount(mounts.filesystem, kind, scratch)
    (point / "dir").mkdir()
    (point / "dir" / "file").write_bytes(b"1234")
    assert_same(find, gnu_find, point, "-ls", separator=LS)
    for expression in (["-xdev"], ["-printf", "%p %y %s\n"], ["-type", "f", "-empty"]):
        assert_same(find, gnu_find, point, *expression)
    # GNU find finds a file system by its device number only. It prints "unknown" if files have
    # another number than their mount point.
    name = {"fuse": b"fuse"}.get(kind, kind.encode())
    lines = find(point, "-printf", "%F\n").ok().lines()
    assert lines and set(lines) == {name}
    assert len(find(point, "-fstype", name).ok().lines()) == len(lines)


@pytest.fixture
def covered(mount, scratch: Path, needs_root) -> Path:
    """Device nodes mounted over regular files, as containers have them."""
    top = scratch / "top"
    (top / "dev").mkdir(parents=True)
    for path in ("null", "file", "dev/null", "dev/file"):
        (top / path).touch()
    (top / "link").symlink_to("null")
    for path in ("null", "dev/null"):
        mount(mounts.bind, Path("/dev/null"), top / path)
    return scratch


@pytest.mark.parametrize("follow", ("-P", "-L"))
def test_types_of_mounted_files(find, covered, follow):
    """A directory has the type of the covered file; the type of the mounted file counts."""
    devices = ["null", "null"] + (["link"] if follow == "-L" else [])
    for expression in ("-type c", "-type c -name *", "! -type f,d,l"):
        assert basenames(find(follow, "top", *expression.split(), cwd=covered).ok()) == sorted(
            devices
        )
    xtype = ["null", "null"] + (["link"] if follow == "-P" else [])
    assert basenames(find(follow, "top", "-xtype", "c", cwd=covered).ok()) == sorted(xtype)
    result = find(follow, "top", "-name", "null", "-printf", "%y%Y\\n", cwd=covered).ok()
    assert result.lines() == [b"cc", b"cc"]
    assert basenames(find(follow, "top", "-type", "f", cwd=covered).ok()) == ["file", "file"]
    assert basenames(find(follow, "top", "-empty", cwd=covered).ok()) == ["file", "file"]
