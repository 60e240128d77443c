"""The contents of files: hashes and duplicates, beside other programs."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from . import bulk, contents_rows, disks, images, media
from .contents_rows import B3SUM_FILE, COPIES, FIRST, HASH_FILE, SECOND
from .images import Content
from .measure import Command, CommandFailed, Sample, run_once
from .rows import Row
from .suites import Result, Session, run_rows
from .tools import MissingTool, build, need, shell_program

MIB = 1024 * 1024
LARGE = 8192 * MIB
RUNS_OF_FILE = 5
RUNS_WARM = 15

# One file in so many is changed in the second copy.
ONE_IN = 20

# The part of the tree that is read where each read takes milliseconds: 2 000 files.
SLOW_PART = "fs"

MILLION = 1_000_000


def change(root: Path, one_in: int) -> int:
    """Changes the byte in the middle of one file in so many; returns the number of files changed.

    The size stays, so that only reading the contents shows it. Empty files are not counted.
    """
    number = changed = 0
    for folder, folders, files in os.walk(root):
        # The same files, whatever the order in which directories list them.
        folders.sort()
        for name in sorted(files):
            path = Path(folder) / name
            if path.is_symlink() or not (size := path.stat().st_size):
                continue
            number += 1
            if number % one_in == 0:
                with open(path, "r+b") as file:
                    file.seek(size // 2)
                    byte = file.read(1)[0]
                    file.seek(size // 2)
                    file.write(bytes([byte ^ 0xFF]))
                changed += 1
    return changed


def two_copies(tree: Path, name: str) -> Content:
    """Returns two copies of a directory; one file in 20 of the second one is changed."""
    one = images.copy_of(tree)

    def fill(root: Path) -> None:
        for copy in (FIRST, SECOND):
            folder = root / COPIES / copy
            folder.mkdir(parents=True)
            one.fill(folder)
        change(root / COPIES / SECOND, ONE_IN)

    about = f"two copies of {tree.name}, {100 // ONE_IN} % of the files changed"
    recipe = f"two copies, one file in {ONE_IN} changed in the middle, of {one.recipe}"
    return Content(name, about, 2 * one.megabytes, fill, recipe)


def _copies(session: Session) -> Content:
    return two_copies(session.tree(), "contents")


def hash_tree(session: Session) -> Result:
    """Measures hashes of a tree that is not in cache, beside b3sum and beside reads alone."""
    need("xargs")
    session.tools.provide("read_floor", build("read_floor"))
    with tempfile.TemporaryDirectory(dir=session.scratch, prefix="contents-") as folder:
        b3sum, find = (session.tools.find(tool) for tool in ("b3sum", "find"))
        if b3sum and find:
            # All threads, which is b3sum's default.
            command = f"'{find}' \"$1\" -type f -print0 | xargs -0 '{b3sum}'"
            session.tools.provide("b3sum-tree", shell_program(Path(folder) / "b3sum", command))
        return bulk.cold(session, "contents-hash", "ext4", _copies(session), contents_rows.HASH)


@contextlib.contextmanager
def large_file(scratch: Path, size: int) -> Iterator[Path]:
    """Provides a file of random bytes, which no layer below can store as a hole."""
    free = shutil.disk_usage(scratch).free
    if free < size + 1024 * MIB:
        raise MissingTool(f"{scratch}: {free // MIB} MiB free, too few for {size // MIB} MiB")
    file = scratch / "contents.data"
    try:
        with open(file, "wb") as output:
            for _ in range(size // MIB):
                output.write(os.urandom(MIB))
            output.flush()
            os.fsync(output.fileno())
        yield file
    finally:
        file.unlink(missing_ok=True)


def forget(file: Path) -> None:
    """Removes the pages of a file that is on the disk from the page cache."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def run_read(timed: Path, command: Command) -> Sample:
    """As `run_once`; of fio the wall time is that of its reads, without its start."""
    if Path(command.argv[0]).name != "fio":
        return run_once(timed, command)
    with tempfile.TemporaryFile() as file:
        whole = run_once(timed, command, file.fileno())
        file.seek(0)
        try:
            seconds = contents_rows.fio_seconds(file.read())
        except (ValueError, KeyError) as error:
            raise CommandFailed(f"{command.key}: {error}") from None
    return dataclasses.replace(whole, wall=seconds)


def file_cold(session: Session) -> Result:
    """Measures the hash of one large file that is not in cache, beside the rate of the disk."""
    if not session.tools.find("fio"):
        raise MissingTool("no fio: apt-get install fio")
    table = [HASH_FILE, B3SUM_FILE, *contents_rows.fio_rows(LARGE)]
    about = {"tree": f"one file of {LARGE // MIB} MiB", "cache": "cold"}
    with large_file(session.scratch, LARGE) as file:
        return run_rows(
            session,
            "contents-file-cold",
            table,
            file,
            RUNS_OF_FILE,
            about,
            run=run_read,
            before_each=lambda: forget(file),
            warm_up=0,
            enough=RUNS_OF_FILE,
        )


def file_warm(session: Session) -> Result:
    """Measures the hash of one large file in cache, beside b3sum."""
    about = {"tree": f"one file of {LARGE // MIB} MiB", "cache": "warm"}
    with large_file(session.scratch, LARGE) as file:
        # The rows before the first round bring it into the cache; it has to stay there.
        return run_rows(
            session, "contents-file-warm", [HASH_FILE, B3SUM_FILE], file, RUNS_WARM, about
        )


def dupes_cold(session: Session) -> Result:
    """Measures finders of duplicates on two copies of a tree, not in cache."""
    table = contents_rows.finders()
    return bulk.cold(session, "contents-dupes-cold", "ext4", _copies(session), table)


def dupes_warm(session: Session) -> Result:
    """Measures finders of duplicates on two copies of a tree, in cache."""
    table = contents_rows.finders()
    content = _copies(session)
    return bulk.warm(session, "contents-dupes-warm", "ext4", content, lambda _point: table)


def dupes_slow(session: Session) -> Result:
    """Measures finders of duplicates on a small tree, on a disk with 2 ms a read."""
    tree = session.tree()
    part = tree / SLOW_PART
    content = two_copies(part if part.is_dir() else tree, "contents-part")
    disk = disks.slow(session.delay)
    return bulk.cold(session, "contents-dupes-slow", "ext4", content, contents_rows.finders(), disk)


def dupes_cached(session: Session) -> Result:
    """Measures a second run with a cache, beside the walk alone."""
    program = session.tools.find("ringwalk")
    if not program:
        raise MissingTool(session.tools.missing["ringwalk"])
    table = contents_rows.cached()

    def with_first_run(point: Path) -> list[Row]:
        row = next(row for row in table if row.key == "dupes-cached-auto")
        media.call(*row.argv(program, str(point)))
        return table

    cache = session.scratch / "contents.cache"
    cache.unlink(missing_ok=True)
    try:
        content = _copies(session)
        return bulk.warm(session, "contents-cached", "ext4", content, with_first_run)
    finally:
        cache.unlink(missing_ok=True)


def _fill(job: tuple[str, int, int]) -> None:
    directory, number, files = job
    os.mkdir(directory)
    parent = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    flags = os.O_CREAT | os.O_WRONLY | os.O_EXCL
    try:
        for place in range(files):
            file = os.open(f"file-{place:07}.dat", flags, 0o644, dir_fd=parent)
            os.write(file, b"%015d\n" % ((number * files + place) // 2))
            os.close(file)
    finally:
        os.close(parent)


def candidates(root: Path, directories: int, files: int) -> None:
    """Makes `directories` x `files` files of one size, of which two each have the same contents."""
    jobs = [(str(root / f"dir-{number:04}"), number, files) for number in range(directories)]
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for _ in pool.imap_unordered(_fill, jobs, chunksize=4):
            pass


def _peak(timed: Path, command: Command, runs: int) -> float:
    """Returns the median of the peak memory of a command in KiB."""
    return statistics.median(run_once(timed, command).rss for _ in range(runs))


def memory(session: Session) -> Result:
    """Measures the peak memory of finders with a million candidates, all of one size."""
    about: dict[str, object] = {
        "tree": "1000 directories of 1000 files, 500 000 pairs of one size",
        "cache": "warm",
        "entries": MILLION,
    }
    table = contents_rows.memory_finders()
    # A block of 4 KiB for each file.
    with (
        media.ext4(session.scratch, 1_100_000, 8192) as root,
        tempfile.TemporaryDirectory(dir=session.scratch, prefix="empty-") as empty,
    ):
        tree = root / "tree"
        tree.mkdir()
        candidates(tree, 1000, MILLION // 1000)
        media.call("sync")
        runs = 3
        result = run_rows(
            session, "contents-memory", table, tree, runs, about, warm_up=0, enough=runs
        )
        for key, found in result.figures.items():
            row = result.rows[key]
            command = Command(key, row.argv(session.tools.find(row.tool), empty))
            try:
                nothing = _peak(session.tools.timed, command, runs)
            except CommandFailed as error:
                result.failures.append(str(error))
                continue
            found["empty_kib"] = nothing
            found["bytes_an_entry"] = (found["rss_kib"] - nothing) * 1024 / MILLION
    return result


SUITES: dict[str, Callable[[Session], Result]] = {
    "contents-hash": hash_tree,
    "contents-file-cold": file_cold,
    "contents-file-warm": file_warm,
    "contents-dupes-cold": dupes_cold,
    "contents-dupes-warm": dupes_warm,
    "contents-dupes-slow": dupes_slow,
    "contents-cached": dupes_cached,
    "contents-memory": memory,
}
