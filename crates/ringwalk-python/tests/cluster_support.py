"""What the tests of `ringwalk.cluster` need: trees, engines, and the rows of a snapshot."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import pathlib
import sys
from concurrent.futures import Executor, Future

import cluster_model
import ringwalk
from processes import started
from ringwalk import _ringwalk, cluster

TESTS = pathlib.Path(__file__).parent


class Here(Executor):
    """Runs each task at once, in this process."""

    _max_workers = 2

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def make_tree(top: pathlib.Path, wide: int = 3, deep: int = 3, files: int = 5) -> pathlib.Path:
    """Makes directories with directories and files in them."""
    top.mkdir(parents=True)
    for number in range(files):
        (top / f"file{number}").touch()
    if deep:
        for number in range(wide):
            make_tree(top / f"dir{number}", wide, deep - 1, files)
    return top


def expected(*tops) -> collections.Counter:
    """Everything in the trees, once: number of the root, and path below it."""
    found = collections.Counter()
    for number, top in enumerate(tops):
        found[number, ""] += 1
        for folder, folders, files in os.walk(top):
            for name in folders + files:
                found[number, os.path.relpath(os.path.join(folder, name), top)] += 1
    return found


def rows(directory) -> collections.Counter:
    """The rows of all parts of the manifest."""
    found = collections.Counter()
    for entry in manifest(directory):
        for line in (pathlib.Path(directory) / entry["path"]).read_text().splitlines():
            found[tuple(json.loads(line))] += 1
    return found


def manifest(directory) -> list[dict]:
    text = (pathlib.Path(directory) / "manifest.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def take(tops, directory, **options):
    """A snapshot by the model task, in this process unless another engine is given."""
    options = {"engine": Here(), "entries": 7, "task": cluster_model.cluster_task, **options}
    return cluster.snapshot(tops, directory, **options)


def failing(number, error):
    """The package's task. The one with this number raises the error instead."""

    def task(*given, **named):
        if named["task"] == number:
            raise error
        return _ringwalk.cluster_task(*given, **named)

    return task


def assert_as_one_process(top, directory):
    """The parts in the directory make the snapshot that one process takes of the tree."""
    many, one = f"{directory}-many", f"{directory}-one"
    made = cluster.compact(directory, many)
    assert made["verdict"] == ringwalk.snapshot(top, one)["verdict"]
    assert list(ringwalk.diff(one, many)) == []


def environment() -> dict[str, str]:
    """The environment of programs that have the modules of the tests."""
    return {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parents[2] / 'tests' / 'shared'}"}


@contextlib.contextmanager
def program(*arguments, before=(), **options):
    """The program `ringwalk-cluster` with the model task, in a process of its own."""
    command = [*before, sys.executable]
    if "mpiexec" in str(before[:1]):
        command += ["-m", "mpi4py.futures"]
    command += ["-m", "cluster_program", *map(str, arguments)]
    with started(command, env=environment(), **options) as process:
        yield process
