"""Interleaved runs of commands.

All commands run once in every round, in an order that is shuffled anew each round: a
machine that slows down for a while then slows all of them, and none is always the one
that runs after the most demanding neighbour. The median over the rounds is reported.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


class CommandFailed(Exception):
    """A command that is measured did not do what it was started for."""


@dataclass(frozen=True)
class Sample:
    """What one run took: seconds of time, KiB of peak resident memory."""

    wall: float
    user: float
    system: float
    rss: int


@dataclass(frozen=True)
class Command:
    """A program with its arguments, under the key of its row.

    `statuses` are the exit statuses that count as a success. With `piped` the output goes
    through a pipe to cat, which throws it away; what cat takes is not counted, but it
    does take part of a CPU.
    """

    key: str
    argv: list[str]
    statuses: tuple[int, ...] = (0,)
    locale: str = "C"
    piped: bool = False


@contextlib.contextmanager
def _pipe_to_cat() -> Iterator[int]:
    """Provides the writing end of a pipe into `cat >/dev/null`."""
    read_end, write_end = os.pipe()
    reader = None
    try:
        # Descriptors that Python opens are closed on exec, so cat has no writing end.
        reader = subprocess.Popen(["cat"], stdin=read_end, stdout=subprocess.DEVNULL)
        yield write_end
    finally:
        os.close(read_end)
        os.close(write_end)
        if reader:
            reader.wait()


def run_once(timed: Path, command: Command, output: int | None = None) -> Sample:
    """Runs a command through `timed`.

    Its output goes to descriptor `output`; without one into a pipe if it is to be
    `piped`, or to /dev/null.
    """
    if command.piped and output is None:
        with _pipe_to_cat() as pipe:
            return run_once(timed, command, pipe)
    read_end, write_end = os.pipe()
    try:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
            if output is None
            else (os.POSIX_SPAWN_DUP2, output, 1),
            (os.POSIX_SPAWN_DUP2, write_end, 3),
        ]
        # C locale unless the row is about another: what the peers print, and the order
        # they print it in, is then the same for everybody, and none pays for collation.
        environment = {**os.environ, "LC_ALL": command.locale}
        child = os.posix_spawn(
            timed, [str(timed), *command.argv], environment, file_actions=actions
        )
    finally:
        os.close(write_end)
    try:
        with os.fdopen(read_end) as figures:
            line = figures.read()
    finally:
        _, status = os.waitpid(child, 0)
    if status or not line:
        raise CommandFailed(f"{command.key}: could not be run: {' '.join(command.argv)}")
    wall, user, system, rss, status = map(int, line.split())
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        raise CommandFailed(f"{command.key}: killed by {name}: {' '.join(command.argv)}")
    if os.WEXITSTATUS(status) not in command.statuses:
        raise CommandFailed(
            f"{command.key}: exit status {os.WEXITSTATUS(status)}: {' '.join(command.argv)}"
        )
    return Sample(wall / 1e9, user / 1e6, system / 1e6, rss)


def captured(timed: Path, command: Command) -> bytes:
    """Returns the standard output of a command, from one run that is not measured."""
    with tempfile.TemporaryFile() as file:
        run_once(timed, command, file.fileno())
        file.seek(0)
        return file.read()


def run_told(timed: Path, command: Command) -> Sample:
    """As `run_once`, with the times of its work, which the program prints as one line of JSON.

    They do not include its work before and after (an interpreter's start, imports). The
    peak memory is that of the whole process.
    """
    with tempfile.TemporaryFile() as file:
        whole = run_once(timed, command, file.fileno())
        file.seek(0)
        output = file.read()
    try:
        times = json.loads(output)
        return Sample(times["wall"], times["user"], times["system"], whole.rss)
    except (ValueError, KeyError, TypeError):
        raise CommandFailed(f"{command.key}: reported no times: {output[:80]!r}") from None


def interleaved(
    timed: Path,
    commands: list[Command],
    runs: int,
    *,
    run: Callable[[Path, Command], Sample] = run_once,
    before_each: Callable[[], None] | None = None,
    warm_up: int = 1,
    seed: int = 1,
) -> dict[str, list[Sample]]:
    """Runs all commands `runs` times, after `warm_up` rounds that are thrown away.

    `run` measures one run of a command. `before_each` is called before every run (to empty
    caches, say), outside its time.
    """
    order = random.Random(seed)
    samples: dict[str, list[Sample]] = {command.key: [] for command in commands}
    for round_ in range(-warm_up, runs):
        shuffled = list(commands)
        order.shuffle(shuffled)
        for command in shuffled:
            if before_each:
                before_each()
            sample = run(timed, command)
            if round_ >= 0:
                samples[command.key].append(sample)
        _progress(round_ + warm_up + 1, runs + warm_up)
    return samples


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r  round {done} of {total}", end=end, file=sys.stderr, flush=True)


def summary(samples: list[Sample]) -> dict[str, float]:
    """Returns medians, and the spread of the wall time: seconds and KiB."""
    walls = sorted(sample.wall for sample in samples)
    quartile = len(walls) // 4
    return {
        "runs": len(samples),
        "wall": statistics.median(walls),
        "wall_min": walls[0],
        "wall_lower_quartile": walls[quartile],
        "wall_upper_quartile": walls[-1 - quartile],
        "user": statistics.median(sample.user for sample in samples),
        "system": statistics.median(sample.system for sample in samples),
        # Not the sum of the two medians, because ticks split the time of a run at random.
        "cpu": statistics.median(sample.user + sample.system for sample in samples),
        # The peak is a promise about every run, so the largest one is what counts.
        "rss_kib": max(sample.rss for sample in samples),
    }
