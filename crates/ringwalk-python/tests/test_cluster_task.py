"""The compiled task of `ringwalk.cluster`, and the snapshot of its parts."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading

import pytest
import ringwalk
from processes import finished
from ringwalk import _ringwalk


class Walk:
    """A walk whose tasks run one after the other."""

    def __init__(self, directory, roots, **options):
        self.directory = directory
        self.roots = [os.fsencode(root) for root in roots]
        self.options = {
            "seconds": None,
            "entries": None,
            "workers": 2,
            "in_flight": None,
            "entries_per_second": None,
            "source": "auto",
            "xattrs": False,
            "atime": False,
            "one_file_system": False,
        } | options
        self.results = []
        for name in ("parts", "todo", "errors"):
            (directory / name).mkdir(parents=True)
        (directory / "snapshot.json").write_text('{"format": 1}')

    def task(self, pieces, **options):
        return _ringwalk.cluster_task(
            os.fsencode(self.directory),
            self.roots,
            pieces,
            task=len(self.results) + 1,
            epoch=1,
            attempt=0,
            **self.options | options,
        )

    def run(self):
        waiting = [None]
        while waiting:
            result = self.task(waiting.pop(0))
            self.results.append(result)
            for offset, length, _lines, _big in result["chunks"]:
                waiting.append([(result["todo"], offset, length)])
        self.finish()

    def finish(self):
        with open(self.directory / "manifest.jsonl", "w") as manifest:
            for result in self.results:
                line = {"path": result["part"], "rows": result["rows"], "bytes": result["bytes"]}
                manifest.write(json.dumps(line) + "\n")
                for kind, folder in (("todo", "todo"), ("errors_file", "errors")):
                    if (name := result[kind]) is not None:
                        path = self.directory / name
                        path.rename(self.directory / folder / path.name)
        (self.directory / "verdict.json").write_text("{}")

    def compact(self, output):
        return _ringwalk.cluster_compact(
            os.fsencode(self.directory), os.fsencode(output), memory=None
        )


@pytest.fixture
def tree(tmp_path):
    top = tmp_path / "top"
    for number in range(30):
        (top / f"d{number % 5}" / f"e{number}").mkdir(parents=True)
        (top / f"d{number % 5}" / f"e{number}" / "file.txt").write_text("text")
    os.link(top / "d0/e0/file.txt", top / "link")
    return top


@pytest.fixture
def walk(tmp_path, tree):
    return Walk(tmp_path / "walk", [tree], entries=7)


def test_tasks_make_the_snapshot_of_one_process(walk, tree, tmp_path):
    walk.run()
    made = walk.compact(tmp_path / "made")
    whole = ringwalk.snapshot(tree, tmp_path / "whole")
    assert made["verdict"] == whole["verdict"]
    differences = ringwalk.diff(tmp_path / "whole", tmp_path / "made")
    assert list(differences) == []
    assert len(walk.results) > 3


def test_limits_change_no_answer(walk, tree, tmp_path):
    walk.options |= {"in_flight": 1, "entries_per_second": 1_000_000}
    walk.run()
    made = walk.compact(tmp_path / "made")
    assert made["verdict"]["entries"] == 67


def test_results_add_up(walk):
    walk.run()
    total = {
        key: sum(result[key] for result in walk.results)
        for key in ("rows", "entries", "directories", "found", "vanished", "errors")
    }
    assert total == {
        "rows": 67,
        "entries": 67,
        "directories": 36,
        "found": 35,
        "vanished": 0,
        "errors": 0,
    }
    for result in walk.results:
        assert result["left"] == sum(lines for _, _, lines, _ in result["chunks"])
        assert result["seconds"] > 0 and result["cpu_seconds"] >= 0
        assert result["source"]
        part = walk.directory / result["part"]
        assert part.stat().st_size == result["bytes"]


def test_a_part_is_readable_and_no_snapshot(walk):
    parquet = pytest.importorskip("pyarrow.parquet")
    walk.run()
    paths = []
    for result in walk.results:
        part = walk.directory / result["part"]
        paths += parquet.read_table(part).column("path").to_pylist()
        with pytest.raises(ValueError, match="part"):
            ringwalk.open_snapshot(part)
    assert len(paths) == len(set(paths)) == 67
    assert "d0/e0/file.txt" in paths


def test_the_directory_opens_as_a_snapshot(walk):
    walk.run()
    assert len(ringwalk.open_snapshot(walk.directory)) == 67
    assert ringwalk.report(walk.directory, by="ext")
    assert list(ringwalk.diff(walk.directory, walk.directory)) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_errors_are_lines(walk, tree, tmp_path):
    (tree / "d1").chmod(0)
    walk.run()
    (tree / "d1").chmod(0o700)
    files = list((walk.directory / "errors").iterdir())
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    known = {key: lines[0][key] for key in ("root", "path", "operation", "errno", "message")}
    assert len(lines) == 1
    assert known == {
        "root": 0,
        "path": "d1",
        "operation": "open",
        "errno": 13,
        "message": "Permission denied",
    }
    verdict = walk.compact(tmp_path / "made")["verdict"]
    assert (verdict["complete"], verdict["errors"]) == (False, 1)


def test_damaged_pieces(walk):
    result = walk.task(None)
    todo = walk.directory / result["todo"]
    offset, length, *_ = result["chunks"][0]
    data = bytearray(todo.read_bytes())
    data[offset + 30] ^= 1
    todo.write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        walk.task([(result["todo"], offset, length)])
    with pytest.raises(ValueError, match="ends before"):
        walk.task([(result["todo"], offset, len(data) + 1)])
    with pytest.raises(FileNotFoundError):
        walk.task([("todo/none", 0, 1)])


def test_what_cannot_be_written(walk, tree):
    (walk.directory / "tmp").write_text("a file in the way")
    with pytest.raises(NotADirectoryError) as caught:
        walk.task(None)
    assert caught.value.filename == os.fsdecode(walk.directory / "tmp/1")
    walk.roots = [os.fsencode(tree / "none")]
    with pytest.raises(FileNotFoundError):
        walk.task(None)


def test_a_part_that_cannot_grow(walk):
    # As on a full disk, but for the number of the error.
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            walk.task(None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("source", "none"),
        ("workers", 0),
        ("entries", 0),
        ("seconds", -1.0),
        ("in_flight", 0),
        ("entries_per_second", 0),
    ],
)
def test_wrong_options(walk, option, value):
    with pytest.raises(ValueError, match=option):
        walk.task(None, **{option: value})


def test_unfinished_walks(walk, tmp_path):
    walk.task(None)
    with pytest.raises(ValueError, match="not finished"):
        walk.compact(tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_signal_ends_a_task(walk):
    """The leftovers are in a pipe that nobody writes: a server that does not answer."""

    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted

    def interrupted_task():
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGUSR1)).start()
        walk.task([("todo/pipe", 0, 1)])

    pipe = walk.directory / "todo/pipe"
    os.mkfifo(pipe)
    old = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(Interrupted):
            interrupted_task()
    finally:
        signal.signal(signal.SIGUSR1, old)
        # The thread of the task opens the pipe, and ends.
        os.open(pipe, os.O_RDWR)


def without_run(snapshot):
    """Returns the bytes of a snapshot but for those that say when it was made."""
    data = snapshot.read_bytes()
    key = data.rindex(b"ringwalk.run")
    return data[:key], data[data.index(b"ringwalk.row_groups", key) : -8]


def compare_below_mounts(folder):
    """Compares tasks with one process, among mounts that nobody else sees."""
    top, disk = folder / "top", folder / "top/disk/mounted"
    (top / "a/b/c").mkdir(parents=True)
    (top / "a/d").mkdir()
    (top / "a/file").write_text("text")
    disk.mkdir(parents=True)
    mounts = [
        # A directory lies within itself, on the same file system.
        ["--bind", top / "a", top / "a/b/c"],
        ["-t", "tmpfs", "none", disk],
    ]
    for mount in mounts:
        subprocess.run(["mount", *mount], check=True)
    (disk / "a/b").mkdir(parents=True)
    (disk / "a/b/file").write_text("text")
    # And once more, below a mount point.
    subprocess.run(["mount", "--bind", disk / "a", disk / "a/b"], check=True)
    for stay in (False, True):
        for entries in (1, 3, 1000):
            name = f"{stay}-{entries}"
            walk = Walk(folder / name, [top], entries=entries, one_file_system=stay)
            walk.run()
            walk.compact(folder / "made")
            ringwalk.snapshot(top, folder / "whole", one_file_system=stay)
            assert without_run(folder / "made") == without_run(folder / "whole"), name
            made = ringwalk.open_snapshot(folder / "made")
            assert made.info["verdict"]["complete"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root")
def test_mounts_and_directories_within_themselves(tmp_path):
    private = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*private, "mount", "-t", "tmpfs", "none", tmp_path]).returncode:
        pytest.skip("nothing can be mounted here")
    code = (
        "import pathlib, sys, test_cluster_task as tests; "
        "tests.compare_below_mounts(pathlib.Path(sys.argv[1]))"
    )
    tests = pathlib.Path(__file__).parent
    paths = [str(tests), *(path for path in sys.path if path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    finished([*private, sys.executable, "-c", code, str(tmp_path)], env=environment, check=True)
