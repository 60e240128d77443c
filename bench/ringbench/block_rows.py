"""What the suite `block` measures: interfaces, queue depths, and what is read.

Every row reads 4 KiB at random places of a file for a given time. fio has the options for
the least work: no map of blocks read, no clock read for each one (`gtod_reduce`). So the
latency of all rows is depth / IOPS (Little's law).
"""

from __future__ import annotations

from .rows import Row

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)

# What is read, and whether past the page cache.
MEDIA = {"direct": True, "buffered": False, "loop": True}

MILLISECONDS = 200

OURS, FIXED, LIBAIO = "ringwalk", "fio-io_uring-fixed", "fio-libaio"

FIO = (
    *("--name=block", "--filename={tree}", "--readonly", "--rw=randread", "--bs=4k"),
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
DRIVER = ("{tree}", "block=4096", f"milliseconds={MILLISECONDS}")
TRANSPORTS = {OURS: (), "ringwalk-threads": ("threads",)}


def key(medium: str, interface: str, depth: int) -> str:
    """Returns the key of a row."""
    return f"{medium} {interface} {depth}"


def rows(medium: str) -> list[Row]:
    """Returns all interfaces at all depths on one medium."""
    direct = MEDIA[medium]
    table = []
    for depth in DEPTHS:
        for interface, words in ENGINES.items():
            words = (word.replace("{depth}", f"{depth}") for word in words)
            arguments = (*FIO, *words, f"--direct={int(direct)}")
            table.append(Row(key(medium, interface, depth), medium, "fio", arguments))
        for interface, words in TRANSPORTS.items():
            arguments = (*DRIVER, f"depth={depth}", *words, *(("direct",) if direct else ()))
            table.append(Row(key(medium, interface, depth), medium, "block_read", arguments))
    return table
