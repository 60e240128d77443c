"""Tasks that the driver has handed out, and what a task returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ringwalk.cluster import layout
from ringwalk.cluster.lines import COUNTS, OTHER, PART, Chunk, Commit, Range
from ringwalk.cluster.shapes import NUMBER, shaped

# A task that kills so many workers, or fails so often, is set aside.
MOST = 3


@dataclass
class Job:
    """A task: work that belongs together until it is committed or set aside."""

    task: int
    ranges: list[Range]
    # Workers that have died of it, and other failures.
    deaths: int = 0
    failures: int = 0
    # Workers that did not have the tree.
    refusals: int = 0
    # The number of the latest attempt.
    attempt: int = 0
    # Attempts whose result is awaited.
    running: set[int] = field(default_factory=set)
    # Committed or set aside: later results do not count.
    over: bool = False
    # If it has failed too often, and late attempts may still give a result: why it has failed, and
    # how long to wait for them, by the driver's clock.
    error: BaseException | None = None
    deadline: float = math.inf

    @property
    def lines(self) -> int:
        """The number of leftovers."""
        return sum(each.lines for each in self.ranges)

    @property
    def is_first(self) -> bool:
        """True for the task that visits the roots."""
        return self.ranges[0].task == 0

    @property
    def is_given_up(self) -> bool:
        """True if it has failed too often."""
        return self.deaths >= MOST or self.failures >= MOST

    def pieces(self) -> list[tuple[str, int, int]] | None:
        """Returns the work, as the task takes it."""
        if self.is_first:
            return None
        return [(each.file, each.offset, each.length) for each in self.ranges]

    def done(self) -> list[tuple[int, int, int]]:
        """Returns the work, as the log names it."""
        return [(each.task, each.offset, each.length) for each in self.ranges]


@dataclass(eq=False)
class Attempt:
    """One run of a task by a worker."""

    job: Job
    number: int
    # Seconds of the driver's clock.
    begun: float
    # After this time, another worker gets the task too.
    deadline: float
    # The deadline has passed.
    is_late: bool = False


def commit_of_result(job: Job, epoch: int, result: dict[str, Any]) -> Commit:
    """Returns the line of the log for the result of a task.

    Raises `ValueError` if the result contradicts itself: then the task has failed.
    """
    attempt: int = shaped(result["attempt"], NUMBER)
    files = {"part": result["part"], "todo": result["todo"], "errors": result["errors_file"]}
    for kind, name in files.items():
        if name not in (None, layout.written(kind, job.task, attempt, epoch)):
            raise ValueError(f"unexpected name of a file: {name!r}")
    digests = result["digests"]
    part = todo = errors = None
    if files["part"] is not None:
        part = shaped([result["rows"], *digests["part"]], PART)
        if part[1] != result["bytes"]:
            raise ValueError(f"the part has {part[1]} bytes instead of {result['bytes']}")
    elif result["rows"]:
        raise ValueError(f"{result['rows']} rows, and no part")
    chunks: list[Chunk] = []
    if files["todo"] is not None:
        todo = shaped(list(digests["todo"]), OTHER)
        chunks = _chunks(result["chunks"], todo[0], result["left"])
    elif result["left"]:
        raise ValueError(f"{result['left']} leftovers, and no file of them")
    if files["errors"] is not None:
        errors = shaped(list(digests["errors_file"]), OTHER)
    return Commit(
        epoch=epoch,
        task=job.task,
        attempt=attempt,
        done=job.done(),
        part=part,
        todo=todo,
        errors=errors,
        chunks=chunks,
        counts={name: shaped(result[name], NUMBER) for name in COUNTS},
        seconds=shaped(result["seconds"], float),
        gone=[
            (shaped(root, NUMBER), bytes(path), shaped(count, NUMBER))
            for root, path, count in result["vanished_trees"]
        ],
    )


def _chunks(given: list[Any], size: int, left: int) -> list[Chunk]:
    """Returns the chunks of a file with leftovers. Together they must be the whole file."""
    chunks, end = [], 0
    for *numbers, big in given:
        offset, length, lines = shaped(numbers, (NUMBER, NUMBER, NUMBER))
        if offset != end or length <= 0 or lines <= 0:
            raise ValueError(f"the chunk at byte {offset} does not follow the one before it")
        chunks.append(Chunk(length, lines, bool(big)))
        end += length
    if end != size or sum(each.lines for each in chunks) != left:
        raise ValueError(f"chunks of {end} bytes for leftovers of {size} bytes")
    return chunks
