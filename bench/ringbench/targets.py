"""The table of bounds that the project holds itself to, and whether they are met."""

from __future__ import annotations

from dataclasses import dataclass

from . import api_rows, block_rows, browse_rows, contents_rows, kernel_rows, worker_rows
from .bulk_rows import DIRECTORY_SIZES, KINDS, LETTERS

# One suite's results: the figures of each row, by its key.
Figures = dict[str, dict[str, float]]

# What a bound is about, where that is not the time.
ABOUT = {
    "cpu": " (CPU time)",
    "instructions": " (instructions)",
    "iops": " (IOPS)",
    "cpu_us_a_read": " (CPU a read)",
}

UNITS = {
    "wall": 1000.0,
    "cpu": 1000.0,
    "rss_kib": 1 / 1024,
    "entries_per_call": 1.0,
    "bytes_a_dir": 1.0,
    "p95": 1000.0,
    "max": 1000.0,
    "bytes_an_entry": 1.0,
}
UNIT_NAMES = {
    "wall": "ms",
    "cpu": "ms",
    "rss_kib": "MiB",
    "entries_per_call": "entries/call",
    "bytes_a_dir": "bytes",
    "p95": "ms (95th percentile)",
    "max": "ms (the slowest)",
    "bytes_an_entry": "bytes an entry",
}


@dataclass(frozen=True)
class Bound:
    """`figure` of `row` is at most `factor` times that of the best of `of`.

    Without `of`, `factor` is the limit itself; with `at_least` the limit is a lower one.
    `as_speed` only changes the words: so many times as fast, the inverse of the ratio.
    """

    suite: str
    row: str
    factor: float
    of: tuple[str, ...] = ()
    figure: str = "wall"
    at_least: bool = False
    as_speed: bool = False

    def text(self) -> str:
        """Returns the bound in words."""
        relation = "at least" if self.at_least else "at most"
        if not self.of:
            limit = self.factor * UNITS[self.figure]
            return f"{relation} {limit:g} {UNIT_NAMES[self.figure]}"
        best = self.of[0] if len(self.of) == 1 else f"fastest of {', '.join(self.of)}"
        about = ABOUT.get(self.figure, "")
        if self.as_speed:
            return f"at least {1 / self.factor:g} x as fast as {best}{about}"
        return f"{relation} {self.factor:.2f} x {best}{about}"

    def shown(self, ratio: float) -> str:
        """Returns a ratio in the terms of the bound."""
        return f"{1 / ratio if self.as_speed else ratio:.2f} x"

    def judge(self, figures: Figures) -> Verdict:
        """Compares the figures measured with the bound."""
        measured = [
            figures[key][self.figure] for key in self.of if self.figure in figures.get(key, {})
        ]
        own = self.figure in figures.get(self.row, {})
        if not own or (self.of and not measured):
            missing = " and ".join(self.of) if own else self.row
            return Verdict(self, None, None, f"not measured: no {missing}")
        value = figures[self.row][self.figure]
        base = min(measured) if self.of else 1.0
        limit = self.factor * base
        met = value >= limit if self.at_least else value <= limit
        return Verdict(self, value / base if self.of else None, met, "")


@dataclass(frozen=True)
class Verdict:
    """A bound with the ratio found (None if the limit is absolute) and whether it is met."""

    bound: Bound
    ratio: float | None
    met: bool | None
    reason: str

    def word(self) -> str:
        """Returns `met`, `not met`, or why there is no verdict."""
        if self.met is None:
            return self.reason
        return "met" if self.met else "not met"


MIB = 1024.0  # in KiB, the unit of `rss_kib`

# The fastest bfs that is installed: 4.x reads with io_uring, Debian 12's 2.6 is older and slower.
BFS_ALL = ("bfs4-all", "bfs-all")


def faster(suite: str, row: str, times: float, *of: str, figure: str = "wall") -> Bound:
    """Returns the bound that `row` is at least `times` as fast as the fastest of `of`."""
    return Bound(suite, row, 1 / times, of, figure, as_speed=True)


def _whole_file_systems() -> list[Bound]:
    """Returns the bounds of a file system's own source, by name and chosen by `auto`."""
    bounds = []
    for size in ("", "-million"):
        for row in ("du-ext4", "du-auto"):
            warm, cold = f"ext4{size}-warm", f"ext4{size}-cold"
            bounds += [
                faster(warm, row, 8, "fdu"),
                faster(warm, row, 6, "du-syscall"),
                faster(cold, row, 8, "fdu"),
                faster(cold, row, 12, "gnu-du-sb"),
            ]
        for state in ("warm", "cold"):
            suite = f"xfs{size}-{state}"
            bounds += [
                faster(suite, "du-xfs", 1.8, "du-syscall", figure=figure)
                for figure in ("wall", "cpu")
            ]
            bounds.append(faster(f"btrfs{size}-{state}", "du-btrfs", 1.6, "du-syscall"))
    for row in ("du-ext4", "du-auto"):
        bounds += [
            faster("ext4-slow", row, 15, "fdu"),
            faster("ext4-slow", row, 50, "gnu-du-sb"),
            faster("ext4-spinning", row, 30, "gnu-du-sb"),
        ]
    for source in ("ext4", "auto"):
        bounds += [
            faster("ext4-warm", f"find-{what}-{source}", 3, *(f"{tool}-{what}" for tool in FINDERS))
            for what in ("name", "size")
        ]
    return bounds


# The peers of the searches.
FINDERS = ("bfs4", "bfs", "fd")

# Two runs of the same command differ by as much.
SAME = 1.03


def _parts() -> list[Bound]:
    return [
        Bound(suite, f"{kind}-{letter}-auto", SAME, (f"{kind}-{letter}-syscall",))
        for suite in ("ext4-part", "ext4-million-part")
        for letter in LETTERS
        for kind in KINDS
    ]


def _block_reader() -> list[Bound]:
    """Returns the bounds of the block reader at every queue depth."""
    bounds = []
    for medium, about in block_rows.MEDIA.items():
        for depth in about.depths:
            ours, fixed, libaio = (
                block_rows.key(medium, interface, depth)
                for interface in (block_rows.OURS, block_rows.FIXED, block_rows.LIBAIO)
            )
            if block_rows.LIBAIO in about.interfaces:
                bounds.append(Bound("block", ours, 1.0, (libaio,), figure="iops", at_least=True))
            bounds += [
                Bound("block", ours, 0.97, (fixed,), figure="iops", at_least=True),
                Bound("block", ours, 1.0, (fixed,), figure="cpu_us_a_read"),
            ]
    return bounds


def _kernel_side() -> list[Bound]:
    """Returns the bounds of the module and the patched kernel."""
    bounds = []
    # Time, and what an emulated processor did for it.
    for figure in ("wall", "instructions"):
        for kernel in (*kernel_rows.STOCK, "patched"):
            suite = f"kernel-warm-{kernel}"
            stock = kernel in kernel_rows.STOCK
            for way in kernel_rows.MODULE if stock else kernel_rows.OPCODE:
                bounds += [
                    faster(suite, f"stat-{way}", 3, "stat-syscall", figure=figure),
                    faster(suite, f"names-{way}", 0.95, "names-syscall", figure=figure),
                ]
            source = "module" if stock else "ring"
            bounds.append(faster(suite, f"count-{source}", 2.5, "count-syscall", figure=figure))
    # The kernel code saves instructions, so the bounds are about instructions.
    kernel = kernel_rows.SUBTREE_KERNEL
    suite = f"kernel-subtrees-{kernel}"
    bounds.append(faster(suite, "count-module", 2.2, "count-syscall", figure="instructions"))
    # Where calls wait for a disk, whole subtrees are not slower than one directory a request, nor
    # than system calls.
    for medium in kernel_rows.SLOW_DISKS:
        suite = f"kernel-subtrees-{medium}-{kernel}"
        bounds += [
            Bound(suite, "stat-tree", SAME, ("stat-ioctl",)),
            Bound(suite, "find-size-module", SAME, ("find-prune-module",)),
            Bound(suite, "count-module", SAME, ("count-syscall",)),
        ]
    for row, times in (("ring-getdents", 1), ("ring-readdirplus", 2), ("count-ring", 2)):
        bounds += [
            faster("kernel-microvm", row, 1.73 * times, "gnu-du-bs"),
            faster("kernel-microvm", row, 3.28 * times, "tokio-current-thread"),
        ]
    bounds += [
        faster("kernel-find-cold", "find-ring", 2.3, "gnu-find"),
        faster("kernel-find-cached", "find-ring", 1.45, "gnu-find"),
    ]
    largest = DIRECTORY_SIZES[-1]
    for kernel in kernel_rows.DIRECTORY_KERNELS:
        suite = f"kernel-directory-{kernel}"
        bounds.append(faster(suite, f"readahead {largest}", 6, f"plain {largest}"))
    bounds += [
        Bound(f"kernel-fuse-{kernel}", row.key, 450, figure="entries_per_call", at_least=True)
        for kernel in kernel_rows.FUSE_LARGE
        for row in kernel_rows.FUSE
    ]
    return bounds


def _interfaces() -> list[Bound]:
    """Returns the bounds of asynchronous Rust, Python and C, beside existing interfaces."""
    bounds = []
    for state in ("warm", "cold"):
        bounds += [
            faster(f"async-{state}", row, 4, "tokio-traverse")
            for row in ("traverse", "traverse-stream")
        ]
        for kind in api_rows.DIRECTORY_KINDS:
            suite = f"async-directory-{kind}-{state}"
            bounds += [faster(suite, "next-batch", 5, "tokio"), faster(suite, "next", 2, "tokio")]
    bounds += [
        Bound("async-idle", row, 1024, figure="bytes_a_dir") for row in api_rows.IDLE_WITHOUT_BUFFER
    ]
    bounds.append(faster("python-warm", "walk", 4, "os-walk"))
    for source in api_rows.SOURCES:
        bounds += [
            faster("python-warm", f"scan-{source}", 8, "os-walk-stat"),
            faster("python-warm", f"scan-{source}", 3, "scandir-rs"),
            Bound("python-memory", f"table-{source}", 400 * MIB, figure="rss_kib"),
            faster("capi-warm", f"fts-{source}", 2.5, "glibc-fts"),
        ]
    return bounds


def _browser() -> list[Bound]:
    """Returns the bounds of `ringwalk browse`."""
    keys = [("browse-keys", row.key) for row in browse_rows.KEYS]
    keys += [("browse-wide", row.key) for row in browse_rows.WIDE]
    ours = [row.key for row in browse_rows.HELD if row.tool == "ringwalk"]
    return [
        *(Bound("browse-start", row.key, 0.050) for row in browse_rows.START),
        # One frame of a screen that shows 60 a second.
        *(
            Bound(suite, row, 0.016, figure=figure)
            for suite, row in keys
            for figure in ("p95", "max")
        ),
        *(Bound("browse-memory", row, 45, figure="bytes_an_entry") for row in ours),
        Bound("browse-10M", "open", 0.050),
        Bound("browse-10M", "open", 30 * MIB, figure="rss_kib"),
    ]


def _contents() -> list[Bound]:
    """Returns the bounds of hashes and duplicates."""
    rates = tuple(map(contents_rows.fio_key, contents_rows.FIO_DEPTHS))
    limits = {"cold": 0.6, "warm": 0.6, "slow": 0.3}
    return [
        Bound("contents-hash", "hash", 0.6, ("b3sum",)),
        Bound("contents-hash", "hash", 1.1, ("floor-read",)),
        faster("contents-file-cold", "hash", 0.95, *rates),
        Bound("contents-file-warm", "hash", 1.0, ("b3sum",)),
        *(
            Bound(f"contents-dupes-{state}", "dupes", limit, contents_rows.PEERS)
            for state, limit in limits.items()
        ),
        *(
            Bound("contents-cached", f"dupes-cached-{source}", 1.2, (f"count-{source}",))
            for source in contents_rows.SOURCES
        ),
        Bound("contents-memory", "dupes", 100, figure="bytes_an_entry"),
    ]


BOUNDS = [
    Bound("warm", "count-no-stat", 1.08, ("floor-names",)),
    Bound("warm", "count", 1.08, ("floor-stat",)),
    Bound("warm", "count", 0.85, ("fdu", "pdu", "diskus", "dua")),
    Bound("warm", "du-sb", 1.12, ("floor-stat",)),
    Bound("warm", "du-a", 1.25, ("floor-stat",)),
    Bound("warm", "du-sb", 0.60, ("gnu-du-sb",)),
    Bound("warm", "du-a", 0.60, ("gnu-du-sb",)),
    Bound("empty", "count", 1.5, ("gnu-du",)),
    Bound("memory", "count", 16 * MIB, figure="rss_kib"),
    Bound("memory", "du-sb", 64 * MIB, figure="rss_kib"),
    Bound("memory", "du-a", 64 * MIB, figure="rss_kib"),
    Bound("memory-10M", "count", 16 * MIB, figure="rss_kib"),
    Bound("find", "find-all", 1.15, ("floor-names",)),
    Bound("find", "find-all", 0.80, BFS_ALL),
    Bound("find", "find-all", 0.60, ("fd",)),
    Bound("find", "find-all", 0.40, ("gnu-find-all",)),
    Bound("find", "find-name", 1.15, ("floor-names",)),
    Bound("find", "find-dirs", 1.15, ("floor-names",)),
    Bound("find", "find-iregex", 1.15, ("floor-names",)),
    Bound("find", "find-size", 1.15, ("floor-stat",)),
    Bound("find", "find-size", 0.85, ("bfs4-size", "bfs-size")),
    Bound("find", "find-newer", 1.15, ("floor-stat",)),
    Bound("find", "find-newer", 0.85, ("bfs4-newer", "bfs-newer")),
    Bound("find", "find-printf", 1.15, ("floor-stat",)),
    Bound("find", "find-printf", 0.85, ("bfs4-printf", "bfs-printf")),
    Bound("find", "find-makefile", 0.5, ("floor-stat",)),
    Bound("find", "find-exec", 0.6, ("gnu-find-exec",)),
    Bound("find-empty", "find-posix", 1.5, ("gnu-find-posix",)),
    Bound("find-empty", "find-utf8", 1.5, ("gnu-find-utf8",)),
    Bound("find-memory", "find-all", 16 * MIB, figure="rss_kib"),
    Bound("find-memory", "find-size", 16 * MIB, figure="rss_kib"),
    Bound("wide", "count-2-workers", 0.60, ("count-1-worker",)),
    Bound("slow", "count", 0.55, ("fdu",)),
    Bound("slow", "count", 0.17, ("gnu-du-sb",)),
    Bound("gluster", "count-no-stat", 450, figure="entries_per_call", at_least=True),
    Bound("gluster", "count", 450, figure="entries_per_call", at_least=True),
    *_whole_file_systems(),
    *_parts(),
    *_block_reader(),
    *_kernel_side(),
    *_interfaces(),
    *_browser(),
    *_contents(),
    Bound("snapshot", "snapshot-syscall", 1.35, ("count-syscall",)),
    Bound("snapshot", "snapshot-syscall", 0.25, ("ncdu",)),
    Bound("snapshot", "snapshot-syscall", 0.8, ("gdu",)),
    Bound("snapshot", "snapshot-ext4", 0.5, ("snapshot-syscall",)),
    Bound("snapshot", "snapshot-syscall", 64 * MIB, figure="rss_kib"),
    Bound("snapshot-read", "diff", 0.6),
    Bound("snapshot-read", "diff", 0.1, ("diff-listings",)),
    Bound("snapshot-read", "find-from", 0.3, ("find-live",)),
    Bound("snapshot-read", "du-from", 0.005),
    Bound("snapshot-read", "report-html", 0.5),
    Bound("snapshot-10M", "report-owner-age", 2),
    Bound("cluster", "pool-1", 1.15, ("snapshot-1",)),
    Bound("cluster", "pool-2", 1.25, ("snapshot-2",)),
    # 0.8 of linear.
    Bound("cluster-slow", "processes-2", 1 / 1.6, ("processes-1",)),
    Bound("cluster-slow", "processes-4", 1 / 3.2, ("processes-1",)),
    Bound("cluster-nfs", "processes-2-of-8", 1 / 1.6, ("processes-1-of-8",)),
    Bound("cluster-nfs", "processes-4-of-8", 1 / 3.2, ("processes-1-of-8",)),
    # 0.8 of the server's own limit.
    Bound("cluster-nfs", "processes-2", 1 / 0.8, ("one-with-128",)),
    Bound("cluster-nfs", "processes-4", 1 / 0.8, ("one-with-128",)),
    Bound("cluster-directory", "processes-4", 0.3, ("processes-1",)),
    # 0.8 of the throughput of the best number.
    *(
        Bound(suite, "auto", 1 / 0.8, tuple(row.key for row in worker_rows.FIXED))
        for suite in worker_rows.TREES
    ),
    *(
        Bound("snapshot-100M", f"write-{shape}", 256 * MIB, figure="rss_kib")
        for shape in ("tree", "flat", "links", "wide")
    ),
    faster("ext4-slow", "du-2-always", 6, "du-2-never"),
    Bound("ext4-million-warm", "du-ext4", 96 * MIB, figure="rss_kib"),
    Bound("ext4-million-warm", "du-b-ext4", 96 * MIB, figure="rss_kib"),
    faster("readdirplus", "find-ext4 500000", 10, "find-syscall 500000"),
    faster("readdirplus", "find-prefetch 500000", 5, "find-syscall 500000"),
]


def verdicts(suite: str, figures: Figures) -> list[Verdict]:
    """Compares the figures of one suite with its bounds."""
    return [bound.judge(figures) for bound in BOUNDS if bound.suite == suite]
