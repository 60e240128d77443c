"""The table of what is measured of the sources: whole file systems, a tenth of one, one directory.

As in `rows.py`; Ringwalk's rows are named after their source: `du-ext4`, `du-auto`,
`du-syscall`. `syscall` is the plain walk, without prefetch, unless the key says so.
"""

from __future__ import annotations

from collections.abc import Callable

from .rows import (
    COUNT,
    FDU,
    FLOOR_NAMES,
    FLOOR_STAT,
    GNU_DU_SB,
    TOTAL,
    Row,
    checksum,
    first_number,
    lines,
    lines_below,
    searches,
)

PLAIN = ("--source", "syscall", "--prefetch", "never")
PREFETCH = ("--source", "syscall", "--prefetch", "always")

Answers = dict[str, Callable[[bytes], int]]


def ours(
    what: str, group: str, sources: tuple[str, ...], *words: str, answers: Answers
) -> list[Row]:
    """Returns the same command by several sources: `WHAT-ext4`, `WHAT-auto`, `WHAT-syscall`…"""
    ways = {"syscall": PLAIN, "prefetch": PREFETCH}
    return [
        Row(
            f"{what}-{source}",
            group,
            "ringwalk",
            (*ways.get(source, ("--source", source)), *words),
            answers,
        )
        for source in sources
    ]


def totals(*sources: str) -> list[Row]:
    """Returns `du -sb` of everything, by these sources and by the two other programs."""
    words = ("du", "-sb", "{tree}")
    return [*ours("du", "stat", sources, *words, answers=TOTAL), FDU, GNU_DU_SB]


def named_totals(*sources: str) -> list[Row]:
    """Returns `du -b`, which has a line for each directory, so it needs more than inodes."""
    answers = {"lines of du -b": lines, "checksum of du -b": checksum}
    return ours("du-b", "stat", sources, "du", "-b", "{tree}", answers=answers)


def whole(source: str) -> list[Row]:
    """Returns a whole file system, warm, by the source of its kind."""
    sources = (source, "auto", "syscall")
    return [
        FLOOR_STAT,
        *totals(*sources),
        *ours("count", "stat", sources, "count", "{tree}", answers=COUNT.answers),
        *named_totals(*sources),
    ]


def cold(source: str) -> list[Row]:
    """Returns a whole file system, cold: plain system calls, and those after a prefetch, too."""
    return totals(source, "auto", "syscall", "prefetch")


# Two workers, so that what the disk does shows, not how many reads wait at once.
TWO_WORKERS = [
    Row(
        f"du-2-{when}",
        "stat",
        "ringwalk",
        ("--workers", "2", "--source", "syscall", "--prefetch", when, "du", "-sb", "{tree}"),
        TOTAL,
    )
    for when in ("always", "never")
]


def _search(what: str, group: str, expression: tuple[str, ...], fd: tuple[str, ...]) -> list[Row]:
    answers = {f"lines of {what}": lines, f"checksum of {what}": checksum}
    sources = ("ext4", "auto", "syscall")
    return [
        *ours(f"find-{what}", group, sources, "find", "{tree}", *expression, answers=answers),
        *searches(what, group, *expression, finders=("bfs", "bfs4", "gnu-find")),
        Row(f"fd-{what}", group, "fd", ("--unrestricted", *fd, "{tree}")),
    ]


EXT4_FIND = [
    FLOOR_NAMES,
    *_search("name", "names", ("-name", "*.c"), ("--glob", "*.c")),
    FLOOR_STAT,
    # fd counts bytes where find counts units begun, so a file of 1 MiB would be one more.
    *_search("size", "stat", ("-size", "+1M"), ("--size", "+1mi", ".")),
]

# How a part of a file system is walked: everything, with metadata and without, printed and not.
KINDS: dict[str, tuple[str, tuple[str, ...], Answers]] = {
    "names": ("names", ("count", "--no-stat"), {"entries": first_number}),
    "stat": ("stat", ("count",), {"entries": first_number}),
    "du-sb": ("stat", ("du", "-sb"), {"bytes": first_number}),
    "du-ab": ("stat", ("du", "-ab"), {"lines of du -ab": lines}),
    "find": ("names", ("find",), {"entries": lines_below}),
}

# The directories that are measured are called by letters here and named with the suite.
LETTERS = "abc"


def parts(source: str, directories: list[str]) -> list[Row]:
    """Returns each kind of walk of these directories, by `auto`, `syscall` and `source`."""
    table = []
    for letter, directory in zip(LETTERS, directories):
        for kind, (group, words, answers) in KINDS.items():
            said = {f"{subject} of {letter}": parse for subject, parse in answers.items()}
            what, where = f"{kind}-{letter}", f"{{tree}}/{directory}"
            sources = ("auto", "syscall", source)
            table += ours(what, group, sources, *words, where, answers=said)
    return table


# Directories of the readdirplus table, and its columns.
DIRECTORY_SIZES = (10_000, 50_000, 100_000, 500_000)
READDIRPLUS = ("syscall", "prefetch", "ext4", "ls -l")


def readdirplus(files: int) -> list[Row]:
    """Names and metadata of one directory, printed."""
    where = "{tree}/messages"
    listing = ("find", where, "-mindepth", "1", "-printf", r"%s %p\n")
    ls = Row("ls -l", "stat", "ls", ("-l", where), {"entries": lines_below})
    sources = ("syscall", "prefetch", "ext4")
    return [*ours("find", "stat", sources, *listing, answers={"entries": lines}), ls]
