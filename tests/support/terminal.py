"""Running a program at a pseudo-terminal, where somebody answers its questions."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import time
from collections.abc import Sequence

from support.run import Arg, environment


def converse(
    args: Sequence[Arg],
    answers: Sequence[bytes] = (),
    *,
    prompt: bytes = b"? ",
    env: dict[str, str] | None = None,
    cwd: Arg | None = None,
    timeout: float = 30,
) -> tuple[int, bytes]:
    """Runs a program at a terminal, giving the next answer whenever a prompt ends the output.

    Returns its status as subprocess does, and everything the terminal showed, echo included; after
    the last answer the terminal's end of file is typed. Line ends are the plain ones.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            if cwd is not None:
                os.chdir(cwd)
            command = [os.fsencode(arg) for arg in args]
            os.execve(command[0], command, environment(env))
        finally:
            os._exit(127)
    shown, answered = b"", 0
    waiting = list(answers)
    end = time.monotonic() + timeout
    try:
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 0.05)[0]:
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
            if shown.endswith(prompt) and len(shown) > answered:
                answered = len(shown)
                os.write(terminal, waiting.pop(0) + b"\n" if waiting else b"\x04")
        else:
            os.kill(pid, signal.SIGKILL)
            raise TimeoutError(shown)
    finally:
        with contextlib.suppress(OSError):
            os.close(terminal)
        _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), shown.replace(b"\r\n", b"\n")
