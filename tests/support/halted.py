"""Programs that are stopped in the middle of their work, at a certain system call.

So a test changes what the program reads while it reads it, or ends it there, whatever the speed of
the machine.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from processes import TIMEOUT, started

from support.run import Arg, Result, environment, needs_program


class Halted:
    """A program that strace runs, and that has stopped."""

    def __init__(self, tracer: subprocess.Popen, args: Sequence[Arg], log: int):
        self.tracer = tracer
        self.args = args
        self.pid: int | None = None
        self._lines = open(log, encoding="utf-8", errors="replace")  # noqa: SIM115
        self._stopped = threading.Event()
        # The log is read to its end, or strace would wait for room in the pipe.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._stopped.wait(TIMEOUT)
        if self.pid is None:
            out, err = tracer.communicate(timeout=TIMEOUT)
            raise AssertionError(("the program did not stop", tracer.returncode, out, err))

    def _read(self) -> None:
        with self._lines:
            for line in self._lines:
                if self.pid is None and "stopped by SIGSTOP" in line:
                    self.pid = int(line.split()[0])
                    self._stopped.set()
        self._stopped.set()

    def finish(self, with_signal: signal.Signals | None = None) -> Result:
        """Lets the program go on, after a signal if there is one. Returns its result."""
        if with_signal is not None:
            os.kill(self.pid, with_signal)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)
        out, err = self.tracer.communicate(timeout=TIMEOUT)
        self._reader.join(TIMEOUT)
        status = self.tracer.returncode
        # It has ended the program. strace may fail at a thread that is gone before it has stopped.
        if with_signal == signal.SIGKILL:
            status = -signal.SIGKILL
        return Result(tuple(self.args), status, out, err)


@contextlib.contextmanager
def halted(
    args: Sequence[Arg],
    call: str,
    when: int = 1,
    path: Path | None = None,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> Iterator[Halted]:
    """Starts a program, and stops it after the `when`th `call`; with a `path`, of those about it.

    At the end of the block it is ended.
    """
    needs_program("strace")
    ours, theirs = os.pipe()
    words = ["strace", "-f", "-o", f"/dev/fd/{theirs}", "-e", f"trace={call}"]
    words += ["-e", f"inject={call}:signal=SIGSTOP:when={when}", "--quiet=attach,path-resolution"]
    if path is not None:
        words += ["-P", os.fsencode(path)]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [*words, *map(os.fsencode, args)]
    options = {"env": environment(env), "cwd": cwd, "pass_fds": (theirs,), **streams}
    try:
        with started(command, **options) as tracer:
            os.close(theirs)
            yield Halted(tracer, args, ours)
    except FileNotFoundError:
        pytest.skip("strace cannot trace here")
