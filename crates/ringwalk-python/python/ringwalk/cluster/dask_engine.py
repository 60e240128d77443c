"""The engine `dask://HOST:PORT`: the workers of a Dask scheduler.

Every thread of a Dask worker runs one task. A task has threads of its own, so a worker should have
one thread for tasks (`dask worker --nthreads 1`).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from ringwalk.cluster.engines import Engine, missing
from ringwalk.cluster.problems import EngineLost, Refused

# How long to wait for the scheduler and the first worker, in seconds.
_TIMEOUT = 60
# Dask itself gives a task to other workers when one dies, until so many have died (its setting
# `allowed-failures`). The driver gives such a task one more chance, with no other one beside it.
_DEATHS = 2


def connect(address: str) -> DaskEngine:
    """Returns the engine for the address of a scheduler.

    Raises `Refused` if Dask is not installed, or if there is no scheduler or no worker.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise missing(address, error) from error
    try:
        client = Client("tcp://" + address.removeprefix("dask://"), timeout=_TIMEOUT)
        try:
            client.wait_for_workers(1, timeout=_TIMEOUT)
        except BaseException:
            client.close()
            raise
    except (OSError, ValueError, TimeoutError) as error:
        raise Refused(f"{address}: no Dask scheduler with workers: {error}") from error
    return DaskEngine(client, owned=True)


class DaskEngine(Engine):
    """A client of a Dask scheduler."""

    name = "dask"

    def __init__(self, client: Any, owned: bool) -> None:
        self._client = client
        self._owned = owned
        # Dask gives two tasks with the same key one result. Other runs may have the same numbers.
        self._run = uuid.uuid4().hex[:8]
        self._pending: set[Any] = set()
        self._count = 1
        self.check()

    def workers(self) -> int:
        return self._count

    def submit(self, key: str, function: Callable[..., Any], *given: Any) -> Any:
        key = f"{key}-{self._run}"
        try:
            future = self._client.submit(function, *given, key=key, pure=False, retries=0)
        except Exception as error:
            raise self._lost() from error
        self._pending.add(future)
        return future

    def outcomes(self, futures: list[Any]) -> list[Any]:
        if not futures:
            return []
        self._pending.difference_update(futures)
        good = [future for future in futures if future.status == "finished"]
        results: dict[str, Any] = {}
        try:
            # One request for all of them.
            values = self._client.gather(good)
            results = {future.key: value for future, value in zip(good, values)}
        except Exception:
            # A result was lost with its worker. Those that are there are fetched one by one.
            if self._client.status != "running":
                raise self._lost() from None
        return [
            results[future.key] if future.key in results else self._outcome(future)
            for future in futures
        ]

    def _outcome(self, future: Any) -> Any:
        try:
            return future.result(timeout=_TIMEOUT)
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            # When the scheduler goes away, all futures are cancelled.
            if self._client.status != "running":
                raise self._lost() from error
            return error

    def deaths(self, error: BaseException) -> int:
        from distributed import KilledWorker

        return _DEATHS if isinstance(error, KilledWorker) else 0

    def check(self) -> None:
        if self._client.status != "running":
            raise self._lost()
        try:
            self._count = max(1, sum(self._client.nthreads().values()))
        except Exception as error:
            raise self._lost() from error

    def _lost(self) -> EngineLost:
        return EngineLost("the Dask scheduler is gone: start one, and go on with --resume")

    def close(self, hurry: bool) -> None:
        if hurry and self._pending and self._client.status == "running":
            self._client.cancel(list(self._pending))
        if self._owned:
            self._client.close(timeout=5)
