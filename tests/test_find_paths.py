"""Starting points of every kind, lists of them, deep trees, loops, and directories in the way."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from support import trees
from support.find import (
    LS,
    assert_alike,
    assert_parents_first,
    assert_pinned,
    assert_same,
    messages,
)
from support.run import NOBODY, Program, run

# Root may read everything, so it becomes nobody; another user is kept out as it is.
USER = NOBODY if os.geteuid() == 0 else None
LOCALES = ("C", "C.UTF-8")

STARTS = (
    "",
    ".",
    "./",
    "kinds",
    "kinds/",
    "kinds//",
    "kinds//dir///",
    ".//kinds",
    "./kinds/../links",
    "kinds/file",
    "kinds/file/",
    "kinds/to-file",
    "kinds/to-file/",
    "kinds/to-dir",
    "kinds/to-dir/",
    "kinds/dangling",
    "kinds/dangling/",
    "kinds/self",
    "kinds/through",
    "kinds/fifo kinds/socket kinds/char kinds/block",
    "missing",
    "missing/below",
    "kinds/missing kinds",
    "kinds missing links missing2",
    "kinds kinds",
    "kinds kinds/dir kinds/dir/inside",
    "./-",
    "names/-x names/-depth",
    "./names/!",
    "names/(",
    "-- kinds",
    "-- missing",
    "-P kinds",
    "-H kinds/to-dir",
    "-L kinds/to-dir kinds/dangling kinds/self",
    "-H kinds/to-dir kinds/dangling kinds/self missing",
    "-P -H -L kinds/to-dir",
    "-O2 kinds",
    "-O0 -L kinds",
    "-L -- links",
    "-D nonsense kinds",
    "-P -- -x",
    "..",
)


@pytest.fixture
def here(menagerie):
    return {"cwd": menagerie}


@pytest.mark.parametrize("start", STARTS)
def test_starting_points(find, gnu_find, here, start):
    for expression in ([], ["-type", "d"], ["-depth"]):
        assert_same(find, gnu_find, *start.split(), *expression, **here)
    args = (*start.split(), "-maxdepth", 1, "-print0")
    assert_same(find, gnu_find, *args, separator=b"\0", **here)


@pytest.mark.parametrize("name", ["", "n" * 256, "a\nb", "it's", "\udcff", "é", "\x1b[31m", "a b"])
@pytest.mark.parametrize("locale", LOCALES)
def test_messages_about_starting_points(find, gnu_find, here, name, locale):
    env = {"LC_ALL": locale}
    assert_same(find, gnu_find, f"./{name}x", "kinds/file", env=env, **here)
    assert_same(find, gnu_find, name, "kinds/file", env=env, **here)
    assert_same(find, gnu_find, "kinds/file", name, "-type", "f", env=env, **here)


def test_the_root_directory(find, gnu_find):
    for start in ("/", "//", "///", "/.", "/../"):
        assert_same(find, gnu_find, start, "-maxdepth", 1)
        assert_same(
            find, gnu_find, start, "-maxdepth", 1, "-name", "/", "-printf", "%p|%f|%h|%P\\n"
        )
        assert_same(find, gnu_find, start, "-maxdepth", 1, "-name", "etc", "-ls", separator=LS)
        assert_same(find, gnu_find, start, "-maxdepth", 1, "-path", "/etc")


LISTS = (
    b"",
    b"kinds\0",
    b"kinds",
    b"kinds\0links\0",
    b"kinds\0links",
    b"\0",
    b"kinds\0\0links\0",
    b"\0\0",
    b"missing\0kinds\0missing2\0",
    b"kinds\nlinks\n",
    b"names/-x\0-x\0",
    b"names/new\nline\0",
    b"kinds/to-dir\0kinds/file\0",
    b"!\0(\0",
    b"names/\xff\xfe\0",
)


@pytest.mark.parametrize("content", LISTS, ids=repr)
def test_lists_of_starting_points(find, gnu_find, here, scratch, content):
    (scratch / "list").write_bytes(content)
    for expression in ([], ["-maxdepth", 0], ["-name", "f*"]):
        args = ("-files0-from", scratch / "list", *expression)
        assert_same(find, gnu_find, *args, **here)
        assert_same(find, gnu_find, "-files0-from", "-", *expression, stdin=content, **here)
    args = ("-H", "-files0-from", scratch / "list", "-type", "f", "-print0")
    assert_same(find, gnu_find, *args, separator=b"\0", **here)


WRONG_LISTS = (
    "-files0-from missing",
    "-files0-from kinds/dir",
    "-files0-from kinds/dangling",
    "-files0-from",
    "kinds -files0-from list",
    "kinds -files0-from -",
    "-files0-from list -files0-from list",
    "-files0-from list -files0-from missing",
    "-files0-from list -ok true ;",
    "-name x -files0-from list",
    "-files0-from kinds/empty",
    "-files0-from /dev/null -print",
    "-files0-from /dev/stdin -print",
)


@pytest.mark.parametrize("line", WRONG_LISTS)
def test_lists_that_cannot_be_used(find, gnu_find, menagerie, scratch, line):
    (scratch / "list").write_bytes(b"kinds/file\0")
    (scratch / "kinds").symlink_to(menagerie / "kinds")
    args = line.split()
    assert_same(find, gnu_find, *args, cwd=scratch, stdin=b"kinds/empty\0")


INPUT = "option -files0-from reading from standard input cannot be combined with -ok, -okdir"
SAME = (
    "option -files0-from: standard input must not refer to the same file "
    "when combined with -ok, -okdir"
)
PINNED_LISTS = {
    "-files0-from - -ok true ;": [INPUT],
    "-files0-from - -okdir true ;": [INPUT],
    "-ok true ; -files0-from list -files0-from -": [INPUT],
    "-files0-from /dev/stdin -ok true ;": [f"{SAME}: ‘/dev/stdin’"],
    "-files0-from missing -ok true ;": [
        "cannot open ‘missing’ for reading: No such file or directory"
    ],
    "kinds -files0-from missing -okdir true ;": [
        "extra operand ‘kinds’",
        "file operands cannot be combined with -files0-from",
    ],
    "-files0-from kinds -okdir true ;": ["‘kinds’: read error: Is a directory"],
    # The option is no test, so no operator may follow it.
    "-files0-from list -o -true": [
        "invalid expression; you have used a binary operator '-o' with nothing before it."
    ],
    "-files0-from list )": [
        "invalid expression: expected expression before closing parentheses ')'."
    ],
}


@pytest.mark.parametrize("line", PINNED_LISTS)
def test_messages_about_lists(find, gnu_find, menagerie, scratch, line):
    (scratch / "list").write_bytes(b"kinds/file\0")
    (scratch / "kinds").symlink_to(menagerie / "kinds")
    here = {"cwd": scratch, "env": {"LC_ALL": "C.UTF-8"}}
    assert_pinned(find, gnu_find, *line.split(), told=PINNED_LISTS[line], status=1, **here)


@pytest.mark.parametrize("program", ("find", "du"))
def test_a_list_from_a_closed_standard_input(programs, scratch, program):
    """It cannot be read: the answer is not that of an empty list."""
    option = "-files0-from -" if program == "find" else "--files0-from=-"
    command = f'exec "$0" {option} <&-'
    result = run(["sh", "-c", command, programs / program], cwd=scratch)
    assert result.status == 1 and result.out == b"", result
    assert result.err.endswith(b": read error: Bad file descriptor\n"), result


def test_a_long_list(find, gnu_find, tree):
    found = gnu_find(tree, "-print0").out
    args = ("-files0-from", "-", "-maxdepth", 0, "-printf", "%p %H %P %d %h %f\\0")
    result = assert_same(find, gnu_find, *args, separator=b"\0", stdin=found)
    assert result.out.count(b"\0") > 300


def test_paths_beyond_what_the_kernel_takes(find, gnu_find, scratch):
    """Twenty kilobytes of path: every name is still there and can be asked about."""
    with trees.deep_tree(scratch / "deep", 100, b"d" * 200):
        for expression in (
            ["-printf", "%d %s %n %y %P\\n"],
            ["-depth", "-type", "d", "-printf", "%d\\n"],
            ["-empty"],
            ["-name", "d*", "-links", 2, "-printf", "%d\\n"],
            ["-perm", "-u=rwx", "-newermt", "yesterday", "-printf", "%d %m\\n"],
            ["-mindepth", 95],
            ["-readable", "-printf", "%d\\n"],
        ):
            result = assert_same(find, gnu_find, "deep", *expression, cwd=scratch)
            assert result.ok().out
        lines = find("deep", cwd=scratch).ok().lines()
        assert len(lines) == 101 and max(map(len, lines)) > 20000


def test_hundreds_of_levels(find, gnu_find, scratch):
    with trees.deep_tree(scratch / "deep", 3000):
        for nofile in (None, 20):
            result = assert_same(
                find, gnu_find, "deep", "-printf", "%d\n", cwd=scratch, nofile=nofile
            )
            assert len(result.lines()) == 3001


def test_loops(find, gnu_find, scratch):
    """Links to directories above are reported once each, and not entered."""
    (scratch / "a" / "b" / "c").mkdir(parents=True)
    (scratch / "a" / "b" / "c" / "top").symlink_to(scratch / "a")
    (scratch / "a" / "b" / "up").symlink_to("..")
    (scratch / "a" / "b" / "self").symlink_to("self")
    (scratch / "a" / "here").symlink_to(".")
    (scratch / "a" / "b" / "c" / "file").touch()
    (scratch / "to-a").symlink_to("a")
    for locale in LOCALES:
        for tops in (["a"], ["."], ["to-a"], ["a/b"], ["a/here"], [scratch / "a"]):
            for follow in ("-L", "-H", "-P"):
                for expression in ([], ["-type", "d"], ["-type", "l"], ["-depth"], ["-name", "u*"]):
                    env = {"LC_ALL": locale}
                    args = (follow, *tops, *expression)
                    result = assert_same(find, gnu_find, *args, cwd=scratch, env=env)
    result = find("-L", "a", cwd=scratch)
    assert result.status == 1 and b"File system loop detected" in result.err


@pytest.fixture(scope="module")
def closed(base):
    """A tree with a directory closed to reading, one closed to searching, one closed at all."""
    top = base / "find-closed"
    for path in ("open/a", "unreadable/hidden", "unsearchable/a", "shut", "open/shut"):
        (top / path).mkdir(parents=True)
    for path in ("open/a", "open", "unreadable", "unreadable/hidden", "unsearchable"):
        for number in range(3):
            (top / path / f"file{number}").write_bytes(b"x" * 5000)
        (top / path / "link").symlink_to("file0")
    top.chmod(0o755)
    modes = {"unreadable": 0o311, "unsearchable": 0o444, "shut": 0, "open/shut": 0}
    for path, mode in modes.items():
        (top / path).chmod(mode)
    yield top
    for path in modes:
        (top / path).chmod(0o755)


UNASKED = ("-maxdepth 1", "-type d ! -readable -prune -o -type f -print")


@pytest.mark.parametrize(
    "expression",
    (
        "-true",
        "-name file*",
        "-depth",
        "-maxdepth 1",
        "-prune",
        "-name shut -prune -o -print",
        "-type d ! -readable -prune -o -type f -print",
        "-empty",
        "-exec echo {} ;",
        "-size +1 -o -size -2",
        "-ignore_readdir_race",
        "-name shut -quit",
        "-path */open/*",
    ),
)
@pytest.mark.parametrize("locale", LOCALES)
def test_directories_that_may_not_be_read(find, gnu_find, closed, expression, locale):
    options = {"uid": USER, "cwd": closed, "env": {"LC_ALL": locale}}
    for tops in (["."], ["unreadable", "shut", "open"], ["unreadable/hidden", "unsearchable"]):
        if expression == "-name shut -quit" and "shut" not in tops:
            continue
        expected = gnu_find(*tops, *expression.split(), **options)
        result = find(*tops, *expression.split(), **options)
        if expression in UNASKED and result.err != expected.err:
            # GNU find asks for the metadata of every directory; here nobody needs it.
            told = set(messages(expected)) - set(messages(result))
            assert {text.strip("‘'.").partition("a")[0] for text in told} <= {"/unse", "unse"}
            expected = replace(expected, err=result.err, status=result.status)
        assert_alike(expected, result)
        assert "-prune" in expression or "max" in expression or result.status in (0, 1)


@pytest.mark.parametrize("follow", ("-P", "-L", "-H"))
def test_what_may_not_be_looked_at(find, gnu_find, closed, follow):
    """Names in a directory that can be read but not searched: nothing else can be learnt."""
    for expression in ("-size 1", "-links 1 -print", "-perm 644", "-newermt yesterday"):
        args = (follow, "unsearchable", *expression.split())
        result = assert_same(find, gnu_find, *args, cwd=closed, uid=USER)
        assert result.status == 1 and messages(result)


def test_a_current_directory_that_may_not_be_read(find, gnu_find, closed):
    for start in (".", "hidden", "hidden/file0"):
        assert_same(find, gnu_find, start, cwd=closed / "unreadable", uid=USER)
        assert_same(find, gnu_find, start, "-type", "f", cwd=closed / "unreadable", uid=USER)


def test_a_current_directory_that_is_gone(programs, gnu_find, scratch):
    (scratch / "tree").mkdir()
    (scratch / "tree" / "file").touch()
    results = []
    for program in (programs / "find", "find"):
        (scratch / "gone").mkdir()
        shell = Program("sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", program)
        results.append(shell(scratch / "tree", "-type", "f", cwd=scratch / "gone"))
    assert results[0].ok().out == results[1].ok().out


def test_files_that_are_no_text(find, gnu_find, tree):
    """Every byte in names, as it is: to a pipe nothing is quoted."""
    for args in (["-print0"], ["-print"], ["-type", "f", "-print0"]):
        separator = b"\n" if "-print" in args else b"\0"
        result = assert_same(find, gnu_find, tree, *args, separator=separator)
        assert any(byte in result.out for byte in b"\x01\xff\x80")


def test_parents_come_first(find, text_tree):
    for workers in ("1", "2", "8"):
        env = {"RINGWALK_WORKERS": workers}
        assert_parents_first(find(text_tree, env=env).ok().lines())
        lines = find(text_tree, "-links", "+0", "-print", env=env).ok().lines()
        assert len(lines) > 200
        assert_parents_first(lines)
