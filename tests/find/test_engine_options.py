"""Options of the engine before the word find, and the names of the program."""

from __future__ import annotations

import os

import pytest
from support.find import difference
from support.run import run


@pytest.mark.smoke
def test_options_of_the_engine(ringwalk, find, text_tree):
    expected = sorted(find(text_tree).ok().lines())
    for options in (
        ("--workers", 3),
        ("--workers=1",),
        ("--source", "syscall"),
        ("--source=auto", "--workers", 2),
        ("--prefetch", "never", "--sync"),
    ):
        got = ringwalk(*options, "find", text_tree).ok()
        assert sorted(got.lines()) == expected
    explained = ringwalk("--explain", "--workers", 3, "find", text_tree, "-name", "*.c")
    assert explained.status == 0 and b"-name" in explained.err and b"syscall" in explained.err
    for env in ({"RINGWALK_WORKERS": "3"}, {"RINGWALK_SOURCE": "syscall"}, {"RINGWALK_SYNC": "1"}):
        assert sorted(find(text_tree, env=env).ok().lines()) == expected
    # An option before the word overrides the variable.
    env = {"RINGWALK_WORKERS": "nonsense", "RINGWALK_SOURCE": "nonsense"}
    got = ringwalk("--workers", 2, "--source", "syscall", "find", text_tree, env=env).ok()
    assert sorted(got.lines()) == expected


def test_options_of_the_engine_are_none_of_find(find, ringwalk_find, scratch):
    for program in (find, ringwalk_find):
        for option in ("--workers", "--source", "--prefetch", "--sync", "--explain", "--progress"):
            result = program(".", option, "1", cwd=scratch)
            assert result.status == 1 and b"unknown predicate" in result.err
    for words in (["--workers", "0"], ["--workers", "x"], ["--source", "nonsense"]):
        result = run([ringwalk_find.first[0], *words, "find", "."], cwd=scratch)
        assert result.status == 1 and result.out == b"" and result.err


def test_progress_leaves_the_output_alone(ringwalk, find, text_tree):
    got = ringwalk("--progress", "always", "find", text_tree)
    assert got.status == 0
    assert not difference(find(text_tree).lines(), got.lines())


def test_any_other_name_of_the_link(programs, scratch):
    """Only a link named find runs `ringwalk find`."""
    (scratch / "f").touch()
    os.symlink(programs / "ringwalk", scratch / "find")
    assert sorted(run([scratch / "find", "."], cwd=scratch).ok().lines())[0] == b"."
    os.symlink(programs / "ringwalk", scratch / "finder")
    assert run([scratch / "finder", "."], cwd=scratch).status == 2
