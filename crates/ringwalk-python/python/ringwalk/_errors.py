"""Errors that the standard library does not have."""

from __future__ import annotations

from typing import NamedTuple


class ReadError(NamedTuple):
    """A read error of a `scan`: a row of `Scan.errors`."""

    path: str
    """The path. Bytes that are not UTF-8 are escaped as `\\xHH`."""
    path_raw: bytes | None
    """The bytes of a path that is not UTF-8, else `None`."""
    operation: str
    """What failed: `stat`, `open`, `read` or `loop`."""
    errno: int
    """The error number."""
    message: str
    """The message for people."""
    vanished: bool
    """True if the entry was gone when the scan came to it."""


class SearchError(Exception):
    """`find` could not read some files or directories.

    It is raised after all paths; `messages` are the same as from find(1).
    """

    # Without `__init__`: compiled code creates it, and must not call code in Python.

    @property
    def messages(self) -> list[str]:
        """The messages, one for each error."""
        return self.args[0]

    def __str__(self) -> str:
        return "; ".join(self.messages)
