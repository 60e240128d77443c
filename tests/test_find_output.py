"""Where output goes, and what happens when it cannot go there."""

from __future__ import annotations

import os
import select
import subprocess

import pytest
from processes import TIMEOUT, finished, started
from support import mounts
from support.find import assert_same, difference, messages
from support.run import NOBODY, Result, environment, limit_cpu, run
from support.terminal import TERMINAL, converse, written

ACTIONS = ("-print", "-print0", "-printf %p\\n", "-ls", "-fprint /dev/stdout", "-true")


def run_with(programs, args, stdout, before=None) -> Result:
    done = finished(
        [programs / "find", *args],
        stdout=stdout,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment(),
        preexec_fn=before,
    )
    return Result(tuple(args), done.returncode, b"", done.stderr)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_full_disk(programs, tree, action):
    with open("/dev/full", "wb") as full:
        result = run_with(programs, [tree, *action.split()], full).sane()
    assert result.status == 1
    assert b"No space left on device" in result.err
    # Said once or twice, as GNU find does, and not for every file.
    assert result.err.count(b"\n") <= 2, result


@pytest.mark.parametrize("action", ("-fprint /dev/full", "-fls /dev/full", "-fprintf /dev/full %p"))
def test_a_full_disk_elsewhere(find, tree, action):
    result = find(tree, *action.split()).sane()
    assert result.status == 1
    assert b"No space left on device" in result.err


@pytest.mark.parametrize("action", ACTIONS)
def test_a_closed_output(programs, tree, action):
    """Nothing of the answer may be lost without a word."""
    result = run_with(programs, [tree, *action.split()], None, lambda: os.close(1)).sane()
    assert result.status == 1 and b"Bad file descriptor" in result.err


def test_a_closed_output_that_is_not_needed(programs, tree):
    args = [tree, "-exec", "true", "{}", "+"]
    assert run_with(programs, args, None, lambda: os.close(1)).sane().status == 0


@pytest.mark.parametrize("action", ACTIONS)
def test_a_pipe_closed_before_the_start(programs, tree, action):
    reader, writer = os.pipe()
    os.close(reader)
    result = run_with(programs, [tree, *action.split()], writer)
    os.close(writer)
    assert result.status in (-13, 1), result
    assert result.err == b""


@pytest.mark.parametrize("workers", ("1", "4"))
@pytest.mark.parametrize("action", ACTIONS)
def test_a_pipe_closed_in_the_middle(programs, tree, action, workers):
    """`find | head -1`: the search stops when nobody reads any more, without a word."""
    with started(
        [programs / "find", *[tree] * 30, *action.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"RINGWALK_WORKERS": workers}),
        preexec_fn=limit_cpu(5),
    ) as process:
        assert process.stdout.read(1)
        process.stdout.close()
        status = process.wait(timeout=TIMEOUT)
        told = process.stderr.read()
    assert status in (-13, 1) and told == b""


def test_a_closed_pipe_runs_no_more_commands(programs, tree, scratch):
    """When the output is gone, nothing more is done to files that nobody will hear of."""
    # The first command waits until the reader is gone.
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
        # The times of access of the tree are in no output; sizes of directories are.
        result = program("top", *line.split(), cwd=small)
        written.append((result, [(small / name).read_bytes() for name in ("out", "other")]))
    (expected, before), (got, after) = written
    assert (messages(got), got.status) == (messages(expected), expected.status)
    # Several actions on one output may come in another order, each line whole.
    for one, other in zip([expected.out, *before], [got.out, *after], strict=True):
        pieces = [sorted(text.replace(b"\0", b"\n").split(b"\n")) for text in (one, other)]
        if "missing" in line and got.status == 1:
            # Nothing was done here, files that came before are empty there.
            continue
        assert pieces[0] == pieces[1]


def test_a_file_in_the_tree_itself(find, small):
    """What is written to is listed too, once."""
    find("top", "-fprint", "top/list", cwd=small).ok()
    lines = (small / "top" / "list").read_bytes().splitlines()
    assert sorted(set(lines)) == sorted(lines) and b"top/list" in lines


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
    """A reader that waits sees what is found although the search goes on."""
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


def test_appending(programs, gnu_find, small):
    """`find >> file` and `find -fprint /dev/stdout >> file` keep what is there."""
    for line in (["-print"], ["-fprint", "/dev/stdout"]):
        (small / "log").write_bytes(b"before\n")
        with open(small / "log", "ab") as log:
            run_with(programs, [small / "top", *line], log).ok()
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
    """As sets of whole lines."""
    args = (text_tree, *expression.split())
    one = find(*args, env={"RINGWALK_WORKERS": "1"}).ok()
    got = find(*args, env={"RINGWALK_WORKERS": workers}).ok()
    separator = b"\0" if "print0" in expression else b"\n"
    assert one.out
    if expression == "-unique":
        # Which name of a file comes first is not promised.
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


@pytest.fixture(scope="module")
def odd_names(base):
    """A directory with every byte in a name, characters that terminals obey, and a link."""
    top = base / "names-at-a-terminal"
    top.mkdir()
    names = [bytes([byte]) + b"Z" for byte in range(1, 256) if byte != ord("/")]
    names += ["é\u0080\u009b2J\u200b\u202e\u2028".encode(), b"\xe2\x82a", b"\x1b]0;x\x07"]
    for name in names:
        with open(os.path.join(os.fsencode(top), name), "wb"):
            pass
    (top / "link").symlink_to("to\x1b\n")
    return top


TO_TERMINALS = ("-fprint", "-fprint0", "-fprintf", "-fls")


@pytest.mark.parametrize("locale", ("C", "C.UTF-8"))
@pytest.mark.parametrize("action", TO_TERMINALS)
def test_a_file_that_is_a_terminal(programs, odd_names, action, locale):
    """As GNU find: names cannot command it, but for those that end with a zero byte."""
    action = [action, TERMINAL, *(["%p|%f|%h|%P|%l|\\033[m\n"] if action == "-fprintf" else [])]
    end = b"\0" if action[0] == "-fprint0" else b"\n"
    seen = [
        sorted(written([program, ".", *action], env={"LC_ALL": locale}, cwd=odd_names).split(end))
        for program in ("/usr/bin/find", programs / "find")
    ]
    assert len(seen[0]) > 250
    assert seen[0] == seen[1]


def test_each_destination_is_asked_whether_it_is_a_terminal(programs, odd_names, scratch):
    """What goes to a file is as it is, though standard output and another file are terminals."""
    words = [".", "-fprint", scratch / "file", "-fprintf", TERMINAL, "%f\n"]
    shown = written([programs / "find", *words], cwd=odd_names)
    expected = run(["/usr/bin/find", ".", "-fprint", scratch / "gnu"], cwd=odd_names).ok()
    assert b"\x1b" not in shown and b"?]0;x?" in shown and expected.out == b""
    assert sorted((scratch / "file").read_bytes()) == sorted((scratch / "gnu").read_bytes())
    converse([programs / "find", ".", "-fprint", scratch / "again", "-print"], cwd=odd_names)
    assert sorted((scratch / "again").read_bytes()) == sorted((scratch / "gnu").read_bytes())


def test_a_question_does_not_command_the_terminal(programs, scratch):
    """GNU find asks with the name as it is."""
    (scratch / "e\x1b]0;x\x07").touch()
    words = [".", "-type", "f", "-ok", "true", "{}", ";"]
    _, shown = converse([programs / "find", *words], [b"y"], cwd=scratch)
    assert b"\x1b" not in shown and b"./e?]0;x?" in shown


@pytest.mark.usefixtures("needs_root")
def test_the_type_of_a_file_system_does_not_command_the_terminal(programs, mount, scratch):
    """The user who mounts a FUSE file system chooses its type."""
    point = mount(mounts.hostile_fuse, scratch)
    command = [programs / "find", point, "-maxdepth", "0"]
    shown = written([*command, "-fprintf", TERMINAL, "%F"])
    assert shown.startswith(b"fuse.t?]0;x?") and b"\x1b" not in shown
    _, shown = converse([*command, "-printf", "%F"])
    assert shown.startswith(b"fuse.t?]0;x?") and b"\x1b" not in shown
    # Programs get it as it is.
    assert run([*command, "-printf", "%F"]).ok().out.startswith(b"fuse.t\x1b]0;x\x07")
