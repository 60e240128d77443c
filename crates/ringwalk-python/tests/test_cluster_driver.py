"""The driver on real processes: workers that die, hang or fail; budgets; a full disk."""

import errno
import itertools
import json
import os
import pathlib
import pickle
import random
import re
import signal
import socket
import threading
import tracemalloc
from concurrent.futures import Future

import cluster_model
import pytest
import ringwalk
from cluster_support import (
    Here,
    assert_as_one_process,
    expected,
    make_tree,
    manifest,
    rows,
    take,
)
from ringwalk import cluster
from ringwalk.cluster import checks, layout, lines, replay, trees, work
from ringwalk.cluster import pool as pool_module
from ringwalk.cluster.engines import Engine
from ringwalk.cluster.files import Files
from ringwalk.cluster.processes import Processes


def on_processes(tops, directory, **options):
    return take(tops, directory, **{"engine": "pool", "processes": 2, **options})


@pytest.mark.smoke
def test_processes_read_each_entry_once(top, out):
    verdict = on_processes([top], out)
    assert verdict["complete"], verdict
    assert rows(out) == expected(top)
    assert verdict["tasks"] > 10
    assert cluster.status(out)["state"] == "complete"
    assert cluster.verify(out) == {
        "tasks": verdict["tasks"],
        "parts": verdict["parts"],
        "bytes": verdict["bytes"],
        "damaged": [],
        "kept": True,
        "removed": [],
    }


def test_processes_make_the_snapshot_of_one(top, out):
    verdict = cluster.snapshot(top, out, processes=2, entries=7)
    assert verdict["complete"] and verdict["tasks"] > 10
    assert_as_one_process(top, out)


def test_several_roots(tmp_path, out):
    tops = [make_tree(tmp_path / name, deep=1) for name in ("a", "b", "c")]
    assert take(tops, out)["complete"]
    assert rows(out) == expected(*tops)


@pytest.mark.parametrize("seed", range(20))
def test_any_sequence_of_budgets_reads_each_entry_once(tmp_path, out, seed, monkeypatch):
    chance = random.Random(seed)
    top = make_tree(
        tmp_path / "top", chance.randint(1, 4), chance.randint(0, 3), chance.randint(0, 30)
    )
    # A pool that holds next to nothing: most of the work is read from the log again.
    monkeypatch.setattr(pool_module, "LIMIT", chance.choice([30, 100, 10**6]))

    def any_budget(*given, **named):
        return cluster_model.cluster_task(*given, **{**named, "entries": chance.randint(1, 40)})

    verdict = take([top], out, task=any_budget)
    assert verdict["complete"], verdict
    assert rows(out) == expected(top)


def test_a_worker_that_dies_costs_its_task(top, out):
    (top / "dir1" / "kill-once").mkdir()
    verdict = on_processes([top], out)
    assert verdict["complete"], verdict
    assert rows(out) == expected(top)


@pytest.mark.parametrize("name, why", [("kill-always", "killed 3"), ("fail-always", "failed 3")])
@pytest.mark.parametrize("engine", ["pool", "other"])
def test_a_task_that_always_fails_is_set_aside(top, out, name, why, engine):
    bad = top / "dir1" / name
    (bad / "below").mkdir(parents=True)
    if engine == "other":
        # An engine that breaks as a whole, and does not know which task has killed a worker.
        verdict = take([top], out, engine="cluster_engines:two_processes")
    else:
        verdict = on_processes([top], out)
    assert not verdict["complete"]
    (aside,) = verdict["set_aside"]
    assert why in aside["why"]
    assert [0, f"dir1/{name}", 0] in aside["leftovers"]
    # The task may have had other work besides: all of it is named, and nothing else is missing.
    missing = expected(top) - rows(out)
    assert not rows(out) - expected(top)
    named = {path for _, path, _ in aside["leftovers"]}
    assert all(any(f"{path}/".startswith(f"{each}/") for each in named) for _, path in missing)
    errors = (out / "errors" / "aside.errors").read_text().splitlines()
    assert len(errors) == len(aside["leftovers"])
    # When the reason is gone, the run goes on with it.
    (bad / "below").rename(top / "below")
    bad.rmdir()
    bad.mkdir()
    again = on_processes([top], out, resume=True, task=cluster_model.harmless)
    assert again["complete"], again
    assert rows(out)[0, f"dir1/{name}"] == 1
    assert not (out / "errors" / "aside.errors").exists()


def test_the_verdict_names_few_of_many_leftovers_set_aside(top, out, monkeypatch):
    def task(directory, roots, pieces, **given):
        if pieces is not None:
            raise RuntimeError("only the roots can be read")
        return cluster_model.cluster_task(directory, roots, pieces, **given)

    for number in range(60):
        (top / f"more{number:02}").mkdir()
    monkeypatch.setattr("ringwalk.cluster.verdict._NAMED", 10)
    verdict = take([top], out, task=task, entries=None)
    tasks = int(re.search(r"set aside: (\d+)", verdict["missing"][0])[1])
    assert tasks > 1
    # Of all tasks together, so that a million of leftovers need neither memory nor a large file.
    named = [each for aside in verdict["set_aside"] for each in aside["leftovers"]]
    assert len(named) == 10
    lines = (out / "errors" / "aside.errors").read_text().splitlines()
    assert len(lines) == len([path for path in top.iterdir() if path.is_dir()])
    assert cluster.verify(out)["damaged"] == []


def test_roots_that_no_task_can_visit_are_named(tmp_path, out):
    def task(*given, **named):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/a/place")

    tops = [make_tree(tmp_path / name, deep=0) for name in ("one", "other")]
    verdict = take(tops, out, task=task)
    why = "task 1 has failed 3 times: PermissionError: [Errno 13] Permission denied: '/a/place'"
    assert verdict["missing"] == [f"tasks that were set aside: 1 ({why})"]
    lines = (out / "errors" / "aside.errors").read_text().splitlines()
    places = [(row["root"], row["path"]) for row in map(json.loads, lines)]
    # As in the lines of a task: the index of the root.
    assert places == [(0, ""), (1, "")]
    # Not that parts are missing: the true reason.
    with pytest.raises(cluster.Refused, match=f"nothing was read: .*{re.escape(why)}.*--resume"):
        cluster.compact(out, out.with_name("file"))


def test_a_root_that_is_not_mounted_on_a_worker_is_no_empty_tree(top, out):
    def unmount(driver):
        # Another directory is there when the first task looks: a mount point without its mount.
        top.rename(top.with_name("unmounted"))
        top.mkdir()

    with pytest.raises(cluster.ClusterError, match="another directory than the driver .*--resume"):
        take([top], out, ready=unmount)
    # Nothing was set aside.
    assert cluster.status(out)["set_aside"] == []
    top.rmdir()
    top.with_name("unmounted").rename(top)
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


@pytest.mark.parametrize("begun", [False, True])
def test_a_root_that_is_not_mounted_when_a_run_is_resumed_is_refused(top, out, begun):
    def task(*given, **named):
        if begun and named["task"] < 5:
            return cluster_model.cluster_task(*given, **named)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take([top], out, task=task)
    assert bool(cluster.status(out)["tasks"]) == begun
    top.rename(top.with_name("unmounted"))
    # A mount point without its mount.
    top.mkdir()
    before = sorted(out.rglob("*"))
    why = re.escape(f"the root '{top}' is not the one with which the snapshot was begun: is its")
    with pytest.raises(cluster.Refused, match=why):
        take([top], out, resume=True)
    assert sorted(out.rglob("*")) == before
    top.rmdir()
    top.with_name("unmounted").rename(top)
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


@pytest.mark.parametrize(
    "there, same",
    [
        ((256, None, None), True),
        ((256, "one", 5), True),
        ((257, "one", 5), False),
        ((256, "other", 5), False),
        # Two subvolumes of one btrfs.
        ((256, "one", 6), False),
    ],
)
def test_what_is_known_of_both_roots_must_be_the_same(there, same):
    assert trees.Identity(256, "one", 5).is_of_same(trees.Identity(*there)) == same
    assert trees.Identity(*there).is_of_same(trees.Identity(256, "one", 5)) == same


def test_a_directory_without_identities_can_be_resumed(top, out):
    with pytest.raises(cluster.Stopped):
        take([top], out, ready=lambda driver: driver.stop())
    path = out / "snapshot.json"
    description = json.loads(path.read_text())
    assert description.pop("identities")[0]["inode"] == top.stat().st_ino
    path.write_text(json.dumps(description))
    assert take([top], out, resume=True)["complete"]


class OtherVersion(Here):
    """Runs tasks here. From the fourth on, this worker has another version of the package."""

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch
        self.tasks = 0

    def submit(self, fn, /, *args, **kwargs):
        self.tasks += fn is not work.nothing
        with self.monkeypatch.context() as change:
            if self.tasks > 3:
                change.setattr(ringwalk, "__version__", "0.0.7")
            return super().submit(fn, *args, **kwargs)


def test_a_worker_with_another_version_ends_the_run(top, out, monkeypatch):
    here = re.escape(ringwalk.__version__)
    why = f"on '{socket.gethostname()}' has ringwalk 0.0.7, and the driver has {here}: .*--resume"
    with pytest.raises(cluster.WrongVersion, match=why) as caught:
        take([top], out, engine=OtherVersion(monkeypatch))
    # As it comes from another process.
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    # Nothing was set aside.
    assert cluster.status(out)["set_aside"] == []
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


def test_a_worker_that_hangs_loses_its_task_after_the_deadline(top, out):
    (top / "dir2" / "stop-once").mkdir()
    verdict = on_processes([top], out, budget=0.1, grace=1.0)
    assert verdict["complete"], verdict
    assert rows(out) == expected(top)


class Slow(Here):
    """Runs everything here, but keeps the result of one task until another attempt is done."""

    def __init__(self):
        self.seen = 0
        self.kept = []

    def submit(self, fn, /, *args, **kwargs):
        future = super().submit(fn, *args, **kwargs)
        # The driver measures the cost of a task by some that do nothing.
        self.seen += fn is not work.nothing
        if self.seen != 3 or fn is work.nothing:
            return future
        late: Future = Future()
        late.set_running_or_notify_cancel()
        self.kept = [late, future.result()]
        return late

    def release(self):
        """Gives the result that was kept, if there is one."""
        if self.kept:
            late, result = self.kept
            self.kept = []
            late.set_result(result)


def with_leaps(engine, attempts):
    """For `ready`: when nothing happens, the driver's clock leaps beyond all deadlines. The kept
    result of a task comes when its second attempt has been committed.
    """
    now = [0.0]

    def ready(driver):
        driver.clock = lambda: now[0]
        driver.start = driver._checked = 0.0
        commit = driver._commit

        def step(futures):
            now[0] += 0.01 if futures else 1000.0
            attempts.extend(driver._attempts[future].number for future in futures)
            commit(futures)
            if 2 in attempts:
                engine.release()

        driver._commit = step

    return ready


def test_a_part_that_was_written_twice_counts_once(top, out):
    engine, attempts = Slow(), []
    verdict = take([top], out, engine=engine, ready=with_leaps(engine, attempts))
    assert verdict["complete"] and rows(out) == expected(top)
    assert 2 in attempts and not engine.kept


class Together(Slow):
    """As `Slow`, but both results of the task come at the same moment."""

    def submit(self, fn, /, *args, **kwargs):
        future = super().submit(fn, *args, **kwargs)
        if self.kept and not future.done():
            self.task = args[-1]["task"]
        elif self.kept and args[-1]["task"] == self.task:
            self.release()
        return future


def test_two_results_of_a_task_that_come_together_count_once(top, out):
    engine, attempts = Together(), []
    verdict = take([top], out, engine=engine, ready=with_leaps(engine, attempts))
    assert verdict["complete"] and rows(out) == expected(top)
    assert 2 in attempts and not engine.kept
    assert not cluster.verify(out)["damaged"]


class Hung(Slow):
    """As `Slow`, but the kept result never comes."""

    has_waited = None

    def release(self):
        """Gives nothing."""

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.has_waited = wait


def test_a_worker_that_hangs_for_ever_does_not_keep_a_run_from_its_end(top, out):
    engine, attempts = Hung(), []
    verdict = take([top], out, engine=engine, ready=with_leaps(engine, attempts))
    assert verdict["complete"] and rows(out) == expected(top)
    assert engine.kept and engine.has_waited is False


class Last(Slow):
    """As `Slow`, but all later attempts of the task fail."""

    def submit(self, fn, /, *args, **kwargs):
        if self.kept and fn is not work.nothing and args[-1]["task"] == self.task:
            future: Future = Future()
            future.set_exception(RuntimeError("no luck"))
            return future
        future = super().submit(fn, *args, **kwargs)
        if self.kept and not future.done():
            self.task = args[-1]["task"]
        return future


def with_a_late_result(engine, comes):
    """For `ready`: the task of `Last` runs out of attempts. Its first one then gives its result, if
    that `comes`. The driver's clock leaps when nothing happens.
    """
    now = [0.0]

    def ready(driver):
        driver.clock = lambda: now[0]
        driver.start = driver._checked = 0.0
        commit = driver._commit

        def step(futures):
            now[0] += 0.01 if futures else 50.0
            commit(futures)
            if comes and driver._waiting:
                engine.release()

        driver._commit = step

    return ready


@pytest.mark.parametrize("comes", [True, False])
def test_the_result_of_a_late_attempt_counts_after_the_third_failure(top, out, comes):
    engine = Last()
    verdict = take([top], out, engine=engine, ready=with_a_late_result(engine, comes))
    assert verdict["complete"] == comes, verdict
    if comes:
        assert rows(out) == expected(top) and not engine.kept
    else:
        (aside,) = verdict["set_aside"]
        assert aside["why"].endswith("failed 3 times: RuntimeError: no luck")
    assert not cluster.verify(out)["damaged"]


@pytest.mark.parametrize("damage", ["missing", "short", "same size"])
def test_a_damaged_part_is_named_and_walked_again(top, out, damage):
    take([top], out)
    entry = manifest(out)[len(manifest(out)) // 2]
    part = out / entry["path"]
    data = part.read_bytes()
    if damage == "missing":
        part.unlink()
    else:
        part.write_bytes(data[:-1] if damage == "short" else data[:-2] + b"!\n")
    found = cluster.verify(out)
    assert [each["file"] for each in found["damaged"]] == [entry["path"]]
    with pytest.raises(cluster.Refused, match="damaged"):
        cluster.compact(out, out.with_suffix(".parquet"))
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)
    assert entry["path"] not in {each["path"] for each in manifest(out)}
    assert not cluster.verify(out)["damaged"]


def test_damage_that_is_found_while_a_driver_is_at_work_is_in_its_verdict(top, out):
    damaged = []

    def task(*given, **named):
        if named["task"] == 6:
            part = next((out / "parts").iterdir())
            part.write_bytes(part.read_bytes()[:-2] + b"!\n")
            damaged.extend(each["file"] for each in cluster.verify(out)["damaged"])
        return cluster_model.cluster_task(*given, **named)

    verdict = take([top], out, task=task)
    (name,) = damaged
    assert not verdict["complete"]
    assert verdict["missing"] == [f"damaged: {name}: wrong SHA-256"]
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


def test_a_damaged_file_of_leftovers_is_named_and_walked_again(top, out):
    take([top], out)
    todo = sorted((out / "todo").iterdir())[3]
    todo.write_bytes(todo.read_bytes().replace(b"dir", b"rid"))
    assert [each["file"] for each in cluster.verify(out)["damaged"]] == [f"todo/{todo.name}"]
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


@pytest.mark.parametrize("kept", [0, 3])
def test_a_log_that_lacks_tasks_of_the_verdict_is_named_and_nothing_is_removed(top, out, kept):
    take([top], out)
    first, *others = sorted((out / "log").iterdir())
    first.write_bytes(b"".join(first.read_bytes().splitlines(keepends=True)[:kept]))
    for other in others:
        other.unlink()
    before = sorted(out.rglob("*"))
    for ask in (cluster.status, cluster.verify, lambda out: take([top], out, resume=True)):
        with pytest.raises(cluster.ClusterError, match="the log is damaged"):
            ask(out)
    assert sorted(out.rglob("*")) == before


@pytest.mark.parametrize("contents", ["{}", "[1]", '"x"', '{"complete": true}', "null"])
def test_a_file_that_is_no_verdict_is_named(top, out, contents):
    take([top], out)
    (out / "verdict.json").write_text(contents)
    for ask in (cluster.status, cluster.verify, lambda out: take([top], out, resume=True)):
        if contents == "null":
            # As if it were not there: the run is not over.
            ask(out)
        else:
            with pytest.raises(cluster.ClusterError, match="verdict.json: not a verdict"):
                ask(out)


def test_a_file_of_leftovers_that_was_replaced_is_walked_again(top, out):
    begun = itertools.count()

    def task(*given, **named):
        if next(begun) > 5:
            raise KeyboardInterrupt
        return cluster_model.cluster_task(*given, **named)

    # The run ends while leftovers wait that no task has done.
    with pytest.raises(KeyboardInterrupt):
        take([top], out, task=task)
    replaced = 0
    for todo in (out / "todo").iterdir():
        data = todo.read_bytes()
        other = data.replace(b"dir1", b"dir2")
        todo.write_bytes(other)
        replaced += data != other
    assert replaced
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


def test_orphans_are_removed_and_named(top, out):
    take([top], out)
    # No task makes a directory.
    (out / "parts" / "folder").mkdir()
    orphans = {"parts/9-9-9.parquet", "todo/9-9-9.todo", "errors/9-9-9.errors", "tmp/1/7-7.todo"}
    (out / "tmp" / "1").mkdir()
    for name in orphans:
        (out / name).write_text("orphan")
    assert set(cluster.verify(out)["removed"]) == orphans
    assert rows(out) == expected(top)


def test_a_file_that_is_renamed_while_files_are_listed_is_no_orphan(top, out, monkeypatch):
    take([top], out)
    files = Files(str(out))
    whole = replay.read(files)
    # What `verify` has read of the log, before a driver has committed the latest task.
    *_, (before, latest) = whole.commits()
    lengths = [before.offset if each == before.epoch else 0 for each in range(1, before.epoch + 1)]
    history = replay.read(files, lengths)
    assert history.totals.tasks == whole.totals.tasks - 1
    (out / "parts" / f"{latest.task}-1-1.parquet").touch()
    removed = checks.remove_orphans(files, history)
    assert removed == [f"parts/{latest.task}-1-1.parquet"]
    assert not cluster.verify(out)["damaged"]


def test_orphans_are_found_in_little_memory(tmp_path):
    files, count = Files(str(tmp_path)), 3000
    for folder in ("log", "parts", "todo", "errors", "tmp"):
        (tmp_path / folder).mkdir()
    counts = dict.fromkeys(lines.COUNTS, 0)
    with open(tmp_path / layout.log_name(1), "wb") as log:
        log.write(lines.encode({"epoch": 1, "fence": []}))
        for task in range(1, count + 1):
            commit = lines.Commit(
                1, task, 2**30 + task, [], (1, 0, "0" * 64), None, (0, 0), [], counts
            )
            log.write(commit.line())
            for kind in commit.kinds():
                (tmp_path / commit.name(kind)).touch()
    history = replay.read(files)
    (tmp_path / "todo" / "5-5-5.todo").touch()
    tracemalloc.start()
    try:
        assert checks.remove_orphans(files, history) == ["todo/5-5-5.todo"]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # For a million tasks some 20 MiB, and not hundreds.
    assert peak < 60 * count


def test_a_run_that_is_over_is_not_run_again(top, out):
    first = take([top], out)
    (top / "new").touch()
    assert take([top], out, resume=True) == first
    assert len(list((out / "log").iterdir())) == 2


def test_a_full_disk_ends_the_run_which_can_be_resumed(top, out):
    (top / "dir1" / "full-once").mkdir()
    with pytest.raises(OSError, match="make room and go on with --resume"):
        on_processes([top], out)
    assert on_processes([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


@pytest.mark.parametrize("engine", ["here", "pool"])
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a file system that is full")
def test_a_real_full_disk(top, tmp_path, engine):
    import subprocess

    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs here")
    # The pool has the compiled task.
    options = {"engine": "pool", "processes": 2, "task": None} if engine == "pool" else {}
    try:
        with pytest.raises(OSError, match=r"No space left|make room"):
            take([top], small / "out", **options)
        subprocess.run(["mount", "-o", "remount,size=16m", small], check=True)
        assert take([top], small / "out", resume=True, **options)["complete"]
        if engine == "pool":
            assert_as_one_process(top, small / "out")
        else:
            assert rows(small / "out") == expected(top)
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def test_stop_leaves_a_run_that_can_be_resumed(top, out):
    with pytest.raises(cluster.Stopped):
        take([top], out, ready=lambda driver: threading.Thread(target=driver.stop).start())
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


def test_a_worker_that_dies_before_its_first_task_is_replaced(top, out, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "nothing", cluster_model.nothing_but_die_once)
    monkeypatch.setenv("RINGWALK_TEST_DIED", str(tmp_path / "died"))
    assert take([top], out, engine="pool", processes=2)["complete"]
    assert (tmp_path / "died").exists()
    assert rows(out) == expected(top)


def test_workers_die_with_the_driver():
    engine = Processes(2)
    try:
        children = {engine.submit("", os.getpid).result() for _ in range(1)}
        assert all(os.path.exists(f"/proc/{child}") for child in children)
        status = pathlib.Path(f"/proc/{children.pop()}/status").read_text()
        ignored = int(status.partition("SigIgn:\t")[2].split()[0], 16)
        assert ignored & 1 << (signal.SIGINT - 1)
    finally:
        engine.close(True)


@pytest.mark.parametrize(
    "options, why",
    [
        ({"engine": "nonsense"}, "unknown engine 'nonsense': expected 'pool'"),
        ({"engine": "nonsense:make"}, "cannot import 'nonsense'"),
        ({"engine": "os:nonsense"}, "no callable 'nonsense'"),
        ({"engine": "mpi", "processes": 3}, "a number of processes"),
        ({"engine": Engine(Here), "processes": 3}, "a number of processes"),
        ({"source": "ext4"}, "no task reads by source 'ext4': expected one of auto, syscall"),
        ({"engine": object()}, "needs a method 'submit'"),
        ({"engine": "pool", "processes": -1}, "processes=-1: expected a number from 1"),
        ({"engine": "pool", "processes": 10**8}, "processes=100000000: .* from 1 to 4096"),
        ({"entries": 0}, "entries=0: expected a number from 1"),
        ({"budget": 0}, "budget=0: expected a number of seconds above zero"),
        ({"budget": float("nan")}, "budget=nan: expected a number of seconds above zero"),
    ],
)
def test_a_wrong_option_is_refused_and_changes_nothing(top, out, options, why):
    with pytest.raises(cluster.Refused, match=why):
        take([top], out, **options)
    assert not out.exists()


def test_empty_paths_are_not_the_current_directory(top, out):
    for call in (
        lambda: take([""], out),
        lambda: take([top], ""),
        lambda: take([top], "", resume=True),
        lambda: cluster.status(""),
        lambda: cluster.verify(b""),
        lambda: cluster.compact("", f"{out}.parquet"),
    ):
        with pytest.raises(FileNotFoundError):
            call()
    assert not out.exists()


def test_a_directory_that_exists_is_refused(top, out):
    take([top], out)
    with pytest.raises(cluster.Refused, match="exists"):
        take([top], out)


def test_other_roots_and_options_are_refused(top, out):
    take([top], out)
    with pytest.raises(cluster.Refused, match="other roots"):
        take([top / "dir1"], out, resume=True)
    with pytest.raises(cluster.Refused, match="without the option 'xattrs'"):
        take([top], out, resume=True, xattrs=True)
    with pytest.raises(cluster.Refused, match="lies within"):
        take([top, top / "dir1"], out.with_name("other"))
    with pytest.raises(FileNotFoundError):
        take([top / "nothing"], out.with_name("other"))


def test_a_run_that_was_never_begun_is_begun_by_resume(top, out):
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)
    with pytest.raises(FileNotFoundError):
        take([top], out / "no" / "folder", resume=True)
    out.with_name("file").touch()
    with pytest.raises(NotADirectoryError):
        take([top], out.with_name("file"), resume=True)


def test_a_directory_of_something_else_is_refused(top, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(cluster.Refused, match="not the directory of a snapshot"):
        take([top], tmp_path / "other", resume=True)
    for action in (cluster.status, cluster.verify):
        with pytest.raises(cluster.Refused, match="not the directory of a snapshot"):
            action(tmp_path / "other")
    with pytest.raises(cluster.Refused, match="not the directory of a snapshot"):
        cluster.compact(tmp_path / "other", tmp_path / "file")


def test_names_that_are_no_text(tmp_path, out):
    top = pathlib.Path(os.fsdecode(os.fsencode(tmp_path) + b"/top\xff"))
    make_tree(top, deep=1)
    assert take([top], out)["complete"]
    description = json.loads((out / "snapshot.json").read_text())
    assert bytes.fromhex(description["roots"][0]["hex"]) == os.fsencode(top)
    assert take([top], out, resume=True)["complete"]


def test_errors_make_a_snapshot_incomplete(top, out):
    def failing(*given, **named):
        result = cluster_model.cluster_task(*given, **named)
        if named["task"] == 5:
            result["errors"] += 1
        return result

    verdict = take([top], out, task=failing)
    assert not verdict["complete"]
    assert verdict["missing"] == ["files and directories that could not be read: 1"]


def test_directories_that_are_not_accounted_for_make_a_snapshot_incomplete(top, out):
    def careless(*given, **named):
        result = cluster_model.cluster_task(*given, **named)
        if named["task"] == 5:
            result["found"] += 1
        return result

    verdict = take([top], out, task=careless)
    assert verdict["missing"] == ["directories that were found and are not accounted for: 1"]


@pytest.mark.parametrize(
    "key, value",
    [
        ("rows", 0),
        ("bytes", 1),
        ("left", 0),
        ("chunks", []),
        ("chunks", [["0", 1, 1, False]]),
        ("chunks", 5),
        ("seconds", float("nan")),
        ("entries", -1),
        ("found", "1"),
        ("todo", "tmp/1/../1/1-1.todo"),
    ],
)
def test_a_result_that_contradicts_itself_is_a_failure(top, out, key, value):
    seen = set()

    def wrong(*given, **named):
        result = cluster_model.cluster_task(*given, **named)
        # A part without rows is allowed.
        first = named["task"] not in seen
        seen.add(named["task"])
        if first and result["todo"] and key != "rows":
            result[key] = value
        elif first and key == "rows":
            os.unlink(os.path.join(os.fsdecode(given[0]), result["part"]))
            result["part"] = None
        return result

    verdict = take([top], out, task=wrong)
    assert verdict["complete"], verdict
    assert rows(out) == expected(top)


def test_only_the_task_that_a_dead_process_ran_is_blamed():
    engine = Processes(1)
    try:
        running = engine.submit("dies", cluster_model.die)
        waiting = engine.submit("waits", os.getpid)
        outcomes = engine.outcomes([running, waiting])
        assert all(engine.deaths(outcome) for outcome in outcomes)
        assert [engine.is_blamed(each) for each in (running, waiting)] == [True, False]
    finally:
        engine.close(hurry=True)
