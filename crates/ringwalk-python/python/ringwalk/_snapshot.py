"""`snapshot`, `open_snapshot`, `diff` and `report`: what calls code of others, around the compiled
functions (see `_paths.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ringwalk import _ringwalk
from ringwalk._paths import all_plain, plain
from ringwalk._ringwalk import Diff, OpenSnapshot

if TYPE_CHECKING:
    from typing import Literal

    from pyarrow import Table as _Table  # type: ignore[import-untyped]
    from typing_extensions import CapsuleType

    from ringwalk._ringwalk import _Path, _Source

    _Key = Literal["owner", "group", "project", "age", "size", "type", "dir", "ext"]


def snapshot(
    roots: _Path | Iterable[_Path],
    output: _Path,
    *,
    since: _Path | None = None,
    xattrs: bool = False,
    atime: bool = False,
    projid: bool = False,
    one_file_system: bool = False,
    memory: int | None = None,
    workers: int | None = None,
    source: _Source = "auto",
) -> dict[str, Any]:
    """Saves directory trees in a Parquet file with a row for each file: the work of
    ``ringwalk snapshot``. Returns what the snapshot says of itself, as `Snapshot.info`.

    >>> info = ringwalk.snapshot(top, saved)
    >>> info["verdict"]
    {'complete': True, 'errors': 0, 'entries': 4}

    The file *output* appears whole or not at all, and replaces an older one. It is not part of the
    snapshot. It keeps owner, group, permissions and access control list of the older one; what it
    cannot keep is a `RuntimeWarning`, and its permissions are stricter then. Symbolic links among
    *roots* are followed, others are not.

    What cannot be read is a row with an error number. The verdict counts those rows, and they raise
    nothing.

    *since* is the path of an older snapshot. What has certainly not changed is taken from it, and
    the rest is read. The result is the same as without it. *since* and *output* may be the same
    file. The project's docs/snapshot.md lists what is taken on which file system.

    *xattrs* adds extended attributes, *atime* times of the last access, *projid* the ids of
    projects of quotas. *one_file_system* leaves out other file systems. *memory* is the number of
    bytes of listings that wait in memory; the rest goes into an unnamed temporary file. *workers*
    and *source* are the same as in `scan`.

    Raises `OSError` if one of *roots* does not exist, *since* cannot be read or *output* cannot be
    written. Raises `ValueError` if a root lies within another one, if *since* is no snapshot, and
    for invalid options. Ctrl-C ends the work and leaves an older *output* as it was.
    """
    return _ringwalk.take_snapshot(
        all_plain(roots),
        plain(output),
        None if since is None else plain(since),
        bool(xattrs),
        bool(atime),
        bool(projid),
        bool(one_file_system),
        memory,
        workers,
        source,
    )


def open_snapshot(path: _Path) -> Snapshot:
    """Opens a snapshot for reading.

    >>> info = ringwalk.snapshot(top, saved)
    >>> files = ringwalk.open_snapshot(saved)
    >>> len(files), files.info["roots"] == [os.fspath(top)]
    (4, True)
    >>> files.to_arrow(under=top / "src", columns=["path", "type", "size"]).to_pylist()
    [{'path': 'src/main.c', 'type': 'f', 'size': 12}, {'path': 'src', 'type': 'd', 'size': 4096}]

    Raises `OSError` if the file cannot be read, and `ValueError` if it is no snapshot, is damaged
    or has another version of the schema.
    """
    return Snapshot(path)


class Snapshot:
    """A snapshot that is open for reading: the result of `open_snapshot`. Its length is the number
    of rows.

    It is also a table of all rows for pyarrow, polars, pandas, DuckDB and others, which read it as
    often as they like:

    >>> info = ringwalk.snapshot(top, saved)
    >>> pyarrow.table(ringwalk.open_snapshot(saved)).num_rows
    4

    The file stays open as long as this object exists. A newer snapshot that takes its place changes
    nothing here. Several threads may use it, and so may a child after `os.fork()`.
    """

    __slots__ = ("__weakref__", "_file")

    def __init__(self, path: _Path) -> None:
        self._file = OpenSnapshot(plain(path))

    def __len__(self) -> int:
        return len(self._file)

    def __repr__(self) -> str:
        return f"<ringwalk.Snapshot: {self.path!r}, {len(self)} rows>"

    def __arrow_c_schema__(self) -> CapsuleType:
        return self._file.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        return self._file.__arrow_c_stream__(requested_schema)

    @property
    def path(self) -> str | bytes:
        """The path of the file, as it was given."""
        return self._file.path

    @property
    def info(self) -> dict[str, Any]:
        """What the snapshot says of itself: the keys `tool`, `roots`, `filesystems`, `users`,
        `groups`, `verdict` and `run` of its footer, which the project's docs/snapshot.md
        describes.

        `roots` are paths. `users` and `groups` are names by number. `verdict` has `complete`,
        `errors` and `entries`. `run` has `source`, and `start_ns` and `end_ns` in nanoseconds since
        1970. Names and paths are `str`, as `os.fsdecode` makes them.
        """
        return self._file.info()

    def locate(self, path: _Path) -> int | None:
        """Returns the number of the row of a file, or `None` if the snapshot does not have it.

        *path* is the path in the file system. The file need not exist any more. A relative path
        begins at the working directory.
        """
        return self._file.locate(plain(path))

    def to_arrow(self, under: _Path | None = None, columns: Sequence[str] | None = None) -> _Table:
        """Returns the rows as a table of pyarrow, in the order of the file, which ends with the
        roots. The project's docs/snapshot.md describes the columns.

        *under* is a path as in `locate`. Then the table has that file and everything below it, and
        only the row groups that hold them are read. *columns* are the columns to read, in that
        order; all of them by default.

        Raises `FileNotFoundError` if the snapshot does not have *under*, `ValueError` for a column
        that it does not have, and `ImportError` without pyarrow.
        """
        try:
            import pyarrow  # type: ignore[import-untyped]
            import pyarrow.parquet  # type: ignore[import-untyped]
        except ImportError as error:
            message = f"Snapshot.to_arrow needs pyarrow (pip install pyarrow): {error}"
            raise ImportError(message, name=error.name) from error
        ranges = [(0, len(self))] if under is None else self._file.subtree(plain(under))
        # The file that is open: at its path there may be another one by now.
        with (
            pyarrow.OSFile(f"/proc/self/fd/{self._file.fileno()}") as file,
            pyarrow.parquet.ParquetFile(file) as parquet,
        ):
            columns = _checked(columns, parquet.schema_arrow.names)
            groups = _groups(self._file.row_groups(), ranges)
            table = parquet.read_row_groups([number for number, _, _ in groups], columns=columns)
        pieces = [table.slice(0, 0)]
        begin = 0
        for _, first, end in groups:
            for start, stop in ranges:
                start, stop = max(start, first), min(stop, end)
                if start < stop:
                    pieces.append(table.slice(begin + start - first, stop - start))
            begin += end - first
        return pyarrow.concat_tables(pieces).select(columns)


def _checked(columns: Sequence[str] | None, known: list[str]) -> list[str]:
    """Returns the columns to read."""
    if columns is None:
        return known
    columns = list(columns)
    for column in columns:
        if column not in known:
            expected = ", ".join(known)
            raise ValueError(f"unknown column {column!r}: expected one of {expected}")
    return columns


def _groups(
    groups: list[tuple[int, int]], ranges: list[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Returns the row groups that have rows of `ranges`: number, first row, row behind the last."""
    return [
        (number, first, end)
        for number, (first, end) in enumerate(groups)
        if any(start < end and first < stop for start, stop in ranges)
    ]


def _compiled(given: _Path | Snapshot) -> Any:
    """Returns what compiled functions take: an open snapshot, or a path."""
    return given._file if isinstance(given, Snapshot) else plain(given)


def diff(
    old: _Path | Snapshot,
    new: _Path | Snapshot,
    *,
    renames: bool = True,
    workers: int | None = None,
    source: _Source = "auto",
) -> Diff:
    """Compares two snapshots: the work of ``ringwalk diff``. The project's docs/diff.md has
    the rules.

    >>> info = ringwalk.snapshot(top, saved)
    >>> (top / "src" / "main.c").rename(top / "main.c")
    PosixPath('...')
    >>> for change in ringwalk.diff(saved, top):
    ...     print(change.change, change.renamed_from[1], change.path, change.growth)
    renamed src/main.c main.c 0

    *new* may be a directory. Then it is read now, with *workers* and *source* as in `scan`. Without
    *renames* a renamed file is removed and added.

    Raises `OSError` if a file cannot be read, and `ValueError` if it is no snapshot or if only one
    snapshot has a root. Nothing is raised if a snapshot is incomplete: look at `Diff.complete`.
    """
    return _ringwalk.compare(_compiled(old), _compiled(new), bool(renames), workers, source)


def report(
    snapshot: _Path | Snapshot,
    by: _Key | Iterable[_Key] | str,
    *,
    under: _Path | None = None,
    top: int | None = None,
    workers: int | None = None,
    source: _Source = "auto",
) -> dict[str, Any]:
    """Adds up entries and sizes of a snapshot by one or more keys: the work of
    ``ringwalk report --format json``.

    >>> info = ringwalk.snapshot(top, saved)
    >>> report = ringwalk.report(saved, by=["type"], under=top / "src")
    >>> for row in report["rows"]:
    ...     print(row["type"], row["entries"], row["size"])
    d 1 4096
    f 1 12

    *by* are the keys: ``owner``, ``group``, ``age``, ``size``, ``type``, ``dir`` and ``ext``. The
    result has the keys ``by``, ``start``, ``complete``, ``errors``, ``rows``, ``others`` and
    ``total``. The project's docs/report.md describes them, and the columns of the rows.

    *snapshot* may be a directory. Then it is read now, with *workers* and *source* as in `scan`.
    *under* is the path of a file; the report is on that file and everything below it. *top* is the
    number of rows; the rest is in ``others``.

    Raises `OSError` if a file cannot be read, `FileNotFoundError` if the snapshot does not have
    *under*, and `ValueError` for a key that is not known or a file that is no snapshot. Nothing is
    raised if the snapshot is incomplete: look at ``complete``.
    """
    keys = by if isinstance(by, str) else ",".join(by)
    under = None if under is None else plain(under)
    # Not by the compiled function, below which no Python code runs: see `_paths.py`.
    return json.loads(_ringwalk.add_up(_compiled(snapshot), keys, under, top, workers, source))
