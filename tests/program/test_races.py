"""Trees that change during a walk: nothing outside is ever reported, nothing hangs.

Beside each tree lies an `outside` tree whose names carry a marker and whose files are of a size
that no honest sum can reach. A process of its own changes the inside tree as fast as it can.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import os
import random
import time
from pathlib import Path

import pytest
from support import strace, trees
from support.gnu import counted
from support.run import rounds, run

MARKER = b"OUTSIDE"
OUTSIDE_SIZE = 1 << 40
SECONDS = 3.0
RENAME_EXCHANGE = 2  # linux/fs.h
AT_FDCWD = -100

LIBC = ctypes.CDLL(None, use_errno=True)


def exchange(one: Path, other: Path) -> None:
    """Swaps two names in one step, so that both exist at every moment."""
    LIBC.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)


def build(scratch: Path) -> tuple[Path, Path]:
    """The tree to walk and the one that must never be seen.

    The first is deep enough that with few descriptors directories are closed and opened again. The
    second has the same names for its directories, so that a path of the first one leads somewhere.
    """
    inside, outside = scratch / "inside", scratch / "outside"
    trees.make_branching(inside, levels=9, children=2)
    trees.make_branching(outside, levels=5, children=2)
    (outside / "parking").mkdir()
    for folder, _, _ in list(os.walk(outside)):
        path = Path(folder) / f"{MARKER.decode()}-folder"
        path.mkdir()
        for place in (path, path.parent):
            with open(place / f"{MARKER.decode()}-file", "wb") as file:
                file.truncate(OUTSIDE_SIZE)
    return inside, outside


def own_folders(inside: Path, seed: int) -> list[Path]:
    """The directories that the changer `seed` (1 or 2) may replace by links.

    Each has half of the top-level directories: through a link that the other one has just put
    there it would change the outside tree, and carry the marker in itself.
    """
    tops = sorted(path for path in inside.iterdir() if path.is_dir())[seed - 1 :: 2]
    return tops + [Path(name) for top in tops for name, _, _ in os.walk(top) if name != str(top)]


def swap_for_symlinks(inside: Path, outside: Path, seed: int) -> None:
    """Keeps exchanging directories of every level with symbolic links to the outside."""
    rng = random.Random(seed)
    folders = own_folders(inside, seed)
    link = inside.parent / f"link{seed}"
    link.symlink_to(outside)
    while True:
        folder = rng.choice(folders)
        exchange(link, folder)
        exchange(link, folder)


def rename_and_delete(inside: Path, outside: Path, seed: int) -> None:
    """Keeps moving directories about inside the tree, deleting some and making others."""
    rng = random.Random(seed)
    folders = [Path(folder) for folder, _, _ in os.walk(inside)][1:]
    while True:
        one, other = rng.choice(folders), rng.choice(folders)
        with contextlib.suppress(OSError):
            action = rng.randrange(6)
            if action <= 1:
                moved = other / f"moved{seed}"
                one.rename(moved)
                # Moves it back mostly; otherwise the list of paths would soon be wrong.
                if rng.random() < 0.95:
                    moved.rename(one)
            elif action == 2:
                (one / "file").unlink()
            elif action == 3:
                (one / "new").mkdir()
                (one / "file").write_bytes(b"x")
            elif action == 4:
                (one / "new").rmdir()
            else:
                # A file in the place of a directory, and a directory in the place of a file.
                exchange(one / "file", one / "new")


def move_out(inside: Path, outside: Path, seed: int) -> None:
    """Keeps moving directories out of the tree and back, also while they are read.

    A walker that climbs by `..`, or that finds a directory again by a path it once had, gets from
    there to names with the marker.
    """
    rng = random.Random(seed)
    folders = own_folders(inside, seed)
    parking = outside / "parking" / f"parked{seed}"
    while True:
        folder = rng.choice(folders)
        folder.rename(parking)
        # The old name of the directory leads outside now.
        folder.symlink_to(outside)
        time.sleep(0.001)
        folder.unlink()
        parking.rename(folder)


CHANGES = (swap_for_symlinks, rename_and_delete, move_out)


@contextlib.contextmanager
def changing(change, inside: Path, outside: Path):
    """Runs a changer in two processes while the block runs."""
    context = multiprocessing.get_context("fork")
    workers = [
        context.Process(target=change, args=(inside, outside, seed), daemon=True) for seed in (1, 2)
    ]
    for worker in workers:
        worker.start()
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


@pytest.mark.parametrize("nofile", (None, 16), ids=("many descriptors", "few descriptors"))
@pytest.mark.parametrize("change", CHANGES)
def test_nothing_outside_is_reported(count, du, scratch, change, nofile):
    inside, outside = build(scratch)
    with changing(change, inside, outside) as changers:
        for runs in rounds(SECONDS, least=4):
            workers = 1 + runs % 4
            sums = count("--format=json", "--workers", workers, inside, nofile=nofile).sane()
            report = json.loads(sums.out)
            assert report["apparent_size"] < OUTSIDE_SIZE, report
            listed = du("-ab", "--workers", workers, inside, nofile=nofile).sane()
            for text in (listed.out, listed.err, sums.err):
                assert MARKER not in text
            for line in listed.lines():
                assert int(line.split(b"\t")[0]) < OUTSIDE_SIZE, line
        assert all(changer.is_alive() for changer in changers), "a changer ended by itself"


def test_the_marker_is_found_when_it_is_inside(count, du, scratch):
    """The checks above find the marker if it is in the tree."""
    _, outside = build(scratch)
    assert MARKER in du("-a", outside).ok().out
    assert json.loads(count("--format=json", outside).ok().out)["apparent_size"] >= OUTSIDE_SIZE


def test_vanishing_entries_are_no_failure(count, scratch):
    """Files vanish before their metadata is read: the walk goes on without an error."""
    for number in range(3000):
        (scratch / f"file{number}").touch()

    def remove(top: Path) -> None:
        for number in range(2999, -1, -1):
            with contextlib.suppress(OSError):
                (top / f"file{number}").unlink()

    context = multiprocessing.get_context("fork")
    remover = context.Process(target=remove, args=(scratch,), daemon=True)
    remover.start()
    while remover.is_alive():
        report = json.loads(count("--format=json", scratch).sane().out)
        assert 0 <= report["entries"] <= 3000
        assert report["errors"] == 0, report
    remover.join()
    assert counted(count(scratch).ok()) == (0, 0)


@pytest.mark.parametrize(("errno", "errors"), (("ENOENT", 0), ("EIO", 1)))
def test_what_vanished_is_told_from_what_failed(programs, base, scratch, errno, errors):
    """The fourth statx fails: the first two are of DIR (is it a mount?), the others of files."""
    for number in range(5):
        (scratch / f"file{number}").write_bytes(b"12345")
    prefix = strace.injecting(base, "statx", f"error={errno}:when=4")
    result = run(
        [*prefix, programs / "ringwalk", "count", "--format=json", "--workers", "1", scratch]
    )
    report = json.loads(result.out)
    assert (report["errors"], report["vanished"]) == (errors, 1 - errors)
    # A failed entry still exists and has a name; a vanished one does not.
    assert (report["entries"], report["apparent_size"]) == (4 + errors, 20)
    assert (result.status, result.err.count(b"\n")) == (errors, errors), result
