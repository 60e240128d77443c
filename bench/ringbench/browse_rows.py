"""Rows of `ringwalk browse`, as in `rows.py`, and the words by which its screen is recognised."""

from __future__ import annotations

from .rows import Row

# Words of the first, second and last line.
READING = "reading"
HINT = "? keys"
HELP_HINT = "any other key closes the help"
BY_NAME = "by name"
BY_SIZE = "by apparent size"
# In place of the list, until it is there.
NO_LIST = "reading the directory"

# The lines of the list on a screen of 24 lines; the line above them has the headings.
LIST = range(3, 22)

SOURCES = ("auto", "syscall")


def _browse(key: str, group: str, source: str, *options: str) -> Row:
    return Row(key, group, "ringwalk", ("--source", source, "browse", "{tree}", *options))


# The first frame of a directory without entries: the cost of starting.
EMPTY = _browse("empty", "start", "auto")
START = [_browse(f"million-{source}", "start", source) for source in SOURCES]
KEYS = [_browse(f"keys-{source}", "keys", source) for source in SOURCES]
# The same time of a program that only repeats its input, while `ringwalk count` reads the tree in
# the same session: the scheduler shares the processors among sessions first (autogroup).
CAT = Row(
    "cat",
    "keys",
    "sh",
    (
        "-c",
        'stty raw -echo; while :; do "$0" --source syscall count "$1" >/dev/null 2>&1; done & '
        "printf ready; exec cat",
    ),
)
WIDE = [_browse("keys-wide", "keys", "syscall")]

HELD = [
    *(_browse(f"browse-{source}", "held", source) for source in SOURCES),
    Row("ncdu", "held", "ncdu", ("-0", "{tree}")),
    Row("gdu", "held", "gdu", ("{tree}",)),
]
# Without a terminal; it must take as much as `browse-syscall`.
ONCE = _browse("browse-once", "held", "syscall", "--once", "q")

OPEN = [Row("open", "open", "ringwalk", ("browse", "{tree}"))]
