"""The block device of an ext4: kinds of devices, and permissions to read them."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import time
from pathlib import Path

import pytest
from support import images, mounts, trees
from support.answers import FEW, Reference, explained
from support.run import NOBODY

pytestmark = pytest.mark.usefixtures("needs_root")

# A group that owns the device during a test. Only the number counts.
DISK = 64123


def build(file: Path, mebibytes: int = 32) -> None:
    """An ext4 image with some files."""
    with open(file, "wb") as handle:
        handle.truncate(mebibytes << 20)
    images.command(["mke2fs", "-q", "-F", "-t", "ext4", file])


def fill(point: Path) -> None:
    """Makes files for every user, and a directory for root only."""
    trees.RandomTree(point / "tree", seed=101, entries=100)
    (point / "private").mkdir(mode=0o700)
    (point / "private" / "file").write_bytes(b"x" * 3000)
    (point / "shared").write_bytes(b"x" * 3000)
    trees.settle(point)


def output(*args) -> str:
    """Returns the output of a tool."""
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout.strip()


@contextlib.contextmanager
def loop(file: Path, *options: str):
    """Gives a loop device for an image."""
    device = output("losetup", "--find", "--show", *options, file)
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def check(ringwalk, point: Path) -> None:
    """Compares the answers, and checks that the source was used."""
    reference = Reference(ringwalk, point)
    reference.check("--source", "ext4", questions=FEW)
    reference.check("--source", "auto", questions=FEW)
    row = explained(ringwalk, point, "--source", "ext4", "find", ".", "-size", "+1")["source"]
    assert row.startswith("ext4 (asked for"), row


def test_a_loop_device_with_an_offset(ringwalk, scratch):
    build(scratch / "inner")
    with open(scratch / "outer", "wb") as outer:
        outer.seek(1 << 20)
        outer.write((scratch / "inner").read_bytes())
    with loop(scratch / "outer", "--offset", str(1 << 20)) as device:
        with mounts.mounted(scratch / "point", device) as point:
            fill(point)
            mounts.call("mount", "-o", "remount,ro", point)
            check(ringwalk, point)


def delete_partition(device: str) -> None:
    """Removes a partition after the last process has closed it."""
    for _ in range(50):
        done = subprocess.run(["delpart", device, "1"], capture_output=True, check=False)
        if done.returncode == 0:
            return
        time.sleep(0.1)
    raise OSError(done.stderr)


def test_a_partition(ringwalk, scratch):
    """A partition that the test adds, so the kernel needs no support for partition tables."""
    build(scratch / "inner")
    with open(scratch / "outer", "wb") as outer:
        outer.seek(1 << 20)
        outer.write((scratch / "inner").read_bytes())
        outer.truncate(64 << 20)
    with loop(scratch / "outer", "--partscan") as device:
        subprocess.run(["addpart", device, "1", "2048", str(32 << 11)], check=True)
        try:
            with mounts.mounted(scratch / "point", f"{device}p1") as point:
                fill(point)
                mounts.call("mount", "-o", "remount,ro", point)
                check(ringwalk, point)
        finally:
            delete_partition(device)


def test_a_device_mapper_device(ringwalk, scratch):
    """LVM and encrypted disks use such devices."""
    build(scratch / "image")
    with loop(scratch / "image") as device:
        name = f"ringwalk-test-{os.getpid()}"
        done = subprocess.run(
            ["dmsetup", "create", name, "--table", f"0 {32 << 11} linear {device} 0"],
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip(f"no device mapper: {done.stderr.decode().splitlines()[0]}")
        try:
            with mounts.mounted(scratch / "point", f"/dev/mapper/{name}") as point:
                fill(point)
                mounts.call("mount", "-o", "remount,ro", point)
                check(ringwalk, point)
        finally:
            subprocess.run(["dmsetup", "remove", "--retry", name], check=True)


def test_a_device_under_another_name(ringwalk, scratch):
    """The mount table has the name of a node that does not exist; the device number counts."""
    build(scratch / "image")
    with loop(scratch / "image") as device:
        node = scratch / "node"
        os.mknod(node, stat.S_IFBLK | 0o600, os.stat(device).st_rdev)
        with mounts.mounted(scratch / "point", node) as point:
            fill(point)
            mounts.call("mount", "-o", "remount,ro", point)
            check(ringwalk, point)
            node.unlink()
            check(ringwalk, point)
            # A regular file with the name of the device.
            node.write_bytes((scratch / "image").read_bytes()[: 1 << 20])
            check(ringwalk, point)
            # The node of another disk.
            node.unlink()
            os.mknod(node, stat.S_IFBLK | 0o600, os.makedev(7, 255))
            check(ringwalk, point)


@contextlib.contextmanager
def group_may_read(device: Path, group: int):
    """Lets the members of a group read a device, like those of `disk`."""
    before = device.stat()
    os.chown(device, before.st_uid, group)
    device.chmod(0o640)
    try:
        yield
    finally:
        os.chown(device, before.st_uid, before.st_gid)
        device.chmod(stat.S_IMODE(before.st_mode))


@pytest.fixture
def disk(mount, scratch):
    """A mounted image of which some is private."""
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -b 4096")
    fill(image.point)
    image.point.chmod(0o755)
    image.freeze()
    return image


def names(result) -> set[bytes]:
    """Returns the paths that find has printed."""
    return set(result.lines(b"\0"))


def test_who_may_not_read_the_device(ringwalk, disk):
    """The source by name is an error with a message; `auto` uses system calls."""
    command = ("find", ".", "-print0")
    options = {"cwd": disk.point, "uid": NOBODY}
    expected = ringwalk("--source", "syscall", *command, **options).sane()
    got = ringwalk("--source", "auto", *command, **options).sane()
    assert names(got) == names(expected) and got.status == expected.status == 1
    refused = ringwalk("--source", "ext4", *command, **options)
    assert refused.status != 0
    assert b"Permission denied" in refused.err
    assert b"panicked" not in refused.err
    row = explained(ringwalk, disk.point, "du", "-s", "shared", uid=NOBODY)["source"]
    assert row.startswith("syscall (auto"), row


def test_a_member_of_the_group_that_owns_the_device(ringwalk, disk):
    """A user who may read the device may read all of it, but must ask for the source by name."""
    options = {"cwd": disk.point, "uid": NOBODY, "groups": [DISK]}
    command = ("find", ".", "-printf", "%p %i %s\\0")
    whole = ringwalk("--source", "syscall", *command, cwd=disk.point).ok()
    allowed = ringwalk("--source", "syscall", *command, **options).sane()
    assert names(allowed) < names(whole)
    with group_may_read(disk.device(), DISK):
        chosen = ringwalk("--source", "auto", *command, **options).sane()
        assert names(chosen) == names(allowed) and chosen.status == 1
        asked = ringwalk("--source", "ext4", *command, **options).sane()
        assert names(asked) == names(whole)
        for question in (("du", "-s", "-B1", "."), ("count", ".")):
            total = ringwalk("--source", "ext4", *question, **options).ok().out
            assert total == ringwalk("--source", "syscall", *question, cwd=disk.point).ok().out
            part = ringwalk("--source", "auto", *question, **options).sane()
            assert part.out == ringwalk("--source", "syscall", *question, **options).out != total
            assert part.status == 1


def test_reading_ahead_takes_read_access_only(ringwalk, disk):
    """Without read access nothing is read ahead, and nothing else changes."""
    options = {"cwd": disk.point, "uid": NOBODY}
    command = ("--source", "syscall", "--prefetch", "always", "find", ".", "-printf", "%p %s\\0")
    assert names(ringwalk(*command, **options).sane()) == names(
        ringwalk("--source", "syscall", "find", ".", "-printf", "%p %s\\0", **options).sane()
    )


@pytest.mark.parametrize("kind", ("tmpfs", "xfs", "btrfs", "overlay", "fuse"))
def test_another_type_of_file_system(ringwalk, mount, scratch, kind):
    """The source by name is refused with a message, and there is no wrong answer."""
    point = mount(mounts.filesystem, kind, scratch)
    (point / "file").write_bytes(b"x" * 100)
    for source in ("ext4", "xfs", "btrfs"):
        if source == kind:
            continue
        for command in (("find", "."), ("du", "-s"), ("count",)):
            refused = ringwalk("--source", source, *command, cwd=point)
            assert refused.status != 0, (source, command, refused)
            assert source.encode() in refused.err and b"panicked" not in refused.err
    assert ringwalk("--source", "auto", "find", ".", cwd=point).ok().lines()


def test_no_file_system_at_all(ringwalk):
    """System calls walk /proc and /sys."""
    for top in ("/proc/self/fdinfo", "/sys/kernel"):
        assert ringwalk("find", top, "-maxdepth", "1").sane().lines()
        assert ringwalk("du", "-s", "--inodes", top).sane().out
