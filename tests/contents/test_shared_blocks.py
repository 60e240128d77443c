"""Copies that share their blocks: known by their extents, without being read."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from support import mounts, strace
from support.copies import expected, found, path_of

MIB = 1 << 20
KINDS = ("btrfs", "xfs")
SIZES = (200_000, 5 * MIB)


def reflink(source, target):
    subprocess.run(["cp", "--reflink=always", source, target], check=True, capture_output=True)


@pytest.fixture(params=KINDS)
def point(request, mount, scratch):
    return mount(mounts.filesystem, request.param, scratch)


def search(dupes, scratch, top):
    """Returns the bytes read of each file, and the answer."""
    subprocess.run(["sync", "-f", top], check=True)
    read, result = strace.bytes_read(scratch, [*dupes.first, "--format=json", top], top)
    assert found(result.ok()) == expected(top)
    return read, json.loads(result.out)


@pytest.mark.parametrize("size", SIZES)
def test_reflinks_are_not_read(dupes, point, scratch, size):
    top = point / "top"
    top.mkdir()
    (top / "one").write_bytes(os.urandom(size))
    for name in ("two", "three"):
        reflink(top / "one", top / name)
    for seconds, name in enumerate(("one", "two", "three")):
        os.utime(top / name, (1000 + seconds, 1000 + seconds))
    read, answer = search(dupes, scratch, top)
    assert read == {}
    (group,) = answer["groups"]
    assert group["hash"] is None and group["freeable"] == 0
    first, *others = group["files"]
    assert [path_of(file) for file in (first, *others)] == [
        os.fsencode(top / name) for name in ("one", "two", "three")
    ]
    assert first["shares_with"] is None
    assert [file["shares_with"] for file in others] == [first["path"]] * 2
    text = dupes(".", cwd=top).ok().out.decode()
    assert text.count("(shares its blocks)") == 2 and "0 to free" in text


def test_clones_of_fragmented_files_are_not_read(dupes, point, scratch):
    top = point / "top"
    top.mkdir()
    with open(top / "one", "wb") as file:
        for number in range(300):
            file.seek(number * 4 * 4096)
            file.write(os.urandom(4096))
            file.flush()
            # XFS allocates blocks behind the written ones. A clone has holes there.
            os.fsync(file.fileno())
    reflink(top / "one", top / "two")
    read, answer = search(dupes, scratch, top)
    assert read == {}
    assert [group["freeable"] for group in answer["groups"]] == [0]


@pytest.mark.parametrize("size", SIZES)
def test_one_of_those_that_share_is_read_for_others(dupes, point, scratch, size):
    top = point / "top"
    top.mkdir()
    data = os.urandom(size)
    for name in ("shared", "own"):
        (top / name).write_bytes(data)
    (top / "differs").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    reflink(top / "shared", top / "link")
    read, answer = search(dupes, scratch, top)
    assert len({"shared", "link"} & set(read)) == 1, read
    (group,) = answer["groups"]
    assert group["hash"] is not None and group["freeable"] == size
    marked = [file["path"] for file in group["files"] if file["shares_with"]]
    assert len(marked) == 1 and "own" not in marked[0]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", (0, -1))
def test_a_reflink_that_was_changed(dupes, point, scratch, size, place):
    top = point / "top"
    top.mkdir()
    (top / "one").write_bytes(bytes(1) + os.urandom(size - 2) + bytes(1))
    reflink(top / "one", top / "two")
    with open(top / "two", "r+b") as file:
        file.seek(place if place >= 0 else size - 1)
        file.write(b"?")
    # The change may be in memory only.
    result = dupes("--format=json", top).ok()
    assert found(result) == set()
    read, _ = search(dupes, scratch, top)
    assert set(read) == {"one", "two"}


def test_a_reflink_that_was_changed_in_memory_only(dupes, point, scratch):
    """Extents on the disk are those of the old contents."""
    top = point / "top"
    top.mkdir()
    (top / "one").write_bytes(b"x" * MIB)
    subprocess.run(["sync", "-f", top], check=True)
    reflink(top / "one", top / "two")
    subprocess.run(["sync", "-f", top], check=True)
    with open(top / "two", "r+b") as file:
        file.seek(MIB // 2)
        file.write(b"?")
        file.flush()
        assert found(dupes("--format=json", top).ok()) == set()


def test_files_of_other_lengths_that_share(dupes, point, scratch):
    """The same extents, but another end of the file."""
    top = point / "top"
    top.mkdir()
    (top / "one").write_bytes(b"x" * MIB)
    reflink(top / "one", top / "two")
    os.truncate(top / "two", MIB - 100)
    reflink(top / "two", top / "three")
    _, answer = search(dupes, scratch, top)
    assert len(answer["groups"]) == 1


def test_holes_between_shared_extents(dupes, point, scratch):
    top = point / "top"
    top.mkdir()
    for name, gap in (("one", 1), ("other", 2)):
        with open(top / name, "wb") as file:
            file.write(os.urandom(128 << 10))
            file.seek(gap * MIB)
            file.write(os.urandom(128 << 10))
            file.truncate(4 * MIB)
        reflink(top / name, top / f"{name} copy")
    _, answer = search(dupes, scratch, top)
    assert len(answer["groups"]) == 2


def test_compressed_files_are_read(dupes, mount, scratch):
    """Two files may have the same compressed extent, and other parts of it."""
    point = mount(mounts.filesystem, "btrfs", scratch)
    subprocess.run(["mount", "-o", "remount,compress-force=zstd", point], check=True)
    top = point / "top"
    top.mkdir()
    (top / "one").write_bytes(b"compressible " * 100_000)
    reflink(top / "one", top / "two")
    read, answer = search(dupes, scratch, top)
    assert set(read) == {"one", "two"}
    assert answer["groups"][0]["hash"] is not None


def test_subvolumes_and_snapshots_of_btrfs(dupes, mount, scratch):
    point = mount(mounts.filesystem, "btrfs", scratch)
    tool = ["btrfs", "-q", "subvolume"]
    subprocess.run([*tool, "create", point / "live"], check=True, capture_output=True)
    (point / "live" / "file").write_bytes(os.urandom(MIB))
    (point / "live" / "small").write_bytes(b"inline")
    subprocess.run(["sync", "-f", point], check=True)
    words = [*tool, "snapshot", point / "live", point / "snapshot"]
    subprocess.run(words, check=True, capture_output=True)
    read, answer = search(dupes, scratch, point)
    assert [group["size"] for group in answer["groups"]].count(MIB) == 1
    big = next(group for group in answer["groups"] if group["size"] == MIB)
    assert big["freeable"] == 0 and not [name for name in read if name.endswith("/file")]
    # Only the subvolume that is asked for.
    assert not found(dupes("-x", "--format=json", point / "live").ok())
