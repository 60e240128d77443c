"""The suites of the sources: images of file systems, warm, cold, and on slow disks."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from . import bulk_rows, disks, images
from .bulk_rows import DIRECTORY_SIZES
from .disks import Disk
from .images import Content
from .measure import Command, Sample, run_once
from .rows import Row
from .suites import Result, Session, run_rows

# A cold run cannot be had from a cache, and hardly varies: the disk is what takes the time.
COLD_RUNS = 5
WARM_RUNS = 15


def _tree(session: Session) -> Content:
    return images.copy_of(session.tree())


def _million(_session: Session) -> Content:
    return images.million()


def warm(
    session: Session,
    suite: str,
    file_system: str,
    content: Content,
    table: Callable[[Path], list[Row]],
    about: dict[str, object] | None = None,
    run: Callable[[Path, Command], Sample] = run_once,
) -> Result:
    """Rows on an image, everything in cache; the table may depend on what is mounted."""
    image = images.image(session.scratch, file_system, content)
    about = {"tree": content.about, "cache": "warm", **(about or {})}
    with disks.mounted(disks.AS_IT_IS, image, session.scratch) as mount:
        rows = table(mount.point)
        return run_rows(session, suite, rows, mount.point, WARM_RUNS, about, run=run)


def cold(
    session: Session,
    suite: str,
    file_system: str,
    content: Content,
    table: list[Row],
    disk: Disk = disks.AS_IT_IS,
) -> Result:
    """Rows on an image, each run on a file system that has just been mounted."""
    image = images.image(session.scratch, file_system, content)
    about = {"tree": content.about, "cache": "cold", "disk": disk.name}
    with disks.mounted(disk, image, session.scratch) as mount:
        return run_rows(
            session,
            suite,
            table,
            mount.point,
            COLD_RUNS,
            about,
            before_each=mount.renew,
            warm_up=0,
            enough=COLD_RUNS,
        )


def _whole(
    kind: str, content: Callable[[Session], Content], suite: str, session: Session
) -> Result:
    table = bulk_rows.whole(kind)
    # What is searched for is in the tree only.
    if kind == "ext4" and content is _tree:
        taken = {row.key for row in table}
        table += [row for row in bulk_rows.EXT4_FIND if row.key not in taken]
    return warm(session, suite, kind, content(session), lambda _point: table)


def _whole_cold(
    kind: str, content: Callable[[Session], Content], suite: str, session: Session
) -> Result:
    return cold(session, suite, kind, content(session), bulk_rows.cold(kind))


def slow(session: Session) -> Result:
    """Measures a whole ext4 on a disk with 2 ms a read; also what a prefetch is worth there."""
    table = [*bulk_rows.cold("ext4"), *bulk_rows.TWO_WORKERS]
    disk = disks.slow(session.delay)
    return cold(session, "ext4-slow", "ext4", _tree(session), table, disk)


def spinning(session: Session) -> Result:
    """Measures a whole ext4 on a spinning disk."""
    table, disk = bulk_rows.cold("ext4"), disks.spinning()
    return cold(session, "ext4-spinning", "ext4", _tree(session), table, disk)


def tenths(root: Path, wanted: int = len(bulk_rows.LETTERS)) -> list[str]:
    """Directories with about a tenth of all entries each, the nearest to it first.

    None lies in another, and none has less than a fourteenth or more than a seventh.
    """
    below: dict[str, int] = {}
    for folder, directories, files in os.walk(root, topdown=False):
        # Symbolic links to directories are among them, and have nothing below.
        inner = sum(below.get(os.path.join(folder, name), 0) for name in directories)
        below[folder] = inner + len(directories) + len(files)
    everything = below.pop(str(root))
    off = {
        folder: abs(math.log(10 * entries / everything))
        for folder, entries in below.items()
        if everything <= entries * 14 and entries * 7 <= everything
    }
    chosen: list[str] = []
    for folder in sorted(off, key=lambda folder: (off[folder], folder)):
        if not any(_overlap(folder, other) for other in chosen):
            chosen.append(folder)
    return [os.path.relpath(folder, root) for folder in chosen[:wanted]]


def _overlap(one: str, other: str) -> bool:
    """Returns whether one of two paths is the other or lies below it."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _part(content: Callable[[Session], Content], suite: str, session: Session) -> Result:
    """Parts of a file system: where `auto` must not take the longer way."""
    about: dict[str, object] = {}

    def table(point: Path) -> list[Row]:
        found = tenths(point)
        about.update(zip(bulk_rows.LETTERS, found))
        return bulk_rows.parts("ext4", found)

    result = warm(session, suite, "ext4", content(session), table)
    result.about.update(about)
    return result


def readdirplus(session: Session) -> Result:
    """Names and metadata of one large directory, cold, on a spinning disk: a table by size."""
    whole: Result | None = None
    for files in DIRECTORY_SIZES:
        content = images.one_directory(files)
        table = bulk_rows.readdirplus(files)
        found = cold(session, "readdirplus", "ext4", content, table, disks.spinning())
        whole = joined(whole, found, files)
    assert whole is not None
    whole.about["tree"] = "one directory of files made in random order"
    return whole


def joined(whole: Result | None, part: Result, files: int) -> Result:
    """Measures the results of several directories as one: each row and subject with its number."""
    rows = {f"{key} {files}": replace(row, key=f"{key} {files}") for key, row in part.rows.items()}
    figures = {f"{key} {files}": figures for key, figures in part.figures.items()}
    answers = {f"{subject} {files}": said for subject, said in part.answers.items()}
    if whole is None:
        return replace(part, rows=rows, figures=figures, answers=answers)
    return replace(
        whole,
        rows=whole.rows | rows,
        figures=whole.figures | figures,
        answers=whole.answers | answers,
        disagreements=whole.disagreements + part.disagreements,
        failures=whole.failures + part.failures,
    )


SUITES: dict[str, Callable[[Session], Result]] = {
    **{
        f"{kind}{size}-{state}": functools.partial(suite, kind, content, f"{kind}{size}-{state}")
        for kind in images.MAKERS
        for size, content in (("", _tree), ("-million", _million))
        for state, suite in (("warm", _whole), ("cold", _whole_cold))
    },
    "ext4-slow": slow,
    "ext4-spinning": spinning,
    "ext4-part": functools.partial(_part, _tree, "ext4-part"),
    "ext4-million-part": functools.partial(_part, _million, "ext4-million-part"),
    "readdirplus": readdirplus,
}
