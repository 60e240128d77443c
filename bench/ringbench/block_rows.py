"""What the suite `block` measures: interfaces, queue depths, and what is read.

Every row reads at random places of a file for a given time. fio has the options for the
least work: no map of blocks read, no clock read for each one (`gtod_reduce`). So the
latency of all rows is depth / IOPS (Little's law). Both read a file as long as the other,
at places that are drawn anew in each run, into page-aligned memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .rows import Row

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
PEAK_DEPTHS = (32, 64, 128)

MILLISECONDS = 200

OURS, FIXED, LIBAIO = "ringwalk", "fio-io_uring-fixed", "fio-libaio"
COMPARED = (FIXED, LIBAIO, OURS)

FIO = (
    *("--name=block", "--filename={tree}", "--readonly", "--rw=randread", "--bs={size}"),
    *("--time_based", f"--runtime={MILLISECONDS}ms", "--norandommap", "--randrepeat=0"),
    *("--gtod_reduce=1", "--invalidate=0", "--thread", "--group_reporting"),
    *("--eta=never", "--output-format=json"),
)
ENGINES = {
    # One read at a time is all it does: as many threads as the others have reads in flight.
    "fio-psync": ("--ioengine=psync", "--iodepth=1", "--numjobs={depth}"),
    LIBAIO: ("--ioengine=libaio", "--iodepth={depth}"),
    "fio-io_uring": ("--ioengine=io_uring", "--iodepth={depth}"),
    FIXED: ("--ioengine=io_uring", "--iodepth={depth}", "--fixedbufs", "--registerfiles"),
}
DRIVER = ("{tree}", "block={size}", f"milliseconds={MILLISECONDS}")
TRANSPORTS = {OURS: (), "ringwalk-threads": ("threads",)}


@dataclass(frozen=True)
class Medium:
    """What is read, and how: `file` is a name of `block.files`, `size` the bytes of a read."""

    file: str
    direct: bool
    size: int = 4096
    polled: bool = False
    interfaces: tuple[str, ...] = (*ENGINES, *TRANSPORTS)
    depths: tuple[int, ...] = DEPTHS


MEDIA = {
    "direct": Medium("disk", True),
    "buffered": Medium("warm", False),
    "loop": Medium("loop", True),
    # The peak: the smallest reads that a disk does, and enough of them.
    "direct-512": Medium("disk", True, 512, interfaces=COMPARED, depths=PEAK_DEPTHS),
    "loop-512": Medium("loop", True, 512, interfaces=COMPARED, depths=PEAK_DEPTHS),
    # libaio does not poll.
    "polled": Medium("polled", True, polled=True, interfaces=(FIXED, OURS)),
}


def key(medium: str, interface: str, depth: int) -> str:
    """Returns the key of a row."""
    return f"{medium} {interface} {depth}"


def rows(name: str) -> list[Row]:
    """Returns all interfaces at all depths on one medium."""
    medium = MEDIA[name]
    return [
        Row(key(name, interface, depth), name, *_command(medium, interface, depth))
        for depth in medium.depths
        for interface in medium.interfaces
    ]


def all_rows(media: Iterable[str] = MEDIA) -> dict[str, Row]:
    """Returns the rows of these media by their keys."""
    return {row.key: row for medium in media for row in rows(medium)}


def _command(medium: Medium, interface: str, depth: int) -> tuple[str, tuple[str, ...]]:
    """Returns the program and its arguments."""
    if interface in ENGINES:
        polled = ("--hipri",) if medium.polled else ()
        words = (*FIO, *ENGINES[interface], f"--direct={int(medium.direct)}", *polled)
        tool = "fio"
    else:
        direct = ("direct",) if medium.direct else ()
        polled = ("iopoll",) if medium.polled else ()
        words = (*DRIVER, "depth={depth}", *TRANSPORTS[interface], *direct, *polled)
        tool = "block_read"
    filled = (
        word.replace("{depth}", f"{depth}").replace("{size}", f"{medium.size}") for word in words
    )
    return tool, tuple(filled)
