"""Reads directory trees at the speed the kernel and the disk allow.

`walk`, `fwalk` and `scandir` are those of the standard library, faster; `scan` gives a tree as a
table for pyarrow, polars, pandas, DuckDB and whatever else knows Arrow; `find` has the language of
find(1); `du` and `count` have sums; `doctor` says what this machine allows.
"""

from ringwalk import _ringwalk
from ringwalk._errors import SearchError
from ringwalk._paths import all_plain, public
from ringwalk._ringwalk import (
    Batch,
    Count,
    DirEntry,
    Errors,
    Found,
    Scan,
    Usage,
    __version__,
)
from ringwalk._walk import fwalk, walk

count = public("path")(_ringwalk.count)
doctor = public("path")(_ringwalk.doctor)
du = public("path")(_ringwalk.du)
find = public("path")(_ringwalk.find)
scan = public("paths", all_plain)(_ringwalk.scan)
scandir = public("path")(_ringwalk.scandir)

__all__ = [
    "Batch",
    "Count",
    "DirEntry",
    "Errors",
    "Found",
    "Scan",
    "SearchError",
    "Usage",
    "__version__",
    "count",
    "doctor",
    "du",
    "find",
    "fwalk",
    "scan",
    "scandir",
    "walk",
]
