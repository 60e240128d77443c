"""Standard output that is full, closed, or read only in part."""

from __future__ import annotations

import os
import subprocess
import time

import pytest
from support.run import TIMEOUT, Result, environment

COMMANDS = (
    ("ringwalk", "count"),
    ("ringwalk", "count", "--json"),
    ("ringwalk", "du", "-a"),
    ("ringwalk", "doctor"),
    ("ringwalk", "doctor", "--json"),
    ("du", "-s"),
    ("du", "-ab"),
)


def run_with(programs, command, tree, stdout, before=None) -> Result:
    done = subprocess.run(
        [programs / command[0], *command[1:], tree],
        stdout=stdout,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment(),
        preexec_fn=before,
        timeout=TIMEOUT,
        check=False,
    )
    return Result(command, done.returncode, b"", done.stderr)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_full_disk_is_reported(programs, tree, command):
    with open("/dev/full", "wb") as full:
        result = run_with(programs, command, tree, full).sane()
    assert result.status == 1
    assert b"No space left on device" in result.err or b"write error" in result.err
    assert result.err.count(b"\n") == 1, result


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_pipe_closed_before_the_start(programs, tree, command):
    reader, writer = os.pipe()
    os.close(reader)
    result = run_with(programs, command, tree, writer)
    os.close(writer)
    # Ended by SIGPIPE as any filter is, or with a failure; never with a backtrace.
    assert result.status in (-13, 1), result
    assert b"panicked" not in result.err


@pytest.mark.parametrize("workers", (1, 4))
def test_a_pipe_closed_in_the_middle(programs, tree, workers):
    """`du -a | head -1`: the walk stops when nobody reads any more."""
    # Twenty times the tree is more than a pipe holds.
    process = subprocess.Popen(
        [programs / "du", "-al", "--explain", "--workers", str(workers), *[tree] * 20],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout.read(1)
    process.stdout.close()
    start = time.monotonic()
    status = process.wait(timeout=TIMEOUT)
    assert time.monotonic() - start < 10
    assert status in (-13, 1)
    messages = process.stderr.read()
    process.stderr.close()
    assert b"panicked" not in messages
    # While the only worker waits to write nobody reads on; of several another one may do so.
    assert workers > 1 or b"before everything was read" in messages, messages


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_closed_output_is_a_failure(programs, tree, command):
    """Nothing of the answer may be lost without a word."""
    result = run_with(programs, command, tree, None, before=lambda: os.close(1)).sane()
    assert result.status == 1
    assert b"write error: Bad file descriptor" in result.err


def test_all_three_descriptors_closed(programs, tree):
    status = subprocess.run(
        ["sh", "-c", 'exec "$0" -s "$1" <&- >&- 2>&-', programs / "du", tree],
        env=environment(),
        timeout=TIMEOUT,
        check=False,
    ).returncode
    assert status in (0, 1)
