"""Destinations of output, and output that cannot be written."""

from __future__ import annotations

import os
import select
import subprocess

import pytest
from processes import TIMEOUT, started
from support.find import assert_same, difference, messages
from support.output import pipe_without_reader, read_one_byte, run_to, run_without_output
from support.run import NOBODY, environment

ACTIONS = ("-print", "-print0", "-printf %p\\n", "-ls", "-fprint /dev/stdout", "-true")


@pytest.mark.parametrize("action", ACTIONS)
def test_a_full_disk(programs, tree, action):
    with open("/dev/full", "wb") as full:
        result = run_to([programs / "find", tree, *action.split()], full).sane()
    assert result.status == 1
    assert b"No space left on device" in result.err
    # One or two messages, like GNU find's, and not one for each file.
    assert result.err.count(b"\n") <= 2, result


@pytest.mark.parametrize("action", ("-fprint /dev/full", "-fls /dev/full", "-fprintf /dev/full %p"))
def test_a_full_disk_elsewhere(find, tree, action):
    result = find(tree, *action.split()).sane()
    assert result.status == 1
    assert b"No space left on device" in result.err


@pytest.mark.parametrize("action", ACTIONS)
def test_a_closed_output(programs, tree, action):
    """A lost answer is an error with a message."""
    result = run_without_output([programs / "find", tree, *action.split()]).sane()
    assert result.status == 1 and b"Bad file descriptor" in result.err


def test_a_closed_output_that_is_not_needed(programs, tree):
    args = [programs / "find", tree, "-exec", "true", "{}", "+"]
    assert run_without_output(args).sane().status == 0


@pytest.mark.parametrize("action", ACTIONS)
def test_a_pipe_closed_before_the_start(programs, tree, action):
    with pipe_without_reader() as writer:
        result = run_to([programs / "find", tree, *action.split()], writer)
    assert result.status in (-13, 1), result
    assert result.err == b""


@pytest.mark.parametrize("workers", ("1", "4"))
@pytest.mark.parametrize("action", ACTIONS)
def test_a_pipe_closed_in_the_middle(programs, tree, action, workers):
    """`find | head -1`: the search stops without a message when the reader has gone."""
    args = [programs / "find", *[tree] * 30, *action.split()]
    status, reported = read_one_byte(args, cpu=5, env={"RINGWALK_WORKERS": workers})
    assert status in (-13, 1) and reported == b""


def test_a_closed_pipe_runs_no_more_commands(programs, tree, scratch):
    """Once the reader has gone, find runs no more commands for files that it cannot print."""
    # The first command waits until the reader has gone.
    script = 'printf x >> "$0"; test "$(stat -c %s "$0")" != 1 || cat "$1"'
    log, gate = scratch / "log", scratch / "gate"
    os.mkfifo(gate)
    with started(
        [programs / "find", tree, "-print", "-exec", "sh", "-c", script, log, gate, ";"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        assert process.stdout.read(1)
        process.stdout.close()
        gate.write_bytes(b"")
        assert process.wait(timeout=TIMEOUT) in (-13, 1)
    entries = subprocess.run(["find", tree, "-printf", "x"], capture_output=True, check=True).stdout
    assert 0 < log.stat().st_size < len(entries) / 2


@pytest.fixture
def small(scratch):
    for folder in ("a", "b"):
        (scratch / "top" / folder).mkdir(parents=True)
        (scratch / "top" / folder / "file").write_bytes(b"1234")
    (scratch / "ro").mkdir(mode=0o555)
    return scratch


FILES = (
    "-fprint out",
    "-fprint0 out",
    "-fprintf out %p|%s\\n",
    "-fls out",
    "-fprint out -o -fprint out",
    "-fprint out -fprintf out two:%f\\n",
    "-type d -fprint out -o -fprintf out file:%f\\n",
    "-fprint out -fprint other",
    "-fprint out -print",
    "-fprint out -fls out -fprint0 out",
    "-false -fprint out",
    "-name nothing -fprint out",
    "-fprint /dev/stdout",
    "-fprint /dev/stderr",
    "-fprint /dev/stdout -fprint /dev/stderr",
    "-fprintf /dev/stdout %f\\n -print",
    "-fprint /dev/stdout -print0 -fls /dev/stdout",
    "-fprint ./out -fprint out",
    "-fprint /dev/null",
    "-fprint /dev/null -print",
    "-fprint /dev/null -o -print",
    "-fprint ro/out",
    "-fprint missing/out",
    "-fprint top",
    "-fprint out -fprint missing/out",
    "-fprintf out",
    "-fprint",
)


@pytest.mark.parametrize("line", FILES)
def test_files(find, gnu_find, small, line):
    written = []
    for program in (gnu_find, find):
        for name in ("out", "other"):
            (small / name).write_bytes(b"old contents\n" * 100)
        # No output contains access times; sizes of directories do occur.
        result = program("top", *line.split(), cwd=small)
        written.append((result, [(small / name).read_bytes() for name in ("out", "other")]))
    (expected, before), (got, after) = written
    assert (messages(got), got.status) == (messages(expected), expected.status)
    # The lines of several actions on one output may come in another order.
    for one, other in zip([expected.out, *before], [got.out, *after], strict=True):
        pieces = [sorted(text.replace(b"\0", b"\n").split(b"\n")) for text in (one, other)]
        if "missing" in line and got.status == 1:
            # find does nothing; GNU find has emptied the files that come before.
            continue
        assert pieces[0] == pieces[1]


def test_a_file_in_the_tree_itself(find, small):
    """The file that find writes to is listed too, once."""
    find("top", "-fprint", "top/list", cwd=small).ok()
    lines = (small / "top" / "list").read_bytes().splitlines()
    assert sorted(set(lines)) == sorted(lines) and b"top/list" in lines


@pytest.mark.smoke
def test_two_actions_share_a_file(find, tree, scratch):
    """Lines of two actions are in the order of the actions for each file, and whole."""
    for workers in ("1", "8"):
        env = {"RINGWALK_WORKERS": workers}
        line = ("-fprintf", "out", "one %i\\n", "-fprintf", "out", "two %i\\n")
        find(tree, *line, cwd=scratch, env=env).ok()
        lines = (scratch / "out").read_bytes().splitlines()
        assert len(lines) > 600
        for one, two in zip(lines[::2], lines[1::2], strict=True):
            assert one.replace(b"one", b"two") == two


def test_a_file_that_may_not_be_written(find, gnu_find, small, needs_root):
    (small / "kept").write_bytes(b"kept")
    (small / "kept").chmod(0o644)
    result = assert_same(find, gnu_find, "top", "-fprint", "kept", cwd=small, uid=NOBODY)
    assert result.status == 1 and (small / "kept").read_bytes() == b"kept"


def test_files_are_made_even_if_nothing_is_found(find, small):
    find("top", "-name", "nothing", "-fprint", "out", cwd=small).ok()
    assert (small / "out").read_bytes() == b""


def test_output_comes_early(programs, scratch):
    """A waiting reader gets output while the search goes on."""
    (scratch / "top").mkdir()
    (scratch / "top" / "first").touch()
    os.mkfifo(scratch / "never-written")
    line = ["-print", "-name", "first", "-exec", "cat", "never-written", ";"]
    with started(
        [programs / "find", "top", *line], cwd=scratch, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert select.select([process.stdout], [], [], TIMEOUT)[0]
        assert os.read(process.stdout.fileno(), 100).startswith(b"top")
        assert process.poll() is None


@pytest.mark.smoke
def test_appending(programs, gnu_find, small):
    """`find >> file` and `find -fprint /dev/stdout >> file` keep the contents of the file."""
    for line in (["-print"], ["-fprint", "/dev/stdout"]):
        (small / "log").write_bytes(b"before\n")
        with open(small / "log", "ab") as log:
            run_to([programs / "find", small / "top", *line], log).ok()
        lines = (small / "log").read_bytes().splitlines()
        assert lines[0] == b"before" and len(lines) == 6


@pytest.mark.parametrize("workers", ("1", "2", "8"))
@pytest.mark.parametrize(
    "expression",
    (
        "-true",
        "-print0",
        "-type f",
        "-size +1k",
        "-name *a*",
        "-printf %p|%s|%m|%n|%y|%i\\n",
        "-ls",
        "-empty",
        "-depth",
        "-type d -o -printf %f\\n",
        "-exec echo {} ;",
        "-maxdepth 3",
        "-prune",
        "-links +1",
        "-regex .*[0-9].*",
        "-unique",
    ),
)
def test_the_same_for_every_number_of_workers(find, text_tree, expression, workers):
    """Compares sets of whole lines."""
    args = (text_tree, *expression.split())
    one = find(*args, env={"RINGWALK_WORKERS": "1"}).ok()
    got = find(*args, env={"RINGWALK_WORKERS": workers}).ok()
    separator = b"\0" if "print0" in expression else b"\n"
    assert one.out
    if expression == "-unique":
        # The first name of a file is not promised.
        assert len(one.lines()) == len(got.lines())
    else:
        assert not difference(one.lines(separator), got.lines(separator))


def test_lines_longer_than_any_buffer(find, scratch):
    """Lines of a hundred kilobytes from all workers at once: none is cut or mixed."""
    for number in range(40):
        (scratch / f"dir{number}").mkdir()
        for file in range(5):
            (scratch / f"dir{number}" / f"file{file}").touch()
    text = "%f " + "x" * 30_000 + "%f\\n"
    for workers in ("1", "8"):
        lines = find(".", "-printf", text, cwd=scratch, env={"RINGWALK_WORKERS": workers}).lines()
        assert len(lines) == 241
        for line in lines:
            name = line.split(b" ")[0]
            assert line == name + b" " + b"x" * 30_000 + name


@pytest.mark.parametrize("action", ("-delete", "-exec rm {} ;", "-exec rm {} +"))
def test_a_full_disk_under_the_output_ends_nothing_else(find, scratch, action):
    """As with GNU find, a full output does not end the search: all files are removed."""
    for number in range(40):
        (scratch / "tree" / f"{number}").mkdir(parents=True)
        for file in range(25):
            (scratch / "tree" / f"{number}" / f"{file}{'x' * 200}").touch()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*find.first, "tree", "-type", "f", "-print", *action.split()],
            cwd=scratch,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"find: 'standard output': No space left on device\n"
    assert not [path for path in (scratch / "tree").rglob("*") if path.is_file()]


def test_a_file_is_filled_though_the_output_is_full(find, scratch):
    for number in range(3000):
        (scratch / "tree" / f"{number % 30}" / f"{number}{'x' * 100}").mkdir(parents=True)
    with open("/dev/full", "wb") as full:
        args = [*find.first, "tree", "-fprint", "list", "-print"]
        subprocess.run(args, cwd=scratch, stdout=full, stderr=subprocess.DEVNULL, check=False)
    assert len((scratch / "list").read_bytes().splitlines()) == 3031


@pytest.mark.parametrize("other", ("./list", "link", "hard"))
def test_one_file_by_two_names_gets_all_lines(find, gnu_find, scratch, other):
    (scratch / "tree" / "dir").mkdir(parents=True)
    (scratch / "list").touch()
    (scratch / "link").symlink_to("list")
    (scratch / "hard").hardlink_to(scratch / "list")
    contents = []
    for program in (gnu_find, find):
        args = ("tree", "-fprint", "list", "-fprintf", other, "%f longer\\n")
        program(*args, cwd=scratch).ok()
        contents.append((scratch / "list").read_bytes())
    assert contents[0] == contents[1] == b"tree\ntree longer\ntree/dir\ndir longer\n"


def test_files_that_are_no_text(find, gnu_find, tree):
    """Names with every byte go to a pipe unchanged and without quotes."""
    for args in (["-print0"], ["-print"], ["-type", "f", "-print0"]):
        separator = b"\n" if "-print" in args else b"\0"
        result = assert_same(find, gnu_find, tree, *args, separator=separator)
        assert any(byte in result.out for byte in b"\x01\xff\x80")
