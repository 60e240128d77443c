"""`ringwalk diff` where file systems do not keep inode numbers, times of birth or devices."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from support import mounts
from support.run import Program

SAME, DIFFERENT = 0, 1


@pytest.fixture
def save(ringwalk: Program, scratch: Path):
    """Takes a snapshot of a tree; returns its file."""

    def save(top: Path) -> Path:
        file = scratch / "old.parquet"
        ringwalk("snapshot", top, "-o", file).ok()
        return file

    return save


@pytest.fixture
def changes(ringwalk: Program):
    """Compares a snapshot with the tree as it is now; returns a line for each change."""

    def changes(old: Path, top: Path) -> list[str]:
        result = ringwalk("diff", "--format=ndjson", old, top)
        assert result.err == b"", result
        lines = []
        for change in map(json.loads, result.lines()):
            words = [change["change"], change["path"]]
            if "from" in change:
                words += ["from", change["from"]["path"]]
            words += ["likely"] * change.get("likely", False)
            # Sizes and allocated bytes of directories depend on the file system.
            fields = set(change["changed"]) - {"size", "alloc"}
            if words[0] != "modified" or fields:
                lines.append(" ".join([*words, *sorted(fields)]))
        assert result.status == (DIFFERENT if result.lines() else SAME), result
        return sorted(lines)

    return changes


def subvolume(*args: str | Path) -> None:
    subprocess.run(["btrfs", "-q", "subvolume", *args], check=True)


def test_subvolumes_below_the_root(mount, save, changes, scratch):
    """Each mount gives them other device numbers; all have the mount point of the first."""
    top = mount(mounts.image, "btrfs", scratch)
    (top / "file").write_text("1")
    old = save(top)
    subvolume("create", top / "A")
    assert changes(old, top) == ["added A"]
    (top / "A/file").write_text("2")
    subvolume("snapshot", top / "A", top / "B")
    os.sync()
    old = save(top)
    mounts.unmount(top)
    # Takes the device number that the first subvolume had.
    mount(mounts.tmpfs, scratch)
    image = scratch / "btrfs.img"
    mount(mounts.mounted, top, "-o", "loop", "-t", "btrfs", image)
    assert changes(old, top) == []
    (top / "B/file").rename(top / "B/moved")
    assert changes(old, top) == ["renamed B/moved from B/file"]


@pytest.mark.parametrize("layers", ["one file system", "two file systems"])
def test_overlay_after_a_copy_up(mount, save, changes, scratch, layers):
    """The first change of a file copies it up: the copy has a time of birth of its own."""
    writable = mount(mounts.tmpfs, scratch)
    below = writable
    if layers == "two file systems":
        below = mount(mounts.mounted, scratch / "below", "-t", "tmpfs", "none")
    for folder in (below / "lower/d", writable / "upper", writable / "work"):
        folder.mkdir(parents=True)
    for number, name in enumerate(("mode", "name", "gone", "contents", "same")):
        (below / "lower/d" / name).write_text("x")
        os.utime(below / "lower/d" / name, (number, number))
    options = f"lowerdir={below}/lower,upperdir={writable}/upper,workdir={writable}/work"
    top = scratch / "merged"
    with mounts.mounted(top, "-t", "overlay", "-o", options, "none"):
        old = save(top)
        (top / "d/mode").chmod(0o600)
        (top / "d/name").rename(top / "d/other")
        (top / "d/gone").unlink()
        (top / "d/contents").write_text("xyz")
        (top / "new").write_text("n")
    always = ["added new", "modified d/contents mtime", "modified d/mode mode", "removed d/gone"]
    renamed = [*always, "renamed d/other from d/name likely"]
    # Files of two file systems have two devices, and nothing says which is which at a new mount.
    moved = sorted([*always, "added d/other", "removed d/name"])
    expected = [renamed] if layers == "one file system" else [renamed, moved]
    with mounts.mounted(top, "-t", "overlay", "-o", options, "none"):
        found = changes(old, top)
    # Directories that were copied up have another time of change.
    assert sorted(line for line in found if "ctime" not in line) in expected


@pytest.fixture
def sftp(mount, scratch: Path):
    """Mounts a directory with sshfs, without a network."""
    server = Path("/usr/lib/openssh/sftp-server")
    if not server.exists():
        pytest.skip("openssh-sftp-server is not installed")
    command = scratch / "ssh"
    command.write_text(f"#!/bin/sh\nexec {server}\n")
    command.chmod(0o755)
    (scratch / "remote").mkdir()

    def sftp() -> Path:
        ssh = f"ssh_command={command}"
        return mount(mounts.server, scratch / "near", "sshfs", "-o", ssh, f"host:{scratch}/remote")

    return sftp


def test_inode_numbers_of_each_mount(sftp, save, changes, scratch):
    """sshfs numbers files in the order in which they are looked up."""
    names = [f"{number:02}" for number in range(40)]
    for name in names:
        (scratch / "remote" / name).write_text("x")
        os.utime(scratch / "remote" / name, (1, 1))
    top = sftp()
    old = save(top)
    mounts.unmount(top)
    top = sftp()
    for name in reversed(names):
        (top / name).stat()
    assert changes(old, top) == []
    # All files look the same. Nobody can say which one has another name.
    (top / "07").rename(top / "x")
    (top / "08").chmod(0o600)
    (top / "09").write_text("longer")
    expected = ["added x", "modified 08 mode", "removed 07", "replaced 09 likely mtime"]
    assert changes(old, top) == expected
