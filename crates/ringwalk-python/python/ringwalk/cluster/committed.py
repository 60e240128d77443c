"""The files of committed tasks. A task writes them in `tmp/`; the driver renames them when the log
has the task. If a driver has ended in between, the next one renames them.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from typing import TypeVar

from ringwalk.cluster import layout, work
from ringwalk.cluster.files import Files
from ringwalk.cluster.lines import Commit
from ringwalk.cluster.problems import Damaged

_Found = TypeVar("_Found")


def rename(files: Files, commit: Commit) -> list[str]:
    """Gives the files of a task that counts their names. Returns the names of missing ones.

    It may be repeated: a file that has its name already is left alone.
    """
    missing = []
    for kind in commit.kinds():
        try:
            files.rename(commit.written(kind), commit.name(kind))
        except FileNotFoundError:
            if not files.exists(commit.name(kind)):
                missing.append(commit.name(kind))
    return missing


def _look(commit: Commit, kind: str, look: Callable[[str], _Found]) -> _Found | None:
    """Returns what `look` returns for the file, or `None` if it is missing.

    Its driver may not have renamed it yet, or may do so at this moment.
    """
    for name in (commit.name(kind), commit.written(kind), commit.name(kind)):
        try:
            return look(name)
        except FileNotFoundError:
            pass
    return None


def wrong_size(files: Files, commit: Commit, kind: str) -> str | None:
    """Returns what is wrong with the size of a file, or `None`."""
    status = _look(commit, kind, files.status)
    if status is None:
        return "missing"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    size, expected = status.st_size, commit.size(kind)
    return None if size == expected else f"{size} bytes instead of {expected}"


def wrong_contents(files: Files, commit: Commit, kind: str) -> str | None:
    """Returns what is wrong with a file, whose contents are read, or `None`."""
    if wrong := wrong_size(files, commit, kind):
        return wrong
    try:
        file = _look(commit, kind, files.open)
        if file is None:
            return "missing"
        with file:
            if kind == "part":
                assert commit.part is not None
                return None if work.sha256(file) == commit.part[1:] else "wrong SHA-256"
            expected = commit.todo if kind == "todo" else commit.errors
            return None if work.crc32(file) == expected else "wrong CRC-32"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except Damaged:
        # It was replaced since its size was looked at.
        return "not a regular file"


def present(files: Files) -> Iterator[str]:
    """Gives the names of all files that have names like files of committed tasks."""
    for folder, _ in layout.KINDS.values():
        for each in files.entries(folder):
            name = f"{folder}/{each.name}"
            # No task makes a directory there.
            if layout.COMMITTED.fullmatch(name) and not each.is_dir(follow_symlinks=False):
                yield name
