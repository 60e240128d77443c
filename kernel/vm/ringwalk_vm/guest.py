# SPDX-License-Identifier: GPL-2.0-only
"""One run of a guest: QEMU, its console, the time limit, and what comes back.

The console goes to standard output while it comes. The status, the kernel's log and /out come as an
archive on a disk of their own, so that nothing the console shows can be mistaken for them.
"""

import codecs
import os
import selectors
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path, PurePosixPath

from . import cache, report
from .errors import GuestBroken


def run(command: list[str], timeout: float, show: bool = True) -> str:
    """Runs QEMU to its end and returns the console's text; past the time limit it is killed."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=cache.ends_with_us(signal.SIGKILL),
    )
    console = Console(show)
    try:
        in_time = console.follow(process, time.monotonic() + timeout)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
    if not in_time:
        found = report.faults(console.text())
        more = f"; the console shows: {found[0]}" if found else ""
        raise GuestBroken(f"stopped after the time limit of {timeout:g} s{more}")
    if process.returncode != 0:
        raise GuestBroken(f"QEMU ended with status {process.returncode}")
    return console.text()


class Console:
    """Passes the guest's console on, line ends as they are on Unix, and keeps it."""

    def __init__(self, show: bool):
        self.show = show
        self.pieces: list[str] = []
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def follow(self, process: subprocess.Popen, deadline: float) -> bool:
        """Reads until QEMU ends (true) or the deadline comes (false)."""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                if not selector.select(left):
                    continue
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    break
                self.take(data)
        try:
            process.wait(max(deadline - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            return False
        return True

    def take(self, data: bytes) -> None:
        text = self.decoder.decode(data).replace("\r", "")
        self.pieces.append(text)
        if self.show:
            sys.stdout.write(text)
            sys.stdout.flush()

    def text(self) -> str:
        return "".join(self.pieces)


def results(archive: Path, console: str, share_out: Path | None) -> int:
    """Returns the command's exit status, and puts /out into `share_out`; may raise GuestBroken."""
    status, log = None, ""
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                if member.name == "status":
                    status = int(tar.extractfile(member).read())
                elif member.name == "log":
                    log = tar.extractfile(member).read().decode(errors="replace")
                elif share_out:
                    put(tar, member, share_out)
    except (tarfile.TarError, ValueError) as error:
        if status is not None:
            raise GuestBroken(f"what the command left in /out is cut short: {error}") from None
    # The same line stands in both; the log has it in full, the console also when the guest died.
    found = report.faults(log) or report.faults(console)
    if found:
        lines = "\n".join(found[:20])
        raise GuestBroken(f"the kernel reported {len(found)} faults, the first:\n{lines}")
    if status is None:
        raise GuestBroken("the guest ended without handing back a status")
    return status


def put(tar: tarfile.TarFile, member: tarfile.TarInfo, share_out: Path) -> None:
    """Puts a file or folder of /out below `share_out`."""
    path = PurePosixPath(member.name)
    if path.parts[0] != "out" or ".." in path.parts or not (member.isfile() or member.isdir()):
        raise GuestBroken(f"the command left {member.name} in /out: only files and folders do")
    target = share_out.joinpath(*path.parts[1:])
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tar.extractfile(member) as source, open(target, "wb") as sink:
        while data := source.read(1 << 20):
            sink.write(data)
    target.chmod(member.mode & 0o777)
