"""The answers of GNU find and GNU du, in the form that tests compare."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from support.capi import compile_c
from support.run import Arg, Program, Result, run

SIZES_OF_FILES = Path(__file__).with_name("file_sizes.c")

# The letters of find's %y, and the names that `count --format json` uses.
TYPE_NAMES = {
    "b": "block_device",
    "c": "character_device",
    "d": "directory",
    "f": "file",
    "l": "symlink",
    "p": "fifo",
    "s": "socket",
}


# Messages of GNU du before coreutils 9.10, and the same messages of 9.10.
NEW_MESSAGES = (
    (rb"when reading file names from stdin,", b"when reading file names from standard input,"),
    (
        rb"(for \S+time style\S+\nValid arguments are:\n)(  - \S+-iso\S+\n){2}  - \S+iso\S+\n",
        b"\\1  - full-iso\n  - long-iso\n  - iso\n"
        b"  - +FORMAT (e.g., +%H:%M) for a 'date'-style format\n",
    ),
)


class CurrentDu(Program):
    """GNU du whose messages are those of coreutils 9.10."""

    def __call__(self, *args: Arg | int, **options) -> Result:
        result = super().__call__(*args, **options)
        err = result.err
        for old, new in NEW_MESSAGES:
            err = re.sub(old, new, err)
        return replace(result, err=err)


def du(work: Path) -> Program | None:
    """Returns GNU du for comparisons, or None if `du` is another program.

    Before coreutils 9.2 apparent sizes were those of directories and other types too. Such a du is
    shown the sizes of regular files and links only. `work` is where the library for that is put.
    """
    reported = run(["du", "--version"]).out
    version = re.search(rb"GNU coreutils\) (\d+)\.(\d+)", reported)
    if version is None:
        return None
    # Its bare name, which it puts before its messages.
    if (int(version[1]), int(version[2])) >= (9, 2):
        return CurrentDu("du")
    library = work / "file_sizes.so"
    if not library.exists():
        compile_c(SIZES_OF_FILES, "-shared", "-fPIC", "-o", library, "-ldl")
    return CurrentDu("du", env={"LD_PRELOAD": str(library)})


def find_totals(*tops: Path | str | bytes) -> tuple[int, int]:
    """Returns the number of entries below `tops` and the sum of their sizes, by GNU find."""
    out = run(["find", *tops, "-mindepth", "1", "-printf", "%s\n"]).ok().out
    sizes = [int(size) for size in out.split()]
    return len(sizes), sum(sizes)


def find_blocks(*tops: Path | str | bytes) -> int:
    """Returns the bytes that the entries below `tops` take on the device, by GNU find."""
    out = run(["find", *tops, "-mindepth", "1", "-printf", "%b\n"]).ok().out
    return sum(512 * int(blocks) for blocks in out.split())


def find_types(*tops: Path | str | bytes) -> dict[str, int]:
    """Returns the number of entries of each type below `tops`, by GNU find."""
    out = run(["find", *tops, "-mindepth", "1", "-printf", "%y\n"]).ok().out
    return dict(Counter(TYPE_NAMES[letter] for letter in out.decode().split()))


def counted(result: Result | bytes) -> tuple[int, ...]:
    """Returns the entries and their apparent size that `ringwalk count` printed.

    With `--no-stat` there is no size.
    """
    out = result if isinstance(result, bytes) else result.out
    numbers = dict(re.findall(r"^([a-z ]+?) +([0-9]+)$", out.decode(), re.MULTILINE))
    assert int(numbers["files"]) + int(numbers["directories"]) == int(numbers["entries"]), out
    return tuple(int(numbers[word]) for word in ("entries", "apparent size") if word in numbers)


def messages(result: Result) -> list[str]:
    """Returns the lines of standard error in order, without the name of the program.

    A parallel walk may meet two failures in either order, so only the set is compared; and so it
    is with the options that an abbreviation may stand for.
    """
    text = result.err.decode(errors="surrogateescape").replace(
        "'ringwalk du --help'", "'du --help'"
    )
    lines = []
    for line in text.splitlines():
        line = re.sub(r"^(?:\S*/)?(?:ringwalk )?du: ", "", line)
        start, mark, options = line.partition("possibilities: ")
        lines.append(start + mark + " ".join(sorted(options.split())))
    return sorted(lines)


def assert_same(ours: Program, gnu: Program, *args, separator: bytes = b"\n", **options) -> Result:
    """Checks that both programs print the same records and messages and have the same status."""
    expected, got = gnu(*args, **options), ours(*args, **options)
    assert sorted(got.lines(separator)) == sorted(expected.lines(separator)), args
    assert messages(got) == messages(expected), args
    assert got.status == expected.status, args
    return got
