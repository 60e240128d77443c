"""What the screens of `ringwalk browse`, ncdu and gdu show, and keys whose answers they show."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .browse_rows import BY_NAME, BY_SIZE, HELP_HINT, HINT, LIST, NO_LIST, READING
from .screen import Screen

Shows = Callable[[Screen], bool]

# The second line while a tree is read, and afterwards.
ENTRIES = re.compile(r"(\d+) (entry|entries) ")


def is_framed(screen: Screen) -> bool:
    """Returns whether a whole frame is there: the path, the list, and the last line."""
    path, hint = screen.line(0), screen.line(-1)
    return bool(path) and HINT in hint and NO_LIST not in screen.line(LIST[0])


def is_read(screen: Screen) -> bool:
    """Returns whether the second line shows a tree that has been read."""
    return bool(ENTRIES.match(screen.line(1))) and READING not in screen.line(1)


# What each program shows when the tree is read.
IS_READ: dict[str, Shows] = {
    "ringwalk": is_read,
    "ncdu": lambda screen: "Use the arrow keys" in screen.line(0),
    "gdu": lambda screen: "Items:" in screen.line(-1),
}


def shown_entries(tool: str, screen: Screen) -> int:
    """Returns the number of entries below the top that a screen shows.

    ncdu shows none of an empty directory.
    """
    if tool == "ringwalk":
        # With the top.
        return int(ENTRIES.match(screen.line(1))[1]) - 1
    said = re.search(r"Items: *([\d.,]+)", screen.line(-1))
    return int(re.sub(r"\D", "", said[1])) if said else 0


@dataclass(frozen=True)
class Press:
    """A key, and whether a screen answers it. The screen before the key does not."""

    name: str
    key: bytes
    answers: Shows


def cursor(screen: Screen) -> int:
    """Returns the line under the cursor, or -1."""
    return next((line for line in screen.reversed_lines() if line in LIST), -1)


def path_of(screen: Screen) -> str:
    """Returns the path in the first line, which has no spaces."""
    return screen.line(0).split(" ")[0]


def _names(screen: Screen) -> list[str]:
    at = screen.line(LIST[0] - 1).rfind("name")
    return [text[at:].lstrip("/") for text in map(screen.line, LIST) if text[at:]]


def _move(screen: Screen, _top: str) -> Press | None:
    at = cursor(screen)
    if at < 0 or len(_names(screen)) < 2:
        return None
    key, to = (b"j", at + 1) if at == LIST[0] else (b"k", at - 1)
    return Press("move", key, lambda screen: cursor(screen) == to)


def _help(_screen: Screen, _top: str) -> Press:
    return Press("help", b"?", lambda screen: HELP_HINT in screen.line(-1))


def _close(_screen: Screen, _top: str) -> Press:
    return Press("close", b"x", lambda screen: HINT in screen.line(-1))


def _by_name(_screen: Screen, _top: str) -> Press:
    def answers(screen: Screen) -> bool:
        names = _names(screen)
        return BY_NAME in screen.line(0) and names == sorted(names)

    return Press("sort", b"n", answers)


def _by_size(_screen: Screen, _top: str) -> Press:
    return Press("sort", b"s", lambda screen: BY_SIZE in screen.line(0))


def _open(screen: Screen, _top: str) -> Press | None:
    line = cursor(screen)
    at = screen.line(LIST[0] - 1).rfind("name")
    name = screen.line(line)[at:] if line >= 0 else ""
    # Directories have a slash before their names.
    is_directory = name[:1] == "/"
    return Press("open", b"\r", lambda s: path_of(s).endswith(name)) if is_directory else None


def _above(screen: Screen, top: str) -> Press | None:
    path = path_of(screen)
    return Press("above", b"\x7f", lambda screen: path_of(screen) != path) if path != top else None


# What is pressed in turn. A step looks at the screen, knows the path of the top, and may have
# nothing to press. The cursor moves in the order of names only: in another one it follows its
# entry to other lines.
Step = Callable[[Screen, str], Press | None]
IN_TREE: tuple[Step, ...] = (
    *(_by_name, _move, _help, _close, _move),
    *(_open, _move, _above, _move, _by_size, _help, _close),
)
# A list of a million files is sorted later than its heading says so.
IN_WIDE: tuple[Step, ...] = (_move, _help, _close, _move)
