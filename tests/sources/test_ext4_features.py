"""Features of ext4: encryption, large counts of blocks, attributes; debugfs as a reference."""

from __future__ import annotations

import fcntl
import os
import re
import struct

import pytest
from support import images, trees
from support.answers import Reference, assert_sources_agree, explained
from support.run import run

pytestmark = pytest.mark.usefixtures("needs_root")

# linux/fscrypt.h
FS_IOC_SET_ENCRYPTION_POLICY = 0x800C6613
FS_IOC_ADD_ENCRYPTION_KEY = 0xC0506617
MODES = (1, 4)  # AES-256-XTS for contents, AES-256-CTS for names
BY_IDENTIFIER = 2


def add_key(top) -> bytes:
    """Adds a key to the file system; returns the identifier of the key."""
    raw = bytes(range(64))
    # struct fscrypt_add_key_arg: a specifier (type, reserved, 32 bytes), the key's size and id.
    arg = bytearray(struct.pack("=II32sII8I", BY_IDENTIFIER, 0, b"", len(raw), 0, *[0] * 8) + raw)
    folder = os.open(top, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, FS_IOC_ADD_ENCRYPTION_KEY, arg)
    except OSError as refused:
        pytest.skip(f"no encryption: {refused}")
    finally:
        os.close(folder)
    return bytes(arg[8:24])


def encrypt(path, key: bytes) -> None:
    """Encrypts an empty directory."""
    path.mkdir()
    # struct fscrypt_policy_v2
    policy = struct.pack("=BBBBB3s16s", 2, *MODES, 0, 0, b"", key)
    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, FS_IOC_SET_ENCRYPTION_POLICY, policy)
    finally:
        os.close(folder)


def test_encrypted_directories(ringwalk, mount, scratch):
    """With the key and without it the names are those that the kernel gives."""
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -b 4096 -O encrypt")
    top = image.point
    trees.RandomTree(top / "plain", seed=111, entries=40)
    key = add_key(top)
    encrypt(top / "secret", key)
    trees.make_wide(top / "secret" / "wide", 300)
    for length in (1, 15, 16, 17, 100, 160, 255):
        (top / "secret" / ("n" * length)).write_bytes(b"x" * length)
    (top / "secret" / "link").symlink_to("a target")
    (top / "secret" / "longer").symlink_to("t" * 100)
    image.freeze()
    Reference(ringwalk, top).check("--source", "ext4")
    row = explained(ringwalk, top, "--source", "ext4", "find", ".", "-size", "+1")
    assert row["source"].startswith("ext4"), row
    assert row.get("fell back", "0 ").split()[0] == "2", row
    # Unmounting drops the keys.
    image.remount()
    locked = Reference(ringwalk, top)
    locked.check("--source", "ext4")
    assert b"./secret/link\0" not in locked.answer("names").out


def test_more_blocks_than_32_bits_tell(ringwalk, mount, scratch):
    """A file of 2.5 TiB, all of it reserved."""
    line = "-t ext4 -b 4096 -O bigalloc -C 1048576 -N 2048 -E lazy_itable_init=1"
    image = mount(images.fresh, "ext4", scratch, f"{line} -m 0", "noatime", 4 << 20)
    with open(image.point / "large", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 5 << 39)
    image.freeze()
    reference = Reference(ringwalk, image.point)
    reference.check("--source", "ext4")
    (blocks,) = ringwalk("find", "large", "-printf", "%b\n", cwd=image.point).ok().lines()
    assert int(blocks) >= 5 << 30


def test_blocks_in_units_of_the_file_system(ringwalk, scratch, mount):
    """`huge_file`: i_blocks counts blocks, not sectors, if the inode has that flag."""
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -b 4096")
    (image.point / "file").write_bytes(b"x" * 9000)
    image.unmount()
    flags = 0x40000 | 0x80000  # EXT4_HUGE_FILE_FL, EXT4_EXTENTS_FL
    images.command(["debugfs", "-w", "-R", f"sif file flags {flags:#x}", image.file])
    image.remount()
    reference = Reference(ringwalk, image.point)
    reference.check("--source", "ext4")
    (blocks,) = ringwalk("find", "file", "-printf", "%b\n", cwd=image.point).ok().lines()
    assert int(blocks) == 24 * 8


@pytest.mark.parametrize("form", ("ext4", "ext2-1k", "inodes-128", "bigalloc", "no-csum"))
def test_debugfs_says_the_same(ringwalk, mount, scratch, form):
    """Returns the fields of inodes that debugfs reads from the image."""
    image = mount(images.filled, "ext4", images.EXT4[form], scratch)
    command = ("find", ".", "-printf", "%i|%y|%m|%n|%U|%G|%s|%b|%A@|%C@|%T@\n")
    lines = ringwalk("--source", "ext4", *command, cwd=image.point).ok().lines()
    reported = {int(line.split(b"|")[0]): line.decode().split("|")[1:] for line in lines}
    chosen = sorted(reported)[:: max(1, len(reported) // 150)]
    script = "".join(f"stat <{ino}>\n" for ino in chosen)
    out = run(["debugfs", "-f", "-", image.file], stdin=script.encode()).out.decode()
    stats = re.split(r"^debugfs: stat .*$", out, flags=re.MULTILINE)[1:]
    assert len(stats) == len(chosen)
    for ino, text in zip(chosen, stats):
        assert reported[ino] == fields_of(text, reported[ino]), (ino, text)


KINDS = {
    "regular": "f",
    "directory": "d",
    "symlink": "l",
    "FIFO": "p",
    "socket": "s",
    "character": "c",
    "block": "b",
}


def fields_of(text: str, reported: list[str]) -> list[str]:
    """Returns the fields of debugfs's `stat` in the form of find."""

    def number(name: str) -> int:
        # debugfs prints large numbers of owners as negative numbers.
        return int(re.search(rf"\b{name}:\s+(-?\d+)", text)[1]) % (1 << 32)

    kind = KINDS[re.search(r"Type: (\w+)", text)[1]]
    mode = re.search(r"Mode:\s+(\d+)", text)[1]
    fields = [kind, f"{int(mode, 8):o}", str(number("Links")), str(number("User"))]
    fields += [str(number("Group"))]
    # debugfs prints no size for devices.
    size = re.search(r"Size: (\d+)", text)
    fields += [size[1] if size else reported[5], str(number("Blockcount"))]
    for letter, at in (("a", 7), ("c", 8), ("m", 9)):
        seconds, extra = re.search(rf"{letter}time: 0x(\w+)(?::(\w+))?", text).groups()
        low = int(seconds, 16) - ((int(seconds, 16) >> 31) << 32)
        more = int(extra or "0", 16)
        fields.append(f"{low + ((more & 3) << 32)}.{more >> 2:09}0")
        if fields[-1].startswith("-"):
            fields[-1] = reported[at]  # written as a number with a fraction, not as two
    return fields


def test_extended_attributes_are_seen(ringwalk, mount, scratch):
    """Blocks of extended attributes count for their files, in each form of storage."""
    image = mount(images.fresh, "ext4", scratch, "-t ext4 -b 4096 -O ea_inode")
    for number, size in enumerate((10, 90, 900, 3000, 20_000)):
        path = image.point / f"f{number}"
        path.touch()
        os.setxattr(path, "user.value", b"v" * size)
    image.freeze()
    command = ("find", ".", "-printf", "%p %b %k %s\n")
    result = assert_sources_agree(ringwalk, ["ext4", "auto"], *command, cwd=image.point)
    assert b"./f2 8 4 0" in result.lines()
    assert_sources_agree(ringwalk, ["ext4", "auto"], "du", "-s", "-B1", image.point)
    assert_sources_agree(ringwalk, ["ext4", "auto"], "du", "-s", "--inodes", image.point)
