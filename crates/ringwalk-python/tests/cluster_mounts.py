"""Mounts for the tests of `ringwalk.cluster`, and workers that lack one."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import pathlib
import subprocess
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor

CLONE_NEWNS = 0x20000


def own_namespace() -> bool:
    """Gives this process mounts of its own. Returns false if it may not have them."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNS):
        return False
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    return True


def lose(point: str) -> None:
    """Prepares a worker on whose machine something is not mounted."""
    assert own_namespace()
    subprocess.run(["umount", "--lazy", point], check=True)


def gain(point: str) -> None:
    """Prepares a worker on whose machine something more is mounted."""
    assert own_namespace()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", point], check=True)


@contextlib.contextmanager
def mounted(source: pathlib.Path, point: pathlib.Path) -> Iterator[None]:
    """Mounts a directory at another place, which is made if it is not there."""
    point.mkdir(exist_ok=True)
    subprocess.run(["mount", "--bind", source, point], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", point], capture_output=True)


class Uneven(Executor):
    """Processes with machines of their own: each is prepared by a function of the mount point."""

    def __init__(self, point: pathlib.Path, *prepares) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._workers = [
            ProcessPoolExecutor(1, mp_context=spawn, initializer=prepare, initargs=(str(point),))
            for prepare in prepares
        ]
        self._max_workers = len(self._workers)
        self._waiting = [0] * len(self._workers)

    def submit(self, fn, /, *args, **kwargs) -> Future:
        number = min(range(len(self._waiting)), key=self._waiting.__getitem__)
        self._waiting[number] += 1
        future = self._workers[number].submit(fn, *args, **kwargs)

        def done(_) -> None:
            self._waiting[number] -= 1

        future.add_done_callback(done)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False) -> None:
        for worker in self._workers:
            worker.shutdown(wait, cancel_futures=cancel_futures)


def whole(point: str) -> None:
    """Prepares a worker like the driver."""
    assert os.path.exists(point)
