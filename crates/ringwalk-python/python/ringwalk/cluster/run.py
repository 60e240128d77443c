"""A whole run: from the arguments to the verdict."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from typing import Any

import ringwalk
from ringwalk.cluster import checks, committed, layout, log, replay, resume, trees, verdict, work
from ringwalk.cluster.budget import Budgets
from ringwalk.cluster.driver import Driver, Settings
from ringwalk.cluster.engines import Engine, make_engine
from ringwalk.cluster.files import Files
from ringwalk.cluster.jobs import MOST
from ringwalk.cluster.problems import EngineLost, Refused
from ringwalk.cluster.replay import History

# Empty tasks that are timed, after others that start the workers.
_TRIALS = 32


def describe(roots: Iterable[Any], options: dict[str, bool]) -> layout.Description:
    """Returns what a snapshot of these roots is of. Their paths become absolute.

    Raises `OSError` if a root does not exist, and `Refused` if there is none, if one lies within
    another one, or if two are the same directory.
    """
    paths = [os.path.realpath(_not_empty(os.fsencode(root)), strict=True) for root in roots]
    if not paths:
        raise Refused("no root is given")
    for number, path in enumerate(paths):
        for other in paths[:number] + paths[number + 1 :]:
            if path == other or path.startswith(other.rstrip(b"/") + b"/"):
                shown = os.fsdecode(path), os.fsdecode(other)
                raise Refused(f"the root {shown[0]!r} lies within the root {shown[1]!r}")
    _check_identities(paths)
    directories = sum(os.path.isdir(path) for path in paths)
    identities = [trees.identity_of(path) for path in paths]
    mounts = trees.mounts_of(paths)
    version = ringwalk.__version__
    return layout.Description(version, paths, directories, options, identities, mounts)


def _not_empty(path: bytes) -> bytes:
    """Returns a path. An empty path does not mean the current directory: the system refuses it."""
    if not path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return path


def _check_identities(paths: list[bytes]) -> None:
    """Raises `Refused` if two paths are one directory, by a bind mount or a second mount."""
    seen: dict[tuple[int, int], bytes] = {}
    for path in paths:
        found = trees.status_of(path)
        # Two names of one file are two roots.
        if not stat.S_ISDIR(found.st_mode):
            continue
        other = seen.setdefault((found.st_dev, found.st_ino), path)
        if other != path:
            shown = os.fsdecode(other), os.fsdecode(path)
            raise Refused(f"the roots {shown[0]!r} and {shown[1]!r} are the same directory")


def cost_of_a_task(engine: Engine) -> float:
    """Returns the seconds that the driver needs for an empty task, among many of them.

    It waits for the first workers.
    """
    _run_nothing(engine, min(engine.workers(), _TRIALS))
    start = time.perf_counter()
    _run_nothing(engine, _TRIALS)
    return (time.perf_counter() - start) / _TRIALS


def _run_nothing(engine: Engine, times: int) -> None:
    for attempt in range(MOST):
        # Readable keys of Dask must be new for each task of a scheduler.
        key = f"ringwalk-nothing-{os.getpid()}-{time.time_ns()}"
        futures = [engine.submit(f"{key}-{number}", work.nothing) for number in range(times)]
        # Waits for each of them.
        outcomes = engine.outcomes(futures)
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if not failed:
            return
        # If a worker has died, another one takes its place.
        died = isinstance(failed[0], BrokenExecutor) and engine.is_precise
        if not died or attempt == MOST - 1:
            raise EngineLost(f"the engine does not run an empty task: {failed[0]!r}")


def run(
    roots: Iterable[Any],
    output: Any,
    *,
    engine: Any,
    processes: int | None,
    budget: float,
    entries: int | None,
    again: bool,
    settings: dict[str, Any],
    task: work.Task | None,
    grace: float,
    watch: Callable[[Driver], None],
    ready: Callable[[Driver], None],
    files: Files | None = None,
) -> dict[str, Any]:
    """Makes or resumes a snapshot, and returns its verdict."""
    kept = {name: settings[name] for name in ("xattrs", "atime", "one_file_system")}
    wanted = describe(roots, kept)
    if files is None:
        files = Files(layout.absolute(output))
    if again and (known := _finished(files, wanted)) is not None:
        return known
    made = make_engine(engine, processes)
    hurry = True
    try:
        description = resume.open_directory(files, wanted, again)
        own, history = resume.begin(files)
        try:
            cost = cost_of_a_task(made)
            budgets = Budgets(budget, made.workers(), cost, entries)
            driver = Driver(
                files,
                own,
                history,
                made,
                budgets,
                Settings(
                    description.roots,
                    wanted.identities,
                    description.mounts,
                    settings,
                    task,
                    grace,
                ),
            )
            driver.fill()
            ready(driver)
            driver.run(watch)
            watch(driver)
            log.seal(files, own)
            # A worker that hangs is not waited for: another one has done its task.
            hurry = driver.has_hung
        finally:
            own.close()
    finally:
        made.close(hurry)
    return _finish(files, description, driver)


def _finish(files: Files, description: layout.Description, driver: Driver) -> dict[str, Any]:
    """Writes the results of a run whose pool is empty, and returns the verdict."""
    # What counts is what the logs say, not what this driver remembers.
    history = replay.read(files)
    located = driver.aside
    pending = sum(history.open.values()) - sum(
        length for ranges, _ in located for _, _, length in ranges
    )
    # `verify` may have found damage while this driver was at work.
    suspects = checks.suspects(files)
    wrong = []
    for _, commit in history.commits():
        for kind in commit.kinds():
            name = commit.name(kind)
            check = committed.wrong_contents if name in suspects else committed.wrong_size
            if why := check(files, commit, kind):
                wrong.append(f"{name}: {why}")
    aside = verdict.Aside(files, located, len(description.roots))
    # Nobody else is at work: the epoch is sealed.
    checks.remove_orphans(files, history)
    files.remove_folder(layout.tmp_name(driver.log.epoch), layout.WRITTEN)
    result = verdict.make_verdict(history, description, aside, pending, wrong)
    verdict.write_results(files, history, result, aside)
    return result


def _finished(files: Files, wanted: layout.Description) -> dict[str, Any] | None:
    """Returns the verdict of a run that is over, if all its files are as they were committed.

    A run with tasks that were set aside goes on with them.
    """
    known = verdict.read_verdict(files)
    description = layout.read_description(files)
    if known is None or description is None:
        return None
    description.check(wanted)
    if checks.verify(files.directory)["damaged"]:
        return None
    history: History = replay.read(files)
    return None if history.open else known
