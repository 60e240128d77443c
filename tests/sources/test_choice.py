"""The choice of a source: by name, by `auto`, and its report by --explain and doctor."""

from __future__ import annotations

import json
import os

import pytest
from support import images, mounts, strace, trees
from support.answers import explained
from support.gnu import counted
from support.run import NOBODY, run

pytestmark = pytest.mark.usefixtures("needs_root")

KINDS = ("ext4", "xfs", "btrfs")
COMMANDS = (("du", "-s", "."), ("du", "-a", "."), ("count", "."), ("find", ".", "-size", "+1"))


@pytest.fixture(params=KINDS)
def disk(request, mount, scratch):
    """A file system of each type with some files, all written back."""
    image = mount(images.fresh, request.param, scratch)
    trees.RandomTree(image.point / "tree", seed=121, entries=300)
    image.point.chmod(0o755)
    image.freeze()
    return image


@pytest.mark.parametrize("command", COMMANDS)
def test_what_was_asked_for_is_used_and_named(ringwalk, disk, command):
    for source in ("syscall", disk.kind):
        row = explained(ringwalk, disk.point, "--source", source, *command)["source"]
        assert row.startswith(f"{source} (asked for"), row
    assert explained(ringwalk, disk.point, *command)["source"].split(" (")[1].startswith("auto")


def test_the_environment_asks_too(ringwalk, disk):
    command = ("--explain", "du", "-s", ".")
    for source in ("syscall", disk.kind):
        result = ringwalk(*command, cwd=disk.point, env={"RINGWALK_SOURCE": source}).sane()
        assert f"{source} (asked for".encode() in result.err


@pytest.mark.parametrize("command", COMMANDS)
def test_auto_says_why(ringwalk, disk, command):
    row = explained(ringwalk, disk.point, *command)["source"]
    source, reason = row.rstrip(")").split(" (auto: ")
    assert source in ("syscall", disk.kind) and len(reason) > 10, row


def test_json_names_it(ringwalk, disk):
    for source in ("syscall", disk.kind):
        report = json.loads(
            ringwalk("--source", source, "count", "--format=json", disk.point).ok().out
        )
        assert report["source"] == source


@pytest.mark.parametrize("name", ("ext5", "", "EXT4", "ext4 ", "ext4,xfs", "rings"))
def test_other_names(ringwalk, scratch, name):
    result = ringwalk("--source", name, "count", scratch)
    assert result.status == 2 and result.out == b""
    for known in ("auto", "syscall", *KINDS):
        assert known.encode() in result.err


@pytest.mark.parametrize("name", ("sometimes", "", "ALWAYS"))
def test_other_words_for_reading_ahead(ringwalk, scratch, name):
    result = ringwalk("--prefetch", name, "count", scratch)
    assert result.status == 2 and b"always" in result.err


def test_doctor_lists_them_with_remedies(ringwalk, disk):
    """For root the source of this file system has no obstacles; other sources have some."""
    report = json.loads(ringwalk("doctor", "--format=json", disk.point).ok().out)
    sources = {source["name"]: source for source in report["sources"]}
    assert sources[disk.kind]["usable"] is True and sources[disk.kind]["obstacles"] == []
    for kind in set(KINDS) - {disk.kind}:
        assert sources[kind]["usable"] is False
        assert sources[kind]["obstacles"][0]["remedy"]
    as_nobody = json.loads(ringwalk("doctor", "--format=json", disk.point, uid=NOBODY).ok().out)
    sources = {source["name"]: source for source in as_nobody["sources"]}
    assert sources["syscall"]["usable"] is True and sources["syscall"]["chosen_by_auto"] is True
    assert sources[disk.kind]["usable"] is False and sources[disk.kind]["obstacles"]


@pytest.mark.parametrize("what", ("find", "du", "sum"))
def test_it_asks_few_questions(ringwalk, programs, base, mount, scratch, what):
    """All data is on the disk, so the source needs no system calls for names or metadata.

    But for names of which du prints lines, as their order is to stay.
    """
    image = mount(images.fresh, "ext4", scratch)
    trees.RandomTree(image.point / "tree", seed=122, entries=500)
    image.freeze()
    entries = len(ringwalk("find", image.point, "-print0").ok().lines(b"\0"))
    command = {
        "find": ("find", image.point, "-size", "+1"),
        "du": ("du", "-a", image.point),
        "sum": ("du", "-s", image.point),
    }[what]
    prefix = strace.injecting(base, "statx,getdents64", "delay_enter=0")

    def calls(source: str) -> int:
        run([*prefix, programs / "ringwalk", "--source", source, *command]).ok()
        log = (base / "strace.log").read_text()
        names = 0 if what == "du" else log.count("getdents64(")
        return log.count("statx(") + names

    assert calls("syscall") > entries
    assert calls("ext4") < 30


def test_reading_ahead_is_told(ringwalk, mount, scratch):
    image = mount(images.fresh, "ext4", scratch)
    trees.RandomTree(image.point / "tree", seed=123, entries=300)
    command = ("--source", "syscall", "--prefetch")
    for when, reported in (("always", True), ("never", False)):
        image.remount()
        rows = explained(ringwalk, image.point, *command, when, "du", "-a", ".")
        assert ("prefetched" in rows) == reported, rows
    image.remount()
    rows = explained(ringwalk, image.point, *command, "always", "find", ".", "-size", "+1")
    assert int(rows["prefetched"].split()[0]) > 0


def test_a_walk_of_several_file_systems(ringwalk, mount, scratch):
    """`auto` decides for each root; a source by name must work for all roots."""
    image = mount(images.fresh, "ext4", scratch / "disk")
    (image.point / "file").write_bytes(b"x" * 100)
    image.freeze()
    other = mount(mounts.tmpfs, scratch)
    (other / "file").write_bytes(b"x" * 100)
    expected = ringwalk("--source", "syscall", "find", image.point, other).ok()
    got = ringwalk("--source", "auto", "find", image.point, other).ok()
    assert sorted(got.lines()) == sorted(expected.lines())
    assert ringwalk("--source", "ext4", "find", image.point, other).status != 0


def test_small_walks_are_synced_too(programs, base, scratch):
    """--sync applies with system calls, too; each file system is written back once."""
    (scratch / "file").write_bytes(b"x")
    for options, calls in ((("--sync",), 1), ((), 0)):
        prefix = strace.injecting(base, "syncfs", "retval=0")
        command = (programs / "ringwalk", "--source", "syscall", *options, "count", ".", ".")
        assert counted(run([*prefix, *command], cwd=scratch).ok()) == (2, 2)
        log = (base / "strace.log").read_text()
        assert log.count("syncfs(") == calls, log


def test_lines_of_du_come_in_one_order(ringwalk, mount, scratch):
    """The ext4 source lists directories in another order; lines and charged links are the same."""
    image = mount(images.fresh, "ext4", scratch)
    for number in range(60):
        (image.point / f"dir{number}").mkdir()
        (image.point / f"dir{number}" / "file").write_bytes(b"x" * 5000)
        os.link(image.point / "dir0" / "file", image.point / f"dir{number}" / "link")
    image.freeze()
    for options in (("-a",), (), ("-d1", "--inodes")):
        asked = [
            ringwalk("--source", source, "du", *options, ".", cwd=image.point).ok().out
            for source in ("syscall", "ext4")
        ]
        assert asked[0] == asked[1], options
    listed = ringwalk("--source", "ext4", "find", ".", cwd=image.point).ok().lines()
    assert listed != ringwalk("find", ".", cwd=image.point).ok().lines(), "the orders differ"
