"""Project ids in snapshots: those of the file system, and never 0 where nothing is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import images

PROJECTS = ("tune2fs -O project,quota", "debugfs -w -R 'sif a projid 70'")
PROJECTS += ("debugfs -w -R 'sif d/b projid 4294967294'",)


def fill(top: Path) -> None:
    (top / "d").mkdir()
    for name in ("a", "plain", "d/b"):
        (top / name).write_bytes(b"x" * 5000)
    (top / "link").symlink_to("a")


@pytest.fixture
def top(mount, scratch) -> Path:
    """An ext4 with projects, read-only: not every kernel mounts it to be written."""
    form = images.Format("-t ext4 -b 4096", then=PROJECTS, fill=fill)
    return mount(images.filled, "ext4", form, scratch / "image").point


def ids(ringwalk, file: Path) -> dict[str, int | None]:
    lines = ringwalk("export", "--format", "ndjson", file).ok().out.splitlines()
    return {row["path"]: row["projid"] for row in map(json.loads, lines)}


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("source", ("syscall", "ext4"))
def test_ids_are_saved_and_added_up(ringwalk, top, scratch, source):
    file = scratch / "s.parquet"
    ringwalk("snapshot", "--source", source, "--projid", top, "-o", file).ok()
    found = ids(ringwalk, file)
    assert (found["a"], found["d/b"], found["plain"], found[""]) == (70, 4294967294, 0, 0)
    # An older kernel does not say, and ext4 has none in the inode of a link.
    assert found["link"] in (None, 0)

    for taken in (file, top):
        answer = ringwalk("report", taken, "--by", "project", "--format", "json").ok()
        entries = {row["projid"]: row["entries"] for row in json.loads(answer.out)["rows"]}
        assert (entries[70], entries[4294967294]) == (1, 1)
        assert sum(entries.values()) == len(found)
    text = ringwalk("report", file, "--by", "project").ok().out
    assert b"4294967294" in text

    plain = scratch / "plain.parquet"
    ringwalk("snapshot", "--source", source, top, "-o", plain).ok()
    refused = ringwalk("report", plain, "--by", "project")
    assert refused.status == 2 and refused.out == b""
    assert b"has no project ids" in refused.err and b"--projid" in refused.err
    # What only one of two snapshots has is not compared.
    assert ringwalk("diff", plain, file).ok().out == b""
    assert ringwalk("diff", file, top).ok().out == b""


def test_a_file_system_without_ids_has_none(ringwalk, scratch):
    """tmpfs and overlayfs may have ids, proc has none."""
    file = scratch / "s.parquet"
    ringwalk("snapshot", "--projid", "/proc/sys/fs", "-o", file)
    assert set(ids(ringwalk, file).values()) == {None}
    answer = ringwalk("report", file, "--by", "project", "--format", "json")
    assert [row["projid"] for row in json.loads(answer.out)["rows"]] == [None]
