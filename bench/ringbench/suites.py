"""The suites: each makes what is measured, runs its rows on it, and returns figures."""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import gluster
from unavailable import Unavailable

from . import disks, media, rows, trees
from .machine import Load, file_system
from .measure import (
    Command,
    CommandFailed,
    Sample,
    captured,
    interleaved,
    run_once,
    summary,
)
from .rows import Row
from .targets import Figures
from .tools import PYTHON, MissingTool, Toolbox, need

# Bounds are about medians of at least this many runs.
ENOUGH_RUNS = 15


@dataclass
class Session:
    """What the command line decided."""

    tools: Toolbox
    scratch: Path
    tree: Callable[[], Path]
    runs: int | None = None
    delay: str = "2ms"
    python: Path = PYTHON


@dataclass
class Result:
    """What a suite found.

    `disagreements` say which rows gave different answers, `failures` which rows are
    missing because their program did not run as it should. Times are medians of at least
    `enough` runs, or not for publication. `load` is that right before and right after.
    """

    suite: str
    about: dict[str, object]
    rows: dict[str, Row]
    figures: Figures
    answers: dict[str, dict[str, int]] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    enough: int = ENOUGH_RUNS
    load: tuple[Load, Load] | None = None


def _present(session: Session, table: list[Row]) -> list[Row]:
    return [row for row in table if session.tools.find(row.tool)]


def _command(session: Session, row: Row, tree: Path) -> Command:
    argv = row.argv(session.tools.find(row.tool), str(tree))
    return Command(row.key, argv, locale=row.locale, piped=row.piped)


def _try_out(
    session: Session, table: list[Row], tree: Path
) -> tuple[list[Row], dict[str, dict[str, int]], list[str]]:
    """Runs each row once, before anything is measured.

    Returns the rows that can be measured, their answers by subject, and what is wrong
    with the others: one broken program must not cost the figures of the rest.
    """
    working: list[Row] = []
    answers: dict[str, dict[str, int]] = {}
    failures: list[str] = []
    for row in table:
        try:
            output = captured(session.tools.timed, _command(session, row, tree))
            said = {subject: parse(output) for subject, parse in row.answers.items()}
        except CommandFailed as error:
            failures.append(str(error))
        except ValueError as error:
            failures.append(f"{row.key}: {error}")
        else:
            working.append(row)
            for subject, value in said.items():
                answers.setdefault(subject, {})[row.key] = value
    return working, answers, failures


def disagreements(answers: dict[str, dict[str, int]]) -> list[str]:
    return [
        f"{subject}: " + ", ".join(f"{key} says {value}" for key, value in said.items())
        for subject, said in answers.items()
        if len(set(said.values())) > 1
    ]


def run_rows(
    session: Session,
    suite: str,
    table: list[Row],
    tree: Path,
    runs: int,
    about: dict[str, object],
    *,
    run: Callable[[Path, Command], Sample] = run_once,
    before_each: Callable[[], None] | None = None,
    warm_up: int = 1,
    enough: int = ENOUGH_RUNS,
) -> Result:
    """Runs the rows that can be run on one tree; `enough` runs are for publication."""
    present, answers, failures = _try_out(session, _present(session, table), tree)
    commands = [_command(session, row, tree) for row in present]
    runs = session.runs or runs
    samples = interleaved(
        session.tools.timed, commands, runs, run=run, before_each=before_each, warm_up=warm_up
    )
    about = {
        **about,
        "runs": runs,
        **({"entries": max(answers["entries"].values())} if "entries" in answers else {}),
        "file_system": file_system(tree)["type"],
    }
    return Result(
        suite,
        about,
        {row.key: row for row in present},
        {key: summary(taken) for key, taken in samples.items()},
        answers,
        disagreements(answers),
        failures,
        enough,
    )


def warm(session: Session) -> Result:
    """Measures a tree with everything in cache."""
    tree = session.tree()
    return run_rows(session, "warm", rows.WARM, tree, 25, {"tree": tree.name})


def empty(session: Session) -> Result:
    """Measures the start-up cost: an empty directory."""
    with tempfile.TemporaryDirectory(dir=session.scratch, prefix="empty-") as folder:
        about = {"tree": "an empty directory"}
        return run_rows(session, "empty", rows.EMPTY, Path(folder), 300, about, warm_up=10)


def memory(session: Session) -> Result:
    """Measures the peak memory with a million entries: 1000 directories of 1000 files."""
    about = {"tree": "1000 directories of 1000 files"}
    with media.ext4(session.scratch, 1_100_000, 2048) as root:
        trees.synthetic(root, 1000, 1000)
        return run_rows(session, "memory", rows.MEMORY, root, 5, about)


def memory_large(session: Session) -> Result:
    """Measures the peak memory with ten million entries: 10 000 directories of 1000 files."""
    about = {"tree": "10 000 directories of 1000 files"}
    with media.ext4(session.scratch, 10_200_000, 8192) as root:
        trees.synthetic(root, 10_000, 1000)
        return run_rows(session, "memory-10M", rows.MEMORY_LARGE, root, 3, about)


def _need_find(session: Session, tree: Path) -> None:
    """Raises without our own row: every bound would only be `not measured`."""
    session.tools.need_command("find", str(tree), "-maxdepth", "0")


def find(session: Session) -> Result:
    """Searches, everything in cache."""
    tree = session.tree()
    _need_find(session, tree)
    return run_rows(session, "find", rows.FIND, tree, 15, {"tree": tree.name})


def find_empty(session: Session) -> Result:
    """Measures the start-up cost of a search: an empty directory, in two locales."""
    with tempfile.TemporaryDirectory(dir=session.scratch, prefix="empty-") as folder:
        _need_find(session, Path(folder))
        about = {"tree": "an empty directory"}
        return run_rows(
            session, "find-empty", rows.FIND_EMPTY, Path(folder), 300, about, warm_up=10
        )


def find_memory(session: Session) -> Result:
    """Measures the peak memory of searches among a million entries."""
    _need_find(session, session.scratch)
    about = {"tree": "1000 directories of 1000 files"}
    with media.ext4(session.scratch, 1_100_000, 2048) as root:
        trees.synthetic(root, 1000, 1000)
        return run_rows(session, "find-memory", rows.FIND_MEMORY, root, 5, about)


def wide(session: Session) -> Result:
    """Measures one directory of a million files: do workers share its statx calls?"""
    with media.ext4(session.scratch, 1_100_000, 2048) as root:
        directory = root / "wide"
        directory.mkdir()
        trees.fill_directory(str(directory), 1_000_000)
        about = {"tree": "one directory of 1 000 000 files"}
        return run_rows(session, "wide", rows.WIDE, directory, 15, about)


def slow(session: Session) -> Result:
    """Measures a cold ext4 on a disk with 2 ms a read."""
    tree = session.tree()
    about = {"tree": tree.name, "delay_a_read": session.delay, "cache": "cold"}
    with disks.slow_copy(session.scratch, tree, session.delay) as disk:
        return run_rows(
            session,
            "slow",
            rows.SLOW,
            disk.point,
            15,
            about,
            before_each=disk.renew,
            warm_up=0,
        )


def over_gluster(session: Session) -> Result:
    """Entries a getdents64 call on a fresh GlusterFS mount of 3000 names."""
    need("strace")
    names = 3000
    present = _present(session, rows.GLUSTER)
    figures: Figures = {}
    runs = session.runs or 3
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(dir=session.scratch, prefix="gluster-")
        )
        try:
            mount = stack.enter_context(gluster.volume(Path(folder)))
        except Unavailable as refused:
            raise MissingTool(str(refused)) from None
        made = Path(folder) / "names"
        made.mkdir()
        trees.maildir(made, names)
        with mount() as filled:
            media.call(*filled.inside, "cp", "-R", f"{made}/.", filled.point)
        for row in present:
            counted = []
            for _ in range(runs):
                with mount() as fresh:
                    argv = row.argv(session.tools.find(row.tool), str(fresh.point))
                    counted.append(_calls(fresh.inside, argv))
            # The worst run counts, with any read-ahead of the server.
            figures[row.key] = min(counted, key=lambda found: found["entries_per_call"])
    about: dict[str, object] = {
        "tree": f"{names} maildir-like names",
        "cache": "cold",
        "runs": runs,
        "entries": names,
        "file_system": "fuse.glusterfs",
    }
    return Result("gluster", about, {row.key: row for row in present}, figures)


# strace decodes a filled buffer as `0x55d0a1c0 /* 125 entries */`.
FILLED = re.compile(rb"/\* (\d+) entries \*/")


def _calls(inside: tuple[str, ...], argv: list[str]) -> dict[str, float]:
    """Counts the getdents64 calls of a command in namespaces, and those that returned something."""
    with tempfile.NamedTemporaryFile() as trace:
        options = ["-f", "-qq", "-e", "trace=getdents64", "-o", trace.name]
        done = subprocess.run(
            [*inside, "strace", *options, *argv], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        if done.returncode:
            raise CommandFailed(f"strace: {done.stderr.decode(errors='replace').strip()}")
        filled = [int(count) for count in FILLED.findall(trace.read())]
    with_entries = [count for count in filled if count]
    return {
        "calls": len(filled),
        "calls_with_entries": len(with_entries),
        "largest_call": max(with_entries, default=0),
        "entries_per_call": sum(with_entries) / max(1, len(with_entries)),
    }


SUITES: dict[str, Callable[[Session], Result]] = {
    "warm": warm,
    "empty": empty,
    "memory": memory,
    "memory-10M": memory_large,
    "find": find,
    "find-empty": find_empty,
    "find-memory": find_memory,
    "wide": wide,
    "slow": slow,
    "gluster": over_gluster,
}
