"""Snapshots: writing them, and answering from them, beside other tools on the same tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from . import media
from .rows import LISTED, Row, lines
from .suites import Result, Session, run_rows
from .tools import BENCH, MissingTool, need, shell_program

# So many copies of the tree have a million entries.
MILLION = 1_000_000

OUT = "{tree}/../out"


def _snapshot(key: str, source: str, *options: str) -> Row:
    """Returns a row that writes a snapshot."""
    arguments = ("--source", source, "snapshot", *options, "{tree}", "-o", f"{OUT}/{key}")
    return Row(key, "write", "ringwalk", arguments)


# The work of `count` is the least that a snapshot needs: names, and metadata of each file.
WRITE = [
    Row("count-syscall", "stat", "ringwalk", ("--source", "syscall", "count", "{tree}")),
    Row("count-ext4", "stat", "ringwalk", ("--source", "ext4", "count", "{tree}")),
    _snapshot("snapshot-syscall", "syscall"),
    _snapshot("snapshot-ext4", "ext4"),
    Row("ncdu", "write", "ncdu", ("-0", "-o", f"{OUT}/ncdu", "{tree}")),
    Row("gdu", "write", "gdu", ("-n", "-o", f"{OUT}/gdu", "{tree}")),
]

FOUND = {"found": lines}


def read_rows(old: Path, new: Path, small: Path, large: Path) -> list[Row]:
    """Returns the rows that answer from two snapshots, also for two directories of the tree."""

    def du_from(key: str, below: Path) -> Row:
        return Row(key, "du", "ringwalk", ("du", "-s", "--from", str(old), str(below)), LISTED)

    page = ("report", str(new), "--format=html", "-o", f"{OUT}/report.html")
    # Both programs exit with 1 where something differs.
    listings = f"diff {old}.txt {new}.txt >/dev/null; test $? = 1"
    return [
        Row("diff", "diff", "diff-snapshots", (str(old), str(new))),
        Row("diff-listings", "diff", "sh", ("-c", listings)),
        Row("find-live", "find", "ringwalk", ("find", "{tree}", "-name", "*.rs"), FOUND),
        Row(
            "find-live-syscall",
            "find",
            "ringwalk",
            ("--source", "syscall", "find", "{tree}", "-name", "*.rs"),
            FOUND,
        ),
        Row(
            "find-from",
            "find",
            "ringwalk",
            ("find", "--from", str(old), "{tree}", "-name", "*.rs"),
            FOUND,
        ),
        Row("report-html", "report", "ringwalk", page),
        Row("report-html-compare", "report", "ringwalk", (*page, "--compare", str(old))),
        du_from("du-from", small),
        du_from("du-from-large", large),
    ]


def _entries(folder: Path) -> int:
    """Returns the number of entries below a directory."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


def _copies(tree: Path, root: Path, entries: int) -> None:
    """Copies a tree below `root` until there are so many entries."""
    for number in range(-(-entries // _entries(tree))):
        media.call("cp", "-a", "--attributes-only", tree, root / f"copy-{number:02}")


def _change(root: Path, one_in: int) -> None:
    """Changes the size of one file in so many."""
    number = 0
    for folder, _, files in os.walk(root):
        for name in files:
            path = Path(folder) / name
            number += 1
            if number % one_in == 0 and not path.is_symlink():
                with open(path, "ab") as file:
                    file.write(b"more")


def _list(tree: Path, output: Path) -> None:
    """Writes what `find -printf` says of a tree, sorted."""
    with open(output, "wb") as file:
        listed = subprocess.Popen(
            ["find", tree, "-printf", "%p %y %s %b %T@ %i\\n"], stdout=subprocess.PIPE
        )
        environment = {**os.environ, "LC_ALL": "C"}
        subprocess.run(["sort"], stdin=listed.stdout, stdout=file, env=environment, check=True)
        if listed.wait():
            raise OSError(f"find {tree}: status {listed.returncode}")


def on_copies(session: Session, run: Callable[[Path, Path], Result]) -> Result:
    """Calls `run` with a tree of a million entries on ext4, and a folder beside it."""
    tree = session.tree()
    with media.ext4(session.scratch, 1_200_000, 4096) as point:
        root, out = point / "tree", point / "out"
        root.mkdir()
        out.mkdir()
        _copies(tree, root, MILLION)
        return run(root, out)


def write(session: Session) -> Result:
    """Measures writing a snapshot of a million entries, beside ncdu and gdu."""
    about = {"tree": "copies of the tree, a million entries"}

    def run(root: Path, _out: Path) -> Result:
        media.call("sync")
        return run_rows(session, "snapshot", WRITE, root, 15, about)

    return on_copies(session, run)


def read(session: Session) -> Result:
    """Measures answers from snapshots of a million entries, 1 % of which have changed."""
    need("sort", "diff")
    ringwalk = session.tools.find("ringwalk")
    about = {"tree": "copies of the tree, a million entries", "changed": "1 %"}

    def run(root: Path, out: Path) -> Result:
        old, new = out / "old", out / "new"
        for output, change in ((old, None), (new, 100)):
            if change:
                _change(root, change)
            media.call(ringwalk, "snapshot", root, "-o", output)
            _list(root, Path(f"{output}.txt"))
        command = f'"{ringwalk}" diff "$@" >/dev/null\ntest $? = 1'
        script = shell_program(out / "diff-snapshots", command)
        session.tools.provide("diff-snapshots", script)
        session.tools.provide("sh", Path(shutil.which("sh") or "/bin/sh"))
        folders = [path for path in sorted((root / "copy-00").iterdir()) if path.is_dir()]
        folders.sort(key=_entries)
        rows = read_rows(old, new, folders[0], folders[-1])
        sizes = {"small": _entries(folders[0]), "large": _entries(folders[-1])}
        return run_rows(session, "snapshot-read", rows, root, 15, {**about, **sizes})

    return on_copies(session, run)


# Trees that are made up, with the number of files.
MADE_UP = {"tree": 100_000_000, "flat": 10_000_000, "links": 20_000_000, "wide": 10_000_000}
WRITER = "cargo build --profile dist -p ringwalk-snapshot --example synthetic"


@contextmanager
def _memory_group(limit: int) -> Iterator[Path]:
    """Makes a control group with this many bytes of memory and no swap; returns its folder."""
    base = Path("/sys/fs/cgroup")
    if (base / "memory/memory.limit_in_bytes").exists():
        group, limits = base / "memory", ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
        values = (limit, limit)
    else:
        group, limits = base, ("memory.max", "memory.swap.max")
        values = (limit, 0)
        controllers = (base / "cgroup.subtree_control").read_text().split()
        if "memory" not in controllers:
            (base / "cgroup.subtree_control").write_text("+memory")
    group /= f"ringwalk-bench-{os.getpid()}"
    group.mkdir()
    try:
        for name, value in zip(limits, values, strict=True):
            (group / name).write_text(str(value))
        yield group
    finally:
        group.rmdir()


def synthetic_writer() -> Path:
    """Returns the program that writes snapshots of trees that are made up."""
    writer = BENCH.parent / "target/dist/examples/synthetic"
    if not writer.exists():
        raise MissingTool(f"{writer} is not there: {WRITER}")
    return writer


def large(session: Session) -> Result:
    """Measures a report over ten million rows."""
    about = {"snapshot": "10 000 000 files, made up by the example `synthetic`"}
    with tempfile.TemporaryDirectory(dir=session.scratch, prefix="large-") as folder:
        saved = Path(folder) / "saved"
        media.call(synthetic_writer(), "tree", "10000000", saved)
        arguments = ("report", str(saved), "--by", "owner,age")
        table = [Row("report-owner-age", "report", "ringwalk", arguments)]
        return run_rows(session, "snapshot-10M", table, Path(folder), 5, about, enough=5)


def made_up(session: Session) -> Result:
    """Measures writing snapshots of trees that are made up, with 256 MiB of memory."""
    writer = synthetic_writer()
    about = {"tree": "made up by the example `synthetic`", "memory": "256 MiB, without swap"}
    with (
        tempfile.TemporaryDirectory(dir=session.scratch, prefix="made-up-") as folder,
        _memory_group(256 * 1024 * 1024) as group,
    ):
        command = f'echo $$ > {group}/cgroup.procs\nexec "{writer}" "$@"'
        script = shell_program(Path(folder) / "limited", command)
        session.tools.provide("synthetic", script)
        table = [
            Row(f"write-{shape}", "write", "synthetic", (shape, str(entries), "{tree}/saved"))
            for shape, entries in MADE_UP.items()
        ]
        return run_rows(
            session, "snapshot-100M", table, Path(folder), 1, about, warm_up=0, enough=1
        )


SUITES: dict[str, Callable[[Session], Result]] = {
    "snapshot": write,
    "snapshot-read": read,
    "snapshot-10M": large,
    "snapshot-100M": made_up,
}
