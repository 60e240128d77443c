"""Snapshots by several processes (`ringwalk-cluster`), beside one process."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from . import media, nfs, saved, slow_tree, tools
from .rows import ENTRIES, Row
from .suites import Result, Session, run_rows
from .tools import C_FLAGS, WORK, MissingTool, Toolbox

# The scratch folder of a suite is given in place of the tree: a row writes beside the tree.
OUT = "{tree}/../out"


def _pool(key: str, processes: int, *options: str) -> Row:
    """Returns a row with a pool of so many processes."""
    words = ("--processes", str(processes), *options, "{tree}", "-o", f"{OUT}/{key}")
    return Row(key, "write", "ringwalk-cluster", words)


def _one(key: str, workers: int) -> Row:
    """Returns a row with one process and so many threads."""
    words = ("--source", "syscall", "--workers", str(workers), "snapshot")
    return Row(key, "write", "ringwalk", (*words, "{tree}", "-o", f"{OUT}/{key}"))


def _mpi(ranks: int) -> Row:
    """Returns a row in pfind's shape: so many MPI ranks, each with one request in flight."""
    return Row(f"mpi-walk-{ranks}", "walk", "mpi-walk", (str(ranks), "{tree}"), ENTRIES)


# A walk with a budget reads directories through the VFS: so does the one beside it.
POOLS = [
    _one("snapshot-1", 1),
    _one("snapshot-2", 2),
    _pool("pool-1", 1, "--workers", "1", "--source", "syscall"),
    _pool("pool-2", 2, "--workers", "1", "--source", "syscall"),
    Row(
        "find-xargs-2",
        "write",
        "sh",
        ("-c", "find {tree} -print0 | xargs -0 -P 2 -n 1000 stat -c %s%b%Y >/dev/null"),
    ),
    _mpi(2),
]

# Processes with 32 requests in flight each. Then as many as four of them in one process: so much
# the server and this machine can do. The MPI ranks have as many in flight as one process.
SLOW = [
    *(_pool(f"processes-{count}", count, "--in-flight", "32") for count in (1, 2, 4)),
    _pool("one-with-128", 1, "--in-flight", "128"),
    _mpi(32),
]

# In one directory, so few requests for each process that four of them do not keep two processors
# busy: then only the division of the directory decides. A single MPI rank would take minutes.
DIRECTORY = [
    *(_pool(f"processes-{count}", count, "--in-flight", "16") for count in (1, 4)),
    _pool("one-with-64", 1, "--in-flight", "64"),
]

# A process with 32 requests in flight asks for nearly as much as nfs-ganesha can do here. So
# processes with 8 show how the time depends on their number, and those with 32 show the limit.
NFS = [
    *(_pool(f"processes-{count}-of-8", count, "--in-flight", "8") for count in (1, 2, 4)),
    *(_pool(f"processes-{count}", count, "--in-flight", "32") for count in (1, 2, 4)),
    _pool("one-with-128", 1, "--in-flight", "128"),
]

# So many directories, and files in each.
SLOW_TREE = (400, 1000)
NFS_TREE = (100, 800)
WIDE_DIRECTORY = (0, 200_000)


def provide(toolbox: Toolbox, python: Path) -> None:
    """Adds `ringwalk-cluster` of this interpreter. Its output is removed before each run."""
    command = [str(python.absolute()), "-m", "ringwalk.cluster"]
    done = subprocess.run([*command, "--help"], capture_output=True)
    if done.returncode:
        raise MissingTool(f"{python} has no ringwalk.cluster: see docs/benchmarks.md")
    words = " ".join(map(shlex.quote, [*command, "snapshot"]))
    # The output is the last argument.
    run = f'for last; do :; done\nrm -rf "$last"\nexec {words} "$@" >/dev/null'
    program = tools.shell_program(WORK / "api/ringwalk-cluster", run)
    toolbox.provide("ringwalk-cluster", program)
    toolbox.provide("sh", Path("/bin/sh"))
    try:
        toolbox.provide("mpi-walk", mpi_walk(python))
    except MissingTool as error:
        toolbox.missing["mpi-walk"] = str(error)
        print(f"bench: without mpi-walk: {error}", file=sys.stderr)


def mpi_walk(python: Path, work: Path = WORK) -> Path:
    """Builds `bench/mpi_walk.c` with the MPICH beside an interpreter.

    Returns a program that takes the number of ranks and the tree.
    """
    compiler, start = (python.absolute().parent / name for name in ("mpicc", "mpiexec"))
    for needed in (compiler, start):
        if not os.access(needed, os.X_OK):
            raise MissingTool(f"no {needed}: {python} -m pip install mpich")
    source, ranks = tools.BENCH / "mpi_walk.c", work / "mpi_walk"
    work.mkdir(parents=True, exist_ok=True)
    # Always built anew: the program has the path of this MPICH.
    words = [compiler, *C_FLAGS, "-o", ranks, source]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise MissingTool(f"{source}: could not be compiled with {compiler}:\n{done.stderr}")
    command = f'exec {shlex.quote(str(start))} -n "$1" {shlex.quote(str(ranks))} "$2"'
    return tools.shell_program(work / "mpi-walk", command)


def pools(session: Session) -> Result:
    """Measures a tree of a million entries, everything in cache."""
    provide(session.tools, session.python)
    about = {"tree": "copies of the tree, a million entries"}

    def run(root: Path, _out: Path) -> Result:
        media.call("sync")
        return run_rows(session, "cluster", POOLS, root, 15, about)

    return saved.on_copies(session, run)


def slow(session: Session) -> Result:
    """Measures 1, 2 and 4 processes on a server with 2 ms a lookup."""
    provide(session.tools, session.python)
    return slow_tree.measure(session, "cluster-slow", SLOW, SLOW_TREE)


def on_nfs(session: Session) -> Result:
    """Measures 1, 2 and 4 processes on nfs-ganesha, with 2 ms a request."""
    provide(session.tools, session.python)
    return nfs.measure(session, "cluster-nfs", NFS, NFS_TREE)


def directory(session: Session) -> Result:
    """Measures one directory of many files on that server."""
    provide(session.tools, session.python)
    return slow_tree.measure(session, "cluster-directory", DIRECTORY, WIDE_DIRECTORY)


SUITES: dict[str, Callable[[Session], Result]] = {
    "cluster": pools,
    "cluster-slow": slow,
    "cluster-nfs": on_nfs,
    "cluster-directory": directory,
}
