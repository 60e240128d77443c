"""Types of the compiled module. What is documented here is public by way of `ringwalk`."""

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from types import GenericAlias, TracebackType
from typing import Any, AnyStr, Final, Generic, Literal, TypeAlias, final, overload

from typing_extensions import CapsuleType, Self

_Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Follow: TypeAlias = Literal["never", "roots", "always"]
_Source: TypeAlias = Literal["auto", "syscall", "module", "ring", "ext4", "xfs", "btrfs"]
_OnError: TypeAlias = Literal["collect", "raise"]
_OnScanError: TypeAlias = Literal["roots", "collect", "raise"]
_Field: TypeAlias = Literal[
    "path",
    "name",
    "parent",
    "depth",
    "root",
    "type",
    "size",
    "blocks",
    "mtime",
    "atime",
    "ctime",
    "btime",
    "mode",
    "nlink",
    "uid",
    "gid",
    "ino",
    "dev",
    "rdev",
    "mnt_id",
]

__all__ = [
    "Batch",
    "Bell",
    "Count",
    "DirEntry",
    "Errors",
    "Found",
    "Scan",
    "ScandirIterator",
    "Usage",
    "Walk",
    "__version__",
    "count",
    "doctor",
    "du",
    "find",
    "scan",
    "scandir",
]

__version__: Final[str]

def scan(
    paths: _Path | Iterable[_Path],
    fields: Sequence[_Field] | None = None,
    batch_size: int = 16384,
    *,
    follow: _Follow = "never",
    one_file_system: bool = False,
    min_depth: int = 0,
    max_depth: int | None = None,
    workers: int | None = None,
    source: _Source = "auto",
    on_error: _OnScanError = "roots",
) -> Scan:
    """Reads directory trees into a table, by several threads of its own.

    The table is a stream of Arrow record batches, which pyarrow, polars, pandas, DuckDB and others
    take without a copy:

    >>> import pyarrow
    >>> table = pyarrow.table(ringwalk.scan(top, ["name", "type", "size"]))
    >>> table.sort_by("name").slice(2, 2).to_pylist()
    [{'name': b'notes.txt', 'type': 'file', 'size': 5},
     {'name': b'src', 'type': 'directory', 'size': 4096}]

    or a batch at a time, with `for` or, in asyncio, `async for`:

    >>> for batch in ringwalk.scan(top):
    ...     len(batch), batch.fields
    (4, ['path', 'type', 'size', 'mtime'])

    `fields` are the columns, in that order; `("path", "type", "size", "mtime")` if none are given.
    Each costs time and memory, and without any of metadata (from `size` on) no file is asked for
    it.

    * `path` (binary): beginning with the path as it was given. Names are bytes on Linux and need
      not be text: `os.fsdecode` makes `str` of them.
    * `name` (binary): the last component; of a path that was given, that path.
    * `parent` (dictionary of binary): the directory, kept once for all that is in it: `parent` and
      `name` take a fifth of the memory that `path` does. Empty for the paths that were given.
    * `depth`, `root` (uint32): levels below the path that was given, 0 for itself; and which of the
      paths that was, from 0.
    * `type` (dictionary of string): `file`, `directory`, `symlink`, `fifo`, `socket`,
      `block_device`, `character_device`.
    * `size` (int64): in bytes. `blocks` (int64): space taken, in units of 512 bytes.
    * `mtime`, `atime`, `ctime`, `btime` (timestamp[ns, tz=UTC]): of the contents, the last access,
      the inode, the birth. Null if it is before 1677 or after 2262.
    * `mode`, `nlink`, `uid`, `gid` (uint32), `ino`, `dev`, `rdev`, `mnt_id` (uint64): as
      `os.stat_result` has them, and statx(2)'s mount id.

    What is not known of a file is null. Rows come in no particular order; the paths that were given
    are rows too (`min_depth=1` leaves them out). A batch has at most `batch_size` rows, and less
    where rows come slowly.

    `follow` says which symbolic links are followed: none, those given as `paths` (`"roots"`) or
    all. `workers` is the number of threads; by itself it is as many as there are CPUs, and more
    while they wait for a device. `source` is where directories are read from: `"auto"` finds the
    fastest that is allowed, see `doctor`.

    What cannot be read is in `Scan.errors`. `on_error` says what is raised besides, as `OSError`
    after all rows: that one of `paths` is not there or cannot be read (`"roots"`), the first error
    of any path but not that a file has vanished meanwhile (`"raise"`), or nothing (`"collect"`). Of
    several such `paths` the first is raised; the others are read to their end before.

    Raises `ValueError` for options that make no sense, and `OSError` if a `source` that was asked
    for by name cannot read a path.
    """

@final
class Scan:
    """What `scan` returns. The walk begins when the first row is wanted, and can be read once, also
    by several threads or tasks: each gets other batches. Ctrl-C ends waiting within a twentieth of
    a second, also while a file system does not answer. A scan that is closed, dropped or left by
    `with` ends its walk. That takes a twentieth of a second at most: a thread that still waits for
    a file system then ends by itself later.

    After `os.fork()` the walk goes on in the parent only; the child gets a `RuntimeError`.
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> Batch: ...
    def __aiter__(self) -> AsyncIterator[Batch]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exception_type: type[BaseException] | None = None,
        exception: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...
    @property
    def fields(self) -> list[str]:
        """The names of the columns."""
    @property
    def errors(self) -> Errors:
        """What could not be read so far; also when the scan has ended or has been closed."""
    @property
    def summary(self) -> dict[str, Any] | None:
        """What the walk has done: `entries`, `directories`, `errors`, `vanished`,
        `elapsed_seconds`, `source`, `source_reason` and `workers`. `None` before the last batch has
        been taken.
        """
    def close(self) -> None:
        """Ends the scan. What it has given stays; taking more is a `ValueError`. Does nothing if it
        has ended.
        """
    def _poll(self, bell: Bell, /) -> Batch | None: ...

@final
class Bell:
    """A descriptor for an event loop to watch. It can be read from once a scan has something for
    the task that waits.
    """

    def __new__(cls) -> Self: ...
    def fileno(self) -> int:
        """The number of the descriptor."""

@final
class Batch:
    """Some rows of a `Scan`: a record batch for `pyarrow.record_batch`, `polars.DataFrame` and
    their like. Its length is the number of rows.
    """

    def __len__(self) -> int: ...
    @property
    def num_rows(self) -> int:
        """The number of rows."""
    @property
    def fields(self) -> list[str]:
        """The names of the columns."""
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_array__(
        self, requested_schema: object = None
    ) -> tuple[CapsuleType, CapsuleType]: ...

@final
class Errors:
    """What a scan could not read: a table that grows while the scan goes on, to be looked at at any
    time.

    >>> scan = ringwalk.scan([top, "/not/there"], on_error="collect")
    >>> sum(len(batch) for batch in scan)
    4
    >>> list(scan.errors)
    [(b'/not/there', 'stat', 2,
      'cannot access "/not/there": No such file or directory (os error 2)', False)]
    >>> pyarrow.table(scan.errors).column_names
    ['path', 'operation', 'errno', 'message', 'vanished']

    `operation` is `stat`, `open`, `read` (of a directory) or `loop` (a link that leads back to
    where the walk is). What has `vanished` was listed by its directory and gone when the walk came
    to it, which is no failure.
    """

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[bytes, str, int, str, bool]]: ...
    def __getitem__(self, index: int, /) -> tuple[bytes, str, int, str, bool]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType: ...
    def batch(self) -> Batch:
        """The rows so far as one batch."""

def du(
    path: _Path,
    *,
    follow: _Follow = "roots",
    one_file_system: bool = False,
    workers: int | None = None,
    source: _Source = "auto",
) -> Usage:
    """What a tree takes, each file once however many names it has in it. A directory that a mount
    shows below itself counts once.

    >>> usage = ringwalk.du(top / "src")
    >>> usage.entries, usage.apparent_size, usage.errors
    (2, 12, [])

    Options are those of `scan`; `one_file_system` leaves out what is on other devices. Raises
    `OSError` if nothing can be found out about `path` itself; other errors are in the result.
    """

@final
class Usage:
    """What `du` returns."""

    @property
    def apparent_size(self) -> int:
        """Sum of the sizes of regular files and symbolic links in bytes."""
    @property
    def allocated(self) -> int:
        """Bytes that they take on the device."""
    @property
    def entries(self) -> int:
        """How many files there are, of any type, directories and the path itself included."""
    @property
    def errors(self) -> list[OSError]:
        """What could not be read, in no particular order."""

def count(
    path: _Path,
    *,
    stat: bool = True,
    follow: _Follow = "roots",
    one_file_system: bool = False,
    workers: int | None = None,
    source: _Source = "auto",
) -> Count:
    """How many files there are below a directory, by each of their names. Without `stat` only names
    are read, which is faster. A directory that a mount shows at two places counts at both.

    >>> count = ringwalk.count(top)
    >>> count.files, count.types["directory"]
    (3, 1)

    Options are those of `scan`. Raises `OSError` if `path` is not a directory or cannot be read;
    other errors are in the result.
    """

@final
class Count:
    """What `count` returns."""

    @property
    def files(self) -> int:
        """Files of any type; the directory itself does not count."""
    @property
    def bytes(self) -> int | None:
        """Sum of their sizes; `None` without `stat`."""
    @property
    def types(self) -> dict[str, int]:
        """Files by type, in the words of `scan`, and `unknown` for those whose type could not be
        found out.
        """
    @property
    def errors(self) -> list[OSError]:
        """What could not be read, in no particular order."""

@overload
def find(
    path: str | os.PathLike[str],
    *expression: str | bytes,
    workers: int | None = None,
    source: _Source = "auto",
    on_error: _OnError = "raise",
) -> Found[str]: ...
@overload
def find(
    path: bytes | os.PathLike[bytes],
    *expression: str | bytes,
    workers: int | None = None,
    source: _Source = "auto",
    on_error: _OnError = "raise",
) -> Found[bytes]:
    """The paths at and below `path` for which an expression in the language of find(1) is true;
    all, if there is none.

    >>> [os.path.basename(path) for path in ringwalk.find(top, "-type", "f", "-size", "-10c")]
    ['notes.txt']

    Paths are `str` or `bytes` as `path` is, and come as they are found, in no particular order.
    There are all tests and options that `ringwalk find` has, also `-H`, `-L` and `-P`, which come
    first; and of actions `-print` and `-print0` (which are the same here), `-prune` and `-quit`.
    Others, which write something else than paths, change files or run commands, are a `ValueError`,
    as is an expression that cannot be understood. Nothing is ever written to standard output or
    standard error.

    What goes wrong is in `Found.errors` in find's words, and is raised as `SearchError` after all
    paths have come, unless `on_error` is `"collect"`.
    """

@final
class Found(Generic[AnyStr]):
    """What `find` returns: an iterator of paths. The search begins with the first, and ends when
    this is closed, dropped or left by `with`. Several threads may take paths, each gets others.
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> AnyStr: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exception_type: type[BaseException] | None = None,
        exception: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...
    @classmethod
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    @property
    def errors(self) -> list[str]:
        """What went wrong so far, in the words of find(1)."""
    def close(self) -> None:
        """Ends the search; taking more is a `ValueError` then. Does nothing if it has ended."""

def doctor(path: _Path | None = None) -> dict[str, Any]:
    """What this kernel, user and file system allow for a directory (`.` if none is given), why not
    more, and what would help: the report of `ringwalk doctor --json`.

    >>> report = ringwalk.doctor(top)
    >>> [source["name"] for source in report["sources"] if source["chosen_by_auto"]]
    ['syscall']

    Raises `OSError` if it is not a directory or cannot be reached.
    """

@final
class DirEntry(Generic[AnyStr]):
    """An entry of a directory, as `os.DirEntry` is; `scandir` gives them.

    What is known from the directory is told without asking the kernel; `stat` asks it once for
    each of the two.
    """

    @property
    def name(self) -> AnyStr: ...
    @property
    def path(self) -> AnyStr: ...
    def inode(self) -> int: ...
    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...
    def is_file(self, *, follow_symlinks: bool = True) -> bool: ...
    def is_symlink(self) -> bool: ...
    def is_junction(self) -> bool: ...
    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...
    def __fspath__(self) -> AnyStr: ...
    @classmethod
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...

@final
class ScandirIterator(Generic[AnyStr]):
    """What `scandir` returns."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> DirEntry[AnyStr]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def close(self) -> None: ...

# Lists a directory: an iterator of `DirEntry` objects, in the order that the file system has.
@overload
def scandir(path: int | None = None) -> ScandirIterator[str]: ...
@overload
def scandir(path: AnyStr | os.PathLike[AnyStr]) -> ScandirIterator[AnyStr]: ...

@final
class Walk:
    """The iterator below `walk`, which is what to call."""

    def __new__(
        cls,
        top: str | bytes,
        topdown: bool,
        tells: bool,
        followlinks: bool,
    ) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[Any, list[Any], list[Any]] | list[Any] | OSError: ...
    def rename(self, names: list[Any]) -> None: ...
    def close(self) -> None: ...
