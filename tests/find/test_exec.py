"""-exec and -execdir with `;` and `+`: commands, arguments, directories, order and results."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from processes import finished
from support import trees
from support.find import (
    assert_contents_first,
    assert_parents_first,
    assert_pinned,
    assert_same,
    difference,
    messages,
)
from support.run import NOBODY, Program, environment

# Prints a line with its working directory, then its arguments, one a line.
SHOW = ("sh", "-c", 'printf "run in %s\\n" "${PWD##*/}"; printf "arg %s\\n" "$@"', "sh")


@pytest.fixture
def small(scratch):
    """A few directories and files with ordinary names."""
    for folder in ("a", "a/b", "a/b/c", "d"):
        (scratch / "top" / folder).mkdir(parents=True)
        for name in ("one.c", "two.c", "three", "space name", "-dash", "semi;colon"):
            (scratch / "top" / folder / name).write_bytes(name.encode() + b"\n")
    return scratch


LINES = (
    ["-exec", "echo", "{}", ";"],
    ["-exec", "echo", ";"],
    ["-exec", "echo", "x{}y", "{}{}", "{", "}", ";"],
    ["-exec", "echo", "a b", "", "{}", ";"],
    ["-exec", "echo", "{}", "+"],
    ["-exec", "echo", "fixed", "{}", "+"],
    ["-name", "*.c", "-exec", "cat", "{}", ";"],
    ["-type", "f", "-exec", "cat", "{}", "+"],
    ["-type", "f", "-exec", "grep", "-q", "one", "{}", ";"],
    ["-type", "f", "-exec", "grep", "-q", "one", "{}", ";", "-print"],
    ["-type", "f", "!", "-exec", "grep", "-q", "one", "{}", ";", "-print"],
    ["-exec", "true", ";", "-exec", "false", ";", "-print"],
    ["-exec", "false", ";", "-o", "-print"],
    ["-exec", "false", "{}", "+"],
    ["-exec", "false", "{}", "+", "-print"],
    ["-exec", "sh", "-c", "exit 3", ";"],
    ["-exec", "sh", "-c", "exit 3", "{}", "+"],
    ["-exec", "sh", "-c", "kill -9 $$", ";"],
    ["-exec", "sh", "-c", "kill -9 $$", "{}", "+"],
    ["-exec", "sh", "-c", "kill -TERM $$", ";", "-print"],
    ["-name", "one.c", "-exec", "no-such-command", "{}", ";"],
    ["-name", "one.c", "-exec", "no-such-command", "{}", ";", "-o", "-print"],
    ["-exec", "no-such-command", "{}", "+"],
    ["-name", "one.c", "-exec", "./no/such/command", ";"],
    ["-name", "one.c", "-exec", "/dev/null", "{}", ";"],
    ["-name", "one.c", "-exec", "/", "{}", ";"],
    ["-name", "one.c", "-exec", "{}", ";"],
    ["-name", "one.c", "-execdir", "no-such-command", "{}", ";"],
    ["-name", "one.c", "-execdir", "no-such-command", "{}", "+"],
    ["-execdir", "echo", "{}", ";"],
    ["-execdir", "echo", "{}", "x{}x", ";"],
    ["-type", "f", "-execdir", "cat", "{}", ";"],
    ["-type", "f", "-execdir", "cat", "{}", "+"],
    ["-type", "f", "-execdir", "sh", "-c", "exit 3", "{}", "+"],
    ["-type", "f", "-execdir", "sh", "-c", "exit 3", "{}", ";", "-print"],
    ["-exec", "echo", "{}", ";", "-exec", "echo", "again", "{}", "+"],
    ["-exec", "true", "{}", ";", ",", "-exec", "echo", "{}", "+"],
    ["-type", "d", "-exec", "echo", "dir", "{}", "+", "-o", "-exec", "echo", "file", "{}", "+"],
    ["-exec", "echo", "{}", "+", "-name", "*.c", "-print"],
    ["-depth", "-exec", "echo", "{}", ";"],
    ["-maxdepth", "0", "-exec", "echo", "{}", ";"],
    ["-maxdepth", "1", "-execdir", "pwd", ";"],
    ["-name", "nothing", "-exec", "no-such-command", "{}", "+"],
    ["-name", "nothing", "-exec", "no-such-command", "{}", ";"],
    ["-quit", "-exec", "echo", "{}", ";"],
    ["-name", "-dash", "-exec", "cat", "{}", ";"],
    ["-name", "-dash", "-execdir", "cat", "{}", ";"],
    ["-exec", "echo", "{}", "\\;", ";"],
    ["-exec", "echo", "+", "{}", ";"],
    ["-exec", "echo", "{}", "+", ";", "-o", "-true"],
    ["-prune", "-exec", "echo", "{}", ";"],
)


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_same_as_gnu(find, gnu_find, small, line):
    for tops in (["top"], ["./top/a", "top/d/one.c"]):
        # echo with `+` prints all in one line; the words are compared without their order.
        expected, got = gnu_find(*tops, *line, cwd=small), find(*tops, *line, cwd=small)
        assert not difference(expected.out.split(), got.out.split())
        if "+" not in line:
            assert not difference(expected.lines(), got.lines())
        assert sorted(got.err.replace(b"ringwalk ", b"").splitlines()) == sorted(
            expected.err.splitlines()
        )
        assert got.status == expected.status


@pytest.mark.parametrize("command", ("{} ;", "./x{} {} ;", "{} {} +", "{}"))
def test_no_name_decides_which_program_runs(find, gnu_find, small, command):
    """-exec may run a file; its name is a whole path."""
    message = (
        "You may not use {} within the utility name for -execdir and -okdir, because this is a "
        "potential security problem."
    )
    for action in ("-execdir", "-okdir"):
        line = ["top", "-name", "one.c", action, *command.split()]
        assert_pinned(find, gnu_find, *line, reported=[message], status=1, cwd=small)


@pytest.mark.smoke
@pytest.mark.parametrize("action", ("-exec", "-execdir"))
@pytest.mark.parametrize("end", (";", "+"))
def test_arguments_and_directories(find, gnu_find, small, action, end):
    """`-execdir … +` runs commands for each directory."""
    for start in ("top", "./top/", str(small / "top"), "top/a/b/one.c", "."):
        args = (start, action, *SHOW, "{}", end)
        if end == ";":
            assert_same(find, gnu_find, *args, cwd=small)
        # The number of commands is not promised; the directory of each argument is.
        expected, got = gnu_find(*args, cwd=small).ok(), find(*args, cwd=small).ok()
        assert not difference(arguments(expected), arguments(got))


def arguments(result) -> list[bytes]:
    """Returns the arguments that SHOW printed, each with the directory of its command."""
    pairs, where = [], b""
    for line in result.lines():
        if line.startswith(b"run in "):
            where = line
        else:
            pairs.append(where + b": " + line)
    return pairs


def test_execdir_at_the_root_directory(find, gnu_find):
    for start in ("/", "/dev/null", "//", "/."):
        for end in (";", "+"):
            args = (start, "-maxdepth", 0, "-execdir", *SHOW, "{}", end)
            assert_same(find, gnu_find, *args)


def test_every_byte_reaches_the_command(find, tree):
    expected = sorted(find(tree, "-print0").ok().out.split(b"\0"))
    for end in (";", "+"):
        got = find(tree, "-exec", "printf", "%s\\0", "{}", end).ok().out.split(b"\0")
        assert sorted(got) == expected
    names = sorted(find(tree, "-printf", "./%f\\0").ok().out.split(b"\0"))
    for end in (";", "+"):
        got = find(tree, "-execdir", "printf", "%s\\0", "{}", end).ok().out.split(b"\0")
        assert sorted(got) == names


def test_output_comes_in_the_order_of_the_actions(find, small):
    """Both write to one pipe: find's output for a file comes before that of its command."""
    line = ("-printf", "before %p\\n", "-exec", "echo", "during {}", ";", "-printf", "after %p\\n")
    lines = find("top", *line, cwd=small).ok().lines()
    assert len(lines) == 87
    for before, during, after in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        name = before.removeprefix(b"before ")
        assert (before, during, after) == (b"before " + name, b"during " + name, b"after " + name)
    assert_parents_first([line.removeprefix(b"before ") for line in lines[::3]])


def test_output_of_a_command_with_plus(find, small):
    """find's earlier output comes before the output of the command."""
    result = find("top", "-print", "-exec", "echo", "the command", "{}", "+", cwd=small).ok()
    lines = result.lines()
    assert len(lines) == 30 and lines[-1].startswith(b"the command")


def test_one_command_at_a_time(find, small):
    """Each command ends before the next begins, whatever the number of workers."""
    script = "echo begin; read x < /dev/null; echo middle; echo end"
    for workers in ("1", "4"):
        env = {"RINGWALK_WORKERS": workers}
        result = find("top", "-exec", "sh", "-c", script, ";", cwd=small, env=env)
        assert result.ok().lines() == [b"begin", b"middle", b"end"] * 29


def test_order_of_commands(find, text_tree):
    for depth, check in ((), assert_parents_first), (("-depth",), assert_contents_first):
        lines = find(text_tree, *depth, "-exec", "printf", "%s\\n", "{}", ";").ok().lines()
        assert len(lines) > 200
        check(lines)


def test_commands_may_change_the_tree(find, gnu_find, scratch):
    """New entries may appear or not. A directory that a command has removed is not entered."""
    outcomes = []
    for program in (gnu_find, find):
        trees.make_branching(scratch / "top", levels=4, children=3)
        line = ("-name", "dir1", "-prune", "-exec", "rm", "-r", "{}", ";")
        result = program("top", *line, cwd=scratch).ok()
        assert result.out == b""
        outcomes.append(sorted(path.relative_to(scratch) for path in scratch.rglob("*")))
        program("top", "-depth", "-exec", "rm", "-d", "{}", ";", cwd=scratch).ok()
        assert not (scratch / "top").exists()
    assert outcomes[0] == outcomes[1] and len(outcomes[0]) == 61


def test_a_command_that_removes_what_would_be_entered(find, gnu_find, scratch):
    for program in (gnu_find, find):
        trees.make_branching(scratch / "top", levels=3, children=2)
        result = program("top", "-name", "dir1", "-exec", "rm", "-r", "{}", ";", cwd=scratch)
        assert result.status == 1
        assert result.err.count(b"No such file or directory") >= 1, result
        subprocess.run(["rm", "-r", scratch / "top"], check=True)


def test_standard_input_of_commands(find, gnu_find, small):
    """-exec leaves standard input alone; commands share it."""
    for action in ("-exec", "-execdir"):
        args = ("top/a/one.c", action, "cat", ";")
        assert assert_same(find, gnu_find, *args, cwd=small, stdin=b"typed\n").out == b"typed\n"


PATHS = (".:/usr/bin", "/usr/bin:", ":/usr/bin", "/usr/bin::/bin", "bin:/usr/bin", "/bin:.")


@pytest.mark.parametrize("path", PATHS)
def test_path_with_a_relative_directory(find, small, path):
    """-execdir refuses to run commands if PATH has a relative directory."""
    gnu = Program(shutil.which("find"))
    for action in ("-execdir", "-okdir", "-exec"):
        args = ("top/d", action, "echo", "{}", ";")
        assert_same(find, gnu, *args, cwd=small, env={"PATH": path}, stdin=b"y\n" * 20)
    args = ("top/d", "-name", "nothing", "-execdir", "/bin/echo", "{}", ";")
    assert_same(find, gnu, *args, cwd=small, env={"PATH": path})


def test_a_command_that_may_not_be_run(find, gnu_find, small, needs_root):
    os.chmod(small / "top", 0o755)
    (small / "script").write_text("#!/bin/sh\necho ran\n")
    (small / "script").chmod(0o700)
    for end in (";", "+"):
        args = ("top/d/one.c", "-exec", small / "script", "{}", end)
        result = assert_same(find, gnu_find, *args, cwd=small, uid=NOBODY)
        assert b"Permission denied" in result.err
    (small / "script").write_text("#!/no/such/interpreter\n")
    (small / "script").chmod(0o755)
    for end in (";", "+"):
        assert_same(find, gnu_find, "top/d/one.c", "-exec", small / "script", "{}", end, cwd=small)


@pytest.fixture(scope="module")
def many():
    """A hundred thousand files with long names, in memory: 20 MB of arguments."""
    folder = os.environ.get("RINGWALK_SHM", "/dev/shm")
    if not os.path.isdir(folder):
        pytest.skip("no directory in memory")
    top = os.path.join(folder, f"ringwalk-many-{os.getpid()}")
    os.mkdir(top)
    try:
        for number in range(20):
            os.mkdir(os.path.join(top, str(number)))
            descriptor = os.open(os.path.join(top, str(number)), os.O_RDONLY)
            for file in range(5000):
                os.close(os.open(f"{'n' * 190}{file}", os.O_CREAT, 0o644, dir_fd=descriptor))
            os.close(descriptor)
        yield top
    finally:
        subprocess.run(["rm", "-r", top], check=True)


@pytest.mark.parametrize("action", ("-exec", "-execdir"))
def test_a_hundred_thousand_arguments(find, many, action):
    """Every argument comes exactly once, in as few commands as the system allows."""
    script = 'echo; printf "%s\\n" "$@"'
    result = find(many, "-type", "f", action, "sh", "-c", script, "sh", "{}", "+").ok()
    lines = result.lines()
    paths = [line for line in lines if line]
    assert len(paths) == 100_000
    assert len(set(paths)) == (100_000 if action == "-exec" else 5000)
    assert lines.count(b"") < (20 if action == "-exec" else 45)


@pytest.mark.parametrize("size", (1000, 100_000, 131_000))
def test_a_full_environment(find, many, size):
    """A large environment leaves less room for arguments; none is lost."""
    top = os.path.join(many, "3")
    env = {f"FILL{number}": "x" * size for number in range(12)}
    result = find(top, "-type", "f", "-exec", "printf", "%s\\n", "{}", "+", env=env)
    assert len(set(result.ok().lines())) == 5000


def test_a_small_stack_allows_fewer_arguments(programs, many):
    """The kernel accepts arguments up to a quarter of the stack limit."""
    command = 'ulimit -s 1024; exec "$@"'
    script = 'printf "%s\\n" "$@"'
    args = [programs / "find", os.path.join(many, "5"), "-type", "f"]
    args += ["-exec", "sh", "-c", script, "sh", "{}", "+"]
    done = finished(["sh", "-c", command, "sh", *args], env=environment(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(set(done.stdout.split())) == 5000


def test_quit_runs_what_was_gathered(find, gnu_find, small):
    """-quit ends everything, but names already collected get their command."""
    line = ("top/d/one.c", "-exec", "echo", "{}", "+", "-quit")
    assert assert_same(find, gnu_find, *line, cwd=small).out == b"top/d/one.c\n"
    line = ("top/d/one.c", "top/d/two.c", "-execdir", "echo", "{}", "+", "-quit")
    assert_same(find, gnu_find, *line, cwd=small)
    line = ("top/d/one.c", "top/d/two.c", "-exec", "echo", "{}", ";", "-quit")
    assert_same(find, gnu_find, *line, cwd=small)
    result = find("top", "-type", "f", "-print", "-quit", cwd=small).ok()
    assert len(result.lines()) == 1


def test_a_command_that_lives_on(find, small):
    """find ends although a background child of a command holds the pipe."""
    os.mkfifo(small / "gate")
    process = finished(
        [find.first[0], "top/d/one.c", "-exec", "sh", "-c", "cat gate >&2 & echo done", ";"],
        cwd=small,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        check=True,
    )
    assert process.stdout == b"done\n"
    # The child still waits for this write.
    (small / "gate").write_bytes(b"")


@pytest.mark.parametrize("action", ("-exec", "-execdir", "-ok", "-okdir"))
@pytest.mark.parametrize("end", (";", "+"))
def test_commands_that_cannot_be_run(find, scratch, action, end):
    """A message and status 1; the action is false with `;` and true with `+`."""
    if end == "+" and action.startswith("-ok"):
        pytest.skip("there is no such action")
    top = scratch / "top"
    top.mkdir()
    (top / "file").touch()
    (scratch / "plain").touch()
    (scratch / "script").write_text("#!/no/such/interpreter\n")
    (scratch / "script").chmod(0o755)
    commands = (
        (scratch / "missing", "No such file or directory"),
        ("no-such-command", "No such file or directory"),
        (scratch / "plain", "Permission denied"),
        (scratch / "plain" / "below", "Not a directory"),
        (scratch / "script", "No such file or directory"),
        ("/", "Permission denied"),
    )
    for command, reason in commands:
        args = ("top/file", action, command, "{}", end, "-print")
        result = find(*args, cwd=scratch, stdin=b"y\n")
        assert result.status == 1
        assert messages(result)[-1].endswith(f"'{command}': {reason}"), result
        assert result.lines() == ([b"top/file"] if end == "+" else [])


def test_sorted_with_commands(find, scratch):
    """Commands run for each file in the order in which -s alone prints them."""
    for path in ("b/y", "a/x", "c"):
        (scratch / "tree" / path).mkdir(parents=True)
    result = find("tree", "-s", "-exec", "echo", "{}", ";", cwd=scratch).ok()
    expected = ["tree", "tree/a", "tree/a/x", "tree/b", "tree/b/y", "tree/c"]
    assert [line.decode() for line in result.lines()] == expected


@pytest.mark.parametrize("limit", (5, 6, 8))
def test_execdir_with_few_descriptors(find, scratch, limit):
    """Without a free descriptor for a directory, each of its files gets a command at once."""
    for number in range(6):
        (scratch / "t" / f"d{number}" / "e").mkdir(parents=True)
        (scratch / "t" / f"d{number}" / f"a{number}").touch()
        (scratch / "t" / f"d{number}" / "e" / f"b{number}").touch()
    script = 'for f; do test -e "$f" && echo here || echo elsewhere; done'
    command = ("-type", "f", "-execdir", "sh", "-c", script, "sh", "{}", "+")
    result = find(scratch / "t", *command, nofile=limit).ok()
    assert result.lines() == [b"here"] * 12
