"""Lines of the commit log: JSON with a checksum, and what the line of a task says.

A line is short: a snapshot of 10^10 entries has some 10^5 to 10^6 tasks, and its log must stay
below 1 GiB. The line of a task takes about 400 bytes, and 10 bytes for each chunk of leftovers.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from ringwalk.cluster import layout
from ringwalk.cluster.shapes import NUMBER, parsed, shaped

# The last member of each line: the checksum of everything before it.
_MARK = b',"crc":'

# What a task counts, in the order of the numbers in its line.
COUNTS = ("entries", "directories", "found", "left", "vanished", "errors")


def encode(value: dict[str, Any]) -> bytes:
    """Returns a line of the log, with its line break."""
    text = json.dumps(value, separators=(",", ":")).encode()
    body = text[:-1]
    return body + _MARK + b"%d}\n" % zlib.crc32(body)


def decode(line: bytes) -> dict[str, Any]:
    """Returns what a line says. Raises `ValueError` if the line is damaged."""
    body, mark, end = line.rpartition(_MARK)
    if not mark or not end.endswith(b"}\n"):
        raise ValueError("no checksum")
    if int(end[:-2]) != zlib.crc32(body):
        raise ValueError("wrong checksum")
    value: dict[str, Any] = shaped(parsed(body + b"}"), {})
    return value


@dataclass(frozen=True)
class Range:
    """A piece of work: lines of a file with leftovers, by position and length in bytes.

    `task` is the task that left them. Task 0 left one line of one byte: the roots.
    """

    task: int
    offset: int
    length: int
    lines: int
    # The file, below the snapshot's directory; empty for the roots.
    file: str
    # A share of a huge directory, which is a task of its own.
    big: bool = False


@dataclass(frozen=True)
class Chunk:
    """Lines that follow each other in a file with leftovers."""

    length: int
    lines: int
    big: bool


@dataclass
class Commit:
    """A task whose results count: a line of the log."""

    epoch: int
    task: int
    attempt: int
    # What the task has done: task, offset and length of each range of leftovers.
    done: list[tuple[int, int, int]]
    # Rows, bytes and SHA-256 of the part; `None` if there are no rows.
    part: tuple[int, int, str] | None
    # Bytes and CRC-32 of the leftovers; `None` if there are none.
    todo: tuple[int, int] | None
    # Bytes and CRC-32 of the errors; `None` if there are none.
    errors: tuple[int, int] | None
    chunks: list[Chunk] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    # Trees that were removed before the task could read them: root, path below it, and how many
    # directories of it were found. Only the largest.
    gone: list[tuple[int, bytes, int]] = field(default_factory=list)

    def name(self, kind: str) -> str:
        """Returns the name of the file of a kind, when the driver has renamed it."""
        return layout.committed(kind, self.task, self.attempt, self.epoch)

    def written(self, kind: str) -> str:
        """Returns the name that the task has given to the file of a kind."""
        return layout.written(kind, self.task, self.attempt, self.epoch)

    def kinds(self) -> list[str]:
        """Returns the kinds of files that the task has written."""
        sizes = {"part": self.part, "todo": self.todo, "errors": self.errors}
        return [kind for kind, size in sizes.items() if size is not None]

    def size(self, kind: str) -> int:
        """Returns the bytes of the file of a kind. The task must have written it."""
        if kind == "part":
            assert self.part is not None
            return self.part[1]
        size = self.todo if kind == "todo" else self.errors
        assert size is not None
        return size[0]

    def line(self) -> bytes:
        """Returns the line of the log."""
        value: dict[str, Any] = {
            "task": self.task,
            "try": self.attempt,
            "tmp": layout.stem(self.task, self.attempt, self.epoch) if self.kinds() else "",
            "done": [number for each in self.done for number in each],
            "n": [self.counts[name] for name in COUNTS],
            "s": round(self.seconds, 3),
        }
        if self.part is not None:
            value["part"] = self.part
        if self.gone:
            value["gone"] = [
                (root, layout.text_form(path), count) for root, path, count in self.gone
            ]
        if self.errors is not None:
            value["errors"] = self.errors
        if self.todo is not None:
            value["todo"] = self.todo
            # The lines of a share of a huge directory are negative.
            pairs = [(each.length, -each.lines if each.big else each.lines) for each in self.chunks]
            value["left"] = [number for pair in pairs for number in pair]
        return encode(value)


# Bytes and lines of a chunk; the lines of a share of a huge directory are negative.
_LENGTH, _LINES = range(1, 1 << 32), range(-(1 << 32) + 1, 1 << 32)
# What the log says of a part, and of the other files of a task.
PART, OTHER = (NUMBER, NUMBER, str), (NUMBER, NUMBER)


def commit_of(value: dict[str, Any], epoch: int) -> Commit:
    """Returns the task of a line. Raises `ValueError` if the line is of no task."""
    needed = {"task": NUMBER, "try": NUMBER, "tmp": str, "s": float}
    shaped(value, {**needed, "done": [NUMBER], "n": [NUMBER]})
    task, attempt, done = value["task"], value["try"], value["done"]
    left = value.get("left", [])
    shaped(left, [_LINES])
    lengths = shaped(left[::2], [_LENGTH])
    if len(done) % 3 or len(left) % 2 or len(value["n"]) != len(COUNTS):
        raise ValueError("a list has another length than it must have")
    # A driver names no other file.
    if value["tmp"] not in ("", layout.stem(task, attempt, epoch)):
        raise ValueError(f"unexpected name of files: {value['tmp']!r}")

    def size(name: str, shape: tuple[Any, ...]) -> Any:
        return None if value.get(name) is None else shaped(value[name], shape)

    gone = shaped(value.get("gone", []), [(NUMBER, object, NUMBER)])
    return Commit(
        epoch=epoch,
        task=task,
        attempt=attempt,
        done=list(zip(done[::3], done[1::3], done[2::3])),
        part=size("part", PART),
        todo=size("todo", OTHER),
        errors=size("errors", OTHER),
        chunks=[Chunk(length, abs(lines), lines < 0) for length, lines in zip(lengths, left[1::2])],
        counts=dict(zip(COUNTS, value["n"])),
        seconds=value["s"],
        gone=[(root, layout.path_of(path), count) for root, path, count in gone],
    )
