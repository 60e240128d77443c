"""A real Dask: scheduler and workers are processes on the loopback interface."""

import os
import signal
import sys
import threading

import cluster_model
import pytest
from cluster_mounts import mounted, own_namespace
from cluster_services import assert_clocks_differed, certificate, clocks, dask, documented
from cluster_support import (
    assert_as_one_process,
    environment,
    expected,
    make_tree,
    rows,
    take,
)
from processes import finished
from ringwalk import cluster

pytest.importorskip("distributed", reason="Dask is not installed")
from distributed import Client
from ringwalk.cluster.dask_engine import DaskEngine, engine_of


def test_dask_reads_each_entry_once(top, out, tmp_path, monkeypatch):
    with dask(tmp_path / "dask") as (address, _):
        assert take([top], out, engine=address)["complete"]
        assert rows(out) == expected(top)
        # Another run on the same scheduler has tasks with the same numbers.
        other = make_tree(tmp_path / "other", deep=1)
        assert take([other], tmp_path / "second", engine=address)["complete"]
        assert rows(tmp_path / "second") == expected(other)
        # The client of a caller is an engine too, and stays open.
        with Client(address.replace("dask", "tcp")) as client:
            assert take([top], tmp_path / "third", engine=client)["complete"]
            assert client.status == "running"
            # So does that of its executor, which is another kind of object.
            assert take([top], tmp_path / "fourth", engine=client.get_executor())["complete"]
            assert client.submit(abs, -1).result() == 1
            with pytest.raises(cluster.Refused, match=r"options \(retries\): give its client"):
                take([top], tmp_path / "fifth", engine=client.get_executor(retries=1))
        # Callables make one for the run. The scheduler and its workers stay.
        monkeypatch.setenv("RINGWALK_TEST_DASK", address.replace("dask", "tcp"))
        for name in ("client", "executor"):
            made = tmp_path / name
            assert take([top], made, engine=f"cluster_engines:dask_{name}")["complete"]
            assert rows(made) == expected(top)
        # So far the task was the model.
        assert cluster.snapshot(top, tmp_path / "real", engine=address, entries=7)["complete"]
        assert_as_one_process(top, tmp_path / "real")


def test_the_clocks_of_dask_workers_may_differ(top, out, tmp_path):
    with dask(tmp_path / "dask", before=clocks(tmp_path)) as (address, _):
        assert cluster.snapshot(top, out, engine=address, entries=7)["complete"]
    assert_as_one_process(top, out)
    assert_clocks_differed(f"{out}-many")
    assert not cluster.verify(out)["damaged"]


def test_a_dask_worker_that_dies_costs_its_tasks(top, out, tmp_path):
    (top / "dir1" / "kill-once").mkdir()
    with dask(tmp_path / "dask") as (address, _):
        assert take([top], out, engine=address)["complete"]
        assert rows(out) == expected(top)


def test_a_dask_worker_that_hangs_loses_its_task(top, out, tmp_path):
    (top / "dir1" / "stop-once").mkdir()
    with dask(tmp_path / "dask") as (address, _):
        verdict = take([top], out, engine=address, budget=0.1, grace=1.0)
        assert verdict["complete"], verdict
        assert rows(out) == expected(top)


def test_a_task_that_kills_dask_workers_is_set_aside(top, out, tmp_path):
    (top / "dir1" / "kill-always").mkdir()
    with dask(tmp_path / "dask") as (address, _):
        verdict = take([top], out, engine=address)
    (aside,) = verdict["set_aside"]
    assert [0, "dir1/kill-always", 0] in aside["leftovers"]
    again = take([top], out, resume=True, task=cluster_model.harmless)
    assert again["complete"] and rows(out) == expected(top)


def test_a_full_disk_of_a_dask_worker_ends_the_run(top, out, tmp_path):
    (top / "dir1" / "full-once").mkdir()
    with dask(tmp_path / "dask") as (address, _):
        with pytest.raises(OSError, match="make room and go on with --resume"):
            take([top], out, engine=address)
        assert take([top], out, engine=address, resume=True)["complete"]
    assert rows(out) == expected(top)


def test_a_scheduler_that_goes_away_ends_the_run(top, out, tmp_path):
    (top / "dir1" / "wait-once").mkdir()
    os.mkfifo(f"{out}-fifo")
    with dask(tmp_path / "dask") as (address, (scheduler, *_)):

        def end():
            # Returns when a task waits.
            with open(f"{out}-fifo", "wb"):
                scheduler.send_signal(signal.SIGKILL)
                scheduler.wait()
                done.wait(100)

        done = threading.Event()
        thread = threading.Thread(target=end)
        thread.start()
        try:
            with pytest.raises(cluster.EngineLost, match=r"scheduler is gone.*--resume"):
                take([top], out, engine=address)
        finally:
            done.set()
            thread.join()
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


class Leaving:
    """A client whose scheduler goes away at a call."""

    status = "running"

    def nthreads(self):
        return {"worker": 1}

    def processing(self):
        raise OSError("Timed out trying to connect")

    cancel = processing


def test_a_scheduler_that_goes_away_during_a_call_ends_the_run():
    engine = DaskEngine(Leaving(), owned=False)
    engine._remote = {"future": None}
    with pytest.raises(cluster.EngineLost, match=r"scheduler is gone.*--resume"):
        engine.give_up("future")
    # This must not hide the reason.
    engine.close(hurry=True)


def test_tls(top, out, tmp_path):
    folder = tmp_path / "dask"
    folder.mkdir()
    with dask(folder, before=[[]], tls=certificate(folder)) as (address, _):
        assert address.startswith("tls://")

        def run(out, engine, **variables):
            words = ["snapshot", top, "-o", out, "--engine", engine]
            command = [sys.executable, "-m", "cluster_program", *map(str, words)]
            env = environment() | variables
            return finished(command, cwd=folder, env=env, capture_output=True, text=True)

        # The client of the documentation.
        example = documented("Security(").replace("tls://HOST:8786", address)
        (folder / "on_dask.py").write_text(example)
        done = run(out, "on_dask:client")
        assert done.returncode == 0, done.stderr
        assert rows(out) == expected(top)
        # Dask's own configuration.
        tls = "DASK_DISTRIBUTED__COMM__TLS__"
        files = {"CA_FILE": "ca", "CLIENT__CERT": "cert", "CLIENT__KEY": "key"}
        variables = {tls + name: f"{file}.pem" for name, file in files.items()}
        done = run(tmp_path / "second", address, **variables)
        assert done.returncode == 0, done.stderr
        done = run(tmp_path / "third", address)
        assert done.returncode == 2
        assert done.stderr.startswith(f"ringwalk-cluster: {address}: Dask's configuration of TLS")


def test_an_asynchronous_client_is_refused():
    class Asynchronous(Client):
        asynchronous = True

        def __init__(self):
            pass

        def __del__(self):
            pass

    with pytest.raises(cluster.Refused, match="asynchronous=False"):
        engine_of(Asynchronous(), owned=False)


def test_no_scheduler_is_refused(top, out, monkeypatch):
    from ringwalk.cluster import dask_engine

    monkeypatch.setattr(dask_engine, "_TIMEOUT", 0.5)
    with pytest.raises(cluster.Refused, match="no Dask scheduler"):
        take([top], out, engine="dask://127.0.0.1:9")
    assert not out.exists()


def test_a_dask_worker_without_a_mount_is_left_out(top, out, tmp_path):
    if not own_namespace():
        pytest.skip("mounts need root")
    make_tree(tmp_path / "source", deep=2)
    point = top / "project"
    without = ["unshare", "--mount", "sh", "-c", f'umount -l "{point}" && exec "$@"', "sh"]
    with mounted(tmp_path / "source", point):
        with dask(tmp_path / "one", before=[without]) as (address, _):
            with pytest.raises(cluster.ClusterError, match=f"'{point}' on .* not mounted"):
                take([top], out, engine=address, budget=0.1)
        with dask(tmp_path / "dask", before=[without, []]) as (address, _):
            verdict = take([top], out, engine=address, budget=0.1, resume=True)
        assert verdict["complete"] and verdict["vanished"] == 0
        assert rows(out) == expected(top)
