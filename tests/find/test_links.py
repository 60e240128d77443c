"""Symbolic links: links in circles, broken links and file system loops.

The expectations without GNU find are those of findutils 4.11 and POSIX.1-2024, as the installed
GNU find may be older.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.find import LOCALES, assert_same, basenames, messages
from support.run import NOBODY


@pytest.fixture
def links(scratch: Path) -> Path:
    """Links to a file, to nothing, through a file, in circles, and to a directory."""
    top = scratch / "links"
    (top / "dir").mkdir(parents=True)
    (top / "file").write_bytes(b"12345")
    for name, target in (
        ("to-file", "file"),
        ("to-dir", "dir"),
        ("broken", "nowhere"),
        ("through", "to-file/below"),
        ("loop", "loop"),
        ("into-loop", "loop/below"),
    ):
        (top / name).symlink_to(target)
    for name in ("broken", "through", "loop", "into-loop"):
        os.utime(top / name, (1, 1), follow_symlinks=False)
    return top


@pytest.mark.smoke
@pytest.mark.parametrize("follow", ("-P", "-H"))
def test_links_in_circles_are_links(find, links, follow):
    for kind, expected in (
        ("l", ["broken", "into-loop", "loop", "through"]),
        ("f", ["file", "to-file"]),
        ("d", ["dir", "links", "to-dir"]),
    ):
        assert basenames(find(follow, links, "-xtype", kind).ok()) == expected


LOOPS = [f"'./{name}': Too many levels of symbolic links" for name in ("into-loop", "loop")]


@pytest.mark.parametrize(
    ("expression", "expected"),
    (
        ("-type l", ["broken", "through"]),
        ("-xtype l", ["broken", "through", "to-dir", "to-file"]),
        ("-lname *", ["broken", "through"]),
        ("-type f", ["file", "to-file"]),
        ("-samefile through", ["through"]),
        ("-samefile file", ["file", "to-file"]),
        ("-size -13c -type l", ["broken"]),
        ("-newer through -type l", []),
        ("! -newer through -type l", ["broken", "through"]),
        ("-name through -printf %p%y%Y%l%s\\n", ["throughlNto-file", "below13"]),
        ("-maxdepth 1 -type l", ["broken", "through"]),
        ("-depth -type l", ["broken", "through"]),
    ),
)
@pytest.mark.parametrize("follow", ("-L", "-follow"))
def test_a_link_through_a_file_is_a_broken_link(find, links, expression, expected, follow):
    line = ["-L", "."] if follow == "-L" else [".", "-follow"]
    for order in ([], ["-s"]):
        result = find(*line, *order, *expression.split(), cwd=links)
        if "printf" in expression:
            assert result.out == b"./throughlNto-file/below13\n"
        else:
            assert basenames(result) == expected
        assert (result.status, messages(result)) == (1, LOOPS)


@pytest.mark.parametrize("follow", ("-H", "-L"))
def test_such_a_link_as_starting_point(find, links, follow):
    for name in ("broken", "through"):
        result = find(follow, name, "-printf", "%p %y %Y\\n", cwd=links).ok()
        assert result.out == f"{name} l N\n".encode()
        assert find(follow, name, "-samefile", name, cwd=links).ok().lines() == [name.encode()]
        assert find(follow, "file", "-newer", name, cwd=links).ok().lines() == [b"file"]
        assert find(follow, name, "-delete", cwd=links).ok().out == b""
        assert not (links / name).is_symlink()
    result = find(follow, "file/below", cwd=links)
    assert (result.status, messages(result)) == (1, ["'file/below': Not a directory"])


def test_such_links_are_deleted(find, links):
    result = find("-L", ".", "-type", "l", "-delete", "-print", cwd=links)
    assert basenames(result) == ["broken", "through"]
    assert messages(result) == LOOPS
    assert not (links / "through").is_symlink() and (links / "to-file").is_symlink()


def test_types_of_targets(find, links, needs_root):
    """%Y is `?` for a target that may not be read, with a message and status 1."""
    (links / "shut").mkdir()
    (links / "shut" / "file").touch()
    (links / "denied").symlink_to("shut/file")
    (links / "shut").chmod(0)
    links.chmod(0o755)
    args = (".", "-maxdepth", 1, "-type", "l", "-printf", "%f %Y\\n")
    result = find(*args, cwd=links, uid=NOBODY)
    expected = "broken N,denied ?,into-loop L,loop L,through N,to-dir d,to-file f"
    assert b",".join(sorted(result.lines())).decode() == expected
    assert (result.status, messages(result)) == (1, ["'./denied': Permission denied"])
    # Colours need no message about the target.
    env = {"LS_COLORS": "or=31:ln=36"}
    result = find("denied", "-color", cwd=links, uid=NOBODY, env=env).ok()
    assert result.out == b"\x1b[31mdenied\x1b[0m\n"


def test_a_loop_is_no_race(find, scratch):
    (scratch / "dir").mkdir()
    (scratch / "dir" / "up").symlink_to("..")
    (scratch / "dir" / "self").symlink_to("self")
    result = find("-L", "dir", "-ignore_readdir_race", cwd=scratch)
    assert result.status == 1 and len(messages(result)) == 2


def test_loops(find, gnu_find, scratch):
    """Links to directories above are reported once each, and not entered."""
    (scratch / "a" / "b" / "c").mkdir(parents=True)
    (scratch / "a" / "b" / "c" / "top").symlink_to(scratch / "a")
    (scratch / "a" / "b" / "up").symlink_to("..")
    (scratch / "a" / "b" / "self").symlink_to("self")
    (scratch / "a" / "here").symlink_to(".")
    (scratch / "a" / "b" / "c" / "file").touch()
    (scratch / "to-a").symlink_to("a")
    for locale in LOCALES:
        for tops in (["a"], ["."], ["to-a"], ["a/b"], ["a/here"], [scratch / "a"]):
            for follow in ("-L", "-H", "-P"):
                for expression in ([], ["-type", "d"], ["-type", "l"], ["-depth"], ["-name", "u*"]):
                    env = {"LC_ALL": locale}
                    args = (follow, *tops, *expression)
                    result = assert_same(find, gnu_find, *args, cwd=scratch, env=env)
    result = find("-L", "a", cwd=scratch)
    assert result.status == 1 and b"File system loop detected" in result.err


@pytest.mark.parametrize("depth", (1, 2, 3))
@pytest.mark.parametrize("rest", ("-print", "-depth -print", "-type d"))
def test_loops_are_told_at_the_last_level_too(find, gnu_find, scratch, depth, rest):
    (scratch / "top" / "dir").mkdir(parents=True)
    (scratch / "top" / "dir" / "up").symlink_to("..")
    assert_same(find, gnu_find, "-L", "top", "-maxdepth", depth, *rest.split(), cwd=scratch)
