"""Exceptions that the standard library does not have."""

from __future__ import annotations


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
