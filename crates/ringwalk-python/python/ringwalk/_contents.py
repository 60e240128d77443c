"""`hash` and `dupes`: the contents of files, around the compiled functions (see `_paths.py`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from ringwalk import _ringwalk
from ringwalk._paths import all_plain

if TYPE_CHECKING:
    from ringwalk._ringwalk import _Path, _Source


class FileHash(NamedTuple):
    """A file and the hash of its contents: an item of `Hashes.files`."""

    path: str
    """The path, which begins with one of the given paths."""
    hash: bytes
    """The hash; `hash.hex()` is what ``ringwalk hash`` prints."""


class Hashes(NamedTuple):
    """The result of `hash`."""

    files: list[FileHash]
    """The files, in the order of ``ringwalk hash``: depth first, names sorted by their bytes."""
    errors: list[OSError]
    """What could not be read: directories, and files that have no hash."""


class DuplicateFile(NamedTuple):
    """A file of a `DuplicateGroup`, with all its names."""

    path: str
    """The first of its names."""
    keep: bool
    """True for the first file of the group: the one to keep."""
    reference: bool
    """True if it lies below one of `keep_in`."""
    snapshot: int | None
    """The number of its snapshot among the given ones, from 0; `None` if it is live."""
    ino: int
    """Inode number."""
    nlink: int | None
    """Number of hard links; `None` if not known."""
    mtime_ns: int
    """Time of the last change of the contents, in nanoseconds since 1970."""
    shares_with: str | None
    """The path of the file of the group whose extents it shares, else `None`."""
    links: list[str]
    """Its other names that were found."""


class DuplicateGroup(NamedTuple):
    """Files with the same contents: an item of `Duplicates.groups`."""

    size: int
    """Bytes of each file."""
    hash: bytes | None
    """BLAKE3 of the contents; `None` if all files share their extents, and none was read."""
    freeable: int
    """Bytes that are free when only the first file and those of `keep_in` stay."""
    files: list[DuplicateFile]
    """The files, one for each inode. The first one is the one to keep."""


class Duplicates(NamedTuple):
    """The result of `dupes`."""

    groups: list[DuplicateGroup]
    """Those with the most bytes to free first."""
    without_hash: int
    """Number of files of snapshots that have the size of others and no hash: it is not known
    whether these are copies."""
    errors: list[OSError]
    """What could not be read. Copies of these files are missing."""


def hash(
    paths: _Path | Iterable[_Path],
    *,
    algo: Literal["blake3", "xxh3", "sha256"] = "blake3",
    one_file_system: bool = False,
    workers: int | None = None,
    source: _Source = "auto",
) -> Hashes:
    """Hashes the contents of all regular files at and below *paths*, several at a time: the work of
    ``ringwalk hash``.

    >>> [file] = ringwalk.hash(top / "src", algo="sha256").files
    >>> os.path.basename(file.path), file.hash.hex()[:16]
    ('main.c', '7febc7bf845d25c8')

    *algo* is the hash function: ``"blake3"`` and ``"sha256"`` with 32 bytes, ``"xxh3"`` with 16.
    The last one is no protection: somebody can make two files with the same hash. *workers* is the
    number of threads that read files. The default adapts to the device. *one_file_system* and
    *source* are the same as in `scan`. Symbolic links among *paths* are followed, others are not.
    Paths are `str`, as `os.fsdecode` makes them.

    Raises `OSError` if one of *paths* cannot be read; the result lists all other errors. A file
    that changes while it is read has no hash but an error. Ctrl-C is raised within 50 ms. Threads
    end when they have read the files that they have begun.
    """
    files, errors = _ringwalk.hash_contents(
        all_plain(paths), algo, bool(one_file_system), workers, source
    )
    return Hashes([FileHash._make(file) for file in files], errors)


def dupes(
    roots: _Path | Iterable[_Path],
    *,
    keep_in: _Path | Iterable[_Path] = (),
    min: int = 1,
    one_file_system: bool = False,
    workers: int | None = None,
    source: _Source = "auto",
) -> Duplicates:
    """Finds files with the same contents: the search of ``ringwalk dupes``. Nothing is changed.

    >>> copy = top / "copy.c"
    >>> size = copy.write_bytes((top / "src" / "main.c").read_bytes())
    >>> [group] = ringwalk.dupes(top).groups
    >>> group.size, group.freeable, [os.path.basename(file.path) for file in group.files]
    (12, 12, ['main.c', 'copy.c'])

    *roots* are directories, and snapshots with hashes: a regular file is a snapshot. *keep_in* are
    directories whose files are compared, too, and are the ones to keep; then only groups with such
    a file are in the result. *min* is the smallest size of a file in bytes. Empty files are never
    copies. *workers*, *one_file_system* and *source* are the same as in `hash`. Paths are `str`, as
    `os.fsdecode` makes them. The project's docs/duplicates.md has the rules.

    Raises `OSError` if one of *roots* or *keep_in* cannot be read, and `ValueError` for a file that
    is no snapshot with hashes. The result lists all other errors. Ctrl-C is raised within 50 ms.
    """
    groups, without_hash, errors = _ringwalk.find_copies(
        all_plain(roots), all_plain(keep_in), min, bool(one_file_system), workers, source
    )
    found = [
        DuplicateGroup(size, digest, freeable, [DuplicateFile._make(file) for file in files])
        for size, digest, freeable, files in groups
    ]
    return Duplicates(found, without_hash, errors)
