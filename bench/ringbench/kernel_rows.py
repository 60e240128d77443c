"""The table of what is measured of the kernel side, in guests; as in `rows.py`.

rwbench walks in one thread and differs between its rows in nothing but the call that
reads: `names-*` against getdents64, `stat-*` against getdents64 and statx, `xattrs-*`
against these and listxattrat and getxattrat.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .bulk_rows import PLAIN
from .rows import (
    COUNTED,
    ENTRIES,
    ENTRIES_AND_BYTES,
    EVERY_NAME,
    GNU_TOTAL,
    TOTAL,
    Row,
    checksum,
    first_number,
)

# The stock kernels that the module is measured on.
STOCK = ("6.1", "6.12", "7.3")

# How a walk reads: the module by ioctl and inline on a ring; the patched kernel's operations.
MODULE = ("ioctl", "ring")
OPCODE = ("opcode",)


def walks(*ways: str, with_metadata: tuple[str, ...] = ()) -> list[Row]:
    """Returns rwbench in these ways, and by system calls.

    `with_metadata` are ways that give metadata always.
    """
    every = ("syscall", *ways)
    return [
        *(
            Row(f"names-{way}", "names", "rwbench", ("names", way, "{tree}"), ENTRIES)
            for way in every
        ),
        *stat_walks(*every, *with_metadata),
    ]


def stat_walks(*ways: str) -> list[Row]:
    """Returns rwbench with metadata in these ways."""
    return [
        Row(f"stat-{way}", "stat", "rwbench", ("stat", way, "{tree}"), ENTRIES_AND_BYTES)
        for way in ways
    ]


def xattr_walks(*ways: str) -> list[Row]:
    """Returns rwbench with metadata and all extended attributes in these ways."""
    return [
        Row(f"xattrs-{way}", "xattrs", "rwbench", ("xattrs", way, "{tree}"), ENTRIES_AND_BYTES)
        for way in ways
    ]


def by_source(source: str) -> tuple[str, ...]:
    """Options of Ringwalk: this source, and no blocks read by another way."""
    return PLAIN if source == "syscall" else ("--source", source, "--prefetch", "never")


def counts(*sources: str) -> list[Row]:
    """Returns `ringwalk count` by these sources, and by system calls."""
    return [
        Row(
            f"count-{source}",
            "stat",
            "ringwalk",
            (*by_source(source), "count", "{tree}"),
            COUNTED,
        )
        for source in ("syscall", *sources)
    ]


# tree: many directories a request.
WARM_STOCK = [*walks(*MODULE, with_metadata=("tree",)), *counts("module")]
WARM_PATCHED = [*walks(*OPCODE), *counts("ring")]

# Of kernels with listxattrat(2) and getxattrat(2): Linux 6.13.
XATTRS = {
    "7.3": xattr_walks("syscall", *MODULE),
    "patched": xattr_walks("syscall", *OPCODE),
}

# Arguments and answers by name. `du` needs each directory's order, and a search with -prune decides
# which directories are read. The others read whole subtrees.
PROGRAMS: dict[str, tuple[tuple[str, ...], dict[str, Callable[[bytes], int]]]] = {
    "count": (("count", "{tree}"), COUNTED),
    "du-s": (("du", "-s", "{tree}"), {"total of du -s": first_number}),
    "du": (("du", "{tree}"), {"lines of du": checksum}),
    "find-size": (("find", "{tree}", "-size", "+10k"), {"lines of find -size": checksum}),
    "find-prune": (
        ("find", "{tree}", "-size", "+10k", "-o", "-name", "/", "-prune"),
        {"lines of find -size": checksum},
    ),
}


def programs(*names: str, options: tuple[str, ...] = ()) -> list[Row]:
    """Returns these programs by system calls, and by the module."""
    return [
        Row(
            f"{name}-{by}",
            name,
            "ringwalk",
            (*by_source(by), *options, *PROGRAMS[name][0]),
            PROGRAMS[name][1],
        )
        for name in names
        for by in ("syscall", "module")
    ]


# Names and sizes by system calls, by one directory a request, and by many.
SUBTREES = [
    *stat_walks("syscall", "ioctl", "tree"),
    *programs("count", "du-s", "du", "find-size", options=("--workers", "1")),
]

# The same where calls wait for a disk, with as many workers as the programs choose. `find-prune` is
# the search of `find-size` without reading whole subtrees: no name is "/".
WAITING = [
    *stat_walks("syscall", "ioctl", "tree"),
    *programs("count", "find-size", "find-prune"),
]

# The kernel that whole subtrees are measured on, with the module.
SUBTREE_KERNEL = "6.12"

# Disks that they are measured on cold: one on which each read takes 2 ms longer, or as much longer
# as the guest is slower; one with a head that moves.
SLOW_DISKS = ("2ms", "spinning")

TOKIO = ("current-thread", "multi-thread")

# The published measurement: one thread and an event loop against GNU du and tokio.
MICROVM = [
    Row("gnu-du-bs", "stat", "du", ("-bs", "{tree}"), GNU_TOTAL),
    *(
        Row(f"tokio-{kind}", "stat", "traverse", (kind, "{tree}"), ENTRIES_AND_BYTES)
        for kind in TOKIO
    ),
    *(
        Row(f"ring-{way}", "stat", "ringtraverse", (way, "{tree}"), ENTRIES_AND_BYTES)
        for way in ("getdents", "readdirplus")
    ),
    *counts("ring"),
    Row("du-sb-ring", "stat", "ringwalk", (*by_source("ring"), "du", "-sb", "{tree}"), TOTAL),
]

# One thread, as the program that was published with the first operation has.
FIND = [
    Row("gnu-find", "names", "find", ("{tree}",), EVERY_NAME),
    *(
        Row(
            f"find-{source}",
            "names",
            "ringwalk",
            (*by_source(source), "--workers", "1", "find", "{tree}"),
            EVERY_NAME,
        )
        for source in ("syscall", "ring")
    ),
]
FIND_LONG = frozenset(row.key for row in FIND)

# Kernels that reading ahead is measured on: by the module's READAHEAD, and on the patched kernel by
# advice for the directory and STATX in the order of inode numbers.
DIRECTORY_KERNELS = ("7.3", "patched")


def directory(*, opcode: bool) -> list[Row]:
    """Names and metadata of one directory: as ever, in one call, and after READAHEAD.

    READDIRPLUS sorts what fits into its buffer: the largest. The module's READAHEAD reads inodes
    only (`inodes`). For `readahead` root reads the blocks of the directory first.
    """
    large = ("--buffer", str(1 << 20))
    words = {
        "plain": ("stat", "syscall"),
        "readdirplus": (*large, "stat", "opcode" if opcode else "ioctl"),
    }
    if opcode:
        advice = ("--readahead", "fadvise", "--depth", "64")
        words["readahead"] = (*advice, "stat", "statx-sorted")
    else:
        words["inodes"] = ("--readahead", "module", "stat", "syscall")
        words["readahead"] = ("--readahead", "blocks+module", "stat", "syscall")
    return [
        Row(what, "stat", "rwbench", (*options, "{tree}/messages"), ENTRIES_AND_BYTES)
        for what, options in words.items()
    ]


def calls(output: bytes) -> dict[str, float]:
    """Entries a call, from what rwbench prints; its last call finds nothing."""
    found = re.search(rb"(\d+) entries, .*? (\d+) directories, (\d+) calls", output)
    if not found:
        return {}
    entries, directories, made = map(int, found.groups())
    with_entries = max(1, made - directories)
    return {"calls": made, "entries_per_call": entries / with_entries}


# Delays of the FUSE server's answers in microseconds: a server nearby, one far away.
FUSE_DELAYS = {"150us": 150, "7ms": 7000}
FUSE_ENTRIES = 10_000

# Kernels that ask a server for a page at a time, and that ask for as much as the caller has room
# for: Linux 6.16 and later, and the backport of that.
FUSE_PAGES = "6.12"
FUSE_LARGE = ("patched", "6.12-fuse")

# 32 pages, the most that these kernels ask this server for.
FUSE_BUFFER = 128 * 1024

FUSE = [
    Row(
        f"{what}-{name}",
        what,
        "rwbench",
        ("--buffer", str(FUSE_BUFFER), what, "syscall", f"{{tree}}/{name}"),
        ENTRIES,
    )
    for what in ("names", "stat")
    for name in FUSE_DELAYS
]


def serve(point: str) -> str:
    """Returns shell that mounts a fresh file system for each delay.

    Each earlier server ends with the command that it runs.
    """
    lines = ["killall -q sleep; wait"]
    for name, delay in FUSE_DELAYS.items():
        place = f"{point}/{name}"
        server = f"fuse_readdir --delay-us {delay} --entries {FUSE_ENTRIES} {place}"
        lines += [
            f"mkdir -p {place}",
            f'{server} "sleep 100000" >/dev/null 3>&- &',
            f"until grep -q ' {place} fuse' /proc/mounts; do usleep 10000; done",
        ]
    return "\n".join(lines)
