"""`hash` and `dupes` where device and inode number do not name one file, or do not stay."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from processes import started
from support import mounts
from support.copies import path_of

MIB = 1 << 20
SFTP_SERVER = "/usr/lib/openssh/sftp-server"


@contextlib.contextmanager
def sshfs(source: Path, point: Path):
    """Mounts a directory by sshfs without a network: inode numbers depend on the look-ups."""
    if not os.path.exists(SFTP_SERVER):
        raise mounts.Unavailable(f"{SFTP_SERVER} is not installed")
    if shutil.which("sshfs") is None:
        raise mounts.Unavailable("sshfs is not installed")
    ours, theirs = socket.socketpair()
    options = "passive,dcache_timeout=0,entry_timeout=0,attr_timeout=0"
    command = ["sshfs", "-f", "-o", options, f":{source}", make(point)]
    with (
        started([SFTP_SERVER], stdin=theirs, stdout=theirs) as server,
        started(command, stdin=ours, stdout=ours, stderr=subprocess.PIPE) as client,
    ):
        ours.close()
        theirs.close()
        try:
            while not point.is_mount():
                if client.poll() is not None:
                    raise mounts.Unavailable(client.stderr.read().decode())
            yield point
        finally:
            mounts.unmount(point)
            client.wait()
            server.wait()


def make(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def groups(dupes, *words) -> list[list[str]]:
    found = json.loads(dupes("--format=json", *words).ok().out)["groups"]
    return [[os.fsdecode(path_of(file)) for file in group["files"]] for group in found]


def collide(top: Path, **contents: bytes) -> None:
    """Writes files with one inode number and one time of change to both halves."""
    for place, data in contents.items():
        file = top / place.lstrip("_") / f"f{place}"
        file.write_bytes(data)
        os.utime(file, (1000, 1000))
    files = [top / place.lstrip("_") / f"f{place}" for place in contents]
    assert len({file.stat().st_ino for file in files}) == 1


def test_two_files_with_one_inode_number(ringwalk, dupes, hashing, mount, scratch):
    """The hash of one was stored for the other, and one was called a hard link of the other."""
    top = mount(mounts.two_below_one, scratch / "work")
    collide(top, _1=b"AAAA", _2=b"BBBB")
    assert groups(dupes, top) == []
    hashing("--all", "--save", scratch / "s", top).ok()
    rows = [
        json.loads(line)
        for line in ringwalk("export", scratch / "s", "--format", "ndjson").ok().out.splitlines()
    ]
    stored = {row["path"]: row["hash"] for row in rows if row.get("hash")}
    listed = hashing(top / "1/f_1", top / "2/f_2").ok().out.decode().split()[::2]
    assert [stored["1/f_1"], stored["2/f_2"]] == listed


def test_two_equal_files_with_one_inode_number(dupes, mount, scratch):
    top = mount(mounts.two_below_one, scratch / "work")
    collide(top, _1=b"same", _2=b"same")
    assert groups(dupes, top) == [[str(top / "1/f_1"), str(top / "2/f_2")]]
    # Each half is a directory with the inode number of the other.
    (found,) = json.loads(dupes("--format=json", "--keep-in", top / "1", top).ok().out)["groups"]
    assert [file["reference"] for file in found["files"]] == [True, False]


def test_two_file_systems_with_one_uuid(dupes, mount, scratch):
    """Files with equal numbers of blocks, on the origin and on its copy, were called equal."""
    work = make(scratch / "work")
    with open(work / "1.img", "wb") as file:
        file.truncate(400 * MIB)
    subprocess.run(["mkfs.xfs", "-q", work / "1.img"], check=True)
    shutil.copy(work / "1.img", work / "2.img")
    tops = [
        mount(mounts.mounted, work / name, "-o", "loop,nouuid", work / f"{name}.img")
        for name in ("1", "2")
    ]
    for name, top in zip("12", tops):
        (top / "report").write_bytes(name.encode() * 40960)
        subprocess.run(["cp", "--reflink=always", top / "report", top / "bak"], check=True)
        subprocess.run(["sync", "-f", top], check=True)
    assert sorted(map(len, groups(dupes, *tops))) == [2, 2]
    assert dupes("--dirs", *tops).ok().out.count(b"directories") == 0


@pytest.mark.parametrize("action", ("delete", "hardlink", "trash"))
def test_files_of_a_lower_layer(act, mount, scratch, action):
    """The first step of each action copies a file up, which gives it another time of birth."""
    work = make(scratch / "work")
    lower = make(work / "lower")
    for name in ("a", "b"):
        (lower / name).write_bytes(b"same")
    os.utime(lower / "a", (1000, 1000))
    for name in ("upper", "scratch"):
        make(work / name)
    options = f"lowerdir={lower},upperdir={work}/upper,workdir={work}/scratch"
    top = mount(mounts.mounted, work / "merged", "-t", "overlay", "-o", options, "none")
    result = act("--do", action, top)
    assert result.status == 0, result
    assert (top / "a").read_bytes() == b"same"
    if action == "hardlink":
        assert os.path.samefile(top / "a", top / "b")
    else:
        assert not (top / "b").exists()


def test_a_refusal_leaves_no_temporary_name(act, mount, scratch):
    """sshfs gives a new link another inode number, so the link was not taken for our own."""
    source = make(scratch / "source")
    for name in ("a", "b"):
        (source / name).write_bytes(b"same")
    top = mount(sshfs, source, scratch / "top")
    act("--do=hardlink", top)
    assert sorted(os.listdir(source)) == ["a", "b"]
    assert {(source / name).read_bytes() for name in ("a", "b")} == {b"same"}


def test_a_file_with_a_link_elsewhere_in_two_mounts(act, mount, scratch):
    """The two paths of one name counted as its two links."""
    top, elsewhere = make(scratch / "a"), make(scratch / "else")
    for name in ("x", "y"):
        (top / name).write_bytes(b"s" * MIB)
        os.utime(top / name, (1000 if name == "x" else 2000, 1000 if name == "x" else 2000))
    os.link(top / "y", elsewhere / "y2")
    bound = mount(mounts.bind, top, scratch / "b")
    (group,) = json.loads(act("--format=json", top, bound).ok().out)["groups"]
    assert group["freeable"] == 0
    result = act("--do=delete", top, bound)
    assert result.status == 0, result
    assert sorted(os.listdir(top)) == ["x"]


def test_a_snapshot_of_the_origin_of_a_copy(hashing, dupes, mount, scratch):
    """Rows belong to the files of the file system that they were taken of."""
    work = make(scratch / "work")
    with open(work / "1.img", "wb") as file:
        file.truncate(64 * MIB)
    subprocess.run(["mkfs.ext4", "-q", work / "1.img"], check=True)
    with mounts.mounted(work / "1", "-o", "loop", work / "1.img") as one:
        (one / "file").write_bytes(b"contents")
    shutil.copy(work / "1.img", work / "2.img")
    one, two = (
        mount(mounts.mounted, work / name, "-o", "loop", work / f"{name}.img")
        for name in ("1", "2")
    )
    hashing("--all", "--save", scratch / "s", one).ok()
    assert groups(dupes, scratch / "s", one) == []
    # Without the origin it is not known whether the copy is the origin, at another place by now.
    assert groups(dupes, scratch / "s", two) == []
    (found,) = groups(dupes, scratch / "s", two, one)
    assert sorted(found) == [str(one / "file"), str(two / "file")]
