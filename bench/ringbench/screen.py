"""Programs in a pseudo-terminal: what their screen shows, and when it came to show it.

`Screen` knows the control sequences that Ringwalk, crossterm, ncurses and tcell write for
`TERM=xterm-256color`. A character takes one column: names in the measured trees are ASCII.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import re
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pseudo_terminal

COLUMNS, LINES = 80, 24

# A control sequence, another escape sequence, text, or one control character.
TOKEN = re.compile(
    r"\x1b\[(?P<numbers>[0-9;:?>=]*)(?P<final>[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[()][A-Z0-9]|\x1b[=>78cMDEH]"
    r"|(?P<text>[^\x00-\x1f\x7f]+)"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
)


class Screen:
    """The characters of a terminal, and which of them are reversed."""

    def __init__(self, columns: int = COLUMNS, lines: int = LINES):
        self._columns, self._lines = columns, lines
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # An escape sequence of which the rest is still to come.
        self._rest = ""
        self._at, self._line = 0, 0
        self._is_reversed = False
        self._last = " "
        self._text = [[" "] * columns for _ in range(lines)]
        self._marks = [[False] * columns for _ in range(lines)]

    def feed(self, data: bytes) -> None:
        """Applies what a program wrote."""
        stream = self._rest + self._decoder.decode(data)
        done = 0
        while found := TOKEN.match(stream, done):
            done = found.end()
            if found["final"]:
                self._control(found["final"], found["numbers"])
            elif found["text"]:
                self._put(found["text"])
            elif found["control"]:
                self._move_by(found["control"])
        self._rest = stream[done:]

    def line(self, number: int) -> str:
        """Returns the text of a line, from the top if the number is not negative."""
        return "".join(self._text[number]).rstrip()

    def reversed_lines(self) -> list[int]:
        """Returns the lines whose first characters are reversed."""
        return [number for number, marks in enumerate(self._marks) if marks[0] and marks[1]]

    def _put(self, text: str) -> None:
        end = min(self._at + len(text), self._columns)
        text = text[: end - self._at]
        self._text[self._line][self._at : end] = text
        self._marks[self._line][self._at : end] = [self._is_reversed] * len(text)
        self._at, self._last = end, text[-1:] or self._last

    def _move_by(self, control: str) -> None:
        if control == "\r":
            self._at = 0
        elif control == "\n":
            self._line = min(self._line + 1, self._lines - 1)
        elif control == "\b":
            self._at = max(0, self._at - 1)

    def _erase(self, line: int, begin: int, end: int) -> None:
        for at in range(max(0, begin), min(end, self._columns)):
            self._text[line][at], self._marks[line][at] = " ", False

    def _control(self, final: str, numbers: str) -> None:
        if numbers[:1] in ("?", ">", "="):
            return
        values = [int(number) if number.isdigit() else 0 for number in numbers.split(";")]
        first = max(1, values[0])
        if final in "Hf":
            self._line = min(first, self._lines) - 1
            self._at = min(max(1, values[1] if len(values) > 1 else 1), self._columns) - 1
        elif final == "m":
            self._attributes(values)
        elif final == "d":
            self._line = min(first, self._lines) - 1
        elif final == "G":
            self._at = min(first, self._columns) - 1
        elif final in "AB":
            line = self._line + (first if final == "B" else -first)
            self._line = min(max(0, line), self._lines - 1)
        elif final in "CD":
            at = self._at + (first if final == "C" else -first)
            self._at = min(max(0, at), self._columns - 1)
        elif final == "X":
            self._erase(self._line, self._at, self._at + first)
        elif final == "b":
            self._put(self._last * first)
        elif final in "KJ":
            self._erase_part(final, values[0])

    def _erase_part(self, final: str, part: int) -> None:
        """Erases behind the cursor (0), before it (1) or all (2): of the line, or of the screen."""
        begin, end = {0: (self._at, self._columns), 1: (0, self._at + 1)}.get(
            part, (0, self._columns)
        )
        self._erase(self._line, begin, end)
        if final == "J":
            before, behind = range(self._line), range(self._line + 1, self._lines)
            for line in {0: [*behind], 1: [*before]}.get(part, [*before, *behind]):
                self._erase(line, 0, self._columns)

    def _attributes(self, values: list[int]) -> None:
        skip = 0
        for place, value in enumerate(values):
            if skip:
                skip -= 1
            elif value in (38, 48, 58):
                # A colour: 5 and its number, or 2 and three numbers.
                skip = 2 if values[place + 1 : place + 2] == [5] else 4
            elif value in (0, 7, 27):
                self._is_reversed = value == 7


class NotShown(Exception):
    """A program ended, or did not show in time what was awaited."""


class Terminal:
    """A program in a pseudo-terminal. As a context manager it ends the program at last.

    Times are those of time.monotonic(), which all processes share. `started` is the time right
    before the program was executed.
    """

    def __init__(self, argv: list[str], size: tuple[int, int] = (COLUMNS, LINES)):
        self.screen = Screen(*size)
        self._has_ended = False
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            environment.pop(name, None)
        read_end, write_end = os.pipe()

        def prepare() -> None:
            # gdu opens /dev/tty, so the terminal must be that of the session.
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            os.write(write_end, f"{time.monotonic()}\n".encode())

        with (
            contextlib.ExitStack() as parts,
            os.fdopen(read_end) as told,
            os.fdopen(write_end, "w"),
        ):
            self._terminal = parts.enter_context(pseudo_terminal.Terminal())
            self._terminal.resize(*size)
            program = self._terminal.started(argv, env=environment, preexec_fn=prepare)
            self._process = parts.enter_context(program)
            self.started = float(told.readline())
            self._parts = parts.pop_all()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._parts.close()

    def _read(self, until: float) -> float | None:
        """Applies output to the screen; returns when it came, or None if nothing comes in time."""
        data = self._terminal.read(until - time.monotonic())
        came = time.monotonic()
        self._has_ended |= data == b""
        if not data:
            return None
        self.screen.feed(data)
        return came

    def follow(self, seconds: float) -> None:
        """Applies output for some time."""
        end = time.monotonic() + seconds
        while not self._has_ended and time.monotonic() < end:
            self._read(end)

    def wait(self, shows: Callable[[Screen], bool], limit: float = 60.0) -> float:
        """Waits until the screen shows something; returns when the last byte of that came."""
        end = time.monotonic() + limit
        while not self._has_ended and time.monotonic() < end:
            came = self._read(end)
            if came is not None and shows(self.screen):
                return came
        why = "the program has ended" if self._has_ended else f"not within {limit:g} s"
        lines = [text for text in map(self.screen.line, range(LINES)) if text]
        raise NotShown(f"{why}; the screen: {lines[:3]} ... {lines[-1:]}")

    def press(self, key: bytes) -> float:
        """Sends a key; returns the time right before."""
        pressed = time.monotonic()
        self._terminal.write(key)
        return pressed

    def peak(self) -> int:
        """Returns the peak of the resident memory in KiB.

        It is that of the program alone. The peak that wait4 returns is also that of Python, from
        which the program was executed.
        """
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
        if not found:
            raise NotShown("the program has ended")
        return int(found[1])

    def times(self) -> tuple[float, float]:
        """Returns the seconds of CPU time in user mode and in the kernel (proc_pid_stat(5))."""
        # The name of the program, in parentheses, may hold anything.
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        tick = os.sysconf("SC_CLK_TCK")
        return int(fields[11]) / tick, int(fields[12]) / tick

    def end(self, key: bytes = b"", patience: float = 10.0) -> int:
        """Ends the program, by a key if one is given; returns its exit status."""
        if key:
            self.press(key)
            self.follow(patience)
        self._parts.close()
        return self._process.returncode
