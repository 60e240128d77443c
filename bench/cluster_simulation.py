#!/usr/bin/env python3
"""Simulates runs of ringwalk.cluster on hundreds of workers, with a clock of its own.

    bench/cluster_simulation.py [--quick]

The rules under test are the driver's own code: `pool.py` (which work a task gets) and `budget.py`
(how much time). The rest is a model, with these assumptions:

* A worker reads entries at a fixed rate; that of each task varies by a fifth up or down.
* The driver works alone. It needs 0.25 ms (process pool) or 4.7 ms (Dask) for each task, half of it
  before the task and half after it. `bench/cluster_costs.py` measures such costs.
* A directory has 16 subdirectories. Their shares of its entries differ: the weights are Pareto
  distributed with the exponent 1.1, so that most entries are below a few of them.
* A task reads depth-first until its time is over. What it has found by then and not read comes
  back. Directories with fewer than 1000 entries below them are not divided.
* A huge directory has no subdirectories. A task reads it for its budget; its rest is divided into 8
  shares if more than 2000 entries of it were read, or not at all for comparison.
* Shares of the pool are not bounded by the measured speed of earlier tasks.
* No worker dies, and the server serves all workers at their full rate.

Prints a row for each case: efficiency is the ideal time (entries / (workers x rate)) divided by the
simulated time.
"""

from __future__ import annotations

import heapq
import importlib
import math
import random
import sys
import types
from collections import deque
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "crates" / "ringwalk-python" / "python"


def _cluster(name: str) -> types.ModuleType:
    """Returns a module of the driver; the package's compiled module need not be built."""
    if "ringwalk" not in sys.modules:
        stub = types.ModuleType("ringwalk")
        stub.__path__ = [str(PACKAGE / "ringwalk")]
        sys.modules["ringwalk"] = stub
    return importlib.import_module(f"ringwalk.cluster.{name}")


budget = _cluster("budget")
lines = _cluster("lines")
pool = _cluster("pool")
replay = _cluster("replay")

FANOUT = 16
EXPONENT = 1.1
SMALL = 1000
# As in the real task: a directory is divided after so many entries, into so many shares.
HUGE = 2000
SHARES = 8
CHUNK = 64
# As `Engine.depth` for Dask.
DEPTH = 3


@dataclass(frozen=True)
class Case:
    """A run to simulate."""

    workers: int
    entries: float
    # Entries that a worker reads in a second.
    rate: float
    # The greatest budget in seconds.
    most: float
    # Seconds of the driver for each task.
    cost: float
    # Entries of one huge directory.
    huge: float = 0
    # The huge directory is divided.
    divided: bool = True


@dataclass(frozen=True)
class Result:
    """What came out of a simulation."""

    efficiency: float
    tasks: int
    tasks_per_second: float
    # Leftovers that were written, altogether.
    leftovers: int
    # The longest pool, in leftovers.
    pending: int


class Files:
    """The files with leftovers: a line is one byte, which stands for some entries."""

    def __init__(self) -> None:
        self.of: dict[int, list[tuple[float, bool]]] = {}

    def cut(self, file: str, offset: int, length: int, count: int) -> int:
        return count

    def count(self, file: str, offset: int, length: int) -> int:
        return length


class Simulation:
    """A run: the driver, its workers, and the events between them."""

    def __init__(self, case: Case, seed: int = 1) -> None:
        self.case = case
        self.chance = random.Random(seed)
        self.files = Files()
        self.pool = pool.Pool(self.files, lambda start: ())
        self.budgets = budget.Budgets(case.most, case.workers, case.cost)
        self.tasks = 0
        self.leftovers = 0
        self.pending = 0

    def run(self) -> Result:
        """Simulates the run."""
        case = self.case
        self.files.of[0] = [(case.entries - case.huge, False)]
        if case.huge:
            self.files.of[0].append((case.huge, True))
        self._commit(0, self.files.of[0], 0.0, 1)
        now, idle, running = 0.0, case.workers, 0
        waiting: deque[tuple[float, tuple]] = deque()
        events: list[tuple[float, int, tuple]] = []
        while True:
            # Hand out: each task occupies the driver.
            while running + len(waiting) < DEPTH * case.workers and self.pool.lines:
                now += case.cost / 2
                waiting.append((now, self._task(now)))
                idle, running = self._begin(waiting, events, now, idle, running)
            if not events:
                break
            end, _, done = heapq.heappop(events)
            # The worker takes the next task at once, whatever the driver does.
            idle, running = self._begin(waiting, events, end, idle + 1, running - 1)
            now = max(now, end) + case.cost / 2
            self._commit(*done)
        ideal = case.entries / (case.workers * case.rate)
        return Result(ideal / now, self.tasks, self.tasks / now, self.leftovers, self.pending)

    def _begin(self, waiting, events, now, idle, running) -> tuple[int, int]:
        while waiting and idle:
            ready, (number, rest, seconds, given) = waiting.popleft()
            idle, running = idle - 1, running + 1
            end = max(now, ready) + seconds
            heapq.heappush(events, (end, number, (number, rest, seconds, given)))
        return idle, running

    def _task(self, now: float) -> tuple:
        """Hands out a task. Returns its number, leftovers and seconds."""
        pending = self.pool.lines
        self.pending = max(self.pending, pending)
        wanted = self.budgets.lines(pending, self.budgets.seconds(pending, now))
        ranges = self.pool.take(wanted)
        seconds = self.budgets.seconds(max(self.pool.lines, sum(r.lines for r in ranges)), now)
        work = []
        for each in ranges:
            of = self.files.of[each.task]
            work += of[each.offset : each.offset + each.length]
        self.tasks += 1
        rate = self.case.rate * self.chance.uniform(0.8, 1.2)
        done, rest = self._walk(work, rate * seconds)
        return self.tasks, rest, done / rate, len(work)

    def _walk(self, work: list, room: float) -> tuple[float, list]:
        """Reads until there is no room. Returns what was read, and the leftovers."""
        done, stack, rest = 0.0, list(reversed(work)), []
        while stack:
            entries, is_huge = stack.pop()
            left = room - done
            if entries <= left:
                done += entries
            elif left <= 0:
                rest.append((entries, is_huge))
            elif is_huge:
                done += left
                shares = SHARES if self.case.divided and left >= HUGE else 1
                rest += [((entries - left) / shares, True)] * shares
            elif entries <= SMALL:
                done += entries
            else:
                stack += [(share, False) for share in self._children(entries)]
        return done, rest

    def _children(self, entries: float) -> list[float]:
        weights = [self.chance.paretovariate(EXPONENT) for _ in range(FANOUT)]
        total = sum(weights)
        return [entries * weight / total for weight in weights]

    def _commit(self, number: int, rest: list, seconds: float, given: int) -> None:
        """Takes over the leftovers of a task: those of huge directories are chunks of their own."""
        rest.sort(key=lambda leftover: leftover[1])
        self.files.of[number] = rest
        small = sum(not is_huge for _, is_huge in rest)
        chunks = [
            lines.Chunk(min(CHUNK, small - at), min(CHUNK, small - at), False)
            for at in range(0, small, CHUNK)
        ]
        chunks += [lines.Chunk(1, 1, True)] * (len(rest) - small)
        counts = dict.fromkeys(lines.COUNTS, 0)
        todo = (len(rest), 0) if rest else None
        self.pool.add(
            replay.Position(1, 0),
            lines.Commit(1, number, 1, [], None, todo, None, chunks, counts, seconds),
        )
        self.budgets.learn(seconds, math.ceil(self.case.rate * seconds), given - len(rest))
        self.leftovers += len(rest)


CASES = [
    Case(100, 1e10, 30e3, 30, 4.7e-3),
    Case(100, 1e10, 30e3, 30, 4.7e-3, huge=1e9),
    Case(100, 1e10, 30e3, 30, 4.7e-3, huge=1e9, divided=False),
    Case(1000, 1e10, 3e3, 60, 0.25e-3),
    Case(1000, 1e10, 3e3, 60, 4.7e-3),
]
QUICK = [Case(20, 1e8, 30e3, 10, 4.7e-3), Case(20, 1e8, 30e3, 10, 4.7e-3, huge=1e7)]


def main() -> int:
    print(
        f"{'workers':>8}{'entries':>9}{'huge':>9}{'divided':>9}{'budget':>8}{'cost':>9}"
        f"{'efficiency':>12}{'tasks':>9}{'tasks/s':>9}{'leftovers':>11}{'pending':>9}"
    )
    for case in QUICK if "--quick" in sys.argv[1:] else CASES:
        found = Simulation(case).run()
        divided = "-" if not case.huge else "yes" if case.divided else "no"
        print(
            f"{case.workers:8}{case.entries:9.0e}{case.huge:9.0e}{divided:>9}{case.most:7.0f}s"
            f"{1000 * case.cost:7.2f}ms{found.efficiency:12.3f}{found.tasks:9}"
            f"{found.tasks_per_second:9.1f}{found.leftovers:11}{found.pending:9}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
