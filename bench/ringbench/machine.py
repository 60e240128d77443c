"""The conditions of a figure besides the program: recorded with every result."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .tools import BENCH

# Seconds in which the runner rests, so that only other programs use CPUs.
REST = 1.0
# CPUs that they may use on a quiet machine.
QUIET = 0.25
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Load:
    """What other programs did while the runner rested.

    The load average also counts the suite before, so it only informs.
    """

    load_average: float
    busy_cpus: float

    def is_quiet(self) -> bool:
        """Returns whether other programs disturb no measurement."""
        return self.busy_cpus <= QUIET


def cpu_time(stat: str) -> float:
    """Returns the seconds of CPU time of all programs, from the text of /proc/stat.

    Time that the host of a virtual machine gave to other guests counts too: proc_stat(5).
    """
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def load() -> Load:
    """Rests, and returns what other programs did meanwhile."""
    stat = Path("/proc/stat")
    used, begin = cpu_time(stat.read_text()), time.monotonic()
    time.sleep(REST)
    seconds = time.monotonic() - begin
    busy = (cpu_time(stat.read_text()) - used) / seconds
    return Load(round(os.getloadavg()[0], 2), round(busy, 2))


def _first(path: str, key: str) -> str:
    try:
        with open(path) as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(BENCH), *arguments], capture_output=True, text=True)
    return done.stdout.strip()


def file_system(path: Path) -> dict[str, str]:
    """Returns type, source and options of the mount of `path`.

    Found by the path: the device numbers that btrfs gives to files are not its mount's.
    """
    found = {"type": "unknown", "source": "unknown", "options": "unknown"}
    longest = -1
    with open("/proc/self/mountinfo") as mounts:
        for line in mounts:
            fields = line.split()
            point = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4]))
            # Of several mounts on one point the last covers the others.
            if len(point.parts) >= longest and path.resolve().is_relative_to(point):
                longest, end = len(point.parts), fields.index("-")
                found = {
                    "type": fields[end + 1],
                    "source": fields[end + 2],
                    "options": fields[5],
                }
    return found


def describe() -> dict[str, object]:
    """Returns the machine, the kernel, the date and the commit that is measured."""
    system = os.uname()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD") or "unknown",
        # Results are written while the tree is clean, or they are of no known commit.
        "uncommitted_changes": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "kernel": f"{system.sysname} {system.release}",
        "architecture": system.machine,
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cpus": len(os.sched_getaffinity(0)),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "load_average": os.getloadavg()[0],
    }
