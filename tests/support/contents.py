"""What fills the images that sources are compared on: whatever a file system stores in its own way.

Beside `support/zoo.py` there are directories of every shape (in their inode, linear, indexed, in
many fragments, emptied, with gaps), files of few and many extents, extended attributes of every
size, devices, and links of lengths at which they are stored in another place.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import struct
from pathlib import Path

from support import trees, zoo

FS_IOC_SETFLAGS = 0x40086602  # linux/fs.h
FS_IMMUTABLE_FL, FS_APPEND_FL, FS_NODUMP_FL = 0x10, 0x20, 0x40

# File systems differ in their limits on lengths and sizes; not all have extended attributes.
LIMITS = (errno.ENAMETOOLONG, errno.EFBIG, errno.ENOSPC, errno.E2BIG, errno.ENOTSUP, errno.EINVAL)

# File systems store device numbers up to 255 in an older form, larger ones in a newer form.
DEVICES = ((1, 3), (0, 0), (255, 255), (256, 0), (7, 256), (7, 0x12345), (4095, 0xFFFFF))

# ext4 keeps a link's target in the inode up to 59 bytes, XFS and btrfs up to other lengths.
TARGETS = (1, 2, 58, 59, 60, 61, 155, 156, 157, 300, 1000, 1023, 1024, 2000, 4095)


@contextlib.contextmanager
def within_limits():
    """Ignores errors that say that this file system lacks something or refuses a value."""
    try:
        yield
    except OSError as error:
        if error.errno not in LIMITS:
            raise


def links(top: Path) -> None:
    """Makes symbolic links of many lengths, and a file with more names than fit into a byte."""
    top.mkdir()
    for length in TARGETS:
        with within_limits():
            (top / f"to{length}").symlink_to("t" * length)
    (top / "shared").write_bytes(b"x" * 5000)
    for number in range(300):
        os.link(top / "shared", top / f"name{number}")


def devices(top: Path) -> None:
    """Makes device files, fifos and sockets; none for users other than root."""
    top.mkdir()
    for major, minor in DEVICES:
        for kind, letter in ((stat.S_IFCHR, "c"), (stat.S_IFBLK, "b")):
            with within_limits(), contextlib.suppress(PermissionError):
                os.mknod(top / f"{letter}{major}-{minor}", kind | 0o640, os.makedev(major, minor))
    os.mkfifo(top / "fifo", 0o600)
    os.mknod(top / "socket", stat.S_IFSOCK | 0o755)


def files(top: Path) -> None:
    """Makes files around the sizes where data leaves the inode, with holes, in fragments."""
    top.mkdir()
    for size in (0, 1, 59, 60, 61, 100, 155, 156, 157, 400, 800, 1023, 1024, 4096, 12345, 300_000):
        (top / f"size{size}").write_bytes(b"x" * size)
    with open(top / "fragments", "wb") as file:
        for piece in range(600):
            file.seek(piece * 8192)
            file.write(b"x" * 1024)
    with open(top / "preallocated", "wb") as file, within_limits():
        os.posix_fallocate(file.fileno(), 0, 500_000)
        os.ftruncate(file.fileno(), 100)
    with open(top / "shortened", "wb") as file:
        file.write(b"x" * 200_000)
        file.truncate(5)
    with within_limits(), open(top / "far", "wb") as file:
        os.pwrite(file.fileno(), b"end", (1 << 33) + 5)
    for flag in (FS_IMMUTABLE_FL, FS_APPEND_FL, FS_NODUMP_FL):
        path = top / f"flag{flag}"
        path.write_bytes(b"flagged")
        with open(path, "rb") as file, within_limits():
            fcntl.ioctl(file, FS_IOC_SETFLAGS, struct.pack("l", flag))


def owners(top: Path) -> None:
    """Makes files of very many users."""
    top.mkdir()
    for number in range(300):
        path = top / str(number)
        path.touch()
        with contextlib.suppress(PermissionError):
            os.chown(path, number * 257, (number * 65537) % (1 << 32))


def attributes(top: Path) -> None:
    """Gives files of all types extended attributes: none, small, shared, a block, larger."""
    top.mkdir()
    (top / "dir").mkdir()
    (top / "link").symlink_to("nowhere")
    os.mkfifo(top / "fifo")
    for path in (top / "dir", top / "link", top / "fifo"):
        with within_limits(), contextlib.suppress(PermissionError):
            os.setxattr(path, "trusted.note", b"v" * 20, follow_symlinks=False)
    for size in (1, 40, 90, 300, 900, 3000, 5000, 65000):
        path = top / f"value{size}"
        path.write_bytes(b"x" * size)
        with within_limits():
            os.setxattr(path, "user.value", b"v" * size)
    for number in range(20):
        path = top / f"same{number}"
        path.write_bytes(b"tiny")
        with within_limits():
            os.setxattr(path, "user.shared", b"s" * 500)


def directories(top: Path) -> None:
    """Makes directories of every size and history."""
    top.mkdir()
    for number in (0, 1, 2, 3, 4, 5, 8, 30):
        folder = top / f"of{number}"
        folder.mkdir()
        for name in range(number):
            (folder / f"f{name}").touch()
    trees.make_wide(top / "wide", 600)
    in_fragments(top)
    with_gaps(top)
    trees.make_deep(top, 150)


def in_fragments(top: Path) -> None:
    """Makes two directories that grow in turns, so that neither is contiguous on the disk.

    Their names are long, so there are more blocks than direct ones and, of 1 KiB each,
    than the first indirect block or one leaf of extents describe.
    """
    with contextlib.ExitStack() as stack:
        folders = []
        for side in "ab":
            (top / f"turns-{side}").mkdir()
            descriptor = os.open(top / f"turns-{side}", os.O_RDONLY)
            stack.callback(os.close, descriptor)
            folders.append(descriptor)
        os.mknod("one", 0o100600, dir_fd=folders[0])
        for number in range(1150):
            name = f"{number:05}".ljust(250, "n")
            for descriptor in folders:
                # Hard links of one file need no more inodes.
                if number % 50 == 0:
                    os.mknod(name, 0o100600, dir_fd=descriptor)
                else:
                    os.link("one", name, src_dir_fd=folders[0], dst_dir_fd=descriptor)


def with_gaps(top: Path) -> None:
    """Makes directories and removes entries: half of them, the first ones, all of them."""
    for name, keeps in (("half", 2), ("few", 97), ("none", 1 << 30)):
        folder = top / f"gaps-{name}"
        folder.mkdir()
        descriptor = os.open(folder, os.O_RDONLY)
        for number in range(500):
            os.mknod(f"entry-{number}-{'x' * (number % 40)}", 0o100644, dir_fd=descriptor)
        for number in range(500):
            if (number + 1) % keeps:
                os.unlink(f"entry-{number}-{'x' * (number % 40)}", dir_fd=descriptor)
        # The file system uses inodes and gaps again.
        for number in range(20):
            os.mkdir(f"again{number}", dir_fd=descriptor) if keeps == 97 else None
        os.close(descriptor)


TOPICS = (links, devices, files, owners, attributes, directories)


def fill(top: Path) -> None:
    """Fills a directory with all of these."""
    for topic in (*zoo.TOPICS, *TOPICS):
        topic(top / f"{topic.__module__.rpartition('.')[2]}-{topic.__name__}")
    zoo.settle_access_times(top)
