"""The verdict: complete, or what is missing."""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from collections.abc import Container, Iterator
from itertools import accumulate, islice
from typing import Any

from ringwalk.cluster import layout, replay
from ringwalk.cluster.files import Files
from ringwalk.cluster.leftovers import LeftoverFiles
from ringwalk.cluster.lines import Commit
from ringwalk.cluster.problems import Damaged
from ringwalk.cluster.replay import History, Totals
from ringwalk.cluster.shapes import NUMBER, shaped

# The most leftovers of tasks set aside that the verdict names, and the most such tasks. The file
# `layout.ASIDE` names all of them.
_NAMED = 1000
# What other versions of the program may rely on in a verdict.
_NUMBERS = ("tasks", "parts", "rows", "bytes", "errors", "vanished")
_SHAPE = {"complete": bool, "missing": [str], **dict.fromkeys(_NUMBERS, NUMBER)}

# If a greater share of the directories that were found has vanished, the verdict says that the tree
# was changing. What was below them is not known.
_FEW = 0.001
# The most trees that have vanished which the verdict names.
_TREES = 5
# The most of them that are added up at a time: a walk of a tree that is removed finds millions.
_SUMS = 10_000


class Aside:
    """Tasks that were set aside: what they should have read, and why they did not.

    The leftovers stay in their files: where every task fails, there are millions of them.
    """

    def __init__(
        self, files: Files, tasks: list[tuple[list[tuple[str, int, int]], str]], roots: int
    ) -> None:
        # For each task, where its leftovers are (file, offset and length), and the reason.
        self.tasks = tasks
        self._files = LeftoverFiles(files)
        self._roots = roots

    def leftovers(self, ranges: list[tuple[str, int, int]]) -> Iterator[Any]:
        """Gives the leftovers of a task one by one."""
        for file, offset, length in ranges:
            if file:
                yield from self._files.lines(file, offset, length)
            else:
                yield from ({"root": root, "path": ""} for root in range(self._roots))

    def named(self) -> list[dict[str, Any]]:
        """Returns the first tasks, with the first leftovers of all of them."""
        named, room = [], _NAMED
        for ranges, why in self.tasks[:_NAMED]:
            lines = list(islice(self.leftovers(ranges), room))
            room -= len(lines)
            named.append({"why": why, "leftovers": lines})
        return named

    def rows(self) -> Iterator[dict[str, Any]]:
        """Gives an error row for each leftover."""
        for ranges, why in self.tasks:
            for leftover in self.leftovers(ranges):
                yield _row(leftover, why)


def unaccounted(totals: Totals, root_directories: int) -> int:
    """Returns how many directories were found and neither read, nor vanished, nor an error.

    Each directory that is found must be one of these. A directory that several tasks have read may
    be counted more than once, so a negative number says nothing.
    """
    counts = totals.counts
    known = counts["directories"] + counts["vanished"] + counts["errors"]
    return counts["found"] + root_directories - known


def changing(history: History, description: layout.Description) -> list[str]:
    """Returns sentences about directories that were removed before a task could read them.

    There are no sentences if few directories were removed. The first sentence has their number, and
    the others name the largest trees that were removed, as far as these are known.
    """
    counts = history.totals.counts
    found, vanished = counts["found"] + description.directories, counts["vanished"]
    if vanished <= _FEW * found:
        return []
    sums: Counter[tuple[int, bytes]] = Counter()
    for _, commit in history.commits():
        for root, path, directories in commit.gone:
            if root >= len(description.roots):
                what = f"task {commit.task} names a root that does not exist: {root}"
                raise Damaged(f"the log: {what}")
            sums[root, path] += directories
        if len(sums) > 2 * _SUMS:
            sums = Counter(dict(sums.most_common(_SUMS)))
    trees: Counter[tuple[int, bytes]] = Counter()
    for (root, path), directories in sums.items():
        trees[root, _highest(root, path, sums)] += directories
    said = [
        f"the tree was changing: {vanished} of {found} directories were removed before they could "
        "be read, with what was in them"
    ]
    for (root, path), directories in trees.most_common(_TREES):
        name = os.fsdecode(os.path.join(description.roots[root], path))
        said.append(f"removed before it could be read: {name!r}: {directories} known directories")
    return said


def _highest(root: int, path: bytes, known: Container[tuple[int, bytes]]) -> bytes:
    """Returns the highest directory on a path that is known, or the path."""
    above = accumulate(path.split(b"/"), lambda folder, name: folder + b"/" + name)
    return next((each for each in above if (root, each) in known), path)


def make_verdict(
    history: History,
    description: layout.Description,
    aside: Aside,
    pending: int,
    damaged: list[str],
) -> dict[str, Any]:
    """Returns the contents of `verdict.json`.

    `pending` are bytes of leftovers that no task has done or was set aside with, `damaged` files
    that are not as they were committed.
    """
    totals = history.totals
    missing = []
    tasks = aside.tasks
    if tasks:
        missing.append(f"tasks that were set aside: {len(tasks)} ({tasks[0][1]})")
    if pending:
        missing.append(f"bytes of leftovers that were not read: {pending}")
    if totals.counts["errors"]:
        missing.append(f"files and directories that could not be read: {totals.counts['errors']}")
    if (lost := unaccounted(totals, description.directories)) > 0 and not tasks and not pending:
        missing.append(f"directories that were found and are not accounted for: {lost}")
    missing += [f"damaged: {name}" for name in damaged]
    return {
        "complete": not missing,
        "missing": missing,
        "changing": changing(history, description),
        "set_aside": aside.named(),
        "tasks": totals.tasks,
        "parts": totals.parts,
        "rows": totals.rows,
        "bytes": totals.bytes,
        **totals.counts,
        "seconds": round(totals.seconds, 3),
        "epochs": history.epoch,
    }


def read_verdict(files: Files) -> dict[str, Any] | None:
    """Returns the contents of `verdict.json`, or `None` if the run is not over.

    Raises `Damaged` if the file is no verdict.
    """
    found = layout.read_json(files, layout.VERDICT)
    if found is None:
        return None
    try:
        verdict: dict[str, Any] = shaped(found, _SHAPE)
        # Older versions have written none.
        shaped(verdict.get("changing", []), [str])
    except ValueError as error:
        raise Damaged(f"{files.path(layout.VERDICT)}: not a verdict: {error}") from error
    return verdict


def check_log(files: Files, history: History) -> History:
    """Raises `Damaged` if the log lacks tasks that the verdict counts. Returns the log's contents.

    Without the end of its log, a run looks like one that was ended early, and its files like those
    of no task. A driver may be at work, which removes or writes the verdict: so a log that was read
    before that is read once more.
    """
    if _missing_tasks(files, history):
        history = replay.read(files)
        if why := _missing_tasks(files, history):
            raise Damaged(why)
    return history


def _missing_tasks(files: Files, history: History) -> str | None:
    """Says what the verdict counts and the log does not have. Returns `None` if it has all."""
    known = read_verdict(files)
    totals = history.totals
    found = {"tasks": totals.tasks, "parts": totals.parts, "rows": totals.rows}
    if known is None or found.items() <= known.items():
        return None
    return (
        f"{files.path('log')}: {totals.tasks} tasks and {totals.parts} parts instead "
        f"of {known['tasks']} and {known['parts']} as {layout.VERDICT} says: the log is damaged"
    )


def write_results(files: Files, history: History, verdict: dict[str, Any], aside: Aside) -> None:
    """Writes the manifest, the error rows of tasks that were set aside, and then the verdict.

    The names of all files that belong to the snapshot are on the disk before the verdict is.
    """
    if aside.tasks:
        files.write(layout.ASIDE, map(_line, aside.rows()))
    else:
        files.remove(layout.ASIDE)
    files.write(layout.MANIFEST, map(_line, _entries(history)))
    for folder in ("", *(folder for folder, _ in layout.KINDS.values())):
        files.sync_folder(folder)
    files.replace(layout.VERDICT, json.dumps(verdict, indent=1).encode() + b"\n")


def _row(leftover: Any, why: str) -> dict[str, Any]:
    """Returns the error row of a leftover."""
    known = leftover if isinstance(leftover, dict) else {}
    return {
        "root": known.get("root"),
        "path": known.get("path"),
        "operation": "task",
        "errno": errno.EIO,
        "message": why,
    }


def wrong_manifest(files: Files, history: History) -> str | None:
    """Returns how the manifest of a run that is over differs from the log, or `None`."""
    try:
        with files.open(layout.MANIFEST) as file:
            lines = map(_line, _entries(history))
            whole = all(file.read(len(line)) == line for line in lines) and not file.read(1)
        return None if whole else "not what the log says"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except Damaged:
        return "not a regular file"


def _entries(history: History) -> Iterator[dict[str, Any]]:
    """Gives what the manifest says of each part."""
    return (_entry(commit) for _, commit in history.commits() if commit.part is not None)


def _entry(commit: Commit) -> dict[str, Any]:
    assert commit.part is not None
    rows, size, digest = commit.part
    return {"path": commit.name("part"), "rows": rows, "bytes": size, "sha256": digest}


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
