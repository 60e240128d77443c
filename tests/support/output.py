"""Programs whose standard output is full, closed, or read only in part."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from processes import TIMEOUT, finished, started

from support.run import Arg, Result, environment, limit_cpu


def run_to(
    args: Sequence[Arg], stdout: IO | int | None, before: Callable[[], object] | None = None
) -> Result:
    """Runs a program to its end with this standard output; returns its status and its messages.

    `before` is called in the new process before the program starts.
    """
    done = finished(
        args,
        stdout=stdout,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment(),
        preexec_fn=before,
    )
    return Result(tuple(args), done.returncode, b"", done.stderr)


def run_without_output(args: Sequence[Arg]) -> Result:
    """Runs a program to its end with standard output closed."""
    return run_to(args, None, lambda: os.close(1))


@contextlib.contextmanager
def pipe_without_reader() -> Iterator[int]:
    """Gives the writing end of a pipe whose reading end is closed."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


def read_one_byte(
    args: Sequence[Arg], *, cpu: int, env: dict[str, str] | None = None
) -> tuple[int, bytes]:
    """Reads one byte of a program's output and closes the pipe.

    Returns the program's status and its messages. The program may use `cpu` seconds of the
    processor.
    """
    with started(
        args,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(env),
        preexec_fn=limit_cpu(cpu),
    ) as process:
        assert process.stdout.read(1)
        process.stdout.close()
        status = process.wait(timeout=TIMEOUT)
        return status, process.stderr.read()
