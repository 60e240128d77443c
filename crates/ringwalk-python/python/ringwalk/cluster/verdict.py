"""The verdict: complete, or what is missing."""

from __future__ import annotations

import errno
import json
import os
from typing import Any

from ringwalk.cluster import layout, replay
from ringwalk.cluster.files import Files
from ringwalk.cluster.leftovers import LeftoverFiles
from ringwalk.cluster.lines import Commit
from ringwalk.cluster.problems import Damaged
from ringwalk.cluster.replay import History, Totals

# Leftovers of tasks set aside that the verdict names; it counts all of them.
_NAMED = 1000


def unaccounted(totals: Totals, root_directories: int) -> int:
    """Returns how many directories were found and neither read, nor vanished, nor an error.

    Each directory that is found must be one of these. A directory that several tasks have read may
    be counted more than once, so a negative number says nothing.
    """
    counts = totals.counts
    known = counts["directories"] + counts["vanished"] + counts["errors"]
    return counts["found"] + root_directories - known


def make_verdict(
    history: History,
    description: layout.Description,
    aside: list[tuple[list[dict[str, Any]], str]],
    pending: int,
    damaged: list[str],
) -> dict[str, Any]:
    """Returns the contents of `verdict.json`.

    `aside` are the leftovers of tasks that were set aside, with the reason. `pending` are bytes of
    leftovers that no task has done, `damaged` files that are not as they were committed.
    """
    totals = history.totals
    missing = []
    if aside:
        missing.append(f"tasks that were set aside: {len(aside)} ({aside[0][1]})")
    if pending:
        missing.append(f"bytes of leftovers that were not read: {pending}")
    if totals.counts["errors"]:
        missing.append(f"files and directories that could not be read: {totals.counts['errors']}")
    if (lost := unaccounted(totals, description.directories)) > 0 and not aside and not pending:
        missing.append(f"directories that were found and are not accounted for: {lost}")
    missing += [f"damaged: {name}" for name in damaged]
    return {
        "complete": not missing,
        "missing": missing,
        "set_aside": [{"why": why, "leftovers": lines[:_NAMED]} for lines, why in aside],
        "tasks": totals.tasks,
        "parts": totals.parts,
        "rows": totals.rows,
        "bytes": totals.bytes,
        **totals.counts,
        "seconds": round(totals.seconds, 3),
        "epochs": history.epoch,
    }


def read_verdict(directory: str) -> dict[str, Any] | None:
    """Returns the contents of `verdict.json`, or `None` if the run is not over.

    Raises `Damaged` if the file is no verdict.
    """
    found = layout.read_json(directory, layout.VERDICT)
    if found is None:
        return None
    numbers = ("tasks", "parts", "rows", "bytes", "errors", "vanished")
    if not (
        isinstance(found, dict)
        and isinstance(found.get("complete"), bool)
        and isinstance(found.get("missing"), list)
        and all(isinstance(found.get(name), int) for name in numbers)
    ):
        raise Damaged(f"{os.path.join(directory, layout.VERDICT)}: not a verdict")
    return found


def check_log(directory: str, history: History) -> History:
    """Raises `Damaged` if the log lacks tasks that the verdict counts. Returns the log's contents.

    Without the end of its log, a run looks like one that was ended early, and its files like those
    of no task. A driver may be at work, which removes or writes the verdict: so a log that was read
    before that is read once more.
    """
    if _missing_tasks(directory, history):
        history = replay.read(directory)
        if why := _missing_tasks(directory, history):
            raise Damaged(why)
    return history


def _missing_tasks(directory: str, history: History) -> str | None:
    """Says what the verdict counts and the log does not have. Returns `None` if it has all."""
    known = read_verdict(directory)
    totals = history.totals
    found = {"tasks": totals.tasks, "parts": totals.parts, "rows": totals.rows}
    if known is None or found.items() <= known.items():
        return None
    return (
        f"{os.path.join(directory, 'log')}: {totals.tasks} tasks and {totals.parts} parts instead "
        f"of {known['tasks']} and {known['parts']} as {layout.VERDICT} says: the log is damaged"
    )


def named_aside(
    directory: str, aside: list[tuple[list[tuple[str, int, int]], str]], roots: int
) -> list[tuple[list[Any], str]]:
    """Returns the leftovers of tasks that were set aside, with the reasons.

    `aside` says where they are: file, offset and length. `roots` is the number of roots.
    """
    files = LeftoverFiles(directory)
    named = []
    for ranges, why in aside:
        lines: list[Any] = []
        for file, offset, length in ranges:
            if file:
                lines += files.lines(file, offset, length)
            else:
                lines += [{"root": root, "path": ""} for root in range(roots)]
        named.append((lines, why))
    return named


def write_results(
    files: Files, history: History, verdict: dict[str, Any], aside: list[tuple[list[Any], str]]
) -> None:
    """Writes the manifest, the error rows of tasks that were set aside, and then the verdict."""
    rows = [_row(leftover, why) for lines, why in aside for leftover in lines]
    if rows:
        _write_lines(files, layout.ASIDE, iter(rows))
    else:
        files.remove(layout.ASIDE)
    parts = (commit for _, commit in history.commits() if commit.part is not None)
    _write_lines(files, layout.MANIFEST, (_entry(commit) for commit in parts))
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


def _entry(commit: Commit) -> dict[str, Any]:
    assert commit.part is not None
    rows, size, digest = commit.part
    name = layout.committed("part", commit.task, commit.attempt, commit.epoch)
    return {"path": name, "rows": rows, "bytes": size, "sha256": digest}


def _write_lines(files: Files, name: str, lines: Any) -> None:
    """Writes a file of JSON lines, which appears whole; it may be larger than the memory."""
    hidden = f"tmp/{os.path.basename(name)}"
    with open(files.path(hidden), "wb") as file:
        for line in lines:
            file.write(json.dumps(line).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    files.rename(hidden, name)
