"""Real services for the tests: Dask on the loopback interface, and MPI jobs."""

from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
import subprocess
import sys

import pytest
import ringwalk
from cluster_support import environment
from processes import started
from support import wait_until

# Seconds.
DAY = 24 * 3600


def clocks(folder: pathlib.Path) -> list[list[str]]:
    """The words before the commands of two workers. The clock of one is three days fast, that of
    the other three days late. Skips the test without a C compiler.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = folder / "clock.so"
    source = pathlib.Path(__file__).with_name("cluster_clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    ahead = 3 * DAY
    return [
        ["env", f"LD_PRELOAD={library}", f"RINGWALK_TEST_CLOCK={seconds}"]
        for seconds in (ahead, -ahead)
    ]


def assert_clocks_differed(snapshot: str) -> None:
    """Tasks have run by both clocks of `clocks`."""
    run = ringwalk.open_snapshot(snapshot).info["run"]
    assert run["end_ns"] - run["start_ns"] > 5 * DAY * 10**9


@contextlib.contextmanager
def dask(folder: pathlib.Path, before=((), ()), tls=()):
    """A scheduler and its workers, each with the words before its command. Gives the address and
    the processes: the scheduler first. `tls` are Dask's options for keys and certificates.
    """
    pytest.importorskip("distributed", reason="Dask is not installed")
    folder.mkdir(exist_ok=True)
    description = folder / "scheduler.json"
    options = {"env": environment(), "cwd": folder}
    quiet = ["--no-dashboard", "--scheduler-file", description, *tls]
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(open(folder / "log", "wb"))
        options |= {"stdout": log, "stderr": log}

        def start(*arguments, before=()):
            module = "distributed.cli.dask_" + arguments[0]
            command = [*before, sys.executable, "-m", module, *arguments[1:]]
            return stack.enter_context(started(list(map(str, command)), **options))

        protocol = ["--protocol", "tls"] if tls else []
        found = [start("scheduler", "--host", "127.0.0.1", "--port", "0", *protocol, *quiet)]
        for words in before:
            found.append(start("worker", "--nthreads", "1", *quiet, before=words))
        if tls:
            # The driver itself waits for the first worker.
            assert wait_until(lambda: description.exists() and description.read_text())
            yield json.loads(description.read_text())["address"], found
            return
        client = stack.enter_context(connected(description))
        client.wait_for_workers(len(before), timeout=100)
        address = client.scheduler.address
        client.close()
        yield address.replace("tcp://", "dask://"), found


def certificate(folder: pathlib.Path) -> list[str]:
    """Makes a key and a certificate that is its own authority. Returns Dask's options for them.
    Skips the test without `openssl`.
    """
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    words = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -keyout key.pem -out cert.pem"
    subprocess.run(words.split(), cwd=folder, check=True, capture_output=True)
    shutil.copy(folder / "cert.pem", folder / "ca.pem")
    return ["--tls-ca-file", "ca.pem", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]


def documented(name: str) -> str:
    """The example in Python of `docs/scale-out.md` that has this text."""
    text = (pathlib.Path(__file__).parents[3] / "docs" / "scale-out.md").read_text()
    examples = [each.partition("```")[0] for each in text.split("```python\n")[1:]]
    (found,) = (each for each in examples if name in each)
    return found


def connected(description: pathlib.Path):
    """A client of the scheduler, as soon as it has written its address."""
    from distributed import Client

    assert wait_until(description.exists)
    return Client(scheduler_file=str(description), timeout=100)


def mpiexec() -> list[str]:
    """The command that starts three ranks. Skips the test if there is none."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    # That of the package `mpich` lies beside the interpreter.
    beside = pathlib.Path(sys.executable).parent
    program = shutil.which("mpiexec", path=beside) or shutil.which("mpiexec")
    if program is None:
        pytest.skip("there is no mpiexec", allow_module_level=True)
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if "Open MPI" in version or "OpenRTE" in version or "PRTE" in version:
        return [program, "--oversubscribe", "--allow-run-as-root", "-n", "3"]
    return [program, "-n", "3"]
