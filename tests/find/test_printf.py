"""-printf with every directive, flag, width and escape, and -ls, against GNU find."""

from __future__ import annotations

import itertools
import os
import subprocess

import pytest
from support import mounts
from support.find import LOCALES, LS, assert_same, messages

DIRECTIVES = "abcdDfFgGhHiklmMnpPsStuUyYZ%"
TIMES = "@aAbBcCdDeFgGhHIjklmMnprRsStTuUVwWxXyYzZ+"
FLAGS = ("", "-", "0", "+", " ", "#", "-0", "+-", " #", "-+ 0#")
WIDTHS = ("", "1", "3", "12", "40", ".0", ".1", ".5", "12.3", "3.12", ".")


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("directive", DIRECTIVES)
def test_directives(find, gnu_find, here, directive, locale):
    """Each directive on every file, with every flag and width in one run on a few."""
    env = {"LC_ALL": locale}
    tops = ("kinds", "owners", "names", "links/", "./links/a/one", "sizes/", "modes")
    args = (*tops, "-printf", f"[%{directive}] %p\\0")
    assert_same(find, gnu_find, *args, separator=b"\0", env=env, **here)
    forms = "|".join(
        f"%{flag}{width}{directive}" for flag, width in itertools.product(FLAGS, WIDTHS)
    )
    tops = ("kinds/file", "kinds/to-file", "owners/1-1", "names/new\nline", "names/\udcff\udcfe")
    args = (*tops, "names/été", "links/a", "-printf", forms + "\\0")
    assert_same(find, gnu_find, *args, separator=b"\0", env=env, **here)


@pytest.mark.parametrize("zone", ("UTC0", "America/New_York", "Europe/Berlin", "XYZ-5:30:15"))
@pytest.mark.parametrize("stamp", "ACT")
def test_times(find, gnu_find, here, stamp, zone):
    env = {"TZ": zone}
    tops = ("times", "kinds/file", "kinds/to-file")
    plain = "\\n".join(f"{letter}: [%{stamp}{letter}]" for letter in TIMES)
    args = (*tops, "-printf", f"%p\\n{plain}\\0")
    assert_same(find, gnu_find, *args, separator=b"\0", env=env, **here)
    assert_same(find, gnu_find, *tops, "-printf", f"[%{stamp.lower()}]\\n", env=env, **here)
    if zone == "UTC0":
        forms = "|".join(
            f"%{form}{stamp}{letter}"
            for letter in "@+cSTkHjZ"
            for form in ("-30", "30", "030", "+", " ", "#", ".3", "-12.5", "0")
        )
        assert_same(find, gnu_find, "times", "-printf", forms + "\\0", separator=b"\0", **here)


def test_times_of_birth(find, scratch):
    """Debian's GNU find prints no times of birth, so stat(1) is the reference."""
    (scratch / "file").touch()
    born = subprocess.run(
        ["stat", "-c", "%W", scratch / "file"], capture_output=True, check=True
    ).stdout.strip()
    if born in (b"0", b"-"):
        pytest.skip("this file system keeps no times of birth")
    out = find(scratch / "file", "-printf", "%B@ %Bs\n").ok().out.split()
    assert [out[0].partition(b".")[0], out[1]] == [born, born]


ESCAPES = ("\\a", "\\b", "\\f", "\\n", "\\r", "\\t", "\\v", "\\\\", "\\0", "\\1", "\\12", "\\123")
ESCAPES += ("\\1234", "\\377", "\\400", "\\777", "\\08", "\\8", "\\q", "\\", "\\x41", "\\e", "\\E")
ESCAPES += ("\\u0041", '\\"', "\\'", "\\ ", "a\\cb", "\\c", "\\cp%p", "\\c\\q", "é\\é")


@pytest.mark.parametrize("escape", ESCAPES)
def test_escapes(find, gnu_find, here, escape):
    assert_same(find, gnu_find, "kinds", "-printf", escape, **here)
    assert_same(find, gnu_find, "kinds/file", "-printf", f"[{escape}]%p|", **here)


ODD = ("%", "%%", "%%%", "100%", "%5", "%-", "%.", "%q", "%e", "%E", "%j", "%o", "%v", "%w", "%x")
ODD += ("%z", "%N", "%A", "%C", "%T", "%L", "%I", "%J", "%{", "%(", "%[", "%é", "% ", "%\n", "%5%")
ODD += ("%-5%|", "%Aq", "%A%", "%A1", "%TE", "%TO", "%TN", "%TP", "%Tf", "%TJ", "%Tq", "%T", "%5T")
ODD += ("%lp", "%hhd", "%*d", "%1$p", "%p%", "", "%p", "plain", "%p\\n%", "%0005d", "%99d", "%.99p")
ODD += (
    "%--5p|",
    "%5-p",
    "%5.5.5p",
    "%1000p",
    "%T\\n",
    "%A ",
    "%Ck%Ck%Ck",
    "%Z",
    "%5Z|",
    "%'s",
    "%'d",
)


@pytest.mark.parametrize("text", ODD)
def test_odd_formats(find, gnu_find, here, text):
    """Warnings, errors, and the output despite them."""
    assert_same(find, gnu_find, "kinds/file", "kinds/dir", "-printf", text, **here)


@pytest.mark.parametrize("locale", LOCALES)
def test_messages_about_formats(find, gnu_find, here, locale):
    for text in ("%é", "\\é", b"%\xff", b"\\\xff", "%q", "\\q"):
        args = ("kinds/file", "-printf", text)
        assert_same(find, gnu_find, *args, env={"LC_ALL": locale}, **here)


STARTS = (
    ".",
    "./",
    ".//",
    "kinds",
    "kinds/",
    "kinds//",
    "./kinds",
    "kinds/../kinds",
    "kinds/dir/..",
)
STARTS += ("kinds/to-dir", "kinds/to-dir/", "kinds/to-dir/.", "/", "//", "/.", "/dev/null", "//dev")
STARTS += (
    "kinds/file",
    "./kinds/file",
    "/etc/hostname",
    "names/-x",
    "..",
    "../",
    "kinds/dir/../..",
)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("follow", ("-P", "-H", "-L"))
def test_parts_of_paths(find, gnu_find, here, start, follow):
    limit = 0 if start.startswith("/") else 2 if start.startswith("..") else 3
    text = "%p|%f|%h|%P|%H|%d|%y|%Y|%l\\0"
    args = (follow, start, "-maxdepth", limit, "-printf", text)
    # Reading the directory above has changed only its own times.
    assert_same(find, gnu_find, *args, separator=b"\0", **here)


@pytest.mark.parametrize("follow", ("-P", "-H", "-L"))
def test_types_and_targets(find, gnu_find, here, follow):
    text = "%p %y %Y %l %m %M %n %s %b %k %S %i %D %u %U %g %G\\0"
    tops = ("kinds", "links", "kinds/to-file", "kinds/dangling", "kinds/self", "kinds/via-dir")
    assert_same(find, gnu_find, follow, *tops, "-printf", text, separator=b"\0", **here)


def test_sparseness(find, gnu_find, here):
    result = assert_same(find, gnu_find, "sizes", "-printf", "%p %s %b %k %S %.3S %9.2S\n", **here)
    assert b"mostly-hole" in result.out


def test_modes_in_letters(find, gnu_find, here):
    assert_same(find, gnu_find, "modes", "kinds", "-printf", "%m %M %#m %5m %05m %p\n", **here)


def test_many_in_one_line(find, gnu_find, tree):
    """A long format over a random tree; several actions share an output without mixing lines."""
    text = "%b %c %d %D %f %F %g %G %h %H %i %k %l %m %M %n %p %P %s %S %t %u %U %y %Y\\0"
    assert_same(find, gnu_find, tree, "-printf", text, separator=b"\0")
    args = (tree, "-printf", "one %p\\0", "-printf", "two %s\\0", "-print0")
    assert_same(find, gnu_find, *args, separator=b"\0")


@pytest.mark.parametrize("command", ("-ls", "-fls /dev/stdout"))
@pytest.mark.parametrize("locale", LOCALES)
def test_ls(find, gnu_find, here, command, locale):
    tops = (".", "kinds/to-file", "kinds/to-dir")
    for follow in ("-P", "-H", "-L"):
        args = (follow, *tops, *command.split())
        assert_same(find, gnu_find, *args, separator=LS, env={"LC_ALL": locale}, **here)
    # A single file, with the widths of columns.
    for name in ("file", "dir", "char", "to-file", "fifo", "long"):
        args = (f"kinds/{name}", "-maxdepth", 0, *command.split())
        assert_same(find, gnu_find, *args, env={"LC_ALL": locale}, **here)


def test_ls_variants(find, gnu_find, here):
    for variables in (
        {"POSIXLY_CORRECT": "1"},
        {"TZ": "America/New_York"},
        {"TZ": "XYZ-13"},
        {"BLOCK_SIZE": "1"},
        {"BLOCKSIZE": "512"},
    ):
        args = ("times", "sizes", "owners", "-ls")
        assert_same(find, gnu_find, *args, separator=LS, env=variables, **here)


def test_ls_of_recent_and_old_files(find, gnu_find, scratch):
    """Times older than half a year, or more than an hour ahead, have another form."""
    now = int(subprocess.run(["date", "+%s"], capture_output=True, check=True).stdout)
    for days in (0, 1, 100, 180, 181, 182, 183, 184, 190, 365, 400, -1, -2, -400):
        path = scratch / f"day{days}"
        path.touch()
        os.utime(path, (now - days * 86400 - 600, now - days * 86400 - 600))
    for minutes in (-70, -50, -10, 10):
        path = scratch / f"minute{minutes}"
        path.touch()
        os.utime(path, (now - minutes * 60, now - minutes * 60))
    assert_same(find, gnu_find, ".", "-ls", separator=LS, cwd=scratch)


def test_types_of_file_systems(find, gnu_find, mount, scratch):
    point = mount(mounts.tmpfs, scratch)
    (point / "file").touch()
    (scratch / "link").symlink_to(point / "file")
    for follow in ("-P", "-L"):
        args = (follow, scratch, "/proc/self/stat", "/dev/null", "-printf", "%p %F\n")
        result = assert_same(find, gnu_find, *args)
        assert b"tmpfs/file tmpfs" in result.out
        assert_same(find, gnu_find, follow, scratch, "-fstype", "tmpfs", "-printf", "%p %D\n")


def test_a_format_is_understood_before_anything_is_done(find, gnu_find, scratch):
    (scratch / "file").touch()
    result = assert_same(find, gnu_find, ".", "-delete", "-printf", cwd=scratch)
    assert result.status == 1 and (scratch / "file").exists()
    assert messages(result) == ["missing argument to `-printf'"]
