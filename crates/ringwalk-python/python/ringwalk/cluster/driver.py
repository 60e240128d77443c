"""The driver: hands out tasks, and commits what they return.

One loop over futures as they complete:

    pool ── work ──> job ── engine.submit ──> worker: task ──> files in tmp/
      ^                                                           │ result
      │                                                           v
      └── leftovers <── rename <── is there a newer epoch? <── line, sync

All results that are there are committed together, with one sync.
"""

from __future__ import annotations

import errno
import os
import queue
import time
from collections import deque
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from typing import Any

import ringwalk
from ringwalk.cluster import committed, layout, log, trees, work
from ringwalk.cluster.budget import PACE, Budgets
from ringwalk.cluster.engines import Engine
from ringwalk.cluster.files import Files
from ringwalk.cluster.jobs import Attempt, Job, commit_of_result
from ringwalk.cluster.leftovers import LeftoverFiles
from ringwalk.cluster.lines import Commit, Range
from ringwalk.cluster.pool import Pool
from ringwalk.cluster.problems import ClusterError, OtherTree, Stopped, WrongVersion
from ringwalk.cluster.replay import History, Position

# A task may take this many times its budget, and so many seconds more.
PATIENCE = 3.0
GRACE = 60.0
# Tasks that are handed out at once, before the pace counts.
_BURST = 64
# How long the loop sleeps at most, in seconds.
_LOOK = 1.0
# The disk is full or cannot be written: no other worker will do better.
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
# The worker cannot run any task: the package or a part of it is missing there.
_UNFIT = (ImportError, AttributeError)


@dataclass(frozen=True)
class Settings:
    """What tasks get besides their work."""

    roots: list[bytes]
    # Those of the roots on this machine.
    identities: list[trees.Identity]
    # What is mounted below them on this machine.
    mounts: trees.Mounts
    options: dict[str, Any]
    # The function that works; `None` is the one of this package.
    task: work.Task | None = None
    grace: float = GRACE


class Driver:
    """One run: from a history to an empty pool."""

    def __init__(
        self,
        files: Files,
        own: log.Log,
        history: History,
        engine: Engine,
        budgets: Budgets,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.files = files
        self.log = own
        self.history = history
        self.engine = engine
        self.budgets = budgets
        self.settings = settings
        self.clock = clock
        self.start = clock()
        self.pool = Pool(LeftoverFiles(files), self._reread)
        self.aside: list[tuple[list[tuple[str, int, int]], str]] = []
        # Futures that are done: also `None`, which only wakes the loop.
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stop_signal: int | None = None
        self._attempts: dict[Any, Attempt] = {}
        # Jobs that have to run again.
        self._again: deque[Job] = deque()
        # Jobs that have failed too often. A late attempt may still give a result.
        self._waiting: deque[Job] = deque()
        self._jobs = 0
        self._next_task = history.last + 1
        self._pace = 0.0
        self._checked = self.start
        # Workers that have not had this tree since the last result, and when that came.
        self._misplaced: set[Any] = set()
        self._succeeded = self.start
        # A job that runs with no other one, to see whether it is the one that kills workers.
        self._alone: Job | None = None

    def fill(self) -> None:
        """Fills the pool with what the history left to be done."""
        if 0 in self.history.open:
            self.pool.add_roots()
        self.pool.resume(
            self.history.commits(),
            self.history.open.__contains__,
            self.history.partly,
            self.history.last,
        )

    @property
    def running(self) -> int:
        """The number of attempts whose result is awaited."""
        return sum(not attempt.is_late for attempt in self._attempts.values())

    @property
    def has_hung(self) -> bool:
        """True if an attempt has no result when the run is over: its worker may never go on."""
        return bool(self._attempts)

    def stop(self, signal: int = 0) -> None:
        """Asks the loop to stop. May be called by a signal handler or another thread."""
        self.stop_signal = signal
        self.done.put(None)

    def run(self, watch: Callable[[Driver], None] = lambda driver: None) -> None:
        """Works until the pool is empty, and no job is left. `watch` is called about once a second.

        Raises `Stopped`, `Fenced`, `EngineLost` or `OSError`. The run can be resumed after each.
        """
        while True:
            if self.stop_signal is not None:
                raise Stopped(self.stop_signal)
            self._hand_out()
            if not self._jobs and not self._again and not self.pool.lines:
                return
            self._commit(self._wait())
            now = self.clock()
            if now - self._checked >= _LOOK:
                self._checked = now
                self._look_for_late()
                self.engine.check()
                self.budgets.workers = self.engine.workers()
                watch(self)

    def _reread(self, start: Position) -> Any:
        # The history, and this driver's own log, which has grown.
        lengths = [*self.history.lengths, self.log.length]
        return replace(self.history, lengths=lengths).commits(start)

    # Handing out

    def _hand_out(self) -> None:
        """Hands out tasks until each worker has enough of them."""
        room = self.engine.workers() * self.engine.depth - self.running
        while room > 0 and self._alone is None:
            if not self._is_in_pace():
                return
            job = self._next_job()
            if job is None:
                return
            self._pace = max(self._pace, self.clock()) + 1 / PACE
            # A worker that does not have the tree is idle again before the others: an engine that
            # cannot leave it out gives it the same task. Several at a time go to several workers.
            for _ in range(min(1 + job.refusals, self.engine.workers())):
                self._submit(job)
                room -= 1

    def _next_job(self) -> Job | None:
        if self._again:
            # If the engine does not say which task a dead worker ran, the suspects run one by one.
            suspect = self._again[0].deaths >= 2 and not self.engine.is_precise
            if suspect and self.running:
                return None
            job = self._again.popleft()
            self._alone = job if suspect else None
            return job
        lines = self.pool.lines
        if not lines:
            return None
        budget = self.budgets.seconds(lines, self.clock() - self.start)
        ranges = self.pool.take(self.budgets.lines(lines, budget))
        if not ranges:
            return None
        job = Job(self._next_task, ranges)
        self._next_task += 1
        self._jobs += 1
        return job

    def _submit(self, job: Job) -> None:
        now = self.clock()
        job.attempt += 1
        lines = max(self.pool.lines, job.lines)
        tries = job.deaths + job.failures
        budget = self.budgets.seconds(lines, now - self.start, tries)
        future = self.engine.submit(
            f"ringwalk-snapshot-{self.log.epoch}-{job.task}-{job.attempt}",
            work.run,
            ringwalk.__version__,
            self.settings.task,
            os.fsencode(self.files.directory),
            self.settings.roots,
            # Classes of this package may be missing in another version, and hide which that is.
            [astuple(identity) for identity in self.settings.identities],
            trees.plain(self.settings.mounts),
            {
                "pieces": job.pieces(),
                "task": job.task,
                "epoch": self.log.epoch,
                "seconds": budget,
                "entries": self.budgets.entries,
                **self.settings.options,
            },
        )
        # Before the task, the worker may have to finish others that wait there.
        before = (self.engine.depth - 1) * self.budgets.most
        deadline = now + before + PATIENCE * budget + self.settings.grace
        self._attempts[future] = Attempt(job, job.attempt, now, deadline)
        job.running.add(job.attempt)
        future.add_done_callback(self.done.put)

    # Results

    def _wait(self) -> list[Any]:
        """Waits for a future that is done. Returns all that are, or none after a while."""
        done: list[Any] = []
        try:
            done.append(self.done.get(timeout=_LOOK if self._is_in_pace() else 1 / PACE))
            while True:
                done.append(self.done.get_nowait())
        except queue.Empty:
            pass
        return [future for future in done if future in self._attempts]

    def _is_in_pace(self) -> bool:
        """Returns false if tasks have to wait because too many were handed out lately."""
        return self._pace <= self.clock() + _BURST / PACE

    def _commit(self, futures: list[Any]) -> None:
        """Commits the results of these futures together."""
        commits: list[tuple[Position, Commit, Job]] = []
        for future, outcome in zip(futures, self.engine.outcomes(futures)):
            attempt = self._attempts.pop(future)
            job = attempt.job
            job.running.discard(attempt.number)
            if self._alone is job:
                self._alone = None
            if job.over:
                self._discard(job, outcome)
            elif isinstance(outcome, BaseException):
                self._failed(attempt, future, outcome)
            else:
                try:
                    commit = commit_of_result(job, self.log.epoch, outcome)
                except (ValueError, KeyError, TypeError) as error:
                    self._failed(attempt, future, error)
                    continue
                commits.append((self.log.append(commit), commit, job))
                # Another attempt may be among these futures: the log takes each task once.
                self._over(job)
        if commits:
            self._finish(commits)

    def _finish(self, commits: list[tuple[Position, Commit, Job]]) -> None:
        """Makes lines that were appended count, and takes over what they name."""
        # The files were synced by the workers; their names are synced here.
        self.files.sync_folder(layout.tmp_name(self.log.epoch))
        self.log.sync()
        self._misplaced.clear()
        self._succeeded = self.clock()
        for position, commit, job in commits:
            missing = committed.rename(self.files, commit)
            if missing:
                raise ClusterError(f"{self.files.path(missing[0])}: the file of a task is missing")
            self.history.totals.add(commit)
            self.pool.add(position, commit)
            shortened = job.lines - commit.counts["left"]
            self.budgets.learn(commit.seconds, commit.counts["directories"], shortened)

    def _over(self, job: Job) -> None:
        job.over = True
        self._jobs -= 1
        for jobs in (self._again, self._waiting):
            if job in jobs:
                jobs.remove(job)

    def _discard(self, job: Job, outcome: Any) -> None:
        """Removes what an attempt has written whose task was committed already."""
        attempt = outcome.get("attempt") if isinstance(outcome, dict) else None
        if type(attempt) is int:
            for kind in layout.KINDS:
                self.files.remove(layout.written(kind, job.task, attempt, self.log.epoch))

    # Failures

    def _failed(self, attempt: Attempt, future: Any, error: BaseException) -> None:
        """Runs a task again, or sets it aside."""
        job = attempt.job
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            raise OSError(
                error.errno,
                f"{error.strerror}: make room and go on with --resume",
                self.files.directory,
            )
        if isinstance(error, _UNFIT) and not self.history.totals.tasks:
            raise ClusterError(f"the workers cannot run a task: {error!r}") from error
        if isinstance(error, WrongVersion):
            raise error
        if isinstance(error, OtherTree):
            job.refusals += 1
            self._leave_out(error)
            self._retry(job, error)
            return
        deaths = self.engine.deaths(error)
        if deaths:
            if self.engine.is_blamed(future) and not attempt.is_late:
                job.deaths += deaths
                self.budgets.died()
        elif not attempt.is_late:
            job.failures += 1
        self._retry(job, error)

    def _leave_out(self, error: OtherTree) -> None:
        """Leaves a worker out that does not have this tree.

        Raises `OtherTree` if this machine does not have it any more, or no worker has it.
        """
        known, advice = self.settings, "mount it, and go on with --resume"
        found = trees.mounts_of(known.roots, known.mounts)
        new = {point: found[point] for point in found.keys() - known.mounts.keys()}
        known.mounts.update(new)
        try:
            trees.check(known.roots, known.identities, known.mounts, begun=True)
        except OtherTree as here:
            raise OtherTree(f"{here}: {advice}") from error
        # What is new was mounted on all machines since the run began, or will be.
        if new or self.engine.leave_out(error.worker):
            return
        self._misplaced.add(error.thread)
        patience = PATIENCE * self.budgets.most + known.grace
        is_late = self.clock() - self._succeeded >= patience
        if is_late or len(self._misplaced) >= self.engine.workers():
            raise OtherTree(f"{error}: {advice}") from error

    def _retry(self, job: Job, error: BaseException) -> None:
        if job.is_given_up:
            # The first reason is not that late attempts were ended.
            job.error = job.error or error
            if not any(attempt.job is job for attempt in self._attempts.values()):
                self._set_aside(job, job.error)
            elif job not in self._waiting:
                patience = PATIENCE * self.budgets.most + self.settings.grace
                job.deadline = self.clock() + patience
                self._waiting.append(job)
        elif job not in self._again and not job.running:
            self._again.append(job)

    def _set_aside(self, job: Job, error: BaseException) -> None:
        if job.deaths >= job.failures:
            why = f"task {job.task} has killed {job.deaths} workers"
        else:
            why = f"task {job.task} has failed {job.failures} times: {_named(error)}"
        done = job.done()
        self.log.append({"aside": [number for each in done for number in each], "why": why})
        self.log.sync()
        self.aside.append((_located(job.ranges), why))
        self._over(job)

    def _look_for_late(self) -> None:
        """Gives tasks whose deadline has passed to other workers. The first result counts."""
        now = self.clock()
        for job in list(self._waiting):
            if now >= job.deadline and job.error is not None:
                self._set_aside(job, job.error)
        for future, attempt in list(self._attempts.items()):
            if attempt.is_late or now < attempt.deadline:
                continue
            attempt.is_late = True
            job = attempt.job
            job.running.discard(attempt.number)
            if job.over:
                continue
            job.failures += 1
            if self._alone is job:
                self._alone = None
            late = TimeoutError(f"no result after {now - attempt.begun:.0f} s")
            self._retry(job, late)
            self.engine.give_up(future)


def _named(error: BaseException) -> str:
    """Returns an exception as text, with its type and the path that it is about."""
    return f"{type(error).__name__}: {error}"


def _located(ranges: list[Range]) -> list[tuple[str, int, int]]:
    return [(each.file, each.offset, each.length) for each in ranges]
