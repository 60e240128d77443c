"""The suites of the interfaces: asynchronous Rust, Python and C, beside what users have now."""

from __future__ import annotations

import contextlib
import functools
import resource
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from . import api_rows, api_tools, bulk, images, trees
from .machine import file_system
from .measure import Command, CommandFailed, captured, run_told
from .suites import Result, Session

# Opening thousands of directories takes no measuring twice, but for a stray thread.
IDLE_RUNS = 3


def traverse(state: str, session: Session) -> Result:
    """Entries and bytes of a tree, a task a directory."""
    api_tools.provide_async(session.tools)
    suite, content = f"async-{state}", images.copy_of(session.tree())
    if state == "cold":
        return bulk.cold(session, suite, "ext4", content, api_rows.TRAVERSE)
    return bulk.warm(session, suite, "ext4", content, lambda _point: api_rows.TRAVERSE)


def directory(kind: str, state: str, session: Session) -> Result:
    """Measures the names of one directory of many files."""
    api_tools.provide_async(session.tools)
    suite = f"async-directory-{kind}-{state}"
    content = images.one_directory(api_rows.DIRECTORY_FILES)
    table = api_rows.directory("messages")
    if state == "cold":
        return bulk.cold(session, suite, kind, content, table)
    return bulk.warm(session, suite, kind, content, lambda _point: table)


def idle(session: Session) -> Result:
    """Measures the memory of an open directory that is not being read."""
    api_tools.provide_async(session.tools)
    rows = {row.key: row for row in api_rows.IDLE}
    runs = session.runs or IDLE_RUNS
    samples: dict[str, list[float]] = {key: [] for key in rows}
    failures = []
    with tempfile.TemporaryDirectory(dir=session.scratch, prefix="idle-") as folder:
        trees.fill_directory(folder, api_rows.IDLE_FILES)
        with descriptors(api_rows.IDLE_DIRS + 1000):
            for key, row in rows.items():
                argv = row.argv(session.tools.find(row.tool), folder)
                try:
                    for _ in range(runs):
                        said = captured(session.tools.timed, Command(key, argv))
                        samples[key].append(of_idle(said))
                except (CommandFailed, ValueError) as error:
                    failures.append(f"{key}: {error}")
        about = {
            "tree": f"{api_rows.IDLE_DIRS} times a directory of {api_rows.IDLE_FILES} files",
            "file_system": file_system(Path(folder))["type"],
            "runs": runs,
        }
    measured = {key: row for key, row in rows.items() if len(samples[key]) == runs}
    # Pages that another thread touches meanwhile are in single runs.
    figures = {key: {"bytes_a_dir": statistics.median(samples[key])} for key in measured}
    return Result("async-idle", about, measured, figures, failures=failures, enough=IDLE_RUNS)


def of_idle(output: bytes) -> float:
    """Bytes a directory that the program's memory has grown by."""
    return api_rows.reported("grown")(output) / api_rows.reported("dirs")(output)


@contextlib.contextmanager
def descriptors(wanted: int) -> Iterator[None]:
    """Lets programs that are started here have so many files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise OSError(f"{wanted} descriptors are needed, and {hard} allowed (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def python(session: Session) -> Result:
    """Names, and names with size and time, of a tree: timed inside the interpreter."""
    api_tools.provide_python(session.tools, session.python)
    content = images.copy_of(session.tree())
    table = api_rows.PYTHON
    return bulk.warm(session, "python-warm", "ext4", content, lambda _point: table, run=run_told)


def python_memory(session: Session) -> Result:
    """Measures the peak memory of the interpreter with a table of a million entries."""
    api_tools.provide_python(session.tools, session.python)
    content = images.million()
    table = api_rows.PYTHON_MEMORY
    return bulk.warm(session, "python-memory", "ext4", content, lambda _point: table, run=run_told)


def c(session: Session) -> Result:
    """Measures a walk with metadata by a program in C, as fts(3) has it."""
    api_tools.provide_c(session.tools)
    content = images.copy_of(session.tree())
    return bulk.warm(session, "capi-warm", "ext4", content, lambda _point: api_rows.C)


ASYNC: dict[str, Callable[[Session], Result]] = {
    **{f"async-{state}": functools.partial(traverse, state) for state in ("warm", "cold")},
    **{
        f"async-directory-{kind}-{state}": functools.partial(directory, kind, state)
        for kind in api_rows.DIRECTORY_KINDS
        for state in ("warm", "cold")
    },
    "async-idle": idle,
}
PYTHON: dict[str, Callable[[Session], Result]] = {
    "python-warm": python,
    "python-memory": python_memory,
}
C: dict[str, Callable[[Session], Result]] = {"capi-warm": c}
SUITES = ASYNC | PYTHON | C
