"""Standard output that is full, closed, or read only in part."""

from __future__ import annotations

import os

import pytest
from processes import finished
from support import mounts
from support.output import pipe_without_reader, read_one_byte, run_to, run_without_output
from support.run import environment, run
from support.terminal import converse

COMMANDS = (
    ("ringwalk", "count"),
    ("ringwalk", "count", "--format=json"),
    ("ringwalk", "du", "-a"),
    ("ringwalk", "doctor"),
    ("ringwalk", "doctor", "--format=json"),
    ("du", "-s"),
    ("du", "-ab"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_full_disk_is_reported(programs, tree, command):
    with open("/dev/full", "wb") as full:
        result = run_to([programs / command[0], *command[1:], tree], full).sane()
    assert result.status == 1
    assert b"No space left on device" in result.err or b"write error" in result.err
    assert result.err.count(b"\n") == 1, result


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_pipe_closed_before_the_start(programs, tree, command):
    with pipe_without_reader() as writer:
        result = run_to([programs / command[0], *command[1:], tree], writer)
    # SIGPIPE ends the program as it ends any filter, or the program fails without a backtrace.
    assert result.status in (-13, 1), result
    assert b"panicked" not in result.err


@pytest.mark.parametrize("workers", (1, 4))
def test_a_pipe_closed_in_the_middle(programs, tree, workers):
    """`du -a | head -1`: the walk stops when the reader has gone."""
    # The lines of twenty trees are more than a pipe holds.
    args = [programs / "du", "-al", "--explain", "--workers", str(workers), *[tree] * 20]
    status, messages = read_one_byte(args, cpu=10)
    assert status in (-13, 1)
    assert b"panicked" not in messages
    # While a single worker waits to write, nothing is read. Of several workers another may read.
    assert workers > 1 or b"before everything was read" in messages, messages


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_closed_output_is_a_failure(programs, tree, command):
    """A lost answer is an error with a message."""
    result = run_without_output([programs / command[0], *command[1:], tree]).sane()
    assert result.status == 1
    assert b"write error: Bad file descriptor" in result.err


@pytest.mark.smoke
@pytest.mark.parametrize("option", ("--help", "--version"))
@pytest.mark.parametrize("name", ("du", "find", "ringwalk"))
def test_help_to_a_closed_output_is_a_failure(programs, name, option):
    result = run(["sh", "-c", 'exec "$0" "$1" >&-', programs / name, option])
    assert result.status == 1
    assert b"write error: Bad file descriptor" in result.err


def test_all_three_descriptors_closed(programs, tree):
    status = finished(
        ["sh", "-c", 'exec "$0" -s "$1" <&- >&- 2>&-', programs / "du", tree],
        env=environment(),
    ).returncode
    assert status in (0, 1)


def test_paths_do_not_command_the_terminal(programs, scratch):
    """GNU du writes names unchanged. `ringwalk du` does so for files and pipes."""
    name = b"e\x1b]0;x\x07\n\xc2\x9b2J"
    (scratch / os.fsdecode(name)).touch()
    _, shown = converse([programs / "du", "-a", "."], cwd=scratch, env={"LC_ALL": "C.UTF-8"})
    assert b"\t./e?]0;x???2J\n" in shown.replace(b"\xc2", b"?") and b"\x1b" not in shown
    _, shown = converse([programs / "du", "-a0", "."], cwd=scratch)
    assert b"./" + name + b"\0" in shown
    assert name in run([programs / "du", "-a", "."], cwd=scratch).ok().out


def commands(point) -> list[list]:
    """Returns commands that print the file system of `point`, in results and in messages."""
    count = ["ringwalk", "--explain", "--source"]
    return [
        ["ringwalk", "doctor", point],
        ["ringwalk", "--explain", "doctor", point],
        ["ringwalk", "doctor", "--format=json", point],
        *([*count, source, "count", point] for source in ("auto", "ext4", "xfs", "btrfs")),
        ["ringwalk", "--source", "ext4", "du", point],
        ["ringwalk", "--source", "ext4", "find", point],
        ["ringwalk", "--explain", "find", point, "-fstype", "ext4"],
        ["du", "--exclusive", point],
        ["find", "-D", "all", point, "-printf", "%F %p\n"],
        ["find", point, "-ls"],
    ]


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("kind", (mounts.hostile_fuse, mounts.hostile_tmpfs))
def test_file_systems_do_not_command_the_terminal(programs, mount, scratch, kind):
    """The user who mounts a file system chooses its type, source and mount point."""
    point = mount(kind, scratch)
    (point / "file").touch()
    for command in commands(point):
        args = [programs / command[0], *command[1:]]
        _, shown = converse(args, env={"LC_ALL": "C.UTF-8", "RINGWALK_PROGRESS": "never"})
        text = shown.decode()
        controls = [c for c in text if not c.isprintable() and c not in "\n\t"]
        assert shown and not controls, (command, shown)
        # The line break is escaped too, so it begins no line.
        assert b"next" not in [line.strip()[:4] for line in shown.splitlines()], (command, shown)


def test_the_environment_and_words_do_not_command_the_terminal(programs, scratch):
    """Messages that quote variables and arguments."""
    evil = mounts.HOSTILE
    for args, env in (
        (["ringwalk", "count", "."], {"RINGWALK_SOURCE": evil}),
        (["ringwalk", "count", "."], {"RINGWALK_WORKERS": evil}),
        (["ringwalk", "--source", evil, "count"], {}),
        (["ringwalk", evil], {}),
        (["ringwalk", "count", f"--{evil}"], {}),
        (["ringwalk", "count", evil], {}),
        (["ringwalk", "doctor", evil], {}),
        (["du", f"--{evil}"], {}),
        (["du", f"-d{evil}"], {}),
        (["du", f"-B{evil}"], {}),
        (["du", f"-t{evil}"], {}),
        (["du", f"--time={evil}"], {}),
        (["du", "--time", f"--time-style={evil}"], {}),
        (["du", "-X", evil], {}),
        (["du", f"--files0-from={evil}"], {}),
        (["du", evil], {}),
        (["find", evil], {}),
        (["find", ".", f"-{evil}"], {}),
        (["find", ".", "-type", evil], {}),
        (["find", ".", "-size", evil], {}),
        (["find", ".", "-perm", evil], {}),
        (["find", ".", "-user", evil], {}),
        (["find", ".", "-newer", evil], {}),
        (["find", ".", "-newermt", evil], {}),
        (["find", ".", "-regextype", evil], {}),
        (["find", ".", "-regex", f"\\({evil}"], {}),
        (["find", ".", "-fprint", evil + "/x"], {}),
        (["find", ".", "-files0-from", evil], {}),
        (["find", ".", "-D", evil, "-true"], {}),
        (["find", ".", "-D", "all", "-name", evil], {}),
        (["find", ".", "-exec", evil, ";"], {}),
    ):
        _, shown = converse([programs / args[0], *args[1:]], cwd=scratch, env=env)
        text = shown.decode(errors="replace").replace("\x1b[0m", "")
        assert shown and not set(text) & set("\x1b\x07\x7f\x9b"), (args, shown)
