"""The engine `pool`: processes of this machine.

A process pool of `concurrent.futures` breaks as a whole when one of its processes dies. So each
process is a pool of its own. Then a death costs one task, and it is known which one. Each process
has one task that runs and one that waits.

The processes die with the thread that has started them: the driver's. So `submit` must be called
by that thread only.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from typing import Any

from ringwalk.cluster.engines import Engine
from ringwalk.cluster.problems import ClusterError, EngineLost

# The exit status of a process that ran a program which calls `snapshot` when it is imported.
_UNGUARDED = 79
# The option of prctl(2) that sets the signal which a process gets when its parent dies.
_PR_SET_PDEATHSIG = 1


def _prepare(parent: int) -> None:
    """Prepares a worker: it dies with the driver, and leaves Ctrl-C to the driver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    # The driver may have died before the call.
    if os.getppid() != parent:
        os._exit(1)


def end_if_imported() -> None:
    """Ends a worker that has got here by importing the program: it would make a pool of its own."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(_UNGUARDED)


class _Slot:
    """A process, and the tasks that it has got, in their order."""

    def __init__(self) -> None:
        self.tasks: deque[Future[Any]] = deque()
        # A fork would copy the driver's threads' locks; the others start a fresh interpreter.
        context = multiprocessing.get_context("spawn")
        self.executor = ProcessPoolExecutor(
            1, mp_context=context, initializer=_prepare, initargs=(os.getpid(),)
        )

    def kill(self) -> None:
        """Ends the process, whatever it does."""
        # The executor offers this only from Python 3.14 on.
        for process in list((self.executor._processes or {}).values()):
            process.kill()

    def has_imported(self) -> bool:
        """Returns true if the process has ended because the program calls `snapshot` in it."""
        processes = list((self.executor._processes or {}).values())
        for process in processes:
            # It is dead, or will be at once.
            process.join(1)
        return any(process.exitcode == _UNGUARDED for process in processes)


class Processes(Engine):
    """A number of processes."""

    depth = 2
    is_precise = True

    def __init__(self, processes: int) -> None:
        self._count = processes
        self._slots = [_Slot() for _ in range(processes)]
        self._slot_of: dict[Future[Any], _Slot] = {}
        # Set if a process was left that may be stuck in the kernel for ever.
        self.is_stuck = False

    def workers(self) -> int:
        return self._count

    def submit(self, key: str, function: Callable[..., Any], *given: Any) -> Future[Any]:
        slot = min(self._slots, key=lambda slot: len(slot.tasks))
        try:
            try:
                future = slot.executor.submit(function, *given)
            except BrokenExecutor:
                # It has died while it had nothing to do, or its tasks have not been asked for yet.
                slot = self._renew(slot)
                future = slot.executor.submit(function, *given)
        except RuntimeError as error:
            # The executor starts a thread and a process with its first task.
            raise EngineLost(f"a process of the pool cannot be started: {error}") from error
        slot.tasks.append(future)
        self._slot_of[future] = slot
        return future

    def is_blamed(self, future: Future[Any]) -> bool:
        # The tasks of a dead process stay in its list: only the first of them was running.
        slot = self._slot_of.pop(future)
        return slot.tasks[0] is future

    def outcomes(self, futures: list[Future[Any]]) -> list[Any]:
        outcomes = super().outcomes(futures)
        for future, outcome in zip(futures, outcomes):
            slot = self._slot_of[future]
            if isinstance(outcome, BrokenExecutor):
                self._renew(slot)
            else:
                slot.tasks.remove(future)
                del self._slot_of[future]
        return outcomes

    def give_up(self, future: Future[Any]) -> None:
        slot = self._slot_of.get(future)
        if slot is None or slot not in self._slots:
            return
        slot.kill()
        self._renew(slot)
        self.is_stuck = True

    def close(self, hurry: bool) -> None:
        for slot in self._slots:
            if hurry:
                slot.kill()
            slot.executor.shutdown(wait=not hurry and not self.is_stuck, cancel_futures=True)

    def _renew(self, slot: _Slot) -> _Slot:
        """Puts a new process in the place of a slot. Its tasks fail with `BrokenExecutor`."""
        if slot not in self._slots:
            return slot
        if slot.has_imported():
            what = "call it below \"if __name__ == '__main__':\""
            raise ClusterError(
                f"each process of the pool runs the program that calls snapshot: {what}"
            )
        slot.executor.shutdown(wait=False)
        new = _Slot()
        self._slots[self._slots.index(slot)] = new
        return new
