#!/usr/bin/env python3
"""Kills the driver or the workers of ringwalk.cluster again and again, and checks the snapshot.

    bench/cluster_deaths.py driver|worker [--python PYTHON] [--kills N] [--directories N]

The tree is that of a server made for tests: a FUSE file system that takes 2 ms for each lookup, and
counts them. So the count shows how much was read twice. The rate of each process is bounded, such
that the run takes some minutes.

* `driver`: SIGKILL at a random time, 2 to 10 seconds after the start, until that was done `--kills`
  times. Then the run is resumed to its end.
* `worker`: SIGKILL of a random worker every 2 seconds, until the run is over.

Prints a line of JSON. Ends with status 1 if the snapshot is not complete, or differs from one that
a single process made in peace. Needs root, for the mount.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ringbench import slow_server

FILES = 1000
# Entries of a task in a second.
RATE = 1000
BETWEEN_DRIVERS = (2.0, 10.0)
BETWEEN_WORKERS = 2.0


class Run:
    """A run of ringwalk-cluster on a tree."""

    def __init__(self, python: Path, tree: Path, out: Path) -> None:
        self.words = [str(python), "-m", "ringwalk.cluster"]
        self.tree, self.out = tree, out
        self.kills = 0
        self.status = 0
        self.chance = random.Random(1)

    def begin(self) -> subprocess.Popen:
        """Starts the driver, which goes on with what is there."""
        options = ["--processes", "2", "--rate", str(RATE), "--budget", "500ms"]
        again = ["--resume"] if (self.out / "snapshot.json").exists() else []
        words = [*self.words, "snapshot", self.tree, "-o", self.out, *options, *again]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL)

    def kill_drivers(self, times: int) -> None:
        """Kills the driver so often, and then lets it come to the end."""
        while True:
            with self.begin() as driver:
                wait = self.chance.uniform(*BETWEEN_DRIVERS) if self.kills < times else None
                try:
                    self.status = driver.wait(wait)
                    return
                except subprocess.TimeoutExpired:
                    driver.kill()
                    self.kills += 1

    def kill_workers(self) -> None:
        """Kills a worker again and again until the driver ends."""
        with self.begin() as driver:
            while True:
                try:
                    self.status = driver.wait(BETWEEN_WORKERS)
                    return
                except subprocess.TimeoutExpired:
                    self._kill_one(driver.pid)

    def _kill_one(self, parent: int) -> None:
        """Kills one of the workers: children that a process pool has started."""
        words = ["pgrep", "-P", str(parent), "-f", "spawn_main"]
        found = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
        if found:
            try:
                os.kill(int(self.chance.choice(found)), signal.SIGKILL)
            except ProcessLookupError:
                # It has just ended by itself.
                return
            self.kills += 1

    def is_as_in_peace(self, ringwalk: Path, scratch: Path) -> bool:
        """Compares the snapshot with one of a single process."""
        many, one = scratch / "many.parquet", scratch / "one.parquet"
        subprocess.run([*self.words, "compact", self.out, "-o", many], check=True)
        subprocess.run([ringwalk, "snapshot", self.tree, "-o", one], check=True)
        done = subprocess.run(
            [ringwalk, "diff", "--json", one, many], capture_output=True, text=True, check=True
        )
        totals = json.loads(done.stdout)
        return not totals["changes"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("victim", choices=("driver", "worker"))
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--ringwalk", type=Path, default=Path("target/dist/ringwalk"))
    parser.add_argument("--kills", type=int, help="of the driver (default: 50)")
    parser.add_argument("--directories", type=int, default=400)
    given = parser.parse_args()
    if given.victim == "worker" and given.kills:
        parser.error("a worker is killed every 2 seconds until the run is over: leave out --kills")
    python, ringwalk = given.python.absolute(), given.ringwalk.absolute()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        with slow_server.slow_server(scratch, (given.directories, FILES)) as server:
            run = Run(python, server.point, scratch / "out")
            begin = time.monotonic()
            if given.victim == "driver":
                run.kill_drivers(given.kills or 50)
            else:
                run.kill_workers()
            seconds = time.monotonic() - begin
            same = run.is_as_in_peace(ringwalk, scratch)
    entries = given.directories * (FILES + 1)
    # The run in peace has looked up each entry once.
    read = server.lookups - entries
    print(
        json.dumps(
            {
                "victim": given.victim,
                "kills": run.kills,
                "seconds": round(seconds, 1),
                "status": run.status,
                "entries": entries,
                "read_twice": round(read / entries - 1, 4),
                "as_in_peace": same,
            }
        )
    )
    return 0 if same and run.status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
