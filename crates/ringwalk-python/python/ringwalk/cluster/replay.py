"""Reading the commit log.

The log of the newest epoch begins with the valid lengths of all older logs. What follows after that
length was written by a driver that was thought dead, and does not count. A log that ends in the
middle of a line was cut off: that line does not count either. All other damage is an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar

from ringwalk.cluster import layout
from ringwalk.cluster.files import Files
from ringwalk.cluster.lines import COUNTS, Commit, commit_of, decode
from ringwalk.cluster.problems import Damaged
from ringwalk.cluster.shapes import NUMBER, shaped

_Line = TypeVar("_Line")

# The work of the first task: one range of one byte, which stands for the roots.
ROOTS = (0, 0, 1)


@dataclass(frozen=True)
class Position:
    """The place of a line: the epoch of its log, and bytes from the beginning of that log."""

    epoch: int
    offset: int


@dataclass
class Totals:
    """Sums over the tasks that count."""

    tasks: int = 0
    parts: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    def add(self, commit: Commit) -> None:
        """Adds a task."""
        self.tasks += 1
        self.seconds += commit.seconds
        if commit.part is not None:
            self.parts += 1
            self.rows += commit.part[0]
            self.bytes += commit.part[1]
        for name, count in commit.counts.items():
            self.counts[name] += count


@dataclass
class History:
    """What the logs say. Tasks that were revoked are left out of everything."""

    files: Files
    # Valid length of the log of each epoch, beginning with epoch 1.
    lengths: list[int]
    revoked: set[int] = field(default_factory=set)
    totals: Totals = field(default_factory=Totals)
    # The largest number of a task.
    last: int = 0
    # Bytes of leftovers that no task has done, by the task that left them.
    open: dict[int, int] = field(default_factory=dict)
    # What is done of the leftovers in `open`: offset and length, unordered.
    partly: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    # Why the newest driver has set tasks aside: a reason for each.
    aside: list[str] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        """The newest epoch; 0 before the first one."""
        return len(self.lengths)

    def commits(self, start: Position | None = None) -> Iterator[tuple[Position, Commit]]:
        """Gives the tasks that count, in the order of the log."""
        for position, commit in read_lines(self.files, self.lengths, _commit, start):
            if commit is not None and commit.task not in self.revoked:
                yield position, commit


def _where(files: Files, epoch: int) -> str:
    return files.path(layout.log_name(epoch))


def _commit(value: dict[str, Any], epoch: int) -> Commit | None:
    """Returns the task of a line, or `None` if the line is of none."""
    return commit_of(value, epoch) if "task" in value else None


def _event(value: dict[str, Any], epoch: int) -> dict[str, Any]:
    """Checks what is read of a line before the tasks are."""
    shapes = {
        "epoch": NUMBER,
        "fence": [NUMBER],
        "revoke": [NUMBER],
        "aside": [NUMBER],
        "why": str,
        "task": NUMBER,
    }
    if "revoke" in value:
        # A reason for each of some tasks.
        shapes["why"] = [str]
    shaped(value, {name: shapes[name] for name in shapes.keys() & value.keys()})
    return value


def read_lines(
    files: Files,
    lengths: list[int],
    parse: Callable[[dict[str, Any], int], _Line],
    start: Position | None = None,
) -> Iterator[tuple[Position, _Line]]:
    """Gives the lines of the logs up to their valid lengths, each as `parse` returns it. That gets
    a line and its epoch, and raises `ValueError`.

    Raises `Damaged`, with file and line, if a line cannot be understood or a log is too short.
    """
    first = Position(1, 0) if start is None else start
    for epoch in range(first.epoch, len(lengths) + 1):
        offset = first.offset if epoch == first.epoch else 0
        length, where = lengths[epoch - 1], _where(files, epoch)
        if offset >= length:
            continue
        with _opened(files, epoch) as file:
            file.seek(offset)
            number = 0
            while offset < length:
                line = file.readline()
                number += 1
                # Counted from the start of the log, unless the reader began in the middle.
                place = f"line {number}" if not first.offset else f"byte {offset}"
                if not line.endswith(b"\n") or offset + len(line) > length:
                    raise Damaged(f"{where}: {place}: the log is cut off before byte {length}")
                try:
                    value = parse(decode(line), epoch)
                except ValueError as error:
                    raise Damaged(f"{where}: {place}: damaged: {error}") from error
                yield Position(epoch, offset), value
                offset += len(line)


def _opened(files: Files, epoch: int) -> BinaryIO:
    try:
        return files.open(layout.log_name(epoch))
    except FileNotFoundError as error:
        raise Damaged(f"{_where(files, epoch)}: the log is missing") from error


def _whole(files: Files, epoch: int) -> int:
    """Returns the length of a log without a line that was cut off."""
    with _opened(files, epoch) as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            begin = max(0, end - 65536)
            file.seek(begin)
            found = file.read(end - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
    return 0


def valid_lengths(files: Files, before: int | None = None) -> list[int]:
    """Returns the valid length of the log of each epoch, of those before the epoch `before`.

    Raises `Damaged` if a log is missing or its first line is damaged.
    """
    known = [epoch for epoch in layout.epochs(files) if before is None or epoch < before]
    for expected, epoch in enumerate(known, 1):
        if epoch != expected:
            raise Damaged(f"{_where(files, expected)}: the log is missing")
    lengths = [_whole(files, epoch) for epoch in known]
    for epoch in reversed(known):
        # An epoch whose driver has ended before its first line says nothing of older logs.
        if lengths[epoch - 1]:
            only = [0] * (epoch - 1) + [lengths[epoch - 1]]
            _, head = next(read_lines(files, only, _event))
            fence: list[int] = head.get("fence", [])
            if head.get("epoch") != epoch or len(fence) != epoch - 1:
                where = _where(files, epoch)
                raise Damaged(f"{where}: line 1: not the beginning of epoch {epoch}")
            for older, length in enumerate(fence):
                if lengths[older] < length:
                    where = _where(files, older + 1)
                    raise Damaged(f"{where}: the log is cut off before byte {length}")
            return fence + lengths[epoch - 1 :]
    return lengths


def read(files: Files, lengths: list[int] | None = None) -> History:
    """Returns what the logs say, up to these lengths or to the valid ones.

    Raises `Damaged`, with file and line, for damage that is not a last line that was cut off.
    """
    history = History(files, valid_lengths(files) if lengths is None else lengths)
    for _, value in read_lines(files, history.lengths, _event):
        if "revoke" in value:
            history.revoked.update(value["revoke"])
        elif "fence" in value and "sealed" not in value:
            # A driver tries again what those before it have set aside.
            history.aside.clear()
        elif "aside" in value:
            history.aside.append(value.get("why", ""))
        elif "task" in value:
            history.last = max(history.last, value["task"])
    history.open[0] = 1
    for position, commit in history.commits():
        history.totals.add(commit)
        if commit.todo is not None:
            history.open[commit.task] = commit.todo[0]
        for task, offset, length in commit.done:
            if task in history.revoked:
                where = _where(files, position.epoch)
                raise Damaged(f"{where}: task {commit.task} goes on after task {task}, revoked")
            left = history.open.get(task, 0) - length
            if left < 0 or not length:
                where = _where(files, position.epoch)
                raise Damaged(f"{where}: leftovers of task {task} were done twice")
            history.partly.setdefault(task, []).append((offset, length))
            if left:
                history.open[task] = left
            else:
                del history.open[task]
                if _overlap(history.partly.pop(task)):
                    where = _where(files, position.epoch)
                    raise Damaged(f"{where}: leftovers of task {task} were done twice")
    return history


def _overlap(ranges: list[tuple[int, int]]) -> bool:
    """Returns true if ranges, which together are as long as a file, are not all of it."""
    end = 0
    for offset, length in sorted(ranges):
        if offset != end:
            return True
        end += length
    return False


def descendants(history: History, tasks: set[int]) -> set[int]:
    """Returns these tasks and all that went on where they had stopped, at any distance."""
    found = set(tasks)
    for _, commit in history.commits():
        # A task comes after those whose leftovers it has done.
        if any(task in found for task, _, _ in commit.done):
            found.add(commit.task)
    return found
