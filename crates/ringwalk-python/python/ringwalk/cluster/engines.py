"""Engines: what runs the tasks. None of them is ours.

| engine | runs tasks in |
|---|---|
| `pool` | processes of this machine, by `concurrent.futures` (`processes.py`) |
| `dask://HOST:PORT` | the workers of a Dask scheduler (`dask_engine.py`) |
| `mpi` | the ranks of an MPI job, by `mpi4py.futures` (`mpi_engine.py`) |
| `MODULE:CALLABLE` | whatever the callable returns, by its method `submit` |
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from typing import Any

from ringwalk.cluster.problems import ClusterError, EngineLost, Refused, Stopped

# How to get what an engine needs.
INSTALL = "pip install 'ringwalk[cluster]'"


class Engine:
    """An engine around an object with `submit`: the general case.

    `make` returns the object. It is called again when the object says that it is broken.
    """

    # Tasks for each worker, running or waiting.
    depth = 3
    # True if the engine knows which task a dead worker has run.
    is_precise = False

    def __init__(self, make: Callable[[], Any], workers: int | None = None) -> None:
        self._make = make
        try:
            self._executor = make()
        except ClusterError:
            raise
        except Exception as error:
            raise Refused(f"the engine cannot be made: {error!r}") from error
        if not callable(getattr(self._executor, "submit", None)):
            raise Refused(f"an engine needs a method 'submit': {self._executor!r} has none")
        self._workers = workers

    def workers(self) -> int:
        """Returns the number of tasks that run at the same time."""
        if self._workers is None:
            known = getattr(self._executor, "_max_workers", None)
            self._workers = known if isinstance(known, int) else os.cpu_count() or 1
        return self._workers

    def submit(self, key: str, function: Callable[..., Any], *given: Any) -> Any:
        """Runs a function on a worker. Returns a future with `add_done_callback`."""
        try:
            return self._executor.submit(function, *given)
        except BrokenExecutor:
            pass
        try:
            self._executor = self._make()
            return self._executor.submit(function, *given)
        except ClusterError:
            raise
        except Exception as error:
            raise EngineLost(f"the engine cannot be made again: {error!r}") from error

    def outcomes(self, futures: list[Any]) -> list[Any]:
        """Returns the result or the exception of each future; all of them are done."""
        return [_outcome(future) for future in futures]

    def deaths(self, error: BaseException) -> int:
        """Returns how many workers have died according to an exception; 0 for other failures."""
        return int(isinstance(error, BrokenExecutor))

    def is_blamed(self, future: Any) -> bool:
        """Returns true if the worker that has died ran this task; asked once for each future."""
        return True

    def give_up(self, future: Any) -> None:
        """Ends the task of a future, if the engine can end it. Its worker hangs."""
        future.cancel()

    def leave_out(self, worker: str | None) -> bool:
        """Gives no more tasks to a worker. Returns false if the engine cannot choose, or has no
        other worker.
        """
        return False

    def check(self) -> None:
        """Raises `EngineLost` if the engine is gone. Called about once a second."""

    def close(self, hurry: bool) -> None:
        """Ends the engine. In a hurry, tasks that still run are ended, or left alone."""
        shutdown = getattr(self._executor, "shutdown", None)
        if shutdown is not None:
            shutdown(wait=not hurry, cancel_futures=True)


def _outcome(future: Any) -> Any:
    try:
        error = future.exception()
    except BaseException as raised:  # A future that was cancelled raises.
        # `Stopped` comes from a signal that has interrupted the wait.
        if isinstance(raised, (KeyboardInterrupt, SystemExit, Stopped)):
            raise
        return raised
    return future.result() if error is None else error


def missing(name: str, error: ImportError) -> Refused:
    """Returns the error for an engine whose library is not installed."""
    return Refused(f"the engine {name!r} needs {error.name}: {INSTALL}")


def make_engine(engine: Any, processes: int | None = None) -> Engine:
    """Returns the engine with this name, or the engine around an object with `submit`.

    Raises `Refused` if it is not known or cannot be had, with the way to get it.
    """
    if processes is not None and engine != "pool":
        raise Refused("a number of processes is for the engine 'pool' only")
    if isinstance(engine, Engine):
        return engine
    if not isinstance(engine, str):
        return _around(engine)
    if engine == "pool":
        from ringwalk.cluster.processes import Processes

        return Processes(processes or os.cpu_count() or 1)
    if engine.startswith("dask://"):
        from ringwalk.cluster.dask_engine import connect

        return connect(engine)
    if engine == "mpi":
        from ringwalk.cluster.mpi_engine import MpiEngine

        return MpiEngine()
    if ":" in engine and "//" not in engine:
        return Engine(_named(engine))
    expected = "'pool', 'dask://HOST:PORT', 'mpi' or MODULE:CALLABLE"
    raise Refused(f"unknown engine {engine!r}: expected {expected}")


def _around(executor: Any) -> Engine:
    """Returns the engine around an object, which cannot be made anew when it is broken."""
    module = type(executor).__module__
    if module.startswith("distributed."):
        from ringwalk.cluster.dask_engine import DaskEngine

        return DaskEngine(executor, owned=False)
    given = [executor]

    def make() -> Any:
        if not given:
            raise EngineLost("the engine is broken: go on with --resume and a new one")
        return given.pop()

    return Engine(make)


def _named(name: str) -> Callable[[], Any]:
    module, _, attribute = name.partition(":")
    try:
        found = importlib.import_module(module)
    except Exception as error:  # The module may raise anything.
        raise Refused(f"unknown engine {name!r}: cannot import {module!r}: {error}") from error
    make: Callable[[], Any] | None = getattr(found, attribute, None)
    if not callable(make):
        raise Refused(f"unknown engine {name!r}: {module!r} has no callable {attribute!r}")
    return make
