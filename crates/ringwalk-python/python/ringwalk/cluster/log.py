"""Writing the commit log: one writer for each epoch.

A driver that begins claims the next epoch: it creates the log of that epoch, which only one driver
can do. Then it reads the older logs, and its first line records how much of them counts. A driver
that was thought dead may still append to its own log; nobody reads that. It looks for a newer epoch
after each sync, and stops when there is one.

    driver 1                       driver 2
    claim log 1
    append, sync, is log 2 there?
                                   claim log 2
                                   read log 1: 700 bytes count
                                   first line: fence [700]
    append, sync, is log 2 there?
    yes: stop, rename nothing

A line counts as soon as it is synced. The files that it names are renamed after that. If the driver
ends in between, the next one does it.
"""

from __future__ import annotations

import os
import socket
from typing import Any

from ringwalk.cluster import layout, replay
from ringwalk.cluster.files import Files
from ringwalk.cluster.lines import Commit, encode
from ringwalk.cluster.problems import Fenced
from ringwalk.cluster.replay import History, Position


class Log:
    """The log of the epoch that this driver has claimed."""

    def __init__(self, files: Files, epoch: int, file: int) -> None:
        self.files = files
        self.epoch = epoch
        self.length = 0
        self._file = file

    def append(self, value: dict[str, Any] | Commit) -> Position:
        """Appends a line, and returns its place. The line counts only after `sync`."""
        line = value.line() if isinstance(value, Commit) else encode(value)
        position = Position(self.epoch, self.length)
        self.files.append(self._file, line)
        self.length += len(line)
        return position

    def sync(self) -> None:
        """Returns when all lines are on the disk, and count.

        Raises `Fenced` if another driver has taken over meanwhile: then they may not count.
        """
        self.files.sync(self._file)
        if self.files.exists(layout.log_name(self.epoch + 1)):
            raise Fenced(_taken(self.files))

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)


def _taken(files: Files) -> str:
    return f"{files.directory}: another driver has taken over this snapshot"


def _claim(files: Files, epoch: int) -> int:
    try:
        return files.create(layout.log_name(epoch))
    except FileExistsError as error:
        raise Fenced(_taken(files)) from error


def begin(files: Files) -> tuple[Log, History]:
    """Claims the next epoch. Returns its log and what the older ones say.

    Raises `Fenced` if another driver claims it at the same moment, and `Damaged` for a damaged log.
    """
    epoch = max(layout.epochs(files), default=0) + 1
    # Damage is reported before anything is changed.
    replay.read(files)
    log = Log(files, epoch, _claim(files, epoch))
    try:
        history = replay.read(files, replay.valid_lengths(files, epoch))
        # A driver that was killed may not have synced the lines that were read.
        for older in range(1, epoch):
            files.sync_older(layout.log_name(older))
        log.append(
            {
                "epoch": epoch,
                "fence": history.lengths,
                "host": socket.gethostname(),
                "pid": os.getpid(),
            }
        )
        log.sync()
    except BaseException:
        log.close()
        raise
    return log, history


def seal(files: Files, log: Log) -> None:
    """Ends a run: claims the next epoch, so that nobody else can have done it.

    The existence of a file may be cached on a network file system; creating one is not. So a driver
    whose run is over knows that no other driver has begun. Raises `Fenced` if one has.
    """
    file = _claim(files, log.epoch + 1)
    try:
        lengths = replay.valid_lengths(files, log.epoch + 1)
        files.append(file, encode({"epoch": log.epoch + 1, "fence": lengths, "sealed": True}))
        files.sync(file)
    finally:
        os.close(file)
