"""What a snapshot's directory says of its run; a run may be going on."""

from __future__ import annotations

from typing import Any

from ringwalk.cluster import layout, replay
from ringwalk.cluster.files import Files
from ringwalk.cluster.leftovers import LeftoverFiles
from ringwalk.cluster.pool import Pool
from ringwalk.cluster.problems import Refused
from ringwalk.cluster.verdict import check_log, read_verdict


def status(directory: str) -> dict[str, Any]:
    """Returns the state of a run: `state` is `complete`, `incomplete` or `unfinished`."""
    files = Files(directory)
    if layout.read_description(files) is None:
        raise Refused(f"{directory}: not the directory of a snapshot")
    history = check_log(files, replay.read(files))
    verdict = read_verdict(files)
    pool = Pool(LeftoverFiles(files), history.commits)
    if 0 in history.open:
        pool.add_roots()
    pool.resume(history.commits(), history.open.__contains__, history.partly, history.last)
    states = {None: "unfinished", True: "complete", False: "incomplete"}
    totals = history.totals
    return {
        "state": states[None if verdict is None else verdict["complete"]],
        "epochs": history.epoch,
        "tasks": totals.tasks,
        "parts": totals.parts,
        "rows": totals.rows,
        "bytes": totals.bytes,
        **totals.counts,
        "pending": pool.lines,
        "set_aside": history.aside,
        "missing": [] if verdict is None else verdict["missing"],
        "changing": [] if verdict is None else verdict.get("changing", []),
    }
