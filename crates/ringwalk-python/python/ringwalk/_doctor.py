"""`doctor`: a report on the sources that this kernel, user and file system allow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ringwalk import _ringwalk
from ringwalk._paths import plain

if TYPE_CHECKING:
    from ringwalk._ringwalk import _Path


def doctor(path: _Path | None = None) -> dict[str, Any]:
    """Returns which sources this kernel, user and file system allow for a directory (default: `.`),
    the obstacles to others, and remedies: the report of ``ringwalk doctor --format json``.

    >>> report = ringwalk.doctor(top)
    >>> [source["name"] for source in report["sources"] if source["chosen_by_auto"]]
    ['syscall']

    Raises `OSError` if `path` is not a directory or cannot be reached.
    """
    given = "." if path is None else plain(path)
    return json.loads(_ringwalk.examine(given))
