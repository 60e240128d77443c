"""System calls that find does not make, counted by strace."""

from __future__ import annotations

import re
import subprocess

import pytest
from support.run import needs_program, run


@pytest.fixture
def traced(find, scratch):
    """Returns a function that runs find under strace: result, and calls below the tree by name."""
    needs_program("strace")
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("strace cannot trace here")
    top = scratch / "t"
    for folder in ("a", "a/b", "a/b/c", "d", "d/e"):
        (top / folder).mkdir(parents=True)
        for name in ("x1.c", "x2.h", "y.c", "large"):
            (top / folder / name).write_bytes(b"x" * (5000 if name == "large" else 10))
        (top / folder / "link").symlink_to("y.c")
    log = scratch / "log"
    calls = "statx,newfstatat,stat,lstat,fstat,openat,openat2,open,getdents64,faccessat,faccessat2"
    calls += ",readlink,readlinkat,access"
    prefix = ["strace", "-f", "-s", "300", "-o", log, "-e", f"trace={calls}"]

    def go(*args):
        result = run([*prefix, *find.first, *args], cwd=scratch)
        found = {"stat": [], "open": [], "access": [], "readlink": []}
        for line in log.read_text(errors="surrogateescape").splitlines():
            match = re.match(r"\d+ +(\w+)\((?:AT_FDCWD|\d+), \"([^\"]*)\"(.*)", line)
            if not match or match[2].startswith("/"):
                continue
            call, name, rest = match.groups()
            kind = next((kind for kind in found if kind in call), None)
            # A call about a directory's own descriptor reads no file's metadata.
            if kind and not (kind == "stat" and name == "" and "AT_EMPTY_PATH" in rest):
                found[kind].append(name)
        return result, found

    return go


ALL = 31


@pytest.mark.parametrize(
    ("expression", "most"),
    (
        ("-true", 1),
        ("-name *.c", 1),
        ("-iname *.C", 1),
        ("-path */b/*", 1),
        ("-regex .*/x[0-9].*", 1),
        ("-type f", 1),
        ("-type d", 1),
        ("-type f,l -name x*", 1),
        ("-printf %p|%f|%h|%d|%y\\n", 1),
        ("-name x* -o -name y*", 1),
        ("-maxdepth 1", 1),
        ("-type d -prune", 1),
        ("-depth", 1),
        ("-true -print0", 1),
        ("-hidden", 1),
        # Only files with a matching name or type need metadata.
        ("-name x1.c -size +1k", 1 + 5),
        ("-size +1k -name x1.c", 1 + 5),
        ("-name large -size +1k -print", 1 + 5),
        ("-type d -size +1k", 1 + 5),
        ("-type l -newermt 2020-01-01", 1 + 5),
        ("-name nothing -perm 644 -links 1", 1),
        ("-name large -printf %s\\n", 1 + 5),
        ("-false -size 1", 1),
        ("-true -o -size 1", 1),
        ("! -name *.c -o -size 1 -true", 1 + 10),
        ("-size 1", ALL),
    ),
)
def test_metadata_is_asked_for_when_it_is_needed(traced, gnu_find, scratch, expression, most):
    result, calls = traced("t", *expression.split())
    expected = gnu_find("t", *expression.split(), cwd=scratch)
    assert sorted(result.lines()) == sorted(expected.lines())
    assert len(calls["stat"]) <= most, (expression, calls["stat"])
    assert not calls["access"] and not calls["readlink"]
    if most == ALL:
        # A check of the counting: these expressions need metadata of every file.
        assert len(calls["stat"]) == ALL


@pytest.mark.parametrize(
    ("expression", "opened"),
    (
        ("-true", {"t", "a", "b", "c", "d", "e"}),
        ("-maxdepth 0", set()),
        ("-maxdepth 1", {"t"}),
        ("-maxdepth 2", {"t", "a", "d"}),
        ("-prune", set()),
        ("-name a -prune -o -print", {"t", "d", "e"}),
        ("-type d -name b -prune -o -name d -prune", {"t", "a"}),
        ("-path t/a -prune -o -print", {"t", "d", "e"}),
        ("-path t/d/*", {"t", "d", "e"}),
        ("-path t/a/b/x*", {"t", "a", "b", "c"}),
        ("-path t/d/e/x1.c -type f", {"t", "d", "e"}),
        ("-path nowhere/*", set()),
        ("-exclude -name a", {"t", "d", "e"}),
    ),
)
def test_directories_are_opened_when_they_are_needed(traced, expression, opened):
    _, calls = traced("t", *expression.split())
    names = {name.rstrip("/").rpartition("/")[2] for name in calls["open"]}
    assert names <= opened, expression
    assert expression.startswith("-path") or names == opened


def test_access_and_links_are_asked_of_those_that_pass(traced):
    _, calls = traced("t", "-name", "x1.c", "-readable")
    assert len(calls["access"]) == 5 and len(calls["stat"]) <= 1
    _, calls = traced("t", "-readable", "-name", "x1.c")
    assert len(calls["access"]) == 5
    _, calls = traced("t", "-lname", "y*")
    assert len(calls["readlink"]) == 5 and len(calls["stat"]) <= 1
    _, calls = traced("t", "-printf", "%l\\n")
    assert len(calls["readlink"]) == 5


def test_each_file_is_asked_once(traced):
    line = ("-size", "-10", "-newermt", "2000-01-01", "-printf", "%s %m\\n", "-ls")
    _, calls = traced("t", *line)
    assert len(calls["stat"]) == ALL


def test_with_links_followed_only_links_need_more(traced):
    _, calls = traced("-L", "t", "-type", "f")
    # Directories need their identity, against loops; links need their targets.
    assert len(calls["stat"]) <= 1 + 5 + 5 + 5
