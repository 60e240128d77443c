"""Checks of the files of committed tasks, and removal of files that no task left."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator
from typing import Any

from ringwalk.cluster import committed, layout, replay, verdict
from ringwalk.cluster.files import Files
from ringwalk.cluster.problems import Damaged, Refused
from ringwalk.cluster.replay import History
from ringwalk.cluster.shapes import shaped

_BITS = {kind: bit for bit, kind in enumerate(layout.KINDS)}


def suspects(files: Files) -> set[str]:
    """Returns the names of the files that `verify` has found to be damaged."""
    found = layout.read_json(files, layout.DAMAGED) or []
    try:
        return {each["file"] for each in shaped(found, [{"file": str}])}
    except ValueError as error:
        raise Damaged(f"{files.path(layout.DAMAGED)}: not a list of files: {error}") from error


def damage(files: Files, history: History) -> Iterator[dict[str, Any]]:
    """Gives each file that is not as it was committed: its name, its task, and why."""
    for _, commit in history.commits():
        for kind in commit.kinds():
            if why := committed.wrong_contents(files, commit, kind):
                yield {"file": commit.name(kind), "task": commit.task, "why": why}


def verify(directory: str) -> dict[str, Any]:
    """Checks every file that the log names and, if the run is over, the manifest. Removes files
    that the log does not name.

    What is damaged is kept in `damaged.json`: the next run walks it again. In a directory that
    cannot be changed, nothing is kept or removed. Raises `Refused` if this user can change the
    directory, and does not own it.
    """
    files = Files(directory)
    if layout.read_description(files) is None:
        raise Refused(f"{directory}: not the directory of a snapshot")
    # False on a read-only file system, for every user.
    is_kept = os.access(directory, os.W_OK)
    if is_kept:
        files.check_owner()
    history = verdict.check_log(files, replay.read(files))
    found = list(damage(files, history))
    why = verdict.wrong_manifest(files, history)
    # A driver that goes on with the run removes the verdict before the manifest.
    if why is not None and verdict.read_verdict(files) is not None:
        found.append({"file": layout.MANIFEST, "task": None, "why": why})
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


class _Committed:
    """The names of the files of all committed tasks, in some 24 bytes for each task.

    Numbers of tasks usually have few gaps. But a damaged log may have any numbers: so memory grows
    with the number of tasks in it, and not with the largest number.
    """

    _BLOCK = 64

    def __init__(self, history: History) -> None:
        # By the number of a block of tasks: attempts, epochs, and a bit for each kind.
        self._blocks: dict[int, tuple[array[int], array[int], bytearray]] = {}
        for _, commit in history.commits():
            number, at = divmod(commit.task, self._BLOCK)
            if number not in self._blocks:
                nothing = bytes(8 * self._BLOCK)
                self._blocks[number] = (
                    array("q", nothing),
                    array("q", nothing),
                    bytearray(self._BLOCK),
                )
            attempts, epochs, kinds = self._blocks[number]
            attempts[at] = commit.attempt
            epochs[at] = commit.epoch
            kinds[at] = sum(1 << _BITS[kind] for kind in commit.kinds())

    def __contains__(self, name: str) -> bool:
        found = layout.COMMITTED.fullmatch(name)
        if found is None:
            return False
        task = int(next(filter(None, found.groups())))
        number, at = divmod(task, self._BLOCK)
        if number not in self._blocks:
            return False
        attempts, epochs, kinds = self._blocks[number]
        return any(
            name == layout.committed(kind, task, attempts[at], epochs[at])
            for kind, bit in _BITS.items()
            if kinds[at] >> bit & 1
        )


def _orphans(files: Files, history: History) -> list[str]:
    """Returns the names of files of no committed task, in the folders of those."""
    known = _Committed(history)
    found = {name for name in committed.present(files) if name not in known}
    if found:
        # A driver may be at work. It renames a file when the log has it: so the log has those now
        # that were renamed after it was read.
        for _, commit in replay.read(files).commits():
            found.difference_update(map(commit.name, commit.kinds()))
    return sorted(found)


def remove_orphans(files: Files, history: History) -> list[str]:
    """Removes files that no task of the log has left, and returns their names.

    Files of the newest epoch that are not committed yet stay: its driver may be at work. Files that
    have other names than tasks give stay too: they count nowhere.
    """
    removed = _orphans(files, history)
    for name in removed:
        files.remove(name)
    waiting = {
        commit.written(kind)
        for _, commit in history.commits()
        for kind in commit.kinds()
        if not files.exists(commit.name(kind))
    }
    for folder in layout.epoch_folders(files):
        if int(os.path.basename(folder)) < history.epoch:
            found = (each.name for each in files.entries(folder))
            names = {f"{folder}/{name}" for name in found if layout.WRITTEN.fullmatch(name)}
            for name in sorted(names - waiting):
                files.remove(name)
                removed.append(name)
    return removed
