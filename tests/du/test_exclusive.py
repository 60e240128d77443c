"""du --exclusive: space that no other file shares, on every kind of file system.

What is expected comes from a model of the blocks that were written and cloned, from
`btrfs filesystem du`, and for compressed files from `btrfs inspect-internal dump-tree`.
"""

from __future__ import annotations

import fcntl
import os
import random
import re
import struct
import subprocess
from pathlib import Path

import pytest
from support import mounts, trees
from support.mounts import WRITE_BACK
from support.run import NOBODY

pytestmark = [pytest.mark.usefixtures("needs_root"), WRITE_BACK]

BLOCK = 4096
FICLONERANGE = 0x4020940D  # linux/fs.h


def sizes(result) -> dict[str, int]:
    """Returns the lines of `du -B1`."""
    lines = (line.split(b"\t", 1) for line in result.lines())
    return {os.fsdecode(path): int(size) for size, path in lines}


def exclusive(du, *args, **options) -> dict[str, int]:
    return sizes(du("--exclusive", "-aB1", *args, **options).ok())


def tool(*args) -> str:
    """Returns the output of a tool."""
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def write(path: Path, data: bytes, at: int = 0) -> None:
    """Writes without syncing."""
    with open(path, "r+b" if path.exists() else "wb") as file:
        file.seek(at)
        file.write(data)


def clone(source: Path, at: int, length: int, target: Path, to: int) -> None:
    with open(source, "rb") as read, open(target, "r+b" if target.exists() else "wb") as file:
        argument = struct.pack("qQQQ", read.fileno(), at, length, to)
        fcntl.ioctl(file.fileno(), FICLONERANGE, argument)


def by_btrfs(point: Path) -> dict[str, int]:
    """Returns the exclusive bytes of each regular file, by btrfs-progs."""
    found = {}
    for line in tool("btrfs", "filesystem", "du", "--raw", point).splitlines()[1:]:
        _total, alone, _set, path = line.split(None, 3)
        if os.path.isfile(path):
            found[path] = int(alone)
    return found


def of_files(found: dict[str, int]) -> dict[str, int]:
    return {path: size for path, size in found.items() if os.path.isfile(path)}


@pytest.mark.parametrize("kind", ("ext4", "xfs", "btrfs", "tmpfs"))
@pytest.mark.parametrize("options", ((), ("-s",), ("-cl",), ("-x", "-d1"), ("-h",), ("-S",)))
def test_what_shares_nothing_counts_in_full(du, mount, scratch, kind, options):
    point = mount(mounts.filesystem, kind, scratch)
    trees.RandomTree(point / "tree", seed=5, entries=200)
    trees.settle(point)
    plain = du(*options, point).ok()
    assert plain.lines()
    for workers in (1, 4):
        assert du("--exclusive", *options, "--workers", workers, point).ok().out == plain.out


class Model:
    """A model of files whose blocks are written once and then cloned."""

    def __init__(self, point: Path, seed: int):
        self.random = random.Random(seed)
        self.point = point
        self.files: dict[str, list[int]] = {}
        self.written = 0

    def write(self, name: str, at: int, count: int) -> None:
        blocks = self.files.setdefault(name, [])
        write(self.point / name, self.random.randbytes(count * BLOCK), at * BLOCK)
        new = range(self.written, self.written + count)
        self.written += count
        blocks[at : at + count] = new

    def clone(self, source: str, at: int, count: int, target: str, to: int) -> None:
        path = self.point / target
        clone(self.point / source, at * BLOCK, count * BLOCK, path, to * BLOCK)
        self.files[target][to : to + count] = self.files[source][at : at + count]

    def change(self) -> None:
        """Makes one random write or clone in existing files."""
        source, target = self.random.sample(sorted(self.files), 2)
        length = min(len(self.files[source]), len(self.files[target]))
        count = self.random.randint(1, length // 2)
        at, to = (self.random.randint(0, length - count) for _ in range(2))
        if self.random.random() < 0.4:
            self.write(target, to, count)
        else:
            self.clone(source, at, count, target, to)

    def exclusive(self) -> dict[str, int]:
        uses: dict[int, int] = {}
        for blocks in self.files.values():
            for block in blocks:
                uses[block] = uses.get(block, 0) + 1
        return {
            str(self.point / name): BLOCK * sum(uses[block] == 1 for block in blocks)
            for name, blocks in self.files.items()
        }


def make_model(point: Path, seed: int) -> Model:
    model = Model(point, seed)
    for name in "abcdef":
        model.write(name, 0, model.random.randint(20, 200))
    for _ in range(60):
        model.change()
    return model


@pytest.fixture
def xfs(mount, scratch):
    """An XFS that reserves no additional blocks for copy on write."""
    point = mount(mounts.image, "xfs", scratch)
    tool("xfs_io", "-c", "cowextsize 4096", point)
    return point


@pytest.mark.parametrize("seed", range(4))
def test_xfs_by_a_model(du, xfs, seed):
    model = make_model(xfs, seed)
    expected = model.exclusive()
    assert len(set(expected.values())) > 2
    for _again in range(2):
        # At the first comparison the last changes are not on the disk yet.
        got = exclusive(du, xfs)
        for path, size in expected.items():
            # A list of many extents takes blocks, which are exclusive as well.
            stat = os.stat(path)
            lists = stat.st_blocks * 512 - stat.st_size
            assert 0 <= lists <= 3 * BLOCK and got[path] == size + lists, path
    assert got[str(xfs)] == sum(size for path, size in got.items() if path != str(xfs))


@pytest.mark.parametrize("seed", range(4))
def test_btrfs_by_its_own_tool(du, mount, scratch, seed):
    point = mount(mounts.image, "btrfs", scratch)
    make_model(point, seed)
    got = exclusive(du, point)
    expected = by_btrfs(point)
    assert len(set(expected.values())) > 2
    assert of_files(got) == expected
    assert of_files(exclusive(du, "--workers", 3, point)) == expected


@pytest.mark.parametrize("kind", ("xfs", "btrfs"))
def test_changes_that_are_still_in_memory_count(du, mount, scratch, kind):
    point = mount(mounts.image, kind, scratch)
    tool("xfs_io", "-c", "cowextsize 4096", point) if kind == "xfs" else None
    write(point / "a", os.urandom(64 * BLOCK))
    os.sync()
    clone(point / "a", 0, 64 * BLOCK, point / "b", 0)
    os.sync()
    write(point / "b", os.urandom(16 * BLOCK), 8 * BLOCK)
    write(point / "new", os.urandom(5 * BLOCK))
    got = exclusive(du, point)
    assert got[str(point / "b")] == 16 * BLOCK
    assert got[str(point / "new")] == 5 * BLOCK


@pytest.mark.parametrize("kind", ("xfs", "btrfs"))
def test_what_cannot_be_opened_does_not_keep_the_rest_from_being_synced(du, mount, scratch, kind):
    """The file shares blocks only until the changes of another file are on the disk."""
    point = mount(mounts.image, kind, scratch)
    point.chmod(0o711)
    write(point / "kept", os.urandom(64 * BLOCK))
    write(point / "closed", b"x" * BLOCK)
    (point / "closed").chmod(0)
    os.sync()
    clone(point / "kept", 0, 64 * BLOCK, point / "other", 0)
    os.sync()
    write(point / "other", os.urandom(64 * BLOCK))
    result = du("--exclusive", "-B1", point / "closed", point / "kept", uid=NOBODY)
    assert result.status == 1 and b"closed'" in result.err
    assert sizes(result) == {str(point / "kept"): 64 * BLOCK}


def test_snapshots_share(du, mount, scratch):
    point = mount(mounts.image, "btrfs", scratch)
    tool("btrfs", "subvolume", "create", point / "sub")
    for number in range(5):
        write(point / "sub" / f"file{number}", os.urandom((number + 1) * 10 * BLOCK))
    before = exclusive(du, point / "sub")
    assert before[str(point / "sub")] == 150 * BLOCK
    tool("btrfs", "subvolume", "snapshot", "-r", point / "sub", point / "snapshot")
    for path in ("sub", "snapshot"):
        assert exclusive(du, point / path)[str(point / path)] == 0
    # Two of the measured files share the blocks, so no file has them exclusively.
    root = point.stat().st_blocks * 512
    assert exclusive(du, point)[str(point)] == root
    write(point / "sub" / "file4", os.urandom(7 * BLOCK), BLOCK)
    assert exclusive(du, point / "sub")[str(point / "sub")] == 7 * BLOCK
    tool("btrfs", "subvolume", "delete", "-c", point / "snapshot")
    tool("btrfs", "subvolume", "sync", point)
    assert exclusive(du, point / "sub") == before


def test_small_files_and_links(du, gnu_du, mount, scratch):
    """Data inside metadata counts as du counts it, and a file with two names counts once."""
    point = mount(mounts.image, "btrfs", scratch)
    (point / "inline").write_bytes(b"x" * 100)
    (point / "empty").touch()
    (point / "link").symlink_to("a")
    write(point / "a", os.urandom(9 * BLOCK))
    os.link(point / "a", point / "again")
    with open(point / "reserved", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 20 * BLOCK)
    with open(point / "sparse", "wb") as file:
        file.truncate(1 << 30)
    os.sync()
    expected = sizes(gnu_du("-aB1", point))
    assert expected[str(point / "reserved")] == 20 * BLOCK
    assert exclusive(du, point) == expected
    assert exclusive(du, "-l", point) == sizes(gnu_du("-alB1", point))
    for links in ("-L", "-D"):
        got = exclusive(du, links, point / "link")
        assert got == {str(point / "link"): 9 * BLOCK}
    assert exclusive(du, point / "link") == sizes(gnu_du("-aB1", point / "link"))


def on_disk(point: Path, file: Path) -> int:
    """Returns the disk space of a file's extents, read from the tree of the file system."""
    device = tool("findmnt", "-no", "SOURCE", point).strip()
    dump = tool("btrfs", "inspect-internal", "dump-tree", "-t", "5", device)
    wanted = f"key ({file.stat().st_ino} EXTENT_DATA "
    extents = {}
    for item in dump.split("\titem ")[1:]:
        found = re.search(r"extent data disk byte (\d+) nr (\d+)", item)
        if wanted in item and found:
            extents[found[1]] = int(found[2])
    return sum(extents.values())


def test_compressed_files_count_as_what_they_take(du, mount, scratch):
    point = mount(mounts.image, "btrfs", scratch)
    folder = point / "compressed"
    folder.mkdir()
    tool("btrfs", "property", "set", folder, "compression", "zstd")
    text = b"".join(b"line %d\n" % number for number in range(300_000))
    write(folder / "text", text)
    write(folder / "shared", text[:1_000_000])
    write(folder / "cut", text[:1_000_000])
    write(folder / "some", text + os.urandom(50 * BLOCK))
    (folder / "inline").write_bytes(b"x" * 1000)
    os.sync()
    clone(folder / "shared", 0, 100 * BLOCK, folder / "copy", 0)
    # A compressed extent with a hole in the middle is one extent, and counts in full.
    write(folder / "cut", os.urandom(BLOCK), 4 * BLOCK)
    os.sync()
    got = exclusive(du, folder)
    for name in ("text", "some", "cut"):
        expected = on_disk(point, folder / name)
        assert 0 < expected < (folder / name).stat().st_blocks * 512
        assert got[str(folder / name)] == expected, name
    assert got[str(folder / "copy")] == 0
    assert got[str(folder / "inline")] == BLOCK
    # Only root can read the size on the disk. For other users that is an error for this file only.
    result = du("--exclusive", "-aB1", folder, uid=NOBODY)
    assert result.status == 1
    errors = result.err.splitlines()
    assert all(b"compressed" in line and b"CAP_SYS_ADMIN" in line for line in errors)
    reported = {os.fsdecode(line.split(b"'")[1]) for line in errors}
    assert reported == {str(folder / name) for name in ("text", "some", "cut", "shared")}
    rest = sizes(result)
    assert rest[str(folder / "copy")] == 0 and rest[str(folder / "inline")] == BLOCK
    assert rest[str(folder)] == BLOCK and not reported & set(rest)


@pytest.mark.parametrize("kind", ("overlay", "fuse"))
def test_where_it_cannot_be_told_is_an_error(du, mount, scratch, kind):
    point = mount(mounts.filesystem, kind, scratch)
    (point / "folder").mkdir()
    (point / "folder" / "file").write_bytes(b"x" * 10_000)
    for operand in (point, point / "folder" / "file"):
        result = du("--exclusive", operand)
        assert (result.status, result.out) == (1, b"")
        (line,) = result.err.splitlines()
        assert os.fsencode(operand) in line and kind.encode() in line


def test_below_another_file_system_the_rest_is_measured(du, mount, scratch):
    point = mount(mounts.image, "xfs", scratch)
    write(point / "a", os.urandom(9 * BLOCK))
    (point / "b").mkdir()
    write(point / "b" / "c", os.urandom(3 * BLOCK))
    covered = mount(mounts.mounted, point / "mnt", "-t", "tmpfs", "tmpfs")
    (covered / "file").write_bytes(b"x" * BLOCK)
    assert exclusive(du, point)[str(point)] == 13 * BLOCK
    refused = mount(mounts.fuse, point / "b")
    result = du("--exclusive", "-aB1", point)
    assert result.status == 1
    (line,) = result.err.splitlines()
    assert os.fsencode(refused) in line
    assert sizes(result)[str(point / "b" / "c")] == 3 * BLOCK
    assert str(refused) not in sizes(result)
    assert du("--exclusive", "-x", point).ok().out


def test_files_that_cannot_be_opened_are_errors(du, mount, scratch):
    point = mount(mounts.image, "xfs", scratch)
    point.chmod(0o755)
    write(point / "open", os.urandom(3 * BLOCK))
    write(point / "closed", os.urandom(3 * BLOCK))
    (point / "closed").chmod(0)
    os.mkfifo(point / "fifo")
    result = du("--exclusive", "-aB1", point, uid=NOBODY)
    assert result.status == 1
    (line,) = result.err.splitlines()
    assert b"closed'" in line and line.endswith(b": Permission denied")
    assert sizes(result) == {
        str(point / "open"): 3 * BLOCK,
        str(point / "fifo"): 0,
        str(point): 3 * BLOCK,
    }


def test_options_that_do_not_go_together(du, scratch):
    for option in ("-b", "--apparent-size"):
        result = du("--exclusive", option, scratch)
        assert (result.status, result.out) == (1, b"")
        assert b"apparent sizes" in result.err and b"--help" in result.err
    result = du("--exclusive", "--inodes", scratch)
    assert (result.status, result.out.split(b"\t")[0]) == (0, b"1")
    assert b"--exclusive is ineffective" in result.err
