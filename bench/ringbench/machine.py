"""What a figure depends on besides the program: recorded with every result."""

from __future__ import annotations

import datetime
import os
import subprocess
from pathlib import Path

from .tools import BENCH


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
    """Type, source and options of the mount that `path` is on."""
    device = os.stat(path).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    found = {"type": "unknown", "source": "unknown", "options": "unknown"}
    with open("/proc/self/mountinfo") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[2] == wanted:
                end = fields.index("-")
                found = {
                    "type": fields[end + 1],
                    "source": fields[end + 2],
                    "options": fields[5],
                }
    return found


def describe() -> dict[str, object]:
    """The machine, the kernel, the date and the commit that is measured."""
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
