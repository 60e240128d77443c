"""-delete: what goes, what stays, what is said; nothing outside the tree is ever touched."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import subprocess
import time
from pathlib import Path

import pytest
from support import strace, trees
from support.find import assert_alike, assert_contents_first, messages
from support.run import NOBODY, run

RENAME_EXCHANGE = 2  # linux/fs.h
AT_FDCWD = -100
LIBC = ctypes.CDLL(None, use_errno=True)
SECONDS = 1.0


def left(top: Path) -> list[str]:
    """Everything that is still there."""
    return sorted(os.path.relpath(path, top) for path in Path(top).rglob("*"))


def fill(top: Path) -> None:
    trees.make_branching(top / "tree", levels=3, children=3)
    (top / "tree" / "link").symlink_to("dir0")
    (top / "tree" / "dangling").symlink_to("nowhere")
    (top / "tree" / "dir0" / "outside").symlink_to(top / "kept")
    (top / "tree" / "dir1" / "-rf").touch()
    os.mkfifo(top / "tree" / "fifo")
    (top / "kept").mkdir()
    (top / "kept" / "file").write_bytes(b"kept")


LINES = (
    "tree -delete",
    "tree -type f -delete",
    "tree -type d -delete",
    "tree -type d -empty -delete",
    "tree -empty -delete",
    "tree -mindepth 1 -delete",
    "tree -maxdepth 1 -delete",
    "tree -maxdepth 0 -delete",
    "tree -name dir1 -delete",
    "tree -name file -delete -print",
    "tree -name dir0 -o -delete",
    "tree ! -delete -print",
    "tree -depth -type l -delete",
    "tree/ -delete",
    "tree/link -delete",
    "tree/link/ -delete",
    "-L tree -type f -delete",
    "-H tree/link -delete",
    "-H tree/link -type f -delete",
    "-L tree/dangling tree/link -delete",
    "tree missing -delete",
    "tree/fifo tree/dir0 -delete",
    "tree/dir0/file tree/dir0/file -delete",
    "tree tree -delete",
    "tree/dir1 tree/dir1/dir0 -delete",
    "tree -delete -delete",
    "tree -type f -delete -o -print",
    "tree -delete -exec echo {} ;",
    "tree -xdev -delete",
    "tree -ignore_readdir_race -delete",
    "tree -name file -delete -quit -false",
    "./tree//dir0 -delete",
    ". -delete",
    "./. -delete",
    "-- tree -delete",
)


@pytest.mark.parametrize("line", LINES)
def test_the_same_is_left(find, gnu_find, scratch, line):
    outcomes = []
    for name, program in (("gnu", gnu_find), ("ours", find)):
        (scratch / name).mkdir()
        fill(scratch / name)
        result = program(*line.split(), cwd=scratch / name)
        outcomes.append((result, left(scratch / name)))
        if line not in (". -delete", "./. -delete") and "-L tree" not in line:
            assert (scratch / name / "kept" / "file").exists()
    (expected, gnu_left), (got, our_left) = outcomes
    if "-quit" not in line:
        assert our_left == gnu_left
        assert_alike(expected, got)
    else:
        assert len(our_left) == len(gnu_left)


@pytest.mark.parametrize("workers", ("1", "2", "8"))
def test_a_large_tree(find, scratch, workers):
    """With many workers too a directory is empty when its turn comes."""
    made = trees.make_branching(scratch / "tree", levels=6, children=3)
    env = {"RINGWALK_WORKERS": workers}
    lines = find("tree", "-delete", "-print", cwd=scratch, env=env).ok().lines()
    assert len(lines) == made + 1 and left(scratch) == []
    assert_contents_first(lines)


def test_a_wide_directory(find, scratch):
    """Entries go while their directory is still being read: none is missed for it."""
    trees.make_wide(scratch / "wide", 20_000)
    find("wide", "-delete", cwd=scratch).ok()
    assert left(scratch) == []


def test_a_deep_tree(find, scratch):
    (scratch / "deep").mkdir()
    trees.make_deep(scratch / "deep", 60, b"d" * 200)
    find("deep", "-delete", cwd=scratch, nofile=30).ok()
    assert left(scratch) == []


def test_what_may_not_be_deleted(find, gnu_find, scratch, needs_root):
    outcomes = []
    for name, program in (("gnu", gnu_find), ("ours", find)):
        top = scratch / name
        top.mkdir()
        fill(top)
        subprocess.run(["chown", "-R", str(NOBODY), top / "tree"], check=True)
        os.chown(top / "tree" / "dir1", 0, 0)
        (top / "tree" / "dir2" / "dir0").chmod(0o500)
        result = program("tree", "-delete", cwd=top, uid=NOBODY)
        assert b"Permission denied" in result.err and b"not empty" in result.err
        outcomes.append((result, left(top)))
    assert outcomes[0][1] == outcomes[1][1]
    assert_alike(outcomes[0][0], outcomes[1][0])


def exchange(one: Path, other: Path) -> None:
    """Swaps two names in one step, so that there is no moment without either."""
    LIBC.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)


def attack(folders: list[Path], link: Path) -> None:
    """Keeps exchanging directories with a link that leads outside."""
    while True:
        for folder in folders:
            exchange(link, folder)
            exchange(link, folder)


@contextlib.contextmanager
def attacked(scratch: Path):
    """A tree whose directories keep being swapped for a link to one with the same names outside."""
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
            # Until nothing is left, or the attacker has taken a directory away for good.
            for workers in ("1", "4", "2"):
                env = {"RINGWALK_WORKERS": workers}
                result = find("inside", "-delete", cwd=place, env=env, nofile=nofile)
                assert b"OUTSIDE" not in result.err
                result.sane()
        runs += 1
    assert runs > 0


def test_swaps_while_running_commands(find, scratch):
    """No command is ever run with a directory outside as its working directory."""
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
    """Nothing outside is ever shown either."""
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
    told = [text for text in messages(result) if text.endswith(reason)]
    assert len(told) == (0 if ignored else 1), result


def test_vanishing_files(find, scratch):
    """Files go while find looks for them; with the option none of that is an error."""
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
                told = find("top", *action.split(), cwd=scratch).sane()
                assert told.err.count(b"\n") == told.err.count(b"No such file or directory")
                assert (told.status == 1) == bool(told.err)
        assert churner.is_alive()
    finally:
        churner.kill()
        churner.join()


def test_deleting_what_is_gone(find, gnu_find, scratch):
    """The command before -delete has removed the file already."""
    for option in ("-ignore_readdir_race", "-noignore_readdir_race"):
        outcomes = []
        for name, program in (("gnu", gnu_find), ("ours", find)):
            top = scratch / f"{name}{option}"
            (top / "t").mkdir(parents=True)
            for number in range(3):
                (top / "t" / f"file{number}").touch()
            line = ("t", option, "-type", "f", "-exec", "rm", "{}", ";", "-delete", "-print")
            outcomes.append(program(*line, cwd=top))
            assert left(top) == ["t"]
        assert_alike(*outcomes)
