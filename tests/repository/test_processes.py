"""Processes of a program that a test has started, and the modules that start programs."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import TIMEOUT, end, finished, started
from support import ROOT

# A shell, its child and its grandchild. The grandchild ignores the signals that it can ignore. Each
# prints its number and waits for a FIFO that no process opens.
FAMILY = """
trap '' HUP INT TERM
sh -c 'echo $$; (cat gate & echo $!; wait); wait' &
echo $$
wait
"""


@pytest.fixture
def folder(scratch):
    os.mkfifo(scratch / "gate")
    return scratch


def is_running(number: int) -> bool:
    """Returns true if a process exists and is no zombie."""
    try:
        status = Path(f"/proc/{number}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def are_gone(*numbers: int) -> bool:
    """Waits for ended processes; returns true if all are gone. Their files close earlier."""
    begin = time.monotonic()
    while any(map(is_running, numbers)):
        if time.monotonic() - begin > TIMEOUT:
            return False
        time.sleep(0.01)
    return True


def end_of(reader: int) -> bytes:
    """Returns the bytes of a pipe until every process has closed its other end."""
    with open(reader, "rb") as pipe:
        return pipe.read()


def family(folder: Path, **options):
    """Starts a family and returns its numbers. Each member holds a pipe open."""
    reader, writer = os.pipe()
    process = started(
        ["sh", "-c", FAMILY], cwd=folder, stdout=subprocess.PIPE, pass_fds=(writer,), **options
    )
    return process, reader, writer


def test_nothing_is_left_at_the_end_of_the_block(folder):
    block, reader, writer = family(folder)
    with block as process:
        os.close(writer)
        members = [int(process.stdout.readline()) for _ in range(3)]
        assert len(set(members)) == 3 and all(map(is_running, members))
    assert end_of(reader) == b"" and are_gone(*members)
    assert process.returncode == -9


def test_nothing_is_left_of_a_program_that_ended_before_its_children(folder):
    """The program has ended, and a child keeps its output open."""
    reader, writer = os.pipe()
    command = ["sh", "-c", "cat gate & echo $!"]
    with pytest.raises(subprocess.TimeoutExpired) as expired:
        finished(command, cwd=folder, capture_output=True, pass_fds=(writer,), timeout=0.5)
    os.close(writer)
    assert end_of(reader) == b""
    assert expired.value.output and are_gone(int(expired.value.output))


def test_nothing_is_left_when_the_time_has_passed(folder):
    reader, writer = os.pipe()
    with pytest.raises(subprocess.TimeoutExpired):
        finished(["sh", "-c", FAMILY], cwd=folder, pass_fds=(writer,), timeout=0.5)
    os.close(writer)
    assert end_of(reader) == b""


@pytest.mark.smoke
def test_a_program_that_ends_by_itself(folder):
    done = finished(["sh", "-c", "cat; echo said >&2; exit 3"], input=b"given", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"given", b"said\n")
    with pytest.raises(subprocess.CalledProcessError):
        finished(["false"], check=True)
    with started(["true"]) as process:
        assert process.wait(TIMEOUT) == 0
    end(process)
    assert process.returncode == 0


def calls(tree: ast.AST):
    """Yields the calls of functions of the module `subprocess`, with the function's name."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "subprocess"
        ):
            yield node.func.attr, node


def test_who_limits_the_time_of_a_program_ends_all_of_it():
    """Only `processes.py` calls them, for all tests.

    `hanging.py` is itself a program that a test starts, and its child belongs to its group.
    """
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "crates/ringwalk-python/tests").glob("*.py")]
    assert len(files) > 60
    wrong = []
    for file in files:
        if file.name == "hanging.py":
            continue
        for name, call in calls(ast.parse(file.read_text())):
            limited = any(keyword.arg == "timeout" for keyword in call.keywords)
            if name == "Popen" or limited:
                wrong.append(f"{file.relative_to(ROOT)}:{call.lineno}")
    assert {place.partition(":")[0] for place in wrong} == {"tests/shared/processes.py"}, wrong
    assert sys.modules["processes"].__file__ == str(ROOT / "tests/shared/processes.py")


@pytest.mark.parametrize("before", ("", "trap '' INT;"), ids=("accepted", "ignored"))
def test_interrupts_are_accepted_where_a_shell_ignores_them(before: str):
    program = (
        "import processes, signal; processes.accept_interrupts();"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    script = f"{before} exec {sys.executable} -c '{program}'"
    folder = ROOT / "tests/shared"
    finished(["sh", "-c", script], env={"PYTHONPATH": str(folder)}, check=True)
