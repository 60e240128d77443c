"""Images of ext2, ext3 and ext4 in all the formats the sources read, and of XFS and btrfs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import finished

from support import contents, mounts


@dataclass(frozen=True)
class Format:
    """The description of an image."""

    # Arguments of its mkfs, as one line.
    make: str
    # The size of the file, which is sparse.
    mebibytes: int = 64
    # Options of the mount on which it is filled.
    options: str = ""
    # Commands for the finished image, whose name is added as the last word.
    then: tuple[str, ...] = ()
    # True if some kernels cannot mount it. Then the tests of it are skipped.
    refused_by_some: bool = False
    # The function that fills it.
    fill: Callable[[Path], None] = contents.fill


NO_CHECKSUMS = "-O ^metadata_csum,^uninit_bg"

# Each format names the options that it tests; the rest are mke2fs's defaults. For small images the
# default is blocks of 1 KiB.
EXT4 = {
    "ext4": Format("-t ext4 -b 4096"),
    "blocks-1k": Format("-t ext4 -b 1024"),
    "blocks-2k": Format("-t ext4 -b 2048"),
    "blocks-16k": Format("-t ext4 -b 16384", 256, refused_by_some=True),
    "blocks-64k": Format("-t ext4 -b 65536", 512, refused_by_some=True),
    "ext2": Format("-t ext2 -b 4096 -I 128"),
    "ext2-1k": Format("-t ext2 -b 1024 -I 128"),
    "ext2-revision-0": Format("-t ext2 -b 1024 -r 0"),
    "ext2-no-filetype": Format("-t ext2 -b 1024 -O ^filetype"),
    "ext2-no-sparse-super": Format("-t ext2 -b 1024 -O ^sparse_super,^resize_inode"),
    "ext3": Format("-t ext3 -b 4096"),
    "ext3-1k": Format("-t ext3 -b 1024 -I 128"),
    "no-filetype": Format("-t ext4 -b 4096 -O ^filetype"),
    "linear": Format("-t ext4 -O ^dir_index -b 1024"),
    "no-extents": Format("-t ext4 -O ^extent,^64bit -b 1024"),
    "inline-data": Format("-t ext4 -b 4096 -O inline_data"),
    "inline-data-1024": Format("-t ext4 -O inline_data -b 1024 -I 1024"),
    "inodes-128": Format("-t ext4 -b 4096 -I 128"),
    "inodes-512": Format("-t ext4 -b 4096 -I 512"),
    "32bit": Format("-t ext4 -b 4096 -O ^64bit"),
    "no-flex-bg": Format("-t ext4 -b 4096 -O ^flex_bg -g 1024"),
    "flex-bg-of-4": Format("-t ext4 -b 4096 -G 4 -g 1024"),
    "meta-bg": Format("-t ext4 -b 1024 -O meta_bg,^resize_inode", 256),
    "meta-bg-32bit": Format("-t ext4 -b 1024 -O meta_bg,^resize_inode,^64bit -g 2048", 256),
    "grown": Format(
        "-t ext4 -b 1024 -O ^resize_inode", then=("truncate -s 700M", "e2fsck -fp", "resize2fs")
    ),
    "sparse-super2": Format("-t ext4 -b 4096 -O sparse_super2 -g 1024"),
    "bigalloc": Format("-t ext4 -b 4096 -O bigalloc -C 16384"),
    "bigalloc-1k": Format("-t ext4 -b 1024 -O bigalloc -C 8192", 128),
    "csum-seed": Format(
        "-t ext4 -b 4096 -O metadata_csum_seed",
        then=("tune2fs -U 01234567-89ab-cdef-0123-456789abcdef",),
    ),
    # tune2fs refuses a file system that was mounted a second after its last check.
    "new-uuid": Format(
        "-t ext4 -b 4096",
        then=("e2fsck -fp", "tune2fs -f -U 01234567-89ab-cdef-0123-456789abcdef"),
    ),
    "gdt-csum": Format("-t ext4 -b 4096 -O ^metadata_csum,uninit_bg"),
    "no-csum": Format(f"-t ext4 -b 4096 {NO_CHECKSUMS}"),
    "uninit-groups": Format("-t ext4 -b 4096 -E lazy_itable_init=1 -g 4096", 1024),
    "large-dir": Format("-t ext4 -b 1024 -O large_dir"),
    "ea-inode": Format("-t ext4 -b 4096 -O ea_inode"),
    # A kernel without CONFIG_QFMT_V2 mounts these read-only.
    "quota": Format("-t ext4 -b 4096", then=("tune2fs -O quota",)),
    "project": Format(
        "-t ext4 -b 4096", then=("tune2fs -O project,quota", "debugfs -w -R 'sif <14> projid 77'")
    ),
    "casefold": Format("-t ext4 -b 4096 -O casefold -E encoding=utf8", refused_by_some=True),
    "orphan-file": Format("-t ext4 -b 4096 -O orphan_file"),
    "fast-commit": Format("-t ext4 -b 4096 -O fast_commit"),
    "no-journal": Format("-t ext4 -b 4096 -O ^has_journal"),
    "mmp": Format("-t ext4 -b 4096 -O mmp"),
    "verity": Format("-t ext4 -b 4096 -O verity"),
    "lost-and-found-only": Format("-t ext4 -b 4096", 8, fill=lambda top: None),
}

XFS = {
    "xfs": Format(""),
    "blocks-1k": Format("-b size=1024"),
    "blocks-2k-inodes-1024": Format("-b size=2048 -i size=1024"),
    "directory-blocks-64k": Format("-n size=65536"),
    "no-sparse-inodes": Format("-i sparse=0 -m finobt=0"),
    "no-bigtime": Format("-m bigtime=0,reflink=0"),
    "bigtime": Format("-m bigtime=1,reflink=1"),
    "large-extent-counts": Format("-i nrext64=1"),
    "many-groups": Format("-d agcount=16 -l size=64m", 2048),
    "inode32": Format("", options="inode32"),
    "empty": Format("", fill=lambda top: None),
}

BTRFS = {
    "btrfs": Format(""),
    "nodes-4k": Format("--nodesize 4096"),
    "nodes-64k": Format("--nodesize 65536"),
    "holes": Format("-O ^no-holes"),
    "xxhash": Format("--csum xxhash --mixed"),
    "compressed": Format("", options="compress-force=zstd,max_inline=0"),
    "empty": Format("", fill=lambda top: None),
}

FORMATS = {"ext4": EXT4, "xfs": XFS, "btrfs": BTRFS}
MAKERS = {"ext4": ["mke2fs", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}
MAKERS["btrfs"] = ["mkfs.btrfs", "-q", "-f"]


def words(line: str) -> list[str]:
    """Returns the words of a command line. Text in single quotes is one word."""
    parts = line.split("'")
    return [word for at, part in enumerate(parts) for word in ([part] if at % 2 else part.split())]


def make(kind: str, form: Format, file: Path) -> None:
    """Makes an empty file system of this format in a sparse file."""
    least = 1 if kind == "ext4" else mounts.IMAGE_SIZES[kind]
    with open(file, "wb") as handle:
        handle.truncate(max(form.mebibytes << 20, least))
    command([*MAKERS[kind], *words(form.make), file])


def command(args: list[str | Path]) -> None:
    """Runs a tool and checks that it succeeds."""
    done = finished(args, input=b"y\n", capture_output=True)
    assert done.returncode == 0, (args, done.stdout, done.stderr)


class Image:
    """A file system in a file, and its mount point."""

    def __init__(self, kind: str, work: Path, form: Format):
        work.mkdir(parents=True, exist_ok=True)
        self.kind = kind
        self.form = form
        self.file = work / "image"
        self.point = work / "point"

    @contextlib.contextmanager
    def mounted(self, options: str = "") -> Iterator[Path]:
        """Mounts it while the block runs, on a loop device that goes away with the mount."""
        loop = ",".join(filter(None, ("loop", options)))
        with mounts.mounted(self.point, "-o", loop, "-t", self.kind, self.file):
            yield self.point

    def remount(self, options: str = "ro") -> None:
        """Unmounts it and mounts it again, so that no data of it is in memory."""
        self.unmount()
        mounts.call("mount", "-t", self.kind, "-o", f"loop,{options}", self.file, self.point)

    def unmount(self) -> None:
        """Unmounts it, so that tools may change it."""
        mounts.unmount(self.point)

    def freeze(self) -> None:
        """Makes it read-only, which writes everything back."""
        mounts.call("mount", "-o", "remount,ro", self.point)

    def device(self) -> Path:
        """Returns its loop device."""
        number = os.stat(self.point).st_dev
        link = os.readlink(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
        return Path("/dev") / os.path.basename(link)


@contextlib.contextmanager
def fresh(
    kind: str, work: Path, line: str = "", options: str = "noatime", mebibytes: int = 64
) -> Iterator[Image]:
    """Gives a new file system, made with the words of `line` and mounted with `options`.

    By default reads do not change it; with access times, reading a directory would.
    """
    image = Image(kind, work, Format(line, mebibytes))
    try:
        make(kind, image.form, image.file)
        with image.mounted(options):
            yield image
    finally:
        image.file.unlink(missing_ok=True)


@contextlib.contextmanager
def filled(kind: str, form: Format, work: Path, options: str = "ro") -> Iterator[Image]:
    """Makes an image, fills it, and mounts it again with `options`.

    It is read-only by default, so that all its data is on the disk and each answer is the source's.
    """
    image = Image(kind, work, form)
    try:
        make(kind, form, image.file)
        try:
            with image.mounted(form.options) as point:
                form.fill(point)
        except mounts.Unavailable as refused:
            if form.refused_by_some:
                raise
            raise AssertionError(f"{form.make}: {refused}") from None
        for line in form.then:
            command([*words(line), image.file])
        with image.mounted(options):
            yield image
    finally:
        image.file.unlink(missing_ok=True)
