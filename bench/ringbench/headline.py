"""README's figures: a few tasks beside the usual program for each, as a table and as a picture.

All figures come from the committed results. `bench/run --readme` writes both anew, and a test
compares README and picture with the results.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path

from .tools import BENCH

README = BENCH.parent / "README.md"
PICTURE = BENCH.parent / "docs/figures.svg"


@dataclass(frozen=True)
class Task:
    """Rows of one suite of `bench/results/FILE.json`; the fastest of `others` counts."""

    words: str
    command: str
    file: str
    suite: str
    ours: str
    others: dict[str, str]


FINDERS = {name: name for name in ("fclones", "czkawka", "rmlint", "jdupes")}
TASKS = (
    Task("list all names", "find", "find", "find", "find-all", {"gnu-find-all": "GNU find"}),
    Task("add up all sizes", "du -sb", "warm", "warm", "du-sb", {"gnu-du-sb": "GNU du"}),
    Task(
        "add up a whole ext4 file system, as root",
        "du -sb",
        "bulk",
        "ext4-warm",
        "du-auto",
        {"gnu-du-sb": "GNU du"},
    ),
    Task(
        "find duplicates in two copies, from the disk",
        "dupes",
        "contents-dupes",
        "contents-dupes-cold",
        "dupes",
        FINDERS,
    ),
    Task(
        "compare two saved trees of a million files",
        "diff",
        "snapshot-read",
        "snapshot-read",
        "diff",
        {"diff-listings": "GNU diff of two lists"},
    ),
)


@dataclass(frozen=True)
class Figure:
    """Seconds of Ringwalk and of the other program."""

    task: Task
    ours: float
    other: float
    name: str

    @property
    def ratio(self) -> float:
        return self.ours / self.other


def figures() -> list[Figure]:
    """Returns the figures of all tasks.

    Raises OSError for a file that cannot be read, and LookupError for one without the figures, or
    of a run that other programs disturbed.
    """
    return [_figure(task, BENCH / f"results/{task.file}.json") for task in TASKS]


def _figure(task: Task, file: Path) -> Figure:
    try:
        document = json.loads(file.read_text())
        suite = document["suites"][task.suite]
        walls = {key: suite["rows"][key]["wall"] for key in (task.ours, *task.others)}
        disturbed = suite["disturbed"]
    except (KeyError, TypeError, ValueError) as error:
        why = f"{file}: no figures of the suite {task.suite}: {error!r}"
        raise LookupError(why) from None
    if disturbed:
        why = f"{file}: other programs disturbed the suite {task.suite}: measure it again"
        raise LookupError(why)
    best = min(task.others, key=lambda key: walls[key])
    return Figure(task, walls[task.ours], walls[best], task.others[best])


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.{0 if seconds >= 0.01 else 1}f} ms"


def _head(task: Task) -> str:
    return f"| {task.words}: `{task.command}` |"


def table(found: list[Figure]) -> list[str]:
    """Returns the rows of README's table."""
    return [
        f"{_head(each.task)} {_time(each.ours)} | {each.name} {_time(each.other)} "
        f"| **{each.ratio:.2f}** |"
        for each in found
    ]


# Pixels: of the whole picture, of the text before a bar, of a bar, and from one bar to the next.
WIDTH, TEXT, BAR, STEP = 760, 300, 400, 30
OURS, OTHER = "#1a73e8", "#dadce0"


def picture(found: list[Figure]) -> str:
    """Returns the picture: a grey bar for the other program, and ours in it."""
    height = STEP * len(found) + 40
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="{TEXT}" y="22">time of <tspan fill="{OURS}">Ringwalk</tspan>; '
        "the grey bar is the time of the other program</text>",
    ]
    for place, each in enumerate(found):
        top = 36 + place * STEP
        words = html.escape(each.task.words)
        width = each.ratio * BAR
        lines += [
            f'<text x="{TEXT - 8}" y="{top + 15}" text-anchor="end">{words}</text>',
            f'<rect x="{TEXT}" y="{top}" width="{BAR}" height="22" fill="{OTHER}"/>',
            f'<rect x="{TEXT}" y="{top}" width="{width:.1f}" height="22" fill="{OURS}"/>',
            f'<text x="{TEXT + width + 6:.1f}" y="{top + 15}">{each.ratio:.2f}</text>',
            f'<text x="{TEXT + BAR - 6}" y="{top + 15}" text-anchor="end">{each.name}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def renewed(text: str, found: list[Figure]) -> str:
    """Returns README's text with the figures found."""
    for each, row in zip(found, table(found)):
        old = re.compile(rf"^{re.escape(_head(each.task))}.*$", re.MULTILINE)
        text, count = old.subn(lambda _, row=row: row, text)
        if count != 1:
            raise LookupError(f"README.md: {count} rows of '{each.task.words}': expected {row}")
    return text


def write() -> None:
    """Writes the picture, and the rows of README's table anew."""
    found = figures()
    text = renewed(README.read_text(), found)
    README.write_text(text)
    PICTURE.write_text(picture(found))
