"""The terminal: taken, given back after every end, refused where it cannot be used."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest
from support import strace, tmux
from support.run import run
from support.terminal import converse

LEAVING = (
    ("q", None, 0),
    ("C-c", None, 0),
    (None, signal.SIGTERM, 128 + signal.SIGTERM),
    (None, signal.SIGHUP, 128 + signal.SIGHUP),
    (None, signal.SIGINT, 128 + signal.SIGINT),
)

# The answer of `echo status $?`. A command that is typed before the shell reads it is shown above
# the prompt, and the answer then stands behind the prompt.
STATUS = "^(?:ready> )?status"


def modes(shell):
    """Returns the modes of the terminal, as stty and tmux know them."""
    shell.type("clear; stty -a; echo end of modes")
    shell.wait_for("^end of modes$")
    flags = ("alternate_on", "cursor_flag", "mouse_any_flag", "keypad_flag", "keypad_cursor_flag")
    stty = shell.text().split("end of modes\n")[0]
    shell.type("clear")
    shell.until(lambda: "end of modes" not in shell.text(), "a clear screen")
    return stty, {flag: shell.ask(flag) for flag in flags}


def program(shell):
    """Returns the process of the browser that the shell has started."""

    def children():
        words = ["pgrep", "-t", shell.ask("pane_tty").removeprefix("/dev/"), "-x", "ringwalk"]
        return subprocess.run(words, capture_output=True, check=False).stdout.split()

    (found,) = shell.until(children, "the browser")
    return int(found)


def start(shell, top):
    shell.type(f"ringwalk browse '{top}'")
    shell.wait("/big", "six.txt", "q quit", without=["reading"])
    shell.still()
    assert shell.ask("alternate_on") == "1"


@pytest.mark.smoke
@pytest.mark.parametrize("key,number,status", LEAVING)
def test_the_terminal_is_given_back(shell, top, key, number, status):
    before = modes(shell)
    start(shell, top)
    if key is None:
        os.kill(program(shell), number)
    else:
        shell.press(key)
    shell.until(lambda: shell.ask("alternate_on") == "0", "the screen of the shell")
    shell.type("echo status $?")
    shell.wait_for(f"{STATUS} {status}$")
    assert modes(shell) == before


def ends_by_panic(shell, before, message):
    """Waits for the message of a panic, on the screen of the shell and not on the browser's."""
    shell.wait(message)
    ended = shell.wait_for(f"{STATUS} ([0-9]+)$")
    assert ended[1] != "0" and shell.ask("alternate_on") == "0"
    assert message in shell.text()
    assert modes(shell) == before


def start_panicking(shell, example):
    # A backtrace would be longer than the screen.
    shell.type(f"RUST_BACKTRACE=0 '{example('panicking')}'; echo status $?")
    shell.wait("/panicking", "q quit")


# C-l draws the whole screen again.
@pytest.mark.parametrize("more", [(), ("C-l",)])
def test_a_panic_of_a_worker(shell, example, more):
    before = modes(shell)
    start_panicking(shell, example)
    shell.press("2", *more)
    ends_by_panic(shell, before, "a panic in a pane")


def test_a_panic_of_the_thread_that_draws(shell, example):
    before = modes(shell)
    start_panicking(shell, example)
    shell.press("1")
    shell.wait("largest files", "? file")
    shell.press("Enter")
    ends_by_panic(shell, before, "a panic on the thread that draws")


def test_quitting_at_a_panic(shell, example):
    """The program may end before the worker begins, but never with a panic and status 0."""
    before = modes(shell)
    start_panicking(shell, example)
    shell.press("2", "C-c")
    ended = shell.wait_for(f"{STATUS} ([0-9]+)$")
    assert ("a panic in a pane" in shell.text()) == (ended[1] != "0")
    assert modes(shell) == before


@pytest.mark.parametrize("covers", ["?", "t", "/", "i", "d"])
def test_a_signal_in_every_mode(shell, top, covers):
    before = modes(shell)
    start(shell, top)
    first = shell.text()
    shell.press(covers)
    shell.until(lambda: shell.text() != first, "a change")
    os.kill(program(shell), signal.SIGTERM)
    shell.until(lambda: shell.ask("alternate_on") == "0", "the screen of the shell")
    shell.type("echo status $?")
    shell.wait_for(f"{STATUS} {128 + signal.SIGTERM}$")
    assert modes(shell) == before and (top / "big").exists()


@pytest.mark.parametrize("how", ["key", "signal"])
def test_stopping_and_going_on(shell, top, how):
    before = modes(shell)
    start(shell, top)
    shell.press("n", "Down")
    shell.wait("by name")
    if how == "key":
        shell.press("C-z")
    else:
        os.kill(program(shell), signal.SIGTSTP)
    shell.wait("ready>", "Stopped", without=["by name"])
    assert modes(shell) == before
    shell.type("fg")
    shell.wait("by name", "/big", "q quit")
    assert shell.ask("alternate_on") == "1"
    shell.press("i")
    shell.wait("Path      six.txt")
    shell.press("q", "q")
    shell.wait("ready>", without=["by name"])
    assert modes(shell) == before


def test_another_size_while_it_is_stopped(shell, top):
    start(shell, top)
    shell.press("C-z")
    shell.wait("Stopped")
    shell.resize(120, 40)
    shell.type("fg")
    shell.wait("q quit", "/big")
    shell.until(lambda: shell.lines()[39].startswith("? keys"), "a footer in the last line")
    shell.press("q")


def test_a_shell_in_the_directory(shell, top):
    start(shell, top)
    shell.press("g", "Enter")
    shell.wait("one.log")
    shell.press("b")
    shell.until(lambda: shell.ask("alternate_on") == "0", "a shell")
    shell.type("pwd; stty -a | grep -ow -e -icanon -e icanon")
    shell.wait_for("^icanon$")
    shell.wait(f"{top}/big")
    shell.type("exit")
    shell.wait("one.log", "q quit")
    assert shell.ask("alternate_on") == "1"
    shell.press("q")
    shell.wait("ready>")


def test_a_terminal_that_goes_between_two_calls(programs, browse, top, scratch):
    """Before the program reads, and after the look whether it is there."""
    late = strace.injecting(scratch, "ppoll", "delay_exit=3000000")
    words = [*late, programs / "ringwalk", "browse", top]
    with tmux.terminal(scratch / "terminal", words, env=browse.env) as made:
        made.wait("six.txt")
        log = scratch / "strace.log"
        made.until(lambda: "(DELAYED)" in log.read_text(), "the first delayed call")
        looking = ["pgrep", "-f", f"^{programs}/ringwalk browse {top}$"]
        assert subprocess.run(looking, capture_output=True, check=False).stdout
        # The program looks at the terminal, and is then late for 3 s again.
        time.sleep(1)
        made.tried("kill-server")

        def is_gone() -> bool:
            return not subprocess.run(looking, capture_output=True, check=False).stdout

        end = time.monotonic() + tmux.LIMIT
        while not is_gone():
            assert time.monotonic() < end, "the program goes on without its terminal"
            time.sleep(0.05)


def test_the_end_of_work_is_shown(shell, top):
    """Without another key: of an export, and of a look at extents."""
    start(shell, top)
    shell.press("e")
    shell.wait("Export to:")
    shell.type(f"{top.parent}/out.ndjson")
    shell.wait("exported to")
    shell.press("x")
    shell.wait("without shared extents")
    shell.press("q")


def test_redrawing(shell, top):
    start(shell, top)
    first = shell.text()
    with open(shell.ask("pane_tty"), "w") as tty:
        tty.write("\x1b[5;1Hwritten by another program\x07")
    shell.wait("written by another program")
    shell.press("C-l")
    shell.until(lambda: shell.text() == first, "the screen as it was")


@pytest.mark.parametrize("term", ["dumb", ""])
def test_terminals_without_a_cursor_are_refused(programs, browse, top, term):
    env = {**browse.env, "TERM": term}
    status, shown = converse([programs / "ringwalk", "browse", top], env=env)
    assert status == 2
    assert b"TERM" in shown and b"--once" in shown and b"\x1b" not in shown


@pytest.mark.parametrize("missing", ["both", "input", "output"])
def test_without_a_terminal(programs, browse, top, missing):
    program, term = programs / "ringwalk", {**browse.env, "TERM": "xterm"}
    if missing == "both":
        done = browse.ringwalk("browse", top, env=term)
        status, shown = done.status, done.err
        assert done.out == b""
    else:
        pipe = {"input": "</dev/null", "output": "| cat >&2; exit ${PIPESTATUS[0]}"}[missing]
        script = f"'{program}' browse '{top}' {pipe}"
        status, shown = converse(["bash", "-c", script], env=term)
    assert status == 2, shown
    assert b"needs a terminal" in shown and b"--once" in shown and b"\x1b" not in shown


def test_once_needs_no_terminal(programs, browse, top):
    env = {**browse.env, "TERM": "dumb", "COLUMNS": "80", "LINES": "24"}
    words = [programs / "ringwalk", "browse", top, "--once", ""]
    piped = run(words, env=env).ok().out
    status, shown = converse(words, env=env)
    assert status == 0 and shown == piped and b"\x1b" not in piped
