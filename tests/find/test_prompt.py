"""-ok and -okdir: questions at a terminal and through pipes, and the effect of answers."""

from __future__ import annotations

import os
import shutil

import pytest
from support.find import assert_same, words
from support.run import Program
from support.terminal import converse


@pytest.fixture
def small(scratch):
    (scratch / "top" / "d").mkdir(parents=True)
    for name in ("one", "two words", "-three"):
        (scratch / "top" / "d" / name).write_bytes(name.encode())
    return scratch


ANSWERS = (
    b"y",
    b"n",
    b"",
    b"yes",
    b"Y",
    b"YES",
    b"yno",
    b"no",
    b"N",
    b" y",
    b"x",
    b"q",
    b"ye s",
    b"j",
)


@pytest.mark.parametrize("answer", ANSWERS, ids=repr)
@pytest.mark.parametrize("locale", ("C", "C.UTF-8"))
def test_answers_through_a_pipe(find, gnu_find, small, answer, locale):
    """The question goes to standard error, the answer comes from standard input."""
    env = {"LC_ALL": locale}
    for action in ("-ok", "-okdir"):
        line = (action, "echo", "ran", "{}", ";", "-print")
        for top in ("top/d/one", "top/d/two words"):
            assert_same(find, gnu_find, top, *line, stdin=answer + b"\n", cwd=small, env=env)
            assert_same(find, gnu_find, top, *line, stdin=answer, cwd=small, env=env)
    assert_same(find, gnu_find, "top/d/one", "-ok", "true", ";", "-o", "-print", cwd=small)


def test_many_questions(find, gnu_find, small):
    """One question a file; after the end of the answers every command is refused."""
    for count in (0, 1, 3, 5):
        line = ("-ok", "true", ";", "-printf", "x\\n")
        expected = gnu_find("top", *line, stdin=b"y\n" * count, cwd=small)
        got = find("top", *line, stdin=b"y\n" * count, cwd=small)
        assert (got.out, got.status) == (expected.out, expected.status)
        assert got.err.count(b"?") == expected.err.count(b"?") == 5


def test_standard_input_of_the_command(find, small):
    """The command's input is empty, as find's manual says, so the command reads no answer.

    GNU find 4.9 closes it.
    """
    for action in ("-ok", "-okdir"):
        line = ("top/d/one", "top/d/-three", action, "cat", ";", "-print")
        got = find(*line, stdin=b"y\ny\nmore\n", cwd=small)
        assert got.out == b"top/d/one\ntop/d/-three\n" and got.status == 0
        assert got.err.count(b"? ") == 2 and b"cat:" not in got.err


COMMANDS = ("echo ran {}", "sh -c 'exit 3'", "no-such-command")


@pytest.mark.parametrize("action", ("-ok", "-okdir"))
@pytest.mark.parametrize("command", COMMANDS)
def test_at_a_terminal(programs, gnu_find, small, action, command):
    """The terminal shows question, answer and output of the command, in this order."""
    line = (action, *words(command), ";", "-print")
    seen = []
    for program in (shutil.which("find"), programs / "find"):
        shown = []
        # One starting point each, as the order of several is not promised.
        for path in ("top/d/one", "top/d/two words"):
            for answer in (b"y", b"n", b""):
                args = (program, path, *(["-nocolor"] if seen else []), *line)
                status, text = converse(args, [answer], cwd=small, env={"TERM": "dumb"})
                if not seen and b"No such file or directory" in text:
                    # GNU find prints a message for a command that cannot run, but has status 0.
                    status = 1
                # A message begins with the name by which the program was called.
                shown.append((status, text.replace(os.fsencode(program), b"find")))
        seen.append(shown)
    assert seen[0] == seen[1]
    assert "ran" not in command or any(b"ran" in text for _, text in seen[1])


def test_answers_of_a_whole_conversation(programs, small):
    """Yes, no, yes: a command that was confirmed runs before the next question."""
    args = (programs / "find", "top/d", "-type", "f", "-ok", "echo", "ran", "{}", ";")
    status, text = converse(args, [b"y", b"n", b"y"], cwd=small)
    assert status == 0
    lines = text.decode().splitlines()
    assert len(lines) == 5, text
    assert lines[1].startswith("ran ") and lines[1][4:] in lines[0]
    assert lines[4].startswith("ran ") and lines[4][4:] in lines[3]


@pytest.mark.parametrize("action", ("-exec", "-execdir"))
@pytest.mark.parametrize("end", ((";",), ("{}", "+")))
def test_the_terminal_is_the_commands(programs, small, action, end):
    """The line of progress covers neither a question nor the output of a slow command."""
    slow = ("sh", "-c", "printf working; sleep 0.8; echo", *end)
    args = (programs / "find", "top", "-maxdepth", "0", action, *slow)
    assert converse(args, cwd=small, env={"TERM": "xterm"}) == (0, b"working\n")


def test_end_of_file_at_the_terminal(programs, small):
    args = (programs / "find", "top/d", "-type", "f", "-ok", "echo", "ran", "{}", ";")
    status, text = converse(args, [], cwd=small)
    assert status == 0 and b"\nran" not in text


def test_closed_standard_input(programs, small):
    shell = Program("sh", "-c", 'exec "$@" <&-', "sh")
    line = ("top/d/one", "-ok", "echo", "ran", "{}", ";")
    expected = shell("find", *line, cwd=small)
    got = shell(programs / "find", *line, cwd=small)
    assert (got.out, got.status) == (expected.out, expected.status)
