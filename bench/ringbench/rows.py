"""The table of measured programs: one row, one program with its arguments.

To measure something new, add a row to the suite it belongs to; `{tree}` stands for the
directory measured. A bound on it goes into `targets.py`.

The peers have the options with which they do the least work for the same answer:
one total, no sorting, no cache of their own.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace


def _number(output: bytes, place: int) -> int:
    numbers = re.findall(rb"\d+", output)
    if len(numbers) <= place:
        raise ValueError(f"expected {place + 1} numbers in the output, found {output[:80]!r}")
    return int(numbers[place])


def first_number(output: bytes) -> int:
    """Returns the first number printed: `entries 83675 …`, `83675 entries`, `1324192018<TAB>T`."""
    return _number(output, 0)


def second_number(output: bytes) -> int:
    """Returns the second number printed: the bytes of `83675 entries, 1320102018 bytes`."""
    return _number(output, 1)


def apparent_size(output: bytes) -> int:
    """Returns the bytes of the line `apparent size` that `ringwalk count` prints."""
    return _number(output.partition(b"apparent size")[2], 0)


def lines(output: bytes) -> int:
    """Returns the number of printed lines."""
    return output.count(b"\n")


def lines_below(output: bytes) -> int:
    """Returns the number of printed lines except that of the tree itself, which find prints."""
    return lines(output) - 1


def checksum(output: bytes) -> int:
    """Returns a number that is the same for the same lines in any order."""
    return sum(map(zlib.crc32, output.splitlines()))


@dataclass(frozen=True)
class Row:
    """A command to measure.

    `group` names the work: rows of one group do the same and are compared with the floor
    of that name. `answers` read values from the output; rows with the same value have to
    agree, or the measurement is worth nothing. `locale` and `piped` are as in
    `measure.Command`.
    """

    key: str
    group: str
    tool: str
    arguments: tuple[str, ...]
    answers: dict[str, Callable[[bytes], int]] = field(default_factory=dict)
    locale: str = "C"
    piped: bool = False

    def argv(self, program: str, tree: str) -> list[str]:
        """Returns the command line for one tree."""
        return [program, *(argument.replace("{tree}", tree) for argument in self.arguments)]


ENTRIES = {"entries": first_number}
ENTRIES_AND_BYTES = {"entries": first_number, "bytes": second_number}
# The answers of `ringwalk count`.
COUNTED = {"entries": first_number, "bytes": apparent_size}
LISTED = {"entries": lines}
TOTAL = {"total of du -sb": first_number}
# GNU du before coreutils 9.2 adds the sizes of directories, so its totals differ from ours.
GNU_TOTAL = {"total of GNU du -sb": first_number}
EVERY_LINE = {"lines of du -a": lines}

FLOOR_NAMES = Row("floor-names", "names", "floor", ("names", "{tree}"), ENTRIES)
FLOOR_STAT = Row("floor-stat", "stat", "floor", ("stat", "{tree}"), ENTRIES_AND_BYTES)
COUNT_NAMES = Row("count-no-stat", "names", "ringwalk", ("count", "--no-stat", "{tree}"), ENTRIES)
COUNT = Row("count", "stat", "ringwalk", ("count", "{tree}"), COUNTED)
DU_SB = Row("du-sb", "stat", "ringwalk", ("du", "-sb", "{tree}"), TOTAL)
DU_A = Row("du-a", "stat", "ringwalk", ("du", "-a", "{tree}"), EVERY_LINE)
FDU = Row(
    "fdu",
    "stat",
    "fdu",
    ("--cache", "off", "--no-gitignore", "--view", "summary", "--quiet", "{tree}"),
)
GNU_DU_SB = Row("gnu-du-sb", "stat", "du", ("-sb", "{tree}"), GNU_TOTAL)

# A size test is the least that makes find and bfs ask for every entry's metadata.
SIZE_TEST = ("{tree}", "-mindepth", "1", "-size", "+1000000G")

WARM = [
    FLOOR_NAMES,
    COUNT_NAMES,
    Row("bfs-names", "names", "bfs", ("{tree}", "-mindepth", "1"), LISTED),
    Row("fd-names", "names", "fd", ("--unrestricted", ".", "{tree}"), LISTED),
    Row("gnu-find-names", "names", "find", ("{tree}", "-mindepth", "1"), LISTED),
    FLOOR_STAT,
    COUNT,
    DU_SB,
    DU_A,
    FDU,
    Row(
        "pdu",
        "stat",
        "pdu",
        ("--quantity=apparent-size", "--max-depth=1", "--no-sort", "{tree}"),
    ),
    Row("diskus", "stat", "diskus", ("--apparent-size", "{tree}")),
    Row("dua", "stat", "dua", ("--apparent-size", "aggregate", "{tree}")),
    Row("bfs-size", "stat", "bfs", SIZE_TEST),
    Row("gnu-find-size", "stat", "find", SIZE_TEST),
    GNU_DU_SB,
    Row("gnu-du-a", "stat", "du", ("-a", "{tree}"), EVERY_LINE),
]

EMPTY = [
    FLOOR_STAT,
    COUNT,
    DU_SB,
    FDU,
    Row("gnu-du", "stat", "du", ("{tree}",)),
]

MEMORY = [
    FLOOR_STAT,
    COUNT,
    DU_SB,
    DU_A,
    FDU,
    GNU_DU_SB,
]

# Ten million entries: the peers take their gigabytes, so they are left out.
MEMORY_LARGE = [FLOOR_STAT, COUNT, DU_SB]

WIDE = [
    FLOOR_STAT,
    Row(
        "count-1-worker",
        "stat",
        "ringwalk",
        ("count", "--workers", "1", "{tree}"),
        ENTRIES_AND_BYTES,
    ),
    Row(
        "count-2-workers",
        "stat",
        "ringwalk",
        ("count", "--workers", "2", "{tree}"),
        ENTRIES_AND_BYTES,
    ),
    FDU,
    GNU_DU_SB,
]

SLOW = [FLOOR_STAT, COUNT, DU_SB, FDU, GNU_DU_SB]

# What find prints is compared by the sum of its lines.
FINDERS = {
    "find": ("ringwalk", "find"),
    "gnu-find": ("find",),
    "bfs": ("bfs",),
    "bfs4": ("bfs4",),
}

FD = Row("fd", "names", "fd", ("--unrestricted", ".", "{tree}"), LISTED)


def searches(
    what: str,
    group: str,
    *expression: str,
    finders: tuple[str, ...] = tuple(FINDERS),
    answers: dict[str, Callable[[bytes], int]] | None = None,
    **how: str | bool,
) -> list[Row]:
    """Returns the same search by each of the finders: `find-size`, `gnu-find-size`…"""
    if answers is None:
        answers = {f"lines of {what}": lines, f"checksum of {what}": checksum}
    found = []
    for finder in finders:
        tool, *words = FINDERS[finder]
        arguments = (*words, "{tree}", *expression)
        found.append(Row(f"{finder}-{what}", group, tool, arguments, answers, **how))
    return found


EVERY_NAME = {"entries": lines_below, "checksum of all": checksum}

FIND = [
    FLOOR_NAMES,
    *searches("all", "names", answers=EVERY_NAME),
    Row("find-link", "names", "ringwalk-link", ("{tree}",), EVERY_NAME),
    FD,
    *searches("name", "names", "-name", "*.c"),
    *searches("dirs", "names", "-type", "d"),
    *searches("iregex", "names", "-iregex", r".*/k[a-z]*\.h"),
    FLOOR_STAT,
    *searches("size", "stat", "-size", "+1M"),
    *searches("newer", "stat", "-newermt", "2020-01-01"),
    *searches("printf", "stat", "-printf", r"%s %T@ %p\n"),
    *searches("makefile", "stat", "-name", "Makefile*", "-size", "+10k"),
    *searches("exec", "commands", "-type", "f", "-exec", "true", "{}", "+"),
    # None of these programs looks whether its output is /dev/null; this would show it.
    *searches("pipe", "pipe", answers=EVERY_NAME, piped=True),
    replace(FD, key="fd-pipe", group="pipe", piped=True),
]

FIND_EMPTY = [
    FLOOR_NAMES,
    *searches("posix", "names", answers=EVERY_NAME),
    replace(FD, key="fd-posix"),
    # The C library reads files for any locale but C.
    *searches("utf8", "names", answers=EVERY_NAME, locale="C.UTF-8"),
    # What a search of everyday words costs before it begins.
    *searches(
        "words",
        "names",
        *("-type", "f", "-iregex", r".*/k[a-z]*\.h", "-newermt", "2020-01-01"),
        *("-size", "+1M", "-printf", r"%s %T@ %p\n"),
        locale="C.UTF-8",
    ),
]

FIND_MEMORY = [
    FLOOR_NAMES,
    *searches("all", "names", answers=EVERY_NAME),
    FD,
    FLOOR_STAT,
    *searches("size", "stat", "-size", "+1M"),
    # Output that is not taken at once must not pile up.
    *searches("pipe", "pipe", answers=EVERY_NAME, finders=("find", "gnu-find"), piped=True),
]

# Not timed: the system calls of these are counted.
GLUSTER = [COUNT_NAMES, COUNT, Row("gnu-find-names", "names", "find", ("{tree}",))]
