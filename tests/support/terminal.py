"""Runs of a program at a pseudo-terminal, with answers to its questions."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time
import tty
from collections.abc import Sequence

from processes import TIMEOUT, started

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
    # The other end stays open here: when the last process closes it, unread output may be lost.
    ours, theirs = pty.openpty()
    if not echo:
        modes = termios.tcgetattr(theirs)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, modes)
    words = [os.fsencode(arg) for arg in args]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    try:
        with started(words, cwd=cwd, env=environment(env), **streams) as process:
            shown = talk(process, ours, list(answers), prompt, time.monotonic() + timeout)
    finally:
        os.close(theirs)
        os.close(ours)
    return process.returncode, shown.replace(b"\r\n", b"\n")


def written(
    args: Sequence[Arg], *, env: dict[str, str] | None = None, cwd: Arg | None = None
) -> bytes:
    """Returns the bytes that a program writes to a terminal, named `TERMINAL` in its arguments.

    The program must succeed; its standard streams are no terminals.
    """
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    name = os.ttyname(theirs)
    words = [os.fsencode(name if arg == TERMINAL else arg) for arg in args]
    streams = dict.fromkeys(("stdin", "stdout"), subprocess.DEVNULL)
    try:
        with started(words, cwd=cwd, env=environment(env), **streams) as process:
            shown = talk(process, ours, [], b"\0\0", time.monotonic() + TIMEOUT)
    finally:
        os.close(theirs)
        os.close(ours)
    assert process.returncode == 0, args
    return shown


def talk(
    process: subprocess.Popen,
    ours: int,
    answers: list,
    prompt: bytes | tuple[bytes, ...],
    end: float,
) -> bytes:
    """Returns the output of the terminal until the program has ended and no more output comes."""
    shown, answered = b"", 0
    while time.monotonic() < end:
        over = process.poll() is not None
        if select.select([ours], [], [], 0.03)[0]:
            shown += os.read(ours, 65536)
        elif over:
            return shown
        if shown.endswith(prompt) and len(shown) > answered:
            answered = len(shown)
            os.write(ours, answers.pop(0) + b"\n" if answers else b"\x04")
    raise TimeoutError(shown)
