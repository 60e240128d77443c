"""Files with leftovers: one JSON line for each directory that is still to be read."""

from __future__ import annotations

import json
import os
from typing import Any

from ringwalk.cluster.problems import Damaged


class LeftoverFiles:
    """The files with leftovers of a snapshot's directory."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def cut(self, file: str, offset: int, length: int, lines: int) -> int:
        """Returns the bytes of the first lines of a range. Raises `Damaged` if there are fewer."""
        data = self._read(file, offset, length)
        end = 0
        for _ in range(lines):
            end = data.find(b"\n", end) + 1
            if not end:
                raise Damaged(f"{self._path(file)}: fewer lines than the log says: run verify")
        return end

    def count(self, file: str, offset: int, length: int) -> int:
        """Returns the number of lines of a range."""
        return self._read(file, offset, length).count(b"\n")

    def lines(self, file: str, offset: int, length: int) -> list[Any]:
        """Returns the leftovers of a range, for reports. Damaged lines are text."""
        try:
            data = self._read(file, offset, length)
        except (OSError, Damaged) as error:
            return [str(error)]
        return [_value(line) for line in data.splitlines()]

    def _path(self, file: str) -> str:
        return os.path.join(self._directory, file)

    def _read(self, file: str, offset: int, length: int) -> bytes:
        with open(self._path(file), "rb") as opened:
            data = os.pread(opened.fileno(), length, offset)
        if len(data) != length:
            raise Damaged(f"{self._path(file)}: shorter than the log says: run verify")
        return data


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line.decode(errors="backslashreplace")
