"""How much a task gets: seconds and leftovers.

Budgets grow from the least one to the greatest while there is much to do, and shrink towards the
end. So a run ends with short tasks on all workers, and not with one long task.

* The least budget is half a second, or 1.2 W c: W workers, and the seconds c that the driver needs
  for an empty task. With less, the driver could not keep all workers busy.
* Only the last tasks are shorter: a worker that has nothing to do costs more than another task.
* The greatest budget is the user's. Nobody knows at first how long a leftover takes. So a task of
  the first round on all workers has at most the least budget, of the second twice that, and so on.
* At the beginning there are fewer leftovers than workers, and most workers wait. So the first
  tasks, as many as there are workers, are short.
* When workers die, budgets shrink until a death costs less than a twentieth of the work.
"""

from __future__ import annotations

from ringwalk.cluster.pool import CHUNK, share

# The least budget, if tasks cost the driver nothing.
LEAST = 0.5
# The budget of the first tasks, while other workers wait for the first leftovers, and the least one
# of the last tasks.
SHORT = 0.1
# Tasks that the driver hands out in a second, at most.
PACE = 1000.0
# With so many leftovers for each worker there is much to do: the greatest budget.
MUCH = CHUNK
# With fewer than so many, budgets shrink from the least one to a short one.
FEW = 8
# After so many rounds every budget is allowed.
ROUNDS = 20
# A task may get this many times the leftovers that it can probably read. The others come back, and
# are written again.
SPARE = 2.0
# The share of the work that deaths of workers may cost. Not even workers that die all the time make
# budgets shorter than the first ones.
LOSS = 0.05


class Budgets:
    """The rule for budgets, and what it has measured."""

    def __init__(self, most: float, workers: int, cost: float, entries: int | None = None) -> None:
        self.most = most
        self.workers = workers
        self.cost = cost
        # Entries that a task may read; no limit by default.
        self.entries = entries
        self._deaths = 0
        # Directories that a task has read in a second: a mean over the latest tasks.
        self._rate: float | None = None
        # By how many leftovers a task has made the pool shorter in a second: the same.
        self._shortened: float | None = None
        # Tasks that have been committed.
        self._tasks = 0

    @property
    def least(self) -> float:
        """Returns the least budget in seconds, except for the first and the last tasks."""
        return self._at_least(LEAST)

    def _at_least(self, seconds: float) -> float:
        """Returns a budget with which the driver keeps up."""
        return min(self.most, max(seconds, 1.2 * self.workers * self.cost))

    def died(self) -> None:
        """Counts a worker that has died."""
        self._deaths += 1

    def learn(self, seconds: float, directories: int, shortened: int) -> None:
        """Learns from a task that has read so many directories, and has returned fewer leftovers
        than it got by `shortened`."""
        self._tasks += 1
        if seconds <= 0:
            return
        self._rate = _mean(self._rate, max(directories, 1) / seconds)
        self._shortened = _mean(self._shortened, max(shortened, 1) / seconds)

    def seconds(self, lines: int, elapsed: float, tries: int = 0) -> float:
        """Returns the budget of a task, in seconds.

        `lines` are the leftovers of the pool, `elapsed` the seconds of the run. `tries` is how
        often this work was lost with a worker: then the task is the more careful.
        """
        part = min(1.0, lines / (MUCH * max(1, self.workers)))
        budget = self.least + (self.most - self.least) * part
        if self._shortened is not None:
            # Half the time that all workers need for these leftovers, at the speed of late.
            half = lines / (2 * self._shortened * max(1, self.workers))
            few = min(1.0, lines / (FEW * max(1, self.workers)))
            least = self._at_least(SHORT + (LEAST - SHORT) * few)
            budget = min(budget, max(least, half))
        rounds = min(self._tasks // max(1, self.workers), ROUNDS)
        budget = min(budget, self.least * 2**rounds)
        if self._tasks < self.workers and lines < self.workers:
            budget = min(budget, self._at_least(SHORT))
        if self._deaths:
            # Half a task is lost with each death.
            between = elapsed / self._deaths
            bound = 2 * LOSS * self.workers * between
            budget = min(budget, max(SHORT, 20 * self.cost, bound))
        return max(min(budget, SHORT), budget * 0.25**tries)

    def lines(self, lines: int, budget: float) -> int:
        """Returns how many leftovers of a pool with so many a task with this budget gets."""
        wanted = share(lines, self.workers)
        if self._rate is None:
            return wanted
        return max(1, min(wanted, int(SPARE * self._rate * budget)))


def _mean(before: float | None, now: float) -> float:
    """Returns a mean in which the latest values count most."""
    return now if before is None else 0.8 * before + 0.2 * now
