"""Types of the compiled module. What is documented here is public by way of `ringwalk`."""

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from types import GenericAlias, TracebackType
from typing import Any, AnyStr, Final, Generic, Literal, TypeAlias, final, overload

from typing_extensions import CapsuleType, Self

from ringwalk._errors import ReadError

_Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Follow: TypeAlias = Literal["never", "roots", "always"]
_Source: TypeAlias = Literal["auto", "syscall", "module", "ring", "ext4", "xfs", "btrfs"]
_OnError: TypeAlias = Literal["collect", "raise"]
_OnScanError: TypeAlias = Literal["roots", "collect", "raise"]
_Field: TypeAlias = Literal[
    "path",
    "path_raw",
    "name",
    "name_raw",
    "parent",
    "parent_raw",
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
    "projid",
]

__all__ = [
    "Batch",
    "Bell",
    "Change",
    "Count",
    "Diff",
    "DirEntry",
    "Errors",
    "FileVersion",
    "Found",
    "Leftover",
    "OpenSnapshot",
    "Scan",
    "ScandirIterator",
    "Usage",
    "Walk",
    "__version__",
    "add_up",
    "cluster_compact",
    "cluster_file_system",
    "cluster_mounts",
    "cluster_task",
    "compare",
    "count",
    "du",
    "examine",
    "find",
    "find_copies",
    "hash_contents",
    "scan",
    "scandir",
    "take_snapshot",
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
    seconds: float | None = None,
    entries: int | None = None,
    resume: Sequence[Leftover] | None = None,
    in_flight: int | None = None,
    entries_per_second: int | None = None,
) -> Scan:
    """Reads directory trees into a table, with several threads.

    The table is a stream of Arrow record batches, which pyarrow, polars, pandas, DuckDB and others
    import without a copy:

    >>> import pyarrow
    >>> table = pyarrow.table(ringwalk.scan(top, ["name", "type", "size"]))
    >>> table.sort_by("name").slice(2, 2).to_pylist()
    [{'name': 'notes.txt', 'type': 'file', 'size': 5},
     {'name': 'src', 'type': 'directory', 'size': 4096}]

    A program can also read one batch at a time, with `for` or, in asyncio, `async with` and
    `async for`:

    >>> for batch in ringwalk.scan(top):
    ...     len(batch), batch.fields
    (4, ['path', 'type', 'size', 'mtime'])

    `fields` are the columns, in that order. The default is `("path", "type", "size", "mtime")`.
    Each column costs time and memory. Without columns of metadata (`size` and all below it), the
    scan gets no metadata, which is faster.

    * `path` (string): the path, which begins with one of `paths` as given. Names are bytes on Linux
      and need not be text: bytes that are not UTF-8 are escaped as `\\xHH`, as in snapshots.
    * `path_raw` (binary): the bytes of a path that is not UTF-8, else null. A program that opens
      the files needs both: `path if path_raw is None else path_raw`.
    * `name` (string), `name_raw` (binary): the last component; for one of `paths`, that path.
    * `parent` (dictionary of string), `parent_raw` (dictionary of binary): the directory, stored
      once for all its entries. `parent` and `name` take a fifth of the memory of `path`. Empty for
      `paths` themselves.
    * `depth` (uint32): levels below one of `paths`, which has depth 0. `root` (uint32): the index
      of that path.
    * `type` (dictionary of string): `file`, `directory`, `symlink`, `fifo`, `socket`,
      `block_device`, `character_device`.
    * `size` (int64): in bytes. `blocks` (int64): space taken, in units of 512 bytes.
    * `mtime`, `atime`, `ctime`, `btime` (timestamp[ns, tz=UTC]): time of the last change of the
      contents, the last access, the last change of the inode, and the birth. Null before 1677 and
      after 2262.
    * `mode`, `nlink`, `uid`, `gid` (uint32), `ino`, `dev`, `rdev` (uint64): as in `os.stat_result`.
      `mnt_id` (uint64): the mount id of statx(2).
    * `projid` (uint32): the project that the file counts for in quotas. The scan makes one more
      system call for each file, unless the source has the id. Null on a file system without project
      ids; on ext4 and btrfs, for links and special files; before Linux 6.17, also for links,
      special files, and files that the process may not read.

    A value that is not known is null. Rows come in no particular order. The rows include `paths`
    themselves; `min_depth=1` leaves them out. A batch has at most `batch_size` rows, and fewer
    where rows come slowly.

    `follow` selects the symbolic links that the scan follows: none, those among `paths` (`"roots"`)
    or all. `workers` is the number of threads. The default is one for each CPU, and more while
    they wait for a device. `source` selects where the scan reads directories from. `"auto"` takes
    the fastest source that is allowed; see `doctor`.

    `Scan.errors` lists all read errors. `on_error` selects which error is also raised, as `OSError`
    after all rows:

    * `"roots"`: the first of `paths` that does not exist or cannot be read. The scan still reads
      all others.
    * `"raise"`: the first read error at any path. A file that vanished during the scan is no error.
    * `"collect"`: none.

    `seconds` and `entries` are a budget. When one of the two is spent, the scan ends, and
    `Scan.leftovers` lists what it has not read. Another scan of the same `paths` goes on there with
    `resume`, also in another process. Together they give each entry once:

    >>> first = ringwalk.scan(top, entries=1)
    >>> rows = sum(len(batch) for batch in first)
    >>> while (left := first.leftovers):
    ...     first = ringwalk.scan(top, resume=left, entries=1)
    ...     rows += sum(len(batch) for batch in first)
    >>> rows
    4

    A scan finishes what it has begun, so it takes a little longer than its budget, and returns a
    few more entries. Each scan reads something. With a budget the scan reads directories through
    the VFS only, also if it may read the disk itself.

    To be kind to a server, `in_flight` bounds the requests for metadata that wait for it at a time,
    and `entries_per_second` bounds the entries that the scan reads in a second, on average.

    Raises `ValueError` for invalid options, and for a budget with `follow="always"`. Raises
    `OSError` if a `source` given by name cannot read one of `paths`.
    """

@final
class Leftover:
    """A directory, or the rest of one, that a `scan` with a budget has not read.

    Leftovers can be pickled. On another machine they are good for the same file system, mounted
    there. The directory is found again by its path below the root and its inode number. If another
    directory is at its place, it has vanished.
    """

    def __new__(
        cls,
        root: int,
        root_identity: tuple[int, int],
        path: bytes,
        depth: int,
        own_identity: tuple[int, int] | None,
        position: int | None,
        read: int,
    ) -> Self: ...
    def __getnewargs__(
        self,
    ) -> tuple[int, tuple[int, int], bytes, int, tuple[int, int] | None, int | None, int]: ...
    @property
    def root(self) -> int:
        """The index of its root in the `paths` of the scan."""
    @property
    def path(self) -> bytes:
        """The path relative to the root; empty for the root itself."""
    @property
    def depth(self) -> int:
        """Levels below the root."""
    @property
    def position(self) -> int | None:
        """Where the rest of the directory begins, as `lseek(2)` takes it. `None` if the directory
        has not been opened.
        """

@final
class Scan:
    """The result of `scan`.

    The scan begins when the program asks for the first row, and can be read once. Several threads
    or tasks can read it; each gets other batches. Ctrl-C ends waiting within 50 ms, also while a
    file system does not answer.

    The scan ends when it is closed, is dropped or leaves a `with` or `async with` block. That takes
    at most 50 ms. A thread that still waits for a file system ends later.

    After `os.fork()` the scan continues in the parent only; the child gets a `RuntimeError`.
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
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
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
        """The read errors so far, also when the scan has ended or has been closed."""
    @property
    def leftovers(self) -> list[Leftover] | None:
        """What the scan has not read, as its budget was spent. Empty if it has read everything.
        `None` until the last batch has been read.
        """
    @property
    def summary(self) -> dict[str, Any] | None:
        """The summary: `entries`, `directories`, `errors`, `vanished`, `elapsed_seconds`, `source`,
        `source_reason` and `workers`. `None` until the last batch has been read.
        """
    def close(self) -> None:
        """Ends the scan. Batches that were read stay valid; reading more is a `ValueError`. Does
        nothing if the scan has ended.
        """
    def _poll(self, bell: Bell, /) -> Batch | None: ...

@final
class Bell:
    """A descriptor for an event loop to watch. It becomes readable when a scan has a batch for the
    task that waits.
    """

    def __new__(cls) -> Self: ...
    def fileno(self) -> int:
        """The number of the descriptor."""

@final
class Batch:
    """Rows of a `Scan`: a record batch for `pyarrow.record_batch`, `polars.DataFrame` and similar
    functions. Its length is the number of rows.
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
    """The read errors of a scan: a table that grows while the scan continues. A program can read it
    at any time.

    >>> scan = ringwalk.scan([top, "/not/there"], on_error="collect")
    >>> sum(len(batch) for batch in scan)
    4
    >>> error = next(iter(scan.errors))
    >>> error.path, error.operation, error.errno, error.message
    ('/not/there', 'stat', 2, 'cannot access "/not/there": No such file or directory (os error 2)')
    >>> pyarrow.table(scan.errors).column_names
    ['path', 'path_raw', 'operation', 'errno', 'message', 'vanished']

    The rows are named tuples of these columns. `path` is text in which bytes that are not UTF-8 are
    escaped; then `path_raw` has the bytes, otherwise null. `operation` is `stat`, `open`, `read`
    (of a directory) or `loop` (a link that leads to a directory that the scan is already inside
    of). If `vanished` is true, the entry was gone when the scan came to it. That is a race, not a
    failure.
    """

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[ReadError]: ...
    def __getitem__(self, index: int, /) -> ReadError: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType: ...
    def batch(self) -> Batch:
        """Returns the rows so far as one batch."""

def du(
    path: _Path,
    *,
    follow: _Follow = "roots",
    one_file_system: bool = False,
    workers: int | None = None,
    source: _Source = "auto",
) -> Usage:
    """Returns the space that a tree takes. A file counts once, also if the tree has several names
    of it. A directory that a mount shows below itself counts once.

    >>> usage = ringwalk.du(top / "src")
    >>> usage.entries, usage.apparent_size, usage.errors
    (2, 12, [])

    The options are the same as for `scan`; `one_file_system` leaves out files on other devices.
    Raises `OSError` if `path` itself cannot be read; the result lists all other errors.
    """

@final
class Usage:
    """The result of `du`."""

    @property
    def apparent_size(self) -> int:
        """Sum of the sizes of regular files and symbolic links in bytes."""
    @property
    def allocated_size(self) -> int:
        """Bytes that the files take on the device."""
    @property
    def entries(self) -> int:
        """Number of files of any type, including directories and the path itself."""
    @property
    def errors(self) -> list[OSError]:
        """The read errors, in no particular order."""

def count(
    path: _Path,
    *,
    stat: bool = True,
    follow: _Follow = "roots",
    one_file_system: bool = False,
    workers: int | None = None,
    source: _Source = "auto",
) -> Count:
    """Counts the entries below a directory. Each name of a file counts. Without `stat` the function
    reads only names, which is faster. A directory that a mount shows at two places counts at both.

    >>> count = ringwalk.count(top)
    >>> count.entries, count.files, count.directories, count.types["symlink"]
    (3, 2, 1, 0)

    The options are the same as for `scan`. Raises `OSError` if `path` is not a directory or cannot
    be read; the result lists all other errors.
    """

@final
class Count:
    """The result of `count`."""

    @property
    def entries(self) -> int:
        """Number of entries: files and directories. The directory itself does not count."""
    @property
    def files(self) -> int:
        """Number of entries that are no directories."""
    @property
    def directories(self) -> int:
        """Number of directories."""
    @property
    def apparent_size(self) -> int | None:
        """Sum of the sizes of all entries in bytes; `None` without `stat`."""
    @property
    def allocated_size(self) -> int | None:
        """Bytes that all entries take on the device; `None` without `stat`."""
    @property
    def types(self) -> dict[str, int]:
        """Number of entries by type. The types are the same as in `scan`, and `unknown` for files
        whose type could not be found out.
        """
    @property
    def errors(self) -> list[OSError]:
        """The read errors, in no particular order."""

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
    """Finds the paths at and below `path` for which an expression in the language of find(1) is
    true; all paths if there is no expression.

    >>> [os.path.basename(path) for path in ringwalk.find(top, "-type", "f", "-size", "-10c")]
    ['notes.txt']

    Paths are `str` or `bytes`, like `path`. They come in no particular order. The expression can
    use all tests and options of `ringwalk find`, also `-H`, `-L` and `-P`, which come first. Its
    actions can be `-print` and `-print0` (which do the same here), `-prune` and `-quit`. Any other
    action is a `ValueError`: those write something other than paths, change files or run commands.
    So is an expression with an error. The function never writes to standard output or standard
    error.

    `Found.errors` lists the errors as messages of find. After all paths, `SearchError` is raised if
    there was an error, unless `on_error` is `"collect"`.
    """

@final
class Found(Generic[AnyStr]):
    """The result of `find`: an iterator of paths.

    The search begins when the program asks for the first path. It ends when this object is closed,
    is dropped or leaves a `with` block. Several threads can read paths; each gets others.
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
        """The errors so far, as messages of find(1)."""
    def close(self) -> None:
        """Ends the search; reading more is a `ValueError`. Does nothing if the search has ended."""

def examine(path: str | bytes) -> str:
    """The compiled part of `doctor`: its report as JSON. Programs call that."""

def hash_contents(
    paths: str | bytes | list[str | bytes],
    algo: str,
    one_file_system: bool,
    workers: int | None,
    source: str,
) -> tuple[list[tuple[str, bytes]], list[OSError]]:
    """The compiled part of `hash`. Programs call that."""

def find_copies(
    roots: str | bytes | list[str | bytes],
    keep_in: str | bytes | list[str | bytes],
    min: int,
    one_file_system: bool,
    workers: int | None,
    source: str,
) -> tuple[list[tuple[int, bytes | None, int, list[Any]]], int, list[OSError]]:
    """The compiled part of `dupes`. Programs call that."""

def take_snapshot(
    roots: str | bytes | list[str | bytes],
    output: str | bytes,
    since: str | bytes | None,
    xattrs: bool,
    atime: bool,
    projid: bool,
    one_file_system: bool,
    memory: int | None,
    workers: int | None,
    source: str,
) -> dict[str, Any]:
    """The compiled part of `snapshot`. Programs call that."""

def cluster_task(
    directory: bytes,
    roots: list[bytes],
    pieces: list[tuple[str, int, int]] | None,
    *,
    task: int,
    epoch: int,
    attempt: int,
    seconds: float | None,
    entries: int | None,
    workers: int | None,
    in_flight: int | None,
    entries_per_second: int | None,
    source: str,
    xattrs: bool,
    atime: bool,
    one_file_system: bool,
) -> dict[str, Any]:
    """A task of `ringwalk.cluster`: walks what other tasks have left, and writes a part."""

def cluster_compact(directory: bytes, output: bytes, *, memory: int | None) -> dict[str, Any]:
    """The compiled part of `ringwalk.cluster.compact`. Programs call that."""

def cluster_file_system(directory: bytes) -> tuple[str | None, int | None]:
    """Returns the UUID of the file system of a directory, and the number of its subvolume of btrfs.

    What cannot be found out is `None`.
    """

def cluster_mounts(
    roots: list[bytes], expected: list[bytes]
) -> list[tuple[bytes, int | None, str | None, int | None, str]]:
    """Returns what is mounted below these directories.

    For each mount point: its path, the inode number of what is mounted, the UUID of the file
    system, the number of the subvolume of btrfs, and the type of the file system. What cannot be
    found out is `None`. What is mounted when a directory is entered counts only if its mount point
    is among `expected`: those are entered first.
    """

@final
class OpenSnapshot:
    """The compiled part of `Snapshot`. Programs call `open_snapshot`."""

    def __new__(cls, path: str | bytes) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def path(self) -> str | bytes: ...
    def info(self) -> dict[str, Any]: ...
    def fileno(self) -> int: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType: ...
    def row_groups(self) -> list[tuple[int, int]]: ...
    def locate(self, path: str | bytes) -> int | None: ...
    def subtree(self, path: str | bytes) -> list[tuple[int, int]]: ...

def compare(
    old: str | bytes | OpenSnapshot,
    new: str | bytes | OpenSnapshot,
    renames: bool,
    workers: int | None,
    source: str,
) -> Diff:
    """The compiled part of `diff`. Programs call that."""

@final
class Diff:
    """The result of `diff`: a sequence of `Change` objects, largest growth first. So it is false if
    there is no change.

    Paths are `str`, as `os.fsdecode` makes them.
    """

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Change: ...
    def __iter__(self) -> Iterator[Change]: ...
    @property
    def same(self) -> bool:
        """True if there is no change."""
    @property
    def complete(self) -> bool:
        """False if there may be more changes: a directory could not be read, or was left out in
        one snapshot only.
        """
    @property
    def growth(self) -> int:
        """Bytes by which the trees have grown: the sum over all changes."""
    @property
    def counts(self) -> dict[str, int]:
        """Number of changes of each kind."""
    @property
    def unread(self) -> list[dict[str, Any]]:
        """What could not be read or was left out: `snapshot` (`old` or `new`), `root`, `path`,
        `errno` and `reason`.
        """
    @property
    def unknown(self) -> int:
        """Number of paths that only one snapshot has, below a directory that the other could not
        read. They are no changes.
        """
    @property
    def old(self) -> dict[str, Any]:
        """What the older snapshot says of itself, as `Snapshot.info`."""
    @property
    def new(self) -> dict[str, Any]:
        """What the newer snapshot says of itself, as `Snapshot.info`."""
    def groups(
        self, by: Literal["dir", "owner", "ext"], *, depth: int | None = None
    ) -> list[dict[str, Any]]:
        """Returns the growth of directories, owners or extensions, largest growth first.

        Each row has `growth` and `entries` (names more than before), and `root` and `path`, or
        `uid` and `owner`, or `ext`. With `"dir"`, `depth` is the number of levels below the roots;
        the default is 1.
        """

@final
class Change:
    """A change: what has happened to a file between two snapshots. `diff` returns these."""

    @property
    def change(self) -> str:
        """What has happened: `added`, `removed`, `modified`, `replaced`, `retyped`, `renamed`,
        `link-added` or `link-removed`. The project's docs/diff.md has the rules.
        """
    @property
    def root(self) -> str:
        """The path of the root of the tree."""
    @property
    def path(self) -> str:
        """The path relative to the root, empty for the root itself."""
    @property
    def absolute_path(self) -> str:
        """The path from `/`."""
    @property
    def type(self) -> str | None:
        """The type as a letter of `find -type`; `None` if it is not known."""
    @property
    def growth(self) -> int:
        """Bytes by which the allocated space has grown."""
    @property
    def likely(self) -> bool:
        """True for a rename or replacement that may be none: no lasting identity proves it."""
    @property
    def renamed_from(self) -> tuple[str, str] | None:
        """Root and path before a rename, else `None`."""
    @property
    def link_to(self) -> tuple[str, str] | None:
        """Root and path of a name that a file with several names has kept, else `None`."""
    @property
    def changed(self) -> list[str]:
        """The fields that differ, such as `size` and `mtime`."""
    @property
    def old(self) -> FileVersion | None:
        """The file in the older snapshot; `None` if that does not have it."""
    @property
    def new(self) -> FileVersion | None:
        """The file in the newer snapshot; `None` if that does not have it."""

@final
class FileVersion:
    """What one snapshot has of a file. `None` is a value that is not known."""

    @property
    def row(self) -> int:
        """The row in the snapshot."""
    @property
    def size(self) -> int | None:
        """Apparent size in bytes."""
    @property
    def alloc(self) -> int | None:
        """Allocated bytes."""
    @property
    def mtime_ns(self) -> int | None:
        """Time of the last change of the contents, in nanoseconds since 1970."""
    @property
    def ctime_ns(self) -> int | None:
        """Time of the last change of the inode, in nanoseconds since 1970."""
    @property
    def btime_ns(self) -> int | None:
        """Time of birth, in nanoseconds since 1970."""
    @property
    def mode(self) -> int | None:
        """Permission bits."""
    @property
    def uid(self) -> int | None:
        """Owner."""
    @property
    def gid(self) -> int | None:
        """Group."""
    @property
    def nlink(self) -> int | None:
        """Number of hard links."""
    @property
    def ino(self) -> int | None:
        """Inode number."""
    @property
    def rdev(self) -> int | None:
        """Device that a device file stands for."""
    @property
    def projid(self) -> int | None:
        """Project to which quotas charge the file."""
    @property
    def target(self) -> str | None:
        """Target of a symbolic link, if it has changed."""

def add_up(
    snapshot: str | bytes | OpenSnapshot,
    by: str,
    under: str | bytes | None,
    top: int | None,
    workers: int | None,
    source: str,
) -> str:
    """The compiled part of `report`: its result as JSON. Programs call that."""

@final
class DirEntry(Generic[AnyStr]):
    """An entry of a directory, like `os.DirEntry`. `scandir` returns these.

    Methods use what the directory lists, if that is enough. `stat` calls the kernel once with, and
    once without following links, and keeps both results.
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
    """The result of `scandir`."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> DirEntry[AnyStr]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def close(self) -> None: ...

# Lists a directory: returns an iterator of `DirEntry` objects, in the order of the file system.
@overload
def scandir(path: int | None = None) -> ScandirIterator[str]: ...
@overload
def scandir(path: AnyStr | os.PathLike[AnyStr]) -> ScandirIterator[AnyStr]: ...

@final
class Walk:
    """The iterator that `walk` uses. Programs call `walk`."""

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
