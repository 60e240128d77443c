"""Files of every kind for the tests of find, each topic in a directory of its own."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path

from support.trees import NAME_BYTES

# Sizes at which the number of units changes, for each unit, and some between.
UNITS = (1, 2, 512, 1024, 1 << 20, 1 << 30)
SIZES = sorted({max(0, unit * n + d) for unit in UNITS for n in (1, 2, 3) for d in (-1, 0, 1)})

# Seconds since 1970 that ext4, tmpfs and most others can store: before 1970, around it, after 2038.
SECONDS = (-(1 << 31), -86401, -1, 0, 1, 86400, 951782400, 1234567890, (1 << 31) - 1, 1 << 31)
SECONDS += (1709210096, 4102444800, (1 << 33) + 5)
NANOSECONDS = (0, 1, 123456789, 500000000, 999999999)

MODES = [1 << bit for bit in range(12)] + [0, 0o644, 0o755, 0o600, 0o700, 0o777, 0o4755, 0o2755]
MODES += [0o1777, 0o7777, 0o7000, 0o111, 0o222, 0o444, 0o333, 0o555, 0o666, 0o640, 0o570, 0o6711]

# Users and groups: some with a name, some without, and the largest number.
OWNERS = ((0, 0), (1, 1), (2, 65534), (65534, 2), (12345, 54321), (1 << 31, 7), (7, (1 << 32) - 2))

NAMES = (
    b"-x",
    b"--",
    b"-print",
    b"!",
    b"(",
    b")",
    b",",
    b"...",
    b".hidden",
    b"..hidden",
    b"new\nline",
    b"\n",
    b" ",
    b"a b",
    b"tab\t",
    b"back\\slash",
    b"quote'",
    b'double"',
    b"star*",
    b"question?",
    b"[bracket]",
    b"{}",
    b"%p",
    b"\\n",
    b"Makefile",
    b"makefile",
    b"MAKEFILE",
    b"main.c",
    b"MAIN.C",
    b"a.c.c",
    b".c",
    b"c",
    b"xabcx",
    b"123",
    b"under_score",
    b"\xc3\xa9t\xc3\xa9",  # ete with accents, composed
    b"\xc3\x89T\xc3\x89",  # the same in capitals
    b"e\xcc\x81",  # an e with a combining accent
    b"\xe6\xbc\xa2\xe5\xad\x97",
    b"\xf0\x9f\x98\x80",
    b"\xce\xa3\xcf\x83\xcf\x82",  # three sigmas
    b"\xc4\xb0i",  # dotted capital I
    b"\xff\xfe",
    b"caf\xe9",  # Latin-1
    b"\xc3",  # cut short
    b"\xed\xa0\x80",  # a surrogate
    b"n" * 255,
)


def kinds(top: Path) -> None:
    """Makes every type of file, and links to each of them, to nothing, and in circles."""
    top.mkdir()
    (top / "file").write_bytes(b"text\n")
    (top / "empty").touch()
    (top / "dir").mkdir()
    (top / "dir" / "inside").write_bytes(b"inside")
    (top / "emptydir").mkdir()
    os.mkfifo(top / "fifo")
    os.mknod(top / "socket", stat.S_IFSOCK | 0o600)
    with contextlib.suppress(PermissionError):
        os.mknod(top / "char", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        os.mknod(top / "block", stat.S_IFBLK | 0o600, os.makedev(7, 0x12345))
    for path in list(top.iterdir()):
        (top / f"to-{path.name}").symlink_to(path.name)
        (top / f"via-{path.name}").symlink_to(f"to-{path.name}")
    (top / "dangling").symlink_to("nowhere")
    (top / "through").symlink_to("file/below")
    (top / "self").symlink_to("self")
    (top / "ping").symlink_to("pong")
    (top / "pong").symlink_to("ping")
    (top / "up").symlink_to("..")
    (top / "dir" / "here").symlink_to(".")
    (top / "absolute").symlink_to(top / "dir")
    # The target does not fit into a block of 1 or 2 KiB.
    with contextlib.suppress(OSError):
        (top / "long").symlink_to("x" * 4000)


def modes(top: Path) -> None:
    """Makes files and directories of many modes."""
    top.mkdir()
    for mode in MODES:
        (top / f"f{mode:04o}").touch()
        (top / f"d{mode:04o}").mkdir()
        for letter in "fd":
            (top / f"{letter}{mode:04o}").chmod(mode)


def owners(top: Path) -> None:
    """Makes files of several users and groups, if the caller may change owners."""
    top.mkdir()
    for user, group in OWNERS:
        path = top / f"{user}-{group}"
        path.touch()
        with contextlib.suppress(PermissionError):
            os.chown(path, user, group)


def sizes(top: Path) -> None:
    """Makes files around the sizes where units change. All but some small ones are holes."""
    top.mkdir()
    for size in SIZES:
        with open(top / str(size), "wb") as file:
            if size < 10000:
                file.write(b"x" * size)
            file.truncate(size)
    with open(top / "mostly-hole", "wb") as file:
        file.write(b"x" * 8192)
        # Files of ext2 with blocks of 1 KiB have at most 16 GiB.
        with contextlib.suppress(OSError):
            file.truncate(1 << 38)


def times(top: Path) -> None:
    """Makes files with times before 1970, in the far future, and with nanoseconds."""
    top.mkdir()
    for number, second in enumerate(SECONDS):
        path = top / f"t{second}"
        path.touch()
        nanos = NANOSECONDS[number % len(NANOSECONDS)]
        access = SECONDS[(number * 5 + 1) % len(SECONDS)] * 10**9 + 7
        os.utime(path, ns=(access, second * 10**9 + nanos))
    for nanos in NANOSECONDS:
        path = top / f"n{nanos}"
        path.touch()
        os.utime(path, ns=(10**18 + nanos, 10**18 + nanos))


def names(top: Path) -> None:
    """Makes files with odd names, and with every byte that a name may have."""
    top.mkdir()
    folder = os.fsencode(top)
    singles = [bytes([byte]) for byte in NAME_BYTES if byte != ord(".")]
    for name in {*NAMES, *singles, *(b"x" + byte + b"y" for byte in singles)}:
        with open(os.path.join(folder, name), "wb"):
            pass
    os.makedirs(os.path.join(folder, b"-depth", b".git", b"caf\xe9 dir"))
    with open(os.path.join(folder, b"-depth", b".git", b"caf\xe9 dir", b"leaf"), "wb"):
        pass
    os.symlink(b"caf\xe9\n", os.path.join(folder, b"link\xff"))


def links(top: Path) -> None:
    """Makes hard links and symbolic links to files and directories, some of them loops."""
    (top / "a" / "b" / "c").mkdir(parents=True)
    (top / "a" / "one").write_bytes(b"1")
    os.link(top / "a" / "one", top / "a" / "b" / "two")
    os.link(top / "a" / "one", top / "three")
    (top / "soft").symlink_to("a/one")
    os.link(top / "soft", top / "soft2", follow_symlinks=False)
    (top / "dirlink").symlink_to("a/b")
    (top / "dirlink2").symlink_to("dirlink/")
    (top / "a" / "b" / "loop").symlink_to("../..")
    (top / "a" / "b" / "c" / "loop").symlink_to(".")
    (top / "MixedCase").symlink_to("Some/Target.C")


TOPICS = (kinds, modes, owners, sizes, times, names, links)


def make(top: Path) -> None:
    """Fills a new directory with all topics."""
    top.mkdir()
    for topic in TOPICS:
        topic(top / topic.__name__)
    settle_access_times(top)


def settle_access_times(top: Path) -> None:
    """Reads every directory and link once, as the first read may change their access times."""
    # Each read sets the access time anew until the clock of file times has advanced.
    time.sleep(0.02)
    for folder, directories, files in os.walk(os.fsencode(top)):
        for name in directories + files:
            with contextlib.suppress(OSError):
                os.readlink(os.path.join(folder, name))
