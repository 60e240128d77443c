"""Snapshots of very large trees by many machines.

The tree is read in tasks with a budget, which run on an engine of others: a process pool, Dask, or
MPI. A task writes a part of the snapshot, and names the directories that it did not come to. The
driver hands out tasks, and keeps a commit log: a run that was ended at any moment can be resumed,
and each part counts once.

| file | contents |
|---|---|
| `run.py` | a whole run, from the arguments to the verdict |
| `driver.py`, `jobs.py` | the loop over tasks, their failures and deadlines |
| `pool.py`, `leftovers.py`, `budget.py` | pending work, and how much of it a task gets |
| `log.py`, `replay.py`, `lines.py` | the commit log: writing, reading, its lines |
| `layout.py`, `files.py` | names in the snapshot's directory, and its only reader and writer |
| `committed.py`, `shapes.py` | files of committed tasks; JSON with unexpected values |
| `resume.py`, `checks.py`, `verdict.py`, `state.py` | the beginning, checks, and the end of a run |
| `engines.py`, `processes.py`, `dask_engine.py`, `mpi_engine.py` | what runs the tasks |
| `work.py` | what runs on a worker |
| `trees.py` | whether a machine has the same roots and mounts as the driver's |
| `cli.py`, `progress.py` | the program `ringwalk-cluster` |
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from typing import Any

from ringwalk.cluster.driver import GRACE, Driver
from ringwalk.cluster.problems import (
    ClusterError,
    Damaged,
    EngineLost,
    Fenced,
    OtherTree,
    Refused,
    Stopped,
    WrongVersion,
)
from ringwalk.cluster.work import Task

__all__ = [
    "ClusterError",
    "Damaged",
    "EngineLost",
    "Fenced",
    "OtherTree",
    "SOURCES",
    "Refused",
    "Stopped",
    "WrongVersion",
    "compact",
    "snapshot",
    "status",
    "verify",
]

# The most requests that a task has in flight, unless the caller says more. Two processes of 32 read
# as fast as one of 64 on servers of 1 to 5 ms, and many nodes run tasks at the same time.
IN_FLIGHT = 32

# The sources that a task may use. It reads directories through the VFS, so that another task can go
# on where it stops.
SOURCES = ("auto", "syscall", "module", "ring")

# More processes than any machine has CPUs. Each takes some 30 MB and 6 descriptors of the driver.
_MOST_PROCESSES = 4096
# The engine's bound on threads, and the largest number that every task can take.
_MOST_WORKERS = 1024
_MOST = 2**63 - 1

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def _ignore(driver: Driver) -> None:
    """Does nothing with a driver."""


def snapshot(
    roots: _Path | Iterable[_Path],
    output: _Path,
    *,
    engine: Any = "pool",
    processes: int | None = None,
    budget: float = 10.0,
    entries: int | None = None,
    resume: bool = False,
    workers: int | None = None,
    in_flight: int | None = None,
    rate: int | None = None,
    source: str = "auto",
    xattrs: bool = False,
    atime: bool = False,
    one_file_system: bool = False,
    task: Task | None = None,
    grace: float = GRACE,
    watch: Callable[[Driver], None] = _ignore,
    ready: Callable[[Driver], None] = _ignore,
) -> dict[str, Any]:
    """Saves directory trees in the directory `output`: the work of ``ringwalk-cluster snapshot``.

    Returns the verdict: its key ``complete`` is true only if everything was read, and ``missing``
    lists what was not.

    *engine* is ``"pool"`` with up to 4096 *processes*, ``"dask://HOST:PORT"``,
    ``"tls://HOST:PORT"``, ``"mpi"``, ``"MODULE:CALLABLE"``, a client of Dask, or an object with the
    method `submit` of `concurrent.futures.Executor`. Such an object is shut down at the end of the
    run; a client of Dask that was given stays open. Without TLS, everyone who can connect to a Dask
    scheduler can run programs as its user. *budget* is the greatest number of seconds of a task,
    and *entries* the greatest number of entries.

    The directory is for this user alone: others may not read it.

    A script calls this below ``if __name__ == "__main__":``, since each process of the pool imports
    it.

    With *resume* a run that has ended early goes on in the same directory; without one, it begins.
    If it goes on, *roots*, *xattrs*, *atime* and *one_file_system* must be the same.

    In each task, *workers* is the number of threads, *in_flight* the greatest number of requests to
    the server at a time, and *rate* the greatest number of entries a second. Without *workers* and
    *in_flight*, a task has at most 32 requests in flight. *source* is one of `SOURCES`.

    A task is given to another worker if it has no result after three times its budget and *grace*
    seconds. A task that kills three workers, or fails three times, is set aside, and the verdict
    names the directories that it should have read.

    *task* is a function that takes the place of this package's task. *ready* is called with the
    driver when the run begins, and *watch* about once a second.

    Raises `Refused` if the run cannot begin, `OSError` if *output* cannot be written, and other
    errors of this module if the run cannot go on. It can be resumed after those.
    """
    from ringwalk.cluster import processes as pool
    from ringwalk.cluster import run

    pool.end_if_imported()
    if source not in SOURCES:
        raise Refused(f"no task reads by source {source!r}: expected one of {', '.join(SOURCES)}")
    limits = (
        ("processes", processes, _MOST_PROCESSES),
        ("entries", entries, _MOST),
        ("workers", workers, _MOST_WORKERS),
        ("in_flight", in_flight, _MOST),
        ("rate", rate, _MOST),
    )
    for name, value, most in limits:
        if value is not None and not 1 <= value <= most:
            raise Refused(f"{name}={value}: expected a number from 1 to {most}")
    if not 0 < budget < math.inf:
        raise Refused(f"budget={budget}: expected a number of seconds above zero")
    if in_flight is None and workers is None:
        in_flight = IN_FLIGHT
    given = [roots] if isinstance(roots, (str, bytes, os.PathLike)) else roots
    settings = {
        "workers": workers,
        "in_flight": in_flight,
        "entries_per_second": rate,
        "source": source,
        "xattrs": xattrs,
        "atime": atime,
        "one_file_system": one_file_system,
    }
    return run.run(
        given,
        output,
        engine=engine,
        processes=processes,
        budget=budget,
        entries=entries,
        again=resume,
        settings=settings,
        task=task,
        grace=grace,
        watch=watch,
        ready=ready,
    )


def status(directory: _Path) -> dict[str, Any]:
    """Returns the state of a run: the work of ``ringwalk-cluster status``.

    The key ``state`` is ``"complete"``, ``"incomplete"`` or ``"unfinished"``. The keys ``tasks``,
    ``parts``, ``rows`` and ``bytes`` count what was committed, and ``pending`` the directories that
    wait for a task; a share of a huge directory counts as 64.

    Raises `Refused` if *directory* has no snapshot, and `Damaged` if its log or verdict is damaged.
    """
    from ringwalk.cluster.layout import absolute
    from ringwalk.cluster.state import status

    return status(absolute(directory))


def verify(directory: _Path) -> dict[str, Any]:
    """Checks the files of a snapshot: the work of ``ringwalk-cluster verify``.

    The key ``damaged`` of the result has the files that are damaged, and ``removed`` those that
    belonged to no task and were removed. Of a directory that cannot be changed, ``kept`` is false:
    nothing is removed, and the next run does not know what is damaged.

    Raises `Refused` if *directory* has no snapshot or belongs to another user, `Damaged` if its log
    or verdict is damaged, and `OSError` if a file cannot be removed.
    """
    from ringwalk.cluster.checks import verify
    from ringwalk.cluster.layout import absolute

    return verify(absolute(directory))


def compact(directory: _Path, output: _Path, *, memory: int | None = None) -> dict[str, Any]:
    """Makes one sorted snapshot of a run that is over: the work of ``ringwalk-cluster compact``.

    *memory* is the number of bytes that may be used; the rest goes into temporary files. Returns
    what the snapshot says of itself, as `Snapshot.info`. Its key ``verdict`` says whether something
    could not be read. Raises `Refused` if the run is not over, if no task could read anything, or
    if a file is known to be damaged. Raises `OSError` if *output* cannot be written.
    """
    from ringwalk import _ringwalk
    from ringwalk.cluster import layout, verdict
    from ringwalk.cluster.files import Files

    path = layout.absolute(directory)
    files = Files(path)
    if layout.read_description(files) is None:
        raise Refused(f"{path}: not the directory of a snapshot")
    known = verdict.read_verdict(files)
    if known is None:
        raise Refused(f"{path}: the run is not over: end it by 'snapshot --resume'")
    if layout.read_json(files, layout.DAMAGED):
        raise Refused(f"{path}: parts are damaged: mend it by 'snapshot --resume'")
    if not known["parts"] and known["missing"]:
        why = known["missing"][0]
        raise Refused(f"{path}: nothing was read: {why}: go on with 'snapshot --resume'")
    result: dict[str, Any] = _ringwalk.cluster_compact(
        os.fsencode(path), os.fsencode(output), memory=memory
    )
    return result
