"""The program `ringwalk-cluster`: options, output, exit status, signals."""

import errno
import importlib.metadata
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys

import cluster_model
import pytest
import ringwalk
from cluster_support import Here, expected, failing, program, rows, take
from processes import finished
from ringwalk import _ringwalk, cluster
from ringwalk.cluster import cli, work
from ringwalk.cluster.files import Files
from ringwalk.cluster.progress import Progress


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the program here with the model task: arguments to status, output and messages."""
    monkeypatch.setattr(work, "engine_task", lambda: cluster_model.cluster_task)

    def run(*arguments):
        try:
            status = cli.main(list(map(str, arguments)))
        except SystemExit as ended:
            status = ended.code
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


HERE = ("--engine", "cluster_engines:here")


def test_a_complete_snapshot(run, top, out):
    status, printed, messages = run("snapshot", top, "-o", out, *HERE)
    assert (status, messages) == (0, "")
    assert re.fullmatch(r"complete: \d+ entries in \d+ parts, 0 errors, 0 vanished\n", printed)
    assert rows(out) == expected(top)
    status, printed, _ = run("status", out)
    assert status == 0 and "state: complete\n" in printed and "pending: 0\n" in printed
    status, printed, _ = run("verify", out)
    assert status == 0 and printed.endswith(", 0 damaged\n")


def test_the_directory_of_the_snapshot_does_not_count(run, top, monkeypatch):
    monkeypatch.setattr(work, "engine_task", lambda: _ringwalk.cluster_task)
    entries = expected(top).total()
    printed = run("snapshot", top, "-o", top / "out", *HERE)[1]
    assert printed == f"complete: {entries} entries in 1 parts, 0 errors, 0 vanished\n"


def test_json(run, top, out):
    status, printed, _ = run("snapshot", top, "-o", out, "--json", *HERE)
    *progress, verdict = map(json.loads, printed.splitlines())
    assert status == 0
    assert verdict["event"] == "verdict" and verdict["complete"] is True
    assert verdict["entries"] == sum(expected(top).values())
    assert progress[-1]["event"] == "progress"
    assert progress[-1]["entries"] == verdict["entries"]
    assert {"entries_per_second", "running", "waiting", "workers", "errors", "rest"} < set(
        progress[-1]
    )
    assert json.loads(run("status", out, "--json")[1])["state"] == "complete"
    assert json.loads(run("verify", out, "--json")[1])["damaged"] == []


def test_options_reach_the_task(run, top, out, monkeypatch):
    seen = []

    def task(*given, **named):
        seen.append(named)
        return cluster_model.cluster_task(*given, **named)

    monkeypatch.setattr(work, "engine_task", lambda: task)
    options = (
        "--budget 50ms --workers 3 --in-flight 4 --rate 500 --source syscall --xattrs --atime -x"
    )
    assert run("snapshot", top, "-o", out, *HERE, *options.split())[0] == 0
    first = {
        name: seen[0][name]
        for name in seen[0]
        if name not in ("pieces", "task", "epoch", "attempt")
    }
    assert first == {
        "seconds": 0.05,
        "entries": None,
        "workers": 3,
        "in_flight": 4,
        "entries_per_second": 500,
        "source": "syscall",
        "xattrs": True,
        "atime": True,
        "one_file_system": True,
    }
    status, _, messages = run("snapshot", top, "-o", out, *HERE, "--resume")
    assert status == 2 and "was begun with the option 'xattrs'" in messages


@pytest.mark.parametrize(
    ("options", "limits"),
    [((), (None, 32)), (("--workers", "64"), (64, None)), (("--in-flight", "64"), (None, 64))],
)
def test_a_task_is_kind_to_a_server_by_default(run, top, out, monkeypatch, options, limits):
    seen = []

    def task(*given, **named):
        seen.append((named["workers"], named["in_flight"]))
        return cluster_model.cluster_task(*given, **named)

    monkeypatch.setattr(work, "engine_task", lambda: task)
    assert run("snapshot", top, "-o", out, *HERE, *options)[0] == 0
    assert set(seen) == {limits}


def test_what_is_missing_is_status_1(run, top, out):
    (top / "fail-always").mkdir()
    status, printed, messages = run("snapshot", top, "-o", out, *HERE)
    assert status == 1 and printed.startswith("incomplete: ")
    why = r"task \d+ has failed 3 times: RuntimeError: this always fails"
    wanted = rf"ringwalk-cluster: tasks that were set aside: 1 \({why}\)\n"
    assert re.fullmatch(wanted, messages)
    status = run("status", out)[1]
    assert "state: incomplete" in status
    assert re.search(r"^set aside: task \d+ has failed 3 times", status, re.M)


def test_the_reason_of_a_task_does_not_command_a_terminal(run, top, out):
    task = failing(3, ValueError("\x1b[2J"))
    cluster.snapshot(top, out, engine=Here(), entries=7, task=task)
    printed = run("status", out)[1]
    assert "set aside: task 3 has failed 3 times: ValueError: ?[2J" in printed
    assert "\x1b" not in printed


@pytest.mark.parametrize("term", ["xterm", "dumb", "", None])
def test_a_dumb_terminal_gets_no_escape_sequences(run, top, out, monkeypatch, term):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.delenv("TERM", raising=False)
    if term is not None:
        monkeypatch.setenv("TERM", term)
    status, _, messages = run("snapshot", top, "-o", out, *HERE)
    assert status == 0 and ("\x1b" in messages) == (term == "xterm")


@pytest.mark.parametrize("fails, status", [(0, 0), (3, 1)])
def test_a_snapshot_of_an_incomplete_run_is_status_1(run, top, out, fails, status):
    task = failing(fails, RuntimeError("this always fails"))
    verdict = cluster.snapshot(top, out, engine=Here(), entries=7, task=task)
    assert verdict["complete"] == (not fails)
    single = out.with_name("single")
    found, printed, messages = run("compact", out, "-o", single)
    assert (found, printed, single.exists()) == (status, "", True)
    wanted = rf"ringwalk-cluster: {re.escape(str(single))}: incomplete: \d+ errors\n"
    assert re.fullmatch(wanted if status else "", messages)


def test_a_damaged_part_is_status_1(run, top, out):
    run("snapshot", top, "-o", out, *HERE)
    part = next((out / "parts").iterdir())
    part.write_bytes(b"x")
    status, printed, _ = run("verify", out)
    assert status == 1 and f"damaged: parts/{part.name}: 1 bytes instead of" in printed
    (out / "parts" / "1-1-1.parquet").touch()
    assert "removed: parts/1-1-1.parquet\n" in run("verify", out)[1]
    assert run("snapshot", top, "-o", out, *HERE, "--resume")[0] == 0


def test_a_command_that_fails_at_work_is_status_1(run, top, out, monkeypatch):
    monkeypatch.setattr(work, "engine_task", lambda: _ringwalk.cluster_task)
    assert run("snapshot", top, "-o", out, *HERE)[0] == 0
    nowhere = out.with_name("missing") / "file"
    messages = f"ringwalk-cluster: '{nowhere}': No such file or directory\n"
    assert run("compact", out, "-o", nowhere) == (2, "", messages)

    def fill(*given, **named):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_ringwalk, "cluster_compact", fill)
    status, printed, messages = run("compact", out, "-o", out.with_name("single"))
    assert (status, printed) == (1, "") and "No space left on device" in messages
    orphan = out / "parts" / "9-9-9.parquet"
    orphan.touch()

    def cannot(self, name):
        raise OSError(errno.EIO, os.strerror(errno.EIO), self.path(name))

    monkeypatch.setattr(Files, "remove", cannot)
    status, printed, messages = run("verify", out)
    assert (status, printed) == (1, "") and "Input/output error" in messages


@pytest.mark.parametrize(
    "arguments, why",
    [
        ([], "arguments are required"),
        (["snapshot"], "arguments are required"),
        (["snapshot", "TOP"], "-o/--output"),
        (["snapshot", "TOP", "-o", "NEW", "--budget", "0s"], "is no duration"),
        (["snapshot", "TOP", "-o", "NEW", "--budget", "fast"], "is no duration"),
        (["snapshot", "TOP", "-o", "NEW", "--budget", "9" * 400], "budget=inf: expected"),
        (["snapshot", "TOP", "-o", "NEW", "--processes", "0"], "no number above zero"),
        (["snapshot", "TOP", "-o", "NEW", "--source", "x"], "invalid choice"),
        (["snapshot", "TOP", "-o", "NEW", "--engine", "x"], "unknown engine 'x'"),
        (["snapshot", "TOP", "-o", "OLD"], "exists: give another directory, or --resume"),
        (["snapshot", "nowhere", "-o", "NEW"], "No such file"),
        (["status", "TOP"], "not the directory of a snapshot"),
        (["verify", "TOP"], "not the directory of a snapshot"),
        (["compact", "TOP", "-o", "FILE"], "not the directory of a snapshot"),
        (["snapshot", "TOP", "-o", "NEW", "--workers", "1025"], "from 1 to 1024"),
        (["snapshot", "TOP", "-o", "NEW", "--in-flight", 2**64], "in_flight="),
        (["snapshot", "TOP", "-o", "NEW", "--rate", 2**64], "rate="),
    ],
)
def test_wrong_arguments_are_status_2(run, top, out, arguments, why):
    out.with_name("old").mkdir()
    names = {"TOP": top, "NEW": out, "OLD": out.with_name("old"), "FILE": out.with_name("file")}
    status, printed, messages = run(*(names.get(each, each) for each in arguments))
    assert (status, printed) == (2, "")
    assert why in messages
    assert not out.exists()


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"ringwalk-cluster {ringwalk.__version__}\n", "")


@pytest.mark.parametrize(
    "name, module, extra",
    [("mpi", "mpi4py", "mpi"), ("dask://localhost:1", "distributed", "dask")],
)
def test_an_engine_that_is_not_installed_says_how_to_get_it(
    run, top, out, name, module, extra, monkeypatch
):
    metadata = importlib.metadata.metadata("ringwalk")
    assert extra in metadata.get_all("Provides-Extra")
    wanted = [each for each in metadata.get_all("Requires-Dist") if module in each]
    assert len(wanted) == 1 and f"extra == '{extra}'" in wanted[0]
    monkeypatch.setitem(sys.modules, module, None)
    status, _, messages = run("snapshot", top, "-o", out, "--engine", name)
    assert status == 2 and f"pip install 'ringwalk[{extra}]'" in messages
    assert not out.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_which_can_be_resumed(top, out, number):
    (top / "dir1" / "wait-once").mkdir()
    os.mkfifo(f"{out}-fifo")
    with program("snapshot", top, "-o", out, stderr=subprocess.PIPE) as process:
        # Returns when the task waits.
        with open(f"{out}-fifo", "wb"):
            process.send_signal(number)
            assert b"go on with --resume" in process.communicate()[1]
    assert process.returncode == 128 + number
    assert cluster.status(out)["state"] == "unfinished"
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


def test_a_command_that_is_interrupted_says_so(run, top, monkeypatch):
    def interrupted(directory):
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "verify", interrupted)
    assert run("verify", top) == (130, "", "ringwalk-cluster: interrupted\n")


@pytest.mark.parametrize("arguments", [("status",), ("verify", "--json"), ("snapshot", "--json")])
def test_an_output_that_is_full_is_named(top, out, arguments):
    take([top], out)
    command, *options = arguments
    if command == "snapshot":
        options += [top, "--resume", "-o"]
    # Python holds back what it prints, and tries once more at its end.
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    program = [sys.executable, "-m", "ringwalk.cluster", command, *options, out]
    with open("/dev/full", "w") as full:
        done = finished(program, env=variables, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.stderr == "ringwalk-cluster: 'standard output': No space left on device\n"
    assert done.returncode == 1


@pytest.mark.parametrize("place", ["closed", "/dev/full"])
def test_progress_that_nobody_reads_does_not_end_a_run(top, out, place):
    """As in `ringwalk-cluster snapshot --json ... | head -1`."""
    reader, writer = os.pipe()
    os.close(reader)
    if place != "closed":
        os.close(writer)
        writer = os.open(place, os.O_WRONLY)
    arguments = ("snapshot", "--json", top, "-o", out)
    with program(*arguments, stdout=writer, stderr=subprocess.PIPE, text=True) as process:
        os.close(writer)
        messages = process.communicate()[1]
    assert messages.startswith("ringwalk-cluster: 'standard output': ") and len(messages) < 99
    assert process.returncode == 1
    assert cluster.status(out)["state"] == "complete"


def test_a_terminal_that_has_gone_does_not_end_a_run(top, out):
    class Gone:
        def write(self, text):
            raise OSError(errno.EIO, "Input/output error")

        def fileno(self):
            return given.fileno()

    with open(os.devnull, "wb") as given:
        progress = Progress(Gone(), lines=False)
        assert take([top], out, watch=progress)["complete"]
        progress.end()


def test_a_script_without_a_guard_gets_one_sentence(top, out, tmp_path):
    call = f"cluster.snapshot({str(top)!r}, {str(out)!r}, processes=2)"
    script = tmp_path / "script.py"
    script.write_text(f"from ringwalk import cluster\n{call}\n")
    done = finished([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 1
    # One traceback, that of the script.
    assert done.stderr.count("Traceback") == 1
    sentence = done.stderr.splitlines()[-1]
    assert sentence.endswith("""snapshot: call it below "if __name__ == '__main__':\"""")


def test_messages_that_cannot_be_written_leave_the_status(top, out):
    program = [sys.executable, "-m", "ringwalk.cluster", "status", top]
    with open("/dev/full", "w") as full:
        assert finished(program, stdout=full, stderr=full).returncode == 2


def test_workers_die_with_a_driver_that_is_killed(top, out):
    (top / "dir1" / "wait-once").mkdir()
    os.mkfifo(f"{out}-fifo")
    with program("snapshot", top, "-o", out) as process:
        with open(f"{out}-fifo", "wb") as pipe:
            process.kill()
            process.wait()
            # The worker has the only other end: it is closed by its death, and by nothing else.
            poll = select.poll()
            poll.register(pipe, 0)
            assert poll.poll(100_000)
    assert take([top], out, resume=True)["complete"]
    assert rows(out) == expected(top)


def test_the_program_is_installed(top, out):
    command = [sys.executable, "-m", "ringwalk.cluster", "status", str(top)]
    done = finished(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "not the directory of a snapshot" in done.stderr


@pytest.mark.parametrize(
    "text, seconds", [("10s", 10), ("500ms", 0.5), ("2m", 120), ("1h", 3600), ("1.5", 1.5)]
)
def test_durations(text, seconds):
    assert cli.duration(text) == seconds


def test_sources_are_those_of_a_scan_through_the_vfs():
    stub = pathlib.Path(cluster.__file__).parents[1] / "_ringwalk.pyi"
    literal = re.search(r"^_Source: TypeAlias = Literal\[(.*?)\]$", stub.read_text(), re.M)[1]
    past_the_vfs = {"ext4", "xfs", "btrfs"}
    assert set(re.findall(r'"(\w+)"', literal)) == {*cluster.SOURCES, *past_the_vfs}
    assert not past_the_vfs.intersection(cluster.SOURCES)


def test_a_root_that_is_missing_is_named(run, tmp_path, out):
    missing = tmp_path / "missing"
    status, _, messages = run("snapshot", missing, "-o", out, *HERE)
    assert (status, messages) == (2, f"ringwalk-cluster: '{missing}': No such file or directory\n")
    assert not out.exists()


def test_closed_standard_files(top, out):
    # The processes of the pool have the standard files of the driver.
    script = 'exec "$@" <&- >&- 2>&-'
    arguments = ("snapshot", top, "-o", out, "--processes", "1")
    with program(*arguments, before=("sh", "-c", script, "sh")) as process:
        assert process.wait() == 0
    assert json.loads((out / "verdict.json").read_text())["complete"]


def clock(offset):
    """Returns the command that shifts the clock.

    A command that was killed leaves what it shares. A later one with the same process id would end.
    """
    for left in pathlib.Path("/dev/shm").glob("*faketime_*"):
        if not pathlib.Path("/proc", left.name.rsplit("_", 1)[1]).exists():
            left.unlink(missing_ok=True)
    return ("faketime", "-f", offset)


@pytest.mark.skipif(not shutil.which("faketime"), reason="faketime is not installed")
def test_clocks_may_differ(top, out):
    # Which result counts depends on no clock. An older driver has the later time here.
    (top / "dir1" / "wait-once").mkdir()
    os.mkfifo(f"{out}-fifo")
    arguments = ("snapshot", top, "-o", out, "--processes", "2")
    with program(*arguments, before=clock("+3d")) as process, open(f"{out}-fifo", "wb"):
        # A task waits.
        process.kill()
        process.wait()
    with program(*arguments, "--resume", before=clock("-3d"), stdout=subprocess.PIPE) as process:
        assert b"complete: " in process.communicate()[0]
    assert rows(out) == expected(top)
    assert not cluster.verify(out)["damaged"]
