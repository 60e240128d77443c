"""Engines that cannot be made, or fail as a whole."""

import pathlib
import signal
import sys
import threading
from concurrent.futures import BrokenExecutor, Future

import pytest
from cluster_services import documented
from cluster_support import Here, assert_as_one_process, take
from processes import finished
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


# As much of Ray as the example needs, for machines without it.
RAY = """
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(2)

class Remote:
    def __init__(self, function):
        self.function = function

    def remote(self, *given):
        self.running = pool.submit(self.function, *given)
        return self

    def future(self):
        return self.running

remote = Remote
init = lambda: None
cluster_resources = lambda: {"CPU": 2.0}
shutdown = pool.shutdown
"""


def test_the_engine_of_the_documentation_for_ray(top, out, tmp_path):
    (tmp_path / "on_ray.py").write_text(documented("OnRay"))
    # Ray itself comes first, if it is installed.
    (tmp_path / "ray.py").write_text(RAY)
    # The installed program: it is not the current folder where Python finds modules.
    program = pathlib.Path(sys.executable).with_name("ringwalk-cluster")
    command = [program, "snapshot", top, "-o", out, "--engine", "on_ray:OnRay"]
    done = finished(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_as_one_process(top, out)


class WithoutOptions(Here):
    """An executor whose `shutdown` has other arguments than that of the standard library."""

    def shutdown(self, wait=True, kill_workers=False):
        self.ended = (wait, kill_workers)


def test_an_executor_may_be_shut_down_by_other_arguments(top, out):
    engine = WithoutOptions()
    assert take([top], out, engine=engine)["complete"]
    assert engine.ended == (True, False)


def test_an_object_whose_submit_gives_no_future_ends_the_run(top, out):
    class Strange:
        def submit(self, function, *given):
            return 7

    with pytest.raises(cluster.ClusterError, match=r"returns no future: expected .*, not 7"):
        take([top], out, engine=Strange())
