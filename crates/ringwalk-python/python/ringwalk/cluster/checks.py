"""Checks of the files of committed tasks, and removal of files that no task left."""

from __future__ import annotations

import json
import os
import re
from array import array
from collections.abc import Iterator
from typing import Any

from ringwalk.cluster import layout, replay, verdict, work
from ringwalk.cluster.files import Files
from ringwalk.cluster.lines import Commit
from ringwalk.cluster.problems import Refused
from ringwalk.cluster.replay import History

_BITS = {kind: bit for bit, kind in enumerate(layout.KINDS)}
# The name of a file of a committed task: its task first.
_NAME = re.compile(r"\w+/(\d{1,18})-\d+-\d+\.\w+", re.ASCII)


def file_of(commit: Commit, kind: str) -> str:
    """Returns the name of a file of a committed task."""
    return layout.committed(kind, commit.task, commit.attempt, commit.epoch)


def place_of(files: Files, commit: Commit, kind: str) -> str | None:
    """Returns the path of a file of a committed task, or `None` if it is missing.

    Its driver may not have renamed it yet, or may do so at this moment.
    """
    name = files.path(file_of(commit, kind))
    hidden = files.path(f"{commit.stem}.{layout.KINDS[kind][1]}")
    return next((path for path in (name, hidden, name) if os.path.exists(path)), None)


def wrong_size(files: Files, commit: Commit, kind: str) -> str | None:
    """Returns what is wrong with the size of a file, or `None`."""
    path = place_of(files, commit, kind)
    if path is None:
        return "missing"
    size, expected = os.stat(path).st_size, commit.size(kind)
    return None if size == expected else f"{size} bytes instead of {expected}"


def wrong_contents(files: Files, commit: Commit, kind: str) -> str | None:
    """Returns what is wrong with a file, whose contents are read, or `None`."""
    if wrong := wrong_size(files, commit, kind):
        return wrong
    try:
        path = place_of(files, commit, kind)
        if path is None:
            return "missing"
        if kind == "part":
            assert commit.part is not None
            return None if work.sha256(path) == commit.part[1:] else "wrong SHA-256"
        expected = commit.todo if kind == "todo" else commit.errors
        return None if work.crc32(path) == expected else "wrong CRC-32"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def suspects(files: Files) -> set[str]:
    """Returns the names of the files that `verify` has found to be damaged."""
    return {each["file"] for each in layout.read_json(files.directory, layout.DAMAGED) or []}


def damage(files: Files, history: History) -> Iterator[dict[str, Any]]:
    """Gives each file that is not as it was committed: its name, its task, and why."""
    for _, commit in history.commits():
        for kind in commit.kinds():
            if why := wrong_contents(files, commit, kind):
                yield {"file": file_of(commit, kind), "task": commit.task, "why": why}


def verify(directory: str) -> dict[str, Any]:
    """Checks every file that the log names and, if the run is over, the manifest. Removes files
    that the log does not name.

    What is damaged is kept in `damaged.json`: the next run walks it again. In a directory that
    cannot be changed, nothing is kept or removed.
    """
    files = Files(directory)
    if layout.read_description(directory) is None:
        raise Refused(f"{directory}: not the directory of a snapshot")
    history = verdict.check_log(directory, replay.read(directory))
    found = list(damage(files, history))
    why = verdict.wrong_manifest(files, history)
    # A driver that goes on with the run removes the verdict before the manifest.
    if why is not None and verdict.read_verdict(directory) is not None:
        found.append({"file": layout.MANIFEST, "task": None, "why": why})
    # False on a read-only file system, for every user.
    is_kept = os.access(directory, os.W_OK)
    removed: list[str] = []
    if is_kept:
        if found:
            files.replace(layout.DAMAGED, json.dumps(found, indent=1).encode() + b"\n")
        else:
            files.remove(layout.DAMAGED)
        removed = remove_orphans(files, history)
    return {
        "tasks": history.totals.tasks,
        "parts": history.totals.parts,
        "bytes": history.totals.bytes,
        "damaged": found,
        "kept": is_kept,
        "removed": removed,
    }


def committed_files(directory: str) -> Iterator[str]:
    """Gives the names of all files in the folders of committed tasks."""
    for folder, _ in layout.KINDS.values():
        try:
            entries = os.scandir(os.path.join(directory, folder))
        except FileNotFoundError:
            continue
        with entries:
            for each in entries:
                # No task makes a directory there.
                if not each.is_dir(follow_symlinks=False):
                    yield f"{folder}/{each.name}"


class _Committed:
    """The names of the files of all committed tasks, in 17 bytes for each task."""

    def __init__(self, history: History) -> None:
        self._attempts = array("q", bytes(8 * (history.last + 1)))
        self._epochs = array("q", bytes(8 * (history.last + 1)))
        # A bit for each kind.
        self._kinds = bytearray(history.last + 1)
        for _, commit in history.commits():
            self._attempts[commit.task] = commit.attempt
            self._epochs[commit.task] = commit.epoch
            self._kinds[commit.task] = sum(1 << _BITS[kind] for kind in commit.kinds())

    def __contains__(self, name: str) -> bool:
        found = _NAME.fullmatch(name)
        if found is None or int(found[1]) >= len(self._kinds):
            return False
        task = int(found[1])
        return any(
            name == layout.committed(kind, task, self._attempts[task], self._epochs[task])
            for kind, bit in _BITS.items()
            if self._kinds[task] >> bit & 1
        )


def _orphans(files: Files, history: History) -> list[str]:
    """Returns the names of files of no committed task, in the folders of those."""
    committed = _Committed(history)
    present = committed_files(files.directory)
    found = {name for name in present if name not in committed and name != layout.ASIDE}
    if found:
        # A driver may be at work. It renames a file when the log has it: so the log has those now
        # that were renamed after it was read.
        for _, commit in replay.read(files.directory).commits():
            found.difference_update(file_of(commit, kind) for kind in commit.kinds())
    return sorted(found)


def remove_orphans(files: Files, history: History) -> list[str]:
    """Removes files that no task of the log has left, and returns their names.

    Files of the newest epoch that are not committed yet stay: its driver may be at work.
    """
    removed = _orphans(files, history)
    for name in removed:
        files.remove(name)
    try:
        folders = os.listdir(files.path("tmp"))
    except FileNotFoundError:
        folders = []
    waiting = {
        f"{commit.stem}.{layout.KINDS[kind][1]}"
        for _, commit in history.commits()
        for kind in commit.kinds()
        if not os.path.exists(files.path(file_of(commit, kind)))
    }
    for folder in folders:
        if folder.isdecimal() and int(folder) < history.epoch:
            names = {f"tmp/{folder}/{name}" for name in os.listdir(files.path(f"tmp/{folder}"))}
            for name in sorted(names - waiting):
                files.remove(name)
                removed.append(name)
    return removed
