"""Changes that the time stamps of a file hardly show: steps of a second, attributes in a cache."""

from __future__ import annotations

import contextlib
import json
import os
import time

import pytest
from support import images, mounts
from support.halted import halted


def fill(top):
    """Writes two equal files that take several reads, and an equal pair that stays."""
    top.mkdir()
    for name in ("changing", "other"):
        (top / name).write_bytes(b"x" * 600_000)
    for name in ("still", "quiet"):
        (top / name).write_bytes(b"the same")
    return top


def at_a_new_step(path):
    """Changes a file until the clock of its file system has made a step."""
    before = os.stat(path).st_ctime_ns
    while os.stat(path).st_ctime_ns == before:
        time.sleep(0.005)
        os.utime(path)


def overwrite(path):
    with open(path, "r+b") as file:
        file.write(b"y")


def test_a_change_in_the_same_second(ringwalk, hashing, dupes, mount, scratch):
    """ext4 with inodes of 128 bytes has stamps of whole seconds."""
    point = mount(images.fresh, "ext4", scratch / "work", "-t ext4 -b 4096 -I 128").point
    top, snapshot = fill(point / "top"), scratch / "snapshot"
    programs = [
        [*hashing.first, "--workers", "1", top],
        [*hashing.first, "--workers", "1", top, "--save", snapshot],
        [*dupes.first, "--format=json", "--workers", "1", top],
    ]
    at_a_new_step(top / "changing")
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(halted(words, "pread64", 2, top / "changing")) for words in programs
        ]
        # The same second as before, unless the programs have waited for its end.
        overwrite(top / "changing")
        results = [program.finish() for program in running]
    expected = f"ringwalk: '{top}/changing': changed while it was read\n"
    for words, result in zip(programs, results, strict=True):
        assert result.status == 1, words
        assert result.err.decode() == expected
    listed, _, found = results
    names = [os.path.basename(line) for line in listed.lines()]
    assert names == [b"other", b"quiet", b"still"]
    rows = ringwalk("export", snapshot, "--format", "ndjson").ok().lines()
    with_hash = {row["path"] for row in map(json.loads, rows) if row.get("hash")}
    assert with_hash == {"other", "quiet", "still"}
    (group,) = json.loads(found.out)["groups"]
    assert group["size"] == len(b"the same")


@pytest.mark.parametrize("command", ("hash", "dupes"))
def test_a_change_behind_cached_attributes(ringwalk, mount, scratch, command):
    """The server is asked, not the cache of the kernel."""
    top = fill(mount(mounts.fuse, scratch, "attr_timeout=3600") / "top")
    words = [*ringwalk.first, command, "--workers", "1", top]
    with halted(words, "pread64", 2, top / "changing") as program:
        overwrite(scratch / "fuse-source" / "top" / "changing")
        result = program.finish()
    assert result.status == 1
    expected = f"ringwalk: '{top}/changing': changed while it was read\n"
    assert result.err.decode() == expected


@pytest.mark.parametrize("command", ("hash", "dupes"))
def test_a_change_of_a_young_file(ringwalk, mount, scratch, command):
    """A server may have another clock. So the program waits after the first look at its files."""
    top = fill(mount(mounts.fuse, scratch) / "top")
    words = [*ringwalk.first, command, "--workers", "1", top]
    with halted(words, "clock_nanosleep") as program:
        overwrite(top / "changing")
        result = program.finish()
    assert result.status == 1
    expected = f"ringwalk: '{top}/changing': changed while it was read\n"
    assert result.err.decode() == expected
