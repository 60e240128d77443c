"""Trees that change while find searches them."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import time
from pathlib import Path

import pytest
from support import strace, trees
from support.find import left, messages
from support.run import run

RENAME_EXCHANGE = 2  # linux/fs.h


AT_FDCWD = -100


LIBC = ctypes.CDLL(None, use_errno=True)


SECONDS = 1.0


def exchange(one: Path, other: Path) -> None:
    """Swaps two names in one step, so that both exist at every moment."""
    LIBC.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)


def attack(folders: list[Path], link: Path) -> None:
    """Keeps exchanging directories with a link that leads outside."""
    while True:
        for folder in folders:
            exchange(link, folder)
            exchange(link, folder)


@contextlib.contextmanager
def attacked(scratch: Path):
    """Runs a process that keeps swapping directories for a link to the tree outside."""
    for name in ("inside", "outside"):
        trees.make_branching(scratch / name, levels=5, children=2)
    (scratch / "outside" / "OUTSIDE").touch()
    before = left(scratch / "outside")
    link = scratch / "link"
    link.symlink_to(scratch / "outside")
    folders = [Path(f) for f, _, _ in os.walk(scratch / "inside")][1:]
    context = multiprocessing.get_context("fork")
    attacker = context.Process(target=attack, args=(folders, link), daemon=True)
    attacker.start()
    try:
        yield
        assert attacker.is_alive()
    finally:
        attacker.kill()
        attacker.join()
    assert left(scratch / "outside") == before


@pytest.mark.parametrize("nofile", (None, 16), ids=("many descriptors", "few descriptors"))
def test_swaps_while_deleting(find, scratch, nofile):
    end, runs = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        place = scratch / str(runs)
        place.mkdir()
        with attacked(place):
            # Three times, as the attacker may have moved a directory away meanwhile.
            for workers in ("1", "4", "2"):
                env = {"RINGWALK_WORKERS": workers}
                result = find("inside", "-delete", cwd=place, env=env, nofile=nofile)
                assert b"OUTSIDE" not in result.err
                result.sane()
        runs += 1
    assert runs > 0


def test_swaps_while_running_commands(find, scratch):
    """No command runs in a directory outside."""
    script = 'case "$PWD" in *outside*) echo "in $PWD: $*";; esac; test ! -e OUTSIDE || echo seen'
    runs = 0
    with attacked(scratch):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for end_mark in (";", "+"):
                args = ("-type", "f", "-execdir", "sh", "-c", script, "sh", "{}", end_mark)
                result = find(scratch / "inside", *args).sane()
                assert result.out == b"", result.out[:500]
            runs += 1
    assert runs > 0


def test_swaps_while_printing(find, scratch):
    """Nothing outside is printed."""
    runs = 0
    with attacked(scratch):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            env = {"RINGWALK_WORKERS": str(1 + runs % 4)}
            for expression in ("-print", "-size -1", "-depth", "-xtype f"):
                result = find("inside", *expression.split(), cwd=scratch, env=env).sane()
                assert b"OUTSIDE" not in result.out + result.err
            runs += 1
    assert runs > 0


def statx_fails(find, base, scratch, errno: str, *args):
    prefix = strace.injecting(base, "statx", f"error={errno}:when=3")
    return run([*prefix, *find.first, scratch, *args], env={"RINGWALK_WORKERS": "1"})


@pytest.mark.parametrize("option", ("-ignore_readdir_race", "-noignore_readdir_race"))
@pytest.mark.parametrize("errno", ("ENOENT", "EIO"))
def test_what_vanishes_before_it_can_be_asked_about(find, base, scratch, option, errno):
    """A call fails for one of five files: an error that is named, or silence with the option."""
    for number in range(5):
        (scratch / f"file{number}").write_bytes(b"12345")
    result = statx_fails(find, base, scratch, errno, option, "-type", "f", "-size", "5c")
    assert len(result.lines()) == 4
    ignored = errno == "ENOENT" and option == "-ignore_readdir_race"
    assert result.status == (0 if ignored else 1), result
    reason = {"ENOENT": "No such file or directory", "EIO": "Input/output error"}[errno]
    reported = [text for text in messages(result) if text.endswith(reason)]
    assert len(reported) == (0 if ignored else 1), result


def test_vanishing_files(find, scratch):
    """Files vanish during the search; with -ignore_readdir_race that is no error."""
    top = scratch / "top"

    def churn() -> None:
        while True:
            for number in range(300):
                with contextlib.suppress(OSError):
                    (top / f"file{number}").unlink()
                (top / f"file{number}").touch()
                with contextlib.suppress(OSError):
                    (top / f"dir{number % 7}").rmdir()
                with contextlib.suppress(OSError):
                    (top / f"dir{number % 7}").mkdir()

    top.mkdir()
    context = multiprocessing.get_context("fork")
    churner = context.Process(target=churn, daemon=True)
    churner.start()
    try:
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            for action in ("-size 0 -print", "-ls", "-exec true {} +", "-type d"):
                args = ("top", "-ignore_readdir_race", *action.split())
                result = find(*args, cwd=scratch)
                assert (result.status, result.err) == (0, b""), (action, result.err[:300])
                reported = find("top", *action.split(), cwd=scratch).sane()
                assert reported.err.count(b"\n") == reported.err.count(b"No such file or directory")
                assert (reported.status == 1) == bool(reported.err)
        assert churner.is_alive()
    finally:
        churner.kill()
        churner.join()


REPLACED = ("touch", "ln -s .")


@pytest.mark.parametrize("replacement", REPLACED)
def test_a_directory_that_becomes_something_else(find, scratch, replacement):
    """The change happens between the listing and the opening: an error, or an ignored race."""
    for option, status in (("-noignore_readdir_race", 1), ("-ignore_readdir_race", 0)):
        top = scratch / option
        (top / "dir").mkdir(parents=True)
        (top / "dir" / "file").touch()
        command = ("-execdir", "rm", "-r", "{}", ";", "-execdir", *replacement.split(), "{}", ";")
        result = find(top, "-mindepth", 1, option, *command)
        assert result.status == status
        reported = [f"'{top}/dir': Not a directory"] if status else []
        assert messages(result) == reported
