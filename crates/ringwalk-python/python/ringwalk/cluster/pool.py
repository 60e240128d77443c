"""Pending work: which leftovers no task has got yet.

The leftovers themselves lie in files. The pool holds the length and the lines of each chunk, 12
bytes, and about 400 bytes for each file. When there are too many, the chunks of the latest tasks
are forgotten: the log has them, and they are read from there when the pool runs dry.

Tasks get the oldest work first, so that forgotten chunks are always the end of the queue. Shares
of huge directories come before everything else: they are the longest work, and the end of a run
should not wait for them.
"""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from ringwalk.cluster.lines import Chunk, Commit, Range
from ringwalk.cluster.replay import ROOTS, Position

# What the pool may hold, in chunks; a file counts as some more of them. About 64 MiB at most.
LIMIT = 3_000_000
_FILE = 24
# A chunk of this many lines is what tasks make. A share of a huge directory is as much work.
CHUNK = 64

# Gives the tasks of the log that count, from a place on.
Reread = Callable[[Position], Iterable[tuple[Position, Commit]]]


class Leftovers(Protocol):
    """Looks into files with leftovers."""

    def cut(self, file: str, offset: int, length: int, lines: int) -> int:
        """Returns the bytes of the first lines of a range."""

    def count(self, file: str, offset: int, length: int) -> int:
        """Returns the number of lines of a range."""


class Source:
    """The chunks of one file with leftovers that no task has got yet."""

    __slots__ = ("file", "lengths", "lines", "next", "offsets", "task")

    def __init__(self, task: int, file: str, chunks: Iterable[tuple[int, Chunk]]) -> None:
        self.task = task
        self.file = file
        self.next = 0
        self.offsets = array("Q")
        self.lengths = array("I")
        self.lines = array("I")
        for offset, chunk in chunks:
            self.offsets.append(offset)
            self.lengths.append(chunk.length)
            self.lines.append(chunk.lines)

    def is_empty(self) -> bool:
        """Returns true if tasks have got all of it."""
        return self.next == len(self.lengths)

    def weight(self) -> int:
        """Returns what the source takes of the pool's limit."""
        return len(self.lengths) + _FILE


class Pool:
    """Pending work, oldest first."""

    def __init__(self, leftovers: Leftovers, reread: Reread, limit: int | None = None) -> None:
        self._leftovers = leftovers
        self._reread = reread
        self._limit = LIMIT if limit is None else limit
        self._small: deque[Source] = deque()
        self._big: deque[Source] = deque()
        self._weight = 0
        self._lines = 0
        self._shares = 0
        # The place in the log from which on the pool has forgotten, and how many lines that were.
        self._forgotten_from: Position | None = None
        self._forgotten = 0
        # Tasks of older epochs with leftovers, and the parts of these leftovers that are done.
        self._older: dict[int, list[tuple[int, int]]] = {}
        self._older_last = 0

    @property
    def lines(self) -> int:
        """The number of leftovers. A share of a huge directory counts as 64."""
        return self._lines + self._shares * CHUNK + self._forgotten

    @property
    def held(self) -> int:
        """What the pool holds in memory, in the unit of its limit."""
        return self._weight

    def add_roots(self) -> None:
        """Adds the work of the first task."""
        task, _, length = ROOTS
        self._insert(Source(task, "", [(0, Chunk(length, 1, False))]), self._small)
        self._lines += 1

    def resume(
        self,
        commits: Iterable[tuple[Position, Commit]],
        is_open: Callable[[int], bool],
        partly: dict[int, list[tuple[int, int]]],
        last: int,
    ) -> None:
        """Adds the leftovers of tasks of older epochs, whose largest number is `last`."""
        self._older_last = last
        for position, commit in commits:
            if is_open(commit.task):
                self._older[commit.task] = partly.get(commit.task, [])
                self.add(position, commit)

    def add(self, position: Position, commit: Commit) -> None:
        """Adds the leftovers of a task, whose line is at this place in the log."""
        if commit.todo is None:
            return
        if self._forgotten_from is None and self._weight >= self._limit:
            self._forgotten_from = position
        if self._forgotten_from is None:
            self._hold(commit)
        else:
            self._forgotten += self._count(commit)

    def take(self, wanted: int) -> list[Range]:
        """Returns work for a task: about as many lines as wanted, or a share of a huge directory.

        The list is empty if no work is pending.
        """
        if not self._small and not self._big and self._forgotten_from is not None:
            self._remember()
        if self._big:
            self._shares -= 1
            return [self._next(self._big, None, True)]
        taken: list[Range] = []
        lines = 0
        while self._small and lines < wanted:
            # To cut a chunk, the driver reads it: only where a chunk alone is more than wanted.
            source = self._small[0]
            is_large = source.lines[source.next] > wanted
            taken.append(self._next(self._small, wanted - lines if is_large else None, False))
            lines += taken[-1].lines
        self._lines -= lines
        return list(_joined(taken))

    def _next(self, queue: deque[Source], most: int | None, big: bool) -> Range:
        """Takes the oldest chunk, or its first `most` lines if it has more than those."""
        source = queue[0]
        at = source.next
        offset, length, lines = source.offsets[at], source.lengths[at], source.lines[at]
        if most is not None:
            length = self._leftovers.cut(source.file, offset, length, most)
            lines = most
            source.offsets[at] += length
            source.lengths[at] -= length
            source.lines[at] -= lines
        else:
            source.next += 1
        if source.is_empty():
            self._weight -= source.weight()
            queue.popleft()
        return Range(source.task, offset, length, lines, source.file, big)

    def _hold(self, commit: Commit) -> None:
        file = commit.name("todo")
        chunks = list(self._chunks(commit))
        small = Source(commit.task, file, (each for each in chunks if not each[1].big))
        big = Source(commit.task, file, (each for each in chunks if each[1].big))
        self._lines += sum(small.lines)
        self._shares += len(big.lines)
        self._insert(small, self._small)
        self._insert(big, self._big)

    def _insert(self, source: Source, queue: deque[Source]) -> None:
        if not source.is_empty():
            self._weight += source.weight()
            queue.append(source)

    def _chunks(self, commit: Commit) -> Iterator[tuple[int, Chunk]]:
        """Gives the chunks of a task that no task of an older epoch has done."""
        older = self._older.get(commit.task, []) if commit.task <= self._older_last else []
        # Both are in the order of the file, in which nothing is done twice. One pass over both: a
        # task may leave 100 000 chunks, and as many ranges of them may be done.
        done = sorted(older)
        offset, at = 0, 0
        for chunk in commit.chunks:
            end = offset + chunk.length
            inside = []
            while at < len(done) and done[at][0] < end:
                begin, stop = done[at][0], sum(done[at])
                inside.append((max(begin, offset), min(stop, end)))
                if stop > end:
                    # It goes on in the next chunk.
                    break
                at += 1
            yield from self._rest(commit, offset, chunk, inside)
            offset = end

    def _rest(
        self, commit: Commit, offset: int, chunk: Chunk, inside: list[tuple[int, int]]
    ) -> Iterator[tuple[int, Chunk]]:
        """Gives the part of a chunk that is not done: the chunk itself, or ranges of its lines.

        `inside` is the part that is done: where each range begins and ends, in their order.
        """
        end = offset + chunk.length
        if not inside:
            yield offset, chunk
            return
        file = commit.name("todo")
        for begin, stop in [*inside, (end, end)]:
            if begin > offset:
                lines = self._leftovers.count(file, offset, begin - offset)
                yield offset, Chunk(begin - offset, lines, chunk.big)
            offset = stop

    def _count(self, commit: Commit) -> int:
        return sum(CHUNK if each.big else each.lines for each in commit.chunks)

    def _remember(self) -> None:
        """Reads forgotten chunks from the log, as far as the limit allows."""
        assert self._forgotten_from is not None
        start, self._forgotten_from = self._forgotten_from, None
        for position, commit in self._reread(start):
            if commit.todo is None:
                continue
            if commit.task <= self._older_last and commit.task not in self._older:
                continue
            if self._weight >= self._limit:
                self._forgotten_from = position
                return
            self._hold(commit)
            self._forgotten -= self._count(commit)
        self._forgotten = 0


def _joined(ranges: list[Range]) -> Iterator[Range]:
    """Gives the same work in fewer ranges: those that follow each other become one."""
    current: Range | None = None
    for each in ranges:
        if (
            current is not None
            and (current.task, current.offset + current.length) == (each.task, each.offset)
            and not current.big
        ):
            current = Range(
                each.task,
                current.offset,
                current.length + each.length,
                current.lines + each.lines,
                each.file,
            )
        else:
            if current is not None:
                yield current
            current = each
    if current is not None:
        yield current


def share(lines: int, workers: int) -> int:
    """Returns the lines that a task gets: one, or 1/(2W) of the pool."""
    return max(1, math.ceil(lines / (2 * max(1, workers))))
