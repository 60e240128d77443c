"""Engines: what runs the tasks. None of them is ours.

| engine | runs tasks in |
|---|---|
| `pool` | processes of this machine, by `concurrent.futures` (`processes.py`) |
| `dask://HOST:PORT`, `tls://HOST:PORT` | the workers of a Dask scheduler (`dask_engine.py`) |
| `mpi` | the ranks of an MPI job, by `mpi4py.futures` (`mpi_engine.py`) |
| `MODULE:CALLABLE` | whatever the callable returns: a client of Dask, or an object with `submit` |
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from typing import Any

from ringwalk.cluster.problems import ClusterError, EngineLost, Refused, Stopped


class Engine:
    """An engine around an object with `submit`: the general case.

    `make` returns the object. It is called again when the object says that it is broken. `made` is
    what it has returned before, if it was called before.
    """

    # Tasks for each worker, running or waiting.
    depth = 3
    # True if the engine knows which task a dead worker has run.
    is_precise = False

    def __init__(
        self, make: Callable[[], Any], workers: int | None = None, made: Any = None
    ) -> None:
        self._make = make
        self._executor = called(make) if made is None else made
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
            return _future(self._executor.submit(function, *given))
        except BrokenExecutor:
            pass
        try:
            self._executor = self._make()
            return _future(self._executor.submit(function, *given))
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
        if shutdown is None:
            return
        given = {"wait": not hurry, "cancel_futures": True}
        # Not all executors have both.
        known = inspect.signature(shutdown).parameters.values()
        if not any(each.kind is each.VAR_KEYWORD for each in known):
            names = {each.name for each in known}
            given = {name: value for name, value in given.items() if name in names}
        shutdown(**given)


def called(make: Callable[[], Any]) -> Any:
    """Returns what a callable makes. Raises `Refused` if it fails."""
    try:
        return make()
    except ClusterError:
        raise
    except Exception as error:
        raise Refused(f"the engine cannot be made: {error!r}") from error


def _future(found: Any) -> Any:
    """Returns what an executor's `submit` has returned, if it is a future."""
    if not callable(getattr(found, "add_done_callback", None)):
        what = f"expected a future as in concurrent.futures, not {found!r}"
        raise ClusterError(f"the method 'submit' of the engine returns no future: {what}")
    return found


def _outcome(future: Any) -> Any:
    try:
        error = future.exception()
    except BaseException as raised:  # A future that was cancelled raises.
        # `Stopped` comes from a signal that has interrupted the wait.
        if isinstance(raised, (KeyboardInterrupt, SystemExit, Stopped)):
            raise
        return raised
    return future.result() if error is None else error


def missing(name: str, extra: str, error: ImportError) -> Refused:
    """Returns the error for an engine whose library is not installed: this extra has it."""
    return Refused(f"the engine {name!r} needs {error.name}: pip install 'ringwalk[{extra}]'")


def make_engine(engine: Any, processes: int | None = None) -> Engine:
    """Returns the engine with this name, or the engine around an object with `submit`.

    Raises `Refused` if it is not known or cannot be had, with the way to get it.
    """
    if processes is not None and engine != "pool":
        raise Refused("a number of processes is for the engine 'pool' only")
    if isinstance(engine, Engine):
        return engine
    if not isinstance(engine, str):
        return _around(_once(engine), owned=False)
    if engine == "pool":
        from ringwalk.cluster.processes import Processes

        return Processes(processes or os.cpu_count() or 1)
    if engine.startswith(("dask://", "tls://")):
        from ringwalk.cluster.dask_engine import connect

        return connect(engine)
    if engine == "mpi":
        from ringwalk.cluster.mpi_engine import MpiEngine

        return MpiEngine()
    if ":" in engine and "//" not in engine:
        return _around(_named(engine), owned=True)
    expected = "'pool', 'dask://HOST:PORT', 'tls://HOST:PORT', 'mpi' or MODULE:CALLABLE"
    raise Refused(f"unknown engine {engine!r}: expected {expected}")


def _around(make: Callable[[], Any], owned: bool) -> Engine:
    """Returns the engine around what a callable returns. `owned` is true if it made that anew."""
    made = called(make)
    # The objects of Dask have `submit` too, but not as `concurrent.futures` has it.
    if any(each.__module__.startswith("distributed.") for each in type(made).__mro__):
        from ringwalk.cluster.dask_engine import engine_of

        if (engine := engine_of(made, owned)) is not None:
            return engine
    return Engine(make, made=made)


def _once(executor: Any) -> Callable[[], Any]:
    """Returns a callable for an object, which cannot be made anew when it is broken."""
    given = [executor]

    def make() -> Any:
        if not given:
            raise EngineLost("the engine is broken: go on with --resume and a new one")
        return given.pop()

    return make


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
