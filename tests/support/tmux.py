"""A terminal for programs: tmux shows what a user would see, and types keys.

Each terminal has a tmux server of its own, whose socket lies in the test's directory. The server
runs in the foreground, so that it ends with the test. Tests wait for what they expect on the
screen; nothing waits for a fixed time.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from processes import finished, started

from support.run import Arg, environment, needs_program

# A screen that does not come must fail its test. The rest is for a busy machine.
LIMIT = 120
# The pause between two looks at the screen.
PAUSE = 0.03

SETTINGS = """\
set -s escape-time 0
set -s exit-empty off
set -g status off
set -g remain-on-exit on
set -g remain-on-exit-format ""
set -g default-terminal screen-256color
set -g history-limit 0
"""


class Terminal:
    """A terminal that runs one program."""

    def __init__(self, work: Path, env: dict[str, str]):
        self.work = work
        self.env = env
        self.socket = work / "tmux"
        self.ended = work / "status"

    def tried(self, *words: Arg) -> subprocess.CompletedProcess:
        """Runs a command of tmux."""
        # -N: never start another server. A new program gets PATH from the client of tmux.
        args = ["tmux", "-N", "-u", "-S", self.socket, *words]
        return finished(args, env=self.env, capture_output=True)

    def tmux(self, *words: Arg) -> str:
        """Runs a command of tmux that must succeed, and returns its output."""
        done = self.tried(*words)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout.decode()

    def ask(self, variable: str) -> str:
        """Returns a variable of the terminal, such as `alternate_on`."""
        return self.tmux("display-message", "-p", f"#{{{variable}}}").rstrip("\n")

    def press(self, *keys: str) -> None:
        """Presses keys by tmux's names: `Down`, `C-c`, `q`."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Types a text and Enter."""
        self.tmux("send-keys", "-l", text)
        self.press("Enter")

    def lines(self) -> list[str]:
        """Returns the lines of the screen, without spaces at their ends."""
        return self.tmux("capture-pane", "-p").split("\n")[:-1]

    def text(self) -> str:
        """Returns the screen as one text."""
        return "\n".join(self.lines())

    def resize(self, columns: int, lines: int) -> None:
        """Gives the terminal another size."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def until(self, condition: Callable[[], object], what: object) -> object:
        """Waits until a condition is true, and returns its value."""
        end = time.monotonic() + LIMIT
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                shown = self.tried("capture-pane", "-p").stdout.decode()
                pytest.fail(f"never came: {what}; the screen:\n{shown}")
            time.sleep(PAUSE)

    def wait(self, *wanted: str, without: Sequence[str] = ()) -> str:
        """Waits until the screen has every text of `wanted` and none of `without`; returns it."""

        def shown() -> str:
            text = self.text()
            is_right = all(part in text for part in wanted)
            return text if is_right and not any(part in text for part in without) else ""

        return self.until(shown, (wanted, without))

    def still(self) -> str:
        """Waits until two looks at the screen are equal, with some frames between; returns it.

        Names of owners, for example, come after the entries.
        """

        def unchanged() -> str:
            before = self.text()
            time.sleep(10 * PAUSE)
            return before if before == self.text() else ""

        return self.until(unchanged, "a screen that does not change")

    def wait_for(self, pattern: str) -> re.Match:
        """Waits until a regular expression matches a part of the screen."""
        return self.until(lambda: re.search(pattern, self.text(), re.M), pattern)

    def status(self) -> int:
        """Waits until the program has ended, and returns its status as a shell has it."""

        def ended() -> str:
            text = self.ended.read_text() if self.ended.exists() else ""
            return text if text.endswith("\n") else ""

        return int(self.until(ended, "the end of the program"))

    @contextlib.contextmanager
    def recorded(self) -> Iterator[Path]:
        """Gives a file that receives every byte that the program writes to the terminal."""
        file = self.work / "bytes"
        self.tmux("pipe-pane", "-O", f"exec cat >'{file}'")
        self.until(file.exists, file)
        yield file


@contextlib.contextmanager
def terminal(
    work: Path,
    args: Sequence[Arg],
    *,
    size: tuple[int, int] = (80, 24),
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> Iterator[Terminal]:
    """Gives a terminal of so many columns and lines in which a program runs."""
    needs_program("tmux")
    work.mkdir(parents=True, exist_ok=True)
    settings = work / "tmux.conf"
    settings.write_text(SETTINGS)
    # LC_ALL says that the screen has UTF-8. Variables of a terminal around the tests do not matter.
    variables = environment({"LC_ALL": "C.UTF-8", "TMUX": "", **(env or {})})
    made = Terminal(work, variables)
    server = ["tmux", "-u", "-S", made.socket, "-f", settings, "-D"]
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    with started(server, env=variables, cwd=cwd or work, **quiet):
        made.until(lambda: made.tried("show-options", "-g").returncode == 0, "a server of tmux")
        columns, lines = map(str, size)
        words = ["new-session", "-d", "-x", columns, "-y", lines, "-c", str(cwd or work), "--"]
        # A shell writes the status down: tmux 3.3a does not always notice the end of its child.
        words += ["sh", "-c", '"$@"; echo $? >"$0"', made.ended]
        made.tmux(*words, *args)
        try:
            yield made
        finally:
            made.tried("kill-server")
