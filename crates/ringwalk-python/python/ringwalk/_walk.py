"""`walk` and `fwalk`: generators around the compiled iterator."""

import os
import stat
from collections.abc import Callable, Generator
from typing import AnyStr, overload

from ringwalk._ringwalk import Walk, scandir


def walk(
    top: AnyStr | os.PathLike[AnyStr],
    topdown: bool = True,
    onerror: Callable[[OSError], object] | None = None,
    followlinks: bool = False,
) -> Generator[tuple[AnyStr, list[AnyStr], list[AnyStr]], None, None]:
    """Yields ``(dirpath, dirnames, filenames)`` for every directory below *top*, like `os.walk`.

    ``dirpath`` is a string, the lists hold names. ``dirnames`` has the subdirectories and the links
    to directories, ``filenames`` all other entries. With *topdown* a directory comes before those
    below it, and the caller can edit ``dirnames`` in place: the walk descends only into the names
    that remain, in their order. Otherwise a directory comes after those below it. Names are `bytes`
    if *top* is.

    The walk leaves out a directory that it cannot read. It calls *onerror*, if given, with the
    `OSError`, and *onerror* may raise it. The walk follows links to directories only with
    *followlinks*.

    Threads read directories ahead, and the walk checks each directory again at its turn. So the
    lists show the current contents of the directory, also if it has changed since it was read.

    Ctrl-C ends the walk within 50 ms, also while a file system does not answer.

    >>> import os, tempfile
    >>> tree = tempfile.TemporaryDirectory()
    >>> os.makedirs(os.path.join(tree.name, "src", "__pycache__"))
    >>> open(os.path.join(tree.name, "src", "main.py"), "w").close()
    >>> for path, directories, files in walk(tree.name):
    ...     if "__pycache__" in directories:
    ...         directories.remove("__pycache__")
    ...     print(os.path.relpath(path, tree.name), directories, files)
    . ['src'] []
    src [] ['main.py']
    >>> tree.cleanup()
    """
    walking = Walk(os.fspath(top), bool(topdown), onerror is not None, bool(followlinks))
    try:
        # Not `yield from`, which hands on what a caller sends: that goes unseen here.
        for found in walking:
            if isinstance(found, tuple):
                given = found
                yield found
            # Code of others is called here and not by the compiled iterator: see `_paths.py`.
            elif isinstance(found, list):
                walking.rename([_name(given[0], name) for name in found])
            elif onerror is not None:
                onerror(found)
    finally:
        walking.close()


def _name(path, name):
    """Returns a name below `path` that may be a path-like object."""
    if isinstance(name, str if isinstance(path, str) else bytes):
        return name
    # Raises what there is to be said of anything else.
    os.path.join(path, name)
    return os.fspath(name)


@overload
def fwalk(
    top: str | os.PathLike[str] = ".",
    topdown: bool = True,
    onerror: Callable[[OSError], object] | None = None,
    *,
    follow_symlinks: bool = False,
    dir_fd: int | None = None,
) -> Generator[tuple[str, list[str], list[str], int], None, None]: ...


@overload
def fwalk(
    top: bytes | os.PathLike[bytes],
    topdown: bool = True,
    onerror: Callable[[OSError], object] | None = None,
    *,
    follow_symlinks: bool = False,
    dir_fd: int | None = None,
) -> Generator[tuple[bytes, list[bytes], list[bytes], int], None, None]: ...


def fwalk(top=".", topdown=True, onerror=None, *, follow_symlinks=False, dir_fd=None):
    """Gives ``(dirpath, dirnames, filenames, dirfd)`` for every directory, as `os.fwalk` does.

    As `walk`, with a descriptor of the directory, which is open until the next one is asked for.
    Directories are opened one below the other, so that nobody can lead the walk elsewhere by
    putting a link into its way. *top* is relative to the directory *dir_fd*, if that is given. An
    error at *top* itself is raised. Nothing is read ahead. `os.open` opens the directories; if a
    file system does not answer it, Ctrl-C has to wait.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as tree:
    ...     open(os.path.join(tree, "file"), "w").close()
    ...     for path, directories, files, fd in fwalk(tree):
    ...         print(files, [os.stat(name, dir_fd=fd).st_size for name in files])
    ['file'] [0]
    """
    top = os.fspath(top)
    levels = []
    try:
        first = _open(top, top, dir_fd, follow_symlinks, None, is_top=True)
        if first is not None:
            levels.append(first)
            yield from _levels(levels, topdown, onerror, follow_symlinks)
    finally:
        while levels:
            os.close(levels.pop().fd)


class _Level:
    """An open directory of a walk, and what is below it."""

    __slots__ = ("below", "directories", "fd", "others", "path")

    def __init__(self, fd, path):
        self.fd = fd
        self.path = path
        self.below = None

    def read(self, topdown, follow_symlinks):
        """Lists it, and notes what is to come below unless the caller may still edit that."""
        self.directories, self.others = [], []
        entries = []
        with scandir(self.fd) as found:
            for entry in found:
                name = os.fsencode(entry.name) if isinstance(self.path, bytes) else entry.name
                try:
                    if not entry.is_dir():
                        self.others.append(name)
                        continue
                except OSError:
                    # A link that leads nowhere, or something that is gone.
                    if _is_link(entry):
                        self.others.append(name)
                    continue
                self.directories.append(name)
                entries.append(None if follow_symlinks else entry)
        if not topdown:
            self.below = iter(list(zip(self.directories, entries, strict=True)))

    def item(self):
        return self.path, self.directories, self.others, self.fd


def _is_link(entry):
    try:
        return entry.is_symlink()
    except OSError:
        return False


def _levels(levels, topdown, onerror, follow_symlinks):
    """Goes through all below the one level there is; those that are open are in `levels`."""
    while levels:
        level = levels[-1]
        if level.below is None:
            level.read(topdown, follow_symlinks)
            if topdown:
                yield level.item()
                level.below = iter([(name, None) for name in level.directories])
        step = next(level.below, None)
        if step is not None:
            name, entry = step
            path = os.path.join(level.path, name)
            try:
                below = _open(name, path, level.fd, follow_symlinks, entry)
            except OSError as error:
                if onerror is not None:
                    onerror(error)
                continue
            if below is not None:
                levels.append(below)
            continue
        if not topdown:
            yield level.item()
        os.close(levels.pop().fd)


def _open(name, path, dir_fd, follow_symlinks, entry, *, is_top=False):
    """Opens a directory; None if it is a link not to be followed, or has become one."""
    if not follow_symlinks:
        # Opened, it must be what it was before.
        if entry is None:
            before = os.stat(name, follow_symlinks=False, dir_fd=dir_fd)
        else:
            before = entry.stat(follow_symlinks=False)
    fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK, dir_fd=dir_fd)
    try:
        if follow_symlinks or (
            os.path.samestat(before, os.stat(fd)) and (stat.S_ISDIR(before.st_mode) or not is_top)
        ):
            level, fd = _Level(fd, path), None
            return level
        return None
    finally:
        if fd is not None:
            os.close(fd)
