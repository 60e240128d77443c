# SPDX-License-Identifier: GPL-2.0-only
"""The guest's disks: what the command line says of them, and their images.

Images that are made, and copies of images that are given, live in the run's own folder and go with
it. `:rw` after a given image has the guest change the image itself, `:raw` has it not mounted.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from . import cache
from .errors import Failure

MADE = ("raw", "ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
# The serial number of a virtio disk has 20 bytes (VIRTIO_BLK_ID_BYTES); "src-" comes before some.
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,14}")
OUT = "ringwalk-out"
# Room for what a command leaves in /out. The file is sparse.
OUT_SIZE = 2 << 30


@dataclass(frozen=True)
class Spec:
    """One --disk argument."""

    name: str
    fs: str  # one of MADE, or auto for a given image that is mounted
    size: int = 0  # bytes, of a disk that is made
    folder: Path | None = None  # whose content goes in
    image: str = ""  # a path or an NBD address, of a disk that is given
    writable: bool = False  # the image itself is changed


@dataclass(frozen=True)
class Drive:
    """An image as QEMU is given it; `name` becomes its serial number."""

    name: str
    image: str
    cached: bool = False  # by the host


def parse(text: str) -> Spec:
    """Reads NAME=FS:SIZE[:FOLDER], NAME=IMAGE[:raw][:rw] or NAME=nbd...; ValueError says why."""
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise ValueError(f"'{text}' is not NAME=FS:SIZE[:FOLDER] or NAME=IMAGE")
    if not NAME.fullmatch(name) or name == OUT:
        raise ValueError(f"'{name}' is not a disk's name: up to 15 of a-z, 0-9, - and _")
    fs, colon, rest = value.partition(":")
    if colon and fs in MADE:
        size, colon, folder = rest.partition(":")
        if colon and fs == "raw":
            raise ValueError(f"'{text}': a raw disk takes no folder")
        if colon and not os.path.isdir(folder):
            raise ValueError(f"'{folder}' is not a folder")
        return Spec(name, fs, parse_size(size), Path(folder) if colon else None)
    if value.startswith(("nbd:", "nbd+unix:")):
        return Spec(name, "auto", image=value, writable=True)
    writable = value.endswith(":rw")
    image = value.removesuffix(":rw")
    fs = "raw" if image.endswith(":raw") else "auto"
    image = image.removesuffix(":raw")
    if not os.path.exists(image):
        raise ValueError(f"'{image}' is neither an image nor one of {', '.join(MADE)} with a size")
    return Spec(name, fs, image=image, writable=writable)


def parse_size(text: str) -> int:
    """Bytes, from a number with K, M, G or T after it (powers of 1024)."""
    match = re.fullmatch(r"([1-9][0-9]*)([KMGT]?)", text)
    if not match:
        raise ValueError(f"'{text}' is not a size: a number, then K, M, G or T")
    return int(match[1]) * UNITS[match[2]]


def prepare(specs: list[Spec], folder: Path) -> tuple[list[Drive], str]:
    """Makes the images in `folder`. Returns the drives and guest/init's table of disks."""
    drives = []
    table = []
    for spec in specs:
        source = "-"
        if spec.fs != "tmpfs":
            drives.append(Drive(spec.name, image_of(spec, folder)))
        if spec.folder and spec.fs in ("tmpfs", "xfs"):
            # Their own tools cannot take over a folder with all attributes; the guest copies it.
            source = f"src-{spec.name}"
            drives.append(Drive(source, source_image(spec.folder, folder / f"{source}.img")))
        table.append(f"{spec.name} {spec.fs} {source} {spec.size}\n")
    out = folder / f"{OUT}.img"
    make_sparse(out, OUT_SIZE)
    drives.append(Drive(OUT, str(out), cached=True))
    return drives, "".join(table)


def image_of(spec: Spec, folder: Path) -> str:
    """Returns the image of a disk: made, copied, or the given one."""
    if spec.writable:
        return spec.image
    path = folder / f"{spec.name}.img"
    if spec.image:
        copy = ["cp", "--reflink=auto", "--sparse=always", "--", spec.image, path]
        cache.run(copy, what=f"copying {spec.image}")
        return str(path)
    make_sparse(path, spec.size)
    if spec.fs in ("ext2", "ext3", "ext4"):
        make_ext(spec.fs, path, spec.size, spec.folder)
    elif spec.fs == "xfs":
        cache.run([cache.tool("mkfs.xfs", "xfsprogs"), "-q", path], what="mkfs.xfs")
    elif spec.fs == "btrfs":
        command = [cache.tool("mkfs.btrfs", "btrfs-progs"), "-q", "-m", "single"]
        command += ["--rootdir", spec.folder] if spec.folder else []
        cache.run([*command, path], what="mkfs.btrfs")
    return str(path)


def make_sparse(path: Path, size: int) -> None:
    with open(path, "wb") as file:
        file.truncate(size)


def make_ext(fs: str, path: Path, size: int, source: Path | None) -> None:
    """Makes ext2 to ext4, with the files of `source`, and inodes for twice as many."""
    command = [cache.tool("mke2fs", "e2fsprogs"), "-q", "-F", "-t", fs, "-m", "0"]
    if source:
        command += ["-d", source]
        # mke2fs's default is an inode for every 16 KiB (4 KiB below 512 MiB): few for small files.
        wanted = 2 * count(source) + 1024
        if wanted > size // 16384:
            command += ["-N", str(wanted)]
    cache.run([*command, path], what=f"mke2fs of {path.name}")


def source_image(source: Path, path: Path) -> str:
    """Returns an ext4 image of this folder, as large as it has to be."""
    size = 64 << 20
    for folder, names, files in os.walk(source):
        size += 8192 * (len(names) + len(files))
        for name in files:
            size += os.lstat(os.path.join(folder, name)).st_blocks * 512
    make_sparse(path, size)
    make_ext("ext4", path, size, source)
    return str(path)


def count(source: Path) -> int:
    """Entries below this folder."""
    if not source.is_dir():
        raise Failure(f"{source} is not a folder")
    return sum(len(names) + len(files) for _, names, files in os.walk(source))
