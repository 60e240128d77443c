"""Found by trying to break `ringwalk find`: each of these went wrong once."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from support.find import assert_alike, assert_same
from support.run import NOBODY, environment


def fill_unsearchable(top: Path) -> None:
    """A directory whose names can be read, and nothing of what they stand for."""
    (top / "tree" / "listed" / "sub").mkdir(parents=True)
    (top / "tree" / "listed" / "file").write_bytes(b"1")
    (top / "tree" / "listed" / "link").symlink_to("file")
    (top / "tree" / "hidden").mkdir()
    (top / "tree" / "hidden" / "file").touch()
    (top / "tree" / "open").mkdir()
    (top / "tree" / "open" / "to_hidden").symlink_to("../hidden/file")
    (top / "tree" / "open" / "dangling").symlink_to("nowhere")
    (top / "tree" / "open" / "to_itself").symlink_to("to_itself")
    (top / "tree" / "open" / "file").touch()
    (top / "tree" / "listed").chmod(0o444)
    (top / "tree" / "hidden").chmod(0o000)


@pytest.mark.parametrize(
    "line",
    (
        "tree -size 1 -o -print",
        "tree ! -size 1",
        "tree -size 1 , -print",
        "tree ! -empty",
        "tree ( -name file -o -name link ) ( -size 1 -o -print )",
        "tree -xdev",
        "tree -depth ( -size 1 -o -print )",
        "tree ( -ls -false -o -print )",
        "tree ( -printf '%s\\n' -false -o -name file -print )",
        "tree -printf '%s\\n' -print",
        "-L tree",
        "-L tree -depth",
        "-L tree -type l",
        "-L tree ! -type l",
        "-L tree ! -size 1",
        "tree/hidden/file tree/open -print",
    ),
)
def test_what_cannot_be_looked_at_is_still_tested_by_name(
    find, gnu_find, scratch, needs_root, line
):
    fill_unsearchable(scratch)
    words = shlex.split(line)
    expected = gnu_find(*words, cwd=scratch, uid=NOBODY)
    got = find(*words, cwd=scratch, uid=NOBODY)
    assert sorted(got.lines()) == sorted(expected.lines())
    assert got.status == expected.status == 1 and b"Permission denied" in got.err


def test_links_that_may_not_be_followed_are_not_dangling(find, gnu_find, scratch, needs_root):
    """`-L -type l -delete` removes links that lead nowhere, and no others."""
    fill_unsearchable(scratch)
    os.chown(scratch / "tree" / "open", NOBODY, NOBODY)
    find("-L", "tree/open", "-type", "l", "-delete", cwd=scratch, uid=NOBODY)
    left = sorted(os.listdir(scratch / "tree" / "open"))
    assert left == ["file", "to_hidden", "to_itself"]


@pytest.mark.parametrize("depth", (1, 2, 3))
@pytest.mark.parametrize("rest", ("-print", "-depth -print", "-type d"))
def test_loops_are_told_at_the_last_level_too(find, gnu_find, scratch, depth, rest):
    (scratch / "top" / "dir").mkdir(parents=True)
    (scratch / "top" / "dir" / "up").symlink_to("..")
    assert_same(find, gnu_find, "-L", "top", "-maxdepth", depth, *rest.split(), cwd=scratch)


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


@pytest.mark.parametrize("action", ("-delete", "-exec rm {} ;", "-exec rm {} +"))
def test_a_full_disk_under_the_output_ends_nothing_else(find, scratch, action):
    """GNU find does to the end what it was asked for; so must who prints what is removed."""
    for number in range(40):
        (scratch / "tree" / f"{number}").mkdir(parents=True)
        for file in range(25):
            (scratch / "tree" / f"{number}" / f"{file}{'x' * 200}").touch()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*find.first, "tree", "-type", "f", "-print", *action.split()],
            cwd=scratch,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"find: 'standard output': No space left on device\n"
    assert not [path for path in (scratch / "tree").rglob("*") if path.is_file()]


def test_a_file_is_filled_though_the_output_is_full(find, scratch):
    for number in range(3000):
        (scratch / "tree" / f"{number % 30}" / f"{number}{'x' * 100}").mkdir(parents=True)
    with open("/dev/full", "wb") as full:
        args = [*find.first, "tree", "-fprint", "list", "-print"]
        subprocess.run(args, cwd=scratch, stdout=full, stderr=subprocess.DEVNULL, check=False)
    assert len((scratch / "list").read_bytes().splitlines()) == 3031


@pytest.mark.parametrize("rest", ("", "-depth"))
@pytest.mark.parametrize("workers", ("1", "3"))
def test_sorted_and_unique(find, scratch, workers, rest):
    for path in ("b/y/z", "a/x", "c", "b.d/w"):
        (scratch / "tree" / path).mkdir(parents=True)
    env = {"RINGWALK_WORKERS": workers}
    plain = find("tree", "-s", *rest.split(), cwd=scratch, env=env).ok()
    unique = find("tree", "-s", "-unique", *rest.split(), cwd=scratch, env=env).ok()
    assert unique.lines() == plain.lines() and len(plain.lines()) == 9


def test_sorted_with_commands(find, scratch):
    """Commands run for each file in the order in which -s alone prints them."""
    for path in ("b/y", "a/x", "c"):
        (scratch / "tree" / path).mkdir(parents=True)
    result = find("tree", "-s", "-exec", "echo", "{}", ";", cwd=scratch).ok()
    expected = ["tree", "tree/a", "tree/a/x", "tree/b", "tree/b/y", "tree/c"]
    assert [line.decode() for line in result.lines()] == expected


@pytest.mark.parametrize("other", ("./list", "link", "hard"))
def test_one_file_by_two_names_gets_all_lines(find, gnu_find, scratch, other):
    (scratch / "tree" / "dir").mkdir(parents=True)
    (scratch / "list").touch()
    (scratch / "link").symlink_to("list")
    (scratch / "hard").hardlink_to(scratch / "list")
    contents = []
    for program in (gnu_find, find):
        args = ("tree", "-fprint", "list", "-fprintf", other, "%f longer\\n")
        program(*args, cwd=scratch).ok()
        contents.append((scratch / "list").read_bytes())
    assert contents[0] == contents[1] == b"tree\ntree longer\ntree/dir\ndir longer\n"


@pytest.mark.parametrize("limit", (5, 6, 8))
def test_execdir_with_few_descriptors(find, scratch, limit):
    """Where none is left to keep a directory for more of its files, each gets a command at once."""
    for number in range(6):
        (scratch / "t" / f"d{number}" / "e").mkdir(parents=True)
        (scratch / "t" / f"d{number}" / f"a{number}").touch()
        (scratch / "t" / f"d{number}" / "e" / f"b{number}").touch()
    script = 'for f; do test -e "$f" && echo here || echo elsewhere; done'
    command = ("-type", "f", "-execdir", "sh", "-c", script, "sh", "{}", "+")
    result = find(scratch / "t", *command, nofile=limit).ok()
    assert result.lines() == [b"here"] * 12
