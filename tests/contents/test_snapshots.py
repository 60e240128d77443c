"""Snapshots with hashes: `ringwalk hash --save`, and snapshots as roots of `ringwalk dupes`."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from support import images, strace, tables
from support.copies import first_names, found, path_of
from support.halted import halted
from support.run import needs_program, run


@pytest.fixture
def top(scratch):
    """Two equal files, two of equal size only, one alone, an empty one, and a hard link."""
    top = scratch / "top"
    (top / "deep").mkdir(parents=True)
    (top / "one").write_bytes(b"x" * 5000)
    (top / "deep" / "two").write_bytes(b"x" * 5000)
    (top / "three").write_bytes(b"3" * 700)
    (top / "four").write_bytes(b"4" * 700)
    (top / "alone").write_bytes(b"alone")
    (top / "empty").touch()
    os.link(top / "one", top / "linked")
    (top / "to one").symlink_to("one")
    return top


def hashes(ringwalk, file):
    """Returns the hash of each file that has one, by its path below the root."""
    result = {}
    for line in ringwalk("export", file, "--format", "ndjson").ok().out.splitlines():
        row = json.loads(line)
        if row.get("hash"):
            result[row["path"]] = row["hash"]
    return result


def sums(top):
    """Returns what `b3sum` says of all files."""
    needs_program("b3sum")
    files = run(["find", ".", "-type", "f", "-print0"], cwd=top).ok().lines(b"\0")
    lines = run(["b3sum", *files], cwd=top).ok().lines()
    pairs = (line.decode().split("  ") for line in lines)
    return {name.removeprefix("./"): digest for digest, name in pairs}


def test_files_of_one_size_are_hashed(ringwalk, hashing, top, scratch):
    snapshot = scratch / "snapshot"
    assert hashing(top, "--save", snapshot).ok().out == b""
    of_all = sums(top)
    names = {"one", "linked", "deep/two", "three", "four"}
    assert hashes(ringwalk, snapshot) == {name: of_all[name] for name in names}
    hashing("--all", top, "--save", snapshot).ok()
    del of_all["empty"]
    assert hashes(ringwalk, snapshot) == of_all


def test_snapshot_takes_hashes_too(ringwalk, hashing, top, scratch):
    """`snapshot --hash` is `hash --save`, with the other options of `snapshot`."""
    ours, other = scratch / "ours", scratch / "other"
    ringwalk("snapshot", "--hash", "--xattrs", top, "-o", ours).ok()
    hashing(top, "--save", other).ok()
    assert hashes(ringwalk, ours) == hashes(ringwalk, other) != {}
    result = ringwalk("snapshot", "--hash", "--since", ours, top, "-o", other)
    assert result.status == 2 and b"--since" in result.err
    for words in ("snapshot", "-o", "-", top), ("hash", "--save", "-", top):
        result = ringwalk(*words, cwd=scratch)
        assert result.status == 2 and b"a snapshot must be a file" in result.err
    assert {path.name for path in scratch.iterdir()} == {"top", "ours", "other"}


def test_the_rest_is_a_snapshot_as_any_other(ringwalk, hashing, top, scratch):
    hashing(top, "--save", scratch / "hashed").ok()
    ringwalk("snapshot", top, "-o", scratch / "plain").ok()
    for words in (["find", "-ls"], ["du", "-a"]):
        command, *options = words
        ours = ringwalk(command, "--from", scratch / "hashed", *options).ok().out
        assert ours == ringwalk(command, "--from", scratch / "plain", *options).ok().out


def test_the_hash_column_is_bytes(hashing, top, scratch):
    hashing(top, "--save", scratch / "snapshot").ok()
    query = "select count(*) as n, min(octet_length(hash)) as least from $1 where hash is not null"
    query = query.replace("$1", "read_parquet($1)")
    assert tables.duckdb(query, scratch / "snapshot") == [{"n": 5, "least": 32}]


def test_a_snapshot_as_a_root(dupes, hashing, top, scratch):
    """For disks that are not there."""
    snapshot = scratch / "snapshot"
    hashing("--all", top, "--save", snapshot).ok()
    shutil.copytree(top, scratch / "copy", symlinks=True)
    shutil.rmtree(top)
    result = dupes("--format=json", snapshot, scratch / "copy").ok()
    groups = json.loads(result.out)["groups"]
    assert sorted(group["size"] for group in groups) == [5, 700, 700, 5000]
    for group in groups:
        saved = [file["snapshot"] for file in group["files"]]
        assert saved.count(0) >= 1 and saved.count(None) >= 1
        # Rows of a snapshot free nothing.
        live = [file for file in group["files"] if file["snapshot"] is None]
        assert group["freeable"] <= group["size"] * len(live)
        for file in live:
            assert path_of(file).startswith(os.fsencode(scratch / "copy"))
    # Nothing but snapshots.
    result = dupes("--format=json", snapshot).ok()
    (group,) = found(result)
    assert {os.path.basename(min(names)) for names in group} <= {b"one", b"linked", b"two"}


def test_snapshots_without_hashes(dupes, ringwalk, top, scratch):
    ringwalk("snapshot", top, "-o", scratch / "plain").ok()
    result = dupes(top, scratch / "plain")
    assert result.status == 2 and not result.out
    assert b"plain" in result.err and b"ringwalk snapshot --hash" in result.err


def test_rows_without_a_hash(dupes, hashing, top, scratch):
    """A file of the size of another one that was not hashed may be a copy or not."""
    snapshot = scratch / "snapshot"
    hashing(top, "--save", snapshot).ok()
    (scratch / "new").mkdir()
    (scratch / "new" / "alone").write_bytes(b"alone")
    result = dupes("--format=json", snapshot, scratch / "new")
    assert result.status == 1
    assert json.loads(result.out)["summary"]["without_hash"] == 1
    assert b"1 file" in result.err and b"no hash" in result.err


def test_a_file_and_its_own_row_are_one_copy(dupes, hashing, mount, scratch):
    point = mount(images.fresh, "ext4", scratch / "work").point
    for name in ("one", "two"):
        (point / name).write_bytes(name.encode() * 1000)
    (point / "copy").write_bytes(b"one" * 1000)
    snapshot = scratch / "snapshot"
    hashing("--all", point, "--save", snapshot).ok()
    result = dupes("--format=json", point, snapshot).ok()
    expected = frozenset(os.fsencode(point / name) for name in ("one", "copy"))
    assert first_names(found(result)) == {expected}


def test_a_file_that_changes_has_no_hash(ringwalk, hashing, top, scratch):
    snapshot = scratch / "snapshot"
    words = [*hashing.first, "--workers", "1", top, "--save", snapshot]
    with halted(words, "pread64", 1, top / "one") as program:
        with open(top / "one", "r+b") as file:
            file.write(b"y")
        result = program.finish()
    assert result.status == 1
    assert b"changed while it was read" in result.err
    names = {os.path.basename(path) for path in hashes(ringwalk, snapshot)}
    assert names == {"two", "three", "four"}


def test_an_unreadable_file(ringwalk, hashing, top, scratch, needs_root):
    (top / "one").chmod(0)
    (scratch / "out").mkdir()
    (scratch / "out").chmod(0o777)
    result = hashing(top, "--save", scratch / "out" / "snapshot", uid=65534)
    assert result.status == 1 and b"Permission denied" in result.err
    names = {os.path.basename(path) for path in hashes(ringwalk, scratch / "out" / "snapshot")}
    assert names == {"two", "three", "four"}


def test_a_comparison_by_hashes(ringwalk, hashing, top, scratch):
    """`diff` sees an edit that kept size and time."""
    hashing("--all", top, "--save", scratch / "old").ok()
    times = os.stat(top / "one")
    with open(top / "one", "r+b") as file:
        file.write(b"?")
    os.utime(top / "one", ns=(times.st_atime_ns, times.st_mtime_ns))
    hashing("--all", top, "--save", scratch / "new").ok()
    result = ringwalk("diff", scratch / "old", scratch / "new")
    assert result.status == 1 and b"one" in result.out


def test_an_output_that_cannot_be_written(hashing, top, scratch):
    result = hashing(top, "--save", scratch / "missing" / "snapshot")
    assert result.status == 2 and b"missing/snapshot" in result.err


@pytest.mark.parametrize("when", ("1", "1+1"))
def test_an_error_of_either_walk_is_reported_once(hashing, scratch, when):
    """The files are found by one walk, and a second one takes the snapshot."""
    (scratch / "top" / "inner").mkdir(parents=True)
    (scratch / "top" / "inner" / "file").write_text("x")
    (scratch / "link").symlink_to("top")
    broken = scratch / "top" / "inner"
    effect = f"error=EIO:when={when}"
    words = strace.injecting(scratch, "getdents64", effect, broken)
    output = scratch / "hashes.parquet"
    result = run([*words, *hashing.first, "--all", "--save", output, scratch / "link"])
    assert result.status == 1
    (line,) = result.err.splitlines()
    assert b"cannot read directory " in line and line.endswith(b"Input/output error"), line
