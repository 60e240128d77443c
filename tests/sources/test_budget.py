"""Budgets of walks on each kind of file system: each entry once, whatever positions are there.

The tests are those of `crates/ringwalk/tests/budget.rs`, which make their trees in the folder
that `RINGWALK_TEST_FOLDER` names.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from slow_server import slow
from support import ROOT, mounts, nfs
from support.marks import long
from support.run import Program, needs_program

pytestmark = pytest.mark.usefixtures("needs_root")

BUILD = (
    *("cargo", "test", "--quiet", "--locked", "--workspace", "--test", "budget"),
    *("--no-run", "--message-format=json"),
)


@pytest.fixture(scope="module")
def budget() -> Path:
    """The program with the tests, which cargo builds if `make unit` has not."""
    needs_program("cargo")
    built = subprocess.run(BUILD, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    (program,) = (found for message in messages if (found := message.get("executable")))
    return Path(program)


def assert_passed(budget: Path, point: Path, *args: str) -> None:
    folder = point / "folder"
    folder.mkdir()
    tests = Program(budget, env={"RINGWALK_TEST_FOLDER": os.fspath(folder)})
    result = tests(*args)
    assert result.status == 0, (result.out + result.err).decode(errors="replace")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("kind", ("ext4", "overlay", *long("xfs", "btrfs", "tmpfs", "fuse")))
def test_each_entry_comes_once(budget, mount, scratch, kind):
    point = mount(mounts.filesystem, kind, scratch)
    # A disk of the tests is too small for the trees of several tests at once.
    one_by_one = ("--test-threads=1",) if kind in mounts.IMAGE_SIZES else ()
    assert_passed(budget, point, *one_by_one)


def test_directories_of_several_layers_are_read_to_their_end(budget, mount, scratch):
    """The position of an entry is the number of entries before it, which changes."""
    layers = [scratch / name for name in ("lower", "upper", "work", "merged")]
    for layer in layers:
        layer.mkdir()
    lower, upper, work, merged = layers
    for layer in (lower, upper):
        (layer / "large").mkdir()
    (lower / "large" / "below").touch()
    for number in range(1000):
        for name in ("stays", "goes"):
            (upper / "large" / f"{name}-{number}").touch()
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    point = mount(mounts.mounted, merged, "-t", "overlay", "-o", options, "none")
    tests = Program(budget, env={"RINGWALK_TEST_LAYERS": os.fspath(point)})
    tests("entries_that_stay_in_a_directory_of_two_layers", "--nocapture").ok()


def test_each_entry_comes_once_by_nfs(budget, mount, scratch):
    assert_passed(budget, mount(nfs.mounted, scratch))


def test_entries_that_wait_are_left_over_by_their_names(budget, mount, scratch):
    server = mount(slow, scratch, 3, 500, 2000)
    tests = Program(budget, env={"RINGWALK_TEST_SLOW": os.fspath(server.point)})
    tests("entries_whose_metadata_waits", "--nocapture").ok()
    assert server.counts()["lookups"] > 3 * 500
