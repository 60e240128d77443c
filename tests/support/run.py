"""Runs of programs in a clean environment, with a time limit and results as bytes."""

from __future__ import annotations

import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import TIMEOUT, finished

# `nobody` and `nogroup` of Debian. The kernel uses only the number.
NOBODY = 65534

# The user of programs that must not read everything: nobody for root, else the user of the tests.
USER = NOBODY if os.geteuid() == 0 else None

# Variables that change what du and find print. A test that wants one sets it itself.
CLEARED = (
    "BFS_COLORS",
    "BLOCKSIZE",
    "BLOCK_SIZE",
    "DU_BLOCK_SIZE",
    "LANG",
    "LANGUAGE",
    "LS_COLORS",
    "NO_COLOR",
    "POSIXLY_CORRECT",
    "RINGWALK_EXPLAIN",
    "RINGWALK_PREFETCH",
    "RINGWALK_PROGRESS",
    "RINGWALK_SOURCE",
    "RINGWALK_SYNC",
    "RINGWALK_WORKERS",
    "TIME_STYLE",
)

Arg = str | bytes | os.PathLike


@dataclass(frozen=True)
class Result:
    """Arguments, status and output of a finished program."""

    args: tuple
    status: int
    out: bytes
    err: bytes

    def lines(self, separator: bytes = b"\n") -> list[bytes]:
        """Returns the records of standard output, in order."""
        return self.out.split(separator)[:-1] if self.out else []

    def ok(self) -> Result:
        """Returns this result, after a check that the program succeeded without a message."""
        assert self.status == 0 and self.err == b"", self
        return self

    def sane(self) -> Result:
        """Returns this result, after a check that the program neither crashed nor panicked."""
        assert self.status in (0, 1), self
        assert b"panicked" not in self.err, self
        return self


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """Returns the environment of a run: C locale, UTC, no variables of du and find, and `extra`."""
    env = {key: value for key, value in os.environ.items() if key not in CLEARED}
    env.update(LC_ALL="C", TZ="UTC0")
    env.update(extra or {})
    return env


def needs_program(name: str) -> None:
    """Skips the test if this program is not installed."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")


def run(
    args: Sequence[Arg],
    *,
    cwd: Path | str | None = None,
    env: dict[str, str] | None = None,
    stdin: bytes = b"",
    uid: int | None = None,
    groups: Sequence[int] = (),
    nofile: int | None = None,
    umask: int = -1,
    cpu: int | None = None,
    timeout: float = TIMEOUT,
) -> Result:
    """Runs a program to its end.

    `uid` drops to that user, to the group of the same number and to `groups`; `nofile` sets both
    limits of RLIMIT_NOFILE, so that the program cannot raise it again; `umask` is the file mode
    creation mask, that of the tests if it is -1. `cpu` is how many seconds of the processor it may
    take, which other programs that run beside it do not change.
    """

    def prepare() -> None:
        if nofile is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))
        if cpu is not None:
            limit_cpu(cpu)()
        if uid is not None:
            os.setgroups(groups)
            os.setgid(uid)
            os.setuid(uid)

    limited = any(limit is not None for limit in (nofile, uid, cpu))
    done = finished(
        [os.fsencode(arg) for arg in args],
        cwd=cwd,
        env=environment(env),
        input=stdin,
        capture_output=True,
        timeout=timeout,
        umask=umask,
        preexec_fn=prepare if limited else None,
    )
    return Result(tuple(args), done.returncode, done.stdout, done.stderr)


class Program:
    """A program to run, with arguments that always come first and variables that are always set."""

    def __init__(self, *first: Arg, env: dict[str, str] | None = None):
        self.first = first
        self.env = env or {}

    def __call__(self, *args: Arg | int, env: dict[str, str] | None = None, **options) -> Result:
        plain = [str(arg) if isinstance(arg, int) else arg for arg in args]
        return run([*self.first, *plain], env={**self.env, **(env or {})}, **options)

    def with_args(self, *args: Arg) -> Program:
        """Returns the same program with more arguments in front."""
        return Program(*self.first, *args, env=self.env)


def with_peak(args: Sequence[Arg]) -> tuple[list[bytes], int]:
    """Returns the lines that a program prints, and its largest memory, in bytes."""
    # A process of its own starts the program: a child's peak begins with its parent's size.
    script = (
        "import os, sys; pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); "
        "_, status, usage = os.wait4(pid, 0); print(status, usage.ru_maxrss)"
    )
    *lines, last = run([sys.executable, "-c", script, *args]).ok().lines()
    status, peak = map(int, last.split())
    assert status == 0
    return lines, peak * 1024


def limit_cpu(seconds: int) -> Callable[[], None]:
    """Returns a `preexec_fn`: the kernel kills the program after so much processor time."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def rounds(seconds: float, least: int = 1) -> Iterator[int]:
    """Yields 0, 1, 2 ... until the seconds have passed and at least `least` numbers were given."""
    end, number = time.monotonic() + seconds, 0
    while number < least or time.monotonic() < end:
        yield number
        number += 1
