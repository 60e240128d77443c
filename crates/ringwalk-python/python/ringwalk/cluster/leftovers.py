"""Files with leftovers: one JSON line for each directory that is still to be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ringwalk.cluster.files import Files
from ringwalk.cluster.problems import Damaged
from ringwalk.cluster.shapes import parsed


class LeftoverFiles:
    """The files with leftovers of a snapshot's directory."""

    def __init__(self, files: Files) -> None:
        self._files = files

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

    def lines(self, file: str, offset: int, length: int) -> Iterator[Any]:
        """Gives the leftovers of a range one by one, for reports.

        A damaged line is text. If the file cannot be read to the end of the range, the last thing
        given is why.
        """
        try:
            with self._files.open(file) as opened:
                opened.seek(offset)
                while length > 0:
                    line = opened.readline(length)
                    if not line:
                        raise self._short(file)
                    length -= len(line)
                    yield _value(line.removesuffix(b"\n"))
        except (OSError, Damaged) as error:
            yield str(error)

    def _path(self, file: str) -> str:
        return self._files.path(file)

    def _read(self, file: str, offset: int, length: int) -> bytes:
        with self._files.open(file) as opened:
            # This comes before memory is allocated for it.
            if os.fstat(opened.fileno()).st_size < offset + length:
                raise self._short(file)
            data = os.pread(opened.fileno(), length, offset)
        if len(data) != length:
            raise self._short(file)
        return data

    def _short(self, file: str) -> Damaged:
        return Damaged(f"{self._path(file)}: shorter than the log says: run verify")


def _value(line: bytes) -> Any:
    try:
        return parsed(line)
    except ValueError:
        return line.decode(errors="backslashreplace")
