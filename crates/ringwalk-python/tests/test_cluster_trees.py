"""Machines that do not have the driver's tree: mounts that they lack, have more, or lose."""

import os
import pathlib
import re
import shutil
import subprocess

import cluster_model
import pytest
import ringwalk
from cluster_mounts import Uneven, gain, lose, mounted, own_namespace, whole
from cluster_support import Here, environment, expected, make_tree, rows, take
from ringwalk import _ringwalk, cluster
from ringwalk.cluster import cli, trees
from support import run


@pytest.fixture(scope="module")
def namespace():
    if not own_namespace():
        pytest.skip("mounts need root")


@pytest.fixture
def project(namespace, tmp_path, top):
    """A mount point below the root, with directories in what is mounted there."""
    source = make_tree(tmp_path / "source", deep=2)
    point = top / "project"
    with mounted(source, point):
        yield point


def test_a_worker_without_a_mount_costs_no_entry(project, top, out):
    verdict = take([top], out, engine=Uneven(project, lose, whole), budget=0.2)
    assert verdict["complete"] and verdict["vanished"] == 0
    assert rows(out) == expected(top)


@pytest.mark.parametrize(
    "prepare, why",
    [
        (lose, "the file system that the driver has there is not mounted"),
        (gain, "the driver does not have the file system that is mounted"),
    ],
)
def test_a_tree_that_no_worker_has_ends_the_run(project, top, out, prepare, why):
    point = project if prepare is lose else top / "dir0"
    with pytest.raises(cluster.ClusterError, match=f"'{point}' on '.*': {why}: .*--resume"):
        take([top], out, engine=Uneven(point, prepare), budget=0.1)
    # Nothing was set aside.
    assert cluster.status(out)["set_aside"] == []
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


def at_task(number, act):
    """The model task. `act` is called in the middle of the task with this number."""

    def task(*given, **named):
        result = cluster_model.cluster_task(*given, **named)
        if named["task"] == number:
            act()
        return result

    return task


def unmount(point):
    subprocess.run(["umount", "--lazy", point], check=True)


def test_a_mount_that_is_lost_in_the_middle_ends_the_run(project, top, out, tmp_path):
    task = at_task(3, lambda: unmount(project))
    with pytest.raises(cluster.ClusterError, match=f"'{project}'.*not mounted: mount it"):
        take([top], out, task=task)
    before = sorted(out.rglob("*"))
    why = f"the file system that was mounted at '{project}' at the beginning is not mounted"
    with pytest.raises(cluster.Refused, match=re.escape(why)):
        take([top], out, resume=True)
    # Another file system is not the same one.
    other = mounted(pathlib.Path("/proc"), project)
    with other, pytest.raises(cluster.Refused, match=re.escape(why)):
        take([top], out, resume=True)
    assert sorted(out.rglob("*")) == before
    with mounted(tmp_path / "source", project):
        verdict = take([top], out, resume=True)
        assert verdict["complete"] and verdict["vanished"] == 0
        assert rows(out) == expected(top)


def test_a_root_that_is_lost_in_the_middle_ends_the_run(project, out, tmp_path):
    with pytest.raises(cluster.ClusterError, match=f"'{project}'.*another directory.*: mount it"):
        take([project], out, task=at_task(3, lambda: unmount(project)))
    with mounted(tmp_path / "source", project):
        assert take([project], out, resume=True)["complete"]
        assert rows(out) == expected(project)


def test_what_is_mounted_everywhere_in_the_middle_is_read(top, out, namespace, tmp_path):
    more, point = tmp_path / "more", top / "dir2"
    more.mkdir()

    def mount():
        subprocess.run(["mount", "--bind", more, point], check=True)

    try:
        assert take([top], out, task=at_task(1, mount), budget=0.1)["complete"]
    finally:
        unmount(point)


def test_a_mount_whose_place_is_removed_has_vanished(tmp_path):
    known = {bytes(tmp_path / "gone"): trees.Identity(1)}
    assert trees.missing_mount(known, {}) is None
    (tmp_path / "gone").mkdir()
    assert trees.missing_mount(known, {}) == bytes(tmp_path / "gone")


def test_a_tree_that_is_removed_in_the_middle_is_named(top, out, tmp_path, monkeypatch, capsys):
    make_tree(top / "dir1" / "large", deep=2)

    def remove():
        if (top / "dir1").exists():
            shutil.rmtree(top / "dir1")

    verdict = take([top], out, engine=Here(), task=at_task(4, remove))
    assert verdict["complete"] and verdict["vanished"]
    first, *largest = verdict["changing"]
    assert first.startswith(f"the tree was changing: {verdict['vanished']} of ")
    assert len(largest) <= 5
    assert all(str(top / "dir1") in each for each in largest) and largest
    assert cluster.status(out)["changing"] == verdict["changing"]
    # The program says so too.
    monkeypatch.setattr(cluster, "snapshot", lambda *given, **named: verdict)
    assert cli.main(["snapshot", str(top), "-o", str(tmp_path / "other")]) == 0
    assert f"ringwalk-cluster: {first}\n" in capsys.readouterr().err


def test_trees_within_each_other_are_one(top, out):
    gone = iter([[(0, b"a/b", 2)], [(0, b"a", 1), (0, b"ab", 4)], [(0, b"a/b/c", 3)]])

    def task(*given, **named):
        result = cluster_model.cluster_task(*given, **named)
        return {**result, "vanished": 1, "vanished_trees": next(gone, [])}

    said = take([top], out, task=task)["changing"]
    assert [each.rpartition(": ")[0].rpartition("/")[2] for each in said[1:]] == ["a'", "ab'"]
    assert [each.rpartition(": ")[2].split()[0] for each in said[1:]] == ["6", "4"]


def test_the_compiled_task_names_trees_that_vanish(top, out):
    def remove(*given, **named):
        if named["task"] == 3:
            shutil.rmtree(top / "dir1")
        return _ringwalk.cluster_task(*given, **named)

    verdict = take([top], out, task=remove)
    assert verdict["changing"][1:], verdict
    assert all(f"'{top / 'dir1'}'" in each for each in verdict["changing"][1:])
    made = cluster.compact(out, f"{out}-made")
    assert made["verdict"]["complete"]
    assert len(ringwalk.open_snapshot(f"{out}-made")) == made["verdict"]["entries"]


SILENT = """
import sys, threading
import hanging
from ringwalk import _ringwalk

top = sys.argv[1]
point = top + "/point"
server = hanging.Server(hanging.mount(point), None)
threading.Thread(target=server.serve, daemon=True).start()
first = _ringwalk.cluster_mounts([top.encode()], [])
assert [(mount[0], mount[4]) for mount in first] == [(point.encode(), "fuse")]
server.hangs = hanging.GETATTR
assert _ringwalk.cluster_mounts([top.encode()], [point.encode()]) == first
print("not asked again")
"""


def test_a_server_that_does_not_answer_keeps_no_task_that_reads_elsewhere(namespace, tmp_path):
    if not os.path.exists("/dev/fuse"):
        pytest.skip("there is no FUSE")
    (tmp_path / "point").mkdir()
    done = run(SILENT, tmp_path, env=environment())
    assert done.stdout == "not asked again\n", done.stderr
