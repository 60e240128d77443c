"""Lists of starting points: -files0-from."""

from __future__ import annotations

import pytest
from support.find import assert_pinned, assert_same
from support.run import run

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


INPUT = "when -ok or -okdir is in use, the option -files0-from cannot also read from standard input"


SAME = (
    f"{INPUT}, but the file (‘/dev/stdin’) used for -files0-from appears to refer to the same "
    "file as the standard input"
)


PINNED_LISTS = {
    "-files0-from - -ok true ;": [INPUT],
    "-files0-from - -okdir true ;": [INPUT],
    "-ok true ; -files0-from list -files0-from -": [INPUT],
    "-files0-from /dev/stdin -ok true ;": [SAME],
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
    assert_pinned(find, gnu_find, *line.split(), reported=PINNED_LISTS[line], status=1, **here)


@pytest.mark.parametrize("program", ("find", "du"))
def test_a_list_from_a_closed_standard_input(programs, scratch, program):
    """A list that cannot be read is an error and no empty list."""
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
