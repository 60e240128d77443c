"""Snapshots of a network file system by several processes: GlusterFS, with a real server.

NFS is not among them: its client is part of the kernel, and some kernels have none. The client of
GlusterFS needs only FUSE.
"""

import json
import pathlib
import sys

import gluster
import pytest
import ringwalk
from cluster_deaths import DEADLY
from cluster_support import environment
from processes import finished
from ringwalk import cluster

# Run beside the mount: a tree with a directory that one task cannot read, a copy of the tree on the
# local disk, and the snapshots of one process. Names are long because a task ends behind a buffer.
PREPARE = """
import pathlib, subprocess, sys
import ringwalk
top, copy, remote, local = map(pathlib.Path, sys.argv[1:])
for number in range(60):
    folder = top / f"d{number % 6}" / f"e{number}"
    folder.mkdir(parents=True)
    for file in range(20):
        (folder / f"file{file}").write_bytes(b"x" * file)
(top / "large").mkdir()
for number in range(2500):
    (top / "large" / f"{number:0200}").touch()
(top / "link").symlink_to("large")
subprocess.run(["cp", "-a", top, copy], check=True)
assert ringwalk.snapshot(top, remote)["verdict"]["complete"]
assert ringwalk.snapshot(copy, local)["verdict"]["complete"]
"""


@pytest.fixture
def mount(tmp_path):
    try:
        with gluster.mounted(tmp_path / "gluster") as mount:
            yield mount
    except gluster.Unavailable as reason:
        pytest.skip(f"GlusterFS: {reason}")


def rows(snapshot: pathlib.Path) -> list:
    """The rows of a snapshot, without what another file system numbers or sets itself."""
    columns = ["path", "type", "mode", "uid", "gid", "mtime", "size"]
    found = ringwalk.open_snapshot(snapshot).to_arrow(columns=columns).to_pylist()
    return [{**row, "size": None} if row["type"] == "d" else row for row in found]


def test_a_worker_that_dies_costs_no_entry_of_a_network_file_system(mount, tmp_path, out):
    top, copy, remote, local = (
        mount.point / "top",
        tmp_path / "copy",
        tmp_path / "remote",
        tmp_path / "local",
    )

    def run(*command):
        words = [*mount.inside, sys.executable, *map(str, command)]
        done = finished(words, env=environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-c", PREPARE, top, copy, remote, local)
    options = ("--processes", "2", "--budget", "1s", "--json")
    printed = run("-m", "cluster_deaths", "snapshot", top, "-o", out, *options)
    verdict = json.loads(printed.splitlines()[-1])
    assert verdict["complete"] and verdict["tasks"] > DEADLY
    assert pathlib.Path(f"{out}-kill-once").exists()
    # The large directory was cut, and a task went on within it.
    todo = [json.loads(line) for file in (out / "todo").iterdir() for line in file.open()]
    assert any(each["path"] == "large" and each["rest"] != "whole" for each in todo)
    # Of the task that ran twice, one result counts.
    assert verdict["parts"] == len(list((out / "parts").iterdir()))
    many = tmp_path / "many"
    cluster.compact(out, many)
    assert list(ringwalk.diff(remote, many)) == []
    assert rows(many) == rows(local)
