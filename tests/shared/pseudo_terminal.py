"""Programs at a pseudo-terminal. The tests and the bench use this file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Iterator, Sequence

from processes import started

STREAMS = ("stdin", "stdout", "stderr")


class Terminal:
    """A pseudo-terminal for one program after the other. As a context manager it closes itself.

    Its own end and that of the program stay open until then, so that no output is lost when the
    program closes its end.
    """

    def __init__(self) -> None:
        self._ours, self.theirs = pty.openpty()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.theirs)
        os.close(self._ours)

    def resize(self, columns: int, lines: int) -> None:
        """Sets the size that programs see."""
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @contextlib.contextmanager
    def started(
        self, args: Sequence, streams: Sequence[str] = STREAMS, **options
    ) -> Iterator[subprocess.Popen]:
        """Gives a running program, as `processes.started` does. Its `streams` are the terminal."""
        with started(args, **dict.fromkeys(streams, self.theirs), **options) as process:
            self._ended = os.pidfd_open(process.pid)
            try:
                yield process
            finally:
                os.close(self._ended)

    def read(self, seconds: float) -> bytes | None:
        """Returns the next output, b"" if the program has ended, or None if nothing comes."""
        ready, _, _ = select.select([self._ours, self._ended], [], [], max(0.0, seconds))
        if ready == [self._ended]:
            # What the program wrote right before it ended may have come meanwhile.
            ready += select.select([self._ours], [], [], 0)[0]
        if self._ours in ready:
            return os.read(self._ours, 1 << 16)
        return b"" if ready else None

    def write(self, typed: bytes) -> None:
        """Types something."""
        os.write(self._ours, typed)
