"""Trees to walk: random ones from a seed, deep ones and wide ones; their removal."""

from __future__ import annotations

import contextlib
import os
import random
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

# Every byte that a name may contain: all but NUL and the slash.
NAME_BYTES = bytes(byte for byte in range(1, 256) if byte != ord("/"))

# The bytes of names in comparisons by lines: all of them but the newline.
LINE_BYTES = NAME_BYTES.replace(b"\n", b"")

DIRECTORY, FILE, HOLE, SYMLINK, FIFO, SOCKET, DEVICE, LINK = range(8)
KINDS = (DIRECTORY, FILE, HOLE, SYMLINK, FIFO, SOCKET, DEVICE, LINK)
WEIGHTS = (24, 36, 6, 10, 3, 3, 3, 15)


class RandomTree:
    """Fills a directory with entries of every type under random names, the same for each seed."""

    def __init__(
        self,
        top: Path,
        seed: int,
        entries: int = 400,
        alphabet: bytes = NAME_BYTES,
        lengths: tuple[int, ...] = (1, 2, 3, 8, 8, 20, 60, 255),
    ):
        self.rng = random.Random(seed)
        self.top = os.fsencode(top)
        self.alphabet = alphabet
        self.lengths = lengths
        self.directories = [self.top]
        self.linkable: list[bytes] = []
        self.unused = list(alphabet)
        self.rng.shuffle(self.unused)
        os.makedirs(self.top, exist_ok=True)
        for _ in range(entries):
            self.add()
        self.dress()

    def name(self) -> bytes:
        """Returns a new name. The first names contain every byte of the alphabet."""
        length = self.rng.choice(self.lengths)
        name = bytes(self.rng.choice(self.alphabet) for _ in range(length))
        taken = self.unused[:length]
        del self.unused[:length]
        name = bytes(taken) + name[len(taken) :]
        return name if name not in (b".", b"..") else b"..."

    def add(self) -> None:
        """Adds one entry of a random kind somewhere in the tree."""
        # Later directories are likelier parents, so the tree gets deeper than wide.
        index = int(len(self.directories) * self.rng.random() ** 0.6)
        path = os.path.join(self.directories[index], self.name())
        kind = self.rng.choices(KINDS, WEIGHTS)[0]
        if os.path.lexists(path) or len(path) > 3500 or (kind == LINK and not self.linkable):
            return
        try:
            self.make(kind, path)
        except PermissionError:  # device nodes need root
            return
        if kind == DIRECTORY:
            self.directories.append(path)
        else:
            self.linkable.append(path)

    def make(self, kind: int, path: bytes) -> None:
        rng = self.rng
        if kind == DIRECTORY:
            os.mkdir(path)
        elif kind == FILE:
            with open(path, "wb") as file:
                file.write(b"x" * rng.choice((0, 1, 100, 4095, 4096, 4097, rng.randrange(100_000))))
        elif kind == HOLE:
            with open(path, "wb") as file:
                file.seek(rng.randrange(1 << 20))
                file.write(b"end")
                # ext2 has no files of this size.
                with contextlib.suppress(OSError):
                    file.truncate(rng.randrange(1 << 40))
        elif kind == SYMLINK:
            # Targets: ancestors, the link itself, other places of the tree, and nothing.
            targets = (
                b"..",
                b".",
                os.path.basename(path),
                b"nowhere",
                rng.choice(self.directories),
            )
            # Small blocks allow only short targets.
            with contextlib.suppress(OSError):
                os.symlink(rng.choice(targets), path)
        elif kind == FIFO:
            os.mkfifo(path)
        elif kind == SOCKET:
            os.mknod(path, stat.S_IFSOCK | 0o600)
        elif kind == DEVICE:
            kind_bits = rng.choice((stat.S_IFCHR, stat.S_IFBLK))
            os.mknod(path, kind_bits | 0o600, os.makedev(1, 3))
        else:
            os.link(rng.choice(self.linkable), path, follow_symlinks=False)

    def dress(self) -> None:
        """Sets random modes and times, deepest first, so that no later change undoes them."""
        for folder, directories, files in os.walk(self.top, topdown=False):
            for name in directories + files:
                path = os.path.join(folder, name)
                seconds = self.rng.randrange(0, 2_000_000_000)
                # Each read of a directory sets its access time if it was changed in the future.
                if name in directories:
                    seconds %= 1_700_000_000
                nanos = self.rng.randrange(1_000_000_000)
                times = (seconds * 10**9 + nanos, (seconds + 77) * 10**9 + nanos)
                os.utime(path, ns=times, follow_symlinks=False)
                if not os.path.islink(path) and os.geteuid() == 0:
                    os.chmod(path, self.rng.randrange(0o10000))


def settle(path: Path) -> None:
    """Writes the file system back. After that numbers of blocks do not change."""
    subprocess.run(["sync", "-f", path], check=True)


def make_deep(top: Path, levels: int, name: bytes = b"d") -> None:
    """Makes a chain of directories below `top`, longer than PATH_MAX."""
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)


def remove_deep(top: Path, name: bytes = b"d") -> None:
    """Removes a chain made by `make_deep`, bottom first, on two descriptors."""
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    levels = 0
    with contextlib.suppress(FileNotFoundError):
        while True:
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
            levels += 1
    for _ in range(levels):
        above = os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = above
        os.rmdir(name, dir_fd=descriptor)
    os.close(descriptor)


@contextlib.contextmanager
def deep_tree(top: Path, levels: int, name: bytes = b"d") -> Iterator[Path]:
    """Makes a chain of directories, and removes it at the end of the block."""
    top.mkdir(parents=True)
    try:
        make_deep(top, levels, name)
        yield top
    finally:
        remove_deep(top, name)
        top.rmdir()


def make_wide(top: Path, files: int, prefix: str = "file") -> None:
    """Fills one directory with many files. Every hundredth has one byte, the others none."""
    top.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for number in range(files):
        file = os.open(f"{prefix}{number}", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=descriptor)
        if number % 100 == 0:
            os.write(file, b"x")
        os.close(file)
    os.close(descriptor)


def make_branching(top: Path, levels: int, children: int) -> int:
    """Makes a full tree with a file in every directory; returns the number of entries made."""
    made = 0
    layer = [top]
    top.mkdir(parents=True, exist_ok=True)
    for _ in range(levels):
        below = []
        for folder in layer:
            for child in range(children):
                path = folder / f"dir{child}"
                path.mkdir()
                (path / "file").write_bytes(b"x" * child)
                below.append(path)
                made += 2
        layer = below
    return made
