"""Exceptions that the standard library has no name for."""

from __future__ import annotations


class SearchError(Exception):
    """Some of what `find` was to look at could not be read.

    Raised after all paths that were found; `messages` are those of find(1).
    """

    def __init__(self, messages: list[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages
