"""`ringwalk browse`: the first frame, the answer to a key, the memory of an entry.

The program runs in a pseudo-terminal of 80x24 (`screen.py`). Its screen says what it does:
`reading` in the second line while the tree is being read, and the answer to each key.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from . import browse_rows, disks, images, media
from .browse_keys import PRESSES, Hand, repeated
from .browse_screen import IN_TREE, IN_WIDE, IS_READ, Step, is_framed, shown_entries
from .images import Content
from .machine import file_system
from .measure import Command, CommandFailed, Sample, run_once, summary
from .rows import Row
from .saved import synthetic_writer
from .screen import NotShown, Terminal
from .suites import Result, Session, disagreements
from .targets import Figures

# Copies of the kernel's source that have a million entries.
COPIES = 12


@contextmanager
def _million(session: Session, content: Content) -> Iterator[Path]:
    """Provides an ext4 with this content, mounted and in cache."""
    image = images.image(session.scratch, "ext4", content)
    program = session.tools.find("ringwalk")
    with disks.mounted(disks.AS_IT_IS, image, session.scratch) as mount:
        for source in browse_rows.SOURCES:
            media.call(program, "--source", source, "count", mount.point)
        yield mount.point


@contextmanager
def _empty(session: Session) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=session.scratch, prefix="empty-") as folder:
        yield Path(folder)


def _copies(session: Session) -> Content:
    return images.copies_of(session.tree(), COPIES)


def _argv(session: Session, row: Row, tree: Path) -> list[str] | None:
    program = session.tools.find(row.tool)
    return row.argv(program, str(tree)) if program else None


def _result(
    suite: str,
    about: dict[str, object],
    tree: Path,
    table: list[Row],
    figures: Figures,
    failures: list[str],
    enough: int,
) -> Result:
    about = {**about, "file_system": file_system(tree)["type"]}
    rows = {row.key: row for row in table if row.key in figures}
    return Result(suite, about, rows, figures, failures=failures, enough=enough)


def _first_frame(argv: list[str], seconds: float = 0.0) -> Sample:
    """Measures the time until the first frame, and the peak memory so many seconds later."""
    with Terminal(argv) as terminal:
        wall = terminal.wait(is_framed) - terminal.started
        terminal.follow(seconds)
        user, system = terminal.times()
        return Sample(wall, user, system, terminal.peak())


def _first_frames(
    session: Session, places: list[tuple[Row, Path]], runs: int, seconds: float = 0.0
) -> tuple[Figures, list[str]]:
    """Measures first frames of rows on their trees in turns, in an order that is shuffled anew."""
    order = random.Random(1)
    commands = {row.key: argv for row, tree in places if (argv := _argv(session, row, tree))}
    samples: dict[str, list[Sample]] = {key: [] for key in commands}
    failures: list[str] = []
    for round_ in range(-1, runs):
        for key in order.sample(sorted(commands), len(commands)):
            try:
                sample = _first_frame(commands[key], seconds)
            except (NotShown, OSError) as error:
                failures.append(f"{key}: {error}")
                del commands[key]
                continue
            if round_ >= 0:
                samples[key].append(sample)
    return {key: summary(samples[key]) for key in samples if key in commands}, failures


def start(session: Session) -> Result:
    """Measures the time from the start to the first frame, on a million entries in cache."""
    content = _copies(session)
    runs = session.runs or 25
    with _million(session, content) as tree, _empty(session) as empty:
        about = {"tree": content.about, "cache": "warm", "runs": runs}
        table = [browse_rows.EMPTY, *browse_rows.START]
        places = [(row, empty if row is browse_rows.EMPTY else tree) for row in table]
        figures, failures = _first_frames(session, places, runs)
        return _result("browse-start", about, tree, table, figures, failures, 15)


def _pressed(
    session: Session, table: list[Row], tree: Path, steps: tuple[Step, ...]
) -> tuple[Figures, list[str]]:
    """Measures keys in runs of each row until there are enough of them."""
    figures: Figures = {}
    failures: list[str] = []
    for row in table:
        argv, hand = _argv(session, row, tree), Hand()
        if not argv:
            continue
        try:
            while not hand.has_enough():
                hand.browse(argv, steps)
            figures[row.key] = hand.figures()
        except (NotShown, OSError, statistics.StatisticsError) as error:
            failures.append(f"{row.key}: {error}")
    return figures, failures


def keys(session: Session) -> Result:
    """Measures the time from a key to its answer while a million entries are being read."""
    content = _copies(session)
    about = {"tree": content.about, "cache": "warm", "runs": PRESSES}
    with _million(session, content) as tree:
        figures, failures = _pressed(session, browse_rows.KEYS, tree, IN_TREE)
        program = session.tools.find("ringwalk")
        argv = ["/bin/sh", *browse_rows.CAT.arguments, program, str(tree)]
        figures[browse_rows.CAT.key] = repeated(argv)
        table = [*browse_rows.KEYS, browse_rows.CAT]
        return _result("browse-keys", about, tree, table, figures, failures, PRESSES)


def wide(session: Session) -> Result:
    """Measures keys while one directory of a million files is being read."""
    content = images.wide()
    about = {"tree": content.about, "cache": "warm", "runs": PRESSES}
    with _million(session, content) as tree:
        table = browse_rows.WIDE
        figures, failures = _pressed(session, table, tree / "wide", IN_WIDE)
        return _result("browse-wide", about, tree, table, figures, failures, PRESSES)


def _held(tool: str, argv: list[str]) -> tuple[int, int]:
    """Returns the peak memory in KiB after a tree was read, and the number of entries shown."""
    with Terminal(argv) as terminal:
        terminal.wait(IS_READ[tool], limit=120)
        # The last listings and sums of a tree come after its end.
        terminal.follow(0.5)
        return terminal.peak(), shown_entries(tool, terminal.screen)


def _names_below(folder: Path) -> tuple[int, int]:
    """Returns the number of entries below a directory, and the bytes of their names."""
    entries = size = 0
    for _, folders, files in os.walk(os.fsencode(folder)):
        entries += len(folders) + len(files)
        size += sum(map(len, folders)) + sum(map(len, files))
    return entries, size


def memory(session: Session) -> Result:
    """Measures the memory of an entry beside its name, in programs that hold the whole tree."""
    content = _copies(session)
    runs = session.runs or 3
    about: dict[str, object] = {"tree": content.about, "cache": "warm", "runs": runs}
    figures: Figures = {}
    failures: list[str] = []
    answers: dict[str, int] = {}
    with _million(session, content) as tree, _empty(session) as empty:
        entries, names = _names_below(tree)
        about |= {"entries": entries, "bytes_of_names": names}
        answers["find"] = entries

        def peaks(row: Row, path: Path) -> list[int]:
            argv = _argv(session, row, path)
            if row is browse_rows.ONCE:
                command = Command(row.key, argv)
                return [run_once(session.tools.timed, command).rss for _ in range(runs)]
            found = [_held(row.tool, argv) for _ in range(runs)]
            if path == tree:
                answers[row.key] = found[0][1]
            return [peak for peak, _ in found]

        table = [*browse_rows.HELD, browse_rows.ONCE]
        for row in table:
            if not session.tools.find(row.tool):
                continue
            try:
                full, nothing = max(peaks(row, tree)), statistics.median(peaks(row, empty))
            except (NotShown, CommandFailed, OSError, TypeError) as error:
                failures.append(f"{row.key}: {error}")
                continue
            figures[row.key] = {
                "rss_kib": full,
                "empty_kib": nothing,
                "bytes_an_entry": ((full - nothing) * 1024 - names) / entries,
            }
        result = _result("browse-memory", about, tree, table, figures, failures, 3)
    result.answers = {"entries": answers}
    result.disagreements = disagreements(result.answers)
    return result


def large(session: Session) -> Result:
    """Measures opening a snapshot of ten million rows."""
    runs = session.runs or 15
    about = {"tree": "10 000 000 files, made up by the example `synthetic`", "runs": runs}
    with tempfile.TemporaryDirectory(dir=session.scratch, prefix="large-") as folder:
        saved = Path(folder) / "saved"
        media.call(synthetic_writer(), "tree", "10000000", saved)
        table = browse_rows.OPEN
        places = [(row, saved) for row in table]
        figures, failures = _first_frames(session, places, runs, seconds=1.0)
        return _result("browse-10M", about, saved, table, figures, failures, 15)


SUITES: dict[str, Callable[[Session], Result]] = {
    "browse-start": start,
    "browse-keys": keys,
    "browse-wide": wide,
    "browse-memory": memory,
    "browse-10M": large,
}
