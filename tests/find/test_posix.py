"""Command lines to which POSIX.1-2024 and GNU find give different meanings."""

from __future__ import annotations

import os
import stat

import pytest
from support.find import assert_alike, assert_pinned, assert_same
from support.run import run

NAMELESS = ("+w", "+rwx", "=rw", "=", "+X", "+st", "u=rwx,+u", "a+rwx,-w", "a+rw,=r", "g+s,=x")


@pytest.mark.parametrize("mask", (0o000, 0o002, 0o022, 0o077, 0o777), ids=oct)
def test_the_creation_mask_holds_where_a_mode_names_nobody(find, menagerie, scratch, mask):
    """In POSIX.1-2024 the mode is the one that chmod(1) makes of mode 0, under the same mask."""
    top = menagerie / "modes"
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in (top, *top.rglob("*"))}
    file, folder = scratch / "file", scratch / "folder"
    file.touch()
    folder.mkdir()
    for mode in NAMELESS:
        wanted = {}
        for path in (file, folder):
            path.chmod(0)
            run(["chmod", mode, path], umask=mask).sane()
            wanted[path.is_dir()] = stat.S_IMODE(path.stat().st_mode)
        for sign, matches in (
            ("", lambda bits, want: bits == want),
            ("-", lambda bits, want: bits & want == want),
            ("/", lambda bits, want: bits & want or not want),
        ):
            expected = [
                os.fsencode(path)
                for path, bits in modes.items()
                if matches(bits, wanted[path.is_dir() and not path.is_symlink()])
            ]
            result = find(top, "-perm", sign + mode, "-print0", umask=mask)
            assert result.status == 0
            assert sorted(result.lines(b"\0")) == sorted(expected), (sign, mode, wanted)


def test_grouped_options(find, gnu_find, menagerie):
    """POSIX's syntax guidelines allow several options in one word; GNU find knows only one."""
    here = {"cwd": menagerie}
    rest = ("kinds/to-dir", "kinds/pong", "-printf", "%p %y\\n")
    for grouped, apart in (
        ("-HL", "-H -L"),
        ("-LH", "-L -H"),
        ("-HLP", "-H -L -P"),
        ("-PPL -H", "-H"),
        ("-LL -O3 -HP -D exec -LH", "-O3 -H"),
    ):
        expected = gnu_find(*apart.split(), *rest, **here)
        got = find(*grouped.split(), *rest, **here)
        assert assert_alike(expected, got).lines(), grouped
    for word in ("-HLX", "-HD", "-LO3", "-HL-"):
        reported = [f"unknown predicate `{word}'"]
        assert_pinned(find, gnu_find, word, ".", reported=reported, status=1, **here)
    late = find(".", "-HL", **here)
    assert late.status == 1 and b"must stand before the starting points" in late.err, late


@pytest.mark.parametrize("action", ("-exec", "-execdir"))
def test_a_plus_ends_a_command_only_after_braces_alone(find, menagerie, action):
    """Any other plus is an argument, also after a word with more than braces."""
    name = b"kinds/file" if action == "-exec" else b"./file"
    for arguments, expected in (
        ("{}+ + ;", b"%s+ +"),
        ("+{} + ;", b"+%s +"),
        ("x{} + {} ;", b"x%s + %s"),
        ("{}{} + y ;", b"%s%s + y"),
        ("+ {} +", b"+ %s"),
        ("+ + {} + -name file -exec true {}x + ;", b"+ + %s"),
    ):
        line = ["kinds/file", action, "echo", *arguments.split()]
        result = find(*line, cwd=menagerie).ok()
        assert result.lines() == [expected.replace(b"%s", name)], arguments


@pytest.mark.parametrize("action", ("-exec", "-execdir"))
def test_what_is_no_command_with_plus(find, gnu_find, menagerie, action):
    """Braces in more than one word have no meaning in POSIX either."""
    for arguments in ("{}+ {} +", "{} {} +", "x{} +", "{}x + y", "+", "", "{} + +"):
        assert_same(find, gnu_find, "kinds/file", action, "echo", *arguments.split(), cwd=menagerie)
    several = f"Only one instance of {{}} is supported with {action} ... +"
    endless = f"missing argument to `{action}'"
    for arguments, message in (("x{} + {} +", several), ("{} x{} +", endless)):
        line = ("kinds/file", action, "echo", *arguments.split())
        assert_pinned(find, gnu_find, *line, reported=[message], status=1, cwd=menagerie)
