"""Reads directory trees at the speed the kernel and the disk allow.

* `walk` and `fwalk` do the same as in the standard library, faster. `scandir` does the same and can
  be interrupted while a file system hangs.
* `scan` returns a tree as a table for pyarrow, polars, pandas, DuckDB and other users of Arrow.
* `find` has the language of find(1).
* `du` and `count` return sums.
* `hash` hashes the contents of files, and `dupes` finds files with the same contents.
* `snapshot` saves a tree in a Parquet file. `open_snapshot`, `diff` and `report` read such files.
* `doctor` reports the sources that this machine allows.
"""

from ringwalk import _ringwalk
from ringwalk._contents import (
    DuplicateFile,
    DuplicateGroup,
    Duplicates,
    FileHash,
    Hashes,
    dupes,
    hash,
)
from ringwalk._doctor import doctor
from ringwalk._errors import ReadError, SearchError
from ringwalk._paths import all_plain, public
from ringwalk._ringwalk import (
    Batch,
    Change,
    Count,
    Diff,
    DirEntry,
    Errors,
    FileVersion,
    Found,
    Leftover,
    Scan,
    Usage,
    __version__,
)
from ringwalk._snapshot import Snapshot, diff, open_snapshot, report, snapshot
from ringwalk._walk import fwalk, walk

count = public("path")(_ringwalk.count)
du = public("path")(_ringwalk.du)
find = public("path")(_ringwalk.find)
scan = public("paths", all_plain)(_ringwalk.scan)
scandir = public("path")(_ringwalk.scandir)


def _batches(scan):
    # `asyncio` takes longer to import than everything else here together.
    from ringwalk._aio import AsyncBatches

    return AsyncBatches(scan)


async def _enter(scan):
    return scan


async def _exit(scan, *exception):
    scan.close()


# Set here because no Python code may run below frames of the compiled module: see its `lib.rs`.
Scan.__aiter__ = _batches  # type: ignore[method-assign]
Scan.__aenter__ = _enter  # type: ignore[method-assign]
Scan.__aexit__ = _exit  # type: ignore[method-assign]

__all__ = [
    "Batch",
    "Change",
    "Count",
    "Diff",
    "DirEntry",
    "DuplicateFile",
    "DuplicateGroup",
    "Duplicates",
    "Errors",
    "FileHash",
    "FileVersion",
    "Found",
    "Hashes",
    "Leftover",
    "ReadError",
    "Scan",
    "SearchError",
    "Snapshot",
    "Usage",
    "__version__",
    "count",
    "diff",
    "doctor",
    "du",
    "dupes",
    "find",
    "fwalk",
    "hash",
    "open_snapshot",
    "report",
    "scan",
    "scandir",
    "snapshot",
    "walk",
]
