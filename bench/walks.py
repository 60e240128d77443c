#!/usr/bin/env python3
"""One walk of a directory by a Python interface, timed inside this process after its imports.

    walks.py WHAT DIR      prints one line of JSON
    walks.py --version     which interpreter and packages are measured

The clock starts when everything is imported and collected, and stops when the answer is there:
starting an interpreter is not part of the measurement. `wall`, `user` and `system`
are seconds, of all threads; `entries` and `bytes` are what was found below DIR, and `newest` is
the latest mtime in ns.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable

Answer = dict[str, int]

PACKAGES = ("ringwalk", "scandir-rs", "pyarrow")


def os_walk(top: str) -> Answer:
    """Names only, as the standard library lists them."""
    return _names(os.walk(top))


def walk(top: str) -> Answer:
    """Returns the same by the package's own."""
    import ringwalk

    return _names(ringwalk.walk(top))


def _names(walked) -> Answer:
    entries = 0
    for _folder, directories, files in walked:
        entries += len(directories) + len(files)
    return {"entries": entries}


def os_walk_stat(top: str) -> Answer:
    """Reads size and time of every entry, as programs on the standard library do."""
    entries = size = newest = 0
    for folder, directories, files in os.walk(top):
        for name in directories + files:
            stat = os.stat(os.path.join(folder, name), follow_symlinks=False)
            entries += 1
            size += stat.st_size
            if stat.st_mtime_ns > newest:
                newest = stat.st_mtime_ns
    return {"entries": entries, "bytes": size, "newest": newest}


def scandir_rs(top: str) -> Answer:
    """Reads the same by scandir-rs, whose times are floats and lose digits."""
    from scandir_rs import Scandir

    entries = size = 0
    newest = 0.0
    for entry in Scandir(top):
        entries += 1
        size += entry.st_size
        if entry.mtime > newest:
            newest = entry.mtime
    return {"entries": entries, "bytes": size}


def scandir_rs_walk(top: str) -> Answer:
    """Names only, by scandir-rs, which leaves out symbolic links: not the answer of the others."""
    from scandir_rs import Walk

    return {"without links": _names(Walk(top))["entries"]}


def scan(source: str, top: str) -> Answer:
    """Returns the same, with paths, as columns, a batch at a time."""
    import pyarrow
    import pyarrow.compute
    import ringwalk

    entries = size = newest = 0
    fields = ["path", "size", "mtime"]
    scanned = ringwalk.scan(top, fields, min_depth=1, source=source, on_error="raise")
    for batch in pyarrow.RecordBatchReader.from_stream(scanned):
        if batch.num_rows:
            entries += batch.num_rows
            size += pyarrow.compute.sum(batch["size"]).as_py()
            newest = max(newest, pyarrow.compute.max(batch["mtime"].cast("int64")).as_py())
    return {"entries": entries, "bytes": size, "newest": newest}


def table(source: str, top: str) -> Answer:
    """All of it, with the columns that there are unless said otherwise, as one table in memory."""
    import pyarrow
    import ringwalk

    scanned = ringwalk.scan(top, min_depth=1, source=source, on_error="raise")
    return {"entries": pyarrow.table(scanned).num_rows}


WALKS: dict[str, Callable[[str], Answer]] = {
    "os-walk": os_walk,
    "os-walk-stat": os_walk_stat,
    "scandir-rs": scandir_rs,
    "scandir-rs-walk": scandir_rs_walk,
    "walk": walk,
    **{
        f"{name}-{source}": functools.partial(function, source)
        for name, function in (("scan", scan), ("table", table))
        for source in ("syscall", "auto")
    },
}

# What is imported before the clock starts.
IMPORTS = {
    "scandir-rs": ("scandir_rs",),
    "scandir-rs-walk": ("scandir_rs",),
    "walk": ("ringwalk",),
    **{
        f"{name}-{source}": ("ringwalk", "pyarrow", "pyarrow.compute")
        for name in ("scan", "table")
        for source in ("syscall", "auto")
    },
}


def measure(what: str, top: str) -> dict[str, float]:
    """Times and answer of one walk."""
    for module in IMPORTS.get(what, ()):
        importlib.import_module(module)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    answer = WALKS[what](top)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": wall,
        "user": after.ru_utime - before.ru_utime,
        "system": after.ru_stime - before.ru_stime,
        **answer,
    }


def versions() -> str:
    """Returns the interpreter and the packages that are installed in it."""
    found = [f"{platform.python_implementation()} {platform.python_version()}"]
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{package} {importlib.metadata.version(package)}")
    return ", ".join(found)


def main(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(versions())
        return 0
    if len(arguments) != 2 or arguments[0] not in WALKS:
        print(f"usage: walks.py {'|'.join(WALKS)} DIR", file=sys.stderr)
        return 2
    try:
        print(json.dumps(measure(*arguments)))
    except ImportError as error:
        print(f"walks.py: {arguments[0]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
