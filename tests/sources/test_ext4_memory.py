"""An image with nested large directories: the memory of the ext4 source has a limit.

A large directory is held in memory while its entries are delivered, and meanwhile the walk goes
down into it. So an image of large directories, each in the one before, would fill the memory.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from support import images, mounts
from support.run import with_peak

pytestmark = pytest.mark.usefixtures("needs_root")

LEVELS = 24
BLOCK = 4096
MEBIBYTES = 64
# Blocks that mke2fs and the small directories do not use. All directories share them: the kernel
# does not check that a block belongs to one file only.
NAMES_AT, NAMES = 8192, 10
EMPTY_AT, EMPTY = 8300, 4096
# The blocks of a directory: its own one, the names, and twice the empty blocks.
LENGTH = 1 + NAMES + 2 * EMPTY
# The limit in docs/sources.md, and the other memory of a walk in a debug build.
BUDGET = 128 << 20
OTHERWISE = 48 << 20


def nest(top: Path) -> None:
    """Makes nested directories, and a file for all names."""
    (top / "file").write_bytes(b"x" * 77)
    top.joinpath(*["d"] * LEVELS).mkdir(parents=True)


def names(ino: int) -> bytes:
    """Returns blocks full of names of one file."""
    entries = (struct.pack("<IHBB8s", ino, 16, 8, 1, b"f%07d" % number) for number in range(2560))
    return b"".join(entries)


def enlarge(image: images.Image, inodes: list[int], file: int) -> None:
    """Gives directories the shared blocks, behind their own."""
    with open(image.file, "r+b") as disk:
        content = disk.read()
        (size,) = struct.unpack_from("<H", content, 1024 + 0x58)
        (table,) = struct.unpack_from("<I", content, BLOCK + 8)
        for ino in inodes:
            at = table * BLOCK + (ino - 1) * size
            magic, used = struct.unpack_from("<HH", content, at + 40)
            (own,) = struct.unpack_from("<I", content, at + 40 + 12 + 8)
            assert (magic, used) == (0xF30A, 1)
            extents = [(0, own, 1), (1, NAMES_AT, NAMES)]
            extents += [(1 + NAMES + part * EMPTY, EMPTY_AT, EMPTY) for part in (0, 1)]
            root = struct.pack("<HHHHI", magic, len(extents), 4, 0, 0)
            for logical, physical, length in extents:
                root += struct.pack("<IHHI", logical, length, 0, physical)
            disk.seek(at + 4)
            disk.write(struct.pack("<I", LENGTH * BLOCK))
            disk.seek(at + 40)
            disk.write(root)
        disk.seek(NAMES_AT * BLOCK)
        disk.write(names(file))
        disk.seek(EMPTY_AT * BLOCK)
        disk.write(struct.pack("<IHBB", 0, BLOCK, 0, 0).ljust(BLOCK, b"\0") * EMPTY)


@pytest.fixture(scope="module")
def nested(request, base):
    """The image, mounted read-only."""
    features = "^has_journal,^metadata_csum,^uninit_bg,^dir_index,^resize_inode"
    form = images.Format(f"-t ext4 -b {BLOCK} -O {features}", MEBIBYTES, fill=nest)
    with mounts.or_skip(request.config, images.filled, "ext4", form, base / "nested") as image:
        folders = [image.point.joinpath(*["d"] * level) for level in range(1, LEVELS + 1)]
        inodes = [folder.stat().st_ino for folder in folders]
        file = (image.point / "file").stat().st_ino
        image.unmount()
        enlarge(image, inodes, file)
        image.remount("ro")
        yield image


@pytest.mark.parametrize("workers", ("1", "4"))
def test_memory_has_one_bound_for_all_levels(programs, nested, workers):
    """Two of the directories need 65 MiB; all of them would need 780 MiB."""
    assert LEVELS * LENGTH * BLOCK > 4 * (BUDGET + OTHERWISE)
    top = nested.point / "d"
    counted = []
    for source in ("syscall", "ext4"):
        walk = [programs / "ringwalk", "--source", source, "--workers", workers, "--prefetch"]
        lines, peak = with_peak([*walk, "never", "count", "--format=json", top])
        assert peak < BUDGET + OTHERWISE, source
        report = json.loads(lines[0])
        members = ("entries", "apparent_size", "errors", "types")
        counted.append(tuple(report[member] for member in members))
    assert counted[0] == counted[1]
    assert counted[0][0] == LEVELS * 2560 + LEVELS - 1


def test_what_does_not_fit_is_left_to_system_calls(ringwalk, nested):
    """Three directories fit at a time; --explain counts the others."""
    reported = ringwalk("--source", "ext4", "--workers", 1, "--explain", "count", nested.point)
    assert reported.status == 0
    (line,) = [line for line in reported.err.splitlines() if b"fell back" in line]
    fitting = BUDGET // (LENGTH * BLOCK)
    assert line.split()[3:5] == [str(LEVELS - fitting).encode(), b"directories,"]
    assert b"other large directories are held in memory, as many as may be" in line


def test_memory_is_given_back(ringwalk, nested):
    """Two directories fit at a time, many times: each releases its memory."""
    innermost = nested.point.joinpath(*["d"] * (LEVELS - 1))
    reported = ringwalk("--source", "ext4", "--workers", 1, "--explain", "count", *[innermost] * 6)
    assert reported.status == 0 and b"fell back" not in reported.err
