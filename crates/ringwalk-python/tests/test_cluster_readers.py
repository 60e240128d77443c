"""Readers of a directory of `ringwalk-cluster`: none takes one that is incomplete for whole."""

import pytest
import ringwalk
from cluster_support import Here, expected, failing
from ringwalk import cluster

BROKEN = 3


@pytest.fixture
def incomplete(top, out):
    """The directory of a run whose third task was set aside."""
    task = failing(BROKEN, RuntimeError("this always fails"))
    assert not cluster.snapshot(top, out, engine=Here(), entries=7, task=task)["complete"]
    return out


@pytest.fixture
def unfinished(top, out):
    """The directory of a run that has ended early."""
    task = failing(BROKEN, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        cluster.snapshot(top, out, engine=Here(), entries=7, task=task)
    return out


@pytest.fixture
def whole(top, tmp_path):
    """A snapshot of the same tree by one process."""
    path = tmp_path / "whole"
    assert ringwalk.snapshot(top, path)["verdict"]["complete"]
    return path


def test_a_directory_with_a_task_set_aside_is_incomplete(incomplete, top):
    snapshot = ringwalk.open_snapshot(incomplete)
    verdict = snapshot.info["verdict"]
    assert not verdict["complete"] and verdict["errors"]
    assert len(snapshot) < expected(top).total()


def test_a_comparison_with_an_incomplete_directory_is_incomplete(incomplete, whole, top):
    for old, new in ((whole, incomplete), (incomplete, whole), (incomplete, top)):
        diff = ringwalk.diff(old, new)
        # What was not read is neither added nor removed.
        assert [change.path for change in diff] == []
        assert not diff.complete


def test_sums_of_an_incomplete_directory_say_so(incomplete):
    assert not ringwalk.report(incomplete, by="type")["complete"]


def test_an_unfinished_directory_is_no_snapshot(unfinished, whole, top):
    for read in (
        lambda: ringwalk.open_snapshot(unfinished),
        lambda: ringwalk.report(unfinished, by="type"),
        lambda: ringwalk.diff(unfinished, top),
        lambda: ringwalk.diff(whole, unfinished),
    ):
        with pytest.raises((ValueError, OSError), match="the walk is not finished: go on with"):
            read()
