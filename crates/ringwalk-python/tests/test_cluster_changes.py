"""A snapshot by several tasks of a tree that changes meanwhile, with the compiled task."""

import collections
import contextlib
import json
import random
import shutil
import sys
import threading

import pytest
import ringwalk
from cluster_services import dask, mpiexec
from cluster_support import Here, environment
from processes import finished
from ringwalk import _ringwalk, cluster

pq = pytest.importorskip("pyarrow.parquet")


def grow(top):
    """Makes directories with files that stay, one of them large."""
    for directory in range(20):
        path = top / f"d{directory}" / "below"
        path.mkdir(parents=True)
        for file in range(30):
            (path / f"stays-{file}").touch()
    (top / "large").mkdir()
    for file in range(2000):
        (top / "large" / f"stays-with-a-long-name-{file}").touch()


class Changes:
    """Creates and removes files and directories beside those that stay."""

    def __init__(self, top):
        self.top = top
        self.random = random.Random(11)
        self.made = []

    def __call__(self):
        for _ in range(20):
            places = [self.top / "large", self.top / f"d{self.random.randrange(20)}"]
            path = self.random.choice(places) / f"new-{len(self.made)}"
            if self.random.random() < 0.3:
                (path / "sub").mkdir(parents=True)
                (path / "sub" / "file").touch()
            else:
                path.touch()
            self.made.append(path)
            old = self.random.choice(self.made)
            if old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink(missing_ok=True)


@contextlib.contextmanager
def changing(change):
    """Changes the tree in another thread, until the block ends."""
    end = threading.Event()

    def run():
        while not end.is_set():
            change()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def taken(top, out, engine, change):
    """The verdict of a snapshot on an engine, while the tree changes."""
    options = {"entries": 100, "workers": 2}
    if engine == "here":

        def task(*given, **named):
            change()
            return _ringwalk.cluster_task(*given, **named)

        return cluster.snapshot([top], out, engine=Here(), task=task, **options)
    if engine == "mpi":
        module = [sys.executable, "-m", "mpi4py.futures", "-m", "ringwalk.cluster"]
        words = ["snapshot", top, "-o", out, "--engine", "mpi", "--budget", "1ms", "--json"]
        command = [*mpiexec(), *module, *words]
        with changing(change):
            done = finished(command, env=environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])
    if engine == "dask":
        with dask(out.with_name("dask")) as (address, _), changing(change):
            return cluster.snapshot([top], out, engine=address, **options)
    with changing(change):
        return cluster.snapshot([top], out, processes=2, **options)


@pytest.mark.parametrize("engine", ["pool", "here", "dask", "mpi"])
def test_what_stays_is_there_once(tmp_path, engine):
    top, out, single = tmp_path / "top", tmp_path / "out", tmp_path / "single"
    grow(top)
    change = Changes(top)
    expected = {
        str(path.relative_to(top)) for path in top.rglob("*") if path.name.startswith("stays-")
    }
    verdict = taken(top, out, engine, change)
    assert verdict["complete"], verdict
    assert verdict["tasks"] > 10
    cluster.compact(out, single)
    paths = collections.Counter(pq.read_table(single, columns=["path"])["path"].to_pylist())
    assert max(paths.values()) == 1
    assert expected <= set(paths)
    assert ringwalk.open_snapshot(single).info["verdict"]["complete"]
