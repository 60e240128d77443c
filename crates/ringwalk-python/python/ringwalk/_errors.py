"""Exceptions that the standard library has no name for."""

from __future__ import annotations


class SearchError(Exception):
    """Some of what `find` was to look at could not be read.

    Raised after all paths that were found; `messages` are those of find(1).
    """

    # Without `__init__`: compiled code creates it, and must not call code in Python.

    @property
    def messages(self) -> list[str]:
        """The messages, one for each error."""
        return self.args[0]

    def __str__(self) -> str:
        return "; ".join(self.messages)
