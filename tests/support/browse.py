"""Runs of `ringwalk browse` without a terminal, and what their screens say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support.run import Program, Result

# What a line of the details of an entry begins with.
DETAIL = re.compile(
    r"(Path|Kind|Entries|Allocated|Apparent|Freeable|Changed|Owner|Names|Growth|Not read) +(.*)"
)


class Browse:
    """`ringwalk browse` in the directory of one test, whose files it uses for log and trash."""

    def __init__(self, ringwalk: Program, scratch: Path):
        self.ringwalk = ringwalk
        self.home = scratch / "home"
        self.log = self.home / "state" / "ringwalk" / "deletions.jsonl"
        self.env = {
            "HOME": str(self.home),
            "SHELL": "/bin/sh",
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_STATE_HOME": str(self.home / "state"),
        }
        self.home.mkdir()

    def run(self, *args, keys: str = "", size: tuple[int, int] = (80, 24), **options) -> Result:
        """Runs the program with `--once`."""
        env = {"COLUMNS": str(size[0]), "LINES": str(size[1]), **self.env}
        env.update(options.pop("env", {}))
        return self.ringwalk("browse", *args, "--once", keys, env=env, **options)

    def lines(self, *args, **options) -> list[str]:
        """Returns the lines of the screen after the keys."""
        screen = self.run(*args, **options).ok().out.decode()
        return screen.split("\n")[:-1]

    def text(self, *args, **options) -> str:
        """Returns the screen after the keys."""
        return "\n".join(self.lines(*args, **options))

    def details(self, *args, name: str, keys: str = "", **options) -> dict[str, str]:
        """Returns the details of an entry of the directory that the keys lead to."""
        wide = (120, 40)
        shown = self.lines(*args, keys=f"{keys}\\{name}<enter>i", size=wide, **options)
        found = [DETAIL.match(line.strip()) for line in shown]
        return {match[1]: match[2].strip() for match in found if match}

    def bytes(self, *args, name: str, **options) -> dict[str, int]:
        """Returns the numbers of bytes in the details of an entry."""
        numbers = {}
        for key, text in self.details(*args, name=name, **options).items():
            if number := re.search(r"(-?\d+) bytes", text):
                numbers[key] = int(number[1])
        return numbers

    def logged(self) -> list[dict]:
        """Returns the lines of the log of deletions."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def names(lines: list[str]) -> list[str]:
    """Returns the names in the list of a screen of 80 columns and 24 lines."""
    column = lines[2].index(" name") + 1
    shown = [line[column:] for line in lines[3:-2]]
    return [name for name in shown if name]
