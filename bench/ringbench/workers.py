"""How many workers are best on a slow server, and how near a walk comes that finds the number."""

from __future__ import annotations

from collections.abc import Callable

from . import slow_tree
from .suites import Result, Session
from .worker_rows import ROWS, TREES


def _suite(name: str) -> Callable[[Session], Result]:
    directories, files, delay_us = TREES[name]
    return lambda session: slow_tree.measure(session, name, ROWS, (directories, files), delay_us)


SUITES: dict[str, Callable[[Session], Result]] = {name: _suite(name) for name in TREES}
