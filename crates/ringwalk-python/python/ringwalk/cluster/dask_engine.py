"""The engines `dask://HOST:PORT` and `tls://HOST:PORT`: the workers of a Dask scheduler.

Every thread of a Dask worker runs one task. A task has threads of its own, so a worker should have
one thread for tasks (`dask worker --nthreads 1`).
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable
from typing import Any

from ringwalk.cluster.engines import Engine, missing
from ringwalk.cluster.problems import EngineLost, Refused

# How long to wait for the scheduler and the first worker, in seconds.
_TIMEOUT = 60
# Dask itself gives a task to other workers when one dies, until more have died than its setting
# `allowed-failures` says (3). It also suspects tasks that only waited on those workers. So this
# counts as two deaths: the driver gives the task one more chance, with no other one beside it.
_DEATHS = 2


def connect(address: str) -> DaskEngine:
    """Returns the engine for the address of a scheduler.

    Raises `Refused` if Dask is not installed, or if there is no scheduler or no worker.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise missing(address, "dask", error) from error
    try:
        # With TLS, the keys and certificates come from Dask's configuration.
        client = Client(address.replace("dask://", "tcp://", 1), timeout=_TIMEOUT)
        try:
            client.wait_for_workers(1, timeout=_TIMEOUT)
        except BaseException:
            client.close()
            raise
    except (OSError, ValueError, TimeoutError) as error:
        raise Refused(f"{address}: no Dask scheduler with workers: {error}") from error
    except TypeError as error:
        # Without a certificate.
        raise Refused(f"{address}: Dask's configuration of TLS does not do: {error}") from error
    return DaskEngine(client, owned=True)


def engine_of(found: Any, owned: bool) -> DaskEngine | None:
    """Returns the engine for a client of Dask, or for the executor that it gives; `None` for
    anything else. An owned client is closed at the end.
    """
    from distributed import Client
    from distributed.cfexecutor import ClientExecutor

    if isinstance(found, ClientExecutor):
        if found._kwargs:
            options = ", ".join(found._kwargs)
            raise Refused(f"an executor of Dask with options ({options}): give its client instead")
        found = found._client
    if not isinstance(found, Client):
        return None
    if found.asynchronous:
        raise Refused("the client of Dask is asynchronous: make one with asynchronous=False")
    return DaskEngine(found, owned)


async def _fetch(remote: Any) -> Any:
    """Returns the result of a future of Dask."""
    return await remote


class DaskEngine(Engine):
    """A client of a Dask scheduler."""

    def __init__(self, client: Any, owned: bool) -> None:
        self._client = client
        self._owned = owned
        # Dask gives two tasks with the same key one result. Other runs may have the same numbers.
        self._run = uuid.uuid4().hex[:8]
        # The futures of Dask, by those that the driver has.
        self._remote: dict[Any, Any] = {}
        self._count = 1
        # Workers that hang, by the future that they do not end. They get nothing more.
        self._hanging: dict[Any, str] = {}
        # Workers that do not have the tree.
        self._unfit: set[str] = set()
        self._healthy: list[str] | None = None
        self.check()

    def workers(self) -> int:
        return self._count

    def submit(self, key: str, function: Callable[..., Any], *given: Any) -> Any:
        key = f"{key}-{self._run}"
        try:
            remote = self._client.submit(
                function, *given, key=key, pure=False, retries=0, workers=self._healthy
            )
        except Exception as error:
            raise self._lost() from error
        # The result is fetched in the client's thread: a worker that hangs keeps its results, and
        # must not keep the driver.
        future = asyncio.run_coroutine_threadsafe(_fetch(remote), self._client.loop.asyncio_loop)
        self._remote[future] = remote
        return future

    def outcomes(self, futures: list[Any]) -> list[Any]:
        outcomes = super().outcomes(futures)
        for future, outcome in zip(futures, outcomes):
            # When the scheduler goes away, all futures are cancelled.
            if isinstance(outcome, BaseException) and self._client.status != "running":
                raise self._lost() from outcome
            del self._remote[future]
            # A worker that had hung goes on.
            self._hanging.pop(future, None)
        return outcomes

    def deaths(self, error: BaseException) -> int:
        from distributed import KilledWorker

        return _DEATHS if isinstance(error, KilledWorker) else 0

    def give_up(self, future: Any) -> None:
        # The future is not cancelled: its worker would look free, and get the next task.
        try:
            processing = self._client.processing()
        except Exception as error:
            raise self._lost() from error
        for worker, tasks in processing.items():
            if self._remote[future].key in tasks:
                self._hanging[future] = worker
        self.check()

    def leave_out(self, worker: str | None) -> bool:
        if worker is not None:
            self._unfit.add(worker)
            self.check()
        return self._healthy is not None

    def check(self) -> None:
        if self._client.status != "running":
            raise self._lost()
        try:
            threads = self._client.nthreads()
        except Exception as error:
            raise self._lost() from error
        others = self._unfit.union(self._hanging.values())
        healthy = {worker: count for worker, count in threads.items() if worker not in others}
        self._healthy = list(healthy) if others and healthy else None
        self._count = max(1, sum((healthy or threads).values()))

    def _lost(self) -> EngineLost:
        return EngineLost("the Dask scheduler is gone: start one, and go on with --resume")

    def close(self, hurry: bool) -> None:
        if self._remote and self._client.status == "running":
            # Without its scheduler nothing is left to cancel.
            with contextlib.suppress(Exception):
                self._client.cancel(list(self._remote.values()))
        if self._owned:
            self._client.close(timeout=5)
