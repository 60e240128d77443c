"""A real MPI job of three ranks, started by mpiexec."""

import os
import shlex
import signal
import subprocess
import sys

from cluster_services import assert_clocks_differed, clocks, mpiexec
from cluster_support import assert_as_one_process, environment, expected, program, rows, take
from processes import finished
from ringwalk import cluster
from support import wait_until

mpiexec()


def run(*arguments):
    pipe = subprocess.PIPE
    with program(*arguments, before=mpiexec(), stdout=pipe, stderr=pipe, text=True) as process:
        printed, messages = process.communicate(timeout=300)
    return process.returncode, printed, messages


def test_mpi_reads_each_entry_once(top, out):
    status, printed, messages = run("snapshot", top, "-o", out, "--engine", "mpi")
    assert status == 0, messages
    assert printed.startswith("complete: ")
    assert rows(out) == expected(top)


def documented(top, out, before=()):
    """Runs the command of the documentation, with the compiled task."""
    module = [sys.executable, "-m", "mpi4py.futures", "-m", "ringwalk.cluster"]
    options = ["snapshot", top, "-o", out, "--engine", "mpi", "--budget", "1ms"]
    command = [*mpiexec(), *before, *module, *options]
    done = finished(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_command_of_the_documentation_makes_the_snapshot_of_one_process(top, out):
    documented(top, out)
    assert_as_one_process(top, out)


def test_the_clocks_of_ranks_may_differ(top, out, tmp_path):
    first, second = map(shlex.join, clocks(tmp_path))
    # MPICH and Open MPI have different names for the rank.
    script = (
        "case ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} in"
        f' 0) exec "$@";; 1) exec {first} "$@";; 2) exec {second} "$@";; esac; exit 9'
    )
    documented(top, out, before=("sh", "-c", script, "sh"))
    assert_as_one_process(top, out)
    assert_clocks_differed(f"{out}-many")
    assert not cluster.verify(out)["damaged"]


def test_a_rank_that_dies_ends_the_run_which_can_be_resumed(top, out):
    (top / "dir1" / "kill-once").mkdir()
    status, _, _ = run("snapshot", top, "-o", out, "--engine", "mpi")
    assert status != 0
    assert cluster.status(out)["state"] == "unfinished"
    status, _, messages = run("snapshot", top, "-o", out, "--engine", "mpi", "--resume")
    assert status == 0, messages
    assert rows(out) == expected(top)


def test_a_job_that_is_killed_is_resumed(top, out):
    (top / "dir1" / "wait-once").mkdir()
    os.mkfifo(f"{out}-fifo")
    with program("snapshot", top, "-o", out, "--engine", "mpi", before=mpiexec()) as process:
        # Returns when a task waits.
        with open(f"{out}-fifo", "wb"):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


def test_a_full_disk_of_a_rank_ends_the_run(top, out):
    (top / "dir1" / "full-once").mkdir()
    status, _, messages = run("snapshot", top, "-o", out, "--engine", "mpi")
    assert status == 1 and "make room and go on with --resume" in messages
    status, _, messages = run("snapshot", top, "-o", out, "--engine", "mpi", "--resume")
    assert status == 0, messages
    assert rows(out) == expected(top)


def test_a_rank_that_hangs_does_not_keep_the_verdict(top, out, monkeypatch):
    (top / "dir1" / "stop-once").mkdir()
    monkeypatch.setenv("RINGWALK_TEST_GRACE", "1")
    arguments = ("snapshot", top, "-o", out, "--engine", "mpi", "--budget", "100ms")
    with program(*arguments, before=mpiexec()):
        # MPI itself waits for the rank: the job does not end.
        assert wait_until((out / "verdict.json").exists)
    assert cluster.status(out)["state"] == "complete"
    assert rows(out) == expected(top)


def test_a_single_rank_is_refused(top, out):
    pipe = subprocess.PIPE
    with program("snapshot", top, "-o", out, "--engine", "mpi", stderr=pipe, text=True) as process:
        _, messages = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "at least two ranks: start it by 'mpiexec -n N python -m mpi4py.futures" in messages
    assert not out.exists()


def test_a_job_in_which_each_rank_would_be_a_driver_is_refused(top, out):
    options = ["snapshot", top, "-o", out, "--engine", "mpi"]
    command = [*mpiexec(), sys.executable, "-m", "ringwalk.cluster", *options]
    done = finished(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    sentence = "no rank of this MPI job is a worker: start it by 'mpiexec -n N python -m mpi4py"
    assert done.stderr.count(sentence) == 3
    assert not out.exists()
