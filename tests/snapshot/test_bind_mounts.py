"""Snapshots of several roots of which mounts show the same files."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from support import mounts

MIB = 1 << 20


@pytest.fixture
def top(scratch, mount):
    """Two directories with the same files, one of them mounted, and one with another link."""
    for name in ("a/deep", "b", "else"):
        (scratch / name).mkdir(parents=True)
    for name in ("a/x", "a/y", "a/deep/z"):
        (scratch / name).write_bytes(b"s" * MIB)
    os.link(scratch / "a/y", scratch / "else/y2")
    mount(mounts.bind, scratch / "a", scratch / "b")
    return scratch


def du(*tops) -> int:
    done = subprocess.run(["du", "-scB1", *tops], capture_output=True, check=True)
    return int(done.stdout.split(b"\n")[-2].split()[0])


def rows(ringwalk, snapshot) -> list[dict]:
    lines = ringwalk("export", "--format=ndjson", snapshot).ok().out.splitlines()
    return [row for row in map(json.loads, lines) if "path" in row]


def test_each_file_counts_once(ringwalk, top):
    """It counted once for each mount, against the promise that the sum is that of du."""
    for roots in (["a", "b"], ["b", "a", "else"], ["else", "b"]):
        paths = [top / root for root in roots]
        ringwalk("snapshot", "-o", top / "s", *paths).ok()
        charged = [row["alloc"] for row in rows(ringwalk, top / "s") if row["charged"]]
        assert sum(charged) == du(*paths), roots


def test_what_deleting_frees(ringwalk, top):
    """Of the first root all but the file with a link elsewhere, and nothing more of the second."""
    ringwalk("snapshot", "-o", top / "s", top / "a", top / "b").ok()
    freeable = {
        row["root"]: row["tree_freeable"] for row in rows(ringwalk, top / "s") if not row["path"]
    }
    assert sorted(freeable.values()) == [0, du(top / "a") - du(top / "a/y")]


def test_a_directory_with_the_inode_number_of_another_root(ringwalk, mount, scratch):
    """On FUSE it was taken for that root, and the snapshot was refused."""
    top = mount(mounts.two_below_one, scratch / "work")
    (top / "1" / "root" / "below").mkdir(parents=True)
    inode = (top / "1" / "root" / "below").stat().st_ino
    for number in range(100):
        other = top / "2" / f"root{number}"
        other.mkdir()
        if other.stat().st_ino == inode:
            break
    assert other.stat().st_ino == inode
    ringwalk("snapshot", top / "1" / "root", other, "-o", scratch / "saved").ok()
    assert len(rows(ringwalk, scratch / "saved")) == 3
