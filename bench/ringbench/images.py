"""Images of file systems that are measured again and again: made once, then kept.

They lie in SCRATCH/images, each with a file beside it that has its recipe. An image with
another recipe is made again. The kernel's own file systems fill them, not mkfs, so that
everything lies where it would on a disk in use. Afterwards they are only mounted
read-only, so that no file in them is ever recent.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import trees
from .media import MIB, call, loop_device, mounted, need_root
from .tools import build, need

# Raise this number when images are made in another way.
VERSION = 1

# Inode tables are written in full: otherwise the kernel would do it during the first runs.
# Nothing is discarded: punching holes into a new sparse file takes long and gains nothing.
MAKERS = {
    "ext4": ("mke2fs", "-q", "-F", "-t", "ext4", "-E", "lazy_itable_init=0,nodiscard"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
    "btrfs": ("mkfs.btrfs", "-q", "-f", "--nodiscard"),
}
# Made for measurements in guests only; blocks of 4 KiB whatever the size, inodes of ext4's size.
MAKERS_FOR_GUESTS = {
    "ext2": ("mke2fs", "-q", "-F", "-t", "ext2", "-b", "4096", "-E", "nodiscard"),
}

# The least that mkfs.xfs makes is 300 MiB.
SMALLEST = 512


@dataclass(frozen=True)
class Content:
    """What an image holds: `fill` makes it below a mount point.

    `recipe` distinguishes it from other contents of that name; `megabytes` is the size of the
    image.
    """

    name: str
    about: str
    megabytes: int
    fill: Callable[[Path], None]
    recipe: str
    inodes: int | None = None


def copy_of(tree: Path) -> Content:
    """Returns a directory with everything in it, its files' contents too.

    Without the contents all directories would lie side by side, and sizes, which `du -b`
    adds up, would have to be faked. A tree with as many entries and bytes as before is
    taken for the same.
    """
    said = subprocess.run(
        [build("floor"), "stat", tree], capture_output=True, text=True, check=True
    ).stdout.strip()
    used = int(call("du", "--summarize", "--block-size=1M", tree).split()[0])

    def fill(root: Path) -> None:
        call("cp", "--archive", f"{tree}/.", root)

    # A third more for what the file system itself needs; btrfs has its metadata twice.
    megabytes = max(SMALLEST, used + used // 3 + 256)
    return Content("tree", tree.name, megabytes, fill, f"{tree}: {said}")


def million() -> Content:
    """Returns a million empty files in 1000 directories."""

    def fill(root: Path) -> None:
        trees.synthetic(root, 1000, 1000)

    about = "1000 directories of 1000 files"
    return Content("million", about, 4096, fill, about, inodes=1_100_000)


def _size_of(tree: Path) -> tuple[int, int]:
    """Returns the number of entries of a tree, and what it takes in MiB."""
    names = subprocess.run(
        [build("floor"), "names", tree], capture_output=True, text=True, check=True
    ).stdout
    used = call("du", "--summarize", "--block-size=1M", tree)
    return int(names.split()[0]), int(used.split()[0])


def copies_of(tree: Path, copies: int) -> Content:
    """Returns several copies of a directory; blocks of files are allocated, not written.

    Directories and inodes lie where they would among the files' blocks, and the image
    takes little room.
    """
    entries, used = _size_of(tree)

    def fill(root: Path) -> None:
        for number in range(copies):
            trees.sketch(tree, root / f"copy-{number:02}")

    about = f"{copies} copies of {tree.name}, files allocated but not written"
    megabytes = (used + used // 4) * copies + 512
    inodes = (entries + 1) * copies * 5 // 4
    return Content(f"copies-{copies}", about, megabytes, fill, f"{about}: {entries}", inodes)


def with_attribute(tree: Path) -> Content:
    """Returns a copy of a directory in which each file has an extended attribute.

    Blocks of files are allocated, not written.
    """
    entries, used = _size_of(tree)

    def fill(root: Path) -> None:
        copy = root / "copy"
        trees.sketch(tree, copy)
        for folder, _, names in os.walk(copy):
            for name in names:
                path = os.path.join(folder, name)
                # The kernel refuses attributes of users on links.
                if not os.path.islink(path):
                    os.setxattr(path, "user.mime_type", b"text/x-csrc")

    about = f"{tree.name}, each file with an attribute"
    megabytes = used + used // 4 + 512
    return Content("attributes", about, megabytes, fill, f"{about}: {entries}")


def one_directory(files: int) -> Content:
    """Returns one directory, `messages`, of files made in random order."""

    def fill(root: Path) -> None:
        directory = root / "messages"
        directory.mkdir()
        trees.shuffled(directory, files)

    about = f"one directory of {files} files made in random order"
    # 4 KiB of each file, its inode, its name; never as full as to change where things go.
    megabytes = max(SMALLEST, files * 3 // 400)
    return Content(f"messages-{files}", about, megabytes, fill, about, inodes=files * 5 // 4)


def wide() -> Content:
    """Returns one directory, `wide`, of a million empty files."""

    def fill(root: Path) -> None:
        (root / "wide").mkdir()
        trees.fill_directory(str(root / "wide"), 1_000_000)

    about = "one directory of 1 000 000 files"
    return Content("wide", about, 2048, fill, about, inodes=1_100_000)


def image(scratch: Path, file_system: str, content: Content) -> Path:
    """Returns the image of a content in a file system, from the cache or made now."""
    folder = scratch / "images"
    path = folder / f"{content.name}.{file_system}"
    maker = _maker(file_system, content)
    recipe = {
        "version": VERSION,
        "maker": maker,
        "megabytes": content.megabytes,
        "content": content.recipe,
    }
    if is_current(path, recipe):
        return path
    need(maker[0], "losetup", "mount", "umount")
    need_root()
    folder.mkdir(parents=True, exist_ok=True)
    _note(path).unlink(missing_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        _make(partial, maker, content, folder / "filling")
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    _note(path).write_text(json.dumps(recipe, indent=2) + "\n")
    return path


def is_current(path: Path, recipe: dict[str, object]) -> bool:
    """Returns whether an image is there and was made from this recipe."""
    try:
        return path.exists() and json.loads(_note(path).read_text()) == recipe
    except (OSError, ValueError):
        return False


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _maker(file_system: str, content: Content) -> list[str]:
    """Returns the command that makes the empty file system; the others make inodes as they go."""
    words = list((MAKERS | MAKERS_FOR_GUESTS)[file_system])
    if file_system.startswith("ext") and content.inodes:
        words += ["-N", str(content.inodes)]
    return words


def _make(path: Path, maker: list[str], content: Content, point: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(content.megabytes * MIB)
    call(*maker, path)
    try:
        with loop_device(path) as device, mounted(device, point, "-o", "noatime"):
            content.fill(point)
    finally:
        with contextlib.suppress(OSError):
            point.rmdir()
    # From here on it is read past the page cache only.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
