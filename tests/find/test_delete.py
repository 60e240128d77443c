"""-delete: the files that are removed, the files that stay, and the messages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support import trees
from support.find import assert_alike, assert_contents_first, left
from support.run import NOBODY


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


@pytest.mark.smoke
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
    """With many workers, too, a directory is empty before it is deleted."""
    made = trees.make_branching(scratch / "tree", levels=6, children=3)
    env = {"RINGWALK_WORKERS": workers}
    lines = find("tree", "-delete", "-print", cwd=scratch, env=env).ok().lines()
    assert len(lines) == made + 1 and left(scratch) == []
    assert_contents_first(lines)


def test_a_wide_directory(find, scratch):
    """Entries are deleted while their directory is read, and no entry is missed."""
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


@pytest.mark.parametrize("line", ("tree/link -delete", "tree/link -name link -delete"))
@pytest.mark.parametrize("follow", ("-H", "-L"))
def test_links_to_directories_that_are_followed_stay(find, gnu_find, scratch, follow, line):
    outcomes = []
    for name, program in (("gnu", gnu_find), ("ours", find)):
        (scratch / name / "tree" / "dir").mkdir(parents=True)
        (scratch / name / "tree" / "link").symlink_to("dir")
        outcomes.append(program(follow, *line.split(), cwd=scratch / name))
        assert (scratch / name / "tree" / "link").is_symlink()
    assert_alike(*outcomes)
