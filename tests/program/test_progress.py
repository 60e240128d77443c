"""--progress and --explain: their output on standard error."""

from __future__ import annotations

import re
import subprocess
import time

import pytest
from processes import TIMEOUT, finished
from pseudo_terminal import Terminal
from support import strace, trees
from support.run import environment
from support.terminal import talk


@pytest.fixture(scope="module")
def slow(base):
    """Arguments that make the program's directory reads slow: strace holds each for 100 ms."""
    return strace.injecting(base, "getdents64", "delay_enter=100000")


@pytest.fixture(scope="module")
def some_directories(base):
    """Twenty directories: at least 40 reads, so 2 s for two slow workers."""
    top = base / "some-directories"
    trees.make_branching(top, levels=1, children=20)
    return top


def on_a_terminal(args) -> tuple[bytes, bytes, int]:
    """Runs a program whose standard error is a terminal; returns both outputs and the status."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    env = environment({"TERM": "xterm", "COLUMNS": "80"})
    with Terminal() as terminal, terminal.started(args, ["stderr"], env=env, **quiet) as process:
        shown = talk(terminal)
        return process.stdout.read(), shown, process.wait(timeout=TIMEOUT)


# Each with the lines of its answer.
COMMANDS = {("count",): 5, ("du", "-s"): 1}

# Comes before each state of the line: moves to its beginning and erases the line.
ERASE = b"\r\x1b[K"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_long_work_on_a_terminal_shows_progress(programs, slow, some_directories, command):
    args = [*slow, programs / "ringwalk", *command, "--workers", "2", some_directories]
    out, shown, status = on_a_terminal(args)
    assert status == 0
    assert out.count(b"\n") == COMMANDS[command]
    assert b"some-directories" in shown, "the current directory"
    assert b"entries" in shown
    assert b"/s" in shown, "the rate"
    assert shown.endswith(ERASE), "the line is gone in the end"


def test_names_cannot_command_the_terminal(programs, slow, scratch):
    for number in range(10):
        (scratch / f"{number}\x1b[31mred\r\nnext\x07").mkdir()
    args = [*slow, programs / "ringwalk", "count", "--workers", "1", scratch]
    _, shown, status = on_a_terminal(args)
    assert status == 0
    assert b"red" in shown, "the current directory"
    assert not any(byte < 32 for byte in shown.replace(ERASE, b""))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_never_shows_nothing(programs, slow, some_directories, command):
    args = [*slow, programs / "ringwalk", *command, "--progress=never", some_directories]
    _, shown, status = on_a_terminal(args)
    assert (shown, status) == (b"", 0)


def test_short_work_on_a_terminal_shows_nothing(programs, slow, scratch):
    """Two slow reads take 0.2 s. Progress appears after half a second."""
    for _ in range(100):
        begin = time.monotonic()
        _, shown, status = on_a_terminal([*slow, programs / "ringwalk", "count", scratch])
        # A run that took longer on a busy machine proves nothing.
        if time.monotonic() - begin < 0.5:
            assert (shown, status) == (b"", 0)
            return
    pytest.skip("every run took half a second: this machine has too much else to do")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_auto_shows_nothing_in_a_file(programs, slow, some_directories, command):
    args = [*slow, programs / "ringwalk", *command, "--progress", "auto", some_directories]
    done = finished(args, capture_output=True, env=environment(), check=True)
    assert done.stderr == b""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_always_shows_it_in_a_file_too(programs, slow, some_directories, command):
    args = [*slow, programs / "ringwalk", "--progress", "always", *command, some_directories]
    done = finished(args, capture_output=True, env=environment(), check=True)
    assert b"some-directories" in done.stderr


@pytest.fixture(scope="module")
def saved(programs, some_directories, base):
    """A snapshot of 41 rows."""
    snapshot = base / "some-directories.parquet"
    args = [programs / "ringwalk", "snapshot", some_directories, "-o", snapshot]
    finished(args, capture_output=True, env=environment(), check=True)
    return snapshot


# Work on a snapshot.
ON_ROWS = {
    "export to ncdu": ("export", "{snap}", "--format", "ncdu"),
    "export to csv": ("export", "{snap}", "--format", "csv"),
    "diff": ("diff", "{snap}", "{snap}"),
    "report": ("report", "{snap}", "--by", "owner"),
}


@pytest.mark.parametrize("words", ON_ROWS.values(), ids=ON_ROWS)
def test_work_on_a_snapshot_shows_its_rows(programs, saved, base, words):
    words = [word.format(snap=saved) for word in words]
    slow = strace.injecting(base, "pread64", "delay_enter=60000", saved)
    out, shown, status = on_a_terminal([*slow, programs / "ringwalk", *words])
    plain = finished([programs / "ringwalk", *words], capture_output=True, env=environment())
    assert (status, out) == (plain.returncode, plain.stdout)
    all_rows = 82 if words[0] == "diff" else 41
    assert re.search(rb"\d+ of %d rows, \d+/s" % all_rows, shown)
    assert shown.endswith(ERASE), "the line is gone in the end"
    never = [*slow, programs / "ringwalk", "--progress=never", *words]
    assert on_a_terminal(never) == (out, b"", status)


def test_an_import_shows_what_it_reads_and_then_what_it_writes(programs, base, scratch):
    tree = scratch / "tree.json"
    names = "".join(f',{{"name":"{number:0200}"}}' for number in range(6000))
    tree.write_text(f'[1,2,{{}},[{{"name":"/t"}}{names}]]')
    args = ["import", tree, "-o", scratch / "out"]
    slow = strace.injecting(base, "read", "delay_enter=100000", tree)
    _, shown, status = on_a_terminal([*slow, programs / "ringwalk", *args])
    assert status == 0
    assert re.search(rb"[1-9]\d* entries, \d+/s", shown)
    slow = strace.injecting(base, "fsync", "delay_enter=1000000")
    _, shown, status = on_a_terminal([*slow, programs / "ringwalk", *args])
    assert status == 0
    assert re.search(rb"\d+ of 6001 rows, \d+/s", shown)


def test_a_snapshot_shows_the_walk_and_then_what_it_writes(
    programs, slow, some_directories, base, scratch
):
    args = ["snapshot", some_directories, "-o", scratch / "out"]
    _, shown, status = on_a_terminal([*slow, programs / "ringwalk", "--workers", "2", *args])
    assert status == 0
    assert b"entries" in shown
    assert b"some-directories" in shown, "the current directory"
    slow_end = strace.injecting(base, "fsync", "delay_enter=1000000")
    _, shown, status = on_a_terminal([*slow_end, programs / "ringwalk", *args])
    assert status == 0
    assert re.search(rb"\d+ of 41 rows, \d+/s", shown)


@pytest.mark.parametrize("position", ("before", "after"))
def test_explain(ringwalk, some_directories, position):
    arguments = {"before": ("--explain", "count"), "after": ("count", "--explain")}[position]
    result = ringwalk(*arguments, "--workers", 2, some_directories)
    plain = ringwalk("count", some_directories).ok()
    assert (result.status, result.out) == (0, plain.out)
    for word in (b"syscall", b"workers"):
        assert word in result.err


def test_explain_of_du(du, some_directories):
    result = du("--explain", "-s", some_directories)
    assert (result.status, result.out) == (0, du("-s", some_directories).ok().out)
    assert b"syscall" in result.err


@pytest.mark.parametrize("source", ("auto", "syscall"))
def test_sources_agree(ringwalk, du, tree, source):
    assert ringwalk("--source", source, "count", tree).ok().out == ringwalk("count", tree).ok().out
    assert du("-a0", "--source", source, tree).ok().out == du("-a0", tree).ok().out
