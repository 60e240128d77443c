"""Runs of programs with a time limit, after which none of their processes is left.

Each program leads a session, and so a process group, of its own. A program that is ended alone
leaves its children behind: they go on, hold the test's pipes open, and take the processor from
every other test. So the group is ended. The tests of all parts of the repository use this file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence

# A program that hangs must fail its test, not the whole run. The slowest correct run takes some
# seconds in a debug build on two cores; the rest is for a busy machine.
TIMEOUT = 300


def accept_interrupts() -> None:
    """Restores SIGINT. A shell without job control ignores it for background jobs, such as
    `make test &`. Programs inherit that, and tests of Ctrl-C fail.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def started(args: Sequence, **options) -> Iterator[subprocess.Popen]:
    """Gives a running program. At the end of the block the program is ended if it still runs, with
    everything that it started; what it had started before it ended by itself goes on.
    """
    with subprocess.Popen(args, start_new_session=True, **options) as process:
        try:
            yield process
        finally:
            end(process)


def end(process: subprocess.Popen) -> None:
    """Ends a program that leads a process group with all of that group, and waits for it."""
    # A process keeps its number until its parent has waited for it, even if it has ended. `poll`
    # would wait for it.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finished(
    args: Sequence,
    *,
    timeout: float = TIMEOUT,
    input: bytes | str | None = None,
    capture_output: bool = False,
    check: bool = False,
    **options,
) -> subprocess.CompletedProcess:
    """Runs a program to its end, as `subprocess.run` does.

    Raises `subprocess.TimeoutExpired` when the time has passed and its process group is ended.
    """
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with started(args, **options) as process:
        out, err = process.communicate(input, timeout=timeout)
    done = subprocess.CompletedProcess(args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done
