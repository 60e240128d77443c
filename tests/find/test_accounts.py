"""Lookups of users and groups that fail: an error, and never an unknown name."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from support import ROOT
from support.capi import compile_c
from support.find import messages
from support.run import Program

SOURCE = ROOT / "tests/support/failing_accounts.c"


@pytest.fixture
def failing(find: Program, tmp_path: Path) -> Program:
    """The program, whose lookups of accounts fail with EIO."""
    library = tmp_path / "failing_accounts.so"
    compile_c(SOURCE, "-shared", "-fPIC", "-o", library)
    env = {"LD_PRELOAD": str(library), "FAILING_ACCOUNTS": str(errno.EIO)}
    return Program(*find.first, env=env)


@pytest.fixture
def tree(scratch: Path) -> Path:
    top = scratch / "owned"
    top.mkdir()
    (top / "file").write_bytes(b"")
    return top


@pytest.mark.parametrize("what", ("user", "group"))
@pytest.mark.parametrize("name", ("root", "nosuchname", "0"))
def test_names(failing: Program, tree: Path, what: str, name: str):
    result = failing(tree, f"-{what}", name)
    assert (result.status, result.out) == (1, b"")
    assert messages(result) == [f"cannot look up the {what} '{name}': {os.strerror(errno.EIO)}"]


def test_names_that_a_snapshot_misses(failing: Program, ringwalk, tree: Path, scratch: Path):
    """Owners whose names could not be looked up are not taken for owners without a name."""
    snap = scratch / "snap"
    Program(*ringwalk.first, env=failing.env)("snapshot", tree, "-o", snap).ok()
    for words in (("-user", "root"), ("-group", "root"), ("-nouser",), ("-nogroup",)):
        result = ringwalk("find", "--from", snap, *words)
        assert (result.status, result.out) == (1, b""), result
        assert b"has no names of users and groups" in result.err


@pytest.mark.parametrize("what", ("user", "group"))
@pytest.mark.parametrize(
    "expression",
    ("-no{} -delete", "! -no{} -delete", "-no{} -o -delete", "-delete , -exclude -no{}"),
)
def test_nothing_is_done_by_a_guess(failing: Program, tree: Path, what: str, expression: str):
    result = failing(tree / "file", *expression.format(what).split())
    reason = os.strerror(errno.EIO)
    assert result.status == 1
    assert messages(result) == [f"cannot look up the {what} with number 0: {reason}"]
    assert (tree / "file").exists()


def test_numbers_stand_for_names(failing: Program, tree: Path):
    result = failing(tree, "-name", "file", "-printf", "%u %g\n")
    assert (result.status, result.out) == (1, b"0 0\n")
    assert len(messages(result)) == 2
