"""Damaged ext4: the same answers as the kernel's, no crash and no hang.

The images are mounted read-only, with `errors=continue`. System calls are the reference as ever,
but a kernel looks at more than a reader of inode tables does: it refuses inodes whose maps of
blocks are damaged, say. So where system calls report errors, what they do answer has to be among
the answers of the other source; where they report none, the answers have to be the same. A file
system whose superblock or groups are damaged may be refused as a whole, in words.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest
from processes import finished
from support import images, mounts, trees
from support.answers import messages

pytestmark = pytest.mark.usefixtures("needs_root")

FIELDS = "%p %y %i %n %m %U %G %s %b %A@ %C@ %T@ %l\\0"
SECONDS = 20

# The message for a name that a damaged index hides from the kernel.
UNFOUND = re.compile(rb"'\./indexed/[^']*': No such file or directory")

# Without a journal the damage hits every part of an image.
LINES = {
    "checksums": "-t ext4 -b 1024 -O ^has_journal -N 512",
    "no checksums": "-t ext4 -b 1024 -O ^has_journal,^metadata_csum,^uninit_bg -N 512",
    "ext2": "-t ext2 -b 1024 -N 512 -I 128",
    "inline data": "-t ext4 -b 1024 -O ^has_journal,^metadata_csum,inline_data -N 512",
}
MEBIBYTES = 4
IMAGES_EACH = 45


def populate(top: Path) -> None:
    """Makes some entries of every type."""
    trees.RandomTree(top / "tree", seed=71, entries=120, lengths=(1, 3, 8, 20, 60))
    (top / "indexed").mkdir()
    for number in range(120):
        (top / "indexed" / f"entry-{number}-{'x' * 40}").touch()
    for number in range(20):
        path = top / f"with-attributes{number}"
        path.write_bytes(b"x" * 50 * number)
        os.setxattr(path, "user.value", b"v" * 10 * number)


@pytest.fixture(scope="module")
def sound(request, base):
    """An image without damage: its bytes, and the offsets of its metadata."""
    work = base / "sound"
    form = images.Format(LINES[request.param], MEBIBYTES, fill=populate)
    with mounts.or_skip(request.config, images.filled, "ext4", form, work) as image:
        yield image.file.read_bytes()


def interesting(image: bytes) -> list[int]:
    """Returns the offsets of bytes that are not 0, except those of file contents."""
    return [at for at, byte in enumerate(image) if byte not in b"\0x"]


class Patient:
    """An image that is damaged and checked many times."""

    def __init__(self, work: Path, sound: bytes, ringwalk):
        self.image = images.Image("ext4", work, images.Format(""))
        self.sound = sound
        self.ringwalk = ringwalk

    def look(self, damaged: bytes) -> str | None:
        """Checks one image; returns the result, or None if the kernel does not mount it."""
        self.image.file.write_bytes(damaged)
        try:
            with self.image.mounted("ro,errors=continue"):
                return self.compare()
        except mounts.Unavailable:
            return None

    def compare(self) -> str:
        top = self.image.point
        command = ("find", ".", "-printf", FIELDS)
        options = {"cwd": top, "cpu": SECONDS}
        got = self.ringwalk("--source", "ext4", *command, **options).sane()
        expected = self.ringwalk("--source", "syscall", *command, **options).sane()
        if b"by source ext4" in got.err and not got.out:
            return "refused"
        reported, wanted = set(got.lines(b"\0")), set(expected.lines(b"\0"))
        # Compared as sets: a kernel may list a name twice if an index is missing.
        assert wanted <= reported, (sorted(wanted - reported)[:5], sorted(reported - wanted)[:5])
        if expected.status == 0:
            # A wrong index keeps the kernel from finding a name, or from listing it.
            found = [
                line
                for line in reported - wanted
                if not line.startswith(b"./indexed/")
                and os.path.lexists(os.fsencode(top) + b"/" + line.split(b" ")[0])
            ]
            assert not found, found[:5]
            # The same index keeps the kernel from finding a name of the directory's blocks whose
            # metadata needs a system call. The program reports that error and no other one.
            complaints = messages(got)
            assert all(UNFOUND.fullmatch(message) for message in complaints), complaints
            assert got.status == (1 if complaints else 0), got
        for command in (("du", "-s", "."), ("count", "--format=json", ".")):
            self.ringwalk("--source", "ext4", *command, **options).sane()
        return "whole" if expected.status == 0 else "errors"


@pytest.mark.parametrize("sound", LINES, indirect=True)
def test_random_bytes(ringwalk, scratch, sound):
    rng = random.Random(73)
    places = interesting(sound)
    patient = Patient(scratch, sound, ringwalk)
    assert patient.look(sound) == "whole"
    seen = []
    for _ in range(IMAGES_EACH):
        damaged = bytearray(sound)
        for _ in range(rng.choice((1, 3, 10, 40))):
            at = rng.choice(places) if rng.random() < 0.8 else rng.randrange(1024, len(damaged))
            damaged[at] = rng.randrange(256)
        try:
            seen.append(patient.look(bytes(damaged)))
        except AssertionError as wrong:
            changed = [at for at in range(len(sound)) if damaged[at] != sound[at]]
            raise AssertionError(f"bytes at {changed}: {wrong}") from None
    assert seen.count("errors") > 3 and seen.count("whole") > 3, seen
    assert seen.count("refused") < 10, seen


# Changes of an image by debugfs, to the named file and directory.
FIELDS_DAMAGED = (
    "sif tree links_count 0",
    "sif tree mode 0100644",
    "sif tree mode 0",
    "sif tree size 12345678",
    "sif tree size 0",
    "sif tree flags 0",
    "sif tree flags 0x81000",
    "sif tree flags 0x10080000",
    "sif tree flags 0x80800",
    "sif indexed block[0] 0xffffffff",
    "sif indexed block[2] 0x7fffffff",
    "sif indexed block[5] 0",
    "sif indexed block[5] 1",
    "sif indexed size 0x7ffffffffffff000",
    "sif indexed dtime 12345",
    "sif with-attributes5 links_count 0",
    "sif with-attributes5 mode 0170000",
    "sif with-attributes5 mode 0",
    "sif with-attributes5 mode 040755",
    "sif with-attributes5 flags 0x10000000",
    "sif with-attributes5 flags 0xffffffff",
    "sif with-attributes5 extra_isize 65535",
    "sif with-attributes5 file_acl 0xffffffff",
    "sif with-attributes5 size 0xffffffffffffffff",
    "sif with-attributes5 blocks 0xffffffff",
    "sif with-attributes5 generation 77",
    "clri with-attributes5",
    "clri indexed",
    "clri tree",
    "link with-attributes5 tree/loop",
    "link tree indexed/loop",
    "link . indexed/loop",
    "link tree tree/itself",
    "link . loop",
    "kill_file indexed",
    "freei with-attributes5",
    "freei indexed",
    "set_bg 0 inode_table 0",
    "set_bg 0 inode_table 0xffffffff",
    "set_bg 0 itable_unused 0xffff",
    "set_bg 0 itable_unused 0",
    "set_bg 0 flags 7",
    "set_bg 0 checksum 0",
    "ssv inodes_count 12",
    "ssv free_inodes_count 0xffffffff",
    "ssv log_block_size 6",
    "ssv inode_size 129",
    "ssv inode_size 1024",
    "ssv desc_size 1024",
    "ssv blocks_per_group 1",
    "ssv inodes_per_group 0",
    "ssv first_ino 500",
    "ssv first_meta_bg 7",
    "ssv feature_incompat 0x80000242",
    "ssv feature_ro_compat 0xff00",
    "ssv rev_level 0",
    "ssv blocks_count 0xfffffffffff",
    "ssv log_groups_per_flex 31",
    "ssv want_extra_isize 60000",
    "ssv last_orphan 20",
    "ssv uuid 01234567-89ab-cdef-0123-456789abcdef",
)


@pytest.mark.parametrize("sound", ("checksums", "ext2"), indirect=True)
def test_chosen_fields(ringwalk, scratch, sound):
    """Harmful values in fields of superblock, groups and inodes, with valid checksums."""
    patient = Patient(scratch, sound, ringwalk)
    work = scratch / "work"
    seen = []
    for line in FIELDS_DAMAGED:
        work.write_bytes(sound)
        debugfs = ["debugfs", "-w", "-R", line, work]
        done = finished(debugfs, capture_output=True)
        assert done.returncode == 0
        try:
            seen.append((line, patient.look(work.read_bytes())))
        except AssertionError as wrong:
            raise AssertionError(f"{line}: {wrong}") from None
    became = [what for _, what in seen]
    assert became.count("errors") > 3 and became.count("whole") > 3, seen
    assert became.count("refused") < 15, seen


def test_a_directory_below_itself(ringwalk, scratch):
    """A directory without `..`, which would show that its parent is another directory."""
    image = images.Image("ext4", scratch, images.Format(LINES["checksums"], MEBIBYTES))
    images.make("ext4", image.form, image.file)
    with image.mounted() as point:
        (point / "looped").mkdir()
        (point / "looped" / "file").touch()
    for line in ("link looped looped/again", "unlink looped/.."):
        images.command(["debugfs", "-w", "-R", line, image.file])
    with image.mounted("ro,errors=continue") as point:
        options = {"cwd": point, "cpu": SECONDS}
        command = ("find", ".", "-print0")
        got = ringwalk("--source", "ext4", *command, **options).sane()
        expected = ringwalk("--source", "syscall", *command, **options).sane()
        assert sorted(got.lines(b"\0")) == sorted(expected.lines(b"\0"))
        assert (got.status, messages(got)) == (expected.status, messages(expected))
        for command in (("du", "-a"), ("du", "-s"), ("count",)):
            ringwalk("--source", "ext4", *command, **options).sane()


@pytest.mark.parametrize("share", (0.1, 0.5, 0.9))
def test_a_device_that_fails(ringwalk, mount, scratch, share):
    """The image was truncated: no source can read the rest."""
    form = images.Format("-t ext4 -b 1024 -g 2048 -G 1 -O ^has_journal", 32, fill=populate)
    image = mount(images.filled, "ext4", form, scratch, "ro,errors=continue")
    whole = ringwalk("--source", "syscall", "find", ".", "-print0", cwd=image.point).ok()
    os.truncate(image.file, int((32 << 20) * share))
    # Cached blocks are dropped, as the end of the file limits only new reads of the device.
    for command in (("find", ".", "-printf", FIELDS), ("du", "-s"), ("count",)):
        flush(image.device())
        got = ringwalk("--source", "ext4", *command, cwd=image.point, cpu=SECONDS).sane()
        flush(image.device())
        expected = ringwalk("--source", "syscall", *command, cwd=image.point).sane()
        if command[0] == "find":
            known = [line for line in expected.lines(b"\0") if line.split(b" ")[1] != b"U"]
            assert set(known) <= set(got.lines(b"\0"))
            assert len(got.lines(b"\0")) <= len(whole.lines(b"\0"))
    assert got.status in (0, 1)


def flush(device: Path) -> None:
    """Makes the kernel drop its cached blocks of a device (BLKFLSBUF)."""
    subprocess.run(["blockdev", "--flushbufs", device], check=True)
