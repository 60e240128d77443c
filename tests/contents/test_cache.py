"""`ringwalk dupes --cache`: only what has changed is read again, and nothing that has is missed.

A hash is kept only if the file has not changed for some time. So the times of the files of these
tests are set back in the image of their file system.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support import images, mounts, strace
from support.copies import expected, found
from support.halted import halted
from support.run import needs_program, run

KIB, MIB = 1 << 10, 1 << 20


class Disk:
    """An ext4 whose files have not changed for years."""

    def __init__(self, image: images.Image):
        self.image = image
        self.top = image.point / "top"
        self.top.mkdir()

    def settle(self, options: str = "noatime") -> None:
        """Sets the times of all files back, and forgets what is in memory."""
        lines = []
        for folder, _, files in os.walk(self.top):
            for name in files:
                inode = os.stat(os.path.join(folder, name)).st_ino
                lines += [f"sif <{inode}> {time} @1500000000" for time in ("ctime", "mtime")]
        self.image.unmount()
        script = self.image.file.with_name("script")
        script.write_text("\n".join(lines) + "\n")
        needs_program("debugfs")
        subprocess.run(
            ["debugfs", "-w", "-f", script, self.image.file], check=True, capture_output=True
        )
        self.image.remount(options)


@pytest.fixture
def disk(mount, scratch) -> Disk:
    return Disk(mount(images.fresh, "ext4", scratch / "work", "-t ext4 -b 4096", "noatime", 200))


@pytest.fixture
def search(dupes, disk, scratch):
    """A search of the disk with a cache. Returns the bytes read of each file, and the result."""
    words = [*dupes.first, "--format=json", "--cache", scratch / "cache", disk.top]

    def run_it(*more, cache: Path | None = None):
        extra = [] if cache is None else ["--cache", cache]
        command = words if not extra else [*dupes.first, "--format=json", *extra, disk.top]
        return strace.bytes_read(scratch, [*command, *more], disk.top)

    return run_it


def fill(top):
    """Makes pairs of equal files of several sizes, and three that only have the same size."""
    for number, size in enumerate((5, 4096, 200 * KIB, 300 * KIB, 2 * MIB)):
        for name in ("a", "b"):
            (top / f"{number}{name}").write_bytes(bytes([number + 1]) * size)
    for name in "xyz":
        (top / name).write_bytes(name.encode() * 70 * KIB)


def test_a_second_run_reads_nothing(search, disk, scratch):
    fill(disk.top)
    disk.settle()
    first, result = search()
    assert found(result.ok()) == expected(disk.top) and len(expected(disk.top)) == 5
    assert set(first) == set(os.listdir(disk.top))
    assert (scratch / "cache").stat().st_mode & 0o777 == 0o600
    second, again = search()
    assert second == {} and again.ok().out == result.out
    # After another mount with another device number, too.
    disk.image.remount("noatime")
    third, again = search()
    assert third == {} and found(again.ok()) == found(result)


def test_every_edit_is_seen(search, disk, scratch):
    """Even one that keeps the size and the time of modification."""
    fill(disk.top)
    disk.settle()
    search()
    path = disk.top / "3a"
    before = os.stat(path)
    reference = scratch / "reference"
    subprocess.run(["touch", "-r", path, reference], check=True)
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"?")
    subprocess.run(["touch", "-r", reference, path], check=True)
    assert os.stat(path).st_mtime_ns == before.st_mtime_ns
    read, result = search()
    assert set(read) == {"3a"}
    assert found(result.ok()) == expected(disk.top) and len(expected(disk.top)) == 4
    # The new hash is not kept yet, since the file has changed a moment ago.
    read, result = search()
    assert set(read) == {"3a"} and found(result.ok()) == expected(disk.top)


def test_files_that_were_replaced_or_renamed(search, disk):
    fill(disk.top)
    disk.settle()
    search()
    (disk.top / "4a").rename(disk.top / "renamed")
    (disk.top / "new").write_bytes(b"?" * 2 * MIB)
    (disk.top / "new").rename(disk.top / "4b")
    os.link(disk.top / "0a", disk.top / "link")
    read, result = search()
    assert found(result.ok()) == expected(disk.top)
    # Renaming and linking set the time of change, too.
    assert set(read) <= {"renamed", "4b", "0a", "link"}


def test_young_files_are_not_kept(search, disk):
    fill(disk.top)
    first, result = search()
    second, again = search()
    assert first == second and found(again.ok()) == found(result.ok())


def test_a_cache_that_is_in_use(dupes, disk, scratch):
    fill(disk.top)
    words = ["--cache", scratch / "cache", disk.top]
    dupes(*words).ok()
    with open(scratch / "cache", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = dupes(*words)
        assert result.status == 2 and not result.out
        assert b"is in use by another process" in result.err
    dupes(*words).ok()
    # A run that is in the middle of its work.
    running = halted([*dupes.first, "--workers", "1", *words], "pread64", 1, disk.top / "4a")
    with running as program:
        assert dupes(*words).status == 2
        assert program.finish().ok().lines()[-1].startswith(b"5 groups")


def test_files_that_are_no_cache(dupes, disk, scratch):
    fill(disk.top)
    for data in (b"some text\n", bytes(5000), b"PAR1" * 3000):
        (scratch / "other").write_bytes(data)
        result = dupes("--cache", scratch / "other", disk.top)
        assert result.status == 2 and not result.out and b"'" in result.err, result
        assert (scratch / "other").read_bytes() == data
    # An empty file becomes one.
    (scratch / "other").write_bytes(b"")
    dupes("--cache", scratch / "other", disk.top).ok()


DAMAGED = b"a part of the cache is damaged; files whose hashes were in it were read again\n"


@pytest.mark.parametrize("places", ((0,), (40,), (4096,), (4100,), (4200,), (6000,), (-1,)))
def test_a_damaged_cache(search, disk, scratch, places):
    """It may be refused or read in part. The answer is right in any case."""
    fill(disk.top)
    disk.settle()
    _, result = search()
    cache = scratch / "cache"
    data = bytearray(cache.read_bytes())
    for place in places:
        data[min(place, len(data) - 1)] ^= 0x55
    cache.write_bytes(data)
    _, again = search()
    if again.status == 2:
        assert b"cache" in again.err and places[0] < 4096, again
        assert cache.read_bytes() == data
    else:
        assert (again.status, again.out) == (0, result.out)
        # A byte that is zero may be behind the records.
        assert again.err in (b"", DAMAGED) and (again.err == DAMAGED or places == (-1,))
    # A file whose end is missing.
    cache.write_bytes(data[: len(data) // 2 + 7])
    _, again = search()
    assert again.status == 2 or (again.status, again.out) == (0, result.out)


@pytest.mark.parametrize("ending", (signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
def test_an_interrupted_run_goes_on_where_it_stopped(dupes, search, disk, scratch, ending):
    for number in range(36):
        for name in ("a", "b"):
            data = bytes([number + 1]) * (MIB - 4096 * number)
            (disk.top / f"{number}{name}").write_bytes(data)
    disk.settle()
    whole, result = search("--workers", "1", cache=scratch / "other")
    total = sum(whole.values())
    # In the order of reading. Another thread may read it next time, and then counts its own calls.
    late = disk.top / list(whole)[len(whole) * 3 // 4]
    words = ["--format=json", "--workers", "1", "--cache", scratch / "cache", disk.top]
    with halted([*dupes.first, *words], "pread64", path=late) as program:
        stopped = program.finish(ending)
    # strace ends itself by the signal that ended the program.
    assert stopped.status == -ending and not stopped.out, stopped
    rest, again = search()
    assert again.ok().out == result.out
    # What was read in the last second may be read again: 16 MiB at most, and unfinished files.
    assert 0 < sum(rest.values()) < total * 3 // 4, (sum(rest.values()), total)
    last, again = search()
    assert last == {} and again.ok().out == result.out


def test_lazytime_is_said(search, disk):
    fill(disk.top)
    disk.settle("noatime,lazytime")
    first, result = search()
    assert result.status == 0 and found(result) == expected(disk.top)
    assert b"is kept: the file system is mounted with lazytime" in result.err
    second, _ = search()
    assert second == first


def test_a_file_system_that_cannot_be_known_again_is_said(dupes, mount, scratch):
    point = mount(mounts.filesystem, "fuse", scratch)
    for name in ("a", "b"):
        (point / name).write_bytes(b"x" * 5000)
    result = dupes("--format=json", "--cache", scratch / "cache", point)
    assert result.status == 0 and found(result) == expected(point)
    assert b"no hash of the file system of" in result.err
    assert b"is kept: the file system " in result.err


# It waits until the kernel has written the copies: half a minute, or more.
@pytest.mark.long
def test_copies_that_share_blocks_are_known_again(dupes, mount, scratch):
    """Also if their hashes are in the cache, so that they are not read."""
    points = [mount(mounts.filesystem, kind, scratch / kind) for kind in ("btrfs", "xfs")]
    for point in points:
        (point / "a").write_bytes(b"x" * MIB)
        (point / "c").write_bytes(b"x" * MIB)
        for source, target in (("a", "b"), ("c", "d")):
            command = ["cp", "--reflink=always", point / source, point / target]
            subprocess.run(command, check=True)
        subprocess.run(["sync", "-f", point], check=True)
    without = dupes("--format=json", *points).ok().out
    # The groups of both file systems are one.
    assert without.count(b'"freeable":%d' % (3 * MIB)) == 2
    assert without.count(b'"shares_with":null') == 4
    words = [*dupes.first, "--format=json", "--cache", scratch / "cache", *points]
    # Until the changes are old enough no hash is kept. That depends on what waits to be written.
    for _ in range(40):
        time.sleep(5)
        read, result = strace.bytes_read(scratch, words, scratch)
        assert result.ok().out == without
        if set(read) <= {"cache"}:
            return
    pytest.skip("the disk is busy: changes may still be in memory only")


def test_a_full_disk(dupes, disk, mount, scratch):
    """The answer is given without a cache, and the cache that was there stays."""
    for number in range(400):
        (disk.top / f"{number}").write_bytes(b"%d" % (number // 2))
    disk.settle()
    small = mount(mounts.mounted, scratch / "small", "-t", "tmpfs", "-o", "size=20k", "tmpfs")
    result = dupes("--format=json", "--cache", small / "cache", disk.top)
    assert result.status == 1, result
    assert b"cannot write cache" in result.err and b"No space left on device" in result.err
    assert found(result) == expected(disk.top)
    result = dupes("--format=json", "--cache", small / "cache", disk.top)
    assert found(result) == expected(disk.top)


def test_a_cache_for_several_file_systems(dupes, disk, mount, scratch):
    fill(disk.top)
    disk.settle()
    words = ["--format=json", "--cache", scratch / "cache"]
    other = Disk(mount(images.fresh, "ext4", scratch / "work2", "-t ext4 -b 4096"))
    fill(other.top)
    other.settle()
    both = found(dupes(*words, disk.top, other.top).ok())
    assert both == expected(disk.top, other.top)
    for top in (disk.top, other.top):
        read, result = strace.bytes_read(scratch, [*dupes.first, *words, top], top)
        assert read == {} and found(result.ok()) == expected(top)


def test_a_cache_that_another_user_may_not_write(dupes, disk, scratch, needs_root):
    fill(disk.top)
    dupes("--cache", scratch / "cache", disk.top).ok()
    result = run([*dupes.first, "--cache", scratch / "cache", disk.top], uid=65534)
    assert result.status == 2 and b"cannot open cache" in result.err
