"""Progress of a run, on a terminal and as JSON lines."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import IO, Any

from ringwalk.cluster.driver import Driver


def numbers(driver: Driver) -> dict[str, Any]:
    """Returns the numbers of a run that is going on."""
    totals = driver.history.totals
    elapsed = driver.clock() - driver.start
    workers, running = driver.engine.workers(), driver.running
    return {
        "entries": totals.counts["entries"],
        "directories": totals.counts["directories"],
        "tasks": totals.tasks,
        "running": min(workers, running),
        "waiting": max(0, running - workers),
        "workers": workers,
        "pending": driver.pool.lines,
        "errors": totals.counts["errors"],
        "set_aside": len(driver.aside),
        "elapsed": round(elapsed, 1),
    }


def say(line: str) -> None:
    """Prints a line on standard output. An error names it."""
    try:
        print(line, flush=True)
    except OSError as error:
        give_up(sys.stdout)
        raise OSError(error.errno, error.strerror, "standard output") from error


def give_up(file: IO[str]) -> None:
    """Sends all that a standard file holds or gets to /dev/null.

    Otherwise the interpreter would try to write it again at the end, and change the exit status.
    """
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), file.fileno())


class Progress:
    """Shows how a run goes on, at most once in a while."""

    def __init__(self, terminal: IO[str] | None, lines: bool) -> None:
        self._terminal = terminal
        self._lines = lines
        # Why lines cannot be written any more.
        self.problem: OSError | None = None
        self._before: tuple[float, int, int] | None = None

    def __call__(self, driver: Driver) -> None:
        """Shows the state of a driver."""
        now = numbers(driver)
        at = time.monotonic()
        rate = rest = None
        if self._before is not None and at > self._before[0]:
            seconds = at - self._before[0]
            rate = (now["entries"] - self._before[1]) / seconds
            read = (now["directories"] - self._before[2]) / seconds
            # Directories that nobody has found yet are not counted: it may take longer.
            rest = now["pending"] / read if read > 0 else None
        self._before = at, now["entries"], now["directories"]
        now["entries_per_second"] = None if rate is None else round(rate)
        now["rest"] = None if rest is None else round(rest, 1)
        if self._lines:
            try:
                say(json.dumps({"event": "progress", **now}))
            except OSError as error:
                # The reader has gone, or its disk is full: the run goes on, and says so at the end.
                self.problem, self._lines = error, False
        self._show("\r\x1b[K" + _shown(now))

    def end(self) -> None:
        """Leaves the line of the terminal."""
        if self._before is not None:
            self._show("\n")

    def _show(self, text: str) -> None:
        if self._terminal is None:
            return
        try:
            self._terminal.write(text)
            self._terminal.flush()
        except OSError:
            # The terminal has gone. The verdict and the exit status remain.
            give_up(self._terminal)
            self._terminal = None


def _shown(now: dict[str, Any]) -> str:
    parts = [f"{now['entries']:,} entries"]
    if now["entries_per_second"] is not None:
        parts.append(f"{now['entries_per_second']:,}/s")
    parts.append(f"{now['running']}+{now['waiting']} tasks on {now['workers']} workers")
    parts.append(f"{now['pending']:,} directories pending")
    if now["errors"] or now["set_aside"]:
        parts.append(f"{now['errors'] + now['set_aside']:,} errors")
    if now["rest"] is not None:
        parts.append(f"at least {_duration(now['rest'])} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
