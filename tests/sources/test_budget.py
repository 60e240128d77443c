"""Budgets of walks on each kind of file system: each entry once, whatever positions are there.

The tests are those of `crates/ringwalk/tests/budget.rs`, which make their trees in a folder that
they are told.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support import ROOT, mounts
from support.run import Program

pytestmark = pytest.mark.usefixtures("needs_root")

BUILD = (
    *("cargo", "test", "--quiet", "--locked", "--package", "ringwalk", "--test", "budget"),
    *("--no-run", "--message-format=json"),
)


@pytest.fixture(scope="module")
def budget() -> Path:
    """The program with the tests, which cargo builds if `make e2e` has not."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    built = subprocess.run(BUILD, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    (program,) = (found for message in messages if (found := message.get("executable")))
    return Path(program)


@pytest.mark.parametrize("kind", mounts.KINDS)
def test_each_entry_comes_once(budget, mount, scratch, kind):
    folder = mount(mounts.filesystem, kind, scratch) / "folder"
    folder.mkdir()
    # A disk of the tests is too small for the trees of several tests at once.
    one_by_one = ("--test-threads=1",) if kind in mounts.IMAGE_SIZES else ()
    tests = Program(budget, env={"RINGWALK_TEST_FOLDER": os.fspath(folder)})
    result = tests(*one_by_one)
    assert result.status == 0, (result.out + result.err).decode(errors="replace")
    assert list(folder.iterdir()) == []
