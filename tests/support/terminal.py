"""Runs of a program at a pseudo-terminal, with answers to its questions."""

from __future__ import annotations

import os
import subprocess
import termios
import time
import tty
from collections.abc import Sequence

from processes import TIMEOUT
from pseudo_terminal import Terminal

from support.run import Arg, environment

# Stands for the name of a terminal among the arguments of a program.
TERMINAL = "TERMINAL"


def converse(
    args: Sequence[Arg],
    answers: Sequence[bytes] = (),
    *,
    prompt: bytes | tuple[bytes, ...] = b"? ",
    env: dict[str, str] | None = None,
    cwd: Arg | None = None,
    timeout: float = TIMEOUT,
    echo: bool = True,
) -> tuple[int, bytes]:
    """Runs a program at a terminal, and gives the next answer whenever a prompt ends the output.

    Returns its status as subprocess does, and everything the terminal showed, with the echo of the
    answers unless `echo` is false; after the last answer the terminal's end of file is typed. Line
    ends are the plain ones.
    """
    with Terminal() as terminal:
        if not echo:
            modes = termios.tcgetattr(terminal.theirs)
            modes[3] &= ~termios.ECHO
            termios.tcsetattr(terminal.theirs, termios.TCSANOW, modes)
        words = [os.fsencode(arg) for arg in args]
        with terminal.started(words, cwd=cwd, env=environment(env)) as process:
            shown = talk(terminal, answers, prompt, timeout)
            process.wait(timeout)
    return process.returncode, shown.replace(b"\r\n", b"\n")


def written(
    args: Sequence[Arg], *, env: dict[str, str] | None = None, cwd: Arg | None = None
) -> bytes:
    """Returns the bytes that a program writes to a terminal, named `TERMINAL` in its arguments.

    The program must succeed; its standard streams are no terminals.
    """
    with Terminal() as terminal:
        tty.setraw(terminal.theirs)
        name = os.ttyname(terminal.theirs)
        words = [os.fsencode(name if arg == TERMINAL else arg) for arg in args]
        streams = dict.fromkeys(("stdin", "stdout"), subprocess.DEVNULL)
        with terminal.started(words, (), cwd=cwd, env=environment(env), **streams) as process:
            shown = talk(terminal)
            process.wait(TIMEOUT)
    assert process.returncode == 0, args
    return shown


def talk(
    terminal: Terminal,
    answers: Sequence[bytes] = (),
    prompt: bytes | tuple[bytes, ...] = (),
    timeout: float = TIMEOUT,
) -> bytes:
    """Returns the output of the terminal until the program has ended.

    Whenever a prompt ends the output, it types the next answer, and after the last one the end of
    the file.
    """
    shown, left, end = b"", list(answers), time.monotonic() + timeout
    while new := terminal.read(end - time.monotonic()):
        shown += new
        if shown.endswith(prompt):
            terminal.write(left.pop(0) + b"\n" if left else b"\x04")
    if new is None:
        raise TimeoutError(shown)
    return shown
