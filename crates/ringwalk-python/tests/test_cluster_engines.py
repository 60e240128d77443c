"""Engines that cannot be made, or fail as a whole."""

import signal
import threading
from concurrent.futures import BrokenExecutor, Future

import pytest
from cluster_support import Here, take
from ringwalk import cluster
from ringwalk.cluster import work
from ringwalk.cluster.engines import Engine
from ringwalk.cluster.processes import Processes


@pytest.mark.parametrize(
    "name, why",
    [
        (":make", "cannot import ''"),
        ("..nonsense:make", "cannot import '..nonsense'"),
        ("shutil:rmtree", "the engine cannot be made: TypeError"),
    ],
)
def test_an_engine_that_cannot_be_made_is_refused(top, out, name, why):
    with pytest.raises(cluster.Refused, match=why):
        take([top], out, engine=name)
    assert not out.exists()


def test_an_engine_that_cannot_be_made_again_ends_the_run():
    made = []

    def make():
        if made:
            raise RuntimeError("no more of them")
        made.append(Broken())
        return made[0]

    class Broken:
        def submit(self, function, *given):
            raise BrokenExecutor

    with pytest.raises(cluster.EngineLost, match="made again: RuntimeError\\('no more of them'\\)"):
        Engine(make).submit("key", work.nothing)


def test_a_pool_that_cannot_start_a_thread_ends_the_run(monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    engine = Processes(1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        with pytest.raises(cluster.EngineLost, match="cannot be started: can't start new thread"):
            engine.submit("key", work.nothing)
    engine.close(True)


def test_a_signal_that_interrupts_a_wait_is_no_outcome_of_a_task():
    class Interrupted(Future):
        def exception(self, timeout=None):
            raise cluster.Stopped(signal.SIGINT)

    with pytest.raises(cluster.Stopped):
        Engine(Here).outcomes([Interrupted()])
