"""The table of what is measured of programs that read the contents of files.

As in `rows.py`. The finders of duplicates have the options with which they find the same: hidden
files and files of one byte too, no empty files, no symbolic links, no caches of their own. Where a
finder offers several hash functions, it has its fastest one of at least 128 bits.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable

from .rows import COUNT, Row, checksum, first_number, lines

Groups = list[list[bytes]]

# The two copies of a tree; 5 % of the files of the second one are changed.
COPIES, FIRST, SECOND = "copies", "old", "new"
BOTH = f"{{tree}}/{COPIES}"


def fdupes_groups(output: bytes) -> Groups:
    """Returns the groups of paths of an output in the form of fdupes: a path a line, an empty
    line between groups.
    """
    blocks = (block.split(b"\n") for block in output.strip(b"\n").split(b"\n\n"))
    return [paths for paths in blocks if paths != [b""]]


def czkawka_groups(output: bytes) -> Groups:
    """Returns the groups of paths of czkawka's text: a line of dashes with the size, then the
    quoted paths.
    """
    groups: Groups = []
    for line in output.splitlines():
        if line.startswith(b"---- Size "):
            groups.append([])
        elif line.startswith(b'"') and line.endswith(b'"') and groups:
            groups[-1].append(line[1:-1])
    return groups


def _of_groups(groups: Iterable[list[bytes]]) -> int:
    """Returns a number that is the same for the same groups, whatever their order and that in
    them.
    """
    return sum(zlib.crc32(b"\n".join(sorted(paths))) for paths in groups)


Answers = dict[str, Callable[[bytes], int]]


def found(parse: Callable[[bytes], Groups]) -> Answers:
    """Returns the answers that are compared: groups, files in them, and which files."""
    return {
        "groups": lambda output: len(parse(output)),
        "files in groups": lambda output: sum(map(len, parse(output))),
        "checksum of groups": lambda output: _of_groups(parse(output)),
    }


FDUPES, CZKAWKA = found(fdupes_groups), found(czkawka_groups)


def dupes(key: str, where: str, *options: str, source: str = "auto") -> Row:
    """Returns a row of `ringwalk dupes`."""
    arguments = ("--source", source, "dupes", "--format", "fdupes", *options, where)
    return Row(key, "dupes", "ringwalk", arguments, FDUPES)


def finders(where: str = BOTH) -> list[Row]:
    """Returns all finders of duplicates in a directory."""
    fclones = ("--progress=false", "group", "--hidden", "--no-ignore", "--min=1")
    czkawka = (
        *("dup", "--minimal-file-size=1", "--disable-cache"),
        *("--ignore-error-code-on-found", "--do-not-print-messages"),
    )
    # 128 bits of metro, as fclones has by default; the default is the slower blake2b.
    rmlint = ("--types=df", "--size=1", "--hidden", "--no-followlinks", "-PPP", "--output=fdupes")
    return [
        dupes("dupes", where),
        Row("fclones", "dupes", "fclones", (*fclones, "--format=fdupes", where), FDUPES),
        Row("czkawka", "dupes", "czkawka", (*czkawka, "--directories", where), CZKAWKA),
        Row("rmlint", "dupes", "rmlint", (*rmlint, where), FDUPES),
        # Compares bytes. `--quick` would trust 64 bits of a hash.
        Row("jdupes", "dupes", "jdupes", ("--recurse", "--quiet", where), FDUPES),
    ]


PEERS = ("fclones", "czkawka", "rmlint", "jdupes")


def memory_finders() -> list[Row]:
    """Returns the finders of a million files of one size, which `{tree}` is here.

    Without rmlint, which takes many times as long as the others for files of one size.
    """
    return [row for row in finders("{tree}") if row.tool != "rmlint"]


FIRST_COPY = f"{BOTH}/{FIRST}"
HASHES: Answers = {"files": lines, "checksum of hashes": checksum}
HASH = [
    Row("floor-read", "read", "read_floor", (FIRST_COPY,), {"files": first_number}),
    Row("hash", "read", "ringwalk", ("hash", FIRST_COPY), HASHES),
    Row("b3sum", "read", "b3sum-tree", (FIRST_COPY,), HASHES),
]

# One large file, which is `{tree}` here.
HASH_FILE = Row("hash", "read", "ringwalk", ("hash", "{tree}"), HASHES)
B3SUM_FILE = Row("b3sum", "read", "b3sum", ("{tree}",), HASHES)
# The best of these rates is the disk's.
FIO_DEPTHS = (2, 4, 8, 16, 32)


def fio_key(depth: int) -> str:
    """Returns the key of fio's row at a queue depth."""
    return f"fio-{depth}"


def fio_rows(size: int) -> list[Row]:
    """Returns sequential reads past the page cache of so many bytes, by queue depth."""
    words = (
        *("--name=contents", "--filename={tree}", "--readonly", "--rw=read", "--bs=1m"),
        *(f"--size={size}", "--direct=1", "--ioengine=io_uring", "--thread", "--gtod_reduce=1"),
        *("--invalidate=0", "--eta=never", "--output-format=json"),
    )
    return [
        Row(fio_key(depth), "read", "fio", (*words, f"--iodepth={depth}")) for depth in FIO_DEPTHS
    ]


def fio_seconds(output: bytes) -> float:
    """Returns the seconds that fio was reading, without its start, from its JSON."""
    # A warning may stand before it.
    (job,) = json.loads(output[output.index(b"{") :])["jobs"]
    if job["error"]:
        raise ValueError(f"error {job['error']}")
    return job["read"]["runtime"] / 1000


SOURCES = ("auto", "syscall")

# The hashes of the files of the tree, beside it and not in it.
CACHE = ("--cache", "{tree}/../contents.cache")


def cached() -> list[Row]:
    """Returns a second run with a cache, beside the walk alone, by each source."""
    table = []
    for source in SOURCES:
        walk = ("--source", source, "count", BOTH)
        table += [
            Row(f"count-{source}", "stat", "ringwalk", walk, COUNT.answers),
            dupes(f"dupes-cached-{source}", BOTH, *CACHE, source=source),
            dupes(f"dupes-{source}", BOTH, source=source),
        ]
    return table
